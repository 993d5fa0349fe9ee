"""Checkpoints: a loop whose reverse sweep runs steps again instead of having saved what they computed.

In: a step as three functions (plain, forward, adjoint) and the state. Out: the state after the loop, a few
snapshots of the state on the way; then the adjoints.

    >>> def step(t, u):
    ...     return (u * u,)
    >>> def step_forward(t, u):
    ...     return (u * u,), u
    >>> def step_adjoint(saved, bars):
    ...     return (bars[0] * 2 * saved,)
    >>> u, checkpoints = run_checkpointed(step, range(3), 2, (1.5,), ())
    >>> u == 1.5**8
    True
    >>> reverse_checkpointed(step, step_forward, step_adjoint, checkpoints, (), (1.0,)) == (8 * 1.5**7,)
    True

The snapshots are taken where the binomial schedule has them (Griewank & Walther, Algorithm 799: revolve,
2000): no other schedule with as many snapshots runs fewer steps.
"""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np


def run_checkpointed(step: Any, items: Any, snapshots: Any, state: Any, fixed: Any, written: Any = ()) -> Any:
    """The state after every step, and the snapshots: `(*state, checkpoints)`.

    Args:
        step: `step(item, *state, *fixed)` returns the next state; it may write into the arrays of the state.
        items: what the loop goes over.
        snapshots: how many states may be kept at a time, the first one included, but not the one before the
            last step, which stands for all that the last step computes.
        state: what a step changes.
        fixed: what a step only reads.
        written: the positions in the state of arrays that are written to: these are copied.
    """
    if snapshots < 1:
        raise ValueError(f"a checkpointed loop needs at least one snapshot, not {snapshots}")
    items = items if isinstance(items, range) else list(items)
    state = own_state(state, written)
    kept: list[Any] = []
    next_snapshot = 0
    for at, item in enumerate(items):
        if (at == next_snapshot and len(kept) < snapshots) or at == len(items) - 1:
            kept.append((at, own_state(state, written)))
            next_snapshot = at + binomial_split(len(items) - at, snapshots - len(kept) + 1)
        state = step(item, *state, *fixed)
    return *own_state(state, written), (items, snapshots, written, kept)


def reverse_checkpointed(
    step: Any, step_forward: Any, step_adjoint: Any, checkpoints: Any, fixed: Any, bars: Any
) -> Any:
    """The adjoints before the loop from those after it, last step first.

    Args:
        step_forward: like `step`; returns its value and what `step_adjoint` needs.
        step_adjoint: from the adjoints after a step those before it.
        checkpoints: from `run_checkpointed`. All but the first state are used up; if they are used again, the
            steps are run from there.
        bars: adjoints of the state after the loop, and of what is fixed so far.
    """
    items, snapshots, written, kept = checkpoints
    recomputed = 0
    for at in reversed(range(len(items))):
        start, state = kept[-1]
        while start < at:
            free = snapshots - len(kept)
            until = start + binomial_split(at + 1 - start, free + 1)
            state = own_state(state, written)
            for item in items[start:until]:
                state = step(item, *state, *fixed)
            recomputed += until - start
            start = until
            if free > 0:
                kept.append((start, state))
        if kept[-1][0] == at > 0:
            kept.pop()
        saved = step_forward(items[at], *state, *fixed)[1]
        bars = step_adjoint(saved, bars)
        recomputed += 1
    log_recomputed(step, len(items), snapshots, recomputed)
    return bars


def binomial_split(steps: Any, snapshots: Any) -> Any:
    """How many steps to advance before the next snapshot is taken."""
    if steps < 2 or snapshots < 2:
        return max(steps - 1, 0)
    repeats = 1
    while math.comb(snapshots + repeats, snapshots) < steps:
        repeats += 1
    return min(
        math.comb(snapshots + repeats - 1, snapshots),
        steps - math.comb(snapshots + repeats - 2, snapshots - 1),
    )


def own_state(state: Any, written: Any) -> Any:
    """The state with copies of the arrays that are written to."""
    return tuple(x.copy() if i in written else x for i, x in enumerate(state))


def run_again(forward: Any, *args: Any) -> Any:
    """What a forward function saves, for its adjoint function."""
    log_recomputed(forward, 1, 1, 1)
    return forward(*args)[1]


def log_recomputed(step: Any, steps: Any, snapshots: Any, recomputed: Any) -> None:
    """Tell who listens (`adjoin.checkpoint_report`) how many steps were run again."""
    logging.getLogger("adjoin.checkpoint").debug(
        "%s: %d steps, %d snapshots, %d run again", step.__name__, steps, snapshots, recomputed
    )


def refuse_overlap(written: Any, others: Any) -> None:
    """Raise if an array that is written to shares memory with another that is used beside it."""
    arrays = [*written, *(x for x in others if hasattr(x, "strides"))]
    for i, x in enumerate(written):
        if any(np.shares_memory(x, y) for y in arrays[i + 1 :]):
            raise ValueError(
                "two arrays used in a checkpointed loop or function share memory, and one is written to: "
                "copy one of them before"
            )
