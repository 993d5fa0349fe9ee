"""Methods and attributes of arrays, and the functions that they are.

In: the name after the dot. Out: in `METHODS`, the operation in the table whose rule serves `x.name(...)`, as
a `Method`; in `ATTRIBUTES`, the operation that serves `x.name`, or `CONSTANT`. What is in `IN_PLACE` changes
the array and returns None; it is not an operation on values.

    METHODS["mean"].call(x, axis=0)       # np.mean(x, axis=0)
    METHODS["reshape"].call(x, 2, 3)      # np.reshape(x, (2, 3))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..rule import nondifferentiable, vjp
from ..support import item_adjoint, nested_adjoint

__all__ = ["ATTRIBUTES", "CONSTANT", "IN_PLACE", "METHODS", "Method"]


@dataclass(frozen=True, slots=True)
class Method:
    """How a call of a method is a call of a function.

    Attributes:
        function: the operation; its rule is `TABLE[function]`.
        packs: several positional arguments are one tuple: ``x.reshape(2, 3)`` is ``np.reshape(x, (2, 3))``.
        receiver: the position of the array among the function's arguments.
    """

    function: Callable[..., Any]
    packs: bool = False
    receiver: int = 0

    def arguments(self, x: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The positional arguments of the function, for ``x.name(*args)``.

        >>> Method(np.reshape, packs=True).arguments("x", (2, 3))
        ('x', (2, 3))
        """
        if self.packs and len(args) > 1:
            args = (args,)
        return (*args[: self.receiver], x, *args[self.receiver :])

    def call(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """``x.name(*args, **kwargs)`` through the function."""
        return self.function(*self.arguments(x, args), **kwargs)


# -- methods that no NumPy function is exactly: the unbound method is the operation ------------------------

_M = np.array([[0.3, 0.9, -0.6], [1.2, -0.1, 2.5]])


@vjp(np.ndarray.flatten, samples=[(_M,), (_M, "F"), (_M.T, "A"), (np.array(0.5),)])
def flatten(g: Any, out: Any, a: Any, order: Any = "C") -> Any:
    return np.reshape(g, np.shape(a), order=order if order != "K" else "C")


@flatten.jvp
def _(a_dot: Any, out: Any, a: Any, order: Any = "C") -> Any:
    return np.ravel(a_dot, order=order)


@vjp(
    np.ndarray.item,
    np.generic.item,
    samples=[(np.array(0.7),), (np.float64(0.7),), (np.array([[0.7]]),), (_M, 4), (_M, 1, 2), (_M, (1, -1))],
)
def item(g: Any, out: Any, a: Any, *args: Any) -> Any:
    return item_adjoint(g, a, args)


@item.jvp
def _(a_dot: Any, out: Any, a: Any, *args: Any) -> Any:
    return np.asarray(a_dot).item(*args)


@vjp(np.ndarray.tolist, np.generic.tolist, samples=[(_M,), (np.array(0.7),), (np.float64(0.7),)])
def tolist(g: Any, out: Any, a: Any) -> Any:
    return nested_adjoint(g, a)


@tolist.jvp
def _(a_dot: Any, out: Any, a: Any) -> Any:
    return np.asarray(a_dot).tolist()


@vjp(
    np.ndarray.astype,
    np.generic.astype,
    samples=[(_M, np.float64), (_M, np.complex128), (_M + 1j, complex), (np.float64(0.5), float)],
)
def astype(
    g: Any,
    out: Any,
    a: Any,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
) -> Any:
    return g


@astype.jvp
def _(
    a_dot: Any,
    out: Any,
    a: Any,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
) -> Any:
    return np.asarray(a_dot).astype(dtype)


if hasattr(np, "astype"):  # NumPy 2.1

    @vjp(np.astype, samples=[(_M, np.float64), (_M, np.complex128)])
    def astype_function(
        g: Any, out: Any, x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None
    ) -> Any:
        return g

    @astype_function.jvp
    def _(x_dot: Any, out: Any, x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
        return np.asarray(x_dot).astype(dtype)


nondifferentiable(np.ndarray.tobytes, np.ndarray.dumps, np.ndarray.dump, np.ndarray.tofile)

# -- the two tables ----------------------------------------------------------------------------------------

METHODS: Final[dict[str, Method]] = {
    "__abs__": Method(np.absolute),
    "__complex__": Method(complex),
    "__float__": Method(float),
    "__len__": Method(len),
    "__neg__": Method(np.negative),
    "all": Method(np.all),
    "any": Method(np.any),
    "argmax": Method(np.argmax),
    "argmin": Method(np.argmin),
    "argpartition": Method(np.argpartition),
    "argsort": Method(np.argsort),
    "astype": Method(np.ndarray.astype),
    "choose": Method(np.choose),
    "clip": Method(np.clip),
    "compress": Method(np.compress, receiver=1),
    "conj": Method(np.conjugate),
    "conjugate": Method(np.conjugate),
    "copy": Method(np.copy),
    "cumprod": Method(np.cumprod),
    "cumsum": Method(np.cumsum),
    "diagonal": Method(np.diagonal),
    "dot": Method(np.dot),
    "dump": Method(np.ndarray.dump),
    "dumps": Method(np.ndarray.dumps),
    "flatten": Method(np.ndarray.flatten),
    "is_integer": Method(float.is_integer),
    "item": Method(np.ndarray.item),
    "max": Method(np.max),
    "mean": Method(np.mean),
    "min": Method(np.min),
    "nonzero": Method(np.nonzero),
    "prod": Method(np.prod),
    "ravel": Method(np.ravel),
    "repeat": Method(np.repeat),
    "reshape": Method(np.reshape, packs=True),
    "round": Method(np.round),
    "searchsorted": Method(np.searchsorted),
    "squeeze": Method(np.squeeze),
    "std": Method(np.std),
    "sum": Method(np.sum),
    "swapaxes": Method(np.swapaxes),
    "take": Method(np.take),
    "tobytes": Method(np.ndarray.tobytes),
    "tofile": Method(np.ndarray.tofile),
    "tolist": Method(np.ndarray.tolist),
    "trace": Method(np.trace),
    "transpose": Method(np.transpose, packs=True),
    "var": Method(np.var),
}

#: Methods that change the array they belong to.
IN_PLACE: Final = frozenset(
    ["byteswap", "fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort"]
)

#: Marks an attribute that holds no derivative.
CONSTANT: Final = None

ATTRIBUTES: Final[dict[str, Callable[..., Any] | None]] = {
    "T": np.transpose,
    "device": CONSTANT,
    "dtype": CONSTANT,
    "flags": CONSTANT,
    "flat": np.ravel,
    "imag": np.imag,
    "itemsize": CONSTANT,
    "mT": np.matrix_transpose,
    "nbytes": CONSTANT,
    "ndim": CONSTANT,
    "real": np.real,
    "shape": CONSTANT,
    "size": CONSTANT,
    "strides": CONSTANT,
}
