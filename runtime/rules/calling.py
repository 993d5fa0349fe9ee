"""NumPy's functions that call a function: what the transformer reads instead of them.

In: an array, and a function of rows, pieces or elements. Out: the same values, by a loop that calls it.

    np.apply_along_axis(f, 1, x)     ->     np.stack([f(row) for row in x])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..instead import instead

__all__ = ["elementwise_call"]


@instead(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    if arr.ndim == 1:
        return np.asarray(func1d(arr, *args, **kwargs))
    axis = axis % arr.ndim
    rows = np.moveaxis(arr, axis, -1)
    if arr.ndim == 2:
        found = np.stack([func1d(row, *args, **kwargs) for row in rows])
    else:
        flat = np.reshape(rows, (-1, rows.shape[-1]))
        found = np.stack([func1d(row, *args, **kwargs) for row in flat])
        found = np.reshape(found, rows.shape[:-1] + np.shape(found)[1:])
    if axis == arr.ndim - 1:
        return found
    more = np.ndim(found) - arr.ndim + 1
    if more > 1:
        raise NotImplementedError("the function gives matrices: their axes are not moved")
    return found if more == 0 else np.moveaxis(found, -1, axis)


@instead(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    a = np.asarray(a)
    for axis in axes if isinstance(axes, tuple | list) else (axes,):
        reduced = func(a, axis)
        a = reduced if np.ndim(reduced) == np.ndim(a) else np.expand_dims(reduced, axis)
    return a


@instead(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    grid = np.indices(shape, dtype=dtype)
    return function(*[grid[i] for i in range(len(shape))], **kwargs)


@instead(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    conditions = condlist if isinstance(condlist, list | tuple) else [condlist]
    if len(funclist) == len(conditions) + 1:
        conditions = [*conditions, ~np.any(np.stack(conditions), axis=0)]
    y = np.zeros_like(x)
    for condition, f in zip(conditions, funclist, strict=True):
        if callable(f):
            values = x[condition]
            if values.size > 0:
                y[condition] = f(values, *args, **kw)
        else:
            y[condition] = f
    return y


def elementwise_call(f: Any, *args: Any) -> Any:
    """`np.vectorize(f)(*args)`, which gives all results the type of the first."""
    if len(args) == 1:
        found = [f(x) for x in np.ravel(args[0])]
    else:
        arrays = np.broadcast_arrays(*args)
        found = [f(*each) for each in zip(*[np.ravel(a) for a in arrays], strict=True)]
    made = np.array(found)
    if made.dtype != np.asarray(found[0]).dtype:
        raise TypeError("np.vectorize goes by the first result, which is an integer: return floats")
    return np.reshape(made, np.shape(args[0]) if len(args) == 1 else arrays[0].shape)
