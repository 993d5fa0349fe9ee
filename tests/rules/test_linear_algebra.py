"""Linear algebra where it is singular: what is defined is right, what is not is nan, what is unused stays 0.

The table's samples are at regular points; here are the others.
"""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import adjoin.runtime.rules  # noqa: F401  (fills the table)
from adjoin.runtime.rule import NoRule, lookup
from adjoin.runtime.support_linalg import matmul_x_adjoint, matmul_y_adjoint


def pull(function: Any, g: Any, *args: Any, **kwargs: Any) -> Any:
    """The adjoint of the first argument."""
    rule = lookup(function)
    assert rule is not None
    bound = rule.bind(args, kwargs)
    return rule.vjp((rule.wrt[0],), g, function(*args, **kwargs), bound)[0]


# -- repeated eigenvalues and singular values ----------------------------------------------------------

REPEATED = np.diag([1.0, 1.0, 3.0])


@pytest.mark.parametrize("function", [np.linalg.eigh, np.linalg.eig])
def test_vectors_of_repeated_eigenvalues_are_nan(function: Any) -> None:
    v_bar = np.zeros((3, 3))
    v_bar[:, 0] = 1.0, 2.0, 3.0
    assert np.isnan(pull(function, (None, v_bar), REPEATED)).any()


@pytest.mark.parametrize("function", [np.linalg.eigh, np.linalg.eig])
def test_vectors_of_single_eigenvalues_beside_repeated_ones_are_defined(function: Any) -> None:
    v_bar = np.zeros((3, 3))
    v_bar[:, 2] = 1.0, 2.0, 3.0
    a_bar = pull(function, (None, v_bar), REPEATED)
    assert np.isfinite(a_bar).all()
    assert a_bar[2, 0] + a_bar[0, 2] == pytest.approx(0.5)  # it turns by the change over the gap


@pytest.mark.parametrize("function", [np.linalg.eigh, np.linalg.eig])
def test_zero_adjoints_of_repeated_eigenvalues_stay_zero(function: Any) -> None:
    assert not pull(function, (None, np.zeros((3, 3))), REPEATED).any()


def test_the_sum_of_repeated_eigenvalues_is_the_trace() -> None:
    np.testing.assert_allclose(pull(np.linalg.eigvalsh, np.ones(3), REPEATED), np.eye(3), atol=1e-15)
    np.testing.assert_allclose(pull(np.linalg.eigvals, np.ones(3), REPEATED), np.eye(3), atol=1e-15)


def test_vectors_of_repeated_singular_values() -> None:
    u_bar = np.zeros((3, 3))
    u_bar[:, 0] = 1.0
    assert np.isnan(pull(np.linalg.svd, (u_bar, None, None), np.eye(3))).any()
    assert not pull(np.linalg.svd, (np.zeros((3, 3)), None, None), np.eye(3)).any()


def test_columns_beyond_the_singular_values_are_arbitrary() -> None:
    a = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.2]])
    u_bar = np.zeros((3, 3))
    u_bar[0, 2] = 1.0
    assert np.isnan(pull(np.linalg.svd, (u_bar, None, None), a)).all()
    u_bar[0, 2], u_bar[0, 1] = 0.0, 1.0
    reduced = pull(np.linalg.svd, (u_bar[:, :2], None, None), a, False)
    np.testing.assert_allclose(pull(np.linalg.svd, (u_bar, None, None), a), reduced)


def test_singular_values_at_zero_have_slope_zero() -> None:
    assert not pull(np.linalg.svd, np.ones(2), np.zeros((3, 2)), True, False).any()


# -- norms at zero, and ties ---------------------------------------------------------------------------


@pytest.mark.parametrize("order", [None, 1, 2, 3, np.inf, -np.inf, 0.5])
def test_vector_norms_at_zero(order: Any) -> None:
    assert not pull(np.linalg.norm, 1.0, np.zeros(3), order).any()


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms_at_zero(order: Any) -> None:
    assert not pull(np.linalg.norm, 1.0, np.zeros((2, 3)), order).any()


def test_a_norm_that_is_zero_in_one_row() -> None:
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(pull(np.linalg.norm, np.ones(2), x, None, 1), [[0, 0], [0.6, 0.8]])


def test_ties_of_norms_share() -> None:
    np.testing.assert_allclose(pull(np.linalg.norm, 1.0, np.array([2.0, -2.0, 1.0]), np.inf), [0.5, -0.5, 0])
    np.testing.assert_allclose(pull(np.linalg.norm, 1.0, np.eye(2), 2), np.eye(2) / 2)


# -- singular matrices ---------------------------------------------------------------------------------


def test_determinants_of_singular_matrices() -> None:
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    minors = np.array([[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]])
    np.testing.assert_allclose(pull(np.linalg.det, 1.0, a), minors, atol=1e-12)
    assert not pull(np.linalg.det, 1.0, np.zeros((3, 3))).any()
    np.testing.assert_allclose(pull(np.linalg.det, 1.0, np.zeros((1, 1))), [[1.0]])


def test_logarithms_of_singular_determinants() -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert not np.isfinite(pull(np.linalg.slogdet, (None, 1.0), a)).any()
    assert not pull(np.linalg.slogdet, (None, 0.0), a).any()


def test_pseudoinverses_without_full_rank() -> None:
    a = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    assert np.isnan(pull(np.linalg.pinv, np.ones((2, 3)), a)).all()
    assert not pull(np.linalg.pinv, np.zeros((2, 3)), a).any()


def test_only_one_triangle_of_a_symmetric_matrix_is_read() -> None:
    a = np.array([[4.0, 99.0], [1.0, 3.0]])
    for function in (np.linalg.cholesky, np.linalg.eigvalsh):
        g = np.ones_like(function(a))
        assert pull(function, g, a)[0, 1] == 0


# -- products ------------------------------------------------------------------------------------------


def test_products_of_one_and_two_dimensions_are_what_one_writes() -> None:
    matrix, vector = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0])
    g = np.array([1.0, 10.0])
    np.testing.assert_array_equal(matmul_x_adjoint(g, matrix, vector), np.outer(g, vector))
    np.testing.assert_array_equal(matmul_y_adjoint(g, matrix, vector), matrix.T @ g)
    np.testing.assert_array_equal(matmul_x_adjoint(g, vector, matrix.T), matrix.T @ g)


def test_constant_sparse_matrices_multiply() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    a = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    x, g = np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0])
    np.testing.assert_allclose(matmul_y_adjoint(g, a, x), a.toarray().T @ g)


# -- options, and packages that are not imported -------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.reshape, (np.ones(4), (2, 2), "A")),
        (np.linalg.svd, (np.eye(2), True, True, True)),
        (np.linalg.qr, (np.eye(2), "raw")),
        (np.pad, (np.ones(2), 1, lambda *_: None)),
        (np.linspace, (0.0, 1.0, 5, True, True)),
    ],
)
def test_options_without_a_derivative_are_refused_by_name(function: Any, args: Any) -> None:
    rule = lookup(function)
    assert rule is not None
    with pytest.raises(NoRule, match=r"order|hermitian|mode|retstep"):
        rule.bind(args, {})


def test_importing_the_rules_does_not_import_scipy() -> None:
    check = (
        "import sys, numpy, adjoin.runtime.rules\n"
        "from adjoin.runtime.rule import lookup\n"
        "lookup(numpy.sin), lookup(len)\n"
        "assert not any(name.startswith('scipy') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_rules_for_scipy_are_there_once_it_is_imported() -> None:
    special = pytest.importorskip("scipy.special")
    rule = lookup(special.erf)
    assert rule is not None
    np.testing.assert_allclose(
        rule.vjp(("z",), 1.0, None, rule.bind((0.0,), {})), [2 / np.sqrt(np.pi)], rtol=1e-15
    )


# -- stacks of matrices --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lu", "lu_factor", "cho_factor"])
def test_factors_of_stacks_are_refused(name: str) -> None:
    function = getattr(pytest.importorskip("scipy.linalg"), name)
    stack = np.array([np.eye(2) * 2.0, np.eye(2) * 3.0])
    rule = lookup(function)
    assert rule is not None
    bound = rule.bind((stack,), {})
    out = function(stack)
    g = tuple(np.ones_like(part) if np.ndim(part) == 3 else None for part in out)
    with pytest.raises(NotImplementedError, match="stacks of matrices"):
        rule.vjp(("a",), g, out, bound)
    with pytest.raises(NotImplementedError, match="stacks of matrices"):
        rule.tangent({"a": np.ones_like(stack)}, out, bound)


STACKABLE = ["inv", "det", "pinv", "cholesky", "sqrtm", "cosm", "tanhm", "svdvals", "eigvalsh"]


@pytest.mark.parametrize("name", STACKABLE)
def test_stacks_are_matrix_by_matrix(name: str) -> None:
    function = getattr(pytest.importorskip("scipy.linalg"), name)
    one = np.array([[2.0, 0.3], [0.3, 1.5]])
    stack = np.array([one, one @ one + 0.5 * np.eye(2)])
    g = np.cos(np.arange(np.size(function(stack)))).reshape(np.shape(function(stack)))
    expected = np.array([pull(function, part_g, part) for part_g, part in zip(g, stack, strict=True)])
    np.testing.assert_allclose(pull(function, g, stack), expected, rtol=1e-10, atol=1e-12)
