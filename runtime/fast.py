"""The fast path: short recording versions of the commonest operations.

In: a function of the rule table. Out (`unary`, `binary`, `viewing`): a function of tensors that does what
`record.record` does, prepared for one number of operands and no options, and several times as fast.

    >>> from adjoin.runtime import tensor
    >>> unary(np.sin)(tensor(0.0, requires_grad=True))
    tensor(0., grad_fn=<SinBackward0>)
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TensorBase, direct_view, hollow, shared_counter, version_of
from .eager_rules import rule_of
from .errors import DtypeError
from .explain import explained, inference, qualified
from .graph import Node, next_number
from .modes import ON, SPECIAL, state
from .names import name_of
from .plans import Plan
from .record import link_one, mark_place, record, refresh

__all__ = ["FAST_BINARY", "FAST_UNARY", "binary", "unary", "viewing"]

_new = object.__new__
_frame = sys._getframe
_NUMBERS = (float, int, bool, complex)
_DOUBLE = np.dtype(np.float64)  # the commonest dtype is told by its identity
_PACKAGE = __name__.rpartition(".")[0]

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
    rule = rule_of(function)
    if rule is None or rule.body is None or rule.signature is None:
        return functools.partial(_method, function, name)
    parameter = rule.wrt[0]
    plan = Plan(rule, function, (parameter,), name, simple=True)
    keeps_out = "out" in plan.needs
    keeps_x = parameter in plan.needs
    keeps_shape = parameter in plan.shapes
    nothing = (None, None)
    run = run or function
    is_view = rule.view

    def operation(x: Any) -> Any:
        cls = x.__class__
        try:
            view = x._view
        except AttributeError:
            raise DtypeError(f"{qualified(function)} here takes a Tensor, not {cls.__name__}") from None
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
        t._counter = 0
        t._view = t._rare = None
        if is_view:
            if view is None and mode == ON and array.base is x._array:
                t._view = direct_view(x, function, ())
                t._counter = shared_counter(x)
            else:
                link_one(x, t, function, (), _NO_OPTIONS)
        dtype = array.dtype
        if not x._requires or mode != ON or (dtype is not _DOUBLE and dtype.kind not in "fc"):
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
        node.dtype = dtype
        node.picks = node.more = node.options = None
        if keeps_out:
            t._counter = version = [0]
            node.out_version = (version, 0)
        else:
            node.out_version = None
        if keeps_x:
            node.saved = (array if keeps_out else None, x)
            node.versions = (_version(x, name),)
        else:
            if keeps_shape:
                node.saved = (array if keeps_out else None, hollow(x._array))
            else:
                node.saved = (array, None) if keeps_out else nothing
            node.versions = _UNCHANGED
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
    rule = rule_of(function)
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
    only_number = not (left_keeps[0] or left_keeps[1] or asks_shapes)  # of ``x * 2.0``, only the 2.0 is kept

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
        t._counter = 0
        t._view = t._rare = None
        dtype = array.dtype
        x_active = x._requires
        if mode != ON or not (x_active or y_active) or (dtype is not _DOUBLE and dtype.kind not in "fc"):
            t._requires = False
            t._node = None
            return t
        if swap:
            plan = right
            keeps_out, keeps_y, keeps_x = right_keeps
        elif x_active:
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
        elif x_active:
            edge = x._node
            node.edges = (x if edge is None else edge,)
            node.indices = (x._nr,) if x._nr else None
        else:
            edge = y._node
            node.edges = (y if edge is None else edge,)
            node.indices = (y._nr,) if y._nr else None
        node.seq = next_number()
        node.shape = array.shape
        node.dtype = dtype
        node.picks = node.more = node.options = None
        if plan is left and only_number and b is y:
            node.out_version = None
            node.saved = (None, None, y) if keeps_y else _NOTHING
            node.versions = _BOTH_UNCHANGED
        else:
            if keeps_out:
                t._counter = version = [0]
                node.out_version = (version, 0)
            else:
                node.out_version = None
            if keeps_x:
                counter = x._counter
                x_version = counter if counter.__class__ is int else _version(x, name)
                saved_x = x
            else:
                x_version = None
                saved_x = hollow(x._array) if asks_shapes else None
            if not keeps_y:
                y_version = None
                saved_y = (hollow(b) if hasattr(b, "dtype") else b) if asks_shapes else None
            elif b is y:  # a number
                y_version = None
                saved_y = y
            else:
                counter = y._counter
                y_version = counter if counter.__class__ is int else _version(y, name)
                saved_y = y
            if saved_x is saved_y is None:
                node.saved = (array, None, None) if keeps_out else _NOTHING
                node.versions = _BOTH_UNCHANGED
            elif swap:
                node.saved = (array if keeps_out else None, saved_y, saved_x)
                node.versions = _BOTH_UNCHANGED if x_version is None else (None, x_version)
            else:
                node.saved = (array if keeps_out else None, saved_x, saved_y)
                if x_version is y_version is None:
                    node.versions = _BOTH_UNCHANGED
                else:
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
    rule = rule_of(function)
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
        t._counter = 0
        t._view = t._rare = None
        memory = getattr(array, "base", None)
        if memory is not None and memory is x._array and view is None and mode == ON:  # by far the most views
            t._view = direct_view(x, function, (choice,))
            t._counter = shared_counter(x)
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
        node.picks = node.more = node.options = node.out_version = None
        old = hollow(x._array) if parameter in plan.shapes else None
        node.saved = (None, old, choice if option in plan.needs else None)
        node.versions = _BOTH_UNCHANGED
        frame = _frame(2)
        if frame.f_globals.get("__package__") == _PACKAGE:
            mark_place(node)
        else:
            node.code = frame.f_code
            node.lasti = frame.f_lasti
        return t

    return operation


def _version(tensor: Any, name: str) -> int:
    """The version to save with a tensor."""
    version = version_of(tensor)
    if version is None:
        raise inference(name)
    return version  # type: ignore[no-any-return]


_NO_OPTIONS: dict[str, Any] = {}
_NOTHING = (None, None, None)
_UNCHANGED = (None,)
_BOTH_UNCHANGED = (None, None)


def _method(function: Callable[..., Any], name: str, *args: Any, swap: bool = False) -> Any:
    return record(function, args[::-1] if swap else args, None, name)


def _other(function: Callable[..., Any], name: str, x: Any, y: Any, swap: bool) -> Any:
    """A binary operation whose second operand is neither a tensor nor a Python number."""
    if isinstance(y, list | tuple):
        y = np.asarray(y)
    if not isinstance(y, TensorBase) and not hasattr(y, "dtype") and not isinstance(y, _NUMBERS):
        return NotImplemented
    return record(function, (y, x) if swap else (x, y), None, name)
