"""Building IR: one `let` at a time, kinds inferred and constants folded on the way.

In: operations and operands. Out: the value of each, and the list of statements. Both `lowering` (from the
user's source) and `adjoint`/`tangent` (from IR) write IR through a `Builder`.

    b = Builder()
    s = b.binary("*", x, x)      # Var of the product's kind; a Let is in b.statements
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..runtime.array_modules import name_in, speaks_numpy
from .hints import hint_of
from .infer import arg_kind, infer
from .ir import (
    BINARY_OPS,
    COMPARISONS,
    FALSE,
    INDEX,
    TRUE,
    UNARY_OPS,
    VALUE,
    Arg,
    Block,
    Const,
    Dct,
    If,
    Let,
    Lst,
    Op,
    Ref,
    Site,
    Statement,
    Tup,
    Var,
)
from .kinds import BOOL, UNKNOWN, Array, Kind, Number, Opaque, dtype_of, is_real, join
from .sizes import name_sum
from .sparse import sparse_operator

_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**"})
NUMPY = Ref(np, "np", "import numpy as np")


class Builder:
    """Statements under construction, with the source position they come from."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.site: Site | None = None
        self.nested = 0  # blocks around the current statement
        self.numpy = NUMPY  # how the user's source calls the array module

    # -- blocks ----------------------------------------------------------------------------------

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Collect the statements made inside apart from the current ones."""
        outer, self.statements = self.statements, []
        self.nested += 1
        try:
            yield self.statements
        finally:
            self.statements = outer
            self.nested -= 1

    def add(self, statement: Statement) -> None:
        self.statements.append(statement)

    # -- operations --------------------------------------------------------------------------------

    def let(
        self,
        op: Op,
        *args: Arg,
        name: str = "",
        kind: Kind | tuple[Kind, ...] | None = None,
        effect: str = "",
        options: Mapping[str, Arg] | None = None,
        **kwargs: Arg,
    ) -> Any:
        """Do `op`; returns its value (a `Tup` of variables for an operation with several results).

        `options` are keyword arguments by names that others have chosen, which may be `kind` or `name`.
        """
        kwargs.update(options or {})
        if op.function is np.sum and args and not speaks_numpy(self.numpy.value):
            args = (self._as_numbers(args[0]), *args[1:])
        if kind is None:
            kind = infer(op.function, args, kwargs) if op.function is not None else UNKNOWN
        if isinstance(kind, tuple) and len(kind) == 1:  # written without unpacking, so it is the tuple itself
            whole_kind = UNKNOWN if kind[0].differentiable else Opaque(tuple)
            whole = self.let(op, *args, kind=whole_kind, effect=effect, options=kwargs)
            return Tup((self.let(INDEX, whole, Const(0), name=name, kind=kind[0]),))
        kinds = kind if isinstance(kind, tuple) else (kind,)
        outs = tuple(Var(name, k, "" if name else hint_of(op, args)) for k in kinds)
        self.add(Let(outs, op, args, tuple(kwargs.items()), effect, self.site))
        return Tup(outs) if isinstance(kind, tuple) else outs[0]

    def do(
        self, op: Op, *args: Arg, effect: str = "io", options: Mapping[str, Arg] | None = None, **kwargs: Arg
    ) -> None:
        """An operation for its effect."""
        kwargs.update(options or {})
        self.add(Let((), op, args, tuple(kwargs.items()), effect, self.site))

    def call(self, function: Callable[..., Any], *args: Arg, text: str = "", **options: Arg) -> Any:
        """Call a function of NumPy (by the user's alias) or of `support` (carried by the module)."""
        return self.let(self.function(function, text), *args, options=options)

    def function(self, function: Callable[..., Any], text: str = "") -> Op:
        """How a NumPy or support function is written in the generated module."""
        name = text or getattr(function, "__name__", str(function))
        module = (getattr(function, "__module__", None) or "").removeprefix("numpy").removeprefix("._core")
        if getattr(np, name, None) is function or (module == "" and isinstance(function, np.ufunc)):
            ref = self.numpy_ref(name, function)
            return Op("call", ref.text, function, ref)
        for inner in ("linalg", "fft"):
            if (getattr(function, "__module__", "") or "").startswith(f"numpy.{inner}"):
                ref = self.numpy_ref(f"{inner}.{name}", function)
                return Op("call", ref.text, function, ref)
        return Op("call", name, function, Ref(function, name, "support"))

    def numpy_ref(self, path: str, value: Any) -> Ref:
        """Something of NumPy's, from the user's array module if that has it too."""
        name = name_in(self.numpy.value, path, value)
        module = self.numpy if name is not None else NUMPY
        return Ref(value, f"{module.text}.{name or path}", module.imports)

    def value(self, arg: Arg, name: str = "", kind: Kind | None = None) -> Var:
        """A variable that is another operand: a display, a constant or a second name."""
        return self.let(VALUE, arg, name=name, kind=arg_kind(arg) if kind is None else kind)  # type: ignore[no-any-return]

    def unary(self, symbol: str, x: Arg) -> Arg:
        if isinstance(x, Const) and isinstance(x.value, int | float | complex) and symbol != "~":
            return Const(UNARY_OPS[symbol].function(x.value))
        kind = BOOL if symbol == "not" else None
        return self.let(UNARY_OPS[symbol], x, kind=kind)  # type: ignore[no-any-return]

    def binary(self, symbol: str, x: Arg, y: Arg) -> Arg:
        op = BINARY_OPS[symbol]
        if symbol in _ARITHMETIC and not speaks_numpy(self.numpy.value):
            x, y = self._as_numbers(x, y), self._as_numbers(y, x)
        folded = _fold(symbol, x, y)
        if folded is not None:
            return folded
        sparse = sparse_operator(symbol, x, y)
        if sparse is not None:
            return self.let(sparse[0], x, y, kind=sparse[1])  # type: ignore[no-any-return]
        kind: Kind | None = BOOL if symbol in ("is", "is not", "in", "not in") else None
        if symbol in COMPARISONS and kind is None:
            kinds = arg_kind(x), arg_kind(y)
            if all(isinstance(k, Number) and k.weak for k in kinds):
                kind = BOOL
        out: Arg = self.let(op, x, y, kind=kind)
        if symbol in ("+", "-") and isinstance(out, Var):
            name_sum(out, symbol, x, y)
        return out

    def _as_numbers(self, x: Arg, beside: Arg | None = None) -> Arg:
        """A mask or a count in the dtype of what it is calculated with: the array API mixes no kinds."""
        kind, other = arg_kind(x), arg_kind(beside) if beside is not None else None
        have, want = dtype_of(kind) or "", dtype_of(other) or "" if other is not None else ""
        floating = isinstance(other, Array) and want[:1] in ("f", "c")
        if not (isinstance(x, Var) and isinstance(kind, Array)):
            return x
        if not (have == "b1" or (have[:1] in ("i", "u") and floating)):
            return x
        dtype = self.attribute(beside, "dtype", Opaque(None)) if floating and beside else None
        made = Array(want if floating else "i8", kind.dims, kind.home)
        return self.let(  # type: ignore[no-any-return]
            self.function(np.astype), x, dtype or self.numpy_ref("int64", np.int64), kind=made
        )

    def index(self, x: Arg, index: Arg, name: str = "") -> Arg:
        if index == Tup(()) and not speaks_numpy(self.numpy.value):
            return x  # without dimensions, an array of a bare namespace stays one
        return self.let(INDEX, x, index, name=name)  # type: ignore[no-any-return]

    def attribute(self, x: Arg, name: str, kind: Kind = UNKNOWN, function: Any = None) -> Var:
        return self.let(Op("attribute", name, function), x, kind=kind)  # type: ignore[no-any-return]

    # -- what the adjoint needs over and over ------------------------------------------------------

    def plus(self, x: Arg, y: Arg) -> Arg:
        if x == Const(0.0):
            return y
        return x if y == Const(0.0) else self.binary("+", x, y)

    def zeros_like(self, x: Arg) -> Arg:
        """Zeros of the shape and dtype of a value."""
        kind = arg_kind(x)
        if isinstance(kind, Number) and kind.differentiable and kind.dtype is not None and is_real(kind):
            return Const(0.0)
        return self.call(np.zeros_like, x)  # type: ignore[no-any-return]

    def choose(
        self, condition: Arg, then: Callable[[], Arg], orelse: Callable[[], Arg], name: str = ""
    ) -> Arg:
        """`then() if condition else orelse()`, only one of the two being done."""
        if isinstance(condition, Const):
            return then() if condition.value else orelse()
        with self.block() as first:
            a = then()
        with self.block() as second:
            b = orelse()
        if not first and not second and a == TRUE and b == FALSE and arg_kind(condition) == BOOL:
            return condition
        out = Var(name, join(arg_kind(a), arg_kind(b)))
        self.add(If(condition, Block(tuple(first), (a,)), Block(tuple(second), (b,)), (out,), self.site))
        return out


def _fold(symbol: str, x: Arg, y: Arg) -> Const | None:
    """The result of an operation on literals, where it is exact and reads no worse."""
    if symbol in ("is", "is not"):
        same = _identity(x, y)
        return None if same is None else Const(same == (symbol == "is"))
    if symbol in ("in", "not in") and isinstance(y, Tup | Lst) and isinstance(x, Const):
        if all(isinstance(i, Const) for i in y.items):
            return Const((x.value in [i.value for i in y.items if isinstance(i, Const)]) == (symbol == "in"))
        return None
    if isinstance(x, Const | Ref) and isinstance(y, Const | Ref) and symbol in ("==", "!="):
        try:
            return Const(bool(BINARY_OPS[symbol].function(x.value, y.value)))
        except Exception:
            return None
    if not (isinstance(x, Const) and isinstance(y, Const)):
        return None
    if symbol == "**" and not (isinstance(y.value, int) and abs(y.value) < 8):
        return None
    try:
        result = BINARY_OPS[symbol].function(x.value, y.value)
    except Exception:
        return None
    if isinstance(result, float) and (not math.isfinite(result) or not result.is_integer()):
        return None
    return Const(result) if isinstance(result, bool | int | float | str) else None


def _identity(x: Arg, y: Arg) -> bool | None:
    """Whether `x is y`, if that is certain before running."""
    singletons = (None, True, False, Ellipsis)
    if (
        isinstance(x, Const)
        and isinstance(y, Const)
        and any(c.value is o for c in (x, y) for o in singletons)
    ):
        return x.value is y.value
    if isinstance(x, Ref) and isinstance(y, Ref):
        return x.value is y.value
    if isinstance(x, Ref | Const) and isinstance(y, Ref | Const) and isinstance(x, Ref) != isinstance(y, Ref):
        return False
    for one, other in ((x, y), (y, x)):
        if isinstance(other, Const) and any(other.value is o for o in singletons):
            if isinstance(one, Var):
                return False if isinstance(one.kind, Array | Number) else None
            return False if isinstance(one, Tup | Lst | Dct | Ref) else None
    return None
