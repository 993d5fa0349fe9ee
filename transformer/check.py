"""`check`: is the gradient of a function right at these arguments?

In: a function and arguments. Out: a `Report`, which also prints itself as a small table.

    >>> check(lambda w, x: np.sum(np.sin(w) * x), np.ones(3), 2.0, quiet=True).ok
    True

Each argument is moved along a random direction, and two things are looked at that know nothing of each other:

- the slope along the direction: the one that the gradient says, against central differences, extrapolated
  from two steps, with the uncertainty that the two leave;
- the Taylor remainder f(x + h d) - f(x) - h <gradient, d>, which has to shrink like h**2; if the gradient is
  wrong it shrinks like h. The order is measured where the remainder stands above rounding.

A result that is not one number is reduced to one with random weights. Single precision is differenced in
double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .api import vjp
from .errors import AdjoinError, Code
from .gradient import Gradient
from .signature import parameters_of
from .source import read
from .structures import copied, leaves, mapped, number_like

__all__ = ["Report", "Row", "check"]

#: Steps along the direction, relative to the size of the argument.
_STEPS = tuple(2.0**-k for k in range(3, 13))
_DIFFERENCE_STEP = 2.0**-13


@dataclass(frozen=True)
class Row:
    """What was found for one argument.

    Attributes:
        argument: its name.
        slope: along the direction, as the gradient says.
        difference: the same by differences.
        uncertainty: how far the differences can be trusted.
        order: of the Taylor remainder: 2 if the gradient is right, 1 if not; nan where the remainder is
            rounding alone, as it is for a function that is linear in the argument.
        steps, remainders: what the order was measured from.
    """

    argument: str
    slope: float
    difference: float
    uncertainty: float
    order: float
    steps: tuple[float, ...] = ()
    remainders: tuple[float, ...] = ()

    @property
    def error(self) -> float:
        """The distance of the two slopes, relative to the larger."""
        size = max(abs(self.slope), abs(self.difference))
        return abs(self.slope - self.difference) / size if size else 0.0

    @property
    def ok(self) -> bool:
        return self.verdict == "right"

    @property
    def verdict(self) -> str:
        """``"right"``, ``"wrong"``, or ``"undecided"`` where the differences do not settle."""
        if not math.isfinite(self.slope):
            return "wrong" if math.isfinite(self.difference) else "undecided"
        agrees = abs(self.slope - self.difference) <= self.uncertainty
        second_order = math.isnan(self.order) or self.order > 1.7
        if agrees and second_order:
            return "right"
        size = max(abs(self.slope), abs(self.difference))
        settled = math.isfinite(self.difference) and self.uncertainty < 1e-3 * size
        return "wrong" if not agrees and settled else "undecided"


@dataclass(frozen=True)
class Report:
    """The result of `check`.

    Attributes:
        name: of the function.
        rows: one per argument that has a gradient.
        problem: what is wrong apart from the gradient, or "".
    """

    name: str
    rows: tuple[Row, ...]
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether every gradient was found right."""
        return not self.problem and bool(self.rows) and all(row.ok for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def raise_if_wrong(self) -> Report:
        """Itself, if all is well.

        Raises:
            AdjoinError: ADJ402, with the table, where a gradient is wrong or cannot be told to be right.
        """
        if self.ok:
            return self
        reason = self.problem or f"the gradient of `{self.name}` does not agree with its differences"
        rewrite = (
            "look at `.source`; at a kink or a jump nothing can agree, so move the arguments away from it"
        )
        error = AdjoinError(Code.WRONG_GRADIENT, reason, rewrite=rewrite)
        error.add_note(str(self))
        raise error

    def __str__(self) -> str:
        cells = [_HEAD, *map(_cells, self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(_HEAD))]
        lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells]
        return "\n".join([f"gradient of {self.name}", *(line.rstrip() for line in lines), *self._ending()])

    def _ending(self) -> list[str]:
        return [self.problem] if self.problem else []

    def print(self) -> None:
        """Print the table: with rich, if that is installed."""
        try:
            from rich.console import Console
            from rich.table import Table
        except ImportError:
            print(self)
            return
        table = Table(title=f"gradient of {self.name}", title_justify="left", box=None, pad_edge=False)
        for number, head in enumerate(_HEAD):
            table.add_column(head, justify="left" if number == 0 else "right")
        colours = {"right": "green", "wrong": "bold red", "undecided": "yellow"}
        for row in self.rows:
            *cells, verdict = _cells(row)
            table.add_row(*cells, f"[{colours[row.verdict]}]{verdict}[/]")
        console = Console()
        console.print(table)
        for line in self._ending():
            console.print(line, style="bold red")


_HEAD = ("argument", "slope by gradient", "by differences", "error", "Taylor order", "verdict")


def _cells(row: Row) -> tuple[str, ...]:
    order = "exact" if math.isnan(row.order) else f"{row.order:.2f}"
    slopes = f"{row.slope:.9g}", f"{row.difference:.9g}"
    return row.argument, *slopes, f"{row.error:.1e}", order, row.verdict


def check(
    f: Callable[..., Any], /, *args: Any, quiet: bool = False, random_state: int = 0, **kwargs: Any
) -> Report:
    """Compare the gradient of a function with the function.

    Args:
        f: a function, or its `grad`; the result may be of any form.
        args: its arguments, at a point where it is smooth. Every one that can have a gradient is checked.
        quiet: print nothing.
        random_state: of the directions.
        kwargs: further arguments of `f`, held constant.

    Returns:
        A `Report`: ``.ok``, ``.rows``, ``.raise_if_wrong()``.

    Raises:
        AdjoinError: where there is no gradient to check.

    >>> report = check(lambda x: x * x * x, 2.0, quiet=True).raise_if_wrong()
    >>> round(report.rows[0].order, 1)
    2.0
    """
    function = f.primal if isinstance(f, Gradient) else f
    report = _checked(function, args, kwargs, np.random.default_rng(random_state))
    if not quiet:
        report.print()
    return report


def _checked(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], rng: np.random.Generator
) -> Report:
    name = getattr(function, "__name__", type(function).__name__)
    value, pullback = vjp(function, *args, **kwargs)
    weights = mapped(lambda x: _like(x, rng) if number_like(x) else x, value)
    gradients = pullback(weights if not _is_number(value) else 1.0)
    if _is_number(value):
        weights = 1.0

    def number(*moved: Any) -> float:
        """The function, as one real number, in double precision."""
        new, named = copied((moved, kwargs))
        with np.errstate(all="ignore"):  # a step may leave the domain: that is nan, and does not count
            return _inner(weights, function(*new, **named))

    names = _names(function, len(args))
    wide = tuple(map(_widened, args))
    problem = ""
    if not _same(number(*wide), number(*wide)):
        problem = "two runs with the same arguments give different values: seed what is random"
    elif not _same(number(*args), _inner(weights, value)):
        problem = "the forward sweep gives another value than the function"
    rows = []
    for i, gradient in enumerate(gradients):
        if gradient is not None:
            direction = mapped(lambda x: _direction(x, rng) if number_like(x) else None, args[i])

            def along(step: float, i: int = i, direction: Any = direction) -> float:
                return number(
                    *wide[:i], mapped(lambda x, d: _moved(x, d, step), wide[i], direction), *wide[i + 1 :]
                )

            rows.append(_row(names[i], along, _inner(gradient, direction), _precision(args[i], value)))
    return Report(name, tuple(rows), problem)


def _names(function: Callable[..., Any], count: int) -> list[str]:
    source = read(function)
    found = [p.name for p in parameters_of(source) if p.kind <= p.POSITIONAL_OR_KEYWORD]
    star = next((p.name for p in parameters_of(source) if p.kind is p.VAR_POSITIONAL), "args")
    return [*found, *(f"{star}_{i}" for i in range(count))][:count]


def _is_number(value: Any) -> bool:
    return number_like(value) and np.ndim(value) == 0 and not np.iscomplexobj(value)


def _like(leaf: Any, rng: np.random.Generator) -> Any:
    """Random numbers of the shape and dtype of a leaf."""
    drawn = rng.normal(size=np.shape(leaf))
    if np.iscomplexobj(leaf):
        drawn = drawn + 1j * rng.normal(size=np.shape(leaf))
    array = np.asarray(drawn).astype(np.asarray(leaf).dtype)
    return array if isinstance(leaf, np.ndarray) else array[()]


def _direction(leaf: Any, rng: np.random.Generator) -> Any:
    """A direction of about the size of a leaf, in double precision."""
    size = float(np.mean(np.abs(leaf))) if np.size(leaf) else 0.0
    return _widened(_like(leaf, rng)) * (size if size and math.isfinite(size) else 1.0)


def _widened(value: Any) -> Any:
    """The same in double precision."""

    def wide(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | np.generic) or leaf.dtype.kind not in "fc":
            return leaf
        return leaf.astype(np.result_type(leaf.dtype, np.float64)) if leaf.dtype.itemsize < 16 else leaf

    return mapped(wide, value)


def _moved(leaf: Any, direction: Any, step: float) -> Any:
    return leaf if direction is None else leaf + step * direction


def _inner(a: Any, b: Any) -> float:
    """The real inner product of two structures; entries without numbers do not count."""
    total = 0.0
    for x, y in zip(leaves(a), leaves(b), strict=True):
        if number_like(x) and number_like(y):
            total += float(np.real(np.sum(np.conj(x) * y, dtype=np.result_type(np.float64, x, y))))
    return total


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-6 * abs(a)


def _precision(argument: Any, value: Any) -> float:
    """The relative precision that a gradient can have, by the narrowest dtype in play."""
    dtypes = [np.asarray(x).dtype for x in (*leaves(argument), *leaves(value)) if number_like(x)]
    narrow = max((float(np.finfo(d).eps) for d in dtypes if d.kind in "fc"), default=2.0**-52)
    return max(1e-7, 200 * narrow)


def _row(name: str, along: Callable[[float], float], slope: float, precision: float) -> Row:
    middle = along(0.0)
    coarse, fine = (_central(along, h) for h in (2 * _DIFFERENCE_STEP, _DIFFERENCE_STEP))
    difference = (4 * fine - coarse) / 3
    noise = 2.0**-50 * abs(middle)
    scale = max(abs(slope), abs(difference))
    uncertainty = abs(fine - coarse) + 8 * noise / _DIFFERENCE_STEP + precision * scale
    remainders = tuple(abs(along(h) - middle - h * slope) for h in _STEPS)
    floor = [64 * noise + precision * h * abs(slope) for h in _STEPS]
    order = _order(_STEPS, remainders, floor)
    return Row(name, slope, difference, uncertainty, order, _STEPS, remainders)


def _central(along: Callable[[float], float], step: float) -> float:
    return (along(step) - along(-step)) / (2 * step)


def _order(steps: Sequence[float], remainders: Sequence[float], floor: Sequence[float]) -> float:
    """The power of the step that the remainder shrinks with, at the smallest steps above rounding."""
    measured = zip(steps, remainders, floor, strict=True)
    usable = [(math.log(h), math.log(r)) for h, r, low in measured if low < r < math.inf]
    if len(usable) < 3:
        return math.nan
    x, y = zip(*usable[-4:], strict=True)
    return float(np.polyfit(x, y, 1)[0])
