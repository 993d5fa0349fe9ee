"""The intermediate representation: structured, each value assigned once, with atoms as operands.

In: what `lower` reads from a user's source. Out: what `emit` writes back as Python. `show` prints it,
`evaluate` runs it, `verify` (its own module) checks it.

    misfit(u, v):
      d = operator - (u, v)        # line 3
      s = call np.sum (d * d)
      yield s

Control flow stays nested (`If`, `For`, `While`, `Try`, `With`); what a block changes comes out of it as an
explicit value: a block ends by yielding, the statement that holds it binds the yields to its `outs`. Early
returns, breaks and continues have become flags by the time there is an IR.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from .comments import Notes
from .kinds import UNDEFINED, UNKNOWN, Kind

# -- operands ----------------------------------------------------------------------------------------


@dataclass(eq=False)
class Var:
    """A value, bound once. `name` is what the user calls it, and what it is called again if that is free;
    "" for a value that the user has not named; `hint` is then what it may be called where it needs a name."""

    name: str
    kind: Kind = UNKNOWN
    hint: str = ""

    def __repr__(self) -> str:
        return f"{self.name}:{self.kind}"


@dataclass(frozen=True)
class Const:
    """A literal: number, string, None, True, Ellipsis. `1`, `1.0` and `True` are three constants."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and (self.value == other.value or self.value is other.value)
            and repr(self.value) == repr(other.value)  # 0.0 and -0.0
        )

    def __hash__(self) -> int:
        return hash((type(self.value), repr(self.value)))

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False)
class Ref:
    """A Python object known by reference: a function, module, class, dtype. `text` is how to write it.

    `imports` is the import statement that `text` needs, or "" for builtins.
    """

    value: Any
    text: str
    imports: str = ""
    path: tuple[tuple[str, Any], ...] | None = None  # how to find the value again, from the user's function

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Tup:
    """A tuple of operands; `cls` is the named tuple class, if it is one."""

    items: tuple[Arg, ...]
    cls: Ref | None = None


@dataclass(frozen=True)
class Lst:
    """A list display of operands."""

    items: tuple[Arg, ...]


@dataclass(frozen=True)
class Dct:
    """A dict display, or with `cls` a call of a dataclass with keyword arguments."""

    items: tuple[tuple[Arg, Arg], ...]
    cls: Ref | None = None


@dataclass(frozen=True)
class Slc:
    """A slice in an index."""

    start: Arg
    stop: Arg
    step: Arg

    def known(self) -> slice | None:
        """The slice that it is, if its ends are constants."""
        ends = constants((self.start, self.stop, self.step))
        return None if ends is None else slice(*ends)


@dataclass(frozen=True)
class Star:
    """`*value` in a call or display."""

    value: Arg


#: `Ref.imports` of what no import statement gets at, such as a class that a function has made.
NOT_IMPORTABLE = "not importable"

Arg = Var | Const | Ref | Tup | Lst | Dct | Slc | Star
NONE = Const(None)
#: What a name is on a path on which it is not bound.
UNBOUND = Var("unbound", UNDEFINED)
TRUE, FALSE = Const(True), Const(False)


def constants(args: Iterable[Arg]) -> tuple[Any, ...] | None:
    """The values of operands that are all constants; None if one is not."""
    values: list[Any] = []
    for arg in args:
        if not isinstance(arg, Const):
            return None
        values.append(arg.value)
    return tuple(values)


def variables(arg: Arg) -> Iterator[Var]:
    """The variables in an operand, in order."""
    if isinstance(arg, Var):
        yield arg
    elif isinstance(arg, Tup | Lst):
        for item in arg.items:
            yield from variables(item)
    elif isinstance(arg, Dct):
        for key, value in arg.items:
            yield from variables(key)
            yield from variables(value)
    elif isinstance(arg, Slc):
        for part in (arg.start, arg.stop, arg.step):
            yield from variables(part)
    elif isinstance(arg, Star):
        yield from variables(arg.value)


def substitute(arg: Arg, new: Callable[[Var], Arg]) -> Arg:
    """The operand with every variable replaced by `new(variable)`."""
    if isinstance(arg, Var):
        return new(arg)
    if isinstance(arg, Tup):
        return Tup(tuple(substitute(a, new) for a in arg.items), arg.cls)
    if isinstance(arg, Lst):
        return Lst(tuple(substitute(a, new) for a in arg.items))
    if isinstance(arg, Dct):
        return Dct(tuple((substitute(k, new), substitute(v, new)) for k, v in arg.items), arg.cls)
    if isinstance(arg, Slc):
        return Slc(substitute(arg.start, new), substitute(arg.stop, new), substitute(arg.step, new))
    if isinstance(arg, Star):
        return Star(substitute(arg.value, new))
    return arg


# -- operations --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Site:
    """Where in the user's source something was written: for errors, comments and tracebacks."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str = ""  # the source of the statement, for the comment above its adjoint
    notes: Notes | None = None  # the user's comments at the statement


@dataclass(frozen=True, eq=False)
class Op:
    """What a `Let` does. `form` says how it is written, `function` is what the rule table and `evaluate` use.

    forms: ``call`` f(a, b) · ``operator`` a + b, -a, a < b · ``index`` a[i] · ``attribute`` a.name ·
    ``shape`` a.shape[i] · ``method`` a.name(b) · ``value`` a (a display or another name) · ``fstring`` ·
    ``assert`` · ``store`` a[i] = b · ``augment`` a[i] += b · ``set`` a.name = b · ``delete`` del a[i] ·
    ``raise`` · ``inplace`` a += b · ``apply`` a(b) of a value · ``push``/``pop`` the reverse sweep's stacks ·
    ``hook`` gives its first operand on, and says what is to be done with its adjoint ·
    ``enter`` marks where a reversed block begins · ``declare`` a = None, for what only some paths bind.
    """

    form: str
    text: str
    function: Any = None
    ref: Ref | None = None

    def __repr__(self) -> str:
        return f"{self.form} {self.text}"


BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
UNARY: dict[str, Callable[..., Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "not": operator.not_,
}
COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"})

BINARY_OPS = {text: Op("operator", text, function) for text, function in BINARY.items()}
UNARY_OPS = {text: Op("operator", text, function) for text, function in UNARY.items()}
INDEX = Op("index", "[]", operator.getitem)
VALUE = Op("value", "")
STORE = Op("store", "=")
PUT = Op("put", "=")  # into a list or dict of the surrounding code; what is read of that later is known
DELETE = Op("delete", "del")
ASSERT = Op("assert", "assert")
RAISE = Op("raise", "raise")
LENGTH = Op("call", "len", len, Ref(len, "len"))
PUSH = Op("push", "append")
POP = Op("pop", "pop")


# -- statements --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Let:
    """`outs = op(*args, **kwargs)`. `effect` is "" (pure), "io" (to be done once, in order) or "write"
    (changes memory that other values may see)."""

    outs: tuple[Var, ...]
    op: Op
    args: tuple[Arg, ...]
    kwargs: tuple[tuple[str, Arg], ...] = ()
    effect: str = ""
    site: Site | None = None

    @property
    def out(self) -> Var:
        return self.outs[0]

    @property
    def operands(self) -> tuple[Arg, ...]:
        return (*self.args, *(value for _, value in self.kwargs))


@dataclass(frozen=True, eq=False)
class Block:
    """Statements, then what they yield to the statement that holds the block."""

    body: tuple[Statement, ...]
    yields: tuple[Arg, ...] = ()


@dataclass(frozen=True, eq=False)
class If:
    condition: Arg
    then: Block
    orelse: Block
    outs: tuple[Var, ...] = ()
    site: Site | None = None


@dataclass(frozen=True, eq=False)
class For:
    """`for index in iterable`. The body yields the next value of each carried `params`; with `stops` it
    yields one more, last: whether to leave the loop now. `trips` counts the trips begun. With `snapshots` the
    reverse sweep
    keeps that many states, and runs trips again (`checkpoint`)."""

    index: Var
    iterable: Arg
    params: tuple[Var, ...]
    inits: tuple[Arg, ...]
    body: Block
    outs: tuple[Var, ...]
    stops: bool = False
    trips: Var | None = None
    site: Site | None = None
    snapshots: Arg | None = None


@dataclass(frozen=True, eq=False)
class While:
    """`while test: body`. `test` yields one condition and may read the params; the rest is as in `For`."""

    test: Block
    params: tuple[Var, ...]
    inits: tuple[Arg, ...]
    body: Block
    outs: tuple[Var, ...]
    stops: bool = False
    trips: Var | None = None
    site: Site | None = None


@dataclass(frozen=True, eq=False)
class Handler:
    types: Arg | None
    name: Var | None
    block: Block


@dataclass(frozen=True, eq=False)
class Try:
    """The body, or the handler of what it raised: `path` is 0 for the body, k for the k-th handler."""

    body: Block
    handlers: tuple[Handler, ...]
    outs: tuple[Var, ...]
    path: Var
    site: Site | None = None


@dataclass(frozen=True, eq=False)
class With:
    """A passive context manager around statements; values bound inside are visible after it."""

    manager: Arg
    name: Var | None
    body: Block
    site: Site | None = None


Statement = Let | If | For | While | Try | With


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the module being written. `body` yields one operand: the result."""

    name: str
    params: tuple[Var, ...]
    body: Block
    free: tuple[Var, ...] = ()  # values of the user's globals and closures, passed in by keyword
    defaults: dict[str, Arg] = field(default_factory=dict)
    doc: str = ""
    signature: str = ""


@dataclass(frozen=True, eq=False)
class Callee:
    """A function of the module being written, as what is called or as an operand (the value of a `Ref`).

    Attributes:
        instance: where its IR is found (`Function` by the attribute `function`).
        which: ``plain``, or ``forward`` or ``adjoint`` of the pair made of it.
    """

    instance: Any
    which: str = "plain"

    @property
    def name(self) -> str:
        return str(self.instance.name) if self.which == "plain" else f"{self.instance.name}_{self.which}"

    def __call__(self, *args: Any) -> Any:
        if self.which != "plain":
            raise NotImplementedError(self.name)
        return evaluate(self.instance.function, *args)


# -- walking -----------------------------------------------------------------------------------------


def blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside a statement, in the order in which they run."""
    if isinstance(statement, If):
        return statement.then, statement.orelse
    if isinstance(statement, For):
        return (statement.body,)
    if isinstance(statement, While):
        return statement.test, statement.body
    if isinstance(statement, Try):
        return (statement.body, *(h.block for h in statement.handlers))
    return (statement.body,) if isinstance(statement, With) else ()


def moves(statement: Statement) -> Iterator[tuple[tuple[Var, ...], tuple[Arg, ...]]]:
    """What takes over which values as control passes into a statement, around it and out of it."""
    if isinstance(statement, If):
        yield statement.outs, statement.then.yields
        yield statement.outs, statement.orelse.yields
    elif isinstance(statement, For | While):
        yield statement.params, statement.inits
        yield statement.params, statement.body.yields
        yield statement.outs, statement.params
    elif isinstance(statement, Try):
        yield statement.outs, statement.body.yields
        for handler in statement.handlers:
            yield statement.outs, handler.block.yields


def bound(statement: Statement) -> tuple[Var, ...]:
    """What a statement binds for those that follow it (a `With` also shows what is inside)."""
    if isinstance(statement, Let | If):
        return statement.outs
    if isinstance(statement, For | While):
        return statement.outs + ((statement.trips,) if statement.trips else ())
    if isinstance(statement, Try):
        return (*statement.outs, statement.path)
    own = (statement.name,) if statement.name else ()
    return own + tuple(v for inner in statement.body.body for v in bound(inner))


def operands(statement: Statement) -> tuple[Arg, ...]:
    """The operands of a statement itself, without those of its blocks."""
    if isinstance(statement, Let):
        return statement.operands
    if isinstance(statement, If):
        return (statement.condition,)
    if isinstance(statement, For):
        marked = () if statement.snapshots is None else (statement.snapshots,)
        return (statement.iterable, *statement.inits, *marked)
    if isinstance(statement, While):
        return statement.inits
    if isinstance(statement, Try):
        return tuple(h.types for h in statement.handlers if h.types is not None)
    return (statement.manager,)


def bound_inside(body: Block) -> set[Var]:
    """Every variable that a block and the blocks in it bind."""
    found: set[Var] = set()
    for s in walk(body):
        found.update(bound(s))
        if isinstance(s, For | While):
            found.update(s.params)
        if isinstance(s, For):
            found.add(s.index)
        if isinstance(s, Try):
            found.update(h.name for h in s.handlers if h.name is not None)
    return found


def walk(block: Block) -> Iterator[Statement]:
    """Every statement of a block, those of inner blocks after the one that holds them."""
    for statement in block.body:
        yield statement
        for inner in blocks(statement):
            yield from walk(inner)


def reads(block: Block) -> set[Var]:
    """Every variable that a block reads, inner blocks included."""
    found = {v for arg in block.yields for v in variables(arg)}
    for statement in walk(block):
        found.update(v for arg in operands(statement) for v in variables(arg))
        found.update(v for inner in blocks(statement) for arg in inner.yields for v in variables(arg))
    return found


def rebuild(
    statement: Statement, block: Callable[[Block], Block], arg: Callable[[Arg], Arg] = lambda a: a
) -> Statement:
    """The statement with its blocks and operands mapped; what it binds stays."""
    if isinstance(statement, Let):
        return replace(
            statement,
            args=tuple(arg(a) for a in statement.args),
            kwargs=tuple((k, arg(a)) for k, a in statement.kwargs),
        )
    if isinstance(statement, If):
        return replace(
            statement,
            condition=arg(statement.condition),
            then=block(statement.then),
            orelse=block(statement.orelse),
        )
    if isinstance(statement, For):
        return replace(
            statement,
            iterable=arg(statement.iterable),
            inits=tuple(arg(a) for a in statement.inits),
            body=block(statement.body),
            snapshots=None if statement.snapshots is None else arg(statement.snapshots),
        )
    if isinstance(statement, While):
        return replace(
            statement,
            inits=tuple(arg(a) for a in statement.inits),
            test=block(statement.test),
            body=block(statement.body),
        )
    if isinstance(statement, Try):
        handlers = tuple(
            replace(h, types=None if h.types is None else arg(h.types), block=block(h.block))
            for h in statement.handlers
        )
        return replace(statement, body=block(statement.body), handlers=handlers)
    return replace(statement, manager=arg(statement.manager), body=block(statement.body))


def in_order(*parts: Block) -> list[Var]:
    """The variables of blocks in the order in which they are first read."""
    found: dict[Var, None] = {}

    def visit(block: Block) -> None:
        for s in block.body:
            for arg in operands(s):
                found.update(dict.fromkeys(variables(arg)))
            for inner in blocks(s):
                visit(inner)
        for arg in block.yields:
            found.update(dict.fromkeys(variables(arg)))

    for part in parts:
        visit(part)
    return list(found)


# -- show --------------------------------------------------------------------------------------------


def show(function: Function) -> str:
    """The IR as indented text; one line a statement."""
    lines = [f"{function.name}({', '.join(map(repr, function.params + function.free))}):"]

    def visit(block: Block, indent: str) -> None:
        for s in block.body:
            if isinstance(s, Let):
                args = ", ".join([*map(repr, s.args), *(f"{k}={a!r}" for k, a in s.kwargs)])
                outs = ", ".join(map(repr, s.outs))
                head, effect = outs + " = " if outs else "", f" !{s.effect}" if s.effect else ""
                lines.append(f"{indent}{head}{s.op} ({args}){effect}")
                continue
            lines.append(f"{indent}{', '.join(map(repr, bound(s)))} = {_head(s)}:")
            for n, inner in enumerate(blocks(s)):
                if n:
                    lines.append(f"{indent}then")
                visit(inner, indent + "  ")
        if block.yields:
            lines.append(f"{indent}yield {', '.join(map(repr, block.yields))}")

    visit(function.body, "  ")
    return "\n".join(lines)


def _head(s: If | For | While | Try | With) -> str:
    """How a statement with blocks is announced."""
    if isinstance(s, If):
        return f"if {s.condition!r}"
    if isinstance(s, With):
        return f"with {s.manager!r} as {s.name!r}"
    if isinstance(s, Try):
        return "try"
    head = f"for {s.index!r} in {s.iterable!r}" if isinstance(s, For) else "while"
    return f"{head} carrying {', '.join(f'{p!r} = {i!r}' for p, i in zip(s.params, s.inits, strict=True))}"


# -- evaluate ----------------------------------------------------------------------------------------


def evaluate(function: Function, *args: Any, **free: Any) -> Any:
    """Run the IR. What a pass leaves must evaluate to what it was given.

    Args:
        args: one value per parameter.
        free: values of the free variables, by name.
    """
    env: dict[Var, Any] = {UNBOUND: None, **dict(zip(function.params, args, strict=True))}
    env.update({v: free[v.name] for v in function.free})
    return _run_block(function.body, env)[0]


def _value(arg: Arg, env: dict[Var, Any]) -> Any:
    if isinstance(arg, Var):
        return env[arg]
    if isinstance(arg, Const | Ref):
        return arg.value
    if isinstance(arg, Tup):
        items = _spread(arg.items, env)
        return arg.cls.value(*items) if arg.cls else tuple(items)
    if isinstance(arg, Lst):
        return _spread(arg.items, env)
    if isinstance(arg, Dct):
        pairs = {_value(k, env): _value(v, env) for k, v in arg.items}
        return arg.cls.value(**pairs) if arg.cls else pairs
    if isinstance(arg, Slc):
        return slice(_value(arg.start, env), _value(arg.stop, env), _value(arg.step, env))
    raise TypeError(f"not an operand on its own: {arg!r}")


def _spread(items: tuple[Arg, ...], env: dict[Var, Any]) -> list[Any]:
    values: list[Any] = []
    for item in items:
        if isinstance(item, Star):
            values.extend(_value(item.value, env))
        else:
            values.append(_value(item, env))
    return values


def _run_block(block: Block, env: dict[Var, Any]) -> list[Any]:
    for statement in block.body:
        _run(statement, env)
    return [env.get(arg) if isinstance(arg, Var) else _value(arg, env) for arg in block.yields]


def _run(s: Statement, env: dict[Var, Any]) -> None:
    if isinstance(s, Let) and s.op.form == "declare":
        env.update(dict.fromkeys(variables(s.args[0])))
    elif isinstance(s, Let):
        result = apply(s.op, _spread(s.args, env), {k: _value(a, env) for k, a in s.kwargs})
        env.update(zip(s.outs, result if len(s.outs) > 1 else (result,), strict=False))
    elif isinstance(s, If):
        block = s.then if _value(s.condition, env) else s.orelse
        env.update(zip(s.outs, _run_block(block, env), strict=True))
    elif isinstance(s, For | While):
        _run_loop(s, env)
    elif isinstance(s, Try):
        _run_try(s, env)
    else:
        manager: AbstractContextManager[Any] = _value(s.manager, env)
        with manager as entered:
            if s.name:
                env[s.name] = entered
            _run_block(s.body, env)


def _run_loop(s: For | While, env: dict[Var, Any]) -> None:
    carried = [_value(a, env) for a in s.inits]
    trips = 0
    items = iter(_value(s.iterable, env)) if isinstance(s, For) else None
    while True:
        env.update(zip(s.params, carried, strict=True))
        if isinstance(s, For):
            assert items is not None
            try:
                env[s.index] = next(items)
            except StopIteration:
                break
        elif not _run_block(s.test, env)[0]:
            break
        trips += 1
        carried = _run_block(s.body, env)
        if s.stops and carried.pop():
            break
    env.update(zip(s.outs, carried, strict=True))
    if s.trips:
        env[s.trips] = trips


def _run_try(s: Try, env: dict[Var, Any]) -> None:
    try:
        values, path = _run_block(s.body, env), 0
    except Exception as error:
        for path, handler in enumerate(s.handlers, 1):  # noqa: B007
            if handler.types is None or isinstance(error, _value(handler.types, env)):
                if handler.name:
                    env[handler.name] = error
                values = _run_block(handler.block, env)
                break
        else:
            raise
    env.update(zip(s.outs, values, strict=True))
    env[s.path] = path


def _leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, tuple) else [value]


def apply(op: Op, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Do one operation on values."""
    if op.form in ("call", "operator"):
        return op.function(*args, **kwargs)
    if op.form == "index":
        return args[0][args[1]]
    if op.form == "shape":
        return args[0].shape[int(op.text)]
    if op.form == "attribute":
        return getattr(args[0], op.text)
    if op.form == "method":
        return getattr(args[0], op.text)(*args[1:], **kwargs)
    if op.form == "value":
        return args[0]
    if op.form in ("store", "put"):
        args[0][args[1]] = args[2]
    elif op.form == "augment":
        args[0][args[1]] = op.function(args[0][args[1]], args[2])
    elif op.form == "set":
        setattr(args[0], op.text, args[1])
    elif op.form == "delete":
        del args[0][args[1]]
    elif op.form == "push":
        args[0].append(args[1])
    elif op.form == "pop":
        return args[0].pop()
    elif op.form == "apply":
        return args[0](*args[1:])
    elif op.form == "hook":
        return args[0]
    elif op.form == "together":
        assert op.ref is not None
        return op.ref.value(*args)
    elif op.form == "log":
        getattr(args[0], op.text)(*args[1:])
    elif op.form == "inplace":
        return op.function(*args)
    elif op.form in ("enter", "declare", "touch"):
        pass
    elif op.form == "unpack":
        if len(args[0]) != int(op.text):
            raise ValueError(f"{len(args[0])} values to unpack (expected {op.text})")
    elif op.form == "assert":
        assert args[0], args[1]
    elif op.form == "raise":
        raise args[0]
    elif op.form == "fstring":
        return op.text.format(*args)
    elif op.form == "user":
        result = evaluate(op.function.function, *args)
        return (*_leaves(result), None)
    else:
        raise NotImplementedError(op.form)
    return None
