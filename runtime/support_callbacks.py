"""What rules say about functions that an operation calls: the derivative of a callback, where it is one.

In: a callback `f` of a rule, as the operation got it. Out: nothing at run time: the transformer reads these
names, and writes the derivative of the callback in their place. A callback holds what it takes from the code
around it (its *captured* values), so that its derivative in them is that of the operation.

    pull_captured(f, seed, x)           seed * d f(x) / d captured, in the structure of `f`
    pull_argument(f, seed, x)           seed * d f(x) / dx
    push_captured(f, f_dot, x)          d f(x) / d captured * f_dot
    pull_all(f, seed, x)                both, the argument's first, in a list
    push_all(f, f_dot, x_dot, x)        the tangent for those of both
    captured_bars(f, q), captured_size(f)   adjoints of what is captured that were laid out in an array
    jacobian_in_argument(f, x)          d f(x) / dx, all of it
    as_it_is(like, function, ...)       function(...) as a constant of the kind of `like`
    attribute_like(like, found, "x")    found.x, of the kind of `like`, or "[:, :]" for a matrix
    item_like(like, found, 0)           found[0], of the kind of `like`
    integrated(like, h, a, b)           the integral of h, of each of its parts that are like those of `like`
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

__all__ = [
    "AsItIs",
    "as_it_is",
    "attribute_like",
    "captured_bars",
    "captured_size",
    "constant",
    "integrated",
    "item_like",
    "jacobian_in_argument",
    "jacobian_rows",
    "pull_all",
    "pull_argument",
    "pull_captured",
    "push_all",
    "push_captured",
]


class AsItIs:
    """A function as an operation whose result is a constant for the derivative.

    >>> AsItIs(len)([1, 2])
    2
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@cache
def constant(function: Callable[..., Any]) -> AsItIs:
    """The one `AsItIs` of a function.

    >>> constant(len) is constant(len)
    True
    """
    return AsItIs(function)


def pull_captured(f: Any, seed: Any, *arguments: Any) -> Any:
    """The adjoints of what `f` has captured, for the adjoint `seed` of `f(*arguments)`."""
    raise _only_read("pull_captured")


def pull_argument(f: Any, seed: Any, *arguments: Any) -> Any:
    """The adjoint of the first argument, for the adjoint `seed` of `f(*arguments)`."""
    raise _only_read("pull_argument")


def push_captured(f: Any, f_dot: Any, *arguments: Any) -> Any:
    """The tangent of `f(*arguments)` for the tangents `f_dot` of what `f` has captured."""
    raise _only_read("push_captured")


def pull_all(f: Any, seed: Any, *arguments: Any) -> Any:
    """The adjoint of the first argument and then those of what `f` has captured, as a list."""
    raise _only_read("pull_all")


def push_all(f: Any, f_dot: Any, x_dot: Any, *arguments: Any) -> Any:
    """The tangent of `f(*arguments)` for those of what `f` has captured and of the first argument."""
    raise _only_read("push_all")


def captured_bars(f: Any, bars: Any) -> Any:
    """Adjoints of what `f` has captured, one after the other in an array, in the structure of `f`."""
    raise _only_read("captured_bars")


def captured_size(f: Any) -> Any:
    """How many numbers `f` has captured that carry derivatives."""
    raise _only_read("captured_size")


def jacobian_in_argument(f: Any, x: Any) -> Any:
    """The derivative of `f` at `x`: a number for a function of a number, else a matrix."""
    raise _only_read("jacobian_in_argument")


def as_it_is(like: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)` as a constant, of the kind of `like`; of an unknown object for None."""
    raise _only_read("as_it_is")


def attribute_like(like: Any, found: Any, name: str) -> Any:
    """An attribute of what `as_it_is` gave, an array of doubles or a number like `like`."""
    raise _only_read("attribute_like")


def item_like(like: Any, found: Any, position: int) -> Any:
    """An item of what `as_it_is` gave, an array of doubles or a number like `like`."""
    raise _only_read("item_like")


def integrated(like: Any, h: Any, a: Any, b: Any) -> Any:
    """The integral of `h` from `a` to `b`, part by part; the parts are like those of `like`."""
    raise _only_read("integrated")


def _only_read(name: str) -> NotImplementedError:
    return NotImplementedError(f"{name} is read by the transformer, and does nothing at run time")


def jacobian_rows(f: Any, x: Any) -> Any:
    """The derivative of a vector function `f` at `x`, a row for each component."""
    return np.stack([pull_argument(f, unit, x) for unit in np.eye(np.size(x))])
