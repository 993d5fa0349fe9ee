"""What certain functions return, by shape rules of their own.

In: the operands of one call. Out: a `Kind` or a tuple of kinds, UNKNOWN, or None for "nothing special is
known here". `RULES` maps functions to these; `infer` asks it first.

    RULES[np.zeros](Tup((n, Const(3))))   ->  f8[n, 3]
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.support import conj
from ..runtime.support_implicit import at_times, integral, root_point, solved, solved_transposed, trajectory
from ..runtime.support_memory import private_copy, writable_copy, zeros_of
from .ir import Arg, Const, Lst, Slc, Star, Tup, Var
from .kinds import (
    INT,
    UNKNOWN,
    WEAK,
    Array,
    Dim,
    Kind,
    Number,
    Opaque,
    Sequence,
    Size,
    dims_of,
    dtype_code,
    dtype_of,
    is_not_one,
    join,
)
from .sizes import DYNAMIC, arg_kind, index_dims, shape_dims, size_of, static
from .stand_ins import Kinds, probe, stand_in

Rule = Callable[..., Kinds | None]
RULES: dict[Any, Rule] = {}
NONE, ZERO, LAST, FIFTY, TRUE = (Const(value) for value in (None, 0, -1, 50, True))


def returns(*functions: Any) -> Callable[[Rule], Rule]:
    def register(f: Rule) -> Rule:
        for function in functions:
            RULES[function] = f
        return f

    return register


def _strong(kind: Kind) -> str | None:
    """The dtype of an array made of a number or array."""
    dtype = dtype_of(kind)
    if dtype in WEAK:
        return dtype_code(np.asarray(stand_in(Number(dtype))).dtype)
    return dtype


def _dtype_arg(dtype: Arg | None, default: str | None) -> str | None:
    """The dtype that an option gives, or the default without one; None if it is not known."""
    if dtype is None or dtype == NONE:
        return default
    value = static(dtype)
    try:
        return dtype_code(value) if value is not DYNAMIC else None
    except TypeError:
        return None


def _promoted(*kinds: Kind) -> str | None:
    codes = [_strong(k) for k in kinds]
    if any(c is None for c in codes):
        return None
    return dtype_code(np.result_type(*[np.dtype(c) for c in codes if c is not None]))


# -- elements ----------------------------------------------------------------------------------------


@returns(operator.getitem)
def _getitem(obj: Arg, index: Arg) -> Kinds | None:
    kind = arg_kind(obj)
    if isinstance(kind, Sequence):
        return kind if isinstance(index, Slc) else kind.element
    if not isinstance(kind, Array) or kind.dims is None or kind.dtype in (None, "O"):
        return UNKNOWN
    dims = index_dims(kind.dims, index)
    if dims is None or (kind.dtype[0] == "V" and not dims):
        return UNKNOWN  # one record is a view
    return Array(kind.dtype, dims) if dims or _keeps_array(index) else Number(kind.dtype)


def _keeps_array(index: Arg) -> bool:
    """An index with `...` gives an array even where no dimension is left."""
    items = index.items if isinstance(index, Tup) else (index,)
    return any(isinstance(i, Const) and i.value is Ellipsis for i in items)


@returns(len)
def _len(x: Arg) -> Kinds | None:
    dims = dims_of(arg_kind(x))
    return Number("int", dims[0] if dims and isinstance(dims[0], Dim) else None)


# -- new arrays --------------------------------------------------------------------------------------


@returns(np.zeros, np.ones, np.empty)
def _new(shape: Arg, dtype: Arg | None = None) -> Kinds | None:
    return Array(_dtype_arg(dtype, "f8"), shape_dims(shape))


@returns(np.full)
def _full(shape: Arg, fill_value: Arg, dtype: Arg | None = None) -> Kinds | None:
    kind = arg_kind(fill_value)
    if isinstance(kind, Number | Array) and kind.dtype is not None:
        return Array(_dtype_arg(dtype, _strong(kind)), shape_dims(shape))
    return None


@returns(np.zeros_like, np.ones_like, np.empty_like, np.copy)
def _like(a: Arg, dtype: Arg | None = None) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array):
        return Array(_dtype_arg(dtype, kind.dtype), kind.dims)
    if isinstance(kind, Number) and kind.dtype is not None:
        return Array(_dtype_arg(dtype, _strong(kind)), ())
    return None


@returns(np.full_like)
def _full_like(a: Arg, fill_value: Arg, dtype: Arg | None = None) -> Kinds | None:
    return _like(a, dtype)


@returns(np.eye)
def _eye(N: Arg, M: Arg = NONE, k: Arg = ZERO, dtype: Arg | None = None) -> Kinds | None:
    return Array(_dtype_arg(dtype, "f8"), (size_of(N), size_of(N if M == NONE else M)))


@returns(np.identity)
def _identity(n: Arg, dtype: Arg | None = None) -> Kinds | None:
    return _eye(n, dtype=dtype)


@returns(np.arange)
def _arange(*args: Arg, dtype: Arg | None = None) -> Kinds | None:
    kinds = [arg_kind(a) for a in args]
    if len(args) > 3 or not all(isinstance(k, Number) and k.dtype not in (None, "bool", "b1") for k in kinds):
        return None
    counted = len(args) == 1 and dtype_of(kinds[0]) == "int"
    code = dtype_code(np.arange(*[stand_in(k) for k in kinds]).dtype)
    return Array(_dtype_arg(dtype, code), (size_of(args[0]) if counted else None,))


@returns(np.linspace)
def _linspace(
    start: Arg, stop: Arg, num: Arg = FIFTY, endpoint: Arg = TRUE, dtype: Arg | None = None
) -> Kinds | None:
    first, last = arg_kind(start), arg_kind(stop)
    if not all(isinstance(k, Number) and k.dtype is not None for k in (first, last)):
        return None
    code = dtype_code(np.linspace(stand_in(first), stand_in(last), 2).dtype)
    return Array(_dtype_arg(dtype, code), (size_of(num),))


@returns(np.array, np.asarray)
def _array(a: Arg, dtype: Arg | None = None) -> Kinds | None:
    """Of a list of unknown length it is taken that it is not empty."""
    kind = arg_kind(a)
    if isinstance(kind, Sequence) and isinstance(kind.element, Number | Array):
        inner, code = dims_of(kind.element), _strong(kind.element)
        return UNKNOWN if inner is None else Array(_dtype_arg(dtype, code), (None, *inner))
    dims, code = _nested(a)
    return UNKNOWN if dims is None else Array(_dtype_arg(dtype, code), dims)


def _rows_of(arrays: Arg) -> tuple[str | None, int] | None:
    """The dtype and number of dimensions of the arrays in a list of unknown length."""
    kind = arg_kind(arrays)
    element = kind.element if isinstance(kind, Sequence) else None
    known = isinstance(element, Array) and element.dims is not None
    return (element.dtype, len(element.dims)) if known else None  # type: ignore[union-attr]


@returns(np.stack)
def _stack(arrays: Arg, axis: Arg = ZERO) -> Kinds | None:
    rows = _rows_of(arrays)
    return None if rows is None else Array(rows[0], (None,) * (rows[1] + 1))


@returns(np.vstack)
def _vstack(tup: Arg) -> Kinds | None:
    rows = _rows_of(tup)
    return None if rows is None else Array(rows[0], (None,) * max(rows[1], 2))


@returns(np.concatenate)
def _concatenate(arrays: Arg, axis: Arg = ZERO) -> Kinds | None:
    rows = _rows_of(arrays)
    return None if rows is None or axis == NONE else Array(rows[0], (None,) * rows[1])


def _nested(a: Arg) -> tuple[tuple[Size, ...] | None, str | None]:
    """Dimensions and dtype of an array made of nested displays."""
    if not isinstance(a, Lst | Tup):
        kind = arg_kind(a)
        return (dims_of(kind), _strong(kind)) if isinstance(kind, Number | Array) else (None, None)
    if not a.items:
        return (0,), "f8"
    parts = [_nested(item) for item in a.items]
    inner = parts[0][0]
    if inner is None or any(p[0] is None or len(p[0]) != len(inner) for p in parts):
        return None, None
    codes = [p[1] for p in parts]
    together = (
        None if None in codes else dtype_code(np.result_type(*[np.dtype(c) for c in codes if c is not None]))
    )
    return (len(a.items), *inner), together


# -- the same elements in another shape --------------------------------------------------------------


@returns(np.cumsum, np.cumprod)
def _cumulative(a: Arg, axis: Arg = NONE) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array) and kind.dims is not None and (kind.dtype or "?")[0] in "fc":
        if isinstance(static(axis), int) or len(kind.dims) == 1:
            return kind if kind.dims else None
    return None


@returns(np.flip, np.flipud, np.fliplr, np.roll)
def _same_shape(a: Arg, *args: Arg, **kwargs: Arg) -> Kinds | None:
    kind = arg_kind(a)
    return kind if isinstance(kind, Array) and kind.dims else None


@returns(zeros_of, writable_copy, private_copy, conj)
def _like_the_value(value: Arg) -> Kinds | None:
    return arg_kind(value) if isinstance(arg_kind(value), Array | Number | Sequence) else None


@returns(np.sort)
def _sort(a: Arg, axis: Arg = LAST, kind: Arg | None = None) -> Kinds | None:
    sorted_kind = arg_kind(a)
    return (
        sorted_kind
        if isinstance(sorted_kind, Array) and sorted_kind.dims and isinstance(static(axis), int)
        else None
    )


@returns(np.tril, np.triu)
def _triangle(m: Arg, k: Arg = ZERO) -> Kinds | None:
    kind = arg_kind(m)
    return kind if isinstance(kind, Array) and kind.dims is not None and len(kind.dims) >= 2 else None


@returns(np.transpose)
def _transpose(a: Arg, axes: Arg = NONE) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array) and kind.dims is not None:
        order = static(axes)
        if order is None:
            return Array(kind.dtype, kind.dims[::-1])
        if order is not DYNAMIC:
            return Array(kind.dtype, tuple(kind.dims[i] for i in order))
    return None


@returns(np.swapaxes)
def _swapaxes(a: Arg, axis1: Arg, axis2: Arg) -> Kinds | None:
    kind = arg_kind(a)
    i, j = static(axis1), static(axis2)
    if isinstance(kind, Array) and kind.dims is not None and isinstance(i, int) and isinstance(j, int):
        dims = list(kind.dims)
        dims[i], dims[j] = dims[j], dims[i]
        return Array(kind.dtype, tuple(dims))
    return None


@returns(np.reshape)
def _reshape(a: Arg, shape: Arg, order: Arg | None = None) -> Kinds | None:
    kind = arg_kind(a)
    dims = shape_dims(shape, may_be_left_open=True)
    if isinstance(kind, Array) and dims is not None:
        flat = len(dims) == 1 and kind.dims is not None and len(kind.dims) == 1
        return Array(kind.dtype, kind.dims if flat else dims)
    return None


@returns(np.ravel)
def _ravel(a: Arg, order: Arg | None = None) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array):
        return Array(kind.dtype, kind.dims if kind.dims is not None and len(kind.dims) == 1 else (None,))
    return None


@returns(np.squeeze)
def _squeeze(a: Arg, axis: Arg = NONE) -> Kinds | None:
    kind = arg_kind(a)
    at = static(axis)
    if not isinstance(kind, Array) or kind.dims is None or at is DYNAMIC:
        return UNKNOWN
    if at is None:
        if not all(d == 1 or is_not_one(d) for d in kind.dims):
            return UNKNOWN
        return Array(kind.dtype, tuple(d for d in kind.dims if d != 1))
    gone = _axes(at, len(kind.dims))
    return Array(kind.dtype, tuple(d for i, d in enumerate(kind.dims) if i not in gone))


@returns(np.broadcast_to)
def _broadcast_to(array: Arg, shape: Arg) -> Kinds | None:
    code = _strong(arg_kind(array))
    return None if code is None else Array(code, shape_dims(shape))


@returns(np.expand_dims)
def _expand_dims(a: Arg, axis: Arg) -> Kinds | None:
    kind = arg_kind(a)
    at = static(axis)
    if isinstance(kind, Array) and kind.dims is not None and isinstance(at, int):
        dims = list(kind.dims)
        dims.insert(at if at >= 0 else len(dims) + 1 + at, 1)
        return Array(kind.dtype, tuple(dims))
    return None


# -- products ----------------------------------------------------------------------------------------


@returns(np.matmul, operator.matmul, np.dot)
def _matmul(x: Arg, y: Arg) -> Kinds | None:
    a, b = arg_kind(x), arg_kind(y)
    if not (isinstance(a, Array) and isinstance(b, Array)) or a.dims is None or b.dims is None:
        return None
    dtype = _promoted(a, b)
    if dtype in (None, "O") or not (1 <= len(a.dims) <= 2 and 1 <= len(b.dims) <= 2):
        return None
    dims = (*a.dims[:-1], *b.dims[1:]) if len(b.dims) == 2 else a.dims[:-1]
    return Array(dtype, dims) if dims else Number(dtype)


@returns(np.split, np.array_split)
def _split(ary: Arg, indices_or_sections: Arg, axis: Arg = ZERO) -> Kinds | None:
    kind, along = arg_kind(ary), static(axis)
    if isinstance(indices_or_sections, Const) and isinstance(indices_or_sections.value, int):
        count = indices_or_sections.value
    elif isinstance(indices_or_sections, Lst | Tup) and not any(
        isinstance(i, Star) for i in indices_or_sections.items
    ):
        count = len(indices_or_sections.items) + 1
    else:
        return UNKNOWN
    if not isinstance(kind, Array) or kind.dims is None or not isinstance(along, int):
        return UNKNOWN
    dims = tuple(None if i == along % len(kind.dims) else d for i, d in enumerate(kind.dims))
    return (Array(kind.dtype, dims),) * count


@returns(np.hsplit)
def _hsplit(ary: Arg, indices_or_sections: Arg) -> Kinds | None:
    dims = dims_of(arg_kind(ary))
    return UNKNOWN if dims is None else _split(ary, indices_or_sections, Const(min(1, len(dims) - 1)))


@returns(np.vsplit)
def _vsplit(ary: Arg, indices_or_sections: Arg) -> Kinds | None:
    return _split(ary, indices_or_sections, Const(0))


@returns(np.dsplit)
def _dsplit(ary: Arg, indices_or_sections: Arg) -> Kinds | None:
    return _split(ary, indices_or_sections, Const(2))


@returns(np.outer)
def _outer(a: Arg, b: Arg) -> Kinds | None:
    x, y = arg_kind(a), arg_kind(b)
    if (
        isinstance(x, Array)
        and isinstance(y, Array)
        and x.dims
        and y.dims
        and len(x.dims) == len(y.dims) == 1
    ):
        return Array(_promoted(x, y), (x.dims[0], y.dims[0]))
    return None


# -- reductions --------------------------------------------------------------------------------------


def reduction(
    function: Callable[..., Any], bound: dict[str, Any], args: tuple[Arg, ...], kwargs: dict[str, Arg]
) -> Kinds | None:
    """`sum` and its like: they have an axis and keepdims.

    `bound` holds the operands by name, defaults filled in.
    """
    found = probe(function, args, kwargs)
    x = next(iter(bound.values()))
    kind = arg_kind(x) if isinstance(x, Var) else None
    axis, keepdims = static(bound.get("axis", None)), static(bound.get("keepdims", False))
    if not isinstance(found, Array) or found.dims is None or not isinstance(kind, Array) or kind.dims is None:
        return found
    if axis is DYNAMIC or not isinstance(keepdims, bool | type(np._NoValue)):
        return found
    gone = _axes(axis, len(kind.dims))
    kept = keepdims is True
    dims = tuple(1 if i in gone else d for i, d in enumerate(kind.dims) if kept or i not in gone)
    return Array(found.dtype, dims) if len(dims) == len(found.dims) else found


def _axes(axis: Any, ndim: int) -> set[int]:
    if axis is None:
        return set(range(ndim))
    return {a % max(ndim, 1) for a in (axis if isinstance(axis, tuple) else (axis,))}


# -- Python's own ------------------------------------------------------------------------------------


@returns(min, max)
def _extremum(*args: Arg, **kwargs: Arg) -> Kinds | None:
    """One of several: of the kind that covers them all."""
    if len(args) == 1 and isinstance(arg_kind(args[0]), Array):
        kind = arg_kind(args[0])
        return (
            Number(dtype_of(kind))
            if isinstance(kind, Array) and kind.dims is not None and len(kind.dims) == 1
            else UNKNOWN
        )
    one = args[0] if len(args) == 1 else Tup(args)
    if kwargs or not isinstance(one, Tup | Lst) or any(isinstance(a, Star) for a in one.items):
        return UNKNOWN
    kinds = [arg_kind(a) for a in one.items]
    if not kinds or not all(isinstance(k, Number) for k in kinds):
        return UNKNOWN
    kind = functools.reduce(join, kinds)
    return kind if kind.differentiable or len(set(map(dtype_of, kinds))) == 1 else UNKNOWN


@returns(sum)
def _sum(iterable: Arg, start: Arg = ZERO) -> Kinds | None:
    """Of nothing, Python's 0."""
    kind = arg_kind(iterable)
    if not isinstance(kind, Array) or start != ZERO:
        return None
    return Number(kind.dtype) if kind.ndim == 1 and kind.dtype in ("f8", "c16") else UNKNOWN


@returns(np.nanquantile, np.nanpercentile)
def _nan_quantile(a: Arg, q: Arg, *args: Arg, **kwargs: Arg) -> Kinds | None:
    """Of an empty array NumPy leaves the dimensions of `q` out."""
    return None if dims_of(arg_kind(q)) == () else UNKNOWN


@returns(np.size, np.ndim)
def _integer(a: Arg, axis: Arg | None = None) -> Kinds | None:
    return INT if axis is None else None


@returns(root_point, integral, at_times, trajectory)
def _what_it_is(x: Arg, *more: Arg) -> Kinds | None:
    return arg_kind(x)


@returns(solved, solved_transposed)
def _solved(slope: Arg, b: Arg) -> Kinds | None:
    kind = arg_kind(b)
    return Array("f8", kind.dims) if isinstance(kind, Array) and kind.dtype == "f8" else None


@returns(float)
def _float(a: Arg = ZERO) -> Kinds | None:
    return Number("float")


@returns(int)
def _int(a: Arg = ZERO, base: Arg | None = None) -> Kinds | None:
    return INT


@returns(bool, isinstance, hasattr, callable, issubclass, operator.is_, operator.is_not, operator.not_)
def _bool(*args: Arg) -> Kinds | None:
    return Number("bool")


@returns(str, repr, format)
def _str(*args: Arg) -> Kinds | None:
    return Opaque(str)
