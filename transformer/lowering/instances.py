"""Recursion: a user's function that calls itself becomes a function of the generated module.

In: a call of a function that is being read already. Out: a `Let` that calls an *instance*: the function read
once for the kinds of these arguments, with a forward and an adjoint function of its own.

    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

The result's kind is found by assuming nothing, reading the body, and reading it again with what came out.

An instance writes to copies of its own. What it has made of an argument it returns after its result, and the
caller stores that, so that no memory is shared across the call:

    def fill(u, i):                                  def fill(u, i):
        u[i] = 0.0                                       u = u.copy()
        fill(u, i - 1)                      ->           u[i] = 0.0
                                                         u[...] = fill(u, i - 1)
                                                         return u
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from ..analyses.aliases import Aliases, immutable
from ..errors import Code
from ..infer import arg_kind
from ..ir import (
    STORE,
    UNBOUND,
    Arg,
    Block,
    Const,
    Function,
    If,
    Let,
    Op,
    Ref,
    Statement,
    Tup,
    Var,
    blocks,
    bound_inside,
    in_order,
    operands,
    rebuild,
    substitute,
    variables,
    walk,
)
from ..kinds import Array, Kind, Number, Opaque, Undefined, Unknown, join
from ..torn import SHARED, guard_torn
from .generated import carried_module
from .reader import Frame, Reader
from .values import Bound, Choice, Closure, DictValue, ListValue, ObjectValue, Partial

FORMS = 16  # of arguments for which a function is read, one call inside another


@dataclass(eq=False)
class Instance:
    """A function of the module: its parameters are the leaves of the arguments."""

    name: str
    params: tuple[Var, ...]
    extra: tuple[Var, ...] = ()  # free values that the body reads, passed on from call to call
    result: Any = UNBOUND  # the structure of the result, with a variable of the right kind for each leaf
    written: tuple[int, ...] = ()  # which parameters are written to: returned after the result, in order
    handed_back: tuple[int | None, ...] = ()  # the written parameter that each leaf of the result is
    function: Function | None = None
    begun: tuple[int, int] = (0, 0)  # while it is read: how many containers and changes of them there were


def is_recursive(reader: Reader, function: Any) -> bool:
    """Whether a function that is being read is called again under a condition that is not known."""
    return any(called is function and reader.nested > nested for called, nested in reader.calls)


def call_instance(
    reader: Reader,
    frame: Frame,
    key: Any,
    name: str,
    values: dict[str, Any],
    read_again: Any,
    node: cst.CSTNode | None,
    around: list[tuple[dict[str, Any], str]],
) -> Any:
    """Call the instance for the kinds of `values`, reading it first if there is none.

    Args:
        key: what identifies the function.
        values: the parameters.
        read_again: reads the body for given values; returns the result.
        around: the names of surrounding functions that the body reads, each with what it is looked up in.
    """
    if carried_module(key) and name.endswith(("_forward", "_adjoint")):
        reader.refuse(
            frame,
            node,
            Code.RECURSION,
            f"what {name} keeps is as deep as the recursion",
            "write the recursion as a loop",
        )
    every = reader.instances.items()
    being_read = [made for (known, *_), made in every if known == key and made.function is None]
    for made in being_read:
        _refuse_changes(reader, frame, made, node)
    if len(being_read) > FORMS:
        reader.refuse(
            frame,
            node,
            Code.RECURSION,
            f"{name} calls itself with a list, tuple or dict that has another length each time",
            "pass an array and an index",
        )
    leaves: list[Arg] = []
    values |= {("around", i): names[name] for i, (names, name) in enumerate(around)}
    shape = _shape(values, leaves)
    kinds = tuple(_general(arg_kind(a)) for a in leaves)
    full = (key, shape, kinds)
    if full not in reader.instances and _is_being_read(reader, key, shape):
        kinds = tuple(map(_of_any_size, kinds))  # or there would be one for every size, without end
        full = (key, shape, kinds)
    instance = reader.instances.get(full)
    if instance is None:
        names = _leaf_names(leaves)
        instance = Instance(fresh_name(reader, name), tuple(map(Var, names, kinds)))
        reader.instances[full] = instance
        _read(reader, frame, instance, values, read_again, node, around)
    return _call(reader, instance, leaves)


def _call(reader: Reader, instance: Instance, leaves: list[Arg]) -> Any:
    """The call, and the stores of what it has made of the arguments that it writes to."""
    every: list[Var] = []
    result = _fresh(instance.result, every)
    back = {v: leaves[i] for v, i in zip(every, instance.handed_back, strict=False) if i is not None}
    outs = [v for v in every if v not in back]
    changed = [Var(instance.params[i].name, instance.params[i].kind) for i in instance.written]
    targets = [leaves[i] for i in instance.written]
    arrays = {i: a for i, a in enumerate(leaves) if isinstance(arg_kind(a), Array | Unknown)}
    for at in instance.written:
        others = [a for i, a in arrays.items() if i != at]
        if others:
            reader.add(Let((), SHARED, (leaves[at], *others), (), "io", reader.site))
    op = Op("user", instance.name, instance)
    saved = Var("saved", Opaque(tuple))
    reader.add(Let((*outs, *changed, saved), op, (*leaves, *instance.extra), (), "", reader.site))
    for target, after in zip(targets, changed, strict=True):
        reader.do(STORE, target, Const(Ellipsis), after, effect="write")
    return substitute(result, lambda v: back.get(v, v)) if back else result


def _read(
    reader: Reader,
    frame: Frame,
    instance: Instance,
    values: dict[Any, Any],
    read_again: Any,
    node: Any,
    around: list[tuple[dict[str, Any], str]],
) -> None:
    before = set(reader.instances)
    for _ in range(8):
        leaves = list(instance.params)
        instance.begun = reader.serial, len(reader.journal)
        with reader.block() as statements:
            inner = _refill(values, leaves)
            shown = [inner.pop(("around", i)) for i in range(len(around))]
            outer, reader.calls = reader.calls, []
            reader.catching += 1  # it may be called in a `try`
            try:
                with reader.another_function() as read_first, _surrounded(around, shown):
                    result = read_again(inner)
            finally:
                reader.calls = outer
                reader.catching -= 1
            yielded = reader.arg(result)
        _refuse_changes(reader, frame, instance, node)
        try:
            settled = _joined(instance.result, yielded)
        except _Unlike:
            reader.refuse(
                frame,
                node,
                Code.RECURSION,
                f"{instance.name} calls itself and returns tuples of several forms",
                "return tuples of one length",
            )
        same = _kinds(settled) == _kinds(instance.result)
        instance.result = settled
        body = Block((*read_first, *statements), (yielded,))
        written, handed_back = _written(body, instance.params)
        same = same and (written, handed_back) == (instance.written, instance.handed_back)
        instance.written, instance.handed_back = written, handed_back
        if not same:  # what was read meanwhile took this function's result for what it is not
            for key in reader.instances.keys() - before:
                del reader.instances[key]
        else:
            _complete(reader, frame, instance, body, node)
            return
    reader.refuse(
        frame, node, Code.RECURSION, f"what {instance.name} returns does not settle", "write it as a loop"
    )


def _complete(reader: Reader, frame: Frame, instance: Instance, body: Block, node: Any) -> None:
    """Make the function of a body that has been read, and yields the result as it was returned."""
    from .. import private

    (result,) = body.yields
    body = Block(body.body, (_returned(instance, result),))
    free = {f.var for f in reader.free.values()}
    instance.extra = tuple(v for v in dict.fromkeys(in_order(body)) if v in free)
    body = _passing_on(body, instance)
    made = Function(instance.name, (*instance.params, *instance.extra), body)
    inside = _Inside(made)
    if reason := _what_is_not_followed(instance, made, inside, result):
        reason = f"{instance.name} calls itself and {reason}"
        reader.refuse(frame, node, Code.RECURSION, reason, "return new arrays, or write it as a loop")
    mine = {instance.params[i] for i in instance.written}
    instance.function = private.privatise(guard_torn(made, inside), written=mine)


def _what_is_not_followed(instance: Instance, made: Function, inside: _Inside, result: Arg) -> str:
    known = {*made.params, *bound_inside(made.body), UNBOUND}
    for v in in_order(made.body):
        if v not in known:
            return f"reads {v.name!r} through what it is given"
    if any(inside.of(v) in inside.written for v in instance.extra):
        return "writes to what surrounds it"
    return "returns a part of what it writes to" if _returns_written(inside, instance, result) else ""


class _Inside(Aliases):
    """What may share memory inside a function: that its result is one or the other makes nothing one.

    Which it is, is checked where it is called.
    """

    def __init__(self, function: Function) -> None:
        every = list(walk(function.body))
        self.joins = {out: s for s in every if isinstance(s, If) for out in s.outs}
        read = {v for s in every for arg in operands(s) for v in variables(arg)}
        inner = [y for s in every for b in blocks(s) for y in b.yields]
        self.only_returned: set[Arg] = set()
        waiting = [leaf for y in function.body.yields for leaf in _leaves(y)]
        while waiting:
            leaf = waiting.pop()
            if isinstance(leaf, Var) and leaf in self.joins and leaf not in read and inner.count(leaf) <= 1:
                self.only_returned.add(leaf)
                waiting += self.sides(leaf)
        super().__init__(function)

    def sides(self, out: Var) -> list[Arg]:
        s = self.joins[out]
        return [block.yields[s.outs.index(out)] for block in (s.then, s.orelse)]

    def _union(self, *args: Arg) -> None:
        if args[0] not in self.only_returned:
            super()._union(*args)

    def handed_back(self, leaf: Arg, written: Collection[Var]) -> Var | None:
        """The written parameter that a leaf of the result is on every path, if it is one."""
        if not isinstance(leaf, Var) or leaf not in self.joins:
            return leaf if isinstance(leaf, Var) and leaf in written else None
        both = {self.handed_back(y, written) for y in self.sides(leaf) if y != UNBOUND}
        return both.pop() if len(both) == 1 else None


def _written(body: Block, params: tuple[Var, ...]) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """Which parameters are written to, and which of them each leaf of the result is, if it is one."""
    inside = _Inside(Function("", params, body))
    at = {
        p: i for i, p in enumerate(params) if isinstance(p.kind, Array | Unknown) and inside.is_buffer(p)
    }
    back = [inside.handed_back(leaf, at) for y in body.yields for leaf in _leaves(y)]
    return tuple(at.values()), tuple(None if p is None else at[p] for p in back)


def _returns_written(inside: _Inside, instance: Instance, result: Arg) -> bool:
    """Whether a leaf of the result may share memory with a parameter that is written to, but is not that."""
    written = {inside.of(instance.params[i]) for i in instance.written}

    def may_share(leaf: Arg) -> bool:
        if leaf in inside.only_returned:
            return any(map(may_share, inside.sides(leaf)))  # type: ignore[arg-type]
        return isinstance(leaf, Var) and not immutable(leaf.kind) and inside.of(leaf) in written

    leaves = zip(_leaves(result), instance.handed_back, strict=True)
    return any(i is None and may_share(leaf) for leaf, i in leaves)


def _refuse_changes(reader: Reader, frame: Frame, instance: Instance, node: Any) -> None:
    """Refuse a recursion that changes what it is given: the caller's would stay as it is."""
    born, mark = instance.begun
    if any(container.serial <= born for container, _, _ in reader.journal[mark:]):
        reader.refuse(
            frame,
            node,
            Code.RECURSION,
            f"{instance.name} calls itself and changes a list, dict or object that it is given",
            "return what is new, or write the recursion as a loop",
        )


@contextmanager
def _surrounded(around: list[tuple[dict[str, Any], str]], shown: list[Any]) -> Iterator[None]:
    """What surrounds a nested function holds the parameters that stand for it, while the body is read."""
    before = [names[name] for names, name in around]
    try:
        for (names, name), value in zip(around, shown, strict=True):
            names[name] = value
        yield
    finally:
        for (names, name), value in zip(around, before, strict=True):
            names[name] = value


def closures_in(value: Any) -> list[Closure]:
    """The nested functions that a value holds."""
    if isinstance(value, Closure):
        return [value]
    if isinstance(value, dict):
        parts: Iterable[Any] = value.values()
    elif isinstance(value, Tup | ListValue):
        parts = value.items
    elif isinstance(value, DictValue | ObjectValue):
        parts = value.cells.values()
    elif isinstance(value, Partial):
        parts = (value.function, *value.args, *value.kwargs.values())
    elif isinstance(value, Choice):
        parts = (value.then, value.orelse)
    elif isinstance(value, Bound):
        parts = (value.receiver,)
    else:
        parts = ()
    return [each for part in parts for each in closures_in(part)]


def _passing_on(block: Block, instance: Instance) -> Block:
    """Calls of the instance in its own body hand its free values on."""

    def fix(s: Statement) -> Statement:
        if isinstance(s, Let) and s.op.function is instance:
            return replace(s, args=(*s.args, *instance.extra))
        return rebuild(s, lambda b: _passing_on(b, instance))

    return Block(tuple(fix(s) for s in block.body), block.yields)


def fresh_name(reader: Reader, name: str) -> str:
    """A name for a function of the module that no other one has."""
    base = name if name.isidentifier() else "inner"
    used = {reader.root_name, *(i.name for i in reader.instances.values())}
    n, result = 1, base
    while result in used:
        n += 1
        result = f"{base}_{n}"
    return result


def _general(kind: Kind) -> Kind:
    """Sizes and constants differ from call to call of a recursion."""
    return Number(kind.dtype) if isinstance(kind, Number) else kind


def _is_being_read(reader: Reader, key: Any, shape: Any) -> bool:
    """Whether an instance of the same function, for arguments of the same structure, is not yet complete."""
    every = reader.instances.items()
    return any(made.function is None and known[:2] == (key, shape) for known, made in every)


def _of_any_size(kind: Kind) -> Kind:
    if not isinstance(kind, Array) or kind.dims is None:
        return kind
    return Array(kind.dtype, (None,) * len(kind.dims))


def _leaf_names(leaves: list[Arg]) -> list[str]:
    """What the parameters are called: as the arguments are, each name once."""
    names: list[str] = []
    for i, leaf in enumerate(leaves):
        base = leaf.name if isinstance(leaf, Var) and leaf.name else f"a{i}"
        name, number = base, 1
        while name in names:
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return names


def _shape(value: Any, leaves: list[Arg]) -> Any:
    """A hashable description of a value without its leaves, which are collected."""
    if isinstance(value, dict):
        return tuple((k, _shape(v, leaves)) for k, v in value.items())
    if isinstance(value, Tup):
        return ("tuple", tuple(_shape(v, leaves) for v in value.items))
    if isinstance(value, ListValue) and value.var is None:
        return ("list", tuple(_shape(v, leaves) for v in value.items))
    if isinstance(value, DictValue) and value.var is None:
        return ("dict", tuple((k, _shape(v, leaves)) for k, v in value.items.items()))
    if isinstance(value, ObjectValue):
        return ("object", value.cls, tuple((k, _shape(v, leaves)) for k, v in value.attributes.items()))
    if isinstance(value, Var) or (
        isinstance(value, Const)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    ):
        leaves.append(value)
        return "leaf"
    if isinstance(value, Const):
        return ("const", repr(value.value))
    if isinstance(value, Ref):
        return ("ref", id(value.value))
    if isinstance(value, Closure):
        return ("closure", id(value.node))
    return ("other", id(value))


def _refill(value: Any, leaves: list[Var]) -> Any:
    """The value with its leaves replaced, in the same order."""
    if isinstance(value, dict):
        return {k: _refill(v, leaves) for k, v in value.items()}
    if isinstance(value, Tup):
        return Tup(tuple(_refill(v, leaves) for v in value.items), value.cls)
    if isinstance(value, ListValue) and value.var is None:
        return ListValue([_refill(v, leaves) for v in value.items])
    if isinstance(value, DictValue) and value.var is None:
        return DictValue({k: _refill(v, leaves) for k, v in value.items.items()})
    if isinstance(value, ObjectValue):
        return ObjectValue(value.cls, {k: _refill(v, leaves) for k, v in value.attributes.items()})
    if isinstance(value, Var) or (
        isinstance(value, Const)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
    ):
        return leaves.pop(0)
    return value


class _Unlike(Exception):
    """Results that are one time a tuple and one time not, or tuples of several lengths."""


def _joined(a: Any, b: Any) -> Any:
    if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
        return Tup(tuple(_joined(x, y) for x, y in zip(a.items, b.items, strict=True)), a.cls)
    for one, other in ((a, b), (b, a)):
        if isinstance(other, Tup):
            if not isinstance(arg_kind(one), Undefined):
                raise _Unlike
            return Tup(tuple(_joined(UNBOUND, y) for y in other.items), other.cls)
    return Var("", join(arg_kind(a), arg_kind(b)))


def _returned(instance: Instance, result: Arg) -> Arg:
    """What the function of the module returns: the leaves of the result, and what it has changed."""
    changed = [instance.params[i] for i in instance.written]
    own = [leaf for leaf, i in zip(_leaves(result), instance.handed_back, strict=True) if i is None]
    leaves: list[Arg] = [*own, *changed]
    return leaves[0] if len(leaves) == 1 else Tup(tuple(leaves))


def _leaves(result: Arg) -> list[Arg]:
    return [leaf for item in result.items for leaf in _leaves(item)] if isinstance(result, Tup) else [result]


def _kinds(a: Any) -> Any:
    return tuple(_kinds(i) for i in a.items) if isinstance(a, Tup) else arg_kind(a)


def _fresh(a: Any, outs: list[Var]) -> Any:
    if isinstance(a, Tup):
        return Tup(tuple(_fresh(i, outs) for i in a.items), a.cls)
    out = Var("", arg_kind(a))
    outs.append(out)
    return out


__all__ = ["Instance", "call_instance", "fresh_name", "is_recursive"]
