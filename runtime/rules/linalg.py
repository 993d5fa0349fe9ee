"""Linear algebra: products, norms, systems, factorisations; of single matrices and of stacks.

In: `g`, `out` and the operands. Out: plain transposes where an operation is holomorphic (the driver
conjugates around them), the direction of steepest ascent where it is not.

    @vjp(np.linalg.inv)
    def inv(g, out, a):
        return inv_adjoint(g, out)

Products of one- and two-dimensional operands come down to one expression (`X.T @ g`): the helpers have a
branch for each combination, and only the one that applies is spliced.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..rule import multilinear, vjp
from ..support import unbroadcast
from ..support_linalg import (
    cholesky_adjoint,
    cholesky_tangent,
    cond_slope,
    cross_a_adjoint,
    cross_b_adjoint,
    det_adjoint,
    det_tangent,
    dot_a_adjoint,
    dot_b_adjoint,
    eig_adjoint,
    eig_tangent,
    eigh_adjoint,
    eigh_tangent,
    eigvals_adjoint,
    eigvals_tangent,
    eigvalsh_adjoint,
    eigvalsh_tangent,
    einsum_adjoint,
    einsum_tangent,
    inner_a_adjoint,
    inner_b_adjoint,
    inv_adjoint,
    kron_a_adjoint,
    kron_b_adjoint,
    lstsq_a_adjoint,
    lstsq_a_tangent,
    lstsq_b_adjoint,
    lstsq_b_tangent,
    matmul_x_adjoint,
    matmul_y_adjoint,
    matrix_power_tangent,
    mT,
    multi_dot_adjoint,
    multi_dot_tangent,
    norm_adjoint,
    norm_tangent,
    outer_a_adjoint,
    outer_b_adjoint,
    pinv_adjoint,
    pinv_tangent,
    qr_adjoint,
    qr_tangent,
    slogdet_adjoint,
    slogdet_tangent,
    solve_a_adjoint,
    solve_a_tangent,
    solve_b_adjoint,
    solve_transposed,
    svd_adjoint,
    svd_tangent,
    svdvals_adjoint,
    svdvals_tangent,
    tensordot_a_adjoint,
    tensordot_b_adjoint,
    tensorinv_adjoint,
    tensorinv_tangent,
    tensorsolve_a_adjoint,
    tensorsolve_a_tangent,
    tensorsolve_b_adjoint,
    vecdot_x1_adjoint,
    vecdot_x2_adjoint,
    vector_norm_adjoint,
    vector_norm_tangent,
)
from .sampling import complex_, hermitian, real, well_conditioned

# -- products ------------------------------------------------------------------------------------------

_PRODUCTS = [
    lambda: (real(3), real(3, seed=1)),
    lambda: (real(2, 3), real(3, seed=1)),
    lambda: (real(3), real(3, 2, seed=1)),
    lambda: (real(2, 3), real(3, 4, seed=1)),
    lambda: (complex_(2, 3), complex_(3, 2, seed=1)),
    lambda: (real(2, 3), complex_(3, seed=1)),
    lambda: (real(2, 2, 3), real(3, seed=1)),
    lambda: (real(2, 2, 3), real(3, 2, seed=1)),
    lambda: (real(3), real(2, 3, 2, seed=1)),
    lambda: (real(2, 3), real(4, 3, 2, seed=1)),
    lambda: (np.zeros((0, 3)), real(3, 2)),
]


@multilinear(
    operator.matmul,
    np.matmul,
    np.linalg.matmul,
    samples=[
        *_PRODUCTS,
        lambda: (real(2, 2, 3), real(2, 3, 4, seed=1)),
        lambda: (real(2, 1, 2, 3), real(3, 3, 2, seed=1)),
    ],
)
def matmul(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return matmul_x_adjoint(g, x1, x2), matmul_y_adjoint(g, x1, x2)


@multilinear(
    np.dot,
    samples=[
        *_PRODUCTS,
        (2.0, 3.0),
        lambda: (1.5, real(3)),
        lambda: (real(2, 3), np.array(0.7)),
        lambda: (real(2, 2, 3), real(4, 3, 2, seed=1)),
    ],
)
def dot(g: Any, out: Any, a: Any, b: Any) -> Any:
    return dot_a_adjoint(g, a, b), dot_b_adjoint(g, a, b)


@multilinear(
    np.inner,
    samples=[
        (2.0, 3.0),
        lambda: (real(3), real(3, seed=1)),
        lambda: (real(2, 3), real(3, seed=1)),
        lambda: (real(3), real(2, 3, seed=1)),
        lambda: (complex_(2, 2, 3), complex_(4, 3, seed=1)),
    ],
)
def inner(g: Any, out: Any, a: Any, b: Any) -> Any:
    return inner_a_adjoint(g, a, b), inner_b_adjoint(g, a, b)


@multilinear(
    np.outer,
    samples=[
        lambda: (real(3), real(2, seed=1)),
        lambda: (real(2, 2), complex_(2, seed=1)),
        lambda: (1.5, real(2)),
    ],
)
def outer(g: Any, out: Any, a: Any, b: Any) -> Any:
    return outer_a_adjoint(g, a, b), outer_b_adjoint(g, a, b)


@multilinear(np.linalg.outer, samples=[lambda: (real(3), complex_(2, seed=1))])
def linalg_outer(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return g @ x2, x1 @ g


@multilinear(
    np.vdot,
    holomorphic=False,
    samples=[
        lambda: (real(3), real(3, seed=1)),
        lambda: (complex_(2, 2), complex_(2, 2, seed=1)),
        (2.0, 3.0),
    ],
)
def vdot(g: Any, out: Any, a: Any, b: Any) -> Any:
    return np.reshape(np.conj(g) * np.ravel(b), np.shape(a)), np.reshape(g * np.ravel(a), np.shape(b))


@multilinear(
    np.tensordot,
    samples=[
        lambda: (real(2, 3), real(2, 3, seed=1)),
        lambda: (real(2, 3), real(3, 2, seed=1), 1),
        lambda: (real(2, 3), real(2, seed=1), 0),
        lambda: (real(2, 3, 4), real(4, 2, 5, seed=1), ([0, -1], [1, 0])),
        lambda: (complex_(2, 3), complex_(3, seed=1), (1, 0)),
    ],
)
def tensordot(g: Any, out: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    return tensordot_a_adjoint(g, a, b, axes), tensordot_b_adjoint(g, a, b, axes)


@multilinear(np.linalg.tensordot, samples=[lambda: (real(2, 3), real(2, 3, seed=1))])
def linalg_tensordot(g: Any, out: Any, x1: Any, x2: Any, *, axes: Any = 2) -> Any:
    return tensordot_a_adjoint(g, x1, x2, axes), tensordot_b_adjoint(g, x1, x2, axes)


@multilinear(
    np.kron,
    samples=[
        lambda: (real(2, 3), real(3, 2, seed=1)),
        lambda: (real(2), complex_(3, 2, seed=1)),
        lambda: (real(2, 2, 1), real(3, seed=1)),
        lambda: (2.0, real(3)),
    ],
)
def kron(g: Any, out: Any, a: Any, b: Any) -> Any:
    return kron_a_adjoint(g, a, b), kron_b_adjoint(g, a, b)


@vjp(
    np.einsum,
    samples=[
        lambda: ("ij,jk->ik", real(2, 3), real(3, 4, seed=1)),
        lambda: ("ij,jk", real(2, 3), complex_(3, 4, seed=1)),
        lambda: ("ij->", real(2, 3)),
        lambda: ("ii->i", real(3, 3)),
        lambda: ("ii", complex_(3, 3)),
        lambda: ("iij,j->ij", real(2, 2, 3), real(3, seed=1)),
        lambda: ("i,ij,j->", real(2), real(2, 3, seed=1), real(3, seed=2)),
        lambda: ("...ij,...j->...i", real(4, 2, 3), real(3, seed=1)),
        lambda: ("...i,...i", real(2, 1, 3), real(4, 3, seed=1)),
        lambda: ("i...->...", real(2, 3)),
        lambda: ("ij,ij->i", real(2, 3), real(2, 1, seed=1)),
        lambda: ("ij,k->k", real(2, 3), real(2, seed=1)),
        lambda: (real(2, 3), [0, 1], real(3, 4, seed=1), [1, 2], [0, 2]),
        lambda: (real(2, 3), [1, 0]),
        lambda: (real(4, 2, 3), [Ellipsis, 0], real(3, seed=1), [0]),
    ],
)
def einsum(g: Any, out: Any, *operands: Any, optimize: Any = False) -> Any:
    return einsum_adjoint(g, operands, optimize)


@einsum.jvp
def einsum_jvp(operands_dot: Any, out: Any, *operands: Any, optimize: Any = False) -> Any:
    return einsum_tangent(operands_dot, operands, optimize)


# -- norms ---------------------------------------------------------------------------------------------


@vjp(
    np.linalg.norm,
    holomorphic=False,
    samples=[
        *[lambda ord=ord: (real(4), ord) for ord in (None, 1, 2, np.inf, -np.inf, 3, 0.5, -2, 0)],
        *[lambda ord=ord: (real(3, 4), ord) for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)],
        *[lambda ord=ord: (complex_(3, 2), ord) for ord in (None, "nuc", 1, 2, np.inf)],
        lambda: (complex_(4), 3),
        lambda: (real(2, 3), 2, 1),
        lambda: (real(2, 3), 3, 0, True),
        lambda: (real(2, 3), None, (0,)),
        lambda: (real(3, 2, 3), "nuc", (0, -1)),
        lambda: (real(3, 2, 3), "fro", (1, 2), True),
        lambda: (real(3, 2, 3), 1, (2, 0), True),
        lambda: (real(2, 2, 3),),
        lambda: (np.zeros(3),),
        lambda: (np.zeros((2, 2)), 2),
    ],
)
def norm(g: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return norm_adjoint(g, out, x, ord, axis, keepdims)


@norm.jvp
def norm_jvp(x_dot: Any, out: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return norm_tangent(x_dot, out, x, ord, axis, keepdims)


# -- inverses, determinants, systems -------------------------------------------------------------------

_MATRICES = [
    lambda: (well_conditioned(3, 3),),
    lambda: (well_conditioned(2, 2, 2),),
    lambda: (well_conditioned(2, 2) + 0.3j * real(2, 2, seed=1),),
]


@vjp(np.linalg.inv, samples=_MATRICES)
def inv(g: Any, out: Any, a: Any) -> Any:
    return inv_adjoint(g, out)


@inv.jvp
def inv_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return -(out @ a_dot @ out)


@vjp(
    np.linalg.det,
    samples=[
        *_MATRICES,
        lambda: (np.array([[1.0, 2.0], [2.0, 4.0]]),),
        lambda: (np.outer(real(3), real(3, seed=1)),),
        lambda: (np.zeros((2, 2)),),
        lambda: (np.outer(complex_(3), complex_(3, seed=1)),),
    ],
)
def det(g: Any, out: Any, a: Any) -> Any:
    return det_adjoint(g, a)


@det.jvp
def det_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return det_tangent(a_dot, a)


@vjp(np.linalg.slogdet, holomorphic=False, samples=_MATRICES)
def slogdet(g: Any, out: Any, a: Any) -> Any:
    return slogdet_adjoint(g, out, a)


@slogdet.jvp
def slogdet_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return slogdet_tangent(a_dot, out, a)


@vjp(
    np.linalg.solve,
    samples=[
        lambda: (well_conditioned(3, 3), real(3)),
        lambda: (well_conditioned(3, 3), real(3, 2)),
        lambda: (well_conditioned(2, 3, 3), real(3)),
        lambda: (well_conditioned(2, 3, 3), real(3, 2)),
        lambda: (well_conditioned(3, 3), real(2, 3, 1)),
        lambda: (well_conditioned(2, 2) + 0.3j * real(2, 2, seed=1), real(2)),
    ],
)
def solve(g: Any, out: Any, a: Any, b: Any) -> Any:
    b_bar = solve_transposed(g, a, b)
    return solve_a_adjoint(b_bar, out, a, b), solve_b_adjoint(b_bar, a, b)


@solve.jvp
def solve_jvp(a_dot: Any, b_dot: Any, out: Any, a: Any, b: Any) -> Any:
    return solve_a_tangent(a_dot, out, a, b), np.linalg.solve(a, b_dot)


_POSITIVE_DEFINITE = [
    lambda: (hermitian(well_conditioned(3, 3)),),
    lambda: (well_conditioned(2, 3, 3) * 0.5,),  # only one triangle is read
    lambda: (hermitian(well_conditioned(3, 3) + 0.2j * real(3, 3, seed=1)),),
]


@vjp(np.linalg.cholesky, holomorphic=False, samples=_POSITIVE_DEFINITE)
def cholesky(g: Any, out: Any, a: Any, *, upper: bool = False) -> Any:
    return cholesky_adjoint(g, out, upper)


@cholesky.jvp
def cholesky_jvp(a_dot: Any, out: Any, a: Any, *, upper: bool = False) -> Any:
    return cholesky_tangent(a_dot, out, upper)


# -- other products ------------------------------------------------------------------------------------

_VECTORS = [
    lambda: (real(3), real(3, seed=1)),
    lambda: (complex_(2, 3), complex_(3, seed=1)),
    lambda: (real(2, 1, 3), complex_(4, 3, seed=1)),
]


@multilinear(
    np.vecdot,
    np.linalg.vecdot,
    holomorphic=False,
    samples=[*_VECTORS, lambda: (real(3, 2), complex_(3, 2, seed=1), {"axis": 0})],
)
def vecdot(g: Any, out: Any, x1: Any, x2: Any, *, axis: int = -1) -> Any:
    return vecdot_x1_adjoint(g, x1, x2, axis), vecdot_x2_adjoint(g, x1, x2, axis)


@multilinear(
    *([np.matvec] if hasattr(np, "matvec") else []),
    samples=[
        lambda: (real(2, 3), real(3, seed=1)),
        lambda: (complex_(2, 2, 3), complex_(3, seed=1)),
        lambda: (real(2, 3), real(4, 3, seed=1)),
    ],
)
def matvec(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return (
        unbroadcast(g[..., :, None] * x2[..., None, :], x1),
        unbroadcast((mT(x1) @ g[..., None])[..., 0], x2),
    )


@multilinear(
    *([np.vecmat] if hasattr(np, "vecmat") else []),
    holomorphic=False,
    samples=[
        lambda: (real(2), real(2, 3, seed=1)),
        lambda: (complex_(2), complex_(2, 2, 3, seed=1)),
        lambda: (real(4, 2), real(2, 3, seed=1)),
    ],
)
def vecmat(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return (
        unbroadcast((x2 @ np.conj(g)[..., None])[..., 0], x1),
        unbroadcast(x1[..., :, None] * g[..., None, :], x2),
    )


@multilinear(
    np.cross,
    samples=[
        *_VECTORS,
        lambda: (real(3, 2), real(2, 3, seed=1), 0, 1, 0),
        lambda: (real(3, 2), real(3, 2, seed=1), -1, -1, -1, 0),
    ],
)
def cross(
    g: Any, out: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    return (
        cross_a_adjoint(g, a, b, axisa, axisb, axisc, axis),
        cross_b_adjoint(g, a, b, axisa, axisb, axisc, axis),
    )


@multilinear(
    np.linalg.cross,
    samples=[lambda: (real(2, 3), real(3, seed=1)), lambda: (real(3, 2), real(3, 2), {"axis": 0})],
)
def linalg_cross(g: Any, out: Any, x1: Any, x2: Any, *, axis: int = -1) -> Any:
    return cross_a_adjoint(g, x1, x2, axis, axis, axis, None), cross_b_adjoint(
        g, x1, x2, axis, axis, axis, None
    )


@vjp(
    np.linalg.multi_dot,
    samples=[
        lambda: ([real(2, 3), real(3, 4, seed=1), real(4, 2, seed=2)],),
        lambda: ((real(3), real(3, 4, seed=1), complex_(4, seed=2)),),
        lambda: ([real(2, 3), real(3, seed=1)],),
    ],
)
def multi_dot(g: Any, out: Any, arrays: Any) -> Any:
    return multi_dot_adjoint(g, arrays)


@multi_dot.jvp
def multi_dot_jvp(arrays_dot: Any, out: Any, arrays: Any) -> Any:
    return multi_dot_tangent(arrays_dot, arrays)


@vjp(
    np.linalg.matrix_power,
    samples=[
        *[lambda n=n: (well_conditioned(3, 3), n) for n in (-2, -1, 0, 1, 2, 5)],
        lambda: (complex_(2, 2, 2), 3),
        lambda: (np.zeros((2, 2)), 2),
    ],
)
def matrix_power(g: Any, out: Any, a: Any, n: int) -> Any:
    return matrix_power_tangent(g, mT(a), n)


@matrix_power.jvp
def matrix_power_jvp(a_dot: Any, out: Any, a: Any, n: int) -> Any:
    return matrix_power_tangent(a_dot, a, n)


# -- other norms ---------------------------------------------------------------------------------------


@vjp(
    np.linalg.vector_norm,
    holomorphic=False,
    samples=[
        lambda: (real(2, 3),),
        lambda: (complex_(3), {"ord": 3}),
        lambda: (real(2, 3), {"axis": 1, "ord": np.inf}),
        lambda: (real(2, 3, 2), {"axis": (0, 2), "ord": 1, "keepdims": True}),
        lambda: (real(2, 3), {"ord": 3, "keepdims": True}),
        lambda: (np.zeros(3),),
    ],
)
def vector_norm(g: Any, out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return vector_norm_adjoint(g, out, x, ord, axis, keepdims)


@vector_norm.jvp
def vector_norm_jvp(
    x_dot: Any, out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Any:
    return vector_norm_tangent(x_dot, out, x, ord, axis, keepdims)


@vjp(
    np.linalg.matrix_norm,
    holomorphic=False,
    samples=[
        lambda: (real(2, 3),),
        lambda: (real(2, 3, 3), {"ord": "nuc"}),
        lambda: (complex_(2, 3, 3), {"ord": 2, "keepdims": True}),
        lambda: (real(3, 3), {"ord": -1}),
    ],
)
def matrix_norm(g: Any, out: Any, x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm_adjoint(g, out, x, ord, (-2, -1), keepdims)


@matrix_norm.jvp
def matrix_norm_jvp(x_dot: Any, out: Any, x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm_tangent(x_dot, out, x, ord, (-2, -1), keepdims)


@vjp(
    np.linalg.cond,
    holomorphic=False,
    samples=[
        *[
            lambda p=p: (well_conditioned(3, 3), p)
            for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf)
        ],
        lambda: (real(2, 4, 3),),
        lambda: (well_conditioned(2, 2, 2) + 0.2j * real(2, 2), 1),
    ],
)
def cond(g: Any, out: Any, x: Any, p: Any = None) -> Any:
    return np.expand_dims(g, (-2, -1)) * cond_slope(x, p)


@cond.jvp
def cond_jvp(x_dot: Any, out: Any, x: Any, p: Any = None) -> Any:
    return np.sum(np.real(np.conj(cond_slope(x, p)) * x_dot), axis=(-2, -1))


# -- other systems -------------------------------------------------------------------------------------


@vjp(
    np.linalg.pinv,
    holomorphic=False,
    only={"hermitian": (False,)},
    samples=[
        lambda: (real(4, 2),),
        lambda: (real(2, 4),),
        lambda: (well_conditioned(2, 3, 3),),
        lambda: (complex_(4, 2),),
        lambda: (complex_(2, 3), 1e-10),
    ],
)
def pinv(g: Any, out: Any, a: Any, rcond: Any = None, hermitian: bool = False) -> Any:
    return pinv_adjoint(g, out, a, rcond)


@pinv.jvp
def pinv_jvp(a_dot: Any, out: Any, a: Any, rcond: Any = None, hermitian: bool = False) -> Any:
    return pinv_tangent(a_dot, out, a, rcond)


@vjp(
    np.linalg.lstsq,
    holomorphic=False,
    samples=[
        lambda: (real(5, 2), real(5, seed=1)),
        lambda: (real(5, 3), real(5, 2, seed=1)),
        lambda: (real(2, 4), real(2, seed=1)),
        lambda: (complex_(4, 2), complex_(4, 2, seed=1)),
        lambda: (well_conditioned(3, 3), real(3)),
    ],
)
def lstsq(g: Any, out: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    return lstsq_a_adjoint(g, out, a, b), lstsq_b_adjoint(g, out, a, b)


@lstsq.jvp
def lstsq_jvp(a_dot: Any, b_dot: Any, out: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    return lstsq_a_tangent(a_dot, out, a, b), lstsq_b_tangent(b_dot, out, a, b)


@vjp(
    np.linalg.tensorsolve,
    samples=[
        lambda: (real(2, 3, 6), real(2, 3, seed=1)),
        lambda: (real(2, 6, 3), real(2, 3, seed=1), (1,)),
        lambda: (complex_(4, 2, 2), complex_(4, seed=1)),
    ],
)
def tensorsolve(g: Any, out: Any, a: Any, b: Any, axes: Any = None) -> Any:
    b_bar = tensorsolve_b_adjoint(g, a, b, axes)
    return tensorsolve_a_adjoint(b_bar, out, a, axes), b_bar


@tensorsolve.jvp
def tensorsolve_jvp(a_dot: Any, b_dot: Any, out: Any, a: Any, b: Any, axes: Any = None) -> Any:
    return tensorsolve_a_tangent(a_dot, out, a, axes), np.linalg.tensorsolve(a, b_dot, axes)


@vjp(
    np.linalg.tensorinv,
    samples=[lambda: (real(2, 3, 6),), lambda: (real(4, 2, 2), 1), lambda: (complex_(2, 2, 4),)],
)
def tensorinv(g: Any, out: Any, a: Any, ind: int = 2) -> Any:
    return tensorinv_adjoint(g, out, a, ind)


@tensorinv.jvp
def tensorinv_jvp(a_dot: Any, out: Any, a: Any, ind: int = 2) -> Any:
    return tensorinv_tangent(a_dot, out, ind)


# -- factorisations ------------------------------------------------------------------------------------


@vjp(
    np.linalg.eig,
    holomorphic=False,
    samples=[
        lambda: (well_conditioned(3, 3) + np.diag([0.0, 1.0, 2.0]),),
        lambda: (well_conditioned(2, 3, 3),),
        lambda: (np.array([[1.0, 2.0, 0.3], [-2.5, 0.7, 0.4], [0.2, 0.5, 2.0]]),),  # a complex pair
        lambda: (well_conditioned(3, 3) + 0.4j * real(3, 3, seed=1),),
    ],
)
def eig(g: Any, out: Any, a: Any) -> Any:
    return eig_adjoint(g, out)


@eig.jvp
def eig_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return eig_tangent(a_dot, out)


@vjp(
    np.linalg.eigvals,
    samples=[
        lambda: (well_conditioned(3, 3),),
        lambda: (well_conditioned(2, 3, 3),),
        lambda: (np.array([[1.0, 2.0], [-2.5, 0.7]]),),
        lambda: (complex_(3, 3),),
    ],
)
def eigvals(g: Any, out: Any, a: Any) -> Any:
    return eigvals_adjoint(g, out, a)


@eigvals.jvp
def eigvals_jvp(a_dot: Any, out: Any, a: Any) -> Any:
    return eigvals_tangent(a_dot, out, a)


_HERMITIAN = [
    lambda: (hermitian(real(3, 3)),),
    lambda: (hermitian(real(3, 3)), "U"),
    lambda: (real(2, 3, 3),),  # one triangle is read
    lambda: (hermitian(complex_(3, 3)),),
    lambda: (complex_(2, 3, 3), "U"),
]


@vjp(np.linalg.eigh, holomorphic=False, samples=_HERMITIAN)
def eigh(g: Any, out: Any, a: Any, UPLO: str = "L") -> Any:
    return eigh_adjoint(g, out, UPLO)


@eigh.jvp
def eigh_jvp(a_dot: Any, out: Any, a: Any, UPLO: str = "L") -> Any:
    return eigh_tangent(a_dot, out, UPLO)


@vjp(np.linalg.eigvalsh, holomorphic=False, samples=_HERMITIAN)
def eigvalsh(g: Any, out: Any, a: Any, UPLO: str = "L") -> Any:
    return eigvalsh_adjoint(g, a, UPLO)


@eigvalsh.jvp
def eigvalsh_jvp(a_dot: Any, out: Any, a: Any, UPLO: str = "L") -> Any:
    return eigvalsh_tangent(a_dot, a, UPLO)


@vjp(
    np.linalg.svd,
    holomorphic=False,
    only={"hermitian": (False,)},
    samples=[
        lambda: (real(3, 3),),
        lambda: (real(4, 2), False),
        lambda: (real(2, 4), False),
        lambda: (real(2, 3, 2), False),
        lambda: (real(4, 3), True, False),
        lambda: (complex_(3, 3),),
        lambda: (complex_(4, 2), False),
        lambda: (complex_(2, 4), False),
        lambda: (complex_(9, 2), False),
    ],
)
def svd(
    g: Any, out: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    return svd_adjoint(g, out, a, compute_uv)


@svd.jvp
def svd_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Any:
    return svd_tangent(a_dot, out, a, compute_uv)


@vjp(np.linalg.svdvals, holomorphic=False, samples=[lambda: (real(4, 3),), lambda: (complex_(2, 2, 3),)])
def svdvals(g: Any, out: Any, x: Any) -> Any:
    return svdvals_adjoint(g, x)


@svdvals.jvp
def svdvals_jvp(x_dot: Any, out: Any, x: Any) -> Any:
    return svdvals_tangent(x_dot, x)


@vjp(
    np.linalg.qr,
    holomorphic=False,
    only={"mode": ("reduced", "complete", "r")},
    samples=[
        lambda: (real(4, 3),),
        lambda: (real(3, 3), "complete"),
        lambda: (real(2, 4),),
        lambda: (real(4, 2), "r"),
        lambda: (real(2, 4, 3),),
        lambda: (complex_(4, 3),),
        lambda: (complex_(2, 3), "r"),
    ],
)
def qr(g: Any, out: Any, a: Any, mode: str = "reduced") -> Any:
    return qr_adjoint(g, out, a, mode)


@qr.jvp
def qr_jvp(a_dot: Any, out: Any, a: Any, mode: str = "reduced") -> Any:
    return qr_tangent(a_dot, out, a, mode)
