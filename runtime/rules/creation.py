"""Arrays made from numbers: `arange`, `fromiter`, the Kaiser window.

In: `g`, of the shape of the array. Out: adjoints of the numbers that it was made from.

    np.arange(start, stop, step)[i] == start + i * step
"""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from ..rule import elementwise, vjp
from ..support import (
    arange_start_adjoint,
    arange_start_tangent,
    kaiser_slope,
    own,
    polar_adjoint,
    polar_tangent,
)
from ..support_reductions import like_sequence


@vjp(np.arange, samples=[(0.2, 1.0, 0.3), (2.5,), (0.2, 3.1)])
def arange(g: Any, out: Any, start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    return arange_start_adjoint(g, stop), 0.0, np.sum(g * np.arange(np.size(g), like=own(g)))


@arange.jvp
def _(
    start_dot: Any,
    stop_dot: Any,
    step_dot: Any,
    out: Any,
    start: Any,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
) -> Any:
    counted = np.arange(np.size(out), like=own(out))
    return arange_start_tangent(start_dot, out, stop), np.zeros_like(out), step_dot * counted


@vjp(
    np.fromiter, samples=[([0.3, 0.9], float), ((0.3, 0.9), {"dtype": float}), (np.array([0.3, 0.9]), float)]
)
def fromiter(g: Any, out: Any, iter: Any, dtype: Any, count: Any = -1) -> Any:
    return like_sequence(g, iter)


@fromiter.jvp
def _(iter_dot: Any, out: Any, iter: Any, dtype: Any, count: Any = -1) -> Any:
    return np.array(iter_dot)[: np.size(out)]


@vjp(np.kaiser, wrt=["beta"], samples=[(5, 3.5), (4, 0.2)])
def kaiser(g: Any, out: Any, M: Any, beta: Any) -> Any:
    return np.sum(g * kaiser_slope(out, M, beta))


@kaiser.jvp
def _(beta_dot: Any, out: Any, M: Any, beta: Any) -> Any:
    return beta_dot * kaiser_slope(out, M, beta)


@elementwise(cmath.rect, samples=[(0.7, 2.1)])
def rect(g: Any, out: Any, r: Any, phi: Any) -> Any:
    return g * np.exp(1j * phi), g * 1j * out


@vjp(cmath.polar, holomorphic=False, samples=[(0.7 - 0.2j,)])
def polar(g: Any, out: Any, z: Any) -> Any:
    return polar_adjoint(g, z)


@polar.jvp
def _(z_dot: Any, out: Any, z: Any) -> Any:
    return (polar_tangent(z_dot, z),)
