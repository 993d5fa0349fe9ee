"""Order: the next value of a carried variable is computed last, after all uses of the present one.

In: a function. Out: the function in which a pure statement whose value a loop carries on stands at the end of
the body if what it replaces is still read after it, so that both can have one name.

    next = s_bar * a                      a_bar = a_bar + s_bar * s
    a_bar = a_bar + s_bar * s      ->     next = s_bar * a
    yield next, a_bar                     yield next, a_bar
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Block, For, Function, Let, Statement, Var, While, blocks, operands, rebuild, variables
from .memory import is_computation, memory_of


def put_last(function: Function) -> Function:
    return replace(function, body=_Order(function).block(function.body))


class _Order:
    def __init__(self, function: Function) -> None:
        self.memory = memory_of(function)

    def block(self, block: Block) -> Block:
        return replace(block, body=tuple(self._statement(s) for s in block.body))

    def _statement(self, s: Statement) -> Statement:
        if isinstance(s, For | While):
            s = replace(s, body=self._loop_body(s))
        return rebuild(s, self.block)

    def _loop_body(self, s: For | While) -> Block:
        body = list(s.body.body)
        for param, y in zip(s.params, s.body.yields, strict=False):
            if not isinstance(y, Var):
                continue
            at = next((i for i, t in enumerate(body) if isinstance(t, Let) and y in t.outs), None)
            last = max((i for i, t in enumerate(body) if param in _read(t)), default=-1)
            if at is not None and last > at and self._can_move(body, at):
                body.append(body.pop(at))
        return replace(s.body, body=tuple(body))

    def _can_move(self, body: list[Statement], at: int) -> bool:
        s = body[at]
        if not isinstance(s, Let) or not is_computation(s) or any(s.out in _read(t) for t in body[at + 1 :]):
            return False
        here = self.memory.where[id(s)]
        return self.memory.are_still(s.operands, here, replace(here, position=len(body)))


def _read(s: Statement) -> set[Var]:
    found = {v for arg in operands(s) for v in variables(arg)}
    for b in blocks(s):
        for t in b.body:
            found |= _read(t)
        found.update(v for y in b.yields for v in variables(y))
    return found
