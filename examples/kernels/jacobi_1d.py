"""Jacobi iteration in one dimension: two buffers, each computed from the other."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1), 8, 20_000, True


def jacobi_1d(A, B, steps):
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def loss(A, B, steps):
    jacobi_1d(A, B, steps)
    return np.sum(A**2) + np.sum(B)


def example_args(size):
    rng = np.random.default_rng(0)
    return rng.random(size), rng.random(size), 5 if size < 100 else 50
