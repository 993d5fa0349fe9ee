"""Dead code: what nobody reads is not computed.

In: a block and what is read after it. Out: the block without it. Statements with an effect stay; a loop loses
the carried values that only feed themselves.

    t = np.sin(x)
    y = x * 2          ->     y = x * 2
    yield y                   yield y
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..ir import (
    UNBOUND,
    Arg,
    Block,
    For,
    Function,
    If,
    Let,
    Statement,
    Try,
    Var,
    While,
    With,
    bound,
    operands,
    variables,
    walk,
)

#: Forms that only name or look at what is there.
_NEVER_RAISE = frozenset({"value", "shape", "enter", "declare"})


def eliminate_dead(function: Function, needed: Iterable[Var] = ()) -> Function:
    """The function without dead code; itself, if there was none.

    Args:
        needed: what is kept although nobody in the function reads it.
    """
    body = dead_block(function.body, set(needed))[0]
    return function if _weight(body) == _weight(function.body) else replace(function, body=body)


def _weight(block: Block) -> int:
    """How many statements there are, and what they bind."""
    weight = 0
    for s in walk(block):
        weight += 1 + (0 if isinstance(s, With) else len(bound(s)))
    return weight


def _read(args: Iterable[Arg]) -> set[Var]:
    return {v for arg in args for v in variables(arg)}


def dead_block(block: Block, after: set[Var], watched: bool = False) -> tuple[Block, set[Var]]:
    """The block without dead statements, and what is read from its start on.

    `watched`: inside a `try` with handlers, where what may raise is never for nothing.
    """
    live = after | _read(block.yields)
    kept: list[Statement] = []
    for s in reversed(block.body):
        new = _statement(s, live, watched)
        if new is not None:
            kept.append(new[0])
            live = new[1]
    return Block(tuple(reversed(kept)), block.yields), live


def _statement(s: Statement, live: set[Var], watched: bool) -> tuple[Statement, set[Var]] | None:
    if isinstance(s, Let):
        reached = UNBOUND not in _read(s.operands)  # else it comes after what raises
        raises = watched and s.op.form not in _NEVER_RAISE and reached
        if raises or s.effect or not s.outs or any(v in live for v in s.outs):
            return s, (live - set(s.outs)) | _read(s.operands)
        return None
    if isinstance(s, If):
        return _if(s, live, watched)
    if isinstance(s, For | While):
        return _loop(s, live, watched)
    if isinstance(s, Try):
        return _try(s, live, watched)
    return _with(s, live, watched)


def _if(s: If, live: set[Var], watched: bool) -> tuple[Statement, set[Var]] | None:
    keep = [i for i, v in enumerate(s.outs) if v in live]
    outs = tuple(s.outs[i] for i in keep)
    then, one = dead_block(replace(s.then, yields=tuple(s.then.yields[i] for i in keep)), live, watched)
    orelse, two = dead_block(replace(s.orelse, yields=tuple(s.orelse.yields[i] for i in keep)), live, watched)
    if not outs and not _substance(then) and not _substance(orelse):
        return None
    return replace(s, outs=outs, then=then, orelse=orelse), (one | two | _read([s.condition])) - set(outs)


def _substance(block: Block) -> bool:
    """Whether a block does anything (marks of reversed blocks are nothing)."""
    return any(not (isinstance(s, Let) and s.op.form == "enter") for s in block.body)


def _loop(s: For | While, live: set[Var], watched: bool) -> tuple[Statement, set[Var]] | None:
    keep = {i for i, v in enumerate(s.outs) if v in live}
    while True:
        chosen = sorted(keep)
        extra = s.body.yields[len(s.outs) :]
        params = tuple(s.params[i] for i in chosen)
        yields = tuple(s.body.yields[i] for i in chosen) + extra
        around = live | set()
        body, inside = dead_block(replace(s.body, yields=yields), around, watched)
        test = None
        if isinstance(s, While):
            test, inside = dead_block(s.test, inside, watched)
        more = {i for i, p in enumerate(s.params) if p in inside} - keep
        if not more:
            break
        keep |= more
    outs = tuple(s.outs[i] for i in chosen)
    inits = tuple(s.inits[i] for i in chosen)
    counted = s.trips in live
    if isinstance(s, For) and not outs and not counted and not _substance(body) and not s.stops:
        return None
    reads = (inside | _read(inits)) - set(params) - set(outs)
    if isinstance(s, For):
        reads |= _read([s.iterable])
        reads.discard(s.index)
        return replace(s, params=params, inits=inits, outs=outs, body=body), reads
    assert test is not None
    return replace(s, params=params, inits=inits, outs=outs, body=body, test=test), reads


def _try(s: Try, live: set[Var], watched: bool) -> tuple[Statement, set[Var]] | None:
    keep = [i for i, v in enumerate(s.outs) if v in live]
    around = set(live)
    inner = tuple(s.body.yields[i] for i in keep)
    body, inside = dead_block(replace(s.body, yields=inner), around, watched=True)
    handlers = []
    for h in s.handlers:
        caught = tuple(h.block.yields[i] for i in keep)
        block, more = dead_block(replace(h.block, yields=caught), around, watched)
        inside |= more
        handlers.append(replace(h, block=block))
    outs = tuple(s.outs[i] for i in keep)
    reads = (inside | _read(operands(s))) - set(outs) - {s.path}
    return replace(s, body=body, handlers=tuple(handlers), outs=outs), reads


def _with(s: With, live: set[Var], watched: bool) -> tuple[Statement, set[Var]] | None:
    body, inside = dead_block(s.body, live, watched)
    if not _substance(body) and s.name not in live:
        return None
    return replace(s, body=body), inside | _read([s.manager])
