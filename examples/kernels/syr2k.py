"""Symmetric rank-2k update of the lower triangle."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1, 2, 3, 4), 5, 120, False


def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]


def loss(alpha, beta, C, A, B):
    syr2k(alpha, beta, C, A, B)
    return np.sum(C**2)


def example_args(size):
    rng = np.random.default_rng(0)
    thin = (size, size // 10 + 3)
    return 1.5, 1.2, rng.random((size, size)), rng.random(thin), rng.random(thin)
