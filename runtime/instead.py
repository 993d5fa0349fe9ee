"""Functions that call functions: what the transformer reads instead of them.

In: a function of a library that takes a callback, and a body that says what it computes in terms that have
derivatives. Out: an entry in `INSTEAD`, by the function.

    @instead(scipy.optimize.brentq, f=NUMBER, only={"full_output": (False,)})
    def brentq(f, a, b, **options):
        return root_point(as_it_is(0.0, scipy.optimize.brentq, f, a, b, **options), f)

The arguments come by the function's own names. What a caller gives as `args` is bound to the callbacks. An
option with a value that is not covered is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .rule import import_families

__all__ = ["INSTEAD", "NUMBER", "Instead", "Spec", "instead", "instead_of", "like", "parameters", "vector"]

#: A parameter of a callback: a Python float.
NUMBER = "number"
Spec = str | tuple[str, ...]


def like(name: str) -> str:
    """A parameter of a callback: an array or number like the argument `name` of the operation."""
    return f"like {name}"


def vector(name: str) -> str:
    """A parameter of a callback: an array of doubles with the shape of the argument `name`."""
    return f"vector {name}"


def parameters(callbacks: Mapping[str, Spec]) -> dict[str, tuple[str, ...]]:
    """What each callback is called with, one entry for each argument.

    >>> parameters({"f": NUMBER, "fun": (NUMBER, like("y0"))})
    {'f': ('number',), 'fun': ('number', 'like y0')}
    """
    return {name: (spec,) if isinstance(spec, str) else spec for name, spec in callbacks.items()}


@dataclass(frozen=True)
class Instead:
    """What is read instead of a function.

    Attributes:
        callbacks: for each parameter that is a callback, what it is called with.
        arrays: callbacks of which the result is made an array, as the function does.
        only: for options, the values that are covered; with none, the option is refused whenever it is given.
    """

    body: Callable[..., Any]
    callbacks: dict[str, tuple[str, ...]]
    arrays: tuple[str, ...] = ()
    only: dict[str, tuple[Any, ...]] = field(default_factory=dict)


#: By the function that is called.
INSTEAD: dict[Any, Instead] = {}


def instead(
    *functions: Callable[..., Any],
    arrays: tuple[str, ...] = (),
    only: dict[str, tuple[Any, ...]] | None = None,
    **callbacks: Spec,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: read the body where one of the functions is called."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            INSTEAD[function] = Instead(body, parameters(callbacks), arrays, only or {})
        return body

    return register


def instead_of(function: Any) -> Instead | None:
    """What is read instead of a function, or None."""
    try:
        found = INSTEAD.get(function)
    except TypeError:  # unhashable
        return None
    if found is None and import_families():
        found = INSTEAD.get(function)
    return found
