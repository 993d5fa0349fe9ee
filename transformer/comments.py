"""Comments: what the user noted above and beside a statement, to be kept.

In: a function's source lines and where a statement stands. Out: its `Notes`.

    # predicted probability
    p = 1 / d  # between 0 and 1     ->     Notes(("# predicted probability",), "# between 0 and 1")
"""

from __future__ import annotations

import functools
import tokenize
from dataclasses import dataclass

#: Comments for tools, which mean nothing in another file.
_TOOLS = (
    "# noqa",
    "# type:",
    "# pragma",
    "# fmt:",
    "# pylint",
    "# mypy",
    "# pyright",
    "# ruff",
    "#!",
    "# >>>",
)


@dataclass(frozen=True, eq=False)
class Notes:
    """Comments in the lines above a statement, and behind it. One object a statement: it tells them apart."""

    above: tuple[str, ...] = ()
    beside: str = ""


def notes_at(lines: tuple[str, ...], first: int, last: int) -> Notes:
    """The notes of the statement in the lines from `first` to `last`, counted from 0."""
    comments = _comments(lines)
    above: list[str] = []
    at = first - 1
    while at in comments and comments[at][0]:
        above.insert(0, comments[at][1])
        at -= 1
    alone, text = comments.get(last, (True, ""))
    return Notes(tuple(filter(None, above)), "" if alone else text)


@functools.lru_cache(maxsize=256)
def _comments(lines: tuple[str, ...]) -> dict[int, tuple[bool, str]]:
    """By line: whether the comment stands alone there, and its text, "" for one that is for a tool."""
    found: dict[int, tuple[bool, str]] = {}
    text = iter([line if line.endswith("\n") else line + "\n" for line in lines])
    try:
        for token in tokenize.generate_tokens(lambda: next(text, "")):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                found[token.start[0] - 1] = alone, "" if token.string.startswith(_TOOLS) else token.string
    except (tokenize.TokenError, SyntaxError):  # the lines around a lambda need not be whole
        pass
    return found


__all__ = ["Notes", "notes_at"]
