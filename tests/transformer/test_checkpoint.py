"""Loops and functions that the reverse sweep runs again: same gradient, few states kept, few steps more."""

import functools
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused

import adjoin
from adjoin import checkpoint, checkpoint_report, checkpointed

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
MATRIX = np.arange(12.0).reshape(3, 4) / 10 + 0.1


def same_as_plain(f, plain, *args, argnums=(0, 1), rtol=0.0):
    """The gradient is right, and that of the plain loop, to the last bit or up to the order of a sum."""
    got = assert_gradient(f, *args, argnums=argnums)
    want = adjoin.grad(plain, argnums=argnums)(*args)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=rtol, atol=0.0, strict=True)


# -- loops --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("snapshots", [1, 2, 5, 30])
@pytest.mark.parametrize("n", [0, 1, 2, 12])
def test_loop_without_stores(n, snapshots):
    def plain(x, k, n, snapshots):
        for t in range(n):
            x = x + k * np.sin(x) * (t + k)
        return np.sum(x)

    def f(x, k, n, snapshots):
        for t in checkpointed(range(n), snapshots=snapshots):
            x = x + k * np.sin(x) * (t + k)
        return np.sum(x)

    same_as_plain(f, plain, VECTOR, 0.2, n, snapshots)


def test_swapped_buffers():
    def plain(x, k):
        u, v = x.copy(), np.zeros_like(x)
        for _ in range(7):
            v[1:-1] = u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
            u, v = v, u
        return np.sum(u**2) + v[1]

    def f(x, k):
        u, v = x.copy(), np.zeros_like(x)
        for _ in checkpointed(range(7), snapshots=2):
            v[1:-1] = u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
            u, v = v, u
        return np.sum(u**2) + v[1]

    same_as_plain(f, plain, VECTOR / 4, 0.2, rtol=1e-14)


def test_array_changed_in_place_and_seen_through_a_view():
    def f(x, k):
        u = x * 1.0
        inner = u[1:-1]
        for _ in checkpointed(range(4), snapshots=2):
            inner *= k
            inner += np.sin(inner)
        return np.sum(u * u)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_array_of_the_caller():
    def f(x, k):
        for _ in checkpointed(range(4), snapshots=2):
            x[1:] += k * np.sin(x[:-1])
        return np.sum(x * x)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_numbers_and_arrays_are_carried_together():
    def f(x, k, n):
        u, s = x * 1.0, 0.0
        for _ in checkpointed(range(n), snapshots=3):
            u *= k
            s = s + u[0]
        return np.sum(u * u) + s

    for n in (0, 1, 6):
        assert_gradient(f, VECTOR, 0.2, n, argnums=(0, 1))


def test_arrays_changed_after_the_loop_are_what_they_were_in_it():
    def f(x, k):
        u, w = x.copy(), x * 2.0
        for _ in checkpointed(range(4), snapshots=2):
            u = u + k * np.sin(u) * w
        u[0] = 1.0
        w[1] *= u[2]
        w *= k
        return np.sum(u * w)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_history_in_a_matrix():
    def f(x, k):
        U = np.zeros((6, 4))
        U[0] = x
        for t in checkpointed(range(5), snapshots=2):
            U[t + 1] = U[t] + k * np.roll(U[t], 1) * U[t]
        return np.sum(U[-1] ** 2) + np.sum(U[:, 0])

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_over_rows_pairs_and_lists():
    def rows(x, A):
        for row in checkpointed(A, snapshots=2):
            x = np.tanh(x * row) + x
        return np.sum(x)

    def pairs(x, A):
        for i, (row, e) in checkpointed(enumerate(zip(A, [1.0, 2.0, 3.0], strict=True)), snapshots=2):
            x = np.tanh(x * row) + x * e * i
        return np.sum(x)

    def layers(ws, k):
        x = ws[0] * 1.0
        for w in checkpointed(ws, snapshots=1):
            x = np.tanh(w * x) + k
        return np.sum(x)

    assert_gradient(rows, VECTOR, MATRIX, argnums=(0, 1))
    assert_gradient(pairs, VECTOR, MATRIX, argnums=(0, 1))
    assert_gradient(layers, [VECTOR, VECTOR * 2, VECTOR * 0.5], 0.3, argnums=(0, 1))


def test_in_loops_branches_and_checkpointed_loops():
    def f(x, k):
        u = x.copy()
        for i in checkpointed(range(3), snapshots=2):
            for _ in checkpointed(range(4), snapshots=2):
                u[1:] += k * np.sin(u[:-1])
            u[0] *= k
        for _ in range(2):
            for _ in checkpointed(range(3), snapshots=2):
                u[1:] += k * np.sin(u[:-1])
                u = u * 1.01
            u[0] *= k
        if k > 0.1:
            for _ in checkpointed(range(4), snapshots=2):
                u = np.where(u > 0.5, u * k, np.sin(u))
                if u[0] > 0.1:
                    u = u * x
        return np.sum(u * x)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_single_precision_and_complex_numbers():
    def plain(x):
        for _ in range(5):
            x = np.sin(x) * x + x
        return np.sum(np.abs(x) ** 2)

    def f(x):
        for _ in checkpointed(range(5), snapshots=2):
            x = np.sin(x) * x + x
        return np.sum(np.abs(x) ** 2)

    for x in (VECTOR.astype(np.float32) / 4, VECTOR / 4 + 0.1j * VECTOR[::-1]):
        got = adjoin.grad(f)(x)
        np.testing.assert_array_equal(got, adjoin.grad(plain)(x), strict=True)


def test_what_does_not_depend_on_the_arguments_stays_a_plain_loop():
    def f(x):
        u = np.ones(4)
        for _ in checkpointed(range(5), snapshots=2):
            u[1:] += u[:-1]
        return np.sum(u * x)

    gradient = adjoin.grad(f)
    np.testing.assert_array_equal(gradient(VECTOR), [1.0, 6.0, 16.0, 26.0])
    assert "checkpoint" not in gradient.source


def test_other_derivatives():
    def f(x):
        for _ in checkpointed(range(5), snapshots=2):
            x = np.sin(x) * x + x
        return np.sum(x)

    def plain(x):
        for _ in range(5):
            x = np.sin(x) * x + x
        return np.sum(x)

    _, pullback = adjoin.vjp(f, VECTOR)
    first = pullback(1.0)
    np.testing.assert_array_equal(first[0], pullback(1.0)[0])
    np.testing.assert_array_equal(first[0], adjoin.grad(plain)(VECTOR))
    second = adjoin.grad(lambda x: np.sum(adjoin.grad(f)(x) ** 2))(VECTOR)
    np.testing.assert_allclose(
        second, adjoin.grad(lambda x: np.sum(adjoin.grad(plain)(x) ** 2))(VECTOR), rtol=1e-12
    )


def test_the_generated_module_needs_numpy_only(tmp_path):
    def f(x):
        u = x.copy()
        for t in checkpointed(range(9), snapshots=3):
            u[1:] += 0.1 * np.sin(u[:-1]) * (t + 1)
        return np.sum(u**2)

    gradient = adjoin.grad(f)
    want = gradient(VECTOR)
    (tmp_path / "built.py").write_text(gradient.source)
    program = "import sys; sys.modules['adjoin'] = None; import numpy as np, built;"
    program += f"print(built.f_grad(np.array({VECTOR.tolist()})).tolist())"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == f"{want.tolist()}\n", done.stderr


# -- functions ----------------------------------------------------------------------------------------


@checkpoint
def advance(u, k):
    """Two results, and arrays of its own that it writes to."""
    w = u.copy()
    w[0] *= k
    for _ in range(3):
        w[1:] += w[:-1] * k
    return w, w[1] * k


@checkpoint
def advance_in_place(u, k):
    u[1:] += k * np.sin(u[:-1])


def test_function_with_two_results():
    def f(x, k):
        s = 0.0
        for _ in range(3):
            x, e = advance(x, k)
            s = s + e
        return np.sum(x) * s

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_function_that_writes_to_its_argument():
    def f(x, k):
        u = x.copy()
        for _ in range(3):
            advance_in_place(u, k)
            u[0] *= 1.5
        advance_in_place(u, k * 2)
        return np.sum(u * u)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_functions_in_a_checkpointed_loop():
    def f(x, k):
        u = x.copy()
        for _ in checkpointed(range(3), snapshots=1):
            advance_in_place(u, k)
            y, e = advance(u, k)
            u = y + e
        return np.sum(u * u)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_function_made_on_the_spot():
    def f(x, k):
        g = checkpoint(lambda y: np.sin(y) * k)
        return np.sum(g(g(x)))

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_method():
    class Model:
        k = 0.3

        @checkpoint
        def step(self, x):
            return np.sin(x) * self.k + x

    model = Model()

    def f(x):
        return np.sum(model.step(model.step(x)))

    assert_gradient(f, VECTOR)


def test_gradient_of_a_checkpointed_function_itself():
    np.testing.assert_array_equal(adjoin.grad(checkpoint(lambda x: np.sum(x * x)))(VECTOR), 2 * VECTOR)


def test_a_decorator_around_a_checkpointed_function_is_not_passed_over():
    def doubled(g):
        @functools.wraps(g)
        def wrapper(x):
            return 2.0 * g(x)

        return wrapper

    g = doubled(checkpoint(lambda x: np.sin(x) * x))
    assert_gradient(lambda x: np.sum(g(x)), VECTOR)


def test_function_is_run_again_and_not_kept():
    def f(x):
        for _ in range(3):
            x, _ = advance(x, 0.5)
        return np.sum(x)

    with checkpoint_report() as report:
        adjoin.grad(f)(VECTOR)
    assert [(r.steps, r.recomputed) for r in report.reruns] == [(1, 1)] * 3


# -- outside of gradients -----------------------------------------------------------------------------


def test_marks_do_nothing_by_themselves():
    items = range(3)
    assert checkpointed(items, snapshots=1) is items
    assert advance.__name__ == "advance" and advance.__doc__.startswith("Two results")
    w, e = advance(VECTOR, 0.5)
    assert w.shape == (4,) and e == w[1] * 0.5


def test_no_snapshots():
    with pytest.raises(ValueError, match="at least one snapshot"):
        checkpointed(range(3), snapshots=0)

    def f(x, s):
        for _ in checkpointed(range(3), snapshots=s):
            x = x * x
        return x

    with pytest.raises(ValueError, match="at least one snapshot"):
        adjoin.grad(f)(0.5, 0)


# -- how much is run again, and kept ------------------------------------------------------------------


@functools.cache
def fewest(steps, snapshots):
    """The fewest forward steps of a reversal, by trying every schedule (Griewank & Walther 2000)."""
    if steps <= 1:
        return 0
    if snapshots == 1:
        return steps * (steps - 1) // 2
    return min(
        first + fewest(steps - first, snapshots - 1) + fewest(first, snapshots) for first in range(1, steps)
    )


@pytest.mark.parametrize("snapshots", [1, 2, 3, 4, 7, 40])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 11, 36])
def test_as_few_steps_as_possible_are_run_again(n, snapshots):
    def f(x, n, snapshots):
        for _ in checkpointed(range(n), snapshots=snapshots):
            x = x * 1.01 + 0.1 * np.sin(x)
        return x

    with checkpoint_report() as report:
        adjoin.grad(f)(0.3, n, snapshots)
    (rerun,) = report.reruns
    assert (rerun.steps, rerun.snapshots) == (n, snapshots)
    # the first sweep makes all n steps, where the reversal needs n - 1 of them; n are differentiated
    assert rerun.recomputed == fewest(n, snapshots) + 1 == report.recomputed


def peak(f, *args):
    gradient = adjoin.grad(f)
    gradient(*args)
    tracemalloc.start()
    gradient(*args)
    _, found = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return found


def test_memory_is_that_of_the_snapshots():
    def f(x, n, snapshots):
        u = x.copy()
        for _ in checkpointed(range(n), snapshots=snapshots):
            u[1:] += 0.1 * np.sin(u[:-1])
            u *= np.cos(u)
        return np.sum(u)

    def plain(x, n):
        u = x.copy()
        for _ in range(n):
            u[1:] += 0.1 * np.sin(u[:-1])
            u *= np.cos(u)
        return np.sum(u)

    x = np.linspace(0.1, 1.0, 20_000)
    few, many, longer = peak(f, x, 60, 3), peak(f, x, 60, 12), peak(f, x, 240, 3)
    assert abs(longer - few) < 0.1 * few  # not of the number of steps
    assert 8 * x.nbytes < many - few < 10 * x.nbytes  # one state a snapshot
    assert few < 0.2 * peak(plain, x, 60)


# -- refusals -----------------------------------------------------------------------------------------


def test_loop_that_is_left():
    def f(x):
        for _ in checkpointed(range(5), snapshots=2):
            x = x * x
            if x > 2.0:
                break
        return x

    assert_refused(f, 1.1, line="for _ in checkpointed(range(5), snapshots=2):")


def test_draws_and_prints():
    def draws(x):
        rng = np.random.default_rng(0)
        for _ in checkpointed(range(5), snapshots=2):
            x = x * rng.normal()
        return x

    def prints(x):
        for _ in checkpointed(range(5), snapshots=2):
            x = x * x
            print(x)
        return x

    assert_refused(draws, 1.1, line="rng.normal()")
    assert_refused(prints, 1.1, line="print(x)")


def test_mark_in_the_wrong_place():
    def comprehension(x):
        return sum([x * t for t in checkpointed(range(4), snapshots=2)])

    def inside(x):
        for i, t in enumerate(checkpointed(range(4), snapshots=2)):
            x = x * t + i
        return x

    assert_refused(
        comprehension, 1.1, line="return sum([x * t for t in checkpointed(range(4), snapshots=2)])"
    )
    assert_refused(inside, 1.1, line="for i, t in enumerate(checkpointed(range(4), snapshots=2)):")


def test_lists_that_grow():
    def f(x):
        h = [x]
        for _ in checkpointed(range(5), snapshots=2):
            h.append(h[-1] * x)
        return sum(h)

    assert_refused(f, 1.1, line="for _ in checkpointed(range(5), snapshots=2):")


def test_name_bound_in_the_loop_only():
    def f(x):
        for _ in checkpointed(range(5), snapshots=2):
            y = x * x
        return y

    assert_refused(f, 1.1, line="for _ in checkpointed(range(5), snapshots=2):")


def test_memory_that_has_another_name():
    def f(x):
        u, v = x * 1.0, x * 2.0
        first = u
        for _ in checkpointed(range(5), snapshots=2):
            v[1:] += u[:-1]
            u, v = v, u
        return np.sum(first) + np.sum(u)

    assert_refused(f, VECTOR, line="for _ in checkpointed(range(5), snapshots=2):")


def test_view_beside_its_array():
    def f(x):
        u = x * 1.0
        first = u[:2]
        for _ in checkpointed(range(5), snapshots=2):
            u[2:] += first
            first *= 0.5
        return np.sum(u)

    assert_refused(f, VECTOR, line="for _ in checkpointed(range(5), snapshots=2):")


def test_two_views_of_one_array():
    def f(x, n):
        u = x * 1.0
        left, right = u[:n], u[-n:]
        for _ in checkpointed(range(5), snapshots=2):
            left *= 0.5
            right += 0.1 * left
        return np.sum(u * x)

    assert_gradient(f, VECTOR, 2)
    with pytest.raises(ValueError, match="share memory"):
        adjoin.grad(f)(VECTOR, 3)
