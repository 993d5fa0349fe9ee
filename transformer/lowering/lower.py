"""The entry to lowering: a function and the kinds of its arguments become an `ir.Function`.

In: a Python function, a kind per parameter. Out: `Lowered`: the IR; which variables hold the leaves of each
parameter; the free values it takes from the user's globals and closures; the sources it was read from.

    lower(loss, {"w": kind_of(w, "w")}).function
"""

from __future__ import annotations

import types
from collections.abc import Set
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst
import numpy as np

from ...runtime.array_modules import is_array_module
from ..builder import NUMPY
from ..ir import Block, Function, Ref, Tup, Var
from ..kinds import Kind, Opaque, Static
from ..source import Source, namespace, read
from . import objects, ordering  # noqa: F401  (fill the table of Python's own functions)
from .calls import bind
from .reader import Frame, Free, NotTakenApart, Path, Place, Reader, module_ref
from .statements import read_body
from .values import DictValue, ListValue, ObjectValue


@dataclass
class Lowered:
    function: Function
    result: Any  # the value that the function returns
    parameters: dict[str, Any]  # each parameter as a value whose leaves are variables
    free: list[Free] = field(default_factory=list)
    guards: dict[Path, str] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    reader: Reader = field(default_factory=Reader)
    writes: bool = False  # into an argument


def lower(function: Any, kinds: dict[str, Kind], spread: dict[str, int] | None = None) -> Lowered:
    """Read `function` for these kinds of its parameters.

    Args:
        kinds: by name. `*args` has one entry per argument, named as `spread` says.
        spread: for `*args`: how many there are.
    """
    source = read(function)
    return lower_source(source, kinds, spread or {})


def lower_source(source: Source, kinds: dict[str, Kind], spread: dict[str, int]) -> Lowered:
    whole: set[Place] = set()
    while True:
        try:
            return _lower(source, kinds, spread, whole)
        except NotTakenApart as found:
            whole.add(found.place)


def _lower(source: Source, kinds: dict[str, Kind], spread: dict[str, int], whole: Set[Place]) -> Lowered:
    reader = Reader()
    reader.whole = whole
    reader.numpy = _array_module(source)
    reader.sources.append(source)
    frame = Frame(source, source.function, (), name=source.function.__name__)
    where = source.where()
    from ..ir import Site

    reader.site = Site(
        where.file, where.line, where.column, where.end_line, where.end_column, where.text.strip()
    )
    params: list[Var] = []
    opened: dict[str, Any] = {}
    for name, kind in kinds.items():
        var = Var(name, kind)
        params.append(var)
        opened[name] = reader.open(var, kind, name)
    given = {name: _as_given(value) for name, value in opened.items()}
    _bind_parameters(reader, frame, source, opened, spread)
    reader.root_name = source.function.__name__
    reader.calls.append((source.function, reader.nested))
    reader.site = None
    result = read_body(reader, frame, source.node)
    returned = reader.arg(result)
    free = list(reader.free.values())
    body = Block((*reader.entry, *reader.statements), (returned,))
    made = Function(source.function.__name__, tuple(params), body, tuple(f.var for f in free))
    return Lowered(made, returned, given, free, reader.guards, reader.sources, reader)


def _as_given(value: Any) -> Any:
    """The structure of a parameter as it is passed in: its gradient has that, whatever is done to it."""
    if isinstance(value, Tup):
        return Tup(tuple(map(_as_given, value.items)), value.cls)
    if isinstance(value, ListValue):
        return replace(value, items=list(map(_as_given, value.items)))
    if isinstance(value, DictValue):
        return replace(value, items={k: _as_given(v) for k, v in value.items.items()})
    if isinstance(value, ObjectValue):
        return replace(value, attributes={k: _as_given(v) for k, v in value.attributes.items()})
    return value


def _array_module(source: Source) -> Ref:
    """The array module that a function names, as it names it: what its derivatives are written with."""
    names = namespace(source.function)
    modules = [(name, names.get(name)) for name in _names(source.function.__code__)]
    found = [module_ref(module, name) for name, module in modules if module is np or is_array_module(module)]
    return next((ref for ref in found if ref.value is not np), found[0] if found else NUMPY)


def _names(code: types.CodeType) -> list[str]:
    inner = [name for c in code.co_consts if isinstance(c, types.CodeType) for name in _names(c)]
    return [*code.co_names, *code.co_freevars, *inner]


def _bind_parameters(
    reader: Reader, frame: Frame, source: Source, opened: dict[str, Any], spread: dict[str, int]
) -> None:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    params = source.node.params
    star = params.star_arg.name if isinstance(params.star_arg, cst.Param) else None
    star_names = [f"{star.value}_{i}" for i in range(spread.get(star.value, 0))] if star is not None else []
    positional = [p.name.value for p in (*params.posonly_params, *params.params)]
    given = dict(opened)
    bound = [reader.wrap(a, f"bound_{i}", (("bound", i),)) for i, a in enumerate(source.args)]
    args = [
        *bound,
        *[given.pop(n) for n in positional[len(bound) :] if n in given and n not in source.keywords],
    ]
    args += [given.pop(n) for n in star_names]
    kwargs = {
        **{k: reader.wrap(v, k, (("keyword", k),)) for k, v in source.keywords.items() if k not in given},
        **given,
    }
    from .calls import _defaults_of

    bind(
        reader,
        frame,
        params,
        args,
        kwargs,
        _defaults_of(reader, source.function, (), opened),
        frame.name,
    )


__all__ = ["DictValue", "Lowered", "Opaque", "Static", "lower", "lower_source"]
