"""Items 31 to 36 of the checklist: changes in place, views, versions and grad modes."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from adjoin import runtime as rt
from adjoin.runtime import tensor
from adjoin.runtime.autograd import grad


def leaf(*values):
    return tensor(values[0] if len(values) == 1 else list(values), requires_grad=True)


def test_31_leaves_are_protected():
    x = leaf(1.0, 2.0)
    for change in (
        lambda: x.add_(1),
        lambda: x.__setitem__(0, 1.0),
        lambda: x[0:1].mul_(2),
        lambda: x.zero_(),
    ):
        with pytest.raises(RuntimeError, match="leaf"):
            change()
    assert x.tolist() == [1.0, 2.0]
    with rt.no_grad():
        x -= 0.5
        x[0] = 7.0
    assert x.tolist() == [7.0, 1.5] and x.is_leaf and x.requires_grad
    assert x._version == 2


def test_32_saved_values_are_checked():
    x = leaf(1.0, 2.0)
    a = x * 1.0
    b = a.sin()
    a.add_(1)
    with pytest.raises(RuntimeError, match=r"SinBackward0.*\(2,\).*version 1, expected version 0"):
        b.sum().backward()
    a = x * 1.0
    b = a.exp()
    a.add_(1)  # exp saved its result
    b.sum().backward()
    assert np.allclose(x.grad.numpy(), np.exp([1.0, 2.0]))
    b = (x * 1.0).exp()
    b.add_(1)
    with pytest.raises(RuntimeError, match=r"ExpBackward0.*its result.*version 1, expected version 0"):
        b.sum().backward()


def check(function, *shape):
    """The gradient of a function that stores in place, against differences."""
    rng = np.random.default_rng(1)
    x = tensor(rng.uniform(0.5, 1.5, shape), requires_grad=True)
    assert rt.autograd.gradcheck(function, (x,))
    assert rt.autograd.gradgradcheck(function, (x,))


def test_33_stores_into_views_of_non_leaves():
    def base_and_view(x):
        a = x * 2
        v = a[1:]
        v *= a[:-1] + x[0]
        return (a * a).sum() + (v**3).sum()

    def through_reshape(x):
        a = x * 1.0
        v = a.reshape(2, 2).T[0]
        v.mul_(v)
        return a.sin()

    def siblings(x):
        a = x * 1.0
        u, v = a[:2], a[1:]
        u *= 3.0
        return v.sin() * 2 + u.sum()

    def self_store(x):
        a = x * x
        a[1:] = a[:-1]
        return a * a

    def repeated(x):
        a = rt.zeros(4)
        a[[0, 0, 2]] = x[:3] * x[:3]
        return a.sin()

    def masked(x):
        a = x * 2
        a[np.array([True, False, True, False])] = x[:2] ** 2
        return a * x

    def broadcast(x):
        a = rt.zeros(3, 4)
        a[:, 1:3] = x[:2]
        a[1] = x
        return a**2

    def filled(x):
        a = x * 2
        a[1:3].zero_()
        b = x.sin()
        b.fill_(x.sum())
        return a * a + b

    def copied(x):
        a = rt.zeros(2, 2)
        a.T.copy_(x.reshape(2, 2))
        return a.exp()

    def from_split(x):
        a = x * 3
        first, second = a.split(2)
        second += first
        return a.cos()

    for function in (
        base_and_view,
        through_reshape,
        siblings,
        self_store,
        repeated,
        masked,
        broadcast,
        filled,
        copied,
        from_split,
    ):
        check(function, 4)


def test_33_stores_into_views_of_any_layout():
    def columns_first(x):
        a = np.asfortranarray(np.ones((2, 3))) * x
        b = x.T.clone().T * 1.0
        v = b[1]
        v *= x[0]
        w = b.T[::-1]
        w[0] += v[0]
        u = b.reshape(-1)
        u.mul_(x.reshape(-1))
        return a * b + u.reshape(2, 3)

    def three_dimensions(x):
        b = x.reshape(1, 2, 3).transpose(0, 2).clone() * 1.0
        p = b.permute(1, 0, 2)
        p[0] *= p[1].clone()
        p[:, 1:, 0].exp_()
        return (b.sum() + (p * p).sum()) * x

    def crossing(x):
        b = x * 1.0
        u, v = b[0], b[:, 1:]
        u *= v[1].sum()
        v += u[:2]
        u.mul_(u)
        return b * v.sum()

    for function in (columns_first, three_dimensions, crossing):
        check(function, 2, 3)


def test_33_hooks_of_a_view_stay_with_what_it_was():
    """What is changed in place goes past the old view: its hooks see what was made of it before."""
    x = leaf(1.0, 2.0, 3.0)
    b = x * 1.0
    v = b[:2]
    seen = []
    v.register_hook(lambda g: seen.append(g.tolist()))
    w = v * 5
    v *= 3
    (b.sum() + w.sum()).backward()
    assert seen == [[5.0, 5.0]] and x.grad.tolist() == [8.0, 8.0, 1.0]


def test_33_zeros_become_part_of_the_graph():
    x = leaf(3.0)
    z = rt.zeros(2)
    view = z[1:]
    z[0] = x * x
    assert z.requires_grad and not z.is_leaf and view.requires_grad
    view += x
    z.sum().backward()
    assert x.grad.item() == 7.0


def test_34_out_and_integers():
    x, y = leaf(1.0, 2.0), rt.zeros(2)
    with pytest.raises(RuntimeError, match="out="):
        np.add(x, 1.0, out=y)
    with pytest.raises(RuntimeError, match="out="):
        np.add(y, 1.0, out=x)
    assert np.add(y, 1.0, out=y) is y and y.tolist() == [1.0, 1.0]
    counts = tensor([1, 2])
    with pytest.raises(TypeError):
        counts.div_(2)
    with pytest.raises(TypeError):
        counts += 1.5
    with pytest.raises(TypeError, match="int64"):
        counts[0] = x[0]
    assert counts.tolist() == [1, 2]


def test_35_grad_modes():
    x = leaf(1.0)
    with rt.no_grad():
        assert not (x * 2).requires_grad and not rt.is_grad_enabled()
        with rt.enable_grad():
            assert (x * 2).requires_grad
        assert tensor(1.0, requires_grad=True).requires_grad
        assert not (x * 2).requires_grad
    assert rt.is_grad_enabled()
    with pytest.raises(KeyError), rt.no_grad():
        raise KeyError
    assert rt.is_grad_enabled()
    with rt.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    rt.set_grad_enabled(False)
    assert not rt.is_grad_enabled()
    rt.set_grad_enabled(True)
    assert rt.is_grad_enabled()

    @rt.no_grad()
    def f():
        return x * 2

    @rt.no_grad
    def g():
        return x * 2

    @rt.set_grad_enabled(False)
    def h():
        return x * 2

    assert rt.is_grad_enabled()
    assert not f().requires_grad and not g().requires_grad and not h().requires_grad

    @rt.no_grad()
    def generate():
        yield x * 2
        yield x * 2

    for y in generate():
        assert not y.requires_grad and rt.is_grad_enabled()

    found = []
    with rt.no_grad():
        thread = threading.Thread(target=lambda: found.append(rt.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


def test_36_inference_tensors():
    x = leaf(1.0, 2.0)
    with rt.inference_mode():
        y = x * 2
        assert y.is_inference() and rt.is_inference_mode_enabled()
        y.add_(1)
    with pytest.raises(RuntimeError, match="inference"):
        x * y
    with pytest.raises(RuntimeError, match="inference"):
        y.add_(1)
    assert (x + y).requires_grad
    (x * y.clone()).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]


def test_views_share_memory():
    x = rt.arange(6.0).reshape(2, 3)
    for view in (x.T, x[0], x[0, 1], x.reshape(6), x[:, 1:], x.unsqueeze(0), x.swapaxes(0, 1)):
        assert np.shares_memory(view.numpy(), x.numpy()) and view._base is not None
    x[0, 1].add_(10)
    assert x[0, 1].item() == 11.0
    assert x[[0, 1]]._base is None


def test_views_made_without_recording_are_refused():
    a = leaf(1.0, 2.0) * 1.0
    with rt.no_grad():
        v = a[0:1]
    with pytest.raises(RuntimeError, match="no_grad"):
        v.mul_(2)


def test_an_update_between_backward_passes():
    w = leaf(2.0)
    for _ in range(3):
        w.grad = None
        (w * w).backward()
        with rt.no_grad():
            w -= 0.25 * w.grad
    assert w.item() == 0.25
    assert grad(w * w, w)[0].item() == 0.5


def test_a_kept_gradient_moves_with_its_tensor():
    """`retain_grad` before a change in place: the gradient of the changed value, not the sum of both."""
    x = leaf(1.0, 2.0)
    a = x * 3
    a.retain_grad()
    a *= x
    (a * a).sum().backward()
    assert a.grad.tolist() == [6.0, 24.0]  # 2 a, where a is 3 x²
    b = x * 1.0
    v = b[:1]
    v.retain_grad()
    b.retain_grad()
    b *= 2.0  # `v` is a view of what `b` is now
    (b.sum() + 10 * v.sum()).backward()
    assert v.grad.tolist() == [10.0] and b.grad.tolist() == [11.0, 1.0]


def test_a_leaf_that_became_part_of_the_graph():
    x = leaf(1.0, 2.0)
    y = x * 3
    x.detach_()
    x += leaf(1.0, 1.0) * 2
    with pytest.raises(RuntimeError, match=r"leaf of shape \(2,\).*in place"):
        y.sum().backward()


def test_what_was_saved_and_detached_in_place_is_refused():
    x = leaf(1.0, 2.0)
    a = x * 2
    y = a * a
    a.detach_()
    with pytest.raises(RuntimeError, match="changed in place"):
        grad(y.sum(), x, create_graph=True)


def test_a_quotient_may_be_changed():
    x, y = leaf(1.0, 2.0), leaf(4.0, 5.0)
    q = x / y
    q += 1
    q.sum().backward()
    assert np.allclose(x.grad.numpy(), [0.25, 0.2]) and np.allclose(y.grad.numpy(), [-1 / 16, -2 / 25])
