"""Errors in the words of the user's call: which operation, which shapes, which dimension.

In: an error of NumPy and the arrays that caused it. Out: one of `errors`, with the same cause.

    >>> print(explained(ValueError("no"), np.add, [np.ones(2), np.ones(3)]))
    np.add: shapes (2,) and (3,) do not go together: 2 against 3 at dimension 0 (no)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import DeviceError, DtypeError, GraphError, OutOfRange, ShapeError

__all__ = ["explained", "inference", "qualified"]


def qualified(function: Any) -> str:
    if getattr(function, "__name__", "") == "stored":
        return "x[...] = value"
    module = (getattr(function, "__module__", None) or "").replace("numpy", "np", 1)
    name = getattr(function, "__name__", repr(function))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    if isinstance(function, np.ufunc):
        return f"np.{name}"
    return f"{module}.{name}" if module else name


def inference(name: str) -> GraphError:
    return GraphError(
        f"{name.removesuffix('Backward0')} needs an inference tensor for its backward, but these are not "
        "tracked; clone() it outside of inference mode"
    )


def explained(error: Exception, function: Callable[..., Any], arrays: Sequence[Any]) -> Exception:
    """An error of NumPy with the shapes, dtypes and dimension that it is about."""
    name = qualified(function)
    given = [a for a in _flat(arrays) if hasattr(a, "shape") and hasattr(a, "dtype")]
    shapes = " and ".join(str(tuple(a.shape)) for a in given) or "no arrays"
    if len({type(a).__module__.partition(".")[0] for a in given if not isinstance(a, np.generic)}) > 1:
        kinds = " and ".join(f"{type(a).__module__.partition('.')[0]} {tuple(a.shape)}" for a in given)
        return DeviceError(
            f"{name}: arrays of different devices: {kinds}; move one with to(), cuda() or cpu()"
        )
    if isinstance(error, np.linalg.LinAlgError):
        return np.linalg.LinAlgError(f"{name}: {error} (shape {shapes})")
    if isinstance(error, IndexError):
        return OutOfRange(f"{error} (shape {shapes})")
    if isinstance(error, ValueError) and "read-only" in str(error):
        return GraphError(
            f"{name}: this memory cannot be written to, as of expand() or broadcast_to(); clone() it"
        )
    if isinstance(error, ValueError):
        where = _mismatch(name, given)
        return ShapeError(f"{name}: shapes {shapes} do not go together{where} ({error})")
    if isinstance(error, TypeError):
        dtypes = ", ".join(str(a.dtype) for a in given)
        return DtypeError(f"{name}: not for {dtypes} of shapes {shapes}: {error}")
    return error


def _flat(values: Any) -> list[Any]:
    if isinstance(values, list | tuple):
        return [leaf for value in values for leaf in _flat(value)]
    return [values]


def _mismatch(name: str, given: Sequence[Any]) -> str:
    """Where two shapes disagree, in words."""
    if len(given) != 2:
        return ""
    a, b = given[0].shape, given[1].shape
    if name in ("np.matmul", "np.dot"):
        if not a or not b:
            return ": a 0-d array has no rows"
        inner = b[-2] if len(b) > 1 else b[-1]
        return f": {a[-1]} columns meet {inner} rows" if a[-1] != inner else ""
    n = max(len(a), len(b))
    left, right = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    for axis in reversed(range(n)):
        if left[axis] != right[axis] and 1 not in (left[axis], right[axis]):
            return f": {left[axis]} against {right[axis]} at dimension {axis}"
    return ""
