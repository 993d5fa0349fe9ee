"""Stacks: what a loop carries from trip to trip is saved once, not at both ends of each trip.

In: a function whose forward loop pushes both a carried value and the next one. Out: the function that pushes
the value alone; the reverse loop carries the other end over.

    for x in xs:                            for x in xs:
        before.append(h)                        before.append(h)
        h = np.tanh(W @ h + x)                  h = np.tanh(W @ h + x)
        after.append(h)              ->     for _ in range(n):
    for _ in range(n):                          h_1 = before.pop()
        h = after.pop()                         ...
        h_1 = before.pop()                      h = h_1
        ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..ir import (
    Arg,
    Block,
    For,
    Function,
    Let,
    Statement,
    Var,
    While,
    blocks,
    operands,
    reads,
    variables,
    walk,
)
from .rewrite import Rewriter


def save_once(function: Function) -> Function:
    """Save what a loop carries once, what a block saves twice once, and what nobody reads not at all.

    Of the loops only those at the top of the function are looked at: the last value is at hand after them.
    """
    gone = _unread(function)
    if gone:
        function = _Drop(gone).run(function)
    while (twins := _twins(function)) is not None:
        function = _Merge(*twins).run(function)
    while (found := _find(function)) is not None:
        function = replace(function, body=_without(function.body, found))
    return function


def _unread(function: Function) -> set[Let]:
    """The pushes and pops of stacks whose values nobody reads."""
    uses = _uses(function)
    read = reads(function.body)
    gone: set[Let] = set()
    for stack in list(uses):
        pop = _pop_of(stack, uses)
        if pop is not None and pop.out not in read:
            gone.update(s for s in uses[stack] if isinstance(s, Let))
    return gone


class _Drop(Rewriter):
    def __init__(self, gone: set[Let]) -> None:
        super().__init__()
        self.gone = gone

    def let(self, old: Let, new: Let) -> list[Statement]:
        return [] if old in self.gone else [new]


def _twins(function: Function) -> tuple[Let, Let, Let] | None:
    """A push and a pop to go, and the pop that gives the same value."""
    uses = _uses(function)
    homes = {s: block for block in _all_blocks(function.body) for s in block.body}
    first: dict[tuple[int, Arg], Let] = {}
    for block in _all_blocks(function.body):
        for s in block.body:
            if not isinstance(s, Let) or s.op.form != "push" or not isinstance(s.args[1], Var):
                continue
            other = first.setdefault((id(block), s.args[1]), s)
            if other is s:
                continue
            kept, gone = _pop_of(other.args[0], uses), _pop_of(s.args[0], uses)
            if kept is not None and gone is not None and homes[kept] is homes[gone]:
                body = homes[kept].body
                return (s, kept, gone) if body.index(kept) < body.index(gone) else (other, gone, kept)
    return None


class _Merge(Rewriter):
    """Take away a push and a pop; the other pop gives its value."""

    def __init__(self, push: Let, kept: Let, gone: Let) -> None:
        super().__init__()
        self.push, self.gone = push, gone
        self.replace(gone.out, kept.out)

    def let(self, old: Let, new: Let) -> list[Statement]:
        return [] if old is self.push or old is self.gone else [new]


def _all_blocks(block: Block) -> Iterator[Block]:
    yield block
    for s in block.body:
        for inner in blocks(s):
            yield from _all_blocks(inner)


@dataclass(frozen=True)
class _Pair:
    """A carried value that is saved twice, and the reverse loop that takes both back."""

    loop: For | While
    reverse: For | While
    push: Let  # of the next value: to go
    pop: Let  # of it: to go
    kept: Let  # the pop of the value before
    last: Var  # the value after the loop


def _find(function: Function) -> _Pair | None:
    uses = _uses(function)
    loops = [s for s in function.body.body if isinstance(s, For | While)]
    for loop in loops:
        pushes: dict[Arg, Let] = {
            s.args[1]: s
            for s in loop.body.body
            if isinstance(s, Let) and s.op.form == "push" and isinstance(s.args[1], Var)
        }
        for param, y, out in zip(loop.params, loop.body.yields, loop.outs, strict=False):
            first, second = pushes.get(param), pushes.get(y)
            if first is None or second is None or first is second:
                continue
            kept, pop = _pop_of(first.args[0], uses), _pop_of(second.args[0], uses)
            reverse = next((r for r in loops if kept in r.body.body and pop in r.body.body), None)
            if kept is not None and pop is not None and reverse is not None and not reverse.stops:
                return _Pair(loop, reverse, second, pop, kept, out)
    return None


def _uses(function: Function) -> dict[Var, list[Statement]]:
    found: dict[Var, list[Statement]] = {}
    for s in walk(function.body):
        for arg in operands(s):
            for v in variables(arg):
                found.setdefault(v, []).append(s)
    return found


def _pop_of(stack: Arg, uses: dict[Var, list[Statement]]) -> Let | None:
    """The only pop of a stack that is pushed to once and popped from once."""
    users = uses.get(stack, []) if isinstance(stack, Var) else []
    pops = [s for s in users if isinstance(s, Let) and s.op.form == "pop"]
    pushes = [s for s in users if isinstance(s, Let) and s.op.form == "push"]
    return pops[0] if len(users) == 2 and len(pops) == len(pushes) == 1 else None


def _without(block: Block, pair: _Pair) -> Block:
    body: list[Statement] = []
    for s in block.body:
        if s is pair.loop:
            body.append(replace(pair.loop, body=_drop(pair.loop.body, pair.push)))
        elif s is pair.reverse:
            body.append(_carrying(pair))
        else:
            body.append(s)
    return replace(block, body=tuple(body))


def _drop(block: Block, gone: Let) -> Block:
    return replace(block, body=tuple(s for s in block.body if s is not gone))


def _carrying(pair: _Pair) -> For | While:
    """The reverse loop, with the value at the end of a trip carried from the start of the trip after it."""
    reverse, value = pair.reverse, pair.pop.out
    body = _drop(reverse.body, pair.pop)
    return replace(
        reverse,
        params=(*reverse.params, value),
        inits=(*reverse.inits, pair.last),
        outs=(*reverse.outs, Var(value.name, value.kind, value.hint)),
        body=replace(body, yields=(*body.yields, pair.kept.out)),
    )
