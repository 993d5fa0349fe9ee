"""Accumulation: an adjoint that begins with zeros and is added to begins with what is added.

In: a function. Out: the function without the zeros, where the first addition certainly has their shape and
dtype.

    u_bar = np.zeros_like(u)
    u_bar += 2 * t                 ->      u_bar = 2 * t
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..infer import arg_kind
from ..ir import (
    BINARY_OPS,
    UNARY_OPS,
    VALUE,
    Block,
    Const,
    Function,
    Let,
    Op,
    Statement,
    Var,
    operands,
    rebuild,
    variables,
    walk,
)
from ..ir import blocks as inner_blocks
from ..kinds import Array, Number, dtype_of, is_real
from .memory import memory_of


def accumulate(function: Function) -> Function:
    pass_ = _Accumulate(function)
    body = pass_.block(function.body)
    return replace(function, body=body) if pass_.changed else function


@dataclass
class _Zeros:
    """Zeros that nobody has looked at yet."""

    position: int
    made: Let


class _Accumulate:
    def __init__(self, function: Function) -> None:
        self.memory = memory_of(function)
        self.changed = False

    def block(self, block: Block) -> Block:
        body: list[Statement | None] = []
        zeros: dict[Var, _Zeros] = {}
        for s in block.body:
            s = rebuild(s, self.block)
            added = self._full_addition(s, zeros)
            if added is not None:
                assert isinstance(s, Let)
                start = zeros.pop(added)
                first = self._first(s, start.made, body)
                if first is not None:
                    self.changed = True
                    body[start.position] = None
                    body.append(first)
                    continue
            if isinstance(s, Let) and (both := self._joined(s, body)) is not None:
                body[-1] = both
                self.changed = True
                continue
            for v in _read(s):
                zeros.pop(v, None)
            if isinstance(s, Let) and s.op.function is np.zeros_like and not s.kwargs and len(s.args) == 1:
                zeros[s.out] = _Zeros(len(body), s)
            body.append(s)
        return Block(tuple(s for s in body if s is not None), block.yields)

    def _full_addition(self, s: Statement, zeros: dict[Var, _Zeros]) -> Var | None:
        """The zeros to all of which a statement adds."""
        if (
            not isinstance(s, Let)
            or s.op.form != "augment"
            or s.op.text not in "+-"
            or s.args[1] != Const(Ellipsis)
        ):
            return None
        target = s.args[0]
        return (
            target
            if isinstance(target, Var) and target in zeros and target not in set(variables(s.args[2]))
            else None
        )

    def _first(self, s: Let, zeros: Let, body: list[Statement | None]) -> Let | None:
        """The statement that binds the adjoint to what is added first."""
        z, g = zeros.out, s.args[2]
        kind = arg_kind(g)
        if not isinstance(z.kind, Array) or not z.kind.dims or z.kind.dtype is None:
            return None
        if isinstance(kind, Number):
            if not is_real(kind) or s.op.text == "-":
                return None
            return replace(
                zeros, op=_like(zeros.op, "full_like", np.full_like), args=(zeros.args[0], g), site=s.site
            )
        if not (isinstance(g, Var) and self.memory.same_shape(g, z) and self.memory.same_dtype(kind, z.kind)):
            return None
        if s.op.text == "-":
            return Let((z,), UNARY_OPS["-"], (g,), (), "", s.site)
        if self.memory.is_fresh(g) and self.memory.reads_of(g) == 1:
            made = self._take_out(g, body)
            return (
                Let((z,), VALUE, (g,), (), "", s.site)
                if made is None
                else replace(made, outs=(z,), site=s.site)
            )
        return Let((z,), Op("method", "copy", np.copy), (g,), (), "", s.site)

    def _joined(self, second: Let, body: list[Statement | None]) -> Let | None:
        """`z = g.copy(); z += h` -> `z = g + h`."""
        first = body[-1] if body else None
        if not isinstance(first, Let) or first.op.function is not np.copy or second.op.form != "augment":
            return None
        if second.op.text not in "+-" or second.args[1] != Const(Ellipsis) or second.args[0] is not first.out:
            return None
        g, h = first.args[0], second.args[2]
        if (
            not isinstance(h, Var)
            or h is first.out
            or not self.memory.same_shape(g, h)
            or dtype_of(arg_kind(g)) != dtype_of(h.kind)
        ):
            return None
        return replace(first, op=BINARY_OPS[second.op.text], args=(g, h))

    def _take_out(self, g: Var, body: list[Statement | None]) -> Let | None:
        """The statement that made `g`, to be done here instead."""
        for i in range(len(body) - 1, -1, -1):
            s = body[i]
            if s is None:
                continue
            if isinstance(s, Let) and g in s.outs:
                body[i] = None
                return s
            if _may_write(s):
                return None
        return None


def _like(op: Op, name: str, function: object) -> Op:
    return replace(op, text=op.text.rpartition(".")[0] + "." + name, function=function)


def _may_write(s: Statement) -> bool:
    every = (s, *(t for b in inner_blocks(s) for t in walk(b)))
    return any(isinstance(t, Let) and t.effect for t in every)


def _read(s: Statement) -> set[Var]:
    found = {v for arg in operands(s) for v in variables(arg)}
    for b in inner_blocks(s):
        for t in b.body:
            found |= _read(t)
        found.update(v for y in b.yields for v in variables(y))
    return found
