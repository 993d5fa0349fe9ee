"""Sparse matrices of SciPy in a function that is read: constructors, attributes and methods.

In: a call or an attribute with a sparse matrix. Out: its value. A matrix that is made of entries carries
their derivatives; its adjoint is an array beside its `data` (`runtime.support_sparse`).

    csr_matrix((data, (rows, columns)))  A.T  A.data  A.dot(x)  A.toarray()  spsolve(A, b)
"""

from __future__ import annotations

import functools
from typing import Any

import libcst as cst

from ..infer import arg_kind
from ..ir import Arg, Op, Ref, Tup, Var
from ..kinds import UNKNOWN, Array, Kind, Sparse, dims_of, dtype_of
from ..sizes import named
from .reader import Frame, Reader

#: Constructors from entries, whose matrices hold their entries one by one in `data`.
_FORMATS = {f"{name}_{kind}" for name in ("csr", "csc", "coo") for kind in ("matrix", "array")}
#: Functions and methods that give a sparse matrix for sparse matrices and sizes.
_MAKERS = frozenset({"eye", "eye_array", "identity", "diags", "diags_array", "kron", "kronsum", "random",
                     "random_array", "block_diag", "hstack", "vstack", "bmat", "tril", "triu", "spdiags",
                     "dia_matrix", "dia_array", "lil_matrix", "lil_array", "dok_matrix", "dok_array",
                     "bsr_matrix", "bsr_array"} | _FORMATS)  # fmt: skip
_CONVERSIONS = frozenset({"tocsr", "tocsc", "tocoo", "todia", "tolil", "tobsr", "todok", "copy", "transpose",
                          "conj", "conjugate", "astype", "power", "maximum", "minimum"})  # fmt: skip


def is_of_sparse(function: Any) -> bool:
    """Whether a function or class belongs to `scipy.sparse`."""
    return (getattr(function, "__module__", None) or "").startswith("scipy.sparse")


def call_sparse(
    reader: Reader, frame: Frame, callee: Ref, args: list[Any], kwargs: dict[str, Any]
) -> Any:
    """A call of a function of `scipy.sparse`."""
    operands = [reader.arg(a) for a in args]
    options = {k: reader.arg(v) for k, v in kwargs.items()}
    op = Op("call", callee.text, callee.value, callee)
    name = getattr(callee.value, "__name__", "")
    if name in _FORMATS and operands and isinstance(operands[0], Tup) and _entries(operands[0]):
        data = operands[0].items[0]
        kind: Kind = Sparse(dtype_of(arg_kind(data)), name.endswith("matrix"), filled=True)
        if "dtype" in options or len(operands) > 2:
            kind = Sparse(None, name.endswith("matrix"), filled=True)
        return reader.let(op, *operands, kind=kind, options=options)
    if name == "spsolve" and len(operands) >= 2:
        b = arg_kind(operands[1])
        kind = named(Array(None, dims_of(b))) if isinstance(b, Array) and b.ndim == 1 else UNKNOWN
        if isinstance(kind, Array) and dtype_of(b) == dtype_of(arg_kind(operands[0])) == "f8":
            kind = Array("f8", kind.dims)
        return reader.let(op, *operands, kind=kind, options=options)
    carries = any(_carries(a) for a in (*operands, *options.values()))
    kind = Sparse(None, None) if name in _MAKERS and not carries else UNKNOWN
    as_it_is = functools.partial(callee.value)  # has no rule: refused where something active goes in
    return reader.let(Op("call", callee.text, as_it_is, callee), *operands, kind=kind, options=options)


def _entries(made_of: Tup) -> bool:
    """Whether an operand is `(data, (rows, columns))` or `(data, indices, indptr)`; not a shape."""
    items = made_of.items
    return len(items) == 3 or (len(items) == 2 and isinstance(items[1], Tup))


def _carries(arg: Arg) -> bool:
    from ..ir import variables

    return any(v.kind.differentiable for v in variables(arg))


def attribute(reader: Reader, x: Var, kind: Sparse, name: str) -> Any:
    """An attribute of a sparse matrix; None for a method."""
    from ...runtime import support_sparse as rules

    if name == "T":
        return reader.let(Op("attribute", "T", rules.transposed), x, kind=kind)
    if name == "data":
        return reader.let(Op("attribute", "data", rules.data_of), x, kind=named(Array(kind.dtype, (None,))))
    if name in ("shape", "nnz", "ndim", "format", "dtype", "indices", "indptr", "row", "col", "size"):
        from ..kinds import Opaque

        return reader.let(Op("attribute", name), x, kind=Opaque(None))
    return None


def method(
    reader: Reader,
    frame: Frame,
    x: Var,
    kind: Sparse,
    name: str,
    args: list[Any],
    kwargs: dict[str, Any],
    node: cst.CSTNode | None,
) -> Any:
    """`A.name(*args)` of a sparse matrix."""
    from ...runtime import support_sparse as rules

    if name in ("dot", "__matmul__") and len(args) == 1 and not kwargs:
        return reader.binary("@", x, reader.arg(args[0]))
    if name == "transpose" and not args and not kwargs:
        return reader.let(Op("method", name, rules.transposed), x, kind=kind)
    if name == "toarray" and not args and not kwargs:
        dense = named(Array(kind.dtype, (None, None)))
        return reader.let(Op("method", name, rules.dense), x, kind=dense)
    operands = [reader.arg(a) for a in args]
    options = {k: reader.arg(v) for k, v in kwargs.items()}
    carries = any(_carries(a) for a in (x, *operands, *options.values()))
    result = Sparse(None, kind.matrix) if name in _CONVERSIONS and not carries else UNKNOWN
    return reader.let(Op("method", name), x, *operands, kind=result, options=options)


__all__ = ["attribute", "call_sparse", "is_of_sparse", "method"]
