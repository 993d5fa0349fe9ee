"""The helpers that generated code calls, as source that a module can carry.

In: functions of `support` by name. Out: their text, without annotations, after what they need in turn.
"""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import dataclass
from typing import Any

import libcst as cst


@dataclass(frozen=True)
class Rendered:
    text: str
    imports: tuple[str, ...]
    names: frozenset[str]


def render_helpers(helpers: dict[str, Any]) -> Rendered:
    """Source of the helpers and of what they call, each before its callers."""
    ordered: dict[str, Any] = {}
    imports: dict[str, None] = {}
    begun: set[str] = set()

    def add(name: str, helper: Any) -> None:
        if name in begun:
            return
        begun.add(name)  # before what it needs: two helpers may call each other
        for other, value in _needs(helper).items():
            if isinstance(value, types.ModuleType):
                alias = f" as {other}" if other != value.__name__ else ""
                imports[f"import {value.__name__}{alias}"] = None
            elif value is not helper:
                add(other, value)
        ordered[name] = helper

    for name in sorted(helpers):
        add(name, helpers[name])
    return Rendered(
        "\n\n\n".join(_text(name, h) for name, h in ordered.items()), tuple(imports), frozenset(ordered)
    )


def _needs(helper: Any) -> dict[str, Any]:
    """Modules, functions and constants of its own module that a helper names."""
    if not isinstance(helper, types.FunctionType | type):
        return {}
    functions = (
        [helper]
        if isinstance(helper, types.FunctionType)
        else [f for f in vars(helper).values() if isinstance(f, types.FunctionType)]
    )
    found: dict[str, Any] = {}
    for function in functions:
        names = set(_names(function.__code__))
        scope = function.__globals__
        for name in sorted(names):
            if name in scope and name not in ("Any", "Callable") and not name.startswith("__"):
                found[name] = scope[name]
    return found


def _names(code: types.CodeType) -> list[str]:
    inner = [n for c in code.co_consts if isinstance(c, types.CodeType) for n in _names(c)]
    return [*code.co_names, *inner]


@functools.cache
def _source(helper: Any) -> str:
    return inspect.getsource(helper)


def _text(name: str, helper: Any) -> str:
    if not isinstance(helper, types.FunctionType | type):
        return f"{name} = {helper!r}"
    module = cst.parse_module(_source(helper))
    return module.visit(_Plain()).code.strip("\n")


class _Plain(cst.CSTTransformer):
    """Without annotations, and with the first line of each docstring."""

    def leave_TrailingWhitespace(
        self, original_node: cst.TrailingWhitespace, updated_node: cst.TrailingWhitespace
    ) -> cst.TrailingWhitespace:
        comment = updated_node.comment
        if comment is None or not comment.value.startswith("# type:"):
            return updated_node
        return updated_node.with_changes(whitespace=cst.SimpleWhitespace(""), comment=None)

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        if updated_node.default is None:
            return updated_node.with_changes(annotation=None)
        return updated_node.with_changes(annotation=None, equal=equal)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        return updated_node.with_changes(returns=None)

    def leave_AnnAssign(
        self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign
    ) -> cst.Assign | cst.AnnAssign:
        if updated_node.value is None:
            return updated_node
        return cst.Assign([cst.AssignTarget(updated_node.target)], updated_node.value)

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        text = updated_node.value
        if text.startswith('"""') and "\n" in text:
            return updated_node.with_changes(value=text.partition("\n")[0].rstrip() + '"""')
        return updated_node
