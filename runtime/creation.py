"""Making tensors.

In: shapes, ranges, arrays. Out: leaves, float64 unless a dtype is given (integers for `arange` of integers),
as NumPy has it. Random ones draw from one generator, which `manual_seed` restarts.

    >>> zeros(2, 3).shape, ones((2,)).dtype, arange(3)
    ((2, 3), dtype('float64'), tensor([0, 1, 2]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import device as devices
from .base import TensorBase
from .errors import DtypeError
from .tensors import Tensor, leaf, tensor

__all__ = [
    "arange",
    "as_tensor",
    "empty",
    "empty_like",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "manual_seed",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "zeros",
    "zeros_like",
]

_generator = np.random.default_rng()


def manual_seed(seed: int) -> None:
    """Restart the random numbers."""
    global _generator
    _generator = np.random.default_rng(seed)


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares the memory of an array."""
    if not isinstance(array, np.ndarray):
        raise DtypeError(f"from_numpy takes a NumPy array, not {type(array).__name__}")
    return leaf(array)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor: itself if it is one of that dtype and device, sharing memory if it is an array."""
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)  # type: ignore[no-any-return]
    if isinstance(data, np.ndarray) and (dtype is None or data.dtype == np.dtype(dtype)) and device is None:
        return leaf(data)
    return tensor(data, dtype, device=device)


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], list | tuple):
        return tuple(size[0])
    return tuple(int(n) for n in size)


def _placed(array: Any, requires_grad: bool, device: Any) -> Tensor:
    return leaf(array if device is None else devices.moved(array, device), requires_grad)


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """Zeros of a shape, given as numbers or as one tuple."""
    return _placed(np.zeros(_shape(size), dtype or np.float64), requires_grad, device)


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """Ones of a shape."""
    return _placed(np.ones(_shape(size), dtype or np.float64), requires_grad, device)


def empty(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """A tensor whose values are whatever was in memory."""
    return _placed(np.empty(_shape(size), dtype or np.float64), requires_grad, device)


def full(
    size: Any, fill_value: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None
) -> Tensor:
    """One value everywhere."""
    value = fill_value.item() if isinstance(fill_value, TensorBase) else fill_value  # type: ignore[attr-defined]
    return _placed(np.full(size, value, dtype), requires_grad, device)


def eye(
    n: int, m: int | None = None, dtype: Any = None, requires_grad: bool = False, device: Any = None
) -> Tensor:
    """Ones on the diagonal."""
    return _placed(np.eye(n, m, dtype=dtype or np.float64), requires_grad, device)


def arange(*bounds: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """From a start (0) to before an end, by a step (1)."""
    return _placed(np.arange(*bounds, dtype=dtype), requires_grad, device)


def linspace(
    start: float,
    end: float,
    steps: int = 50,
    dtype: Any = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Tensor:
    """Evenly spaced, both ends included."""
    return _placed(np.linspace(start, end, steps, dtype=dtype), requires_grad, device)


def rand(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """Uniform in [0, 1)."""
    return _placed(_generator.random(_shape(size)).astype(dtype or np.float64), requires_grad, device)


def randn(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """Normal, of mean 0 and variance 1."""
    return _placed(
        np.asarray(_generator.standard_normal(_shape(size)), dtype or np.float64), requires_grad, device
    )


def randint(low: int, high: int, size: Any, dtype: Any = np.int64, device: Any = None) -> Tensor:
    """Integers from `low` to before `high`."""
    return _placed(_generator.integers(low, high, size, dtype=dtype), False, device)


def _like(function: Any, other: Any, dtype: Any, requires_grad: bool) -> Tensor:
    array = function(other._array if isinstance(other, TensorBase) else other, dtype=dtype)
    return leaf(np.array(array) if isinstance(array, np.generic) else array, requires_grad)


def zeros_like(other: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of another tensor, on its device."""
    return _like(np.zeros_like, other, dtype, requires_grad)


def ones_like(other: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of another tensor, on its device."""
    return _like(np.ones_like, other, dtype, requires_grad)


def empty_like(other: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Unset memory in the shape and dtype of another tensor."""
    return _like(np.empty_like, other, dtype, requires_grad)


def full_like(other: Any, fill_value: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """One value in the shape and dtype of another tensor."""
    return _like(
        lambda array, dtype: np.full_like(array, fill_value, dtype=dtype), other, dtype, requires_grad
    )


def rand_like(other: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform in [0, 1), in the shape, dtype and place of another tensor."""
    return rand(other.shape, dtype=dtype or other.dtype, requires_grad=requires_grad, device=other.device)


def randn_like(other: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Normal, in the shape, dtype and place of another tensor."""
    return randn(other.shape, dtype=dtype or other.dtype, requires_grad=requires_grad, device=other.device)
