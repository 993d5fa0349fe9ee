"""Functions that are constant between their jumps: recorded, with a gradient of zero.

In: an array. Out: what the NumPy function gives. The table calls these functions nondifferentiable; users of
an eager library expect ``x.floor().sum().backward()`` to fill `.grad` with zeros, so each has a rule here.

    >>> from adjoin.runtime import tensor
    >>> np.floor(tensor(1.5, requires_grad=True))
    tensor(1., grad_fn=<FloorBackward0>)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rule import elementwise

__all__ = ["STEPS", "ceil", "floor", "rint", "round_", "trunc"]


def floor(x: Any) -> Any:
    """``np.floor``."""
    return np.floor(x)


def ceil(x: Any) -> Any:
    """``np.ceil``."""
    return np.ceil(x)


def trunc(x: Any) -> Any:
    """``np.trunc``."""
    return np.trunc(x)


def rint(x: Any) -> Any:
    """``np.rint``."""
    return np.rint(x)


def round_(x: Any, decimals: int = 0) -> Any:
    """``np.round``."""
    return np.round(x, decimals)


_SAMPLE = np.array([0.3, -1.6, 2.4])


@elementwise(floor, ceil, trunc, rint, samples=[(_SAMPLE,), (0.7,)])
def _step(g: Any, out: Any, x: Any) -> Any:
    return np.zeros_like(g)


@elementwise(round_, wrt=("x",), samples=[(_SAMPLE,), (_SAMPLE, 1)])
def _round(g: Any, out: Any, x: Any, decimals: int = 0) -> Any:
    return np.zeros_like(g)


#: NumPy's function to the one with a rule.
STEPS: dict[Any, Any] = {
    np.floor: floor,
    np.ceil: ceil,
    np.trunc: trunc,
    np.rint: rint,
    np.round: round_,
    np.around: round_,
}
