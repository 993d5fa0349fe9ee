"""Write `docs/coverage.md`: what the table of rules knows about every public NumPy function, and SciPy's.

In: the table, and the NumPy and SciPy that are installed. Out: a page with one row for each function of
`numpy`, `numpy.linalg` and `numpy.fft`: whether it has a derivative, and whether its adjoint, its tangent and
the eager runtime are there; and for each of SciPy's packages with rules, the functions that have one.

    python scripts/coverage.py            # writes docs/coverage.md
    python scripts/coverage.py --check    # exits 1 if the page is stale, or the share below 99 %
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import adjoin.runtime.rules  # noqa: F401  (fills the table)
from adjoin.runtime.instead import instead_of
from adjoin.runtime.rule import lookup

PAGE = Path(__file__).parent.parent / "docs" / "coverage.md"

#: Functions that are no operation on values, by what they are instead.
OUTSIDE: dict[str, list[str]] = {
    "changes its argument: read as a statement": [
        "copyto",
        "fill_diagonal",
        "place",
        "put",
        "put_along_axis",
        "putmask",
    ],
    "makes arrays of objects": ["frompyfunc"],
    "reads a file, text or a buffer": [
        "frombuffer",
        "fromfile",
        "fromregex",
        "fromstring",
        "genfromtxt",
        "load",
        "loadtxt",
        "from_dlpack",
    ],
    "dates": ["busday_count", "busday_offset", "datetime_as_string", "datetime_data", "is_busday"],
    "matrices of the old kind": ["asmatrix", "bmat"],
    "NumPy itself": [
        "get_include",
        "getbufsize",
        "geterrcall",
        "info",
        "nested_iters",
        "setbufsize",
        "seterrcall",
        "show_config",
        "show_runtime",
        "test",
    ],
}


HEAD = ["| function | derivative | adjoint | tangent | eager |", "|---|---|---|---|---|"]


def public_functions(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions of a module by name; classes and dtypes are not among them."""
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            yield name, value


def state(name: str, function: Callable[..., Any]) -> tuple[str, str, str, str]:
    """What is known about a function: its derivative, its adjoint, its tangent, whether it takes tensors."""
    rule = lookup(function)
    if instead_of(function) is not None:
        return "differentiable", "yes", "yes", "raises"
    if rule is None:
        for reason, names in OUTSIDE.items():
            if name in names:
                return reason, "", "", ""
        return "no rule", "no rule", "no rule", "no rule"
    if rule.kind == "nondifferentiable":
        return "constant", "", "", ""
    has_tangent = rule.kind != "vjp" or rule.jvp_body is not None
    dispatched = isinstance(function, np.ufunc) or (function.__module__ or "numpy").startswith("numpy")
    return "differentiable", "yes", "yes" if has_tangent else "no rule", "yes" if dispatched else "raises"


#: SciPy's packages with rules. What they have besides is refused when something active goes in.
SCIPY = ("special", "linalg", "signal", "optimize", "integrate", "interpolate", "sparse.linalg")


def scipy_rows() -> Iterator[str]:
    """For each package of SciPy: the functions with a derivative, and the constants."""
    for package in SCIPY:
        module = importlib.import_module(f"scipy.{package}")
        found: dict[str, list[str]] = {"differentiable": [], "constant": []}
        for name in sorted(set(module.__all__)):
            value = getattr(module, name)
            if callable(value) and not name[0].isupper():
                found.get(state(name, value)[0], []).append(f"`{name}`")
        yield f"## scipy.{package}\n"
        for what, names in found.items():
            if names:
                yield f"{what.capitalize()} ({len(names)}): {', '.join(names)}.\n"


def page() -> tuple[str, float]:
    """The page, and the share of differentiable functions that have a rule."""
    known = missing = 0
    tables = []
    for module, title in ((np, "numpy"), (np.linalg, "numpy.linalg"), (np.fft, "numpy.fft")):
        rows = [f"## {title}", "", *HEAD]
        for name, function in public_functions(module):
            derivative, adjoint, tangent, eager = state(name, function)
            known += derivative == "differentiable"
            missing += derivative == "no rule"
            rows.append(f"| `{name}` | {derivative} | {adjoint} | {tangent} | {eager} |")
        tables.append("\n".join(rows))
    share = known / (known + missing)
    head = (
        "# Coverage\n\n"
        f"Every public function of NumPy {np.__version__}, as the table of rules has it. Written by\n"
        "`python scripts/coverage.py`; not edited by hand.\n\n"
        f"{known} functions have a derivative and a rule, {missing} have no rule yet: {100 * share:.1f} %.\n"
        "*Constant* means that the result carries no derivative: an integer, a boolean, a shape, a step. A\n"
        "function without a rule is refused when something that is differentiated goes into it.\n"
        "*Eager* is the column of `Tensor`: functions that call a function raise there, and so do SciPy's,\n"
        f"but for its ufuncs. SciPy's packages (here {scipy.__version__}) come last, with what has a rule;\n"
        "`scipy.sparse` has rules for products, `spsolve` and matrices made of their entries."
    )
    return "\n\n".join([head, *tables, "\n".join(scipy_rows())]) + "\n", share


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    text, share = page()
    if "--check" not in arguments:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
        print(f"{PAGE.name}: {100 * share:.1f} % of the functions that have a derivative have a rule")
        return 0
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if stale:
        print(f"{PAGE.name} is stale: run python scripts/coverage.py")
    if share < 0.99:
        print(f"only {100 * share:.1f} % of the functions that have a derivative have a rule")
    return int(stale or share < 0.99)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
