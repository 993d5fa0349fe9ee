"""Items 17 to 30 of the checklist: `backward` and `grad`."""

from __future__ import annotations

import re

import numpy as np
import pytest

from adjoin import runtime as rt
from adjoin.runtime import tensor
from adjoin.runtime.autograd import backward, grad


def leaf(*values):
    return tensor(values[0] if len(values) == 1 else list(values), requires_grad=True)


def test_17_implicit_gradients():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    for shape in [(), (1,), (1, 1)]:
        y = rt.ones(shape, requires_grad=True)
        (y * 3).backward()
        assert y.grad.shape == shape and y.grad.item() == 3.0
    with pytest.raises(RuntimeError, match="real scalar"):
        (leaf(1j) * 2).backward()
    assert x.grad is None


def test_18_the_gradient_must_fit():
    x = leaf(1.0, 2.0)
    y = x * 2
    with pytest.raises(ValueError, match=re.escape("(1,)") + ".*" + re.escape("(2,)")):
        y.backward(tensor([1.0]))
    for wrong in (1.0, [1.0, 1.0], np.ones(2)):
        with pytest.raises(TypeError):
            y.backward(wrong)
    with pytest.raises(TypeError, match="complex"):
        y.backward(tensor([1j, 1j]))
    assert x.grad is None
    z = x.float() * 2
    z.backward(tensor([1.0, 0.5]))
    assert x.grad.tolist() == [2.0, 1.0]


def test_19_no_graph_and_leaves():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        tensor(1.0).backward()
    with pytest.raises(RuntimeError, match="element 1 of tensors"):
        backward([leaf(1.0) * 2, tensor(1.0)])
    x = leaf(3.0)
    x.backward()
    x.backward()
    assert x.grad.item() == 2.0


def test_20_accumulation():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first and first.tolist() == [4.0, 8.0]
    with pytest.warns(UserWarning, match="create_graph"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not first and x.grad.tolist() == [6.0, 12.0]


def test_21_grad_owns_its_memory():
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    seed = tensor([1.0, 1.0])
    (x + y).backward(seed)
    seed[0] = 100.0
    x.grad[1] = 50.0
    assert x.grad.tolist() == [1.0, 50.0] and y.grad.tolist() == [1.0, 1.0]
    z = leaf(1.0, 2.0)
    z.backward(seed)
    seed[0] = 7.0
    assert z.grad.tolist() == [100.0, 1.0]
    assert not np.shares_memory(x.grad.numpy(), y.grad.numpy())
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (a.reshape(2) + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1.0, 1.0]


def test_22_unused_and_zeroing():
    x, unused = leaf(2.0), leaf(1.0)
    (x * 3).backward()
    assert unused.grad is None
    x.grad.zero_()
    assert x.grad.item() == 0.0
    x.grad = None
    assert x.grad is None


def test_23_several_roots():
    x = leaf(1.0, 2.0)
    y, z = (x * x).sum(), x * 3
    backward([y, z], [None, tensor([1.0, 10.0])])
    assert x.grad.tolist() == [5.0, 34.0]
    with pytest.raises(RuntimeError, match="2 tensors, but 1 grad_tensors"):
        backward([x.sum(), x.sum()], [tensor(1.0)])
    backward([])
    w = leaf(2.0)
    v = w * w
    backward([v, v])
    assert w.grad.item() == 8.0


def test_24_grad_variables():
    x = leaf(1.0, 2.0)
    with pytest.warns(DeprecationWarning, match="grad_tensors"):
        backward(x * 2, grad_variables=tensor([1.0, 2.0]))
    assert x.grad.tolist() == [2.0, 4.0]
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError, match="both"):
        backward(x * 2, tensor([1.0, 2.0]), grad_variables=tensor([1.0, 2.0]))


def test_25_inputs():
    x, y = leaf(2.0), leaf(3.0)
    m = x * y
    z = m * m
    z.backward(inputs=[x], retain_graph=True)
    assert x.grad.item() == 2 * 6 * 3 and y.grad is None
    z.backward(inputs=[m])
    assert m.grad.item() == 12.0 and y.grad is None
    with pytest.raises(RuntimeError, match="empty"):
        (x * y).backward(inputs=[])
    other = leaf(1.0)
    (x * y).backward(inputs=[other])
    assert other.grad is None


def test_26_freed_graphs():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()
    y = (x * 3).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=r"MulBackward0.*retain_graph=True"):
        y.backward()
    x.grad = None
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()


def test_27_what_is_kept():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    node = y.grad_fn.next_functions[0][0]
    with pytest.warns(UserWarning):
        y.backward(create_graph=True)
    assert node.saved is not None
    y.backward()
    assert node.saved is None
    a = x * x
    z = (a * a).sum()
    first, second = a.grad_fn, z.grad_fn.next_functions[0][0]
    grad(z, a)
    assert second.saved is None and first.saved is not None


def test_28_grad():
    x, y = leaf(2.0), leaf(3.0)
    m = x * y
    z = m * m
    found = grad(z, (x, m, y), retain_graph=True)
    assert isinstance(found, tuple) and [g.item() for g in found] == [36.0, 12.0, 24.0]
    assert x.grad is None and y.grad is None
    assert grad(x, x)[0].item() == 1.0
    assert grad([z, m], x)[0].item() == 39.0
    v = leaf(1.0, 2.0, 3.0)
    (jacobian,) = grad(v * v, v, rt.eye(3), is_grads_batched=True)
    assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]


def test_29_unused_inputs():
    x, y = leaf(2.0), leaf(3.0)
    with pytest.raises(RuntimeError, match=r"input 1 .*allow_unused"):
        grad(x * x, (x, y))
    assert grad(x * x, (x, y), allow_unused=True)[1] is None
    assert grad(x * x, (x, y), materialize_grads=True)[1].item() == 0.0
    with pytest.raises(RuntimeError, match="input 0 does not require grad"):
        grad(x * x, tensor(1.0))
    with pytest.raises(RuntimeError, match="at least one"):
        grad(x * x, ())


def test_30_higher_orders():
    x = leaf(2.0)
    (first,) = grad(x**4, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)
    y = x * x
    with rt.no_grad():
        y.backward()
    assert x.grad.item() == 4.0
    (first,) = grad(x.sin().exp(), x, create_graph=True)
    with rt.no_grad():
        (second,) = grad(first, x)
    s, c = np.sin(2.0), np.cos(2.0)
    assert np.isclose(second.item(), np.exp(s) * (c * c - s))


def test_a_failure_leaves_no_half_written_grad():
    x, y = leaf(1.0), leaf(2.0)

    class Bad(rt.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        (Bad.apply(x) + y).backward()
    assert x.grad is None and y.grad is None


def test_25_inputs_that_are_no_leaves_keep_their_gradient():
    x = leaf(2.0)
    m = x * 3
    (m * m).backward(inputs=[m])
    assert m.retains_grad
    (m * 5).backward()
    assert m.grad.item() == 12.0 + 5.0


def test_a_retained_gradient_is_kept_by_grad_too():
    x = leaf(2.0)
    m = x * 3
    m.retain_grad()
    grad(m * m, x)
    assert m.grad.item() == 12.0 and x.grad is None
