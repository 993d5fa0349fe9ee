"""What can be differentiated with respect to, and how arguments arrive."""

import collections
import dataclasses

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin

VECTOR = np.array([0.7, 1.9, -1.3])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_float_dtypes(dtype):
    def f(x):
        return np.sum(np.sin(x) * x * 2.0 + x)

    x = VECTOR.astype(dtype)
    want = (np.cos(VECTOR) * VECTOR * 2.0 + 2.0 * np.sin(VECTOR) + 1.0).astype(dtype)
    assert_gradient(f, x, expected=want)


def test_single_precision_stays_single():
    def f(x, y):
        s = x
        for i in range(3):
            s = np.tanh(s * y[i]) + 0.5 * x / (1 + x * x)
        return np.sum(s) * np.float32(2.0)

    assert_gradient(f, VECTOR.astype(np.float32), VECTOR.astype(np.float32), argnums=(0, 1))


def test_mixed_precision():
    def f(x, y):
        return np.sum(x * y)

    x = VECTOR.astype(np.float32)
    assert_gradient(f, x, VECTOR, argnums=(0, 1), expected=(VECTOR.astype(np.float32), x.astype(np.float64)))


@pytest.mark.parametrize("x", [np.float64(1.3), np.float32(1.3), np.array(1.3), np.array(1.3, np.float32)])
def test_numpy_scalars_and_0_d_arrays(x):
    def f(x):
        return x * x * 3.0 + np.sin(x)

    assert_gradient(f, x, expected=(6.0 * x + np.cos(x)).astype(x.dtype))


def test_complex():
    def f(z):
        w = z * z + 2.0j * z
        return np.sum(np.abs(w) ** 2) + np.sum(np.real(z * np.conj(w))) + np.sum(w.imag)

    assert_gradient(f, np.array([0.3 + 0.4j, -1.1 + 0.2j]))


def test_complex_scalar():
    def f(z):
        return abs(z * z) + (z * 3.0).real + z.imag * z.real + z.conjugate().imag

    assert_gradient(f, 0.3 + 0.4j)


def test_complex_inside_a_real_function():
    def f(x):
        z = np.exp(1j * x)
        return np.sum(np.real(z) * x) + np.sum(np.abs(z * x) ** 2) + np.sum(np.imag(z * z))

    assert_gradient(f, VECTOR)


def test_empty_array():
    def f(x):
        return np.sum(x * x)

    assert_gradient(f, np.zeros(0))
    assert_gradient(f, np.zeros((3, 0)))


def test_layouts():
    def f(x):
        return np.sum(x @ x.T * 2.0) + np.sum(x.ravel()[::2])

    base = np.random.default_rng(0).normal(size=(3, 4))
    assert_gradient(f, np.asfortranarray(base))
    assert_gradient(f, base[::-1, ::2])
    assert_gradient(f, base.T)


def test_read_only_argument():
    def f(x):
        return np.sum(x * x)

    x = VECTOR.copy()
    x.flags.writeable = False
    assert_gradient(f, x)


def test_nested_structures():
    def f(p):
        h = np.tanh(p["layers"][0] @ p["x"] + p["bias"])
        for w, b in p["pairs"]:
            h = h * w + b
        return np.sum(h)

    rng = np.random.default_rng(0)
    p = {
        "layers": [rng.normal(size=(2, 3))],
        "x": VECTOR,
        "bias": 0.3,
        "pairs": ((np.array([1.0, 2.0]), 0.5), (np.array([0.1, 0.2]), -0.5)),
    }
    assert_gradient(f, p)


Affine = collections.namedtuple("Affine", "w b")


def test_named_tuple():
    def f(p, x):
        return np.sum((p.w * x + p.b) ** 2)

    assert_gradient(f, Affine(VECTOR.copy(), 0.3), VECTOR, argnums=(0, 1))


@dataclasses.dataclass
class Layers:
    weights: list
    bias: float


def test_list_of_a_dataclass_at_a_place_known_when_running():
    def f(p, x):
        k = int(x[1] > 0)
        h = x[0] * p.weights[k]
        for i in range(3):
            h = h * p.weights[i % 2] + p.bias
        return h

    gradient = assert_gradient(f, Layers([0.5, 0.7], 0.1), VECTOR, argnums=(0, 1))
    assert gradient[0].weights[1] != 0.0


@dataclasses.dataclass
class Model:
    w: np.ndarray
    b: float


def test_dataclass():
    def f(model, x):
        return np.sum((model.w * x + model.b) ** 2)

    assert_gradient(f, Model(VECTOR.copy(), 0.3), VECTOR, argnums=(0, 1))


def test_structure_with_what_carries_no_gradient():
    def f(p):
        return p["w"] * p["n"] if p["mode"] == "times" else p["w"]

    gradient = adjoin.grad(f)({"w": 2.0, "n": 3, "mode": "times"})
    assert gradient["w"] == 3.0


def test_argnums():
    def f(x, y, z):
        return x * y + np.sin(z)

    assert adjoin.grad(f)(2.0, 3.0, 0.0) == 3.0
    assert adjoin.grad(f, argnums=1)(2.0, 3.0, 0.0) == 2.0
    assert adjoin.grad(f, argnums=-1)(2.0, 3.0, 0.0) == 1.0
    assert adjoin.grad(f, argnums=(2, 0))(2.0, 3.0, 0.0) == (1.0, 3.0)
    assert adjoin.grad(f, argnums=(1,))(2.0, 3.0, 0.0) == (2.0,)


def test_argnames():
    def f(x, y):
        return x * y * y

    assert adjoin.grad(f, argnames="y")(2.0, 3.0) == 12.0
    assert adjoin.grad(f, argnames="y")(x=2.0, y=3.0) == 12.0
    assert adjoin.grad(f, argnames=("y", "x"))(2.0, y=3.0) == (12.0, 9.0)


def test_keywords_defaults_keyword_only_and_star():
    def f(x, y=3.0, *rest, scale, power=2, **extra):
        s = x**power * y * scale
        for r in rest:
            s = s + r * x
        return s * extra.get("factor", 1.0)

    assert_gradient(f, 2.0, scale=0.5)
    assert_gradient(f, 2.0, 1.5, 4.0, 5.0, scale=0.5, factor=3.0)
    assert adjoin.grad(f, argnames="scale")(2.0, scale=0.5) == 12.0
    assert adjoin.grad(f, argnames="y")(2.0, scale=0.5) == 2.0


def test_positional_only():
    def f(x, /, y):
        return x * y

    assert_gradient(f, 2.0, y=3.0)


def test_gradient_does_not_alias_arguments_or_itself():
    def f(x, y):
        return np.sum(x) + np.sum(x * y)

    x, y = VECTOR.copy(), np.ones(3)
    x_bar, y_bar = adjoin.grad(f, argnums=(0, 1))(x, y)
    for one, other in [(x_bar, x), (x_bar, y), (y_bar, x), (y_bar, y), (x_bar, y_bar)]:
        assert not np.shares_memory(one, other)
    assert x_bar.flags.writeable
    assert y_bar.flags.writeable


def test_one_gradient_object_serves_several_kinds():
    gradient = adjoin.grad(lambda x: np.sum(x * x))
    assert gradient(3.0) == 6.0
    np.testing.assert_array_equal(gradient(VECTOR), 2 * VECTOR)
    np.testing.assert_array_equal(gradient(np.eye(2)), 2 * np.eye(2))
    assert gradient(VECTOR.astype(np.float32)).dtype == np.float32
    assert gradient(3.0) == 6.0


def test_second_derivative():
    f = adjoin.grad(adjoin.grad(lambda x: x**3 * np.sin(x)))
    assert np.isclose(f(0.7), 6 * 0.7 * np.sin(0.7) + 6 * 0.49 * np.cos(0.7) - 0.7**3 * np.sin(0.7))


@pytest.mark.parametrize("p", [{"a": 1.5, "b": VECTOR}, (1.5, VECTOR), [1.5, VECTOR]])
def test_member_that_is_not_used(p):
    key = "a" if isinstance(p, dict) else 0

    def f(p):
        return p[key] * 2.0

    gradient = assert_gradient(f, p)
    np.testing.assert_array_equal(gradient["b" if isinstance(p, dict) else 1], np.zeros(3))


def test_containers_that_the_function_changes():
    def f(p):
        p["list"][0] = p["list"][0] * p["x"]
        p["list"].append(3.0)
        p["more"] = 1.0
        del p["x"]
        return p["list"][0] * np.sum(p["list"][1]) * len(p["list"])

    given = {"list": [2.0, VECTOR], "x": 1.5}
    gradient = adjoin.grad(f)(given)
    assert list(given) == ["list", "x"] and len(given["list"]) == 2 and given["list"][0] == 2.0
    assert list(gradient) == ["list", "x"] and len(gradient["list"]) == 2
    total = np.sum(VECTOR)
    np.testing.assert_allclose(gradient["list"][0], 3 * 1.5 * total)
    np.testing.assert_allclose(gradient["list"][1], np.full(3, 3 * 2.0 * 1.5))
    np.testing.assert_allclose(gradient["x"], 3 * 2.0 * total)


def test_class_that_cannot_be_imported():
    Local = collections.namedtuple("Local", "a b")

    def f(p, x):
        return p.a * x

    assert adjoin.grad(f, argnums=1)(Local(2.0, 3.0), 1.5) == 2.0
    with pytest.raises(adjoin.AdjoinError, match="cannot be imported"):
        adjoin.grad(f)(Local(2.0, 3.0), 1.5)


WEIGHTS = np.arange(3.0)


def test_defaults_that_are_arrays():
    def positional(x, w=WEIGHTS):
        return np.dot(x, w * x)

    def by_name(x, *, w=WEIGHTS, n=2):
        return np.dot(x**n, w)

    for f in (positional, by_name):
        assert_gradient(f, np.array([0.7, 1.9, -0.3]))
