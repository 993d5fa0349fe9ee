"""Shapes: a value is not computed for its shape alone.

In: a function. Out: the function that asks `x.shape`, `x.size` or `np.zeros_like(x)` of the oldest value that
certainly has the same shape (and dtype), which is there anyway.

    t = (u - v) ** 2                        yield np.zeros(u.shape[0])
    yield np.zeros(t.shape[0])     ->
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ir import Arg, Block, Function, Let, Statement, Var
from ..kinds import Array
from .memory import memory_of
from .rewrite import Rewriter

_LIKE = frozenset({np.zeros_like, np.ones_like, np.empty_like, np.full_like})


def share_shapes(function: Function) -> Function:
    return _Shapes(function).run(function)


class _Shapes(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.oldest: dict[object, Var] = {}
        self.memory = memory_of(function)
        for v in (*function.params, *function.free):
            self._know(v)

    def _know(self, v: Var) -> None:
        if isinstance(v.kind, Array) and v.kind.dims and (key := self.memory.shape_key(v)) is not None:
            self.oldest.setdefault(key, v)

    def block(self, block: Block) -> Block:
        """What a block binds is at hand inside it alone."""
        outer = dict(self.oldest)
        try:
            return super().block(block)
        finally:
            self.oldest = outer

    def let(self, old: Let, new: Let) -> list[Statement]:
        if self.reverse and new.args and _asks_for_shape(new):
            new = replace(new, args=(self._older(new.args[0], new), *new.args[1:]))
        for v in new.outs:
            if v.name and not _unpacks(new) and not self._only_for_shape(v):  # a value that is there anyway
                self._know(v)
        return [new]

    def _only_for_shape(self, x: Var) -> bool:
        return all(
            isinstance(r.statement, Let) and _asks_for_shape(r.statement)
            for r in self.memory.readers.get(x, ())
        )

    def _older(self, x: Arg, s: Let) -> Arg:
        """The oldest value of the shape of an unnamed one, and of its dtype where that is taken over."""
        if not isinstance(x, Var) or x not in self.memory.made or (x.name and not self._only_for_shape(x)):
            return x
        key = self.memory.shape_key(x)
        found = self.oldest.get(key, x) if not isinstance(key, Var) else key
        if s.op.function in _LIKE and not (
            isinstance(found.kind, Array) and isinstance(x.kind, Array) and found.kind.dtype == x.kind.dtype
        ):
            return x
        return found


def _unpacks(s: Let) -> bool:
    """What a forward function saved: a value of a path that was not taken is None."""
    return (s.op.form == "value" and len(s.outs) > 1) or (s.op.form == "index" and s.op.function is None)


def _asks_for_shape(s: Let) -> bool:
    if s.op.form == "shape":
        return True
    if s.op.form == "attribute":
        return s.op.text in ("shape", "size", "ndim")
    return s.op.form == "call" and not s.kwargs and s.op.function in (*_LIKE, np.shape, np.size, np.ndim)


__all__ = ["share_shapes"]
