"""Kinds that are true of a value, and whether a kind is true of it: what the tests of `infer` compare with.

In: real arguments of a call. Out: operands whose kinds know all, some or none of it (`Abstraction`), and a
check of what is claimed of the result (`Abstraction.check`).

    given = Abstraction(choose)
    x = given.operand(np.ones((3, 1)))            # Var of kind f8[3, 1], f8[#3, ?], f8[...], ...
    given.check(infer(np.sum, (x,), {}), 3.0)

Sizes that are equal may be named alike, as the transformer does where it knows them to be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoin.transformer.ir import Arg, Const, Lst, Ref, Slc, Tup, Var
from adjoin.transformer.kinds import (
    WEAK,
    Array,
    Dim,
    Kind,
    Number,
    Opaque,
    Size,
    Static,
    Undefined,
    Unknown,
    dtype_code,
    kind_of,
)
from adjoin.transformer.kinds import Sequence as SequenceKind

Choose = Callable[[Sequence[Any]], Any]


class Abstraction:
    """The kinds of one call's operands. `choose` picks one of several equally true kinds."""

    def __init__(self, choose: Choose, vague: bool = True) -> None:
        self.choose = choose
        self.vague = vague  # whether dtypes and numbers of dimensions may be left unknown
        self.roots: dict[str, int] = {}  # the size that each root stands for

    # -- operands ----------------------------------------------------------------------------------------

    def operand(self, value: Any, literal: bool = False) -> Arg:
        """An operand that stands for a value; `literal` keeps numbers as constants."""
        if value is None or value is Ellipsis or isinstance(value, str):
            return Const(value)
        if isinstance(value, tuple):
            return Tup(tuple(self.operand(v, literal) for v in value))
        if isinstance(value, list):
            return Lst(tuple(self.operand(v, literal) for v in value))
        if isinstance(value, slice):
            return Slc(*(self.operand(v, True) for v in (value.start, value.stop, value.step)))
        if isinstance(value, type | np.dtype) or callable(value):
            return Ref(value, getattr(value, "__name__", "value"))
        if isinstance(value, np.ndarray):
            return Var("x", self.array(value))
        if literal or self.choose((True, False)):
            return Const(value)
        return self.number(value)

    def number(self, value: Any) -> Var:
        made = Var("n", kind_of(value))
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            dim = self.choose((None, self.named(value)))
            made.kind = Number("int", dim)
        return made

    def array(self, value: np.ndarray) -> Array:
        dims: tuple[Size, ...] | None = tuple(self.size(n) for n in value.shape)
        if self.vague and self.choose((0, 0, 0, 1)):
            dims = None
        dtype = dtype_code(value.dtype)
        return Array(None if self.vague and self.choose((0, 0, 0, 0, 0, 1)) else dtype, dims)

    def size(self, n: int) -> Size:
        """Something that is true of the size `n`."""
        shorter = self.named(n + 2)
        options: list[Size] = [n, None, self.named(n), Dim(shorter.root, 2)]
        if n == 0:
            options.append(Dim(self.named(1).root, 2))
        return self.choose(options)

    def named(self, n: int) -> Dim:
        """A name for a size; two sizes of one name are equal."""
        which = self.choose(("a", "b"))
        not_one = n != 1 and self.choose((True, False))
        root = f"{which}{n}{'!' if not_one else ''}"
        self.roots[root] = n
        return Dim(root, 0, not_one)

    # -- claims ------------------------------------------------------------------------------------------

    def check(self, claimed: Kind | tuple[Kind, ...], value: Any) -> None:
        """Fail unless what is claimed is true of the value."""
        if isinstance(claimed, tuple):
            assert isinstance(value, tuple | list), f"{claimed} claimed of a {type(value).__name__}"
            assert len(claimed) == len(value), f"{len(claimed)} results claimed of {len(value)}"
            for each, part in zip(claimed, value, strict=True):
                self.check(each, part)
        elif isinstance(claimed, Array):
            assert isinstance(value, np.ndarray), f"{claimed} claimed of {value!r}"
            assert claimed.dtype in (None, dtype_code(value.dtype)), f"{claimed} claimed of {value.dtype}"
            if claimed.dims is not None:
                assert len(claimed.dims) == value.ndim, f"{claimed} claimed of shape {value.shape}"
                for size, n in zip(claimed.dims, value.shape, strict=True):
                    assert self.true_of(size, n), (
                        f"{claimed} claimed of shape {value.shape} where {self.roots}"
                    )
        elif isinstance(claimed, Number):
            assert isinstance(value, bool | int | float | complex | np.generic), (
                f"{claimed} claimed of {value!r}"
            )
            weak = not isinstance(value, np.generic)
            actual = type(value).__name__ if weak else dtype_code(value.dtype)
            assert claimed.dtype in (None, actual) or self._wider(claimed.dtype, actual), (
                f"{claimed} claimed of {value!r}"
            )
            if claimed.size is not None:
                assert self.true_of(claimed.size, value), f"size {claimed.size} claimed of {value!r}"
        elif isinstance(claimed, SequenceKind):
            assert isinstance(value, list), f"{claimed} claimed of a {type(value).__name__}"
            for each in value:
                self.check(claimed.element, each)
        elif isinstance(claimed, Opaque):
            numeric = isinstance(value, float | complex | np.inexact)
            numeric = numeric or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")
            assert not numeric, f"{claimed} claimed of {value!r}"
        else:
            assert isinstance(claimed, Unknown | Static | Undefined), claimed

    def _wider(self, claimed: str | None, actual: str) -> bool:
        """Python's numbers may be claimed to be of a wider class (`2 ** n`) or doubles, not narrower."""
        as_weak = {"f8": "float", "c16": "complex"}.get(claimed or "", claimed)
        return as_weak in WEAK and actual in WEAK and WEAK.index(as_weak) >= WEAK.index(actual)

    def true_of(self, size: Size, n: int) -> bool:
        if size is None:
            return True
        if isinstance(size, int):
            return size == n
        if size.not_one and n == 1:
            return False
        known = self.roots.setdefault(size.root, n + size.minus)
        return max(known - size.minus, 0) == n
