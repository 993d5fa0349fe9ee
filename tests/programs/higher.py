"""The judgement of a program's tangent, and of its second derivatives.

In: a `Program`. Out: an `Outcome`. The gradient, which has its own judge, is what they are judged by.

    judge_higher(Program("def f(x):\n    return x * x\n", (3.0,))).verdict  # "right"

Along one direction the tangent of the value is the gradient times the direction, the tangent of the gradient
(`hvp`) its difference, and the pullback of the gradient, for any seed, the same number from the other side.
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
from helpers import copy_arguments

from .program import ATOL, RTOL, STEPS, Outcome, Program, judge

Parts = list[Any]


def judge_higher(program: Program) -> Outcome:
    import adjoin

    first = judge(program)
    if first.verdict != "right":
        return first
    if not all(isinstance(a, float | np.ndarray) for a in program.args):
        return Outcome("dropped", "arguments in containers")
    f, args = program.load(), copy_arguments(program.args)
    rng = np.random.default_rng(len(program.source))
    direction, seed = (_like(args, rng) for _ in range(2))
    argnums = tuple(range(len(args)))
    gradient = adjoin.grad(f, argnums=argnums)
    slope = _difference(gradient, args, direction)
    try:
        _, moved = adjoin.jvp(f, args, tuple(direction))
        _same("jvp", moved, _dot(gradient(*args), direction))
        if slope is None:
            return Outcome("dropped", "differences of the gradient disagree")
        product = adjoin.hvp(f, args, tuple(direction), argnums=argnums)
        for number, (got, want) in enumerate(zip(product, slope, strict=True)):
            _same(f"hvp, argument {number}", got, want)
        _, pullback = adjoin.vjp(gradient, *args)
        _same("the pullback of the gradient", _dot(pullback(tuple(seed)), direction), _dot(seed, product))
    except adjoin.AdjoinError as error:
        return Outcome("refused", str(error))
    except Exception as error:
        kind = "" if isinstance(error, AssertionError) else traceback.format_tb(error.__traceback__)[-1]
        return Outcome("wrong", f"{kind}{type(error).__name__}: {error}")
    return Outcome("right")


def _like(args: tuple[Any, ...], rng: np.random.Generator) -> Parts:
    return [rng.normal(size=a.shape) if isinstance(a, np.ndarray) else float(rng.normal()) for a in args]


def _dot(a: Any, b: Any) -> float:
    return float(sum(np.sum(x * y) for x, y in zip(a, b, strict=True)))


def _difference(gradient: Any, args: tuple[Any, ...], direction: Parts) -> Parts | None:
    """How the gradient changes along a direction; None where two step sizes disagree, or both sides do."""

    def at(step: float) -> Parts:
        moved = [a + step * d for a, d in zip(args, direction, strict=True)]
        return [np.asarray(g) for g in gradient(*moved)]

    here, slopes = at(0.0), []
    for step in STEPS:
        up, down = at(step), at(-step)
        slopes.append([(p - m) / (2 * step) for p, m in zip(up, down, strict=True)])
        for p, o, m, s in zip(up, here, down, slopes[-1], strict=True):
            curved = 1e3 * step * (1 + np.max(np.abs(s), initial=0))
            if not np.all(np.abs((p - o) - (o - m)) / step <= curved):
                return None
    agree = all(np.allclose(a, b, RTOL / 2, ATOL * 10) for a, b in zip(*slopes, strict=True))
    return slopes[1] if agree else None


def _same(what: str, got: Any, want: Any) -> None:
    assert np.shape(got) == np.shape(want), f"{what}: shape {np.shape(got)}, not {np.shape(want)}"
    scale = np.max(np.abs(want), initial=0)
    np.testing.assert_allclose(got, want, rtol=10 * RTOL, atol=1e-5 * (1 + scale), err_msg=what)
