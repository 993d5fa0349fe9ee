"""Stores into arrays, by every index, plain and augmented."""

import numpy as np
import pytest
from helpers import assert_gradient

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
MATRIX = np.array([[0.3, 1.2, -0.4, 0.6], [0.8, -0.6, 0.9, -1.1], [0.2, 0.5, -0.7, 1.4]])

# the index, and an expression of x (a vector of four numbers) that fits there in a 3 x 4 matrix
INDICES = {
    "integer": (lambda a: 1, lambda x: x * x),
    "negative": (lambda a: -1, lambda x: np.sin(x)),
    "integers": (lambda a: (1, 2), lambda x: x[0] * x[1]),
    "slice": (lambda a: slice(1, None), lambda x: np.outer(x[:2], x)),
    "slices": (lambda a: (slice(1), slice(1, 3)), lambda x: x[None, 1:3] ** 2),
    "step": (lambda a: (0, slice(None, None, 2)), lambda x: x[:2] * 2.0),
    "backwards": (lambda a: (2, slice(None, None, -1)), lambda x: x * x),
    "backwards-part": (lambda a: (1, slice(3, 0, -2)), lambda x: x[2:] * x[0]),
    "column": (lambda a: (slice(None), 2), lambda x: x[1:] ** 2),
    "ellipsis": (lambda a: (..., 0), lambda x: x[:3] * x[3]),
    "everything": (lambda a: ..., lambda x: np.outer(x[:3], x)),
    "newaxis": (lambda a: (None, 1), lambda x: x[None] * 2.0),
    "fancy": (lambda a: [2, 0], lambda x: np.outer(x[:2], x)),
    "fancy-array": (lambda a: (1, np.array([3, 0])), lambda x: x[:2] * x[2:]),
    "fancy-pairs": (lambda a: ([0, 2], [1, 3]), lambda x: x[1:3] ** 2),
    "fancy-repeated": (lambda a: (0, [1, 3, 1, 1]), lambda x: x * x),
    "fancy-repeated-rows": (lambda a: np.array([2, 2]), lambda x: np.outer(x[:2], x)),
    "fancy-apart": (
        lambda a: (np.array([0, 1]), slice(None), None),
        lambda x: np.outer(x[:2], x)[:, :, None],
    ),
    "boolean": (lambda a: a > 0.55, lambda x: x[0] * x[1]),
    "boolean-rows": (lambda a: np.array([True, False, True]), lambda x: x * 3.0),
    "boolean-none": (lambda a: a > 99.0, lambda x: x[0]),
    "broadcast-row": (lambda a: slice(None, 2), lambda x: x**2),
    "broadcast-column": (lambda a: slice(None), lambda x: x[:3, None] ** 2),
    "broadcast-number": (lambda a: (slice(None), slice(1, 3)), lambda x: x[0] * x[1]),
    "constant": (lambda a: 1, lambda x: 2.0),
    "empty": (lambda a: slice(2, 2), lambda x: x[0]),
}


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("operator", ["=", "+=", "-=", "*=", "/=", "**="])
def test_store(name, operator):
    index, value = INDICES[name]

    def plain(A, x):
        a = A * 1.0
        a[index(A)] = value(x)
        return np.sum(a * a * 0.5 + a)

    def add(A, x):
        a = A * 1.0
        a[index(A)] += value(x)
        return np.sum(a * a * 0.5 + a)

    def subtract(A, x):
        a = A * 1.0
        a[index(A)] -= value(x)
        return np.sum(a * a * 0.5 + a)

    def multiply(A, x):
        a = A * 1.0
        a[index(A)] *= value(x)
        return np.sum(a * a * 0.5 + a)

    def divide(A, x):
        a = A * 1.0
        a[index(A)] /= value(x) + 5.0
        return np.sum(a * a * 0.5 + a)

    def power(A, x):
        a = A * A + 0.5
        a[index(A)] **= value(x)
        return np.sum(a * a * 0.5 + a)

    f = {"=": plain, "+=": add, "-=": subtract, "*=": multiply, "/=": divide, "**=": power}[operator]
    assert_gradient(f, MATRIX, VECTOR, argnums=(0, 1))


def test_store_of_a_vector_through_a_mask():
    def f(A, x):
        a = A * 1.0
        a[np.abs(a) > 0.65] = np.concatenate([x, x[:2] * 3.0])
        return np.sum(a**3)

    assert np.sum(np.abs(MATRIX) > 0.65) == 6
    assert_gradient(f, MATRIX, VECTOR, argnums=(0, 1))


def test_last_write_wins_at_a_repeated_index():
    def f(x):
        a = np.zeros(2)
        a[[0, 0, 1, 0]] = x
        return np.sum(a * np.array([2.0, 5.0]))

    np.testing.assert_array_equal(assert_gradient(f, VECTOR), [0.0, 0.0, 5.0, 2.0])


def test_augmented_store_keeps_one_write_at_a_repeated_index():
    def f(x):
        a = np.ones(2)
        a[[0, 0, 1]] += x
        return np.sum(a * np.array([2.0, 5.0]))

    np.testing.assert_array_equal(assert_gradient(f, VECTOR[:3]), [0.0, 2.0, 5.0])


def test_augmented_product_at_a_repeated_index():
    def f(a, x):
        b = a.copy()
        b[[1, 1, 3]] *= x
        return np.sum(b**2)

    assert_gradient(f, VECTOR, VECTOR[:3].copy(), argnums=(0, 1))


def test_store_into_the_argument_itself():
    def f(x):
        x[1:] = x[1:] * x[:-1]
        x[0] = 3.0
        return np.sum(x * x)

    assert_gradient(f, VECTOR)


def test_store_over_what_was_stored():
    def f(x):
        a = np.zeros(4)
        a[1] = x[0]
        a[1] = x[1] * a[1]
        a[:2] = x[2]
        return a[0] * a[1]

    assert_gradient(f, VECTOR)


def test_stored_values_that_are_needed_again():
    def f(x):
        a = x * 1.0
        s = np.sum(a * a)
        a[0] = np.exp(a[0])
        s = s * np.sum(a * a)
        a[0] = 2.0
        return s * np.sum(a * a)

    assert_gradient(f, VECTOR)


def test_scalar_and_0_d_targets():
    def f(x):
        a = np.zeros(())
        a[...] = x[0] * x[1]
        a[()] *= x[2]
        a += x[3]
        b = np.array(0.5)
        b[()] = a * a
        return b * a

    assert_gradient(f, VECTOR)


def test_augmented_0_d_array_is_seen_through_its_other_name():
    def f(x):
        a = np.array(x * 2.0)
        b = a
        b *= x
        return a * b

    assert_gradient(f, 1.3)


def test_chained_targets():
    def f(x):
        c = np.zeros((4, 4))
        for i in range(4):
            c[i:, i] = c[i, i:] = x[i:] * x[i] + i
        return np.sum(c * np.arange(16.0).reshape(4, 4))

    assert_gradient(f, VECTOR)


def test_chained_targets_of_names_and_stores():
    def f(x):
        a = np.zeros(4)
        b = a[1] = c = x[0] * x[1]
        d = a[2:] = x[2:]
        d[0] = 7.0 * x[3]
        return np.sum(a * a) + b * c + np.sum(d)

    assert_gradient(f, VECTOR)


def test_unpacking_into_elements():
    def f(x):
        a = x * 1.0
        a[0], a[1] = a[1], a[0] * 2.0
        a[2], *rest = a[:3]
        (a[3], (b, _)) = x[0], (x[1], 2.0)
        return np.sum(a**2) * b + rest[0]

    assert_gradient(f, VECTOR)


def test_swap_of_rows_by_fancy_index():
    def f(A):
        a = A.copy()
        a[[0, 2]] = a[[2, 0]]
        a[0], a[1] = a[1].copy(), a[0].copy()
        return np.sum(a * np.arange(12.0).reshape(3, 4))

    assert_gradient(f, MATRIX)


def test_swap_of_rows_without_copies_loses_one_as_in_numpy():
    def f(A):
        a = A.copy()
        a[0], a[1] = a[1], a[0]
        return np.sum(a * np.arange(12.0).reshape(3, 4))

    assert_gradient(f, MATRIX)


@pytest.mark.parametrize(
    "store",
    [
        "a[1:] = a[:-1]",
        "a[:-1] = a[1:]",
        "a[::-1] = a",
        "a[1:] += a[:-1]",
        "a[:] = a[::-1]",
        "a[:2] = a[1:3] * a[2:]",
    ],
)
def test_overlapping_self_assignment(store):
    from programs.program import Program

    f = Program(
        f"def f(x):\n    a = x * 1.0\n    {store}\n    return np.sum(a * a * np.arange(1.0, 5.0))\n", ()
    ).load()
    assert_gradient(f, VECTOR)


def test_overlapping_store_in_a_loop():
    def f(x):
        a = x * 1.0
        for i in range(3):
            a[1:] = a[:-1] * np.sin(a[1:])
            a[i] += x[0] * a[i + 1]
        return np.sum(a)

    assert_gradient(f, VECTOR)


def test_running_sum_element_by_element():
    def f(x):
        a = np.zeros_like(x)
        a[0] = x[0]
        for i in range(1, len(x)):
            a[i] = a[i - 1] * 0.5 + x[i] ** 2
        return a[-1]

    assert_gradient(f, VECTOR)


def test_whole_array_assignment():
    def f(x):
        a = np.zeros(4)
        a[:] = x
        a[:] = a * x
        a[...] = a + 1.0
        return np.sum(a**2)

    assert_gradient(f, VECTOR)


def test_augmented_array_and_augmented_number():
    def f(x, k):
        a = x * 1.0
        b = a
        a *= k
        a += x
        a -= 0.5
        a /= k + 2.0
        a **= 2
        c = k
        d = c
        c *= 3.0
        return np.sum(a * b) + c * d

    assert_gradient(f, VECTOR, 1.3, argnums=(0, 1))


def test_augmented_matrix_product_in_place():
    def f(A, B):
        a = A * 1.0
        b = a
        a @= B
        return np.sum(a * b)

    assert_gradient(f, MATRIX[:, :3].copy(), MATRIX[:, 1:].copy(), argnums=(0, 1))


def test_augmented_floor_and_remainder():
    def f(x):
        a = x * 3.0
        a %= 1.1
        b = x * 1.0
        b //= 0.3
        return np.sum(a * x) + np.sum(b * x)

    assert_gradient(f, VECTOR)


def test_integer_buffer_carries_no_gradient():
    def f(x):
        count = np.zeros(2, int)
        for e in x:
            count[int(e > 0.5)] += 1
        return np.sum(x * count[0]) + count[1] * x[0]

    assert_gradient(f, VECTOR)


def test_boolean_buffer_used_as_a_mask():
    def f(x):
        keep = np.zeros(4, bool)
        keep[1] = True
        keep |= x < 0.0
        a = x * x
        a[keep] = 2.0 * x[keep]
        return np.sum(a * x)

    assert_gradient(f, VECTOR)


def test_single_precision_buffer():
    def f(x):
        a = np.zeros(4, np.float32)
        a[1:] = x[1:]
        a *= x[0]
        return np.sum(a * a)

    want = np.array([2 * 0.7 * np.sum(VECTOR[1:] ** 2), *(2 * VECTOR[1:] * 0.49)])
    assert_gradient(f, VECTOR, expected=want, rtol=1e-5)
    assert_gradient(f, VECTOR.astype(np.float32), expected=want.astype(np.float32))


def test_complex_buffer():
    def f(x):
        z = np.zeros(4, complex)
        z[:2] = x[:2] * 1j
        z[2:] = x[2:]
        z[1:] *= np.exp(1j * x[0])
        z.real[0] = x[3] ** 2
        return np.sum(np.abs(z + 0.5) ** 2) + np.sum(z.imag * z.real)

    assert_gradient(f, VECTOR)


def test_store_in_one_branch():
    def f(x):
        a = x * 1.0
        if a[0] > 0.5:
            a[1] = a[0] * a[2]
        else:
            a[2:] = 0.0
        if a[1] > 0.0:
            a *= x
        return np.sum(a)

    assert_gradient(f, VECTOR)
    assert_gradient(f, -VECTOR)


def test_strong_zero_behind_a_store():
    def f(x):
        a = np.sqrt(x)
        a[0] = 0.0
        return np.sum(a)

    assert_gradient(f, np.array([0.0, 4.0]), expected=np.array([0.0, 0.25]))


@pytest.mark.parametrize(
    "change", ["u[0] += v[1]", "u[0] *= v[1]", "u[0] = v[1]", "u[:1] += v[1:2]", "u += v"]
)
@pytest.mark.parametrize("back", ["u[0] = b * 3.0", "u[0] = b", "u[:1] = b", "u[...] = b", "u[0] += b"])
def test_what_is_changed_and_put_back(change, back):
    """The adjoint of the part is zero where it is changed, and read there."""
    from programs.program import Program

    source = f"""
def f(x):
    u, v = x * 1.0, np.sin(x)
    b = u[0]
    {change}
    {back}
    return np.sum(u * u) + np.sum(v * v)
"""
    assert_gradient(Program(source, ()).load(), VECTOR)


def test_zero_dimensional_positions_that_are_counted_up():
    def f(x):
        n, s = np.array(0), 1.0
        while n < 3:
            s = s * x[n] + np.sum(x[n:] ** 2)
            n += 1
        for k in range(3):
            c = n * 0.5
            s = s * np.sin(c) + c * x[k] ** 2
            n -= 1
        return s

    assert_gradient(f, VECTOR)
