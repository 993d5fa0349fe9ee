"""Running an operation on tensors and recording it.

In: a function of the rule table and its arguments, tensors among them. Out: its result as a tensor that knows
the node which made it. This serves any operation: sequences of operands, options, several results, views.

    >>> import numpy as np
    >>> from adjoin.runtime import tensor
    >>> record(np.hypot, (tensor(3.0, requires_grad=True), 4.0))
    tensor(5., grad_fn=<HypotBackward0>)
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .base import Packed, Spec, TensorBase, View, make, shared_counter, version_of
from .eager_rules import rule_of
from .explain import explained, inference, qualified
from .graph import MultiNode, Node, extra, next_number, placed
from .modes import ON, SPECIAL, enable_grad, state
from .names import name_of
from .plans import Layout, Plan, layout_of, plan_for
from .routes import PLAIN, Route, route_for
from .rule import NoRule, Rule

__all__ = ["call", "link_one", "mark_place", "node_for", "record", "refresh", "replay", "unwrapped"]

_new = object.__new__
_frame = sys._getframe
_PACKAGE = __name__.rpartition(".")[0]


# -- any operation -----------------------------------------------------------------------------------------


def record(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    name: str | None = None,
) -> Any:
    """Run `function` on the arrays of its arguments; the result is a tensor, recorded if it has a gradient.

    Args:
        function: an operation of the rule table.
        args, kwargs: its arguments; tensors may be inside lists and tuples.
        name: of the node; by default from the function.

    Raises:
        NoRule: no rule covers the function, an option, or a tensor that has a gradient.
        ShapeError, DtypeError, DeviceError, OutOfRange: the arrays do not go together.
    """
    if state.mode != SPECIAL:
        arrays: list[Any] = []
        form = _form_of(args, kwargs, arrays)
        route = None if form is None else route_for(function, args, kwargs, name, form)
        if route is not None and not route.multiple:
            return _by_route(route, function, args, kwargs, arrays)
    return _by_rule(function, args, kwargs, name)


def _form_of(args: Sequence[Any], kwargs: dict[str, Any] | None, arrays: list[Any]) -> Any:
    """The form of a call, for `route_for`, and its arrays; None if an argument needs a closer look."""
    form: list[Any] = []
    for value in args:
        kind = value.__class__
        if kind in PLAIN:
            form.append(kind)
            arrays.append(value)
        elif isinstance(value, TensorBase):
            view = value._view
            if view is not None and view.node is not view.base._node:
                refresh(value)
            form.append(value._requires)
            arrays.append(value._array)
        elif kind is tuple or kind is list:
            if not value or value[0].__class__ is int:
                if not all(part.__class__ is int for part in value):
                    return None
                form.append(kind)
                arrays.append(value)
                continue
            inner: list[Any] = [kind]
            plain = []
            for part in value:
                if not isinstance(part, TensorBase):
                    return None
                view = part._view
                if view is not None and view.node is not view.base._node:
                    refresh(part)
                inner.append(part._requires)
                plain.append(part._array)
            form.append(tuple(inner))
            arrays.append(plain)
        else:
            return None
    if kwargs:
        for name, value in kwargs.items():
            if value.__class__ not in PLAIN:
                if value.__class__ is not tuple or not all(part.__class__ is int for part in value):
                    return None
            form.append(name)
            form.append(value.__class__)
    return tuple(form)


def _by_route(
    route: Route, function: Callable[..., Any], args: Sequence[Any], kwargs: Any, arrays: list[Any]
) -> Any:
    """A call of a form that is known."""
    try:
        out = function(*arrays, **kwargs) if kwargs else function(*arrays)
    except Exception as error:
        raise explained(error, function, arrays) from error
    cls = route.first(args).__class__
    try:
        kind = out.dtype.kind
        shape = out.shape
    except AttributeError:
        if isinstance(out, tuple | list):
            route.multiple = True
            return _by_rule(function, args, kwargs, None if route.plan is None else route.plan.name)
        return out
    plan = route.plan
    result = _new(cls)
    result._array = out
    result._nr = 0
    result._view = result._rare = None
    result._counter = 0
    if plan is None or state.mode != ON or kind not in "fc":
        result._requires = False
        result._node = None
    else:
        result._requires = True
        result._node = node = _new(Node)
        node.plan = plan
        node.seq = next_number()
        node.shape = shape
        node.dtype = out.dtype
        node.picks = route.picks
        node.more = None
        route.edges(node, args)
        route.save(node, args, kwargs, out)
        node.out_version = None
        if route.keeps_out:
            result._counter = version = [0]
            node.out_version = version, 0
        mark_place(node)
    if getattr(out, "base", None) is not None:
        _note_view(route.rule, function, args, kwargs or {}, result, None)
    return result


def _by_rule(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any] | None, name: str | None
) -> Any:
    """Any call."""
    rule = rule_of(function)
    if rule is None:
        raise NoRule(
            f"{qualified(function)} has no rule, so its gradient would be lost; detach() its arguments and "
            "call it on their arrays, or register a rule"
        )
    found: list[Any] = []
    arrays = [unwrapped(value, found) for value in args]
    options = {key: unwrapped(value, found) for key, value in kwargs.items()} if kwargs else {}
    if not found:
        raise TypeError(f"{qualified(function)} was given no Tensor")
    cls = type(found[0])
    try:
        out = function(*arrays, **options)
    except Exception as error:
        raise explained(error, function, arrays) from error
    if state.grad and any(t._requires for t in found) and rule.kind != "nondifferentiable" and _real(out):
        return _recorded(rule, function, args, kwargs or {}, out, cls, name or name_of(function, args), found)
    result = wrapped(out, cls)
    _note_view(rule, function, args, kwargs or {}, result, found)
    return result


def _note_view(
    rule: Rule,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    result: Any,
    found: Any,
) -> None:
    """Link a result to the operand whose memory it shows: the first one, or, for a few calls, another."""
    if rule.view and isinstance(args[0], TensorBase):
        link(args[0], result, function, args, kwargs)
    elif isinstance(result, TensorBase) and getattr(result._array, "base", None) is not None:
        for i, operand in enumerate(args):
            if isinstance(operand, TensorBase) and np.may_share_memory(operand._array, result._array):
                rest = (*args[:i], *args[i + 1 :])
                link_one(operand, result, Placed(function, i) if i else function, rest, kwargs)
                return


class Placed:
    """`function` with its `position`-th argument first."""

    def __init__(self, function: Callable[..., Any], position: int) -> None:
        self.function = function
        self.position = position


def _real(out: Any) -> bool:
    """Whether a result, or a part of it, can have a gradient."""
    if isinstance(out, tuple | list):
        return any(_real(part) for part in out)
    return getattr(getattr(out, "dtype", None), "kind", "O") in "fc"


def _recorded(
    rule: Rule,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    out: Any,
    cls: type[Any],
    name: str,
    found: list[Any],
) -> Any:
    _, result = node_for(rule, function, args, kwargs, out, cls, name, found)
    _note_view(rule, function, args, kwargs, result, found)
    return result


def node_for(
    rule: Rule,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    out: Any,
    cls: type[Any],
    name: str,
    found: Sequence[Any],
    into: Any = None,
) -> tuple[Node, Any]:
    """Record one call: the node, and `out` as tensors that it made (or `into`, if that was written to)."""
    layout = layout_of(rule)
    bound = layout.bind(args, kwargs)
    picks: list[tuple[tuple[int, ...], ...] | None] = []
    active: list[str] = []
    operands: list[bool] = []
    leads: list[Any] = []
    nested = False
    for parameter in rule.wrt:
        value = bound[parameter]
        if isinstance(value, TensorBase):
            operands.append(value._requires)
            if value._requires:
                active.append(parameter)
                picks.append(None)
                leads.append(value)
        elif isinstance(value, list | tuple):
            parts = list(_parts(value, ()))
            chosen = [(path, v) for path, v in parts if isinstance(v, TensorBase) and v._requires]
            operands.extend(isinstance(v, TensorBase) and v._requires for _, v in parts)
            if chosen:
                active.append(parameter)
                picks.append(tuple([path for path, _ in chosen]))
                leads.extend(v for _, v in chosen)
                nested = True
        elif value is not None and not isinstance(value, bool | int | str):
            operands.append(False)
    if len(leads) < len(found):
        _check_covered(rule, bound, leads, found)
    plan = plan_for(rule, function, tuple(active), name, None if all(operands) else tuple(operands))
    multiple = isinstance(out, tuple | list)
    node = _new(MultiNode if multiple else Node)
    node.plan = plan
    node.edges = tuple([t if t._node is None else t._node for t in leads])
    node.indices = tuple([t._nr for t in leads]) if any(t._nr for t in leads) else None
    node.seq = next_number()
    node.picks = tuple(picks) if nested else None
    node.more = None
    node.shape = tuple(getattr(part, "shape", None) for part in out) if multiple else out.shape
    node.dtype = tuple(getattr(part, "dtype", None) for part in out) if multiple else out.dtype
    result = _attached(out, node, cls) if into is None else into
    _save(node, plan, layout, bound, out, result)
    mark_place(node)
    return node, result


def _parts(value: Any, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The elements of lists within lists, each with the indices that lead to it."""
    for i, part in enumerate(value):
        if isinstance(part, list | tuple):
            yield from _parts(part, (*path, i))
        else:
            yield (*path, i), part


def _check_covered(rule: Rule, bound: dict[str, Any], leads: Sequence[Any], found: Sequence[Any]) -> None:
    """Refuse a tensor that requires grad where the rule has no derivative; a step has the derivative 0."""
    steps: list[Any] = []
    for parameter in rule.steps:
        unwrapped(bound.get(parameter), steps)
    if any(t._requires and not any(t is other for other in (*leads, *steps)) for t in found):
        raise NoRule(f"the rule of {rule.name} has no derivative for one of the arguments that require grad")


def _attached(out: Any, node: Node, cls: type[Any]) -> Any:
    if isinstance(out, tuple | list):
        parts = [wrapped(part, cls) for part in out]
        for i, part in enumerate(parts):
            if isinstance(part, TensorBase) and part._array.dtype.kind in "fc":
                part._node, part._nr, part._requires = node, i, True
        return type(out)(*parts) if hasattr(out, "_fields") else type(out)(parts)
    tensor = make(cls, out)
    tensor._node, tensor._requires = node, True
    return tensor


def _save(node: Node, plan: Plan, layout: Layout, bound: dict[str, Any], out: Any, result: Any) -> None:
    """Keep what the plan names: tensors as they are, user's arrays copied, results as arrays."""
    versions: list[Any] = []
    needs, shapes = plan.needs, plan.shapes
    arguments: list[Any] = []
    for name in layout.positional:
        if name in needs:
            arguments.append(_kept(bound[name], versions, plan))
        else:
            arguments.append(spec_of(bound[name]) if name in shapes else None)
    if layout.variable is not None:
        name = layout.variable
        if name in needs:
            arguments.extend(_kept(value, versions, plan) for value in bound[name])
        else:
            arguments.extend(spec_of(value) if name in shapes else None for value in bound[name])
    options: dict[str, Any] | None = None
    for name in layout.named:
        value = bound[name]
        if value is layout.defaults.get(name, node) or not (name in needs or name in shapes):
            continue
        options = options or {}
        options[name] = _kept(value, versions, plan) if name in needs else spec_of(value)
    node.versions = tuple(versions)
    node.out_version = None
    keeps_out = "out" in needs
    if keeps_out and not isinstance(result, tuple | list):
        if state.saving is not None:
            out = Packed(make(type(result), out), state.saving)
        elif (counter := shared_counter(result)) is not None:
            node.out_version = (counter, counter[0])
    node.saved = (out if keeps_out else None, *arguments)
    node.options = options


def _kept(value: Any, versions: list[Any], plan: Plan) -> Any:
    """A value to save; the versions of the tensors in it are added to `versions`."""
    if isinstance(value, TensorBase):
        version = version_of(value)
        if version is None:
            raise inference(plan.name)
        if state.saving is not None:
            versions.append(None)
            return Packed(value, state.saving)
        versions.append(version)
        return value
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)([_kept(part, versions, plan) for part in value])
    return value.copy() if isinstance(value, np.ndarray) else value


def spec_of(value: Any) -> Any:
    """`value` with a `Spec` in place of every array and tensor."""
    if isinstance(value, TensorBase):
        value = value._array
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(spec_of(part) for part in value)
    return Spec.of(value) if hasattr(value, "dtype") and hasattr(value, "shape") else value


def mark_place(node: Node) -> None:
    """Note which line of the program this is: the innermost one outside this package."""
    frame = _frame(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame = frame.f_back
    node.code = frame.f_code
    node.lasti = frame.f_lasti
    if state.anomaly:
        extra(node).trace = traceback.extract_stack(frame)


# -- arrays in and out -------------------------------------------------------------------------------------


def unwrapped(value: Any, found: list[Any]) -> Any:
    """`value` with arrays in place of tensors; the tensors are added to `found`."""
    if isinstance(value, TensorBase):
        view = value._view
        if view is not None and view.node is not view.base._node:
            refresh(value)
        found.append(value)
        return value._array
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(unwrapped(part, found) for part in value)
    if isinstance(value, slice) and any(
        isinstance(part, TensorBase) for part in (value.start, value.stop, value.step)
    ):
        return slice(*(unwrapped(part, []) for part in (value.start, value.stop, value.step)))
    return value


def wrapped(out: Any, cls: type[Any]) -> Any:
    """`out` with tensors in place of arrays and NumPy scalars; anything else is left as it is."""
    if isinstance(out, tuple | list):
        parts = [wrapped(part, cls) for part in out]
        return type(out)(*parts) if hasattr(out, "_fields") else type(out)(parts)
    return make(cls, out) if hasattr(out, "dtype") and hasattr(out, "shape") else out


# -- views -------------------------------------------------------------------------------------------------


def link(source: Any, result: Any, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> None:
    """Note that `result` is a view of `source`, if its memory is."""
    if not isinstance(source, TensorBase):
        return
    rest = tuple(args[1:])  # without `source`: what holds the call must not hold the tensor
    if isinstance(result, tuple | list):
        for i, part in enumerate(result):
            link_one(source, part, function, rest, kwargs, i)
    else:
        link_one(source, result, function, rest, kwargs)


def link_one(
    source: TensorBase,
    result: Any,
    function: Any,
    rest: tuple[Any, ...],
    kwargs: dict[str, Any],
    item: int | None = None,
) -> None:
    """`link` for one result."""
    array = result._array
    memory = getattr(array, "base", None)
    if memory is None:
        return
    whole = source._array
    if memory is not whole and memory is not whole.base and not np.may_share_memory(array, whole):
        return
    parent = source._view
    refused = None if parent is None else parent.refused
    if not state.grad:
        refused = "it was made where recording is off (no_grad)"
    base = source if parent is None else parent.base
    result._view = View(base, parent, function, rest, kwargs, item, refused)
    result._counter = shared_counter(source)


def replay(calls: Sequence[View], whole: Any) -> Any:
    """The view that `calls` describe, of `whole`: something that has the shape of their base."""
    for view in calls:
        whole = call(view.function, whole, *view.rest, **view.options)
        if view.item is not None:
            whole = whole[view.item]
    return whole


def refresh(tensor: TensorBase) -> None:
    """Bring a view up to date whose base was changed in place: it is then a view of the changed base."""
    view = tensor._view
    assert view is not None
    if view.node is view.base._node:
        return
    view.node = view.base._node
    if view.base._requires:
        with enable_grad():
            again = replay(view.calls(), view.base)
        placed(tensor, again._node, again._nr)


def call(function: Callable[..., Any], whole: Any, *args: Any, **kwargs: Any) -> Any:
    """`function` of a tensor (recorded) or of an array."""
    position = 0
    if isinstance(function, Placed):
        function, position = function.function, function.position
    if isinstance(whole, TensorBase):
        return record(function, (*args[:position], whole, *args[position:]), kwargs)
    plain = [unwrapped(value, []) for value in args]
    return function(*plain[:position], whole, *plain[position:], **kwargs)
