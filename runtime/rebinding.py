"""Rule templates under another `numpy`.

In: a template or helper, whose text says `np`. Out: a copy for which `np` is something else, and its helpers
too: `recording`, for derivatives of derivatives, computes with tensors; `on_device` computes with arrays of
another library. Most functions find their way through NumPy's protocols; the ones here have none.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TensorBase, make
from .rule import lookup
from .support import own

__all__ = ["on_device", "recording"]

_PACKAGE = __name__.rpartition(".")[0]


class _RecordingNumpy:
    """`numpy`, as a rule's helpers see it while derivatives of derivatives are recorded.

    New arrays that are to be `like` a tensor are like its array.
    """

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        return _beside_tensors(function) if name in _MAKING else function

    @staticmethod
    def asarray(value: Any, *args: Any, like: Any = None, **kwargs: Any) -> Any:
        if isinstance(value, TensorBase):
            if args or kwargs:
                return value.astype(args[0] if args else kwargs["dtype"])  # type: ignore[attr-defined]
            return value
        return (
            _RecordingNumpy.array(value, *args, **kwargs)
            if isinstance(value, list)
            else np.asarray(value, *args, like=_array_of(like), **kwargs)
        )

    asanyarray = asarray

    @staticmethod
    def zeros_like(value: Any, *args: Any, **kwargs: Any) -> Any:
        """Memory that a helper may store tensors into."""
        from .tensors import Tensor

        array = value._array if isinstance(value, TensorBase) else value
        zeros = np.zeros_like(array, *args, **kwargs)
        return make(Tensor, np.array(zeros) if isinstance(zeros, np.generic) else zeros)

    @staticmethod
    def zeros(*args: Any, like: Any = None, **kwargs: Any) -> Any:
        """Memory that a helper may store tensors into."""
        from .tensors import Tensor

        return make(Tensor, np.zeros(*args, like=_array_of(like), **kwargs))

    @staticmethod
    def array(value: Any, *args: Any, like: Any = None, **kwargs: Any) -> Any:
        if isinstance(value, TensorBase):
            return value.clone()  # type: ignore[attr-defined]
        if isinstance(value, list | tuple) and any(isinstance(part, TensorBase) for part in value):
            return _record(np.array, (value, *args), kwargs)
        return np.array(value, *args, like=_array_of(like), **kwargs)

    @staticmethod
    def full(shape: Any, fill_value: Any, *args: Any, like: Any = None, **kwargs: Any) -> Any:
        if isinstance(fill_value, TensorBase):
            return _record(np.full, (shape, fill_value, *args), kwargs)
        return np.full(shape, fill_value, *args, like=_array_of(like), **kwargs)


def _array_of(like: Any) -> Any:
    return like._array if isinstance(like, TensorBase) else like


def _beside_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    def make_it(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{name: _array_of(value) for name, value in kwargs.items()})

    return make_it


class _DeviceNumpy:
    """`numpy`, as a rule's helpers see it where arrays are of another library.

    What would be made in host memory is made there and moved to the device; indices and constants are small.
    """

    def __init__(self, like: Any) -> None:
        self._like = like

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        return self._moving(function) if name in _MAKING else function

    def _moving(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def make_there(*args: Any, **kwargs: Any) -> Any:
            kwargs.pop("like", None)
            if function in _CONVERTING and args and _foreign(args[0]):
                return self._converted(*args, copy=function is np.array, **kwargs)
            if function in _CONVERTING and args and isinstance(args[0], list | tuple):
                if any(_foreign(part) for part in args[0]):
                    return np.stack(args[0])
            if function is np.full and _foreign(args[1]):
                return np.full_like(args[1], args[1], shape=args[0])
            return np.asarray(function(*args, **kwargs), like=self._like)

        return make_there

    @staticmethod
    def _converted(array: Any, dtype: Any = None, *, copy: bool, **options: Any) -> Any:
        """``np.asarray`` and its kin of an array that is on the device: it stays there."""
        if dtype is None or array.dtype == np.dtype(dtype):
            return array.copy() if copy else array
        return array.astype(dtype)


_CONVERTING = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)
_MAKING = frozenset(
    ["arange", "array", "asanyarray", "asarray", "ascontiguousarray", "empty", "eye", "full", "hamming"]
    + ["identity", "linspace", "ones", "tri", "zeros"]
)


def _foreign(value: Any) -> bool:
    return hasattr(value, "__array_function__") and not isinstance(value, np.ndarray | np.generic)


_recording_numpy = _RecordingNumpy()


@functools.cache
def recording(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a rule's template or helper whose own helpers record when they meet tensors."""
    return _rebound(function, _recording_numpy, recording, _dispatching)


def on_device(function: Callable[..., Any], like: Any) -> Callable[..., Any]:
    """A copy of a rule's template that makes its arrays where `like` is."""
    key = (function, type(like), getattr(getattr(like, "device", None), "id", None))
    if key not in _on_devices:
        numpy = _DeviceNumpy(like[()] if like.ndim == 0 else np.zeros_like(like, shape=()))

        @functools.cache
        def rebind(helper: Callable[..., Any]) -> Callable[..., Any]:
            return _rebound(helper, numpy, rebind, None)

        _on_devices[key] = rebind(function)
    return _on_devices[key]


_on_devices: dict[Any, Callable[..., Any]] = {}


def _rebound(
    function: Callable[..., Any],
    numpy: Any,
    again: Callable[[Any], Any],
    dispatching: Callable[[Any], Any] | None,
) -> Callable[..., Any]:
    """A copy of `function` for which `np` is `numpy`, and its helpers are rebound by `again`.

    Args:
        dispatching: what to make of helpers that have a rule of their own; None: rebind them as well.
    """
    if not isinstance(function, types.FunctionType):
        return function
    scope = dict(function.__globals__)
    copy = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    for name in _used_names(function.__code__):
        value = function.__globals__.get(name)
        if value is own:  # what it is asked of may be a tensor, and is no operand
            continue
        if value is np:
            scope[name] = numpy
        elif isinstance(value, types.FunctionType) and (value.__module__ or "").startswith(_PACKAGE):
            if dispatching is not None and lookup(value) is not None:
                scope[name] = dispatching(value)
            else:
                scope[name] = _later(value, again)
    return copy


def _used_names(code: types.CodeType) -> set[str]:
    used = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            used |= _used_names(constant)
    return used


def _later(helper: Any, again: Callable[[Any], Any]) -> Callable[..., Any]:
    """``again(helper)``, made when first called: helpers may call one another in a circle."""

    @functools.wraps(helper)
    def run(*args: Any, **kwargs: Any) -> Any:
        return again(helper)(*args, **kwargs)

    return run


def _dispatching(helper: Any) -> Callable[..., Any]:
    """A helper that has a rule of its own: recorded as one operation where it meets a tensor."""

    @functools.wraps(helper)
    def run(*args: Any, **kwargs: Any) -> Any:
        if any(_holds_tensor(value) for value in (*args, *kwargs.values())):
            return _record(helper, args, kwargs)
        return helper(*args, **kwargs)

    return run


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_tensor(part) for part in value)
    return isinstance(value, TensorBase)


def _record(function: Any, args: Any, kwargs: Any) -> Any:
    from .record import record

    return record(function, args, kwargs)
