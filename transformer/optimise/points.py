"""Points that a solver found are what they are, once nothing is differentiated any more.

In: a function. Out: the function with `x` in place of `root_point(x, f)`: the second operand only says what
the derivative is, and the text that is written has no need of it.
"""

from __future__ import annotations

from ...runtime.support_implicit import root_point
from ..ir import Function, Let, Statement, Var
from .rewrite import Rewriter


def drop_points(function: Function) -> Function:
    """Read the point where it was said of which equation it is a root."""
    return _Points().run(function)


class _Points(Rewriter):
    def let(self, old: Let, new: Let) -> list[Statement]:
        if new.op.function is not root_point:
            return [new]
        point = new.args[0]
        if isinstance(point, Var) and not point.name:
            point.name = new.out.name
        self.replace(new.out, point)
        return []
