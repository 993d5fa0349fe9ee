"""Sequences: convolutions, differences, interpolation.

In: `g` and the operands. Out: for what is linear the transpose; for `interp` and `gradient` also what the
coordinates do.

    @vjp(np.unwrap)
    def unwrap(g, out, p, discont=None, axis=-1, *, period=2 * np.pi):
        return g
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import multilinear, nondifferentiable, vjp
from ..support_shaping import array_adjoint
from ..support_signal import (
    convolve_a_adjoint,
    correlate_adjoints,
    diff_length,
    diff_operand_adjoint,
    diff_tangent,
    ediff1d_adjoint,
    gradient_adjoint,
    gradient_f_tangent,
    gradient_spacings_adjoint,
    gradient_spacings_tangent,
    interp_fp_adjoint,
    interp_outside,
    interp_side_tangent,
    interp_slopes,
    interp_xp_adjoint,
    interp_xp_tangent,
    zero_if_given,
    zero_or_none,
    zeros_if_given,
)
from .sampling import complex_, positive, real

# -- convolutions --------------------------------------------------------------------------------------

_MODES = ("full", "same", "valid")
_SIGNALS = [
    *[lambda mode=mode: (real(5), real(3, seed=1), mode) for mode in _MODES],
    *[lambda mode=mode: (real(2), real(4, seed=1), mode) for mode in _MODES],
    *[lambda mode=mode: (complex_(4), complex_(3, seed=1), mode) for mode in _MODES],
    *[lambda mode=mode: (complex_(2), complex_(5, seed=1), mode) for mode in _MODES],
    lambda: (real(3), complex_(3, seed=1), "same"),
]


@multilinear(np.convolve, samples=[*_SIGNALS, lambda: (1.5, real(3))])
def convolve(g: Any, out: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    return convolve_a_adjoint(g, a, v, mode), convolve_a_adjoint(g, v, a, mode)


@multilinear(np.correlate, holomorphic=False, samples=_SIGNALS)
def correlate(g: Any, out: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    adjoints = correlate_adjoints(g, a, v, mode)
    return adjoints[0], adjoints[1]


# -- differences ---------------------------------------------------------------------------------------


@vjp(
    np.diff,
    wrt=["a", "prepend", "append"],
    samples=[
        lambda: (real(5),),
        lambda: (complex_(2, 5), 2),
        lambda: (real(4, 2), 1, 0),
        lambda: (real(4), 1, -1, 1.5),
        lambda: (real(2, 4), 2, 1, real(2, 2, seed=1), 0.5),
        lambda: (real(2, 4), 1, 0, real(1, 4, seed=1), real(2, 4, seed=2)),
        lambda: (real(3), 0),
    ],
)
def diff(
    g: Any,
    out: Any,
    a: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = np._NoValue,
    append: Any = np._NoValue,
) -> Any:
    return (
        diff_operand_adjoint(g, a, n, axis, diff_length(prepend, axis)),
        diff_operand_adjoint(g, prepend, n, axis, 0),
        diff_operand_adjoint(g, append, n, axis, None),
    )


@diff.jvp
def diff_jvp(
    a_dot: Any,
    prepend_dot: Any,
    append_dot: Any,
    out: Any,
    a: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = np._NoValue,
    append: Any = np._NoValue,
) -> Any:
    return (
        diff_tangent((zero_or_none(prepend), a_dot, zero_or_none(append)), np.shape(a), n, axis),
        diff_tangent((prepend_dot, np.zeros_like(a), zero_or_none(append)), np.shape(a), n, axis),
        diff_tangent((zero_or_none(prepend), np.zeros_like(a), append_dot), np.shape(a), n, axis),
    )


@vjp(
    np.ediff1d,
    wrt=["ary", "to_end", "to_begin"],
    samples=[
        lambda: (real(4),),
        lambda: (real(2, 3), real(2, seed=1), 1.5),
        lambda: (complex_(3), None, complex_(1, seed=1)),
        lambda: (real(1),),
    ],
)
def ediff1d(g: Any, out: Any, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    return (
        ediff1d_adjoint(g, ary, to_begin),
        array_adjoint(np.reshape(g[len(g) - np.size(to_end) :], np.shape(to_end)), to_end),
        array_adjoint(np.reshape(g[: np.size(to_begin)], np.shape(to_begin)), to_begin),
    )


@ediff1d.jvp
def ediff1d_jvp(
    ary_dot: Any,
    to_end_dot: Any,
    to_begin_dot: Any,
    out: Any,
    ary: Any,
    to_end: Any = None,
    to_begin: Any = None,
) -> Any:
    return (
        np.ediff1d(ary_dot, zeros_if_given(to_end), zeros_if_given(to_begin)),
        np.ediff1d(np.zeros_like(ary), to_end_dot, zeros_if_given(to_begin)),
        np.ediff1d(np.zeros_like(ary), zeros_if_given(to_end), to_begin_dot),
    )


@vjp(
    np.unwrap,
    samples=[lambda: (5 * real(6),), lambda: (4 * real(3, 4), None, 0), lambda: (real(5), {"period": 1.0})],
)
def unwrap(g: Any, out: Any, p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    return g


@unwrap.jvp
def unwrap_jvp(
    p_dot: Any, out: Any, p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi
) -> Any:
    return p_dot


@vjp(
    np.gradient,
    wrt=["f", "varargs"],
    samples=[
        lambda: (real(5), 1.5),
        lambda: (real(5), 0.5, {"edge_order": 2}),
        lambda: (real(4, 5), 0.5, 1.5),
        lambda: (complex_(4, 3), 0.5, {"axis": 0}),
        lambda: (real(4, 3), 0.5, {"axis": (1, 0)}),
        lambda: (real(5), np.cumsum(positive(5))),
        lambda: (real(5), np.cumsum(positive(5)), {"edge_order": 2}),
        lambda: (real(4, 5), np.cumsum(positive(4)), 0.7),
        lambda: (real(2), 0.5),
        lambda: (real(4, 3),),
    ],
)
def gradient(g: Any, out: Any, f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    return (
        gradient_adjoint(g, f, varargs, axis, edge_order),
        gradient_spacings_adjoint(g, out, f, varargs, axis, edge_order),
    )


@gradient.jvp
def gradient_jvp(
    f_dot: Any, varargs_dot: Any, out: Any, f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1
) -> Any:
    return (
        gradient_f_tangent(f_dot, varargs, axis, edge_order),
        gradient_spacings_tangent(varargs_dot, out, f, varargs, axis, edge_order),
    )


# -- interpolation -------------------------------------------------------------------------------------

_KNOTS = np.array([0.5, 1.0, 2.5, 3.0])
_PLACES = np.array([0.7, 2.0, 2.9, 0.1, 3.7])


@vjp(
    np.interp,
    wrt=["x", "xp", "fp", "left", "right"],
    samples=[
        lambda: (_PLACES, _KNOTS, real(4)),
        lambda: (1.3, _KNOTS, real(4)),
        lambda: (_PLACES.reshape(5, 1), _KNOTS, complex_(4)),
        lambda: (_PLACES, _KNOTS, real(4), 1.5, 0.5),
        lambda: (_PLACES, _KNOTS, real(4), 1.5),
        lambda: (_PLACES, np.array([3.3, 0.5, 2.1]), real(3), None, None, 3.5),
    ],
)
def interp(
    g: Any, out: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    return (
        g * interp_slopes(x, xp, fp, period)[3],
        interp_xp_adjoint(g, x, xp, fp, period),
        interp_fp_adjoint(g, x, xp, fp, left, right, period),
        interp_outside(g, x, xp, -1, period),
        interp_outside(g, x, xp, 1, period),
    )


@interp.jvp
def interp_jvp(
    x_dot: Any,
    xp_dot: Any,
    fp_dot: Any,
    left_dot: Any,
    right_dot: Any,
    out: Any,
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> Any:
    return (
        x_dot * interp_slopes(x, xp, fp, period)[3],
        interp_xp_tangent(xp_dot, x, xp, fp, period),
        np.interp(x, xp, fp_dot, zero_if_given(left), zero_if_given(right), period),
        interp_side_tangent(left_dot, x, xp, -1, period),
        interp_side_tangent(right_dot, x, xp, 1, period),
    )


# -- frequencies ---------------------------------------------------------------------------------------


@vjp(np.fft.fftfreq, np.fft.rfftfreq, wrt=["d"], samples=[(5, 0.5), (4, 2.0)])
def fftfreq(g: Any, out: Any, n: int, d: Any = 1.0) -> Any:
    return -np.sum(g * out) / d


@fftfreq.jvp
def fftfreq_jvp(d_dot: Any, out: Any, n: int, d: Any = 1.0) -> Any:
    return -out * (d_dot / d)


nondifferentiable(np.linalg.matrix_rank)
