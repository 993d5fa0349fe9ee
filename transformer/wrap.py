"""Wrapping: lines of code that fit, broken the way that Black and Ruff break them.

In: a line of Python. Out: one line or more.

    x_bar = np.sum(a_long_name * another_name, axis=0)

    x_bar = np.sum(
        a_long_name * another_name, axis=0
    )
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPEN, _CLOSE = "([{", ")]}"
#: Operators with blanks around them, those that bind least first.
_LEVELS = (
    (" if ", " else "),
    (" or ",),
    (" and ",),
    (" == ", " != ", " <= ", " >= ", " < ", " > ", " is not ", " is ", " not in ", " in "),
    (" | ",),
    (" & ",),
    (" + ", " - "),
    (" * ", " / ", " // ", " % ", " @ "),
    (" ** ",),
)
_HEAD = re.compile(r"(return |assert |[^\s=(\[{][^=]*? (?:[-+*/%@&|^]|//|\*\*|<<|>>)?= )")


def fit(line: str, width: int) -> list[str]:
    """The line itself if it is short enough or cannot be broken."""
    if len(line) <= width or line.lstrip().startswith("#") or '"""' in line:
        return [line]
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    return _broken(indent, code, width) or [line]


def _broken(indent: str, code: str, width: int) -> list[str] | None:
    found = _HEAD.match(code)
    head = found.group(0) if found and not _inside(code, found.end()) else ""
    rest = code[len(head) :]
    tail = ""
    if code.startswith(("if ", "while ", "elif ")) and code.endswith(":"):
        head, rest, tail = code[: code.index(" ") + 1], code[code.index(" ") + 1 : -1], ":"
    parts = _operands(rest)
    if len(parts) > 1 and (head or tail):
        return _parenthesised(indent, head, parts, tail, width)
    return _in_brackets(indent, head, rest, tail, width)


def _parenthesised(indent: str, head: str, parts: list[str], tail: str, width: int) -> list[str]:
    inner = indent + "    "
    whole = inner + " ".join(parts)
    if len(whole) <= width:
        body = [whole]
    else:
        body = [each for part in parts for each in fit(inner + part, width)]
    return [f"{indent}{head}(", *body, f"{indent}){tail}"]


def _in_brackets(indent: str, head: str, rest: str, tail: str, width: int) -> list[str] | None:
    """Break inside the last pair of brackets."""
    span = _last_pair(rest)
    if span is None:
        return None
    start, end = span
    inner = indent + "    "
    whole = inner + rest[start + 1 : end]
    items = _split(rest[start + 1 : end], ", ")
    if len(whole) <= width:
        body = [whole]
    elif len(items) == 1:
        body = fit(whole, width)
    else:
        body = [line for item in items for line in _item(inner, item.rstrip(","), width)]
    return [f"{indent}{head}{rest[: start + 1]}", *body, f"{indent}{rest[end:]}{tail}"]


def _item(inner: str, item: str, width: int) -> list[str]:
    lines = fit(inner + item, width)
    return [*lines[:-1], lines[-1] + ","]


def _operands(text: str) -> list[str]:
    """The operands of the operators that bind least, each with its operator in front."""
    for level in _LEVELS:
        cuts = [at for at, rest in _outside(text) if any(rest.startswith(op) for op in level)]
        if cuts:
            edges = [0, *(at + 1 for at in cuts), len(text)]
            return [text[a:b].strip() for a, b in zip(edges, edges[1:], strict=False)]
    return [text]


def _split(text: str, separator: str) -> list[str]:
    cuts = [at for at, rest in _outside(text) if rest.startswith(separator)]
    edges = [0, *(at + len(separator) for at in cuts), len(text)]
    return [text[a:b].removesuffix(separator) for a, b in zip(edges, edges[1:], strict=False)]


def _inside(text: str, at: int) -> bool:
    """Whether a position is within brackets."""
    return all(position < at for position, _ in _outside(text)) or not any(position == at for position, _ in _outside(text))


def _outside(text: str) -> Iterator[tuple[int, str]]:
    """Positions that are in no brackets and no string, with the text from there on."""
    depth, quote = 0, ""
    for at, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[at - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        elif c in _OPEN:
            if not depth:
                yield at, text[at:]
            depth += 1
            continue
        elif c in _CLOSE:
            depth -= 1
        elif not depth:
            yield at, text[at:]


def _last_pair(text: str) -> tuple[int, int] | None:
    """Where the last pair of outermost brackets opens and closes."""
    starts = [at for at, rest in _outside(text) if rest[0] in _OPEN]
    if not starts:
        return None
    depth = 0
    for at in range(starts[-1], len(text)):
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        if not depth:
            return (starts[-1], at) if at > starts[-1] + 1 else None
    return None
