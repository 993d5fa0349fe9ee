"""Modified Gram-Schmidt: columns are normalised and projected out, in place."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 4, 60, False


def gram_schmidt(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]))
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def loss(A):
    Q, R = gram_schmidt(A)
    return np.sum(R**2) * 0.1 + np.sum(Q * np.arange(Q.shape[1])) + np.sum(A)


def example_args(size):
    return (np.random.default_rng(0).random((size + 2, size)),)
