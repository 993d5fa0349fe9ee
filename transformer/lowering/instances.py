"""Recursion: a user's function that calls itself becomes a function of the generated module.

In: a call of a function that is being read already. Out: a `Let` that calls an *instance*: the function read
once for the kinds of these arguments, with a forward and an adjoint function of its own.

    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

The result's kind is found by assuming nothing, reading the body, and reading it again with what came out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from ..errors import Code
from ..infer import arg_kind
from ..ir import UNBOUND, Arg, Block, Const, Function, Let, Op, Ref, Statement, Tup, Var, in_order, rebuild
from ..kinds import Array, Kind, Number, Opaque, Undefined, join
from .generated import carried_module
from .reader import Frame, Reader
from .values import Closure, DictValue, ListValue, ObjectValue


@dataclass(eq=False)
class Instance:
    """A function of the module: its parameters are the leaves of the arguments."""

    name: str
    params: tuple[Var, ...]
    extra: tuple[Var, ...] = ()  # free values that the body reads, passed on from call to call
    result: Any = UNBOUND  # the structure of the result, with a variable of the right kind for each leaf
    function: Function | None = None


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
) -> Any:
    """Call the instance for the kinds of `values`, reading it first if there is none.

    Args:
        key: what identifies the function.
        values: everything the body can name: parameters and captured variables.
        read_again: reads the body for given values; returns the result.
    """
    if carried_module(key) and name.endswith(("_forward", "_adjoint")):
        reader.refuse(
            frame,
            node,
            Code.RECURSION,
            f"what {name} keeps is as deep as the recursion",
            "write the recursion as a loop",
        )
    leaves: list[Arg] = []
    shape = _shape(values, leaves)
    kinds = tuple(_general(arg_kind(a)) for a in leaves)
    full = (key, shape, kinds)
    if full not in reader.instances and _is_being_read(reader, key, shape):
        kinds = tuple(map(_of_any_size, kinds))  # or there would be one for every size, without end
        full = (key, shape, kinds)
    instance = reader.instances.get(full)
    if instance is None:
        instance = Instance(
            fresh_name(reader, name),
            tuple(Var(_leaf_name(a, i), k) for i, (a, k) in enumerate(zip(leaves, kinds, strict=True))),
        )
        reader.instances[full] = instance
        _read(reader, frame, instance, values, read_again, node)
    outs: list[Var] = []
    result = _fresh(instance.result, outs)
    saved = Var("saved", Opaque(tuple))
    op = Op("user", instance.name, instance)
    reader.add(Let((*outs, saved), op, (*leaves, *instance.extra), (), "", reader.site))
    return result


def _read(
    reader: Reader, frame: Frame, instance: Instance, values: dict[str, Any], read_again: Any, node: Any
) -> None:
    before = set(reader.instances)
    for _ in range(8):
        leaves = list(instance.params)
        with reader.block() as statements:
            inner = _refill(values, leaves)
            outer, reader.calls = reader.calls, []
            try:
                result = read_again(inner)
            finally:
                reader.calls = outer
            yielded = reader.arg(result)
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
        if not same:  # what was read meanwhile took this function's result for what it is not
            for key in reader.instances.keys() - before:
                del reader.instances[key]
        else:
            from .. import private

            body = Block(tuple(statements), (_returned(yielded),))
            free = {f.var for f, _ in reader.free.values()}
            instance.extra = tuple(v for v in dict.fromkeys(in_order(body)) if v in free)
            body = _passing_on(body, instance)
            made = Function(instance.name, (*instance.params, *instance.extra), body)
            if private.privatise(made) is not made:
                reader.refuse(
                    frame,
                    node,
                    Code.RECURSION,
                    f"{instance.name} calls itself and writes to its arguments",
                    "return new arrays, or write the recursion as a loop",
                )
            instance.function = made
            return
    reader.refuse(
        frame, node, Code.RECURSION, f"what {instance.name} returns does not settle", "write it as a loop"
    )


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


def _leaf_name(arg: Arg, i: int) -> str:
    return arg.name if isinstance(arg, Var) and arg.name else f"a{i}"


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


def _returned(result: Arg) -> Arg:
    """What the function of the module returns: the leaves of the result, in order."""
    leaves = _leaves(result)
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
