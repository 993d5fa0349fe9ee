"""Forward mode: `jvp`, `hvp` and `linearize`.

In: a function, a point and a direction. Out: the value there, and how it moves along the direction, from one
run of generated code in which every statement is followed by its tangent.

    value, value_dot = jvp(f, (x,), (x_dot,))        # value_dot = J x_dot
    product = hvp(f, (x,), (x_dot,))                 # H x_dot, the tangent of the generated gradient
    value, f_lin = linearize(f, x)                   # f_lin(x_dot) = J x_dot

Without a point, `jvp(f)` and `hvp(f)` are objects that are called with it later, and looked into: `.source`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from .errors import AdjoinError, Code
from .gradient import FIRST, Argnums, Gradient, gradient_of
from .nested import Differentiated, not_read_inside
from .structures import copied, holds_floats, mapped, number_like
from .variants import Variant

__all__ = ["HessianVector", "Linearized", "Pushforward", "hvp", "jvp", "linearize", "zero_tangent"]


class Pushforward(Differentiated):
    """The tangent of a function, as `jvp(f)` returns it: called with a point and a direction.

    Like that of `QuickGradient`, its `__call__` is a function that was made for calls like the one before.

    Attributes:
        primal: the function itself.
        source: the generated module of the last call, as text; before any, the one for kinds not known.
    """

    __slots__ = ("__call__",)
    __call__: Callable[..., Any]
    with_value = True

    def __init__(self, function: Callable[..., Any]) -> None:
        self.primal = function
        self._by_argnums: dict[tuple[int, ...], Gradient] = {}
        self._last: Gradient | None = None
        self._quick: dict[tuple[Variant, tuple[int, ...]], Callable[..., Any] | None] = {}
        self.__call__ = self._long

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.primal,)

    def _long(self, primals: tuple[Any, ...], tangents: tuple[Any, ...], **kwargs: Any) -> Any:
        """A call; from the second one on for a variant, the next calls for it are quick."""
        self.__call__ = self._long
        moving = _moving(primals, tangents)
        self._last = gradient = self._of(moving)
        found = gradient.tangent(tuple([tangents[i] for i in moving]), *primals, **kwargs)
        code = gradient._last
        if code is not None and not kwargs:
            if (code, moving) not in self._quick:
                self._quick[code, moving] = None
            else:
                quick = self._quick[code, moving] or self._hurried(gradient, primals)
                self._quick[code, moving] = self.__call__ = quick
        return found if self.with_value else found[1]

    def _hurried(self, gradient: Gradient, primals: tuple[Any, ...]) -> Callable[..., Any]:
        """A function for calls like this one, the long way where there is none."""
        found = gradient.quick_tangent(tuple(primals), self._long, self.with_value)
        return self._long if found is None else found

    def _of(self, moving: tuple[int, ...]) -> Gradient:
        if moving not in self._by_argnums:
            self._by_argnums[moving] = gradient_of(self.primal, argnums=moving)
        return self._by_argnums[moving]

    @property
    def source(self) -> str:
        """The generated module, as text."""
        if self._last is not None and self._last._last is not None:
            return self._last._last.text
        return self._of((0,))._without_arguments("tangent").text

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The module for these arguments with all of them moving, as text; nothing of it is run."""
        self.__call__ = self._long
        moving = tuple(i for i, arg in enumerate(args) if holds_floats(arg))
        return self._of(moving)._variant("tangent", args, kwargs).text

    def __repr__(self) -> str:
        return f"<tangent of {getattr(self.primal, '__qualname__', None) or repr(self.primal)}>"


def _moving(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[int, ...]:
    """The positions of the arguments that have a tangent."""
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypeError("primals and tangents are tuples with one entry per argument: jvp(f, (x,), (x_dot,))")
    if len(primals) != len(tangents):
        raise AdjoinError(
            Code.BAD_SEED,
            f"there are {len(primals)} arguments and {len(tangents)} tangents",
            rewrite="give one tangent per argument; None for one that stays as it is",
        )
    return tuple([i for i, dot in enumerate(tangents) if dot is not None and _moves(dot, primals[i])])


def _moves(dot: Any, primal: Any) -> bool:
    return type(dot) in (np.ndarray, float) or holds_floats(primal) or holds_floats(dot)


@functools.lru_cache(maxsize=128)
def _shared(kind: Callable[..., Any], f: Callable[..., Any], *options: Any) -> Any:
    return kind(f, *options)


def _object(kind: Callable[..., Any], f: Callable[..., Any], *options: Any) -> Any:
    """The object for a function, the same for every call, so that code is looked up once."""
    try:
        return _shared(kind, f, *options)
    except TypeError:  # not hashable
        return kind(f, *options)


@overload
def jvp(f: Callable[..., Any], /) -> Pushforward: ...


@overload
def jvp(
    f: Callable[..., Any], /, primals: tuple[Any, ...], tangents: tuple[Any, ...], **kwargs: Any
) -> tuple[Any, Any]: ...


@not_read_inside
def jvp(
    f: Callable[..., Any],
    /,
    primals: tuple[Any, ...] | None = None,
    tangents: tuple[Any, ...] | None = None,
    **kwargs: Any,
) -> Any:
    """The value of a function, and its derivative along a direction (the Jacobian times a vector).

    Args:
        f: a function; its result may have any structure and shape.
        primals: a tuple of its positional arguments.
        tangents: for each of them how it moves, in its structure and shapes; None for one that does not.
        kwargs: arguments by keyword, held constant.

    Returns:
        ``value, value_dot``: the tangent has the structure, shapes and dtypes of the value, None for what has
        none (integers, strings). Without `primals` and `tangents`, a `Pushforward` to call with them.

    Raises:
        AdjoinError: ADJ305 where a tangent is not of the form of its argument.

    >>> jvp(lambda x, y: x * np.sin(y), (2.0, 0.0), (1.0, 3.0))
    (np.float64(0.0), np.float64(6.0))
    >>> print(jvp(lambda x: x * 3.0).source_for(2.0), end="")
    def f_jvp(x, x_dot):
        return x * 3.0, x_dot * 3.0
    """
    pushforward = _object(Pushforward, f)
    if primals is None and tangents is None and not kwargs:
        return pushforward
    if primals is None or tangents is None:
        raise TypeError("jvp needs primals and tangents, or neither")
    return pushforward(primals, tangents, **kwargs)


class HessianVector(Pushforward):
    """Second derivatives along a direction, as `hvp(f)` returns it: the tangent of a gradient."""

    with_value = False

    def __init__(self, function: Callable[..., Any], argnums: Argnums = FIRST) -> None:
        super().__init__(gradient_of(function, argnums=argnums))

    def __reduce__(self) -> tuple[Any, ...]:
        return _product_of, (self.primal,)

    def __repr__(self) -> str:
        name = getattr(self.primal, "__qualname__", None) or repr(self.primal)
        return f"<Hessian of {name} along a direction>"


def _product_of(gradient: Gradient) -> HessianVector:
    made = HessianVector.__new__(HessianVector)
    Pushforward.__init__(made, gradient)
    return made


@overload
def hvp(f: Callable[..., Any], /, *, argnums: Argnums = ...) -> HessianVector: ...


@overload
def hvp(
    f: Callable[..., Any],
    /,
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    argnums: Argnums = ...,
    **kwargs: Any,
) -> Any: ...


@not_read_inside
def hvp(
    f: Callable[..., Any],
    /,
    primals: tuple[Any, ...] | None = None,
    tangents: tuple[Any, ...] | None = None,
    *,
    argnums: Argnums = FIRST,
    **kwargs: Any,
) -> Any:
    """The Hessian of a function times a vector: the tangent of its gradient, for a few times the cost.

    Args:
        f: a function whose result is one number.
        primals, tangents: as for `jvp`.
        argnums: the arguments that the gradient is with respect to, as for `grad`.

    Returns:
        How the gradient moves: an array like the argument (for a tuple `argnums`, a tuple). Without `primals`
        and `tangents`, a `HessianVector` to call with them.

    >>> hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([6., 0.])
    """
    product = _object(HessianVector, f, argnums)
    if primals is None and tangents is None and not kwargs:
        return product
    if primals is None or tangents is None:
        raise TypeError("hvp needs primals and tangents, or neither")
    return product(primals, tangents, **kwargs)


class Linearized(Differentiated):
    """A function's linear part at a point, as `linearize` returns it.

    Attributes:
        source: the generated module, as text.
    """

    def __init__(self, pushforward: Pushforward, primals: tuple[Any, ...]) -> None:
        self.primal = pushforward.primal
        self._pushforward = pushforward
        self._primals = primals

    def __call__(self, *tangents: Any) -> Any:
        """The tangent of the value, for one tangent per argument; None for one that does not move."""
        return self._pushforward(self._primals, tangents)[1]

    @property
    def source(self) -> str:
        return self._pushforward.source_for(*self._primals)

    def __repr__(self) -> str:
        return f"<{self._pushforward!r} at a point>"


@not_read_inside
def linearize(f: Callable[..., Any], /, *primals: Any) -> tuple[Any, Linearized]:
    """The value of a function at a point, and the linear function of tangents there.

    Args:
        f: a function; its result may have any structure and shape.
        primals: its arguments. Arrays among them are copied: later changes do not move the point.

    Returns:
        ``value, f_lin`` with ``f_lin(*tangents)`` what `jvp` gives for the tangent.

    >>> value, f_lin = linearize(lambda x: x * x, np.array([1.0, 2.0]))
    >>> f_lin(np.array([1.0, 1.0])), f_lin(np.array([0.0, 10.0]))
    (array([2., 4.]), array([ 0., 40.]))
    """
    point = tuple(copied(list(primals)))
    pushforward: Pushforward = _object(Pushforward, f)
    tangents = tuple([zero_tangent(x) if holds_floats(x) else None for x in point])
    value, _ = pushforward(point, tangents)
    return value, Linearized(pushforward, point)


def zero_tangent(value: Any) -> Any:
    """The tangent of something that does not move, in its structure."""
    return mapped(
        lambda leaf: leaf * 0 if number_like(leaf) and not isinstance(leaf, np.ndarray) else _zeros(leaf),
        value,
    )


def _zeros(leaf: Any) -> Any:
    return np.zeros_like(leaf) if number_like(leaf) else leaf
