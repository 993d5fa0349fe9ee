"""What programs need when they run: the table of rules, the helpers of generated code, the eager `Tensor`.

In: a name. Out: the eager library's `tensor`, `no_grad`, `exp`, ... Each is imported on first use, because a
program that only runs generated gradients needs none of it. Nothing here imports `adjoin.transformer`.

    >>> from adjoin import runtime
    >>> runtime.tensor([1.0, 2.0]).sum()
    tensor(3.)
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .namespace import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f".{name}", __name__)
    namespace = importlib.import_module(".namespace", __name__)
    try:
        value = getattr(namespace, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(importlib.import_module(".namespace", __name__).__dict__)
