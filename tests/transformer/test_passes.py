"""Every pass leaves a function that evaluates to what it was given.

The gradients that `generate` would write for worked examples, kernels and written programs are caught before
they are optimised, and taken through the passes one by one; after each, the result is evaluated.
"""

from __future__ import annotations

import inspect
import random
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import copy_arguments, leaves
from programs.writer import EVERYTHING, READING, Dice, write

import adjoin
from adjoin.transformer import pipeline
from adjoin.transformer.errors import AdjoinError
from adjoin.transformer.ir import Block, Function, Let, Statement, evaluate, rebuild, walk
from adjoin.transformer.kinds import signature_kind
from adjoin.transformer.optimise import PASSES, optimise

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "examples")]

import kernels  # noqa: E402
from worked_examples import cases  # noqa: E402

CASES = {name: rest for name, *rest in cases()}


def caught(
    function: Callable[..., Any], args: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> list[Function]:
    """The functions that are handed to the optimiser for the gradient by every argument."""
    found: list[Function] = []

    def catch(ir: Function) -> Function:
        found.append(ir)
        return optimise(ir)

    monkeypatch.setattr(pipeline, "optimise", catch)
    kinds = tuple(
        (name, signature_kind(arg, name)) for name, arg in zip(inspect.signature(function).parameters, args)
    )
    wrt = tuple(name for name, kind in kinds if kind.differentiable)
    pipeline.generate(function, pipeline.Request(kinds, wrt))
    return found


def in_one_layout(block: Block) -> Block:
    """The block with products of contiguous operands: of the same numbers in another layout BLAS may round
    the product otherwise, and a view may stand for a copy."""

    def product(x: Any, y: Any) -> Any:
        return np.ascontiguousarray(x) @ np.ascontiguousarray(y)

    def statement(s: Statement) -> Statement:
        s = rebuild(s, in_one_layout)
        is_product = isinstance(s, Let) and s.op.form == "operator" and s.op.text == "@"
        return replace(s, op=replace(s.op, function=product)) if is_product else s

    return replace(block, body=tuple(map(statement, block.body)))


def results(ir: Function, args: tuple[Any, ...]) -> list[np.ndarray[Any, Any]]:
    ir = replace(ir, body=in_one_layout(ir.body))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [np.array(leaf) for leaf in leaves(evaluate(ir, *copy_arguments(args)))]


def assert_passes_keep(ir: Function, args: tuple[Any, ...]) -> None:
    if ir.free:
        pytest.skip("reads a global")
    try:
        want = results(ir, args)
    except Exception as error:
        pytest.skip(f"the gradient itself raises: {error!r}")
    for each in PASSES:
        ir = each(ir)
        got = results(ir, args)
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g, w, err_msg=each.__name__, strict=True)


@pytest.mark.parametrize("name", CASES)
def test_worked_example(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, _, _, args = CASES[name]
    for ir in caught(function, args, monkeypatch):
        assert_passes_keep(ir, args)


@pytest.mark.parametrize("name", kernels.NAMES)
def test_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernels.load(name)
    args = kernel.example_args(kernel.SMALL)
    for ir in caught(kernel.loss, args, monkeypatch)[-1:]:
        assert_passes_keep(ir, args)


PROGRAMS = [
    pytest.param(seed, features, id=f"{label}-{seed}")
    for features, label in ((READING, "reading"), (EVERYTHING, "everything"))
    for seed in range(60)
]


@pytest.mark.parametrize(("seed", "features"), PROGRAMS)
def test_program(seed: int, features: frozenset[str], monkeypatch: pytest.MonkeyPatch) -> None:
    program = write(Dice(random.Random(seed)), features)
    try:
        found = caught(program.load(), program.args, monkeypatch)
    except AdjoinError as error:
        pytest.skip(str(error.code))
    for ir in found[-1:]:
        assert_passes_keep(ir, program.args)


def test_optimising_twice_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    function, _, _, args = CASES["loss"]
    (ir,) = caught(function, args, monkeypatch)
    once = optimise(ir)
    assert statements(optimise(once)) == statements(once)


def statements(ir: Function) -> list[str]:
    return [repr(s.op) for s in walk(ir.body) if isinstance(s, Let)]


GIVEN = {
    "a number": (lambda x: np.sum(x) * 2.0, np.ones((2, 3))),
    "a mean": (lambda x: np.mean(x), np.ones((2, 3), "f4")),
    "rows": (lambda x: np.sum(np.sum(x, axis=0) * np.arange(3.0)), np.ones((2, 3))),
    "a view": (lambda x: np.sum(x.T), np.ones((2, 3))),
    "with a store": (lambda x: np.sum(x) + np.sum(x[1:]), np.ones(4)),
    "in a container": (lambda d: np.sum(d["w"]) * d["b"], {"w": np.ones(3), "b": 2.0}),
    "Fortran's order": (lambda x: np.sum(x), np.ones((2, 3), order="F")),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_given_out_can_be_written_to(name: str) -> None:
    function, x = GIVEN[name]
    gradient = adjoin.grad(function)
    want = gradient(x)
    joint = gradient._last.entries[0](x)
    _, saved = gradient.forward(x)
    split = gradient._last.entries[1](saved.inner, saved.value * 0 + 1)
    for found in (joint, split):
        for got, like, of in zip(leaves(found), leaves(want), leaves(x)):
            np.testing.assert_array_equal(got, like)
            assert np.shape(got) == np.shape(of)
            if isinstance(of, np.ndarray):
                assert got.flags.writeable and got.dtype == of.dtype
