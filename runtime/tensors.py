"""`Tensor`: an array that remembers how it was made.

In: numbers, lists, arrays (`tensor`). Out: something that behaves like a NumPy array, follows NumPy's
promotion and shapes, answers to the methods of both NumPy and PyTorch, and whose `backward()` fills `.grad`.

    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
"""

from __future__ import annotations

import dis
import operator
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from . import device as devices
from . import numpy_protocols, stores
from .base import TensorBase, boxed, changed, make, rare, shared_counter, version_of
from .errors import DtypeError, GraphError, OutOfRange, ShapeError
from .fast import binary, unary, viewing
from .graph import Handle, Node, extra
from .modes import state
from .names import index_name
from .record import record, refresh
from .rule import linear
from .stores import change

__all__ = ["Tensor", "as_array", "tensor"]

S = TypeVar("S", bound="Tensor")

_matrix_products = {
    (1, 1): binary(np.matmul, "DotBackward0"),
    (2, 1): binary(np.matmul, "MvBackward0"),
    (2, 2): binary(np.matmul, "MmBackward0"),
}
_getitem = viewing(operator.getitem)
_reshape = viewing(np.reshape)
_reversed = unary(np.transpose, run=lambda array: array.T)
_add_up = np.add.reduce
_sum_all = unary(np.sum, run=lambda a: _add_up(a, None) if a.__class__ is np.ndarray else a.sum())
_mean_all = unary(np.mean, run=operator.methodcaller("mean"))
_sum_along = viewing(np.sum)
_expand_dims = viewing(np.expand_dims)
_exchanged = unary(np.transpose, "TransposeBackward0", run=lambda array: array.T)
_clone = unary(np.copy, "CloneBackward0", run=lambda array: array.copy())
_EXCHANGED = {(0, 1), (1, 0), (-1, -2), (-2, -1)}
_any_product = binary(np.matmul, "MatmulBackward0")


class Tensor(TensorBase):
    """An array with a gradient; made by `tensor`, `from_numpy`, `zeros` and the like, never directly.

    >>> x = tensor(3.0, requires_grad=True)
    >>> y = x * 2
    >>> y.grad_fn.name(), y.is_leaf, x.is_leaf
    ('MulBackward0', False, True)
    """

    __slots__ = ()
    __hash__ = object.__hash__

    def __init__(self, data: Any = (), requires_grad: bool = False) -> None:
        made = tensor(data, requires_grad=requires_grad)
        for slot in ("_array", "_requires", "_node", "_nr", "_counter", "_view", "_rare"):
            setattr(self, slot, getattr(made, slot))

    # -- attributes of an array --------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self._array.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The NumPy dtype."""
        return self._array.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._array.size  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self._array.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._array.nbytes  # type: ignore[no-any-return]

    @property
    def device(self) -> devices.Device:
        """Where the array lives: ``device('cpu')`` or ``device('cuda:0')``."""
        return devices.of(self._array)

    @property
    def is_cuda(self) -> bool:
        """Whether the array lives on a GPU."""
        return self.device.type == "cuda"

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim  # type: ignore[no-any-return]

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size  # type: ignore[no-any-return]

    def element_size(self) -> int:
        """Bytes an element."""
        return self.itemsize

    def is_floating_point(self) -> bool:
        """Whether the dtype is a real floating one."""
        return self._array.dtype.kind == "f"  # type: ignore[no-any-return]

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self._array.dtype.kind == "c"  # type: ignore[no-any-return]

    # -- attributes of the graph -------------------------------------------------------------------------

    def _fresh(self) -> None:
        view = self._view
        if view is not None and view.node is not view.base._node:
            refresh(self)

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is wanted; may be set on leaves of a floating or complex dtype.

        Raises:
            GraphError: set on a non-leaf.
            DtypeError: the value is no bool, or the dtype has no gradients.
        """
        self._fresh()
        return self._requires

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise DtypeError(f"requires_grad takes a bool, not {type(value).__name__}")
        if not self.is_leaf:
            raise GraphError(
                "requires_grad can only be changed on leaves; for a tensor without history use detach()"
            )
        if value:
            _check_differentiable(self._array.dtype)
            if self._counter is None and not state.inference:
                raise GraphError(
                    "an inference tensor cannot require grad outside of inference mode; clone() it"
                )
        self._requires = value

    def requires_grad_(self: S, requires_grad: bool = True) -> Any:
        """Set `requires_grad`; returns the tensor itself. A non-leaf may be asked for what it has."""
        if self.is_leaf or not requires_grad:
            self.requires_grad = requires_grad
        return self

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        self._fresh()
        return self._node

    @property
    def is_leaf(self) -> bool:
        """Whether nothing recorded made this tensor."""
        self._fresh()
        return self._node is None

    @property
    def output_nr(self) -> int:
        """Which result of `grad_fn` this is."""
        return self._nr

    @property
    def retains_grad(self) -> bool:
        """Whether this is a non-leaf whose `.grad` will be kept."""
        return self._node is not None and self._rare is not None and self._rare.retains

    @property
    def name(self) -> str | None:
        """A name for pictures; None unless set."""
        return None if self._rare is None else self._rare.name

    @name.setter
    def name(self, value: str | None) -> None:
        rare(self).name = value

    @property
    def _version(self) -> int:
        """How often this memory has been changed in place.

        Raises:
            GraphError: for an inference tensor, whose changes are not counted.
        """
        if self._counter is None:
            raise GraphError("an inference tensor has no version")
        version: int = version_of(self)
        return version

    @property
    def _base(self) -> Any:
        """The tensor that this is a view of, or None."""
        return None if self._view is None else self._view.base

    def is_inference(self) -> bool:
        """Whether this was made in inference mode."""
        return self._counter is None

    @property
    def grad(self) -> Any:
        """The gradient that `backward` has accumulated, or None.

        Setting it takes a tensor of the same shape, dtype and device, or None.
        """
        extras = self._rare
        if extras is not None and extras.grad is not None:
            return extras.grad
        if self._node is not None and not (extras is not None and extras.retains):
            warnings.warn(
                "the .grad of a tensor that is not a leaf is not kept; call retain_grad() on it before "
                "backward(), or read the .grad of a leaf",
                UserWarning,
                stacklevel=2,
            )
        return None

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            if self._rare is not None:
                self._rare.grad = None
            return
        if not isinstance(value, Tensor):
            raise DtypeError(f".grad takes a Tensor or None, not {type(value).__name__}")
        if value is self:
            raise GraphError("a tensor cannot be its own .grad")
        if value.shape != self.shape:
            raise ShapeError(f".grad of shape {value.shape} for a tensor of shape {self.shape}")
        if value.dtype != self.dtype:
            raise DtypeError(f".grad of dtype {value.dtype} for a tensor of dtype {self.dtype}")
        if value.device != self.device:
            raise DtypeError(f".grad on {value.device} for a tensor on {self.device}")
        rare(self).grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self: S) -> S:
        """The same memory, outside of the graph; changes through it go unnoticed (see `detach`)."""
        return make(type(self), boxed(self))

    @data.setter
    def data(self, value: Any) -> None:
        array = value._array if isinstance(value, TensorBase) else np.asarray(value)
        if self._requires:
            _check_differentiable(array.dtype)
        self._array = array
        changed(self)  # a graph that saved this tensor would read the new values

    def detach(self: S) -> S:
        """The same memory, outside of the graph; a later change in place is noticed by `backward`."""
        result = make(type(self), boxed(self))
        result._counter = shared_counter(self)
        return result

    def detach_(self: S) -> Any:
        """Cut this tensor itself from its history."""
        if self._view is not None:
            raise GraphError("a view cannot be detached in place; use detach()")
        if self._node is not None:
            changed(self)  # a graph that saved this tensor would not find its history
        self._node, self._nr, self._requires = None, 0, False
        return self

    # -- going backwards ---------------------------------------------------------------------------------

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to the `.grad` of the leaves that it was made from.

        Args:
            gradient: the gradient of whatever follows, of exactly this tensor's shape; needed unless this
                has one real element.
            retain_graph: keep saved values, so that backward can be called again; default: `create_graph`.
            create_graph: record the computation of the gradients, for derivatives of higher order.
            inputs: the tensors to accumulate into; default: all leaves.

        >>> x = tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).backward(tensor([1.0, 10.0]))
        >>> x.grad
        tensor([ 2., 40.])
        """
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep the `.grad` of this non-leaf."""
        if not self.requires_grad:
            raise GraphError("retain_grad() needs a tensor that requires grad")
        if self._node is None or self.retains_grad:
            return
        rare(self).retains = True
        extra(self._node).retained[self._nr] = weakref.ref(self)

    def register_hook(self, hook: Callable[[Any], Any]) -> Handle:
        """Call ``hook(gradient)`` when the gradient of this tensor is known.

        A tensor that it returns replaces the gradient; it must have the same shape. Hooks run in the order
        of their registration. The handle's `remove()`, or using it as a context, undoes the registration.
        """
        if not self.requires_grad:
            raise GraphError("a hook needs a tensor that requires grad")
        if self._node is None:
            return Handle(rare(self).hooks, hook)
        return Handle(extra(self._node).tensor_hooks.setdefault(self._nr, {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Handle:
        """Call ``hook(tensor)`` after a gradient was added to the `.grad` of this leaf."""
        if not self.is_leaf or not self._requires:
            raise GraphError("a post-accumulate hook needs a leaf that requires grad")
        return Handle(rare(self).post_hooks, hook)

    # -- to Python and NumPy -----------------------------------------------------------------------------

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        from .display import text

        return text(self)

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        if self.size != 1:
            raise DtypeError(f"a format such as {spec!r} is for one element, not for shape {self.shape}")
        return format(self._array.item(), spec)

    def numpy(self, *, force: bool = False) -> Any:
        """The array itself, sharing memory.

        Args:
            force: also for a tensor that requires grad or lives on a GPU.
        """
        if self.requires_grad and not force:
            raise GraphError(
                "numpy() would lose the gradient of a tensor that requires grad: "
                "use detach().numpy(), or numpy(force=True)"
            )
        array = boxed(self)
        if not isinstance(array, np.ndarray):
            if not force:
                raise DtypeError(
                    f"numpy() of a tensor on {self.device}: use cpu().numpy(), or numpy(force=True)"
                )
            return devices.to_host(array)
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.requires_grad:
            raise GraphError(
                "this would lose the gradient of a tensor that requires grad: use detach() before making an "
                "array of it"
            )
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    __array_ufunc__ = numpy_protocols.array_ufunc
    __array_function__ = numpy_protocols.array_function
    __array_priority__ = 1000

    def _one(self, what: str) -> Any:
        if self.size != 1:
            raise ShapeError(f"{what} needs a tensor of one element, not of shape {self.shape}")
        return self._array.item()

    def item(self) -> Any:
        """The only element, as a Python number."""
        return self._one("item()")

    def tolist(self) -> Any:
        """Nested lists of Python numbers; a number for a 0-d tensor."""
        return self._array.tolist()

    def __bool__(self) -> bool:
        return bool(self._one("bool()"))

    def __float__(self) -> float:
        _refuse_to_vanish(self)
        return float(self._one("float()"))

    def __int__(self) -> int:
        return int(self._one("int()"))

    def __complex__(self) -> complex:
        _refuse_to_vanish(self)
        return complex(self._one("complex()"))

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iu" or self.ndim:
            raise DtypeError(f"only a 0-d integer tensor is an index, not {self.dtype} of shape {self.shape}")
        return int(self._array)

    def __len__(self) -> int:
        if not self.ndim:
            raise DtypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise DtypeError("a 0-d tensor cannot be iterated over")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self._array == as_array(value)))

    def __copy__(self: S) -> Any:
        return self.clone()

    def __deepcopy__(self: S, memo: dict[int, Any]) -> Any:
        if self._node is not None:
            raise GraphError("only leaves can be copied with deepcopy; use clone(), or detach() first")
        result = make(type(self), boxed(self).copy())
        result._requires = self._requires
        memo[id(self)] = result
        if self._rare is not None:
            if self._rare.grad is not None:
                rare(result).grad = self._rare.grad.detach().clone()
            rare(result).name = self._rare.name
        return result

    def __reduce__(self) -> Any:
        return _rebuilt, (np.array(devices.to_host(self._array)), self.requires_grad)

    # -- arithmetic --------------------------------------------------------------------------------------

    __add__ = binary(np.add)
    __radd__ = binary(np.add, swap=True)
    __sub__ = binary(np.subtract)
    __rsub__ = binary(np.subtract, "RsubBackward0", swap=True)
    __mul__ = binary(np.multiply)
    __rmul__ = binary(np.multiply, swap=True)
    __truediv__ = binary(np.divide)
    __rtruediv__ = binary(np.divide, swap=True)
    __pow__ = binary(np.power)
    __rpow__ = binary(np.power, swap=True)
    __mod__ = binary(np.remainder)
    __rmod__ = binary(np.remainder, swap=True)
    __neg__ = unary(np.negative)
    __abs__ = unary(np.absolute, "AbsBackward0")

    def __pos__(self: S) -> Any:
        return self

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, TensorBase):
            product = _matrix_products.get((self._array.ndim, other._array.ndim), _any_product)
            return product(self, other)
        return _any_product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return record(np.matmul, (as_array(other), self))

    def __floordiv__(self, other: Any) -> Any:
        return record(np.floor_divide, (self, other))

    def __rfloordiv__(self, other: Any) -> Any:
        return record(np.floor_divide, (other, self))

    def __divmod__(self, other: Any) -> Any:
        return record(np.divmod, (self, other))

    def __eq__(self, other: Any) -> Any:
        return _compare(np.equal, self, other)

    def __ne__(self, other: Any) -> Any:
        return _compare(np.not_equal, self, other)

    def __lt__(self, other: Any) -> Any:
        return _compare(np.less, self, other)

    def __le__(self, other: Any) -> Any:
        return _compare(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compare(np.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return _compare(np.greater_equal, self, other)

    eq, ne, lt, le, gt, ge = __eq__, __ne__, __lt__, __le__, __gt__, __ge__

    def __and__(self, other: Any) -> Any:
        return record(np.bitwise_and, (self, other))

    def __or__(self, other: Any) -> Any:
        return record(np.bitwise_or, (self, other))

    def __xor__(self, other: Any) -> Any:
        return record(np.bitwise_xor, (self, other))

    def __rand__(self, other: Any) -> Any:
        return record(np.bitwise_and, (other, self))

    def __ror__(self, other: Any) -> Any:
        return record(np.bitwise_or, (other, self))

    def __rxor__(self, other: Any) -> Any:
        return record(np.bitwise_xor, (other, self))

    def __invert__(self) -> Any:
        return record(np.invert, (self,))

    add = binary(np.add)
    sub = subtract = binary(np.subtract)
    mul = multiply = binary(np.multiply)
    div = divide = true_divide = binary(np.divide)
    pow = binary(np.power)
    remainder = binary(np.remainder)
    maximum = binary(np.maximum)
    minimum = binary(np.minimum)
    arctan2 = atan2 = binary(np.arctan2)
    logaddexp = binary(np.logaddexp)

    exp = unary(np.exp)
    expm1 = unary(np.expm1)
    exp2 = unary(np.exp2)
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
    abs = absolute = unary(np.absolute, "AbsBackward0")
    neg = negative = unary(np.negative)
    conj = conjugate = unary(np.conjugate)

    def isnan(self) -> Any:
        """Which elements are nan."""
        return record(np.isnan, (self,))

    def isinf(self) -> Any:
        """Which elements are infinite."""
        return record(np.isinf, (self,))

    def isfinite(self) -> Any:
        """Which elements are numbers, neither nan nor infinite."""
        return record(np.isfinite, (self,))

    def sign(self) -> Any:
        """-1, 0 or 1; its gradient is zero."""
        return record(np.sign, (self,))

    def floor(self) -> Any:
        """The largest integer below; its gradient is zero."""
        return record(np.floor, (self,))

    def ceil(self) -> Any:
        """The smallest integer above; its gradient is zero."""
        return record(np.ceil, (self,))

    def trunc(self) -> Any:
        """The integer part; its gradient is zero."""
        return record(np.trunc, (self,))

    def round(self, decimals: int = 0) -> Any:
        """Rounded to even; its gradient is zero."""
        return record(np.round, (self, decimals))

    def sigmoid(self) -> Any:
        """``1 / (1 + exp(-x))``, without overflow."""
        from .functions import sigmoid

        return sigmoid(self)

    def relu(self) -> Any:
        """The positive part; its gradient at 0 is 0."""
        from .functions import relu

        return relu(self)

    def softmax(self, axis: int | None = None, *, dim: int | None = None) -> Any:
        """Exponentials along an axis, normalised to sum 1."""
        from .functions import softmax

        return softmax(self, _axis(axis, dim))

    def log_softmax(self, axis: int | None = None, *, dim: int | None = None) -> Any:
        """The logarithm of `softmax`, without overflow."""
        from .functions import log_softmax

        return log_softmax(self, _axis(axis, dim))

    def logsumexp(
        self, axis: Any = None, keepdims: bool = False, *, dim: Any = None, keepdim: bool = False
    ) -> Any:
        """The logarithm of the sum of exponentials, without overflow."""
        from .functions import logsumexp

        return logsumexp(self, _axis(axis, dim), keepdims or keepdim)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Limited to [min, max]; the gradient at a bound is 1."""
        return record(np.clip, (self, min, max))

    clamp = clip

    # -- reductions --------------------------------------------------------------------------------------

    def sum(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The sum of all elements, or along axes."""
        if axis is None and not keepdims and not options:
            return _sum_all(self)
        if axis.__class__ is int and not keepdims and not options:
            return _sum_along(self, axis, "SumBackward0")
        return _reduce(np.sum, self, axis, keepdims, options)

    def mean(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The mean of all elements, or along axes."""
        if axis is None and not keepdims and not options:
            return _mean_all(self)
        return _reduce(np.mean, self, axis, keepdims, options)

    def prod(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The product of all elements, or along axes."""
        return _reduce(np.prod, self, axis, keepdims, options)

    def max(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The largest element, or those along axes: values only, as in NumPy (see `argmax`).

        With a tensor as argument, the elementwise `maximum`, as in PyTorch.
        """
        if isinstance(axis, TensorBase):
            return self.maximum(axis)
        return _reduce(np.max, self, axis, keepdims, options, "MaxBackward0")

    def min(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The smallest element, or those along axes: values only, as in NumPy (see `argmin`)."""
        if isinstance(axis, TensorBase):
            return self.minimum(axis)
        return _reduce(np.min, self, axis, keepdims, options, "MinBackward0")

    amax = max
    amin = min

    def var(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The variance, dividing by the number of elements less `ddof`, which is 0 as in NumPy."""
        return _reduce(np.var, self, axis, keepdims, options)

    def std(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The standard deviation; `ddof` is 0 as in NumPy."""
        return _reduce(np.std, self, axis, keepdims, options)

    def ptp(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The largest less the smallest element."""
        return _reduce(np.ptp, self, axis, keepdims, options)

    def median(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """The median, the mean of the two middle elements of an even number as in NumPy."""
        return _reduce(np.median, self, axis, keepdims, options)

    def all(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Whether all elements are true."""
        return _reduce(np.all, self, axis, keepdims, options)

    def any(self, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Whether any element is true."""
        return _reduce(np.any, self, axis, keepdims, options)

    def argmax(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """The position of the largest element."""
        return _reduce(np.argmax, self, axis, keepdims, options)

    def argmin(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """The position of the smallest element."""
        return _reduce(np.argmin, self, axis, keepdims, options)

    def cumsum(self, axis: int | None = None, *, dim: int | None = None) -> Any:
        """Running sums, of the flattened tensor if no axis is given."""
        return record(np.cumsum, (self, _axis(axis, dim)))

    def cumprod(self, axis: int | None = None, *, dim: int | None = None) -> Any:
        """Running products, of the flattened tensor if no axis is given."""
        return record(np.cumprod, (self, _axis(axis, dim)))

    def sort(self, axis: int | None = -1, *, dim: int | None = None) -> Any:
        """A sorted copy, as ``np.sort`` gives it."""
        return record(np.sort, (self, axis if dim is None else dim))

    def argsort(self, axis: int | None = -1, *, dim: int | None = None) -> Any:
        """The order that sorts."""
        return record(np.argsort, (self, axis if dim is None else dim))

    def norm(self, ord: Any = None, axis: Any = None, keepdims: bool = False, *, dim: Any = None) -> Any:
        """The 2-norm, or another; its gradient at 0 is 0."""
        if ord is None and axis is None and dim is None and self.ndim > 1 and not keepdims:
            return record(np.linalg.norm, (self.reshape(-1),), None, "NormBackward0")
        return record(np.linalg.norm, (self, ord, _axis(axis, dim), keepdims), None, "NormBackward0")

    # -- products ----------------------------------------------------------------------------------------

    def matmul(self, other: Any) -> Any:
        """The matrix product, as ``@``."""
        return self @ other

    def mm(self, other: Any) -> Any:
        """The product of two matrices."""
        _need(self, 2, "mm")
        _need(other, 2, "mm")
        return self @ other

    def mv(self, other: Any) -> Any:
        """The product of a matrix and a vector."""
        _need(self, 2, "mv")
        _need(other, 1, "mv")
        return self @ other

    def dot(self, other: Any) -> Any:
        """``np.dot``: of two vectors, the sum of the products."""
        return record(np.dot, (self, other))

    def outer(self, other: Any) -> Any:
        """All products of an element of this and one of the other."""
        return record(np.outer, (self, other))

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return record(np.trace, (self,))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """A view of the diagonal."""
        return record(np.diagonal, (self, offset, axis1, axis2))

    def diag(self, k: int = 0) -> Any:
        """The diagonal of a matrix, or the matrix with a diagonal."""
        return record(np.diag, (self, k))

    def tril(self, k: int = 0) -> Any:
        """The lower triangle; zero above the `k`-th diagonal."""
        return record(np.tril, (self, k))

    def triu(self, k: int = 0) -> Any:
        """The upper triangle; zero below the `k`-th diagonal."""
        return record(np.triu, (self, k))

    def inverse(self) -> Any:
        """The inverse matrix."""
        return record(np.linalg.inv, (self,))

    def det(self) -> Any:
        """The determinant."""
        return record(np.linalg.det, (self,))

    # -- shapes ------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Any:
        """The elements in another shape: a view where possible. One length may be -1."""
        return _reshape(self, _many(shape), "ViewBackward0")

    def view(self, *shape: Any) -> Any:
        """`reshape`, or, given a dtype, `astype`."""
        if len(shape) == 1 and not isinstance(shape[0], int | tuple | list | np.integer):
            return self.astype(shape[0])
        return self.reshape(*shape)

    def view_as(self, other: Any) -> Any:
        """In the shape of another tensor."""
        return self.reshape(other.shape)

    reshape_as = view_as

    def ravel(self) -> Any:
        """In one dimension."""
        return self.reshape(-1)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        """With some neighbouring dimensions joined; by default all."""
        n = self.ndim
        if n == 0:
            return self.reshape(1)
        start, end = range(n)[start_dim], range(n)[end_dim]
        return self.reshape(self.shape[:start] + (-1,) + self.shape[end + 1 :])

    @property
    def T(self) -> Any:
        """The dimensions reversed: a view."""
        return _reversed(self)

    @property
    def mT(self) -> Any:
        """The last two dimensions exchanged: a view."""
        return self.swapaxes(-1, -2)

    def t(self) -> Any:
        """The transpose of a matrix; a vector is returned as it is."""
        if self.ndim > 2:
            raise ShapeError(
                f"t() is for at most 2 dimensions, not for shape {self.shape}; use T or transpose()"
            )
        return self.T

    def transpose(self, *axes: Any) -> Any:
        """Two axes exchanged (two numbers), or all permuted as in NumPy (none, a tuple, or three and more).

        ``transpose(0, 1)`` of a matrix means the exchange, which is not ``np.transpose(x, (0, 1))``.
        """
        if axes in _EXCHANGED and self._array.ndim == 2:
            return _exchanged(self)
        if len(axes) == 2 and all(isinstance(axis, int) for axis in axes):
            return record(np.swapaxes, (self, *axes))
        axes = _many(axes) if axes and axes[0] is not None else ()
        return record(np.transpose, (self, tuple(axes)) if axes else (self,))

    def permute(self, *axes: Any) -> Any:
        """All axes in another order: a view."""
        return record(np.transpose, (self, _many(axes)))

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Two axes exchanged: a view."""
        return record(np.swapaxes, (self, axis1, axis2))

    swapdims = swapaxes

    def moveaxis(self, source: Any, destination: Any) -> Any:
        """Axes moved to other places: a view."""
        return record(np.moveaxis, (self, source, destination))

    movedim = moveaxis

    def squeeze(self, axis: Any = None, *, dim: Any = None) -> Any:
        """Without dimensions of length 1: a view."""
        axis = _axis(axis, dim)
        return record(np.squeeze, (self,) if axis is None else (self, axis))

    def expand_dims(self, axis: Any) -> Any:
        """With a new dimension of length 1: a view."""
        return record(np.expand_dims, (self, axis))

    def unsqueeze(self, dim: int) -> Any:
        """With a new dimension of length 1: a view."""
        return _expand_dims(self, dim, "UnsqueezeBackward0")

    def broadcast_to(self, shape: Any) -> Any:
        """Repeated without copying to a larger shape."""
        return record(np.broadcast_to, (self, tuple(shape)))

    def expand(self, *shape: Any) -> Any:
        """Repeated without copying to a larger shape; -1 keeps a length."""
        wanted = _many(shape)
        new = len(wanted) - self.ndim
        return self.broadcast_to(
            tuple(self.shape[i - new] if n == -1 and i >= new else n for i, n in enumerate(wanted))
        )

    def expand_as(self, other: Any) -> Any:
        """Repeated without copying to the shape of another tensor."""
        return self.broadcast_to(other.shape)

    def repeat(self, *repeats: Any, axis: int | None = None) -> Any:
        """Every element repeated, as ``np.repeat`` (PyTorch's `repeat` is `tile`)."""
        return record(np.repeat, (self, repeats[0] if len(repeats) == 1 else repeats, axis))

    def tile(self, *reps: Any) -> Any:
        """The whole tensor repeated."""
        return record(np.tile, (self, _many(reps)))

    def flip(self, *axes: Any) -> Any:
        """Backwards along axes; by default along all."""
        return record(np.flip, (self, _many(axes) if axes else None))

    def roll(self, shift: Any, axis: Any = None, *, dims: Any = None) -> Any:
        """Shifted in a circle."""
        return record(np.roll, (self, shift, _axis(axis, dims)))

    def take(self, indices: Any, axis: int | None = None) -> Any:
        """Elements by position, of the flattened tensor if no axis is given."""
        return record(np.take, (self, indices, axis))

    def gather(self, dim: int, index: Any) -> Any:
        """``np.take_along_axis``."""
        return record(np.take_along_axis, (self, index, dim))

    def split(self, sections: Any, axis: int = 0) -> Any:
        """Views of parts, as ``np.split``."""
        return record(np.split, (self, sections, axis))

    def index_select(self, dim: int, index: Any) -> Any:
        """Whole slices by position along a dimension."""
        return record(np.take, (self, index, dim), None, "IndexSelectBackward0")

    def chunk(self, chunks: int, dim: int = 0) -> Any:
        """Parts of nearly equal length: views."""
        return record(np.array_split, (self, chunks, dim))

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        """The parts along a dimension, each without it."""
        moved = self.moveaxis(dim, 0) if dim else self
        return tuple(moved)

    @property
    def real(self) -> Any:
        """The real part."""
        return self if not self.is_complex() else record(np.real, (self,))

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return record(np.imag, (self,))

    def where(self, condition: Any, other: Any) -> Any:
        """This tensor where `condition` holds, `other` elsewhere."""
        return record(np.where, (condition, self, other))

    def masked_fill(self, mask: Any, value: Any) -> Any:
        """A copy with `value` where `mask` holds."""
        return record(np.where, (mask, value, self))

    # -- elements ----------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        array = self._array
        if key.__class__ is tuple and len(key) == array.ndim:  # the commonest keys: numbers and ranges
            numbers = 0
            for part, n in zip(key, array.shape, strict=True):
                if part.__class__ is int:
                    if not -n <= part < n:
                        break
                    numbers += 1
                elif part.__class__ is not slice or not _of_numbers(part):
                    break
            else:
                if numbers < len(key):
                    return _getitem(self, key, "SliceBackward0")
                if numbers:
                    return _getitem(self, (*key, Ellipsis), "SelectBackward0")
        key = _key(array, key)
        return _getitem(self, key, index_name(key) + "Backward0")

    def __setitem__(self, key: Any, value: Any) -> None:
        key = _stored_key(_key(self._array, key))
        if not isinstance(value, TensorBase):
            value = value if isinstance(value, int | float | complex) else as_array(value, self._array)
        change(self, stores.stored, (self, key, value), _store)

    # -- copies and dtypes -------------------------------------------------------------------------------

    def clone(self: S) -> S:
        """A copy, recorded: gradients pass through."""
        return _clone(self)  # type: ignore[no-any-return]

    copy = clone

    def contiguous(self: S) -> S:
        """This tensor, copied if its memory is not in order."""
        return (
            self
            if getattr(self._array, "flags", None) is None or self._array.flags.c_contiguous
            else self.clone()
        )

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """In another dtype; in its own, the tensor itself."""
        dtype = np.dtype(dtype)
        if dtype == self._array.dtype:
            return self
        return record(_astype, (self, dtype), None, "ToCopyBackward0")

    def type(self, dtype: Any) -> Any:
        """`astype`."""
        return self.astype(dtype)

    def double(self) -> Any:
        """As float64."""
        return self.astype(np.float64)

    def float(self) -> Any:
        """As float32."""
        return self.astype(np.float32)

    def half(self) -> Any:
        """As float16."""
        return self.astype(np.float16)

    def long(self) -> Any:
        """As int64."""
        return self.astype(np.int64)

    def int(self) -> Any:
        """As int32."""
        return self.astype(np.int32)

    def bool(self) -> Any:
        """As bool."""
        return self.astype(np.bool_)

    def to(self, *targets: Any, dtype: Any = None, device: Any = None) -> Any:
        """On another device, or in another dtype: recorded, and the tensor itself if nothing changes."""
        for target in targets:
            if isinstance(target, TensorBase):
                dtype, device = target._array.dtype, devices.of(target._array)
            elif isinstance(target, devices.Device) or (isinstance(target, str) and devices.is_name(target)):
                device = target
            else:
                dtype = target
        result: Any = self
        if device is not None:
            device = devices.parsed(device)
            if device != self.device:
                result = record(devices.moved, (result, device), None, "ToCopyBackward0")
        return result if dtype is None else result.astype(dtype)

    def cuda(self) -> Any:
        """On the GPU."""
        return self.to("cuda")

    def cpu(self) -> Any:
        """In host memory."""
        return self.to("cpu")

    # -- in place ----------------------------------------------------------------------------------------

    def __iadd__(self: S, other: Any) -> Any:
        return _in_place(self, np.add, other)

    def __isub__(self: S, other: Any) -> Any:
        return _in_place(self, np.subtract, other)

    def __imul__(self: S, other: Any) -> Any:
        return _in_place(self, np.multiply, other)

    def __itruediv__(self: S, other: Any) -> Any:
        return _in_place(self, np.divide, other)

    def __ipow__(self: S, other: Any) -> Any:
        return _in_place(self, np.power, other)

    def __imod__(self: S, other: Any) -> Any:
        return _in_place(self, np.remainder, other)

    def add_(self: S, other: Any, *, alpha: Any = 1) -> Any:
        """Add `other`, times `alpha`, in place."""
        return _in_place(self, np.add, other if alpha == 1 else other * alpha)

    def sub_(self: S, other: Any, *, alpha: Any = 1) -> Any:
        """Subtract `other`, times `alpha`, in place."""
        return _in_place(self, np.subtract, other if alpha == 1 else other * alpha)

    def mul_(self: S, other: Any) -> Any:
        """Multiply in place."""
        return _in_place(self, np.multiply, other)

    def div_(self: S, other: Any) -> Any:
        """Divide in place."""
        return _in_place(self, np.divide, other)

    def pow_(self: S, other: Any) -> Any:
        """Raise to a power in place."""
        return _in_place(self, np.power, other)

    def copy_(self: S, other: Any) -> Any:
        """Take the values of `other`, broadcast to this shape."""
        value = other if isinstance(other, TensorBase) else as_array(other, self._array)
        return change(self, np.where, (False, self, value), _copy, "CopyBackwards")

    def fill_(self: S, value: Any) -> Any:
        """Take one value everywhere."""
        return change(self, np.where, (False, self, value), _copy, "FillBackward0")

    def zero_(self: S) -> Any:
        """Become zero in place."""
        return change(self, np.where, (False, self, 0), _copy, "ZeroBackward0")

    def clip_(self: S, min: Any = None, max: Any = None) -> Any:
        """Limit to [min, max] in place."""
        return change(self, np.clip, (self, min, max))

    clamp_ = clip_

    def masked_fill_(self: S, mask: Any, value: Any) -> Any:
        """Take `value` where `mask` holds."""
        return change(self, np.where, (mask, value, self))

    def exp_(self: S) -> Any:
        """The exponential in place."""
        return change(self, np.exp, (self,))

    def log_(self: S) -> Any:
        """The logarithm in place."""
        return change(self, np.log, (self,))

    def sqrt_(self: S) -> Any:
        """The square root in place."""
        return change(self, np.sqrt, (self,))

    def sin_(self: S) -> Any:
        """The sine in place."""
        return change(self, np.sin, (self,))

    def cos_(self: S) -> Any:
        """The cosine in place."""
        return change(self, np.cos, (self,))

    def tanh_(self: S) -> Any:
        """The hyperbolic tangent in place."""
        return change(self, np.tanh, (self,))

    def neg_(self: S) -> Any:
        """The negative in place."""
        return change(self, np.negative, (self,))

    def abs_(self: S) -> Any:
        """The absolute value in place."""
        return change(self, np.absolute, (self,), None, "AbsBackward0")

    def relu_(self: S) -> Any:
        """The positive part in place."""
        return change(self, np.where, (self._array <= 0, 0, self), None, "ReluBackward0")


# -- making one ------------------------------------------------------------------------------------------


def tensor(data: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """A tensor with a copy of `data`.

    Args:
        data: a number, nested lists, an array (NumPy or CuPy), or a tensor, whose graph is left behind.
        dtype: a NumPy dtype; by default NumPy's own choice, so float64 for Python floats.
        requires_grad: whether its gradient is wanted; needs a floating or complex dtype.
        device: ``"cpu"`` or ``"cuda"``; by default where `data` is.

    >>> tensor([[1, 2], [3, 4]]).dtype
    dtype('int64')
    """
    if isinstance(data, TensorBase):
        data = data._array
    elif isinstance(data, list | tuple):
        data = _without_tensors(data)
    if hasattr(data, "__array_function__") and hasattr(data, "copy") and not isinstance(data, np.generic):
        array = data.astype(dtype) if dtype is not None and data.dtype != np.dtype(dtype) else data.copy()
    else:
        array = np.array(data, dtype)
    if array.dtype.kind == "O":
        raise DtypeError(f"no tensor can be made of {type(data).__name__}: its elements are not all numbers")
    if device is not None:
        array = devices.moved(array, devices.parsed(device))
    return leaf(array, requires_grad)


def leaf(array: Any, requires_grad: bool = False) -> Tensor:
    """A leaf around `array`, which is not copied."""
    if requires_grad:
        _check_differentiable(array.dtype)
    result = make(Tensor, array)
    result._requires = bool(requires_grad)
    return result


def as_array(value: Any, like: Any = None) -> Any:
    """The array behind a tensor, or what NumPy makes of `value`."""
    if isinstance(value, TensorBase):
        return value._array
    if hasattr(value, "__array_function__"):
        return value
    if like is not None and not isinstance(like, np.ndarray | np.generic):
        return devices.moved(np.asarray(value), devices.of(like))
    return np.asarray(value)


def _without_tensors(data: Any) -> Any:
    if isinstance(data, TensorBase):
        return data.item() if data.size == 1 else data.tolist()  # type: ignore[attr-defined]
    return [_without_tensors(part) for part in data] if isinstance(data, list | tuple) else data


def _rebuilt(array: Any, requires_grad: bool) -> Tensor:
    return leaf(array, requires_grad)


def _check_differentiable(dtype: Any) -> None:
    if dtype.kind not in "fc":
        raise DtypeError(f"only floating and complex tensors can require grad, not {dtype}")


# -- small parts of methods ------------------------------------------------------------------------------


def _refuse_to_vanish(x: Tensor) -> None:
    """Refuse ``array[i] = x`` for an array of NumPy's: it asks `x` for a number, as ``float(x)`` does."""
    if not (x._requires and state.grad):
        return
    frame = sys._getframe(2)
    if frame.f_code.co_code[frame.f_lasti] == _STORE:
        raise GraphError(
            "a tensor that requires grad was stored into a NumPy array, which would lose its gradient: "
            "store into a tensor (zeros(...)), use stack(), or detach() it"
        )


_STORE = dis.opmap["STORE_SUBSCR"]


def _axis(axis: Any, dim: Any) -> Any:
    return axis if dim is None else dim


def _many(values: tuple[Any, ...]) -> Any:
    """``f(1, 2)`` and ``f((1, 2))`` mean the same."""
    if len(values) == 1 and isinstance(values[0], list | tuple):
        return tuple(values[0])
    return tuple(values)


def _need(value: Any, ndim: int, what: str) -> None:
    if value.ndim != ndim:
        raise ShapeError(f"{what}: needs {ndim} dimensions here, not shape {value.shape}")


def _reduce(
    function: Any, x: Tensor, axis: Any, keepdims: bool, options: dict[str, Any], name: str | None = None
) -> Any:
    if options:
        axis = options.pop("dim", axis)
        keepdims = options.pop("keepdim", keepdims)
        if "correction" in options:
            options["ddof"] = options.pop("correction")
    if axis is not None:
        options["axis"] = tuple(axis) if isinstance(axis, list) else axis
    if keepdims:
        options["keepdims"] = True
    return record(function, (x,), options, name)


def _compare(function: Any, x: Tensor, other: Any) -> Any:
    if other is None or isinstance(other, str):
        return NotImplemented
    return record(function, (x, other if isinstance(other, TensorBase | int | float) else as_array(other)))


def _in_place(x: Any, function: Any, other: Any) -> Any:
    if not isinstance(other, TensorBase | int | float | complex):
        other = as_array(other, x._array)
    return change(x, function, (x, other))


def _copy(array: Any, condition: Any, old: Any, value: Any) -> None:
    if np.ndim(value) > array.ndim or np.broadcast_shapes(array.shape, np.shape(value)) != array.shape:
        raise ShapeError(f"shape {np.shape(value)} does not fit in place into {array.shape}")
    array[...] = value


def _store(array: Any, old: Any, key: Any, value: Any) -> None:
    array[key] = value


def _key(array: Any, key: Any) -> Any:
    """An index with arrays in place of tensors, such that basic indexing of one element gives a view."""
    kind = type(key)
    if (
        kind is slice
        and array.ndim
        and not any(isinstance(p, TensorBase) for p in (key.start, key.stop, key.step))
    ):
        return key
    if kind is int and array.ndim and -array.shape[0] <= key < array.shape[0]:
        return key if array.ndim > 1 else (key, Ellipsis)
    parts = key if kind is tuple else (key,)
    plain = [_key_part(part) for part in parts]
    basic = all(isinstance(p, int | np.integer | slice) or p is None or p is Ellipsis for p in plain)
    if basic and not any(isinstance(p, bool) for p in plain):
        count = sum(isinstance(p, int | np.integer) for p in plain)
        _check_range(array, plain)
        if (
            count == array.ndim
            and count
            and Ellipsis not in plain
            and not any(isinstance(p, slice) for p in plain)
        ):
            return (*plain, Ellipsis)
    return tuple(plain) if isinstance(key, tuple) else plain[0]


def _of_numbers(part: slice) -> bool:
    return not any(isinstance(p, TensorBase) for p in (part.start, part.stop, part.step))


def _key_part(part: Any) -> Any:
    if isinstance(part, TensorBase):
        if part._array.ndim == 0 and part._array.dtype.kind in "iu":
            return int(part._array)
        return part._array
    if isinstance(part, list):
        return np.asarray([_key_part(p) for p in part]) if part else np.zeros(0, dtype=np.intp)
    if isinstance(part, slice):
        return slice(*(_key_part(p) for p in (part.start, part.stop, part.step)))
    return part


def _check_range(array: Any, parts: Sequence[Any]) -> None:
    shape = array.shape
    used = sum(p is not None and p is not Ellipsis for p in parts)
    if used > len(shape):
        raise OutOfRange(f"{used} indices for a tensor of {len(shape)} dimensions, of shape {shape}")
    axis = 0
    for part in parts:
        if part is Ellipsis:
            axis = len(shape) - (used - axis)
        elif part is not None:
            if not isinstance(part, slice) and not -shape[axis] <= part < shape[axis]:
                raise OutOfRange(f"index {part} is out of range for dimension {axis} of size {shape[axis]}")
            axis += 1


def _stored_key(key: Any) -> Any:
    """A key that later changes to the user's index arrays do not reach."""
    if isinstance(key, tuple):
        return tuple(_stored_key(part) for part in key)
    return key.copy() if isinstance(key, np.ndarray) else key


def _astype(array: Any, dtype: Any) -> Any:
    return array.astype(dtype)


@linear(_astype, wrt=("array",), samples=[(np.array([0.3, -0.9]), np.complex128)])
def _cast(g: Any, out: Any, array: Any, dtype: Any) -> Any:
    return g
