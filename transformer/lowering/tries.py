"""`try`: the path that was taken is recorded, and only that path is walked backwards.

In: a `try` statement. Out: a `Try`; `else` and `finally` follow it.

What the body bound before it raised is not defined for the handlers: a handler that reads such a name is
refused unless it binds it anew.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ..ir import UNBOUND, Arg, Block, Const, Handler, Try, Var
from ..kinds import INT, UNDEFINED, Opaque, join
from ..infer import arg_kind
from .expressions import value
from .loops import assigned_names
from .reader import Frame, Reader
from .statements import flatten, read
from .values import ListValue


def read_try(reader: Reader, frame: Frame, node: cst.Try) -> None:
    site = reader.site
    body = flatten(node.body)
    names = dict(frame.env)
    broken = assigned_names(body)
    ends: list[tuple[list[Any], dict[str, Any]]] = []
    handlers: list[tuple[Arg | None, Var | None]] = []
    with reader.block() as statements:
        read(reader, frame, body)
    ends.append((statements, frame.env))
    for handler in node.handlers:
        types = None if handler.type is None else reader.arg(value(reader, frame, handler.type))
        frame.env = {k: v for k, v in names.items() if k not in broken}
        name = None
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            name = Var(handler.name.name.value, Opaque(Exception))
            frame.env[name.name] = name
        with reader.block() as statements:
            read(reader, frame, flatten(handler.body))
        if name is not None:
            frame.env.pop(name.name, None)
        handlers.append((types, name))
        ends.append((statements, frame.env))
    reader.site = site
    outs, yields, env = _join(reader, names, ends)
    frame.env = env
    final: Block | None = None
    if node.finalbody is not None:
        with reader.block() as statements:
            read(reader, frame, flatten(node.finalbody.body))
        final = Block(tuple(statements))
    blocks = [Block(tuple(end[0]), tuple(y)) for end, y in zip(ends, yields, strict=True)]
    path = Var("path", INT)
    made = tuple(Handler(t, n, b) for (t, n), b in zip(handlers, blocks[1:], strict=True))
    reader.add(Try(blocks[0], made, tuple(outs), path, final, site))
    if node.orelse is not None:
        taken = reader.binary("==", path, Const(0)) if handlers else Const(True)
        if taken == Const(True):
            read(reader, frame, flatten(node.orelse.body))
        else:
            orelse = flatten(node.orelse.body)
            reader.branches(frame, taken, lambda: read(reader, frame, orelse), lambda: None)


def _join(
    reader: Reader, names: dict[str, Any], ends: list[tuple[list[Any], dict[str, Any]]]
) -> tuple[list[Var], list[list[Arg]], dict[str, Any]]:
    """Names after the statement: those that differ between the paths come out of it."""
    outs: list[Var] = []
    yields: list[list[Arg]] = [[] for _ in ends]
    env: dict[str, Any] = {}
    for name in dict.fromkeys(n for _, e in ends for n in e):
        values = [e.get(name, UNBOUND) for _, e in ends]
        if all(v is values[0] or (isinstance(v, Const) and v == values[0]) for v in values):
            env[name] = values[0]
            continue
        outer = reader.statements
        args: list[Arg] = []
        for (statements, _), each in zip(ends, values, strict=True):
            reader.statements = statements
            args.append(reader.run(each) if isinstance(each, ListValue) else reader.arg(each))
        reader.statements = outer
        kind = UNDEFINED
        for arg in args:
            kind = join(kind, arg_kind(arg))  # type: ignore[assignment]
        out = Var(name.strip("%"), kind)
        outs.append(out)
        for y, arg in zip(yields, args, strict=True):
            y.append(arg)
        env[name] = out
    return outs, yields, env
