"""The recorded graph, and the engine that sends gradients through it.

In: roots (nodes or leaves) with the gradient of each. Out: gradients at leaves and at the tensors asked for.
A `Node` is one recorded operation; its `edges` lead to what made its operands: another node, or the tensor
itself where that is a leaf. Nodes are numbered as they are made, and an operand is always older than what is
made from it, so that taking the newest waiting node first is a topological order. Nothing here recurses.
"""

from __future__ import annotations

import functools
import heapq
import operator
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Packed, Spec, TensorBase, changed, make, rare, version_of
from .errors import GraphError, ShapeError
from .modes import state
from .support import conj, real_if_real, unbroadcast

if TYPE_CHECKING:
    from .plans import Plan

__all__ = ["AccumulateGrad", "MultiNode", "Node", "placed", "sweep"]

next_number = count().__next__
_HOST = (np.ndarray, np.generic)
_ndarray = np.ndarray

_FREED = (
    "backward through {name} a second time: its saved values have been freed. Pass retain_graph=True to the "
    "first backward() or grad() if the graph is needed again"
)


class Extra:
    """What few nodes have: hooks, tensors that want to see a gradient, the traceback of their making."""

    __slots__ = ("data", "hooks", "prehooks", "retained", "tensor_hooks", "trace")

    def __init__(self) -> None:
        self.tensor_hooks: dict[int, dict[int, Callable[[Any], Any]]] = {}
        self.retained: dict[int, weakref.ref[TensorBase]] = {}
        self.prehooks: dict[int, Callable[[Any], Any]] = {}
        self.hooks: dict[int, Callable[[Any, Any], Any]] = {}
        self.trace: traceback.StackSummary | None = None
        self.data: dict[Any, Any] = {}


class Handle:
    """Undoes the registration of a hook: by `remove()`, or at the end of a `with` block."""

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks = hooks
        self._key = next_number()
        hooks[self._key] = hook

    def remove(self) -> None:
        """Remove the hook; does nothing the second time."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Node:
    """One recorded operation.

    Attributes:
        plan: the rule cut down to the active parameters (`record.Plan`).
        edges: for each active operand, the node that made it, or the leaf itself.
        indices: which result of each edge's node; None if all are the first.
        seq: its number; newer nodes have higher ones.
        shape, dtype: of the result.
        saved: the result, then the arguments; only what the rule names, None for the rest. None once freed.
        options: arguments by keyword, or None.
        versions: the version of each tensor among the arguments when it was saved.
        out_version: the result's version list and the version saved; None if the result is not saved.
        picks: for parameters that are sequences of operands, the indices of those that have an edge.
        code, lasti: where in the program the operation was called.
    """

    __slots__ = (
        "__weakref__",
        "code",
        "dtype",
        "edges",
        "indices",
        "lasti",
        "more",
        "options",
        "out_version",
        "picks",
        "plan",
        "saved",
        "seq",
        "shape",
        "versions",
    )

    plan: Plan
    edges: tuple[Any, ...]
    indices: tuple[int, ...] | None
    seq: int
    shape: Any
    dtype: Any
    saved: Any
    options: dict[str, Any] | None
    versions: tuple[Any, ...]
    out_version: tuple[Any, Any] | None
    picks: tuple[Any, ...] | None
    code: Any
    lasti: int
    more: Extra | None

    outputs = 1
    multiple = False

    def name(self) -> str:
        """Such as ``MulBackward0``."""
        return self.plan.name

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """A pair (node, which of its results) for each operand; (None, 0) for what has no gradient."""
        indices = self.indices or (0,) * len(self.edges)
        pairs = [(_as_node(e), i) for e, i in zip(self.edges, indices, strict=True)]
        layout = self.plan.operands
        if layout is None:
            return tuple(pairs)
        taken = iter(pairs)
        return tuple(next(taken) if active else (None, 0) for active in layout)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes."""
        return extra(self).data

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> Handle:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node has run; a returned tuple replaces
        `grad_inputs`, the gradients that it passes on."""
        return Handle(extra(self).hooks, hook)

    def register_prehook(self, hook: Callable[[Any], Any]) -> Handle:
        """Call ``hook(grad_outputs)`` before this node runs; a returned tuple replaces `grad_outputs`."""
        return Handle(extra(self).prehooks, hook)

    # -- going backwards ---------------------------------------------------------------------------------

    def apply(self, g: Any, cls: type[Any] | None) -> Sequence[Any]:
        """The gradients of the operands that have an edge, in the order of `edges`.

        Args:
            g: the gradient of the result: an array, or a tensor if `cls` is given.
            cls: the class of tensors to compute with, so that the computation is recorded; None: arrays.

        Raises:
            GraphError: the saved values were freed, or changed in place.
        """
        saved = self.saved
        plan = self.plan
        if saved is None:
            raise GraphError(_FREED.format(name=plan.name))
        out, *arguments = saved
        if self.out_version is not None and self.out_version[0][0] != self.out_version[1]:
            raise self._changed(np.shape(out), self.out_version[0][0], self.out_version[1], "its result")
        if cls is not None or not plan.simple or not isinstance(g, _HOST):
            return self._apply_slowly(g, cls)
        values = []
        for value, version in zip(arguments, self.versions, strict=True):
            if version is None:
                values.append(value)
            elif version_of(value) != version:
                raise self._changed(value._array.shape, version_of(value), version, "an operand")
            else:
                values.append(value._array)
        edges = self.edges
        adjoints: Sequence[Any]
        if g.dtype.kind == "c" and plan.conjugates:
            adjoints = [conj(a) for a in plan.template(conj(g), out, *values)]
        elif plan.safe is not None and not g.all():
            with np.errstate(all="ignore"):
                adjoints = plan.template(g, out, *values)
            if plan.elementwise or all(np.shape(a) == g.shape for a in adjoints):
                adjoints = [np.where(np.equal(g, 0), 0, a) for a in adjoints]
        else:
            adjoints = plan.template(g, out, *values)
        if len(edges) == 1:
            (adjoint,) = adjoints
            (edge,) = edges
            if self.indices is None and adjoint.__class__ is np.ndarray:
                if adjoint.shape == edge.shape and adjoint.dtype is edge.dtype:
                    return (adjoint,)
        return [self._fit(a, i, g) for i, a in enumerate(adjoints)]

    def single(self, g: Any) -> Any:
        """`apply` for the commonest nodes (`Plan.quick`): one active operand, one or two arguments."""
        saved = self.saved
        result = self.out_version
        if saved is None or (result is not None and result[0][0] != result[1]):
            return self.apply(g, None)[0]
        plan = self.plan
        if g.dtype.kind == "c" or (g.__class__ is not _ndarray and not isinstance(g, _HOST)):
            return self.apply(g, None)[0]
        if len(saved) == 2:
            out, a = saved
            (version,) = self.versions
            if version is not None:
                if a._counter != version and version_of(a) != version:
                    return self.apply(g, None)[0]
                a = a._array
            (adjoint,) = plan.template(g, out, a)
        else:
            out, a, b = saved
            version, other = self.versions
            if version is not None:
                if a._counter != version and version_of(a) != version:
                    return self.apply(g, None)[0]
                a = a._array
            if other is not None:
                if b._counter != other and version_of(b) != other:
                    return self.apply(g, None)[0]
                b = b._array
            (adjoint,) = plan.template(g, out, a, b)
        (edge,) = self.edges
        if adjoint.__class__ is _ndarray and adjoint.shape == edge.shape and adjoint.dtype is edge.dtype:
            return adjoint
        return self._fit(adjoint, 0, g)

    def _fit(self, adjoint: Any, i: int, g: Any) -> Any:
        """An adjoint in the shape and dtype of what edge `i` leads to; numbers join `g` on its device."""
        if adjoint is None:
            return None
        shape, dtype = self._meta(i)
        if getattr(adjoint, "shape", None) == shape and adjoint.dtype == dtype:
            return adjoint
        like = Spec(shape, dtype).hollow()
        adjoint = (unbroadcast if self.plan.elementwise else real_if_real)(adjoint, like)
        if not hasattr(adjoint, "dtype"):
            adjoint = np.full_like(g, adjoint, dtype=dtype, shape=shape)
        if adjoint.shape != shape:
            raise ShapeError(
                f"{self.name()}: a gradient of shape {adjoint.shape} for an operand of shape {shape}"
            )
        return adjoint

    def _meta(self, i: int) -> tuple[Any, Any]:
        edge = self.edges[i]
        if isinstance(edge, MultiNode):
            index = 0 if self.indices is None else self.indices[i]
            return edge.shape[index], edge.dtype[index]
        return edge.shape, edge.dtype

    def _apply_slowly(self, g: Any, cls: type[Any] | None) -> Sequence[Any]:
        """`apply` for nested arguments and options, and for computing with tensors."""
        plan = self.plan
        out, *arguments = self.saved
        options = self.options
        found = iter(self.versions)

        if plan.simple:
            found = iter([v for v in self.versions if v is not None])
        values = [self._value(value, found, cls) for value in arguments]
        like = next(part for part in g if part is not None) if self.multiple else g
        template = plan.template
        if isinstance(out, Packed):
            out = out.value()._array
        if cls is not None:
            template = plan.recorded_template()
            out = self._result_again(out, cls)
        elif not isinstance(like, _HOST):
            template = plan.device_template(like)
        around = conj if plan.conjugates else _same
        g = around(tuple(g) if self.multiple else g)
        if plan.safe is not None and not self.multiple:
            values, out = self._steered(g, out, values, options or {})
        named = {name: self._value(value, found, cls) for name, value in (options or {}).items()}
        adjoints = template(g, out, *values, **named)
        flat: list[Any] = []
        for k, adjoint in enumerate(adjoints):
            pick = None if self.picks is None else self.picks[k]
            if pick is None:
                flat.append(adjoint)
            else:
                flat.extend(functools.reduce(operator.getitem, path, adjoint) for path in pick)
        fitted = []
        for i, adjoint in enumerate(flat):
            adjoint = self._fit(None if adjoint is None else around(adjoint), i, like)
            if cls is not None and adjoint is not None and not isinstance(adjoint, TensorBase):
                adjoint = make(cls, adjoint)
            fitted.append(adjoint)
        return fitted

    def _value(self, value: Any, versions: Iterator[Any], cls: type[Any] | None) -> Any:
        """A saved argument as the template takes it; tensors are checked against their versions."""
        if isinstance(value, TensorBase):
            version = next(versions)
            if version is not None and version_of(value) != version:
                raise self._changed(np.shape(value._array), version_of(value), version, "an operand")
            return value if cls is not None else value._array
        if isinstance(value, Spec):
            return value.hollow()
        if isinstance(value, Packed):
            next(versions)
            return value.value() if cls is not None else value.value()._array
        if isinstance(value, list | tuple) and type(value) in (list, tuple):
            return type(value)([self._value(v, versions, cls) for v in value])
        return value

    def _steered(self, g: Any, out: Any, values: list[Any], options: dict[str, Any]) -> tuple[list[Any], Any]:
        """`values` and `out` with harmless numbers where a zero gradient meets an infinite derivative.

        Only there: a zero is not always one by structure, and its derivative in `g` is to stay right.
        """
        raw = g._array if isinstance(g, TensorBase) else g
        if raw.all():
            return values, out
        plain = [v._array if isinstance(v, TensorBase) else v for v in (out, *values)]
        with np.errstate(all="ignore"):
            adjoints = self.plan.template(raw, *plain, **options)
        if not self.plan.elementwise and any(np.shape(a) != raw.shape for a in adjoints):
            return values, out
        mask = np.equal(raw, 0)
        finite = np.isfinite(adjoints[0])
        for adjoint in adjoints[1:]:
            finite = finite & np.isfinite(adjoint)
        mask = mask & ~finite
        if not mask.any():
            return values, out
        safe = self.plan.safe
        if out is not None:
            out = np.where(mask, self.plan.function(*(np.asarray(safe, raw.dtype) for _ in values)), out)
        return [_steer(value, mask, safe) for value in values], out

    def _result_again(self, out: Any, cls: type[Any]) -> Any:
        """The saved result as the tensor that it was, so that derivatives reach it too."""
        if out is None:
            return None
        if self.multiple:
            parts = [self._one_again(part, i, cls) for i, part in enumerate(out)]
            return type(out)(*parts) if hasattr(out, "_fields") else type(out)(parts)
        return self._one_again(out, 0, cls)

    def _one_again(self, array: Any, index: int, cls: type[Any]) -> Any:
        if not hasattr(array, "dtype"):
            return array
        tensor = make(cls, array)
        if array.dtype.kind in "fc":
            tensor._node, tensor._nr, tensor._requires = self, index, True
        return tensor

    def release(self) -> None:
        """Let go of the saved values, unless there are none: then the node can run again."""
        plan = self.plan
        if plan.saves or (plan.needs and (_holds_arrays(self.saved) or _holds_arrays(self.options))):
            self.saved = self.options = None

    def _changed(self, shape: Any, found: int, expected: int, what: str) -> GraphError:
        return GraphError(
            f"{self.name()} needs {what}, of shape {tuple(shape)}, as it was, but it has been changed in "
            f"place: it is at version {found}, expected version {expected}. Change a copy instead (clone())"
        )


class MultiNode(Node):
    """A node with several results: `shape` and `dtype` are tuples, one entry a result."""

    __slots__ = ()
    multiple = True

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return len(self.shape)


class AccumulateGrad:
    """The end of the graph at a leaf: what adds to ``variable.grad``."""

    __slots__ = ("__weakref__", "variable")

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    next_functions: tuple[()] = ()

    def name(self) -> str:
        """``AccumulateGrad``."""
        return "AccumulateGrad"

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self):#x}>"

    def register_prehook(self, hook: Callable[[Any], Any]) -> Handle:
        """Call ``hook((gradient,))`` before it is added; a returned tuple replaces it."""

        def on_tensor(g: Any) -> Any:
            result = hook((g,))
            return None if result is None else result[0]

        return Handle(rare(self.variable).hooks, on_tensor)

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> Handle:
        """Call ``hook((), (gradient,))`` after the gradient has been added."""
        return Handle(rare(self.variable).post_hooks, lambda variable: hook((), (variable.grad,)))


def _same(value: Any) -> Any:
    return value


def _holds_arrays(value: Any) -> bool:
    """Whether saved values that are no operands (indices, conditions) take memory."""
    if isinstance(value, list | tuple):
        return any(_holds_arrays(part) for part in value)
    if isinstance(value, dict):
        return any(_holds_arrays(part) for part in value.values())
    return (hasattr(value, "nbytes") and any(getattr(value, "strides", ()))) or isinstance(
        value, TensorBase | Packed
    )


def _steer(value: Any, mask: Any, safe: Any) -> Any:
    """`value` with a harmless number wherever the gradient is zero."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None:
        return np.where(mask, safe, value) if isinstance(value, float | int | complex) else value
    return (
        np.where(mask, np.asarray(safe, value.dtype), value) if kind in "fc" else np.where(mask, safe, value)
    )


def _as_node(edge: Any) -> Any:
    return edge if isinstance(edge, Node) else accumulator(edge)


def accumulator(leaf: TensorBase) -> AccumulateGrad:
    """The `AccumulateGrad` of a leaf: the same object for as long as someone holds it."""
    extras = rare(leaf)
    found: AccumulateGrad | None = extras.accumulator() if extras.accumulator is not None else None
    if found is None:
        found = AccumulateGrad(leaf)
        extras.accumulator = weakref.ref(found)
    return found


def placed(tensor: TensorBase, node: Node, index: int) -> None:
    """Make `tensor` a result of `node` from now on; a `.grad` that is kept for it moves along."""
    old = tensor._node
    if old is not None and tensor._rare is not None and tensor._rare.retains:
        retained = extra(old).retained
        mine = retained.get(tensor._nr)
        if mine is not None and mine() is tensor:
            extra(node).retained[index] = retained.pop(tensor._nr)
    tensor._node, tensor._nr, tensor._requires = node, index, True


def extra(node: Node) -> Extra:
    """The `Extra` of a node, made where it has none."""
    if node.more is None:
        node.more = Extra()
    return node.more


# -- the engine ------------------------------------------------------------------------------------------

_adding = threading.Lock()  # gradients of leaves that several threads share


class Wanted:
    """The tensors whose gradients a sweep is to find, and the nodes that lead to them."""

    def __init__(self, tensors: Sequence[TensorBase], roots: Iterable[Any]) -> None:
        self.tensors = tensors
        self.leaves = {id(t) for t in tensors if t._node is None}
        self.results: dict[tuple[int, int], Any] = {}
        self.places = {(id(t._node), t._nr): t for t in tensors if t._node is not None}
        self.stops = {id(t._node) for t in tensors if t._node is not None}
        self.run: set[int] = set()
        self.roots = {id(root) for root in roots}
        self._mark(roots)

    def _mark(self, roots: Iterable[Any]) -> None:
        """Find the nodes to run: those from which a wanted tensor can be reached."""
        seen: dict[int, Node] = {}
        waiting = [root for root in roots if isinstance(root, Node)]
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen[id(node)] = node
                waiting.extend(edge for edge in node.edges if isinstance(edge, Node))
        for node in sorted(seen.values(), key=lambda node: node.seq):
            for edge in node.edges:
                if id(edge) in self.run or id(edge) in self.stops or id(edge) in self.leaves:
                    self.run.add(id(node))
                    break

    def takes(self, target: Any) -> bool:
        """Whether a gradient is sent here; a root sees its own, whatever it leads to, for its hooks."""
        return any(id(target) in places for places in (self.roots, self.run, self.stops, self.leaves))


def sweep(
    roots: Sequence[tuple[Any, int, Any]],
    cls: type[Any],
    *,
    wanted: Wanted | None = None,
    accumulate: bool = True,
    keep: bool = False,
    graph: bool = False,
) -> dict[tuple[int, int], Any]:
    """Send gradients from `roots` to where they end.

    Args:
        roots: (node or leaf, which result, gradient).
        cls: the class of tensors.
        wanted: only what leads to these tensors is run; None: everything, to every leaf.
        accumulate: add what arrives at leaves (and at wanted tensors) to their ``.grad``.
        keep: keep saved values.
        graph: record the computation; gradients are tensors, otherwise arrays.

    Returns:
        The gradients of the wanted tensors, by (id of node or leaf, which result).

    Nothing is written to any ``.grad`` unless the whole sweep has succeeded.
    """
    pending: dict[Node, Any] = {}
    heap: list[tuple[int, Node]] = []
    leaves: dict[int, list[Any]] = {}
    results: dict[tuple[int, int], Any] = {}
    writes: list[tuple[TensorBase, Any]] = []
    tensor_class = cls if graph else None
    checking = state.anomaly and state.check_nan

    def deliver(target: Any, index: int, value: Any) -> None:
        if wanted is not None and not wanted.takes(target):
            return
        if not isinstance(target, Node):
            entry = leaves.get(id(target))
            if entry is None:
                leaves[id(target)] = [target, value, False]
            elif entry[2]:
                np.add(entry[1], value, out=entry[1])
            else:
                entry[1] = total = entry[1] + value
                entry[2] = not graph and isinstance(total, np.ndarray)
            return
        waiting = pending.get(target)
        if waiting is None:
            if target.multiple:
                value = [value if i == index else None for i in range(target.outputs)]
            pending[target] = value
            heapq.heappush(heap, (-target.seq, target))
        elif target.multiple:
            old = waiting[index]
            waiting[index] = value if old is None else old + value
        else:
            pending[target] = waiting + value

    for target, index, value in roots:
        deliver(target, index, value)
    del roots
    value = None
    quickly = wanted is None and not graph and not checking
    node: Any = None
    while node is not None or heap:
        if node is None:
            node = heapq.heappop(heap)[1]
            g = pending.pop(node)
        more = node.more
        if quickly and more is None and node.plan.quick and node.indices is None:
            value = node.single(g)
            if not keep:
                if node.plan.saves:
                    node.saved = None
                elif node.plan.needs:
                    node.release()
            (target,) = node.edges
            if target.__class__ is Node and not heap:  # nothing else waits: go on along the chain
                node, g = target, value
                continue
            node = g = None
            deliver(target, 0, value)
            value = None
            continue
        if more is not None:
            g = _before(node, more, g, cls, graph, writes)
        if wanted is not None:
            if id(node) in wanted.stops:
                _capture(node, g, wanted, results)
            if id(node) not in wanted.run:
                node = None
                continue
        try:
            gradients = node.apply(g, tensor_class)
        except Exception as error:
            if more is not None and more.trace is not None:
                _explain(node, error, more)
            raise
        if checking:
            _check_nan(node, gradients)
        if more is not None and more.hooks:
            gradients = _after(node, more, gradients, g, cls, graph)
        if not keep:
            node.release()
        indices = node.indices
        if indices is None and wanted is None:
            for target, value in zip(node.edges, gradients, strict=True):
                if value is None:
                    continue
                if target.__class__ is Node and target not in pending:
                    pending[target] = value
                    heapq.heappush(heap, (-target.seq, target))
                else:
                    deliver(target, 0, value)
        else:
            for k, (target, value) in enumerate(zip(node.edges, gradients, strict=True)):
                if value is not None:
                    deliver(target, 0 if indices is None else indices[k], value)
        node = g = gradients = value = None
    return _finish(leaves, results, writes, wanted, cls, accumulate, graph)


def _as_tensor(value: Any, cls: type[Any]) -> Any:
    if value is None or isinstance(value, TensorBase):
        return value
    return make(cls, np.asarray(value) if isinstance(value, np.generic) else value)


def _hooked(
    hooks: Iterable[Callable[[Any], Any]], value: Any, cls: type[Any], graph: bool, where: str
) -> Any:
    """`value` after the hooks of a tensor; each may replace it."""
    tensor = _as_tensor(value, cls)
    for hook in list(hooks):
        result = hook(tensor)
        if result is None:
            continue
        if not isinstance(result, TensorBase):
            raise GraphError(f"a hook of {where} returned {type(result).__name__}, expected a Tensor or None")
        if np.shape(result._array) != np.shape(tensor._array):
            raise ShapeError(
                f"a hook of {where} changed the shape of its gradient from {np.shape(tensor._array)} "
                f"to {np.shape(result._array)}"
            )
        tensor = result
    return tensor if graph else tensor._array


def _before(node: Node, more: Extra, g: Any, cls: type[Any], graph: bool, writes: list[Any]) -> Any:
    """Hooks of the results, then those waiting for a gradient, then hooks of the node."""
    many = node.multiple
    parts = list(g) if many else [g]
    for index, hooks in more.tensor_hooks.items():
        if hooks and parts[index] is not None:
            parts[index] = _hooked(hooks.values(), parts[index], cls, graph, f"the result of {node.name()}")
    for index, reference in more.retained.items():
        tensor = reference()
        if tensor is not None and parts[index] is not None:
            writes.append((tensor, parts[index]))
    for prehook in list(more.prehooks.values()):
        returned = prehook(tuple(_as_tensor(part, cls) for part in parts))
        if returned is not None:
            returned = returned if isinstance(returned, tuple) else (returned,)
            parts = [p if graph or p is None else p._array for p in returned]
    return parts if many else parts[0]


def _after(node: Node, more: Extra, gradients: Any, g: Any, cls: type[Any], graph: bool) -> Any:
    outs = tuple(_as_tensor(part, cls) for part in (g if node.multiple else [g]))
    ins = tuple(_as_tensor(value, cls) for value in gradients)
    for hook in list(more.hooks.values()):
        returned = hook(ins, outs)
        if returned is not None:
            returned = returned if isinstance(returned, tuple) else (returned,)
            if len(returned) != len(ins):
                raise GraphError(
                    f"a hook of {node.name()} returned {len(returned)} gradients, expected {len(ins)}"
                )
            ins = returned
    return [value if graph or value is None else value._array for value in ins]


def _capture(node: Node, g: Any, wanted: Wanted, results: dict[tuple[int, int], Any]) -> None:
    parts = g if node.multiple else [g]
    for index, part in enumerate(parts):
        if part is not None and (id(node), index) in wanted.places:
            results[id(node), index] = part


def _explain(node: Node, error: BaseException, more: Extra) -> None:
    """Add to an error where in the forward pass the node was made."""
    assert more.trace is not None
    error.add_note(
        f"{node.name()} was recorded here (most recent call last):\n" + "".join(more.trace.format())
    )


def _check_nan(node: Node, gradients: Sequence[Any]) -> None:
    for i, value in enumerate(gradients):
        array = value._array if isinstance(value, TensorBase) else value
        if array is not None and bool(np.isnan(array).any()):
            error = GraphError(f"{node.name()} gave nan in its gradient {i}, where none came in")
            if node.more is not None and node.more.trace is not None:
                _explain(node, error, node.more)
            raise error


# -- the ends ----------------------------------------------------------------------------------------------


def _finish(
    leaves: dict[int, list[Any]],
    results: dict[tuple[int, int], Any],
    writes: list[tuple[TensorBase, Any]],
    wanted: Wanted | None,
    cls: type[Any],
    accumulate: bool,
    graph: bool,
) -> dict[tuple[int, int], Any]:
    """Run the hooks of leaves, then add every gradient to its ``.grad``: all, or on an error none."""
    arrived: list[tuple[TensorBase, Any]] = []
    for entry in leaves.values():
        leaf = entry[0]
        if leaf._node is not None:
            raise GraphError(
                f"a leaf of shape {np.shape(leaf._array)} has been changed in place since it was used here: "
                "it is part of the graph now, and has no .grad to add to"
            )
        if leaf._rare is not None and leaf._rare.hooks:
            entry[1] = _hooked(leaf._rare.hooks.values(), entry[1], cls, graph, "a leaf")
        results[id(leaf), 0] = entry[1]
    if accumulate:
        if wanted is None:
            arrived = [(entry[0], entry[1]) for entry in leaves.values() if entry[0]._requires]
        else:
            for tensor in wanted.tensors:
                place = (id(tensor), 0) if tensor._node is None else (id(tensor._node), tensor._nr)
                if place in results and not any(tensor is done for done, _ in arrived):
                    arrived.append((tensor, results[place]))
    kept = {id(tensor) for tensor, _ in arrived}
    arrived += [(tensor, value) for tensor, value in writes if id(tensor) not in kept]
    results = {} if wanted is None else results
    leaves.clear()
    writes.clear()
    entry = []
    while arrived:
        leaf, value = arrived.pop(0)
        _store(leaf, value, cls, graph, sole=not results)
        del value
        if leaf._rare is not None and leaf._rare.post_hooks:
            for hook in list(leaf._rare.post_hooks.values()):
                hook(leaf)
    return results


def _store(leaf: TensorBase, value: Any, cls: type[Any], graph: bool, sole: bool) -> None:
    """Add a gradient to ``leaf.grad``; what is stored shares no memory with anything else."""
    with _adding:
        extras = rare(leaf)
        old = extras.grad
        if old is None:
            if graph:
                extras.grad = value.clone()
            else:
                extras.grad = make(cls, value if sole and _unshared(value) else value.copy())
                if isinstance(extras.grad._array, np.generic):
                    extras.grad._array = np.array(extras.grad._array)
        elif graph:
            extras.grad = old + value
        elif old._requires:
            extras.grad = make(cls, old._array + value)
        else:
            array = old._array
            if isinstance(array, np.generic):
                old._array = array = np.array(array)
            np.add(array, value, out=array)
            changed(old)


def _unshared(value: Any) -> bool:
    """Whether `_store`'s caller holds the only reference to an array that owns its memory."""
    return (
        type(value) is np.ndarray
        and value.base is None
        and _references is not None
        and sys.getrefcount(value) <= _references
    )


def _count(value: Any, *rest: Any) -> int:
    return _count_again(value)


def _count_again(value: Any) -> int:
    return sys.getrefcount(value)


def _calibrate() -> int | None:
    """How many references `_unshared` counts for an array that nobody else holds, or None if an owner more
    makes no difference (then gradients are always copied)."""
    waiting = [(0, np.zeros(1))]
    _, value = waiting.pop(0)
    alone = _count(value, 0)
    other = value
    shared = _count(value, 0)
    del other
    return alone if shared == alone + 1 else None


_references = _calibrate()
