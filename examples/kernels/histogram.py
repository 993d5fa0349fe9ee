"""A histogram with weights: contributions gathered into bins, spread between neighbours."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1), 12, 20_000, False


def histogram(values, weights, bins):
    low, high = values.min(), values.max()
    position = (values - low) / (high - low) * (bins - 1)
    left = np.clip(position.astype(int), 0, bins - 2)
    share = position - left
    counts = np.zeros(bins)
    np.add.at(counts, left, weights * (1.0 - share))
    np.add.at(counts, left + 1, weights * share)
    return counts


def loss(values, weights, bins):
    counts = histogram(values, weights, bins)
    counts /= counts.sum()
    return np.sum(counts**2)


def example_args(size):
    rng = np.random.default_rng(0)
    return rng.normal(size=size), rng.random(size), 5 if size < 100 else 50
