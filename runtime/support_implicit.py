"""Points that a solver finds: their derivative does not ask how they were found.

In: a point `x` at which `f(x)` is 0, and `f` with what it captures. Out: `x`; its derivative in what `f` has
captured comes from the implicit function theorem (Krantz and Parks, "The Implicit Function Theorem", 2002):
of f(x, p) = 0, dx/dp = -(df/dx)^-1 df/dp at the point.

    x = root_point(scipy.optimize.brentq(f, a, b), f)
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["root_point", "solved", "solved_transposed"]


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
