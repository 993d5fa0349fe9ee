"""An adjoint may be asked for more than once: what was saved is as it was, and so is the caller's value."""

import numpy as np
import pytest

import adjoin
from adjoin.transformer.again import _view_of_copy, writes_to_saved


def in_loop(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2 * x[0]
    return out


def overwritten(x):
    a = x.copy()
    v = a[1:]
    for _ in range(2):
        v *= np.sin(a[:-1])
        a /= a.sum()
    return a


def helper(a, k):
    for i in range(k):
        a = a * np.cos(a) + i
    return a


def nested(x):
    total = 0.0
    for k in range(3):
        total = total + helper(x * k, k)
    return total * x


def branching(x):
    y = x
    while np.sum(y) < 40.0:
        y = y * y if y[0] > 1.2 else y + 1.0
    return y


@pytest.mark.parametrize("function", [in_loop, overwritten, nested, branching])
def test_twice_is_the_same(function):
    x = np.array([1.0, 2.0, 0.5])
    value, saved = adjoin.grad(function).forward(x)
    before = value.copy()
    seeds = [np.array([1.0, -0.5, 2.0]), np.array([0.25, 1.0, 0.0])]
    found = [adjoin.grad(function).adjoint(adjoin.grad(function).forward(x)[1], seed) for seed in seeds]
    for _ in range(2):
        for seed, expected in zip(seeds, found):
            np.testing.assert_array_equal(adjoin.grad(function).adjoint(saved, seed), expected)
    np.testing.assert_array_equal(value, before)
    np.testing.assert_array_equal(value, function(x))


@pytest.mark.parametrize("function", [in_loop, overwritten, nested, branching])
def test_jacobians_by_rows(function):
    x, eps = np.array([1.0, 2.0, 0.5]), 1e-6
    columns = [(function(x + eps * e) - function(x - eps * e)) / (2 * eps) for e in np.eye(3)]
    np.testing.assert_allclose(adjoin.jacrev(function)(x), np.stack(columns, 1), rtol=1e-6, atol=1e-8)


def test_views_of_one_memory_stay_that():
    owner = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    views = [owner, owner[1:], owner.T[::-1, 0], owner.reshape(-1, order="F")[3:9:2]]
    views.append(np.lib.stride_tricks.sliding_window_view(owner, 2, axis=1))
    memory = {}
    copies = [_view_of_copy(v, memory) for v in views]
    for view, copy in zip(views, copies):
        assert copy.strides == view.strides and np.array_equal(copy, view)
        assert not np.shares_memory(copy, owner)
    copies[0][...] = 7.0
    assert all((copy == 7.0).all() for copy in copies) and owner[0, 1] == 1.0


def test_writes_are_found():
    def writes(body, first="a, p = saved"):
        lines = [first, *body.split("; "), "return g"]
        return writes_to_saved("def f(saved, g):\n" + "\n".join(f"    {line}" for line in lines), "f")

    for body in [
        "a += 1",
        "a[0] = g",
        "v = a.T; v[...] = g",
        "for q in p: q[0] = 1",
        "q = p.pop(); q *= 2",
        "np.add.at(a, 0, g)",
        "np.multiply(g, 2, out=a)",
        "a.sort()",
        "b = np.reshape(a, 3); b[0] = 1",
        "x = a if g else g; x[0] = 1",
    ]:
        assert writes(body), body
    for body in [
        "g[0] = a[0]",
        "b = a.copy(); b += 1",
        "b = np.cos(a); b[0] = 1",
        "p.pop()",
        "b = a * 2; b += 1",
    ]:
        assert not writes(body), body
    assert writes("a[0] += 1", "(a,) = saved") and writes("saved[0][1] = 2", "pass")


def lists_of_the_user(x):
    log = {"a": [x[0]], "b": [x[1]]}
    for i, e in enumerate(x):
        log["a" if i % 2 else "b"].append(e * log["b"][-1])
    return sum(log["a"]) * sum(log["b"])


def test_lists_that_are_one_stay_one():
    x, eps = np.array([1.0, 2.0, 0.5]), 1e-6
    gradient = adjoin.grad(lists_of_the_user)
    _, saved = gradient.forward(x)
    expected = [
        (lists_of_the_user(x + eps * e) - lists_of_the_user(x - eps * e)) / (2 * eps) for e in np.eye(3)
    ]
    for _ in range(2):
        np.testing.assert_allclose(gradient.adjoint(saved), expected, rtol=1e-7)
