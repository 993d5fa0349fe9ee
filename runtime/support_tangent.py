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

from .support import own, real_if_real
from .support_memory import Shadows


def tangent_like(dot: Any, out: Any) -> Any:
    """`dot` in the shape and dtype of `out`, or of each part of a sequence; it may show memory of `dot`.

    >>> tangent_like(np.ones((1, 2)), np.zeros((2, 2), np.float32))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    if isinstance(dot, tuple | list) and isinstance(out, tuple | list):
        pairs = zip(dot, out, strict=True)
        parts: Any = [None if part is None else tangent_like(part, one) for part, one in pairs]
        return type(out)(*parts) if hasattr(out, "_fields") else type(out)(parts)
    if np.shape(dot) != np.shape(out):
        if own(dot) is None and own(out) is not None:
            return np.full_like(out, real_if_real(dot, out))
        dot = np.broadcast_to(dot, np.shape(out))
    return real_if_real(dot, out)


def own_tangent(dot: Any, out: Any) -> Any:
    """`dot` in memory of its own, with the layout of `out`; a number stays one, a list is a new one.

    >>> own_tangent(0.0, np.zeros((2, 2), order="F")).flags.f_contiguous
    True
    """
    if isinstance(out, list):
        return [own_tangent(part, each) for part, each in zip(dot, out, strict=True)]
    if own(out) is None:
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
