"""Gauss-Seidel sweeps: every new value is used at once."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 5, 60, True


def gauss_seidel(A, sweeps):
    n = A.shape[0]
    for _ in range(sweeps):
        for i in range(1, n - 1):
            A[i, 1:-1] += A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:]
            A[i, 1:-1] += A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


def loss(A, sweeps):
    gauss_seidel(A, sweeps)
    return np.sum(A**2)


def example_args(size):
    rng = np.random.default_rng(0)
    return rng.random((size, size)), 3
