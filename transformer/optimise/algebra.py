"""Algebra: identities that hold to the last bit.

In: a function. Out: the function with, in its reverse sweep,

    np.broadcast_to(g, x.shape) * x    ->    g * x           where the result has the shape of x anyway
    1.0 * x, x / 1.0, -(-x)            ->    x
    conj(conj(x)), conj(-conj(x))      ->    x, -x
    a + -b, -a * b, a[i] += -b         ->    a - b, -(a * b), a[i] -= b
    real_if_real(g, x)                 ->    g               where g has the dtype of x
    np.sum(-x), unbroadcast(-x, y)     ->    -np.sum(x), -unbroadcast(x, y)
    np.outer(a, b)                     ->    a[:, None] * b

What the user wrote stays as it was written. No value is reassociated, and none changes its dtype.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...runtime import support
from ..hints import hint_of
from ..infer import arg_kind, infer
from ..ir import (
    BINARY_OPS,
    INDEX,
    NONE,
    UNARY_OPS,
    Arg,
    Block,
    Const,
    Function,
    If,
    Let,
    Op,
    Slc,
    Statement,
    Tup,
    Var,
)
from ..kinds import Array, Kind, Number, dims_of, dtype_of, is_integer, is_real
from .memory import Place, memory_of
from .rewrite import Rewriter

_ARITHMETIC = frozenset({"+", "-", "*", "/"})
_CONJUGATES = frozenset({np.conj, support.conj})
_ALL = Slc(NONE, NONE, NONE)


def simplify(function: Function) -> Function:
    """Apply the identities once, operands before what reads them."""
    return _Algebra(function).run(function)


class _Algebra(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.memory = memory_of(function)
        self.made: dict[Var, Let] = {}
        self.at: dict[Var, Place] = {}
        self.adjoints: set[Var] = set()  # what the reverse sweep computes
        self.spread: dict[Var, Arg] = {}  # values that are a smaller one, broadcast
        self.maybe_itself: set[Var] = set()  # what may be the operand itself, and is so treated by all
        self.before: list[Statement] = []
        self.here = Place(0, 0)

    def let(self, old: Let, new: Let) -> list[Statement]:
        self.before = []
        self.here = self.memory.where[id(old)]
        if self.reverse:
            if new.op.form in ("augment", "store") and new.effect == "write":
                new = self._write(new)
            elif new.op.function is support.power_adjoint and _is_integer_power(new):
                return self._power(new)
            elif not new.effect and len(new.outs) == 1:
                simpler = self._value(new)
                if simpler is None:
                    return self.before
                new = simpler
        if not new.effect and len(new.outs) == 1:
            self._note(new)
        return [*self.before, new]

    def _note(self, s: Let) -> None:
        self.made[s.out] = s
        if self.reverse:
            self.adjoints.add(s.out)
        self.memory.made.setdefault(s.out, s)
        self.at[s.out] = self.here
        self.memory.place.setdefault(s.out, self.here)

    # -- what is known of operands -----------------------------------------------------------------

    def _definition(self, arg: Arg) -> Let | None:
        """How a value was computed, if it and its operands are still what they were."""
        made = self.made.get(arg) if isinstance(arg, Var) else None
        if made is None or not self.memory.are_still(
            (made.out, *made.operands), self.at[made.out], self.here
        ):
            return None
        return made

    def _negated(self, arg: Arg) -> Arg | None:
        """x, where the operand is -x."""
        if isinstance(arg, Const) and isinstance(arg.value, float) and arg.value < 0:
            return Const(-arg.value)
        made = self._definition(arg)
        if (
            made is None
            or not _is_negation(made)
            or dtype_of(made.out.kind) is None
            or is_integer(made.out.kind)
        ):
            return None  # of unsigned integers, -x is no number below 0
        return made.args[0]

    def _is_one(self, arg: Arg) -> bool:
        """1, 1.0 or the seed in another precision, `np.float32(1.0)`."""
        made = self.made.get(arg) if isinstance(arg, Var) else None
        if made is not None and made.op.function in (np.float16, np.float32):
            arg = made.args[0]
        return isinstance(arg, Const) and type(arg.value) in (int, float) and arg.value == 1

    def _once(self, arg: Arg) -> bool:
        return isinstance(arg, Const) or (isinstance(arg, Var) and self.memory.reads_of(arg) == 1)

    # -- writes ------------------------------------------------------------------------------------

    def _write(self, s: Let) -> Let:
        value = s.args[2]
        smaller = self.spread.get(value) if isinstance(value, Var) else None
        if isinstance(value, Var) and smaller is not None and self._is_at_hand(smaller, value):
            if self.memory.same_dtype(arg_kind(smaller), arg_kind(value)):
                s = replace(s, args=(*s.args[:2], smaller))
        inner = self._negated(s.args[2])
        if s.op.form == "augment" and s.op.text in "+-" and inner is not None:
            symbol = "-" if s.op.text == "+" else "+"
            return replace(
                s, op=Op("augment", symbol, BINARY_OPS[symbol].function), args=(*s.args[:2], inner)
            )
        return s

    # -- values ------------------------------------------------------------------------------------

    def _value(self, s: Let) -> Let | None:
        """The statement simplified; None if its value is now another operand."""
        for _ in range(4):
            new = self._step(s)
            if new is s:
                return s
            if not isinstance(new, Let):
                if self._stands(s.out, new):
                    return None
                return s
            s = new
        return s

    def _stands(self, out: Var, arg: Arg) -> bool:
        """Read `arg` in place of `out`, where that is certainly the same to everybody."""
        if isinstance(arg, Var):
            as_before = isinstance(out.kind, Number) or out in self.maybe_itself
            if not as_before and not self.memory.can_be(out, arg):
                return False
            if not arg.name and arg in self.adjoints:
                arg.name = out.name
        elif not isinstance(arg, Const):
            return False
        self.replace(out, arg)
        return True

    def _step(self, s: Let) -> Let | Arg:
        if s.op.form == "operator" and len(s.args) == 2 and s.op.text in _ARITHMETIC:
            found = self._unit(s) or self._constants(s) or self._signs(s) or self._narrow(s) or self._twice(s)
        elif _is_negation(s):
            found = self._minus(s)
        elif s.op.form == "call":
            found = self._call(s)
        else:
            found = None
        return s if found is None else found

    def _unit(self, s: Let) -> Arg | None:
        """`1.0 * x`, `x * 1.0`, `x / 1.0`."""
        x, y = s.args
        if s.op.text in "*/" and self._is_one(y):
            kept = x
        elif s.op.text == "*" and self._is_one(x):
            kept = y
        elif s.op.text in "+-" and y == Const(0) and is_integer(arg_kind(x)):
            kept = x
        else:
            return None
        return kept if self._fits(kept, s.out) and is_real(arg_kind(kept)) else None

    def _constants(self, s: Let) -> Arg | None:
        x, y = s.args
        if not (isinstance(x, Const) and isinstance(y, Const)) or s.op.text == "/":
            return None
        if not all(type(c.value) in (int, float) for c in (x, y)):
            return None
        result = s.op.function(x.value, y.value)
        finite = isinstance(result, int) or math.isfinite(result)
        reads_well = len(repr(result)) <= len(repr(x.value)) + len(repr(y.value))
        return Const(result) if reads_well and finite else None

    def _signs(self, s: Let) -> Let | None:
        x, y = s.args
        minus_x, minus_y = self._negated(x), self._negated(y)
        symbol = s.op.text
        if symbol in "+-" and minus_y is not None and isinstance(y, Var):
            return replace(s, op=BINARY_OPS["-" if symbol == "+" else "+"], args=(x, minus_y))
        if symbol == "+" and minus_x is not None and isinstance(x, Var):
            return replace(s, op=BINARY_OPS["-"], args=(y, minus_x))
        if symbol in "*/":
            for inner, mine, args in ((minus_x, x, (minus_x, y)), (minus_y, y, (x, minus_y))):
                minus_one = (
                    symbol == "*" and inner is not None and self._is_one(inner) and isinstance(mine, Const)
                )
                if minus_one and is_real(s.out.kind) and self._fits(args[0] if mine is y else args[1], s.out):  # type: ignore[arg-type]
                    return replace(s, op=UNARY_OPS["-"], args=(x if mine is y else y,))
                if inner is not None and isinstance(mine, Var) and self._once(mine):
                    product = self._make(s.op, args, s)  # type: ignore[arg-type]
                    return replace(s, op=UNARY_OPS["-"], args=(product,))
        return None

    def _minus(self, s: Let) -> Let | Arg | None:
        x = s.args[0]
        inner = self._negated(x)
        if inner is not None and isinstance(x, Var):
            return inner if arg_kind(inner) == s.out.kind else None
        if isinstance(x, Const) and type(x.value) is float:
            return Const(-x.value)
        if isinstance(x, Var) and x in self.spread and self._is_at_hand(self.spread[x], x):
            self._spread_again(s, UNARY_OPS["-"], (self.spread[x],))
        made = self._definition(x)
        if (
            made is not None
            and made.op.form == "operator"
            and len(made.args) == 2
            and made.op.text in "*/"
            and self._once(x)
        ):
            first = made.args[0]
            if isinstance(first, Const) and type(first.value) in (int, float) and first.value:
                return replace(s, op=made.op, args=(Const(-first.value), made.args[1]))
        return None

    # -- broadcasting ------------------------------------------------------------------------------

    def _is_at_hand(self, g: Arg, v: Var) -> bool:
        return self.memory.are_still((g, v), self.memory.place.get(v, self.here), self.here)

    def _narrow(self, s: Let) -> Let | None:
        """An operand that was broadcast to a shape that the result gets anyway."""
        for i, arg in enumerate(s.args):
            if not (isinstance(arg, Var) and arg in self.spread and self._is_at_hand(self.spread[arg], arg)):
                continue
            args = tuple(self.spread[arg] if j == i else a for j, a in enumerate(s.args))
            other = arg_kind(s.args[1 - i])
            kind = infer(s.op.function, args, {})
            if isinstance(kind, tuple):
                continue
            if self._fits(self._imagined(s, args, kind), s.out):
                return replace(s, args=args)
            if isinstance(other, Number) and isinstance(s.out.kind, Array):
                self._spread_again(s, s.op, args)
        return None

    def _spread_again(self, s: Let, op: Op, args: tuple[Arg, ...]) -> None:
        """The result is a smaller value, broadcast: those who can use the smaller one do."""
        if s.out not in self.spread:
            smaller = self._make(op, args, s)
            made = self.made.get(smaller) if isinstance(smaller, Var) else None
            self.spread[s.out] = smaller
            if made is not None:
                simpler = self._value(self.before.pop())  # type: ignore[arg-type]
                if simpler is None:
                    self.spread[s.out] = self.arg(smaller)
                else:
                    self.before.append(simpler)
                    self._note(simpler)

    def _imagined(self, s: Let, args: tuple[Arg, ...], kind: Kind) -> Var:
        """What a statement would give with other operands."""
        out = Var("", kind)
        self.memory.made[out] = replace(s, outs=(out,), args=args)
        return out

    def _fits(self, new: Arg, old: Var) -> bool:
        """Whether a value can take the place of another."""
        if not self.memory.same_dtype(arg_kind(new), old.kind):
            return False
        if isinstance(old.kind, Number):
            return isinstance(arg_kind(new), Number)
        return isinstance(arg_kind(new), Array) and self.memory.same_shape(new, old)

    def _make(self, op: Op, args: tuple[Arg, ...], s: Let) -> Arg:
        kind = infer(op.function, args, {})
        assert not isinstance(kind, tuple)
        made = Let((Var("", kind, hint_of(op, args)),), op, args, (), "", s.site)
        self.before.append(made)
        self._note(made)
        return made.out

    def _twice(self, s: Let) -> Let | None:
        """`a + a`."""
        x, y = s.args
        if s.op.text == "+" and x is y and is_real(s.out.kind) and not is_integer(s.out.kind):
            return replace(s, op=BINARY_OPS["*"], args=(Const(2), x))
        return None

    # -- calls -------------------------------------------------------------------------------------

    def _call(self, s: Let) -> Let | Arg | None:
        function = s.op.function
        if function is np.broadcast_to and len(s.args) == 2 and not s.kwargs:
            return self._broadcast(s)
        if function in (support.real_if_real, support.unbroadcast):
            g, x = s.args
            same = isinstance(g, Var) and self.memory.same_dtype(arg_kind(g), arg_kind(x))
            if same and (function is support.real_if_real or self.memory.same_shape(g, x)):
                return g
        if function in _CONJUGATES and len(s.args) == 1 and not s.kwargs:
            return self._conjugate(s)
        if function in (np.sum, support.unbroadcast) and isinstance(s.args[0], Var) and self._once(s.args[0]):
            inner = self._negated(s.args[0])
            if isinstance(inner, Var) and arg_kind(inner) == s.args[0].kind:
                made = replace(s, outs=(Var("", s.out.kind, s.out.hint),), args=(inner, *s.args[1:]))
                self.before.append(made)
                self._note(made)
                return replace(s, op=UNARY_OPS["-"], args=(made.out,), kwargs=())
        if function is np.outer and len(s.args) == 2 and all(_is_vector(arg_kind(a)) for a in s.args):
            column = self._make(INDEX, (s.args[0], Tup((_ALL, NONE))), s)
            return replace(s, op=BINARY_OPS["*"], args=(column, s.args[1]))
        return None

    def _conjugate(self, s: Let) -> Let | Arg | None:
        """A conjugate of a conjugate, with a sign between the two or none."""
        made = self._definition(s.args[0])
        if made is None:
            return None
        if made.op.function in _CONJUGATES and not made.kwargs:
            if made.op.function is s.op.function is support.conj:  # which returns what is real as it is
                self.maybe_itself.add(s.out)
            return made.args[0]
        inner = self._definition(made.args[0]) if _is_negation(made) else None
        if inner is not None and inner.op.function in _CONJUGATES and not inner.kwargs:
            return replace(s, op=UNARY_OPS["-"], args=(inner.args[0],))
        return None

    def _power(self, s: Let) -> list[Statement]:
        """The adjoint of a number to an integer power that is not known: 0 if that is 0."""
        g, x, y = s.args
        below = self._make(BINARY_OPS["-"], (y, Const(1)), s)
        slope = self._make(BINARY_OPS["**"], (x, below), s)
        scaled = self._make(BINARY_OPS["*"], (g, y), s)
        self._make(BINARY_OPS["*"], (scaled, slope), s)
        product = self.before[-1]
        assert isinstance(product, Let)
        return [If(y, Block(tuple(self.before), (product.out,)), Block((), (Const(0.0),)), s.outs, s.site)]

    def _broadcast(self, s: Let) -> Arg | None:
        g, kind = s.args[0], arg_kind(s.args[0])
        if isinstance(kind, Number | Array):
            self.spread[s.out] = self.spread.get(g, g) if isinstance(g, Var) else g
            if isinstance(kind, Array) and self._fits(g, s.out):
                return g
        return None


def _is_negation(s: Let) -> bool:
    return s.op.form == "operator" and s.op.text == "-" and len(s.args) == 1


def _is_integer_power(s: Let) -> bool:
    """Numbers all, with an exponent that is an integer but no literal."""
    kinds = [arg_kind(a) for a in s.args]
    exponent = s.args[2]
    return (
        all(isinstance(k, Number) and k.dtype is not None for k in kinds)
        and isinstance(exponent, Var)
        and is_integer(exponent.kind)
    )


def _is_vector(kind: Kind) -> bool:
    return isinstance(kind, Array) and kind.dtype not in (None, "O") and len(dims_of(kind) or ()) == 1
