"""What a function's gradient depends on, besides its own text: found in its code objects, without LibCST.

In: a `Source`. Out: a `Reach`: `text`, which is the same in two processes exactly if everything that the
function can get at by name is; and `holds()`, a quick look whether the names still mean the same here.

    reach = Reach(read(loss))
    reach.text        # 'def model.loss 3f2c...\\n  np: module numpy\\n  square: def model.square 91aa...'
    reach.holds()     # False once `square` is another function

The names are over-estimated: every global that a function loads, in any branch; every attribute that it could
mean of a module or class. Functions of the standard library and of installed packages are taken as they are.
Data are described by their kinds; constants by their values.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import keyword
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from .kinds import is_function
from .nested import Differentiated
from .signature import key_of, spelled
from .source import Source

__all__ = ["Reach", "compiled_in", "described"]

_KNOWN = frozenset({"numpy", "scipy", "cupy", "adjoin", "builtins"}) | sys.stdlib_module_names
_MISSING = object()


class Reach:
    """Everything that a function can get at by name.

    Attributes:
        text: of it all.
        constants: what `test` refers to, by name.

    >>> from .source import read
    >>> def f(x): return abs(x)
    >>> reach = Reach(read(f))
    >>> reach.text.startswith("def adjoin.transformer.reach.f "), reach.holds()
    (True, True)
    >>> f.__globals__["abs"] = min
    >>> reach.holds()
    False
    """

    def __init__(self, source: Source) -> None:
        self._lines: list[str] = []
        self._seen: set[int] = set()
        self._alive: list[Any] = []  # so that what was seen keeps its id
        self._tests: dict[str, str] = {}
        self._plain: dict[str, tuple[str, str]] = {}
        self._scope = source.function.__globals__
        self.constants: dict[str, Any] = {}
        self._function(source.function)
        for position, value in enumerate(source.args):
            self._value(str(position), value, ())
        for name, value in source.keywords.items():
            self._value(name, value, ())
        self.text = "\n".join(self._lines)

    @functools.cached_property
    def holds(self) -> Callable[[], bool]:
        """Finds out whether the names mean what they meant when this was made."""
        constants = {**self.constants, "object_gone": GONE}
        function: Callable[[], bool] = compiled_in(
            self._scope, "holds", _HOLDS.format(self.test()), constants
        )
        return function

    # -- the watch ---------------------------------------------------------------------------------

    def test(self, taken: Collection[str] = ()) -> str:
        """What `holds` finds out, as an expression for code that is `compiled_in` the function's globals.

        It raises one of `GONE` where a name has gone. Globals stand in it as themselves, which costs next to
        nothing, but for those whose names are `taken` by other variables.
        """
        tests = []
        for owner, value in self._tests.items():
            name, its = self._plain.get(owner, (owner, value))
            tests.append(f"{owner} is {value}" if name in taken else f"{name} is {its}")
        return " and ".join(tests) or "True"

    def _name(self, value: Any) -> str:
        name = f"object_{id(value)}"
        self.constants[name] = value
        return name

    def _watch(self, owner: str, value: Any) -> None:
        """Note that the expression `owner` has to go on giving `value`."""
        self._tests[owner] = self._name(value)

    def _global(self, scope: dict[str, Any], name: str) -> str:
        """The expression for a global."""
        missing = name not in scope
        owner = f"{self._name(scope)}.get({name!r}{f', {self._name(_MISSING)}' if missing else ''})"
        value = scope.get(name, vars(builtins).get(name, _MISSING))
        sayable = name.isidentifier() and not keyword.iskeyword(name)  # pytest: "@py_builtins"
        if scope is self._scope and value is not _MISSING and sayable:
            self._plain[owner] = name, self._name(value)
        return owner

    # -- the walk ----------------------------------------------------------------------------------

    def _new(self, value: Any) -> bool:
        if id(value) in self._seen:
            return False
        self._seen.add(id(value))
        self._alive.append(value)
        return True

    def _function(self, function: types.FunctionType) -> None:
        if not self._new(function):
            return
        self._lines.append(f"def {function.__module__}.{function.__qualname__} {_digest(function.__code__)}")
        self._watch(f"{self._name(function)}.__code__", function.__code__)
        if function.__defaults__:  # where there are none, every argument is given
            self._watch(f"{self._name(function)}.__defaults__", function.__defaults__)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._lines.append(f"= {_constant(value)}")
        names, attributes = _names_in(function.__code__)
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            try:
                value = cell.cell_contents
            except ValueError:  # not bound yet
                continue
            self._value(name, value, attributes, f"{self._name(cell)}.cell_contents")
        scope = function.__globals__
        for name in names:
            value = scope.get(name, _MISSING)
            if value is _MISSING:  # a builtin, as long as no global takes its place
                self._watch(self._global(scope, name), _MISSING)
            else:
                self._value(name, value, attributes, self._global(scope, name))

    def _value(self, name: str, value: Any, attributes: tuple[str, ...], owner: str = "") -> None:
        """Something that a name means; `attributes` are those that may be asked of it."""
        if isinstance(value, types.ModuleType) or is_function(value):
            if owner:
                self._watch(owner, value)
            self._lines.append(f"{name}: {_title(value)}")
            self._behind(value, attributes)
            return
        if owner and isinstance(value, np.dtype):  # a constant of generated code
            self._watch(owner, value)
        self._lines.append(f"{name}: {spelled(key_of(value), _title)}")
        self._class(type(value), attributes)
        for each in _inside(value):
            if isinstance(each, types.FunctionType | type):
                self._behind(each, attributes)
            else:
                self._class(type(each), attributes)

    def _behind(self, value: Any, attributes: tuple[str, ...]) -> None:
        if isinstance(value, types.FunctionType) and _is_the_users(value.__module__):
            self._function(value)
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType) and self._new(wrapped):
            self._seen.discard(id(wrapped))
            self._behind(wrapped, attributes)
        if isinstance(value, types.MethodType):
            self._behind(value.__func__, attributes)
            self._class(type(value.__self__), attributes)
        elif isinstance(value, functools.partial):
            for position, bound in enumerate((value.func, *value.args, *value.keywords.values())):
                self._lines.append(f"{position} {'' if callable(bound) else _constant(bound)}")
                self._value(str(position), bound, attributes)
        elif isinstance(value, types.ModuleType) and _is_the_users(value.__name__) and self._new(value):
            self._attributes(value, attributes)
            self._seen.discard(id(value))
        elif isinstance(value, type):
            self._class(value, attributes)
        elif not isinstance(value, types.FunctionType | types.ModuleType):
            self._class(type(value), attributes)
            functions = [f for f in _inside(value) if is_function(f)] if self._new(value) else []
            for function in functions:  # `np.vectorize` holds one
                self._lines.append(_title(function))
                self._behind(function, attributes)

    def _attributes(self, owner: Any, attributes: tuple[str, ...]) -> None:
        scope = vars(owner)
        for name in attributes:
            if name in scope:
                self._value(name, scope[name], attributes, self._global(scope, name))

    def _class(self, cls: type, attributes: tuple[str, ...]) -> None:
        """The methods and properties of a class of the user's that the attributes can mean."""
        for base in cls.__mro__:
            if not _is_the_users(base.__module__):
                continue
            for name in (*attributes, "__init__", "__call__", "__post_init__"):
                member = vars(base).get(name)
                for function in _functions_of(member):
                    self._watch(f"{self._name(base)}.__dict__.get({name!r})", member)
                    self._function(function)
                if name in vars(base) and not callable(member) and not _functions_of(member):
                    self._lines.append(f"{name}: {spelled(key_of(member), _title)}")


#: What the expression of `Reach.test` raises where a name has gone.
GONE = (NameError, ValueError)

_HOLDS = """
def holds():
    try:
        return {}
    except object_gone:
        return False
"""


def compiled_in(scope: dict[str, Any], name: str, text: str, constants: Mapping[str, Any]) -> Any:
    """The function that `text` defines, with the globals of another function, which stay as they are.

    Args:
        constants: what else the text refers to; they come before globals of the same name.

    >>> compiled_in({"a": 1}, "f", "def f(x): return a + b + x", {"b": 10})(100)
    111
    """
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    module = compile(f"def make({', '.join(constants)}):\n{lines}\n    return {name}", "<adjoin>", "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, types.CodeType))
    return types.FunctionType(code, scope)(*constants.values())


def described(value: Any) -> str:
    """A callable in a key, with all that it depends on."""
    if isinstance(value, types.FunctionType):
        return Reach(Source(value, "", "", 0, 0, ())).text
    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        return f"{spelled(key_of(value.__self__), _title)} {described(value.__func__)}"
    if isinstance(value, functools.partial):
        parts = (value.func, *value.args, *value.keywords.items())
        return f"partial {' '.join(described(p) if callable(p) else _constant(p) for p in parts)}"
    return _title(value)


def _title(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, types.FunctionType):
        return f"def {value.__module__}.{value.__qualname__} {_digest(value.__code__)}"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__qualname__)
    if isinstance(value, Differentiated):
        name = f"{name} {value.options}"
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        name = f"{name} of {_title(owner if isinstance(owner, np.ufunc | type) else type(owner))}"
    return f"{type(value).__name__} {getattr(value, '__module__', None)}.{name}"


def _constant(value: Any) -> str:
    if isinstance(value, bool | int | float | complex | str | bytes | None):
        return repr(value)
    return spelled(key_of(value), _title)


def _inside(value: Any) -> Iterator[Any]:
    """What a container or object holds, functions in particular."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, tuple | list):
        yield from value
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from vars(value).values()


def _functions_of(member: Any) -> list[types.FunctionType]:
    found: tuple[Any, ...] = (member,)
    if isinstance(member, property):
        found = (member.fget,)
    elif isinstance(member, staticmethod | classmethod):
        found = (member.__func__,)
    return [f for f in found if isinstance(f, types.FunctionType)]


@functools.cache
def _is_the_users(module: str | None) -> bool:
    """Whether a module is somebody's own, and not the standard library's or installed."""
    if (module or "").partition(".")[0] in _KNOWN:
        return False
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return not {"site-packages", "dist-packages"}.intersection(PurePath(file).parts)


@functools.lru_cache(maxsize=1024)
def _names_in(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The globals that a code object loads, and the attributes that it asks of anything."""
    names: dict[str, None] = {}
    attributes: dict[str, None] = {}
    for each in _codes(code):
        for instruction in dis.get_instructions(each):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names[instruction.argval] = None
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"):
                attributes[instruction.argval] = None
    return tuple(names), tuple(attributes)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


@functools.lru_cache(maxsize=1024)
def _digest(code: types.CodeType) -> str:
    digest = hashlib.sha256()
    for each in _codes(code):
        constants = [_steady(c) for c in each.co_consts]
        parts = (each.co_name, each.co_varnames, each.co_names, each.co_freevars, each.co_flags, constants)
        digest.update(each.co_code + repr(parts).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def _steady(constant: Any) -> str:
    """A constant of a code object as text that does not depend on the process."""
    if isinstance(constant, frozenset):
        return repr(sorted(map(repr, constant)))
    return "" if isinstance(constant, types.CodeType) else repr(constant)
