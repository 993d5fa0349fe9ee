"""What a name can be while source is read: an IR operand, or something that exists only at this stage.

In: nothing. Out: small classes; `Value` is any of them.

    ListValue([x, y])       the list `[x, y]`, whose elements are known one by one
    Closure(node, frame)    a lambda or nested function
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ..ir import Arg, Ref, Var
from ..kinds import UNDEFINED, Kind


class Mutable:
    """A container that has identity. `var` is set once it has become an object of the running program.

    `serial` orders containers by when they came into being, so that a branch can tell those it found from
    those it made.
    """

    var: Var | None = None
    serial: int = 0

    @property
    def cells(self) -> dict[Any, Any]:
        """What it holds, by position, key or attribute."""
        raise NotImplementedError

    def restore(self, cells: dict[Any, Any], var: Var | None) -> None:
        raise NotImplementedError


@dataclass(eq=False)
class ListValue(Mutable):
    """A list whose elements are known; once `var` is set, elements are read and written at run time."""

    items: list[Any]
    element: Kind = UNDEFINED  # what the elements are once `var` is set
    var: Var | None = None
    origin: Var | None = None  # a list of the user's globals or closure: what is done to it is done for good
    place: Any = None  # where the surrounding code holds that
    key: Any = None  # where in the source it is made
    parts: tuple[ListValue, ...] = ()  # the lists that it may be
    serial: int = 0
    is_tuple: bool = False  # a tuple whose length is not known

    @property
    def cells(self) -> dict[Any, Any]:
        return dict(enumerate(self.items))

    def restore(self, cells: dict[Any, Any], var: Var | None) -> None:
        self.items, self.var = list(cells.values()), var


@dataclass(eq=False)
class DictValue(Mutable):
    """A dict with known keys."""

    items: dict[Any, Any]
    var: Var | None = None
    origin: Var | None = None  # as in `ListValue`
    serial: int = 0

    @property
    def cells(self) -> dict[Any, Any]:
        return dict(self.items)

    def restore(self, cells: dict[Any, Any], var: Var | None) -> None:
        self.items, self.var = dict(cells), var


@dataclass(eq=False)
class ObjectValue(Mutable):
    """An instance of a Python class; `origin` is the running object, if it was passed in."""

    cls: type
    attributes: dict[str, Any]
    origin: Var | None = None
    var: Var | None = None
    serial: int = 0

    @property
    def cells(self) -> dict[Any, Any]:
        return dict(self.attributes)

    def restore(self, cells: dict[Any, Any], var: Var | None) -> None:
        self.attributes, self.var = dict(cells), var


@dataclass(eq=False)
class Closure:
    """A function or lambda defined inside the code being read; names are looked up in `frame` when called."""

    node: cst.FunctionDef | cst.Lambda
    frame: Any
    defaults: dict[str, Any]
    name: str = "lambda"


@dataclass(eq=False)
class Bound:
    """A method of a value: called with the value first."""

    function: Any
    receiver: Any


@dataclass(eq=False)
class Method:
    """`x.name` of an array, list, dict or string, about to be called."""

    receiver: Any
    name: str


@dataclass(eq=False)
class Partial:
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(eq=False)
class Marked(Partial):
    """`checkpoint(f)`: `function`, to be run again in the reverse sweep."""


@dataclass(eq=False)
class Derivative(Partial):
    """`grad(f)`: the derivative of `function`; `options` are those of `Gradient`."""

    options: dict[str, Any]


@dataclass(eq=False)
class Choice:
    """One of two values that cannot be joined (two functions, say), by a condition."""

    condition: Arg
    then: Any
    orelse: Any


@dataclass(eq=False)
class Iteration:
    """Something to loop over by position: `item(i)` for i in range(`count()`)."""

    count: Callable[[], Arg]
    item: Callable[[Arg], Any]
    plain: Arg | None = None  # the iterable itself, where it can be looped over as it is
    constant: range | None = None  # its elements, where they are known integers
    snapshots: Arg | None = None  # the loop is checkpointed: how many states its gradient may keep


@dataclass(eq=False)
class Steps:
    """Something to loop over whose elements are known one by one."""

    items: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class Flat:
    """`a.flat` of an array."""

    array: Var


@dataclass(eq=False)
class Generator:
    """A generator expression that has not been run; it runs once.

    `items`: what its first `for` goes over, which Python looks up at once. `loops`: how many loops are around
    it. `read`: where each frame has named it.
    """

    node: cst.GeneratorExp
    frame: Any
    items: Any
    loops: int = 0
    read: dict[int, cst.CSTNode] = field(default_factory=dict)


Value = (
    Arg
    | ListValue
    | DictValue
    | ObjectValue
    | Closure
    | Bound
    | Method
    | Partial
    | Choice
    | Iteration
    | Steps
    | Generator
)

__all__ = [
    "Bound",
    "Choice",
    "Closure",
    "Derivative",
    "DictValue",
    "Flat",
    "Generator",
    "Iteration",
    "ListValue",
    "Method",
    "Mutable",
    "ObjectValue",
    "Partial",
    "Ref",
    "Steps",
    "Value",
]
