"""Emission: IR back to Python that people can read.

In: IR functions. Out: source text: comments where each adjoint block begins, temporaries folded back into the
expressions they came from, the user's names wherever one version of a name is alive at a time.

    t = x * 2
    y = np.sin(t)        ->     y = np.sin(x * 2)

Deterministic to the byte: names and order follow the IR alone.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..runtime.array_modules import speaks_numpy
from ..runtime.support import unbroadcast
from .builder import NUMPY
from .comments import Notes
from .errors import AdjoinError, Code
from .fold import Folds
from .infer import arg_kind
from .ir import (
    NOT_IMPORTABLE,
    UNBOUND,
    Arg,
    Block,
    Callee,
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
    moves,
    variables,
    walk,
)
from .kinds import Array, Number, dtype_of
from .names import Names
from .wrap import fit

#: Binding strength of operators, strongest first; an operand that binds less strongly gets parentheses.
_STRENGTH = {
    "**": 14, "unary": 13, "*": 12, "@": 12, "/": 12, "//": 12, "%": 12, "+": 11, "-": 11, "<<": 10, ">>": 10,
    "&": 9, "^": 8, "|": 7, "compare": 6, "not": 5, "and": 4, "or": 3, "if": 2, "lambda": 1,
}  # fmt: skip
_COMPARE = frozenset({"<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"})
_AUGMENTED = frozenset({"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"})
ATOM = 20
#: How the import of a helper that has a rule of its own begins.
_IMPORTED = f"from {unbroadcast.__module__}"
WIDTH = 100


@dataclass(frozen=True)
class Text:
    """An expression and how strongly its outermost operator binds."""

    text: str
    strength: int = ATOM


@dataclass
class Module:
    """What the functions of a module need around them."""

    numpy: Ref = NUMPY  # the array module that they are written with
    imports: dict[str, None] = field(default_factory=dict)
    helpers: dict[str, Any] = field(default_factory=dict)
    #: functions of the module that are called
    instances: dict[tuple[str, str], Any] = field(default_factory=dict)


def emit(function: Function, module: Module, comments: bool = True, reserved: Iterable[str] = ()) -> str:
    """The source of one function; what it imports and which helpers it calls is noted in `module`."""
    return _Printer(function, module, comments, reserved).run()


class _Printer:
    def __init__(self, function: Function, module: Module, comments: bool, reserved: Iterable[str]) -> None:
        self.function = function
        self.module = module
        self.comments = comments
        self.folds = Folds(function)
        taken = set(reserved) | _names_used(function)
        self.names = Names(function, self.folds, taken)
        self.bare = not speaks_numpy(module.numpy.value)
        self.lines: list[str] = []
        self.last_comment = ""
        self.unpacked: set[int] = set()  # statements that are printed with the count of what they read
        self.noted: set[int] = set()  # statements of the user's whose comments are there already
        self.beside: dict[int, Notes] = {}  # the comment that goes behind a statement, by its id
        self.moved_on = self._moved_on()  # what has to be bound on every path

    def run(self) -> str:
        f = self.function
        params = [self._name(p) + self._default(p) for p in f.params]
        if f.free:
            params += ["*", *(self._name(v) for v in f.free)]
        self.lines.append(f"def {f.name}({', '.join(params)}):")
        if f.doc:
            self._line(f'"""{f.doc}"""', 1)
        self._result(f.body, 1)
        return "\n".join(line for each in self.lines for line in fit(each, WIDTH)) + "\n"

    def _result(self, block: Block, depth: int) -> None:
        """A block that ends the function: where its last statement is the `if` that chooses the result, each
        branch returns."""
        last, result = (block.body[-1] if block.body else None), block.yields[0]
        if not (isinstance(last, If) and last.outs == (result,)) or self.folds.is_folded(last):
            self._block(block, depth)
            self._line(f"return {self._arg(result, 0, bare=True)}", depth)
            return
        self._find_notes(block)
        for s in block.body[:-1]:
            self._statement(s, depth)
        self._notes(last, depth)
        self._line(f"if {self._arg(last.condition)}:", depth)
        self._notes_beside(last, len(self.lines) - 1)
        self._result(last.then, depth + 1)
        self._result(last.orelse, depth)

    def _default(self, p: Var) -> str:
        default = self.function.defaults.get(p.name)
        return "" if default is None else f"={self._arg(default)}"

    def _line(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text)

    def _name(self, v: Var) -> str:
        return self.names[v]

    # -- statements --------------------------------------------------------------------------------

    def _block(self, block: Block, depth: int) -> bool:
        """Print statements; True if there is more than comments."""
        before = len(self.lines)
        self._find_notes(block)
        for at, s in enumerate(block.body):
            if isinstance(s, Let) and s.op.form == "unpack":
                self._unpack(s, block.body[at + 1 :], depth)
            elif id(s) not in self.unpacked:
                self._statement(s, depth)
        return self._has_code(before)

    def _unpack(self, s: Let, after: Iterable[Statement], depth: int) -> None:
        """`a, b = x`, the elements that the statements after it read in one line with the count of them."""
        names = ["_"] * int(s.op.text)
        for t in after:
            if not isinstance(t, Let) or t.op.form not in ("index", "push"):
                break
            for position, name in enumerate(names):
                mine = t.op.form == "index" and t.args == (s.args[0], Const(position)) and t.out in self.names
                if mine and name == "_":
                    names[position] = self._name(t.out)
                    self.unpacked.add(id(t))
        self._comment(s, depth)
        self._notes(s, depth)
        last = "," if len(names) == 1 else ""
        self._line(f"{', '.join(names)}{last} = {self._arg(s.args[0])}", depth)

    def _statement(self, s: Statement, depth: int) -> None:
        if isinstance(s, Let) and (s.op.form == "enter" or self.folds.is_folded(s)):
            return
        if isinstance(s, If) and self.folds.is_folded(s):
            return
        self._comment(s, depth)
        self._notes(s, depth)
        start = len(self.lines)
        self._print(s, depth)
        self._notes_beside(s, start)

    def _print(self, s: Statement, depth: int) -> None:
        if isinstance(s, Let):
            self._let(s, depth)
        elif isinstance(s, If):
            self._if(s, depth)
        elif isinstance(s, For):
            self._for(s, depth)
        elif isinstance(s, While):
            self._while(s, depth)
        elif isinstance(s, Try):
            self._try(s, depth)
        else:
            name = f" as {self._name(s.name)}" if s.name is not None else ""
            self._line(f"with {self._arg(s.manager)}{name}:", depth)
            if not self._block(s.body, depth + 1):
                self._line("pass", depth + 1)

    # -- comments ----------------------------------------------------------------------------------

    def _comment(self, s: Statement, depth: int) -> None:
        """Above the first statement of an adjoint block: the primal line it belongs to."""
        if not self.comments or s.site is None or not s.site.text or not self.folds.is_reverse(s):
            return
        first = s.site.text.strip().partition("\n")[0].rstrip()
        compound = first.startswith(("for ", "while ", "with ")) or (
            first.startswith("if ") and not isinstance(s, If)
        )
        again = isinstance(s, If) and first == f"if {self._arg(s.condition)}:"
        if isinstance(s, For | While | With) or compound or again:
            self.last_comment = ""
        elif first != self.last_comment:
            self.last_comment = first
            self._line(f"# {first}", depth)

    def _find_notes(self, block: Block) -> None:
        """Which statement of a block the user's comment beside a line goes to: the last of that line's."""
        for s in block.body:
            if s.site is None or s.site.notes is None or self.folds.is_reverse(s):
                continue
            if not (isinstance(s, Let | If) and self.folds.is_folded(s)) and not (
                isinstance(s, Let) and s.op.form == "push"
            ):
                self.beside = {k: n for k, n in self.beside.items() if n is not s.site.notes}
                self.beside[id(s)] = s.site.notes

    def _notes(self, s: Statement, depth: int) -> None:
        """The user's comments above a statement, once."""
        if not self.comments or s.site is None or s.site.notes is None or self.folds.is_reverse(s):
            return
        if id(s.site.notes) not in self.noted:
            self.noted.add(id(s.site.notes))
            for line in s.site.notes.above:
                self._line(line, depth)

    def _notes_beside(self, s: Statement, start: int) -> None:
        """The user's comment behind a statement, whose lines begin at `start`; above it if it is too long."""
        notes = self.beside.pop(id(s), None)
        if not self.comments or notes is None or not notes.beside or start >= len(self.lines):
            return
        compound = isinstance(s, If | For | While | With)
        heads = ("if ", "for ", "while ", "with ")
        at = (
            next(
                (i for i in range(start, len(self.lines)) if self.lines[i].lstrip().startswith(heads)), start
            )
            if compound
            else -1
        )
        line = self.lines[at]
        if len(line) + 2 + len(notes.beside) <= WIDTH:
            self.lines[at] = f"{line}  {notes.beside}"
        else:
            indent = line[: len(line) - len(line.lstrip())]
            self.lines.insert(at % len(self.lines), indent + notes.beside)

    # -- simple statements -------------------------------------------------------------------------

    def _let(self, s: Let, depth: int) -> None:
        outs = [self._name(v) for v in s.outs if v in self.names]
        form = s.op.form
        if form in ("store", "put"):
            self._line(f"{self._index(s.args)} = {self._arg(s.args[2], 0, bare=True)}", depth)
        elif form == "augment":
            self._augment(s, depth)
        elif form == "inplace":
            self._line(f"{outs[0]} = {self._arg(s.args[0])}", depth)
            self._line(f"{outs[0]} {s.op.text}= {self._arg(s.args[1], 0, bare=True)}", depth)
        elif form == "delete":
            self._line(f"del {self._index(s.args)}", depth)
        elif form == "set":
            self._line(f"{self._arg(s.args[0], ATOM)}.{s.op.text} = {self._arg(s.args[1])}", depth)
        elif form == "declare":
            declared = s.args[0]
            if isinstance(declared, Var) and declared in self.names:  # else a pass has replaced it
                self._line(f"{self._name(declared)} = None", depth)
        elif form == "assert":
            message = "" if s.args[1] == Const(None) else f", {self._arg(s.args[1])}"
            self._line(f"assert {self._arg(s.args[0])}{message}", depth)
        elif form == "log":
            listed = ", ".join(self._arg(a) for a in s.args[1:])
            self._line(f"{self._arg(s.args[0], ATOM)}.{s.op.text}({listed})", depth)
        elif form == "touch":
            self._line(f"{self._arg(s.args[0])}  # raises where it is not bound", depth)
        elif form == "raise":
            cause = f" from {self._arg(s.args[1])}" if len(s.args) > 1 else ""
            self._line("raise" if s.args[0] == Const(None) else f"raise {self._arg(s.args[0])}{cause}", depth)
        else:
            text = self._expression(s).text
            if not outs:
                self._line(text, depth)
            elif form == "user":
                self._line(f"{self._user_outs(s)} = {text}", depth)
            elif len(s.outs) > 1:
                names = [self._name(v) if v in self.names else "_" for v in s.outs]
                self._line(f"{', '.join(names)} = {text}", depth)
            elif outs[0] != text:
                self._bind(s, outs[0], text, depth)

    def _bind(self, s: Let, name: str, text: str, depth: int) -> None:
        """`name = text`, or `name += ...` for a number, unless the user wrote it otherwise."""
        if (
            s.op.form == "operator"
            and len(s.args) == 2
            and s.op.text in _AUGMENTED
            and isinstance(s.args[0], Var)
        ):
            first = s.args[0]
            mine = self.folds.definition(first) is None and self._name(first) == name
            if (
                mine
                and isinstance(first.kind, Number)
                and isinstance(s.out.kind, Number)
                and self._is_augmented(s, name)
            ):
                self._line(f"{name} {s.op.text}= {self._arg(s.args[1])}", depth)
                return
        self._line(f"{name} = {text}", depth)

    def _is_augmented(self, s: Let, name: str) -> bool:
        if self.folds.is_reverse(s):
            return s.op.text in "+-"
        return s.site is not None and s.site.text.lstrip().startswith(f"{name} {s.op.text}=")

    def _user_outs(self, s: Let) -> str:
        names = [self._name(v) for v in s.outs[:-1]]
        result = names[0] if len(names) == 1 else f"({', '.join(names)})"
        return f"{result}, {self._name(s.outs[-1])}" if self._is_saved(s) else result.strip("()")

    def _is_saved(self, s: Let) -> bool:
        """Whether the adjoint of a called function is called as well."""
        return self.folds.is_read(s.outs[-1])

    def _augment(self, s: Let, depth: int) -> None:
        target = s.args[0]
        where = s.args[1] == Const(Ellipsis)
        place = self._arg(target, ATOM) if where else self._index(s.args)
        if where and not self._is_place(target):
            place = f"{place}[...]"
        self._line(f"{place} {s.op.text}= {self._arg(s.args[2], 0, bare=True)}", depth)

    def _is_place(self, target: Arg) -> bool:
        """Whether an operand is written as something that `+=` can stand behind."""
        folded = self.folds.definition(target) if isinstance(target, Var) else None
        return isinstance(target, Var) and (
            folded is None or (isinstance(folded, Let) and folded.op.form == "index")
        )

    def _index(self, args: tuple[Arg, ...]) -> str:
        index = _every_axis(args[0], args[1]) if self.bare else args[1]
        return f"{self._arg(args[0], ATOM)}[{self._subscript(index)}]"

    def _moves(self, targets: Iterable[Var], values: Iterable[Arg], depth: int) -> None:
        """Bind what a block yields: those whose names differ, all at once."""
        pairs = []
        for target, arg in zip(targets, values, strict=False):
            if target not in self.names or (arg is UNBOUND and target not in self.moved_on):
                continue
            if self._arg(arg) != self._name(target):
                pairs.append((self._name(target), arg, self._names_in(arg)))
        if not pairs:
            return
        names = {p[0] for p in pairs}
        if len(pairs) > 1 and any(names & p[2] - {p[0]} for p in pairs):
            left, right = ", ".join(p[0] for p in pairs), ", ".join(self._arg(p[1]) for p in pairs)
            self._line(f"{left} = {right}", depth)
            return
        for name, arg, _ in pairs:
            self._line(f"{name} = {self._arg(arg, bare=True)}", depth)

    def _moved_on(self) -> set[Var]:
        """The variables that a block's end binds and that move on to another name, whether read there or not.

        Where such a one is not bound, None moves on.
        """
        pairs = [
            (t, a)
            for s in walk(self.function.body)
            for targets, values in moves(s)
            for t, a in zip(targets, values, strict=False)
            if t in self.names and a is not UNBOUND
        ]
        found: set[Var] = set()
        shared: list[tuple[Var, Var]] = []
        for target, arg in pairs:
            if isinstance(arg, Var) and arg in self.names and self.names[arg] == self.names[target]:
                shared.append((target, arg))
            else:
                found.update(self._unfolded(arg))
        while more := {a for t, a in shared if t in found} - found:
            found |= more
        return found

    def _unfolded(self, arg: Arg) -> Iterable[Var]:
        """The variables with a name of their own that an operand's text reads."""
        for v in variables(arg):
            folded = self.folds.definition(v)
            if folded is None:
                yield v
            else:
                for each in _read_by(folded):
                    yield from self._unfolded(each)

    def _names_in(self, arg: Arg) -> set[str]:
        return {self.names[v] for v in self._unfolded(arg) if v in self.names}

    def _if(self, s: If, depth: int) -> None:
        first = len(self.lines)
        condition = self._arg(s.condition)
        self._line(f"if {condition}:", depth)
        start = len(self.lines)
        self._block(s.then, depth + 1)
        self._moves(s.outs, s.then.yields, depth + 1)
        empty = not self._has_code(start)
        if empty:
            self._line("pass", depth + 1)
        at = len(self.lines)
        self._line("else:", depth)
        self._block(s.orelse, depth + 1)
        self._moves(s.outs, s.orelse.yields, depth + 1)
        if not self._has_code(at + 1):
            del self.lines[at:]
            if empty:
                del self.lines[first:]
        elif empty:
            negated = _negated(condition)
            self.lines[first : at + 1] = ["    " * depth + f"if {negated}:"]
        elif self.lines[at + 1].startswith("    " * (depth + 1) + "if ") and self._only_if(at + 1, depth + 1):
            self._to_elif(at, depth)

    def _has_code(self, start: int) -> bool:
        """Whether the lines from `start` on hold more than comments."""
        return any(not line.lstrip().startswith("#") for line in self.lines[start:])

    def _only_if(self, at: int, depth: int) -> bool:
        """Whether the lines from `at` on are one `if` with its branches."""
        indent = "    " * depth
        return all(
            line.startswith(indent + " ") or line.startswith((indent + "else:", indent + "elif "))
            for line in self.lines[at + 1 :]
        )

    def _to_elif(self, at: int, depth: int) -> None:
        inner = [line[4:] for line in self.lines[at + 1 :]]
        indent = "    " * depth
        inner[0] = indent + "el" + inner[0][len(indent) :]
        self.lines[at:] = inner

    def _for(self, s: For, depth: int) -> None:
        self._moves(s.params, s.inits, depth)
        if s.trips is not None and s.trips in self.names:
            self._line(f"{self._name(s.trips)} = 0", depth)
        index = "_" if self.folds.is_reverse(s) and not self.folds.is_read(s.index) else self._name(s.index)
        self._line(f"for {index} in {self._arg(s.iterable)}:", depth)
        self._loop_body(s, depth)

    def _while(self, s: While, depth: int) -> None:
        self._moves(s.params, s.inits, depth)
        if s.trips is not None and s.trips in self.names:
            self._line(f"{self._name(s.trips)} = 0", depth)
        if all(self._silent(t) for t in s.test.body):
            self._line(f"while {self._arg(s.test.yields[0])}:", depth)
        else:
            self._line("while True:", depth)
            self._block(s.test, depth + 1)
            self._line(f"if {_negated(self._arg(s.test.yields[0]))}:", depth + 1)
            self._line("break", depth + 2)
        self._loop_body(s, depth)

    def _silent(self, s: Statement) -> bool:
        return isinstance(s, Let | If) and self.folds.is_folded(s)

    def _loop_body(self, s: For | While, depth: int) -> None:
        start = len(self.lines)
        if s.trips is not None and s.trips in self.names:
            self._line(f"{self._name(s.trips)} += 1", depth + 1)
        self._block(s.body, depth + 1)
        self._moves(s.params, s.body.yields, depth + 1)
        if s.stops:
            stop = s.body.yields[-1]
            self._line(f"if {self._arg(stop)}:", depth + 1)
            self._line("break", depth + 2)
        if not self._has_code(start):
            self._line("pass", depth + 1)
        self._moves(s.outs, s.params, depth)

    def _try(self, s: Try, depth: int) -> None:
        path = s.path in self.names
        self._line("try:", depth)
        start = len(self.lines)
        self._block(s.body, depth + 1)
        self._moves(s.outs, s.body.yields, depth + 1)
        if path:
            self._line(f"{self._name(s.path)} = 0", depth + 1)
        if not self._has_code(start):
            self._line("pass", depth + 1)
        for k, h in enumerate(s.handlers, 1):
            name = f" as {self._name(h.name)}" if h.name is not None and h.name in self.names else ""
            any_type = " BaseException" if name else ""
            types = any_type if h.types is None else f" {self._arg(h.types)}"
            self._line(f"except{types}{name}:", depth)
            start = len(self.lines)
            self._block(h.block, depth + 1)
            self._moves(s.outs, h.block.yields, depth + 1)
            if path:
                self._line(f"{self._name(s.path)} = {k}", depth + 1)
            if not self._has_code(start):
                self._line("pass", depth + 1)

    # -- expressions -------------------------------------------------------------------------------

    def _arg(self, arg: Arg, strength: int = 0, bare: bool = False) -> str:
        """An operand as text, in parentheses if it binds less strongly than `strength`.

        `bare` leaves the parentheses of a tuple out, where it stands alone.
        """
        text = self._operand(arg)
        if bare and isinstance(arg, Tup) and arg.cls is None and len(arg.items) > 1:
            return text.text[1:-1]
        return f"({text.text})" if text.strength < strength else text.text

    def _operand(self, arg: Arg) -> Text:
        if isinstance(arg, Var):
            folded = self.folds.definition(arg)
            if folded is not None:
                return self._expression(folded) if isinstance(folded, Let) else self._ternary(folded)
            if arg is UNBOUND:
                return Text("None")  # not reached: something was raised before
            return Text(self._name(arg))
        if isinstance(arg, Const):
            return _literal(arg.value)
        if isinstance(arg, Ref):
            return Text(self._ref(arg))
        if isinstance(arg, Tup):
            items = ", ".join(self._arg(a) for a in arg.items)
            if arg.cls is not None:
                return Text(f"{self._ref(arg.cls)}({items})")
            return Text(f"({items},)" if len(arg.items) == 1 else f"({items})")
        if isinstance(arg, Lst):
            return Text(f"[{', '.join(self._arg(a) for a in arg.items)}]")
        if isinstance(arg, Dct):
            if arg.cls is not None:
                pairs = ", ".join(f"{k.value}={self._arg(v)}" for k, v in arg.items if isinstance(k, Const))
                return Text(f"{self._ref(arg.cls)}({pairs})")
            return Text("{" + ", ".join(f"{self._arg(k)}: {self._arg(v)}" for k, v in arg.items) + "}")
        if isinstance(arg, Slc):
            return Text(f"slice({self._arg(arg.start)}, {self._arg(arg.stop)}, {self._arg(arg.step)})")
        return Text(f"*{self._arg(arg.value, ATOM)}")

    def _ref(self, ref: Ref) -> str:
        if isinstance(ref.value, Callee):
            self.module.instances[ref.value.instance.name, ref.value.which] = ref.value.instance
        if self._is_carried(ref):
            self.module.helpers[ref.text] = ref.value
        elif ref.imports == NOT_IMPORTABLE:
            raise AdjoinError(
                Code.OPAQUE_CALL,
                f"the class `{ref.text}` cannot be imported, and a gradient of its form is to be made",
                rewrite="define it at the top of a module",
            )
        elif ref.imports:
            self.module.imports[ref.imports] = None
        return ref.text

    def _is_carried(self, ref: Ref) -> bool:
        """Whether the module carries a function; for a bare namespace what it would import is NumPy's."""
        return ref.imports == "support" or (self.bare and ref.imports.startswith(_IMPORTED))

    def _ternary(self, s: If) -> Text:
        """An `if` that only chooses a value."""
        then, orelse = s.then.yields[0], s.orelse.yields[0]
        if _same(orelse, s.condition):
            return Text(f"{self._arg(s.condition, 4)} and {self._arg(then, 5)}", 4)
        if _same(then, s.condition):
            return Text(f"{self._arg(s.condition, 3)} or {self._arg(orelse, 4)}", 3)
        return Text(f"{self._arg(then, 3)} if {self._arg(s.condition, 3)} else {self._arg(orelse, 2)}", 2)

    def _expression(self, s: Let) -> Text:
        form, args = s.op.form, s.args
        if form == "operator":
            return self._operator(s.op.text, args)
        if form == "index":
            return Text(self._index(args))
        if form == "shape":
            return Text(f"{self._arg(args[0], ATOM)}.shape[{s.op.text}]")
        if form == "attribute" and self.bare and s.op.text in ("real", "imag") and _is_array(args[0]):
            self.module.imports[self.module.numpy.imports] = None
            return Text(f"{self.module.numpy.text}.{s.op.text}({self._arg(args[0])})")
        if form == "attribute":
            return Text(f"{self._arg(args[0], ATOM)}.{s.op.text}")
        if form == "value":
            return self._operand(args[0])
        if form == "fstring":
            return Text(self._fstring(s))
        listed = ", ".join(
            [*(self._arg(a) for a in self._call_args(s)), *(f"{k}={self._arg(a)}" for k, a in s.kwargs)]
        )
        if s.op.function is np.copy and form == "method" and not speaks_numpy(self.module.numpy.value):
            self.module.imports[self.module.numpy.imports] = None
            return Text(f"{self.module.numpy.text}.asarray({self._arg(args[0])}, copy=True)")
        if form == "method":
            return Text(f"{self._arg(args[0], ATOM)}.{s.op.text}({listed})")
        if form == "push":
            return Text(f"{self._arg(args[0], ATOM)}.append({listed})")
        if form == "pop":
            return Text(f"{self._arg(args[0], ATOM)}.pop({listed})")
        if form == "user_tangent":
            self.module.instances[s.op.function.name, "tangent"] = s.op.function
            return Text(f"{s.op.text}({listed})")
        if form in ("user", "user_adjoint"):
            which = "adjoint" if form == "user_adjoint" else "forward" if self._is_saved(s) else "plain"
            self.module.instances[s.op.function.name, which] = s.op.function
            name = s.op.function.name if which == "plain" else f"{s.op.function.name}_{which}"
            return Text(f"{name}({listed})")
        if form == "apply":
            return Text(f"{self._arg(args[0], ATOM)}({listed})")
        return Text(f"{self._callee(s)}({listed})")

    def _call_args(self, s: Let) -> tuple[Arg, ...]:
        return (
            s.args[1:]
            if s.op.form in ("method", "push", "pop", "apply") or self._calls_operand(s)
            else s.args
        )

    def _calls_operand(self, s: Let) -> bool:
        return s.op.form == "call" and s.op.ref is None and s.op.function is None

    def _callee(self, s: Let) -> str:
        if self._calls_operand(s):
            return self._arg(s.args[0], ATOM)
        if isinstance(s.op.function, Callee):
            self.module.instances[s.op.function.instance.name, s.op.function.which] = s.op.function.instance
        if s.op.ref is not None:
            if self._is_carried(s.op.ref):
                self.module.helpers[s.op.text] = s.op.ref.value
            elif s.op.ref.imports:
                self.module.imports[s.op.ref.imports] = None
        return s.op.text

    def _operator(self, symbol: str, args: tuple[Arg, ...]) -> Text:
        if len(args) == 1:
            if symbol == "not":
                return Text(f"not {self._arg(args[0], 5)}", 5)
            return Text(f"{symbol}{self._arg(args[0], 13)}", 13)
        if symbol in _COMPARE:
            return Text(f"{self._arg(args[0], 7)} {symbol} {self._arg(args[1], 7)}", 6)
        strength = _STRENGTH[symbol]
        if symbol == "**":
            base, exponent = self._arg(args[0], 15), self._arg(args[1], 13)
            blank = "" if _is_simple(base) and _is_simple(exponent) else " "
            return Text(f"{base}{blank}**{blank}{exponent}", 14)
        return Text(f"{self._arg(args[0], strength)} {symbol} {self._arg(args[1], strength + 1)}", strength)

    def _subscript(self, index: Arg) -> str:
        if isinstance(index, Tup) and index.cls is None and index.items:
            items = ", ".join(self._subscript_item(i) for i in index.items)
            return items + ("," if len(index.items) == 1 else "")
        return self._subscript_item(index)

    def _subscript_item(self, part: Arg) -> str:
        if isinstance(part, Slc):
            return self._slice(part)
        if part == Const(Ellipsis):
            return "..."
        return self._arg(part)

    def _slice(self, part: Slc) -> str:
        """`a:b`, with blanks around the colon where a part is no plain name or number."""
        parts = ["" if p == Const(None) else self._arg(p) for p in (part.start, part.stop, part.step)]
        plain = all(p.removeprefix("-").isalnum() or p.isidentifier() or not p for p in parts)
        text = ":".join(parts[: 3 if parts[2] else 2])
        return text if plain else " : ".join(parts[: 3 if parts[2] else 2]).strip()

    def _fstring(self, s: Let) -> str:
        template, out, args = s.op.text, "", iter(s.args)
        at = 0
        while at < len(template):
            if template[at : at + 2] in ("{{", "}}"):
                out += template[at : at + 2]
                at += 2
            elif template[at] == "{":
                end = template.index("}", at)
                out += "{" + self._arg(next(args), 1).replace('"', "'") + template[at + 1 : end] + "}"
                at = end + 1
            else:
                out += template[at]
                at += 1
        quoted = repr(out)
        body = quoted[1:-1]
        if quoted[0] == "'":
            body = body.replace("\\'", "'").replace('"', '\\"') if '"' in out and "'" in out else body
        return 'f"' + body.replace('"', '\\"') + '"' if '"' not in body else "f'" + body + "'"


def _is_array(arg: Arg) -> bool:
    return isinstance(arg_kind(arg), Array)


def _every_axis(x: Arg, index: Arg) -> Arg:
    """An index with an ellipsis for the axes that it does not name, which the array API does not imply."""
    kind, parts = arg_kind(x), index.items if isinstance(index, Tup) else (index,)
    if not isinstance(kind, Array) or (kind.ndim is not None and len(parts) >= kind.ndim):
        return index
    if all(isinstance(part, Slc) or _is_position(part) for part in parts):
        return Tup((*parts, Const(Ellipsis)))
    return index


def _is_position(part: Arg) -> bool:
    kind = arg_kind(part)
    return isinstance(kind, Number) and dtype_of(kind) != "bool"


def _read_by(folded: Let | If) -> tuple[Arg, ...]:
    """What an expression reads that is written in place of a variable."""
    if isinstance(folded, Let):
        return folded.operands
    return (folded.condition, *folded.then.yields, *folded.orelse.yields)


def _is_simple(text: str) -> bool:
    """A name, an attribute or a number, which `**` is written close to."""
    text = text.removeprefix("-")
    return text.replace(".", "").isidentifier() or text.replace(".", "").isdigit()


def _negated(condition: str) -> str:
    simple = condition.isidentifier() or (
        condition.endswith(")") and condition.count("(") == 1 and " " not in condition
    )
    return f"not {condition}" if simple else f"not ({condition})"


def _same(a: Arg, b: Arg) -> bool:
    return a is b or (isinstance(a, Const) and a == b)


def _literal(value: Any) -> Text:
    if isinstance(value, np.generic):
        return Text(repr(value))
    if isinstance(value, float) and not np.isfinite(value):
        return Text(f"float({str(value)!r})")
    if value is Ellipsis:
        return Text("...")
    if isinstance(value, complex) and repr(value).startswith("(-0"):  # as written, that would be 0.0
        return Text(f"-{-value!r}", 13)
    text = repr(value)
    if isinstance(value, str) and '"' not in text:
        text = f'"{text[1:-1]}"'.replace("\\'", "'")
    return Text(text, 13) if text.startswith("-") else Text(text)


def _names_used(function: Function) -> set[str]:
    """Names of modules and functions that the text refers to, and Python's own."""
    from .ir import walk

    found = set(keyword.kwlist) | set(dir(builtins)) - {"_"}  # `_` is an interactive session's last result

    def visit(arg: Arg) -> None:
        if isinstance(arg, Ref):
            found.add(arg.text.partition(".")[0])
        elif isinstance(arg, Tup | Lst):
            for a in arg.items:
                visit(a)
            if isinstance(arg, Tup) and arg.cls is not None:
                visit(arg.cls)
        elif isinstance(arg, Dct):
            for _, a in arg.items:
                visit(a)
            if arg.cls is not None:
                visit(arg.cls)
        elif isinstance(arg, Star):
            visit(arg.value)

    from .ir import operands

    for s in walk(function.body):
        for arg in operands(s):
            visit(arg)
        if isinstance(s, Let):
            if s.op.ref is not None:
                visit(s.op.ref)
            elif s.op.form == "call":
                found.add(s.op.text.partition(".")[0])
    for arg in function.body.yields:
        visit(arg)
    return found


__all__ = ["Module", "emit"]
