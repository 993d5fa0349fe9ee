"""`backward` and `grad`: the two ways to ask for gradients, and the namespace `autograd`.

In: tensors, and the gradients of what follows them. Out: `.grad` at the leaves (`backward`), or a tuple of
gradients (`grad`). Everything is checked before anything runs.

    >>> from adjoin.runtime import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> (g,) = grad(x**3, x, create_graph=True)
    >>> grad(g, x)
    (tensor(18.),)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import functional as functional
from . import graph_tools as graph
from .anomaly import detect_anomaly as detect_anomaly
from .anomaly import set_detect_anomaly as set_detect_anomaly
from .base import TensorBase, make
from .checkpointing import checkpoint as checkpoint
from .errors import DtypeError, GraphError, ShapeError
from .function import Function as Function
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .graph import Node, Wanted, sweep
from .modes import enable_grad as enable_grad
from .modes import inference_mode as inference_mode
from .modes import no_grad as no_grad
from .modes import set_grad_enabled as set_grad_enabled
from .modes import state

__all__ = [
    "Function",
    "backward",
    "checkpoint",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves that they were made from.

    Args:
        tensors: a tensor, or a sequence of them: the roots. The same one twice counts twice.
        grad_tensors: for each root the gradient of what follows it, of exactly its shape; None for a root
            with one real element means 1. For one root, may be given without a sequence.
        retain_graph: keep the saved values, so that the graph can be used again; default: `create_graph`.
        create_graph: record the computation of the gradients.
        grad_variables: the old name of `grad_tensors`.
        inputs: the tensors to accumulate into; default: all leaves.

    Raises:
        GraphError: a root has no graph, or more than one element and no gradient; saved values were freed or
            changed; an empty `inputs`.
        ShapeError, DtypeError: a gradient that does not fit its root.

    >>> from adjoin.runtime import tensor
    >>> x = tensor([1.0, 2.0], requires_grad=True)
    >>> backward([x * 2, x * x], [tensor([1.0, 1.0]), tensor([1.0, 10.0])])
    >>> x.grad
    tensor([ 4., 42.])
    """
    if grad_variables is not None:
        warnings.warn("grad_variables is deprecated: use grad_tensors", DeprecationWarning, stacklevel=2)
        if grad_tensors is not None:
            raise GraphError("both grad_tensors and grad_variables were given; use only grad_tensors")
        grad_tensors = grad_variables
    roots = _sequence(tensors)
    if inputs is not None:
        inputs = _sequence(inputs)
        if not inputs:
            raise GraphError("inputs is empty: give at least one tensor, or None for all leaves")
        for i, tensor in enumerate(inputs):
            if not tensor.requires_grad:
                raise GraphError(f"element {i} of inputs does not require grad")
    if not roots:
        return
    seeds = _seeds(roots, grad_tensors, "grad_tensors", create_graph)
    if create_graph:
        warnings.warn(
            "backward() with create_graph=True makes .grad refer to the graph, and that to the leaf: "
            "use grad(), or set .grad to None afterwards, to free the memory",
            UserWarning,
            stacklevel=3 if isinstance(tensors, TensorBase) else 2,
        )
    places = [_place(root) for root in roots]
    wanted = None if inputs is None else Wanted(inputs, [place[0] for place in places])
    for tensor in inputs or ():
        tensor.retain_grad()  # of a non-leaf: does nothing to a leaf
    _run(places, seeds, type(roots[0]), wanted, True, retain_graph, create_graph)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs` in `inputs`; no `.grad` changes.

    Args:
        outputs: a tensor or a sequence of them.
        inputs: a tensor or a sequence; leaves or not.
        grad_outputs: as `grad_tensors` of `backward`.
        retain_graph, create_graph: as in `backward`.
        allow_unused: give None for an input that was not used, instead of an error.
        is_grads_batched: the first dimension of each of `grad_outputs` counts gradients; that of each result
            does too: with the rows of an identity, a Jacobian.
        materialize_grads: give zeros instead of None.

    Returns:
        One tensor (or None) an input.

    >>> from adjoin.runtime import tensor
    >>> x, y = tensor(2.0, requires_grad=True), tensor(3.0, requires_grad=True)
    >>> grad(x * y, (x, y))
    (tensor(3.), tensor(2.))
    """
    roots, variables = _sequence(outputs), _sequence(inputs)
    if not variables:
        raise GraphError("grad() needs at least one input")
    if allow_unused is False and materialize_grads:
        raise GraphError("materialize_grads gives zeros for unused inputs, which allow_unused=False forbids")
    for i, variable in enumerate(variables):
        if not isinstance(variable, TensorBase):
            raise DtypeError(f"input {i} is a {type(variable).__name__}, not a Tensor")
        if not variable.requires_grad:  # type: ignore[attr-defined]
            raise GraphError(f"input {i} does not require grad")
    if is_grads_batched:
        return _batched(
            roots, variables, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
        )
    seeds = _seeds(roots, grad_outputs, "grad_outputs", create_graph)
    places = [_place(root) for root in roots]
    wanted = Wanted(variables, [place[0] for place in places])
    results = _run(places, seeds, type(roots[0]), wanted, False, retain_graph, create_graph)
    found: list[Any] = []
    for i, variable in enumerate(variables):
        place = (id(variable), 0) if variable._node is None else (id(variable._node), variable._nr)
        value = results.get(place)
        if value is None:
            if materialize_grads:
                found.append(make(type(variable), np.zeros_like(variable._array)))
                continue
            if not allow_unused:
                raise GraphError(
                    f"input {i} was not used in the graph of the outputs; "
                    "pass allow_unused=True to get None for it"
                )
        elif not isinstance(value, TensorBase):
            value = make(type(variable), _own(value, results, found))
        found.append(value)
    return tuple(found)


def _own(value: Any, results: dict[Any, Any], found: list[Any]) -> Any:
    """A gradient as an array that shares no memory with anything else."""
    return value if isinstance(value, np.generic) else value.copy()


def _sequence(values: Any) -> list[Any]:
    if isinstance(values, TensorBase):
        return [values]
    if isinstance(values, Node):
        raise DtypeError("expected a Tensor, not a node of the graph")
    return list(values)


def _place(root: Any) -> tuple[Any, int]:
    return (root, 0) if root._node is None else (root._node, root._nr)


def _seeds(roots: Sequence[Any], given: Any, what: str, create_graph: bool) -> list[Any]:
    """A gradient, as a tensor, for each root."""
    if given is None:
        gradients: list[Any] = [None] * len(roots)
    else:
        gradients = (
            [given]
            if isinstance(given, TensorBase) or (len(roots) == 1 and not _is_sequence(given))
            else given
        )
        gradients = list(gradients)
    if len(gradients) != len(roots):
        raise GraphError(f"{len(roots)} tensors, but {len(gradients)} {what}")
    seeds = []
    for i, (root, gradient) in enumerate(zip(roots, gradients, strict=True)):
        if not isinstance(root, TensorBase):
            raise DtypeError(f"root {i} is a {type(root).__name__}, not a Tensor")
        if not root.requires_grad:  # type: ignore[attr-defined]
            raise GraphError(f"element {i} of tensors does not require grad and has no grad_fn")
        seeds.append(_seed(root, gradient, i))
    return seeds


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple) and (not value or not isinstance(value[0], int | float | complex))


def _seed(root: Any, gradient: Any, i: int) -> Any:
    if gradient is None:
        if root.size != 1:
            raise GraphError(
                f"grad can be implicitly created only for scalar outputs, not for shape {root.shape} "
                f"(tensor {i}): pass a gradient of that shape"
            )
        if root.dtype.kind == "c":
            raise GraphError(
                f"grad can be implicitly created only for real scalar outputs, not for {root.dtype}"
            )
        return make(type(root), np.ones_like(root._array))
    if not isinstance(gradient, TensorBase):
        raise DtypeError(f"gradient {i} is a {type(gradient).__name__}; pass a Tensor or None")
    given: Any = gradient
    array = given._array
    if array.shape != root.shape:
        raise ShapeError(f"gradient {i} has shape {array.shape}, but its tensor has shape {root.shape}")
    if array.dtype.kind == "c" and root.dtype.kind != "c":
        raise DtypeError(f"gradient {i} is complex ({array.dtype}), but its tensor is real ({root.dtype})")
    if array.dtype.kind not in "fc":
        raise DtypeError(f"gradient {i} is of {array.dtype}, but its tensor is of {root.dtype}")
    return given if array.dtype == root.dtype else given.astype(root.dtype)


def _run(
    places: Sequence[tuple[Any, int]],
    seeds: Sequence[Any],
    cls: type[Any],
    wanted: Wanted | None,
    accumulate: bool,
    retain_graph: bool | None,
    create_graph: bool,
) -> dict[tuple[int, int], Any]:
    """`sweep`, with recording on exactly if a graph is to be created."""
    keep = create_graph if retain_graph is None else retain_graph
    roots = [
        (*place, seed if create_graph else seed._array) for place, seed in zip(places, seeds, strict=True)
    ]
    before = state.change(grad=create_graph)
    try:
        return sweep(roots, cls, wanted=wanted, accumulate=accumulate, keep=keep, graph=create_graph)
    finally:
        state.change(**before)


def _batched(
    roots: list[Any],
    variables: list[Any],
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Any, ...]:
    """One sweep for each gradient of the batch; the results are stacked."""
    from .functions import stack

    batches: list[Any] = [grad_outputs] if isinstance(grad_outputs, TensorBase) else list(grad_outputs or ())
    if len(batches) != len(roots):
        raise GraphError(f"{len(roots)} tensors, but {len(batches)} grad_outputs")
    count = len(batches[0])
    keep = create_graph if retain_graph is None else retain_graph
    rows = [
        grad(
            roots,
            variables,
            [batch[k] for batch in batches],
            keep or k < count - 1,
            create_graph,
            allow_unused,
            materialize_grads=materialize_grads,
        )
        for k in range(count)
    ]
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows, strict=True))
