"""NumPy's functions that call a function: by rows, by pieces, by elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin
from adjoin.transformer.errors import AdjoinError

X = np.array([[0.3, 0.7, -0.2], [1.1, 0.4, 0.9]])
CUBE = np.arange(12.0).reshape(2, 2, 3) / 7.0


def vectors_from_rows(x):
    return np.sum(np.apply_along_axis(lambda row: np.sum(row**2) * row, 1, x) ** 2)


def vectors_from_columns(x):
    return np.sum(np.apply_along_axis(np.cumsum, 0, x) ** 2 * np.arange(6.0).reshape(2, 3))


def numbers_from_columns(x):
    return np.sum(np.apply_along_axis(lambda column: np.sum(column**2), 0, x) ** 2)


def with_more_arguments(x):
    def weighted(row, power, scale=1.0):
        return scale * np.sum(row**power)

    return np.sum(np.apply_along_axis(weighted, 1, x, 3, scale=x[0, 0]))


def of_a_vector(x):
    return np.sum(np.apply_along_axis(lambda row: row**2, 0, x[0]))


def over_axes(x):
    return np.sum(np.apply_over_axes(np.sum, x**2, [0])) + np.sum(np.apply_over_axes(np.mean, x**3, (0, 1)))


def from_places(x):
    return np.sum(np.fromfunction(lambda i, j: x[0, 0] * i + np.sin(x[1, 1] * j), (2, 3)))


def in_pieces(x):
    pieces = [lambda v: v**2, lambda v: 3 * v]
    return np.sum(np.piecewise(x, [x < 0.5, x >= 0.5], pieces) * np.arange(6.0).reshape(2, 3))


def in_pieces_with_the_rest(x):
    return np.sum(np.piecewise(x, [x < 0.5], [lambda v: v**2, 2.0]))


def in_pieces_with_arguments(x):
    scaled = [lambda v, k: v**2 * k, lambda v, k: v * k, 0.0]
    return np.sum(np.piecewise(x, [x < 0.5, x > 1.0], scaled, x[0, 0]))


def by_elements(x):
    f = np.vectorize(lambda u: u * u if u > 0.5 else 3.0 * u)
    return np.sum(f(x) * np.arange(6.0).reshape(2, 3))


def by_pairs_of_elements(x):
    return np.sum(np.vectorize(lambda u, v: u * v + np.sin(u))(x, x[0]))


@np.vectorize
def cubed(u):
    return u**3


def by_elements_of_a_global(x):
    return np.sum(cubed(x))


@pytest.mark.parametrize(
    "f",
    [
        vectors_from_rows,
        vectors_from_columns,
        numbers_from_columns,
        with_more_arguments,
        of_a_vector,
        over_axes,
        from_places,
        in_pieces,
        in_pieces_with_the_rest,
        in_pieces_with_arguments,
        by_elements,
        by_pairs_of_elements,
        by_elements_of_a_global,
    ],
)
def test_functions_that_call_a_function(f: Any) -> None:
    assert_gradient(f, X)


def test_rows_of_a_cube() -> None:
    def f(x):
        lengths = np.apply_along_axis(lambda row: np.sum(row**2), 1, x)
        return np.sum(lengths**2) + np.sum(np.apply_along_axis(np.cumsum, 2, x) ** 2)

    assert_gradient(f, CUBE)


def test_a_piece_of_nothing() -> None:
    def f(x):
        return np.sum(np.piecewise(x, [x > 100.0], [lambda v: v[0] * v, lambda v: v**2]))

    assert_gradient(f, X)


def test_memory_of_an_unknown_kind_that_is_written_to() -> None:
    def f(x):
        x = np.asanyarray(x)
        y = np.zeros_like(x)
        y[0] = x[0] * 2.0
        return np.sum(y * y)

    assert_gradient(f, X)


def test_a_vectorised_function_that_gives_integers_is_refused() -> None:
    def f(x):
        return np.sum(np.vectorize(lambda u: u * u if u > 0.5 else 0)(x))

    with pytest.raises(TypeError, match="goes by the first result"):
        adjoin.grad(f)(X)
    assert_gradient(f, X[:, ::-1][1:])  # the first result is a float, and so are all


def test_options_of_vectorize_are_refused_by_name() -> None:
    def f(x):
        return np.sum(np.vectorize(lambda row: np.sum(row**2) * row, signature="(n)->(n)")(x))

    with pytest.raises(AdjoinError, match="signature"):
        adjoin.grad(f)(X)


def test_results_that_nothing_uses() -> None:
    """Of several results one is used, and the operand of another has no adjoint from there."""

    def one_grid(x, y, a):
        return np.sum(np.meshgrid(x, y)[0] * a)

    def one_spread(x, y):
        return np.sum(np.broadcast_arrays(x, y)[0] * x)

    x, y, a = np.array([1.0, 2.0]), np.array([3.0, 5.0, 4.0]), np.arange(6.0).reshape(3, 2)
    bars = adjoin.grad(one_grid, argnums=(0, 1, 2))(x, y, a)
    for bar, expected in zip(bars, ([6.0, 9.0], [0.0] * 3, [[1.0, 2.0]] * 3), strict=True):
        np.testing.assert_array_equal(bar, expected)
    bars = adjoin.grad(one_spread, argnums=(0, 1))(x, x + 1.0)
    np.testing.assert_array_equal(bars[0], 2.0 * x)
    np.testing.assert_array_equal(bars[1], np.zeros(2))
