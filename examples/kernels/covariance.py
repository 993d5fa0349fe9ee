"""A covariance matrix, both triangles written by one chained store."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 5, 120, False


def covariance(data):
    m = data.shape[1]
    data -= np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:] / (data.shape[0] - 1.0)
    return cov


def loss(data):
    return np.sum(covariance(data) ** 2)


def example_args(size):
    return (np.random.default_rng(0).random((2 * size, size)),)
