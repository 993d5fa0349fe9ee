"""Generated text in the words of the array API standard, where the module of the arrays has no others.

In: text that says some things as NumPy does, and the namespace. Out: the same in the namespace's own
functions, with those of `support_array_api` for what it has not, which the module is to carry.

    xp.flip(g, 0)                       ->     xp_flip(g, 0)
    np.swapaxes(g, -1, -2)              ->     xp_swapaxes(g, -1, -2)
    g.astype(x.dtype)                   ->     xp.astype(g, x.dtype)
"""

from __future__ import annotations

import inspect
from typing import Any

import libcst as cst
import libcst.matchers as m
import numpy as np

from ..runtime import support_array_api
from ..runtime.array_modules import speaks_numpy
from .builder import NUMPY
from .ir import Ref

#: Types of NumPy's scalars, for which `isinstance` is asked.
_SCALARS = frozenset({"generic", "number", "floating", "inexact", "integer", "bool_"})


def own_words(helper: Any, numpy: Ref) -> Any:
    """The helper that says in the standard's words what a helper of `support` does; itself if it does."""
    if speaks_numpy(numpy.value):
        return helper
    return vars(support_array_api).get(getattr(helper, "__name__", ""), helper)


def numpy_path(shim: Any) -> tuple[str, Any] | None:
    """What a function of `support_array_api` says for NumPy's: its path after `np.`, and the function.

    >>> numpy_path(support_array_api.xp_fft_rfft)[0], numpy_path(support_array_api.xp_add_at)[0]
    ('fft.rfft', 'add.at')
    """
    name = getattr(shim, "__name__", "")
    if getattr(shim, "__module__", None) != support_array_api.__name__ or not name.startswith("xp_"):
        return None
    name = name.removeprefix("xp_")
    outer, _, last = name.partition("_")
    if hasattr(np, name):
        return name, getattr(np, name)
    found = getattr(getattr(np, outer, None), last, None) if last else None
    return None if found is None else (f"{outer}.{last}", found)


def in_the_standard(text: str, numpy: Ref, helper: bool = False) -> tuple[str, dict[str, Any]]:
    """Rewrite text for a bare namespace.

    Args:
        helper: whether it is a helper's, in which the kinds of values are not known.

    Returns:
        The text, and the functions of `support_array_api` that it names.
    """
    words = _Standard(numpy, helper)
    text = cst.parse_module(text).visit(words).code
    return text, words.named


def not_in(text: str, numpy: Ref) -> set[str]:
    """What text names that a bare namespace does not have, or does not have with such arguments."""
    words = _Missing(numpy)
    cst.parse_module(text).visit(words)
    return words.missing


class _Standard(cst.CSTTransformer):
    def __init__(self, numpy: Ref, helper: bool) -> None:
        super().__init__()
        self.numpy = numpy
        self.helper = helper
        self.named: dict[str, Any] = {}
        self.called: set[cst.CSTNode] = set()  # what is looked at with the arguments that it is given

    # -- names ---------------------------------------------------------------------------------------

    def path(self, node: cst.CSTNode) -> str | None:
        """What stands after the module in `xp.linalg.norm`."""
        parts: list[str] = []
        while isinstance(node, cst.Attribute):
            if cst.Module([]).code_for_node(node) == self.numpy.text:
                break
            parts.insert(0, node.attr.value)
            node = node.value
        text = cst.Module([]).code_for_node(node)
        return ".".join(parts) if parts and text in (self.numpy.text, NUMPY.text) else None

    def found(self, path: str) -> Any:
        """What the namespace has at a path, or None."""
        value: Any = self.numpy.value
        for part in path.split("."):
            value = getattr(value, part, None)
        return value

    def shim(self, path: str) -> cst.BaseExpression | None:
        """The function that says what NumPy has at a path; two names of one function are one."""
        if path == "linalg.LinAlgError":  # the standard does not say what is raised
            return cst.Name("Exception")
        if path == "_NoValue":
            return cst.Name("None")
        outer, _, last = path.rpartition(".")
        function = getattr(getattr(np, outer, None) if outer else np, last, None)
        names = [last, getattr(function, "__name__", last)] if path not in _SCALARS else ["generic"]
        for each in names:
            name = "_".join(filter(None, ("xp", outer.replace(".", "_"), each)))
            if name in vars(support_array_api):
                return self.carried(name)
        return None

    def carried(self, name: str) -> cst.Name:
        self.named[name] = vars(support_array_api)[name]
        return cst.Name(name)

    def own(self, path: str) -> cst.BaseExpression:
        return cst.parse_expression(f"{self.numpy.text}.{path}")

    # -- rewriting -----------------------------------------------------------------------------------

    def visit_Call(self, node: cst.Call) -> None:
        self.called.add(node.func)

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return self.path(node) is None  # `xp.linalg` in `xp.linalg.inv` is no name of its own

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        path = self.path(original_node)
        if path is None:
            if original_node.attr.value == "kind" and original_node not in self.called:
                return cst.Call(self.carried("xp_kind"), [cst.Arg(updated_node.value)])
            return updated_node
        if original_node in self.called:
            return updated_node
        if self.found(path) is not None:
            return self.own(path)
        return self.shim(path) or updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        path = self.path(original_node.func)
        if path is not None:
            return self.function(path, updated_node)
        if m.matches(original_node.func, m.Attribute(attr=m.Name("astype"))):
            return self.of_method("astype", updated_node)
        if m.matches(updated_node, m.Call(m.Attribute(attr=m.Name("copy")), args=[])) and self.helper:
            copied = cst.ensure_type(updated_node.func, cst.Attribute).value
            return cst.parse_expression(f"{self.numpy.text}.asarray({_code(copied)}, copy=True)")
        if m.matches(updated_node.func, m.Name("len")):
            return updated_node.with_changes(func=self.carried("xp_len"))
        if m.matches(updated_node.func, m.Name("isinstance")):
            if self.path(original_node.args[1].value) == "ndarray":
                return cst.parse_expression(f"hasattr({_code(updated_node.args[0].value)}, {_PROTOCOL})")
        return updated_node

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        if self.helper and updated_node.value == '"__array_function__"':
            return updated_node.with_changes(value=_PROTOCOL)
        return updated_node

    def function(self, path: str, call: cst.Call) -> cst.Call:
        """A call of a function of the namespace, or of what stands for it."""
        kept = [arg for arg in call.args if arg.keyword is None or arg.keyword.value != "like"]
        if kept and len(kept) != len(call.args):
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            call = call.with_changes(args=kept)
        function, written = self.found(path), self.shim(path)
        plain = _fits(function, call) and not (self.helper and written is not None)
        if function is not None and plain:
            return call.with_changes(func=self.own(path))
        if written is None and function is not None:
            written = self.own(path)
        return call if written is None else call.with_changes(func=written)

    def leave_BinaryOperation(
        self, original_node: cst.BinaryOperation, updated_node: cst.BinaryOperation
    ) -> cst.BinaryOperation:
        """In a helper: `x + (x == 0)` with a mask in the dtype of what was compared."""
        if not (self.helper and m.matches(updated_node.operator, _ARITHMETIC)):
            return updated_node
        return updated_node.with_changes(
            left=self.as_numbers(updated_node.left), right=self.as_numbers(updated_node.right)
        )

    def as_numbers(self, node: cst.BaseExpression) -> cst.BaseExpression:
        if not isinstance(node, cst.Comparison):
            return node
        mask = cst.Arg(node.with_changes(lpar=[], rpar=[]))
        return cst.Call(self.carried("as_numbers"), [mask, cst.Arg(node.left)])

    def of_method(self, name: str, call: cst.Call) -> cst.Call:
        """`x.name(...)` as `xp.name(x, ...)`."""
        first = cst.Arg(cst.ensure_type(call.func, cst.Attribute).value)
        return call.with_changes(func=self.own(name), args=[first, *call.args])


class _Missing(_Standard):
    """Looks for what is left."""

    def __init__(self, numpy: Ref) -> None:
        super().__init__(numpy, False)
        self.missing: set[str] = set()

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        path = self.path(node)
        if path is None:
            return True
        numpys = _code(node).startswith(f"{NUMPY.text}.") and self.numpy.text != NUMPY.text
        if numpys or self.found(path) is None:
            self.missing.add(path)
        return False

    def visit_Call(self, node: cst.Call) -> None:
        path = self.path(node.func)
        function = self.found(path) if path is not None else None
        if path is not None and function is not None and not _binds(function, node):
            given = [_code(arg.keyword) for arg in node.args if arg.keyword is not None]
            self.missing.add(f"{path}({', '.join(f'{each}=' for each in given)})")

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        return updated_node


#: The attribute by which arrays are known.
_PROTOCOL = '"__array_namespace__"'
_ARITHMETIC = m.Add() | m.Subtract() | m.Multiply() | m.Divide()


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def _fits(function: Any, call: cst.Call) -> bool:
    """Whether a call is one of the standard's: by its names, and with no lists or numbers for arrays."""
    values = [arg.value for arg in call.args]
    name = getattr(function, "__name__", "")
    if any(arg.star for arg in call.args) or not _binds(function, call):
        return False
    if values and isinstance(values[0], cst.Integer | cst.Float) and name in _OF_ARRAYS:
        return False
    if name == "reshape" and not m.matches(values[-1], m.Tuple() | m.Attribute(attr=m.Name("shape"))):
        return False
    return name in _OF_LISTS or not any(isinstance(value, cst.List) for value in values[:2])


def _binds(function: Any, call: cst.Call) -> bool:
    """Whether a function has the parameters of a call, as far as its signature tells."""
    given = [arg for arg in call.args if arg.keyword is None]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*given, **{arg.keyword.value: arg for arg in call.args if arg.keyword is not None})
    except TypeError:
        return any(arg.star for arg in call.args)
    return True


#: Functions of the standard that take lists.
_OF_LISTS = frozenset({"asarray", "concat", "stack", "meshgrid"})

#: Functions that rules call of numbers, too, which those of the standard do not take.
_OF_ARRAYS = frozenset({"isinf", "log", "sqrt"})


__all__ = ["in_the_standard", "not_in", "own_words"]
