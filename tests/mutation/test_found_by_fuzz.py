"""Programs that a random run found to fail, made small: each has its right value by differences."""

import numpy as np
import pytest
from helpers import assert_gradient

X = np.array([-0.85, 0.322, 1.789])
Y = np.array([0.879, 0.372, 1.488])


def test_a_name_that_only_inner_branches_bind():
    def choose(a, b, c):
        if c > -0.7 and a.max() < 1.0:
            pass
        elif -1.0 < b[1] <= 1.2:
            return b
        return -b

    def f(x):
        return np.sum(choose(x, x, np.prod(x[::-1])))

    assert_gradient(f, np.array([0.001, 0.299, -0.274]))


def test_a_return_of_another_kind_behind_two_branches():
    def f(x, y):
        if y[2] > 0.2:
            if y[2] > 2.0:
                return np.sum(y)
        elif x[1] < y[-1]:
            pass
        else:
            y[1:] -= 0.8
        h = [y, x, y]
        h.pop(0)
        return 1.0 + np.sum(h[1] * x)

    assert_gradient(f, X, Y, argnums=(0, 1))


def test_a_tuple_bound_in_one_branch():
    def f(x, y):
        if y[1] < y[2]:
            pass
        else:
            x, t = (x * y[1], 2.0)  # noqa: F841
        return x

    assert_gradient(f, 0.787, np.array([1.871, -2.239, -1.789, -0.644]), argnums=(0, 1))
    assert_gradient(f, 0.787, np.array([1.871, 2.239, -1.789, -0.644]), argnums=(0, 1))


def test_a_store_in_the_last_branch_of_three():
    def f(x):
        c = x
        if not x[-1] > 0.2:
            pass
        elif c[2] > 2.0 and c.max() < 1.0:
            pass
        else:
            x[[0, 2]] = np.where(2.0 > -0.7, x[1], x[1]) if -1.0 < c[3] <= 1.2 else -0.7
        return np.sum(c * c)

    assert_gradient(f, np.array([-1.176, 1.8, -1.182, 2.473]))
    assert_gradient(f, np.array([-1.176, 1.8, -1.182, 0.473]))


def test_a_helper_with_a_comprehension_in_a_loop():
    def helper(a, b):
        h = [np.sin(e) * e for e in a]  # noqa: F841
        return np.sum(b)

    def f(z):
        n = 0
        while n < 3:
            n += 1
            z = z * helper(z, z)
        return np.sum(z)

    assert_gradient(f, X)


def test_a_value_saved_on_one_path_is_not_asked_for_its_shape():
    def f(x, y):
        y[-1:0:-1] = np.minimum(y[1:], 0.8)
        y[-1:0:-1] = y[-1:0:-1] = x[[1, 0, 1]]
        if y[2] > 0.2 and y.max() < 1.0:
            np.add.at(y, [0, 3, 1], x[[0, 0, 2]])
        return np.sum(y * y)

    x = np.array([-0.342, -1.144, -0.107, 1.58])
    assert_gradient(f, x, np.array([0.482, 0.749, -0.63, -2.051]), argnums=(0, 1))


def test_a_number_read_before_a_later_store_to_the_same_place():
    def f(x):
        a, b = x * 1.0, x * 0.5
        v = a
        for i in range(3):
            v[i] = x[i] * a[0] + b[2]
            v = b if i % 2 == 0 else a[::-1]
        return np.sum(a * b) + np.sum(v)

    assert_gradient(f, X)


def test_a_name_read_before_a_trip_binds_it():
    def f(x):
        s = 0.0
        for i in range(3):
            a = np.zeros(i + 1) + x
            if i > 0:
                s += np.sum(a[:1] * previous)  # noqa: F821
            previous = a  # noqa: F841
        return s

    assert_gradient(f, 1.5)


def test_keys_and_lists_chosen_by_a_branch():
    def f(x):
        log = {"a": [x[0]], "b": [x[1]]}
        for i, e in enumerate(x):
            log["a" if i % 2 else "b"].append(e * log["b"][-1])
        return sum(log["a"]) * sum(log["b"])

    assert_gradient(f, X)


def test_a_quotient_that_one_path_keeps_for_the_adjoint():
    def f(x):
        if np.any(x > 1.3):
            return x[0] / x[0] * x[1]
        return 1.0 + 0.0 * x[2]

    assert_gradient(f, X)
    assert_gradient(f, np.array([-0.637, -0.345, 0.285]))


def test_a_copy_held_in_one_list_with_a_buffer():
    def f(x):
        v = x[[1, 1, 0, 1]]
        w = v[:-1]
        h = [w, w, x[:3]]
        if np.sum(v) > 1.3:
            pass
        elif x[0] > -0.7:
            pass
        else:
            x[x > 2.0] += w
            h.append(0.9)
        return np.sum(h[1])

    assert_gradient(f, np.array([1.695, -0.009, 0.165, -1.529]))


def test_two_names_of_one_array_swapped_after_a_loop_that_kept_them():
    def f(y, z):
        c = z
        n = 0
        while np.max(y) < -0.7 and n < 3:
            n += 1
            c /= 1.2
        for _ in range(5):
            c, z = z, c
        return np.sum(c * y)

    assert_gradient(f, X, Y, argnums=(0, 1))
    assert_gradient(f, X - 9.0, Y, argnums=(0, 1))


def test_a_name_of_no_known_kind_that_the_test_of_a_loop_binds():
    def f(x):
        h = []
        for _ in range(2):
            h.append(x)
        m = np.vstack(h)
        n = 0
        while (t := m[0, 1]) < 1.0 and n < 2:
            n += 1
        return t * m[1, 0]

    assert_gradient(f, X)
    assert_gradient(f, Y + 1.0)


@pytest.mark.parametrize("bound", [-1.0, 1.0])
def test_a_buffer_from_before_that_one_branch_replaces_in_a_loop(bound):
    def f(z, y, n):
        for row in y:
            row[:] = z[[1, 0, 1]]
        if y[1, -1] < bound:
            return np.prod(y)
        for _ in range(n):
            z = np.zeros(3)
        z[::-1] = y[0] ** 2
        return np.sum(z**2)

    for n in (0, 2):
        assert_gradient(f, X, np.outer(X, X), n, argnums=(0, 1))


def test_the_shadow_of_a_0d_array_is_no_name_of_a_number():
    def f(x, z, n):
        while n < 0:
            n += 1
            x = 0.4
        a = np.array(x)
        b = 2.0 * a
        a[...] = np.sum(z[::-1])
        return a + b

    for n in (0, -2):
        assert_gradient(f, 1.5, Y, n, argnums=(0, 1))
