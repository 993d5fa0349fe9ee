"""Functions of tensors, under the names of both NumPy and PyTorch.

In: tensors (numbers and arrays become constants). Out: tensors. ``axis`` and ``dim``, ``keepdims`` and
``keepdim`` mean the same. Each of these is a NumPy function that records, except for the few below that are
written in terms of others.

    >>> from adjoin.runtime import tensor
    >>> cat([tensor([1.0]), tensor([2.0, 3.0])])
    tensor([1., 2., 3.])
    >>> sum(tensor([[1.0, 2.0]]), dim=1, keepdim=True)
    tensor([[3.]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import activations
from .base import TensorBase, make
from .errors import ShapeError
from .fast import FAST_BINARY, unary
from .record import record, unwrapped
from .tensors import as_array, tensor

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
    "any",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "array_equal",
    "array_split",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "average",
    "bmm",
    "broadcast_to",
    "cat",
    "cbrt",
    "ceil",
    "cholesky",
    "chunk",
    "clamp",
    "clip",
    "clone",
    "column_stack",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "convolve",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cross_entropy",
    "cumprod",
    "cumsum",
    "det",
    "diag",
    "diagonal",
    "diff",
    "div",
    "divide",
    "dot",
    "dstack",
    "eigh",
    "eigvalsh",
    "einsum",
    "eq",
    "equal",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "flatten",
    "flip",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "ge",
    "gelu",
    "gradient",
    "greater",
    "greater_equal",
    "gt",
    "hstack",
    "hypot",
    "imag",
    "inner",
    "interp",
    "inv",
    "inverse",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "le",
    "less",
    "less_equal",
    "linear",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "lstsq",
    "lt",
    "matmul",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "moveaxis",
    "movedim",
    "mse_loss",
    "mul",
    "multiply",
    "mv",
    "nan_to_num",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanstd",
    "nansum",
    "nanvar",
    "ne",
    "neg",
    "negative",
    "norm",
    "not_equal",
    "outer",
    "pad",
    "percentile",
    "permute",
    "pinv",
    "pow",
    "power",
    "prod",
    "ptp",
    "qr",
    "quantile",
    "ravel",
    "real",
    "reciprocal",
    "relu",
    "remainder",
    "repeat",
    "reshape",
    "roll",
    "rot90",
    "round",
    "sigmoid",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "slogdet",
    "softmax",
    "softplus",
    "solve",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "sub",
    "subtract",
    "sum",
    "svd",
    "swapaxes",
    "swapdims",
    "t",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "trace",
    "transpose",
    "trapezoid",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "unbind",
    "unsqueeze",
    "var",
    "vdot",
    "vstack",
    "where",
]

_TRANSLATED = {"dim": "axis", "keepdim": "keepdims", "dims": "axis"}


def _numpy(function: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """A NumPy function that records, with either library's option names."""

    short = FAST_BINARY.get(function) if name is None else None

    def operation(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {_TRANSLATED.get(key, key): value for key, value in kwargs.items()}
        elif short is not None and len(args) == 2 and isinstance(args[0], TensorBase):
            result = short(*args)
            if result is not NotImplemented:
                return result
        if args and isinstance(args[0], TensorBase):
            return record(function, args, kwargs, name)
        found: list[Any] = []
        for value in (*args, *kwargs.values()):
            unwrapped(value, found)
        if not found and args:
            first = args[0]
            args = (
                [tensor(part) for part in first] if isinstance(first, list | tuple) else tensor(first),
                *args[1:],
            )
        return record(function, args, kwargs, name)

    operation.__name__ = operation.__qualname__ = function.__name__.strip("_")
    operation.__doc__ = f"``np.{operation.__name__}`` of tensors, recorded."
    return operation


exp = unary(np.exp)
exp2 = unary(np.exp2)
expm1 = unary(np.expm1)
log = unary(np.log)
log1p = unary(np.log1p)
log2 = unary(np.log2)
log10 = unary(np.log10)
sqrt = unary(np.sqrt)
square = unary(np.square)
cbrt = unary(np.cbrt)
reciprocal = unary(np.reciprocal)
sin = unary(np.sin)
cos = unary(np.cos)
tan = unary(np.tan)
arcsin = asin = unary(np.arcsin)
arccos = acos = unary(np.arccos)
arctan = atan = unary(np.arctan)
sinh = unary(np.sinh)
cosh = unary(np.cosh)
tanh = unary(np.tanh)
arcsinh = asinh = unary(np.arcsinh)
arccosh = acosh = unary(np.arccosh)
arctanh = atanh = unary(np.arctanh)
neg = negative = unary(np.negative)
abs = absolute = _numpy(np.absolute, "AbsBackward0")
sign = _numpy(np.sign)
conj = conjugate = _numpy(np.conjugate)
sinc = unary(np.sinc)
floor = _numpy(np.floor)
ceil = _numpy(np.ceil)
trunc = _numpy(np.trunc)
round = _numpy(np.round)
nan_to_num = _numpy(np.nan_to_num)

add = _numpy(np.add)
sub = subtract = _numpy(np.subtract)
mul = multiply = _numpy(np.multiply)
div = divide = true_divide = _numpy(np.divide)
pow = power = _numpy(np.power)
remainder = _numpy(np.remainder)
fmod = _numpy(np.fmod)
floor_divide = _numpy(np.floor_divide)
maximum = _numpy(np.maximum)
minimum = _numpy(np.minimum)
fmax = _numpy(np.fmax)
fmin = _numpy(np.fmin)
arctan2 = atan2 = _numpy(np.arctan2)
hypot = _numpy(np.hypot)
logaddexp = _numpy(np.logaddexp)
logaddexp2 = _numpy(np.logaddexp2)
where = _numpy(np.where)
clip = clamp = _numpy(np.clip)
interp = _numpy(np.interp)

sum = _numpy(np.sum)
mean = _numpy(np.mean)
prod = _numpy(np.prod)
var = _numpy(np.var)
std = _numpy(np.std)
ptp = _numpy(np.ptp)
median = _numpy(np.median)
quantile = _numpy(np.quantile)
percentile = _numpy(np.percentile)
average = _numpy(np.average)
nansum = _numpy(np.nansum)
nanmean = _numpy(np.nanmean)
nanmax = _numpy(np.nanmax)
nanmin = _numpy(np.nanmin)
nanvar = _numpy(np.nanvar)
nanstd = _numpy(np.nanstd)
cumsum = _numpy(np.cumsum)
cumprod = _numpy(np.cumprod)
argmax = _numpy(np.argmax)
argmin = _numpy(np.argmin)
argsort = _numpy(np.argsort)
sort = _numpy(np.sort)
any = _numpy(np.any)
all = _numpy(np.all)
count_nonzero = _numpy(np.count_nonzero)
isnan = _numpy(np.isnan)
isinf = _numpy(np.isinf)
isfinite = _numpy(np.isfinite)
eq = equal = _numpy(np.equal)
ne = not_equal = _numpy(np.not_equal)
lt = less = _numpy(np.less)
le = less_equal = _numpy(np.less_equal)
gt = greater = _numpy(np.greater)
ge = greater_equal = _numpy(np.greater_equal)
logical_and = _numpy(np.logical_and)
logical_or = _numpy(np.logical_or)
logical_not = _numpy(np.logical_not)
logical_xor = _numpy(np.logical_xor)
allclose = _numpy(np.allclose)
array_equal = _numpy(np.array_equal)

dot = _numpy(np.dot)
inner = _numpy(np.inner)
outer = _numpy(np.outer)
vdot = _numpy(np.vdot)
einsum = _numpy(np.einsum)
tensordot = _numpy(np.tensordot)
kron = _numpy(np.kron)
cross = _numpy(np.cross)
trace = _numpy(np.trace)
diag = _numpy(np.diag)
diagonal = _numpy(np.diagonal)
tril = _numpy(np.tril)
triu = _numpy(np.triu)
norm = _numpy(np.linalg.norm)
inv = inverse = _numpy(np.linalg.inv)
pinv = _numpy(np.linalg.pinv)
det = _numpy(np.linalg.det)
slogdet = _numpy(np.linalg.slogdet)
solve = _numpy(np.linalg.solve)
cholesky = _numpy(np.linalg.cholesky)
eigh = _numpy(np.linalg.eigh)
eigvalsh = _numpy(np.linalg.eigvalsh)
svd = _numpy(np.linalg.svd)
qr = _numpy(np.linalg.qr)
lstsq = _numpy(np.linalg.lstsq)

ravel = _numpy(np.ravel)
swapaxes = swapdims = _numpy(np.swapaxes)
moveaxis = movedim = _numpy(np.moveaxis)
squeeze = _numpy(np.squeeze)
expand_dims = unsqueeze = _numpy(np.expand_dims)
broadcast_to = _numpy(np.broadcast_to)
cat = concatenate = concat = _numpy(np.concatenate)
stack = _numpy(np.stack)
vstack = _numpy(np.vstack)
hstack = _numpy(np.hstack)
dstack = _numpy(np.dstack)
column_stack = _numpy(np.column_stack)
split = _numpy(np.split)
array_split = _numpy(np.array_split)
tile = _numpy(np.tile)
repeat = _numpy(np.repeat)
flip = _numpy(np.flip)
roll = _numpy(np.roll)
rot90 = _numpy(np.rot90)
pad = _numpy(np.pad)
meshgrid = _numpy(np.meshgrid)
take = _numpy(np.take)
take_along_axis = _numpy(np.take_along_axis)
diff = _numpy(np.diff)
gradient = _numpy(np.gradient)
trapezoid = _numpy(np.trapezoid)
convolve = _numpy(np.convolve)
real = _numpy(np.real)
imag = _numpy(np.imag)
angle = _numpy(np.angle)


_relu = unary(activations.relu)
_sigmoid = unary(activations.sigmoid)


def _tensor(x: Any) -> Any:
    return x if isinstance(x, TensorBase) else tensor(x)


def matmul(x: Any, y: Any) -> Any:
    """The matrix product, as ``@``."""
    return _tensor(x) @ y


def mm(x: Any, y: Any) -> Any:
    """The product of two matrices."""
    return _tensor(x).mm(_tensor(y))


def mv(x: Any, y: Any) -> Any:
    """The product of a matrix and a vector."""
    return _tensor(x).mv(_tensor(y))


def bmm(x: Any, y: Any) -> Any:
    """The products of two stacks of matrices."""
    x, y = _tensor(x), _tensor(y)
    if x.ndim != 3 or y.ndim != 3:
        raise ShapeError(f"bmm needs two stacks of matrices, not shapes {x.shape} and {y.shape}")
    return x @ y


def max(x: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element, or those along axes; with a second tensor, `maximum`."""
    return _tensor(x).max(axis if dim is None else dim, keepdims or keepdim)


def min(x: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element, or those along axes; with a second tensor, `minimum`."""
    return _tensor(x).min(axis if dim is None else dim, keepdims or keepdim)


amax, amin = max, min


def reshape(x: Any, shape: Any) -> Any:
    """The elements in another shape."""
    return _tensor(x).reshape(shape)


def transpose(x: Any, *axes: Any) -> Any:
    """As the method: two numbers are exchanged, otherwise all axes are permuted."""
    return _tensor(x).transpose(*axes)


def permute(x: Any, dims: Any) -> Any:
    """All axes in another order."""
    return _tensor(x).permute(*dims)


def t(x: Any) -> Any:
    """The transpose of a matrix."""
    return _tensor(x).t()


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """With neighbouring dimensions joined."""
    return _tensor(x).flatten(start_dim, end_dim)


def clone(x: Any) -> Any:
    """A copy, recorded."""
    return x.clone()


def unbind(x: Any, dim: int = 0) -> tuple[Any, ...]:
    """The parts along a dimension, each without it."""
    return x.unbind(dim)  # type: ignore[no-any-return]


def relu(x: Any) -> Any:
    """The positive part; its gradient at 0 is 0."""
    return _relu(_tensor(x))


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``, without overflow."""
    return _sigmoid(_tensor(x))


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``, without overflow."""
    x = _tensor(x)
    return logaddexp(x, make(type(x), np.zeros_like(x._array)))


def gelu(x: Any) -> Any:
    """The smooth gate ``x * sigmoid``-like, by its usual approximation with tanh."""
    x = _tensor(x)
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def logsumexp(
    x: Any, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False
) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    axis = axis if dim is None else dim
    x = _tensor(x)
    top = np.max(x._array, axis=axis, keepdims=True)
    top = make(type(x), np.where(np.isfinite(top), top, np.zeros_like(top)))
    result = log(sum(exp(x - top), axis=axis, keepdims=True)) + top
    if keepdims or keepdim:
        return result
    return result.reshape(()) if axis is None else result.squeeze(axis)


def log_softmax(x: Any, axis: Any = None, *, dim: Any = None) -> Any:
    """The logarithm of `softmax`, without overflow."""
    return record(activations.log_softmax, (_tensor(x), axis if dim is None else dim))


def softmax(x: Any, axis: Any = None, *, dim: Any = None) -> Any:
    """Exponentials along an axis, normalised to sum 1."""
    return record(activations.softmax, (_tensor(x), axis if dim is None else dim))


def mse_loss(x: Any, target: Any) -> Any:
    """The mean of the squared differences."""
    return mean(square(_tensor(x) - target))


def cross_entropy(x: Any, target: Any) -> Any:
    """The mean negative log-probability of the right classes.

    Args:
        x: scores of shape (samples, classes).
        target: the right class of each sample, integers of shape (samples,).
    """
    x = _tensor(x)
    classes = np.asarray(as_array(target))
    if x.ndim != 2 or classes.shape != x.shape[:1]:
        raise ShapeError(f"cross_entropy: scores of shape {x.shape} for targets of shape {classes.shape}")
    picked = log_softmax(x, 1)[np.arange(len(classes)), classes]
    return -mean(picked)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """``x @ weight.T + bias``."""
    result = _tensor(x) @ weight.T
    return result if bias is None else result + bias


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    """Parts of nearly equal length: views."""
    return array_split(x, chunks, dim)
