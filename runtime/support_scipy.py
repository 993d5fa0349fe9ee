"""Helpers of the rules for `scipy.linalg` and `scipy.signal`.

In: adjoints, and the operands that they belong to. Out: adjoints and tangents. Every function is plain NumPy
and SciPy, names nothing but these, functions of this file and of `support_linalg`, and can be carried by a
built gradient file.

    >>> triangle(np.ones((2, 2)), True, False)
    array([[1., 0.],
           [1., 1.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .support_linalg import (
    eigh_adjoint,
    eigh_tangent,
    eigvalsh_adjoint,
    eigvalsh_tangent,
    half_lower,
    mH,
    over_gaps,
    qr_adjoint,
    qr_tangent,
    read_triangle,
    read_triangle_adjoint,
    untouched_pairs,
)

# -- systems -------------------------------------------------------------------------------------------


def matrices_only(*arrays: Any) -> None:
    """Refuse stacks of matrices, of which the rules here do not know the derivative."""
    if any(np.ndim(a) > 2 for a in arrays):
        raise NotImplementedError("no derivative yet for stacks of matrices in this function of scipy.linalg")


def columns_of(b: Any) -> Any:
    """A vector as a matrix of one column; a matrix as it is."""
    return b[:, None] if np.ndim(b) == 1 else b


#: What `assume_a` calls matrices of which one triangle is read.
ONE_TRIANGLE = ("her", "hermitian", "pos", "positive definite")


def seen(a: Any, lower: bool, assume_a: Any) -> Any:
    """The matrix that `scipy.linalg.solve` sees: of a Hermitian one, one triangle."""
    return read_triangle(a, not lower) if assume_a in ONE_TRIANGLE else a


def seen_adjoint(g: Any, lower: bool, assume_a: Any) -> Any:
    """The adjoint of `a` in `seen(a, lower, assume_a)`."""
    return read_triangle_adjoint((g + mH(g)) / 2, not lower) if assume_a in ONE_TRIANGLE else g


def triangle(a: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The part of a matrix that `solve_triangular` reads."""
    return np.tril(a, -1 if unit_diagonal else 0) if lower else np.triu(a, 1 if unit_diagonal else 0)


def trans_number(trans: Any) -> int:
    """`trans` of SciPy's solvers as a number: 0 for a, 1 for its transpose, 2 for the conjugate transpose."""
    return int({"N": 0, "T": 1, "C": 2}.get(trans, trans))


def solve_triangular_b_bar(g: Any, a: Any, trans: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The adjoint of `b` in `scipy.linalg.solve_triangular(a, b)`: the same with the conjugate transpose."""
    back = {0: 2, 1: 0, 2: 0}[trans_number(trans)]
    matrix = np.conj(a) if trans_number(trans) == 1 else a
    return scipy.linalg.solve_triangular(matrix, g, back, lower, unit_diagonal)


def solve_triangular_a_bar(b_bar: Any, x: Any, trans: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The adjoint of `a` in `x = scipy.linalg.solve_triangular(a, b)`; zero in what is not read."""
    a_bar = -columns_of(b_bar) @ mH(columns_of(x))
    kind = trans_number(trans)
    if kind == 1:
        a_bar = a_bar.T
    if kind == 2:
        a_bar = mH(a_bar)
    return triangle(a_bar, lower, unit_diagonal)


def solve_triangular_a_dot(a_dot: Any, x: Any, a: Any, trans: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The tangent of `x = scipy.linalg.solve_triangular(a, b)` for one of `a`."""
    read = triangle(a_dot, lower, unit_diagonal)
    kind = trans_number(trans)
    read = read.T if kind == 1 else mH(read) if kind == 2 else read
    return -scipy.linalg.solve_triangular(a, read @ x, trans, lower, unit_diagonal)


# -- factors -------------------------------------------------------------------------------------------


def lu_of(a: Any) -> tuple[Any, Any]:
    """Unit lower and upper factor out of the packed form of `scipy.linalg.lu_factor`."""
    matrices_only(a)
    return np.tril(a, -1) + np.eye(len(a), dtype=a.dtype), np.triu(a)


def permutation_of(pivots: Any) -> Any:
    """The order of rows that the pivots of `scipy.linalg.lu_factor` stand for."""
    if np.ndim(pivots) > 1:
        matrices_only(pivots[None])
    order = np.arange(len(pivots))
    for i, k in enumerate(pivots):
        order[i], order[k] = order[k], order[i]
    return order


def lu_bar(packed_bar: Any, packed: Any, order: Any) -> Any:
    """The adjoint of a square `a` whose rows in `order` are l u, given that of the packed factors.

    Holomorphic (plain transposes).
    """
    lower, upper = lu_of(packed)
    inner = np.tril(lower.T @ np.tril(packed_bar, -1), -1) + np.triu(np.triu(packed_bar) @ upper.T)
    left = scipy.linalg.solve_triangular(lower, inner, 1, True, True)
    a_bar = np.empty_like(inner)
    a_bar[order] = scipy.linalg.solve_triangular(upper, left.T, 0, False).T
    return a_bar


def lu_dot(a_dot: Any, packed: Any, order: Any) -> Any:
    """The tangent of the packed factors."""
    lower, upper = lu_of(packed)
    left = scipy.linalg.solve_triangular(lower, a_dot[order], 0, True, True)
    inner = scipy.linalg.solve_triangular(upper, left.T, 1, False).T
    return lower @ np.tril(inner, -1) + np.triu(inner) @ upper


def lu_factor_dot(a_dot: Any, out: Any) -> Any:
    """The tangent of `scipy.linalg.lu_factor(a)`; the pivots have none."""
    return lu_dot(a_dot, out[0], permutation_of(out[1])), np.zeros_like(out[1])


def lu_adjoint(g: Any, out: Any) -> Any:
    """The adjoint of a square `a` in `p, l, u = scipy.linalg.lu(a)`."""
    matrices_only(out[0])
    lower_bar = np.zeros_like(out[1]) if g[1] is None else g[1]
    upper_bar = np.zeros_like(out[2]) if g[2] is None else g[2]
    packed_bar = np.tril(lower_bar, -1) + np.triu(upper_bar)
    return lu_bar(packed_bar, np.tril(out[1], -1) + out[2], np.argmax(out[0], axis=0))


def lu_tangent(a_dot: Any, out: Any) -> Any:
    """The tangents of `p, l, u = scipy.linalg.lu(a)`, of a square matrix."""
    matrices_only(out[0])
    packed_dot = lu_dot(a_dot, np.tril(out[1], -1) + out[2], np.argmax(out[0], axis=0))
    return np.zeros_like(out[0]), np.tril(packed_dot, -1), np.triu(packed_dot)


def lu_solve_b_bar(g: Any, lu_and_piv: Any, trans: Any) -> Any:
    """The adjoint of `b` in `scipy.linalg.lu_solve`, plain transposes."""
    lu, piv = lu_and_piv
    if trans_number(trans) == 2:
        return scipy.linalg.lu_solve((np.conj(lu), piv), g, 0)
    return scipy.linalg.lu_solve(lu_and_piv, g, 1 - trans_number(trans))


def lu_solve_lu_bar(b_bar: Any, x: Any, lu_and_piv: Any, trans: Any) -> Any:
    """The adjoint of the packed factors in `x = scipy.linalg.lu_solve(lu_and_piv, b)`; not conjugate ones.

    With a = p l u, a_bar = -b_bar x^T, and then l_bar = (p^T a_bar) u^T, u_bar = l^T (p^T a_bar).
    """
    a_bar = -columns_of(b_bar) @ columns_of(x).T
    if trans_number(trans) == 1:
        a_bar = a_bar.T
    lower, upper = lu_of(lu_and_piv[0])
    rows = a_bar[permutation_of(lu_and_piv[1])]
    return np.tril(rows @ upper.T, -1) + np.triu(lower.T @ rows), None


def lu_solve_lu_dot(dots: Any, x: Any, lu_and_piv: Any, trans: Any) -> Any:
    """The tangent of `x = scipy.linalg.lu_solve(lu_and_piv, b)` for one of the packed factors."""
    lower, upper = lu_of(lu_and_piv[0])
    rows = np.tril(dots[0], -1) @ upper + lower @ np.triu(dots[0])
    a_dot = np.empty_like(rows)
    a_dot[permutation_of(lu_and_piv[1])] = rows
    if trans_number(trans) == 1:
        a_dot = a_dot.T
    return -scipy.linalg.lu_solve(lu_and_piv, a_dot @ x, trans)


def factor_of(c: Any, lower: bool) -> Any:
    """The lower Cholesky factor out of what `cho_solve` is given; the other triangle may hold anything."""
    matrices_only(c)
    return np.tril(c) if lower else mH(np.triu(c))


def cho_solve_c_bar(g: Any, x: Any, c_and_lower: Any) -> Any:
    """The adjoint of the factor in `x = scipy.linalg.cho_solve((c, lower), b)`; not holomorphic."""
    c, lower = c_and_lower
    matrices_only(c)
    b_bar = scipy.linalg.cho_solve(c_and_lower, g)
    a_bar = -columns_of(b_bar) @ mH(columns_of(x))
    factor_bar = (a_bar + mH(a_bar)) @ factor_of(c, lower)
    return np.tril(factor_bar) if lower else mH(np.tril(factor_bar)), None


def cho_solve_c_dot(dots: Any, x: Any, c_and_lower: Any) -> Any:
    """The tangent of `x = scipy.linalg.cho_solve((c, lower), b)` for one of the factor."""
    c, lower = c_and_lower
    factor, change = factor_of(c, lower), factor_of(dots[0], lower)
    a_dot = change @ mH(factor) + factor @ mH(change)
    return -scipy.linalg.cho_solve(c_and_lower, a_dot @ x)


def cho_factor_bar(g: Any, out: Any) -> Any:
    """The adjoint of `a` in `c, lower = scipy.linalg.cho_factor(a)`."""
    c, lower = out
    matrices_only(c)
    a_bar = cholesky_bar(g[0], np.tril(c) if lower else np.triu(c), lower)
    return a_bar + other_triangle(g[0], lower)


def other_triangle(a: Any, lower: Any) -> Any:
    """What `cho_factor` leaves of `a` in the other triangle: all of it; from SciPy 1.18 on, zeros."""
    major, minor, *_ = scipy.__version__.split(".")
    if (int(major), int(minor)) >= (1, 18):
        return np.zeros_like(a)
    return np.triu(a, 1) if lower else np.tril(a, -1)


def cho_factor_dot(a_dot: Any, out: Any) -> Any:
    """The tangent of `c, lower = scipy.linalg.cho_factor(a)`."""
    c, lower = out
    matrices_only(c)
    c_dot = cholesky_dot(a_dot, np.tril(c) if lower else np.triu(c), lower)
    return c_dot + other_triangle(a_dot, lower), False


def cholesky_bar(g: Any, factor: Any, lower: bool) -> Any:
    """The adjoint of `a` in `scipy.linalg.cholesky(a, lower)`, in the triangle that is read.

    Murray 2016, "Differentiation of the Cholesky decomposition", equation 10.
    """
    factor, factor_bar = (factor, g) if lower else (mH(factor), mH(g))
    inner = half_lower(mH(factor) @ np.tril(factor_bar))
    left = scipy.linalg.solve_triangular(factor, inner, 2, True)
    s = mH(scipy.linalg.solve_triangular(factor, mH(left), 2, True))
    return read_triangle_adjoint((s + mH(s)) / 2, not lower)


def cholesky_dot(a_dot: Any, factor: Any, lower: bool) -> Any:
    """The tangent of `scipy.linalg.cholesky(a, lower)`; Murray 2016, equation 8."""
    factor = factor if lower else mH(factor)
    half = scipy.linalg.solve_triangular(factor, read_triangle(a_dot, not lower), 0, True)
    inner = scipy.linalg.solve_triangular(factor, mH(half), 0, True)
    tangent = factor @ half_lower(inner)
    return tangent if lower else mH(tangent)


# -- functions of matrices -----------------------------------------------------------------------------


def block_direction(function: Any, a: Any, direction: Any) -> Any:
    """The derivative of a function of matrices at `a` in a direction.

    It is the upper right block of the function of [[a, direction], [0, a]] (Mathias 1996). The adjoint is the
    same thing at the transpose.
    """
    size = np.shape(a)[-1]
    upper = np.concatenate([a, direction], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return function(np.concatenate([upper, lower], axis=-2))[..., :size, size:]


def sqrtm_direction(root: Any, direction: Any) -> Any:
    """The derivative of the square root of a matrix: root d + d root = direction."""
    return scipy.linalg.solve_sylvester(root, root, direction)


# -- matrices that are laid out from vectors and blocks -------------------------------------------------


def laid_out_adjoint(function: Any, g: Any, operands: Any, i: int) -> Any:
    """The adjoint of `operands[i]` in a function that only lays out elements of its operands, and zeros.

    Laying out the elements' numbers tells which element of `g` belongs to which.
    """
    ends = np.cumsum([0, *(np.size(x) for x in operands)])
    numbers = [
        np.reshape(np.arange(1, np.size(x) + 1) + end, np.shape(x))
        for x, end in zip(operands, ends, strict=False)
    ]
    sums = np.zeros(ends[-1] + 1, g.dtype)
    np.add.at(sums, function(*numbers), g)
    return np.reshape(sums[ends[i] + 1 : ends[i + 1] + 1], np.shape(operands[i]))


def laid_out_adjoints(function: Any, g: Any, operands: Any) -> Any:
    """The adjoints of all operands of a function that only lays them out."""
    return tuple(laid_out_adjoint(function, g, operands, i) for i in range(len(operands)))


def toeplitz_c_adjoint(g: Any, c: Any, r: Any) -> Any:
    """The adjoint of `c` in `scipy.linalg.toeplitz(c, r)`: without `r`, the row is the conjugate of `c`."""
    if r is not None:
        return laid_out_adjoint(scipy.linalg.toeplitz, g, (c, r), 0)
    column = laid_out_adjoint(scipy.linalg.toeplitz, g, (c, c), 0)
    return column + np.conj(laid_out_adjoint(scipy.linalg.toeplitz, g, (c, c), 1))


def toeplitz_r_tangent(r_dot: Any, c: Any) -> Any:
    """The tangent of `scipy.linalg.toeplitz(c, r)` for one of `r`, of which the first is not read."""
    return scipy.linalg.toeplitz(np.zeros_like(c), np.concatenate([[0], np.ravel(r_dot)[1:]]))


def hankel_c_tangent(c_dot: Any, r: Any) -> Any:
    """The tangent of `scipy.linalg.hankel(c, r)` for one of `c`."""
    return scipy.linalg.hankel(
        c_dot, None if r is None else np.concatenate([c_dot[-1:], np.zeros_like(r)[1:]])
    )


def hankel_r_tangent(r_dot: Any, c: Any) -> Any:
    """The tangent of `scipy.linalg.hankel(c, r)` for one of `r`, of which the first is not read."""
    return scipy.linalg.hankel(np.zeros_like(c), np.concatenate([[0], r_dot[1:]]))


def hankel_c_adjoint(g: Any, c: Any, r: Any) -> Any:
    """The adjoint of `c` in `scipy.linalg.hankel(c, r)`; without `r`, zeros follow."""
    if r is None:
        return laid_out_adjoint(scipy.linalg.hankel, g, (c,), 0)
    return laid_out_adjoint(scipy.linalg.hankel, g, (c, r), 0)


# -- banded systems ------------------------------------------------------------------------------------


def banded_mH(l_and_u: Any, ab: Any) -> Any:
    """The band of the conjugate transpose of a banded matrix."""
    low, high = l_and_u
    n = np.shape(ab)[1]
    band = np.zeros_like(ab)
    for k in range(-low, high + 1):  # a[i, i + k] is the transpose's [i + k, i]
        values = ab[high - k, max(k, 0) : n + min(k, 0)]
        band[low + k, max(-k, 0) : n + min(-k, 0)] = np.conj(values)
    return band


def banded_bar(b_bar: Any, x: Any, l_and_u: Any) -> Any:
    """The adjoint of the band in `x = scipy.linalg.solve_banded(l_and_u, ab, b)`: of -b_bar x^H, the band."""
    low, high = l_and_u
    left, right = columns_of(b_bar), np.conj(columns_of(x))
    n = len(left)
    band = np.zeros((low + high + 1, n), np.result_type(left, right))
    for k in range(-low, high + 1):
        rows, cols = slice(max(-k, 0), n + min(-k, 0)), slice(max(k, 0), n + min(k, 0))
        band[high - k, cols] = -np.sum(left[rows] * right[cols], axis=1)
    return band


def banded_times(l_and_u: Any, ab: Any, x: Any) -> Any:
    """A banded matrix times a vector or a matrix."""
    low, high = l_and_u
    n = np.shape(ab)[1]
    product = np.zeros(np.shape(x), np.result_type(ab, x))
    for k in range(-low, high + 1):
        rows, cols = slice(max(-k, 0), n + min(-k, 0)), slice(max(k, 0), n + min(k, 0))
        values = ab[high - k, cols]
        product[rows] += values[:, None] * x[cols] if np.ndim(x) == 2 else values * x[cols]
    return product


# -- eigenvalues and QR --------------------------------------------------------------------------------


def eigh_bars(g: Any, out: Any, a: Any, b: Any, lower: bool, eigvals_only: bool) -> tuple[Any, Any]:
    """The adjoints of `a` and `b` in `scipy.linalg.eigh(a, b)`; the latter is None without `b`."""
    uplo = "L" if lower else "U"
    if b is None:
        return (eigvalsh_adjoint(g, a, uplo) if eigvals_only else eigh_adjoint(g, out, uplo)), None
    if eigvals_only:
        g, out = (g, None), scipy.linalg.eigh(a, b, lower=lower)
    return pencil_bars(g, out, lower)


def eigh_dots(a_dot: Any, b_dot: Any, out: Any, a: Any, b: Any, lower: bool, eigvals_only: bool) -> Any:
    """The tangents of `scipy.linalg.eigh(a, b)`; None means zero."""
    uplo = "L" if lower else "U"
    if b is None:
        return eigvalsh_tangent(a_dot, a, uplo) if eigvals_only else eigh_tangent(a_dot, out, uplo)
    if eigvals_only:
        return pencil_dots(a_dot, b_dot, scipy.linalg.eigh(a, b, lower=lower), lower)[0]
    return pencil_dots(a_dot, b_dot, out, lower)


def pencil_bars(g: Any, out: Any, lower: bool) -> tuple[Any, Any]:
    """The adjoints of real symmetric `a` and `b` in `w, v = scipy.linalg.eigh(a, b)`, a v = b v w.

    Vectors have v^T b v = 1. With c = v^T da v and e = v^T db v: dw = c - w e on the diagonal, and
    dv = v ((c - e w) / gaps - diagonal(e) / 2).
    """
    (w_bar, v_bar), (w, v) = g, out
    if np.iscomplexobj(v):
        raise NotImplementedError(
            "no derivative yet for complex matrices `a` and `b` in scipy.linalg.eigh(a, b)"
        )
    c_bar = np.zeros_like(v) if w_bar is None else np.diag(w_bar)
    e_bar = np.zeros_like(v) if w_bar is None else np.diag(-w * w_bar)
    if v_bar is not None:
        inner = v.T @ v_bar
        between = over_gaps(inner, w, untouched_pairs(v_bar))
        c_bar = c_bar + between
        e_bar = e_bar - between * w[None, :] - np.diag(np.diagonal(inner)) / 2
    a_bar, b_bar = v @ c_bar @ v.T, v @ e_bar @ v.T
    return (
        read_triangle_adjoint((a_bar + a_bar.T) / 2, not lower),
        read_triangle_adjoint((b_bar + b_bar.T) / 2, not lower),
    )


def pencil_dots(a_dot: Any, b_dot: Any, out: Any, lower: bool) -> Any:
    """The tangents of `w, v = scipy.linalg.eigh(a, b)` for real symmetric `a` and `b`; None means zero."""
    w, v = out
    if np.iscomplexobj(v):
        raise NotImplementedError(
            "no derivative yet for complex matrices `a` and `b` in scipy.linalg.eigh(a, b)"
        )
    c = np.zeros_like(v) if a_dot is None else v.T @ read_triangle(a_dot, not lower) @ v
    e = np.zeros_like(v) if b_dot is None else v.T @ read_triangle(b_dot, not lower) @ v
    change = c - e * w[None, :]
    turned = over_gaps(change, w, change == 0) - np.diag(np.diagonal(e)) / 2
    return np.diagonal(change), v @ turned


#: The modes of `scipy.linalg.qr` by their names in NumPy.
QR_MODES = {"full": "complete", "economic": "reduced", "r": "r"}


def qr_full_adjoint(g: Any, out: Any, a: Any, mode: Any) -> Any:
    """The adjoint of `a` in `scipy.linalg.qr(a, mode=mode)`; 'r' returns a tuple of one, of full height."""
    if mode == "r":
        return qr_adjoint(g[0][..., : min(np.shape(a)), :], None, a, "r")
    return qr_adjoint(g, out, a, QR_MODES[mode])


def qr_full_tangent(a_dot: Any, out: Any, a: Any, mode: Any) -> Any:
    """The tangents of `scipy.linalg.qr(a, mode=mode)`."""
    if mode == "r":
        r_dot = qr_tangent(a_dot, None, a, "r")
        return (np.concatenate([r_dot, np.zeros_like(out[0][len(r_dot) :])]),)
    return qr_tangent(a_dot, out, a, QR_MODES[mode])


def scaled_power(a: Any, direction: Any, t: Any) -> Any:
    """The derivative of `scipy.linalg.fractional_matrix_power(a, t)` in a direction."""
    size = np.shape(a)[-1]
    upper = np.concatenate([a, direction], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return scipy.linalg.fractional_matrix_power(np.concatenate([upper, lower]), t)[:size, size:]


def weighted_bar(g: Any, weights: Any, axis: int) -> Any:
    """The adjoint of `y` in a sum of it along an axis, or in several, a column of weights each.

    >>> weighted_bar(np.array([1.0, 10.0]), np.array([2.0, 3.0, 4.0]), 0)
    array([[ 2., 20.],
           [ 3., 30.],
           [ 4., 40.]])
    """
    if np.ndim(weights) == 1:
        return np.moveaxis(np.multiply.outer(g, weights), -1, axis)
    return np.moveaxis(np.moveaxis(g, axis, -1) @ weights.T, -1, axis)
