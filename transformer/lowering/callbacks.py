"""Callbacks: functions that the program hands to a library, and what rules ask about them.

In: a call of a function of `runtime.instead` (a root finder, a quadrature, an ODE solver). Out: its value, as
the body says that is read instead; the callback becomes a function of the generated module.

    brentq(lambda x: f(x, p), a, b)     ->      def f(p, x): ...
                                                brentq(partial(f, p), a, b)

The operand is the partial call of that function: a tuple of what was captured, with `partial` for its class,
so that it is active where one of the captured values is. Rules ask for derivatives of the callback by the
names of `support_callbacks`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import libcst as cst
import numpy as np

from ...runtime import support_callbacks as names
from ...runtime.instead import NUMBER, Instead
from ...runtime.rule import Rule
from ...runtime.rules import calling
from ..analyses.aliases import Aliases
from ..errors import AdjoinError, Code, Where
from ..infer import arg_kind
from ..ir import (
    INDEX,
    UNBOUND,
    Arg,
    Block,
    Callee,
    Const,
    Function,
    Let,
    Lst,
    Op,
    Ref,
    Slc,
    Tup,
    Var,
    bound_inside,
    in_order,
    walk,
)
from ..kinds import Array, Kind, Number, Opaque, Sequence, dims_of
from ..sizes import named
from ..source import read_own
from . import derivatives
from .instances import Instance, fresh_name
from .reader import Frame, Reader
from .values import Bound, Choice, Derivative, ListValue, ObjectValue, Partial

PARTIAL = Ref(functools.partial, "partial", "from functools import partial")


class Contracted:
    """`seed * f(...)`, summed: of which the gradient is the adjoint of `f`."""

    def __init__(self, callee: Arg, seed: Arg) -> None:
        assert isinstance(callee, Ref)
        self.callee, self.seed = callee, seed
        self.name = callee.text


def call_instead(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    instead: Instead,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """The body that stands for a function, read with callbacks that can be differentiated."""

    if not instead.callbacks:  # the functions are read where the body calls them
        return _read_body(reader, frame, callee, instead.body, args, kwargs, node)
    given = _bound(reader, frame, callee, instead, args, kwargs, node)
    more = given.pop("args", None)
    extra = [] if more is None else list(more.items) if isinstance(more, Tup | ListValue) else [more]
    for name, parameters in instead.callbacks.items():
        if name not in given or (isinstance(given[name], Const) and not callable(given[name].value)):
            continue
        kinds = [_kind(reader, frame, callee, given, spec, node) for spec in parameters]
        given[name] = closing(
            reader, frame, name, given[name], kinds, extra, name in instead.arrays, node
        )
    return _read_body(reader, frame, callee, instead.body, [], given, node)


def _read_body(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    body: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    from .calls import read_call

    outer = reader.splicing, reader.as_it_is
    reader.splicing, reader.as_it_is = True, callee
    try:
        return read_call(reader, frame, read_own(body), (), args, kwargs, node)
    finally:
        reader.splicing, reader.as_it_is = outer


def vectorised(
    reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: cst.CSTNode | None
) -> Any:
    """`np.vectorize(f)`: what is to be called."""
    for name, value in kwargs.items():
        if name not in ("doc", "pyfunc") and value != Const(None):
            what = f"the rule of np.vectorize does not cover option {name!r}"
            reader.refuse(frame, node, Code.NO_RULE_FOR_OPTION, what, "leave the option out")
    if len(args) > 1:
        what = "the rule of np.vectorize does not cover options by position"
        reader.refuse(frame, node, Code.NO_RULE_FOR_OPTION, what, "leave them out")
    function = args[0] if args else kwargs["pyfunc"]
    return Partial(Ref(calling.elementwise_call, "elementwise_call"), (function,), {})


def elementwise_call(
    reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: cst.CSTNode | None
) -> Any:
    """A call of what `np.vectorize(f)` is."""
    ref = Ref(calling.elementwise_call, "elementwise_call")
    return _read_body(reader, frame, ref, calling.elementwise_call, args, kwargs, node)


def call_vectorised(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """A call of an `np.vectorize` of the user's."""
    made: np.vectorize = callee.value
    if made.signature is not None or made.excluded or made.otypes is not None or kwargs:
        what = f"the rule of np.vectorize does not cover the options of `{callee.text}`"
        reader.refuse(frame, node, Code.NO_RULE_FOR_OPTION, what, "leave them out")
    path = None if callee.path is None else (*callee.path, ("attr", "pyfunc"))
    function = reader.wrap(made.pyfunc, getattr(made.pyfunc, "__name__", "f"), path)
    return elementwise_call(reader, frame, [function, *args], {}, node)


def _bound(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    instead: Instead,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> dict[str, Any]:
    """The arguments that are given, by the function's own names."""
    try:
        given = inspect.signature(callee.value).bind(*args, **kwargs)
    except TypeError as error:
        reader.refuse(frame, node, Code.UNKNOWN_ARGUMENT, f"{callee.text}(): {error}", "")
    found: dict[str, Any] = {}
    for name, value in given.arguments.items():
        more = given.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        found.update(value if more else {name: value})
    for name, covered in instead.only.items():
        if name not in found:
            continue
        value = found[name]
        if not isinstance(value, Const) or value.value not in covered:
            shown = f"{name}={value.value!r}" if isinstance(value, Const) and covered else f"option {name!r}"
            what = f"the rule of {callee.text} does not cover {shown}"
            reader.refuse(frame, node, Code.NO_RULE_FOR_OPTION, what, "leave the option out")
    return found


def _kind(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    given: dict[str, Any],
    spec: str,
    node: cst.CSTNode | None,
) -> Kind:
    """What a parameter of a callback is when the library calls it."""
    if spec == NUMBER:
        return Number("float")
    way, _, name = spec.partition(" ")
    value = given[name]
    if isinstance(value, Tup | ListValue | Lst):
        value = given[name] = reader.call(np.asarray, reader.arg(value))
    kind = arg_kind(value)
    if isinstance(kind, Number) and way == "like":
        return Number("float")
    dims = dims_of(kind)
    real = isinstance(kind, Array) and (kind.dtype or "?")[0] in "fiub"
    if real and dims is not None and (way == "like" or len(dims) == 1):
        return Array("f8", dims)
    reader.refuse(
        frame,
        node,
        Code.NO_RULE_FOR_OPTION,
        f"the rule of {callee.text} does not cover `{name}` of the kind {kind}",
        f"pass {name} as a one-dimensional array of real numbers" if way == "vector" else "pass a number",
    )


# -- a callback as an operand ------------------------------------------------------------------------


def closing(
    reader: Reader,
    frame: Frame,
    name: str,
    function: Any,
    kinds: list[Kind],
    extra: list[Any],
    as_array: bool,
    node: cst.CSTNode | None,
) -> Tup:
    """A callable as an operand: a function of the module, with what it takes from around it.

    Args:
        kinds: of the arguments that the library passes.
        extra: arguments that follow these in every call.
        as_array: the library makes an array of the result.
    """
    from .calls import call

    if is_closing(function) and not extra:
        return function  # type: ignore[no-any-return]
    own = tuple(Var(n, k) for n, k in zip(_names(function, len(kinds)), kinds, strict=True))
    born, mark = reader.serial, len(reader.journal)
    with reader.block() as statements:
        result = call(reader, frame, function, [*own, *extra], {}, node)
        value = reader.arg(result)
        if as_array and not isinstance(arg_kind(value), Array):
            if isinstance(value, Tup | Lst) or isinstance(arg_kind(value), Sequence):
                value = reader.call(np.asarray, value)
            else:
                value = reader.call(np.atleast_1d, value)
    if not isinstance(value, Var | Const) or not isinstance(arg_kind(value), Array | Number):
        what = f"the callback `{_name(name, function)}` returns what is no array or number"
        reader.refuse(frame, node, Code.OPAQUE_CALL, what, "return an array or a number")
    if any(container.serial <= born for container, _, _ in reader.journal[mark:]):
        what = f"the callback `{_name(name, function)}` changes a container of the function around it"
        reader.refuse(frame, node, Code.MUTATION, what, "return the new value")
    body = Block(tuple(statements), (value,))
    inside = bound_inside(body) | {*own, UNBOUND}
    captured = tuple(v for v in in_order(body) if v not in inside)
    given = derivatives.named_apart((*own, *captured))
    mine = tuple(given[v] for v in own)
    held = tuple(given[v] for v in captured)
    made = Function(
        fresh_name(reader, _name(name, function)), (*held, *mine), derivatives.renamed(body, given)
    )
    _refuse_effects(made)
    instance = Instance(made.name, made.params, (), Var("", arg_kind(value)), function=made)
    reader.instances["callback", made.name] = instance
    return Tup((Ref(Callee(instance), made.name), *captured), PARTIAL)


def is_closing(value: Any) -> bool:
    """Whether a value is a callback as an operand."""
    return (
        isinstance(value, Tup)
        and value.cls is not None
        and value.cls.value is functools.partial
        and isinstance(value.items[0], Ref)
        and isinstance(value.items[0].value, Callee)
    )


def _refuse_effects(function: Function) -> None:
    """A callback is called more often in a derivative: what it does besides would be done more often."""
    written = Aliases(function)
    for s in walk(function.body):
        if isinstance(s, Let) and (s.effect == "io" or s.op.form in ("log", "set")):
            raise AdjoinError(
                Code.MUTATION,
                f"the callback `{function.name}` does more than to compute its result",
                where=Where.of(s.site) if s.site else None,
                rewrite="leave prints, random draws and the like out of it",
            )
    if any(written.of(v) in written.written or written.of(v) in written.grown for v in function.params):
        writing = (s.site for s in walk(function.body) if isinstance(s, Let) and s.effect == "write")
        where = next(writing, None)
        raise AdjoinError(
            Code.MUTATION,
            f"the callback `{function.name}` writes into what it is given or takes from around it",
            where=Where.of(where) if where else None,
            rewrite="copy it first",
        )


def _name(name: str, function: Any) -> str:
    if isinstance(function, Partial | Bound):
        return _name(name, function.function)
    if is_closing(function):
        return str(function.items[0].text)
    own = getattr(function, "name", None) or getattr(getattr(function, "value", None), "__name__", None)
    return own if isinstance(own, str) and own.isidentifier() and own != "lambda" else name


def _names(function: Any, count: int) -> list[str]:
    """What the parameters of a callback are called."""
    if isinstance(function, Partial):
        known = _names(function.function, count + len(function.args))[len(function.args) :]
    elif isinstance(function, Bound):
        known = _names(function.function, count + 1)[1:]
    elif isinstance(function, Choice | ObjectValue) or is_closing(function):
        known = []
    elif isinstance(function, Ref) and not hasattr(function.value, "__code__"):
        known = []  # a ufunc, say
    else:
        known = derivatives.parameters_of(function)
    return [known[i] if i < len(known) else "x" for i in range(count)]


# -- calling and differentiating one -----------------------------------------------------------------


def call_callee(reader: Reader, callee: Ref, args: list[Any]) -> Any:
    """A function of the module, called while a rule is read."""
    instance: Instance = callee.value.instance
    out = Var("", instance.result.kind)
    saved = Var("saved", Opaque(tuple))
    op = Op("user", instance.name, instance)
    reader.add(Let((out, saved), op, tuple(reader.arg(a) for a in args), (), "", reader.site))
    return out


def call_contracted(reader: Reader, function: Contracted, args: list[Any]) -> Any:
    value = call_callee(reader, function.callee, args)
    weighted = reader.binary("*", function.seed, value)
    return weighted if isinstance(arg_kind(weighted), Number) else reader.call(np.sum, weighted)


def _callback(reader: Reader, frame: Frame, f: Any, node: Any) -> Tup:
    if not is_closing(f):
        reader.refuse(frame, node, Code.OPAQUE_CALL, "this callback cannot be followed", "")
    return f  # type: ignore[no-any-return]


def pull_captured(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    f, seed, *arguments = args
    f = _callback(reader, frame, f, node)
    held = list(f.items[1:])
    wanted = [i for i, a in enumerate(held) if _carries(a)]
    bars: list[Any] = [Const(None)] * len(held)
    if wanted:
        function = Contracted(f.items[0], reader.arg(seed))
        made = Derivative(function, (), {}, {"argnums": tuple(wanted)})
        found = derivatives.call_derivative(reader, frame, made, [*held, *arguments], {}, node)
        for i, bar in zip(wanted, found.items, strict=True):
            bars[i] = bar
    return Tup((Const(None), *(reader.arg(b) for b in bars)))


def pull_argument(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    f, seed, *arguments = args
    f = _callback(reader, frame, f, node)
    function = Contracted(f.items[0], reader.arg(seed))
    made = Derivative(function, (), {}, {"argnums": len(f.items) - 1})
    return derivatives.call_derivative(reader, frame, made, [*f.items[1:], *arguments], {}, node)


def push_captured(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    f, f_dot, *arguments = args
    f = _callback(reader, frame, f, node)
    held = list(f.items[1:])
    wanted = {i: f_dot.items[i + 1] for i, a in enumerate(held) if _carries(a)}
    return derivatives.call_tangent(reader, frame, f.items[0], [*held, *arguments], wanted, node)


def pull_all(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    f, seed, *arguments = args
    f = _callback(reader, frame, f, node)
    held = list(f.items[1:])
    wanted = (len(held), *(i for i, a in enumerate(held) if _carries(a)))
    function = Contracted(f.items[0], reader.arg(seed))
    made = Derivative(function, (), {}, {"argnums": wanted})
    found = derivatives.call_derivative(reader, frame, made, [*held, *arguments], {}, node)
    return reader.new(ListValue([reader.arg(b) for b in found.items]))


def push_all(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    f, f_dot, x_dot, *arguments = args
    f = _callback(reader, frame, f, node)
    held = list(f.items[1:])
    wanted = {len(held): reader.arg(x_dot)}
    if isinstance(f_dot, Tup):
        wanted |= {i: f_dot.items[i + 1] for i, a in enumerate(held) if _carries(a)}
    return derivatives.call_tangent(reader, frame, f.items[0], [*held, *arguments], wanted, node)


def captured_bars(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    f, laid_out = args
    at: Arg = Const(0)
    bars: list[Arg] = [Const(None)]
    for x in _callback(reader, frame, f, node).items[1:]:
        if not _carries(x):
            bars.append(Const(None))
        elif isinstance(arg_kind(x), Number):
            bars.append(reader.index(laid_out, at))
            at = reader.binary("+", at, Const(1))
        else:
            after = reader.binary("+", at, reader.call(np.size, x))
            part = reader.index(laid_out, Slc(at, after, Const(None)))
            bars.append(reader.call(np.reshape, part, reader.call(np.shape, x)))
            at = after
    return Tup(tuple(bars))


def captured_size(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    size: Arg = Const(0)
    for x in _callback(reader, frame, args[0], node).items[1:]:
        if _carries(x):
            one = Const(1) if isinstance(arg_kind(x), Number) else reader.call(np.size, x)
            size = reader.binary("+", size, one)
    return size


def jacobian_in_argument(
    reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any
) -> Any:
    from .calls import read_call

    f, x = args
    f = _callback(reader, frame, f, node)
    if isinstance(arg_kind(x), Number):
        return pull_argument(reader, frame, [f, Const(1.0), x], {}, node)
    return read_call(reader, frame, read_own(names.jacobian_rows), (), [f, x], {}, node)  # type: ignore[arg-type]


def as_it_is(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    like, function, *operands = args
    kind = Opaque(None) if like == Const(None) else _like(reader, like)
    called = reader.as_it_is
    if called is not None and called.value is function.value:
        function = called  # as the user writes it
    op = Op("call", function.text, names.constant(function.value), function)
    options = {k: reader.arg(v) for k, v in kwargs.items()}
    return reader.let(op, *(reader.arg(a) for a in operands), kind=kind, options=options)


def _like(reader: Reader, like: Any) -> Kind:
    """Doubles, as many as `like` has; a string says of how many dimensions an array of doubles is."""
    if isinstance(like, Const) and isinstance(like.value, str):
        return named(Array("f8", (None,) * like.value.count(":")))
    kind = arg_kind(reader.arg(like))
    return Array("f8", kind.dims) if isinstance(kind, Array) else Number("float")


def attribute_like(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    like, found, name = args
    return reader.let(Op("attribute", name.value), found, kind=_like(reader, like))


def item_like(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    like, found, position = args
    return reader.let(INDEX, found, position, kind=_like(reader, like))


def integrated(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from ...runtime.rules import scipy_integrate as integrals
    from .calls import read_call

    like, h, a, b = args

    def integral(number: Any, array: Any, of: Arg, *more: Any) -> Any:
        body = read_own(number if isinstance(arg_kind(of), Number) else array)
        return reader.arg(read_call(reader, frame, body, (), [h, *more, a, b], {}, node))

    if not is_closing(like):
        return integral(integrals.integrated_number, integrals.integrated_array, like)
    one, several = integrals.integrated_number_part, integrals.integrated_array_part
    held = enumerate(like.items[1:], 1)
    parts = [integral(one, several, x, Const(i)) if _carries(x) else Const(None) for i, x in held]
    return Tup((Const(None), *parts))


def operands(
    reader: Reader, frame: Frame, callee: Ref, rule: Rule, args: list[Any], node: cst.CSTNode | None
) -> list[Any]:
    """The operands of an operation with a rule, its callbacks as operands."""
    assert rule.signature is not None
    given = dict(zip(rule.signature.parameters, args, strict=False))
    for name, specs in rule.callbacks.items():
        kinds = [_kind(reader, frame, callee, given, spec, node) for spec in specs]
        given[name] = closing(reader, frame, name, given[name], kinds, [], False, node)
    return list(given.values())


def _carries(arg: Arg) -> bool:
    return isinstance(arg, Var) and arg.kind.differentiable


READ: dict[Callable[..., Any], Callable[..., Any]] = {
    names.pull_captured: pull_captured,
    names.pull_argument: pull_argument,
    names.push_captured: push_captured,
    names.pull_all: pull_all,
    names.push_all: push_all,
    names.captured_bars: captured_bars,
    names.captured_size: captured_size,
    names.jacobian_in_argument: jacobian_in_argument,
    names.as_it_is: as_it_is,
    np.vectorize: vectorised,
    calling.elementwise_call: elementwise_call,
    names.attribute_like: attribute_like,
    names.item_like: item_like,
    names.integrated: integrated,
}

__all__ = [
    "READ",
    "Contracted",
    "call_callee",
    "call_contracted",
    "call_instead",
    "closing",
    "is_closing",
    "operands",
]
