"""The adjoint: an IR function becomes the statements of its reverse sweep.

In: an IR function, the variables to differentiate by, seeds for its result. Out: `Reverse`: the statements
that compute the adjoints, naming primal values freely; `needed` then decides what of these is kept, and how.

    y = np.sin(x)        x_bar = y_bar * np.cos(x)
    a[i] = y             y_bar = a_bar[i]; a_bar[i] = 0

Values that nothing writes to are handled functionally: an adjoint is an expression, and contributions are
added. Memory that is written to has a *shadow*: adjoint memory of the same layout (`shadows`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, KeysView
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runtime import support as _support
from ..runtime import support_memory as support
from ..runtime.array_modules import speaks_numpy
from ..runtime.rule import NoRule, Rule, lookup
from ..runtime.support import unbroadcast
from .analyses.activity import Activity
from .analyses.aliases import (
    WRITES_FIRST,
    Aliases,
    draws_random,
    is_basic,
    is_rerun,
    may_be_view,
    selects_once,
)
from .analyses.choices import zero_by_choice
from .errors import AdjoinError, Code, Where
from .hints import adjoint_hint
from .infer import arg_kind
from .ir import (
    BINARY,
    INDEX,
    STORE,
    UNBOUND,
    VALUE,
    Arg,
    Block,
    Const,
    Dct,
    For,
    Function,
    If,
    Let,
    Lst,
    Op,
    Ref,
    Slc,
    Statement,
    Try,
    Tup,
    Var,
    While,
    With,
    blocks,
    bound,
    bound_inside,
    in_order,
    reads,
    substitute,
    variables,
    walk,
)
from .kinds import (
    BOOL,
    INT,
    UNKNOWN,
    Array,
    Container,
    Number,
    Opaque,
    Unknown,
    dims_of,
    dtype_of,
    home_of,
    is_certain,
    is_integer,
    is_real,
    same_shape,
)
from .kinds import Sequence as SequenceKind
from .lowering.expressions import subscript
from .lowering.generated import passed_together
from .lowering.hooks import spliced
from .lowering.reader import Frame, Reader
from .lowering.splice import splice
from .rerun import reverse_rerun
from .sizes import name_like

ELLIPSIS = Const(Ellipsis)


def is_restore(s: Statement) -> bool:
    """A statement that puts the old value of a store back; `needed` drops those that nobody needs.

    The function of its operation is the store.
    """
    return isinstance(s, Let) and s.op.text == "restore"


@dataclass(frozen=True)
class Bar:
    """The adjoint of a value so far. `owned`: an array that contributions are added to in place."""

    arg: Arg
    owned: bool = False


@dataclass
class Reverse:
    """What the reverse sweep is before it is decided what to keep for it."""

    statements: list[Statement]
    gradients: dict[Var, Arg]
    #: for each primal value of a loop body, the variable that stands for it in the reversed body
    stands_for: dict[Var, Var]


def _beyond_the_standard(index: Arg) -> bool:
    """Whether an index has new axes or positions in arrays, at which the array API does not store."""
    parts = index.items if isinstance(index, Tup) else (index,)
    kinds = [arg_kind(p) for p in parts]
    return Const(None) in parts or any(isinstance(k, Array) and k.dtype != "b1" for k in kinds)


class Adjoint(Reader):
    """Builds the reverse sweep, statement by statement, last first."""

    def __init__(self, function: Function, independent: Iterable[Var], reader: Reader) -> None:
        super().__init__()
        self.numpy = reader.numpy
        self.bare = not speaks_numpy(reader.numpy.value)
        self.instances, self.root_name = reader.instances, reader.root_name
        self.splicing = True
        self.ir = function
        self.independent = list(independent)
        self.aliases = Aliases(function)
        self.activity = Activity(function, set(self.independent), self.aliases)
        self.bars: dict[Var, Bar] = {}
        self.shadows: dict[Var, Var] = {}
        self.table: Var | None = None  # the run-time table of shadows, once something needs it
        self.stands_for: dict[Var, Var] = {}
        self.in_loops: set[Var] = set()
        self.indices: dict[Var, Var] = {}
        self.holed = zero_by_choice(function)  # adjoints (and factors) that may hold zeros by structure
        self.kept_in_list: set[Arg] = set()  # adjoints taken from those of a list
        self._defined: dict[Var, Statement] = {}
        self.left_unbound = _unbound_somewhere(function.body)
        self.bound_to_none: set[Var] = set()  # those of which zeros are made, whether they are bound or not
        self.static_shadows = StaticShadows(self)
        for s in walk(function.body):
            if isinstance(s, For | While):
                self.in_loops |= _bound_inside(s)

    # -- the sweep ---------------------------------------------------------------------------------

    def sweep(self, seeds: Callable[[Adjoint], None]) -> Reverse:
        """Reverse the function's body.

        Args:
            seeds: adds the adjoint of the result with `contribute`.
        """
        with self.block() as statements:
            self._enter(self.ir.body)
            seeds(self)
            self._statements(self.ir.body)
            gradients = {v: self.gradient(v) for v in self.independent}
        if self.table is not None:
            made = Let((self.table,), self.function_op(support.Shadows), (), ())
            statements.insert(0, made)
        return Reverse(statements, gradients, self.stands_for)

    def open_seed(self, seed: Var, value: Arg) -> Any:
        """The seed as a value of the structure of the result."""
        return seed

    def seed(self, value: Arg, seed: Arg) -> None:
        """Add the seed, part by part."""
        if isinstance(value, Tup | Lst):
            for i, item in enumerate(value.items):
                if self.activity.any_active(item):
                    self.seed(item, self.let(INDEX, seed, Const(i), kind=arg_kind(item)))
        elif isinstance(value, Dct):
            for key, item in value.items:
                if self.activity.any_active(item):
                    assert isinstance(key, Const)
                    op = INDEX if value.cls is None else Op("attribute", key.value)
                    at = (key,) if value.cls is None else ()
                    self.seed(item, self.let(op, seed, *at, kind=arg_kind(item)))
        elif self.activity.any_active(value):
            self.contribute(value, seed)

    def function_op(self, f: Any) -> Op:
        return Op("call", f.__name__, f, Ref(f, f.__name__, "support"))

    def gradient(self, v: Var) -> Arg:
        """The adjoint of an independent variable at the end, zeros if nothing reached it."""
        if self.may_be_number(v):
            return self.take(v) or self.zeros_like(v)
        if self.is_buffer(v):
            return (
                self.shadow(v)
                if self.static_shadows.has(v) or not self.static_shadows.possible(v)
                else self.zeros_like(v)
            )
        bar = self.bars.get(v)
        return self.zeros_like(v) if bar is None else bar.arg

    def _enter(self, block: Block) -> None:
        """Begin with a block: what it keeps for its reverse is bound from here on."""
        for s in block.body:
            for v in bound(s):
                self._defined[v] = s
        self.do(Op("enter", "", block))

    def _statements(self, block: Block) -> None:
        for s in reversed(block.body):
            self._statement(s)

    def _statement(self, s: Statement) -> None:
        self.site = s.site
        if isinstance(s, Let):
            self._let(s)
        elif isinstance(s, With):
            self._with(s)
        elif not self._touches(s):
            if not self._restores_inside(s):
                return
            self._compound(s)
        else:
            self._compound(s)

    def _compound(self, s: Statement) -> None:
        if isinstance(s, If):
            self._if(s)
        elif isinstance(s, For | While):
            self._loop(s)
        elif isinstance(s, Try):
            self._try(s)

    def _touches(self, s: Statement) -> bool:
        """Whether anything active happens inside."""
        every = [s, *(inner for b in blocks(s) for inner in walk(b))]
        for each in every:
            for v in bound(each):
                if self.activity.active(v):
                    return True
            if (
                isinstance(each, Let)
                and each.effect == "write"
                and any(self.activity.active(v) for v in variables(each.args[0]))
            ):
                return True
            if isinstance(each, If | For | While | Try) and any(self.activity.active(v) for v in _outs(each)):
                return True
        return False

    def _restores_inside(self, s: Statement) -> bool:
        """Stores into memory whose contents the reverse sweep may need."""
        return any(
            isinstance(each, Let) and each.effect == "write" and each.op.form in ("store", "augment")
            for b in blocks(s)
            for each in walk(b)
        )

    # -- primal values -----------------------------------------------------------------------------

    def primal(self, arg: Arg) -> Arg:
        """An operand of the forward sweep as the reverse sweep names it."""
        return substitute(arg, self._stand_in)

    def _stand_in(self, v: Var) -> Arg:
        if v in self.indices:
            return self.indices[v]
        if v not in self.in_loops:
            return v
        if v not in self.stands_for:
            self.stands_for[v] = Var(v.name, v.kind, v.hint)
            name_like(self.stands_for[v], v)
        return self.stands_for[v]

    # -- contributions -----------------------------------------------------------------------------

    def is_buffer(self, v: Var) -> bool:
        """A value whose adjoint lives in a shadow."""
        return self.aliases.is_buffer(v) or isinstance(v.kind, SequenceKind)

    def contribute(self, target: Arg, g: Arg) -> None:
        """Add `g` to the adjoint of an operand, containers part by part."""
        if isinstance(target, Tup | Lst):
            for i, item in enumerate(target.items):
                if self.activity.any_active(item):
                    self.contribute(item, self._part(g, i))
        elif isinstance(target, Dct):
            for key, item in target.items:
                if self.activity.any_active(item):
                    self.contribute(item, self.arg(subscript(self, _NO_FRAME, g, key, None)))
        elif isinstance(target, Var) and self.activity.active(target):
            if isinstance(target.kind, SequenceKind) and self.aliases.of(target) in self.aliases.written:
                add = self.function_op(support.add_to_each)
                self.do(add, self._shadow_table(), self.primal(target), g, effect="write")
            elif isinstance(target.kind, SequenceKind):
                self.do(self.function_op(support.add_to_list), self.shadow(target), g, effect="write")
            elif self.may_be_number(target):
                rest = self.let(
                    Op("method", "rest"),
                    self._shadow_table(),
                    self.primal(target),
                    g,
                    kind=UNKNOWN,
                    effect="write",
                )
                self._add(target, rest)
            elif self.is_buffer(target):
                self._add_to_shadow(target, g)
            else:
                self._add(target, g)

    def _part(self, g: Arg, i: int) -> Arg:
        if isinstance(g, Tup | Lst):
            return g.items[i]
        return self.index(g, Const(i))

    def _add(self, target: Var, g: Arg) -> None:
        if isinstance(target.kind, Number) and isinstance(arg_kind(g), Array):
            g = self._as_number(g)
        bar = self.bars.get(target)
        if bar is None:
            self.bars[target] = Bar(g)
            self._name(g, target)
        elif bar.owned:
            self.augment(bar.arg, ELLIPSIS, g)
        else:
            total = self._total(bar.arg, g)
            if bar.arg in self.holed and g in self.holed:
                self._hole(total)
            self.bars[target] = Bar(total)
            self._name(total, target)

    def _as_number(self, g: Arg) -> Arg:
        """A number of its own, for the adjoint of one: a shadow of 0-d changes as the sweep goes on."""
        spread = self._before_spreading(g)
        return self.index(g, Tup(())) if spread is None else spread

    def _before_spreading(self, g: Arg) -> Arg | None:
        """The number that `g` is everywhere, where one was just spread over a shape."""
        made = next((t for t in reversed(self.statements) if isinstance(t, Let) and g in t.outs), None)
        if made is None or made.op.function is not np.broadcast_to:
            return None
        return made.args[0] if isinstance(arg_kind(made.args[0]), Number) else None

    def _total(self, bar: Arg, g: Arg) -> Arg:
        """The sum of two adjoints; of what a list held, and its kind is not known, there may be none."""
        if g in self.kept_in_list and isinstance(arg_kind(g), Unknown):
            return self.let(self.function_op(support.plus), bar, g, kind=UNKNOWN)  # type: ignore[no-any-return]
        return self.plus(bar, g)

    def _name(self, g: Arg, target: Var) -> None:
        if isinstance(g, Var) and not g.name:
            g.name = bar_name(target)
            g.hint = g.hint if g.hint.endswith("_bar") else adjoint_hint(target) or g.hint

    def augment(self, target: Arg, index: Arg, g: Arg, symbol: str = "+") -> None:
        if isinstance(g, Let):
            raise TypeError(g)
        self.do(Op("augment", symbol, BINARY[symbol]), target, index, g, effect="write")

    def _add_to_shadow(self, target: Var, g: Arg) -> None:
        if self.static_shadows.possible(target):
            self.augment(self.shadow(target), ELLIPSIS, g)
        else:
            self.do(Op("method", "add"), self._shadow_table(), self.primal(target), g, effect="write")

    def scatter(self, target: Var, index: Arg, g: Arg) -> None:
        """Add `g` to the adjoint of `target[index]`."""
        if not self.activity.active(target):
            return
        if isinstance(target.kind, SequenceKind):
            self.do(self.function_op(support.add_to_item), self.shadow(target), index, g, effect="write")
            return
        if self.is_buffer(target):
            into: Arg = self.shadow(target)
        elif isinstance(target.kind, Array):
            into = self.accumulator(target)
        else:
            self._add(
                target,
                self.let(
                    self.function_op(support.scattered), g, self.primal(target), index, kind=target.kind
                ),
            )
            return
        self._scatter_into(into, index, g)

    def _scatter_into(self, into: Arg, index: Arg, g: Arg) -> None:
        if selects_once(index) and not (self.bare and _beyond_the_standard(index)):
            self.augment(into, index, g)
        else:
            self.do(
                Op("call", f"{self.numpy.text}.add.at", np.add.at, self.numpy), into, index, g, effect="write"
            )

    def accumulator(self, target: Var) -> Arg:
        """The adjoint of an array as memory that may be added to in place."""
        bar = self.bars.get(target)
        if bar is not None and bar.owned:
            return bar.arg
        made = self.call(np.zeros_like, self.primal(target))
        made.name = bar_name(target)
        made.hint = adjoint_hint(target) or made.hint
        self._hole(made)
        if bar is not None:
            self.augment(made, ELLIPSIS, bar.arg)
        self.bars[target] = Bar(made, owned=True)
        return made  # type: ignore[no-any-return]

    def take(self, v: Var) -> Arg | None:
        """The complete adjoint of a value, where its definition is reached; None if there is none."""
        if (self.is_buffer(v) and isinstance(v.kind, SequenceKind | Array)) or self.aliases.is_buffer(v):
            if self.static_shadows.possible(v):
                return self.shadow(v) if self.static_shadows.has(v) else None
            if not isinstance(v.kind, Array | SequenceKind):
                own = self.bars.pop(v, None)
                held = Const(0.0) if own is None else own.arg
                made: Arg = self.let(
                    Op("method", "total"), self._shadow_table(), self.primal(v), held, kind=UNKNOWN
                )
                return made
            return self.shadow(v)
        bar = self.bars.pop(v, None)
        return None if bar is None else bar.arg

    def _hole(self, g: Arg) -> None:
        self.holed.update(variables(g))

    def let(self, op: Op, *args: Arg, **kwargs: Any) -> Any:
        result = super().let(op, *args, **kwargs)
        if (
            op.function is np.where
            or op.function is np.equal
            or any(v in self.holed for a in args for v in variables(a))
            or any(isinstance(arg_kind(a), Array) and dtype_of(arg_kind(a)) == "b1" for a in args)
        ):
            self._hole(result)
        elif op.form == "call" and op.ref is not None and op.ref.imports == "support":
            self._hole(result)
        return result

    # -- shadows -----------------------------------------------------------------------------------

    def _shadow_table(self) -> Var:
        if self.table is None:
            self.table = Var("shadows", Opaque(None))
        return self.table

    def shadow(self, v: Var) -> Arg:
        """Adjoint memory of a buffer, or the list of adjoints of a list's elements."""
        if self.static_shadows.possible(v):
            return self.static_shadows.shadow(v)
        made = Var(bar_name(v), v.kind, adjoint_hint(v))
        self.add(
            Let((made,), Op("apply", "shadows"), (self._shadow_table(), self.primal(v)), (), "", self.site)
        )
        self._hole(made)
        return made

    # -- simple statements -------------------------------------------------------------------------

    def _let(self, s: Let) -> None:
        form = s.op.form
        if form == "store":
            self._store(s)
        elif form == "augment":
            self._augment(s)
        elif s.effect == "write":
            self._write(s)
        elif form == "index":
            self._index(s)
        elif form == "value":
            self._value(s)
        elif form == "hook":
            self._hook(s)
        elif any(self.activity.active(out) for out in s.outs):
            self._operation(s)

    def _value(self, s: Let) -> None:
        out = s.out
        if not self.activity.active(out):
            return
        source = s.args[0]
        if isinstance(source, Var) and self.is_buffer(out):  # another name of the same memory
            own = self.bars.pop(out, None) if self.may_be_number(out) else None
            if own is not None:
                self._pass_own(source, own.arg)
            return
        if isinstance(out.kind, SequenceKind) and self._inert(out):
            return  # its elements have shadows of their own
        g = self.take(out)
        if g is not None:
            self.contribute(source, g)

    def _hook(self, s: Let) -> None:
        """`adjoint_hook(x, hook)`: what the hook makes of the adjoint of its result is that of `x`."""
        out, (x, *captured), hook = s.out, s.args, s.op.function
        if not self.activity.active(out):
            return
        g = self.take(out)
        if g is None:
            return
        memory = g if self.is_buffer(out) else None
        if isinstance(out.kind, Array) and isinstance(arg_kind(g), Number):
            g = self._spread(g, out)
        if memory is not None or hook.changes:
            g = self.let(Op("method", "copy", np.copy), g)
        self._name(g, out)
        body = spliced(hook, g, map(self.primal, captured))
        for statement in body.body:
            self.add(statement)
        (made,) = body.yields
        if made == Const(None):
            made = g
        elif isinstance(out.kind, Array) and isinstance(arg_kind(made), Number):
            made = self._spread(made, out)
        made = self._real(made, out)
        if memory is None:
            self.contribute(x, made)
        elif made is not g:
            self.do(STORE, memory, ELLIPSIS, made, effect="write")

    def _index(self, s: Let) -> None:
        out, (x, index) = s.out, s.args[:2]
        if not isinstance(x, Var) or not self.activity.active(out):
            return
        if self.aliases.is_buffer(out) and self.aliases.of(out) == self.aliases.of(x):
            own = None if isinstance(out.kind, Array) else self.bars.pop(out, None)
            if own is not None:  # it may turn out to be a number, which is a copy
                self.scatter(x, self.primal(index), own.arg)
            if is_basic(index):
                return  # a view: it shares the shadow
            if may_be_view(index):
                self._if_copied(out, x, lambda: self.scatter(x, self.primal(index), self.shadow(out)))
                return
        if isinstance(out.kind, SequenceKind) and self._inert(x):
            return  # an element with a shadow of its own
        if isinstance(x.kind, Container):
            return  # a part of an argument: its adjoint is wanted as it is
        g = self.take(out)
        if g is None:
            return
        self.scatter(x, self.primal(index), g)

    def _if_copied(self, out: Var, x: Var, pass_on: Callable[[], None]) -> None:
        """What is a view or a copy, as it turns out: a copy passes its adjoint on."""
        if isinstance(out.kind, Array):
            shared = self.call(np.shares_memory, self.primal(out), self.primal(x))
            shared.kind = BOOL
        else:
            op = self.function_op(support.shares_shadow)
            shared = self.let(op, self.primal(out), self.primal(x), kind=BOOL)
        self._unless(shared, pass_on)

    def _unless(self, condition: Arg, contribute: Callable[[], None]) -> None:
        """Contributions that are made where a condition does not hold."""
        before = self.bars
        self.bars = dict(before)
        with self.block() as statements:
            contribute()
        ends: list[tuple[list[Statement], dict[Var, Bar]]] = [([], before), (statements, self.bars)]
        self._join(set(), before, ends, lambda b, outs: If(condition, b[0], b[1], outs, self.site))

    def _store(self, s: Let) -> None:
        target, index, value = s.args
        assert isinstance(target, Var)
        if isinstance(target.kind, SequenceKind):
            if self.activity.active(target) and not self._inert(target):
                g = self.let(
                    self.function_op(support.take_item),
                    self.shadow(target),
                    self.primal(index),
                    kind=target.kind.element,
                    effect="write",
                )
                self.contribute(value, g)
            return
        active = self.activity.active(target)
        if active and not (self.static_shadows.possible(target) and not self.static_shadows.has(target)):
            shadow = self.shadow(target)
            at = self.primal(index)
            g = None
            if self.activity.any_active(value):
                g = self._stored(target, shadow, at, value)
            self.do(STORE, shadow, at, Const(0), effect="write")
            self._restore(s, target, at)
            if g is not None:
                self.contribute(value, g)
            return
        self._restore(s, target, self.primal(index))

    def _stored(self, target: Var, shadow: Arg, at: Arg, value: Arg) -> Arg:
        """The adjoint of what was stored, by value, in the shape of what was stored."""
        if selects_once(at):
            g: Arg = self.index(shadow, at)
            if not isinstance(arg_kind(g), Number) and is_basic(at):
                g = self.let(Op("method", "copy", np.copy), g)
        else:
            g = self.let(self.function_op(support.last_stored), shadow, at, kind=UNKNOWN)
        kind = arg_kind(value)
        return self._fit(g, value, arg_kind(INDEX_OF(target, at)), kind)

    def _fit(self, g: Arg, value: Arg, whole: Any, kind: Any) -> Arg:
        """Sum what was broadcast."""
        if isinstance(kind, Number) and isinstance(arg_kind(g), Number):
            return self._cast(g, value)
        if dims_of(kind) is not None and dims_of(whole) is not None and kind == whole:
            return self._cast(g, value)
        if not isinstance(value, Var):
            return g
        return self.unbroadcast(g, value, arg_kind(g))

    def _cast(self, g: Arg, value: Arg) -> Arg:
        a, b = dtype_of(arg_kind(g)), dtype_of(arg_kind(value))
        if (
            a == b
            or b in ("float", "complex")
            or a in ("float",)
            or (a and b and is_real(arg_kind(g)) and b == "complex")
        ):
            return g
        return self.let(self.function_op(_support.real_if_real), g, self.primal(value), kind=arg_kind(value))  # type: ignore[no-any-return]

    def _augment(self, s: Let) -> None:
        """`a[i] += e`: the old value passes its adjoint on unchanged."""
        target, index, value = s.args
        assert isinstance(target, Var)
        at = self.primal(index)
        if self.activity.active(target) and not (
            self.static_shadows.possible(target) and not self.static_shadows.has(target)
        ):
            if self.activity.any_active(value):
                shadow = self.shadow(target)
                g: Arg = shadow if at == ELLIPSIS else self.index(shadow, at)
                whole = arg_kind(g)
                if not isinstance(whole, Number):
                    g = self.let(Op("method", "copy", np.copy), g)
                g = self._fit(g, value, whole, arg_kind(value))
                if s.op.text == "-":
                    g = self.unary("-", g)
                self._restore(s, target, at)
                self.contribute(value, g)
                return
        self._restore(s, target, at)

    def _restore(self, s: Let, target: Var, at: Arg) -> None:
        """Put the old value back, if `needed` finds that somebody reads it."""
        op = Op("store", "restore", s)
        self.add(Let((), op, (self.primal(target), at, Const(None)), (), "write", s.site))

    def _inert(self, target: Var) -> bool:
        """A list of arrays that are written to, or of lists: its elements have shadows of their own."""
        element = target.kind.element if isinstance(target.kind, SequenceKind) else None
        if isinstance(element, SequenceKind):
            return True
        mixed = isinstance(element, Unknown | Number)  # numbers among them have adjoints in the list's
        return self.aliases.of(target) in self.aliases.written and not mixed

    def _write(self, s: Let) -> None:
        """Other statements that change memory: list methods, `np.add.at`."""
        target = s.args[0]
        if s.op.form == "delete" and isinstance(target, Var) and isinstance(target.kind, SequenceKind):
            self._delete(s, target)
            return
        if s.op.function in WRITES_FIRST:
            assert isinstance(target, Var)
            value = s.args[2]
            if self.activity.active(target) and self.activity.any_active(value):
                g = self.index(self.shadow(target), self.primal(s.args[1]))
                g = self._fit(g, value, arg_kind(g), arg_kind(value))
                if s.op.function == np.subtract.at:
                    g = self.unary("-", g)
                self.contribute(value, g)
            self._restore(s, target, self.primal(s.args[1]))
            return
        if not isinstance(target, Var) or not isinstance(target.kind, SequenceKind):
            if any(self.activity.any_active(a) for a in s.operands):
                self.refuse_at(
                    s, Code.MUTATION, f"`{s.op.text}` changes an array in a way that is not followed"
                )
            return
        if not self.activity.active(target) or self._inert(target):
            return
        self._list_method(s, target)

    def _delete(self, s: Let, target: Var) -> None:
        """`del h[i]` of a list: the element is there again, with no adjoint."""
        if not self.activity.active(target) or self._inert(target):
            return
        if not isinstance(target.kind.element, Number) or not isinstance(arg_kind(s.args[1]), Number):  # type: ignore[attr-defined]
            self.refuse_at(s, Code.MUTATION, "this `del` is not followed", "build a new list instead")
        put_back = self.function_op(support.put_back_deleted)
        self.do(put_back, self.shadow(target), self.primal(s.args[1]), effect="write")

    def _list_method(self, s: Let, target: Var) -> None:
        assert isinstance(target.kind, SequenceKind)
        name = s.op.text
        shadow = self.shadow(target)
        if name == "append":
            g = self.let(Op("method", "pop"), shadow, kind=target.kind.element, effect="write")
            self.kept_in_list.add(g)
            self.contribute(s.args[1], g)
        elif name == "pop" and len(s.args) == 1:
            self.do(Op("method", "append"), shadow, self._popped(s.out), effect="write")
        elif name == "pop":
            put_back, at = self.function_op(support.put_back), self.primal(s.args[1])
            self.do(put_back, shadow, at, self._popped(s.out), effect="write")
        elif name == "insert":
            g = self.let(
                self.function_op(support.take_inserted),
                shadow,
                self.primal(s.args[1]),
                kind=target.kind.element,
                effect="write",
            )
            self.contribute(s.args[2], g)
        elif name == "reverse":
            self.do(Op("method", "reverse"), shadow, effect="write")
        else:
            self.refuse_at(s, Code.MUTATION, f"list.{name} on active values is not followed")

    def _popped(self, out: Var) -> Arg:
        """The adjoint of what was popped: of an array that is written to, nothing that its shadow has not."""
        g: Arg | None = None
        if self.activity.active(out) and self.aliases.is_buffer(out):
            own = self.bars.pop(out, None)
            g = None if own is None else own.arg
        elif self.activity.active(out):
            g = self.take(out)
        return self._zero(out) if g is None else g

    def refuse_at(self, s: Statement, code: Code, reason: str, rewrite: str = "") -> None:
        raise AdjoinError(code, reason, where=Where.of(s.site) if s.site else None, rewrite=rewrite or None)

    # -- operations with a rule --------------------------------------------------------------------

    def _operation(self, s: Let) -> None:
        if s.op.form == "user":
            self._call_user(s)
            return
        if is_rerun(s):
            reverse_rerun(self, s)
            return
        if s.op.form == "together":
            for original, copy in zip(passed_together(s), s.outs, strict=True):
                if self.activity.any_active(original):
                    self.contribute(original, self.let(Op("method", "copy", np.copy), self.shadow(copy)))
            return
        if s.op.form == "attribute" and isinstance(arg_kind(s.args[0]), Container):
            return  # a part of an argument: its adjoint is wanted as it is
        rule = lookup(s.op.function) if s.op.function is not None else None
        if rule is None or rule.signature is None:
            if draws_random(s) and not any(map(self.activity.any_active, s.operands)):
                return
            if s.op.form == "inplace":
                self.refuse_at(
                    s,
                    Code.MUTATION,
                    "an augmented assignment to a value that may or may not be an array",
                    "write x = x + y, or make its kind known",
                )
            if rule is not None:
                return
            self.refuse_at(
                s,
                Code.NO_RULE,
                f"no rule yet for `{s.op.text}`",
                "add a rule, or use operations that have one",
            )
        assert rule is not None
        try:
            bound = rule.bind(s.args, dict(s.kwargs))
            rule.check_options({name: arg.value for name, arg in bound.items() if isinstance(arg, Const)})
        except NoRule as error:
            self.refuse_at(s, Code.NO_RULE_FOR_OPTION, str(error), "leave the option out")
        if rule.view and all(self.aliases.is_buffer(v) for v in s.outs):
            self._view(s, rule, bound)
            return
        gs = [self.take(out) if self.activity.active(out) else None for out in s.outs]
        if all(g is None for g in gs):
            return
        g: Arg = gs[0] if len(gs) == 1 else Tup(tuple(Const(None) if x is None else x for x in gs))  # type: ignore[assignment]
        self._apply(s, rule, bound, g)

    def _call_user(self, s: Let) -> None:
        """A call of a function of the module: its adjoint takes what its forward function saved."""
        *results, saved = s.outs
        instance = s.op.function
        seeds: list[Arg] = []
        for v in results:
            g = self.take(v) if self.activity.active(v) else None
            seeds.append(g if g is not None else self._zero(v) if v.kind.differentiable else Const(None))
        wanted = [(p, a) for p, a in zip(instance.params, s.args, strict=False) if p.kind.differentiable]
        kinds = tuple(p.kind for p, _ in wanted)
        seed = seeds[0] if len(seeds) == 1 else Tup(tuple(seeds))
        op = Op("user_adjoint", f"{instance.name}_adjoint", instance)
        bars = self.let(op, self.primal(saved), seed, kind=kinds if len(kinds) > 1 else kinds[0])
        for (_, arg), bar in zip(wanted, bars.items if isinstance(bars, Tup) else (bars,), strict=True):
            if isinstance(arg, Var) and self.activity.active(arg):
                self.contribute(arg, self._real(bar, arg))

    def _view(self, s: Let, rule: Rule, bound: dict[str, Any]) -> None:
        """A view shares its owner's shadow; what may have been a copy is looked at when it runs."""
        if any(not isinstance(v.kind, Array) and v in self.bars for v in s.outs):
            self.refuse_at(
                s,
                Code.MUTATION,
                f"`{s.op.text}` gives a number or a view of memory that is written to, it is not known which",
                "copy the array first",
            )
        if certainly_view(s):
            return
        source = s.args[0]
        out = s.out
        shared = self.call(np.shares_memory, self.primal(out), self.primal(source))
        shared.kind = BOOL

        self._unless(shared, lambda: self._apply(s, rule, bound, self.shadow(out)))

    def _apply(self, s: Let, rule: Rule, bound: dict[str, Any], g: Arg) -> None:
        active = [n for n in rule.wrt if n in bound and self._active_param(bound[n])]
        for name in bound:
            if name not in rule.wrt and name not in rule.steps and self._active_param(bound[name]):
                self.refuse_at(
                    s,
                    Code.NO_RULE_FOR_OPTION,
                    f"the rule of {rule.name} has no derivative in `{name}`",
                    "keep it constant, with stop_gradient, or add a rule",
                )
        if not active:
            return
        out: Arg = s.outs[0] if len(s.outs) == 1 else Tup(s.outs)
        flip = rule.holomorphic and not all(
            is_real(arg_kind(v)) for a in (g, *s.operands) for v in variables(a)
        )
        full = g
        if rule.kind == "elementwise" and not flip:
            g = self._one_number(s, [bound[name] for name in active], g)
        is_number = g is not full
        if flip:
            g = self._conj(g)
        adjoints = splice(self, rule, active, g, self._safe(rule, active, g, out, bound), bound)
        passed: list[tuple[Arg, Arg]] = []
        for name, adjoint in zip(active, adjoints, strict=True):
            target = bound[name]
            if isinstance(target, tuple):
                target = Tup(target)
            value = self.arg(adjoint)
            if flip:
                value = self._conj(value)
            if is_number and dims_of(arg_kind(value)) is None:
                value = self._spread(value, target)
            passed += self._fitted(rule, s, target, value)
        for target, value in passed:
            self.contribute(target, value)

    def _one_number(self, s: Let, targets: list[Any], g: Arg) -> Arg:
        """The number that `g` is everywhere, where every operand has the shape of the result anyway."""
        whole = arg_kind(s.outs[0])
        spread = self._before_spreading(g)
        if spread is None:
            return g
        arrays = [t for t in targets if isinstance(t, Var) and isinstance(t.kind, Array)]
        fitting = len(arrays) == len(targets) and all(same_shape(t.kind, whole) for t in arrays)
        return spread if fitting else g

    def _active_param(self, arg: Any) -> bool:
        return any(
            self.activity.any_active(a) for a in (arg if isinstance(arg, tuple) else (arg,)) if not _plain(a)
        )

    def _safe(self, rule: Rule, active: list[str], g: Arg, out: Arg, bound: dict[str, Any]) -> dict[str, Any]:
        """The rule's arguments; where `g` is zero by structure, values at which the rule is finite."""
        plain = {"out": self.primal(out), **{n: _map(a, self.primal) for n, a in bound.items()}}
        if rule.safe is None or not any(v in self.holed for v in variables(g)) or not isinstance(g, Var):
            return plain
        if _is_regular(rule, bound):
            return plain
        untaken = self.binary("==", g, Const(0))
        for name in sorted(rule.needs(active)):
            arg = plain[name]
            if not isinstance(arg, Var) or not arg.kind.differentiable:
                continue
            if isinstance(arg.kind, Number) and isinstance(g.kind, Number):
                plain[name] = self.choose(untaken, lambda: Const(rule.safe), lambda value=arg: value)  # type: ignore[misc]
            elif isinstance(arg.kind, Array | Number):
                plain[name] = self.call(np.where, untaken, Const(rule.safe), arg)
            elif isinstance(arg.kind, Unknown):
                op = self.function_op(_support.where_taken)
                plain[name] = self.let(op, untaken, Const(rule.safe), arg, kind=UNKNOWN)
        return plain

    def _conj(self, g: Arg) -> Arg:
        if isinstance(g, Tup):
            return Tup(tuple(self._conj(i) for i in g.items), g.cls)
        if isinstance(g, Const) or is_real(arg_kind(g)):
            return g
        kind = arg_kind(g)
        if isinstance(kind, Array | Number) and kind.dtype is not None:
            return self.call(np.conj, g)  # type: ignore[no-any-return]
        return self.let(self.function_op(_support.conj), g, kind=kind)  # type: ignore[no-any-return]

    def _fitted(self, rule: Rule, s: Let, target: Arg, g: Arg) -> list[tuple[Arg, Arg]]:
        """The parts of an operand, each with its adjoint in its own shape and dtype."""
        if g == Const(None):  # one of several results, which nothing has used
            return []
        if isinstance(target, Var):
            if isinstance(target.kind, SequenceKind):
                return [(target, g)]
            if rule.kind == "elementwise":
                return [(target, self.unbroadcast(g, target, arg_kind(s.outs[0])))]
            return [(target, self._real(g, target))]
        if isinstance(target, Tup | Lst):
            active = [(i, item) for i, item in enumerate(target.items) if self.activity.any_active(item)]
            return [each for i, item in active for each in self._fitted(rule, s, item, self._part(g, i))]
        return [(target, g)] if isinstance(target, Dct) else []

    def unbroadcast(self, g: Arg, x: Var, whole: Any) -> Arg:
        """`g`, of kind `whole`, summed to the shape of `x`."""
        if same_shape(x.kind, whole) or (isinstance(x.kind, Number) and isinstance(whole, Number)):
            if not isinstance(x.kind, Number) and not _fills(arg_kind(g), x.kind):
                g = self._spread(g, x)
            return self._real(g, x)
        if isinstance(x.kind, Number) and isinstance(whole, Array) and isinstance(arg_kind(g), Array):
            return self._real(self._summed(g), x)
        axes = summed_axes(x.kind, whole)
        if axes is None or arg_kind(g) == UNKNOWN:
            fitted = self.let(self.function_op(unbroadcast), g, self.primal(x), kind=x.kind)
            return fitted  # type: ignore[no-any-return]
        extra, stretched = axes
        if extra:
            g = self.call(
                np.sum, g, axis=Const(0) if extra == 1 else Tup(tuple(Const(i) for i in range(extra)))
            )
        if stretched:
            axis = Const(stretched[0]) if len(stretched) == 1 else Tup(tuple(Const(i) for i in stretched))
            g = self.call(np.sum, g, axis=axis, keepdims=Const(True))
        return self._real(g, x)

    def _summed(self, g: Arg) -> Arg:
        """The sum of `g`: where that was just computed as a product of two vectors, their inner product."""
        for s in reversed(self.statements):
            if not isinstance(s, Let) or s.effect:
                break
            if g in s.outs and s.op.form == "operator" and s.op.text == "*":
                kinds = [arg_kind(a) for a in s.args]
                if all(_is_vector(k) for k in kinds) and kinds[0] == kinds[1]:
                    return self.binary("@", *s.args)
        return self.call(np.sum, g)  # type: ignore[no-any-return]

    def _spread(self, g: Arg, x: Var) -> Arg:
        if home_of(x.kind) and not home_of(arg_kind(g)):
            return self.call(np.full_like, self.primal(x), g)  # type: ignore[no-any-return]
        made: Arg = self.call(
            np.broadcast_to, g, self.let(Op("attribute", "shape"), self.primal(x), kind=Opaque(tuple))
        )
        if isinstance(made, Var) and isinstance(x.kind, Array):
            made.kind = Array(dtype_of(made.kind), x.kind.dims)
        return made

    def _real(self, g: Arg, x: Var) -> Arg:
        """In the dtype of `x`: the real part if it is real."""
        have, want = dtype_of(arg_kind(g)), dtype_of(x.kind)
        if have == want or (
            want in ("float", "complex") and have is not None and (is_real(arg_kind(g)) or want == "complex")
        ):
            return g
        if have == "float" and want is not None and want[0] in "fc":
            return g
        if have is not None and want is not None and isinstance(arg_kind(g), Array | Number):
            if not is_real(arg_kind(g)) and is_real(x.kind):
                g = self.let(Op("attribute", "real", np.real), g)
                return self._real(g, x)
            if want == "float" or (want[0] in "fc" and have in ("float", "int", "bool")):
                return g
        return self.let(self.function_op(_support.real_if_real), g, self.primal(x), kind=x.kind)  # type: ignore[no-any-return]

    # -- control flow ------------------------------------------------------------------------------

    def _with(self, s: With) -> None:
        with self.block() as statements:
            self._enter(s.body)
            self._statements(s.body)
        made = self._defined.get(s.manager) if isinstance(s.manager, Var) else None
        if isinstance(made, Let) and made.op.function in _ENTERED_AGAIN and statements:
            options = {k: self.primal(a) for k, a in made.kwargs}
            manager = self.let(
                made.op, *[self.primal(a) for a in made.args], kind=Opaque(None), options=options
            )
            self.add(With(manager, None, Block(tuple(statements)), s.site))
        else:
            self.statements.extend(statements)

    def _prepare(self, s: Statement, loop: bool) -> None:
        """Before going backwards into a statement: shadows and accumulators that must outlive it."""
        for v in _read_inside(s):
            if not self.activity.active(v) or v in _bound_inside(s):
                continue
            if self.is_buffer(v):
                if self.static_shadows.possible(v):
                    self.static_shadows.shadow(v)
            elif loop and isinstance(v.kind, Array):
                self.accumulator(v)

    def _if(self, s: If) -> None:
        self._prepare(s, loop=False)
        before = dict(self.bars)
        outs = {out: before.pop(out) for out in s.outs if out in before}
        ends: list[tuple[list[Statement], dict[Var, Bar]]] = []
        for block in (s.then, s.orelse):
            self.bars = dict(before)
            with self.block() as statements:
                self._enter(block)
                for out, y in zip(s.outs, block.yields, strict=True):
                    self._branch_out(out, y, outs)
                self._statements(block)
                self.site = s.site
            ends.append((statements, self.bars))
        self._join(
            _bound_inside(s), before, ends, lambda b, o: If(self.primal(s.condition), b[0], b[1], o, s.site)
        )

    def _branch_out(self, out: Var, y: Arg, outs: dict[Var, Bar]) -> None:
        if self.is_buffer(out):
            if self.static_shadows.possible(out) and self.static_shadows.has(out) and isinstance(y, Var):
                self.static_shadows.bind(y, self.static_shadows.shadow(out))
            if out in outs:
                self._pass_own(y, outs[out].arg)
            return
        if out in outs and y is not UNBOUND and isinstance(y, Var | Tup | Lst):
            g = outs[out].arg
            if isinstance(y, Var) and y.kind != out.kind and isinstance(y.kind, Number | Array):
                g = self._real(g, y) if arg_kind(g) != UNKNOWN else g
            self.contribute(y, g)

    def may_be_number(self, v: Var) -> bool:
        """What turns out to be memory that is written to, or a number with an adjoint of its own."""
        return self.is_buffer(v) and not isinstance(v.kind, Array | SequenceKind)

    def _pass_own(self, y: Arg, own: Arg) -> None:
        """The adjoint of a number, for what it was; an array has its shadow, and zero here."""
        if not isinstance(y, Var) or not self.activity.active(y):
            return
        if self.may_be_number(y):
            self._add(y, own)
        elif not self.is_buffer(y):
            self.contribute(y, self._real(own, y))

    def _join(
        self,
        inside: set[Var],
        before: dict[Var, Bar],
        ends: list[tuple[list[Statement], dict[Var, Bar]]],
        make: Callable[[list[Block], tuple[Var, ...]], Statement],
    ) -> None:
        """Adjoints after branches: where they differ, the statement binds them.

        What was bound `inside` a branch has had its adjoint passed on, or nobody asks for it.
        """
        outs: list[Var] = []
        yields: list[list[Arg]] = [[] for _ in ends]
        joined = dict(before)
        for v in dict.fromkeys(v for _, bars in ends for v in bars if v not in inside):
            found = [bars.get(v) for _, bars in ends]
            if all(b == found[0] for b in found):
                joined[v] = found[0]  # type: ignore[assignment]
                continue
            args: list[Arg] = []
            for (statements, _), bar in zip(ends, found, strict=True):
                if bar is None:
                    outer, self.statements = self.statements, statements
                    args.append(self._zero(v))
                    self.statements = outer
                else:
                    args.append(bar.arg)
            out = Var(bar_name(v), v.kind, adjoint_hint(v))
            if isinstance(v.kind, Array) or any(
                b is None or any(x in self.holed for x in variables(b.arg)) for b in found
            ):
                self._hole(out)
            outs.append(out)
            for y, arg in zip(yields, args, strict=True):
                y.append(arg)
            joined[v] = Bar(out, owned=all(b is not None and b.owned for b in found))
        made = [Block(tuple(st), tuple(y)) for (st, _), y in zip(ends, yields, strict=True)]
        if any(b.body for b in made) or outs:
            self.add(make(made, tuple(outs)))
        self.bars = joined

    def _zero(self, v: Var) -> Arg:
        if self.may_be_number(v):
            return Const(0.0)
        if v in self.left_unbound and not isinstance(v.kind, Number):
            self.bound_to_none.add(v)
            return self.let(self.function_op(support.zeros_of), self.primal(v), kind=v.kind)  # type: ignore[no-any-return]
        zero = self.zeros_like(self.primal(v))
        if isinstance(v.kind, Array):
            self._hole(zero)
        if not isinstance(v.kind, Array | Number):
            zero = self.let(self.function_op(support.zeros_of), self.primal(v), kind=v.kind)
        return zero

    def _try(self, s: Try) -> None:
        self._prepare(s, loop=False)
        before = dict(self.bars)
        outs = {out: before.pop(out) for out in s.outs if out in before}
        ends: list[tuple[list[Statement], dict[Var, Bar]]] = []
        every = [s.body, *(h.block for h in s.handlers)]
        for block in every:
            self.bars = dict(before)
            with self.block() as statements:
                self._enter(block)
                for out, y in zip(s.outs, block.yields, strict=True):
                    self._branch_out(out, y, outs)
                self._statements(block)
            ends.append((statements, self.bars))
        path = self.primal(s.path)

        def make(b: list[Block], o: tuple[Var, ...]) -> Statement:
            """`if path == 0: ... elif path == 1: ...`"""
            made = b[-1]
            for k in range(len(b) - 2, -1, -1):
                test = Var("", BOOL)
                from .ir import BINARY_OPS

                compare = Let((test,), BINARY_OPS["=="], (path, Const(k)), (), "", s.site)
                inner = o if k == 0 else tuple(Var(x.name, x.kind) for x in o)
                made = Block((compare, If(test, b[k], made, inner, s.site)), inner)
            self.statements.extend(made.body[:-1])
            return made.body[-1]

        self._join(_bound_inside(s), before, ends, make)

    def _loop(self, s: For | While) -> None:
        self._prepare(s, loop=True)
        inside = _bound_inside(s)
        carried = [
            i
            for i, (p, out) in enumerate(zip(s.params, s.outs, strict=True))
            if (self.activity.active(p) or self.activity.active(out))
            and (not self.is_buffer(p) or self.may_be_number(p))
        ]
        buffers = [
            i
            for i, p in enumerate(s.params)
            if self.is_buffer(p) and self.activity.active(p) and self.static_shadows.possible(p)
        ]
        for i in [i for i in buffers if self.static_shadows.is_kept(s.params[i])]:
            self.static_shadows.shadow(s.params[i])
            buffers.remove(i)
        scalars = [
            v
            for v in _read_inside(s)
            if self.activity.active(v)
            and v not in inside
            and (not self.is_buffer(v) or self.may_be_number(v))
            and not isinstance(v.kind, Array | Container)
        ]
        # what a trip overwrites unread gets an adjoint of zero from it
        always_read = {v for t in s.body.body if isinstance(t, Let) for a in t.operands for v in variables(a)}
        params: list[Var] = []
        inits: list[Arg] = []
        for i in carried:
            out = s.outs[i]
            bar = self.bars.pop(out, None)
            inits.append(self._zero(out) if bar is None else bar.arg)
            params.append(Var(bar_name(s.params[i]), s.params[i].kind, adjoint_hint(s.params[i])))
            if isinstance(s.params[i].kind, Array) or s.params[i] not in always_read:
                self._hole(params[-1])
        for v in scalars:
            bar = self.bars.get(v)
            inits.append(self._zero(v) if bar is None else bar.arg)
            params.append(Var(bar_name(v), v.kind, adjoint_hint(v)))
        for i in buffers:
            inits.append(self.static_shadows.shadow(s.outs[i]))
            params.append(Var(bar_name(s.params[i]), s.params[i].kind, adjoint_hint(s.params[i])))
            self._hole(params[-1])
        outer = self.bars
        self.bars = {v: b for v, b in outer.items() if b.owned}
        n, m = len(carried), len(carried) + len(scalars)
        index = Var(s.index.name if isinstance(s, For) else "", INT)
        with self.block() as statements:
            self._enter(s.body)
            for i, p in zip(buffers, params[m:], strict=True):
                y = s.body.yields[i]
                assert isinstance(y, Var)
                self.static_shadows.bind(y, p)
            for v, p in zip(scalars, params[n:m], strict=True):
                self.bars[v] = Bar(p)
            for i, p in zip(carried, params[:n], strict=True):
                y = s.body.yields[i]
                if self.may_be_number(s.params[i]):
                    self._pass_own(y, p)
                elif (
                    isinstance(y, Var)
                    and y.kind != p.kind
                    and isinstance(p.kind, Array | Number)
                    and isinstance(y.kind, Array | Number)
                ):
                    self.contribute(y, self._real(p, y))
                elif y is not UNBOUND:
                    self.contribute(y, p)
            if isinstance(s, For) and self._recountable(s):
                self.indices[s.index] = index
                name_like(index, s.index)
            self._statements(s.body)
            yields: list[Arg] = []
            self.site = s.site
            for i in carried:
                bar = self.bars.pop(s.params[i], None)
                yields.append(self._passed_on(s, i, params[carried.index(i)]) if bar is None else bar.arg)
            yields += [self.bars.pop(v).arg for v in scalars]
            yields += [self.static_shadows.shadow(s.params[i]) for i in buffers]
            index_bar = self.bars.pop(s.index, None) if isinstance(s, For) else None
        if index_bar is not None and isinstance(s, For):
            self.refuse_at(
                s,
                Code.UNSUPPORTED_SYNTAX,
                "a loop over something active that is no array or list",
                "loop over positions: for i in range(len(xs))",
            )
        self.bars = {v: b for v, b in outer.items() if v not in scalars}
        iterable = self._backwards(s)
        outs = tuple(Var(p.name, p.kind, p.hint) for p in params)
        block = Block(tuple(statements), tuple(yields))
        made = For(index, iterable, tuple(params), tuple(inits), block, outs, site=s.site)
        self.add(made)
        for v, out in zip(scalars, outs[n:m], strict=True):
            self.bars[v] = Bar(out)
        for i, out in zip(carried, outs[:n], strict=True):
            if isinstance(out.kind, Array):
                self._hole(out)
            init = s.inits[i]
            if self.may_be_number(s.params[i]):
                self._pass_own(init, out)
            elif isinstance(init, Var):
                g: Arg = out
                if init.kind != out.kind and isinstance(init.kind, Array | Number):
                    g = (
                        self.unbroadcast(out, init, out.kind)
                        if isinstance(out.kind, Array | Number)
                        else self.let(self.function_op(unbroadcast), out, self.primal(init), kind=init.kind)
                    )
                self.contribute(init, g)
            elif not isinstance(init, Const):
                self.contribute(init, out)
        for i, out in zip(buffers, outs[m:], strict=True):
            init = s.inits[i]
            if isinstance(init, Var):
                self.static_shadows.bind(init, out)

    def _passed_on(self, s: For | While, i: int, adjoint: Var) -> Arg:
        """The adjoint that the trip before gets where this trip did not use a carried value: zero.

        In the first trip there may be no such value; the adjoint has its shape where that is known.
        """
        kind = s.params[i].kind
        dims = dims_of(kind)
        if isinstance(kind, Array) and (s.inits[i] is UNBOUND or (dims is not None and None not in dims)):
            zero: Arg = self.call(np.zeros_like, adjoint)
            self._hole(zero)
            return zero
        if s.inits[i] is UNBOUND and not isinstance(kind, Number) and not self.may_be_number(s.params[i]):
            self.bound_to_none.add(s.outs[i])
            return self.let(self.function_op(support.zeros_of), self.primal(s.params[i]), kind=kind)  # type: ignore[no-any-return]
        return self._zero(s.params[i])

    def _recountable(self, s: For) -> bool:
        """Whether the loop's variable can be had again by counting backwards."""
        counted = self._counted(s.iterable)
        return counted is not None and not (counted[2] and s.stops)

    def _counted(self, iterable: Arg) -> tuple[Let, Arg | None, bool] | None:
        """The range that is looped over, how much of it (None: all), and whether last first."""
        made = self._defined.get(iterable) if isinstance(iterable, Var) else None
        if not isinstance(made, Let):
            return None
        if made.op.function is range:
            return made, None, False
        inner = self._counted(made.args[0]) if made.op.function in (reversed, INDEX.function) else None
        if inner is None or inner[2]:
            return None
        if made.op.function is reversed:
            return inner[0], inner[1], True
        part = made.args[1]
        if inner[1] is None and isinstance(part, Slc) and part.start == part.step == Const(None):
            return inner[0], part.stop, False
        return None

    def _backwards(self, s: For | While) -> Arg:
        """What the reversed loop goes over: the same trips, last first."""
        counted = self._counted(s.iterable) if isinstance(s, For) and self._recountable(s) else None
        if counted is None:
            assert s.trips is not None
            counting: Arg = self.let(
                Op("call", "range", range, Ref(range, "range")), self.primal(s.trips), kind=Opaque(range)
            )
            return counting
        made, stop, last_first = counted
        forwards: Var = self.let(made.op, *[self.primal(a) for a in made.args], kind=Opaque(range))
        if s.stops:
            assert s.trips is not None
            stop = s.trips
        if stop is not None:
            forwards = self.let(
                INDEX, forwards, Slc(Const(None), self.primal(stop), Const(None)), kind=Opaque(range)
            )
        if last_first:
            return forwards
        backwards: Arg = self.let(
            Op("call", "reversed", reversed, Ref(reversed, "reversed")), forwards, kind=Opaque(None)
        )
        return backwards


#: Managers that only set how arithmetic warns: the reverse sweep is under them as well.
_ENTERED_AGAIN = frozenset({np.errstate, warnings.catch_warnings})


class StaticShadows:
    """Shadows that have a name of their own, where it is certain which memory a variable is.

    A class of buffers is static if each of its variables is an allocation, a certain view of one at a place
    that is known, or carried by a loop that only permutes them. All others are looked up by where they are.
    """

    def __init__(self, adjoint: Adjoint) -> None:
        self.adjoint = adjoint
        self.bound: dict[Var, Arg] = {}
        self.views: dict[Var, Let] = {}
        self.dynamic: set[Var] = set()
        self.same: dict[Var, Var] = {}  # what a loop carries without change is what it was before
        self._classify(adjoint.ir.body, set(), {*adjoint.ir.params, *adjoint.ir.free})
        for p in adjoint.ir.params:
            if isinstance(p.kind, Container):
                self.dynamic.add(adjoint.aliases.of(p))
        for v in (v for s in walk(adjoint.ir.body) for v in (*bound(s), *_bound_inside(s))):
            if adjoint.may_be_number(v):
                self.dynamic.add(adjoint.aliases.of(v))

    def possible(self, v: Var) -> bool:
        return self.adjoint.aliases.of(v) not in self.dynamic

    def has(self, v: Var) -> bool:
        """Whether the shadow exists already: whether anything reached it."""
        v = self._first_name(v)
        if v in self.bound:
            return True
        view = self.views.get(v)
        return view is not None and isinstance(view.args[0], Var) and self.has(view.args[0])

    def bind(self, v: Var, shadow: Arg) -> None:
        self.bound[self._first_name(v)] = shadow

    def is_kept(self, v: Var) -> bool:
        """Whether a loop carries a buffer without change."""
        return v in self.same

    def _first_name(self, v: Var) -> Var:
        while v in self.same:
            v = self.same[v]
        return v

    def shadow(self, v: Var) -> Arg:
        v = self._first_name(v)
        if v not in self.bound:
            self.bound[v] = self._make(v)
        return self.bound[v]

    def _make(self, v: Var) -> Arg:
        adjoint = self.adjoint
        view = self.views.get(v)
        if view is not None:
            owner = view.args[0]
            assert isinstance(owner, Var)
            base = self.shadow(owner)
            named = view.op.form == "hook"
            args = (base, *(adjoint.primal(a) for a in (() if named else view.args[1:])))
            made = Var(bar_name(v), v.kind, adjoint_hint(v))
            op, kwargs = VALUE if named else view.op, view.kwargs
            if op.function in _DIAGONALS:  # NumPy's own is for reading alone
                op = adjoint.function_op(support.writable_diagonal)
                kwargs = tuple(("offset" if name == "k" else name, arg) for name, arg in kwargs)
            adjoint.add(Let((made,), op, args, kwargs, "", adjoint.site))
        elif isinstance(v.kind, SequenceKind):
            made = adjoint.let(
                adjoint.function_op(support.zeros_of), adjoint.primal(v), kind=v.kind, name=bar_name(v)
            )
        else:
            made = adjoint.call(np.zeros_like, adjoint.primal(v))
            made.name = bar_name(v)
            made.hint = adjoint_hint(v) or made.hint
        adjoint._hole(made)
        return made

    # -- which classes are static ------------------------------------------------------------------

    def _classify(self, block: Block, later: set[Var], here: set[Var]) -> None:
        """`later`: variables from outside the block that are read after it; `here`: bound in the block."""
        for at, s in enumerate(block.body):
            after = later
            if not isinstance(s, Let):
                rest = Block(block.body[at + 1 :], block.yields)
                after = (later | reads(rest)) - {v for t in rest.body for v in (*bound(t), *_bound_inside(t))}
            if isinstance(s, Let):
                self._let(s)
            elif isinstance(s, For | While):
                self._loop(s, after, here)
            elif isinstance(s, If | Try):
                for out in s.outs:
                    self._not(out)
            for inner in blocks(s):
                self._classify(inner, after, here if isinstance(s, With) else set(_given(s)))
            here.update(bound(s))

    def _not(self, *vs: Arg) -> None:
        for arg in vs:
            for v in variables(arg):
                if self.adjoint.is_buffer(v):
                    self.dynamic.add(self.adjoint.aliases.of(v))

    def _let(self, s: Let) -> None:
        aliases = self.adjoint.aliases
        if s.op.form == "together":
            self._not(*s.outs)
            return
        for out in s.outs:
            if not self.adjoint.is_buffer(out):
                continue
            if isinstance(out.kind, SequenceKind) and isinstance(out.kind.element, SequenceKind):
                self._not(out)
            shared = [
                v
                for a in s.operands
                for v in variables(a)
                if aliases.of(v) == aliases.of(out) and not isinstance(v.kind, Number)
            ]
            if not shared:
                if s.op.form in ("pop",) or not isinstance(out.kind, Array | SequenceKind):
                    self._not(out)  # what may be a number has a shadow in the table, if it is an array
                continue  # memory of its own
            if (
                isinstance(s.args[0], Var)
                and shared[0] is s.args[0]
                and certainly_view(s)
                and isinstance(s.args[0].kind, Array)
                and isinstance(out.kind, Array)
            ):
                self.views[out] = s
            elif s.op.form == "value" and isinstance(out.kind, SequenceKind):
                if any(isinstance(v.kind, Array | SequenceKind) for v in shared):
                    self._not(out)
            elif not self._fresh(s):
                self._not(out)
        if (
            s.op.form == "method"
            and s.op.text in ("append", "insert")
            and self.adjoint.aliases.is_buffer_class(s.args[0])
        ):
            self._not(s.args[0])
        if (
            s.op.form == "store"
            and isinstance(arg_kind(s.args[0]), SequenceKind)
            and self.adjoint.aliases.is_buffer_class(s.args[0])
        ):
            self._not(s.args[0])

    def _fresh(self, s: Let) -> bool:
        """An operation whose result never shares memory, though its class says so (a loop joined them)."""
        return not self.adjoint.aliases._may_return_alias(s)

    def _loop(self, s: For | While, later: set[Var], here: set[Var]) -> None:
        """Carried buffers must be permuted among themselves, or replaced by memory made in the trip.

        `later`: variables from outside that are read after the loop; `here`: bound in the loop's own block.
        A buffer from outside a branch would have another shadow in that branch than beside it.
        """
        for param, init, out in zip(s.params, s.inits, s.outs, strict=False):
            if not self.adjoint.is_buffer(param):
                continue
            same_class = [
                (p, i, z)
                for p, i, z in zip(s.params, s.inits, s.body.yields, strict=False)
                if self.adjoint.aliases.of(p) == self.adjoint.aliases.of(param)
            ]
            arrays = isinstance(init, Var) and isinstance(init.kind, Array) and isinstance(param.kind, Array)
            if isinstance(init, Var) and arrays and all(p is z for p, _, z in same_class):
                self.same[param] = self.same[out] = init
                continue
            yields = [z for _, _, z in same_class]
            inits = [self._first_name(i) if isinstance(i, Var) else i for _, i, _ in same_class]
            params = {p for p, _, _ in same_class}
            fresh_inside = {
                v for b in blocks(s) for t in b.body if isinstance(t, Let) and self._fresh(t) for v in t.outs
            }
            ok = (
                all(isinstance(a, Var) and a is not UNBOUND for a in (*yields, *inits))
                and len(set(map(id, yields))) == len(yields)
                and len(set(map(id, inits))) == len(inits)
                and all(z in params or z in fresh_inside for z in yields)
                and isinstance(param.kind, Array)
                and all(isinstance(i, Var) and i not in self.views for i in inits)
                and all(i in here for _, i, _ in same_class)
            )
            # memory from outside that the body also reaches under another name would be met twice
            others = {
                v for v in _read_inside(s) - _bound_inside(s)
                if self.adjoint.aliases.of(v) == self.adjoint.aliases.of(param)
            } - {i for i in inits if isinstance(i, Var)}  # fmt: skip
            outside = {v for v in _read_inside(s) if v in {i for i in inits if isinstance(i, Var)}}
            # ... and memory from before that is read after the loop would be taken for what it was before
            old = {
                v for v in later - set(s.outs) if self.adjoint.aliases.of(v) == self.adjoint.aliases.of(param)
            }
            if not ok or others or outside or old:
                self._not(param, out)


_DIAGONALS = frozenset({np.diag, np.diagonal, support.writable_diagonal})
#: Functions whose result is a view of their first argument, and shows no element twice.
_CERTAIN_VIEWS = frozenset(
    {np.transpose, np.swapaxes, np.expand_dims, np.moveaxis, np.flip, np.flipud, np.fliplr,
    np.diagonal, support.writable_diagonal}
)  # fmt: skip


def certainly_view(s: Let) -> bool:
    """An operation whose result is always a view of its first argument, whatever the layout."""
    kind = arg_kind(s.args[0]) if s.args else UNKNOWN
    if not isinstance(kind, Array):
        return False
    if s.op.form == "index":
        return is_basic(s.args[1])
    if s.op.function is np.diag:  # of a vector it is a new matrix
        return len(kind.dims or ()) == 2
    if s.op.function in _CERTAIN_VIEWS:
        return True
    return s.op.form in ("value", "hook") and isinstance(s.args[0], Var)


def bar_name(v: Var) -> str:
    return f"{v.name}_bar" if v.name else ""


def _fills(kind: Any, x: Any) -> bool:
    """Whether an adjoint of one kind has the shape of a value of another (if nothing is known: taken so)."""
    a, b = dims_of(kind), dims_of(x)
    if a is None or b is None:
        return True
    sizes = list(zip(a, b, strict=False))
    equal = [(p is not None and p == q) or (_surely_not_one(p) and _surely_not_one(q)) for p, q in sizes]
    return len(a) == len(b) and all(equal)


def summed_axes(kind: Any, whole: Any) -> tuple[int, list[int]] | None:
    """How many leading axes to sum, and which axes to sum with keepdims; None if not known."""
    x, y = dims_of(kind), dims_of(whole)
    if x is None or y is None or len(x) > len(y):
        return None
    extra = len(y) - len(x)
    stretched: list[int] = []
    for i, (p, q) in enumerate(zip(x, y[extra:], strict=True)):
        if p == 1 and q != 1:
            if q is None or not _surely_not_one(q):
                return None
            stretched.append(i)
        elif (p is None or p != q) and not _surely_not_one(p):
            return None
    return extra, stretched


def _is_vector(kind: Any) -> bool:
    """A vector in double precision, of one size: less is added up more carefully by `np.sum`."""
    dims = dims_of(kind)
    return dims is not None and len(dims) == 1 and is_certain(dims[0]) and dtype_of(kind) in ("f8", "c16")


def _surely_not_one(size: Any) -> bool:
    from .kinds import is_not_one

    return is_not_one(size)


def _unbound_somewhere(block: Block) -> set[Var]:
    """Variables that some path leaves unbound."""
    found: set[Var] = set()
    for s in block.body:
        for inner in blocks(s):
            found |= _unbound_somewhere(inner)
        if isinstance(s, If | Try):
            ends = [s.then, s.orelse] if isinstance(s, If) else [s.body, *(h.block for h in s.handlers)]
            for i, out in enumerate(s.outs):
                if any(end.yields[i] is UNBOUND or end.yields[i] in found for end in ends):
                    found.add(out)
        elif isinstance(s, For | While):
            found.update(
                out for out, init in zip(s.outs, s.inits, strict=True) if init is UNBOUND or init in found
            )
    return found


def _given(s: Statement) -> tuple[Var, ...]:
    """What a loop binds for its body."""
    if isinstance(s, For):
        return (*s.params, s.index)
    return s.params if isinstance(s, While) else ()


def _bound_inside(s: Statement) -> set[Var]:
    """Everything bound by the statements inside, parameters and loop variables included."""
    within = bound_inside(Block((s,)))
    return within if isinstance(s, With) else within - set(bound(s))


def _outs(s: Statement) -> tuple[Var, ...]:
    return s.outs if isinstance(s, If | For | While | Try) else ()


def _read_inside(s: Statement) -> KeysView[Var]:
    """Variables read inside a statement (not its own inits), in order of first reading."""
    return dict.fromkeys(in_order(*blocks(s))).keys()


def INDEX_OF(target: Var, at: Arg) -> Var:
    """A variable of the kind of `target[at]`, for its kind alone."""
    from .infer import infer

    kind = infer(INDEX.function, (target, at), {})
    return Var("", kind if not isinstance(kind, tuple) else UNKNOWN)


def _plain(a: Any) -> bool:
    return not isinstance(a, Var | Const | Tup | Lst | Dct | Ref | Slc)


def _is_regular(rule: Rule, bound: dict[str, Any]) -> bool:
    """Whether the derivative of a power or quotient is finite wherever its value is.

    It is for a power of at least one. Of Python's own numbers, `1 / 0` and `0 ** -1` have raised.
    """
    x, y = bound.get("x"), bound.get("y")
    if not isinstance(x, Var | Const) or not isinstance(y, Var | Const):
        return False
    if np.power in rule.functions:
        if isinstance(y, Const) and isinstance(y.value, int | float):
            return y.value >= 1 or (isinstance(y.value, int) and _is_pythons(arg_kind(x)))
        return is_integer(arg_kind(y)) and _is_pythons(arg_kind(x))
    return np.divide in rule.functions and _is_pythons(arg_kind(y))


def _is_pythons(kind: Any) -> bool:
    return isinstance(kind, Number) and kind.weak


def _map(a: Any, f: Callable[[Arg], Arg]) -> Any:
    if isinstance(a, tuple):
        return tuple(f(x) for x in a)
    return a if _plain(a) else f(a)


_NO_FRAME: Any = Frame(None)  # type: ignore[arg-type]
