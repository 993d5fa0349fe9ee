"""Operators with sparse matrices of SciPy, which are no arrays though they look like some.

In: a symbol and operands of which one is a sparse matrix. Out: the operation and the kind of its result.
Products with arrays have a rule; anything else is done as it is, and refused where it is active.

    A @ x, x @ A, and A * x for a matrix of the old kind
"""

from __future__ import annotations

import functools

import numpy as np

from .ir import BINARY, Arg, Op, Var
from .kinds import UNKNOWN, Array, Kind, Number, Sparse, Unknown, dims_of, dtype_of
from .sizes import arg_kind, named

#: The operators without their rules, which are those of arrays.
_PLAIN = {symbol: Op("operator", symbol, functools.partial(f)) for symbol, f in BINARY.items()}


def sparse_operator(symbol: str, x: Arg, y: Arg) -> tuple[Op, Kind] | None:
    """The operation `x symbol y` if one of the operands is a sparse matrix."""
    one, other = arg_kind(x), arg_kind(y)
    if not isinstance(one, Sparse) and not isinstance(other, Sparse):
        return None
    old = any(isinstance(k, Sparse) and k.matrix for k in (one, other))
    product = symbol == "@" or (symbol == "*" and old)
    if product and isinstance(one, Sparse) and isinstance(other, Array) and other.ndim in (1, 2):
        from ..runtime.support_sparse import sparse_times

        dims = (None, *(dims_of(other) or ())[1:])
        return Op("operator", symbol, sparse_times), named(Array(_joint(one, other), dims))
    if product and isinstance(other, Sparse) and isinstance(one, Array) and one.ndim in (1, 2):
        from ..runtime.support_sparse import times_sparse

        dims = (*(dims_of(one) or ())[:-1], None)
        return Op("operator", symbol, times_sparse), named(Array(_joint(one, other), dims))
    if symbol == "@" and any(isinstance(k, Unknown) for k in (one, other)):
        from ..runtime.support_sparse import sparse_times, times_sparse

        return Op("operator", symbol, sparse_times if isinstance(one, Sparse) else times_sparse), UNKNOWN
    carries = any(isinstance(a, Var) and k.differentiable for a, k in ((x, one), (y, other)))
    plain = all(isinstance(k, Sparse | Number) for k in (one, other)) and symbol in "+-*/@"
    return _PLAIN[symbol], Sparse(None, None) if plain and not carries else UNKNOWN


def _joint(one: Kind, other: Kind) -> str | None:
    dtypes = dtype_of(one), dtype_of(other)
    if any(d is None or d == "O" for d in dtypes):
        return None
    joint = np.result_type(*(np.dtype(d) for d in dtypes if d is not None))
    return f"{joint.kind}{joint.itemsize}"


__all__ = ["sparse_operator"]
