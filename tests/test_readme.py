"""The first example of the README is the gradient that adjoin writes.

    pytest tests/test_readme.py --update      rewrites what the README shows
"""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import adjoin

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"```python\n(.*?)```\n", re.S)


@pytest.fixture
def misfit(tmp_path):
    """The function of the first block, read from a file as any other."""
    path = tmp_path / "heat.py"
    path.write_text(BLOCK.findall(README.read_text())[0])
    spec = importlib.util.spec_from_file_location("heat", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.misfit


def arguments():
    rng = np.random.default_rng(0)
    return 0.1, rng.random((6, 7)), rng.random((6, 7)), 4


def test_the_gradient_is_the_one_shown(misfit, request):
    misfit(*arguments())
    written = misfit.source.strip() + "\n"
    text = README.read_text()
    _, shown = BLOCK.finditer(text)
    if request.config.getoption("--update"):
        README.write_text(text[: shown.start(1)] + written + text[shown.end(1) :])
    else:
        assert shown[1] == written


def test_the_gradient_is_right(misfit):
    adjoin.check(misfit, *arguments(), quiet=True).raise_if_wrong()
