"""Jacobians and Hessians, by rows (adjoints) or by columns (tangents); gradients element by element.

In: a function. Out: an object that is called with the function's arguments and can be looked into: `.source`.

    jacrev(f)(x)              # one adjoint per element of the result
    jacfwd(f)(x)              # one tangent per element of the argument
    jacobian(f)(x)            # whichever is less work
    jacobian(f, sparsity=S)(x)  # columns (or rows) that do not meet in one tangent (adjoint)
    hessian(f)(x)             # tangents of the gradient
    elementwise_grad(f)(x)    # f'(x), element by element
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .colouring import Colouring, Pattern, colour
from .errors import AdjoinError, Code
from .gradient import Argnums, Gradient, Saved, gradient_of
from .nested import Differentiated, not_read_inside
from .structures import leaves, mapped, number_like, with_leaves

__all__ = ["ElementwiseGradient", "Jacobian", "elementwise_grad", "hessian", "jacfwd", "jacobian", "jacrev"]


class Jacobian(Differentiated):
    """The Jacobian of a function, as `jacobian`, `jacfwd`, `jacrev` and `hessian` return it.

    Attributes:
        primal: the function itself.
        source: the generated module of the last call, as text.
        colouring: with a sparsity pattern, which columns or rows go together.
    """

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, by: str, sparsity: Any = None
    ) -> None:
        self.primal = function
        self.__doc__ = getattr(function, "__doc__", None)
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self._gradient = gradient_of(function, argnums=argnums)
        self._by = by
        self.colouring: Colouring | None = None
        self._checked: set[Any] = set()
        if sparsity is not None:
            if not isinstance(argnums, int):
                raise TypeError("a sparsity pattern is for one argument: argnums is a position then")
            self.colouring = colour(Pattern.of(sparsity), by)
            self._by = "columns" if self.colouring.by_columns else "rows"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _refuse_elsewhere((args, kwargs))
        if self.colouring is not None:
            return _compressed(self._gradient, self.colouring, self._checked, args, kwargs)
        if self._by == "rows":
            return _by_rows(self._gradient, args, kwargs)
        return _by_columns(self._gradient, args, kwargs, may_change=self._by == "either")

    @property
    def source(self) -> str:
        if self._gradient._last is not None:
            return self._gradient._last.text
        return self._gradient._without_arguments("split" if self._by == "rows" else "tangent").text

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The module for these arguments, as text; nothing of it is run."""
        return self._gradient._variant("split" if self._by == "rows" else "tangent", args, kwargs).text

    def __repr__(self) -> str:
        return f"<Jacobian of {self.__name__}>"


@not_read_inside
def jacobian(f: Callable[..., Any], argnums: Argnums = 0, *, sparsity: Any = None) -> Jacobian:
    """The Jacobian of a function, by rows or by columns, whichever are fewer.

    Args:
        f: a function whose result is a number or an array, or a structure of them.
        argnums: a position, or a tuple of positions.
        sparsity: where the Jacobian may have entries: an array of truth values, or a sparse matrix of SciPy,
            with a row per element of the result and a column per element of the argument (both arrays).
            Columns that meet in no row are then found from one tangent, or rows that meet in no column from
            one adjoint, whichever are fewer (Curtis, Powell & Reid 1974): three for a tridiagonal pattern,
            of whatever size. The result is dense, or of the kind of the sparse matrix and two-dimensional.

    Returns:
        A function of the arguments of `f`. Its result has the structure of the result of `f`; in it, the
        structure of the argument (for a tuple of positions, a tuple of these); in it, arrays of the shape
        ``result.shape + argument.shape``, in the dtype of the argument.

    Raises:
        AdjoinError: ADJ302 for complex arguments or results, whose Jacobian is a matter of convention;
            ADJ307 for a pattern of another shape, or that misses entries. That is looked for where an entry
            shows up in a place that has none, and in the first call for arguments of some shape by one more
            product, in a random direction.

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.], [0., 4.]])
    >>> jacobian(lambda x: x * x, sparsity=np.eye(2))(np.array([1.0, 2.0]))
    array([[2., 0.], [0., 4.]])
    """
    return Jacobian(f, argnums, "either", sparsity)


@not_read_inside
def jacfwd(f: Callable[..., Any], argnums: Argnums = 0) -> Jacobian:
    """The Jacobian by columns: one tangent for each element of the arguments. As `jacobian` else.

    >>> jacfwd(lambda x: np.array([x, x * x, x * x * x]))(2.0)
    array([ 1.,  4., 12.])
    """
    return Jacobian(f, argnums, "columns")


@not_read_inside
def jacrev(f: Callable[..., Any], argnums: Argnums = 0) -> Jacobian:
    """The Jacobian by rows: one adjoint for each element of the result. As `jacobian` else.

    >>> jacrev(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Jacobian(f, argnums, "rows")


@not_read_inside
def hessian(f: Callable[..., Any], argnums: Argnums = 0, *, sparsity: Any = None) -> Jacobian:
    """The second derivatives of a function: the Jacobian of its gradient, by columns.

    Args:
        f: a function whose result is one number.
        argnums: a position, or a tuple of positions (then, blocks in a tuple of tuples).
        sparsity: as for `jacobian`: where second derivatives may be other than zero.

    Returns:
        A function of the arguments of `f`; its result has the shape ``argument.shape + argument.shape``.

    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.], [2., 0.]])
    """
    return Jacobian(gradient_of(f, argnums=argnums), argnums, "columns", sparsity)


# -- by rows -----------------------------------------------------------------------------------------


def _by_rows(gradient: Gradient, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value, saved = gradient.forward(*args, **kwargs)
    _refuse_complex([saved.values[i] for i in saved.variant.wrt], value)
    every = list(leaves(value))
    return with_leaves(value, [_rows(gradient, saved, every, which) for which in range(len(every))])


def _rows(gradient: Gradient, saved: Saved, every: list[Any], which: int) -> Any:
    """The derivatives of one leaf of the value: per leaf of the arguments, an array."""
    leaf = np.asarray(every[which])
    if leaf.dtype.kind not in "fO":
        return None
    rows = []
    for at in np.ndindex(leaf.shape):
        seeds = [_unit(x, at if i == which else None) for i, x in enumerate(every)]
        rows.append(gradient.adjoint(saved, with_leaves(saved.value, seeds)))
    like = tuple(saved.values[i] for i in saved.variant.wrt)

    def stacked(x: Any, *entries: Any) -> Any:
        if not number_like(x):
            return None
        return np.reshape(np.array(entries, np.asarray(x).dtype), leaf.shape + np.shape(x))

    return mapped(stacked, like[0] if saved.variant.single else like, *rows)


# -- by columns --------------------------------------------------------------------------------------


def _by_columns(gradient: Gradient, args: tuple[Any, ...], kwargs: dict[str, Any], may_change: bool) -> Any:
    """One tangent per element of the arguments; with `may_change`, by rows if these turn out to be fewer."""
    active = tuple([value for _, value in gradient.active(args, kwargs)])
    every = list(leaves(active))
    columns: list[list[Any]] = [[] for _ in every]
    value: Any = None
    for which, leaf in enumerate(every):
        if not number_like(leaf):
            continue
        _refuse_complex(active, None)
        for at in np.ndindex(np.shape(leaf)):
            dots = [_unit(x, at if i == which else None) for i, x in enumerate(every)]
            first = value is None
            value, dot = gradient.tangent(with_leaves(active, dots), *args, **kwargs)
            if first:
                _refuse_complex(active, value)
                if may_change and _size(value) < _size(active):
                    return _by_rows(gradient, args, kwargs)
            columns[which].append(list(leaves(dot)))
    if value is None:  # arguments without elements
        return _by_rows(gradient, args, kwargs)
    blocks = []
    for number, result in enumerate(leaves(value)):
        parts = [
            _stacked([dots[number] for dots in columns[i]], result, x)
            if number_like(x) and number_like(result)
            else None
            for i, x in enumerate(every)
        ]
        form = with_leaves(active, parts)
        blocks.append(None if not number_like(result) else form[0] if gradient._single else form)
    return with_leaves(value, blocks)


def _stacked(columns: list[Any], result: Any, x: Any) -> Any:
    """The columns of one block as an array of the shape ``result.shape + x.shape``."""
    shape = np.shape(x) + np.shape(result)
    block = np.reshape(np.array(columns, np.asarray(x).dtype), shape)
    return np.array(np.moveaxis(block, range(np.ndim(x)), range(-np.ndim(x), 0)), order="C")


def _size(value: Any) -> int:
    return sum(np.size(leaf) for leaf in leaves(value) if number_like(leaf))


def _unit(leaf: Any, at: tuple[int, ...] | None) -> Any:
    """A seed or tangent that is one at a place of a leaf and zero elsewhere."""
    if not number_like(leaf):
        return leaf
    seed = np.zeros(np.shape(leaf), np.asarray(leaf).dtype)
    if at is not None:
        seed[at] = 1
    return seed if isinstance(leaf, np.ndarray) else seed[()]


def _refuse_elsewhere(values: Any) -> None:
    """What is stacked here are arrays of NumPy; those of a namespace would be copied to the host."""
    for leaf in leaves(values):
        if hasattr(leaf, "__array_namespace__") and not isinstance(leaf, np.ndarray | np.generic):
            raise AdjoinError(
                Code.NO_RULE,
                f"Jacobians are made of NumPy's arrays, not of `{type(leaf).__name__}`",
                rewrite="take products with it: jvp, vjp, hvp",
            )


def _refuse_complex(active: Any, value: Any) -> None:
    if any(np.iscomplexobj(leaf) for leaf in leaves((active, value)) if number_like(leaf)):
        raise AdjoinError(
            Code.NOT_DIFFERENTIABLE_ARGUMENT,
            "the Jacobian of a complex function depends on a convention",
            rewrite="take real and imaginary parts as arguments and results of their own, or use vjp",
        )


# -- compressed --------------------------------------------------------------------------------------


def _compressed(
    gradient: Gradient, colouring: Colouring, checked: set[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """One tangent (or adjoint) for each colour."""
    ((_, x),) = gradient.active(args, kwargs)
    rows, columns = colouring.pattern.shape
    _check_side("argument", x, columns)
    value: Any = None
    if colouring.by_columns:
        length, width, like = rows, columns, x

        def product(direction: Any) -> Any:
            nonlocal value
            value, dot = gradient.tangent((_shaped(direction, x),), *args, **kwargs)
            _check_side("result", value, rows)
            return np.ravel(dot)
    else:
        value, saved = gradient.forward(*args, **kwargs)
        _check_side("result", value, rows)
        length, width, like = columns, rows, value

        def product(direction: Any) -> Any:
            return np.ravel(gradient.adjoint(saved, _shaped(direction, value)))

    products = np.zeros((colouring.count, length), np.asarray(x).dtype)
    for number in range(colouring.count):
        products[number] = product(colouring.colours == number)
    if value is None:  # an argument without elements
        value, _ = gradient.forward(*args, **kwargs)
        _check_side("result", value, rows)
    entries = colouring.read(products)
    key = np.shape(like), products.dtype
    if np.all(np.isfinite(products)):
        tolerance = np.sqrt(np.finfo(products.dtype).eps)
        missed = colouring.strays(products) > tolerance * np.max(np.abs(products), initial=0.0)
        if not missed and key not in checked:
            direction = np.random.default_rng(0).normal(size=width)
            expected, size = colouring.multiplied(entries, direction)
            apart = np.abs(product(direction) - expected)
            missed = np.any(apart > tolerance * (size + np.max(size, initial=0.0)))
            checked.add(key)
        if missed:
            raise AdjoinError(
                Code.BAD_SPARSITY,
                "the Jacobian has entries where the sparsity pattern has none",
                rewrite="look at jacobian(f)(...) != 0 for a small problem",
            )
    matrix = colouring.pattern.matrix(entries)
    return matrix if colouring.pattern.like is not None else matrix.reshape(np.shape(value) + np.shape(x))


def _check_side(what: str, given: Any, size: int) -> None:
    """Refuse an argument or result that the rows or columns of a pattern are not those of."""
    if not number_like(given):
        raise AdjoinError(
            Code.BAD_SPARSITY,
            f"with a sparsity pattern, the {what} has to be one array of floats, not {type(given).__name__}",
            rewrite="take the Jacobian of one part at a time",
        )
    _refuse_complex(given, None)
    if np.size(given) != size:
        raise AdjoinError(
            Code.BAD_SPARSITY,
            f"the sparsity pattern has {size} {'columns' if what == 'argument' else 'rows'}, "
            f"and the {what} {np.size(given)} elements",
            rewrite="give one row per element of the result, and one column per element of the argument",
        )


def _shaped(direction: Any, like: Any) -> Any:
    return np.asarray(direction, np.asarray(like).dtype).reshape(np.shape(like))[()]


# -- element by element ------------------------------------------------------------------------------


class ElementwiseGradient(Differentiated):
    """The derivative of an elementwise function, as `elementwise_grad` returns it.

    Attributes:
        primal: the function itself.
        source: the generated module of the last call, as text.
    """

    def __init__(self, function: Callable[..., Any], argnums: Argnums) -> None:
        self.primal = function
        self._gradient = gradient_of(function, argnums=argnums)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _, saved = self._gradient.forward(*args, **kwargs)
        ones = mapped(lambda leaf: _ones(leaf) if number_like(leaf) else leaf, saved.value)
        return self._gradient.adjoint(saved, ones)

    @property
    def source(self) -> str:
        if self._gradient._last is not None:
            return self._gradient._last.text
        return self._gradient._without_arguments("split").text

    def __repr__(self) -> str:
        return f"<elementwise gradient of {getattr(self.primal, '__name__', self.primal)}>"


def _ones(leaf: Any) -> Any:
    return np.ones_like(leaf) if isinstance(leaf, np.ndarray) else type(leaf)(1)


@not_read_inside
def elementwise_grad(f: Callable[..., Any], argnums: Argnums = 0) -> ElementwiseGradient:
    """The derivative of a function that works element by element: of the sum of its results.

    Args:
        f: a function that maps arrays to arrays of their (broadcast) shape, elements apart.
        argnums: a position, or a tuple of positions.

    Returns:
        A function of the arguments of `f`; its result has the shape and dtype of the argument.

    >>> elementwise_grad(lambda x: x**3)(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    return ElementwiseGradient(f, argnums)
