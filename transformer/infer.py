"""What an operation's result is, given the kinds of its operands.

In: an operation's function and its operands. Out: a `Kind`, a tuple of kinds (several results), or UNKNOWN.

    np.sum(x, axis=0), x: f8[n, m]  ->  f8[m]

Shapes come from the algebra of dimensions below. Dtypes come from NumPy itself: the operation is run once on
tiny stand-ins of the operands' dtypes, which for NumPy determine the result's. What is not listed and cannot
be run on stand-ins is UNKNOWN, which is always safe.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.rule import NoRule, lookup
from .ir import Arg, Const, Dct, Lst, Ref, Slc, Star, Tup, Var, variables
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
    Undefined,
    Unknown,
    broadcast_dims,
    dims_of,
    dtype_code,
    dtype_of,
    kind_of,
)

Kinds = Kind | tuple[Kind, ...]


def arg_kind(arg: Arg) -> Kind:
    """The kind of an operand."""
    if isinstance(arg, Var):
        return arg.kind
    if isinstance(arg, Const):
        return kind_of(arg.value)
    return Opaque({Tup: tuple, Lst: list, Dct: dict, Slc: slice}.get(type(arg)))


def infer(function: Callable[..., Any], args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds:
    """The kind of `function(*args, **kwargs)`; a tuple of kinds if it returns a tuple of known length."""
    if any(isinstance(a, Star) for a in args):
        return UNKNOWN
    everything = (*args, *kwargs.values())
    if any(isinstance(v.kind, Undefined) for a in everything for v in variables(a)):
        return UNKNOWN
    special = _SPECIAL.get(function) if _hashable(function) else None
    if special is not None:
        try:
            found = special(*args, **kwargs)
        except TypeError:  # an option that the shape rule does not know
            return UNKNOWN
        if found is not None:
            return found
    if _is_elementwise(function):
        return _elementwise(function, args, kwargs)
    if any(isinstance(v.kind, Unknown | Sequence) for a in everything for v in variables(a)):
        return UNKNOWN
    reduced = _reduction(function, args, kwargs)
    return reduced if reduced is not None else _probe(function, args, kwargs)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


# -- elementwise -------------------------------------------------------------------------------------

_OPERATORS = frozenset(
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow neg pos invert abs lshift rshift and_ or_ xor lt le gt ge eq ne".split()
)


def _is_elementwise(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return function.signature is None
    if _hashable(function) and function in _OPERATORS:
        return True
    rule = lookup(function)
    return rule is not None and rule.kind == "elementwise"


def _elementwise(function: Any, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds:
    plain = [*args, *(a for k, a in kwargs.items() if k not in ("out", "dtype", "casting", "order"))]
    if kwargs.keys() & {"out", "where", "dtype", "casting"} or any(
        not isinstance(a, Var | Const) for a in plain
    ):
        return _probe(function, args, kwargs) if not kwargs else UNKNOWN
    kinds = [arg_kind(a) for a in plain]
    if any(not isinstance(k, Number | Array) for k in kinds):
        text = any(isinstance(k, Opaque) and k.type in (str, bytes, range, slice) for k in kinds)
        return Opaque(None) if text or function in _COMPARE else UNKNOWN
    dims = broadcast_dims(*(dims_of(k) for k in kinds))
    if any(dtype_of(k) in (None, "O") for k in kinds):
        dtype: str | None = None
        return (Number(None) if dims == () else Array(dtype, dims)) if dims is not None and dims else UNKNOWN
    if dims is None:
        dtypes = _run_elementwise(
            function, tuple(Array(dtype_of(k), (1,)) if isinstance(k, Array) else k for k in kinds)
        )
        return _each(dtypes, lambda kind: Array(dtype_of(kind), None)) if dtypes is not None else UNKNOWN
    shrunk = tuple(
        Array(k.dtype, (1,) * len(k.dims)) if isinstance(k, Array) and k.dims is not None else k
        for k in kinds
    )
    results = _run_elementwise(function, shrunk)
    if results is None:
        return UNKNOWN
    return _each(results, lambda kind: Array(kind.dtype, dims) if isinstance(kind, Array) else kind)


_COMPARE = frozenset({operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne})


def _each(kinds: Kinds, change: Callable[[Any], Kind]) -> Kinds:
    return tuple(change(k) for k in kinds) if isinstance(kinds, tuple) else change(kinds)


@functools.lru_cache(maxsize=4096)
def _run_elementwise(function: Any, kinds: tuple[Kind, ...]) -> Kinds | None:
    if function is operator.pow and all(isinstance(k, Number) and k.weak for k in kinds):
        return _weak_power(kinds)
    return _measure(function, [stand_in(k) for k in kinds], {})


def _weak_power(kinds: tuple[Kind, ...]) -> Kind:
    """Python decides by value (`2 ** -1` is a float): the wider class covers both for a derivative."""
    order = max(WEAK.index(dtype_of(k) or "complex") for k in kinds)
    return Number("float" if order <= 2 else "complex")


# -- stand-ins ---------------------------------------------------------------------------------------

_WEAK_VALUES: dict[str, Any] = {"bool": True, "int": 1, "float": 0.5, "complex": 0.5 + 0.5j}


def stand_in(kind: Kind, size: int = 3) -> Any:
    """A small value of a kind, well-conditioned where it is a matrix; raises LookupError if there is none."""
    if isinstance(kind, Number) and kind.dtype is not None:
        return (
            _WEAK_VALUES[kind.dtype]
            if kind.weak
            else np.dtype(kind.dtype).type(0.5 if kind.dtype[0] in "fc" else 1)
        )
    if isinstance(kind, Array) and kind.dims is not None and kind.dtype is not None and kind.dtype != "O":
        shape = tuple(d if isinstance(d, int) and d < 64 else size for d in kind.dims)
        value = np.full(shape, 0.5 if kind.dtype[0] in "fc" else 1, kind.dtype)
        if len(shape) >= 2 and kind.dtype[0] in "fc":
            value = value * 0.1
            n = min(shape[-2:])
            value[..., range(n), range(n)] += np.arange(1, n + 1)
        return value.astype(kind.dtype)
    raise LookupError(kind)


def _stand_in_arg(arg: Arg) -> Any:
    if isinstance(arg, Const | Ref):
        return arg.value
    if isinstance(arg, Var):
        return stand_in(arg.kind)
    if isinstance(arg, Tup):
        items = [_stand_in_arg(a) for a in arg.items]
        return arg.cls.value(*items) if arg.cls else tuple(items)
    if isinstance(arg, Lst):
        return [_stand_in_arg(a) for a in arg.items]
    if isinstance(arg, Slc):
        return slice(_stand_in_arg(arg.start), _stand_in_arg(arg.stop), _stand_in_arg(arg.step))
    raise LookupError(arg)


def _measure(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Kinds | None:
    """Run on stand-ins; the result's kind without sizes."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = function(*args, **kwargs)
    except Exception:
        return None
    return _result_kind(result)


def _result_kind(result: Any) -> Kinds:
    if isinstance(result, tuple):
        kinds = tuple(_result_kind(r) for r in result)
        return kinds if all(isinstance(k, Kind) for k in kinds) else UNKNOWN  # type: ignore[return-value]
    if isinstance(result, list):
        parts = {_result_kind(r) for r in result}
        return Sequence(parts.pop()) if len(parts) == 1 else UNKNOWN  # type: ignore[arg-type]
    if isinstance(result, np.ndarray):
        return (
            Array(dtype_code(result.dtype), (None,) * result.ndim)
            if result.dtype.kind in "biufc"
            else UNKNOWN
        )
    return kind_of(result)


#: The number of dimensions of their results depends on sizes or values, so a stand-in proves nothing.
_DATA_DEPENDENT = frozenset(
    {np.squeeze, np.array, np.asarray, operator.getitem, np.block, np.apply_along_axis, np.vectorize}
)


def _probe(function: Any, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds:
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    if function in _DATA_DEPENDENT or not (
        module in ("numpy", "scipy", "math") or lookup(function) or isinstance(function, np.ufunc)
    ):
        return UNKNOWN
    if module == "numpy" and "random" in (getattr(function, "__module__", "") or ""):
        return UNKNOWN
    try:
        values = [_stand_in_arg(a) for a in args]
        options = {k: _stand_in_arg(a) for k, a in kwargs.items()}
    except LookupError:
        return UNKNOWN
    found = _measure(function, values, options)
    return UNKNOWN if found is None else found


def probe_helper(function: Any, args: tuple[Arg, ...]) -> Kind:
    """The kind of a support helper's result: its dtype and number of dimensions do not depend on sizes."""
    try:
        found = _measure(function, [_stand_in_arg(a) for a in args], {})
    except LookupError:
        return UNKNOWN
    return found if isinstance(found, Number | Array) else UNKNOWN


# -- reductions --------------------------------------------------------------------------------------


def _reduction(function: Any, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kind | None:
    """`sum` and its like: they have an axis and keepdims."""
    rule = lookup(function)
    if rule is None or rule.signature is None or "keepdims" not in rule.signature.parameters:
        if function not in (np.argmax, np.argmin, np.any, np.all, np.count_nonzero):
            return None
        bound = dict(zip(("a", "axis"), args, strict=False)) | kwargs
    else:
        try:
            bound = rule.bind(args, dict(kwargs))
        except NoRule:
            return None
    x = next(iter(bound.values()))
    if not isinstance(x, Var) or not isinstance(x.kind, Array) or x.kind.dims is None or x.kind.dtype is None:
        return None
    measured = _measure(function, [np.full((1,) * len(x.kind.dims), 1, x.kind.dtype)], {})
    if not isinstance(measured, Number):
        return None
    axis = _static(bound.get("axis", None))
    keepdims = _static(bound.get("keepdims", False))
    if (
        axis is _DYNAMIC
        or keepdims is _DYNAMIC
        or not isinstance(_static(bound.get("q", 0.5)), float | int | type(_DYNAMIC))
    ):
        return None
    if isinstance(bound.get("q"), Var | Lst | Tup) and not isinstance(arg_kind(bound["q"]), Number):
        return None
    if bound.get("dtype") not in (None, Const(None)):
        return None
    ndim = len(x.kind.dims)
    axes = (
        set(range(ndim))
        if axis is None
        else {a % max(ndim, 1) for a in (axis if isinstance(axis, tuple) else (axis,))}
    )
    dims = tuple(1 if i in axes else d for i, d in enumerate(x.kind.dims) if keepdims or i not in axes)
    return Array(measured.dtype, dims) if dims else measured


class _Dynamic:
    pass


_DYNAMIC = _Dynamic()


def _static(value: Any) -> Any:
    """The Python value of an operand that is known, or _DYNAMIC."""
    if isinstance(value, Const | Ref):
        return value.value
    if isinstance(value, Tup | Lst):
        items = [_static(a) for a in value.items]
        if any(i is _DYNAMIC for i in items):
            return _DYNAMIC
        return tuple(items) if isinstance(value, Tup) else items
    if isinstance(value, Var | Slc | Dct):
        return _DYNAMIC
    return value


# -- shapes, one function each -----------------------------------------------------------------------

_SPECIAL: dict[Any, Callable[..., Kinds | None]] = {}


def _shape_of(*functions: Any) -> Callable[[Callable[..., Kinds | None]], Callable[..., Kinds | None]]:
    def register(f: Callable[..., Kinds | None]) -> Callable[..., Kinds | None]:
        for function in functions:
            _SPECIAL[function] = f
        return f

    return register


def size_of(arg: Arg) -> Size:
    """An integer operand as a size."""
    if isinstance(arg, Const) and isinstance(arg.value, int):
        return arg.value if arg.value >= 0 else None
    if isinstance(arg, Var) and isinstance(arg.kind, Number):
        return arg.kind.size or Dim(f"#{id(arg)}")
    return None


def slice_size(size: Size, part: Slc) -> Size:
    """How long `range(size)[part]` is."""
    start, stop, step = (_static(p) for p in (part.start, part.stop, part.step))
    if isinstance(size, int) and not any(p is _DYNAMIC for p in (start, stop, step)):
        return len(range(size)[slice(start, stop, step)])
    if start is None and stop is None and step in (None, 1, -1):
        return size
    if (
        not isinstance(size, Dim)
        or step not in (None, 1)
        or not isinstance(start, int | None)
        or not isinstance(stop, int | None)
    ):
        return None
    front = start or 0
    back = -stop if stop is not None else 0
    if front < 0 or back < 0 or (stop is not None and back == 0):
        return None
    return Dim(size.root, size.minus + front + back, size.not_one and front + back == 0)


def index_dims(dims: tuple[Size, ...], index: Arg) -> tuple[Size, ...] | None:
    """The dimensions of `a[index]`; None where they are not known."""
    items = list(index.items) if isinstance(index, Tup) else [index]
    consumed = 0
    for item in items:
        kind = arg_kind(item)
        if isinstance(item, Const) and (item.value is None or item.value is Ellipsis):
            continue
        if isinstance(kind, Array) and kind.dtype == "b1":
            if kind.dims is None:
                return None
            consumed += len(kind.dims)
        elif (
            isinstance(item, Slc | Lst)
            or (isinstance(kind, Number) and kind.dtype not in ("bool", "b1", None))
            or (isinstance(kind, Array) and (kind.dtype or "?")[0] in "iu")
        ):
            consumed += 1
        else:
            return None
    if not any(isinstance(i, Const) and i.value is Ellipsis for i in items):
        items.append(Const(Ellipsis))
    result: list[Size] = []
    advanced: list[tuple[Size, ...]] = []
    place: int | None = None
    separated = False
    last_advanced = None
    at = 0
    for position, item in enumerate(items):
        kind = arg_kind(item)
        if isinstance(item, Const) and item.value is None:
            result.append(1)
        elif isinstance(item, Const) and item.value is Ellipsis:
            spare = len(dims) - consumed
            if spare < 0:
                return None
            result.extend(dims[at : at + spare])
            at += spare
            if spare == 0 and position == len(items) - 1:
                continue
        elif isinstance(item, Slc):
            result.append(slice_size(dims[at], item))
            at += 1
        elif isinstance(item, Lst) or isinstance(kind, Array):
            if isinstance(item, Lst):
                shape: tuple[Size, ...] | None = (len(item.items),)
                if any(
                    not isinstance(arg_kind(i), Number) or dtype_of(arg_kind(i)) in ("bool", "b1")
                    for i in item.items
                ):
                    return None
                at += 1
            elif isinstance(kind, Array) and kind.dtype == "b1":
                shape, at = (None,), at + len(kind.dims or ())
            else:
                shape, at = dims_of(kind), at + 1
            if shape is None:
                return None
            if last_advanced is not None and last_advanced != position - 1:
                separated = True
            last_advanced = position
            place = len(result) if place is None else place
            advanced.append(shape)
        else:  # an integer
            at += 1
            if advanced or any(isinstance(arg_kind(i), Array) or isinstance(i, Lst) for i in items):
                # next to index arrays an integer is an index array of no dimensions
                if last_advanced is not None and last_advanced != position - 1:
                    separated = True
                last_advanced = position
                place = len(result) if place is None else place
                advanced.append(())
    if advanced:
        together = broadcast_dims(*advanced)
        if together is None or place is None:
            return None
        at_front = 0 if separated else place
        result[at_front:at_front] = together
    return tuple(result)


@_shape_of(operator.getitem)
def _getitem(obj: Arg, index: Arg) -> Kinds | None:
    kind = arg_kind(obj)
    if isinstance(kind, Sequence):
        return kind if isinstance(index, Slc) else kind.element
    if not isinstance(kind, Array):
        return UNKNOWN
    if kind.dims is None or kind.dtype in (None, "O"):
        return UNKNOWN
    dims = index_dims(kind.dims, index)
    if dims is None:
        return UNKNOWN
    if dims or _makes_array(index):
        return Array(kind.dtype, dims)
    return Number(kind.dtype)


def _makes_array(index: Arg) -> bool:
    """An index with `...` gives an array even where no dimension is left."""
    items = index.items if isinstance(index, Tup) else (index,)
    return any(
        (isinstance(i, Const) and i.value is Ellipsis) or isinstance(arg_kind(i), Array) for i in items
    )


@_shape_of(len)
def _len(x: Arg) -> Kinds | None:
    dims = dims_of(arg_kind(x))
    return Number("int", dims[0] if dims and isinstance(dims[0], Dim) else None)


def shape_dims(shape: Arg) -> tuple[Size, ...] | None:
    if isinstance(shape, Tup | Lst):
        return tuple(size_of(a) for a in shape.items)
    if isinstance(arg_kind(shape), Number):
        return (size_of(shape),)
    return None


def _dtype_arg(dtype: Arg | None, default: str | None) -> str | None:
    if dtype is None or dtype == Const(None):
        return default
    value = _static(dtype)
    try:
        return dtype_code(value) if value is not _DYNAMIC else None
    except TypeError:
        return None


@_shape_of(np.zeros, np.ones, np.empty)
def _new(shape: Arg, dtype: Arg | None = None) -> Kinds | None:
    return Array(_dtype_arg(dtype, "f8"), shape_dims(shape))


@_shape_of(np.full)
def _full(shape: Arg, fill_value: Arg, dtype: Arg | None = None) -> Kinds | None:
    kind = arg_kind(fill_value)
    if isinstance(kind, Number) and kind.dtype is not None:
        return Array(_dtype_arg(dtype, dtype_code(np.result_type(type(stand_in(kind))))), shape_dims(shape))
    return None


@_shape_of(np.zeros_like, np.ones_like, np.empty_like, np.copy)
def _like(a: Arg, dtype: Arg | None = None) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array):
        return Array(_dtype_arg(dtype, kind.dtype), kind.dims)
    if isinstance(kind, Number) and kind.dtype is not None:
        return Array(_dtype_arg(dtype, dtype_code(np.asarray(stand_in(kind)).dtype)), ())
    return None


@_shape_of(np.full_like)
def _full_like(a: Arg, fill_value: Arg, dtype: Arg | None = None) -> Kinds | None:
    return _like(a, dtype)


@_shape_of(np.cumsum, np.cumprod)
def _cumulative(a: Arg, axis: Arg = Const(None)) -> Kinds | None:
    kind = arg_kind(a)
    if (
        isinstance(kind, Array)
        and kind.dims is not None
        and (axis != Const(None) or len(kind.dims) == 1)
        and (kind.dtype or "?")[0] in "fc"
    ):
        return kind
    return None


@_shape_of(np.flip, np.roll, np.tril, np.triu, np.sort, np.flipud, np.fliplr)
def _same_shape(a: Arg, *args: Arg, **kwargs: Arg) -> Kinds | None:
    kind = arg_kind(a)
    return kind if isinstance(kind, Array) and Const(None) not in args else None


@_shape_of(np.transpose)
def _transpose(a: Arg, axes: Arg = Const(None)) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array) and kind.dims is not None:
        order = _static(axes)
        if order is None:
            return Array(kind.dtype, kind.dims[::-1])
        if order is not _DYNAMIC:
            return Array(kind.dtype, tuple(kind.dims[i] for i in order))
    return None


@_shape_of(np.swapaxes)
def _swapaxes(a: Arg, axis1: Arg, axis2: Arg) -> Kinds | None:
    kind = arg_kind(a)
    i, j = _static(axis1), _static(axis2)
    if isinstance(kind, Array) and kind.dims is not None and isinstance(i, int) and isinstance(j, int):
        dims = list(kind.dims)
        dims[i], dims[j] = dims[j], dims[i]
        return Array(kind.dtype, tuple(dims))
    return None


@_shape_of(np.reshape)
def _reshape(a: Arg, shape: Arg, order: Arg | None = None) -> Kinds | None:
    kind = arg_kind(a)
    dims = shape_dims(shape)
    if isinstance(kind, Array) and dims is not None:
        if len(dims) == 1 and kind.dims is not None and len(kind.dims) == 1:
            return Array(kind.dtype, kind.dims)
        return Array(kind.dtype, dims)
    return None


@_shape_of(np.ravel)
def _ravel(a: Arg, order: Arg | None = None) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array):
        return Array(kind.dtype, kind.dims if kind.dims is not None and len(kind.dims) == 1 else (None,))
    return None


@_shape_of(np.broadcast_to)
def _broadcast_to(array: Arg, shape: Arg) -> Kinds | None:
    dtype = dtype_of(arg_kind(array))
    if dtype is None:
        return None
    dims = shape_dims(shape)
    strong = dtype_code(np.asarray(stand_in(Number(dtype))).dtype) if dtype in WEAK else dtype
    return Array(strong, dims)


@_shape_of(np.expand_dims)
def _expand_dims(a: Arg, axis: Arg) -> Kinds | None:
    kind = arg_kind(a)
    at = _static(axis)
    if isinstance(kind, Array) and kind.dims is not None and isinstance(at, int):
        dims = list(kind.dims)
        dims.insert(at if at >= 0 else len(dims) + 1 + at, 1)
        return Array(kind.dtype, tuple(dims))
    return None


@_shape_of(np.array, np.asarray)
def _array(a: Arg, dtype: Arg | None = None) -> Kinds | None:
    kind = arg_kind(a)
    if isinstance(kind, Array):
        return Array(_dtype_arg(dtype, kind.dtype), kind.dims)
    if isinstance(kind, Number) and kind.dtype is not None:
        return Array(_dtype_arg(dtype, dtype_code(np.asarray(stand_in(kind)).dtype)), ())
    if isinstance(kind, Sequence) and isinstance(kind.element, Number) and kind.element.dtype is not None:
        return Array(_dtype_arg(dtype, dtype_code(np.asarray([stand_in(kind.element)]).dtype)), (None,))
    if isinstance(kind, Sequence) and isinstance(kind.element, Array) and kind.element.dims is not None:
        return Array(_dtype_arg(dtype, kind.element.dtype), (None, *kind.element.dims))
    dims, dtypes = _nested(a)
    if dims is None:
        return UNKNOWN
    return Array(_dtype_arg(dtype, dtypes), dims)


def _nested(a: Arg) -> tuple[tuple[Size, ...] | None, str | None]:
    """Dimensions and dtype of an array made of nested displays."""
    if isinstance(a, Lst | Tup):
        parts = [_nested(item) for item in a.items]
        if not parts:
            return (0,), "f8"
        if any(isinstance(i, Star) for i in a.items) or any(
            p[0] is None or len(p[0]) != len(parts[0][0] or ()) for p in parts
        ):
            return None, None
        inner = parts[0][0]
        assert inner is not None
        codes = [p[1] for p in parts]
        dtype = (
            None
            if any(c is None for c in codes)
            else dtype_code(np.result_type(*[np.dtype(c) for c in codes if c]))
        )
        return (len(a.items), *inner), dtype
    kind = arg_kind(a)
    if isinstance(kind, Number) and kind.dtype is not None:
        return (), dtype_code(np.asarray(stand_in(kind)).dtype)
    if isinstance(kind, Array):
        return kind.dims, kind.dtype
    return None, None


@_shape_of(np.matmul, operator.matmul, np.dot)
def _matmul(x: Arg, y: Arg) -> Kinds | None:
    a, b = arg_kind(x), arg_kind(y)
    if (
        not (isinstance(a, Array) and isinstance(b, Array))
        or a.dims is None
        or b.dims is None
        or a.dtype is None
        or b.dtype is None
    ):
        return None
    dtype = dtype_code(np.result_type(np.dtype(a.dtype), np.dtype(b.dtype)))
    if not (1 <= len(a.dims) <= 2 and 1 <= len(b.dims) <= 2):
        return None
    dims = (*a.dims[:-1], *b.dims[1:]) if len(b.dims) == 2 else a.dims[:-1]
    return Array(dtype, dims) if dims else Number(dtype)


@_shape_of(np.outer)
def _outer(a: Arg, b: Arg) -> Kinds | None:
    x, y = arg_kind(a), arg_kind(b)
    if (
        isinstance(x, Array)
        and isinstance(y, Array)
        and x.ndim == 1
        and y.ndim == 1
        and x.dtype
        and y.dtype
        and x.dims
        and y.dims
    ):
        return Array(dtype_code(np.result_type(np.dtype(x.dtype), np.dtype(y.dtype))), (x.dims[0], y.dims[0]))
    return None


@_shape_of(np.arange)
def _arange(*args: Arg, dtype: Arg | None = None) -> Kinds | None:
    kinds = [arg_kind(a) for a in args]
    if not all(isinstance(k, Number) and k.dtype for k in kinds):
        return None
    code = _dtype_arg(
        dtype,
        dtype_code(np.arange(*[type(stand_in(k))(1) for k in kinds][:1]).dtype) if len(kinds) == 1 else None,
    )
    if code is None and dtype is None:
        code = dtype_code(np.result_type(*[np.asarray(stand_in(k)).dtype for k in kinds]))
    return Array(code, (size_of(args[0]) if len(args) == 1 and dtype_of(kinds[0]) == "int" else None,))


@_shape_of(np.eye, np.identity)
def _eye(N: Arg, M: Arg | None = None, dtype: Arg | None = None) -> Kinds | None:
    return Array(_dtype_arg(dtype, "f8"), (size_of(N), size_of(N if M is None else M)))


@_shape_of(np.size, np.ndim)
def _integer(a: Arg, axis: Arg | None = None) -> Kinds | None:
    return INT


@_shape_of(float)
def _float(a: Arg = Const(0.0)) -> Kinds | None:
    return Number("float")


@_shape_of(int)
def _int(a: Arg = Const(0), base: Arg | None = None) -> Kinds | None:
    return INT


@_shape_of(bool, isinstance, hasattr, callable, issubclass, operator.is_, operator.is_not, operator.not_)
def _bool(*args: Arg) -> Kinds | None:
    return Number("bool")


@_shape_of(str, repr, format)
def _str(*args: Arg) -> Kinds | None:
    return Opaque(str)
