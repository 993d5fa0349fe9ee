"""Solvers of SciPy: roots, minima and fixed points, by the equation that holds where they stop.

In: a call of a solver. Out: the point that SciPy finds, as a root of that equation (`support_implicit`).
How the solver got there has no part in the derivative: starting points, brackets and tolerances are
constants. The derivative is as good as the point: ask for tolerances that suit.

    @instead(scipy.optimize.brentq, f=NUMBER)
    def brentq(f, a, b, **options):
        return root_point(as_it_is(0.0, scipy.optimize.brentq, f, a, b, **options), f)

This file is imported when a function is looked up after `scipy.optimize` was imported, never before.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import scipy.optimize

from ..instead import NUMBER, instead, like, vector
from ..support_callbacks import as_it_is, attribute_like, pull_argument
from ..support_implicit import root_point

_ALONE = {"full_output": (False, 0)}

# -- roots of functions of a number --------------------------------------------------------------------


@instead(scipy.optimize.brentq, f=NUMBER, only=_ALONE)
def brentq(f: Any, a: Any, b: Any, **options: Any) -> Any:
    return root_point(as_it_is(0.0, scipy.optimize.brentq, f, a, b, **options), f)


@instead(scipy.optimize.brenth, f=NUMBER, only=_ALONE)
def brenth(f: Any, a: Any, b: Any, **options: Any) -> Any:
    return root_point(as_it_is(0.0, scipy.optimize.brenth, f, a, b, **options), f)


@instead(scipy.optimize.ridder, f=NUMBER, only=_ALONE)
def ridder(f: Any, a: Any, b: Any, **options: Any) -> Any:
    return root_point(as_it_is(0.0, scipy.optimize.ridder, f, a, b, **options), f)


@instead(scipy.optimize.bisect, f=NUMBER, only=_ALONE)
def bisect(f: Any, a: Any, b: Any, **options: Any) -> Any:
    return root_point(as_it_is(0.0, scipy.optimize.bisect, f, a, b, **options), f)


@instead(scipy.optimize.toms748, f=NUMBER, only=_ALONE)
def toms748(f: Any, a: Any, b: Any, **options: Any) -> Any:
    return root_point(as_it_is(0.0, scipy.optimize.toms748, f, a, b, **options), f)


@instead(scipy.optimize.newton, func=like("x0"), fprime=like("x0"), fprime2=like("x0"), only=_ALONE)
def newton(func: Any, x0: Any, **options: Any) -> Any:
    return root_point(as_it_is(x0, scipy.optimize.newton, func, x0, **options), func)


@instead(scipy.optimize.root_scalar, f=NUMBER, fprime=NUMBER, fprime2=NUMBER)
def root_scalar(f: Any, **options: Any) -> Any:
    found = as_it_is(None, scipy.optimize.root_scalar, f, **options)
    return SimpleNamespace(
        root=root_point(attribute_like(0.0, found, "root"), f),
        converged=found.converged,
        flag=found.flag,
        iterations=found.iterations,
        function_calls=found.function_calls,
    )


# -- roots of systems ----------------------------------------------------------------------------------


@instead(
    scipy.optimize.fsolve,
    func=vector("x0"),
    fprime=vector("x0"),
    arrays=("func", "fprime"),
    only={**_ALONE, "col_deriv": (False, 0)},
)
def fsolve(func: Any, x0: Any, **options: Any) -> Any:
    return root_point(as_it_is(x0, scipy.optimize.fsolve, func, x0, **options), func)


@instead(
    scipy.optimize.root,
    fun=vector("x0"),
    jac=vector("x0"),
    arrays=("fun", "jac"),
    only={"callback": (None,), "jac": (None, False)},
)
def root(fun: Any, x0: Any, **options: Any) -> Any:
    found = as_it_is(None, scipy.optimize.root, fun, x0, **options)
    x = root_point(attribute_like(x0, found, "x"), fun)
    return SimpleNamespace(x=x, success=found.success, message=found.message, nfev=found.nfev)


@instead(scipy.optimize.fixed_point, func=like("x0"))
def fixed_point(func: Any, x0: Any, **options: Any) -> Any:
    found = as_it_is(x0, scipy.optimize.fixed_point, func, x0, **options)
    return root_point(found, lambda x: func(x) - x)


# -- minima: the gradient is 0 -------------------------------------------------------------------------


@instead(
    scipy.optimize.minimize,
    fun=vector("x0"),
    jac=vector("x0"),
    hess=vector("x0"),
    arrays=("jac", "hess"),
    only={"bounds": (None,), "constraints": (None,), "callback": (None,), "hessp": (None,)},
)
def minimize(fun: Any, x0: Any, **options: Any) -> Any:
    found = as_it_is(None, scipy.optimize.minimize, fun, x0, **options)
    x = root_point(attribute_like(x0, found, "x"), lambda x: pull_argument(fun, 1.0, x))
    return SimpleNamespace(
        x=x, fun=fun(x), success=found.success, status=found.status, message=found.message, nfev=found.nfev
    )


@instead(
    scipy.optimize.minimize_scalar,
    fun=NUMBER,
    only={"bounds": (None,), "method": (None, "brent", "golden")},
)
def minimize_scalar(fun: Any, **options: Any) -> Any:
    found = as_it_is(None, scipy.optimize.minimize_scalar, fun, **options)
    x = root_point(attribute_like(0.0, found, "x"), lambda x: pull_argument(fun, 1.0, x))
    return SimpleNamespace(x=x, fun=fun(x), success=found.success, nfev=found.nfev)


@instead(
    scipy.optimize.least_squares,
    fun=vector("x0"),
    arrays=("fun",),
    only={
        "bounds": (),
        "loss": ("linear",),
        "callback": (None,),
        "jac": ("2-point", "3-point"),
        "kwargs": (None,),
        "workers": (None,),
    },
)
def least_squares(fun: Any, x0: Any, **options: Any) -> Any:
    found = as_it_is(None, scipy.optimize.least_squares, fun, x0, **options)
    x = root_point(attribute_like(x0, found, "x"), lambda x: pull_argument(fun, fun(x), x))
    return SimpleNamespace(
        x=x, fun=fun(x), success=found.success, status=found.status, message=found.message, nfev=found.nfev
    )
