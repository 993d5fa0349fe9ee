"""What an operation's result is, given the kinds of its operands.

In: an operation's function and its operands. Out: a `Kind`, a tuple of kinds (several results), or UNKNOWN.

    np.sum(x, axis=0), x: f8[n, m]  ->  f8[m]

Whatever is said here is true whenever the program runs; what is not certain is UNKNOWN, which is always safe.
Sizes come from the algebra of dimensions (`sizes`, `results`), dtypes from NumPy itself, which is asked by
trying the operation on small values of the operands' kinds (`stand_ins`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.rule import NoRule, lookup
from .ir import Arg, Const, Star, Var, variables
from .kinds import (
    UNDEFINED,
    UNKNOWN,
    WEAK,
    Array,
    Kind,
    Number,
    Opaque,
    Sequence,
    Undefined,
    Unknown,
    at_home,
    broadcast_dims,
    dims_of,
    dtype_of,
    home_of,
)
from .results import RULES, reduction
from .sizes import arg_kind, named, shape_dims, size_of
from .stand_ins import Kinds, may_be_tried, measure, probe, stand_in


def infer(function: Callable[..., Any], args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds:
    """The kind of `function(*args, **kwargs)`; a tuple of kinds if it returns a tuple of known length.

    Each unknown size gets a name of its own, so call it once for each value.
    """
    kinds = _infer(function, args, {k: a for k, a in kwargs.items() if k != "like"})
    home = home_of(*(v.kind for a in (*args, *kwargs.values()) for v in variables(a)))
    if home is not None:
        kinds = tuple(at_home(k, home) for k in kinds) if isinstance(kinds, tuple) else at_home(kinds, home)
    return tuple(map(named, kinds)) if isinstance(kinds, tuple) else named(kinds)


def _infer(function: Callable[..., Any], args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds:
    if any(isinstance(a, Star) for a in args):
        return UNKNOWN
    everything = (*args, *kwargs.values())
    if any(isinstance(v.kind, Undefined) for a in everything for v in variables(a)):
        return UNDEFINED  # not reached, or not known yet
    found = _by_rule(function, args, kwargs)
    if found is not None:
        return found
    if _is_elementwise(function, args):
        return _elementwise(function, args, kwargs)
    if any(
        isinstance(v.kind, Unknown | Sequence) for a in everything for v in variables(a)
    ) or not may_be_tried(function):
        return UNKNOWN
    bound = _reduced(function, args, kwargs)
    found = probe(function, args, kwargs) if bound is None else reduction(function, bound, args, kwargs)
    return UNKNOWN if found is None else found


def probe_helper(function: Any, args: tuple[Arg, ...]) -> Kind:
    """The kind of a support helper's result: its dtype and number of dimensions do not depend on sizes."""
    found = probe(function, args, {})
    if not isinstance(found, Number | Array):
        return UNKNOWN
    home = home_of(*(v.kind for a in args for v in variables(a)))
    return named(found if home is None else at_home(found, home))


def _by_rule(function: Any, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds | None:
    try:
        rule = RULES.get(function)
    except TypeError:  # not hashable
        return None
    if rule is None:
        return None
    try:
        return rule(*args, **kwargs)
    except TypeError:  # an option that the shape rule does not know: look at what happens
        return None
    except (IndexError, ValueError, ZeroDivisionError):  # the program will raise
        return UNKNOWN


def _reduced(function: Any, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> dict[str, Any] | None:
    """The operands of a function with `axis` and `keepdims` by name; None for other functions."""
    if function in (np.argmax, np.argmin, np.any, np.all, np.count_nonzero):
        return dict(zip(("a", "axis"), args, strict=False)) | kwargs
    rule = lookup(function)
    if rule is None or rule.signature is None or not {"axis", "keepdims"} <= rule.signature.parameters.keys():
        return None
    try:
        return rule.bind(args, dict(kwargs))
    except NoRule:
        return None


# -- elementwise -------------------------------------------------------------------------------------

_OPERATORS = frozenset(
    getattr(operator, name)
    for name in (
        "add sub mul truediv floordiv mod pow neg pos invert abs lshift rshift and_ or_ xor lt le gt ge eq ne"
    ).split()
)
_COMPARE = frozenset({operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne})


def _is_elementwise(function: Any, args: tuple[Arg, ...]) -> bool:
    if isinstance(function, np.ufunc):
        return function.signature is None
    if function is np.where and len(args) != 3:
        return False
    try:
        if function in _OPERATORS:
            return True
    except TypeError:
        return False
    rule = lookup(function)
    return rule is not None and rule.kind == "elementwise"


def _elementwise(function: Any, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Kinds:
    if kwargs.keys() & {"out", "where", "dtype", "casting", "axes", "axis"} or any(
        not isinstance(a, Var | Const) for a in (*args, *kwargs.values())
    ):
        return UNKNOWN if kwargs else _found(probe(function, args, kwargs))
    given = [arg_kind(a) for a in args]
    named = {k: arg_kind(a) for k, a in kwargs.items()}
    kinds = [k for k in (*given, *named.values()) if k != _ABSENT]
    if any(not isinstance(k, Number | Array) for k in kinds):
        return _of_objects(function, kinds)
    if any(dtype_of(k) in (None, "O") for k in kinds):
        dims = broadcast_dims(*(dims_of(k) for k in kinds))
        return Array(None, dims) if dims and getattr(function, "nout", 1) == 1 else UNKNOWN
    if function in (operator.pow, pow) and all(isinstance(k, Number) and k.weak for k in kinds):
        return _weak_power(args, kinds)
    dims = broadcast_dims(*(dims_of(k) for k in kinds))
    if dims is None and not any(dims_of(k) for k in kinds):
        return UNKNOWN  # of arrays without dimensions NumPy makes numbers
    results = _of_shape(
        function, tuple(map(_shrunk, given)), tuple((k, _shrunk(v)) for k, v in named.items())
    )
    if isinstance(results, tuple):
        return tuple(_of_dims(k, dims) for k in results)
    return UNKNOWN if results is None else _of_dims(results, dims)


_ABSENT = Opaque(type(None))


def _found(kind: Kinds | None) -> Kinds:
    return UNKNOWN if kind is None else kind


def _of_objects(function: Any, kinds: list[Kind]) -> Kind:
    """Strings, shapes and the like; next to a number that can carry a derivative nothing is certain."""
    if function in _COMPARE:
        return Opaque(None)
    return Opaque(None) if not any(k.differentiable for k in kinds) else UNKNOWN


def _shrunk(kind: Kind) -> Kind:
    """The same kind with every size 1."""
    if isinstance(kind, Array):
        return Array(kind.dtype, (1,) if kind.dims is None else (1,) * len(kind.dims))
    return Number(kind.dtype) if isinstance(kind, Number) else kind


def _of_dims(kind: Kind, dims: Any) -> Kind:
    return Array(kind.dtype, dims) if isinstance(kind, Array) else kind


@functools.lru_cache(maxsize=4096)
def _of_shape(function: Any, kinds: tuple[Kind, ...], named: tuple[tuple[str, Kind], ...]) -> Kinds | None:
    def value(kind: Kind) -> Any:
        return None if kind == _ABSENT else stand_in(kind)

    return measure(function, [value(k) for k in kinds], {name: value(k) for name, k in named})


def _weak_power(args: tuple[Arg, ...], kinds: list[Kind]) -> Kind:
    """Python decides by value (`2 ** -1` is a float): the wider class covers both for a derivative."""
    order = max(WEAK.index(dtype_of(k) or "complex") for k in kinds)
    exponent = args[1]
    if order <= 1 and isinstance(exponent, Const) and exponent.value >= 0:
        return Number("int")
    return Number("float" if order <= 2 else "complex")


__all__ = ["Kinds", "arg_kind", "infer", "probe_helper", "shape_dims", "size_of", "stand_in"]
