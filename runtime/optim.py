"""Optimisers and learning-rate schedules.

In: leaves that require grad. Out: `step()`, which changes them by their `.grad`, and `zero_grad()`.

    >>> from adjoin.runtime import tensor
    >>> x = tensor(1.0, requires_grad=True)
    >>> optimiser = SGD([x], lr=0.1)
    >>> for _ in range(100):
    ...     optimiser.zero_grad()
    ...     (x * x).backward()
    ...     optimiser.step()
    >>> abs(x.item()) < 1e-8
    True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .base import TensorBase, boxed, changed
from .errors import DtypeError, GraphError

__all__ = ["SGD", "Adam", "AdamW", "CosineLR", "ExponentialLR", "LambdaLR", "Optimizer", "RMSprop", "StepLR"]


class Optimizer:
    """What all have in common: parameters, a learning rate, and arrays kept for each parameter.

    Args:
        params: leaves that require grad.
        lr: the learning rate, which may be changed between steps.
        weight_decay: this times the parameter is added to its gradient.
    """

    def __init__(self, params: Iterable[Any], lr: float, weight_decay: float = 0.0) -> None:
        if isinstance(params, TensorBase):
            raise DtypeError("params is a sequence of tensors, not one tensor")
        self.params = list(params)
        for i, p in enumerate(self.params):
            if not isinstance(p, TensorBase) or not p.is_leaf or not p.requires_grad:  # type: ignore[attr-defined]
                raise GraphError(f"parameter {i} is not a leaf that requires grad")
        if lr < 0:
            raise GraphError(f"the learning rate is not negative, but {lr}")
        self.lr = lr
        self.weight_decay = weight_decay
        self.steps = 0
        self.state: list[dict[str, Any]] = [{} for _ in self.params]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients: as None, or as zeros in place."""
        for p in self.params:
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change each parameter that has a gradient; `closure` computes the loss (and gradients) first."""
        loss = None if closure is None else closure()
        self.steps += 1
        for p, kept in zip(self.params, self.state, strict=True):
            if p.grad is not None:
                array = boxed(p)
                array -= self._change(array, self._decayed(array, p.grad._array), kept)
                changed(p)
        return loss

    def _decayed(self, p: Any, g: Any) -> Any:
        return g + self.weight_decay * p if self.weight_decay else g

    def _change(self, p: Any, g: Any, kept: dict[str, Any]) -> Any:
        """What to subtract from a parameter."""
        raise NotImplementedError


class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    Args:
        momentum: how much of the last velocity stays.
        nesterov: look ahead by the velocity.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(params, lr, weight_decay)
        if nesterov and momentum <= 0:
            raise GraphError("nesterov needs a momentum")
        self.momentum = momentum
        self.nesterov = nesterov

    def _change(self, p: Any, g: Any, kept: dict[str, Any]) -> Any:
        if not self.momentum:
            return self.lr * g
        velocity = kept["velocity"] = self.momentum * kept["velocity"] + g if kept else g.copy()
        return self.lr * (g + self.momentum * velocity if self.nesterov else velocity)


class Adam(Optimizer):
    """Steps of the size of the learning rate, along smoothed gradients.

    Args:
        betas: how slowly the means of the gradients and of their squares forget.
        eps: added to the root of the latter.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, weight_decay)
        self.betas = betas
        self.eps = eps

    def _change(self, p: Any, g: Any, kept: dict[str, Any]) -> Any:
        first, second = self.betas
        if not kept:
            kept.update(count=0, mean=np.zeros_like(p), square=np.zeros_like(p, dtype=np.abs(p).dtype))
        kept["count"] += 1
        kept["mean"] = first * kept["mean"] + (1 - first) * g
        kept["square"] = second * kept["square"] + (1 - second) * np.abs(g) ** 2
        mean = kept["mean"] / (1 - first ** kept["count"])
        root = np.sqrt(kept["square"] / (1 - second ** kept["count"]))
        return self.lr * mean / (root + self.eps)


class AdamW(Adam):
    """`Adam` whose weight decay shrinks the parameters directly, not through the gradient."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)

    def _decayed(self, p: Any, g: Any) -> Any:
        return g

    def _change(self, p: Any, g: Any, kept: dict[str, Any]) -> Any:
        shrink = self.lr * self.weight_decay
        return super()._change(p, g, kept) + shrink * p


class RMSprop(Optimizer):
    """Gradients divided by the root of their smoothed squares.

    Args:
        alpha: how slowly the squares are forgotten.
        eps: added to the root.
        momentum: how much of the last velocity stays.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
    ) -> None:
        super().__init__(params, lr, weight_decay)
        self.alpha = alpha
        self.eps = eps
        self.momentum = momentum

    def _change(self, p: Any, g: Any, kept: dict[str, Any]) -> Any:
        if not kept:
            kept.update(square=np.zeros_like(p, dtype=np.abs(p).dtype), velocity=np.zeros_like(p))
        kept["square"] = self.alpha * kept["square"] + (1 - self.alpha) * np.abs(g) ** 2
        kept["velocity"] = self.momentum * kept["velocity"] + g / (np.sqrt(kept["square"]) + self.eps)
        return self.lr * kept["velocity"]


# -- schedules ---------------------------------------------------------------------------------------------


class LambdaLR:
    """The first learning rate times ``factor(epoch)``; call `step()` after every epoch.

    >>> from adjoin.runtime import tensor
    >>> optimiser = SGD([tensor(1.0, requires_grad=True)], lr=1.0)
    >>> schedule = LambdaLR(optimiser, lambda epoch: 0.5**epoch)
    >>> schedule.step()
    >>> optimiser.lr
    0.5
    """

    def __init__(self, optimizer: Optimizer, factor: Callable[[int], float]) -> None:
        self.optimizer = optimizer
        self.factor = factor
        self.first = optimizer.lr
        self.epoch = 0
        optimizer.lr = self.first * factor(0)

    def step(self) -> None:
        """One epoch is over."""
        self.epoch += 1
        self.optimizer.lr = self.first * self.factor(self.epoch)

    def get_last_lr(self) -> Sequence[float]:
        """The learning rate now, in a list."""
        return [self.optimizer.lr]


class StepLR(LambdaLR):
    """Times `gamma` after every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer, lambda epoch: gamma ** (epoch // step_size))


class ExponentialLR(LambdaLR):
    """Times `gamma` after every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        super().__init__(optimizer, lambda epoch: gamma**epoch)


class CosineLR(LambdaLR):
    """Down to `minimum` within `epochs`, along half a cosine."""

    def __init__(self, optimizer: Optimizer, epochs: int, minimum: float = 0.0) -> None:
        low = minimum / optimizer.lr

        def factor(epoch: int) -> float:
            return low + (1 - low) * (1 + math.cos(math.pi * min(epoch, epochs) / epochs)) / 2

        super().__init__(optimizer, factor)
