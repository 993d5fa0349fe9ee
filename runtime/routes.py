"""Calls of one form, prepared: what to save of which argument, which arguments have an edge.

In: a function of the rule table, and the form of a call: of each argument whether it is a tensor with or
without a gradient, a sequence of them, or a constant of some type. Out (`route_for`): a `Route`, made once,
by which `record.record` makes a node without binding arguments anew.

    record(np.where, (mask, 0.0, x))       # the form: an array, a float, a tensor with a gradient
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TensorBase, hollow, version_of
from .eager_rules import rule_of
from .explain import inference
from .names import name_of
from .plans import Plan, layout_of
from .rule import Rule

__all__ = ["PLAIN", "Route", "route_for"]

#: Constants that need no look inside.
PLAIN = frozenset({int, float, bool, complex, type(None), str, type, np.dtype, np.ndarray})
PLAIN |= {np.float64, np.float32, np.int64, np.bool_, np.complex128}

#: What `Route.save` does with an argument.
_NOTHING, _TENSOR, _SHAPE, _VALUE, _COPY, _TENSORS, _SHAPES = range(7)

_routes: dict[Any, Route | None] = {}


def route_for(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any] | None, name: str | None, form: Any
) -> Route | None:
    """The route of calls of a form; None if they take the general way."""
    if name is None and function in _NAMED_BY_ARGUMENTS:
        name = name_of(function, args)
    key = (function, name, form)
    try:
        return _routes[key]
    except KeyError:
        rule = rule_of(function)
        route = None if rule is None else _made(rule, function, args, kwargs or {}, name)
        if len(_routes) > 5000:
            _routes.clear()
        _routes[key] = route
        return route


_NAMED_BY_ARGUMENTS = frozenset({np.matmul, np.dot})


class Route:
    """How calls of one form are recorded.

    Attributes:
        plan: the rule cut down to the arguments with a gradient; None if nothing is recorded.
        rule: the whole of it.
        lead: where the first tensor is.
        active: where the operands with an edge are: the position of an argument, and of what within it.
        steps: for each argument of the template what is saved of it (`_TENSOR`...), and where it is found:
            a position, the name of a keyword, or the default itself.
        options: the names of keywords that the template reads.
        picks: as `Node.picks`.
        keeps_out: whether the result is saved.
        multiple: whether there are several results: then calls take the general way.
    """

    __slots__ = (
        "active",
        "keeps_out",
        "lead",
        "multiple",
        "nothing",
        "options",
        "picks",
        "plan",
        "rule",
        "steps",
    )

    plan: Plan | None
    rule: Rule
    lead: tuple[int, int | None]
    active: list[tuple[int, int | None]]
    steps: list[tuple[int, int | str | None, Any]]
    options: list[str]
    picks: Any
    keeps_out: bool
    multiple: bool
    nothing: Any

    def first(self, args: Any) -> Any:
        """The first tensor of a call."""
        i, j = self.lead
        return args[i] if j is None else args[i][j]

    def edges(self, node: Any, args: Any) -> None:
        """Set the edges of a node."""
        leads = [args[i] if j is None else args[i][j] for i, j in self.active]
        node.edges = tuple([t if t._node is None else t._node for t in leads])
        node.indices = None
        for t in leads:
            if t._nr:
                node.indices = tuple([t._nr for t in leads])
                break

    def save(self, node: Any, args: Any, kwargs: dict[str, Any] | None, out: Any) -> None:
        """Set what a node saves of the arguments."""
        node.options = {name: kwargs[name] for name in self.options} if kwargs and self.options else None
        if self.nothing is not None and not self.keeps_out:
            node.saved, node.versions = self.nothing
            return
        saved = [out if self.keeps_out else None]
        versions: list[Any] = []
        plan = self.plan
        assert plan is not None
        aligned = plan.simple
        for step, where, default in self.steps:
            version = None
            if step == _NOTHING:
                value = None
            else:
                if where is None:
                    value = default
                elif where.__class__ is int:
                    value = args[where]
                else:
                    value = kwargs[where]  # type: ignore[index]
                if step == _TENSOR:
                    version = value._counter
                    if version.__class__ is not int:
                        version = version_of(value)
                        if version is None:
                            raise inference(plan.name)
                    if not aligned:
                        versions.append(version)
                elif step == _SHAPE:
                    array = value._array if isinstance(value, TensorBase) else value
                    value = hollow(array)
                elif step == _COPY:
                    value = value.copy()
                elif step == _SHAPES:
                    value = value.__class__([hollow(part._array) for part in value])
                elif step == _TENSORS:
                    for part in value:
                        counted = version_of(part)
                        if counted is None:
                            raise inference(plan.name)
                        versions.append(counted)
                    value = value.__class__(value)
            saved.append(value)
            if aligned:
                versions.append(version)
        node.saved = tuple(saved)
        node.versions = tuple(versions)


def _made(
    rule: Rule, function: Callable[..., Any], args: Any, kwargs: dict[str, Any], name: str | None
) -> Route | None:
    """The route for calls like this one."""
    route = Route()
    route.rule = rule
    route.plan = None
    route.multiple = False
    tensors = [a for a in args if isinstance(a, TensorBase)]
    sequences = [i for i, a in enumerate(args) if isinstance(a, list | tuple) and _holds_tensors(a)]
    if not tensors and not sequences:
        return None
    places: list[tuple[int, int | None]] = [(i, 0) for i in sequences]
    places += [(i, None) for i, a in enumerate(args) if isinstance(a, TensorBase)]
    route.lead = min(places, key=lambda place: place[0])
    active_tensors = [t for t in tensors if t._requires]
    active_tensors += [t for i in sequences for t in args[i] if t._requires]
    if rule.kind == "nondifferentiable" or not active_tensors:
        return route
    layout = layout_of(rule)
    if layout.variable is not None or len(args) > len(layout.positional):
        return None
    if not layout.known.issuperset(kwargs) or not {*layout.positional[: len(args)]}.isdisjoint(kwargs):
        return None
    where: dict[str, Any] = {n: i for i, n in enumerate(layout.positional[: len(args)])}
    where.update({n: n for n in kwargs})
    if any(n not in where for n in layout.required) or any(n in where for n in rule.only):
        return None
    active: list[str] = []
    operands: list[bool] = []
    picks: list[tuple[tuple[int], ...] | None] = []
    route.active = []
    for parameter in rule.wrt:
        place: Any = where.get(parameter)
        value: Any = (
            args[place] if isinstance(place, int) else kwargs.get(parameter, layout.defaults.get(parameter))
        )
        if isinstance(value, TensorBase):
            operands.append(value._requires)
            if value._requires:
                active.append(parameter)
                picks.append(None)
                route.active.append((place, None))
        elif isinstance(place, int) and place in sequences:
            chosen = tuple([i for i, t in enumerate(value) if t._requires])
            operands.extend([t._requires for t in value])
            if chosen:
                active.append(parameter)
                picks.append(tuple([(i,) for i in chosen]))
                route.active.extend([(place, i) for i in chosen])
        elif value is not None and not isinstance(value, bool | int | str):
            operands.append(False)
    if len(route.active) != len(active_tensors):
        return None  # one that the rule does not cover, or that is a step
    needs = rule.needs(active)
    route.options = [n for n in layout.named if n in kwargs and n in needs]
    simple = not route.options and not sequences
    plan = Plan(
        rule, function, tuple(active), name or name_of(function, args), simple,
        None if all(operands) else tuple(operands),
    )  # fmt: skip
    plan.quick = plan.quick and len(layout.positional) <= 2
    route.plan = plan
    route.picks = tuple(picks) if any(p is not None for p in picks) else None
    route.keeps_out = "out" in plan.needs
    route.steps = []
    for parameter in layout.positional:
        place = where.get(parameter)
        default = layout.defaults.get(parameter)
        value = default if place is None else args[place] if isinstance(place, int) else kwargs[place]
        route.steps.append((_step(value, parameter, plan, place in sequences), place, default))
    route.nothing = None
    if not any(step for step, _, _ in route.steps):
        route.nothing = (None,) * (1 + len(route.steps)), (None,) * len(route.steps) if simple else ()
    return route


def _holds_tensors(value: Any) -> bool:
    return bool(value) and isinstance(value[0], TensorBase)


def _step(value: Any, parameter: str, plan: Plan, sequence: bool) -> int:
    """What is saved of an argument."""
    if parameter in plan.needs:
        if sequence:
            return _TENSORS
        if isinstance(value, TensorBase):
            return _TENSOR
        return _COPY if isinstance(value, np.ndarray | list) else _VALUE
    if parameter in plan.shapes:
        if sequence:
            return _SHAPES
        return _SHAPE if hasattr(value, "dtype") and hasattr(value, "shape") else _VALUE
    return _NOTHING
