"""The writer as a Hypothesis strategy, so that a failing program is shrunk.

@given(programs(READING))
def test(program): ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from .program import Program
from .writer import write


class Drawn:
    """Choices made by Hypothesis."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return low if low == high else self.draw(st.integers(low, high))


@st.composite
def programs(draw: Callable[[Any], Any], features: frozenset[str]) -> Program:
    """Programs that use some of the features."""
    return write(Drawn(draw), features)
