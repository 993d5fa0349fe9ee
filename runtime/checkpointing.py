"""`checkpoint`: save no intermediate values, run the function again in backward.

In: a function of tensors. Out: what it returns, as one node of the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import TensorBase
from .function import Function
from .modes import enable_grad

__all__ = ["checkpoint"]


def checkpoint(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, whose inside is recomputed when gradients need it.

    The function runs twice, so it should be deterministic. `use_reentrant` is accepted and ignored.

    >>> from adjoin.runtime import tensor
    >>> x = tensor(2.0, requires_grad=True)
    >>> checkpoint(lambda x: (x * x) * x, x).backward()
    >>> x.grad
    tensor(12.)
    """
    kwargs.pop("use_reentrant", None)
    return _Checkpoint.apply(function, kwargs, *args)


class _Checkpoint(Function):
    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], kwargs: dict[str, Any], *args: Any) -> Any:
        ctx.function, ctx.kwargs = function, kwargs
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        ctx.rest = [None if isinstance(a, TensorBase) else a for a in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return function(*args, **kwargs)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        from .autograd import grad
        from .modes import state

        again = list(ctx.rest)
        recorded = state.grad
        for i, saved in zip(ctx.places, ctx.saved_tensors, strict=True):
            again[i] = saved if recorded else saved.detach().requires_grad_(saved.requires_grad)
        with enable_grad():
            results = ctx.function(*again, **ctx.kwargs)
        results = results if isinstance(results, tuple | list) else (results,)
        pairs = [(r, g) for r, g in zip(results, gradients, strict=True) if g is not None and r.requires_grad]
        wanted = [i for i in ctx.places if again[i].requires_grad]
        found = grad(
            [r for r, _ in pairs],
            [again[i] for i in wanted],
            [g for _, g in pairs],
            create_graph=recorded,
            allow_unused=True,
        )
        by_place = dict(zip(wanted, found, strict=True))
        return (None, None, *(by_place.get(i) for i in range(len(again))))
