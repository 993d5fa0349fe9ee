"""Reductions and running sums: the adjoint of the result goes back to every element that went in.

In: `g`, of the shape of the result, and the options of the operation. Out: an adjoint of the shape of `a`.
`keep_axes(g, a, axis, keepdims)` puts the reduced axes back with length 1, which is enough wherever `g`
meets something of the shape of `a`; `expand` repeats it to that shape.

    @vjp(np.mean)
    def mean(g, out, a, axis=None, ...):
        return expand(g, a, axis, keepdims) / count(a, axis)

Where several elements are the maximum, they share `g` evenly; the same holds for the order statistics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..rule import multilinear, vjp
from ..support import ratio_or_zero, real_product, unbroadcast
from ..support_reductions import (
    accumulate_extreme_adjoint,
    accumulate_extreme_tangent,
    average_adjoint,
    average_tangent,
    average_weights_adjoint,
    average_weights_tangent,
    broadcast_like,
    corrected,
    count,
    cumprod_adjoint,
    cumprod_tangent,
    cumsum_adjoint,
    cumulative_prod_adjoint,
    cumulative_prod_tangent,
    cumulative_sum_adjoint,
    deviation,
    divide_or_zero,
    expand,
    extreme_adjoint,
    extreme_share,
    factors,
    keep_axes,
    kept,
    moving_sum,
    nan_count,
    nan_deviation,
    nan_factors,
    nan_quantile_share,
    nancumprod_adjoint,
    nancumprod_tangent,
    quantile_adjoint,
    quantile_share,
    quantile_tangent,
    reduce_logaddexp_share,
    reduceat_adjoint,
    sequence_adjoint,
    sequence_extreme_adjoint,
    sequence_extreme_tangent,
    sequence_products,
    sequence_products_tangent,
    sequence_sum,
    shared,
    sumprod_adjoint,
    sumprod_tangent,
    trapezoid_x_adjoint,
    trapezoid_y_adjoint,
)

_V = np.array([0.3, -0.9, 0.6])
_M = np.array([[0.3, 0.9, -0.6], [1.2, -0.1, 2.5]])
_T = np.arange(24.0).reshape(2, 3, 4) % 7 * 0.3 - 0.8
_C = np.array([[0.3 + 0.4j, -0.9 + 0.2j, 0.6 - 0.7j], [1.0j, 0.5, -0.2 + 1.1j]])
_TIES = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
_ZEROS = np.array([[0.0, 3.0, 2.0], [0.0, 0.0, 2.0], [0.5, 1.5, 2.5]])
_NAN = np.array([[0.3, np.nan, -0.6], [1.2, -0.1, np.nan], [np.nan, 0.7, 0.2]])
_MASK = np.array([[True, False, True], [True, True, False]])
_AXES: list[tuple[Any, ...]] = [
    (_V,),
    (0.7,),
    (np.array(0.7),),
    (_M,),
    (_M, 0),
    (_M, -1),
    (_M, {"axis": 1, "keepdims": True}),
    (_M, {"keepdims": True}),
    (_T, (0, 2)),
    (_T, {"axis": (0, -1), "keepdims": True}),
    (_M, ()),
]
_WHERE = [(_M, {"axis": 1, "where": _MASK}), (_M, {"where": _MASK})]
_COMPLEX = [(_C,), (_C, 0)]
_EMPTY = np.zeros((0, 3))
_RUNNING = [(_V,), (_M,), (_M, 0), (_M, -1), (_T, 1), (_EMPTY,), (_EMPTY, 0), (_EMPTY, 1), (0.7,)]

# -- sums and means ------------------------------------------------------------------------------------


@vjp(np.sum, samples=[*_AXES, *_WHERE, *_COMPLEX, (_M, {"axis": 0, "initial": 2.0}), (np.zeros((0, 3)),)])
def sum_(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    return kept(expand(g, a, axis, keepdims), where)


@sum_.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    return np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


@vjp(np.add.reduce, samples=[(_V,), (_M,), (_M, None), (_M, {"axis": 1, "keepdims": True}), (_T, (0, 2))])
def add_reduce(
    g: Any,
    out: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    return kept(expand(g, array, axis, keepdims), where)


@add_reduce.jvp
def _(
    a_dot: Any,
    out: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    return np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


@vjp(np.nansum, samples=[(_M, 0), (_NAN,), (_NAN, 1), (_NAN, {"axis": 0, "keepdims": True})])
def nansum(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    return kept(expand(g, a, axis, keepdims), where) * ~np.isnan(a)


@nansum.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    return np.sum(a_dot * ~np.isnan(a), axis=axis, dtype=dtype, keepdims=keepdims, where=where)


@vjp(np.mean, samples=[*_AXES, *_WHERE, *_COMPLEX])
def mean(
    g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, where: Any = True
) -> Any:
    return kept(expand(g / count(a, axis, keepdims, where), a, axis, keepdims), where)


@mean.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    where: Any = True,
) -> Any:
    return np.mean(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


@vjp(np.nanmean, samples=[(_M, 0), (_NAN,), (_NAN, 1), (_NAN, {"axis": 0, "keepdims": True})])
def nanmean(
    g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, where: Any = True
) -> Any:
    share = g / nan_count(a, axis, keepdims, where)
    return kept(expand(share, a, axis, keepdims), where) * ~np.isnan(a)


@nanmean.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    where: Any = True,
) -> Any:
    total = np.sum(a_dot * ~np.isnan(a), axis=axis, keepdims=keepdims, where=where)
    return total / nan_count(a, axis, keepdims, where)


_WEIGHTS = np.array([0.5, 2.0, 1.5])


@vjp(
    np.average,
    wrt=["a", "weights"],
    samples=[
        (_V,),
        (_M, 0),
        (_M, {"axis": 1, "weights": _WEIGHTS}),
        (_M, {"axis": 1, "weights": _WEIGHTS, "keepdims": True}),
        (_M, {"axis": 0, "weights": np.array([[0.5, 1.0, 0.3], [2.0, 0.1, 1.0]])}),
        (_M, None, np.array([[0.5, 1.0, 0.3], [2.0, 0.1, 1.0]])),
        (_T, (2, 0), np.array([[0.5, 1.0], [0.3, 2.0], [0.1, 1.0], [0.7, 0.2]])),
        (_C, 1, _WEIGHTS),
    ],
)
def average(g: Any, out: Any, a: Any, axis: Any = None, weights: Any = None, *, keepdims: Any = False) -> Any:
    return (
        average_adjoint(g, a, axis, weights, keepdims),
        average_weights_adjoint(g, out, a, axis, weights, keepdims),
    )


@average.jvp
def _(
    a_dot: Any,
    weights_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    *,
    keepdims: Any = False,
) -> Any:
    return (
        average_tangent(a_dot, axis, weights, keepdims),
        average_weights_tangent(weights_dot, out, a, axis, weights, keepdims),
    )


# -- spread --------------------------------------------------------------------------------------------

_SPREAD = [
    *_AXES[3:-1],
    (_V,),
    *_WHERE,
    *_COMPLEX,
    (_M, {"axis": 1, "ddof": 1}),
    (_V, {"ddof": 1}),
    (_M, {"ddof": 0.5}),
    (_M, {"axis": 0, "correction": 1}),
]


@vjp(np.var, holomorphic=False, samples=_SPREAD)
def var(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    share = g / (count(a, axis, keepdims, where) - corrected(ddof, correction))
    return 2 * keep_axes(share, a, axis, keepdims) * deviation(a, axis, where)


@var.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    total = np.sum(real_product(deviation(a, axis, where), a_dot), axis=axis, keepdims=keepdims)
    return 2 * total / (count(a, axis, keepdims, where) - corrected(ddof, correction))


@vjp(np.std, holomorphic=False, samples=_SPREAD)
def std(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    share = divide_or_zero(g, out) / (count(a, axis, keepdims, where) - corrected(ddof, correction))
    return keep_axes(share, a, axis, keepdims) * deviation(a, axis, where)


@std.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    total = np.sum(real_product(deviation(a, axis, where), a_dot), axis=axis, keepdims=keepdims)
    return divide_or_zero(total, out) / (count(a, axis, keepdims, where) - corrected(ddof, correction))


_NAN_SPREAD = [
    (_M, 0),
    (_NAN,),
    (_NAN, 1),
    (_NAN, {"axis": 0, "keepdims": True, "ddof": 1}),
    (_M, {"correction": 1}),
]


@vjp(np.nanvar, holomorphic=False, samples=_NAN_SPREAD)
def nanvar(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    share = g / (nan_count(a, axis, keepdims, where) - corrected(ddof, correction))
    return 2 * keep_axes(share, a, axis, keepdims) * nan_deviation(a, axis, where)


@nanvar.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    total = np.sum(real_product(nan_deviation(a, axis, where), a_dot), axis=axis, keepdims=keepdims)
    return 2 * total / (nan_count(a, axis, keepdims, where) - corrected(ddof, correction))


@vjp(np.nanstd, holomorphic=False, samples=_NAN_SPREAD)
def nanstd(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    share = divide_or_zero(g, out) / (nan_count(a, axis, keepdims, where) - corrected(ddof, correction))
    return keep_axes(share, a, axis, keepdims) * nan_deviation(a, axis, where)


@nanstd.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    total = np.sum(real_product(nan_deviation(a, axis, where), a_dot), axis=axis, keepdims=keepdims)
    return divide_or_zero(total, out) / (nan_count(a, axis, keepdims, where) - corrected(ddof, correction))


# -- products ------------------------------------------------------------------------------------------


@vjp(
    np.prod,
    samples=[
        *_AXES,
        (_EMPTY,),
        (_EMPTY, 0),
        (_EMPTY, 1),
        *_WHERE,
        *_COMPLEX,
        (_ZEROS,),
        (_ZEROS, 0),
        (_ZEROS, 1),
        (_M, {"initial": 2.0}),
    ],
)
def prod(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    return keep_axes(g * initial, a, axis, keepdims) * factors(a, axis, where)


@prod.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    return initial * np.sum(a_dot * factors(a, axis, where), axis=axis, keepdims=keepdims)


@vjp(np.multiply.reduce, samples=[(_V,), (_ZEROS,), (_M, None), (_M, {"axis": 1, "keepdims": True})])
def multiply_reduce(
    g: Any,
    out: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    return keep_axes(g * initial, array, axis, keepdims) * factors(array, axis, where)


@multiply_reduce.jvp
def _(
    a_dot: Any,
    out: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    return initial * np.sum(a_dot * factors(array, axis, where), axis=axis, keepdims=keepdims)


@vjp(np.nanprod, samples=[(_M, 0), (_ZEROS, 1), (_NAN,), (_NAN, 1), (_NAN, {"axis": 0, "keepdims": True})])
def nanprod(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    return keep_axes(g * initial, a, axis, keepdims) * nan_factors(a, axis, where)


@nanprod.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    return initial * np.sum(a_dot * nan_factors(a, axis, where), axis=axis, keepdims=keepdims)


# -- maxima, minima and order statistics ---------------------------------------------------------------

_EXTREMES = [*_AXES, (_M, {"axis": 1, "where": _MASK, "initial": -9.0})]


@vjp(np.max, np.amax, samples=_EXTREMES)
def max_(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    return extreme_adjoint(g, out, a, axis, keepdims, initial, where)


@max_.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    share = extreme_share(out, a, axis, keepdims, initial, where)
    return np.sum(shared(a_dot, share), axis=axis, keepdims=keepdims)


@vjp(np.min, np.amin, samples=[*_AXES, (_M, {"axis": 1, "where": _MASK, "initial": 9.0})])
def min_(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    return extreme_adjoint(g, out, a, axis, keepdims, initial, where)


@min_.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    share = extreme_share(out, a, axis, keepdims, initial, where)
    return np.sum(shared(a_dot, share), axis=axis, keepdims=keepdims)


@vjp(
    np.maximum.reduce,
    np.minimum.reduce,
    samples=[(_V,), (_M,), (_M, None), (_M, {"axis": 1, "keepdims": True})],
)
def extreme_reduce(
    g: Any,
    out: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    return extreme_adjoint(g, out, array, axis, keepdims, initial, where)


@extreme_reduce.jvp
def _(
    a_dot: Any,
    out: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    share = extreme_share(out, array, axis, keepdims, initial, where)
    return np.sum(shared(a_dot, share), axis=axis, keepdims=keepdims)


@vjp(np.nanmax, np.nanmin, samples=[(_M, 0), (_NAN,), (_NAN, 1), (_NAN, {"axis": 0, "keepdims": True})])
def nan_extreme(
    g: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    return extreme_adjoint(g, out, a, axis, keepdims, initial, where)


@nan_extreme.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    axis: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    share = extreme_share(out, a, axis, keepdims, initial, where)
    return np.sum(shared(a_dot, share), axis=axis, keepdims=keepdims)


@vjp(np.ptp, samples=[(_V,), (_M,), (_M, 0), (_M, {"axis": 1, "keepdims": True}), (_T, (0, 2))])
def ptp(g: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    top = extreme_share(np.max(a, axis=axis, keepdims=keepdims), a, axis, keepdims, None, True)
    bottom = extreme_share(np.min(a, axis=axis, keepdims=keepdims), a, axis, keepdims, None, True)
    return shared(keep_axes(g, a, axis, keepdims), top - bottom)


@ptp.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    top = extreme_share(np.max(a, axis=axis, keepdims=keepdims), a, axis, keepdims, None, True)
    bottom = extreme_share(np.min(a, axis=axis, keepdims=keepdims), a, axis, keepdims, None, True)
    return np.sum(shared(a_dot, top - bottom), axis=axis, keepdims=keepdims)


@vjp(np.median, samples=[(_V,), (_M,), (_M, 0), (_M, {"axis": 1, "keepdims": True}), (_T, (0, 2))])
def median(g: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return shared(keep_axes(g, a, axis, keepdims), quantile_share(a, 0.5, axis, "linear"))


@median.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return np.sum(shared(a_dot, quantile_share(a, 0.5, axis, "linear")), axis=axis, keepdims=keepdims)


@vjp(np.nanmedian, samples=[(_M,), (_NAN,), (_NAN, 0), (_NAN, {"axis": 1, "keepdims": True})])
def nanmedian(g: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return shared(keep_axes(g, a, axis, keepdims), nan_quantile_share(a, 0.5, axis, "linear"))


@nanmedian.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return np.sum(shared(a_dot, nan_quantile_share(a, 0.5, axis, "linear")), axis=axis, keepdims=keepdims)


def _at(q: Any) -> list[tuple[Any, ...]]:
    return [
        (_V, q(0.3)),
        (_M, q(0.3), {"axis": 1}),
        (_M, q(np.array([0.1, 0.6])), {"axis": 0}),
        (_M, q(np.array([[0.1, 0.6], [0.2, 0.7]]))),
        (_T, q(np.array([0.1, 0.65])), {"axis": (0, 2), "keepdims": True}),
        *(
            (_M, q(0.37), {"axis": 1, "method": m})
            for m in ("lower", "nearest", "midpoint", "hazen", "weibull")
        ),
    ]


@vjp(np.quantile, wrt=["a"], samples=_at(lambda q: q))
def quantile(
    g: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_adjoint(g, a, q, axis, method, keepdims, quantile_share)


@quantile.jvp
def _(
    a_dot: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_tangent(a_dot, a, q, axis, method, keepdims, quantile_share)


@vjp(np.percentile, wrt=["a"], samples=_at(lambda q: 100 * q))
def percentile(
    g: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_adjoint(g, a, np.divide(q, 100), axis, method, keepdims, quantile_share)


@percentile.jvp
def _(
    a_dot: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_tangent(a_dot, a, np.divide(q, 100), axis, method, keepdims, quantile_share)


_NAN_QUANTILE: list[tuple[Any, ...]] = [
    (_M, 0.3),
    (_NAN, 0.3),
    (_NAN, 0.7, {"axis": 1}),
    (_NAN, np.array([0.2, 0.7]), {"axis": 0}),
]


@vjp(np.nanquantile, wrt=["a"], samples=_NAN_QUANTILE)
def nanquantile(
    g: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_adjoint(g, a, q, axis, method, keepdims, nan_quantile_share)


@nanquantile.jvp
def _(
    a_dot: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_tangent(a_dot, a, q, axis, method, keepdims, nan_quantile_share)


@vjp(np.nanpercentile, wrt=["a"], samples=[(a, 100 * q, *rest) for a, q, *rest in _NAN_QUANTILE])
def nanpercentile(
    g: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_adjoint(g, a, np.divide(q, 100), axis, method, keepdims, nan_quantile_share)


@nanpercentile.jvp
def _(
    a_dot: Any, out: Any, a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    return quantile_tangent(a_dot, a, np.divide(q, 100), axis, method, keepdims, nan_quantile_share)


@vjp(
    np.logaddexp.reduce,
    samples=[(_V,), (_M,), (_M, None), (_M, {"axis": 1, "keepdims": True})],
)
def logaddexp_reduce(
    g: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False
) -> Any:
    return keep_axes(g, array, axis, keepdims) * reduce_logaddexp_share(out, array, axis, keepdims)


@logaddexp_reduce.jvp
def _(a_dot: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False) -> Any:
    share = reduce_logaddexp_share(out, array, axis, keepdims)
    return np.sum(shared(a_dot, share), axis=axis, keepdims=keepdims)


# -- running sums, products and extremes ---------------------------------------------------------------


@vjp(np.cumsum, samples=[*_RUNNING, (_C, 1)])
def cumsum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return cumsum_adjoint(g, a, axis)


@cumsum.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return np.cumsum(a_dot, axis=axis, dtype=dtype)


@vjp(np.add.accumulate, samples=[(_V,), (_M,), (_M, -1)])
def add_accumulate(g: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return cumsum_adjoint(g, array, axis)


@add_accumulate.jvp
def _(a_dot: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return np.cumsum(a_dot, axis=axis, dtype=dtype)


@vjp(np.nancumsum, samples=[(_M, 0), (_NAN,), (_NAN, 1)])
def nancumsum(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return cumsum_adjoint(g, a, axis) * ~np.isnan(a)


@nancumsum.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return np.cumsum(a_dot * ~np.isnan(a), axis=axis, dtype=dtype)


@vjp(np.cumprod, samples=[*_RUNNING, (_C, 1), (_ZEROS,), (_ZEROS, 0), (_ZEROS, 1)])
def cumprod(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return cumprod_adjoint(g, out, a, axis)


@cumprod.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return cumprod_tangent(a_dot, out, a, axis)


@vjp(np.multiply.accumulate, samples=[(_V,), (_ZEROS,), (_M, -1)])
def multiply_accumulate(g: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return cumprod_adjoint(g, out, array, axis)


@multiply_accumulate.jvp
def _(a_dot: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return cumprod_tangent(a_dot, out, array, axis)


@vjp(np.nancumprod, samples=[(_M, 0), (_NAN,), (_NAN, 1)])
def nancumprod(g: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return nancumprod_adjoint(g, out, a, axis)


@nancumprod.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return nancumprod_tangent(a_dot, out, a, axis)


@vjp(np.maximum.accumulate, np.minimum.accumulate, samples=[(_V,), (_M,), (_T, 1)])
def extreme_accumulate(g: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return accumulate_extreme_adjoint(g, out, array, axis)


@extreme_accumulate.jvp
def _(a_dot: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return accumulate_extreme_tangent(a_dot, out, array, axis)


@vjp(np.add.reduceat, wrt=["array"], samples=[(_V, [0, 2]), (_M, [0, 2, 1], 1), (_M, [1, 0])])
def add_reduceat(g: Any, out: Any, array: Any, indices: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return reduceat_adjoint(g, array, indices, axis)


@add_reduceat.jvp
def _(a_dot: Any, out: Any, array: Any, indices: Any, axis: Any = 0, dtype: Any = None) -> Any:
    return np.add.reduceat(a_dot, indices, axis=axis, dtype=dtype)


if hasattr(np, "cumulative_sum"):  # NumPy 2.1

    @vjp(np.cumulative_sum, samples=[(_V,), (_M, {"axis": 1}), (_M, {"axis": 0, "include_initial": True})])
    def cumulative_sum(
        g: Any, out: Any, x: Any, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
    ) -> Any:
        return cumulative_sum_adjoint(g, axis, include_initial)

    @cumulative_sum.jvp
    def _(
        x_dot: Any, out: Any, x: Any, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
    ) -> Any:
        return np.cumulative_sum(x_dot, axis=axis, dtype=dtype, include_initial=include_initial)

    @vjp(
        np.cumulative_prod, samples=[(_V,), (_ZEROS, {"axis": 1}), (_M, {"axis": 0, "include_initial": True})]
    )
    def cumulative_prod(
        g: Any, out: Any, x: Any, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
    ) -> Any:
        return cumulative_prod_adjoint(g, x, axis, include_initial)

    @cumulative_prod.jvp
    def _(
        x_dot: Any, out: Any, x: Any, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
    ) -> Any:
        return cumulative_prod_tangent(x_dot, x, axis, include_initial)


_GRID = np.array([0.0, 0.4, 1.1])


@vjp(
    np.trapezoid,
    *([np.trapz] if hasattr(np, "trapz") else []),  # the older name
    wrt=["y", "x", "dx"],
    samples=[
        (_V,),
        (_M, None, 0.5),
        (_V, _GRID),
        (_M, _GRID),
        (_M, np.array([0.2, 0.9]), {"axis": 0}),
        (_M, _M * 0.5 + _GRID, {"axis": 1}),
        (_C, _GRID),
    ],
)
def trapezoid(g: Any, out: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    return (
        trapezoid_y_adjoint(g, y, x, dx, axis),
        trapezoid_x_adjoint(g, y, x, axis),
        np.sum(g * out / dx),
    )


@trapezoid.jvp
def _(
    y_dot: Any, x_dot: Any, dx_dot: Any, out: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1
) -> Any:
    return (
        np.trapezoid(y_dot, x=x, dx=dx, axis=axis),
        np.trapezoid(y, x=x_dot, axis=axis),
        out * dx_dot / dx,
    )


# -- Python's own, over sequences ----------------------------------------------------------------------


@vjp(sum, samples=[([0.7, -0.2, 1.5],), ([0.7, -0.2], 3.0), (_V,), (_M,), ([_V, _V * 2], 1.0), ((0.5, _V),)])
def python_sum(g: Any, out: Any, iterable: Any, start: Any = 0) -> Any:
    return sequence_adjoint(g, iterable), unbroadcast(g, start)


@python_sum.jvp
def _(iterable_dot: Any, start_dot: Any, out: Any, iterable: Any, start: Any = 0) -> Any:
    return sequence_sum(iterable_dot, out), broadcast_like(start_dot, out)


@vjp(math.fsum, samples=[([0.7, -0.2, 1.5],), (_V,)])
def fsum(g: Any, out: Any, seq: Any) -> Any:
    return sequence_adjoint(g, seq)


@fsum.jvp
def _(seq_dot: Any, out: Any, seq: Any) -> Any:
    return math.fsum(seq_dot)


@vjp(max, min, samples=[(0.7, 0.2), (0.1, 0.9, 0.5), ([0.7, -0.2, 1.5],), (_V,)])
def python_extreme(g: Any, out: Any, *args: Any) -> Any:
    return sequence_extreme_adjoint(g, out, args)


@python_extreme.jvp
def _(args_dot: Any, out: Any, *args: Any) -> Any:
    return sequence_extreme_tangent(args_dot, out, args)


@vjp(math.prod, samples=[([0.7, -0.2, 1.5],), ([0.7, 0.0, 1.5],), (_V,), ([0.7, -0.2], {"start": 2.0})])
def math_prod(g: Any, out: Any, iterable: Any, *, start: Any = 1) -> Any:
    return sequence_products(g * start, iterable)


@math_prod.jvp
def _(iterable_dot: Any, out: Any, iterable: Any, *, start: Any = 1) -> Any:
    return start * sequence_products_tangent(iterable_dot, iterable)


@vjp(math.hypot, samples=[(0.7, -0.2), (0.7, -0.2, 1.5)])
def math_hypot(g: Any, out: Any, *coordinates: Any) -> Any:
    return tuple([g * ratio_or_zero(x, out) for x in coordinates])


@math_hypot.jvp
def _(coordinates_dot: Any, out: Any, *coordinates: Any) -> Any:
    return moving_sum(coordinates_dot, [ratio_or_zero(x, out) for x in coordinates])


@vjp(math.dist, samples=[([0.7, -0.2], [0.1, 0.5]), (_V, _GRID)])
def math_dist(g: Any, out: Any, p: Any, q: Any) -> Any:
    s = ratio_or_zero(np.subtract(p, q), out)
    return sumprod_adjoint(g, s, p), sumprod_adjoint(-g, s, q)


@math_dist.jvp
def _(p_dot: Any, q_dot: Any, out: Any, p: Any, q: Any) -> Any:
    s = ratio_or_zero(np.subtract(p, q), out)
    return sumprod_tangent(p_dot, s), -sumprod_tangent(q_dot, s)


if hasattr(math, "sumprod"):  # Python 3.12

    @multilinear(math.sumprod, samples=[([0.7, -0.2], [0.1, 0.5]), (_V, _GRID)])
    def math_sumprod(g: Any, out: Any, p: Any, q: Any) -> Any:
        return sumprod_adjoint(g, q, p), sumprod_adjoint(g, p, q)
