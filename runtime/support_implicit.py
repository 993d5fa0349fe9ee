"""What a solver finds: the derivative of it does not ask how it was found.

In: a value, and what it is. Out: the value. Of a point `x` at which `f(x)` is 0, the derivative in what `f`
captures comes from the implicit function theorem (Krantz and Parks, "The Implicit Function Theorem", 2002):
of f(x, p) = 0, dx/dp = -(df/dx)^-1 df/dp at the point.

    x = root_point(scipy.optimize.brentq(f, a, b), f)
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["at_times", "integral", "root_point", "solved", "solved_transposed", "trajectory"]


def root_point(x: Any, f: Any) -> Any:
    """`x`, as the point at which `f` is 0.

    >>> root_point(2.0, lambda x: x * x - 4.0)
    2.0
    """
    return x


def solved(slope: Any, b: Any) -> Any:
    """`slope^-1 b`: of numbers the quotient.

    >>> solved(2.0, 3.0)
    1.5
    """
    return b / slope if np.ndim(slope) == 0 else np.linalg.solve(slope, b)


def solved_transposed(slope: Any, b: Any) -> Any:
    """`slope^-T b`.

    >>> solved_transposed(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, 0.0]))
    array([ 1., -2.])
    """
    return b / slope if np.ndim(slope) == 0 else np.linalg.solve(slope.T, b)


def integral(value: Any, f: Any, a: Any, b: Any) -> Any:
    """`value`, as the integral of `f` from `a` to `b`.

    >>> integral(0.5, lambda x: x, 0.0, 1.0)
    0.5
    """
    return value


def trajectory(values: Any, f: Any, y0: Any, t: Any) -> Any:
    """`values`, as the solution at the times `t` of dy/dt = f(y, t) that starts at `y0`.

    >>> trajectory([[1.0], [2.0]], lambda y, t: y, [1.0], [0.0, 0.7])
    [[1.0], [2.0]]
    """
    return values


def at_times(steps: Any, t_span: Any) -> Any:
    """`steps`, as the times that a solver of differential equations chose between the ends of `t_span`.

    >>> at_times([0.0, 0.4, 1.0], (0.0, 1.0))
    [0.0, 0.4, 1.0]
    """
    return steps
