"""Copies: a copy that is only read before its original changes is not made.

In: a function. Out: the function in which such a copy is the original.

    g = u_bar[1:-1].copy()                    g = u_bar[1:-1]
    k_bar = np.sum(g * t)              ->     k_bar = np.sum(g * t)
    u_bar[1:-1] += g * k                      u_bar[1:-1] += g * k
"""

from __future__ import annotations

import numpy as np

from ..ir import Function, Let, Statement, Var
from ..kinds import Array
from .memory import memory_of
from .rewrite import Rewriter


def drop_copies(function: Function) -> Function:
    return _Copies(function).run(function)


class _Copies(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.memory = memory_of(function)

    def let(self, old: Let, new: Let) -> list[Statement]:
        if not (
            self.reverse
            and new.op.form == "method"
            and new.op.function is np.copy
            and len(new.args) == 1
            and not new.kwargs
        ):
            return [new]
        original, copy = new.args[0], new.out
        if isinstance(original, Var) and isinstance(copy.kind, Array) and isinstance(original.kind, Array):
            if self.memory.can_be(copy, original):
                self.replace(copy, original)
                original.name = original.name or copy.name
                return []
        return [new]
