"""Generated modules are real files; what somebody else could have written is never imported."""

import inspect
import itertools
import linecache
import os
import pickle
import subprocess
import sys
import textwrap
import time
import traceback

import pytest

from adjoin.transformer import load as loading
from adjoin.transformer import tidy as tidying
from adjoin.transformer.load import cache_directory, find, key_of, load, text_of

TEXT = "def double(x):\n    return 2 * x\n\n\ndef fail(x):\n    raise ValueError(x)\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("ADJOIN_CACHE_DIR", str(path))
    monkeypatch.setattr(loading, "_MEMORY", {})
    before = set(sys.modules)
    yield path
    for name in set(sys.modules) - before:
        if name.startswith("adjoin._generated."):
            del sys.modules[name]


def forget():
    """As in a new process."""
    for name in [n for n in sys.modules if n.startswith("adjoin._generated.")]:
        del sys.modules[name]


def in_new_process(program, **environment):
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def as_tools_see_it(module):
    assert module.double(3) == 6
    assert sys.modules[module.__name__] is module
    assert inspect.getsource(module.double) == "def double(x):\n    return 2 * x\n"
    assert inspect.getsourcelines(module.fail)[1] == 5
    assert pickle.loads(pickle.dumps(module.double)) is module.double
    assert linecache.getline(module.__file__, 2) == "    return 2 * x\n"
    with pytest.raises(ValueError) as caught:
        module.fail(1)
    assert "    raise ValueError(x)" in "".join(traceback.format_exception(caught.value))
    assert text_of(module) == TEXT
    assert module.__about__ == {"argnums": [0]}


def test_a_module_in_a_file(cache):
    module = load(TEXT, "double", "k1", {"argnums": [0]})
    assert module.__name__ == "adjoin._generated.double_k1"
    assert module.__file__ == str(cache / "double_k1.py")
    assert [p.name for p in cache.iterdir() if p.is_file()] == ["double_k1.py"]
    as_tools_see_it(module)


def test_found_again_in_this_process_and_the_next(cache):
    module = load(TEXT, "double", "k2", {"argnums": [0]})
    assert find("double", "k2") is module
    forget()
    again = find("double", "k2")
    assert again is not None and again is not module
    as_tools_see_it(again)
    assert find("double", "k3") is None
    assert find("other", "k2") is None


def test_the_same_text_again_is_the_same_module():
    module = load(TEXT, "double", "k4")
    assert load(TEXT, "double", "k4") is module
    assert load("def double(x):\n    return x + x\n", "double", "k4") is not module


def test_names_that_are_not_identifiers():
    module = load(TEXT, "<lambda>", "k5")
    assert module.__name__ == "adjoin._generated.lambda_k5"
    assert find("<lambda>", "k5") is module
    assert load(TEXT, "../../ü", "k6").__name__ == "adjoin._generated.function_k6"


def test_unpickling_and_finding_in_a_new_process_needs_no_libcst(tmp_path):
    module = load(TEXT, "double", "k7", {"argnums": [0]})
    (tmp_path / "pickle").write_bytes(pickle.dumps(module.double))
    done = in_new_process(
        f"""
        import pickle, sys
        double = pickle.load(open({str(tmp_path / "pickle")!r}, "rb"))
        from adjoin.transformer.load import find
        module = find("double", "k7")
        assert module.double is double and double(4) == 8
        assert module.__about__ == {{"argnums": [0]}}
        assert "libcst" not in sys.modules
        """
    )
    assert done.returncode == 0, done.stderr


# -- trust -------------------------------------------------------------------------------------------

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX permissions")


@posix
def test_the_directory_is_private(cache):
    load(TEXT, "double", "p1")
    assert cache.stat().st_mode & 0o777 == 0o700
    assert (cache / "double_p1.py").stat().st_mode & 0o077 == 0


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_directory_that_others_can_write_to_is_not_used(cache, mode):
    load(TEXT, "double", "p2")
    forget()
    cache.chmod(mode)
    assert cache_directory() is None
    assert find("double", "p2") is None
    (cache / "double_p2.py").unlink()
    module = load(TEXT, "double", "p2", {"argnums": [0]})
    assert module.__file__ == "<adjoin double_p2>"
    assert list(cache.glob("*.py")) == []
    as_tools_see_it(module)


@posix
def test_a_file_that_others_can_write_to_is_not_used(cache):
    load(TEXT, "double", "p3")
    forget()
    (cache / "double_p3.py").chmod(0o666)
    assert find("double", "p3") is None
    with pytest.raises(ImportError):
        __import__("adjoin._generated.double_p3")
    assert load(TEXT, "double", "p3").__file__ == str(cache / "double_p3.py")
    assert (cache / "double_p3.py").stat().st_mode & 0o077 == 0


@posix
@pytest.mark.parametrize("what", ["directory", "file"])
def test_what_belongs_to_someone_else_is_not_used(cache, what, monkeypatch):
    load(TEXT, "double", "p4")
    forget()
    if os.geteuid() == 0:
        os.chown(cache if what == "directory" else cache / "double_p4.py", 1234, 1234)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert find("double", "p4") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("2 * x", "3 * x"),
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.replace('"argnums": [0]', '"argnums": [1]'),
        lambda text: "import os\n" + text,
        lambda text: text + "import os\n",
    ],
)
def test_a_file_that_is_not_as_it_was_written_is_not_used_and_mended(cache, damage):
    load(TEXT, "double", "p5", {"argnums": [0]})
    forget()
    path = cache / "double_p5.py"
    path.write_text(damage(path.read_text()))
    assert find("double", "p5") is None
    load(TEXT, "double", "p5", {"argnums": [0]})
    forget()
    module = find("double", "p5")
    assert module is not None
    as_tools_see_it(module)


# -- without a cache ---------------------------------------------------------------------------------


def test_nowhere_to_write(cache, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("ADJOIN_CACHE_DIR", str(tmp_path / "a file" / "cache"))
    module = load(TEXT, "double", "m1", {"argnums": [0]})
    assert module.__file__ == "<adjoin double_m1>"
    as_tools_see_it(module)
    assert find("double", "m1") is module
    linecache.checkcache()
    as_tools_see_it(module)


def test_a_write_that_fails_leaves_nothing_behind(cache, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    module = load(TEXT, "double", "m2", {"argnums": [0]})
    as_tools_see_it(module)
    assert list(cache.iterdir()) == []


def test_two_processes_at_once(cache):
    program = f"""
        from adjoin.transformer.load import find, load
        text = {TEXT!r} + "# filler\\n" * 5000
        for i in range(40):
            found = find("double", f"c{{i}}")
            if found is None:
                found = load(text, "double", f"c{{i}}", {{"i": i}})
            assert found.double(i) == 2 * i and found.__about__ == {{"i": i}}
            assert found.__file__.endswith(f"double_c{{i}}.py")
    """
    path = os.pathsep.join(p for p in sys.path if p)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program)],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.communicate(timeout=60)[1] == b""
        assert process.returncode == 0
    assert len(list(cache.glob("*.py"))) == 40
    assert list(cache.glob("*.tmp")) == []


# -- keys --------------------------------------------------------------------------------------------


# -- what is not used goes --------------------------------------------------------------------------------


def key(number):
    return f"{number:032x}"


def aged(path, days):
    then = time.time() - days * 86400
    os.utime(path, (then, then))
    return path


def names(directory):
    return sorted(p.name for p in directory.iterdir() if p.is_file())


def test_what_is_not_used_for_long_goes_with_what_was_compiled_of_it(cache, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number in range(3):
        load(TEXT, "double", key(number))
    compiled = {p.name.partition(".")[0]: p for p in (cache / "__pycache__").iterdir()}
    assert len(compiled) == 3
    old, recent, new = (f"double_{key(number)}" for number in range(3))
    aged(cache / f"{old}.py", tidying.MOST_DAYS + 1)
    aged(cache / f"{recent}.py", tidying.MOST_DAYS - 1)
    for path in compiled.values():
        aged(path, 2)
    tidying.tidy(cache)
    assert names(cache) == [f"{recent}.py", f"{new}.py"]
    assert {p.name.partition(".")[0] for p in (cache / "__pycache__").iterdir()} == {recent, new}


def test_more_than_there_may_be(cache, monkeypatch):
    monkeypatch.setattr(tidying, "MOST_FILES", 2)
    for number in range(4):
        aged(cache / load(TEXT, "double", key(number)).__spec__.origin, 4 - number)
    tidying.tidy(cache)
    assert names(cache) == [f"double_{key(2)}.py", f"double_{key(3)}.py"]


def test_using_a_module_keeps_it(cache):
    load(TEXT, "double", key(1))
    path = aged(cache / f"double_{key(1)}.py", tidying.MOST_DAYS + 1)
    forget()
    assert find("double", key(1)) is not None
    tidying.tidy(cache)
    assert path.exists()


@posix
def test_nothing_else_is_touched(cache, tmp_path):
    load(TEXT, "double", key(1))
    others = ["notes.py", "double_12.py", f"double_{key(2)}.txt", f".{key(3)}.py", "readme.tmp"]
    for name in others:
        (cache / name).write_text("mine")
    (tmp_path / "elsewhere.py").write_text("mine")
    link = cache / f"link_{key(4)}.py"
    link.symlink_to(tmp_path / "elsewhere.py")
    (cache / f"folder_{key(5)}.py").mkdir()
    (cache / ".half.tmp").write_text("half")
    for path in [*cache.iterdir(), tmp_path / "elsewhere.py"]:
        if not path.is_symlink():
            aged(path, 1000)
    tidying.tidy(cache)
    assert names(cache) == sorted([*others, link.name])
    assert (tmp_path / "elsewhere.py").read_text() == "mine"
    assert (cache / f"folder_{key(5)}.py").is_dir()


@posix
def test_what_is_someone_elses_stays(cache, monkeypatch):
    load(TEXT, "double", key(1))
    aged(cache / f"double_{key(1)}.py", 1000)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    tidying.tidy(cache)
    assert names(cache) == [f"double_{key(1)}.py"]


def test_writing_looks_after_the_directory(cache, monkeypatch):
    load(TEXT, "double", key(1))
    path = aged(cache / f"double_{key(1)}.py", 1000)
    monkeypatch.setattr(loading, "_WRITTEN", itertools.count(1))
    load(TEXT, "double", key(2))
    assert path.exists()
    monkeypatch.setattr(loading, "_WRITTEN", itertools.count())
    load(TEXT, "double", key(3))
    assert not path.exists()


def test_a_module_whose_file_has_gone(cache):
    module = load(TEXT, "double", key(1), {"argnums": [0]})
    (cache / f"double_{key(1)}.py").unlink()
    linecache.clearcache()
    assert module.double(3) == 6
    assert inspect.getsource(module.double) == "def double(x):\n    return 2 * x\n"
    forget()
    assert find("double", key(1)) is None


def test_a_file_that_goes_while_it_is_imported(cache, monkeypatch):
    load(TEXT, "double", key(1))
    forget()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for path in (cache / "__pycache__").glob("*"):
        path.unlink()
    read = loading._read

    def goes(path):
        found = read(path)
        path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(loading, "_read", goes)
    assert find("double", key(1)) is None


def test_keys():
    assert key_of("a", "b") == key_of("a", "b")
    parts = [(), ("",), ("ab",), ("a", "b"), ("b", "a"), ("\ud800",)]
    assert len({key_of(*p) for p in parts}) == len(parts)
    assert len(key_of("a")) == 32


def test_keys_change_with_the_version(monkeypatch):
    before = key_of("a")
    monkeypatch.setattr("adjoin.__version__", "99")
    loading._fingerprint.cache_clear()
    try:
        assert key_of("a") != before
    finally:
        monkeypatch.undo()
        loading._fingerprint.cache_clear()
