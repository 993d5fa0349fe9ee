"""Memory: what a pass must know before it moves a read, or lets two names be one array.

In: a function. Out: `Memory`, which knows where each value is bound, who reads it, and what is written in
between.

    v = a[1:].copy()
    a[0] = 0           v cannot become a[1:] for readers after this
    y = v * 2
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...runtime.support import real_if_real, unbroadcast
from ..analyses.aliases import Aliases, immutable
from ..infer import arg_kind
from ..ir import (
    Arg,
    Block,
    For,
    Function,
    Let,
    Statement,
    Try,
    Tup,
    Var,
    While,
    With,
    blocks,
    bound,
    operands,
    variables,
    walk,
)
from ..kinds import Array, Dim, Kind, Number, Unknown, dims_of, dtype_of, is_certain

#: Precisions in which a Python float and a float64 lead to different results.
_NARROW = frozenset({"f2", "f4", "c8", "f12", "f16", "c24", "c32"})


@dataclass(frozen=True)
class Place:
    """A statement's block, by its id, and position in it."""

    block: int
    position: int


@dataclass(frozen=True)
class Reader:
    """Who reads a value: a statement and which operand it is; a block's yield has no statement."""

    statement: Statement | None
    operand: int
    place: Place


@functools.lru_cache(maxsize=1)
def memory_of(function: Function) -> Memory:
    """The memory of a function; passes that find nothing to do leave it to the next."""
    return Memory(function)


class Memory(Aliases):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.place: dict[Var, Place] = {}
        self.where: dict[int, Place] = {}
        self.made: dict[Var, Let] = {}
        self.readers: dict[Var, list[Reader]] = {}
        self._keys: dict[Var, object] = {}
        self._writes: dict[int, list[tuple[int, frozenset[Var]]]] = {}
        self._outside = {self.of(v) for v in (*function.params, *function.free) if not immutable(v.kind)}
        self._top = id(function.body)
        self._visit(function.body)
        self._adjoint = self._made_in_reverse(function)
        self.wide = all(map(_is_wide, self._kinds(function)))

    def _let(self, s: Let) -> None:
        super()._let(s)
        if s.op.form == "push":
            self._union(*s.args)
        elif s.effect == "write" and s.op.form == "call":
            self._write(s.args[0])
            self._union(*s.operands, *s.outs)
        elif s.effect == "io" and s.op.form in ("call", "apply", "method"):
            for arg in s.operands:
                self._write(arg)

    def _visit(self, block: Block) -> frozenset[Var]:
        """Note the places and readers; returns the classes that are written to."""
        written: list[tuple[int, frozenset[Var]]] = []
        for position, s in enumerate(block.body):
            place = Place(id(block), position)
            self.where[id(s)] = place
            for v in _bound(s):
                self.place[v] = place
            if isinstance(s, Let):
                for v in s.outs:
                    self.made[v] = s
            for operand, arg in enumerate(operands(s)):
                self._read(arg, Reader(s, operand, place))
            classes = frozenset(self._targets(s)).union(*(self._visit(inner) for inner in blocks(s)))
            if classes:
                written.append((position, classes))
        for operand, arg in enumerate(block.yields):
            self._read(arg, Reader(None, operand, Place(id(block), len(block.body))))
        self._writes[id(block)] = written
        return frozenset().union(*(classes for _, classes in written))

    def _made_in_reverse(self, function: Function) -> set[Var]:
        """The classes of memory that no variable of the forward sweep has."""
        reverse = False
        forward, backward = set(self._outside), set[Var]()
        for s in function.body.body:
            reverse = reverse or (isinstance(s, Let) and s.op.form == "enter")
            found = backward if reverse else forward
            for each in (s, *(t for b in blocks(s) for t in walk(b))):
                found.update(self.of(v) for v in _bound(each) if not immutable(v.kind))
        return backward - forward

    def _read(self, arg: Arg, reader: Reader) -> None:
        for v in variables(arg):
            self.readers.setdefault(v, []).append(reader)

    def _targets(self, s: Statement) -> Iterator[Var]:
        if not isinstance(s, Let) or s.op.form in ("push", "pop", "enter", "declare") or not s.effect:
            return
        for arg in s.args[:1] if s.effect == "write" else s.operands:
            for v in variables(arg):
                if not immutable(v.kind):
                    yield self.of(v)
        if s.effect == "io" and s.op.form in ("call", "apply", "method"):
            yield from self._outside

    # -- questions ---------------------------------------------------------------------------------

    def is_written(self, v: Var) -> bool:
        root = self.of(v)
        return root in self.written or root in self.grown

    def is_adjoint(self, v: Var) -> bool:
        """Memory that the reverse sweep made for itself."""
        return self.of(v) in self._adjoint

    def is_still(self, v: Var, since: Place, until: Place) -> bool:
        """Whether the contents of a value are certainly the same at two places."""
        if immutable(v.kind) or not self.is_written(v):
            return True
        return since.block == until.block and not any(
            since.position <= position < until.position and self.of(v) in classes
            for position, classes in self._writes[since.block]
        )

    def are_still(self, args: Iterable[Arg], since: Place, until: Place) -> bool:
        return all(self.is_still(v, since, until) for arg in args for v in variables(arg))

    def can_be(self, v: Var, other: Var) -> bool:
        """Whether `v`, an array of its own equal to `other`, can be the same array as `other`.

        It can if everybody who reads `v` computes something new from it before `other` changes, or if `v` is
        the result and no one else has `other`.
        """
        if immutable(v.kind):
            return True
        if not (isinstance(v.kind, Array) and isinstance(other.kind, Array)) or v not in self.place:
            return False
        return not self.is_written(v) and self._are_done_with(v, other, v)

    def _are_done_with(self, v: Var, other: Var, name: Var) -> bool:
        """Whether all who read `v` by this name, or by what may be another name of it, are such readers."""
        return all(
            self.is_still(other, self.place[v], reader.place)
            and (
                _consumes(reader)
                or self._is_handed_out(v, other, reader)
                or (_may_pass_on(reader) and self._are_done_with(v, other, reader.statement.out))  # type: ignore[union-attr]
            )
            for reader in self.readers.get(name, ())
        )

    def _is_handed_out(self, v: Var, other: Var, reader: Reader) -> bool:
        if reader.statement is not None or reader.place.block != self._top or self.of(other) in self._outside:
            return False
        mine = {self.of(v), self.of(other)}
        handed = [
            r for x, rs in self.readers.items() if not immutable(x.kind) and self.of(x) in mine for r in rs
        ]
        return sum(r.statement is None and r.place.block == self._top for r in handed) == 1

    def is_fresh(self, v: Var) -> bool:
        """An array of its own, just made by the statement that binds it."""
        made = self.made.get(v)
        return made is not None and is_computation(made) and isinstance(v.kind, Array) and bool(v.kind.dims)

    def reads_of(self, v: Var) -> int:
        return len(self.readers.get(v, ()))

    # -- shapes ------------------------------------------------------------------------------------

    def shape_key(self, arg: Arg) -> object:
        """Values with equal keys have one shape; None where nothing is known.

        The key is the dimensions where these are certain, else the value that the shape comes from.
        """
        kind = arg_kind(arg)
        if isinstance(kind, Number):
            return ()
        if not isinstance(kind, Array) or not isinstance(arg, Var):
            return None
        if arg not in self._keys:
            made = self.made.get(arg)
            dims = kind.dims if kind.dims is not None and all(map(is_certain, kind.dims)) else None
            key: object = arg
            if dims is None or any(isinstance(d, Dim) and d.root.startswith("#") for d in dims):
                key = arg if made is None or len(made.outs) != 1 else self._key_of(made)
            self._keys[arg] = dims if key is arg and dims is not None else key
        return self._keys[arg]

    def _key_of(self, s: Let) -> object:
        if is_computation(s) and _is_elementwise(s):
            keys = {self.shape_key(a) for a in s.args} - {()}
            return keys.pop() if len(keys) == 1 and None not in keys else s.out
        if s.op.function in (np.zeros_like, np.copy) and s.args and not s.kwargs:
            return self.shape_key(s.args[0]) or s.out
        if s.op.function is np.broadcast_to and len(s.args) == 2:
            shaped = self._shaped_like(s.args[1])
            return s.out if shaped is None else self.shape_key(shaped) or s.out
        return s.out

    def _shaped_like(self, shape: Arg) -> Arg | None:
        """x, where the operand is x.shape or (x.shape[0], x.shape[1], ...)."""
        if isinstance(shape, Var):
            made = self.made.get(shape)
            return (
                made.args[0]
                if made is not None and made.op.form == "attribute" and made.op.text == "shape"
                else None
            )
        if not isinstance(shape, Tup) or not shape.items:
            return None
        parts = [self.made.get(item) if isinstance(item, Var) else None for item in shape.items]
        x = parts[0].args[0] if parts[0] is not None and parts[0].args else None
        if not isinstance(x, Var) or len(dims_of(x.kind) or ()) != len(parts):
            return None
        same = all(
            p is not None and p.op.form == "shape" and p.op.text == str(i) and p.args[0] is x
            for i, p in enumerate(parts)
        )
        return x if same else None

    def same_shape(self, a: Arg, b: Arg) -> bool:
        """Whether two values certainly have one shape."""
        key = self.shape_key(a)
        return key is not None and key == self.shape_key(b)

    # -- dtypes ------------------------------------------------------------------------------------

    def _kinds(self, function: Function) -> Iterator[Kind]:
        yield from (v.kind for v in (*function.params, *function.free))
        yield from (v.kind for v in self.place)

    def same_dtype(self, a: Kind, b: Kind) -> bool:
        """Whether one kind can stand for the other without a change of any result's dtype."""
        x, y = dtype_of(a), dtype_of(b)
        if x is None or y is None:
            return False
        return x == y or (self.wide and {x, y} in ({"float", "f8"}, {"complex", "c16"}, {"int", "i8"}))


def _bound(s: Statement) -> Iterator[Var]:
    if not isinstance(s, With):
        yield from bound(s)
    elif s.name is not None:
        yield s.name
    if isinstance(s, For | While):
        yield from s.params
    if isinstance(s, For):
        yield s.index
    if isinstance(s, Try):
        yield from (h.name for h in s.handlers if h.name is not None)


def _is_wide(kind: Kind) -> bool:
    if isinstance(kind, Number | Array):
        return kind.dtype is not None and kind.dtype not in _NARROW
    return not isinstance(kind, Unknown)


def _consumes(reader: Reader) -> bool:
    """A reader that takes the contents, and keeps no hold of the memory."""
    s = reader.statement
    if not isinstance(s, Let):
        return False
    if s.op.form in ("store", "augment", "index") and reader.operand > 0:
        return True  # where, and what
    return is_computation(s) or s.op.form in ("shape", "unpack")


def _may_pass_on(reader: Reader) -> bool:
    """A reader whose result is what it reads, or new memory."""
    s = reader.statement
    return isinstance(s, Let) and s.op.function in (unbroadcast, real_if_real) and reader.operand == 0


def is_computation(s: Let) -> bool:
    """An operation whose result is certainly new memory, or a number."""
    if s.effect or len(s.outs) != 1 or any(name == "out" for name, _ in s.kwargs):
        return False
    if s.op.form == "operator":
        return s.op.text != "+" or len(s.args) == 2
    return s.op.form == "call" and (isinstance(s.op.function, np.ufunc) or s.op.function in _NEW)


#: Calls that return new memory, besides ufuncs.
_NEW = frozenset(
    {
        *(np.sum, np.mean, np.prod, np.max, np.min, np.cumsum),
        *(np.dot, np.matmul, np.outer, np.einsum, np.tensordot),
        *(np.zeros_like, np.ones_like, np.full_like, np.where, np.concatenate, np.stack),
    }
)


def _is_elementwise(s: Let) -> bool:
    if s.op.form == "operator":
        return s.op.text != "@"
    if s.op.function is np.where:
        return len(s.args) == 3
    return (
        s.op.form == "call"
        and isinstance(s.op.function, np.ufunc)
        and s.op.function.signature is None
        and not s.kwargs
    )


__all__ = ["Memory", "Place", "Reader", "is_computation", "memory_of"]
