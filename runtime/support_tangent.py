"""Tangents in the shape and memory that their primal value has: helpers that generated code may call.

In: a tangent, and the value it belongs to. Out: the tangent as an array of that shape and dtype.

    >>> tangent_like(2.0, np.zeros(3))
    array([2., 2., 2.])
    >>> x_dot = np.ones(3)
    >>> own_tangent(x_dot, np.zeros(3)) is x_dot
    False
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import real_if_real
from .support_memory import Shadows


def tangent_like(dot: Any, out: Any) -> Any:
    """`dot` in the shape and dtype of `out`; it may show memory of `dot`. A tuple stays as it is.

    >>> tangent_like(np.ones((1, 2)), np.zeros((2, 2), np.float32))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    if isinstance(dot, tuple):
        return dot
    if np.shape(dot) != np.shape(out):
        dot = np.broadcast_to(dot, np.shape(out))
    return real_if_real(dot, out)


def own_tangent(dot: Any, out: Any) -> Any:
    """`dot` in memory of its own, with the layout of `out`; a number stays one, a list is a new one.

    >>> own_tangent(0.0, np.zeros((2, 2), order="F")).flags.f_contiguous
    True
    """
    if isinstance(out, list):
        return [own_tangent(part, each) for part, each in zip(dot, out, strict=True)]
    if not isinstance(out, np.ndarray):
        return dot
    made = np.zeros_like(out)
    made[...] = dot
    return made


def tangents_together(arrays: Any, dots: Any) -> tuple[Any, ...]:
    """Tangents of arrays that share memory, which share memory in the same way.

    Args:
        arrays: the arrays.
        dots: a tangent for each, or None; where arrays overlap, their tangents are added.

    >>> x = np.zeros(3)
    >>> x_dot, y_dot = tangents_together((x, x[::-1]), (np.array([1.0, 2.0, 3.0]), None))
    >>> y_dot
    array([3., 2., 1.])
    """
    shadows = Shadows()
    for array, dot in zip(arrays, dots, strict=True):
        if dot is not None:
            shadows.add(array, dot)
    return tuple(shadows(array) for array in arrays)
