"""Cholesky factorisation in place, row by row."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 5, 60, False


def cholesky(A):
    n = A.shape[0]
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, n):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def loss(A):
    cholesky(A)
    return np.sum(np.log(np.diag(A))) + np.sum(np.tril(A) ** 3)


def example_args(size):
    half = np.random.default_rng(0).random((size, size))
    return (half @ half.T + size * np.eye(size),)
