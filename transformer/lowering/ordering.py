"""What Python does by order: `sorted`, `max` and `min` with a key, `list.sort`.

In: a reader, a frame, arguments as values. Out: the elements in order, or the one that is first. The order is
found when the program runs, from the keys, and has no derivative; the elements keep theirs.

    sorted(xs, key=f)     ->     keys = [f(x) for x in xs];  [xs[i] for i in order_of(keys, False)]
"""

from __future__ import annotations

from typing import Any

from ...runtime.support_sorting import first_extreme, order_of
from ..ir import LENGTH, Arg, Const
from ..kinds import INT, Array
from .calls import builtin, call, helper_op
from .expressions import subscript
from .loops import iteration, listed, over_items
from .reader import Frame, Reader
from .values import Iteration, ListValue, Steps


@builtin(sorted)
def _sorted(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return ordered(reader, frame, args[0], kwargs, node)


def ordered(reader: Reader, frame: Frame, x: Any, kwargs: dict[str, Any], node: Any) -> Any:
    """`sorted(x, key=..., reverse=...)`."""
    key, reverse = kwargs.get("key", Const(None)), kwargs.get("reverse", Const(False))
    steps = iteration(reader, frame, x, node)
    if isinstance(steps, Steps) and key == Const(None) and isinstance(reverse, Const):
        if all(isinstance(item, Const) for item in steps.items):
            values = sorted((item.value for item in steps.items), reverse=reverse.value)
            return reader.new(ListValue([Const(v) for v in values]))
    if key == Const(None):
        return NotImplemented
    items, keys = _items_and_keys(reader, frame, steps, key, node)
    order = reader.let(helper_op(order_of), reader.run(keys), reader.arg(reverse), kind=Array("i8", (None,)))
    positions = Iteration(lambda: reader.let(LENGTH, order, kind=INT), _same)
    made = reader.new(ListValue([]))
    reader.run(made)

    def add(i: Arg) -> None:
        from .containers import list_method

        item = subscript(reader, frame, items, reader.index(order, i), node)
        list_method(reader, frame, made, "append", [item], {}, node)

    over_items(reader, frame, positions, add, node)
    return made


def _same(i: Arg) -> Arg:
    return i


def _items_and_keys(
    reader: Reader, frame: Frame, steps: Any, key: Any, node: Any
) -> tuple[ListValue, ListValue]:
    items = listed(reader, steps, frame, node)
    if key == Const(None):
        return items, items
    mapped: list[Any] = []
    if items.var is None:
        mapped = [call(reader, frame, key, [item], {}, node) for item in items.items]
        keys = reader.new(ListValue(mapped))
        reader.run(items)
        return items, keys
    keys = reader.new(ListValue([]))
    reader.run(keys)

    def add(item: Any) -> None:
        from .containers import list_method

        list_method(reader, frame, keys, "append", [call(reader, frame, key, [item], {}, node)], {}, node)

    over_items(reader, frame, iteration(reader, frame, items, node), add, node)
    return items, keys


def first_by_key(reader: Reader, frame: Frame, function: Any, x: Any, key: Any, node: Any) -> Any:
    """`max(x, key=key)` or `min`; the key is `Const(None)` for tuples and lists, which Python compares."""
    items, keys = _items_and_keys(reader, frame, iteration(reader, frame, x, node), key, node)
    at = reader.let(helper_op(first_extreme), reader.run(keys), Const(function is max), kind=INT)
    return subscript(reader, frame, items, at, node)


__all__ = ["first_by_key", "ordered"]
