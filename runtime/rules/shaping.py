"""Shapes: what moves, repeats, pads or builds arrays without arithmetic.

In: `g` and the operands. Out: the elements of `g` moved back to where they came from, copies added.

    @linear(np.swapaxes, view=True)
    def swapaxes(g, out, a, axis1, axis2):
        return np.swapaxes(g, axis1, axis2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import linear, vjp
from ..support import unbroadcast
from ..support_padding import pad_adjoint, pad_tangent, pad_values_adjoint, pad_values_tangent
from ..support_shaping import (
    along,
    array_ndmin_adjoint,
    diag_adjoint,
    diagonal_adjoint,
    each,
    linspace_weights,
    meshgrid_adjoint,
    repeat_adjoint,
    reshape_adjoint,
    reshape_each,
    resize_adjoint,
    roll_back,
    rollaxis_adjoint,
    sliding_window_view_adjoint,
    tile_adjoint,
    trace_adjoint,
    transpose_adjoint,
    unbroadcast_each,
    vander_slope,
    weighted_sum,
)
from .sampling import complex_, positive, real

# -- shapes --------------------------------------------------------------------------------------------


@linear(
    np.reshape,
    view=True,
    only={"order": ("C", "F")},
    samples=[
        lambda: (real(2, 3), (3, 2)),
        lambda: (complex_(2, 3), -1),
        lambda: (real(2, 3), (6,), "F"),
        lambda: (1.5, (1, 1)),
        lambda: (np.zeros((0, 2)), (2, 0)),
    ],
)
def reshape(g: Any, out: Any, a: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    return reshape_adjoint(g, a, order)


@linear(
    np.ravel,
    view=True,
    only={"order": ("C", "F")},
    samples=[lambda: (real(2, 3),), lambda: (real(2, 3), "F"), lambda: (1.5,)],
)
def ravel(g: Any, out: Any, a: Any, order: str = "C") -> Any:
    return reshape_adjoint(g, a, order)


@linear(
    np.transpose,
    view=True,
    samples=[
        lambda: (real(2, 3),),
        lambda: (real(2, 3, 4), (1, 2, 0)),
        lambda: (complex_(2, 3, 1), (0, -1, 1)),
    ],
)
def transpose(g: Any, out: Any, a: Any, axes: Any = None) -> Any:
    return transpose_adjoint(g, axes)


@linear(
    np.matrix_transpose,
    np.linalg.matrix_transpose,
    view=True,
    samples=[lambda: (real(2, 3),), lambda: (real(2, 3, 4),)],
)
def matrix_transpose(g: Any, out: Any, x: Any) -> Any:
    return np.swapaxes(g, -1, -2)


@linear(np.swapaxes, view=True, samples=[lambda: (real(2, 3, 4), 0, 2), lambda: (complex_(2, 3), -1, 0)])
def swapaxes(g: Any, out: Any, a: Any, axis1: int, axis2: int) -> Any:
    return np.swapaxes(g, axis1, axis2)


@linear(
    np.moveaxis, view=True, samples=[lambda: (real(2, 3, 4), 0, -1), lambda: (real(2, 3, 4), (0, 1), (-1, 0))]
)
def moveaxis(g: Any, out: Any, a: Any, source: Any, destination: Any) -> Any:
    return np.moveaxis(g, destination, source)


@linear(
    np.rollaxis,
    view=True,
    samples=[lambda: (real(2, 3, 4), 2), lambda: (real(2, 3, 4), 0, 3), lambda: (real(2, 3, 4), 1, -1)],
)
def rollaxis(g: Any, out: Any, a: Any, axis: int, start: int = 0) -> Any:
    return rollaxis_adjoint(g, axis, start)


@linear(
    np.squeeze,
    view=True,
    samples=[lambda: (real(1, 3, 1),), lambda: (real(1, 3, 1), 0), lambda: (real(1, 1),)],
)
def squeeze(g: Any, out: Any, a: Any, axis: Any = None) -> Any:
    return np.reshape(g, np.shape(a))


@linear(
    np.expand_dims, view=True, samples=[lambda: (real(3), 0), lambda: (real(2, 3), (0, -1)), lambda: (1.5, 0)]
)
def expand_dims(g: Any, out: Any, a: Any, axis: Any) -> Any:
    return np.reshape(g, np.shape(a))


@linear(
    np.broadcast_to,
    view=True,
    samples=[
        lambda: (real(3), (2, 3)),
        lambda: (real(2, 1), (4, 2, 3)),
        lambda: (1.5, (2,)),
        lambda: (complex_(1, 3), (2, 3)),
        lambda: (real(1), (0,)),
    ],
)
def broadcast_to(g: Any, out: Any, array: Any, shape: Any) -> Any:
    return unbroadcast(g, array)


@linear(
    np.broadcast_arrays,
    view=True,
    samples=[lambda: (real(3), real(2, 1)), lambda: (1.5, real(2)), lambda: (real(2, 2),)],
)
def broadcast_arrays(g: Any, out: Any, *args: Any) -> Any:
    return unbroadcast_each(g, args)


@linear(np.atleast_1d, view=True, samples=[(1.5,), lambda: (real(2, 2),), lambda: (1.5, real(2))])
def atleast_1d(g: Any, out: Any, *arys: Any) -> Any:
    return reshape_each(each(g, arys), arys)


@linear(np.atleast_2d, view=True, samples=[(1.5,), lambda: (real(2),), lambda: (1.5, real(2))])
def atleast_2d(g: Any, out: Any, *arys: Any) -> Any:
    return reshape_each(each(g, arys), arys)


@linear(np.atleast_3d, view=True, samples=[(1.5,), lambda: (real(2),), lambda: (real(2), real(2, 3))])
def atleast_3d(g: Any, out: Any, *arys: Any) -> Any:
    return reshape_each(each(g, arys), arys)


@linear(np.ix_, view=True, samples=[lambda: (real(2), real(3, seed=1)), lambda: (real(2),)])
def ix_(g: Any, out: Any, *args: Any) -> Any:
    return reshape_each(g, args)


# -- order of elements ---------------------------------------------------------------------------------


@linear(
    np.flip, view=True, samples=[lambda: (real(2, 3),), lambda: (real(2, 3), 1), lambda: (real(2, 3), (0, 1))]
)
def flip(g: Any, out: Any, m: Any, axis: Any = None) -> Any:
    return np.flip(g, axis)


@linear(np.flipud, view=True, samples=[lambda: (real(2, 3),)])
def flipud(g: Any, out: Any, m: Any) -> Any:
    return np.flipud(g)


@linear(np.fliplr, view=True, samples=[lambda: (real(2, 3),)])
def fliplr(g: Any, out: Any, m: Any) -> Any:
    return np.fliplr(g)


@linear(np.rot90, view=True, samples=[lambda: (real(2, 3),), lambda: (real(2, 3, 4), -1, (0, 2))])
def rot90(g: Any, out: Any, m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    return np.rot90(g, -k, axes)


@linear(
    np.roll,
    samples=[
        lambda: (real(5), 2),
        lambda: (real(2, 3), -1),
        lambda: (real(2, 3), 1, 1),
        lambda: (complex_(2, 3), (1, 2), (0, 1)),
    ],
)
def roll(g: Any, out: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    return roll_back(g, shift, axis)


# -- copies of elements --------------------------------------------------------------------------------


@linear(
    np.tile,
    samples=[
        lambda: (real(3), 2),
        lambda: (real(2, 3), (2, 1)),
        lambda: (real(3), (2, 2)),
        lambda: (complex_(2, 1, 2), 3),
        lambda: (1.5, 3),
        lambda: (real(2), 0),
    ],
)
def tile(g: Any, out: Any, A: Any, reps: Any) -> Any:
    return tile_adjoint(g, A, reps)


@linear(
    np.repeat,
    samples=[
        lambda: (real(3), 2),
        lambda: (real(2, 3), 2),
        lambda: (real(2, 3), 3, 1),
        lambda: (real(2, 3), [2, 0], 0),
        lambda: (complex_(2, 3), [2, 0, 1], -1),
        lambda: (1.5, 3),
    ],
)
def repeat(g: Any, out: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    return repeat_adjoint(g, a, repeats, axis)


@linear(
    np.resize,
    samples=[
        lambda: (real(3), (2, 4)),
        lambda: (real(2, 3), 4),
        lambda: (complex_(2), (2, 2)),
        lambda: (real(3), 0),
    ],
)
def resize(g: Any, out: Any, a: Any, new_shape: Any) -> Any:
    return resize_adjoint(g, a)


@linear(
    np.lib.stride_tricks.sliding_window_view,
    view=True,
    samples=[
        lambda: (real(6), 3),
        lambda: (real(4, 5), (2, 3)),
        lambda: (real(4, 5), 2, -1),
        lambda: (real(5), (2, 2), (0, 0)),
    ],
)
def sliding_window_view(g: Any, out: Any, x: Any, window_shape: Any, axis: Any = None) -> Any:
    return sliding_window_view_adjoint(g, x, window_shape, axis)


@linear(
    np.meshgrid,
    samples=[
        lambda: (real(2), real(3, seed=1)),
        lambda: (real(2), real(3, seed=1), {"indexing": "ij"}),
        lambda: (real(2), real(3, seed=1), real(4, seed=2), {"sparse": True}),
        lambda: (real(2),),
        lambda: (1.5, real(3)),
    ],
)
def meshgrid(
    g: Any, out: Any, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> Any:
    return meshgrid_adjoint(g, xi, indexing)


_PADDED = ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean", "median", "minimum")


@vjp(
    np.pad,
    wrt=["array", "constant_values", "end_values"],
    only={"mode": ("constant", *_PADDED, "empty")},
    samples=[
        lambda: (real(3), 2, "constant"),
        lambda: (complex_(2, 3), ((1, 0), (0, 2))),
        lambda: (real(2, 3), 1, "constant", {"constant_values": 1.5}),
        lambda: (
            real(2, 3),
            ((1, 2), (0, 2)),
            "constant",
            {"constant_values": np.array([[1.0, 2.0], [3.0, 4.0]])},
        ),
        lambda: (real(3), (1, 2), "constant", {"constant_values": (1.5, 2.5)}),
        *[lambda mode=mode: (real(4), (1, 2), mode) for mode in _PADDED],
        *[lambda mode=mode: (real(3, 4), ((2, 1), (0, 2)), mode) for mode in _PADDED],
        *[lambda mode=mode: (real(3), (4, 5), mode) for mode in ("reflect", "symmetric", "wrap")],
        lambda: (real(3), (4, 5), "reflect", {"reflect_type": "odd"}),
        lambda: (real(3, 4), (4, 5), "symmetric", {"reflect_type": "odd"}),
        lambda: (real(1), (1, 2), "edge"),
        lambda: (
            real(2, 3),
            ((2, 2), (1, 3)),
            "linear_ramp",
            {"end_values": np.array([[0.5, 1.5], [2.5, 3.5]])},
        ),
        lambda: (real(3), (2, 1), "linear_ramp", {"end_values": 1.5}),
        *[lambda mode=mode: (real(4, 5), 2, mode, {"stat_length": (2, 3)}) for mode in _PADDED[5:]],
        lambda: (complex_(2, 3), 2, "mean"),
    ],
)
def pad(
    g: Any,
    out: Any,
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: Any = "even",
) -> Any:
    return (
        pad_adjoint(g, array, pad_width, mode, stat_length, reflect_type),
        pad_values_adjoint(g, array, pad_width, constant_values, mode),
        pad_values_adjoint(g, array, pad_width, end_values, mode),
    )


@pad.jvp
def pad_jvp(
    array_dot: Any,
    constant_values_dot: Any,
    end_values_dot: Any,
    out: Any,
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: Any = "even",
) -> Any:
    return (
        pad_tangent(array_dot, array, pad_width, mode, stat_length, reflect_type),
        pad_values_tangent(constant_values_dot, array, pad_width, mode),
        pad_values_tangent(end_values_dot, array, pad_width, mode),
    )


# -- diagonals and triangles ---------------------------------------------------------------------------


@linear(
    np.diag,
    view=True,
    samples=[
        lambda: (real(3),),
        lambda: (real(3), 1),
        lambda: (real(3, 3),),
        lambda: (real(2, 4), 1),
        lambda: (complex_(4, 2), -1),
        lambda: (real(2, 2), 5),
    ],
)
def diag(g: Any, out: Any, v: Any, k: int = 0) -> Any:
    return diag_adjoint(g, v, k)


@linear(np.diagflat, samples=[lambda: (real(2, 2),), lambda: (real(3), -1), (1.5,)])
def diagflat(g: Any, out: Any, v: Any, k: int = 0) -> Any:
    return np.reshape(np.diagonal(g, k), np.shape(v))


@linear(
    np.diagonal,
    view=True,
    samples=[lambda: (real(3, 3),), lambda: (real(2, 3, 4), 1, 0, 2), lambda: (complex_(2, 3, 4), -1, 1, 0)],
)
def diagonal(g: Any, out: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return diagonal_adjoint(g, a, offset, axis1, axis2)


@linear(
    np.linalg.diagonal, view=True, samples=[lambda: (real(2, 3, 4),), lambda: (real(3, 3), {"offset": 1})]
)
def linalg_diagonal(g: Any, out: Any, x: Any, *, offset: int = 0) -> Any:
    return diagonal_adjoint(g, x, offset, -2, -1)


@linear(
    np.trace, samples=[lambda: (real(3, 3),), lambda: (real(2, 3, 4), 1, 0, 2), lambda: (complex_(3, 2), -1)]
)
def trace(g: Any, out: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return trace_adjoint(g, a, offset, axis1, axis2)


@linear(np.linalg.trace, samples=[lambda: (real(2, 3, 4),), lambda: (real(3, 3), {"offset": 1})])
def linalg_trace(g: Any, out: Any, x: Any, *, offset: int = 0) -> Any:
    return trace_adjoint(g, x, offset, -2, -1)


@linear(np.tril, samples=[lambda: (real(3, 3),), lambda: (real(2, 2, 3), -1), lambda: (real(3), 1)])
def tril(g: Any, out: Any, m: Any, k: int = 0) -> Any:
    return unbroadcast(np.tril(g, k), m)


@linear(np.triu, samples=[lambda: (real(3, 3),), lambda: (real(2, 2, 3), -1), lambda: (real(3), 1)])
def triu(g: Any, out: Any, m: Any, k: int = 0) -> Any:
    return unbroadcast(np.triu(g, k), m)


@vjp(
    np.vander,
    samples=[lambda: (real(3),), lambda: (real(3), 4, True), lambda: (complex_(2), 3), lambda: (real(2), 1)],
)
def vander(g: Any, out: Any, x: Any, N: Any = None, increasing: bool = False) -> Any:
    return np.sum(g * vander_slope(x, out, increasing), axis=-1)


@vander.jvp
def vander_jvp(x_dot: Any, out: Any, x: Any, N: Any = None, increasing: bool = False) -> Any:
    return x_dot[..., None] * vander_slope(x, out, increasing)


# -- arrays from numbers -------------------------------------------------------------------------------


@linear(np.copy, samples=[lambda: (real(2, 3),), (1.5,)])
def copy(g: Any, out: Any, a: Any, order: str = "K", subok: bool = False) -> Any:
    return g


@linear(
    np.array,
    samples=[
        lambda: (real(2, 3),),
        lambda: ([1.5, 2.5],),
        lambda: ([[1.5, 2.5, 1.0], (0.5, 3.5, 2.0)],),
        lambda: ([real(3), real(3, seed=1)],),
        lambda: ((1.5, np.array(2.0)), np.complex128),
        (2.5,),
        lambda: ([1.5, 2.5], {"ndmin": 2}),
        lambda: ([1.0 + 2.0j, 0.5],),
    ],
)
def array(
    g: Any,
    out: Any,
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    return array_ndmin_adjoint(g, object, ndmin)


@linear(
    np.asarray,
    np.asanyarray,
    view=True,
    samples=[lambda: (real(2, 3),), lambda: ([1.5, 2.5],), (2.5,), lambda: (real(2), np.complex128)],
)
def asarray(g: Any, out: Any, a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    return array_ndmin_adjoint(g, a, 0)


@linear(
    np.ascontiguousarray,
    np.asfortranarray,
    np.require,
    np.asarray_chkfinite,
    view=True,
    samples=[lambda: (real(2, 3),), lambda: ([1.5, 2.5],)],
)
def ascontiguousarray(g: Any, out: Any, a: Any, dtype: Any = None) -> Any:
    return array_ndmin_adjoint(g, a, 1)


@linear(np.astype, samples=[lambda: (real(3), np.complex128), lambda: (real(3), np.float64)])
def astype(g: Any, out: Any, x: Any, dtype: Any, *, copy: bool = True) -> Any:
    return g


@linear(
    np.full,
    wrt=["fill_value"],
    samples=[((2, 3), 1.5), lambda: ((2, 3), real(3)), lambda: (2, 1.5 + 0.5j), lambda: ((0,), 1.5)],
)
def full(g: Any, out: Any, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    return unbroadcast(g, fill_value)


@linear(
    np.full_like,
    wrt=["fill_value"],
    steps=["a"],
    samples=[
        lambda: (real(2, 3), 1.5),
        lambda: (real(2, 3), real(3)),
        lambda: (real(2), 1.5, None, "K", True, (4,)),
    ],
)
def full_like(
    g: Any,
    out: Any,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Any:
    return unbroadcast(g, fill_value)


_ENDS = [
    (0.5, 2.5),
    (0.5, 2.5, 5, False),
    (0.5, 2.5, 1),
    lambda: (positive(3), 2.5, 4),
    lambda: (positive(3), positive(2, 1, seed=1), 4, True),
]


@vjp(
    np.linspace,
    only={"retstep": (False,)},
    samples=[*_ENDS, lambda: (positive(3), 2.5, 4, True, False, None, -1)],
)
def linspace(
    g: Any,
    out: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    t = linspace_weights(g, num, endpoint)
    return unbroadcast(weighted_sum(1 - t, g, axis), start), unbroadcast(weighted_sum(t, g, axis), stop)


@linspace.jvp
def linspace_jvp(
    start_dot: Any,
    stop_dot: Any,
    out: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    zero = np.zeros_like(np.sum(out, axis=axis))
    t = linspace_weights(out, num, endpoint)
    return along(1 - t, start_dot + zero, axis), along(t, stop_dot + zero, axis)


@vjp(
    np.geomspace, samples=[*_ENDS, lambda: (positive(3), 2.5, 4, True, None, -1), (1.0 + 0.5j, 2.0 - 1.0j, 4)]
)
def geomspace(
    g: Any,
    out: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    t = linspace_weights(g, num, endpoint)
    return (
        unbroadcast(weighted_sum(1 - t, g * out, axis) / start, start),
        unbroadcast(weighted_sum(t, g * out, axis) / stop, stop),
    )


@geomspace.jvp
def geomspace_jvp(
    start_dot: Any,
    stop_dot: Any,
    out: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    zero = np.zeros_like(np.sum(out, axis=axis))
    t = linspace_weights(out, num, endpoint)
    return out * along(1 - t, start_dot / start + zero, axis), out * along(t, stop_dot / stop + zero, axis)


@vjp(np.logspace, wrt=["start", "stop", "base"], samples=[*_ENDS, (0.5, 1.5, 4, True, 2.5)])
def logspace(
    g: Any,
    out: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    t = linspace_weights(g, num, endpoint)
    exponents = np.linspace(start, stop, num, endpoint, axis=axis)
    start_bar = unbroadcast(weighted_sum(1 - t, g * out, axis) * np.log(base), start)
    stop_bar = unbroadcast(weighted_sum(t, g * out, axis) * np.log(base), stop)
    base_bar = unbroadcast(np.sum(g * out * exponents, axis=axis) / base, base)
    return start_bar, stop_bar, base_bar


@logspace.jvp
def logspace_jvp(
    start_dot: Any,
    stop_dot: Any,
    base_dot: Any,
    out: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    zero = np.zeros_like(np.sum(out, axis=axis))
    t = linspace_weights(out, num, endpoint)
    exponents = np.linspace(start, stop, num, endpoint, axis=axis)
    start_term = out * along(1 - t, start_dot * np.log(base) + zero, axis)
    stop_term = out * along(t, stop_dot * np.log(base) + zero, axis)
    return start_term, stop_term, out * exponents * np.expand_dims(base_dot / base + zero, axis)
