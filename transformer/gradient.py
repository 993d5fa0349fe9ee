"""The object that `grad` and `value_and_grad` return: something to call, and to look into.

In: a function, and what its gradient is asked of. Out: a `Gradient`.

    loss = Gradient(loss)
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
from typing import Any

import numpy as np

from ..runtime.array_modules import may_share_memory
from ..runtime.base import holds_tensor
from .again import kept_apart
from .errors import AdjoinError, Code
from .kinds import UNKNOWN, Kind, Static, is_function, signature_kind
from .like import annotated, kinds_of
from .nested import Differentiated
from .own import own
from .quick import quick_call, quick_tangent
from .signature import Binding, bind, key_of, names_asked, parameters_of, sharing
from .source import Source, read
from .structures import Apart, conform, holds_floats, leaves, mapped, members, number_like, same_form
from .variants import MODES, Variant, Wanted, variant_for

__all__ = ["FIRST", "Argnames", "Argnums", "Gradient", "Saved", "gradient_of"]

Argnums = int | tuple[int, ...]
Argnames = str | tuple[str, ...]
#: Signatures that one function may be called with before those known are forgotten.
_MOST_VARIANTS = 512


class _First(int):
    """The position 0 where nobody gave one, so that `argnames` alone means just those names."""


FIRST = _First(0)


class _Plan:
    """What to do with a call of a certain shape: how many positional arguments, which keywords."""

    def __init__(self, binding: Binding, wrt: tuple[str, ...] | None) -> None:
        self.binding = binding
        self.in_order = binding.in_order
        self.wrt = wrt
        self.variants: dict[str, dict[tuple[Hashable, ...], list[Variant]]] = {mode: {} for mode in MODES}
        self.quick: dict[Variant, Callable[..., Any] | None] = {}


class Saved:
    """What `Gradient.adjoint` needs of the forward sweep of a call."""

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


class Gradient(Differentiated):
    """The gradient of a function, as `grad` and `value_and_grad` return it.

    Attributes:
        primal: the function itself.
        source: the generated module, as text; see there.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        argnums: Argnums | None = FIRST,
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
        self._options: dict[str, Any] = {
            "argnums": argnums,
            "argnames": argnames,
            "has_aux": has_aux,
            "like": like,
            "with_value": with_value,
        }
        self.options = self._options
        self._has_aux = has_aux
        self._like = like
        self._with_value = with_value
        self._mode = "value_and_joint" if with_value else "joint"
        self._plans: dict[Hashable, _Plan] = {}
        self._plans_of_classes: dict[type, dict[Hashable, _Plan]] = {}
        self._source: Source | None = None
        self._code: types.CodeType | None = None
        self._last: Variant | None = None

    # -- calling -----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if holds_tensor(args, kwargs):
            return self._recorded(args, kwargs)
        return self.through(*args, **kwargs)

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with a `Tensor`: one node, whose backward is the generated adjoint of this gradient."""
        from ..runtime.bridge import lift

        if "_lifted" not in self.__dict__:
            self.__dict__["_lifted"] = lift(gradient_of(self))
        return self.__dict__["_lifted"](*args, **kwargs)

    def through(self, *args: Any, **kwargs: Any) -> Any:
        """A call by generated code whatever the arguments are; its operations record on a `Tensor`."""
        variant, values, free = self._find(self._mode, args, kwargs)
        return self._call(variant, values, free)

    def _call(self, variant: Variant, values: tuple[Any, ...], free: dict[str, Any]) -> Any:
        """The gradient, in the form that is asked for."""
        if not self._with_value and not self._has_aux:
            if variant.bare:
                return own(variant, (variant.entries[0](*values, **free),), values, free)
            return own(variant, variant.entries[0](*values, **free), values, free)
        value, gradients = variant.entries[0](*values, **free)
        if variant.bare:
            gradients = (gradients,)
        finished = own(variant, gradients, values, free)
        return (value, finished) if self._with_value else (finished, value[1])

    def forward(self, *args: Any, **kwargs: Any) -> tuple[Any, Saved]:
        """The value of the function, and what `adjoint` needs.

        The result may be of any structure and shape. With `has_aux`, the value is a pair whose second part
        takes no part in the gradient.

        >>> value, saved = Gradient(lambda x: x * x).forward(3.0)
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

        >>> gradient = Gradient(lambda x: x * x)
        >>> gradient.adjoint(gradient.forward(3.0)[1], 10.0)
        60.0
        """
        variant = saved.variant
        given = _seed(seed, saved.value)
        takes = variant.takes[1]
        free = {name: value for name, value in saved.free.items() if name in takes}
        inner, lent = kept_apart(variant, saved.inner)
        try:
            gradients = lent.keep(variant.entries[1](inner, given, **free))
        finally:
            lent.give_back()
        if variant.bare:
            gradients = (gradients,)
        others = {**saved.free, "": (saved.inner, given, saved.value)}
        return own(variant, gradients, saved.values, others)

    def tangent(self, tangents: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value of the function, and its tangent: how it moves when the arguments move.

        Args:
            tangents: one for each argument that a gradient is asked of, of its structure and shapes.
            args: the arguments.

        Returns:
            Value and tangent, of the same structure, shapes and dtypes; None for parts without a tangent.

        Raises:
            AdjoinError: ADJ305 where a tangent is not of the form of its argument.

        >>> Gradient(lambda x: x * x).tangent((1.0,), 3.0)
        (9.0, 6.0)
        """
        variant, values, free = self._find("tangent", args, kwargs)
        active = [values[index] for index in variant.wrt]
        if len(tangents) != len(active):
            raise _bad_tangent(
                f"{len(active)} tangents are needed, one for each argument; {len(tangents)} are given"
            )
        dots = tuple([_tangent(dot, value) for dot, value in zip(tangents, active, strict=True)])
        value, dot = variant.entries[0](*values, *dots, **free)
        return finished(value, dot, (*values, *free.values(), *dots))

    def quick_tangent(
        self, primals: tuple[Any, ...], long: Callable[..., Any], with_value: bool
    ) -> Callable[..., Any] | None:
        """`tangent` as a function of a point like this one and a direction; None where there is none."""
        return self._quick(None, "tangent", primals, long, with_value)

    def _quick(
        self,
        code: Variant | None,
        mode: str,
        primals: tuple[Any, ...],
        long: Callable[..., Any],
        with_value: bool,
    ) -> Callable[..., Any] | None:
        """A quick call of `code`, or of the variant itself, for arguments that this gradient has one for."""
        variant, values, _ = self._find(mode, primals, {})
        if values is not primals:
            return None
        source = self._source or self._read()
        finish = finished if with_value else _finished_tangent
        return quick_tangent(variant, code or variant, source, values, long, finish, with_value)

    def _find(
        self, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Variant, tuple[Any, ...], dict[str, Any]]:
        """The variant for a call, the values of its parameters, and the values from outside."""
        source = self._source or self._read()
        plan = self._plan_for(args, kwargs)
        values = args if plan.in_order else plan.binding.values(args, kwargs)
        # This is on the way of every call: `key_of`, with its most frequent case written out.
        keys: list[Hashable] = []
        for value in values:
            if type(value) is np.ndarray:
                shape = value.shape
                keys.append(value.dtype)
                keys.append(tuple([n == 1 for n in shape]) if 1 in shape else len(shape))
            else:
                keys.append(key_of(value))
        signature = tuple(keys)
        for variant in plan.variants[mode].get(signature, ()):
            free = variant.outside(source)
            if free is not None:
                if variant.writes and (shared := self._sharing(plan, values)):
                    return self._find_together(plan, mode, values, signature, shared)
                self._last = variant
                return variant, values, free
        if source.function.__code__ is not self._code:  # given other code: by autoreload in a notebook, say
            self._source = None
            self._plans.clear()
            return self._find(mode, args, kwargs)
        variant, values, free = self._generate(plan, mode, values, signature)
        if variant.writes and (shared := self._sharing(plan, values)):
            return self._find_together(plan, mode, values, signature, shared)
        return variant, values, free

    def _sharing(self, plan: _Plan, values: tuple[Any, ...]) -> tuple[str, ...]:
        """Array arguments that share memory; one in a container, or not of NumPy, is refused."""
        names = plan.binding.names
        held = [leaf for value in values if not isinstance(value, np.ndarray) for leaf in leaves(value)]
        arrays = [a for a in held if hasattr(a, "dtype") and a.shape != ()]
        others = [v for v in values if isinstance(v, np.ndarray)]
        for i, a in enumerate(arrays):
            if any(may_share_memory(a, b) for b in (*arrays[:i], *others)):
                source = self._source or self._read()
                raise AdjoinError(
                    Code.MUTATION,
                    f"`{source.name}` writes to an argument, and arrays that are passed in share memory",
                    where=source.where(),
                    rewrite="pass copies, or pass the arrays as arguments of their own",
                )
        return sharing(names, values)

    def _find_together(
        self,
        plan: _Plan,
        mode: str,
        values: tuple[Any, ...],
        signature: tuple[Hashable, ...],
        shared: tuple[str, ...],
    ) -> tuple[Variant, tuple[Any, ...], dict[str, Any]]:
        """As `_find`, for arguments that share memory and a function that writes to some."""
        source = self._source or self._read()
        for variant in plan.variants[mode].get((signature, shared), ()):
            free = variant.outside(source)
            if free is not None:
                self._last = variant
                return variant, values, free
        return self._generate(plan, mode, values, signature, shared)

    def _read(self) -> Source:
        self._source = source = read(self.primal)
        self._code = source.function.__code__
        return source

    def _plan_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan:
        return self._plans.get((len(args), *kwargs) if kwargs else len(args)) or self._plan(args, kwargs)

    def _plan(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan:
        source = self._source or self._read()
        binding = bind(source, args, kwargs, self._asked or ())
        wrt = None if self._asked is None else names_asked(source, binding, binding.names, self._asked)
        plan = self._plans[(len(args), *kwargs) if kwargs else len(args)] = _Plan(binding, wrt)
        return plan

    def _generate(
        self,
        plan: _Plan,
        mode: str,
        values: tuple[Any, ...],
        signature: tuple[Hashable, ...],
        shared: tuple[str, ...] = (),
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
        wanted = Wanted(kinds, plan.binding.spread, wrt, mode, self._has_aux, self._single, shared)
        variant = variant_for(source, self.primal, wanted, tuple(map(key_of, values)), arguments)
        if shared:
            signature = (signature, shared)
        free = variant.outside(source)
        assert free is not None, "the values that code was generated for are those that it is for"
        variants = plan.variants[mode]
        if len(variants) >= _MOST_VARIANTS:
            variants.clear()
            plan.quick.clear()
        variants[signature] = [variant, *variants.get(signature, ())[:7]]
        self._last = variant
        return variant, values, free

    def active(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
        """The arguments of a call that a gradient is asked of: names and values."""
        plan = self._plan_for(args, kwargs)
        given = dict(zip(plan.binding.names, plan.binding.values(args, kwargs), strict=True))
        if plan.wrt is not None:
            return [(name, given[name]) for name in plan.wrt]
        return [(n, given[n]) for n in plan.binding.positional if n in given and holds_floats(given[n])]

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

        >>> "x_bar" in Gradient(lambda x: x * x).source_for(3.0)
        True
        """
        return self._variant(self._mode, args, kwargs).text

    def _variant(self, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variant:
        """The code for a call, which is not run."""
        return self._find(mode, args, kwargs)[0]

    def _without_arguments(self, mode: str | None = None) -> Variant:
        source = self._source or self._read()
        kinds = self._stated_kinds(source)
        binding = Binding(tuple(kinds), tuple(kinds), self._positional(source), (), frozenset())
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
        name = repr(self.primal) if isinstance(self.primal, Gradient) else name
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
        bound._source = source.bound_to(instance)
        return bound

    def _bound_to(self, function: Any, cls: type) -> Gradient:
        """The same gradient of a bound form of the function; code is shared for each class."""
        bound = object.__new__(Gradient if type(self) is QuickGradient else type(self))
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


class QuickGradient(Gradient):
    """A gradient whose calls go straight to a function that was made for calls like the one before.

    That function is its `__call__`, and `_last` the variant that it is for. Whatever else looks for a variant
    puts the long way in its place.
    """

    __slots__ = ("__call__",)
    __call__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        super().__init__(function, **options)
        self.__call__ = self._long

    def _long(self, *args: Any, **kwargs: Any) -> Any:
        """A call; from the second one on for a variant, the next calls for it are quick."""
        if holds_tensor(args, kwargs):
            return self._recorded(args, kwargs)
        variant, values, free = self._find(self._mode, args, kwargs)
        called = self._call(variant, values, free)
        plan = self._plan_for(args, kwargs)
        if variant not in plan.quick:
            plan.quick[variant] = None
            return called
        quick = plan.quick[variant]
        if quick is None:
            quick = self._hurried(variant, plan.binding.names, values) or self._long
            plan.quick[variant] = quick
        self.__call__ = quick
        return called

    def _hurried(
        self, variant: Variant, names: tuple[str, ...], values: tuple[Any, ...]
    ) -> Callable[..., Any] | None:
        source = self._source or self._read()
        return quick_call(variant, source, names, values, self._long, self._with_value, self._has_aux)

    def _find(
        self, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Variant, tuple[Any, ...], dict[str, Any]]:
        self.__call__ = self._long
        return super()._find(mode, args, kwargs)


class GradientOfGradient(Gradient):
    """The gradient of a gradient: of the code that was generated for it.

    >>> second = gradient_of(gradient_of(lambda x: x * x * x))
    >>> second(2.0)
    12.0
    """

    primal: Gradient

    def _find(
        self, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Variant, tuple[Any, ...], dict[str, Any]]:
        inner, values, free = self.primal._find(self.primal._mode, args, kwargs)
        refused: dict[Any, AdjoinError] = self.__dict__.setdefault("_refused", {})
        if (inner, mode) in refused:
            raise refused[inner, mode].with_traceback(None)
        try:
            found = self._of_code(inner, free)._find(mode, values, {})
        except AdjoinError as error:
            refused[inner, mode] = error
            raise
        self._last = found[0]
        return found

    def _without_arguments(self, mode: str | None = None) -> Variant:
        from .crosswise import variant_without_arguments

        try:
            return self._read_without_arguments(mode or self._mode)
        except AdjoinError as error:
            self._check_crosswise(error, self._below()[0]._without_arguments().hooked)
            moving, wanted = self._crossed(mode or self._mode)
            return variant_without_arguments(list(map(_direct, moving)), _direct(wanted))

    def _read_without_arguments(self, mode: str) -> Variant:
        """The gradient of the code of the inner gradient."""
        inner = self.primal
        if isinstance(inner, GradientOfGradient):
            code = inner._read_without_arguments(inner._mode)
        else:
            code = inner._without_arguments()
        outer = self._of_code(code, {})
        outer._like = code.kinds
        return outer._without_arguments(mode)

    def _variant(self, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variant:
        from .crosswise import variant_for_call

        try:
            return super()._variant(mode, args, kwargs)
        except AdjoinError as error:
            self._check_crosswise(error, self._below()[0]._variant("joint", args, kwargs).hooked)
            moving, wanted = self._crossed(mode)
            steps = _Crossed(self, args, kwargs).steps([(each, None) for each in moving])
            return variant_for_call(steps, _direct(wanted), args, kwargs)

    def _crossed(self, mode: str) -> tuple[list[Gradient], Gradient]:
        """Along the arguments of which gradients tangents go, and which gradient is left at the end."""
        below = self._below()
        return ([*below[:-1], self], below[-1]) if mode == "tangent" else (below, self)

    def active(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
        return self._directly.active(args, kwargs)

    @functools.cached_property
    def _directly(self) -> Gradient:
        """The gradient of the innermost function with respect to what this one is asked of."""
        function: Any = self.primal
        while isinstance(function, Gradient):
            function = function.primal
        return Gradient(function, **{**self._options, "has_aux": False, "with_value": False})

    def through(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().through(*args, **kwargs)
        except AdjoinError as error:
            value, saved = self._crosswise(error, args, kwargs)
            if np.ndim(value) or isinstance(value, tuple):
                raise
            gradients = saved.product(1.0)
            return (value, gradients) if self._with_value else gradients

    def forward(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        try:
            value, saved = super().forward(*args, **kwargs)
        except AdjoinError as error:
            return self._crosswise(error, args, kwargs)
        return self._as_called(value), saved

    def _crosswise(
        self, error: AdjoinError, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, _Crossed]:
        """Value and saved values for the other way to higher derivatives; `error` where there is none."""
        innermost = self._below()[0]._last
        self._check_crosswise(error, innermost is not None and innermost.hooked)
        return self.primal(*args, **kwargs), _Crossed(self, args, kwargs)

    def _check_crosswise(self, error: AdjoinError, hooked: bool) -> None:
        """Raise `error` where there is no other way: with hooks there is none, tangents do not see them."""
        from .crosswise import PASSED_OVER

        plain = not any(each._has_aux or each._with_value for each in self._below()) and not self._has_aux
        if error.code not in PASSED_OVER or not plain or hooked:
            raise error

    def _below(self) -> list[Gradient]:
        """The gradients that this one is the gradient of, innermost first."""
        inner = self.primal
        return [*(inner._below() if isinstance(inner, GradientOfGradient) else ()), inner]

    def adjoint(self, saved: Any, seed: Any = 1.0) -> Any:
        if isinstance(saved, _Crossed):
            return saved.product(seed)
        if self._alone() and isinstance(seed, tuple):
            if not self.primal._with_value:
                seed = seed[0]
            elif len(seed) == 2 and isinstance(seed[1], tuple):
                seed = seed[0], seed[1][0]
        return super().adjoint(saved, seed)

    def tangent(self, tangents: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        try:
            value, dot = super().tangent(tangents, *args, **kwargs)
        except AdjoinError as error:
            value, saved = self._crosswise(error, args, kwargs)
            return value, saved.tangent(tangents)
        return self._as_called(value), self._as_called(dot)

    def quick_tangent(
        self, primals: tuple[Any, ...], long: Callable[..., Any], with_value: bool
    ) -> Callable[..., Any] | None:
        inner = self.primal
        if isinstance(inner, GradientOfGradient) or inner._has_aux or inner._with_value or self._alone():
            return None
        try:
            code, _, _ = self._find("tangent", primals, {})
        except AdjoinError:  # `tangent` goes the other way
            return None
        return inner._quick(code, inner._mode, primals, long, with_value)

    def _alone(self) -> bool:
        """Whether generated code gives one gradient as it is where the inner one gives a tuple of one."""
        inner = self.primal
        return not inner._has_aux and not inner._single and len(inner._asked or ()) == 1

    def _as_called(self, gradients: Any) -> Any:
        """What generated code gives, in the form in which calling the inner gradient gives it."""
        if not self._alone():
            return gradients
        return (gradients[0], (gradients[1],)) if self.primal._with_value else (gradients,)

    def _of_code(self, inner: Variant, free: dict[str, Any]) -> Gradient:
        """The gradient of a generated function, with the values that it takes from outside."""
        function = inner.entries[0]
        known: dict[Any, Gradient] = self.__dict__.setdefault("_of_functions", {})
        if function not in known:
            known[function] = Gradient(function, **self._options)
        return with_values(known[function], free)


def with_values(gradient: Gradient, free: dict[str, Any]) -> Gradient:
    """The gradient of a generated function, given the values that it takes from outside."""
    if not free:
        return gradient
    source = gradient._source or gradient._read()
    bound = gradient._bound_to(functools.partial(gradient.primal, **free), Gradient)
    bound._source = replace(source, keywords=free)
    return bound


class _Crossed:
    """A point at which a gradient of a gradient is taken by the adjoint of a tangent."""

    def __init__(self, outer: GradientOfGradient, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.outer, self.args, self.kwargs = outer, args, kwargs

    def product(self, seed: Any) -> Any:
        """What a seed for the inner gradient pulls back to."""
        *below, inner = self.outer._below()
        moving = [*((each, None) for each in below), (inner, (seed,) if inner._single else seed)]
        return self._derivative(moving, self.outer)

    def tangent(self, tangents: tuple[Any, ...]) -> Any:
        """How the inner gradient moves with the arguments of the outer one."""
        *below, inner = self.outer._below()
        return self._derivative([*((each, None) for each in below), (self.outer, tangents)], inner)

    def _derivative(
        self, moving: list[tuple[Gradient, tuple[Any, ...] | None]], wanted: Gradient
    ) -> Any:
        """The gradient, as `wanted` asks for it, of the derivative along directions; None: of one number."""
        from .crosswise import directional_gradient

        steps = self.steps(moving)
        found, self.outer._last = directional_gradient(steps, _direct(wanted), self.args, self.kwargs)
        return found[0] if wanted._single else found

    def steps(
        self, moving: list[tuple[Gradient, tuple[Any, ...] | None]]
    ) -> list[tuple[Gradient, tuple[Any, ...]]]:
        """Gradients of the function itself, and directions in the types of its arguments."""
        steps = []
        for gradient, direction in moving:
            direct = _direct(gradient)
            values = [value for _, value in direct.active(self.args, self.kwargs)]
            if direction is None:
                direction = tuple([mapped(_one, value) for value in values])
            pairs = zip(direction, values, strict=True)
            steps.append((direct, tuple([_tangent(dot, value) for dot, value in pairs])))
        return steps


def _direct(gradient: Gradient) -> Gradient:
    return gradient._directly if isinstance(gradient, GradientOfGradient) else gradient


def _one(leaf: Any) -> Any:
    """The seed of a gradient that is one number: the argument it belongs to is one as well."""
    if not number_like(leaf):
        return leaf
    return np.ones_like(leaf) if isinstance(leaf, np.ndarray) else type(leaf)(1)


def gradient_of(function: Callable[..., Any], **options: Any) -> Gradient:
    """`Gradient` of a function, or of a gradient."""
    made = GradientOfGradient if isinstance(function, Gradient) else QuickGradient
    return made(function, **options)


def _restored(function: Callable[..., Any], options: dict[str, Any]) -> Gradient:
    return gradient_of(function, **options)


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
        raise _not_active(source, name, what, "a float (`3.0`, not `3`)", Code.INTEGER_ARGUMENT)
    if dtype is not None and getattr(dtype, "kind", "") in "biu":
        rewrite = f"an array of floats: `{name}.astype(float)`, or `3.0` for `3` where it is made"
        raise _not_active(source, name, f"an array of {dtype}", rewrite, Code.INTEGER_ARGUMENT)
    if members(value) is None and hasattr(value, "__dict__") and not is_function(value):
        what = f"an instance of `{type(value).__name__}`, which is no dataclass"
        raise _not_active(source, name, what, "its arrays, or make the class a dataclass")
    inside = "holds no floating-point numbers" if members(value) else f"of type {type(value).__name__}"
    raise _not_active(source, name, inside, "an array or number of a float dtype")


def _not_active(
    source: Source, name: str, what: str, rewrite: str, code: Code = Code.NOT_DIFFERENTIABLE_ARGUMENT
) -> AdjoinError:
    verb = "" if what.startswith("holds") else "is "
    reason = f"a gradient with respect to `{name}` is asked for, but `{name}` {verb}{what}"
    return AdjoinError(code, reason, where=source.where(), rewrite=f"pass {rewrite}, or name other arguments")


# -- what comes back ---------------------------------------------------------------------------------


def _seed(seed: Any, value: Any) -> Any:
    """A seed in the types of the value that it belongs to."""
    if type(value) is float and isinstance(seed, int | float):
        return float(seed)
    if not same_form(value, seed):
        raise _bad_seed(f"the value has the form {_form(value)}, the seed {_form(seed)}")
    return _in_types_of(value, seed, "value", "seed", _bad_seed)


def finished(value: Any, dot: Any, given: tuple[Any, ...]) -> tuple[Any, Any]:
    """A value and its tangent as a call returns them: in one form, and memory that was not given."""
    if _is_finished(dot, value, given):
        return value, dot
    return value, Apart((*given, value))(conform(dot, value))


def _finished_tangent(value: Any, dot: Any, given: tuple[Any, ...]) -> Any:
    return finished(value, dot, given)[1]


def _is_finished(dot: Any, value: Any, given: tuple[Any, ...]) -> bool:
    """Whether a tangent certainly has the form of its value, and memory of its own."""
    if type(dot) is not type(value):
        return False
    if type(dot) is not np.ndarray:
        return isinstance(dot, float | np.float64)
    fits = dot.base is None and dot.shape == value.shape and dot.dtype == value.dtype and dot is not value
    return fits and all(type(x) in _PLAIN and x is not dot for x in given)


#: Types of arguments that hold no arrays but themselves.
_PLAIN = frozenset({np.ndarray, float, int, bool, complex, str, type(None), np.float64, np.float32})


def _tangent(dot: Any, value: Any) -> Any:
    """A tangent in the types of the argument that it belongs to."""
    if type(value) is np.ndarray is type(dot) and value.shape == dot.shape and value.dtype == dot.dtype:
        return dot
    if type(value) is float and isinstance(dot, int | float):
        return float(dot)
    if not same_form(value, dot):
        raise _bad_tangent(f"an argument has the form {_form(value)}, its tangent {_form(dot)}")
    return _in_types_of(value, dot, "argument", "tangent", _bad_tangent)


def _in_types_of(value: Any, given: Any, of: str, what: str, bad: Callable[[str], AdjoinError]) -> Any:
    """A structure like `value` with the numbers of `given`, in the dtypes of `value`."""

    def leaf(like: Any, number: Any) -> Any:
        if not number_like(like) or (
            hasattr(number, "shape") and not isinstance(number, np.ndarray | np.generic)
        ):
            return number  # no number, or another array module's
        dtype = np.asarray(like).dtype
        if np.asarray(number).dtype.kind not in "biufcO" or (np.iscomplexobj(number) and dtype.kind == "f"):
            raise bad(f"the {of} is of {dtype}, the {what} of {np.asarray(number).dtype}")
        if isinstance(like, np.ndarray):
            return np.asarray(number, dtype)
        number = np.asarray(number)[()]
        return type(like)(number) if isinstance(like, np.generic | float | complex) else number

    return mapped(leaf, value, given)


def _bad_seed(reason: str) -> AdjoinError:
    return AdjoinError(Code.BAD_SEED, reason, rewrite="give a seed like the value; `np.ones_like` for arrays")


def _bad_tangent(reason: str) -> AdjoinError:
    return AdjoinError(
        Code.BAD_SEED, reason, rewrite="give a tangent like the argument; `np.zeros_like` to hold it still"
    )


def _form(value: Any) -> str:
    if members(value) is None:
        return str(np.shape(value)) if number_like(value) or isinstance(value, int) else type(value).__name__
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_form(v)}" for key, v in value.items()) + "}"
    return f"{type(value).__name__}[{', '.join(map(_form, members(value) or ()))}]"
