"""Parse a function's own text with LibCST, keeping the positions of the real file.

In: text that `source` cut out, and where it stood. Out: `Parsed`: the node, and for every node under it its
`Where` and its text.

    >>> parsed = parse("lambda x: x * x", "f.py", 7, 4, ["f = lambda x: x * x"], is_lambda=True)
    >>> print(parsed.where(parsed.node.body), parsed.code(parsed.node.body))
    f.py:7:15 x * x
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from .errors import AdjoinError, Code, Where

__all__ = ["Parsed", "parse"]


@dataclass(frozen=True, eq=False)
class Parsed:
    """A parsed function. Lines of the little module that was parsed are those of the file less `above`; its
    first line of text starts `shift` columns further left than the file's, where it is a lambda's."""

    node: cst.FunctionDef | cst.Lambda
    wrapper: MetadataWrapper
    file: str
    line: int
    lines: Sequence[str]
    above: int
    shift: int

    @functools.cached_property
    def _positions(self) -> Mapping[cst.CSTNode, CodeRange]:
        return self.wrapper.resolve(PositionProvider)

    def where(self, node: cst.CSTNode) -> Where:
        """The place of a node of this tree in the real file."""
        found = self._positions[node]
        line, end_line = found.start.line + self.above, found.end.line + self.above
        column = found.start.column + (self.shift if found.start.line == 1 else 0)
        end_column = found.end.column + (self.shift if found.end.line == 1 else 0)
        text = self.lines[line - self.line].rstrip("\r\n")
        return Where(self.file, line, column, end_line, end_column, text)

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node of this tree."""
        return self.wrapper.module.code_for_node(node)


def parse(text: str, file: str, line: int, column: int, lines: Sequence[str], *, is_lambda: bool) -> Parsed:
    """Parse the text of one function, which stands in `lines` of the file, the first of which is `line`.

    Nothing is dedented, so that strings over several lines keep their characters: an indented function
    is parsed under an ``if``, a lambda in parentheses.

    Raises:
        AdjoinError: ADJ101, if LibCST does not know the syntax (it can lag behind a new Python).
    """
    if is_lambda:
        module, above, shift = f"({text})", line - 1, column - 1
    elif column:
        module, above, shift = f"if 1:\n{text}", line - 2, 0
    else:
        module, above, shift = text, line - 1, 0
    try:
        tree = cst.parse_module(module)
    except cst.ParserSyntaxError as error:
        at = error.raw_line + above
        shown = lines[min(max(at - line, 0), len(lines) - 1)].rstrip("\r\n")
        raise AdjoinError(
            Code.UNSUPPORTED_SYNTAX,
            f"LibCST {getattr(cst, '__version__', '')} cannot parse this: {error.message}",
            where=Where(file, at, max(error.raw_column - 1, 0), at, error.raw_column, shown),
            rewrite="write it in the syntax of an earlier Python",
        ) from None
    wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
    found: cst.CSTNode = wrapper.module.body[0]
    if is_lambda:
        assert isinstance(found, cst.SimpleStatementLine) and isinstance(found.body[0], cst.Expr)
        found = found.body[0].value
    elif column:
        assert isinstance(found, cst.If)
        found = found.body.body[0]
    assert isinstance(found, cst.FunctionDef | cst.Lambda)
    return Parsed(found, wrapper, file, line, lines, above, shift)
