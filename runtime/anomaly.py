"""Finding where a nan came from.

In: `with detect_anomaly():` around forward and backward. Out: an error at the node whose gradient is the
first nan, with the traceback of the forward line that recorded it as a note.
"""

from __future__ import annotations

from typing import Any

from .modes import Context, state

__all__ = ["detect_anomaly", "is_anomaly_enabled", "set_detect_anomaly"]


class detect_anomaly(Context):
    """Keep the forward traceback of every node, and stop at the first nan of a backward.

    Args:
        check_nan: False only adds the forward traceback to errors in backward.

    >>> with detect_anomaly():
    ...     is_anomaly_enabled()
    True
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(anomaly=True, check_nan=check_nan)


class set_detect_anomaly(Context):
    """Switch anomaly detection on or off, from this call on, or until the end of a `with` block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        settings: dict[str, Any] = {"anomaly": mode, "check_nan": check_nan}
        super().__init__(**settings)
        self._before: dict[str, Any] | None = state.change(**settings)

    def __enter__(self) -> Any:
        before, self._before = self._before, None
        if before is None:
            return super().__enter__()
        self._entered.append(before)
        return self


def is_anomaly_enabled() -> bool:
    """Whether this thread detects anomalies."""
    return state.anomaly
