"""What nodes are called: ``np.multiply`` records a ``MulBackward0``.

In: a function, and for a few its arguments. Out: the name of `grad_fn`, after what users know it as.

    >>> import numpy as np
    >>> name_of(np.multiply)
    'MulBackward0'
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["index_name", "name_of"]

_NAMES: dict[Any, str] = {
    np.multiply: "Mul",
    np.subtract: "Sub",
    np.divide: "Div",
    np.negative: "Neg",
    np.power: "Pow",
    np.absolute: "Abs",
    np.concatenate: "Cat",
    np.reshape: "View",
    np.ravel: "View",
    np.transpose: "Permute",
    np.swapaxes: "Transpose",
    np.moveaxis: "Permute",
    np.expand_dims: "Unsqueeze",
    np.broadcast_to: "Expand",
    np.clip: "Clamp",
    np.amax: "Max",
    np.amin: "Min",
    np.add.reduce: "Sum",
    np.multiply.reduce: "Prod",
    np.remainder: "Remainder",
    np.arctan2: "Atan2",
    np.arcsin: "Asin",
    np.arccos: "Acos",
    np.arctan: "Atan",
    np.arcsinh: "Asinh",
    np.arccosh: "Acosh",
    np.arctanh: "Atanh",
    np.conjugate: "Conj",
}


def name_of(function: Callable[..., Any], args: Sequence[Any] = ()) -> str:
    """The name of the node that `function` records.

    >>> name_of(np.logaddexp), name_of(np.matmul, (np.ones((2, 2)), np.ones(2)))
    ('LogaddexpBackward0', 'MvBackward0')
    """
    if function in (np.matmul, np.dot) and len(args) >= 2:
        return _product(np.ndim(args[0]), np.ndim(args[1])) + "Backward0"
    if function is operator.getitem and len(args) == 2:
        return index_name(args[1]) + "Backward0"
    name = _NAMES.get(function)
    if name is None:
        words = str(getattr(function, "__name__", "operation")).strip("_").split("_")
        name = "".join(word[:1].upper() + word[1:] for word in words)
    return name + "Backward0"


def _product(left: int, right: int) -> str:
    if left == 1 and right == 1:
        return "Dot"
    if left == 2 and right == 1:
        return "Mv"
    return "Mm" if left == 2 and right == 2 else "Matmul"


def index_name(key: Any) -> str:
    """Which kind of indexing a key is: ``Select``, ``Slice``, ``Unsqueeze`` or ``Index``."""
    if isinstance(key, slice):
        return "Slice"
    keys = key if isinstance(key, tuple) else (key,)
    if len(keys) > 1 and keys[-1] is Ellipsis:
        keys = keys[:-1]
    if all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in keys):
        return "Select"
    if any(k is None for k in keys) and all(k is None or k == slice(None) or k is ... for k in keys):
        return "Unsqueeze"
    if all(k is None or k is ... or isinstance(k, slice | int | np.integer) for k in keys):
        return "Slice"
    return "Index"
