"""Sizes: the algebra of dimensions under slices, indices and shapes.

In: operands (an index, a shape, an integer). Out: a `Size` or a tuple of them; None where nothing is known.

    index_dims((Dim("x.0"), 3), x[1:, None])  ->  (x.0-1, 1, 3)
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from .ir import Arg, Const, Dct, Lst, Ref, Slc, Star, Tup, Var, variables
from .kinds import (
    UNKNOWN,
    Array,
    Dim,
    Kind,
    Number,
    Opaque,
    Size,
    broadcast_dims,
    dims_of,
    dtype_of,
    kind_of,
)


class _Dynamic:
    """The value of an operand that is known only when the program runs."""


DYNAMIC = _Dynamic()


def arg_kind(arg: Arg) -> Kind:
    """The kind of an operand."""
    if isinstance(arg, Var):
        return arg.kind
    if isinstance(arg, Const):
        return kind_of(arg.value)
    if any(v.kind.differentiable for v in variables(arg)):
        return UNKNOWN  # it carries adjoints, part by part
    return Opaque({Tup: tuple, Lst: list, Dct: dict, Slc: slice}.get(type(arg)))


def static(value: Any) -> Any:
    """The Python value of an operand that is known, or DYNAMIC."""
    if isinstance(value, Const | Ref):
        return value.value
    if isinstance(value, Tup | Lst):
        items = [static(a) for a in value.items]
        if any(i is DYNAMIC for i in items):
            return DYNAMIC
        return tuple(items) if isinstance(value, Tup) else items
    if isinstance(value, Var | Slc | Dct | Star):
        return DYNAMIC
    return value


# -- integers as sizes -------------------------------------------------------------------------------

_NAMES: WeakKeyDictionary[Var, str] = WeakKeyDictionary()
_COUNT = itertools.count()


def size_of(arg: Arg) -> Size:
    """An integer operand as a size that NumPy has accepted: a negative one would have raised.

    An integer that is the size of no axis gets a name of its own. A variable of a loop body is another one
    each time the body is read, so that what one trip calls n is not taken for the n of the next.
    """
    if isinstance(arg, Const) and isinstance(arg.value, int):
        return int(arg.value) if arg.value >= 0 else None
    if isinstance(arg, Var) and isinstance(arg.kind, Number):
        return Dim(_name(arg)) if arg.kind.size is None else arg.kind.size
    return None


def _name(v: Var) -> str:
    if v not in _NAMES:
        _NAMES[v] = f"#{next(_COUNT)}"
    return _NAMES[v]


def integer_name(arg: Arg) -> str | None:
    """A name for an integer operand: two integers of one name are equal. None for what is no integer."""
    if isinstance(arg, Const):
        return str(arg.value) if type(arg.value) is int else None
    if isinstance(arg, Var) and isinstance(arg.kind, Number) and (arg.kind.dtype or "?")[0] in "iu":
        size = arg.kind.size
        return _name(arg) if size is None or size.ambiguous else repr(size)
    return None


def name_sum(out: Var, symbol: str, x: Arg, y: Arg) -> None:
    """Note that `out` is the sum or difference of two integers: the same one is the same integer."""
    names = integer_name(x), integer_name(y)
    if out not in _NAMES and None not in names and integer_name(out) is not None:
        _NAMES[out] = f"#({names[0]}{symbol}{names[1]})"


def name_like(stand: Var, v: Var) -> None:
    """Note that two variables are one number: a value of the forward sweep, and what stands for it later."""
    if integer_name(v) is not None:
        _NAMES[stand] = _name(v)


def named(kind: Kind) -> Kind:
    """The kind of a new value, with a name for each size that nothing is known of: it equals itself."""
    if not isinstance(kind, Array) or kind.dims is None or None not in kind.dims:
        return kind
    return replace(kind, dims=tuple(Dim(f"#{next(_COUNT)}") if d is None else d for d in kind.dims))


def axis_size(arg: Arg) -> Size:
    """An integer operand as a size where -1 means "what is left": only what surely is the size of an axis."""
    if isinstance(arg, Var):
        return arg.kind.size if isinstance(arg.kind, Number) else None
    return size_of(arg)


def shape_dims(shape: Arg, may_be_left_open: bool = False) -> tuple[Size, ...] | None:
    """The dimensions that a shape gives; with `may_be_left_open` one of its integers may be -1."""
    size = axis_size if may_be_left_open else size_of
    if isinstance(shape, Tup | Lst):
        return None if any(isinstance(a, Star) for a in shape.items) else tuple(size(a) for a in shape.items)
    if isinstance(arg_kind(shape), Number):
        return (size(shape),)
    return None


# -- slices ------------------------------------------------------------------------------------------


def slice_size(size: Size, part: Slc) -> Size:
    """How long `range(size)[part]` is; the same slice of the same size is as long, whatever that is.

        slice_size(Dim("x.0"), i:)  ->  #(x.0[#7::])
    """
    start, stop, step = (static(p) for p in (part.start, part.stop, part.step))
    if isinstance(size, int) and not any(p is DYNAMIC for p in (start, stop, step)):
        return len(range(size)[slice(start, stop, step)])
    if start is None and stop is None and step in (None, 1, -1):
        return size
    if size is None or (isinstance(size, Dim) and size.ambiguous):
        return None
    if isinstance(size, Dim) and step in (None, 1) and all(isinstance(p, int | None) for p in (start, stop)):
        front = start or 0
        back = -stop if stop is not None else 0
        if front >= 0 and back >= 0 and (stop is None or back):
            return Dim(size.root, size.minus + front + back, size.not_one and front + back == 0)
    ends = ["" if static(p) is None else integer_name(p) for p in (part.start, part.stop, part.step)]
    return None if None in ends else Dim(f"#({size!r}[{':'.join(map(str, ends))}])")


# -- indices -----------------------------------------------------------------------------------------


def index_dims(dims: tuple[Size, ...], index: Arg) -> tuple[Size, ...] | None:
    """The dimensions of `a[index]`; None where their number is not known."""
    items: list[Arg] = list(index.items) if isinstance(index, Tup) else [index]
    taken = [_axes_taken(item) for item in items]
    if any(n is None for n in taken):
        return None
    spare = len(dims) - sum(n for n in taken if n is not None)
    if not any(_is(item, Ellipsis) for item in items):
        items.append(Const(Ellipsis))
        taken.append(0)
    if spare < 0 or sum(_is(item, Ellipsis) for item in items) > 1:
        return None  # NumPy raises
    return _Indexing(dims, items, spare).run()


def _is(item: Arg, value: Any) -> bool:
    return isinstance(item, Const) and item.value is value


def _axes_taken(item: Arg) -> int | None:
    """How many axes of the array one entry of an index uses up; None for what is no certain index."""
    if _is(item, None) or _is(item, Ellipsis):
        return 0
    if isinstance(item, Slc):
        return 1
    kind = arg_kind(item)
    if isinstance(item, Lst):
        integers = all(isinstance(arg_kind(i), Number) and not _is_truth(arg_kind(i)) for i in item.items)
        return 1 if integers else None
    if isinstance(kind, Array) and kind.dtype == "b1":
        return None if kind.dims is None else len(kind.dims)
    if isinstance(kind, Array):
        return 1 if (kind.dtype or "?")[0] in "iu" and kind.dims is not None else None
    return 1 if isinstance(kind, Number) and kind.dtype is not None and not _is_truth(kind) else None


def _is_truth(kind: Kind) -> bool:
    return dtype_of(kind) in ("bool", "b1")


class _Indexing:
    """Goes through an index from left to right.

    Arrays and lists in it are broadcast together; their dimensions stand where they stood, or in front if
    something else stands between them. An integer next to them counts as an array of no dimensions.
    """

    def __init__(self, dims: tuple[Size, ...], items: list[Arg], spare: int) -> None:
        self.dims, self.items, self.spare = dims, items, spare
        self.result: list[Size] = []
        self.advanced: list[tuple[Size, ...]] = []
        self.place = 0  # where the dimensions of the arrays go
        self.last = -1  # the position of the last array
        self.separated = False

    def run(self) -> tuple[Size, ...] | None:
        at = 0
        arrays = any(isinstance(i, Lst) or isinstance(arg_kind(i), Array) for i in self.items)
        for position, item in enumerate(self.items):
            if _is(item, None):
                self.result.append(1)
            elif _is(item, Ellipsis):
                self.result.extend(self.dims[at : at + self.spare])
                at += self.spare
            elif isinstance(item, Slc):
                self.result.append(slice_size(self.dims[at], item))
                at += 1
            else:
                if arrays:
                    self._array(position, self._shape(item))
                at += _axes_taken(item) or 0
        if self.advanced:
            together = broadcast_dims(*self.advanced)
            if together is None:
                return None
            place = 0 if self.separated else self.place
            self.result[place:place] = together
        return tuple(self.result)

    def _shape(self, item: Arg) -> tuple[Size, ...]:
        if isinstance(item, Lst):
            return (len(item.items),)
        kind = arg_kind(item)
        if isinstance(kind, Array) and kind.dtype == "b1":
            return (None,)
        return dims_of(kind) or ()

    def _array(self, position: int, shape: tuple[Size, ...]) -> None:
        if not self.advanced:
            self.place = len(self.result)
        elif self.last != position - 1:
            self.separated = True
        self.last = position
        self.advanced.append(shape)
