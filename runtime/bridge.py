"""Generated gradients inside eager code: a whole function is recorded as one node.

In: what `adjoin.grad` returns. Out (`lift`): a function of tensors whose value is that of the original
function and whose backward is the generated adjoint, so that a loop written in NumPy costs one node, not one
a step. A gradient that is itself called with tensors is the lifted function of its own gradient: its value is
the gradient, and its node's backward the generated second derivative.

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
    >>> adjoin.grad(horner)(x)
    tensor(14., grad_fn=<HornerGradBackward>)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TensorBase
from .errors import DtypeError, GraphError
from .function import Function
from .modes import state
from .rule import NoRule
from .support import tree_map
from .tensors import leaf

__all__ = ["lift"]


def lift(gradient: Any) -> Callable[..., Any]:
    """The original function of a generated gradient, for tensors.

    Args:
        gradient: what `adjoin.grad` returns: it has `primal`, `forward` and `adjoint`.

    Returns:
        A function of tensors (and anything else). Its result has tensors for numbers and arrays, all made by
        one node. Gradients reach the tensors among its positional arguments; where one that requires grad
        is inside a container or given by keyword, operations are recorded one by one instead. With
        ``create_graph=True``, the operations of the generated adjoint are.

    Raises:
        DtypeError: `gradient` is something else.
    """
    for name in ("primal", "forward", "adjoint"):
        if not hasattr(gradient, name):
            raise DtypeError(f"lift() takes what adjoin.grad returns, not {type(gradient).__name__}")
    primal = gradient.primal
    node = _node_class(primal)

    @functools.cache
    def for_positions(positions: tuple[int, ...]) -> Any:
        return type(gradient)(primal, argnums=positions)

    @functools.wraps(primal)
    def call(*args: Any, **kwargs: Any) -> Any:
        positions = tuple([i for i, a in enumerate(args) if _is_active(a)])
        if not positions:
            if any(map(_holds_active, (*args, *kwargs.values()))):
                return getattr(primal, "through", primal)(*args, **kwargs)
            return tree_map(_tensor_of, primal(*_arrays(args), **_arrays(kwargs)))
        rest = [a for i, a in enumerate(args) if i not in positions]
        if any(map(_holds_active, (*rest, *kwargs.values()))):
            return getattr(primal, "through", primal)(*args, **kwargs)
        call = _Call(for_positions(positions), positions, args, kwargs)
        return call.rebuilt(node.apply(call, *[args[i] for i in positions]))

    return call


class _Call:
    """One call of a lifted function: what its node needs, and the form of its result.

    Attributes:
        gradient: of the function, in the arguments at `positions`.
        form: the result, with the number of a leaf in place of each tensor.
    """

    def __init__(self, gradient: Any, positions: tuple[int, ...], args: Any, kwargs: dict[str, Any]) -> None:
        self.gradient = gradient
        self.positions = positions
        self.args = tuple([None if i in positions else _kept(a) for i, a in enumerate(args)])
        self.kwargs = {name: _kept(value) for name, value in kwargs.items()}
        self.form: Any = None
        self.saved: Any = None
        self.value: Any = None
        self.refused: Exception | None = None

    def arguments(self, active: Any) -> tuple[Any, ...]:
        """All arguments, with `active` where tensors were."""
        given = iter(active)
        return tuple([next(given) if i in self.positions else a for i, a in enumerate(self.args)])

    def run(self, active: Any) -> list[Any]:
        """The forward sweep on arrays: the leaves of the result."""
        arguments = self.arguments(map(_unboxed, active))
        try:
            self.value, self.saved = self.gradient.forward(*arguments, **self.kwargs)
        except Exception as error:
            if type(error).__name__ != "AdjoinError":
                raise
            self.refused = error  # of the derivative: the value may be had all the same
            self.value = self.gradient.primal(*arguments, **self.kwargs)
        leaves: list[Any] = []
        self.form = tree_map(functools.partial(_numbered, leaves), self.value)
        return leaves

    def rebuilt(self, results: Any) -> Any:
        """The result, with these for its leaves."""
        results = results if isinstance(results, tuple) else (results,)
        return tree_map(lambda part: results[part.number] if isinstance(part, _Leaf) else part, self.form)

    def seeds(self, gradients: Any) -> Any:
        """The gradients of the leaves in the form of the result; None for what is no leaf."""
        return tree_map(lambda part: gradients[part.number] if isinstance(part, _Leaf) else None, self.form)

    def pulled(self, gradients: Any) -> Any:
        """The gradients of the active arguments, by the generated adjoint."""
        if self.refused is not None:
            raise self.refused
        return self.gradient.adjoint(self.saved, self.seeds([_unboxed(g) for g in gradients]))

    def pulled_recording(self, gradients: Any, active: Any) -> Any:
        """As `pulled`, recorded: by the gradient as one node for a number, else operation by operation.

        The forward sweep is run again for that; where it draws random numbers, these would be others.
        """
        if self.refused is not None:
            raise self.refused
        arguments = self.arguments(active)
        if isinstance(self.form, _Leaf) and not np.ndim(self.value) and not np.iscomplexobj(self.value):
            gradient = type(self.gradient)(self.gradient.primal, argnums=self.positions, with_value=True)
            value, found = gradient(*arguments, **self.kwargs)
            self._check_same(value)
            return [gradients[0] * g for g in found]
        try:
            value, saved = self.gradient.forward(*arguments, **self.kwargs)
            self._check_same(value)
            return self.gradient.adjoint(saved, self.seeds(gradients))
        except (AttributeError, TypeError, ValueError) as error:
            raise GraphError(
                f"the operations of the generated adjoint cannot be recorded one by one ({error}); for "
                "derivatives of this order, use adjoin's own: grad of grad, hvp or hessian"
            ) from error

    def _check_same(self, value: Any) -> None:
        if not _same_value(value, self.value):
            raise GraphError(
                "the function gives another value when it is run again (does it draw random numbers?), so "
                "the derivative of its gradient cannot be recorded"
            )


class _Leaf:
    """A number or array in a result: which one."""

    def __init__(self, number: int) -> None:
        self.number = number


def _numbered(leaves: list[Any], part: Any) -> Any:
    if isinstance(part, float | complex) or hasattr(part, "dtype"):
        leaves.append(part)
        return _Leaf(len(leaves) - 1)
    if part is None or isinstance(part, bool | int | str):
        return part
    raise NoRule(f"a result with a {type(part).__name__} in it cannot be recorded as one node")


@functools.lru_cache(maxsize=256)
def _node_class(primal: Any) -> Any:
    name = getattr(primal, "__name__", "function").strip("_<>") or "function"
    grad = "Grad" if hasattr(primal, "primal") else ""
    return type(name[:1].upper() + name[1:] + grad, (_Generated,), {})


class _Generated(Function):
    """One call of a lifted function, as a node."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *active: Any) -> Any:
        ctx.call = call
        ctx.save_for_backward(*active)
        results = [
            leaf(np.array(part) if not hasattr(part, "copy") else part.copy()) for part in call.run(active)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        active = ctx.saved_tensors  # raises if an argument was changed since, or the graph was freed
        call = ctx.call
        found = call.pulled_recording(gradients, active) if state.grad else call.pulled(gradients)
        return (None, *[g if isinstance(g, TensorBase) else _tensor_of(np.asarray(g)) for g in found])


def _is_active(value: Any) -> bool:
    return isinstance(value, TensorBase) and state.grad and bool(value.requires_grad)  # type: ignore[attr-defined]


def _holds_active(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_active, value))
    if isinstance(value, dict):
        return any(map(_holds_active, value.values()))
    return _is_active(value)


def _arrays(value: Any) -> Any:
    """`value` with arrays in place of tensors."""
    return tree_map(_unboxed, value)


def _kept(value: Any) -> Any:
    """`value` as it is now: arrays are copied, as the caller may change them before the backward."""
    return tree_map(lambda part: part.copy() if isinstance(part, np.ndarray) else _unboxed(part), value)


def _unboxed(value: Any) -> Any:
    """An array for a tensor; of one element without dimensions, the number."""
    if not isinstance(value, TensorBase):
        return value
    array = value._array
    return array[()] if array.ndim == 0 else array


def _tensor_of(value: Any) -> Any:
    if isinstance(value, float | complex):
        return leaf(np.array(value))
    return leaf(value) if hasattr(value, "dtype") and hasattr(value, "shape") else value


def _same_value(new: Any, old: Any) -> bool:
    """Whether a function gave the same numbers again, up to rounding."""
    same: list[bool] = []
    tree_map(lambda a, b: same.append(_close(_unboxed(a), b)), new, old)
    return all(same)


def _close(new: Any, old: Any) -> bool:
    if not hasattr(old, "dtype") and not isinstance(old, float | complex):
        return True
    return bool(np.shape(new) == np.shape(old) and np.allclose(new, old, rtol=1e-6, equal_nan=True))
