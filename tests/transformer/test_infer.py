"""What `infer` says of a call is true of what NumPy returns: dtypes, numbers of dimensions, sizes.

Every call is made for real, with sizes that include 0, 1 and equal ones, and compared with what is claimed
for operands of which all, some or nothing is known.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from abstraction import Abstraction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rules import harness

import adjoin.runtime.rules  # noqa: F401  (fills the table)
from adjoin.runtime.rule import TABLE, Rule
from adjoin.transformer.infer import infer

try:
    from adjoin.runtime.rules import scipy_linalg, scipy_signal, scipy_special  # noqa: F401  (and SciPy's)
except ImportError:
    pass

SIZES = (0, 1, 2, 3, 3, 4)
DTYPES = ("f8", "f4", "c16", "c8", "i8", "i4", "b1", "u1")
FLOATS = ("f8", "f4", "c16")


class Source:
    """Draws the arguments of one call. `choose` picks one of several options."""

    def __init__(self, choose: Callable[[Sequence[Any]], Any]) -> None:
        self.choose = choose

    def one(self, *options: Any) -> Any:
        return self.choose(options)

    def array(
        self, shape: tuple[int, ...] | None = None, dtypes: tuple[str, ...] = DTYPES, ndim: Any = None
    ) -> np.ndarray:
        if shape is None:
            ndim = self.one(0, 1, 1, 2, 2, 3) if ndim is None else ndim
            shape = tuple(self.one(*SIZES) for _ in range(ndim))
        dtype = np.dtype(self.one(*dtypes))
        values = np.linspace(0.3, 1.7, math.prod(shape)).reshape(shape)
        if dtype.kind in "iu":
            return (values * 10).astype(dtype)
        if dtype.kind == "c":
            return (values * (1 + 0.5j)).astype(dtype)
        return (values > 0.9) if dtype.kind == "b" else values.astype(dtype)

    def number(self) -> Any:
        return self.one(
            True,
            2,
            0,
            0.5,
            0.5 + 1j,
            np.float64(0.7),
            np.float32(0.7),
            np.int64(2),
            np.complex64(1j),
            np.bool_(True),
        )

    def real(self) -> Any:
        return self.one(2, 0, 0.5, np.float64(0.7), np.float32(0.7), np.int64(2))

    def value(self, shape: tuple[int, ...] | None = None, dtypes: tuple[str, ...] = DTYPES) -> Any:
        return self.array(shape, dtypes) if self.one(True, True, False) else self.number()

    def matching(self, shape: tuple[int, ...], dtypes: tuple[str, ...] = DTYPES) -> np.ndarray:
        """An array that broadcasts with a shape."""
        kept = shape[self.one(*range(len(shape) + 1)) :]
        return self.array(tuple(self.one(n, n, 1) for n in kept), dtypes)

    def axis(self, x: np.ndarray, several: bool = True) -> Any:
        options: list[Any] = [*range(-x.ndim, x.ndim)] or [0]
        if several and x.ndim > 1:
            options += [(0, 1), (-1, 0), (0,), ()]
        return self.one(*options)


def claims_hold(
    source: Source, function: Any, *args: Any, literal: tuple[int, ...] = (), **kwargs: Any
) -> None:
    """Compare what is claimed of `function(*args, **kwargs)` with what it is."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = function(*args, **kwargs)
    except Exception:
        return  # the user's program raises
    facts = Abstraction(source.choose)
    operands = tuple(facts.operand(a, literal=i in literal) for i, a in enumerate(args))
    options = {k: facts.operand(v, literal=source.one(True, True, False)) for k, v in kwargs.items()}
    facts.check(infer(function, operands, options), value)


def cases(count: int) -> Callable[[Callable[[Source], None]], Callable[[], None]]:
    """Run a test for `count` written-out sets of arguments."""

    def decorate(test: Callable[[Source], None]) -> Callable[[], None]:
        @settings(max_examples=count, suppress_health_check=list(HealthCheck), derandomize=True)
        @given(st.integers(0, 2**32))
        def run(seed: int) -> None:
            test(Source(random.Random(seed).choice))

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        run.plain = test
        return run

    return decorate


UNARY = [
    np.sin, np.exp, np.abs, np.negative, np.sqrt, np.isfinite, np.floor, np.conj, np.real, np.imag, np.sign,
    np.square, np.logical_not, operator.neg, operator.pos, operator.invert, abs, np.angle, np.round,
    np.nan_to_num, np.sinc, np.i0, np.positive, np.modf, np.frexp, np.signbit, np.rint, np.float64,
    np.float32, np.complex128,
]  # fmt: skip
BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.eq, operator.and_, np.add, np.multiply, np.power, np.maximum, np.arctan2, np.hypot,
    np.copysign, np.logical_and, np.divmod, np.float_power, np.logaddexp, np.greater,
]  # fmt: skip


@cases(300)
def test_of_one_operand(source):
    function = source.one(*UNARY)
    claims_hold(source, function, source.value())


@cases(300)
def test_of_two_operands(source):
    function = source.one(*BINARY)
    x = source.value()
    y = source.matching(np.shape(x)) if source.one(True, False) else source.number()
    claims_hold(source, function, *((x, y) if source.one(True, False) else (y, x)))


@cases(300)
def test_choosing(source):
    x = source.array()
    low, high = (source.one(None, source.real(), source.matching(x.shape, ("f8", "f4", "i8"))) for _ in "ab")
    claims_hold(source, np.clip, source.one(x, 0.5, np.float32(2)), low, high)
    claims_hold(source, np.clip, x, a_max=high, a_min=low)
    mask = source.one(
        source.array(x.shape, ("b1",)), source.matching(x.shape, ("b1",)), True, np.bool_(False)
    )
    claims_hold(
        source,
        np.where,
        mask,
        source.one(x, source.number()),
        source.one(source.number(), source.matching(x.shape)),
    )
    claims_hold(source, np.where, source.array())
    claims_hold(source, np.nan_to_num, x, nan=source.real())
    claims_hold(source, np.select, [x > 0.5, x > 1], [x, source.number()], default=source.one(0, 0.5))


REDUCTIONS = [
    np.sum, np.mean, np.prod, np.max, np.min, np.std, np.var, np.any, np.all, np.argmax, np.argmin,
    np.count_nonzero, np.median, np.ptp, np.average, np.nansum, np.nanmax, np.linalg.norm, np.add.reduce,
    np.logical_and.reduce, np.nanmean, np.maximum.reduce,
]  # fmt: skip


@cases(300)
def test_reductions(source):
    function = source.one(*REDUCTIONS)
    x = source.array()
    kwargs = {}
    if source.one(True, False):
        kwargs["axis"] = source.one(None, source.axis(x))
    if source.one(True, False):
        kwargs["keepdims"] = source.one(True, False)
    if source.one(True, False, False):
        kwargs |= source.one(
            {"dtype": source.one(np.float32, np.float64, "f4", None)}, {"initial": source.real()}, {"ddof":
            1}, {"where": source.array(x.shape, ("b1",))}, {"weights": source.array(x.shape, ("f8", "i8"))},
            {"returned": True}, {"ord": source.one(1, 2, np.inf, "fro")}, {"out": np.zeros(x.shape[1:])},
        )  # fmt: skip
    claims_hold(source, function, x, **kwargs)
    if "axis" in kwargs:
        axis = kwargs.pop("axis")
        claims_hold(source, function, x, axis, **kwargs)


@cases(300)
def test_quantiles(source):
    x = source.array(dtypes=("f8", "f4", "i8"))
    q = source.one(
        0.5, [0.1, 0.9], np.array([0.1, 0.5, 0.9]), np.float64(0.3), np.float32(0.3), np.array(0.5)
    )
    axis = source.one(None, source.axis(x))
    for function in (np.quantile, np.nanquantile):
        claims_hold(source, function, x, q, axis=axis, keepdims=source.one(True, False))


ALONG = [np.cumsum, np.cumprod, np.diff, np.sort, np.flip, np.argsort, np.gradient, np.squeeze, np.nancumsum]


@cases(300)
def test_along_an_axis(source):
    function = source.one(*ALONG)
    x = source.array()
    claims_hold(source, function, x)
    axis = source.one(None, source.axis(x))
    claims_hold(source, function, x, axis=axis)
    claims_hold(source, function, x, axis)
    claims_hold(source, np.cumsum, x, axis=axis, dtype=source.one(np.float32, "c16", None))


REARRANGING = [
    np.tril, np.triu, np.flipud, np.fliplr, np.ravel, np.copy, np.trace, np.diag, np.diagonal, np.atleast_1d,
    np.atleast_2d, np.matrix_transpose, np.ndarray.flatten, np.unique, np.nonzero,
]  # fmt: skip


@cases(300)
def test_rearranging(source):
    x = source.array()
    axes = source.one(*itertools.permutations(range(x.ndim)))
    claims_hold(source, np.transpose, x)
    claims_hold(source, np.transpose, x, source.one(axes, list(axes)), literal=(1,))
    for function in REARRANGING:
        if function is not np.ndarray.flatten or isinstance(x, np.ndarray):
            claims_hold(source, function, x)
    first, second = source.axis(x, False), source.axis(x, False)
    claims_hold(source, np.swapaxes, x, first, second)
    claims_hold(source, np.moveaxis, x, first, second)
    claims_hold(source, np.expand_dims, x, source.one(first, (0, 1), -1))
    claims_hold(source, np.squeeze, x, source.one(first, None, (0,)))
    claims_hold(source, np.roll, x, source.one(1, (1, 1)), source.one(None, first, (0, 0)))
    claims_hold(source, np.rot90, x)
    claims_hold(source, np.repeat, x, source.one(2, 0, 1), source.one(None, first))
    claims_hold(source, np.tile, x, source.one(2, (2, 1), (1, 1, 2), 1))
    claims_hold(source, np.pad, x, source.one(1, (0, 1)))


@cases(300)
def test_reshaping(source):
    x = source.array()
    n = x.size
    shape = source.one(
        -1, (-1,), n, (n,), (1, -1), (-1, 1), (n, 1), [n, 1], x.shape, x.shape[::-1], (-1, *x.shape[1:]), ()
    )
    claims_hold(source, np.reshape, x, shape)
    claims_hold(source, np.reshape, x, shape, source.one("C", "F"))
    target = source.one((2, *x.shape), x.shape, (3, 2, *x.shape), (3,), 3, ())
    claims_hold(source, np.broadcast_to, source.one(x, source.number()), target)
    claims_hold(source, np.resize, x, target)


INDICES: list[Any] = [
    0, 0, -1, 1, None, ..., slice(None), slice(1, None), slice(None, -1), slice(1, -1), np.int64(0),
    np.array(0), True, False, np.bool_(True), np.array(True), [0, 0], [], [True], [-1], np.array([0, -1]),
    np.array([[0], [0]]), np.zeros(0, int), np.array([0], "u1"),
]  # fmt: skip


@cases(300)
def test_indices(source):
    x = source.array(dtypes=("f8", "i4"))
    ends = (None, 0, 1, 2, 3, -1, -2, -4)
    part = slice(source.one(*ends), source.one(*ends), source.one(None, None, 1, 2, -1, -2))
    index = [source.one(*INDICES, part, part) for _ in range(source.one(0, 1, 1, 2, 3, 4))]
    if source.one(True, False, False) and x.ndim:
        n = source.one(*range(1, x.ndim + 1))
        at = source.one(*range(x.ndim - n + 1))
        index = [*[slice(None)] * at, source.array(x.shape[at : at + n], ("b1",)), *index[:1]]
    whole = index[0] if len(index) == 1 and source.one(True, False) else tuple(index)
    claims_hold(source, operator.getitem, x, whole)


@cases(300)
def test_slices_of_slices(source):
    """The algebra of `n - 1`: equal names mean equal sizes."""
    x = source.array(ndim=1, dtypes=("f8",))
    part = slice(source.one(None, 0, 1, 2, -1), source.one(None, -1, -2, 2), source.one(None, 1, -1))
    claims_hold(source, operator.getitem, x, part)
    claims_hold(source, operator.getitem, x[1:], part)
    claims_hold(source, operator.getitem, x[:-2], part)


PRODUCTS = [
    ("i", "i"), ("ij", "j"), ("i", "ij"), ("ij", "jk"), ("bij", "bjk"), ("bij", "j"), ("ij", "bjk"),
    ("", "ij"), ("i", "k"), ("ij", "kj"), ("", ""),
]  # fmt: skip


@cases(300)
def test_products(source):
    sizes = {letter: source.one(*SIZES) for letter in "ijkb"}

    def array(letters: str) -> np.ndarray:
        return source.array(tuple(sizes[c] for c in letters), ("f8", "f4", "c8", "i8", "b1"))

    for function in (np.matmul, operator.matmul, np.dot, np.inner, np.vdot, np.outer, np.kron, np.vecdot):
        for one, two in PRODUCTS:
            if source.one(True, False, False):
                claims_hold(source, function, array(one), array(two))
    claims_hold(source, np.dot, array("i"), source.number())
    claims_hold(source, np.tensordot, array("ij"), array("jk"), source.one(1, 0, 2))
    claims_hold(source, np.tensordot, array("bij"), array("ijk"), axes=source.one(2, 1, ([1, 2], [0, 1])))
    claims_hold(source, np.einsum, source.one("ij,jk->ik", "ij,jk", "ij,jk->"), array("ij"), array("jk"))
    claims_hold(source, np.einsum, source.one("bij->bj", "bii->b", "...i->..."), array("bij"))
    claims_hold(source, np.linalg.multi_dot, [array("ij"), array("jk")])
    claims_hold(source, np.cross, source.array((source.one(2, 3),)), source.array((source.one(2, 3),)))
    claims_hold(source, np.convolve, array("i"), array("j"))


OF_MATRICES = [
    np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eig, np.linalg.eigvals,
    np.linalg.eigh, np.linalg.svd, np.linalg.qr, np.linalg.pinv, np.linalg.matrix_norm, np.linalg.norm,
]  # fmt: skip


@cases(300)
def test_linear_algebra(source):
    n = source.one(1, 2, 3)
    square = source.array(source.one((n, n), (2, n, n)), ("f8", "f4", "c16")) + np.diag(
        np.arange(1.0, n + 1)
    ).astype("f4")
    if source.one(True, False):
        square = square - 3 * np.swapaxes(np.triu(square), -1, -2)
    for function in OF_MATRICES:
        claims_hold(source, function, square)
    claims_hold(source, np.linalg.solve, square, source.array((n,), FLOATS))
    claims_hold(source, np.linalg.solve, square, source.array((n, 2), FLOATS))
    claims_hold(source, np.linalg.matrix_power, square, source.one(0, 2, -1))
    claims_hold(source, np.roots, source.array((3,), ("f8",)) * source.one(1, -1))
    claims_hold(source, np.poly, source.array((3,), FLOATS))
    claims_hold(source, np.real_if_close, source.array((2,), FLOATS) + source.one(0, 0j, 1j))
    claims_hold(source, np.emath.sqrt, source.array((2,), ("f8",)) * source.one(1, -1))


@cases(300)
def test_joining(source):
    shape = tuple(source.one(*SIZES) for _ in range(source.one(0, 1, 1, 2)))
    count = source.one(1, 2, 3)
    parts = [source.array(shape) for _ in range(count)]
    if source.one(True, False) and shape:
        parts[-1] = source.array((source.one(*SIZES), *shape[1:]))
    parts = parts if source.one(True, False) else tuple(parts)
    for function in (
        np.concatenate,
        np.stack,
        np.vstack,
        np.hstack,
        np.column_stack,
        np.dstack,
        np.array,
        np.block,
    ):
        claims_hold(source, function, parts)
    claims_hold(source, np.concatenate, parts, axis=source.one(0, None, -1))
    claims_hold(source, np.stack, parts, axis=source.one(0, 1, -1))
    claims_hold(source, np.concatenate, parts, dtype=np.float32)
    claims_hold(source, np.append, parts[0], parts[-1])


@cases(300)
def test_arrays_of_displays(source):
    entry = source.one(source.number, lambda: source.array((), DTYPES), lambda: source.one(1, 2.5, True))
    rows, columns = source.one(0, 1, 2), source.one(0, 1, 3)
    display = source.one(
        [entry() for _ in range(columns)], [[entry() for _ in range(columns)] for _ in range(rows)],
        [tuple(entry() for _ in range(columns)) for _ in range(rows)], entry(), [source.array((3,)), [1, 2.0,
        3]], [source.array((2, 1)), source.array((2, 1))], source.array(),
    )  # fmt: skip
    for function in (np.array, np.asarray):
        claims_hold(source, function, display)
        claims_hold(source, function, display, dtype=source.one(np.float32, "c16", float, int, None))
        claims_hold(source, function, display, source.one(np.float32, float))
    claims_hold(source, np.array, display, ndmin=2)
    claims_hold(source, np.array, display, copy=True)


@cases(300)
def test_making(source):
    n, m = source.one(0, 1, 2, 3), source.one(0, 1, 3)
    shape = source.one(n, (n,), (n, m), [n, m], (), (n, 1))
    dtype = source.one(np.float32, float, int, "c16", None, np.dtype("i4"))
    for function in (np.zeros, np.ones, np.empty):
        claims_hold(source, function, shape)
        claims_hold(source, function, shape, dtype)
        claims_hold(source, function, shape, dtype=dtype)
    claims_hold(source, np.full, shape, source.number())
    claims_hold(source, np.full, shape, source.number(), dtype=dtype)
    claims_hold(source, np.full, (n, 3), source.array((3,)))
    like = source.value()
    for function in (np.zeros_like, np.ones_like, np.empty_like):
        claims_hold(source, function, like)
        claims_hold(source, function, like, dtype=dtype)
        claims_hold(source, function, like, shape=shape)
    claims_hold(source, np.full_like, like, source.number())
    claims_hold(source, np.eye, n)
    claims_hold(source, np.eye, n, source.one(m, None), source.one(0, 1, -1))
    claims_hold(source, np.eye, n, m, dtype=dtype)
    claims_hold(source, np.identity, n)
    claims_hold(source, np.identity, n, dtype)
    claims_hold(source, np.diag, source.array((n,)), source.one(0, 1))
    claims_hold(source, np.meshgrid, source.array((n,)), source.array((m,)))
    claims_hold(source, np.indices, (n, m))


@cases(300)
def test_ranges(source):
    ends = [
        source.one(0, 1, 3, -2, 2.5, np.float64(3), np.float32(2.5), np.int64(4), True)
        for _ in range(source.one(1, 2, 3))
    ]
    claims_hold(source, np.arange, *ends)
    claims_hold(source, np.arange, *ends, dtype=source.one(np.float32, float, None))
    claims_hold(source, np.arange, 3, step=2)
    num = source.one(0, 1, 5)
    for function in (np.linspace, np.geomspace, np.logspace):
        claims_hold(source, function, source.real(), source.one(3, 2.5, 1 + 1j), num)
        claims_hold(source, function, source.real(), source.array((2,), FLOATS), num=num)
        claims_hold(source, function, 1.0, 2.0, num, dtype=source.one(np.float32, None))
    claims_hold(
        source, np.linspace, 1.0, 2.0, num, endpoint=source.one(True, False), retstep=source.one(True, False)
    )
    claims_hold(source, np.linspace, 1, 2)


@cases(300)
def test_of_python(source):
    x = source.array()
    claims_hold(source, len, x)
    numbers = [source.real() for _ in range(source.one(1, 2, 3))]
    for function in (min, max, sum):
        claims_hold(source, function, tuple(numbers))
        claims_hold(source, function, source.array(ndim=source.one(1, 2), dtypes=("f8", "i8", "f4")))
    claims_hold(source, max, *numbers, 1)
    claims_hold(source, round, source.real())
    claims_hold(source, round, source.real(), source.one(1, None))
    for function in (float, int, bool, complex, abs, math.sqrt, math.floor, math.exp, math.atan, math.fabs):
        claims_hold(source, function, source.real())
        claims_hold(source, function, source.array((1,), ("f8", "i8")))
    claims_hold(source, divmod, source.real(), source.one(2, 0.5))
    claims_hold(source, pow, source.real(), source.one(2, 0.5, -1))
    claims_hold(source, math.hypot, source.real(), source.real())
    claims_hold(source, math.pow, source.real(), source.one(2, 0.5, -1))


@cases(300)
def test_looking_up(source):
    x = source.array((source.one(1, 2, 3),), ("f8", "f4"))
    at = source.one(0, np.array([0, 0]), np.array(0), [0, 0], np.array([[0]]), np.int64(0))
    matrix = source.array((source.one(1, 2), x.shape[0]), FLOATS)
    for axis in (None, 0, -1):
        claims_hold(source, np.take, matrix, at, axis=axis)
    claims_hold(source, np.take, x, at)
    claims_hold(source, np.take_along_axis, matrix, np.zeros((1, matrix.shape[1]), int), source.one(0, -2))
    claims_hold(
        source,
        np.interp,
        source.one(0.5, np.array([0.5, 1.0]), np.array(0.5), np.array([[0.5]])),
        np.sort(x),
        x,
    )
    claims_hold(source, np.searchsorted, np.sort(x), source.one(0.5, np.array([0.5, 1.0])))
    claims_hold(source, np.bincount, np.array([0, 1, 1]), source.one(None, np.ones(3)))
    claims_hold(source, np.histogram, x, source.one(2, 3))
    claims_hold(source, np.trapezoid, x)
    claims_hold(source, np.trapezoid, matrix, axis=source.one(0, -1))
    claims_hold(source, np.polyval, x, source.one(0.5, matrix, np.float32(0.5)))
    claims_hold(source, np.split, x, source.one(1, [1], 2))
    claims_hold(source, np.array_split, x, source.one(1, 2, 5))
    cube = source.array()
    at = source.one(1, 2, 3, [0, 1], [1, 1, 2], (1,), [-1], [5], np.array([1, 2]), source.axis(cube))
    for function in (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.unstack):
        claims_hold(source, function, cube, at)
    claims_hold(source, np.split, cube, at, source.axis(cube, False))
    claims_hold(source, np.array_split, cube, at, axis=source.axis(cube, False))
    claims_hold(source, np.compress, [True], x)
    claims_hold(source, np.extract, x > 0.5, x)
    claims_hold(source, np.partition, x, 0)
    claims_hold(source, np.fft.fft, source.one(x, matrix))
    claims_hold(source, np.fft.rfft, x)
    claims_hold(source, np.cov, matrix)
    claims_hold(source, np.corrcoef, matrix)
    claims_hold(source, np.ndarray.astype, x, source.one(np.float32, "c16", int, float))
    claims_hold(source, np.ndarray.item, x, 0)
    claims_hold(source, np.ndarray.tolist, source.one(x, matrix))


@pytest.mark.parametrize("function", [np.zeros, np.full, np.reshape])
def test_a_size_of_minus_one_claims_nothing(function):
    from adjoin.transformer.infer import size_of
    from adjoin.transformer.ir import Const

    assert size_of(Const(-1)) is None


@pytest.mark.parametrize("rule", list({id(rule): rule for rule in TABLE.values()}.values()), ids=repr)
def test_of_every_sample_of_the_table(rule: Rule) -> None:
    for seed, sample in enumerate(rule.samples):
        args, kwargs = harness.sample_arguments(sample)
        for function in rule.functions:
            for precise in (True, True, False):
                choose = (lambda options: options[0]) if precise else random.Random(seed).choice
                claims_hold(Source(choose), function, *args, **kwargs)
