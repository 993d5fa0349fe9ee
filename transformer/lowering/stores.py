"""Writing through other doors: everything that changes an array is lowered to plain stores.

In: a call that writes into one of its arguments. Out: the operation without the writing, then a store.

    np.sin(x, out=a)            ->      a[...] = np.sin(x)
    np.copyto(a, b, where=m)    ->      a[m] = np.broadcast_to(b, a.shape)[m]
    a.sort()                    ->      a[...] = np.sort(a)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst
import numpy as np

from ...runtime import support_memory as support
from ..errors import Code
from ..infer import arg_kind
from ..ir import BINARY, STORE, Arg, Const, Op, Ref, Tup, Var
from ..kinds import Array, Number, Opaque
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
    reader.refuse(frame, node, Code.MUTATION, "what is written to here is not known to be an array", "give it a name")


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
    return positional or _given(kwargs.get("out")) or (isinstance(function, np.ufunc) and _given(kwargs.get("where"), True))


def _given(x: Any, default: Any = None) -> bool:
    return x is not None and x != Const(default)


def call_with_out(
    reader: Reader, frame: Frame, callee: Ref, args: list[Any], kwargs: dict[str, Any], node: cst.CSTNode | None
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
        reader.refuse(frame, node, Code.MUTATION, "where= without out= leaves memory that nobody has written", "give out=")
    outs = list(out.items) if isinstance(out, Tup) else [out]
    results = list(result.items) if isinstance(result, Tup) and len(outs) > 1 else [result]
    for target, value in zip(outs, results, strict=True):
        if target == Const(None):
            continue
        _store_masked(reader, target_of(reader, frame, target, node), reader.arg(where), reader.arg(value))
    return outs[0] if len(outs) == 1 else Tup(tuple(o if o != Const(None) else r for o, r in zip(outs, results, strict=True)))


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
        reader.refuse(frame, node, Code.NO_RULE_FOR_OPTION, "the option 'wrap' of fill_diagonal is not followed", "leave it out")
    index = reader.let(helper(support.diagonal_places), target, kind=Opaque(None))
    value = reader.arg(args[1])
    if not isinstance(arg_kind(value), Number):
        value = reader.let(helper(support.repeated_to_diagonal), value, target)
    store(reader, target, index, value)
    return Const(None)


@writer(np.put)
def _put(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    target = target_of(reader, frame, args[0], node)
    mode = kwargs.get("mode", args[3] if len(args) > 3 else Const("raise"))
    index = reader.let(helper(support.flat_places), target, reader.arg(args[1]), reader.arg(mode), kind=Opaque(None))
    store(reader, target, index, _cycled(reader, reader.arg(args[2]), index))
    return Const(None)


@writer(np.put_along_axis)
def _put_along_axis(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    target = target_of(reader, frame, args[0], node)
    axis = args[3] if len(args) > 3 else kwargs["axis"]
    index = reader.let(helper(support.places_along_axis), target, reader.arg(args[1]), reader.arg(axis), kind=Opaque(None))
    store(reader, target, index, reader.arg(args[2]))
    return Const(None)


@writer(np.putmask, np.place)
def _putmask(reader: Reader, frame: Frame, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """`putmask` takes the values at the positions of the mask, `place` the first ones."""
    target = target_of(reader, frame, args[0], node)
    values = reader.arg(args[2])
    if not isinstance(arg_kind(values), Number):
        values = reader.arg(reader.call(np.asarray, values)) if not isinstance(values, Var) else values
    index = reader.let(helper(support.masked_places), target, reader.arg(args[1]), kind=Opaque(None))
    store(reader, target, index, _cycled(reader, values, index))
    return Const(None)


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
        op = Op("call", f"{reader.numpy.text}.{'add' if symbol == '+' else 'subtract'}.at", function, reader.numpy)
        reader.do(op, target, reader.arg(args[1]), reader.arg(args[2]), effect="write")
        return Const(None)

    return at


WRITERS[np.add.at] = _at("+")
WRITERS[np.subtract.at] = _at("-")


def write_at(reader: Reader, frame: Frame, function: Any, args: list[Any], node: Any) -> Any:
    """`ufunc.at` of other ufuncs, unrolled over the places one after the other."""
    reader.refuse(
        frame, node, Code.MUTATION, "only add.at and subtract.at are followed", "loop over the indices and store one by one"
    )


# -- methods -----------------------------------------------------------------------------------------


def array_method_in_place(
    reader: Reader, frame: Frame, x: Var, name: str, args: list[Any], kwargs: dict[str, Any], node: cst.CSTNode | None
) -> Any:
    """`a.fill(v)`, `a.sort()`, `a.put(i, v)`, `a.partition(k)`."""
    if name == "fill":
        store(reader, x, WHOLE, reader.arg(args[0]))
    elif name in ("sort", "partition"):
        function = np.sort if name == "sort" else np.partition
        options = {k: reader.arg(v) for k, v in kwargs.items()}
        store(reader, x, WHOLE, reader.call(function, x, *map(reader.arg, args), **options))
    elif name == "put":
        _put(reader, frame, [x, *args], kwargs, node)
    elif name == "setflags":
        reader.do(Op("method", name), x, *map(reader.arg, args), **{k: reader.arg(v) for k, v in kwargs.items()})
    else:
        reader.refuse(frame, node, Code.MUTATION, f"`{name}` changes an array in a way that is not followed", "make a new array")
    return Const(None)
