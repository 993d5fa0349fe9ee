"""Special functions of SciPy, with the derivatives that have a closed form.

In: `g`, `out` and the arguments. Out: one expression per argument that has one. An argument that is not
named in `wrt` (the order of a Bessel function) has no derivative here: it is refused if it is active.

    @elementwise(scipy.special.erf)
    def erf(g, out, z):
        return g * (_2_OVER_ROOT_PI * np.exp(-z * z))

This file is imported when a function of `scipy.special` is first looked up, never before. The formulas are
those of the NIST Digital Library of Mathematical Functions, chapters 5 to 19.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from ..rule import elementwise, nondifferentiable, vjp
from ..support import unbroadcast
from ..support_special import (
    airy_slopes,
    beta_density,
    boxcox_lmbda_slope,
    ellipe_slope,
    ellipeinc_m_slope,
    ellipk_slope,
    ellipkinc_m_slope,
    exprel_slope,
    fisher_density,
    fresnel_slopes,
    gamma_density,
    jacobi_slopes,
    logsumexp_weights,
    multigammaln_slope,
    one_if_none,
    over_axes,
    quotient_or_zero,
    rgamma_slope,
    shichi_slopes,
    sici_slopes,
    spence_slope,
    student_density,
    times_each,
    weighted_parts,
)
from .sampling import complex_, real

# Python floats, so that they take the precision of the array they meet.
_2_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_HALF_ROOT_PI = math.sqrt(math.pi) / 2
_2_PI = 2 * math.pi
_ROOT_2_PI = math.sqrt(2 * math.pi)
_1_OVER_ROOT_2_PI = 1 / math.sqrt(2 * math.pi)
_HALF_OVER_ROOT_2_PI = 0.5 / math.sqrt(2 * math.pi)
_ROOT_HALF = math.sqrt(0.5)
_ROOT_2 = math.sqrt(2)
_ROOT_PI = math.sqrt(math.pi)
_2I_OVER_ROOT_PI = 2j / math.sqrt(math.pi)
_LOG_2 = math.log(2)
_LOG_10 = math.log(10)
_DEGREE = math.pi / 180

_PLUS = [(0.7,), (np.array([0.3, 0.9, 1.6]),)]
_SIGNED = [(0.7,), (np.array([-0.3, 0.9, 1.6]),)]
_UNIT = [(0.7,), (np.array([0.3, 0.9, 0.6]),)]
_COMPLEX = [(0.7 + 0.4j,), (np.array([0.3 - 0.5j, 1.2 + 0.9j]),)]
_PLUS_PAIRS = [(0.7, 1.4), (np.array([0.3, 0.9, 1.6]), np.array([[1.2], [0.4]])), (1.6, np.array([0.5, 2.1]))]
_PLUS_UNIT = [(0.7, 0.4), (np.array([0.6, 0.9, 1.3]), np.array([[0.2], [0.8]]))]
_COMPLEX_PAIRS = [(0.7 + 0.4j, 1.2 - 0.3j), (1.5, 0.4 + 0.9j)]
_BETA = [(0.7, 1.4, 0.3), (np.array([1.3, 0.9]), 1.6, np.array([[0.2], [0.8]]))]
_ORDERS = [(1.5, 0.7), (0.5, np.array([0.6, 1.9])), (2, 1.1 + 0.4j)]
_COUNTS = [(2, 0.7), (1, np.array([0.6, 1.9]))]
_DEGREES = [(3, 0.4), (2, np.array([0.3, 0.7])), (1, 0.4), (0, np.array([0.3, 0.5]))]
_F = [(3.0, 5.0, 0.7), (2.0, np.array([3.0, 4.0]), np.array([[0.6], [1.9]]))]


# -- the gamma family ------------------------------------------------------------------------------


@elementwise(scipy.special.gamma, samples=[*_PLUS, *_COMPLEX])
def gamma(g: Any, out: Any, z: Any) -> Any:
    return g * out * scipy.special.digamma(z)


@elementwise(scipy.special.loggamma, scipy.special.gammaln, samples=[*_PLUS, *_COMPLEX])
def gammaln(g: Any, out: Any, z: Any) -> Any:
    return g * scipy.special.digamma(z)


@elementwise(scipy.special.rgamma, samples=[*_PLUS, *_COMPLEX, (np.array([0.0, -1.0, -2.0, 0.5]),)])
def rgamma(g: Any, out: Any, z: Any) -> Any:
    return g * rgamma_slope(z, out)


@elementwise(scipy.special.digamma, scipy.special.psi, samples=_PLUS)
def digamma(g: Any, out: Any, z: Any) -> Any:
    return g * scipy.special.polygamma(1, z)


@elementwise(scipy.special.polygamma, wrt=["x"], samples=[(1, np.array([0.6, 1.4])), (2, 0.7)])
def polygamma(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * scipy.special.polygamma(n + 1, x)


@elementwise(scipy.special.multigammaln, wrt=["a"], samples=[(2.5, 2), (np.array([3.2, 4.1]), 3)])
def multigammaln(g: Any, out: Any, a: Any, d: Any) -> Any:
    return g * multigammaln_slope(a, d)


@elementwise(scipy.special.beta, samples=_PLUS_PAIRS)
def beta(g: Any, out: Any, a: Any, b: Any) -> Any:
    return (
        g * out * (scipy.special.digamma(a) - scipy.special.digamma(a + b)),
        g * out * (scipy.special.digamma(b) - scipy.special.digamma(a + b)),
    )


@elementwise(scipy.special.betaln, samples=_PLUS_PAIRS)
def betaln(g: Any, out: Any, a: Any, b: Any) -> Any:
    return (
        g * (scipy.special.digamma(a) - scipy.special.digamma(a + b)),
        g * (scipy.special.digamma(b) - scipy.special.digamma(a + b)),
    )


@elementwise(scipy.special.binom, samples=[(4.5, 1.3), (np.array([3.5, 2.2]), 1.6)])
def binom(g: Any, out: Any, n: Any, k: Any) -> Any:
    return (
        g * out * (scipy.special.digamma(n + 1) - scipy.special.digamma(n - k + 1)),
        g * out * (scipy.special.digamma(n - k + 1) - scipy.special.digamma(k + 1)),
    )


@elementwise(scipy.special.poch, samples=_PLUS_PAIRS)
def poch(g: Any, out: Any, z: Any, m: Any) -> Any:
    return (
        g * out * (scipy.special.digamma(z + m) - scipy.special.digamma(z)),
        g * out * scipy.special.digamma(z + m),
    )


@elementwise(scipy.special.gammainc, wrt=["x"], samples=_PLUS_PAIRS)
def gammainc(g: Any, out: Any, a: Any, x: Any) -> Any:
    return g * gamma_density(a, x)


@elementwise(scipy.special.gammaincc, wrt=["x"], samples=_PLUS_PAIRS)
def gammaincc(g: Any, out: Any, a: Any, x: Any) -> Any:
    return -g * gamma_density(a, x)


@elementwise(scipy.special.gammaincinv, wrt=["y"], samples=_PLUS_UNIT)
def gammaincinv(g: Any, out: Any, a: Any, y: Any) -> Any:
    return g / gamma_density(a, out)


@elementwise(scipy.special.gammainccinv, wrt=["y"], samples=_PLUS_UNIT)
def gammainccinv(g: Any, out: Any, a: Any, y: Any) -> Any:
    return -g / gamma_density(a, out)


@elementwise(scipy.special.betainc, wrt=["x"], samples=_BETA)
def betainc(g: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return g * beta_density(a, b, x)


@elementwise(scipy.special.betaincc, wrt=["x"], samples=_BETA)
def betaincc(g: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return -g * beta_density(a, b, x)


@elementwise(scipy.special.betaincinv, wrt=["y"], samples=_BETA)
def betaincinv(g: Any, out: Any, a: Any, b: Any, y: Any) -> Any:
    return g / beta_density(a, b, out)


@elementwise(scipy.special.betainccinv, wrt=["y"], samples=_BETA)
def betainccinv(g: Any, out: Any, a: Any, b: Any, y: Any) -> Any:
    return -g / beta_density(a, b, out)


@elementwise(scipy.special.zeta, wrt=["q"], samples=[(2.5, 1.5), (3.0, np.array([0.7, 2.1]))])
def zeta(g: Any, out: Any, x: Any, q: Any) -> Any:
    return -g * x * scipy.special.zeta(x + 1, q)


# -- error functions and normal distributions ------------------------------------------------------


@elementwise(scipy.special.erf, samples=[*_SIGNED, *_COMPLEX])
def erf(g: Any, out: Any, z: Any) -> Any:
    return g * (_2_OVER_ROOT_PI * np.exp(-z * z))


@elementwise(scipy.special.erfc, samples=[*_SIGNED, *_COMPLEX])
def erfc(g: Any, out: Any, z: Any) -> Any:
    return -g * (_2_OVER_ROOT_PI * np.exp(-z * z))


@elementwise(scipy.special.erfcx, samples=[*_SIGNED, *_COMPLEX])
def erfcx(g: Any, out: Any, z: Any) -> Any:
    return g * (2 * z * out - _2_OVER_ROOT_PI)


@elementwise(scipy.special.erfi, samples=[*_SIGNED, *_COMPLEX])
def erfi(g: Any, out: Any, z: Any) -> Any:
    return g * (_2_OVER_ROOT_PI * np.exp(z * z))


@elementwise(scipy.special.dawsn, samples=[*_SIGNED, *_COMPLEX])
def dawsn(g: Any, out: Any, z: Any) -> Any:
    return g * (1 - 2 * z * out)


@elementwise(scipy.special.wofz, samples=[*_SIGNED, *_COMPLEX])
def wofz(g: Any, out: Any, z: Any) -> Any:
    return g * (1j * _2_OVER_ROOT_PI - 2 * z * out)


@elementwise(scipy.special.erfinv, samples=_UNIT)
def erfinv(g: Any, out: Any, y: Any) -> Any:
    return g * (_HALF_ROOT_PI * np.exp(out * out))


@elementwise(scipy.special.erfcinv, samples=_UNIT)
def erfcinv(g: Any, out: Any, y: Any) -> Any:
    return -g * (_HALF_ROOT_PI * np.exp(out * out))


@elementwise(scipy.special.ndtr, samples=_SIGNED)
def ndtr(g: Any, out: Any, x: Any) -> Any:
    return g * (_1_OVER_ROOT_2_PI * np.exp(-x * x / 2))


@elementwise(scipy.special.log_ndtr, samples=[*_SIGNED, (-30.0,)])
def log_ndtr(g: Any, out: Any, x: Any) -> Any:
    return g * (_1_OVER_ROOT_2_PI * np.exp(-x * x / 2 - out))


@elementwise(scipy.special.ndtri, samples=_UNIT)
def ndtri(g: Any, out: Any, y: Any) -> Any:
    return g * (_ROOT_2_PI * np.exp(out * out / 2))


@elementwise(scipy.special.ndtri_exp, samples=[(-0.7,), (np.array([-2.0, -0.3]),)])
def ndtri_exp(g: Any, out: Any, y: Any) -> Any:
    return g * (_ROOT_2_PI * np.exp(y + out * out / 2))


@elementwise(scipy.special.owens_t, samples=_PLUS_PAIRS)
def owens_t(g: Any, out: Any, h: Any, a: Any) -> Any:
    return (
        -g * (_HALF_OVER_ROOT_2_PI * np.exp(-h * h / 2)) * scipy.special.erf(_ROOT_HALF * a * h),
        g * np.exp(-h * h * (1 + a * a) / 2) / (_2_PI * (1 + a * a)),
    )


# -- distributions ---------------------------------------------------------------------------------


@elementwise(scipy.special.stdtr, wrt=["t"], samples=_PLUS_PAIRS)
def stdtr(g: Any, out: Any, df: Any, t: Any) -> Any:
    return g * student_density(df, t)


@elementwise(scipy.special.stdtrit, wrt=["p"], samples=_PLUS_UNIT)
def stdtrit(g: Any, out: Any, df: Any, p: Any) -> Any:
    return g / student_density(df, out)


@elementwise(scipy.special.chdtr, wrt=["x"], samples=_PLUS_PAIRS)
def chdtr(g: Any, out: Any, v: Any, x: Any) -> Any:
    return g * (gamma_density(v / 2, x / 2) / 2)


@elementwise(scipy.special.chdtrc, wrt=["x"], samples=_PLUS_PAIRS)
def chdtrc(g: Any, out: Any, v: Any, x: Any) -> Any:
    return -g * (gamma_density(v / 2, x / 2) / 2)


@elementwise(scipy.special.chdtri, wrt=["p"], samples=_PLUS_UNIT)
def chdtri(g: Any, out: Any, v: Any, p: Any) -> Any:
    return -2 * g / gamma_density(v / 2, out / 2)


@elementwise(scipy.special.gdtr, wrt=["a", "x"], samples=_BETA)
def gdtr(g: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return (
        g * x * gamma_density(b, a * x),
        g * a * gamma_density(b, a * x),
    )


@elementwise(scipy.special.gdtrc, wrt=["a", "x"], samples=_BETA)
def gdtrc(g: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return (
        -g * x * gamma_density(b, a * x),
        -g * a * gamma_density(b, a * x),
    )


@elementwise(scipy.special.pdtr, wrt=["m"], samples=[(2, 1.5), (3, np.array([0.7, 2.2]))])
def pdtr(g: Any, out: Any, k: Any, m: Any) -> Any:
    return -g * gamma_density(k + 1, m)


@elementwise(scipy.special.pdtrc, wrt=["m"], samples=[(2, 1.5), (3, np.array([0.7, 2.2]))])
def pdtrc(g: Any, out: Any, k: Any, m: Any) -> Any:
    return g * gamma_density(k + 1, m)


@elementwise(scipy.special.bdtr, wrt=["p"], samples=[(2, 5, 0.3), (1, 4, 0.7)])
def bdtr(g: Any, out: Any, k: Any, n: Any, p: Any) -> Any:
    return -g * beta_density(k + 1, n - k, p)


@elementwise(scipy.special.bdtrc, wrt=["p"], samples=[(2, 5, 0.3), (1, 4, 0.7)])
def bdtrc(g: Any, out: Any, k: Any, n: Any, p: Any) -> Any:
    return g * beta_density(k + 1, n - k, p)


# -- logistic functions and entropies --------------------------------------------------------------


@elementwise(scipy.special.expit, samples=_SIGNED)
def expit(g: Any, out: Any, x: Any) -> Any:
    return g * out * (1 - out)


@elementwise(scipy.special.logit, samples=_UNIT)
def logit(g: Any, out: Any, x: Any) -> Any:
    return g / (x * (1 - x))


@elementwise(scipy.special.log_expit, samples=[*_SIGNED, (-40.0,)])
def log_expit(g: Any, out: Any, x: Any) -> Any:
    return g * scipy.special.expit(-x)


@elementwise(scipy.special.entr, safe=1.0, samples=_PLUS)
def entr(g: Any, out: Any, x: Any) -> Any:
    return -g * (np.log(x) + 1)


@elementwise(scipy.special.rel_entr, safe=1.0, samples=_PLUS_PAIRS)
def rel_entr(g: Any, out: Any, x: Any, y: Any) -> Any:
    return (
        g * (np.log(x / y) + 1),
        -g * x / y,
    )


@elementwise(scipy.special.kl_div, safe=1.0, samples=_PLUS_PAIRS)
def kl_div(g: Any, out: Any, x: Any, y: Any) -> Any:
    return (
        g * np.log(x / y),
        g * (1 - x / y),
    )


@elementwise(scipy.special.xlogy, safe=1.0, samples=[*_PLUS_PAIRS, *_COMPLEX_PAIRS])
def xlogy(g: Any, out: Any, x: Any, y: Any) -> Any:
    return (
        g * np.log(y),
        g * quotient_or_zero(x, y),
    )


@elementwise(scipy.special.xlog1py, safe=1.0, samples=[*_PLUS_PAIRS, *_COMPLEX_PAIRS])
def xlog1py(g: Any, out: Any, x: Any, y: Any) -> Any:
    return (
        g * np.log1p(y),
        g * quotient_or_zero(x, 1 + y),
    )


@elementwise(scipy.special.huber, samples=[(0.8, np.array([0.3, -1.9, 2.5])), (1.2, 0.4)])
def huber(g: Any, out: Any, delta: Any, r: Any) -> Any:
    return (
        g * np.maximum(np.abs(r) - delta, 0),
        g * np.clip(r, -delta, delta),
    )


@elementwise(scipy.special.pseudo_huber, safe=1.0, samples=_PLUS_PAIRS)
def pseudo_huber(g: Any, out: Any, delta: Any, r: Any) -> Any:
    return (
        g * (2 * delta * (np.hypot(1, r / delta) - 1) - r * r / (delta * np.hypot(1, r / delta))),
        g * r / np.hypot(1, r / delta),
    )


@elementwise(scipy.special.boxcox, safe=1.0, samples=[*_PLUS_PAIRS, (1.7, 0.0)])
def boxcox(g: Any, out: Any, x: Any, lmbda: Any) -> Any:
    return (
        g * x ** (lmbda - 1),
        g * boxcox_lmbda_slope(np.log(x), lmbda),
    )


@elementwise(scipy.special.boxcox1p, safe=1.0, samples=[*_PLUS_PAIRS, (1.7, 0.0)])
def boxcox1p(g: Any, out: Any, x: Any, lmbda: Any) -> Any:
    return (
        g * (1 + x) ** (lmbda - 1),
        g * boxcox_lmbda_slope(np.log1p(x), lmbda),
    )


@elementwise(scipy.special.inv_boxcox, wrt=["y"], samples=[*_PLUS_PAIRS, (1.7, 0.0)])
def inv_boxcox(g: Any, out: Any, y: Any, lmbda: Any) -> Any:
    return g * out / (1 + lmbda * y)


@elementwise(scipy.special.inv_boxcox1p, wrt=["y"], samples=[*_PLUS_PAIRS, (1.7, 0.0)])
def inv_boxcox1p(g: Any, out: Any, y: Any, lmbda: Any) -> Any:
    return g * (1 + out) / (1 + lmbda * y)


# -- elementary functions --------------------------------------------------------------------------


@elementwise(scipy.special.expm1, samples=[*_SIGNED, *_COMPLEX])
def expm1(g: Any, out: Any, x: Any) -> Any:
    return g * (out + 1)


@elementwise(scipy.special.log1p, safe=1.0, samples=[*_PLUS, *_COMPLEX])
def log1p(g: Any, out: Any, x: Any) -> Any:
    return g / (1 + x)


@elementwise(scipy.special.exp2, samples=_SIGNED)
def exp2(g: Any, out: Any, x: Any) -> Any:
    return g * (_LOG_2 * out)


@elementwise(scipy.special.exp10, samples=_SIGNED)
def exp10(g: Any, out: Any, x: Any) -> Any:
    return g * (_LOG_10 * out)


@elementwise(scipy.special.exprel, samples=[*_SIGNED, (0.0,), (1e-3,)])
def exprel(g: Any, out: Any, x: Any) -> Any:
    return g * exprel_slope(x, out)


@elementwise(scipy.special.cbrt, safe=1.0, samples=_SIGNED)
def cbrt(g: Any, out: Any, x: Any) -> Any:
    return g / (3 * out * out)


@elementwise(scipy.special.cosm1, samples=_SIGNED)
def cosm1(g: Any, out: Any, x: Any) -> Any:
    return -g * np.sin(x)


@elementwise(scipy.special.powm1, safe=1.0, samples=_PLUS_PAIRS)
def powm1(g: Any, out: Any, x: Any, y: Any) -> Any:
    return (
        g * y * x ** (y - 1),
        g * (out + 1) * np.log(x),
    )


@elementwise(scipy.special.radian, samples=[(12.0, 30.0, 15.0)])
def radian(g: Any, out: Any, d: Any, m: Any, s: Any) -> Any:
    return (
        g * _DEGREE,
        g * (_DEGREE / 60),
        g * (_DEGREE / 3600),
    )


@elementwise(scipy.special.sindg, samples=_SIGNED)
def sindg(g: Any, out: Any, x: Any) -> Any:
    return g * (_DEGREE * scipy.special.cosdg(x))


@elementwise(scipy.special.cosdg, samples=_SIGNED)
def cosdg(g: Any, out: Any, x: Any) -> Any:
    return -g * (_DEGREE * scipy.special.sindg(x))


@elementwise(scipy.special.tandg, samples=_SIGNED)
def tandg(g: Any, out: Any, x: Any) -> Any:
    return g * (_DEGREE * (1 + out * out))


@elementwise(scipy.special.cotdg, samples=_SIGNED)
def cotdg(g: Any, out: Any, x: Any) -> Any:
    return -g * (_DEGREE * (1 + out * out))


@elementwise(scipy.special.lambertw, wrt=["z"], samples=[*_PLUS, *_COMPLEX, (0.0,)])
def lambertw(g: Any, out: Any, z: Any, k: Any = 0, tol: Any = 1e-8) -> Any:
    return g * np.exp(-out) / (1 + out)


@elementwise(scipy.special.wrightomega, samples=[*_SIGNED, *_COMPLEX])
def wrightomega(g: Any, out: Any, z: Any) -> Any:
    return g * out / (1 + out)


# -- Bessel functions ------------------------------------------------------------------------------


@elementwise(scipy.special.j0, samples=_SIGNED)
def j0(g: Any, out: Any, x: Any) -> Any:
    return -g * scipy.special.j1(x)


@elementwise(scipy.special.j1, samples=[*_SIGNED, (0.0,)])
def j1(g: Any, out: Any, x: Any) -> Any:
    return g * (scipy.special.j0(x) - scipy.special.jv(2, x)) / 2


@elementwise(scipy.special.y0, samples=_PLUS)
def y0(g: Any, out: Any, x: Any) -> Any:
    return -g * scipy.special.y1(x)


@elementwise(scipy.special.y1, samples=_PLUS)
def y1(g: Any, out: Any, x: Any) -> Any:
    return g * (scipy.special.y0(x) - scipy.special.yv(2, x)) / 2


@elementwise(scipy.special.i0, samples=_SIGNED)
def i0(g: Any, out: Any, x: Any) -> Any:
    return g * scipy.special.i1(x)


@elementwise(scipy.special.i1, samples=[*_SIGNED, (0.0,)])
def i1(g: Any, out: Any, x: Any) -> Any:
    return g * (scipy.special.i0(x) + scipy.special.iv(2, x)) / 2


@elementwise(scipy.special.i0e, samples=_SIGNED)
def i0e(g: Any, out: Any, x: Any) -> Any:
    return g * (scipy.special.i1e(x) - np.sign(x) * out)


@elementwise(scipy.special.i1e, samples=_SIGNED)
def i1e(g: Any, out: Any, x: Any) -> Any:
    return g * ((scipy.special.i0e(x) + scipy.special.ive(2, x)) / 2 - np.sign(x) * out)


@elementwise(scipy.special.k0, samples=_PLUS)
def k0(g: Any, out: Any, x: Any) -> Any:
    return -g * scipy.special.k1(x)


@elementwise(scipy.special.k1, samples=_PLUS)
def k1(g: Any, out: Any, x: Any) -> Any:
    return -g * (scipy.special.k0(x) + scipy.special.kv(2, x)) / 2


@elementwise(scipy.special.k0e, samples=_PLUS)
def k0e(g: Any, out: Any, x: Any) -> Any:
    return g * (out - scipy.special.k1e(x))


@elementwise(scipy.special.k1e, samples=_PLUS)
def k1e(g: Any, out: Any, x: Any) -> Any:
    return g * (out - (scipy.special.k0e(x) + scipy.special.kve(2, x)) / 2)


@elementwise(scipy.special.jv, scipy.special.jn, wrt=["z"], samples=_ORDERS)
def jv(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * (scipy.special.jv(v - 1, z) - scipy.special.jv(v + 1, z)) / 2


@elementwise(scipy.special.yv, wrt=["z"], samples=_ORDERS)
def yv(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * (scipy.special.yv(v - 1, z) - scipy.special.yv(v + 1, z)) / 2


@elementwise(scipy.special.yn, wrt=["x"], samples=_COUNTS)
def yn(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * (scipy.special.yv(n - 1, x) - scipy.special.yv(n + 1, x)) / 2


@elementwise(scipy.special.iv, wrt=["z"], samples=_ORDERS)
def iv(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * (scipy.special.iv(v - 1, z) + scipy.special.iv(v + 1, z)) / 2


@elementwise(scipy.special.kv, wrt=["z"], samples=_ORDERS)
def kv(g: Any, out: Any, v: Any, z: Any) -> Any:
    return -g * (scipy.special.kv(v - 1, z) + scipy.special.kv(v + 1, z)) / 2


@elementwise(scipy.special.kn, wrt=["x"], samples=_COUNTS)
def kn(g: Any, out: Any, n: Any, x: Any) -> Any:
    return -g * (scipy.special.kv(n - 1, x) + scipy.special.kv(n + 1, x)) / 2


@elementwise(scipy.special.kve, wrt=["z"], samples=_ORDERS)
def kve(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * (out - (scipy.special.kve(v - 1, z) + scipy.special.kve(v + 1, z)) / 2)


@elementwise(scipy.special.hankel1, wrt=["z"], samples=_ORDERS)
def hankel1(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * (scipy.special.hankel1(v - 1, z) - scipy.special.hankel1(v + 1, z)) / 2


@elementwise(scipy.special.hankel2, wrt=["z"], samples=_ORDERS)
def hankel2(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * (scipy.special.hankel2(v - 1, z) - scipy.special.hankel2(v + 1, z)) / 2


@elementwise(
    scipy.special.spherical_jn,
    wrt=["z"],
    only={"derivative": (False,)},
    samples=[(2, 1.3), (1, np.array([0.7, 2.1])), (2, 0.7 + 0.4j)],
)
def spherical_jn(g: Any, out: Any, n: Any, z: Any, derivative: bool = False) -> Any:
    return g * scipy.special.spherical_jn(n, z, True)


@elementwise(
    scipy.special.spherical_yn,
    wrt=["z"],
    only={"derivative": (False,)},
    samples=[(2, 1.3), (1, np.array([0.7, 2.1])), (2, 0.7 + 0.4j)],
)
def spherical_yn(g: Any, out: Any, n: Any, z: Any, derivative: bool = False) -> Any:
    return g * scipy.special.spherical_yn(n, z, True)


@elementwise(
    scipy.special.spherical_in,
    wrt=["z"],
    only={"derivative": (False,)},
    samples=[(2, 1.3), (1, np.array([0.7, 2.1])), (2, 0.7 + 0.4j)],
)
def spherical_in(g: Any, out: Any, n: Any, z: Any, derivative: bool = False) -> Any:
    return g * scipy.special.spherical_in(n, z, True)


@elementwise(
    scipy.special.spherical_kn,
    wrt=["z"],
    only={"derivative": (False,)},
    samples=[(2, 1.3), (1, np.array([0.7, 2.1])), (2, 0.7 + 0.4j)],
)
def spherical_kn(g: Any, out: Any, n: Any, z: Any, derivative: bool = False) -> Any:
    return g * scipy.special.spherical_kn(n, z, True)


@elementwise(scipy.special.struve, wrt=["x"], samples=[(1.5, 0.7), (0.5, np.array([0.6, 1.9]))])
def struve(g: Any, out: Any, v: Any, x: Any) -> Any:
    return g * (scipy.special.struve(v - 1, x) - v * out / x)


@elementwise(scipy.special.modstruve, wrt=["x"], samples=[(1.5, 0.7), (0.5, np.array([0.6, 1.9]))])
def modstruve(g: Any, out: Any, v: Any, x: Any) -> Any:
    return g * (scipy.special.modstruve(v - 1, x) - v * out / x)


@elementwise(scipy.special.ber, samples=_PLUS)
def ber(g: Any, out: Any, x: Any) -> Any:
    return g * scipy.special.berp(x)


@elementwise(scipy.special.bei, samples=_PLUS)
def bei(g: Any, out: Any, x: Any) -> Any:
    return g * scipy.special.beip(x)


@elementwise(scipy.special.ker, samples=_PLUS)
def ker(g: Any, out: Any, x: Any) -> Any:
    return g * scipy.special.kerp(x)


@elementwise(scipy.special.kei, samples=_PLUS)
def kei(g: Any, out: Any, x: Any) -> Any:
    return g * scipy.special.keip(x)


# -- integrals and elliptic functions --------------------------------------------------------------


@elementwise(scipy.special.expi, samples=[*_PLUS, *_COMPLEX])
def expi(g: Any, out: Any, x: Any) -> Any:
    return g * np.exp(x) / x


@elementwise(scipy.special.exp1, samples=[*_PLUS, *_COMPLEX])
def exp1(g: Any, out: Any, z: Any) -> Any:
    return -g * np.exp(-z) / z


@elementwise(scipy.special.expn, wrt=["x"], samples=[(1, 0.7), (3, np.array([0.6, 1.9]))])
def expn(g: Any, out: Any, n: Any, x: Any) -> Any:
    return -g * scipy.special.expn(n - 1, x)


@elementwise(scipy.special.spence, samples=[*_PLUS, *_COMPLEX, (1.0,)])
def spence(g: Any, out: Any, z: Any) -> Any:
    return g * spence_slope(z)


@elementwise(scipy.special.ellipk, samples=[*_UNIT, (0.0,), (-1.5,)])
def ellipk(g: Any, out: Any, m: Any) -> Any:
    return g * ellipk_slope(m, out)


@elementwise(scipy.special.ellipkm1, samples=_UNIT)
def ellipkm1(g: Any, out: Any, p: Any) -> Any:
    return -g * ellipk_slope(1 - p, out)


@elementwise(scipy.special.ellipe, samples=[*_UNIT, (0.0,), (-1.5,)])
def ellipe(g: Any, out: Any, m: Any) -> Any:
    return g * ellipe_slope(m, out)


@elementwise(scipy.special.ellipkinc, samples=[*_PLUS_UNIT, (0.7, 0.0)])
def ellipkinc(g: Any, out: Any, phi: Any, m: Any) -> Any:
    return (
        g / np.sqrt(1 - m * np.sin(phi) ** 2),
        g * ellipkinc_m_slope(phi, m, out),
    )


@elementwise(scipy.special.ellipeinc, samples=[*_PLUS_UNIT, (0.7, 0.0)])
def ellipeinc(g: Any, out: Any, phi: Any, m: Any) -> Any:
    return (
        g * np.sqrt(1 - m * np.sin(phi) ** 2),
        g * ellipeinc_m_slope(phi, m, out),
    )


@elementwise(scipy.special.elliprf, samples=_BETA)
def elliprf(g: Any, out: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        -g * scipy.special.elliprd(y, z, x) / 6,
        -g * scipy.special.elliprd(z, x, y) / 6,
        -g * scipy.special.elliprd(x, y, z) / 6,
    )


@elementwise(
    scipy.special.hyp0f1, wrt=["z"], samples=[(1.5, 0.7), (2.5, np.array([0.6, -1.9])), (1.5, 0.4 + 0.3j)]
)
def hyp0f1(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * scipy.special.hyp0f1(v + 1, z) / v


@elementwise(
    scipy.special.hyp1f1, wrt=["x"], samples=[(0.7, 1.5, np.array([0.6, -1.2])), (0.7, 1.5, 0.4 + 0.3j)]
)
def hyp1f1(g: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return g * a / b * scipy.special.hyp1f1(a + 1, b + 1, x)


@elementwise(
    scipy.special.hyp2f1,
    wrt=["z"],
    samples=[(0.7, 1.2, 1.5, np.array([0.4, -0.6])), (0.7, 1.2, 1.5, 0.3 + 0.2j)],
)
def hyp2f1(g: Any, out: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    return g * a * b / c * scipy.special.hyp2f1(a + 1, b + 1, c + 1, z)


@elementwise(scipy.special.hyperu, wrt=["x"], samples=[(0.7, 1.5, np.array([0.6, 1.2]))])
def hyperu(g: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    return -g * a * scipy.special.hyperu(a + 1, b + 1, x)


# -- orthogonal polynomials of whole degree --------------------------------------------------------


@elementwise(
    scipy.special.eval_legendre,
    wrt=["x"],
    samples=[(3, 0.4), (2, np.array([0.3, -0.7])), (1, 0.4), (0, np.array([0.3, 0.5]))],
)
def eval_legendre(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * (n > 0) * (n + 1) / 2 * scipy.special.eval_jacobi(n - 1, 1, 1, x)


@elementwise(
    scipy.special.eval_chebyt,
    wrt=["x"],
    samples=[(3, 0.4), (2, np.array([0.3, -0.7])), (1, 0.4), (0, np.array([0.3, 0.5]))],
)
def eval_chebyt(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * n * scipy.special.eval_chebyu(n - 1, x)


@elementwise(
    scipy.special.eval_chebyu,
    wrt=["x"],
    samples=[(3, 0.4), (2, np.array([0.3, -0.7])), (1, 0.4), (0, np.array([0.3, 0.5]))],
)
def eval_chebyu(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * (n > 0) * 2 * scipy.special.eval_gegenbauer(n - 1, 2, x)


@elementwise(
    scipy.special.eval_hermite,
    wrt=["x"],
    samples=[(3, 0.4), (2, np.array([0.3, -0.7])), (1, 0.4), (0, np.array([0.3, 0.5]))],
)
def eval_hermite(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * 2 * n * scipy.special.eval_hermite(np.maximum(n - 1, 0), x)


@elementwise(
    scipy.special.eval_hermitenorm,
    wrt=["x"],
    samples=[(3, 0.4), (2, np.array([0.3, -0.7])), (1, 0.4), (0, np.array([0.3, 0.5]))],
)
def eval_hermitenorm(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * n * scipy.special.eval_hermitenorm(np.maximum(n - 1, 0), x)


@elementwise(
    scipy.special.eval_laguerre,
    wrt=["x"],
    samples=[(3, 0.4), (2, np.array([0.3, -0.7])), (1, 0.4), (0, np.array([0.3, 0.5]))],
)
def eval_laguerre(g: Any, out: Any, n: Any, x: Any) -> Any:
    return -g * (n > 0) * scipy.special.eval_genlaguerre(n - 1, 1, x)


@elementwise(
    scipy.special.eval_genlaguerre,
    wrt=["x"],
    samples=[(3, 0.5, 0.4), (2, 1.5, np.array([0.3, -0.7])), (1, 0.5, 0.4)],
)
def eval_genlaguerre(g: Any, out: Any, n: Any, alpha: Any, x: Any) -> Any:
    return -g * scipy.special.eval_genlaguerre(n - 1, alpha + 1, x)


@elementwise(
    scipy.special.eval_gegenbauer,
    wrt=["x"],
    samples=[(3, 0.5, 0.4), (2, 1.5, np.array([0.3, -0.7])), (1, 0.5, 0.4)],
)
def eval_gegenbauer(g: Any, out: Any, n: Any, alpha: Any, x: Any) -> Any:
    return g * 2 * alpha * scipy.special.eval_gegenbauer(n - 1, alpha + 1, x)


@elementwise(
    scipy.special.eval_jacobi, wrt=["x"], samples=[(3, 0.5, 1.5, 0.4), (2, 1.5, 0.5, np.array([0.3, -0.7]))]
)
def eval_jacobi(g: Any, out: Any, n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    return g * (n + alpha + beta + 1) / 2 * scipy.special.eval_jacobi(n - 1, alpha + 1, beta + 1, x)


# -- several results -----------------------------------------------------------------------------------


@vjp(scipy.special.airy, samples=[*_SIGNED, *_COMPLEX])
def airy(g: Any, out: Any, z: Any) -> Any:
    return weighted_parts(g, airy_slopes(z, out))


@airy.jvp
def airy_jvp(z_dot: Any, out: Any, z: Any) -> Any:
    return times_each(z_dot, airy_slopes(z, out))


@vjp(scipy.special.fresnel, samples=[*_SIGNED, *_COMPLEX])
def fresnel(g: Any, out: Any, z: Any) -> Any:
    return weighted_parts(g, fresnel_slopes(z))


@fresnel.jvp
def fresnel_jvp(z_dot: Any, out: Any, z: Any) -> Any:
    return times_each(z_dot, fresnel_slopes(z))


@vjp(scipy.special.sici, samples=[*_PLUS, *_COMPLEX])
def sici(g: Any, out: Any, x: Any) -> Any:
    return weighted_parts(g, sici_slopes(x))


@sici.jvp
def sici_jvp(x_dot: Any, out: Any, x: Any) -> Any:
    return times_each(x_dot, sici_slopes(x))


@vjp(scipy.special.shichi, samples=[*_PLUS, *_COMPLEX])
def shichi(g: Any, out: Any, x: Any) -> Any:
    return weighted_parts(g, shichi_slopes(x))


@shichi.jvp
def shichi_jvp(x_dot: Any, out: Any, x: Any) -> Any:
    return times_each(x_dot, shichi_slopes(x))


# -- over axes -----------------------------------------------------------------------------------------

_AXES = [
    lambda: (real(2, 3),),
    lambda: (real(2, 3), 0),
    lambda: (complex_(2, 3), 1),
    lambda: (real(2, 3, 2), (0, 2)),
]


@vjp(
    scipy.special.logsumexp,
    wrt=["a", "b"],
    only={"return_sign": (False,)},
    samples=[
        *_AXES,
        lambda: (real(2, 3), 1, np.array([1.5, 0.5, 2.0]), True),
        lambda: (real(3), None, np.array([0.0, 0.5, 2.0])),
        lambda: (np.array([-np.inf, 0.5, 0.5]),),
    ],
)
def logsumexp(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    return (
        over_axes(g, axis, keepdims) * logsumexp_weights(out, a, axis, keepdims) * one_if_none(b),
        unbroadcast(over_axes(g, axis, keepdims) * logsumexp_weights(out, a, axis, keepdims), b),
    )


@logsumexp.jvp
def logsumexp_jvp(
    a_dot: Any,
    b_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    weights = logsumexp_weights(out, a, axis, keepdims)
    return (
        np.sum(a_dot * weights * one_if_none(b), axis=axis, keepdims=keepdims),
        np.sum(b_dot * weights, axis=axis, keepdims=keepdims),
    )


@vjp(scipy.special.softmax, samples=_AXES)
def softmax(g: Any, out: Any, x: Any, axis: Any = None) -> Any:
    return out * (g - np.sum(g * out, axis=axis, keepdims=True))


@softmax.jvp
def softmax_jvp(x_dot: Any, out: Any, x: Any, axis: Any = None) -> Any:
    return out * (x_dot - np.sum(x_dot * out, axis=axis, keepdims=True))


@vjp(scipy.special.log_softmax, samples=[_AXES[0], _AXES[1], _AXES[3]])
def log_softmax(g: Any, out: Any, x: Any, axis: Any = None) -> Any:
    return g - np.exp(out) * np.sum(g, axis=axis, keepdims=True)


@log_softmax.jvp
def log_softmax_jvp(x_dot: Any, out: Any, x: Any, axis: Any = None) -> Any:
    return x_dot - np.sum(x_dot * np.exp(out), axis=axis, keepdims=True)


# -- scaled, shifted and differentiated relatives ----------------------------------------------------


@elementwise(scipy.special.hankel1e, wrt=["z"], samples=_ORDERS)
def hankel1e(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * ((scipy.special.hankel1e(v - 1, z) - scipy.special.hankel1e(v + 1, z)) / 2 - 1j * out)


@elementwise(scipy.special.hankel2e, wrt=["z"], samples=_ORDERS)
def hankel2e(g: Any, out: Any, v: Any, z: Any) -> Any:
    return g * ((scipy.special.hankel2e(v - 1, z) - scipy.special.hankel2e(v + 1, z)) / 2 + 1j * out)


@elementwise(scipy.special.fdtr, wrt=["x"], samples=_F)
def fdtr(g: Any, out: Any, dfn: Any, dfd: Any, x: Any) -> Any:
    return g * fisher_density(dfn, dfd, x)


@elementwise(scipy.special.fdtrc, wrt=["x"], samples=_F)
def fdtrc(g: Any, out: Any, dfn: Any, dfd: Any, x: Any) -> Any:
    return -g * fisher_density(dfn, dfd, x)


@elementwise(scipy.special.nbdtr, wrt=["p"], samples=[(2, 3, 0.4), (1, 4, np.array([0.3, 0.8]))])
def nbdtr(g: Any, out: Any, k: Any, n: Any, p: Any) -> Any:
    return g * beta_density(n, np.floor(k) + 1, p)


@elementwise(scipy.special.nbdtrc, wrt=["p"], samples=[(2, 3, 0.4), (1, 4, np.array([0.3, 0.8]))])
def nbdtrc(g: Any, out: Any, k: Any, n: Any, p: Any) -> Any:
    return -g * beta_density(n, np.floor(k) + 1, p)


@elementwise(
    scipy.special.voigt_profile,
    samples=[(0.4, 0.8, 0.3), (np.array([-0.4, 1.3]), 0.7, np.array([[0.2], [0.5]])), (0.0, 0.8, 0.3)],
)
def voigt_profile(g: Any, out: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    z = (x + 1j * gamma) / (sigma * _ROOT_2)
    slope = g * (_2I_OVER_ROOT_PI - 2 * z * scipy.special.wofz(z)) / (2 * sigma * sigma * _ROOT_PI)
    return np.real(slope), -np.real(slope * z) * _ROOT_2 - g * out / sigma, -np.imag(slope)


@elementwise(scipy.special.eval_sh_legendre, wrt=["x"], samples=_DEGREES)
def eval_sh_legendre(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * (n > 0) * (n + 1) * scipy.special.eval_jacobi(n - 1, 1, 1, 2 * x - 1)


@elementwise(scipy.special.eval_sh_chebyt, wrt=["x"], samples=_DEGREES)
def eval_sh_chebyt(g: Any, out: Any, n: Any, x: Any) -> Any:
    return 2 * g * n * scipy.special.eval_chebyu(n - 1, 2 * x - 1)


@elementwise(scipy.special.eval_chebyc, wrt=["x"], samples=_DEGREES)
def eval_chebyc(g: Any, out: Any, n: Any, x: Any) -> Any:
    return g * n * scipy.special.eval_chebyu(n - 1, x / 2)


@elementwise(scipy.special.jvp, wrt=["z"], samples=[*_ORDERS, (1.5, 0.7, 2)])
def jvp(g: Any, out: Any, v: Any, z: Any, n: int = 1) -> Any:
    return g * scipy.special.jvp(v, z, n + 1)


@elementwise(scipy.special.yvp, wrt=["z"], samples=[*_ORDERS, (1.5, 0.7, 2)])
def yvp(g: Any, out: Any, v: Any, z: Any, n: int = 1) -> Any:
    return g * scipy.special.yvp(v, z, n + 1)


@elementwise(scipy.special.ivp, wrt=["z"], samples=[*_ORDERS, (1.5, 0.7, 2)])
def ivp(g: Any, out: Any, v: Any, z: Any, n: int = 1) -> Any:
    return g * scipy.special.ivp(v, z, n + 1)


@elementwise(scipy.special.kvp, wrt=["z"], samples=[*_ORDERS, (1.5, 0.7, 2)])
def kvp(g: Any, out: Any, v: Any, z: Any, n: int = 1) -> Any:
    return g * scipy.special.kvp(v, z, n + 1)


@vjp(scipy.special.ellipj, wrt=["u"], samples=[(0.7, 0.4), (np.array([0.3, -0.9]), np.array([0.2, 0.8]))])
def ellipj(g: Any, out: Any, u: Any, m: Any) -> Any:
    return unbroadcast(weighted_parts(g, jacobi_slopes(out, m)), u)


@ellipj.jvp
def ellipj_jvp(u_dot: Any, out: Any, u: Any, m: Any) -> Any:
    return times_each(u_dot, jacobi_slopes(out, m))


nondifferentiable(scipy.special.gammasgn, scipy.special.round)
