"""Array modules: which function of NumPy another library's function is the counterpart of.

In: a function of CuPy, of another module with NumPy's names, or of a namespace of the array API standard.
Out: NumPy's own, by which the rules are found and results are inferred; what is nobody's counterpart is
returned as it is.

    standard(cupy.sum)                        # np.sum
    standard(cupy.sin)                        # np.sin, though it is called "cupy_sin"
    standard(array_api_strict.permute_dims)   # np.transpose

The functions of a module are told apart by what they are, not by what they are called: those of CuPy do not
bear NumPy's names.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

__all__ = [
    "copy_of",
    "counterpart",
    "is_array_module",
    "may_share_memory",
    "module_of",
    "name_in",
    "namespace_of",
    "speaks_numpy",
    "standard",
]

#: Names of NumPy's modules within it, which array modules have too.
_INNER = ("", "linalg", "fft", "random")

#: By the id of a module: the module, and by the ids of its functions these and NumPy's.
_tables: dict[int, tuple[Any, dict[int, tuple[Any, Any]]]] = {}


def is_array_module(module: Any) -> bool:
    """Whether a module is another one like NumPy: with an array type and functions of its own.

    >>> is_array_module(np), is_array_module(types)
    (False, False)
    """
    if not isinstance(module, types.ModuleType) or module is np:
        return False
    if hasattr(module, "__array_namespace_info__") or hasattr(module, "__array_api_version__"):
        return hasattr(module, "asarray")  # `fft` of a namespace may name what it asks of it
    arrays = getattr(module, "ndarray", None)
    own = isinstance(arrays, type) and arrays is not np.ndarray
    return own and all(hasattr(module, name) for name in ("asarray", "zeros_like", "sum"))


def standard(function: Any) -> Any:
    """NumPy's counterpart of a function (or dtype) of an array module that has been imported.

    >>> standard(np.sin) is np.sin, standard(len) is len
    (True, True)
    """
    home = getattr(function, "__module__", None)
    if not isinstance(home, str):
        home = type(function).__module__
    module = sys.modules.get(home.partition(".")[0])
    if module is None or module is np or not is_array_module(module):
        return function
    found = _counterparts(module).get(id(function))
    return function if found is None else found[1]


def counterpart(module: Any, function: Any) -> Any:
    """`standard`, for a function that was found in an array module, wherever it was defined.

    >>> counterpart(np, np.sin) is np.sin
    True
    """
    if not isinstance(module, types.ModuleType):
        return function
    if not is_array_module(module):  # `linalg` of one
        module = sys.modules.get(module.__name__.partition(".")[0])
    found = _counterparts(module).get(id(function)) if is_array_module(module) else None
    return function if found is None else found[1]


def name_in(module: Any, path: str, function: Any) -> str | None:
    """What a function of NumPy is called in an array module: its own name, or another; None if it is missing.

    >>> name_in(np, "linalg.norm", np.linalg.norm)
    'linalg.norm'
    """
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is not None:
        return path
    others = (name for name in dir(np) if getattr(np, name) is function and hasattr(module, name))
    return next(others, None)


def speaks_numpy(module: Any) -> bool:
    """Whether NumPy's own functions take the module's arrays; those of a bare namespace they copy."""
    return hasattr(module, "ndarray")


def _counterparts(module: Any) -> dict[int, tuple[Any, Any]]:
    if id(module) not in _tables:
        found: dict[int, tuple[Any, Any]] = {}
        for inner in _INNER:
            theirs = getattr(module, inner, None) if inner else module
            ours = getattr(np, inner) if inner else np
            for name in dir(ours):
                function, reference = getattr(theirs, name, None), getattr(ours, name)
                if function is not None and function is not reference and _has_counterpart(name, function):
                    found.setdefault(id(function), (function, reference))
        _tables[id(module)] = module, found
    return _tables[id(module)][1]


def _has_counterpart(name: str, function: Any) -> bool:
    """Functions, and the dtypes of a namespace that has its own; types and modules stand for themselves."""
    if name.startswith("_") or isinstance(function, types.ModuleType):
        return False
    return (callable(function) and not isinstance(function, type)) or name in _DTYPES


_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
)


def module_of(array: Any) -> str | None:
    """The name of the package that an array's type is from; None for NumPy's.

    >>> module_of(np.zeros(3)), module_of(2.0)
    (None, None)
    """
    if isinstance(array, np.ndarray | np.generic) or not hasattr(array, "dtype"):
        return None
    home = type(array).__module__.partition(".")[0]
    if home not in _namespaces and hasattr(array, "__array_namespace__"):
        _namespaces[home] = array.__array_namespace__()
    return home


#: For each package of `module_of`, what its arrays answer to `__array_namespace__()`.
_namespaces: dict[str, Any] = {}


def namespace_of(home: str) -> Any:
    """The namespace of the array API standard that arrays of a package have; None if they have none."""
    return _namespaces.get(home)


def copy_of(array: Any) -> Any:
    """A copy of an array, by its method or, where it has none, as the array API makes one.

    >>> copy_of(np.ones(2))
    array([1., 1.])
    """
    return array.copy() if hasattr(array, "copy") else array.__array_namespace__().asarray(array, copy=True)


def may_share_memory(a: Any, b: Any) -> bool:
    """Whether two arrays may share memory, asked of the library that they are from, or of what they export.

    Of arrays that tell neither, only whether they are one object.

    >>> x = np.zeros(3)
    >>> may_share_memory(x, x[1:]), may_share_memory(x, x.copy())
    (True, False)
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    if type(a) is not type(b):
        return False
    ask = getattr(sys.modules.get(module_of(a) or ""), "may_share_memory", None)
    try:
        if ask is not None:
            return bool(ask(a, b))
        return np.may_share_memory(np.from_dlpack(a), np.from_dlpack(b))
    except (TypeError, ValueError, AttributeError, BufferError, RuntimeError, NotImplementedError):
        return a is b
