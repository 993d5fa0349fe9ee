"""Writing through other doors: everything that changes an array is lowered to plain stores.

In: a call that writes into one of its arguments. Out: the operation without the writing, then a store.

    np.sin(x, out=a)            ->      a[...] = np.sin(x)
    np.copyto(a, b, where=m)    ->      a[m] = np.broadcast_to(b, a.shape)[m]
    a.sort()                    ->      a[...] = np.sort(a)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import libcst as cst
import numpy as np

from ...runtime import support_memory as support
from ..errors import Code
from ..infer import arg_kind
from ..ir import BINARY, LENGTH, STORE, Arg, Const, Op, Ref, Slc, Tup, Var, variables
from ..kinds import Array, Number, Opaque, Unknown
from .reader import Frame, Reader

WHOLE = Const(Ellipsis)

Writer = Callable[[Reader, Frame, list[Any], dict[str, Any], Any], Any]
WRITERS: dict[Any, Writer] = {}


def writer(*functions: Any) -> Callable[[Writer], Writer]:
    def register(f: Writer) -> Writer:
        for function in functions:
            WRITERS[function] = f
        return f

    return register


def store(reader: Reader, target: Arg, index: Arg, value: Arg) -> None:
    reader.do(STORE, target, index, value, effect="write")


def helper(function: Any) -> Op:
    return Op("call", function.__name__, function, Ref(function, function.__name__, "support"))


def target_of(reader: Reader, frame: Frame, x: Any, node: cst.CSTNode | None) -> Var:
    """The array that is written to; anything else is refused."""
    if isinstance(x, Var) and not isinstance(x.kind, Number | Opaque):
        return x
    reader.refuse(
        frame, node, Code.MUTATION, "what is written to here is not known to be an array", "give it a name"
    )


# -- augmented assignment ----------------------------------------------------------------------------


def augment(reader: Reader, op: str, target: Var, index: Arg, operand: Arg) -> None:
    """`target[index] op= operand`. Sums stay as they are; with repeated indices one write is kept."""
    from ..analyses.aliases import selects_once

    if op in "+-" and selects_once(index) and _adds(target, operand):
        reader.do(Op("augment", op, BINARY[op]), target, index, operand, effect="write")
        return
    current = target if index == WHOLE else reader.index(target, index)
    store(reader, target, index, reader.binary(op, current, operand))


def _adds(target: Var, operand: Arg) -> bool:
    """Whether the sum is of numbers, not of masks."""
    return arg_kind(target) != Array("b1", None) and getattr(target.kind, "dtype", None) != "b1"


# -- ufuncs ------------------------------------------------------------------------------------------


def splits_out(function: Any, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a call has an output argument or a mask for it."""
    positional = isinstance(function, np.ufunc) and len(args) > function.nin
    return (
        positional
        or _given(kwargs.get("out"))
        or (isinstance(function, np.ufunc) and _given(kwargs.get("where"), True))
    )


def _given(x: Any, default: Any = None) -> bool:
    return x is not None and x != Const(default)


def call_with_out(
    reader: Reader,
    frame: Frame,
    callee: Ref,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """`f(x, out=a, where=m)`."""
    from .calls import operation

    function = callee.value
    kwargs = dict(kwargs)
    where = kwargs.pop("where", Const(True)) if isinstance(function, np.ufunc) else Const(True)
    out = kwargs.pop("out", Const(None))
    if isinstance(function, np.ufunc) and len(args) > function.nin:
        args, rest = args[: function.nin], args[function.nin :]
        out = rest[0] if len(rest) == 1 else Tup(tuple(rest))
    result = operation(reader, frame, callee, args, kwargs, node)
    if out == Const(None):
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            "where= without out= leaves memory that nobody has written",
            "give out=",
        )
    outs = list(out.items) if isinstance(out, Tup) else [out]
    results = list(result.items) if isinstance(result, Tup) and len(outs) > 1 else [result]
    for target, value in zip(outs, results, strict=True):
        if target == Const(None):
            continue
        if function in (np.concatenate, np.stack):  # no ufunc: these write while they read
            joined = [v for a in map(reader.arg, args) for v in variables(a)]
            _unshared(reader, target_of(reader, frame, target, node), *joined)
        _store_masked(reader, target_of(reader, frame, target, node), reader.arg(where), reader.arg(value))
    return (
        outs[0]
        if len(outs) == 1
        else Tup(tuple(o if o != Const(None) else r for o, r in zip(outs, results, strict=True)))
    )


def _store_masked(reader: Reader, target: Var, mask: Arg, value: Arg) -> None:
    if mask == Const(True):
        store(reader, target, WHOLE, value)
        return
    store(reader, target, WHOLE, reader.call(np.where, mask, value, target))


# -- functions ---------------------------------------------------------------------------------------


@writer(np.copyto)
def _copyto(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    target = target_of(reader, frame, args[0], node)
    mask = kwargs.get("where", args[3] if len(args) > 3 else Const(True))
    _store_masked(reader, target, reader.arg(mask), reader.arg(args[1]))
    return Const(None)


@writer(np.fill_diagonal)
def _fill_diagonal(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    target = target_of(reader, frame, args[0], node)
    if len(args) > 2 or kwargs:
        reader.refuse(
            frame,
            node,
            Code.NO_RULE_FOR_OPTION,
            "the option 'wrap' of fill_diagonal is not followed",
            "leave it out",
        )
    index = reader.let(helper(support.diagonal_places), target, kind=Opaque(None))
    value = reader.arg(args[1])
    _unshared(reader, target, value)
    store(reader, target, index, _cycled(reader, value, index))
    return Const(None)


@writer(np.put)
def _put(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    target = target_of(reader, frame, args[0], node)
    mode = kwargs.get("mode", args[3] if len(args) > 3 else Const("raise"))
    index = reader.let(
        helper(support.flat_places), target, reader.arg(args[1]), reader.arg(mode), kind=Opaque(None)
    )
    store(reader, target, index, _cycled(reader, reader.arg(args[2]), index))
    return Const(None)


@writer(np.put_along_axis)
def _put_along_axis(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    target = target_of(reader, frame, args[0], node)
    axis = args[3] if len(args) > 3 else kwargs["axis"]
    index = reader.let(
        helper(support.places_along_axis), target, reader.arg(args[1]), reader.arg(axis), kind=Opaque(None)
    )
    store(reader, target, index, reader.arg(args[2]))
    return Const(None)


def store_flat(reader: Reader, target: Var, at: Arg, value: Arg) -> None:
    """`a.flat[at] = value`; values are repeated to the number of places."""
    if at == Const(Ellipsis):
        at = Slc(Const(None), Const(None), Const(None))
    index = reader.let(helper(support.flat_index), target, at, kind=Opaque(None))
    _unshared(reader, target, value)
    store(
        reader,
        target,
        index,
        value if isinstance(arg_kind(at), Number) else _cycled(reader, _array_of(reader, value), index),
    )


@writer(np.putmask)
def _putmask(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """`putmask` takes values by where in the array they go, `place` in order."""
    target = target_of(reader, frame, args[0], node)
    values = _array_of(reader, reader.arg(args[2]))
    index = reader.let(helper(support.masked_places), target, reader.arg(args[1]), kind=Opaque(None))
    if not isinstance(arg_kind(values), Number):
        order = reader.let(
            helper(support.cycle_by_place), values, target, reader.arg(args[1]), kind=Array("i8", (None,))
        )
        values = reader.index(reader.call(np.ravel, values), order)
    store(reader, target, index, values)
    return Const(None)


def _array_of(reader: Reader, values: Arg) -> Arg:
    if isinstance(values, Var) or isinstance(arg_kind(values), Number):
        return values
    return reader.call(np.asarray, values)  # type: ignore[no-any-return]


@writer(np.place)
def _place(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    target = target_of(reader, frame, args[0], node)
    values = _array_of(reader, reader.arg(args[2]))
    index = reader.let(helper(support.masked_places), target, reader.arg(args[1]), kind=Opaque(None))
    _unshared(reader, target, values)
    store(reader, target, index, _cycled(reader, values, index))
    return Const(None)


def _unshared(reader: Reader, target: Var, *values: Arg) -> None:
    """Check that no value is a view of the target, where NumPy reads what it has just written."""
    arrays = [v for v in values if isinstance(v, Var) and not isinstance(v.kind, Number)]
    if arrays:
        reader.do(helper(support.refuse_shared), target, *arrays, effect="io")


def _cycled(reader: Reader, values: Arg, index: Arg) -> Arg:
    """Values repeated, or cut, to the number of places."""
    if isinstance(arg_kind(values), Number):
        return values
    order = reader.let(helper(support.cycle), values, index, kind=Array("i8", (None,)))
    flat = reader.call(np.ravel, values)
    return reader.index(flat, order)


def _at(symbol: str) -> Writer:
    """`np.add.at(a, i, v)`: every repeated index counts. Other operations are refused."""

    def at(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        target = target_of(reader, frame, args[0], node)
        function = {"+": np.add.at, "-": np.subtract.at}[symbol]
        op = Op(
            "call", f"{reader.numpy.text}.{'add' if symbol == '+' else 'subtract'}.at", function, reader.numpy
        )
        reader.do(op, target, reader.arg(args[1]), reader.arg(args[2]), effect="write")
        return Const(None)

    return at


WRITERS[np.add.at] = _at("+")
WRITERS[np.subtract.at] = _at("-")


def write_at(reader: Reader, frame: Frame, function: Any, args: list[Any], node: Any) -> Any:
    """`ufunc.at` of other ufuncs: a loop over the places, one after the other."""
    from .calls import operation
    from .loops import over

    ufunc = function.__self__
    target = target_of(reader, frame, args[0], node)
    if not isinstance(target.kind, Array) or target.kind.dims is None:
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            "the number of dimensions of this array is not known",
            "loop over the indices",
        )
    ndim = len(target.kind.dims)
    index = reader.arg(args[1])
    places = reader.let(helper(support.places_in_order), target, index, kind=Array("i8", (None, ndim)))
    operand = None
    if len(args) > 2:
        whole = reader.call(
            np.broadcast_to,
            reader.arg(args[2]),
            reader.let(helper(support.shape_at), target, index, kind=Opaque(tuple)),
        )
        operand = reader.call(np.ravel, whole)
    callee = Ref(ufunc, f"{reader.numpy.text}.{ufunc.__name__}", reader.numpy.imports)

    def step(k: Arg) -> None:
        at = Tup(tuple(reader.index(places, Tup((k, Const(j)))) for j in range(ndim)))
        old = reader.index(target, at)
        new = [old] if operand is None else [old, reader.index(operand, k)]
        store(reader, target, at, reader.arg(operation(reader, frame, callee, new, {}, node)))

    over(reader, frame, places, step, node)
    return Const(None)


@writer(operator.setitem)
def _setitem(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from .statements import store as store_item

    store_item(reader, frame, args[0], args[1], args[2], node)
    return Const(None)


def _in_place_operator(symbol: str) -> Writer:
    def write(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        from .expressions import binary

        if isinstance(args[0], Var) and isinstance(args[0].kind, Array):
            augment(reader, symbol, args[0], WHOLE, reader.arg(args[1]))
            return args[0]
        if isinstance(args[0], Var) and isinstance(args[0].kind, Unknown):
            reader.refuse(
                frame,
                node,
                Code.MUTATION,
                "what is changed here is not known to be an array",
                f"write `x {symbol}= y`, or say what it is with like=",
            )
        return binary(reader, frame, symbol, args[0], args[1], node)

    return write


for _symbol, _name in {
    "+": "iadd",
    "-": "isub",
    "*": "imul",
    "/": "itruediv",
    "**": "ipow",
    "@": "imatmul",
}.items():
    WRITERS[getattr(operator, _name)] = _in_place_operator(_symbol)


@writer(np.random.shuffle)
def _shuffle(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    generator = Ref(np.random, f"{reader.numpy.text}.random", reader.numpy.imports)
    return shuffle(reader, frame, generator, args, node)


def shuffle(reader: Reader, frame: Frame, generator: Arg, args: list[Any], node: Any) -> Any:
    """`rng.shuffle(a)`: the order is drawn, then the rows are taken in that order."""
    target = target_of(reader, frame, args[0], node)
    length = reader.let(LENGTH, target)
    order = reader.let(
        helper(support.shuffled_order), generator, length, kind=Array("i8", (None,)), effect="io"
    )
    store(reader, target, WHOLE, reader.index(target, order))
    return Const(None)


# -- methods -----------------------------------------------------------------------------------------


def array_method_in_place(
    reader: Reader,
    frame: Frame,
    x: Var,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """`a.fill(v)`, `a.sort()`, `a.put(i, v)`, `a.partition(k)`."""
    if name == "fill":
        store(reader, x, WHOLE, reader.arg(args[0]))
    elif name in ("sort", "partition"):
        function = np.sort if name == "sort" else np.partition
        options = {k: reader.arg(v) for k, v in kwargs.items()}
        result = reader.let(reader.function(function), x, *map(reader.arg, args), options=options)
        store(reader, x, WHOLE, result)
    elif name == "view" and not args and not kwargs:
        return reader.index(x, WHOLE)
    elif name == "put":
        _put(reader, frame, [x, *args], kwargs, node)
    elif name == "setflags":
        reader.do(
            Op("method", name),
            x,
            *map(reader.arg, args),
            options={k: reader.arg(v) for k, v in kwargs.items()},
        )
    else:
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            f"`{name}` changes an array in a way that is not followed",
            "make a new array",
        )
    return Const(None)
