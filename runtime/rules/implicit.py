"""Points that solvers find, through the implicit function theorem (see `support_implicit`).

    x = root_point(found, f)      # f(x) is 0; captured_bar = -(df/dx)^-T x_bar, pulled back through f

The rule takes a function, which plain samples cannot show: `tests/rules/test_callbacks.py` tries it.
"""

from __future__ import annotations

from typing import Any

from ..instead import like
from ..rule import vjp
from ..support_callbacks import jacobian_in_argument, pull_captured, push_captured
from ..support_implicit import root_point, solved, solved_transposed


@vjp(root_point, wrt=("f",), steps=("x",), callbacks={"f": (like("x"),)})
def root(g: Any, out: Any, x: Any, f: Any) -> Any:
    return pull_captured(f, -solved_transposed(jacobian_in_argument(f, out), g), out)


@root.jvp
def root_jvp(f_dot: Any, out: Any, x: Any, f: Any) -> Any:
    return -solved(jacobian_in_argument(f, out), push_captured(f, f_dot, out))
