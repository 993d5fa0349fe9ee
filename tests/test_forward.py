"""Forward mode and derivatives of derivatives: values, shapes, dtypes, structures, refusals."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
from helpers import copy_arguments, differences
from mutation.test_buffers import VECTOR
from test_worked_examples import CASES

import adjoin
from adjoin import (
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)

MATRIX = np.arange(12.0).reshape(3, 4) / 7 + 0.1


def slope(f, x, direction, step=1e-6):
    """Central difference of a function of one argument along a direction."""
    return (np.asarray(f(x + step * direction)) - np.asarray(f(x - step * direction))) / (2 * step)


# -- jvp ---------------------------------------------------------------------------------------------


def test_jvp_of_two_arguments():
    value, dot = jvp(lambda x, y: x * np.sin(y), (VECTOR, 0.5), (np.ones_like(VECTOR), 2.0))
    np.testing.assert_allclose(value, VECTOR * np.sin(0.5))
    np.testing.assert_allclose(dot, np.sin(0.5) + 2.0 * VECTOR * np.cos(0.5))


def test_an_argument_without_tangent_is_constant():
    assert jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, None)) == (12.0, 4.0)
    assert jvp(lambda x, n: x**n, (3.0, 2), (1.0, None)) == (9.0, 6.0)


def test_a_result_that_does_not_move():
    value, dot = jvp(lambda x, y: y * np.ones(3), (3.0, 4.0), (1.0, None))
    np.testing.assert_array_equal(dot, np.zeros(3), strict=True)
    assert jvp(lambda x: 3.0, (2.0,), (1.0,)) == (3.0, 0.0)


def test_broadcast_tangents_have_the_shape_of_the_value():
    def f(x, y):
        return x + y

    value, dot = jvp(f, (1.0, MATRIX), (2.0, None))
    np.testing.assert_array_equal(dot, np.full(MATRIX.shape, 2.0), strict=True)
    value, dot = jvp(f, (np.ones((3, 1)), MATRIX), (np.ones((3, 1)), None))
    np.testing.assert_array_equal(dot, np.ones(MATRIX.shape), strict=True)


class Pair(NamedTuple):
    a: np.ndarray
    b: float


@dataclasses.dataclass
class Model:
    w: np.ndarray
    n: int


def test_structures():
    def f(p, model, d):
        return {
            "p": Pair(p.a * p.b, p.b),
            "q": [model.w * model.n, d["k"][0] ** 2],
            "n": model.n,
            "s": "text",
        }

    p, p_dot = Pair(VECTOR, 2.0), Pair(np.ones_like(VECTOR), 0.5)
    model, model_dot = Model(MATRIX, 3), Model(np.ones_like(MATRIX), 3)
    d, d_dot = {"k": (1.5, "x")}, {"k": (2.0, "x")}
    value, dot = jvp(f, (p, model, d), (p_dot, model_dot, d_dot))
    assert list(value) == list(dot) == ["p", "q", "n", "s"]
    assert type(dot["p"]) is Pair and dot["n"] is None and dot["s"] is None
    np.testing.assert_allclose(dot["p"].a, 2.0 + 0.5 * VECTOR)
    assert dot["p"].b == 0.5
    np.testing.assert_allclose(dot["q"][0], 3.0 * np.ones_like(MATRIX))
    assert dot["q"][1] == 6.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_dtypes(dtype):
    x = (MATRIX + (0.5j if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    value, dot = jvp(lambda x: np.exp(x) * 2.0 + x[0], (x,), (np.ones_like(x),))
    assert dot.dtype == value.dtype == dtype and dot.shape == value.shape
    np.testing.assert_allclose(dot, 2.0 * np.exp(x) + 1.0, rtol=1e-5)


def test_complex_tangents_are_not_conjugated():
    z, z_dot = np.array([0.3 + 0.4j, -1.0 + 2.0j]), np.array([1.0 - 2.0j, 0.5j])
    value, dot = jvp(lambda z: z * z * 1j, (z,), (z_dot,))
    np.testing.assert_allclose(dot, 2j * z * z_dot)
    value, dot = jvp(lambda z: np.abs(z), (z,), (z_dot,))
    assert dot.dtype == np.float64
    np.testing.assert_allclose(dot, np.real(np.conj(z) * z_dot) / np.abs(z))


def test_a_real_tangent_in_a_complex_result():
    value, dot = jvp(lambda x, z: x * 1.0 + z, (VECTOR, 1j), (np.ones_like(VECTOR), None))
    assert dot.dtype == value.dtype == np.complex128


def test_nothing_is_shared_and_nothing_is_changed():
    def f(x):
        x[0] = 7.0
        return x

    x, x_dot = VECTOR.copy(), np.ones_like(VECTOR)
    value, dot = jvp(f, (x,), (x_dot,))
    np.testing.assert_array_equal(x, VECTOR)
    np.testing.assert_array_equal(x_dot, np.ones_like(VECTOR))
    assert value[0] == 7.0 and dot[0] == 0.0
    value, dot = jvp(lambda x: x, (x,), (x_dot,))
    assert not np.shares_memory(dot, x_dot)


def test_zero_by_structure_stays_zero():
    def f(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0)) + np.sum(np.sqrt(np.where(x > 0, x, 0.0)))

    x = np.array([0.0, 4.0])
    with np.errstate(all="ignore"):
        assert jvp(f, (x,), (np.array([0.0, 1.0]),))[1] == 0.5


def test_a_tangent_taken_before_a_store_stays():
    def f(x):
        a = x * 1.0
        b = +a
        c = a + 0.0
        a[0] = 9.0
        return a * b * c

    direction = np.arange(1.0, 1.0 + VECTOR.size)
    np.testing.assert_allclose(
        jvp(f, (VECTOR,), (direction,))[1], slope(f, VECTOR, direction), rtol=1e-6, atol=1e-8
    )


def test_aliases_in_lists_and_branches():
    def f(x, flag):
        a, b = x * 1.0, x * 2.0
        rows = [a, b, a]
        target = rows[0] if flag else rows[1]
        target[1:] = np.sin(target[:-1])
        rows[2] *= 3.0
        return a * b + rows[2]

    for flag in (True, False):
        got = jvp(f, (VECTOR, flag), (VECTOR[::-1], None))[1]
        np.testing.assert_allclose(
            got, slope(lambda x, flag=flag: f(x, flag), VECTOR, VECTOR[::-1]), rtol=1e-6
        )


def test_the_text():
    def f(x):
        y = np.sin(x)
        return y * 2.0

    assert jvp(f).source_for(VECTOR) == (
        "import numpy as np\n\n\n"
        "def f_jvp(x, x_dot):\n"
        "    y = np.sin(x)\n"
        "    y_dot = x_dot * np.cos(x)\n"
        "    return y * 2.0, y_dot * 2.0\n"
    )
    assert "f_jvp" in jvp(f).source


@pytest.mark.parametrize(
    ("primals", "tangents", "what"),
    [
        ((VECTOR,), (np.ones(2),), "form"),
        ((VECTOR,), (np.ones_like(VECTOR), 1.0), "2 tangents"),
        ((VECTOR,), (1j * VECTOR,), "complex128"),
        ((3,), (1.0,), "integer"),
    ],
)
def test_bad_tangents(primals, tangents, what):
    with pytest.raises(adjoin.AdjoinError, match=what):
        jvp(lambda x: x * 2.0, primals, tangents)


def test_primals_are_tuples():
    with pytest.raises(TypeError, match="tuples"):
        jvp(lambda x: x, VECTOR, VECTOR)
    with pytest.raises(TypeError, match="or neither"):
        jvp(lambda x: x, (VECTOR,))


def test_no_rule_is_refused_at_its_line():
    def f(x):
        return np.polynomial.chebyshev.chebval(x, [1.0, 2.0])

    with pytest.raises(adjoin.AdjoinError, match="chebval"):
        jvp(f, (1.5,), (1.0,))


# -- linearize ---------------------------------------------------------------------------------------


def test_linearize():
    point = VECTOR.copy()
    value, f_lin = linearize(lambda x, y: np.sin(x) * y, point, 2.0)
    point[:] = 0.0
    np.testing.assert_allclose(value, 2.0 * np.sin(VECTOR))
    np.testing.assert_allclose(f_lin(np.ones_like(VECTOR), None), 2.0 * np.cos(VECTOR))
    np.testing.assert_allclose(f_lin(None, 3.0), 3.0 * np.sin(VECTOR))
    assert "_dot" in f_lin.source


# -- Jacobians ---------------------------------------------------------------------------------------


def everything(x, y):
    return {"m": np.outer(x, x) * y, "s": np.sum(x) ** 2, "n": 3}


@pytest.mark.parametrize("make", [jacfwd, jacrev, jacobian])
def test_jacobians_agree(make):
    found = make(everything, argnums=(0, 1))(VECTOR, 2.0)
    expected = jacrev(everything, argnums=(0, 1))(VECTOR, 2.0)
    assert found["n"] is None
    for key in ("m", "s"):
        for got, want in zip(found[key], expected[key], strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)
            assert np.shape(got) == np.shape(want) and np.asarray(got).dtype == np.asarray(want).dtype
    assert found["m"][0].shape == (VECTOR.size,) * 3


def test_jacobian_takes_the_shorter_way():
    wide, tall = jacobian(lambda x: np.sum(x * x)), jacobian(lambda x: x * np.ones(50))
    np.testing.assert_allclose(wide(MATRIX), 2 * MATRIX)
    assert "_forward" in wide.source
    np.testing.assert_allclose(tall(2.0), np.ones(50))
    assert "_jvp" in tall.source


def test_jacobian_of_arguments_without_elements():
    for make in (jacfwd, jacrev, jacobian):
        assert make(lambda x: x * x)(np.zeros(0)).shape == (0, 0)


def test_jacobian_of_complex_functions_is_refused():
    for make in (jacfwd, jacrev, jacobian):
        with pytest.raises(adjoin.AdjoinError, match="convention"):
            make(lambda x: x * 1j)(VECTOR)


def test_hessian():
    def f(x, y):
        return np.sum(np.sin(x) * x[::-1]) * y**2

    found = hessian(f)(VECTOR, 2.0)
    expected = np.stack([slope(lambda x: grad(f)(x, 2.0), VECTOR, e) for e in np.eye(VECTOR.size)], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    (xx, xy), (yx, yy) = hessian(f, argnums=(0, 1))(VECTOR, 2.0)
    np.testing.assert_allclose(xx, found)
    np.testing.assert_allclose(xy, yx)
    assert xy.shape == VECTOR.shape and np.shape(yy) == ()


def test_elementwise_grad():
    got = elementwise_grad(lambda x: np.tanh(x) * 2)(MATRIX.astype(np.float32))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, 2 / np.cosh(MATRIX) ** 2, rtol=1e-5)
    assert elementwise_grad(lambda x: x**3)(2.0) == 12.0


# -- second and third order --------------------------------------------------------------------------

SMOOTH = {name: case for name, case in CASES.items() if name != "loss, 1000 x 20"}


@pytest.mark.parametrize("name", SMOOTH)
def test_hvp_of_the_worked_examples(name):
    """Tangent over adjoint and adjoint over adjoint, against differences of the gradient."""
    f, _, argnum, args = SMOOTH[name]
    rng = np.random.default_rng(0)
    x = args[argnum]
    direction = rng.normal(size=np.shape(x)) if np.ndim(x) else float(rng.normal())
    tangents = tuple(direction if i == argnum else None for i in range(len(args)))

    def gradient(x):
        return grad(f, argnums=argnum)(*copy_arguments(args[:argnum]), x, *copy_arguments(args[argnum + 1 :]))

    expected = slope(gradient, x, direction)
    got = hvp(f, args, tangents, argnums=argnum)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert np.shape(got) == np.shape(x)
    _, pullback = vjp(grad(f, argnums=argnum), *args)
    np.testing.assert_allclose(pullback(direction)[argnum], expected, rtol=1e-5, atol=1e-6)


def test_third_order():
    def f(x):
        s = 0.0
        for i in range(3):
            s = s + x**4 * i
        return s

    third = grad(grad(grad(f)))
    assert third(2.0) == pytest.approx(3 * 4 * 3 * 2 * 2.0)
    assert "f_grad_grad_grad" in third.source


def test_third_order_of_a_vector():
    def f(x):
        return np.sum(np.exp(x) * x)

    def g(x):
        return np.sum(grad(f)(x) * np.cos(x))

    def h(x):
        return np.sum(grad(g)(x) ** 2)

    np.testing.assert_allclose(grad(h)(VECTOR), differences(h, (VECTOR,), 0, {}), rtol=1e-5)


def test_second_order_of_in_place_code():
    def f(x, indices):
        a = np.zeros(4)
        np.add.at(a, indices, x * x)
        kept = []
        for i in range(3):
            a[1:] += np.sin(a[:-1]) * x[i]
            kept.append(a[i] * x[0])
        while kept:
            a[0] *= kept.pop()
        return np.sum(a**2)

    x, indices = np.array([0.3, 0.7, 1.1, -0.4]), np.array([0, 2, 2, 3])
    direction = np.array([1.0, -0.5, 0.3, 0.8])
    expected = slope(lambda x: grad(f)(x, indices), x, direction)
    np.testing.assert_allclose(hvp(f, (x, indices), (direction, None)), expected, rtol=1e-5, atol=1e-7)


def test_hvp_with_respect_to_several_arguments():
    def f(x, y):
        return np.sum(x * x * y**3)

    got = hvp(f, (VECTOR, 2.0), (np.ones_like(VECTOR), 0.5), argnums=(0, 1))
    assert isinstance(got, tuple) and len(got) == 2
    np.testing.assert_allclose(got[0], 2 * 8 + 2 * VECTOR * 12 * 0.5)
    np.testing.assert_allclose(got[1], np.sum(2 * VECTOR * 12 + VECTOR**2 * 12 * 0.5))


# -- a gradient inside a function that is differentiated ---------------------------------------------


def test_levels_are_not_confused():
    assert grad(lambda x: x * grad(lambda y: x + y)(x))(5.0) == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y)(x))(5.0) == 10.0
    assert jvp(lambda x: x * grad(lambda y: x + y)(x), (5.0,), (1.0,)) == (5.0, 1.0)


def energy(x):
    return np.sum(np.sin(x) ** 2)


force = grad(energy)


@grad
def cubed(y, n):
    return y**n


def test_gradients_made_outside():
    np.testing.assert_allclose(
        grad(lambda x: np.sum(force(x) ** 2))(VECTOR), 4 * np.sin(2 * VECTOR) * np.cos(2 * VECTOR)
    )
    assert grad(lambda x: cubed(x, 3) * x)(2.0) == pytest.approx(9 * 2.0**2)


def test_gradient_steps_inside_a_loop():
    def f(x, rate):
        w = x
        for _ in range(4):
            w = w - rate * grad(energy)(w)
        return energy(w)

    for argnum in (0, 1):
        got = grad(f, argnums=argnum)(VECTOR, 0.1)
        np.testing.assert_allclose(got, differences(f, (VECTOR, 0.1), argnum, {}), rtol=1e-6)


def test_value_and_grad_inside():
    def f(x):
        value, gradient = value_and_grad(energy)(x)
        return value * np.sum(gradient)

    np.testing.assert_allclose(grad(f)(VECTOR), differences(f, (VECTOR,), 0, {}), rtol=1e-6)


def test_several_arguments_names_and_structures():
    def inner(p, scale):
        return np.sum(p["w"] ** 2 * p["b"]) * scale**2

    def f(x, s):
        p_bar, s_bar = grad(inner, argnums=(0, 1))({"w": x, "b": s}, s * 2.0)
        return (
            np.sum(p_bar["w"]) * p_bar["b"] + s_bar + grad(inner, argnames="scale")({"w": x, "b": s}, scale=s)
        )

    for argnum in (0, 1):
        np.testing.assert_allclose(
            grad(f, argnums=argnum)(VECTOR, 0.7), differences(f, (VECTOR, 0.7), argnum, {}), rtol=1e-6
        )


def test_the_inner_function_sees_what_is_around_it():
    def f(x):
        scale = np.sum(x)
        total = 0.0
        for i in range(3):

            def inner(y, i=i):
                s = 0.0
                for k in range(2):
                    s = s + y * scale * (k + i)
                return s * s

            total = total + grad(inner)(x[i])
        return total

    np.testing.assert_allclose(grad(f)(VECTOR), differences(f, (VECTOR,), 0, {}), rtol=1e-6)


def test_an_inner_function_that_writes_outside_is_refused():
    def f(x):
        a = x * 1.0

        def inner(y):
            a[0] = y
            return np.sum(a * y)

        return grad(inner)(x[1])

    with pytest.raises(adjoin.AdjoinError, match="writes into an array"):
        grad(f)(VECTOR)


@pytest.mark.parametrize("make", [jvp, hvp, jacobian, hessian, elementwise_grad])
def test_what_is_not_read_inside_is_refused_by_name(make):
    with pytest.raises(adjoin.AdjoinError, match="inside a function that is differentiated"):
        grad(lambda x: np.sum(make(energy)(x)))(VECTOR)


# -- where a gradient's own code is not read again: the adjoint of tangents --------------------------


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return np.sin(x) if n == 0 else even(x + 1.0, n - 1)


def pair(x, n):
    if n == 0:
        return x, x * x
    a, b = pair(x, n - 1)
    return a * b, b + np.sin(a)


def product_of_pair(x, n):
    a, b = pair(x, n)
    return a * b


def bound_by_the_trip_before(x, n):
    s = 0.0
    for i in range(n):
        a = np.zeros(i + 1) + x
        if i > 0:
            s += np.sum(a[:1] * previous * x)  # noqa: F821
        previous = a  # noqa: F841
    return s


def carried_tuple(x, n):
    t = None
    for i in range(n + 1):
        t = (x, x * i) if t is None else (t[0] * t[1] + 1.0, x)
    return t[0] * t[1]


@pytest.mark.parametrize("f", [power, even, product_of_pair, bound_by_the_trip_before, carried_tuple])
def test_orders_one_to_three(f):
    derivative = f
    for _ in range(3):
        lower, derivative = derivative, grad(derivative)
        assert derivative(0.7, 3) == pytest.approx(slope(lambda x, g=lower: g(x, 3), 0.7, 1.0), rel=1e-6)
    assert hvp(f, (0.7, 3), (2.0, None)) == pytest.approx(2.0 * grad(grad(f))(0.7, 3))


def swapped_where_positive(x):
    a, b = x * 1.0, np.sin(x)
    for i in range(3):
        if x[i] > 0:
            a, b = b, a
        a[i] = b[0] * x[i]
        a = np.tanh(a * b)
    return np.sum(a * a)


def put_back_by_a_handler(x):
    a = x * 1.0
    try:
        a[0] = 2.0 * a[1] * a[0]
        if x[0] > 5.0:
            raise ValueError
        a[1] = a[0] * a[2]
        if x[0] > 4.0:
            raise KeyError
        a[2] *= 3.0
    except ValueError:
        a[2] *= a[0]
    except KeyError:
        a[2] += a[1] * a[1]
    else:
        a[0] -= a[2]
    return np.sum(a * a)


def held_in_a_dictionary(x):
    p = {"u": x * 1.0}
    for name in ["v", "w", "v"]:
        p[name] = p["u"] * (len(p) + x[0])
        p["u"][0] += p[name][1]
    p["u"] = p["v"]
    p["u"] *= 2.0
    return sum(np.sum(v * v) for v in p.values())


@pytest.mark.parametrize("f", [swapped_where_positive, put_back_by_a_handler, held_in_a_dictionary])
@pytest.mark.parametrize("x", [[0.7, 1.9, -1.3], [4.5, 0.3, 0.8], [5.5, 0.3, 0.8]])
def test_the_pullback_of_a_gradient_is_its_jacobian(f, x):
    """By the adjoint of the gradient's code, or of tangents; what writes goes either way."""
    x, gradient = np.array(x), grad(f)
    value, pullback = vjp(gradient, x)
    np.testing.assert_array_equal(value, gradient(x))
    rows = np.array([pullback(row)[0] for row in np.eye(3)])
    np.testing.assert_allclose(rows, rows.T, rtol=1e-12, atol=1e-12)
    columns = [slope(gradient, x, column) for column in np.eye(3)]
    np.testing.assert_allclose(rows, np.transpose(columns), rtol=1e-6, atol=1e-6)


def test_second_order_of_recursion_on_arrays():
    def f(x, n):
        return np.sum(product_of_pair(x, n))

    direction = np.array([1.0, -0.5, 0.3])
    got = hvp(f, (VECTOR[:3], 3), (direction, None))
    np.testing.assert_allclose(got, slope(lambda x: grad(f)(x, 3), VECTOR[:3], direction), rtol=1e-6)


def test_second_order_of_arguments_that_share_memory():
    """One moves the other: the gradients are those of the memory, and so are the second derivatives."""

    def f(x, y):
        x[0] = y[1] * 2.0
        y[2] += x[3] * x[3]
        return np.sum(x * y * y)

    x, direction = np.array([0.7, 1.9, -1.3, 0.4]), np.array([1.0, 0.5, -0.3, 0.8])
    both = grad(f, argnums=(0, 1))
    got = hvp(f, (x, x[::-1]), (direction, None), argnums=(0, 1))
    for number in (0, 1):
        expected = slope(lambda x, i=number: both(x, x[::-1])[i], x, direction)
        np.testing.assert_allclose(got[number], expected, rtol=1e-6)
    second = grad(grad(f))
    seed = np.array([0.2, 0.3, 0.4, 0.5])
    _, saved = second.forward(x, x[::-1])
    expected = [slope(lambda x: seed @ grad(f)(x, x[::-1]), x, e) for e in np.eye(4)]
    np.testing.assert_allclose(second.adjoint(saved, seed), expected, rtol=1e-6, atol=1e-8)


def snapshots(x, n):
    for _ in adjoin.checkpointed(range(n), snapshots=2):
        x = np.sin(x)
    return x


def stencil(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:] += u[:-1] ** 2
    return np.sum(u)


@pytest.mark.parametrize("f", [power, snapshots, stencil, energy])
@pytest.mark.parametrize(
    "make",
    [jvp, jacfwd, jacrev, jacobian, hessian, hvp, elementwise_grad, value_and_grad, lambda f: grad(grad(f))],
)
def test_source_before_any_call(f, make):
    assert "\ndef " in f"\n{make(f).source}"


@pytest.mark.parametrize("make", [hvp, hessian, lambda f: grad(grad(grad(f)))])
def test_source_for_a_call_that_goes_by_tangents(make):
    text = make(snapshots).source_for(0.7, 5)
    assert "_jvp" in text and make(snapshots).source_for(0.7, 5) == text


def test_the_shape_of_what_may_be_an_array_or_a_number_is_constant():
    def f(x, flag):
        y = x * x if flag else np.sum(x)
        z = y * y
        return np.sum(np.broadcast_to(np.sum(z), (z.shape[0],) if flag else (3,)))

    direction = np.array([1.0, -0.5, 0.3])
    for flag in (True, False):
        got = hvp(f, (VECTOR[:3], flag), (direction, None))
        expected = slope(lambda x, flag=flag: grad(f)(x, flag), VECTOR[:3], direction)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        second = grad(grad(f))
        pulled = second.adjoint(second.forward(VECTOR[:3], flag)[1], direction)
        np.testing.assert_allclose(pulled, expected, rtol=1e-6)
