"""Derivatives at kinks and singular points: the conventions listed in `adjoin.runtime.rules`, one by one."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rules.harness import leaves

import adjoin.runtime.rules  # noqa: F401  (fills the table)
from adjoin.runtime.rule import NoRule, lookup


def bars(function: Callable[..., Any], *args: Any, g: Any = None, **kwargs: Any) -> list[Any]:
    """The adjoints of the float parameters of a call, as the eager runtime would have them; `g` is ones."""
    rule = lookup(function)
    assert rule is not None
    with np.errstate(all="ignore"):
        out = function(*args, **kwargs)
    bound = rule.bind(args, kwargs)
    active = [
        name
        for name in rule.wrt
        if any(np.asarray(leaf).dtype.kind in "fc" for leaf in leaves(bound[name]) if leaf is not None)
    ]
    if g is None:
        g = np.ones_like(out)[()]
    with np.errstate(all="ignore"):
        return list(rule.vjp(active, g, out, bound))


def assert_bars(found: list[Any], *expected: Any) -> None:
    assert len(found) == len(expected)
    for bar, value in zip(found, expected, strict=True):
        np.testing.assert_array_equal(bar, value, strict=np.ndim(value) > 0)


A = np.array


# -- complex numbers -----------------------------------------------------------------------------------


def test_abs_points_away_from_zero() -> None:
    assert_bars(bars(np.abs, 3 + 4j), 0.6 + 0.8j)


def test_real_part_of_a_square() -> None:
    (square_bar,) = bars(np.real, (3 + 4j) ** 2)
    assert_bars(bars(np.square, 3 + 4j, g=complex(square_bar)), 6 - 8j)


def test_imaginary_part_and_conjugate() -> None:
    assert_bars(bars(np.imag, 3 + 4j), 1j)
    assert_bars(bars(np.conj, 3 + 4j, g=1 + 2j), 1 - 2j)
    assert_bars(bars(np.imag, A([3.0])), A([0.0]))


def test_angle_is_counterclockwise() -> None:
    (bar,) = bars(np.angle, 2 + 0j)
    assert bar == pytest.approx(0.5j)


def test_a_real_operand_has_a_real_adjoint() -> None:
    assert_bars(bars(np.multiply, 2.0, 3 + 4j, g=1 + 2j), 11.0, 2 + 4j)


# -- kinks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [np.abs, operator.abs, abs, np.fabs, np.sign, np.cbrt])
def test_abs_and_relatives_at_zero(function: Any) -> None:
    expected = np.inf if function is np.cbrt else 0.0
    assert_bars(bars(function, np.float64(0.0)), expected)


def test_complex_abs_and_sign_at_zero() -> None:
    assert_bars(bars(np.abs, A([0j, 1 + 0j])), A([0j, 1 + 0j]))
    assert_bars(bars(np.sign, A([0j, 2 + 0j]), g=A([1j, 1j])), A([0j, 0.5j]))


def test_hypot_at_zero() -> None:
    assert_bars(bars(np.hypot, 0.0, 0.0), 0.0, 0.0)
    assert_bars(bars(math.hypot, 0.0, 0.0, g=1.0), (0.0, 0.0))


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_two_operands_that_tie_share_evenly(function: Any) -> None:
    assert_bars(bars(function, A([1.0, 2.0]), A([1.0, 2.0])), A([0.5, 0.5]), A([0.5, 0.5]))
    assert_bars(bars(function, np.inf, np.inf), 0.5, 0.5)


@pytest.mark.parametrize("function", [max, min])
def test_python_extremes_that_tie_share_evenly(function: Any) -> None:
    assert_bars(bars(function, 1.0, 1.0), (0.5, 0.5))
    assert bars(function, [1.0, 1.0]) == [([0.5, 0.5],)]


@pytest.mark.parametrize("function", [np.max, np.nanmax, np.maximum.reduce])
def test_ties_along_an_axis_share_evenly(function: Any) -> None:
    x = A([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    assert_bars(bars(function, x, axis=1), A([[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]]))
    assert_bars(bars(function, x, axis=None), A([[0, 0.5, 0.5], [0, 0, 0]]))


def test_ties_with_the_initial_value_share_evenly() -> None:
    assert_bars(bars(np.max, A([1.0, 3.0]), initial=3.0), A([0.0, 0.5]))
    assert_bars(bars(np.max, A([1.0, 3.0]), initial=4.0), A([0.0, 0.0]))


def test_running_extremes_share_evenly() -> None:
    x = A([2.0, 1.0, 2.0])
    assert_bars(bars(np.maximum.accumulate, x, g=A([1.0, 1.0, 1.0])), A([2.5, 0.0, 0.5]))


def test_order_statistics_share_evenly() -> None:
    assert_bars(bars(np.median, A([2.0, 1.0, 2.0, 5.0])), A([0.5, 0.0, 0.5, 0.0]))
    assert_bars(bars(np.quantile, A([2.0, 1.0, 2.0]), 1.0), A([0.5, 0.0, 0.5]))


def test_constant_array_has_no_range() -> None:
    assert_bars(bars(np.ptp, A([2.0, 2.0])), A([0.0, 0.0]))


def test_clip_at_a_bound_belongs_to_the_clipped() -> None:
    assert_bars(bars(np.clip, A([0.0, 1.0, -1.0, 2.0]), 0.0, 1.0), A([1.0, 1.0, 0.0, 0.0]), 1.0, 1.0)


def test_where_the_bounds_cross_the_upper_wins() -> None:
    assert_bars(bars(np.clip, A([0.0, 3.0, 6.0]), 5.0, 2.0), A([0.0, 0.0, 0.0]), 0.0, 3.0)


def test_heaviside_at_the_step_is_its_second_operand() -> None:
    assert_bars(bars(np.heaviside, A([-1.0, 0.0, 1.0]), A([0.5, 0.5, 0.5])), A([0.0] * 3), A([0.0, 1.0, 0.0]))


@pytest.mark.parametrize(
    "function", [np.floor, np.ceil, np.round, np.trunc, np.rint, round, int, operator.floordiv, np.argmax]
)
def test_steps_have_no_derivative(function: Any) -> None:
    rule = lookup(function)
    assert rule is not None and rule.kind == "nondifferentiable"


# -- powers and products -------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [np.power, operator.pow, pow])
def test_powers_at_zero(power: Any) -> None:
    assert bars(power, 0.0, 0) == [0.0]
    assert bars(power, 0.0, 1) == [1.0]
    assert bars(power, 0.0, 2) == [0.0]
    assert_bars(bars(power, 0.0, 0.0), 0.0, 0.0)
    assert_bars(bars(power, 0.0, 2.0), 0.0, 0.0)
    exponents = A([0.0, 1.0, 2.0])
    assert_bars(bars(power, np.zeros(3), exponents), A([0.0, 1.0, 0.0]), A([0.0, 0.0, 0.0]))


def test_powers_of_negative_numbers() -> None:
    assert bars(np.power, -2.0, 3) == [12.0]
    x_bar, y_bar = bars(np.power, -2.0, 3.0)
    assert x_bar == 12.0
    assert np.isnan(y_bar)


@pytest.mark.parametrize("function", [np.prod, np.multiply.reduce])
@pytest.mark.parametrize(
    ("x", "expected"),
    [([2.0, 0.0, 5.0], [0.0, 10.0, 0.0]), ([0.0, 0.0, 5.0], [0.0, 0.0, 0.0]), ([0.0], [1.0])],
)
def test_products_with_zeros(function: Any, x: list[float], expected: list[float]) -> None:
    assert_bars(bars(function, A(x)), A(expected))


def test_running_products_with_zeros() -> None:
    assert_bars(bars(np.cumprod, A([2.0, 0.0, 5.0]), g=A([1.0, 1.0, 1.0])), A([1.0, 12.0, 0.0]))


# -- the ends of domains -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "x"), [(np.sqrt, 0.0), (np.log, 0.0), (np.arcsin, 1.0), (np.arccosh, 1.0), (np.arctanh, 1.0)]
)
def test_infinite_slopes_are_infinite(function: Any, x: float) -> None:
    assert_bars(bars(function, np.float64(x)), np.inf)


@pytest.mark.parametrize(
    "function",
    [np.sqrt, np.log, np.log2, np.log10, np.log1p, np.divide, np.power, np.reciprocal, np.cbrt, np.arcsin]
    + [np.arccos, np.arccosh, np.arctanh, np.exp, np.exp2, np.expm1, np.sinh, np.cosh, np.arctan2],
)
def test_every_slope_is_finite_at_the_safe_point(function: Any) -> None:
    rule = lookup(function)
    assert rule is not None and rule.safe is not None
    safe = np.float64(rule.safe)
    for bar in bars(function, *[safe] * function.nin, g=0.0):
        assert bar == 0.0


@pytest.mark.parametrize("function", [np.std, np.var])
def test_spread_of_equal_numbers(function: Any) -> None:
    assert_bars(bars(function, A([2.0, 2.0])), A([0.0, 0.0]))


def test_sum_of_exponentials_of_nothing() -> None:
    assert_bars(bars(np.logaddexp, -np.inf, -np.inf), 0.0, 0.0)
    assert_bars(bars(np.logaddexp, -np.inf, 1.0), 0.0, 1.0)
    assert_bars(bars(np.logaddexp.reduce, A([-np.inf, -np.inf])), A([0.0, 0.0]))


def test_sinc_and_i0_at_zero() -> None:
    assert_bars(bars(np.sinc, 0.0), 0.0)
    assert_bars(bars(np.i0, np.float64(0.0)), 0.0)


def test_nan_is_passed_over_where_the_function_does() -> None:
    x = A([1.0, np.nan])
    assert_bars(bars(np.nansum, x), A([1.0, 0.0]))
    assert_bars(bars(np.nanmean, x), A([1.0, 0.0]))
    assert_bars(bars(np.nan_to_num, x), A([1.0, 0.0]))
    assert_bars(bars(np.fmax, x, A([np.nan, 2.0])), A([1.0, 0.0]), A([0.0, 1.0]))


def test_elements_of_one_value_share_evenly_in_sets() -> None:
    assert_bars(bars(np.unique, A([3.0, 1.0, 3.0])), A([0.5, 1.0, 0.5]))
    assert_bars(bars(np.union1d, A([3.0, 1.0]), A([3.0])), A([0.5, 1.0]), A([0.5]))
    assert_bars(bars(np.intersect1d, A([3.0, 1.0]), A([3.0])), A([0.5, 0.0]), A([0.5]))
    assert_bars(bars(np.setdiff1d, A([3.0, 1.0, 1.0]), A([3.0])), A([0.0, 0.5, 0.5]), A([0.0]))


def test_trimmed_zeros_have_no_derivative() -> None:
    x = A([0.0, 3.0, 0.0, 1.0, 0.0, 0.0])
    assert_bars(bars(np.trim_zeros, x, g=A([1.0, 2.0, 3.0])), A([0.0, 1.0, 2.0, 3.0, 0.0, 0.0]))
    assert_bars(bars(np.trim_zeros, x, "b", g=A([9.0, 1.0, 2.0, 3.0])), A([9.0, 1.0, 2.0, 3.0, 0.0, 0.0]))


# -- options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "option"),
    [(np.sum, "out"), (np.exp, "where"), (np.average, "returned"), (np.quantile, "weights"), (max, "key")],
)
def test_an_option_without_a_derivative_is_refused_by_name(function: Any, option: str) -> None:
    rule = lookup(function)
    assert rule is not None
    with pytest.raises(NoRule, match=option):
        rule.bind((A([1.0]),), {option: None})
