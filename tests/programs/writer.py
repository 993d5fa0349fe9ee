"""Writes small NumPy programs, by choices that either `random` or Hypothesis makes.

In: a source of choices and a set of features. Out: a `Program` whose function `f` runs without error and
returns a number.

    write(Dice(random.Random(0)), READING).source

The writer keeps the shape of every name that is in scope, so that what it writes fits together, and keeps
values tame: operands are damped or squashed, so that loops neither overflow nor leave the range in which
differences can be trusted. The first of the alternatives is always the simplest, towards which Hypothesis
shrinks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from .program import Program

T = TypeVar("T")
Shape = tuple[int, ...]

#: Programs that write to no array, list or dictionary that something else may see.
READING = frozenset(
    {"branches", "loops", "while", "exits", "helpers", "lists", "dicts", "views", "gathers", "reductions"}
    | {"choices", "matrices", "closures"}
)
#: In-place mutation, in all its forms.
WRITING = frozenset(
    {"stores", "augmented", "masks", "aliases", "branch_aliases", "swaps", "writing_helpers", "alias_helpers"}
    | {"out", "doors", "rows", "list_writes", "list_methods", "dict_writes", "objects", "tries", "zero_d"}
    | {"walrus", "histories", "rings", "surroundings"}
)
EVERYTHING = READING | WRITING
#: What a program may find around it, and what of that it sets at its start, reads and writes.
AROUND = {
    "L0 = [0.5, 2.0]": ("L0[0]", "L0[1]"),
    'D0 = {"s": 0.5, "t": 1.0}': ('D0["s"]', 'D0["t"]'),
    "N0 = [[0.5, 0.2], [1.0]]": ("N0[0][1]", "N0[1][0]"),
    "O0 = types.SimpleNamespace(v=1.0, h=[0.5])": ("O0.v", "O0.h[0]"),
}


class Choices(Protocol):
    """Where decisions come from."""

    def integer(self, low: int, high: int) -> int:
        """A whole number, both ends included."""


class Dice:
    """Choices made by `random`: fast, repeatable from a seed."""

    def __init__(self, rng: random.Random) -> None:
        self.integer = rng.randint


@dataclass(frozen=True)
class Name:
    """What is known of a name in scope.

    `shape` is that of the number or array; for a list or dictionary, that of each of its `keys`' items.
    """

    text: str
    shape: Shape
    keys: tuple[Any, ...] | None = None
    writable: bool = False


@dataclass(frozen=True)
class Helper:
    """A function defined above `f`: the shapes it takes, the shape it returns (None: nothing)."""

    text: str
    shapes: tuple[Shape, ...]
    result: Shape | None
    writes: bool
    alias: bool


def write(choices: Choices, features: frozenset[str]) -> Program:
    """One program, out of the given features."""
    return Writer(choices, features).program()


class Writer:
    """The state of a program while it is written: its lines, and the names in scope."""

    def __init__(self, choices: Choices, features: frozenset[str]) -> None:
        self.choices = choices
        self.features = features
        self.lines: list[str] = []
        self.indent = 0
        self.scope: dict[str, Name] = {}
        self.helpers: list[Helper] = []
        self.count = 0
        self.loops = 0
        self.in_helper = False
        self.returns: Shape | None = ()  # what the function being written returns
        self.counters: list[str] = []  # of the loops around that count
        self.around: tuple[str, ...] = ()  # places in lists, dicts and objects of the surrounding code
        self.fixed: set[str] = set()  # names that an enclosing loop iterates over or counts with

    # -- choices --------------------------------------------------------------------------------------

    def of(self, options: Sequence[T]) -> T:
        return options[self.choices.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.choices.integer(0, 99) >= 100 - percent

    def has(self, *features: str) -> bool:
        return all(feature in self.features for feature in features)

    def constant(self) -> str:
        return self.of(["0.5", "1.0", "-0.7", "1.3", "0.2", "2.0"])

    # -- lines and names ------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def names(
        self, shape: Shape | None = None, writable: bool = False, rank: int | None = None
    ) -> list[Name]:
        """The numbers and arrays in scope, the latest last."""
        return [
            name
            for name in self.scope.values()
            if name.keys is None
            and (shape is None or name.shape == shape)
            and (rank is None or len(name.shape) == rank)
            and (not writable or name.writable)
        ]

    def holders(self, kind: type) -> list[Name]:
        """The lists (`int` keys) or dictionaries (`str` keys) in scope."""
        return [name for name in self.scope.values() if name.keys and type(name.keys[0]) is kind]

    def bind(self, name: Name) -> None:
        self.scope[name.text] = name

    def target(self, shape: Shape, writable: bool) -> str:
        """A name to assign to: a new one, or, in place of what it was, one of the same shape."""
        old = [name.text for name in self.names(shape) if writable or not name.writable]
        old = [text for text in old if text not in self.fixed]
        if old and self.chance(35):
            return self.of(old)
        return self.fresh(letter(shape))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """An indented block; names that it makes are gone after it."""
        before = dict(self.scope)
        self.indent += 1
        yield
        self.indent -= 1
        self.scope = {text: self.scope.get(text, name) for text, name in before.items()}

    # -- expressions ----------------------------------------------------------------------------------

    def expression(self, shape: Shape, depth: int = 2) -> str:
        """An expression of a shape, of moderate size."""
        if depth == 0 or self.chance(15):
            return self.atom(shape)
        forms: list[Callable[[Shape, int], str]] = [self.unary, self.binary, self.binary]
        if shape != ():
            forms += [self.scaled]
        if self.has("choices"):
            forms += [self.choice]
        if shape == () and self.has("reductions"):
            forms += [self.reduction, self.reduction]
        if self.has("matrices") and len(shape) in (1, 2):
            forms += [self.product]
        if self.has("reductions") and len(shape) == 1:
            forms += [self.partial_reduction]
        if shape and self.has("gathers"):
            forms += [self.gather]
        if any(h.result == shape and not h.writes and self.callable(h) for h in self.helpers):
            forms += [self.reading_call]
        return self.of(forms)(shape, depth - 1)

    def atom(self, shape: Shape) -> str:
        options = [name.text for name in reversed(self.names(shape))]
        for name in self.scope.values():
            if name.keys and name.shape == shape:
                options.append(f"{name.text}[{self.key(name)!r}]")
        if shape == ():
            arrays = [name for name in self.names() if name.shape]
            if arrays:
                options.append(self.element(self.of(arrays)))
            options += [f"0.2 * len({h.text})" for h in self.holders(int)[:1]]
            options.append(self.constant())
        else:
            options += self.views_of(shape)
        if not options or self.chance(6):
            return (
                self.constant() if shape == () else self.of([f"np.ones({shape})", f"np.full({shape}, 0.3)"])
            )
        return self.of(options)

    def element(self, name: Name) -> str:
        return f"{name.text}[{', '.join(str(self.of([*range(n), -1])) for n in name.shape)}]"

    def views_of(self, shape: Shape) -> list[str]:
        """Basic indexing of the names in scope that gives the shape."""
        if not self.has("views"):
            return []
        found = []
        for name in self.names():
            text, other = name.text, name.shape
            if len(other) == 2 and other[1:] == shape:
                found.append(f"{text}[{self.of([*range(other[0]), -1])}]")
            if len(other) == 2 and other[:1] == shape:
                found.append(f"{text}[:, {self.of([*range(other[1]), -1])}]")
            if len(shape) == 2 and other == shape[::-1]:
                found.append(f"{text}.T")
            if len(other) == 1 and len(shape) == 1:
                found += [f"{text}[{cut}]" for cut in cuts(other[0], shape[0])]
            if len(other) == 2 and shape == (other[0] * other[1],):
                found.append(f"{text}.ravel()")
        return [self.of(found)] if found else []

    def unary(self, shape: Shape, depth: int) -> str:
        a = self.expression(shape, depth)
        return self.of(
            [
                f"np.sin({a})",
                f"0.5 * ({a})",
                f"-({a})",
                f"np.tanh({a})",
                f"np.cos({a})",
                f"np.exp(-({a}) ** 2)",
                f"1.0 / (1.0 + ({a}) ** 2)",
                f"np.sqrt(1.5 + np.sin({a}))",
                f"0.3 * ({a}) ** 2",
            ]
        )

    def binary(self, shape: Shape, depth: int) -> str:
        a, b = self.expression(shape, depth), self.expression(shape, depth)
        return self.of(
            [
                f"{a} + {b}",
                f"0.7 * ({a}) * ({b})",
                f"({a}) - 0.5 * ({b})",
                f"np.sin({a}) * ({b})",
                f"({a}) / (1.5 + ({b}) ** 2)",
            ]
        )

    def scaled(self, shape: Shape, depth: int) -> str:
        """Broadcasting: with a number, or with a row or a column."""
        a = self.expression(shape, depth)
        if len(shape) == 2 and self.chance(50):
            if self.chance(50):
                return f"({a}) * {self.squashed(shape[1:])}"
            return f"({a}) * {self.squashed(shape[:1])}[:, None]"
        return f"({a}) * ({self.expression((), depth)})"

    def squashed(self, shape: Shape) -> str:
        return f"np.sin({self.atom(shape)})"

    def choice(self, shape: Shape, depth: int) -> str:
        a, b = self.expression(shape, depth), self.expression(shape, depth)
        forms = [f"np.maximum({a}, {b})", f"np.where({self.atom(shape)} > {self.constant()}, {a}, {b})"]
        if shape == ():
            forms.append(f"({a} if {self.condition()} else {b})")
        return self.of([*forms, f"np.minimum({a}, 0.8)", f"np.clip({a}, -0.9, 1.1)"])

    def reduction(self, shape: Shape, depth: int) -> str:
        arrays = [name for name in self.names() if name.shape]
        if not arrays:
            return self.atom(shape)
        other = self.of(arrays).shape
        a = self.expression(other, depth)
        forms = [f"0.5 * np.sum({a})", f"np.mean({a})", f"np.max({a})", f"({a}).sum() * 0.3"]
        if len(other) == 1 and self.has("matrices"):
            b = self.atom(other)
            forms += [f"np.dot({a}, {b})", f"({a}) @ {b}"]
        return self.of([*forms, f"np.sqrt(1.0 + np.sum(({a}) ** 2))", f"np.prod(np.tanh({a}))"])

    def partial_reduction(self, shape: Shape, depth: int) -> str:
        for name in self.names(rank=2):
            if shape == name.shape[1:]:
                return self.of([f"np.sum({name.text}, axis=0)", f"{name.text}.mean(axis=0)"])
            if shape == name.shape[:1]:
                return self.of([f"np.sum({name.text}, axis=1)", f"np.max({name.text}, axis=-1)"])
        return self.of([f"np.cumsum({self.expression(shape, depth)})", self.atom(shape)])

    def product(self, shape: Shape, depth: int) -> str:
        if len(shape) == 2:
            inner = self.of([name.shape for name in self.names(rank=2)] or [shape])[1]
            a, b = self.atom((shape[0], inner)), self.atom((inner, shape[1]))
            outer = f"np.outer(np.sin({self.atom(shape[:1])}), {self.atom(shape[1:])})"
            return self.of([f"0.5 * ({a} @ {b})", outer])
        inner = self.of([name.shape for name in self.names(rank=1)] or [shape])[0]
        return f"0.5 * ({self.atom((shape[0], inner))} @ ({self.expression((inner,), depth)}))"

    def gather(self, shape: Shape, depth: int) -> str:
        options = [name for name in self.names() if name.shape and name.shape[1:] == shape[1:]]
        if not options:
            return self.atom(shape)
        name = self.of(options)
        picks = [self.of(range(name.shape[0])) for _ in range(shape[0])]
        return self.of([f"{name.text}[np.array({picks})]", f"{name.text}[{picks}]"])

    def callable(self, helper: Helper) -> bool:
        return not self.in_helper and all(self.names(shape) or not shape for shape in helper.shapes)

    def reading_call(self, shape: Shape, depth: int) -> str:
        fits = [h for h in self.helpers if h.result == shape and not h.writes and self.callable(h)]
        helper = self.of(fits)
        arguments = [self.expression(s, min(depth, 1)) for s in helper.shapes]
        return f"{helper.text}({', '.join(arguments)})"

    def condition(self) -> str:
        numbers = [name.text for name in self.names(())]
        arrays = [name for name in self.names() if name.shape]
        numbers += [self.element(name) for name in arrays]
        a, b = self.of(numbers), self.constant()
        forms = [f"{a} > {b}", f"{a} < {self.of(numbers)} + 0.1"]
        if arrays:
            name = self.of(arrays).text
            forms += [f"np.sum({name}) > {b}", f"np.any({name} > {b})", f"{a} > {b} and {name}.max() < 1.0"]
        return self.of([*forms, f"not {a} > {b}", f"-1.0 < {a} <= 1.2"])

    def tame(self, shape: Shape) -> str:
        """The right side of an assignment: squashed where a loop could make it grow."""
        text = self.expression(shape)
        if not self.loops:
            return text
        return self.of([f"np.sin({text})", f"np.tanh({text})", f"0.4 * ({text})"])

    # -- statements -----------------------------------------------------------------------------------

    def block(self, length: int, depth: int) -> None:
        for _ in range(length):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        forms = [self.assign, self.assign, self.unpack]
        if self.has("views"):
            forms += [self.view]
        if depth:
            forms += [self.branch] * self.has("branches")
            if self.loops < 2:
                forms += [self.loop, self.loop] * self.has("loops") + [self.while_loop] * self.has("while")
            forms += [self.closure] * (self.has("closures") and not self.in_helper)
        forms += [self.build_list] * self.has("lists") + [self.build_dict] * self.has("dicts")
        forms += [self.build_list] * self.has("list_writes") + [self.build_dict] * self.has("dict_writes")
        forms += [self.leave] * (self.has("exits") and self.indent > 1)
        writable = any(name.shape for name in self.names(writable=True))
        if not writable and self.has("stores"):
            forms += [self.buffer, self.buffer, self.buffer]
        if self.has("stores"):
            forms += [self.buffer]
        if writable:
            forms += [self.store] * 3 * self.has("stores") + [self.augment] * 2 * self.has("augmented")
            forms += [self.perturb] * self.has("stores")
            forms += [self.alias] * 2 * self.has("aliases") + [self.swap] * self.has("swaps")
            forms += [self.branch_alias] * self.has("branch_aliases")
            forms += [self.out] * self.has("out") + [self.door] * self.has("doors")
            forms += [self.mask_store] * self.has("masks") + [self.build_object] * self.has("objects")
            forms += [self.attempt] * (self.has("tries") and depth > 0)
            forms += [self.history] * (self.has("histories") and depth > 0)
            if depth and self.loops < 2:
                forms += [self.rows] * 3 * self.has("rows")
        forms += [self.computation] * 2 * (self.has("tries") and depth > 0)
        forms += [self.zero_d] * self.has("zero_d")
        if depth and self.loops < 2:
            forms += [self.asking_loop] * self.has("walrus")
        if any(h.writes or h.alias for h in self.helpers):
            forms += [self.writing_call] * 2
        forms += [self.augment_number] * self.has("augmented")
        if self.holders(int):
            forms += [self.list_write] * 3 * self.has("list_writes")
            forms += [self.list_method] * 2 * self.has("list_methods")
        if self.holders(str):
            forms += [self.dict_write] * 3 * self.has("dict_writes")
        self.of(forms)(depth)

    def shape(self) -> Shape:
        """A shape that is in use, or a number's."""
        return self.of([*{name.shape: None for name in self.names()}, ()])

    def assign(self, depth: int) -> None:
        shape = self.shape()
        value = self.tame(shape)
        target = self.target(shape, writable=False)
        self.line(f"{target} = {value}")
        self.bind(Name(target, shape))

    def unpack(self, depth: int) -> None:
        shape = self.shape()
        first, second = self.tame(shape), self.tame(shape)
        a = self.target(shape, writable=False)
        b = self.fresh("t")
        self.line(f"{a}, {b} = {first}, {second}")
        self.bind(Name(a, shape))
        self.bind(Name(b, shape))

    def view(self, depth: int) -> None:
        """A name for a part of an array, read from here on."""
        made = self.make_view(self.of([name for name in self.names() if name.shape] or [Name("", ())]))
        if made is None:
            return self.assign(depth)
        text, shape, _ = made
        target = self.fresh("w")
        self.line(f"{target} = {text}")
        self.bind(Name(target, shape))

    def make_view(self, name: Name) -> tuple[str, Shape, bool] | None:
        """An expression that shows a part of an array, its shape, and whether it may be written to."""
        text, shape = name.text, name.shape
        if len(shape) == 1:
            n = shape[0]
            forms: list[tuple[str, Shape, bool]] = [
                (f"{text}[:]", shape, True),
                (f"{text}[::-1]", shape, True),
            ]
            if n > 2:
                forms += [(f"{text}[1:]", (n - 1,), True), (f"{text}[:-1]", (n - 1,), True)]
                forms += [(f"{text}[::2]", ((n + 1) // 2,), True)]
            if n % 2 == 0:
                forms += [(f"{text}.reshape(2, {n // 2})", (2, n // 2), True)]
            forms += [(f"np.asarray({text})", shape, True), (f"{text}[None, :]", (1, n), True)]
            return self.of([*forms, (f"np.broadcast_to({text}, (2, {n}))", (2, n), False)])
        if len(shape) == 2:
            n, m = shape
            forms = [(f"{text}[0]", (m,), True), (f"{text}[:, -1]", (n,), True), (f"{text}.T", (m, n), True)]
            forms += [(f"{text}.reshape(-1)", (n * m,), True), (f"{text}.ravel()", (n * m,), True)]
            forms += [(f"{text}.T.reshape(-1)", (n * m,), True), (f"{text}[::-1, ::-1]", shape, True)]
            if n > 1:
                forms += [(f"{text}[1:]", (n - 1, m), True)]
            if n == 1:
                forms += [(f"{text}.squeeze()", (m,) if m > 1 else (), False)]
            return self.of([*forms, (f"np.diagonal({text})", (min(n, m),), False)])
        return None

    def branch(self, depth: int) -> None:
        self.line(f"if {self.condition()}:")
        with self.inside():
            self.block(self.of([1, 2]), depth - 1)
        for _ in range(self.of([0, 0, 1])):
            self.line(f"elif {self.condition()}:")
            with self.inside():
                self.block(1, depth - 1)
        if self.chance(60):
            self.line("else:")
            with self.inside():
                self.block(self.of([1, 2]), depth - 1)

    def loop(self, depth: int) -> None:
        i = self.fresh("i")
        items: list[tuple[str, list[Name], list[str]]] = [
            (f"for {i} in range({self.of([2, 3, 4, 1])}):", [], []),
            (f"for {i} in reversed(range(3)):", [], []),
        ]
        arrays = self.names(rank=1)
        if arrays:
            a = self.of(arrays)
            items += [(f"for {i} in {a.text}:", [Name(i, ())], [a.text])]
            items += [(f"for {i}, e{i} in enumerate({a.text}):", [Name(f"e{i}", ())], [a.text])]
            same = self.of(self.names(a.shape))
            pair = [Name(f"a{i}", ()), Name(f"b{i}", ())]
            items += [(f"for a{i}, b{i} in zip({a.text}, {same.text}):", pair, [a.text, same.text])]
            items += [(f"for {i} in range(1, len({a.text})):", [], [a.text])]
        matrices = self.names(rank=2)
        if matrices:
            a = self.of(matrices)
            items += [(f"for {i} in {a.text}:", [Name(i, a.shape[1:])], [a.text])]
        if self.holders(int):
            h = self.of(self.holders(int))
            items += [(f"for {i} in {h.text}:", [Name(i, h.shape, writable=h.writable)], [h.text])]
        if self.holders(str):
            d = self.of(self.holders(str))
            item = Name(i, d.shape, writable=d.writable)
            items += [(f"for k{i}, {i} in {d.text}.items():", [item], [d.text])]
        header, names, fixed = self.of(items)
        self.line(header)
        counts = header.startswith((f"for {i} in range", f"for {i} in reversed"))
        self.counters += [i] * counts
        self.loop_body(names, [*fixed, *(name.text for name in names)], depth)
        if counts:
            self.counters.pop()
        if self.chance(10):
            self.line("else:")
            with self.inside():
                self.block(1, 0)

    def loop_body(self, names: list[Name], fixed: list[str], depth: int, last: str | None = None) -> None:
        before = set(self.fixed)
        self.fixed |= set(fixed)
        self.loops += 1
        with self.inside():
            for name in names:
                self.bind(name)
            self.block(self.of([1, 2, 3]), depth - 1)
            if last:
                self.line(last)
        self.loops -= 1
        self.fixed = before

    def while_loop(self, depth: int) -> None:
        n = self.fresh("n")
        self.line(f"{n} = 0")
        self.line(
            f"while {n} < {self.of([2, 3, 4])}" + (f" and {self.condition()}:" if self.chance(50) else ":")
        )
        with self.inside():
            self.line(f"{n} += 1")
        self.loop_body([], [n], depth)

    def asking_loop(self, depth: int) -> None:
        """A `while` whose test binds a name, or calls a helper that writes."""
        n, t = self.fresh("n"), self.fresh("t")
        asked = self.expression((), 1)
        writers = [h for h in self.helpers if h.writes and h.result == () and not self.in_helper]
        if writers and self.chance(50):
            call = self.call_of(self.of(writers))
            asked = asked if call is None else call
        self.line(f"{n} = 0")
        self.line(f"while ({t} := {asked}) < {self.constant()} and {n} < {self.of([2, 3])}:")
        with self.inside():
            self.line(f"{n} += 1")
        self.loop_body([Name(t, ())], [n, t], depth)
        self.bind(Name(t, ()))

    def attempt(self, depth: int) -> None:
        """A `try` in which something may be raised after something was written."""
        simple = [self.augment, self.mask_store, self.assign]  # each of them writes once
        self.line("try:")
        with self.inside():
            self.of(simple)(0)
            self.line(f"if {self.condition()}:")
            self.line("    raise ValueError")
            self.of(simple)(0)
        self.line("except ValueError:")
        with self.inside():
            self.of(simple)(0)

    def computation(self, depth: int) -> None:
        """A `try` whose body computes in several steps, the last of which binds what is read later.

        It may be left half-way by an exception, at any step by a jump, and have an `else` and a `finally`.
        """
        shape = self.shape()
        steps = [self.fresh("v") for _ in range(self.of([1, 2]))]
        result, after = self.fresh("v"), [self.target((), writable=False)] if self.chance(30) else []
        for name in after:
            self.line(f"{name} = {self.tame(())}")
            self.bind(Name(name, ()))
        self.line("try:")
        with self.inside():
            for step in steps:
                self.line(f"{step} = {self.tame(shape)}")
                self.bind(Name(step, shape))
                if self.chance(50):
                    self.line(f"if {self.condition()}:")
                    with self.inside():
                        if self.chance(40):
                            self.line(f"{step} = {self.tame(shape)}")
                        elif self.has("exits") and self.indent > 2 and self.chance(40):
                            self.line(self.jump())
                        else:
                            self.line("raise ValueError")
            self.line(f"{result} = {self.tame(shape)}")
        self.line("except ValueError:")
        with self.inside():
            self.line(f"{result} = {self.tame(shape)}")
            if self.has("exits") and self.indent > 2 and self.chance(20):
                self.line(self.jump())
        self.bind(Name(result, shape))
        if self.chance(20):
            self.line("else:")
            with self.inside():
                self.line(f"{result} = {self.tame(shape)}")
        for name in after:
            self.line("finally:")
            self.line(f"    {name} = {self.tame(())}")

    def leave(self, depth: int) -> None:
        """`break`, `continue` or an early `return`, under a condition."""
        self.line(f"if {self.condition()}:")
        self.line("    " + self.jump())

    def jump(self) -> str:
        returned = "return" if self.returns is None else f"return {self.expression(self.returns, 1)}"
        return self.of(["break", "continue", returned] if self.loops else [returned])

    # -- lists and dictionaries -----------------------------------------------------------------------

    def key(self, holder: Name) -> Any:
        """A key of a list or dictionary."""
        keys = holder.keys or ()
        return self.of(keys if isinstance(keys[0], str) else [*keys, -1])

    def held(self, shape: Shape) -> tuple[Callable[[], str], bool]:
        """What makes the items of a list or dictionary, and whether they are all arrays to write to."""
        buffers = [name.text for name in self.names(shape, writable=True)] if shape else []
        if buffers and self.has("aliases") and self.chance(60):
            return lambda: self.of([*buffers, f"{buffers[-1]} * 1.0"]), True
        return lambda: self.atom(shape), False

    def build_list(self, depth: int) -> None:
        shape = self.shape()
        h = self.fresh("h")
        n = self.of([2, 3])
        item, writable = self.held(shape)
        forms = [f"{h} = [{', '.join(item() for _ in range(n))}]"]
        vectors = self.names(rank=1)
        if shape == () and vectors:
            v = self.of(vectors)
            n, forms = v.shape[0], [f"{h} = [np.sin(e) * e for e in {v.text}]"]
        self.line(self.of(forms))
        self.bind(Name(h, shape, tuple(range(n)), writable))

    def build_dict(self, depth: int) -> None:
        shape = self.shape()
        d = self.fresh("d")
        item, writable = self.held(shape)
        self.line(f'{d} = {{"u": {item()}, "w": {item()}}}')
        self.bind(Name(d, shape, ("u", "w"), writable))

    def list_write(self, depth: int) -> None:
        self.write_item(self.of(self.holders(int)), depth)

    def dict_write(self, depth: int) -> None:
        self.write_item(self.of(self.holders(str)), depth)

    def write_item(self, holder: Name, depth: int) -> None:
        """A store of an item, a swap of two, or a store into one that is an array."""
        if holder.text in self.fixed:
            return self.assign(depth)
        one, other = (f"{holder.text}[{self.key(holder)!r}]" for _ in range(2))
        shape = holder.shape
        forms = [f"{one} = 0.9 * ({self.tame(shape)})", f"{one}, {other} = {other}, {one}"]
        if shape == ():
            forms.append(f"{one} += {self.expression((), 1)}")
        if holder.writable:
            index, part = self.index(shape)
            forms += [f"{one}[{index}] = {self.tame(part)}", f"{one}[{index}] *= 0.8"]
            forms += [f"{one} += 0.5 * np.sin({self.expression(shape, 1)})", f"{one} *= {self.constant()}"]
        self.line(self.of(forms))

    def list_method(self, depth: int) -> None:
        """`append` anywhere; `pop` where the length is known to allow it."""
        h = self.of(self.holders(int))
        keys = h.keys or ()
        if h.text in self.fixed:
            return self.assign(depth)
        if self.indent == 1 and len(keys) > 2 and self.chance(25):
            return self.drain(h)
        if self.indent == 1 and len(keys) > 2 and self.chance(50):
            target = self.fresh(letter(h.shape))
            self.line(f"{target} = {h.text}.pop({self.of(['', '0', '-1'])})")
            self.bind(Name(target, h.shape, writable=h.writable))
            self.bind(replace(h, keys=keys[:-1]))
            return
        self.line(f"{h.text}.append(0.9 * ({self.tame(h.shape)}))")
        if self.indent == 1:
            self.bind(replace(h, keys=(*keys, len(keys))))

    def drain(self, h: Name) -> None:
        """Take items of a list until one is left; how many there still are counts."""
        total, item = self.fresh("s"), self.fresh(letter(h.shape))
        self.line(f"{total} = {self.atom(())}")
        self.line(f"while len({h.text}) > 1:")
        self.line(f"    {item} = {h.text}.pop({self.of(['', '0', '-1'])})")
        self.line(f"    {total} += {self.of(['', f'{total} * '])}np.sum({item}) * len({h.text})")
        self.bind(Name(total, ()))
        self.bind(replace(h, keys=(0,)))

    def build_object(self, depth: int) -> None:
        """An object that holds a buffer and a number, which are names like all others from here on."""
        if self.in_helper:
            return self.buffer(depth)
        held, name = self.written(), self.fresh("o")
        self.line(f"{name} = types.SimpleNamespace(u={held.text}, k={self.atom(())})")
        self.bind(Name(f"{name}.u", held.shape, writable=True))
        self.bind(Name(f"{name}.k", ()))

    def history(self, depth: int) -> None:
        """A list that grows in a loop, of arrays that are written to; then it is read as a whole."""
        vectors = [name for name in self.names(rank=1) if name.text not in self.fixed]
        if not vectors:
            return self.buffer(depth)
        name, h, m, i = self.of(vectors), self.fresh("h"), self.fresh("m"), self.fresh("i")
        n, rows = name.shape[0], self.of([2, 3])
        made = self.of([f"{name.text} * 0.5", f"np.sin({name.text})", f"{name.text}.copy()"])
        self.line(f"{h} = []")
        self.line(f"for {i} in range({rows}):")
        self.line(f"    {h}.append({made})")
        at, sign = self.of([0, -1, f"{i} % {n}"]), self.of(["=", "+=", "*="])
        self.line(f"    {h}[-1][{at}] {sign} {self.atom(())}")
        if self.chance(30):
            self.line(f"{h} = {h}[1:] + {h}[:1]")
        self.line(f"{m} = {self.of(['np.array', 'np.stack', 'np.vstack'])}({h})")
        if self.chance(40):
            self.line(f"{h}[0] *= {self.constant()}")
        self.bind(Name(m, (rows, n), writable=True))
        self.bind(Name(h, name.shape, tuple(range(rows)), writable=True))

    def zero_d(self, depth: int) -> None:
        """An array of no dimensions, written to."""
        z = self.fresh("z")
        self.line(f"{z} = np.array({self.expression((), 1)})")
        form = self.of(["{0} += {1}", "{0}[...] = {1}", "{0}[()] *= {1}", "{0} *= {1}"])
        self.line(form.format(z, f"0.7 * np.sin({self.expression((), 1)})"))
        self.bind(Name(z, ()))

    # -- in-place mutation ----------------------------------------------------------------------------

    def written(self) -> Name:
        """An array that may be written to, the latest most likely."""
        options = [name for name in self.names(writable=True) if name.shape]
        return options[-1] if self.chance(40) else self.of(options)

    def buffer(self, depth: int) -> None:
        """A new array to write to."""
        shape = self.of([s for s in dict.fromkeys(name.shape for name in self.names()) if s] or [(4,)])
        target = self.target(shape, writable=True)
        same = self.names(shape)
        forms = [f"{target} = np.zeros({shape})", f"{target} = {self.tame(shape)} + np.zeros({shape})"]
        if same:
            a = self.of(same).text
            forms += [f"{target} = {a}.copy()", f"{target} = np.zeros_like({a})", f"{target} = {a} * 1.0"]
        self.line(self.of(forms))
        self.bind(Name(target, shape, writable=True))

    def index(self, shape: Shape) -> tuple[str, Shape]:
        """An index into an array of a shape, and the shape of what it names."""
        n, rest = shape[0], shape[1:]
        if self.counters and self.has("rings") and self.chance(30):
            return f"({self.of(self.counters)} + {self.of([0, 1, 2])}) % {n}", rest
        forms: list[tuple[str, Shape]] = [(str(self.of([*range(n), -1])), rest), (":", shape), ("...", shape)]
        forms += [("::-1", shape), ("::2", ((n + 1) // 2, *rest)), ("None", (1, *shape))]
        if n > 1:
            forms += [("1:", (n - 1, *rest)), (":-1", (n - 1, *rest)), ("-1:0:-1", (n - 1, *rest))]
        if rest:
            m = rest[0]
            column = self.of([*range(m), -1])
            forms += [(f":, {column}", (n,)), (f"{self.of(range(n))}, {column}", ()), (":, ::-1", shape)]
            forms += [(f"..., {column}", (n,))]
        if self.has("gathers"):
            picks = [self.of(range(n)) for _ in range(self.of([2, 3]))]
            forms += [(f"np.array({picks})", (len(picks), *rest)), (f"{picks}", (len(picks), *rest))]
        return self.of(forms)

    def store(self, depth: int) -> None:
        name = self.written()
        index, shape = self.index(name.shape)
        value = self.tame(shape) if self.chance(70) else self.tame(())
        if self.has("augmented") and self.chance(35):
            operator = self.of(["+=", "-=", "*="])
            factor = f"0.8 * np.tanh({value})"
            self.line(f"{name.text}[{index}] {operator} {factor}")
        elif len(name.shape) == 1 and name.shape[0] > 2 and self.chance(20):
            self.line(self.of(OVERLAPS).format(name.text))
        elif self.chance(10):
            other = self.of([n for n in self.names(name.shape, writable=True)])
            self.line(f"{name.text}[{index}] = {other.text}[{index}] = {value}")
        else:
            self.line(f"{name.text}[{index}] = {value}")

    def perturb(self, depth: int) -> None:
        """Change a part of an array, look at the whole, and put back what was there."""
        name, old = self.written(), self.fresh("t")
        index, shape = self.index(name.shape)
        self.line(f"{old} = {name.text}[{index}]{self.of(['', ' * 1.0']) if shape == () else ' * 1.0'}")
        operator = self.of(["+=", "*=", "="])
        self.line(f"{name.text}[{index}] {operator} {self.tame(self.of([shape, ()]))}")
        if self.chance(50):
            total = self.fresh("s")
            self.line(f"{total} = np.sum(np.sin({name.text}))")
            self.bind(Name(total, ()))
        self.line(f"{name.text}[{index}] = {self.of([old, f'{old} * {self.constant()}'])}")

    def mask_store(self, depth: int) -> None:
        name = self.written()
        mask = self.of([f"{name.text} > {self.constant()}", f"{self.atom(name.shape)} < {self.constant()}"])
        self.line(f"{name.text}[{mask}] {self.of(['=', '+=', '*='])} {self.expression((), 1)}")

    def augment(self, depth: int) -> None:
        name = self.written()
        value = self.expression(self.of([name.shape, name.shape, ()]), 1)
        operator = self.of(["+=", "-=", "*=", "/="])
        text = f"1.2 + np.sin({value})" if operator == "/=" else f"0.7 * np.sin({value})"
        self.line(f"{name.text} {operator} {text}")

    def augment_number(self, depth: int) -> None:
        options = [name for name in self.names(()) if name.text not in self.fixed]
        if not options:
            return self.assign(depth)
        self.line(f"{self.of(options).text} {self.of(['+=', '-=', '*='])} {self.tame(())}")

    def alias(self, depth: int) -> None:
        """Another name for a buffer or a part of it, written through from here on."""
        name = self.written()
        made = self.make_view(name) if self.chance(70) else (name.text, name.shape, True)
        if made is None:
            return self.assign(depth)
        text, shape, writable = made
        if not shape:
            return self.assign(depth)
        target = self.target(shape, writable=writable)
        if not writable:
            target = self.fresh("w")
        self.line(f"{target} = {text}")
        self.bind(Name(target, shape, writable=writable))

    def branch_alias(self, depth: int) -> None:
        name = self.written()
        other = self.of(self.names(name.shape, writable=True))
        target = self.fresh("p")
        self.bind(Name(target, name.shape, writable=True))
        if self.chance(50):
            self.line(f"{target} = {name.text} if {self.condition_without(target)} else {other.text}")
        else:
            self.line(f"if {self.condition_without(target)}:")
            self.line(f"    {target} = {name.text}")
            self.line("else:")
            self.line(f"    {target} = {self.of([other.text + '[::-1]', other.text + ' * 1.0'])}")

    def condition_without(self, text: str) -> str:
        kept = self.scope.pop(text)
        condition = self.condition()
        self.bind(kept)
        return condition

    def swap(self, depth: int) -> None:
        name = self.written()
        others = [n for n in self.names(name.shape, writable=True) if n.text != name.text]
        if not others or {name.text, others[0].text} & self.fixed:
            return self.buffer(depth)
        other = self.of(others)
        if other.text in self.fixed:
            return self.buffer(depth)
        self.line(f"{name.text}, {other.text} = {other.text}, {name.text}")

    def out(self, depth: int) -> None:
        name = self.written()
        shape = name.shape
        a, b = self.atom(shape), self.expression(shape, 1)
        forms = [f"np.sin({b}, out={name.text})", f"np.multiply(np.cos({a}), 0.6, out={name.text})"]
        forms += [f"np.add({a}, 0.3 * np.sin({b}), out={name.text})", f"np.tanh({a}, {name.text})"]
        if shape[0] > 1:
            cut = (shape[0] - 1, *shape[1:])
            forms.append(f"np.subtract({name.text}[:-1], {self.expression(cut, 1)}, out={name.text}[1:])")
        self.line(self.of(forms))

    def door(self, depth: int) -> None:
        """The other ways of writing into an array."""
        name = self.written()
        text, shape = name.text, name.shape
        picks = [self.of(range(shape[0])) for _ in range(3)]
        value = self.tame((3, *shape[1:]))
        forms = [
            f"np.add.at({text}, np.array({picks}), {value})",
            f"np.copyto({text}, {self.tame(shape)})",
            f"{text}.fill({self.expression((), 1)})",
            f"np.copyto({text}, {self.expression((), 1)}, where={text} > {self.constant()})",
            f"{text}.flat[{self.of([0, 1])}] = {self.expression((), 1)}",
            f"np.putmask({text}, {text} > {self.constant()}, {self.expression((), 1)})",
            f"np.multiply({text}, 0.7, out={text}, where={text} > {self.constant()})",
            f"np.put({text}, {picks}, {self.tame((3,))})",
            f"np.place({text}, {text} > {self.constant()}, {self.tame((3,))})",
            f"np.subtract.at({text}, {picks}, {value})",
            f"{text}.flat[::2] = {self.expression((), 1)}",
            f"np.maximum({text}, {self.constant()}, out={text})",
            f"{text}.sort()",
            f"{text}[[0, -1]] = {text}[[-1, 0]]",
        ]
        if len(shape) == 2:
            forms += [f"{text}.T[0] = {self.tame(shape[:1])}", f"{text}[0][1:] = {self.expression((), 1)}"]
            forms += [f"np.fill_diagonal({text}, {self.expression((), 1)})"]
        self.line(self.of(forms))

    def rows(self, depth: int) -> None:
        matrices = self.names(rank=2, writable=True)
        if not matrices:
            return self.store(depth)
        name = self.of(matrices)
        row = self.fresh("r")
        shape = name.shape[1:]
        self.line(f"for {row} in {name.text}:")
        self.scope[row] = Name(row, shape, writable=True)
        forms = [
            f"{row}[:] = {self.expression(shape, 1)}",
            f"{row} *= 0.8",
            f"{row}[0] = {self.expression((), 1)}",
        ]
        body = self.of(forms)
        del self.scope[row]
        self.line(f"    {body}")

    # -- helpers --------------------------------------------------------------------------------------

    def closure(self, depth: int) -> None:
        """A nested function over what is in scope, called at once."""
        shape = self.shape()
        g, x = self.fresh("g"), self.fresh("x")
        self.line(f"def {g}({x}):")
        before = dict(self.scope)
        self.bind(Name(x, shape))
        self.line(f"    return {self.expression(shape, 1)}")
        self.scope = before
        target = self.fresh(letter(shape))
        call = f"{g}({self.atom(shape)})"
        self.line(f"{target} = {call}" + (f" + 0.5 * {g}({self.atom(shape)})" if self.chance(40) else ""))
        self.bind(Name(target, shape))

    def define_helper(self, shapes: Sequence[Shape]) -> None:
        kinds = ["read"] * self.has("helpers") + ["write", "write"] * self.has("writing_helpers")
        kinds += ["alias"] * self.has("alias_helpers")
        if not kinds:
            return
        kind = self.of(kinds)
        scope, self.scope = self.scope, {}
        self.in_helper = True
        name = f"helper{len(self.helpers) + 1}"
        arrays = [shape for shape in shapes if shape] or [(4,)]
        taken = tuple(self.of(arrays) for _ in range(self.of([1, 2])))
        if kind == "alias":
            taken = (taken[0],) * len(taken)
        taken += ((),) * self.of([0, 1])
        for number, shape in enumerate(taken):
            self.bind(Name(f"q{number}", shape, writable=bool(shape) and kind != "read"))
        self.line(f"def {name}({', '.join(self.scope)}):")
        result: Shape | None
        self.indent += 1
        if kind == "alias":
            result = taken[0]
            if self.has("stores") and self.chance(50):
                self.store(0)
            if len(taken) > 1 and taken[1] == taken[0]:
                self.line(f"if {self.condition()}:")
                self.line("    return q1")
            self.line(f"return {self.of(['q0', 'q0[::-1]', 'q0[:]'])}")
        else:
            result = self.of([(), *taken, None] if kind == "write" else [(), *taken])
            self.returns = result
            self.block(self.of([1, 2]), 1)
            self.returns = ()
            if result is not None:
                self.line(f"return {self.expression(result, 1)}")
            elif self.lines[-1].lstrip().startswith("def"):
                self.line("pass")
        self.indent -= 1
        self.line("")
        self.in_helper = False
        self.scope = scope
        self.helpers.append(Helper(name, taken, result, kind != "read", kind == "alias"))

    def call_of(self, helper: Helper) -> str | None:
        """A call of a helper that writes to its arrays; None if there are none of the right shapes."""
        arguments = []
        for shape in helper.shapes:
            options = (
                [n.text for n in self.names(shape, writable=True)] if shape else [self.expression((), 1)]
            )
            if not options:
                return None
            arguments.append(self.of(options))
        return f"{helper.text}({', '.join(arguments)})"

    def writing_call(self, depth: int) -> None:
        helper = self.of([h for h in self.helpers if h.writes])
        call = self.call_of(helper)
        if call is None:
            return self.buffer(depth)
        if self.in_helper:
            return self.assign(depth)
        if helper.result is None or self.chance(15):
            self.line(call)
            return
        target = self.fresh("c")
        self.line(f"{target} = {call}")
        self.bind(Name(target, helper.result, writable=helper.alias))

    # -- the whole ------------------------------------------------------------------------------------

    def program(self) -> Program:
        n, rows = self.of([4, 3, 5]), self.of([2, 3])
        shapes: list[Shape] = [self.of([(n,), ()])]
        for _ in range(self.of([0, 1, 2])):
            shapes.append(self.of([(), (n,), (rows, n), (rows, n)] if self.has("matrices") else [(), (n,)]))
        if (n,) not in shapes:
            shapes[-1] = (n,)
        if self.features & {"helpers", "writing_helpers", "alias_helpers"}:
            for _ in range(self.of([0, 0, 1, 2])):
                self.define_helper(shapes)
                self.line("")
        around = [self.of(list(AROUND))] if self.has("surroundings") and self.chance(15) else []
        for each in around:
            self.line(each)
            self.line("")
            self.around = AROUND[each]
        writable = self.has("stores")
        for letter, shape in zip("xyz", shapes):
            self.bind(Name(letter, shape, writable=writable and bool(shape)))
        self.line(f"def f({', '.join(self.scope)}):")
        self.indent += 1
        for place in self.around:
            self.line(f"{place} = {self.tame(())}")
        for place in self.around:
            self.bind(Name(place, ()))
        self.block(self.of([2, 3, 4, 5, 6, 7, 8, 9]), 2)
        self.line(f"return {self.result()}")
        values = np.random.default_rng(self.choices.integer(0, 999))
        args = [np.round(values.normal(size=shape), 3) for shape in shapes]
        source = "\n".join(self.lines) + "\n"
        return Program(source, tuple(arg if arg.ndim else float(arg) for arg in args))

    def result(self) -> str:
        """A number that depends on much of what is in scope."""
        terms = []
        for name in list(self.scope.values())[-6:]:
            texts = [f"{name.text}[{key!r}]" for key in name.keys[:2]] if name.keys else [name.text]
            terms += [f"np.sum(np.sin({text}))" if name.shape else text for text in texts]
        terms += [place for place in self.around if place not in terms]
        return " + ".join(f"{weight} * {term}" for weight, term in zip(WEIGHTS, reversed(terms)))


def letter(shape: Shape) -> str:
    """What names of a shape begin with."""
    return "svm"[len(shape)]


#: Stores whose right side shares memory with the left.
OVERLAPS = ["{0}[1:] = {0}[:-1]", "{0}[::-1] = {0}", "{0}[:-1] = {0}[1:] * 0.9", "{0}[:2] = {0}[-2:]"]

WEIGHTS = [1.0, 0.7, 1.3, 0.5, -0.9, 0.3, 1.1, -0.4, 0.8, 0.6, 1.2, -0.2]


def cuts(have: int, want: int) -> list[str]:
    """Slices of a vector of length `have` that are of length `want`."""
    if want >= have:
        return ["::-1"] if want == have else []
    found = [f"{have - want}:", f":{want}"]
    if (have + 1) // 2 == want:
        found.append("::2")
    return found
