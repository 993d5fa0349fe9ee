"""Calls: what `f(x)` means for every sort of `f`.

In: a reader, a frame, a callee and arguments as values. Out: the value of the call.

    np.exp(x)      a `Let`: the table or NumPy knows it
    helper(x)      the body of the user's function, read in place
    len(x)         Python's own, resolved here where the answer is known
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import sys
import types
from collections.abc import Callable, Collection
from typing import Any

import libcst as cst
import numpy as np

from ...runtime import support, support_tangent
from ...runtime import support_memory as memory
from ...runtime.array_modules import namespace_of
from ...runtime.checkpoints import MARK, checkpoint
from ...runtime.hooks import adjoint_hook
from ...runtime.instead import instead_of
from ...runtime.rule import lookup
from ...runtime.rules.methods import IN_PLACE, METHODS
from ...runtime.support import unbroadcast
from ..analyses.aliases import CHECKS
from ..array_api import numpy_path, own_words
from ..builder import NUMPY
from ..errors import AdjoinError, Code
from ..infer import arg_kind, infer, probe_helper
from ..ir import UNBOUND, Arg, Callee, Const, Dct, Let, Lst, Op, Ref, Slc, Star, Tup, Var, constants
from ..kinds import UNKNOWN, Array, Container, Kind, Number, Opaque, Sparse, Unknown, home_of, is_integer
from ..kinds import Sequence as SequenceKind
from ..nested import MAKERS, NOT_READ, Differentiated
from ..results import RULES
from ..source import read_own
from . import callbacks, derivatives, sparse, stores
from .expressions import (
    NotStatic,
    attribute,
    defaults,
    expression,
    known_truth,
    opened,
    spread,
    subscript,
    unpacked,
    value,
)
from .generated import TANGENTS_TOGETHER, TOGETHER, WRITING, carried, together
from .instances import call_instance, closures_in, is_recursive
from .reader import Frame, Path, Reader, module_ref
from .scopes import free_names
from .values import (
    Bound,
    Choice,
    Closure,
    Derivative,
    DictValue,
    Generator,
    Iteration,
    ListValue,
    Marked,
    Method,
    ObjectValue,
    Partial,
    Steps,
)

#: Deeper nesting of calls than this is taken for a recursion that does not end while being read.
DEEPEST = 60


@expression(cst.Call)
def _call(reader: Reader, frame: Frame, node: cst.Call) -> Any:
    callee = value(reader, frame, node.func)
    args, kwargs = arguments(reader, frame, node, callee)
    return call(reader, frame, callee, args, kwargs, node)


def arguments(
    reader: Reader, frame: Frame, node: cst.Call, callee: Any
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, in order of evaluation, `*` and `**` spread."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    count = _positional(callee)
    for i, arg in enumerate(node.args):
        x = value(reader, frame, arg.value)
        after = node.args[i + 1 :]
        plain = count is not None and not any(a.star or a.keyword for a in after)
        rest = count - len(args) - len(after) if count is not None and plain else -1
        if arg.star == "*" and rest >= 0 and isinstance(x, Var):
            args.extend(unpacked(reader, frame, x, rest, arg))
        elif arg.star == "*":
            args.extend(spread(reader, frame, x, arg))
        elif arg.star == "**":
            if not isinstance(x, DictValue):
                reader.refuse(
                    frame,
                    arg,
                    Code.UNSUPPORTED_SYNTAX,
                    "`**` of a dict with unknown keys",
                    "name the arguments",
                )
            kwargs.update(x.items)
        elif arg.keyword is not None:
            kwargs[arg.keyword.value] = x
        else:
            args.append(x)
    return args, kwargs


def _positional(callee: Any) -> int | None:
    """How many positional arguments a function takes, where it takes no other number of them."""
    if isinstance(callee, Ref) and isinstance(callee.value, np.ufunc):
        return callee.value.nin
    if isinstance(callee, Closure):
        params = callee.node.params
        fixed = [*params.posonly_params, *params.params]
        optional = isinstance(params.star_arg, cst.Param) or any(p.default is not None for p in fixed)
        return None if optional else len(fixed)
    if isinstance(callee, Ref) and isinstance(callee.value, types.FunctionType):
        code = callee.value.__code__
        optional = bool(code.co_flags & inspect.CO_VARARGS) or bool(callee.value.__defaults__)
        return None if optional else code.co_argcount
    return None


def call(
    reader: Reader,
    frame: Frame,
    callee: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """`callee(*args, **kwargs)`."""
    if callee is UNBOUND:  # looking it up has raised
        return callee
    if isinstance(callee, Choice):
        return reader.branches(
            frame,
            callee.condition,
            lambda: call(reader, frame, callee.then, args, kwargs, node),
            lambda: call(reader, frame, callee.orelse, args, kwargs, node),
        )
    if isinstance(callee, Derivative):
        return derivatives.call_derivative(reader, frame, callee, args, kwargs, node)
    if isinstance(callee, Marked):
        return _run_again(reader, frame, callee.function, args, kwargs, node)
    if isinstance(callee, Partial):
        return call(reader, frame, callee.function, [*callee.args, *args], {**callee.kwargs, **kwargs}, node)
    if isinstance(callee, Bound):
        if isinstance(callee.function, Ref) and callee.function.value is object.__init__:
            return Const(None)
        return call(reader, frame, callee.function, [callee.receiver, *args], kwargs, node)
    if isinstance(callee, Method):
        return method(reader, frame, callee.receiver, callee.name, args, kwargs, node)
    if isinstance(callee, Closure):
        return _read_closure(reader, frame, callee, args, kwargs, node)
    if isinstance(callee, ObjectValue):
        return call(reader, frame, attribute(reader, frame, callee, "__call__", node), args, kwargs, node)
    if callbacks.is_closing(callee):
        return call(reader, frame, callee.items[0], [*callee.items[1:], *args], kwargs, node)
    if isinstance(callee, callbacks.Contracted):
        return callbacks.call_contracted(reader, callee, args)
    if isinstance(callee, Ref):
        return _call_ref(reader, frame, callee, args, kwargs, node)
    if isinstance(callee, Var):
        op = Op("call", callee.name or "f", None, None)
        operands = map(reader.arg, args)
        return reader.let(
            op, callee, *operands, kind=UNKNOWN, effect="io", options=_args(reader, kwargs)
        )
    reader.refuse(frame, node, Code.UNSUPPORTED_SYNTAX, "this value cannot be called", "")


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _args(reader: Reader, kwargs: dict[str, Any]) -> dict[str, Arg]:
    return {k: reader.arg(v) for k, v in kwargs.items()}


# -- known functions ---------------------------------------------------------------------------------


def _call_ref(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    original = carried(callee.value)
    if original is not None:
        callee = Ref(original, original.__name__, "support")
    said = numpy_path(callee.value)
    if said is not None:
        callee = reader.numpy_ref(*said)
    function = callee.value
    if isinstance(function, Callee):
        return callbacks.call_callee(reader, callee, args)
    if isinstance(function, Differentiated):
        known = derivatives.known_object(reader, frame, callee, node)
        return derivatives.call_derivative(reader, frame, known, args, kwargs, node)
    if _hashable(function) and function in MAKERS:
        return derivatives.made_by(reader, frame, callee, args, kwargs, node)
    if _hashable(function) and function in NOT_READ:
        what = f"`{callee.text}` is called inside a function that is differentiated"
        reader.refuse(frame, node, Code.OPAQUE_CALL, what, "use grad there")
    if _hashable(function) and getattr(function, MARK, None) is function:
        path = _within(callee, "__wrapped__")
        wrapped = Ref(getattr(function, "__wrapped__", None), callee.text, callee.imports, path)
        return _run_again(reader, frame, wrapped, args, kwargs, node)
    if sparse.is_of_sparse(function):
        return sparse.call_sparse(reader, frame, callee, args, kwargs)
    if isinstance(function, np.vectorize):
        return callbacks.call_vectorised(reader, frame, callee, args, kwargs, node)
    instead = instead_of(function)
    if instead is not None:
        return callbacks.call_instead(reader, frame, callee, instead, args, kwargs, node)
    try:
        special = BUILTINS.get(function)
    except TypeError:
        special = None
    if special is not None:
        result = special(reader, frame, args, kwargs, node)
        if result is not NotImplemented:
            return result
    if (
        isinstance(getattr(function, "__self__", None), np.ufunc)
        and getattr(function, "__name__", "") == "at"
    ):
        if function not in stores.WRITERS:
            return stores.write_at(reader, frame, function, args, node)
    writes = stores.WRITERS.get(function) if _hashable(function) else None
    if writes is not None:
        return writes(reader, frame, args, kwargs, node)
    if lookup(function) is not None or (isinstance(function, np.ufunc) and reader.spelled(callee)):
        spelled = reader.spelled(callee)
        if spelled is None:
            reader.refuse(
                frame,
                node,
                Code.OPAQUE_CALL,
                f"generated code cannot name `{callee.text}`, which is no function of a module",
                "define it at module level, under its own name",
            )
        callee = spelled
        if stores.splits_out(function, args, kwargs):
            return stores.call_with_out(reader, frame, callee, args, kwargs, node)
        return operation(reader, frame, callee, args, kwargs, node)
    if _is_helper(function):
        return _specialise(reader, frame, callee, args, kwargs, node)
    if isinstance(function, functools.partial):
        name = getattr(function.func, "__name__", "inner")
        inner = reader.wrap(function.func, name, _within(callee, "func"))
        bound = [
            reader.wrap(a, f"{callee.text}_{i}", _within(callee, "args", i))
            for i, a in enumerate(function.args)
        ]
        named = {
            k: reader.wrap(v, f"{callee.text}_{k}", _within(callee, "keywords", k))
            for k, v in function.keywords.items()
        }
        return call(reader, frame, inner, [*bound, *args], {**named, **kwargs}, node)
    if isinstance(function, types.MethodType) and _has_readable_source(function.__func__):
        path = _within(callee, "__self__")
        receiver = reader.wrap(function.__self__, getattr(function.__self__, "__name__", "self"), path)
        return call(reader, frame, Ref(function.__func__, callee.text), [receiver, *args], kwargs, node)
    if isinstance(function, type):
        made = construct(reader, frame, callee, args, kwargs, node)
        if made is not NotImplemented:
            return made
    if _has_readable_source(function):
        return _read_function(reader, frame, callee, args, kwargs, node)
    return _opaque(reader, callee, args, kwargs)


def _within(callee: Ref, attribute: str, *items: Any) -> Path | None:
    """The path to something that a callable holds: an attribute, or an item of one."""
    if callee.path is None:
        return None
    return (*callee.path, ("attr", attribute), *(("item", item) for item in items))


def _run_again(
    reader: Reader,
    frame: Frame,
    function: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """A call of a checkpointed function: it is read in place, between marks."""
    token = object()
    made = function if isinstance(function, Closure) else getattr(function, "value", None)
    name = getattr(made, "name", None) or getattr(made, "__name__", "inner")
    reader.do(Op("checkpoint", f"begin {name}", token), effect="")
    result = call(reader, frame, function, args, kwargs, node)
    reader.do(Op("checkpoint", f"end {name}", token), effect="")
    return result


def operation(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """A call that the table knows."""
    function = callee.value
    args = [_unlazy(reader, frame, a, node) for a in args]
    rule = lookup(function)
    if rule is not None and rule.callbacks:
        args = callbacks.operands(reader, frame, callee, rule, args, node)
    operands = _as_arrays(reader, function, tuple(reader.arg(a) for a in args), kwargs)
    options = _args(reader, kwargs)
    options = {k: v for k, v in options.items() if not (k in ("out", "like") and v == Const(None))}
    if function is np.asarray and reader.splicing and len(operands) == 1 and options.keys() <= {"like"}:
        kind = arg_kind(operands[0])
        if isinstance(kind, Array) and (not options or kind.home):
            return operands[0]
    op = Op("call", callee.text, function, callee)
    effect = "io" if _draws(function) else ""
    result = reader.let(op, *operands, effect=effect, options=options)
    return opened(reader, result) if isinstance(result, Var) else result


#: Functions whose operands are sequences of arrays; all others make an array of a list first, as NumPy does.
_TAKE_SEQUENCES = frozenset({"concatenate", "concat", "stack", "vstack", "row_stack", "hstack", "dstack",
                             "column_stack", "block", "array", "asarray", "asanyarray", "ascontiguousarray",
                             "choose", "select", "broadcast_arrays", "meshgrid", "einsum", "multi_dot", "ix_",
                             "piecewise", "fromiter", "gradient", "lexsort", "unstack"})  # fmt: skip


def _as_arrays(
    reader: Reader, function: Any, operands: tuple[Arg, ...], kwargs: dict[str, Any]
) -> tuple[Arg, ...]:
    """Lists and tuples of numbers among the differentiable operands of NumPy functions, made arrays."""
    rule = lookup(function)
    name = getattr(function, "__name__", "")
    module = (getattr(function, "__module__", None) or "numpy").partition(".")[0]
    if rule is None or rule.signature is None or name in _TAKE_SEQUENCES or module not in ("numpy", "scipy"):
        return operands
    names = list(rule.signature.parameters)
    away = [a for a in operands if home_of(arg_kind(a))]
    like: dict[str, Any] = {"like": away[0]} if away and reader.numpy.value is np else {}
    made = []
    for i, arg in enumerate(operands):
        written = isinstance(arg, Lst | Tup) and arg.items
        running = isinstance(arg, Var) and isinstance(arg.kind, SequenceKind)
        wanted = (written or running) and i < len(names) and names[i] in rule.wrt
        made.append(reader.call(np.asarray, arg, **like) if wanted else arg)
    return tuple(made)


def _draws(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    owner = getattr(function, "__self__", None)
    return "random" in module or isinstance(owner, np.random.RandomState | np.random.Generator)


def _unlazy(reader: Reader, frame: Frame, x: Any, node: cst.CSTNode | None) -> Any:
    from .loops import listed

    return (
        listed(reader, x, frame, node)
        if isinstance(x, Generator | Iteration | Steps) and getattr(x, "plain", None) is None
        else x
    )


def _opaque(reader: Reader, callee: Ref, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call that is made as it is. Whether something active goes in is for the activity analysis to say."""
    function = callee.value
    operands = [reader.run(a) if isinstance(a, ListValue) else reader.arg(a) for a in args]
    options = _args(reader, kwargs)
    spelled = reader.spelled(callee)
    if isinstance(function, type) and issubclass(function, BaseException):
        op = Op("call", callee.text, function, callee)
        return reader.let(op, *operands, kind=Opaque(function), options=options)
    kind = infer(function, tuple(operands), options)
    if function in (np.random.default_rng, np.random.RandomState):
        kind = Opaque(np.random.Generator)
    elif _draws(function):
        kind = drawn(getattr(function, "__name__", ""), tuple(operands), kwargs)
    elif isinstance(function, type) and _is_standard(function):
        kind = Opaque(function)  # no array, whatever its methods are called
    effect = "" if _is_pure(function) else "io"
    if effect and not _draws(function):
        _may_be_filled(reader, args)
    if spelled is None and callee.path is not None:  # generated code is given it
        op = Op("call", callee.text, None, None)
        operands.insert(0, reader.taken(callee))
    else:
        op = Op("call", callee.text, function, spelled or callee)
    return reader.let(op, *operands, kind=kind, effect=effect, options=options)


def _may_be_filled(reader: Reader, args: list[Any]) -> None:
    """Code that is not read may put anything into a list that it is given."""
    from .containers import widen

    for a in args:
        if isinstance(a, ListValue):
            widen(reader, a, Var("", UNKNOWN))


def _is_pure(function: Any) -> bool:
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    return (module in ("math", "operator") or module == "numpy") and not _draws(function)


def _is_standard(cls: type) -> bool:
    """Whether a class is one of the standard library's, apart from what needs no import."""
    module = cls.__module__.partition(".")[0].lstrip("_")
    return module in sys.stdlib_module_names and module != "builtins"


def _has_readable_source(function: Any) -> bool:
    function = inspect.unwrap(function) if hasattr(function, "__wrapped__") else function
    if not hasattr(function, "__code__"):
        return False
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    return module not in _LIBRARIES


_LIBRARIES = frozenset({"numpy", "scipy", "cupy", "random", "time", "os", "sys", "logging", "warnings",
                        "functools", "itertools", "collections", "statistics", "contextlib", "copy", "json",
                        "re", "typing", "inspect", "threading", "matplotlib", "pandas",
                        "sklearn"})  # fmt: skip


# -- functions with source ---------------------------------------------------------------------------


def _read_function(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    mark, born = len(reader.journal), len(reader.statements)
    try:
        source = reader.source_of(callee.value)
        return read_call(reader, frame, source, callee.path or (), args, kwargs, node)
    except AdjoinError as error:
        being_read = any(instance.function is None for instance in reader.instances.values())
        if error.code is Code.RECURSION and being_read:
            raise  # the whole recursion is opaque, or each call of it would be tried in all its forms
        if error.code not in (Code.UNSUPPORTED_SYNTAX, Code.SOURCE_NOT_AVAILABLE, Code.RECURSION):
            raise
        reader.rewind(mark)
        del reader.statements[born:]
        result = _opaque(reader, callee, args, kwargs)
        made = reader.statements[-1]
        assert isinstance(made, Let)
        reader.reasons[id(made.op)] = error
        return result


def read_call(
    reader: Reader,
    frame: Frame,
    source: Any,
    path: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """Read a user's function in place of a call of it."""
    from .statements import read_body

    function = source.function
    if len(reader.calls) > DEEPEST:
        reader.refuse(
            frame,
            node,
            Code.RECURSION,
            f"calls are nested more than {DEEPEST} deep",
            "write the recursion as a loop",
        )
    bound = [reader.wrap(a, f"bound_{i}", (*path, ("bound", i))) for i, a in enumerate(source.args)]
    named = {k: reader.wrap(v, k, None) for k, v in source.keywords.items()}
    inner = Frame(source, function, path, name=function.__name__)
    if source not in reader.sources:
        reader.sources.append(source)
    given = _defaults_of(reader, function, path)
    every, keywords = [*bound, *args], {**named, **kwargs}
    try:
        bind(reader, inner, source.node.params, every, keywords, given, function.__name__)
    except CallError as error:
        return reader.fail(frame, TypeError, str(error))
    site = reader.site

    def read_it(values: dict[str, Any]) -> Any:
        inner.env = dict(values)
        inner.returns = []
        reader.calls.append((function, reader.nested))
        try:
            return read_body(reader, inner, source.node)
        finally:
            reader.calls.pop()
            reader.site = site

    if is_recursive(reader, function):
        around = _captured(closures_in(inner.env))
        values = dict(inner.env)
        return call_instance(reader, frame, function, function.__name__, values, read_it, node, around)
    return read_it(inner.env)


def _defaults_of(
    reader: Reader, function: types.FunctionType, path: Any, given: Collection[str] = ()
) -> dict[str, Any]:
    """The defaults of the parameters that are not given: an array among them is looked up at each call."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    values = function.__defaults__ or ()
    positional = dict(zip(names[len(names) - len(values) :], values, strict=True))
    every = {**positional, **(function.__kwdefaults__ or {})}
    missing = {name: v for name, v in every.items() if name not in given}
    return {name: _default(reader, v, name, (*path, ("default", name))) for name, v in missing.items()}


def _default(reader: Reader, x: Any, name: str, path: Any) -> Any:
    if isinstance(x, bool | int | float | complex | str) or x is None:
        return Const(x)
    if isinstance(x, type) and x.__module__ == "builtins":
        return Ref(x, x.__name__)
    return reader.wrap(x, name, path)


def _read_closure(
    reader: Reader,
    frame: Frame,
    callee: Closure,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    from .statements import read_body

    if len(reader.calls) > DEEPEST:
        reader.refuse(
            frame, node, Code.RECURSION, f"{callee.name} calls itself", "write the recursion as a loop"
        )
    inner = Frame(callee.frame.source, None, callee.frame.path, parent=callee.frame, name=callee.name)
    try:
        bind(reader, inner, callee.node.params, args, kwargs, callee.defaults, callee.name)
    except CallError as error:
        return reader.fail(frame, TypeError, str(error))

    def read_it(values: dict[str, Any]) -> Any:
        inner.env = dict(values)
        inner.returns = []
        reader.calls.append((callee.node, reader.nested))
        try:
            return read_body(reader, inner, callee.node)
        finally:
            reader.calls.pop()

    if is_recursive(reader, callee.node):
        around = _captured([callee, *closures_in(inner.env)])
        return call_instance(
            reader, frame, callee.node, callee.name, dict(inner.env), read_it, node, around
        )
    return read_it(inner.env)


def _captured(callees: list[Closure]) -> list[tuple[dict[str, Any], str]]:
    """Where the names stand that nested functions, and those that they name, take from around them."""
    found: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
    seen: set[tuple[int, int]] = set()
    waiting = list(callees)
    while waiting:
        callee = waiting.pop()
        if (id(callee.node), id(callee.frame)) in seen:
            continue
        seen.add((id(callee.node), id(callee.frame)))
        for name in sorted(free_names(callee.node)):
            at = callee.frame
            while at is not None and name not in at.env:
                at = at.parent
            if at is not None:
                found[id(at.env), name] = (at.env, name)
                waiting += closures_in(at.env[name])
    return list(found.values())


class CallError(TypeError):
    """A call does not fit the signature of what it calls: the running program raises this."""


def _counted(n: int) -> str:
    return f"{n} positional argument{'s' if n != 1 else ''}"


def bind(
    reader: Reader,
    inner: Frame,
    params: cst.Parameters,
    args: list[Any],
    kwargs: dict[str, Any],
    given: dict[str, Any],
    name: str,
) -> None:
    """Bind a call's arguments to parameters, as Python does.

    Raises:
        CallError: where Python raises a TypeError.
    """
    kwargs = dict(kwargs)
    env = inner.env
    positional_only = [p.name.value for p in params.posonly_params]
    positional = positional_only + [p.name.value for p in params.params]
    for parameter, arg in zip(positional, args, strict=False):
        env[parameter] = arg
    rest = args[len(positional) :]
    if isinstance(params.star_arg, cst.Param):
        env[params.star_arg.name.value] = Tup(tuple(rest))
    elif rest:
        was = "was" if len(args) == 1 else "were"
        raise CallError(f"{name}() takes {_counted(len(positional))} but {len(args)} {was} given")
    keyword_only = [p.name.value for p in params.kwonly_params]
    for parameter in [*positional, *keyword_only]:
        if parameter in kwargs and parameter not in positional_only:
            if parameter in env:
                raise CallError(f"{name}() got multiple values for argument {parameter!r}")
            env[parameter] = kwargs.pop(parameter)
        elif parameter not in env:
            if parameter not in given:
                raise CallError(f"{name}() missing a required argument: {parameter!r}")
            env[parameter] = given[parameter]
    if params.star_kwarg is not None:
        env[params.star_kwarg.name.value] = reader.new(DictValue(kwargs))
    elif kwargs:
        raise CallError(f"{name}() got an unexpected keyword argument {next(iter(kwargs))!r}")


def construct(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """An instance of a user's class."""
    cls = callee.value
    if cls is types.SimpleNamespace and not args:
        return reader.new(ObjectValue(cls, dict(kwargs)))
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and _is_made(cls.__new__):
        given = dict(zip(cls._fields, args, strict=False)) | kwargs
        filled = {f: given.get(f, Const(getattr(cls, "_field_defaults", {}).get(f))) for f in cls._fields}
        return Tup(tuple(filled.values()), callee)
    if hasattr(cls, "__dataclass_fields__") and _is_made(cls.__init__):
        return _dataclass(reader, frame, cls, args, kwargs, node)
    init = cls.__init__
    if not hasattr(init, "__code__") or (cls.__module__ or "").partition(".")[0] in _LIBRARIES:
        return NotImplemented
    made = reader.new(ObjectValue(cls, {}))
    call(reader, frame, Ref(init, f"{cls.__name__}.__init__"), [made, *args], kwargs, node)
    return made


def _is_made(method: Any) -> bool:
    """Whether `dataclass` or `namedtuple` has written a method, not the user."""
    return getattr(getattr(method, "__code__", None), "co_filename", "<string>") == "<string>"


def _dataclass(
    reader: Reader,
    frame: Frame,
    cls: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """An instance as the `__init__` makes it that `dataclass` writes."""
    fields = dataclasses.fields(cls)
    given = dict(zip([f.name for f in fields if f.init and not f.kw_only], args, strict=False)) | kwargs
    attributes = {}
    for f in fields:
        if f.init and f.name in given:
            attributes[f.name] = given[f.name]
        elif f.default is not dataclasses.MISSING:
            attributes[f.name] = reader.wrap(f.default, f.name, None)
        elif f.default_factory is not dataclasses.MISSING:
            attributes[f.name] = call(reader, frame, Ref(f.default_factory, "factory"), [], {}, node)
    inits = {f.name for f in fields if f.init}
    if len(args) > len(inits) or not given.keys() <= inits or inits - attributes.keys():
        return NotImplemented  # fields that are handed to `__post_init__`, or a call that does not fit
    made = reader.new(ObjectValue(cls, attributes))
    if hasattr(cls, "__post_init__"):
        call(reader, frame, attribute(reader, frame, made, "__post_init__", node), [], {}, node)
    return made


# -- helpers of the rules, specialised ---------------------------------------------------------------


def _is_helper(function: Any) -> bool:
    """Whether a function is one of `support` and its companions."""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, types.FunctionType) and module.startswith(_SUPPORT)


_SUPPORT = unbroadcast.__module__


def _specialise(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """A support helper: its body, if every test in it can be decided now; else a call of it."""
    if callee.value in CHECKS:
        op = Op("call", callee.value.__name__, callee.value, callee)
        held = [reader.arg(a) for a in args]
        return reader.let(op, *held, kind=Opaque(None), effect="io")
    folded = _folded(callee.value, args, kwargs)
    if folded is not None:
        return folded
    mark, born, outer = len(reader.journal), len(reader.statements), (reader.splicing, reader.static_only)
    reader.splicing, reader.static_only = True, True
    try:
        helper = own_words(callee.value, reader.numpy)
        return read_call(reader, frame, read_helper(helper), (), args, kwargs, node)
    except (NotStatic, AdjoinError):
        reader.rewind(mark)
        del reader.statements[born:]
    finally:
        reader.splicing, reader.static_only = outer
    function = callee.value
    if (not reader.splicing or reader.rereading) and lookup(function) is None:  # in generated code
        made = _read_helper_body(reader, frame, function, args, kwargs, node)
        if made is not NotImplemented:
            return made
    if function in WRITING:
        what = f"what `{function.__name__}` writes is not followed here"
        reader.refuse(frame, node, Code.MUTATION, what, "")
    op = Op("call", function.__name__, function, Ref(function, function.__name__, "support"))
    operands = tuple(reader.arg(a) for a in args)
    kind = _helper_kind(function, operands)
    return reader.let(op, *operands, kind=kind, options=_args(reader, kwargs))


def _read_helper_body(
    reader: Reader,
    frame: Frame,
    function: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """A helper like a function of the user's: its branches become the program's."""
    mark, born, outer = len(reader.journal), len(reader.statements), (reader.splicing, reader.rereading)
    reader.splicing, reader.rereading = True, True  # what it calls is read as well
    try:
        helper = own_words(function, reader.numpy)
        return read_call(reader, frame, read_helper(helper), (), args, kwargs, node)
    except AdjoinError:
        reader.rewind(mark)
        del reader.statements[born:]
        return NotImplemented
    finally:
        reader.splicing, reader.rereading = outer


def helper_op(function: Any) -> Op:
    """A call of a support helper."""
    return Op("call", function.__name__, function, Ref(function, function.__name__, "support"))


def _folded(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Const | None:
    """The result of a helper whose arguments are all known, where a constant can hold it."""
    if kwargs or not args or not all(isinstance(a, Const) for a in args):
        return None
    result = function(*[a.value for a in args])
    return Const(result) if result is None or type(result) in (bool, int, str) else None


@functools.cache
def read_helper(function: Any) -> Any:
    return read_own(function)


def _helper_kind(function: Any, operands: tuple[Arg, ...]) -> Kind:
    """The kind of a helper's result, where it can be told from its operands."""
    if function is unbroadcast:
        kind = arg_kind(operands[1])
        if isinstance(kind, Array | Number):
            return kind
    if function in RULES:
        found = infer(function, operands, {})
        return found if isinstance(found, Kind) else UNKNOWN
    return probe_helper(function, operands)


# -- methods -----------------------------------------------------------------------------------------


def _namespace(reader: Reader, frame: Frame, x: Var, node: cst.CSTNode | None) -> Ref:
    """`x.__array_namespace__()`: the module that the arrays of this signature are from, imported as such."""
    if not isinstance(x.kind, Array | Number):
        reader.refuse(
            frame,
            node,
            Code.OPAQUE_CALL,
            "the array module of this value is not known before running",
            "take it from an argument that is an array",
        )
    home = home_of(x.kind)
    if home is None:
        return reader.numpy if reader.numpy.value is np else NUMPY
    module = namespace_of(home)
    if module is None:
        reader.refuse(frame, node, Code.OPAQUE_CALL, f"arrays of {home} have no namespace", "name the module")
    reader.numpy = module_ref(module, "xp")
    return reader.numpy


def method(
    reader: Reader,
    frame: Frame,
    x: Any,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """`x.name(*args)` of an array, list, dict, string, tuple or unknown object."""
    if name == "__array_namespace__" and isinstance(x, Var):
        return _namespace(reader, frame, x, node)
    if isinstance(x, ListValue):
        from .containers import list_method

        return list_method(reader, frame, x, name, args, kwargs, node)
    if isinstance(x, Var) and x in reader.outside:
        from .containers import CHANGING, grow_outside

        if name in CHANGING:
            return grow_outside(reader, frame, x, name, args, node)
    if isinstance(x, DictValue):
        from .containers import dict_method

        return dict_method(reader, frame, x, name, args, kwargs, node)
    if isinstance(x, Tup) and x.cls is not None and name == "_replace":
        fields = x.cls.value._fields
        return Tup(tuple(kwargs.get(f, item) for f, item in zip(fields, x.items, strict=True)), x.cls)
    if isinstance(x, Tup) and x.cls is not None and name == "_asdict":
        return reader.new(DictValue(dict(zip(x.cls.value._fields, x.items, strict=True))))
    if isinstance(x, Tup) and x.cls is not None and hasattr(vars(x.cls.value).get(name), "__code__"):
        function = vars(x.cls.value)[name]
        return call(reader, frame, Bound(Ref(function, function.__qualname__), x), args, kwargs, node)
    if isinstance(x, Tup) and name in ("index", "count"):
        items, wanted = constants(x.items), constants(args)
        if items is not None and wanted is not None:
            return Const(getattr(items, name)(*wanted))
    if (
        isinstance(x, Const)
        and isinstance(x.value, str)
        and name == "format"
        and not kwargs
        and all(isinstance(a, Const) for a in args)
    ):
        return Const(x.value.format(*[a.value for a in args]))
    if isinstance(x, Const):
        consts = all(isinstance(a, Const) for a in [*args, *kwargs.values()])
        if consts and not kwargs:
            return reader.wrap(getattr(x.value, name)(*[a.value for a in args]), name, None)
        operands = map(reader.arg, args)
        return reader.let(Op("method", name), x, *operands, kind=Opaque(None), options=_args(reader, kwargs))
    assert isinstance(x, Var), x
    kind = x.kind
    if isinstance(kind, Sparse):
        return sparse.method(reader, frame, x, kind, name, args, kwargs, node)
    if name == "shuffle" and isinstance(kind, Opaque):
        return stores.shuffle(reader, frame, x, args, node)
    if isinstance(kind, Opaque) or (
        isinstance(kind, Unknown) and name not in METHODS and name not in IN_PLACE
    ):
        held = [reader.run(a) if isinstance(a, ListValue) else reader.arg(a) for a in args]
        generator = isinstance(kind, Opaque) and kind.type in _GENERATORS
        result = drawn(name, tuple(held), kwargs) if generator else UNKNOWN
        if not generator:
            _may_be_filled(reader, args)
        return reader.let(
            Op("method", name), x, *held, kind=result, effect="io", options=_args(reader, kwargs)
        )
    return array_method(reader, frame, x, name, args, kwargs, node)


_GENERATORS = (np.random.Generator, np.random.RandomState)
_REAL_DRAWS = frozenset({"random", "normal", "uniform", "standard_normal", "exponential", "gamma", "beta",
                         "laplace", "rand", "randn", "random_sample", "lognormal", "logistic", "gumbel",
                         "standard_exponential"})  # fmt: skip


def drawn(name: str, args: tuple[Arg, ...], kwargs: dict[str, Any]) -> Kind:
    """The kind of a random draw: a Python float, or an array if a size is given."""
    if (
        name in ("integers", "randint", "poisson", "binomial")
        and kwargs.get("size") is None
        and len(args) <= 2
    ):
        return Number("i8") if all(isinstance(arg_kind(a), Number) for a in args) else UNKNOWN
    if name == "choice" and args and is_integer(arg_kind(args[0])) and isinstance(arg_kind(args[0]), Number):
        from ..infer import shape_dims

        size = kwargs.get("size", args[1] if len(args) > 1 else Const(None))
        return Number("i8") if size == Const(None) else Array("i8", shape_dims(reader_arg(size)))
    if name not in _REAL_DRAWS:
        return Array("i8", None) if name == "permutation" else UNKNOWN
    size = kwargs.get("size")
    if (
        size is None
        and name in ("random", "standard_normal", "random_sample", "standard_exponential")
        and args
    ):
        size = args[0]
    if size is None and len(args) > 2:
        size = args[2]
    if name in ("rand", "randn"):
        return Array("f8", (None,) * len(args)) if args else Number("float")
    if size is None or size == Const(None):
        arrays = any(not isinstance(arg_kind(a), Number) for a in args)
        return UNKNOWN if arrays else Number("float")
    from ..infer import shape_dims

    return Array("f8", shape_dims(reader_arg(size)))


def reader_arg(x: Any) -> Arg:
    return Tup(tuple(x.items)) if isinstance(x, ListValue) else x


def _given_out(kwargs: dict[str, Any]) -> bool:
    out: object = kwargs.get("out", Const(None))
    return out != Const(None)


_DUNDERS = {"__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__pow__": "**",
            "__matmul__": "@", "__mod__": "%", "__floordiv__": "//", "__lt__": "<", "__le__": "<=",
            "__gt__": ">", "__ge__": ">=", "__eq__": "==", "__ne__": "!="}  # fmt: skip


def array_method(
    reader: Reader,
    frame: Frame,
    x: Var,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    from .statements import store
    if name in _DUNDERS and len(args) == 1:
        return reader.binary(_DUNDERS[name], x, reader.arg(args[0]))
    if name.startswith("__r") and f"__{name[3:]}" in _DUNDERS and len(args) == 1:
        return reader.binary(_DUNDERS[f"__{name[3:]}"], reader.arg(args[0]), x)
    if name == "__getitem__":
        return subscript(reader, frame, x, args[0], node)
    if name == "__setitem__":
        store(reader, frame, x, args[0], args[1], node)
        return Const(None)
    if name.startswith("__i") and f"__{name[3:]}" in _DUNDERS and isinstance(x.kind, Array):
        stores.augment(reader, _DUNDERS[f"__{name[3:]}"], x, Const(Ellipsis), reader.arg(args[0]))
        return x
    if name in METHODS and _given_out(kwargs):
        callee = reader.function(METHODS[name].function)
        return _call_ref(
            reader, frame, Ref(callee.function, callee.text, reader.numpy.imports), [x, *args], kwargs, node
        )
    if name in IN_PLACE or name == "view":
        return stores.array_method_in_place(reader, frame, x, name, args, kwargs, node)
    as_function = METHODS.get(name)
    if as_function is None:
        if name in _CONSTANT_METHODS:
            return reader.let(Op("method", name), x, *map(reader.arg, args), kind=_CONSTANT_METHODS[name])
        reader.refuse(
            frame, node, Code.NO_RULE, f"no rule yet for the method {name!r}", "use a NumPy function"
        )
    held = [reader.arg(a) for a in args]
    if as_function.packs and len(held) > 1:
        held = [Tup(tuple(held))]
    if as_function.receiver:
        arranged = [*held[: as_function.receiver], x, *held[as_function.receiver :]]
        result = reader.let(reader.function(as_function.function), *arranged, options=_args(reader, kwargs))
    else:
        op = Op("method", name, as_function.function)
        result = reader.let(op, x, *held, options=_args(reader, kwargs))
    return opened(reader, result) if isinstance(result, Var) else result


_CONSTANT_METHODS: dict[str, Kind] = {
    "is_integer": Number("bool"),
    "tobytes": Opaque(bytes),
    "as_integer_ratio": Opaque(tuple),
    "hex": Opaque(str),
    "bit_length": Number("int"),
}


# -- Python's own functions --------------------------------------------------------------------------

BUILTINS: dict[Any, Callable[..., Any]] = {}


def builtin(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            BUILTINS[function] = f
        return f

    return register


@builtin(support.own)
def _own(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """Arrays of NumPy, and the functions of another module, need no `like=` to be told what to make."""
    x = reader.arg(args[0])
    kind = arg_kind(x)
    if isinstance(kind, Array) and kind.home is not None and reader.numpy.value is np:
        return x
    return NotImplemented if isinstance(kind, Unknown) and reader.numpy.value is np else Const(None)


@builtin(len)
def _len(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    (x,) = args
    reader.check_known(x)
    if isinstance(x, Tup) or (isinstance(x, ListValue | DictValue) and x.var is None):
        return Const(len(x.items))
    if isinstance(x, Const):
        return Const(len(x.value))
    if isinstance(x, Steps):
        return Const(len(x.items))
    if isinstance(x, Iteration):
        return x.count()
    if isinstance(x, ObjectValue):
        return call(reader, frame, attribute(reader, frame, x, "__len__", node), [], {}, node)
    if isinstance(x, Var) and isinstance(x.kind, Array) and x.kind.dims and isinstance(x.kind.dims[0], int):
        return Const(x.kind.dims[0])
    return NotImplemented


@builtin(isinstance)
def _isinstance(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    x, classes = args
    cls = type_of(x)
    wanted = [getattr(c, "value", None) for c in (classes.items if isinstance(classes, Tup) else [classes])]
    if cls is not None and all(isinstance(w, type | types.UnionType) for w in wanted):
        return Const(any(issubclass(cls, w) for w in wanted if isinstance(w, type | types.UnionType)))
    return NotImplemented


def type_of(x: Any) -> type | None:
    """The Python class of a value, if it is certain."""
    if isinstance(x, Const | Ref):
        return type(x.value)
    known: dict[type, type] = {ListValue: list, DictValue: dict, Closure: types.FunctionType}
    if isinstance(x, ListValue) and x.is_tuple:
        return tuple
    if type(x) in known:
        return known[type(x)]
    if isinstance(x, Tup):
        return x.cls.value if x.cls else tuple
    if isinstance(x, ObjectValue):
        return x.cls
    if isinstance(x, Var):
        if isinstance(x.kind, Array):
            return np.ndarray if x.kind.home is None else None
        if isinstance(x.kind, Number) and x.kind.dtype:
            return {"bool": bool, "int": int, "float": float, "complex": complex}.get(
                x.kind.dtype, None if x.kind.weak else np.dtype(x.kind.dtype).type
            )
        if isinstance(x.kind, Opaque):
            return x.kind.type
        if isinstance(x.kind, SequenceKind):
            return list
    return None


@builtin(type)
def _type(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    cls = type_of(args[0]) if len(args) == 1 else None
    return NotImplemented if cls is None else Ref(cls, cls.__name__)


@builtin(hasattr)
def _hasattr(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    x, name = args
    cls = type_of(x)
    if isinstance(x, ObjectValue) and isinstance(name, Const):
        return Const(name.value in x.attributes or hasattr(x.cls, name.value))
    if isinstance(x, Ref) and isinstance(name, Const):
        return Const(hasattr(x.value, name.value))
    if cls is not None and isinstance(name, Const):
        return Const(hasattr(cls, name.value))
    return NotImplemented


@builtin(getattr)
def _getattr(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    if len(args) >= 2 and isinstance(args[1], Const):
        if len(args) == 3:
            there = _hasattr(reader, frame, args[:2], {}, node)
            if there is NotImplemented:
                return NotImplemented
            if not there.value:
                return args[2]
        return attribute(reader, frame, args[0], args[1].value, node)
    return NotImplemented


@builtin(callable)
def _callable(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    x = args[0]
    if isinstance(x, Closure | Bound | Partial | Method):
        return Const(True)
    if isinstance(x, Const):
        return Const(callable(x.value))
    if isinstance(x, Ref):
        return Const(callable(x.value))
    return Const(False) if isinstance(x, Var) and isinstance(x.kind, Array | Number) else NotImplemented


@builtin(print)
def _print(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    op = Op("call", "print", print, Ref(print, "print"))
    reader.do(op, *map(reader.arg, args), options=_args(reader, kwargs))
    return Const(None)


@builtin(functools.partial)
def _partial(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return Partial(args[0], tuple(args[1:]), kwargs)


@builtin(np.shape)
def _shape(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    kind = arg_kind(args[0]) if isinstance(args[0], Var | Const) else None
    if isinstance(kind, Number):
        return Tup(())
    if isinstance(kind, Array) and kind.dims is not None:
        return attribute(reader, frame, args[0], "shape", node)
    return NotImplemented


@builtin(np.ndim)
def _ndim(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    kind = arg_kind(args[0]) if isinstance(args[0], Var | Const) else None
    if isinstance(kind, Number):
        return Const(0)
    return Const(len(kind.dims)) if isinstance(kind, Array) and kind.dims is not None else NotImplemented


@builtin(np.size)
def _size(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    if len(args) != 1 or kwargs or not isinstance(args[0], Var | Const):
        return NotImplemented
    kind = arg_kind(args[0])
    if isinstance(kind, Number):
        return Const(1)
    return (
        reader.let(Op("attribute", "size"), args[0], kind=Number("int"))
        if isinstance(kind, Array)
        else NotImplemented
    )


@builtin(np.iscomplexobj)
def _iscomplex(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    kind = arg_kind(args[0]) if isinstance(args[0], Var | Const) else None
    if isinstance(kind, Number | Array) and kind.dtype is not None:
        return Const(kind.dtype == "complex" or (kind.dtype[0] == "c" and kind.dtype != "complex"))
    return NotImplemented


@builtin(dict)
def _dict(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    items: dict[Any, Any] = {}
    if args:
        if isinstance(args[0], DictValue) and args[0].var is None:
            items.update(args[0].items)
        elif isinstance(args[0], Iteration | Steps | ListValue | Tup):
            for pair in spread(reader, frame, args[0], node):
                key = subscript(reader, frame, pair, Const(0), node)
                if not isinstance(key, Const):
                    return NotImplemented
                items[key.value] = subscript(reader, frame, pair, Const(1), node)
        else:
            return NotImplemented
    items.update(kwargs)
    return reader.new(DictValue(items))


@builtin(sum)
def _sum(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from .loops import fold

    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return fold(reader, frame, args[0], start, node)


def _extremum_of(function: Any) -> Callable[..., Any]:
    def handler(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        from .loops import listed
        from .ordering import first_by_key

        key = kwargs.get("key", Const(None))
        if key != Const(None) and "default" not in kwargs:
            among = args[0] if len(args) == 1 else reader.new(ListValue(list(args)))
            return first_by_key(reader, frame, function, among, key, node)
        if kwargs.keys() - {"default"}:
            return NotImplemented
        if len(args) > 1:
            items = args
        elif isinstance(args[0], Tup) or (isinstance(args[0], ListValue) and args[0].var is None):
            items = list(args[0].items)
        elif isinstance(args[0], Generator | Iteration | Steps | ListValue):
            made = listed(reader, args[0], frame, node) if not isinstance(args[0], ListValue) else args[0]
            if made.var is not None:
                if _compared_by_parts(made.element) and not kwargs:
                    return first_by_key(reader, frame, function, made, key, node)
                return operation(reader, frame, Ref(function, function.__name__), [made], kwargs, node)
            items = list(made.items)
        else:
            return operation(reader, frame, Ref(function, function.__name__), args, kwargs, node)
        if any(isinstance(i, Tup | ListValue) for i in items):
            return first_by_key(reader, frame, function, reader.new(ListValue(items)), key, node)
        if not all(isinstance(i, Var | Const) for i in items):
            return NotImplemented
        if all(isinstance(i, Const) for i in items) and items:
            return Const(function(i.value for i in items))
        return operation(reader, frame, Ref(function, function.__name__), [Tup(tuple(items))], {}, node)

    return handler


def _compared_by_parts(kind: Kind) -> bool:
    """Whether Python compares values of this kind element by element: tuples and lists."""
    opaque = isinstance(kind, Opaque) and kind.type in (tuple, list)
    return opaque or isinstance(kind, Container | SequenceKind)


BUILTINS.update(callbacks.READ)
BUILTINS[max] = _extremum_of(max)
BUILTINS[min] = _extremum_of(min)


@builtin(checkpoint)
def _checkpoint(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return Marked(args[0], (), {}) if len(args) == 1 and not kwargs else NotImplemented


@builtin(exec, eval, compile, globals, locals, vars, setattr, delattr, input, memoryview)
def _beyond(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    reader.refuse(
        frame,
        node,
        Code.UNSUPPORTED_SYNTAX,
        "what this call does is not known before running",
        "write out what it stands for",
    )


@builtin(adjoint_hook)
def _adjoint_hook(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from .hooks import read_hook

    given = {**dict(zip(("x", "hook"), args, strict=False)), **kwargs}
    return read_hook(reader, frame, given["x"], given["hook"], node)


@builtin(memory.private_together)
def _private_together(reader: Reader, frame: Frame, args: list[Any], kwargs: Any, node: Any) -> Any:
    made = together(TOGETHER, tuple(args), tuple(args))
    reader.add(made)
    return Tup(made.outs)


@builtin(support_tangent.tangents_together)
def _tangents_together(reader: Reader, frame: Frame, args: list[Any], kwargs: Any, node: Any) -> Any:
    arrays, _ = args
    made = together(TANGENTS_TOGETHER, tuple(args), arrays.items)
    reader.add(made)
    return Tup(made.outs)


@builtin(functools.reduce)
def _reduce(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from .loops import reduce_with

    return reduce_with(reader, frame, args, node)


@builtin(filter)
def _filter(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from .loops import filtered

    return filtered(reader, frame, args, node)


@builtin(np.ndarray)
def _ndarray(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    if kwargs.keys() - {"dtype"} or len(args) > 2:
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            "an array made over other memory is not followed",
            "use np.empty, or a view",
        )
    return operation(
        reader, frame, Ref(np.empty, f"{reader.numpy.text}.empty", reader.numpy.imports), args, kwargs, node
    )


@builtin(slice)
def _slice(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    ends = [reader.arg(a) for a in args]
    start, stop, step = [Const(None), *ends, Const(None)][:3] if len(ends) == 1 else [*ends, Const(None)][:3]
    return Slc(start, stop, step)


@builtin(str)
def _str(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], Const) and not kwargs:
        return Const(str(args[0].value))
    return NotImplemented


@builtin(divmod)
def _divmod(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    x, y = (reader.arg(a) for a in args)
    return Tup((reader.binary("//", x, y), reader.binary("%", x, y)))


@builtin(pow)
def _pow(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return (
        NotImplemented
        if len(args) != 2 or kwargs
        else reader.binary("**", reader.arg(args[0]), reader.arg(args[1]))
    )


__all__ = ["BUILTINS", "Container", "Dct", "Lst", "Star", "arguments", "bind", "builtin", "call", "defaults",
           "known_truth", "math", "operation", "read_call"]  # fmt: skip
