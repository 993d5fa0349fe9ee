"""Variants: the code that was generated for one signature, found again or generated, and ready to be called.

In: a function's `Source`, a request (which parameters are active, in which form), the values that the kinds
come from. Out: a `Variant`: the generated functions, and the extra values that they take from the user's
globals and closures, looked up anew at each call.

    variant = variant_for(source, Wanted(kinds, (), ("w",), "joint"), keys, arguments)
    free = variant.outside(source)     # {'SCALE': 3.0}; None if this code is not for what is there now
    variant.entries[0](*values, **free)

Generated modules are found by a key of everything that they depend on: the text of the function, what it
can reach by name (`reach`), the kinds, the options, the user's own rules, the versions of adjoin, Python and
NumPy. The stage that generates is imported when nothing is found, and not before.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import load
from .errors import AdjoinError
from .kinds import Kind
from .reach import Reach, described
from .signature import default_of, key_of, spelled
from .source import Source, read

__all__ = ["MODES", "Variant", "Wanted", "variant_for"]

Path = tuple[tuple[str, Any], ...]
Getter = Callable[[Source], Any]

#: The forms that gradients come in, and what their modules are called, after the function.
MODES = {"joint": "grad", "value_and_joint": "value_and_grad", "split": "vjp", "tangent": "jvp"}


@dataclass(frozen=True)
class Wanted:
    """What to generate, as in `pipeline.Request`, whose module is only loaded to generate.

    `single`: whether the gradient of one argument is to come alone. `together`: arguments that share memory.
    """

    kinds: tuple[tuple[str, Kind], ...]
    spread: tuple[tuple[str, int], ...]
    wrt: tuple[str, ...]
    mode: str
    has_aux: bool = False
    single: bool = False
    together: tuple[str, ...] = ()


class Outside(NamedTuple):
    """A value that is found from a function by a path of names: how to get there, and what it has to be.

    `name`: the parameter of generated code that takes it; for a constant of that code there is `value`.
    """

    path: Path
    getter: Getter
    key: Hashable
    name: str = ""
    value: Any = None


class Variant:
    """A generated module, made ready for calls.

    Attributes:
        text: the module's source.
        entries: its functions: one, or the forward and the adjoint function.
        kinds: of the parameters, by name, in the order of the entries' own.
        wrt: for each gradient, the index of its argument among the values.
        single: as it was wanted.
        writes: whether an argument is written to, so that it matters if two of them share memory.
        hooked: whether a hook looks at an adjoint.
        takes: the names of the parameters of each entry.
        bare: whether the entries return one gradient as it is, not in a tuple.
        reach: what the function can get at by name, and a watch over it.
        free: the values that the code takes from the user's globals and closures.
        guards: those that it has as constants.
    """

    def __init__(
        self,
        module: types.ModuleType,
        source: Source,
        wanted: Wanted,
        arguments: Mapping[str, Any],
        reach: Reach,
    ) -> None:
        about = module.__dict__["__about__"]
        self.module = module
        self.text = load.text_of(module)
        self.entries: tuple[Callable[..., Any], ...] = tuple(getattr(module, e) for e in about["entries"])
        self.kinds = dict(wanted.kinds)
        self.wrt = tuple(list(self.kinds).index(name) for name in wanted.wrt)
        self.single = wanted.single
        self.writes: bool = about["writes"]
        self.hooked: bool = about["hooked"]
        self.bare = len(self.wrt) == 1
        self.takes = tuple(frozenset(_parameters(entry)) for entry in self.entries)
        self.free: list[Outside] = []
        for name, path, text in about["free"]:
            getter, _, key = _found(_path(path), source, arguments, text)
            self.free.append(Outside(_path(path), getter, key, name))
        self.guards: list[Outside] = []
        for path, text in about["guards"]:
            getter, value, key = _found(_path(path), source, arguments, text)
            self.guards.append(Outside(_path(path), getter, key, value=value))
        self.reach = reach

    def outside(self, source: Source) -> dict[str, Any] | None:
        """The values of the user's globals and closures that the code takes, or None if it is for others."""
        if not self.reach.holds():
            return None
        return self._looked_up(source) if self.free or self.guards else {}

    def _looked_up(self, source: Source) -> dict[str, Any] | None:
        found = {}
        try:
            for each in self.free:
                value = found[each.name] = each.getter(source)
                if key_of(value) != each.key:
                    return None
            for each in self.guards:
                now, value = each.getter(source), each.value
                if now is not value and (type(now) is not type(value) or now != value):
                    return None
        except (LookupError, AttributeError, ValueError):  # a name that is gone, a cell that is empty
            return None
        return found


def _parameters(function: Any) -> tuple[str, ...]:
    code = function.__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names


class _Stale(Exception):
    """A module that was found is for something else than what is there now."""


# -- finding and generating --------------------------------------------------------------------------


def variant_for(
    source: Source, function: Any, wanted: Wanted, keys: tuple[Hashable, ...], arguments: Mapping[str, Any]
) -> Variant:
    """Find the module for a request, or generate it.

    Args:
        function: the callable that `source` was read from.
        keys: of the arguments, as `signature.key_of` makes them, or the kinds where there are no arguments.
        arguments: the values that the kinds were taken from, by name.
    """
    reach = Reach(source)
    key = _module_key(source, wanted, keys, reach)
    name = f"{source.name}_{MODES[wanted.mode]}"
    module = load.find(name, key)
    if module is not None and _is_current(module.__dict__["__about__"]):
        try:
            return Variant(module, source, wanted, arguments, reach)
        except (_Stale, LookupError, AttributeError, ValueError):
            pass
    from . import pipeline

    request = pipeline.Request(
        kinds=wanted.kinds,
        spread=wanted.spread,
        wrt=wanted.wrt,
        mode=wanted.mode,  # type: ignore[arg-type, unused-ignore]
        has_aux=wanted.has_aux,
        together=wanted.together,
    )
    generated = pipeline.generate(function, request)
    about = {
        "entries": list(generated.entries),
        "writes": generated.writes,
        "hooked": generated.hooked,
        "free": [[n, path, _text_at(path, source, arguments)] for n, path in generated.free],
        "guards": [[path, _text_at(path, source, arguments)] for path in generated.guards],
        "dependencies": [
            [module_name, qualname, digest]
            for module_name, qualname, *_ in generated.dependencies
            if (digest := _source_digest(module_name, qualname))
        ],
    }
    module = load.load(generated.text, name, key, about)
    return Variant(module, source, wanted, arguments, reach)


def _module_key(source: Source, wanted: Wanted, keys: tuple[Hashable, ...], reach: Reach) -> str:
    names = [name for name, _ in wanted.kinds]
    options = (names, wanted.spread, wanted.wrt, wanted.mode, wanted.has_aux, wanted.together)
    kinds = [k if isinstance(k, str) else spelled(k, described) for k in keys]
    versions = f"{platform.python_implementation()} {sys.version_info[:3]} NumPy {np.__version__}"
    return load.key_of(source.text, reach.text, repr(options), *kinds, versions, _rules_of_users())


def _rules_of_users() -> str:
    """The rules that are not adjoin's own. A process that never loaded the table has none."""
    rule = sys.modules.get(f"{__package__.rpartition('.')[0]}.runtime.rule")
    if rule is None:
        return ""
    own = f"{rule.__name__.rpartition('.')[0]}."
    found = []
    for function, row in rule.TABLE.items():
        body = row.body
        if body is not None and not body.__module__.startswith(own):
            options = (row.kind, row.wrt, row.view, row.holomorphic, row.safe, sorted(row.only))
            found.append(f"{described(function)} {options} {described(body)}")
    return "\n".join(sorted(found))


def _is_current(about: Mapping[str, Any]) -> bool:
    """Whether the functions that were read for a module still have the text that they had."""
    return all(_source_digest(m, q) in (digest, None) for m, q, digest in about["dependencies"])


def _source_digest(module: str, qualname: str) -> str | None:
    """A digest of the text of a function that can be found by its name, or None."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    try:
        return hashlib.sha256(read(found).text.encode()).hexdigest() if callable(found) else None
    except AdjoinError:
        return None


# -- paths -------------------------------------------------------------------------------------------


def _path(path: Any) -> Path:
    return tuple((step, name) for step, name in path)


def _found(
    path: Path, source: Source, arguments: Mapping[str, Any], text: str
) -> tuple[Getter, Any, Hashable]:
    """A way to the value at a path, the value, and its key, which has to be spelled `text`."""
    getter = _getter(path, source, arguments)
    value = getter(source)
    key = key_of(value)
    if spelled(key, described) != text:
        raise _Stale
    return getter, value, key


def _text_at(path: Any, source: Source, arguments: Mapping[str, Any]) -> str:
    return spelled(key_of(_getter(_path(path), source, arguments)(source)), described)


def _getter(path: Path, source: Source, arguments: Mapping[str, Any]) -> Getter:
    """A quick way to the value at a path.

    The functions on the way are taken as they are now (`Reach.holds` sees to it that they are the same at
    each call); the value, and the attributes on the way to it from there, are looked up each time.
    """
    last = max((i for i, (step, _) in enumerate(path) if step in _OF_FUNCTIONS), default=None)
    if last is None:
        return _attributes(path[1:], _argument(arguments[path[0][1]]))
    owner = source if last == 0 else read(_walk(path[:last], source, arguments))
    step, name = path[last]
    return _attributes(path[last + 1 :], _OF_FUNCTIONS[step](owner, name, last == 0))


def _walk(path: Path, source: Source, arguments: Mapping[str, Any]) -> Any:
    """The value at a path, now."""
    return _getter(path, source, arguments)(source)


def _attributes(path: Path, start: Getter) -> Getter:
    if not path:
        return start

    def get(source: Source) -> Any:
        value = start(source)
        for step, name in path:
            value = value[name] if step == "item" else getattr(value, name)
        return value

    return get


def _argument(value: Any) -> Getter:
    """An argument that stands for itself: a function, which is part of the signature."""
    return lambda source: value


def _global(owner: Source, name: str, is_root: bool) -> Getter:
    scope = owner.function.__globals__
    return lambda source: scope[name]


def _cell(owner: Source, name: str, is_root: bool) -> Getter:
    function = owner.function
    cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
    return lambda source: cell.cell_contents


def _default(owner: Source, name: str, is_root: bool) -> Getter:
    get = default_of(owner.function, name)
    return lambda source: get()


def _bound(owner: Source, position: int, is_root: bool) -> Getter:
    if is_root:  # another one for each instance
        return lambda source: source.args[position]
    return lambda source: owner.args[position]


def _keyword(owner: Source, name: str, is_root: bool) -> Getter:
    if is_root:
        return lambda source: source.keywords[name]
    return lambda source: owner.keywords[name]


_OF_FUNCTIONS: dict[str, Callable[[Source, Any, bool], Getter]] = {
    "global": _global,
    "cell": _cell,
    "default": _default,
    "bound": _bound,
    "keyword": _keyword,
}
