"""Generated gradients in eager code: a function, or a gradient, becomes one node."""

from __future__ import annotations

import numpy as np
import pytest

import adjoin
from adjoin import runtime as rt
from adjoin.runtime import tensor
from adjoin.runtime.autograd import grad, gradcheck, gradgradcheck


@adjoin.grad
def loss(w, X, y):
    r = np.sin(X @ w) - y
    return r @ r


@adjoin.grad(argnums=(0, 1))
def energy(x, c):
    e = 0.0
    for i in range(1, len(x)):
        e += c[i] * (x[i] - x[i - 1] ** 2) ** 2
    return e


def filled(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2 * x[0]
    return out


RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((5, 3)), RNG.standard_normal(5)


def leaf(*values):
    return tensor(values[0] if len(values) == 1 else list(values), requires_grad=True)


def test_a_gradient_called_with_tensors_is_one_node():
    w = leaf(0.5, -0.25, 1.0)
    a = w * 2
    g = loss(a, X, Y)
    assert isinstance(g, rt.Tensor) and np.allclose(g.detach().numpy(), loss(a.detach().numpy(), X, Y))
    node = g.grad_fn
    assert node.name() == "LossGradBackward" and node.next_functions[1][0] is a.grad_fn
    v = tensor([1.0, 2.0, -1.0])
    g.backward(v)
    point, eps = a.detach().numpy(), 1e-6
    expected = 2 * (loss(point + eps * v.numpy(), X, Y) - loss(point - eps * v.numpy(), X, Y)) / (2 * eps)
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-7)


def test_it_is_right_by_differences():
    x, c = tensor(RNG.uniform(0.5, 1.5, 4), requires_grad=True), tensor(RNG.uniform(0.5, 1.5, 4))
    assert gradcheck(lambda x: energy(x, c), (x,))
    c.requires_grad_()
    assert gradcheck(lambda x, c: energy(x, c), (x, c))
    w = leaf(0.5, -0.25, 1.0)
    assert gradcheck(lambda w: loss(w, X, Y), (w,)) and gradgradcheck(lambda w: loss(w, X, Y), (w,))
    both = adjoin.value_and_grad(loss.primal)
    assert gradcheck(lambda w: both(w, X, Y), (w,))
    alone = adjoin.value_and_grad(loss.primal, argnums=(0,))
    assert gradcheck(lambda w: (alone(w, X, Y)[0], *alone(w, X, Y)[1]), (w,))
    assert isinstance(alone(w, X, Y)[1], tuple) and isinstance(alone(w.detach().numpy(), X, Y)[1], tuple)
    value, g = both(w, X, Y)
    assert value.grad_fn is g.grad_fn and (value.output_nr, g.output_nr) == (0, 1)


def test_without_a_gradient_the_result_is_a_leaf():
    w = tensor([0.5, -0.25, 1.0])
    g = loss(w, X, Y)
    assert isinstance(g, rt.Tensor) and g.is_leaf and not g.requires_grad
    with rt.no_grad():
        assert loss(leaf(0.5, -0.25, 1.0), X, Y).is_leaf
    assert not loss(w, X, Y).requires_grad and isinstance(loss(w.numpy(), X, Y), np.ndarray)


def test_the_function_itself():
    x, c = leaf(1.0, 2.0, 0.5), tensor([1.0, 2.0, 3.0])
    e = rt.lift(energy)(x, c)
    assert e.grad_fn.name() == "EnergyBackward" and e.shape == ()
    (g,) = grad(e, x)
    np.testing.assert_allclose(g.numpy(), energy(x.detach().numpy(), c.numpy())[0])
    assert gradcheck(lambda x: rt.lift(energy)(x, c), (x,))
    y = rt.lift(adjoin.grad(filled))(x)
    assert y.tolist() == [1.0, 4.0, 0.25] and gradcheck(rt.lift(adjoin.grad(filled)), (x,))


def test_second_order_is_recorded_or_refused():
    x, c = leaf(1.0, 2.0, 0.5), tensor([1.0, 2.0, 3.0])
    assert gradgradcheck(lambda x: rt.lift(energy)(x, c), (x,))
    y = rt.lift(adjoin.grad(filled))(x)
    with pytest.raises(RuntimeError, match="one by one"):  # stores into np.zeros cannot be recorded
        grad(y.sum(), x, create_graph=True)

    def noisy(x, rng):
        return np.sum(x * x * rng.standard_normal(3))

    z = rt.lift(adjoin.grad(noisy))(x, np.random.default_rng(1))
    draws = np.random.default_rng(1).standard_normal(3)
    (g,) = grad(z, x, retain_graph=True)
    np.testing.assert_allclose(g.numpy(), 2 * x.detach().numpy() * draws)
    with pytest.raises(RuntimeError, match="random"):
        grad(z, x, create_graph=True)


def test_arguments_are_kept_as_they_were():
    w, data = leaf(0.5, -0.25, 1.0), X.copy()
    g = loss(w, data, Y)
    data[:] = 0.0
    (found,) = grad(g.sum(), w)
    (expected,) = grad(loss(w, X, Y).sum(), w)
    assert found.tolist() == expected.tolist() and np.any(found.numpy())
    a = w * 1.0
    g = loss(a, X, Y)
    a += 1
    with pytest.raises(RuntimeError, match=r"LossGradBackward.*version 1, expected version 0"):
        g.sum().backward()
    g = loss(w, X, Y).sum()
    g.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        g.backward()


def test_structures_of_results_and_arguments():
    def parts(p, x):
        return np.sum(p["a"] * x**2) + p["b"] * x[0]

    x = leaf(1.0, 2.0)
    g = adjoin.grad(parts)({"a": np.array([3.0, 4.0]), "b": 5.0}, x)
    assert g["a"].tolist() == [1.0, 4.0] and g["b"].item() == 1.0 and g["a"].grad_fn is g["b"].grad_fn
    (g["a"].sum() * g["b"]).backward()
    assert x.grad.tolist() == [2.0 + 5.0, 4.0]
    p = {"a": leaf(3.0, 4.0), "b": leaf(5.0)}  # tensors in a container: recorded step by step
    value, g = adjoin.value_and_grad(parts, argnums=1)(p, x)
    g.sum().backward()
    assert p["a"].grad.tolist() == [2.0, 4.0] and p["b"].grad.item() == 1.0 and value.item() == 24.0


def test_float32_and_dtypes():
    w = rt.tensor([0.5, -0.25, 1.0], dtype=rt.float32, requires_grad=True)
    g = loss(w, X.astype(np.float32), Y.astype(np.float32))
    g.sum().backward()
    assert g.dtype == np.float32 and w.grad.dtype == np.float32
