"""Lists, dictionaries, tuples: literals, subscripts, comprehensions, methods."""

import collections

import numpy as np
import pytest
from helpers import assert_gradient

VECTOR = np.array([0.7, 1.9, -1.3])


def test_list_literal_and_subscript():
    def f(x, y):
        h = [x, y, x * y]
        return h[0] * h[-1] + h[1]

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_tuple_literal_and_subscript():
    def f(x, y):
        h = (x, (y, x * y))
        return h[0] * h[1][0] + h[1][1]

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_dict_literal_and_subscript():
    def f(x, y):
        p = {"x": x, "y": y, "both": {"xy": x * y}}
        return p["x"] * p["both"]["xy"] + p["y"] + p.get("x") * p.get("none", 2.0)

    assert_gradient(f, 1.3, 0.7, argnums=(0, 1))


def test_slices_of_lists():
    def f(x):
        h = [x, x * x, x**3, x**4]
        return sum(h[1:]) + h[::2][1] * h[:-1][-1]

    assert_gradient(f, 0.9)


def test_concatenation_and_repetition_of_lists():
    def f(x):
        h = [x, x * x] + [3.0 * x]
        t = (x,) + (x * x,)
        return sum(h * 2) + t[1] * t[0] + sum([x] * 3)

    assert_gradient(f, 0.9)


def test_unpacking_in_literals():
    def f(x):
        h = [x, *(x * x, 2.0), x]
        d = {"a": x, **{"b": x * x}}
        return h[1] * h[3] + d["b"]

    assert_gradient(f, 0.9)


def test_len_and_membership():
    def f(x):
        h = [x, x * x]
        p = {"a": x}
        return len(h) * h[1] + (p["a"] if "a" in p else 0.0)

    assert_gradient(f, 0.9)


def test_list_comprehension():
    def f(x):
        h = [e * e for e in x]
        return sum(h) * h[0]

    assert_gradient(f, VECTOR)


def test_comprehension_with_condition_and_two_loops():
    def f(x):
        h = [a * b for i, a in enumerate(x) for b in x[i:] if a > 0.0]
        return sum(h)

    assert_gradient(f, VECTOR)


def test_nested_comprehension():
    def f(x):
        h = [[a * b for b in x] for a in x]
        return np.sum(np.array(h))

    assert_gradient(f, VECTOR)


def test_dict_comprehension():
    def f(x):
        p = {i: x[i] * x[i] for i in range(3)}
        return p[0] * p[2] + p[1]

    assert_gradient(f, VECTOR)


@pytest.mark.parametrize("build", [list, tuple])
def test_generator_into(build):
    def f(x):
        h = build(e * e for e in x)
        return h[0] * h[1]

    assert_gradient(f, VECTOR)


def test_generator_inside_sum():
    def f(x):
        return sum(e * e for e in x) + sum((e for e in x if e > 0.0), 3.0)

    assert_gradient(f, VECTOR)


def test_generator_inside_max_and_min():
    def f(x):
        return max(e * e for e in x) * min(np.sin(e) for e in x) + max([x[0], x[1]])

    assert_gradient(f, VECTOR)


def test_max_and_min_of_pairs():
    def f(x):
        high, i = max((x[k] ** 3, k) for k in range(len(x)))
        low, j = min((x[k] ** 3, -k) for k in range(len(x)))
        largest = max((x[k] * x[k], x[k - 1]) for k in range(3))
        return high * low * x[i] + x[-j] * largest[0] * largest[1]

    assert_gradient(f, VECTOR)


def test_max_of_pairs_that_tie_in_the_first():
    def f(x):
        return max((1.0 if e > 0.0 else 0.0, e * e) for e in x)[1]

    assert_gradient(f, VECTOR)


def test_max_of_lists_by_a_key():
    def f(x):
        row = max([[x[0], x[1]], [x[2], x[0] * x[1]]], key=lambda r: r[1])
        return row[0] * row[1]

    assert_gradient(f, VECTOR)


def test_array_from_a_comprehension():
    def f(x):
        a = np.array([e * e for e in x])
        b = np.array([[x[0], 1.0], [2.0, x[1] * x[2]]])
        return np.sum(a[:2] @ b)

    assert_gradient(f, VECTOR)


def test_stack_of_a_comprehension():
    def f(x):
        return np.sum(np.sin(np.stack([x * k for k in range(3)])) @ x)

    assert_gradient(f, VECTOR)


def test_any_and_all_over_generators():
    def f(x):
        if any(e > 1.0 for e in x) and not all(e > 0.0 for e in x):
            return np.sum(x * x)
        return np.sum(x)

    assert_gradient(f, VECTOR)


def test_append():
    def f(x):
        h = []
        for e in x:
            h.append(e * e)
        h.append(h[0] * h[1])
        return sum(h) * h[-1]

    assert_gradient(f, VECTOR)


def test_recurrence_over_a_list():
    def f(x, n):
        h = [x, x * 0.5]
        for i in range(n):
            h.append(h[-1] * x + h[i])
        return h[-1]

    assert_gradient(f, 0.9, 5)


def test_pop():
    def f(x):
        h = [x, x * x, x**3]
        a = h.pop()
        b = h.pop(0)
        return a * b + h[0]

    assert_gradient(f, 0.9)


def test_stack_machine():
    def f(x, y, program):
        stack = []
        for op in program:
            if op == "x":
                stack.append(x)
            elif op == "y":
                stack.append(y)
            elif op == "*":
                stack.append(stack.pop() * stack.pop())
            else:
                stack.append(stack.pop() - stack.pop())
        return stack.pop()

    assert_gradient(f, 1.3, 0.7, "xy*x-yx*-", argnums=(0, 1))


def test_del_of_an_item():
    def f(x):
        h = [x, x * x, x**3]
        del h[1]
        p = {"a": x, "b": x * x}
        del p["a"]
        return h[1] * h[0] + p["b"]

    assert_gradient(f, 0.9)


def test_item_stores():
    def f(x):
        h = [0.0] * 3
        h[0] = x
        h[1] = h[0] * x
        h[-1] = h[1]
        p = {}
        p["a"] = x * h[2]
        p["a"] = p["a"] * x
        return p["a"] + h[0]

    assert_gradient(f, 0.9)


def test_augmented_item_stores():
    def f(x):
        h = [x, 1.0]
        h[0] *= x
        h[1] += h[0]
        p = {"a": x}
        p["a"] *= h[1]
        return p["a"]

    assert_gradient(f, 0.9)


def test_more_list_methods():
    def f(x):
        h = [x, x * x]
        h.extend([x**3, 2.0])
        h.insert(1, 5.0 * x)
        h.reverse()
        g = h.copy()
        h.clear()
        return g[0] * g[1] + g[3] * g[2] + len(h)

    assert_gradient(f, 0.9)


def test_more_dict_methods():
    def f(x):
        p = {"a": x}
        p.update(b=x * x)
        p.update({"c": x**3})
        q = dict(p, d=2.0 * x)
        p.setdefault("e", x * 4.0)
        return p.pop("b") * q["d"] + p["c"] + p["e"] + len(p)

    assert_gradient(f, 0.9)


def test_named_tuple():
    Point = collections.namedtuple("Point", "x y")

    def f(x):
        p = Point(x, x * x)
        q = p._replace(x=3.0 * x)
        return p.x * p.y + p[0] + q.x

    assert_gradient(f, 0.9)


def test_containers_of_arrays():
    def f(x):
        layers = [(x, 2.0), (np.sin(x), 3.0)]
        s = 0.0
        for w, c in layers:
            s = s + c * np.sum(w * w)
        return s

    assert_gradient(f, VECTOR)


@pytest.mark.parametrize("k", [0, 1, -1])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: (x, x * x),
        lambda x: (x, VECTOR * x),
        lambda x: (x * VECTOR, x * x * VECTOR),
        lambda x: ((x, 2.0), (x * x, x)),
    ],
)
def test_tuple_subscript_that_is_known_when_running(make, k):
    def f(x, k):
        chosen = make(x)[k]
        return np.sum(chosen[0] * chosen[1]) if isinstance(chosen, tuple) else np.sum(chosen) * 2.0

    assert_gradient(f, 1.5, k)


def test_concatenation_of_tuples_of_unknown_length():
    def f(x):
        t = tuple(v * v for v in x)
        longer, other = t + (x[0],), (x[2],) + t
        return longer[3] * longer[0] + other[0] * other[3] + len(t + t) * sum(t + t) * isinstance(t, tuple)

    assert_gradient(f, VECTOR)


def test_merged_dicts():
    def f(x):
        a, b = {"p": x[0], "q": x[1]}, {"q": x[2]}
        same, c = a, a | b
        a |= b
        b["q"] = x[0] * x[1]
        return c["q"] * a["q"] + a["p"] * b["q"] + same["q"] ** 2 + sum(len(k) * v for k, v in c.items())

    assert_gradient(f, VECTOR)


def test_augmented_lists_inside_containers_are_changed_in_place():
    def f(x):
        d, rows = {"h": [x[0]]}, [[x[0]], [x[1]]]
        h, row = d["h"], rows[0]
        d["h"] += [x[2]]
        d["h"] *= 2
        rows[0] += [x[1]]
        return sum(h) * len(h) * sum(row)

    assert_gradient(f, VECTOR)
