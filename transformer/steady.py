"""Steady lists: a list that is read as a whole, and changed later, is read as a copy.

In: an IR function. Out: the same, in which an operation that takes such a list takes a copy of it.

    s = np.sum(np.array(h))         items = h[:]; s = np.sum(np.array(items))
    h.append(x)              ->     h.append(x)

In reverse, the adjoint of what was read has as many parts as the list had elements when it was read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ..runtime.rule import lookup
from .analyses.aliases import Aliases
from .ir import (
    INDEX,
    NONE,
    Arg,
    Block,
    For,
    Function,
    Let,
    Slc,
    Statement,
    Var,
    While,
    blocks,
    rebuild,
    substitute,
    variables,
    walk,
)
from .kinds import Sequence as SequenceKind

WHOLE = Slc(NONE, NONE, NONE)


def keep_steady(function: Function) -> Function:
    """The function with copies where lists change after they are read; itself, if there is no need."""
    changes = _Changes(function)
    copied = {id(s): lists for s in walk(function.body) if isinstance(s, Let) and (lists := changes.later(s))}
    if not copied:
        return function

    def steady(block: Block) -> Block:
        body: list[Statement] = []
        for s in block.body:
            copies = {v: Var("", v.kind) for v in copied.get(id(s), ())}
            body.extend(Let((copies[v],), INDEX, (v, WHOLE), (), "", s.site) for v in copies)
            body.append(rebuild(s, steady, partial(_renamed, copies)))
        return Block(tuple(body), block.yields)

    return replace(function, body=steady(function.body))


def _renamed(copies: dict[Var, Var], arg: Arg) -> Arg:
    return substitute(arg, lambda v: copies.get(v, v))


class _Changes:
    """When lists are changed, counted along the statements; a loop comes back to where it begins."""

    def __init__(self, function: Function) -> None:
        self.aliases = Aliases(function)
        self.start: dict[int, int] = {}  # of a statement, or of the outermost loop around it
        self.last: dict[Var, int] = {}  # classes of lists, with the last change
        self._visit(function.body, itertools.count(), None)

    def _visit(self, block: Block, count: Iterator[int], start: int | None) -> None:
        for s in block.body:
            at = next(count)
            self.start[id(s)] = at if start is None else start
            if isinstance(s, Let) and s.effect and s.args:
                lists = (v for v in variables(s.args[0]) if isinstance(v.kind, SequenceKind))
                self.last.update((self.aliases.of(v), at) for v in lists)
            for inner in blocks(s):
                self._visit(inner, count, self.start[id(s)] if isinstance(s, For | While) else start)

    def later(self, s: Let) -> list[Var]:
        """The lists that an operation with a derivative takes whole, and that change after it."""
        rule = lookup(s.op.function) if s.op.function is not None and s.op.form != "index" else None
        if rule is None or rule.signature is None or s.effect:
            return []
        lists = {v: None for arg in s.operands for v in variables(arg) if isinstance(v.kind, SequenceKind)}
        return [v for v in lists if self.last.get(self.aliases.of(v), -1) > self.start[id(s)]]
