"""Whether operations are recorded: one state per thread, and the contexts that change it.

In: `with no_grad():`, `@no_grad()`, `set_grad_enabled(False)` and the like. Out: `state`, which every
operation reads. A context restores what it found, also after an exception; contexts nest; a decorated
generator runs each of its steps inside the context.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    >>> is_grad_enabled()
    True
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, ClassVar, TypeVar

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
    "state",
]

F = TypeVar("F", bound=Callable[..., Any])

#: Values of `State.mode`, the one attribute that the fast path of an operation reads.
OFF, ON, SPECIAL = 0, 1, 2


class State(threading.local):
    """The thread's settings; `mode` sums them up.

    Attributes:
        mode: `OFF` (record nothing), `ON` (record), or `SPECIAL`: look at the other attributes.
        grad: whether operations are recorded.
        inference: whether new tensors are inference tensors.
        saving: the innermost `saved_tensors_hooks`, a pair (pack, unpack), or None.
        anomaly: whether forward tracebacks are kept and gradients checked for nan.
        check_nan: whether anomaly detection also looks for nan, or only keeps tracebacks.
    """

    mode: int = ON
    grad: bool = True
    inference: bool = False
    saving: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None
    anomaly: bool = False
    check_nan: bool = True

    def change(self, **settings: Any) -> dict[str, Any]:
        """Set attributes; returns the old values, with which to call `change` again."""
        old = {name: getattr(self, name) for name in settings}
        for name, value in settings.items():
            setattr(self, name, value)
        if self.inference or self.saving is not None or self.anomaly:
            self.mode = SPECIAL
        else:
            self.mode = ON if self.grad else OFF
        return old


state = State()


class Context:
    """A change of the thread's settings, as a context manager and as a decorator."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._entered: list[dict[str, Any]] = []

    def __enter__(self) -> Any:
        self._entered.append(state.change(**self._settings))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.change(**self._entered.pop())

    def __call__(self, function: F) -> F:
        """`function`, run inside this context on every call."""
        settings = self._settings
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return _stepped(function(*args, **kwargs), settings)
        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with Context(**settings):
                    return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


def _stepped(generator: Generator[Any, Any, Any], settings: dict[str, Any]) -> Generator[Any, Any, Any]:
    """`generator`, each of whose steps runs inside a context while its consumer does not."""
    step: Callable[[], Any] = functools.partial(next, generator)
    while True:
        try:
            with Context(**settings):
                value = step()
        except StopIteration as stop:
            return stop.value
        try:
            sent = yield value
            step = functools.partial(generator.send, sent)
        except GeneratorExit:
            with Context(**settings):
                generator.close()
            raise
        except BaseException as error:
            step = functools.partial(generator.throw, error)


class _Switch(Context):
    """A context without arguments, so that a bare ``@no_grad`` works as ``@no_grad()`` does."""

    _value: ClassVar[dict[str, Any]]

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = super().__new__(cls)
        if function is None:
            return self
        Context.__init__(self, **cls._value)
        return self(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__(**self._value)


class no_grad(_Switch):
    """Record nothing inside.

    >>> with no_grad():
    ...     state.grad
    False
    """

    _value: ClassVar[dict[str, Any]] = {"grad": False}


class enable_grad(_Switch):
    """Record inside, also within `no_grad`.

    >>> with no_grad(), enable_grad():
    ...     state.grad
    True
    """

    _value: ClassVar[dict[str, Any]] = {"grad": True, "inference": False}


class set_grad_enabled(Context):
    """Switch recording on or off: from this call on, or, used as a context, until its end.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(grad=bool(mode))
        self._before: dict[str, Any] | None = state.change(grad=bool(mode))

    def __enter__(self) -> Any:
        before, self._before = self._before, None
        if before is None:
            return super().__enter__()
        self._entered.append(before)
        return self

    def __call__(self, function: F) -> F:
        if self._before is not None:  # used as a decorator: only the calls of `function` are meant
            state.change(**self._before)
            self._before = None
        return super().__call__(function)


class inference_mode(Context):
    """Record nothing inside, and mark what is made as never to be recorded.

    Args:
        mode: False leaves inference mode.
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        self = super().__new__(cls)
        if callable(mode):
            Context.__init__(self, inference=True, grad=False)
            return self(mode)
        return self

    def __init__(self, mode: bool | Callable[..., Any] = True) -> None:
        super().__init__(inference=bool(mode), grad=not mode)


def is_grad_enabled() -> bool:
    """Whether this thread records operations now."""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return state.inference
