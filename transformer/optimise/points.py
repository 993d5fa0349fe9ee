"""What a solver found is what it is, once nothing is differentiated any more.

In: a function. Out: the function with `x` in place of `root_point(x, f)`: the other operands only say what
the derivative is, and the text that is written has no need of them.
"""

from __future__ import annotations

from ...runtime.support_implicit import at_times, integral, root_point, trajectory
from ..ir import Function, Let, Statement, Var
from .rewrite import Rewriter


def drop_points(function: Function) -> Function:
    """Read the value where it was said what it is."""
    return _Points().run(function)


class _Points(Rewriter):
    def let(self, old: Let, new: Let) -> list[Statement]:
        if new.op.function not in (root_point, integral, at_times, trajectory):
            return [new]
        point = new.args[0]
        if isinstance(point, Var) and not point.name:
            point.name = new.out.name
        self.replace(new.out, point)
        return []
