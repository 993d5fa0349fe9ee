"""Checkpoints: a marked loop or call becomes a function of the generated module, to be run again in reverse.

In: an IR function with loops that have `snapshots` and calls between marks. Out: the same function, in which
each is a call: of `run_checkpointed` with the loop's body as a function, or of the marked function itself.
What they save for the reverse sweep is a few states, and the arguments.

    for t in checkpointed(range(n), snapshots=5):
        u[1:] += k * u[:-1]

becomes

    u_after, checkpoints = run_checkpointed(f_step, range(n), 5, (u,), (k,), written=(0,))
    u[...] = u_after

The function gets what is read inside as parameters, and returns what it has changed: carried values, and
arrays that it writes to. So arrays from outside are parts of the state, and are copied where that is kept.
"""

from __future__ import annotations

import builtins
import itertools
import keyword
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ..runtime import support_checkpoint as support
from .analyses.activity import Activity
from .analyses.aliases import CHECKS, Aliases, immutable, is_basic
from .errors import AdjoinError, Code, Where
from .ir import (
    STORE,
    UNBOUND,
    VALUE,
    Arg,
    Block,
    Callee,
    Const,
    For,
    Function,
    Let,
    Op,
    Ref,
    Site,
    Statement,
    Tup,
    Var,
    While,
    blocks,
    bound,
    bound_inside,
    in_order,
    operands,
    reads,
    rebuild,
    substitute,
    variables,
    walk,
)
from .kinds import Array, Container, Opaque
from .kinds import Sequence as SequenceKind
from .lowering.instances import Instance
from .lowering.reader import Reader
from .optimise.dead import eliminate_dead
from .private import privatise

RUN = Op(
    "call",
    "run_checkpointed",
    support.run_checkpointed,
    Ref(support.run_checkpointed, "run_checkpointed", "support"),
)
OVERLAP = Op(
    "call", "refuse_overlap", support.refuse_overlap, Ref(support.refuse_overlap, "refuse_overlap", "support")
)


@dataclass(eq=False)
class Rerun(Instance):
    """What is run again.

    Attributes:
        function: as it is called in the forward sweep.
        again: the function that is differentiated: it returns those results that carry adjoints.
        wanted: the parameters of `again` that adjoints are wanted of.
        changed: which of the results carry adjoints.
        read: which of what is only read.
    """

    again: Function | None = None
    wanted: tuple[Var, ...] = ()
    changed: tuple[int, ...] = ()
    read: tuple[int, ...] = ()


def without_marks(function: Function) -> Function:
    """The function with nothing to be run again."""

    def plain(block: Block) -> Block:
        body = [s for s in block.body if not _is_mark(s)]
        return Block(tuple(unmarked(s) for s in body), block.yields)

    def unmarked(s: Statement) -> Statement:
        s = rebuild(s, plain)
        return replace(s, snapshots=None) if isinstance(s, For) else s

    return replace(function, body=plain(function.body)) if _has_marks(function) else function


def extract(function: Function, independent: Iterable[Var], reader: Reader) -> Function:
    """Make functions of what is marked.

    Args:
        independent: the variables that are differentiated by.
        reader: has the functions of the module so far; new ones are added.

    Raises:
        AdjoinError: for what cannot be run again.
    """
    if not _has_marks(function):
        return function
    return _Extraction(function, set(independent), reader).run()


def _is_mark(s: Statement) -> bool:
    return isinstance(s, Let) and s.op.form == "checkpoint"


def _has_marks(function: Function) -> bool:
    return any(_is_mark(s) or (isinstance(s, For) and s.snapshots is not None) for s in walk(function.body))


class _Extraction:
    def __init__(self, function: Function, independent: set[Var], reader: Reader) -> None:
        self.function = function
        self.reader = reader
        self.aliases = Aliases(function)
        self.activity = Activity(function, independent, self.aliases)
        self.reads = _count(function.body)
        self.made = {v: s for s in walk(function.body) if isinstance(s, Let) for v in s.outs}
        self.holders: list[tuple[Statement | None, Block, int]] = []  # where we are, outermost first

    def run(self) -> Function:
        return replace(self.function, body=self._block(self.function.body, None))

    def _block(self, block: Block, holder: Statement | None) -> Block:
        body: list[Statement] = []
        at = 0
        while at < len(block.body):
            s = block.body[at]
            self.holders.append((holder, block, at))
            if isinstance(s, Let) and _is_mark(s):
                until = next(
                    i
                    for i, t in enumerate(block.body)
                    if isinstance(t, Let) and _is_mark(t) and t.op.function is s.op.function and i > at
                )
                body.extend(_Region(self, s, block.body[at + 1 : until]).statements())
                at = until
            elif isinstance(s, For) and s.snapshots is not None:
                body.extend(_Loop(self, s).statements())
            else:
                body.append(rebuild(s, lambda b, s=s: self._block(b, s)))  # type: ignore[misc]
            self.holders.pop()
            at += 1
        return Block(tuple(body), block.yields)

    def shows(self, v: Var, other: Var) -> bool:
        """Whether one of two values is certainly a view of the other, or the other itself."""
        return other in self._owners(v) or v in self._owners(other)

    def _owners(self, v: Var) -> list[Var]:
        """The value, what it is a view of, what that is a view of..."""
        found = [v]
        while (s := self.made.get(found[-1])) is not None and s.op.form in ("index", "value"):
            if not isinstance(s.args[0], Var) or (s.op.form == "index" and not is_basic(s.args[1])):
                break
            found.append(s.args[0])
        return found

    def read_later(self) -> tuple[set[Var], set[Var]]:
        """What may be read after the statement that we are at, and what is bound after it."""
        read: set[Var] = set()
        later: set[Var] = set()
        for holder, block, at in reversed(self.holders):
            rest = Block(block.body[at + 1 :], block.yields)
            read |= reads(rest)
            later |= bound_inside(rest) | (set() if holder is None else set(bound(holder)))
            if isinstance(holder, For | While):
                inner = blocks(holder)
                read |= set().union(*map(reads, inner)) - bound_inside(Block((holder,)))
        return read, later


class _Part:
    """Statements that become a function: what they read and change."""

    def __init__(
        self,
        outer: _Extraction,
        site: Site | None,
        body: tuple[Statement, ...],
        yields: tuple[Arg, ...],
        own: tuple[Var, ...],
    ) -> None:
        """
        Args:
            yields: the results that the statements have by themselves.
            own: what the function gets besides what the statements read.
        """
        self.outer, self.site = outer, site
        block = Block(body, yields)
        inside = bound_inside(block) | set(own)
        self.entries = [v for v in in_order(block) if v not in inside and v is not UNBOUND]
        self.new = _parameters([*own, *self.entries])
        self.body = self._renamed(block)
        self.params = tuple(self.new.values())
        self.aliases = Aliases(Function("", self.params, Block(self.body.body, (Tup(self.body.yields),))))
        for s in walk(self.body):
            self._check(s)
        for v in self.params:
            if self.aliases.of(v) in self.aliases.grown and not immutable(v.kind):
                self.refuse(
                    f"the list {v.name!r} from outside is changed in what is to be run again",
                    "store into an array made before",
                )
        #: arrays from outside that the statements write to
        self.memory = [v for v in self.entries if not immutable(v.kind) and self.is_written(self.new[v])]
        for v in self.memory:
            if not isinstance(v.kind, Array):
                self.refuse(
                    f"{v.name!r} is written to in what is to be run again, and may be no array",
                    "make its kind known",
                )
        self.fixed = [v for v in self.entries if v not in self.memory]

    def is_written(self, param: Var) -> bool:
        return self.aliases.of(param) in self.aliases.written

    def _renamed(self, block: Block) -> Block:
        def swap(arg: Arg) -> Arg:
            return substitute(arg, lambda v: self.new.get(v, v))

        body = tuple(rebuild(s, self._renamed, swap) for s in block.body)
        return Block(body, tuple(swap(y) for y in block.yields))

    def refuse(
        self, reason: str, rewrite: str, code: Code = Code.MUTATION, site: Site | None = None
    ) -> NoReturn:
        where = site or self.site
        raise AdjoinError(code, reason, where=Where.of(where) if where else None, rewrite=rewrite)

    def _check(self, s: Statement) -> None:
        """Refuse what would be done twice."""
        harmless = ("assert", "raise", "touch", "unpack", "push", "pop", "checkpoint")
        if not isinstance(s, Let) or s.op.form in harmless or s.op.function in CHECKS:
            return
        outside = s.op.form == "method" and isinstance(s.args[0], Var) and isinstance(s.args[0].kind, Opaque)
        if s.effect == "io" or s.op.form == "set" or (s.effect and outside):
            self.refuse(
                f"`{s.op.text}` would be done a second time when this is run again",
                "draw random numbers and print outside of what is checkpointed",
                Code.UNSUPPORTED_SYNTAX,
                s.site,
            )

    def overlaps(self, arrays: list[Var], params: list[Var]) -> list[Statement]:
        """A look when the program runs, where what is written to may not be memory of its own."""
        of = self.outer.aliases.of
        counts = Counter(of(v) for v in arrays if not immutable(v.kind))
        shared = [counts[of(v)] > 1 and not immutable(v.kind) for v in arrays]
        pairs = list(zip(arrays, params, shared, strict=True))
        written = tuple(v for v, p, s in pairs if s and self.is_written(p))
        others = tuple(v for v, p, s in pairs if s and not self.is_written(p))
        for v, other in itertools.product(written, (*written, *others)):
            if (v is not other and self.outer.shows(other, v)) or arrays.count(v) > 1:
                self.refuse(
                    f"{v.name!r} is written to in what is to be run again, and used as {other.name!r} too",
                    "use one name of the array inside",
                )
        if not written:
            return []
        return [Let((), OVERLAP, (Tup(written), Tup(others)), (), "io", self.site)]

    def stored(self, results: list[Var]) -> list[Statement]:
        """What was written to arrays from outside, put there."""
        return [
            Let((), STORE, (v, Const(Ellipsis), new), (), "write", self.site)
            for v, new in zip(self.memory, results, strict=True)
        ]

    def make(
        self, name: str, params: tuple[Var, ...], result: Arg, again: Arg, wanted: tuple[Var, ...]
    ) -> Rerun:
        """The function, plain and as it is differentiated: with the results that carry adjoints."""
        reader = self.outer.reader
        name = _fresh(name, reader)
        plain, differentiated = (Function(name, params, Block(self.body.body, (y,))) for y in (result, again))
        made = Rerun(name, params, function=without_marks(plain), wanted=wanted)
        reader.instances["rerun", name] = made
        private = privatise(eliminate_dead(differentiated))
        made.again = extract(private, wanted, reader)
        return made


class _Loop(_Part):
    """A checkpointed loop: its body is a step from state to state."""

    def __init__(self, outer: _Extraction, loop: For) -> None:
        self.loop, self.names = _without_second_names(loop)
        loop = self.loop
        super().__init__(
            outer, loop.site, loop.body.body, loop.body.yields[: len(loop.params)], (loop.index, *loop.params)
        )

    def statements(self) -> list[Statement]:
        s, active = self.loop, self.outer.activity.active
        self._refuse()
        params = [*(self.new[v] for v in s.params), *(self.new[v] for v in self.memory)]
        start = [*s.inits, *self.memory]
        after = [Var(v.name, v.kind, f"{v.name}_after") for v in self.memory]
        outs = [*s.outs, *after]
        results = (*self.body.yields, *(self.new[v] for v in self.memory))
        changed = tuple(
            i for i, pair in enumerate([*zip(s.params, s.outs, strict=True), *((v, v) for v in self.memory)])
            if any(map(active, pair))
        )  # fmt: skip
        if not changed:
            return [*without_marks(Function("", (), Block((s,)))).body.body, *self.names]
        if active(s.index):
            self.refuse(
                "a loop over something active that is no array or list",
                "loop over positions: for i in range(len(xs))",
                Code.UNSUPPORTED_SYNTAX,
            )
        read = tuple(i for i, v in enumerate(self.fixed) if active(v))
        fixed = [self.new[v] for v in self.fixed]
        wanted = (*(params[i] for i in changed), *(fixed[i] for i in read))
        again = Tup((*(results[i] for i in changed), *(fixed[i] for i in read)))
        made = self.make(
            f"{self.outer.function.name}_step",
            (self.new[s.index], *params, *fixed),
            Tup(results),
            again,
            wanted,
        )
        made.changed, made.read = changed, read
        saved = Var("checkpoints", Opaque(tuple))
        arrays = [i for i, v in enumerate(outs) if i >= len(s.outs) or self.outer.aliases.is_buffer(v)]
        options = (("written", Tup(tuple(Const(i) for i in arrays))),) if arrays else ()
        known = [v for v in start if isinstance(v, Var)]
        look = self.overlaps(
            [*known, *self.fixed],
            [*(p for p, v in zip(params, start, strict=True) if isinstance(v, Var)), *fixed],
        )
        assert s.snapshots is not None
        args: tuple[Arg, ...] = (
            Ref(Callee(made), made.name),
            s.iterable,
            s.snapshots,
            Tup(tuple(start)),
            Tup(tuple(self.fixed)),
        )
        return [
            *look,
            Let((*outs, saved), RUN, args, options, _effect(self.body), s.site),
            *self.stored(after),
            *self.names,
        ]

    def _refuse(self) -> None:
        s, aliases = self.loop, self.outer.aliases
        if s.stops:
            self.refuse(
                "a checkpointed loop is left by break or return",
                "loop over all of it, and let a flag or np.where decide",
                Code.UNSUPPORTED_SYNTAX,
            )
        for p, init, out in zip(s.params, s.inits, s.outs, strict=True):
            if init is UNBOUND:
                self.refuse(
                    f"{p.name!r} is bound in a checkpointed loop only, and read after it or in a later trip",
                    "bind it before",
                    Code.UNSUPPORTED_SYNTAX,
                )
            if isinstance(p.kind, SequenceKind | Container):
                self.refuse(
                    f"a checkpointed loop carries the list {p.name!r}", "store into an array made before"
                )
            written = not immutable(p.kind) and self.is_written(self.new[p])
            if written and not isinstance(p.kind, Array):
                self.refuse(
                    f"{p.name!r} is written to in a checkpointed loop, and may be no array",
                    "make its kind known",
                )
            if written:
                self._refuse_other_names(p, init, out)
        owned = {self.aliases.of(v) for v in self.fixed_params()}
        seen: set[Var] = set()
        results = [*zip(s.outs, self.body.yields, strict=True), *((v, self.new[v]) for v in self.memory)]
        for out, y in results:
            if not aliases.is_buffer(out):
                continue
            classes = {self.aliases.of(v) for v in variables(y) if not immutable(v.kind)}
            if classes & (owned | seen):
                self.refuse(
                    f"{out.name!r} may show memory of another array after a trip of a checkpointed loop",
                    "copy it: x = y.copy()",
                )
            seen |= classes

    def fixed_params(self) -> list[Var]:
        return [self.new[v] for v in self.fixed if not immutable(v.kind)]

    def _refuse_other_names(self, param: Var, init: Arg, out: Var) -> None:
        """The loop works on copies: who still had the memory of a carried array would see it unchanged."""
        read, later = self.outer.read_later()
        of = self.outer.aliases.of
        found = [v for v in read - later - set(self.loop.outs) if not immutable(v.kind) and of(v) is of(out)]
        if found:
            name = min(v.name for v in found)
            self.refuse(
                f"a checkpointed loop writes to {param.name!r}, whose memory is read after it as {name!r}",
                f"give the loop memory of its own: {param.name or 'x'} = {param.name or 'x'}.copy()",
            )


class _Region(_Part):
    """A call of a checkpointed function, read in place: statements between two marks."""

    def __init__(self, outer: _Extraction, begin: Let, body: tuple[Statement, ...]) -> None:
        self.name = begin.op.text.partition(" ")[2]
        inner = _count(Block(body))
        mine = [v for s in body for v in bound(s)]
        self.outs = [v for v in mine if outer.reads[v] > inner[v]]
        self.plain = body
        super().__init__(outer, begin.site, body, tuple(self.outs), ())

    def statements(self) -> list[Statement]:
        active = self.outer.activity.active
        self._refuse()
        after = [Var(v.name, v.kind, f"{v.name}_after") for v in self.memory]
        outs = (*self.outs, *after)
        changed = tuple(i for i, v in enumerate([*self.outs, *self.memory]) if active(v))
        if not changed:
            return list(without_marks(Function("", (), Block(self.plain))).body.body)
        read = tuple(i for i, v in enumerate(self.entries) if active(v))
        results = (*self.outs, *(self.new[v] for v in self.memory))
        wanted = tuple(self.new[self.entries[i]] for i in read)
        result = results[0] if len(results) == 1 else Tup(results)
        made = self.make(self.name, self.params, result, Tup(tuple(results[i] for i in changed)), wanted)
        made.changed, made.read = changed, read
        assert made.function is not None
        made.function = privatise(made.function)
        look = self.overlaps(self.entries, list(self.params))
        call = Let(
            outs, Op("call", made.name, Callee(made)), tuple(self.entries), (), _effect(self.body), self.site
        )
        return [*look, call, *self.stored(after)]

    def _refuse(self) -> None:
        theirs = {self.aliases.of(p) for p in self.params if not immutable(p.kind)}
        seen: set[Var] = set()
        for v in self.outs:
            if isinstance(v.kind, SequenceKind | Container):
                self.refuse(
                    f"the checkpointed function {self.name} returns a list",
                    "return arrays, or a tuple of them",
                )
            if immutable(v.kind) or not self.outer.aliases.is_buffer(v):
                continue
            if self.aliases.of(v) in theirs | seen:
                self.refuse(
                    f"{self.name} may return an argument, or one array twice, that is written to",
                    "return copies",
                )
            seen.add(self.aliases.of(v))


def _without_second_names(loop: For) -> tuple[For, list[Statement]]:
    """The loop without carried values that stay what they are (as in `u *= 2`), and their names after it."""
    same = [
        i for i, p in enumerate(loop.params)
        if loop.body.yields[i] is p and isinstance(loop.inits[i], Var) and loop.inits[i] is not UNBOUND
    ]  # fmt: skip
    first = {loop.params[i]: loop.inits[i] for i in same}

    def swap(arg: Arg) -> Arg:
        return substitute(arg, lambda v: first.get(v, v))

    def renamed(block: Block) -> Block:
        return Block(
            tuple(rebuild(s, renamed, swap) for s in block.body), tuple(swap(y) for y in block.yields)
        )

    def rest(parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(x for i, x in enumerate(parts) if i not in same)

    body = renamed(replace(loop.body, yields=rest(loop.body.yields)))
    names: list[Statement] = [Let((loop.outs[i],), VALUE, (loop.inits[i],), (), "", loop.site) for i in same]
    return replace(
        loop, params=rest(loop.params), inits=rest(loop.inits), outs=rest(loop.outs), body=body
    ), names


def _parameters(values: list[Var]) -> dict[Var, Var]:
    """A parameter for each value, with a name of its own."""
    taken: Counter[str] = Counter(v.name or v.hint for v in values)
    taken[""] = 2
    found: dict[Var, Var] = {}
    for v in values:
        name, n = v.name or v.hint, 0
        while taken[name] > 1:
            n += 1
            name = f"{v.name or v.hint or 'a'}_{n}"
            taken[name] += 1
        found[v] = Var(name, v.kind)
    return found


def _effect(block: Block) -> str:
    """What checks its values is done in any case."""
    forms = {s.op.form for s in walk(block) if isinstance(s, Let)}
    checks = not forms.isdisjoint({"assert", "raise", "touch", "unpack"})
    return "io" if checks else ""


def _fresh(name: str, reader: Reader) -> str:
    """A name for a function of the module that neither Python nor a helper nor another function has."""
    base = name if name.isidentifier() and not keyword.iskeyword(name) else "inner"
    used = {reader.root_name, *(i.name for i in reader.instances.values())}
    n, result = 1, base
    while result in used or any(map(_is_taken, (result, f"{result}_forward", f"{result}_adjoint"))):
        n += 1
        result = f"{base}_{n}"
    return result


def _is_taken(name: str) -> bool:
    helpers = (m for path, m in list(sys.modules.items()) if path.startswith(_HELPERS))
    return hasattr(builtins, name) or any(hasattr(m, name) for m in helpers)


#: How the paths of the modules begin whose functions a generated module may carry.
_HELPERS = support.__name__.removesuffix("_checkpoint")


def _count(block: Block) -> Counter[Var]:
    """How often each variable is read."""
    found: Counter[Var] = Counter(v for y in block.yields for v in variables(y))
    for s in block.body:
        found.update(v for arg in operands(s) for v in variables(arg))
        for inner in blocks(s):
            found.update(_count(inner))
    return found


__all__ = ["Rerun", "extract", "without_marks"]
