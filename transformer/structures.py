"""Structures of numbers and arrays: what an argument holds, and its gradient in the same form.

In: an argument as people pass it (a number, an array, tuples, lists, dicts, named tuples and dataclasses of
them) and what generated code has found for it. Out: a gradient with the structure, shapes and dtypes of the
argument, that shares memory with nothing else.

    conform(np.float64(2.0), 3.0)           # 2.0, a Python float
    conform(2.0, np.array(3.0, "f4"))       # array(2., dtype=float32)
    same_form({"a": 1.0}, {"a": 2.0})       # True
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..runtime.array_modules import copy_of
from .errors import AdjoinError, Code
from .kinds import is_function, is_sparse

__all__ = [
    "Apart",
    "conform",
    "copied",
    "holds_floats",
    "leaves",
    "mapped",
    "members",
    "number_like",
    "owner_of",
    "rebuilt",
    "same_form",
    "with_leaves",
]


def members(value: Any) -> list[Any] | None:
    """The members of a container; None for a leaf."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, tuple | list):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return None


def rebuilt(value: Any, new: list[Any]) -> Any:
    """A container of the same type and keys with other members."""
    if isinstance(value, dict):
        return type(value)(zip(value, new, strict=True))
    if isinstance(value, tuple | list):
        return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
    made = object.__new__(type(value))  # `__init__` may compute, or not take every field
    for field, member in zip(dataclasses.fields(value), new, strict=True):
        object.__setattr__(made, field.name, member)
    return made


def mapped(change: Callable[..., Any], value: Any, *others: Any) -> Any:
    """The structure of `value` with `change(leaf, *leaves of the others)` for every leaf.

    >>> mapped(lambda a, b: a + b, (1.0, [2.0]), (10.0, [20.0]))
    (11.0, [22.0])
    """
    inside = members(value)
    if inside is None:
        return change(value, *others)
    parts = zip(inside, *(members(other) or () for other in others), strict=True)
    return rebuilt(value, [mapped(change, *part) for part in parts])


def with_leaves(value: Any, new: Iterable[Any]) -> Any:
    """The structure of `value` with other leaves, in order.

    >>> with_leaves({"a": 1, "b": (2, 3)}, "xyz")
    {'a': 'x', 'b': ('y', 'z')}
    """
    in_order = iter(new)
    return mapped(lambda leaf: next(in_order), value)


def leaves(value: Any) -> Iterator[Any]:
    """Every leaf, in order."""
    inside = members(value)
    if inside is None:
        yield value
        return
    for member in inside:
        yield from leaves(member)


def number_like(value: Any) -> bool:
    """Whether a leaf is a number or array of a float or complex dtype, so that it has a gradient."""
    if isinstance(value, float | complex):
        return True
    dtype = getattr(value, "dtype", None)
    floats = dtype is not None and hasattr(value, "shape") and getattr(dtype, "kind", "") in "fcO"
    return floats and not is_sparse(value)


def holds_floats(value: Any) -> bool:
    """Whether anything in a value has a gradient.

    >>> holds_floats({"n": 3, "w": [1.0]}), holds_floats((1, "text", None))
    (True, False)
    """
    return any(number_like(leaf) for leaf in leaves(value))


def same_form(a: Any, b: Any) -> bool:
    """Whether two values have the same containers, keys and shapes."""
    inside, other = members(a), members(b)
    if inside is None or other is None:
        return inside is other and np.shape(a) == np.shape(b)
    if isinstance(a, dict) and (not isinstance(b, dict) or list(a) != list(b)):
        return False
    return len(inside) == len(other) and all(map(same_form, inside, other))


def copied(value: Any) -> Any:
    """A copy that can be written to; arrays that were one array, or views of one, still are.

    >>> a = np.zeros(3)
    >>> b, c = copied((a, a[1:]))
    >>> b is not a, np.shares_memory(b, c)
    (True, True)
    """
    memory: dict[int, Any] = {}

    def leaf(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            known = hasattr(x, "copy") or hasattr(x, "__array_namespace__")
            return copy_of(x) if known and hasattr(x, "dtype") else x
        owner = owner_of(x)
        if x.size == 0 or owner.dtype == object or not owner.flags.forc:
            return x.copy()
        if id(owner) not in memory:
            memory[id(owner)] = np.empty(owner.nbytes, np.uint8)
            np.ndarray(owner.shape, owner.dtype, memory[id(owner)], 0, owner.strides)[...] = owner
        offset = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return np.ndarray(x.shape, x.dtype, memory[id(owner)], offset, x.strides)

    return mapped(leaf, value)


def owner_of(array: Any) -> Any:
    """The array whose memory an array shows: itself, or what it is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


# -- gradients ---------------------------------------------------------------------------------------


def conform(gradient: Any, like: Any) -> Any:
    """What generated code found for an argument, in the structure, shape and dtype of the argument.

    Leaves that carry no gradient (integers, strings, None) have None. A sum of no terms is a plain zero.

    >>> conform((np.float64(1.0), None, 0.0), (2.0, "text", np.ones(2)))
    (1.0, None, array([0., 0.]))
    """
    inside = members(like)
    if inside is None:
        return _conform_leaf(gradient, like) if number_like(like) else None
    found = [None] * len(inside) if gradient is None else members(gradient)
    assert found is not None and len(found) == len(inside), f"a gradient {gradient!r} for {type(like)}"
    return rebuilt(like, [conform(g, x) for g, x in zip(found, inside, strict=True)])


def _conform_leaf(gradient: Any, like: Any) -> Any:
    assert gradient is not None, "no gradient was generated for a part of an argument"
    if not isinstance(like, np.ndarray):
        if hasattr(like, "shape") and not isinstance(like, np.generic):  # another array module's
            if isinstance(gradient, np.ndarray):
                raise AdjoinError(
                    Code.NO_RULE,
                    f"the gradient of `{type(like).__name__}` is NumPy's: the function copies it to the host",
                    rewrite="use the array's own namespace, x.__array_namespace__()",
                )
            return gradient if hasattr(gradient, "shape") else gradient + 0 * like
        assert np.ndim(gradient) == 0, f"a gradient of shape {np.shape(gradient)} for a number"
        return _scalar(gradient, type(like))
    dtype = like.dtype
    array = np.asarray(gradient)
    if dtype.kind == "f" and array.dtype.kind == "c":
        array = array.real
    if array.shape == like.shape:
        return array if isinstance(gradient, np.ndarray) and array.dtype == dtype else array.astype(dtype)
    assert not array.any(), f"a gradient of shape {array.shape} for an array of shape {like.shape}"
    return np.zeros(like.shape, dtype)


def _scalar(gradient: Any, type_: type) -> Any:
    if not issubclass(type_, complex | np.complexfloating) and np.iscomplexobj(gradient):
        gradient = gradient.real
    if isinstance(gradient, np.ndarray):
        gradient = gradient[()]
    if issubclass(type_, np.generic):
        return type_(gradient)
    return complex(gradient) if issubclass(type_, complex) else float(gradient)


class Apart:
    """Sees to it that gradients share memory with nothing else.

    In: the values that are not to be touched. `apart(gradient)` is the gradient, or a copy if it is, or
    shows, memory of those values or of a gradient given out before.

    >>> x = np.ones(3)
    >>> apart = Apart([x])
    >>> apart(x) is x, apart(2 * x).flags.owndata, apart(x[::-1]).base is None
    (False, True, True)
    """

    def __init__(self, values: Iterable[Any]) -> None:
        found = [array for value in values for array in _arrays(value)]
        self._kept = found
        self._owners = {id(owner_of(leaf)) for leaf in found}

    def __call__(self, gradient: Any) -> Any:
        if members(gradient) is not None:
            return mapped(self, gradient)
        if not isinstance(gradient, np.ndarray):
            return gradient
        owner = owner_of(gradient)
        if id(owner) in self._owners or not gradient.flags.writeable:
            gradient = owner = gradient.copy()
        self._owners.add(id(owner))
        self._kept.append(owner)  # while it is alive, its id is its own
        return gradient


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays in a value, in attributes of objects too."""
    for leaf in leaves(value):
        if isinstance(leaf, np.ndarray):
            yield leaf
        elif hasattr(leaf, "__dict__") and not is_function(leaf):
            yield from (each for part in vars(leaf).values() if part is not leaf for each in _arrays(part))
