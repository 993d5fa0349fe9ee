"""Jacobi iteration on the five-point stencil."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1), 6, 150, True


def jacobi_2d(A, B, steps):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def loss(A, B, steps):
    jacobi_2d(A, B, steps)
    return np.sum(A**2) + np.sum(B)


def example_args(size):
    rng = np.random.default_rng(0)
    return rng.random((size, size)), rng.random((size, size)), 4 if size < 100 else 30
