"""Functions of SciPy that call a function: roots, minima, integrals, differential equations.

The derivative in what the callback takes from around it is compared with differences of the whole program.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin
from adjoin.transformer.errors import AdjoinError

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

P = np.array([1.2, 0.7])
T = np.linspace(0.0, 1.0, 5)
SLOPES = np.array([[2.0, 0.3], [0.1, 1.5]])
TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def assert_second_order(f: Any, x: Any, rtol: float = 1e-5) -> None:
    """The derivative of the gradient, against its differences."""
    x = np.asarray(x) if np.ndim(x) else x
    direction = np.linspace(1.0, 0.5, np.size(x)).reshape(np.shape(x)) if np.ndim(x) else 1.0
    gradient = adjoin.grad(f)
    step = 1e-5
    expected = (gradient(x + step * direction) - gradient(x - step * direction)) / (2 * step)
    found = adjoin.hessian(f)(x) @ direction if np.ndim(x) else adjoin.grad(adjoin.grad(f))(x)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-6)


# -- roots ---------------------------------------------------------------------------------------------


def cubic(x, k):
    return k * x**3 - 3.0


def test_brentq_by_hand() -> None:
    def f(k):
        return optimize.brentq(lambda x: k * x**3 - 3.0, 0.0, 5.0)

    root = (3.0 / 2.0) ** (1 / 3)
    assert_gradient(f, 2.0, expected=-root / 6.0, rtol=1e-10)
    np.testing.assert_allclose(adjoin.grad(adjoin.grad(f))(2.0), 4 / 9 * root / 4.0, rtol=1e-9)
    np.testing.assert_allclose(
        adjoin.grad(adjoin.grad(adjoin.grad(f)))(2.0), -28 / 27 * root / 8.0, rtol=1e-8
    )


@pytest.mark.parametrize("name", ["brentq", "brenth", "ridder", "bisect", "toms748"])
def test_bracketed_roots(name: str) -> None:
    solve = getattr(optimize, name)

    def f(k):
        return solve(cubic, 0.0, 5.0, args=(k,)) ** 2

    assert_gradient(f, 2.0)
    assert_second_order(f, 2.0)


def test_newton() -> None:
    def secant(k):
        return optimize.newton(cubic, 1.0, args=(k,)) ** 2

    def with_slope(k):
        return optimize.newton(lambda x: cubic(x, k), 1.0, fprime=lambda x: 3.0 * k * x * x, tol=1e-13)

    def elementwise(p):
        return np.sum(optimize.newton(lambda x: p * x**3 - 3.0, np.array([1.0, 1.1]), tol=1e-13) ** 2)

    for f, at in ((secant, 2.0), (with_slope, 2.0), (elementwise, P)):
        assert_gradient(f, at)
        assert_second_order(f, at)


def test_root_scalar_and_what_else_it_returns() -> None:
    def f(k):
        found = optimize.root_scalar(cubic, args=(k,), bracket=(0.0, 4.0))
        return found.root if found.converged else 0.0 * k

    assert_gradient(f, 2.0)
    assert_second_order(f, 2.0)


def circle_and_cubic(x, p):
    return [x[0] ** 2 + x[1] - p[0], x[0] - x[1] ** 3 + p[1] * x[0]]


def test_roots_of_systems() -> None:
    def with_list(p):
        return np.sum(optimize.fsolve(circle_and_cubic, [1.0, 1.0], args=(p,), xtol=1e-13) ** 2)

    def with_result(p):
        found = optimize.root(circle_and_cubic, np.array([1.0, 1.0]), args=(p,), tol=1e-13)
        return found.x[0] * found.x[1]

    def with_global(p):
        found = optimize.root(lambda x: SLOPES @ x + 0.1 * np.sin(x) - p, np.zeros(2), tol=1e-13)
        return np.sum(found.x**2)

    for f in (with_list, with_result, with_global):
        assert_gradient(f, P)
        assert_second_order(f, P)


def test_a_root_in_several_values_of_which_one_is_no_number() -> None:
    def f(a, p, name="sin"):
        def g(x):
            wave = np.sin(x) if name == "sin" else np.cos(x)
            return a * x + 0.1 * wave - p

        return np.sum(optimize.fsolve(g, np.zeros(2), xtol=1e-13) * p)

    assert_gradient(f, 1.7, P, argnums=(0, 1))


def test_the_root_of_a_function_with_loops_and_branches() -> None:
    def series(x, p):
        total = 0.0
        for i in range(4):
            total = total + p[i % 2] * x**i if i % 2 else total + x**i
        return total - 3.0

    def f(p):
        return optimize.brentq(series, 0.0, 3.0, args=(p,))

    assert_gradient(f, P)


def test_fixed_points() -> None:
    def number(k):
        return optimize.fixed_point(lambda x: np.cos(k * x), 0.5, xtol=1e-14)

    def array(p):
        return np.sum(optimize.fixed_point(lambda x: np.cos(p * x), np.array([0.5, 0.6]), xtol=1e-14) ** 2)

    for f, at in ((number, 1.3), (array, P)):
        assert_gradient(f, at)
        assert_second_order(f, at)


def test_a_root_inside_a_loop() -> None:
    def f(k):
        total = 0.0
        for i in range(3):
            total = total + optimize.brentq(lambda x, i=i: k * x**3 - i - 1.0, 0.0, 5.0)
        return total

    assert_gradient(f, 2.0)


def test_a_method_as_the_callback() -> None:
    def f(k):
        return optimize.brentq(functools.partial(cubic, k=k), 0.0, 5.0)

    assert_gradient(f, 2.0)


# -- minima --------------------------------------------------------------------------------------------


def bowl(x, p):
    return np.sum((x - p) ** 2) + 0.3 * x[0] * x[1] + 0.05 * np.sum(x**4)


def test_minimize() -> None:
    def gradient_of_bowl(x, p):
        return 2 * (x - p) + 0.3 * np.array([x[1], x[0]]) + 0.2 * x**3

    def hessian_of_bowl(x, p):
        return 2 * np.eye(2) + 0.3 * np.array([[0.0, 1.0], [1.0, 0.0]]) + 0.6 * np.diag(x**2)

    def f(p):
        found = optimize.minimize(
            bowl, np.zeros(2), args=(p,), jac=gradient_of_bowl, hess=hessian_of_bowl, method="trust-exact",
            tol=1e-13,
        )  # fmt: skip
        return np.sum(found.x**2) + found.fun

    assert_gradient(f, P)
    assert_second_order(f, P)


def test_the_least_value_has_the_partial_derivative() -> None:
    def f(p):
        return optimize.minimize(bowl, np.zeros(2), args=(p,), tol=1e-13).fun

    x = optimize.minimize(bowl, np.zeros(2), args=(P,), tol=1e-13).x
    np.testing.assert_allclose(adjoin.grad(f)(P), -2 * (x - P), rtol=1e-6)


def test_minimize_scalar() -> None:
    def f(k):
        return optimize.minimize_scalar(lambda x: x**4 - k * x).x

    at = (1.3 / 4) ** (1 / 3)
    np.testing.assert_allclose(adjoin.grad(f)(1.3), at / (3 * 1.3), rtol=1e-6)
    np.testing.assert_allclose(adjoin.grad(adjoin.grad(f))(1.3), -2 * at / (9 * 1.3**2), rtol=1e-6)


def test_least_squares() -> None:
    def f(p):
        found = optimize.least_squares(
            lambda x: x[0] * np.exp(-x[1] * T) - p * np.exp(-0.5 * T) - 0.1 * T, np.array([1.0, 0.5]), **TIGHT
        )
        return np.sum(found.x**2)

    def best(p):
        return optimize.least_squares(lambda x: x[0] * T - p[0] * T - p[1], np.array([1.0]), **TIGHT).x[0]

    assert_gradient(best, P, expected=np.array([1.0, np.sum(T) / np.sum(T * T)]))
    step = 1e-3
    expected = (f(1.3 + step) - f(1.3 - step)) / (2 * step)
    np.testing.assert_allclose(adjoin.grad(f)(1.3), expected, rtol=1e-4)


# -- integrals -----------------------------------------------------------------------------------------


def wave_up_to(k):
    return integrate.quad(lambda x: np.sin(k * x) + k, 0.0, 2.0)[0] ** 2


def bell(k):
    return integrate.quad(lambda x: np.exp(-k * x * x), -np.inf, np.inf)[0]


def with_an_array_and_an_end(p):
    value, _ = integrate.quad(lambda x, p: np.sum(p * np.exp(-x * p)), 0.0, p[1], args=(p,))
    return value * p[0]


def between_two_ends(p):
    return integrate.quad(np.cos, p[0], p[1])[0]


def of_vectors(p):
    return np.sum(integrate.quad_vec(lambda x: np.sin(p * x), 0.0, p[0])[0] ** 2)


@pytest.mark.parametrize("f", [wave_up_to, bell, with_an_array_and_an_end, of_vectors])
def test_integrals(f: Any) -> None:
    at = 1.3 if f in (wave_up_to, bell) else P
    assert_gradient(f, at)
    assert_second_order(f, at)


def test_integrals_by_hand() -> None:
    np.testing.assert_allclose(adjoin.grad(bell)(1.3), -0.5 * np.sqrt(np.pi / 1.3**3), rtol=1e-9)
    np.testing.assert_allclose(adjoin.grad(between_two_ends)(P), [-np.cos(1.2), np.cos(0.7)], rtol=1e-12)


# -- differential equations ----------------------------------------------------------------------------

#: The choice of steps moves with the parameters, and so do differences: they are taken with tight steps.
FINE = {"rtol": 1e-10, "atol": 1e-12}


def swing(t, y, a, b):
    return [y[1], -a * y[0] - b * y[1] + np.sin(t)]


def in_the_start(p):
    return np.sum(integrate.solve_ivp(swing, (0.0, 2.0), p, args=(1.2, 0.3), **FINE).y[:, -1] ** 2)


def in_what_the_equation_captures(p):
    found = integrate.solve_ivp(
        lambda t, y: np.array([y[1], -p[0] * y[0] - p[1] * y[1]]),
        (0.0, 2.0),
        np.array([1.0, 0.3]),
        t_eval=np.linspace(0.0, 2.0, 7),
        **FINE,
    )
    return np.sum(found.y**2) + found.t[-1]


def backwards_in_time(p):
    found = integrate.solve_ivp(
        lambda t, y: -p * y**2, (2.0, 0.0), 0.2 * p, method="RK23", t_eval=[2.0, 1.9, 0.5], rtol=1e-8
    )
    return np.sum(found.y[:, -1] ** 2)


def of_high_order(p):
    found = integrate.solve_ivp(lambda t, y: -p * y**2, (0.0, 2.0), p + 1.0, method="DOP853", **FINE)
    return np.sum(found.y[:, -1] ** 2)


EQUATIONS = [in_the_start, in_what_the_equation_captures, backwards_in_time, of_high_order]


@pytest.mark.parametrize("f", EQUATIONS)
def test_differential_equations(f: Any) -> None:
    assert_gradient(f, P, rtol=1e-4)


@pytest.mark.parametrize("f", EQUATIONS[:2])
def test_second_derivatives_of_differential_equations(f: Any) -> None:
    assert_second_order(f, P, rtol=1e-3)


def test_growth_by_hand() -> None:
    def f(k):
        return integrate.solve_ivp(lambda t, y: k * y, (0.0, 1.0), [2.0], **FINE).y[0, -1]

    np.testing.assert_allclose(adjoin.grad(f)(0.7), 2.0 * np.exp(0.7), rtol=1e-8)
    np.testing.assert_allclose(adjoin.grad(adjoin.grad(f))(0.7), 2.0 * np.exp(0.7), rtol=1e-8)


def test_the_times_have_no_derivative() -> None:
    def f(end):
        return integrate.solve_ivp(lambda t, y: -y, (0.0, end), [2.0]).y[0, -1]

    with pytest.raises(AdjoinError, match="no derivative in `t_span`"):
        adjoin.grad(f)(1.0)
    with pytest.raises(AdjoinError, match="no derivative in `t_span`"):
        adjoin.jvp(f, (1.0,), (1.0,))


def test_an_implicit_method_is_refused() -> None:
    def f(k):
        return integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [2.0], method="BDF").y[0, -1]

    with pytest.raises(AdjoinError, match="method='BDF'"):
        adjoin.grad(f)(1.0)


TIMES = np.linspace(0.0, 2.0, 4)


def odeint_in_what_is_captured(p):
    y = integrate.odeint(
        lambda y, t: np.array([y[1], -p[0] * y[0] - p[1] * y[1]]), [1.0, 0.3], TIMES, **FINE
    )
    return np.sum(y**2)


def odeint_in_the_start_and_a_number(p):
    def equation(y, t, a, b):
        return [y[1], -a * y[0] - b * np.sin(t) * y[1]]

    return np.sum(integrate.odeint(equation, p, TIMES, args=(p[0] * 2.0, 0.3), **FINE)[-1] ** 2)


@pytest.mark.parametrize("f", [odeint_in_what_is_captured, odeint_in_the_start_and_a_number])
def test_odeint(f: Any) -> None:
    assert_gradient(f, P, rtol=1e-5)
    assert_second_order(f, P, rtol=1e-4)


def test_the_times_of_odeint_have_no_derivative() -> None:
    def f(t):
        return np.sum(integrate.odeint(lambda y, s: -y, [2.0], t))

    for derivative in (lambda: adjoin.grad(f)(TIMES), lambda: adjoin.jvp(f, (TIMES,), (TIMES,))):
        with pytest.raises(AdjoinError, match="no derivative in `t`"):
            derivative()


# -- samples and splines -------------------------------------------------------------------------------

interpolate = pytest.importorskip("scipy.interpolate")
KNOTS = np.array([0.0, 0.7, 1.5, 2.0, 3.1])
VALUES = np.array([0.3, 1.2, -0.4, 0.8, 0.5])


def sums_of_samples(y):
    rows = np.outer(y, y)
    return (
        integrate.trapezoid(y, KNOTS) ** 2
        + np.sum(integrate.simpson(rows, x=KNOTS, axis=0) ** 2)
        + integrate.romb(y, 0.3)
        + np.sum(integrate.cumulative_trapezoid(rows, KNOTS, axis=0, initial=0) ** 2)
        + np.sum(integrate.cumulative_simpson(y) ** 3)
    )


def spline_in_its_values(y):
    spline = interpolate.CubicSpline(KNOTS, y, bc_type="natural")
    return np.sum(spline(np.array([0.4, 1.2, 2.9])) ** 2) + spline(1.0, 1)


def spline_at_moving_points(t):
    other = interpolate.make_interp_spline(KNOTS, VALUES, k=2)
    return np.sum(interpolate.CubicSpline(KNOTS, VALUES)(t) ** 2 * other(t))


def test_sums_of_samples() -> None:
    assert_gradient(sums_of_samples, VALUES)


def test_sums_over_samples_that_move() -> None:
    def f(x):
        return np.sum(integrate.cumulative_trapezoid(VALUES, x) ** 2) + integrate.trapezoid(VALUES, x)

    def simpson(x):
        return integrate.simpson(VALUES, x=x)

    assert_gradient(f, KNOTS)
    with pytest.raises(AdjoinError, match="no derivative in `x`"):
        adjoin.grad(simpson)(KNOTS)


def test_splines() -> None:
    assert_gradient(spline_in_its_values, VALUES)
    assert_gradient(spline_at_moving_points, np.array([0.4, 1.2, 2.9]))
    assert_second_order(spline_at_moving_points, np.array([0.4, 1.2, 2.9]))


def test_splines_with_given_ends_are_refused() -> None:
    def f(y):
        return interpolate.CubicSpline(KNOTS, y, bc_type="periodic")(1.0)

    with pytest.raises(AdjoinError, match="bc_type='periodic'"):
        adjoin.grad(f)(VALUES)


# -- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["full_output", "callback", "bounds"])
def test_options_that_are_not_covered(option: str) -> None:
    def root(k):
        return optimize.brentq(cubic, 0.0, 5.0, args=(k,), full_output=True)

    def lowest(p):
        return optimize.minimize(bowl, np.zeros(2), args=(p,), callback=print).fun

    def bounded(p):
        return optimize.minimize(bowl, np.zeros(2), args=(p,), bounds=[(0.0, 1.0), (0.0, 1.0)]).fun

    f, at = {"full_output": (root, 2.0), "callback": (lowest, P), "bounds": (bounded, P)}[option]
    with pytest.raises(AdjoinError, match=option) as error:
        adjoin.grad(f)(at)
    assert error.value.code == "ADJ202"


def test_a_callback_that_prints_is_refused() -> None:
    def f(k):
        def g(x):
            print(x)
            return k * x**3 - 3.0

        return optimize.brentq(g, 0.0, 5.0)

    with pytest.raises(AdjoinError, match="more than to compute"):
        adjoin.grad(f)(2.0)


def test_a_callback_that_writes_into_its_argument_is_refused() -> None:
    def f(p):
        def g(x):
            x[0] = x[0] - p[0]
            return x

        return np.sum(optimize.fsolve(g, np.zeros(2)))

    with pytest.raises(AdjoinError, match="writes into"):
        adjoin.grad(f)(P)
