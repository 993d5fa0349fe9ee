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


def test_array_api_goes_without_numpy() -> None:
    strict = pytest.importorskip("array_api_strict")

    def f(x: Any) -> Any:
        xp = x.__array_namespace__()
        return xp.prod(x)

    with pytest.raises(adjoin.AdjoinError, match="which array_api_strict does not have"):
        adjoin.grad(f)(strict.asarray(X))


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
