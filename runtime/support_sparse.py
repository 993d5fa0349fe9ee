"""Sparse matrices of SciPy: what the entries of one have for an adjoint.

In: matrices that hold their entries in `data` (csr, csc, coo). Out: arrays beside `data`. The adjoint and the
tangent of a sparse matrix are such arrays, so that they take no more room than the matrix.

    >>> import scipy.sparse
    >>> from adjoin.runtime.support_sparse import product_bar
    >>> a = scipy.sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> product_bar(np.array([1.0, 10.0]), a, np.array([5.0, 7.0]))  # of a[0, 1] and a[1, 0]
    array([ 7., 50.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "data_of",
    "dense",
    "dense_bar",
    "entries_bar",
    "gathered",
    "grouped",
    "left_product_bar",
    "places",
    "product_bar",
    "solution_bar",
    "sparse_times",
    "times_sparse",
    "transposed",
    "with_data",
]


def sparse_times(a: Any, x: Any) -> Any:
    """`a @ x` of a sparse matrix and an array."""
    return a @ x


def times_sparse(x: Any, a: Any) -> Any:
    """`x @ a` of an array and a sparse matrix."""
    return x @ a


def transposed(a: Any) -> Any:
    """`a.T`, which holds the same entries in the same order."""
    return a.T


def data_of(a: Any) -> Any:
    """`a.data`."""
    return a.data


def dense(a: Any) -> Any:
    """`a.toarray()`."""
    return a.toarray()


def dense_bar(g: Any, a: Any) -> Any:
    """The adjoint of the entries of `a` in `a.toarray()`."""
    rows, columns = places(a)
    return g[rows, columns]


def places(a: Any) -> Any:
    """Rows and columns of the entries, in the order of `a.data`."""
    listed = a.tocoo(copy=False)
    return listed.row, listed.col


def with_data(a: Any, data: Any) -> Any:
    """A matrix with the places of `a` and other entries."""
    made = a.copy()
    made.data = np.asarray(data)
    return made


def product_bar(g: Any, a: Any, x: Any) -> Any:
    """The adjoint of the entries of `a` in `a @ x`."""
    rows, columns = places(a)
    bar = g[rows] * x[columns]
    return bar if np.ndim(bar) == 1 else np.sum(bar, axis=1)


def left_product_bar(g: Any, x: Any, a: Any) -> Any:
    """The adjoint of the entries of `a` in `x @ a`."""
    rows, columns = places(a)
    bar = x[..., rows] * g[..., columns]
    return bar if np.ndim(bar) == 1 else np.sum(bar, axis=0)


def solution_bar(b_bar: Any, a: Any, x: Any) -> Any:
    """The adjoint of the entries of `a` in the solution `x` of `a x = b`."""
    return -product_bar(b_bar, a, x)


def entries_bar(g: Any, entries: Any, a: Any) -> Any:
    """The adjoint of `(data, indices, indptr)` or `(data, (rows, columns))`, of which `a` was made."""
    if len(entries) == 3:
        return g, None, None
    return gathered(g, a, *entries[1]), None


def gathered(g: Any, a: Any, rows: Any, columns: Any) -> Any:
    """Of an array beside the entries of `a`, the value at each of the places that `a` was made of."""
    if a.format == "coo":
        return g
    return np.asarray(with_data(a, g)[np.asarray(rows), np.asarray(columns)]).ravel()


def grouped(data: Any, a: Any, rows: Any, columns: Any) -> Any:
    """What was given for each place, beside the entries of `a`: what is at one place is added."""
    return data if a.format == "coo" else type(a)((data, (rows, columns)), shape=a.shape).data
