"""Writes: what is written to adjoint memory after its last reader is not written.

In: a function. Out: the function without such stores.

    x_bar = np.sum(u_bar)                 x_bar = np.sum(u_bar)
    u_bar[4] = 0                   ->     yield x_bar
    yield x_bar
"""

from __future__ import annotations

from dataclasses import replace

from ..analyses.aliases import immutable
from ..ir import (
    Arg,
    Block,
    For,
    Function,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    operands,
    rebuild,
    variables,
)
from .memory import Memory, memory_of


def drop_writes(function: Function) -> Function:
    writes = _Writes(memory_of(function))
    writes.block(function.body, writes.classes(function.body.yields))
    return writes.without(function) if writes.gone else function


class _Writes:
    """A walk backwards with the classes of memory that is read later."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.gone: set[int] = set()

    def without(self, function: Function) -> Function:
        def strip(block: Block) -> Block:
            kept = (rebuild(s, strip) for s in block.body if id(s) not in self.gone)
            return replace(block, body=tuple(kept))

        return replace(function, body=strip(function.body))

    def classes(self, args: tuple[Arg, ...]) -> frozenset[Var]:
        return frozenset(self.memory.of(v) for arg in args for v in variables(arg) if not immutable(v.kind))

    def block(self, block: Block, live: frozenset[Var]) -> frozenset[Var]:
        for s in reversed(block.body):
            live = self._statement(s, live)
        return live

    def _statement(self, s: Statement, live: frozenset[Var]) -> frozenset[Var]:
        if isinstance(s, Let):
            return self._let(s, live)
        if isinstance(s, If):
            inside = self.block(s.then, live) | self.block(s.orelse, live)
            return inside | self.classes((s.condition,))
        while True:  # for a loop until a further trip reads nothing more
            self.gone -= {id(t) for b in blocks(s) for t in b.body}
            before = live.union(*(self.block(b, live) for b in reversed(blocks(s))))
            if isinstance(s, While):
                before |= self.classes(s.test.yields)
            if before == live:
                break
            live = before
        return live | self.classes((s.iterable,) if isinstance(s, For) else operands(s))

    def _let(self, s: Let, live: frozenset[Var]) -> frozenset[Var]:
        self.gone.discard(id(s))
        if s.op.form in ("store", "augment") and s.effect == "write" and isinstance(s.args[0], Var):
            target = self.memory.of(s.args[0])
            if target not in live and self.memory.is_adjoint(s.args[0]):
                self.gone.add(id(s))
                return live
            return live | self.classes(s.args[1:])
        mine = self.classes(s.outs) if not s.effect else frozenset()
        return live | (self.classes(s.operands) - mine)
