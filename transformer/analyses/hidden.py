"""Hidden flows: active values that go into objects which nobody follows, and come out of them again.

In: an IR function and its activity. Out: nothing, or the refusal of the statement where such a value went in.

    q = collections.deque()
    q.append(x)              # x is hidden in q ...
    return q[0] * 2.0        # ... and comes out with no adjoint: `q.append(x)` is refused

Activity follows values of kinds that can carry an adjoint. This is the watch over the rest: strings, sets,
arrays of records, attributes of the user's objects, and whatever an unknown call may have put away. It is
coarse in the direction of refusing; an object that is only written to, such as a log, is no reason to refuse.
"""

from __future__ import annotations

from typing import Any

from ...runtime.rule import lookup
from ...runtime.rules.methods import ATTRIBUTES
from ...runtime.support import unbroadcast
from ..infer import arg_kind
from ..ir import COMPARISONS, Arg, Block, Const, For, Function, Let, Statement, Var, While, blocks, variables
from ..kinds import Array, Container, Opaque, Sequence
from .activity import LOOKS, Activity, differentiable_operands, edges
from .aliases import WRITES_FIRST, immutable, is_rerun

#: Forms that look at a value, or leave only what nothing can be computed from.
_BLIND = frozenset(
    {"shape", "assert", "raise", "delete", "touch", "unpack", "log", "put"}
    | {"user", "together", "declare", "checkpoint"}
)
#: Functions that write a number out: it can be read back from what they return.
_SPELL = frozenset({str, repr, format})


class Hidden:
    """Where active values went into what is not followed: by variable, by memory, or by attribute."""

    def __init__(self, function: Function, activity: Activity) -> None:
        self.activity = activity
        self.places: dict[Any, Let] = {}
        self.found: Let | None = None  # the statement to refuse
        self._block(function.body)
        for y in function.body.yields:
            if isinstance(y, Var) and not y.kind.differentiable:
                self.found = self.found or self._source([y])

    def _block(self, block: Block) -> None:
        for s in block.body:
            self._statement(s)

    def _statement(self, s: Statement) -> None:
        if isinstance(s, Let):
            self._let(s)
            return
        for _ in range(2 if isinstance(s, For | While) else 1):  # what one trip hides, the next may meet
            self._edges(s)
            for inner in blocks(s):
                self._block(inner)
        self._edges(s)

    def _edges(self, s: Statement) -> None:
        for target, sources in edges(s):
            source = self._source(sources)
            if source is not None:
                self._comes_out(target, source)

    def _let(self, s: Let) -> None:
        if any(self._in_elements(s, v) for arg in s.operands for v in variables(arg)):
            self.found = self.found or s
        if s.op.form in _BLIND or is_rerun(s) or _gives_places(s):
            return
        if s.op.form == "set":
            key = self._attribute(s)
            if any(self.activity.is_varied(v) for v in variables(s.args[1])):
                self.places[key] = s
            return
        if s.op.form == "attribute" and isinstance(arg_kind(s.args[0]), Container):
            source = self.places.get(self._attribute(s))
        else:
            operands = _operands(s)
            source = self._source(operands)
            if source is None and any(self.activity.is_varied(v) for v in operands):
                self._goes_in(s)
        if source is not None:
            for out in (*s.outs, *_written(s)):
                self._comes_out(out, source)

    def _in_elements(self, s: Let, v: Var) -> bool:
        """Whether an array of records or objects holds something varied, stored here or through a view."""
        if not isinstance(v.kind, Array) or not ((v.kind.dtype or "?")[0] in "OV" or _names_a_field(s, v)):
            return False
        stored = (
            s.op.form == "store"
            and s.args[0] is v
            and any(map(self.activity.is_varied, variables(s.args[2])))
        )
        return stored or self.activity.is_varied_memory(v)

    def _goes_in(self, s: Let) -> None:
        """A statement that takes varied values: what of it can hold them without an adjoint?"""
        for out in s.outs:
            if _holds(out):
                self.places[self._place(out)] = s
        if _may_put_away(s):
            for v in (v for arg in s.operands for v in variables(arg)):
                if not immutable(v.kind):
                    self.places.setdefault(self._place(v), s)
        if s.op.form == "store":
            for v in variables(s.args[0]):
                if _holds(v):
                    self.places.setdefault(self._place(v), s)

    def _comes_out(self, out: Var, source: Let) -> None:
        if _holds(out):
            self.places.setdefault(self._place(out), source)
        elif self.activity.is_useful(out):
            self.found = self.found or source

    def _source(self, operands: list[Var]) -> Let | None:
        return next((self.places[p] for p in map(self._place, operands) if p in self.places), None)

    def _place(self, v: Var) -> Any:
        return v if immutable(v.kind) else self.activity.aliases.of(v)

    def _attribute(self, s: Let) -> Any:
        """An attribute of a user's object, by the object and the name."""
        (obj,) = variables(s.args[0]) or (None,)
        return (self.activity.aliases.of(obj) if isinstance(obj, Var) else None, s.op.text)


def _names_a_field(s: Let, v: Var) -> bool:
    """Whether a statement reads or stores `v["name"]` of an array whose dtype is not known."""
    if s.op.form not in ("index", "store") or s.args[0] is not v:
        return False
    at = s.args[1]
    return any(isinstance(i, Const) and isinstance(i.value, str) for i in getattr(at, "items", (at,)))


def _written(s: Let) -> list[Var]:
    """The memory that a statement of a known form writes to."""
    known = s.op.form in ("store", "augment", "inplace") or (s.op.form == "method" and s.effect == "write")
    return list(variables(s.args[0])) if known or s.op.function in WRITES_FIRST else []


def _holds(v: Var) -> bool:
    """Whether a value of this kind may contain a number although it carries no adjoint."""
    if isinstance(v.kind, Array):
        return v.kind.dtype is not None and v.kind.dtype[0] not in "fcbiuO"
    return isinstance(v.kind, Opaque | Sequence) and not v.kind.differentiable


def _may_put_away(s: Let) -> bool:
    """Whether a call may keep what it is given in one of the objects that it is given."""
    if s.effect != "io" or s.op.form not in ("call", "method"):
        return False
    try:
        return s.op.function not in LOOKS and (s.op.function is None or lookup(s.op.function) is None)
    except TypeError:
        return True


def _operands(s: Let) -> list[Var]:
    """What a statement computes with; shapes, comparisons and positions tell nothing of the numbers."""
    form, function = s.op.form, s.op.function
    if form == "operator" and s.op.text in COMPARISONS:
        return []
    if form == "attribute" and function is None:
        metadata = ATTRIBUTES.get(s.op.text, s) is None
        return [] if metadata else list(variables(s.args[0]))
    if form == "index" and isinstance(arg_kind(s.args[0]), Opaque):  # an object that may do anything
        return [v for arg in s.operands for v in variables(arg)]
    args: list[Arg] = (
        list(s.operands) if form == "fstring" or _spells(function) else differentiable_operands(s)
    )
    return [v for arg in args for v in variables(arg)]


def _gives_places(s: Let) -> bool:
    """A helper of `support` that says where in an array something is: `flat_places`, `shape_at`..."""
    home = getattr(s.op.function, "__module__", None) or ""
    return home.startswith(unbroadcast.__module__) and all(isinstance(v.kind, Opaque) for v in s.outs)


def _spells(function: Any) -> bool:
    try:
        return function in _SPELL or getattr(function, "__name__", "") in ("tobytes", "dumps")
    except TypeError:
        return False


__all__ = ["Hidden"]
