"""Splines of SciPy, in their values and in the points at which they are evaluated.

In: `g`, `out` and knots, values and points. Out: the adjoint of the values through the splines of unit
vectors, that of the points through the slope. Knots have no derivative.

    CubicSpline(x, y)(t)     y_bar = W(t)^T g,  t_bar = g s'(t)

This file is imported when a function is looked up after `scipy.interpolate` was imported, never before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate

from ..instead import instead
from ..rule import vjp
from ..support_interpolate import cubic_spline_at, spline_at, spline_t_bar, spline_t_dot, spline_y_bar
from .sampling import real

_X = np.array([0.0, 0.7, 1.5, 2.0, 3.1])
_T = np.array([[0.3, 1.2], [2.2, 1.9]])


@vjp(
    cubic_spline_at,
    wrt=("y", "t"),
    only={"bc_type": ("not-a-knot", "natural", "clamped")},
    samples=[
        lambda: (_X, real(5), 1.3),
        lambda: (_X, real(5, 2), _T, 0, "natural"),
        lambda: (_X, real(5), _T[0], 1, "clamped"),
    ],
)
def cubic_spline(
    g: Any,
    out: Any,
    x: Any,
    y: Any,
    t: Any,
    nu: int = 0,
    bc_type: str = "not-a-knot",
    extrapolate: Any = None,
) -> Any:
    return (
        spline_y_bar(g, cubic_spline_at(x, np.eye(len(x)), t, nu, bc_type, extrapolate), t),
        spline_t_bar(g, cubic_spline_at(x, y, t, nu + 1, bc_type, extrapolate), t),
    )


@cubic_spline.jvp
def cubic_spline_jvp(
    y_dot: Any,
    t_dot: Any,
    out: Any,
    x: Any,
    y: Any,
    t: Any,
    nu: int = 0,
    bc_type: str = "not-a-knot",
    extrapolate: Any = None,
) -> Any:
    return (
        cubic_spline_at(x, y_dot, t, nu, bc_type, extrapolate),
        spline_t_dot(cubic_spline_at(x, y, t, nu + 1, bc_type, extrapolate), t_dot),
    )


@vjp(
    spline_at,
    wrt=("y", "t"),
    samples=[
        lambda: (_X, real(5), 1.3),
        lambda: (_X, real(5, 2), _T, 0, 4),
        lambda: (_X, real(5), _T[0], 1, 2),
    ],
)
def spline(g: Any, out: Any, x: Any, y: Any, t: Any, nu: int = 0, k: int = 3) -> Any:
    return (
        spline_y_bar(g, spline_at(x, np.eye(len(x)), t, nu, k), t),
        spline_t_bar(g, spline_at(x, y, t, nu + 1, k), t),
    )


@spline.jvp
def spline_jvp(y_dot: Any, t_dot: Any, out: Any, x: Any, y: Any, t: Any, nu: int = 0, k: int = 3) -> Any:
    return spline_at(x, y_dot, t, nu, k), spline_t_dot(spline_at(x, y, t, nu + 1, k), t_dot)


# -- interpolants, which are called ----------------------------------------------------------------------


@instead(scipy.interpolate.CubicSpline)
def CubicSpline(x: Any, y: Any, *, bc_type: str = "not-a-knot", extrapolate: Any = None) -> Any:
    return lambda t, nu=0: cubic_spline_at(x, y, t, nu, bc_type, extrapolate)


@instead(scipy.interpolate.make_interp_spline)
def make_interp_spline(x: Any, y: Any, k: int = 3) -> Any:
    return lambda t, nu=0: spline_at(x, y, t, nu, k)
