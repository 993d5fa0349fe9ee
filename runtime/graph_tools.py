"""`autograd.graph`: hooks on saved values and on several tensors at once.

In: functions to call. Out: contexts and handles.

    >>> from adjoin.runtime import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.item(), lambda number: tensor(number)):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(6.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from .errors import GraphError
from .graph import Handle, Node
from .modes import Context

__all__ = [
    "Node",
    "disable_saved_tensors_hooks",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class saved_tensors_hooks(Context):
    """Replace every tensor that is saved for backward by what a function makes of it.

    Args:
        pack: called with each tensor as it is saved; returns anything.
        unpack: called with that when it is needed; returns a tensor with the same values.
    """

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        super().__init__(saving=(pack, unpack))


class disable_saved_tensors_hooks(Context):
    """No hooks inside, whatever is outside."""

    def __init__(self) -> None:
        super().__init__(saving=None)


class save_on_cpu(saved_tensors_hooks):
    """Keep saved values in host memory and bring them back when they are needed."""

    def __init__(self) -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0]))


class _Several:
    """The handle of `register_multi_grad_hook`."""

    def __init__(self, handles: Sequence[Handle]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Several:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Any], hook: Callable[[Any], None], *, mode: str = "all"
) -> _Several:
    """Call `hook` when the gradients of several tensors are known.

    Args:
        tensors: tensors that require grad.
        hook: called with a list of all gradients (`mode` "all"), or with the first gradient ("any").
        mode: ``"all"`` or ``"any"``.
    """
    if mode not in ("all", "any"):
        raise GraphError(f"mode is 'all' or 'any', not {mode!r}")
    lock = threading.Lock()
    found: dict[int, Any] = {}
    fired = [False]

    def noted(index: int) -> Callable[[Any], None]:
        def on_gradient(gradient: Any) -> None:
            with lock:
                found[index] = gradient
                complete = len(found) == len(tensors)
                values = [found.get(i) for i in range(len(tensors))]
                if complete:
                    found.clear()
                first = not fired[0]
                fired[0] = not complete
            if mode == "all" and complete:
                hook(values)
            elif mode == "any" and first:
                hook(gradient)

        return on_gradient

    return _Several([tensor.register_hook(noted(i)) for i, tensor in enumerate(tensors)])
