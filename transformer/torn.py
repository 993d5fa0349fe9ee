"""Torn stores: those that read memory which they have just written are refused, not differentiated.

NumPy looks for an overlap before it stores into an array of two or more dimensions, or against the direction
in which it reads; it does not where a vector is stored into along the same direction at another step, nor
through a mask. What comes out then depends on the order of the elements, and no adjoint undoes it.

In: a function. Out: the function, with a check before each store that may be of this kind, when it runs.

    v[::2] = u[:3]      ->      refuse_torn(v, slice(None, None, 2), u[:3], "v[::2] = u[:3]")
                                v[::2] = u[:3]      # where u may be v

What a recursion returns is taken for memory of its own; where that matters, it is checked in the same way.
"""

from __future__ import annotations

from dataclasses import replace

from ..runtime import support_memory as support
from .analyses.aliases import Aliases
from .infer import arg_kind
from .ir import Arg, Block, Const, Function, Let, Op, Ref, Slc, Statement, Tup, Var, rebuild, variables, walk
from .kinds import Array, Number, Unknown

TORN = Op("call", "refuse_torn", support.refuse_torn, Ref(support.refuse_torn, "refuse_torn", "support"))
SHARED = Op(
    "call", "refuse_shared", support.refuse_shared, Ref(support.refuse_shared, "refuse_shared", "support")
)


def guard_torn(function: Function, aliases: Aliases | None = None) -> Function:
    """Put checks before the stores that need one; leave out those that lowering asked for in vain.

    Args:
        aliases: those of the function, where more is known than `Aliases` finds.
    """
    aliases = aliases or Aliases(function)
    makers = {v: s for s in walk(function.body) if isinstance(s, Let) for v in s.outs}

    def may_share(a: Arg, b: Arg) -> bool:
        return (
            isinstance(a, Var)
            and isinstance(b, Var)
            and aliases.of(a) == aliases.of(b)
            and not (isinstance(arg_kind(b), Number))
        )

    def guarded(block: Block) -> Block:
        body: list[Statement] = []
        for s in block.body:
            if isinstance(s, Let) and s.op.function is support.refuse_shared:
                target, *others = s.args
                if target not in function.params and not any(may_share(target, each) for each in others):
                    continue
            elif isinstance(s, Let) and s.op.form == "store" and may_share(s.args[0], s.args[2]):
                body.extend(_check(s, makers))
            body.append(rebuild(s, guarded))
            if isinstance(s, Let) and s.op.form == "user":
                body.extend(_apart(s, aliases))
        return replace(block, body=tuple(body))

    return replace(function, body=guarded(function.body))


def _apart(s: Let, aliases: Aliases) -> list[Statement]:
    """The checks that a recursion returns memory of its own, where that or an argument is written to."""
    outs = [v for v in s.outs[:-1] if isinstance(v.kind, Array | Unknown)]
    args = [v for a in s.args for v in variables(a) if isinstance(v.kind, Array | Unknown)]
    if not any(aliases.of(v) in aliases.written for v in (*outs, *args)):
        return []
    checks: list[Statement] = []
    for i, out in enumerate(outs):
        others = (*args, *outs[:i])
        if others:
            checks.append(Let((), SHARED, (out, *others), (), "io", s.site))
    return checks


def _check(s: Let, makers: dict[Var, Let]) -> list[Statement]:
    """The check before a store, if it needs one."""
    target, index, held = s.args
    if not isinstance(arg_kind(target), Array | Unknown):
        return []
    if not _through_a_mask(index):
        if not _into_a_vector(target, index):
            return []
        if _same_step(target, index, held, makers):
            return []
    written = s.site.text if s.site else "a store"
    return [Let((), TORN, (target, index, held, Const(written)), (), "io", s.site)]


def _through_a_mask(index: Arg) -> bool:
    kind = arg_kind(index)
    return isinstance(kind, Array) and kind.dtype in ("b1", None)


def _into_a_vector(target: Arg, index: Arg) -> bool:
    """Whether `target[index]` may be a view of one dimension."""
    dims = getattr(arg_kind(target), "dims", None)
    parts = index.items if isinstance(index, Tup) else (index,)
    if any(isinstance(arg_kind(part), Array) for part in parts):
        return False  # an index array: NumPy copies what overlaps
    if dims is None or any(isinstance(part, Var) and not isinstance(part.kind, Number) for part in parts):
        return True
    ndim = len(dims)
    for part in parts:
        if part == Const(None):
            ndim += 1
        elif isinstance(arg_kind(part), Number):
            ndim -= 1
    return ndim == 1


def _same_step(target: Arg, index: Arg, held: Arg, makers: dict[Var, Let]) -> bool:
    """Whether what is stored is another slice of the same vector, certainly at the same step."""
    made = makers.get(held) if isinstance(held, Var) else None
    dims = getattr(arg_kind(target), "dims", None)
    if (
        made is None
        or made.op.form != "index"
        or made.args[0] is not target
        or dims is None
        or len(dims) != 1
    ):
        return False
    step = _step(index)
    return step is not None and step == _step(made.args[1])


def _step(part: Arg) -> int | None:
    if part == Const(Ellipsis):
        return 1
    if isinstance(part, Slc) and isinstance(part.step, Const):
        return 1 if part.step.value is None else int(part.step.value)
    return None
