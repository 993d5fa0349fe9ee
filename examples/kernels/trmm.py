"""Product with a triangular matrix, into the other factor."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1, 2), 5, 60, False


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


def loss(alpha, A, B):
    trmm(alpha, A, B)
    return np.sum(B**2)


def example_args(size):
    rng = np.random.default_rng(0)
    return 1.5, rng.random((size, size)), rng.random((size, size - 1))
