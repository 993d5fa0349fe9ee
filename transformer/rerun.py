"""The adjoint of what is run again: a call of `run_checkpointed`, or of a checkpointed function.

In: the `Adjoint` under construction and the call. Out: statements in its reverse sweep.

    u, checkpoints = run_checkpointed(step, range(n), 5, (u,), (k,))
        u_bar, k_bar = reverse_checkpointed(step, step_forward, step_adjoint, checkpoints, (k,), (u_bar, 0.0))
    y = block(x)
        saved = run_again(block_forward, x)
        x_bar = block_adjoint(saved, (y_bar,))[0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..runtime import support_checkpoint as support
from ..runtime.support import unbroadcast
from .infer import arg_kind
from .ir import INDEX, Arg, Callee, Const, Let, Op, Ref, Tup, Var
from .kinds import Array, Number, Opaque

if TYPE_CHECKING:
    from .adjoint import Adjoint
    from .checkpoint import Rerun


def reverse_rerun(adjoint: Adjoint, s: Let) -> None:
    """Add the adjoint of a call that `checkpoint` has made."""
    if isinstance(s.op.function, Callee):
        _function(adjoint, s, s.op.function.instance)
    else:
        assert isinstance(s.args[0], Ref)
        _loop(adjoint, s, s.args[0].value.instance)


def _loop(adjoint: Adjoint, s: Let, made: Rerun) -> None:
    *outs, checkpoints = s.outs
    start, fixed = s.args[3], s.args[4]
    assert isinstance(start, Tup) and isinstance(fixed, Tup)
    seeds = [_seed(adjoint, outs[i]) for i in made.changed]
    read = [fixed.items[i] for i in made.read]
    continued = [isinstance(v, Var) and _is_added_to(adjoint, v) for v in read]
    for v, goes_on in zip(read, continued, strict=True):
        assert isinstance(v, Var)
        seeds.append(adjoint.bars.pop(v).arg if goes_on else adjoint._zero(v))
    functions = [
        Ref(Callee(made, which), Callee(made, which).name) for which in ("plain", "forward", "adjoint")
    ]
    args = (*functions, adjoint.primal(checkpoints), adjoint.primal(fixed), Tup(tuple(seeds)))
    bars = _bars(adjoint, adjoint.function_op(support.reverse_checkpointed), args, made)
    for i, bar in zip(made.changed, bars, strict=False):
        _contribute(adjoint, start.items[i], bar)
    for v, bar in zip(read, bars[len(made.changed) :], strict=True):
        _contribute(adjoint, v, bar)


def _function(adjoint: Adjoint, s: Let, made: Rerun) -> None:
    seeds = Tup(tuple(_seed(adjoint, s.outs[i]) for i in made.changed))
    forward = Callee(made, "forward")
    again = adjoint.function_op(support.run_again)
    saved = adjoint.let(
        again, Ref(forward, forward.name), *map(adjoint.primal, s.args), name="saved", kind=Opaque(tuple)
    )
    backward = Callee(made, "adjoint")
    bars = _bars(adjoint, Op("call", backward.name, backward), (saved, seeds), made)
    for i, bar in zip(made.read, bars, strict=True):
        _contribute(adjoint, s.args[i], bar)


def _seed(adjoint: Adjoint, out: Var) -> Arg:
    g = adjoint.take(out) if adjoint.activity.active(out) else None
    return adjoint._zero(out) if g is None else g


def _is_added_to(adjoint: Adjoint, v: Var) -> bool:
    """Whether a value has an adjoint already, to which the steps can go on adding, as a plain loop does."""
    return not adjoint.is_buffer(v) and v in adjoint.bars and not adjoint.bars[v].owned


def _bars(adjoint: Adjoint, op: Op, args: tuple[Arg, ...], made: Rerun) -> list[Arg]:
    """The results of an adjoint function: as many as there are parameters wanted."""
    kinds = tuple(p.kind for p in made.wanted)
    if len(kinds) > 1:
        bars: Any = adjoint.let(op, *args, kind=kinds).items
    else:
        whole = adjoint.let(op, *args, kind=Opaque(tuple))
        bars = (adjoint.let(INDEX, whole, Const(0), kind=kinds[0]),)
    for bar, p in zip(bars, made.wanted, strict=True):
        bar.hint = f"{p.name or p.hint or 'value'}_bar"
    return list(bars)


def _contribute(adjoint: Adjoint, target: Arg, bar: Arg) -> None:
    """Add the adjoint of a parameter to that of its argument, which may be of a narrower kind."""
    if isinstance(target, Const):
        return
    kind = arg_kind(bar)
    if isinstance(target, Var) and target.kind != kind and isinstance(target.kind, Array | Number):
        if isinstance(kind, Array | Number):
            bar = adjoint.unbroadcast(bar, target, kind)
        else:
            bar = adjoint.let(adjoint.function_op(unbroadcast), bar, adjoint.primal(target), kind=target.kind)
    adjoint.contribute(target, bar)
