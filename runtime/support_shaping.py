"""Helpers of the rules that move elements about: shapes, joining, splitting, indexing.

In: adjoints, and the operands that they belong to. Out: adjoints of the shape of the operands. Every
function is plain NumPy and names nothing but `np` and functions of this file and of `support`, and can be
carried by a built gradient file.

    >>> scatter(np.array([1.0, 2.0, 3.0]), np.zeros(3), np.array([0, 2, 0]))
    array([4., 0., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import nothing, own, unbroadcast

# -- reading by an index -------------------------------------------------------------------------------


def is_basic(index: Any) -> bool:
    """Whether NumPy reads this index as a view, or by a mask alone: no element is read twice.

    >>> is_basic((0, slice(None))), is_basic(np.array([True, False])), is_basic([0, 0])
    (True, True, False)
    """
    parts = index if isinstance(index, tuple) else (index,)
    if all(part is None or part is Ellipsis or isinstance(part, int | slice | np.integer) for part in parts):
        return True
    return len(parts) == 1 and hasattr(parts[0], "dtype") and parts[0].dtype == bool


def scatter(g: Any, x: Any, index: Any) -> Any:
    """The adjoint of `x` in `x[index]`: `g` in those places, zero elsewhere; what was read twice is added.

    >>> scatter(np.ones(2), np.zeros((2, 2)), (slice(None), 0))
    array([[1., 0.],
           [1., 0.]])
    """
    x_bar = np.zeros_like(x)
    if is_basic(index):
        x_bar[index] = g
    else:
        np.add.at(x_bar, index, g)
    return x_bar


def take_adjoint(g: Any, a: Any, indices: Any, axis: Any, mode: Any) -> Any:
    """The adjoint of `a` in `np.take(a, indices, axis, mode=mode)`."""
    a_bar = np.zeros_like(a, order="C")
    if axis is None:
        places = np.take(np.arange(np.size(a), like=own(a)), indices, mode=mode)
        np.add.at(np.reshape(a_bar, -1), places, g)
        return a_bar
    places = np.take(np.arange(np.shape(a)[axis], like=own(a)), indices, mode=mode)
    np.add.at(a_bar, (slice(None),) * (axis % np.ndim(a)) + (places,), g)
    return a_bar


def compress_adjoint(g: Any, a: Any, condition: Any, axis: Any) -> Any:
    """The adjoint of `a` in `np.compress(condition, a, axis)`."""
    a_bar = np.zeros_like(a, order="C")
    kept = np.flatnonzero(np.asarray(condition, like=own(a)))
    if axis is None:
        np.reshape(a_bar, -1)[kept] = g
    else:
        np.moveaxis(a_bar, axis, 0)[kept] = np.moveaxis(g, axis, 0)
    return a_bar


def choose_adjoint(g: Any, a: Any, choices: Any, mode: Any) -> Any:
    """The adjoints of `choices` in `np.choose(a, choices, mode=mode)`."""
    n = len(choices)
    places = a % n if mode == "wrap" else np.clip(a, 0, n - 1)
    return in_structure(
        [unbroadcast(np.where(places == i, g, 0), choice) for i, choice in enumerate(choices)], choices
    )


def sliding_window_view_adjoint(g: Any, x: Any, window_shape: Any, axis: Any) -> Any:
    """The adjoint of `x` in `sliding_window_view(x, window_shape, axis)`: the windows laid back and added."""
    window = tuple(np.atleast_1d(window_shape))
    axes = range(np.ndim(x)) if axis is None else [int(i) % np.ndim(x) for i in np.atleast_1d(axis)]
    x_bar = np.zeros_like(x)
    for offset in np.ndindex(*(int(n) for n in window)):
        place = [slice(None)] * np.ndim(x)
        left = [0] * np.ndim(x)
        for i, k in zip(axes, offset, strict=True):  # an axis may be named twice: its offsets add up
            left[i] += k
        for i in axes:
            place[i] = slice(left[i], left[i] + np.shape(g)[i])
        x_bar[tuple(place)] += g[(..., *offset)]
    return x_bar


# -- shapes --------------------------------------------------------------------------------------------


def reshape_adjoint(g: Any, a: Any, order: Any) -> Any:
    """The adjoint of `a` in `np.reshape(a, shape, order)` and `np.ravel(a, order)`."""
    if order == "C":
        return np.reshape(g, np.shape(a))
    return np.reshape(g, np.shape(a), order)


def inverse_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """The order of axes that undoes `np.transpose(a, axes)`.

    >>> inverse_axes((1, 2, 0), 3)
    (2, 0, 1)
    """
    return tuple(sorted(range(ndim), key=lambda i: axes[i] % ndim))


def transpose_adjoint(g: Any, axes: Any) -> Any:
    """The adjoint of `a` in `np.transpose(a, axes)`."""
    if axes is None:
        return np.transpose(g)
    return np.transpose(g, inverse_axes(axes, np.ndim(g)))


def rollaxis_adjoint(g: Any, axis: int, start: int) -> Any:
    """The adjoint of `a` in `np.rollaxis(a, axis, start)`."""
    axis = axis % np.ndim(g)
    start = start + np.ndim(g) if start < 0 else start
    return np.moveaxis(g, start - 1 if axis < start else start, axis)


def negated(shift: Any) -> Any:
    """`-shift`, for a number or a tuple of them."""
    if isinstance(shift, tuple | list):
        return tuple(-n for n in shift)
    return -shift


def roll_back(g: Any, shift: Any, axis: Any) -> Any:
    """The adjoint of `a` in `np.roll(a, shift, axis)`."""
    if axis is None:
        return np.roll(g, negated(shift))
    return np.roll(g, negated(shift), axis)


def each(g: Any, operands: Any) -> Any:
    """`g` as a tuple: operations of several operands return the result alone where there is one."""
    return (g,) if len(operands) == 1 else g


def reshape_each(g: Any, operands: Any) -> Any:
    """The adjoints of operands that were only reshaped."""
    return tuple(
        None if g_i is None else np.reshape(g_i, np.shape(x)) for g_i, x in zip(g, operands, strict=True)
    )


def unbroadcast_each(g: Any, operands: Any) -> Any:
    """The adjoints of operands in `np.broadcast_arrays(*operands)`."""
    return tuple(None if g_i is None else unbroadcast(g_i, x) for g_i, x in zip(g, operands, strict=True))


def meshgrid_adjoint(g: Any, xi: Any, indexing: str) -> Any:
    """The adjoints of `xi` in `np.meshgrid(*xi, indexing=indexing)`."""
    adjoints: list[Any] = []
    for i, (g_i, x) in enumerate(zip(g, xi, strict=True)):
        own = 1 - i if indexing == "xy" and len(xi) > 1 and i < 2 else i
        others = tuple(k for k in range(len(xi)) if k != own)
        adjoints.append(None if g_i is None else np.reshape(np.sum(g_i, axis=others), np.shape(x)))
    return tuple(adjoints)


def tile_adjoint(g: Any, a: Any, reps: Any) -> Any:
    """The adjoint of `a` in `np.tile(a, reps)`: the copies added."""
    reps = tuple(np.atleast_1d(reps))
    ndim = max(np.ndim(a), len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - np.ndim(a)) + np.shape(a)
    copies = np.reshape(g, [n for pair in zip(reps, shape, strict=True) for n in pair])
    return np.reshape(np.sum(copies, axis=tuple(range(0, 2 * ndim, 2))), np.shape(a))


def repeat_adjoint(g: Any, a: Any, repeats: Any, axis: Any) -> Any:
    """The adjoint of `a` in `np.repeat(a, repeats, axis)`: the copies added."""
    flat = axis is None
    shape = (np.size(a),) if flat else np.shape(a)
    axis = 0 if flat else axis % len(shape)
    if np.size(repeats) == 1:
        copies = np.reshape(g, (*shape[: axis + 1], int(np.reshape(repeats, ())), *shape[axis + 1 :]))
        return np.reshape(np.sum(copies, axis=axis + 1), np.shape(a))
    a_bar = np.zeros(shape, g.dtype, like=own(g))
    places = np.repeat(np.arange(shape[axis], like=own(g)), repeats)
    np.add.at(np.moveaxis(a_bar, axis, 0), places, np.moveaxis(g, axis, 0))
    return np.reshape(a_bar, np.shape(a))


def resize_adjoint(g: Any, a: Any) -> Any:
    """The adjoint of `a` in `np.resize(a, new_shape)`, which repeats `a` until the new shape is full."""
    size = np.size(a)
    if size == 0:
        return np.zeros_like(a)
    copies = np.zeros((-(-np.size(g) // size), size), g.dtype, like=own(g))
    np.reshape(copies, -1)[: np.size(g)] = np.ravel(g)
    return np.reshape(np.sum(copies, axis=0), np.shape(a))


# -- diagonals -----------------------------------------------------------------------------------------


def diagonal_adjoint(g: Any, a: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The adjoint of `a` in `np.diagonal(a, offset, axis1, axis2)`; `g` may have length one there."""
    a_bar = np.zeros_like(a)
    if np.ndim(a) == 2 and offset == 0:
        steps = np.arange(min(np.shape(a)), like=own(a))
        a_bar[steps, steps] = g
        return a_bar
    matrices = np.moveaxis(a_bar, (axis1, axis2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    steps = np.arange(max(0, min(rows + min(offset, 0), columns - max(offset, 0))), like=own(a))
    matrices[..., steps + max(-offset, 0), steps + max(offset, 0)] = g
    return a_bar


def trace_adjoint(g: Any, a: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The adjoint of `a` in `np.trace(a, offset, axis1, axis2)`."""
    if np.ndim(a) == 2:
        return diagonal_adjoint(g, a, offset, axis1, axis2)
    return diagonal_adjoint(np.expand_dims(g, -1), a, offset, axis1, axis2)


def diag_adjoint(g: Any, v: Any, k: int) -> Any:
    """The adjoint of `v` in `np.diag(v, k)`, which makes a matrix or reads one."""
    if np.ndim(v) == 1:
        return np.diagonal(g, k)
    return diagonal_adjoint(g, v, k, 0, 1)


# -- making arrays of numbers --------------------------------------------------------------------------


def array_adjoint(g: Any, value: Any) -> Any:
    """The adjoint of `value` in `np.array(value)`, in its structure of lists, tuples and arrays.

    >>> array_adjoint(np.array([[1.0, 2.0]]), [(3.0, 4.0)])
    [(np.float64(1.0), np.float64(2.0))]
    """
    if isinstance(value, list):
        return [array_adjoint(g[i], value[i]) for i in range(len(value))]
    if isinstance(value, tuple):
        return tuple([array_adjoint(g[i], value[i]) for i in range(len(value))])
    return shaped_like(g, value)


def array_ndmin_adjoint(g: Any, value: Any, ndmin: int) -> Any:
    """The adjoint of `value` in `np.array(value, ndmin=ndmin)`."""
    if ndmin == 0:
        return array_adjoint(g, value)
    return array_adjoint(np.reshape(g, np.shape(value)), value)


def linspace_weights(out: Any, num: int, endpoint: bool) -> Any:
    """How much of `stop` there is in each element of `out = np.linspace(start, stop, num, endpoint)`."""
    weights = np.linspace(0.0, 1.0, num, endpoint, dtype=out.dtype)
    return np.asarray(weights, like=own(out))


def weighted_sum(weights: Any, g: Any, axis: int) -> Any:
    """The sum of `g` along `axis`, weighted.

    >>> weighted_sum(np.array([1.0, 2.0]), np.ones((3, 2)), -1)
    array([3., 3., 3.])
    """
    return np.tensordot(weights, np.moveaxis(g, axis, 0), 1)


def along(weights: Any, x: Any, axis: int) -> Any:
    """`weights` times `x`, with the weights along a new `axis`.

    >>> along(np.array([1.0, 2.0]), np.ones(1), 0)
    array([[1.],
           [2.]])
    """
    return np.moveaxis(np.multiply.outer(weights, x), 0, axis)


def vander_slope(x: Any, out: Any, increasing: bool) -> Any:
    """The derivative of each element of `np.vander(x)` with respect to the `x` of its row."""
    rising = out if increasing else out[..., ::-1]
    slope = np.zeros_like(out)
    slope[..., 1:] = rising[..., :-1] * np.arange(1, np.shape(out)[-1], like=own(out))
    return slope if increasing else slope[..., ::-1]


# -- joining and splitting -----------------------------------------------------------------------------


def in_structure(parts: Any, sequence: Any) -> Any:
    """A list of adjoints in the structure of the sequence they belong to: a list, a tuple or an array."""
    if isinstance(sequence, list):
        return parts
    if isinstance(sequence, tuple):
        return tuple(parts)
    return np.stack(parts) if parts else np.zeros_like(sequence)


def part_along(g: Any, start: Any, stop: Any, axis: int) -> Any:
    """The elements from `start` to `stop` along an axis, as a view."""
    if axis == 0:
        return g[start:stop]
    if axis == 1:
        return g[:, start:stop]
    if axis == -1:
        return g[..., start:stop]
    return np.moveaxis(np.moveaxis(g, axis, 0)[start:stop], 0, axis)


def item_along(g: Any, i: int, axis: int) -> Any:
    """The elements at `i` along an axis."""
    if axis == 0:
        return g[i]
    if axis == 1:
        return g[:, i]
    if axis == -1:
        return g[..., i]
    return np.moveaxis(g, axis, 0)[i]


def shaped_like(part: Any, a: Any) -> Any:
    """A part of a joined array in the shape of the array that was joined."""
    if np.ndim(part) == np.ndim(a):
        return part
    if np.ndim(a) == 0:
        return np.reshape(part, ())[()]
    return np.reshape(part, np.shape(a))


def concatenate_adjoint(g: Any, arrays: Any, axis: Any) -> Any:
    """The adjoints of `arrays` in `np.concatenate(arrays, axis)`.

    >>> concatenate_adjoint(np.array([1.0, 2.0, 3.0]), [np.zeros(1), np.zeros(2)], 0)
    [array([1.]), array([2., 3.])]
    """
    parts = []
    stop: Any = None
    for a in arrays:
        start = stop
        size = np.size(a) if axis is None else np.shape(a)[axis]
        stop = size if start is None else start + size
        parts.append(shaped_like(part_along(g, start, stop, 0 if axis is None else axis), a))
    return in_structure(parts, arrays)


def stack_adjoint(g: Any, arrays: Any, axis: int) -> Any:
    """The adjoints of `arrays` in `np.stack(arrays, axis)`."""
    return in_structure([item_along(g, i, axis) for i in range(len(arrays))], arrays)


def vstack_adjoint(g: Any, arrays: Any) -> Any:
    """The adjoints of `arrays` in `np.vstack(arrays)`."""
    return joined_adjoint(g, arrays, 0, 2)


def hstack_adjoint(g: Any, arrays: Any) -> Any:
    """The adjoints of `arrays` in `np.hstack(arrays)`."""
    return joined_adjoint(g, arrays, 0 if np.ndim(g) == 1 else 1, 1)


def dstack_adjoint(g: Any, arrays: Any) -> Any:
    """The adjoints of `arrays` in `np.dstack(arrays)`."""
    return joined_adjoint(g, arrays, 2, 3)


def column_stack_adjoint(g: Any, arrays: Any) -> Any:
    """The adjoints of `arrays` in `np.column_stack(arrays)`."""
    return joined_adjoint(g, arrays, 1, 2)


def joined_adjoint(g: Any, arrays: Any, axis: int, ndim: int) -> Any:
    """As `concatenate_adjoint`, for arrays that got new axes of length one, up to `ndim`, before."""
    parts = []
    stop: Any = None
    for a in arrays:
        start = stop
        size = np.shape(a)[axis] if np.ndim(a) >= ndim else 1
        stop = size if start is None else start + size
        parts.append(shaped_like(part_along(g, start, stop, axis), a))
    return in_structure(parts, arrays)


def block_adjoint(g: Any, arrays: Any) -> Any:
    """The adjoints of `arrays` in `np.block(arrays)`, in their structure of nested lists.

    `np.block` shows each element once; blocking the elements' numbers tells where.
    """
    flat = np.zeros_like(np.ravel(g))
    flat[np.ravel(np.block(numbered(arrays, 0, g)))] = np.ravel(g)
    return cut_like(flat, arrays, 0)


def nest_size(nest: Any) -> int:
    """The number of elements in nested lists of arrays.

    >>> nest_size([[np.zeros(2), 1.0], np.zeros((2, 2))])
    7
    """
    return sum([nest_size(part) for part in nest]) if isinstance(nest, list) else np.size(nest)


def numbered(nest: Any, first: int, g: Any) -> Any:
    """Nested lists of arrays with the number of each element in its place, from `first` on; arrays like `g`.

    >>> numbered([np.zeros(2), [1.0]], 3, np.zeros(3))
    [array([3, 4]), [array(5)]]
    """
    if not isinstance(nest, list):
        return np.reshape(np.arange(first, first + np.size(nest), like=own(g)), np.shape(nest))
    numbers = []
    for part in nest:
        numbers.append(numbered(part, first, g))
        first += nest_size(part)
    return numbers


def cut_like(flat: Any, nest: Any, first: int) -> Any:
    """A flat array cut into the parts of nested lists of arrays, from `first` on.

    >>> cut_like(np.array([1.0, 2.0, 3.0]), [np.zeros(2), [0.0]], 0)
    [array([1., 2.]), [np.float64(3.0)]]
    """
    if not isinstance(nest, list):
        return np.reshape(flat[first : first + np.size(nest)], np.shape(nest))[()]
    parts = []
    for part in nest:
        parts.append(cut_like(flat, part, first))
        first += nest_size(part)
    return parts


def split_adjoint(g: Any, ary: Any, indices_or_sections: Any, axis: int) -> Any:
    """The adjoint of `ary` in `np.array_split(ary, indices_or_sections, axis)`; parts may overlap."""
    ary_bar = np.zeros_like(ary)
    for part_bar, place in zip(g, np.array_split(ary_bar, indices_or_sections, axis), strict=True):
        if part_bar is not None:
            place += part_bar
    return ary_bar


def unstack_adjoint(g: Any, x: Any, axis: int) -> Any:
    """The adjoint of `x` in `np.unstack(x, axis=axis)`."""
    x_bar = np.zeros_like(x)
    for i, part_bar in enumerate(g):
        if part_bar is not None:
            np.moveaxis(x_bar, axis, 0)[i] = part_bar
    return x_bar


def append_arr_adjoint(g: Any, arr: Any, axis: Any) -> Any:
    """The adjoint of `arr` in `np.append(arr, values, axis)`."""
    if axis is None:
        return shaped_like(g[: np.size(arr)], arr)
    return part_along(g, 0, np.shape(arr)[axis], axis)


def append_values_adjoint(g: Any, arr: Any, values: Any, axis: Any) -> Any:
    """The adjoint of `values` in `np.append(arr, values, axis)`."""
    if axis is None and np.ndim(values) == 0:
        return g[np.size(arr)]
    if axis is None and isinstance(values, list | tuple):
        return array_adjoint(np.reshape(g[np.size(arr) :], np.shape(values)), values)
    if axis is None:
        return shaped_like(g[np.size(arr) :], values)
    return array_adjoint(part_along(g, np.shape(arr)[axis], None, axis), values)


def insert_origins(arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    """Where the elements of `np.insert(arr, obj, values, axis)` are from: 0: `arr`, n: `values[n - 1]`."""
    numbers = np.reshape(np.arange(1, np.size(values) + 1, like=own(arr)), np.shape(values))
    return np.insert(np.zeros_like(arr, int), obj, numbers, axis)


def insert_arr_adjoint(g: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    """The adjoint of `arr` in `np.insert(arr, obj, values, axis)`."""
    return np.reshape(g[insert_origins(arr, obj, values, axis) == 0], np.shape(arr))


def insert_values_adjoint(g: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    """The adjoint of `values` in `np.insert(arr, obj, values, axis)`."""
    sums = np.zeros(np.size(values) + 1, g.dtype, like=own(g))
    np.add.at(sums, insert_origins(arr, obj, values, axis), g)
    return array_adjoint(np.reshape(sums[1:], np.shape(values)), values)


def delete_adjoint(g: Any, arr: Any, obj: Any, axis: Any) -> Any:
    """The adjoint of `arr` in `np.delete(arr, obj, axis)`."""
    arr_bar = np.zeros_like(arr, order="C")
    whole = np.reshape(arr_bar, -1) if axis is None else np.moveaxis(arr_bar, axis, 0)
    left = np.delete(np.arange(len(whole), like=own(arr)), obj)
    whole[left] = g if axis is None else np.moveaxis(g, axis, 0)
    return arr_bar


def zeros_like_nest(value: Any) -> Any:
    """Zeros in the structure of a number, an array, or nested lists of them."""
    if isinstance(value, list | tuple):
        return type(value)(zeros_like_nest(part) for part in value)
    return nothing(value)
