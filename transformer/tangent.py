"""The tangent: each statement of an IR function is followed by the one that carries its derivative forward.

In: an IR function, and the variables whose tangents are given. Out: `Tangent.sweep()`: the function's
statements with tangent statements among them, and its result's tangent.

    y = np.sin(x)        y_dot = x_dot * np.cos(x)
    a[i] = y             a_dot[i] = y_dot

The tangent of a value is `x_dot`, of its shape and dtype. Memory that is written to has tangent memory of the
same layout: every store, view and second name of it is mirrored, so no alias is ever looked for. Lists have
lists of tangents. Complex tangents are never conjugated: `z_dot` is dz/dt.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..runtime import support as _support
from ..runtime import support_memory, support_tangent
from ..runtime.rule import NoRule, Rule, lookup
from .analyses.activity import Activity
from .analyses.aliases import WRITES_FIRST, Aliases, draws_random
from .analyses.choices import chosen_from, is_mask, zero_by_choice
from .errors import AdjoinError, Code, Where
from .infer import arg_kind
from .ir import (
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
    Handler,
    If,
    Let,
    Lst,
    Op,
    Ref,
    Statement,
    Try,
    Tup,
    Var,
    While,
    With,
    variables,
    walk,
)
from .kinds import (
    UNKNOWN,
    Array,
    Container,
    Kind,
    Number,
    Opaque,
    Sparse,
    Unknown,
    dims_of,
    dtype_of,
    home_of,
    is_real,
    same_shape,
)
from .kinds import Sequence as SequenceKind
from .lowering.generated import TANGENTS_TOGETHER, passed_together, together
from .lowering.reader import Reader
from .lowering.splice import read_body, splice

ELLIPSIS = Const(Ellipsis)
ZERO = Const(0.0)
COPY = Op("method", "copy", np.copy)

#: Rules of the general kind that are linear in each operand on its own, which reads better written out.
_MULTILINEAR = frozenset({np.einsum})

#: Operations with a finite value where the tangent is infinite.
_STEEP = frozenset({np.sqrt, np.cbrt, np.power, np.arcsin, np.arccos, np.arccosh, np.arctan2, np.hypot})

#: Operations whose result is memory of its own or a view, depending on the layout of what they are given.
_DEPENDS_ON_LAYOUT = frozenset(
    {
        np.reshape,
        np.ravel,
        np.asarray,
        np.asanyarray,
        np.ascontiguousarray,
        np.asfortranarray,
        np.require,
        np.astype,
    }
)


class Tangent(Reader):
    """Builds the statements, first to last."""

    def __init__(
        self, function: Function, dots: Mapping[Var, Var], independent: Iterable[Var], reader: Reader
    ) -> None:
        """
        Args:
            dots: for parameters of the function, the parameter that is its tangent.
            independent: the variables that carry a tangent from outside: leaves of those parameters.
        """
        super().__init__()
        self.numpy = reader.numpy
        self.instances, self.root_name = reader.instances, reader.root_name
        self.splicing = True
        self.ir = function
        self.aliases = Aliases(function)
        self.activity = Activity(function, set(independent), self.aliases)
        self.dots: dict[Var, Arg] = dict(dots)
        self.holed: set[Var] = set()  # tangents that may hold zeros by structure
        self.written: set[Var] = set()  # tangents that may show memory that is written to later
        self.infinite: set[Var] = set()  # tangents that may be infinite where the value is not taken
        self._by_layout = self._classes_by_layout()

    def sweep(self, value: Arg) -> tuple[list[Statement], Arg]:
        """The statements, and the tangent of an operand in its structure; None where there is none."""
        with self.block() as statements:
            for v in (*self.ir.params, *self.ir.free):
                if v not in self.dots and self.activity.active(v):
                    self._bind(v, self._zero(v))
            self._statements(self.ir.body)
            self.site = None
            dot = self.of_result(value)
        return statements, dot

    # -- tangents of operands ----------------------------------------------------------------------

    def of(self, arg: Arg) -> Arg:
        """The tangent of an operand, zeros of its structure if it has none."""
        if isinstance(arg, Tup):
            return Tup(tuple(self.of(item) for item in arg.items), arg.cls)
        if isinstance(arg, Lst):
            return Lst(tuple(self.of(item) for item in arg.items))
        if isinstance(arg, Dct):
            return Dct(tuple((key, self.of(item)) for key, item in arg.items), arg.cls)
        if not isinstance(arg, Var):
            return ZERO
        if arg is UNBOUND:
            return UNBOUND
        if not self.activity.active(arg):
            return self._zero(arg)
        assert arg in self.dots, f"{arg!r} has no tangent yet"
        return self.dots[arg]

    def of_result(self, arg: Arg) -> Arg:
        """As `of`, with None for what has no tangent (integers, strings)."""
        if isinstance(arg, Tup):
            return Tup(tuple(self.of_result(item) for item in arg.items), arg.cls)
        if isinstance(arg, Lst):
            return Lst(tuple(self.of_result(item) for item in arg.items))
        if isinstance(arg, Dct):
            return Dct(tuple((key, self.of_result(item)) for key, item in arg.items), arg.cls)
        return self.of(arg) if arg_kind(arg).differentiable and not isinstance(arg, Ref) else Const(None)

    def _zero(self, v: Var) -> Arg:
        if isinstance(v.kind, Number):
            return ZERO
        zero: Arg
        if isinstance(v.kind, Array):
            zero = self.zeros_like(v)
        else:
            zero = self.let(_helper(support_memory.zeros_of), v, kind=v.kind)
        self.holed.update(variables(zero))
        return zero

    def _bind(self, v: Var, dot: Arg) -> None:
        """`dot` is the tangent of `v` from here on."""
        self.dots[v] = dot
        if self.aliases.is_buffer(v):
            self.written.update(variables(dot))
        if isinstance(dot, Var) and not dot.name and v.name:
            dot.name = dot_name(v)

    # -- statements --------------------------------------------------------------------------------

    def _statements(self, block: Block) -> None:
        for s in block.body:
            self.site = s.site
            if isinstance(s, Let):
                self._let(s)
            elif isinstance(s, If):
                self._if(s)
            elif isinstance(s, For | While):
                self._loop(s)
            elif isinstance(s, Try):
                self._try(s)
            else:
                self._with(s)

    def _let(self, s: Let) -> None:
        self.add(s)
        form = s.op.form
        if form in ("index", "attribute") and isinstance(arg_kind(s.args[0]), Container):
            self._part(s)
        elif form in ("store", "augment"):
            self._store(s)
        elif form == "together":
            self._together(s)
        elif form == "user":
            self._call_user(s)
        elif s.effect == "write" or form == "delete":
            self._write(s)
        elif not any(self.activity.active(out) for out in s.outs):
            return
        elif form == "index":
            self._index(s)
        elif form == "value":
            self._value(s)
        elif form == "inplace":
            self._inplace(s)
        else:
            self._operation(s)

    def _part(self, s: Let) -> None:
        """A part of an argument: the tangent is the same part of the argument's tangent."""
        whole = s.args[0]
        if (
            isinstance(whole, Var)
            and whole in self.dots
            and (isinstance(s.out.kind, Container) or self.activity.active(s.out))
        ):
            self._bind(s.out, self.let(s.op, self.dots[whole], *s.args[1:], kind=s.out.kind))
        elif self.activity.active(s.out):
            self._bind(s.out, self._zero(s.out))

    def _together(self, s: Let) -> None:
        """Copies of arguments that share memory: so do their tangents; what one moves, the others show."""
        if not any(self.activity.active(out) for out in s.outs):
            return
        given = passed_together(s)
        moving = Tup(tuple(self.of(a) if self.activity.any_active(a) else Const(None) for a in given))
        made = together(TANGENTS_TOGETHER, (Tup(s.outs), moving), s.outs)
        self.add(made)
        for out, dot in zip(s.outs, made.outs, strict=True):
            dot.name = ""
            self._bind(out, dot)

    def _call_user(self, s: Let) -> None:
        """A call of a function of the module: its tangent function gives the value as well."""
        *results, _ = s.outs
        active = [out for out in results if self.activity.active(out)]
        if not active:
            return
        instance = s.op.function
        wanted = [a for p, a in zip(instance.params, s.args, strict=False) if p.kind.differentiable]
        dots = tuple(Var(dot_name(out), out.kind) for out in results)
        self.statements.pop()
        op = Op("user_tangent", f"{instance.name}_jvp", instance)
        self.add(Let((*results, *dots), op, (*s.args, *(self.of(a) for a in wanted)), (), s.effect, s.site))
        mark = len(self.statements) - 1
        for out, dot in zip(results, dots, strict=True):
            if self.activity.active(out):
                self._bind(out, self._own(dot, out, mark) if self.aliases.is_buffer(out) else dot)

    def _value(self, s: Let) -> None:
        source = s.args[0]
        if isinstance(source, Var) and self.activity.active(source):
            self._bind(s.out, self.of(source))
        else:
            self._bind(s.out, self.let(VALUE, self.of(source), kind=s.out.kind))

    def _index(self, s: Let) -> None:
        x, index = s.args
        if isinstance(x, Var) and not self.activity.active(x):
            self._bind(s.out, self._zero(s.out))
            return
        dot = self.let(INDEX, self.of(x), index, kind=s.out.kind)
        if self.aliases.is_buffer(s.out) and not self._shares(s):
            dot = self._own(dot, s.out, len(self.statements) - 1)
        self._bind(s.out, dot)

    def _shares(self, s: Let) -> bool:
        """Whether the result of a statement may share memory with what it is given."""
        return self.aliases._may_return_alias(s)

    def _store(self, s: Let) -> None:
        target, index, value = s.args
        if not (isinstance(target, Var) and self.activity.active(target)):
            return
        if not self.activity.any_active(value) and s.op.form == "augment":
            return
        dot = self.of(value)
        if isinstance(arg_kind(target), SequenceKind) or dot == ZERO or s.op.form == "augment":
            self.do(s.op, self.of(target), index, dot, effect="write")
        else:
            self.do(STORE, self.of(target), index, self._real(dot, target), effect="write")

    def _write(self, s: Let) -> None:
        """Other statements that change memory: list methods, `np.add.at`, `del`."""
        target = s.args[0]
        if not any(self.activity.active(v) for v in variables(target)):
            return
        assert isinstance(target, Var)
        if s.op.function in WRITES_FIRST:
            if self.activity.any_active(s.args[2]):
                self.do(s.op, self.of(target), s.args[1], self.of(s.args[2]), effect="write")
            return
        if not isinstance(target.kind, SequenceKind):
            self.refuse_at(
                s, Code.MUTATION, f"`{s.op.text or s.op.form}` changes an array in a way that is not followed"
            )
        name = s.op.text if s.op.form == "method" else s.op.form
        if name == "append":
            self.do(s.op, self.of(target), self.of(s.args[1]), effect="write")
        elif name == "insert":
            self.do(s.op, self.of(target), s.args[1], self.of(s.args[2]), effect="write")
        elif name == "pop":
            dot = self.let(s.op, self.of(target), *s.args[1:], kind=s.out.kind, effect="write")
            if self.activity.active(s.out):
                self._bind(s.out, dot)
        elif name in ("reverse", "clear", "delete"):
            self.do(s.op, self.of(target), *s.args[1:], effect="write")
        else:
            self.refuse_at(s, Code.MUTATION, f"list.{name} on active values is not followed")

    def _inplace(self, s: Let) -> None:
        """`a += b` of what may be an array or a number: the tangent is changed in the same way."""
        if s.op.text not in "+-":
            self.refuse_at(s, Code.MUTATION, "an augmented assignment to what may or may not be an array",
                           f"write x = x {s.op.text} y, or make its kind known")  # fmt: skip
        x, y = s.args
        self._bind(s.out, self.let(s.op, self.of(x), self.of(y), kind=s.out.kind, effect=s.effect))

    def refuse_at(self, s: Statement, code: Code, reason: str, rewrite: str = "") -> None:
        raise AdjoinError(code, reason, where=Where.of(s.site) if s.site else None, rewrite=rewrite or None)

    # -- operations with a rule --------------------------------------------------------------------

    def _operation(self, s: Let) -> None:
        rule = lookup(s.op.function) if s.op.function is not None else None
        if s.op.function is list:  # a copy of a list
            self._bind(s.out, self.let(s.op, *(self.of(a) for a in s.args), kind=s.out.kind))
            return
        if draws_random(s) and not any(map(self.activity.any_active, s.operands)):
            self._bind_results(s, [self._zero(out) for out in s.outs], 0)
            return
        if rule is None:
            self.refuse_at(
                s,
                Code.NO_RULE,
                f"no rule yet for `{s.op.text}`",
                "add a rule, or use operations that have one",
            )
        assert rule is not None
        if rule.signature is None:
            self._bind_results(s, [self._zero(out) for out in s.outs], 0)
            return
        try:
            bound = rule.bind(s.args, dict(s.kwargs))
            rule.check_options({name: arg.value for name, arg in bound.items() if isinstance(arg, Const)})
        except NoRule as error:
            self.refuse_at(s, Code.NO_RULE_FOR_OPTION, str(error), "leave the option out")
        active = [n for n in rule.wrt if n in bound and self._any_active(bound[n])]
        for name in bound:
            if name not in rule.wrt and name not in rule.steps and self._any_active(bound[name]):
                self.refuse_at(
                    s,
                    Code.NO_RULE_FOR_OPTION,
                    f"the rule of {rule.name} has no derivative in `{name}`",
                    "keep it constant, with stop_gradient, or add a rule",
                )
        mark = len(self.statements)
        if not active:
            results = [self._zero(out) for out in s.outs]
        elif rule.kind == "elementwise":
            with self.block() as statements:
                results = [self._elementwise(s, rule, active, bound)]
            self._add_quietly(statements, s, rule, active, bound, results[0])
        elif rule.kind in ("linear", "multilinear") or s.op.function in _MULTILINEAR:
            results = self._linear(s, rule, active)
        else:
            results = self._general(s, rule, active, bound)
        self._bind_results(s, results, mark)

    def _add_quietly(
        self,
        statements: list[Statement],
        s: Let,
        rule: Rule,
        active: list[str],
        bound: dict[str, Any],
        dot: Arg,
    ) -> None:
        """Statements of a tangent that may be infinite where the value is finite, and is perhaps not taken.

        There, NumPy does not warn of the value, and so not of the tangent.
        """
        steep = bool(_STEEP.intersection(rule.functions)) and not _is_polynomial(rule, bound)
        given = {v for name in active for v in variables(self.of(bound[name]))}
        if not isinstance(s.out.kind, Array) or not (steep or given & self.infinite):
            self.statements.extend(statements)
            return
        self.infinite.update(variables(dot))
        if s.out not in self._chosen_from:
            self.statements.extend(statements)
            return
        quiet = {"divide": Const("ignore"), "invalid": Const("ignore")}
        manager = self.let(self.function(np.errstate), kind=Opaque(None), options=quiet)
        self.add(With(manager, None, Block(tuple(statements)), s.site))

    def _where_taken(self, g: Arg, rule: Rule, name: str, bound: dict[str, Any]) -> Arg:
        """The tangent of a factor that may be infinite, where the other factor is not zero by choice."""
        if np.multiply not in rule.functions or not isinstance(g, Var) or g not in self.infinite:
            return g
        (other,) = (arg for n, arg in bound.items() if n != name)
        if not is_mask(other) and other not in self._zero_by_choice:
            return g
        return self.call(np.where, self.binary("==", other, Const(0)), Const(0), g)  # type: ignore[no-any-return]

    @functools.cached_property
    def _zero_by_choice(self) -> set[Var]:
        return zero_by_choice(self.ir)

    @functools.cached_property
    def _chosen_from(self) -> set[Var]:
        return chosen_from(self.ir)

    def _bind_results(self, s: Let, results: list[Arg], mark: int) -> None:
        for out, dot in zip(s.outs, results, strict=True):
            if not self.activity.active(out):
                continue
            if not self._shares(s):
                if self.aliases.is_buffer(out):
                    dot = self._own(dot, out, mark)
                elif isinstance(out.kind, Array | Unknown) and any(v in self.written for v in variables(dot)):
                    dot = self._copied(dot, out)
            self._bind(out, dot)

    def _any_active(self, arg: Any) -> bool:
        parts = arg if isinstance(arg, tuple) else (arg,)
        return any(self.activity.any_active(a) for a in parts if is_arg(a))

    def _elementwise(self, s: Let, rule: Rule, active: list[str], bound: dict[str, Any]) -> Arg:
        """The body, with the operand's tangent for the adjoint of the result."""
        total: Arg | None = None
        for name in active:
            operand = bound[name]
            g = self._where_taken(self.of(operand), rule, name, bound)
            (term,) = splice(self, rule, [name], g, self._safe(rule, [name], [g], s.out, bound), bound)
            term = self.arg(term)
            total = term if total is None else self._sum(total, term)
        assert total is not None
        arrays = [a for a in s.operands if not isinstance(arg_kind(a), Number)]
        shaped = len(active) == 1 and arrays == [bound[active[0]]]
        return self._fit(total, s.out, shaped)

    def _linear(self, s: Let, rule: Rule, active: list[str]) -> list[Arg]:
        """The operation itself: on tangents alone, or with one operand after the other replaced."""
        places = self._places(s, rule)
        every = [p for name in rule.wrt if name in places for p in places[name]]
        if rule.kind == "linear":
            changes = [every]
        else:
            changes = [[p] for name in active for p in places[name] if self.activity.any_active(_at(s, p))]
        op = COPY if s.op.text == support_memory.writable_copy.__name__ else s.op
        total: list[Arg] = []
        for change in changes:
            args = tuple(self.of(a) if i in change else a for i, a in enumerate(s.args))
            kwargs = {k: self.of(a) if k in change else a for k, a in s.kwargs}
            kinds = tuple(out.kind for out in s.outs)
            made = self.let(op, *args, kind=kinds if len(kinds) > 1 else kinds[0], options=kwargs)
            terms = list(made.items) if len(kinds) > 1 else [made]
            total = [self.binary("+", x, y) for x, y in zip(total, terms, strict=True)] if total else terms
        return total

    def _sum(self, total: Arg, term: Arg) -> Arg:
        """`total + term`; `total - t` where the term is the `-t` just made."""
        last = self.statements[-1] if self.statements else None
        if isinstance(last, Let) and term in last.outs and last.op.form == "operator" and last.op.text == "-":
            if len(last.args) == 1:
                self.statements.pop()
                return self.binary("-", total, last.args[0])
        return self.binary("+", total, term)

    def _added(self, total: Arg, term: Arg) -> Arg:
        """The sum of two tangents of a result, part by part where it is a tuple; None is none."""
        if isinstance(total, Tup) and isinstance(term, Tup):
            return Tup(tuple(self._added(x, y) for x, y in zip(total.items, term.items, strict=True)))
        if Const(None) in (total, term):
            return term if total == Const(None) else total
        return self._sum(total, term)

    def _places(self, s: Let, rule: Rule) -> dict[str, list[int | str]]:
        """For each parameter of the rule, the positions and keywords of the statement that give it."""
        assert rule.signature is not None
        options = {k: k for k, _ in s.kwargs if k in rule.signature.parameters}  # `like` is none of its own
        bound = rule.signature.bind(*range(len(s.args)), **options).arguments
        return {name: list(p) if isinstance(p, tuple) else [p] for name, p in bound.items()}

    def _general(self, s: Let, rule: Rule, active: list[str], bound: dict[str, Any]) -> list[Arg]:
        """The rule's own tangent."""
        if rule.jvp_body is None:
            self.refuse_at(
                s, Code.NO_RULE, f"no tangent rule yet for `{s.op.text}`", "use grad, or give the rule a jvp"
            )
        given = {
            n: self._dot_of_parameter(bound[n]) if n in active else Const(None)
            for n in rule.wrt
            if n in bound
        }
        dots = [given.get(name, Const(None)) for name in rule.wrt]
        out: Arg = s.outs[0] if len(s.outs) == 1 else Tup(s.outs)
        operands = self._safe(rule, active, dots, out, bound)
        keep = [rule.wrt.index(name) for name in active]
        found = read_body(self, rule.jvp_body, [*dots, operands.pop("out")], rule, operands, keep)
        terms = [self.arg(term) for term in found]
        if len(s.outs) == 1:
            total = terms[0]
            for term in terms[1:]:
                total = self._added(total, term)
            return [total if isinstance(s.out.kind, SequenceKind) else self._fit(total, s.out, shaped=False)]
        results: list[Arg] = []
        for i, each in enumerate(s.outs):
            parts = [t.items[i] if isinstance(t, Tup | Lst) else self.index(t, Const(i)) for t in terms]
            total = parts[0]
            for part in parts[1:]:
                total = self.binary("+", total, part)
            results.append(self._fit(total, each, shaped=False))
        return results

    def _dot_of_parameter(self, operand: Any) -> Arg:
        if isinstance(operand, tuple):  # of `*operands`: None where there is no tangent
            return Tup(tuple(self.of(a) if self.activity.any_active(a) else Const(None) for a in operand))
        return self.of(operand)

    def _safe(
        self, rule: Rule, active: list[str], dots: list[Arg], out: Arg, bound: dict[str, Any]
    ) -> dict[str, Any]:
        """The rule's arguments; where the tangent is zero by structure, safe values instead."""
        plain: dict[str, Any] = {"out": out, **bound}
        given = [g for g in dots if isinstance(g, Var)]
        if (
            rule.safe is None
            or not given
            or not all(g in self.holed for g in given)
            or _is_polynomial(rule, bound)
        ):
            return plain
        untaken = self.binary("==", given[0], Const(0))
        for g in given[1:]:
            untaken = self.binary("&", untaken, self.binary("==", g, Const(0)))
        safe = Const(rule.safe)
        for name in sorted(rule.needs(active)):
            arg = plain[name]
            if not isinstance(arg, Var) or not arg.kind.differentiable:
                continue
            if isinstance(arg.kind, Number) and isinstance(arg_kind(untaken), Number):
                plain[name] = self.choose(untaken, lambda: safe, lambda arg=arg: arg)  # type: ignore[misc]
            elif isinstance(arg.kind, Array | Number):
                plain[name] = self.call(np.where, untaken, safe, arg)
        return plain

    def let(self, op: Op, *args: Arg, options: Mapping[str, Arg] | None = None, **kwargs: Any) -> Any:
        """As the builder's; what is computed from tangents with holes has holes."""
        rule = lookup(op.function) if options and op.function is not None else None
        if options and rule is not None and rule.signature is not None:
            known = rule.signature.parameters
            options = {k: a for k, a in options.items() if k not in known or a != Const(known[k].default)}
        result = super().let(op, *args, options=options, **kwargs)
        if op.function is np.where or any(
            v in self.holed or (isinstance(v.kind, Array) and v.kind.dtype == "b1")
            for a in args
            for v in variables(a)
        ):
            self.holed.update(variables(result))
        if any(v in self.written for a in args for v in variables(a)) and not self._is_fresh(
            Let((), op, args)
        ):
            self.written.update(v for v in variables(result) if not isinstance(v.kind, Number))
        return result

    # -- shape, dtype and memory -------------------------------------------------------------------

    def _fit(self, dot: Arg, out: Var, shaped: bool) -> Arg:
        """A tangent in the shape and dtype of its value; `shaped`: the shape is known to be right."""
        have = arg_kind(dot)
        if isinstance(out.kind, Sparse):
            return dot  # an array beside the entries
        if isinstance(out.kind, Number):
            return self._real(dot, out) if isinstance(have, Number) else self._like(dot, out)
        if not isinstance(out.kind, Array):
            return self._like(dot, out)
        if dot == ZERO:
            return self.zeros_like(out)
        same = isinstance(have, Array) and (
            shaped or same_shape(have, out.kind) or _same_dims(have, out.kind)
        )
        if not isinstance(have, Array | Number) or (dims_of(out.kind) is None and not same):
            return self._like(dot, out)
        if not same and home_of(out.kind) and not home_of(have):
            dot = self.call(np.full_like, out, dot)
        elif not same:
            shape = self.let(Op("attribute", "shape"), out, kind=UNKNOWN)
            dot = self.call(np.broadcast_to, dot, shape)
            assert isinstance(dot, Var)
            dtype = dtype_of(have) if isinstance(have, Array) else None
            if isinstance(have, Number):
                dtype = "f8" if have.weak and is_real(have) else have.dtype
            dot.kind = Array(dtype, out.kind.dims, home_of(have))
        return self._real(dot, out)

    def _like(self, dot: Arg, out: Var) -> Arg:
        return self.let(_helper(support_tangent.tangent_like), dot, out, kind=out.kind)  # type: ignore[no-any-return]

    def _real(self, dot: Arg, out: Var) -> Arg:
        """In the dtype of `out`."""
        have, want = dtype_of(arg_kind(dot)), dtype_of(out.kind)
        if have == want or isinstance(dot, Const):
            return dot
        if isinstance(out.kind, Number) and have is not None and want is not None and is_real(arg_kind(dot)):
            return dot
        if (want is not None and want[0] == "i") or (
            isinstance(arg_kind(dot), Number) and is_real(arg_kind(dot))
        ):
            return dot
        return self.let(_helper(_support.real_if_real), dot, out, kind=_with_dtype(arg_kind(dot), out.kind))  # type: ignore[no-any-return]

    def _own(self, dot: Arg, out: Var, mark: int) -> Arg:
        """A tangent in memory that nothing else shows, because it will be written to."""
        if not isinstance(out.kind, Array):
            return self.let(_helper(support_tangent.own_tangent), dot, out, kind=out.kind)  # type: ignore[no-any-return]
        made = next(
            (
                t
                for t in self.statements[mark:]
                if isinstance(t, Let) and isinstance(dot, Var) and dot in t.outs
            ),
            None,
        )
        if made is not None and self._is_fresh(made) and self.aliases.of(out) not in self._by_layout:
            if dot is not None and (
                _same_dims(arg_kind(dot), out.kind) or same_shape(arg_kind(dot), out.kind)
            ):
                return dot
        if made is not None and made.op.function is np.zeros_like:
            return dot
        zeros = self.call(np.zeros_like, out)
        self.holed.update(variables(zeros))
        if dot != ZERO:
            self.do(STORE, zeros, ELLIPSIS, dot, effect="write")
        return zeros  # type: ignore[no-any-return]

    def _copied(self, dot: Arg, out: Var) -> Arg:
        """A tangent as it is now, because what it shows will be written to."""
        if isinstance(arg_kind(dot), Array):
            return self.let(COPY, dot)  # type: ignore[no-any-return]
        return self.let(_helper(support_tangent.own_tangent), dot, out, kind=out.kind)  # type: ignore[no-any-return]

    def _is_fresh(self, s: Let) -> bool:
        if s.op.ref is not None and s.op.ref.imports == "support":
            return False  # it may give back what it is given
        return s.op.form != "value" and not self.aliases._may_return_alias(s)

    def _classes_by_layout(self) -> set[Var]:
        """Memory of which the layout decides what shares it."""
        return {
            self.aliases.of(out)
            for s in walk(self.ir.body)
            if isinstance(s, Let) and s.op.function in _DEPENDS_ON_LAYOUT
            for out in s.outs
            if self.aliases.is_buffer(out)
        }

    # -- control flow ------------------------------------------------------------------------------

    def _active_outs(self, outs: tuple[Var, ...]) -> list[int]:
        return [i for i, out in enumerate(outs) if self.activity.active(out)]

    def _ends(self, block: Block, active: list[int], last: int = 0, seen_after: bool = False) -> Block:
        """A block with the tangents of what it yields; the `last` yields stay last.

        `seen_after`: what the block binds is seen by statements after it.
        """
        before = dict(self.dots)
        with self.block() as statements:
            self._statements(block)
            found = [self.of(block.yields[i]) for i in active]
        if not seen_after:
            self.dots = before
        plain = block.yields[: len(block.yields) - last]
        return Block(tuple(statements), (*plain, *found, *block.yields[len(plain) :]))

    def _bind_outs(
        self, outs: tuple[Var, ...], active: list[int], ends: Iterable[tuple[Arg, ...]]
    ) -> tuple[Var, ...]:
        """Tangents of what a statement binds; `ends` are the tangents that each path gives them."""
        made = tuple(Var(dot_name(outs[i]), outs[i].kind) for i in active)
        for i, dot in zip(active, made, strict=True):
            self._bind(outs[i], dot)
        for end in ends:
            self.holed.update(dot for dot, given in zip(made, end, strict=True) if self._has_holes(given))
        return made

    def _has_holes(self, dot: Arg) -> bool:
        return dot == ZERO or any(v in self.holed for v in variables(dot))

    def _if(self, s: If) -> None:
        active = self._active_outs(s.outs)
        then, orelse = (self._ends(b, active) for b in (s.then, s.orelse))
        ends = [b.yields[len(s.outs) :] for b in (then, orelse)]
        self.add(replace(s, then=then, orelse=orelse, outs=(*s.outs, *self._bind_outs(s.outs, active, ends))))

    def _loop(self, s: For | While) -> None:
        if isinstance(s, For) and self.activity.active(s.index):
            self.refuse_at(s, Code.UNSUPPORTED_SYNTAX, "a loop over something active, no array or list",
                           "loop over positions: for i in range(len(xs))")  # fmt: skip
        active = [
            i for i, p in enumerate(s.params) if self.activity.active(p) or self.activity.active(s.outs[i])
        ]
        inits = tuple(self.of(s.inits[i]) for i in active)
        ends = [inits]
        while True:  # until it is known which tangents have holes at the start of a later trip
            params = self._bind_outs(s.params, active, ends)
            before = dict(self.dots)
            test = self._ends(s.test, [], seen_after=True) if isinstance(s, While) else None
            body = self._ends(s.body, active, last=1 if s.stops else 0)
            end = body.yields[len(s.params) : len(s.params) + len(active)]
            self.dots = before
            if all(p in self.holed for p, dot in zip(params, end, strict=True) if self._has_holes(dot)):
                break
            ends.append(end)
        outs = self._bind_outs(s.outs, active, [params])
        carried: dict[str, Any] = {"params": (*s.params, *params), "inits": (*s.inits, *inits)}
        if test is not None:
            carried["test"] = test
        self.add(replace(s, body=body, outs=(*s.outs, *outs), **carried))

    def _try(self, s: Try) -> None:
        active = self._active_outs(s.outs)
        body = self._ends(s.body, active)
        handlers = tuple(Handler(h.types, h.name, self._ends(h.block, active)) for h in s.handlers)
        ends = [b.yields[len(s.outs) :] for b in (body, *(h.block for h in handlers))]
        made = (*s.outs, *self._bind_outs(s.outs, active, ends))
        self.add(replace(s, body=body, handlers=handlers, outs=made))

    def _with(self, s: With) -> None:
        """What is bound inside is seen after it, and so are the tangents."""
        with self.block() as statements:
            self._statements(s.body)
        self.add(replace(s, body=Block(tuple(statements), s.body.yields)))


#: Keywords of `let` that are not those of the operation.
_NOT_OPTIONS = frozenset({"name", "kind", "effect"})


def _without_defaults(op: Op, options: dict[str, Arg]) -> dict[str, Arg]:
    """Options of an operation that are not what they would be anyway."""
    rule = lookup(op.function) if options and op.function is not None else None
    if rule is None or rule.signature is None:
        return options
    known = rule.signature.parameters
    return {
        k: a
        for k, a in options.items()
        if not (k in known and isinstance(a, Const) and a == Const(known[k].default))
    }


def dot_name(v: Var) -> str:
    return f"{v.name}_dot" if v.name else ""


def _is_polynomial(rule: Rule, bound: dict[str, Any]) -> bool:
    """A power whose derivative is finite everywhere."""
    exponent = bound.get("y")
    return (
        np.power in rule.functions
        and isinstance(exponent, Const)
        and not isinstance(exponent.value, complex)
        and exponent.value >= 1
    )


def is_arg(value: Any) -> bool:
    """Whether something that a rule bound is an operand, not the default of an option."""
    return isinstance(value, Var | Const | Tup | Lst | Dct | Ref)


def _at(s: Let, place: int | str) -> Arg:
    return s.args[place] if isinstance(place, int) else dict(s.kwargs)[place]


def _same_dims(a: Kind, b: Kind) -> bool:
    """Whether two shapes are certainly the same."""
    x, y = dims_of(a), dims_of(b)
    return x is not None and x == y and None not in x


def _with_dtype(kind: Kind, like: Kind) -> Kind:
    if isinstance(kind, Array) and isinstance(like, Array):
        return replace(kind, dtype=like.dtype)
    return like


def _helper(function: Any) -> Op:
    return Op("call", function.__name__, function, Ref(function, function.__name__, "support"))
