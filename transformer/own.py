"""What comes back: gradients in the form of their arguments, with memory of their own.

In: what the code of a variant has found, the arguments, the values it took from outside. Out: the gradients
as the caller gets them.

    own(variant, (np.float64(2.0),), (3.0,), {})     # 2.0, a Python float
    own(variant, (x,), (x,), {}) is x                # False: that one is the caller's

`structures.conform` and `structures.Apart` do this for anything; here are the cases that need a glance only.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

from .structures import Apart, conform
from .variants import Variant

__all__ = ["is_own", "own"]


def own(variant: Variant, gradients: tuple[Any, ...], values: tuple[Any, ...], free: dict[str, Any]) -> Any:
    """Gradients in the form of their arguments, with memory of their own: what a call returns.

    Args:
        gradients: as the variant's code gives them.
        values: the arguments.
        free: other values whose memory the gradients must not share.
    """
    done: list[Any] = []
    for number, index in enumerate(variant.wrt):
        gradient, like = gradients[number], values[index]
        if type(gradient) is np.ndarray:
            if (
                type(like) is np.ndarray
                and gradient.base is None
                and gradient.shape == like.shape
                and gradient.dtype == like.dtype
                and getrefcount(gradient) == _ALONE
            ):
                done.append(gradient)
                continue
        elif (type(gradient) is float and type(like) is float) or is_own(gradient, like):
            done.append(gradient)
            continue
        done.append(Apart((*values, *free.values(), *done))(conform(gradient, like)))
    return done[0] if variant.single else tuple(done)


def is_own(gradient: Any, like: Any) -> bool:
    """Whether a plain container is in the form of its argument already, with arrays that nobody else has.

    False where that would take a closer look.
    """
    kind = type(like)
    if (kind is not dict and kind is not list and kind is not tuple) or type(gradient) is not kind:
        return False
    if len(gradient) != len(like) or gradient is like:
        return False
    for key in like if kind is dict else range(len(like)):
        part, x = gradient[key], like[key]
        if type(x) is np.ndarray:
            if not (
                type(part) is np.ndarray
                and part.base is None
                and part.shape == x.shape
                and part.dtype == x.dtype
                and getrefcount(part) == _ALONE
            ):
                return False
        elif type(x) is float:
            if type(part) is not float:
                return False
        elif not is_own(part, x):
            return False
    return True


def _references() -> int:
    """What `getrefcount` says of an array that nothing refers to but a tuple and a name, as above."""
    arrays = (np.empty(0),)
    for number in (0,):
        array = arrays[number]
        if type(array) is np.ndarray:
            return getrefcount(array)
    raise AssertionError


#: An array with that many references, whose memory is its own, is known to nobody else.
_ALONE = _references()
