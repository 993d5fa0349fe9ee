"""Functions that write into what they are given, or return a part of it, at any depth."""

import numpy as np
import pytest
from helpers import assert_gradient

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
MATRIX = np.array([[0.3, 1.2, -0.4, 0.6], [0.8, -0.6, 0.9, -1.1], [0.2, 0.5, -0.7, 1.4]])


def scale(a, k):
    a *= k


def boundary(u):
    u[0] = u[1] * 0.5
    u[-1] = u[-2]


def relax(u, k):
    u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    boundary(u)


def inner(u):
    return u[1:-1]


def larger(a, b):
    if np.sum(a) > np.sum(b):
        return a
    return b


def same(v):
    return v


def test_function_whose_only_result_is_what_it_wrote():
    def kernel(A, B):
        for i in range(A.shape[0]):
            A[i] = A[i] * B[i] + (A[i - 1] if i else 0.0)

    def f(A, B):
        kernel(A, B)
        return np.sum(A**2)

    assert_gradient(f, MATRIX, np.cos(MATRIX), argnums=(0, 1))


def test_helper_that_writes():
    def f(x, k):
        a = x * 1.0
        scale(a, k)
        scale(a[1:], x[0])
        return np.sum(a * x)

    assert_gradient(f, VECTOR, 1.3, argnums=(0, 1))


def test_helper_that_writes_into_the_argument():
    def f(x):
        scale(x, 2.0)
        boundary(x)
        return np.sum(x * x)

    assert_gradient(f, VECTOR)


def test_helpers_at_depth_in_a_loop():
    def f(x, k):
        u = x.copy()
        for _ in range(4):
            relax(u, k)
            if u[1] > 0.5:
                scale(inner(u), 0.9)
        return np.sum(u**2)

    assert_gradient(f, VECTOR, 0.2, argnums=(0, 1))


def test_helper_that_returns_an_alias():
    def f(x):
        a = x * 1.0
        v = inner(a)
        v *= x[0]
        same(a)[0] = v[0] * v[1]
        inner(same(a))[:] += 1.0
        return np.sum(a * a)

    assert_gradient(f, VECTOR)


def test_helper_that_returns_one_of_two():
    def f(x, y):
        a, b = x * 1.0, y * 1.0
        c = larger(a, b)
        c[1] = a[0] * b[0]
        d = larger(a, b)
        d *= c
        return np.sum(a * b)

    assert_gradient(f, VECTOR, VECTOR[::-1] * 0.3, argnums=(0, 1))
    assert_gradient(f, VECTOR * 0.3, VECTOR[::-1], argnums=(0, 1))


def test_helper_that_writes_and_returns():
    def push(u, e):
        old = u[0]
        u[1:] = u[:-1]
        u[0] = e
        return old, u[-1]

    def f(x):
        u = x * 1.0
        first, last = push(u, x[2] ** 2)
        again, _ = push(u, first * last)
        return np.sum(u * u) * again

    assert_gradient(f, VECTOR)


def test_helper_with_an_early_return():
    def clamp(u, limit):
        if u[0] > limit:
            u[0] = limit * u[1]
            return True
        u[1] *= 2.0
        return False

    def f(x):
        a = x * 1.0
        if clamp(a, 0.5):
            a *= x
        clamp(a, 99.0)
        return np.sum(a)

    assert_gradient(f, VECTOR)
    assert_gradient(f, -VECTOR)


def test_helper_that_fills_an_output_argument():
    def gram(A, out):
        n = A.shape[0]
        for i in range(n):
            for j in range(i, n):
                out[i, j] = out[j, i] = A[i] @ A[j]
        return out

    def f(A):
        C = np.empty((3, 3))
        D = gram(A, C)
        D[0, 0] *= 2.0
        return np.sum(C**2)

    assert_gradient(f, MATRIX)


def test_closure_that_writes():
    def f(x):
        a = x * 1.0

        def bump(i, by):
            a[i] += by * a[0]

        bump(1, x[2])
        bump(0, 2.0)
        return np.sum(a * a)

    assert_gradient(f, VECTOR)


def test_method_that_writes():
    class Grid:
        def __init__(self, u):
            self.u = u

        def set_ends(self, value):
            self.u[[0, -1]] = value

    def f(x):
        grid = Grid(x.copy())
        grid.set_ends(x[1] * x[2])
        grid.u *= x
        return np.sum(grid.u)

    assert_gradient(f, VECTOR)


def test_helper_that_writes_into_a_list():
    def push(h, e):
        h.append(e * h[-1])

    def f(x):
        h = [x]
        for _ in range(3):
            push(h, x)
        h[1] *= 3.0
        return h[1] * h[-1]

    assert_gradient(f, 0.9)


def test_helper_that_writes_into_a_dictionary():
    def step(state, k):
        state["u"] = state["u"] * k
        state["log"].append(np.sum(state["u"]))
        state["v"][0] += state["u"][1]

    def f(x, k):
        state = {"u": x, "v": x * 2.0, "log": []}
        for _ in range(3):
            step(state, k)
        return sum(state["log"]) + np.sum(state["v"] * state["u"])

    assert_gradient(f, VECTOR, 0.8, argnums=(0, 1))


def test_function_passed_as_an_argument_that_writes():
    def twice(change, a):
        change(a)
        change(a)

    def f(x):
        a = x * 1.0
        twice(boundary, a)
        twice(lambda u: scale(u, x[0]), a)
        return np.sum(a)

    assert_gradient(f, VECTOR)


@pytest.mark.parametrize("flip", [False, True])
def test_writer_chosen_at_run_time(flip):
    def f(x, flip):
        a = x * 1.0
        change = boundary if flip else (lambda u: scale(u, 3.0))
        change(a)
        return np.sum(a * a)

    assert_gradient(f, VECTOR, flip)
