"""Passes that make the IR smaller, one a file; `optimise` runs them to a fixpoint."""

from __future__ import annotations

from ..ir import Function
from .dead import eliminate_dead

PASSES = (eliminate_dead,)


def optimise(function: Function) -> Function:
    """All passes, in order."""
    for each in PASSES:
        function = each(function)
    return function
