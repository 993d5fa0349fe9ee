"""Helpers of the rules for transforms, convolutions, differences, interpolation and statistics of pairs.

In: adjoints, and the operands that they belong to. Out: adjoints of the shape of the operands. Every
function is plain NumPy and names nothing but `np` and functions of this file and of `support`, and can be
carried by a built gradient file.

    >>> mirrored("forward")
    'backward'
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import nothing, own, unbroadcast
from .support_linalg import lstsq_a_adjoint, lstsq_a_tangent, lstsq_b_adjoint, lstsq_b_tangent

# -- Fourier transforms --------------------------------------------------------------------------------


def mirrored(norm: Any) -> Any:
    """The norm with which the inverse transform is the adjoint of the one with `norm`.

    >>> mirrored(None), mirrored("ortho")
    ('forward', 'ortho')
    """
    return {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}[norm]


def fitted(x: Any, a: Any) -> Any:
    """`x` cut, or filled with zeros, to the shape of `a`.

    >>> fitted(np.array([1.0, 2.0, 3.0]), np.zeros(2))
    array([1., 2.])
    """
    shape = np.shape(a)
    if np.shape(x) == shape:
        return x
    x = x[tuple(slice(n) for n in shape)]
    return np.pad(x, [(0, n - m) for n, m in zip(shape, np.shape(x), strict=True)])


def fft_adjoint(g: Any, a: Any, n: Any, axis: int, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.fft(a, n, axis, norm)`."""
    back = np.fft.ifft(g, axis=axis, norm=mirrored(norm))
    return back if n is None else fitted(back, a)


def ifft_adjoint(g: Any, a: Any, n: Any, axis: int, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.ifft(a, n, axis, norm)`."""
    back = np.fft.fft(g, axis=axis, norm=mirrored(norm))
    return back if n is None else fitted(back, a)


def fftn_adjoint(g: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.fftn(a, s, axes, norm)`."""
    back = np.fft.ifftn(g, axes=fft_axes(a, s, axes), norm=mirrored(norm))
    return back if s is None else fitted(back, a)


def ifftn_adjoint(g: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.ifftn(a, s, axes, norm)`."""
    back = np.fft.fftn(g, axes=fft_axes(a, s, axes), norm=mirrored(norm))
    return back if s is None else fitted(back, a)


def fft_axes(a: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes that `np.fft.fftn(a, s, axes)` transforms."""
    if axes is not None:
        return tuple(int(i) for i in axes)
    return tuple(range(-(np.ndim(a) if s is None else len(s)), 0))


def scaled_inside(x: Any, n: int, axis: int, factor: float) -> Any:
    """Half a spectrum of `n` real samples, with the frequencies that stand for two multiplied."""
    weight = np.ones(np.shape(x)[axis], np.real(x).dtype, like=own(x))
    weight[1 : (n + 1) // 2] = factor
    return x * np.reshape(weight, [-1 if i == axis % np.ndim(x) else 1 for i in range(np.ndim(x))])


def rfft_adjoint(g: Any, a: Any, n: Any, axis: int, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.rfft(a, n, axis, norm)`."""
    n = np.shape(a)[axis] if n is None or n == -1 else n
    return fitted(np.fft.irfft(scaled_inside(g, n, axis, 0.5), n, axis, mirrored(norm)), a)


def irfft_adjoint(g: Any, a: Any, axis: int, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.irfft(a, n, axis, norm)`."""
    n = np.shape(g)[axis]
    return fitted(scaled_inside(np.fft.rfft(g, n, axis, mirrored(norm)), n, axis, 2.0), a)


def rfftn_adjoint(g: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.rfftn(a, s, axes, norm)`: the last axis is the real one."""
    axes = fft_axes(a, s, axes)
    n = np.shape(a)[axes[-1]] if s is None or s[-1] == -1 else s[-1]
    if len(axes) > 1:
        g = np.fft.ifftn(g, None, axes[:-1], mirrored(norm))
    return fitted(np.fft.irfft(scaled_inside(g, n, axes[-1], 0.5), n, axes[-1], mirrored(norm)), a)


def irfftn_adjoint(g: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The adjoint of `a` in `np.fft.irfftn(a, s, axes, norm)`."""
    axes = fft_axes(a, s, axes)
    n = np.shape(g)[axes[-1]]
    half = scaled_inside(np.fft.rfft(g, n, axes[-1], mirrored(norm)), n, axes[-1], 2.0)
    if len(axes) > 1:
        half = np.fft.fftn(half, None, axes[:-1], mirrored(norm))
    return fitted(half, a)


# -- convolutions --------------------------------------------------------------------------------------


def in_full(g: Any, n: int, m: int, mode: Any) -> Any:
    """The adjoint of a convolution of `n` and `m` elements as that of its full form."""
    if mode == "full":
        return g
    start = min(n, m) - 1 if mode == "valid" else (min(n, m) - 1) // 2
    full = np.zeros(n + m - 1, g.dtype, like=own(g))
    full[start : start + len(g)] = g
    return full


def convolve_a_adjoint(g: Any, a: Any, v: Any, mode: Any) -> Any:
    """The adjoint of `a` in `np.convolve(a, v, mode)`; exchange `a` and `v` for that of `v`.

    >>> convolve_a_adjoint(np.array([1.0, 2.0, 3.0]), np.zeros(2), np.array([1.0, 10.0]), "full")
    array([21., 32.])
    """
    full = in_full(g, np.size(a), np.size(v), mode)
    # 'valid' exchanges its operands if the second is longer, so an `a` of any length comes out in order
    return np.reshape(np.convolve(full, np.ravel(np.asarray(v, like=own(full)))[::-1], "valid"), np.shape(a))


def correlate_adjoints(g: Any, a: Any, v: Any, mode: Any) -> tuple[Any, Any]:
    """The adjoints of `a` and `v` in `np.correlate(a, v, mode)`; not holomorphic, for `v` is conjugated.

    `np.correlate(a, v)` convolves `a` with `conj(v)[::-1]`; where `v` is longer, NumPy exchanges them.
    """
    if np.size(v) > np.size(a):
        v_bar, a_bar = correlate_adjoints(np.conj(g)[::-1], v, a, mode)
        return a_bar, v_bar
    mirror = np.conj(np.ravel(v))[::-1]
    a_bar = np.conj(convolve_a_adjoint(np.conj(g), a, mirror, mode))
    mirror_bar = np.conj(convolve_a_adjoint(np.conj(g), mirror, a, mode))
    return a_bar, np.reshape(np.conj(mirror_bar)[::-1], np.shape(v))


# -- differences ---------------------------------------------------------------------------------------


def diff_adjoint(g: Any, n: int, axis: int) -> Any:
    """The adjoint of `a` in `np.diff(a, n, axis)`.

    >>> diff_adjoint(np.array([1.0, 10.0]), 1, 0)
    array([-1., -9., 10.])
    """
    width = [(n, n) if i == axis % np.ndim(g) else (0, 0) for i in range(np.ndim(g))]
    return (-1) ** n * np.diff(np.pad(g, width), n, axis)


def diff_operand_adjoint(g: Any, x: Any, n: int, axis: int, start: Any) -> Any:
    """The adjoint of one of the operands that `np.diff` joins along `axis`: from `start`, or from the end."""
    joined = np.moveaxis(diff_adjoint(g, n, axis), axis, 0)
    length = np.shape(x)[axis] if np.ndim(x) else 1
    first = len(joined) - length if start is None else start
    return unbroadcast(np.moveaxis(joined[first : first + length], 0, axis), x)


def diff_length(x: Any, axis: int) -> int:
    """How much longer `prepend=x` makes the array of `np.diff`."""
    if x is np._NoValue:
        return 0
    return int(np.shape(x)[axis]) if np.ndim(x) else 1


def diff_tangent(parts: Any, shape: Any, n: int, axis: int) -> Any:
    """The tangent of `np.diff` of joined operands; None for one that is not given, a number is repeated."""
    whole = []
    for part in parts:
        if part is None:
            continue
        if np.ndim(part) == 0:
            part = np.asarray(part, like=own(parts[1]))
            part = np.broadcast_to(part, [1 if i == axis % len(shape) else m for i, m in enumerate(shape)])
        whole.append(part)
    return np.diff(np.concatenate(whole, axis), n, axis)


def zero_or_none(x: Any) -> Any:
    """Zeros like an operand of `np.diff`; None for one that is not given."""
    return None if x is np._NoValue else nothing(x)


def ediff1d_adjoint(g: Any, ary: Any, to_begin: Any) -> Any:
    """The adjoint of `ary` in `np.ediff1d(ary, to_end, to_begin)`."""
    start = 0 if to_begin is None else np.size(to_begin)
    inside = g[start : start + max(np.size(ary) - 1, 0)]
    if np.size(ary) == 0:
        return np.zeros_like(ary)
    return np.reshape(-np.diff(np.pad(inside, 1)), np.shape(ary))


def gradient_axes(f: Any, varargs: Any, axis: Any) -> tuple[list[int], list[Any]]:
    """The axes of `np.gradient(f, *varargs, axis=axis)`, non-negative, and the spacing along each."""
    ndim = np.ndim(f)
    axes = list(range(ndim)) if axis is None else [int(i) % ndim for i in np.atleast_1d(axis)]
    spacings = list(varargs) if varargs else [1.0]
    return axes, spacings * len(axes) if len(spacings) == 1 else spacings


def gradient_steps(f: Any, spacing: Any, n: int) -> Any:
    """The `n - 1` steps along an axis, of a spacing that is a number or coordinates."""
    return np.full(n - 1, spacing, like=own(f)) if np.ndim(spacing) == 0 else np.diff(spacing)


def gradient_weights(steps: Any, edge_order: int) -> Any:
    """Weights of neighbours in each element of `np.gradient` along an axis: a matrix of three diagonals.

    Kept as (rows of offsets, weights): element i is the sum of weights[k, i] * f[offsets[k, i]].
    """
    n = len(steps) + 1
    places = np.arange(n, like=own(steps))
    offsets = np.clip(np.stack([places - 1, places, places + 1]), 0, n - 1)
    weights = np.zeros((3, n), steps.dtype, like=own(steps))
    left, right = steps[:-1], steps[1:]
    weights[0, 1:-1] = -right / (left * (left + right))
    weights[1, 1:-1] = (right - left) / (left * right)
    weights[2, 1:-1] = left / (right * (left + right))
    if edge_order == 1:
        weights[1, 0], weights[2, 0] = -1 / steps[0], 1 / steps[0]
        weights[0, -1], weights[1, -1] = -1 / steps[-1], 1 / steps[-1]
        return offsets, weights
    offsets[:, 0], offsets[:, -1] = places[:3], places[-3:]
    for i, (near, far) in ((0, (steps[0], steps[1])), (-1, (steps[-1], steps[-2]))):
        both = near + far
        edge = np.stack([-(near + both) / (near * both), both / (near * far), -near / (far * both)])
        weights[:, i] = edge if i == 0 else -edge[::-1]
    return offsets, weights


def gradient_adjoint(g: Any, f: Any, varargs: Any, axis: Any, edge_order: int) -> Any:
    """The adjoint of `f` in `np.gradient(f, *varargs, axis=axis, edge_order=edge_order)`."""
    axes, spacings = gradient_axes(f, varargs, axis)
    f_bar = np.zeros_like(f)
    for g_i, i, spacing in zip((g,) if len(axes) == 1 else g, axes, spacings, strict=True):
        if g_i is None:
            continue
        offsets, weights = gradient_weights(gradient_steps(f, spacing, np.shape(f)[i]), edge_order)
        rows_bar, rows = np.moveaxis(f_bar, i, 0), np.moveaxis(g_i, i, 0)
        for offset, weight in zip(offsets, weights, strict=True):
            np.add.at(rows_bar, offset, np.reshape(weight, (-1,) + (1,) * (np.ndim(f) - 1)) * rows)
    return f_bar


def gradient_f_tangent(f_dot: Any, varargs: Any, axis: Any, edge_order: Any) -> Any:
    """The tangent of `np.gradient(f, *varargs)` for one of `f`."""
    return np.gradient(f_dot, *varargs, axis=axis, edge_order=edge_order)


def gradient_spacings_adjoint(g: Any, out: Any, f: Any, varargs: Any, axis: Any, edge_order: int) -> Any:
    """The adjoints of the spacings of `np.gradient`: numbers, or coordinates."""
    axes, spacings = gradient_axes(f, varargs, axis)
    adjoints: list[Any] = []
    single = len(axes) == 1
    for g_i, out_i, i, spacing in zip(*((g,), (out,)) if single else (g, out), axes, spacings, strict=True):
        adjoints.append(
            np.zeros_like(spacing) if g_i is None else spacing_adjoint(g_i, out_i, f, i, spacing, edge_order)
        )
    return (sum(adjoints),) if len(varargs) == 1 else tuple(adjoints)


def spacing_adjoint(g: Any, out: Any, f: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    """The adjoint of the spacing along one axis of `np.gradient`."""
    if np.ndim(spacing) == 0:
        return -np.sum(g * out) / spacing
    steps = np.diff(spacing)
    steps_bar = np.zeros_like(steps, dtype=np.result_type(g, f, steps))
    rows = np.reshape(np.moveaxis(g, axis, 0), (len(spacing), -1))
    for offsets, slopes in gradient_step_slopes(out, f, axis, steps, edge_order):
        np.add.at(steps_bar, offsets, np.sum(rows * slopes, axis=1))
    return -np.diff(np.pad(steps_bar, 1))


def spacing_tangent(dot: Any, out: Any, f: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    """The tangent of one result of `np.gradient` for that of its spacing."""
    if np.ndim(spacing) == 0:
        return -out * (dot / spacing)
    steps_dot = np.diff(dot)
    parts = gradient_step_slopes(out, f, axis, np.diff(spacing), edge_order)
    rows = sum(slopes * steps_dot[offsets][:, None] for offsets, slopes in parts)
    moved = np.moveaxis(out, axis, 0)
    return np.moveaxis(np.reshape(rows, np.shape(moved)), 0, axis)


def gradient_step_slopes(out: Any, f: Any, axis: int, steps: Any, edge_order: int) -> list[tuple[Any, Any]]:
    """The derivative of each element of `np.gradient` in two of the steps: (which steps, slopes) twice.

    With slopes p = (f1 - f0) / left and q = (f2 - f1) / right, an inner element is
    (right p + left q) / (left + right), and one at an edge is p, or p - left (q - p) / (left + right).
    """
    n = len(steps) + 1
    step = steps[:, None]
    slope = np.diff(np.reshape(np.moveaxis(f, axis, 0), (n, -1)), axis=0) / step
    out = np.reshape(np.moveaxis(out, axis, 0), (n, -1))
    places = np.arange(n, like=own(steps))
    near, far = np.clip(places - 1, 0, n - 2), np.clip(places, 0, n - 2)
    by_near, by_far = np.zeros_like(out), np.zeros_like(out)
    left, right, both = step[:-1], step[1:], step[:-1] + step[1:]
    by_near[1:-1] = (slope[1:] - right * slope[:-1] / left - out[1:-1]) / both
    by_far[1:-1] = (slope[:-1] - left * slope[1:] / right - out[1:-1]) / both
    for i, a, b in ((0, 0, 1), (-1, n - 2, n - 3)):
        if edge_order == 1:
            by_near[i] = -slope[a] / step[a]
            continue
        near[i], far[i] = a, b
        total = step[a] + step[b]
        bend = (slope[b] - slope[a]) / total
        by_near[i] = -slope[a] / step[a] - bend - slope[a] / total + step[a] * bend / total
        by_far[i] = step[a] * slope[b] / (step[b] * total) + step[a] * bend / total
    return [(near, by_near), (far, by_far)]


def gradient_spacings_tangent(dots: Any, out: Any, f: Any, varargs: Any, axis: Any, edge_order: int) -> Any:
    """The tangent of `np.gradient` for those of its spacings; None among them means zero."""
    axes, spacings = gradient_axes(f, varargs, axis)
    dots = list(dots) * len(axes) if len(dots) == 1 else dots
    results = (out,) if len(axes) == 1 else out
    tangents = []
    for dot, out_i, i, spacing in zip(dots, results, axes, spacings, strict=True):
        still = dot is None
        tangents.append(
            np.zeros_like(out_i) if still else spacing_tangent(dot, out_i, f, i, spacing, edge_order)
        )
    return tangents[0] if len(axes) == 1 else tuple(tangents)


# -- interpolation -------------------------------------------------------------------------------------


def interp_places(x: Any, xp: Any, period: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Where `np.interp` finds each `x`: the knots below and above, how far between, how wide, which side.

    The side is -1 left of all knots, 1 right of all, else 0.
    """
    x, xp, n = np.asarray(x, like=own(xp)), np.asarray(xp, like=own(x)), len(xp)
    order = np.arange(n, like=own(xp))
    if period is not None:
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp, kind="stable")
        order = np.concatenate([order[-1:], order, order[:1]])
        xp = np.concatenate([xp[order[:1]] - period, xp[order[1:-1]], xp[order[-1:]] + period])
    side = np.where(x < xp[0], -1, np.where(x > xp[-1], 1, 0))
    below = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(len(xp) - 2, 0))
    above = np.minimum(below + 1, len(xp) - 1)
    width = np.where(above > below, xp[above] - xp[below], 1)
    t = np.clip((x - xp[below]) / width, 0, 1)
    return order[below], order[above], t, width, side


def interp_slopes(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any, Any]:
    """The knots below and above each `x`, how far between, and the slope there; 0 beyond all knots."""
    below, above, t, width, side = interp_places(x, xp, period)
    fp = np.asarray(fp, like=own(fp))
    return below, above, t, np.where(side == 0, (fp[above] - fp[below]) / width, 0)


def interp_xp_adjoint(g: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The adjoint of `xp` in `np.interp(x, xp, fp)`."""
    below, above, t, slope = interp_slopes(x, xp, fp, period)
    xp_bar = np.zeros(np.shape(xp), np.result_type(g, slope), like=own(slope))
    np.add.at(xp_bar, below, -g * slope * (1 - t))
    np.add.at(xp_bar, above, -g * slope * t)
    return xp_bar


def interp_fp_adjoint(g: Any, x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    """The adjoint of `fp` in `np.interp(x, xp, fp, left, right)`."""
    below, above, t, _, side = interp_places(x, xp, period)
    given = ((side < 0) & (left is not None)) | ((side > 0) & (right is not None))
    g = np.where(given, 0, g)
    fp_bar = np.zeros(np.shape(fp), g.dtype, like=own(g))
    np.add.at(fp_bar, below, g * (1 - t))
    np.add.at(fp_bar, above, g * t)
    return fp_bar


def interp_outside(g: Any, x: Any, xp: Any, side: int, period: Any) -> Any:
    """The adjoint of `left` (side -1) or `right` (side 1) in `np.interp`; a period has no outside."""
    if period is not None:
        return np.zeros_like(np.sum(g))
    return np.sum(np.where(x < np.min(xp) if side < 0 else x > np.max(xp), g, 0))


def interp_xp_tangent(xp_dot: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The tangent of `np.interp(x, xp, fp)` for one of `xp`."""
    below, above, t, slope = interp_slopes(x, xp, fp, period)
    xp_dot = np.asarray(xp_dot, like=own(xp_dot))
    return -slope * (xp_dot[below] * (1 - t) + xp_dot[above] * t)


def interp_side_tangent(dot: Any, x: Any, xp: Any, side: int, period: Any) -> Any:
    """The tangent of `np.interp` for one of `left` (side -1) or `right` (side 1)."""
    if period is not None:
        return np.zeros_like(x)
    return np.where(x < np.min(xp) if side < 0 else x > np.max(xp), dot, 0)


def zeros_if_given(value: Any) -> Any:
    """Zeros like a value that is given, None for one that is not."""
    return None if value is None else nothing(value)


def zero_if_given(value: Any) -> Any:
    """0 for a value that is given, None for one that is not."""
    return None if value is None else 0


# -- polynomials ---------------------------------------------------------------------------------------


def polyval_p_adjoint(g: Any, p: Any, x: Any) -> Any:
    """The adjoint of `p` in `np.polyval(p, x)`."""
    powers = np.vander(np.ravel(np.asarray(x, like=own(p))), len(p))
    return np.ravel(g) @ powers


def at_end(g: Any, a: Any) -> Any:
    """The part of `g` that belongs to coefficients `a`, the last of which are the lowest."""
    return np.reshape(g[len(g) - np.size(a) :], np.shape(a))


def at_front_zero(g: Any, n: int) -> Any:
    """`g` with zeros before it, up to `n` coefficients: NumPy drops leading ones that are zero."""
    return np.concatenate([np.zeros(n - len(g), g.dtype, like=own(g)), g])


def polymul_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.polymul(a, b)`."""
    return convolve_a_adjoint(at_front_zero(g, np.size(a) + np.size(b) - 1), a, b, "full")


def polymul_tangent(a_dot: Any, a: Any, b: Any, out: Any) -> Any:
    """The tangent of `np.polymul(a, b)` for one of `a`, as long as the result."""
    return np.convolve(np.ravel(a_dot), np.ravel(b))[-len(out) :]


def polynomial_slope(p: Any) -> Any:
    """The coefficients of the derivative of a polynomial: `np.polyder(p)`, which CuPy has not.

    >>> polynomial_slope(np.array([3.0, 2.0, 1.0]))
    array([6., 2.])
    """
    return p[:-1] * np.arange(len(p) - 1, 0, -1, like=own(p))


def polyder_adjoint(g: Any, p: Any, m: int) -> Any:
    """The adjoint of `p` in `np.polyder(p, m)`."""
    n = len(p)
    if n <= m:
        return np.zeros_like(p)
    factor = np.polyder(np.ones(n, like=own(g)), m)
    return np.concatenate([g * factor, np.zeros(m, g.dtype, like=own(g))])


def polyint_adjoint(g: Any, p: Any, m: int) -> Any:
    """The adjoint of `p` in `np.polyint(p, m)`."""
    return g[: len(p)] * np.polyint(np.ones(len(p), like=own(g)), m)[: len(p)]


def poly_slopes(zeros: Any) -> Any:
    """The derivative of `np.poly(zeros)` in each zero: minus the polynomial of the others, one row each."""
    n = len(zeros)
    one = np.ones(1, like=own(zeros))
    others = [one] * n
    for i in range(n):
        for k in range(n):
            if k != i:
                others[i] = np.convolve(others[i], np.concatenate([one, -zeros[k : k + 1]]))
    if n == 0:
        return np.zeros((0, 1), like=own(zeros))
    return -np.stack([np.concatenate([0 * one, row]) for row in others])


def roots_slopes(out: Any, p: Any) -> Any:
    """The derivative of each root of `p` in each coefficient: -r^k / p'(r)."""
    return -np.vander(out, len(p)) / np.polyval(polynomial_slope(p), out)[:, None]


def polyfit_system(x: Any, y: Any, deg: int, w: Any) -> tuple[Any, Any, Any]:
    """The powers of `x`, these weighted, and `y` weighted: the system that `np.polyfit` solves."""
    powers = np.vander(x, deg + 1)
    if w is None:
        return powers, powers, y
    return powers, powers * w[:, None], y * np.reshape(w, (-1,) + (1,) * (np.ndim(y) - 1))


def polyfit_adjoints(g: Any, out: Any, x: Any, y: Any, deg: int, w: Any) -> tuple[Any, Any, Any]:
    """The adjoints of `x`, `y` and `w` in `np.polyfit(x, y, deg, w=w)`, where the powers are independent."""
    powers, a, b = polyfit_system(x, y, deg, w)
    found, c = (out, None, np.linalg.matrix_rank(a), None), (g, None, None, None)
    a_bar, b_bar = lstsq_a_adjoint(c, found, a, b), lstsq_b_adjoint(c, found, a, b)
    weight = np.ones_like(x) if w is None else w
    x_bar = weight * np.sum(a_bar[:, :-1] * powers[:, 1:] * np.arange(deg, 0, -1, like=own(x)), axis=1)
    w_bar = np.sum(a_bar * powers, axis=1) + np.sum(np.reshape(b_bar * y, (len(x), -1)), axis=1)
    return x_bar, b_bar * np.reshape(weight, (-1,) + (1,) * (np.ndim(y) - 1)), w_bar


def polyfit_tangent(dots: Any, out: Any, x: Any, y: Any, deg: int, w: Any) -> Any:
    """The tangent of `np.polyfit(x, y, deg, w=w)` for those of `x`, `y` and `w`; None where there is none."""
    x_dot, y_dot, w_dot = dots
    powers, a, b = polyfit_system(x, y, deg, w)
    weight = np.ones_like(x) if w is None else w
    a_dot = np.zeros_like(a)
    b_dot = np.zeros_like(b)
    per_row = (-1,) + (1,) * (np.ndim(y) - 1)
    if x_dot is not None:
        a_dot[:, :-1] += powers[:, 1:] * np.arange(deg, 0, -1, like=own(x)) * (x_dot * weight)[:, None]
    if w_dot is not None:
        a_dot = a_dot + powers * w_dot[:, None]
        b_dot = b_dot + y * np.reshape(w_dot, per_row)
    if y_dot is not None:
        b_dot = b_dot + y_dot * np.reshape(weight, per_row)
    found = (out, np.zeros(0), np.linalg.matrix_rank(a), np.zeros(0))
    return lstsq_a_tangent(a_dot, found, a, b)[0] + lstsq_b_tangent(b_dot, found, a, b)[0]


def polydiv_adjoints(g: Any, out: Any, u: Any, v: Any) -> Any:
    """The adjoints of `u` and `v` in `q, r = np.polydiv(u, v)`, where u = q v + r.

    The quotient is the solution of the first len(q) of these equations, the remainder what is left.
    """
    u, v, (q, r) = np.atleast_1d(u), np.atleast_1d(v), out
    q_bar = np.zeros_like(q) if g[0] is None else g[0]
    w_bar = np.zeros(len(u), q.dtype, like=own(q))
    if g[1] is not None:
        w_bar[len(u) - len(r) :] = g[1]
    if len(u) < len(v):  # the quotient is 0
        return w_bar, np.zeros_like(v)
    by_v = multiplication_matrix(v, len(q))
    w_bar[: len(q)] += np.linalg.solve(by_v[: len(q)].T, q_bar - by_v.T @ w_bar)
    return w_bar, -multiplication_matrix(q, len(v)).T @ w_bar


def polydiv_tangent(w_dot: Any, out: Any, v: Any) -> Any:
    """The tangents of `q, r = np.polydiv(u, v)` for `w_dot`, the tangent of `u - q v` where q is fixed."""
    v, (q, r) = np.atleast_1d(v), out
    if len(w_dot) < len(v):
        return np.zeros_like(q), w_dot[len(w_dot) - len(r) :]
    by_v = multiplication_matrix(v, len(q))
    q_dot = np.linalg.solve(by_v[: len(q)], w_dot[: len(q)])
    return q_dot, (w_dot - by_v @ q_dot)[len(w_dot) - len(r) :]


def multiplication_matrix(v: Any, n: int) -> Any:
    """The matrix that multiplies a polynomial of `n` coefficients by `v`.

    >>> multiplication_matrix(np.array([1.0, 2.0]), 2)
    array([[1., 0.],
           [2., 1.],
           [0., 2.]])
    """
    return np.stack([np.convolve(unit, v) for unit in np.eye(n, like=own(v))], axis=1)


def quotient_times(q: Any, v_dot: Any, u: Any) -> Any:
    """`-q v_dot`, as long as the polynomial `u` that was divided."""
    v_dot, n = np.atleast_1d(v_dot), np.size(u)
    return np.zeros(n) if n < len(v_dot) else -np.convolve(q, v_dot)
