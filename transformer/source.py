"""Find the text that a function was compiled from, and nothing else: quick, exact, without LibCST.

In: a function as people have them: a `def` at any depth, a lambda (one of several on a line, too), a method,
a `functools.partial`, something decorated, something typed into a REPL, a notebook or a doctest. Out: a
`Source`: its text, where that stands, the function object, and the arguments that were already bound.

    source = read(loss)
    source.text                     # 'def loss(w, X, y):\\n    ...'
    source.node                     # the LibCST node; LibCST is imported here, not before
    source.where(node)              # the place of a node in the real file
    namespace(source.function)["np"]   # what a free name means to the function now

The text is compared with the code object that really runs. A file that was edited since it was imported is
refused, never differentiated in the wrong version.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import linecache
import re
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .errors import AdjoinError, Code, Where

if TYPE_CHECKING:
    import libcst as cst

    from .parse import Parsed

__all__ = ["Namespace", "Source", "namespace", "read"]

_FUTURES = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


@dataclass(frozen=True, eq=False)
class Source:
    """A function and the text it was compiled from.

    Attributes:
        function: the Python function itself, with partials, bound methods and decorators taken off.
        text: its own lines as they stand in the file, indentation included; for a lambda just its characters.
        file: as the code object names it: a path, or ``<stdin>``-like for what was typed in.
        line: of the first line of `text`, counted from 1; a decorator's, where there is one.
        column: of the first character of the function in that line, counted from 0.
        lines: the whole lines that `text` stands in.
        args: positional arguments bound ahead of the call's, by partials and by methods (the instance).
        keywords: keyword arguments bound by partials; those of the call win.
    """

    function: types.FunctionType
    text: str
    file: str
    line: int
    column: int
    lines: tuple[str, ...]
    args: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def is_lambda(self) -> bool:
        return self.function.__code__.co_name == "<lambda>"

    @functools.cached_property
    def _parsed(self) -> Parsed:
        from .parse import parse  # the point where LibCST is loaded

        return parse(self.text, self.file, self.line, self.column, self.lines, is_lambda=self.is_lambda)

    @property
    def node(self) -> cst.FunctionDef | cst.Lambda:
        return self._parsed.node

    def bound_to(self, instance: Any) -> Source:
        """The source of the method of an instance; `dataclasses.replace`, at a tenth of its price."""
        bound = object.__new__(Source)
        bound.__dict__.update(self.__dict__, args=(*self.args, instance))
        return bound

    def where(self, node: cst.CSTNode | None = None) -> Where:
        """The place of a node of the tree in the real file; without one, of the line that says ``def``."""
        if node is not None:
            return self._parsed.where(node)
        starts = (i for i, line in enumerate(self.lines) if line.lstrip().startswith(("def ", "async ")))
        index = 0 if self.is_lambda else next(starts, 0)
        text = self.lines[index].rstrip()
        line, end = self.line + index, len(text)
        if self.is_lambda and len(self.lines) == 1:
            end = self.column + len(self.text)
        return Where(self.file, line, self.column, line, end, text)

    def code(self, node: cst.CSTNode) -> str:
        """The text of one node."""
        return self._parsed.code(node)


def read(function: Callable[..., Any]) -> Source:
    """The source of a callable.

    A wrapper made with `functools.wraps` is looked through when it does nothing but hand its arguments on
    (also `functools.cache` and Numba's dispatchers); any other wrapper is itself the function to read, for
    its result is what the program computes.

    Raises:
        AdjoinError: ADJ102 where there is no text; ADJ103 where the text is not what runs.

    >>> def f(x): return x * x
    >>> read(f).text
    'def f(x): return x * x\\n'
    >>> read(sum)
    Traceback (most recent call last):
    ...
    adjoin.AdjoinError: ADJ102 source-not-available: `sum` is not written in Python
     = instead: wrap it in a def, or give it a rule with the decorators of `adjoin.rule`
    """
    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    callable_: Any = function
    while not isinstance(callable_, types.FunctionType):
        if isinstance(callable_, functools.partial):
            if any(type(a).__name__ == "_PlaceholderType" for a in callable_.args):
                raise _unavailable(
                    "a partial with placeholders leaves gaps in its arguments", "bind by keyword instead"
                )
            args = callable_.args + args
            keywords = {**callable_.keywords, **keywords}
            callable_ = callable_.func
        elif isinstance(callable_, types.MethodType):
            args = (callable_.__self__, *args)
            callable_ = callable_.__func__
        elif isinstance(callable_, staticmethod | functools._lru_cache_wrapper):
            callable_ = callable_.__wrapped__
        elif type(callable_).__module__.partition(".")[0] == "numba" and hasattr(callable_, "py_func"):
            callable_ = callable_.py_func
        else:
            callable_ = _called(callable_)
    source = replace(_find(callable_), args=args, keywords=keywords)
    inner = _handed_on(source)
    if inner is None:
        return source
    found = read(inner)
    return replace(found, args=found.args + args, keywords={**found.keywords, **keywords})


def read_own(function: types.FunctionType) -> Source:
    """The source of a function of adjoin's own: a rule's body or a helper, without its decorators.

    Its text is the installed file's, so that it need not be compared with what runs; it ends before the next
    line that is not further in, for no string of ours holds one.
    """
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    lines = linecache.getlines(file)
    start = next(i for i in range(first - 1, len(lines)) if lines[i].lstrip().startswith("def "))
    column = len(lines[start]) - len(lines[start].lstrip())
    inside = (" " * (column + 1), " " * column + ")")
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(inside)):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    block = lines[start:end]
    return Source(function, "".join(block), file, start + 1, column, tuple(block))


def _called(callable_: Any) -> types.MethodType:
    """`obj.__call__` of an instance, as a bound method."""
    if isinstance(callable_, type):
        raise _unavailable(
            f"`{callable_.__name__}` is a class; only functions can be read", "wrap the call in a function"
        )
    method = getattr(type(callable_), "__call__", None)  # noqa: B004
    if isinstance(method, types.FunctionType):
        return types.MethodType(method, callable_)
    name = getattr(callable_, "__name__", type(callable_).__name__)
    if method is None:
        raise _unavailable(f"a value of type `{name}` is no function", "give the function itself")
    raise _unavailable(
        f"`{name}` is not written in Python",
        "wrap it in a def, or give it a rule with the decorators of `adjoin.rule`",
    )


def _unavailable(reason: str, rewrite: str) -> AdjoinError:
    return AdjoinError(Code.SOURCE_NOT_AVAILABLE, reason, rewrite=rewrite)


# -- the text of a function --------------------------------------------------------------------------


def _find(function: types.FunctionType) -> Source:
    code = function.__code__
    lines = _lines(function)
    text = "".join(lines)
    try:
        tree = _parsed_file(text)
    except (SyntaxError, ValueError):  # ValueError: null bytes
        raise _changed(function) from None
    around = [top for top in tree.body if _first_line(top) <= code.co_firstlineno <= _last_line(top)]
    candidates = [node for top in around for node in ast.walk(top) if _starts(node, code)]
    if len(candidates) > 1:
        exact = [node for node in candidates if _spans(node, code, lines)]
        alike = {ast.dump(node) for node in candidates}
        same = [] if exact else [node for node in candidates if _compiles_to(node, code)]
        candidates = exact[:1] or same[:1] * (len(same) == 1) or (candidates if len(alike) == 1 else [])
        if not candidates:
            raise AdjoinError(
                Code.SOURCE_NOT_AVAILABLE,
                "several lambdas begin on this line, and the code does not say which one is meant",
                where=_line_of(code),
                rewrite="put each on a line of its own, or use def",
            )
    if not candidates or not (_runs(code, _imports(tree) + around) or _runs(code, tree.body)):
        raise _changed(function)
    return _cut(function, candidates[0], lines)


def _lines(function: types.FunctionType) -> list[str]:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    from_code = getattr(linecache, "_getlines_from_code", None)  # the prompt, in later releases of 3.13
    if not lines and from_code is not None:
        lines = from_code(code)
        if lines and re.search(r"-\d+>?$", code.co_filename):  # one input alone has that name
            linecache.cache[code.co_filename] = (0, None, lines, code.co_filename)
    if lines:
        return lines
    raise _not_kept(function)


def _not_kept(function: types.FunctionType) -> AdjoinError:
    name, file = function.__qualname__, function.__code__.co_filename
    if file.startswith("<"):
        return _unavailable(
            f"the source of `{name}` is not kept ({file})",
            "put the function in a file, or in a notebook cell or the prompt of Python 3.13 or later",
        )
    return _unavailable(
        f"the file of `{name}` cannot be read: {file}",
        "make the source file available, or build the gradient where it is, with `adjoin build`",
    )


@functools.lru_cache(maxsize=16)
def _parsed_file(text: str) -> ast.Module:
    return ast.parse(text)


def _starts(node: ast.AST, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return code.co_name == node.name and _first_line(node) == code.co_firstlineno
    return False


def _first_line(node: ast.stmt) -> int:
    """As a code object counts it: from the first decorator."""
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _spans(node: ast.AST, code: types.CodeType, lines: list[str]) -> bool:
    """Whether the instructions of a lambda's code cover just the body of this node."""
    assert isinstance(node, ast.Lambda)
    known = [p for p in code.co_positions() if None not in p and p[1:] != (p[0], 0, 0)]
    if not known:
        return False
    first = min((p[0], p[2]) for p in known)
    last = max((p[1], p[3]) for p in known)
    body = node.body
    return first == (body.lineno, body.col_offset) and last == (body.end_lineno, body.end_col_offset)


def _imports(tree: ast.Module) -> list[ast.stmt]:
    """The imports at module level: the compiler treats attributes of what they bind in a way of its own."""
    found: list[ast.stmt] = []
    pending: list[ast.AST] = [tree]
    for node in pending:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                found.append(child)
            elif isinstance(child, ast.If | ast.Try | ast.With | ast.ExceptHandler):
                pending.append(child)
    return found


def _compiles_to(node: ast.AST, code: types.CodeType) -> bool:
    """Whether a lambda has these instructions: a constant's have no place of their own in Python 3.12."""
    if not isinstance(node, ast.Lambda):
        return False
    compiled = compile(ast.Expression(node), code.co_filename, "eval", dont_inherit=True)
    made = next(c for c in compiled.co_consts if isinstance(c, types.CodeType))
    parts = ("co_code", "co_consts", "co_names", "co_varnames")
    return all(getattr(made, part) == getattr(code, part) for part in parts)


def _runs(code: types.CodeType, statements: list[ast.stmt]) -> bool:
    """Whether compiling these statements gives the code that runs, at the same lines."""
    if any(name.startswith("@py") for name in code.co_varnames):
        return True  # assertions rewritten by pytest, the only change that is known to be harmless
    flags = (code.co_flags & _FUTURES) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        module = ast.Module(list(statements), [])
        compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    except SyntaxError:
        return False
    return any(found == code for found in _codes(compiled) if found.co_name == code.co_name)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _changed(function: types.FunctionType) -> AdjoinError:
    code = function.__code__
    if code.co_filename in ("<string>", "<stdin>"):  # many texts have that name; these lines are another's
        return _not_kept(function)
    return AdjoinError(
        Code.SOURCE_CHANGED,
        f"`{function.__qualname__}` was not compiled from the text that now stands there",
        where=_line_of(code),
        rewrite="reload the module; what an import hook rewrites has to be saved to a file as it is run",
    )


def _cut(function: types.FunctionType, node: ast.AST, lines: list[str]) -> Source:
    file = function.__code__.co_filename
    if isinstance(node, ast.Lambda):
        assert node.end_lineno is not None and node.end_col_offset is not None
        own = lines[node.lineno - 1 : node.end_lineno]
        column = _characters(own[0], node.col_offset)
        text = "".join([*own[:-1], own[-1][: _characters(own[-1], node.end_col_offset)]])[column:]
        return Source(function, text, file, node.lineno, column, tuple(own))
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    first = _first_line(node)
    while node.decorator_list and not lines[first - 1].lstrip().startswith("@"):
        first -= 1  # `@(` with the decorator itself on the next line
    own = lines[first - 1 : node.end_lineno]
    column = len(own[0]) - len(own[0].lstrip())
    return Source(function, "".join(own), file, first, column, tuple(own))


def _characters(line: str, offset: int) -> int:
    """A column in characters, from one in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def _line_of(code: types.CodeType) -> Where:
    file, line = code.co_filename, code.co_firstlineno
    text = linecache.getline(file, line).rstrip()
    return Where(file, line, len(text) - len(text.lstrip()), line, len(text), text)


# -- decorators --------------------------------------------------------------------------------------


def _handed_on(source: Source) -> Callable[..., Any] | None:
    """What a wrapper wraps, if the wrapper is just ``return f(*args, **kwargs)``."""
    wrapped = getattr(source.function, "__wrapped__", None)
    if not callable(wrapped) or source.is_lambda:
        return None
    tree = ast.parse("if 1:\n" + source.text if source.column else source.text).body[0]
    node = tree.body[0] if isinstance(tree, ast.If) else tree
    if not isinstance(node, ast.FunctionDef) or node.args.vararg is None or node.args.kwarg is None:
        return None
    if node.args.posonlyargs or node.args.args or node.args.kwonlyargs:
        return None
    match [s for s in node.body if not _is_docstring(s)]:
        case [
            ast.Return(
                ast.Call(
                    ast.Name(called), [ast.Starred(ast.Name(args))], [ast.keyword(None, ast.Name(keywords))]
                )
            )
        ] if (args, keywords) == (node.args.vararg.arg, node.args.kwarg.arg):
            return wrapped if namespace(source.function).get(called) is wrapped else None
    return None


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# -- names -------------------------------------------------------------------------------------------


class Namespace(Mapping[str, Any]):
    """What the free names of a function mean, read at the moment of asking: cells, globals, builtins.

    >>> limit = 3
    >>> def f(x): return min(x, limit)
    >>> names = namespace(f)
    >>> names.origin("min"), names["min"] is min, "nowhere" in names
    ('builtin', True, False)
    """

    def __init__(self, function: types.FunctionType) -> None:
        self.globals: dict[str, Any] = function.__globals__
        self.cells: dict[str, types.CellType] = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        found = self.globals.get("__builtins__", builtins)
        self.builtins: dict[str, Any] = found if isinstance(found, dict) else vars(found)

    def origin(self, name: str) -> str | None:
        """``"closure"``, ``"global"``, ``"builtin"``, or None if the name is bound nowhere (yet)."""
        if name in self.cells:
            return "closure" if _filled(self.cells[name]) else None
        if name in self.globals:
            return "global"
        return "builtin" if name in self.builtins else None

    def __getitem__(self, name: str) -> Any:
        match self.origin(name):
            case "closure":
                return self.cells[name].cell_contents
            case "global":
                return self.globals[name]
            case "builtin":
                return self.builtins[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*self.cells, *self.globals, *self.builtins])
        return (name for name in names if self.origin(name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def namespace(function: types.FunctionType) -> Namespace:
    """The live name look-up of a function: its closure, its globals, the builtins."""
    return Namespace(function)
