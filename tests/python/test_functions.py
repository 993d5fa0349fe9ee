"""Calls: helpers, closures, lambdas, recursion, methods, partial, decorators, other modules, the REPL."""

import functools
import math
import os
import subprocess
import sys
import types

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused

import adjoin

VECTOR = np.array([0.7, 1.9, -1.3])
SCALE = 3.0


def square(x):
    return x * x


def mean_square(x, weight=1.0, *, shift=0.0):
    return np.mean(square(x - shift)) * weight


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * 1.1, n - 1)


def odd(x, n):
    return x * 2.0 if n == 0 else even(x * x, n - 1)


def test_helper():
    def f(x):
        return square(x) + square(square(x)) * x

    assert_gradient(f, 0.9)


def test_helper_that_calls_a_helper_with_defaults_and_keywords():
    def f(x):
        return (
            mean_square(x) + mean_square(x, 2.0) * mean_square(x, shift=0.5) + mean_square(weight=x[0], x=x)
        )

    assert_gradient(f, VECTOR)


def test_helper_with_star_arguments():
    def total(*terms, scale=1.0, **named):
        s = 0.0
        for term in terms:
            s = s + term * scale
        for value in named.values():
            s = s * value
        return s

    def f(x):
        return total(x, x * x, scale=2.0) + total(*[x, x], **{"a": x, "b": 2.0})

    assert_gradient(f, 0.9)


def test_helper_that_returns_several_values():
    def split(x):
        return x[0] * x[1], {"rest": x[2:]}

    def f(x):
        a, b = split(x)
        return a * np.sum(b["rest"]) + split(x)[0]

    assert_gradient(f, VECTOR)


def test_helper_with_active_and_passive_arguments():
    def scaled(x, n, name):
        return x * n if name == "times" else x

    def f(x):
        return scaled(x, 3, "times") * scaled(2.0, 3, "times") * scaled(x, 1, "same")

    assert_gradient(f, 0.9)


def test_helper_called_in_a_loop():
    def cell(h, W, x):
        return np.tanh(W @ h + x)

    def f(W, xs, h):
        for x in xs:
            h = cell(h, W, x)
        return np.sum(h**2)

    rng = np.random.default_rng(0)
    assert_gradient(
        f, rng.normal(size=(3, 3)) / 3, rng.normal(size=(6, 3)), rng.normal(size=3), argnums=(0, 1, 2)
    )


def test_helper_with_early_returns():
    def soft(x):
        if x > 1.0:
            return 2.0 * x - 1.0
        if x < -1.0:
            return -2.0 * x - 1.0
        return x * x

    def f(x):
        return sum(soft(e) * e for e in x)

    assert_gradient(f, VECTOR)


def test_helper_without_a_return():
    log = []

    def note(x):
        log.append(x)

    def f(x):
        nothing = note(3)
        return x * x if nothing is None else x

    assert_gradient(f, 0.9)


def test_recursion():
    def f(x):
        return power(x, 5)

    assert_gradient(f, 0.9)
    assert_gradient(power, 0.9, 4)


def test_mutual_recursion():
    assert_gradient(even, 0.9, 5)


def test_recursion_over_a_tree():
    def total(tree):
        if isinstance(tree, tuple):
            left, right = tree
            return total(left) * np.sin(total(right))
        return tree

    def f(x):
        return total(((x, 2.0), (x * x, (x, 3.0))))

    assert_gradient(f, 0.9)


def test_lambda():
    assert_gradient(lambda x: x * x * 3.0, 0.9)


def test_lambda_inside():
    def f(x):
        g = lambda y, k=2.0: y * x * k
        return g(x) + g(3.0, k=x)

    assert_gradient(f, 0.9)


def test_two_lambdas_on_one_line():
    a, b = (lambda x: x * x), (lambda x: x * x * x)
    assert assert_gradient(a, 2.0) == 4.0
    assert assert_gradient(b, 2.0) == 12.0


def test_two_lambdas_with_the_same_text_and_other_closures():
    def scaled(k):
        return lambda x: k * x

    a, b = scaled(2.0), scaled(3.0)
    assert assert_gradient(a, 1.0) == 2.0
    assert assert_gradient(b, 1.0) == 3.0


def test_nested_function():
    def f(x):
        def inner(y):
            return y * y * x

        return inner(x) + inner(2.0)

    assert_gradient(f, 0.9)


def test_closure_over_a_value_that_changes_later():
    def f(x):
        k = x

        def inner(y):
            return y * k

        a = inner(x)
        k = x * x
        return a + inner(x)

    assert_gradient(f, 0.9)


def test_nested_function_defined_in_a_loop():
    def f(x):
        s = 0.0
        for i in range(3):

            def inner(y, i=i):
                return y**i * x

            s = s + inner(x)
        return s

    assert_gradient(f, 0.9)


def test_nested_function_defined_in_a_loop_and_called_after_it():
    def f(x):
        for i in range(3):

            def scaled(a):
                return a * x[i]

        return scaled(x[0]) * scaled(x[1])

    assert_gradient(f, np.array([0.7, 1.9, -1.3]))


def test_nested_function_whose_defaults_come_from_a_loop_that_has_ended():
    def f(x):
        for i in range(3):

            def scaled(a, k=i):
                return a * x[k]

        return scaled(x[0])

    assert_refused(f, np.array([0.7, 1.9, -1.3]), line="return scaled(x[0])")


def test_function_returned_by_a_function():
    def scaled(k):
        def inner(y):
            return y * k

        return inner

    def f(x):
        return scaled(x)(x) + scaled(2.0)(x)

    assert_gradient(f, 0.9)


def test_closure_of_the_function_itself():
    k = np.array([1.0, 2.0, 3.0])

    def f(x):
        return np.sum(k * x * x)

    assert_gradient(f, VECTOR)
    k = k * 2.0
    np.testing.assert_allclose(adjoin.grad(f)(VECTOR), 2 * k * VECTOR)


def test_function_passed_as_an_argument():
    def integrate(g, a, b, n):
        h = (b - a) / n
        s = 0.0
        for i in range(n):
            s = s + g(a + (i + 0.5) * h)
        return s * h

    def f(x):
        return (
            integrate(lambda t: np.sin(t) * x, 0.0, x, 5)
            + integrate(np.exp, 0.0, x, 3)
            + integrate(square, x, 2.0, 3)
        )

    assert_gradient(f, 0.9)
    assert_gradient(integrate, square, 0.2, 1.1, 4, argnums=(1, 2))


def test_functools_partial():
    def f(x):
        g = functools.partial(mean_square, weight=2.0)
        return g(x) + functools.partial(power, n=3)(x[0])

    assert_gradient(f, VECTOR)
    assert_gradient(functools.partial(power, n=3), 0.9)


def test_functools_reduce():
    def f(x):
        return functools.reduce(lambda a, b: a * b + a, x)

    assert_gradient(f, VECTOR)


def test_decorated_function():
    def logged(g):
        @functools.wraps(g)
        def wrapper(*args, **kwargs):
            return g(*args, **kwargs)

        return wrapper

    @logged
    def cube(x):
        return x**3

    assert_gradient(cube, 0.9)
    assert_gradient(lambda x: cube(x) * x, 0.9)


def test_grad_as_a_decorator():
    @adjoin.grad
    def slope(x):
        return x**3

    @adjoin.grad(argnums=1)
    def second(x, y):
        return x * y * y

    assert slope(2.0) == 12.0
    assert slope.primal(2.0) == 8.0
    assert second(2.0, 3.0) == 12.0


def test_globals():
    def f(x):
        return x * SCALE + len(VECTOR) * x

    assert_gradient(f, 0.9)


def test_global_that_changes_between_calls(monkeypatch):
    def f(x):
        return x * x * SCALE

    gradient = adjoin.grad(f)
    assert gradient(2.0) == 12.0
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 5.0)
    assert gradient(2.0) == 20.0


def test_functions_of_another_module():
    source = (
        "import numpy as xp\n\nK = 2.0\n\n"
        "def f(x):\n    return inner(x) * K\n\ndef inner(x):\n    return xp.sin(x)\n"
    )
    other = module_from("other_module", source)

    def f(x):
        return other.f(x) * x + other.inner(x)

    assert_gradient(f, 0.9)


def test_function_of_the_repl():
    repl = module_from("__main__repl", "def f(x):\n    return x * x\n")
    assert_gradient(repl.f, 0.9)


def module_from(name, source):
    """A module whose source only `linecache` knows, as the REPL and Jupyter make them."""
    import linecache

    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    module = types.ModuleType(name)
    exec(compile(source, filename, "exec"), module.__dict__)
    return module


class Layer:
    """A model in the usual style: attributes, methods, a property, a call."""

    slope = 0.1

    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return self.activate(x * self.w + self.b)

    def activate(self, x):
        return np.tanh(x) + self.slope * x

    @property
    def norm(self):
        return np.sum(self.w**2)

    @staticmethod
    def double(x):
        return 2.0 * x

    @classmethod
    def sloped(cls, x):
        return cls.slope * x

    def loss(self, x):
        return np.sum(self(x)) + self.norm * np.sum(x)


def test_bound_method():
    layer = Layer(VECTOR, 0.3)
    assert_gradient(layer.loss, np.array([0.2, -0.4, 1.0]))


def test_methods_attributes_and_properties():
    layer = Layer(VECTOR, 0.3)

    def f(x):
        return np.sum(layer(x)) * layer.norm + Layer.double(np.sum(x)) + layer.sloped(np.sum(x * layer.w))

    assert_gradient(f, np.array([0.2, -0.4, 1.0]))


def test_object_made_inside():
    def f(x):
        layer = Layer(x, x[0])
        return np.sum(layer(VECTOR)) + layer.norm

    assert_gradient(f, np.array([0.2, -0.4, 1.0]))


def test_attribute_written_inside():
    def f(x):
        state = types.SimpleNamespace(value=x, count=0)
        for _ in range(3):
            state.value = state.value * x
            state.count += 1
        return state.value * state.count

    assert_gradient(f, 0.9)


def test_stop_gradient():
    def f(x):
        return x * adjoin.stop_gradient(x * x)

    assert assert_gradient(f, 3.0, expected=9.0) == 9.0


@pytest.mark.parametrize("module", ["numpy", "np", "xp"])
def test_any_alias_of_numpy(module):
    source = f"import numpy as {module}\n\ndef f(x):\n    return {module}.sum({module}.sin(x) * x)\n"
    assert_gradient(module_from(f"alias_{module}", source).f, VECTOR)


def test_names_imported_from_numpy():
    source = (
        "from numpy import sin, sum as total, linalg\nfrom numpy.linalg import norm\n\n"
        "def f(x):\n    return total(sin(x) * x) + norm(x) * linalg.norm(x)\n"
    )
    assert_gradient(module_from("from_numpy", source).f, VECTOR)


def test_function_name_held_in_a_variable():
    def f(x):
        g = np.sin
        for h in (np.cos, np.exp):
            x = h(x)
        return g(x)

    assert_gradient(f, 0.9)


# -- functions under other names ---------------------------------------------------------------------------

OUTER, LARGEST, RUNNING = np.multiply.outer, np.maximum.reduce, np.add.accumulate
AS_TYPE = np.ndarray.astype
DOUBLED = np.vectorize(lambda t: 2 * t)
DRAW = np.random.default_rng(3).normal
LOOK_UP = {"a": 2.0}.get
POWER_OF_TWO = functools.partial(math.pow, 2.0)
WEIGHTED = functools.partial(np.dot, np.array([1.0, 2.0, 4.0]))
WITH_AXIS = functools.partial(np.sum, axis=0)

ALIASED = {
    "method of a ufunc": lambda x: np.sum(OUTER(x, x) * np.arange(9.0).reshape(3, 3)),
    "reduce": lambda x: LARGEST(x) ** 2,
    "accumulate": lambda x: np.sum(RUNNING(x) ** 2),
    "method of an array": lambda x: np.sum(AS_TYPE(x, complex).real ** 2),
    "of something that is held": lambda x: np.sum(x**2 * OUTER(np.arange(2.0), np.ones(3))),
    "vectorized": lambda x: np.sum(x**2 * DOUBLED(np.arange(3))),
    "bound method": lambda x: np.sum(x**2) * LOOK_UP("a", 1.0) + LOOK_UP("b", 0.5) * x[0],
    "partial of a library's": lambda x: np.sum(x**2) * POWER_OF_TWO(3.0),
    "partial of an array": lambda x: WEIGHTED(x**2),
    "partial with an option": lambda x: np.sum(WITH_AXIS(x[:, None] * x) ** 2),
}


@pytest.mark.parametrize("name", ALIASED)
def test_a_function_under_another_name(name):
    assert_gradient(ALIASED[name], np.array([0.3, -1.2, 0.8]))


def test_a_random_method_under_another_name(monkeypatch):
    gradient = adjoin.grad(lambda x: np.sum(x * DRAW(size=3)))
    for seed in (1, 2):
        monkeypatch.setitem(globals(), "DRAW", np.random.default_rng(seed).normal)
        np.testing.assert_array_equal(gradient(np.ones(3)), np.random.default_rng(seed).normal(size=3))


def test_a_rule_for_a_function_of_the_program_itself(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, adjoin\n"
        "def sine(x): return np.frombuffer(np.sin(x).tobytes())\n"
        "@adjoin.rule.vjp(sine)\n"
        "def _(g, out, x): return g * np.cos(x)\n"
        "def f(x): return np.sum(2.0 * sine(x))\n"
        "print(adjoin.grad(f)(np.array([0.0, np.pi])))\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    for _ in range(2):  # the second process finds the code of the first
        run = [sys.executable, str(script)]
        done = subprocess.run(run, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
        assert done.stdout == "[ 2. -2.]\n", done.stderr


def test_a_rule_for_a_local_function():
    def sine(x):
        return np.sin(x)

    @adjoin.rule.vjp(sine)
    def _(g, out, x):
        return g * np.cos(x)

    with pytest.raises(adjoin.AdjoinError, match=r"cannot name `sine`.*\n(.*\n)*.*module level"):
        adjoin.grad(lambda x: np.sum(sine(x)))(np.zeros(2))
