"""Certain: which variables are bound whatever path a program takes.

In: the variables that are bound at the start, and statements. Out: a set of variables.

    if c:                        y is bound for certain, t is not: only one path yields it
        t = 1; y = t
    else:
        y = 2
"""

from __future__ import annotations

from collections.abc import Iterable

from ..ir import Block, For, If, Let, Statement, Try, Var, While, With, blocks, bound, variables


def certainly_bound(at_start: Iterable[Var], statements: Iterable[Statement]) -> set[Var]:
    """The variables that are bound after the statements, on every path through them."""
    found = set(at_start)
    _add(statements, found)
    return found


def _add(statements: Iterable[Statement], found: set[Var]) -> None:
    for s in statements:
        if isinstance(s, Let) and s.op.form == "touch":  # raises where it is not bound
            found.update(v for arg in s.args for v in variables(arg))
        ends = [_ending(block, found) for block in blocks(s)]
        if isinstance(s, With):
            _add(s.body.body, found)
            found.update(variables(s.name) if s.name is not None else ())
            continue
        for i, out in enumerate(bound(s)):
            given = [True]
            if isinstance(s, If | Try):
                given = [end[i] for end in ends if i < len(end)]
            elif isinstance(s, For | While) and i < len(s.inits):  # there may be no trip
                given = [all(v in found for v in variables(s.inits[i]))]
            if all(given):
                found.add(out)


def _ending(block: Block, found: set[Var]) -> list[bool]:
    """For each operand that a block yields, whether it is certainly bound there."""
    inside = set(found)
    _add(block.body, inside)
    return [all(v in inside for v in variables(y)) for y in block.yields]


__all__ = ["certainly_bound"]
