"""Alternating-direction implicit diffusion: recurrences along columns, then along rows."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 6, 60, False


def sweep(u, v, p, q, a, b, c, d):
    """Implicit in the first direction, explicit in the second; writes v."""
    n = u.shape[0]
    v[0, 1:-1] = 1.0
    p[1:-1, 0] = 0.0
    q[1:-1, 0] = v[0, 1:-1]
    for j in range(1, n - 1):
        p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
        q[1:-1, j] = (-d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - d * u[j, 2:] - a * q[1:-1, j - 1]) / (
            a * p[1:-1, j - 1] + b
        )
    v[-1, 1:-1] = 1.0
    for j in range(n - 2, 0, -1):
        v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]


def adi(u, steps):
    n = u.shape[0]
    v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    v[:, [0, -1]] = 1.0
    step = 1.0 / n
    r1, r2 = 2.0 / steps / step**2 * 0.1, 1.0 / steps / step**2 * 0.1
    for _ in range(steps):
        sweep(u, v, p, q, -r1 / 2, 1 + r1, -r1 / 2, -r2 / 2)
        sweep(v.T, u.T, p, q, -r2 / 2, 1 + r2, -r2 / 2, -r1 / 2)


def loss(u, steps):
    adi(u, steps)
    return np.sum(u**2)


def example_args(size):
    rng = np.random.default_rng(0)
    return rng.random((size, size)), 3
