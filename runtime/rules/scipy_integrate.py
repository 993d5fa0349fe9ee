"""Integrals and differential equations of SciPy.

In: `g`, `out` and the operands. Out: for sums over samples (`trapezoid`, `simpson`), the transpose; for
`quad`, the integral of the derivative, and the integrand at the ends; for `solve_ivp`, the steps that SciPy
took, taken again so that each of them can be differentiated (where the steps are has no derivative); for
`odeint`, of whose steps nothing is known, the adjoint equation.

    @instead(scipy.integrate.quad, func=NUMBER)
    def quad(func, a, b, **options):
        found = as_it_is(None, scipy.integrate.quad, func, a, b, **options)
        return integral(item_like(0.0, found, 0), func, a, b), item_like(0.0, found, 1)

This file is imported when a function is looked up after `scipy.integrate` was imported, never before.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.integrate

from ..instead import NUMBER, instead, like, parameters, vector
from ..rule import TABLE, linear, lookup, vjp
from ..support_callbacks import (
    as_it_is,
    attribute_like,
    captured_bars,
    captured_size,
    item_like,
    pull_all,
    push_all,
)
from ..support_implicit import at_times, integral, trajectory
from ..support_scipy import weighted_bar
from .sampling import real

# -- integrals -----------------------------------------------------------------------------------------


_PLAIN = {"full_output": (0, False), "points": (None,), "weight": (None,), "complex_func": (False,)}


@instead(scipy.integrate.quad, func=NUMBER, only=_PLAIN)
def quad(func: Any, a: Any, b: Any, **options: Any) -> Any:
    found = as_it_is(None, scipy.integrate.quad, func, a, b, **options)
    return integral(item_like(0.0, found, 0), func, a, b), item_like(0.0, found, 1)


@instead(scipy.integrate.quad_vec, f=NUMBER, only={"full_output": (False,), "points": (None,)})
def quad_vec(f: Any, a: Any, b: Any, **options: Any) -> Any:
    found = as_it_is(None, scipy.integrate.quad_vec, f, a, b, **options)
    return integral(item_like(f(a), found, 0), f, a, b), item_like(0.0, found, 1)


def integrated_number(h: Any, a: Any, b: Any) -> Any:
    """The integral of a function whose values are numbers."""
    return scipy.integrate.quad(h, a, b)[0]


def integrated_array(h: Any, a: Any, b: Any) -> Any:
    """The integral of a function whose values are arrays."""
    return scipy.integrate.quad_vec(h, a, b)[0]


def integrated_number_part(h: Any, i: int, a: Any, b: Any) -> Any:
    """The integral of a number among the values of a function."""
    return scipy.integrate.quad(lambda x: h(x)[i], a, b)[0]


def integrated_array_part(h: Any, i: int, a: Any, b: Any) -> Any:
    """The integral of an array among the values of a function."""
    return scipy.integrate.quad_vec(lambda x: h(x)[i], a, b)[0]


# -- differential equations ----------------------------------------------------------------------------


@instead(
    scipy.integrate.solve_ivp,
    fun=(NUMBER, vector("y0")),
    arrays=("fun",),
    only={
        "method": ("RK45", "RK23", "DOP853"),
        "events": (None,),
        "vectorized": (False,),
    },
)
def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    **options: Any,
) -> Any:
    found = as_it_is(
        None, scipy.integrate.solve_ivp, fun, t_span, y0, method=method, dense_output=True, **options
    )
    steps = at_times(attribute_like("[:]", found.sol, "ts"), t_span)
    if dense_output:  # code that was generated takes the steps itself; what else it may want is refused
        return SimpleNamespace(
            sol=SimpleNamespace(ts=steps),
            success=found.success,
            status=found.status,
            message=found.message,
            nfev=found.nfev,
        )
    solver = getattr(scipy.integrate, method)
    A = attribute_like("[:, :]", solver, "A")
    B, C = attribute_like("[:]", solver, "B"), attribute_like("[:]", solver, "C")
    y = np.asarray(y0, dtype=float)
    f = fun(steps[0], y)
    if t_eval is None:
        states = np.empty((len(steps), len(y)))
        states[0] = y
    else:
        t_eval = np.asarray(t_eval)
        ahead = np.sign(t_span[1] - t_span[0])
        ends = np.searchsorted(ahead * t_eval, ahead * steps, side="right")
        ends[0] = 0
        P = attribute_like("[:, :]", solver, "P")
        inside = np.empty((len(y), len(t_eval)))
    for i in range(len(steps) - 1):
        t, h = steps[i], steps[i + 1] - steps[i]
        K = np.empty((len(B) + 1, len(y)))
        K[0] = f
        for s in range(1, len(B)):
            K[s] = fun(t + C[s] * h, y + np.dot(K[:s].T, A[s, :s]) * h)
        y_new = y + h * np.dot(K[:-1].T, B)
        f = fun(t + h, y_new)
        if t_eval is None:
            states[i + 1] = y_new
        else:
            K[-1] = f
            fraction = (t_eval[ends[i] : ends[i + 1]] - t) / h
            powers = np.cumprod(np.tile(fraction, (P.shape[1], 1)), axis=0)
            inside[:, ends[i] : ends[i + 1]] = h * np.dot(K.T.dot(P), powers) + y[:, None]
        y = y_new
    return SimpleNamespace(
        t=steps if t_eval is None else t_eval,
        y=states.T if t_eval is None else inside,
        success=found.success,
        status=found.status,
        message=found.message,
        nfev=found.nfev,
    )


@instead(
    scipy.integrate.odeint,
    func=(vector("y0"), NUMBER),
    arrays=("func",),
    only={"tfirst": (False,), "full_output": (0, False), "Dfun": (None,)},
)
def odeint(func: Any, y0: Any, t: Any, **options: Any) -> Any:
    y0 = np.asarray(y0, dtype=float)
    found = as_it_is("[:, :]", scipy.integrate.odeint, func, y0, t, **options)
    return trajectory(found, func, y0, t)


@vjp(
    trajectory,
    wrt=("f", "y0"),
    steps=("values",),
    callbacks=parameters({"f": (like("y0"), NUMBER)}),
)
def odeint_rule(g: Any, out: Any, values: Any, f: Any, y0: Any, t: Any) -> Any:
    """The adjoint equation, from each time back to the one before, beside the equation itself.

    Cao, Li, Petzold and Serban 2003, "Adjoint sensitivity analysis for differential-algebraic equations".
    """
    end = backwards_in_time(f, g, out, np.asarray(t, dtype=float))
    return captured_bars(f, end[len(y0) :]), end[: len(y0)]


@odeint_rule.jvp
def odeint_jvp(f_dot: Any, y0_dot: Any, out: Any, values: Any, f: Any, y0: Any, t: Any) -> Any:
    return (
        sensitivity(f, f_dot, y0, np.zeros_like(y0), t),
        sensitivity(f, None, y0, y0_dot, t),
    )


def backwards_in_time(f: Any, g: Any, ys: Any, t: Any) -> Any:
    """The adjoints of the start and of what is captured, one after the other."""
    n = ys.shape[1]

    def augmented(z: Any, s: Any) -> Any:
        bars = pull_all(f, z[n : 2 * n], z[:n], s)
        return np.concatenate([f(z[:n], s), *[-np.ravel(bar) for bar in bars]])

    z = np.concatenate([g[-1], np.zeros(captured_size(f))])
    for i in range(len(t) - 1, 0, -1):
        start, ends = np.concatenate([ys[i], z]), np.stack([t[i], t[i - 1]])
        z = scipy.integrate.odeint(augmented, start, ends, rtol=1e-10, atol=1e-12)[-1, n:]
        z = np.concatenate([z[:n] + g[i - 1], z[n:]])
    return z


def sensitivity(f: Any, f_dot: Any, y0: Any, y0_dot: Any, t: Any) -> Any:
    """The tangent of the solution: the equation with its linearisation beside it."""
    n = len(y0)

    def augmented(z: Any, s: Any) -> Any:
        return np.concatenate([f(z[:n], s), push_all(f, f_dot, z[n:], z[:n], s)])

    return scipy.integrate.odeint(augmented, np.concatenate([y0, y0_dot]), t, rtol=1e-10, atol=1e-12)[:, n:]


# -- sums over samples ---------------------------------------------------------------------------------

_trapezoid = lookup(np.trapezoid)
assert _trapezoid is not None
TABLE[scipy.integrate.trapezoid] = _trapezoid  # the same function, with the same names

_SAMPLES = np.array([0.0, 0.4, 1.1, 1.5, 2.3, 2.4])


@linear(
    scipy.integrate.simpson,
    wrt=("y",),
    samples=[
        lambda: (real(6),),
        lambda: (real(2, 6), {"x": _SAMPLES}),
        lambda: (real(5, 2), {"dx": 0.3, "axis": 0}),
    ],
)
def simpson(g: Any, out: Any, y: Any, *, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    return weighted_bar(g, scipy.integrate.simpson(np.eye(np.shape(y)[axis]), x=x, dx=dx), axis)


@linear(
    scipy.integrate.cumulative_simpson,
    wrt=("y",),
    only={"initial": (None,)},
    samples=[lambda: (real(6),), lambda: (real(2, 6), {"x": _SAMPLES}), lambda: (real(5, 2), {"axis": 0})],
)
def cumulative_simpson(
    g: Any, out: Any, y: Any, *, x: Any = None, dx: float = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    return weighted_bar(g, scipy.integrate.cumulative_simpson(np.eye(np.shape(y)[axis]), x=x, dx=dx), axis)


@linear(
    scipy.integrate.romb,
    wrt=("y",),
    only={"show": (False,)},
    samples=[lambda: (real(5), 0.3), lambda: (real(9, 2), 1.0, 0)],
)
def romb(g: Any, out: Any, y: Any, dx: float = 1.0, axis: int = -1, show: bool = False) -> Any:
    return weighted_bar(g, scipy.integrate.romb(np.eye(np.shape(y)[axis]), dx), axis)


@instead(scipy.integrate.cumulative_trapezoid)
def cumulative_trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, initial: Any = None) -> Any:
    y = np.moveaxis(y, axis, -1)
    if x is None:
        steps = dx
    else:
        steps = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    sums = np.cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        sums = np.concatenate([np.full_like(sums[..., :1], initial), sums], axis=-1)
    return np.moveaxis(sums, -1, axis)
