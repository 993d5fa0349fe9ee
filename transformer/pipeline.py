"""The stages, in order, on one screen: source -> IR -> adjoint -> what to keep -> smaller -> text.

In: a Python function and a `Request`. Out: `Generated`: the text of a module, the names of its functions,
and what it depends on.

    generate(loss, Request((("w", FLOAT),), wrt=("w",))).text
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..runtime import support_memory
from ..runtime.array_modules import speaks_numpy
from .adjoint import Adjoint, Reverse
from .analyses.activity import refuse_opaque
from .analyses.aliases import Aliases
from .analyses.certain import certainly_bound
from .array_api import in_the_standard, not_in
from .builder import NUMPY
from .checkpoint import Rerun, extract, without_marks
from .emit import Module, emit
from .errors import AdjoinError, Code, Where
from .helpers import render_helpers
from .infer import arg_kind
from .ir import (
    UNBOUND,
    Arg,
    Block,
    Const,
    Dct,
    Function,
    Let,
    Lst,
    Op,
    Site,
    Statement,
    Tup,
    Var,
    in_order,
    reads,
    variables,
)
from .kinds import Array, Kind, Number, dtype_of, home_of, is_real
from .lowering import derivatives
from .lowering.hooks import without_hooks
from .lowering.lower import Lowered, lower
from .lowering.reader import Reader
from .lowering.values import DictValue, ListValue, ObjectValue
from .needed import Sweeps, keep
from .optimise import optimise
from .optimise.dead import eliminate_dead
from .optimise.propagate import propagate
from .private import privatise
from .source import Source
from .steady import keep_steady
from .tangent import Tangent, dot_name
from .torn import guard_torn


@dataclass(frozen=True)
class Request:
    """What to generate. Hashable: variants are cached by it.

    Attributes:
        kinds: one per parameter of the function; entries of `*args` are named ``args_0``, ``args_1``...
        spread: how many entries `*args` has, by its name.
        wrt: the parameters to differentiate by.
        mode: ``"joint"`` (``f_grad(...) -> gradients``), ``"value_and_joint"``
            (``f_value_and_grad(...) -> value, gradients``), ``"split"`` (``f_forward(...) -> value, saved``
            and ``f_adjoint(saved, seed) -> gradients``) or ``"tangent"`` (``f_jvp(..., w_dot) -> value,
            value_dot``, with one tangent for each parameter of `wrt`).
        has_aux: the function returns ``(value, aux)``.
        together: arguments that share memory, of which some are written to.
    """

    kinds: tuple[tuple[str, Kind], ...]
    wrt: tuple[str, ...]
    mode: str = "joint"
    has_aux: bool = False
    spread: tuple[tuple[str, int], ...] = ()
    together: tuple[str, ...] = ()


@dataclass
class Generated:
    text: str
    entries: tuple[str, ...]
    free: tuple[tuple[str, Any], ...] = ()
    free_kinds: dict[str, Kind] = field(default_factory=dict)
    guards: dict[Any, str] = field(default_factory=dict)
    dependencies: tuple[tuple[str, str, str], ...] = ()
    writes: bool = False  # into an argument: whether arguments share memory matters then
    hooked: bool = False  # by `adjoint_hook`, which tangents do not see


def generate(function: Any, request: Request) -> Generated:
    """Differentiate a function.

    Raises:
        AdjoinError: for whatever is not understood, with its place.
    """
    lowered = lower(function, dict(request.kinds), dict(request.spread))
    return _module(lowered, _differentiated(lowered, request), request)


def _differentiated(lowered: Lowered, request: Request) -> list[Function]:
    value, aux = _split_aux(lowered, request)
    leaves = {name: _leaves(lowered.parameters[name]) for name in request.wrt}
    tidied = eliminate_dead(lowered.function, (v for each in leaves.values() for v in each))
    private = privatise(tidied, request.together)
    lowered.writes = private is not tidied
    private = guard_torn(private)
    if request.mode == "tangent":
        plain = without_marks(private)
        plain = replace(plain, body=without_hooks(plain.body))
        return [_tangent(lowered, plain, leaves, request)]
    independent = [v for each in leaves.values() for v in each]
    once = propagate(extract(private, independent, lowered.reader))  # what is one value is kept once
    private = keep_steady(once)
    adjoint = Adjoint(private, independent, lowered.reader)
    refuse_opaque(private, adjoint.activity, lowered.reader.reasons)
    value = private.body.yields[0]
    if aux is not None:
        assert isinstance(value, Tup)
        value = value.items[0]
    return _functions(lowered, private, adjoint, value, request)


def differentiate_nested(
    inner: Function, active: dict[str, Any], options: dict[str, Any], reader: Reader
) -> tuple[str, str]:
    """Differentiate a function that was read inside another one; what it takes from there comes as arguments.

    Args:
        active: the structures of the arguments to differentiate by.
        options: those of `Gradient`.

    Returns:
        The text of a module, and the name of the function in it, which takes the parameters of `inner` and
        then what it is given from outside, in order.
    """
    inner = without_marks(inner)  # what is generated is read again, and steps in it would not be
    lowered = Lowered(inner, inner.body.yields[0], active, [], {}, reader.sources, reader)
    mode = "value_and_joint" if options.get("with_value") else "joint"
    request = Request((), tuple(active), mode, has_aux=bool(options.get("has_aux")))
    (made,) = _differentiated(lowered, request)
    made = replace(made, params=(*made.params, *made.free), free=())
    generated = _module(lowered, [made], request)
    return generated.text, generated.entries[0]


def tangent_nested(inner: Function, reader: Reader) -> tuple[str, str]:
    """The tangent of a function that was read inside another one, as `differentiate_nested` gives gradients.

    Returns:
        The text of a module, and the name of the function in it, which takes the parameters of `inner`, what
        it is given from outside, and the tangents of the parameters; it returns the value and its tangent.
    """
    inner = privatise(eliminate_dead(without_marks(inner)))
    lowered = Lowered(inner, inner.body.yields[0], {}, [], {}, reader.sources, reader)
    open_function = replace(inner, params=(*inner.params, *inner.free), free=())
    name = f"{inner.name}_captured"  # the instance that is called in it has a tangent of its own name
    made = _tangent_instance(lowered, open_function, list(inner.params), name)
    generated = _module(lowered, [made], Request((), (), "tangent"))
    return generated.text, generated.entries[0]


derivatives.DIFFERENTIATE.append(differentiate_nested)
derivatives.TANGENT.append(tangent_nested)


def _split_aux(lowered: Lowered, request: Request) -> tuple[Arg, Arg | None]:
    result = lowered.function.body.yields[0]
    if not request.has_aux:
        return result, None
    if isinstance(result, Tup) and len(result.items) == 2:
        return result.items[0], result.items[1]
    raise _at_function(
        lowered, Code.NON_SCALAR_RESULT, "with has_aux, the function has to return a pair (value, aux)", ""
    )


def _at_function(lowered: Lowered, code: Code, reason: str, rewrite: str) -> AdjoinError:
    return AdjoinError(code, reason, where=lowered.sources[0].where(), rewrite=rewrite or None)


def _functions(
    lowered: Lowered, private: Function, adjoint: Adjoint, value: Arg, request: Request
) -> list[Function]:
    name = private.name if private.name.isidentifier() else "f"
    if request.mode == "split":
        return _split(lowered, private, adjoint, value, request, name)
    seed = _unit_seed(lowered, value)

    def seeds(a: Adjoint) -> None:
        if isinstance(value, Var) and a.activity.active(value):
            a.contribute(value, _in_precision(a, seed, value))

    reverse = adjoint.sweep(seeds)
    gradients = tuple(_structure(lowered.parameters[n], reverse) for n in request.wrt)
    if request.mode == "joint" and not request.has_aux:
        yields: tuple[Arg, ...] = (gradients[0] if len(gradients) == 1 else Tup(gradients),)
    else:
        first = private.body.yields[0]
        yields = (Tup((first, gradients[0] if len(gradients) == 1 else Tup(gradients))),)
    sweeps = _kept(adjoint, reverse, yields)
    body = Block((*sweeps.forward, *sweeps.reverse.body), sweeps.reverse.yields)
    suffix = "grad" if request.mode == "joint" else "value_and_grad"
    return [optimise(replace(private, name=f"{name}_{suffix}", body=body))]


def _kept(adjoint: Adjoint, reverse: Reverse, yields: tuple[Arg, ...]) -> Sweeps:
    """The two sweeps; the hooks of the function have done what they are for."""
    sweeps = keep(adjoint, reverse, yields)
    return replace(sweeps, forward=list(without_hooks(Block(tuple(sweeps.forward))).body))


def _in_precision(a: Adjoint, seed: Arg | None, value: Var) -> Arg:
    """The seed in the precision of the result: a Python number would make doubles of singles."""
    if seed is None:
        return a.let(a.function_op(support_memory.unit_seed), a.primal(value), kind=value.kind)  # type: ignore[no-any-return]
    if home_of(value.kind):  # every adjoint beside arrays of another module is one of them, from the first on
        return a.call(np.ones_like, a.primal(value))  # type: ignore[no-any-return]
    narrow = {"f2": np.float16, "f4": np.float32}.get(dtype_of(value.kind) or "")
    return seed if narrow is None else a.call(narrow, seed)


def _unit_seed(lowered: Lowered, value: Arg) -> Arg | None:
    """The seed 1.0 of a scalar result; None if it has to be made when the program runs."""
    kind = arg_kind(value)
    number = isinstance(kind, Number) or (isinstance(kind, Array) and kind.home and kind.dims == ())
    if number and dtype_of(kind) is not None:
        if not is_real(kind):
            raise _at_function(
                lowered,
                Code.NON_SCALAR_RESULT,
                "the result is complex; a gradient needs a real number",
                "return its real part or absolute value",
            )
        return Const(1.0)
    if isinstance(value, Tup | Lst | Dct) or (isinstance(kind, Array) and kind.dims):
        what = (
            f"an array of {len(kind.dims or ())} dimensions" if isinstance(kind, Array) else "several values"
        )
        raise _at_function(
            lowered, Code.NON_SCALAR_RESULT, f"the result is {what}; `grad` needs one number",
            "reduce it (np.sum, np.mean), or use vjp or jacobian",
        )  # fmt: skip
    if isinstance(value, Const) and not isinstance(value.value, int | float):
        raise _at_function(
            lowered,
            Code.NON_SCALAR_RESULT,
            f"the result is {value.value!r}; `grad` needs one number",
            "return the value",
        )
    return None


def _tangent(lowered: Lowered, private: Function, leaves: dict[str, list[Var]], request: Request) -> Function:
    params = {v.name: v for v in private.params}
    dots = _dots([params[name] for name in request.wrt], private.params)
    tangent = Tangent(private, dots, [v for each in leaves.values() for v in each], lowered.reader)
    refuse_opaque(private, tangent.activity, lowered.reader.reasons)
    value = private.body.yields[0]
    statements, dot = tangent.sweep(value)
    name = private.name if private.name.isidentifier() else "f"
    body = Block(tuple(statements), (Tup((value, dot)),))
    return optimise(replace(private, name=f"{name}_jvp", params=(*private.params, *dots.values()), body=body))


def _split(
    lowered: Lowered, private: Function, adjoint: Adjoint, value: Arg, request: Request, name: str
) -> list[Function]:
    def gradients(reverse: Reverse) -> Arg:
        parts = tuple(_structure(lowered.parameters[n], reverse) for n in request.wrt)
        return parts[0] if len(parts) == 1 else Tup(parts)

    return split(private, adjoint, value, gradients, name)


def split(
    private: Function, adjoint: Adjoint, value: Arg, gradients: Callable[[Reverse], Arg], name: str
) -> list[Function]:
    """The forward function and the adjoint function, what must cross in a tuple."""
    seed = Var("seed", arg_kind(value))
    opened = adjoint.open_seed(seed, value)
    reverse = adjoint.sweep(lambda a: a.seed(value, opened))
    sweeps = _kept(adjoint, reverse, (gradients(reverse),))
    crossing = _crossing(sweeps, private, seed)
    saved = Var("saved")
    unpack = _unpack(saved, crossing)
    backward = Block((*unpack, *sweeps.reverse.body), sweeps.reverse.yields)
    adjoint_function = optimise(Function(f"{name}_adjoint", (saved, seed), backward))
    still = reads(adjoint_function.body)
    crossing = [v for v in crossing if v in still]
    rest = [s for s in adjoint_function.body.body if saved not in reads(Block((s,)))]
    smaller = replace(adjoint_function.body, body=(*_unpack(saved, crossing), *rest))
    result = private.body.yields[0]
    certain = certainly_bound((*private.params, *private.free), sweeps.forward)
    declared = [_declared(v) for v in crossing if v not in certain]
    forward = Block((*declared, *sweeps.forward), (Tup((result, Tup(tuple(crossing)))),))
    function = optimise(replace(private, name=f"{name}_forward", body=forward))
    return [_declaring(function), replace(adjoint_function, body=smaller)]


def _declared(v: Var) -> Let:
    return Let((), Op("declare", ""), (v,))


def _declaring(function: Function) -> Function:
    """What only some paths bind, and is returned all the same, is None to begin with.

    A pass may have put a value of one path in place of another one.
    """
    body = function.body
    returned = dict.fromkeys(v for y in body.yields for v in variables(y) if v is not UNBOUND)
    certain = certainly_bound((*function.params, *function.free), body.body)
    already = {s.args[0] for s in body.body if isinstance(s, Let) and s.op.form == "declare"}
    declared = [_declared(v) for v in returned if v not in certain and v not in already]
    return replace(function, body=replace(body, body=(*declared, *body.body)))


def _unpack(saved: Var, crossing: list[Var]) -> list[Statement]:
    """`a, b = saved`."""
    if len(crossing) > 1:
        return [Let(tuple(crossing), Op("value", ""), (saved,))]
    return [Let((v,), Op("index", "[]", None), (saved, Const(0))) for v in crossing]


def _crossing(sweeps: Sweeps, private: Function, seed: Var) -> list[Var]:
    """Everything of the forward function that the reverse sweep reads, parameters included."""
    from .optimise.dead import dead_block

    _, reads = dead_block(sweeps.reverse, set())
    return [v for v in in_order(sweeps.reverse) if v in reads and v is not seed]


# -- structure of parameters -------------------------------------------------------------------------


def _leaves(value: Any) -> list[Var]:
    """The variables of a parameter that can carry an adjoint."""
    if isinstance(value, Var):
        return [value] if value.kind.differentiable else []
    if isinstance(value, Tup | ListValue):
        return [v for item in value.items for v in _leaves(item)]
    if isinstance(value, DictValue):
        return [v for item in value.items.values() for v in _leaves(item)]
    if isinstance(value, ObjectValue):
        return [v for item in value.attributes.values() for v in _leaves(item)]
    return []


def _structure(value: Any, reverse: Reverse) -> Arg:
    """The gradient in the structure of its parameter; None where there is none."""
    if isinstance(value, Var):
        return reverse.gradients.get(value, Const(None))
    if isinstance(value, Tup):
        return Tup(tuple(_structure(item, reverse) for item in value.items), value.cls)
    if isinstance(value, ListValue):
        return Lst(tuple(_structure(item, reverse) for item in value.items))
    if isinstance(value, DictValue):
        return Dct(tuple((Const(k), _structure(v, reverse)) for k, v in value.items.items()))
    if isinstance(value, ObjectValue):
        from .lowering.reader import Reader

        if hasattr(value.cls, "__dataclass_fields__"):
            fields = tuple((Const(k), _structure(v, reverse)) for k, v in value.attributes.items())
            return Dct(fields, Reader().class_ref(value.cls))
        return Dct(tuple((Const(k), _structure(v, reverse)) for k, v in value.attributes.items()))
    return Const(None)


# -- the module --------------------------------------------------------------------------------------


def _module(lowered: Lowered, functions: list[Function], request: Request) -> Generated:
    module = Module(lowered.reader.numpy)
    texts = [emit(f, module) for f in functions]
    texts = [*_instances(lowered, module), *texts]
    if not speaks_numpy(lowered.reader.numpy.value):
        texts = [_standard(text, module) for text in texts]
    helpers = render_helpers(module.helpers, lowered.reader.numpy)
    if any(f.name in helpers.names for f in functions):  # `power` has a `power_adjoint`, and so has the table
        renamed = [replace(f, name=f"{f.name}_") if f.name in helpers.names else f for f in functions]
        return _module(lowered, renamed, request)
    imports = sorted(dict.fromkeys([*module.imports, *helpers.imports]))
    parts = ["\n".join(imports), helpers.text, *texts]
    if not speaks_numpy(lowered.reader.numpy.value):
        _refuse_numpy(lowered, "\n\n".join([helpers.text, *texts]))
    text = "\n\n\n".join(p.strip("\n") for p in parts if p.strip()) + "\n"
    used = [f for f in lowered.free if any(f.var in fn.free for fn in functions)]
    return Generated(
        text,
        tuple(f.name for f in functions),
        tuple((f.var.name, f.path) for f in used),
        {f.var.name: f.kind for f in used},
        dict(lowered.guards),
        tuple(_dependency(s) for s in lowered.sources),
        lowered.writes,
        lowered.reader.hooked,
    )


def _standard(text: str, module: Module) -> str:
    """The text of a function in the words of the array API; what it imports and calls is noted."""
    text, named = in_the_standard(text, module.numpy)
    module.helpers.update(named)
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    if module.numpy.text in names:
        module.imports[module.numpy.imports] = None
    if NUMPY.text not in names:
        module.imports.pop(NUMPY.imports, None)
    return text


def _refuse_numpy(lowered: Lowered, text: str) -> None:
    """Refuse what would copy the arrays of an array API namespace to the host, for NumPy to compute with."""
    missing = not_in(text, lowered.reader.numpy)
    if missing:
        name = lowered.reader.numpy.value.__name__
        listed = ", ".join(f"`{each}`" for each in sorted(missing))
        raise _at_function(
            lowered, Code.NO_RULE, f"the derivative needs {listed}, which {name} does not have",
            "use functions of the array API alone, or pass arrays of NumPy or CuPy",
        )  # fmt: skip


def _instances(lowered: Lowered, module: Module) -> list[str]:
    """The functions that recursion has made, those that are called."""
    done: dict[tuple[str, str], str] = {}
    while missing := [key for key in module.instances if key not in done]:
        name, which = missing[0]
        instance = module.instances[missing[0]]
        function = without_marks(instance.function)
        if which in ("plain", "tangent"):
            function = replace(function, body=without_hooks(function.body))
        if which == "plain":
            done[missing[0]] = emit(optimise(function), module, comments=False)
            continue
        independent = [p for p in instance.params if p.kind.differentiable]
        if which == "tangent":
            done[missing[0]] = emit(_tangent_instance(lowered, function, independent, name), module)
            continue
        if isinstance(instance, Rerun):
            assert instance.again is not None
            function, independent = instance.again, list(instance.wanted)
        function = keep_steady(function)
        adjoint = Adjoint(function, independent, lowered.reader)
        refuse_opaque(function, adjoint.activity, lowered.reader.reasons)
        wanted = adjoint.independent

        single = len(wanted) == 1 and not isinstance(instance, Rerun)

        def gradients(reverse: Reverse, wanted: list[Var] = wanted, single: bool = single) -> Arg:
            parts = tuple(reverse.gradients[v] for v in wanted)
            return parts[0] if single else Tup(parts)

        forward, backward = split(function, adjoint, function.body.yields[0], gradients, name)
        done[name, "forward"] = emit(forward, module)
        done[name, "adjoint"] = emit(backward, module)
    return list(done.values())


def _tangent_instance(lowered: Lowered, function: Function, independent: list[Var], name: str) -> Function:
    """`name_jvp(*params, *dots)`: the leaves of the result, and then those of its tangent."""
    dots = _dots(independent, function.params)
    tangent = Tangent(function, dots, independent, lowered.reader)
    refuse_opaque(function, tangent.activity, lowered.reader.reasons)
    value = function.body.yields[0]
    statements, dot = tangent.sweep(value)
    body = Block(tuple(statements), (Tup((*_flat(value), *_flat(dot))),))
    made = replace(function, name=f"{name}_jvp", params=(*function.params, *dots.values()), body=body)
    return optimise(made)


def _dots(moving: list[Var], params: tuple[Var, ...]) -> dict[Var, Var]:
    """A parameter for the tangent of each of those that move, named apart from the others."""
    taken = {p.name for p in params}
    dots: dict[Var, Var] = {}
    for p in moving:
        name, number = dot_name(p), 1
        while name and name in taken:
            number += 1
            name = f"{dot_name(p)}_{number}"
        taken.add(name)
        dots[p] = Var(name, p.kind)
    return dots


def _flat(arg: Arg) -> list[Arg]:
    return [leaf for item in arg.items for leaf in _flat(item)] if isinstance(arg, Tup) else [arg]


def _dependency(source: Source) -> tuple[str, str, str]:
    function = source.function
    return function.__module__ or "", function.__qualname__, hashlib.sha256(source.text.encode()).hexdigest()


__all__ = ["Aliases", "Generated", "Request", "Site", "Where", "generate"]
