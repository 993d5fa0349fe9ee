"""Checkpoints: parts of a function whose insides the reverse sweep computes again instead of keeping them.

In: a loop or a function in code that is to be differentiated. Out: the same when it runs; a gradient that is
the same as well, in less memory, for more arithmetic.

    for t in adjoin.checkpointed(range(n), snapshots=20):      block = adjoin.checkpoint(block)
        u = u + dt * step(u, k)
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

#: The attribute by which the transformer knows a function that `checkpoint` has returned: it holds the
#: function itself, because decorators hand attributes on to what they return.
MARK = "__adjoin_checkpoint__"


def checkpointed(items: Iterable[T], *, snapshots: int) -> Iterable[T]:
    """`items`, for a loop of which the gradient keeps no more than `snapshots` states at a time.

    For use in the head of a `for` statement; when the function is called as it is, this is `items`.
    A gradient keeps copies of what the loop changes, as it is before some of the trips, and runs the trips
    between these again. Which are kept is for the binomial schedule to say (Griewank & Walther 2000): with
    no other are fewer trips run again. The gradient is that of the plain loop.

    The body must do the same when it is run again: it draws no random numbers and prints nothing. A loop
    that is left by `break` or `return`, or that changes a list, is refused.

    Args:
        items: a range, array, list, `zip`, `enumerate`, ...
        snapshots: at least 1; how many states are kept at a time, besides that before the last trip. With s
            snapshots, (s + r)! / (s! r!) trips can be reversed with each run forward at most r times before
            the one that is differentiated: 231 trips with 20 snapshots and r = 2, 1771 with r = 3.

    Raises:
        ValueError: for `snapshots` less than 1.
        AdjoinError: by `grad`, for a loop that cannot be run again.

    >>> import numpy as np
    >>> from adjoin import checkpoint_report, checkpointed, grad
    >>> def f(x):
    ...     for t in checkpointed(range(10), snapshots=3):
    ...         x = x + 0.1 * np.sin(x)
    ...     return np.sum(x)
    >>> with checkpoint_report() as report:
    ...     grad(f)(np.zeros(2)).round(6)
    array([2.593742, 2.593742])
    >>> report.recomputed
    16
    """
    if snapshots < 1:
        raise ValueError(f"a checkpointed loop needs at least one snapshot, not {snapshots}")
    return items


def checkpoint(function: F) -> F:
    """The function, marked: a gradient runs it again instead of keeping what it computes inside.

    What is kept at each call are its arguments. Can be used as a decorator.

    The function must do the same when it is run again: it draws no random numbers and prints nothing.

    Args:
        function: of any arguments and results; a method too.

    >>> import numpy as np
    >>> from adjoin import checkpoint, grad
    >>> @checkpoint
    ... def block(x):
    ...     return np.tanh(np.sin(x) * x)
    >>> grad(lambda x: np.sum(block(x)))(np.zeros(3))
    array([0., 0., 0.])
    """

    @functools.wraps(function)
    def marked(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    setattr(marked, MARK, marked)
    return marked  # type: ignore[return-value]


@dataclass(frozen=True)
class Rerun:
    """A checkpointed loop that was reversed, or a checkpointed function (of one step).

    Attributes:
        name: of the step in the generated code.
        steps: how many trips the loop made.
        snapshots: how many states could be kept.
        recomputed: how many steps were run again.
    """

    name: str
    steps: int
    snapshots: int
    recomputed: int


@dataclass
class CheckpointReport:
    """What was run again: one `Rerun` for each time that a loop or function was reversed."""

    reruns: list[Rerun] = field(default_factory=list)

    @property
    def recomputed(self) -> int:
        """All steps that were run again."""
        return sum(each.recomputed for each in self.reruns)


class _Listener(logging.Handler):
    def __init__(self, report: CheckpointReport) -> None:
        super().__init__()
        self.report = report

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, tuple) and len(record.args) == 4:
            name, steps, snapshots, recomputed = record.args
            self.report.reruns.append(
                Rerun(str(name), *(int(str(n)) for n in (steps, snapshots, recomputed)))
            )


@contextmanager
def checkpoint_report() -> Iterator[CheckpointReport]:
    """Collect what checkpointed loops and functions run again in the gradients computed inside.

    Generated code tells it to the logger ``adjoin.checkpoint`` at level DEBUG; there it can also be had
    without this function, and from code that was built to run without adjoin.

    >>> from adjoin import checkpoint, checkpoint_report, grad
    >>> square = checkpoint(lambda x: x * x)
    >>> with checkpoint_report() as report:
    ...     grad(lambda x: square(square(x)))(2.0)
    32.0
    >>> report.recomputed
    2
    """
    report = CheckpointReport()
    logger, listener = logging.getLogger("adjoin.checkpoint"), _Listener(report)
    level, propagates = logger.level, logger.propagate
    logger.addHandler(listener)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield report
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)
        logger.propagate = propagates
