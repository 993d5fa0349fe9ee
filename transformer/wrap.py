"""Wrapping: lines of code that fit, broken the way that Black and Ruff break them.

In: a line of Python. Out: one line or more.

    x_bar = np.sum(a_long_name * another_name, axis=0)

    x_bar = np.sum(
        a_long_name * another_name, axis=0
    )
"""

from __future__ import annotations

import itertools
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
_EMPTY = re.compile(r"(?:\.\w+\(\))+$")
_HEAD = re.compile(r"(return |assert |[^\s=(\[{][^=]*? (?:[-+*/%@&|^]|//|\*\*|<<|>>)?= )")


def fit(line: str, width: int) -> list[str]:
    """The line itself if it is short enough or cannot be broken."""
    return _fit(line, width, inside=False)


def _fit(line: str, width: int, inside: bool) -> list[str]:
    if len(line) <= width or line.lstrip().startswith("#") or '"""' in line:
        return [line]
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    return _broken(indent, code, width, inside) or [line]


def _broken(indent: str, code: str, width: int, inside: bool) -> list[str] | None:
    found = _HEAD.match(code)
    head = found.group(0) if found and not inside and not _within(code, found.end()) else ""
    rest = code[len(head) :]
    tail = ""
    if code.startswith(("if ", "while ", "elif ")) and code.endswith(":"):
        head, rest, tail = code[: code.index(" ") + 1], code[code.index(" ") + 1 : -1], ":"
    parts = _operands(rest)
    if len(parts) > 1 and inside:
        return [each for part in parts for each in _fit(indent + part, width, inside)]
    if len(parts) == 2 and _is_group(parts[0]) and len(indent) + len(parts[1]) + len(tail) + 2 <= width:
        return _opened(indent, head, parts[0], f" {parts[1]}{tail}", width)
    if len(parts) > 1 and (head or tail):
        return _parenthesised(indent, head, parts, tail, width)
    return _in_brackets(indent, head, rest, tail, width)


def _is_group(text: str) -> bool:
    return text.startswith("(") and _last_pair(text) == (0, len(text) - 1)


def _opened(indent: str, head: str, group: str, tail: str, width: int) -> list[str]:
    """An operand that is in parentheses anyway is broken inside them."""
    inner = indent + "    "
    return [f"{indent}{head}(", *_fit(inner + group[1:-1], width, inside=True), f"{indent}){tail}"]


def _parenthesised(indent: str, head: str, parts: list[str], tail: str, width: int) -> list[str]:
    inner = indent + "    "
    whole = inner + " ".join(parts)
    body = [whole] if len(whole) <= width else [x for part in parts for x in _fit(inner + part, width, True)]
    return [f"{indent}{head}(", *body, f"{indent}){tail}"]


def _in_brackets(indent: str, head: str, rest: str, tail: str, width: int) -> list[str] | None:
    """Break inside the last pair of brackets that holds anything."""
    empty = _EMPTY.search(rest)
    if empty:
        rest, tail = rest[: empty.start()], empty.group() + tail
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
        body = _fit(whole, width, inside=True)
    else:
        body = [line for item in items for line in _item(inner, item.rstrip(","), width)]
    return [f"{indent}{head}{rest[: start + 1]}", *body, f"{indent}{rest[end:]}{tail}"]


def _item(inner: str, item: str, width: int) -> list[str]:
    lines = _fit(inner + item, width, inside=True)
    return [*lines[:-1], lines[-1] + ","]


def _operands(text: str) -> list[str]:
    """The operands of the operators that bind least, each with its operator in front."""
    for level in _LEVELS:
        cuts = [at for at, rest in _outside(text) if any(rest.startswith(op) for op in level)]
        if cuts:
            edges = [0, *(at + 1 for at in cuts), len(text)]
            return [text[a:b].strip() for a, b in itertools.pairwise(edges)]
    return [text]


def _split(text: str, separator: str) -> list[str]:
    cuts = [at for at, rest in _outside(text) if rest.startswith(separator)]
    edges = [0, *(at + len(separator) for at in cuts), len(text)]
    return [text[a:b].removesuffix(separator) for a, b in itertools.pairwise(edges)]


def _within(text: str, at: int) -> bool:
    """Whether a position is within brackets."""
    return all(position < at for position, _ in _outside(text)) or not any(
        position == at for position, _ in _outside(text)
    )


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
