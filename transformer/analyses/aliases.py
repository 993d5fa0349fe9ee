"""Aliases: which values may share memory, and which memory is written to.

In: an IR function. Out: `Aliases`, a map from every variable to its class; two variables in different classes
never share memory. It may be coarse; it does not miss.

    v = a[1:]          v and a are in one class
    v[0] = 1.0         ... which is now *written*
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.rule import lookup
from ...runtime.support_checkpoint import refuse_overlap, run_checkpointed
from ...runtime.support_memory import refuse_shared, refuse_torn
from ..infer import arg_kind
from ..ir import (
    Arg,
    Block,
    Callee,
    Const,
    For,
    Function,
    If,
    Let,
    Ref,
    Slc,
    Statement,
    Try,
    Tup,
    Var,
    While,
    With,
    blocks,
    variables,
)
from ..kinds import Array, Container, Kind, Number, Opaque, Static, Undefined
from ..kinds import Sequence as SequenceKind

#: Functions that write into their first argument and are kept as calls.
WRITES_FIRST = frozenset({np.add.at, np.subtract.at})

#: Functions that look at memory, and keep none of it.
CHECKS = frozenset({refuse_overlap, refuse_shared, refuse_torn})

#: Methods that give the array itself back where there is nothing to do.
_SAME_OBJECT = frozenset({"conj", "conjugate", "astype", "squeeze", "ravel", "reshape", "view"})

_FRESH_OBJECTS = (str, bytes, range, bool, slice, type, BaseException)


def immutable(kind: Kind) -> bool:
    """Whether values of a kind hold no memory that can be written to."""
    if isinstance(kind, Opaque):
        return kind.type is not None and issubclass(kind.type, _FRESH_OBJECTS)
    return isinstance(kind, Number | Static | Undefined)


class Aliases:
    """Classes of variables by what memory they may share (Steensgaard 1996: one pass, union-find)."""

    def __init__(self, function: Function) -> None:
        self._parent: dict[Var, Var] = {}
        self._written: set[Var] = set()  # arrays stored into, by any variable of their class
        self._grown: set[Var] = set()  # lists appended to, popped from or stored into
        self.opaque: list[Let] = []  # calls that may do anything with what they are given
        self._block(function.body)
        self.written = {self.of(v) for v in self._written}
        self.grown = {self.of(v) for v in self._grown}

    def of(self, v: Var) -> Var:
        """The representative of a variable's class."""
        while (up := self._parent.get(v, v)) is not v:
            self._parent[v] = self._parent.get(up, up)
            v = up
        return v

    def is_buffer(self, v: Var) -> bool:
        """An array whose memory something writes to."""
        return (
            (isinstance(v.kind, Array)
            and self.of(v) in self.written)
            or (
                not immutable(v.kind)
                and not isinstance(v.kind, Array | SequenceKind | Container)
                and self.of(v) in self.written
            )
        )

    def is_buffer_class(self, arg: Arg) -> bool:
        """Whether arrays of the class of an operand are written to."""
        return any(self.of(v) in self.written for v in variables(arg))

    def _union(self, *args: Arg) -> None:
        found = [v for arg in args for v in variables(arg) if not immutable(v.kind)]
        for v in found[1:]:
            self._parent[self.of(v)] = self.of(found[0])

    def _block(self, block: Block) -> None:
        for statement in block.body:
            self._statement(statement)
            for inner in blocks(statement):
                self._block(inner)

    def _statement(self, s: Statement) -> None:
        if isinstance(s, Let):
            self._let(s)
        elif isinstance(s, If):
            for out, a, b in zip(s.outs, s.then.yields, s.orelse.yields, strict=True):
                self._union(out, a, b)
        elif isinstance(s, For | While):
            for param, init, y, out in zip(s.params, s.inits, s.body.yields, s.outs, strict=False):
                self._union(param, init, y, out)
            if isinstance(s, For):
                self._union(s.index, s.iterable)
        elif isinstance(s, Try):
            for i, out in enumerate(s.outs):
                self._union(out, s.body.yields[i], *(h.block.yields[i] for h in s.handlers))
        elif isinstance(s, With) and s.name is not None:
            self._union(s.name, s.manager)

    def _let(self, s: Let) -> None:
        form, function = s.op.form, s.op.function
        if form in ("store", "augment", "delete", "inplace"):
            target = s.args[0]
            self._write(target)
            if form == "store" and not isinstance(arg_kind(target), Array):
                self._union(target, s.args[2])
            if form == "inplace":
                self._union(s.out, target)
            return
        if form == "method" and s.effect == "write":
            self._write(s.args[0])
            self._union(*s.args, *s.outs)
            return
        if function in WRITES_FIRST:
            self._write(s.args[0])
            return
        if any(name == "out" for name, _ in s.kwargs):
            out = dict(s.kwargs)["out"]
            self._write(out)
            self._union(out, *s.outs)
            return
        if form in ("assert", "raise", "fstring", "shape", "push", "touch", "unpack", "log", "put"):
            return
        if is_rerun(s) or function in CHECKS:  # what is written to is copied
            return
        if form == "user":  # writes to copies, and what it returns is checked where that matters
            return
        if form == "hook":
            self._union(s.out, s.args[0])
            return
        if form == "together":  # copies that share memory with each other, and with nothing else
            self._union(*s.outs)
            return
        if form == "set":
            self._union(*s.args)
            return
        if form == "index" and isinstance(s.args[0], Var) and isinstance(s.args[0].kind, Container):
            return  # parts of an argument are taken to be apart; the signature says where they are not
        if form == "attribute" and function is None and isinstance(arg_kind(s.args[0]), Container):
            return
        if not self._may_return_alias(s):
            return
        known = lookup(function) is not None or form in ("value", "index")
        if not known and s.effect == "io":
            self.opaque.append(s)
        if form == "value" or not known:
            self._union(*s.outs, *s.operands)
        else:
            self._union(*s.outs, s.args[0])

    def _may_return_alias(self, s: Let) -> bool:
        if draws_random(s) or s.op.form == "user":
            return False
        if s.op.form in ("value", "hook"):
            return True
        if s.op.form == "index":
            return not isinstance(arg_kind(s.args[0]), Array) or may_be_view(s.args[1])
        if s.op.form == "method" and s.op.text in _SAME_OBJECT:
            return True
        if s.op.form == "operator" and s.op.text == "+" and len(s.args) == 1:
            return False
        rule = lookup(s.op.function) if s.op.function is not None else None
        if rule is not None:
            fresh = rule.signature is None  # nothing of what it is given comes out again
            return (
                rule.view
                or (not fresh
                and any(isinstance(k, SequenceKind) for k in map(arg_kind, [*s.args, *s.outs])))
            )
        if isinstance(s.op.function, np.ufunc) or s.op.form == "operator":
            return False
        return True

    def _write(self, target: Arg) -> None:
        for v in variables(target):
            if isinstance(v.kind, SequenceKind):
                self._grown.add(v)
            else:
                self._written.add(v)


def draws_random(s: Let) -> bool:
    """A method of a random generator that gives numbers or a new array, and nothing of its arguments."""
    kind = arg_kind(s.args[0]) if s.op.form == "method" and s.args else None
    generator = isinstance(kind, Opaque) and kind.type in (np.random.Generator, np.random.RandomState)
    return generator and not any(isinstance(arg_kind(a), Array | SequenceKind) for a in s.operands[1:])


def is_rerun(s: Let) -> bool:
    """A call of what the reverse sweep runs again (`checkpoint`): a function, or a loop over one."""
    callee = s.op.function
    if callee is run_checkpointed and isinstance(s.args[0], Ref):
        callee = s.args[0].value
    return isinstance(callee, Callee) and callee.which == "plain"


def may_be_view(index: Arg) -> bool:
    """Whether `a[index]` may share memory with `a`: unless some part of it is an index array."""
    parts = index.items if isinstance(index, Tup) else (index,)
    for part in parts:
        kind: Any = arg_kind(part)
        if isinstance(kind, Array) or (isinstance(kind, Opaque) and kind.type is list):
            return False
        if isinstance(part, Const) and isinstance(part.value, bool):
            return False
    return True


def is_basic(index: Arg) -> bool:
    """Certainly integers, slices, None and Ellipsis: no element is selected twice."""
    parts = index.items if isinstance(index, Tup) else (index,)
    for part in parts:
        kind = arg_kind(part)
        integer = isinstance(kind, Number) and kind.dtype not in (None, "bool", "b1")
        if not (
            integer or isinstance(part, Slc) or (isinstance(part, Const) and part.value in (None, Ellipsis))
        ):
            return False
    return True


def selects_once(index: Arg) -> bool:
    """Certainly no element twice: basic, or one boolean mask."""
    if is_basic(index):
        return True
    parts = index.items if isinstance(index, Tup) else (index,)
    masks = [p for p in parts if isinstance(arg_kind(p), Array) and getattr(arg_kind(p), "dtype", "") == "b1"]
    rest = Tup(tuple(p for p in parts if p not in masks))
    return len(masks) == 1 and is_basic(rest)
