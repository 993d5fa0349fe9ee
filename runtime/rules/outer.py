"""`ufunc.outer`: the ufunc of every element of one array with every element of another.

In: `g`, of the shape of `A` followed by that of `B`. Out: the ufunc's own adjoints, summed over the axes of
the other array. `spread(A, B)` is `A` with the axes of `B` added, of length 1.

    np.multiply.outer(A, B)[i, j] == A[i] * B[j]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import vjp
from ..support import (
    exponent_adjoint,
    power_adjoint,
    ratio_or_zero,
    spread,
    unbroadcast,
    unspread,
)
from ..support_reductions import broadcast_like

_V, _M = np.array([0.3, 0.9, 0.6]), np.array([[1.3, 0.8], [0.2, 2.5]])
_PAIRS = [(_V, _M), (_M, _V), (0.7, _V), (_V, 0.7), (_V, _V + 0.1)]
_COMPLEX = [*_PAIRS, (_V + 0.5j, _M)]


@vjp(np.add.outer, samples=_COMPLEX)
def add_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    return unspread(g, A, B), unbroadcast(g, B)


@add_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    return broadcast_like(spread(A_dot, B), out), broadcast_like(B_dot, out)


@vjp(np.subtract.outer, samples=_COMPLEX)
def subtract_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    return unspread(g, A, B), unbroadcast(-g, B)


@subtract_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    return broadcast_like(spread(A_dot, B), out), broadcast_like(-B_dot, out)


@vjp(np.multiply.outer, samples=_COMPLEX)
def multiply_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    return unspread(g * B, A, B), unbroadcast(g * spread(A, B), B)


@multiply_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    return np.multiply.outer(A_dot, B), np.multiply.outer(A, B_dot)


@vjp(np.divide.outer, safe=1.0, samples=_COMPLEX)
def divide_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    return unspread(g / B, A, B), unbroadcast(-g * out / B, B)


@divide_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    return np.divide.outer(A_dot, B), -out * B_dot / B


@vjp(np.power.outer, safe=1.0, samples=_COMPLEX)
def power_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    return (
        unspread(power_adjoint(g, spread(A, B), B), A, B),
        unbroadcast(exponent_adjoint(g, out, spread(A, B)), B),
    )


@power_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    return power_adjoint(spread(A_dot, B), spread(A, B), B), exponent_adjoint(B_dot, out, spread(A, B))


@vjp(np.maximum.outer, np.minimum.outer, samples=_PAIRS)
def extreme_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    left, right = out == spread(A, B), out == B
    share = g / (1 + (left & right))
    return unspread(np.where(left, share, 0), A, B), unbroadcast(np.where(right, share, 0), B)


@extreme_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    left, right = out == spread(A, B), out == B
    both = 1 + (left & right)
    return np.where(left, spread(A_dot, B), 0) / both, np.where(right, B_dot, 0) / both


@vjp(np.hypot.outer, samples=_PAIRS)
def hypot_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    return unspread(g * ratio_or_zero(spread(A, B), out), A, B), unbroadcast(g * ratio_or_zero(B, out), B)


@hypot_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    return spread(A_dot, B) * ratio_or_zero(spread(A, B), out), B_dot * ratio_or_zero(B, out)


@vjp(np.arctan2.outer, safe=1.0, samples=_PAIRS)
def arctan2_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    y = spread(A, B)
    s = g / (y * y + B * B)
    return unspread(s * B, A, B), unbroadcast(-s * y, B)


@arctan2_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    y = spread(A, B)
    return spread(A_dot, B) * B / (y * y + B * B), -B_dot * y / (y * y + B * B)


@vjp(np.logaddexp.outer, samples=_PAIRS)
def logaddexp_outer(g: Any, out: Any, A: Any, B: Any) -> Any:
    return unspread(g * np.exp(spread(A, B) - out), A, B), unbroadcast(g * np.exp(B - out), B)


@logaddexp_outer.jvp
def _(A_dot: Any, B_dot: Any, out: Any, A: Any, B: Any) -> Any:
    return spread(A_dot, B) * np.exp(spread(A, B) - out), B_dot * np.exp(B - out)
