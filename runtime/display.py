"""How a tensor prints.

In: a tensor. Out: ``tensor([1., 2.], requires_grad=True)``: NumPy's layout of the numbers, the dtype if it is
not the usual one of its kind, then the node that made it or whether it requires grad.

    >>> from adjoin.runtime import tensor
    >>> tensor(3.0, requires_grad=True) * 2
    tensor(6., grad_fn=<MulBackward0>)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import to_host

__all__ = ["text"]

_WIDTH = 80
_USUAL = ("float64", "int64", "bool", "complex128")


def text(tensor: Any) -> str:
    """The text of ``repr(tensor)``."""
    notes = []
    array = np.asarray(to_host(tensor._array))
    if array.size == 0 and array.ndim > 1:
        notes.append(f"size={array.shape}")
    if tensor.device.type != "cpu":
        notes.append(f"device='{tensor.device}'")
    if str(array.dtype) not in _USUAL:
        notes.append(f"dtype={array.dtype}")
    node = tensor.grad_fn
    if node is not None and tensor.requires_grad:
        notes.append(f"grad_fn=<{node.name()}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    numbers = "[]" if array.size == 0 else np.array2string(array, separator=", ", prefix="tensor(")
    return _joined("tensor(" + numbers, notes)


def _joined(text: str, notes: list[str]) -> str:
    """The notes behind the numbers, on a new line where they would go over the edge."""
    column = len(text) - text.rfind("\n") - 1
    for note in notes:
        if column + len(note) + 3 > _WIDTH:
            text += ",\n       " + note
            column = 7 + len(note)
        else:
            text += ", " + note
            column += 2 + len(note)
    return text + ")"
