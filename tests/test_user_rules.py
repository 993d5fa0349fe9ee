"""Rules of the user's own: what the decorators of `adjoin.rule` promise, at every order and in every mode."""

import math

import numpy as np
import pytest

import adjoin
from adjoin import grad, hvp, jvp, rule, stop_gradient, value_and_grad

VECTOR = np.array([0.3, 0.7, 1.1])


def softplus(x):
    """Has a rule: the derivative is written for the value, not for the way it is computed."""
    return np.logaddexp(0.0, x)


@rule.elementwise(softplus, samples=[(VECTOR,)])
def softplus_rule(g, out, x):
    return g * (1.0 - np.exp(-out))


def scaled_power(x, y, n=2):
    return x * x * y**n


@rule.elementwise(scaled_power, wrt=["x", "y"], samples=[(VECTOR, 2.0)])
def scaled_power_rule(g, out, x, y, n=2):
    return 2.0 * g * x * y**n, n * g * x * x * y ** (n - 1)


def stiff(x):
    return np.tanh(x)


@rule.vjp(stiff)
def stiff_rule(g, out, x):
    return g * (1.0 - out * out)


def rolled(a, by):
    return np.roll(a, by)


@rule.linear(rolled, wrt=["a"], samples=[(VECTOR, 1)])
def rolled_rule(g, out, a, by):
    return rolled(g, -by)


def energy(a, b):
    return float(np.asarray(a) @ np.asarray(b))


@rule.vjp(energy, holomorphic=False, samples=[(VECTOR, VECTOR)])
def energy_rule(g, out, a, b):
    return g * b, g * a


@energy_rule.jvp
def energy_tangent(a_dot, b_dot, out, a, b):
    return np.sum(a_dot * b), np.sum(a * b_dot)


def count(x):
    return int(np.sum(x > 0.5))


rule.nondifferentiable(count)


def f_elementwise(x):
    return np.sum(softplus(x * x) * x)


def f_linear(x):
    return np.sum(rolled(x * x, 1) * x)


def f_general(x):
    return energy(x * x, np.sin(x)) * 2.0


def f_constant(x):
    return np.sum(x**3) * count(x)


def difference(f, x, direction, step=1e-6):
    return (np.asarray(f(x + step * direction)) - np.asarray(f(x - step * direction))) / (2 * step)


@pytest.mark.parametrize("f", [f_elementwise, f_linear, f_general, f_constant])
def test_every_mode_and_the_second_order(f):
    direction = np.array([0.4, -1.0, 0.6])
    gradient = grad(f)(VECTOR)
    assert gradient @ direction == pytest.approx(difference(f, VECTOR, direction), rel=1e-6)
    np.testing.assert_allclose(value_and_grad(f)(VECTOR)[1], gradient)
    assert jvp(f, (VECTOR,), (direction,))[1] == pytest.approx(gradient @ direction)
    expected = difference(grad(f), VECTOR, direction)
    np.testing.assert_allclose(hvp(f, (VECTOR,), (direction,)), expected, rtol=1e-6, atol=1e-8)
    second = grad(grad(f))
    np.testing.assert_allclose(
        second.adjoint(second.forward(VECTOR)[1], direction), expected, rtol=1e-6, atol=1e-8
    )


def test_the_body_is_cut_down_to_what_is_active():
    def f(x, y):
        return np.sum(scaled_power(x, y, n=3))

    text = grad(f).source_for(VECTOR, 2.0)
    assert "** (3 - 1)" not in text and "**2" not in text  # those are of the adjoint of y
    np.testing.assert_allclose(grad(f)(VECTOR, 2.0), 2 * VECTOR * 8)
    assert grad(f, argnums=1)(VECTOR, 2.0) == pytest.approx(12 * np.sum(VECTOR**2))


def test_options_without_a_derivative_are_refused_by_name():
    with pytest.raises(adjoin.AdjoinError, match="option 'other'"):
        grad(lambda x: np.sum(softplus(x, other=1)))(VECTOR)
    with pytest.raises(adjoin.AdjoinError, match="no derivative in `by`"):
        grad(lambda x: np.sum(rolled(VECTOR, x)))(1.0)


def test_a_rule_without_tangent_is_refused_by_name():
    np.testing.assert_allclose(grad(lambda x: np.sum(stiff(x)))(VECTOR), 1 - np.tanh(VECTOR) ** 2)
    with pytest.raises(adjoin.AdjoinError, match="no tangent rule yet for `stiff`"):
        jvp(lambda x: np.sum(stiff(x)), (VECTOR,), (VECTOR,))


# -- stop_gradient, at every order ---------------------------------------------------------------------


def test_what_is_stopped_is_constant_at_every_order():
    def f(x):
        return stop_gradient(x * x) * x**2

    x = 3.0
    first = grad(f)
    second, third = grad(first), grad(grad(first))
    assert (first(x), second(x), third(x)) == (18 * x, 18.0, 0.0)  # of 9 x^2 with 9 held
    assert hvp(f, (x,), (1.0,)) == 18.0
    assert jvp(f, (x,), (1.0,)) == (81.0, 54.0)


def test_stopped_inside_a_nested_derivative():
    def outer(x):
        return x * grad(lambda y: stop_gradient(y) * y * x)(x)  # the inner one is y x at y = x

    assert outer(2.0) == 8.0
    assert grad(outer)(2.0) == pytest.approx(8.0)  # of x * held(x) * x at 2, where the held is constant


# -- levels are not confused -----------------------------------------------------------------------------


def test_nested_derivatives_in_each_other():
    # d/dx (x d/dy (x + y)) = 1, and its relatives: Siskind & Pearlmutter, 2005
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y)(2.0))(3.0) == 6.0
    assert grad(lambda x: grad(lambda y: x * y * y)(x) * x)(2.0) == pytest.approx(6 * 2.0**2)
    inner = grad(lambda x: grad(lambda y: grad(lambda z: x * y * z * z)(y))(x))
    assert inner(1.5) == pytest.approx(8 * 1.5)  # of 2 x y z at z = y, of 2 x y^2 at y = x: of 4 x^2


def test_the_same_name_at_two_levels():
    def f(x):
        def g(x):
            return x**3

        return grad(g)(x) * x

    assert grad(f)(2.0) == pytest.approx(9 * 2.0**2)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(9 * 2.0**2)
    assert grad(grad(f))(2.0) == pytest.approx(18 * 2.0)


def test_an_inner_derivative_of_a_captured_array():
    def f(w):
        def g(x):
            return np.sum(np.sin(w * x))

        return np.sum(grad(g)(VECTOR) ** 2)

    direction = np.array([0.4, -1.0, 0.6])
    got = grad(f)(VECTOR)
    assert got @ direction == pytest.approx(difference(f, VECTOR, direction), rel=1e-6)
    assert math.isclose(jvp(f, (VECTOR,), (direction,))[1], got @ direction, rel_tol=1e-12)
