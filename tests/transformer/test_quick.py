"""Quick calls give what the long way gives, and step aside for arguments that they are not for."""

from __future__ import annotations

import linecache
import pickle
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


def quick(gradient: Any) -> bool:
    """Whether calls like the last one go past the long way."""
    return bool(gradient.__call__ != gradient._long)


def test_the_second_call_makes_the_next_ones_quick() -> None:
    gradient = adjoin.grad(power)
    gradient(2.0, 3)
    assert not quick(gradient)
    gradient(2.0, 3)
    assert quick(gradient)
    gradient(np.ones(2), 3)
    assert not quick(gradient)
    gradient(2.0, 3)
    assert quick(gradient)


def test_keywords_and_defaults() -> None:
    gradient = adjoin.grad(lambda x, n=2: x**n)
    for _ in range(3):
        assert gradient(3.0) == gradient(x=3.0) == 6.0
        assert gradient(3.0, 2) == gradient(3.0, n=2) == gradient(n=2, x=3.0) == 6.0
        assert gradient(3.0, 3) == gradient(3.0, n=3) == 27.0
    for call in [lambda: gradient(3.0), lambda: gradient(3.0, 3), lambda: gradient(n=3, x=3.0)]:
        wanted = call()
        assert call() == wanted and quick(gradient) and call() == wanted


def test_a_default_that_changes() -> None:
    def function(x: float, n: float = 2.0) -> float:
        return n * x

    gradient = adjoin.grad(function)
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 2.0
    function.__defaults__ = (5.0,)
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 5.0


def test_a_default_that_changes_and_has_a_gradient() -> None:
    def function(x: float, m: float = 2.0, *, n: float = 2.0) -> float:
        return x * m**2 * n**2

    gradient = adjoin.grad(function, argnames=("m", "n"))
    assert gradient(1.0) == gradient(1.0) == gradient(1.0) == (16.0, 16.0)
    function.__kwdefaults__["n"] = 1.0
    assert gradient(1.0) == (4.0, 8.0)
    function.__defaults__ = (3.0,)
    assert gradient(1.0) == (6.0, 18.0)


def only_some(x: float, /, y: float, *, z: float = 1.0) -> float:
    return x * y * z


def test_parameters_that_come_by_position_or_name_only() -> None:
    gradient = adjoin.grad(only_some)
    for _ in range(3):
        assert gradient(2.0, 3.0) == 3.0
        assert gradient(2.0, y=3.0) == 3.0
        assert gradient(2.0, 3.0, z=2.0) == 6.0
    for wrong in [lambda: gradient(2.0), lambda: gradient(2.0, 3.0, 4.0), lambda: gradient(x=2.0, y=3.0)]:
        gradient(2.0, 3.0)
        gradient(2.0, 3.0)
        assert quick(gradient)
        with pytest.raises(TypeError, match="only_some"):
            wrong()


def several(a: Any, b: Any) -> Any:
    return np.sum(a * b["w"]) * b["k"]


def aside(a: Any, b: Any) -> Any:
    return several(a, b), {"seen": a}


A, B = np.array([1.0, 2.0]), {"w": np.array([3.0, 5.0]), "k": 2.0}


def test_every_form_of_a_gradient() -> None:
    wanted = (np.array([6.0, 10.0]), {"w": np.array([2.0, 4.0]), "k": 13.0})
    forms = [
        (adjoin.grad(several), wanted[0]),
        (adjoin.grad(several, argnums=(0,)), wanted[:1]),
        (adjoin.grad(several, argnums=1), wanted[1]),
        (adjoin.grad(several, argnums=(1, 0)), wanted[::-1]),
        (adjoin.value_and_grad(several), (26.0, wanted[0])),
        (adjoin.value_and_grad(several, argnums=(0, 1)), (26.0, wanted)),
        (adjoin.grad(aside, has_aux=True), (wanted[0], {"seen": A})),
        (adjoin.value_and_grad(aside, argnums=(0, 1), has_aux=True), ((26.0, {"seen": A}), wanted)),
    ]
    for gradient, want in forms:
        for _ in range(4):
            got = gradient(A, B)
            assert type(got) is type(want)
            np.testing.assert_equal(got, want)
        assert quick(gradient), gradient
        other = gradient(A, {"k": 2.0, "w": B["w"]})  # another order of keys: another signature
        np.testing.assert_equal(other, want)


def passed_on(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def test_an_argument_is_never_given_out() -> None:
    x, y = np.array([2.0, 0.5]), np.array([3.0, 4.0])
    single, both = adjoin.grad(passed_on), adjoin.grad(passed_on, argnums=(0, 1))
    for _ in range(4):
        assert not np.shares_memory(single(x, y), y)
        x_bar, y_bar = both(x, y)
        assert not any(np.shares_memory(bar, z) for bar in (x_bar, y_bar) for z in (x, y))
    assert quick(single) and quick(both)


def writes(x: Any, y: Any) -> Any:
    x[:] = x * y
    return np.sum(x * y)


def test_arguments_that_share_memory_and_are_written_to() -> None:
    gradient = adjoin.grad(writes)
    x, y = np.array([2.0, 0.5]), np.array([3.0, 4.0])
    for _ in range(3):
        np.testing.assert_array_equal(gradient(x, y), y**2)
    assert quick(gradient)
    np.testing.assert_array_equal(gradient(x, x), 4 * x**3)
    np.testing.assert_array_equal(x, [2.0, 0.5])


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


WEIGHTS = np.array([2.0, 3.0])
WAY = "sum"


def by_globals(x: Any) -> Any:
    return np.sum(x * WEIGHTS) if WAY == "sum" else np.sum(x) * 10.0


def test_globals_that_are_arrays_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adjoin.grad(by_globals)

    def expect(*wanted: float) -> None:
        for _ in range(3):
            np.testing.assert_array_equal(gradient(np.ones(2)), wanted)
            assert not np.shares_memory(gradient(np.ones(2)), WEIGHTS)
        assert quick(gradient)

    expect(2.0, 3.0)
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([5.0, 7.0]))
    expect(5.0, 7.0)
    monkeypatch.setitem(globals(), "WEIGHTS", 4.0)
    expect(4.0, 4.0)
    monkeypatch.setitem(globals(), "WAY", "mean")
    expect(10.0, 10.0)


def test_variables_of_an_enclosing_function() -> None:
    factor: Any = 2.0

    def function(x: float) -> float:
        return factor * x

    gradient = adjoin.grad(function)
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 2.0
    assert quick(gradient)
    factor = 5.0
    assert gradient(3.0) == 5.0
    factor = np.array(7.0)
    assert gradient(3.0) == 7.0


def shadows(helper: float, type: float) -> float:
    return helper * with_helper(type)


def test_parameters_with_the_names_of_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adjoin.grad(shadows, argnums=1)
    assert gradient(2.0, 3.0) == gradient(2.0, 3.0) == gradient(2.0, 3.0) == 12.0
    assert quick(gradient)
    monkeypatch.setitem(globals(), "helper", scaled)
    assert gradient(2.0, 3.0) == 24.0


def largest(x: float) -> float:
    return max(x, 0.5) * x


def test_a_builtin_that_is_hidden_or_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adjoin.grad(largest)
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 6.0
    assert quick(gradient)
    monkeypatch.setitem(globals(), "max", min)
    assert gradient(3.0) == 0.5
    monkeypatch.delitem(globals(), "max")
    assert gradient(3.0) == gradient(3.0) == 6.0
    monkeypatch.setattr("builtins.max", min)
    assert gradient(3.0) == 0.5


def asserting(x: float) -> float:
    assert x > 0.0
    return x * x


def test_globals_that_are_no_names_of_python() -> None:
    gradient = adjoin.grad(asserting)  # which pytest rewrites
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 6.0
    assert quick(gradient)


def test_a_helper_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adjoin.grad(with_helper)
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 6.0
    monkeypatch.delitem(globals(), "helper")
    with pytest.raises(NameError):
        gradient(3.0)


def test_a_function_that_is_given_other_code() -> None:
    def function(x: float) -> float:
        return x * x

    def other(y: float, n: float = 3.0) -> float:
        return n * y

    gradient = adjoin.grad(function)
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 6.0
    function.__code__, function.__defaults__ = other.__code__, other.__defaults__
    assert gradient(3.0) == gradient(3.0) == gradient(3.0) == 3.0
    assert gradient(3.0, n=2.0) == 2.0


def test_source_is_that_of_the_last_call() -> None:
    gradient = adjoin.grad(power)
    gradient(2.0, 3)
    number = gradient.source
    gradient(np.ones(2), 3)
    assert gradient.source != number
    gradient(2.0, 3)
    gradient(2.0, 3)
    assert gradient.source == number
    gradient.forward(2.0, 3)
    assert gradient.source != number
    gradient(2.0, 3)
    assert gradient.source == number
    assert gradient.source_for(np.ones(2), 3) == gradient.source != number
    gradient(2.0, 3)
    assert gradient.source == number


def test_an_error_of_the_function_keeps_its_type() -> None:
    gradient = adjoin.grad(lambda x: 1.0 / x)
    assert gradient(2.0) == gradient(2.0) == -0.25
    with pytest.raises(ZeroDivisionError):
        gradient(0.0)
    with pytest.raises(TypeError):
        gradient(1.0, 2.0)


# -- points and directions -----------------------------------------------------------------------------


def direction(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tangent for the first argument, in its form, and none for the others."""
    x = args[0]
    dot = np.full_like(x, 0.5) if isinstance(x, np.ndarray) else type(x)(0.5)
    return (dot, *(None for _ in args[1:]))


@pytest.mark.parametrize("function", [power, identity])
@pytest.mark.parametrize("maker", [adjoin.jvp, adjoin.hvp])
def test_tangents_in_any_order(function: Any, maker: Any) -> None:
    calls = [args for args in CALLS if np.size(args[0]) or maker is adjoin.jvp]
    wanted = [list(leaves(maker(lambda x, n: function(x, n))(args, direction(args)))) for args in calls]
    product = maker(function)
    for args, want in [*zip(calls, wanted), *zip(calls[::-1], wanted[::-1])]:
        for _ in range(3):
            assert_same_bits("tangent", list(leaves(product(args, direction(args)))), want)


def test_the_second_point_makes_the_next_ones_quick() -> None:
    product = adjoin.jvp(lambda x, n: x**n)
    for _ in range(2):
        product((2.0, 3), (1.0, None))
    assert quick(product)
    assert product((2.0, 3.0), (1.0, 0.5))[1] == 12.0 + 0.5 * 8.0 * np.log(2.0)
    assert not quick(product)
    assert product([2.0, 3], [1, None]) == (8.0, 12.0)
    assert product((2.0,), (1.0,), n=2) == (4.0, 4.0)


def test_directions_that_are_not_of_the_form_of_the_point() -> None:
    product = adjoin.jvp(power)
    x = np.ones(3)
    for _ in range(3):
        product((x, 2), (x, None))
    assert quick(product)
    for bad in [(np.ones(2), None), (x,), (x, None, None)]:
        with pytest.raises(adjoin.AdjoinError):
            product((x, 2), bad)
    assert product((x, 2), (np.ones(3, "f4"), None))[1].dtype == np.float64


def test_tangents_are_nobody_elses() -> None:
    product = adjoin.jvp(lambda x: x)
    x, dot = np.ones(3), np.ones(3)
    for _ in range(3):
        value, moved = product((x,), (dot,))
        assert not np.shares_memory(moved, dot)
        moved[:] = 7.0
    np.testing.assert_array_equal(dot, np.ones(3))


def test_a_global_that_changes_between_points() -> None:
    scope: dict[str, Any] = {}
    text = "K = 2.0\ndef helper(x): return K * x * x\ndef f(x): return helper(x)\n"
    linecache.cache["<quick>"] = (len(text), None, text.splitlines(True), "<quick>")
    exec(compile(text, "<quick>", "exec"), scope)
    tangent, product = adjoin.jvp(scope["f"]), adjoin.hvp(scope["f"])
    for _ in range(3):
        assert tangent((3.0,), (1.0,)) == (18.0, 12.0)
        assert product((3.0,), (1.0,)) == 4.0
    scope["K"] = 5.0
    assert tangent((3.0,), (1.0,)) == (45.0, 30.0)
    assert product((3.0,), (1.0,)) == 10.0
    scope["K"] = np.array([1.0, 2.0])
    np.testing.assert_array_equal(tangent((3.0,), (1.0,))[1], [6.0, 12.0])


def test_the_source_is_that_of_the_last_point() -> None:
    product = adjoin.jvp(power)
    x = np.ones(3)
    for _ in range(3):
        product((x, 2), (x, None))
    shown = product.source
    assert product.source_for(x, 2.0) != shown
    product((x, 2), (x, None))
    assert product.source == shown


@pytest.mark.parametrize("maker", [adjoin.jvp, adjoin.hvp])
def test_products_are_pickled_after_quick_calls(maker: Any) -> None:
    product = maker(power)
    for _ in range(3):
        product((2.0, 3), (1.0, None))
    again = pickle.loads(pickle.dumps(product))
    assert again((2.0, 3), (1.0, None)) == product((2.0, 3), (1.0, None))


def test_the_sum_of_a_number_is_that_number() -> None:
    def function(x: Any) -> Any:
        a = x * 1.0
        b = a
        b += 1.0
        return np.sum(a * b)

    gradient = adjoin.grad(function)
    assert gradient(1.5) == 4.0 and gradient.forward(1.5)[0] == 3.75
    assert "broadcast_to" not in gradient.source_for(1.5)
