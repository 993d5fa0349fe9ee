"""Interpolation by splines of SciPy, as one operation: knots, values and points in, values at the points out.

    >>> from adjoin.runtime.support_interpolate import cubic_spline_at
    >>> x = np.arange(4.0)
    >>> cubic_spline_at(x, x**2, np.array([1.5]))
    array([2.25])

A spline depends linearly on the values, so that its derivative in them is made of splines of unit vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate

__all__ = ["cubic_spline_at", "spline_at", "spline_t_bar", "spline_y_bar"]


def cubic_spline_at(
    x: Any, y: Any, t: Any, nu: int = 0, bc_type: str = "not-a-knot", extrapolate: Any = None
) -> Any:
    """The `nu`-th derivative of `scipy.interpolate.CubicSpline(x, y)` at `t`."""
    return scipy.interpolate.CubicSpline(x, y, bc_type=bc_type, extrapolate=extrapolate)(t, nu)


def spline_at(x: Any, y: Any, t: Any, nu: int = 0, k: int = 3) -> Any:
    """The `nu`-th derivative of `scipy.interpolate.make_interp_spline(x, y, k)` at `t`."""
    return scipy.interpolate.make_interp_spline(x, y, k)(t, nu)


def spline_y_bar(g: Any, weights: Any, t: Any) -> Any:
    """The adjoint of the values, given the splines of unit vectors at `t`."""
    n = np.ndim(t)
    return np.tensordot(weights, g, (tuple(range(n)), tuple(range(n))))


def spline_t_bar(g: Any, slope: Any, t: Any) -> Any:
    """The adjoint of the points, given the slopes there."""
    if np.ndim(slope) == np.ndim(t):
        return g * slope
    return np.sum(np.reshape(g * slope, (*np.shape(t), -1)), axis=-1)


def spline_t_dot(slope: Any, t_dot: Any) -> Any:
    """The tangent of the values at points that move."""
    return slope * np.reshape(t_dot, np.shape(t_dot) + (1,) * (np.ndim(slope) - np.ndim(t_dot)))
