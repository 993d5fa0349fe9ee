"""Shadows: adjoint memory of arrays and lists that a program writes to, found by where the memory is.

In: arrays and lists of the running program. Out: arrays and lists of the same layout that hold their
adjoints. Generated code uses these helpers where it cannot be told before running which memory a variable is.

    >>> shadows = Shadows()
    >>> a = np.zeros(3)
    >>> shadows(a[1:])[0] = 5.0
    >>> shadows(a)
    array([0., 5., 0.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .support import own


class Shadows:
    """Zero-initialised adjoint memory for owning arrays, handed out region by region.

    The shadow of a view, however the program came by it, is the same region of its owner's shadow.
    """

    def __init__(self) -> None:
        self._of: dict[int, tuple[Any, Any]] = {}  # id of owner -> (the owner, kept alive; its shadow)

    def __call__(self, of: Any) -> Any:
        """The shadow of an array (of its shape, dtype and strides) or of a list (of its length)."""
        if isinstance(of, list):
            if id(of) not in self._of:
                zeros = [self(item) if isinstance(item, list) else zeros_of(item) for item in of]
                self._of[id(of)] = of, zeros
            return self._of[id(of)][1]
        if not isinstance(of, np.ndarray):
            raise TypeError(f"a {type(of).__name__} holds memory that is written to: name its parts")
        owner = _owner(of)
        if id(owner) not in self._of:
            low, high = np.lib.array_utils.byte_bounds(owner)
            self._of[id(owner)] = owner, np.zeros(high - low, np.uint8)
        memory = self._of[id(owner)][1]
        offset = of.__array_interface__["data"][0] - np.lib.array_utils.byte_bounds(owner)[0]
        return np.ndarray(of.shape, of.dtype, memory, offset, of.strides)

    def add(self, view: Any, g: Any) -> None:
        """Add to the shadow of a view, right also for views that show an element more than once."""
        shadow = self(view)
        if not _overlaps_itself(view):
            shadow += g
            return
        places = np.arange(view.size).reshape(view.shape)  # one number per element shown ...
        order = np.zeros(shadow.shape, np.intp)
        flat, first = _cells(view)
        order[...] = flat  # ... and the number of the memory cell that it is
        sums = np.zeros(first.size, shadow.dtype)
        np.add.at(sums, order.ravel(), np.broadcast_to(g, view.shape).ravel())
        index = np.unravel_index(places.ravel()[first], view.shape)
        shadow[index] += sums

    def rest(self, value: Any, g: Any) -> Any:
        """Add to the shadow if the value is an array; else what its own adjoint is to get."""
        if not isinstance(value, np.ndarray):
            return g
        self.add(value, g)
        return 0.0

    def total(self, value: Any, own: Any) -> Any:
        """The adjoint of a value that may be an array, which has a shadow, or a number, which has its own."""
        return self(value) if isinstance(value, np.ndarray) else own


def _owner(view: Any) -> Any:
    """The array whose memory a view shows."""
    while view.base is not None:
        base = view.base if isinstance(view.base, np.ndarray) else getattr(view.base, "base", None)
        if not isinstance(base, np.ndarray):  # memory that is not NumPy's own
            return view
        view = base
    return view


def _overlaps_itself(view: Any) -> bool:
    """Whether two positions of the array may be one memory cell."""
    if view.flags.c_contiguous or view.flags.f_contiguous or view.size < 2:
        return False
    spans = sorted((abs(s), n) for n, s in zip(view.shape, view.strides, strict=True) if n > 1)
    reach = view.itemsize
    for stride, n in spans:
        if stride < reach:
            return True
        reach = stride * (n - 1) + reach
    return False


def _cells(view: Any) -> tuple[Any, Any]:
    """For each position the number of its memory cell, and for each cell a position that shows it."""
    offsets = np.zeros(view.shape, np.intp)
    for axis, (n, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        offsets += (np.arange(n) * stride).reshape((-1,) + (1,) * (view.ndim - axis - 1))
    _, first, inverse = np.unique(offsets.ravel(), return_index=True, return_inverse=True)
    return inverse.reshape(view.shape), first


def writable_diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of an array as memory that may be written to; `np.diagonal` shows it for reading alone.

    >>> a = np.zeros((2, 2))
    >>> writable_diagonal(a)[:] += 3.0
    >>> a
    array([[3., 0.],
           [0., 3.]])
    """
    diagonal = np.diagonal(a, offset, axis1, axis2)
    diagonal.flags.writeable = True
    return diagonal


def outline(a: Any) -> Any:
    """An array of the shape and dtype of `a` that takes no memory, for where its values do not matter."""
    return np.broadcast_to(np.zeros((), np.result_type(a), like=own(a)), np.shape(a))


def zeros_of(value: Any) -> Any:
    """Zeros of the structure, shapes and dtypes of a value; None for what carries no adjoint."""
    if isinstance(value, list):
        return [zeros_of(item) for item in value]
    if isinstance(value, tuple):
        parts = [zeros_of(item) for item in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, dict):
        return {key: zeros_of(item) for key, item in value.items()}
    if hasattr(value, "__array_function__"):
        return np.zeros_like(value)
    if isinstance(value, float | complex | np.number):
        return value * 0 if np.isfinite(value) else type(value)(0)
    return 0.0 if isinstance(value, int | np.bool_) else None


class Parts(tuple):  # type: ignore[type-arg]
    """The adjoint of a tuple or list of which nothing is known before running: it is added part by part.

    >>> Parts((1.0, None)) + (2.0, None)
    (3.0, None)
    """

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple | list):
            raise TypeError(f"the adjoint of a tuple and a {type(other).__name__} are added")
        return Parts(plus(a, b) for a, b in zip(self, other, strict=True))

    __radd__ = __add__


def plus(a: Any, b: Any) -> Any:
    """The sum of two adjoints; None for no adjoint, tuples, lists and dicts part by part."""
    if a is None or b is None:
        return a if b is None else b
    if isinstance(a, dict):
        return {key: plus(part, b[key]) for key, part in a.items()}
    return Parts(a) + b if isinstance(a, tuple | list) else a + b


def repeated(items: Any, n: Any) -> Any:
    """A new list of constants, `n` times over: `[0.0] * n`.

    >>> repeated([0.0], 3)
    [0.0, 0.0, 0.0]
    """
    return items * n


def add_to_list(adjoints: Any, g: Any) -> None:
    """Add adjoints to those of a list's elements, in place."""
    for i, each in enumerate(g):
        if each is not None:
            add_to_item(adjoints, i, each)


def add_to_each(shadows: Any, values: Any, g: Any) -> None:
    """Add to the shadows of the arrays in a list, and to the adjoints of the numbers in it."""
    for i, value in enumerate(values):
        if isinstance(value, np.ndarray):
            shadows.add(value, g[i])
        elif isinstance(value, list | tuple):
            add_to_each(shadows, value, g[i])
        else:
            add_to_item(shadows(values), i, g[i])


def add_to_item(adjoints: Any, i: Any, g: Any) -> None:
    """Add to the adjoint of one element of a list, or of a slice of it."""
    if isinstance(i, slice):
        for k, each in zip(range(*i.indices(len(adjoints))), g, strict=True):
            adjoints[k] = plus(adjoints[k], each)
    elif isinstance(adjoints[i], list):
        add_to_list(adjoints[i], g)
    else:
        adjoints[i] = plus(adjoints[i], g)


def take_item(adjoints: Any, i: Any) -> Any:
    """The adjoint of an element that was stored, which leaves zero behind."""
    g = adjoints[i]
    adjoints[i] = zeros_of(g)
    return g


def put_back(adjoints: Any, i: Any, g: Any) -> None:
    """Undo `pop(i)`: the element has an adjoint again."""
    at = i if i >= 0 else len(adjoints) + 1 + i
    adjoints.insert(at, g)


def put_back_deleted(adjoints: Any, i: Any) -> None:
    """Undo `del h[i]` of a number."""
    put_back(adjoints, i, 0.0)


def last_stored(adjoint: Any, index: Any) -> Any:
    """The adjoint of what was stored at `index`; where a position is repeated, only the last one counts."""
    g = adjoint[index]
    positions = np.arange(adjoint.size, like=own(adjoint)).reshape(adjoint.shape)[index]
    flat = np.ravel(positions)[::-1]
    _, first = np.unique(flat, return_index=True)
    if first.size == flat.size:
        return g.copy() if hasattr(g, "__array_function__") else g
    wins = np.zeros(flat.size, bool, like=own(adjoint))
    wins[first] = True
    return np.where(wins[::-1].reshape(positions.shape), g, 0)


def last_stored_adjoint(g: Any, adjoint: Any, index: Any) -> Any:
    """The adjoint of `adjoint` in ``last_stored(adjoint, index)``: a store, of which the last one wins, too.

    >>> last_stored_adjoint(np.array([1.0, 2.0]), np.zeros(3), [1, 1])
    array([0., 2., 0.])
    """
    stored = np.zeros_like(adjoint)
    stored[index] = g
    return stored


def scattered(g: Any, x: Any, index: Any) -> Any:
    """Zeros like `x` with `g` added at `index`: the adjoint of `x[index]`."""
    adjoint = zeros_of(x)
    if isinstance(adjoint, tuple | list):
        parts = list(adjoint)
        add_to_item(parts, index, g)
        return Parts(parts)
    if isinstance(adjoint, dict):
        return {key: g if key == index else part for key, part in adjoint.items()}
    if isinstance(adjoint, float | complex | np.generic):  # `x[()]` of a number
        return adjoint + g
    np.add.at(adjoint, index, g)
    return adjoint


def unit_seed(value: Any) -> Any:
    """The seed 1 of a result that turns out to be one number when the program runs."""
    if value is None or np.ndim(value) or np.iscomplexobj(value):
        found = "None" if value is None else f"{np.shape(value)} of {np.result_type(value)}"
        raise TypeError(f"the gradient needs one real number as the result, not {found}")
    if hasattr(value, "__array_function__"):
        return np.ones_like(value)
    return type(value)(1) if isinstance(value, np.floating) else 1.0  # in the precision of the result


def diagonal_places(a: Any) -> Any:
    """The index of the diagonal of an array of two or more dimensions, as `np.fill_diagonal` means it."""
    if np.ndim(a) == 2 or len(set(np.shape(a))) == 1:
        return (np.arange(min(np.shape(a)), like=own(a)),) * np.ndim(a)
    raise ValueError("All dimensions of input must be of equal length")


def cycle_by_place(values: Any, a: Any, mask: Any) -> Any:
    """Positions in `values` of what `np.putmask` stores at the places of a mask."""
    return np.flatnonzero(mask) % np.size(values)


def places_in_order(a: Any, index: Any) -> Any:
    """The elements of `a` that an index selects, in order: one row of positions for each."""
    flat = np.arange(a.size, like=own(a)).reshape(np.shape(a))[index]
    return np.stack(np.unravel_index(np.ravel(flat), np.shape(a)), axis=-1)


def shape_at(a: Any, index: Any) -> Any:
    """The shape of `a[index]`."""
    return np.shape(a[index])


def flat_index(a: Any, at: Any) -> Any:
    """The index of `a` that is `at` in `a.flat`."""
    return np.unravel_index(np.arange(a.size, like=own(a))[at], np.shape(a))


def shuffled_order(generator: Any, n: Any) -> Any:
    """The order into which `generator.shuffle` would bring `n` rows."""
    order = np.arange(n)
    generator.shuffle(order)
    return order


def writable_copy(a: Any) -> Any:
    """A copy of an argument that is written to; one that is read-only may not be."""
    if not a.flags.writeable:
        raise ValueError("assignment destination is read-only")
    return a.copy()


def private_copy(a: Any) -> Any:
    """A copy of an argument that is written to if it is an array; a number is itself."""
    if isinstance(a, list | tuple | dict):
        raise TypeError(f"a {type(a).__name__} that is written to: make the gradient for arguments like it")
    if isinstance(a, np.ndarray):
        return writable_copy(a)
    if not hasattr(a, "dtype") or isinstance(a, np.generic):
        return a
    return a.copy() if hasattr(a, "copy") else a.__array_namespace__().asarray(a, copy=True)


def refuse_torn(target: Any, index: Any, value: Any, written: str) -> None:
    """Raise if `target[index] = value` reads memory that it has just written; `written` is how it was put."""
    both = isinstance(target, np.ndarray) and isinstance(value, np.ndarray)
    if both and value.ndim and _is_torn(target, index, value):
        raise ValueError(
            f"`{written}` overlaps what it reads, and NumPy reads what it has just written: "
            "store a copy of the right-hand side"
        )


def shares_shadow(part: Any, whole: Any) -> bool:
    """Whether what was read is a view, whose shadow is the array's; a number has an adjoint of its own."""
    return not isinstance(part, np.ndarray) or bool(np.shares_memory(part, whole))


def _is_torn(target: Any, index: Any, value: Any) -> bool:
    """Whether NumPy stores something else than if `value` were a copy: asked of numbered elements."""
    if not isinstance(index, np.ndarray):
        part = target[index]
        if np.ndim(part) != 1 or part.strides[0] == value.strides[-1]:
            return False
    if not np.shares_memory(target, value):
        return False
    bounds = [np.lib.array_utils.byte_bounds(x) for x in (target, value)]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    size = min(target.itemsize, value.itemsize)
    torn, whole = (np.arange((high - low) // size).astype(f"f{min(size, 8)}") for _ in range(2))

    def numbered(x: Any, memory: Any) -> Any:
        return np.ndarray(x.shape, x.dtype, memory, x.__array_interface__["data"][0] - low, x.strides)

    numbered(target, torn)[index] = numbered(value, torn)
    numbered(target, whole)[index] = numbered(value, whole).copy()
    return not np.array_equal(torn, whole)


def refuse_shared(target: Any, *values: Any) -> None:
    """Raise if what is written to shares memory with what is read, where NumPy does not look for that."""
    for value in values:
        if isinstance(value, np.ndarray) and np.shares_memory(target, value):
            raise ValueError(
                "this writes into memory that it reads as well, and may read what it has just written: "
                "give it a copy of what it reads"
            )


def private_together(*arrays: Any) -> tuple[Any, ...]:
    """Copies of arguments that share memory, which share memory in the same way."""
    copies: dict[int, Any] = {}
    private = []
    for a in arrays:
        owner = _owner(a)
        if id(owner) not in copies:
            low, high = np.lib.array_utils.byte_bounds(owner)
            memory = np.empty(high - low, np.uint8)
            offset = owner.__array_interface__["data"][0] - low
            copies[id(owner)] = np.ndarray(owner.shape, owner.dtype, memory, offset, owner.strides)
            copies[id(owner)][...] = owner
        start = a.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        whole = copies[id(owner)]
        offset = whole.__array_interface__["data"][0] - whole.base.__array_interface__["data"][0] + start
        private.append(np.ndarray(a.shape, a.dtype, whole.base, offset, a.strides))
    return tuple(private)


def take_inserted(adjoints: Any, i: Any) -> Any:
    """Undo `insert(i, ...)`: the adjoint of what was inserted."""
    n = len(adjoints) - 1
    return adjoints.pop(min(max(i if i >= 0 else i + n, 0), n))


def flat_places(a: Any, indices: Any, mode: Any) -> Any:
    """The index of elements of `a` given by their number, as `np.put` means it."""
    return np.unravel_index(np.arange(a.size, like=own(a)).take(indices, mode=mode).ravel(), np.shape(a))


def masked_places(a: Any, mask: Any) -> Any:
    """The index of the elements of `a` at which a mask of its size is true."""
    return np.unravel_index(np.flatnonzero(mask), np.shape(a))


def places_along_axis(a: Any, indices: Any, axis: Any) -> Any:
    """The index that `np.put_along_axis` stores at."""
    if axis is None:
        return np.unravel_index(np.ravel(indices), np.shape(a))
    shape = np.broadcast_shapes(
        np.shape(indices), tuple(1 if i == axis % np.ndim(a) else n for i, n in enumerate(np.shape(a)))
    )
    grid = list(np.meshgrid(*(np.arange(n, like=own(a)) for n in shape), indexing="ij", sparse=True))
    grid[axis] = np.broadcast_to(indices, shape)
    return tuple(grid)


def cycle(values: Any, places: Any) -> Any:
    """Positions in `values` for each of the places, starting again at the end."""
    return np.arange(np.size(places[0]), like=own(places[0])) % np.size(values)
