"""Items 45 to 47 of the checklist: gradcheck, functional, diagnostics."""

from __future__ import annotations

import numpy as np
import pytest

from adjoin import runtime as rt
from adjoin.runtime import tensor
from adjoin.runtime.autograd import functional as F
from adjoin.runtime.autograd import gradcheck, gradgradcheck, graph


def leaf(*values):
    return tensor(values[0] if len(values) == 1 else list(values), requires_grad=True)


def test_45_gradcheck():
    x, y = leaf(0.5, 1.5), leaf(1.0, 2.0)
    assert gradcheck(lambda x, y: (x * y, x.sin()), (x, y)) is True
    assert gradgradcheck(lambda x, y: x * y * y, (x, y)) is True
    assert gradcheck(lambda z: (z * z).real, (leaf(1 + 2j, 0.5j),))
    assert gradcheck(lambda z: z * z.conj() + z.exp(), (leaf(1 + 2j, 0.5j),))

    class Wrong(rt.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    with pytest.raises(RuntimeError, match=r"numerical:\n[\s\S]*2\.[\s\S]*analytical:\n[\s\S]*3\."):
        gradcheck(Wrong.apply, (x,))
    assert gradcheck(Wrong.apply, (x,), raise_exception=False) is False
    with pytest.warns(UserWarning, match="float32"):
        gradcheck(lambda x: x * 1, (rt.ones(1, dtype=rt.float32, requires_grad=True),), eps=1e-2)
    with pytest.raises(RuntimeError, match="requires grad"):
        gradcheck(lambda x: x, (tensor(1.0),))


def test_46_jacobian_and_hessian():
    x, y = tensor([1.0, 2.0]), tensor([3.0, 4.0, 5.0])
    j = F.jacobian(lambda x: x * x, x)
    assert j.tolist() == [[2.0, 0.0], [0.0, 4.0]] and not x.requires_grad
    j = F.jacobian(lambda x, y: (x * x, x.sum() * y), (x, y))
    assert [[b.shape for b in row] for row in j] == [[(2, 2), (2, 3)], [(3, 2), (3, 3)]]
    assert j[0][1].tolist() == [[0.0] * 3] * 2 and j[1][0].tolist() == [[3.0, 3.0], [4.0, 4.0], [5.0, 5.0]]
    h = F.hessian(lambda x: (x**3).sum(), x)
    assert h.tolist() == [[6.0, 0.0], [0.0, 12.0]]
    h = F.hessian(lambda x, y: (x * x).sum() * y.sum(), (x, y))
    assert h[0][0].tolist() == [[24.0, 0.0], [0.0, 24.0]]
    assert h[0][1].shape == (2, 3) and h[1][1].tolist() == [[0.0] * 3] * 3
    with pytest.raises(ValueError, match=r"hessian.*one element.*2"):
        F.hessian(lambda x: x * x, x)
    with pytest.raises(RuntimeError, match="output 0 does not depend on input 1"):
        F.jacobian(lambda x, y: x * 2, (x, y), strict=True)


def test_46_products():
    x = tensor([1.0, 2.0])
    f = lambda x: (x**3).sum()
    v = tensor([1.0, 10.0])
    assert F.vhp(f, x, v)[1].tolist() == [6.0, 120.0] and F.hvp(f, x, v)[1].tolist() == [6.0, 120.0]
    value, product = F.vjp(lambda x: x * x, x, v)
    assert value.tolist() == [1.0, 4.0] and product.tolist() == [2.0, 40.0]
    value, product = F.jvp(lambda x: (x * x, x.sum()), x, v)
    assert product[0].tolist() == [2.0, 40.0] and product[1].item() == 11.0
    with pytest.raises(ValueError, match=r"vjp.*\(3,\).*\(2,\)"):
        F.vjp(lambda x: x * x, x, rt.ones(3))
    with pytest.raises(ValueError, match="v may be left out"):
        F.vjp(lambda x: x * x, x)
    j = F.jacobian(lambda x: F.jvp(lambda x: x**3, x, v, create_graph=True)[1], x)
    assert np.allclose(j.numpy(), [[6.0, 0.0], [0.0, 120.0]])


def test_47_anomaly():
    x = leaf(-1.0)
    with np.errstate(invalid="ignore"), rt.autograd.detect_anomaly():
        y = x.sqrt()  # the line to be named
        with pytest.raises(RuntimeError, match="SqrtBackward0 gave nan") as caught:
            (y * 2).backward()
    assert "the line to be named" in "".join(caught.value.__notes__)
    assert x.grad is None
    with np.errstate(invalid="ignore"), rt.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError):
        x.sqrt().backward()
    with np.errstate(invalid="ignore"):
        x.sqrt().backward()
    assert np.isnan(x.grad.item())


def test_47_saved_tensors_hooks():
    packed = []

    def pack(t):
        packed.append(t.shape)
        return t.numpy().copy()

    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(pack, lambda array: tensor(array)):
        y = (x * x).exp()
    assert packed == [(2,), (2,), (2,)]
    y.sum().backward()
    assert np.allclose(x.grad.numpy(), 2 * np.array([1.0, 2.0]) * np.exp([1.0, 4.0]))
    with graph.saved_tensors_hooks(pack, lambda array: tensor(array)):
        y = (x * x).exp().sum()
    (g,) = rt.grad(y, x, create_graph=True)
    (h,) = rt.grad(g.sum(), x)
    v = np.array([1.0, 2.0])
    assert np.allclose(h.numpy(), (2 + 4 * v * v) * np.exp(v * v))


def test_47_checkpoint():
    calls = []

    def f(x, w):
        calls.append(1)
        return (x * w).sin() * x

    x, w = leaf(1.0, 2.0), leaf(0.5, 0.25)
    rt.checkpoint(f, x, w).sum().backward()
    assert len(calls) == 2
    found = x.grad.tolist(), w.grad.tolist()
    x.grad = w.grad = None
    f(x, w).sum().backward()
    assert np.allclose(found[0], x.grad.tolist()) and np.allclose(found[1], w.grad.tolist())
    assert gradgradcheck(lambda x, w: rt.checkpoint(f, x, w), (x, w))
