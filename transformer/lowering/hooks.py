"""`adjoint_hook(x, hook)`: what the reverse sweep is to do with the adjoint of a value.

In: the call, in a function that is being read. Out: a `Let` of the form ``hook``, which gives `x` on and has
the body of the hook as IR of its own. `Adjoint` puts that where it comes to the statement; afterwards, and in
tangents, the statement is a second name of `x` (`without_hooks`).

    y = adjoint_hook(x, lambda g: g * w)      hook (x, w) with Hook(g, (w,), block)
        x_bar = y_bar * w
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from ..analyses.aliases import Aliases
from ..errors import Code
from ..infer import arg_kind
from ..ir import (
    UNBOUND,
    VALUE,
    Arg,
    Block,
    Const,
    Function,
    Let,
    Op,
    Statement,
    Tup,
    Var,
    bound_inside,
    in_order,
    rebuild,
    substitute,
    walk,
)
from ..kinds import Array, Number, dims_of
from .reader import Frame, Reader


@dataclass(frozen=True, eq=False)
class Hook:
    """The body of a hook.

    Attributes:
        adjoint: what stands for the adjoint of the value.
        captured: what stands for the values of the forward sweep that the hook reads.
        body: yields the new adjoint, or None.
        changes: the hook writes into the adjoint that it is given.
    """

    adjoint: Var
    captured: tuple[Var, ...]
    body: Block
    changes: bool


def read_hook(reader: Reader, frame: Frame, x: Any, hook: Any, node: cst.CSTNode | None) -> Any:
    """The value of `adjoint_hook(x, hook)`."""
    from .calls import call

    if isinstance(x, Const) or (isinstance(x, Var) and not x.kind.differentiable):
        return x
    if not isinstance(x, Var):
        reader.refuse(
            frame, node, Code.UNSUPPORTED_SYNTAX, "a hook on several values", "hook them one by one"
        )
    adjoint = Var(f"{x.name}_bar" if x.name else "", x.kind, "x_bar")
    born, mark = reader.serial, len(reader.journal)
    with reader.block() as statements:
        result = reader.arg(call(reader, frame, hook, [adjoint], {}, node))
    if any(container.serial <= born for container, _, _ in reader.journal[mark:]):
        reader.refuse(
            frame, node, Code.MUTATION, "the hook changes a list or dict from outside",
            "let it print, or return the new adjoint",
        )  # fmt: skip
    if result != Const(None) and not _fits(result, x):
        reader.refuse(
            frame, node, Code.BAD_SEED, f"the hook returns {arg_kind(result)} for an adjoint of {x.kind}",
            "return an array of the shape of the value",
        )  # fmt: skip
    body = Block(tuple(statements), (result,))
    own = bound_inside(body) | {adjoint, UNBOUND}
    outer = [v for v in in_order(body) if v not in own]
    captured = {v: Var(v.name, v.kind, v.hint) for v in outer}
    body = _mapped(body, captured)
    aliases = Aliases(Function("hook", (adjoint, *captured.values()), body))
    if any(aliases.is_buffer(v) for v in captured.values()):
        reader.refuse(
            frame, node, Code.MUTATION, "the hook writes into an array of the function", "copy it first"
        )
    made = Hook(adjoint, tuple(captured.values()), body, aliases.is_buffer(adjoint))
    reader.hooked = True
    out = Var("", x.kind)
    reader.add(Let((out,), Op("hook", "adjoint_hook", made), (x, *outer), (), "", reader.site))
    return out


def spliced(hook: Hook, adjoint: Arg, captured: Iterable[Arg]) -> Block:
    """The body of a hook with the adjoint and the values that it reads put in."""
    return _mapped(hook.body, {hook.adjoint: adjoint, **dict(zip(hook.captured, captured, strict=True))})


def without_hooks(block: Block) -> Block:
    """The block with every hook a second name of its value.

    A block without hooks stays the object that it is.
    """
    if not any(_is_hook(s) for s in walk(block)):
        return block
    return replace(block, body=tuple(_unhooked(s) for s in block.body))


def _unhooked(s: Statement) -> Statement:
    if isinstance(s, Let) and _is_hook(s):
        return replace(s, op=VALUE, args=s.args[:1])
    return rebuild(s, without_hooks)


def _is_hook(s: Statement) -> bool:
    return isinstance(s, Let) and s.op.form == "hook"


def _mapped(block: Block, new: dict[Var, Any]) -> Block:
    def arg(a: Arg) -> Arg:
        return substitute(a, lambda v: new.get(v, v))

    return Block(
        tuple(rebuild(s, lambda b: _mapped(b, new), arg) for s in block.body),
        tuple(arg(y) for y in block.yields),
    )


def _fits(result: Arg, x: Var) -> bool:
    """Whether what a hook returns may be an adjoint of `x`."""
    kind = arg_kind(result)
    if isinstance(result, Tup) or not (kind.differentiable or isinstance(kind, Number)):
        return False
    if isinstance(x.kind, Number):
        return isinstance(kind, Number) or dims_of(kind) in (None, ())
    have, want = dims_of(kind), dims_of(x.kind)
    if not isinstance(kind, Array) or have is None or want is None:
        return True
    pairs = zip(have, want, strict=False)
    clash = any(isinstance(p, int) and isinstance(q, int) and p != q for p, q in pairs)
    return len(have) == len(want) and not clash


__all__ = ["Hook", "read_hook", "spliced", "without_hooks"]
