"""`check`: it has to find wrong gradients, and to leave right ones alone."""

import sys

import numpy as np
import pytest

import adjoin
from adjoin.transformer.check import Row

VECTOR = np.array([0.7, 1.9, -1.3])


def smooth(w, x, n):
    return np.sum(np.sin(w * x) ** n)


def half_square(x):
    return 0.5 * x * x


@adjoin.elementwise(half_square)
def wrong(g, out, x):
    """Wrong by a part in a thousand."""
    return 1.001 * g * x


def test_a_right_gradient(capsys):
    report = adjoin.check(smooth, VECTOR, 0.8, 2)
    assert report.ok
    assert report
    assert report.raise_if_wrong() is report
    assert [row.argument for row in report.rows] == ["w", "x"]
    assert all(abs(row.order - 2) < 0.1 for row in report.rows)
    assert all(row.error < 1e-8 for row in report.rows)
    printed = capsys.readouterr().out
    assert "gradient of smooth" in printed
    assert printed.count("right") == 2


def test_quiet(capsys):
    adjoin.check(smooth, VECTOR, 0.8, 2, quiet=True)
    assert capsys.readouterr().out == ""


def test_without_rich(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    report = adjoin.check(smooth, VECTOR, 0.8, 2)
    assert capsys.readouterr().out == f"{report}\n"
    assert len({len(line) for line in str(report).splitlines()[1:]}) == 1


def test_a_wrong_gradient():
    def f(x):
        return np.sum(half_square(x) * np.cos(x))

    report = adjoin.check(f, VECTOR, quiet=True)
    assert not report.ok
    assert report.rows[0].verdict == "wrong"
    with pytest.raises(adjoin.AdjoinError, match="gradient of `f`") as caught:
        report.raise_if_wrong()
    assert caught.value.code == "ADJ402"
    assert "Taylor order" in "".join(caught.value.__notes__)


def test_one_wrong_argument_among_right_ones():
    report = adjoin.check(lambda x, y: half_square(x) * np.exp(y), 0.7, 0.3, quiet=True)
    assert [row.verdict for row in report.rows] == ["wrong", "right"]


def test_the_order_of_a_gradient_that_is_far_off():
    report = adjoin.check(lambda x: x * adjoin.stop_gradient(x), 2.0, quiet=True)
    assert report.rows[0].verdict == "wrong"
    assert abs(report.rows[0].order - 1) < 0.1


def test_a_kink_is_not_called_right():
    report = adjoin.check(lambda x: abs(x), 0.0, quiet=True)
    assert not report.ok
    assert report.rows[0].verdict == "undecided"


def test_linear_functions_have_no_order_to_measure():
    report = adjoin.check(lambda x: 3.0 * x, 2.0, quiet=True)
    assert report.ok
    assert "exact" in str(report)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_dtypes(dtype):
    x = VECTOR.astype(dtype)
    assert adjoin.check(lambda x: np.sum(np.abs(x * x + 0.3) ** 2), x, quiet=True).ok


def test_results_of_any_form():
    assert adjoin.check(lambda x: np.exp(x), VECTOR, quiet=True).ok
    assert adjoin.check(lambda x: (np.sin(x), {"a": x * x}), VECTOR, quiet=True).ok
    assert adjoin.check(lambda x: np.exp(1j * x), VECTOR, quiet=True).ok


def test_structures_and_keywords():
    def f(p, *rest, k):
        return np.sum(p["w"] ** 2) * p["b"] * rest[0] * k

    report = adjoin.check(f, {"w": VECTOR, "b": 2.0, "n": 3}, 1.5, k=3.0, quiet=True)
    assert report.ok
    assert [row.argument for row in report.rows] == ["p", "rest_0"]


def test_a_gradient_may_be_given_for_its_function():
    @adjoin.grad
    def f(x):
        return x * x * x

    assert adjoin.check(f, 2.0, quiet=True).ok


def test_functions_that_write_to_their_arguments():
    def f(x):
        x[0] *= 2.0
        return np.sum(x * x)

    x = VECTOR.copy()
    assert adjoin.check(f, x, quiet=True).ok
    np.testing.assert_array_equal(x, VECTOR)


def test_outside_of_the_domain():
    assert adjoin.check(lambda x: np.sum(np.log(x)), np.array([1e-3, 5.0]), quiet=True).ok


def test_a_function_that_is_not_the_same_twice():
    rng = np.random.default_rng(0)

    def f(x):
        return x * x * rng.normal()

    report = adjoin.check(f, 2.0, quiet=True)
    assert not report.ok
    assert "seed" in str(report)
    with pytest.raises(adjoin.AdjoinError, match="seed"):
        report.raise_if_wrong()


def test_nothing_to_check():
    assert not adjoin.check(lambda n: n * 2, 3, quiet=True).ok


def test_rows_that_are_not_numbers():
    assert Row("x", float("nan"), 1.0, 1e-9, 2.0).verdict == "wrong"
    assert Row("x", float("nan"), float("nan"), 1e-9, 2.0).verdict == "undecided"
    assert Row("x", 0.0, 0.0, 0.0, float("nan")).verdict == "right"
