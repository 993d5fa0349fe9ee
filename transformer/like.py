"""Notations for the kinds of arguments, where there are no arguments yet: `like=`, `--like`, annotations.

In: ``"w: f8[:], X: f8[:, :], n: int, mode: 'fast'"``, or a function's annotations. Out: a kind per parameter,
and (`sample`) values of these kinds, to try a function on.

    f8[:]  f4[:, :]  c16[n, n]     arrays: a dtype and sizes. `:` is any size but 1; a name is a size that is
                                   the same wherever the name stands; a number is that size, `f8[:, 1]` too
    f8[...]  f8[?, :]              any number of dimensions; a size that may be 1
    f8[()]                         an array of no dimensions
    float int complex bool f8 i4   numbers, Python's and NumPy's
    'text' None True 3             that value (of a number, any of its type)
    {'W': f8[:, :], 'b': float}    dict; (float, f8[:]) tuple; [f8[:], f8[:]] list; list[f8[:]] a list of
                                   any length
    ?                              anything

    >>> kinds_of("w: f8[:], n: int, p: {'b': float}")
    {'w': f8[w.0], 'n': int, 'p': dict(b: float)}
"""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .errors import AdjoinError, Code
from .kinds import (
    UNKNOWN,
    WEAK,
    Array,
    Container,
    Dim,
    Kind,
    Number,
    Opaque,
    Sequence,
    Size,
    Static,
    dtype_code,
    signature_kind,
)

__all__ = ["annotated", "kinds_of", "sample"]

_ANY = "_adjoin_any"


def kinds_of(notation: str | Mapping[str, Any]) -> dict[str, Kind]:
    """The kinds that a `like` states, by parameter.

    Args:
        notation: text as above; or a mapping from parameters to such text, to kinds, or to example values.

    Raises:
        AdjoinError: ADJ306 where it cannot be read.

    >>> kinds_of({"w": "f8[:]", "x": 2.0})
    {'w': f8[w.0], 'x': float}
    >>> kinds_of("w: f9[:]")
    Traceback (most recent call last):
    ...
    adjoin.AdjoinError: ADJ306 bad-like: `f9` is no dtype
     = instead: write for example "w: f8[:], X: f8[:, :], n: int, mode: 'fast'"
    """
    if isinstance(notation, Mapping):
        return {name: _stated(each, name) for name, each in notation.items()}
    tree = _parsed("{" + notation + "}")
    if not isinstance(tree, ast.Dict):
        raise _unreadable(f"`{notation}` names no parameters")
    found = {}
    for key, value in zip(tree.keys, tree.values, strict=True):
        if not isinstance(key, ast.Name):
            raise _unreadable(f"`{notation}` has something else than names before its colons")
        found[key.id] = kind(value, key.id)
    return found


def _stated(each: Any, name: str) -> Kind:
    if isinstance(each, Kind):
        return each
    return kind(_parsed(each), name) if isinstance(each, str) else signature_kind(each, name)


def _unreadable(reason: str) -> AdjoinError:
    rewrite = "write for example \"w: f8[:], X: f8[:, :], n: int, mode: 'fast'\""
    return AdjoinError(Code.BAD_LIKE, reason, rewrite=rewrite)


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.replace("?", _ANY).strip(), mode="eval").body
    except SyntaxError:
        raise _unreadable(f"`{text.strip('{}')}` cannot be read") from None


def kind(node: ast.expr, name: str) -> Kind:
    """The kind that a notation states; `name` is what sizes are called after."""
    match node:
        case ast.Name(id=id) if id == _ANY:
            return UNKNOWN
        case ast.Name(id=id):
            return Number(id) if id in WEAK else Number(_dtype(id))
        case ast.Constant(value=bool() | str() | bytes() | None as value):
            return Static(value, repr(value))
        case ast.Constant(value=value) if value is Ellipsis:
            return Static(value, repr(value))
        case ast.Constant(value=int() | float() | complex() as value):
            return Number(type(value).__name__)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() | complex() as value)):
            return Number(type(value).__name__)
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return Sequence(kind(inner, f"{name}.*"))
        case ast.Subscript(value=ast.Name(id=id), slice=index):
            return Array(_dtype(id), _dims(index, name))
        case ast.Dict(keys=keys, values=values):
            names = [_key(k) for k in keys]
            return _container(dict, names, values, name)
        case ast.Tuple(elts=elts):
            return _container(tuple, list(range(len(elts))), elts, name)
        case ast.List(elts=elts):
            return _container(list, list(range(len(elts))), elts, name)
    raise _unreadable(f"`{ast.unparse(node).replace(_ANY, '?')}` is no kind of argument")


def _container(type_: type, keys: list[Any], values: list[ast.expr], name: str) -> Kind:
    items = tuple(kind(v, f"{name}.{k}") for k, v in zip(keys, values, strict=True))
    return Container(type_, tuple(keys), items)


def _key(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return node.value
    raise _unreadable("the keys of a dict are strings or integers")


def _dtype(name: str) -> str | None:
    if name == _ANY:
        return None
    try:
        code = dtype_code(np.dtype(name))
    except TypeError:
        code = ""
    if code[:1] not in tuple("biufcO"):
        raise _unreadable(f"`{name}` is no dtype")
    return code


def _dims(index: ast.expr, name: str) -> tuple[Size, ...] | None:
    if isinstance(index, ast.Constant) and index.value is Ellipsis:
        return None
    each = index.elts if isinstance(index, ast.Tuple) else [index]
    return tuple(_size(node, f"{name}.{i}") for i, node in enumerate(each))


def _size(node: ast.expr, name: str) -> Size:
    match node:
        case ast.Slice(lower=None, upper=None, step=None):
            return Dim(name, 0, True)
        case ast.Name(id=id):
            return None if id == _ANY else Dim(id, 0, True)
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
    raise _unreadable(f"`{ast.unparse(node)}` is no size; write `:`, a number or a name")


# -- annotations -------------------------------------------------------------------------------------


def annotated(function: Callable[..., Any]) -> dict[str, Kind]:
    """The kinds that a function's annotations state; what they leave open is not in it.

    >>> def f(x: float, n: int, X: "f8[:, :]", rest): ...
    >>> annotated(f)
    {'x': float, 'n': int, 'X': f8[X.0, X.1]}
    """
    found = {}
    for name, annotation in inspect.get_annotations(function).items():
        if name != "return":
            stated = _annotation(annotation, name, function)
            if stated is not None:
                found[name] = stated
    return found


def _annotation(annotation: Any, name: str, function: Callable[..., Any]) -> Kind | None:
    if isinstance(annotation, str):
        if re.fullmatch(r"[biufcO]\d*\[.*\]", annotation):
            return kind(_parsed(annotation), name)
        try:
            annotation = eval(annotation, getattr(function, "__globals__", {}))
        except Exception:  # an annotation may name what exists for type checkers alone
            return None
        if isinstance(annotation, str):
            return _annotation(annotation, name, function)
    if isinstance(annotation, type) and annotation.__name__ in WEAK and annotation.__module__ == "builtins":
        return Number(annotation.__name__)
    if annotation is str:
        return Opaque(str)
    if annotation is np.ndarray:
        return Array(None, None)
    alias = getattr(typing.get_origin(annotation), "__value__", None)  # `NDArray` since NumPy 2.5
    if alias is not None:
        annotation = alias[typing.get_args(annotation)]
    if isinstance(annotation, types.GenericAlias) and typing.get_origin(annotation) is np.ndarray:
        scalar = typing.get_args(typing.get_args(annotation)[1])
        return Array(_code(scalar[0]) if scalar else None, None)
    code = _code(annotation)
    return None if code is None else Number(code)


def _code(scalar: Any) -> str | None:
    """The dtype that a scalar type of NumPy stands for, if it is one and has numbers."""
    if not isinstance(scalar, type) or not issubclass(scalar, np.generic) or scalar.__name__ in _ABSTRACT:
        return None
    code = dtype_code(scalar)
    return code if code[0] in "biufc" else None


#: Scalar types of NumPy that stand for several dtypes.
_ABSTRACT = frozenset(
    "generic number inexact floating complexfloating integer signedinteger unsignedinteger".split()
)


# -- sample values -----------------------------------------------------------------------------------

_VALUES: dict[str, Any] = {"bool": True, "int": 3, "float": 0.7, "complex": 0.7 + 0.4j}


def sample(kind: Kind, rng: np.random.Generator, sizes: dict[str, int]) -> Any:
    """A value of a kind; unnamed sizes are 4, named ones get sizes of their own.

    >>> sample(kinds_of("x: f8[:, 2]")["x"], np.random.default_rng(0), {}).shape
    (4, 2)
    """
    if isinstance(kind, Static):
        return kind.value
    if isinstance(kind, Number) and kind.dtype is not None:
        return _VALUES[kind.dtype] if kind.weak else _drawn(kind.dtype, (), rng)[()]
    if isinstance(kind, Array) and kind.dims is not None and kind.dtype not in (None, "O"):
        return _drawn(kind.dtype, tuple(_drawn_size(d, sizes) for d in kind.dims), rng)
    if isinstance(kind, Sequence):
        return [sample(kind.element, rng, sizes) for _ in range(9)]
    if isinstance(kind, Container):
        parts = [sample(item, rng, sizes) for item in kind.items]
        return dict(zip(kind.keys, parts, strict=True)) if kind.type is dict else kind.type(parts)
    raise _unreadable(f"there is no example of a value of the kind `{kind}`")


def _drawn(dtype: str | None, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    found = np.dtype(dtype)
    if found.kind in "biu":
        return rng.integers(0, 2, shape).astype(found)
    values = rng.normal(size=shape)
    return np.asarray(values + 1j * rng.normal(size=shape) if found.kind == "c" else values).astype(found)


def _drawn_size(size: Size, sizes: dict[str, int]) -> int:
    if isinstance(size, int):
        return size
    if size is None or "." in size.root:  # named after its place: any size
        return 4
    return sizes.setdefault(size.root, 3 + len(sizes))
