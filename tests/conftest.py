"""What holds for every test: a cache directory of its own, Hypothesis without a clock, verified IR."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import hypothesis
import pytest
from verified import verify_every_stage

# Generated modules of the tests are neither taken from the user's cache nor left there, nor are those of the
# processes that tests start.
_CACHE = tempfile.TemporaryDirectory(prefix="adjoin-tests-")
os.environ["ADJOIN_CACHE_DIR"] = _CACHE.name

_PHASES = [phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.explain]  # it takes minutes
hypothesis.settings.register_profile(
    "tests", deadline=None, database=None, print_blob=True, phases=_PHASES
)
hypothesis.settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the golden files")


@pytest.fixture(autouse=True, scope="session")
def every_stage_is_verified() -> Iterator[None]:
    """Whatever a test transforms: the IR is verified when it is read, and after every pass."""
    with pytest.MonkeyPatch.context() as patch:
        verify_every_stage(patch.setattr)
        yield
