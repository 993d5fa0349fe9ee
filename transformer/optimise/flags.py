"""Flags: a flag that only repeats a condition is the condition.

In: a function. Out: the function whose `if`s and loops ask the condition itself.

    if s > 5.0:
        stop = True
    else:                  ->      if s > 5.0:
        stop = False                   break
    if stop:
        break
"""

from __future__ import annotations

from ..analyses.aliases import immutable
from ..ir import (
    FALSE,
    TRUE,
    Block,
    For,
    Function,
    If,
    Statement,
    Var,
    While,
    blocks,
    operands,
    variables,
    walk,
)
from .rewrite import Rewriter


def drop_flags(function: Function) -> Function:
    flags = _Flags(function)
    return flags.run(function)


class _Flags(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        asked, read = _readers(function)
        for s in walk(function.body):
            if isinstance(s, If) and isinstance(s.condition, Var) and immutable(s.condition.kind):
                for out, a, b in zip(s.outs, s.then.yields, s.orelse.yields, strict=True):
                    if a == TRUE and b == FALSE and asked.get(out) == read.get(out):
                        self.replace(out, s.condition)


def _readers(function: Function) -> tuple[dict[Var, int], dict[Var, int]]:
    """How often each value is asked for its truth, and how often it is read at all."""
    asked: dict[Var, int] = {}
    read: dict[Var, int] = {}

    def count(found: dict[Var, int], v: Var) -> None:
        found[v] = found.get(v, 0) + 1

    def visit(block: Block, holder: Statement | None) -> None:
        for s in block.body:
            for v in (v for arg in operands(s) for v in variables(arg)):
                count(read, v)
                if isinstance(s, If):
                    count(asked, v)
            for inner in blocks(s):
                visit(inner, s)
        for v in (v for arg in block.yields for v in variables(arg)):
            count(read, v)
        stop = (
            block.yields[-1]
            if isinstance(holder, For | While) and holder.stops and block is holder.body
            else None
        )
        if isinstance(stop, Var):
            count(asked, stop)

    visit(function.body, None)
    return asked, read
