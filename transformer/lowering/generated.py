"""Generated code that is read again: the helpers that its module carries are known by their originals.

In: a function of a generated module. Out: the helper of `runtime` that it is a copy of, or None.

    carried(module.unbroadcast)        # adjoin.runtime.support.unbroadcast
"""

from __future__ import annotations

import sys
from typing import Any

from ...runtime import support
from ...runtime import support_memory as memory

#: Helpers that change what they are given.
WRITING = frozenset(
    {
        memory.add_to_item,
        memory.add_to_list,
        memory.put_back,
        memory.put_back_deleted,
        memory.take_inserted,
        memory.take_item,
    }
)

#: Generated modules live in this package.
GENERATED = f"{support.__name__.partition('.runtime')[0]}._generated."


def carried(function: Any) -> Any:
    """The original of a helper that a generated module carries.

    >>> carried(len) is None
    True
    """
    if not (getattr(function, "__module__", None) or "").startswith(GENERATED):
        return None
    for name, module in list(sys.modules.items()):
        if name.startswith(support.__name__):
            found = getattr(module, getattr(function, "__name__", ""), None)
            if getattr(found, "__module__", None) == name:
                return found
    return None
