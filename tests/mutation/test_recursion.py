"""Functions that call themselves, and write into arguments, into what surrounds them, into a result."""

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused

from adjoin import AdjoinError, grad, hvp

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
EIGHT = np.array([0.7, -1.3, 2.1, 0.4, -0.2, 1.9, 0.3, -0.8])
WEIGHTS = np.arange(1.0, 9.0)
MATRIX = np.array(
    [[0.3, 1.2, -0.4, 0.6], [0.8, -0.6, 0.9, -1.1], [0.2, 0.5, -0.7, 1.4], [1.0, -0.3, 0.1, 0.5]]
)


def multigrid(f):
    def smooth(u, f, h):
        for _ in range(2):
            u[1:-1] = 0.5 * (u[:-2] + u[2:] + h * h * f[1:-1])

    def v_cycle(u, f, h):
        smooth(u, f, h)
        if len(u) <= 3:
            return
        r = np.zeros_like(u)
        r[1:-1] = f[1:-1] - (2 * u[1:-1] - u[:-2] - u[2:]) / h**2
        coarse = r[::2].copy()
        coarse[1:-1] = 0.25 * r[1:-2:2] + 0.5 * r[2:-1:2] + 0.25 * r[3::2]
        e = np.zeros_like(coarse)
        v_cycle(e, coarse, 2 * h)
        u[::2] += e
        u[1::2] += 0.5 * (e[:-1] + e[1:])
        smooth(u, f, h)

    u = np.zeros_like(f)
    for _ in range(2):
        v_cycle(u, f, 1.0 / (len(f) - 1))
    return np.sum(u**2)


def quicksort(x, w):
    def sort(a, low, high):
        if low >= high:
            return
        i = low
        for j in range(low, high):
            if a[j] < a[high]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        sort(a, low, i - 1)
        sort(a, i + 1, high)

    a = x.copy()
    sort(a, 0, len(a) - 1)
    return a @ w


def mergesort(x, w):
    def sort(a, spare):
        n = len(a)
        if n == 1:
            return a
        half = n // 2
        sort(a[:half], spare[:half])
        sort(a[half:], spare[half:])
        i, j = 0, half
        for k in range(n):
            if j >= n or (i < half and a[i] <= a[j]):
                spare[k] = a[i]
                i += 1
            else:
                spare[k] = a[j]
                j += 1
        a[:] = spare
        return a

    b = x**2
    c = sort(b, np.zeros(len(x)))
    return c @ w + b @ w


def transform(x, w):
    def fft(z):
        n = len(z)
        if n == 1:
            return z
        out = np.empty(n, complex)
        even, odd = fft(z[::2]), fft(z[1::2])
        turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        out[: n // 2] = even + turned
        out[n // 2 :] = even - turned
        return out

    return np.sum(np.abs(fft(x + 0j)) ** 2 * w)


def transform_in_place(x, w):
    def fft(z):
        n = len(z)
        if n == 1:
            return z.copy()
        out = np.empty(n, complex)
        even, odd = fft(z[::2]), fft(z[1::2])
        odd *= np.exp(-2j * np.pi * np.arange(n // 2) / n)
        out[: n // 2] = even + odd
        out[n // 2 :] = even - odd
        return out

    return np.sum(np.abs(fft(x + 0j)) ** 2 * w)


def haar(x, w):
    def step(a):
        n = len(a)
        if n == 1:
            return
        mean, difference = (a[::2] + a[1::2]) / 2, (a[::2] - a[1::2]) / 2
        a[: n // 2] = mean
        a[n // 2 :] = difference
        step(a[: n // 2])

    y = x.copy()
    step(y)
    return np.sum(y * y * w)


def cholesky(a, b):
    def factor(A):
        A[0, 0] = np.sqrt(A[0, 0])
        if len(A) == 1:
            return A
        A[1:, 0] /= A[0, 0]
        A[0, 1:] = 0
        A[1:, 1:] -= np.outer(A[1:, 0], A[1:, 0])
        factor(A[1:, 1:])
        return A

    S = a @ a.T + 5 * np.eye(len(a))
    L = factor(S)
    return np.sum(L * b) + np.sum(S**2)


def products(a, b):
    def multiply(A, B):
        n = len(A)
        if n <= 1:
            return A * B
        h = n // 2
        C = np.zeros((n, n))
        C[:h, :h] = multiply(A[:h, :h], B[:h, :h]) + multiply(A[:h, h:], B[h:, :h])
        C[:h, h:] = multiply(A[:h, :h], B[:h, h:]) + multiply(A[:h, h:], B[h:, h:])
        C[h:, :h] += multiply(A[h:, :h], B[:h, :h])
        C[h:, :h] += multiply(A[h:, h:], B[h:, :h])
        C[h:, h:] = multiply(A[h:, :h], B[:h, h:]) + multiply(A[h:, h:], B[h:, h:])
        return C

    return np.sum(multiply(a, b) ** 2)


@pytest.mark.parametrize(
    "f, args",
    [
        (multigrid, (np.sin(np.arange(9.0)),)),
        (quicksort, (EIGHT, WEIGHTS)),
        (mergesort, (EIGHT, WEIGHTS)),
        (transform, (EIGHT, WEIGHTS)),
        (transform_in_place, (EIGHT, WEIGHTS)),
        (haar, (EIGHT, WEIGHTS)),
        (cholesky, (MATRIX, MATRIX + 2)),
        (products, (MATRIX, MATRIX.T + 1)),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_algorithm(f, args):
    assert_gradient(f, *args, argnums=tuple(range(len(args))))


def test_second_order_through_a_recursion_that_writes():
    v = np.cos(np.arange(8.0))
    found = hvp(haar, (EIGHT, WEIGHTS), (v, np.zeros(8)))
    assert np.shape(found) == (8,)
    gradient = grad(haar)
    step = 1e-5
    difference = (gradient(EIGHT + step * v, WEIGHTS) - gradient(EIGHT - step * v, WEIGHTS)) / (2 * step)
    np.testing.assert_allclose(found, difference, rtol=1e-7, atol=1e-9)


def test_recursion_over_halves():
    def fft(z):
        n = len(z)
        if n == 1:
            return z
        even, odd = fft(z[::2]), fft(z[1::2])
        turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + turned, even - turned])

    def f(x):
        return np.sum(np.abs(fft(x + 0j)) ** 2 * np.arange(4.0))

    assert_gradient(f, VECTOR)


def test_multigrid_that_calls_itself_on_a_coarser_grid():
    def v_cycle(f, h):
        n = len(f)
        u = np.zeros(n)
        if n <= 3:
            u[1:-1] = 0.5 * h * h * f[1:-1]
            return u
        for _ in range(2):
            u[1:-1] = 0.5 * (u[2:] + u[:-2] + h * h * f[1:-1])
        r = np.zeros(n)
        r[1:-1] = f[1:-1] + (u[2:] - 2.0 * u[1:-1] + u[:-2]) / (h * h)
        coarse = v_cycle(r[::2].copy(), 2.0 * h)
        u[::2] += coarse
        u[1::2] += 0.5 * (coarse[:-1] + coarse[1:])
        return u

    def f(x):
        return np.sum(v_cycle(x, 0.125) ** 2)

    assert_gradient(f, np.sin(np.arange(9.0)))


def test_writes_to_its_whole_argument_on_the_way_down():
    def sweep(u, i):
        if i < len(u):
            u[i] = u[i] * u[i - 1]
            sweep(u, i + 1)

    def f(x):
        a = x * 1.0
        sweep(a, 1)
        return np.sum(a)

    assert_gradient(f, VECTOR)


def test_writes_returns_its_argument_and_adds_a_copy_of_a_part():
    def halve(u):
        n = len(u)
        if n <= 1:
            u[0] *= 2.0
            return u
        u[: n // 2] += halve(np.zeros(n // 2) + u[: n // 2])
        return u

    def f(x):
        a = x * 1.0
        halve(a)
        return np.sum(a * a)

    assert_gradient(f, VECTOR)


def test_writes_into_what_surrounds_it():
    def f(x, n):
        g = np.zeros((n, n))

        def fill(i, j, v):
            if i >= n or j >= n or g[i, j] != 0:
                return
            g[i, j] = v
            fill(i + 1, j, v * x[0])
            fill(i, j + 1, v * x[1])

        fill(0, 0, x[2])
        return np.sum(g**2)

    assert_gradient(f, VECTOR, 3)


def test_two_that_call_each_other_and_write_into_what_surrounds_them():
    def f(x, n):
        z = x * 1.0

        def even(i):
            z[i] *= 2
            return z[i] if i == 0 else odd(i - 1)

        def odd(i):
            z[i] *= x[0]
            return z[i] * 3 if i == 0 else even(i - 1)

        return even(n) + np.sum(z)

    assert_gradient(f, VECTOR, 3)
    assert_gradient(f, VECTOR, 2)


def test_a_local_name_that_is_a_name_outside_too():
    def f(x, n):
        def go(u, i):
            y = u * 2
            return y[0] if i == 0 else y[i] * go(y, i - 1)

        y = x * 3
        return go(y, n) + y[0]

    assert_gradient(f, VECTOR, 3)


def test_inner_functions_of_a_recursion_write_into_what_surrounds_it():
    def f(x, n):
        y = x * 2
        z = np.zeros(4)

        def go(i):
            def add(k):
                z[k] += y[k] * i
                return y[k]

            return add(0) if i == 0 else add(i) * go(i - 1)

        return go(n) + np.sum(z**2)

    assert_gradient(f, VECTOR, 3)


def test_a_function_that_is_passed_on_captures():
    def integrate(f, a, b, n):
        if n == 0:
            return (b - a) * f((a + b) / 2)
        middle = (a + b) / 2
        return integrate(f, a, middle, n - 1) + integrate(f, middle, b, n - 1)

    def f(x, n):
        return integrate(lambda t: np.exp(-x[0] * t * t) * x[1], x[2], 2.0, n)

    assert_gradient(f, VECTOR, 3)


def test_numbers_and_arrays_returned_and_written_in_a_loop():
    def run(u, k, total):
        u *= 1.1
        u[k] += total
        if k + 1 < len(u):
            total = run(u, k + 1, total + u[k] * u[0])
        return total * u[-1]

    def f(x, n):
        v, t = x * 1.0, 0.3
        for _ in range(n):
            t = run(v, 0, t)
            v *= 0.5
        return t + np.sum(v**2)

    assert_gradient(f, VECTOR, 2)


def test_results_that_the_caller_writes_into():
    def go(u, n):
        if n == 0:
            return u.sum(), u * 2.0
        s, v = go(u * 1.5, n - 1)
        v[n] += s
        u[0] = s
        return s * v[0], v

    def f(x, n):
        u = x**2
        s, v = go(u, n)
        v[0] = 0
        return s + np.sum(v * u)

    assert_gradient(f, VECTOR, 3)


def test_a_tree_built_and_summed():
    def f(x, n):
        def build(i):
            return (x[i], None, None) if i == 0 else (x[i], build(i - 1), build(i - 1))

        def total(t):
            return 0.0 if t is None else t[0] ** 2 + total(t[1]) * total(t[2])

        return total(build(n))

    assert_gradient(f, VECTOR, 2)


def test_a_result_that_is_the_argument_and_is_written_into_is_refused_when_it_runs():
    def go(u, n):
        return u if n == 0 else go(u, n - 1)

    def f(x, n):
        a = x * 1.0
        b = go(a, n)
        b += 1.0
        return np.sum(a * b)

    assert_gradient(f, VECTOR, 0)
    with pytest.raises(ValueError, match="memory that it reads as well"):
        grad(f)(VECTOR, 2)


def test_arguments_that_share_memory_are_refused_when_it_runs():
    def go(u, v, n):
        u[0] += v[1]
        if n:
            go(u, v, n - 1)

    def f(x, n):
        a, b = x * 1.0, x * 2.0
        go(a, b if n > 1 else a, n)
        return np.sum(a * b)

    assert_gradient(f, VECTOR, 2)
    with pytest.raises(ValueError, match="memory that it reads as well"):
        grad(f)(VECTOR, 1)


def appends(x, n):
    found = []

    def go(i):
        found.append(x[i] ** 2)
        if i > 0:
            go(i - 1)

    go(n)
    return sum(found)


def sets_a_key(x, n):
    def go(i, state):
        state["v"] *= x[i]
        if i > 0:
            go(i - 1, state)

    state = {"v": x[0]}
    go(n, state)
    return state["v"]


class Walk:
    def __init__(self, x):
        self.x = x
        self.total = 0.0

    def go(self, i):
        self.total = self.total + self.x[i]
        return self.total if i == 0 else self.go(i - 1)


def sets_an_attribute(x, n):
    return Walk(x).go(n)


@pytest.mark.parametrize("f", [appends, sets_a_key, sets_an_attribute])
def test_changes_to_lists_dicts_and_objects_are_refused(f):
    with pytest.raises(AdjoinError) as caught:
        grad(f)(VECTOR, 3)
    assert caught.value.code.value in ("ADJ104", "ADJ203")


def test_a_list_that_grows_with_the_depth_is_refused():
    def go(x, i, found):
        found = [*found, x[i]]
        return found if i == 0 else go(x, i - 1, found)

    def f(x, n):
        return sum(go(x, n, []))

    error = assert_refused(f, VECTOR, 3, line="return found if i == 0 else go(x, i - 1, found)")
    assert "another length each time" in str(error)
