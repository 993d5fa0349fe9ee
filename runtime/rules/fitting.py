"""Rules for helpers that bring an adjoint to the form of its value: generated code is differentiated again.

In: the adjoint of what a helper returned, and its operands. Out: the adjoint of the helper's first operand.
All are linear in it; of the value whose form is wanted they take the shape and dtype alone.

    @linear(unbroadcast, wrt=["g"], steps=["x"])
    def unbroadcast_again(g_bar, out, g, x):
        return rebroadcast(g_bar, g, x)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import linear, nondifferentiable
from ..support import conj, real_if_real, rebroadcast, unbroadcast
from ..support_memory import (
    last_stored,
    last_stored_adjoint,
    private_copy,
    scattered,
    unit_seed,
    writable_copy,
    writable_diagonal,
    zeros_of,
)
from ..support_shaping import diagonal_adjoint
from ..support_tangent import own_tangent, tangent_like
from .sampling import complex_, real

nondifferentiable(zeros_of, unit_seed)


@linear(
    unbroadcast,
    wrt=["g"],
    steps=["x"],
    view=True,
    holomorphic=False,
    samples=[
        lambda: (real(3, 2), np.zeros(2)),
        lambda: (real(3, 2), np.zeros((3, 1))),
        lambda: (real(3, 2), 1.0),
        lambda: (real(2), np.zeros(2)),
        lambda: (real(1, 2), np.zeros((3, 1))),
        lambda: (complex_(3, 2), np.zeros(2)),
    ],
)
def unbroadcast_again(g_bar: Any, out: Any, g: Any, x: Any) -> Any:
    return rebroadcast(g_bar, g, x)


@linear(
    real_if_real,
    wrt=["g"],
    steps=["x"],
    view=True,
    holomorphic=False,
    samples=[
        lambda: (real(3), np.zeros(3)),
        lambda: (complex_(3), np.zeros(3)),
        lambda: (complex_(3), 1j * np.zeros(3)),
    ],
)
def real_if_real_again(g_bar: Any, out: Any, g: Any, x: Any) -> Any:
    return g_bar


@linear(conj, view=True, holomorphic=False, samples=[lambda: (real(3),), lambda: (complex_(3),)])
def conj_again(g_bar: Any, out: Any, g: Any) -> Any:
    return conj(g_bar)


@linear(
    writable_diagonal,
    view=True,
    samples=[lambda: (real(3, 3),), lambda: (real(2, 3, 4), 1, 0, 2), lambda: (complex_(2, 4), -1)],
)
def writable_diagonal_again(
    g: Any, out: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    return diagonal_adjoint(g, a, offset, axis1, axis2)


@linear(
    last_stored,
    wrt=["adjoint"],
    samples=[
        lambda: (real(4), np.array([1, 1, 3])),
        lambda: (real(2, 3), (slice(None), np.array([2, 0, 2]))),
    ],
)
def last_stored_again(g_bar: Any, out: Any, adjoint: Any, index: Any) -> Any:
    return last_stored_adjoint(g_bar, adjoint, index)


@linear(
    scattered,
    wrt=["g"],
    steps=["x"],
    samples=[lambda: (real(3), np.zeros(3), np.array([0, 2, 0])), lambda: (2.5, np.zeros(3), 1)],
)
def scattered_again(g_bar: Any, out: Any, g: Any, x: Any, index: Any) -> Any:
    return g_bar[index]


_FITTED = [
    lambda: (real(1, 2), np.zeros((3, 2))),
    lambda: (2.5, np.zeros(3)),
    lambda: (real(3), np.zeros(3)),
]


@linear(tangent_like, wrt=["dot"], steps=["out_"], view=True, holomorphic=False, samples=_FITTED)
def tangent_like_again(g: Any, out: Any, dot: Any, out_: Any) -> Any:
    return unbroadcast(g, dot)


@linear(own_tangent, wrt=["dot"], steps=["out_"], holomorphic=False, samples=_FITTED)
def own_tangent_again(g: Any, out: Any, dot: Any, out_: Any) -> Any:
    return unbroadcast(g, dot)


@linear(writable_copy, samples=[lambda: (real(3),), lambda: (complex_(2, 2),)])
def writable_copy_again(g: Any, out: Any, a: Any) -> Any:
    return g


@linear(private_copy, samples=[lambda: (real(3),), lambda: (complex_(2, 2),), lambda: (2.5,)])
def private_copy_again(g: Any, out: Any, a: Any) -> Any:
    return g
