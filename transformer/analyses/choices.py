"""Choices: values of which perhaps not every element is taken.

In: an IR function. Out: the variables that a choice (`np.where`, an index, a mask) is made from, and those
that these are computed from: what is infinite in them may be nothing to the result.

    r = np.sqrt(x)
    y = np.where(x > 0, r * 2, 0)          r and r * 2 are chosen from
    z = r * (x > 0)                        so is r, by a factor that is zero on purpose
"""

from __future__ import annotations

import operator

import numpy as np

from ..infer import arg_kind
from ..ir import Arg, Const, For, Function, If, Let, Statement, Try, Var, While, variables, walk
from ..kinds import Array, Unknown

#: Operations that take some of the elements of their operands.
_CHOOSE = frozenset({np.where, np.select, np.choose, np.piecewise, np.take, np.compress, np.extract})


#: Operations that are zero where an operand is.
_KEEP_ZERO = frozenset({operator.mul, operator.neg, np.multiply, np.negative, *_CHOOSE})


def zero_by_choice(function: Function) -> set[Var]:
    """The variables that a choice or a mask makes zero in places."""
    found: set[Var] = set()
    for s in walk(function.body):
        if not isinstance(s, Let) or s.op.function not in _KEEP_ZERO:
            continue
        made = s.op.function in _CHOOSE and any(arg in (Const(0), Const(0.0)) for arg in s.args[1:])
        if made or any(v in found or is_mask(v) for arg in s.args for v in variables(arg)):
            found.update(s.outs)
    return found


def is_mask(arg: Arg) -> bool:
    kind = arg_kind(arg)
    return isinstance(kind, Array) and kind.dtype == "b1"


def chosen_from(function: Function) -> set[Var]:
    """The variables that a choice may pass over, or part of them."""
    found: set[Var] = set()
    zero = zero_by_choice(function)
    statements = [*walk(function.body)]
    before = -1
    while len(found) != before:
        before = len(found)
        for s in reversed(statements):
            _statement(s, found, zero)
    return found


def _statement(s: Statement, found: set[Var], zero: set[Var]) -> None:
    if isinstance(s, Let):
        part = s.op.form == "index" and isinstance(arg_kind(s.args[0]), Array)
        masked = s.op.function in (operator.mul, np.multiply) and any(a in zero or is_mask(a) for a in s.args)
        chooses = part or masked or s.op.function in _CHOOSE
        if chooses or any(out in found for out in s.outs):
            sources = [v for arg in s.operands for v in variables(arg)]
            found.update(v for v in sources if isinstance(v.kind, Array | Unknown))
    elif isinstance(s, If | Try | For | While):
        blocks = {If: ("then", "orelse"), Try: ("body",)}.get(type(s), ("body",))
        for block in (getattr(s, name) for name in blocks):
            for out, y in zip(s.outs, block.yields, strict=False):
                if out in found:
                    found.update(variables(y))


__all__ = ["chosen_from", "is_mask", "zero_by_choice"]
