"""Lists whose length is not known, of tuples, dicts and lists that carry derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_gradient

X = np.array([1.1, 2.0])


def pairs(x, n):
    found = []
    for i in range(n):
        found.append((x * i, x * x))
    return found


def read_one_by_one(x, n):
    found = pairs(x, n)
    total = 0.0
    for i in range(n):
        pair = found[i]
        total = total + np.sum(pair[1]) * np.sum(pair[0] * pair[1])
    return total


def read_by_constants(x, n):
    found = pairs(x, n)
    return np.sum(found[1][0] * found[1][1]) + np.sum(found[2][1])


def taken_apart(x, n):
    return sum(np.sum(u * v) for u, v in pairs(x, n))


def read_twice(x, n):
    found = pairs(x, n)
    total = 0.0
    for u, v in found:
        total = total + np.sum(u * v * u)
    for pair in found:
        u, v = pair
        total = total + np.sum(u * v)
    return total


def popped(x, n):
    found = pairs(x, n)
    total = 0.0
    while found:
        total = total + np.sum(found.pop()[1] * x)
    return total


def stored(x, n):
    found = pairs(x, n)
    found[0] = (x, x * x * x)
    return np.sum(found[0][1] * found[0][0]) + np.sum(found[1][1])


def a_stack_of_work(x, n):
    stack = [(x, 0)]
    total = 0.0
    while stack:
        y, depth = stack.pop()
        if depth < n:
            stack.append((y * 0.5, depth + 1))
            stack.append((y * y, depth + 1))
        else:
            total = total + np.sum(y)
    return total


def dicts(x, n):
    found = []
    for i in range(n):
        found.append({"square": x * x, "number": i})
    return sum(np.sum(each["square"]) for each in found)


def lists(x, n):
    found = []
    for i in range(n):
        found.append([x * x, i])
    return sum(np.sum(each[0]) for each in found)


def tuples_of_two_lengths(x, n):
    pair = (x, x) if n > 1 else (x * x,)
    return np.sum(pair[0])


def a_tuple_that_grows_shorter(x, n):
    best = (x, x)
    for _ in range(n):
        best = (best[1], best[0] * x) if n > 1 else (x,)
    return np.sum(best[0])


def the_best_so_far(x, n):
    best = None
    for i in range(n):
        if best is None or i > best[0]:
            best = (i, x * i)
    return np.sum(best[1])


@pytest.mark.parametrize(
    "f",
    [
        read_one_by_one,
        read_by_constants,
        taken_apart,
        read_twice,
        popped,
        stored,
        a_stack_of_work,
        dicts,
        lists,
        tuples_of_two_lengths,
        a_tuple_that_grows_shorter,
        the_best_so_far,
    ],
)
def test_what_is_held_in_tuples_keeps_its_derivative(f):
    assert_gradient(f, X, 3)
