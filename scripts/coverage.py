"""Write `docs/coverage.md`: what the table of rules knows about every public NumPy function.

In: the table, and the NumPy that is installed. Out: a page with one row for each function of `numpy`,
`numpy.linalg` and `numpy.fft`: whether it has a derivative, and whether its adjoint and tangent are there.

    python scripts/coverage.py            # writes docs/coverage.md
    python scripts/coverage.py --check    # exits 1 if the page is stale, or the share below 99 %
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import adjoin.runtime.rules  # noqa: F401  (fills the table)
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
    "calls a function: read through, as a loop over it": [
        "apply_along_axis",
        "apply_over_axes",
        "fromfunction",
        "frompyfunc",
        "piecewise",
    ],
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


def public_functions(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions of a module by name; classes and dtypes are not among them."""
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            yield name, value


def state(name: str, function: Callable[..., Any]) -> tuple[str, str, str]:
    """What is known about a function: its derivative, its adjoint, its tangent."""
    rule = lookup(function)
    if rule is None:
        for reason, names in OUTSIDE.items():
            if name in names:
                return reason, "", ""
        return "no rule", "no rule", "no rule"
    if rule.kind == "nondifferentiable":
        return "constant", "", ""
    has_tangent = rule.kind != "vjp" or rule.jvp_body is not None
    return "differentiable", "yes", "yes" if has_tangent else "no rule"


def page() -> tuple[str, float]:
    """The page, and the share of differentiable functions that have a rule."""
    known = missing = 0
    tables = []
    for module, title in ((np, "numpy"), (np.linalg, "numpy.linalg"), (np.fft, "numpy.fft")):
        rows = [f"## {title}", "", "| function | derivative | adjoint | tangent |", "|---|---|---|---|"]
        for name, function in public_functions(module):
            derivative, adjoint, tangent = state(name, function)
            known += derivative == "differentiable"
            missing += derivative == "no rule"
            rows.append(f"| `{name}` | {derivative} | {adjoint} | {tangent} |")
        tables.append("\n".join(rows))
    share = known / (known + missing)
    head = (
        "# Coverage\n\n"
        f"Every public function of NumPy {np.__version__}, as the table of rules has it. Written by\n"
        "`python scripts/coverage.py`; not edited by hand.\n\n"
        f"{known} functions have a derivative and a rule, {missing} have no rule yet: {100 * share:.1f} %.\n"
        "*Constant* means that the result carries no derivative: an integer, a boolean, a shape, a step. A\n"
        "function without a rule is refused when something that is differentiated goes into it."
    )
    return "\n\n".join([head, *tables]) + "\n", share


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
