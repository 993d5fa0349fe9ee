"""Objects of user classes: `super()`, operators and subscripts by their methods, copies, dataclasses.

In: a reader, a frame, an `ObjectValue`. Out: the value of what Python does with such an object.

    class Scaled(Base):
        def fwd(self, x):
            return 2.0 * super().fwd(x)      # `Base.fwd`, with this object
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import libcst as cst
import numpy as np

from ..errors import Code
from ..ir import Const, Ref, Tup, Var
from ..kinds import Array, Number
from .calls import builtin, call, construct
from .expressions import attribute
from .reader import Frame, Reader
from .values import Bound, DictValue, ListValue, ObjectValue


@builtin(super)
def _super(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """`super()` in a method, or `super(Class, self)`."""
    if args:
        start, obj = (getattr(args[0], "value", None), args[1]) if len(args) == 2 else (None, None)
    else:
        start, obj = _around(frame)
    if not isinstance(start, type) or not isinstance(obj, ObjectValue):
        reader.refuse(frame, node, Code.UNSUPPORTED_SYNTAX, "this super() is not read", "name the base class")
    return Super(start, obj)


def _around(frame: Frame) -> tuple[Any, Any]:
    """The class whose method is being read, and the object it is called with."""
    at: Frame | None = frame
    while at is not None:
        function = at.function
        if function is not None and "__class__" in function.__code__.co_freevars:
            cell = function.__closure__[function.__code__.co_freevars.index("__class__")]
            return cell.cell_contents, at.env.get(function.__code__.co_varnames[0])
        at = at.parent
    return None, None


@dataclasses.dataclass(eq=False)
class Super:
    """`super()`: the attributes of `obj` as the classes after `start` define them."""

    start: type
    obj: ObjectValue

    def attribute(self, reader: Reader, frame: Frame, name: str, node: cst.CSTNode | None) -> Any:
        order = self.obj.cls.__mro__
        raw = next((vars(c)[name] for c in order[order.index(self.start) + 1 :] if name in vars(c)), None)
        text = f"{self.start.__name__}.{name}"
        if isinstance(raw, property):
            return call(reader, frame, Bound(Ref(raw.fget, text), self.obj), [], {}, node)
        if isinstance(raw, staticmethod):
            return Ref(raw.__func__, text)
        if isinstance(raw, classmethod):
            return Bound(Ref(raw.__func__, text), reader.class_ref(self.obj.cls))
        if hasattr(raw, "__code__") or raw is object.__init__:
            return Bound(Ref(raw, text), self.obj)
        reader.refuse(
            frame, node, Code.UNSUPPORTED_SYNTAX, f"super().{name} is not read", "name the base class"
        )


def by_method(
    reader: Reader, frame: Frame, x: Any, name: str, args: list[Any], node: cst.CSTNode | None
) -> Any:
    """What `x.__name__(*args)` gives where `x` is of a user class that has it; NotImplemented elsewhere."""
    if not isinstance(x, ObjectValue) or not hasattr(getattr(x.cls, name, None), "__code__"):
        return NotImplemented
    return call(reader, frame, attribute(reader, frame, x, name, node), args, {}, node)


@builtin(abs)
def _abs(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return by_method(reader, frame, args[0], "__abs__", [], node)


@builtin(dataclasses.replace)
def _replace(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    (x,) = args
    if not isinstance(x, ObjectValue) or not dataclasses.is_dataclass(x.cls):
        return NotImplemented
    kept = {f.name: x.attributes[f.name] for f in dataclasses.fields(x.cls) if f.init}
    return construct(reader, frame, reader.class_ref(x.cls), [], {**kept, **kwargs}, node)


@builtin(copy.copy)
def _copy(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return copied(reader, args[0], False)


@builtin(copy.deepcopy)
def _deepcopy(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return copied(reader, args[0], True)


def copied(reader: Reader, x: Any, deep: bool) -> Any:
    """`copy.copy(x)` or `copy.deepcopy(x)`, as far as it is known what `x` is made of."""

    def inside(v: Any) -> Any:
        return copied(reader, v, True) if deep else v

    if isinstance(x, Const | Ref) or (isinstance(x, Var) and isinstance(x.kind, Number)):
        return x
    if isinstance(x, Var) and isinstance(x.kind, Array):
        return reader.call(np.copy, x, order=Const("K"))
    parts: list[Any] = []
    if isinstance(x, Tup):
        parts = [inside(v) for v in x.items]
        made: Any = Tup(tuple(parts), x.cls)
    elif isinstance(x, ListValue) and x.var is None:
        parts = [inside(v) for v in x.items]
        made = reader.new(ListValue(parts))
    elif isinstance(x, DictValue) and x.var is None:
        parts = [inside(v) for v in x.items.values()]
        made = reader.new(DictValue(dict(zip(x.items, parts, strict=True))))
    elif isinstance(x, ObjectValue) and not _copies_itself(x.cls):
        parts = [inside(v) for v in x.attributes.values()]
        made = reader.new(ObjectValue(x.cls, dict(zip(x.attributes, parts, strict=True))))
    else:
        return NotImplemented
    return NotImplemented if any(p is NotImplemented for p in parts) else made


def _copies_itself(cls: type) -> bool:
    return any(hasattr(cls, name) for name in ("__copy__", "__deepcopy__"))


__all__ = ["Super", "by_method", "copied"]
