"""What cannot be differentiated is refused, at the line, with a reason; never a wrong number."""

import numpy as np
import pytest
from helpers import assert_refused

import adjoin


def test_yield():
    def f(x):
        yield x * 2.0

    assert_refused(f, 1.0, line="yield x * 2.0")


def test_async():
    async def f(x):
        return x * 2.0

    assert_refused(f, 1.0, line="async def f(x):")


def test_global_write():
    def f(x):
        global SEEN
        SEEN = x
        return x * x

    assert_refused(f, 1.0, line="global SEEN")


def test_nonlocal_write():
    seen = 0.0

    def f(x):
        nonlocal seen
        seen = x
        return x * x

    assert_refused(f, 1.0, line="nonlocal seen")


def test_exec():
    def f(x):
        exec("x = 3")
        return x * x

    assert_refused(f, 1.0, line='exec("x = 3")')


def test_eval():
    def f(x):
        return eval("x * x")

    assert_refused(f, 1.0, line='return eval("x * x")')


def test_function_without_source_or_rule():
    def f(x):
        y = x * 2.0
        return np.apply_along_axis(np.sum, 0, np.array([y, 1.0]))

    assert_refused(f, 1.0, line="np.")


def test_function_without_source_is_run_when_nothing_active_goes_in():
    def f(x, n):
        grid = np.unique([3, 1, n])
        return x * np.sum(grid)

    assert adjoin.grad(f)(2.0, 3) == 4.0


@pytest.mark.parametrize("x", [3, np.arange(3), True, np.array(3), np.int64(3)])
def test_integer_argument(x):
    def f(x):
        return np.sum(x * x)

    with pytest.raises(adjoin.AdjoinError, match=r"3\.0"):
        adjoin.grad(f)(x)


def test_argument_without_a_gradient():
    with pytest.raises(adjoin.AdjoinError):
        adjoin.grad(lambda x, s: x, argnums=1)(1.0, "text")


def test_result_that_is_not_a_scalar():
    def f(x):
        return x * 2.0

    with pytest.raises(adjoin.AdjoinError, match=r"(?s)vjp.*jacobian|jacobian.*vjp"):
        adjoin.grad(f)(np.ones(3))


def test_name_that_does_not_exist():
    def f(x, y):
        return x * y

    with pytest.raises(adjoin.AdjoinError, match="'z'"):
        adjoin.grad(f, argnames="z")(1.0, 2.0)


def test_number_that_does_not_exist():
    def f(x, y):
        return x * y

    with pytest.raises(adjoin.AdjoinError):
        adjoin.grad(f, argnums=2)(1.0, 2.0)


def test_builtin_without_source():
    with pytest.raises(adjoin.AdjoinError):
        adjoin.grad(sorted)([1.0])


def test_source_not_available():
    scope = {}
    exec("def f(x):\n    return x * x\n", scope)
    with pytest.raises(adjoin.AdjoinError, match="source"):
        adjoin.grad(scope["f"])(1.0)


def test_errors_have_a_code():
    def f(x):
        yield x

    assert assert_refused(f, 1.0, line="yield x").code
