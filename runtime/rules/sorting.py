"""Sorting and picking along an axis: each element of the result is one element of the operand.

In: `g`, and where each element of the result came from. Out: `g` put back there; elements that tie keep the
order that a stable sort gives them.

    @vjp(np.sort)
    def sort(g, out, a, axis=-1):
        return put_back(g, np.argsort(a, axis=axis, kind="stable"), axis)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import vjp
from ..support_sorting import (
    add_along_axis,
    partition_adjoint,
    partition_tangent,
    set_adjoint,
    set_tangent,
    sort_adjoint,
    sort_complex_order,
    sort_tangent,
    sorted_adjoint,
    sorted_tangent,
    trim_zeros_adjoint,
    trim_zeros_tangent,
    unique_adjoint,
    unique_tangent,
)

_V = np.array([0.3, -0.9, 0.6, 0.1])
_M = np.array([[0.3, 0.9, -0.6], [1.2, -0.1, 2.5]])
_T = np.arange(24.0).reshape(2, 3, 4) * 5 % 13 * 0.3
_C = np.array([0.3 + 0.4j, -0.9 + 0.2j, 0.6 - 0.7j])
_TWICE = np.array([[0.3, 0.9, 0.3], [1.2, 0.9, 2.5]])


@vjp(
    np.sort,
    samples=[
        (_V,),
        (np.zeros((0, 2)),),
        (np.zeros((2, 0)),),
        (_M,),
        (_M, 0),
        (_M, None),
        (_M, {"kind": "heapsort"}),
        (_T, 1),
        (_C,),
    ],
)
def sort(g: Any, out: Any, a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    return sort_adjoint(g, a, axis)


@sort.jvp
def _(a_dot: Any, out: Any, a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    return sort_tangent(a_dot, a, axis)


@vjp(np.sort_complex, samples=[(_C,), (_V,)])
def sort_complex(g: Any, out: Any, a: Any) -> Any:
    return add_along_axis(g, a, sort_complex_order(a), -1)


@sort_complex.jvp
def _(a_dot: Any, out: Any, a: Any) -> Any:
    return np.take_along_axis(a_dot, sort_complex_order(a), -1)


@vjp(np.partition, wrt=["a"], samples=[(_V, 2), (_M, 1), (_M, 1, 0), (_M, 2, None), (_T, (0, 2), 2)])
def partition(g: Any, out: Any, a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    return partition_adjoint(g, out, a, axis)


@partition.jvp
def _(a_dot: Any, out: Any, a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    return partition_tangent(a_dot, out, a, axis)


_PICKS = np.array([[2, 0, 2, 1], [0, 1, 1, 2]])


@vjp(
    np.take_along_axis,
    wrt=["arr"],
    samples=[
        (_M, _PICKS, 1),
        (_M, np.array([[1, 0, 1]]), 0),
        (_M, np.array([[-1, 2]]), 1),
        (_M, np.array([5, 0, 5]), None),
        (_T, np.array([[[1], [0], [3]]]), 2),
        (_C, np.array([2, 2]), 0),
    ],
)
def take_along_axis(g: Any, out: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    return add_along_axis(g, arr, indices, axis)


@take_along_axis.jvp
def _(arr_dot: Any, out: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    return np.take_along_axis(arr_dot, indices, axis)


@vjp(np.unique, samples=[(_V,), (_M,), (_M, True), (_V, {"return_inverse": True, "return_counts": True})])
def unique(
    g: Any,
    out: Any,
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
) -> Any:
    return unique_adjoint(g, ar)


@unique.jvp
def _(
    ar_dot: Any,
    out: Any,
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
) -> Any:
    return (unique_tangent(ar_dot, out, ar),)


@vjp(np.unique_values, np.unique_all, samples=[(_V,), (_M,)])
def unique_values(g: Any, out: Any, x: Any) -> Any:
    return unique_adjoint(g, x)


@unique_values.jvp
def _(x_dot: Any, out: Any, x: Any) -> Any:
    return (unique_tangent(x_dot, out, x),)


@vjp(np.union1d, np.setxor1d, samples=[(_V, np.array([0.2, 0.65, 2.5])), (_M, _V + 0.05)])
def union(g: Any, out: Any, ar1: Any, ar2: Any) -> Any:
    return set_adjoint(g, out, ar1, ar2), set_adjoint(g, out, ar2, ar1)


@union.jvp
def _(ar1_dot: Any, ar2_dot: Any, out: Any, ar1: Any, ar2: Any) -> Any:
    return set_tangent(ar1_dot, out, ar1, ar2), set_tangent(ar2_dot, out, ar2, ar1)


@vjp(np.intersect1d, samples=[(np.array([0.7, 0.3]), np.array([0.2, 0.9]))])
def intersection(g: Any, out: Any, ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    return set_adjoint(g, out, ar1, ar2), set_adjoint(g, out, ar2, ar1)


@intersection.jvp
def _(ar1_dot: Any, ar2_dot: Any, out: Any, ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    return set_tangent(ar1_dot, out, ar1, ar2), set_tangent(ar2_dot, out, ar2, ar1)


@vjp(np.setdiff1d, samples=[(_V, np.array([0.35, 0.65])), (_V, np.array([2.5]), True)])
def difference(g: Any, out: Any, ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    return set_adjoint(g, out, ar1, out[:0]), np.zeros_like(ar2)


@difference.jvp
def _(ar1_dot: Any, ar2_dot: Any, out: Any, ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    return set_tangent(ar1_dot, out, ar1, out[:0]), np.zeros_like(out)


# Nothing to trim: a zero that is moved is no zero. What is trimmed is in `test_conventions.py`.
@vjp(np.trim_zeros, samples=[(_V,), (_V, "f"), (_V, "b")])
def trim_zeros(g: Any, out: Any, filt: Any, trim: Any = "fb") -> Any:
    return trim_zeros_adjoint(g, filt, trim)


@trim_zeros.jvp
def _(filt_dot: Any, out: Any, filt: Any, trim: Any = "fb") -> Any:
    return trim_zeros_tangent(filt_dot, out, filt, trim)


@vjp(sorted, samples=[([0.7, -0.2, 1.5],), ((0.7, -0.2, 1.5), {"reverse": True}), (_V,)])
def python_sorted(g: Any, out: Any, iterable: Any, /, *, reverse: Any = False) -> Any:
    return sorted_adjoint(g, iterable, reverse)


@python_sorted.jvp
def _(iterable_dot: Any, out: Any, iterable: Any, /, *, reverse: Any = False) -> Any:
    return sorted_tangent(iterable_dot, iterable, reverse)
