"""Side effects happen once and in order; exceptions, assertions and context managers."""

import contextlib
import warnings

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin


def test_print_once_and_in_order(capsys):
    def f(x):
        print("in", x)
        y = x * x
        print(f"y = {y:.2f}", end="!\n")
        return y

    assert adjoin.grad(f)(1.5) == 3.0
    assert capsys.readouterr().out == "in 1.5\ny = 2.25!\n"


def test_f_string_and_other_text():
    def f(x, p):
        name = f"w{len(p)}"
        other = "w" + str(1) + "{}".format("") + "%s" % ""  # noqa: UP031
        return p[name] * x + p[other] * x * x

    assert_gradient(f, 1.3, {"w1": 2.0, "w2": 3.0})


def test_logging_to_a_list_outside():
    log = []

    def f(x):
        for i in range(3):
            x = x * 1.5
            log.append(i)
        return x

    adjoin.grad(f)(1.0)
    assert log == [0, 1, 2]


def test_assert():
    def f(x):
        assert x > 0.0, f"x = {x}"
        return x * x

    assert_gradient(f, 1.3)
    with pytest.raises(AssertionError, match=r"x = -1\.0"):
        adjoin.grad(f)(-1.0)


def test_raise():
    def f(x):
        if x < 0.0:
            raise ValueError(f"negative: {x}")
        return np.sqrt(x)

    assert_gradient(f, 1.3)
    with pytest.raises(ValueError, match="negative"):
        adjoin.grad(f)(-1.0)


def test_error_of_the_users_code_points_at_the_users_line():
    def f(x):
        y = x * 2.0
        return y + missing_name  # noqa: F821

    with pytest.raises(NameError) as caught:
        adjoin.grad(f)(1.0)
    assert "missing_name" in str(caught.value)


@pytest.mark.parametrize("x", [-1.3, 1.3])
def test_try_except(x):
    def f(x):
        try:
            if x < 0.0:
                raise ValueError("negative")
            y = np.sqrt(x)
        except ValueError:
            y = -x * x
        return y * x

    assert_gradient(f, x)


@pytest.mark.parametrize("key", ["a", "b"])
def test_try_except_else_finally(key):
    done = []

    def f(x, p, key):
        y = x
        try:
            y = y * 2.0
            scale = p[key]
            y = y * scale
        except (KeyError, IndexError) as error:
            y = y * len(error.args) * x
        else:
            y = y * x * x
        finally:
            done.append(key)
            y = y + x
        return y

    assert_gradient(f, 1.3, {"a": 3.0}, key)
    done.clear()
    adjoin.grad(f)(1.3, {"a": 3.0}, key)
    assert done == [key]


def test_return_inside_try():
    def f(x):
        try:
            if x > 1.0:
                return x * x
            y = x * 3.0
        finally:
            x = 0.0
        return y

    assert_gradient(f, 1.3)
    assert_gradient(f, 0.3)


def test_exception_raised_in_a_helper():
    def root(x):
        if x < 0.0:
            raise ValueError(x)
        return np.sqrt(x)

    def f(x):
        try:
            return root(x)
        except ValueError:
            return root(-x) * 2.0

    assert_gradient(f, 1.3)
    assert_gradient(f, -1.3)


def test_with_errstate():
    def f(x):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(x > 0.0, np.log(np.where(x > 0.0, x, 1.0)), 0.0)
        return np.sum(y * x)

    assert_gradient(f, np.array([0.7, -1.2, 2.0]))


def test_with_several_managers_and_targets():
    def f(x):
        with contextlib.nullcontext(3.0) as a, warnings.catch_warnings():
            y = x * a
            with contextlib.suppress(KeyError):
                y = y * x
        return y

    assert_gradient(f, 1.3)


def test_return_inside_with():
    def f(x):
        with np.errstate(all="ignore"):
            for i in range(3):
                x = x * 1.2
                if x > 1.5:
                    return x * x
        return x

    assert_gradient(f, 1.3)
    assert_gradient(f, 0.3)


def test_pass_and_bare_expressions():
    def f(x):
        """A docstring."""
        pass
        x * 3.0
        ...
        return x * x

    assert_gradient(f, 1.3)


def test_import_inside():
    def f(x):
        import math
        from math import pi

        import numpy as xp

        return xp.sin(x) * pi + math.floor(2.5) * x

    assert_gradient(f, 1.3)


def test_math_module():
    import math

    def f(x):
        return math.sin(x) * math.exp(x) + math.sqrt(x) + math.log(x) * math.tanh(x) + math.pi * x

    assert_gradient(f, 1.3)


def _too_many(x):
    a, b = (x, x, x)
    return a * b


def _too_few(x):
    s = 0.0
    for a, b, c in [(x, x)]:
        s = s + a * b * c
    return s


def _helper(y, *, k=1.0):
    return y * k


FAULTS = {
    "too-many-values": _too_many,
    "too-few-values": _too_few,
    "too-many-arguments": lambda x: _helper(x, x),
    "missing-argument": lambda x: x * _helper(),
    "unexpected-keyword": lambda x: _helper(x, z=2.0),
    "two-values-for-an-argument": lambda x: _helper(x, y=2.0),
    "lambda": lambda x: (lambda: x)(1.0),
    "attribute-of-a-float": lambda x: x.nothing,
    "attribute-of-an-array": lambda x: np.array([x]).nothing,
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_the_users_code_is_the_users_error(name):
    f = FAULTS[name]
    with pytest.raises((TypeError, ValueError, AttributeError)) as own:
        f(1.3)
    gradient = adjoin.grad(f)
    for run in (gradient, gradient.forward, lambda x: gradient.tangent((1.0,), x)):
        with pytest.raises(type(own.value)) as caught:
            run(1.3)
        assert not isinstance(caught.value, adjoin.AdjoinError)


@pytest.mark.parametrize("x", [1.3, 6.0])
def test_name_that_one_path_does_not_bind(x):
    def f(x):
        if x > 5.0:
            y = 1
        return x * y

    gradient = adjoin.grad(f)
    for run in (gradient, gradient.forward, lambda x: gradient.tangent((1.0,), x)):
        if x > 5.0:
            run(x)
        else:
            with pytest.raises(UnboundLocalError, match="'y'"):
                run(x)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: missing(x),  # noqa: F821
        lambda x: x * missing.attribute,  # noqa: F821
        lambda x: missing.method(x)[0] + x,  # noqa: F821
        lambda x: x * x if x > 0.0 else missing(x) * x,  # noqa: F821
    ],
)
def test_a_name_that_is_nowhere(function):
    gradient = adjoin.grad(function)
    for x in (1.5, -1.5):
        try:
            function(x)
        except NameError as error:
            with pytest.raises(NameError, match=str(error)):
                gradient(x)
        else:
            assert gradient(x) == 2 * x
