"""Product with a symmetric matrix of which one triangle is stored."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1, 2, 3, 4), 5, 50, False


def symm(alpha, beta, C, A, B):
    column = np.empty(C.shape[1])
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            column[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * column


def loss(alpha, beta, C, A, B):
    symm(alpha, beta, C, A, B)
    return np.sum(C**2)


def example_args(size):
    rng = np.random.default_rng(0)
    wide = (size, size + 1)
    return 1.5, 1.2, rng.random(wide), rng.random((size, size)), rng.random(wide)
