"""Generated gradients inside eager code: a function is recorded as one node.

In: what `adjoin.grad` returns. Out: a function of tensors whose value is that of the original function and
whose backward is the generated adjoint, so that a loop written in NumPy costs one node, not one a step.

    >>> import adjoin
    >>> from adjoin.runtime import tensor
    >>> def horner(x):
    ...     y = 0.0
    ...     for c in (3.0, 2.0, 1.0):
    ...         y = y * x + c
    ...     return y
    >>> x = tensor(2.0, requires_grad=True)
    >>> y = lift(adjoin.grad(horner))(x)
    >>> y
    tensor(17., grad_fn=<HornerBackward>)
    >>> y.backward()
    >>> x.grad
    tensor(14.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TensorBase
from .errors import DtypeError
from .function import Function, once_differentiable
from .tensors import as_array, leaf

__all__ = ["lift"]


def lift(gradient: Any) -> Callable[..., Any]:
    """The original function of a generated gradient, for tensors.

    Args:
        gradient: what `adjoin.grad` returns: it has `primal`, `forward` and `adjoint`.

    Returns:
        A function of tensors (and anything else) whose result is a tensor, or a tuple of them, made by one
        node. Gradients reach the positional arguments that are tensors; they have no graph of their own.
    """
    for name in ("primal", "forward", "adjoint"):
        if not hasattr(gradient, name):
            raise DtypeError(f"lift() takes what adjoin.grad returns, not {type(gradient).__name__}")
    function_name = getattr(gradient.primal, "__name__", "function").strip("_<>") or "function"
    node: Any = type(function_name[:1].upper() + function_name[1:], (_Generated,), {})

    @functools.cache
    def for_positions(positions: tuple[int, ...]) -> Any:
        return type(gradient)(gradient.primal, argnums=positions)

    @functools.wraps(gradient.primal)
    def call(*args: Any, **kwargs: Any) -> Any:
        positions = tuple(
            i for i, a in enumerate(args) if isinstance(a, TensorBase) and a._array.dtype.kind in "fc"
        )
        if not positions:
            raise DtypeError(f"{function_name}: no argument is a floating tensor")
        return node.apply(for_positions(positions), positions, kwargs, *args)

    return call


class _Generated(Function):
    """One call of a lifted function."""

    @staticmethod
    def forward(
        ctx: Any, gradient: Any, positions: tuple[int, ...], kwargs: dict[str, Any], *args: Any
    ) -> Any:
        ctx.gradient, ctx.positions, ctx.count = gradient, positions, len(args)
        ctx.save_for_backward(*(args[i] for i in positions))
        plain = [_unboxed(a) for a in args]
        value, ctx.kept = gradient.forward(*plain, **kwargs)
        if isinstance(value, tuple | list):
            return tuple(leaf(np.array(part)) for part in value)
        return leaf(np.array(value) if not hasattr(value, "copy") else value.copy())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *seeds: Any) -> Any:
        _ = ctx.saved_tensors  # raises if an argument was changed since, or the graph was freed
        arrays = tuple(_unboxed(seed) for seed in seeds)
        found = ctx.gradient.adjoint(ctx.kept, arrays[0] if len(arrays) == 1 else arrays)
        found = dict(zip(ctx.positions, found, strict=True))
        gradients = [leaf(np.asarray(found[i])) if i in found else None for i in range(ctx.count)]
        return (None, None, None, *gradients)


def _unboxed(value: Any) -> Any:
    """An array for a tensor; of one element without dimensions, the number."""
    if not isinstance(value, TensorBase):
        return value
    array = as_array(value)
    return array[()] if array.ndim == 0 else array
