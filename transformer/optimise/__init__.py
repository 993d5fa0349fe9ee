"""Passes that make the IR smaller, one a file; `optimise` runs them, each preparing the next."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Function
from .accumulate import accumulate
from .algebra import simplify
from .copies import drop_copies
from .dead import eliminate_dead
from .flags import drop_flags
from .give import give_arrays
from .iterate import over_elements
from .order import put_last
from .overwrite import overwrite
from .points import drop_points
from .propagate import propagate
from .shapes import share_shapes
from .stacks import save_once
from .writes import drop_writes

PASSES: tuple[Callable[[Function], Function], ...] = (
    drop_points,
    drop_flags,
    eliminate_dead,
    share_shapes,
    save_once,
    simplify,
    propagate,
    eliminate_dead,
    simplify,
    eliminate_dead,
    accumulate,
    simplify,
    eliminate_dead,
    overwrite,
    drop_copies,
    over_elements,
    save_once,
    put_last,
    drop_writes,
    eliminate_dead,
    give_arrays,
    eliminate_dead,
)


def optimise(function: Function) -> Function:
    """All passes, in order."""
    for each in PASSES:
        function = each(function)
    return function
