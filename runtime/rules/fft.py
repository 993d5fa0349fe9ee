"""Fourier transforms. All are linear; the adjoint of one is its mirror image with the norm on the other side.

In: `g` and the lengths, axes and norm of the transform. Out: the transform back, cut or filled to the shape
of the operand.

    @linear(np.fft.fft, holomorphic=False)
    def fft(g, out, a, n=None, axis=-1, norm=None):
        return fft_adjoint(g, a, n, axis, norm)

These are the Hermitian adjoints themselves, so nothing is conjugated around them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import linear
from ..support_signal import (
    fft_adjoint,
    fftn_adjoint,
    ifft_adjoint,
    ifftn_adjoint,
    irfft_adjoint,
    irfftn_adjoint,
    mirrored,
    rfft_adjoint,
    rfftn_adjoint,
)
from .sampling import complex_, real

_NORMS = ("backward", "ortho", "forward")

_ONE = [
    lambda: (complex_(4),),
    lambda: (real(5),),
    lambda: (complex_(2, 5), 3),
    lambda: (complex_(3, 2), 5, 0),
    *[lambda norm=norm: (complex_(2, 3), None, -1, norm) for norm in _NORMS],
]
_SEVERAL = [
    lambda: (complex_(2, 3),),
    lambda: (real(3, 4), (2, 5), (0, 1)),
    lambda: (complex_(2, 3, 4), (3, 3), (0, 2)),
    lambda: (complex_(2, 3), None, (1, 0)),
    *[lambda norm=norm: (complex_(2, 3), None, (0, 1), norm) for norm in _NORMS],
]


@linear(np.fft.fft, holomorphic=False, samples=_ONE)
def fft(g: Any, out: Any, a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return fft_adjoint(g, a, n, axis, norm)


@linear(np.fft.ifft, holomorphic=False, samples=_ONE)
def ifft(g: Any, out: Any, a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return ifft_adjoint(g, a, n, axis, norm)


@linear(np.fft.fftn, holomorphic=False, samples=_SEVERAL)
def fftn(g: Any, out: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return fftn_adjoint(g, a, s, axes, norm)


@linear(np.fft.ifftn, holomorphic=False, samples=_SEVERAL)
def ifftn(g: Any, out: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return ifftn_adjoint(g, a, s, axes, norm)


@linear(np.fft.fft2, holomorphic=False, samples=_SEVERAL)
def fft2(g: Any, out: Any, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return fftn_adjoint(g, a, s, axes, norm)


@linear(np.fft.ifft2, holomorphic=False, samples=_SEVERAL)
def ifft2(g: Any, out: Any, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return ifftn_adjoint(g, a, s, axes, norm)


# -- real and Hermitian kinds --------------------------------------------------------------------------

_REAL_ONE = [
    lambda: (real(4),),
    lambda: (real(5),),
    lambda: (real(2, 5), 3),
    lambda: (real(2, 5), 8),
    lambda: (real(3, 2), 4, 0),
    *[lambda norm=norm: (real(2, 3), None, -1, norm) for norm in _NORMS],
]
_HALF_ONE = [
    lambda: (complex_(3),),
    lambda: (complex_(3), 5),
    lambda: (complex_(2, 5), 4),
    lambda: (real(3), 8),
    lambda: (complex_(3, 2), 4, 0),
    *[lambda norm=norm: (complex_(2, 3), None, -1, norm) for norm in _NORMS],
]
_REAL_SEVERAL = [
    lambda: (real(2, 3),),
    lambda: (real(3, 4), (2, 5), (0, 1)),
    lambda: (real(2, 3, 4), (3, 3), (0, 2)),
    lambda: (real(4, 3), None, (1, 0)),
    *[lambda norm=norm: (real(2, 3), None, (0, 1), norm) for norm in _NORMS],
]
_HALF_SEVERAL = [
    lambda: (complex_(2, 3),),
    lambda: (complex_(3, 4), (2, 5), (0, 1)),
    lambda: (complex_(2, 3, 4), (3, 3), (0, 2)),
    lambda: (complex_(3, 2), None, (1, 0)),
    *[lambda norm=norm: (complex_(2, 3), None, (0, 1), norm) for norm in _NORMS],
]


@linear(np.fft.rfft, holomorphic=False, samples=_REAL_ONE)
def rfft(g: Any, out: Any, a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return rfft_adjoint(g, a, n, axis, norm)


@linear(np.fft.irfft, holomorphic=False, samples=_HALF_ONE)
def irfft(g: Any, out: Any, a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return irfft_adjoint(g, a, axis, norm)


@linear(np.fft.hfft, holomorphic=False, samples=_HALF_ONE)
def hfft(g: Any, out: Any, a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return np.conj(irfft_adjoint(g, a, axis, mirrored(norm)))


@linear(np.fft.ihfft, holomorphic=False, samples=_REAL_ONE)
def ihfft(g: Any, out: Any, a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return rfft_adjoint(np.conj(g), a, n, axis, mirrored(norm))


@linear(np.fft.rfftn, holomorphic=False, samples=_REAL_SEVERAL)
def rfftn(g: Any, out: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return rfftn_adjoint(g, a, s, axes, norm)


@linear(np.fft.irfftn, holomorphic=False, samples=_HALF_SEVERAL)
def irfftn(g: Any, out: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return irfftn_adjoint(g, a, s, axes, norm)


@linear(np.fft.rfft2, holomorphic=False, samples=_REAL_SEVERAL)
def rfft2(g: Any, out: Any, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return rfftn_adjoint(g, a, s, axes, norm)


@linear(np.fft.irfft2, holomorphic=False, samples=_HALF_SEVERAL)
def irfft2(g: Any, out: Any, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return irfftn_adjoint(g, a, s, axes, norm)


# -- order of frequencies ------------------------------------------------------------------------------


@linear(
    np.fft.fftshift, samples=[lambda: (real(5),), lambda: (complex_(2, 3), 1), lambda: (real(2, 3), (0, 1))]
)
def fftshift(g: Any, out: Any, x: Any, axes: Any = None) -> Any:
    return np.fft.ifftshift(g, axes)


@linear(
    np.fft.ifftshift, samples=[lambda: (real(5),), lambda: (complex_(2, 3), 1), lambda: (real(2, 3), (0, 1))]
)
def ifftshift(g: Any, out: Any, x: Any, axes: Any = None) -> Any:
    return np.fft.fftshift(g, axes)
