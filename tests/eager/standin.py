"""An array type as strict as CuPy's, for machines without a GPU.

In: a NumPy array. Out: a `DeviceArray` that works through NumPy's protocols alone. It refuses to become a
NumPy array, refuses to be mixed with one (or with lists), gives 0-d arrays where NumPy gives scalars, and
copies to the host only by `get()`, `item()` and `tolist()`.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Mixed(TypeError):
    """An array of the host met one of the device."""


def inner(value):
    """The NumPy array inside, for every DeviceArray in `value`; host arrays are refused."""
    if isinstance(value, DeviceArray):
        return value._inner
    if isinstance(value, np.ndarray):
        raise Mixed(f"a NumPy array of shape {value.shape} was mixed with a device array")
    if isinstance(value, list | tuple):
        return type(value)(inner(part) for part in value)
    if isinstance(value, dict):
        return {key: inner(part) for key, part in value.items()}
    return value


def outer(value):
    """DeviceArrays for every array and NumPy scalar in `value`."""
    if isinstance(value, np.ndarray | np.generic):
        return DeviceArray(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(outer(part) for part in value))
    if isinstance(value, list | tuple):
        return type(value)(outer(part) for part in value)
    return value


class DeviceArray(NDArrayOperatorsMixin):
    """See the module's docstring."""

    def __init__(self, array):
        self._inner = array

    def __array__(self, *args, **kwargs):
        raise Mixed("a device array does not turn into a NumPy array by itself; use get()")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if "out" in kwargs:
            (target,) = kwargs["out"]
            kwargs["out"] = inner(target)
            getattr(ufunc, method)(*inner(inputs), **kwargs)
            return target
        return outer(getattr(ufunc, method)(*inner(inputs), **inner(kwargs)))

    def __array_function__(self, function, types, args, kwargs):
        if function is np.asarray:  # like=: a copy to the device that was asked for
            return outer(np.asarray(*args, **{k: v for k, v in kwargs.items() if k != "like"}))
        return outer(function(*inner(args), **inner(kwargs)))

    def __getitem__(self, key):
        if isinstance(key, DeviceArray):
            key = key._inner
        elif isinstance(key, tuple):
            key = tuple(part._inner if isinstance(part, DeviceArray) else part for part in key)
        return outer(self._inner[key])

    def __setitem__(self, key, value):
        if isinstance(key, DeviceArray):
            key = key._inner
        self._inner[key] = inner(value)

    def __len__(self):
        return len(self._inner)

    def __bool__(self):
        return bool(self._inner)

    def __float__(self):
        return float(self._inner)

    def __int__(self):
        return int(self._inner)

    def get(self):
        return self._inner.copy()

    def item(self):
        return self._inner.item()

    def tolist(self):
        return self._inner.tolist()

    @property
    def base(self):
        return None if self._inner.base is None else DeviceArray(self._inner.base)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._inner, name)
        if callable(value):
            return lambda *args, **kwargs: outer(value(*inner(args), **inner(kwargs)))
        return outer(value) if isinstance(value, np.ndarray) else value
