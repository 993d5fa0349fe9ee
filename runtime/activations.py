"""Functions of neural networks that are one operation each, with their rules.

In: an array. Out: an array of the same shape. NumPy has no such functions; users know them from PyTorch.

    >>> relu(np.array([-1.0, 0.0, 2.0])).tolist(), sigmoid(np.array(0.0)).item()
    ([0.0, 0.0, 2.0], 0.5)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rule import elementwise

__all__ = ["relu", "sigmoid"]

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
