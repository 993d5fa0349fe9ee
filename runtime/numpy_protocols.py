"""How NumPy's own functions work on tensors: `__array_ufunc__` and `__array_function__`.

In: a NumPy function that met a tensor. Out: the recorded operation, if the rule table has one. Anything else
raises: a graph is never dropped silently.

    >>> from adjoin.runtime import tensor
    >>> np.sin(tensor(0.0, requires_grad=True))
    tensor(0., grad_fn=<SinBackward0>)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TensorBase, changed, make
from .errors import GraphError
from .fast import FAST_BINARY, FAST_UNARY
from .record import record
from .rule import NoRule, lookup
from .support_shaping import scatter

__all__ = ["array_function", "array_ufunc"]

#: Functions that only ask about shape, dtype or memory: no rule is needed, the answer is no tensor.
_QUESTIONS = frozenset(
    {
        np.shape,
        np.ndim,
        np.size,
        np.iscomplexobj,
        np.isrealobj,
        np.result_type,
        np.can_cast,
        np.common_type,
        np.min_scalar_type,
        np.may_share_memory,
        np.shares_memory,
    }
)


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A ufunc, or one of its methods, on tensors."""
    if method == "__call__":
        if not kwargs and inputs[0].__class__ is self.__class__:
            if len(inputs) == 1 and ufunc in FAST_UNARY:
                return FAST_UNARY[ufunc](inputs[0])
            if len(inputs) == 2 and ufunc in FAST_BINARY:
                return FAST_BINARY[ufunc](*inputs)
        function: Any = ufunc
    elif method == "at":
        return _at(ufunc, *inputs)
    else:
        function = getattr(ufunc, method)
    out = kwargs.pop("out", None)
    if out is not None:
        return _into(function, inputs, kwargs, out)
    if kwargs.get("where") is True:
        del kwargs["where"]
    return record(function, inputs, kwargs)


def array_function(
    self: Any, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Any other function of NumPy on tensors."""
    if function in _QUESTIONS:
        return function(*_plain(args), **_plain(kwargs))
    if function is np.copyto:
        return _copyto(*args, **kwargs)
    if function is np.full_like:  # of the first argument, only the shape counts
        kwargs = {"dtype": args[0].dtype, **kwargs}
        return (
            record(np.full, (np.shape(args[0]), *args[1:]), kwargs)
            if _tensors(args[1:])
            else _filled(self, args, kwargs)
        )
    if function is np.put_along_axis:
        return _put_along_axis(*args, **kwargs)
    if function in (np.array_repr, np.array_str, np.array2string):
        return repr(args[0])
    if kwargs.get("out") is not None:
        kwargs = dict(kwargs)
        return _into(function, args, kwargs, (kwargs.pop("out"),))
    return record(function, args, kwargs)


def _tensors(values: Any) -> bool:
    return any(isinstance(value, TensorBase) for value in values)


def _filled(tensor: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    return make(type(tensor), np.full_like(_plain(args[0]), *args[1:], **kwargs))


def _plain(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value._array
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(part) for part in value)
    return value


def _at(ufunc: np.ufunc, target: Any, index: Any, value: Any = None) -> None:
    if any(isinstance(v, TensorBase) and v.requires_grad for v in (target, value)):  # type: ignore[attr-defined]
        if ufunc is not np.add or not isinstance(target, TensorBase):
            raise NoRule(f"np.{ufunc.__name__}.at is not recorded; use indexing and stores")
        from .stores import change

        laid_out = record(scatter, (value, target._array, _plain(index)))
        change(target, np.add, (target, laid_out))
        return
    rest = () if value is None else (_plain(value),)
    ufunc.at(_plain(target), _plain(index), *rest)
    if isinstance(target, TensorBase):
        changed(target)


def _into(function: Any, args: Any, kwargs: dict[str, Any], out: tuple[Any, ...]) -> Any:
    """``out=``: allowed where nothing has a gradient."""
    (target,) = out if len(out) == 1 else (out,)
    involved = [v for v in (*args, target) if isinstance(v, TensorBase)]
    if any(t.requires_grad for t in involved):  # type: ignore[attr-defined]
        raise GraphError("out= is not recorded: assign the result instead, or detach() the arguments")
    if lookup(function) is None:
        raise NoRule(f"{function} has no rule")
    function(*_plain(args), out=_plain(target), **_plain(kwargs))
    if isinstance(target, TensorBase):
        changed(target)
    return target


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, TensorBase):
        raise GraphError("np.copyto from a tensor into an array would lose the graph; detach() it")
    from .stores import change

    if where is True:
        dst.copy_(src)  # type: ignore[attr-defined]
    else:
        change(dst, np.where, (where, src, dst))


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    if not isinstance(arr, TensorBase):
        raise GraphError("np.put_along_axis of a tensor into an array would lose the graph; detach() it")
    places = _plain(indices)
    if axis is None:
        np.reshape(arr, -1)[places] = values  # type: ignore[call-overload]
        return
    grid: list[Any] = list(np.ix_(*(np.arange(n) for n in places.shape)))
    grid[axis] = places
    arr[tuple(grid)] = values  # type: ignore[index]
