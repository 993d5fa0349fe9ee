"""`if`, early `return`, and what is returned."""

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin


@pytest.mark.parametrize("x", [-1.3, 0.4, 1.5, 3.2])
def test_if_elif_else(x):
    def f(x):
        if x < 0.0:
            y = x * x
        elif x < 1.0:
            y = np.sin(x)
        elif x < 2.0:
            y = x**3
        else:
            y = 1.0 / x
        return y * x

    assert_gradient(f, x)


@pytest.mark.parametrize("x", [-1.3, 0.4])
def test_if_without_else(x):
    def f(x):
        y = x
        if x > 0.0:
            y = y * x
            z = y
            y = y * z
        return y

    assert_gradient(f, x)


@pytest.mark.parametrize("x, y", [(0.5, 0.2), (0.5, 0.9), (-0.5, 0.2), (-0.5, 0.9)])
def test_nested_branches(x, y):
    def f(x, y):
        a = x * y
        if x > 0.0:
            if y > 0.5:
                a = a * x
            else:
                a = a + y
            a = a * a
        elif y > 0.5:
            a = np.exp(a)
        return a * y

    assert_gradient(f, x, y, argnums=(0, 1))


@pytest.mark.parametrize("x", [-1.3, 0.4, 1.7])
def test_early_returns(x):
    def f(x):
        if x < 0.0:
            return x * 3.0
        y = x * x
        if y > 1.0:
            z = y * x
            return z
        return y * y

    assert_gradient(f, x)


@pytest.mark.parametrize("x", [-1.3, 0.4])
def test_return_in_both_branches(x):
    def f(x):
        if x > 0.0:
            return x * x
        else:
            return -x

    assert_gradient(f, x)


@pytest.mark.parametrize("x", [0.4, 1.7])
def test_early_return_inside_nested_branches(x):
    def f(x):
        y = x
        if x > 0.0:
            y = y * x
            if x > 1.0:
                return y
            y = y * x
        return y * y

    assert_gradient(f, x)


def test_branch_on_an_array_reduction():
    def f(x):
        if np.any(x > 1.0) and not np.all(x > 0.0):
            return np.sum(x * x)
        return np.sum(x)

    assert_gradient(f, np.array([0.3, 1.2, -0.4]))
    assert_gradient(f, np.array([0.3, 0.2, 0.4]))


def test_branch_on_an_option():
    def f(x, kind="square"):
        if kind == "square":
            return x * x
        elif kind == "cube":
            return x**3
        raise ValueError(kind)

    assert_gradient(f, 1.3)
    assert_gradient(f, 1.3, kind="cube")
    with pytest.raises(ValueError, match="quartic"):
        adjoin.grad(f)(1.3, kind="quartic")


def test_branch_on_truth():
    def f(x, flag, items):
        y = x * x if flag else x
        if not items:
            return y
        if items and flag:
            y = y * len(items)
        return y * 2.0

    assert_gradient(f, 1.3, True, [1, 2])
    assert_gradient(f, 1.3, False, [])
    assert_gradient(f, 1.3, 0, [1])


def test_name_bound_in_one_branch_only():
    def f(x):
        if x > 0.0:
            extra = x * x
        y = x
        if x > 0.0:
            y = y + extra
        return y

    assert_gradient(f, 1.3)
    assert_gradient(f, -1.3)


def test_name_not_bound_raises_as_python_does():
    def f(x):
        if x > 0.0:
            y = x
        return y

    with pytest.raises(UnboundLocalError):
        adjoin.grad(f)(-1.0)


def test_branches_that_leave_different_kinds():
    def f(x):
        y = 0 if x > 0.0 else x
        z = None
        if x < 1.0:
            z = x * x
        return y + x if z is None else z + y

    for x in (-0.5, 0.5, 1.5):
        assert_gradient(f, x)


def test_match_like_dispatch_through_a_dictionary():
    table = {"a": lambda x: x * x, "b": np.sin}

    def f(x, kind):
        return table[kind](x)

    assert_gradient(f, 1.3, "a")
    assert_gradient(f, 1.3, "b")


def test_predicate_is_not_evaluated_again_by_the_reverse_sweep():
    calls = []

    def large(x):
        calls.append(float(x))
        return x > 1.0

    def f(x):
        y = x
        if large(x):
            y = y * x
        return y * y

    assert adjoin.grad(f)(2.0) == 32.0
    assert len(calls) == 1


def test_several_returned_values():
    def f(x, y):
        return x * y, np.sin(x), [x + y, {"y": y * y}]

    value, pullback = adjoin.vjp(f, 1.3, 0.7)
    assert value == f(1.3, 0.7)
    x_bar, y_bar = pullback((1.0, 2.0, [3.0, {"y": 4.0}]))
    assert np.isclose(x_bar, 0.7 + 2.0 * np.cos(1.3) + 3.0)
    assert np.isclose(y_bar, 1.3 + 3.0 + 4.0 * 2 * 0.7)


def test_has_aux():
    def f(x):
        y = x * x
        return y * x, {"square": y}

    assert adjoin.grad(f, has_aux=True)(2.0) == (12.0, {"square": 4.0})
    assert adjoin.value_and_grad(f, has_aux=True)(2.0) == ((8.0, {"square": 4.0}), 12.0)


def test_array_result_through_vjp():
    def f(A, x):
        return np.tanh(A @ x)

    rng = np.random.default_rng(0)
    A, x, seed = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=3)
    value, pullback = adjoin.vjp(f, A, x)
    np.testing.assert_array_equal(value, f(A, x))
    inner = seed * (1 - value**2)
    A_bar, x_bar = pullback(seed)
    np.testing.assert_allclose(A_bar, np.outer(inner, x))
    np.testing.assert_allclose(x_bar, A.T @ inner)
    np.testing.assert_allclose(pullback(2 * seed)[1], 2 * x_bar)  # a pullback may be asked again


def test_vjp_gives_none_for_what_carries_no_gradient():
    def f(x, n, mode):
        return x**n if mode == "power" else x

    value, pullback = adjoin.vjp(f, 1.5, 2, "power")
    assert value == 2.25
    assert pullback(1.0) == (3.0, None, None)


def test_jacobian():
    def f(x):
        return np.array([x[0] * x[1], np.sin(x[2]), x[0] ** 2, x[1]])

    x = np.array([0.3, 1.2, -0.4])
    want = np.array([[1.2, 0.3, 0.0], [0.0, 0.0, np.cos(-0.4)], [0.6, 0.0, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(adjoin.jacobian(f)(x), want, atol=1e-15)


# -- falling off the end -----------------------------------------------------------------------------


def falls_off(x):
    if x > 0:
        return x * x


def falls_off_deep(x):
    if x > 1:
        return x * x
    elif x > 0:
        if x > 0.5:
            return
        return 2 * x


def falls_off_a_loop(x):
    for i in range(3):
        if x > i:
            return x * (i + 2)


def falls_off_a_with(x):
    if x < 0:
        return None
    with np.errstate(all="ignore"):
        if x > 2:
            return x**2


FALLING = [falls_off, falls_off_deep, falls_off_a_loop, falls_off_a_with]


@pytest.mark.parametrize("f", FALLING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [-0.8, 0.3, 0.7, 1.3, 2.4])
def test_a_path_that_returns_nothing_has_no_gradient(f, x):
    if f(x) is not None:
        assert_gradient(f, x)
        return
    with pytest.raises(TypeError, match="not None"):
        adjoin.grad(f)(x)
    assert adjoin.grad(f).forward(x)[0] is None


@pytest.mark.parametrize("helper", FALLING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [-0.8, 0.3, 0.7, 1.3, 2.4])
def test_a_helper_that_returns_nothing_on_a_path(helper, x):
    def f(x):
        r = helper(x)
        return 3 * x if r is None else r * x

    assert_gradient(f, x)


def test_while_true_is_left_by_its_last_return():
    def f(x):
        while True:
            x = x * 1.1
            if x > 5:
                return x
            if x < -5:
                return x**2

    assert_gradient(f, 1.3)
    assert_gradient(f, -1.3)
    assert "None" not in adjoin.grad(f).source_for(1.3)


def test_a_loop_that_returns_at_its_first_trip():
    def f(x):
        for i in (1, 2, 3):
            return x * i * 5

    assert_gradient(f, 1.3)
