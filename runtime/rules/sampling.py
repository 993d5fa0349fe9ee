"""Arrays for the samples of rules: small, irregular, the same every time.

In: a shape. Out: an array with no ties and no zeros, or a matrix with a property that an operation needs.

    >>> real(2, 3).shape
    (2, 3)
"""

from __future__ import annotations

from typing import Any

import numpy as np


def real(*shape: int, seed: int = 0) -> Any:
    """Floats of either sign, between 0.3 and 1.7 in absolute value.

    >>> bool(np.all(np.abs(real(5)) > 0.29))
    True
    """
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 1.7, shape) * rng.choice([-1.0, 1.0], shape)


def positive(*shape: int, seed: int = 0) -> Any:
    """Floats between 0.3 and 1.7.

    >>> bool(np.all(positive(5) > 0.29))
    True
    """
    return np.random.default_rng(seed).uniform(0.3, 1.7, shape)


def complex_(*shape: int, seed: int = 0) -> Any:
    """Complex numbers with no small part.

    >>> complex_(2).dtype
    dtype('complex128')
    """
    return real(*shape, seed=seed) + 1j * real(*shape, seed=seed + 100)


def well_conditioned(*shape: int, seed: int = 0) -> Any:
    """Square matrices far from singular, with eigenvalues far from one another.

    >>> well_conditioned(2, 3, 3).shape
    (2, 3, 3)
    """
    return 0.3 * real(*shape, seed=seed) + np.diag(1.5 + np.arange(shape[-1]))


def hermitian(a: Any) -> Any:
    """The Hermitian part of matrices: symmetric where these are real.

    >>> hermitian(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return (a + np.conj(np.swapaxes(a, -1, -2))) / 2
