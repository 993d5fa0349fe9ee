"""Needed: what the forward sweep must keep for the reverse sweep, and how.

In: the forward function and the reverse sweep that names its values freely. Out: both, with what crosses:

- a value of straight-line code is still in its local: nothing to do;
- a value of a loop body is computed again if that is cheap (an index, a view, a shape), else pushed on a list
  where it is bound and popped where the reversed body begins;
- of a value whose shape and dtype alone are read, an outline, unless something of that shape is there anyway;
- the old value of a store is saved, and put back, only if somebody reads that memory's contents; who reads
  what has just been put back reads what was saved.

    for i in range(n):                    for i in range(n):
        s = s * a                  ->         s_saved.append(s)
                                              s = s * a
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..runtime import support_memory
from .adjoint import Adjoint, Reverse, certainly_view, is_restore
from .analyses.aliases import Aliases, is_basic, may_be_view
from .infer import arg_kind
from .ir import (
    DELETE,
    INDEX,
    LENGTH,
    POP,
    PUSH,
    UNBOUND,
    VALUE,
    Arg,
    Block,
    Callee,
    Const,
    For,
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
    blocks,
    bound,
    bound_inside,
    in_order,
    operands,
    rebuild,
    substitute,
    variables,
    walk,
)
from .kinds import INT, Array, Number, Opaque, dtype_of, is_certain
from .kinds import Sequence as SequenceKind
from .optimise.dead import dead_block

#: Calls that read the shape, the place or the type of an operand, but not its contents, by position.
_SHAPE_ONLY: dict[str, tuple[int, ...]] = {
    "zeros_like": (0,),
    "empty_like": (0,),
    "ones_like": (0,),
    "shares_memory": (0, 1),
    "shares_shadow": (0, 1),
    "unbroadcast": (1,),
    "real_if_real": (1,),
    "zeros_of": (0,),
    "add_to_each": (1,),
    "shape": (0,),
    "ndim": (0,),
    "size": (0,),
    "len": (0,),
}


#: Of those, the ones for which an array of the shape and dtype does as well.
_OUTLINE_DOES = frozenset(_SHAPE_ONLY) - {
    "add_to_each", "shares_memory", "shares_shadow", "shape", "ndim", "size", "len"
}  # fmt: skip
OUTLINE = Op("call", "outline", support_memory.outline, Ref(support_memory.outline, "outline", "support"))


@dataclass
class Sweeps:
    """The two sweeps, each value that the reverse sweep reads being at hand there."""

    forward: list[Statement]
    reverse: Block
    crossing: list[Var] = field(default_factory=list)  # forward locals that the reverse sweep reads


def keep(adjoint: Adjoint, reverse: Reverse, yields: tuple[Arg, ...]) -> Sweeps:
    return _Keeper(adjoint, reverse, yields).run()


class _Keeper:
    def __init__(self, adjoint: Adjoint, reverse: Reverse, yields: tuple[Arg, ...]) -> None:
        self.adjoint = adjoint
        self.aliases: Aliases = adjoint.aliases
        self.body = adjoint.ir.body
        self.block = Block(tuple(reverse.statements), yields)
        self.stand_ins = {stand: v for v, stand in reverse.stands_for.items()}
        self.stands_for = reverse.stands_for
        self.home: dict[Var, Block] = {}  # the block of the forward sweep that binds a variable
        self.made: dict[Var, Statement] = {}
        self._find_homes(self.body, None)
        self.before: dict[
            int, list[Statement]
        ] = {}  # statements to add before a forward statement, by its id
        self.after: dict[int, list[Statement]] = {}
        self.at_start: dict[int, list[Statement]] = {}  # ... at the start of a forward block
        self.stacks: dict[Var, Var] = {}
        self.cheap: dict[Var, bool] = {}
        self.binds: dict[int, list[Let]] = {}  # what a reversed block begins with, by its forward block
        self.loops_of: dict[int, tuple[Block, Statement]] = {}
        self.own: dict[int, frozenset[Var]] = {}  # the memory that a trip makes, by its forward block
        self._find_loops(self.body, None)

    def _find_homes(self, block: Block, holder: Statement | None) -> None:
        if isinstance(holder, For | While):
            own = (*holder.params, *((holder.index,) if isinstance(holder, For) else ()))
            for v in own:
                self.home[v] = holder.body
                self.made[v] = holder
        for s in block.body:
            for v in bound(s):
                self.home.setdefault(v, block)
                self.made.setdefault(v, s)
            for inner in blocks(s):
                self._find_homes(inner, s)

    def _find_loops(self, block: Block, outermost: tuple[Block, Statement] | None) -> None:
        """For each block inside a loop: the outermost loop, and the block it stands in."""
        for s in block.body:
            found = outermost
            if found is None and isinstance(s, For | While):
                found = (block, s)
            for inner in blocks(s):
                if found is not None:
                    self.loops_of[id(inner)] = found
                self._find_loops(inner, found)

    # -- the steps ---------------------------------------------------------------------------------

    def run(self) -> Sweeps:
        self._drop_restores()
        self._bind_stand_ins()
        reverse = self._rewrite(self.block)
        reverse, reads = dead_block(reverse, set())
        reverse = replace(reverse, body=(Let((), Op("enter", ""), ()), *reverse.body))
        self._bind_all_to_none()
        forward = self._instrument(self.body)
        known = set(self.home) | set(self.stacks.values()) | self.saved_locals
        crossing = [v for v in in_order(reverse) if v in reads and v in known]
        extra = [v for v in reads if v in known and v not in crossing]
        return Sweeps(list(forward.body), reverse, crossing + extra)

    def _drop_restores(self) -> None:
        """Restores of memory whose contents nobody reads afterwards go; what stays may need more of them."""
        self.old: dict[int, Var] = {}  # old values that are read as such, by the id of the store
        self.block = self._read_old(self.block, {})
        kept: set[int] = set()
        while True:
            block, _ = dead_block(self._with_restores(self.block, kept), set())
            found = _Restores(self, kept).needed(block)
            if found <= kept:
                break
            kept |= found
        self.saved_locals: set[Var] = set()
        self.block = self._fill_restores(self._with_restores(self.block, kept, drop=True))

    def _read_old(self, block: Block, fresh: dict[Var, Let]) -> Block:
        """What reads memory that a restore has just put back reads what is put back.

        Then it need not be put back, nor what is stored after it: in `a[i] *= b` for `b_bar = g * a[i]`.

        Args:
            fresh: the last restore, by the class of its memory.
        """
        body: list[Statement] = []
        for s in block.body:
            if isinstance(s, Let) and is_restore(s):
                fresh[self.aliases.of(s.op.function.args[0])] = s
            elif isinstance(s, Let):
                given = enumerate(s.operands)
                new = [a if _shape_only(s, i) else self._old_of(a, fresh) for i, a in given]
                names = [name for name, _ in s.kwargs]
                kwargs = zip(names, new[len(s.args) :], strict=True)
                s = replace(s, args=tuple(new[: len(s.args)]), kwargs=tuple(kwargs))
            else:
                for inner in blocks(s):
                    for t in walk(inner):
                        if isinstance(t, Let) and is_restore(t):
                            fresh.pop(self.aliases.of(t.op.function.args[0]), None)
                s = rebuild(s, lambda b: self._read_old(b, {}))
            body.append(s)
        return Block(tuple(body), block.yields)

    def _old_of(self, arg: Arg, fresh: dict[Var, Let]) -> Arg:
        """The old value that a store has saved, where the operand is a view of exactly that."""
        v = self._origin(arg) if isinstance(arg, Var) else None
        if v is None or not isinstance(v.kind, Array) or (restore := fresh.get(self.aliases.of(v))) is None:
            return arg
        store, made = restore.op.function, self.made.get(v)
        whole = v is store.args[0] and store.args[1] == Const(Ellipsis)
        part = isinstance(made, Let) and made.op.form == "index" and made.args == store.args[:2]
        if not (whole or part) or not is_basic(store.args[1]):
            return arg
        return self.old.setdefault(id(store), Var(f"{_name_of(store.args[0])}_old", v.kind))

    def made_in(self, block: Block) -> frozenset[Var]:
        """The classes of written memory of which the body of a forward loop binds every variable."""
        if id(block) not in self.own:
            everything = {*self.adjoint.ir.params, *self.adjoint.ir.free, *bound_inside(self.body)}
            elsewhere = {self.aliases.of(v) for v in everything - bound_inside(block)}
            self.own[id(block)] = frozenset(self.aliases.written) - elsewhere
        return self.own[id(block)]

    def _origin(self, v: Var) -> Var:
        return self.stand_ins.get(v, v)

    def _with_restores(self, block: Block, kept: set[int], drop: bool = False) -> Block:
        """The block with those restores that are kept; the others read nothing, or are dropped.

        Of a restore that is not kept, but whose old value is read, the value stays.
        """
        body: list[Statement] = []
        for s in block.body:
            if isinstance(s, Let) and is_restore(s) and id(s.op.function) not in kept:
                if not drop:
                    body.append(replace(s, args=(s.args[0], Const(None), Const(None))))
                elif id(s.op.function) in self.old:
                    body.append(replace(s, op=replace(s.op, form="value")))
                continue
            body.append(rebuild(s, lambda b: self._with_restores(b, kept, drop)))
        return Block(tuple(body), block.yields)

    def _fill_restores(self, block: Block) -> Block:
        body: list[Statement] = []
        for s in block.body:
            if isinstance(s, Let) and is_restore(s):
                body.extend(self._restore(s))
            else:
                body.append(rebuild(s, self._fill_restores))
        return Block(tuple(body), block.yields)

    def _restore(self, s: Let) -> list[Statement]:
        store = s.op.function
        target, index = store.args[0], store.args[1]
        read = Var("", _index_kind(target, index))
        old = Var(f"{_name_of(target)}_old", read.kind)
        home = self._home_of(store)
        if id(home) not in self.loops_of:
            old = self.old.get(id(store), old)
        if isinstance(read.kind, Number) or not may_be_view(index):
            saving: list[Statement] = [Let((old,), INDEX, (target, index), (), "", store.site)]
        else:
            copy = (
                Op("method", "copy", np.copy)
                if isinstance(read.kind, Array)
                else self.adjoint.function(np.copy)
            )
            saving = [
                Let((read,), INDEX, (target, index), (), "", store.site),
                Let((old,), copy, (read,), (), "", store.site),
            ]
        if id(home) in self.loops_of:
            stack = self._stack(old, home)
            saving.append(Let((), PUSH, (stack, old), (), "io", store.site))
            back = self.old.get(id(store), Var(old.name, old.kind))
            got: list[Statement] = [Let((back,), POP, (stack,), (), "io", s.site)]
        else:
            back, got = old, []
            self.saved_locals.add(old)
            self.home[old] = home
        self.before.setdefault(id(store), []).extend(saving)
        if s.op.form == "store":
            got.append(Let((), s.op, (s.args[0], s.args[1], back), (), "write", s.site))
        return got

    def _home_of(self, s: Statement) -> Block:
        if not hasattr(self, "_homes"):
            self._homes: dict[int, Block] = {}

            def visit(block: Block) -> None:
                for each in block.body:
                    self._homes[id(each)] = block
                    for inner in blocks(each):
                        visit(inner)

            visit(self.body)
        return self._homes[id(s)]

    # -- values of loop bodies ---------------------------------------------------------------------

    def _bind_stand_ins(self) -> None:
        """Bind every stand-in that is read: recomputed, or popped."""
        done: set[Var] = set()
        outlines = self._only_shapes(self.block)
        self.block = self._alike(self.block, outlines)
        wanted = [v for v in in_order(self.block) if v in self.stand_ins]
        for stand in wanted:
            if stand not in outlines:
                self._bind(stand, done)
        for stand in wanted:  # unless something is computed again from it
            self._bind(stand, done, outline=True)

    def _only_shapes(self, block: Block) -> set[Var]:
        """Arrays of loop bodies of which the reverse sweep reads nothing but shape and dtype."""
        arrays = {
            stand
            for stand, v in self.stand_ins.items()
            if isinstance(v.kind, Array) and not self.aliases.is_buffer(v)
        }
        read: set[Var] = set()
        for s in walk(block):
            for i, arg in enumerate(operands(s)):
                if not (isinstance(s, Let) and _outline_does(s, i)):
                    read.update(variables(arg))
            for inner in blocks(s):
                for arg in inner.yields:
                    read.update(variables(arg))
        for arg in block.yields:
            read.update(variables(arg))
        return arrays - read

    def _alike(self, block: Block, outlines: set[Var]) -> Block:
        """The block that asks for shapes and dtypes of what is there anyway, where that has the same."""
        asked = [(stand, v) for stand, v in self.stand_ins.items() if stand in outlines]
        found = {stand: self._alike_to(v, outlines) for stand, v in asked}
        instead = {stand: self.adjoint.primal(v) for stand, v in found.items() if v is not None}

        def arg(a: Arg) -> Arg:
            return substitute(a, lambda v: instead.get(v, v))

        def renamed(b: Block) -> Block:
            return Block(tuple(rebuild(s, renamed, arg) for s in b.body), tuple(map(arg, b.yields)))

        if not instead:
            return block
        self.stand_ins = {stand: v for v, stand in self.stands_for.items()}
        return renamed(block)

    def _alike_to(self, v: Var, outlines: set[Var]) -> Var | None:
        """A value of the shape and dtype of `v` from which it was computed, and which costs nothing."""
        made = self.made.get(v)
        if not isinstance(made, Let) or not isinstance(v.kind, Array) or v.kind.dtype is None:
            return None
        if v.kind.dims is None or not all(map(is_certain, v.kind.dims)):
            return None
        for w in (x for a in made.operands for x in variables(a) if x.kind == v.kind):
            stand = self.stands_for.get(w)
            is_kept = stand is not None and stand not in outlines
            if is_kept or w not in self.adjoint.in_loops or self._recipe(w) is not None:
                return w
            if (older := self._alike_to(w, outlines)) is not None:
                return older
        return None

    def _bind(self, stand: Var, done: set[Var], outline: bool = False) -> None:
        if stand in done:
            return
        done.add(stand)
        v = self.stand_ins[stand]
        home = self.home[v]
        recipe = self._recipe(v)
        if recipe is not None:
            again = Let((stand,), recipe.op, tuple(self._again(a, done) for a in recipe.args),
                        tuple((k, self._again(a, done)) for k, a in recipe.kwargs), "", None)  # fmt: skip
            self.binds.setdefault(id(home), []).append(again)
            return
        stack = self._stack(v, home)
        push = Let((), PUSH, (stack, v), (), "io", None)
        pushes: list[Statement] = [push]
        if outline:
            held = Var("", v.kind)
            pushes = [Let((held,), OUTLINE, (v,)), replace(push, args=(stack, held))]
        made = self.made[v]
        if v in getattr(made, "params", ()) or v is getattr(made, "index", None):
            self.at_start.setdefault(id(home), []).extend(pushes)
        else:
            self.after.setdefault(id(made), []).extend(pushes)
        self.binds.setdefault(id(home), []).append(Let((stand,), POP, (stack,), (), "io", None))

    def _again(self, arg: Arg, done: set[Var]) -> Arg:
        def stand_in(v: Var) -> Arg:
            found = self.adjoint._stand_in(v)
            if (
                isinstance(found, Var)
                and found not in self.stand_ins
                and found is not v
                and found not in self.adjoint.indices.values()
            ):
                self.stand_ins[found] = v
            if found in self.stand_ins:
                self._bind(found, done)  # type: ignore[arg-type]
            return found

        return substitute(arg, stand_in)

    def _recipe(self, v: Var) -> Let | None:
        """The statement that can compute a value again in the reversed body, if that is cheap and safe."""
        made = self._made_alone(v)
        return made if made is not None and (self._is_at_hand(made) or self._is_cheap(v)) else None

    def _made_alone(self, v: Var) -> Let | None:
        """The pure statement that binds a value, and nothing else."""
        made = self.made.get(v)
        return made if isinstance(made, Let) and not made.effect and made.outs == (v,) else None

    def _is_at_hand(self, made: Let) -> bool:
        """Whether a statement only looks up what is there: a shape, a view, an element, an integer."""
        form, v = made.op.form, made.out
        if form == "shape" or (form == "attribute" and made.op.text in ("shape", "ndim", "size", "dtype")):
            return all(self._at_hand(a) for a in made.args)
        if certainly_view(made) and isinstance(v.kind, Array):
            return all(map(self._at_hand, made.args)) and not any(map(self._is_written, made.args[1:]))
        if made.op.function is not len and any(map(self._is_written, made.args)):
            return False
        if form == "index" and isinstance(v.kind, Number):
            return all(self._at_hand(a) for a in made.args) and self._is_fixed(made.args[0])
        if made.op.function is len and any(self._grows(x) for x in variables(made.args[0])):
            return False
        if made.op.function in (range, len, reversed) or _integer_arithmetic(made):
            return all(self._at_hand(a) for a in made.args)
        return False

    def _is_cheap(self, v: Var) -> bool:
        """A number that a few operations give, from numbers that are at hand."""
        if self.aliases.is_buffer(v):  # a 0-d array, which may hold another number by then
            return False
        if v not in self.adjoint.in_loops or v in self.adjoint.indices:
            return True
        if v not in self.cheap:
            made = self._made_alone(v)
            self.cheap[v] = made is not None and (
                (isinstance(v.kind, Number) and self._is_at_hand(made))
                or (_scalar_arithmetic(made) and all(map(self._is_cheap, variables(Tup(made.args)))))
            )
        return self.cheap[v]

    def _is_written(self, arg: Arg) -> bool:
        return any(self.aliases.is_buffer(x) or isinstance(x.kind, SequenceKind) for x in variables(arg))

    def _grows(self, x: Var) -> bool:
        """Whether a list may have another length in the reverse sweep."""
        changed = self.aliases.grown | self.aliases.written
        return not isinstance(x.kind, Array) and self.aliases.of(x) in changed

    def _is_fixed(self, arg: Arg) -> bool:
        return all(x not in self.adjoint.in_loops for x in variables(arg))

    def _at_hand(self, arg: Arg) -> bool:
        """Whether an operand is a loop-independent value, a reversed index, or cheap itself."""
        for x in variables(arg):
            if x in self.adjoint.indices or x not in self.adjoint.in_loops:
                continue
            if self._recipe(x) is None and self.stands_for.get(x) is None and not isinstance(x.kind, Array):
                return False
        return True

    def _stack(self, v: Var, home: Block) -> Var:
        if v not in self.stacks:
            block, loop = self.loops_of[id(home)]
            stack = Var(f"{v.name or v.hint or 'value'}_saved", Opaque(list))
            self.before.setdefault(id(loop), []).append(Let((stack,), VALUE, (Lst(()),), (), "", None))
            self.stacks[v] = stack
            self.home[stack] = block
            self._bind_to_none(v)
        return self.stacks[v]

    def _bind_to_none(self, v: Var) -> None:
        """What is kept in each trip has to be something where no trip before has bound it."""
        made = self.made.get(v)
        loop = isinstance(made, For | While) and v in made.params
        whole = made.outs[made.params.index(v)] if isinstance(made, For | While) and loop else v
        if whole in self.adjoint.left_unbound:
            self.adjoint.bound_to_none.add(whole)

    # -- rewriting ---------------------------------------------------------------------------------

    def _rewrite(self, block: Block) -> Block:
        body: list[Statement] = []
        for s in block.body:
            if isinstance(s, Let) and s.op.form == "enter":
                body.extend(self._ordered(self.binds.get(id(s.op.function), [])))
            else:
                body.append(rebuild(s, self._rewrite))
        return Block(tuple(body), block.yields)

    def _ordered(self, binds: list[Let]) -> list[Statement]:
        """Pops first, then what is computed from them, each after what it reads."""
        pops = [b for b in binds if b.op is POP]
        rest = [b for b in binds if b.op is not POP]
        names = {b.out for b in rest}
        ordered: list[Statement] = list(pops)
        while rest:
            ready = [b for b in rest if not any(v in names for a in b.operands for v in variables(a))]
            assert ready, "values that are computed from each other"
            for b in ready:
                names.discard(b.out)
                rest.remove(b)
            ordered.extend(ready)
        return ordered

    def _bind_all_to_none(self) -> None:
        """What such a variable takes over from another one has to be bound as well."""
        wanted = self.adjoint.bound_to_none
        joins = [(out, y) for s in walk(self.body) for out, y in _joined(s)]
        while more := {y for out, y in joins if out in wanted and y in self.adjoint.left_unbound} - wanted:
            wanted |= more

    def _bound_to_none(self, s: Statement) -> Statement:
        """Variables of which zeros are made are None where they are not bound."""
        wanted = self.adjoint.bound_to_none

        def filled(outs: tuple[Var, ...], yields: tuple[Arg, ...]) -> tuple[Arg, ...]:
            none = [
                Const(None) if out in wanted and y is UNBOUND else y
                for out, y in zip(outs, yields, strict=False)
            ]
            return (*none, *yields[len(outs) :])

        if isinstance(s, If):
            then = replace(s.then, yields=filled(s.outs, s.then.yields))
            return replace(s, then=then, orelse=replace(s.orelse, yields=filled(s.outs, s.orelse.yields)))
        if isinstance(s, Try):
            handlers = tuple(
                replace(h, block=replace(h.block, yields=filled(s.outs, h.block.yields))) for h in s.handlers
            )
            return replace(s, body=replace(s.body, yields=filled(s.outs, s.body.yields)), handlers=handlers)
        if isinstance(s, For | While):
            return replace(s, inits=filled(s.outs, s.inits))
        return s

    def _instrument(self, block: Block) -> Block:
        body: list[Statement] = list(self.at_start.get(id(block), []))
        for s in block.body:
            body.extend(self.before.get(id(s), []))
            new = self._bound_to_none(rebuild(s, self._instrument))
            body.extend(_saving_if_done(new) if isinstance(new, Try) else [new])
            body.extend(self.after.get(id(s), []))
        return Block(tuple(body), block.yields)


def _saving_if_done(s: Try) -> list[Statement]:
    """A `try` whose body leaves nothing on a list of saved values if an exception comes out of it.

    What the body itself saves, it saves at its end; what inner statements save, a handler takes away.

        try:                                    n = len(z_saved)
            y = g(x)                            try:
            y_saved.append(y)                       y = g(x)
            while ...:                              while ...:
                z = h(z)                                z = h(z)
                z_saved.append(z)      ->               z_saved.append(z)
        except E:                                   y_saved.append(y)
            ...                                 except E:
                                                    del z_saved[n:]
                                                    ...
    """
    last = [t for t in s.body.body if _pushes(t)]
    first = tuple(t for t in s.body.body if not _pushes(t))
    every = list(walk(Block(first)))
    made = {v for t in every if isinstance(t, Let) for v in t.outs}
    inner = dict.fromkeys(t.args[0] for t in every if isinstance(t, Let) and _pushes(t))
    stacks = [v for v in inner if isinstance(v, Var) and v not in made]
    marks = [Let((Var("", INT, f"{stack.name}_kept"),), LENGTH, (stack,), (), "io") for stack in stacks]
    cuts = tuple(
        Let((), DELETE, (stack, Slc(mark.out, Const(None), Const(None))), (), "io")
        for stack, mark in zip(stacks, marks, strict=True)
    )
    handlers = tuple(
        h if _raises(h.block) else replace(h, block=replace(h.block, body=cuts + h.block.body))
        for h in s.handlers
    )
    return [*marks, replace(s, body=replace(s.body, body=(*first, *last)), handlers=handlers)]


def _pushes(s: Statement) -> bool:
    return isinstance(s, Let) and s.op.form == "push"


def _raises(block: Block) -> bool:
    return any(isinstance(s, Let) and s.op.form == "raise" for s in block.body)


class _Restores:
    """Which restores somebody needs: a walk backwards with the memory whose contents are still read.

    In: the reverse sweep. Out: the stores, by id, whose old value is read after it is put back.
    """

    def __init__(self, keeper: _Keeper, kept: set[int]) -> None:
        self.keeper = keeper
        self.kept = kept
        self.found: set[int] = set()

    def needed(self, block: Block) -> set[int]:
        self._block(block, frozenset())
        return self.found

    def _block(self, block: Block, after: frozenset[Var]) -> frozenset[Var]:
        live = after | self._classes(v for arg in block.yields for v in variables(arg))
        for s in reversed(block.body):
            live = self._statement(s, live)
        return live

    def _statement(self, s: Statement, live: frozenset[Var]) -> frozenset[Var]:
        if isinstance(s, Let):
            if is_restore(s) and self._classes(variables(s.args[0])) & live:
                self.found.add(id(s.op.function))
            if is_restore(s) and id(s.op.function) not in self.kept:
                return live
            return live | self._classes(
                v for i, arg in enumerate(s.operands) if not _shape_only(s, i) for v in variables(arg)
            )
        inside = live
        while True:  # once, or for a loop until a further trip reads nothing more
            before = inside.union(*(self._block(b, inside | live) - self._made_in(b, s) for b in blocks(s)))
            if before == inside:
                break
            inside = before
        return inside | self._classes(v for arg in operands(s) for v in variables(arg))

    def _made_in(self, block: Block, s: Statement) -> frozenset[Var]:
        """The classes of memory that each trip of a reversed loop has for itself: the trip made it."""
        marks = (t.op.function for t in block.body if isinstance(t, Let) and t.op.form == "enter")
        body = next(marks, None) if isinstance(s, For | While) else None
        return frozenset() if body is None else self.keeper.made_in(body)

    def _classes(self, found: Iterable[Var]) -> frozenset[Var]:
        """The classes of primal memory that is written to."""
        aliases = self.keeper.aliases
        return frozenset(aliases.of(self.keeper._origin(v)) for v in found) & aliases.written


def _joined(s: Statement) -> list[tuple[Var, Var]]:
    """What a statement binds, with the variables that it may be."""
    ends: list[tuple[Arg, ...]] = []
    if isinstance(s, If):
        ends = [s.then.yields, s.orelse.yields]
    elif isinstance(s, Try):
        ends = [s.body.yields, *(h.block.yields for h in s.handlers)]
    elif isinstance(s, For | While):
        ends = [s.inits]
    outs = s.outs if isinstance(s, If | Try | For | While) else ()
    return [(out, y) for end in ends for out, y in zip(outs, end, strict=False) if isinstance(y, Var)]


def _name_of(arg: Arg) -> str:
    return next((v.name for v in variables(arg) if v.name), "value")


def _index_kind(target: Arg, index: Arg) -> Any:
    from .infer import infer

    return infer(INDEX.function, (target, index), {})


def _integer_arithmetic(s: Let) -> bool:
    return (
        s.op.form == "operator"
        and s.op.text in "+-*//%"
        and all(
            isinstance(arg_kind(a), Number) and getattr(arg_kind(a), "dtype", "") in ("int", "i8")
            for a in (*s.args, *s.outs)
        )
    )


def _scalar_arithmetic(s: Let) -> bool:
    return (
        s.op.form == "operator"
        and s.op.text in ("+", "-", "*", "/", "**")
        and not s.effect
        and all(
            isinstance(arg_kind(a), Number) and dtype_of(arg_kind(a)) is not None
            for a in (*s.args, *s.outs)
        )
    )


def _outline_does(s: Let, i: int) -> bool:
    """Whether an array of the shape and dtype of an operand does as well."""
    if s.op.form in ("shape", "attribute"):
        return s.op.form == "shape" or s.op.text in ("shape", "ndim", "size", "dtype")
    return s.op.text.rpartition(".")[2] in _OUTLINE_DOES and _shape_only(s, i)


def _shape_only(s: Let, i: int) -> bool:
    if is_restore(s):
        return i == 0
    if s.op.form in ("store", "augment"):
        return i == 0
    if s.op.form in ("shape", "apply"):
        return True
    if s.op.form == "attribute":
        return s.op.text in ("shape", "ndim", "size", "dtype", "strides")
    if s.op.form == "method":
        return s.op.text in ("add", "rest", "total") and i == 1
    name = s.op.text.rpartition(".")[2]
    return s.op.form == "call" and not isinstance(s.op.function, Callee) and i in _SHAPE_ONLY.get(name, ())


