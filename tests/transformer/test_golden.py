"""Golden files: a function, and the gradient source that is written for it.

`golden/*.txt` hold, above the line `# output`, a module with a function `f` and its `args`; below it, the
module that is generated. `argnums` says what to differentiate by, `expected` what the gradient is where
differences do not tell; with a `seed` the forward and adjoint functions are written instead of the joint one.

    pytest tests/transformer/test_golden.py --update      rewrites what stands below the line

Every gradient is also compared with central differences.
"""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers import assert_gradient, copy_arguments, differences

import adjoin

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))
LINE = "# output\n"


def load(name: str) -> SimpleNamespace:
    """The input module of a golden file; its functions have their source."""
    path = GOLDEN / f"{name}.txt"
    text, line, output = path.read_text().partition(LINE)
    assert line, f"{path} has no line {LINE.strip()!r}"
    filename = f"golden/{name}.txt"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = sys.modules[f"golden_{name}"] = ModuleType(f"golden_{name}")
    exec(compile(text, filename, "exec", dont_inherit=True), vars(module))
    given = {"argnums": 0, "expected": None, "seed": None, **vars(module)}
    return SimpleNamespace(path=path, text=text, output=output, **given)


def written(case: SimpleNamespace) -> str:
    """The module that is generated for the function."""
    gradient = adjoin.grad(case.f, argnums=case.argnums)
    if case.seed is None:
        return gradient.source_for(*copy_arguments(case.args))
    gradient.forward(*copy_arguments(case.args))
    return gradient.source


@pytest.mark.parametrize("name", NAMES)
def test_source(name: str, request: pytest.FixtureRequest) -> None:
    case = load(name)
    source = written(case)
    if request.config.getoption("--update"):
        case.path.write_text(f"{case.text}{LINE}\n{source}")
        return
    assert source.splitlines() == case.output.strip("\n").splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_gradient(name: str) -> None:
    case = load(name)
    if case.seed is None:
        assert_gradient(case.f, *case.args, argnums=case.argnums, expected=case.expected)
        return
    gradient = adjoin.grad(case.f, argnums=case.argnums)
    _, saved = gradient.forward(*copy_arguments(case.args))

    def weighted(*args: Any) -> Any:
        return np.sum(case.f(*args) * case.seed)

    want = differences(weighted, case.args, case.argnums, {})
    np.testing.assert_allclose(gradient.adjoint(saved, case.seed), want, rtol=1e-6, atol=1e-8, strict=True)


def test_it_is_written_the_same_again() -> None:
    case = load(NAMES[0])
    assert written(case) == written(case)


def test_about_forty() -> None:
    assert len(NAMES) >= 40


def test_the_text_does_not_depend_on_the_hash_of_strings(tmp_path):
    """Processes with other seeds for the hashes of strings, so other orders of their sets, write the same."""
    program = tmp_path / "model.py"
    program.write_text(
        "import numpy as np\n\n\ndef f(A):\n    for i in range(A.shape[0]):\n"
        "        A[i, i:] /= np.sqrt(A[i, i])\n    return np.sum(np.hypot(A, A.T) / np.abs(A))\n"
    )
    ask = "import model, adjoin, numpy as np; print(adjoin.grad(model.f).source_for(np.ones((2, 2))))"
    texts = set()
    for seed in "1278":
        path = os.pathsep.join([str(tmp_path), str(Path(adjoin.__file__).parents[1])])
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": path,
            "ADJOIN_CACHE_DIR": str(tmp_path / seed),
        }
        done = subprocess.run(
            [sys.executable, "-c", ask], env=env, capture_output=True, text=True, check=True
        )
        texts.add(done.stdout)
    assert len(texts) == 1
