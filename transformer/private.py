"""Private copies: an argument that is written to is copied on entry, so the caller's stays as it was.

In: an IR function. Out: the same, with a copy of each array argument whose memory may be written to.

    def f(u): u[0] = 1.0        ->      def f(u): u = u.copy(); u[0] = 1.0
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from ..runtime import support_memory
from .analyses.aliases import Aliases
from .errors import AdjoinError, Code, Where
from .ir import Arg, Block, Function, Let, Op, Ref, Statement, Var, rebuild, substitute
from .kinds import Array, Container, Unknown, home_of
from .kinds import Sequence as SequenceKind
from .lowering.generated import TOGETHER
from .torn import SHARED

COPY_IF_ARRAY = Op(
    "call",
    "private_copy",
    support_memory.private_copy,
    Ref(support_memory.private_copy, "private_copy", "support"),
)
COPY_ELSEWHERE = Op("method", "copy", np.copy)  # other libraries' arrays do not say that they are read-only
COPY = Op("call", "writable_copy", np.copy, Ref(support_memory.writable_copy, "writable_copy", "support"))


def privatise(
    function: Function, together: tuple[str, ...] = (), written: Collection[Var] | None = None
) -> Function:
    """Copy what is written to; arguments named in `together` share memory, and so do their copies.

    Args:
        written: the parameters that are written to, where that is known better than by what may be one.
    """
    aliases = Aliases(function)
    joint = [v for v in function.params if v.name in together]
    if written is None:
        written = [v for v in function.params if isinstance(v.kind, Array | Unknown) and aliases.is_buffer(v)]
    for v in function.params:
        if isinstance(v.kind, SequenceKind) and aliases.of(v) in aliases.grown:
            raise AdjoinError(
                Code.MUTATION,
                f"the list {v.name!r} that is passed in is changed",
                rewrite=f"work on list({v.name})",
            )
    for v in function.free:
        if aliases.of(v) in aliases.written and not isinstance(v.kind, Container):
            where = _where_written(function, v, aliases)
            raise AdjoinError(
                Code.MUTATION,
                f"the global array {v.name!r} is written to",
                where=where,
                rewrite="pass it in as an argument, or copy it first",
            )
    parts = list(_parts(function))
    leaves = [s.out for s in parts if isinstance(s.out.kind, Array) and aliases.is_buffer(s.out)]
    outside = set(function.free)
    for part in parts:
        if part.args[0] not in outside:
            continue
        outside.add(part.out)
        if part.out in leaves:
            raise AdjoinError(
                Code.MUTATION,
                "an array held by the surrounding code is written to",
                where=_where_written(function, part.out, aliases),
                rewrite="pass it in as an argument, or copy it first",
            )
    written = [v for v in written if v not in joint]
    copies = {v: Var(v.name, v.kind) for v in (*written, *leaves, *joint)}
    if not copies:
        return function

    def swap(arg: Arg) -> Arg:
        return substitute(arg, lambda v: copies.get(v, v))

    def renamed(block: Block) -> Block:
        return Block(
            tuple(rebuild(s, renamed, swap) for s in block.body), tuple(swap(y) for y in block.yields)
        )

    body: list[Statement] = [Let((copies[v],), _copy_of(v), (v,)) for v in written]
    for v in written:
        others = tuple(w for w in function.params if w is not v and isinstance(w.kind, Array | Unknown))
        if isinstance(v.kind, Unknown) and others:  # where kinds are known, the signature says what is shared
            body.append(Let((), SHARED, (v, *others), (), "io"))
    if joint:
        body.append(Let(tuple(copies[v] for v in joint), TOGETHER, tuple(joint)))
    for s in function.body.body:
        body.append(rebuild(s, renamed, swap))
        if isinstance(s, Let) and len(s.outs) == 1 and s.out in copies:
            body.append(Let((copies[s.out],), _copy_of(s.out), (s.out,)))
    return replace(function, body=Block(tuple(body), tuple(swap(y) for y in function.body.yields)))


def _parts(function: Function) -> Iterator[Let]:
    """What takes arguments, and what the function has from around it, apart."""
    for s in function.body.body:
        if isinstance(s, Let) and s.op.form in ("index", "attribute") and s.args:
            if isinstance(s.args[0], Var) and isinstance(s.args[0].kind, Container):
                yield s


def _copy_of(v: Var) -> Op:
    if not isinstance(v.kind, Array):
        return COPY_IF_ARRAY
    return COPY_ELSEWHERE if home_of(v.kind) else COPY


def _where_written(function: Function, v: Var, aliases: Aliases) -> Where | None:
    from .ir import variables, walk

    for s in walk(function.body):
        if (
            isinstance(s, Let)
            and s.effect == "write"
            and any(aliases.of(x) == aliases.of(v) for x in variables(s.args[0]))
        ):
            return Where.of(s.site) if s.site else None
    return None
