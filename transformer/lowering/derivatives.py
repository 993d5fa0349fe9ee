"""A gradient that is taken inside the function being read: the inner function is differentiated first.

In: `grad(f)` or a `Gradient` of the user's, and the arguments it is called with. Out: the value of that call:
the inner gradient's code is generated, and read in place of the call like any function of the user's.

    x * grad(lambda y: x + y)(x)     ->     x * f_grad(x, x), where f_grad has y for its parameter

Levels cannot be confused: the inner derivative has variables of its own for its arguments, and what the inner
function takes from around it is handed to it by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from .. import load
from ..analyses.aliases import Aliases
from ..errors import Code
from ..infer import arg_kind
from ..ir import (
    UNBOUND,
    Arg,
    Block,
    Const,
    Function,
    Ref,
    Tup,
    Var,
    bound_inside,
    in_order,
    rebuild,
    substitute,
)
from ..nested import MAKERS, Differentiated
from ..source import read
from .expressions import opened
from .reader import Frame, Reader
from .values import Closure, Derivative, DictValue, ListValue, ObjectValue, Partial

#: How a function is differentiated, from `pipeline`, which stands above: function, structures of the active
#: arguments, options, reader -> the module's text and the name of the function in it.
DIFFERENTIATE: list[Callable[[Function, dict[str, Any], dict[str, Any], Reader], tuple[str, str]]] = []

#: The same for the tangent: the function takes the tangents of its arguments last; it returns both.
TANGENT: list[Callable[[Function, Reader], tuple[str, str]]] = []

_OPTIONS = ("argnums", "argnames", "has_aux", "like")


def made_by(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """`grad(f, argnums=1)`, `value_and_grad(f)`; without a function yet, a decorator."""
    if not args:
        return Partial(callee, (), kwargs)
    given = {**dict(zip(_OPTIONS, args[1:], strict=False)), **kwargs}
    options = {name: _known(reader, frame, value, node) for name, value in given.items() if name != "like"}
    return Derivative(args[0], (), {}, {**MAKERS[callee.value], **options})


def known_object(reader: Reader, frame: Frame, callee: Ref, node: cst.CSTNode | None) -> Derivative:
    """A derivative that was made outside."""
    made: Differentiated = callee.value
    if made.options is None:
        reader.refuse(
            frame,
            node,
            Code.OPAQUE_CALL,
            f"a {type(made).__name__} is not read inside a function that is differentiated",
            "write it with grad",
        )
    path = None if callee.path is None else (*callee.path, ("attr", "primal"))
    primal = reader.wrap(made.primal, getattr(made.primal, "__name__", "f"), path)
    return Derivative(primal, (), {}, {k: v for k, v in made.options.items() if k != "like"})


def _known(reader: Reader, frame: Frame, value: Any, node: cst.CSTNode | None) -> Any:
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Tup | ListValue):
        return tuple(_known(reader, frame, item, node) for item in value.items)
    reader.refuse(
        frame,
        node,
        Code.UNSUPPORTED_SYNTAX,
        "an option of a gradient is not known before running",
        "write it as a constant",
    )


def call_derivative(
    reader: Reader,
    frame: Frame,
    made: Derivative,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """The derivative at these arguments."""
    places, single = _places(reader, frame, made, args, kwargs, node)
    leaves: list[tuple[Var, Arg]] = []
    args, kwargs = list(args), dict(kwargs)
    active: dict[str, Any] = {}
    for number, place in enumerate(places):
        holder: Any = args if isinstance(place, int) else kwargs
        before = len(leaves)
        fresh = _fresh(reader, holder[place], leaves)
        if len(leaves) == before:
            _refuse_inactive(reader, frame, holder[place], node)
        holder[place] = active[f"argument_{number}"] = fresh
    inner, outer = _read_inner(reader, frame, made.function, args, kwargs, leaves, node)
    text, entry = DIFFERENTIATE[0](inner, active, made.options, reader)
    operands = [*(arg for _, arg in leaves), *outer]
    result = _read_generated(reader, frame, inner.name, text, entry, operands, node)
    return _in_form(reader, frame, result, made.options, single and len(places) == 1, len(places) == 1)


def call_tangent(
    reader: Reader,
    frame: Frame,
    function: Any,
    args: list[Any],
    dots: dict[int, Arg],
    node: cst.CSTNode | None,
) -> Any:
    """The tangent of a call, given those of some of its arguments by position."""
    leaves: list[tuple[Var, Arg]] = []
    args = list(args)
    for i in dots:
        var = Var(getattr(args[i], "name", ""), arg_kind(args[i]))
        leaves.append((var, args[i]))
        args[i] = var
    inner, outer = _read_inner(reader, frame, function, args, {}, leaves, node)
    text, entry = TANGENT[0](inner, reader)
    operands = [*(arg for _, arg in leaves), *outer, *dots.values()]
    result = _read_generated(reader, frame, inner.name, text, entry, operands, node)
    return result.items[1]


def _read_inner(
    reader: Reader,
    frame: Frame,
    function: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    leaves: list[tuple[Var, Arg]],
    node: cst.CSTNode | None,
) -> tuple[Function, tuple[Var, ...]]:
    """The function that is differentiated, of the leaves of its arguments; and what it takes from outside."""
    from .calls import call

    born, mark = reader.serial, len(reader.journal)
    with reader.block() as statements:
        value = reader.arg(call(reader, frame, function, args, kwargs, node))
    if any(container.serial <= born for container, _, _ in reader.journal[mark:]):
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            "the inner function changes a container of the outer one",
            "return the new value",
        )
    body = Block(tuple(statements), (value,))
    params = tuple(var for var, _ in leaves)
    own = bound_inside(body) | {*params, UNBOUND}
    outer = tuple(v for v in in_order(body) if v not in own)
    name = _name_of(function)
    given = named_apart((*params, *outer))
    for v in params:
        v.name = given.pop(v).name
    inner = Function(name, params, renamed(body, given), tuple(given[v] for v in outer))
    written = Aliases(inner)
    if any(written.of(v) in written.written for v in inner.free):
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            "the inner function writes into an array of the outer one",
            "copy it first",
        )
    return inner, outer


def _read_generated(
    reader: Reader,
    frame: Frame,
    name: str,
    text: str,
    entry: str,
    operands: list[Arg],
    node: cst.CSTNode | None,
) -> Any:
    from .calls import read_call

    module = load.load(text, f"{name}_nested", load.key_of(text))
    outer_state = reader.splicing, reader.rereading
    reader.splicing, reader.rereading = True, True
    try:
        return read_call(reader, frame, read(getattr(module, entry)), (), operands, {}, node)
    finally:
        reader.splicing, reader.rereading = outer_state


def _in_form(
    reader: Reader, frame: Frame, result: Any, options: dict[str, Any], single: bool, bare: bool
) -> Any:
    """What generated code returns, in the form in which the call returns it."""
    with_value, has_aux = options.get("with_value", False), options.get("has_aux", False)
    if not with_value and not has_aux:
        return Tup((result,)) if bare and not single else result
    value, gradients = result.items
    gradients = Tup((gradients,)) if bare and not single else gradients
    return Tup((value, gradients)) if with_value else Tup((gradients, value.items[1]))


def _name_of(function: Any) -> str:
    name = getattr(function, "name", None) or getattr(getattr(function, "value", None), "__name__", "f")
    return name if isinstance(name, str) and name.isidentifier() and name != "lambda" else "f"


def named_apart(variables: tuple[Var, ...]) -> dict[Var, Var]:
    """For each variable one of its kind with a name that no other of them has."""
    names: dict[str, None] = {}
    found: dict[Var, Var] = {}
    for v in variables:
        name = base = v.name or "x"
        number = 0
        while name in names:
            number += 1
            name = f"{base}_{number}"
        names[name] = None
        found[v] = Var(name, v.kind)
    return found


def renamed(body: Block, names: dict[Var, Var]) -> Block:
    """The block with what it takes from outside under other names; its own arguments stay."""

    def arg(a: Arg) -> Arg:
        return substitute(a, lambda v: names.get(v, v))

    def block(b: Block) -> Block:
        return Block(tuple(rebuild(s, block, arg) for s in b.body), tuple(arg(y) for y in b.yields))

    return block(body)


# -- arguments ---------------------------------------------------------------------------------------


def _places(
    reader: Reader,
    frame: Frame,
    made: Derivative,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> tuple[list[int | str], bool]:
    """Where the active arguments are in the call, and whether the gradient comes alone."""
    argnums, argnames = made.options.get("argnums", 0), made.options.get("argnames")
    names = () if argnames is None else (argnames,) if isinstance(argnames, str) else tuple(argnames)
    said = isinstance(argnums, tuple) or ("argnums" in made.options and type(argnums) is int)
    numbers = () if names and not said else argnums if isinstance(argnums, tuple) else (argnums,)
    asked = [*numbers, *names]
    single = (isinstance(argnames, str) and not numbers) or (not names and not isinstance(argnums, tuple))
    parameters = parameters_of(made.function)
    places: list[int | str] = []
    for each in asked:
        if isinstance(each, str) and each not in kwargs and each in parameters:
            each = parameters.index(each)
        if isinstance(each, int) and each < 0:
            each += max(len(parameters), len(args))
        if isinstance(each, int) and each >= len(args) and each < len(parameters):
            each = parameters[each]
        if (each not in kwargs) if isinstance(each, str) else not 0 <= each < len(args):
            reader.refuse(
                frame,
                node,
                Code.UNKNOWN_ARGUMENT,
                f"a gradient with respect to argument {each!r} is asked for, which is not given",
                "pass it",
            )
        places.append(each)
    return places, single


def parameters_of(function: Any) -> list[str]:
    """The names of the positional parameters of a function that is being read."""
    if isinstance(function, Derivative):
        return parameters_of(function.function)
    if isinstance(function, Closure):
        params = function.node.params
    elif isinstance(function, Ref) and not isinstance(function.value, Differentiated):
        source = read(function.value)
        params = source.node.params
        bound = len(source.args)
        return [p.name.value for p in (*params.posonly_params, *params.params)][bound:]
    elif isinstance(function, Ref):
        return parameters_of(Ref(function.value.primal, "f"))
    else:
        return []
    return [p.name.value for p in (*params.posonly_params, *params.params)]


def _fresh(reader: Reader, value: Any, leaves: list[tuple[Var, Arg]]) -> Any:
    """An active argument with variables of its own for its leaves, which are noted."""
    if isinstance(value, Tup):
        return Tup(tuple(_fresh(reader, item, leaves) for item in value.items), value.cls)
    if isinstance(value, ListValue) and value.var is None:
        return reader.new(ListValue([_fresh(reader, item, leaves) for item in value.items]))
    if isinstance(value, DictValue) and value.var is None:
        return reader.new(DictValue({k: _fresh(reader, item, leaves) for k, item in value.items.items()}))
    if isinstance(value, ObjectValue):
        parts = {k: _fresh(reader, item, leaves) for k, item in value.attributes.items()}
        return reader.new(ObjectValue(value.cls, parts))
    arg = value.var if isinstance(value, ListValue) else value
    if isinstance(arg, Const) and isinstance(arg.value, float | complex):
        var = Var("", arg_kind(arg))
    elif isinstance(arg, Var) and arg.kind.differentiable:
        var = Var(arg.name, arg.kind)
    else:
        return value
    leaves.append((var, arg))
    return opened(reader, var)


def _refuse_inactive(reader: Reader, frame: Frame, value: Any, node: cst.CSTNode | None) -> None:
    what = (
        f"`{value.value!r}`"
        if isinstance(value, Const)
        else "an argument that holds no floating-point numbers"
    )
    reader.refuse(frame, node, Code.INTEGER_ARGUMENT, f"a gradient is asked for at {what}", "pass a float")
