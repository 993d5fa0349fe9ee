"""`evaluate` runs the IR as Python runs the text.

What is read from a function evaluates to what the function returns; what is emitted does what the IR it was
emitted from evaluates to, to the last bit: for the golden inputs, the example kernels and written programs.
"""

from __future__ import annotations

import inspect
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import copy_arguments, leaves
from programs.writer import EVERYTHING, READING, Dice, write

from adjoin.transformer import pipeline
from adjoin.transformer.errors import AdjoinError
from adjoin.transformer.ir import Function, evaluate
from adjoin.transformer.kinds import signature_kind
from adjoin.transformer.lowering.lower import lower

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples")]

import kernels  # noqa: E402
from test_golden import NAMES, load  # noqa: E402

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def golden(name: str) -> Case:
    case = load(name)
    return case.f, case.args


def kernel(name: str) -> Case:
    module = kernels.load(name)
    return module.loss, module.example_args(module.SMALL)


def program(seed: int) -> Case:
    written = write(Dice(random.Random(seed)), READING if seed % 2 else EVERYTHING)
    return written.load(), written.args


CASES = [
    *(pytest.param(golden, name, id=name) for name in NAMES),
    *(pytest.param(kernel, name, id=f"kernel-{name}") for name in kernels.NAMES),
    *(pytest.param(program, seed, id=f"program-{seed}") for seed in range(1000, 1100)),
]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def kinds_of(function: Callable[..., Any], args: tuple[Any, ...]) -> dict[str, Any]:
    return {
        n: signature_kind(a, n) for n, a in zip(inspect.signature(function).parameters, args, strict=False)
    }


def outside(free: Any, function: Callable[..., Any]) -> dict[str, Any]:
    """The values of the free variables of a function: globals of its module."""
    values = {}
    for name, path in free:
        if len(path) != 1 or path[0][0] != "global":
            pytest.skip(f"{name} is no global of the module")
        values[name] = function.__globals__[path[0][1]]
    return values


def assert_same(got: Any, want: Any) -> None:
    assert type(got) is type(want) or np.shape(got) == np.shape(want)
    parts = list(leaves(got)), list(leaves(want))
    assert len(parts[0]) == len(parts[1])
    for g, w in zip(*parts, strict=True):
        assert isinstance(g, np.ndarray) == isinstance(w, np.ndarray)
        np.testing.assert_array_equal(np.asarray(g), np.asarray(w), strict=True)


@pytest.mark.parametrize(("make", "which"), CASES)
def test_what_is_read(make: Callable[[Any], Case], which: Any) -> None:
    function, args = make(which)
    try:
        lowered = lower(function, kinds_of(function, args))
    except AdjoinError as error:
        pytest.skip(f"refused: {error.code}")
    free = outside([(f.var.name, f.path) for f in lowered.free], function)
    assert_same(evaluate(lowered.function, *copy_arguments(args), **free), function(*copy_arguments(args)))


@pytest.mark.parametrize("mode", ["joint", "split"])
@pytest.mark.parametrize(("make", "which"), CASES)
def test_what_is_written(
    make: Callable[[Any], Case], which: Any, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, args = make(which)
    value = function(*copy_arguments(args))
    if np.ndim(value) and mode == "joint":
        pytest.skip("a result with dimensions")
    written: dict[str, Function] = {}
    emit = pipeline.emit

    def caught(ir: Function, *rest: Any, **options: Any) -> str:
        written[ir.name] = ir
        return emit(ir, *rest, **options)

    monkeypatch.setattr(pipeline, "emit", caught)
    kinds = kinds_of(function, args)
    wrt = tuple(name for name, kind in kinds.items() if kind.differentiable)
    try:
        made = pipeline.generate(function, pipeline.Request(tuple(kinds.items()), wrt, mode))
    except AdjoinError as error:
        pytest.skip(f"refused: {error.code}")
    module: dict[str, Any] = {"__name__": "written"}
    exec(compile(made.text, "<written>", "exec"), module)
    free = outside(made.free, function)

    def by_ir(name: str, values: tuple[Any, ...]) -> Any:
        return evaluate(written[name], *values, **{v.name: free[v.name] for v in written[name].free})

    def by_text(name: str, values: tuple[Any, ...]) -> Any:
        return module[name](*values, **{v.name: free[v.name] for v in written[name].free})

    results = []
    for run in (by_ir, by_text):
        result = run(made.entries[0], copy_arguments(args))
        if mode == "split":
            result = result[0], run(made.entries[1], (result[1], np.ones_like(value)[()]))
        results.append(result)
    assert_same(*results)
