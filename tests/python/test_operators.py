"""Every operator, on numbers and on arrays."""

import operator

import numpy as np
import pytest
from helpers import assert_gradient

VECTOR = np.array([0.7, 1.9, -1.3])
OTHER = np.array([1.1, 0.6, 2.3])


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: x * y,
        lambda x, y: x / y,
        lambda x, y: x**y,
        lambda x, y: x // y + x * y,
        lambda x, y: x % y + x * y,
        lambda x, y: -x * +y,
        lambda x, y: 2.0 - x / 3.0 + 2.0**y,
        lambda x, y: abs(x - 3.0 * y),
        lambda x, y: pow(x, y),
    ],
    ids=["add", "sub", "mul", "div", "pow", "floordiv", "mod", "unary", "constants", "abs", "builtin-pow"],
)
def test_arithmetic(f):
    assert_gradient(f, 2.7, 1.1, argnums=(0, 1))

    def total(x, y):
        return np.sum(f(x, y))

    assert_gradient(total, np.abs(VECTOR), OTHER, argnums=(0, 1))
    assert_gradient(total, np.abs(VECTOR), 1.7, argnums=(0, 1))
    assert_gradient(total, 2.7, OTHER, argnums=(0, 1))


@pytest.mark.parametrize(
    "shapes",
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
    ],
)
def test_matrix_product(shapes):
    rng = np.random.default_rng(0)

    def f(a, b):
        return np.sum(np.sin(a @ b))

    assert_gradient(f, rng.normal(size=shapes[0]), rng.normal(size=shapes[1]), argnums=(0, 1))


def test_broadcasting():
    def f(x, y):
        return np.sum(np.sin(x * y) + x / (y * y + 1.0) - y)

    rng = np.random.default_rng(0)
    for a, b in [((3,), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 3), (2, 1)), ((1,), (4,))]:
        assert_gradient(f, rng.normal(size=a), rng.normal(size=b), argnums=(0, 1))


def test_integer_powers():
    def f(x):
        return x**0 + x**1 + x**2 + x**3 + x**-1 + x**-2

    assert_gradient(f, -1.3)
    assert_gradient(lambda x: np.sum(f(x)), VECTOR)


def test_fractional_powers():
    def f(x):
        return x**0.5 + x**1.5 + x**-0.5

    assert_gradient(f, 1.3)
    assert_gradient(lambda x: np.sum(f(x)), OTHER)


def test_power_of_zero():
    assert assert_gradient(lambda x: x**2, 0.0) == 0.0
    assert assert_gradient(lambda x: x**1, 0.0) == 1.0
    assert assert_gradient(lambda x: x**0, 0.0) == 0.0


def test_comparisons():
    def f(x, y):
        a = (x < y) * x + (x <= y) * y + (x > y) * x * y
        return a + (x >= y) * x + (x == y) * x + (x != y) * y

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))
    assert_gradient(lambda x, y: np.sum(f(x, y)), VECTOR, OTHER, argnums=(0, 1))


def test_chained_comparison():
    def f(x, lo, hi):
        if lo < x <= hi:
            return x * x
        return lo * hi if lo < hi < 9.0 else x

    assert_gradient(f, 0.5, 0.2, 0.9, argnums=(0, 1, 2))
    assert_gradient(f, 1.5, 0.2, 0.9, argnums=(0, 1, 2))
    assert_gradient(f, 1.5, 0.2, 9.9, argnums=(0, 1, 2))


def test_chained_comparison_evaluates_its_middle_once():
    calls = []

    def middle(x):
        calls.append(x)
        return x

    def f(x):
        if 0.0 < middle(x) < 1.0:
            return x * x
        return x

    import adjoin

    assert adjoin.grad(f)(0.5) == 1.0
    assert len(calls) == 1


def test_boolean_operators_choose_values():
    def f(x, y):
        a = (x > 1.0 and y) or x * 2.0
        b = x if not (x > 5.0 or y > 5.0) else y
        return a * b

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))
    assert_gradient(f, 0.3, 0.7, argnums=(0, 1))


def test_boolean_operators_stop_early():
    def f(x):
        if x == 0.0 or 1.0 / x > 2.0:
            return x * 3.0
        return x * x

    assert assert_gradient(f, 0.0, expected=3.0) == 3.0
    assert_gradient(f, 0.3)
    assert_gradient(f, 0.9)


def test_ternary():
    def f(x, y):
        return (x if x > y else y) * (np.sin(x) if x < 1.0 else np.cos(y) if y < 1.0 else x * y)

    for x, y in [(0.3, 0.7), (1.3, 0.7), (1.3, 1.7)]:
        assert_gradient(f, x, y, argnums=(0, 1))


def test_membership_and_identity():
    def f(x, mode, scale):
        s = x if mode in ("a", "b") else x * x
        t = s if scale is None else s * scale
        return t if mode not in ["b"] and scale is not None else 2.0 * t

    assert_gradient(f, 1.3, "a", None)
    assert_gradient(f, 1.3, "b", 3.0)
    assert_gradient(f, 1.3, "c", 3.0)


def test_integer_and_bit_operators_on_what_carries_no_gradient():
    def f(x, n):
        mask = (x > 0.0) & ~(x > 1.0) | (x > 1.5) ^ (x > 1.8)
        return np.sum(x * mask) * (n << 2 | 1 & n ^ 3 >> 1)

    assert_gradient(f, VECTOR, 3)


def test_operator_module():
    def f(x, y):
        return operator.mul(operator.add(x, y), operator.neg(y)) + operator.truediv(x, y)

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_builtins_on_numbers():
    def f(x, y):
        return max(x, y) * min(x, y) + abs(x) + sum([x, y, x * y]) + float(x) + divmod(x, y)[1]

    assert_gradient(f, 2.3, 0.7, argnums=(0, 1))


def test_round_int_and_bool_carry_no_gradient():
    def f(x):
        return x * round(x) + int(x) * x + bool(x) * x

    assert_gradient(f, 2.3)


def test_common_subexpressions_written_twice():
    def f(x):
        return np.sin(x) * np.sin(x) + np.sin(x)

    assert_gradient(f, 1.3)


def test_deeply_nested_expression():
    def f(x):
        return ((((x + 1.0) * x + 2.0) * x + 3.0) * x + 4.0) / (1.0 + (x * (1.0 + x * (1.0 + x))))

    assert_gradient(f, 1.3)
