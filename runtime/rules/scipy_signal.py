"""Signals in SciPy: convolutions of any number of dimensions, linear filters.

In: `g`, `out` and the operands. Out: correlations for convolutions, filters run backwards for filters.

    @linear(scipy.signal.detrend)
    def detrend(g, out, data, axis=-1, type="linear", bp=0, overwrite_data=False):
        return scipy.signal.detrend(g, axis, type, bp)

This file is imported when a function is looked up after `scipy.signal` was imported, never before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

from ..rule import linear, multilinear, vjp
from ..support_filter import (
    convolved_adjoints,
    correlated_adjoints,
    lfilter_a_adjoint,
    lfilter_b_adjoint,
    lfilter_x_adjoint,
)
from ..support_signal import fitted
from .sampling import complex_, real

_MODES = ("full", "same", "valid")
_SIGNALS = [
    *[lambda mode=mode: (real(5), real(3, seed=1), mode) for mode in _MODES],
    *[lambda mode=mode: (real(3), real(4, seed=1), mode) for mode in _MODES],
    *[lambda mode=mode: (complex_(4), complex_(3, seed=1), mode) for mode in _MODES],
]
_IMAGES = [
    *[lambda mode=mode: (real(4, 5), real(2, 3, seed=1), mode) for mode in _MODES],
    *[lambda mode=mode: (real(2, 3), real(4, 4, seed=1), mode) for mode in _MODES],
    lambda: (complex_(3, 3), complex_(2, 2, seed=1), "same"),
]


@multilinear(scipy.signal.convolve, samples=[*_SIGNALS, *_IMAGES])
def convolve(g: Any, out: Any, in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    adjoints = convolved_adjoints(scipy.signal.convolve, g, in1, in2, mode)
    return adjoints[0], adjoints[1]


@multilinear(scipy.signal.fftconvolve, scipy.signal.oaconvolve, samples=[*_SIGNALS, *_IMAGES])
def fftconvolve(g: Any, out: Any, in1: Any, in2: Any, mode: Any = "full") -> Any:
    adjoints = convolved_adjoints(scipy.signal.fftconvolve, g, in1, in2, mode)
    return adjoints[0], adjoints[1]


@multilinear(scipy.signal.convolve2d, samples=_IMAGES)
def convolve2d(g: Any, out: Any, in1: Any, in2: Any, mode: Any = "full") -> Any:
    adjoints = convolved_adjoints(scipy.signal.convolve2d, g, in1, in2, mode)
    return adjoints[0], adjoints[1]


@multilinear(scipy.signal.correlate, holomorphic=False, samples=[*_SIGNALS, *_IMAGES])
def correlate(g: Any, out: Any, in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    adjoints = correlated_adjoints(scipy.signal.convolve, g, in1, in2, mode)
    return adjoints[0], adjoints[1]


@multilinear(scipy.signal.correlate2d, holomorphic=False, samples=_IMAGES)
def correlate2d(g: Any, out: Any, in1: Any, in2: Any, mode: Any = "full") -> Any:
    adjoints = correlated_adjoints(scipy.signal.convolve2d, g, in1, in2, mode, 1)
    return adjoints[0], adjoints[1]


@vjp(
    scipy.signal.lfilter,
    samples=[
        lambda: (real(2), np.array([1.5, 0.4, 0.2]), real(6, seed=1)),
        lambda: (real(3), np.array([1.0]), real(2, 5, seed=1)),
        lambda: (real(2), np.array([2.0, 0.5]), real(5, 2, seed=1), 0),
        lambda: (complex_(2), np.array([1.5, 0.4 - 0.2j]), complex_(6, seed=1)),
        lambda: (real(4), np.array([1.5, 0.4]), real(2, seed=1)),
    ],
)
def lfilter(g: Any, out: Any, b: Any, a: Any, x: Any, axis: int = -1) -> Any:
    return (
        lfilter_b_adjoint(g, b, a, x, axis),
        lfilter_a_adjoint(g, out, a, axis),
        lfilter_x_adjoint(g, b, a, axis),
    )


@lfilter.jvp
def lfilter_jvp(b_dot: Any, a_dot: Any, x_dot: Any, out: Any, b: Any, a: Any, x: Any, axis: int = -1) -> Any:
    return (
        scipy.signal.lfilter(b_dot, a, x, axis),
        -scipy.signal.lfilter(a_dot, a, out, axis),
        scipy.signal.lfilter(b, a, x_dot, axis),
    )


@linear(
    scipy.signal.detrend,
    wrt=["data"],
    only={"overwrite_data": (False,)},
    samples=[lambda: (real(6),), lambda: (real(3, 5), 0, "constant"), lambda: (real(6), -1, "linear", 3)],
)
def detrend(
    g: Any,
    out: Any,
    data: Any,
    axis: int = -1,
    type: Any = "linear",
    bp: Any = 0,
    overwrite_data: bool = False,
) -> Any:
    return scipy.signal.detrend(g, axis, type, bp)


@linear(
    scipy.signal.hilbert,
    holomorphic=False,
    samples=[lambda: (real(6),), lambda: (real(2, 5), 4), lambda: (real(5, 2), 7, 0)],
)
def hilbert(g: Any, out: Any, x: Any, N: Any = None, axis: int = -1) -> Any:
    # x + i H x, and H is minus its transpose
    return fitted(np.real(g) - np.imag(scipy.signal.hilbert(np.imag(g), None, axis)), x)
