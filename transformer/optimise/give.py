"""Give: an array that is given out as a gradient is one that can be written to.

In: a function. Out: the function in which a number that was spread over a shape, and returned, is an array.

    x_bar = np.broadcast_to(2.0, x.shape)       ->       x_bar = np.full_like(x, 2.0)
    return x_bar                                         return x_bar

What `np.broadcast_to` makes shows one number over and over, and NumPy does not let it be written to. Inside a
process adjoin would copy it; whoever calls a built file should not have to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...runtime import support
from ..infer import arg_kind
from ..ir import Arg, Function, Let, Op, Ref, Statement, Var, variables
from ..kinds import Array, Number, dtype_of
from .memory import memory_of
from .rewrite import Rewriter


def give_arrays(function: Function) -> Function:
    """Make arrays of what the reverse sweep has spread and the function returns."""
    return _Give(function).run(function)


class _Give(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function
        self.memory = memory_of(function)
        self.given = {v for y in function.body.yields for v in variables(y)}

    def let(self, old: Let, new: Let) -> list[Statement]:
        if not self.reverse or len(new.outs) != 1 or new.out not in self.given:
            return [new]
        if not isinstance(new.out.kind, Array) or not self._is_spread(new):
            return [new]
        like = self._alike(new)
        if like is not None:
            return [replace(new, op=_full_like(new.op), args=(like, new.args[0]))]
        smaller = Var("", new.out.kind)
        return [replace(new, outs=(smaller,)), replace(new, op=_COPY, args=(smaller,), kwargs=())]

    def _is_spread(self, s: Let) -> bool:
        """Whether the result is made by `np.broadcast_to`, or may be a view of what is."""
        if s.op.function is np.broadcast_to:
            return True
        first = s.args[0] if s.args and s.op.function in _PASS_ON else None
        made = self.memory.made.get(first) if isinstance(first, Var) else None
        return made is not None and self._is_spread(made)

    def _alike(self, s: Let) -> Var | None:
        """An array of the shape and dtype of the result, where that is one number."""
        if s.op.function is not np.broadcast_to or not isinstance(arg_kind(s.args[0]), Number):
            return None
        for v in (*self.function.params, *self._measured(s.args[1], 3)):
            same = isinstance(v.kind, Array) and self.memory.same_shape(v, s.out)
            if same and dtype_of(v.kind) == dtype_of(s.out.kind) is not None:
                return v
        return None

    def _measured(self, shape: Arg, depth: int) -> Iterator[Var]:
        """The arrays that a shape, or its integers, are read from."""
        for v in variables(shape):
            if isinstance(v.kind, Array):
                yield v
            made = self.memory.made.get(v)
            for arg in made.args if made is not None and depth else ():
                yield from self._measured(arg, depth - 1)


#: What returns its first operand or a view of it, when it does not make an array.
_PASS_ON = frozenset(
    {support.real_if_real, np.reshape, np.transpose, np.expand_dims, np.moveaxis, np.swapaxes, np.squeeze}
)
_COPY = Op("method", "copy", np.copy)


def _full_like(spread: Op) -> Op:
    """`np.full_like`, by the name under which `np.broadcast_to` was called."""
    text = spread.text.replace("broadcast_to", "full_like")
    imports = spread.ref.imports if spread.ref is not None else ""
    return Op("call", text, np.full_like, Ref(np.full_like, text, imports))
