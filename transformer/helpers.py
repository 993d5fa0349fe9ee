"""The helpers that generated code calls, as source that a module can carry.

In: functions of `support` by name. Out: their text, without annotations, after what they need in turn.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
from dataclasses import dataclass
from typing import Any

import libcst as cst
import libcst.matchers as m
import numpy as np

from ..runtime import support_array_api
from ..runtime.array_modules import speaks_numpy
from .array_api import in_the_standard, own_words
from .builder import NUMPY
from .ir import Ref


@dataclass(frozen=True)
class Rendered:
    text: str
    imports: tuple[str, ...]
    names: frozenset[str]


def render_helpers(helpers: dict[str, Any], numpy: Ref = NUMPY) -> Rendered:
    """Source of the helpers and of what they call, each before its callers.

    Args:
        numpy: the array module that they are to be written with. What it lacks stays NumPy's.
    """
    ordered: dict[str, str] = {}
    imports: dict[str, None] = {}
    begun: set[str] = set()

    def add(name: str, helper: Any) -> None:
        if name in begun:
            return
        begun.add(name)  # before what it needs: two helpers may call each other
        helper = own_words(helper, numpy)
        text, needs = _text(name, helper, numpy)
        for other, value in needs.items():
            if value is np:
                continue  # imported for what is left of it in the text
            if isinstance(value, types.ModuleType):
                alias = f" as {other}" if other != value.__name__ else ""
                imports[f"import {value.__name__}{alias}"] = None
            elif value is not helper:
                add(other, value)
        ordered[name] = text

    for name in sorted(helpers):
        add(name, helpers[name])
    texts = list(ordered.values())
    named = {n.id for text in texts for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    for module in (numpy, NUMPY):
        if module.text.partition(".")[0] in named:
            imports[module.imports] = None
    return Rendered("\n\n\n".join(texts), tuple(imports), frozenset(ordered))


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


def _text(name: str, helper: Any, numpy: Ref) -> tuple[str, dict[str, Any]]:
    """The text of a helper, and what it names."""
    needs = _needs(helper)
    if not isinstance(helper, types.FunctionType | type):
        return f"{name} = {helper!r}", needs
    module = cst.parse_module(_source(helper)).visit(_Plain())
    if speaks_numpy(numpy.value):
        written = module if numpy.text == NUMPY.text else module.visit(_WrittenWith(numpy))
        return written.code.strip("\n"), needs
    if helper.__module__ == support_array_api.__name__:
        return module.visit(_WrittenWith(numpy)).code.strip("\n"), needs
    text, named = in_the_standard(module.code, numpy, helper=True)
    left = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    return text.strip("\n"), {k: v for k, v in needs.items() if k in left} | named


class _WrittenWith(cst.CSTTransformer):
    """`np.` in another array module's name, whose functions need no `like=` to be told what to make."""

    def __init__(self, numpy: Ref) -> None:
        super().__init__()
        self.numpy = numpy

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        if not m.matches(original_node.value, m.Name(NUMPY.text)):
            return updated_node
        if not hasattr(self.numpy.value, original_node.attr.value):
            return updated_node
        return updated_node.with_changes(value=cst.parse_expression(self.numpy.text))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        kept = [arg for arg in updated_node.args if arg.keyword is None or arg.keyword.value != "like"]
        if self.numpy.value is np or len(kept) == len(updated_node.args):
            return updated_node
        last = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(args=[*kept[:-1], last])


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
