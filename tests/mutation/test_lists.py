"""Lists of unknown length: read as a whole, joined, repeated, while they and their arrays change."""

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused

from adjoin import AdjoinError, grad

VECTOR = np.array([0.7, 1.9, -1.3, 0.4])

#: What is made of a list `h` of vectors.
WHOLE = {
    "array": "np.array(h) ** 2",
    "asarray": "np.asarray(h) ** 2",
    "stack": "np.stack(h, axis=1) ** 2",
    "vstack": "np.vstack(h) ** 2",
    "concatenate": "np.concatenate(h) ** 3",
    "column_stack": "np.column_stack(h) ** 2",
    "mean": "np.mean(h, axis=0) ** 2",
    "sum": "sum(h) ** 2",
    "argument": "np.array([v[1:] for v in h]) ** 2",
    "sliced": "np.array(h[1:] + h[:1]) * np.arange(4.0)",
    "copied": "np.stack(list(h)) ** 2",
}


@pytest.mark.parametrize("name", WHOLE)
def test_list_of_buffers_read_as_a_whole(name):
    from programs.program import Program

    source = f"""
def f(x):
    h = []
    for e in x:
        v = e * x
        v[0] *= 2.0
        h.append(v)
    s = np.sum({WHOLE[name]})
    h[0][1] *= 3.0
    h.append(x * s)
    s = s + np.sum({WHOLE[name]})
    h.pop(0)
    h[1] = x * 0.5
    h[1][2] = s
    return np.sum({WHOLE[name]})
"""
    assert_gradient(Program(source, ()).load(), VECTOR * 0.4)


@pytest.mark.parametrize("kind", ["numbers", "vectors", "buffers"])
def test_list_that_grows_between_readings(kind):
    def f(x, kind):
        h = []
        s = 0.0
        for e in x:
            v = e * e if kind == "numbers" else e * x
            if kind == "buffers":
                v[0] *= 2.0
            h.append(v)
            s = s + np.sum(np.array(h) ** 2) * e
        h.pop()
        h.reverse()
        return s + np.sum(np.array(h)[0] ** 3)

    assert_gradient(f, VECTOR, kind)


def test_recurrent_network_whose_states_are_written_to():
    def f(x):
        state = np.zeros(3)
        weights = np.outer(x[:3], x[1:])
        states = []
        for e in x:
            state = np.tanh(weights @ state + e)
            state[0] *= 0.5
            states.append(state)
            if len(states) > 1:
                states[-2][1] += 0.1 * state[2]
        return np.sum(np.array(states) ** 2)

    assert_gradient(f, VECTOR)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_constants_repeated(n):
    def f(x, n):
        h = [0.0] * n
        for i in range(n):
            h[i] = x[i] * h[i - 1] + x[0]
        return sum(h) * x[1]

    assert_gradient(f, VECTOR, n)


def test_active_numbers_repeated():
    def f(x, n):
        h = [x[0], x[1] ** 2] * n
        h[1] = x[1] * h[2]
        g = n * h
        return sum(e * (i + 1) for i, e in enumerate(g))

    assert_gradient(f, VECTOR, 3)


def test_one_array_repeated_is_one_array():
    def f(x, n):
        h = [np.zeros(4)] * n
        h[0] += x
        h[1][2] = x[0] * h[2][1]
        return sum(np.sum(v * v) for v in h)

    assert_gradient(f, VECTOR, 3)


def test_lists_joined_in_a_loop():
    def f(x):
        h = []
        for e in x:
            h.append(e * e)
        g = []
        for i in range(3):
            g = g + [h[i] * x[i]]
            h = h[1:] + [h[0]]
        k = [x[1]] + h
        h[0] = 5.0
        return sum(g) * h[0] * k[2] + sum(k)

    assert_gradient(f, VECTOR)


def test_rotated_list_of_buffers():
    def f(x):
        h = [x * 1.0 for _ in range(3)]
        for i in range(3):
            for v in h:
                v[i] *= x[i]
            h = h[1:] + [h[0] * 0.5]
        return np.sum(np.array(h) * np.arange(12.0).reshape(3, 4))

    assert_gradient(f, VECTOR)


def test_numbers_and_buffers_in_one_list():
    def f(x):
        a = x * 1.0
        h = []
        for i in range(2):
            h.append(a)
            h.append(x[i] * x[0])
        h[0][1] = h[1] * 2.0
        a[0] = h[3]
        return np.sum(h[2]) * h[1] + h[3]

    assert_gradient(f, VECTOR)


def test_helper_that_reads_and_grows_a_list():
    def grown(h):
        h[0][0] *= 2.0
        h.append(h[0] * h[1])
        return np.array(h).sum(axis=0)

    def f(x):
        h = []
        for e in x:
            h.append(e * x)
        return np.sum(grown(h) ** 2) + np.sum(grown(h))

    assert_gradient(f, VECTOR * 0.5)


@pytest.mark.parametrize("at", ["", "0", "-1", "len(h) // 2"])
@pytest.mark.parametrize("loop", ["while h", "for _ in range(len(x))", "while len(h) > 1"])
def test_how_many_are_left_counts(at, loop):
    from programs.program import Program

    source = f"""
def f(x):
    h = [x[i] * x[0] for i in range(len(x))]
    total = 0.0
    {loop}:
        v = h.pop({at})
        total += v * len(h) + v**2 / (1 + len(h))
    return total
"""
    assert_gradient(Program(source, ()).load(), VECTOR)


@pytest.mark.parametrize("n", [1, 3])
def test_a_list_in_a_dict_that_one_branch_replaces(n):
    def f(x, n):
        d = {"p": [x[0]]}
        q = d["p"]
        if n > 1:
            d = {"p": [x[1]]}
        q.append(x[2])
        d["p"].append(x[3])
        return sum(q) * sum(d["p"])

    assert_gradient(f, VECTOR, n)


def test_list_of_positions_that_grows_after_it_was_an_index():
    def f(x):
        at, y = [], x * 1.0
        for k in range(4):
            y[at] *= x[k]
            if x[k] > 0:
                at.append(k)
            y[at] = y[at] ** 2
        return np.sum(y[at])

    assert_gradient(f, VECTOR)


def test_list_of_positions_that_is_stored_into_after_it_was_an_index():
    def f(x):
        at, keep, total = [0, 1], [True] * 3, 0.0
        for k in range(2):
            total += np.sum(x[at] ** 2) * x[k] + np.sum(x[:3][keep] ** 3)
            at[0] += 1
            keep[k] = False
        return total

    assert_gradient(f, VECTOR)


def test_list_of_weights_that_grows_after_it_was_read():
    def f(x):
        w, total = [1.0, 2.0], 0.0
        for k in range(2):
            total += np.dot(w, x[: len(w)] ** 2) * x[k]
            w.append(3.0)
            w[0] *= 2
        return total

    assert_gradient(f, VECTOR)


def test_list_changed_where_the_loop_over_it_has_been():
    def f(x):
        found, total = [x[0], x[1], x[2]], 0.0
        for v in found:
            if v > 0.1:
                found[0] = found[0] * v
            total += v
        return sum(found) * total

    assert_gradient(f, VECTOR)


def test_list_that_grows_in_the_loop_over_it_is_refused():
    def f(x):
        found = [x[0]]
        for v in found:
            if len(found) < 4:
                found.append(v * x[len(found)])
        return sum(found)

    assert_refused(f, VECTOR, line="for v in found:")


def test_list_stored_into_ahead_of_the_loop_over_it_is_refused():
    def f(x):
        found = [x[0], x[1], x[2]]
        for v in found:
            found[2] = v * found[1]
        return sum(found)

    assert_refused(f, VECTOR, line="for v in found:")


@pytest.mark.parametrize("over", ["xs", "enumerate(xs)", "zip(xs, x)"])
def test_a_list_of_the_running_program_that_grows_in_the_loop_over_it_is_refused(over):
    from programs.program import Program

    source = f"""
def f(x):
    xs = []
    for i in range(len(x)):
        xs.append(x[i])
    s = 0.0
    for v in {over}:
        s += v if np.ndim(v) == 0 else v[0]
        if len(xs) < 9:
            xs.append(s)
    return s
"""
    with pytest.raises(AdjoinError, match="changed while it is looped over"):
        grad(Program(source, ()).load())(VECTOR)


@pytest.mark.parametrize("trips", [0, 2])
def test_a_loop_that_makes_a_list_of_another_kind(trips):
    def f(x, trips):
        held = []
        for e in x:
            held.append(e * x)
        for _ in range(trips):
            held = []
            for j in range(3):
                held.append(j * 0.5 * x[0])
        known = [x * x[0]]
        for _ in range(trips):
            known = []
            for j in range(3):
                known.append(j * x[1])
        return np.sum(held[2]) + np.sum(known[-1])

    assert_gradient(f, np.array([0.7, 1.9, -1.3]), trips)
