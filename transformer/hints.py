"""Hints: what to call a value that the user has not named, in case it needs a name.

In: an operation and its operands. Out: a word, or "" if none tells more than another.

    np.exp(x)      ->   exp
    u[1:-1]        ->   u_part
    y * np.log(p)  ->   product
"""

from __future__ import annotations

from .ir import Arg, Op, Slc, Tup, Var, variables

_OPERATORS = {
    "+": "total",
    "-": "difference",
    "*": "product",
    "/": "ratio",
    "//": "quotient",
    "%": "remainder",
    "**": "power",
    "@": "product",
}
_CALLS = {
    "sum": "total",
    "max": "largest",
    "min": "smallest",
    "len": "length",
    "range": "steps",
    "reversed": "backwards",
    "where": "chosen",
    "zeros_like": "zeros",
    "expand_dims": "expanded",
    "broadcast_to": "spread",
    "unbroadcast": "fitted",
}
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in", "not"})


def hint_of(op: Op, args: tuple[Arg, ...]) -> str:
    """A name for what an operation gives."""
    if op.form == "operator":
        if op.text in _COMPARISONS:
            return "test"
        return "negative" if len(args) == 1 else _OPERATORS.get(op.text, "")
    if op.form == "index":
        return _part(args)
    if op.form == "shape":
        return f"{called(args[0])}_length" if called(args[0]) else "length"
    if op.form in ("attribute", "method"):
        if op.text in ("copy", "astype", "pop"):
            return called(args[0])
        return op.text
    if op.form == "call":
        name = op.text.rpartition(".")[2]
        return _CALLS.get(name, name if name.isidentifier() else "")
    return ""


def called(arg: Arg) -> str:
    """The name of an operand, or the hint for it."""
    found = next(variables(arg), None)
    return (found.name or found.hint) if found is not None else ""


def _part(args: tuple[Arg, ...]) -> str:
    base = called(args[0])
    sliced = any(isinstance(i, Slc) for i in (args[1].items if isinstance(args[1], Tup) else (args[1],)))
    return f"{base}_{'part' if sliced else 'item'}" if base else ""


def adjoint_hint(v: Var) -> str:
    """What to call the adjoint of a value that has no name."""
    return f"{v.hint}_bar" if v.hint else ""
