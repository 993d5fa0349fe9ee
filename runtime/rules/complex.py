"""Rules for what treats the two parts of a complex number separately.

In: `g` (real where the result is real) and a real or complex operand. Out: the adjoint by the one
convention of this package: of a real loss L at z = x + iy it is dL/dx + i dL/dy, the direction of steepest
ascent. These bodies state that directly (`holomorphic=False`), so nothing is conjugated around them.

    abs at 3+4j has the adjoint 0.6+0.8j
"""

from __future__ import annotations

import cmath
import operator
from typing import Any

import numpy as np

from ..rule import linear, vjp
from ..support import (
    angle_adjoint,
    angle_tangent,
    imag_adjoint,
    real_part_like,
    real_product,
    sign_adjoint,
)

_REAL_VECTOR = np.array([0.3, -0.9, 0.6])
_COMPLEX = np.array([0.3 + 0.4j, -0.9 + 0.2j, 0.6 - 0.7j])
_SAMPLES = [(0.7,), (-0.7,), (_REAL_VECTOR,), (_COMPLEX,), (3 + 4j,), (np.array(0.5 - 0.2j),)]


@vjp(np.absolute, operator.abs, abs, holomorphic=False, samples=_SAMPLES)
def absolute(g: Any, out: Any, x: Any) -> Any:
    return g * np.sign(x)


@absolute.jvp
def _(x_dot: Any, out: Any, x: Any) -> Any:
    return real_product(np.sign(x), x_dot)


@vjp(np.sign, holomorphic=False, samples=_SAMPLES)
def sign(g: Any, out: Any, x: Any) -> Any:
    return sign_adjoint(g, out, x)


@sign.jvp
def _(x_dot: Any, out: Any, x: Any) -> Any:
    return sign_adjoint(x_dot, out, x)  # the derivative of z / |z| is its own transpose


@linear(np.real, holomorphic=False, view=True, samples=_SAMPLES)
def real(g: Any, out: Any, val: Any) -> Any:
    return g


@linear(np.imag, holomorphic=False, view=True, samples=_SAMPLES)
def imag(g: Any, out: Any, val: Any) -> Any:
    return imag_adjoint(g, val)


@linear(np.conjugate, holomorphic=False, samples=_SAMPLES)
def conjugate(g: Any, out: Any, x: Any) -> Any:
    return np.conj(g)


@vjp(np.angle, holomorphic=False, safe=1.0, samples=[*_SAMPLES, (_COMPLEX, True)])
def angle(g: Any, out: Any, z: Any, deg: Any = False) -> Any:
    return angle_adjoint(g, z, deg)


@angle.jvp
def _(z_dot: Any, out: Any, z: Any, deg: Any = False) -> Any:
    return angle_tangent(z_dot, z, deg)


@vjp(cmath.phase, holomorphic=False, safe=1.0, samples=[(3 + 4j,)])
def phase(g: Any, out: Any, z: Any) -> Any:
    return angle_adjoint(g, z, False)


@phase.jvp
def _(z_dot: Any, out: Any, z: Any) -> Any:
    return angle_tangent(z_dot, z, False)


@vjp(np.real_if_close, holomorphic=False, samples=[(_REAL_VECTOR,), (_COMPLEX,)])
def real_if_close(g: Any, out: Any, a: Any, tol: Any = 100) -> Any:
    return g


@real_if_close.jvp
def _(a_dot: Any, out: Any, a: Any, tol: Any = 100) -> Any:
    return real_part_like(a_dot, out)
