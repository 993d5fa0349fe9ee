"""Kinds: a join covers both, broadcasting is that of NumPy, equal names mean equal sizes.

The gradients at the end are wrong wherever two sizes are taken to be equal that are not.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from abstraction import Abstraction
from helpers import assert_gradient
from hypothesis import given
from hypothesis import strategies as st

from adjoin.transformer.ir import Const, Slc, Var
from adjoin.transformer.kinds import (
    FLOAT,
    UNDEFINED,
    UNKNOWN,
    Array,
    Container,
    Dim,
    Number,
    Opaque,
    Sequence,
    Static,
    broadcast_dims,
    is_not_one,
    join,
    kind_of,
    same_shape,
    signature_kind,
)
from adjoin.transformer.sizes import axis_size, integer_name, name_sum, size_of, slice_size

VALUES: list[Any] = [
    True, 2, 0.5, 1j, np.float64(0.5), np.float32(0.5), np.int64(3), np.complex64(1j), np.bool_(True),
    np.ones(()), np.ones(1), np.ones(3), np.ones((3, 1)), np.ones((0, 3), "f4"), np.ones((2, 3), "i4"),
    np.ones(2, "c16"),
]  # fmt: skip
KINDS = [
    *map(kind_of, VALUES), UNKNOWN, UNDEFINED, Opaque(str), Opaque(None), Static(None, "None"),
    Sequence(FLOAT), Container(tuple, (0, 1), (FLOAT, FLOAT)), Array("f8", None), Array(None, (None,)),
    Array("f8", (Dim("n"),)),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_join_with_itself_and_with_nothing(kind):
    assert join(kind, kind) == kind
    assert join(kind, UNDEFINED) == kind == join(UNDEFINED, kind)


@pytest.mark.parametrize(("a", "b"), itertools.combinations(KINDS, 2))
def test_join_is_symmetric_and_covers(a, b):
    both = join(a, b)
    assert both == join(b, a)
    assert join(both, a) == both == join(both, b)


@given(st.data(), st.sampled_from(VALUES), st.sampled_from(VALUES))
def test_a_join_is_true_of_both(data, x, y):
    facts = Abstraction(lambda options: options[data.draw(st.integers(0, len(options) - 1))])

    def kind(value):
        return facts.array(value) if isinstance(value, np.ndarray) else kind_of(value)

    both = join(kind(x), kind(y))
    if any("|" in d.root for d in getattr(both, "dims", None) or () if isinstance(d, Dim)):
        return  # one of two sizes
    facts.check(both, x)
    facts.check(both, y)


@given(st.data())
def test_broadcasting(data):
    facts = Abstraction(lambda options: options[data.draw(st.integers(0, len(options) - 1))], vague=False)
    shapes = data.draw(
        st.lists(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3).map(tuple), min_size=1, max_size=3)
    )
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        return
    kinds = [facts.array(np.ones(s)) for s in shapes]
    whole = Array("f8", broadcast_dims(*(k.dims for k in kinds)))
    facts.check(whole, np.ones(shape))
    for kind, own in zip(kinds, shapes, strict=True):
        if same_shape(kind, whole):
            assert own == shape


def test_kinds_of_values():
    assert kind_of(np.ones((3, 1)), "w") == Array("f8", (Dim("w.0", 0, True), 1))
    assert kind_of(True) == Number("bool") != kind_of(1)
    assert kind_of(np.float32(1)) == Number("f4")
    assert kind_of("text") == Opaque(str)
    assert signature_kind([1.0] * 9, "xs") == Sequence(FLOAT)
    assert signature_kind(None, "x") == Static(None, "None")


def test_what_is_one_of_two_sizes_is_not_one():
    one, other = Dim("x.0", 0, True), Dim("y.0", 0, True)
    joined = join(Array("f8", (one,)), Array("f8", (other,)))
    assert isinstance(joined, Array) and joined.dims is not None
    (size,) = joined.dims
    assert is_not_one(size)
    assert slice_size(size, Slc(Const(1), Const(None), Const(None))) is None


def test_a_slice_of_an_element_of_a_list_has_no_known_size():
    kind = signature_kind([np.ones(n) for n in range(2, 12)], "xs")
    assert isinstance(kind, Sequence) and isinstance(kind.element, Array) and kind.element.dims is not None
    assert slice_size(kind.element.dims[0], Slc(Const(1), Const(None), Const(None))) is None


def test_sizes_of_integers():
    n = Var("n", Number("int"))
    assert size_of(n) == size_of(n)
    assert size_of(n) != size_of(Var("n", Number("int")))
    assert size_of(Const(-1)) is None and axis_size(Const(-1)) is None
    assert axis_size(n) is None  # it may be -1
    assert axis_size(Var("n", Number("int", Dim("x.0")))) == Dim("x.0")


def test_the_same_slice_of_the_same_size_is_as_long():
    i, j = Var("i", Number("int")), Var("j", Number("int"))
    none, size, other = Const(None), Dim("x.0", 0, True), Dim("y.0", 0, True)
    assert slice_size(size, Slc(i, none, none)) == slice_size(size, Slc(i, none, none)) is not None
    assert slice_size(size, Slc(i, none, none)) != slice_size(size, Slc(j, none, none))
    assert slice_size(size, Slc(i, none, none)) != slice_size(size, Slc(none, i, none))
    assert slice_size(size, Slc(i, none, none)) != slice_size(other, Slc(i, none, none))
    assert not is_not_one(slice_size(size, Slc(i, none, none)))
    assert slice_size(size, Slc(Var("k", Number(None)), none, none)) is None


def test_integers_that_are_sums():
    i, length = Var("i", Number("int")), Var("n", Number("int", Dim("xs.*.0")))
    one, two, three, less = (Var("", Number("int")) for _ in range(4))
    name_sum(one, "+", i, Const(1))
    name_sum(two, "+", i, Const(1))
    name_sum(three, "+", i, Const(2))
    name_sum(less, "-", i, Const(1))
    assert integer_name(one) == integer_name(two)
    assert len({integer_name(v) for v in (i, one, three, less)}) == 4
    # two elements of a list have one name for their sizes, and two sizes
    assert integer_name(length) != integer_name(Var("m", length.kind))
    assert integer_name(Const(True)) is None and integer_name(Var("x", FLOAT)) is None


# -- gradients that need the sizes to be told apart ----------------------------------------------------

SHORT, LONG = np.array([0.3, -0.7]), np.array([0.5, 1.5, -1.0, 0.2, 0.9])


def test_either_of_two_arguments():
    def f(x, y, first):
        p = x if first else y
        q = y if first else x
        return np.sum(p[1:] * q[1:] ** 2)

    assert_gradient(f, SHORT, LONG, True, argnums=(0, 1))


def test_elements_of_a_list():
    def f(xs):
        return np.sum(xs[0][1:] * xs[1][1:])

    assert_gradient(f, [SHORT, *(LONG * k for k in range(1, 10))])


def test_slices_whose_ends_are_computed():
    def f(x, i, j):
        return np.sum(x[i:] * x[j:] ** 2)

    assert_gradient(f, LONG, 1, 4)


def test_slices_by_an_integer_that_grows():
    def f(x, n):
        s, k = 0.0, 1
        while k < n:
            first = x[:k]
            k = k + 2
            s = s + np.sum(first * x[:k] ** 2)
        return s

    assert_gradient(f, LONG, 3)


def test_slices_of_other_trips_in_a_list():
    def f(x):
        parts = []
        s = 0.0
        for i in range(3):
            parts.append(x[: i + 1])
            s = s + np.sum(parts[0] * x[: i + 1] ** 2)
        return s

    assert_gradient(f, LONG)


def test_a_slice_of_the_trip_before():
    def f(x):
        s, before = 0.0, x[:1]
        for i in range(1, 3):
            s = s + np.sum(before * x[:i] ** 2)
            before = x[:i]
        return s

    assert_gradient(f, LONG)


def test_slices_by_the_lengths_of_the_elements_of_a_list():
    def f(x, ps):
        n, m = len(ps[0]), len(ps[1])
        return np.sum(x[:n] * x[:m] ** 2)

    assert_gradient(f, LONG, [np.ones(n) for n in (1, 4, *range(2, 12))])


def test_a_function_that_is_called_with_several_lengths():
    def head(a, n):
        return a[: n + 1]

    def f(x):
        s = 0.0
        for k in range(1, 3):
            s = s + np.sum(head(x, 0) * head(x, k) ** 2)
        return s

    assert_gradient(f, LONG)


@pytest.mark.parametrize("shapes", [((4, 3), (4, 2)), ((4, 1), (4, 2)), ((3, 4), (2, 4)), ((2, 0), (3, 2))])
def test_stores_of_slices_as_long_as_it_happens(shapes):
    """A store accepts one value for many, and one value for none."""

    def f(C, A):
        for i in range(A.shape[0]):
            for k in range(A.shape[1]):
                if i < C.shape[0] and min(i + 1, A.shape[0]) in (1, min(i + 1, C.shape[1])):
                    C[i, : i + 1] += A[: i + 1, k] * 2
        return np.sum(C**2) + np.sum(A)

    rng = np.random.default_rng(1)
    assert_gradient(f, *map(rng.random, shapes), argnums=(0, 1))


def test_a_slice_of_one_is_stored_into_a_longer_one():
    def f(C, a, n, m):
        C[:n] = a[:m] * 2
        C[1:] -= a[m - 1 : m]
        return np.sum(C**2)

    assert_gradient(f, LONG, SHORT, 4, 1, argnums=(0, 1))


def test_a_store_of_one_value_into_many():
    def f(x, i, j):
        a = x * 2
        a[i:] = x[j:]
        return np.sum(a**2)

    assert_gradient(f, LONG, 1, 4)


def test_a_size_that_is_another_one_in_every_trip():
    def f(x, n):
        s, before = 0.0, np.zeros(1)
        for i in range(n):
            a = np.full(i + 1, x)
            s = s + np.sum(a * before)
            before = a[:1] * 2
        return s

    assert_gradient(f, 0.7, 4)


def test_arrays_of_several_sizes_in_a_list():
    def f(x):
        xs = []
        for i in range(3):
            n = 2 * i + 1
            xs.append(np.ones(n) * x)
        return np.sum(xs[0] * xs[1]) + np.sum(xs[0] * xs[2])

    assert_gradient(f, 0.3)


def test_a_shape_that_is_left_open():
    def f(x, n):
        return np.sum(np.reshape(x, (n,)) * np.reshape(x[:1, :1], (n,)))

    assert_gradient(f, LONG[None, :], -1)


@pytest.mark.parametrize("shape", [(1, 2), (3, 2), (3, 1), (1, 1)])
def test_squeeze(shape):
    def f(x):
        return np.sum(np.squeeze(x) * np.ones((3, 2)) ** 2)

    if shape == (3, 1):
        return  # (3,) and (3, 2) do not broadcast
    assert_gradient(f, np.linspace(0.5, 1.5, shape[0] * shape[1]).reshape(shape))


def test_a_clip_with_one_end():
    assert_gradient(lambda x: np.clip(x, 0.0, None) * x, 0.5)
    assert_gradient(lambda x: np.sum(np.clip(x, None, 1.0) ** 2), LONG)


def test_the_smallest_of_numbers():
    assert_gradient(lambda x: min(0, x) * x + max(1, x) * x, -0.5)
    assert_gradient(lambda x: min(0, x) * x + max(1, x) * x, 1.5)


def test_sorting_everything():
    assert_gradient(
        lambda x: np.sum(np.sort(x, axis=None) * np.arange(4.0)), np.array([[3.0, 1.0], [2.0, 0.5]])
    )


def test_a_triangle_of_a_vector():
    assert_gradient(lambda x: np.sum(np.tril(x) ** 2), LONG)


def test_an_identity_of_a_dtype():
    assert_gradient(lambda x: np.sum(np.identity(2, np.float32) @ x), np.ones((2, 3), "f4"))


def test_nothing_is_done_while_kinds_are_found(tmp_path):
    """What writes a file is not tried out with made-up values."""

    def f(x):
        np.save(path, x)
        assert np.load(path).shape == (5,)
        return np.sum(x * x)

    path = str(tmp_path / "x.npy")
    assert_gradient(f, LONG)
