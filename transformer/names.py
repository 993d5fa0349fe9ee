"""Names: from values that are bound once back to Python variables.

In: a function's IR and which variables are folded away. Out: `Names`, a name per variable: what the user
calls it, as long as no other value that is alive at the same time has that name; with a number otherwise.

A value carried by a loop shares one name in all its roles (before, inside, after) where that is possible, so
that `s = s * a` comes out again as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable

from .fold import Folds
from .ir import (
    UNBOUND,
    Arg,
    Block,
    For,
    Function,
    If,
    Let,
    Statement,
    Try,
    Var,
    While,
    With,
    bound,
    bound_inside,
    operands,
    variables,
)


class Names:
    def __init__(self, function: Function, folds: Folds, taken: set[str]) -> None:
        self._folds = folds
        self._taken = taken
        self._order: dict[Var, None] = {}
        self._conflicts: dict[Var, set[Var]] = {}
        self._names: dict[Var, str] = {}
        self._merges: list[tuple[Var, Var]] = []
        for v in function.params + function.free:
            self._define(v)
        self._collect(function.body)
        live = set(self._reads(function.body.yields))
        live = self._block(function.body, live)
        for p in function.params + function.free:
            self._clash(p, live | set(function.params) | set(function.free))
        self._assign(function)

    def __getitem__(self, v: Var) -> str:
        return self._names[v]

    def __contains__(self, v: Var) -> bool:
        return v in self._names

    # -- what is read, through folded expressions --------------------------------------------------

    def _reads(self, args: Iterable[Arg]) -> Iterable[Var]:
        for arg in args:
            for v in variables(arg):
                folded = self._folds.definition(v)
                if folded is None:
                    if v is not UNBOUND:
                        yield v
                elif isinstance(folded, Let):
                    yield from self._reads(folded.operands)
                else:
                    yield from self._reads((folded.condition, *folded.then.yields, *folded.orelse.yields))

    def _define(self, v: Var) -> None:
        self._order.setdefault(v)
        self._conflicts.setdefault(v, set())

    def _collect(self, block: Block) -> None:
        """All variables that keep a name, in order, and which would best share one."""
        for s in block.body:
            if isinstance(s, Let | If) and self._folds.is_folded(s):
                continue
            if isinstance(s, Let):
                if s.op.form != "declare":
                    for v in s.outs:
                        self._define(v)
                    if s.op.form == "value" and isinstance(s.args[0], Var) and s.args[0].name == s.out.name:
                        self._merges.append((s.out, s.args[0]))
                continue
            if isinstance(s, For | While):
                for p, init, y, out in zip(s.params, s.inits, s.body.yields, s.outs, strict=False):
                    self._define(p)
                    self._define(out)
                    self._merges += [
                        (p, a) for a in (init, y, out) if isinstance(a, Var) and a is not UNBOUND
                    ]
                if isinstance(s, For):
                    self._define(s.index)
                    self._collect(s.body)
                else:
                    self._collect(s.test)
                    self._collect(s.body)
                if s.trips is not None and self._folds.is_read(s.trips):
                    self._define(s.trips)
            elif isinstance(s, If):
                for out, a, b in zip(s.outs, s.then.yields, s.orelse.yields, strict=True):
                    self._define(out)
                    self._merges += [(out, x) for x in (a, b) if isinstance(x, Var) and x is not UNBOUND]
                self._collect(s.then)
                self._collect(s.orelse)
            elif isinstance(s, Try):
                for i, out in enumerate(s.outs):
                    self._define(out)
                    every = [s.body, *(h.block for h in s.handlers)]
                    self._merges += [
                        (out, y)
                        for b in every
                        for y in (b.yields[i],)
                        if isinstance(y, Var) and y is not UNBOUND
                    ]
                self._define(s.path)
                self._collect(s.body)
                for h in s.handlers:
                    if h.name is not None:
                        self._define(h.name)
                    self._collect(h.block)
            else:
                if s.name is not None:
                    self._define(s.name)
                self._collect(s.body)

    # -- liveness ----------------------------------------------------------------------------------

    def _clash(self, v: Var, live: Iterable[Var]) -> None:
        mine = self._conflicts.get(v)
        if mine is None:
            return
        for other in live:
            if other is not v and other in self._conflicts:
                mine.add(other)
                self._conflicts[other].add(v)

    def _bind(self, targets: Iterable[Var], live: set[Var]) -> None:
        """Targets are bound together: they clash with what is live after, and with one another."""
        targets = list(targets)
        for v in targets:
            self._clash(v, live | set(targets))

    def _block(self, block: Block, live: set[Var]) -> set[Var]:
        """What is live before a block, given what is live after it and its yields."""
        for s in reversed(block.body):
            live = self._statement(s, live)
        return live

    def _statement(self, s: Statement, live: set[Var]) -> set[Var]:
        if isinstance(s, Let | If) and self._folds.is_folded(s):
            return live
        if isinstance(s, Let):
            if s.op.form == "declare":
                target = s.args[0]
                assert isinstance(target, Var)
                self._clash(target, live)
                return live - {target}
            for v in s.outs:
                # a copy of a value may share its name: `y = x` needs no line then
                source = s.args[0] if s.op.form == "value" and s.args else None
                self._clash(v, live - {source} if isinstance(source, Var) and source.name == v.name else live)
            self._bind(s.outs, set())
            return (live - set(s.outs)) | set(self._reads(s.operands))
        if isinstance(s, If):
            self._bind(s.outs, live - set(s.outs))
            after = live - set(s.outs)
            ends = []
            for b in (s.then, s.orelse):
                ends.append(self._arm(b, s.outs, live, after))
            return ends[0] | ends[1] | set(self._reads([s.condition]))
        if isinstance(s, For | While):
            return self._loop(s, live)
        if isinstance(s, Try):
            return self._try(s, live)
        live = self._block(s.body, live)
        if s.name is not None:
            self._clash(s.name, live)
            live = live - {s.name}
        return live | set(self._reads([s.manager]))

    def _arm(self, block: Block, outs: tuple[Var, ...], live: set[Var], after: set[Var]) -> set[Var]:
        """One branch: its yields are moved to the outs at its end."""
        moved = set(self._reads(y for out, y in zip(outs, block.yields, strict=True) if out in live or True))
        for out, y in zip(outs, block.yields, strict=True):
            others = moved - set(self._reads([y]))
            # an out is written while yields that move later are still to be read; they are moved together
            self._clash(out, after - {y} if isinstance(y, Var) else after)
            del others
        return self._block(block, after | moved)

    def _loop(self, s: For | While, live: set[Var]) -> set[Var]:
        params, outs = set(s.params), set(s.outs)
        after = live - outs
        self._bind(s.outs, after)
        self._bind(s.params, set())
        trips = {s.trips} if s.trips is not None and s.trips in live else set()
        around = after - trips
        inside: set[Var] = set()
        while True:
            # at the end of a trip yields are moved to params, which are then live with what the loop reads
            at_end = around | inside - params
            moved = set(self._reads(s.body.yields))
            for p, y in zip(s.params, s.body.yields, strict=False):
                self._clash(p, at_end - {y} if isinstance(y, Var) else at_end)
            start = self._block(s.body, at_end | moved | trips)
            if isinstance(s, For):
                self._clash(s.index, start | params)
                start = start - {s.index}
            else:
                start = self._block(s.test, start | set(self._reads(s.test.yields)))
            # outs are moved from the params after the loop, so all params live through the body
            for p in s.params:
                self._clash(p, around)
            new = start | inside
            if new == inside:
                break
            inside = new
        for v in trips:
            self._clash(v, inside | around | params)
        for p in s.params:
            self._clash(p, inside | params)
        reads = set(self._reads(s.inits))
        before = (inside - params) | around | reads
        if isinstance(s, For):
            before |= set(self._reads([s.iterable]))
            for p in s.params:
                self._clash(p, self._reads([s.iterable]))
        for p, init in zip(s.params, s.inits, strict=True):
            keep = (inside - params) | around
            self._clash(p, keep - {init} if isinstance(init, Var) else keep)
        return before

    def _try(self, s: Try, live: set[Var]) -> set[Var]:
        self._bind((*s.outs, s.path), live - set(s.outs))
        after = live - set(s.outs) - {s.path}
        result: set[Var] = set()
        arms = [self._arm(h.block, s.outs, live, after) for h in s.handlers]
        for h, arm in zip(s.handlers, arms, strict=True):
            if h.name is not None:
                self._clash(h.name, arm)
            result |= arm - ({h.name} if h.name else set())
        # what a handler reads is live throughout the body, but not where no exception can follow
        inner = self._arm(s.body, s.outs, live, after)
        early = bound_inside(s.body) - _bound_last(s.body)
        for v in early & self._conflicts.keys():
            self._clash(v, result)
        result |= inner
        return result | set(self._reads(operands(s)))

    # -- names -------------------------------------------------------------------------------------

    def _assign(self, function: Function) -> None:
        groups = _Groups(self._conflicts)
        for a, b in self._merges:
            if (
                a in self._conflicts
                and b in self._conflicts
                and (a.name == b.name or not a.name or not b.name)
            ):
                groups.merge(a, b)
        for p in function.params + function.free:
            for v in groups.members(p):
                self._names[v] = p.name
        self._counts: dict[str, int] = {}
        hinted: dict[Var, str] = {}
        for v in self._order:
            if v in self._names or v in hinted:
                continue
            members = groups.members(v)
            name = next((m.name for m in members if m.name), "")
            if name:
                self._call(members, name, self._taken)
            else:
                hinted.update(dict.fromkeys(members, next((m.hint for m in members if m.hint), "") or "t"))
        # what the user has not named stays clear of all names that the user gave
        avoid = self._taken | set(self._names.values())
        for v in self._order:
            if v in hinted and v not in self._names:
                self._call(groups.members(v), hinted[v], avoid)

    def _call(self, members: list[Var], base: str, avoid: set[str]) -> None:
        """Give a group a name that nobody has who is alive at the same time."""
        used = {self._names[c] for m in members for c in self._conflicts[m] if c in self._names} | avoid
        name = base
        while name in used:
            self._counts[base] = self._counts.get(base, 0) + 1
            name = f"{base}_{self._counts[base]}"
        for m in members:
            self._names[m] = name


class _Groups:
    """Variables that share one name: sets without a clash inside."""

    def __init__(self, conflicts: dict[Var, set[Var]]) -> None:
        self._conflicts = conflicts
        self._group: dict[Var, list[Var]] = {}

    def members(self, v: Var) -> list[Var]:
        return self._group.get(v, [v])

    def merge(self, a: Var, b: Var) -> None:
        one, two = self.members(a), self.members(b)
        if one is two:
            return
        clash = {c for m in one for c in self._conflicts[m]}
        if any(m in clash for m in two):
            return
        joined = one + [m for m in two if m not in one]
        for m in joined:
            self._group[m] = joined


def _bound_last(block: Block) -> set[Var]:
    """What a block binds after everything in it that may raise, or by that itself."""
    found: set[Var] = set()
    for s in reversed(block.body):
        found.update(bound(s))
        if isinstance(s, If):
            return found | _bound_last(s.then) | _bound_last(s.orelse)
        if not isinstance(s, Let) or s.op.form not in ("value", "push"):
            break
    return found


__all__ = ["Names", "With"]
