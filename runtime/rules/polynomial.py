"""Polynomials by their coefficients, the highest first.

In: `g` and coefficients, points, roots. Out: what each coefficient, point or root does to the result.

    @vjp(np.polyval)
    def polyval(g, out, p, x):
        return polyval_p_adjoint(g, p, x), g * np.polyval(polynomial_slope(p), x)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import vjp
from ..support_signal import (
    at_end,
    poly_slopes,
    polyder_adjoint,
    polydiv_adjoints,
    polydiv_tangent,
    polyfit_adjoints,
    polyfit_tangent,
    polyint_adjoint,
    polymul_adjoint,
    polymul_tangent,
    polynomial_slope,
    polyval_p_adjoint,
    quotient_times,
    roots_slopes,
)
from .sampling import complex_, positive, real


@vjp(
    np.polyval,
    samples=[
        lambda: (real(4), real(3, seed=1)),
        lambda: (real(3), 1.5),
        lambda: (complex_(3), complex_(2, 2, seed=1)),
        lambda: (real(1), real(3, seed=1)),
    ],
)
def polyval(g: Any, out: Any, p: Any, x: Any) -> Any:
    return polyval_p_adjoint(g, p, x), g * np.polyval(polynomial_slope(p), x)


@polyval.jvp
def polyval_jvp(p_dot: Any, x_dot: Any, out: Any, p: Any, x: Any) -> Any:
    return np.polyval(p_dot, x), x_dot * np.polyval(polynomial_slope(p), x)


_PAIRS = [
    lambda: (real(4), real(2, seed=1)),
    lambda: (real(2), real(2, seed=1)),
    lambda: (complex_(1), real(3)),
]


@vjp(np.polyadd, samples=_PAIRS)
def polyadd(g: Any, out: Any, a1: Any, a2: Any) -> Any:
    return at_end(g, a1), at_end(g, a2)


@polyadd.jvp
def polyadd_jvp(a1_dot: Any, a2_dot: Any, out: Any, a1: Any, a2: Any) -> Any:
    return np.polyadd(a1_dot, np.zeros_like(a2)), np.polyadd(np.zeros_like(a1), a2_dot)


@vjp(np.polysub, samples=_PAIRS)
def polysub(g: Any, out: Any, a1: Any, a2: Any) -> Any:
    return at_end(g, a1), -at_end(g, a2)


@polysub.jvp
def polysub_jvp(a1_dot: Any, a2_dot: Any, out: Any, a1: Any, a2: Any) -> Any:
    return np.polysub(a1_dot, np.zeros_like(a2)), np.polysub(np.zeros_like(a1), a2_dot)


@vjp(np.polymul, samples=_PAIRS)
def polymul(g: Any, out: Any, a1: Any, a2: Any) -> Any:
    return polymul_adjoint(g, a1, a2), polymul_adjoint(g, a2, a1)


@polymul.jvp
def polymul_jvp(a1_dot: Any, a2_dot: Any, out: Any, a1: Any, a2: Any) -> Any:
    return polymul_tangent(a1_dot, a1, a2, out), polymul_tangent(a2_dot, a2, a1, out)


_ORDERS = [lambda: (real(4),), lambda: (real(4), 2), lambda: (complex_(3), 1), lambda: (real(4), 0)]


@vjp(np.polyder, samples=[*_ORDERS, lambda: (real(2), 3)])
def polyder(g: Any, out: Any, p: Any, m: int = 1) -> Any:
    return polyder_adjoint(g, p, m)


@polyder.jvp
def polyder_jvp(p_dot: Any, out: Any, p: Any, m: int = 1) -> Any:
    return np.polyder(p_dot, m)


@vjp(np.polyint, samples=[*_ORDERS, lambda: (real(3), 2, [1, 2])])
def polyint(g: Any, out: Any, p: Any, m: int = 1, k: Any = None) -> Any:
    return polyint_adjoint(g, p, m)


@polyint.jvp
def polyint_jvp(p_dot: Any, out: Any, p: Any, m: int = 1, k: Any = None) -> Any:
    return np.polyint(p_dot, m)


@vjp(np.poly, samples=[lambda: (real(3),), lambda: (complex_(3),), lambda: (np.array([1.0, 1.0, 0.0]),)])
def poly(g: Any, out: Any, seq_of_zeros: Any) -> Any:
    return poly_slopes(seq_of_zeros) @ g


@poly.jvp
def poly_jvp(seq_of_zeros_dot: Any, out: Any, seq_of_zeros: Any) -> Any:
    return seq_of_zeros_dot @ poly_slopes(seq_of_zeros)


@vjp(
    np.roots,
    samples=[
        lambda: (np.poly([0.5, -1.5, 2.5]),),
        lambda: (np.array([1.0, 0.5, 2.0]),),
        lambda: (complex_(4),),
    ],
)
def roots(g: Any, out: Any, p: Any) -> Any:
    return g @ roots_slopes(out, p)


@roots.jvp
def roots_jvp(p_dot: Any, out: Any, p: Any) -> Any:
    return roots_slopes(out, p) @ p_dot


@vjp(
    np.polyfit,
    wrt=["x", "y", "w"],
    only={"full": (False,), "cov": (False,)},
    samples=[
        lambda: (positive(5), real(5, seed=1), 2),
        lambda: (positive(5), real(5, 2, seed=1), 1),
        lambda: (positive(6), real(6, seed=1), 2, None, False, positive(6, seed=2)),
    ],
)
def polyfit(
    g: Any,
    out: Any,
    x: Any,
    y: Any,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    adjoints = polyfit_adjoints(g, out, x, y, deg, w)
    return adjoints[0], adjoints[1], adjoints[2]


@polyfit.jvp
def polyfit_jvp(
    x_dot: Any,
    y_dot: Any,
    w_dot: Any,
    out: Any,
    x: Any,
    y: Any,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    return (
        polyfit_tangent((x_dot, None, None), out, x, y, deg, w),
        polyfit_tangent((None, y_dot, None), out, x, y, deg, w),
        polyfit_tangent((None, None, w_dot), out, x, y, deg, w),
    )


@vjp(
    np.polydiv,
    samples=[
        lambda: (real(5), positive(2, seed=1)),
        lambda: (real(3), positive(3, seed=1)),
        lambda: (real(2), positive(4, seed=1)),
        lambda: (complex_(4), positive(2, seed=1)),
        lambda: (real(4), 1.5),
    ],
)
def polydiv(g: Any, out: Any, u: Any, v: Any) -> Any:
    u_bar, v_bar = polydiv_adjoints(g, out, u, v)
    return np.reshape(u_bar, np.shape(u)), np.reshape(v_bar, np.shape(v))


@polydiv.jvp
def polydiv_jvp(u_dot: Any, v_dot: Any, out: Any, u: Any, v: Any) -> Any:
    return (
        polydiv_tangent(np.atleast_1d(u_dot), out, v),
        polydiv_tangent(quotient_times(out[0], v_dot, u), out, v),
    )
