"""Attributes, methods and indices of arrays."""

import numpy as np
import pytest
from helpers import assert_gradient

VECTOR = np.array([0.7, 1.9, -1.3])
MATRIX = np.array([[0.3, 1.2, -0.4], [0.8, -0.6, 0.9]])
CUBE = np.linspace(-1.0, 1.37, 24).reshape(2, 3, 4)

METHODS = {
    "T": lambda x: x.T * np.arange(1.0, 7.0).reshape(3, 2),
    "mT": lambda x: x.mT @ x,
    "shape": lambda x: x * x.shape[0] / x.size * x.ndim,
    "dot": lambda x: x.dot(VECTOR) ** 2,
    "sum": lambda x: x.sum(axis=0) ** 2,
    "sum-keepdims": lambda x: x.sum(axis=1, keepdims=True) * x,
    "mean": lambda x: x.mean(axis=-1) ** 2,
    "prod": lambda x: x.prod(axis=0),
    "max": lambda x: x.max(axis=1) * x.min(),
    "var": lambda x: x.var(axis=1, ddof=1) + x.std(),
    "cumsum": lambda x: x.cumsum(axis=1) ** 2,
    "trace": lambda x: x.trace() ** 2,
    "diagonal": lambda x: x.diagonal() ** 2,
    "reshape": lambda x: x.reshape(3, 2) * np.arange(1.0, 7.0).reshape(3, 2),
    "reshape-tuple": lambda x: x.reshape((-1,)) * np.arange(6.0),
    "ravel": lambda x: x.ravel() * np.arange(6.0),
    "flatten": lambda x: x.flatten() * np.arange(6.0),
    "transpose": lambda x: x.transpose() @ x,
    "swapaxes": lambda x: x.swapaxes(0, 1) @ x,
    "squeeze": lambda x: x[None, :, :, None].squeeze() ** 2,
    "repeat": lambda x: x.repeat(2, axis=0) ** 2 * np.arange(4.0)[:, None],
    "take": lambda x: x.take([0, 2, 2, 5]) ** 2,
    "clip": lambda x: x.clip(-0.45, 0.85) ** 2,
    "copy": lambda x: x.copy() * x,
    "astype": lambda x: x.astype(float) * x,
    "real": lambda x: x.real * x + x.imag + x.conj() * x,
    "round": lambda x: x.round() * x,
    "argmax": lambda x: x[0, x[0].argmax()] * x[1, np.argmin(x[1])],
    "item": lambda x: x[0, 1].item() * x,
    "nonzero": lambda x: x[np.nonzero(x > 0.0)] ** 2,
    "sort": lambda x: np.sort(x, axis=1) * np.arange(3.0),
    "dunder": lambda x: x.__mul__(x).__add__(2.0 * x),
    "len": lambda x: len(x) * x,
}


@pytest.mark.parametrize("name", METHODS)
def test_method_or_attribute(name):
    method = METHODS[name]

    def f(x):
        return np.sum(method(x))

    assert_gradient(f, MATRIX)


INDICES = {
    "integer": lambda x: x[1],
    "integers": lambda x: x[1, 2, -1],
    "negative": lambda x: x[-1, -2],
    "slice": lambda x: x[:, 1:],
    "step": lambda x: x[:, ::2, 1::2],
    "backwards": lambda x: x[::-1, 1, ::-1] * np.arange(4.0),
    "ellipsis": lambda x: x[..., 1],
    "newaxis": lambda x: x[:, None, 1] * x[None, :, 2],
    "empty": lambda x: x[1:1],
    "fancy": lambda x: x[[1, 0], [2, 1]],
    "fancy-repeated": lambda x: x[[1, 0, 1, 1]] * np.arange(4.0)[:, None, None],
    "fancy-array": lambda x: x[:, np.array([[0, 1], [2, 2]])],
    "fancy-apart": lambda x: x[[0, 1], :, [1, 2]],
    "fancy-and-slice": lambda x: x[1, [0, 2], 1:],
    "boolean": lambda x: x[x > 0.1] ** 2,
    "boolean-rows": lambda x: x[np.array([True, False])],
    "boolean-and-integer": lambda x: x[1, np.array([True, False, True]), 2],
    "chained": lambda x: x[1][2][1:][0],
    "tuple": lambda x: x[(1, 2)],
    "name": lambda x: x[tuple(1 if k else slice(None) for k in range(2))],
    "np-ix": lambda x: x[np.ix_([1, 0], [0, 2])],
    "0-d": lambda x: x[1, 2, 3][()],
}


@pytest.mark.parametrize("name", INDICES)
def test_index(name):
    index = INDICES[name]

    def f(x):
        return np.sum(np.sin(index(x)) * 1.5)

    assert_gradient(f, CUBE)


def test_index_computed_in_a_loop():
    def f(x):
        s = 0.0
        j = 0
        for i in range(5):
            j = (j * 3 + i) % 3
            s = s * x[j] + x[-j - 1]
        return s

    assert_gradient(f, VECTOR)


def test_where_with_a_strong_zero():
    def f(x):
        return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))

    with np.errstate(invalid="ignore", divide="ignore"):
        assert_gradient(f, np.array([4.0, 0.0, -1.0]), expected=np.array([0.25, 0.0, 0.0]))


def test_mask_with_a_strong_zero():
    def f(x):
        y = np.log(x)
        return np.sum(y[x > 0.5])

    with np.errstate(divide="ignore"):
        assert_gradient(f, np.array([2.0, 0.0]), expected=np.array([0.5, 0.0]))


def test_slice_with_a_strong_zero():
    def f(x):
        return np.sum(np.sqrt(x)[1:])

    assert_gradient(f, np.array([0.0, 4.0]), expected=np.array([0.0, 0.25]))


def test_singular_points():
    zero = np.zeros(2)
    assert_gradient(lambda x: np.sum(np.abs(x)), zero, expected=zero)
    assert_gradient(lambda x: np.linalg.norm(x), zero, expected=zero)
    assert_gradient(lambda x: np.sum(x**0), zero, expected=zero)
    assert_gradient(lambda x: np.max(x), np.array([1.0, 3.0, 3.0]), expected=np.array([0.0, 0.5, 0.5]))
    assert_gradient(lambda x: np.sum(np.maximum(x, 0.0)), zero, expected=zero + 0.5)
    assert_gradient(lambda x: np.prod(x), np.array([0.0, 2.0, 3.0]), expected=np.array([6.0, 0.0, 0.0]))
    assert_gradient(lambda x: np.linalg.det(x), np.zeros((2, 2)), expected=np.zeros((2, 2)))


def test_convolution_by_hand():
    def f(image, kernel):
        h, w = kernel.shape
        out = 0.0
        for i in range(h):
            for j in range(w):
                out = out + image[i : i + 4 - h, j : j + 4 - w] * kernel[i, j]
        return np.sum(out**2)

    rng = np.random.default_rng(0)
    assert_gradient(f, rng.normal(size=(4, 4)), rng.normal(size=(2, 2)), argnums=(0, 1))


def test_arrays_made_inside():
    def f(x):
        a = np.zeros(3) + x
        b = np.ones_like(x) * np.arange(3) + np.eye(3) @ x
        c = np.full(3, 2.0) * np.linspace(0.0, 1.0, 3)
        return np.sum(a * b * c) + np.sum(np.full(2, x[0])) + np.sum(np.full_like(x, x[1]))

    assert_gradient(f, VECTOR)


def test_concatenate_family():
    def f(x):
        a = np.concatenate([x, x[:1] * 2.0])
        b = np.stack([x, x * x], axis=1)
        c = np.vstack([x, x]) @ np.hstack([x[:1], x[1:]])
        return np.sum(a * a) + np.sum(b @ np.array([1.0, 2.0])) + np.sum(c)

    assert_gradient(f, VECTOR)


def test_einsum_and_tensordot():
    def f(a, b):
        return np.sum(np.einsum("ij,jk->ik", a, b) ** 2) + np.sum(
            np.tensordot(a, b, axes=1) * np.einsum("ij,jk", a, b)
        )

    assert_gradient(f, MATRIX, CUBE[0], argnums=(0, 1))


def test_linear_algebra():
    def f(A, b):
        x = np.linalg.solve(A, b)
        sign, log = np.linalg.slogdet(A)
        L = np.linalg.cholesky(A @ A.T)
        return (
            np.sum(x * x)
            + sign * log
            + np.linalg.det(A)
            + np.trace(np.linalg.inv(A))
            + np.sum(L)
            + np.linalg.norm(A)
        )

    A = np.array([[2.0, 0.3, 0.1], [-0.2, 1.5, 0.4], [0.5, 0.1, 1.8]])
    assert_gradient(f, A, VECTOR, argnums=(0, 1))


def test_options_that_are_named_as_something_of_the_transformer():
    def f(x, name=1.0):
        return np.sum(np.sort(x, kind="stable")[:2] * scaled(x[2:], name=name, kind=2.0, effect=3.0))

    def scaled(x, name, kind, effect):
        return x * name * kind * effect

    assert_gradient(f, VECTOR)
