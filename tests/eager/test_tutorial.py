"""What tutorials show, and the examples themselves."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import adjoin
from adjoin import Tensor, backward, no_grad, tensor
from adjoin import runtime as rt

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def test_scalar_backward():
    x, y = tensor(2.0, requires_grad=True), tensor(3.0, requires_grad=True)
    z = x**2 + y
    z.backward()
    assert isinstance(z, Tensor) and (x.grad.item(), y.grad.item()) == (4.0, 1.0)


def test_ones_as_gradient_are_the_sum():
    x = tensor([2.0, 1.0], requires_grad=True)
    y = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    z = x.view(1, 2) @ y
    z.backward(rt.ones_like(z), retain_graph=True)
    assert x.grad.tolist() == [3.0, 7.0] and y.grad.tolist() == [[2.0, 2.0], [1.0, 1.0]]
    x.grad = y.grad = None
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 7.0] and y.grad.tolist() == [[2.0, 2.0], [1.0, 1.0]]


def test_weights():
    x = tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    backward([y], grad_tensors=[tensor([1.0, 0.1, 0.01])], retain_graph=True)
    assert np.allclose(x.grad.numpy(), [2.0, 0.4, 0.06])
    y.backward(tensor([1.0, 0.1, 0.01]))
    assert np.allclose(x.grad.numpy(), [4.0, 0.8, 0.12])  # accumulated
    with no_grad():
        assert not (x * 2).requires_grad


@pytest.mark.parametrize("name", ["eager_basics", "eager_mlp"])
def test_examples_run(name, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(pathlib.Path(adjoin.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"},
        check=True,
    )
    if name == "eager_mlp":
        assert float(done.stdout.rstrip().rpartition(" ")[2].rstrip("%")) > 95
    else:
        assert "[3., 7.]" in done.stdout and (tmp_path / "eager_graph.svg").exists()


def test_tensors_in_generated_code():
    x = tensor([1.0, 2.0], requires_grad=True)
    g = adjoin.grad(lambda x: np.sum(np.sin(x) * x))(x)
    assert isinstance(g, Tensor) and np.allclose(g.detach().numpy(), np.sin([1, 2]) + np.cos([1, 2]) * [1, 2])
