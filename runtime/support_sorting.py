"""Helpers of the rules for sorting and picking along an axis.

In: `g`, an adjoint of the shape of the result, the operand, and the options. Out: an adjoint of the shape of
the operand; from tangents, a tangent of the shape of the result.

    >>> sort_adjoint(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.9, 0.1]), -1)
    array([2., 3., 1.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import own


def add_along_axis(g: Any, x: Any, indices: Any, axis: Any) -> Any:
    """The adjoint of ``np.take_along_axis(x, indices, axis)``: an index that comes twice gets both.

    >>> add_along_axis(np.array([1.0, 2.0]), np.zeros(3), np.array([1, 1]), 0)
    array([0., 3., 0.])
    """
    x_bar = np.zeros_like(g, shape=np.shape(x))
    if axis is None:
        np.add.at(np.reshape(x_bar, -1), np.ravel(indices), np.ravel(g))
        return x_bar
    shape = np.shape(x)
    axis = axis % len(shape)
    places = [
        np.reshape(np.arange(n, like=own(indices)), [-1 if i == j else 1 for j in range(len(shape))])
        for i, n in enumerate(shape)
    ]
    # an axis of length 1 in `indices` is broadcast against `x`
    places = [
        place if np.shape(g)[i] == shape[i] or i == axis else np.zeros_like(place)
        for i, place in enumerate(places)
    ]
    places[axis] = indices
    np.add.at(x_bar, tuple(places), g)
    return x_bar


def sort_adjoint(g: Any, x: Any, axis: Any) -> Any:
    """The adjoint of ``np.sort``."""
    if axis is None:
        return np.reshape(sort_adjoint(g, np.ravel(x), 0), np.shape(x))
    x_bar = np.empty_like(g)
    np.put_along_axis(x_bar, np.argsort(x, axis=axis, kind="stable"), g, axis)
    return x_bar


def sort_tangent(x_dot: Any, x: Any, axis: Any) -> Any:
    """The tangent of ``np.sort``."""
    if axis is None:
        return sort_tangent(np.ravel(x_dot), np.ravel(x), 0)
    return np.take_along_axis(x_dot, np.argsort(x, axis=axis, kind="stable"), axis)


def sort_complex_order(x: Any) -> Any:
    """The order in which ``np.sort_complex`` takes the elements of `x`."""
    return np.argsort(x, axis=-1, kind="stable")


def partition_order(out: Any, x: Any, axis: Any) -> Any:
    """Where each element of ``out = np.partition(x)`` came from: by rank, whatever the algorithm did."""
    ranks = np.argsort(np.argsort(out, axis=axis, kind="stable"), axis=axis)
    return np.take_along_axis(np.argsort(x, axis=axis, kind="stable"), ranks, axis)


def partition_adjoint(g: Any, out: Any, x: Any, axis: Any) -> Any:
    """The adjoint of ``np.partition``."""
    if axis is None:
        return np.reshape(partition_adjoint(g, out, np.ravel(x), 0), np.shape(x))
    x_bar = np.empty_like(g)
    np.put_along_axis(x_bar, partition_order(out, x, axis), g, axis)
    return x_bar


def partition_tangent(x_dot: Any, out: Any, x: Any, axis: Any) -> Any:
    """The tangent of ``np.partition``."""
    if axis is None:
        return partition_tangent(np.ravel(x_dot), out, np.ravel(x), 0)
    return np.take_along_axis(x_dot, partition_order(out, x, axis), axis)


def unique_adjoint(g: Any, x: Any) -> Any:
    """The adjoint of ``np.unique``: elements of one value share evenly.

    With positions and counts in the result, `g` is a tuple, and only its first part is an adjoint.

    >>> unique_adjoint(np.array([1.0, 2.0]), np.array([0.5, 0.1, 0.5]))
    array([1., 1., 1.])
    """
    g = g[0] if isinstance(g, tuple) else g
    if g is None:
        return np.zeros_like(x)
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return np.reshape((g / counts)[inverse], np.shape(x))


def unique_tangent(x_dot: Any, out: Any, x: Any) -> Any:
    """The tangent of ``np.unique``; positions and counts have one of 0."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    total = np.zeros_like(x_dot, shape=np.shape(counts))
    np.add.at(total, np.ravel(inverse), np.ravel(x_dot))
    if not isinstance(out, tuple):
        return total / counts
    return (total / counts, *(np.zeros_like(part, float) for part in out[1:]))


def sorted_order(xs: Any, reverse: Any) -> list[int]:
    """The places that Python's `sorted` takes the elements from."""
    return sorted(range(len(xs)), key=lambda i: xs[i], reverse=reverse)


def sorted_adjoint(g: Any, xs: Any, reverse: Any) -> Any:
    """The adjoint of Python's `sorted`.

    >>> sorted_adjoint([1.0, 2.0, 3.0], (0.5, 0.9, 0.1), False)
    (2.0, 3.0, 1.0)
    """
    parts: list[Any] = [0.0] * len(xs)
    for part, i in zip(g, sorted_order(xs, reverse), strict=True):
        parts[i] = 0.0 if part is None else part
    if isinstance(xs, np.ndarray):
        return np.array(parts)
    return tuple(parts) if isinstance(xs, tuple) else parts


def sorted_tangent(xs_dot: Any, xs: Any, reverse: Any) -> Any:
    """The tangent of Python's `sorted`."""
    return [xs_dot[i] for i in sorted_order(xs, reverse)]


# -- sets --------------------------------------------------------------------------------------------


def set_places(out: Any, x: Any) -> Any:
    """For each element of `x`: the place of its value in `out`, and whether it is there at all."""
    order = np.argsort(out, kind="stable")
    values = np.asarray(out, like=own(out))[order]
    place = np.minimum(np.searchsorted(values, np.ravel(x)), max(len(values) - 1, 0))
    if len(values) == 0:
        return place, np.zeros_like(place, bool)
    return order[place], values[place] == np.ravel(x)


def set_counts(out: Any, x: Any, other: Any) -> Any:
    """How many elements of `x` and `other` have the value of each element of `out`."""
    counts = np.zeros_like(out, int)
    for operand in (x, other):
        place, found = set_places(out, operand)
        np.add.at(counts, place[found], 1)
    return counts


def set_adjoint(g: Any, out: Any, x: Any, other: Any) -> Any:
    """The adjoint of `x` in a set operation on `x` and `other`: elements of one value share evenly.

    >>> set_adjoint(np.array([1.0, 1.0]), np.array([0.5, 2.0]), np.array([2.0, 0.5]), np.array([0.5]))
    array([1. , 0.5])
    """
    place, found = set_places(out, x)
    x_bar = np.zeros(np.size(x), np.result_type(g, float), like=own(g))
    x_bar[found] = (g / set_counts(out, x, other))[place[found]]
    return np.reshape(x_bar, np.shape(x))


def set_tangent(x_dot: Any, out: Any, x: Any, other: Any) -> Any:
    """The tangent of a set operation in `x`."""
    place, found = set_places(out, x)
    total = np.zeros(np.size(out), np.result_type(x_dot, float), like=own(out))
    np.add.at(total, place[found], np.ravel(x_dot)[found])
    return total / set_counts(out, x, other)


def trimmed_window(x: Any, trim: Any) -> Any:
    """The slices of `x` that ``np.trim_zeros`` keeps."""
    places = np.nonzero(x)
    if np.size(places[0]) == 0:
        return tuple(slice(0, 0) for _ in places)
    return tuple(
        slice(np.min(place) if "f" in trim.lower() else 0, np.max(place) + 1 if "b" in trim.lower() else None)
        for place in places
    )


def trim_zeros_adjoint(g: Any, x: Any, trim: Any) -> Any:
    """The adjoint of ``np.trim_zeros``.

    >>> trim_zeros_adjoint(np.array([2.0]), np.array([0.0, 5.0, 0.0]), "fb")
    array([0., 2., 0.])
    """
    x_bar = np.zeros_like(g, shape=np.shape(x))
    x_bar[trimmed_window(x, trim)] = g
    return x_bar


def trim_zeros_tangent(x_dot: Any, out: Any, x: Any, trim: Any) -> Any:
    """The tangent of ``np.trim_zeros``."""
    return np.reshape(np.asarray(x_dot, like=own(x_dot))[trimmed_window(x, trim)], np.shape(out))



# -- Python's own order ------------------------------------------------------------------------------


def order_of(keys: Any, reverse: Any) -> Any:
    """The positions of the keys in the order of ``sorted``.

    >>> order_of([2.0, 1.0, 2.0], False), order_of([2.0, 1.0, 2.0], True)
    (array([1, 0, 2]), array([0, 2, 1]))
    """
    return np.array(sorted(range(len(keys)), key=keys.__getitem__, reverse=bool(reverse)), dtype=np.int64)


def first_extreme(keys: Any, largest: Any) -> Any:
    """The position of the element that ``max`` or ``min`` takes: the first one among equals.

    >>> first_extreme([1.0, 2.0, 2.0], True), first_extreme([1.0, 2.0, 2.0], False)
    (1, 0)
    """
    if len(keys) == 0:
        raise ValueError("max() arg is an empty sequence" if largest else "min() arg is an empty sequence")
    positions = range(len(keys))
    return max(positions, key=keys.__getitem__) if largest else min(positions, key=keys.__getitem__)
