"""The names of `adjoin.runtime`, for people: `tensor`, `no_grad`, `exp`, `autograd`, `optim`, ...

In: nothing. Out: everything that the eager library offers, in one place; `adjoin.runtime` finds its
attributes here.
"""

from __future__ import annotations

import builtins

import numpy as _np

from . import autograd, cuda, functions, optim
from .autograd import Function, backward, checkpoint, grad
from .bridge import lift
from .creation import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    manual_seed,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    zeros,
    zeros_like,
)
from .device import Device
from .errors import DeviceError, DtypeError, GraphError, OutOfRange, ShapeError
from .function import once_differentiable
from .functions import *  # noqa: F403
from .modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .picture import Picture, draw
from .tensors import Tensor, tensor

__all__ = [
    *functions.__all__,
    "Device",
    "DeviceError",
    "DtypeError",
    "Function",
    "GraphError",
    "OutOfRange",
    "Picture",
    "ShapeError",
    "Tensor",
    "arange",
    "as_tensor",
    "autograd",
    "backward",
    "bool",
    "cdouble",
    "cfloat",
    "checkpoint",
    "complex64",
    "complex128",
    "cuda",
    "double",
    "draw",
    "e",
    "empty",
    "empty_like",
    "enable_grad",
    "eye",
    "float",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "full",
    "full_like",
    "grad",
    "half",
    "inf",
    "inference_mode",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "lift",
    "linspace",
    "long",
    "manual_seed",
    "nan",
    "newaxis",
    "no_grad",
    "once_differentiable",
    "ones",
    "ones_like",
    "optim",
    "pi",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "set_grad_enabled",
    "short",
    "tensor",
    "uint8",
    "zeros",
    "zeros_like",
]

float16, float32, float64 = (_np.dtype(kind) for kind in ("f2", "f4", "f8"))
complex64, complex128 = (_np.dtype(kind) for kind in ("c8", "c16"))
int8, int16, int32, int64 = (_np.dtype(kind) for kind in ("i1", "i2", "i4", "i8"))
uint8 = _np.dtype("u1")
bool = _np.dtype("?")
half, float, double, cfloat, cdouble = float16, float32, float64, complex64, complex128
short, int, long = int16, int32, int64
pi, e, inf, nan, newaxis = _np.pi, _np.e, _np.inf, _np.nan, None


def is_tensor(value: object) -> builtins.bool:
    """Whether this is a `Tensor`."""
    return isinstance(value, Tensor)
