"""The reader's state: frames of names, the journal of known containers, and how branches are joined.

In: a builder. Out: `Reader`, which the expression, call, statement and loop functions work on.

    reader.branches(frame, condition, lambda: a, lambda: b)   # -> a value that is a or b, and an `If`
"""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import libcst as cst
import numpy as np

from ...runtime.array_modules import standard
from ..builder import Builder
from ..comments import notes_at
from ..errors import AdjoinError, Code, Where
from ..infer import arg_kind
from ..ir import (
    FALSE,
    NOT_IMPORTABLE,
    RAISE,
    UNBOUND,
    Arg,
    Block,
    Const,
    Dct,
    If,
    Lst,
    Op,
    Ref,
    Site,
    Slc,
    Star,
    Statement,
    Tup,
    Var,
    bound_inside,
    constants,
)
from ..kinds import (
    BOOL,
    UNDEFINED,
    UNKNOWN,
    Array,
    Container,
    Kind,
    Opaque,
    Static,
    Undefined,
    is_function,
    join,
    signature_kind,
)
from ..kinds import Sequence as SequenceKind
from ..source import Source, read
from .values import (
    Bound,
    Choice,
    Closure,
    DictValue,
    Flat,
    Iteration,
    ListValue,
    Mutable,
    ObjectValue,
    Partial,
    Steps,
)

Path = tuple[tuple[str, Any], ...]
#: Where the surrounding code holds a list: the path of what it is a part of, and the keys that lead to it.
Place = tuple[Any, ...]
#: In place of the path: an object by its id, which stands in two places.
ALIASED = "aliased"
#: What a function of the module that is called has opened for itself.
INSIDE = object()

#: The flag of a path that raises: what follows it is not reached.
DEAD = "%dead"


def is_flag(name: str) -> bool:
    """Whether a name says that a jump was taken: it is False where nothing has bound it."""
    return name in ("%done", "%break", "%continue") or name.startswith("%return")


@dataclass(eq=False)
class Frame:
    """The names of one function being read."""

    source: Source
    function: Any = None  # the Python function, for its globals and closure
    path: Path = ()  # how to find `function` again
    parent: Frame | None = None  # the frame of the enclosing function, for a nested one
    env: dict[str, Any] = field(default_factory=dict)
    loops: int = 0  # loops of this function around the current statement
    # what a `return` inside loops returns, by number: an expression, or the name of what it has evaluated
    returns: list[cst.BaseExpression | str | None] = field(default_factory=list)
    assigned: list[frozenset[str]] = field(default_factory=list)  # names that each loop around may bind
    can_unroll: bool = False  # the loop around counts over known integers
    body: cst.CSTNode | None = None
    name: str = ""
    tries: list[bool] = field(default_factory=list)  # each `try` around; whether it has a `finally`
    results: list[cst.BaseExpression] = field(default_factory=list)  # what `return` evaluates inside of them
    lost: set[str] = field(default_factory=set)  # functions and containers that only a loop has bound


class Carried(Exception):
    """A name is read in a loop before this trip has bound it: it has to be carried from trip to trip."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class NotTakenApart(Exception):
    """All is read again: a list of the surrounding code has to be one object of the running program.

    Or an object stands in two places, which was not known where it was changed.
    """

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class Free:
    """A value of the user's globals, closures or defaults that the generated code takes as an argument."""

    var: Var
    path: Path
    kind: Kind


def _is_shared(cls: Any) -> bool:
    """Whether an argument of this class is changed where it is, and not a copy: an object with a life."""
    return not issubclass(cls, dict | list | tuple) and not hasattr(cls, "__dataclass_fields__")


def _element_of(kind: Container) -> Kind:
    """The kind of the elements of a list that is not taken apart."""
    element: Kind = UNDEFINED
    for item in kind.items:
        if isinstance(item, Container) and item.type is list:
            item = SequenceKind(_element_of(item))
        element = join(element, item)
    return element


def _make_oldest(value: Any) -> None:
    """Containers of before everything that is read."""
    if isinstance(value, Tup):
        for item in value.items:
            _make_oldest(item)
    elif isinstance(value, Mutable):
        value.serial = 0
        for cell in value.cells.values():
            _make_oldest(cell)


class Reader(Builder):
    """Reads source into statements."""

    def __init__(self) -> None:
        super().__init__()
        self.journal: list[tuple[Mutable, dict[Any, Any], Var | None]] = []
        self.serial = 0
        self.free: dict[Path, Free] = {}
        self.opened: dict[Path, Any] = {}  # what the function being read has of them, taken apart
        self.entry: list[Statement] = []  # what it reads of them when it begins
        self.outside: set[Var] = set()  # lists of the surrounding code that are not taken apart
        self.whole: Set[Place] = frozenset()  # where those stand, besides long ones
        self.bindings: dict[Hashable, Path] = {}  # the first way to each name of the surrounding code
        self.objects: dict[int, Any] = {}  # what stands for an object of it, by its id
        self.aliased: set[Any] = set()  # what is one object of it in two places
        self.frozen: set[Mutable] = set()  # what the surrounding code has been given
        self.guards: dict[Path, str] = {}  # constants read from the user's globals, with what they were
        self.sources: list[Source] = []
        self.calls: list[
            tuple[Any, int]
        ] = []  # functions being read, outermost first, with the blocks around
        self.read: dict[int, tuple[Any, Source]] = {}
        self.stale: set[Var] = set()  # lists of the surrounding code that have grown
        self.root_name = ""
        self.memo: dict[Any, Kind] = {}  # kinds of the elements of a list, by where in the source it is made
        self.maybe_unbound: set[Var] = set()  # names that some path does not bind
        self.instances: dict[Any, Any] = {}  # functions of the module that recursion has made
        self.widened = False  # the elements of a running list turned out to be of a wider kind
        self.reasons: dict[int, AdjoinError] = {}  # why a call was left as it is, by the id of its operation
        self.hooked = False  # a hook changes or looks at an adjoint
        self.splicing = False  # reading a rule's or helper's body, not the user's
        self.rereading = False  # reading code that was generated
        self.as_it_is: Ref | None = None  # the call instead of which a body is being read
        self.catching = 0  # how many `try` around, in this function or a caller, may go on after an exception
        self.static_only = False  # give up at the first branch that is not decided

    # -- errors ------------------------------------------------------------------------------------

    def site_of(self, frame: Frame, node: cst.CSTNode, statement: bool = False) -> Site | None:
        if self.splicing:
            return self.site
        where = frame.source.where(node)
        text, notes = (self.site.text, self.site.notes) if self.site else ("", None)
        if statement:
            text, first = frame.source.code(node), where.line - frame.source.line
            last = (
                first if isinstance(node, cst.BaseCompoundStatement) else where.end_line - frame.source.line
            )
            notes = notes_at(frame.source.lines, first, last)
        return Site(where.file, where.line, where.column, where.end_line, where.end_column, text, notes)

    def refuse(
        self, frame: Frame, node: cst.CSTNode | None, code: Code, reason: str, rewrite: str = ""
    ) -> NoReturn:
        site = self.site if node is None else self.site_of(frame, node)
        raise AdjoinError(code, reason, where=Where.of(site) if site else None, rewrite=rewrite or None)

    def source_of(self, function: Any) -> Source:
        """The source of a user's function, read once: its nodes stand for places in it."""
        if id(function) not in self.read:
            self.read[id(function)] = (function, read(function))
        return self.read[id(function)][1]

    # -- containers --------------------------------------------------------------------------------

    def new(self, container: Any) -> Any:
        self.serial += 1
        container.serial = self.serial
        return container

    def joined(self, container: Any, *may_be: Any) -> Any:
        """A new container that stands for others."""
        self.new(container)
        return self.hold(container) if any(map(self.is_held, may_be)) else container

    def is_held(self, x: Any) -> bool:
        """Whether the surrounding code has a list, dict or object."""
        if isinstance(x, Var):
            return x in self.outside
        return isinstance(x, Mutable) and (x in self.frozen or getattr(x, "origin", None) is not None)

    def hold(self, container: Any) -> Any:
        """A container that stands for one that the surrounding code has is not to be changed."""
        self.frozen.add(container)
        return container

    def change(self, container: Mutable) -> None:
        """To be called before a known container is changed."""
        self.check_own(container)
        self.journal.append((container, container.cells, container.var))

    def rewind(self, mark: int) -> None:
        """Undo every change since `mark`."""
        while len(self.journal) > mark:
            container, cells, var = self.journal.pop()
            container.restore(cells, var)

    def check_own(self, container: Any) -> None:
        """Refuse to change what the surrounding code has been given, or has in two places."""
        if container in self.aliased:
            raise AdjoinError(
                Code.MUTATION,
                "a list, dict or object that the surrounding code has in two places is changed",
                where=Where.of(self.site) if self.site else None,
                rewrite="take it from one place everywhere",
            )
        if container in self.frozen:
            raise AdjoinError(
                Code.MUTATION,
                "a list, dict or object is put into one of the surrounding code, and then changed",
                where=Where.of(self.site) if self.site else None,
                rewrite="put a copy there, or change it before",
            )

    def share(self, value: Any) -> Arg:
        """An operand that the surrounding code gets to hold."""
        if isinstance(value, ListValue | DictValue) and value.origin is not None:
            return value.origin
        self._freeze(value)
        return self.arg(value)

    def _freeze(self, value: Any) -> None:
        if isinstance(value, Tup):
            for item in value.items:
                self._freeze(item)
        elif isinstance(value, Mutable) and getattr(value, "origin", None) is None:
            self.frozen.add(value)
            for cell in value.cells.values():
                self._freeze(cell)

    def check_known(self, x: Any) -> None:
        """Refuse to read a list of the surrounding code that has been changed here."""
        if (x.origin if isinstance(x, ListValue) else x) in self.stale:
            raise AdjoinError(
                Code.MUTATION,
                "a list of the surrounding code is changed here, and then read",
                where=Where.of(self.site) if self.site else None,
                rewrite="keep what you need in a list of this function",
            )

    def run(self, container: ListValue, name: str = "") -> Var:
        """Make a known list an object of the running program."""
        self.check_known(container)
        if container.place is not None:
            raise NotTakenApart(container.place)
        if container.var is None:
            items = [self.arg(item) for item in container.items]
            for item in items:
                container.element = join(container.element, arg_kind(item))
            self.change(container)
            container.var = self.value(Lst(tuple(items)), name or "items", SequenceKind(container.element))
        return container.var

    def arg(self, value: Any) -> Arg:
        """A value as an operand of the running program."""
        if isinstance(value, Tup):
            return Tup(tuple(self.arg(v) for v in value.items), value.cls)
        if isinstance(value, Var):
            self.check_known(value)
        if isinstance(value, Var | Const | Ref | Lst | Dct):
            return value
        if isinstance(value, Slc):
            return Slc(self.arg(value.start), self.arg(value.stop), self.arg(value.step))
        if isinstance(value, Star):
            return Star(self.arg(value.value))
        self.check_known(value)
        if isinstance(value, Flat):
            return self.call(np.ravel, value.array)  # type: ignore[no-any-return]
        if isinstance(value, ListValue):
            return value.var if value.var is not None else Lst(tuple(self.arg(v) for v in value.items))
        if isinstance(value, DictValue):
            return value.var or Dct(tuple((Const(k), self.arg(v)) for k, v in value.items.items()))
        if isinstance(value, ObjectValue):
            if value.origin is not None:
                return value.origin
            if hasattr(value.cls, "__dataclass_fields__"):
                fields = tuple((Const(k), self.arg(v)) for k, v in value.attributes.items())
                return Dct(fields, self.class_ref(value.cls))
        if isinstance(value, Iteration) and value.plain is not None:
            return value.plain
        if isinstance(value, Iteration | Steps):
            from .loops import listed

            return self.arg(listed(self, value))
        if isinstance(value, Choice):
            return self.choose(value.condition, lambda: self.arg(value.then), lambda: self.arg(value.orelse))
        what = {Closure: "a nested function", Bound: "a bound method", Partial: "a partial function"}
        raise AdjoinError(
            Code.OPAQUE_CALL,
            f"{what.get(type(value), 'this value')} goes somewhere where it cannot be followed",
            where=Where.of(self.site) if self.site else None,
            rewrite="call it here, or pass it to a function whose source can be read",
        )

    def class_ref(self, cls: type) -> Ref:
        """A class of which the generated module makes instances; `NOT_IMPORTABLE` if it cannot get at it."""
        outer, _, _ = cls.__qualname__.partition(".")
        found: Any = sys.modules.get(cls.__module__)
        for part in cls.__qualname__.split("."):
            found = getattr(found, part, None)
        home = f"from {cls.__module__} import {outer}" if found is cls else NOT_IMPORTABLE
        return Ref(cls, cls.__qualname__, home)

    def open(self, var: Arg, kind: Kind, name: str, place: Place | None = None) -> Any:
        """A value of a known structure, taken apart: each leaf becomes a variable of its own.

        `place` is where the surrounding code holds it, if it does and so sees what is done to it.
        """
        if isinstance(kind, Static):
            return self.static(kind.value, name)
        if isinstance(kind, Container) and kind.type is list and place in self.whole:
            kind = SequenceKind(_element_of(kind))
            var = self.value(var, name, kind)
        if place is not None and isinstance(kind, SequenceKind) and isinstance(var, Var):
            self.outside.add(var)
        if not isinstance(kind, Container):
            return var
        if place is None and _is_shared(kind.type):
            place = ("object", name)
        parts: dict[Any, Any] = {}
        for key, item in zip(kind.keys, kind.items, strict=True):
            leaf = key if isinstance(key, str) and key.isidentifier() else f"{name}_{key}"
            if isinstance(item, Static):
                parts[key] = self.static(item.value, leaf)
                continue
            if isinstance(key, str) and kind.type not in (dict, list, tuple):
                part: Arg = self.let(_attribute(key), var, name=leaf, kind=item)
            else:
                part = self.let(_index_op(), var, Const(key), name=leaf, kind=item)
            parts[key] = self.open(part, item, leaf, None if place is None else (*place, key))
        origin = var if place is not None and isinstance(var, Var) else None
        if kind.type is dict:
            return self.new(DictValue(parts, origin=origin))
        if kind.type is list:
            return self.new(ListValue(list(parts.values()), origin=origin, place=place))
        if issubclass(kind.type, tuple):
            named = hasattr(kind.type, "_fields")
            return Tup(tuple(parts.values()), self.class_ref(kind.type) if named else None)
        assert isinstance(var, Var)
        return self.new(ObjectValue(kind.type, parts, origin=var))

    def static(self, value: Any, name: str) -> Any:
        """An argument that is what it is in every call with this signature."""
        if not is_function(value):
            return Const(value)
        short = getattr(value, "__name__", name)
        if getattr(np, short, None) is value:
            return Ref(value, f"{self.numpy.text}.{short}", self.numpy.imports)
        found = _import_of(value, short)
        return Ref(value, short if found else name, found, (("argument", name),))

    # -- Python objects ----------------------------------------------------------------------------

    def wrap(self, obj: Any, text: str, path: Path | None, binding: Hashable = None) -> Any:
        """A Python object found in the user's namespaces, as a value.

        `binding` tells what holds it under a name: the id of a cell, or that of a namespace and the name. Two
        ways there, by the names of two functions, lead to one value.
        """
        if obj is None or isinstance(obj, bool | str | bytes) or obj is Ellipsis:
            if path is not None and not self.splicing:
                self.guards[path] = repr(obj)
            return Const(obj)
        if self.splicing and isinstance(obj, int | float | complex):
            return Const(obj)
        if isinstance(obj, types.ModuleType):
            return module_ref(obj, text, path)
        if is_function(obj) or standard(obj) is not obj:
            return Ref(standard(obj), text, _import_of(obj, text), path)
        if obj is np.r_ or obj is np.c_:
            return Ref(obj, text, f"from numpy import {'r_' if obj is np.r_ else 'c_'} as {text}", path)
        if obj is np._NoValue:
            return self.numpy_ref("_NoValue", obj)
        if isinstance(obj, np.dtype):
            return Ref(obj, f"{self.numpy.text}.dtype({obj.str!r})", self.numpy.imports, path)
        if path is None:
            if isinstance(obj, int | float | complex):
                return Const(obj)
            return Ref(obj, text, "")
        if binding is not None and (isinstance(obj, list | dict) or hasattr(obj, "__dict__")):
            path = self.bindings.setdefault(binding, path)
        if path not in self.free:
            self.free[path] = self._free(text, path, signature_kind(obj, f"{text}@{len(self.free)}"))
        if path not in self.opened:
            self.opened[path] = self._open_outside(self.free[path])
            self._note_object(self.opened[path], obj)
        return self.opened[path]

    def _note_object(self, opened: Any, obj: Any) -> None:
        """Note which object each part stands for: one that stands in two places is not to be changed."""
        parts: Mapping[Any, Any] = {}
        if isinstance(opened, Mutable) or (isinstance(opened, Var) and opened in self.outside):
            self._note_place(id(obj), opened)
        if isinstance(opened, Mutable):
            parts = opened.cells
        elif isinstance(opened, Tup):
            parts = dict(enumerate(opened.items))
        for key, part in parts.items():
            by_name = isinstance(opened, ObjectValue)
            held = getattr(obj, key, None) if by_name else obj[key]
            self._note_object(part, held)

    def _note_place(self, obj: int, opened: Any) -> None:
        first = self.objects.setdefault(obj, opened)
        if (ALIASED, obj) in self.whole:
            self.aliased.add(opened)
        elif first is not opened:
            raise NotTakenApart((ALIASED, obj))

    @contextmanager
    def another_function(self) -> Iterator[list[Statement]]:
        """What is read inside belongs to a function of its own; gives what that reads when it begins."""
        outer = self.entry, self.opened, self.objects
        self.entry, self.opened, self.objects = [], {}, {}
        try:
            yield self.entry
        finally:
            inside = self.objects
            self.entry, self.opened, self.objects = outer
        for obj in inside:
            self._note_place(obj, INSIDE)

    def _open_outside(self, free: Free) -> Any:
        """A value of the surrounding code, taken apart where the function begins.

        So it is the same one wherever the function reads it or changes it.
        """
        born, place = self.serial, (self.statements, self.site)
        self.statements, self.site = self.entry, None
        opened = self.open(free.var, free.kind, free.var.name, (free.path,))
        self.statements, self.site = place
        self.serial = born
        _make_oldest(opened)
        return opened

    def spelled(self, ref: Ref) -> Ref | None:
        """A callable in words that generated code can say; None if there are none."""
        value: Any = ref.value
        name: str = getattr(value, "__name__", "")
        if ref.imports or vars(builtins).get(name) is value:
            return ref
        numpy = self.numpy
        owner = getattr(value, "__self__", None)
        ufunc: str = getattr(owner, "__name__", "")
        if isinstance(owner, np.ufunc) and vars(np).get(ufunc) is owner:
            return Ref(value, f"{numpy.text}.{ufunc}.{name}", numpy.imports, ref.path)
        if vars(np.ndarray).get(name) is value:
            return Ref(value, f"{numpy.text}.ndarray.{name}", numpy.imports, ref.path)
        return None

    def taken(self, ref: Ref) -> Var:
        """A callable that generated code takes as an argument."""
        assert ref.path is not None
        if ref.path not in self.free:
            self.free[ref.path] = self._free(ref.text, ref.path, Opaque(None))
        return self.free[ref.path].var

    def _free(self, text: str, path: Path, kind: Kind) -> Free:
        name = text if text.isidentifier() else str(path[-1][1])
        if any(f.var.name == name for f in self.free.values()):
            name = f"{name}_{len(self.free)}"
        return Free(Var(name, kind), path, kind)

    def lookup(self, frame: Frame, name: str, node: cst.CSTNode | None = None) -> Any:
        """The value of a name: local, of an enclosing function, or found in the Python namespaces."""
        at: Frame | None = frame
        while at is not None:
            if name in at.env:
                value = at.env[name]
                if value is UNBOUND:
                    break
                if isinstance(value, Var) and value in self.maybe_unbound:
                    self.maybe_unbound.discard(value)
                    self.do(Op("touch", name), value)
                return value
            if name in at.lost:
                self.refuse(
                    frame,
                    node,
                    Code.UNSUPPORTED_SYNTAX,
                    f"{name!r} is bound in a loop, and used after it",
                    "bind it before the loop",
                )
            if any(name in names for names in at.assigned):
                raise Carried(name)  # bound by an earlier trip of a loop, if at all
            if at.function is not None:
                found = self._global(at, name)
                if found is not None:
                    return found
            at = at.parent
        if self.splicing:
            self.refuse(frame, node, Code.UNBOUND_NAME, f"the name {name!r} is not bound here")
        local = name in _local_names(frame)
        message = f"cannot access local variable {name!r} where it is not associated with a value"
        return self.fail(
            frame,
            UnboundLocalError if local else NameError,
            message if local else f"name {name!r} is not defined",
        )

    def fail(self, frame: Frame, error: type[BaseException], message: Any) -> Var:
        """What follows is not reached: the running program raises here."""
        call = Op("call", error.__name__, error, Ref(error, error.__name__))
        self.do(RAISE, self.let(call, Const(message), kind=Opaque(error)))
        frame.env[DEAD] = Const(True)
        return UNBOUND

    def _global(self, frame: Frame, name: str) -> Any:
        function = frame.function
        code = function.__code__
        if name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                return self.wrap(cell.cell_contents, name, (*frame.path, ("cell", name)), id(cell))
            except ValueError:
                return None
        if name in function.__globals__:
            names = function.__globals__
            return self.wrap(names[name], name, (*frame.path, ("global", name)), (id(names), name))
        if hasattr(builtins, name):
            return Ref(getattr(builtins, name), name, "")
        return None

    # -- branches ----------------------------------------------------------------------------------

    def branches(self, frame: Frame, condition: Arg, *paths: Callable[[], Any]) -> Any:
        """Read both paths from the same state and join what they leave: names, containers, the value."""
        assert len(paths) == 2
        site = self.site
        while True:
            mark, born, names = len(self.journal), self.serial, dict(frame.env)
            ends = []
            for path in paths:
                frame.env = dict(names)
                with self.block() as statements:
                    value = path()
                touched = {c: None for c, _, _ in self.journal[mark:] if c.serial <= born}
                state = {c: (c.cells, c.var) for c in touched}
                self.rewind_found(mark, born)
                ends.append((statements, frame.env, value, state))
            frame.env = names
            self.site = site
            ends = _without_dead(names, ends)
            grown = self._grown(ends[0][3], ends[1][3]) or _lists_to_run(ends, born)
            if not grown:
                return self._joined(frame, condition, ends, born)
            for container in grown:
                self._run_before(container, frame)

    def rewind_found(self, mark: int, born: int) -> None:
        """Undo changes of containers that were there before; those of new ones stand."""
        kept = []
        while len(self.journal) > mark:
            container, cells, var = self.journal.pop()
            if container.serial <= born:
                container.restore(cells, var)
            else:
                kept.append((container, cells, var))
        self.journal.extend(reversed(kept))

    def _grown(self, *states: dict[Mutable, tuple[dict[Any, Any], Var | None]]) -> list[Mutable]:
        """Containers whose shape differs between paths: they must become objects before the branch."""
        grown = []
        for container in dict.fromkeys(c for state in states for c in state):
            now = container.cells, container.var
            forms = [state.get(container, now) for state in states]
            if any(form[0].keys() != now[0].keys() or form[1] is not now[1] for form in forms):
                grown.append(container)
        return grown

    def _run_before(self, container: Mutable, frame: Frame) -> None:
        if isinstance(container, ListValue):
            self.run(container)
            return
        self.refuse(
            frame,
            None,
            Code.MUTATION,
            "keys or attributes are added on one path only",
            "give the container all its keys before the branch or loop",
        )

    def _joined(self, frame: Frame, condition: Arg, ends: list[Any], born: int) -> Any:
        (first, env1, value1, state1), (second, env2, value2, state2) = ends
        holders = [_holders(env1, value1, state1), _holders(env2, value2, state2)]
        merge = Merge(self, frame, condition, (first, second), born, holders)
        env: dict[str, Any] = {}
        for name in [*env1, *(n for n in env2 if n not in env1)]:
            missing = FALSE if is_flag(name) else UNBOUND
            env[name] = merge(env1.get(name, missing), env2.get(name, missing), name.strip("%"))
        value = merge(value1, value2, "")
        for container in dict.fromkeys([*state1, *state2]):
            now = container.cells
            one, two = state1.get(container, (now, None))[0], state2.get(container, (now, None))[0]
            self.change(container)
            cells = {
                k: merge(one[k], two[k], k if isinstance(k, str) and k.isidentifier() else "") for k in one
            }
            container.restore(cells, container.var)
        env.pop(DEAD, None)
        if DEAD in env1 and DEAD in env2:
            env[DEAD] = Const(True)
        frame.env = env
        merge.finish()
        return value


def module_ref(module: Any, text: str, path: Path | None = None) -> Ref:
    """A module under the name that it has in the text."""
    alias = f" as {text}" if text != module.__name__ else ""
    return Ref(module, text, f"import {module.__name__}{alias}", path)


def _holders(env: dict[str, Any], value: Any, state: dict[Mutable, Any]) -> dict[int, int]:
    """How many names and containers hold each dict or object that a path leaves."""
    counts: dict[int, int] = {}

    def visit(x: Any) -> None:
        if isinstance(x, Mutable):
            counts[id(x)] = counts.get(id(x), 0) + 1
            if counts[id(x)] > 1:
                return
            parts = list(x.cells.values())
        elif isinstance(x, Tup | Steps):
            parts = list(x.items)
        elif isinstance(x, Partial):
            parts = [x.function, *x.args, *x.kwargs.values()]
        elif isinstance(x, Bound):
            parts = [x.receiver]
        elif isinstance(x, Choice):
            parts = [x.then, x.orelse]
        else:
            parts = list(x.defaults.values()) if isinstance(x, Closure) else []
        for part in parts:
            visit(part)

    for held in (*env.values(), value, *(cell for cells, _ in state.values() for cell in cells.values())):
        visit(held)
    return counts


def _lists_to_run(ends: list[Any], born: int) -> list[Mutable]:
    """Known lists from before the branch that one name may be afterwards: they become objects first."""
    (_, env1, value1, _), (_, env2, value2, _) = ends
    pairs = [(value1, value2), *((env1[n], env2[n]) for n in env1 if n in env2)]
    found = [v for a, b in pairs if a is not b for v in (a, b)]
    return [v for v in found if isinstance(v, ListValue) and v.var is None and v.serial <= born]


def _without_dead(names: dict[str, Any], ends: list[Any]) -> list[Any]:
    """A path that raises leaves nothing: what the other path changed is unbound after it."""
    dead = [DEAD in end[1] for end in ends]
    if all(dead) or not any(dead):
        return ends
    alive = ends[dead.index(False)]
    result = []
    for end, is_dead in zip(ends, dead, strict=True):
        if not is_dead:
            result.append(end)
            continue
        env = {n: (v if names.get(n) is v else UNBOUND) for n, v in alive[1].items()}
        state = {c: (dict.fromkeys(s[0], UNBOUND), s[1]) for c, s in alive[3].items()}
        result.append((end[0], env, UNBOUND if isinstance(alive[2], Var | Tup) else alive[2], state))
    return result


def _local_names_of(reader: Reader) -> set[str]:
    """Local names of the innermost user's function being read."""
    called = reader.calls[-1][0] if reader.calls else None
    code = getattr(called, "__code__", None)
    return set() if code is None else set(code.co_varnames)


def _local_names(frame: Frame) -> set[str]:
    return set(frame.function.__code__.co_varnames) if frame.function is not None else set()


class Merge:
    """Joins the values that two paths leave, collecting what the `If` must bind."""

    def __init__(
        self,
        reader: Reader,
        frame: Frame,
        condition: Arg,
        paths: tuple[list[Statement], list[Statement]],
        born: int,
        holders: list[dict[int, int]],
    ) -> None:
        self.reader, self.frame, self.condition, self.born = reader, frame, condition, born
        self.first, self.second = paths
        self.holders = holders
        self.exported: set[int] = set()
        self.outs: list[Var] = []
        self.yields: tuple[list[Arg], list[Arg]] = ([], [])
        self.seen: dict[tuple[int, int], Any] = {}

    def __call__(self, a: Any, b: Any, name: str) -> Any:
        if (
            a is b
            or (isinstance(a, Const) and a == b)
            or (isinstance(a, Ref) and isinstance(b, Ref) and a.value is b.value)
        ):
            return a
        key = (id(a), id(b))
        if key not in self.seen or isinstance(a, Const):
            self.seen[key] = self._join(a, b, name)
        return self.seen[key]

    def _join(self, a: Any, b: Any, name: str) -> Any:
        if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
            return Tup(tuple(self(x, y, name) for x, y in zip(a.items, b.items, strict=True)), a.cls)
        if isinstance(a, Tup) and _is_undefined(b):
            return Tup(tuple(self(x, UNBOUND, name) for x in a.items), a.cls)
        if isinstance(b, Tup) and _is_undefined(a):
            return Tup(tuple(self(UNBOUND, x, name) for x in b.items), b.cls)
        if any(
            isinstance(
                v, Closure | Bound | Partial | Choice | Iteration | Steps | DictValue | ObjectValue | Ref
            )
            for v in (a, b)
        ):
            if a is UNBOUND or b is UNBOUND:  # reading it unbound fails in the user's function as well
                return self._brought_out(b, 1) if a is UNBOUND else self._brought_out(a, 0)
            if self._of_one_form(a, b):
                cells = {k: self(v, b.cells[k], k if isinstance(k, str) else "") for k, v in a.cells.items()}
                made = ObjectValue(a.cls, cells) if isinstance(a, ObjectValue) else DictValue(cells)
                return self.reader.joined(made, a, b)
            return Choice(self.condition, self._brought_out(a, 0), self._brought_out(b, 1))
        if (a is UNBOUND or b is UNBOUND) and self._is_known_list(held := b if a is UNBOUND else a):
            return held
        known = constants((a, b))
        if known is not None and all(isinstance(each, str) for each in known):
            return Choice(self.condition, a, b)
        one, two = self._arg(a, self.first), self._arg(b, self.second)
        out = Var(name, join(arg_kind(one), arg_kind(two)))
        if isinstance(self.condition, Var) and self.condition.kind == BOOL:
            if one in (Const(True), self.condition) and two in (Const(False), self.condition):
                return self.condition
        if (one is UNBOUND) != (two is UNBOUND) and name in _local_names_of(self.reader):
            self.reader.maybe_unbound.add(out)
        self.outs.append(out)
        self.yields[0].append(one)
        self.yields[1].append(two)
        if isinstance(out.kind, SequenceKind):
            lists = tuple(v for v in (a, b) if isinstance(v, ListValue))
            return self.reader.joined(ListValue([], out.kind.element, out, parts=lists), *lists)
        return out

    def _is_known_list(self, x: Any) -> bool:
        """Whether it is a known list from before the branch."""
        return isinstance(x, ListValue) and x.var is None and x.serial <= self.born

    def _of_one_form(self, a: Any, b: Any) -> bool:
        """Whether two dicts or objects, each made on its path and known by one name, have the same parts."""
        if not isinstance(a, DictValue | ObjectValue) or type(a) is not type(b):
            return False
        if a.var is not None or b.var is not None or a.origin is not None or b.origin is not None:
            return False
        if min(a.serial, b.serial) <= self.born or a.cells.keys() != b.cells.keys():
            return False
        if isinstance(a, ObjectValue) and isinstance(b, ObjectValue) and a.cls is not b.cls:
            return False
        return self.holders[0].get(id(a)) == self.holders[1].get(id(b)) == 1

    def _brought_out(self, x: Any, side: int) -> Any:
        """A value that only one path has made: what it holds has to come out of the `If`."""
        if isinstance(x, Var):
            path = self.second if side else self.first
            if x is UNBOUND or x not in bound_inside(Block(tuple(path))):
                return x
            return self(UNBOUND, x, "") if side else self(x, UNBOUND, "")
        if isinstance(x, Tup):
            return Tup(tuple(self._brought_out(v, side) for v in x.items), x.cls)
        if isinstance(x, Partial):
            named = {k: self._brought_out(v, side) for k, v in x.kwargs.items()}
            args = tuple(self._brought_out(v, side) for v in x.args)
            return replace(x, function=self._brought_out(x.function, side), args=args, kwargs=named)
        if isinstance(x, Bound):
            return replace(x, receiver=self._brought_out(x.receiver, side))
        if isinstance(x, Choice):
            then, orelse = self._brought_out(x.then, side), self._brought_out(x.orelse, side)
            return Choice(self._brought_out(x.condition, side), then, orelse)
        if isinstance(x, Steps):
            return Steps([self._brought_out(v, side) for v in x.items])
        if isinstance(x, Mutable | Closure) and id(x) not in self.exported:
            self.exported.add(id(x))
            if isinstance(x, Closure):
                self._bring_out_of(x, side)
            elif x.serial > self.born:
                if isinstance(x, ListValue) and self._must_be_made_here(x, side):
                    self._arg(x, self.second if side else self.first)
                var = None if x.var is None else self._brought_out(x.var, side)
                var = var.var if isinstance(var, ListValue) else var
                x.restore({k: self._brought_out(v, side) for k, v in x.cells.items()}, var)
        return x

    def _must_be_made_here(self, x: ListValue, side: int) -> bool:
        """Whether a list holds what is bound on its path alone, so that it cannot be made after it."""
        inside = bound_inside(Block(tuple(self.second if side else self.first)))
        plain = all(isinstance(item, Var | Const) for item in x.items)
        return x.var is None and plain and any(item in inside for item in x.items)

    def _bring_out_of(self, closure: Closure, side: int) -> None:
        """What a function that was made on the path has captured, and its defaults."""
        around = set()
        at: Frame | None = self.frame
        while at is not None:
            around.add(id(at))
            at = at.parent
        closure.defaults = {n: self._brought_out(v, side) for n, v in closure.defaults.items()}
        at = closure.frame
        while at is not None and id(at) not in around:
            at.env = {n: self._brought_out(v, side) for n, v in at.env.items()}
            at = at.parent

    def _arg(self, value: Any, statements: list[Statement]) -> Arg:
        outer, self.reader.statements = self.reader.statements, statements
        try:
            return self.reader.run(value) if isinstance(value, ListValue) else self.reader.arg(value)
        finally:
            self.reader.statements = outer

    def finish(self) -> None:
        if self.first or self.second or self.outs:
            self.reader.add(
                If(
                    self.condition,
                    Block(tuple(self.first), tuple(self.yields[0])),
                    Block(tuple(self.second), tuple(self.yields[1])),
                    tuple(self.outs),
                    self.reader.site,
                )
            )


def _is_undefined(value: Any) -> bool:
    """What is not bound, or not known yet: the result of a recursion that is being read."""
    return isinstance(value, Var) and isinstance(value.kind, Undefined)


def _attribute(name: str) -> Any:
    from ..ir import Op

    return Op("attribute", name)


def _index_op() -> Any:
    from ..ir import INDEX

    return INDEX


def _import_of(obj: Any, text: str) -> str:
    """The import statement that binds `text` to a function or class; "" if there is none."""
    module = inspect.getmodule(obj)
    name = getattr(obj, "__name__", "")
    if module is None and vars(np).get(name) is obj:
        module = np
    public = _public_home(module.__name__ if module else "scipy.special")  # SciPy's ufuncs do not know theirs
    if getattr(public, name, None) is obj:
        module = public
    if (
        module is None
        or module.__name__ == "builtins"
        or getattr(module, name, None) is not obj
    ):
        if vars(np).get(name) is obj:
            module = np
        else:
            return ""
    if vars(np).get(name) is obj:
        module = np
    return f"from {module.__name__} import {name}" + (f" as {text}" if text != name else "")


def _public_home(path: str) -> types.ModuleType | None:
    """The package around a private module: `scipy.special` for `scipy.special._basic`."""
    parts = path.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    return sys.modules.get(".".join(parts[:private]))


def known(values: Sequence[Any]) -> bool:
    return all(isinstance(v, Const) for v in values)


__all__ = ["Frame", "Free", "Reader", "known", "UNKNOWN", "UNDEFINED", "Array", "Opaque"]
