"""Folding: which temporaries are written back into the expression that reads them.

In: a function's IR. Out: `Folds`, which tells for a variable the statement that is to stand in its place.

    t = x * 2; y = np.sin(t)       ->      y = np.sin(x * 2)

A temporary is folded if it is read once, in the same block, if it is pure, and if nothing is written to
the memory that it reads between the two. Names that the user gave stay names where they are in the user's own
statement.
"""

from __future__ import annotations

from .analyses.aliases import immutable
from .ir import (
    Arg,
    Block,
    Const,
    For,
    Function,
    If,
    Let,
    Statement,
    Try,
    Tup,
    Var,
    While,
    blocks,
    operands,
    variables,
    walk,
)
from .optimise.memory import memory_of

#: Deeper expressions than this are broken up by a name.
DEEPEST = 7


class Folds:
    def __init__(self, function: Function) -> None:
        self._definitions: dict[Var, Let | If] = {}
        self._folded: set[int] = set()
        self._depth: dict[Var, int] = {}
        self._made: dict[Var, Statement] = {}  # what may be folded, by the value
        self._counts: dict[Var, int] = {}
        self._kept: set[Var] = set()  # what the body of a `try` computes before it saves or yields anything
        self._marks: set[int] = set()
        self.memory = memory_of(function)
        self._count(function.body)
        self._mark_reverse(function.body)
        self._block(function.body)

    def definition(self, v: Var) -> Let | If | None:
        """What stands in place of a variable, or None if it keeps a name."""
        return self._definitions.get(v)

    def is_folded(self, s: Statement) -> bool:
        return id(s) in self._folded

    def is_read(self, v: Var) -> bool:
        return bool(self._counts.get(v))

    def is_reverse(self, s: Statement) -> bool:
        """Whether a statement belongs to the reverse sweep."""
        return id(s) in self._marks

    # -- which statements belong to the reverse sweep ----------------------------------------------

    def _mark_reverse(self, block: Block) -> None:
        reverse = False
        for s in block.body:
            if isinstance(s, Let) and s.op.form == "enter":
                reverse = True
            if reverse:
                self._mark(s)

    def _mark(self, s: Statement) -> None:
        self._marks.add(id(s))
        for inner in blocks(s):
            for each in walk(inner):
                self._marks.add(id(each))

    # -- counting ----------------------------------------------------------------------------------

    def _count(self, block: Block) -> None:
        for s in block.body:
            if isinstance(s, Try):
                self._kept.update(_last_of(s.body))
            for arg in operands(s):
                self._add(arg)
            for inner in blocks(s):
                self._count(inner)
        for arg in block.yields:
            self._add(arg)

    def _add(self, arg: Arg) -> None:
        for v in variables(arg):
            self._counts[v] = self._counts.get(v, 0) + 1

    # -- folding -----------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        """Go through the statements with the candidates that may still move down to their reader."""
        pending: dict[Var, Let | If] = {}
        for s in block.body:
            if isinstance(s, Let) and s.op.form == "enter":
                continue
            for inner in blocks(s):
                self._block(inner)
            for arg in operands(s):
                self._take(arg, pending, s)
            if _is_barrier(s):
                pending = {v: d for v, d in pending.items() if self._is_still(v) or self._is_apart(v, s)}
            candidate = self._candidate(s)
            if candidate is not None:
                self._made[candidate] = s
                pending[candidate] = s  # type: ignore[assignment]
        for arg in block.yields:
            self._take(arg, pending, None)

    def _take(self, arg: Arg, pending: dict[Var, Let | If], reader: Statement | None) -> None:
        for v in variables(arg):
            definition = pending.pop(v, None)
            if definition is None:
                continue
            if v.name and not self._continues(v, definition, reader):
                continue
            if _is_target(v, reader) and not (
                isinstance(definition, Let) and definition.op.form in ("index", "attribute")
            ):
                continue
            depth = 1 + max(
                (self._depth.get(x, 0) for a in _operands(definition) for x in variables(a)), default=0
            )
            if depth > DEEPEST and not isinstance(definition, If):
                continue
            self._definitions[v] = definition
            self._folded.add(id(definition))
            self._depth[v] = depth

    def _is_still(self, v: Var) -> bool:
        """Whether a value can be computed after a write to memory as well: from numbers and shapes alone."""
        if v.name:
            return False
        definition = self._pure(v)
        if definition is None or not immutable(v.kind):
            return False
        if definition.op.form == "shape":
            return True
        parts = [x for arg in definition.operands for x in variables(arg)]
        return definition.op.form == "operator" and all(
            immutable(x.kind) and (x not in self._definitions or self._is_still(x)) for x in parts
        )

    def _is_apart(self, v: Var, write: Statement) -> bool:
        """Whether what is written to is certainly no memory that a value is computed from."""
        if not isinstance(write, Let) or write.op.form not in ("store", "augment") or v.name:
            return False
        if not isinstance(write.args[0], Var) or self._pure(v) is None:
            return False
        return self.memory.of(write.args[0]) not in self._memory_read(v)

    def _memory_read(self, v: Var) -> set[Var]:
        """The classes of memory that a value is computed from, and may be."""
        found = set() if immutable(v.kind) else {self.memory.of(v)}
        definition = self._pure(v)
        for x in variables(Tup(definition.operands)) if definition is not None else ():
            if x in self._definitions:
                found |= self._memory_read(x)
            elif not immutable(x.kind):
                found.add(self.memory.of(x))
        return found

    def _pure(self, v: Var) -> Let | None:
        made = self._made.get(v)
        return made if isinstance(made, Let) and not made.effect else None

    def _candidate(self, s: Statement) -> Var | None:
        if isinstance(s, If):
            plain = len(s.outs) == 1 and all(self.is_folded(t) for b in (s.then, s.orelse) for t in b.body)
            if not plain or self._counts.get(s.outs[0]) != 1:
                return None
            simple = all(not isinstance(y, Tup) for b in (s.then, s.orelse) for y in b.yields)
            bound = all(
                y.name != "unbound" for b in (s.then, s.orelse) for y in b.yields if isinstance(y, Var)
            )
            return s.outs[0] if simple and bound and not s.outs[0].name else None
        if not isinstance(s, Let) or s.effect or len(s.outs) != 1:
            return None
        v = s.out
        if v in self._kept or self._counts.get(v) != 1:
            return None
        if v.name and s.op.form != "value" and not self.is_reverse(s):
            return None
        if s.op.form == "value" and not self._is_trivial(s):
            return None
        return v

    def _continues(self, v: Var, definition: Let | If, reader: Statement | None) -> bool:
        """Whether a named value only begins another of its name: `x_bar = a; x_bar = x_bar + b`."""
        return (
            isinstance(reader, Let)
            and reader.op.form == "operator"
            and [each.name for each in reader.outs] == [v.name]
            and isinstance(definition, Let)
            and definition.op.form in ("operator", "call")
        )

    def _is_trivial(self, s: Let) -> bool:
        return s.op.form == "value" and all(isinstance(a, Var | Const) for a in s.args) and not s.out.name


def _last_of(body: Block) -> list[Var]:
    """What the body of a `try` saves and yields at its end: all of it, or nothing if an exception comes."""
    pushes = [s.args[1] for s in body.body if isinstance(s, Let) and s.op.form == "push"]
    return [v for v in (*pushes, *body.yields) if isinstance(v, Var)]


def _is_target(v: Var, reader: Statement | None) -> bool:
    """Whether a statement assigns to `v` or a part of it: a call cannot stand there."""
    forms = ("store", "put", "augment", "delete")
    return isinstance(reader, Let) and reader.op.form in forms and reader.args[0] is v


def _operands(s: Let | If) -> tuple[Arg, ...]:
    return s.operands if isinstance(s, Let) else (s.condition, *s.then.yields, *s.orelse.yields)


def _is_barrier(s: Statement) -> bool:
    """A statement past which reads of memory must not move."""
    if isinstance(s, Let):
        return s.effect == "write" or (s.effect == "io" and s.op.form not in ("push", "enter"))
    return isinstance(s, For | While) or any(_is_barrier(t) for b in blocks(s) for t in b.body)
