"""The few rules that differ where operations are recorded, and `rule_of`, which knows of them.

In: a function. Out: its rule for the eager runtime: that of the table, save for two kinds.

Functions that are constant between their jumps are nondifferentiable in the table; users of an eager library
expect ``x.floor().sum().backward()`` to fill `.grad` with zeros. And what an operation saves decides which
later changes in place are refused: a quotient saves its operands, so that ``y = a / b; y += 1`` goes on.

    >>> from adjoin.runtime import tensor
    >>> np.floor(tensor(1.5, requires_grad=True))
    tensor(1., grad_fn=<FloorBackward0>)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import rules as rules  # importing it fills the table
from .rule import TABLE, Rule, lookup

__all__ = ["OWN", "rule_of"]


def _step(g: Any, out: Any, x: Any) -> Any:
    return np.zeros_like(g)


def _round(g: Any, out: Any, a: Any, decimals: int = 0) -> Any:
    return np.zeros_like(g)


def _divide(g: Any, out: Any, x: Any, y: Any) -> Any:
    s = g / y
    return s, -s * (x / y)


_SAMPLE = np.array([0.3, -1.6, 2.4])
_STEPS = (np.floor, np.ceil, np.trunc, np.rint)

#: The rule of the table to the one that is used here.
OWN: dict[Rule | None, Rule] = {
    TABLE[np.divide]: Rule("elementwise", _divide, [np.divide], safe=1.0, samples=TABLE[np.divide].samples),
    **{TABLE[f]: Rule("elementwise", _step, [f], samples=[(_SAMPLE,), (0.7,)]) for f in _STEPS},
    **{
        TABLE[f]: Rule("elementwise", _round, [f], wrt=("a",), samples=[(_SAMPLE,), (_SAMPLE, 1)])
        for f in (np.round, np.around)
    },
}


def rule_of(function: Callable[..., Any]) -> Rule | None:
    """The rule by which the eager runtime records a function, or None.

    >>> rule_of(np.divide).needs(["y"]) == {"x", "y"}, lookup(np.divide).needs(["y"]) == {"out", "y"}
    (True, True)
    """
    rule = lookup(function)
    return OWN.get(rule, rule)
