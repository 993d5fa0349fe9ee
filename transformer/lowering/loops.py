"""Loops: `for`, `while`, comprehensions, and what can be looped over.

In: a reader, a frame, a loop. Out: a `For` or `While` with everything that the body changes as explicit
carried values; a loop over known elements is read element by element instead.

The kinds of carried values are found by reading the body until they no longer change: `s = 0` that becomes an
array in the first trip is read again as an array-or-int.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import libcst as cst
import numpy as np

from ...runtime.checkpoints import checkpointed
from ..analyses.aliases import Aliases
from ..errors import Code
from ..infer import arg_kind
from ..ir import (
    LENGTH,
    TRUE,
    UNBOUND,
    Arg,
    Block,
    Const,
    For,
    Function,
    Let,
    Op,
    Ref,
    Statement,
    Tup,
    Var,
    While,
    variables,
    walk,
)
from ..kinds import BOOL, INT, UNDEFINED, UNKNOWN, Array, Container, Kind, Number, Opaque, Unknown, join
from ..kinds import Sequence as SequenceKind
from .calls import builtin, call
from .expressions import Unroll, give_up_if_static, known_truth, opened, subscript, value
from .reader import DEAD, Carried, Frame, Reader
from .scopes import assigned_names, names_read
from .statements import BREAK, CONTINUE, RESULT, any_of, assign, exit_flags, flatten, read
from .tree import children
from .values import (
    Choice,
    Closure,
    DictValue,
    Flat,
    Generator,
    Iteration,
    ListValue,
    Mutable,
    ObjectValue,
    Steps,
)

#: A loop over known integers is unrolled up to this length, where it has to be.
LONGEST = 64
#: A comprehension over known integers is written out up to this length.
LONGEST_WRITTEN_OUT = 8

# -- what can be looped over -------------------------------------------------------------------------


def iteration(reader: Reader, frame: Frame, x: Any, node: cst.CSTNode | None) -> Steps | Iteration:
    """How to loop over a value."""
    reader.check_known(x)
    if isinstance(x, Iteration) and x.snapshots is not None:
        reason = "checkpointed(...) stands somewhere else than in the head of a `for` statement"
        rewrite = "write `for x in checkpointed(...):`, with enumerate, zip, ... inside of it"
        reader.refuse(frame, node, Code.UNSUPPORTED_SYNTAX, reason, rewrite)
    if isinstance(x, Steps | Iteration):
        return x
    if isinstance(x, Flat):
        return _positions(reader, reader.call(np.ravel, x.array))
    if isinstance(x, Tup) or (isinstance(x, ListValue) and x.var is None):
        return Steps(list(x.items))
    if isinstance(x, DictValue):
        return Steps([Const(key) for key in x.items])
    if isinstance(x, Const) and isinstance(x.value, str):
        return Steps([Const(c) for c in x.value])
    if isinstance(x, Generator):
        return iteration(reader, frame, comprehension(reader, x.frame, x.node, x.items), node)
    if isinstance(x, ListValue):
        assert x.var is not None
        return _positions(reader, x.var)
    if isinstance(x, Var) and isinstance(x.kind, Array | SequenceKind):
        return _positions(reader, x)
    if isinstance(x, Var) and isinstance(x.kind, Container):
        return iteration(reader, frame, opened(reader, x), node)
    if isinstance(x, Var | Ref):
        held = x if isinstance(x, Var) else reader.value(x, kind=Opaque(None))
        return Iteration(
            lambda: reader.let(LENGTH, held),
            lambda i: reader.index(held, i),
            held,
        )
    reader.refuse(
        frame, node, Code.UNSUPPORTED_SYNTAX, "this value cannot be looped over", "loop over positions"
    )


def _positions(reader: Reader, x: Var) -> Iteration:
    def count() -> Arg:
        if isinstance(x.kind, Array) and x.kind.dims and isinstance(x.kind.dims[0], int):
            return Const(x.kind.dims[0])
        return reader.let(LENGTH, x)  # type: ignore[no-any-return]

    return Iteration(count, lambda i: opened(reader, reader.index(x, i)))


@builtin(range)
def _range(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    operands = [reader.arg(a) for a in args]
    if not 1 <= len(operands) <= 3:
        return NotImplemented
    start = Const(0) if len(operands) == 1 else operands[0]
    step = operands[2] if len(operands) == 3 else Const(1)
    constant = None
    if all(isinstance(a, Const) for a in operands):
        constant = range(*[a.value for a in operands if isinstance(a, Const)])
    plain = reader.let(Op("call", "range", range, Ref(range, "range")), *operands, kind=Opaque(range))

    def count() -> Arg:
        if constant is not None:
            return Const(len(constant))
        return reader.let(LENGTH, plain)  # type: ignore[no-any-return]

    def item(i: Arg) -> Arg:
        scaled = i if step == Const(1) else reader.binary("*", step, i)
        return scaled if start == Const(0) else reader.binary("+", start, scaled)

    return Iteration(count, item, plain, constant)


@builtin(checkpointed)
def _checkpointed(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """The marked head of a loop: the elements one by one, so that trips can be run again."""
    if len(args) != 1 or kwargs.keys() != {"snapshots"}:
        return NotImplemented
    snapshots = reader.arg(kwargs["snapshots"])
    if isinstance(snapshots, Const) and not (
        isinstance(snapshots.value, int | np.integer) and snapshots.value >= 1
    ):
        reason = f"a checkpointed loop needs at least one snapshot, not {snapshots!r}"
        reader.refuse(frame, node, Code.UNSUPPORTED_SYNTAX, reason)
    steps = iteration(reader, frame, args[0], node)
    if isinstance(steps, Steps):
        steps = _positions(reader, reader.run(reader.new(ListValue(steps.items))))
    return replace(steps, snapshots=snapshots)


@builtin(enumerate)
def _enumerate(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    start = reader.arg(args[1] if len(args) > 1 else kwargs.get("start", Const(0)))
    inner = iteration(reader, frame, args[0], node)
    if isinstance(inner, Steps):
        return Steps([Tup((reader.binary("+", start, Const(i)), x)) for i, x in enumerate(inner.items)])

    def item(i: Arg) -> Any:
        return Tup((i if start == Const(0) else reader.binary("+", start, i), inner.item(i)))

    return Iteration(inner.count, item)


@builtin(zip)
def _zip(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    inner = [iteration(reader, frame, a, node) for a in args]
    if len(inner) > 1 and known_truth(kwargs.get("strict", Const(False))) is not False:
        _same_lengths(reader, frame, inner)
    if all(isinstance(i, Steps) for i in inner):
        return Steps(
            [Tup(items) for items in zip(*(i.items for i in inner if isinstance(i, Steps)), strict=False)]
        )
    # one of unknown length next to known elements: those become a list of the running program
    even = [
        _positions(reader, reader.run(reader.new(ListValue(i.items)))) if isinstance(i, Steps) else i
        for i in inner
    ]

    def count() -> Arg:
        counts = [i.count() for i in even]
        if all(isinstance(c, Const) for c in counts):
            return Const(min(c.value for c in counts if isinstance(c, Const)))
        if len(counts) == 1:
            return counts[0]
        return reader.let(Op("call", "min", min, Ref(min, "min")), *counts, kind=INT)  # type: ignore[no-any-return]

    return Iteration(count, lambda i: Tup(tuple(e.item(i) for e in even)))


def _same_lengths(reader: Reader, frame: Frame, inner: list[Any]) -> None:
    """`zip(..., strict=True)`: raises before the first element where Python raises after the last."""
    counts = [Const(len(i.items)) if isinstance(i, Steps) else i.count() for i in inner]
    for k, count in enumerate(counts[1:], 2):
        differs = reader.binary("!=", count, counts[0])
        message = f"zip() argument {k} is not as long as argument 1"

        def fail(message: str = message) -> None:
            reader.fail(frame, ValueError, message)

        if differs == Const(True):
            fail()
        elif differs != Const(False):
            reader.branches(frame, differs, fail, lambda: None)


@builtin(reversed)
def _reversed(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    inner = iteration(reader, frame, args[0], node)
    if isinstance(inner, Steps):
        return Steps(inner.items[::-1])
    plain = None
    if inner.plain is not None:
        plain = reader.let(
            Op("call", "reversed", reversed, Ref(reversed, "reversed")), inner.plain, kind=Opaque(None)
        )

    def item(i: Arg) -> Any:
        last = reader.binary("-", inner.count(), Const(1))
        return inner.item(reader.binary("-", last, i))

    return Iteration(inner.count, item, plain, inner.constant[::-1] if inner.constant is not None else None)


@builtin(map)
def _map(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    inner = iteration(
        reader, frame, args[1] if len(args) == 2 else _zip(reader, frame, args[1:], {}, node), node
    )
    several = len(args) > 2

    def apply(x: Any) -> Any:
        return call(reader, frame, args[0], list(x.items) if several else [x], {}, node)

    if isinstance(inner, Steps):
        return Steps([apply(x) for x in inner.items])
    return Iteration(inner.count, lambda i: apply(inner.item(i)))


def _list_of(as_tuple: bool) -> Callable[..., Any]:
    def handler(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if not args:
            return Tup(()) if as_tuple else reader.new(ListValue([]))
        x = args[0]
        if isinstance(x, Var) and isinstance(x.kind, Opaque | Unknown):
            return NotImplemented
        made = listed(reader, x, frame, node)
        if made.var is None and as_tuple:
            return Tup(tuple(made.items))
        made.is_tuple = as_tuple
        return made

    return handler


builtin(list)(_list_of(False))
builtin(tuple)(_list_of(True))


def listed(reader: Reader, x: Any, frame: Frame | None = None, node: cst.CSTNode | None = None) -> ListValue:
    """A new list of the elements."""
    from .containers import running_list

    if isinstance(x, Generator):
        return comprehension(reader, x.frame, x.node, x.items)  # type: ignore[no-any-return]
    assert frame is not None or isinstance(x, Steps | Iteration)
    steps = x if isinstance(x, Steps | Iteration) else iteration(reader, frame, x, node)  # type: ignore[arg-type]
    if isinstance(steps, Steps):
        return reader.new(ListValue(list(steps.items)))  # type: ignore[no-any-return]
    made = running_list(reader, node)
    own = frame if frame is not None else Frame(None)  # type: ignore[arg-type]
    _over(reader, own, steps, lambda item: _append(reader, own, made, item), frozenset(), node)
    return made


def _append(reader: Reader, frame: Frame, made: ListValue, item: Any) -> None:
    from .containers import list_method

    list_method(reader, frame, made, "append", [item], {}, None)


# -- comprehensions ----------------------------------------------------------------------------------


def comprehension(
    reader: Reader, frame: Frame, node: cst.ListComp | cst.GeneratorExp, items: Any = None
) -> Any:
    """`[elt for x in xs if c]` as a list that is appended to; `items`: what `xs` was."""
    made: ListValue = reader.new(ListValue([], key=(node, *(c for c, _ in reader.calls))))
    made.element = reader.memo.get(made.key, UNDEFINED)
    def add() -> None:
        _append(reader, frame, made, value(reader, frame, node.elt))

    _clauses(reader, frame, node.for_in, add, items)
    return made


def dict_comprehension(reader: Reader, frame: Frame, node: cst.DictComp) -> Any:
    made: DictValue = reader.new(DictValue({}))

    def add() -> None:
        key = value(reader, frame, node.key)
        if not isinstance(key, Const):
            reader.refuse(
                frame, node, Code.UNSUPPORTED_SYNTAX, "a key that is not known before running", "use a list"
            )
        reader.change(made)
        made.items[key.value] = value(reader, frame, node.value)

    _clauses(reader, frame, node.for_in, add)
    return made


def _clauses(
    reader: Reader, frame: Frame, clause: cst.CompFor, innermost: Callable[[], None], items: Any = None
) -> None:
    """The `for` and `if` clauses, outermost first; their names are the comprehension's own."""
    targets = assigned_names([clause.target], targets=True)
    saved = {name: frame.env[name] for name in targets if name in frame.env}

    def conditions(remaining: list[cst.CompIf]) -> None:
        if remaining:
            test = value(reader, frame, remaining[0].test)
            truth = known_truth(test)
            if truth is None:
                reader.branches(frame, reader.arg(test), lambda: conditions(remaining[1:]), lambda: None)
            elif truth:
                conditions(remaining[1:])
        elif clause.inner_for_in is not None:
            _clauses(reader, frame, clause.inner_for_in, innermost)
        else:
            innermost()

    def body(item: Any) -> None:
        assign(reader, frame, clause.target, item)
        conditions(list(clause.ifs))

    items = value(reader, frame, clause.iter) if items is None else items
    steps = iteration(reader, frame, items, clause)
    if (
        isinstance(steps, Iteration)
        and steps.constant is not None
        and len(steps.constant) <= LONGEST_WRITTEN_OUT
    ):
        steps = Steps([Const(i) for i in steps.constant])
    _over(reader, frame, steps, body, frozenset(assigned_names([clause])), clause)
    for name in targets:
        frame.env.pop(name, None)
    frame.env.update(saved)


def _over(
    reader: Reader,
    frame: Frame,
    steps: Steps | Iteration,
    body: Callable[[Any], None],
    names: frozenset[str],
    node: Any,
) -> None:
    if isinstance(steps, Steps):
        for item in steps.items:
            body(item)
        return
    _for(reader, frame, steps, body, names, frozenset(), node)


def filtered(reader: Reader, frame: Frame, args: list[Any], node: Any) -> Any:
    """`filter(f, xs)` as a list."""
    made: ListValue = reader.new(ListValue([]))

    def keep(item: Any) -> None:
        test = item if args[0] == Const(None) else call(reader, frame, args[0], [item], {}, node)
        truth = known_truth(test)
        if truth is None:
            reader.branches(frame, reader.arg(test), lambda: _append(reader, frame, made, item), lambda: None)
        elif truth:
            _append(reader, frame, made, item)

    _over(reader, frame, iteration(reader, frame, args[1], node), keep, frozenset(), node)
    return made


def reduce_with(reader: Reader, frame: Frame, args: list[Any], node: Any) -> Any:
    """`functools.reduce(f, xs)`, one step after the other."""
    steps = iteration(reader, frame, args[1], node)
    if len(args) > 2:
        first = args[2]
    elif isinstance(steps, Steps):
        if not steps.items:
            return reader.fail(frame, TypeError, "reduce() of empty iterable with no initial value")
        first, steps = steps.items[0], Steps(steps.items[1:])
    else:
        first, steps = steps.item(Const(0)), _after_first(reader, steps)
    saved = frame.env.get(TOTAL)
    frame.env[TOTAL] = first

    def step(item: Any) -> None:
        frame.env[TOTAL] = call(reader, frame, args[0], [frame.env[TOTAL], item], {}, node)

    _over(reader, frame, steps, step, frozenset(), node)
    result = frame.env.pop(TOTAL)
    if saved is not None:
        frame.env[TOTAL] = saved
    return result


def _after_first(reader: Reader, steps: Iteration) -> Iteration:
    def count() -> Arg:
        return reader.binary("-", steps.count(), Const(1))

    return Iteration(count, lambda i: steps.item(reader.binary("+", i, Const(1))))


def over_items(
    reader: Reader, frame: Frame, steps: Steps | Iteration, step: Callable[[Any], None], node: Any
) -> None:
    """`step` of each element, one after the other."""
    _over(reader, frame, steps, step, frozenset(), node)


def over(reader: Reader, frame: Frame, rows: Var, step: Callable[[Arg], None], node: Any) -> None:
    """A loop over the positions of an array's rows."""
    positions = Iteration(lambda: reader.let(LENGTH, rows), lambda i: i)
    _over(reader, frame, positions, step, frozenset(), node)


TOTAL = "%sum"


def fold(reader: Reader, frame: Frame, x: Any, start: Any, node: Any) -> Any:
    """Python's `sum`."""
    from .calls import operation
    from .expressions import binary

    if isinstance(x, Var) and isinstance(x.kind, Array | Unknown):
        more = [] if start == Const(0) else [start]
        return operation(reader, frame, Ref(sum, "sum"), [x, *more], {}, node)
    if isinstance(x, Var) and isinstance(x.kind, Opaque):
        return NotImplemented
    own = x.frame if isinstance(x, Generator) else frame
    saved = own.env.get(TOTAL)
    own.env[TOTAL] = start

    def add(item: Any) -> None:
        total = own.env[TOTAL]
        first = total == Const(0) and isinstance(item, Var) and isinstance(item.kind, Array | Number)
        own.env[TOTAL] = item if first else binary(reader, own, "+", total, item, node)

    if isinstance(x, Generator):
        _clauses(reader, own, x.node.for_in, lambda: add(value(reader, own, x.node.elt)), x.items)
    else:
        _over(reader, own, iteration(reader, own, x, node), add, frozenset(), node)
    total = own.env.pop(TOTAL)
    if saved is not None:
        own.env[TOTAL] = saved
    return total


# -- statements --------------------------------------------------------------------------------------


#: Why a loop over a list is refused, and what to write.
CHANGED = ("the list is changed while it is looped over", "loop over a copy, or over positions in a `while`")


def _grows_what_it_counts(statements: list[Statement]) -> bool:
    """Whether a loop changes the length of a list of the running program that was counted for it."""
    if not any(isinstance(s, Let) and s.op.function is len for s in statements):
        return False
    aliases = Aliases(Function("", (), Block(tuple(statements), ())))
    counted: set[Var] = set()
    for s in statements:
        if isinstance(s, Let) and s.op.function is len and isinstance(arg_kind(s.args[0]), SequenceKind):
            counted |= {aliases.of(v) for v in variables(s.args[0])}
        for t in walk(Block((s,))) if isinstance(s, For) else ():
            changes = isinstance(t, Let) and (t.op.form == "delete" or t.effect == "write")
            if not isinstance(t, Let) or not changes or t.op.form not in ("method", "delete"):
                continue
            if t.op.text != "reverse" and any(aliases.of(v) in counted for v in variables(t.args[0])):
                return True
    return False


def for_loop(reader: Reader, frame: Frame, node: cst.For) -> None:
    if node.asynchronous is not None:
        reader.refuse(frame, node, Code.UNSUPPORTED_SYNTAX, "`async for` is not read", "write a plain loop")
    site = reader.site
    if not reader.splicing:
        text = f"for {frame.source.code(node.target)} in {frame.source.code(node.iter)}:"
        site = reader.site_of(frame, node, statement=True)
        reader.site = site = None if site is None else replace(site, text=text)
    items = value(reader, frame, node.iter)
    marked = isinstance(items, Iteration) and items.snapshots is not None
    steps: Steps | Iteration = items if marked else iteration(reader, frame, items, node.iter)
    suite = flatten(node.body)

    def body(item: Any) -> None:
        assign(reader, frame, node.target, item)
        read(reader, frame, suite)

    def check(rest: list[Any]) -> None:
        """The elements that are still to come are those that were there before the loop."""
        if not isinstance(items, ListValue) or DEAD in frame.env:
            return
        now = items.items[size - len(rest) :]
        same = len(items.items) == size and all(a is b for a, b in zip(now, rest, strict=True))
        if items.var is not None or not same:
            reader.refuse(frame, node, Code.MUTATION, *CHANGED)

    size = len(steps.items) if isinstance(steps, Steps) else 0
    orelse = flatten(node.orelse.body) if node.orelse else []
    names = frozenset(assigned_names([node]))
    outside = frozenset(names_read(frame.body, node)) if frame.body is not None else names
    counted = isinstance(steps, Iteration) and steps.snapshots is None  # and may be read trip by trip
    if (
        isinstance(steps, Iteration)
        and counted
        and steps.constant is not None
        and len(steps.constant) <= LONGEST
    ):
        mark, born, env = len(reader.journal), len(reader.statements), dict(frame.env)
        outer, frame.can_unroll = frame.can_unroll, True
        try:
            _for(reader, frame, steps, body, names, outside, node)
        except Unroll:
            reader.rewind(mark)
            del reader.statements[born:]
            frame.env = env
            steps = Steps([Const(i) for i in steps.constant])
        finally:
            frame.can_unroll = outer
            reader.site = site
    elif isinstance(steps, Iteration):
        begun = len(reader.statements)
        outer, frame.can_unroll = frame.can_unroll, False
        try:
            _for(reader, frame, steps, body, names, outside, node)
        finally:
            frame.can_unroll = outer
        if _grows_what_it_counts(reader.statements[begun:]):
            reader.refuse(frame, node, Code.MUTATION, *CHANGED)
    if isinstance(steps, Steps):
        _unrolled(reader, frame, steps.items, body, check)
    _else(reader, frame, orelse)


def _unrolled(
    reader: Reader,
    frame: Frame,
    items: list[Any],
    body: Callable[[Any], None],
    check: Callable[[list[Any]], None] = lambda rest: None,
) -> None:
    """A loop over known elements, one after the other."""
    for i, item in enumerate(items):
        frame.loops += 1
        try:
            body(item)
        finally:
            frame.loops -= 1
        check(items[i + 1 :])
        frame.env.pop(CONTINUE, None)
        flags = exit_flags(frame)
        if any(flag == Const(True) for flag in flags.values()):
            return
        if flags:
            rest = items[i + 1 :]
            if rest:
                left = any_of(reader, list(flags.values()))
                others = partial(_unrolled, reader, frame, rest, body, check)
                reader.branches(frame, left, lambda: None, others)
            return


def _else(reader: Reader, frame: Frame, orelse: list[cst.CSTNode]) -> None:
    """The `else` of a loop; after it a `break` has had its effect."""
    flags = exit_flags(frame)
    if orelse:
        if not flags:
            read(reader, frame, orelse)
        elif not any(flag == Const(True) for flag in flags.values()):
            left = any_of(reader, list(flags.values()))
            frame.env.pop(BREAK, None)
            reader.branches(frame, left, lambda: None, lambda: read(reader, frame, orelse))
    frame.env.pop(BREAK, None)


def while_loop(reader: Reader, frame: Frame, node: cst.While) -> None:
    give_up_if_static(reader)
    suite = flatten(node.body)
    names = frozenset(assigned_names([node]))
    outside = (
        frozenset(names_read(frame.body, node)) | names_read(node.test) if frame.body is not None else names
    )
    orelse = flatten(node.orelse.body) if node.orelse else []
    before = exit_flags(frame)
    mark, env, site = len(reader.journal), dict(frame.env), reader.site
    outer, frame.can_unroll = frame.can_unroll, False
    try:
        if not _binds_a_name(node.test):
            try:
                Loop(reader, frame, names, outside, node).run(
                    lambda: read(reader, frame, suite), lambda: reader.arg(value(reader, frame, node.test))
                )
            except _TestActs:
                reader.rewind(mark)
                frame.env, reader.site = env, site
            else:
                if _is_true(node.test):
                    _left_by_return(frame, before)
                if DEAD not in frame.env:
                    _else(reader, frame, orelse)
                return
        _while_true(reader, frame, node, Loop(reader, frame, names, outside, node))
    finally:
        frame.can_unroll = outer


class _TestActs(Exception):
    """The test of a `while` changes something, or binds a name: it is a part of each trip."""


def _acts(statements: list[Statement]) -> bool:
    """Whether memory is written to."""
    return any(isinstance(s, Let) and s.effect == "write" for s in walk(Block(tuple(statements), ())))


def _binds_a_name(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.NamedExpr) or any(map(_binds_a_name, children(node)))


def _while_true(reader: Reader, frame: Frame, node: cst.While, loop: Loop) -> None:
    """`while test: ...` as `while True: if not test: break; ...`, so that what the test does is reversed."""
    suite, orelse = flatten(node.body), flatten(node.orelse.body) if node.orelse else []
    if any(map(_leaves_loop, orelse)):
        reader.refuse(
            frame,
            node,
            Code.UNSUPPORTED_SYNTAX,
            "the `else` of a loop whose test changes something leaves another loop",
            "write it as `while True:`",
        )

    def leave() -> None:
        read(reader, frame, orelse)
        frame.env[BREAK] = Const(True)

    def trip() -> None:
        test = value(reader, frame, node.test)
        truth = known_truth(test)
        if truth is None:
            reader.branches(frame, reader.arg(test), lambda: read(reader, frame, suite), leave)
        elif truth:
            read(reader, frame, suite)
        else:
            leave()

    loop.run(trip, lambda: Const(True))
    frame.env.pop(BREAK, None)


def _leaves_loop(node: cst.CSTNode) -> bool:
    """Whether a `break` or `continue` of a loop further out stands in a statement."""
    if isinstance(node, cst.For | cst.While | cst.FunctionDef | cst.BaseExpression):
        return False
    return isinstance(node, cst.Break | cst.Continue) or any(map(_leaves_loop, children(node)))


def _is_true(test: cst.BaseExpression) -> bool:
    return (isinstance(test, cst.Name) and test.value == "True") or (
        isinstance(test, cst.Integer) and test.evaluated_value != 0
    )


def _left_by_return(frame: Frame, before: dict[str, Any]) -> None:
    """After `while True` without a `break`: if no other `return` was taken, the last one was."""
    flags = [name for name in exit_flags(frame) if name not in before]
    if not flags:
        frame.env[DEAD] = TRUE
    elif BREAK not in flags:
        frame.env[flags[-1]] = TRUE


def _for(
    reader: Reader,
    frame: Frame,
    steps: Iteration,
    body: Callable[[Any], None],
    names: frozenset[str],
    outside: frozenset[str],
    node: Any,
) -> None:
    give_up_if_static(reader)
    iterable = steps.plain
    if iterable is None:
        iterable = reader.let(
            Op("call", "range", range, Ref(range, "range")), steps.count(), kind=Opaque(range)
        )
    integers = steps.plain is None or _yields_integers(reader, steps)

    def at(index: Var) -> Any:
        if steps.plain is not None:
            return opened(reader, index)
        return steps.item(index)

    loop = Loop(reader, frame, names, outside, node)
    loop.iterable, loop.snapshots = iterable, steps.snapshots
    loop.index_kind = INT if integers else _element_kind(reader, iterable)
    loop.run(lambda: body(at(loop.index)))


def _yields_integers(reader: Reader, steps: Iteration) -> bool:
    plain = steps.plain
    if isinstance(plain, Var) and isinstance(plain.kind, Opaque) and plain.kind.type is range:
        return True
    return steps.constant is not None or (isinstance(plain, Var) and _is_reversed_range(reader, plain))


def _is_reversed_range(reader: Reader, plain: Var) -> bool:
    for s in reversed(reader.statements):
        if isinstance(s, Let) and plain in s.outs:
            source = s.args[0] if s.args else None
            return s.op.function is reversed and isinstance(source, Var) and source.kind == Opaque(range)
    return False


def _element_kind(reader: Reader, iterable: Arg) -> Kind:
    for s in reversed(reader.statements):
        if isinstance(s, Let) and iterable in s.outs and s.op.function is np.ndindex:
            return Opaque(tuple)
    return Opaque(None) if isinstance(arg_kind(iterable), Opaque) else UNKNOWN


# -- the loop itself ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pair:
    """A value that is a tuple of this length on every trip, unbound before the first."""

    length: int
    cls: Ref | None


@dataclass(frozen=True)
class _Fields:
    """A dict or object of this form on every trip, though not the same one."""

    cls: type | None  # None for a dict
    keys: frozenset[Any]

    @classmethod
    def of(cls, x: Any) -> _Fields | None:
        if not isinstance(x, DictValue | ObjectValue) or x.var is not None:
            return None
        return cls(x.cls if isinstance(x, ObjectValue) else None, frozenset(x.cells))

    def made(self, reader: Reader, cells: dict[Any, Any]) -> DictValue | ObjectValue:
        made = DictValue(cells) if self.cls is None else ObjectValue(self.cls, cells)
        return reader.new(made)  # type: ignore[no-any-return]


class Loop:
    """Reads a body until the kinds of what it carries are settled, then adds the statement."""

    def __init__(
        self, reader: Reader, frame: Frame, names: frozenset[str], outside: frozenset[str], node: Any
    ) -> None:
        self.reader, self.frame, self.node = reader, frame, node
        self.names, self.outside = set(names), set(outside)
        self.read_early: set[str] = set()  # names that a trip may read before it binds them
        self.assumed: dict[Any, Any] = {}  # kinds of carried leaves, by where they are
        self.taken: dict[Any, dict[Any, Any]] = {}  # dicts and objects at the start of a trip
        self.held: set[Any] = set()  # what may then be something that the surrounding code holds
        self.containers: list[Mutable] = []
        self.grown: list[Mutable] = []  # containers that must become objects before the loop
        self.functions: dict[str, Closure] = {}  # that only the body defines
        self.bound_anew: set[str] = set()  # names that only the body binds, of what cannot be carried
        self.iterable: Arg | None = None
        self.snapshots: Arg | None = None
        self.index_kind: Kind = INT
        self.index = Var("")
        self.params: list[Var] = []
        self.inits: list[Arg] = []
        self.yields: list[Arg] = []
        self.outs: list[Var] = []

    def run(self, body: Callable[[], None], test: Callable[[], Arg] | None = None) -> None:
        reader, frame = self.reader, self.frame
        site = reader.site
        for _ in range(40):
            mark, born, env = len(reader.journal), reader.serial, dict(frame.env)
            outer_widened, reader.widened = reader.widened, False
            reader.site = site
            try:
                settled = self._attempt(body, test, mark, born, env)
            except Carried as error:
                if error.name not in self.names or error.name in self.read_early:
                    raise
                self.read_early.add(error.name)
                self.outside.add(error.name)
                settled = False
            finally:
                widened, reader.widened = reader.widened, outer_widened or reader.widened
            if settled and not widened:
                return
            reader.rewind(mark)
            frame.env = env
            while self.grown:
                container = self.grown.pop()
                if not isinstance(container, ListValue):
                    reader.refuse(
                        frame,
                        self.node,
                        Code.MUTATION,
                        "a dict or object gains keys in a loop",
                        "give it all its keys before",
                    )
                reader.run(container)
        reader.refuse(
            frame,
            self.node,
            Code.UNSUPPORTED_SYNTAX,
            "the kinds in this loop do not settle",
            "simplify the loop",
        )

    def _attempt(
        self, body: Callable[[], None], test: Any, mark: int, born: int, env: dict[str, Any]
    ) -> bool:
        reader, frame = self.reader, self.frame
        self.grown, self.changed = [], False
        self.params, self.inits, self.yields, self.outs = [], [], [], []
        site, stale = reader.site, len(reader.stale)
        slots: list[tuple[Any, Any, Any]] = []  # key, value at the start of a trip, value before the loop
        for name in sorted(self.names, key=lambda n: list(env).index(n) if n in env else len(env)):
            init = env.get(name, UNBOUND)
            if init is UNBOUND and name not in self.outside:
                continue
            slots.append((("name", name), self._start(("name", name), init, name), init))
        if TOTAL in env:
            slots.append((("name", TOTAL), self._start(("name", TOTAL), env[TOTAL], "total"), env[TOTAL]))
        for n, container in enumerate(self.containers):
            for key, init in container.cells.items():
                hint = key if isinstance(key, str) and key.isidentifier() else ""
                slots.append((("cell", n, key), self._start(("cell", n, key), init, hint), init))
        for key, start, _ in slots:
            if key[0] == "name":
                if start is UNBOUND:
                    frame.env.pop(key[1], None)
                else:
                    frame.env[key[1]] = start
        self._fill(slots, 1)
        for name, value_ in list(frame.env.items()):
            if value_ is UNBOUND:
                del frame.env[name]
        self.index = Var("", self.index_kind)
        frame.loops += 1
        frame.assigned.append(frozenset(self.names))
        inits = list(self.inits)
        params = list(self.params)
        try:
            if test is not None:
                asked = len(reader.journal)
                with reader.block() as test_statements:
                    condition = test()
                if any(c.serial <= born for c, _, _ in reader.journal[asked:]) or _acts(test_statements):
                    raise _TestActs
            with reader.block() as statements:
                body()
                reader.site = site
                frame.env.pop(CONTINUE, None)
                flags = exit_flags(frame)
                self._carry_results()
                for key, start, init in slots:
                    new = (
                        frame.env.get(key[1], UNBOUND)
                        if key[0] == "name"
                        else self.containers[key[1]].cells.get(key[2])
                    )
                    self._end(key, start, init, new)
                stop = any_of(reader, list(flags.values())) if flags else None
        finally:
            frame.loops -= 1
            frame.assigned.pop()
        self._look_at_containers(mark, born)
        self.changed = self.changed or len(reader.stale) > stale  # the trip before has made them grow
        if self.changed or self.grown or reader.widened:
            return False
        outs = [Var(p.name, p.kind) for p in params]
        replaced = dict(zip(params, outs, strict=True))
        reader.rewind_found(mark, born)
        frame.env = env
        yields = [*self.yields]
        for name, flag in flags.items():
            out = Var(
                name.strip("%").rstrip("0123456789")
                + ("ed" if "return" in name else "_met" if "break" in name else ""),
                BOOL,
            )
            params.append(Var(out.name, BOOL))
            inits.append(Const(False))
            yields.append(reader.arg(flag))
            outs.append(out)
            env[name] = out
        if stop is not None:
            yields.append(stop)
        block = Block(tuple(statements), tuple(yields))
        trips = Var("trips", INT)
        if test is None:
            assert self.iterable is not None
            reader.add(
                For(
                    self.index,
                    self.iterable,
                    tuple(params),
                    tuple(inits),
                    block,
                    tuple(outs),
                    stop is not None,
                    trips,
                    site,
                    self.snapshots,
                )
            )
        else:
            question = Block(tuple(test_statements), (condition,))
            stops = stop is not None
            reader.add(While(question, tuple(params), tuple(inits), block, tuple(outs), stops, trips, site))
        for p, init, out in zip(params, inits, outs, strict=True):
            if init is UNBOUND and p.name and test is None:
                reader.maybe_unbound.add(out)
        ended = [(key, self._after(start, replaced), init) for key, start, init in slots]
        for key, end, _ in ended:
            if key[0] == "name":
                if end is UNBOUND:
                    frame.env.pop(key[1], None)
                else:
                    frame.env[key[1]] = end
        frame.lost |= self.bound_anew
        frame.env |= self.functions
        self._fill(ended, 1)
        return True

    def _carry_results(self) -> None:
        """What a `return` in the body has evaluated is carried out of the loop."""
        results = {name for name in self.frame.env if name.startswith(RESULT)} - self.names
        self.names |= results
        self.outside |= results
        self.changed = self.changed or bool(results)

    def _fill(self, slots: list[tuple[Any, Any, Any]], which: int) -> None:
        """Put values into the cells of the containers."""
        for n, container in enumerate(self.containers):
            cells = {
                key[2]: slot[which] for slot in slots for key in [slot[0]] if key[0] == "cell" and key[1] == n
            }
            self.reader.change(container)
            container.restore({k: cells[k] for k in container.cells}, container.var)

    def _start(self, key: Any, init: Any, name: str) -> Any:
        """What a carried value is at the start of a trip."""
        assumed = self.assumed.get(key)
        if assumed is None and init is UNBOUND and key[0] == "name" and key[1] in self.read_early:
            assumed = UNDEFINED
        if isinstance(assumed, _Pair):
            parts = init.items if isinstance(init, Tup) else (UNBOUND,) * assumed.length
            return Tup(tuple(self._start((*key, i), x, name) for i, x in enumerate(parts)), assumed.cls)
        if assumed is None and isinstance(init, Tup):
            return Tup(tuple(self._start((*key, i), x, name) for i, x in enumerate(init.items)), init.cls)
        if isinstance(assumed, _Fields):
            given = init.cells if isinstance(init, DictValue | ObjectValue) else {}
            made = assumed.made(
                self.reader,
                {
                    k: self._start((*key, k), given.get(k, UNBOUND), k if isinstance(k, str) else name)
                    for k in (given or sorted(assumed.keys, key=str))
                },
            )
            self.taken[made] = dict(made.cells)
            return made
        leaf = isinstance(init, Var) and init is not UNBOUND
        number = isinstance(init, Const) and isinstance(init.value, bool | int | float | complex | np.generic)
        if assumed is None and not leaf and not number:
            return init
        arg = self.reader.run(init) if isinstance(init, ListValue) else self.reader.arg(init)
        param = Var(name.strip("%"), assumed if assumed is not None else arg_kind(arg))
        self.params.append(param)
        self.inits.append(arg)
        if isinstance(param.kind, SequenceKind):
            return self.reader.new(ListValue([], param.kind.element, param))
        return param

    def _end(self, key: Any, start: Any, init: Any, new: Any) -> None:
        """Compare with what the trip leaves; yields in the order of the params."""
        if isinstance(start, ListValue) and start.var in self.params:
            start = start.var
        if self.reader.is_held(init) or self.reader.is_held(new):
            self.held.add(start)
        if isinstance(new, Choice):
            new = self._chosen(new)
        if isinstance(start, DictValue | ObjectValue) and start in self.taken:
            self._end_of_fields(key, start, init, new)
        elif isinstance(start, Var) and start is not UNBOUND:
            arg = (
                UNBOUND
                if new is UNBOUND
                else self.reader.run(new)
                if isinstance(new, ListValue)
                else self.reader.arg(new)
            )
            kind = join(start.kind, arg_kind(arg))
            if kind != start.kind:
                self.assumed[key] = kind
                self.changed = True
            self.yields.append(arg)
        elif isinstance(start, Tup) and isinstance(new, Tup) and len(new.items) == len(start.items):
            parts = init.items if isinstance(init, Tup) else (UNBOUND,) * len(start.items)
            for i, (s, n, x) in enumerate(zip(start.items, new.items, parts, strict=True)):
                self._end((*key, i), s, x, n)
        elif start is new or (isinstance(start, Const) and start == new) or _same_ref(start, new):
            pass
        elif start is UNBOUND and isinstance(new, Tup):
            self.assumed[key] = _Pair(len(new.items), new.cls)
            self.changed = True
        elif _Fields.of(new) is not None and (start is UNBOUND or _Fields.of(start) == _Fields.of(new)):
            self.assumed[key] = _Fields.of(new)
            self.changed = True
        elif start is UNBOUND and isinstance(new, Closure) and not new.defaults and new.frame is self.frame:
            self.functions[key[1]] = new  # it finds its names when it is called
        elif start is UNBOUND and not isinstance(new, Var | Const | ListValue):
            self.bound_anew.add(key[1])  # by each trip, and not to be read after the loop
        elif isinstance(new, Closure) and isinstance(start, Closure) and new.node is start.node:
            pass
        elif isinstance(start, Var | Const | Tup | ListValue) and not isinstance(new, Closure):
            arg = (
                self.reader.run(new)
                if isinstance(new, ListValue)
                else UNBOUND
                if new is UNBOUND
                else self.reader.arg(new)
            )
            before = (
                _kind_of_list(start)
                if isinstance(start, ListValue)
                else arg_kind(start)
                if not isinstance(start, Tup)
                else UNKNOWN
            )
            self.assumed[key] = join(before, arg_kind(arg)) if start is not UNBOUND else arg_kind(arg)
            self.changed = True
        else:
            self.reader.refuse(
                self.frame,
                self.node,
                Code.UNSUPPORTED_SYNTAX,
                f"{key[1]!r} becomes another function in the loop",
                "branch on a flag",
            )

    def _end_of_fields(self, key: Any, start: Any, init: Any, new: Any) -> None:
        """The parts of a dict or object that is another one after each trip."""
        cells = self.taken[start]
        touched = any(start.cells.get(k) is not v for k, v in cells.items())
        if touched or _Fields.of(new) != _Fields.of(start):
            self.reader.refuse(
                self.frame,
                self.node,
                Code.MUTATION,
                f"{key[1]!r} is changed in place in the loop, and becomes another object as well",
                "make a new one on each trip, of the same keys, or change it in place",
            )
        given = init.cells if isinstance(init, DictValue | ObjectValue) else {}
        for k, cell in cells.items():
            self._end((*key, k), cell, given.get(k, UNBOUND), new.cells[k])

    def _chosen(self, x: Any) -> Any:
        """One of two dicts or objects of the same form, part by part."""
        if not isinstance(x, Choice):
            return x
        one, two = self._chosen(x.then), self._chosen(x.orelse)
        form = _Fields.of(one)
        if form is None or form != _Fields.of(two):
            return x

        def part(k: Any) -> Any:
            return self.reader.branches(
                self.frame, x.condition, lambda: one.cells[k], lambda: two.cells[k]
            )

        return form.made(self.reader, {k: part(k) for k in one.cells})

    def _after(self, start: Any, replaced: dict[Var, Var]) -> Any:
        """What is carried, after the loop."""
        if isinstance(start, Var):
            return replaced.get(start, start)
        if isinstance(start, Tup):
            return Tup(tuple(self._after(x, replaced) for x in start.items), start.cls)
        if isinstance(start, DictValue | ObjectValue) and start in self.taken:
            form = _Fields.of(start)
            assert form is not None
            made: Any = form.made(
                self.reader, {k: self._after(x, replaced) for k, x in self.taken[start].items()}
            )
            return self.reader.hold(made) if start in self.held else made
        if isinstance(start, ListValue) and start.var in replaced:
            made = self.reader.new(ListValue([], start.element, replaced[start.var]))
            return self.reader.hold(made) if start.var in self.held else made
        return start

    def _look_at_containers(self, mark: int, born: int) -> None:
        """Containers from before the loop that the body changed become carried, or objects if they grew."""
        first: dict[Mutable, tuple[dict[Any, Any], Var | None]] = {}
        for container, cells, var in self.reader.journal[mark:]:
            if container.serial <= born:
                first.setdefault(container, (cells, var))
        for container, (cells, var) in first.items():
            if container.cells.keys() != cells.keys() or container.var is not var:
                self.grown.append(container)
                if container in self.containers:
                    self.containers.remove(container)
            elif container not in self.containers:
                self.containers.append(container)
                self.changed = True


def _kind_of_list(x: ListValue) -> Kind:
    """The kind that a list has, or gets where it becomes an object of the running program."""
    element = x.element if x.var is None or not isinstance(x.var.kind, SequenceKind) else x.var.kind.element
    for item in x.items if x.var is None else ():
        if isinstance(item, Var | Const):
            element = join(element, arg_kind(item))
    return SequenceKind(element)


def _same_ref(a: Any, b: Any) -> bool:
    return isinstance(a, Ref) and isinstance(b, Ref) and a.value is b.value


__all__ = ["Loop", "Number", "comprehension", "fold", "for_loop", "iteration", "listed",
           "subscript", "while_loop"]  # fmt: skip
