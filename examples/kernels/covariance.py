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


def gradient_by_hand(data):
    """The gradient of `loss` as one would write it; most of its time goes into adding columns times rows."""
    data = data - np.mean(data, axis=0)
    n, m = data.shape
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:] / (n - 1.0)
    cov_bar = 2.0 * cov
    data_bar = np.zeros_like(data)
    for i in range(m):
        row_bar = cov_bar[i, i:].copy()
        row_bar[1:] += cov_bar[i + 1 :, i]
        row_bar /= n - 1.0
        data_bar[:, i] += data[:, i:] @ row_bar
        data_bar[:, i:] += data[:, i, None] * row_bar
    return data_bar - np.mean(data_bar, axis=0)


def example_args(size):
    return (np.random.default_rng(0).random((2 * size, size)),)
