"""Overwriting: adjoint memory that is cleared and then added to is set to what is added.

In: a function. Out: the function with one store for the two, where nobody looks at the zeros in between.

    g = a_bar[i]                           g = a_bar[i]
    a_bar[i] = 0                           h = g / x
    h = g / x                      ->      a_bar[i] = h
    a_bar[i] += h
"""

from __future__ import annotations

from dataclasses import replace

from ..analyses.aliases import immutable, selects_once
from ..infer import arg_kind
from ..ir import STORE, Block, Const, Function, Let, Statement, Var, operands, rebuild, variables, walk
from ..ir import blocks as inner_blocks
from ..kinds import Array, Number, dtype_of
from .memory import memory_of


def overwrite(function: Function) -> Function:
    pass_ = _Overwrite(function)
    body = pass_.block(function.body)
    return replace(function, body=body) if pass_.changed else function


class _Overwrite:
    def __init__(self, function: Function) -> None:
        self.memory = memory_of(function)
        self.changed = False

    def block(self, block: Block) -> Block:
        body: list[Statement | None] = []
        cleared: dict[Var, int] = {}  # where memory was last cleared, by its class, until somebody reads it
        for s in block.body:
            s = rebuild(s, self.block)
            if isinstance(s, Let) and s.op.form == "augment" and isinstance(s.args[0], Var):
                at = cleared.pop(self.memory.of(s.args[0]), None)
                if at is not None and (instead := self._set(s, body[at])) is not None:
                    body[at] = None
                    s = instead
                    self.changed = True
            for v in _named(s):
                at = cleared.get(self.memory.of(v))
                if at is not None and not self._is_place(s, body[at]):
                    del cleared[self.memory.of(v)]
            if isinstance(s, Let) and s.op.form == "store" and s.args[2] == Const(0):
                assert isinstance(s.args[0], Var)
                cleared[self.memory.of(s.args[0])] = len(body)
            body.append(s)
        return Block(tuple(s for s in body if s is not None), block.yields)

    def _is_place(self, s: Statement, clearing: Statement | None) -> bool:
        """Whether a statement only says where was cleared: `v = a_bar[i]`, before `v += g`."""
        if not isinstance(s, Let) or not isinstance(clearing, Let) or s.op.form != "index":
            return False
        readers = self.memory.readers.get(s.out, [])
        added = [isinstance(r.statement, Let) and r.statement.op.form == "augment" for r in readers]
        return s.args == clearing.args[:2] and added == [True] and readers[0].operand == 0

    def _set(self, s: Let, clearing: Statement | None) -> Let | None:
        """The store in place of a sum: of exactly what was cleared, in the dtype that it has."""
        target, index, g = s.args
        made = self.memory.made.get(target) if isinstance(target, Var) else None
        if index == Const(Ellipsis) and made is not None and self._is_place(made, clearing):
            target, index = made.args
        if not isinstance(clearing, Let) or not isinstance(target, Var) or s.op.text != "+":
            return None
        if clearing.args[:2] != (target, index) or not selects_once(index):
            return None
        if not self.memory.is_adjoint(target):
            return None
        kind, into = arg_kind(g), target.kind
        if isinstance(g, Var) and not immutable(kind) and self.memory.of(g) is self.memory.of(target):
            return None
        if not isinstance(kind, Array | Number) or not (
            self.memory.same_dtype(kind, into) or (dtype_of(kind) == "float" and dtype_of(into) is not None)
        ):
            return None
        return replace(s, op=STORE, args=(target, index, g))


def _named(s: Statement) -> list[Var]:
    """The variables that a statement reads, those inside it included."""
    every = [*operands(s)]
    for block in inner_blocks(s):
        every += [*block.yields, *(a for t in walk(block) for a in operands(t))]
        every += [y for t in walk(block) for b in inner_blocks(t) for y in b.yields]
    return [v for arg in every for v in variables(arg)]


__all__ = ["overwrite"]
