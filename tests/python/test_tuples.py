"""Tuples whose parts are known only when the program runs: of several lengths, in lists, from recursion."""

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin


def of_two_lengths(x, flag):
    t = (x, x * 2) if flag else (x, x * 3, x * 4)
    return t[0] * t[1]


def or_none(x, flag):
    t = (x, x * 2) if flag else None
    return x if t is None else t[0] * t[1]


def or_list(x, flag):
    if flag:
        t = (x, x * 2)
    else:
        t = [x, x * 3]
    return t[0] * t[1]


def arrays_of_two_lengths(x, flag):
    t = (np.ones(2) * x, x * x) if flag else (x, np.ones(3) * x, x)
    s = 0.0
    for i in range(len(t)):
        s = s + np.sum(t[i] * t[i])
    return s


def second_name(x, flag):
    t = (x, x * x) if flag else (x, x * x, x)
    u = t if flag else (x * 2, x)
    return u[0] * u[1] + t[1] * t[0]


def appended(x, n):
    pairs = []
    for i in range(n + 2):
        pairs.append((x * i, x * x))
    s = 0.0
    for a, b in pairs:
        s = s + a * b
    return s * pairs[-1][0]


def lists_appended(x, n):
    rows = []
    for i in range(n + 2):
        rows.append([x * i, x * x])
    s = 0.0
    for row in rows:
        s = s + row[0] * row[1] + row[0]
    return s * rows[-1][0]


def picked(x, n):
    pairs = [(x, x * x), (x * 2.0, x)]
    a, b = pairs[n]
    return a * b


def carried(x, n):
    t = None
    for i in range(n + 2):
        t = (x, x * i) if t is None else (t[0] * t[1] + 1.0, x)
    return t[0] * t[1]


def best_so_far(x, n):
    best = (0.0, x)
    for i in range(n + 2):
        candidate = (x * i, x * x * i)
        if candidate[0] > best[0]:
            best = candidate
    return best[0] * best[1] + best[1]


def work_list(x, n):
    queue = [(x, 1.0)]
    s = 0.0
    while queue:
        a, w = queue.pop()
        s = s + a * w
        if w > 0.2:
            queue.append((a * x, w * 0.5))
            queue.append((a + x, w * 0.5 * x))
    return s


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize(
    "f",
    [
        of_two_lengths, or_none, or_list, arrays_of_two_lengths, second_name, appended, lists_appended,
        picked, carried, best_so_far, work_list,
    ],
)  # fmt: skip
def test_tuples_of_the_running_program(f, flag):
    assert_gradient(f, 0.7, flag)


def test_tuples_of_unknown_length_joined():
    def f(x, n):
        t = (x,)
        for i in range(n):
            t = t + (x * i,)
        return t[-1] * t[0]

    with pytest.raises(TypeError, match="not followed: use lists"):
        adjoin.grad(f)(0.7, 2)


# -- recursion that returns tuples -------------------------------------------------------------------


def tail_call(x, n, y):
    if n == 0:
        return x, y
    return tail_call(x * y, n - 1, x + y)


def unpacked(x, n):
    if n == 0:
        return x, x * x
    a, b = unpacked(x, n - 1)
    return a * b, b + np.sin(a)


def nested(x, n):
    if n == 0:
        return x, (x * x, 2.0)
    a, (b, c) = nested(x, n - 1)
    return a * c, (b + a, c * x)


def there(x, n):
    if n == 0:
        return x, x * 2
    a, b = back(x + 1.0, n - 1)
    return b, a * x


def back(x, n):
    return (np.sin(x), x) if n == 0 else there(x * x, n - 1)


def test_recursion_that_returns_tuples():
    def f(x, n):
        a, b = tail_call(x, n, x * 2.0)
        c, d = unpacked(x, n)
        e, (g, h) = nested(x, n)
        i, j = there(x, n)
        return a * b + c * d + e * g * h + i * j

    assert_gradient(f, 0.7, 3)
    assert_gradient(f, 0.7, 2)


def test_recursion_that_returns_tuples_of_arrays():
    def f(x, n):
        a, b = unpacked(x, n)
        return np.sum(a * b)

    assert_gradient(f, np.array([0.3, 0.7]), 3)


def test_recursion_that_returns_tuples_of_two_lengths():
    def inner(x, n):
        return (x, x, x) if n == 0 else inner(x * 2.0, n - 1)[:2]

    with pytest.raises(adjoin.AdjoinError, match="tuples of several forms"):
        adjoin.grad(lambda x, n: inner(x, n)[0])(0.7, 2)
