"""Stand-ins: small values of given kinds, on which an operation is tried before the program runs.

In: a function and operands. Out: the kind of its result without sizes, or None if that may depend on values.

    probe(np.trace, (x,), {}), x: f4[n, n]  ->  f4

For NumPy, the dtype and the number of dimensions of a result follow from those of the operands nearly always.
To find the exceptions each operation is tried with several sizes and values, which have to agree.
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.rule import lookup
from .ir import Arg, Const, Lst, Ref, Slc, Tup, Var, variables
from .kinds import UNKNOWN, Array, Kind, Number, Sequence, dtype_code, kind_of

Kinds = Kind | tuple[Kind, ...]

#: Sizes and numbers of each variant: small, ordinary, degenerate. None is negative: powers would be complex.
_SIZES = (3, 4, 1)
_NUMBERS: dict[str, tuple[Any, ...]] = {
    "bool": (True, False, True),
    "int": (1, 2, 0),
    "float": (0.5, 1.5, 2.0),
    "complex": (0.5 + 0.5j, 1.5 + 0j, 2.0j),
}
VARIANTS = range(len(_SIZES))


def stand_in(kind: Kind, variant: int = 0) -> Any:
    """A small value of a kind.

    Raises:
        LookupError: if too little is known to make one.
    """
    if isinstance(kind, Number) and kind.dtype is not None:
        if kind.weak:
            return _NUMBERS[kind.dtype][variant]
        return np.dtype(kind.dtype).type(_number(kind.dtype, variant))
    if isinstance(kind, Array) and kind.dims is not None and kind.dtype not in (None, "O"):
        assert kind.dtype is not None
        return _array(
            kind.dtype,
            tuple(d if isinstance(d, int) and d < 64 else _SIZES[variant] for d in kind.dims),
            variant,
        )
    raise LookupError(kind)


def _number(dtype: str, variant: int) -> Any:
    if dtype[0] == "u":
        return (1, 2, 0)[variant]
    return _NUMBERS[{"b": "bool", "i": "int", "f": "float", "c": "complex"}[dtype[0]]][variant]


def _array(dtype: str, shape: tuple[int, ...], variant: int) -> Any:
    value = np.full(shape, _number(dtype, variant), dtype)
    if len(shape) >= 2 and dtype[0] in "fc":
        n = min(shape[-2:])
        value = value * 0.1
        if variant == 1:  # matrices that turn, so that their eigenvalues are complex
            value = value + np.triu(np.ones(shape[-2:])) - np.tril(np.ones(shape[-2:]))
        else:
            value[..., range(n), range(n)] += np.arange(1, n + 1)
    return value.astype(dtype)


def _operand(arg: Arg, variant: int) -> Any:
    if isinstance(arg, Const | Ref):
        return arg.value
    if isinstance(arg, Var):
        return stand_in(arg.kind, variant)
    if isinstance(arg, Tup):
        items = [_operand(a, variant) for a in arg.items]
        return arg.cls.value(*items) if arg.cls else tuple(items)
    if isinstance(arg, Lst):
        return [_operand(a, variant) for a in arg.items]
    if isinstance(arg, Slc):
        return slice(*(_operand(a, variant) for a in (arg.start, arg.stop, arg.step)))
    raise LookupError(arg)


def probe(function: Callable[..., Any], args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds | None:
    """The kind of `function(*args, **kwargs)`, as far as all variants agree on it."""
    found: Kinds | None = None
    if function is np.einsum and any(isinstance(a, Lst) and any(variables(a)) for a in args):
        return None  # labels of axes, which all would be the same one
    counts = any(_is_count(v.kind) for a in (*args, *kwargs.values()) for v in variables(a))
    for variant in VARIANTS:
        try:
            values = [_operand(a, variant) for a in args]
            options = {k: _operand(a, variant) for k, a in kwargs.items()}
        except LookupError:
            return None
        kind = measure(function, values, options)
        if kind is None and counts:
            return None  # an axis, a flag or a number of axes: what raises here may give something else there
        if kind is None:
            continue  # sizes that the operation does not take
        if found is not None and kind != found:
            return None
        found = kind
    return found


def _is_count(kind: Kind) -> bool:
    return isinstance(kind, Number) and (kind.dtype or "?")[0] in "iub"


def measure(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Kinds | None:
    """Call the function; the result's kind without sizes, or None if it raises."""
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
        one = parts.pop() if len(parts) == 1 else None
        return Sequence(one) if isinstance(one, Kind) else UNKNOWN
    if isinstance(result, np.ndarray):
        numeric = result.dtype.kind in "biufc"
        return Array(dtype_code(result.dtype), (None,) * result.ndim) if numeric else UNKNOWN
    return kind_of(result)


# -- what may be tried -------------------------------------------------------------------------------

#: The kind of their results depends on more than the variants show.
_BY_VALUE = frozenset(
    {"squeeze", "array", "asarray", "asanyarray", "getitem", "block", "apply_along_axis", "vectorize",
    "roots", "poly", "eig", "eigvals", "real_if_close", "cov", "corrcoef", "cross", "sqrtm", "logm", "item",
    "tolist", "min_scalar_type", "result_type", "can_cast", "nanquantile", "nanpercentile", "histogramdd"}
)  # fmt: skip
#: They do something, besides returning something.
_DOING = frozenset(
    {"save", "savetxt", "savez", "savez_compressed", "set_printoptions", "printoptions", "errstate", "seterr",
    "geterr", "print", "dump", "dumps", "tofile", "load", "loadtxt", "fromfile", "genfromtxt", "copyto",
    "put", "place", "putmask", "fill_diagonal", "iter", "next", "open", "input", "exec", "eval"}
)  # fmt: skip
_KNOWN_MODULES = frozenset({"numpy", "scipy", "math", "cmath", "operator", "builtins"})


def may_be_tried(function: Any) -> bool:
    """Whether calling the function with made-up operands does no harm and says something."""
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", "")
    if name in _DOING or name in _BY_VALUE or "random" in module or "scimath" in module:
        return False
    if isinstance(function, np.ufunc) or module.partition(".")[0] == "math":
        return True
    rule = lookup(function)
    if rule is None:
        return False
    known = module.partition(".")[0] in _KNOWN_MODULES or isinstance(
        function, types.BuiltinFunctionType | types.MethodDescriptorType
    )
    return known or rule.kind != "nondifferentiable"
