"""Times of functions against each other, and tables.

    times = interleaved([f, g])  # seconds per call, the least of many rounds

The functions take turns, so that what disturbs the machine disturbs them alike, and the least time of each is
kept: ratios of these are steady where times are not.
"""

import sys
import time
from collections.abc import Callable, Sequence


def interleaved(
    functions: Sequence[Callable[[], object]], rounds: int = 15, each: float = 4e-3
) -> list[float]:
    """Seconds per call of each function."""
    counts = []
    for function in functions:
        function()
        counts.append(max(1, int(each / max(once(function, 1), 1e-7))))
    least = [float("inf")] * len(functions)
    for _ in range(rounds):
        for at, (function, count) in enumerate(zip(functions, counts)):
            least[at] = min(least[at], once(function, count) / count)
    return least


def once(function: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        function()
    return time.perf_counter() - began


def micro(seconds: float | None) -> str:
    """A time in microseconds, to three digits."""
    if seconds is None:
        return "-"
    us = seconds * 1e6
    return f"{us:.0f}" if us >= 100 else f"{us:.1f}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, with rich where it is installed."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        widths = [max(len(str(row[at])) for row in [columns, *rows]) for at in range(len(columns))]
        print(title)
        for row in [columns, *rows]:
            print(
                "  ".join(
                    f"{cell:<{w}}" if not at else f"{cell:>{w}}"
                    for at, (cell, w) in enumerate(zip(row, widths))
                )
            )
        return
    shown = Table(title=title, title_justify="left")
    for at, column in enumerate(columns):
        shown.add_column(column, justify="right" if at else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160).print(shown)
