"""Rules for what takes its result from one of its operands: maximum, where, clip, select.

In: `g` and the operands. Out: `g` where an operand was taken, 0 elsewhere. Ties share evenly.

    @elementwise(np.maximum)
    def maximum(g, out, x1, x2):
        return np.where(x1 > x2, g, np.where(x1 == x2, g / 2, 0)), ...

A product with the mask would be nan where the adjoint is infinite, as in ``np.sqrt(np.maximum(x, 0))``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import elementwise, vjp
from ..support import (
    above_adjoint,
    below_adjoint,
    first_given,
    select_adjoint,
    select_default_adjoint,
    select_tangent,
    within_adjoint,
)

_A, _B = np.array([0.3, 0.9, 0.6]), np.array([[1.2, 0.1, 0.5], [0.2, 1.4, 0.7]])
_PAIRS = [(1.5, 0.7), (0.2, _A), (_A, _B), (_A, np.array(0.5)), (np.array([[0.4], [0.8]]), _A)]
_MASK = np.array([True, False, True])


@elementwise(np.maximum, samples=_PAIRS)
def maximum(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return (
        np.where(x1 > x2, g, np.where(x1 == x2, g / 2, 0)),
        np.where(x1 < x2, g, np.where(x1 == x2, g / 2, 0)),
    )


@elementwise(np.minimum, samples=_PAIRS)
def minimum(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return (
        np.where(x1 < x2, g, np.where(x1 == x2, g / 2, 0)),
        np.where(x1 > x2, g, np.where(x1 == x2, g / 2, 0)),
    )


@elementwise(np.fmax, samples=[*_PAIRS, (np.array([np.nan, 1.0]), np.array([2.0, np.nan]))])
def fmax(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return (
        np.where((x1 > x2) | np.isnan(x2), g, np.where(x1 == x2, g / 2, 0)),
        np.where((x1 < x2) | np.isnan(x1), g, np.where(x1 == x2, g / 2, 0)),
    )


@elementwise(np.fmin, samples=[*_PAIRS, (np.array([np.nan, 1.0]), np.array([2.0, np.nan]))])
def fmin(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return (
        np.where((x1 < x2) | np.isnan(x2), g, np.where(x1 == x2, g / 2, 0)),
        np.where((x1 > x2) | np.isnan(x1), g, np.where(x1 == x2, g / 2, 0)),
    )


@elementwise(
    np.where,
    wrt=["x", "y"],
    steps=["condition"],
    samples=[
        (_MASK, _A, _B),
        (_MASK, _A, 0.0),
        (True, 1.5, 0.5),
        (_MASK, 1.5, 0.5),
        (_MASK, _A + 1j, _A),
    ],
)
def where(g: Any, out: Any, condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, g, 0), np.where(condition, 0, g)


@elementwise(
    np.clip,
    samples=[
        (_B, 0.15, 1.0),
        (_B, None, 1.0),
        (_B, 0.15, None),
        (_B, _A, 1.0),
        (0.7, 0.0, 1.0),
        (_B, 1.0, 0.5),
        (_B, {"min": 0.15, "max": _A}),
    ],
)
def clip(
    g: Any, out: Any, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    low = first_given(a_min, min)
    high = first_given(a_max, max)
    return (
        within_adjoint(g, a, low, high),
        below_adjoint(g, a, low, high),
        above_adjoint(g, a, low, high),
        below_adjoint(g, a, low, high),
        above_adjoint(g, a, low, high),
    )


@vjp(
    np.select,
    wrt=["choicelist", "default"],
    steps=["condlist"],
    samples=[
        ([_MASK, ~_MASK], [_A, 2 * _A]),
        ([_MASK, _B > 0.3], [_A, _B], 1.5),
        ([_A > 0.5, _A > 0.2], [_A, 2.5], _B),
    ],
)
def select(g: Any, out: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    return select_adjoint(g, condlist, choicelist), select_default_adjoint(g, condlist, default)


@select.jvp
def _(
    choicelist_dot: Any, default_dot: Any, out: Any, condlist: Any, choicelist: Any, default: Any = 0
) -> Any:
    return select_tangent(condlist, choicelist_dot, out), select_default_adjoint(default_dot, condlist, out)
