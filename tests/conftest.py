"""What holds for every test: a cache directory of its own, Hypothesis without a clock, verified IR."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

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
    from adjoin.transformer import optimise, pipeline
    from adjoin.transformer.verify import verify

    def checked(stage: Any, carried: bool) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            result = stage(*args, **kwargs)
            verify(getattr(result, "function", result), carried)
            return result

        return run

    def given(function: Any) -> Any:
        """What the first pass gets is what `adjoint` and `needed` have made."""
        verify(function, carried=False)
        return function

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "lower", checked(pipeline.lower, True))
        patch.setattr(pipeline, "privatise", checked(pipeline.privatise, True))
        patch.setattr(optimise, "PASSES", (given, *(checked(each, False) for each in optimise.PASSES)))
        yield
