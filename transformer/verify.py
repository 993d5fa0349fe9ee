"""Verify: the invariants of the IR, checked after every pass in the tests.

In: a function. Out: nothing, or an `Invalid` that shows the statement and says what is wrong with it.

    verify(lowered.function)

- Every variable is bound once.
- A variable is read where it is certainly bound. It is visible to the statements after the one that binds
  it, and in their blocks; what a `With` or a `finally` binds is visible after it. What one branch of an `If`
  binds is visible again in that branch of every later `If` on the same condition, and what one path of a
  `Try` binds, where a later `If` compares its `path`: this is how the reverse sweep reads a branch's values.
  What a loop's body binds is not visible outside.
- Blocks yield as many values as their statement takes.
- Operands are operands, and operations have as many as their form wants.
- The kinds of what is carried cover what is put into it. A reverse sweep takes kinds more lightly
  (`carried=False`), but a name for a number is never given an array: passes look for no other names of it.
- No marks for `needed` are left. (Where the reverse sweep as a whole begins stays marked.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .infer import arg_kind
from .ir import (
    UNBOUND,
    Arg,
    Block,
    Const,
    Dct,
    For,
    Function,
    If,
    Let,
    Lst,
    Ref,
    Slc,
    Star,
    Statement,
    Try,
    Tup,
    Var,
    While,
    With,
    bound,
    operands,
    show,
    variables,
)
from .kinds import Array, Kind, Number, join


class Invalid(AssertionError):
    """An IR that breaks an invariant."""


def verify(function: Function, carried: bool = True) -> None:
    """Check a function.

    Args:
        carried: whether the kinds of carried and joined values have to cover what goes into them.

    Raises:
        Invalid: naming the function, the statement and what is wrong.
    """
    _Verifier(function, carried).run()


#: How many operands the forms have that do not take any number of them.
_OPERANDS = {
    "index": (2,), "attribute": (1,), "shape": (1,), "value": (1,), "store": (3,), "put": (3,),
    "augment": (3,), "set": (2,), "delete": (2,), "assert": (2,), "raise": (1, 2), "inplace": (2,),
    "push": (2,), "pop": (1,), "declare": (1,), "operator": (1, 2), "enter": (0,),
}  # fmt: skip
_OTHER_FORMS = frozenset(
    {"call", "method", "apply", "fstring", "user", "user_adjoint", "user_tangent", "log", "touch", "unpack"}
    | {"together", "checkpoint", "hook"}
)
#: Forms of which one operand may be an index with slices in it (a call: `np.add.at`).
_INDEXED = frozenset({"index", "store", "put", "augment", "delete", "call", "method"})
_WRITES = frozenset({"store", "put", "augment", "set", "delete", "push", "pop"})


class _Verifier:
    def __init__(self, function: Function, carried: bool) -> None:
        self.function = function
        self.carried = carried
        self.visible: set[Var] = set()
        self.born: set[Var] = set()
        self.made: dict[Var, Let] = {}
        #: what is visible in the branches on a condition, and on the paths of a `Try`
        self.branches: dict[tuple[Var, object], set[Var]] = {}
        self.paths: dict[Var, set[int]] = {}  # which paths of a `Try` are still possible here
        self.at: Statement | None = None

    def run(self) -> None:
        for v in (*self.function.params, *self.function.free):
            self._bind(v)
        self._block(self.function.body, 1)

    def fail(self, reason: str) -> None:
        shown = "" if self.at is None else f"\n{_shown(self.at)}"
        raise Invalid(f"in {self.function.name}: {reason}{shown}")

    def must(self, holds: bool, reason: str) -> None:
        if not holds:
            self.fail(reason)

    # -- variables ---------------------------------------------------------------------------------

    def _bind(self, v: Var) -> None:
        self.must(isinstance(v, Var) and isinstance(v.kind, Kind), f"{v!r} is no variable with a kind")
        self.must(v is not UNBOUND, "the variable of what is not bound is bound")
        self.must(v not in self.born, f"{v!r} is bound a second time")
        self.born.add(v)
        self.visible.add(v)

    def _read(self, arg: Arg) -> None:
        for v in variables(arg):
            if v is not UNBOUND and v not in self.visible:
                self.fail(f"{v!r} is read where it {'may not be' if v in self.born else 'is not'} bound")

    def _operand(self, arg: Arg, index: bool = False) -> None:
        if isinstance(arg, Slc):
            self.must(index, f"{arg!r} is no index here")
            for part in (arg.start, arg.stop, arg.step):
                self.must(isinstance(part, Var | Const | Ref), f"{part!r} is no end of a slice")
        elif isinstance(arg, Tup | Lst):
            for item in arg.items:
                self._operand(item, index)
        elif isinstance(arg, Dct):
            for key, value in arg.items:
                self._operand(key)
                self._operand(value)
        elif isinstance(arg, Star):
            self._operand(arg.value)
        else:
            self.must(isinstance(arg, Var | Const | Ref), f"{arg!r} is no operand")

    # -- statements --------------------------------------------------------------------------------

    def _block(self, block: Block, yields: int) -> None:
        """Check a block whose surroundings are visible; what it binds stays visible (see `_scope`)."""
        holder = self.at
        for s in block.body:
            self._statement(s)
        self.at = holder
        self.must(len(block.yields) == yields, f"a block yields {len(block.yields)} values, not {yields}")
        for arg in block.yields:
            self._operand(arg)
            self._read(arg)

    def _statement(self, s: Statement) -> None:
        self.at = s
        for arg in operands(s):
            self._operand(arg, index=isinstance(s, Let) and s.op.form in _INDEXED)
        if not (isinstance(s, Let) and s.op.form == "declare"):
            for arg in operands(s):
                self._read(arg)
        if isinstance(s, Let):
            self._let(s)
        elif isinstance(s, If):
            self._if(s)
        elif isinstance(s, For | While):
            self._loop(s)
        elif isinstance(s, Try):
            self._try(s)
        elif isinstance(s, With):
            if s.name is not None:
                self._bind(s.name)
            self._block(s.body, 0)
        else:
            self.fail(f"{s!r} is no statement")
        self.at = None

    def _let(self, s: Let) -> None:
        form = s.op.form
        self.must(form in _OPERANDS or form in _OTHER_FORMS, f"the form {form!r} does not belong here")
        if form in _OPERANDS:
            self.must(len(s.args) in _OPERANDS[form], f"{len(s.args)} operands")
        self.must(s.effect in ("", "io", "write"), f"the effect {s.effect!r}")
        self.must(form not in _WRITES or s.effect != "", "it changes memory, but has no effect")
        self.must(
            form != "enter" or s.op.function is None,
            "a reversed block begins, but what it needs is not bound",
        )
        unfilled = s.op.text == "restore" and s.args[2] == Const(None)
        self.must(not unfilled, "the old value of a store is to be put back, but was not kept")
        if form == "declare":
            self.visible.update(variables(s.args[0]))
            return
        for out in s.outs:
            self._bind(out)
            self.made[out] = s

    def _if(self, s: If) -> None:
        ends = []
        for side, block in ((True, s.then), (False, s.orelse)):
            with self._scope(), self._known(s.condition, side):
                self._block(block, len(s.outs))
                ends.append((block, side, set(self.visible)))
        for block, side, visible in ends:
            with self._scope():
                facts = self._facts(s.condition, side)
            for fact in facts:
                self.branches.setdefault(fact, set()).update(visible - self.visible)
            self._covered(s.outs, block.yields)
        for out in s.outs:
            self._bind(out)

    def _loop(self, s: For | While) -> None:
        n = len(s.params)
        self.must(
            len(s.inits) == n and len(s.outs) == n, f"{n} params, {len(s.inits)} inits, {len(s.outs)} outs"
        )
        self._covered(s.params, s.inits)
        with self._scope():
            for param in s.params:
                self._bind(param)
            if isinstance(s, For):
                self._bind(s.index)
            else:
                self._block(s.test, 1)
            self._block(s.body, n + s.stops)
        self._covered(s.params, s.body.yields[:n])
        self._covered(s.outs, s.params)
        for v in bound(s):
            self._bind(v)

    def _try(self, s: Try) -> None:
        every = [s.body, *(h.block for h in s.handlers)]
        ends = []
        for k, block in enumerate(every):
            with self._scope():
                if k and (name := s.handlers[k - 1].name) is not None:
                    self._bind(name)
                self._block(block, len(s.outs))
                ends.append(set(self.visible))
        for k, (block, visible) in enumerate(zip(every, ends, strict=True)):
            self.branches[s.path, k] = visible - self.visible
            self._covered(s.outs, block.yields)
        self.paths[s.path] = set(range(len(every)))
        self.must(len(s.handlers) > 0, "a `try` without handlers")
        for v in (*s.outs, s.path):
            self._bind(v)

    # -- what is visible where ---------------------------------------------------------------------

    @contextmanager
    def _scope(self) -> Iterator[None]:
        """What is bound inside is not visible after."""
        outer, paths = set(self.visible), {k: set(v) for k, v in self.paths.items()}
        yield
        self.visible, self.paths = outer, {**self.paths, **paths}

    @contextmanager
    def _known(self, condition: Arg, side: bool) -> Iterator[None]:
        """Show what was bound where this condition held before."""
        for fact in self._facts(condition, side):
            self.visible |= self.branches.get(fact, set())
        yield

    def _facts(self, condition: Arg, side: bool) -> list[tuple[Var, object]]:
        """What is known in one branch: that a condition holds, or which path a `Try` took."""
        made = self.made.get(condition) if isinstance(condition, Var) else None
        if made is not None and made.op.form == "operator" and made.op.text == "not":
            return self._facts(made.args[0], not side)
        if not isinstance(condition, Var):
            return []
        facts: list[tuple[Var, object]] = [(condition, side)]
        if made is None or made.op.form != "operator" or made.op.text not in ("==", "!="):
            return facts
        path, k = made.args
        if isinstance(path, Var) and path in self.paths and isinstance(k, Const):
            if side == (made.op.text == "=="):
                self.paths[path] &= {k.value}
            else:
                self.paths[path] -= {k.value}
            if len(self.paths[path]) == 1:
                facts.append((path, *self.paths[path]))  # type: ignore[arg-type]
        return facts

    # -- kinds -------------------------------------------------------------------------------------

    def _covered(self, targets: Iterable[Var], values: Iterable[Arg]) -> None:
        covers = _covers if self.carried else _covers_memory
        for target, value in zip(targets, values, strict=False):
            kind = arg_kind(value)
            if value is not UNBOUND and isinstance(value, Var | Const) and not covers(target.kind, kind):
                self.fail(f"{target!r} does not cover {value!r} of kind {kind!r}")


def _covers(wide: Kind, narrow: Kind) -> bool:
    return join(wide, narrow) == wide


def _covers_memory(wide: Kind, narrow: Kind) -> bool:
    return not (isinstance(wide, Number) and isinstance(narrow, Array))


def _shown(s: Statement) -> str:
    """The statement as `show` prints it, inner blocks cut short, and the line that it comes from."""
    text = show(Function("f", (), Block((s,)))).partition("\n")[2]
    lines = text.splitlines()
    site = f"\n    from {s.site.file}:{s.site.line}: {s.site.text}" if s.site else ""
    return "\n".join(lines[:12]) + ("\n    ..." if len(lines) > 12 else "") + site


__all__ = ["Invalid", "verify"]
