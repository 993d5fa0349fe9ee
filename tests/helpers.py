"""What the tests share: a gradient compared with central differences, in every form that it comes in.

In: a function and arguments. Out: nothing, or an `AssertionError` that says what is wrong.

    assert_gradient(lambda x: x * x, 3.0)
    assert_gradient(f, A, b, argnums=(0, 1))
    assert_refused(f, 3.0, line="x = yield")
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoin

STEPS = (1e-5, 2e-6)


def assert_gradient(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | tuple[int, ...] = 0,
    expected: Any = None,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    **kwargs: Any,
) -> Any:
    """Check the gradient of `f` in joint and in forward/adjoint form, and the tangent; returns the gradient.

    The right answer is `expected`, or else central differences at two step sizes, which must agree with each
    other: a test at a kink has to say what it expects. Single precision is differenced in double.
    Structure, shapes and dtypes are those of the arguments, the value is the function's to the last bit, and
    the arguments are the same afterwards.
    """
    if expected is None:
        expected = differences(f, args, argnums, kwargs, rtol, atol)
    before = [np.array(leaf) for leaf in leaves(args)]
    value = f(*copy_arguments(args), **kwargs)
    gradient = adjoin.grad(f, argnums=argnums)

    joint = gradient(*args, **kwargs)
    assert_same_bits("the arguments, after grad", list(leaves(args)), before)
    assert_matches("grad", joint, expected, pick(args, argnums), rtol, atol)

    again, with_value = adjoin.value_and_grad(f, argnums=argnums)(*args, **kwargs)
    assert_same_bits("the value of value_and_grad", [again], [value])
    assert_matches("value_and_grad", with_value, expected, pick(args, argnums), rtol, atol)

    forward_value, saved = gradient.forward(*args, **kwargs)
    assert_same_bits("the value of forward", [forward_value], [value])
    split = gradient.adjoint(saved, np.asarray(value).dtype.type(2.0))
    assert_same_bits("the arguments, after adjoint", list(leaves(args)), before)
    assert_matches("adjoint", split, scaled(expected, 2.0), pick(args, argnums), rtol, atol)
    assert_tangent(gradient, args, argnums, expected, value, rtol, atol, **kwargs)
    assert_same_bits("the arguments, after tangent", list(leaves(args)), before)

    plain = not kwargs and all(isinstance(a, float | complex | np.ndarray) for a in args)
    untyped = untyped_gradient(f, argnums, args) if plain else None
    if untyped is not None:
        assert_same_bits("the arguments, after the untyped gradient", list(leaves(args)), before)
        assert_matches("the gradient for unknown kinds", untyped, expected, pick(args, argnums), rtol, atol)
    return joint


def untyped_gradient(f: Callable[..., Any], argnums: int | tuple[int, ...], args: tuple[Any, ...]) -> Any:
    """The gradient as it is written before any call; None where more has to be known of the arguments."""
    names: dict[str, Any] = {}
    try:
        exec(adjoin.grad(f, argnums=argnums).source, names)
    except adjoin.AdjoinError:
        return None
    made = next(v for name, v in names.items() if name.endswith("_grad") and callable(v))
    try:
        inspect.signature(made).bind(*args)
    except TypeError:  # it wants what `f` takes from around it as well
        return None
    try:
        found = made(*args)
        return (found,) if isinstance(argnums, tuple) and len(argnums) == 1 else found
    except (TypeError, ValueError) as error:  # what kinds would have told before
        assert re.search("reads as well|memory that is written to|is not followed", str(error)), error
        return None


def assert_tangent(
    gradient: Any, args: Any, argnums: Any, expected: Any, value: Any, rtol: float, atol: float, **kwargs: Any
) -> None:
    """The dot-product identity: the tangent along a random direction is its product with the gradient."""
    rng = np.random.default_rng(7)

    def random(leaf: Any) -> Any:
        made = rng.normal(size=np.shape(leaf)) + (
            1j * rng.normal(size=np.shape(leaf)) if np.iscomplexobj(leaf) else 0
        )
        return made.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(made)

    tuples = pick(args, argnums), expected
    active, bars = tuples if isinstance(argnums, tuple) else [(part,) for part in tuples]
    dots = rebuilt(tuple(active), random)
    again, dot = gradient.tangent(dots, *args, **kwargs)
    assert_same_bits("the value of tangent", [again], [value])
    assert type(dot) is type(again) and np.shape(dot) == np.shape(value)
    products = [np.real(np.conj(g) * d) for g, d in zip(leaves(bars), leaves(dots), strict=True)]
    size = sum(float(np.sum(np.abs(product))) for product in products)
    eps = max([float(np.finfo(np.asarray(leaf).dtype).eps) for leaf in leaves(dots)], default=0.0)
    total = sum(float(np.sum(product)) for product in products)
    assert abs(float(np.real(dot)) - total) <= max(10 * rtol, 2e3 * eps) * size + 10 * atol, (
        f"the tangent is {dot}, the gradient along its direction {total}"
    )


def assert_refused(
    f: Callable[..., Any], *args: Any, line: str, argnums: Any = 0, **kwargs: Any
) -> Exception:
    """Check that asking for the gradient is refused, with the file, the line number and the line itself."""
    with pytest.raises(adjoin.AdjoinError) as caught:
        adjoin.grad(f, argnums=argnums)(*args, **kwargs)
    message = str(caught.value)
    assert line in message, f"the line {line!r} is not in:\n{message}"
    assert f"{f.__code__.co_filename}:" in message, f"the file is not in:\n{message}"
    return caught.value


def pick(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> Any:
    """The arguments a gradient is asked of, in the form in which the gradient comes."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


# -- structures ---------------------------------------------------------------------------------------


def parts(value: Any) -> list[Any] | None:
    """The members of a container, or None for a leaf."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return None


def leaves(value: Any) -> Iterator[Any]:
    """Every number and array in a value."""
    members = parts(value)
    if members is not None:
        for member in members:
            yield from leaves(member)
    elif isinstance(value, (float, complex, np.ndarray, np.inexact)):
        yield value


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with every number and array changed."""
    members = parts(value)
    if members is None:
        is_leaf = isinstance(value, (float, complex, np.ndarray, np.inexact))
        return change(value) if is_leaf else value
    new = [rebuilt(member, change) for member in members]
    if isinstance(value, dict):
        return type(value)(zip(value, new, strict=True))
    if isinstance(value, (list, tuple)):
        return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
    return dataclasses.replace(
        value, **{field.name: n for field, n in zip(dataclasses.fields(value), new, strict=True)}
    )


def copy_arguments(args: Any, wide: bool = False) -> Any:
    """A copy in which arrays that share memory still do; `wide` makes single precision double."""
    memory: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def copied(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return (leaf + 0.0).astype(widened(leaf.dtype)) if wide and isinstance(leaf, np.inexact) else leaf
        if wide and leaf.dtype.kind in "fc":
            return leaf.astype(widened(leaf.dtype))
        owner = leaf
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if id(owner) not in memory:
            room = np.empty(owner.nbytes, np.uint8)
            whole = np.ndarray(owner.shape, owner.dtype, room, 0, owner.strides)
            whole[...] = owner
            memory[id(owner)] = owner, room
        offset = leaf.__array_interface__["data"][0] - np.lib.array_utils.byte_bounds(owner)[0]
        return np.ndarray(leaf.shape, leaf.dtype, memory[id(owner)][1], offset, leaf.strides)

    return rebuilt(args, copied)


def widened(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def scaled(value: Any, factor: float) -> Any:
    return rebuilt(value, lambda leaf: leaf * factor)


# -- differences --------------------------------------------------------------------------------------


def differences(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    argnums: int | tuple[int, ...],
    kwargs: dict[str, Any],
    rtol: float = 1e-6,
    atol: float = 1e-8,
) -> Any:
    """Central differences in the structure of the arguments that `argnums` names; fails at a kink."""
    narrow = any(
        np.asarray(leaf).dtype.itemsize < widened(np.asarray(leaf).dtype).itemsize for leaf in leaves(args)
    )
    args = copy_arguments(args, wide=narrow)
    coarse, fine = (_differences(f, args, argnums, kwargs, step) for step in STEPS)
    for a, b in zip(leaves(coarse), leaves(fine), strict=True):
        np.testing.assert_allclose(a, b, 10 * rtol, 10 * atol, err_msg="differences with two steps disagree")
    return fine


def _differences(f: Any, args: tuple[Any, ...], argnums: Any, kwargs: dict[str, Any], step: float) -> Any:
    def moved(which: int, at: tuple[int, ...], by: complex) -> Any:
        """The value with one element of one leaf moved."""
        new = copy_arguments(args)
        if isinstance(list(leaves(new))[which], np.ndarray):
            list(leaves(new))[which][at] += by
        else:
            count = iter(range(10**9))
            new = rebuilt(new, lambda leaf: leaf + by if next(count) == which else leaf)
        return f(*new, **kwargs)

    owners = [number for number, arg in enumerate(args) for _ in leaves(arg)]
    results: dict[int, Any] = {}
    for which, leaf in enumerate(leaves(args)):
        if owners[which] not in (argnums if isinstance(argnums, tuple) else (argnums,)):
            results[which] = leaf
            continue
        slope = np.zeros(np.shape(leaf), np.asarray(leaf).dtype)
        for at in np.ndindex(slope.shape):
            slope[at] = (moved(which, at, step) - moved(which, at, -step)) / (2 * step)
            if slope.dtype.kind == "c":
                slope[at] += 1j * (moved(which, at, 1j * step) - moved(which, at, -1j * step)) / (2 * step)
        results[which] = slope if isinstance(leaf, np.ndarray) else slope[()]
    order = iter(range(len(results)))
    return pick(rebuilt(args, lambda leaf: results[next(order)]), argnums)


# -- comparisons --------------------------------------------------------------------------------------


def assert_same_bits(what: str, got: list[Any], want: list[Any]) -> None:
    assert len(got) == len(want), f"{what}: {len(got)} entries, not {len(want)}"
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(w), err_msg=what, strict=True)


def assert_matches(what: str, got: Any, want: Any, like: Any, rtol: float, atol: float) -> None:
    """The structure, shapes and dtypes are those of `like`, the numbers those of `want`."""
    members = parts(like)
    if members is not None:
        assert type(got) is type(like), f"{what}: a {type(got).__name__} for a {type(like).__name__}"
        if isinstance(like, dict):
            assert list(got) == list(like), f"{what}: keys {list(got)} for {list(like)}"
        all_got, all_want = parts(got), parts(want)
        assert all_got is not None and all_want is not None and len(all_got) == len(members)
        for g, w, member in zip(all_got, all_want, members, strict=True):
            assert_matches(what, g, w, member, rtol, atol)
    elif isinstance(like, (float, complex, np.ndarray, np.inexact)):
        assert np.shape(got) == np.shape(like), f"{what}: shape {np.shape(got)} for {np.shape(like)}"
        g_dtype, like_dtype = np.asarray(got).dtype, np.asarray(like).dtype
        assert g_dtype == like_dtype, f"{what}: dtype {g_dtype} for {like_dtype}"
        loose = max(1.0, 2e3 * float(np.finfo(like_dtype).eps) / rtol / 10)
        np.testing.assert_allclose(got, want, rtol * loose, atol * loose, err_msg=what)
