"""Propagation: a value that was computed before is not computed again.

In: a function. Out: the function in which a pure operation on the same operands as an earlier one, with
nothing written to their memory in between, is the earlier value. Values that the user has named stay, but
what is computed from them is known to be the same.

    p = t * a          ->      p = t * a
    q = t * a                  yield p + p
    yield p + q
"""

from __future__ import annotations

from ..analyses.aliases import immutable, is_basic
from ..ir import Arg, Block, Const, Dct, Function, Let, Lst, Ref, Slc, Star, Statement, Tup, Var
from ..kinds import Array, Number
from .memory import Place, is_computation, memory_of
from .rewrite import Rewriter


def propagate(function: Function) -> Function:
    return _Propagate(function).run(function)


class _Propagate(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.memory = memory_of(function)
        self.known: dict[object, tuple[Var, Place]] = {}
        self.first: dict[Var, Var] = {}  # for values that stay: the first one that is equal to it, always
        #: values of one path that are read beyond it
        top = [s for s in function.body.body if isinstance(s, Let)]
        self.read_beyond = {s.args[0] for s in top if s.op.form == "declare"}

    def block(self, block: Block) -> Block:
        """What a block computes is known inside it alone."""
        outer = dict(self.known)
        try:
            return super().block(block)
        finally:
            self.known = outer

    def let(self, old: Let, new: Let) -> list[Statement]:
        if not _is_plain(new) or new.out in self.read_beyond:
            return [new]
        here = self.memory.where[id(old)]
        key = (
            new.op.form,
            new.op.text,
            id(new.op.function),
            *map(self._key, new.args),
            *((k, self._key(a)) for k, a in new.kwargs),
        )
        known = self.known.get(key)
        if known is not None and self._is_same(old, new, *known, here):
            self.replace(new.out, known[0])
            return []
        if known is not None and self._stays_equal(new, *known, here):
            self.first[new.out] = self.first.get(known[0], known[0])
        else:
            self.known[key] = (new.out, here)
        return [new]

    def _stays_equal(self, new: Let, known: Var, made: Place, here: Place) -> bool:
        """Whether a value is equal to an earlier one whenever both are read."""
        if not self.memory.are_still(new.operands, made, here) or known.kind != new.out.kind:
            return False
        if not isinstance(known.kind, Array):
            return immutable(known.kind)
        if _is_view(new):
            return True  # of the same elements, whatever they are
        return not self.memory.is_written(known) and not self.memory.is_written(new.out)

    def _is_same(self, old: Let, new: Let, known: Var, made: Place, here: Place) -> bool:
        if new.out.name and not self.reverse:
            return False  # a line of the user's
        if not self.memory.are_still(new.operands, made, here) or known.kind != new.out.kind:
            return False
        if immutable(known.kind):
            return True
        return not self.memory.is_written(known) and self.memory.can_be(new.out, known)


    def _key(self, arg: Arg) -> object:
        """Operands are equal if they are the same values and constants."""
        if isinstance(arg, Var):
            return self.first.get(arg, arg)
        if isinstance(arg, Const):
            return arg
        if isinstance(arg, Ref):
            return ("ref", id(arg.value), arg.text)
        if isinstance(arg, Tup | Lst):
            return (type(arg), *map(self._key, arg.items))
        if isinstance(arg, Dct):
            return (Dct, *((self._key(k), self._key(v)) for k, v in arg.items))
        if isinstance(arg, Slc):
            return (Slc, self._key(arg.start), self._key(arg.stop), self._key(arg.step))
        assert isinstance(arg, Star)
        return (Star, self._key(arg.value))


def _is_plain(s: Let) -> bool:
    """A cheap, deterministic operation with one result that is no container."""
    if s.effect or len(s.outs) != 1:
        return False
    if s.op.form in ("shape", "index"):
        return True
    if s.op.form == "attribute":
        return s.op.text in ("shape", "size", "ndim", "T", "real", "imag")
    return is_computation(s) and isinstance(s.out.kind, Number | Array)


def _is_view(s: Let) -> bool:
    return (s.op.form == "index" and is_basic(s.args[1])) or s.op.form == "attribute"


__all__ = ["propagate"]
