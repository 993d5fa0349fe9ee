"""What cannot be differentiated is refused, at the line, with a reason; never a wrong number."""

import collections
import heapq
import operator

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused

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
        return np.frombuffer(np.array([y, 1.0]))[0]

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


# -- values that would come back without their derivative -------------------------------------------------


def test_deque():
    def f(x):
        q = collections.deque(maxlen=2)
        for v in x:
            q.append(v)
        return q[0] * q[1]

    assert_refused(f, np.ones(3), line="q.append(v)")


def test_heap():
    def f(x):
        heap = []
        heapq.heappush(heap, x * 3.0)
        return heapq.heappop(heap) * x

    assert_refused(f, 1.3, line="heapq.heappush(heap, x * 3.0)")


def test_set():
    def f(x):
        return max({x, 2.0 * x})

    assert_refused(f, 1.3, line="max({x, 2.0 * x})")


@pytest.mark.parametrize("spell", [str, repr, "{!r}".format])
def test_number_spelt_out(spell):
    def f(x):
        return float(spell(x)) * x

    assert_refused(f, 1.3, line="return float(spell(x)) * x")


def test_f_string_read_back():
    def f(x):
        return float(f"{x!r}") * x

    assert_refused(f, 1.3, line='return float(f"{x!r}") * x')


def test_bytes_read_back():
    def f(x):
        return np.frombuffer(x.tobytes())[0] * 2.0

    assert_refused(f, np.ones(2), line="x.tobytes()")


def test_array_of_records():
    def f(x):
        a = np.zeros(2, dtype=[("u", float), ("v", float)])
        a["u"] = x
        return np.sum(a["u"] * 3.0)

    assert_refused(f, np.ones(2), line='a["u"] = x')


def test_callable_object_without_source():
    get = operator.itemgetter(1)

    def f(x):
        return get(x) * 2.0

    assert_refused(f, np.ones(2), line="return get(x) * 2.0")


def test_callable_made_by_a_call():
    def f(x):
        get = operator.itemgetter(1)
        return get(x) * 2.0

    assert_refused(f, np.ones(2), line="return get(x) * 2.0")


class State:
    total = 0.0


STATE = State()
STATE.total = 1.0


def test_what_is_only_written_to_is_no_reason_to_refuse():
    log = collections.deque()

    def f(x):
        log.append(x)
        name = f"{x:.2f}"
        note = {"label": name, "shape": np.shape(x)}
        STATE.total = x
        return x * x * len(note)

    assert adjoin.grad(f)(3.0) == 12.0
    assert list(log) == [3.0]
    assert STATE.total == 3.0


def test_a_generator_that_is_used_twice():
    def f(x):
        g = (v**2 for v in x)
        return sum(g) + sum(g)

    assert_refused(f, np.array([0.7, 1.9]), line="return sum(g) + sum(g)")

    def each(x):
        total, g = 0.0, (v**2 for v in x)
        for _ in range(2):
            total += sum(g)
        return total

    assert_refused(each, np.array([0.7, 1.9]), line="total += sum(g)")


def test_a_generator_that_is_used_once():
    def total(items):
        return sum(items)

    def f(x):
        g = (v**2 for v in x)
        s = 0.0
        for k in range(2):
            h = (v * k for v in x)
            s += total(h)
        return total(g) * s

    assert_gradient(f, np.array([0.7, 1.9]))


def test_a_generator_goes_over_what_there_was():
    def f(x):
        k = 1.0
        g = (v**2 * k for v in x)
        x, k = x * 2, x[0]
        return sum(g) * x[1]

    assert_gradient(f, np.array([0.7, 1.9]))
