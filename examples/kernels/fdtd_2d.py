"""Finite differences in the time domain: electric and magnetic fields that step by turns."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1, 2, 3), 5, 150, True


def fdtd_2d(ex, ey, hz, source):
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def loss(ex, ey, hz, source):
    fdtd_2d(ex, ey, hz, source)
    return np.sum(hz**2) + np.sum(ex * ey)


def example_args(size):
    rng = np.random.default_rng(0)
    fields = (rng.random((size, size + 1)) for _ in range(3))
    return (*fields, np.sin(np.arange(4.0 if size < 100 else 30.0)))
