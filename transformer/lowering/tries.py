"""`try`: the path that was taken is recorded, and only that path is walked backwards.

In: a `try` statement. Out: one `Try`, or a chain of them; `else` and `finally` follow.

A handler sees the names as they were where the exception came from. Where that matters, each statement of the
body gets a `Try` of its own, done only if none before it has failed:

    try:                                try: y = y * 2
        y = y * 2                       except E as e: failed
        z = p[k]             ->         if not failed:
    except E as e:                          try: z = p[k]
        h(y)                                except E as e: failed
                                        if failed: h(y)

The same where a statement writes to an array: it is undone in reverse only if it was done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from ..errors import Code
from ..infer import arg_kind
from ..ir import (
    NONE,
    RAISE,
    UNBOUND,
    Arg,
    Block,
    Const,
    For,
    Handler,
    Let,
    Statement,
    Try,
    Var,
    While,
    blocks,
    walk,
)
from ..kinds import INT, UNDEFINED, Kind, Opaque, join
from .expressions import give_up_if_static, value
from .reader import DEAD, Frame, Reader
from .scopes import assigned_names, names_read
from .statements import flatten, read
from .tree import children
from .values import ListValue

#: Which handler has caught (0: none), and what it caught, while a chain is read.
PATH, CAUGHT = "%path", "%caught"


def read_try(reader: Reader, frame: Frame, node: cst.Try) -> None:
    give_up_if_static(reader)
    body, final = flatten(node.body), node.finalbody
    if final is not None and (jump := _jump(flatten(final.body))) is not None:
        reader.refuse(
            frame,
            jump,
            Code.UNSUPPORTED_SYNTAX,
            "a `finally` that ends with a jump replaces what was returned or raised before",
            "move it behind the `try`",
        )
    if final is None:
        _read_handled(reader, frame, node, body)
        return
    if not node.handlers:
        _read_plain(reader, frame, node, body, lambda: read(reader, frame, flatten(final.body)))
        return
    site = reader.site
    with reader.block() as statements:
        _read_handled(reader, frame, node, body)
    _add_final(reader, frame, statements, final, site)


def _jump(suite: Sequence[cst.CSTNode]) -> cst.CSTNode | None:
    """A `return`, `break` or `continue` in a suite, or None."""
    for node in suite:
        if isinstance(node, cst.Return | cst.Break | cst.Continue):
            return node
        if (
            not isinstance(node, cst.FunctionDef | cst.Lambda)
            and (inner := _jump(list(children(node)))) is not None
        ):
            return inner
    return None


def read_suppressed(
    reader: Reader, frame: Frame, node: cst.With, manager: cst.Call, body: list[cst.CSTNode]
) -> None:
    """`with suppress(A, B): body` is `try: body` with a handler of these that does nothing."""
    give_up_if_static(reader)
    handlers = [cst.ExceptHandler(cst.IndentedBlock(()), arg.value) for arg in manager.args]
    if handlers:
        _read_handled(reader, frame, cst.Try(node.body, handlers), body)
    else:
        read(reader, frame, body)


def _add_final(reader: Reader, frame: Frame, statements: list[Any], final: cst.Finally, site: Any) -> None:
    """`try: ... finally: ...` around what has been read; all its names are visible afterwards."""
    with reader.block() as last:
        read(reader, frame, flatten(final.body))
    reader.add(Try(Block(tuple(statements)), (), (), Var("path", INT), Block(tuple(last)), site))


def _read_handled(reader: Reader, frame: Frame, node: cst.Try, body: list[cst.CSTNode]) -> None:
    """`try` with handlers and `else`."""
    leaves = [
        isinstance(last, cst.Return | cst.Raise) for h in node.handlers for last in flatten(h.body)[-1:]
    ]
    goes_on = leaves.count(True) < len(node.handlers)
    read_later: set[str] = names_read(frame.body, node) if frame.body is not None and goes_on else set()
    read_later |= {name for h in node.handlers for name in names_read(h)}
    seen_half_done = _half_done(body) & read_later
    if seen_half_done or not _read_plain(reader, frame, node, body, None):
        _read_chain(reader, frame, node, body)


def _half_done(body: Sequence[cst.CSTNode]) -> set[str]:
    """The names that statements may have bound when an exception comes out of one of them."""
    *before, last = body
    found = set(assigned_names(before))
    if isinstance(last, cst.If):
        found |= set(assigned_names([last.test])) | _half_done(flatten(last.body))
        if isinstance(last.orelse, cst.If):
            return found | _half_done([last.orelse])
        return found if last.orelse is None else found | _half_done(flatten(last.orelse.body))
    return found if isinstance(last, cst.BaseSmallStatement) else found | set(assigned_names([last]))


def _read_plain(
    reader: Reader, frame: Frame, node: cst.Try, body: list[cst.CSTNode], final: Callable[[], None] | None
) -> bool:
    """A body of which nothing is bound that the handlers, or what follows them, would see half-done.

    Returns False, with nothing read, if something may be written and an exception come after it, or if a
    handler changes a list, dict or object.
    """
    site = reader.site
    names = dict(frame.env)
    broken = _half_done(body)
    ends: list[tuple[list[Any], dict[str, Any]]] = []
    handlers: list[tuple[Arg | None, Var | None]] = []
    mark, born = len(reader.journal), reader.serial
    with reader.block() as statements:
        read(reader, frame, body)
    ends.append((statements, frame.env))
    reader.site = site
    if node.handlers:
        _refuse_changes(reader, frame, None, mark, born)
    for handler in node.handlers:
        types = None if handler.type is None else reader.arg(value(reader, frame, handler.type))
        frame.env = {k: v for k, v in names.items() if k not in broken}
        name = _bound_name(handler)
        if name is not None:
            frame.env[name.name] = name
        with reader.block() as statements:
            read(reader, frame, flatten(handler.body))
        if name is not None:
            frame.env.pop(name.name, None)
        handlers.append((types, name))
        ends.append((statements, frame.env))
    reader.site = site
    goes_on = any(DEAD not in env for _, env in ends[1:])
    changes = any(c.serial <= born for c, _, _ in reader.journal[mark:])  # on the path of a handler
    if (changes and node.handlers) or (goes_on and _may_fail_after_writing(ends[0][0])):
        reader.rewind(mark)
        frame.env = names
        return False
    outs, yields, frame.env = _join(reader, ends)
    last: Block | None = None
    if final is not None:
        with reader.block() as statements:
            final()
        last = Block(tuple(statements))
    blocks = [Block(tuple(end[0]), tuple(y)) for end, y in zip(ends, yields, strict=True)]
    path = Var("path", INT)
    made = tuple(Handler(t, n, b) for (t, n), b in zip(handlers, blocks[1:], strict=True))
    reader.add(Try(blocks[0], made, tuple(outs), path, last, site))
    if node.orelse is not None:
        _read_else(reader, frame, node.orelse, path if handlers else Const(0))
    return True


def _refuse_changes(reader: Reader, frame: Frame, node: cst.CSTNode | None, mark: int, born: int) -> None:
    """Refuse changes of known containers from before, which one path only would make."""
    if any(c.serial <= born for c, _, _ in reader.journal[mark:]):
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            "a list, dict or object is changed inside `try`",
            "change it before or after",
        )


def _may_fail_after_writing(statements: Sequence[Statement]) -> bool:
    """Whether memory may be changed and an exception come after that: if a write does not come last."""
    for i, s in enumerate(statements):
        writes = any(isinstance(each, Let) and each.effect == "write" for each in walk(Block((s,))))
        if writes and any(not isinstance(t, Let) or t.op.form != "value" for t in statements[i + 1 :]):
            return True
        if writes and isinstance(s, For | While):
            return True
    return any(_may_fail_after_writing(inner.body) for s in statements[-1:] for inner in blocks(s))


def _read_else(reader: Reader, frame: Frame, orelse: cst.Else, path: Arg) -> None:
    suite = flatten(orelse.body)
    if path == Const(0):
        read(reader, frame, suite)
        return
    reader.branches(
        frame, reader.binary("==", path, Const(0)), lambda: read(reader, frame, suite), lambda: None
    )


def _bound_name(handler: cst.ExceptHandler) -> Var | None:
    if handler.name is not None and isinstance(handler.name.name, cst.Name):
        return Var(handler.name.name.value, Opaque(Exception))
    return None


# -- one statement at a time -------------------------------------------------------------------------


def _read_chain(reader: Reader, frame: Frame, node: cst.Try, body: list[cst.CSTNode]) -> None:
    frame.env[PATH], frame.env[CAUGHT] = Const(0), NONE
    types = [None if h.type is None else reader.arg(value(reader, frame, h.type)) for h in node.handlers]

    def step(i: int) -> None:
        if i == len(body):
            return
        if _half_done(body[i : i + 1]):
            reader.refuse(
                frame,
                body[i],
                Code.UNSUPPORTED_SYNTAX,
                "names that this statement binds are read after an exception in it",
                "move it out of the `try`",
            )
        _attempt(reader, frame, body[i], types)
        rest = frame.env[PATH]
        if rest == Const(0):
            step(i + 1)
        elif isinstance(rest, Var):
            reader.branches(frame, reader.binary("==", rest, Const(0)), lambda: step(i + 1), lambda: None)

    step(0)
    path, caught = frame.env.pop(PATH), frame.env.pop(CAUGHT)

    def handle(k: int) -> None:
        if k == len(node.handlers):
            if node.orelse is not None:
                read(reader, frame, flatten(node.orelse.body))
            return
        taken = reader.binary("==", path, Const(k + 1))
        handler = node.handlers[k]

        def run() -> None:
            name = _bound_name(handler)
            if name is not None:
                frame.env[name.name] = caught
            _reraise_as(reader, caught, lambda: read(reader, frame, flatten(handler.body)))
            if name is not None:
                frame.env.pop(name.name, None)

        if isinstance(taken, Const):
            run() if taken.value else handle(k + 1)
        else:
            reader.branches(frame, taken, run, lambda: handle(k + 1))

    handle(0)


def _reraise_as(reader: Reader, caught: Any, run: Callable[[], None]) -> None:
    """A bare `raise` in a handler raises what was caught."""
    born = len(reader.statements)
    run()
    from dataclasses import replace

    for i, s in enumerate(reader.statements[born:], born):
        if isinstance(s, Let) and s.op is RAISE and s.args[0] == NONE:
            reader.statements[i] = replace(s, args=(reader.arg(caught),))


def _attempt(reader: Reader, frame: Frame, statement: cst.CSTNode, types: list[Arg | None]) -> None:
    """One statement of the body, with handlers that only note which of them it is."""
    site = reader.site
    names = dict(frame.env)
    mark, born = len(reader.journal), reader.serial
    with reader.block() as statements:
        read(reader, frame, [statement])
    _refuse_changes(reader, frame, statement, mark, born)
    if _may_fail_after_writing(statements):
        reader.refuse(
            frame,
            statement,
            Code.MUTATION,
            "an exception may come here after something has been written",
            "move what may fail out of the `try`, or work on a copy",
        )
    ends = [(statements, frame.env)]
    handlers = []
    for k, each in enumerate(types, 1):
        caught = Var("error", Opaque(Exception))
        with reader.block() as noted:
            pass
        ends.append((noted, {**names, PATH: Const(k), CAUGHT: caught}))
        handlers.append((each, caught))
    reader.site = site
    outs, yields, frame.env = _join(reader, ends)
    blocks = [Block(tuple(end[0]), tuple(y)) for end, y in zip(ends, yields, strict=True)]
    made = tuple(Handler(t, n, b) for (t, n), b in zip(handlers, blocks[1:], strict=True))
    reader.add(Try(blocks[0], made, tuple(outs), Var("path", INT), None, site))


def _join(
    reader: Reader, ends: list[tuple[list[Any], dict[str, Any]]]
) -> tuple[list[Var], list[list[Arg]], dict[str, Any]]:
    """Names after the statement: those that differ between the paths come out of it."""
    outs: list[Var] = []
    yields: list[list[Arg]] = [[] for _ in ends]
    env: dict[str, Any] = {}
    alive = [e for e in ends if DEAD not in e[1]]
    for name in dict.fromkeys(n for _, e in alive for n in e):
        missing: Any = (
            Const(False) if name.startswith("%") and name not in ("%value", PATH, CAUGHT) else UNBOUND
        )
        values = [UNBOUND if DEAD in e else e.get(name, missing) for _, e in ends]
        living = [v for (_, e), v in zip(ends, values, strict=True) if DEAD not in e]
        same = all(v is living[0] or (isinstance(v, Const) and v == living[0]) for v in living)
        if same and (len(living) == len(ends) or not isinstance(living[0], Var)):
            env[name] = living[0]
            continue
        outer = reader.statements
        args: list[Arg] = []
        for (statements, _), each in zip(ends, values, strict=True):
            reader.statements = statements
            args.append(reader.run(each) if isinstance(each, ListValue) else reader.arg(each))
        reader.statements = outer
        kind: Kind = UNDEFINED
        for arg in args:
            kind = join(kind, arg_kind(arg))
        out = Var(name.strip("%"), kind)
        outs.append(out)
        for y, arg in zip(yields, args, strict=True):
            y.append(arg)
        env[name] = out
    if not alive:
        env = {**ends[0][1], DEAD: Const(True)}
    return outs, yields, env
