"""Writes that cannot be followed are refused at the line; what NumPy raises is raised."""

import ctypes

import numpy as np
import pytest
from helpers import assert_refused

import adjoin

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])


def test_memoryview():
    def f(x):
        a = x * 1.0
        memoryview(a)[0] = 3.0
        return np.sum(a)

    assert_refused(f, VECTOR, line="memoryview(a)[0] = 3.0")


def test_ctypes():
    def f(x):
        a = x * 1.0
        ctypes.memset(a.ctypes.data, 0, 8)
        return np.sum(a)

    assert_refused(f, VECTOR, line="ctypes.memset(a.ctypes.data, 0, 8)")


def test_as_strided_written():
    def f(x):
        a = x * 1.0
        w = np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))
        w[0] = 2.0
        return np.sum(a)

    assert_refused(f, VECTOR, line="as_strided")


def test_array_given_to_code_without_source():
    def f(x):
        a = x * 1.0
        np.random.default_rng(0).standard_normal(out=a)
        a.setfield(3.0, np.float64)
        return np.sum(a)

    assert_refused(f, VECTOR, line="a")


def test_nditer():
    def f(x):
        a = x * 1.0
        for e in np.nditer(a, op_flags=["readwrite"]):
            e[...] = 2 * e
        return np.sum(a)

    assert_refused(f, VECTOR, line='for e in np.nditer(a, op_flags=["readwrite"]):')


def test_resize():
    def f(x):
        a = x * 1.0
        a.resize(6, refcheck=False)
        return np.sum(a)

    assert_refused(f, VECTOR, line="a.resize(6, refcheck=False)")


def test_shape_written():
    def f(x):
        a = x * 1.0
        a.shape = (2, 2)
        return np.sum(a[0])

    try:
        gradient = adjoin.grad(f)(VECTOR)
    except adjoin.AdjoinError as error:
        assert "a.shape = (2, 2)" in str(error)
    else:
        np.testing.assert_array_equal(gradient, [1.0, 1.0, 0.0, 0.0])


def test_read_only_array_raises_what_numpy_raises():
    def f(x):
        w = np.broadcast_to(x * 1.0, (2, 4))
        w[0] = 2.0
        return np.sum(w)

    with pytest.raises(ValueError, match="read-only"):
        adjoin.grad(f)(VECTOR)


def test_read_only_argument_raises_what_numpy_raises():
    def f(x):
        x[0] = 2.0
        return np.sum(x)

    x = VECTOR.copy()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        adjoin.grad(f)(x)


def test_shapes_that_do_not_fit_raise_what_numpy_raises():
    def f(x):
        a = x * 1.0
        a[:2] = x
        return np.sum(a)

    with pytest.raises(ValueError, match="broadcast"):
        adjoin.grad(f)(VECTOR)


def test_global_array_written():
    def f(x):
        BUFFER[0] = x[0]
        return np.sum(BUFFER * x)

    assert_refused(f, VECTOR, line="BUFFER[0] = x[0]")


BUFFER = np.ones(4)


def test_arguments_are_unchanged_even_if_the_function_raises():
    def f(x):
        x[0] = 9.0
        raise RuntimeError("stop")

    x = VECTOR.copy()
    with pytest.raises(RuntimeError, match="stop"):
        adjoin.grad(f)(x)
    np.testing.assert_array_equal(x, VECTOR)
