"""Second derivatives the other way: the adjoint of a tangent, where a gradient's code is not differentiated.

In: a function's gradient, what its gradient is asked of, a direction. Out: the Hessian times the direction.

Code that looks adjoint memory up when it runs (`Shadows`) is not read again. The tangent of a function never
does that: it mirrors every store and view by name. And since H v is also the gradient of <gradient, v>, the
adjoint of the tangent gives the same.
"""

from __future__ import annotations

import functools
from typing import Any

from .errors import AdjoinError, Code
from .gradient import Gradient
from .variants import Variant

__all__ = ["PASSED_OVER", "hessian_product"]

#: Refusals that say that a gradient's own code cannot be read, for which there is this other way.
PASSED_OVER = frozenset({Code.MUTATION, Code.OPAQUE_CALL, Code.UNSUPPORTED_SYNTAX, Code.NO_RULE})


def hessian_product(
    moving: Gradient,
    wanted: Gradient,
    direction: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], Variant | None]:
    """The block of the Hessian of a function for two sets of its arguments, times a direction.

    Args:
        moving: a gradient of the function, with respect to the arguments that the direction belongs to.
        wanted: one with respect to the arguments that the result belongs to.
        direction: as for `Gradient.tangent`.

    Returns:
        The product, one entry per argument that is wanted, and the code that computed it.

    >>> f = Gradient(lambda x: x * x * x, argnums=(0,))
    >>> hessian_product(f, f, (10.0,), (2.0,), {})[0]
    (120.0,)
    """
    variant, values, free = moving._find("tangent", args, kwargs)
    function = variant.entries[0]
    names = [name for name, _ in wanted.active(args, kwargs)]
    order = list(variant.kinds)
    places = tuple(order.index(name) for name in names)
    code = functools.partial(function, **free) if free else function
    adjoint = Gradient(code, argnums=places)
    (value, _), saved = adjoint.forward(*values, *direction)
    if hasattr(value, "shape") and value.shape:
        raise AdjoinError(
            Code.NON_SCALAR_RESULT, "second derivatives need a function whose result is one number"
        )
    found: tuple[Any, ...] = adjoint.adjoint(saved, (type(value)(0), type(value)(1)))
    return found, adjoint._last
