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
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import libcst as cst

from ..errors import Code
from ..infer import arg_kind
from ..ir import (
    FALSE,
    NONE,
    RAISE,
    TRUE,
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
    rebuild,
    walk,
)
from ..kinds import INT, UNDEFINED, Kind, Opaque, join
from .expressions import give_up_if_static, known_truth, value
from .generated import carried_module
from .reader import DEAD, Frame, Reader, is_flag
from .scopes import assigned_names, captured_names, names_read, reads_and_binds
from .statements import any_of, exit_flags, flatten, read
from .tree import children
from .values import ListValue

#: Which handler has caught (0: none), and what it caught, while a chain is read.
PATH, CAUGHT = "%path", "%caught"


@dataclass(frozen=True)
class Clause:
    """An `except`: what it catches, its name for that, what it does, and whether it raises it again then."""

    types: cst.BaseExpression | None
    name: str | None
    suite: list[cst.CSTNode]
    again: bool = False


@dataclass(frozen=True)
class Attempt:
    """A `try` without `finally`, to be read. `node` is where it stands; `read` reads its body."""

    node: cst.CSTNode
    body: list[cst.CSTNode]
    clauses: list[Clause]
    orelse: list[cst.CSTNode] = field(default_factory=list)
    read: Callable[[Reader, Frame, Sequence[cst.CSTNode]], None] = read


def read_try(reader: Reader, frame: Frame, node: cst.Try) -> None:
    give_up_if_static(reader)
    frame.tries.append(node.finalbody is not None)
    try:
        if node.finalbody is None:
            _read_handled(reader, frame, _attempt_of(node))
        else:
            _read_with_final(reader, frame, node, flatten(node.finalbody.body))
    finally:
        frame.tries.pop()


def _attempt_of(node: cst.Try) -> Attempt:
    clauses = []
    for handler in node.handlers:
        named = None if handler.name is None else handler.name.name
        name = named.value if isinstance(named, cst.Name) else None
        clauses.append(Clause(handler.type, name, flatten(handler.body)))
    orelse = [] if node.orelse is None else flatten(node.orelse.body)
    return Attempt(node, flatten(node.body), clauses, orelse)


def _read_with_final(reader: Reader, frame: Frame, node: cst.Try, final: list[cst.CSTNode]) -> None:
    """What is in `finally` follows; if it does what can be noticed, a handler that raises again does it too.

        try:                            try: a
            a                  ->       except:
        finally:                            c
            c                               raise
                                        c
    """
    if (jump := _jump(final)) is not None:
        reader.refuse(
            frame,
            jump,
            Code.UNSUPPORTED_SYNTAX,
            "a `finally` that ends with a jump replaces what was returned or raised before",
            "move it behind the `try`",
        )
    attempt = _attempt_of(node)
    if attempt.clauses:
        handled = partial(_read_handled, attempt=attempt)
        attempt = Attempt(node, [node], [], read=lambda reader, frame, body: handled(reader, frame))
    mark, names, site = len(reader.journal), dict(frame.env), reader.site
    with reader.block() as statements:
        attempt.read(reader, frame, attempt.body)
        noticed = _read_always(reader, frame, final)
    if not noticed:
        reader.statements += statements
        return
    reader.rewind(mark)
    frame.env, reader.site = names, site
    again = Clause(None, None, _needed_for(noticed, final), again=True)
    _read_handled(reader, frame, replace(attempt, clauses=[again]))
    _read_always(reader, frame, final)


def _read_always(reader: Reader, frame: Frame, suite: list[cst.CSTNode]) -> list[cst.CSTNode]:
    """Read what is done even if a jump was met before it; returns what of it can be noticed.

    That is what is done for its effect, and what is written where an exception may be caught further out.
    """
    if DEAD in frame.env:
        return suite
    flags = exit_flags(frame)
    frame.env = {name: v for name, v in frame.env.items() if name not in flags}
    noticed = []
    for node in suite:
        with reader.block() as statements:
            read(reader, frame, [node])
        reader.statements += statements
        effects = {s.effect for s in walk(Block(tuple(statements))) if isinstance(s, Let)}
        if "io" in effects or ("write" in effects and reader.catching):
            noticed.append(node)
        if DEAD in frame.env:
            break
    frame.env |= flags
    return noticed


def _needed_for(noticed: Sequence[cst.CSTNode], suite: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    """Those statements of a suite, and those that bind or may change what they read."""
    kept: list[cst.CSTNode] = []
    wanted: set[str] = set()
    for node in reversed(suite):
        binds = set(assigned_names([node]))
        targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [None]
        only_binds = all(isinstance(t, cst.Name) for t in targets)
        if node in noticed or wanted & (binds if only_binds else names_read(node)):
            kept.insert(0, node)
            wanted |= names_read(node)
    return kept


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
    if not manager.args:
        read(reader, frame, body)
        return
    frame.tries.append(False)
    try:
        clauses = [Clause(arg.value, None, []) for arg in manager.args]
        _read_handled(reader, frame, Attempt(node, body, clauses))
    finally:
        frame.tries.pop()


def _read_handled(reader: Reader, frame: Frame, attempt: Attempt) -> None:
    catches = not all(clause.again for clause in attempt.clauses)

    def read_body(reader: Reader, frame: Frame, body: Sequence[cst.CSTNode]) -> None:
        reader.catching += catches
        try:
            attempt.read(reader, frame, body)
        finally:
            reader.catching -= catches

    inner = replace(attempt, read=read_body)
    half_done = set() if _is_generated(reader, frame) else _half_done(attempt.body)
    if half_done & _read_later(frame, attempt) or not _read_plain(reader, frame, inner):
        _read_chain(reader, frame, inner)


def _is_generated(reader: Reader, frame: Frame) -> bool:
    """Whether the code is generated: that reads no name after an exception that it may have bound before."""
    return reader.rereading or carried_module(frame.function)


def _read_later(frame: Frame, attempt: Attempt) -> set[str]:
    """The names whose values at an exception somebody reads: a handler, or what follows one that goes on."""
    found: set[str] = set() if frame.body is None else captured_names(frame.body)
    bound: list[set[str]] = []
    for clause in attempt.clauses:
        reads, binds = reads_and_binds(clause.suite)
        found |= reads
        if not clause.again and not _ends_here(clause.suite):
            bound.append(binds)
    if bound and frame.body is not None:
        after = names_read(frame.body, attempt.node)
        if frame.loops:  # the body on the next trip
            after |= reads_and_binds(attempt.body)[0]
        found |= after - bound[0].intersection(*bound)
    return found


def _ends_here(suite: Sequence[cst.CSTNode]) -> bool:
    return isinstance(suite[-1], cst.Return | cst.Raise) if suite else False


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


def _read_plain(reader: Reader, frame: Frame, attempt: Attempt) -> bool:
    """A body of which nothing is bound that the handlers, or what follows them, would see half-done.

    Returns False, with nothing read, if something may be written and an exception come after it, or if a
    handler changes a list, dict or object.
    """
    site = reader.site
    names = dict(frame.env)
    broken = _half_done(attempt.body)
    ends: list[tuple[list[Any], dict[str, Any]]] = []
    handlers: list[tuple[Arg | None, Var | None]] = []
    mark, born = len(reader.journal), reader.serial
    with reader.block() as statements:
        attempt.read(reader, frame, attempt.body)
    ends.append((statements, frame.env))
    reader.site = site
    _refuse_changes(reader, frame, None, mark, born)
    for clause in attempt.clauses:
        types = None if clause.types is None else reader.arg(value(reader, frame, clause.types))
        frame.env = {k: v for k, v in names.items() if k not in broken}
        caught = None if clause.name is None else Var(clause.name, Opaque(Exception))
        with reader.block() as statements:
            _read_clause(reader, frame, clause, caught)
        handlers.append((types, caught))
        ends.append((statements, frame.env))
    reader.site = site
    goes_on = any(DEAD not in env for _, env in ends[1:])
    changes = any(c.serial <= born for c, _, _ in reader.journal[mark:])  # on the path of a handler
    if changes or (goes_on and _may_fail_after_writing(ends[0][0])):
        reader.rewind(mark)
        frame.env = names
        return False
    outs, yields, frame.env = _join(reader, ends)
    blocks = [Block(tuple(end[0]), tuple(y)) for end, y in zip(ends, yields, strict=True)]
    path = Var("path", INT)
    made = tuple(Handler(t, n, b) for (t, n), b in zip(handlers, blocks[1:], strict=True))
    reader.add(Try(blocks[0], made, tuple(outs), path, site))
    if attempt.orelse:
        _read_else(reader, frame, attempt.orelse, path)
    return True


def _read_clause(reader: Reader, frame: Frame, clause: Clause, caught: Any) -> None:
    """What a handler does, with what it has caught under its name."""
    if clause.name is not None:
        frame.env[clause.name] = caught
    read(reader, frame, clause.suite)
    if clause.again and DEAD not in frame.env:
        reader.do(RAISE, NONE)
        frame.env[DEAD] = TRUE
    if clause.name is not None:
        frame.env.pop(clause.name, None)


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


def _read_else(reader: Reader, frame: Frame, orelse: list[cst.CSTNode], path: Var) -> None:
    _if_still_there(reader, frame, path, lambda: read(reader, frame, orelse))


def _if_still_there(reader: Reader, frame: Frame, path: Arg, run: Callable[[], None]) -> None:
    """What is done only if the body was left neither by an exception nor by a jump."""
    _if(reader, frame, _unless_left_too(reader, frame, reader.binary("==", path, Const(0))), run)


def _unless_left(reader: Reader, frame: Frame, run: Callable[[], None]) -> None:
    """What is done only if the body was not left by a jump."""
    _if(reader, frame, _unless_left_too(reader, frame, TRUE), run)


def _unless_left_too(reader: Reader, frame: Frame, condition: Arg) -> Arg:
    flags = exit_flags(frame)
    if not flags:
        return condition
    left = any_of(reader, list(flags.values()))
    return reader.choose(left, lambda: FALSE, lambda: condition)


def _if(reader: Reader, frame: Frame, condition: Arg, run: Callable[[], None]) -> None:
    truth = known_truth(condition)
    if truth is None:
        reader.branches(frame, condition, run, lambda: None)
    elif truth:
        run()


# -- one statement at a time -------------------------------------------------------------------------


def _read_chain(reader: Reader, frame: Frame, attempt: Attempt) -> None:
    frame.env[PATH], frame.env[CAUGHT] = Const(0), NONE
    clauses, body = attempt.clauses, attempt.body
    types = [None if c.types is None else reader.arg(value(reader, frame, c.types)) for c in clauses]

    def step(i: int) -> None:
        if i == len(body):
            return
        if _half_done(body[i : i + 1]) and not _is_generated(reader, frame):
            reader.refuse(
                frame,
                body[i],
                Code.UNSUPPORTED_SYNTAX,
                "names that this statement binds are read after an exception in it",
                "move it out of the `try`",
            )
        _one_of_chain(reader, frame, attempt, body[i], types)
        _if_still_there(reader, frame, frame.env[PATH], lambda: step(i + 1))

    step(0)
    path, caught = frame.env.pop(PATH), frame.env.pop(CAUGHT)

    def handle(k: int) -> None:
        if k == len(clauses):
            _unless_left(reader, frame, lambda: read(reader, frame, attempt.orelse))
            return
        taken = reader.binary("==", path, Const(k + 1))

        def run() -> None:
            _reraise_as(reader, caught, lambda: _read_clause(reader, frame, clauses[k], caught))

        if isinstance(taken, Const):
            run() if taken.value else handle(k + 1)
        else:
            reader.branches(frame, taken, run, lambda: handle(k + 1))

    handle(0)


def _reraise_as(reader: Reader, caught: Any, run: Callable[[], None]) -> None:
    """A bare `raise` in a handler raises what was caught."""
    with reader.block() as statements:
        run()
    error = reader.arg(caught)

    def block(inner: Block) -> Block:
        return replace(inner, body=tuple(map(named, inner.body)))

    def named(s: Statement) -> Statement:
        if isinstance(s, Let):
            return replace(s, args=(error,)) if s.op is RAISE and s.args[0] == NONE else s
        return replace(s, body=block(s.body)) if isinstance(s, Try) else rebuild(s, block)

    reader.statements += map(named, statements)


def _one_of_chain(
    reader: Reader, frame: Frame, attempt: Attempt, statement: cst.CSTNode, types: list[Arg | None]
) -> None:
    """One statement of the body, with handlers that only note which of them it is."""
    site = reader.site
    names = dict(frame.env)
    mark, born = len(reader.journal), reader.serial
    with reader.block() as statements:
        attempt.read(reader, frame, [statement])
    _refuse_changes(reader, frame, statement, mark, born)
    if not statements:  # it cannot fail
        return
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
    reader.add(Try(blocks[0], made, tuple(outs), Var("path", INT), site))


def _join(
    reader: Reader, ends: list[tuple[list[Any], dict[str, Any]]]
) -> tuple[list[Var], list[list[Arg]], dict[str, Any]]:
    """Names after the statement: those that differ between the paths come out of it."""
    outs: list[Var] = []
    yields: list[list[Arg]] = [[] for _ in ends]
    env: dict[str, Any] = {}
    alive = [e for e in ends if DEAD not in e[1]]
    for name in dict.fromkeys(n for _, e in alive for n in e):
        missing: Any = FALSE if is_flag(name) else UNBOUND
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
