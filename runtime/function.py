"""`Function`: an operation with a backward of the user's own.

In: a class with two static methods. Out: `apply`, which runs `forward` unrecorded and records one node whose
backward is `backward`.

    >>> from adjoin.runtime import tensor
    >>> class Cube(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad_output
    >>> x = tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .base import Packed, TensorBase, changed, make, shared_counter, version_of
from .errors import DtypeError, GraphError, ShapeError
from .graph import MultiNode, Node, next_number, placed
from .modes import enable_grad, no_grad, state
from .plans import Plan
from .record import mark_place
from .support import unbroadcast

__all__ = ["Function", "once_differentiable"]


class Context:
    """What `forward` leaves for `backward`; any attribute may be set on it.

    Attributes:
        needs_input_grad: for each argument of `apply`, whether its gradient is wanted.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] | None = ()
        self._versions: tuple[int | None, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._constant: tuple[Any, ...] = ()
        self._materialize = True
        self._name = ""
        self._node: Any = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None): checked against later changes in place, and freed after backward."""
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, TensorBase):
                raise DtypeError(
                    f"save_for_backward takes tensors and None; argument {i} is a {type(tensor).__name__}"
                )
        self._saved = tensors
        self._versions = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept.

        Raises:
            GraphError: it was freed, or changed in place.
        """
        if self._saved is None:
            raise GraphError(
                f"backward through {self._name} a second time: its saved values have been freed. Pass "
                "retain_graph=True to the first backward() or grad() if the graph is needed again"
            )
        found = []
        for tensor, version in zip(self._saved, self._versions or (None,) * len(self._saved), strict=True):
            if isinstance(tensor, Packed):
                tensor = tensor.value()
            elif tensor is not None and version is not None and version_of(tensor) != version:
                raise GraphError(
                    f"{self._name} needs a saved tensor of shape {tensor.shape} as it was, but it has been "
                    f"changed in place: it is at version {version_of(tensor)}, expected version {version}"
                )
            found.append(tensor)
        return tuple(found)

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which arguments `forward` changed in place (and returns)."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which results have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for a result that was not used."""
        self._materialize = value

    def _keep(self, results: Sequence[Any]) -> None:
        """Fix what was saved, once `forward` is over: results are kept without the node, which holds this."""
        kept: list[Any] = []
        versions: list[int | None] = []
        for tensor in self._saved or ():
            version = None
            if tensor is not None:
                if tensor._counter is None and state.grad:
                    raise GraphError(f"{self._name} cannot save an inference tensor for backward; clone() it")
                if any(tensor is result for result in results):
                    plain = make(type(tensor), tensor._array)
                    plain._counter = shared_counter(tensor)
                    tensor = _Result(plain, next(i for i, r in enumerate(results) if r is tensor))
                elif state.saving is not None:
                    tensor = Packed(tensor, state.saving)
                if not isinstance(tensor, Packed | _Result):
                    version = version_of(tensor)
            kept.append(tensor)
            versions.append(version)
        self._saved, self._versions = tuple(kept), tuple(versions)


class _Result(Packed):
    """A result that was saved: made a result of the node again when it is read."""

    __slots__ = ("index", "node_of", "plain", "version")

    def __init__(self, plain: Any, index: int) -> None:
        self.plain = plain
        self.index = index
        self.version = version_of(plain)
        self.node_of: Callable[[], Any] = lambda: None

    def value(self) -> Any:
        if version_of(self.plain) != self.version:
            raise GraphError(
                f"a saved result of shape {self.plain.shape} has been changed in place: it is at version "
                f"{version_of(self.plain)}, expected version {self.version}"
            )
        again = make(type(self.plain), self.plain._array)
        again._counter = shared_counter(self.plain)
        node = self.node_of()
        if node is not None and again._array.dtype.kind in "fc":
            again._node, again._nr, again._requires = node, self.index, True
        return again


class Function:
    """Subclass it with static `forward` and `backward`; call `apply`.

    ``forward(ctx, *args, **kwargs)`` gets and returns tensors (one, or a tuple); with a separate static
    ``setup_context(ctx, inputs, output)``, it is ``forward(*args)``. ``backward(ctx, *gradients)`` returns a
    gradient, or None, for each positional argument of `apply`.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """To be overridden."""
        raise NotImplementedError("a Function needs a static forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """To be overridden."""
        raise NotImplementedError("a Function needs a static backward(ctx, ...)")

    vjp = backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` on the arguments and record the node."""
        tensors = [a for a in args if isinstance(a, TensorBase)]
        needs = tuple(_wants(a) for a in args)
        ctx = Context(needs)
        ctx._name = f"{cls.__name__}Backward"
        before = [(t._node, t._nr, t._requires) for t in tensors]
        recorded = state.grad and any(needs)
        with no_grad():
            if "setup_context" in dir(cls):
                returned = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, returned)  # type: ignore[attr-defined]
            else:
                returned = cls.forward(ctx, *args, **kwargs)
        single = not isinstance(returned, tuple | list)
        results = [returned] if single else list(returned)
        for i, result in enumerate(results):
            if not isinstance(result, TensorBase) and (single or result is not None):
                if single or hasattr(result, "dtype"):
                    raise DtypeError(
                        f"{cls.__name__}.forward returned {type(result).__name__} as result {i}, not a Tensor"
                    )
        results = [_fresh(r, tensors, ctx) for r in results]
        if recorded:
            _attach(cls, ctx, args, needs, before, tensors, results)
        else:
            ctx._saved = ()
        return results[0] if single else type(returned)(results)


def _wants(value: Any) -> bool:
    return isinstance(value, TensorBase) and bool(value.requires_grad)  # type: ignore[attr-defined]


def _fresh(result: Any, tensors: Sequence[Any], ctx: Context) -> Any:
    """A result that is an argument, unchanged, becomes a tensor of its own."""
    if any(result is t for t in tensors) and not any(result is d for d in ctx._dirty):
        alias = make(type(result), result._array)
        alias._counter = shared_counter(result)
        return alias
    return result


def _attach(
    cls: type[Function],
    ctx: Context,
    args: Sequence[Any],
    needs: Sequence[bool],
    before: Sequence[tuple[Any, int, bool]],
    tensors: Sequence[Any],
    results: Sequence[Any],
) -> None:
    """Make the node of one call of a Function, and attach the results to it."""
    for dirty in ctx._dirty:
        if dirty._requires and dirty._node is None:
            raise GraphError(
                f"{cls.__name__}: a leaf that requires grad cannot be changed in place (mark_dirty)"
            )
        if not any(dirty is r for r in results):
            raise GraphError(f"{cls.__name__}: a tensor given to mark_dirty must be among the results")
    arrays: list[Any] = [r._array if isinstance(r, TensorBase) else None for r in results]
    node: Any = FunctionNode() if len(results) == 1 else FunctionMultiNode()
    index = {id(t): place for t, place in zip(tensors, before, strict=True)}
    leads = [(a, *index[id(a)]) for a, need in zip(args, needs, strict=True) if need]
    node.function, node.ctx = cls, ctx
    key: Any = cls
    node.plan = _plan(key, tuple(needs))
    node.edges = tuple(t if made is None else made for t, made, _, _ in leads)
    node.indices = tuple(nr for _, _, nr, _ in leads)
    node.metas = tuple((np.shape(t._array), t._array.dtype) for t, _, _, _ in leads)
    node.seq = next_number()
    node.shape = tuple(np.shape(a) for a in arrays) if len(arrays) > 1 else np.shape(arrays[0])
    node.dtype = tuple(getattr(a, "dtype", None) for a in arrays) if len(arrays) > 1 else arrays[0].dtype
    node.saved, node.versions, node.out_version, node.picks, node.more = (), (), None, None, None
    for dirty in ctx._dirty:
        changed(dirty)
    ctx._keep(results)
    reference: Callable[[], Any] = weakref.ref(node)
    for saved in ctx._saved or ():
        if isinstance(saved, _Result):
            saved.node_of = reference
    mark_place(node)
    for i, result in enumerate(results):
        if isinstance(result, TensorBase) and result._array.dtype.kind in "fc":
            if not any(result is constant for constant in ctx._constant):
                placed(result, node, i)


def _plan(cls: Any, needs: tuple[bool, ...]) -> Plan:
    plans: dict[tuple[bool, ...], Plan] = cls.__dict__.get("_plans") or {}
    if not plans:
        cls._plans = plans  # on the class, so that a class made within a function is let go with its plans
    if needs not in plans:
        plan = plans[needs] = Plan.__new__(Plan)
        plan.name = f"{cls.__name__}Backward"
        plan.saves = True
        plan.quick = False
        plan.operands = None if all(needs) else needs
    return plans[needs]


class FunctionNode(Node):
    """The node of a `Function`; `ctx` is what its forward left."""

    __slots__ = ("ctx", "function", "metas")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ctx, name)

    def apply(self, g: Any, cls: type[Any] | None) -> Sequence[Any]:
        from .tensors import Tensor

        ctx = self.ctx
        parts = g if isinstance(g, list) else [g]
        shapes = self.shape if isinstance(g, list) else [self.shape]
        dtypes = self.dtype if isinstance(g, list) else [self.dtype]
        gradients: list[Any] = []
        for part, shape, dtype in zip(parts, shapes, dtypes, strict=True):
            if part is None and ctx._materialize and dtype is not None:
                part = np.zeros(shape, dtype)
            if part is not None and not isinstance(part, TensorBase):
                part = make(Tensor, part)
            gradients.append(part)
        returned = _backward_of(self.function)(ctx, *gradients)
        returned = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
        return self._checked(returned, cls)

    def _checked(self, returned: tuple[Any, ...], cls: type[Any] | None) -> list[Any]:
        """The gradients of the arguments with an edge, checked."""
        name, needs = self.name(), self.ctx.needs_input_grad
        extra = returned[len(needs) :]
        if len(returned) < len(needs) or any(value is not None for value in extra):
            raise GraphError(
                f"{name} returned {len(returned)} gradients, expected {len(needs)}, one an argument"
            )
        found: list[Any] = []
        for i, (value, need) in enumerate(zip(returned, needs, strict=False)):
            if not need:
                continue
            if value is None:
                found.append(None)
                continue
            if not isinstance(value, TensorBase):
                raise DtypeError(
                    f"{name} returned {type(value).__name__} as gradient {i}; expected a Tensor or None"
                )
            shape, dtype = self.metas[len(found)]
            if np.shape(value._array) != shape:
                value = self._summed(value, shape, i)
            if value._array.dtype != dtype:
                if value._array.dtype.kind == "c" and dtype.kind != "c":
                    value = value.real
                value = value.astype(dtype)
            found.append(value if cls is not None else value._array)
        return found

    def _summed(self, value: Any, shape: tuple[int, ...], i: int) -> Any:
        """A gradient that was broadcast, summed to its argument's shape; anything else is refused."""
        given = np.shape(value._array)
        try:
            fits = np.broadcast_shapes(given, shape) == given
        except ValueError:
            fits = False
        if not fits:
            raise ShapeError(f"{self.name()} returned gradient {i} of shape {given}, expected {shape}")
        like = np.broadcast_to(np.zeros((), value._array.dtype), shape)
        return unbroadcast(value, like)

    def release(self) -> None:
        self.ctx._saved = None


class FunctionMultiNode(FunctionNode, MultiNode):
    """The node of a `Function` with several results."""

    __slots__ = ()


def _backward_of(function: type[Function]) -> Callable[..., Any]:
    if function.vjp is not Function.vjp:
        return function.vjp
    return function.backward


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for a `backward` whose own derivative would be wrong: it is refused, not recorded."""

    @functools.wraps(backward)
    def run(ctx: Any, *gradients: Any) -> Any:
        recorded = state.grad
        with no_grad():
            returned = backward(ctx, *gradients)
        if not recorded:
            return returned
        values = returned if isinstance(returned, tuple) else (returned,)
        with enable_grad():
            refused = [None if v is None else _Refusal.apply(v.detach().requires_grad_()) for v in values]
        return tuple(refused) if isinstance(returned, tuple) else refused[0]

    return run


class _Refusal(Function):
    @staticmethod
    def forward(ctx: Any, value: Any) -> Any:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise GraphError("this backward was marked once_differentiable: it has no derivative")
