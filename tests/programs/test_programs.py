"""Written programs: 100 without in-place mutation and 100 of every kind; `fuzz.py` runs many more."""

import random
import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from programs.program import difference, judge
from programs.strategy import programs
from programs.writer import EVERYTHING, READING, Dice, write

SETTINGS = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)


def assert_right(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = judge(program)
    note(str(program))
    if outcome.verdict == "refused":
        assert "<program " in outcome.reason, f"a refusal that names no line: {outcome.reason}"
    assert outcome.verdict != "wrong", outcome.reason


@SETTINGS
@given(programs(READING))
def test_programs_that_only_read(program):
    assert_right(program)


@SETTINGS
@given(programs(EVERYTHING))
def test_programs_of_every_kind(program):
    assert_right(program)


@pytest.mark.parametrize("features", [READING, EVERYTHING], ids=["reading", "everything"])
def test_few_programs_are_dropped(features):
    """The proof is only as good as the share of written programs that run and can be differenced."""
    kept = 0
    for seed in range(50):
        program = write(Dice(random.Random(seed)), features)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept += difference(program.load(), program.args) is not None
    assert kept >= 45
