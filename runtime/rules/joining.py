"""Joining and splitting: several arrays into one, one into several, elements in and out.

In: `g` and the operands; where the operand is a sequence of arrays, its adjoint is a sequence of the same
structure; where the result is one, `g` is one, with None for a part that has no adjoint.

    @linear(np.concatenate)
    def concatenate(g, out, arrays, axis=0):
        return concatenate_adjoint(g, arrays, axis)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rule import linear, vjp
from ..support_shaping import (
    append_arr_adjoint,
    append_values_adjoint,
    block_adjoint,
    column_stack_adjoint,
    concatenate_adjoint,
    delete_adjoint,
    dstack_adjoint,
    hstack_adjoint,
    insert_arr_adjoint,
    insert_values_adjoint,
    split_adjoint,
    stack_adjoint,
    unstack_adjoint,
    vstack_adjoint,
    zeros_like_nest,
)
from .sampling import complex_, real

# -- joining -------------------------------------------------------------------------------------------


@linear(
    np.concatenate,
    samples=[
        lambda: ((real(2), real(3, seed=1)),),
        lambda: ([real(2, 3), real(1, 3, seed=1), real(2, 3, seed=2)],),
        lambda: ([real(2, 3), complex_(2, 1, seed=1)], 1),
        lambda: ([real(2, 3), real(2, seed=1)], None),
        lambda: (real(2, 3),),
        lambda: ([real(0, 2), real(1, 2)], 0),
    ],
)
def concatenate(
    g: Any, out: Any, arrays: Any, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    return concatenate_adjoint(g, arrays, axis)


@linear(
    np.stack,
    samples=[
        lambda: ((real(2), real(2, seed=1)),),
        lambda: ([real(2, 3), real(2, 3, seed=1)], -1),
        lambda: ([1.5, 2.5],),
        lambda: (complex_(2, 3), 1),
    ],
)
def stack(
    g: Any, out: Any, arrays: Any, axis: int = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    return stack_adjoint(g, arrays, axis)


@linear(
    np.vstack,
    *([np.row_stack] if hasattr(np, "row_stack") else []),  # its older name, which later versions drop
    samples=[lambda: ((real(3), real(2, 3, seed=1)),), lambda: ([1.5, 2.5],), lambda: (real(2, 2),)],
)
def vstack(g: Any, out: Any, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return vstack_adjoint(g, tup)


@linear(
    np.hstack,
    samples=[
        lambda: ((real(3), real(2, seed=1)),),
        lambda: ([real(2, 1), real(2, 2)],),
        lambda: ([1.5, real(2)],),
    ],
)
def hstack(g: Any, out: Any, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return hstack_adjoint(g, tup)


@linear(np.dstack, samples=[lambda: ((real(3), real(3, seed=1)),), lambda: ([real(2, 2), real(2, 2, 3)],)])
def dstack(g: Any, out: Any, tup: Any) -> Any:
    return dstack_adjoint(g, tup)


@linear(
    np.column_stack,
    samples=[lambda: ((real(3), real(3, 2, seed=1)),), lambda: ([real(2), complex_(2, seed=1)],)],
)
def column_stack(g: Any, out: Any, tup: Any) -> Any:
    return column_stack_adjoint(g, tup)


@linear(
    np.block,
    samples=[
        lambda: ([[real(2, 2), real(2, 1)], [real(1, 2, seed=1), 1.5 * real(1, 1)]],),
        lambda: ([real(2), 1.5, real(3, seed=1)],),
        lambda: (real(2, 2),),
    ],
)
def block(g: Any, out: Any, arrays: Any) -> Any:
    return block_adjoint(g, arrays)


@vjp(
    np.append,
    samples=[
        lambda: (real(2, 2), 1.5),
        lambda: (real(3), [1.5, 2.5]),
        lambda: (real(2, 2), real(1, 2, seed=1), 0),
        lambda: (real(2, 2), real(2, 3, seed=1), 1),
    ],
)
def append(g: Any, out: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return append_arr_adjoint(g, arr, axis), append_values_adjoint(g, arr, values, axis)


@append.jvp
def append_jvp(arr_dot: Any, values_dot: Any, out: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return np.append(arr_dot, zeros_like_nest(values), axis), np.append(np.zeros_like(arr), values_dot, axis)


@vjp(
    np.insert,
    wrt=["arr", "values"],
    samples=[
        lambda: (real(3), 1, 1.5),
        lambda: (real(3), [0, 2], [1.5, 2.5]),
        lambda: (real(3), slice(1, 3), 1.5),
        lambda: (real(2, 3), 1, real(3, seed=1), 0),
        lambda: (real(2, 3), 1, real(2, seed=1), 1),
        lambda: (real(2, 3), [1], real(2, 1, seed=1), 1),
        lambda: (real(2, 3), [0, 0, 3], real(3, seed=1), 1),
        lambda: (real(2, 2), 3, 1.5),
        lambda: (real(3), np.array([True, False, True]), 1.5),
    ],
)
def insert(g: Any, out: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    return insert_arr_adjoint(g, arr, obj, values, axis), insert_values_adjoint(g, arr, obj, values, axis)


@insert.jvp
def insert_jvp(
    arr_dot: Any, values_dot: Any, out: Any, arr: Any, obj: Any, values: Any, axis: Any = None
) -> Any:
    return (
        np.insert(arr_dot, obj, zeros_like_nest(values), axis),
        np.insert(np.zeros_like(arr), obj, values_dot, axis),
    )


@linear(
    np.delete,
    samples=[
        lambda: (real(4), 1),
        lambda: (real(4), [0, 2]),
        lambda: (real(2, 3), 1),
        lambda: (real(2, 3), slice(0, 2), 1),
        lambda: (real(2, 3), [-1], 0),
        lambda: (complex_(4), np.array([True, False, False, True])),
    ],
)
def delete(g: Any, out: Any, arr: Any, obj: Any, axis: Any = None) -> Any:
    return delete_adjoint(g, arr, obj, axis)


# -- splitting -----------------------------------------------------------------------------------------


@linear(
    np.split,
    view=True,
    samples=[
        lambda: (real(6), 3),
        lambda: (real(2, 5), [1, 3], 1),
        lambda: (complex_(4), [3, 1]),
        lambda: (real(4), 1),
    ],
)
def split(g: Any, out: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return split_adjoint(g, ary, indices_or_sections, axis)


@linear(
    np.array_split,
    view=True,
    samples=[lambda: (real(7), 3), lambda: (real(2, 5), 2, 1), lambda: (real(2), 3)],
)
def array_split(g: Any, out: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return split_adjoint(g, ary, indices_or_sections, axis)


@linear(np.hsplit, view=True, samples=[lambda: (real(4), 2), lambda: (real(2, 4), [1])])
def hsplit(g: Any, out: Any, ary: Any, indices_or_sections: Any) -> Any:
    return split_adjoint(g, ary, indices_or_sections, min(1, np.ndim(ary) - 1))


@linear(np.vsplit, view=True, samples=[lambda: (real(4, 2), 2)])
def vsplit(g: Any, out: Any, ary: Any, indices_or_sections: Any) -> Any:
    return split_adjoint(g, ary, indices_or_sections, 0)


@linear(np.dsplit, view=True, samples=[lambda: (real(1, 2, 4), 2)])
def dsplit(g: Any, out: Any, ary: Any, indices_or_sections: Any) -> Any:
    return split_adjoint(g, ary, indices_or_sections, 2)


@linear(
    *([np.unstack] if hasattr(np, "unstack") else []),
    view=True,
    samples=[lambda: (real(2, 3),), lambda: (real(2, 3), {"axis": 1})],
)
def unstack(g: Any, out: Any, x: Any, *, axis: int = 0) -> Any:
    return unstack_adjoint(g, x, axis)
