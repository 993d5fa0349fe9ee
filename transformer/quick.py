"""Quick calls: the check that a call is like the one before, and the call, as code made for one variant.

In: a `Variant`, and a call that it is for. Out: a function with the parameters of the user's own, which does
what the long way does, and takes the long way for arguments that the variant is not for.

    quick = quick_call(variant, source, ("a", "n"), (0.9, 12), long)
    quick(0.9, 15)       # a gradient
    quick(0.9, n=15.0)   # long(0.9, 15.0), for the second argument is no int

The gradient of a function of a few numbers takes a microsecond, and finding its variant by a signature two.
Here one expression finds out the same in a tenth of that, made of what Python's specialised instructions do:

    def horner(a, n):
        try:
            fits = type(a) is float and type(n) is int and horner.__code__ is CODE and range is RANGE
        except GONE:
            fits = False
        if fits:
            g = entry(a, n)
            return g if type(g) is float else own(variant, (g,), (a, n), {})
        return long(a, n)

Its globals are those of the user's function: nothing else tells at no cost whether a global is what it was.
What is in capitals here comes from an enclosing function, and so do `entry`, `own`, `type` and the like.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from inspect import Parameter
from sys import getrefcount
from typing import Any

import numpy as np

from .kinds import LONGEST_UNROLLED
from .own import is_own, own
from .reach import GONE, compiled_in
from .signature import NUMBERS, parameters_of
from .source import Source
from .variants import Outside, Variant

__all__ = ["quick_call", "quick_tangent"]

#: Arguments in containers that are looked at one by one.
_MOST_LEAVES = 24
_MISSING = object()


class _NotQuick(Exception):
    """A variant or a call that needs the long way."""


def quick_call(
    variant: Variant,
    source: Source,
    names: tuple[str, ...],
    values: tuple[Any, ...],
    long: Callable[..., Any],
    with_value: bool = False,
    has_aux: bool = False,
) -> Callable[..., Any] | None:
    """A function for calls like this one; None for a variant or arguments that always need the long way.

    Args:
        source: of the function that has the parameters.
        names: of the parameters that the call gave.
        values: of these.
        long: takes any arguments, the long way.
        with_value: whether the variant's code returns value and gradients, and so does a call.
        has_aux: whether the value is a pair whose second part is handed on.
    """
    try:
        return _Writer(variant, source, names, values, with_value, has_aux).written(long)
    except _NotQuick:
        return None


def quick_tangent(
    variant: Variant,
    code: Variant,
    source: Source,
    values: tuple[Any, ...],
    long: Callable[..., Any],
    finish: Callable[[Any, Any, tuple[Any, ...]], Any],
    with_value: bool = True,
) -> Callable[..., Any] | None:
    """The same for `jvp` and `hvp`: a function of a point and a direction, `quick((x, n), (x_dot, None))`.

    Args:
        variant: of the function that has the parameters.
        code: what is called with them, and with the tangents; for `hvp` the tangent of the code of `variant`.
        values: of the first positional parameters.
        long: takes any point and direction.
        finish: for value, tangent and all that was given to the code, what a call returns.
        with_value: whether a call returns the value too.
    """
    try:
        return _TangentWriter(variant, code, source, values, with_value).written_for(long, finish)
    except _NotQuick:
        return None


class _Writer:
    """Writes the function, and collects the constants that it refers to."""

    def __init__(
        self,
        variant: Variant,
        source: Source,
        names: tuple[str, ...],
        values: tuple[Any, ...],
        with_value: bool,
        has_aux: bool,
    ) -> None:
        self.variant, self.source, self.names, self.values = variant, source, names, values
        self.with_value, self.has_aux = with_value, has_aux
        self.parameters = parameters_of(source)
        stars = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        if source.args or source.keywords or any(p.kind in stars for p in self.parameters):
            raise _NotQuick
        self.taken = {p.name for p in self.parameters}
        if not self.taken.issuperset(names):
            raise _NotQuick
        self.prefix = "_"
        while any(name.startswith(self.prefix) for name in (*self.taken, *source.function.__globals__)):
            self.prefix += "_"
        self.constants: dict[str, Any] = {}
        self.leaves = 0

    def written(self, long: Callable[..., Any]) -> Callable[..., Any]:
        fits = [*self._arguments(), self.variant.reach.test(self.taken)]
        fetched, free = self._fetched(fits)
        resumed = _resumed(self.parameters, long)
        lines = [
            f"def {self.prefix}quick({self._signature()}):",
            "    try:",
            *(f"        {line}" for line in fetched),
            f"        {self.prefix}fits = {' and '.join(fits)}",
            f"    except {self._constant('gone', GONE)}:",
            f"        {self.prefix}fits = False",
            f"    if {self.prefix}fits:",
            *(f"        {line}" for line in self._call(free)),
            f"    return {self._constant('long', resumed)}({', '.join(p.name for p in self.parameters)})",
        ]
        return self._compiled(lines)

    def _fetched(self, fits: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
        """Statements that look up the values from outside, and the names that the code has for them.

        What these values have to be is added to `fits`.
        """
        fetched = []
        free = []
        for number, each in enumerate([*self.variant.free, *self.variant.guards]):
            local = f"{self.prefix}{number}"
            fetched.append(f"{local} = {self._outside(each)}")
            fits += self._like(local, each.getter(self.source))
            if each.name:
                free.append((each.name, local))
        return fetched, free

    def _compiled(self, lines: list[str]) -> Callable[..., Any]:
        constants = {**self.variant.reach.constants, **self.constants}
        scope = self.source.function.__globals__
        quick: types.FunctionType = compiled_in(scope, f"{self.prefix}quick", "\n".join(lines), constants)
        quick.__name__, quick.__qualname__ = self.source.name, self.source.function.__qualname__
        return quick

    def _constant(self, name: str, value: Any) -> str:
        """A name for a value from outside."""
        self.constants[f"{self.prefix}{name}"] = value
        return f"{self.prefix}{name}"

    def _new(self, value: Any) -> str:
        return self._constant(f"constant_{len(self.constants)}", value)

    def _is_of(self, text: str, kind: type) -> str:
        """The condition that a value is of a type."""
        name = self._constant(f"{kind.__module__}_{kind.__name__}", kind)
        return f"{self._constant('type', type)}({text}) is {name}"

    # -- arguments -----------------------------------------------------------------------------------

    def _signature(self) -> str:
        """The parameters as the function has them; those with defaults may be missing."""
        parts = []
        for p, following in zip(self.parameters, [*self.parameters[1:], None], strict=True):
            if p.kind is p.KEYWORD_ONLY and "*" not in parts:
                parts.append("*")
            missing = f"={self._constant('missing', _MISSING)}" if p.default is not p.empty else ""
            parts.append(f"{p.name}{missing}")
            if p.kind is p.POSITIONAL_ONLY and (following is None or following.kind is not p.kind):
                parts.append("/")
        return ", ".join(parts)

    def _arguments(self) -> list[str]:
        """The conditions that the call gives these arguments, and that they are like those values."""
        given = dict(zip(self.names, self.values, strict=True))
        found = []
        for p in self.parameters:
            if p.name in given:
                found += self._like(p.name, given[p.name], f"{self.prefix}shape_of_{p.name}")
            elif p.default is not p.empty:
                found.append(f"{p.name} is {self._constant('missing', _MISSING)}")
            else:
                raise _NotQuick
        arrays = [name for name, value in given.items() if type(value) is np.ndarray]
        if self.variant.writes:
            if any(type(value) in (dict, list, tuple) for value in self.values) or len(arrays) > 4:
                raise _NotQuick
            share = self._constant("share", np.may_share_memory)
            found += [f"not {share}({a}, {b})" for i, a in enumerate(arrays) for b in arrays[:i]]
        return found

    def _like(self, text: str, value: Any, shape: str = "") -> list[str]:
        """The conditions that an expression has the key of `value`, as `signature.key_of` makes it.

        `shape`: a name to keep its shape under.
        """
        self.leaves += 1
        kind = type(value)
        if self.leaves > _MOST_LEAVES:
            raise _NotQuick
        is_kind = self._is_of(text, kind)
        if kind is np.ndarray:
            dtype = f"{text}.dtype is {self._new(value.dtype)}"
            return [is_kind, dtype, self._like_shape(f"{text}.shape", value.shape, shape)]
        if kind in NUMBERS:
            return [is_kind]
        if kind in (str, bytes):
            return [is_kind, f"{text} == {value!r}"]
        if value is None or value is Ellipsis or kind is bool or kind is types.FunctionType:
            return [f"{text} is {self._new(value)}"]
        if kind is dict:
            keys = self._new(list(value))
            inside = [self._like(f"{text}[{self._new(key)}]", part) for key, part in value.items()]
            return [is_kind, f"[*{text}] == {keys}", *(test for tests in inside for test in tests)]
        if kind is tuple or (kind is list and len(value) <= LONGEST_UNROLLED):
            length = f"{self._constant('len', len)}({text}) == {len(value)}"
            inside = [self._like(f"{text}[{i}]", part) for i, part in enumerate(value)]
            return [is_kind, length, *(test for tests in inside for test in tests)]
        raise _NotQuick

    def _like_shape(self, text: str, shape: tuple[int, ...], kept: str) -> str:
        """The condition that a shape has as many axes, with length 1 where `shape` has it."""
        same = self._new(shape)
        if 1 in shape:
            ones = self._new(tuple([n == 1 for n in shape]))
            close = f"{self._constant('ones', _ones)}({kept or text}) == {ones}"
        else:
            close = (
                f"({self._constant('len', len)}({kept or text}) == {len(shape)} and 1 not in {kept or text})"
            )
        return f"({f'({kept} := {text})' if kept else text} == {same} or {close})"

    def _outside(self, each: Outside) -> str:
        """The expression for a value that the code takes from globals, closures, defaults and so on."""
        (step, name), *attributes = each.path
        function = self.source.function
        start = ""
        if step == "global" and name not in self.taken and name in function.__globals__:
            start = name
        elif step == "cell":
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            start = f"{self._new(cell)}.cell_contents"
        if not start or any(step != "attr" for step, _ in attributes):
            return f"{self._new(each.getter)}({self._new(self.source)})"
        return ".".join([start, *(attribute for _, attribute in attributes)])

    # -- the call ------------------------------------------------------------------------------------

    def _call(self, free: list[tuple[str, str]]) -> list[str]:
        """The call of generated code, and the return of what it gives."""
        variant, prefix = self.variant, self.prefix
        arguments = ", ".join([*self.names, *(f"{name}={local}" for name, local in free)])
        call = f"{self._constant('entry', variant.entries[0])}({arguments})"
        gradients = [f"{prefix}g_{i}" for i in range(len(variant.wrt))]
        whole = gradients[0] if variant.bare else f"{prefix}gs"
        value = self.with_value or self.has_aux
        lines = [f"{f'{prefix}value, ' if value else ''}{whole} = {call}"]
        if not variant.bare:
            lines.append(f"{''.join(f'{g}, ' for g in gradients)}= {whole}")
        many = f"({whole},)" if variant.bare else whole
        outside = "{" + ", ".join(f"{name!r}: {local}" for name, local in free) + "}"
        values = "".join(f"{name}, " for name in self.names)
        ready = whole if variant.single else many
        finished = f"{self._constant('own', own)}({self._new(variant)}, {many}, ({values}), {outside})"
        fits = " and ".join(self._own(g, self.names[i]) for g, i in zip(gradients, variant.wrt, strict=True))
        both = {True: f"{prefix}value, {{}}", False: f"{{}}, {prefix}value[1]"}
        form = both[self.with_value] if value else "{}"
        return [
            *lines,
            f"if {fits or True}:",
            f"    return {form.format(ready)}",
            f"return {form.format(finished)}",
        ]

    def _own(self, gradient: str, name: str) -> str:
        """The condition that a gradient is in the form of its argument, and known to nobody else."""
        value = self.values[self.names.index(name)]
        kind = type(value)
        is_kind = self._is_of(gradient, kind)
        if kind is np.ndarray:
            alone = _ALONE if self.variant.bare else _ALONE_IN_TUPLE
            return (
                f"{is_kind} and {gradient}.base is None and {gradient}.dtype is {name}.dtype"
                f" and {gradient}.shape == {self.prefix}shape_of_{name}"
                f" and {self._constant('references', getrefcount)}({gradient}) == {alone}"
            )
        if kind in NUMBERS:
            return is_kind
        return f"{self._constant('is_own', is_own)}({gradient}, {name})"


class _TangentWriter(_Writer):
    """Writes the function of a point and a direction."""

    def __init__(
        self, variant: Variant, code: Variant, source: Source, values: tuple[Any, ...], with_value: bool
    ) -> None:
        names = tuple(p.name for p in parameters_of(source)[: len(values)])
        super().__init__(variant, source, names, values, with_value, False)
        positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        self.parameters = self.parameters[: len(values)]
        if not values or any(p.kind not in positional for p in self.parameters):
            raise _NotQuick
        self.code = code
        if code is not variant and code.guards:
            raise _NotQuick

    def written_for(
        self, long: Callable[..., Any], finish: Callable[[Any, Any, tuple[Any, ...]], Any]
    ) -> Callable[..., Any]:
        prefix = self.prefix
        tuples = [self._is_of(f"{prefix}{name}", tuple) for name in ("primals", "tangents")]
        fits = [f"not {prefix}options", *tuples, *self._arguments(), self.variant.reach.test(self.taken)]
        dots = {i: f"{prefix}dot_{i}" for i in range(len(self.names))}
        for i, dot in dots.items():
            fits += self._moves(dot, self.names[i], self.values[i], i in self.code.wrt)
        fetched, outside = self._fetched(fits)
        taken = {each.name for each in self.code.free}
        free = [(name, local) for name, local in outside if name in taken]
        if len(free) < len(taken):
            raise _NotQuick
        moving = [dots[i] for i in self.code.wrt]
        given = "".join(f"{each}, " for each in (*self.names, *(local for _, local in free), *moving))
        arguments = ", ".join([*self.names, *moving, *(f"{name}={local}" for name, local in free)])
        value, dot = f"{prefix}value", f"{prefix}dot"
        whole = f"{prefix}primals, {prefix}tangents, **{prefix}options"
        return self._compiled(
            [
                f"def {prefix}quick({whole}):",
                "    try:",
                f"        {''.join(f'{name}, ' for name in self.names)}= {prefix}primals",
                f"        {''.join(f'{each}, ' for each in dots.values())}= {prefix}tangents",
                *(f"        {line}" for line in fetched),
                f"        {prefix}fits = {' and '.join(fits)}",
                f"    except {self._constant('gone', (*GONE, TypeError))}:",
                f"        {prefix}fits = False",
                f"    if {prefix}fits:",
                f"        {value}, {dot} = {self._constant('entry', self.code.entries[0])}({arguments})",
                f"        if {self._is_of(dot, float)} and {self._is_of(value, float)}:",
                f"            return {f'{value}, {dot}' if self.with_value else dot}",
                f"        return {self._constant('finish', finish)}({value}, {dot}, ({given}))",
                f"    return {self._constant('long', long)}({whole})",
            ]
        )

    def _moves(self, dot: str, name: str, value: Any, moving: bool) -> list[str]:
        """The conditions that a tangent is one of an argument, and in its form."""
        if not moving:
            return [f"{dot} is {self._constant('none', None)}"]
        kind = type(value)
        if kind is np.ndarray:
            shape = f"{dot}.shape == {self.prefix}shape_of_{name}"
            return [self._is_of(dot, kind), f"{dot}.dtype is {name}.dtype", shape]
        if kind in NUMBERS and isinstance(value, float | complex | np.inexact):
            return [self._is_of(dot, kind)]
        raise _NotQuick


def _resumed(parameters: list[Parameter], long: Callable[..., Any]) -> Callable[..., Any]:
    """The long way for values of all parameters, some of which are missing."""

    def resumed(*values: Any) -> Any:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for p, value in zip(parameters, values, strict=True):
            if value is _MISSING:
                continue
            if p.kind is not p.KEYWORD_ONLY and len(args) == parameters.index(p):
                args.append(value)
            else:
                kwargs[p.name] = value
        return long(*args, **kwargs)

    return resumed


def _ones(shape: tuple[int, ...]) -> tuple[bool, ...]:
    return tuple([n == 1 for n in shape])


def _references(assigned: str) -> int:
    """What `getrefcount` says of an array that nobody refers to but the variables of a quick call."""
    scope: dict[str, Any] = {"new": lambda: np.empty(0), "references": getrefcount}
    exec(f"def alone():\n    {assigned}\n    return references(g)", scope)
    count: int = scope["alone"]()
    return count


_ALONE = _references("g = new()")
_ALONE_IN_TUPLE = _references("gs = (new(),)\n    g, = gs")
