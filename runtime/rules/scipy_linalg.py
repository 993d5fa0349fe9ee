"""Linear algebra of SciPy: solvers, factorisations, functions of matrices, structured matrices.

In: `g`, `out` and the operands. Out: as for `numpy.linalg`, with the same helpers where the operations are
the same. Of symmetric and triangular matrices, the part that SciPy reads has the adjoint.

    @vjp(scipy.linalg.expm)
    def expm(g, out, A):
        return block_direction(scipy.linalg.expm, mT(A), g)

This file is imported when a function is looked up after `scipy.linalg` was imported, never before. The
options that let SciPy overwrite an operand are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ..rule import linear, vjp
from ..support import unbroadcast
from ..support_linalg import (
    det_adjoint,
    det_tangent,
    eig_adjoint,
    eig_tangent,
    eigvals_adjoint,
    eigvals_tangent,
    inv_adjoint,
    lstsq_a_adjoint,
    lstsq_a_tangent,
    lstsq_b_adjoint,
    lstsq_b_tangent,
    mH,
    mT,
    norm_adjoint,
    norm_tangent,
    pinv_adjoint,
    pinv_tangent,
    solve_a_adjoint,
    solve_a_tangent,
    solve_transposed,
    svd_adjoint,
    svd_tangent,
    svdvals_adjoint,
    svdvals_tangent,
)
from ..support_scipy import (
    banded_bar,
    banded_mH,
    banded_times,
    block_direction,
    cho_factor_bar,
    cho_factor_dot,
    cho_solve_c_bar,
    cho_solve_c_dot,
    cholesky_bar,
    cholesky_dot,
    eigh_bars,
    eigh_dots,
    hankel_c_adjoint,
    hankel_c_tangent,
    hankel_r_tangent,
    laid_out_adjoint,
    laid_out_adjoints,
    lu_adjoint,
    lu_bar,
    lu_factor_dot,
    lu_solve_b_bar,
    lu_solve_lu_bar,
    lu_solve_lu_dot,
    lu_tangent,
    permutation_of,
    qr_full_adjoint,
    qr_full_tangent,
    scaled_power,
    seen,
    seen_adjoint,
    solve_triangular_a_bar,
    solve_triangular_a_dot,
    solve_triangular_b_bar,
    toeplitz_c_adjoint,
    toeplitz_r_tangent,
)
from .sampling import complex_, hermitian, positive, real, well_conditioned

_KEEP = {"overwrite_a": (False,)}
_KEEP_BOTH = {"overwrite_a": (False,), "overwrite_b": (False,)}

_MATRICES = [
    lambda: (well_conditioned(3, 3),),
    lambda: (well_conditioned(2, 2) + 0.3j * real(2, 2, seed=1),),
]


def _complex_matrix(n: int) -> Any:
    return well_conditioned(n, n) + 0.3j * real(n, n, seed=1)


# -- as in numpy.linalg --------------------------------------------------------------------------------


@vjp(scipy.linalg.inv, only=_KEEP, samples=_MATRICES)
def inv(g: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return inv_adjoint(g, out)


@inv.jvp
def inv_jvp(a_dot: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return -(out @ a_dot @ out)


@vjp(scipy.linalg.det, only=_KEEP, samples=[*_MATRICES, lambda: (np.array([[1.0, 2.0], [2.0, 4.0]]),)])
def det(g: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return det_adjoint(g, a)


@det.jvp
def det_jvp(a_dot: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return det_tangent(a_dot, a)


@vjp(
    scipy.linalg.norm,
    holomorphic=False,
    samples=[lambda: (real(3),), lambda: (real(2, 3), "nuc"), lambda: (complex_(2, 3), 1, 0, True)],
)
def norm(
    g: Any,
    out: Any,
    a: Any,
    ord: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    check_finite: bool = True,
) -> Any:
    return norm_adjoint(g, out, a, ord, axis, keepdims)


@norm.jvp
def norm_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    ord: Any = None,
    axis: Any = None,
    keepdims: bool = False,
    check_finite: bool = True,
) -> Any:
    return norm_tangent(a_dot, out, a, ord, axis, keepdims)


@vjp(
    scipy.linalg.pinv,
    holomorphic=False,
    only={"return_rank": (False,)},
    samples=[lambda: (real(4, 2),), lambda: (complex_(2, 3),)],
)
def pinv(
    g: Any,
    out: Any,
    a: Any,
    *,
    atol: Any = None,
    rtol: Any = None,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    return pinv_adjoint(g, out, a, rtol)


@pinv.jvp
def pinv_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    *,
    atol: Any = None,
    rtol: Any = None,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    return pinv_tangent(a_dot, out, a, rtol)


@vjp(
    scipy.linalg.svd,
    holomorphic=False,
    only=_KEEP,
    samples=[lambda: (real(3, 3),), lambda: (complex_(4, 2), False)],
)
def svd(
    g: Any,
    out: Any,
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: Any = "gesdd",
) -> Any:
    return svd_adjoint(g, out, a, compute_uv)


@svd.jvp
def svd_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: Any = "gesdd",
) -> Any:
    return svd_tangent(a_dot, out, a, compute_uv)


@vjp(
    scipy.linalg.svdvals,
    holomorphic=False,
    only=_KEEP,
    samples=[lambda: (real(4, 3),), lambda: (complex_(2, 3),)],
)
def svdvals(g: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return svdvals_adjoint(g, a)


@svdvals.jvp
def svdvals_jvp(a_dot: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return svdvals_tangent(a_dot, a)


@vjp(
    scipy.linalg.qr,
    holomorphic=False,
    only={**_KEEP, "mode": ("full", "economic", "r"), "pivoting": (False,)},
    samples=[
        lambda: (real(3, 3),),
        lambda: (real(2, 4),),
        lambda: (complex_(4, 3), False, None, "economic"),
        lambda: (real(3, 3), False, None, "r"),
    ],
)
def qr(
    g: Any,
    out: Any,
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: Any = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    return qr_full_adjoint(g, out, a, mode)


@qr.jvp
def qr_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: Any = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    return qr_full_tangent(a_dot, out, a, mode)


_PLAIN_EIG = {**_KEEP_BOTH, "b": (None,), "left": (False,), "right": (True,), "homogeneous_eigvals": (False,)}


@vjp(
    scipy.linalg.eig,
    holomorphic=False,
    wrt=["a"],
    only=_PLAIN_EIG,
    samples=[
        lambda: (well_conditioned(3, 3, seed=3) + np.diag([0.0, 1.0, 2.0]),),
        lambda: (_complex_matrix(3),),
        lambda: (np.array([[1.0, 2.0], [-2.5, 0.7]]),),
    ],
)
def eig(
    g: Any,
    out: Any,
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    return eig_adjoint(g, out)


@eig.jvp
def eig_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    return eig_tangent(a_dot, out)


@vjp(
    scipy.linalg.eigvals,
    wrt=["a"],
    only={**_KEEP, "b": (None,), "homogeneous_eigvals": (False,)},
    samples=[lambda: (well_conditioned(3, 3) + np.diag([0.0, 1.0, 2.0]),), lambda: (complex_(3, 3),)],
)
def eigvals(
    g: Any,
    out: Any,
    a: Any,
    b: Any = None,
    overwrite_a: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    return eigvals_adjoint(g, out, a)


@eigvals.jvp
def eigvals_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    b: Any = None,
    overwrite_a: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    return eigvals_tangent(a_dot, out, a)


_WHOLE_SPECTRUM = {**_KEEP_BOTH, "type": (1,), "subset_by_index": (None,), "subset_by_value": (None,)}
_PENCILS = [
    lambda: (hermitian(real(3, 3)), hermitian(well_conditioned(3, 3, seed=1))),
    lambda: (real(3, 3), well_conditioned(3, 3, seed=1), {"lower": False}),
]


@vjp(
    scipy.linalg.eigh,
    holomorphic=False,
    wrt=["a", "b"],
    only=_WHOLE_SPECTRUM,
    samples=[
        # the default driver 'evr' chooses signs of vectors anew at every call: no use for differences
        lambda: (hermitian(real(3, 3)), {"driver": "evd"}),
        lambda: (complex_(3, 3), {"lower": False, "driver": "evd"}),
        lambda: (complex_(3, 3), {"driver": "evd"}),
        lambda: (real(3, 3), {"eigvals_only": True}),
        *_PENCILS,
        lambda: (real(3, 3), well_conditioned(3, 3, seed=1), {"eigvals_only": True}),
    ],
)
def eigh(
    g: Any,
    out: Any,
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    adjoints = eigh_bars(g, out, a, b, lower, eigvals_only)
    return adjoints[0], adjoints[1]


@eigh.jvp
def eigh_jvp(
    a_dot: Any,
    b_dot: Any,
    out: Any,
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    return (
        eigh_dots(a_dot, None, out, a, b, lower, eigvals_only),
        eigh_dots(None, b_dot, out, a, b, lower, eigvals_only),
    )


@vjp(
    scipy.linalg.eigvalsh,
    holomorphic=False,
    wrt=["a", "b"],
    only=_WHOLE_SPECTRUM,
    samples=[lambda: (real(3, 3),), lambda: (complex_(3, 3), {"lower": False}), *_PENCILS],
)
def eigvalsh(
    g: Any,
    out: Any,
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    adjoints = eigh_bars(g, out, a, b, lower, True)
    return adjoints[0], adjoints[1]


@eigvalsh.jvp
def eigvalsh_jvp(
    a_dot: Any,
    b_dot: Any,
    out: Any,
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    return eigh_dots(a_dot, None, out, a, b, lower, True), eigh_dots(None, b_dot, out, a, b, lower, True)


@vjp(
    scipy.linalg.lstsq,
    holomorphic=False,
    only=_KEEP_BOTH,
    samples=[
        lambda: (real(5, 2), real(5, seed=1)),
        lambda: (real(2, 4), real(2, 2, seed=1)),
        lambda: (complex_(4, 2), complex_(4, seed=1)),
    ],
)
def lstsq(
    g: Any,
    out: Any,
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: Any = None,
) -> Any:
    return lstsq_a_adjoint(g, out, a, b), lstsq_b_adjoint(g, out, a, b)


@lstsq.jvp
def lstsq_jvp(
    a_dot: Any,
    b_dot: Any,
    out: Any,
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: Any = None,
) -> Any:
    return lstsq_a_tangent(a_dot, out, a, b), lstsq_b_tangent(b_dot, out, a, b)


# -- systems -------------------------------------------------------------------------------------------


@vjp(
    scipy.linalg.solve,
    holomorphic=False,
    only={
        **_KEEP_BOTH,
        "assume_a": (None, "gen", "general", "her", "hermitian", "pos", "positive definite"),
        "transposed": (False,),
    },
    samples=[
        lambda: (well_conditioned(3, 3), real(3)),
        lambda: (_complex_matrix(3), complex_(3, 2)),
        lambda: (well_conditioned(3, 3), real(3), {"assume_a": "pos"}),
        lambda: (_complex_matrix(3), real(3, 2), {"assume_a": "her", "lower": True}),
        lambda: (well_conditioned(2, 3, 3), real(2, 3, 2)),
    ],
)
def solve(
    g: Any,
    out: Any,
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
    transposed: bool = False,
) -> Any:
    b_bar = solve_transposed(g, np.conj(seen(a, lower, assume_a)), b)
    return (
        seen_adjoint(solve_a_adjoint(b_bar, np.conj(out), a, b), lower, assume_a),
        unbroadcast(b_bar, b),
    )


@solve.jvp
def solve_jvp(
    a_dot: Any,
    b_dot: Any,
    out: Any,
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
    transposed: bool = False,
) -> Any:
    return (
        solve_a_tangent(seen(a_dot, lower, assume_a), out, seen(a, lower, assume_a), b),
        np.linalg.solve(seen(a, lower, assume_a), b_dot),
    )


@vjp(
    scipy.linalg.solve_triangular,
    holomorphic=False,
    only={"overwrite_b": (False,)},
    samples=[
        lambda: (well_conditioned(3, 3), real(3)),
        lambda: (well_conditioned(3, 3), real(3, 2), 1, True),
        lambda: (_complex_matrix(3), complex_(3), 1),
        lambda: (_complex_matrix(3), complex_(3, 2), "C", True),
        lambda: (_complex_matrix(3), complex_(3), "N", False, True),
    ],
)
def solve_triangular(
    g: Any,
    out: Any,
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    b_bar = solve_triangular_b_bar(g, a, trans, lower, unit_diagonal)
    return solve_triangular_a_bar(b_bar, out, trans, lower, unit_diagonal), b_bar


@solve_triangular.jvp
def solve_triangular_jvp(
    a_dot: Any,
    b_dot: Any,
    out: Any,
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    return (
        solve_triangular_a_dot(a_dot, out, a, trans, lower, unit_diagonal),
        scipy.linalg.solve_triangular(a, b_dot, trans, lower, unit_diagonal),
    )


@vjp(
    scipy.linalg.lu_solve,
    only={"overwrite_b": (False,), "trans": (0, 1)},
    samples=[
        lambda: (scipy.linalg.lu_factor(real(3, 3)), real(3)),
        lambda: (scipy.linalg.lu_factor(real(3, 3)), real(3, 2), 1),
        lambda: (scipy.linalg.lu_factor(_complex_matrix(3)), complex_(3)),
    ],
)
def lu_solve(
    g: Any,
    out: Any,
    lu_and_piv: Any,
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    b_bar = lu_solve_b_bar(g, lu_and_piv, trans)
    return lu_solve_lu_bar(b_bar, out, lu_and_piv, trans), b_bar


@lu_solve.jvp
def lu_solve_jvp(
    lu_and_piv_dot: Any,
    b_dot: Any,
    out: Any,
    lu_and_piv: Any,
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    return (
        lu_solve_lu_dot(lu_and_piv_dot, out, lu_and_piv, trans),
        scipy.linalg.lu_solve(lu_and_piv, b_dot, trans),
    )


@vjp(
    scipy.linalg.cho_solve,
    holomorphic=False,
    only={"overwrite_b": (False,)},
    samples=[
        lambda: ((well_conditioned(3, 3), True), real(3)),
        lambda: ((_complex_matrix(3), False), complex_(3, 2)),
    ],
)
def cho_solve(
    g: Any, out: Any, c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    return cho_solve_c_bar(g, out, c_and_lower), scipy.linalg.cho_solve(c_and_lower, g)


@cho_solve.jvp
def cho_solve_jvp(
    c_and_lower_dot: Any,
    b_dot: Any,
    out: Any,
    c_and_lower: Any,
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    return cho_solve_c_dot(c_and_lower_dot, out, c_and_lower), scipy.linalg.cho_solve(c_and_lower, b_dot)


@vjp(
    scipy.linalg.solve_banded,
    holomorphic=False,
    wrt=["ab", "b"],
    only={"overwrite_ab": (False,), "overwrite_b": (False,)},
    samples=[
        lambda: ((1, 1), positive(3, 4) + [[0.0], [3.0], [0.0]], real(4)),
        lambda: ((2, 1), complex_(4, 5) + [[0.0], [5.0], [0.0], [0.0]], complex_(5, 2)),
    ],
)
def solve_banded(
    g: Any,
    out: Any,
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    b_bar = scipy.linalg.solve_banded(l_and_u[::-1], banded_mH(l_and_u, ab), g)
    return banded_bar(b_bar, out, l_and_u), b_bar


@solve_banded.jvp
def solve_banded_jvp(
    ab_dot: Any,
    b_dot: Any,
    out: Any,
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    return (
        -scipy.linalg.solve_banded(l_and_u, ab, banded_times(l_and_u, ab_dot, out)),
        scipy.linalg.solve_banded(l_and_u, ab, b_dot),
    )


@vjp(
    scipy.linalg.solve_sylvester,
    holomorphic=False,
    samples=[
        lambda: (well_conditioned(3, 3), well_conditioned(2, 2, seed=1), real(3, 2, seed=2)),
        lambda: (_complex_matrix(2), _complex_matrix(3), complex_(2, 3)),
    ],
)
def solve_sylvester(g: Any, out: Any, a: Any, b: Any, q: Any) -> Any:
    q_bar = scipy.linalg.solve_sylvester(mH(a), mH(b), g)
    return -q_bar @ mH(out), -mH(out) @ q_bar, q_bar


@solve_sylvester.jvp
def solve_sylvester_jvp(a_dot: Any, b_dot: Any, q_dot: Any, out: Any, a: Any, b: Any, q: Any) -> Any:
    return (
        -scipy.linalg.solve_sylvester(a, b, a_dot @ out),
        -scipy.linalg.solve_sylvester(a, b, out @ b_dot),
        scipy.linalg.solve_sylvester(a, b, q_dot),
    )


_LYAPUNOV = [
    lambda: (0.2 * well_conditioned(3, 3), real(3, 3)),
    lambda: (0.2 * _complex_matrix(2), complex_(2, 2)),
]


@vjp(
    scipy.linalg.solve_continuous_lyapunov, scipy.linalg.solve_lyapunov, holomorphic=False, samples=_LYAPUNOV
)
def solve_continuous_lyapunov(g: Any, out: Any, a: Any, q: Any) -> Any:
    q_bar = scipy.linalg.solve_continuous_lyapunov(mH(a), g)
    return -(q_bar @ mH(out) + mH(q_bar) @ out), q_bar


@solve_continuous_lyapunov.jvp
def solve_continuous_lyapunov_jvp(a_dot: Any, q_dot: Any, out: Any, a: Any, q: Any) -> Any:
    return (
        -scipy.linalg.solve_continuous_lyapunov(a, a_dot @ out + out @ mH(a_dot)),
        scipy.linalg.solve_continuous_lyapunov(a, q_dot),
    )


@vjp(scipy.linalg.solve_discrete_lyapunov, holomorphic=False, samples=_LYAPUNOV)
def solve_discrete_lyapunov(g: Any, out: Any, a: Any, q: Any, method: Any = None) -> Any:
    q_bar = scipy.linalg.solve_discrete_lyapunov(mH(a), g, method)
    return q_bar @ a @ mH(out) + mH(q_bar) @ a @ out, q_bar


@solve_discrete_lyapunov.jvp
def solve_discrete_lyapunov_jvp(a_dot: Any, q_dot: Any, out: Any, a: Any, q: Any, method: Any = None) -> Any:
    return (
        scipy.linalg.solve_discrete_lyapunov(a, a_dot @ out @ mH(a) + a @ out @ mH(a_dot), method),
        scipy.linalg.solve_discrete_lyapunov(a, q_dot, method),
    )


# -- factorisations ------------------------------------------------------------------------------------

_POSITIVE_DEFINITE = [
    lambda: (well_conditioned(3, 3),),
    lambda: (well_conditioned(3, 3), True),
    lambda: (hermitian(_complex_matrix(3)), True),
    lambda: (hermitian(_complex_matrix(3)),),
]


@vjp(scipy.linalg.cholesky, holomorphic=False, only=_KEEP, samples=_POSITIVE_DEFINITE)
def cholesky(
    g: Any, out: Any, a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    return cholesky_bar(g, out, lower)


@cholesky.jvp
def cholesky_jvp(
    a_dot: Any, out: Any, a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    return cholesky_dot(a_dot, out, lower)


@vjp(scipy.linalg.cho_factor, holomorphic=False, only=_KEEP, samples=_POSITIVE_DEFINITE)
def cho_factor(
    g: Any, out: Any, a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    return cho_factor_bar(g, out)


@cho_factor.jvp
def cho_factor_jvp(
    a_dot: Any, out: Any, a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    return cho_factor_dot(a_dot, out)


@vjp(scipy.linalg.lu_factor, only=_KEEP, samples=[lambda: (real(3, 3),), lambda: (complex_(3, 3),)])
def lu_factor(g: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return lu_bar(g[0], out[0], permutation_of(out[1]))


@lu_factor.jvp
def lu_factor_jvp(a_dot: Any, out: Any, a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return lu_factor_dot(a_dot, out)


@vjp(
    scipy.linalg.lu,
    only={**_KEEP, "permute_l": (False,), "p_indices": (False,)},
    samples=[lambda: (real(3, 3),), lambda: (complex_(3, 3),)],
)
def lu(
    g: Any,
    out: Any,
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Any:
    return lu_adjoint(g, out)


@lu.jvp
def lu_jvp(
    a_dot: Any,
    out: Any,
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Any:
    return lu_tangent(a_dot, out)


# -- functions of matrices -----------------------------------------------------------------------------

_FUNCTION = [lambda: (0.5 * real(3, 3),), lambda: (0.5 * complex_(2, 2),)]
_POSITIVE = [lambda: (well_conditioned(3, 3),), lambda: (_complex_matrix(2),)]


@vjp(scipy.linalg.expm, samples=[*_FUNCTION, lambda: (0.5 * real(2, 2, 2),)])
def expm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.expm, mT(A), g)


@expm.jvp
def expm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.expm, A, A_dot)


@vjp(scipy.linalg.logm, samples=_POSITIVE)
def logm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.logm, mT(A), g)


@logm.jvp
def logm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.logm, A, A_dot)


@vjp(scipy.linalg.sqrtm, samples=_POSITIVE)
def sqrtm(g: Any, out: Any, A: Any) -> Any:
    return scipy.linalg.solve_sylvester(mT(out), mT(out), g)


@sqrtm.jvp
def sqrtm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return scipy.linalg.solve_sylvester(out, out, A_dot)


@vjp(scipy.linalg.fractional_matrix_power, wrt=["A"], samples=[lambda: (well_conditioned(3, 3), 0.7)])
def fractional_matrix_power(g: Any, out: Any, A: Any, t: Any) -> Any:
    return scaled_power(mT(A), g, t)


@fractional_matrix_power.jvp
def fractional_matrix_power_jvp(A_dot: Any, out: Any, A: Any, t: Any) -> Any:
    return scaled_power(A, A_dot, t)


@vjp(scipy.linalg.sinm, samples=_FUNCTION)
def sinm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.sinm, mT(A), g)


@sinm.jvp
def sinm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.sinm, A, A_dot)


@vjp(scipy.linalg.cosm, samples=_FUNCTION)
def cosm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.cosm, mT(A), g)


@cosm.jvp
def cosm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.cosm, A, A_dot)


@vjp(scipy.linalg.tanm, samples=_FUNCTION)
def tanm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.tanm, mT(A), g)


@tanm.jvp
def tanm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.tanm, A, A_dot)


@vjp(scipy.linalg.sinhm, samples=_FUNCTION)
def sinhm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.sinhm, mT(A), g)


@sinhm.jvp
def sinhm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.sinhm, A, A_dot)


@vjp(scipy.linalg.coshm, samples=_FUNCTION)
def coshm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.coshm, mT(A), g)


@coshm.jvp
def coshm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.coshm, A, A_dot)


@vjp(scipy.linalg.tanhm, samples=_FUNCTION)
def tanhm(g: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.tanhm, mT(A), g)


@tanhm.jvp
def tanhm_jvp(A_dot: Any, out: Any, A: Any) -> Any:
    return block_direction(scipy.linalg.tanhm, A, A_dot)


# -- matrices laid out from vectors and blocks ---------------------------------------------------------


@linear(scipy.linalg.block_diag, samples=[lambda: (real(2, 2), real(1, 3, seed=1)), lambda: (real(2), 1.5)])
def block_diag(g: Any, out: Any, *arrs: Any) -> Any:
    return laid_out_adjoints(scipy.linalg.block_diag, g, arrs)


@linear(scipy.linalg.circulant, samples=[lambda: (real(3),), lambda: (complex_(4),)])
def circulant(g: Any, out: Any, c: Any) -> Any:
    return laid_out_adjoint(scipy.linalg.circulant, g, (c,), 0)


@vjp(
    scipy.linalg.toeplitz,
    holomorphic=False,
    samples=[
        lambda: (real(3),),
        lambda: (complex_(3),),
        lambda: (real(3), real(4, seed=1)),
        lambda: (complex_(2), complex_(3, seed=1)),
    ],
)
def toeplitz(g: Any, out: Any, c: Any, r: Any = None) -> Any:
    return toeplitz_c_adjoint(g, c, r), laid_out_adjoint(scipy.linalg.toeplitz, g, (c, r), 1)


@toeplitz.jvp
def toeplitz_jvp(c_dot: Any, r_dot: Any, out: Any, c: Any, r: Any = None) -> Any:
    return (
        scipy.linalg.toeplitz(c_dot, None if r is None else np.zeros_like(r)),
        toeplitz_r_tangent(r_dot, c),
    )


@vjp(
    scipy.linalg.hankel,
    samples=[lambda: (real(3),), lambda: (real(3), real(4, seed=1)), lambda: (complex_(2),)],
)
def hankel(g: Any, out: Any, c: Any, r: Any = None) -> Any:
    return hankel_c_adjoint(g, c, r), laid_out_adjoint(scipy.linalg.hankel, g, (c, r), 1)


@hankel.jvp
def hankel_jvp(c_dot: Any, r_dot: Any, out: Any, c: Any, r: Any = None) -> Any:
    return hankel_c_tangent(c_dot, r), hankel_r_tangent(r_dot, c)
