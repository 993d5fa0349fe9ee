"""`for` over everything it can go over, `while`, `else`, `break`, `continue`, `return` from inside."""

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin

VECTOR = np.array([0.7, 1.9, -1.3])
MATRIX = np.array([[0.3, 1.2, -0.4], [0.8, -0.6, 0.9]])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_range(n):
    def f(x, n):
        s = x
        for i in range(n):
            s = np.sin(s) * x + i
        return s

    assert_gradient(f, 0.7, n)


@pytest.mark.parametrize("bounds", [(1, 7, 2), (7, 1, -2), (3, 3), (2, 5)])
def test_range_with_bounds_and_step(bounds):
    def f(x, bounds):
        s = 1.0
        for i in range(*bounds):
            s = s * x + i * x
        return s

    assert_gradient(f, 0.7, bounds)


def test_loop_index_used_as_an_index():
    def f(x):
        s = 0.0
        for i in range(1, len(x)):
            s = s + x[i] * x[i - 1] * i
        return s

    assert_gradient(f, VECTOR)


def test_array_by_elements():
    def f(x):
        s = 1.0
        for e in x:
            s = s * e + e
        return s

    assert_gradient(f, VECTOR)


def test_array_by_rows():
    def f(x):
        s = np.ones(3)
        for row in x:
            s = s * row + np.sin(row)
        return np.sum(s)

    assert_gradient(f, MATRIX)


def test_list_and_tuple():
    def f(x, y):
        s = 0.0
        for e in [x, y, x * y]:
            s = s + e * e
        for e in (x, 2.0, y):
            s = s * e
        return s

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_zip():
    def f(x, y):
        s = 0.0
        for a, b, k in zip(x, y, range(2)):
            s = s + a * b * (k + 1)
        return s

    assert_gradient(f, VECTOR, VECTOR * 0.3 + 1.0, argnums=(0, 1))


def test_enumerate():
    def f(x):
        s = 0.0
        for i, e in enumerate(x):
            s = s + e ** (i + 1)
        for i, e in enumerate(x, start=2):
            s = s + i * e
        return s

    assert_gradient(f, VECTOR)


def test_reversed():
    def f(x):
        s = 0.0
        for e in reversed(x):
            s = s * x[0] + e
        for i in reversed(range(3)):
            s = s * x[i] + i
        for e in reversed([x[0], x[1]]):
            s = s * e + e
        return s

    assert_gradient(f, VECTOR)


def test_dict_items_keys_and_values():
    def f(p):
        s = 0.0
        for name, value in p.items():
            s = s + np.sum(value**2) * len(name)
        for value in p.values():
            s = s * np.sum(value)
        for name in p:
            s = s + p[name][0]
        for name in p.keys():
            s = s * p[name][1]
        return s

    assert_gradient(f, {"a": VECTOR, "bb": VECTOR[:2] + 0.1})


def test_nested_iteration_targets():
    def f(x):
        s = 0.0
        for i, (a, b) in enumerate(zip(x, x[1:])):
            s = s + a * b * i
        for a, *rest in [[x[0], x[1], x[2]], [x[2], x[1]]]:
            s = s + a * rest[0]
        return s

    assert_gradient(f, VECTOR)


def test_map_filter_and_sorted_over_what_carries_no_gradient():
    def f(x, order):
        s = 0.0
        for i in sorted(order):
            s = s * x[i] + x[i]
        for i in filter(lambda i: i > 0, order):
            s = s + x[i] ** 2
        for i in map(lambda i: i - 1, order):
            s = s + x[i] ** 3
        return s

    assert_gradient(f, VECTOR, [2, 0, 1])


def test_map_with_an_active_function():
    def f(x):
        return sum(map(lambda e: e * e, x)) + sum(map(np.sin, [x[0], x[1]]))

    assert_gradient(f, VECTOR)


def test_nested_loops():
    def f(x):
        s = 0.0
        for i in range(2):
            t = 1.0
            for j in range(3):
                t = t * x[i, j] + s
            s = s + t * t
        return s

    assert_gradient(f, MATRIX)


def test_inner_loop_with_a_length_of_its_own():
    def f(x):
        s = x
        for i in range(4):
            for _ in range(i):
                s = np.sin(s) * x
        return s

    assert_gradient(f, 0.7)


def test_loop_over_several_carried_values():
    def f(x, n):
        a, b, c = x, 1.0, 0.5
        for _ in range(n):
            a, b, c = b * x, c + a, a * 0.5
        return a + b * c

    assert_gradient(f, 0.7, 6)


def test_loop_target_used_after_the_loop():
    def f(x):
        for e in x:
            last = e * 2.0
        return e * last

    assert_gradient(f, VECTOR)


def test_while():
    def f(x):
        s = x
        n = 0
        while s < 10.0:
            s = s * x + 0.5
            n += 1
        return s * n

    assert_gradient(f, 1.4)
    assert_gradient(f, 11.0)


def test_while_true_with_break():
    def f(x):
        s = x
        while True:
            s = s * x
            if s > 5.0:
                break
        return s

    assert_gradient(f, 1.4)


def test_newton_to_convergence():
    def f(a):
        x = a
        while abs(x * x - a) > 1e-14:
            x = 0.5 * (x + a / x)
        return x

    assert np.isclose(assert_gradient(f, 2.0), 0.5 / np.sqrt(2.0))


@pytest.mark.parametrize("limit", [0.5, 3.0, 100.0])
def test_break(limit):
    def f(x, limit):
        s = x
        for i in range(8):
            if s > limit:
                break
            s = s * x + i
            t = s * x
            s = t
        return s

    assert_gradient(f, 1.1, limit)


def test_continue():
    def f(x):
        s = 0.0
        for i, e in enumerate(x):
            if e < 0.0:
                continue
            s = s + e * e
            if i == 0:
                continue
            s = s * e
        return s

    assert_gradient(f, VECTOR)


def test_continue_in_while():
    def f(x):
        s, i = x, 0
        while i < 6:
            i += 1
            if i % 2:
                continue
            s = s * x + i
        return s

    assert_gradient(f, 0.7)


def test_break_out_of_an_inner_loop():
    def f(x):
        s = 0.0
        for i in range(4):
            for j in range(5):
                if j > i:
                    break
                s = s * x + j
            s = s + x
        return s

    assert_gradient(f, 0.7)


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_for_else(limit):
    def f(x, limit):
        s = x
        for i in range(4):
            s = s * x + i
            if s > limit:
                break
        else:
            s = s * 3.0 * x
        return s

    assert_gradient(f, 0.9, limit)


@pytest.mark.parametrize("limit", [2.0, 100.0])
def test_while_else(limit):
    def f(x, limit):
        s, i = x, 0
        while i < 4:
            s = s * x + i
            i += 1
            if s > limit:
                break
        else:
            s = s * x
        return s

    assert_gradient(f, 0.9, limit)


@pytest.mark.parametrize("x", [0.3, 1.5])
def test_return_inside_a_loop(x):
    def f(x):
        s = 0.0
        for i in range(10):
            s = s + x**i
            if s > 5.0:
                return s * x
        return s

    assert_gradient(f, x)


@pytest.mark.parametrize("x", [0.3, 1.5])
def test_return_inside_nested_loops(x):
    def f(x):
        s = x
        for i in range(3):
            for j in range(3):
                s = s * x + 0.1 * i * j
                if s > 2.0:
                    return s * s
            s = s + x
        return s

    assert_gradient(f, x)


def test_return_inside_while_true():
    def f(x):
        s = x
        while True:
            s = s * x
            if s > 5.0:
                return s * x

    assert_gradient(f, 1.4)


def test_every_exit_at_once():
    def f(x, n):
        s = x
        for i in range(n):
            if i == 1:
                continue
            if s > 4.0:
                return s * x
            if s < 0.2:
                break
            s = s * x + 0.3
        else:
            s = s + x
        return s * s

    for x in (0.1, 0.7, 1.6):
        assert_gradient(f, x, 5)


def test_iterator_is_evaluated_once():
    calls = []

    def indices(n):
        calls.append(n)
        return range(n)

    def f(x):
        s = x
        for i in indices(3):
            s = s * x + i
        return s

    adjoin.grad(f)(0.7)
    assert calls == [3]


def test_iterator_that_is_exhausted():
    def f(x):
        s = 0.0
        it = iter([1.0, 2.0, 3.0])
        for c in it:
            s = s + c * x
            break
        for c in it:
            s = s * x + c
        return s

    assert_gradient(f, 0.7)


def test_random_draws_are_recorded():
    def f(x, seed):
        rng = np.random.default_rng(seed)
        s = x
        for _ in range(4):
            s = s * rng.random() + x * rng.normal()
            if rng.random() > 0.5:
                s = s * x
        return s

    for seed in range(3):
        assert_gradient(f, 0.7, seed)


def test_strict_zip():
    def f(x, y):
        s = 0.0
        for i, (a, b) in enumerate(zip(x, y, strict=True)):
            s = s + a * b * i
        return s + sum(a * b for a, b in zip([x[0], 2.0], (x[1], x[0]), strict=True))

    x = np.array([0.7, 1.9, -1.3])
    assert_gradient(f, x, x * 2.0, argnums=(0, 1))
    with pytest.raises(ValueError, match="zip"):
        adjoin.grad(f)(x, x[:2])
    with pytest.raises(ValueError, match="zip"):
        adjoin.grad(lambda x: sum(a * b for a, b in zip([x, x], [x], strict=True)))(1.0)
