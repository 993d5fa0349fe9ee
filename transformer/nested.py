"""Derivatives that are taken inside a function that is itself differentiated: what marks them.

In: the functions and classes of the public face. Out: `MAKERS` and `Differentiated`, by which lowering, which
stands below that face, knows them when it meets them in a function.

    def outer(x):
        return x * grad(inner)(x)        # `grad` is in MAKERS, `grad(inner)` is read as a derivative
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["MAKERS", "NOT_READ", "Differentiated", "makes_derivatives", "not_read_inside"]

#: Functions that make a derivative of their first argument, and the options that this stands for.
MAKERS: dict[Any, dict[str, Any]] = {}

#: Functions of the public face that are refused inside another function.
NOT_READ: set[Any] = set()

F = TypeVar("F", bound=Callable[..., Any])


def makes_derivatives(function: F, **options: Any) -> F:
    """Note that `function(f, ...)` is a derivative of `f`, with these options for its `Gradient`."""
    MAKERS[function] = options
    return function


def not_read_inside(function: F) -> F:
    """Decorator: a call of the function inside a function that is differentiated is refused, by its name."""
    NOT_READ.add(function)
    return function


class Differentiated:
    """Base of objects that are derivatives of a function.

    Attributes:
        primal: the function.
        options: what of its derivative is asked, as the keywords of `Gradient`; None where such an object
            cannot be read inside another function.
    """

    primal: Any
    options: dict[str, Any] | None = None
