"""The command `adjoin`: show, build, check."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from adjoin.transformer.cli import main

MODEL = """
import numpy as np
import adjoin

SCALE = 2.0


def loss(w, X, y):
    p = 1 / (1 + np.exp(-(X @ w)))  # predicted probability
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def power(x: float, n: int = 3):
    return SCALE * x**n


@adjoin.grad(argnums=1, like="a: float, b: f8[:]")
def decorated(a, b):
    return a * np.sum(b * b)


def generator(x):
    yield x


class Model:
    @staticmethod
    def loss(x):
        return x * x


limit = 3.0
"""
LIKE = "w: f8[k], X: f8[n, k], y: f8[n]"


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "model", raising=False)
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    yield path
    sys.modules.pop("model", None)


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_show(model, capsys):
    assert main(["show", "model.py:loss", "--like", LIKE]) == 0
    printed = capsys.readouterr().out
    assert "def loss_grad(w, X, y):" in printed
    assert "adjoin" not in printed
    assert main(["show", "model:loss", "--like", LIKE]) == 0
    assert capsys.readouterr().out == printed


def test_show_without_kinds(model, capsys):
    assert main(["show", "model.py:loss"]) == 0
    printed = capsys.readouterr()
    assert "w_bar" in printed.out
    assert "nothing is known of w, X, y" in printed.err and "--like" in printed.err
    assert main(["show", "model.py:loss", "--like", LIKE]) == 0
    assert not capsys.readouterr().err


def test_show_uses_annotations_and_defaults(model, capsys):
    assert main(["show", "model.py:power"]) == 0
    printed = capsys.readouterr().out
    assert "def power_grad(x, n, *, SCALE):" in printed
    assert "unbroadcast" not in printed


def test_show_what_is_asked_for(model, capsys):
    assert main(["show", "model.py:loss", "--like", LIKE, "--argnums", "0,1", "--value"]) == 0
    printed = capsys.readouterr().out
    assert "def loss_value_and_grad(w, X, y):" in printed
    assert "X_bar" in printed
    assert main(["show", "model.py:loss", "--like", LIKE, "--argnames", "y", "--split"]) == 0
    printed = capsys.readouterr().out
    assert "def loss_forward(w, X, y):" in printed
    assert "def loss_adjoint(saved, seed):" in printed
    assert "w_bar" not in printed


def test_show_of_something_decorated(model, capsys):
    assert main(["show", "model.py:decorated"]) == 0
    printed = capsys.readouterr().out
    assert "b_bar" in printed
    assert "a_bar" not in printed
    assert main(["show", "model.py:decorated", "--argnames", "a"]) == 0
    assert "return np.sum(b * b)" in capsys.readouterr().out


def test_show_of_a_member_of_a_class(model, capsys):
    assert main(["show", "model.py:Model.loss", "--like", "x: float"]) == 0
    assert "x_bar" in capsys.readouterr().out


def test_build(model, capsys):
    output = model.parent / "loss_grad.py"
    build = ["build", "model.py:loss", "--like", LIKE, "-o", str(output)]
    assert main([*build, "--check"]) == 1
    assert "not there" in capsys.readouterr().err
    assert main(build) == 0
    first = output.read_bytes()
    assert first.startswith(b"# The gradient of model.py:loss, written by adjoin ")
    assert b"import adjoin" not in first
    assert main([*build, "--check"]) == 0
    assert main(build) == 0
    assert output.read_bytes() == first

    rng = np.random.default_rng(0)
    w, X, y = rng.normal(size=3), rng.normal(size=(5, 3)), np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    found = loaded(output).loss_grad(w, X, y)
    p = 1 / (1 + np.exp(-(X @ w)))
    np.testing.assert_allclose(found, X.T @ (p - y) / 5)

    model.write_text(MODEL.replace("-np.mean", "-np.sum"))
    sys.modules.pop("model")
    assert main([*build, "--check"]) == 1
    assert "stale" in capsys.readouterr().err
    assert output.read_bytes() == first
    assert main(build) == 0
    np.testing.assert_allclose(loaded(output).loss_grad(w, X, y), X.T @ (p - y))


def test_build_is_the_same_from_anywhere(model, tmp_path):
    files = []
    for number, place in enumerate([model.name, str(model)]):
        output = tmp_path / f"out_{number}.py"
        for seed in ("0", "1"):
            done = subprocess.run(
                [sys.executable, "-m", "adjoin.transformer.cli", "build", f"{place}:power", "-o", output],
                env={
                    "PYTHONPATH": ":".join(p for p in sys.path if p.endswith("src")),
                    "PYTHONHASHSEED": seed,
                    "ADJOIN_CACHE_DIR": str(tmp_path / f"cache{number}{seed}"),
                    "PATH": "",
                },
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            files.append(output.read_bytes())
    assert len(set(files)) == 1


STORES = """
import numpy as np


def f(A):
    for i in range(A.shape[0]):
        A[i, i] = np.sqrt(A[i, i])
        A[i, i:] /= A[i, i]
    return np.sum(A**3)
"""


def test_build_does_not_depend_on_the_order_of_sets(tmp_path):
    (tmp_path / "stores.py").write_text(STORES)
    texts = set()
    for seed in ("0", "1", "2", "3"):
        output = tmp_path / "out.py"
        done = subprocess.run(
            [sys.executable, "-m", "adjoin.transformer.cli", "build", f"{tmp_path}/stores.py:f"]
            + ["--like", "A: f8[:, :]", "-o", output],
            env={
                "PYTHONPATH": ":".join(p for p in sys.path if p.endswith("src")),
                "PYTHONHASHSEED": seed,
                "ADJOIN_CACHE_DIR": str(tmp_path / seed),
                "PATH": "",
            },
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        texts.add(output.read_text())
    assert len(texts) == 1


def test_build_says_what_is_to_be_passed_by_name(model):
    output = model.parent / "power_grad.py"
    assert main(["build", "model.py:power", "-o", str(output)]) == 0
    assert "by name, as they stand outside the function: SCALE." in output.read_text()
    assert loaded(output).power_grad(2.0, 3, SCALE=2.0) == 24.0


def test_build_to_a_place_that_is_not_there(model, capsys):
    assert main(["build", "model.py:power", "-o", "nowhere/power.py"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_check(model, capsys):
    assert main(["check", "model.py:loss", "--like", LIKE]) == 0
    assert capsys.readouterr().out.count("right") == 3
    assert main(["check", "model.py:power", "--like", "n: 4"]) == 0
    assert main(["check", "model.py:decorated"]) == 0


def test_check_of_a_kink(model, capsys):
    model.write_text("def f(x):\n    return abs(x)\n")
    assert main(["check", "model.py:f", "--like", "x: 0.0"]) == 1


def test_refusals_are_printed_with_their_place(model, capsys):
    assert main(["show", "model.py:generator"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ADJ101 ")
    assert "model.py:" in error
    assert "yield x" in error
    assert "^^^" in error


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["show", "model.py"], "neither"),
        (["show", "model.py:nothing"], "no 'nothing'"),
        (["show", "model.py:limit"], "not a function"),
        (["show", "other.py:f"], "no file"),
        (["show", "no_such_module:f"], "no_such_module"),
        (["check", "model.py:loss"], "which kinds do w, X, y have? --like"),
    ],
)
def test_commands_that_make_no_sense(model, capsys, command, says):
    assert main(command) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["show"], ["build", "model.py:loss"], ["other"]])
def test_usage(model, capsys, command):
    with pytest.raises(SystemExit) as caught:
        main(command)
    assert caught.value.code == 2
    assert "usage: adjoin" in capsys.readouterr().err


def test_bad_kinds(model, capsys):
    assert main(["show", "model.py:loss", "--like", "w: f9[:]"]) == 1
    assert "ADJ306" in capsys.readouterr().err
