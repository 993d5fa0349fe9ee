"""Refusals: every one has a stable code, a place, a reason, and says what to write instead.

In: what a stage of the transformer could not do, and where. Out: an `AdjoinError` that prints as

    ADJ101 unsupported-syntax: `yield` makes a generator, which has no single result
      --> loss.py:12:9
       |
    12 |         yield x
       |         ^^^^^^^
       = instead: append to a list and return it

    >>> where = Where("loss.py", 12, 8, 12, 15, "        yield x")
    >>> error = AdjoinError(Code.UNSUPPORTED_SYNTAX, "`yield` makes a generator", where=where)
    >>> error.code == "ADJ101", error.code.slug, str(error.where)
    (True, 'unsupported-syntax', 'loss.py:12:9')
"""

from __future__ import annotations

import linecache
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["AdjoinError", "Code", "Where"]


class Code(StrEnum):
    """Every reason for which adjoin refuses. A code keeps its number and its meaning for ever.

    1xx: the function as it is written; 2xx: operations and calls; 3xx: arguments and results;
    4xx: what only turns out when the gradient runs.

    >>> print(Code.NO_RULE, Code.NO_RULE.slug)
    ADJ201 no-rule
    """

    slug: str
    meaning: str

    def __new__(cls, number: str, slug: str, meaning: str) -> Code:
        member = str.__new__(cls, number)
        member._value_ = number
        member.slug = slug
        member.meaning = meaning
        return member

    UNSUPPORTED_SYNTAX = "ADJ101", "unsupported-syntax", "a construct of Python that adjoin does not read"
    SOURCE_NOT_AVAILABLE = "ADJ102", "source-not-available", "the text of the function cannot be found"
    SOURCE_CHANGED = "ADJ103", "source-changed", "the text on disk is not what the function was compiled from"
    RECURSION = "ADJ104", "recursion", "a recursive call that cannot be given a gradient of its own"
    MUTATION = "ADJ105", "mutation-not-followed", "a change in place that cannot be followed"
    UNBOUND_NAME = "ADJ106", "unbound-name", "a name that is bound nowhere when the function is read"

    NO_RULE = "ADJ201", "no-rule", "an operation on active values that the table of rules does not have"
    NO_RULE_FOR_OPTION = "ADJ202", "no-rule-for-option", "an option that the operation's rule does not cover"
    OPAQUE_CALL = "ADJ203", "opaque-call", "an active value goes into a call with neither source nor rule"
    NO_DERIVATIVE = "ADJ204", "no-derivative", "the operation has no derivative there, mathematically"

    INTEGER_ARGUMENT = "ADJ301", "integer-argument", "a gradient with respect to an integer or a boolean"
    NOT_DIFFERENTIABLE_ARGUMENT = (
        "ADJ302",
        "not-differentiable-argument",
        "a gradient with respect to something that holds no floating-point numbers",
    )
    NON_SCALAR_RESULT = "ADJ303", "non-scalar-result", "`grad` of a function whose result is not one number"
    UNKNOWN_ARGUMENT = "ADJ304", "unknown-argument", "the function has no argument of that name or position"
    BAD_SEED = "ADJ305", "bad-seed", "a seed whose structure or shape is not that of the result"
    BAD_LIKE = "ADJ306", "bad-like", "a `like` that does not describe the function's arguments"

    BAD_SPARSITY = "ADJ307", "bad-sparsity", "a sparsity pattern that is not that of the Jacobian"

    KIND_CHANGED = "ADJ401", "kind-changed", "a value is not of the kind that the code was made for"
    WRONG_GRADIENT = "ADJ402", "wrong-gradient", "`check` found that a gradient does not match its function"


@dataclass(frozen=True)
class Where:
    """A range in a source file. Lines count from 1, columns from 0 in characters, as `ast` and LibCST have
    them (`str` counts columns from 1, as editors do). `text` is the whole first line, without its newline.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str = ""

    @classmethod
    def of(cls, site: Any) -> Where:
        """From anything with the same range; the text of the line is looked up."""
        line = linecache.getline(site.file, site.line).rstrip("\r\n")
        return cls(site.file, site.line, site.column, site.end_line, site.end_column, line)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"

    def excerpt(self) -> list[str]:
        """The source line with a caret under the range (to the end of the line, if the range goes on).

        >>> print(*Where("f.py", 3, 4, 3, 9, "x = g(y, z)").excerpt(), sep="\\n")
          |
        3 | x = g(y, z)
          |     ^^^^^
        """
        line = self.text.rstrip()
        if not line:
            return []
        end = self.end_column if self.end_line == self.line else len(line)
        marked = line[self.column : max(end, self.column + 1)] or " "
        before = "".join(c if c == "\t" else " " * _width(c) for c in line[: self.column])
        number = str(self.line)
        margin = " " * len(number) + " |"
        return [margin, f"{number} | {line}", f"{margin} {before}{'^' * sum(map(_width, marked))}"]


class AdjoinError(Exception):
    """adjoin refuses to differentiate something.

    Attributes:
        code: the stable code, a `Code`; compares equal to its number (``error.code == "ADJ101"``).
        reason: what is wrong, in one sentence.
        where: the place in the source, a `Where`, or None if there is none to name.
        rewrite: what to write instead, or None.
    """

    def __init__(
        self, code: Code, reason: str, *, where: Where | None = None, rewrite: str | None = None
    ) -> None:
        super().__init__(code, reason, where, rewrite)
        self.code = code
        self.reason = reason
        self.where = where
        self.rewrite = rewrite

    def __str__(self) -> str:
        lines = [f"{self.code.value} {self.code.slug}: {self.reason}"]
        indent = ""
        if self.where is not None:
            indent = " " * len(str(self.where.line)) if self.where.text.strip() else ""
            lines += [f"{indent}--> {self.where}", *self.where.excerpt()]
        if self.rewrite is not None:
            lines.append(f"{indent} = instead: {self.rewrite}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        notes = {"__notes__": self.__notes__} if hasattr(self, "__notes__") else None
        return _rebuilt, (self.code, self.reason, self.where, self.rewrite), notes


# Tracebacks name the exception by where users import it from.
AdjoinError.__module__ = "adjoin"


def _rebuilt(code: Code, reason: str, where: Where | None, rewrite: str | None) -> AdjoinError:
    return AdjoinError(code, reason, where=where, rewrite=rewrite)


def _width(character: str) -> int:
    """How many columns a terminal gives a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
