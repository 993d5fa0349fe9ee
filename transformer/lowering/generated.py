"""Generated code that is read again: the helpers that its module carries are known by their originals.

In: a function of a generated module. Out: the helper of `runtime` that it is a copy of, or None.

    carried(module.unbroadcast)        # adjoin.runtime.support.unbroadcast
"""

from __future__ import annotations

import sys
from typing import Any

from ...runtime import support, support_array_api, support_tangent
from ...runtime import support_memory as memory
from ..infer import arg_kind
from ..ir import Arg, Let, Op, Ref, Tup, Var

#: Helpers that change what they are given.
WRITING = frozenset(
    {
        memory.add_to_each,
        memory.add_to_item,
        memory.add_to_list,
        memory.put_back,
        memory.put_back_deleted,
        memory.take_inserted,
        memory.take_item,
    }
)

#: Copies of arrays that share memory, which share memory in the same way; and tangents of such arrays.
TOGETHER, TANGENTS_TOGETHER = (
    Op("together", helper.__name__, None, Ref(helper, helper.__name__, "support"))
    for helper in (memory.private_together, support_tangent.tangents_together)
)


def passed_together(s: Let) -> tuple[Arg, ...]:
    """For each result of a `together` statement, the operand whose values it gets."""
    given = s.args[1] if s.op is TANGENTS_TOGETHER else Tup(s.args)
    assert isinstance(given, Tup)
    return given.items


def together(op: Op, args: tuple[Arg, ...], arrays: tuple[Arg, ...]) -> Let:
    """The statement that makes arrays of the kinds of `arrays`, which share memory as these do."""
    return Let(tuple(Var(getattr(a, "name", ""), arg_kind(a)) for a in arrays), op, args)


#: Generated modules live in this package.
GENERATED = f"{support.__name__.partition('.runtime')[0]}._generated."


def carried_module(function: Any) -> bool:
    """Whether a function is of a generated module."""
    return (getattr(function, "__module__", None) or "").startswith(GENERATED)


def carried(function: Any) -> Any:
    """The original of a helper that a generated module carries.

    >>> carried(len) is None
    True
    """
    if not (getattr(function, "__module__", None) or "").startswith(GENERATED):
        return None
    for name, module in sorted(sys.modules.items(), key=lambda item: item[0] == support_array_api.__name__):
        if name.startswith(support.__name__):
            found = getattr(module, getattr(function, "__name__", ""), None)
            if getattr(found, "__module__", None) == name:
                return found
    return None
