"""What `docs/eager.md` shows is what happens."""

import doctest
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "eager.md"


def test_the_page():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.removeprefix("    ") if line.startswith("    ") else "" for line in lines)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 20
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test)
    assert runner.failures == 0
