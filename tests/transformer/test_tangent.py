"""Tangents of whole results (arrays, lists, views), against differences; what the code looks like.

Every `assert_gradient` compares a tangent with a gradient for results that are one number; here the results
are more than that, so that a tangent in the wrong place cannot cancel in a sum.
"""

import numpy as np
import pytest
from helpers import copy_arguments, leaves

from adjoin import AdjoinError, jvp

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
MATRIX = np.array([[0.3, 1.2, -0.4, 0.6], [0.8, -0.6, 0.9, -1.1], [0.2, 0.5, -0.7, 1.4]])


def assert_jvp(f, *args, seed=0):
    """Compare the tangent along a random direction with central differences, leaf by leaf."""
    rng = np.random.default_rng(seed)
    dots = tuple(
        rng.normal(size=np.shape(a))
        if isinstance(a, np.ndarray)
        else float(rng.normal())
        if isinstance(a, float)
        else None
        for a in args
    )
    value, dot = jvp(f, args, dots)
    step = 1e-6

    def moved(sign):
        new = copy_arguments(args)
        return f(*[a if d is None else a + sign * step * d for a, d in zip(new, dots, strict=True)])

    plus, minus, plain = (
        list(leaves(moved(1))),
        list(leaves(moved(-1))),
        list(leaves(f(*copy_arguments(args)))),
    )
    for got, want in zip(leaves(value), plain, strict=True):
        np.testing.assert_array_equal(got, want, strict=isinstance(want, np.ndarray))
    for got, p, m in zip(leaves(dot), plus, minus, strict=True):
        assert np.shape(got) == np.shape(p)
        np.testing.assert_allclose(got, (p - m) / (2 * step), rtol=1e-6, atol=1e-7)
    return value, dot


def stores(x, m):
    m = m.copy()
    m[1] = x
    m[:, 0] *= x[0]
    m[m < 0.0] = 3.0
    m[[0, 2], [1, 1]] += x[:2]
    return m


def views(x, m):
    a = m * 1.0
    rows, columns = a[::2], a.T[1:]
    rows[0] = np.sin(rows[1])
    columns[...] = columns * x[0]
    a[1:] = a[:-1]
    return a, rows, columns


def layouts(x, m):
    a = np.asfortranarray(m * 2.0)
    flat = a.reshape(-1)
    same = a.ravel(order="F")
    a[0] = x
    return flat, same, a


def swaps(x, n):
    u, v = x * 1.0, np.zeros(4)
    for _ in range(n):
        v[1:-1] = u[2:] - u[:-2]
        v[0] += u[0] ** 2
        u, v = v, u
    return u, v


def held(x, n):
    kept = [x * 1.0]
    for i in range(n):
        kept.append(kept[-1] * x[i])
        kept[i][0] = x[1] * i
    last = kept.pop()
    kept.reverse()
    return kept, last, len(kept)


def passive_contents(x, n):
    a = np.zeros((n, 4))
    kept = []
    for i in range(n):
        kept.append(np.ones(4) * i)
        kept[i][1:3] += a[i, :2]
        a[i] = kept[i] + (x if i % 2 else 1.0)
    return a, kept


def branches(x, s):
    y = x * s
    if s > 0:
        y[0] = 1.0
        z = y
    else:
        z = np.ones(4)
    z = z + y
    while np.sum(z) < 100.0:
        z = z * z + 2.0
    return z, y


def attempts(x, key):
    table = {"a": x * 2.0}
    try:
        y = table[key] * x
    except KeyError:
        y = np.ones(4) * x[0]
    finally:
        z = x * 3.0
    return y, z


def exits(x, n):
    s = x * 0.0
    for i in range(n):
        s = s + x**i
        if np.sum(s) > 9.0:
            break
        if i == 1:
            continue
        s = s * 1.5
    return s


def joined(x, m):
    return (
        np.concatenate([x, m[0], np.zeros(2)]),
        np.stack([x, np.ones(4)]),
        np.where(m > 0, m * x, 1.0),
        np.einsum("ij,j->i", m, x),
    )


def several(x, m):
    u, s, vt = np.linalg.svd(m, full_matrices=False)
    quotient, remainder = np.divmod(x, 0.6)
    first, second = np.split(x * x, 2)
    return (u * s) @ vt, s, remainder, first, second


def order(x, m):
    return (
        np.sort(m * x, axis=1),
        np.max(m, axis=0),
        np.cumsum(x)[::-1],
        np.take(x, [3, 0, 0]),
        m.T @ m,
        x[:, None] ** 2,
    )


def doors(x, m):
    a = x.copy()
    np.add.at(a, [0, 0, 2], x[:3])
    np.multiply(a, x, out=a)
    np.fill_diagonal(b := m * 1.0, x[0])
    return a, b


def power(x, n):
    return x if n == 0 else x * power(x, n - 1) + 1.0


PROGRAMS = [
    (stores, VECTOR, MATRIX),
    (views, VECTOR, MATRIX),
    (layouts, VECTOR, MATRIX),
    (swaps, VECTOR, 5),
    (held, VECTOR, 3),
    (passive_contents, VECTOR, 4),
    (branches, VECTOR, 0.7),
    (branches, VECTOR, -0.7),
    (attempts, VECTOR, "a"),
    (attempts, VECTOR, "b"),
    (exits, VECTOR, 3),
    (exits, VECTOR, 9),
    (joined, VECTOR, MATRIX),
    (several, VECTOR, MATRIX),
    (order, VECTOR, MATRIX),
    (doors, VECTOR, MATRIX),
    (power, 0.9, 4),
]


@pytest.mark.parametrize(
    ("f", "args"), [(f, args) for f, *args in PROGRAMS], ids=lambda x: getattr(x, "__name__", "")
)
def test_program(f, args):
    assert_jvp(f, *args)


def test_tangents_of_views_are_views():
    value, dot = assert_jvp(views, VECTOR, MATRIX)
    assert dot[0].shape == MATRIX.shape


def test_arguments_that_share_memory():
    def f(x, y):
        x[0] = y[1] * 2.0
        return x * y

    x = VECTOR.copy()
    dot = jvp(f, (x, x[::-1]), (np.ones(4), None))[1]
    step = 1e-6
    moved = []
    for sign in (1, -1):
        base = x + sign * step
        moved.append(f(base, base[::-1]))
    np.testing.assert_allclose(dot, (moved[0] - moved[1]) / (2 * step), rtol=1e-6)


def test_only_what_moves_has_a_tangent():
    def f(x, y):
        a = np.exp(y)
        b = a * 2.0
        return x * b

    text = jvp(f).source_for(VECTOR, 2)
    assert "a_dot" not in text and "y_dot" not in text


def test_a_loop_of_stores_reads_as_it_was_written():
    def f(u, k, n):
        u = u.copy()
        for _ in range(n):
            u[1:-1] += k * (u[2:] - u[:-2])
        return u

    text = jvp(f).source_for(VECTOR, 0.1, 3)
    assert "u_dot[1:-1] += " in text and "u_dot = u_dot.copy()" in text
    assert_jvp(f, VECTOR, 0.1, 3)


def test_a_parameter_without_a_derivative_is_refused_as_in_the_adjoint():
    def f(k):
        return np.sum(np.unwrap(np.array([0.0, 3.0, 7.0]), period=k))

    with pytest.raises(AdjoinError, match="no derivative in `period`"):
        jvp(f, (6.0,), (1.0,))
