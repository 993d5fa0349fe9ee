"""Saved values for an adjoint that may be asked for again.

In: what a forward function saved. Out (`kept_apart`): as much of it as a call of the adjoint function uses up
anew, so that what was saved is as it was for the next call, and so is the value that the caller has.

    saved = (x, [1.0, 4.0])        # the reverse sweep pops the list
    adjoint(kept_apart(variant, saved), seed)

Lists are always copied; memory only for a reverse sweep that writes to what was saved, as one does that puts
overwritten elements back (``a[i] = a_old_saved.pop()``). Views of one piece of memory stay that.
"""

from __future__ import annotations

import ast
import contextlib
import functools
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..runtime.array_modules import copy_of
from .structures import mapped
from .variants import Variant

__all__ = ["Lent", "kept_apart", "writes_to_saved"]


def kept_apart(variant: Variant, saved: Any) -> tuple[Any, Lent]:
    """`saved`, with copies of what the adjoint function of a variant uses up, and what is lent to it."""
    copy = _Copy(writes_to_saved(variant.text, variant.entries[1].__name__))
    return copy.of(saved), copy.lent


class Lent:
    """Arrays of other libraries: no copies have views where they have, so they are lent, and put back."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, Any]] = []

    def lend(self, array: Any) -> Any:
        self._before.append((array, copy_of(array)))
        return array

    def give_back(self) -> None:
        for array, before in self._before:
            with contextlib.suppress(ValueError, TypeError):  # read-only: not written to, or through another
                array[...] = before

    def keep(self, gradients: Any) -> Any:
        """Gradients that are not changed when memory is given back."""
        return mapped(_kept, gradients) if self._before else gradients


def _kept(gradient: Any) -> Any:
    foreign = hasattr(gradient, "dtype") and not isinstance(gradient, np.ndarray | np.generic)
    return copy_of(gradient) if foreign else gradient


class _Copy:
    """Copies lists, and arrays if it is to; what was one object, or one piece of memory, stays that."""

    def __init__(self, arrays: bool) -> None:
        self.arrays = arrays
        self.known: dict[int, tuple[Any, Any]] = {}  # with the original, so that its id stays its own
        self.memory: dict[int, Any] = {}
        self.lent = Lent()

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind not in (list, tuple, dict) and not hasattr(value, "_fields"):
            if not self.arrays or not hasattr(value, "dtype") or isinstance(value, np.generic | np.dtype):
                return value
        if id(value) in self.known:
            return self.known[id(value)][1]
        if kind is list or kind is dict:
            copy: Any = kind()
            self.known[id(value)] = value, copy
            if kind is list:
                copy.extend([self.of(part) for part in value])
            else:
                copy.update({key: self.of(part) for key, part in value.items()})
            return copy
        if isinstance(value, tuple):
            parts = [self.of(part) for part in value]
            copy = kind(*parts) if hasattr(value, "_fields") else kind(parts)
            if all(a is b for a, b in zip(copy, value, strict=True)):
                copy = value
        else:
            foreign = not isinstance(value, np.ndarray)
            copy = self.lent.lend(value) if foreign else _view_of_copy(value, self.memory)
        self.known[id(value)] = value, copy
        return copy


def _view_of_copy(array: np.ndarray, memory: dict[int, Any]) -> Any:
    """The part of a copy of the memory behind `array` that `array` is of that memory."""
    owner = _owner(array)
    if owner.dtype.hasobject:
        return array.copy()
    if id(owner) not in memory:
        low, high = byte_bounds(owner)
        piece = np.empty(max(high - low, 1), np.uint8)
        np.ndarray(owner.shape, owner.dtype, piece, _address(owner) - low, owner.strides)[...] = owner
        memory[id(owner)] = owner, piece, low
    _, piece, low = memory[id(owner)]
    return np.ndarray(
        array.shape, array.dtype, piece, _address(array) - low if array.size else 0, array.strides
    )


def _owner(array: Any) -> Any:
    """The array whose memory this one shows; views of windows come by an object that is no array."""
    owner = base = array
    while base is not None:
        if isinstance(base, np.ndarray):
            owner = base
        base = getattr(base, "base", None)
    return owner


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


# -- whether saved memory is written to ----------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def writes_to_saved(text: str, name: str) -> bool:
    """Whether a function of a generated module may write to arrays within its first argument.

    >>> writes_to_saved("def f(saved, g):\\n    a, p = saved\\n    x = p.pop()\\n    return g * a * x", "f")
    False
    >>> writes_to_saved("def f(saved, g):\\n    a, p = saved\\n    a[1:] = p.pop()\\n    return g * a", "f")
    True
    """
    tree = ast.parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    entry = functions[name]
    return _Writes(functions).of(name, (entry.args.args[0].arg,))


class _Writes:
    """Follows names that may stand for the memory of some parameters, and finds writes to it."""

    def __init__(self, functions: dict[str, ast.FunctionDef]) -> None:
        self.functions = functions
        self.known: dict[tuple[str, tuple[str, ...]], bool] = {}

    def of(self, name: str, parameters: tuple[str, ...]) -> bool:
        """Whether function `name` may write to what these of its parameters stand for."""
        key = (name, parameters)
        if key not in self.known:
            self.known[key] = False  # what a function that calls itself is taken to do, until it is known
            self.known[key] = self._search(self.functions[name], set(parameters))
        return self.known[key]

    def _search(self, function: ast.FunctionDef, names: set[str]) -> bool:
        nodes = list(ast.walk(function))
        while True:
            more = {n for node in nodes for n in self._bound(node, names)} - names
            if not more:
                return any(self._writes(node, names) for node in nodes)
            names |= more

    def _bound(self, node: ast.AST, names: set[str]) -> set[str]:
        """Names that a statement binds to what may be the memory of `names`."""
        if isinstance(node, ast.Assign) and self._may_be(node.value, names):
            targets: list[ast.expr] = node.targets
        elif isinstance(node, ast.For | ast.comprehension) and self._may_be(node.iter, names):
            targets = [node.target]
        elif isinstance(node, ast.NamedExpr) and self._may_be(node.value, names):
            targets = [node.target]
        else:
            return set()
        return {
            n.id
            for target in targets
            for n in ast.walk(target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }

    def _may_be(self, value: ast.expr, names: set[str]) -> bool:
        """Whether an expression may give the memory of `names`: anything may but what makes an array."""
        if isinstance(value, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Constant | ast.JoinedStr):
            return isinstance(value, ast.BinOp) and isinstance(value.left, ast.List | ast.ListComp)
        if isinstance(value, ast.Call):
            function = value.func
            if isinstance(function, ast.Attribute):
                if function.attr == "copy" or (_is_module(function.value) and function.attr not in _VIEWS):
                    return False
            elif isinstance(function, ast.Name) and function.id in ("range", "len", "float", "int", "bool"):
                return False
        return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(value))

    def _writes(self, node: ast.AST, names: set[str]) -> bool:
        if isinstance(node, ast.AugAssign):
            return _root(node.target) in names
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            return _root(node) in names
        if not isinstance(node, ast.Call):
            return False
        given = [*node.args, *(k.value for k in node.keywords)]
        passed = [i for i, value in enumerate(given) if self._may_be(value, names)]
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr in _WRITING_METHODS:
                return _root(function.value) in names or 0 in passed
            return any(k.arg == "out" and self._may_be(k.value, names) for k in node.keywords)
        if not isinstance(function, ast.Name) or function.id not in self.functions or not passed:
            return False
        parameters = [a.arg for a in self.functions[function.id].args.args]
        if len(passed) > len(parameters) or node.keywords or any(i >= len(parameters) for i in passed):
            return True
        return self.of(function.id, tuple(parameters[i] for i in passed))


#: Functions of NumPy whose results may be views.
_VIEWS = frozenset(
    ["asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "array", "require", "reshape", "ravel"]
    + ["transpose", "swapaxes", "moveaxis", "rollaxis", "squeeze", "expand_dims", "broadcast_to", "flip"]
    + ["broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d", "split", "array_split", "hsplit"]
    + ["vsplit", "dsplit", "diagonal", "diag", "real", "imag", "rot90", "flipud", "fliplr", "nan_to_num"]
    + ["permute_dims", "matrix_transpose", "unstack", "as_strided", "sliding_window_view", "meshgrid"]
)
_WRITING_METHODS = frozenset(
    ["at", "copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "fill", "sort"]
    + ["partition", "resize", "itemset", "setfield", "shuffle", "setflags", "byteswap"]
)


def _is_module(node: ast.expr) -> bool:
    """Whether this is `np`, `np.linalg` and the like, as far as can be seen."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "math", "scipy")


def _root(node: ast.expr) -> str | None:
    """The name at the bottom of ``a.b[c].d``."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
