"""Activity: which values carry derivatives from the independent variables to the result.

In: an IR function, its independent variables, its aliases. Out: `Activity.active(v)`: `v` depends on an
independent variable (varied) and the result depends on `v` (useful), both through differentiable operations.

    n = len(x)              not varied
    print(x)                not useful
    y = np.sin(x)           active
"""

from __future__ import annotations

from ...runtime.rule import Rule, lookup
from ...runtime.support_checkpoint import refuse_overlap
from ...runtime.support_memory import refuse_shared, refuse_torn
from ..errors import AdjoinError, Code, Where
from ..infer import arg_kind
from ..ir import Arg, Block, For, Function, If, Let, Statement, Try, Tup, Var, While, blocks, variables
from ..kinds import Opaque, Unknown
from .aliases import WRITES_FIRST, Aliases, immutable, is_rerun

#: Forms that move values about without computing: what goes in comes out.
_MOVES = frozenset({"value", "index", "store", "augment", "inplace", "push", "pop"})
#: Callables that look at values and let nothing of them out again.
LOOKS = frozenset(
    {print, len, isinstance, type, id, str, repr, format, bool, hash, range, hasattr, callable, int}
    | {refuse_overlap, refuse_shared, refuse_torn}
)


class Activity:
    """Sets of varied and useful variables, memory classes included."""

    def __init__(self, function: Function, independent: set[Var], aliases: Aliases) -> None:
        self.aliases = aliases
        self.varied = set(independent)
        self.useful: set[Var] = set()
        self._classes: dict[str, set[Var]] = {"varied": set(), "useful": set()}
        for v in independent:
            self._mark("varied", v)
        self._until_stable(lambda: self._forward(function.body))
        for y in function.body.yields:
            for v in variables(y):
                if v.kind.differentiable:
                    self._mark("useful", v)
        self._until_stable(lambda: self._backward(function.body))

    def active(self, v: Var) -> bool:
        return self.is_varied(v) and self.is_useful(v)

    def any_active(self, arg: Arg) -> bool:
        return any(self.active(v) for v in variables(arg))

    def is_varied_memory(self, v: Var) -> bool:
        """Whether something varied is stored in the memory of a value, of whatever kind it is."""
        return self._shared(v, "varied")

    def is_varied(self, v: Var) -> bool:
        return v.kind.differentiable and (v in self.varied or self._shared(v, "varied"))

    def is_useful(self, v: Var) -> bool:
        return v.kind.differentiable and (v in self.useful or self._shared(v, "useful"))

    def _shared(self, v: Var, which: str) -> bool:
        """Memory that is written to is active as a whole."""
        if immutable(v.kind):
            return False
        root = self.aliases.of(v)
        return (root in self.aliases.written or root in self.aliases.grown) and root in self._classes[which]

    def _mark(self, which: str, v: Var) -> bool:
        found = self.varied if which == "varied" else self.useful
        before = len(found) + len(self._classes[which])
        found.add(v)
        if not immutable(v.kind):
            self._classes[which].add(self.aliases.of(v))
        return len(found) + len(self._classes[which]) != before

    def _until_stable(self, sweep) -> None:  # type: ignore[no-untyped-def]
        while sweep():
            pass

    # -- forward: varied ---------------------------------------------------------------------------

    def _forward(self, block: Block) -> bool:
        changed = False
        for s in block.body:
            for inner in blocks(s):
                changed |= self._forward(inner)
            changed |= self._flow(s, "varied")
        return changed

    def _flow(self, s: Statement, which: str) -> bool:
        changed = False
        for target, sources in edges(s):
            if which == "varied":
                if target.kind.differentiable and any(self.is_varied(v) for v in sources):
                    changed |= self._mark("varied", target)
            elif self.is_useful(target):
                for v in sources:
                    if v.kind.differentiable:
                        changed |= self._mark("useful", v)
        return changed

    # -- backward: useful --------------------------------------------------------------------------

    def _backward(self, block: Block) -> bool:
        changed = False
        for s in reversed(block.body):
            changed |= self._flow(s, "useful")
            for inner in reversed(blocks(s)):
                changed |= self._backward(inner)
        return changed


def edges(s: Statement) -> list[tuple[Var, list[Var]]]:
    """Where values flow: each target with its sources."""
    if isinstance(s, Let):
        return _let_edges(s)
    if isinstance(s, If):
        triples = zip(s.outs, s.then.yields, s.orelse.yields, strict=True)
        return [(out, [*variables(a), *variables(b)]) for out, a, b in triples]
    if isinstance(s, For | While):
        flows = []
        for param, init, y, out in zip(s.params, s.inits, s.body.yields, s.outs, strict=False):
            flows.append((param, [*variables(init), *variables(y)]))
            flows.append((out, [*variables(init), *variables(y)]))
        if isinstance(s, For):
            flows.append((s.index, list(variables(s.iterable))))
        return flows
    if isinstance(s, Try):
        ends = [s.body, *(h.block for h in s.handlers)]
        return [(out, [v for e in ends for v in variables(e.yields[i])]) for i, out in enumerate(s.outs)]
    return []


def differentiable_operands(s: Let) -> list[Arg]:
    """The operands of an operation through which derivatives flow."""
    if s.op.form in ("index", "hook"):
        return [s.args[0]]
    if s.op.form in ("value", "inplace", "pop"):
        return list(s.args)
    if s.op.form in ("store", "augment"):
        return [s.args[2]]
    if s.op.form == "together":  # arrays that only say where memory is, and then what is put there
        return [s.args[-1]] if isinstance(s.args[-1], Tup) else list(s.args)
    if s.op.form == "method" and s.op.function is None and s.effect == "write":
        return list(s.args)
    if s.op.form in ("shape", "fstring", "assert", "raise", "delete", "touch", "unpack", "log", "put"):
        return []
    if s.op.form == "attribute" and s.op.function is None:
        return list(s.args) if not isinstance(arg_kind(s.args[0]), Opaque) else []
    if s.op.function in WRITES_FIRST:
        return [s.args[2]]
    try:
        if s.op.function in LOOKS:
            return []
    except TypeError:
        return []
    rule = lookup(s.op.function) if s.op.function is not None else None
    if rule is not None:
        return _rule_operands(rule, s)
    return list(s.operands)  # unknown: everything may matter


def _rule_operands(rule: Rule, s: Let) -> list[Arg]:
    if rule.signature is None:
        return []
    try:
        bound = rule.bind(s.args, dict(s.kwargs))
    except LookupError:
        return list(s.operands)
    operands: list[Arg] = []
    for name, arg in bound.items():
        if name in rule.steps:
            continue
        operands.extend(a for a in (arg if isinstance(arg, tuple) else (arg,)) if is_operand(a))
    return operands


def is_operand(arg: object) -> bool:
    from ..ir import Const, Dct, Lst, Ref, Slc, Star, Tup

    return isinstance(arg, Var | Const | Tup | Lst | Dct | Ref | Slc | Star)


def _let_edges(s: Let) -> list[tuple[Var, list[Var]]]:
    sources = [v for arg in differentiable_operands(s) for v in variables(arg)]
    targets = list(s.outs)
    if s.op.form in ("store", "augment", "inplace") or s.effect == "write":
        targets += list(variables(s.args[0]))
        if any(name == "out" for name, _ in s.kwargs):
            targets += list(variables(dict(s.kwargs)["out"]))
    return [(t, sources) for t in targets]


def refuse_opaque(function: Function, activity: Activity, reasons: dict[int, AdjoinError]) -> None:
    """Raise for the first call without rule or source that something active goes into."""
    from .hidden import Hidden

    def visit(block: Block) -> None:
        for s in block.body:
            if isinstance(s, Let):
                _check(s, activity, reasons)
            for inner in blocks(s):
                visit(inner)

    visit(function.body)
    found = Hidden(function, activity).found
    if found is not None:
        raise reasons.get(id(found.op)) or AdjoinError(
            Code.OPAQUE_CALL,
            f"an active value is put into something that is not followed, by {_word(found)}, and used later",
            where=Where.of(found.site) if found.site else None,
            rewrite="keep it in a name, a list, a dict with literal keys or an array of floats, or pass "
            "stop_gradient(value)",
        )


def _check(s: Let, activity: Activity, reasons: dict[int, AdjoinError]) -> None:
    function = s.op.function
    if s.op.form in (
        *_MOVES,
        "hook",
        "together",
        "touch",
        "unpack",
        "log",
        "put",
        "shape",
        "fstring",
        "assert",
        "raise",
        "delete",
        "set",
        "user",
    ):
        return
    if is_rerun(s):
        return
    if s.op.form == "attribute" and function is None:
        return
    if s.op.form == "method" and function is None and s.effect == "write":
        return
    if function in WRITES_FIRST or (function is not None and lookup(function) is not None):
        return
    try:
        if function in LOOKS:
            return
    except TypeError:
        pass
    operands = [v for arg in s.operands for v in variables(arg)]
    risky = [
        v for v in operands if activity.is_varied(v) and (_comes_back(s, activity) or activity.is_useful(v))
    ]
    if not risky or not any(_flows(s, v, activity) for v in risky):
        return
    raise _refusal(s, reasons)


def _refusal(s: Let, reasons: dict[int, AdjoinError]) -> AdjoinError:
    reason = reasons.get(id(s.op))
    if reason is not None:
        return reason
    function = s.op.function
    where = Where.of(s.site) if s.site else None
    name = s.op.text
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    if module in ("numpy", "scipy", "cupy", "math") or isinstance(function, type(len)):
        return AdjoinError(
            Code.NO_RULE,
            f"no rule yet for `{name}`",
            where=where,
            rewrite="express it with operations that have one, or add a rule for it with the decorators of "
            "adjoin.rule",
        )
    return AdjoinError(
        Code.OPAQUE_CALL,
        f"an active value goes into `{name}`, which has neither source nor rule",
        where=where,
        rewrite="write it in Python where its source can be read, add a rule, or pass stop_gradient(value)",
    )


def _word(s: Let) -> str:
    forms = {"fstring": "an f-string", "store": "a store", "set": f"setting the attribute {s.op.text!r}"}
    return forms.get(s.op.form) or f"`{s.op.text}`"


def _comes_back(s: Let, activity: Activity) -> bool:
    return any(activity.is_useful(out) for out in s.outs)


def _flows(s: Let, v: Var, activity: Activity) -> bool:
    """Whether what goes in may matter: it comes back as a useful result, or memory may be changed."""
    if any(
        activity.is_useful(out) or (isinstance(out.kind, Unknown) and activity.is_useful(out))
        for out in s.outs
    ):
        return True
    return not immutable(v.kind) and s.effect == "io"
