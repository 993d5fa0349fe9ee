"""The public face: `grad`, `value_and_grad`, `vjp`.

In: a function. Out: its gradient: an object to call, and to look into; or a value and its pullback.

    @grad
    def loss(w, X, y): ...

    loss(w, X, y)                                       # the gradient with respect to w
    value, (w_bar, X_bar) = value_and_grad(f, argnums=(0, 1))(w, X)
    value, pullback = vjp(f, w, X)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, overload

from .gradient import FIRST, Argnames, Argnums, Gradient, gradient_of
from .nested import makes_derivatives
from .structures import holds_floats

__all__ = ["grad", "of_every_argument", "value_and_grad", "vjp"]


@overload
def grad(
    f: Callable[..., Any],
    /,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Gradient: ...


@overload
def grad(
    *,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...


def grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = FIRST,
    argnames: Argnames | None = None,
    has_aux: bool = False,
    like: str | Mapping[str, Any] | None = None,
) -> Any:
    """The gradient of a function whose result is one number.

    Bare as a decorator (``@grad``), with options (``@grad(argnums=1)``), or called.

    Args:
        f: a function, method, lambda, `functools.partial`... whose source can be read.
        argnums: the position of an argument, negative from the end; or a tuple of positions. One position
            gives one gradient, a tuple a tuple.
        argnames: names, likewise, instead of positions or in addition to them.
        has_aux: `f` returns a pair: what is differentiated, and what is passed on as it is.
        like: the kinds of arguments that `source` is for while there has been no call, for example
            ``"w: f8[:], X: f8[:, :], n: int, mode: 'fast'"``.

    Returns:
        A `Gradient`. Called with the arguments of `f`, it returns gradients in the structure, shapes and
        dtypes of the arguments they belong to (with `has_aux`, a pair of those and the second part).
        For complex arguments it is the direction of steepest ascent. Called with a `Tensor`, it gives
        tensors, made by one node whose backward is the generated second derivative.

    Raises:
        AdjoinError: when called, where the gradient cannot be known to be right.

    >>> import numpy as np
    >>> def loss(w, x): return np.sum((w * x) ** 2)
    >>> grad(loss)(np.array([1.0, 2.0]), 3.0)
    array([18., 36.])
    >>> grad(loss, argnums=(1, 0))(2.0, 3.0)
    (24.0, 36.0)
    """
    options: dict[str, Any] = {"argnums": argnums, "argnames": argnames, "has_aux": has_aux, "like": like}
    return functools.partial(gradient_of, **options) if f is None else gradient_of(f, **options)


@overload
def value_and_grad(
    f: Callable[..., Any],
    /,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Gradient: ...


@overload
def value_and_grad(
    *,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...


def value_and_grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = FIRST,
    argnames: Argnames | None = None,
    has_aux: bool = False,
    like: str | Mapping[str, Any] | None = None,
) -> Any:
    """Value and gradient in one run, as a pair; else as `grad`.

    With `has_aux` the pair is ``((value, aux), gradient)``.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    options: dict[str, Any] = {"argnums": argnums, "argnames": argnames, "has_aux": has_aux, "like": like}
    options["with_value"] = True
    return functools.partial(gradient_of, **options) if f is None else gradient_of(f, **options)


makes_derivatives(grad)
makes_derivatives(value_and_grad, with_value=True)


@functools.lru_cache(maxsize=128)
def _of_every_argument(function: Callable[..., Any]) -> Gradient:
    return gradient_of(function, argnums=None)


def of_every_argument(function: Callable[..., Any]) -> Gradient:
    """The gradient with respect to every positional argument that has one; for `vjp` and `check`."""
    try:
        return _of_every_argument(function)
    except TypeError:  # not hashable
        return gradient_of(function, argnums=None)


def vjp(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """The value of a function, and a function that pulls a seed for it back to the arguments.

    Args:
        f: a function; its result may have any structure and shape.
        args: its arguments. Those given by keyword are held constant.

    Returns:
        ``value, pullback``. ``pullback(seed)``, with a seed of the form of the value, returns one entry per
        positional argument: its gradient, or None for what has none (integers, strings, functions).

    Raises:
        AdjoinError: ADJ305 by the pullback, for a seed that is not of the form of the value.

    >>> import numpy as np
    >>> value, pullback = vjp(lambda A, x: A @ x, np.eye(2), np.array([3.0, 4.0]))
    >>> pullback(np.array([1.0, 0.0]))
    (array([[3., 4.], [0., 0.]]), array([1., 0.]))
    """
    gradient = of_every_argument(f)
    value, saved = gradient.forward(*args, **kwargs)
    active = {id(argument) for _, argument in gradient.active(args, kwargs)}
    places = [id(arg) in active and holds_floats(arg) for arg in args]

    def pullback(seed: Any = 1.0) -> tuple[Any, ...]:
        """One entry per argument, for a seed of the form of the value."""
        found = iter(gradient.adjoint(saved, seed))
        return tuple([next(found) if place else None for place in places])

    return value, pullback
