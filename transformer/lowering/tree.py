"""Trees: the parts of a syntax node that mean something.

In: a LibCST node. Out: its children, without white space, commas and parentheses. (LibCST's own `children`
writes the node out as code to find them, which takes most of the time of reading a function.)

    [type(c).__name__ for c in children(cst.parse_expression("a + b"))]     # Name, Add, Name
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import libcst as cst

_SPACE = (
    "whitespace",
    "leading_lines",
    "lines_after",
    "trailing",
    "header",
    "footer",
    "lpar",
    "rpar",
    "comma",
    "semicolon",
    "indent",
)


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for name in _parts(type(node)):
        part = getattr(node, name)
        for each in part if isinstance(part, tuple | list) else (part,):
            cls: Any = type(each)
            if _is_node(cls):
                yield each


@functools.cache
def _parts(cls: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(name for name in cls.__dataclass_fields__ if not name.startswith(_SPACE))


@functools.cache
def _is_node(cls: type) -> bool:
    """Whether these are nodes; `isinstance` would ask an abstract base class every time."""
    return issubclass(cls, cst.CSTNode)


def flatten(body: cst.BaseSuite) -> list[cst.CSTNode]:
    """The statements of a suite; `a; b` on a line are two."""
    flat: list[cst.CSTNode] = []
    for line in body.body:
        if isinstance(line, cst.SimpleStatementLine):
            flat.extend(line.body)
        else:
            flat.append(line)
    return flat
