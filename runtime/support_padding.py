"""Helpers of the rule of `np.pad`, for every mode that has a derivative.

In: the adjoint of the padded array, the array, and the options of `np.pad`. Out: adjoints of the array and
of the values that are padded with. Every function is plain NumPy and names nothing but `np` and functions of
this file, and can be carried by a built gradient file.

    >>> pad_adjoint(np.array([1.0, 2.0, 3.0]), np.zeros(2), (1, 0), "edge", None, "even")
    array([3., 3.])

NumPy pads one axis after the other, and an axis pads what the axes before it made. So the reverse sweep
folds one axis after the other, the last one first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import own

#: Modes in which what is padded is computed from a stretch of the array at each end.
STATISTICS = ("maximum", "mean", "median", "minimum")


def pad_pairs(width: Any, ndim: int) -> list[tuple[int, int]]:
    """`pad_width` as one pair for each axis.

    >>> pad_pairs(1, 2), pad_pairs({-1: (1, 2)}, 2)
    ([(1, 1), (1, 1)], [(0, 0), (1, 2)])
    """
    if isinstance(width, dict):
        pairs = [(0, 0)] * ndim
        for axis, pair in width.items():
            pairs[axis] = (pair, pair) if np.ndim(pair) == 0 else tuple(pair)
        return [(int(before), int(after)) for before, after in pairs]
    return [(int(before), int(after)) for before, after in np.broadcast_to(width, (ndim, 2))]


def pad_adjoint(g: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, reflect_type: Any) -> Any:
    """The adjoint of `array` in `np.pad`; ties of 'maximum' and 'minimum' share evenly."""
    pairs = pad_pairs(pad_width, np.ndim(array))
    if mode in ("constant", "empty"):
        return g[
            tuple(slice(before, before + n) for (before, _), n in zip(pairs, np.shape(array), strict=True))
        ]
    for axis in reversed(range(np.ndim(array))):
        before, after = pairs[axis]
        rows = np.moveaxis(g, axis, 0)
        n = len(rows) - before - after
        left, body, right = rows[:before], np.copy(rows[before : before + n]), rows[before + n :]
        if mode in STATISTICS:
            padded = np.moveaxis(pad_axes(array, pairs, axis, mode, stat_length), axis, 0)
            lengths = stretch_lengths(stat_length, axis, np.ndim(array), n)
            if before:
                body[: lengths[0]] += np.sum(left, axis=0) * stretch_slope(padded[: lengths[0]], mode)
            if after:
                body[n - lengths[1] :] += np.sum(right, axis=0) * stretch_slope(
                    padded[n - lengths[1] :], mode
                )
        else:
            column = (-1,) + (1,) * (np.ndim(g) - 1)
            places, inner, first, last = pad_coefficients(g, n, before, after, mode, reflect_type)
            outside = np.concatenate([left, right])
            np.add.at(body, places, np.reshape(inner, column) * outside)
            body[0] += np.sum(np.reshape(first, column) * outside, axis=0)
            body[-1] += np.sum(np.reshape(last, column) * outside, axis=0)
        g = np.moveaxis(body, 0, axis)
    return g


def pad_axes(array: Any, pairs: Any, stop: int, mode: Any, stat_length: Any) -> Any:
    """`array` padded along the axes before `stop` only."""
    widths = [pair if i < stop else (0, 0) for i, pair in enumerate(pairs)]
    return np.pad(array, widths, mode, stat_length=stat_length)


def stretch_lengths(stat_length: Any, axis: int, ndim: int, n: int) -> tuple[int, int]:
    """How many elements at each end a statistic is taken of, along an axis of `n`."""
    if stat_length is None:
        return n, n
    before, after = np.broadcast_to(stat_length, (ndim, 2))[axis]
    return min(int(before), n), min(int(after), n)


def stretch_slope(x: Any, mode: Any) -> Any:
    """The derivative of a statistic along the first axis in each element."""
    n = len(x)
    if mode == "mean":
        return np.full_like(x, 1 / n)
    if mode in ("maximum", "minimum"):
        tied = x == (np.max(x, axis=0) if mode == "maximum" else np.min(x, axis=0))
        return tied / np.sum(tied, axis=0).astype(x.dtype)
    ordered = np.sort(x, axis=0)
    slope = np.zeros_like(x)
    for middle in ((n - 1) // 2, n // 2):
        tied = x == ordered[middle]
        slope += tied / (2 * np.sum(tied, axis=0).astype(x.dtype))
    return slope


def pad_coefficients(
    g: Any, n: int, before: int, after: int, mode: Any, reflect_type: Any
) -> tuple[Any, Any, Any, Any]:
    """What each padded element along an axis is made of, for the modes in which it is a sum of elements.

    It is `inner * x[place] + first * x[0] + last * x[-1]`. The coefficients are found by padding: a row of
    places, one with a one at the first element, and one with a one at the last. They are arrays like `g`.
    """
    like = own(g)
    if mode == "linear_ramp":
        steps_left = np.arange(before, like=like) / max(before, 1)
        steps_right = np.arange(after, like=like)[::-1] / max(after, 1)
        nothing = np.zeros(before + after, like=like)
        return (
            np.zeros(before + after, int, like=like),
            nothing,
            np.concatenate([steps_left, np.zeros(after, like=like)]),
            np.concatenate([np.zeros(before, like=like), steps_right]),
        )
    even = {"reflect_type": "even"} if mode in ("reflect", "symmetric") else {}
    chosen = {"reflect_type": reflect_type} if mode in ("reflect", "symmetric") else {}
    places = np.pad(np.arange(n, like=like), (before, after), mode, **even)
    ones = [np.zeros(n, like=like), np.zeros(n, like=like)]
    ones[0][0] = 1
    if n > 1:
        ones[1][-1] = 1
    first, last = (np.pad(one, (before, after), mode, **chosen) for one in ones)
    inner = np.where((places == 0) | (places == n - 1), 0, 1 - first - last)
    stop = before + n
    return (
        ends(places, before, stop),
        ends(inner, before, stop),
        ends(first, before, stop),
        ends(last, before, stop),
    )


def ends(x: Any, start: int, stop: int) -> Any:
    """`x` without what is from `start` to `stop`."""
    return np.concatenate([x[:start], x[stop:]])


def pad_tangent(
    array_dot: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, reflect_type: Any
) -> Any:
    """The tangent of `np.pad` for one of `array`."""
    if mode == "mean":
        return np.pad(array_dot, pad_width, mode, stat_length=stat_length)
    if mode in ("reflect", "symmetric"):
        return np.pad(array_dot, pad_width, mode, reflect_type=reflect_type)
    if mode not in STATISTICS:
        return np.pad(array_dot, pad_width, mode)
    pairs = pad_pairs(pad_width, np.ndim(array))
    for axis, (before, after) in enumerate(pairs):
        padded = np.moveaxis(pad_axes(array, pairs, axis, mode, stat_length), axis, 0)
        rows = np.moveaxis(array_dot, axis, 0)
        n = len(rows)
        lengths = stretch_lengths(stat_length, axis, np.ndim(array), n)
        parts = [rows]
        if before:
            change = np.sum(rows[: lengths[0]] * stretch_slope(padded[: lengths[0]], mode), axis=0)
            parts.insert(0, np.broadcast_to(change, (before, *np.shape(rows)[1:])))
        if after:
            change = np.sum(rows[n - lengths[1] :] * stretch_slope(padded[n - lengths[1] :], mode), axis=0)
            parts.append(np.broadcast_to(change, (after, *np.shape(rows)[1:])))
        array_dot = np.moveaxis(np.concatenate(parts), 0, axis)
    return array_dot


def pad_values_adjoint(g: Any, array: Any, pad_width: Any, values: Any, mode: Any) -> Any:
    """The adjoint of `constant_values` or `end_values` in `np.pad`."""
    ndim = np.ndim(array)
    pairs = pad_pairs(pad_width, ndim)
    sums = np.zeros((ndim, 2), g.dtype, like=own(g))
    for axis in reversed(range(ndim)):
        before, after = pairs[axis]
        rows = np.moveaxis(g, axis, 0)
        n = len(rows) - before - after
        left, right = np.ones(before, like=own(g)), np.ones(after, like=own(g))
        if mode == "linear_ramp":
            left = 1 - np.arange(before, like=own(g)) / max(before, 1)
            right = 1 - np.arange(after, like=own(g))[::-1] / max(after, 1)
        sums[axis, 0] = np.sum(np.tensordot(left, rows[:before], 1))
        sums[axis, 1] = np.sum(np.tensordot(right, rows[before + n :], 1))
        body = np.copy(rows[before : before + n])
        if mode == "linear_ramp":  # the ramps begin at elements that other ramps made
            body[0] += np.tensordot(1 - left, rows[:before], 1)
            body[-1] += np.tensordot(1 - right, rows[before + n :], 1)
        g = np.moveaxis(body, 0, axis)
    return summed_to(sums, values)


def summed_to(sums: Any, values: Any) -> Any:
    """Sums for each end of each axis, added up to the shape of what was broadcast to them."""
    if np.ndim(values) == 0:
        return np.sum(sums)
    shape = np.shape(values)
    sums = np.sum(sums, axis=tuple(range(2 - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1)
    sums = np.sum(sums, axis=axes, keepdims=True)
    if not isinstance(values, list | tuple):
        return sums
    return type(values)(
        part if np.ndim(part) == 0 else type(value)(part) for part, value in zip(sums, values, strict=True)
    )


def pad_values_tangent(values_dot: Any, array: Any, pad_width: Any, mode: Any) -> Any:
    """The tangent of `np.pad` for one of `constant_values` or `end_values`."""
    if mode == "linear_ramp":
        return np.pad(np.zeros_like(array), pad_width, mode, end_values=values_dot)
    return np.pad(np.zeros_like(array), pad_width, mode, constant_values=values_dot)
