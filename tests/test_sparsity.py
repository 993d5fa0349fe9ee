"""Jacobians and Hessians compressed by colouring: entries, how many sweeps they take, what is refused."""

import numpy as np
import pytest

import adjoin
from adjoin import hessian, jacobian
from adjoin.transformer.colouring import Pattern, colour

sparse = pytest.importorskip("scipy.sparse")

SIZE = 24
POINT = np.linspace(0.1, 2.0, SIZE)


def band(n, width):
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width


def blocks(n, size):
    return np.kron(np.eye(n // size, dtype=bool), np.ones((size, size), bool))


def tridiagonal(x):
    y = x**2
    y[1:-1] += np.sin(x[2:]) * x[:-2]
    return y


def blockwise(x):
    a = x.reshape(-1, 3)
    return (a * np.sum(np.sin(a), axis=1, keepdims=True)).reshape(-1)


def wide(x):
    """Few results of many arguments: rows go together."""
    return np.array([np.sum(x[::2] ** 2), np.sum(np.cos(x[1::2])), x[0] * x[1]])


def square(x):
    m = x.reshape(4, 6)
    return m[:, 1:] * m[:, :-1]


def square_pattern():
    pattern = np.zeros((20, 24), bool)
    for i in range(4):
        for j in range(5):
            pattern[5 * i + j, [6 * i + j, 6 * i + j + 1]] = True
    return pattern


def wide_pattern():
    pattern = np.zeros((3, SIZE), bool)
    pattern[0, ::2] = pattern[1, 1::2] = pattern[2, :2] = True
    return pattern


CASES = [
    (tridiagonal, band(SIZE, 1), 3, True),
    (blockwise, blocks(SIZE, 3), 3, True),
    (wide, wide_pattern(), 2, False),
    (square, square_pattern(), 2, True),
    (np.sin, np.eye(SIZE), 1, True),
]
OF_CASES = pytest.mark.parametrize(
    ("f", "pattern", "count", "by_columns"), CASES, ids=[case[0].__name__ for case in CASES]
)


@pytest.mark.parametrize("kind", ["dense", "csr_array", "csc_array", "coo_array", "csr_matrix"])
@OF_CASES
def test_jacobian(f, pattern, count, by_columns, kind):
    given = pattern if kind == "dense" else getattr(sparse, kind)(pattern)
    compressed = jacobian(lambda x: f(x), sparsity=given)
    assert compressed.colouring.count == count and compressed.colouring.by_columns == by_columns
    expected = jacobian(lambda x: f(x))(POINT)
    got = compressed(POINT)
    if kind == "dense":
        np.testing.assert_allclose(got, expected, rtol=1e-14)
        assert got.shape == expected.shape and got.dtype == expected.dtype
    else:
        assert type(got) is type(given) and got.shape == given.shape
        np.testing.assert_allclose(got.toarray(), expected.reshape(given.shape), rtol=1e-14)
        assert got.nnz == given.nnz


@OF_CASES
def test_one_sweep_for_each_colour(f, pattern, count, by_columns, monkeypatch):
    sweeps = []
    name = "tangent" if by_columns else "adjoint"
    plain = getattr(adjoin.transformer.gradient.Gradient, name)

    def counted(self, *args, **kwargs):
        sweeps.append(name)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(adjoin.transformer.gradient.Gradient, name, counted)
    compressed = jacobian(lambda x: f(x), sparsity=pattern)
    compressed(POINT)
    assert len(sweeps) == count + 1  # the first call looks whether the pattern is all
    sweeps.clear()
    compressed(POINT + 0.1)
    assert len(sweeps) == count


def test_columns_of_a_colour_do_not_meet():
    rng = np.random.default_rng(0)
    for _ in range(20):
        pattern = rng.random((rng.integers(1, 30), rng.integers(1, 30))) < 0.15
        for by in ("columns", "rows"):
            colouring = colour(Pattern.of(pattern), by)
            lines = pattern if by == "columns" else pattern.T
            groups = [lines[:, colouring.colours == k] for k in range(colouring.count)]
            assert all(group.sum(axis=1).max() <= 1 for group in groups)
            assert colouring.count >= lines.sum(axis=1).max()
        assert colour(Pattern.of(pattern)).count == min(
            colour(Pattern.of(pattern), by).count for by in ("columns", "rows")
        )


def chain(x):
    return np.sum(np.sin(x[1:] * x[:-1])) + np.sum(x**3)


def test_hessian():
    compressed = hessian(chain, sparsity=sparse.csr_array(band(SIZE, 1)))
    assert compressed.colouring.count == 3
    np.testing.assert_allclose(compressed(POINT).toarray(), hessian(chain)(POINT), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        hessian(chain, sparsity=band(SIZE, 1))(POINT), hessian(chain)(POINT), rtol=1e-13, atol=1e-14
    )


def test_other_arguments_dtypes_and_numbers():
    def f(scale, x):
        return scale * x * x

    compressed = jacobian(f, argnums=1, sparsity=np.eye(SIZE))
    got = compressed(2.0, POINT.astype(np.float32))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, np.diag(4.0 * POINT), rtol=1e-6)
    assert jacobian(lambda x: x * x, sparsity=[[1]])(3.0) == 6.0


def test_patterns_without_entries_or_elements():
    assert not jacobian(lambda x: x * 0.0, sparsity=np.zeros((3, 3)))(np.ones(3)).any()
    assert jacobian(lambda x: x * x, sparsity=np.zeros((0, 0)))(np.zeros(0)).shape == (0, 0)


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (band(SIZE + 1, 1), "25 columns, and the argument 24 elements"),
        (band(SIZE, 1)[:-1], "23 rows, and the result 24 elements"),
        (np.ones(SIZE), "1 dimensions"),
        (band(SIZE, 0), "entries where the sparsity pattern has none"),
        (np.tri(SIZE) * band(SIZE, 1), "entries where the sparsity pattern has none"),
        (np.kron(np.eye(2), np.ones((12, 12))), "entries where the sparsity pattern has none"),
    ],
)
def test_wrong_patterns(pattern, what):
    with pytest.raises(adjoin.AdjoinError, match=what) as caught:
        jacobian(tridiagonal, sparsity=pattern)(POINT)
    assert "ADJ307" in str(caught.value)


def test_wrong_functions():
    with pytest.raises(TypeError, match="one argument"):
        jacobian(tridiagonal, argnums=(0,), sparsity=np.eye(SIZE))
    with pytest.raises(adjoin.AdjoinError, match="not tuple"):
        jacobian(lambda x: (x, x), sparsity=np.eye(SIZE))(POINT)
    with pytest.raises(adjoin.AdjoinError, match="convention"):
        jacobian(lambda x: x * 1j, sparsity=np.eye(SIZE))(POINT)
