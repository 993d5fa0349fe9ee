"""The entry check of a built file: its gradient is for arrays like those it was built for.

In: a generated module's text, an entry function, the kinds of its parameters. Out: the text with a check.

    def loss_grad(w, X):               def loss_grad(w, X):
        ...                     ->         as_built_for(w=(w, (False,)), X=(X, (False, False)))
                                           ...

Inside a process adjoin itself picks the code for a call's arguments; a file is called by anyone.
"""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ..runtime.support import as_built_for
from .helpers import render_helpers
from .kinds import Array, Dim, Kind


def guarded(text: str, entry: str, kinds: Mapping[str, Kind]) -> str:
    """The module's text with a check of the array arguments of `entry`."""
    checks = ", ".join(
        f"{name}=({name}, {_ones(kind)!r})"
        for name, kind in kinds.items()
        if isinstance(kind, Array) and kind.dims is not None
    )
    if not checks:
        return text
    helper = render_helpers({"as_built_for": as_built_for})
    module = cst.parse_module(text).visit(_Insert(entry, f"as_built_for({checks})"))
    imports = [line for line in helper.imports if f"{line}\n" not in text]
    first, _, rest = module.code.partition("\n\n\n")
    if not text.startswith(("import", "from")):
        first, rest = "", module.code
    head = "\n".join([*imports, first]).strip("\n")
    return "\n\n\n".join(part.strip("\n") for part in (head, helper.text, rest) if part) + "\n"


def _ones(kind: Array) -> tuple[bool | None, ...]:
    """For each axis whether its length is 1; None where the code is for any."""
    assert kind.dims is not None
    return tuple(
        n == 1 if isinstance(n, int) else False if isinstance(n, Dim) and n.not_one else None
        for n in kind.dims
    )


class _Insert(cst.CSTTransformer):
    def __init__(self, entry: str, statement: str) -> None:
        super().__init__()
        self.entry = entry
        self.statement = statement

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if updated_node.name.value != self.entry or not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        check = cst.parse_statement(self.statement)
        return updated_node.with_deep_changes(updated_node.body, body=[check, *updated_node.body.body])
