"""Verified stages: the IR is checked when it is read, and after every pass, whatever is transformed.

In: how to set an attribute (`setattr`, or that of a monkeypatch). Out: nothing; from then on a stage that
breaks an invariant raises `Invalid`.

    verify_every_stage(setattr)
    grad(f)(x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def verify_every_stage(put: Callable[[Any, str, Any], None]) -> None:
    # Not before: the cache directory of the tests is set when they begin.
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

    put(pipeline, "lower", checked(pipeline.lower, True))
    put(pipeline, "privatise", checked(pipeline.privatise, True))
    put(optimise, "PASSES", (given, *(checked(each, False) for each in optimise.PASSES)))
