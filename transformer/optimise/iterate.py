"""Iteration: a loop over the positions of an array that only reads its elements goes over the elements.

In: a function. Out: the function with such loops; and those that only count do not count backwards.

    for i in range(len(xs)):               for x in xs:
        x = xs[i]                  ->          h = np.tanh(W @ h + x)
        h = np.tanh(W @ h + x)
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Block, For, Function, Let, Statement, Var, rebuild
from ..kinds import Array
from .memory import memory_of


def over_elements(function: Function) -> Function:
    return replace(function, body=_Iterate(function).block(function.body))


class _Iterate:
    def __init__(self, function: Function) -> None:
        self.memory = memory_of(function)

    def block(self, block: Block) -> Block:
        return replace(block, body=tuple(self._statement(s) for s in block.body))

    def _statement(self, s: Statement) -> Statement:
        if isinstance(s, For):
            s = self._any_order(self._loop(s))
        return rebuild(s, self.block)

    def _loop(self, s: For) -> For:
        array = self._array_of(s)
        readers = self.memory.readers.get(s.index, [])
        if array is None or len(readers) != 1:
            return s
        read = readers[0].statement
        if (
            not isinstance(read, Let)
            or read.op.form != "index"
            or read.args != (array, s.index)
            or read not in s.body.body
        ):
            return s
        body = tuple(t for t in s.body.body if t is not read)
        return replace(s, index=read.out, iterable=array, body=replace(s.body, body=body))

    def _any_order(self, s: For) -> For:
        """A loop that counts down, but does not look at the number, may as well count up."""
        made = self._made(s.iterable)
        if made is None or made.op.function is not reversed or self.memory.readers.get(s.index):
            return s
        inner = self._made(made.args[0])
        return replace(s, iterable=made.args[0]) if inner is not None and inner.op.function is range else s

    def _array_of(self, s: For) -> Var | None:
        """xs, of a loop over range(len(xs)) that nothing writes to."""
        positions = self._made(s.iterable)
        length = (
            self._made(positions.args[0])
            if positions and positions.op.function is range and len(positions.args) == 1
            else None
        )
        if length is None or not length.args:
            return None
        xs = length.args[0]
        is_length = length.op.function is len or (length.op.form == "shape" and length.op.text == "0")
        if not is_length or not isinstance(xs, Var) or not isinstance(xs.kind, Array) or not xs.kind.dims:
            return None
        return None if self.memory.is_written(xs) else xs

    def _made(self, arg: object) -> Let | None:
        return self.memory.made.get(arg) if isinstance(arg, Var) else None
