"""Helpers of the rules for reductions, running sums and Python's `sum`, `max` and friends.

In: `g`, an adjoint (or tangent) of the shape of a result, and the options that made it. Out: an array of the
shape of the operand, or of the result for tangents. Where an option is known when a gradient is written, the
branches on it disappear and what remains is the line one would write by hand.

    >>> expand(np.array([1.0, 2.0]), np.zeros((2, 3)), 1, False)
    array([[1., 1., 1.],
           [2., 2., 2.]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .support import not_minus_inf, own, unbroadcast
from .support_shaping import inverse_axes

# -- the axes of a reduction -------------------------------------------------------------------------


def keep_axes(g: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """`g` with the axes along which `x` was reduced put back, of length 1.

    >>> keep_axes(np.array([1.0, 2.0]), np.zeros((2, 3)), 1, False).shape
    (2, 1)
    """
    if axis is None or keepdims or np.ndim(x) == 0:
        return g
    return np.expand_dims(g, axis)


def expand(g: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """`g` repeated along the axes along which `x` was reduced, to the shape of `x`."""
    return np.broadcast_to(keep_axes(g, x, axis, keepdims), np.shape(x))


def kept(g: Any, where: Any) -> Any:
    """`g`, and 0 at the elements that ``where=`` left out."""
    if where is True:
        return g
    return np.where(where, g, 0)


def count(x: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements of `x` went into each element of the reduction.

    >>> count(np.zeros((2, 3)), 1, False, True), count(np.zeros((2, 3)), None, False, True)
    (3, 6)
    """
    if where is not True:
        return np.sum(np.broadcast_to(where, np.shape(x)), axis=axis, keepdims=keepdims)
    if axis is None or np.ndim(x) == 0:
        return np.size(x)
    if isinstance(axis, tuple):
        return int(np.prod([np.shape(x)[i] for i in axis]))
    return np.shape(x)[axis]


def corrected(ddof: Any, correction: Any) -> Any:
    """What is subtracted from the number of elements, under NumPy's older or newer name."""
    return ddof if correction is None else correction


def nan_count(x: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements that are not nan went into each element of the reduction."""
    return np.sum(~np.isnan(x), axis=axis, keepdims=keepdims, where=where)


def as_rows(x: Any, axis: Any) -> Any:
    """`x` with the reduced axes moved to the end and joined to one.

    >>> as_rows(np.zeros((2, 3, 4)), (0, 2)).shape
    (3, 8)
    """
    x = np.asarray(x, like=own(x))
    if axis is None:
        return np.reshape(x, -1)
    axes = [i % x.ndim for i in (axis if isinstance(axis, tuple) else (axis,))]
    rest = [i for i in range(x.ndim) if i not in axes]
    size = int(np.prod([x.shape[i] for i in axes]))
    return np.reshape(np.transpose(x, rest + axes), [*[x.shape[i] for i in rest], size])


def from_rows(rows: Any, x: Any, axis: Any) -> Any:
    """What `as_rows` undoes: an array of the shape of `x`."""
    if axis is None:
        return np.reshape(rows, np.shape(x))
    axes = [i % np.ndim(x) for i in (axis if isinstance(axis, tuple) else (axis,))]
    order = [i for i in range(np.ndim(x)) if i not in axes] + axes
    return np.transpose(np.reshape(rows, [np.shape(x)[i] for i in order]), inverse_axes(order, len(order)))


# -- mean, variance, product -------------------------------------------------------------------------


def deviation(x: Any, axis: Any, where: Any) -> Any:
    """`x` less its mean along `axis`; 0 at what ``where=`` left out."""
    if where is True and axis is None:
        return x - np.mean(x)
    if where is True:
        return x - np.mean(x, axis=axis, keepdims=True)
    return np.where(where, x - np.mean(x, axis=axis, keepdims=True, where=where), 0)


def nan_deviation(x: Any, axis: Any, where: Any) -> Any:
    """`x` less the mean of what is not nan along `axis`; 0 at nan and at what ``where=`` left out."""
    centred = x - np.nanmean(x, axis=axis, keepdims=True, where=where)
    return np.where(np.isnan(x) | ~np.asarray(where, like=own(where)), 0, centred)


def divide_or_zero(g: Any, b: Any) -> Any:
    """`g / b`, and 0 where `b` is 0.

    >>> divide_or_zero(np.array([3.0, 5.0]), np.array([4.0, 0.0]))
    array([0.75, 0.  ])
    """
    return g * (b != 0) / (b + (b == 0))


def factors(x: Any, axis: Any, where: Any) -> Any:
    """The derivative of a product in each of its factors: the product of the others, without a division.

    >>> factors(np.array([2.0, 0.0, 5.0]), None, True)
    array([ 0., 10.,  0.])
    """
    rows = as_rows(kept_factors(x, where), axis)
    one = np.ones_like(rows[..., :1])
    before = np.cumprod(np.concatenate([one, rows[..., :-1]], axis=-1), axis=-1)
    after = np.flip(np.cumprod(np.concatenate([one, np.flip(rows[..., 1:], -1)], axis=-1), axis=-1), -1)
    return kept(from_rows(before * after, x, axis), where)


def kept_factors(x: Any, where: Any) -> Any:
    """`x`, and 1 at the elements that ``where=`` left out."""
    if where is True:
        return x
    return np.where(where, x, 1)


def nan_factors(x: Any, axis: Any, where: Any) -> Any:
    """The derivative of a product that skips nan; 0 at nan."""
    return factors(np.where(np.isnan(x), 1, x), axis, where) * ~np.isnan(x)


# -- average -----------------------------------------------------------------------------------------


def spread_weights(a: Any, axis: Any, weights: Any) -> Any:
    """The weights of ``np.average`` in a shape that broadcasts against `a`."""
    if np.shape(weights) == np.shape(a):
        return weights
    axes = [i % np.ndim(a) for i in (axis if isinstance(axis, tuple) else (axis,))]
    shape = [n if i in axes else 1 for i, n in enumerate(np.shape(a))]
    return np.reshape(np.transpose(weights, sorted(range(len(axes)), key=lambda i: axes[i])), shape)


def average_adjoint(g: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The adjoint of `a` in ``np.average``."""
    if weights is None:
        return expand(g / count(a, axis, keepdims, True), a, axis, keepdims)
    w = np.broadcast_to(spread_weights(a, axis, weights), np.shape(a))
    return keep_axes(g, a, axis, keepdims) * w / np.sum(w, axis=axis, keepdims=True)


def average_tangent(a_dot: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The tangent of ``np.average`` in `a`."""
    return np.average(a_dot, axis=axis, weights=weights, keepdims=keepdims)


def average_weights_adjoint(g: Any, out: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The adjoint of the weights in ``np.average``."""
    spread = spread_weights(a, axis, weights)
    total = np.sum(np.broadcast_to(spread, np.shape(a)), axis=axis, keepdims=True)
    each = keep_axes(g, a, axis, keepdims) * (a - keep_axes(out, a, axis, keepdims)) / total
    each = unbroadcast(each, spread)
    if np.shape(weights) == np.shape(a):
        return each
    axes = [i % np.ndim(a) for i in (axis if isinstance(axis, tuple) else (axis,))]
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    return np.transpose(
        np.reshape(each, [np.shape(weights)[i] for i in order]), inverse_axes(order, len(order))
    )


def average_weights_tangent(w_dot: Any, out: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The tangent of ``np.average`` in its weights."""
    w = np.broadcast_to(spread_weights(a, axis, weights), np.shape(a))
    change = spread_weights(a, axis, w_dot) * (a - keep_axes(out, a, axis, keepdims))
    return np.sum(change, axis=axis, keepdims=keepdims) / np.sum(w, axis=axis, keepdims=keepdims)


# -- maxima and order statistics ---------------------------------------------------------------------


def shared(g: Any, share: Any) -> Any:
    """``g * share``, but 0 where the share is 0 and `g` is infinite.

    >>> shared(np.inf, np.array([0.0, 1.0]))
    array([ 0., inf])
    """
    return np.where(share != 0, g, 0) * share


def extreme_share(out: Any, x: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """The derivative of a maximum or minimum: 1 at the element that is it; elements that tie share evenly.

    >>> extreme_share(3.0, np.array([1.0, 3.0, 3.0]), None, False, None, True)
    array([0. , 0.5, 0.5])
    """
    top = keep_axes(out, x, axis, keepdims)
    ties = kept(x == top, where)
    if initial is not None:
        return ties / (np.sum(ties, axis=axis, keepdims=True) + (top == initial))
    return ties / np.sum(ties, axis=axis, keepdims=True)


def extreme_adjoint(g: Any, out: Any, x: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """The adjoint of a maximum or minimum: `g` at the element that is it; elements that tie share evenly."""
    if axis is None and initial is None:
        ties = kept(x == out, where)
        return np.where(ties, g / np.count_nonzero(ties), 0)
    share = extreme_share(out, x, axis, keepdims, initial, where)
    return shared(keep_axes(g, x, axis, keepdims), share)


def reduce_logaddexp_share(out: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The derivative of ``np.logaddexp.reduce``: a softmax, 0 where everything is -inf."""
    return np.exp(x - not_minus_inf(keep_axes(out, x, axis, keepdims)))


def quantile_share(x: Any, q: Any, axis: Any, method: Any) -> Any:
    """The derivative of one quantile: its weights on the one or two elements it lies between.

    Elements that tie share evenly. nan along rows that hold nan, as the quantile itself.

    >>> quantile_share(np.array([5.0, 1.0, 3.0, 2.0]), 0.5, None, "linear")
    array([0. , 0. , 0.5, 0.5])
    """
    rows = as_rows(x, axis)
    ordered = np.sort(rows, axis=-1)
    position = np.quantile(np.arange(rows.shape[-1], dtype=float, like=own(q)), q, method=method)
    low, high = int(np.floor(position)), int(np.ceil(position))
    at_low, at_high = rows == ordered[..., low : low + 1], rows == ordered[..., high : high + 1]
    above = position - low
    share = (1 - above) * at_low / np.sum(at_low, axis=-1, keepdims=True)
    share = share + above * at_high / np.sum(at_high, axis=-1, keepdims=True)
    return from_rows(np.where(np.isnan(ordered[..., -1:]), np.nan, share), x, axis)


def nan_quantile_share(x: Any, q: Any, axis: Any, method: Any) -> Any:
    """The derivative of one quantile of what is not nan; nan along rows of nothing else."""
    rows = as_rows(x, axis)
    share = np.zeros_like(rows)
    for i in np.ndindex(rows.shape[:-1]):
        good = ~np.isnan(rows[i])
        share[i][good] = quantile_share(rows[i][good], q, None, method) if np.any(good) else np.nan
    return from_rows(share, x, axis)


def quantile_adjoint(
    g: Any, x: Any, q: Any, axis: Any, method: Any, keepdims: Any, share: Callable[..., Any]
) -> Any:
    """The adjoint of `x`, summed over the quantiles `q`, whose axes come first in `g`."""
    parts = np.reshape(g, (-1, *np.shape(g)[np.ndim(q) :]))
    x_bar = np.zeros_like(x)
    for part, one_q in zip(parts, np.ravel(q), strict=True):
        x_bar = x_bar + shared(keep_axes(part, x, axis, keepdims), share(x, one_q, axis, method))
    return x_bar


def quantile_tangent(
    x_dot: Any, x: Any, q: Any, axis: Any, method: Any, keepdims: Any, share: Callable[..., Any]
) -> Any:
    """The tangent of the quantiles `q` of `x`."""
    parts = [
        np.sum(shared(x_dot, share(x, one_q, axis, method)), axis=axis, keepdims=keepdims)
        for one_q in np.ravel(q)
    ]
    return np.reshape(np.stack(parts), np.shape(q) + np.shape(parts[0]))


# -- running sums, products and extremes -------------------------------------------------------------


def cumsum_adjoint(g: Any, x: Any, axis: Any) -> Any:
    """The adjoint of ``np.cumsum``: the sums from each element to the end.

    >>> cumsum_adjoint(np.array([1.0, 2.0, 3.0]), np.zeros(3), None)
    array([6., 5., 3.])
    """
    if axis is None:
        return np.reshape(np.cumsum(g[::-1])[::-1], np.shape(x))
    return np.flip(np.cumsum(np.flip(g, axis), axis=axis), axis)


def cumprod_adjoint(g: Any, out: Any, x: Any, axis: Any) -> Any:
    """The adjoint of ``out = np.cumprod(x)``; where `x` has zeros, by the recurrence, which never divides."""
    if axis is None:
        return np.reshape(cumprod_adjoint(g, out, np.ravel(x), 0), np.shape(x))
    if np.all(x != 0):
        return cumsum_adjoint(g * out, x, axis) / x
    g, out, x = np.moveaxis(g, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(x, axis, 0)
    x_bar = []
    out_bar = np.zeros_like(g[0])
    for i in reversed(range(1, len(x))):
        out_bar = out_bar + g[i]
        x_bar.append(out_bar * out[i - 1])
        out_bar = out_bar * x[i]
    x_bar.append(out_bar + g[0])
    return np.stack(x_bar[::-1], axis=axis)


def cumprod_tangent(x_dot: Any, out: Any, x: Any, axis: Any) -> Any:
    """The tangent of ``out = np.cumprod(x)``."""
    if axis is None:
        return cumprod_tangent(np.ravel(x_dot), out, np.ravel(x), 0)
    if np.all(x != 0):
        return out * np.cumsum(x_dot / x, axis=axis)
    x_dot, out, x = np.moveaxis(x_dot, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(x, axis, 0)
    out_dot = [x_dot[0]]
    for i in range(1, len(x)):
        out_dot.append(out_dot[-1] * x[i] + out[i - 1] * x_dot[i])
    return np.stack(out_dot, axis=axis)


def nancumprod_adjoint(g: Any, out: Any, x: Any, axis: Any) -> Any:
    """The adjoint of ``np.nancumprod``, which takes nan as 1."""
    return cumprod_adjoint(g, out, np.where(np.isnan(x), 1, x), axis) * ~np.isnan(x)


def nancumprod_tangent(x_dot: Any, out: Any, x: Any, axis: Any) -> Any:
    """The tangent of ``np.nancumprod``."""
    return cumprod_tangent(x_dot * ~np.isnan(x), out, np.where(np.isnan(x), 1, x), axis)


def cumulative_sum_adjoint(g: Any, axis: Any, include_initial: Any) -> Any:
    """The adjoint of ``np.cumulative_sum``; None stands for the only axis."""
    axis = 0 if axis is None else axis
    total = np.flip(np.cumsum(np.flip(g, axis), axis=axis), axis)
    return np.delete(total, 0, axis) if include_initial else total


def cumulative_prod_adjoint(g: Any, x: Any, axis: Any, include_initial: Any) -> Any:
    """The adjoint of ``np.cumulative_prod``."""
    axis = 0 if axis is None else axis
    g = np.delete(g, 0, axis) if include_initial else g
    return cumprod_adjoint(g, np.cumprod(x, axis=axis), x, axis)


def cumulative_prod_tangent(x_dot: Any, x: Any, axis: Any, include_initial: Any) -> Any:
    """The tangent of ``np.cumulative_prod``."""
    axis = 0 if axis is None else axis
    out_dot = cumprod_tangent(x_dot, np.cumprod(x, axis=axis), x, axis)
    if not include_initial:
        return out_dot
    return np.insert(out_dot, 0, 0, axis=axis)


def running_ties(out: Any, x: Any) -> Any:
    """For each step of a running extreme: is it the same as one step before, how many have reached it."""
    same = np.concatenate([np.zeros_like(out[:1], bool), out[1:] == out[:-1]])
    counts: list[Any] = []
    for i in range(len(x)):
        counts.append((x[i] == out[i]) + (same[i] * counts[-1] if counts else np.zeros_like(x[i], int)))
    return same, counts


def accumulate_extreme_adjoint(g: Any, out: Any, x: Any, axis: Any) -> Any:
    """The adjoint of ``np.maximum.accumulate`` or its minimum; ties up to each step share evenly."""
    g, out, x = np.moveaxis(g, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(x, axis, 0)
    same, counts = running_ties(out, x)
    x_bar = []
    later = np.zeros_like(g[0])
    for i in reversed(range(len(x))):
        later = later + g[i] / counts[i]
        x_bar.append(np.where(x[i] == out[i], later, 0))
        later = np.where(same[i], later, 0)
    return np.stack(x_bar[::-1], axis=axis)


def accumulate_extreme_tangent(x_dot: Any, out: Any, x: Any, axis: Any) -> Any:
    """The tangent of ``np.maximum.accumulate`` or its minimum."""
    x_dot, out, x = np.moveaxis(x_dot, axis, 0), np.moveaxis(out, axis, 0), np.moveaxis(x, axis, 0)
    same, counts = running_ties(out, x)
    total = np.zeros_like(x_dot[0])
    out_dot = []
    for i in range(len(x)):
        total = np.where(same[i], total, 0) + np.where(x[i] == out[i], x_dot[i], 0)
        out_dot.append(total / counts[i])
    return np.stack(out_dot, axis=axis)


def reduceat_adjoint(g: Any, x: Any, indices: Any, axis: Any) -> Any:
    """The adjoint of ``np.add.reduceat``."""
    g = np.moveaxis(g, axis, 0)
    x_bar = np.zeros(np.moveaxis(x, axis, 0).shape, g.dtype, like=own(g))
    for k, start in enumerate(indices):
        stop = indices[k + 1] if k + 1 < len(indices) else len(x_bar)
        x_bar[start : max(stop, start + 1)] += g[k]
    return np.moveaxis(x_bar, 0, axis)


# -- trapezoid ---------------------------------------------------------------------------------------


def widths(y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """The widths of the panels of ``np.trapezoid``, in a shape that broadcasts against them."""
    if x is None:
        return dx
    if np.ndim(x) > 1:
        return np.diff(x, axis=axis)
    shape = [1] * np.ndim(y)
    shape[axis] = -1
    return np.reshape(np.diff(x), shape)


def panels(a: Any, axis: Any) -> Any:
    """The left and the right ends of neighbouring elements of `a` along `axis`."""
    a = np.moveaxis(np.asarray(a, like=own(a)), axis, 0)
    return np.moveaxis(a[:-1], 0, axis), np.moveaxis(a[1:], 0, axis)


def to_ends(left: Any, right: Any, axis: Any) -> Any:
    """The adjoint of `panels`."""
    left, right = np.moveaxis(left, axis, 0), np.moveaxis(right, axis, 0)
    none = np.zeros_like(left[:1])
    return np.moveaxis(np.concatenate([left, none]) + np.concatenate([none, right]), 0, axis)


def trapezoid_y_adjoint(g: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """The adjoint of the ordinates of ``np.trapezoid``."""
    left, right = panels(y, axis)
    half = unbroadcast(np.expand_dims(g, axis) * widths(y, x, dx, axis) / 2, left + right)
    return to_ends(half, half, axis)


def trapezoid_x_adjoint(g: Any, y: Any, x: Any, axis: Any) -> Any:
    """The adjoint of the abscissae of ``np.trapezoid``."""
    left, right = panels(y, axis)
    width = widths(y, x, 1.0, axis)
    width_bar = unbroadcast(np.expand_dims(g, axis) * (left + right) / 2, width)
    if np.ndim(x) == 1:
        width_bar, axis = np.ravel(width_bar), 0
    return to_ends(-width_bar, width_bar, axis)


# -- Python's own, over sequences --------------------------------------------------------------------


def like_sequence(parts: Any, xs: Any) -> Any:
    """`parts`, one for each element of `xs`, in a container of the kind of `xs`."""
    if isinstance(xs, tuple):
        return tuple(parts)
    if isinstance(xs, list):
        return list(parts)
    if np.ndim(xs) == 0:
        raise TypeError(f"the adjoint of a {type(xs).__name__} as a sequence is not known")
    return np.stack(list(parts)) if len(xs) else np.zeros_like(xs)


def broadcast_like(t: Any, out: Any) -> Any:
    """A tangent `t` in the shape of the result `out`."""
    if np.shape(t) == np.shape(out):
        return t
    return np.broadcast_to(np.asarray(t, like=own(out)), np.shape(out))


def sequence_adjoint(g: Any, xs: Any) -> Any:
    """The adjoint of the elements of a sum.

    >>> sequence_adjoint(1.0, [0.5, np.zeros(2)])
    [1.0, array([1., 1.])]
    """
    if own(xs) is not None:
        return np.broadcast_to(g, np.shape(xs))
    return like_sequence([unbroadcast(g, x) for x in xs], xs)


def sequence_sum(xs_dot: Any, out: Any) -> Any:
    """The tangent of a sum over a sequence."""
    return broadcast_like(sum(xs_dot), out)


def sequence_extreme_adjoint(g: Any, out: Any, args: Any) -> Any:
    """The adjoint of the arguments of Python's `max` and `min`, in both their forms.

    >>> sequence_extreme_adjoint(1.0, 2.0, (2.0, 1.0)), sequence_extreme_adjoint(1.0, 2.0, ([2.0, 2.0],))
    ((1.0, 0.0), ([0.5, 0.5],))
    """
    xs = args[0] if len(args) == 1 else args
    if isinstance(out, tuple | list):
        parts: Any = [None] * len(xs)
        parts[taken_whole(out, xs)] = g
    else:
        shares = sequence_extreme_share(out, xs)
        parts = like_sequence([g * share if share else share for share in shares], xs)
    return (parts,) if len(args) == 1 else parts


def sequence_extreme_tangent(args_dot: Any, out: Any, args: Any) -> Any:
    """The tangent of Python's `max` and `min`."""
    xs, xs_dot = (args[0], args_dot[0]) if len(args) == 1 else (args, args_dot)
    if isinstance(out, tuple | list):
        return xs_dot[taken_whole(out, xs)]
    shares = sequence_extreme_share(out, xs)
    return sum([share * x_dot if share else share for share, x_dot in zip(shares, xs_dot, strict=True)])


def sequence_extreme_share(out: Any, xs: Any) -> Any:
    """1 for the element that is the extreme; ties share evenly, and nan has nan."""
    ties = [bool(np.all(x == out)) for x in xs]
    return [tie / sum(ties) if any(ties) else np.nan for tie in ties]


def taken_whole(out: Any, xs: Any) -> int:
    """The place of `out`, a tuple or list, in `xs`: the first of those that Python takes for equal.

    >>> taken_whole((2.0, 1), [(1.0, 0), (2.0, 1), (2.0, 1)])
    1
    """
    same = [i for i, x in enumerate(xs) if x is out]
    return same[0] if same else next(i for i, x in enumerate(xs) if x == out)


def sequence_products(g: Any, xs: Any) -> Any:
    """The adjoint of the factors of ``math.prod``."""
    return like_sequence([g * others for others in factors(np.array(xs), None, True)], xs)


def sequence_products_tangent(xs_dot: Any, xs: Any) -> Any:
    """The tangent of ``math.prod``."""
    return np.sum(np.array(xs_dot) * factors(np.array(xs), None, True))


def moving_sum(xs_dot: Any, slopes: Any) -> Any:
    """The sum of tangents times slopes; None is the tangent of an operand that does not move.

    >>> moving_sum((2.0, None), (0.5, 3.0))
    1.0
    """
    return sum([x_dot * slope for x_dot, slope in zip(xs_dot, slopes, strict=True) if x_dot is not None])


def sumprod_adjoint(g: Any, q: Any, p: Any) -> Any:
    """The adjoint of `p` in the sum of the products of `p` and `q`."""
    return like_sequence([g * one for one in q], p)


def sumprod_tangent(p_dot: Any, q: Any) -> Any:
    """The sum of the products of two sequences."""
    return np.sum(np.multiply(p_dot, q))
