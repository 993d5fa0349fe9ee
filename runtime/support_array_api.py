"""NumPy's functions in the words of the array API standard, for gradients in a namespace that has no others.

In: what the functions of NumPy take. Out: what they give. ``xp_flip`` says ``np.flip`` and ``xp_linalg_norm``
would say ``np.linalg.norm``; a function without the prefix stands for the helper of its name in the other
`support` files, which is written with more than the standard has. Here `np` names only what the standard
names too, and a gradient carries these functions with the namespace of its arrays in place of it.

    >>> xp_swapaxes(np.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

# -- questions -----------------------------------------------------------------------------------------


class xp_generic:
    """Stands for the types of NumPy's scalars: nothing is one of them."""


def xp_shape(a: Any) -> Any:
    return getattr(a, "shape", ())


def xp_ndim(a: Any) -> Any:
    return getattr(a, "ndim", 0)


def xp_size(a: Any) -> Any:
    return getattr(a, "size", 1)


def xp_len(a: Any) -> Any:
    """The length of an array or of a sequence; arrays of the standard have no `len`."""
    return a.shape[0] if hasattr(a, "shape") else len(a)


def xp_kind(dtype: Any) -> str:
    """What NumPy calls ``dtype.kind``.

    >>> xp_kind(np.dtype(np.float32)), xp_kind(np.dtype(np.bool))
    ('f', 'b')
    """
    kinds = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "real floating": "f"}
    return next((kind for name, kind in kinds.items() if np.isdtype(dtype, name)), "c")


def kind_of(x: Any) -> str | None:
    """The kind of the elements of an array; None for what is no array."""
    return xp_kind(x.dtype) if hasattr(x, "dtype") else None


def xp_iscomplexobj(x: Any) -> bool:
    return np.isdtype(x.dtype, "complex floating") if hasattr(x, "dtype") else isinstance(x, complex)


def xp_result_type(*arrays: Any) -> Any:
    return np.result_type(*(a for a in arrays if a is not float))


def xp_broadcast_shapes(*shapes: Any) -> Any:
    """The shape that arrays of these shapes broadcast to.

    >>> xp_broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    ndim = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (ndim - len(shape)) + tuple(shape) for shape in shapes]
    whole = tuple(next((n for n in lengths if n != 1), 1) for lengths in zip(*padded, strict=True))
    if any(n not in (1, m) for shape in padded for n, m in zip(shape, whole, strict=True)):
        raise ValueError(f"shapes that do not fit together: {shapes}")
    return whole


# -- making arrays --------------------------------------------------------------------------------------


def xp_dtype(dtype: Any) -> Any:
    """Python's types as dtypes; others are dtypes."""
    return {bool: np.bool, int: np.int64, float: np.float64, complex: np.complex128}.get(dtype, dtype)


def xp_asarray(a: Any, dtype: Any = None) -> Any:
    return np.asarray(a, dtype=xp_dtype(dtype))


def xp_zeros(shape: Any, dtype: Any = None) -> Any:
    return np.zeros(shape, dtype=xp_dtype(dtype))


def xp_ones(shape: Any, dtype: Any = None) -> Any:
    return np.ones(shape, dtype=xp_dtype(dtype))


def xp_zeros_like(a: Any, dtype: Any = None, order: str = "K", shape: Any = None) -> Any:
    if shape is not None:
        return np.zeros(shape, dtype=a.dtype)
    return np.zeros_like(a, dtype=xp_dtype(dtype)) if hasattr(a, "shape") else 0.0


def xp_ones_like(a: Any, dtype: Any = None) -> Any:
    return np.ones_like(a, dtype=xp_dtype(dtype)) if hasattr(a, "shape") else 1.0


def xp_full_like(a: Any, value: Any) -> Any:
    return np.full_like(a, value) if not hasattr(value, "shape") else np.zeros_like(a) + value


def xp_eye(n: Any, m: Any = None, k: int = 0, dtype: Any = None) -> Any:
    return np.eye(n, m, k=k, dtype=xp_dtype(dtype))


def xp_identity(n: Any) -> Any:
    return np.eye(n)


def xp_array(a: Any, dtype: Any = None) -> Any:
    return np.asarray(a, dtype=xp_dtype(dtype), copy=True)


def xp_errstate(**options: Any) -> Any:
    """The standard knows no state to set."""
    return contextlib.nullcontext()


# -- elementwise ----------------------------------------------------------------------------------------


def xp_log(x: Any) -> Any:
    return np.log(x) if hasattr(x, "shape") else math.log(x)


def xp_sqrt(x: Any) -> Any:
    return np.sqrt(x) if hasattr(x, "shape") else math.sqrt(x)


def xp_conj(x: Any) -> Any:
    return np.conj(x) if xp_iscomplexobj(x) else x


def xp_real(x: Any) -> Any:
    return np.real(x) if xp_iscomplexobj(x) else x


def xp_where(condition: Any, a: Any, b: Any) -> Any:
    """Also of Python's numbers alone."""
    if not hasattr(condition, "shape"):
        return a if condition else b
    if not hasattr(a, "shape") and not hasattr(b, "shape"):
        a = np.asarray(type(a + b)(a))
    return np.where(condition, a, b)


def as_numbers(mask: Any, like: Any) -> Any:
    """A mask as ones and zeros in the dtype of `like`: the standard calculates with no bools."""
    return np.astype(mask, like.dtype) if hasattr(like, "dtype") else mask


# -- reductions -----------------------------------------------------------------------------------------


def xp_sum(a: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    """Also of bools, which are counted."""
    if np.isdtype(a.dtype, "bool"):
        a = np.astype(a, np.int64)
    return np.sum(a if where is True else np.where(where, a, 0), axis=axis, keepdims=keepdims)


def _extreme(reduced: Any, a: Any, axis: Any, keepdims: bool, initial: Any) -> Any:
    if initial is None:
        return reduced(a, axis=axis, keepdims=keepdims)
    first = np.full_like(a[..., :1] if axis in (-1, a.ndim - 1) else a, initial)
    return reduced(np.concat([a, first], axis=-1 if axis is None else axis), axis=axis, keepdims=keepdims)


def xp_max(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    return _extreme(np.max, a, axis, keepdims, initial)


def xp_min(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    return _extreme(np.min, a, axis, keepdims, initial)


def xp_prod(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Also of a list of lengths."""
    return np.prod(a, axis=axis, keepdims=keepdims) if hasattr(a, "shape") else math.prod(a)


def xp_isinf(x: Any) -> Any:
    return np.isinf(x) if hasattr(x, "shape") else math.isinf(x)


def xp_any(a: Any, axis: Any = None) -> Any:
    return np.any(a, axis=axis)


def xp_maximum(a: Any, b: Any) -> Any:
    """Also of whole numbers and a Python number."""
    return np.maximum(a, b)


def xp_cumsum(a: Any, axis: Any = None) -> Any:
    return np.cumulative_sum(np.reshape(a, (-1,)) if axis is None else a, axis=axis or 0)


def xp_cumprod(a: Any, axis: Any = None) -> Any:
    return np.cumulative_prod(np.reshape(a, (-1,)) if axis is None else a, axis=axis or 0)


# -- shapes ---------------------------------------------------------------------------------------------


def xp_reshape(a: Any, shape: Any) -> Any:
    return np.reshape(np.asarray(a), tuple(shape) if isinstance(shape, tuple | list) else (shape,))


def xp_ravel(a: Any) -> Any:
    return np.reshape(a, (-1,))


def xp_broadcast_to(a: Any, shape: Any) -> Any:
    return np.broadcast_to(np.asarray(a), tuple(shape))


def xp_expand_dims(a: Any, axis: Any) -> Any:
    """Also along several axes, which are counted in the result."""
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    for i in sorted(i % (a.ndim + len(axes)) for i in axes):
        a = np.expand_dims(a, axis=i)
    return a


def xp_squeeze(a: Any, axis: Any = None) -> Any:
    return np.squeeze(a, axis=tuple(i for i, n in enumerate(a.shape) if n == 1) if axis is None else axis)


def xp_transpose(a: Any, axes: Any = None) -> Any:
    axes = range(a.ndim)[::-1] if axes is None else axes
    return np.permute_dims(a, tuple(i % a.ndim for i in axes))


def xp_swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    axes = list(range(a.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return np.permute_dims(a, tuple(axes))


def xp_flip(a: Any, axis: Any = None) -> Any:
    return np.flip(a, axis=axis)


def xp_roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return np.roll(a, shift, axis=axis)


def xp_tril(a: Any, k: int = 0) -> Any:
    return np.tril(a, k=k)


def xp_triu(a: Any, k: int = 0) -> Any:
    return np.triu(a, k=k)


def xp_atleast_1d(a: Any) -> Any:
    a = np.asarray(a)
    return a if a.ndim else np.reshape(a, (1,))


def xp_concatenate(arrays: Any, axis: Any = 0) -> Any:
    return np.concat(list(arrays), axis=axis)


def xp_stack(arrays: Any, axis: int = 0) -> Any:
    return np.stack(list(arrays), axis=axis)


def xp_repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return np.repeat(a, repeats, axis=axis)


def xp_diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return np.linalg.diagonal(np.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def xp_pad(a: Any, width: Any, mode: str = "constant") -> Any:
    """Filled with zeros, the one mode that derivatives have.

    >>> xp_pad(np.ones(2), [(0, 1)])
    array([1., 1., 0.])
    """
    if mode != "constant":
        raise ValueError(f"np.pad with mode {mode!r} has no words in the array API")
    for axis, (before, after) in enumerate(width):
        shapes = [tuple(k if i == axis else n for i, n in enumerate(a.shape)) for k in (before, after)]
        left, right = (np.zeros(shape, dtype=a.dtype) for shape in shapes)
        a = np.concat([left, a, right], axis=axis)
    return a


def xp_diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    return np.diff(a, axis=axis, n=n)


def xp_delete(a: Any, index: int, axis: int) -> Any:
    """What is left without one element along an axis.

    >>> xp_delete(np.arange(4.0), 0, 0)
    array([1., 2., 3.])
    """
    rows = np.moveaxis(a, axis, 0)
    index = index % rows.shape[0]
    return np.moveaxis(np.concat([rows[:index, ...], rows[index + 1 :, ...]], axis=0), 0, axis)


# -- places ---------------------------------------------------------------------------------------------


def xp_take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    """Along an axis, or of all elements in order; indices of any shape."""
    if axis is None:
        a, axis = np.reshape(a, (-1,)), 0
    axis = axis % a.ndim
    taken = np.take(a, np.reshape(indices, (-1,)), axis=axis)
    return np.reshape(taken, (*a.shape[:axis], *indices.shape, *a.shape[axis + 1 :]))


def xp_argsort(a: Any, axis: int = -1, kind: Any = None) -> Any:
    return np.argsort(a, axis=axis, stable=True)


def xp_sort(a: Any, axis: int = -1, kind: Any = None) -> Any:
    return np.sort(a, axis=axis)


def xp_take_along_axis(a: Any, indices: Any, axis: int = -1) -> Any:
    return np.take_along_axis(a, indices, axis=axis)


def added_at(n: int, places: Any, rows: Any) -> Any:
    """`n` rows: those of `rows`, added at their places along the first axis.

    The standard has no store at places that repeat. So each place gathers what it is given, a round for each
    time that it is named.

    >>> added_at(3, np.asarray([0, 2, 0]), np.asarray([1.0, 2.0, 3.0]))
    array([4., 0., 2.])
    """
    total = np.zeros((n, *rows.shape[1:]), dtype=rows.dtype)
    if total.size == 0 or places.size == 0:
        return total
    places = np.where(places < 0, places + n, places)
    order = np.argsort(places)
    ordered, every = np.take(places, order), np.arange(n)
    first, past = np.searchsorted(ordered, every), np.searchsorted(ordered, every, side="right")
    for i in range(int(np.max(past - first))):
        given = np.reshape(first + i < past, (n,) + (1,) * (rows.ndim - 1))
        chosen = np.take(order, np.clip(first + i, 0, places.size - 1))
        total = total + np.where(given, np.take(rows, chosen, axis=0), 0)
    return total


def xp_add_at(a: Any, index: Any, g: Any) -> None:
    """``np.add.at(a, index, g)``, for whole numbers, slices, new axes, a mask, or arrays of whole numbers."""
    parts: Any = index if isinstance(index, tuple) else (index,)
    parts = tuple(int(p) if kind_of(p) in ("i", "u") and p.ndim == 0 else p for p in parts)
    if not any(kind_of(part) in ("i", "u") for part in parts):
        parts = tuple(part for part in parts if part is not None)
        a[parts] += np.reshape(np.asarray(g), a[parts].shape)
        return
    every = np.reshape(np.arange(a.size), a.shape)
    whole = any(part is Ellipsis for part in parts) or len(parts) >= a.ndim
    places = every[parts] if whole else every[(*parts, ...)]
    rows = np.reshape(np.broadcast_to(np.asarray(g), places.shape), (-1,))
    a[...] = a + np.reshape(added_at(a.size, np.reshape(places, (-1,)), rows), a.shape)


def take_adjoint(g: Any, a: Any, indices: Any, axis: Any, mode: Any) -> Any:
    """The adjoint of `a` in `np.take(a, indices, axis)`."""
    if axis is None:
        g, indices = np.reshape(g, (-1,)), np.reshape(indices, (-1,))
        return np.reshape(added_at(a.size, indices, g), a.shape)
    rows = np.moveaxis(np.asarray(g), axis, 0)
    return np.moveaxis(added_at(a.shape[axis], indices, rows), 0, axis)


def xp_put_along_axis(a: Any, indices: Any, values: Any, axis: int) -> None:
    """For places that differ."""
    every = np.reshape(np.arange(a.size), a.shape)
    places = np.reshape(np.take_along_axis(every, indices, axis=axis), (-1,))
    values = np.reshape(np.broadcast_to(values, indices.shape), (-1,))
    named = added_at(a.size, places, np.ones_like(places)) > 0
    given = added_at(a.size, places, values)
    a[...] = np.where(np.reshape(named, a.shape), np.reshape(given, a.shape), a)


def add_along_axis(g: Any, x: Any, indices: Any, axis: int) -> Any:
    """The adjoint of `np.take_along_axis(x, indices, axis)`: an index that comes twice gets both."""
    every = np.reshape(np.arange(x.size), x.shape)
    places = np.reshape(np.take_along_axis(every, np.broadcast_to(indices, g.shape), axis=axis), (-1,))
    return np.reshape(added_at(x.size, places, np.reshape(g, (-1,))), x.shape)


def sort_adjoint(g: Any, x: Any, axis: int) -> Any:
    """The adjoint of ``np.sort``: what came to a place goes back to where it was."""
    order = np.argsort(x, axis=axis, stable=True)
    return np.take_along_axis(g, np.argsort(order, axis=axis), axis=axis)


def repeat_adjoint(g: Any, a: Any, repeats: Any, axis: Any) -> Any:
    """The adjoint of `a` in `np.repeat(a, repeats, axis)`: the copies added."""
    shape = (a.size,) if axis is None else a.shape
    axis = 0 if axis is None else axis % len(shape)
    if xp_size(repeats) == 1:
        copies = np.reshape(g, (*shape[: axis + 1], int(repeats), *shape[axis + 1 :]))
        return np.reshape(np.sum(copies, axis=axis + 1), a.shape)
    places = np.repeat(np.arange(shape[axis]), repeats)
    rows = added_at(shape[axis], places, np.moveaxis(g, axis, 0))
    return np.reshape(np.moveaxis(rows, 0, axis), a.shape)


def tile_adjoint(g: Any, a: Any, reps: Any) -> Any:
    """The adjoint of `a` in `np.tile(a, reps)`: the copies added."""
    reps = reps if isinstance(reps, tuple) else (reps,)
    ndim = max(a.ndim, len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - a.ndim) + a.shape
    copies = np.reshape(g, tuple(n for pair in zip(reps, shape, strict=True) for n in pair))
    return np.reshape(np.sum(copies, axis=tuple(range(0, 2 * ndim, 2))), a.shape)


def part_along(g: Any, start: Any, stop: Any, axis: int) -> Any:
    """The elements from `start` to `stop` along an axis."""
    return g[(*[slice(None)] * (axis % g.ndim), slice(start, stop), ...)]


def item_along(g: Any, i: int, axis: int) -> Any:
    """The elements at `i` along an axis."""
    return g[(*[slice(None)] * (axis % g.ndim), i, ...)]


def unstack_adjoint(g: Any, x: Any, axis: int) -> Any:
    """The adjoint of `x` in `np.unstack(x, axis)`; None for a part that has none."""
    nothing = np.zeros((*x.shape[: axis % x.ndim], *x.shape[axis % x.ndim + 1 :]), dtype=x.dtype)
    return np.stack([nothing if part is None else part for part in g], axis=axis)


def diff_adjoint(g: Any, n: int, axis: int) -> Any:
    """The adjoint of `a` in `np.diff(a, n, axis)`."""
    width = [(n, n) if i == axis % g.ndim else (0, 0) for i in range(g.ndim)]
    return (-1) ** n * np.diff(xp_pad(g, width), n=n, axis=axis)


def diagonal_adjoint(g: Any, a: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The adjoint of `a` in `np.diagonal(a, offset, axis1, axis2)`; `g` may have length one there."""
    axes = (axis1, axis2)
    shape = np.moveaxis(a, axes, (-2, -1)).shape
    rows, columns = shape[-2:]
    steps = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    g = np.broadcast_to(g, (*shape[:-2], steps))
    width = [(0, 0)] * (g.ndim - 1) + [(0, (rows if offset >= 0 else columns) - steps)]
    filled = xp_pad(g, width)  # along the axis in which the diagonal begins at the edge
    filled = filled[..., None] if offset >= 0 else filled[..., None, :]
    on_diagonal = np.eye(rows, columns, k=offset, dtype=a.dtype) != 0
    return np.moveaxis(np.where(on_diagonal, filled, np.zeros(shape, dtype=a.dtype)), (-2, -1), axes)


def extreme_share(out: Any, x: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """The derivative of a maximum or minimum; elements that tie share evenly."""
    top = out if axis is None or keepdims else xp_expand_dims(out, axis)
    ties = np.astype(x == top, x.dtype)
    return ties / np.sum(ties, axis=axis, keepdims=True)


# -- linear algebra -------------------------------------------------------------------------------------


def xp_tensordot(a: Any, b: Any, axes: Any) -> Any:
    return np.tensordot(a, b, axes=axes if isinstance(axes, int) else (tuple(axes[0]), tuple(axes[1])))


def xp_cross(a: Any, b: Any) -> Any:
    """Of vectors in the last axis."""
    return np.linalg.cross(*np.broadcast_arrays(a, b))


def xp_outer(a: Any, b: Any) -> Any:
    return np.linalg.outer(np.reshape(a, (-1,)), np.reshape(b, (-1,)))


def xp_linalg_eigh(a: Any, uplo: str = "L") -> Any:
    return np.linalg.eigh(a)


def xp_linalg_svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return np.linalg.svd(a, full_matrices=full_matrices) if compute_uv else np.linalg.svdvals(a)


def xp_linalg_norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Of all elements along the axes, as one vector."""
    return np.linalg.vector_norm(a, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)


def xp_linalg_qr(a: Any, mode: Any = "reduced") -> Any:
    return np.linalg.qr(a, mode=mode)


def tensordot_axes(a_ndim: int, b_ndim: int, axes: Any) -> tuple[list[int], list[int]]:
    """The contracted axes of both operands of `np.tensordot`, as lists of non-negative integers."""
    if isinstance(axes, int):
        return list(range(a_ndim - axes, a_ndim)), list(range(axes))
    return [i % a_ndim for i in axes[0]], [i % b_ndim for i in axes[1]]


def evenly(tied: Any, axis: Any, dtype: Any) -> Any:
    """One, shared evenly by what is tied along `axis`; zero where nothing is."""
    shares = np.astype(tied, dtype)
    return shares / np.maximum(np.sum(shares, axis=axis, keepdims=True), np.ones((), dtype=dtype))


def cofactors(a: Any) -> Any:
    """The matrices of cofactors: d(det a)/da.

    From a = u s v^H: each cofactor is a product of the *other* singular values, so none is divided by.
    """
    u, s, vh = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.cumulative_prod(np.concat([ones, s[..., :-1]], axis=-1), axis=-1)
    rising = np.flip(s[..., 1:], axis=-1)
    after = np.flip(np.cumulative_prod(np.concat([ones, rising], axis=-1), axis=-1), axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * ((xp_conj(u) * (before * after)[..., None, :]) @ xp_conj(vh))


# -- Fourier transforms ---------------------------------------------------------------------------------


def xp_fft_fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return np.fft.fft(xp_complex(a), n=n, axis=axis, norm=norm or "backward")


def xp_fft_ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return np.fft.ifft(xp_complex(a), n=n, axis=axis, norm=norm or "backward")


def xp_fft_rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return np.fft.rfft(xp_real(a), n=n, axis=axis, norm=norm or "backward")


def xp_fft_irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return np.fft.irfft(xp_complex(a), n=n, axis=axis, norm=norm or "backward")


def xp_fft_fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return np.fft.fftn(xp_complex(a), s=s, axes=axes, norm=norm or "backward")


def xp_fft_ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return np.fft.ifftn(xp_complex(a), s=s, axes=axes, norm=norm or "backward")


def xp_fft_fftshift(a: Any, axes: Any = None) -> Any:
    return np.fft.fftshift(a, axes=axes)


def xp_fft_ifftshift(a: Any, axes: Any = None) -> Any:
    return np.fft.ifftshift(a, axes=axes)


def xp_complex(a: Any) -> Any:
    """In the complex dtype of the same precision, which transforms are of."""
    if xp_iscomplexobj(a):
        return a
    return np.astype(a, np.complex64 if a.dtype == np.float32 else np.complex128)
