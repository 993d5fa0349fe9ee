"""LU factorisation in place, and the solution of a system by its factors."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1), 5, 50, False


def factorise(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]


def solve(A, b):
    n = A.shape[0]
    x, y = np.zeros_like(b), np.zeros_like(b)
    factorise(A)
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def loss(A, b):
    return np.sum(solve(A, b) ** 2)


def example_args(size):
    rng = np.random.default_rng(0)
    return rng.random((size, size)) + size * np.eye(size), rng.random(size)
