"""Rules for helpers that generated code calls, so that it can be differentiated again.

In: the adjoint of what a helper returned, and its operands. Out: the adjoint of its `g`. Each helper is the
transpose of an operation that moves elements about, so what goes back through it is the operation itself.

    @linear(scatter, wrt=["g"], steps=["x"])
    def scatter_again(g_bar, out, g, x, index):
        return g_bar[index]

Most helpers need no rule: they are read as the user's own functions are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import support_memory as memory
from ..rule import linear, nondifferentiable, vjp
from ..support_linalg import cofactors, cofactors_direction
from ..support_padding import pad_adjoint, pad_tangent
from ..support_shaping import (
    compress_adjoint,
    delete_adjoint,
    repeat_adjoint,
    resize_adjoint,
    scatter,
    sliding_window_view_adjoint,
    take_adjoint,
    tile_adjoint,
)
from .sampling import complex_, real, well_conditioned


@linear(
    scatter,
    wrt=["g"],
    steps=["x"],
    samples=[lambda: (real(3), np.zeros(3), np.array([0, 2, 0])), lambda: (2.5, np.zeros(3), 1)],
)
def scatter_again(g_bar: Any, out: Any, g: Any, x: Any, index: Any) -> Any:
    return g_bar[index]


@linear(
    take_adjoint,
    wrt=["g"],
    steps=["a"],
    samples=[
        lambda: (real(3), np.zeros(4), [0, 2, 0], None, "raise"),
        lambda: (real(2, 2), np.zeros((2, 3)), [2, 2], 1, "raise"),
    ],
)
def take_again(g_bar: Any, out: Any, g: Any, a: Any, indices: Any, axis: Any, mode: Any) -> Any:
    return np.take(g_bar, indices, axis, mode=mode)


@linear(
    compress_adjoint,
    wrt=["g"],
    steps=["a", "condition"],
    samples=[
        lambda: (real(2), np.zeros(3), [True, False, True], None),
        lambda: (real(2, 1), np.zeros((2, 3)), [False, True], 1),
    ],
)
def compress_again(g_bar: Any, out: Any, g: Any, a: Any, condition: Any, axis: Any) -> Any:
    return np.compress(condition, g_bar, axis)


@linear(
    delete_adjoint,
    wrt=["g"],
    steps=["arr"],
    samples=[lambda: (real(2), np.zeros(3), 1, None), lambda: (real(2, 2), np.zeros((2, 3)), [0], 1)],
)
def delete_again(g_bar: Any, out: Any, g: Any, arr: Any, obj: Any, axis: Any) -> Any:
    return np.delete(g_bar, obj, axis)


@linear(
    repeat_adjoint,
    wrt=["g"],
    steps=["a"],
    samples=[lambda: (real(6), np.zeros(3), 2, None), lambda: (real(2, 3), np.zeros((2, 2)), [1, 2], 1)],
)
def repeat_again(g_bar: Any, out: Any, g: Any, a: Any, repeats: Any, axis: Any) -> Any:
    return np.repeat(g_bar, repeats, axis)


@linear(
    tile_adjoint,
    wrt=["g"],
    steps=["a"],
    samples=[lambda: (real(6), np.zeros(3), 2), lambda: (real(2, 4), np.zeros(2), (2, 2))],
)
def tile_again(g_bar: Any, out: Any, g: Any, a: Any, reps: Any) -> Any:
    return np.tile(g_bar, reps)


@linear(resize_adjoint, wrt=["g"], steps=["a"], samples=[lambda: (real(2, 4), np.zeros(3))])
def resize_again(g_bar: Any, out: Any, g: Any, a: Any) -> Any:
    return np.resize(g_bar, np.shape(g))


@linear(
    sliding_window_view_adjoint,
    wrt=["g"],
    steps=["x"],
    samples=[lambda: (real(4, 3), np.zeros(6), 3, None), lambda: (real(3, 3, 2), np.zeros((3, 4)), 2, -1)],
)
def sliding_window_view_again(g_bar: Any, out: Any, g: Any, x: Any, window_shape: Any, axis: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(g_bar, window_shape, axis)


@vjp(
    pad_adjoint,
    wrt=["g"],
    steps=["array"],
    samples=[
        lambda mode=mode: (real(5), np.array([0.5, 1.5]), (1, 2), mode, None, "even")
        for mode in ("constant", "edge", "mean", "maximum", "linear_ramp")
    ],
)
def pad_again(
    g_bar: Any, out: Any, g: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, reflect_type: Any
) -> Any:
    return pad_tangent(g_bar, array, pad_width, mode, stat_length, reflect_type)


@pad_again.jvp
def pad_again_jvp(
    g_dot: Any, out: Any, g: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, reflect_type: Any
) -> Any:
    return pad_adjoint(g_dot, array, pad_width, mode, stat_length, reflect_type)


@vjp(
    cofactors,
    samples=[
        lambda: (well_conditioned(3, 3),),
        lambda: (well_conditioned(2, 2, 2),),
        lambda: (np.outer(real(3), real(3, seed=1)),),
        lambda: (np.zeros((2, 2)),),
        lambda: (np.outer(complex_(3), complex_(3, seed=1)),),
    ],
)
def second_minors(g: Any, out: Any, a: Any) -> Any:
    return cofactors_direction(a, g)


@second_minors.jvp
def second_minors_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return cofactors_direction(a, a_dot)


# Where something is stored does not depend on the values that are there.
nondifferentiable(
    memory.cycle,
    memory.cycle_by_place,
    memory.diagonal_places,
    memory.flat_index,
    memory.flat_places,
    memory.masked_places,
    memory.places_along_axis,
    memory.places_in_order,
    memory.shape_at,
)
