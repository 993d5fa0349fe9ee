"""Stores that read what they have just written: NumPy does not buffer these, and they are refused.

Beside them, overlaps that look alike and that NumPy does as if it had buffered: their gradients are right.
"""

import numpy as np
import pytest
from helpers import assert_gradient

import adjoin

X = np.array([0.3, 1.133, -0.3, 0.136, -0.918])


def store(target, index, value):
    target[index] = value


def slices(a):
    a[::2] = a[:3]


def two_names(a):
    b = a[:3]
    a[::2] = b


def in_a_helper(a):
    store(a, slice(None, None, 2), a[:3])


def through_a_mask(a):
    a[np.array([True, False, True, False, True])] = a[:3]


def flat(a):
    a.flat[1:4] = a[::2]


def placed(a):
    np.place(a, np.array([True, False, True, False, True]), a[:3])


def copied(a):
    np.copyto(a[::2], a[:3])


def joined(a):
    np.concatenate([a[2:], a[:2]], out=a)


def diagonal(a):
    np.fill_diagonal(a[:4].reshape(2, 2), a[1:3])


TORN = [slices, two_names, in_a_helper, through_a_mask, flat, placed, copied, joined, diagonal]


@pytest.mark.parametrize("write", TORN, ids=lambda f: f.__name__)
def test_torn_stores_are_refused(write):
    def f(x):
        a = x * 1.0
        write(a)
        return np.sum(a**3)

    for gradient in (adjoin.grad(f), compiled(f)):
        with pytest.raises(ValueError, match=r"just written|reads as well"):
            gradient(X)


def compiled(f):
    """The gradient that is written for arguments of unknown kinds."""
    names = {}
    exec(adjoin.grad(f).source, names)
    return names[f.__name__ + "_grad"]


def ahead(a):
    a[::2] = a[2:]  # what is read has not been written yet


def same_step(a):
    b = a[:-1]
    a[1:] = b


def reversed_(a):
    b = a[::-1]
    a[:] = b


def chosen(a):
    b = a[::-1]
    a[a > 0.1] = b[a > 0.1]


def mirrored(a):
    A = np.outer(a, a) * np.arange(25).reshape(5, 5)
    for i in range(5):
        A[i:, i] = A[i, i:]
    a[:] = A[:, 1]


def a_matrix(a):
    A = np.outer(a, a)
    A[:, ::2] = A[:, :3]
    a[:] = A[2]


def from_elsewhere(a):
    b = a * 2.0
    a.flat[1:4] = b[::2]
    np.place(a, np.array([True, False, True, False, True]), b[1:])
    np.concatenate([b[2:], b[:2] * a[:2]], out=a)


WHOLE = [ahead, same_step, reversed_, chosen, mirrored, a_matrix, from_elsewhere]


@pytest.mark.parametrize("write", WHOLE, ids=lambda f: f.__name__)
def test_overlaps_that_come_out_whole(write):
    def f(x):
        a = x * 1.0
        write(a)
        return np.sum(a**3 * np.arange(1.0, 6.0))

    assert_gradient(f, X)
    np.testing.assert_allclose(compiled(f)(X), adjoin.grad(f)(X), rtol=1e-13)


def test_a_mask_of_unknown_kind_reads_a_copy():
    """Where it is not known whether `b[m]` is a view, what is stored must still reach `b`."""

    def f(x):
        a = x * 1.0
        b = a[::-1]
        a[a > 0.1] = b[b > 0.1]
        return np.sum(a**3)

    np.testing.assert_allclose(compiled(f)(X), 3 * X**2, rtol=1e-13)  # a permutation of the positive ones


def test_a_swap_of_buffers_is_not_taken_for_an_overlap():
    def f(x):
        a, b = x * 1.0, np.zeros_like(x)
        for _ in range(3):
            b[1:-1] = a[2:] * a[:-2]
            b[::4] = a[::4]
            a, b = b, a
        return np.sum(a**2)

    assert_gradient(f, X)
