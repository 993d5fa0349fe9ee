"""Rewriting: a walk over a function that may replace each simple statement.

In: a function. Out: the function with each `Let` replaced by what `let` returns, and each value replaced by
the operand that `replace` was told.

    class Drop(Rewriter):
        def let(self, old, new):
            return []
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Arg, Block, Function, Let, Statement, Var, rebuild, substitute


class Rewriter:
    def __init__(self) -> None:
        self._new: dict[Var, Arg] = {}
        self.reverse = False  # past the mark at which the reverse sweep begins
        self.changed = False

    def run(self, function: Function) -> Function:
        """The function rewritten; itself, if there was nothing to rewrite."""
        body = self.block(function.body)
        return replace(function, body=body) if self.changed or self._new else function

    def replace(self, v: Var, arg: Arg) -> None:
        """From here on, `arg` is read in place of `v`."""
        self._new[v] = arg

    def arg(self, arg: Arg) -> Arg:
        return substitute(arg, lambda v: self._new.get(v, v)) if self._new else arg

    def let(self, old: Let, new: Let) -> list[Statement]:
        """What stands in place of a statement; `new` is `old` with its operands replaced."""
        return [new]

    def block(self, block: Block) -> Block:
        body: list[Statement] = []
        for s in block.body:
            if isinstance(s, Let):
                if s.op.form == "enter":
                    self.reverse = True
                new = rebuild(s, self.block, self.arg) if self._new else s
                assert isinstance(new, Let)
                instead = self.let(s, new)
                self.changed = self.changed or instead != [s]
                body.extend(instead)
            else:
                body.append(rebuild(s, self.block, self.arg))
        return Block(tuple(body), tuple(self.arg(y) for y in block.yields))
