"""Methods of lists and dicts.

In: a `ListValue` or `DictValue` and a method's name. Out: the method's result; the container is changed here
if its elements are known, else by a statement of the running program.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...runtime import support_memory
from ..errors import Code
from ..infer import arg_kind
from ..ir import DELETE, INDEX, Arg, Const, Op, Ref, Tup, Var
from ..kinds import INT, UNDEFINED, Kind, Opaque, join
from ..kinds import Sequence as SequenceKind
from .expressions import opened, subscript
from .reader import Frame, Reader
from .values import DictValue, Generator, Iteration, ListValue, Steps


def widen(reader: Reader, obj: ListValue, arg: Arg) -> None:
    """A running list gets an element: its kind may have to become wider, and its loop be read again."""
    assert obj.var is not None
    for part in obj.parts:
        widen(reader, part, arg)
    kind = join(obj.element, arg_kind(arg))
    if isinstance(obj.var.kind, SequenceKind):
        kind = join(kind, obj.var.kind.element)
    if kind != obj.element or obj.var.kind != SequenceKind(kind):
        obj.element = kind
        if obj.key is not None:
            kind = reader.memo[obj.key] = join(kind, reader.memo.get(obj.key, kind))
        obj.var.kind = SequenceKind(kind)
        reader.widened = True


def running_list(reader: Reader, node: cst.CSTNode | None) -> ListValue:
    """An empty list of the running program, made by an expression; each reading of that adds to its kind."""
    key = None if node is None else (node, *(c for c, _ in reader.calls))
    made: ListValue = reader.new(ListValue([], reader.memo.get(key, UNDEFINED), key=key))
    reader.run(made)
    return made


def concatenated(reader: Reader, frame: Frame, parts: list[Any], node: cst.CSTNode | None) -> ListValue:
    """`a + b` of lists whose length is not known."""
    made = running_list(reader, node)
    for part in parts:
        list_method(reader, frame, made, "extend", [part], {}, node)
    return made


def repeated(reader: Reader, frame: Frame, x: ListValue, count: Any, node: cst.CSTNode | None) -> ListValue:
    """`x * count`, where the length of the list or the count is not known."""
    from .loops import _over

    times = reader.arg(count)
    if x.var is None and all(isinstance(item, Const) for item in x.items):
        element: Kind = UNDEFINED
        for item in x.items:
            element = join(element, arg_kind(item))
        op = Op("operator", "*", support_memory.repeated)
        var = reader.let(op, reader.arg(x), times, kind=SequenceKind(element))
        return reader.new(ListValue([], element, var))  # type: ignore[no-any-return]
    made = running_list(reader, node)
    again = Iteration(lambda: times, lambda i: i)

    def once(_: Any) -> None:
        list_method(reader, frame, made, "extend", [x], {}, node)

    _over(reader, frame, again, once, frozenset(), node)
    return made


#: The methods that change a list.
CHANGING = frozenset({"append", "extend", "pop", "insert", "clear", "reverse", "remove", "sort"})


def list_method(
    reader: Reader,
    frame: Frame,
    x: ListValue,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    if x.origin is not None and name in CHANGING:
        return grow_outside(reader, frame, x.origin, name, args, node)
    if name in CHANGING:
        reader.check_own(x)
    if x.var is None:
        return _known_list(reader, frame, x, name, args, kwargs, node)
    if name == "append":
        arg = reader.run(args[0]) if isinstance(args[0], ListValue) else reader.arg(args[0])
        widen(reader, x, arg)
        reader.do(Op("method", "append"), x.var, arg, effect="write")
        return Const(None)
    if name == "insert":
        arg = reader.run(args[1]) if isinstance(args[1], ListValue) else reader.arg(args[1])
        widen(reader, x, arg)
        reader.do(Op("method", "insert"), x.var, reader.arg(args[0]), arg, effect="write")
        return Const(None)
    if name == "pop":
        at = [reader.arg(a) for a in args]
        return opened(reader, reader.let(Op("method", "pop"), x.var, *at, kind=x.element, effect="write"))
    if name == "extend":
        from .loops import _over, iteration

        steps = iteration(reader, frame, args[0], node)
        _over(
            reader,
            frame,
            steps,
            lambda item: list_method(reader, frame, x, "append", [item], {}, node),
            frozenset(),
            node,
        )
        return Const(None)
    if name == "copy":
        return reader.new(ListValue([], x.element, reader.value(reader.call(list, x.var), kind=x.var.kind)))
    if name in ("index", "count"):
        return reader.let(Op("method", name), x.var, *map(reader.arg, args), kind=INT)
    if name == "remove":
        at = reader.let(Op("method", "index"), x.var, *map(reader.arg, args), kind=INT)
        reader.do(DELETE, x.var, at, effect="write")
        return Const(None)
    if name in ("clear", "reverse"):
        reader.do(Op("method", name), x.var, effect="write")
        return Const(None)
    reader.refuse(
        frame, node, Code.MUTATION, f"list.{name} is not followed here", "use append, pop or a new list"
    )


def grow_outside(
    reader: Reader, frame: Frame, origin: Var, name: str, args: list[Any], node: cst.CSTNode | None
) -> Any:
    """A list of the surrounding code is changed for good; what is in it is then no longer known."""
    if name not in ("append", "extend", "clear"):
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            f"a list of the surrounding code is changed by {name}",
            "pass it in, return it",
        )
    reader.check_own(origin)
    reader.stale.add(origin)
    if name == "extend" and isinstance(args[0], ListValue) and args[0].var is None:
        args = [Tup(tuple(args[0].items))]  # only what is in it is shared
    reader.do(Op("log", name), origin, *map(reader.share, args))
    return Const(None)


def _known_list(
    reader: Reader,
    frame: Frame,
    x: ListValue,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    at = args[0] if args else None
    if name in ("append", "extend", "clear", "reverse"):
        if name == "extend" and isinstance(at, Generator | Iteration):
            from .loops import listed

            at = listed(reader, at, frame, node)
        if (
            name == "extend"
            and not isinstance(at, Tup | Steps)
            and not (isinstance(at, ListValue) and at.var is None)
        ):
            reader.run(x)
            return list_method(reader, frame, x, name, [at], kwargs, node)
        reader.change(x)
        if name == "append":
            x.items.append(at)
        elif name == "extend":
            x.items.extend(at.items)  # type: ignore[union-attr]
        elif name == "clear":
            x.items.clear()
        else:
            x.items.reverse()
        return Const(None)
    if name == "pop" and x.items and (at is None or isinstance(at, Const)):
        reader.change(x)
        return x.items.pop() if at is None else x.items.pop(at.value)
    if name == "insert" and isinstance(at, Const):
        reader.change(x)
        x.items.insert(at.value, args[1])
        return Const(None)
    if name == "copy":
        return reader.new(ListValue(list(x.items)))
    if name == "sort" and not args:
        from .calls import call

        items = reader.new(ListValue(list(x.items)))
        ordered = call(reader, frame, Ref(sorted, "sorted"), [items], kwargs, node)
        reader.change(x)
        if isinstance(ordered, ListValue) and ordered.var is None:
            x.items[:] = ordered.items
        else:
            x.items[:] = [subscript(reader, frame, ordered, Const(i), node) for i in range(len(x.items))]
        return Const(None)
    if name in ("index", "count") and all(isinstance(i, Const) for i in [*x.items, *args]):
        return Const(getattr([i.value for i in x.items], name)(*[a.value for a in args]))
    reader.run(x)
    return list_method(reader, frame, x, name, args, kwargs, node)


def dict_method(
    reader: Reader,
    frame: Frame,
    x: DictValue,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    from .statements import delete, store

    if name == "items":
        return Steps([Tup((Const(k), v)) for k, v in x.items.items()])
    if name == "keys":
        return Steps([Const(k) for k in x.items])
    if name == "values":
        return Steps(list(x.items.values()))
    if name == "copy":
        return reader.new(DictValue(dict(x.items)))
    if args and isinstance(args[0], Const):
        key = args[0].value
        default = args[1] if len(args) > 1 else Const(None)
        if name == "get":
            return x.items.get(key, default)
        if name == "pop" and (key in x.items or len(args) > 1):
            if key not in x.items:
                return default
            held = x.items[key]
            delete(reader, frame, x, args[0])
            return held
        if name == "setdefault":
            if key not in x.items:
                store(reader, frame, x, args[0], default, node)
            return x.items[key]
    if x.origin is not None and name in ("pop", "setdefault", "clear", "popitem"):
        reader.refuse(
            frame, node, Code.MUTATION, f"a dict of the surrounding code is changed by {name}", "pass it in"
        )
    if name == "update":
        new = {}
        if args and isinstance(args[0], DictValue):
            new.update(args[0].items)
        elif args:
            reader.refuse(
                frame,
                node,
                Code.MUTATION,
                "update() with something that is no known dict",
                "assign key by key",
            )
        for key, item in {**new, **kwargs}.items():
            store(reader, frame, x, Const(key), item, node)
        return Const(None)
    reader.refuse(
        frame,
        node,
        Code.UNSUPPORTED_SYNTAX,
        f"dict.{name} is not read with these arguments",
        "use literal keys",
    )


__all__ = ["INDEX", "Opaque", "dict_method", "list_method", "widen"]
