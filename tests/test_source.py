"""`source.read` finds the text of a function wherever it is, and refuses what is not the text that runs."""

import contextlib
import doctest
import functools
import inspect
import linecache
import subprocess
import sys
import textwrap
import types

import libcst as cst
import libcst.matchers as m
import numpy as np
import pytest

from adjoin import AdjoinError
from adjoin.runtime.rule import TABLE
from adjoin.transformer.source import namespace, read, read_own


def line_of(needle):
    """The line of this file that holds a marker comment."""
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith(f"# {needle}"))


def wheres(source, matcher):
    return [source.where(node) for node in m.findall(source.node, matcher)]


def defined(text, name, file, **scope):
    """Run text as if it stood in a file that `linecache` knows, as IPython and `exec` users do."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def plain(x):  # plain
    y = x * 2
    return y


class Model:
    weight = 2.0

    def method(self, x):  # method
        text = """lines
    with less indentation than the code
"""
        return self.weight * x * len(text)

    @staticmethod
    def static(x):
        return x + 1

    @classmethod
    def of_class(cls, x):
        return cls.weight * x

    @property
    def doubled(self):
        return self.weight * 2

    def __call__(self, x):
        return self.weight + x

    def private(self, x):
        return self.__dict__.get("w", self.__scale(x))

    def __scale(self, x):
        return x


def handing_on(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        """Does nothing."""
        return f(*args, **kwargs)

    return wrapper


def doubling(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return wrapper


def with_option(n):
    return lambda f: f


@handing_on
@handing_on
def handed_on(x):
    return x * 3


@doubling
def doubled(x):
    return x * 3


@with_option(  # decorators
    n=3,
)
@with_option(4)
def kept(x):
    return x


first, second = (lambda x: x + 1), (lambda x: x + 2)  # two lambdas
same, other = (lambda x: x), (lambda x: x)  # same lambdas
outer = lambda x: lambda y: x * y  # nested lambdas
several = lambda x: (  # several lines
    x  # and comments
    + 1
)
unicode = "é漢", lambda x: x + len("ü")  # unicode


# -- functions ---------------------------------------------------------------------------------------


def test_a_plain_function():
    source = read(plain)
    assert source.function is plain
    assert (source.name, source.file) == ("plain", __file__)
    assert (source.line, source.column) == (line_of("plain"), 0)
    assert source.text == "def plain(x):  # plain\n    y = x * 2\n    return y\n"
    assert isinstance(source.node, cst.FunctionDef)
    (place,) = wheres(source, m.Return())
    assert (place.line, place.column, place.text) == (line_of("plain") + 2, 4, "    return y")
    assert str(source.where()) == f"{__file__}:{line_of('plain')}:1"


def test_a_nested_function_keeps_its_columns():
    limit = 3.0

    def inner(x):  # inner
        # a comment
        return x * limit

    source = read(inner)
    assert (source.line, source.column) == (line_of("inner"), 4)
    (place,) = wheres(source, m.Return())
    assert (place.line, place.column, place.end_column) == (line_of("inner") + 2, 8, 24)
    assert source.code(source.node.body.body[0].body[0]) == "return x * limit"


def test_a_function_inside_control_flow():
    if True:
        for _ in range(1):

            def deep(x):
                return x

    assert read(deep).column == 12
    assert read(deep).node.name.value == "deep"


def test_a_function_that_a_test_asserts_in():
    def asserting(x):
        assert x > 0
        return x

    assert read(asserting).node.name.value == "asserting"


def test_methods():
    model = Model()
    source = read(model.method)
    assert source.args == (model,)
    assert source.function is Model.method
    assert (source.line, source.column) == (line_of("method"), 4)
    (text,) = m.findall(source.node, m.SimpleString())
    assert text.evaluated_value == "lines\n    with less indentation than the code\n"
    assert read(Model.method).args == ()
    assert read(Model.of_class).args == (Model,)
    assert read(Model.static).name == read(Model.__dict__["static"]).name == "static"
    assert read(type(model).doubled.fget).name == "doubled"
    assert read(model.private).name == "private"


def test_an_instance_that_can_be_called():
    model = Model()
    source = read(model)
    assert (source.name, source.args) == ("__call__", (model,))


def test_partials():
    def f(a, b, *, c, d=0):
        return a + b + c + d

    inner = functools.partial(f, 1, c=2)
    source = read(functools.partial(inner, 3, c=4, d=5))
    assert (source.args, dict(source.keywords)) == ((1, 3), {"c": 4, "d": 5})
    assert source.function is f
    source = read(functools.partial(Model().method, 3.0))
    assert source.args[1:] == (3.0,)


def test_an_async_function_is_found():
    async def later(x):
        return x

    assert read(later).node.asynchronous is not None


# -- decorators --------------------------------------------------------------------------------------


def test_decorator_lines_belong_to_the_text():
    source = read(kept)
    assert source.line == line_of("decorators")
    assert len(source.node.decorators) == 2
    assert str(source.where()) == f"{__file__}:{line_of('decorators') + 4}:1"


def test_a_decorator_on_the_line_after_its_sign():
    text = "@(\n  keep\n)\ndef f(x):\n    return x\n"
    source = read(defined(text, "f", "<sign>", keep=lambda f: f))
    assert (source.line, source.text) == (1, text)


def test_wrappers_that_only_hand_on_are_looked_through():
    assert read(handed_on).function is handed_on.__wrapped__.__wrapped__
    assert read(functools.cache(plain)).function is plain


def test_a_wrapper_that_does_something_is_what_is_read():
    source = read(doubled)
    assert source.function is doubled
    assert "2 * f(*args, **kwargs)" in source.text


def test_a_wrapper_that_hands_on_to_something_else_is_what_is_read():
    def misleading(*args, **kwargs):
        return plain(*args, **kwargs)

    misleading.__wrapped__ = handed_on
    assert read(misleading).function is misleading


def test_a_context_manager_as_decorator():
    @contextlib.contextmanager
    def quiet():
        yield

    @quiet()
    def f(x):
        return x

    assert read(f).name in ("f", "inner")


# -- lambdas -----------------------------------------------------------------------------------------


def test_two_lambdas_on_a_line():
    assert (read(first).text, read(second).text) == ("lambda x: x + 1", "lambda x: x + 2")
    for f in (first, second):
        source = read(f)
        assert isinstance(source.node, cst.Lambda)
        place = source.where(source.node.body)
        assert (place.line, place.text[place.column : place.end_column]) == (
            line_of("two lambdas"),
            source.text[-5:],
        )
        assert source.where().column == source.column


def test_two_equal_lambdas_on_a_line():
    assert read(same).text == read(other).text == "lambda x: x"
    if sys.version_info >= (3, 12):  # before, the compiler may share their code
        assert read(same).column < read(other).column


def test_a_lambda_in_a_lambda():
    assert read(outer).text == "lambda x: lambda y: x * y"
    source = read(outer(2))
    assert source.text == "lambda y: x * y"
    assert namespace(source.function)["x"] == 2


def test_lambdas_of_two_statements_on_a_line():
    text = "f = lambda x: x; g = lambda x: 2 * x\n"
    assert read(defined(text, "f", "<two>")).text == "lambda x: x"
    assert read(defined(text, "g", "<two>")).text == "lambda x: 2 * x"


def test_a_lambda_over_several_lines():
    source = read(several)
    assert source.line == line_of("several lines")
    (place,) = [source.where(node) for node in m.findall(source.node, m.Integer())]
    assert (place.line, place.column) == (line_of("several lines") + 2, 6)


def test_columns_are_characters():
    source = read(unicode[1])
    assert source.text == 'lambda x: x + len("ü")'
    assert source.where(source.node.body).text[source.column :].startswith("lambda")


def test_lambdas_with_defaults_and_conditions():
    pair = [lambda x, n=2: x if x > n else -x, lambda x: (x, x)[0]]
    assert read(pair[0]).text == "lambda x, n=2: x if x > n else -x"
    assert read(pair[1]).text == "lambda x: (x, x)[0]"


# -- places that are not files -----------------------------------------------------------------------


def test_executed_code_that_linecache_knows():
    source = read(defined("\ndef f(x):\n    return x\n", "f", "<cell 7>"))
    assert (source.file, source.line) == ("<cell 7>", 2)


def test_future_imports():
    text = "from __future__ import annotations\ndef f(x: Nowhere) -> Never:\n    return x\n"
    assert read(defined(text, "f", "<future>")).line == 2


def test_a_cell_with_await_beside_the_function():
    text = "await something()\ndef f(x):\n    return x\n"
    linecache.cache["<await>"] = (len(text), None, text.splitlines(keepends=True), "<await>")
    scope = {}
    exec(compile("\n" + text.partition("\n")[2], "<await>", "exec"), scope)
    assert read(scope["f"]).line == 2


def test_a_doctest():
    text = """
    >>> from adjoin.transformer.source import read
    >>> def f(x):
    ...     return x
    >>> read(f).text
    'def f(x):\\n    return x\\n'
    >>> read(lambda x: 2 * x).text
    'lambda x: 2 * x'
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "typed", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


REPL = """
from adjoin.transformer.source import read
def f(x):
    return 2 * x

s = read(f)
w = s.where(s.node.body.body[0])
print("LINE", s.line, w.line, w.column, w.text)
"""


def test_the_interactive_prompt(tmp_path):
    """From Python 3.13 on the prompt keeps its lines; before, the refusal says where to put the function."""
    pytest.importorskip("pty")
    import os
    import pty

    parent, child = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "TERM": "dumb"}
    process = subprocess.Popen(
        [sys.executable, "-q"], stdin=child, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    )
    os.close(child)
    os.write(parent, REPL.encode() + b"\nraise SystemExit\n")
    output = process.communicate(timeout=60)[0].decode()
    os.close(parent)
    if "LINE" not in output:
        assert "ADJ102 source-not-available" in output
        assert "notebook cell" in output
    else:
        assert "LINE 1 2 4     return 2 * x" in output


# -- what has no text, or another --------------------------------------------------------------------


def refused(function):
    with pytest.raises(AdjoinError) as caught:
        read(function)
    assert caught.value.rewrite
    return caught.value


@pytest.mark.parametrize("function", [np.sin, len, np.dot, "text".upper, int, Model, 3.0])
def test_what_is_not_written_in_python(function):
    assert refused(function).code == "ADJ102"


def test_executed_code_that_nothing_knows():
    scope = {}
    exec("def f(x):\n    return x\n", scope)
    error = refused(scope["f"])
    assert error.code == "ADJ102"
    assert "<string>" in error.reason


def load(path, name="f"):
    scope = {"__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope[name]


@pytest.mark.parametrize(
    "edited",
    [
        "def f(x):\n    return 3 * x\n",
        "# a new line\ndef f(x):\n    return 2 * x\n",
        "def f(x):\n    return 2 *",
        "def g(x):\n    return 2 * x\n",
        "",
        "x = 1\n",
        "def f(x):\n    return 2.0 * x\n",
    ],
)
def test_a_file_that_was_edited_since(tmp_path, edited):
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return 2 * x\n")
    f = load(path)
    assert read(f).line == 1
    path.write_text(edited)
    assert refused(f).code in ("ADJ103", "ADJ102")


def test_a_file_that_was_deleted(tmp_path):
    path = tmp_path / "gone.py"
    path.write_text("def f(x):\n    return 2 * x\n")
    f = load(path)
    path.unlink()
    assert refused(f).code == "ADJ102"


# -- names -------------------------------------------------------------------------------------------


def test_names_are_looked_up_when_asked_for():
    def f(x):
        return len(x) + scale + np.pi + missing  # noqa: F821

    names = namespace(f)
    assert names.origin("scale") is None
    scale = 2.0
    assert names["scale"] == 2.0
    scale = 3.0
    assert names["scale"] == 3.0
    assert [names.origin(n) for n in ("scale", "np", "len", "missing")] == [
        "closure",
        "global",
        "builtin",
        None,
    ]
    assert names["np"] is np
    with pytest.raises(KeyError):
        names["missing"]


def test_libcst_is_loaded_only_for_the_tree():
    program = textwrap.dedent(
        """
        import sys, textwrap
        from adjoin.transformer.source import read
        assert read(textwrap.dedent).text.startswith("def dedent")
        assert "libcst" not in sys.modules
        read(textwrap.dedent).node
        assert "libcst" in sys.modules
        """
    )
    environment = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_the_text_of_every_rule():
    bodies = {body for rule in TABLE.values() for body in (rule.body, rule.jvp_body)}
    functions = [b for b in bodies if isinstance(b, types.FunctionType)]
    ours = [b for b in functions if b.__module__.startswith("adjoin.")]
    own = [b for b in ours if not b.__code__.co_filename.startswith("<doctest")]
    assert len(own) > 300
    for body in own:
        lines, first = inspect.getsourcelines(body)
        above = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
        source = read_own(body)
        assert source.text == "".join(lines[above:])
        assert (source.line, source.column) == (first + above, lines[above].index("def"))
    some = [b for b in own if "cumulative" in b.__name__ or b.__name__ == "_"]
    assert all(isinstance(read_own(body).node, cst.FunctionDef) for body in some)
