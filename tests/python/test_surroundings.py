"""What is done to lists, dicts and objects of the surrounding code: the function sees it, and so do they."""

import copy

import numpy as np
import pytest
from helpers import assert_refused

import adjoin

VECTOR = np.array([0.7, -1.2, 2.1, 0.4])


class Model:
    def __init__(self):
        self.scale = 1.0
        self.history = [0.5]
        self.options = {"a": 1.5}


class Surroundings:
    """What the functions below find around them, as it is before each call."""

    def __init__(self):
        self.numbers = [1.0, 2.0]
        self.long = [float(i) for i in range(12)]
        self.empty = []
        self.named = {"s": 1.0, "t": 2.0}
        self.nested = [[1.0, 2.0], [3.0]]
        self.deep = {"x": [1.0], "y": {"z": 2.0}}
        self.model = Model()

    def now(self):
        """All of it as it is, in a form that can be compared."""
        return copy.deepcopy({**vars(self), "model": vars(self.model)})


def assert_seen(make, x=VECTOR):
    """The gradient against differences, and the surroundings against those that the plain function leaves.

    `make` takes surroundings and returns a function.
    """
    expected = np.zeros_like(x)
    for i in range(x.size):
        step = np.zeros_like(x)
        step[i] = 1e-6
        high, low = make(Surroundings())(x + step), make(Surroundings())(x - step)
        expected[i] = (high - low) / 2e-6
    around = Surroundings()
    value = make(around)(x)
    left = around.now()

    def run(how):
        around = Surroundings()
        found = how(make(around))
        np.testing.assert_equal(around.now(), left)
        return found

    found, gradient = run(lambda f: adjoin.value_and_grad(f)(x))
    assert found == value
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    assert run(lambda f: adjoin.grad(f).forward(x))[0] == value
    _, tangent = run(lambda f: adjoin.jvp(f, (x,), (x,)))
    np.testing.assert_allclose(tangent, expected @ x, rtol=1e-6, atol=1e-8)


def store_in_list(around):
    L = around.numbers

    def f(x):
        L[0] += 1.0
        return L[0] * x.sum()

    return f


def store_in_list_in_loop(around):
    L = around.numbers

    def f(x):
        for i in range(3):
            L[0] += x[i]
        return L[0] ** 2

    return f


def store_in_list_on_one_path(around):
    L = around.numbers

    def f(x):
        if x[0] > 0:
            L[0] = x[0] * 2
        return L[0] * x[1]

    return f


def store_at_a_place_known_when_running(around):
    L = around.numbers

    def f(x):
        i = int(x[0] > 0)
        L[i] = x[1] * 4.0
        return x[0] * L[i]

    return f


def store_slice_of_list(around):
    L = around.numbers

    def f(x):
        L[0:1] = [5.0, x[1]]
        return L[0] * L[1] * x[0]

    return f


def swap_in_list(around):
    L = around.numbers

    def f(x):
        L[0], L[1] = L[1] * x[1], L[0] * x[2]
        return x[0] * L[0] + L[1]

    return f


def delete_from_list(around):
    L = around.numbers

    def f(x):
        del L[0]
        return L[0] * x[0]

    return f


def store_by_another_name(around):
    L = around.numbers

    def f(x):
        other = L
        other[1] = 9.0 * x[1]
        held = {"a": L}
        held["a"][0] = 4.0
        return x[0] * L[1] * L[0]

    return f


def store_in_a_helper(around):
    L = around.numbers

    def f(x):
        def change(h, value):
            h[0] = value * 9.0

        change(L, x[1])
        return x[0] * L[0]

    return f


def store_until(around):
    L = around.numbers

    def f(x):
        while L[0] < 3.0:
            L[0] = L[0] + x[0] ** 2
        return x[1] * L[0]

    return f


def store_in_long_list(around):
    L = around.long

    def f(x):
        s = 0.0
        for i in range(3):
            L[i] = L[i] * L[i] * x[i] + 1.0
            s = s + L[i] ** 2
        return s

    return f


def grow_long_list(around):
    L = around.long

    def f(x):
        L.append(1.0)
        return x[0] ** 2

    return f


def grow_list_in_loop(around):
    L, M = around.empty, around.numbers

    def f(x):
        for i in range(3):
            L.append(float(x[i]) * 2.0)
        M.extend([1.0, 2.0])
        return x[0] ** 2

    return f


def grow_by_a_list_that_changes_after_it(around):
    L = around.numbers

    def f(x):
        h = [x[0], 2.0]
        L.extend(h)
        h[0] = x[1]
        return h[0] * x[0]

    return f


def store_in_dict_in_loop(around):
    D = around.named

    def f(x):
        s = 0.0
        for i in range(3):
            D["s"] = x[i] * D["s"]
            s = s + D["s"]
        return s

    return f


def store_in_dict_on_one_path(around):
    D = around.named

    def f(x):
        if x[0] > 0:
            D["s"] = x[0] * 2
        return D["s"] * x[1]

    return f


def store_in_dict_in_a_helper(around):
    D = around.named

    def scaled(a):
        D["s"] = D["s"] * a
        return D["s"]

    def f(x):
        s = 0.0
        for i in range(3):
            if x[i] > 0:
                s += scaled(x[i])
            else:
                D["t"] = x[i] * 3
        return s * D["t"]

    return f


def new_keys(around):
    D = around.named

    def f(x):
        D["arr"] = x * 2
        D.setdefault("q", x[0])
        D.update(s=x[1], n=3.0)
        return (D["arr"] ** 2).sum() * D["q"] * D["s"] * D["n"]

    return f


def delete_from_dict(around):
    D = around.named

    def f(x):
        del D["t"]
        return D.pop("s") * x[0] ** 2

    return f


def change_nested(around):
    N, D = around.nested, around.deep

    def f(x):
        N[0].append(1.0)
        N[1][0] = x[0] * 7.0
        D["x"][0] += x[1]
        D["y"]["z"] = x[2]
        return N[1][0] * D["x"][0] * D["y"]["z"]

    return f


def grow_each_nested(around):
    N = around.nested

    def f(x):
        for row in N:
            row.append(1.0)
        return x[0] ** 2

    return f


def put_into_each_other(around):
    L, D = around.numbers, around.deep

    def f(x):
        D["x"] = L
        L[0] = x[0] * 5.0
        D["y"] = {"k": x[1]}
        return D["x"][0] * D["y"]["k"]

    return f


def a_name_for_a_list_on_one_path(around):
    o = around.model

    def f(x):
        if x[0] > 5.0:
            h = o.history
            h[0] = 3.0
        return o.history[0] * x[1]

    return f


def stores_at_known_places_and_at_others(around):
    L = around.numbers

    def f(x):
        for _ in range(3):
            L[1] = np.tanh(x[0])
        for i in range(3):
            L[i % 2] = np.tanh(x[i]) * L[1]
        return L[0] * x[1] + L[1]

    return f


def store_of_what_may_be_a_part(around):
    L = around.numbers

    def f(x):
        L[1] = np.mean(x)
        t = L[1]
        p = x
        try:
            v = np.where(t > 1.0, np.max(x), L[0] * t)
        except ValueError:
            pass
        L[1], q = v, p
        return L[1] * q[0]

    return f


def change_object(around):
    o = around.model

    def f(x):
        for i in range(3):
            o.scale *= x[i]
            if x[i] < 0:
                o.history[0] = x[i]
            o.options["a"] = o.options["a"] + x[i]
        o.count = 3
        return o.scale * o.history[0] * o.options["a"] ** 2

    return f


def change_object_on_one_path(around):
    o = around.model

    def f(x):
        if x[0] > 0:
            o.scale = x[0]
        if x[1] > 0:
            o.scale = x[1]
        return o.scale**2

    return f


def grow_list_of_object(around):
    o = around.model

    def f(x):
        o.history.append(float(x[0]))
        return x[0] ** 2

    return f


def grow_list_in_recursion(around):
    L = around.numbers

    def f(x):
        def product(n):
            if n < 2:
                return x[n]
            L.append(float(n))
            return product(n - 1) * product(n - 2)

        return product(4)

    return f


def count_what_failed(around):
    L, D = around.numbers, around.named

    def f(x):
        s = 0.0
        for i in range(3):
            try:
                if x[i] < 0:
                    raise ValueError
                s = s + np.sqrt(x[i])
                L.append(1.0)
            except ValueError:
                D["s"] = D["s"] + x[0]
        return s * D["s"]

    return f


NAMED = {"s": 1.0}


def scaled_by_named(a):
    NAMED["s"] = NAMED["s"] * a
    return a


def product_with_named(n, a):
    return a if n == 0 else product_with_named(n - 1, a * NAMED["s"])


def test_a_helper_that_changes_a_global():
    def f(x):
        NAMED["s"] = 1.0
        t = scaled_by_named(x[0])
        return NAMED["s"] * t * scaled_by_named(x[1])

    np.testing.assert_allclose(adjoin.grad(f)(VECTOR), [2 * 0.7 * -1.2, 0.7**2, 0.0, 0.0])
    assert NAMED["s"] == 0.7 * -1.2


def test_a_dict_that_is_reached_in_two_ways():
    holder = {"d": NAMED}

    def change(x):
        holder["d"]["s"] = x[0]
        return NAMED["s"] * x[1]

    def read(x):
        return holder["d"]["s"] * x[1] + NAMED["s"]

    assert_refused(change, VECTOR, line='holder["d"]["s"] = x[0]')
    assert adjoin.grad(read)(VECTOR)[1] == NAMED["s"]


def test_a_dict_that_a_recursion_reads():
    def change(x):
        NAMED["s"] = x[0]
        return product_with_named(2 if x[2] > 0 else 1, x[1])

    def read(x):
        return product_with_named(2 if x[2] > 0 else 1, x[1]) * NAMED["s"]

    assert_refused(change, VECTOR, line='NAMED["s"] = x[0]')
    assert adjoin.grad(read)(VECTOR)[1] == NAMED["s"] ** 3


@pytest.mark.parametrize(
    "make",
    [
        store_in_list,
        store_in_list_in_loop,
        store_in_list_on_one_path,
        store_at_a_place_known_when_running,
        store_slice_of_list,
        swap_in_list,
        delete_from_list,
        store_by_another_name,
        store_in_a_helper,
        store_until,
        store_in_long_list,
        grow_long_list,
        grow_list_in_loop,
        grow_by_a_list_that_changes_after_it,
        store_in_dict_in_loop,
        store_in_dict_on_one_path,
        store_in_dict_in_a_helper,
        new_keys,
        delete_from_dict,
        change_nested,
        grow_each_nested,
        put_into_each_other,
        a_name_for_a_list_on_one_path,
        stores_at_known_places_and_at_others,
        store_of_what_may_be_a_part,
        change_object,
        change_object_on_one_path,
        grow_list_of_object,
        grow_list_in_recursion,
        count_what_failed,
    ],
    ids=lambda make: make.__name__,
)
def test_what_is_done_to_the_surroundings(make):
    assert_seen(make)


def test_a_list_that_grows_and_is_read():
    L = [1.0]

    def f(x):
        L.append(x[0])
        return L[-1] * x[1]

    assert_refused(f, VECTOR, line="return L[-1] * x[1]")
    assert L == [1.0]


def test_a_list_that_is_read_and_then_grows_in_a_loop():
    L = [float(i) for i in range(12)]

    def f(x):
        s = 0.0
        for i in range(3):
            s = s + L[-1] * x[i]
            L.append(float(i))
        return s

    assert_refused(f, VECTOR, line="s = s + L[-1] * x[i]")


def test_a_list_that_changes_after_it_was_given_away():
    N = [[1.0]]

    def f(x):
        row = [x[0]]
        N.append(row)
        row.append(2.0)
        return x[0] ** 2

    assert_refused(f, VECTOR, line="row.append(2.0)")


def test_a_dict_that_is_another_one_on_some_trip():
    D = {"y": {"z": 2.0}}

    def f(x):
        n = 0
        while n < 3 and x[0] > 0.5:
            n += 1
            D["y"] = {"z": x[1]}
        D["y"]["z"] -= x[2]
        return D["y"]["z"]

    assert_refused(f, VECTOR, line='D["y"]["z"] -= x[2]')


def test_a_list_of_the_surroundings_that_shrinks():
    L = [1.0, 2.0]

    def f(x):
        L.pop()
        return x[0] ** 2

    assert_refused(f, VECTOR, line="L.pop()")


@pytest.mark.parametrize("held", [[np.ones(4)], {"w": np.ones(4)}, [[np.ones(4)]]])
def test_an_array_that_the_surroundings_hold_is_written_to(held):
    def of_list(x):
        held[0][0] = x[0]
        return held[0].sum()

    def of_dict(x):
        held["w"][0] = x[0]
        return held["w"].sum()

    def of_inner(x):
        held[0][0][0] = x[0]
        return held[0][0].sum()

    if isinstance(held, dict):
        assert_refused(of_dict, VECTOR, line='held["w"][0] = x[0]')
    elif isinstance(held[0], list):
        assert_refused(of_inner, VECTOR, line="held[0][0][0] = x[0]")
    else:
        assert_refused(of_list, VECTOR, line="held[0][0] = x[0]")


def test_a_key_that_is_not_there():
    D = {"s": 1.0}

    def f(x):
        del D["z"]
        return x[0]

    with pytest.raises(KeyError, match="z"):
        adjoin.grad(f)(VECTOR)
