"""Higher derivatives the other way: the adjoint of tangents, where a gradient's code is not read again.

In: a function's gradient, what its gradient is asked of, directions. Out: the gradient of the derivative of
the function along these directions; for one direction, the Hessian times it.

Code that looks adjoint memory up when it runs (`Shadows`), that runs steps again (`checkpoint`) or that hands
what it keeps from call to call (recursion) is not read again. The tangent of a function does nothing of the
kind: it mirrors every store, view and call by name, and can be read. And since H v is also the gradient of
<gradient, v>, the adjoint of the tangent gives the same; of the tangent of a tangent, third derivatives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .errors import AdjoinError, Code
from .gradient import Gradient, with_values
from .variants import Variant

__all__ = ["PASSED_OVER", "directional_gradient"]

#: Refusals that say that a gradient's own code cannot be read, for which there is this other way.
PASSED_OVER = frozenset(
    {Code.MUTATION, Code.OPAQUE_CALL, Code.UNSUPPORTED_SYNTAX, Code.NO_RULE, Code.RECURSION}
)


def directional_gradient(
    moving: Sequence[tuple[Gradient, tuple[Any, ...]]],
    wanted: Gradient,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], Variant | None]:
    """The gradient of the derivative of a function along directions.

    Args:
        moving: for each direction, a gradient of the function with respect to the arguments that move along
            it, and the direction, as for `Gradient.tangent`.
        wanted: a gradient with respect to the arguments that the result belongs to.

    Returns:
        One entry per argument that is wanted, and the code that computed it.

    >>> f = Gradient(lambda x: x * x * x, argnums=(0,))
    >>> directional_gradient([(f, (10.0,))], f, (2.0,), {})[0]
    (120.0,)
    >>> directional_gradient([(f, (1.0,)), (f, (10.0,))], f, (2.0,), {})[0]
    (60.0,)
    """
    (first, direction), *rest = moving
    variant, values, free = first._find("tangent", args, kwargs)
    order = list(variant.kinds)

    def places(gradient: Gradient) -> tuple[int, ...]:
        return tuple(order.index(name) for name, _ in gradient.active(args, kwargs))

    values = (*values, *direction)
    for each, direction in rest:
        code = with_values(_gradient(variant.entries[0], places(each)), free)
        variant, given, free = code._find("tangent", values, {})
        values = (*given, *direction)
    adjoint = with_values(_gradient(variant.entries[0], places(wanted)), free)
    value, saved = adjoint.forward(*values)
    found: tuple[Any, ...] = adjoint.adjoint(saved, _last_part(value))
    return found, adjoint._last


@functools.lru_cache(maxsize=256)
def _gradient(function: Callable[..., Any], places: tuple[int, ...]) -> Gradient:
    return Gradient(function, argnums=places)


def _last_part(value: Any, seed: int = 1) -> Any:
    """The seed that selects, of values and tangents in pairs, the tangent of the tangent..."""
    if isinstance(value, tuple):
        return tuple(_last_part(part, seed * place) for place, part in enumerate(value))
    if getattr(value, "shape", ()):
        raise AdjoinError(
            Code.NON_SCALAR_RESULT, "second derivatives need a function whose result is one number"
        )
    return type(value)(seed)
