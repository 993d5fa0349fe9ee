"""The package that generated modules live in: `adjoin._generated.loss_5f2c...`.

It has no files of its own. `transformer.load` finds its modules, in the user's cache directory or in memory;
importing it by name, as unpickling a generated function in a new process does, is enough to get there.
"""

from __future__ import annotations

from .transformer import load as load

__path__: list[str] = []
