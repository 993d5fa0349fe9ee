"""Helpers of the rules for `scipy.signal`: convolutions of any number of dimensions, linear filters.

In: adjoints, and the operands that they belong to. Out: adjoints of the shape of the operands. Every function
is plain NumPy and SciPy, names nothing but these and functions of this file, and can be carried by a built
gradient file.

    >>> mirrored_axes(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[4., 3.],
           [2., 1.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal


def mirrored_axes(x: Any) -> Any:
    """`x` with every axis reversed."""
    return x[(slice(None, None, -1),) * np.ndim(x)]


def in_full_nd(g: Any, first: Any, second: Any, mode: Any, late: int) -> Any:
    """The adjoint of a convolution as that of its full form, zero where it was cut.

    Where an operand has an even size, the middle that 'same' keeps is the earlier or, if `late`, the later.
    """
    if mode == "full":
        return g
    full = np.zeros([n + m - 1 for n, m in zip(np.shape(first), np.shape(second), strict=True)], g.dtype)
    place = []
    for n, m, k in zip(np.shape(first), np.shape(second), np.shape(g), strict=True):
        start = (m - 1 + late) // 2 if mode == "same" else min(n, m) - 1
        place.append(slice(start, start + k))
    full[tuple(place)] = g
    return full


def convolved_adjoints(
    convolve: Any, g: Any, first: Any, second: Any, mode: Any, late: int = 0
) -> tuple[Any, Any]:
    """The adjoints of both operands of `convolve(first, second, mode)`; plain transposes."""
    full = in_full_nd(g, first, second, mode, late)
    return convolve(full, mirrored_axes(second), "valid"), convolve(full, mirrored_axes(first), "valid")


def correlated_adjoints(
    convolve: Any, g: Any, first: Any, second: Any, mode: Any, late: int = 0
) -> tuple[Any, Any]:
    """The adjoints of both operands of a correlation, which convolves with the mirrored conjugate."""
    mirror = mirrored_axes(np.conj(second))
    first_bar, mirror_bar = convolved_adjoints(convolve, np.conj(g), first, mirror, mode, late)
    return np.conj(first_bar), mirrored_axes(mirror_bar)


def lfilter_x_adjoint(g: Any, b: Any, a: Any, axis: int) -> Any:
    """The adjoint of `x` in `scipy.signal.lfilter(b, a, x, axis)`: the same filter, run backwards."""
    return np.flip(scipy.signal.lfilter(b, a, np.flip(g, axis), axis), axis)


def lfilter_taps_adjoint(g: Any, response: Any, count: int, axis: int) -> Any:
    """The inner product of `g` with `response` delayed by 0, 1, ... steps."""
    rows, delayed = np.moveaxis(g, axis, 0), np.moveaxis(response, axis, 0)
    n = len(rows)
    return np.array([np.sum(rows[min(k, n) :] * delayed[: max(n - k, 0)]) for k in range(count)])


def lfilter_b_adjoint(g: Any, b: Any, a: Any, x: Any, axis: int) -> Any:
    """The adjoint of `b` in `scipy.signal.lfilter(b, a, x, axis)`."""
    one = np.ones(1, np.asarray(a).dtype)
    return lfilter_taps_adjoint(g, scipy.signal.lfilter(one, a, x, axis), len(b), axis)


def lfilter_a_adjoint(g: Any, out: Any, a: Any, axis: int) -> Any:
    """The adjoint of `a` in `out = scipy.signal.lfilter(b, a, x, axis)`."""
    one = np.ones(1, np.asarray(a).dtype)
    return -lfilter_taps_adjoint(g, scipy.signal.lfilter(one, a, out, axis), len(a), axis)
