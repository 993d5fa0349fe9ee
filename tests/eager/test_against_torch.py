"""Random programs, run by PyTorch too where it is installed: values, flags, versions, gradients, errors."""

import importlib.util
import pathlib

import numpy as np
import pytest

from adjoin import runtime

_spec = importlib.util.spec_from_file_location("p", pathlib.Path(__file__).with_name("torch_programs.py"))
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_random_programs(first):
    torch = pytest.importorskip("torch")
    for seed in range(first, first + 100):
        difference = programs.compare(programs.program(seed), torch, runtime)
        assert difference is None, f"seed {seed}\n{difference}"


def test_the_comparison_can_fail():
    """Another value, another flag, another error: each is told from the same program."""
    for other in ("+", "-"):
        lines = ["t1 = T.ones(2, requires_grad=True)", f"t2 = t1 {other} t1", "t2.sum().backward()"]
        difference = programs.compare(lines, runtime, _Doubled)
        assert difference is not None and "t1.values" in difference
    assert programs.compare(["t1 = T.ones(2)"], runtime, runtime) is None
    assert "ours: None" in programs.compare(["t1 = T.ones(2)", "T.strange(t1)"], runtime, _Doubled)


class _Doubled:
    """A library that is wrong by a factor, and knows more."""

    strange = staticmethod(lambda value: value)

    @staticmethod
    def ones(*args, **kwargs):
        return runtime.full(args, 1.0 if not kwargs else 2.0, **kwargs)


def test_deviations():
    """What we do where PyTorch does otherwise, on purpose."""
    x = runtime.tensor([1.0, 2.0], requires_grad=True)
    t = x * 1.0
    t.mul_(t)  # PyTorch refuses the backward: the old values are gone there
    t.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    with runtime.no_grad():
        view = x[:1]
    assert not view.requires_grad  # PyTorch says True, and sends no gradient
    with np.errstate(invalid="ignore"):
        assert runtime.isnan(runtime.relu((x - x) / (x - x))).all()  # nan goes on, as there
