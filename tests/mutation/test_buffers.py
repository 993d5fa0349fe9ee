"""Buffers that loops carry, swap and fill; lists and dictionaries written in place."""

import numpy as np
import pytest
from helpers import assert_gradient

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
MATRIX = np.array([[0.3, 1.2, -0.4, 0.6], [0.8, -0.6, 0.9, -1.1], [0.2, 0.5, -0.7, 1.4]])


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_swapped_buffers(steps):
    def f(x, k, steps):
        u = x.copy()
        v = np.zeros_like(u)
        for _ in range(steps):
            v[1:-1] = u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
            u, v = v, u
        return np.sum(u**2) + v[1]

    assert_gradient(f, VECTOR, 0.2, steps, argnums=(0, 1))


def test_three_rotating_buffers():
    def f(x, k):
        a, b, c = x.copy(), x * 0.5, np.zeros_like(x)
        for _ in range(5):
            c[1:-1] = 2 * b[1:-1] - a[1:-1] + k * (b[2:] - 2 * b[1:-1] + b[:-2])
            a, b, c = b, c, a
        return np.sum(b * c) + np.sum(a)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


def test_swap_in_one_branch():
    def f(x, k):
        u, v = x * 1.0, x * 0.5
        for i in range(4):
            v[i] = u[i] * k
            if i % 2:
                u, v = v, u
            v += 0.1 * u
        return np.sum(u * v)

    assert_gradient(f, VECTOR, 0.8, argnums=(0, 1))


def test_swap_through_a_temporary_name():
    def f(x):
        u, v = x * 1.0, x * 0.5
        for _ in range(3):
            v[1:] = u[:-1] * u[1:]
            t = u
            u = v
            v = t
        return np.sum(u) + np.sum(v)

    assert_gradient(f, VECTOR)


def test_swap_of_elements_of_a_list():
    def f(x):
        h = [x * 1.0, x * 0.5]
        for i in range(3):
            h[1][i] = h[0][i] * x[0]
            h[0], h[1] = h[1], h[0]
        return np.sum(h[0] * h[1])

    assert_gradient(f, VECTOR)


def test_buffer_alternating_by_parity():
    def f(x):
        u = np.zeros((2, 4))
        u[0] = x
        for t in range(5):
            new, old = u[(t + 1) % 2], u[t % 2]
            new[:] = np.sin(old) * 0.9
            new[0] += old[-1]
        return np.sum(u[0] * u[1])

    assert_gradient(f, VECTOR)


def test_history_in_a_matrix():
    def f(x, k):
        U = np.zeros((6, 4))
        U[0] = x
        for t in range(5):
            U[t + 1] = U[t] + k * np.roll(U[t], 1) * U[t]
        return np.sum(U[-1] ** 2) + np.sum(U[:, 0])

    assert_gradient(f, VECTOR, 0.2, argnums=(0, 1))


def test_while_until_converged():
    def f(b):
        x = np.zeros_like(b)
        change = 1.0
        while change > 1e-12:
            old = x.copy()
            for i in range(len(x)):
                x[i] = (b[i] - 0.3 * x[i - 1]) / 2.0
            change = np.max(np.abs(x - old))
        return np.sum(x**2)

    assert_gradient(f, VECTOR)


def test_buffer_in_a_loop_with_every_exit():
    def f(x, n):
        a = x * 1.0
        for i in range(n):
            if i == 1:
                a[0] *= 2.0
                continue
            a[1:] += 0.5 * a[:-1]
            if np.sum(a) > 6.0:
                a[2] = x[0]
                break
            if a[3] < -0.9:
                return np.sum(a[1:] * x[1:])
            a *= x
        else:
            a[-1] = a[0] ** 2
        return np.sum(a * a)

    for n in (1, 2, 5):
        for x in (VECTOR, -VECTOR, VECTOR * 0.3):
            assert_gradient(f, x, n)


def test_buffer_made_anew_at_each_turn():
    def f(x):
        s = 0.0
        for i in range(4):
            t = np.zeros(4)
            t[i:] = x[i:] * s
            t[0] += x[0]
            s = s + np.sum(t * t)
        return s

    assert_gradient(f, VECTOR)


def test_buffers_made_anew_and_kept():
    def f(x):
        h = []
        u = x * 1.0
        for i in range(3):
            v = u.copy()
            v[i] = x[i] ** 2
            h.append(v)
            u = v
            u[0] += 1.0
        h[1][2] *= 3.0
        return sum(np.sum(v * v) for v in h)

    assert_gradient(f, VECTOR)


def test_list_that_holds_one_buffer_many_times():
    def f(x):
        a = x * 1.0
        h = []
        for i in range(3):
            a[i] *= 2.0
            h.append(a)
        return sum(np.sum(v**2) * (i + 1) for i, v in enumerate(h))

    assert_gradient(f, VECTOR)


def test_list_of_arrays_mutated_in_place():
    def f(A):
        layers = [row * 1.0 for row in A]
        for i in range(1, len(layers)):
            layers[i][1:] += layers[i - 1][:-1] * layers[i][0]
            layers[i] *= 0.5
        for layer in layers:
            layer[0] = layer[1] ** 2
        layers[0] = layers[2]
        layers[0][3] = A[0, 0]
        return sum(np.sum(layer * layer) for layer in layers)

    assert_gradient(f, MATRIX)


def test_append_last_and_pop():
    def f(x):
        h = []
        h.append(x[0])
        for i in range(3):
            h.append(h[-1] * x[i] + 0.5)
        last = h.pop()
        first = h.pop(0)
        h[-1] = h[-1] * last
        return sum(h) * first

    assert_gradient(f, VECTOR)


def test_queue():
    def f(x):
        queue = [x[0], x[1]]
        total = 0.0
        while len(queue) > 0:
            e = queue.pop(0)
            total = total + e * e
            if len(queue) < 3 and total < 2.0:
                queue.append(e * 0.5)
                queue.append(e * x[3])
        return total

    assert_gradient(f, VECTOR)


def test_dictionary_items():
    def f(x):
        p = {}
        p["u"] = x * 1.0
        for name in ["v", "w", "v"]:
            p[name] = p["u"] * (len(p) + x[0])
            p["u"][0] += p[name][1]
        p["u"] = p["v"]
        p["u"] *= 2.0
        del p["w"]
        return sum(np.sum(v * v) for v in p.values())

    assert_gradient(f, VECTOR)


def test_memo_in_a_dictionary():
    def f(x):
        memo = {0: 1.0, 1: x}

        def chebyshev(n):
            if n not in memo:
                memo[n] = 2 * x * chebyshev(n - 1) - chebyshev(n - 2)
            return memo[n]

        return chebyshev(5) * memo[3]

    import adjoin

    try:
        assert_gradient(f, 0.4)
    except adjoin.AdjoinError as error:
        assert "chebyshev" in str(error)  # a recursion over shared memory may be refused, at its line


def test_del_on_lists():
    def f(x):
        h = [x[0], x[1] * 2.0, x[2], x[3]]
        del h[1]
        h[1] *= x[1]
        del h[-1:]
        h.insert(0, h[0] * h[1])
        h.remove(h[2])
        return h[0] * h[1] * len(h)

    assert_gradient(f, VECTOR)


def test_slices_of_lists_stored():
    def f(x):
        h = [x[0], x[1], x[2]]
        h[1:] = [x[3], h[0] * 2.0, h[1]]
        h[:1] = []
        h += [x[0] ** 2]
        g = h
        g *= 2
        return sum(h) * h[1] * h[-1]

    assert_gradient(f, VECTOR)


def test_shared_lists():
    def f(x):
        h = [x, x * 2.0]
        g = h
        nested = [h, h]
        g[0] = x * x
        nested[1].append(g[0] * h[1])
        k = h[:]
        k[0] = 0.0
        return h[0] * h[2] + len(g) * k[1]

    assert_gradient(f, 0.9)


def test_numbers_in_a_dictionary_of_lists():
    def f(x):
        log = {"a": [], "b": [1.0]}
        for i, e in enumerate(x):
            log["a" if i % 2 else "b"].append(e * log["b"][-1])
        return sum(log["a"]) * sum(log["b"])

    assert_gradient(f, VECTOR)


def test_histogram_with_weights():
    def f(w, x):
        h = np.zeros(3)
        for e, weight in zip(x, w):
            h[min(int(abs(e) * 2), 2)] += weight * e
        return np.sum(h**2)

    assert_gradient(f, np.arange(1.0, 5.0), VECTOR, argnums=(0, 1))


def test_gauss_seidel():
    def f(u, steps):
        u = u.copy()
        n, m = u.shape
        for _ in range(steps):
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    u[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4.0
        return np.sum(u**2)

    assert_gradient(f, np.vstack([MATRIX, MATRIX[::-1]]), 3)


def test_in_place_elimination():
    def f(A, b):
        A, b = A.copy(), b.copy()
        n = len(b)
        for k in range(n):
            for i in range(k + 1, n):
                factor = A[i, k] / A[k, k]
                A[i, k:] -= factor * A[k, k:]
                b[i] -= factor * b[k]
        x = np.zeros(n)
        for i in reversed(range(n)):
            x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
        return np.sum(x**2)

    assert_gradient(f, MATRIX[:, :3] + 3.0 * np.eye(3), VECTOR[:3], argnums=(0, 1))


def test_random_draws_with_buffers():
    def f(x):
        rng = np.random.default_rng(0)
        a = x * 1.0
        for _ in range(3):
            i = rng.integers(4)
            a[i] *= rng.normal() * a[(i + 1) % 4]
            rng.shuffle(a)
        return np.sum(a * a)

    assert_gradient(f, VECTOR)


def test_linear_stencil_through_vjp_with_an_array_result():
    import adjoin

    def f(u, k):
        u = u.copy()
        for _ in range(3):
            u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    value, pullback = adjoin.vjp(f, VECTOR, 0.2)
    np.testing.assert_array_equal(value, f(VECTOR, 0.2))
    matrix = np.array([f(e, 0.2) for e in np.eye(4)]).T
    seed = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(pullback(seed)[0], matrix.T @ seed)
    np.testing.assert_array_equal(seed, [1.0, -2.0, 0.5, 3.0])  # the seed is not written to


@pytest.mark.parametrize("snapshots", [1, 2, 3, 10])
def test_checkpointed_loop(snapshots):
    import adjoin

    def plain(x, k):
        u = x.copy()
        for t in range(9):
            u[1:] += k * np.sin(u[:-1]) * (t + 1)
        return np.sum(u**2)

    def f(x, k):
        u = x.copy()
        for t in adjoin.checkpointed(range(9), snapshots=snapshots):
            u[1:] += k * np.sin(u[:-1]) * (t + 1)
        return np.sum(u**2)

    x_bar, k_bar = assert_gradient(f, VECTOR, 0.2, argnums=(0, 1))
    want = adjoin.grad(plain, argnums=(0, 1))(VECTOR, 0.2)
    np.testing.assert_array_equal(x_bar, want[0])
    assert k_bar == want[1]


def test_checkpointed_function():
    import adjoin

    @adjoin.checkpoint
    def block(u, k):
        for _ in range(3):
            u = u + k * np.sin(u)
        return u

    def f(x, k):
        for _ in range(4):
            x = block(x, k)
        return np.sum(x**2)

    assert_gradient(f, VECTOR, 0.2, argnums=(0, 1))


def relaxed(u):
    """Writes into what it is given, and tells by how much: for the test of a loop."""
    old = u[1]
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return abs(u[1] - old)


def test_while_whose_test_writes():
    def f(x):
        u = x * x
        while relaxed(u) > 1e-2:
            u[0] *= 0.9
        return np.sum(u * u)

    assert_gradient(f, VECTOR)


@pytest.mark.parametrize("most", [1, 3, 99])
def test_while_whose_test_writes_with_every_exit(most):
    def f(x, most):
        u = x * x
        n = 0
        while relaxed(u) > 1e-3:
            n += 1
            if n > most:
                u[2] = 5.0 * x[1]
                break
            if n == 1:
                continue
            u[1] *= 2.0
            if u[1] > 50.0:
                return u[2] * x[0]
        else:
            u[0] *= 3.0
        return np.sum(u * u) * n

    assert_gradient(f, VECTOR, most)


def test_while_with_a_walrus():
    def f(x):
        a = x * 1.0
        s = 0.0
        while (m := a.max()) > 0.5:
            a[a.argmax()] = 0.3 * m
            s += m * m
        return np.sum(a * a) * s + 3.0 * m

    assert_gradient(f, VECTOR)


def test_while_that_pops_in_its_test():
    def f(x):
        h = [x[0], x[1], x[2] ** 2, -x[3]]
        s = 0.0
        while (e := h.pop()) < 1.0 and h.pop() < 9.0:
            s += e * h[-1]
        return s * e * h[0]

    assert_gradient(f, VECTOR)


def test_while_whose_test_changes_an_object():
    class Halving:
        def __init__(self, u):
            self.u = u
            self.largest = 0.0

        def step(self):
            self.largest = np.max(self.u)
            self.u = 0.5 * self.u
            return self.largest > 0.3

    def f(x):
        halving = Halving(x * 1.0)
        s = 0.0
        while halving.step():
            s += np.sum(halving.u)
        return s * halving.largest + np.sum(halving.u)

    assert_gradient(f, VECTOR)


def test_particles_that_are_drawn_anew():
    def f(observed, scale):
        rng = np.random.default_rng(3)
        particles = rng.normal(size=6)
        history = np.empty((len(observed), 6))
        likelihood = 0.0
        for t, o in enumerate(observed):
            particles[:] = 0.9 * particles + scale * rng.normal(size=6)
            likelihood += np.log(np.mean(np.exp(-0.5 * (o - particles) ** 2)))
            particles = particles[rng.choice(6, size=6)]
            history[t] = particles
        return likelihood + np.mean(history) * history[0, rng.choice(6)]

    assert_gradient(f, VECTOR, 0.5, argnums=(0, 1))
