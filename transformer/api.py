"""The public face: `grad`, `value_and_grad`, `vjp`, `jacobian`.

In: a function. Out: a `Gradient`: an object to call, and to look into.

    @grad
    def loss(w, X, y): ...

    loss(w, X, y)                             # the gradient with respect to w
    loss.primal(w, X, y)                      # the function's own value
    print(loss.source)                        # the code that computed the gradient
    value, saved = loss.forward(w, X, y)      # the same in two halves
    w_bar = loss.adjoint(saved, 1.0)

Code is generated for the kinds of the arguments, once for each; later calls look it up by a key per argument.
"""

from __future__ import annotations

import functools
import html
import inspect
import pickle
import sys
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np

from .errors import AdjoinError, Code
from .kinds import UNKNOWN, Kind, Static, signature_kind
from .like import annotated, kinds_of
from .signature import Binding, bind, key_of, names_asked, parameters_of
from .source import Source, read
from .structures import Apart, conform, holds_floats, leaves, mapped, members, number_like, same_form
from .variants import Variant, Wanted, variant_for

__all__ = ["Gradient", "Saved", "grad", "jacobian", "value_and_grad", "vjp"]

Argnums = int | tuple[int, ...]
Argnames = str | tuple[str, ...]
#: Signatures that one function may be called with before those known are forgotten.
_MOST_VARIANTS = 512


class _First(int):
    """The position 0 where nobody gave one, so that `argnames` alone means just those names."""


_FIRST = _First(0)


class _Plan:
    """What to do with a call of a certain shape: how many positional arguments, which keywords."""

    def __init__(self, binding: Binding, wrt: tuple[str, ...] | None) -> None:
        self.binding = binding
        self.in_order = binding.in_order
        self.wrt = wrt
        self.variants: dict[tuple[str, tuple[Hashable, ...]], list[Variant]] = {}


class Saved:
    """What the adjoint of a call needs of its forward sweep; from `Gradient.forward`, for `Gradient.adjoint`."""

    __slots__ = ("free", "inner", "value", "values", "variant")

    def __init__(
        self, variant: Variant, inner: Any, value: Any, values: tuple[Any, ...], free: dict[str, Any]
    ) -> None:
        self.variant = variant
        self.inner = inner
        self.value = value
        self.values = values
        self.free = free

    def __repr__(self) -> str:
        return f"<saved by {self.variant.entries[0].__name__}>"


class Gradient:
    """The gradient of a function, as `grad` and `value_and_grad` return it.

    Attributes:
        primal: the function itself.
        source: the generated module, as text; see there.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        argnums: Argnums | None = _FIRST,
        argnames: Argnames | None = None,
        has_aux: bool = False,
        like: str | Mapping[str, Any] | None = None,
        with_value: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a function is needed, not {type(function).__name__}")
        functools.update_wrapper(self, function)
        self.primal = function
        self._asked, self._single = _asked(argnums, argnames)
        self._options = {
            "argnums": argnums,
            "argnames": argnames,
            "has_aux": has_aux,
            "like": like,
            "with_value": with_value,
        }
        self._has_aux = has_aux
        self._like = like
        self._with_value = with_value
        self._mode = "value_and_joint" if with_value else "joint"
        self._plans: dict[Hashable, _Plan] = {}
        self._plans_of_classes: dict[type, dict[Hashable, _Plan]] = {}
        self._source: Source | None = None
        self._last: Variant | None = None

    # -- calling -----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        variant, values, free = self._find(self._mode, args, kwargs)
        result = variant.entries[0](*values, **free)
        if self._with_value:
            value, gradients = result
            number = value[0] if self._has_aux else value
            if type(number) is not float and np.ndim(number):
                raise self._not_scalar(np.shape(number))
            return value, _finished(variant, gradients, values, free)
        if self._has_aux:
            gradients, aux = result
            return _finished(variant, gradients, values, free), aux
        return _finished(variant, result, values, free)

    def forward(self, *args: Any, **kwargs: Any) -> tuple[Any, Saved]:
        """The value of the function, and what `adjoint` needs.

        The result may be of any structure and shape. With `has_aux`, the value is a pair whose second part
        takes no part in the gradient.

        >>> value, saved = grad(lambda x: x * x).forward(3.0)
        >>> value
        9.0
        """
        variant, values, free = self._find("split", args, kwargs)
        value, inner = variant.entries[0](*values, **free)
        return value, Saved(variant, inner, value[0] if self._has_aux else value, values, free)

    def adjoint(self, saved: Saved, seed: Any = 1.0) -> Any:
        """The gradients that a seed pulls back to; may be asked of the same `saved` more than once.

        Args:
            saved: from `forward`.
            seed: the adjoint of the value: of its structure and shapes.

        Raises:
            AdjoinError: ADJ305 where the seed is not of the value's form.

        >>> gradient = grad(lambda x: x * x)
        >>> gradient.adjoint(gradient.forward(3.0)[1], 10.0)
        60.0
        """
        variant = saved.variant
        given = _seed(seed, saved.value)
        takes = variant.takes[1]
        free = {name: value for name, value in saved.free.items() if name in takes}
        gradients = variant.entries[1](saved.inner, given, **free)
        return _finished(variant, gradients, saved.values, {**saved.free, "": (saved.inner, given, saved.value)})

    def _find(
        self, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Variant, tuple[Any, ...], dict[str, Any]]:
        """The variant for a call, the values of its parameters, and the values from outside."""
        source = self._source or self._read()
        plan = self._plans.get((len(args), *kwargs) if kwargs else len(args)) or self._plan(args, kwargs)
        values = args if plan.in_order else plan.binding.values(args, kwargs)
        keys = tuple([key_of(value) for value in values])
        for variant in plan.variants.get((mode, keys), ()):
            free = variant.free(source)
            if free is not None:
                self._last = variant
                return variant, values, free
        return self._generate(plan, mode, values, keys)

    def _read(self) -> Source:
        self._source = read(self.primal)
        return self._source

    def _plan(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan:
        source = self._source or self._read()
        binding = bind(source, args, kwargs, self._asked or ())
        wrt = None if self._asked is None else names_asked(source, binding, binding.names, self._asked)
        plan = self._plans[(len(args), *kwargs) if kwargs else len(args)] = _Plan(binding, wrt)
        return plan

    def _generate(
        self, plan: _Plan, mode: str, values: tuple[Any, ...], keys: tuple[Hashable, ...]
    ) -> tuple[Variant, tuple[Any, ...], dict[str, Any]]:
        source = self._source or self._read()
        names = plan.binding.names
        arguments = dict(zip(names, values, strict=True))
        wrt = plan.wrt
        if wrt is None:
            wrt = tuple(n for n in plan.binding.positional if n in arguments and holds_floats(arguments[n]))
        for name in wrt:
            _check_active(source, name, arguments[name])
        kinds = tuple((name, signature_kind(value, name)) for name, value in arguments.items())
        wanted = Wanted(kinds, plan.binding.spread, wrt, mode, self._has_aux, self._single)
        variant = variant_for(source, self.primal, wanted, keys, arguments)
        free = variant.free(source)
        assert free is not None, "the values that code was generated for are those that it is for"
        if len(plan.variants) >= _MOST_VARIANTS:
            plan.variants.clear()
        known = plan.variants.get((mode, keys), [])
        plan.variants[mode, keys] = [variant, *known[:7]]
        self._last = variant
        return variant, values, free

    def _not_scalar(self, shape: tuple[int, ...]) -> AdjoinError:
        source = self._source or self._read()
        return AdjoinError(
            Code.NON_SCALAR_RESULT,
            f"the result of `{source.name}` has the shape {shape}; a gradient is of one number",
            where=source.where(),
            rewrite="use vjp with a seed for the result, or jacobian",
        )

    # -- looking -----------------------------------------------------------------------------------

    @property
    def source(self) -> str:
        """The generated module, as text.

        It is the one of the last call. Before any, it is the one for the kinds that `like` or annotations
        state; what they leave open is handled at run time.
        """
        if self._last is not None:
            return self._last.text
        return self._without_arguments().text

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The module for these arguments, as text; nothing of it is run.

        >>> print(grad(lambda x: x * x).source_for(3.0))  # doctest: +SKIP
        """
        return self._find(self._mode, args, kwargs)[0].text

    def _without_arguments(self, mode: str | None = None) -> Variant:
        source = self._source or self._read()
        kinds = self._stated_kinds(source)
        binding = Binding(tuple(kinds), tuple(kinds), self._positional(source), (), {})
        wrt = names_asked(source, binding, tuple(kinds), self._asked or ())
        for name in wrt:
            if not kinds[name].differentiable:
                raise _not_active(source, name, str(kinds[name]), "an array or number of a float dtype")
        spread = tuple((p.name, 0) for p in parameters_of(source) if p.kind is p.VAR_POSITIONAL)
        wanted = Wanted(tuple(kinds.items()), spread, wrt, mode or self._mode, self._has_aux, self._single)
        keys = tuple(f"{name}: {kind!r}" for name, kind in kinds.items())
        return variant_for(source, self.primal, wanted, keys, {})

    def _positional(self, source: Source) -> tuple[str, ...]:
        parameters = parameters_of(source)
        return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))

    def _stated_kinds(self, source: Source) -> dict[str, Kind]:
        """A kind per parameter, as far as `like`, annotations and defaults go."""
        like = {} if self._like is None else kinds_of(self._like)
        stated = {**annotated(source.function), **like}
        kinds: dict[str, Kind] = {}
        for p in parameters_of(source):
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name in source.keywords:
                continue
            if p.name in stated:
                kinds[p.name] = stated[p.name]
            elif p.default is p.empty:
                kinds[p.name] = UNKNOWN
            elif not isinstance(found := signature_kind(p.default, p.name), Static):
                kinds[p.name] = found
        unknown = [name for name in like if name not in kinds]
        if unknown:
            raise AdjoinError(
                Code.BAD_LIKE,
                f"`{source.name}` has no parameter {unknown[0]!r}; it has {', '.join(kinds) or 'none'}",
                where=source.where(),
                rewrite="give these names",
            )
        return kinds

    def __repr__(self) -> str:
        name = getattr(self.primal, "__qualname__", None) or type(self.primal).__name__
        what = "value and gradient" if self._with_value else "gradient"
        asked = ", ".join(a if isinstance(a, str) else self._name_at(a) for a in self._asked or ())
        return f"<{what} of {name} with respect to {asked or 'every argument'}>"

    def _name_at(self, position: int) -> str:
        try:
            parameters = [p for p in inspect.signature(self.primal).parameters.values() if p.kind <= 1]
            return parameters[position].name
        except (IndexError, TypeError, ValueError):
            return f"argument {position}"

    def _repr_html_(self) -> str:
        try:
            text = self.source
        except AdjoinError as error:
            return f"<pre>{html.escape(f'{self!r}')}\n{html.escape(str(error))}</pre>"
        try:
            from pygments import highlight
            from pygments.formatters import HtmlFormatter
            from pygments.lexers import PythonLexer
        except ImportError:
            return f"<pre>{html.escape(text)}</pre>"
        found: str = highlight(text, PythonLexer(), HtmlFormatter(noclasses=True))
        return found

    # -- methods, copies ---------------------------------------------------------------------------

    def __get__(self, instance: Any, owner: type | None = None) -> Gradient:
        """As a method: positions count from the argument after the instance."""
        if instance is None:
            return self
        source = self._source or self._read()
        bound = self._bound_to(types.MethodType(self.primal, instance), type(instance))
        bound._source = replace(source, args=(*source.args, instance))
        return bound

    def _bound_to(self, function: Any, cls: type) -> Gradient:
        """The same gradient of a bound form of the function; code is shared for each class."""
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound.primal = function
        bound._plans = self._plans_of_classes.setdefault(cls, {})
        return bound

    def __reduce__(self) -> str | tuple[Any, ...]:
        qualname = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for part in qualname.split("."):
            found = getattr(found, part, None)
        if found is self:
            return qualname
        if isinstance(self.primal, types.FunctionType) and found is not self.primal:
            raise pickle.PicklingError(f"{self!r} cannot be found again as {self.__module__}.{qualname}")
        return _restored, (self.primal, self._options)


def _restored(function: Callable[..., Any], options: dict[str, Any]) -> Gradient:
    return Gradient(function, **options)


# -- what a gradient is asked of ---------------------------------------------------------------------


def _asked(argnums: Argnums | None, argnames: Argnames | None) -> tuple[tuple[int | str, ...] | None, bool]:
    """Positions and names in order, and whether the gradient comes alone instead of in a tuple.

    None for every argument that can have one.
    """
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    if argnames is not None and (argnums is None or isinstance(argnums, _First)):
        return names, isinstance(argnames, str)
    if argnums is None:
        return None, False
    positions = argnums if isinstance(argnums, tuple | list) else (argnums,)
    for each in positions:
        if isinstance(each, bool) or not isinstance(each, int | np.integer):
            raise TypeError(f"argnums are integers, not {each!r}; argnames are names")
    return (*map(int, positions), *names), not names and not isinstance(argnums, tuple | list)


def _check_active(source: Source, name: str, value: Any) -> None:
    """Refuse an argument that cannot have a gradient."""
    if holds_floats(value):
        return
    dtype = getattr(value, "dtype", None)
    if isinstance(value, bool | int | np.bool_ | np.integer):
        what = "a boolean" if isinstance(value, bool | np.bool_) else "an integer"
        raise _not_active(source, name, what, f"`{float(value)}`", Code.INTEGER_ARGUMENT)
    if dtype is not None and getattr(dtype, "kind", "") in "biu":
        rewrite = f"an array of floats: `{name}.astype(float)`, or `3.0` for `3` where it is made"
        raise _not_active(source, name, f"an array of {dtype}", rewrite, Code.INTEGER_ARGUMENT)
    if members(value) is None and hasattr(value, "__dict__") and not callable(value):
        rewrite = f"a dataclass (`@dataclasses.dataclass class {type(value).__name__}`), or its arrays themselves"
        raise _not_active(source, name, f"an instance of `{type(value).__name__}`, which is no dataclass", rewrite)
    inside = "holds no floating-point numbers" if members(value) else f"of type {type(value).__name__}"
    raise _not_active(source, name, inside, "an array or number of a float dtype")


def _not_active(
    source: Source, name: str, what: str, rewrite: str, code: Code = Code.NOT_DIFFERENTIABLE_ARGUMENT
) -> AdjoinError:
    verb = "" if what.startswith("holds") else "is "
    reason = f"a gradient with respect to `{name}` is asked for, but `{name}` {verb}{what}"
    return AdjoinError(code, reason, where=source.where(), rewrite=f"pass {rewrite}, or name other arguments")


# -- what comes back ---------------------------------------------------------------------------------


def _finished(
    variant: Variant, gradients: tuple[Any, ...], values: tuple[Any, ...], free: dict[str, Any]
) -> Any:
    """Gradients in the form of their arguments, with memory of their own."""
    done = []
    taken: set[int] | None = None
    for gradient, index in zip(gradients, variant.wrt, strict=True):
        like = values[index]
        if (
            type(like) is np.ndarray
            and type(gradient) is np.ndarray
            and gradient.base is None  # it owns its memory: shared only if it is another value itself
            and gradient.dtype == like.dtype
            and gradient.shape == like.shape
            and variant.flat
        ):
            if taken is None:
                taken = {id(v) for v in (*values, *free.values())}
            if id(gradient) not in taken:
                taken.add(id(gradient))
                done.append(gradient)
                continue
        elif type(gradient) is float and type(like) is float:
            done.append(gradient)
            continue
        apart = Apart((*values, *free.values(), *done))
        done.append(apart(conform(gradient, like)))
        taken = None
    return done[0] if variant.single else tuple(done)


def _seed(seed: Any, value: Any) -> Any:
    """A seed in the types of the value that it belongs to."""
    if type(value) is float and isinstance(seed, int | float):
        return float(seed)
    if not same_form(value, seed):
        raise _bad_seed(f"the value has the form {_form(value)}, the seed {_form(seed)}")
    return mapped(lambda v, s: _seed_leaf(s, v) if number_like(v) else s, value, seed)


def _seed_leaf(seed: Any, value: Any) -> Any:
    if hasattr(seed, "shape") and not isinstance(seed, np.ndarray | np.generic):
        return seed  # another array module's
    dtype = np.asarray(value).dtype
    if np.asarray(seed).dtype.kind not in "biufcO" or (np.iscomplexobj(seed) and dtype.kind == "f"):
        raise _bad_seed(f"the value is of {dtype}, the seed of {np.asarray(seed).dtype}")
    if isinstance(value, np.ndarray):
        return np.asarray(seed, dtype)
    number = np.asarray(seed)[()]
    return type(value)(number) if isinstance(value, np.generic | float | complex) else number


def _bad_seed(reason: str) -> AdjoinError:
    return AdjoinError(Code.BAD_SEED, reason, rewrite="give a seed like the value; `np.ones_like` for arrays")


def _form(value: Any) -> str:
    if members(value) is None:
        return str(np.shape(value)) if number_like(value) or isinstance(value, int) else type(value).__name__
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_form(v)}" for key, v in value.items()) + "}"
    return f"{type(value).__name__}[{', '.join(map(_form, members(value) or ()))}]"


# -- the functions -----------------------------------------------------------------------------------


@overload
def grad(
    f: Callable[..., Any],
    /,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Gradient: ...


@overload
def grad(
    *,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...


def grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = _FIRST,
    argnames: Argnames | None = None,
    has_aux: bool = False,
    like: str | Mapping[str, Any] | None = None,
) -> Any:
    """The gradient of a function whose result is one number.

    Bare as a decorator (``@grad``), with options (``@grad(argnums=1)``), or called.

    Args:
        f: a function, method, lambda, `functools.partial`... whose source can be read.
        argnums: the position of an argument, negative from the end; or a tuple of positions. One position
            gives one gradient, a tuple a tuple.
        argnames: names, likewise, instead of positions or in addition to them.
        has_aux: `f` returns a pair: what is differentiated, and what is passed on as it is.
        like: the kinds of arguments that `source` is for while there has been no call, for example
            ``"w: f8[:], X: f8[:, :], n: int, mode: 'fast'"``.

    Returns:
        A `Gradient`. Called with the arguments of `f`, it returns gradients in the structure, shapes and
        dtypes of the arguments they belong to (with `has_aux`, a pair of those and the second part).
        For complex arguments it is the direction of steepest ascent.

    Raises:
        AdjoinError: when called, where the gradient cannot be known to be right.

    >>> def loss(w, x): return np.sum((w * x) ** 2)
    >>> grad(loss)(np.array([1.0, 2.0]), 3.0)
    array([18., 36.])
    >>> grad(loss, argnums=(1, 0))(2.0, 3.0)
    (24.0, 36.0)
    """
    options = {"argnums": argnums, "argnames": argnames, "has_aux": has_aux, "like": like}
    return functools.partial(Gradient, **options) if f is None else Gradient(f, **options)  # type: ignore[arg-type]


@overload
def value_and_grad(
    f: Callable[..., Any],
    /,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Gradient: ...


@overload
def value_and_grad(
    *,
    argnums: Argnums = ...,
    argnames: Argnames | None = ...,
    has_aux: bool = ...,
    like: str | Mapping[str, Any] | None = ...,
) -> Callable[[Callable[..., Any]], Gradient]: ...


def value_and_grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = _FIRST,
    argnames: Argnames | None = None,
    has_aux: bool = False,
    like: str | Mapping[str, Any] | None = None,
) -> Any:
    """Value and gradient in one run, as a pair; else as `grad`.

    With `has_aux` the pair is ``((value, aux), gradient)``.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    options = {"argnums": argnums, "argnames": argnames, "has_aux": has_aux, "like": like}
    made = functools.partial(Gradient, with_value=True, **options)  # type: ignore[arg-type]
    return made if f is None else made(f)


@functools.lru_cache(maxsize=128)
def _of_every_argument(function: Callable[..., Any]) -> Gradient:
    return Gradient(function, argnums=None)


def of_every_argument(function: Callable[..., Any]) -> Gradient:
    """The gradient with respect to every positional argument that has one; for `vjp` and `check`."""
    try:
        return _of_every_argument(function)
    except TypeError:  # not hashable
        return Gradient(function, argnums=None)


def vjp(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """The value of a function, and a function that pulls a seed for it back to the arguments.

    Args:
        f: a function; its result may have any structure and shape.
        args: its arguments. Those given by keyword are held constant.

    Returns:
        ``value, pullback``. ``pullback(seed)``, with a seed of the form of the value, returns one entry per
        positional argument: its gradient, or None for what has none (integers, strings, functions).

    Raises:
        AdjoinError: ADJ305 by the pullback, for a seed that is not of the form of the value.

    >>> value, pullback = vjp(lambda A, x: A @ x, np.eye(2), np.array([3.0, 4.0]))
    >>> pullback(np.array([1.0, 0.0]))
    (array([[3., 4.], [0., 0.]]), array([1., 0.]))
    """
    gradient = of_every_argument(f)
    value, saved = gradient.forward(*args, **kwargs)
    places = _places(saved, args)

    def pullback(seed: Any = 1.0) -> tuple[Any, ...]:
        """One entry per argument, for a seed of the form of the value."""
        found = iter(gradient.adjoint(saved, seed))
        return tuple([next(found) if place else None for place in places])

    return value, pullback


def _places(saved: Saved, args: tuple[Any, ...]) -> list[bool]:
    """Which of the positional arguments have a gradient."""
    active = {id(saved.values[index]) for index in saved.variant.wrt}
    return [id(arg) in active and holds_floats(arg) for arg in args]


def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The Jacobian of a function, one row for each element of its result.

    Args:
        f: a function whose result is a number or an array, or a structure of them.
        argnums: a position, or a tuple of positions.

    Returns:
        A function of the arguments of `f`. Its result has the structure of the result of `f`; in it, the
        structure of the argument (for a tuple of positions, a tuple of these); in it, arrays of the shape
        ``result.shape + argument.shape``.

    Raises:
        AdjoinError: ADJ302 for complex arguments or results, whose Jacobian is a matter of convention.

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.], [0., 4.]])
    """
    gradient = Gradient(f, argnums=argnums)

    def rows(*args: Any, **kwargs: Any) -> Any:
        value, saved = gradient.forward(*args, **kwargs)
        _refuse_complex(saved)
        every = list(leaves(value))
        found = [_rows(gradient, saved, every, which) for which in range(len(every))]
        in_order = iter(found)
        return mapped(lambda leaf: next(in_order), value)

    return functools.update_wrapper(rows, f)


def _rows(gradient: Gradient, saved: Saved, every: list[Any], which: int) -> Any:
    """The derivatives of one leaf of the value: per leaf of the arguments, an array."""
    leaf = np.asarray(every[which])
    if leaf.dtype.kind not in "fO":
        return None
    rows = []
    for at in np.ndindex(leaf.shape):
        seeds = iter([_unit(x, at if i == which else None) for i, x in enumerate(every)])
        rows.append(gradient.adjoint(saved, mapped(lambda x: next(seeds), saved.value)))
    like = tuple(saved.values[i] for i in saved.variant.wrt)
    like = like[0] if saved.variant.single else like

    def stacked(x: Any, *entries: Any) -> Any:
        if not number_like(x):
            return None
        shape = leaf.shape + np.shape(x)
        return np.reshape(np.array(entries, np.asarray(x).dtype), shape)

    return mapped(stacked, like, *rows)


def _unit(leaf: Any, at: tuple[int, ...] | None) -> Any:
    """A seed that is one at a place of a leaf and zero elsewhere."""
    if not number_like(leaf):
        return leaf
    seed = np.zeros(np.shape(leaf), np.asarray(leaf).dtype)
    if at is not None:
        seed[at] = 1
    return seed if isinstance(leaf, np.ndarray) else seed[()]


def _refuse_complex(saved: Saved) -> None:
    active = [saved.values[i] for i in saved.variant.wrt]
    if any(np.iscomplexobj(leaf) for leaf in leaves((active, saved.value)) if number_like(leaf)):
        raise AdjoinError(
            Code.NOT_DIFFERENTIABLE_ARGUMENT,
            "the Jacobian of a complex function depends on a convention",
            rewrite="take real and imaginary parts as arguments and results of their own, or use vjp",
        )
