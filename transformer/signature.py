"""Signatures: what of a call's arguments decides which code is generated.

In: a function's `Source` and the arguments of a call. Out: which parameters they are (`Binding`), and a key
per argument (`key_of`) that is equal for two arguments exactly where the same code serves both.

    key_of(np.ones((3, 1)))     # (dtype('float64'), (False, True)): the dtype, and which sizes are 1
    key_of(2.0)                 # <class 'float'>
    key_of({"w": 2.0})          # (dict, ('w',), (float,))

Keys are compared on every call, so they are made of what is cheap to get at, hash and compare. `spelled`
writes one as text that means the same in another process.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import AdjoinError, Code
from .kinds import CLOSED, LONGEST_UNROLLED, is_function
from .source import Source

__all__ = ["Binding", "bind", "default_of", "key_of", "parameters_of", "spelled"]

#: Immutable numbers: of these the type says everything.
NUMBERS = frozenset({float, int, complex, *(np.dtype(code).type for code in "?bBhHiIlLqQefdgFDG")})


def sharing(names: tuple[str, ...], values: tuple[Any, ...]) -> tuple[str, ...]:
    """The names of array arguments that share memory with another one.

    >>> a = np.zeros(3)
    >>> sharing(("x", "y", "z"), (a, a[1:], np.zeros(3)))
    ('x', 'y')
    """
    arrays = [(n, v) for n, v in zip(names, values, strict=False) if isinstance(v, np.ndarray)]
    if len(arrays) < 2:
        return ()
    return tuple(n for n, v in arrays if any(m != n and np.may_share_memory(v, w) for m, w in arrays))


def key_of(value: Any) -> Hashable:
    """The part of a signature that one argument stands for."""
    return _key(value, ())


def _key(value: Any, around: tuple[int, ...]) -> Hashable:
    """`around`: the identities of the containers that the value is in, which it may refer back to."""
    type_ = type(value)
    if type_ is np.ndarray:
        shape = value.shape
        return value.dtype, tuple([n == 1 for n in shape]) if 1 in shape else len(shape)
    if type_ in NUMBERS:
        return type_  # type: ignore[return-value, unused-ignore]
    if type_ is dict or type_ is list or type_ is tuple:
        return _key_of_container(value, type_, around)
    if value is None or value is Ellipsis or isinstance(value, str | bytes | bool):
        return type_, value
    if isinstance(value, np.matrix | np.ma.MaskedArray):
        raise AdjoinError(
            Code.NOT_DIFFERENTIABLE_ARGUMENT,
            f"operators mean other things for `{type_.__name__}` than for arrays",
            rewrite="pass np.asarray(...) of it",
        )
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return type_, str(value.dtype), tuple([n == 1 for n in value.shape])
    if is_function(value):
        return type_, _Called(value)
    return _key_of_container(value, type_, around)


def _key_of_container(value: Any, type_: type, around: tuple[int, ...]) -> Hashable:
    if id(value) in around:
        return type_, "around"
    around = (*around, id(value))
    if isinstance(value, dict):
        return type_, tuple(value), tuple([_key(v, around) for v in value.values()])
    if isinstance(value, list) and len(value) > LONGEST_UNROLLED:
        return type_, "many", tuple(dict.fromkeys([_key(v, around) for v in value]))
    if isinstance(value, tuple | list):
        return type_, tuple([_key(v, around) for v in value])
    if hasattr(value, "__dict__") and type_.__module__.partition(".")[0] not in CLOSED:
        attributes = vars(value)
        return type_, tuple(attributes), tuple([_key(v, around) for v in attributes.values()])
    return type_  # type: ignore[return-value, unused-ignore]


class _Called:
    """A function, class or other callable in a key: it is the same as itself alone."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Called):
            return False
        mine, its = self.value, other.value
        if isinstance(mine, types.MethodType) and isinstance(its, types.MethodType):  # made anew each time
            return mine.__func__ is its.__func__ and mine.__self__ is its.__self__
        return mine is its

    def __hash__(self) -> int:
        if isinstance(self.value, types.MethodType):
            return hash((id(self.value.__func__), id(self.value.__self__)))
        return id(self.value)


def spelled(key: Any, called: Callable[[Any], str]) -> str:
    """A key as text that is the same in every process.

    Args:
        key: from `key_of`.
        called: says of a callable what would have to change for other code to be generated.

    >>> spelled(key_of((1.0, np.ones(3))), repr)
    '(builtins.tuple, (builtins.float, (<f8, 1)))'
    """
    if isinstance(key, tuple):
        return f"({', '.join(spelled(part, called) for part in key)})"
    if isinstance(key, type):
        return f"{key.__module__}.{key.__qualname__}"
    if isinstance(key, np.dtype):
        return key.str
    return called(key.value) if isinstance(key, _Called) else repr(key)


# -- binding -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Binding:
    """Which parameters the arguments of a call are, in the order of the function's own signature.

    Attributes:
        names: a name for each value: that of the parameter; for `*rest`, `rest_0`, `rest_1` and so on.
        places: where each value is: an index into the positional arguments, the name of a keyword
            argument, or what looks up a default that a gradient is asked of.
        positional: those of the names that a position can mean.
        spread: for `*rest`, how many there are.
        defaults: the names of the parameters that have one.
    """

    names: tuple[str, ...]
    places: tuple[int | str | Callable[[], Any], ...]
    positional: tuple[str, ...]
    spread: tuple[tuple[str, int], ...]
    defaults: frozenset[str]

    @property
    def in_order(self) -> bool:
        """Whether the positional arguments, as they are, are the values."""
        return self.places == tuple(range(len(self.places)))

    def values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(
            [
                args[place]
                if isinstance(place, int)
                else kwargs[place]
                if isinstance(place, str)
                else place()
                for place in self.places
            ]
        )


def parameters_of(source: Source) -> list[inspect.Parameter]:
    """The parameters that a call still has to give or may give, bound ones taken off."""
    every = list(_signature(source).parameters.values())
    ahead = len(source.args)
    taken = [p for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:ahead]
    return [p for p in every if p not in taken]


def default_of(function: types.FunctionType, name: str) -> Callable[[], Any]:
    """What looks up the default of a parameter, which may be given another one at any time."""

    def get() -> Any:
        by_name = function.__kwdefaults__ or {}
        if name in by_name:
            return by_name[name]
        code, values = function.__code__, function.__defaults__ or ()
        return values[code.co_varnames.index(name) - code.co_argcount + len(values)]

    return get


def _signature(source: Source) -> inspect.Signature:
    return inspect.signature(source.function, follow_wrapped=False)


def bind(
    source: Source, args: tuple[Any, ...], kwargs: dict[str, Any], asked: tuple[int | str, ...]
) -> Binding:
    """Bind the arguments of a call.

    Args:
        asked: positions and names that a gradient is asked of; a parameter among them that the call leaves
            to its default becomes one of the names.

    Raises:
        TypeError: where calling the function would.
        AdjoinError: ADJ304 for a position or name that the function does not have.
    """
    _signature(source).bind(*source.args, *args, **{**source.keywords, **kwargs})
    parameters = parameters_of(source)
    places: dict[str, int | str | Callable[[], Any]] = {}
    positional: list[str] = []
    spread: list[tuple[str, int]] = []
    index = 0
    for p in parameters:
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            if p.name not in source.keywords:
                positional.append(p.name)
            if index < len(args) and p.name not in source.keywords:
                places[p.name] = index
                index += 1
            elif p.name in kwargs and p.kind is not p.POSITIONAL_ONLY:
                places[p.name] = p.name
        elif p.kind is p.VAR_POSITIONAL:
            spread.append((p.name, len(args) - index))
            rest = [f"{p.name}_{i}" for i in range(len(args) - index)]
            positional.extend(rest)
            places.update(zip(rest, range(index, len(args)), strict=True))
        elif p.kind is p.KEYWORD_ONLY and p.name in kwargs:
            places[p.name] = p.name
    for name in kwargs:
        if places.setdefault(name, name) != name:
            raise AdjoinError(
                Code.UNSUPPORTED_SYNTAX,
                f"the keyword argument {name!r} has the name of a positional-only parameter",
                where=source.where(),
                rewrite="give one of the two another name",
            )
    defaults = frozenset(p.name for p in parameters if p.default is not p.empty)
    bound = Binding((), (), tuple(positional), tuple(spread), defaults)
    for name in names_asked(source, bound, tuple(places), asked):
        places.setdefault(name, default_of(source.function, name))
    order = {p.name: i for i, p in enumerate(parameters)}
    # a default that comes in goes where its parameter stands; the entries of `*rest` follow `rest`
    names = sorted(places, key=lambda name: (_rank(name, order, spread), list(places).index(name)))
    return Binding(tuple(names), tuple(places[n] for n in names), tuple(positional), tuple(spread), defaults)


def _rank(name: str, order: dict[str, int], spread: list[tuple[str, int]]) -> int:
    if name in order:
        return order[name]
    star = next((s for s, count in spread if name in {f"{s}_{i}" for i in range(count)}), None)
    return len(order) if star is None else order[star]


def names_asked(
    source: Source, binding: Binding, given: tuple[str, ...], asked: tuple[int | str, ...]
) -> tuple[str, ...]:
    """The names of the parameters that positions and names mean.

    Raises:
        AdjoinError: ADJ304 where there is no such parameter.
    """
    found = []
    for each in asked:
        if isinstance(each, str):
            name = each if each in given or each in binding.defaults else None
        else:
            inside = -len(binding.positional) <= each < len(binding.positional)
            name = binding.positional[each] if inside else None
        if name is None or (name not in given and name not in binding.defaults):
            known = dict.fromkeys([*binding.positional, *given, *sorted(binding.defaults)])
            what = f"named {each!r}" if isinstance(each, str) else f"at position {each}"
            raise AdjoinError(
                Code.UNKNOWN_ARGUMENT,
                f"`{source.name}` has no argument {what}; it has {', '.join(known) or 'none'}",
                where=source.where(),
                rewrite="give one of these names, or a position counted from 0",
            )
        found.append(name)
    return tuple(found)
