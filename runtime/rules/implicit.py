"""What solvers find, by what it is (see `support_implicit`).

    x = root_point(found, f)      # f(x) is 0; captured_bar = -(df/dx)^-T x_bar, pulled back through f

The rules take functions, which plain samples cannot show: `tests/rules/test_solvers.py` tries them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..instead import NUMBER, like, parameters
from ..rule import vjp
from ..support_callbacks import integrated, jacobian_in_argument, pull_captured, push_captured
from ..support_implicit import at_times, integral, root_point, solved, solved_transposed


@vjp(root_point, wrt=("f",), steps=("x",), callbacks=parameters({"f": like("x")}))
def root(g: Any, out: Any, x: Any, f: Any) -> Any:
    return pull_captured(f, -solved_transposed(jacobian_in_argument(f, out), g), out)


@root.jvp
def root_jvp(f_dot: Any, out: Any, x: Any, f: Any) -> Any:
    return -solved(jacobian_in_argument(f, out), push_captured(f, f_dot, out))


@vjp(integral, wrt=("f", "a", "b"), steps=("value",), callbacks=parameters({"f": NUMBER}))
def quad(g: Any, out: Any, value: Any, f: Any, a: Any, b: Any) -> Any:
    return (
        integrated(f, lambda x: pull_captured(f, g, x), a, b),
        -np.sum(g * f(a)),
        np.sum(g * f(b)),
    )


@quad.jvp
def quad_jvp(f_dot: Any, a_dot: Any, b_dot: Any, out: Any, value: Any, f: Any, a: Any, b: Any) -> Any:
    return (
        integrated(out, lambda x: push_captured(f, f_dot, x), a, b),
        -f(a) * a_dot,
        f(b) * b_dot,
    )


@vjp(at_times, wrt=(), steps=("steps",), samples=[lambda: (np.linspace(0.0, 1.0, 3), (0.0, 1.0))])
def solve_ivp(g: Any, out: Any, steps: Any, t_span: Any) -> Any:
    return ()


@solve_ivp.jvp
def solve_ivp_jvp(out: Any, steps: Any, t_span: Any) -> Any:
    return ()
