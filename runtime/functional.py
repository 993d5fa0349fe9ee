"""Jacobians, Hessians and products with them, of functions of tensors.

In: a function of one or several tensors, and where. Out: tensors; for several outputs or inputs, tuples
nested as ``[output][input]``.

    >>> from adjoin.runtime import tensor
    >>> jacobian(lambda x: x * x, tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TensorBase, make
from .errors import DtypeError, GraphError, ShapeError
from .modes import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """All derivatives of `func`.

    Args:
        func: from tensors to a tensor or a tuple of them.
        inputs: a tensor or a tuple.
        create_graph: record, so that the result can be differentiated.
        strict: raise if an output does not depend on an input, instead of giving zeros.
        vectorize, strategy: accepted for compatibility; the result is the same.

    Returns:
        ``result[i][j]`` of shape ``outputs[i].shape + inputs[j].shape``; without the tuples where there is
        one output, or one input, that is no tuple.
    """
    from .autograd import grad
    from .functions import stack

    with enable_grad():
        variables, single_in = _inputs(inputs, create_graph)
        outputs, single_out = _outputs(func(*variables), "jacobian")
        rows: list[Any] = []
        for i, out in enumerate(outputs):
            _depends(out, i, strict)
            columns: list[list[Any]] = [[] for _ in variables]
            for seed in _units(out):
                found = _gradients(grad, out, variables, seed, create_graph, strict, i)
                for column, value in zip(columns, found, strict=True):
                    column.append(value)
            rows.append(
                tuple(
                    stack(column).reshape(out.shape + v.shape) if column else _zeros(v, out.shape + v.shape)
                    for column, v in zip(columns, variables, strict=True)
                )
            )
    return _nested(rows, single_out, single_in)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """All second derivatives of a `func` with one real element; ``result[i][j]`` for inputs i and j.

    Raises:
        ShapeError: `func` returns more than one element.
    """
    single = isinstance(inputs, TensorBase)

    def gradient(*values: Any) -> Any:
        from .autograd import grad

        (out,), _ = _outputs(func(*values), "hessian")
        _scalar(out, "hessian")
        _depends(out, 0, strict)
        return tuple(_gradients(grad, out, values, None, True, strict, 0))

    result = jacobian(gradient, inputs if not single else (inputs,), create_graph, strict)
    return result[0][0] if single else result


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of `func`, and the product of `v` with its Jacobian.

    Args:
        v: of the outputs' shapes; may be left out if `func` returns one element.
    """
    from .autograd import grad

    with enable_grad():
        variables, single_in = _inputs(inputs, create_graph)
        outputs, single_out = _outputs(func(*variables), "vjp")
        seeds = _vector(v, outputs, "vjp", "output")
        found = _products(grad, outputs, variables, seeds, create_graph, strict)
    return _plain(outputs, single_out, create_graph), _plain(found, single_in, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of `func`, and the product of its Jacobian with `v`, of the inputs' shapes."""
    from .autograd import grad

    with enable_grad():
        variables, _ = _inputs(inputs, create_graph)
        outputs, single_out = _outputs(func(*variables), "jvp")
        tangents = _vector(v, variables, "jvp", "input")
        cotangents = [make(type(out), np.ones_like(out._array)).requires_grad_() for out in outputs]
        back = _products(grad, outputs, variables, cotangents, True, strict)
        linked = [(b, t) for b, t in zip(back, tangents, strict=True) if b.requires_grad]
        if not linked:
            pushed = [_zeros(out, out.shape) for out in outputs]
        else:
            found = grad(
                [b for b, _ in linked],
                cotangents,
                [t for _, t in linked],
                create_graph=create_graph,
                allow_unused=True,
            )
            pushed = [_zeros(o, o.shape) if f is None else f for f, o in zip(found, outputs, strict=True)]
    return _plain(outputs, single_out, create_graph), _plain(pushed, single_out, create_graph)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of `func`, which has one element, and the product of `v` with its Hessian."""
    from .autograd import grad

    with enable_grad():
        variables, single_in = _inputs(inputs, create_graph)
        (out,), _ = _outputs(func(*variables), "vhp")
        _scalar(out, "vhp")
        vector = _vector(v, variables, "vhp", "input")
        first = _products(grad, [out], variables, [None], True, strict)
        linked = [(f, w) for f, w in zip(first, vector, strict=True) if f.requires_grad]
        second = (
            _products(grad, [f for f, _ in linked], variables, [w for _, w in linked], create_graph, strict)
            if linked
            else [_zeros(x, x.shape) for x in variables]
        )
    return _plain([out], True, create_graph), _plain(second, single_in, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of `func`, and the product of its Hessian with `v`; the Hessian being symmetric, `vhp`."""
    return vhp(func, inputs, v, create_graph, strict)


# -- parts ---------------------------------------------------------------------------------------------------


def _inputs(inputs: Any, create_graph: bool) -> tuple[list[Any], bool]:
    """Fresh leaves (or, to be differentiated through, fresh aliases) of the inputs."""
    single = isinstance(inputs, TensorBase)
    variables = []
    for i, x in enumerate([inputs] if single else inputs):
        if not isinstance(x, TensorBase):
            raise DtypeError(f"input {i} is a {type(x).__name__}, not a Tensor")
        alias: Any = x
        if create_graph and alias.requires_grad:
            variables.append(alias.reshape(alias.shape))
        else:
            variables.append(alias.detach().requires_grad_())
    return variables, single


def _outputs(outputs: Any, what: str) -> tuple[list[Any], bool]:
    single = isinstance(outputs, TensorBase)
    values = [outputs] if single else list(outputs)
    for i, out in enumerate(values):
        if not isinstance(out, TensorBase):
            raise DtypeError(f"{what}: output {i} of the function is a {type(out).__name__}, not a Tensor")
    return values, single


def _scalar(out: Any, what: str) -> None:
    if out.size != 1:
        raise ShapeError(f"{what} needs a function that returns one element, not shape {out.shape}")


def _depends(out: Any, i: int, strict: bool) -> None:
    if strict and not out.requires_grad:
        raise GraphError(f"output {i} does not depend on the inputs")


def _vector(v: Any, like: list[Any], what: str, which: str) -> list[Any]:
    if v is None:
        if len(like) == 1 and like[0].size == 1:
            return [make(type(like[0]), np.ones_like(like[0]._array))]
        raise ShapeError(f"{what}: v may be left out only if the {which} has one element")
    values: list[Any] = [v] if isinstance(v, TensorBase) else list(v)
    if len(values) != len(like):
        raise ShapeError(f"{what}: v has {len(values)} tensors, expected {len(like)}, one an {which}")
    for i, (value, target) in enumerate(zip(values, like, strict=True)):
        if value.shape != target.shape:
            raise ShapeError(
                f"{what}: v[{i}] has shape {value.shape}, but {which} {i} has shape {target.shape}"
            )
    return values


def _zeros(like: Any, shape: tuple[int, ...]) -> Any:
    return make(type(like), np.zeros_like(like._array, shape=shape))


def _units(out: Any) -> list[Any]:
    seeds = []
    for position in range(out.size):
        array = np.zeros_like(out._array, order="C")
        array = np.array(array) if isinstance(array, np.generic) else array
        array.reshape(-1)[position] = 1
        seeds.append(make(type(out), array))
    return seeds


def _gradients(
    grad: Any, out: Any, variables: Any, seed: Any, create_graph: bool, strict: bool, i: int
) -> list[Any]:
    if not out.requires_grad:
        return [_zeros(x, x.shape) for x in variables]
    found = grad(out, variables, seed, retain_graph=True, create_graph=create_graph, allow_unused=True)
    if strict and any(g is None for g in found):
        j = next(j for j, g in enumerate(found) if g is None)
        raise GraphError(f"output {i} does not depend on input {j}")
    return [_zeros(x, x.shape) if g is None else g for g, x in zip(found, variables, strict=True)]


def _products(
    grad: Any, outputs: list[Any], variables: list[Any], seeds: list[Any], create_graph: bool, strict: bool
) -> list[Any]:
    for i, out in enumerate(outputs):
        _depends(out, i, strict)
    linked = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
    if not linked:
        return [_zeros(x, x.shape) for x in variables]
    found = grad(
        [o for o, _ in linked], variables, [s for _, s in linked], None, create_graph, allow_unused=True
    )
    if strict and any(g is None for g in found):
        j = next(j for j, g in enumerate(found) if g is None)
        raise GraphError(f"the outputs do not depend on input {j}")
    return [_zeros(x, x.shape) if g is None else g for g, x in zip(found, variables, strict=True)]


def _plain(values: list[Any], single: bool, create_graph: bool) -> Any:
    values = values if create_graph else [value.detach() for value in values]
    return values[0] if single else tuple(values)


def _nested(rows: list[Any], single_out: bool, single_in: bool) -> Any:
    shaped = [row[0] if single_in else row for row in rows]
    return shaped[0] if single_out else tuple(shaped)
