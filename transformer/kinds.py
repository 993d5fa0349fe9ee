"""Kinds: what is known of a value before it is computed.

In: Python values (`kind_of`), type notations (`parse_kind`). Out: frozen `Kind`s, with a join for control
flow and the algebra of broadcasting over symbolic dimensions.

    >>> kind_of(np.ones((3, 1)), "w")
    f8[w.0, 1]
    >>> join(Number("int"), Number("float"))
    float

A dimension is an int where the size is known, a `Dim` where two sizes can be told equal, or None. Knowledge
only ever removes work: where a dimension is unknown, the generated code asks at run time.
"""

from __future__ import annotations

import functools
import sys
import types
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..runtime.array_modules import module_of

#: Python's own numbers, which take the precision of the array they meet (NEP 50).
WEAK = ("bool", "int", "float", "complex")


class Kind:
    """Base of all kinds."""

    __slots__ = ()

    @property
    def differentiable(self) -> bool:
        """Whether a value of this kind can carry an adjoint."""
        return True


@dataclass(frozen=True)
class Dim:
    """The size `max(root - minus, 0)`, where `root` names a size that is fixed while the function runs."""

    root: str
    minus: int = 0
    not_one: bool = False

    @property
    def ambiguous(self) -> bool:
        """Whether the root stands for one of several sizes: two such sizes, made smaller, may differ."""
        return "|" in self.root or "*" in self.root

    def __repr__(self) -> str:
        return f"{self.root}-{self.minus}" if self.minus else self.root


Size = int | Dim | None


@dataclass(frozen=True)
class Number(Kind):
    """A Python number or NumPy scalar: immutable, no dimensions. `dtype` is in WEAK or like 'f8'.

    `size` is set for an integer that is the size of some axis.
    """

    dtype: str | None
    size: Dim | None = None

    def __repr__(self) -> str:
        return self.dtype or "number"

    @property
    def weak(self) -> bool:
        return self.dtype in WEAK

    @property
    def differentiable(self) -> bool:
        return self.dtype is None or self.dtype in ("float", "complex") or self.dtype[0] in "fc"


@dataclass(frozen=True)
class Array(Kind):
    """An array of a dtype like 'f8' (None: unknown) and dimensions (None: their number is unknown).

    `home` is the package of the array's type where that is not NumPy's. Elements and sums of such arrays are
    arrays without dimensions, which show memory and can be written to, where NumPy's are numbers.
    """

    dtype: str | None
    dims: tuple[Size, ...] | None
    home: str | None = None

    def __repr__(self) -> str:
        dims = "..." if self.dims is None else ", ".join("?" if d is None else repr(d) for d in self.dims)
        return f"{self.dtype or '?'}[{dims}]" + (f" of {self.home}" if self.home else "")

    @property
    def ndim(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def differentiable(self) -> bool:
        return self.dtype is None or self.dtype[0] in "fcO"


@dataclass(frozen=True)
class Sequence(Kind):
    """A list whose length is not known; every element is of one kind."""

    element: Kind

    def __repr__(self) -> str:
        return f"list[{self.element}]"

    @property
    def differentiable(self) -> bool:
        return self.element.differentiable


@dataclass(frozen=True)
class Opaque(Kind):
    """A Python object that carries no adjoint: a string, a file, a random generator, a shape."""

    type: type | None = None

    def __repr__(self) -> str:
        return self.type.__name__ if self.type else "object"

    @property
    def differentiable(self) -> bool:
        return False


@dataclass(frozen=True)
class Sparse(Kind):
    """A sparse matrix of SciPy. The adjoint of one that is made of entries is an array beside its `data`.

    Attributes:
        matrix: whether `*` is the product of matrices; None if that is not known.
        filled: whether it was made of entries in the program, which may carry derivatives.
    """

    dtype: str | None
    matrix: bool | None
    filled: bool = False

    def __repr__(self) -> str:
        return f"sparse({self.dtype or '?'})"

    @property
    def differentiable(self) -> bool:
        return self.filled


@dataclass(frozen=True)
class Unknown(Kind):
    """Anything at all; generated code asks at run time."""

    def __repr__(self) -> str:
        return "?"


@dataclass(frozen=True)
class Undefined(Kind):
    """The kind of a name that is not bound on some path; it joins with anything."""

    def __repr__(self) -> str:
        return "undefined"

    @property
    def differentiable(self) -> bool:
        return False


@dataclass(frozen=True)
class Static(Kind):
    """A value that is what it is in every call with this signature: None, a string, a function."""

    value: Any
    key: str

    def __repr__(self) -> str:
        return self.key

    @property
    def differentiable(self) -> bool:
        return False


@dataclass(frozen=True)
class Container(Kind):
    """A tuple, list, dict, dataclass or other object with known parts.

    `keys` are indices, dict keys or attribute names.
    """

    type: type
    keys: tuple[Any, ...]
    items: tuple[Kind, ...]

    def __repr__(self) -> str:
        parts = ", ".join(f"{k}: {i}" for k, i in zip(self.keys, self.items, strict=True))
        return f"{self.type.__name__}({parts})"

    @property
    def differentiable(self) -> bool:
        return any(item.differentiable for item in self.items)


UNKNOWN = Unknown()
UNDEFINED = Undefined()
FLOAT, INT, BOOL = Number("float"), Number("int"), Number("bool")


# -- from values and from notation -------------------------------------------------------------------


def dtype_code(dtype: Any) -> str:
    """'f8' for float64, 'c16' for complex128, 'O' for objects."""
    dtype = np.dtype(dtype)
    return "O" if dtype.kind == "O" else f"{dtype.kind}{dtype.itemsize}"


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy.

    >>> is_sparse(np.zeros((2, 2)))
    False
    """
    return (type(value).__module__ or "").startswith("scipy.sparse") and hasattr(value, "format")


def kind_of(value: Any, name: str = "") -> Kind:
    """The kind of a value that is no container; sizes other than 1 become dimensions named after `name`."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, np.generic):
        return Number(dtype_code(value.dtype)) if value.dtype.kind in "biufc" else Opaque(type(value))
    if isinstance(value, int | float | complex):
        return Number(type(value).__name__ if type(value).__name__ in WEAK else None)
    if is_sparse(value):
        return Sparse(dtype_code(value.dtype), "matrix" in type(value).__name__)
    if isinstance(value, np.ndarray) or (
        hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "ndim")
    ):
        if _dtype_of_array(value).kind not in "biufcO":
            return Opaque(type(value))
        dims = tuple(1 if n == 1 else Dim(f"{name}.{i}", 0, True) for i, n in enumerate(value.shape))
        return Array(dtype_code(_dtype_of_array(value)), dims, module_of(value))
    return Opaque(type(value))


def _dtype_of_array(value: Any) -> np.dtype[Any]:
    """The dtype of an array as NumPy has it; namespaces of the array API standard have their own."""
    try:
        dtype: np.dtype[Any] = np.dtype(value.dtype)
    except TypeError:
        dtype = np.dtype(str(value.dtype).rpartition(".")[2])
    return dtype


def home_of(*kinds: Kind) -> str | None:
    """The package that the arrays among some kinds are from; None where they are NumPy's."""
    return next((k.home for k in kinds if isinstance(k, Array) and k.home), None)


def at_home(kind: Kind, home: str) -> Kind:
    """The kind of a result among arrays of another package: what NumPy gives as a scalar is an array there.

    >>> at_home(Number("f8"), "cupy")
    f8[] of cupy
    """
    if isinstance(kind, Array):
        return replace(kind, home=home)
    if isinstance(kind, Number) and not kind.weak:
        return Array(kind.dtype, (), home)
    return Sequence(at_home(kind.element, home)) if isinstance(kind, Sequence) else kind


#: Objects of these packages are taken as a whole; of others, and of `types.SimpleNamespace`, by their parts.
CLOSED = (frozenset({"numpy", "scipy"}) | sys.stdlib_module_names) - {"types"}


_FUNCTIONS = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    functools.partial,
    np.ufunc,
)
_LIBRARIES = frozenset({"numpy", "scipy", "functools", "builtins", "cupy", "numba"})


def is_function(value: Any) -> bool:
    """A function, class, method or ufunc; not an instance of a user's class that can be called."""
    if not callable(value):
        return False
    if isinstance(value, _FUNCTIONS):
        return True
    if hasattr(value, "__name__") and hasattr(value, "__qualname__"):
        return True  # what other compilers make of functions
    library = (type(value).__module__ or "").partition(".")[0] in _LIBRARIES
    return not hasattr(value, "dtype") and (library or not hasattr(value, "__dict__"))


#: Longer lists of one kind are walked by loops; shorter ones are known element by element.
LONGEST_UNROLLED = 8


def signature_kind(value: Any, name: str, around: tuple[int, ...] = ()) -> Kind:
    """The kind of an argument, containers and objects included.

    >>> signature_kind({"W": np.zeros((3, 3)), "b": 0.0}, "p")
    dict(W: f8[p.W.0, p.W.1], b: float)

    `around`: the identities of the containers that the value is in; what refers back to one is opaque.
    """
    if value is None or isinstance(value, str | bytes | bool) or value is Ellipsis:
        return Static(value, repr(value))
    if is_function(value):
        return Static(
            value, f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
        )
    if id(value) in around:
        return Opaque(type(value))
    inside = (*around, id(value))
    if isinstance(value, dict):
        if not all(isinstance(key, str | int) for key in value):
            return Opaque(type(value))
        return Container(
            dict, tuple(value), tuple(signature_kind(v, f"{name}.{k}", inside) for k, v in value.items())
        )
    if isinstance(value, tuple | list):
        items = tuple(signature_kind(v, f"{name}.{i}", inside) for i, v in enumerate(value))
        if isinstance(value, list) and len(value) > LONGEST_UNROLLED:
            element: Kind = UNDEFINED
            for each in value:
                element = join(element, signature_kind(each, f"{name}.*", inside))
            return Sequence(element)
        keys = getattr(type(value), "_fields", None) or range(len(value))
        return Container(type(value), tuple(keys), items)
    if (
        not isinstance(value, np.generic)
        and hasattr(value, "__dict__")
        and not hasattr(value, "dtype")
        and not isinstance(value, type)
    ):
        if (type(value).__module__ or "").partition(".")[0] in CLOSED:
            return Opaque(type(value))
        attributes = vars(value)
        items = tuple(signature_kind(v, f"{name}.{k}", inside) for k, v in attributes.items())
        return Container(type(value), tuple(attributes), items)
    return kind_of(value, name)


# -- join --------------------------------------------------------------------------------------------


def join(a: Kind, b: Kind) -> Kind:
    """The least kind that covers both."""
    if a == b or isinstance(b, Undefined):
        return a
    if isinstance(a, Undefined):
        return b
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(_join_dtype(a.dtype, b.dtype))
    if isinstance(a, Array) and isinstance(b, Array):
        dtype = a.dtype if a.dtype == b.dtype else None
        home = a.home or b.home
        if a.dims is None or b.dims is None or len(a.dims) != len(b.dims):
            return Array(dtype, None, home)
        return Array(dtype, tuple(_join_size(x, y) for x, y in zip(a.dims, b.dims, strict=True)), home)
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        return Sequence(join(a.element, b.element))
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        return Opaque(None)
    return UNKNOWN


def _join_size(a: Size, b: Size) -> Size:
    if a == b:
        return a
    if is_not_one(a) and is_not_one(b):
        roots = {
            root
            for size in (a, b)
            for root in (size.root.split("|") if isinstance(size, Dim) else [str(size)])
        }
        return Dim("|".join(sorted(roots)), 0, True)
    return None


def _join_dtype(a: str | None, b: str | None) -> str | None:
    """Python and NumPy scalars of one class become the wider of them as far as derivatives care."""
    if a is None or b is None:
        return None
    if a in WEAK and b in WEAK:
        return WEAK[max(WEAK.index(a), WEAK.index(b))]
    weak, strong = (a, b) if a in WEAK else (b, a)
    if weak in WEAK and strong not in WEAK:
        # `s = 0.0` and then `s += np.float64(...)`: a float64 from the second trip on
        order = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
        return strong if strong in ("f8", "c16") and WEAK.index(weak) <= order[strong[0]] else None
    return None


# -- broadcasting ------------------------------------------------------------------------------------


def is_certain(size: Size) -> bool:
    """A size that means one number wherever it stands: not that of any element of a list, nor one of two."""
    return isinstance(size, int) or (isinstance(size, Dim) and not size.ambiguous)


def is_not_one(size: Size) -> bool:
    return size is not None and (size != 1 if isinstance(size, int) else size.not_one)


def broadcast_size(a: Size, b: Size) -> Size:
    """The size that two sizes broadcast to, as far as known."""
    if a == b or b == 1:
        return a
    if a == 1 or (isinstance(b, int)):
        return b
    if isinstance(a, int) or is_not_one(a):
        return a
    return b if is_not_one(b) else None


def broadcast_dims(*dims: tuple[Size, ...] | None) -> tuple[Size, ...] | None:
    """The dimensions of an elementwise result."""
    if any(d is None for d in dims):
        return None
    known = [d for d in dims if d is not None]
    ndim = max((len(d) for d in known), default=0)
    result: list[Size] = [1] * ndim
    for each in known:
        for i, size in enumerate(each, ndim - len(each)):
            result[i] = broadcast_size(result[i], size)
    return tuple(result)


def dims_of(kind: Kind) -> tuple[Size, ...] | None:
    """() for numbers, the dimensions of an array, None if unknown."""
    if isinstance(kind, Number):
        return ()
    return kind.dims if isinstance(kind, Array) else None


def dtype_of(kind: Kind) -> str | None:
    return kind.dtype if isinstance(kind, Number | Array | Sparse) else None


def is_integer(kind: Kind) -> bool:
    """Certainly an integer or boolean number or array."""
    dtype = dtype_of(kind)
    return dtype in ("bool", "int") or (dtype is not None and dtype not in WEAK and dtype[0] in "biu")


def is_real(kind: Kind) -> bool:
    """Certainly not complex."""
    dtype = dtype_of(kind)
    return dtype is not None and dtype != "complex" and (dtype in WEAK or dtype[0] in "biuf")


def same_shape(a: Kind, b: Kind) -> bool:
    """Whether two results of one elementwise operation certainly have one shape.

    Used for an operand against the result: sizes that are known not to be 1 were not stretched.
    """
    x, y = dims_of(a), dims_of(b)
    if x is None or y is None or len(x) != len(y):
        return False
    return all((p is not None and p == q) or is_not_one(p) for p, q in zip(x, y, strict=True))
