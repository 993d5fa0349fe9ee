"""Rules, prepared for recording.

In: a rule and its active parameters. Out: a `Plan`, with the adjoint cut down to these and what it needs to
keep; and a `Layout`, which binds the arguments of a call quickly. Both are made once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .rebinding import on_device, recording
from .rule import Rule, _cut, _parsed
from .saving import shape_only_in

__all__ = ["Layout", "Plan", "layout_of", "plan_for"]


class Plan:
    """A rule cut down to some active parameters.

    Attributes:
        active: names of the parameters with a gradient, in the order of the rule's `wrt`.
        needs: what the adjoint reads the value of; `shapes`: what it reads only the shape and dtype of.
        template: the adjoint, a function of (g, out, *arguments, **options).
        simple: the arguments are one tensor or constant each, without options.
        quick: `Node.single` serves it.
        saves: whether the result or an operand is saved: options alone do not count.
        conjugates: whether complex numbers are conjugated around the template.
        operands: for `next_functions`, which operands have an edge; None: all of them.
    """

    __slots__ = (
        "_recorded",
        "active",
        "conjugates",
        "elementwise",
        "function",
        "name",
        "needs",
        "operands",
        "quick",
        "rule",
        "safe",
        "saves",
        "shapes",
        "simple",
        "template",
    )

    def __init__(
        self,
        rule: Rule,
        function: Callable[..., Any],
        active: tuple[str, ...],
        name: str,
        simple: bool = False,
        operands: tuple[bool, ...] | None = None,
    ) -> None:
        assert rule.body is not None
        self.rule = rule
        self.function = function
        self.active = active
        self.name = name
        self.template = rule.template(active)
        cut = _cut(_parsed(rule.body), [rule.wrt.index(n) for n in active])
        named = rule.needs(active)
        self.shapes = (named - {"out"}) & shape_only_in(cut, rule.body.__globals__)
        self.needs = named - self.shapes
        self.simple = simple
        self.saves = bool(self.needs & {"out", *rule.wrt})
        self.elementwise = rule.kind == "elementwise"
        self.conjugates = rule.holomorphic
        self.quick = simple and len(active) == 1 and rule.safe is None
        self.safe = rule.safe
        self.operands = operands
        self._recorded: Callable[..., Any] | None = None

    def recorded_template(self) -> Callable[..., Any]:
        """The template for tensors: its helpers see NumPy functions that record."""
        if self._recorded is None:
            self._recorded = recording(self.template)
        return self._recorded

    def device_template(self, like: Any) -> Callable[..., Any]:
        """The template for arrays of another library: its helpers make arrays where `like` is."""
        return on_device(self.template, like)


@functools.cache
def plan_for(
    rule: Rule,
    function: Callable[..., Any],
    active: tuple[str, ...],
    name: str,
    operands: tuple[bool, ...] | None = None,
) -> Plan:
    """The general plan for some active parameters, made once."""
    return Plan(rule, function, active, name, operands=operands)


class Layout:
    """The parameters of a rule, prepared for binding calls quickly.

    Attributes:
        positional: names of the parameters given by position, in order; `variable`: that of ``*operands``.
        named: names of those given by keyword only.
        defaults: by name.
    """

    def __init__(self, rule: Rule) -> None:
        assert rule.signature is not None
        parameters = rule.signature.parameters.values()
        self.rule = rule
        self.positional = [p.name for p in parameters if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
        self.variable = next((p.name for p in parameters if p.kind == inspect.Parameter.VAR_POSITIONAL), None)
        self.named = [p.name for p in parameters if p.kind == inspect.Parameter.KEYWORD_ONLY]
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self.required = [p.name for p in parameters if p.default is p.empty and p.name != self.variable]
        self.known = {*self.positional, *self.named}

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """As `Rule.bind`."""
        if self.variable is not None or len(args) > len(self.positional) or not self.known.issuperset(kwargs):
            return self.rule.bind(args, kwargs)
        given = dict(zip(self.positional, args, strict=False))
        bound = {**self.defaults, **given, **kwargs}
        if len(bound) < len(self.known) or not given.keys().isdisjoint(kwargs):
            return self.rule.bind(args, kwargs)
        if self.rule.only:
            self.rule.check_options(bound)
        return bound


@functools.cache
def layout_of(rule: Rule) -> Layout:
    """The layout of a rule, made once."""
    return Layout(rule)
