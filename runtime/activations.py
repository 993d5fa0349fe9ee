"""Functions of neural networks that are one operation each, with their rules.

In: an array. Out: an array of the same shape. NumPy has no such functions; users know them from PyTorch.

    >>> relu(np.array([-1.0, 0.0, 2.0])).tolist(), sigmoid(np.array(0.0)).item()
    ([0.0, 0.0, 2.0], 0.5)
    >>> softmax(np.array([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rule import elementwise, vjp

__all__ = ["log_softmax", "relu", "sigmoid", "softmax"]

_SAMPLES = [(np.array([0.3, -1.6, 2.4]),), (np.array(-0.7),)]


def relu(x: Any) -> Any:
    """The positive part, and nan for nan."""
    return np.maximum(x, 0)


@elementwise(relu, samples=_SAMPLES)
def _relu(g: Any, out: Any, x: Any) -> Any:
    return np.where(out > 0, g, 0)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``, without overflow."""
    return 0.5 * (np.tanh(0.5 * x) + 1)


@elementwise(sigmoid, samples=[*_SAMPLES, (np.array([0.3 + 0.4j, -0.9 + 0.2j]),)])
def _sigmoid(g: Any, out: Any, x: Any) -> Any:
    return g * out * (1 - out)


_SCORES = [
    (np.array([0.3, -1.6, 2.4]),),
    (np.array([[0.3, -1.6], [2.4, 0.9]]), 0),
    (np.array([[0.3, -1.6]]), None),
]


def softmax(x: Any, axis: Any = -1) -> Any:
    """Exponentials along an axis (None: over everything), normalised to sum 1, without overflow."""
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


@vjp(softmax, wrt=["x"], samples=_SCORES)
def _softmax(g: Any, out: Any, x: Any, axis: Any = -1) -> Any:
    return out * (g - np.sum(g * out, axis=axis, keepdims=True))


@_softmax.jvp
def _softmax_jvp(x_dot: Any, out: Any, x: Any, axis: Any = -1) -> Any:
    return (out * (x_dot - np.sum(x_dot * out, axis=axis, keepdims=True)),)


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """The logarithm of `softmax`, without overflow."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@vjp(log_softmax, wrt=["x"], samples=_SCORES)
def _log_softmax(g: Any, out: Any, x: Any, axis: Any = -1) -> Any:
    return g - np.exp(out) * np.sum(g, axis=axis, keepdims=True)


@_log_softmax.jvp
def _log_softmax_jvp(x_dot: Any, out: Any, x: Any, axis: Any = -1) -> Any:
    return (x_dot - np.sum(x_dot * np.exp(out), axis=axis, keepdims=True),)
