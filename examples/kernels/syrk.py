"""Symmetric rank-k update of the lower triangle, row by row."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1, 2, 3), 5, 150, False


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def loss(alpha, beta, C, A):
    syrk(alpha, beta, C, A)
    return np.sum(C**2)


def example_args(size):
    rng = np.random.default_rng(0)
    return 1.5, 1.2, rng.random((size, size)), rng.random((size, size // 10 + 3))
