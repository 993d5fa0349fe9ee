"""`adjoint_hook`: adjoints clipped, scaled or printed on their way back, in every form of a gradient."""

import numpy as np
import pytest

import adjoin
from adjoin import adjoint_hook, checkpoint, checkpointed, grad, hvp, jvp, value_and_grad

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
FACTOR = 3.0


def tripled(x):
    """A hook that is linear: the gradient of what comes before is three times as large."""
    return adjoint_hook(x, lambda x_bar: FACTOR * x_bar)


def every_form(f, *args):
    """The gradient from the joint function, beside the value, and in two halves."""
    gradient = grad(f)
    _, saved = gradient.forward(*args)
    return gradient(*args), value_and_grad(f)(*args)[1], gradient.adjoint(saved, 1.0)


def straight(x):
    return np.sum(np.sin(tripled(x * x)))


def helper(x):
    return tripled(x) * 2.0


def in_a_helper(x):
    return np.sum(np.sin(helper(x * x) * 0.5))


def in_a_branch(x):
    y = x * x
    if x[0] > 0.0:
        y = tripled(y)
    return np.sum(np.sin(y))


def named_twice(x):
    y = tripled(x * x)
    z = y
    return np.sum(np.sin(z))


def of_memory(x):
    a = x * x
    a = tripled(a)
    a[...] = np.sin(a)
    return np.sum(a)


def of_a_view(x):
    a = np.concatenate([x * x, np.ones(2)])
    v = tripled(a[:4])
    v *= 1.0
    return np.sum(np.sin(v))


def of_what_may_be_one_of_two(x):
    a, b = x * x, np.ones(4)
    c = a if x[0] > 0.0 else b
    c = tripled(c)
    c *= 1.0
    return np.sum(np.sin(c))


def in_place(x):
    def hook(x_bar):
        x_bar *= FACTOR
        return x_bar

    return np.sum(np.sin(adjoint_hook(x * x, hook)))


def run_again(x):
    block = checkpoint(lambda x: np.sin(tripled(x * x)))
    return np.sum(block(x))


@pytest.mark.parametrize(
    "f",
    [
        straight, in_a_helper, in_a_branch, named_twice, of_memory, of_a_view, of_what_may_be_one_of_two,
        in_place, run_again,
    ],
)  # fmt: skip
def test_the_hook_stands_where_the_adjoint_is_complete(f):
    for got in every_form(f, VECTOR):
        np.testing.assert_allclose(got, 6.0 * VECTOR * np.cos(VECTOR**2), rtol=1e-12)
        assert got.dtype == np.float64
    value, dot = jvp(f, (VECTOR,), (np.ones(4),))
    assert value == f(VECTOR) == np.sum(np.sin(VECTOR**2))
    np.testing.assert_allclose(dot, np.sum(2.0 * VECTOR * np.cos(VECTOR**2)))


def test_in_a_loop_it_is_done_at_every_trip():
    def f(x, n):
        for _ in range(n):
            x = adjoint_hook(np.tanh(x * 3.0), lambda x_bar: np.clip(x_bar, -0.1, 0.1))
        return np.sum(x * x)

    h = [VECTOR]
    for _ in range(3):
        h.append(np.tanh(h[-1] * 3.0))
    bar = 2.0 * h[-1]
    for y in reversed(h[1:]):
        bar = np.clip(bar, -0.1, 0.1) * (1.0 - y * y) * 3.0
    for got in every_form(f, VECTOR, 3):
        np.testing.assert_allclose(got, bar, rtol=1e-12)

    def with_snapshots(x, n):
        for _ in checkpointed(range(n), snapshots=2):
            x = adjoint_hook(np.tanh(x * 3.0), lambda x_bar: np.clip(x_bar, -0.1, 0.1))
        return np.sum(x * x)

    np.testing.assert_allclose(grad(with_snapshots)(VECTOR, 3), bar, rtol=1e-12)


def test_it_reads_values_of_the_forward_sweep():
    def f(x, n):
        w = 1.0
        y = x
        for i in range(n):
            w = w * 2.0 + i
            y = adjoint_hook(y * x, lambda g, w=w: g * w)
        w = 100.0
        return np.sum(y * w)

    weights, w = [], 1.0
    for i in range(3):
        w = w * 2.0 + i
        weights.append(w)
    bar, x_bar, ys = 100.0 * np.ones(4), np.zeros(4), [VECTOR, VECTOR**2, VECTOR**3]
    for w, y in zip(reversed(weights), reversed(ys), strict=True):
        bar = bar * w
        x_bar += bar * y
        bar = bar * VECTOR
    for got in every_form(f, VECTOR, 3):
        np.testing.assert_allclose(got, x_bar + bar, rtol=1e-12)


def power(x, n):
    return 1.0 if n == 0 else tripled(x * power(x, n - 1))


def test_in_a_recursion():
    def by_hand(x, n):
        bars, below = 1.0, 0.0
        for k in range(n, 0, -1):
            bars *= FACTOR
            below += bars * x ** (k - 1)
            bars *= x
        return below

    assert grad(power)(0.9, 4) == pytest.approx(by_hand(0.9, 4))


def test_printing_leaves_the_adjoint_as_it_is(capsys):
    def f(x):
        for i in range(3):
            x = adjoint_hook(x * 2.0, lambda x_bar, i=i: print("trip", i, x_bar))
        return x

    assert grad(f)(1.0) == 8.0
    assert capsys.readouterr().out == "trip 2 1.0\ntrip 1 2.0\ntrip 0 4.0\n"
    assert jvp(f, (1.0,), (1.0,))[1] == 8.0 and f(1.0) == 8.0
    assert capsys.readouterr().out == ""


def test_the_hook_gets_an_array_of_the_shape_of_the_value():
    seen = []

    def look(g):
        return g * float(np.linalg.norm(g)) + 0.0 * len(seen)

    got = grad(lambda x: np.sum(adjoint_hook(x, look)))(VECTOR)
    np.testing.assert_allclose(got, np.full(4, 2.0))  # the norm of four ones


def test_a_number_stands_for_all_of_the_adjoint():
    np.testing.assert_array_equal(
        grad(lambda x: np.sum(adjoint_hook(x, lambda g: 0.0) * x))(VECTOR), VECTOR, strict=True
    )


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes(dtype):
    x = VECTOR.astype(dtype)
    got = grad(lambda x: np.sum(np.abs(adjoint_hook(x, lambda g: g * 2.0)) ** 2))(x)
    np.testing.assert_allclose(got, 4.0 * x, rtol=1e-6)
    assert got.dtype == dtype


def test_an_operand_that_has_no_adjoint():
    assert grad(lambda x, n: x * adjoint_hook(n, lambda g: g * 2.0))(3.0, 2) == 2.0
    assert grad(lambda x: x * adjoint_hook(2.0, lambda g: g * 2.0))(3.0) == 2.0


def test_second_derivatives_are_those_of_the_gradient_with_the_hook():
    def f(x):
        y = adjoint_hook(x * x, lambda g: g * g)
        return y * y

    # the adjoint of y is 2 y, the hook makes (2 y)^2 of it, and the gradient is 4 x^4 * 2 x = 8 x^5
    assert grad(f)(1.5) == pytest.approx(8 * 1.5**5)
    assert grad(grad(f))(1.5) == pytest.approx(40 * 1.5**4)
    assert hvp(f, (1.5,), (2.0,)) == pytest.approx(80 * 1.5**4)
    def with_snapshots(x):
        for _ in checkpointed(range(5), snapshots=2):
            x = tripled(np.sin(x))
        return x

    with pytest.raises(adjoin.AdjoinError):  # not by the adjoint of tangents, which do not see hooks
        grad(grad(with_snapshots))(0.9)
    with pytest.raises(adjoin.AdjoinError):
        grad(grad(power))(0.9, 4)


def test_the_text():
    def f(x):
        y = adjoint_hook(np.sin(x), lambda y_bar: np.clip(y_bar, -1.0, 1.0))
        return np.sum(y * y)

    text = grad(f).source_for(VECTOR)
    assert "    x_bar = np.clip(y_bar, -1.0, 1.0) * np.cos(x)\n" in text
    assert "hook" not in "".join(line for line in text.splitlines() if "#" not in line)


def outside(x):
    a = x * 1.0

    def hook(g):
        a[0] = 5.0
        return g

    return np.sum(adjoint_hook(x * a, hook))


def into_a_list(x):
    seen = [x]
    return adjoint_hook(x * x, lambda g: seen.append(g))


def another_shape(x):
    return np.sum(adjoint_hook(x * x, lambda g: g[:2, None]))


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (outside, "writes into an array"),
        (into_a_list, "changes a list"),
        (another_shape, "for an adjoint of"),
        (lambda x: np.sum(adjoint_hook((x, x), lambda g: g)[0]), "several values"),
    ],
)
def test_refusals(f, what):
    with pytest.raises(adjoin.AdjoinError, match=what):
        grad(f)(VECTOR)


def test_eager():
    x = adjoin.tensor([1.0, 2.0], requires_grad=True)
    y = adjoint_hook(x * x, lambda g: np.clip(g, -1.0, 1.0))
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])
    assert adjoint_hook(adjoin.tensor(2.0), lambda g: g).item() == 2.0
