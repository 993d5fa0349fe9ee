"""Refusals print their code, place, caret, reason and rewrite, and survive pickling."""

import pickle
import re

import pytest

from adjoin import AdjoinError
from adjoin.transformer.errors import Code, Where


def test_prints_like_a_compiler():
    where = Where("loss.py", 12, 8, 12, 15, "        yield x")
    error = AdjoinError(
        Code.UNSUPPORTED_SYNTAX, "`yield` makes a generator", where=where, rewrite="return a list"
    )
    assert str(error).splitlines() == [
        "ADJ101 unsupported-syntax: `yield` makes a generator",
        "  --> loss.py:12:9",
        "   |",
        "12 |         yield x",
        "   |         ^^^^^^^",
        "   = instead: return a list",
    ]


def test_prints_without_place_or_rewrite():
    assert str(AdjoinError(Code.NO_RULE, "no rule")) == "ADJ201 no-rule: no rule"


def test_caret_keeps_tabs_and_counts_wide_characters():
    line = "\tπ = '漢字' + f(x)"
    start = line.index("f(")
    caret = Where("f.py", 1, start, 1, start + 4, line).excerpt()[-1]
    assert caret == "  | \t" + " " * (start - 1 + 2) + "^^^^"


def test_caret_of_a_range_over_several_lines_ends_with_the_first():
    assert Where("f.py", 1, 4, 3, 1, "y = f(  ").excerpt()[-1] == "  |     ^^"


def test_codes_are_unique_and_documented():
    numbers = [code.value for code in Code]
    assert len(set(numbers)) == len(numbers) == len({code.slug for code in Code})
    for code in Code:
        assert re.fullmatch(r"ADJ\d{3}", code.value)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code.slug)
        assert code.meaning


def test_code_compares_with_its_number():
    assert AdjoinError(Code.NO_RULE, "x").code == "ADJ201"


def test_is_named_by_its_public_place():
    assert f"{AdjoinError.__module__}.{AdjoinError.__qualname__}" == "adjoin.AdjoinError"


@pytest.mark.parametrize("where", [None, Where("f.py", 1, 0, 1, 1, "x")])
def test_pickles(where):
    error = AdjoinError(Code.NO_RULE, "no rule", where=where, rewrite="add one")
    error.add_note("while reading g")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.code, copy.where, copy.__notes__) == (error.code, error.where, error.__notes__)


def test_where_of_anything_with_a_range(tmp_path):
    file = tmp_path / "f.py"
    file.write_text("a = 1\nb = f(a)\n")
    site = Where(str(file), 2, 4, 2, 8, "whatever")
    assert Where.of(site).text == "b = f(a)"
