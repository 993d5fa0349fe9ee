"""Reading by index: any subscript, take, compress, choose.

In: `g`, the array that was read and the index. Out: `g` laid back; an element that was read twice gets both.

    @linear(operator.getitem, view=True)
    def getitem(g, out, a, index):
        return scatter(g, a, index)
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..rule import linear
from ..support_shaping import (
    choose_adjoint,
    compress_adjoint,
    scatter,
    take_adjoint,
)
from .sampling import complex_, real


@linear(
    operator.getitem,
    view=True,
    samples=[
        lambda: (real(4), 1),
        lambda: (real(4), slice(1, 3)),
        lambda: (real(4), slice(None, None, -2)),
        lambda: (real(3, 4), (1, slice(None))),
        lambda: (real(3, 4), (slice(None), None, -1)),
        lambda: (real(2, 3, 4), (Ellipsis, 0)),
        lambda: (real(3, 4), ()),
        lambda: (np.array(1.5), ()),
        lambda: (real(4), [0, 2, 0]),
        lambda: (complex_(4), np.array([[1, -3], [0, 1]])),
        lambda: (real(3, 4), ([0, 0, 2], [1, 1, 3])),
        lambda: (real(3, 4), (np.array([[0], [2]]), np.array([1, 1]))),
        lambda: (real(3, 4), (slice(None), [3, 3])),
        lambda: (real(3, 4), (None, [0, 1, 0], Ellipsis)),
        lambda: (real(2, 3, 4), ([0, 1], slice(None), [1, 1])),
        lambda: (real(4), np.array([True, False, True, True])),
        lambda: (real(2, 2), np.array([[True, False], [True, True]])),
        lambda: (real(2, 3), (slice(None), np.array([True, False, True]))),
        lambda: (real(4), slice(2, 2)),
        lambda: (real(4), np.array([], dtype=int)),
    ],
)
def getitem(g: Any, out: Any, a: Any, index: Any) -> Any:
    return scatter(g, a, index)


@linear(
    np.take,
    samples=[
        lambda: (real(5), [0, 3, 0]),
        lambda: (real(2, 3), [5, 0, 5]),
        lambda: (real(2, 3), 1, 1),
        lambda: (complex_(2, 3), np.array([[0, 2], [2, 1]]), -1),
        lambda: (real(5), [-1, 7, 2], {"mode": "wrap"}),
        lambda: (real(5), [-1, 7, 2], None, {"mode": "clip"}),
    ],
)
def take(g: Any, out: Any, a: Any, indices: Any, axis: Any = None, *, mode: str = "raise") -> Any:
    return take_adjoint(g, a, indices, axis, mode)


@linear(
    np.compress,
    wrt=["a"],
    steps=["condition"],
    samples=[
        lambda: ([True, False, True], real(4)),
        lambda: ([False, True], real(2, 3), 1),
        lambda: ([True, False, True, True], complex_(2, 3)),
    ],
)
def compress(g: Any, out: Any, condition: Any, a: Any, axis: Any = None) -> Any:
    return compress_adjoint(g, a, condition, axis)


@linear(
    np.extract,
    wrt=["arr"],
    steps=["condition"],
    samples=[
        lambda: (np.array([True, False, True]), real(3)),
        lambda: (np.array([[True, False], [True, True]]), real(2, 2)),
    ],
)
def extract(g: Any, out: Any, condition: Any, arr: Any) -> Any:
    return compress_adjoint(g, arr, np.ravel(condition), None)


@linear(
    np.choose,
    wrt=["choices"],
    samples=[
        lambda: (np.array([0, 1, 1]), [real(3), real(3, seed=1)]),
        lambda: (np.array([[0, 1], [2, 0]]), (real(2), real(2, 1, seed=1), 1.5)),
        lambda: (np.array([0, -1, 5]), [real(3), real(3, seed=1)], {"mode": "wrap"}),
        lambda: (np.array([0, -1, 5]), [real(3), real(3, seed=1)], {"mode": "clip"}),
        lambda: (np.array([1, 0]), complex_(2, 2)),
    ],
)
def choose(g: Any, out: Any, a: Any, choices: Any, *, mode: str = "raise") -> Any:
    return choose_adjoint(g, a, choices, mode)
