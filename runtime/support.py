"""The few helpers that emitted code and rules may call.

In: arrays, scalars and nests of them. Out: the same. Every function here is plain NumPy, names nothing but
`np` and other functions of this file, and can therefore be carried by a built gradient file.

    >>> unbroadcast(np.ones((3, 2)), np.zeros(2))
    array([3., 3.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def unbroadcast(g: Any, x: Any) -> Any:
    """`g`, an adjoint of something that `x` was broadcast to, summed to the shape of `x`, in its dtype.

    >>> unbroadcast(np.ones((3, 2)), 1.0)
    np.float64(6.0)
    """
    if hasattr(x, "dtype") and hasattr(g, "dtype") and g.dtype == x.dtype and g.shape == x.shape:
        return g
    if isinstance(g, tuple):  # of a sum of tuples: their parts, or one tuple after the other
        if len(g) != len(x):
            raise TypeError("the gradient of `+` of tuples of unknown length is not followed: use lists")
        return g
    shape = np.shape(x)
    if np.shape(g) != shape:
        extra = np.ndim(g) - len(shape)
        if extra < 0 or any(
            n not in (1, m) for n, m in zip(np.shape(g)[max(extra, 0) :], shape, strict=False)
        ):
            g = np.broadcast_to(g, np.broadcast_shapes(np.shape(g), shape))
            extra = np.ndim(g) - len(shape)
        if extra > 0:
            g = np.sum(g, axis=tuple(range(extra)))
        stretched = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(g)[i] != 1)
        if stretched:
            g = np.sum(g, axis=stretched, keepdims=True)
        if np.shape(g) != shape:  # `g` itself is constant along an axis of `x`
            g = np.broadcast_to(g, shape)
    return real_if_real(g, x)


def rebroadcast(g_bar: Any, g: Any, x: Any) -> Any:
    """The adjoint of `g` in ``unbroadcast(g, x)``: stretched again over what was summed.

    >>> rebroadcast(np.array([5.0, 6.0]), np.ones((3, 2)), np.zeros(2)).shape
    (3, 2)
    """
    whole = np.broadcast_shapes(np.shape(g), np.shape(x))
    return unbroadcast(np.broadcast_to(g_bar, whole), g)


def real_if_real(g: Any, x: Any) -> Any:
    """`g` in the dtype of `x`: the real part if `x` is real; Python numbers leave the precision alone.

    >>> real_if_real(1 + 2j, np.float64(3.0))
    1.0
    """
    if hasattr(x, "dtype") and hasattr(g, "dtype") and g.dtype == x.dtype:
        return g
    if np.iscomplexobj(g) and not np.iscomplexobj(x):
        g = np.real(g)
    dtype = getattr(x, "dtype", None)
    if dtype is None or getattr(g, "dtype", dtype) == dtype or dtype.kind not in "fc":
        return g
    return g.astype(dtype)


def own(x: Any) -> Any:
    """What `like=` takes for a new array beside `x`: `x` itself, or None (NumPy's) for a number.

    >>> np.arange(3, like=own(np.zeros(2))), own(2.0)
    (array([0, 1, 2]), None)
    """
    return x if hasattr(x, "__array_function__") else None


def nothing(g: Any) -> Any:
    """Zeros of the shape and dtype of `g`; a plain 0 for a number, that it may stand beside any arrays.

    >>> nothing(2.0), nothing(np.ones(2))
    (0.0, array([0., 0.]))
    """
    return 0.0 if np.ndim(g) == 0 and not hasattr(g, "dtype") else np.zeros_like(g)


def conj(g: Any) -> Any:
    """The complex conjugate of an adjoint or of a tuple of them; what is real is returned as it is."""
    if isinstance(g, tuple | list):
        parts: Any = [None if part is None else conj(part) for part in g]
        return type(g)(*parts) if hasattr(g, "_fields") else type(g)(parts)
    return np.conj(g) if np.iscomplexobj(g) else g


def where_taken(untaken: Any, safe: Any, x: Any) -> Any:
    """`x`, and where nothing arrives of what it is used for, a value at which derivatives are finite."""
    if np.ndim(untaken) == np.ndim(x) == 0 and not isinstance(x, np.ndarray):
        return safe if untaken else x
    return np.where(untaken, safe, x)


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """`f` at the leaves of nested tuples, lists and dicts of one structure."""
    if isinstance(tree, dict):
        return {key: tree_map(f, value, *(r[key] for r in rest)) for key, value in tree.items()}
    if isinstance(tree, tuple | list):
        parts = [tree_map(f, *parts) for parts in zip(tree, *rest, strict=True)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return f(tree, *rest)


# -- elementwise rules -------------------------------------------------------------------------------


def ratio_or_zero(a: Any, b: Any) -> Any:
    """`a / b`, and 0 where both are 0 (only for `a` that is 0 wherever `b` is).

    >>> ratio_or_zero(np.array([3.0, 0.0]), np.array([4.0, 0.0]))
    array([0.75, 0.  ])
    """
    return a / (b + (b == 0))


def power_adjoint(g: Any, x: Any, y: Any) -> Any:
    """The adjoint of `x` in ``x ** y``; ``x ** 0`` has derivative 0 at every `x`, also at 0.

    >>> power_adjoint(1.0, 0.0, 0), power_adjoint(1.0, -2.0, 3)
    (0.0, 12.0)
    """
    if not isinstance(y, int | float):
        return g * y * x ** (y - 1 + (y == 0))
    if y == 0:
        return 0.0 * g
    if y == 1:
        return g
    if y == 2:
        return 2 * g * x
    return y * g * x ** (y - 1)


def exponent_adjoint(g: Any, out: Any, x: Any) -> Any:
    """The adjoint of `y` in ``out = x ** y``; 0 where `x` is 0."""
    return g * out * np.log(x + (x == 0))


def log_scale(x: Any, base: Any) -> Any:
    """What the derivative of ``log(x, base)`` in `x` is 1 over; `base` is None for the natural logarithm."""
    if base is None:
        return x
    return x * np.log(base)


def not_minus_inf(x: Any) -> Any:
    """`x` with 0 in place of -inf, so that ``-inf - x`` is -inf and not nan."""
    return np.where(np.equal(x, -np.inf), 0.0, x)[()]


def divmod_adjoint(g: Any) -> Any:
    """The adjoint of the remainder out of the pair's; the quotient is a step function."""
    return 0.0 if g[1] is None else g[1]


def divmod_tangent(r_dot: Any, out: Any) -> Any:
    """The tangent of ``divmod``, from that of the remainder."""
    r_dot = np.broadcast_to(r_dot, np.shape(out[1]))
    return (np.zeros_like(r_dot), r_dot)


def sinc_slope(x: Any) -> Any:
    """The derivative of ``np.sinc``, by its series near 0 where the closed form cancels.

    >>> sinc_slope(1.0)
    np.float64(-1.0)
    """
    t = np.pi * np.asarray(x, like=own(x))
    small = np.abs(t) < 0.1
    t2 = np.where(small, t * t, 0.0)
    u = np.where(small, 1.0, t)
    series = t * (-1 / 3 + t2 * (1 / 30 + t2 * (-1 / 840 + t2 / 45360)))
    return (np.pi * np.where(small, series, (np.cos(u) - np.sin(u) / u) / u))[()]


def bessel_i1(x: Any) -> Any:
    """The modified Bessel function I1, the derivative of ``np.i0``.

    The midpoint rule on its integral over a quarter period; that converges faster than any power, and 64
    points serve every `x` at which the result does not overflow.
    """
    c = np.cos(np.pi * (np.arange(64, like=own(x)) + 0.5) / 128)
    return np.mean(np.sinh(np.expand_dims(x, -1) * c) * c, axis=-1)


def digamma(x: Any) -> Any:
    """The derivative of ``math.lgamma`` at one number, nan at its poles.

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    if x <= 0 and x == np.floor(x):
        return np.nan
    if x < 0:
        return digamma(1.0 - x) - np.pi / np.tan(np.pi * x)
    below = 0.0
    while x < 10.0:
        below -= 1.0 / x
        x += 1.0
    s = 1.0 / (x * x)
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * 691 / 32760)))))
    return float(below + np.log(x) - 0.5 / x - tail)


# -- complex numbers ---------------------------------------------------------------------------------


def real_product(a: Any, b: Any) -> Any:
    """The real part of ``conj(a) * b``: the inner product of two numbers as pairs."""
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        return np.real(np.conj(a) * b)
    return a * b


def sign_adjoint(g: Any, out: Any, x: Any) -> Any:
    """The adjoint of ``np.sign``: 0 for real numbers; ``z / |z|`` turns but keeps its length."""
    if not np.iscomplexobj(x):
        return np.zeros_like(g)
    return ratio_or_zero((g - out * real_product(out, g)) * (x != 0), np.abs(x))


def imag_adjoint(g: Any, z: Any) -> Any:
    """The adjoint of ``np.imag``."""
    if np.iscomplexobj(z):
        return 1j * g
    return np.zeros_like(g)


def angle_adjoint(g: Any, z: Any, deg: Any) -> Any:
    """The adjoint of ``np.angle``; nan at 0, where no angle is defined."""
    if not np.iscomplexobj(z):
        return np.zeros_like(g)
    if deg:
        return np.degrees(g) * 1j / np.conj(z)
    return g * 1j / np.conj(z)


def angle_tangent(z_dot: Any, z: Any, deg: Any) -> Any:
    """The tangent of ``np.angle``."""
    if not np.iscomplexobj(z):
        return np.zeros_like(np.real(z_dot))
    if deg:
        return np.degrees(np.imag(z_dot / z))
    return np.imag(z_dot / z)


def real_part_like(x_dot: Any, out: Any) -> Any:
    """`x_dot`, or its real part if `out` is real."""
    if np.iscomplexobj(out):
        return x_dot
    return np.real(x_dot)


# -- choosing among operands -------------------------------------------------------------------------


def first_given(a: Any, b: Any) -> Any:
    """`b` if `a` is None, else `a`."""
    if a is None:
        return b
    return a


def within_adjoint(g: Any, a: Any, low: Any, high: Any) -> Any:
    """The adjoint of `a` clipped to `low` and `high` (None: no bound); at a bound, `a` has it all."""
    if low is None and high is None:
        return g
    if low is None:
        return np.where(a <= high, g, 0)
    if high is None:
        return np.where(a >= low, g, 0)
    return np.where((a >= low) & (a <= high), g, 0)


def below_adjoint(g: Any, a: Any, low: Any, high: Any) -> Any:
    """The adjoint of the lower bound of a clip; the upper bound wins where they cross."""
    if high is None:
        return np.where(a < low, g, 0)
    return np.where((a < low) & (low <= high), g, 0)


def above_adjoint(g: Any, a: Any, low: Any, high: Any) -> Any:
    """The adjoint of the upper bound of a clip."""
    if low is None:
        return np.where(a > high, g, 0)
    return np.where((a > high) | (low > high), g, 0)


def select_adjoint(g: Any, condlist: Any, choicelist: Any) -> Any:
    """The adjoints of the choices of ``np.select``: `g` where a choice's condition is the first true one."""
    left = np.ones_like(g, bool)
    adjoints = []
    for condition, choice in zip(condlist, choicelist, strict=True):
        adjoints.append(unbroadcast(np.where(left & condition, g, 0), choice))
        left = left & ~np.asarray(condition, like=own(condition))
    return adjoints


def select_default_adjoint(g: Any, condlist: Any, default: Any) -> Any:
    """The adjoint of the default of ``np.select``: `g` where no condition is true."""
    taken: Any = False
    for condition in condlist:
        taken = taken | np.asarray(condition, like=own(condition))
    return unbroadcast(np.where(taken, 0, g), default)


def select_tangent(condlist: Any, choicelist_dot: Any, out: Any) -> Any:
    """The tangent of ``np.select`` in its choices."""
    return np.broadcast_to(np.select(condlist, choicelist_dot, 0), np.shape(out))


# -- array methods -----------------------------------------------------------------------------------


def item_adjoint(g: Any, a: Any, index: Any) -> Any:
    """The adjoint of ``a.item(*index)``: `g` at that element.

    >>> item_adjoint(2.0, np.zeros((1, 2)), (0, 1))
    array([[0., 2.]])
    """
    a_bar = np.zeros_like(a)
    if len(index) == 0:
        return a_bar + g
    if len(index) == 1:
        index = index[0]
    a_bar[index if isinstance(index, tuple) else np.unravel_index(index % np.size(a), np.shape(a))] = g
    return a_bar


def nested_adjoint(g: Any, a: Any) -> Any:
    """The adjoint of ``a.tolist()`` from nested lists, in which None stands for 0.

    >>> nested_adjoint([1.0, None], np.zeros(2))
    array([1., 0.])
    """
    if g is None:
        return np.zeros_like(a)
    if np.ndim(a) == 0:
        return np.asarray(g)[()]
    if isinstance(g, np.ndarray):
        return g
    return np.array([nested_adjoint(part, row) for part, row in zip(g, a, strict=True)])


def stop_gradient(x: Any) -> Any:
    """`x` itself, which a gradient takes for a constant.

    >>> stop_gradient(2.0)
    2.0
    """
    return x.detach() if hasattr(x, "detach") else x


# -- ufunc.outer -------------------------------------------------------------------------------------


def spread(a: Any, b: Any) -> Any:
    """`a` with the axes of `b` added at its end, of length 1.

    >>> spread(np.zeros(3), np.zeros((2, 4))).shape
    (3, 1, 1)
    """
    if np.ndim(a) == 0:
        return a
    return np.reshape(a, np.shape(a) + (1,) * np.ndim(b))


def unspread(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `spread`, after broadcasting against `b`."""
    return np.reshape(unbroadcast(g, spread(a, b)), np.shape(a))


# -- arrays made from numbers ------------------------------------------------------------------------


def arange_start_adjoint(g: Any, stop: Any) -> Any:
    """The adjoint of the first argument of ``np.arange``; alone, it is where to stop."""
    if stop is None:
        return 0.0
    return np.sum(g)


def arange_start_tangent(start_dot: Any, out: Any, stop: Any) -> Any:
    """The tangent of ``np.arange`` in its first argument."""
    if stop is None:
        return np.zeros_like(out)
    return np.full_like(out, start_dot)


def kaiser_slope(out: Any, m: Any, beta: Any) -> Any:
    """The derivative of ``np.kaiser`` in `beta`."""
    half = (m - 1) / 2
    steps = np.arange(m, like=own(out)) - half
    r = np.sqrt(np.maximum(0.0, 1 - (steps / half) ** 2)) if m > 1 else np.ones_like(out)
    return (r * bessel_i1(beta * r) - out * bessel_i1(beta)) / np.i0(beta)


def polar_adjoint(g: Any, z: Any) -> Any:
    """The adjoint of ``cmath.polar``, of which either part may have none."""
    r_bar = 0.0 if g[0] is None else g[0]
    phi_bar = 0.0 if g[1] is None else g[1]
    return r_bar * np.sign(z) + phi_bar * 1j / np.conj(z)


def polar_tangent(z_dot: Any, z: Any) -> Any:
    """The tangent of ``cmath.polar``."""
    return (real_product(np.sign(z), z_dot), np.imag(z_dot / z))


def as_built_for(**arrays: Any) -> None:
    """Refuse arrays that a built gradient is not for: of other dimensions, or an axis of length 1 too many.

    Args:
        arrays: by name, the array and for each axis whether it has length 1 (None: either).

    >>> as_built_for(w=(np.zeros(1), (False,)))
    Traceback (most recent call last):
    ...
    ValueError: w has shape (1,); build the gradient again for arrays like it
    """
    for name, (array, ones) in arrays.items():
        shape = np.shape(array)
        apart = [i for i, one in enumerate(ones[: len(shape)]) if one is not None and (shape[i] == 1) != one]
        if len(shape) != len(ones) or apart:
            raise ValueError(f"{name} has shape {shape}; build the gradient again for arrays like it")
