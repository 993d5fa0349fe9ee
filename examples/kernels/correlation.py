"""A correlation matrix, with standard deviations that are too small replaced through a mask."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 5, 120, False


def correlation(data):
    n, m = data.shape
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= np.mean(data, axis=0)
    data /= np.sqrt(n) * deviation
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return corr


def loss(data):
    return np.sum(correlation(data) ** 3)


def example_args(size):
    data = np.random.default_rng(0).random((2 * size, size))
    data[:, 1] *= 0.05
    return (data,)
