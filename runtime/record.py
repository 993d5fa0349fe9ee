"""Running an operation on tensors and recording it.

In: a function of the rule table and its arguments, tensors among them. Out: its result as a tensor that knows
the node which made it. A `Plan` is a rule cut down to the active parameters, prepared once; from it `unary`
and `binary` make the short functions that operators and the common functions are; `record` serves any
operation, with sequences of operands, options and several results.

    >>> import numpy as np
    >>> from adjoin.runtime import tensor
    >>> record(np.hypot, (tensor(3.0, requires_grad=True), 4.0))
    tensor(5., grad_fn=<HypotBackward0>)
"""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import rules as rules  # importing it fills the table
from .base import Packed, Spec, TensorBase, View, hollow, make
from .errors import DeviceError, DtypeError, GraphError, OutOfRange, ShapeError
from .graph import MultiNode, Node, extra, next_number
from .modes import ON, SPECIAL, enable_grad, state
from .names import name_of
from .rule import NoRule, Rule, _cut, _parsed, lookup
from .saving import shape_only_in

__all__ = ["Plan", "binary", "call", "plan_for", "record", "unary"]

_new = object.__new__
_frame = sys._getframe
_NUMBERS = (float, int, bool, complex)
_PACKAGE = __name__.rpartition(".")[0]


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


# -- the fast path -----------------------------------------------------------------------------------------


#: The functions that `unary` and `binary` have made, by the NumPy function.
FAST_UNARY: dict[Any, Callable[[Any], Any]] = {}
FAST_BINARY: dict[Any, Callable[[Any, Any], Any]] = {}


def unary(
    function: Callable[..., Any], name: str | None = None, run: Callable[[Any], Any] | None = None
) -> Callable[[Any], Any]:
    """A recording version of a function of one tensor; whatever else it takes has its default.

    Args:
        function: the NumPy function, in the rule table.
        name: of the node.
        run: a quicker way to compute the same.
    """
    name = name or name_of(function)
    rule = lookup(function)
    if rule is None or rule.body is None or rule.signature is None:
        return functools.partial(_method, function, name)
    parameter = rule.wrt[0]
    plan = Plan(rule, function, (parameter,), name, simple=True)
    keeps_out = "out" in plan.needs
    keeps_x = parameter in plan.needs
    keeps_shape = parameter in plan.shapes
    nothing = (None, (None,), None)
    run = run or function
    is_view = rule.view

    def operation(x: Any) -> Any:
        cls = x.__class__
        try:
            view = x._view
        except AttributeError:
            raise DtypeError(f"{_qualified(function)} here takes a Tensor, not {cls.__name__}") from None
        if view is not None and view.node is not view.base._node:
            refresh(x)
        mode = state.mode
        if mode == SPECIAL:
            return record(function, (x,), None, name)
        try:
            array = run(x._array)
        except Exception as error:
            raise explained(error, function, (x._array,)) from error
        t = _new(cls)
        t._array = array
        t._nr = 0
        t._counter = version = [0]
        t._view = t._rare = None
        if is_view:
            link_one(x, t, function, (), _NO_OPTIONS)
        if not x._requires or mode != ON or array.dtype.kind not in "fc":
            t._requires = False
            t._node = None
            return t
        t._requires = True
        t._node = node = _new(Node)
        node.plan = plan
        edge = x._node
        node.edges = (x if edge is None else edge,)
        node.indices = (x._nr,) if x._nr else None
        node.seq = next_number()
        node.shape = array.shape
        node.dtype = array.dtype
        node.picks = node.more = None
        if keeps_out:
            node.out_version = (version, 0)
        else:
            node.out_version = None
        if keeps_x:
            if x._counter is None:
                raise _inference(name)
            node.saved = (array if keeps_out else None, (x,), None)
            node.versions = (x._counter[0],)
        else:
            if keeps_shape:
                node.saved = (array if keeps_out else None, (hollow(x._array),), None)
            else:
                node.saved = (array, (None,), None) if keeps_out else nothing
            node.versions = (None,)
        frame = _frame(1)
        if frame.f_globals.get("__package__") == _PACKAGE:
            mark_place(node)
        else:
            node.code = frame.f_code
            node.lasti = frame.f_lasti
        return t

    operation.__name__ = operation.__qualname__ = getattr(function, "__name__", name)
    if run is function:
        FAST_UNARY.setdefault(function, operation)
    return operation


def binary(
    function: Callable[..., Any], name: str | None = None, swap: bool = False
) -> Callable[[Any, Any], Any]:
    """A recording version of an elementwise function of two arrays, the first a tensor.

    Args:
        function: the NumPy function, in the rule table.
        name: of the node.
        swap: exchange the operands: for reflected operators.
    """
    name = name or name_of(function)
    rule = lookup(function)
    if rule is None or rule.body is None or rule.signature is None:
        return functools.partial(_method, function, name, swap=swap)
    left_name, right_name = list(rule.signature.parameters)[:2]
    both = Plan(rule, function, (left_name, right_name), name, True)
    left = Plan(rule, function, (left_name,), name, True, (True, False))
    right = Plan(rule, function, (right_name,), name, True, (False, True))
    keeps = {
        plan: ("out" in plan.needs, left_name in plan.needs, right_name in plan.needs)
        for plan in (both, left, right)
    }
    both_keeps, left_keeps, right_keeps = keeps[both], keeps[left], keeps[right]
    asks_shapes = bool(both.shapes or left.shapes or right.shapes)

    def operation(x: Any, y: Any) -> Any:
        cls = x.__class__
        view = x._view
        if view is not None and view.node is not view.base._node:
            refresh(x)
        mode = state.mode
        if mode == SPECIAL:
            return _other(function, name, x, y, swap)
        if y.__class__ is cls:
            view = y._view
            if view is not None and view.node is not view.base._node:
                refresh(y)
            b = y._array
            y_active = y._requires
        elif y.__class__ in _NUMBERS:
            b = y
            y_active = False
        else:
            return _other(function, name, x, y, swap)
        if swap:
            try:
                array = function(b, x._array)
            except Exception as error:
                raise explained(error, function, (b, x._array)) from error
        else:
            try:
                array = function(x._array, b)
            except Exception as error:
                raise explained(error, function, (x._array, b)) from error
        t = _new(cls)
        t._array = array
        t._nr = 0
        t._counter = version = [0]
        t._view = t._rare = None
        if mode != ON or not (x._requires or y_active) or array.dtype.kind not in "fc":
            t._requires = False
            t._node = None
            return t
        if swap:
            plan = right
            keeps_out, keeps_y, keeps_x = right_keeps
        elif x._requires:
            if y_active:
                plan = both
                keeps_out, keeps_x, keeps_y = both_keeps
            else:
                plan = left
                keeps_out, keeps_x, keeps_y = left_keeps
        else:
            plan = right
            keeps_out, keeps_x, keeps_y = right_keeps
        t._requires = True
        t._node = node = _new(Node)
        node.plan = plan
        if plan is both:
            edge = x._node
            edge2 = y._node
            node.edges = (x if edge is None else edge, y if edge2 is None else edge2)
            node.indices = (x._nr, y._nr) if x._nr or y._nr else None
        elif x._requires:
            edge = x._node
            node.edges = (x if edge is None else edge,)
            node.indices = (x._nr,) if x._nr else None
        else:
            edge = y._node
            node.edges = (y if edge is None else edge,)
            node.indices = (y._nr,) if y._nr else None
        node.seq = next_number()
        node.shape = array.shape
        node.dtype = array.dtype
        node.picks = node.more = None
        node.out_version = (version, 0) if keeps_out else None
        x_version = y_version = None
        try:
            if keeps_x:
                x_version = x._counter[0]
            if keeps_y and b is not y:
                y_version = y._counter[0]
        except TypeError:
            raise _inference(name) from None
        if asks_shapes:
            saved_x = x if keeps_x else hollow(x._array)
            saved_y = y if keeps_y else hollow(b) if hasattr(b, "dtype") else b
        else:
            saved_x = x if keeps_x else None
            saved_y = y if keeps_y else None
        if swap:
            node.saved = (array if keeps_out else None, (saved_y, saved_x), None)
            node.versions = (y_version, x_version)
        else:
            node.saved = (array if keeps_out else None, (saved_x, saved_y), None)
            node.versions = (x_version, y_version)
        frame = _frame(1)
        if frame.f_globals.get("__package__") == _PACKAGE:
            mark_place(node)
        else:
            node.code = frame.f_code
            node.lasti = frame.f_lasti
        return t

    operation.__name__ = operation.__qualname__ = getattr(function, "__name__", name)
    if not swap:
        FAST_BINARY.setdefault(function, operation)
    return operation


def viewing(
    function: Callable[..., Any], run: Callable[[Any, Any], Any] | None = None
) -> Callable[[Any, Any, str], Any]:
    """A recording version of a function of a tensor and one option, whose result may be a view.

    The operation is called with the tensor, the option and the name of the node, by a method of `Tensor`.
    """
    rule = lookup(function)
    assert rule is not None and rule.signature is not None
    parameter, option = list(rule.signature.parameters)[:2]
    plans: dict[str, Plan] = {}
    run = run or function

    def operation(x: Any, choice: Any, name: str) -> Any:
        view = x._view
        if view is not None and view.node is not view.base._node:
            refresh(x)
        mode = state.mode
        if mode == SPECIAL:
            return record(function, (x, choice), None, name)
        try:
            array = run(x._array, choice)
        except Exception as error:
            raise explained(error, function, (x._array,)) from error
        t = _new(x.__class__)
        t._array = array
        t._nr = 0
        t._counter = [0]
        t._view = t._rare = None
        memory = getattr(array, "base", None)
        if memory is not None and memory is x._array and view is None and mode == ON:  # by far the most views
            t._view = made = _new(View)
            made.base = x
            made.parent = made.item = made.refused = None
            made.function = function
            made.rest = (choice,)
            made.options = _NO_OPTIONS
            made.node = x._node
            t._counter = x._counter
        else:
            link_one(x, t, function, (choice,), _NO_OPTIONS)
        if not x._requires or mode != ON:
            t._requires = False
            t._node = None
            return t
        plan = plans.get(name)
        if plan is None:
            plan = plans[name] = Plan(rule, function, (parameter,), name, simple=True)
        t._requires = True
        t._node = node = _new(Node)
        node.plan = plan
        edge = x._node
        node.edges = (x if edge is None else edge,)
        node.indices = (x._nr,) if x._nr else None
        node.seq = next_number()
        node.shape = array.shape
        node.dtype = array.dtype
        node.picks = node.more = node.out_version = None
        old = hollow(x._array) if parameter in plan.shapes else None
        node.saved = (None, (old, choice if option in plan.needs else None), None)
        node.versions = (None, None)
        frame = _frame(2)
        if frame.f_globals.get("__package__") == _PACKAGE:
            mark_place(node)
        else:
            node.code = frame.f_code
            node.lasti = frame.f_lasti
        return t

    return operation


_NO_OPTIONS: dict[str, Any] = {}


def _method(function: Callable[..., Any], name: str, *args: Any, swap: bool = False) -> Any:
    return record(function, args[::-1] if swap else args, None, name)


def _other(function: Callable[..., Any], name: str, x: Any, y: Any, swap: bool) -> Any:
    """A binary operation whose second operand is neither a tensor nor a Python number."""
    if isinstance(y, list | tuple):
        y = np.asarray(y)
    if not isinstance(y, TensorBase) and not hasattr(y, "dtype") and not isinstance(y, _NUMBERS):
        return NotImplemented
    return record(function, (y, x) if swap else (x, y), None, name)


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
    rule = lookup(function)
    if rule is None:
        raise NoRule(
            f"{_qualified(function)} has no rule, so its gradient would be lost; detach() its arguments and "
            "call it on their arrays, or register a rule"
        )
    found: list[Any] = []
    arrays = [unwrapped(value, found) for value in args]
    options = {key: unwrapped(value, found) for key, value in kwargs.items()} if kwargs else {}
    if not found:
        raise TypeError(f"{_qualified(function)} was given no Tensor")
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
    picks: list[tuple[int, ...] | None] = []
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
            chosen = [i for i, v in enumerate(value) if isinstance(v, TensorBase) and v._requires]
            operands.extend(i in chosen for i in range(len(value)))
            if chosen:
                active.append(parameter)
                picks.append(tuple(chosen))
                leads.extend(value[i] for i in chosen)
                nested = True
        elif value is not None and not isinstance(value, bool | int | str):
            operands.append(False)
    if len(leads) < len(found) and len(leads) < sum(1 for t in found if t._requires):
        raise NoRule(f"the rule of {rule.name} has no derivative for one of the arguments that require grad")
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
        return bound


@functools.cache
def layout_of(rule: Rule) -> Layout:
    """The layout of a rule, made once."""
    return Layout(rule)


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
        elif result._counter is not None:
            node.out_version = (result._counter, result._counter[0])
    node.saved = (out if keeps_out else None, tuple(arguments), options)


def _kept(value: Any, versions: list[Any], plan: Plan) -> Any:
    """A value to save; the versions of the tensors in it are added to `versions`."""
    if isinstance(value, TensorBase):
        if value._counter is None:
            raise _inference(plan.name)
        if state.saving is not None:
            versions.append(None)
            return Packed(value, state.saving)
        versions.append(value._counter[0])
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
    result._counter = source._counter


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
        tensor._node, tensor._nr, tensor._requires = again._node, again._nr, True


def call(function: Callable[..., Any], whole: Any, *args: Any, **kwargs: Any) -> Any:
    """`function` of a tensor (recorded) or of an array."""
    position = 0
    if isinstance(function, Placed):
        function, position = function.function, function.position
    if isinstance(whole, TensorBase):
        return record(function, (*args[:position], whole, *args[position:]), kwargs)
    plain = [unwrapped(value, []) for value in args]
    return function(*plain[:position], whole, *plain[position:], **kwargs)


# -- templates that record -----------------------------------------------------------------------------------


class _RecordingNumpy:
    """`numpy`, as a rule's helpers see it while derivatives of derivatives are recorded.

    Most functions find tensors through NumPy's protocols; the ones here have none.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def asarray(value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, TensorBase):
            if args or kwargs:
                return value.astype(args[0] if args else kwargs["dtype"])  # type: ignore[attr-defined]
            return value
        return (
            _RecordingNumpy.array(value, *args, **kwargs)
            if isinstance(value, list)
            else np.asarray(value, *args, **kwargs)
        )

    asanyarray = asarray

    @staticmethod
    def zeros_like(value: Any, *args: Any, **kwargs: Any) -> Any:
        """Memory that a helper may store tensors into."""
        from .tensors import Tensor

        array = value._array if isinstance(value, TensorBase) else value
        zeros = np.zeros_like(array, *args, **kwargs)
        return make(Tensor, np.array(zeros) if isinstance(zeros, np.generic) else zeros)

    @staticmethod
    def zeros(*args: Any, **kwargs: Any) -> Any:
        """Memory that a helper may store tensors into."""
        from .tensors import Tensor

        return make(Tensor, np.zeros(*args, **kwargs))

    @staticmethod
    def array(value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, TensorBase):
            return value.clone()  # type: ignore[attr-defined]
        if isinstance(value, list | tuple) and any(isinstance(part, TensorBase) for part in value):
            return record(np.array, (value, *args), kwargs)
        return np.array(value, *args, **kwargs)

    @staticmethod
    def full(shape: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(fill_value, TensorBase):
            return record(np.full, (shape, fill_value, *args), kwargs)
        return np.full(shape, fill_value, *args, **kwargs)


_numpy = _RecordingNumpy()


@functools.cache
def recording(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a rule's template or helper whose own helpers record when they meet tensors."""
    if not isinstance(function, types.FunctionType):
        return function
    scope = dict(function.__globals__)
    copy = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    used = _used_names(function.__code__)
    for name in used:
        value = function.__globals__.get(name)
        if value is np:
            scope[name] = _numpy
        elif isinstance(value, types.FunctionType) and (value.__module__ or "").startswith(_PACKAGE):
            scope[name] = _dispatching(value) if lookup(value) is not None else _later(value)
    return copy


def _used_names(code: types.CodeType) -> set[str]:
    used = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            used |= _used_names(constant)
    return used


def _later(helper: types.FunctionType) -> Callable[..., Any]:
    """`recording(helper)`, made when first called: helpers may call one another in a circle."""

    @functools.wraps(helper)
    def run(*args: Any, **kwargs: Any) -> Any:
        return recording(helper)(*args, **kwargs)

    return run


def _dispatching(helper: Callable[..., Any]) -> Callable[..., Any]:
    """A helper that has a rule of its own: recorded as one operation where it meets a tensor."""

    @functools.wraps(helper)
    def run(*args: Any, **kwargs: Any) -> Any:
        found: list[Any] = []
        for value in (*args, *kwargs.values()):
            unwrapped(value, found)
        return record(helper, args, kwargs) if found else helper(*args, **kwargs)

    return run


# -- messages ------------------------------------------------------------------------------------------------


def _qualified(function: Any) -> str:
    module = (getattr(function, "__module__", None) or "").replace("numpy", "np", 1)
    name = getattr(function, "__name__", repr(function))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    if isinstance(function, np.ufunc):
        return f"np.{name}"
    return f"{module}.{name}" if module else name


def _inference(name: str) -> GraphError:
    return GraphError(
        f"{name.removesuffix('Backward0')} needs an inference tensor for its backward, but these are not "
        "tracked; clone() it outside of inference mode"
    )


def explained(error: Exception, function: Callable[..., Any], arrays: Sequence[Any]) -> Exception:
    """An error of NumPy with the shapes, dtypes and dimension that it is about."""
    name = _qualified(function)
    given = [a for a in _flat(arrays) if hasattr(a, "shape") and hasattr(a, "dtype")]
    shapes = " and ".join(str(tuple(a.shape)) for a in given) or "no arrays"
    if len({type(a).__module__.partition(".")[0] for a in given if not isinstance(a, np.generic)}) > 1:
        kinds = " and ".join(f"{type(a).__module__.partition('.')[0]} {tuple(a.shape)}" for a in given)
        return DeviceError(
            f"{name}: arrays of different devices: {kinds}; move one with to(), cuda() or cpu()"
        )
    if isinstance(error, np.linalg.LinAlgError):
        return np.linalg.LinAlgError(f"{name}: {error} (shape {shapes})")
    if isinstance(error, IndexError):
        return OutOfRange(f"{error} (shape {shapes})")
    if isinstance(error, ValueError):
        where = _mismatch(name, given)
        return ShapeError(f"{name}: shapes {shapes} do not go together{where} ({error})")
    if isinstance(error, TypeError):
        dtypes = ", ".join(str(a.dtype) for a in given)
        return DtypeError(f"{name}: not for {dtypes} of shapes {shapes}: {error}")
    return error


def _flat(values: Any) -> list[Any]:
    if isinstance(values, list | tuple):
        return [leaf for value in values for leaf in _flat(value)]
    return [values]


def _mismatch(name: str, given: Sequence[Any]) -> str:
    """Where two shapes disagree, in words."""
    if len(given) != 2:
        return ""
    a, b = given[0].shape, given[1].shape
    if name in ("np.matmul", "np.dot"):
        if not a or not b:
            return ": a 0-d array has no rows"
        inner = b[-2] if len(b) > 1 else b[-1]
        return f": {a[-1]} columns meet {inner} rows" if a[-1] != inner else ""
    n = max(len(a), len(b))
    left, right = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    for axis in reversed(range(n)):
        if left[axis] != right[axis] and 1 not in (left[axis], right[axis]):
            return f": {left[axis]} against {right[axis]} at dimension {axis}"
    return ""
