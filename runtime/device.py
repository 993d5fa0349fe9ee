"""Where arrays live: host memory or a GPU, by CuPy.

In: an array, or a name such as ``"cuda:0"``. Out: a `Device`, or the array moved there. Moving is the only
thing here that copies between host and device, and it happens only where a user asks for it. CuPy can be
installed on a machine without a usable GPU, so `cuda_works` finds out by allocating.

    >>> of(np.zeros(2))
    device('cpu')
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .errors import DeviceError
from .rule import linear

__all__ = ["Device", "cuda_works", "is_name", "moved", "of", "parsed", "to_host"]


class Device:
    """A place for arrays.

    Attributes:
        type: ``"cpu"``, ``"cuda"``, or the name of the module of another array type.
        index: the number of the GPU, or None.
    """

    __slots__ = ("index", "type")

    def __init__(self, type: str, index: int | None = None) -> None:
        if ":" in type:
            type, _, number = type.partition(":")
            index = int(number)
        self.type = type
        self.index = index

    def __repr__(self) -> str:
        return f"device({str(self)!r})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            other = Device(other)
        if not isinstance(other, Device) or self.type != other.type:
            return False
        return self.type != "cuda" or (self.index or 0) == (other.index or 0)

    def __hash__(self) -> int:
        return hash((self.type, (self.index or 0) if self.type == "cuda" else None))


_CPU = Device("cpu")


def of(array: Any) -> Device:
    """The device of an array."""
    if isinstance(array, np.ndarray | np.generic):
        return _CPU
    module = type(array).__module__.partition(".")[0]
    return Device("cuda", int(array.device.id)) if module == "cupy" else Device(module)


def is_name(text: str) -> bool:
    """Whether a string names a device rather than a dtype.

    >>> is_name("cuda:0"), is_name("float32")
    (True, False)
    """
    return text.partition(":")[0] in ("cpu", "cuda")


def parsed(device: Any) -> Device:
    """A `Device` from itself or its name."""
    return device if isinstance(device, Device) else Device(device)


@functools.cache
def cuda_works() -> str | None:
    """Why there is no GPU to use, or None if there is one: found out by allocating on it."""
    try:
        cupy: Any = importlib.import_module("cupy")
    except Exception as error:
        return f"CuPy cannot be imported ({error})"
    try:
        cupy.zeros(1).sum().item()
    except Exception as error:
        return f"CuPy {cupy.__version__} is installed, but allocating on a GPU fails ({error})"
    return None


def moved(array: Any, device: Any) -> Any:
    """`array` on a device; itself if it is there already.

    Raises:
        DeviceError: there is no such device.
    """
    device = parsed(device)
    if of(array) == device:
        return array
    if device.type == "cpu":
        return to_host(array)
    if device.type != "cuda":
        raise DeviceError(f"no device is called {str(device)!r}; there are 'cpu' and 'cuda'")
    problem = cuda_works()
    if problem is not None:
        raise DeviceError(f"no GPU: {problem}")
    cupy: Any = importlib.import_module("cupy")
    with cupy.cuda.Device(device.index or 0):
        return cupy.asarray(array)


def moved_back(g: Any, array: Any) -> Any:
    """An adjoint on the device of the array that was moved."""
    return moved(g, of(array))


@linear(moved, wrt=("array",), samples=[(np.array([0.3, -0.9]), "cpu")])
def _moved(g: Any, out: Any, array: Any, device: Any) -> Any:
    return moved_back(g, array)


@linear(moved_back, wrt=("g",), samples=[(np.array([0.3, -0.9]), np.zeros(2))])
def _moved_back(g_: Any, out: Any, g: Any, array: Any) -> Any:
    return moved_back(g_, out)


def to_host(array: Any) -> Any:
    """The values in host memory, as a NumPy array."""
    if isinstance(array, np.ndarray | np.generic):
        return array
    if not hasattr(array, "get"):
        raise DeviceError(f"an array of {type(array).__module__} cannot be brought to host memory")
    return array.get()
