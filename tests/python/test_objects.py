"""Objects of user classes: inheritance, operators, dataclasses, copies, and what branches and loops make."""

import collections
import copy
import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers import assert_gradient, assert_refused

VECTOR = np.array([0.7, 1.9, -1.3])


class Base:
    factor = 2.0

    def __init__(self, w, *more):
        self.w = w
        self.setup()

    def setup(self):
        self.k = 1.0

    def forward(self, x):
        return x * self.w * self.factor

    @property
    def norm(self):
        return self.w**2

    @classmethod
    def make(cls, w):
        return cls(w)

    @staticmethod
    def triple(x):
        return x * 3.0


class Middle(Base):
    def __init__(self, w):
        super().__init__(w, 1)
        self.b = w * 2.0

    def setup(self):
        super().setup()
        self.k = self.k + self.w

    def forward(self, x):
        return super().forward(x) + self.b

    @property
    def norm(self):
        return super().norm + 1.0

    @staticmethod
    def triple(x):
        return Base.triple(x) * 2.0


class Top(Middle):
    factor = 5.0

    def forward(self, x):
        return Middle.forward(self, x) * 2.0 + super(Middle, self).forward(x) + super().triple(x)


def test_inheritance():
    def f(x):
        top = Top.make(x)
        return top.forward(2.0) * top.norm + top.k + Base(x).forward(x) + isinstance(top, Base) * x

    assert_gradient(f, 1.5)


def test_inheritance_of_an_object_from_outside():
    top = Top(2.0)

    def f(x):
        return top.forward(x) * top.norm

    assert_gradient(f, 1.5)
    assert_gradient(top.forward, 1.5)


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Pair(self.x + other.x, self.y + other.y) if isinstance(other, Pair) else NotImplemented

    def __radd__(self, k):
        return Pair(self.x + k, self.y + k)

    def __mul__(self, k):
        return Pair(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __setitem__(self, i, value):
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __neg__(self):
        return Pair(-self.x, -self.y)

    def __abs__(self):
        return (self.x**2 + self.y**2) ** 0.5

    def __len__(self):
        return 2


def test_operators():
    def f(a, b):
        v = Pair(a, b)
        w = v + Pair(b, 1.0) * 2.0
        w[0] = w[0] * a
        return (2.0 * w)[0] + abs(-w) + (1.0 + v).y + len(v) * a

    assert_gradient(f, 1.2, 0.4, argnums=(0, 1))


@dataclasses.dataclass(frozen=True)
class State:
    position: float
    speed: float

    def step(self, k, dt):
        speed = self.speed - dt * k * self.position
        return dataclasses.replace(self, position=self.position + dt * self.speed, speed=speed)


@dataclasses.dataclass
class Settings:
    a: float
    b: float = 2.0
    history: list = dataclasses.field(default_factory=list)
    fixed: float = dataclasses.field(init=False, default=3.0)

    def __post_init__(self):
        self.a = self.a * 2.0
        self.history.append(self.b)


@dataclasses.dataclass
class MoreSettings(Settings):
    c: float = 1.0


@dataclasses.dataclass
class OwnInit:
    a: float

    def __init__(self, given):
        self.a = given * 5.0


def test_dataclasses_that_compute_when_made():
    def f(x):
        one, two = Settings(x), MoreSettings(x, x, c=x)
        return one.a * one.b + one.history[0] + one.fixed + two.a * two.c * two.history[0] + OwnInit(x).a

    assert_gradient(f, 1.5)


@pytest.mark.parametrize("n", [0, 4])
def test_dataclass_that_a_loop_replaces(n):
    def f(k, start, n):
        s = State(start, k)
        for _ in range(n):
            s = s.step(k, 0.1)
        return s.position**2 + s.speed

    assert_gradient(f, 1.5, 0.3, n, argnums=(0, 1))
    assert_gradient(lambda s, k: s.step(k, 0.1).step(k, 0.2).position, State(1.0, 0.5), 1.5, argnums=(0, 1))


@pytest.mark.parametrize("n", [0, 4])
def test_dict_that_a_loop_replaces(n):
    def f(x, n):
        d = {"a": x, "b": {"c": 1.0}}
        for _ in range(n):
            if d["a"] > 1.7:
                d = {"b": {"c": d["a"]}, "a": d["b"]["c"] * x}
            else:
                d = {key: value * 1.1 if key == "a" else value for key, value in d.items()}
        return d["a"] * d["b"]["c"]

    assert_gradient(f, 1.5, n)


def test_descent_on_a_dict_of_parameters():
    def f(w, n):
        p = {"w": w, "b": 0.5}
        for _ in range(n):
            slope = {"w": 2.0 * p["w"], "b": p["b"] * np.sum(p["w"])}
            p = {key: p[key] - 0.1 * slope[key] for key in p}
        return np.sum(p["w"] ** 2) + p["b"]

    assert_gradient(f, VECTOR, 3)


def test_what_a_loop_makes_is_there_after_it():
    def f(x, n):
        for i in range(n):
            if i == 2:
                continue
            s = State(x * i, x)
            d = {"a": x * i}
        return s.position * s.speed + d["a"]

    assert_gradient(f, 1.5, 4)


def test_best_of_a_loop():
    def f(x, n):
        s = best = State(x, 1.0)
        for _ in range(n):
            s = s.step(x, 0.1)
            if s.position > best.position:
                best = s
        return best.position * best.speed + s.position

    assert_gradient(f, 1.5, 4)


def test_dict_changed_in_place_and_replaced_in_a_loop_is_refused():
    def f(x, n):
        d = {"a": x}
        other = d
        for _ in range(n):
            d["a"] = d["a"] * x
            d = {"a": d["a"] + 1.0}
        return d["a"] * other["a"]

    assert_refused(f, 1.5, 3, line="for _ in range(n):")


@pytest.mark.parametrize("x", [1.5, -1.5])
def test_object_that_a_branch_makes(x):
    def f(x):
        if x > 0.0:
            s = State(x * 2.0, x)
        else:
            s = State(x * 3.0, x * x)
        return s.position * s.speed

    def other_form(x):
        d = {"a": x * 2.0} if x > 0.0 else {"a": x * 3.0, "b": x}
        return d["a"] * d["a"]

    def returned(x):
        def made(v):
            if v > 0.0:
                return State(v * 2.0, v)
            return State(v, v * v)

        s = made(x)
        return s.position * s.speed

    assert_gradient(f, x)
    assert_gradient(other_form, x)
    assert_gradient(returned, x)


@pytest.mark.parametrize("x", [1.5, -1.5])
def test_object_of_two_names_that_a_branch_makes(x):
    def f(x):
        if x > 0.0:
            s = Pair(x * 2.0, x)
            t = s
        else:
            s, t = Pair(x * 3.0, x), Pair(x, x * x)
        return s.x * t.y + t.x

    assert_gradient(f, x)


@pytest.mark.parametrize("x", [1.5, -1.5])
def test_function_that_a_branch_makes(x):
    def scaled(k):
        return lambda v, p=k * 2.0: v * k + p

    def f(x):
        if x > 0.0:
            g = functools.partial(np.multiply, x * x)
            h = scaled(x * x)
        else:
            g = functools.partial(np.add, x * 3.0)
            h = scaled(x * 3.0)
        return g(x) * h(x)

    assert_gradient(f, x)


def test_copies():
    def f(x):
        y, z = copy.copy(x), copy.deepcopy(x)
        y[0] = 2.0
        shallow = copy.copy([x[0], [x[1]]])
        shallow[0] = 1.0
        shallow[1][0] = shallow[1][0] * 2.0
        d = {"a": x[0], "l": [x[1]]}
        deep = copy.deepcopy(d)
        deep["l"][0] = 5.0
        s = copy.copy(Pair(x[0], x[1]))
        s.x = s.x * 2.0
        return np.sum(y * z) + shallow[0] * shallow[1][0] + d["l"][0] * deep["l"][0] * d["a"] + s.x * s.y

    assert_gradient(f, VECTOR)


def test_sorted_with_a_key():
    def f(x):
        a, b = sorted(x, key=lambda v: -v), sorted([x[0], x[1]], key=abs, reverse=True)
        order = sorted(range(3), key=lambda i: x[i])
        pairs = sorted(zip(x, [3, 1, 2]), key=lambda pair: pair[1])
        names = {"b": x[0], "a": x[1]}
        s = sum(names[k] * (i + 2) for i, k in enumerate(sorted(names)))
        return a[0] + 2.0 * a[1] ** 2 + b[0] * 3.0 + x[order[0]] ** 3 + pairs[0][0] * 11.0 + s

    assert_gradient(f, VECTOR)


def test_extremes_with_a_key():
    def f(x):
        return max(x, key=lambda v: abs(v)) ** 2 + min(x[0], x[1], key=lambda v: -v) * 3.0 + min(x, key=abs)

    assert_gradient(f, VECTOR)


def test_r_and_c():
    def f(x):
        a = np.r_[x, 0.0, x[0], 1:3]
        b = np.c_[x, [1.0, 2.0, 3.0]]
        return np.sum(a * np.arange(7.0)) + np.sum(b * b) * b[2, 0]

    assert_gradient(f, VECTOR)


def test_named_tuple_that_a_loop_replaces():
    Point = collections.namedtuple("Point", "x y")

    def f(x, n):
        p = Point(x, 1.0)
        for i in range(n):
            p = p._replace(y=p.y * p.x) if i % 2 else Point(p.y, p.x)
        return p.x * p.y

    assert_gradient(f, 1.5, 4)


class Running:
    def __init__(self, value):
        self.value = value
        self.log = []

    def __iadd__(self, other):
        self.value = self.value + other
        self.log += [other]
        return self


def test_in_place_operators_of_objects_change_the_object():
    def f(x):
        a = Running(x[0])
        same, log = a, a.log
        for k in range(3):
            a += x[k] * a.value
        a += x[1]
        return same.value**2 + sum(log) * len(log)

    assert_gradient(f, VECTOR)


class Factors(NamedTuple):
    first: Any
    second: Any = 1.5

    def product(self):
        return self.first * self.second


def test_methods_of_named_tuples():
    def f(x):
        p = Factors(x[0])
        return p.product() + p._replace(second=x[1]).product()

    assert_gradient(f, VECTOR)
