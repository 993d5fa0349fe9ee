"""Helpers of the rules for covariances, correlations and histograms.

In: `g`, the observations, and the options of the operation. Out: adjoints of the shape of the observations or
weights; from tangents, a tangent of the result.

    >>> bin_volumes([np.array([0.0, 1.0, 3.0])])
    array([1., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import own

# -- covariance --------------------------------------------------------------------------------------


def observations(m: Any, y: Any, rowvar: Any) -> Any:
    """All variables as rows."""
    rows = m if np.ndim(m) < 2 or rowvar else np.transpose(m)
    if y is None:
        return np.atleast_2d(rows)
    more = y if np.ndim(y) < 2 or rowvar else np.transpose(y)
    return np.concatenate([np.atleast_2d(rows), np.atleast_2d(more)])


def cov_weights(x: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any) -> Any:
    """The weight of each column of `x` over the normaliser, and the weights that make the mean."""
    n = np.shape(x)[1]
    w = np.ones(n, like=own(x)) if fweights is None else np.asarray(fweights, float, like=own(fweights))
    if aweights is not None:
        w = w * aweights
    ddof = (0 if bias else 1) if ddof is None else ddof
    total = np.sum(w)
    if ddof == 0 or aweights is None:
        return w / (total - ddof), w / total
    return w / (total - ddof * np.sum(w * aweights) / total), w / total


def centred_observations(x: Any, mean_weights: Any) -> Any:
    """The rows of `x` less their weighted means."""
    return x - np.sum(x * mean_weights, axis=1, keepdims=True)


def cov_adjoint(
    g: Any, m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any
) -> tuple[Any, Any]:
    """The adjoints of both sets of observations.

    The weighted deviations sum to 0, so nothing comes back through the means.
    """
    x = observations(m, y, rowvar)
    w, mean_weights = cov_weights(x, bias, ddof, fweights, aweights)
    g = np.reshape(g, (len(x), len(x)))
    x_bar = (g + np.conj(np.transpose(g))) @ (centred_observations(x, mean_weights) * w)
    return split_observations(x_bar, m, y, rowvar)


def split_observations(x_bar: Any, m: Any, y: Any, rowvar: Any) -> tuple[Any, Any]:
    """The rows of `x_bar` as adjoints of what `observations` joined."""
    first = len(observations(m, None, rowvar))
    m_bar = np.transpose(x_bar[:first]) if np.ndim(m) == 2 and not rowvar else x_bar[:first]
    y_bar = None
    if y is not None:
        y_bar = np.transpose(x_bar[first:]) if np.ndim(y) == 2 and not rowvar else x_bar[first:]
        y_bar = np.reshape(y_bar, np.shape(y))
    return np.reshape(m_bar, np.shape(m)), y_bar


def cov_tangent(
    m_dot: Any, y_dot: Any, m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any
) -> Any:
    """The tangent of ``np.cov``; None stands for a tangent of 0."""
    x = observations(m, y, rowvar)
    x_dot = observations_tangent(m_dot, y_dot, m, y, rowvar)
    w, mean_weights = cov_weights(x, bias, ddof, fweights, aweights)
    half = x_dot @ np.conj(np.transpose(centred_observations(x, mean_weights) * w))
    return np.squeeze(half + np.conj(np.transpose(half)))


def observations_tangent(m_dot: Any, y_dot: Any, m: Any, y: Any, rowvar: Any) -> Any:
    """The tangent of `observations`."""
    m_dot = np.zeros_like(m) if m_dot is None else m_dot
    if y is None:
        return observations(m_dot, None, rowvar)
    return observations(m_dot, np.zeros_like(y) if y_dot is None else y_dot, rowvar)


# -- correlation -------------------------------------------------------------------------------------


def corrcoef_adjoint(g: Any, out: Any, x: Any, y: Any, rowvar: Any) -> tuple[Any, Any]:
    """The adjoints of ``np.corrcoef``: each coefficient is a covariance over two standard deviations."""
    n = len(observations(x, y, rowvar))
    g, out = np.reshape(g, (n, n)), np.reshape(out, (n, n))
    variance = np.real(np.reshape(np.diag(np.reshape(np.cov(x, y, rowvar), (n, n))), (n,)))
    deviation = np.sqrt(variance)
    each = np.real(np.conj(out) * g)
    variance_bar = -(np.sum(each, axis=0) + np.sum(each, axis=1)) / (2 * variance)
    cov_bar = g / (deviation[:, None] * deviation) + np.diag(variance_bar)
    return cov_adjoint(cov_bar, x, y, rowvar, False, None, None, None)


def corrcoef_tangent(x_dot: Any, y_dot: Any, out: Any, x: Any, y: Any, rowvar: Any) -> Any:
    """The tangent of ``np.corrcoef``; None stands for a tangent of 0."""
    n = len(observations(x, y, rowvar))
    out = np.reshape(out, (n, n))
    variance = np.real(np.diag(np.reshape(np.cov(x, y, rowvar), (n, n))))
    deviation = np.sqrt(variance)
    cov_dot = np.reshape(cov_tangent(x_dot, y_dot, x, y, rowvar, False, None, None, None), (n, n))
    relative = np.real(np.diag(cov_dot)) / (2 * variance)
    return np.squeeze(cov_dot / (deviation[:, None] * deviation) - out * (relative[:, None] + relative))


# -- histograms --------------------------------------------------------------------------------------


def by_dimension(sample: Any) -> Any:
    """The coordinates of `np.histogramdd`, a row for each: a matrix has them in columns, a sequence has not.

    >>> by_dimension(([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])).shape
    (2, 3)
    >>> by_dimension(np.ones((3, 2))).shape
    (2, 3)
    """
    if isinstance(sample, list | tuple) and all(np.ndim(part) == 1 for part in sample):
        return np.stack(sample)  # unlike atleast_2d, of arrays of any library
    return sample.T if getattr(sample, "ndim", 1) == 2 else np.atleast_2d(sample)


def bin_places(edges: Any, samples: Any) -> Any:
    """The bin of each observation along each axis, and which observations fall into one at all."""
    places, inside = [], np.ones(np.size(samples[0]), bool, like=own(samples[0]))
    for edge, sample in zip(edges, samples, strict=True):
        edge, sample = np.asarray(edge, like=own(edge)), np.ravel(sample)
        place = np.searchsorted(edge, sample, side="right") - 1
        place = np.where(sample == edge[-1], len(edge) - 2, place)  # the last bin is closed
        inside = inside & (place >= 0) & (place < len(edge) - 1)
        places.append(np.clip(place, 0, len(edge) - 2))
    return tuple(places), inside


def bin_volumes(edges: Any) -> Any:
    """The volume of each bin."""
    volumes = 1.0
    for edge in edges:
        volumes = np.multiply.outer(volumes, np.diff(edge))
    return volumes


def histogram_weights_adjoint(g: Any, out: Any, edges: Any, samples: Any, weights: Any, density: Any) -> Any:
    """The adjoint of the weights of a histogram, whose density is counts over their sum and the volumes.

    Args:
        g: the adjoint of the histogram; None where only the edges have one, which are data.
    """
    if g is None:
        return np.zeros_like(weights)
    places, inside = bin_places(edges, samples)
    if density:
        total = np.sum(np.ravel(weights) * inside)
        g = (g / bin_volumes(edges) - np.sum(g * out)) / total
    return np.reshape(np.where(inside, g[places], 0), np.shape(weights))


def histogram_tangent(
    weights_dot: Any, out: Any, edges: Any, samples: Any, weights: Any, density: Any
) -> Any:
    """The tangent of a histogram in its weights."""
    places, inside = bin_places(edges, samples)
    counts_dot = np.zeros(np.shape(out), np.result_type(weights_dot, float), like=own(out))
    np.add.at(counts_dot, places, np.where(inside, np.ravel(weights_dot), 0))
    if not density:
        return counts_dot
    total = np.sum(np.ravel(weights) * inside)
    return (counts_dot / bin_volumes(edges) - out * np.sum(counts_dot)) / total
