"""Covariances, correlations, and counts with weights.

In: `g`, of the shape of the result. Out: adjoints of the observations or of the weights. Which bin an
observation falls into is a step, and the edges of the bins are data: only the weights of a histogram are
differentiable here.

    np.cov(m) is X @ X.T / (n - 1), where X is m less the mean of each row
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import vjp
from ..support_statistics import (
    by_dimension,
    corrcoef_adjoint,
    corrcoef_tangent,
    cov_adjoint,
    cov_tangent,
    histogram_tangent,
    histogram_weights_adjoint,
)

_M = np.array([[0.3, 0.9, -0.6, 1.1], [1.2, -0.1, 2.5, 0.4], [0.2, 0.8, -1.4, 0.5]])
_C = _M + 1j * np.array([[0.7, -0.3, 0.1, 0.5], [0.2, 1.3, -0.4, 0.6], [-0.9, 0.1, 0.3, 0.8]])
_V = np.array([0.3, -0.9, 0.6, 1.7])
_COUNTS = np.array([1, 2, 1, 3])


@vjp(
    np.cov,
    wrt=["m", "y"],
    holomorphic=False,
    samples=[
        (_M,),
        (_V,),
        (_V, _V * _V),
        (_M, _V),
        (_M, {"rowvar": False}),
        (_M, {"bias": True}),
        (_M, {"ddof": 0}),
        (_M, {"aweights": np.array([0.5, 2.0, 1.0, 0.3])}),
        (_M, {"fweights": _COUNTS}),
        (_M, _V, {"aweights": np.array([0.5, 2.0, 1.0, 0.3]), "fweights": _COUNTS}),
        (_C,),
    ],
)
def cov(
    g: Any,
    out: Any,
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    bars = cov_adjoint(g, m, y, rowvar, bias, ddof, fweights, aweights)
    return bars[0], bars[1]


@cov.jvp
def _(
    m_dot: Any,
    y_dot: Any,
    out: Any,
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    return (
        cov_tangent(m_dot, None, m, y, rowvar, bias, ddof, fweights, aweights),
        cov_tangent(None, y_dot, m, y, rowvar, bias, ddof, fweights, aweights),
    )


@vjp(
    np.corrcoef,
    holomorphic=False,
    samples=[(_M,), (_V, _V * _V), (_M, _V), (_M[:2], {"rowvar": False}), (_C,)],
)
def corrcoef(g: Any, out: Any, x: Any, y: Any = None, rowvar: Any = True) -> Any:
    bars = corrcoef_adjoint(g, out, x, y, rowvar)
    return bars[0], bars[1]


@corrcoef.jvp
def _(x_dot: Any, y_dot: Any, out: Any, x: Any, y: Any = None, rowvar: Any = True) -> Any:
    return corrcoef_tangent(x_dot, None, out, x, y, rowvar), corrcoef_tangent(None, y_dot, out, x, y, rowvar)


@vjp(np.bincount, wrt=["weights"], samples=[(np.array([0, 2, 2, 5]), _V), (np.array([1, 0, 1, 1]), _V, 4)])
def bincount(g: Any, out: Any, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    return g[x]


@bincount.jvp
def _(weights_dot: Any, out: Any, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    return np.bincount(x, weights_dot, minlength)


_DATA = np.array([0.3, 0.95, 0.1, 1.7])
_W = np.array([0.5, 2.0, 1.0, 0.3])


@vjp(
    np.histogram,
    wrt=["weights"],
    samples=[
        (_DATA, 3, {"weights": _W}),
        (_DATA, 3, (0.2, 1.5), {"weights": _W}),
        (_DATA, np.array([0.0, 0.2, 1.0, 1.7]), {"weights": _W, "density": True}),
    ],
)
def histogram(
    g: Any, out: Any, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    return histogram_weights_adjoint(g[0], out[0], [out[1]], [a], weights, density)


@histogram.jvp
def _(
    weights_dot: Any,
    out: Any,
    a: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    hist = histogram_tangent(weights_dot, out[0], [out[1]], [a], weights, density)
    return ((hist, np.zeros_like(out[1])),)


_OTHER = np.array([1.2, 0.3, 0.4, 2.0])


@vjp(
    np.histogram2d,
    wrt=["weights"],
    samples=[(_DATA, _OTHER, 3, {"weights": _W}), (_DATA, _OTHER, (2, 3), {"weights": _W, "density": True})],
)
def histogram2d(
    g: Any,
    out: Any,
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    return histogram_weights_adjoint(g[0], out[0], out[1:], [x, y], weights, density)


@histogram2d.jvp
def _(
    weights_dot: Any,
    out: Any,
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    hist = histogram_tangent(weights_dot, out[0], out[1:], [x, y], weights, density)
    return ((hist, np.zeros_like(out[1]), np.zeros_like(out[2])),)


@vjp(
    np.histogramdd,
    wrt=["weights"],
    samples=[
        (np.stack([_DATA, _OTHER], 1), 3, {"weights": _W}),
        (np.stack([_DATA, _OTHER, _W], 1), (2, 3, 2), {"weights": _W, "density": True}),
        ((_DATA, _OTHER), 2, {"weights": _W}),
        (_DATA, 2, {"weights": _W}),
    ],
)
def histogramdd(
    g: Any, out: Any, sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    return histogram_weights_adjoint(g[0], out[0], out[1], by_dimension(sample), weights, density)


@histogramdd.jvp
def _(
    weights_dot: Any,
    out: Any,
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    hist = histogram_tangent(weights_dot, out[0], out[1], by_dimension(sample), weights, density)
    return ((hist, type(out[1])([np.zeros_like(edges) for edges in out[1]])),)
