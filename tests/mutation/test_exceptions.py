"""Writes and exceptions: what was written before something was raised stays written."""

import contextlib
import types

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused

import adjoin

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])


@pytest.mark.parametrize("at", [0, 1, 2])
def test_stores_before_an_exception(at):
    def f(x, at):
        a = x * 1.0
        try:
            a[0] = 2.0 * a[1] * a[0]
            if at == 1:
                raise ValueError
            a[1] = a[0] * a[2]
            if at == 2:
                raise KeyError
            a[2] *= 3.0
        except ValueError:
            a[3] *= a[0]
        except KeyError:
            a[3] += a[1] * a[1]
        else:
            a[3] -= a[2]
        return np.sum(a * a)

    assert_gradient(f, VECTOR, at)


@pytest.mark.parametrize("at", [0, 9])
def test_store_that_raises(at):
    def f(x, at):
        a = x * 1.0
        try:
            a[0] = a[1] * a[0]
            a[at] = a[1] * 5.0
        except IndexError:
            a[3] *= a[0]
        finally:
            a *= x
        return np.sum(a)

    assert_gradient(f, VECTOR, at)


@pytest.mark.parametrize("diagonal", [-1.0, 1.0])
def test_operation_that_is_done_to_see_whether_it_raises(diagonal):
    def is_definite(A):
        try:
            np.linalg.cholesky(A)
            return True
        except np.linalg.LinAlgError:
            return False

    def f(x, diagonal):
        a = x * 1.0
        try:
            np.linalg.cholesky(diagonal * np.eye(2))
        except np.linalg.LinAlgError:
            a[0] = 3.0 * a[1]
        if is_definite(diagonal * np.eye(2)):
            a *= x
        return np.sum(a * a)

    assert_gradient(f, VECTOR, diagonal)


@pytest.mark.parametrize("at", [0, 9])
def test_suppressed_exceptions(at):
    def f(x, at):
        a = x * 1.0
        with contextlib.suppress(ValueError, IndexError):
            a[0] = 2.0 * a[1]
            a[at] = 5.0 * x[0]
            a[1] = 100.0 * x[0]
        return np.sum(a * a)

    assert_gradient(f, VECTOR, at)


def test_stores_where_the_handler_only_raises():
    def kernel(a):
        for i in range(1, len(a)):
            a[i] *= a[i - 1]

    def f(x):
        a = x * 1.0
        try:
            kernel(a)
        except FloatingPointError as error:
            raise ValueError("no result") from error
        return np.sum(a)

    assert_gradient(f, VECTOR)


def test_stores_and_an_exception_in_one_statement():
    def kernel(a):
        a[0] *= a[1]
        if a[2] < 0.0:
            raise ValueError
        a[1] *= 3.0

    def f(x):
        a = x * 1.0
        try:
            kernel(a)
        except ValueError:
            a[2] *= a[0]
        return np.sum(a * a)

    assert_refused(f, VECTOR, line="kernel(a)")


def test_list_that_grows_where_something_may_raise():
    def f(x):
        h = [x[0]]
        b = x[1]
        try:
            b = x[3]
            h.append(x[2] / len(h))
        except ZeroDivisionError:
            b = b * 2.0
        return h[-1] * b

    assert_refused(f, VECTOR, line="h.append(x[2] / len(h))")


@pytest.mark.parametrize("at", [0, 9])
def test_a_handler_that_changes_what_is_known(at):
    def f(x, at):
        kept, named = [x[0]], {"a": x[2]}
        try:
            y = x[0] * x[at]
        except IndexError:
            kept.append(x[1] ** 2)
            named["a"] = 3.0
            y = x[1]
        return sum(kept) * named["a"] * y

    assert_gradient(f, VECTOR, at)


def test_a_handler_that_sets_an_attribute_where_nothing_fails():
    def f(x):
        state = types.SimpleNamespace(k=x[1])
        try:
            y = x[0] * 2.0
        except ValueError:
            state.k = 2.0
            y = x[2]
        return state.k * y

    assert_gradient(f, VECTOR)


def test_finally_in_a_loop_reads_what_the_body_bound():
    def f(x):
        s = 1.0
        for k in range(4):
            try:
                s = s * x[k]
                if k == 2:
                    break
            finally:
                s += x[1]
        return s

    assert_gradient(f, VECTOR)


def test_list_changed_in_a_try_with_finally_alone():
    def f(x):
        found = []
        try:
            for k in range(4):
                try:
                    found.append(x[k] ** 2)
                finally:
                    found.append(x[0])
        finally:
            found.append(x[1])
        return sum(found) * len(found)

    assert_gradient(f, VECTOR)


def test_two_handlers_in_a_loop_for_unknown_kinds():
    def f(x):
        s = 1.0
        for k in range(4):
            try:
                s *= x[k]
                if x[k] < 0:
                    raise ValueError
                s += 1
            except ValueError:
                s = s + x[0] ** 2
            except KeyError:
                s = 0.0
        return s

    assert_gradient(f, VECTOR)


def test_branches_that_bind_once_in_a_try():
    def f(x, k):
        s = x[0] * 2.0
        try:
            if k > 1:
                s = s * x[k]
            else:
                s = s + x[k] ** 2
        except IndexError:
            s = s * s
        return s * x[1]

    for k in (0, 2, 9):
        assert_gradient(f, VECTOR, k)


def test_loop_of_bindings_in_a_try_is_refused():
    def f(x):
        s = 0.0
        try:
            for k in range(10):
                s = s * 0.5 + x[k] ** 2
        except IndexError:
            pass
        return s

    assert_refused(f, VECTOR, line="for k in range(10):")


def test_loop_of_bindings_in_a_try_whose_handler_leaves():
    def f(x, n):
        s = 0.0
        try:
            for k in range(n):
                s = s * 0.5 + x[k] ** 2
        except IndexError:
            return x[0] * 3.0
        return s

    for n in (4, 5):
        assert_gradient(f, VECTOR, n)


def test_jump_out_of_finally_is_refused():
    def f(x):
        for _ in range(3):
            try:
                return x[0]
            finally:
                break  # noqa: B012
        return x[1] ** 2

    assert_refused(f, VECTOR, line="break")


def saved_then_raised(x):
    s = 0.0
    z = x[0]
    for i in range(4):
        try:
            y = np.sin(z) * x[i]
            if x[i] < 0:
                raise ValueError
            z = y * y + z
        except ValueError:
            z = z * 2.0
        s = s + z
    return s


def returned_from_a_try_in_a_loop(x):
    for i in range(4):
        try:
            v = x[i] * x[i + 1]
            if x[i] < 0:
                return v * v
        finally:
            x = x * 1.5
    return x[0]


def left_by_continue_before_else(x):
    d = {"a": 2.0}
    s = 0.0
    for i in range(3):
        try:
            s = s + x[i] ** 2
            s = s * d["b" if i == 1 else "a"]
        except KeyError:
            s = s * x[3]
            continue
        else:
            s = s + x[2]
    return s


def everything_at_once(x):
    def square(a):
        if a < 0:
            raise ValueError("negative")
        return a * a

    s = 1.0
    for i in range(4):
        try:
            s = s * square(x[i]) + 0.1
        except ValueError:
            if x[i] > -0.5:
                raise
            s = s + x[i]
        else:
            s = s * 1.1
        finally:
            s = s * 1.2
    return s


def stored_then_raised_in_a_loop(x):
    a = np.zeros(4)
    for i in range(4):
        try:
            a[i] = x[i] * x[i]
            if x[i] > 1:
                raise ArithmeticError
            a[i] *= 2
        except ArithmeticError:
            a[i] += x[0]
    return (a * a).sum()


def returned_before_else(x):
    try:
        v = x * 2
        if x[0] < x[0] + 0.1:
            return v[-1] ** 2
        w = x[::-1]
    except ValueError:
        w = x * 3
    else:
        w = x / (1.5 + w**2)
    return np.sum(w)


def bound_on_one_path_only(x):
    s = 1.5
    try:
        v = np.sum((x[::-1] * s) ** 2)
        if v > 200.0 and x.max() < 1.0:
            return np.exp(-(v**2))
    except ValueError:
        w = np.mean(x)
    else:
        w = np.sum(x[::-1] ** 2)
    finally:
        s = np.cos(s) if np.any(x > 0.2) else np.maximum(w, s)
    try:
        u = np.tanh(0.5 * x)
        if -1.0 < w <= 12.0:
            return np.where(w > 0.2, u[1], 0.5) * s * w
    except ValueError:
        pass
    return 1.0


def handler_calls_a_closure(x):
    scale = x[0]

    def scaled(a):
        return a * scale

    try:
        scale = scale * x[1]
        if x[2] < 0:
            raise ValueError
        scale = scale * 5.0
    except ValueError:
        return scaled(x[3])
    return scaled(x[2])


@pytest.mark.parametrize(
    "f",
    [
        saved_then_raised,
        returned_from_a_try_in_a_loop,
        left_by_continue_before_else,
        everything_at_once,
        stored_then_raised_in_a_loop,
        returned_before_else,
        bound_on_one_path_only,
        handler_calls_a_closure,
    ],
)
def test_what_an_exception_leaves(f):
    assert_gradient(f, VECTOR)


def test_an_error_that_finally_does_not_hide():
    def f(x):
        try:
            y = x[9] * 2.0
        finally:
            print(x[0])
        return y

    for run in (adjoin.grad(f), adjoin.grad(f).forward, lambda x: adjoin.jvp(f, (x,), (x,))):
        with pytest.raises(IndexError):
            run(VECTOR)


def test_a_finally_that_is_noticed_is_done_on_every_path(capsys):
    def f(x, at):
        try:
            y = x[at] ** 2
        finally:
            n = at + 1
            print("done", n)
        return y

    assert adjoin.grad(f)(VECTOR, 1)[1] == 2 * VECTOR[1]
    with pytest.raises(IndexError):
        adjoin.grad(f)(VECTOR, 7)
    assert capsys.readouterr().out == "done 2\ndone 8\n"
