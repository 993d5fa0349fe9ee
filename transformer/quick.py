"""Quick calls: the check that a call is like the one before, and the call, as code made for one variant.

In: a `Variant`, the values of a call that it is for, what brings a gradient into form. Out: a function of
such values, which returns `MISS` for values that it is not for.

    quick = quick_call(variant, (0.9, 12), finish)
    quick(0.9, 15)       # a gradient
    quick(0.9, 15.0)     # MISS: the second argument is no int

The gradient of a function of a few numbers takes a microsecond; finding its variant by a signature takes two.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from .signature import NUMBERS
from .variants import Variant

__all__ = ["MISS", "quick_call"]

#: What a quick call returns for what it is not for.
MISS = object()


def quick_call(
    variant: Variant, values: tuple[Any, ...], finish: Callable[[Any, tuple[Any, ...]], Any]
) -> Callable[..., Any] | None:
    """A function for calls like this one; None for a variant or arguments that need the long way.

    Args:
        finish: makes of a gradient that is not in the form of its argument, or not its own, one that is.
    """
    arrays = sum(type(v) is np.ndarray for v in values)
    if not (variant.single and variant.bare and variant.is_closed) or (variant.writes and arrays > 1):
        return None
    scope: dict[str, Any] = {
        "ndarray": np.ndarray,
        "references": getrefcount,
        "entry": variant.entries[0],
        "holds": variant.holds,
        "finish": finish,
        "MISS": MISS,
        "ALONE": _ALONE,
    }
    names = [f"x{i}" for i in range(len(values))]
    tests = [_test(name, value, scope) for name, value in zip(names, values, strict=True)]
    own = _own(names[variant.wrt[0]], values[variant.wrt[0]])
    if own is None or None in tests:
        return None
    listed = ", ".join(names)
    text = f"""
def quick({listed}):
    if {" and ".join([*map(str, tests), "holds()"])}:
        g = entry({listed})
        return g if {own} else finish(g, ({listed},))
    return MISS
"""
    exec(text, scope)
    return scope["quick"]  # type: ignore[no-any-return]


def _own(name: str, value: Any) -> str | None:
    """The condition that a gradient is in the form of its argument, and known to nobody else, as text."""
    if type(value) is float:
        return "type(g) is float"
    if type(value) is np.ndarray:
        form = f"g.dtype is {name}.dtype and g.shape == {name}.shape"
        return f"type(g) is ndarray and g.base is None and {form} and references(g) == ALONE"
    return None


def _test(name: str, value: Any, scope: dict[str, Any]) -> str | None:
    """The condition that an argument is like `value`, as text."""
    if type(value) is np.ndarray:
        scope[f"{name}_dtype"] = value.dtype
        sizes = f"{name}.ndim == {value.ndim} and 1 not in {name}.shape"
        if 1 in value.shape:
            sizes = f"[n == 1 for n in {name}.shape] == {[n == 1 for n in value.shape]}"
        return f"type({name}) is ndarray and {name}.dtype is {name}_dtype and {sizes}"
    if type(value) in NUMBERS:
        scope[f"{name}_type"] = type(value)
        return f"type({name}) is {name}_type"
    return f"{name} is None" if value is None else None


def _references() -> int:
    """What `getrefcount` says of an array that one local variable refers to."""
    g = np.empty(0)
    return getrefcount(g)


_ALONE = _references()
