"""Values of which only the run tells whether they are numbers, or arrays that something writes to."""

import collections

import numpy as np
import pytest
from helpers import assert_gradient

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_buffer_or_number_carried_by_a_loop(sign):
    def f(x, sign):
        a = x * 1.0
        s = a if sign * x[3] > 0 else x[0] * 2.0
        for _ in range(3):
            a[0] *= 2.0
            s = s * x[1]
        return np.sum(s) + np.sum(a)

    assert_gradient(f, VECTOR, sign)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_buffer_or_number_joined_twice(sign):
    def f(x, sign):
        a = x * 1.0
        if sign * x[3] > 0:
            s = a
        else:
            s = x[0] * x[1]
        a[1] *= 3.0
        t = s if x[0] > 0 else 2.0 * s
        u = t
        return np.sum(u * t) + np.sum(a)

    assert_gradient(f, VECTOR, sign)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_buffer_or_number_in_a_while_with_continue(sign):
    def f(x, sign):
        a = x * 1.0
        n = 0
        s = a if sign * x[3] > 0 else x[0] * 2.0
        while n < 3:
            n += 1
            a[n] *= 2.0
            if n == 2:
                continue
            s = s * x[1] if n == 1 else s
        return np.sum(s) * x[3] + np.sum(a)

    assert_gradient(f, VECTOR, sign)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_buffer_or_number_from_outside_read_in_a_loop(sign):
    def f(x, sign):
        a = x * 1.0
        s = a if sign * x[3] > 0 else x[0] * 2.0
        total = 0.0
        for i in range(3):
            total = total + np.sum(s) * x[i]
            a[i] *= 2.0
        return total

    assert_gradient(f, VECTOR, sign)


@pytest.mark.parametrize("unit", [1.0, np.ones(4), np.ones((2, 4))], ids=["number", "vector", "matrix"])
@pytest.mark.parametrize("by", [0.5, np.arange(4.0)], ids=["number", "vector"])
def test_augmented_assignment_to_a_number_or_an_array(unit, by):
    def f(x, unit, by):
        held = collections.defaultdict(float)  # what comes out of it is of no known kind
        held["unit"], held["by"] = unit, by
        s = held["unit"] * x[0]
        t = s
        for i in range(3):
            s += held["by"] * x[i]
            s *= x[1]
            t = t + s
            s -= 0.5 * t
            s /= 2.0 + x[1]
        return np.sum(s * s) + np.sum(t)

    assert_gradient(f, VECTOR, unit, by)


def test_sum_over_the_columns_of_a_table():
    def f(x, data):
        s = 0.0
        for i, mass in enumerate(data["mass"]):
            s += mass * x[i] ** 2
        for i, row in enumerate(data):
            s -= row["charge"] * x[i]
        return s * np.sum(data["charge"] * x[:2])

    data = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("mass", float), ("charge", float)])
    assert_gradient(f, VECTOR, data)


def test_sum_of_what_a_counter_counts():
    def f(x):
        count = collections.Counter()
        s = 0.0
        for e in x:
            count["up" if e > 0 else "down"] += 1
            s += e * e * count["up"]
        return s

    assert_gradient(f, VECTOR)
