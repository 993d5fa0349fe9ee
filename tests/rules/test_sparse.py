"""Sparse matrices of SciPy: constants, and matrices made of entries that are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin
from adjoin.transformer.errors import AdjoinError

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

OLD = sparse.csr_matrix(np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, -1.0], [0.5, 0.0, 0.0, 1.5]]))
NEW = sparse.csr_array(OLD)
SQUARE = sparse.csc_matrix(np.diag([4.0, 3.0, 5.0, 2.0]) + np.eye(4, k=1) - 0.5 * np.eye(4, k=-2))
X = np.array([0.3, 0.7, -0.2, 1.1])
ROWS, COLUMNS = np.array([0, 1, 2, 0, 0]), np.array([0, 1, 2, 3, 3])  # one place twice
DATA = np.array([1.5, -0.5, 2.0, 0.7, 0.4])


def product(x):
    return np.sum((OLD @ x) ** 2) + np.sum((NEW @ x) ** 3)


def old_product(x):
    return np.sum((OLD * x) ** 2)


def transposed(x):
    return np.sum((OLD.T @ (OLD @ x)) ** 2) + np.sum(OLD.T.dot(x[:3]) ** 2) + np.sum((x[:3] @ OLD) ** 2)


def of_matrices(x):
    several = np.outer(x, x)
    return np.sum((OLD @ several) ** 2) + np.sum((several[:2, :3] @ NEW) ** 2)


def dense(x):
    return np.sum((OLD.toarray() @ x) ** 2)


def solution(x):
    return np.sum(linalg.spsolve(SQUARE, x) ** 2)


def constant_made_here(x):
    laplace = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(4, 4)).tocsr() * 0.5 + sparse.eye(4)
    return np.sum((laplace @ x) ** 2)


def in_a_loop(x):
    for _ in range(3):
        x = np.tanh(SQUARE @ x) + 0.1 * x
    return np.sum(x)


@pytest.mark.parametrize(
    "f", [product, old_product, transposed, of_matrices, dense, solution, constant_made_here, in_a_loop]
)
def test_constant_matrices(f: Any) -> None:
    assert_gradient(f, X, rtol=2e-6)


def test_a_matrix_as_an_argument() -> None:
    def f(x, a):
        return np.sum((a @ x) ** 2)

    assert_gradient(f, X, OLD)
    assert_gradient(f, X, NEW)
    with pytest.raises(AdjoinError):
        adjoin.grad(f, argnums=1)(X, OLD)


# -- through the entries -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_entries_by_place(form: str, kind: str) -> None:
    make = getattr(sparse, f"{form}_{kind}")

    def f(data, x):
        a = make((data, (ROWS, COLUMNS)), shape=(3, 4))
        return np.sum((a @ x) ** 2) + np.sum((a.T @ x[:3]) ** 2) + np.sum((x[:3] @ a) ** 3)

    assert_gradient(f, DATA, X, argnums=(0, 1))


def test_entries_by_row() -> None:
    def f(data, x):
        a = sparse.csr_matrix((data, OLD.indices, OLD.indptr), shape=OLD.shape)
        return np.sum(np.sin(a @ x)) + np.sum((a @ np.outer(x, x)) ** 2) + np.sum(a.toarray() ** 3)

    assert_gradient(f, OLD.data, X, argnums=(0, 1))


def test_a_system_with_these_entries() -> None:
    def f(data, b):
        a = sparse.csc_matrix((data, SQUARE.indices, SQUARE.indptr), shape=(4, 4))
        return np.sum(linalg.spsolve(a, b) ** 2)

    assert_gradient(f, SQUARE.data, X, argnums=(0, 1))


def test_second_derivatives() -> None:
    def f(data):
        a = sparse.csr_matrix((data, (ROWS, COLUMNS)), shape=(3, 4))
        return np.sum((a @ X) ** 3)

    def product_of_dense(data):
        a = np.zeros((3, 4))
        np.add.at(a, (ROWS, COLUMNS), data)
        return np.sum((a @ X) ** 3)

    np.testing.assert_allclose(adjoin.hessian(f)(DATA), adjoin.hessian(product_of_dense)(DATA), rtol=1e-12)


# -- refusals ------------------------------------------------------------------------------------------


def test_what_is_not_followed_is_refused() -> None:
    def elementwise(x):
        return np.sum(OLD.multiply(x).toarray())

    def scaled(x):
        return np.sum((x[0] * OLD) @ x)

    def diagonal(x):
        return np.sum(sparse.diags([x], [0]) @ x)

    def from_dense(x):
        return np.sum(sparse.csr_matrix(np.outer(x, x)) @ x)

    def converted(x):
        return np.sum(sparse.coo_matrix((x, ([0, 1, 2, 0], [0, 1, 2, 3]))).tocsr() @ x)

    for f in (elementwise, scaled, diagonal, from_dense, converted):
        with pytest.raises(AdjoinError):
            adjoin.grad(f)(X)
        with pytest.raises(AdjoinError):
            adjoin.jvp(f, (X,), (X,))
