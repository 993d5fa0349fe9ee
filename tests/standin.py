"""An array type as strict as CuPy's, and a module of it, for machines without a GPU.

In: a NumPy array. Out: a `DeviceArray` that works through NumPy's protocols alone. It refuses to become a
NumPy array, refuses to be mixed with one (or with lists), gives 0-d arrays where NumPy gives scalars, views
where those are elements, and copies to the host only by `get()`, `item()` and `tolist()`.

    from standin import device as dv            # in place of `import cupy as cp`
    dv.sum(dv.sin(DeviceArray(np.ones(3))))
"""

from __future__ import annotations

import sys
import types

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

#: What takes `like=`, and gets here by that alone.
CREATION = frozenset(
    {np.asarray, np.array, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require, np.zeros,
     np.ones, np.empty, np.full, np.arange, np.eye, np.identity, np.tri, np.fromfunction, np.fromiter}
)  # fmt: skip


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
            getattr(ufunc, method)(*inner(inputs), **inner(kwargs))
            return kwargs["out"][0]
        return outer(getattr(ufunc, method)(*inner(inputs), **inner(kwargs)))

    def __array_function__(self, function, types, args, kwargs):
        if function in CREATION:  # by `like=`: a copy to the device that was asked for
            args = [part._inner if isinstance(part, DeviceArray) else part for part in args]
            return outer(function(*args, **inner(kwargs)))
        if kwargs.get("out") is not None:
            function(*inner(args), **inner(kwargs))
            return kwargs["out"]
        return outer(function(*inner(args), **inner(kwargs)))

    def __getitem__(self, key):
        element = self._inner[_index(key)]
        if isinstance(element, np.generic):  # a view of one element, as CuPy has it
            element = self._inner[(*(key if isinstance(key, tuple) else (key,)), ...)]
        return outer(element)

    def __setitem__(self, key, value):
        self._inner[_index(key)] = inner(value)

    def __len__(self):
        return len(self._inner)

    def __bool__(self):
        return bool(self._inner)

    def __float__(self):
        return float(self._inner)

    def __int__(self):
        return int(self._inner)

    def __complex__(self):
        return complex(self._inner)

    def __index__(self):
        return self._inner.__index__()

    def get(self):
        return self._inner.copy()

    def item(self, *at):
        return self._inner.item(*at)

    def tolist(self):
        return self._inner.tolist()

    @property
    def base(self):
        return None if self._inner.base is None else DeviceArray(self._inner.base)

    @property
    def __array_interface__(self):
        raise AttributeError("__array_interface__")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._inner, name)
        if callable(value):
            return lambda *args, **kwargs: outer(value(*inner(args), **inner(kwargs)))
        return outer(value) if isinstance(value, np.ndarray) else value


def _index(key):
    """An index with the NumPy arrays inside; one of the host is refused."""
    if isinstance(key, tuple):
        return tuple(_index(part) for part in key)
    return inner(key)


# -- the module ---------------------------------------------------------------------------------------

#: What NumPy has and CuPy (14.2) does not: code for CuPy cannot call it.
MISSING = frozenset(
    """block einsum_path errstate frompyfunc geomspace histogram_bin_edges insert isnat matvec nanpercentile
    nanquantile polyder polydiv polyint spacing unstack vecdot vecmat linalg.diagonal linalg.matrix_norm
    linalg.multi_dot linalg.outer linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot
    linalg.vector_norm""".split()
)


class ufunc:
    """A ufunc of the device: it has neither `__module__` nor the name of NumPy's, as in CuPy."""

    def __init__(self, function):
        self._function = function
        self.__name__ = f"device_{function.__name__}"

    def __call__(self, *args, **kwargs):
        return _on_device(self._function)(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        method = getattr(self._function, name)
        return _on_device(method) if callable(method) else method


def _on_device(function):
    def call(*args, **kwargs):
        if kwargs.get("out") is not None:
            function(*inner(args), **inner(kwargs))
            return kwargs["out"]
        return outer(function(*inner(args), **inner(kwargs)))

    call.__name__ = getattr(function, "__name__", "call")
    call.__module__ = "device._functions"
    return call


def _filled(module, reference, path=""):
    for name in dir(reference):
        value = getattr(reference, name)
        if name.startswith("_") or f"{path}{name}" in MISSING or name in vars(module):
            continue
        if isinstance(value, np.ufunc):
            setattr(module, name, ufunc(value))
        elif isinstance(value, type | float | int) or value is None:
            setattr(module, name, value)
        elif callable(value):
            setattr(module, name, _on_device(value))
    return module


def _asarray(value, dtype=None):
    """A copy to the device that was asked for."""
    return DeviceArray(np.asarray(inner(value) if isinstance(value, DeviceArray) else value, dtype))


#: The module, in place of `cupy`: it can be imported by its name once this file is.
device = sys.modules["device"] = types.ModuleType("device")
device.ndarray, device.asarray, device.asnumpy = DeviceArray, _asarray, DeviceArray.get
device.linalg = _filled(types.ModuleType("device.linalg"), np.linalg, "linalg.")
device.fft = _filled(types.ModuleType("device.fft"), np.fft, "fft.")
_filled(device, np)
