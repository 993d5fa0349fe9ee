"""The table through generated code, for arrays that are not NumPy's: a stand-in as strict as CuPy's.

For each rule a function is written that calls its operations with the sample arguments. What is generated for
arrays of the other type has to give what is generated for NumPy's, in arrays of that type, and mixes with no
NumPy array on the way.
"""

from __future__ import annotations

import ast
import functools
import linecache
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rules.harness import Case, cases, is_float, random_like
from standin import MISSING, DeviceArray, Mixed, device

import adjoin
import adjoin.runtime.rules
from adjoin.runtime.array_modules import standard
from adjoin.runtime.rule import TABLE

MODULES = {"": np, "linalg.": np.linalg, "fft.": np.fft}


@functools.cache
def public_names() -> dict[int, str]:
    """What NumPy's functions are called after `np.`, by their ids; ufunc methods too."""
    found: dict[int, str] = {}
    for prefix, module in MODULES.items():
        for name in dir(module):
            value = getattr(module, name)
            if callable(value) and not name.startswith("_") and not isinstance(value, type):
                found.setdefault(id(value), prefix + name)
    return found


def written(function: Any) -> str | None:
    """How a function of NumPy is written after `np.`, or None for others."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"{owner.__name__}.{function.__name__}"
    return public_names().get(id(function))


SYMBOLS = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.pow: "**",
    operator.matmul: "@", operator.mod: "%", operator.floordiv: "//",
}  # fmt: skip


class Call:
    """A sample, written as a function of its arrays.

    Attributes:
        text: its source, with `np` for the module.
        leaves: the values of its parameters: every array, and every number that has a derivative.
        active: which of them a gradient is asked of.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.leaves: list[Any] = []
        self.active: list[int] = []
        given = case.given.arguments
        parts = []
        gap = False  # after an option that is left out, the others are named
        for name, parameter in case.rule.signature.parameters.items():  # type: ignore[union-attr]
            if name not in given:
                gap = True
                continue
            active = name in case.active
            if parameter.kind is parameter.VAR_POSITIONAL:
                parts += [self.written(value, active) for value in given[name]]
            elif parameter.kind is parameter.KEYWORD_ONLY or gap:
                parts.append(f"{name}={self.written(given[name], active)}")
            else:
                parts.append(self.written(given[name], active))
        names = ", ".join(f"p{i}" for i in range(len(self.leaves)))
        symbol = SYMBOLS.get(case.function)
        called = written(case.function)
        body = f" {symbol} ".join(parts) if symbol else f"np.{called}({', '.join(parts)})"
        self.text = f"def call({names}):\n    return {body}\n"

    def written(self, value: Any, active: bool) -> str:
        if isinstance(value, np.ndarray | np.generic | float | complex) and (
            isinstance(value, np.ndarray) or (active and is_float(value))
        ):
            if active and is_float(value):
                self.active.append(len(self.leaves))
            self.leaves.append(value)
            return f"p{len(self.leaves) - 1}"
        if isinstance(value, list):
            return f"[{', '.join(self.written(part, active) for part in value)}]"
        if isinstance(value, tuple):
            return f"({''.join(self.written(part, active) + ', ' for part in value)})"
        if isinstance(value, slice):
            parts = (self.written(part, active) for part in (value.start, value.stop, value.step))
            return f"slice({', '.join(parts)})"
        if isinstance(value, type) and issubclass(value, np.generic):
            return f"np.{value.__name__}"
        if isinstance(value, np.dtype):
            return f"np.dtype({value.str!r})"
        if isinstance(value, np.generic):
            return repr(value.item())
        if isinstance(value, float) and not np.isfinite(value):
            return f"float({str(value)!r})"
        if value is np.newaxis or value is Ellipsis or isinstance(value, str | int | float | complex):
            return repr(value) if value is not Ellipsis else "..."
        raise LookupError(value)  # a function, a dict: not written


def compiled(text: str, modules: dict[str, Any], number: Iterator[int] = iter(range(10**9))) -> Any:
    """A function from its text, which can be read again."""
    file = f"<array modules {next(number)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = dict(modules)
    exec(compile(text, file, "exec"), scope)
    return scope["call"]


def on_device(value: Any) -> Any:
    """Arrays and NumPy's scalars become arrays of the device; Python's numbers stay."""
    if isinstance(value, np.ndarray | np.generic):
        return DeviceArray(np.array(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(on_device, value))
    return type(value)(map(on_device, value)) if isinstance(value, list | tuple) else value


def results(gradient: Any, leaves: list[Any], seed: Any, dots: list[Any]) -> list[Any]:
    """The value, the gradients that a seed pulls back to, and the tangent."""
    value, saved = gradient.forward(*leaves)
    bars = gradient.adjoint(saved, seed)
    again, dot = gradient.tangent(tuple(dots), *leaves)
    return [value, bars, again, dot]


def assert_like(found: Any, model: Any) -> None:
    if isinstance(model, list | tuple):
        assert isinstance(found, list | tuple) and len(found) == len(model)
        for one, other in zip(found, model, strict=True):
            assert_like(one, other)
    elif model is None or (isinstance(model, int | float | complex) and not isinstance(model, np.generic)):
        assert (found is None) == (model is None)
        if model is not None:
            np.testing.assert_allclose(complex(found), complex(model), rtol=1e-12, atol=1e-13)
    elif isinstance(model, np.ndarray | np.generic):
        assert isinstance(found, DeviceArray), f"a {type(found).__name__} for an array of the device"
        assert found.shape == model.shape and found.dtype == model.dtype
        np.testing.assert_allclose(found.get(), model, rtol=1e-12, atol=1e-13)


def zero_filled(seed: Any, value: Any) -> Any:
    """A seed in the structure of the value: zeros where it has none."""
    if isinstance(value, list | tuple):
        parts = [zero_filled(s, v) for s, v in zip(seed, value, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return np.zeros_like(value) if seed is None else seed


#: NumPy's own functions that look at no argument's protocol: called with another array, they raise.
NO_PROTOCOL = {
    "array": "makes NumPy's arrays, unless `like=` says otherwise",
    "asarray": "the same",
    "asanyarray": "the same",
    "ascontiguousarray": "the same",
    "asfortranarray": "the same",
    "asarray_chkfinite": "the same",
    "require": "the same",
    "full": "asks `like=` alone, not the value",
}


def calls(every: bool) -> list[Any]:
    """Each function of the table with its samples; `every`: all of them for the first function of a rule."""
    found = []
    for rule in {id(rule): rule for rule in TABLE.values() if rule.kind != "nondifferentiable"}.values():
        if rule.callbacks or not any(written(f) or f in SYMBOLS for f in rule.functions):
            continue
        counts: dict[Any, int] = {}
        for case in cases(rule):
            if written(case.function) is None and case.function not in SYMBOLS:
                continue
            most = MANY if every and case.function is rule.functions[0] else 1
            if counts.get(case.function, 0) == most:
                continue
            try:
                call = Call(case)
            except LookupError:
                continue
            if call.active and any(isinstance(leaf, np.ndarray) for leaf in call.leaves):
                counts[case.function] = counts.get(case.function, 0) + 1
                found.append(pytest.param(call, id=str(case)))
    return found


#: Samples for the first function of each rule; `pytest` with more of them is for those who change rules.
MANY = 2


@pytest.mark.parametrize("call", calls(every=True))
def test_numpy_code(call: Call) -> None:
    """A function that is written with NumPy, called with arrays of another type."""
    function = compiled(call.text, {"np": np})
    name = written(call.case.function)
    if name in NO_PROTOCOL:
        with pytest.raises(Mixed):
            function(*map(on_device, call.leaves))
        return
    check(call, function)


@pytest.mark.parametrize("call", calls(every=False))
def test_code_of_the_module(call: Call) -> None:
    """A function that is written with the module of the arrays."""
    if written(call.case.function) in MISSING:
        pytest.skip(f"CuPy has no {written(call.case.function)}")
    text = call.text.replace("np.", "dv.")
    source = check(call, compiled(text, {"dv": device}))
    if "dv." in text:
        named = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Attribute) and is_np(n.value)]
        assert {n.attr for n in named} <= {"errstate"}, "named from NumPy, not from the module"


def is_np(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "np"


def check(call: Call, function: Callable[..., Any]) -> str:
    """Compare with NumPy's arrays; returns the source of the tangent."""
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = compiled(call.text, {"np": np})
        value = plain(*call.leaves)
        seed = zero_filled(random_like(value, rng), value)
        dots = [random_like(call.leaves[i], rng) for i in call.active]
        want, got = (adjoin.grad(f, argnums=tuple(call.active)) for f in (plain, function))
        expected = results(want, call.leaves, seed, dots)
        moved = [on_device(each) for each in (call.leaves, seed, dots)]
        found = results(got, *moved)
    assert_like(found, expected)
    return got.source


# -- sums and elements that are arrays ---------------------------------------------------------------


def sum_that_is_written_to(x):
    s = np.sum(x)
    t = s
    s += x[0]
    return s * t


def element_that_is_a_view(x):
    y = x * 1.0
    v = y[1]
    y[1] = 3.0 * x[0]
    return v * x[2]


@pytest.mark.parametrize("module", ["numpy", "device"])
def test_an_element_shows_memory(module: str) -> None:
    """What is a number in NumPy is an array here, and `+=` and stores reach it by every name that it has."""
    x = np.array([1.0, 2.0, 4.0])
    away = module == "device"
    cases = {
        # 8 * 8 where t is s, 8 * 7 where it is not; 3 x0 x2 where v shows y, x1 x2 where it does not
        sum_that_is_written_to: ([32.0, 16.0, 16.0] if away else [22.0, 15.0, 15.0]),
        element_that_is_a_view: ([12.0, 0.0, 3.0] if away else [0.0, 4.0, 2.0]),
    }
    for function, expected in cases.items():
        found = adjoin.grad(function)(on_device(x) if away else x)
        np.testing.assert_allclose(found.get() if away else found, expected, rtol=1e-14)


def overwritten_after_a_view(x, y):
    z = x * 1.0
    v = z[:-1]
    z[1:] = v * y[0]
    z[0] = y[1]
    return np.sum(z * z)


def test_a_pullback_is_called_again() -> None:
    """The reverse sweep puts back what was overwritten, in memory that what it has saved are views of."""
    x, y = np.array([1.1, 1.7, 1.35, 1.9]), np.array([0.6, 1.4, 2.2, 1.25])
    expected = adjoin.grad(overwritten_after_a_view, argnums=(0, 1))(x, y)
    for move in (on_device, np.array):
        value, pullback = adjoin.vjp(overwritten_after_a_view, move(x), move(y))
        for _ in range(2):
            found = pullback(value * 0.0 + 1.0)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one.get() if move is on_device else one, other, rtol=1e-14)


# -- namespaces of the array API ----------------------------------------------------------------------


def curve(x, y):
    xp = x.__array_namespace__()
    z = xp.sin(x) * xp.exp(-y)
    return xp.sum(z * z) / 2.0


def layer(x, A):
    xp = x.__array_namespace__()
    t = xp.tanh(xp.matmul(A, x))
    return xp.mean(t**2) + xp.sum(xp.sqrt(x) * x)


def shapes(x, A):
    xp = x.__array_namespace__()
    b = xp.sum(xp.acosh(A + 1.0), axis=1) * x
    return xp.sum(xp.atan2(b, 1.0 + b * b)) + xp.sum(x[1:] * x[:-1])


X = np.linspace(1.0, 2.0, 4)
ARGUMENTS = {curve: (X, 0.5 * X), layer: (X, np.outer(X, X) / 9), shapes: (X, np.outer(X, X[::-1]))}


@pytest.mark.parametrize("function", ARGUMENTS)
def test_array_api(function: Any) -> None:
    strict = pytest.importorskip("array_api_strict")
    args = ARGUMENTS[function]
    gradient = adjoin.grad(function, argnums=(0, 1))
    expected = gradient(*args)
    assert "import numpy as np" in gradient.source
    found = gradient(*map(strict.asarray, args))
    assert "import array_api_strict as xp" in gradient.source and "np." not in gradient.source
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(strict.asarray(1.0)) and one.shape == other.shape
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12)
    for i in range(2):  # and NumPy's are those of differences
        step = np.zeros_like(args[i])
        step.flat[1] = 1e-6
        ahead, behind = (
            function(*(a + sign * step if k == i else a for k, a in enumerate(args))) for sign in (1, -1)
        )
        np.testing.assert_allclose(expected[i].flat[1], (ahead - behind) / 2e-6, rtol=1e-6)


def stored(x, y):
    z = x * 1.0
    z[1:] = z[:-1] * y[0]
    z[0] = y[1]
    return z


def stored_rows(A, x):
    z = A * 1.0
    z[1, :] = x
    z[:, 2] *= x
    z[0, ...] += x * 2.0
    return z * z


def stored_by_a_mask(x, y):
    z = x * 1.0
    z[z > 1.3] = 0.5
    return z * y


def looped(x, y):
    z = x * 1.0
    for i in range(3):
        z[i] = z[i] * z[i + 1] + y[i]
    return z


def augmented(x, y):
    z = x * 1.0
    z *= y
    z[2:] += x[:2]
    return z


#: By name, an expression of vectors `x` and `y` of four elements and a matrix `A`.
EXPRESSIONS = {
    **{f"xp.{name}": f"xp.{name}(x + 0.23)" for name in (
        "abs acosh asinh atan ceil cos cosh exp expm1 floor log log1p log2 log10 negative positive "
        "reciprocal round sign sin sinh square sqrt tan tanh trunc"
    ).split()},
    **{f"xp.{name}": f"xp.{name}(x * 0.4)" for name in ("acos", "asin", "atanh")},
    **{f"xp.{name}": f"xp.{name}(x, y)" for name in (
        "add atan2 copysign divide hypot logaddexp maximum minimum multiply pow subtract"
    ).split()},
    "sum": "xp.sum(A * A, axis=0) * x",
    "prod": "xp.prod(A, axis=1) * x",
    "prod of all": "xp.prod(x) * y",
    "mean": "xp.mean(A, axis=1, keepdims=True) * A",
    "max": "xp.max(A, axis=0) * x",
    "min": "xp.min(A) * x",
    "std": "xp.std(A, axis=1) * x",
    "std of a sample": "xp.std(A, axis=(0, 1), correction=1) * x",
    "var": "xp.var(A, axis=0, correction=1) * x",
    "cumulative_sum": "xp.cumulative_sum(x) * y",
    "cumulative_sum from zero": "xp.cumulative_sum(A, axis=1, include_initial=True)[:, 1:] * x",
    "cumulative_prod": "xp.cumulative_prod(x) * y",
    "diff": "xp.diff(x) * y[1:]",
    "diff of rows": "xp.diff(A, axis=0, n=2) * x",
    "broadcast_to": "xp.broadcast_to(x, (2, 4)) * y",
    "broadcast_arrays": "xp.broadcast_arrays(x, A)[0] * y",
    "concat": "xp.concat([x, y * x]) * 2.0",
    "concat of columns": "xp.concat([A, A * x], axis=1)**2",
    "expand_dims": "xp.expand_dims(x, axis=0) * A",
    "flip": "xp.flip(x) * y",
    "flip of an axis": "xp.flip(A, axis=1) * y",
    "moveaxis": "xp.moveaxis(A, 0, 1) * x",
    "permute_dims": "xp.permute_dims(A, (1, 0)) * x",
    "repeat": "xp.repeat(x, 2) * xp.repeat(y, 2)",
    "repeat by counts": "xp.repeat(A, xp.asarray([1, 0, 3, 2]), axis=1)**2",
    "reshape": "xp.reshape(A, (2, 8))**2",
    "roll": "xp.roll(x, 1) * y",
    "roll of an axis": "xp.roll(A, 1, axis=0) * y",
    "squeeze": "xp.squeeze(xp.expand_dims(x, axis=0), axis=0) * y",
    "stack": "xp.stack([x, y]) * x",
    "stack of columns": "xp.stack([x, y], axis=1)**2",
    "tile": "xp.tile(x, (2,))**2",
    "tile of rows": "xp.tile(A, (2, 1, 2))**2",
    "unstack": "xp.unstack(A)[1] * x",
    "unstack of columns": "xp.unstack(A, axis=1)[2] * x",
    "take": "xp.take(x, xp.asarray([0, 2, 0]))**2",
    "take of columns": "xp.take(A, xp.asarray([3, 1, 3]), axis=1)**2",
    "take of nothing": "xp.sum(xp.take(x, xp.asarray([], dtype=xp.int64))) + x",
    "part": "x[1:] * y[:-1]",
    "rows and columns": "A[0, :] * A[:, 1]",
    "elements": "A[0, 1] * x",
    "mask": "x[x > 1.3]**2",
    "integer array": "x[xp.asarray([1, 1, 3])]**2",
    "integer arrays": "A[xp.asarray([1, 1, 3]), xp.asarray([0, 0, 2])]**2",
    "where": "xp.where(x > y, x * y, y)",
    "clip": "xp.clip(x, 1.2, 1.8) * y",
    "sort": "xp.sort(y) * x",
    "sort of rows": "xp.sort(A, axis=0) * x",
    "take_along_axis": "xp.take_along_axis(A, xp.argsort(A, axis=1), axis=1) * x",
    "take_along_axis twice": "xp.take_along_axis(A, xp.asarray([[0, 0, 1, 0]]), axis=0) * x",
    "matmul": "xp.matmul(A, A)",
    "@": "(A @ x) * y",
    "mT": "A.mT * x",
    "T": "A.T * x",
    "matrix_transpose": "xp.matrix_transpose(A) * x",
    "tensordot": "xp.tensordot(A, A, axes=1) * x",
    "tensordot of axes": "xp.tensordot(A, A, axes=((0,), (1,))) * x",
    "vecdot": "xp.vecdot(A, A) * x",
    "cholesky": "xp.linalg.cholesky(A @ A.T + 4.0 * xp.eye(4))",
    "cross": "xp.linalg.cross(x[:3], y[:3]) * x[:3]",
    "det": "xp.linalg.det(A + 2.0 * xp.eye(4)) * x",
    "diagonal": "xp.linalg.diagonal(A) * x",
    "diagonal above": "xp.linalg.diagonal(A, offset=1) * x[1:]",
    "diagonal below": "xp.linalg.diagonal(A[:, :3], offset=-2) * x[1:3]",
    "eigvalsh": "xp.linalg.eigvalsh(A + A.T) * x",
    "eigh": "xp.linalg.eigh(A + A.T)[0] * x",
    "eigenvectors": "xp.linalg.eigh(A + A.T)[1]**2 * x",
    "inv": "xp.linalg.inv(A + 2.0 * xp.eye(4))",
    "matrix_norm": "xp.linalg.matrix_norm(A) * x",
    "matrix_norm of columns": "xp.linalg.matrix_norm(A, ord=1) * x",
    "matrix_norm of singular values": "xp.linalg.matrix_norm(A, ord=2) * x",
    "matrix_power": "xp.linalg.matrix_power(A, 3)",
    "outer": "xp.linalg.outer(x, y) * A",
    "pinv": "xp.linalg.pinv(A[:, :2])",
    "qr": "xp.linalg.qr(A + 2.0 * xp.eye(4))[1]**2",
    "slogdet": "xp.linalg.slogdet(A + 2.0 * xp.eye(4))[1] * x",
    "solve": "xp.linalg.solve(A + 2.0 * xp.eye(4), xp.reshape(x, (4, 1)))",
    "svd": "xp.linalg.svd(A)[1] * x",
    "singular vectors": "xp.linalg.svd(A)[0]**2 * x",
    "svdvals": "xp.linalg.svdvals(A) * x",
    "trace": "xp.linalg.trace(A) * x",
    "trace above": "xp.linalg.trace(A, offset=1) * x",
    "vector_norm": "xp.linalg.vector_norm(x) * y",
    "vector_norm of ord 1": "xp.linalg.vector_norm(A, axis=0, ord=1) * y",
    "vector_norm of ord 3": "xp.linalg.vector_norm(A, axis=1, ord=3) * y",
    "fft": "xp.abs(xp.fft.fft(xp.astype(x, xp.complex128)))**2",
    "ifft": "xp.imag(xp.fft.ifft(xp.fft.fft(xp.astype(x, xp.complex128))**2 * 1j)) * y",
    "fftn": "xp.abs(xp.fft.fftn(xp.astype(A, xp.complex128)))**2",
    "rfft": "xp.abs(xp.fft.rfft(x))**2",
    "rfft, longer": "xp.abs(xp.fft.rfft(x, n=7))**2",
    "irfft": "xp.fft.irfft(xp.fft.rfft(x) * 2.0) * y",
    "fftshift": "xp.fft.fftshift(x) * y",
    "real": "xp.real(xp.fft.fft(xp.astype(x, xp.complex128))) * y",
    "operators": "(x**2 - y / x + (-x)) % 3.0 + x // y",
    "tril": "xp.tril(A) * x",
    "triu": "xp.triu(A, k=1) * x",
    "astype": "xp.astype(x, xp.float64) * y",
    "meshgrid": "xp.meshgrid(x, y)[0] * A",
    "zeros_like": "(xp.zeros_like(x) + x) * y",
    "linspace": "xp.linspace(0.0, 1.0, 4) * x",
    "full": "xp.full((4,), 2.0) * x * y",
    "new axes": "x[:, None] * y[None, :] * A",
    "backwards": "A[::-1, :] * y[::-1]",
    "0-d index": "x * x[xp.argmax(y)]",
    "negative indices": "xp.take(A, xp.asarray([-1, 1]), axis=-1)**2",
    "mask of a matrix": "A[A > 0.0]**2",
    "where and a number": "xp.where(x > y, x, 0.0) * y",
    "masks": "xp.where((x > 1.2) & (y > 1.0) | ~(x > 1.5), x * y, y)",
    "softmax": "xp.exp(A - xp.max(A, axis=-1, keepdims=True)) / xp.sum(xp.exp(A)) * x",
    "max of axes": "xp.max(A, axis=(0, 1)) * x",
    "sum of axes": "xp.sum(xp.reshape(A, (4, 2, 2)), axis=(-1, 0))**2",
    "expand_dims of axes": "xp.expand_dims(A, axis=(0, 2)) * x",
    "concat of all": "xp.concat([A, A * x], axis=None)**2",
    "diff of joined": "xp.diff(x, prepend=y[:1]) * y",
    "clip from below": "xp.clip(x, 1.2) * y",
    "cumulative_prod with a zero": "xp.cumulative_prod(x * xp.asarray([1.0, 0.0, 1.0, 1.0])) * y",
    "prod with a zero": "xp.prod(x * xp.asarray([1.0, 0.0, 1.0, 1.0])) * y",
    "meshgrid by rows": "xp.meshgrid(x, y, indexing='ij')[1] * A",
    "numbers": "x * 3 + y / 2 + 2.0**x",
    "products of vectors": "(x @ y) * (x @ A)",
    "products of a stack": "(xp.reshape(A, (2, 2, 4)) @ A) * x",
    "inv of a stack": "xp.linalg.inv(xp.stack([A + 2.0 * xp.eye(4), A + 3.0 * xp.eye(4)]))",
    "solve of a vector": "xp.linalg.solve(A + 2.0 * xp.eye(4), x) * y",
    "solve of a stack": "xp.linalg.solve(xp.stack([A, A * 2.0]), xp.reshape(x, (4, 1)))",
    "diagonal of a stack": "xp.linalg.diagonal(xp.reshape(A, (4, 2, 2)), offset=1) * x[:1]",
    "cholesky upwards": "xp.linalg.cholesky(A @ A.T + 4.0 * xp.eye(4), upper=True)",
    "fft of columns": "xp.real(xp.fft.fft(xp.astype(A, xp.complex128), n=5, axis=0, norm='ortho'))**2",
    "irfftn": "xp.fft.irfftn(xp.fft.rfftn(A) * 2.0) * x",
    "stored": "stored(x, y)",
    "stored rows": "stored_rows(A, x)",
    "stored by a mask": "stored_by_a_mask(x, y)",
    "looped": "looped(x, y)",
    "augmented": "augmented(x, y)",
}  # fmt: skip

#: Expressions of the standard that are refused, and for what.
REFUSED = {
    "xp.sort(x, descending=True) * y": "does not cover option 'descending'",  # NumPy has no such option
    "xp.unique_values(x) * y": "needs `unique`",  # the shape of the result is not known before running
    "xp.real(xp.linalg.eigvals(A)) * x": "needs `allclose`",  # the rule stores matrix by matrix
    "xp.sum(xp.linalg.svd(A, full_matrices=False).S) * x": "cannot be followed",
}


#: Expressions whose second derivative is refused: what their first one is made of has none in these words.
REFUSED_AGAIN = {
    "eigenvectors", "matrix_norm of columns", "matrix_norm of singular values", "singular vectors",
}  # fmt: skip


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_array_api_second_derivatives(name: str) -> None:
    """The derivative of a gradient in a direction, against differences of the gradient."""
    _, args = standards()
    gradient = adjoin.grad(by_the_standard(EXPRESSIONS[name]), argnums=(0, 1, 2))
    rng = np.random.default_rng(5)
    steps = tuple(a.__array_namespace__().asarray(rng.normal(size=a.shape)) for a in args)
    if name in REFUSED_AGAIN:
        with pytest.raises(adjoin.AdjoinError):
            adjoin.jvp(gradient, args, steps)
        return

    def at(s: float) -> Any:
        return [np.asarray(g) for g in gradient(*(a + s * d for a, d in zip(args, steps, strict=True)))]

    h = 1e-4
    around = zip(at(h), at(-h), at(2 * h), at(-2 * h), strict=True)
    expected = [(8 * (p - m) - (p2 - m2)) / (12 * h) for p, m, p2, m2 in around]
    found = adjoin.jvp(gradient, args, steps)[1]
    assert_beside(found, args)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("expression", REFUSED)
def test_array_api_refusals(expression: str) -> None:
    _, args = standards()
    f = by_the_standard(expression)
    f(*args)
    with pytest.raises(adjoin.AdjoinError, match=REFUSED[expression]):
        adjoin.grad(f, argnums=(0, 1, 2))(*args)


def by_the_standard(expression: str) -> Any:
    named = (stored, stored_rows, stored_by_a_mask, looped, augmented)
    scope = {function.__name__: function for function in named}
    text = f"def call(x, y, A):\n    xp = x.__array_namespace__()\n    return xp.sum({expression})\n"
    return compiled(text, scope)


def standards(dtype: Any = np.float64) -> tuple[Any, tuple[Any, ...]]:
    """The strict namespace, and the arguments of `EXPRESSIONS` in it."""
    strict = pytest.importorskip("array_api_strict")
    x, y = [1.1, 1.7, 1.35, 1.9], [0.6, 1.4, 2.2, 1.25]
    arrays = (np.array(x), np.array(y), np.random.default_rng(3).normal(size=(4, 4)))
    return strict, tuple(strict.asarray(a.astype(dtype)) for a in arrays)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_array_api_expressions(name: str) -> None:
    """Against differences that the strict arrays themselves make; in single precision against double."""
    strict, args = standards()
    f, expression = by_the_standard(EXPRESSIONS[name]), EXPRESSIONS[name]
    rng = np.random.default_rng(5)
    steps = [strict.asarray(rng.normal(size=a.shape)) for a in args]

    def at(s: float) -> float:
        return float(f(*(a + s * step for a, step in zip(args, steps, strict=True))))

    h = 1e-5
    expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    gradient = adjoin.grad(f, argnums=(0, 1, 2))
    found = gradient(*args)
    assert not [n for n in ast.walk(ast.parse(gradient.source)) if is_np(n) or isinstance(n, ast.ImportFrom)]
    assert_beside(found, args)
    slope = sum(float(strict.sum(g * step)) for g, step in zip(found, steps, strict=True))
    assert slope == pytest.approx(expected, rel=1e-7, abs=1e-7)
    value, dot = adjoin.jvp(f, args, tuple(steps))
    assert type(dot) is type(args[0]) and float(value) == at(0.0)
    assert float(dot) == pytest.approx(expected, rel=1e-7, abs=1e-7)
    value, pullback = adjoin.vjp(f, *args)
    for _ in range(2):  # what is saved is not used up
        bars = pullback(strict.asarray(2.0))
        assert_beside(bars, args)
        for bar, g in zip(bars, found, strict=True):
            np.testing.assert_allclose(np.asarray(bar), 2.0 * np.asarray(g), rtol=1e-12, atol=1e-12)
    if not any(each in expression for each in ("xp.float64", "xp.complex128", "eye", "full", "linspace")):
        _, singles = standards(np.float32)
        single = adjoin.grad(f, argnums=(0, 1, 2))(*singles)
        assert_beside(single, singles)
        for one, other in zip(single, found, strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=3e-4, atol=3e-4)


def test_array_api_by_its_own_name() -> None:
    """A namespace that is imported, under the user's name for it."""
    strict, (x, y, A) = standards()
    text = "def call(x, A):\n    return api.sum(api.linalg.diagonal(api.flip(A)) * api.max(x))\n"
    gradient = adjoin.grad(compiled(text, {"api": strict}))
    expected = np.zeros(4)
    expected[3] = np.trace(np.asarray(A)[::-1, ::-1])
    np.testing.assert_allclose(np.asarray(gradient(x, A)), expected, rtol=1e-14)


def test_array_api_arrays_are_not_copied_to_the_host() -> None:
    _, (x, _, _) = standards()

    def by_numpy(x: Any) -> Any:
        return np.sum(np.sin(x))

    with pytest.raises(adjoin.AdjoinError, match="copies it to the host"):
        adjoin.grad(by_numpy)(x)
    for make in (adjoin.jacobian, adjoin.jacfwd, adjoin.jacrev):
        with pytest.raises(adjoin.AdjoinError, match="NumPy's arrays"):
            make(lambda x: x * x)(x)


def assert_beside(gradients: Any, args: Any) -> None:
    for g, a in zip(gradients, args, strict=True):
        assert type(g) is type(a) and g.shape == a.shape and g.dtype == a.dtype


# -- CuPy itself ---------------------------------------------------------------------------------------


def relaxed(x, y):
    x[1:] = x[1:] * y[0]
    return np.sum(x * y)


def relaxed_by_the_standard(x, y):
    xp = x.__array_namespace__()
    x[1:] = x[1:] * y[0]
    return xp.sum(x * y)


def test_arguments_that_share_memory_and_are_written_to_are_refused() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = np.array([1.0, 2.0, 4.0])
    for make, f in ((on_device, relaxed), (strict.asarray, relaxed_by_the_standard)):
        a = make(x)
        found = adjoin.grad(f, argnums=(0, 1))(a, make(x + 1.0))
        assert [type(g) for g in found] == [type(a)] * 2
        with pytest.raises(adjoin.AdjoinError, match="share memory"):
            adjoin.grad(f)(a, a)
    a = strict.asarray(np.array([1.0, 2.0, 4.0, 3.0]))
    with pytest.raises(adjoin.AdjoinError, match="share memory"):
        adjoin.grad(relaxed_by_the_standard)(a[1:], a[:-1])


def test_cupy_is_known_without_a_gpu() -> None:
    cupy = pytest.importorskip("cupy")
    assert standard(cupy.sin) is np.sin and standard(cupy.sum) is np.sum
    assert standard(cupy.linalg.norm) is np.linalg.norm


@pytest.mark.gpu
@pytest.mark.skipif(not adjoin.runtime.cuda.is_available(), reason="no GPU answers")
@pytest.mark.parametrize("call", calls(every=False))
def test_on_a_gpu(call: Call) -> None:
    """The table with CuPy's arrays, in code written with NumPy."""
    import cupy

    def there(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return cupy.asarray(value)
        return type(value)(map(there, value)) if type(value) in (list, tuple) else value

    name = written(call.case.function)
    if name in MISSING or name in NO_PROTOCOL:
        pytest.skip(f"CuPy has no {name}")
    function = compiled(call.text.replace("np.", "cp."), {"cp": cupy})
    value = function(*map(there, call.leaves))
    if not isinstance(value, cupy.ndarray):
        pytest.skip("several results")
    gradient = adjoin.grad(function, argnums=tuple(call.active))
    plain = adjoin.grad(compiled(call.text, {"np": np}), argnums=tuple(call.active))
    seed = random_like(np.asarray(plain.primal(*call.leaves)), np.random.default_rng(0))
    bars = gradient.adjoint(gradient.forward(*map(there, call.leaves))[1], there(seed))
    expected = plain.adjoint(plain.forward(*call.leaves)[1], seed)
    for one, other in zip(bars, expected, strict=True):
        if isinstance(other, np.ndarray):
            assert isinstance(one, cupy.ndarray)
            np.testing.assert_allclose(one.get(), other, rtol=1e-8, atol=1e-10)
