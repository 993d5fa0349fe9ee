"""Tangents that are infinite where the value is not taken: no nan comes of them, and no warning."""

import warnings

import numpy as np
import pytest

from adjoin import grad, hvp, jvp

POINT = np.array([0.0, 0.25, 1.0])
ONES = np.ones(3)


def at(x, slope, curvature):
    """First and second derivatives, zero where x is not positive."""
    taken = np.where(x > 0, x, 1.0)
    return np.where(x > 0, slope(taken), 0.0), np.where(x > 0, curvature(taken), 0.0)


ROOT = at(POINT, lambda x: 0.5 * x**-0.5, lambda x: -0.25 * x**-1.5)
WAVE = at(
    POINT,
    lambda x: 0.5 * x**-0.5 * np.sin(x) + x**0.5 * np.cos(x),
    lambda x: (-0.25 * x**-1.5 - x**0.5) * np.sin(x) + x**-0.5 * np.cos(x),
)

CASES = {
    "where": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), *ROOT),
    "power": (lambda x: np.sum(np.where(x > 0, x**0.5, 0.0)), *ROOT),
    "slice": (lambda x: np.sum(np.sqrt(x)[1:]), *ROOT),
    "mask": (lambda x: np.sum(np.sqrt(x)[x > 0]), *ROOT),
    "factor": (lambda x: np.sum(np.sqrt(x) * (x > 0)), *ROOT),
    "chosen factor": (lambda x: np.sum(np.where(x > 0, 1.0, 0.0) * np.sqrt(x)), *ROOT),
    "further on": (lambda x: np.sum(np.where(x > 0, np.sqrt(x) * np.sin(x) + 1.0, 0.0)), *WAVE),
}


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_order(name):
    f, slope, curvature = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, dot = jvp(f, (POINT,), (ONES,))
    assert dot == pytest.approx(np.sum(slope))
    np.testing.assert_allclose(grad(f)(POINT), slope, rtol=1e-12)
    np.testing.assert_allclose(hvp(f, (POINT,), (ONES,)), curvature, rtol=1e-12, atol=1e-15)


def test_what_is_taken_is_infinite():
    def f(x):
        return np.sum(np.where(x >= 0, np.sqrt(x), 0.0))

    assert jvp(f, (POINT,), (ONES,))[1] == np.inf


def test_a_root_that_is_not_chosen_from_is_written_plainly():
    assert "errstate" not in jvp(lambda x: np.sum(np.sqrt(x) * x)).source_for(POINT)
