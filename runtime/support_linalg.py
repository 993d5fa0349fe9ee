"""Helpers of the linear algebra rules: products of every rank, norms, factorisations.

In: arrays, adjoints, tangents. Out: adjoints and tangents. Every function is plain NumPy and names nothing
but `np` and functions of this file and of `support`, and can be carried by a built gradient file. Where a
function has an `if` on a number of dimensions or on an option, each branch is what one writes by hand for
that case, so that the branch can be spliced alone where the case is known.

    >>> matmul_x_adjoint(np.ones(3), np.ones((3, 2)), np.array([1.0, 2.0]))
    array([[1., 2.],
           [1., 2.],
           [1., 2.]])

Transposes here are plain (`mT`), never conjugated, where a rule is holomorphic: the driver conjugates
around it. The rules that are not (norms, Cholesky, eigenvectors...) use `mH` and say so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import own, unbroadcast
from .support_shaping import inverse_axes

# -- transposes and products ---------------------------------------------------------------------------


def mT(a: Any) -> Any:
    """The transpose of a matrix, or of each matrix of a stack."""
    if np.ndim(a) == 2:
        return np.transpose(a)
    return np.swapaxes(a, -1, -2)


def mH(a: Any) -> Any:
    """The conjugate transpose of a matrix, or of each matrix of a stack."""
    return np.conj(np.swapaxes(a, -1, -2))


def matmul_x_adjoint(g: Any, x: Any, y: Any) -> Any:
    """The adjoint of `x` in `x @ y`, for operands of any number of dimensions."""
    if np.ndim(x) == 1 and np.ndim(y) == 1:
        return g * y
    if np.ndim(x) == 1 and np.ndim(y) == 2:
        return y @ g
    if np.ndim(x) == 1:
        return unbroadcast((y @ g[..., None])[..., 0], x)
    if np.ndim(x) == 2 and np.ndim(y) == 1:
        return np.outer(g, y)
    if np.ndim(y) == 1:
        return g[..., None] * y
    if np.ndim(x) == 2 and np.ndim(y) == 2:
        return g @ y.T
    if np.ndim(y) == 2:
        return g @ y.T
    return unbroadcast(g @ np.swapaxes(y, -1, -2), x)


def matmul_y_adjoint(g: Any, x: Any, y: Any) -> Any:
    """The adjoint of `y` in `x @ y`, for operands of any number of dimensions."""
    if np.ndim(x) == 1 and np.ndim(y) == 1:
        return g * x
    if np.ndim(x) == 1 and np.ndim(y) == 2:
        return np.outer(x, g)
    if np.ndim(x) == 1:
        return x[:, None] * g[..., None, :]
    if np.ndim(x) == 2 and np.ndim(y) == 1:
        return x.T @ g
    if np.ndim(y) == 1:
        return np.tensordot(g, x, np.ndim(g))
    if np.ndim(x) == 2 and np.ndim(y) == 2:
        return x.T @ g
    if np.ndim(y) == 2:
        return np.tensordot(np.moveaxis(x, -1, 0), g, np.ndim(g) - 1)
    return unbroadcast(np.swapaxes(x, -1, -2) @ g, y)


def dot_a_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.dot(a, b)`, for operands of any number of dimensions."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * b, a)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return g * b
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return b @ g
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return np.outer(g, b)
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return g @ b.T
    if np.ndim(b) == 1:
        return g[..., None] * b
    return np.tensordot(g, np.moveaxis(b, -2, -1), np.ndim(b) - 1)


def dot_b_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `np.dot(a, b)`, for operands of any number of dimensions."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return g * a
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return np.outer(a, g)
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return a.T @ g
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return a.T @ g
    if np.ndim(b) == 1:
        return np.tensordot(g, a, np.ndim(g))
    return np.moveaxis(np.tensordot(np.moveaxis(a, -1, 0), g, np.ndim(a) - 1), 0, -2)


def inner_a_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.inner(a, b)`; exchange `a` and `b`, and the axes of `g`, for that of `b`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * b, a)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return g * b
    return np.tensordot(g, b, np.ndim(b) - 1)


def inner_b_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `np.inner(a, b)`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return g * a
    axes = tuple(range(np.ndim(a) - 1))
    return np.tensordot(g, a, (axes, axes))


def tensordot_axes(a_ndim: int, b_ndim: int, axes: Any) -> tuple[list[int], list[int]]:
    """The contracted axes of both operands of `np.tensordot`, as lists of non-negative integers.

    >>> tensordot_axes(3, 2, 1)
    ([2], [0])
    """
    if isinstance(axes, int | np.integer):
        return list(range(a_ndim - int(axes), a_ndim)), list(range(int(axes)))
    a_axes, b_axes = (list(np.atleast_1d(part)) for part in axes)
    return [int(i) % a_ndim for i in a_axes], [int(i) % b_ndim for i in b_axes]


def tensordot_a_adjoint(g: Any, a: Any, b: Any, axes: Any) -> Any:
    """The adjoint of `a` in `np.tensordot(a, b, axes)`."""
    a_axes, b_axes = tensordot_axes(np.ndim(a), np.ndim(b), axes)
    a_free = [i for i in range(np.ndim(a)) if i not in a_axes]
    b_free = [i for i in range(np.ndim(b)) if i not in b_axes]
    product = np.tensordot(g, b, (list(range(len(a_free), np.ndim(g))), b_free))
    # The axes of `product` are those of `a` that are free, then the contracted axes of `b` in rising order.
    order = a_free + [a_axes[b_axes.index(i)] for i in sorted(b_axes)]
    return np.transpose(product, inverse_axes(order, len(order)))


def tensordot_b_adjoint(g: Any, a: Any, b: Any, axes: Any) -> Any:
    """The adjoint of `b` in `np.tensordot(a, b, axes)`."""
    a_axes, b_axes = tensordot_axes(np.ndim(a), np.ndim(b), axes)
    a_free = [i for i in range(np.ndim(a)) if i not in a_axes]
    b_free = [i for i in range(np.ndim(b)) if i not in b_axes]
    product = np.tensordot(a, g, (a_free, list(range(len(a_free)))))
    order = [b_axes[a_axes.index(i)] for i in sorted(a_axes)] + b_free
    return np.transpose(product, inverse_axes(order, len(order)))


def outer_a_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.outer(a, b)`, which flattens both."""
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return g @ b
    return np.reshape(g @ np.ravel(np.asarray(b, like=own(g))), np.shape(a))


def outer_b_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `np.outer(a, b)`, which flattens both."""
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return a @ g
    return np.reshape(np.ravel(np.asarray(a, like=own(g))) @ g, np.shape(b))


def kron_blocks(g: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """`g` with each axis split in that of `a` and that of `b`, and both with as many axes as `g` had."""
    n = np.ndim(g)
    a = np.reshape(np.asarray(a, like=own(g)), (1,) * (n - np.ndim(a)) + np.shape(a))
    b = np.reshape(np.asarray(b, like=own(g)), (1,) * (n - np.ndim(b)) + np.shape(b))
    return np.reshape(g, [m for pair in zip(a.shape, b.shape, strict=True) for m in pair]), a, b


def kron_a_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.kron(a, b)`."""
    n = np.ndim(g)
    blocks, _, padded = kron_blocks(g, a, b)
    return np.reshape(np.tensordot(blocks, padded, (range(1, 2 * n, 2), range(n))), np.shape(a))


def kron_b_adjoint(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `np.kron(a, b)`."""
    n = np.ndim(g)
    blocks, padded, _ = kron_blocks(g, a, b)
    return np.reshape(np.tensordot(blocks, padded, (range(0, 2 * n, 2), range(n))), np.shape(b))


# -- einsum --------------------------------------------------------------------------------------------


def einsum_letters(lists: Any) -> str:
    """The subscripts of an `np.einsum` call that gives them as lists of numbers, one for each operand.

    >>> einsum_letters([[0, 1], [Ellipsis, 1]])
    'AB,...B'
    """
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return ",".join("".join("..." if n is Ellipsis else letters[n] for n in axes) for axes in lists)


def einsum_explicit(text: str) -> str:
    """Subscripts with explicit result, without spaces.

    >>> einsum_explicit("ij, jk"), einsum_explicit("...ij->...ji")
    ('ij,jk->ik', '...ij->...ji')
    """
    text = text.replace(" ", "")
    if "->" in text:
        return text
    names = text.replace(",", "").replace("...", "")
    once = sorted(c for c in set(names) if names.count(c) == 1)
    return text + "->" + "..." * ("..." in text) + "".join(once)


def einsum_adjoint(g: Any, operands: Any, optimize: Any) -> Any:
    """The adjoints of the operands of `np.einsum`: a tuple with None for what is a subscript."""
    if isinstance(operands[0], str):
        return (None, *einsum_arrays_adjoint(g, einsum_explicit(operands[0]), operands[1:], optimize))
    arrays, subscripts = einsum_with_letters(operands)
    parts = einsum_arrays_adjoint(g, subscripts, arrays, optimize)
    adjoints: list[Any] = [[None] * len(part) if isinstance(part, list) else None for part in operands]
    adjoints[0 : 2 * len(parts) : 2] = parts
    return tuple(adjoints)


def einsum_with_letters(operands: Any) -> tuple[Any, str]:
    """The arrays, and the subscripts as text, of an `np.einsum` call that gives these as lists."""
    count = len(operands) // 2
    subscripts = einsum_letters(operands[1 : 2 * count : 2])
    if len(operands) % 2:
        return operands[0 : 2 * count : 2], subscripts + "->" + einsum_letters(operands[-1:])
    return operands[0 : 2 * count : 2], einsum_explicit(subscripts)


def einsum_arrays_adjoint(g: Any, subscripts: str, arrays: Any, optimize: Any) -> Any:
    """The adjoints of `arrays` in `np.einsum(subscripts, *arrays)`, subscripts with explicit result."""
    return [einsum_operand_adjoint(g, subscripts, arrays, i, optimize) for i in range(len(arrays))]


def einsum_tangent(dots: Any, operands: Any, optimize: Any) -> Any:
    """The tangent of `np.einsum`, given those of its operands: a tuple with None where there is none."""
    if isinstance(operands[0], str):
        return einsum_arrays_tangent(dots[1:], einsum_explicit(operands[0]), operands[1:], optimize)
    arrays, subscripts = einsum_with_letters(operands)
    return einsum_arrays_tangent(dots[0 : 2 * len(arrays) : 2], subscripts, arrays, optimize)


def einsum_arrays_tangent(dots: Any, subscripts: str, arrays: Any, optimize: Any) -> Any:
    """The tangent of `np.einsum(subscripts, *arrays)`."""
    terms = []
    for i in range(len(arrays)):
        if dots[i] is not None:
            terms.append(np.einsum(subscripts, *arrays[:i], dots[i], *arrays[i + 1 :], optimize=optimize))
    return sum(terms[1:], terms[0])


def einsum_transposed(subscripts: str, i: int) -> str | None:
    """The subscripts that give the adjoint of operand `i` from `g` and the other operands, in their order.

    None where one `np.einsum` is not enough: the operand repeats a letter, has one that nothing else has,
    or an ellipsis.

    >>> einsum_transposed("ij,jk->ik", 0)
    'ik,jk->ij'
    """
    inputs, result = subscripts.split("->")
    parts = inputs.split(",")
    mine = parts[i]
    others = [result, *parts[:i], *parts[i + 1 :]]
    if "." in subscripts or len(set(mine)) < len(mine) or set(mine) - set("".join(others)):
        return None
    return ",".join(others) + "->" + mine


def einsum_operand_adjoint(g: Any, subscripts: str, arrays: Any, i: int, optimize: Any) -> Any:
    """The adjoint of `arrays[i]` in `np.einsum(subscripts, *arrays)`, subscripts with explicit result."""
    transposed = einsum_transposed(subscripts, i)
    if transposed is None:
        return einsum_general_adjoint(g, subscripts, arrays, i, optimize)
    if optimize is False:
        return unbroadcast(np.einsum(transposed, g, *arrays[:i], *arrays[i + 1 :]), arrays[i])
    return unbroadcast(np.einsum(transposed, g, *arrays[:i], *arrays[i + 1 :], optimize=optimize), arrays[i])


def einsum_general_adjoint(g: Any, subscripts: str, arrays: Any, i: int, optimize: Any) -> Any:
    """As `einsum_operand_adjoint`, for diagonals, axes that are summed alone, and ellipses."""
    parts, result = einsum_spelled_out(subscripts, [np.ndim(a) for a in arrays])
    mine = parts[i]
    shape = np.shape(arrays[i])
    inputs = [result, *parts[:i], *parts[i + 1 :]]
    letters = "".join(dict.fromkeys(mine))  # each once: the adjoint of a diagonal is a diagonal
    known = "".join(c for c in letters if c in "".join(inputs))
    others = [*arrays[:i], *arrays[i + 1 :]]
    compact = np.einsum(",".join(inputs) + "->" + known, g, *others, optimize=optimize)
    for place, c in enumerate(letters):
        if c not in known:  # summed alone: every element along it has the same adjoint
            compact = np.expand_dims(compact, place)
    size = dict(zip(mine, shape, strict=True))
    stretched = tuple(k for k, c in enumerate(letters) if size[c] == 1)
    compact = np.sum(compact, axis=stretched, keepdims=True) if stretched else compact
    compact = np.broadcast_to(compact, [size[c] for c in letters])
    if letters == mine:
        return compact
    full = np.zeros(shape, compact.dtype, like=own(compact))
    along = {c: [-1 if c == d else 1 for d in letters] for c in letters}
    places = {c: np.reshape(np.arange(size[c], like=own(compact)), along[c]) for c in letters}
    full[tuple([places[c] for c in mine])] = compact  # a letter that comes twice means the diagonal
    return full


def einsum_spelled_out(subscripts: str, ndims: Any) -> tuple[list[str], str]:
    """Subscripts with letters in place of every ellipsis: those of the operands, and of the result.

    >>> einsum_spelled_out("...i,i->...", [3, 1])
    (['BAi', 'i'], 'BA')
    """
    inputs, result = subscripts.split("->")
    parts = inputs.split(",")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in subscripts]
    batch = ["".join(free[: n - len(p.replace("...", ""))][::-1]) for p, n in zip(parts, ndims, strict=True)]
    batch = [letters if "..." in part else "" for part, letters in zip(parts, batch, strict=True)]
    longest = max(batch, key=len)
    spelled = [part.replace("...", letters) for part, letters in zip(parts, batch, strict=True)]
    return spelled, result.replace("...", longest)


# -- norms ---------------------------------------------------------------------------------------------


def norm_ratio(g: Any, d: Any) -> Any:
    """`g / d`, and 0 where `d` is 0.

    >>> norm_ratio(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    array([0. , 0.5])
    """
    if np.ndim(d) == 0:
        return norm_quotient(g, d)
    return np.where(d == 0, 0, g / np.where(d == 0, 1, d))


def norm_quotient(g: Any, d: Any) -> Any:
    """`g / d` of a number `d`, and 0 if it is 0."""
    return g / d if d != 0 else 0 * g


def norm_adjoint(g: Any, out: Any, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The adjoint of `x` in `np.linalg.norm(x, ord, axis, keepdims)`; 0 where the norm is 0.

    Not holomorphic: for complex `x` this is the direction of steepest ascent.
    """
    if axis is None and (ord is None or (ord == "fro") or (ord == 2 and np.ndim(x) == 1)):
        return norm_ratio(g, out) * x
    axes = norm_axes(np.ndim(x), axis)
    if not keepdims:
        g = np.expand_dims(g, axes)
        out = np.expand_dims(out, axes)
    if ord is None or ord == "fro" or (ord == 2 and len(axes) == 1):
        return norm_ratio(g, out) * x
    if len(axes) == 1:
        return g * vector_norm_slope(out, x, ord, axes[0])
    matrices = np.moveaxis(x, axes, (-2, -1))
    norms = np.moveaxis(out, axes, (-2, -1))
    return g * np.moveaxis(matrix_norm_slope(norms, matrices, ord), (-2, -1), axes)


def norm_tangent(x_dot: Any, out: Any, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The tangent of `np.linalg.norm(x, ord, axis, keepdims)`."""
    slope = norm_adjoint(np.ones_like(out), out, x, ord, axis, keepdims)
    axes = tuple(range(np.ndim(x))) if axis is None else norm_axes(np.ndim(x), axis)
    return np.sum(np.real(np.conj(slope) * x_dot), axis=axes, keepdims=keepdims)


def vector_norm_adjoint(g: Any, out: Any, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The adjoint of `x` in `np.linalg.vector_norm(x)`: one norm over all of `axis`, taken as one vector."""
    axes = norm_axes(np.ndim(x), axis)
    if not keepdims:
        g, out = np.expand_dims(g, axes), np.expand_dims(out, axes)
    if ord == 2:
        return norm_ratio(g, out) * x
    return g * vector_norm_slope(out, x, ord, axes)


def vector_norm_tangent(x_dot: Any, out: Any, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The tangent of `np.linalg.vector_norm(x)`."""
    slope = vector_norm_adjoint(np.ones_like(out), out, x, ord, axis, keepdims)
    return np.sum(np.real(np.conj(slope) * x_dot), axis=norm_axes(np.ndim(x), axis), keepdims=keepdims)


def norm_axes(ndim: int, axis: Any) -> tuple[int, ...]:
    """The axes that a norm is taken over, non-negative."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    return tuple(int(i) % ndim for i in axes)


def vector_norm_slope(out: Any, x: Any, ord: Any, axis: Any) -> Any:
    """d(norm)/dx of vectors along `axis`; `out` has that axis with length one. Ties share evenly."""
    size = np.abs(x)
    if ord == 0:  # a count
        return np.zeros_like(x)
    if np.isinf(ord):
        tied = size == out
        return np.sign(x) * evenly(tied, axis, size.dtype)
    if ord == 1:
        return np.sign(x)
    ratio = norm_ratio(size, out)  # both powers at once, so that neither overflows
    return np.sign(x) * np.where(ratio == 0, 0, np.where(ratio == 0, 1, ratio) ** (ord - 1))


def matrix_norm_slope(out: Any, x: Any, ord: Any) -> Any:
    """d(norm)/dx of the matrices in the last two axes; `out` has both with length one. Ties share evenly."""
    if ord in ("nuc", 2, -2):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        if ord == "nuc":  # singular values that are zero have slope 0, as abs does
            smallest = (
                np.max(s, axis=-1, keepdims=True, initial=0) * max(x.shape[-2:]) * np.finfo(s.dtype).eps
            )
            weight = (s > smallest).astype(s.dtype)
        else:
            extreme = np.max(s, axis=-1, keepdims=True) if ord == 2 else np.min(s, axis=-1, keepdims=True)
            tied = (s == extreme) & (s > 0)
            weight = evenly(tied, -1, s.dtype)
        return (u * weight[..., None, :]) @ vh
    size = np.sum(np.abs(x), axis=-2 if abs(ord) == 1 else -1, keepdims=True)
    tied = size == out
    return np.sign(x) * evenly(tied, -1 if abs(ord) == 1 else -2, size.dtype)


def evenly(tied: Any, axis: Any, dtype: Any) -> Any:
    """One, shared evenly by what is tied along `axis`; zero where nothing is.

    >>> evenly(np.array([True, False, True]), 0, float)
    array([0.5, 0. , 0.5])
    """
    count = np.sum(tied, axis=axis, keepdims=True)
    return tied / np.maximum(count, 1).astype(dtype)


# -- inverses, determinants, systems -------------------------------------------------------------------


def solve_transposed(g: Any, a: Any, b: Any) -> Any:
    """`x_bar` to `b_bar` of `x = np.linalg.solve(a, b)`, before `b` is unbroadcast."""
    if np.ndim(b) == 1 and np.ndim(a) == 2:
        return np.linalg.solve(a.T, g)
    if np.ndim(b) == 1:
        return np.linalg.solve(np.swapaxes(a, -1, -2), g[..., None])[..., 0]
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return np.linalg.solve(a.T, g)
    return np.linalg.solve(np.swapaxes(a, -1, -2), g)


def solve_b_adjoint(b_bar: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b`, in the shape of `b`: a stack of systems may share one right-hand side."""
    if np.ndim(a) == 2 and np.ndim(b) <= 2:
        return b_bar
    return unbroadcast(b_bar, b)


def solve_a_adjoint(b_bar: Any, x: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `x = np.linalg.solve(a, b)`, given that of `b` before it was unbroadcast."""
    if np.ndim(b) == 1 and np.ndim(a) == 2:
        return -np.outer(b_bar, x)
    if np.ndim(b) == 1:
        return -(b_bar[..., None] * x[..., None, :])
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return -(b_bar @ x.T)
    return unbroadcast(-(b_bar @ np.swapaxes(x, -1, -2)), a)


def solve_a_tangent(a_dot: Any, x: Any, a: Any, b: Any) -> Any:
    """The tangent of `x = np.linalg.solve(a, b)` for one of `a`."""
    if np.ndim(b) == 1 and np.ndim(a) == 2:
        return -np.linalg.solve(a, a_dot @ x)
    if np.ndim(b) == 1:
        return -np.linalg.solve(a, a_dot @ x[..., None])[..., 0]
    return -np.linalg.solve(a, a_dot @ x)


def inv_adjoint(g: Any, out: Any) -> Any:
    """The adjoint of `a` in `out = np.linalg.inv(a)`."""
    if np.ndim(out) == 2:
        return -(out.T @ g @ out.T)
    transposed = np.swapaxes(out, -1, -2)
    return -(transposed @ g @ transposed)


def det_adjoint(g: Any, a: Any) -> Any:
    """The adjoint of `a` in `np.linalg.det(a)`, right where `a` is singular."""
    if np.ndim(a) == 2:
        return g * cofactors(a)
    return np.expand_dims(g, (-2, -1)) * cofactors(a)


def cofactors(a: Any) -> Any:
    """The matrices of cofactors: d(det a)/da.

    >>> cofactors(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12) + 0.0
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    try:
        inverse = np.linalg.inv(a)
        condition = np.linalg.norm(a, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
        if np.all(condition < 1 / np.sqrt(np.finfo(a.dtype).eps)):
            return np.linalg.det(a)[..., None, None] * np.swapaxes(inverse, -1, -2)
    except np.linalg.LinAlgError:
        pass
    # From a = u s v^H: each cofactor is a product of the *other* singular values, so none is divided by.
    u, s, vh = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, s[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * ((np.conj(u) * (before * after)[..., None, :]) @ np.conj(vh))


def cofactors_direction(a: Any, direction: Any) -> Any:
    """The derivative of `cofactors(a)` in a direction, also where `a` is singular; it is its own transpose.

    In the basis of the singular vectors the matrix is diagonal, and each second minor of a diagonal matrix
    is a product of the singular values that are left.
    """
    u, s, vh = np.linalg.svd(a)
    change = mH(u) @ direction @ mH(vh)
    eye = np.eye(np.shape(a)[-1], dtype=s.dtype, like=own(s))
    left = np.where(eye == 1, 1, s[..., None, :])  # a row for each value that is taken out
    ones = np.ones_like(left[..., :1])
    before = np.cumprod(np.concatenate([ones, left[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, left[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    minors = before * after * (1 - eye)
    on_diagonal = minors @ np.diagonal(change, 0, -2, -1)[..., None] * eye
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return sign * (np.conj(u) @ (on_diagonal - minors * mT(change)) @ np.conj(vh))


def det_tangent(a_dot: Any, a: Any) -> Any:
    """The tangent of `np.linalg.det(a)`."""
    return np.sum(cofactors(a) * a_dot, axis=(-2, -1))


def inv_or_infinite(a: Any) -> Any:
    """`np.linalg.inv(a)`, with infinities and nan where a matrix is singular."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        with np.errstate(divide="ignore", invalid="ignore"):
            return mT(cofactors(a)) / np.linalg.det(a)[..., None, None]


def slogdet_adjoint(g: Any, out: Any, a: Any) -> Any:
    """The adjoint of `a` in `sign, logdet = np.linalg.slogdet(a)`; not holomorphic.

    With t = trace(a^-1 da): d(logdet) = Re t, and d(sign) = sign i Im t, which is 0 for real matrices.
    """
    sign_bar, logdet_bar = g
    t_bar = np.zeros_like(out[1]) if logdet_bar is None else logdet_bar
    if sign_bar is not None and np.iscomplexobj(a):
        t_bar = t_bar + 1j * np.imag(sign_bar * np.conj(out[0]))
    return times_inverse_mH(t_bar, a)


def times_inverse_mH(g: Any, a: Any) -> Any:
    """`g` times the conjugate transpose of the inverse; infinite where `a` is singular, unless `g` is 0."""
    g = np.expand_dims(g, (-2, -1))
    try:
        return g * mH(np.linalg.inv(a))
    except np.linalg.LinAlgError:
        return np.where(g == 0, 0, np.where(g == 0, 1, g) * mH(inv_or_infinite(a)))


def slogdet_tangent(a_dot: Any, out: Any, a: Any) -> Any:
    """The tangents of the sign and of the logarithm."""
    t = np.sum(mT(inv_or_infinite(a)) * a_dot, axis=(-2, -1))
    if np.iscomplexobj(a):
        return out[0] * 1j * np.imag(t), np.real(t)
    return np.zeros_like(out[0]), t


def half_lower(a: Any) -> Any:
    """The lower triangle, with half of the diagonal: what both triangles of a symmetric matrix share.

    >>> half_lower(np.ones((2, 2)))
    array([[0.5, 0. ],
           [1. , 0.5]])
    """
    return np.tril(a) - np.eye(np.shape(a)[-1], dtype=a.dtype, like=own(a)) * a / 2


def read_triangle(a: Any, upper: bool) -> Any:
    """The Hermitian matrix that LAPACK sees in one triangle of `a`.

    >>> read_triangle(np.array([[1.0, 9.0], [2.0, 3.0]]), False)
    array([[1., 2.],
           [2., 3.]])
    """
    half = mH(half_lower(mH(a))) if upper else half_lower(a)
    return half + mH(half)


def read_triangle_adjoint(g: Any, upper: bool) -> Any:
    """The adjoint of `a` in `read_triangle(a, upper)`: all of it is in the triangle that was read."""
    both = g + mH(g)
    return mH(half_lower(mH(both))) if upper else half_lower(both)


def cholesky_adjoint(g: Any, out: Any, upper: bool) -> Any:
    """The adjoint of `a` in `np.linalg.cholesky(a)`, in the triangle that LAPACK reads; not holomorphic.

    Murray 2016, "Differentiation of the Cholesky decomposition", equation 10.
    """
    lower, lower_bar = (mH(out), mH(g)) if upper else (out, g)
    inner = half_lower(mH(lower) @ np.tril(lower_bar))
    left = np.linalg.solve(mH(lower), inner)  # L^-H phi(L^H L_bar)
    s = mH(np.linalg.solve(mH(lower), mH(left)))  # ... L^-1
    return read_triangle_adjoint((s + mH(s)) / 2, upper)


def cholesky_tangent(a_dot: Any, out: Any, upper: bool) -> Any:
    """The tangent of `np.linalg.cholesky(a)`; Murray 2016, equation 8."""
    lower = mH(out) if upper else out
    inner = np.linalg.solve(lower, mH(np.linalg.solve(lower, read_triangle(a_dot, upper))))
    tangent = lower @ half_lower(inner)
    return mH(tangent) if upper else tangent


# -- other products ------------------------------------------------------------------------------------


def vecdot_x1_adjoint(g: Any, x1: Any, x2: Any, axis: int) -> Any:
    """The adjoint of `x1` in `np.vecdot(x1, x2, axis=axis)`, which conjugates `x1`; not holomorphic."""
    left, right = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
    return np.moveaxis(unbroadcast(np.conj(g)[..., None] * right, left), -1, axis)


def vecdot_x2_adjoint(g: Any, x1: Any, x2: Any, axis: int) -> Any:
    """The adjoint of `x2` in `np.vecdot(x1, x2, axis=axis)`."""
    left, right = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
    return np.moveaxis(unbroadcast(g[..., None] * left, right), -1, axis)


def cross_parts(g: Any, a: Any, b: Any, axes: tuple[int, int, int]) -> tuple[Any, Any, Any]:
    """Operands and adjoint of `np.cross` with their vectors in the last axis, of length three."""
    axisa, axisb, axisc = axes
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        g = np.stack([np.zeros_like(g), np.zeros_like(g), g], axis=-1)
    else:
        g = np.moveaxis(g, axisc, -1)
    return g, in_space(a), in_space(b)


def in_space(a: Any) -> Any:
    """Vectors of length three: those of length two lie in the plane."""
    return np.concatenate([a, np.zeros_like(a[..., :1])], axis=-1) if a.shape[-1] == 2 else a


def cross_a_adjoint(g: Any, a: Any, b: Any, axisa: int, axisb: int, axisc: int, axis: Any) -> Any:
    """The adjoint of `a` in `np.cross(a, b, axisa, axisb, axisc, axis)`: b x g."""
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    g, _, right = cross_parts(g, a, b, axes)
    moved = np.moveaxis(a, axes[0], -1)
    return np.moveaxis(unbroadcast(np.cross(right, g)[..., : moved.shape[-1]], moved), -1, axes[0])


def cross_b_adjoint(g: Any, a: Any, b: Any, axisa: int, axisb: int, axisc: int, axis: Any) -> Any:
    """The adjoint of `b` in `np.cross(a, b, axisa, axisb, axisc, axis)`: g x a."""
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    g, left, _ = cross_parts(g, a, b, axes)
    moved = np.moveaxis(b, axes[1], -1)
    return np.moveaxis(unbroadcast(np.cross(g, left)[..., : moved.shape[-1]], moved), -1, axes[1])


def multi_dot_parts(arrays: Any) -> list[Any]:
    """The operands of `np.linalg.multi_dot` as matrices: a first vector is a row, a last one a column."""
    parts = list(arrays)
    if np.ndim(parts[0]) == 1:
        parts[0] = parts[0][None, :]
    if np.ndim(parts[-1]) == 1:
        parts[-1] = parts[-1][:, None]
    return parts


def multi_dot_adjoint(g: Any, arrays: Any) -> Any:
    """The adjoints of the operands of `np.linalg.multi_dot(arrays)`, in their structure."""
    parts = multi_dot_parts(arrays)
    adjoints = []
    for i, a in enumerate(arrays):
        factors = [np.reshape(g, (len(parts[0]), np.shape(parts[-1])[1]))]
        if i > 0:
            factors.insert(0, matrix_chain(parts[:i]).T)
        if i < len(parts) - 1:
            factors.append(matrix_chain(parts[i + 1 :]).T)
        adjoints.append(np.reshape(matrix_chain(factors), np.shape(a)))
    return type(arrays)(adjoints) if isinstance(arrays, list | tuple) else np.stack(adjoints)


def matrix_chain(factors: Any) -> Any:
    """The product of one or more matrices."""
    return factors[0] if len(factors) == 1 else np.linalg.multi_dot(factors)


def multi_dot_tangent(dots: Any, arrays: Any) -> Any:
    """The tangent of `np.linalg.multi_dot(arrays)`; None among the tangents means zero."""
    terms = [
        np.linalg.multi_dot([*arrays[:i], dot, *arrays[i + 1 :]])
        for i, dot in enumerate(dots)
        if dot is not None
    ]
    return sum(terms[1:], terms[0])


def matrix_power_tangent(a_dot: Any, a: Any, n: int) -> Any:
    """The derivative of `np.linalg.matrix_power(a, n)` in a direction.

    It is the upper right block of the power of [[a, a_dot], [0, a]] (Mathias 1996). The adjoint is the same
    thing at the transpose.
    """
    size = np.shape(a)[-1]
    upper = np.concatenate([a, a_dot], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.linalg.matrix_power(np.concatenate([upper, lower], axis=-2), n)[..., :size, size:]


# -- least squares and pseudoinverses ------------------------------------------------------------------


def nan_unless_full_rank(a_bar: Any, rank: Any, a: Any, g: Any) -> Any:
    """`a_bar`, or nan where `a` lacks rank: pseudoinverses jump there. A zero adjoint stays zero."""
    undefined = (rank < min(np.shape(a)[-2:])) & np.any(g != 0)
    return np.where(np.expand_dims(undefined, (-2, -1)), np.nan, a_bar)


def rank_within(a: Any, rcond: Any) -> Any:
    """The number of singular values above `rcond` times the largest."""
    s = np.linalg.svd(a, compute_uv=False)
    least = rcond if np.ndim(rcond) == 0 else np.expand_dims(rcond, -1)
    return np.sum(s > least * np.max(s, axis=-1, keepdims=True, initial=0), axis=-1)


def pinv_adjoint(g: Any, out: Any, a: Any, rcond: Any) -> Any:
    """The adjoint of `a` in `np.linalg.pinv(a)` where `a` has full rank, nan where it has not.

    Golub and Pereyra 1973, "The differentiation of pseudo-inverses...", equation 4.12. Not holomorphic.
    """
    rcond = 1e-15 if rcond is None else rcond
    p, ph, gh = out, mH(out), mH(g)
    left = gh - a @ (p @ gh)  # (1 - a p) g^H
    right = gh - (gh @ p) @ a  # g^H (1 - p a)
    a_bar = -(ph @ g @ ph) + left @ p @ ph + ph @ p @ right
    return nan_unless_full_rank(a_bar, rank_within(a, rcond), a, g)


def pinv_tangent(a_dot: Any, out: Any, a: Any, rcond: Any) -> Any:
    """The tangent of `np.linalg.pinv(a)`."""
    rcond = 1e-15 if rcond is None else rcond
    p, ph, dh = out, mH(out), mH(a_dot)
    tangent = -(p @ a_dot @ p) + p @ ph @ (dh - dh @ a @ p) + (dh - p @ a @ dh) @ ph @ p
    return nan_unless_full_rank(tangent, rank_within(a, rcond), a, a_dot)


def columns(b: Any) -> Any:
    """A vector as a matrix of one column; a matrix as it is."""
    return b[:, None] if np.ndim(b) == 1 else b


def lstsq_b_adjoint(g: Any, out: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `x, residuals, rank, s = np.linalg.lstsq(a, b)`."""
    x_bar, residuals_bar = g[0], g[1]
    b_bar = np.zeros_like(columns(b), np.result_type(out[0], b))
    if x_bar is not None:
        b_bar = b_bar + mH(np.linalg.pinv(a)) @ columns(x_bar)
    if residuals_bar is not None and np.size(residuals_bar):
        b_bar = b_bar + 2 * np.real(residuals_bar) * (columns(b) - a @ columns(out[0]))
    return nan_unless_full_rank(b_bar, out[2], a, b_bar).reshape(np.shape(b))


def lstsq_a_adjoint(g: Any, out: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `x, residuals, rank, s = np.linalg.lstsq(a, b)`: Golub and Pereyra 1973."""
    x_bar, residuals_bar, _, s_bar = g
    x = columns(out[0])
    residual = columns(b) - a @ x
    a_bar = np.zeros_like(a, np.result_type(out[0], a))
    if x_bar is not None:
        x_bar, p = columns(x_bar), np.linalg.pinv(a)
        ph = mH(p)
        b_bar = ph @ x_bar
        a_bar = a_bar - b_bar @ mH(x) + residual @ mH(p @ b_bar) + (ph @ x) @ mH(x_bar - p @ (a @ x_bar))
        a_bar = nan_unless_full_rank(a_bar, out[2], a, x_bar)
    if residuals_bar is not None and np.size(residuals_bar):
        a_bar = a_bar - 2 * (residual * np.real(residuals_bar)) @ mH(x)
    if s_bar is not None:
        a_bar = a_bar + svdvals_adjoint(s_bar, a)
    return a_bar


def residuals_like(residuals: Any, change: Any) -> Any:
    """The tangent of the residuals of `np.linalg.lstsq`, which are empty where the system is not full."""
    return np.reshape(change, np.shape(residuals)) if np.size(residuals) else residuals


def lstsq_a_tangent(a_dot: Any, out: Any, a: Any, b: Any) -> Any:
    """The tangents of what `np.linalg.lstsq(a, b)` returns, for one of `a`."""
    x, p = columns(out[0]), np.linalg.pinv(a)
    residual, dh, ph = columns(b) - a @ x, mH(a_dot), mH(p)
    change = -(p @ (a_dot @ x)) + p @ (ph @ (dh @ residual)) + (dh - p @ (a @ dh)) @ (ph @ x)
    change = nan_unless_full_rank(change, out[2], a, a_dot)
    residuals = residuals_like(out[1], -2 * np.sum(np.real(np.conj(residual) * (a_dot @ x)), axis=0))
    return np.reshape(change, np.shape(out[0])), residuals, 0, svdvals_tangent(a_dot, a)


def lstsq_b_tangent(b_dot: Any, out: Any, a: Any, b: Any) -> Any:
    """The tangents of what `np.linalg.lstsq(a, b)` returns, for one of `b`."""
    residual = columns(b) - a @ columns(out[0])
    residuals = residuals_like(out[1], 2 * np.sum(np.real(np.conj(residual) * columns(b_dot)), axis=0))
    return (
        np.reshape(np.linalg.pinv(a) @ columns(b_dot), np.shape(out[0])),
        residuals,
        0,
        np.zeros_like(out[3]),
    )


def cond_slope(x: Any, p: Any) -> Any:
    """d(np.linalg.cond(x, p))/dx, for matrices or stacks of them."""
    if p is None or p in (2, -2):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        top, low = s[..., :1], s[..., -1:]
        weight = np.zeros_like(s)
        weight[..., :1] = 1 / low if p != -2 else -low / top**2
        weight[..., -1:] += -top / low**2 if p != -2 else 1 / top
        return (u * weight[..., None, :]) @ vh
    inverse = np.linalg.inv(x)
    norm = np.linalg.norm(x, p, (-2, -1), True)
    inverse_norm = np.linalg.norm(inverse, p, (-2, -1), True)
    ones = np.ones_like(norm)
    slope = norm_adjoint(ones, norm, x, p, (-2, -1), True)
    inverse_slope = norm_adjoint(ones, inverse_norm, inverse, p, (-2, -1), True)
    return slope * inverse_norm - mH(inverse) @ inverse_slope @ mH(inverse) * norm


def tensorsolve_axes(ndim: int, axes: Any) -> list[int]:
    """The order in which `np.linalg.tensorsolve(a, b, axes)` takes the axes of `a`."""
    moved = [] if axes is None else [int(i) % ndim for i in np.atleast_1d(axes)]
    return [i for i in range(ndim) if i not in moved] + moved


def tensorsolve_b_adjoint(g: Any, a: Any, b: Any, axes: Any) -> Any:
    """The adjoint of `b` in `np.linalg.tensorsolve(a, b, axes)`."""
    matrix = np.reshape(np.transpose(a, tensorsolve_axes(np.ndim(a), axes)), (np.size(b), -1))
    return np.reshape(np.linalg.solve(matrix.T, np.ravel(g)), np.shape(b))


def tensorsolve_a_adjoint(b_bar: Any, out: Any, a: Any, axes: Any) -> Any:
    """The adjoint of `a` in `out = np.linalg.tensorsolve(a, b, axes)`."""
    order = tensorsolve_axes(np.ndim(a), axes)
    return -np.transpose(np.multiply.outer(b_bar, out), inverse_axes(order, len(order)))


def tensorsolve_a_tangent(a_dot: Any, out: Any, a: Any, axes: Any) -> Any:
    """The tangent of `out = np.linalg.tensorsolve(a, b, axes)` for one of `a`."""
    moved = np.transpose(a_dot, tensorsolve_axes(np.ndim(a), axes))
    return -np.linalg.tensorsolve(a, np.tensordot(moved, out, np.ndim(out)), axes)


def tensorinv_adjoint(g: Any, out: Any, a: Any, ind: int) -> Any:
    """The adjoint of `a` in `out = np.linalg.tensorinv(a, ind)`."""
    n = int(np.prod(np.shape(a)[:ind]))
    inverse = np.reshape(out, (n, n)).T
    return np.reshape(-(inverse @ np.reshape(g, (n, n)) @ inverse), np.shape(a))


def tensorinv_tangent(a_dot: Any, out: Any, ind: int) -> Any:
    """The tangent of `out = np.linalg.tensorinv(a, ind)`."""
    half = np.ndim(a_dot) - ind
    return -np.tensordot(np.tensordot(out, a_dot, ind), out, half)


# -- eigenvalues ---------------------------------------------------------------------------------------
#
# With c = v^-1 da v: dw is the diagonal of c, and dv = v (f * c) with f[i, j] = 1 / (w[j] - w[i]), up to a
# multiple of each vector (Giles 2008, section 3.1; Boeddeker et al. 2017 for complex matrices). LAPACK fixes
# that multiple: vectors have length one, and for complex ones one component is real. `turn` puts it back.


def over_gaps(c: Any, w: Any, defined: Any) -> Any:
    """c[i, j] / (w[j] - w[i]), 0 on the diagonal; for repeated `w`: 0 where `defined`, nan elsewhere."""
    gap = w[..., None, :] - w[..., :, None]
    n = np.shape(w)[-1]
    scale = np.max(np.abs(w), axis=-1, initial=0)[..., None, None]
    repeated = np.abs(gap) <= n * np.finfo(w.dtype).eps * scale
    off_diagonal = np.where(defined, 0, np.nan) * np.ones_like(c)
    return np.where(
        np.eye(n, dtype=bool, like=own(w)),
        0,
        np.where(repeated, off_diagonal, c / np.where(repeated, 1, gap)),
    )


def untouched_pairs(v_bar: Any) -> Any:
    """For each pair of columns, whether both have no adjoint."""
    idle = ~np.any(v_bar != 0, axis=-2)
    return idle[..., None, :] & idle[..., :, None]


def real_components(v: Any, row: Any) -> Any:
    """The component of each column of `v` that LAPACK makes real, in rows `row`; nan if it is not real."""
    component = np.take_along_axis(v, row, -2)
    return np.where(nearly_real(component), np.real(component), np.nan)


def nearly_real(v: Any) -> Any:
    """Whether components of vectors of length one are real to the precision they are computed in."""
    return np.abs(np.imag(v)) <= 64 * np.finfo(v.dtype).eps


def turn(v_dot: Any, v: Any, row: Any) -> Any:
    """`v_dot` plus the imaginary multiple of each column of `v` that keeps its component in `row` real."""
    if not np.iscomplexobj(v):
        return v_dot
    return v_dot - 1j * turn_angle(v_dot, v, row) * v


def turn_angle(v_dot: Any, v: Any, row: Any) -> Any:
    """The rate at which each column of `v` must be turned back so that its component in `row` stays real."""
    return norm_ratio(np.imag(np.take_along_axis(v_dot, row, -2)), real_components(v, row))


def turn_adjoint(v_bar: Any, angle_bar: Any, v: Any, row: Any) -> Any:
    """The adjoint of `v_dot` in `turn(v_dot, v, row)`: nan only where the phase of a vector matters.

    `angle_bar` is Im(v^H v_bar), plus that of whatever else is turned by the same angle.
    """
    if not np.iscomplexobj(v):
        return v_bar
    scale = np.sum(np.abs(v_bar), axis=-2, keepdims=True)
    component = real_components(v, row)
    lost = np.abs(angle_bar) <= 64 * np.finfo(v.dtype).eps * scale  # a loss that does not see phases
    change = np.where(lost, 0, angle_bar / np.where(lost, 1, component))
    v_bar = v_bar + np.zeros_like(v)
    np.put_along_axis(v_bar, row, np.take_along_axis(v_bar, row, -2) - 1j * change, -2)
    return v_bar


def phase_adjoint(v: Any, v_bar: Any) -> Any:
    """The adjoint of the angles by which the columns of `v` are turned."""
    return np.imag(np.sum(np.conj(v) * v_bar, axis=-2, keepdims=True))


def eig_adjoint(g: Any, out: Any) -> Any:
    """The adjoint of `a` in `w, v = np.linalg.eig(a)`; not holomorphic, for vectors have length one."""
    (w_bar, v_bar), (w, v) = g, out
    c_bar = np.zeros_like(v) if w_bar is None else w_bar[..., None, :] * np.eye(np.shape(w)[-1], like=own(w))
    if v_bar is not None:
        row = np.argmax(np.abs(v), axis=-2)[..., None, :]
        free = v_bar - v * np.sum(np.real(np.conj(v) * v_bar), axis=-2, keepdims=True)
        free = turn_adjoint(free, phase_adjoint(v, v_bar), v, row)
        c_bar = c_bar + over_gaps(mH(v) @ free, np.conj(w), untouched_pairs(v_bar))
    vh = mH(v)
    return solve_or_nan(vh, c_bar @ vh)


def eig_tangent(a_dot: Any, out: Any) -> Any:
    """The tangents of `w, v = np.linalg.eig(a)`."""
    w, v = out
    c = solve_or_nan(v, a_dot @ v)
    row = np.argmax(np.abs(v), axis=-2)[..., None, :]
    v_dot = v @ over_gaps(c, w, c == 0)
    v_dot = v_dot - v * np.sum(np.real(np.conj(v) * v_dot), axis=-2, keepdims=True)
    return np.diagonal(c, 0, -2, -1), turn(v_dot, v, row)


def solve_or_nan(a: Any, b: Any) -> Any:
    """`np.linalg.solve(a, b)`, and nan throughout where a matrix is singular."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.full_like(b, np.nan)


def eig_in_order(w: Any, a: Any) -> Any:
    """The eigenvectors of `a` in the order of `w = np.linalg.eigvals(a)`, which `eig` need not share."""
    found, v = np.linalg.eig(a)
    if np.allclose(found, w, rtol=1e-6, atol=0):
        return v
    order = np.empty_like(w, int)
    for place in np.ndindex(np.shape(w)[:-1]):
        distance = np.abs(np.asarray(w, like=own(w))[place][:, None] - found[place][None, :])
        for i in range(np.shape(w)[-1]):  # the nearest that is left
            order[(*place, i)] = np.argmin(distance[i])
            distance[:, order[(*place, i)]] = np.inf
    return np.take_along_axis(v, order[..., None, :], -1)


def eigvals_adjoint(g: Any, out: Any, a: Any) -> Any:
    """The adjoint of `a` in `np.linalg.eigvals(a)`; plain transposes, for this one is holomorphic."""
    vt = mT(eig_in_order(out, a))
    return solve_or_nan(vt, g[..., :, None] * vt)


def eigvals_tangent(a_dot: Any, out: Any, a: Any) -> Any:
    """The tangent of `np.linalg.eigvals(a)`."""
    v = eig_in_order(out, a)
    return np.diagonal(solve_or_nan(v, a_dot @ v), 0, -2, -1)


def eigh_row(v: Any, upper: bool) -> Any:
    """The row of `v` that LAPACK's Hermitian solvers leave real: the first, or for 'U' the last."""
    n = np.shape(v)[-1]
    return np.full((*np.shape(v)[:-2], 1, n), n - 1 if upper else 0, like=own(v))


def eigh_adjoint(g: Any, out: Any, uplo: Any) -> Any:
    """The adjoint of `a` in `w, v = np.linalg.eigh(a, uplo)`, in the triangle that is read."""
    (w_bar, v_bar), (w, v) = g, out
    upper = uplo in ("U", "u")
    c_bar = np.zeros_like(v) if w_bar is None else w_bar[..., None, :] * np.eye(np.shape(w)[-1], like=own(w))
    if v_bar is not None:
        free = turn_adjoint(v_bar, phase_adjoint(v, v_bar), v, eigh_row(v, upper))
        c_bar = c_bar + over_gaps(mH(v) @ free, w, untouched_pairs(v_bar))
    s = v @ c_bar @ mH(v)
    return read_triangle_adjoint((s + mH(s)) / 2, upper)


def eigh_tangent(a_dot: Any, out: Any, uplo: Any) -> Any:
    """The tangents of `w, v = np.linalg.eigh(a, uplo)`."""
    w, v = out
    upper = uplo in ("U", "u")
    c = mH(v) @ read_triangle(a_dot, upper) @ v
    v_dot = turn(v @ over_gaps(c, w, c == 0), v, eigh_row(v, upper))
    return np.real(np.diagonal(c, 0, -2, -1)), v_dot


def eigvalsh_adjoint(g: Any, a: Any, uplo: Any) -> Any:
    """The adjoint of `a` in `np.linalg.eigvalsh(a, uplo)`."""
    v = np.linalg.eigh(a, uplo)[1]
    return read_triangle_adjoint((v * g[..., None, :]) @ mH(v), uplo in ("U", "u"))


def eigvalsh_tangent(a_dot: Any, a: Any, uplo: Any) -> Any:
    """The tangent of `np.linalg.eigvalsh(a, uplo)`."""
    v = np.linalg.eigh(a, uplo)[1]
    return np.real(np.sum(np.conj(v) * (read_triangle(a_dot, uplo in ("U", "u")) @ v), axis=-2))


# -- singular values -----------------------------------------------------------------------------------
#
# With a = u s v^H, p = u^H da v and e[i, j] = 1 / (s[j]^2 - s[i]^2): ds is the real diagonal of p,
# u^H du = e * (p s + s p^H), v^H dv = e * (s p + p^H s), and du, dv have parts outside the spans of u and v
# (Townsend 2016, "Differentiating the singular value decomposition"). For complex matrices u^H du also has
# the diagonal i Im(p) / s, up to a common phase of each pair of vectors, which LAPACK fixes: see `turn`.


def svdvals_adjoint(g: Any, a: Any) -> Any:
    """The adjoint of `a` in `np.linalg.svd(a, compute_uv=False)`; 0 for singular values that are 0."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * np.where(s == 0, 0, g)[..., None, :]) @ vh


def svdvals_tangent(a_dot: Any, a: Any) -> Any:
    """The tangent of `np.linalg.svd(a, compute_uv=False)`."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    slopes = np.real(np.sum(np.conj(u) * (a_dot @ mH(vh)), axis=-2))
    return np.where(s == 0, 0, slopes)


def svd_reduced(u: Any, vh: Any, k: int) -> tuple[Any, Any]:
    """`u` and `v` with one column for each of `k` singular values."""
    return u[..., :k], mH(vh[..., :k, :])


def svd_pinned(u: Any, v: Any) -> str:
    """Which factor has its first row real: LAPACK's choice of the phases of complex singular vectors."""
    return "v" if np.all(nearly_real(v[..., 0, :])) else "u"


def first_row(v: Any) -> Any:
    """The index of the first row, for `turn`."""
    return np.zeros((*np.shape(v)[:-2], 1, np.shape(v)[-1]), int, like=own(v))


def over_square_gaps(c: Any, s: Any, defined: Any) -> Any:
    """c[i, j] / (s[j]^2 - s[i]^2), as `over_gaps`."""
    total = s[..., None, :] + s[..., :, None]
    return over_gaps(c / np.where(total == 0, 1, total), s, defined)


def over(c: Any, s: Any) -> Any:
    """c / s, and 0 where c is 0."""
    return np.where(c == 0, 0, c) / np.where((c == 0) & (s == 0), 1, s)


def svd_adjoint(g: Any, out: Any, a: Any, compute_uv: bool) -> Any:
    """The adjoint of `a` in `u, s, vh = np.linalg.svd(a)`; not holomorphic.

    Columns of a full `u` or `v` beyond the singular values are arbitrary: nan if they have an adjoint.
    """
    if not compute_uv:
        return svdvals_adjoint(g, a)
    s = out[1]
    k = np.shape(s)[-1]
    u, v = svd_reduced(out[0], out[2], k)
    u_bar = np.zeros_like(u) if g[0] is None else g[0][..., :k]
    v_bar = np.zeros_like(v) if g[2] is None else mH(g[2][..., :k, :])
    idle = untouched_pairs(u_bar) & untouched_pairs(v_bar)
    if np.iscomplexobj(u):
        angle_bar = phase_adjoint(u, u_bar) + phase_adjoint(v, v_bar)
        if svd_pinned(u, v) == "v":
            v_bar = turn_adjoint(v_bar, angle_bar, v, first_row(v))
        else:
            u_bar = turn_adjoint(u_bar, angle_bar, u, first_row(u))
    omega, nu, row = mH(u) @ u_bar, mH(v) @ v_bar, s[..., None, :]
    left, right = over_square_gaps(omega, s, idle), over_square_gaps(nu, s, idle)
    p_bar = (left + mH(left)) * row + (right + mH(right)) * s[..., :, None]
    diagonal = np.zeros_like(s) if g[1] is None else np.where(s == 0, 0, g[1])
    if np.iscomplexobj(u):
        diagonal = diagonal + 1j * over(np.imag(np.diagonal(omega, 0, -2, -1)), s)
    a_bar = u @ (p_bar + diagonal[..., None, :] * np.eye(k, like=own(s))) @ mH(v)
    if np.shape(u)[-2] > k:
        a_bar = a_bar + over(u_bar - u @ omega, row) @ mH(v)
    if np.shape(v)[-2] > k:
        a_bar = a_bar + u @ mH(over(v_bar - v @ nu, row))
    arbitrary = (g[0] is not None and np.any(g[0][..., k:])) or (
        g[2] is not None and np.any(g[2][..., k:, :])
    )
    return np.full_like(a_bar, np.nan) if arbitrary else a_bar


def svd_tangent(a_dot: Any, out: Any, a: Any, compute_uv: bool) -> Any:
    """The tangents of `u, s, vh = np.linalg.svd(a)`; nan for what is arbitrary of a full `u` or `vh`."""
    if not compute_uv:
        return svdvals_tangent(a_dot, a)
    s = out[1]
    k = np.shape(s)[-1]
    u, v = svd_reduced(out[0], out[2], k)
    p, row, column = mH(u) @ a_dot @ v, s[..., None, :], s[..., :, None]
    omega, nu = p * row + column * mH(p), column * p + mH(p) * row
    omega, nu = over_square_gaps(omega, s, omega == 0), over_square_gaps(nu, s, nu == 0)
    diagonal = np.diagonal(p, 0, -2, -1)
    if np.iscomplexobj(u):
        omega = omega + 1j * over(np.imag(diagonal), s)[..., None, :] * np.eye(k, like=own(s))
    u_dot, v_dot = u @ omega, v @ nu
    if np.shape(u)[-2] > k:
        u_dot = u_dot + over(a_dot @ v - u @ p, row)
    if np.shape(v)[-2] > k:
        v_dot = v_dot + over(mH(a_dot) @ u - v @ mH(p), row)
    if np.iscomplexobj(u):
        pinned = (v_dot, v) if svd_pinned(u, v) == "v" else (u_dot, u)
        angle = turn_angle(*pinned, first_row(pinned[1]))
        u_dot, v_dot = u_dot - 1j * angle * u, v_dot - 1j * angle * v
    return widened(u_dot, out[0]), np.where(s == 0, 0, np.real(diagonal)), mH(widened(v_dot, mH(out[2])))


def widened(v_dot: Any, v: Any) -> Any:
    """`v_dot` with columns of nan up to the width of `v`."""
    extra = np.shape(v)[-1] - np.shape(v_dot)[-1]
    if extra == 0:
        return v_dot
    return np.concatenate([v_dot, np.full_like(v[..., :extra], np.nan)], axis=-1)


# -- QR ------------------------------------------------------------------------------------------------


def half_upper(a: Any) -> Any:
    """The upper triangle, with half of the diagonal."""
    return np.triu(a) - np.eye(np.shape(a)[-1], dtype=a.dtype, like=own(a)) * a / 2


def qr_square_adjoint(q: Any, r: Any, q_bar: Any, r_bar: Any) -> Any:
    """The adjoint of `a = q r` with square `r`, whose diagonal LAPACK makes real; not holomorphic.

    Walter and Lehmann 2018, "Algorithmic differentiation of linear algebra functions with application in
    optimum experimental design", section 3.2.
    """
    t = half_upper(np.triu(r_bar) @ mH(r) - mH(q) @ q_bar)
    return mH(solve_or_nan(r, mH(q_bar + q @ (t + mH(t)))))


def qr_adjoint(g: Any, out: Any, a: Any, mode: str) -> Any:
    """The adjoint of `a` in `np.linalg.qr(a, mode)`: nan where columns of a complete `q` are arbitrary."""
    if mode == "r":
        out, g = np.linalg.qr(a), (None, g)
    m, n = np.shape(a)[-2:]
    k = min(m, n)
    q, r = out[0][..., :k], out[1][..., :k, :]
    q_bar = np.zeros_like(q) if g[0] is None else g[0][..., :k]
    r_bar = np.zeros_like(r) if g[1] is None else g[1][..., :k, :]
    if g[0] is not None and np.any(g[0][..., k:]):
        q_bar = np.full_like(q, np.nan)
    if m >= n:
        return qr_square_adjoint(q, r, q_bar, r_bar)
    rest_bar = r_bar[..., m:]  # of q^H a[:, m:]
    q_bar = q_bar + a[..., m:] @ mH(rest_bar)
    return np.concatenate([qr_square_adjoint(q, r[..., :m], q_bar, r_bar[..., :m]), q @ rest_bar], axis=-1)


def qr_tangent(a_dot: Any, out: Any, a: Any, mode: str) -> Any:
    """The tangents of `np.linalg.qr(a, mode)`; nan for what is arbitrary of a complete `q`."""
    if mode == "r":
        return qr_tangent(a_dot, np.linalg.qr(a), a, "reduced")[1]
    k = min(np.shape(a)[-2:])
    q, r = out[0][..., :k], out[1][..., :k, :]
    c = mH(q) @ mH(solve_or_nan(mH(r[..., :k]), mH(a_dot[..., :k])))
    t = half_upper(c + mH(c))
    q_dot = mH(solve_or_nan(mH(r[..., :k]), mH(a_dot[..., :k]))) - q @ t
    r_dot = np.concatenate([t @ r[..., :k], mH(q_dot) @ a[..., k:] + mH(q) @ a_dot[..., k:]], axis=-1)
    missing = np.zeros_like(out[1][..., k:, :])
    return widened(q_dot, out[0]), np.concatenate([r_dot, missing], axis=-2)
