"""Sparse matrices of SciPy: as constants, and through the entries that they are made of.

In: `g`, `out` and the operands. Out: of a matrix the adjoint of its entries, beside its `data`
(`support_sparse`); of an array as elsewhere. The places of the entries have no derivative.

    A = csr_matrix((data, indices, indptr), shape=(m, n))     data_bar = A_bar
    y = A @ x           A_bar = y_bar[rows] * x[columns],     x_bar = A.T @ y_bar

The rules take sparse matrices, which plain samples cannot show: `tests/rules/test_sparse.py` tries them. This
file is imported when a function is looked up after `scipy.sparse` was imported, never before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from ..rule import linear, multilinear, vjp
from ..support_sparse import (
    data_of,
    dense,
    dense_bar,
    entries_bar,
    gathered,
    grouped,
    left_product_bar,
    product_bar,
    solution_bar,
    sparse_times,
    times_sparse,
    transposed,
    with_data,
)


@vjp(
    scipy.sparse.csr_matrix,
    scipy.sparse.csr_array,
    scipy.sparse.csc_matrix,
    scipy.sparse.csc_array,
    scipy.sparse.coo_matrix,
    scipy.sparse.coo_array,
    wrt=("arg1",),
    only={"copy": (False, True)},
)
def made(g: Any, out: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
    return entries_bar(g, arg1, out)


@made.jvp
def made_jvp(
    arg1_dot: Any, out: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False
) -> Any:
    return arg1_dot[0] if len(arg1) == 3 else grouped(arg1_dot[0], out, *arg1[1])


@vjp(transposed, data_of, wrt=("a",))
def same_entries(g: Any, out: Any, a: Any) -> Any:
    return g


@same_entries.jvp
def same_entries_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return a_dot


@vjp(dense, wrt=("a",))
def toarray(g: Any, out: Any, a: Any) -> Any:
    return dense_bar(g, a)


@toarray.jvp
def toarray_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return with_data(a, a_dot).toarray()


@vjp(sparse_times, wrt=("a", "x"))
def product(g: Any, out: Any, a: Any, x: Any) -> Any:
    return product_bar(g, a, x), a.T @ g


@product.jvp
def product_jvp(a_dot: Any, x_dot: Any, out: Any, a: Any, x: Any) -> Any:
    return with_data(a, a_dot) @ x, a @ x_dot


@vjp(times_sparse, wrt=("x", "a"))
def left_product(g: Any, out: Any, x: Any, a: Any) -> Any:
    return g @ a.T, left_product_bar(g, x, a)


@left_product.jvp
def left_product_jvp(x_dot: Any, a_dot: Any, out: Any, x: Any, a: Any) -> Any:
    return x_dot @ a, x @ with_data(a, a_dot)


@vjp(scipy.sparse.linalg.spsolve, wrt=("A", "b"))
def spsolve(g: Any, out: Any, A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    b_bar = np.reshape(scipy.sparse.linalg.spsolve(A.T, g), np.shape(b))
    return solution_bar(b_bar, A, out), b_bar


@spsolve.jvp
def spsolve_jvp(
    A_dot: Any, b_dot: Any, out: Any, A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True
) -> Any:
    return (
        scipy.sparse.linalg.spsolve(A, -(with_data(A, A_dot) @ out)),
        scipy.sparse.linalg.spsolve(A, b_dot),
    )


# -- what adjoints are made of, for second derivatives -------------------------------------------------


@multilinear(product_bar, wrt=("g_1", "x"), steps=("a",))
def product_bar_adjoint(g: Any, out: Any, g_1: Any, a: Any, x: Any) -> Any:
    return with_data(a, g) @ x, with_data(a, g).T @ g_1


@multilinear(left_product_bar, wrt=("g_1", "x"), steps=("a",))
def left_product_bar_adjoint(g: Any, out: Any, g_1: Any, x: Any, a: Any) -> Any:
    return x @ with_data(a, g), g_1 @ with_data(a, g).T


@linear(gathered, wrt=("g_1",), steps=("a",))
def gathered_adjoint(g: Any, out: Any, g_1: Any, a: Any, rows: Any, columns: Any) -> Any:
    return grouped(g, a, rows, columns)


@linear(grouped, wrt=("data",), steps=("a",))
def grouped_adjoint(g: Any, out: Any, data: Any, a: Any, rows: Any, columns: Any) -> Any:
    return gathered(g, a, rows, columns)
