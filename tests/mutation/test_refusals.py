"""Writes that cannot be followed are refused at the line; what NumPy raises is raised."""

import collections
import ctypes

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused
from programs.program import Program

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


#: Objects that may keep what they are given, and give it back: what is done with them, and what comes out.
KEEPERS = {
    "deque": ("d = collections.deque()", "d.append(x[0] * x[1])", "d[0] * 2.0"),
    "deque-sum": ("d = collections.deque(maxlen=2)", "d.append(x[0] * x[1])", "sum(d)"),
    "deque-loop": ("d = collections.deque(maxlen=2)", "d.appendleft(x[0])", "max(2.0 * e for e in d)"),
    "set": ("d = set()", "d.add(x[0] * x[1])", "sum(d)"),
    "heap": ("d = []", "heapq.heappush(d, x[0] * x[1])", "heapq.heappop(d) * 2.0"),
    "bisect": ("d = []", "bisect.insort(d, x[0] * x[1])", "d[0] * 2.0"),
    "dictionary of lists": ("d = collections.defaultdict(list)", "d['a'].append(x[0] * x[1])", "sum(d['a'])"),
    "queue": ("d = queue.SimpleQueue()", "d.put(x[0] * x[1])", "d.get() * 2.0"),
    "manager": ("pass", "with contextlib.nullcontext(x[0] * x[1]) as d:\n        pass", "d * 2.0"),
    "record": ("d = np.zeros(2, [('p', float), ('q', float)])", "d['p'] = x[:2] ** 2", "np.sum(d['p'])"),
    "record-view": ("d = np.zeros(2, [('p', float)]); p = d['p']", "p[:] = x[:2] ** 2", "np.sum(d['p'])"),
    "record-element": ("d = np.zeros(2, [('p', float)])", "d[0]['p'] = x[0] * x[1]", "np.sum(d['p'])"),
    "stored": ("d = collections.deque()", "d.append(x[0])", "np.sum(put(np.zeros(2), d[0]))"),
    "appended": ("d = collections.deque()", "d.append(x[0])", "[0.0, d[0] * 1.0].pop()"),
    "field": ("d = np.zeros(2, TYPE)", "d['p'] = x[:2] ** 2", "np.sum(d['p'])"),
    "objects": ("d = np.empty(2, dtype=object)", "d[0] = x[:2] * x[0]", "np.sum(d[0])"),
}


@pytest.mark.parametrize("name", KEEPERS)
def test_object_that_keeps_something_active(name):
    made, kept, out = KEEPERS[name]
    modules = "bisect, collections, contextlib, heapq, queue"
    put = "TYPE = np.dtype([('p', float)])\ndef put(a, e):\n    a[0] = e\n    return a\n"
    source = f"import {modules}\n{put}def f(x):\n    {made}\n    {kept}\n    return {out}\n"
    f = Program(source, ()).load()
    assert np.isfinite(f(VECTOR))
    line = made.partition("; ")[2] if name == "record-view" else kept.partition("\n")[0]
    assert_refused(f, VECTOR, line=line)


def test_object_that_keeps_something_active_to_be_printed():
    def f(x):
        last = collections.deque(maxlen=2)
        s = 0.0
        for e in x:
            s += e * e
            last.append(s)
            print(sum(last) / len(last))
        return s

    assert_gradient(f, VECTOR)


def test_object_that_keeps_what_is_not_active():
    def f(x):
        seen = set()
        s = 0.0
        for i in [0, 1, 1, 2, 0]:
            if i in seen:
                continue
            seen.add(i)
            s += x[i] ** 2
        return s

    assert_gradient(f, VECTOR)
