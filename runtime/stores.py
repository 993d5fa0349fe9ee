"""Changes in place: what they do to memory, versions and the graph.

In: a tensor and the operation whose result it is to hold. Out: the same tensor, its array overwritten, its
version raised, its place in the graph that of the new value. A store into a view of something recorded
rewrites the history of the whole base (`CopySlices`); other views of that base catch up when they are next
used (`record.refresh`).

    >>> from adjoin.runtime import tensor, zeros
    >>> x = tensor(3.0, requires_grad=True)
    >>> z = zeros(2)
    >>> z[0] = x * x
    >>> z.sum().backward()
    >>> x.grad
    tensor(6.)
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .base import TensorBase, View, boxed, changed, make
from .eager_rules import rule_of
from .errors import DtypeError, GraphError, ShapeError
from .explain import explained
from .graph import Node, next_number, placed
from .modes import state
from .names import name_of
from .plans import Plan
from .record import node_for, refresh, replay, unwrapped
from .rule import NoRule, linear
from .support import unbroadcast

__all__ = ["change", "stored"]


# -- the operation behind ``x[key] = value`` ---------------------------------------------------------------


def stored(x: Any, key: Any, value: Any) -> Any:
    """A copy of `x` in which `value` has been stored at `key`.

    >>> stored(np.zeros(3), 1, 5.0)
    array([0., 5., 0.])
    """
    x = x.copy()
    x[key] = value
    return x


def cleared(g: Any, key: Any) -> Any:
    """`g` with zeros at `key`."""
    return stored(g, key, 0)


def taken(g: Any, key: Any, value: Any) -> Any:
    """The part of `g` at `key`, in the shape of `value`; of repeated indices only the last was stored."""
    part = g[key]
    last = _last_writes(np.shape(g), key)
    if last is not None:
        part = np.where(last, part, 0)
    return unbroadcast(part, value)


def _last_writes(shape: tuple[int, ...], key: Any) -> Any:
    """Which stores of `key` remain, or None if no index can be repeated."""
    keys = key if isinstance(key, tuple) else (key,)
    arrays = [k for k in keys if isinstance(k, list | np.ndarray) and np.asarray(k).dtype.kind != "b"]
    if not arrays:
        return None
    written = np.zeros(shape, dtype=np.intp)
    order = np.arange(written[key].size).reshape(written[key].shape)
    written[key] = order
    return written[key] == order


@linear(
    stored,
    wrt=("x", "value"),
    samples=[
        (np.array([0.3, -0.9, 0.6]), 1, 5.0),
        (np.array([[0.3, -0.9], [0.6, 1.2]]), (slice(None), 0), np.array([1.5, -0.5])),
        (np.array([0.3, -0.9, 0.6]), np.array([0, 0, 2]), np.array([1.5, -0.5, 0.7])),
    ],
)
def _stored(g: Any, out: Any, x: Any, key: Any, value: Any) -> Any:
    return cleared(g, key), taken(g, key, value)


# -- changing a tensor --------------------------------------------------------------------------------------


def change(
    x: Any,
    function: Callable[..., Any],
    args: Sequence[Any],
    write: Callable[..., None] | None = None,
    name: str | None = None,
) -> Any:
    """Overwrite `x` with ``function(*args)``, where `x` itself may be among `args`.

    Args:
        x: the tensor.
        function: an operation of the rule table.
        args: its arguments.
        write: ``write(array, *arrays)`` does the same in place; by default the result is copied.
        name: of the node.

    Raises:
        GraphError: `x` is a leaf that requires grad, or a view of one; or an inference tensor.
        ShapeError, DtypeError: the result does not fit into `x`.
    """
    recording = state.grad
    _refuse(x, recording)
    if x._view is not None:
        refresh(x)
    found: list[Any] = []
    array = boxed(x)
    raw = [unwrapped(value, found) for value in args]
    if array.dtype.kind in "biu" and recording and any(t._requires for t in found):
        raise DtypeError(f"a result that requires grad cannot be stored in a tensor of {array.dtype}")
    records = recording and (x._requires or any(t._requires for t in found))
    ghost = _ghost(x, array.copy() if records else array)
    _write(array, function, raw, write)
    changed(x)
    if records:
        rule = rule_of(function)
        if rule is None:
            raise NoRule(f"{name_of(function)} has no rule")
        past = [ghost if value is x else value for value in args]
        tensors = [ghost if t is x else t for t in found]
        if any(t._requires for t in tensors):
            node, _ = node_for(
                rule, function, past, {}, array, type(x), name or name_of(function, args), tensors, x
            )
            _attach(x, node)
    return x


def _refuse(x: Any, recording: bool) -> None:
    if x._counter is None and not state.inference:
        raise GraphError(
            "an inference tensor cannot be changed in place outside of inference mode; clone() it"
        )
    if not recording:
        return
    view = x._view
    if view is not None:
        if view.base._requires and view.base._node is None:
            raise GraphError(
                "a view of a leaf that requires grad cannot be changed in place; do it under no_grad(), "
                "or on a copy (clone())"
            )
        if view.refused is not None and view.base._requires:
            raise GraphError(f"this view cannot be changed in place while recording: {view.refused}")
    elif x._requires and x._node is None:
        raise GraphError(
            "a leaf that requires grad cannot be changed in place; do it under no_grad(), "
            "or on a copy (clone())"
        )


def _ghost(x: Any, array: Any) -> Any:
    """`x` as it was before the change."""
    ghost = make(type(x), array)
    ghost._node, ghost._nr, ghost._requires = x._node, x._nr, x._requires
    return ghost


def _write(
    array: Any, function: Callable[..., Any], raw: Sequence[Any], write: Callable[..., None] | None
) -> None:
    try:
        if write is not None:
            write(array, *raw)
        elif isinstance(function, np.ufunc) and not isinstance(array, np.generic):
            function(*raw, out=array, casting="same_kind")
        else:
            result = function(*raw)
            if np.shape(result) != array.shape:
                raise ShapeError(
                    f"a result of shape {np.shape(result)} does not fit in place into {array.shape}"
                )
            np.copyto(array, result, casting="same_kind")
    except GraphError:
        raise
    except Exception as error:
        raise explained(error, function, [array, *raw]) from error


def _attach(x: Any, node: Node) -> None:
    """Make `node` the history of `x`, and of the base that `x` is a view of."""
    view = x._view
    if view is None:
        placed(x, node, 0)
        return
    base = view.base
    slices = CopySlices(base, view, node, (x._node, x._nr))
    placed(base, slices, 0)
    refresh(x)


_NO_PLAN = Plan.__new__(Plan)
_NO_PLAN.name = "CopySlices"
_NO_PLAN.saves = False
_NO_PLAN.quick = False
_NO_PLAN.operands = None


def _without_base(view: View) -> list[View]:
    """The calls of a view alone: the base will hold the node that holds them, and must not be held by it."""
    bare = []
    for step in view.calls():
        copy = View.__new__(View)
        copy.function, copy.rest, copy.options, copy.item = step.function, step.rest, step.options, step.item
        bare.append(copy)
    return bare


class CopySlices(Node):
    """A base of which a part, seen through a view, was replaced by the result of `inner`.

    The gradient of that part goes to the operands of `inner`. One of them is mostly the old view: what it
    gets takes the place of that part in the gradient of the old base.

    Attributes:
        inner: the node of the operation.
        calls: the views to take of the base.
        has_base: whether the old base has a gradient.
        own: which edges of `inner` lead to the old view; `others`: those that lead elsewhere.
        order: of the axes of the base in memory, by which the same calls give views of other memory; None
            where they do not.
        mask: where the view does not show the base, if `order` is None.
    """

    __slots__ = ("calls", "has_base", "inner", "mask", "order", "others", "own")

    def __init__(self, base: TensorBase, view: View, inner: Node, old: tuple[Node | None, int]) -> None:
        self.plan = _NO_PLAN
        self.inner = inner
        self.calls = _without_base(view)
        self.has_base = base._requires
        array = base._array
        self.shape = np.shape(array)
        self.dtype = array.dtype
        self.mask: Any = None
        self.order: Any = None
        indices = inner.indices or (0,) * len(inner.edges)
        leads = list(zip(inner.edges, indices, strict=True))
        self.own: list[int] = []
        if self.has_base:
            self.order = _memory_order(array)
            whole = self._memory(array)
            if np.may_share_memory(replay(self.calls, whole), whole):
                self.own = [k for k, (edge, i) in enumerate(leads) if edge is old[0] and i == old[1]]
            else:
                self.order = None
                self.mask = self._untouched(array)
        self.others = [k for k in range(len(leads)) if k not in self.own]
        leads = [leads[k] for k in self.others]
        if self.has_base:
            leads.insert(0, (base if base._node is None else base._node, base._nr))
        self.edges = tuple([edge for edge, _ in leads])
        self.indices = tuple([index for _, index in leads])
        self.seq = next_number()
        self.saved = ()
        self.versions = ()
        self.out_version = None
        self.picks = None
        self.more = None
        self.code, self.lasti = inner.code, inner.lasti

    def _memory(self, like: Any) -> Any:
        """New memory in the order of the base, of the type and dtype of `like`."""
        order = self.order
        array = np.empty_like(like, order="C", shape=tuple([self.shape[axis] for axis in order]))
        return np.transpose(array, sorted(range(len(order)), key=order.__getitem__))

    def _untouched(self, array: Any) -> Any:
        """Where the view does not show the base."""
        if self.order is not None:
            mask = self._memory(np.empty_like(array, dtype=bool))
            mask[...] = True
            replay(self.calls, mask)[...] = False
            return mask
        ones = np.ones_like(array, dtype=bool)
        places = replay(self.calls, np.cumsum(ones, dtype=np.intp).reshape(ones.shape) - 1)
        flat = np.ones(ones.size, dtype=bool)
        flat[places.ravel()] = False
        return flat.reshape(ones.shape)

    def apply(self, g: Any, cls: type[Any] | None) -> Sequence[Any]:
        passed = self.inner.apply(replay(self.calls, g), cls)
        if not self.has_base:
            return passed
        rest = [passed[k] for k in self.others]
        old = [passed[k] for k in self.own if passed[k] is not None]
        part = functools.reduce(operator.add, old) if old else None
        if self.order is None:
            return [np.where(self.mask, g, 0), *rest]
        if cls is not None:
            return [self._combined(g, part, cls), *rest]
        whole = self._memory(g)
        whole[...] = g
        replay(self.calls, whole)[...] = 0 if part is None else part
        return [whole, *rest]

    def _combined(self, g: Any, part: Any, cls: type[Any]) -> Any:
        """The gradient of the old base, recorded."""
        kept = np.where(self._untouched(g._array), g, 0)
        if part is None:
            return kept
        memory = self._memory(g._array)
        memory[...] = 0
        whole = make(cls, memory)
        change(replay(self.calls, whole), np.where, (True, part, 0))
        return kept + whole

    def release(self) -> None:
        self.inner.release()


def _memory_order(array: Any) -> list[int]:
    """The axes of an array, the one with the longest steps in memory first."""
    strides = getattr(array, "strides", None) or ()
    return sorted(range(np.ndim(array)), key=lambda axis: -abs(strides[axis])) if strides else []
