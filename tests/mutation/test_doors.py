"""The other ways of writing into an array: `out=`, ufunc methods, functions and methods of arrays."""

import numpy as np
import pytest
from helpers import assert_gradient
from programs.program import Program

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])
MATRIX = np.array([[0.3, 1.2, -0.4, 0.6], [0.8, -0.6, 0.9, -1.1], [0.2, 0.5, -0.7, 1.4]])

# what happens to the vector `a` (a copy of x) and the matrix `m` (a copy of A)
DOORS = {
    "out": "np.sin(x, out=a)",
    "out-self": "np.sin(a, out=a)",
    "out-positional": "np.multiply(a, x, a)",
    "out-tuple": "np.exp(a * 0.3, out=(a,))",
    "out-returned": "b = np.cos(x, out=a); b *= x",
    "out-view": "np.add(x[:2], a[2:], out=a[1:3])",
    "out-overlap": "np.multiply(a[:-1], 0.5, out=a[1:])",
    "out-row": "np.tanh(m[0], out=m[1])",
    "out-where": "np.sqrt(a, out=a, where=a > 0.0)",
    "out-where-mask": "np.multiply(a, 3.0, out=a, where=x > 0.5)",
    "out-reduction": "np.sum(m, axis=0, out=a)",
    "out-matmul": "np.matmul(m.T @ m, x, out=a)",
    "out-dot": "np.dot(m.T @ m, x, out=a)",
    "out-cumsum": "np.cumsum(x, out=a)",
    "out-clip": "np.clip(a, -0.5, 1.1, out=a)",
    "out-maximum": "np.maximum(a, 0.0, out=a)",
    "out-concatenate": "np.concatenate([x[2:], x[:2] ** 2], out=a)",
    "out-take": "np.take(x, [3, 3, 0, 1], out=a)",
    "out-method": "m.mean(axis=0, out=a)",
    "out-negative": "np.negative(a[::-1], out=a)",
    "add-at": "np.add.at(a, [0, 2, 0], x[:3] ** 2)",
    "add-at-number": "np.add.at(a, np.array([1, 1, 3]), x[0])",
    "add-at-rows": "np.add.at(m, [2, 0, 2], np.outer(x[:3], x))",
    "add-at-pairs": "np.add.at(m, ([0, 0], [1, 1]), x[:2])",
    "subtract-at": "np.subtract.at(a, [0, 2, 0], x[:3] ** 2)",
    "multiply-at": "np.multiply.at(a, [0, 2], x[:2])",
    "negative-at": "np.negative.at(a, [0, 2])",
    "copyto": "np.copyto(a, x * x)",
    "copyto-number": "np.copyto(a, x[0] * x[1])",
    "copyto-broadcast": "np.copyto(m, x * x)",
    "copyto-where": "np.copyto(a, x * x, where=x > 0.5)",
    "copyto-overlap": "np.copyto(a[1:], a[:-1])",
    "put": "np.put(m, [0, 5, -1], x[:3] ** 2)",
    "put-cycled": "np.put(a, [3, 1, 2], x[:2] ** 2)",
    "place": "np.place(a, a > 0.5, x[:2] ** 2)",
    "place-cycled": "np.place(m, m > 0.0, x[:3] ** 2)",
    "putmask": "np.putmask(a, x > 0.5, x**2)",
    "putmask-cycled": "np.putmask(m, m > 0.0, x[:3] ** 2)",
    "fill-diagonal": "np.fill_diagonal(m, x[0] * x[1])",
    "fill-diagonal-vector": "np.fill_diagonal(m, x[:3] ** 2)",
    "fill": "a.fill(x[0] * x[1])",
    "fill-view": "m[1, 1:].fill(x[0] ** 2)",
    "sort": "a.sort()",
    "sort-axis": "m.sort(axis=0)",
    "partition": "a.partition(2)",
    "put-along-axis": "np.put_along_axis(m, np.array([[1], [0], [3]]), x[:3, None] ** 2, axis=1)",
    "put-method": "a.put([0, 3], x[:2] ** 2)",
    "flat": "m.flat[5] = x[0] * x[1]",
    "flat-slice": "m.flat[::3] = x**2",
    "flat-all": "m.flat = x[0] * x[1]",
    "T": "m.T[0] = x[:3] ** 2",
    "T-augmented": "m.T[1:3] *= x[1:, None][:2]",
    "real": "z = a * 1j; z.real = x**2; a += np.abs(z)",
    "imag": "z = a + 0j; z.imag[1:] = x[1:] ** 2; a *= np.abs(z)",
    "imag-whole": "z = a + 0j; z.imag = x * 0.3; a += np.abs(z) ** 2",
    "chained-index": "m[1][2:] = x[:2] ** 2",
    "dunder": "a.__setitem__(1, x[0] ** 2)",
    "dunder-augmented": "a.__iadd__(x**2)",
    "operator-module": "import operator; operator.setitem(a, 1, x[0] ** 2); operator.imul(a, x)",
    "shuffle": "np.random.default_rng(3).shuffle(a)",
}


@pytest.mark.parametrize("name", DOORS)
def test_door(name):
    body = "".join(f"    {line}\n" for line in DOORS[name].split("; "))
    source = (
        "def f(x, A):\n    a = x.copy()\n    m = A * 1.0\n    v = a[1:]\n"
        f"{body}    return np.sum(a * a * np.arange(1.0, 5.0)) + np.sum(v**3) + np.sum(m**2 * x)\n"
    )
    assert_gradient(Program(source, ()).load(), VECTOR, MATRIX, argnums=(0, 1))


def test_in_place_method_of_a_list():
    def f(x):
        h = [x[0], x[1], x[2] * x[3]]
        h.sort()
        h.reverse()
        return h[0] * h[1] + h[2] ** 2

    assert_gradient(f, VECTOR)


def test_store_into_an_array_of_the_right_kind_only():
    def f(x):
        n = np.zeros(4, int)
        n[:] = x
        return np.sum(n * x)

    assert_gradient(f, VECTOR)
