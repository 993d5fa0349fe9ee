"""Durbin's recursion for Toeplitz systems: a reversed view of a buffer that is being rewritten."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 6, 300, False


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def loss(r):
    return np.sum(durbin(r) ** 2)


def example_args(size):
    return (0.4 ** np.arange(1.0, size + 1.0) + 0.01 * np.random.default_rng(0).random(size),)
