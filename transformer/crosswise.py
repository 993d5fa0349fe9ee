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
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import AdjoinError, Code
from .gradient import Gradient, with_values
from .kinds import Kind
from .variants import Variant

__all__ = ["PASSED_OVER", "directional_gradient", "variant_for_call", "variant_without_arguments"]

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
    adjoint, values = _code(moving, wanted, args, kwargs)
    value, saved = adjoint.forward(*values)
    found: tuple[Any, ...] = adjoint.adjoint(saved, _last_part(value))
    return found, adjoint._last


def variant_for_call(
    moving: Sequence[tuple[Gradient, tuple[Any, ...]]],
    wanted: Gradient,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Variant:
    """The code that `directional_gradient` runs."""
    adjoint, values = _code(moving, wanted, args, kwargs)
    return adjoint._find("split", values, {})[0]


def variant_without_arguments(moving: Sequence[Gradient], wanted: Gradient) -> Variant:
    """The code that `directional_gradient` runs for the kinds that `like` and annotations state."""
    variant = moving[0]._without_arguments("tangent")
    kinds: dict[str, Kind] = dict(variant.kinds)
    for number, gradient in enumerate((*moving[1:], wanted)):
        parameters = list(inspect.signature(variant.entries[0]).parameters)[len(kinds) :]
        moved = [list(kinds.values())[place] for place in variant.wrt]
        kinds.update(zip(parameters, moved, strict=False))
        places = gradient._without_arguments("tangent").wrt
        code = Gradient(variant.entries[0], argnums=places, like=kinds)
        variant = code._without_arguments("tangent" if number < len(moving) - 1 else "split")
    return variant


def _code(
    moving: Sequence[tuple[Gradient, tuple[Any, ...]]],
    wanted: Gradient,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Gradient, tuple[Any, ...]]:
    """The gradient of the innermost tangent, and what it is called with."""
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
    return with_values(_gradient(variant.entries[0], places(wanted)), free), values


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
    if hasattr(value, "__array_namespace__") and not isinstance(value, np.generic):
        return value.__array_namespace__().full_like(value, seed)
    return type(value)(seed)
