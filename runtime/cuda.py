"""Whether there is a GPU.

In: nothing. Out: the answer, found by allocating on it: that CuPy can be imported proves nothing.

    >>> is_available() in (True, False)
    True
"""

from __future__ import annotations

import importlib
from typing import Any

from .device import cuda_works

__all__ = ["device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Whether `Tensor.cuda` will work."""
    return cuda_works() is None


def device_count() -> int:
    """The number of GPUs that can be used."""
    if not is_available():
        return 0
    cupy: Any = importlib.import_module("cupy")
    return int(cupy.cuda.runtime.getDeviceCount())


def synchronize() -> None:
    """Wait until the GPU has done everything; does nothing without one."""
    if is_available():
        cupy: Any = importlib.import_module("cupy")
        cupy.cuda.runtime.deviceSynchronize()
