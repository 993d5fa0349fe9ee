"""Views and aliases: what is written through one name is seen through every other."""

import types

import numpy as np
import pytest
from helpers import assert_gradient
from programs.program import Program

import adjoin

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
MATRIX = np.array([[0.3, 1.2, -0.4, 0.6], [0.8, -0.6, 0.9, -1.1], [0.2, 0.5, -0.7, 1.4]])

# a view (or, where NumPy copies, a copy) of the 3 x 4 matrix `m`
VIEWS = {
    "same": "m",
    "slice": "m[1:]",
    "step": "m[::2, ::-1]",
    "row": "m[1]",
    "column": "m[:, 2]",
    "T": "m.T",
    "transpose": "m.transpose()",
    "np-transpose": "np.transpose(m, (1, 0))",
    "mT": "m.mT",
    "swapaxes": "m.swapaxes(0, 1)",
    "moveaxis": "np.moveaxis(m, 0, 1)",
    "reshape": "m.reshape(4, 3)",
    "reshape-flat": "m.reshape(-1)",
    "reshape-copies": "m.T.reshape(-1)",
    "np-reshape": "np.reshape(m, (2, 6))",
    "ravel": "m.ravel()",
    "ravel-copies": "m.T.ravel()",
    "flatten-copies": "m.flatten()",
    "copy": "m.copy()",
    "array-copies": "np.array(m)",
    "squeeze": "m[None, :, :, None].squeeze()",
    "expand-dims": "np.expand_dims(m, 1)",
    "newaxis": "m[:, None]",
    "asarray": "np.asarray(m)",
    "asarray-copies": "np.asarray(m, dtype=np.float32)",
    "ascontiguous": "np.ascontiguousarray(m)",
    "ascontiguous-copies": "np.ascontiguousarray(m.T)",
    "atleast": "np.atleast_3d(m)",
    "real": "m.real",
    "np-real": "np.real(m)",
    "flip": "np.flip(m, 1)",
    "rot90": "np.rot90(m)",
    "split": "np.split(m, 2, axis=1)[1]",
    "view-method": "m.view()",
    "view-of-view": "m[1:].T[1:, ::-1][0]",
    "fancy-copies": "m[[0, 1]]",
    "mask-copies": "m[m > 0.0]",
    "tuple-index": "m[(slice(1, None), 0)]",
    "ellipsis": "m[..., 1:]",
}


@pytest.mark.parametrize("name", VIEWS)
def test_view_written_through(name):
    source = (
        f"def f(m):\n    m = m * 1.0\n    v = {VIEWS[name]}\n    v *= 1.5\n    v[0] = v[-1] * 2.0\n"
        "    m[1] = m[1] * m[2]\n    s = np.sum(v * v)\n    v += 0.5\n    return s * np.sum(m) + np.sum(v)\n"
    )
    rtol = 1e-5 if "float32" in VIEWS[name] else 1e-6
    f = Program(source, ()).load()
    if "float32" in VIEWS[name]:
        double = Program(source.replace("dtype=np.float32", "dtype=np.float64, copy=True"), ()).load()
        from helpers import differences

        expected = differences(double, (MATRIX,), 0, {})
        assert_gradient(f, MATRIX, expected=expected, rtol=rtol, atol=1e-4)
    else:
        assert_gradient(f, MATRIX)


@pytest.mark.parametrize("name", VIEWS)
def test_view_of_the_argument_read_after_a_store(name):
    source = (
        f"def f(m):\n    v = {VIEWS[name]}\n    m[1, 2:] = m[0, :2] * m[2, 2:]\n"
        "    m *= np.sin(m)\n    return np.sum(v * v) + np.sum(m)\n"
    )
    if "float32" in VIEWS[name]:
        pytest.skip("differences in single precision")
    assert_gradient(Program(source, ()).load(), MATRIX)


def test_diagonal():
    def f(m):
        m = m * 1.0
        d = np.diagonal(m)
        e = m.diagonal(1)
        m[0] = m[1] * m[2]
        m[1, 1] = 3.0 * m[0, 0]
        return np.sum(d * d) + np.sum(e**3)

    assert_gradient(f, MATRIX)


@pytest.mark.parametrize("offset", [-1, 0, 2, 9])
def test_diagonals_of_a_matrix_that_changes_as_it_goes(offset):
    def f(m):
        m = m * 1.0
        s = 0.0
        for i in range(m.shape[0]):
            d = np.diag(m, k=offset)
            m[i] *= m[i, 0]
            tail = np.diag(m, offset)[1:]
            s = s + np.sum(d**2) + np.sum(tail**3)
            m[:, i] += 1.0
        return s + np.sum(m**2)

    assert_gradient(f, MATRIX)


def test_diagonals_of_a_stack_of_matrices():
    def f(m):
        a = np.stack((m, m * m, m**3))
        d = np.diagonal(a, 1, axis1=2, axis2=0)
        a[0, :, 1:] = a[1, :, 1:] * a[2, :, :-1]
        return np.sum(d**2 * np.arange(1.0, 7.0).reshape(3, 2)) + np.sum(a)

    assert_gradient(f, MATRIX)


def test_diagonal_of_a_vector_is_a_new_matrix():
    def f(x):
        a = x * 1.0
        d = np.diag(a)
        a[0] = 2.0 * a[1]
        return np.sum(d**3) + np.sum(a**2)

    assert_gradient(f, VECTOR)


def test_second_derivative_through_a_diagonal():
    def f(m):
        m = m * 1.0
        m[0] *= m[1]
        d = np.diag(m)
        return np.sum(d**3)

    def product(m, v):
        return np.sum(adjoin.grad(f)(m) * v)

    assert_gradient(product, MATRIX, MATRIX**2)
    np.testing.assert_allclose(
        adjoin.hvp(f)((MATRIX,), (MATRIX**2,)), adjoin.grad(product)(MATRIX, MATRIX**2), rtol=1e-12
    )


def test_diagonal_written_through_a_strided_view():
    def f(m):
        m = m * 1.0
        m.ravel()[::5] = m[1, :3] * 2.0
        m.flat[:: m.shape[1] + 1] += m[0, 0]
        return np.sum(m**3)

    assert_gradient(f, MATRIX)


def test_broadcast_to():
    def f(x):
        a = x * 1.0
        w = np.broadcast_to(a, (3, 4))
        s = np.sum(w * np.arange(12.0).reshape(3, 4))
        a[1] = x[0] * x[2]
        return s * np.sum(w * w) + np.sum(a)

    assert_gradient(f, VECTOR)


def test_broadcast_arrays():
    def f(x):
        a = x * 1.0
        p, q = np.broadcast_arrays(a[:, None], a)
        a[0] = a[1] * a[2]
        return np.sum(p * q * np.arange(16.0).reshape(4, 4))

    assert_gradient(f, VECTOR)


def test_sliding_windows():
    def f(x):
        a = x * 1.0
        w = np.lib.stride_tricks.sliding_window_view(a, 2)
        a[2] = x[0] * x[1]
        return np.sum(w[:, 0] * w[:, 1] ** 2)

    assert_gradient(f, VECTOR)


def test_imaginary_part():
    def f(x):
        z = np.exp(1j * x)
        re, im = z.real, z.imag
        im *= x
        re[0] = im[1] * 2.0
        return np.sum(np.abs(z + 1.0) ** 2)

    assert_gradient(f, VECTOR)


def test_rows_of_a_matrix_in_a_loop():
    def f(A):
        A = A.copy()
        for row in A:
            row[:] = np.sin(row) * row[0]
        for i, row in enumerate(A):
            row *= i + 1.0
            row[-1] = row[0] ** 2
        for row, other in zip(A, A[::-1]):
            row += 0.5 * other
        for row in reversed(A):
            row[1:] = row[:-1] * 0.7
        return np.sum(A**2)

    assert_gradient(f, MATRIX)


def test_rows_unpacked():
    def f(A):
        A = A * 1.0
        a, b, c = A
        a *= b
        b[1:] = c[:-1] * a[1:]
        first, *rest = A
        rest[1][:] = first * 2.0
        return np.sum(A * A)

    assert_gradient(f, MATRIX)


def test_names_of_one_array():
    def f(x):
        a = b = x * 1.0
        c = b
        c[0] = x[1] * x[2]
        b += 1.0
        a = a * 2.0
        a[1] = 0.0
        return np.sum(a * b * c)

    assert_gradient(f, VECTOR)


def test_name_of_an_argument():
    def f(x, y):
        z = x
        z[0] = y[0] * x[1]
        z += y
        return np.sum(x * z)

    assert_gradient(f, VECTOR, VECTOR * 0.3, argnums=(0, 1))


def test_arrays_held_in_containers():
    def f(x):
        a, b = x * 1.0, x * 2.0
        pair = (a, b)
        h = [a[1:], b]
        p = {"a": a, "views": {"b": b[::-1]}}
        state = types.SimpleNamespace(a=a)
        pair[0][0] = x[1] * x[2]
        h[0][1] = b[0] * 3.0
        h[1] *= a
        p["a"][2:] *= 2.0
        p["views"]["b"][0] = a[0]
        state.a[1] += b[2]
        return np.sum(a**2) + np.sum(b * np.arange(4.0)) + np.sum(h[0] * 0.3)

    assert_gradient(f, VECTOR)


def test_augmented_item_of_a_container_writes_into_the_array():
    def f(x):
        a = x * 1.0
        h = [a]
        p = {"a": a}
        h[0] += x
        p["a"] *= x
        return np.sum(a * a)

    assert_gradient(f, VECTOR)


class State:
    def __init__(self, u):
        self.u = u
        self.inner = u[1:-1]

    def step(self, k):
        self.inner += k * (self.u[2:] + self.u[:-2])

    @property
    def ends(self):
        return self.u[::3]


def test_attributes_and_methods_that_write():
    def f(x, k):
        state = State(x * 1.0)
        for _ in range(3):
            state.step(k)
            state.ends[:] = state.u[1] * k
        return np.sum(state.u**2)

    assert_gradient(f, VECTOR, 0.3, argnums=(0, 1))


@pytest.mark.parametrize("flip", [False, True])
def test_alias_made_in_one_branch(flip):
    def f(x, flip):
        a = x * 1.0
        b = x * 2.0
        if flip:
            v = a[::-1]
        else:
            v = b
        w = a if flip else a.copy()
        v[1:3] = x[:2] * 3.0
        w[0] *= x[3]
        a *= v
        return np.sum(a * b) + np.sum(w)

    assert_gradient(f, VECTOR, flip)


@pytest.mark.parametrize("flip", [False, True])
def test_everything_at_once(flip):
    def same(v):
        return v

    def f(x, flip):
        a = x * 1.0
        m = np.zeros((2, 4))
        rows = [m[0], a[::-1]]
        v = rows[1] if flip else same(m[1])
        v[1:3] = x[:2] * 3.0
        a *= v
        r = m.T.reshape(-1)
        q = m.reshape(-1)
        q[5] = a[0] * 2.0
        w = np.broadcast_to(a, (3, 4))
        a[3] = x[3] * x[3]
        return np.sum(m * m) + np.sum(r) + np.sum(w) + np.sum(a * v)

    assert_gradient(f, VECTOR, flip)


def test_alias_chosen_at_each_turn():
    def f(x, order):
        a, b = x * 1.0, x * 0.5
        for which in order:
            v = a[1:] if which else b[:-1]
            v *= x[0]
            v[0] = a[-1] + b[0]
        return np.sum(a * b)

    assert_gradient(f, VECTOR, [True, False, False, True])


def test_alias_kept_from_the_turn_before():
    def f(x):
        a, b = x * 1.0, x * 0.5
        v = a
        for i in range(4):
            v[i] = x[i] * a[0] + b[3]
            v = b if i % 2 == 0 else a[::-1]
        return np.sum(a * b) + np.sum(v)

    assert_gradient(f, VECTOR)


def test_a_number_taken_from_an_array_is_a_copy():
    def f(x):
        a = x * 1.0
        s = a[0]
        a[0] = x[1] * s
        s += a[0]
        return s * a[0]

    assert_gradient(f, VECTOR)


def test_result_of_an_operation_is_new():
    def f(x):
        a = x * 1.0
        b = +a
        c = a + 0.0
        a[0] = 9.0 * x[1]
        return np.sum(a * b * c)

    assert_gradient(f, VECTOR)


def test_same_array_passed_twice_and_read():
    def f(x, y):
        return np.sum(x * y * y)

    x = VECTOR.copy()
    assert_gradient(f, x, x, argnums=(0, 1), expected=(x * x, 2 * x * x))


def test_same_array_passed_twice_to_a_helper_that_writes():
    def blend(p, q):
        p[1:] = q[:-1] * 2.0
        q *= p

    def f(x):
        a = x * 1.0
        blend(a, a)
        blend(a[:3], a[1:])
        return np.sum(a * a)

    assert_gradient(f, VECTOR)


def test_arguments_that_share_memory():
    """A write through one argument is seen through the other: the adjoint is that of the memory."""

    def f(x, y):
        x[1:] = x[1:] * y[:3]
        return np.sum(x * x)

    x = VECTOR.copy()
    assert_gradient(f, x, x[::-1])


def test_returned_view_of_a_buffer():
    import adjoin

    def f(x):
        a = x * x
        v = a[1:]
        a[2] = x[0]
        return v

    value, pullback = adjoin.vjp(f, VECTOR)
    np.testing.assert_array_equal(value, f(VECTOR))
    (x_bar,) = pullback(np.array([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(x_bar, [10.0, 2 * 1.9, 0.0, 200.0 * 0.4])


def test_returned_argument_that_was_written_to():
    import adjoin

    def f(x):
        x[0] = x[1] * 2.0
        return x

    x = VECTOR.copy()
    value, pullback = adjoin.vjp(f, x)
    np.testing.assert_array_equal(x, VECTOR)
    np.testing.assert_array_equal(value, [3.8, 1.9, -1.3, 0.4])
    np.testing.assert_array_equal(pullback(np.ones(4))[0], [0.0, 3.0, 1.0, 1.0])
