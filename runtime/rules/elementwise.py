"""Elementwise rules: linear in `g`, so the same line serves adjoint and tangent.

In: `g`, `out` and the operands. Out: one expression per operand, of the broadcast shape; the driver sums
out what was broadcast, conjugates, and keeps structural zeros zero.

    @elementwise(np.sin)
    def sin(g, out, x):
        return g * np.cos(x)

What depends on the real and imaginary parts separately (`abs`, `sign`, `angle`) is in `complex.py`; what
picks one of its operands (`maximum`, `where`, `clip`) is in `choosing.py`.
"""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np

from ..rule import elementwise, vjp
from ..support import (
    bessel_i1,
    digamma,
    divmod_adjoint,
    divmod_tangent,
    exponent_adjoint,
    log_scale,
    not_minus_inf,
    nothing,
    power_adjoint,
    ratio_or_zero,
    sinc_slope,
    unbroadcast,
)

_VECTOR = np.array([0.3, 0.9, 0.6])
_COMPLEX = np.array([0.3 + 0.4j, -0.9 + 0.2j, 0.6 - 0.7j])
_COLUMN, _ROW = np.array([[0.7], [1.3]]), np.array([[0.4, 1.9, 2.2]])
_REAL = [(0.7,), (_VECTOR,), (np.array(0.4),), (np.array([[0.2], [0.8]]),), (np.zeros((0, 2)),)]
_UNARY = [*_REAL, (_COMPLEX,), (0.3 + 0.4j,)]
_ABOVE_ONE = [(1.7,), (np.array([1.3, 2.9, 4.6]),)]
_BINARY_REAL: list[tuple[Any, ...]] = [
    (1.5, 0.7),
    (1.5, np.array([1.0, 2.0])),
    (_ROW, 0.8),
    (_COLUMN, _ROW),
    (np.array([1.1, 0.3, 0.9]), np.array(0.4)),
    (_VECTOR, np.array([[1.2, 0.1, 2.5], [0.6, 1.4, 0.3]])),
]
_REMAINDERS = [*_BINARY_REAL[:-1], (-1.5, 0.7), (5.3, -0.9), (np.array([5.3, -2.2]), -0.9)]
_BINARY = [*_BINARY_REAL, (_COMPLEX, _VECTOR), (_COMPLEX, 0.5 + 2.0j)]

# -- arithmetic ----------------------------------------------------------------------------------------


@elementwise(np.add, operator.add, samples=_BINARY)
def add(g: Any, out: Any, x: Any, y: Any) -> Any:
    return g, g


@elementwise(np.subtract, operator.sub, samples=_BINARY)
def subtract(g: Any, out: Any, x: Any, y: Any) -> Any:
    return g, -g


@elementwise(np.multiply, operator.mul, samples=_BINARY)
def multiply(g: Any, out: Any, x: Any, y: Any) -> Any:
    return g * y, g * x


@elementwise(np.divide, operator.truediv, safe=1.0, samples=_BINARY)
def divide(g: Any, out: Any, x: Any, y: Any) -> Any:
    return g / y, -g * out / y


@elementwise(np.negative, operator.neg, samples=_UNARY)
def negative(g: Any, out: Any, x: Any) -> Any:
    return -g


@elementwise(np.positive, operator.pos, samples=_UNARY)
def positive(g: Any, out: Any, x: Any) -> Any:
    return g


@elementwise(
    np.power,
    operator.pow,
    pow,
    np.float_power,
    math.pow,
    safe=1.0,
    samples=[*_BINARY, (_VECTOR, 2), (_VECTOR, 3), (0.7, -1), (0.7, 1), (_COMPLEX, 3), (2.0, _VECTOR)],
)
def power(g: Any, out: Any, x: Any, y: Any) -> Any:
    return power_adjoint(g, x, y), exponent_adjoint(g, out, x)


@elementwise(np.remainder, operator.mod, safe=1.0, samples=_REMAINDERS)
def remainder(g: Any, out: Any, x: Any, y: Any) -> Any:
    return g, -g * (x // y)


@elementwise(np.fmod, math.fmod, math.remainder, safe=1.0, samples=_REMAINDERS)
def fmod(g: Any, out: Any, x: Any, y: Any) -> Any:
    return g, -g * np.rint((x - out) / y)


@vjp(np.divmod, divmod, samples=[(5.3, 0.9), (np.array([5.3, -2.2]), 0.9), (_COLUMN, np.array([[0.4, 0.9]]))])
def divmod_(g: Any, out: Any, x: Any, y: Any) -> Any:
    r = divmod_adjoint(g)
    return unbroadcast(r, x), unbroadcast(-r * out[0], y)


@divmod_.jvp
def _(x_dot: Any, y_dot: Any, out: Any, x: Any, y: Any) -> Any:
    return divmod_tangent(x_dot, out), divmod_tangent(-y_dot * out[0], out)


@elementwise(np.square, samples=_UNARY)
def square(g: Any, out: Any, x: Any) -> Any:
    return 2 * g * x


@elementwise(np.reciprocal, safe=1.0, samples=_UNARY)
def reciprocal(g: Any, out: Any, x: Any) -> Any:
    return -g * out * out


@elementwise(np.sqrt, math.sqrt, cmath.sqrt, safe=1.0, samples=_UNARY)
def sqrt(g: Any, out: Any, x: Any) -> Any:
    return g / (2 * out)


@elementwise(np.cbrt, *([math.cbrt] if hasattr(math, "cbrt") else []), safe=1.0, samples=[*_REAL, (-0.4,)])
def cbrt(g: Any, out: Any, x: Any) -> Any:
    return g / (3 * out * out)


@elementwise(np.hypot, samples=_BINARY_REAL)
def hypot(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return g * ratio_or_zero(x1, out), g * ratio_or_zero(x2, out)


# -- exponentials and logarithms -----------------------------------------------------------------------


@elementwise(np.exp, math.exp, cmath.exp, safe=1.0, samples=_UNARY)
def exp(g: Any, out: Any, x: Any) -> Any:
    return g * out


@elementwise(np.exp2, *([math.exp2] if hasattr(math, "exp2") else []), safe=1.0, samples=_UNARY)
def exp2(g: Any, out: Any, x: Any) -> Any:
    return g * out * np.log(2)


@elementwise(np.expm1, math.expm1, safe=1.0, samples=_UNARY)
def expm1(g: Any, out: Any, x: Any) -> Any:
    return g * (out + 1)


@elementwise(np.log, safe=1.0, samples=_UNARY)
def log(g: Any, out: Any, x: Any) -> Any:
    return g / x


@elementwise(np.log2, math.log2, safe=1.0, samples=_UNARY)
def log2(g: Any, out: Any, x: Any) -> Any:
    return g / (x * np.log(2))


@elementwise(np.log10, math.log10, cmath.log10, safe=1.0, samples=_UNARY)
def log10(g: Any, out: Any, x: Any) -> Any:
    return g / (x * np.log(10))


@elementwise(np.log1p, math.log1p, safe=1.0, samples=_UNARY)
def log1p(g: Any, out: Any, x: Any) -> Any:
    return g / (1 + x)


@elementwise(math.log, cmath.log, safe=2.0, samples=[(0.7,), (0.7, 3.0), (2.5, 0.6)])
def log_to_base(g: Any, out: Any, x: Any, base: Any = None) -> Any:
    return g / log_scale(x, base), -g * out / (base * np.log(base))


@elementwise(np.logaddexp, samples=_BINARY_REAL)
def logaddexp(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    top = not_minus_inf(out)
    return g * np.exp(x1 - top), g * np.exp(x2 - top)


@elementwise(np.logaddexp2, samples=_BINARY_REAL)
def logaddexp2(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    top = not_minus_inf(out)
    return g * np.exp2(x1 - top), g * np.exp2(x2 - top)


# -- trigonometry --------------------------------------------------------------------------------------


@elementwise(np.sin, math.sin, cmath.sin, samples=_UNARY)
def sin(g: Any, out: Any, x: Any) -> Any:
    return g * np.cos(x)


@elementwise(np.cos, math.cos, cmath.cos, samples=_UNARY)
def cos(g: Any, out: Any, x: Any) -> Any:
    return -g * np.sin(x)


@elementwise(np.tan, math.tan, cmath.tan, samples=_UNARY)
def tan(g: Any, out: Any, x: Any) -> Any:
    return g * (1 + out * out)


@elementwise(np.arcsin, math.asin, cmath.asin, safe=0.0, samples=_UNARY)
def arcsin(g: Any, out: Any, x: Any) -> Any:
    return g / np.sqrt((1 - x) * (1 + x))


@elementwise(np.arccos, math.acos, cmath.acos, safe=0.0, samples=_UNARY)
def arccos(g: Any, out: Any, x: Any) -> Any:
    return -g / np.sqrt((1 - x) * (1 + x))


@elementwise(np.arctan, math.atan, cmath.atan, safe=0.0, samples=_UNARY)
def arctan(g: Any, out: Any, x: Any) -> Any:
    return g / (1 + x * x)


@elementwise(np.arctan2, math.atan2, safe=1.0, samples=_BINARY_REAL)
def arctan2(g: Any, out: Any, y: Any, x: Any) -> Any:
    s = g / (x * x + y * y)
    return s * x, -s * y


@elementwise(np.sinh, math.sinh, cmath.sinh, safe=1.0, samples=_UNARY)
def sinh(g: Any, out: Any, x: Any) -> Any:
    return g * np.cosh(x)


@elementwise(np.cosh, math.cosh, cmath.cosh, safe=1.0, samples=_UNARY)
def cosh(g: Any, out: Any, x: Any) -> Any:
    return g * np.sinh(x)


@elementwise(np.tanh, math.tanh, cmath.tanh, samples=_UNARY)
def tanh(g: Any, out: Any, x: Any) -> Any:
    return g * (1 - out * out)


@elementwise(np.arcsinh, math.asinh, cmath.asinh, safe=1.0, samples=_UNARY)
def arcsinh(g: Any, out: Any, x: Any) -> Any:
    return g / np.sqrt(x * x + 1)


@elementwise(np.arccosh, math.acosh, cmath.acosh, safe=2.0, samples=[*_ABOVE_ONE, (_COMPLEX,)])
def arccosh(g: Any, out: Any, x: Any) -> Any:
    return g / (np.sqrt(x - 1) * np.sqrt(x + 1))  # one root of x * x - 1 has the wrong sign left of 0


@elementwise(np.arctanh, math.atanh, cmath.atanh, safe=0.0, samples=_UNARY)
def arctanh(g: Any, out: Any, x: Any) -> Any:
    return g / ((1 - x) * (1 + x))


@elementwise(np.degrees, np.rad2deg, math.degrees, samples=_REAL)
def degrees(g: Any, out: Any, x: Any) -> Any:
    return np.degrees(g)


@elementwise(np.radians, np.deg2rad, math.radians, samples=_REAL)
def radians(g: Any, out: Any, x: Any) -> Any:
    return np.radians(g)


@elementwise(np.sinc, samples=[*_REAL, (np.array([0.0, 1e-3, 0.02, 0.04, -2.5]),)])
def sinc(g: Any, out: Any, x: Any) -> Any:
    return g * sinc_slope(x)


# -- signs, parts of a number, rounding that leaves a slope --------------------------------------------


@elementwise(np.fabs, math.fabs, samples=[*_REAL, (-0.7,)])
def fabs(g: Any, out: Any, x: Any) -> Any:
    return g * np.sign(x)


@elementwise(np.copysign, math.copysign, samples=[*_BINARY_REAL, (-1.5, 0.3), (np.array([1.5, -0.5]), -2.0)])
def copysign(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return g * np.sign(x1) * np.copysign(1.0, x2), nothing(g)


@elementwise(np.heaviside, samples=[*_BINARY_REAL, (np.array([-1.5, 2.0]), 0.5)])
def heaviside(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return nothing(g), g * (x1 == 0)


@elementwise(np.nextafter, *([math.nextafter] if hasattr(math, "nextafter") else []), samples=_BINARY_REAL)
def nextafter(g: Any, out: Any, x1: Any, x2: Any) -> Any:
    return g, nothing(g)


@elementwise(
    np.ldexp,
    math.ldexp,
    wrt=["x"],
    samples=[(0.7, 3), (_VECTOR, np.array([1, -2, 0])), (0.7, np.array([1, 2]))],
)
def ldexp(g: Any, out: Any, x: Any, i: Any) -> Any:
    return np.ldexp(g, i)


@vjp(np.frexp, math.frexp, samples=[(5.3,), (np.array([5.3, -0.2, 0.7]),)])
def frexp(g: Any, out: Any, x: Any) -> Any:
    return np.ldexp(g[0], -out[1])


@frexp.jvp
def _(x_dot: Any, out: Any, x: Any) -> Any:
    return ((np.ldexp(x_dot, -out[1]), np.zeros_like(x_dot)),)


@vjp(np.modf, math.modf, samples=[(5.3,), (np.array([5.3, -2.2, 0.7]),)])
def modf(g: Any, out: Any, x: Any) -> Any:
    return g[0]


@modf.jvp
def _(x_dot: Any, out: Any, x: Any) -> Any:
    return ((x_dot, np.zeros_like(x_dot)),)


@elementwise(np.nan_to_num, samples=[*_REAL, (np.array([1.0, np.nan, np.inf]),)])
def nan_to_num(
    g: Any, out: Any, x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    return g * np.isfinite(x)


# -- special functions that NumPy and `math` have ------------------------------------------------------


@elementwise(np.i0, safe=1.0, samples=[*_REAL, (np.array([-3.0, 0.0, 1e-6, 20.0]),)])
def i0(g: Any, out: Any, x: Any) -> Any:
    return g * bessel_i1(x)


@elementwise(math.erf, samples=[(0.7,), (-1.3,)])
def erf(g: Any, out: Any, x: Any) -> Any:
    return g * (2 / np.sqrt(np.pi)) * np.exp(-x * x)


@elementwise(math.erfc, samples=[(0.7,), (-1.3,)])
def erfc(g: Any, out: Any, x: Any) -> Any:
    return -g * (2 / np.sqrt(np.pi)) * np.exp(-x * x)


@elementwise(math.gamma, safe=1.0, samples=[(0.7,), (4.3,), (-1.3,)])
def gamma(g: Any, out: Any, x: Any) -> Any:
    return g * out * digamma(x)


@elementwise(math.lgamma, safe=1.0, samples=[(0.7,), (4.3,), (-1.3,), (25.0,)])
def lgamma(g: Any, out: Any, x: Any) -> Any:
    return g * digamma(x)


# -- conversions of one number -------------------------------------------------------------------------


@elementwise(float, np.float64, samples=[(0.7,), (np.array(0.7),)])
def float_(g: Any, out: Any, x: Any) -> Any:
    return g


@elementwise(np.complex128, np.complex64, np.float32, np.float16, np.longdouble, samples=[(0.75,)])
def numpy_number(g: Any, out: Any, x: Any) -> Any:
    return g


@elementwise(complex, samples=[(0.7, 0.3), (0.7,)])
def complex_(g: Any, out: Any, real: Any, imag: Any = 0.0) -> Any:
    return g, 1j * g
