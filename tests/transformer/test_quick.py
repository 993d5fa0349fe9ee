"""Quick calls give what the long way gives, and step aside for arguments that they are not for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import assert_same_bits, leaves

import adjoin

CALLS: list[tuple[Any, ...]] = [
    (2.0, 3),
    (2.0, 3.0),
    (np.float64(2.0), 3),
    (np.float32(2.0), 3),
    (np.array(2.0), 3),
    (np.array([2.0, 0.5]), 3),
    (np.array([2.0]), 3),
    (np.array([[2.0, 0.5]]), 3),
    (np.array([2.0, 0.5], "f4"), 3),
    (np.array([2.0, 0.5], ">f8"), 3),
    (np.zeros(0), 3),
    (np.array([1.0, 2.0, 3.0])[::2], 3),
]


def power(x: Any, n: Any) -> Any:
    return np.sum(x * x**n)


def identity(x: Any, n: Any) -> Any:
    return np.sum(x) * 1.0


@pytest.mark.parametrize("function", [power, identity])
def test_in_any_order(function: Any) -> None:
    wanted = [list(leaves(adjoin.grad(function)(*args))) for args in CALLS]
    gradient = adjoin.grad(function)
    for args, want in [*zip(CALLS, wanted), *zip(CALLS[::-1], wanted[::-1])]:
        for _ in range(3):
            got = gradient(*args)
            assert_same_bits("gradient", list(leaves(got)), want)
            assert type(got) is type(adjoin.grad(function)(*args))


def test_gradients_are_nobody_elses() -> None:
    gradient = adjoin.grad(power)
    x = np.array([2.0, 0.5])
    first = gradient(x, 3)
    kept = first.copy()
    second = gradient(x, 3)
    second[:] = 7.0
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(x, [2.0, 0.5])


def test_keywords_and_defaults_go_the_long_way() -> None:
    gradient = adjoin.grad(lambda x, n=2: x**n)
    assert (
        gradient(3.0, 2) == gradient(3.0, 2) == gradient(3.0, n=2) == gradient(x=3.0) == gradient(3.0) == 6.0
    )


SCALE = 2.0


def scaled(x: float) -> float:
    return SCALE * x * x


def test_a_global_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adjoin.grad(scaled)
    assert gradient(3.0) == gradient(3.0) == 12.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert gradient(3.0) == gradient(3.0) == 30.0


def helper(x: float) -> float:
    return x * x


def with_helper(x: float) -> float:
    return helper(x)


def test_a_helper_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adjoin.grad(with_helper)
    assert gradient(3.0) == gradient(3.0) == 6.0
    monkeypatch.setitem(globals(), "helper", scaled)
    assert gradient(3.0) == 2 * SCALE * 3.0


def test_source_is_that_of_the_last_call() -> None:
    gradient = adjoin.grad(power)
    gradient(2.0, 3)
    number = gradient.source
    gradient(np.ones(2), 3)
    assert gradient.source != number
    gradient(2.0, 3)
    gradient(2.0, 3)
    assert gradient.source == number


def test_an_error_of_the_function_keeps_its_type() -> None:
    gradient = adjoin.grad(lambda x: 1.0 / x)
    assert gradient(2.0) == gradient(2.0) == -0.25
    with pytest.raises(ZeroDivisionError):
        gradient(0.0)
    with pytest.raises(TypeError):
        gradient(1.0, 2.0)
