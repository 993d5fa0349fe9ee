"""What a tensor is made of: an array, its place in the graph, its version, and, if it is a view, of what.

In: an array. Out (`make`): a tensor that wraps it. The class that users see is `tensor.Tensor`; the engine
and the recorder need only these slots, and always make new tensors of the class of one they were given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .errors import DtypeError
from .modes import SPECIAL, state

if TYPE_CHECKING:
    from .graph import Node

T = TypeVar("T", bound="TensorBase")

_new = object.__new__


class TensorBase:
    """The slots of a tensor.

    Attributes:
        _array: the values: an array, or a NumPy scalar (see `boxed`).
        _requires: whether a gradient is wanted.
        _node: the node that made it, or None for a leaf.
        _nr: which result of that node it is.
        _counter: how often the memory was changed in place: a number, or, once it is shared with views and
            detached tensors, a list of one; None for inference tensors, whose changes are not counted.
        _view: a `View` if this is a differentiable view.
        _rare: a `Rare` with what few tensors have, or None.
    """

    __slots__ = ("__weakref__", "_array", "_counter", "_node", "_nr", "_rare", "_requires", "_view")

    _array: Any
    _requires: bool
    _node: Node | None
    _nr: int
    _counter: int | list[int] | None
    _view: View | None
    _rare: Rare | None


class Rare:
    """What few tensors have: a gradient, hooks, a name."""

    __slots__ = ("accumulator", "grad", "hooks", "name", "post_hooks", "retains")

    def __init__(self) -> None:
        self.grad: Any = None
        self.hooks: dict[int, Callable[[Any], Any]] = {}
        self.post_hooks: dict[int, Callable[[Any], Any]] = {}
        self.retains = False
        self.accumulator: Any = None
        self.name: str | None = None


class View:
    """How a tensor shows the memory of another: `base`, and the call that makes it from there.

    Attributes:
        base: the tensor whose memory it is; not itself a view.
        parent: the view of `base` that this one was taken from; None if it was `base` itself.
        function, rest, options: the call, whose first argument is what the view is taken of.
        item: which of several results it is; None for a single one.
        node: the node of `base` when this view was last brought up to date.
        refused: why a change in place cannot be followed, or None.
    """

    __slots__ = ("base", "function", "item", "node", "options", "parent", "refused", "rest")

    def __init__(
        self,
        base: TensorBase,
        parent: View | None,
        function: Callable[..., Any],
        rest: tuple[Any, ...],
        options: dict[str, Any],
        item: int | None = None,
        refused: str | None = None,
    ) -> None:
        self.base = base
        self.parent = parent
        self.function = function
        self.rest = rest
        self.options = options
        self.item = item
        self.node = base._node
        self.refused = refused

    def calls(self) -> list[View]:
        """The views to take, one after the other, from that of `base`."""
        chain = []
        view: View | None = self
        while view is not None:
            chain.append(view)
            view = view.parent
        return chain[::-1]


class DirectView(View):
    """The commonest view: of a base that is no view, one result, without options; made by `direct_view`."""

    __slots__ = ()
    parent = None
    item = None
    refused = None
    options: dict[str, Any] = {}  # noqa: RUF012


def direct_view(base: TensorBase, function: Callable[..., Any], rest: tuple[Any, ...]) -> View:
    """`View` for a base that is no view, where operations are recorded; quicker."""
    view = _new(DirectView)
    view.base = base
    view.function = function
    view.rest = rest
    view.node = base._node
    return view


def make(cls: type[T], array: Any) -> T:
    """A leaf of class `cls` around `array`, which is not copied."""
    tensor: T = _new(cls)
    tensor._array = array
    tensor._requires = False
    tensor._node = None
    tensor._nr = 0
    tensor._counter = None if state.mode == SPECIAL and state.inference else 0
    tensor._view = None
    tensor._rare = None
    return tensor


def version_of(tensor: TensorBase) -> Any:
    """How often the memory of a tensor was changed in place; None for an inference tensor."""
    counter = tensor._counter
    return counter[0] if isinstance(counter, list) else counter


def changed(tensor: TensorBase) -> None:
    """Count a change in place."""
    counter = tensor._counter
    if isinstance(counter, list):
        counter[0] += 1
    elif counter is not None:
        tensor._counter = counter + 1


def shared_counter(tensor: TensorBase) -> list[int] | None:
    """The counter as a list, which others can share."""
    counter = tensor._counter
    if isinstance(counter, int):
        tensor._counter = counter = [counter]
    return counter


def boxed(tensor: TensorBase) -> Any:
    """The array of a tensor as one that can be written to and shared; NumPy's results may be scalars.

    >>> boxed(make(TensorBase, np.float64(2.0)))
    array(2.)
    """
    if isinstance(tensor._array, np.generic):
        tensor._array = np.array(tensor._array)
    return tensor._array


def rare(tensor: TensorBase) -> Rare:
    """The `Rare` of a tensor, made where it has none."""
    if tensor._rare is None:
        tensor._rare = Rare()
    return tensor._rare


def holds_tensor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call has a tensor among its arguments, however deep in tuples, lists and dictionaries."""
    return any(map(_is_or_holds, args)) or (bool(kwargs) and any(map(_is_or_holds, kwargs.values())))


def _is_or_holds(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_or_holds, value))
    if isinstance(value, dict):
        return any(map(_is_or_holds, value.values()))
    return isinstance(value, TensorBase)


class Spec:
    """Shape and dtype of an array of which nothing else is needed; `hollow` is an array without memory.

    >>> Spec.of(np.ones((2, 3))).hollow().shape
    (2, 3)
    """

    __slots__ = ("dtype", "shape", "zero")

    def __init__(self, shape: tuple[int, ...], dtype: Any, zero: Any = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.zero = zero

    @classmethod
    def of(cls, array: Any) -> Spec:
        """That of an array; for one on another device, `zero` is what to broadcast."""
        if isinstance(array, np.ndarray | np.generic):
            return cls(array.shape, array.dtype)
        return cls(array.shape, array.dtype, np.zeros_like(array, shape=()))

    def hollow(self) -> Any:
        """An array of this shape and dtype that takes no memory; what it holds is not to be read."""
        if self.zero is not None:
            return np.broadcast_to(self.zero, self.shape)
        return np.ndarray(self.shape, self.dtype, _NOTHING, strides=(0,) * len(self.shape))


_NOTHING = bytes(64)
_hollows: dict[Any, Any] = {}


def hollow(array: Any) -> Any:
    """An array of the same shape and dtype that takes no memory; those in use are made once.

    >>> hollow(np.ones((2, 3))).shape
    (2, 3)
    """
    if array.__class__ is not np.ndarray and not isinstance(array, np.generic):
        return Spec.of(array).hollow()
    shape, dtype = array.shape, array.dtype
    found = _hollows.get((shape, dtype))
    if found is None:
        if len(_hollows) > 1000:
            _hollows.clear()
        found = _hollows[shape, dtype] = np.ndarray(shape, dtype, _NOTHING, 0, (0,) * len(shape))
    return found


class Packed:
    """A saved tensor that a `saved_tensors_hooks` has replaced by something else."""

    __slots__ = ("indices", "node", "packed", "requires", "unpack")

    def __init__(self, tensor: Any, hooks: tuple[Callable[[Any], Any], Callable[[Any], Any]]) -> None:
        pack, self.unpack = hooks
        self.node = tensor if tensor._node is None and tensor._requires else tensor._node
        self.indices = tensor._nr
        self.requires = tensor._requires
        plain = make(type(tensor), tensor._array)
        self.packed = pack(plain)

    def value(self) -> Any:
        """What `unpack` gives: a tensor with the place in the graph that the saved one had."""
        tensor = self.unpack(self.packed)
        if not isinstance(tensor, TensorBase):
            raise DtypeError(f"an unpack hook returned {type(tensor).__name__}, expected a Tensor")
        if not self.requires:
            return tensor
        if isinstance(self.node, TensorBase):
            return self.node
        again = make(type(tensor), tensor._array)
        again._node, again._nr, again._requires = self.node, self.indices, True
        return again
