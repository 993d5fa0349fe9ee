"""Colours: columns of a sparse matrix that share no row are found together, from one product.

In: the pattern of a matrix. Out: a `Colouring`, by columns or by rows, whichever takes fewer colours: what to
multiply by, and how to read the entries out of the products.

    pattern = Pattern.of(np.eye(3, dtype=bool))
    colouring = colour(pattern)                     # one colour: J @ (1, 1, 1) shows the whole diagonal

Curtis, Powell, Reid, "On the estimation of sparse Jacobian matrices", 1974. Columns are coloured greedily,
once in their order (best for bands) and once the fullest first. A full row takes a colour for each entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import AdjoinError, Code

__all__ = ["Colouring", "Pattern", "colour"]


@dataclass(frozen=True)
class Pattern:
    """Where a matrix may have entries other than zero: sorted by row and column, none twice.

    Attributes:
        like: the sparse matrix of SciPy whose kind the result has; None for a dense one.
    """

    shape: tuple[int, int]
    rows: Any
    columns: Any
    like: Any = None

    @classmethod
    def of(cls, sparsity: Any) -> Pattern:
        """The pattern that a dense array (true or not zero) or a sparse matrix (what it stores) states.

        >>> Pattern.of([[1, 0], [1, 1]]).columns
        array([0, 0, 1])
        """
        like = sparsity if hasattr(sparsity, "tocoo") else None
        if like is not None:
            stored = sparsity.tocoo()
            places, shape = np.array([stored.row, stored.col], np.intp), sparsity.shape
        else:
            dense = np.asarray(sparsity)
            places, shape = np.array(np.nonzero(dense)), dense.shape
        if len(shape) != 2:
            raise AdjoinError(
                Code.BAD_SPARSITY,
                f"the sparsity pattern has {len(shape)} dimensions",
                rewrite="give one row per element of the result, and one column per element of the argument",
            )
        rows, columns = np.divmod(np.unique(places[0] * max(shape[1], 1) + places[1]), max(shape[1], 1))
        return cls((int(shape[0]), int(shape[1])), rows, columns, like)

    def matrix(self, entries: Any) -> Any:
        """The matrix with these entries at the places of the pattern: dense, or of the kind of `like`."""
        if self.like is None:
            dense = np.zeros(self.shape, entries.dtype)
            dense[self.rows, self.columns] = entries
            return dense
        from scipy import sparse

        made = sparse.coo_matrix if sparse.isspmatrix(self.like) else sparse.coo_array
        return made((entries, (self.rows, self.columns)), shape=self.shape).asformat(self.like.format)


@dataclass(frozen=True)
class Colouring:
    """Columns (or rows) in groups that do not meet.

    Attributes:
        by_columns: whether columns are grouped; rows otherwise.
        colours: the number of each column's (row's) group.
        count: how many groups there are.
    """

    pattern: Pattern
    by_columns: bool
    colours: Any
    count: int

    def read(self, products: Any) -> Any:
        """The entries of the matrix, in the order of the pattern.

        Args:
            products: for each group, the sum of its columns (rows).
        """
        across, along = self._places()
        return products[self.colours[across], along]

    def strays(self, products: Any) -> Any:
        """The largest of what the products have where the pattern has nothing."""
        across, along = self._places()
        outside = np.ones(products.shape, bool)
        outside[self.colours[across], along] = False
        return np.max(np.abs(products), where=outside, initial=0.0)

    def multiplied(self, entries: Any, direction: Any) -> tuple[Any, Any]:
        """The matrix with these entries times a vector (or the other way), and how large the terms are.

        >>> colour(Pattern.of(np.eye(2))).multiplied(np.array([3.0, -5.0]), np.array([1.0, 2.0]))
        (array([  3., -10.]), array([ 3., 10.]))
        """
        across, along = self._places()
        length = self.pattern.shape[not self.by_columns]
        terms = np.asarray(entries * direction[across], np.float64)
        return np.bincount(along, terms, length), np.bincount(along, np.abs(terms), length)

    def _places(self) -> tuple[Any, Any]:
        p = self.pattern
        return (p.columns, p.rows) if self.by_columns else (p.rows, p.columns)


def colour(pattern: Pattern, by: str = "either") -> Colouring:
    """Group columns or rows, whichever takes fewer groups.

    Args:
        by: ``"columns"``, ``"rows"`` or ``"either"``.

    >>> colour(Pattern.of(np.tri(4, k=1) * np.tri(4, k=1).T)).count         # three diagonals
    3
    >>> arrow = np.eye(4) + (np.arange(4) == 0)                             # a full first column
    >>> colour(Pattern.of(arrow)).count, colour(Pattern.of(arrow), "rows").count
    (2, 4)
    """
    found = []
    if by != "rows":
        found.append(Colouring(pattern, True, *_greedy(pattern.columns, pattern.rows, *pattern.shape[::-1])))
    if by != "columns":
        found.append(Colouring(pattern, False, *_greedy(pattern.rows, pattern.columns, *pattern.shape)))
    return min(found, key=lambda colouring: colouring.count)


def _greedy(across: Any, along: Any, size: int, length: int) -> tuple[Any, int]:
    """The colours of `size` lines that have entries at these places along them, and how many colours."""
    order = np.argsort(across, kind="stable")
    lines = np.split(along[order], np.searchsorted(across[order], np.arange(1, size))) if size else []
    natural = _in_order(lines, range(size), length)
    fullest = _in_order(lines, sorted(range(size), key=lambda line: -len(lines[line])), length)
    return min(natural, fullest, key=lambda each: each[1])


def _in_order(lines: list[Any], order: Iterable[int], length: int) -> tuple[Any, int]:
    """Each line gets the first colour that no line has which it meets; bits of an integer are colours."""
    taken = [0] * length
    colours = np.zeros(len(lines), np.intp)
    count = 0
    for line in order:
        places = lines[line].tolist()
        met = 0
        for place in places:
            met |= taken[place]
        free = ~met & (met + 1)
        colours[line] = free.bit_length() - 1
        for place in places:
            taken[place] |= free
        count = max(count, free.bit_length())
    return colours, count
