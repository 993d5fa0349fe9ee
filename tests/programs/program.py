"""A written program, and the judgement of its gradient.

In: source text that defines `f`, and arguments. Out: an `Outcome`, one of right, wrong, refused, dropped.

    judge(Program("def f(x):\n    return x * x\n", (3.0,))).verdict  # "right"

The judge runs the program plainly, differences it (dropping it where it has a kink or leaves the range of
doubles), and compares the gradient in joint and in forward/adjoint form, and the arguments before and after.
"""

from __future__ import annotations

import hashlib
import inspect
import linecache
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from helpers import assert_matches, assert_same_bits, copy_arguments, leaves, rebuilt, scaled

HEADER = "import types\n\nimport numpy as np\n\n"
STEPS = (1e-5, 2.5e-6)
RTOL, ATOL = 2e-5, 2e-7


@dataclass(frozen=True)
class Program:
    """Source text with a function `f`, and the arguments to differentiate it at.

    A list or dictionary among the arguments is differentiated in all its floats and arrays.
    """

    source: str
    args: tuple[Any, ...] = field(compare=False)

    def load(self) -> Callable[..., Any]:
        """The function `f`, with source that `inspect` can find."""
        text = HEADER + self.source
        filename = f"<program {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        scope: dict[str, Any] = {"__name__": "program"}
        exec(compile(text, filename, "exec"), scope)
        return scope["f"]

    def __str__(self) -> str:
        given = ", ".join(repr(arg).replace("array", "np.array") for arg in self.args)
        return f"{self.source}\n# at: f({given})"


@dataclass(frozen=True)
class Outcome:
    verdict: str  # "right", "wrong", "refused" or "dropped"
    reason: str = ""


def judge(program: Program) -> Outcome:
    """Compare the gradient of a program with its differences."""
    import adjoin

    try:
        f = program.load()
        value = f(*copy_arguments(program.args))
    except Exception as error:
        return Outcome("dropped", f"does not run: {error!r}")
    expected = difference(f, program.args)
    if expected is None:
        return Outcome("dropped", "differences disagree")
    if f(*copy_arguments(program.args)) != value:
        return Outcome("dropped", "depends on what ran before")
    argnums = tuple(range(len(program.args)))
    args = copy_arguments(program.args)
    before = [np.array(leaf) for leaf in leaves(args)]
    try:
        gradient = adjoin.grad(f, argnums=argnums)
        joint = gradient(*args)
        assert_same_bits("the arguments, after grad", list(leaves(args)), before)
        assert_matches("grad", joint, expected, program.args, RTOL, ATOL)
        forward_value, saved = gradient.forward(*args)
        assert_same_bits("the value of forward", [forward_value], [value])
        split = gradient.adjoint(saved, 2.0)
        assert_same_bits("the arguments, after adjoint", list(leaves(args)), before)
        assert_matches("adjoint", split, scaled(expected, 2.0), program.args, RTOL, ATOL)
        untyped = _untyped(f, argnums)
        if untyped is not None:
            found = untyped(*args)
            assert_same_bits("the arguments, after the untyped gradient", list(leaves(args)), before)
            if len(args) == 1:
                found = (found,)
            assert_matches("the gradient for unknown kinds", found, expected, program.args, RTOL, ATOL)
    except adjoin.AdjoinError as error:
        return Outcome("refused", str(error))
    except ValueError as error:
        if "what it has just written" not in str(error):
            return Outcome("wrong", "".join(traceback.format_exception(error)[-3:]))
        return Outcome("refused", f"<program at run time>: {error}")
    except Exception as error:
        kind = (
            ""
            if isinstance(error, AssertionError)
            else "".join(traceback.format_tb(error.__traceback__)[-2:])
        )
        return Outcome("wrong", f"{kind}{type(error).__name__}: {error}")
    return Outcome("right")


def _untyped(f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any] | None:
    """The gradient as it is written before any call; None where more has to be known of the arguments."""
    import adjoin

    names: dict[str, Any] = {}
    try:
        exec(adjoin.grad(f, argnums=argnums).source, names)
    except adjoin.AdjoinError:
        return None
    made = next(v for name, v in names.items() if name.endswith("_grad"))
    takes_more = any(p.kind is p.KEYWORD_ONLY for p in inspect.signature(made).parameters.values())
    return None if takes_more else made  # type: ignore[no-any-return]


def difference(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Central differences in the structure of the arguments; None where they cannot be trusted.

    They are trusted where two step sizes agree, and the slopes to the left and to the right too, so that a
    program that sits on a tie or a kink is dropped, whatever the convention there.
    """
    middle = f(*copy_arguments(args))
    if np.asarray(middle).dtype.kind != "f" or np.ndim(middle) != 0:
        return None
    if not np.isfinite(middle) or abs(middle) > 1e4:
        return None
    slopes: list[Any] = []
    for which, leaf in enumerate(leaves(args)):
        slope = np.zeros(np.shape(leaf))
        for at in np.ndindex(slope.shape):
            one = _slope(f, args, which, at, STEPS[0], middle)
            two = _slope(f, args, which, at, STEPS[1], middle)
            if one is None or two is None or not np.isclose(one, two, RTOL / 2, ATOL / 2):
                return None
            slope[at] = two
        slopes.append(slope if isinstance(leaf, np.ndarray) else float(slope))
    order = iter(slopes)
    return rebuilt(args, lambda leaf: next(order))


def _slope(f: Any, args: Any, which: int, at: tuple[int, ...], step: float, middle: float) -> float | None:
    with np.errstate(all="ignore"):
        try:
            up, down = (f(*_moved(args, which, at, by)) for by in (step, -step))
        except Exception:
            return None
    if not (np.isfinite(up) and np.isfinite(down)):
        return None
    right, left = (up - middle) / step, (middle - down) / step
    curved = 1e3 * step * (1 + abs(right) + abs(left))
    return (up - down) / (2 * step) if abs(right - left) < curved else None


def _moved(args: tuple[Any, ...], which: int, at: tuple[int, ...], by: float) -> tuple[Any, ...]:
    """A copy of the arguments with one element of one leaf moved."""
    new = copy_arguments(args)
    if isinstance(list(leaves(new))[which], np.ndarray):
        list(leaves(new))[which][at] += by
        return new
    count = iter(range(10**6))
    return rebuilt(new, lambda leaf: leaf + by if next(count) == which else leaf)
