"""Helpers of the rules of special functions, for what is 0 / 0 at a point or is not one expression.

In: arguments and adjoints. Out: slopes and adjoints. Every function is plain NumPy and SciPy, names nothing
but these and functions of this file, and can be carried by a built gradient file.

    >>> float(quotient_or_zero(0.0, 0.0))
    0.0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special


def quotient_or_zero(x: Any, y: Any) -> Any:
    """`x / y`, and 0 where `x` is 0, also over 0."""
    return np.where(x == 0, 0, x) / np.where(x == 0, 1, y)


def rgamma_slope(x: Any, out: Any) -> Any:
    """The derivative of 1 / gamma, also at the poles of gamma, where 1 / gamma is 0."""
    pole = (out == 0) & (np.real(x) < 1)
    regular = -out * scipy.special.digamma(np.where(pole, 1, x))
    return np.where(pole, np.cos(np.pi * np.real(x)) * scipy.special.gamma(np.where(pole, 1 - x, 1)), regular)


def multigammaln_slope(a: Any, d: int) -> Any:
    """The derivative of the logarithm of the multivariate gamma function."""
    return sum(scipy.special.digamma(a - 0.5 * i) for i in range(d))


def exprel_slope(x: Any, out: Any) -> Any:
    """The derivative of (exp(x) - 1) / x, by its series where the quotient cancels."""
    small = np.abs(x) < 1e-2
    far = np.where(small, 1, x)
    series = 1 / 2 + x / 3 + x * x / 8 + x * x * x / 30 + x * x * x * x / 144
    return np.where(small, series, (np.exp(far) - out) / far)


def spence_slope(z: Any) -> Any:
    """The derivative of the dilogarithm: log(z) / (1 - z), which is -1 at 1."""
    return np.where(z == 1, -1, np.log(np.where(z == 1, 2, z)) / (1 - np.where(z == 1, 2, z)))


def boxcox_lmbda_slope(log_x: Any, lmbda: Any) -> Any:
    """The derivative of (x**lmbda - 1) / lmbda in lmbda, given log(x): also at lmbda = 0."""
    t = lmbda * log_x
    return log_x * log_x * exprel_slope(t, scipy.special.exprel(t))


def ellipk_slope(m: Any, out: Any) -> Any:
    """The derivative of the complete elliptic integral of the first kind."""
    n = np.where(m == 0, 0.5, m)
    regular = (scipy.special.ellipe(n) - (1 - n) * np.where(m == 0, 0, out)) / (2 * n * (1 - n))
    return np.where(m == 0, np.pi / 8, regular).astype(np.result_type(out))


def ellipe_slope(m: Any, out: Any) -> Any:
    """The derivative of the complete elliptic integral of the second kind."""
    regular = (out - scipy.special.ellipk(m)) / (2 * np.where(m == 0, 1, m))
    return np.where(m == 0, -np.pi / 8, regular).astype(np.result_type(out))


def ellipkinc_m_slope(phi: Any, m: Any, out: Any) -> Any:
    """The derivative in `m` of the incomplete elliptic integral of the first kind."""
    n = np.where(m == 0, 0.5, m)
    root = np.sqrt(1 - n * np.sin(phi) ** 2)
    regular = scipy.special.ellipeinc(phi, n) / (2 * n * (1 - n)) - out / (2 * n)
    regular = regular - np.sin(2 * phi) / (4 * (1 - n) * root)
    return np.where(m == 0, (phi - np.sin(phi) * np.cos(phi)) / 4, regular)


def ellipeinc_m_slope(phi: Any, m: Any, out: Any) -> Any:
    """The derivative in `m` of the incomplete elliptic integral of the second kind."""
    regular = (out - scipy.special.ellipkinc(phi, m)) / (2 * np.where(m == 0, 1, m))
    return np.where(m == 0, (np.sin(phi) * np.cos(phi) - phi) / 4, regular)


def gamma_density(a: Any, x: Any) -> Any:
    """The derivative of the regularised incomplete gamma function in `x`."""
    return np.exp(scipy.special.xlogy(a - 1, x) - x - scipy.special.gammaln(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """The derivative of the regularised incomplete beta function in `x`."""
    log = scipy.special.xlogy(a - 1, x) + scipy.special.xlog1py(b - 1, -x) - scipy.special.betaln(a, b)
    return np.exp(log)


def fisher_density(dfn: Any, dfd: Any, x: Any) -> Any:
    """The density of the F distribution."""
    total = dfn * x + dfd
    return beta_density(dfn / 2, dfd / 2, dfn * x / total) * dfn * dfd / (total * total)


def jacobi_slopes(out: Any, m: Any) -> Any:
    """The derivatives of sn, cn, dn and the amplitude."""
    sn, cn, dn, _ = out
    return cn * dn, -sn * dn, -m * sn * cn, dn


def student_density(df: Any, t: Any) -> Any:
    """The density of Student's distribution."""
    log = scipy.special.gammaln((df + 1) / 2) - scipy.special.gammaln(df / 2) - np.log(df * np.pi) / 2
    return np.exp(log - (df + 1) / 2 * np.log1p(t * t / df))


def weighted_parts(g: Any, slopes: Any) -> Any:
    """The sum of adjoints times slopes, for an operation with several results; None has no adjoint."""
    terms = [part * slope for part, slope in zip(g, slopes, strict=True) if part is not None]
    return sum(terms[1:], terms[0])


def times_each(x_dot: Any, slopes: Any) -> Any:
    """The tangents of several results."""
    return tuple(x_dot * slope for slope in slopes)


def airy_slopes(z: Any, out: Any) -> Any:
    """The derivatives of Ai, Ai', Bi, Bi'."""
    return out[1], z * out[0], out[3], z * out[2]


def fresnel_slopes(z: Any) -> Any:
    """The derivatives of the Fresnel integrals S and C."""
    angle = z * z * (np.pi / 2)
    return np.sin(angle), np.cos(angle)


def sici_slopes(x: Any) -> Any:
    """The derivatives of the sine and the cosine integral."""
    return np.where(x == 0, 1, np.sin(x) / np.where(x == 0, 1, x)), np.cos(x) / x


def shichi_slopes(x: Any) -> Any:
    """The derivatives of the hyperbolic sine and cosine integrals."""
    return np.where(x == 0, 1, np.sinh(x) / np.where(x == 0, 1, x)), np.cosh(x) / x


def over_axes(x: Any, axis: Any, keepdims: bool) -> Any:
    """The result of a reduction, with the reduced axes back in place, of length one (None: all of them)."""
    return x if keepdims or axis is None else np.expand_dims(x, axis)


def one_if_none(b: Any) -> Any:
    """Weights that are given, or 1."""
    return 1 if b is None else b


def logsumexp_weights(out: Any, a: Any, axis: Any, keepdims: bool) -> Any:
    """exp(a - logsumexp(a)): what each element has in the sum; 0 where the sum is 0."""
    whole = over_axes(out, axis, keepdims)
    return np.exp(a - np.where(np.isneginf(np.real(whole)), 0, whole))
