"""The house is kept: who may import whom, and what a stranger may rely on in the package."""

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import adjoin

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(p for part in ("runtime", "transformer") for p in (ROOT / part).rglob("*.py"))

#: From the bottom up: a module may import from its own layer and from those before it.
LAYERS = [
    {"errors", "kinds", "comments", "nested"},
    {"ir", "sizes", "stand_ins", "results", "infer", "hints", "sparse", "builder", "array_api", "verify"},
    {"analyses"},
    {"source", "parse", "resolve", "private", "steady", "torn", "lower", "lowering", "load", "tidy"},
    {
        "adjoint",
        "tangent",
        "optimise",
        "needed",
        "fold",
        "names",
        "wrap",
        "helpers",
        "emit",
        "checkpoint",
        "rerun",
        "guard",
    },
    {"pipeline"},
    {"reach", "like", "signature", "structures", "variants", "own", "quick", "again"},
    {"colouring", "gradient", "crosswise", "api", "forward", "jacobians", "check"},
    {"cli"},
]
CORE = {"libcst", "numpy", "platformdirs"}


def imports(path):
    """Every module that a file imports, as ``transformer.ir``, ``runtime.rule``, ``libcst.metadata``."""
    package = path.relative_to(ROOT).with_suffix("").parts
    package = package if path.name == "__init__.py" else package[:-1]
    package = tuple(part for part in package if part != "__init__")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            for alias in node.names:
                yield ".".join([*base, node.module] if node.module else [*base, alias.name])


def layer(module):
    parts = module.split(".")
    return next((i for i, names in enumerate(LAYERS) if parts[1:] and parts[1] in names), None)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports(path):
    here = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    if here.startswith("transformer.") and path.name != "__init__.py":
        assert layer(here) is not None, f"say in LAYERS where {here} stands"
    for module in imports(path):
        top = module.partition(".")[0]
        assert top != "adjoin", "imports inside the package are relative"
        if here.startswith("runtime"):
            assert top not in ("transformer", "libcst"), "runtime does not know the transformer"
        if top == "transformer" and layer(module) is not None and layer(here) is not None:
            assert layer(module) <= layer(here), f"{module} stands above {here}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_says_what_it_does(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


#: Modules that are imported when a program has imported SciPy, and not before.
SCIPY = {
    "support_scipy",
    "support_special",
    "support_filter",
    "support_interpolate",
    "support_sparse",
    "scipy_integrate",
    "scipy_interpolate",
    "scipy_linalg",
    "scipy_optimize",
    "scipy_signal",
    "scipy_sparse",
    "scipy_special",
}


def test_only_core_dependencies_are_imported_at_the_top_of_modules():
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            for name in names:
                top = name.partition(".")[0]
                known = CORE | {"scipy"} if path.stem in SCIPY else CORE
                assert top in known or top in sys.stdlib_module_names, f"{path}: {name}"


def test_packaging():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {d.partition(">")[0] for d in project["dependencies"]} == CORE
    assert project["requires-python"] == ">=3.11"
    for name in ("runtime", "transformer"):
        link = ROOT / "src" / "adjoin" / name
        assert link.is_symlink() and not Path(link.readlink()).is_absolute()
        assert link.resolve() == ROOT / name
    assert (ROOT / "src/adjoin/py.typed").exists()


def run(program):
    path = str(ROOT / "src")
    return subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": path, "PATH": ""}, capture_output=True, text=True
    )


def test_scipy_is_not_imported():
    done = run(
        "import sys; sys.modules['scipy'] = None; import adjoin;"
        "import adjoin.runtime.rules, adjoin.transformer.cli, adjoin.transformer.pipeline;"
        "print(all(getattr(adjoin, name) is not None for name in adjoin.__all__))"
    )
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("name", ["runtime", "transformer"])
def test_the_folders_are_not_packages_of_their_own(name):
    program = f"import os, sys; sys.path[:] = [p for p in sys.path if p]; import {name}"
    assert "ModuleNotFoundError" in run(program).stderr


@pytest.mark.parametrize("name", adjoin.__all__)
def test_public_names_exist(name):
    assert getattr(adjoin, name) is not None
    assert name in dir(adjoin)


def test_what_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        adjoin.nothing


def test_importing_adjoin_is_light():
    done = run(
        "import sys, adjoin; print([m for m in ('numpy', 'libcst', 'platformdirs') if m in sys.modules]);"
        "adjoin.grad, adjoin.AdjoinError; print('libcst' in sys.modules)"
    )
    assert done.stdout.split("\n")[:2] == ["[]", "False"], done.stderr


def test_the_runtime_does_without_libcst():
    done = run(
        "import sys; sys.modules['libcst'] = None; import adjoin.runtime.rules, adjoin.runtime.rule;"
        "print(any(m.startswith('adjoin.transformer') for m in sys.modules))"
    )
    assert done.stdout == "False\n", done.stderr


def test_type_checkers_see_the_same_public_names():
    tree = ast.parse((ROOT / "src/adjoin/__init__.py").read_text())
    shown = {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert shown == importlib.import_module("adjoin")._HOME
