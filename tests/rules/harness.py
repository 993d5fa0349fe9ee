"""How a rule is tested: each of its samples, through the rule, against differences of the operation itself.

In: a rule from the table. Out: `Case`s, one for each function and sample that go together, and the checks
that `test_table.py` runs on each.

    for case in cases(lookup(np.sin)):
        check_adjoint(case)

Inner products are over pairs of real numbers, Re(conj(a) * b), by the package's convention for complex ones.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adjoin.runtime.rule import Rule

STEP = 1e-3


@dataclass(frozen=True)
class Case:
    """One call of one operation, bound to the parameters of its rule."""

    rule: Rule
    function: Callable[..., Any]
    given: inspect.BoundArguments

    def __str__(self) -> str:
        parts = [f"{name}={short(value)}" for name, value in self.given.arguments.items()]
        return f"{path(self.function)}({', '.join(parts)})"

    @property
    def active(self) -> tuple[str, ...]:
        """The differentiable parameters that hold floats in this sample."""
        return tuple(
            n for n in self.rule.wrt if n in self.given.arguments and is_float(self.given.arguments[n])
        )

    def value(self, **changes: Any) -> Any:
        """The operation's result, some parameters replaced."""
        given = inspect.BoundArguments(self.given.signature, {**self.given.arguments, **changes})
        with np.errstate(all="ignore"):
            return self.function(*given.args, **given.kwargs)

    def is_taken(self) -> bool:
        """Whether the function takes these arguments at all."""
        try:
            self.value()
        except (TypeError, ValueError):
            return False
        return True

    def bound(self) -> dict[str, Any]:
        """What `Rule.bind` makes of the arguments."""
        return self.rule.bind(self.given.args, self.given.kwargs)


# -- the cases of a rule -------------------------------------------------------------------------------


def sample_arguments(sample: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A sample's positional and keyword arguments; the latter are a dict with names, at its end."""
    sample = sample() if callable(sample) else sample
    if sample and isinstance(sample[-1], dict) and all(isinstance(key, str) for key in sample[-1]):
        return tuple(sample[:-1]), sample[-1]
    return tuple(sample), {}


def cases(rule: Rule) -> list[Case]:
    """Every function of the rule with every sample that it takes.

    `math.sin` takes no arrays: such a sample is left out for it. But each function has some sample, and each
    sample some function.
    """
    found = []
    assert rule.signature is not None
    given = [rule.signature.bind(*args, **kwargs) for args, kwargs in map(sample_arguments, rule.samples)]
    rejected = []
    for function in rule.functions:
        taken = [case for case in (Case(rule, function, one) for one in given) if case.is_taken()]
        assert taken, f"no sample of {rule} can be given to {path(function)}"
        rejected.append({id(one) for one in given} - {id(case.given) for case in taken})
        found += taken
    useless = set.intersection(*rejected) if rejected else set()
    assert not useless, (
        f"{rule}: no function takes the samples {[i for i, g in enumerate(given) if id(g) in useless]}"
    )
    return found


def path(function: Any) -> str:
    """A name to find a function by.

    >>> path(np.add.reduce)
    'np.add.reduce'
    """
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{function.__name__}"
    module = str(getattr(function, "__module__", None) or "").replace("numpy", "np")
    name = str(getattr(function, "__qualname__", function))
    return f"{module}.{name}" if module and module != "builtins" else name


def short(value: Any) -> str:
    """A value for the name of a test."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.char}{list(value.shape)}"
    if isinstance(value, tuple | list) and value and any(isinstance(v, np.ndarray) for v in value):
        return "[" + ", ".join(short(v) for v in value) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(getattr(value, "__name__", value))


# -- nests of numbers ----------------------------------------------------------------------------------


def leaves(tree: Any) -> Iterator[Any]:
    """The numbers and arrays of nested tuples, lists and dicts."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, tuple | list):
        for part in tree:
            yield from leaves(part)
    else:
        yield tree


def mapped(f: Callable[[Any], Any], tree: Any) -> Any:
    """`f` at every leaf."""
    if isinstance(tree, dict):
        return {key: mapped(f, part) for key, part in tree.items()}
    if isinstance(tree, tuple | list):
        parts = [mapped(f, part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return f(tree)


def zipped(f: Callable[..., Any], tree: Any, other: Any) -> Any:
    """`f` at every pair of leaves."""
    others = iter(list(leaves(other)))
    return mapped(lambda leaf: f(leaf, next(others)), tree)


def is_float(tree: Any) -> bool:
    """Whether a nest holds floats or complex numbers; what else it holds (subscripts) has no direction."""
    return any(np.asarray(part).dtype.kind in "fc" for part in leaves(tree))


def random_like(tree: Any, rng: np.random.Generator) -> Any:
    """Normal numbers, complex where the nest's are, in its shapes and dtypes; None for integers."""

    def one(leaf: Any) -> Any:
        dtype = np.asarray(leaf).dtype
        if dtype.kind not in "fc":
            return None
        values = rng.normal(size=np.shape(leaf))
        if dtype.kind == "c":
            values = values + 1j * rng.normal(size=np.shape(leaf))
        if isinstance(leaf, np.ndarray | np.generic):
            return np.asarray(values).astype(dtype)[()] if np.ndim(leaf) else dtype.type(values)
        return type(leaf)(values)

    return mapped(one, tree)


def inner(a: Any, b: Any) -> tuple[float, float]:
    """The real inner product of two nests, and the size of what was summed."""
    total = size = 0.0
    for x, y in zip(leaves(a), leaves(b), strict=True):
        if x is None or y is None:
            continue
        product = np.real(np.conj(x) * y)
        total += float(np.sum(product))
        size += float(np.sum(np.abs(product)))
    return total, size


def moved(tree: Any, direction: Any, step: float) -> Any:
    """``tree + step * direction``."""

    def one(leaf: Any, d: Any) -> Any:
        if d is None:
            return leaf
        return np.asarray(leaf + step * d) if isinstance(leaf, np.ndarray) else leaf + step * d

    return zipped(one, tree, direction)


# -- the checks ----------------------------------------------------------------------------------------


def generator(case: Case) -> np.random.Generator:
    """Random numbers of its own for each case, the same every time."""
    return np.random.default_rng(zlib.crc32(str(case).encode()))


def adjoints(case: Case, seed: Any, active: tuple[str, ...]) -> dict[str, Any]:
    """The adjoints by name, as the eager runtime would ask for them."""
    bound = case.bound()
    out = case.value() if "out" in case.rule.needs(active) else None
    with np.errstate(all="ignore"):
        return dict(zip(active, case.rule.vjp(active, seed, out, bound), strict=True))


def check_adjoint(case: Case, rtol: float = 1e-7) -> None:
    """The adjoint against differences in a random direction, at two steps extrapolated; shapes and dtypes."""
    rng = generator(case)
    given = {name: case.given.arguments[name] for name in case.active}
    assert given, "a sample in which nothing is active"
    direction = random_like(given, rng)
    seed = random_like(case.value(), rng)
    bars = adjoints(case, seed, case.active)
    for name in given:
        assert_like(bars[name], given[name], f"adjoint of {name}")
        alone = adjoints(case, seed, (name,))[name]
        for a, b in zip(leaves(alone), leaves(bars[name]), strict=True):
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-13, err_msg=f"{name}, alone and with others")
    if is_narrower(case.value(), given):
        return  # differences would be of rounded numbers; the tangent is compared all the same
    estimates = [difference(case, given, direction, seed, step) for step in (STEP, STEP / 2)]
    expected = (4 * estimates[1] - estimates[0]) / 3
    found, size = inner(bars, direction)
    scale = max(size, abs(expected), 0.1)
    assert abs(estimates[1] - estimates[0]) < 1e-2 * scale, f"differences disagree: {estimates}"
    assert abs(found - expected) < rtol * scale, f"adjoint {found}, differences {expected}"


def is_narrower(value: Any, given: Any) -> bool:
    """Whether the result has less precision than what went in."""
    return bool(
        np.result_type(1j, *leaves_of_floats(value)).itemsize
        < 16
        <= np.result_type(1j, *leaves_of_floats(given)).itemsize
    )


def leaves_of_floats(tree: Any) -> list[np.dtype[Any]]:
    """The dtypes of the floats and complex numbers in a nest."""
    return [np.asarray(leaf).dtype for leaf in leaves(tree) if np.asarray(leaf).dtype.kind in "fc"]


def difference(case: Case, given: dict[str, Any], direction: Any, seed: Any, step: float) -> float:
    """The central difference of ``inner(seed, value)``."""
    ahead, behind = (case.value(**moved(given, direction, h)) for h in (step, -step))
    total = 0.0
    for a, b, g in zip(leaves(ahead), leaves(behind), leaves(seed), strict=True):
        if g is not None:
            change = np.where(np.equal(a, b), 0, np.subtract(a, b))
            total += float(np.nansum(np.real(np.conj(g) * change)))
    return total / (2 * step)


def check_tangent(case: Case) -> None:
    """The dot-product identity: <seed, tangent(direction)> is <adjoint(seed), direction>."""
    rng = generator(case)
    given = {name: case.given.arguments[name] for name in case.active}
    direction = random_like(given, rng)
    value = case.value()
    seed = random_like(value, rng)
    tangent = tangent_of(case, direction)
    assert_like(tangent, value, "tangent")
    left, size = inner(seed, tangent)
    right, other_size = inner(adjoints(case, seed, case.active), direction)
    assert abs(left - right) <= 1e-10 * max(size, other_size, 1e-3), (
        f"{left} from the tangent, {right} from the adjoint"
    )


def tangent_of(case: Case, direction: dict[str, Any]) -> Any:
    """The tangent of the result."""
    with np.errstate(all="ignore"):
        return case.rule.tangent(direction, case.value(), case.bound())


def check_single_precision(case: Case) -> None:
    """In single precision: adjoints and tangents are single too, and near those in double."""
    rng = generator(case)
    given = {name: case.given.arguments[name] for name in case.active}
    direction = random_like(given, rng)
    seed = random_like(case.value(), rng)
    bars = adjoints(case, seed, case.active)

    single_given = single(given)
    small = replace(
        case,
        given=inspect.BoundArguments(case.given.signature, {**case.given.arguments, **single_given}),
    )
    value = small.value()
    single_seed = zipped(
        lambda leaf, g: (
            None
            if g is None
            else np.asarray(leaf).dtype.type(g)
            if np.ndim(leaf) == 0
            else np.asarray(g, leaf.dtype)
        ),
        value,
        seed,
    )
    single_bars = adjoints(small, single_seed, case.active)
    for name in given:
        assert_like(single_bars[name], single_given[name], f"single-precision adjoint of {name}")
        for a, b in zip(leaves(single_bars[name]), leaves(bars[name]), strict=True):
            if a is None:
                continue
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * (1 + float(np.max(np.abs(b), initial=0))))
    assert_like(tangent_of(small, single(direction)), value, "single-precision tangent")


def single(tree: Any) -> Any:
    """Arrays and NumPy scalars in single precision; Python's numbers as they are."""

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | np.generic) or leaf.dtype.kind not in "fc":
            return leaf
        return leaf.astype(np.complex64 if leaf.dtype.kind == "c" else np.float32)

    return mapped(one, tree)


def assert_like(found: Any, model: Any, what: str) -> None:
    """Same structure, same shapes, and the same dtypes where the model has one."""
    parts, models = list(leaves(found)), list(leaves(model))
    assert len(parts) == len(models), f"{what}: {len(parts)} parts for {len(models)}"
    for part, one in zip(parts, models, strict=True):
        if part is None:
            continue
        assert np.shape(part) == np.shape(one), f"{what}: shape {np.shape(part)} for {np.shape(one)}"
        kind = np.asarray(one).dtype.kind
        if isinstance(part, float | complex) and not isinstance(part, np.generic):
            assert kind == "c" or isinstance(part, float), f"{what}: complex for a real number"
        elif isinstance(one, np.ndarray | np.generic) and kind in "fc":
            assert np.asarray(part).dtype == one.dtype, f"{what}: {np.asarray(part).dtype} for {one.dtype}"
        elif kind == "f":
            assert np.asarray(part).dtype.kind != "c", f"{what}: complex for a real number"
