"""Every form of assignment: one small function each."""

import numpy as np
import pytest
from helpers import assert_gradient

from adjoin import grad


def test_simple():
    def f(x):
        y = x * x
        y = y * x
        return y

    assert assert_gradient(f, 2.0) == 12.0


def test_chained():
    def f(x):
        a = b = x * 2.0
        a = a * b
        return a + b

    assert_gradient(f, 1.5)


def test_annotated():
    def f(x: float) -> float:
        y: float = x**3
        z: float
        z = y * x
        return z

    assert_gradient(f, 1.5)


def test_augmented_with_every_operator():
    def f(x, y):
        s = x
        s += y
        s *= x
        s -= 2.0 * y
        s /= x + 3.0
        s **= 2
        s %= 5.0
        s //= 0.5
        t = x * y
        t **= 2
        return t + s

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_augmented_matrix_product():
    def f(a, b):
        c = a * 1.0
        c = c @ b
        c @= b
        return np.sum(c * c)

    rng = np.random.default_rng(0)
    assert_gradient(f, rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), argnums=(0, 1))


def test_augmented_on_an_array_that_nothing_else_names():
    def f(x):
        s = np.sin(x)
        s += x
        s *= 2.0
        return np.sum(s * s)

    assert_gradient(f, np.array([0.3, 1.2, -0.4]))


def test_tuple_unpacking():
    def f(x, y):
        a, b = x * y, x + y
        a, b = b, a
        return a / b

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_nested_unpacking():
    def f(x):
        (a, (b, c)), [d, e] = (x, (x * x, 3.0)), [x**3, x**4]
        return a * b * c + d * e

    assert_gradient(f, 0.9)


def test_starred_unpacking():
    def f(x):
        first, *middle, last = [x, x * x, x**3, x**4]
        *rest, tail = middle
        return first * last + rest[0] * 3.0 + tail

    assert_gradient(f, 0.9)


def test_unpacking_an_array():
    def f(x):
        a, b, c = x
        first, *rest = x
        return a * b + c * first + rest[0] * rest[1]

    assert_gradient(f, np.array([0.3, 1.2, -0.4]))


@pytest.mark.parametrize("size, reason", [(2, "not enough"), (4, "too many")])
def test_unpacking_as_many_as_there_are(size, reason):
    def one(x):
        a, b, c = x
        return a * b + c

    def each(x):
        total = 0.0
        for a, _, c in np.outer(x, x):
            total += a * c
        return total

    def called(x):
        return (lambda a, b, c: a * b * c)(*x)

    for f in (one, each, called):
        assert_gradient(f, np.array([0.3, 1.2, -0.4]))
        with pytest.raises(ValueError, match=f"{reason} values to unpack"):
            grad(f)(np.ones(size))


def test_as_many_arguments_as_an_array_has():
    def f(x, y):
        def area(a, b):
            return a * b

        return np.hypot(*(x - y)) + area(*x) * np.multiply(y[0], *x[:1])

    assert_gradient(f, np.array([0.3, 1.2]), np.array([-0.4, 0.9]), argnums=(0, 1))


def test_unpacking_the_rows_of_a_matrix():
    def f(x):
        a, b = x
        return np.dot(a, b)

    assert_gradient(f, np.arange(6.0).reshape(2, 3))


def test_walrus():
    def f(x):
        if (y := x * x) > 1.0:
            return y * x + (z := y) * z
        return y

    assert_gradient(f, 1.5)
    assert_gradient(f, 0.5)


def test_walrus_inside_an_expression():
    def f(x):
        return (y := np.sin(x)) * y + y

    assert_gradient(f, 1.5)


def test_name_reused_for_another_kind():
    def f(x):
        y = 3
        y = y * x
        y = np.array([y, 2.0 * y])
        y = np.sum(y * y)
        return y

    assert_gradient(f, 0.7)


def test_parameter_rebound():
    def f(x, y):
        x = x * y
        y = x + y
        x = x * y
        return x

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_del_of_a_name():
    def f(x):
        y = x * x
        z = y * x
        del y
        return z

    assert_gradient(f, 1.3)


def test_unused_result():
    def f(x):
        unused = np.exp(x)  # noqa: F841
        return x * 2.0

    assert assert_gradient(f, 1.3) == 2.0


def test_argument_returned_untouched():
    assert assert_gradient(lambda x: x, 1.3) == 1.0


def test_result_that_does_not_depend_on_the_argument():
    def f(x, y):
        return y * 2.0

    assert assert_gradient(f, 1.3, 0.5) == 0.0
