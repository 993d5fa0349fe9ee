"""Adjoints that are zero because a value was not taken stay zero: no nan, no inf, no warning on the way.

`where`, masks, slices and ties put zeros by structure into an adjoint; at the values that were not taken, the
derivative of `sqrt`, `log`, `/` and `**` is infinite. All of NumPy's floating-point warnings are errors here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from helpers import assert_matches, copy_arguments, pick

import adjoin

AT_ZERO = np.array([0.0, 4.0, 0.25])
HALF_TAKEN = np.array([0.0, 0.25, 1.0])  # the derivative of sqrt where it is taken


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with np.errstate(all="raise"):
        yield


def assert_zeros_stay(f, *args, expected, argnums=0):
    """The gradient in joint and in forward/adjoint form; tangents of what is not taken are truly infinite."""
    gradient = adjoin.grad(f, argnums=argnums)
    like = pick(args, argnums)
    assert_matches("grad", gradient(*copy_arguments(args)), expected, like, 1e-9, 1e-12)
    value, saved = gradient.forward(*copy_arguments(args))
    assert_matches("adjoint", gradient.adjoint(saved, type(value)(1.0)), expected, like, 1e-9, 1e-12)


SINGULAR = {
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "cbrt": (np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2)),
    "power": (lambda x: x**0.5, lambda x: 0.5 * x**-0.5),
    "power-of-array": (lambda x: x ** np.full(x.shape, 0.5), lambda x: 0.5 * x**-0.5),
    "power-function": (lambda x: np.power(x, 0.3), lambda x: 0.3 * x**-0.7),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_where(name):
    function, slope = SINGULAR[name]

    def f(x):
        return np.sum(np.where(x > 0, function(x), 0.0))

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *slope(AT_ZERO[1:])]))


@pytest.mark.parametrize("name", SINGULAR)
def test_mask(name):
    function, slope = SINGULAR[name]

    def f(x):
        y = function(x)
        return np.sum(y[x > 0])

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *slope(AT_ZERO[1:])]))


@pytest.mark.parametrize("name", SINGULAR)
def test_slice(name):
    function, slope = SINGULAR[name]

    def f(x):
        return np.sum(function(x)[1:])

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *slope(AT_ZERO[1:])]))


@pytest.mark.parametrize("name", SINGULAR)
def test_element(name):
    function, slope = SINGULAR[name]

    def f(x):
        return function(x)[1]

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, slope(AT_ZERO[1]), 0.0]))


@pytest.mark.parametrize("name", SINGULAR)
def test_not_the_largest(name):
    function, slope = SINGULAR[name]

    def f(x):
        return np.max(function(x))

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, slope(AT_ZERO[1]), 0.0]))


@pytest.mark.parametrize("name", SINGULAR)
def test_not_the_larger(name):
    function, slope = SINGULAR[name]

    def f(x):
        return np.sum(np.maximum(function(x), 0.1))

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *slope(AT_ZERO[1:])]))


@pytest.mark.parametrize("name", SINGULAR)
def test_overwritten(name):
    function, slope = SINGULAR[name]

    def f(x):
        y = function(x)
        y[0] = 3.0
        return np.sum(y)

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *slope(AT_ZERO[1:])]))


@pytest.mark.parametrize("name", SINGULAR)
def test_clipped(name):
    function, slope = SINGULAR[name]

    def f(x):
        return np.sum(np.clip(function(x), 0.1, 10.0))

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *slope(AT_ZERO[1:])]))


def test_division_by_what_is_not_taken():
    def f(x, y):
        safe = np.where(x > 0, x, 1.0)
        return np.sum(np.where(x > 0, y / safe, 0.0))

    y = np.array([1.0, 2.0, 3.0])
    expected = (np.array([0.0, *(-y[1:] / AT_ZERO[1:] ** 2)]), np.array([0.0, *(1 / AT_ZERO[1:])]))
    assert_zeros_stay(f, AT_ZERO, y, argnums=(0, 1), expected=expected)


def test_logarithm_of_what_is_not_taken():
    def f(x):
        with np.errstate(divide="ignore"):
            return np.sum(np.where(x > 0, np.log(x), 0.0))

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, 0.25, 4.0]))


def test_in_a_loop():
    def f(x):
        s = 0.0
        for v in x:
            s = s + np.where(v > 0, np.sqrt(v), 0.0)
        return s

    assert_zeros_stay(f, AT_ZERO, expected=HALF_TAKEN)


def test_a_branch_that_is_not_taken():
    def f(x):
        y = np.sqrt(x)
        return y * 2 if x > 0 else x

    assert_zeros_stay(f, 0.0, expected=1.0)
    assert_zeros_stay(f, np.float64(0.0), expected=1.0)


def test_two_in_a_row():
    def f(x):
        y = np.sqrt(x)
        return np.sum(np.where(x > 0, np.sqrt(y), 0.0))

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *(0.25 * AT_ZERO[1:] ** -0.75)]))


def test_a_chain_between():
    def f(x):
        return np.sum(np.where(x > 0, np.exp(2 * np.sqrt(x) + 1), 0.0))

    slope = np.exp(2 * np.sqrt(AT_ZERO[1:]) + 1) / np.sqrt(AT_ZERO[1:])
    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, *slope]))


def test_a_sum_of_two_that_are_not_taken():
    def f(x):
        y = np.sqrt(x)
        return np.sum(np.where(x > 0, y, 0.0)) + np.sum(y[1:])

    assert_zeros_stay(f, AT_ZERO, expected=2 * HALF_TAKEN)


def test_after_a_matrix_product():
    def f(X):
        return np.sum(np.where(X > 0, np.sqrt(X), 0.0) @ np.ones((2, 2)))

    assert_zeros_stay(f, np.array([[0.0, 4.0], [0.25, 0.0]]), expected=np.array([[0.0, 0.5], [2.0, 0.0]]))


def test_a_norm_of_zeros():
    assert_zeros_stay(lambda x: np.linalg.norm(x), np.zeros(3), expected=np.zeros(3))
    assert_zeros_stay(lambda x: np.std(x), np.ones(3), expected=np.zeros(3))


def test_masked_distances():
    """Distances between points, their own left out: the usual case in a simulation."""

    def f(p):
        d = p[:, None] - p[None, :]
        r = np.sqrt(d * d)
        return np.sum(np.where(np.eye(3) > 0, 0.0, r))

    assert_zeros_stay(f, np.array([0.0, 1.0, 3.0]), expected=np.array([-4.0, 0.0, 4.0]))


def test_only_the_last_trip_counts():
    def f(v):
        y = 0.0
        for x in v:
            y = np.sqrt(x)
        return y

    assert_zeros_stay(f, np.array([0.0, 4.0]), expected=np.array([0.0, 0.25]))


def test_only_some_trips_count():
    def f(v):
        y = s = 0.0
        for x in v:
            y = np.sqrt(x)
            if x > 1:
                s = s + y
        return s

    assert_zeros_stay(f, AT_ZERO, expected=np.array([0.0, 0.25, 0.0]))


def test_a_number_taken_in_one_branch_of_two():
    def f(x, flag):
        y, z = np.sqrt(x), x**0.5
        if flag:
            return y * z
        return x

    assert_zeros_stay(f, 0.0, False, expected=1.0)
    assert_zeros_stay(f, 4.0, True, expected=1.0)


# -- the other way round: what is infinite after the choice does not reach what was not taken --------------

CHOICES = {
    "maximum": (lambda x: np.maximum(x, 0.0), [0.0, 0.5 / np.sqrt(2.0)]),
    "minimum": (lambda x: -np.minimum(-x, 0.0), [0.0, 0.5 / np.sqrt(2.0)]),
    "fmax": (lambda x: np.fmax(x, 0.0), [0.0, 0.5 / np.sqrt(2.0)]),
    "clip": (lambda x: np.clip(x, 0.0, 9.0), [0.0, 0.5 / np.sqrt(2.0)]),
    "clip-from-below": (lambda x: np.clip(x, 0.0, None), [0.0, 0.5 / np.sqrt(2.0)]),
    "where": (lambda x: np.where(x > 0.0, x, 0.0), [0.0, 0.5 / np.sqrt(2.0)]),
    "max": (lambda x: np.max(x - 2.0), [0.0, np.inf]),
    "max-of-axis": (lambda x: np.max(x[None] - 2.0, axis=1), [0.0, np.inf]),
    "median": (lambda x: np.median(np.append(x, 5.0)) - 2.0, [0.0, np.inf]),
    "quantile": (lambda x: np.quantile(np.append(x, 5.0), 0.5) - 2.0, [0.0, np.inf]),
    "accumulate": (lambda x: np.maximum.accumulate(x[::-1]) - 2.0, [0.0, np.inf]),
    "python-max": (lambda x: max(x[0], x[1]) - 2.0, [0.0, np.inf]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_infinite_adjoint(name):
    choose, expected = CHOICES[name]

    def f(x):
        return np.sum(np.sqrt(choose(x)))

    with np.errstate(divide="ignore"):
        assert_zeros_stay(f, np.array([-1.0, 2.0]), expected=np.array(expected))


@pytest.mark.parametrize(
    "choose", [np.max, np.median, lambda y: max(y[0], y[1], y[2]), lambda y: np.sort(y)[1] + np.ptp(y[1:])]
)
def test_infinite_tangent(choose):
    def f(x):
        return choose(np.sqrt(x))

    with np.errstate(divide="ignore"):
        x, along = np.array([0.0, 1.0, 4.0]), np.ones(3)
        _, dot = adjoin.jvp(f, (x,), (along,))
        assert dot == adjoin.grad(f)(x) @ along
