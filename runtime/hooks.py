"""A value whose adjoint is looked at or changed in the middle of a reverse sweep.

In: a value and a function of its adjoint. Out: the value; what comes before it gets the adjoint that the
function returns.

    h = adjoin.adjoint_hook(h, lambda h_bar: np.clip(h_bar, -1.0, 1.0))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def adjoint_hook(x: T, hook: Callable[[Any], Any]) -> T:
    """`x` itself; where its gradient is taken, the adjoint of `x` becomes ``hook(adjoint)``.

    For use in a function that is differentiated: to clip, scale, check or print an adjoint on its way back.
    The statements of `hook` stand in the generated reverse sweep where the adjoint of `x` is complete, and
    read the values that its names had in the forward sweep. Plain calls and tangents (`jvp`) do not see it.
    Second derivatives are those of the gradient with the hook in it. Where nothing depends on the value that
    is returned, the hook is not called. Of an array that is written to later, it gets the adjoint of its
    memory.

    Args:
        x: a number or an array, or in eager code a `Tensor` (which is copied).
        hook: a function of the adjoint of `x`. It returns another adjoint, an array of the shape of `x` or a
            number that stands for all of it; or None, which leaves the adjoint as it is.

    Raises:
        AdjoinError: by `grad`, where the hook cannot be read, returns another shape, or writes to arrays or
            lists of the function around it.

    >>> import numpy as np
    >>> from adjoin import adjoint_hook, grad
    >>> def f(x):
    ...     y = adjoint_hook(x * x, lambda y_bar: np.clip(y_bar, -1.0, 1.0))
    ...     return np.sum(y * y)
    >>> grad(f)(np.array([0.5, 3.0]))
    array([0.5, 6. ])
    """
    if getattr(x, "requires_grad", False):
        x = x.clone()  # type: ignore[attr-defined]
        x.register_hook(hook)  # type: ignore[attr-defined]
    return x
