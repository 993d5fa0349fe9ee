"""A rule: how one operation passes adjoints back and tangents on.

In: a small function whose body states the adjoint, and the operations it belongs to. Out: an entry in
`TABLE`, which the transformer reads as *source* (the body is spliced into generated code) and the eager
runtime *calls* (`Rule.vjp`, `Rule.jvp`). Nothing about what to keep for the reverse sweep is written by
hand: it is whatever the body names (`Rule.needs`).

    @elementwise(np.arctan2)
    def arctan2(g, out, y, x):
        s = g / (x * x + y * y)
        return s * x, -s * y

The parameters after `g` (the adjoint of the result) and `out` (the result) are those of the operation, with
its names and defaults; an option that is not among them is refused by name. The body is simple assignments
and one `return` with one expression per differentiable parameter (`wrt`, by default the first ones), so
that it can be cut down to what the active arguments need. What is harder is a named helper in `support`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .array_modules import standard
from .support import conj, real_if_real, tree_map, unbroadcast
from .support_callbacks import AsItIs

__all__ = [
    "TABLE",
    "NoRule",
    "Rule",
    "elementwise",
    "linear",
    "lookup",
    "multilinear",
    "nondifferentiable",
    "vjp",
]

#: Every known operation, by the function itself (`np.sin`, `operator.mul`, `np.add.reduce`, ...).
TABLE: dict[Callable[..., Any], Rule] = {}


class NoRule(LookupError):
    """An operation, or an option of one, for which the table has no derivative."""


class Rule:
    """One row of the table; see the module's docstring for what `body` looks like.

    Attributes:
        kind: ``"elementwise"`` (linear in ``g``, so the same text serves tangents; broadcasting is summed
            out by the driver), ``"linear"`` (the body is the transpose; the tangent is the operation
            itself), ``"multilinear"`` (linear in each differentiable argument on its own: the tangent is
            the operation with one argument replaced, summed), ``"vjp"`` (general, with its tangent in
            `jvp_body`) or ``"nondifferentiable"``.
        wrt: names of the differentiable parameters, in the order of the returned expressions.
        steps: names of parameters on which the result depends by steps only (the condition of `where`). What
            is in neither `wrt` nor `steps` may have a derivative that is not known: an active value there
            is refused, never taken for a constant.
        view: whether the result may share memory with its first argument.
        holomorphic: complex conjugation is applied around the body; False where the body does it itself.
        safe: a value of the operands at which every derivative is finite, for operations whose derivative
            can be infinite or nan elsewhere. An adjoint that is zero by structure is kept zero by
            evaluating the body at `safe` there. None: the derivative is finite wherever the value is.
        callbacks: the parameters that are functions, with what these are called with (see `instead`); their
            adjoint is that of what they capture.
        only: for options, the values that the rule covers; another one is refused by name.
        samples: argument tuples (or zero-argument functions that make them) for the test of the table.
    """

    def __init__(
        self,
        kind: str,
        body: Callable[..., Any] | None,
        functions: Sequence[Callable[..., Any]],
        *,
        wrt: Iterable[str] | None = None,
        steps: Iterable[str] = (),
        view: bool = False,
        holomorphic: bool = True,
        safe: float | None = None,
        callbacks: Mapping[str, tuple[str, ...]] | None = None,
        only: Mapping[str, Sequence[Any]] | None = None,
        samples: Sequence[Any] = (),
    ) -> None:
        self.kind = kind
        self.body = body
        self.functions = tuple(functions)
        self.steps = tuple(steps)
        self.view = view
        self.holomorphic = holomorphic
        self.safe = safe
        self.callbacks = dict(callbacks or {})
        self.only = dict(only or {})
        self.samples = list(samples)
        self.jvp_body: Callable[..., Any] | None = None
        self._sliced: dict[tuple[str, tuple[int, ...]], Callable[..., Any]] = {}
        self._named = None if wrt is None else tuple(wrt)

    # Most programs meet a few of the rules: what needs the source of a body waits until it is asked for.

    @functools.cached_property
    def signature(self) -> inspect.Signature | None:
        """The operation's own parameters; None if nothing of it is differentiable."""
        if self.body is None:
            return None
        return inspect.Signature(list(inspect.signature(self.body).parameters.values())[2:])

    @functools.cached_property
    def wrt(self) -> tuple[str, ...]:
        """Names of the differentiable parameters, in the order of the returned expressions."""
        if self.body is None or self.signature is None:
            return ()
        if self._named is not None:
            return self._named
        return tuple(self.signature.parameters)[: len(_returned(_parsed(self.body)))]

    def __repr__(self) -> str:
        names = ", ".join(getattr(f, "__name__", repr(f)) for f in self.functions)
        return f"<{self.kind} rule for {names}>"

    @property
    def name(self) -> str:
        return (
            self.body.__name__
            if self.body
            else str(getattr(self.functions[0], "__name__", self.functions[0]))
        )

    def jvp(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the tangent of a `vjp` rule.

        Its parameters are one dot per differentiable parameter, then ``out``, then the operation's own; it
        returns one expression per dot (its contribution to the tangent of the result), and the driver adds
        those of the active arguments.
        """
        self.jvp_body = body
        return body

    # -- binding -------------------------------------------------------------------------------------

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The operation's arguments by the rule's parameter names, defaults filled in.

        Raises:
            NoRule: for an option that the rule does not have, naming it.
        """
        if self.signature is None:
            raise NoRule(f"{self.name} has no derivative")
        if "like" in kwargs and "like" not in self.signature.parameters:  # of this, only the type matters
            kwargs = {name: value for name, value in kwargs.items() if name != "like"}
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            known = list(self.signature.parameters)
            unknown = [name for name in kwargs if name not in known]
            what = f"option {unknown[0]!r}" if unknown else f"these arguments ({error})"
            raise NoRule(f"the rule of {self.name} does not cover {what}") from None
        bound.apply_defaults()
        self.check_options(bound.arguments)
        return dict(bound.arguments)

    def check_options(self, values: Mapping[str, Any]) -> None:
        """Refuse an option with a value that the rule does not cover; what is no plain value is let pass.

        Raises:
            NoRule: naming the option and its value.
        """
        for name, covered in self.only.items():
            value = values.get(name, covered[0])
            if (isinstance(value, str | int | None) or callable(value)) and value not in covered:
                raise NoRule(f"the rule of {self.name} does not cover {name}={value!r}")

    def _arguments(self, bound: dict[str, Any]) -> list[Any]:
        """The values of `bound` in the order of the body's positional parameters, `*operands` spread."""
        flat: list[Any] = []
        assert self.signature is not None
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                flat.extend(bound[name])
            elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
                flat.append(bound[name])
        return flat

    def _options(self, bound: dict[str, Any]) -> dict[str, Any]:
        assert self.signature is not None
        keyword_only = inspect.Parameter.KEYWORD_ONLY
        return {n: bound[n] for n, p in self.signature.parameters.items() if p.kind is keyword_only}

    # -- template ------------------------------------------------------------------------------------

    def needs(self, active: Sequence[str]) -> frozenset[str]:
        """What the body names (``out`` and parameters) once cut down to the active parameters."""
        if self.body is None:
            return frozenset()
        tree = _cut(_parsed(self.body), [self.wrt.index(name) for name in active])
        read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        assert self.signature is not None
        return frozenset(read & {"out", *self.signature.parameters})

    def template(self, active: Sequence[str]) -> Callable[..., tuple[Any, ...]]:
        """The body cut down to the active parameters, as a function that returns a tuple."""
        assert self.body is not None
        return self._slice("adjoint", self.body, tuple(self.wrt.index(name) for name in active))

    def _slice(self, which: str, body: Callable[..., Any], keep: tuple[int, ...]) -> Callable[..., Any]:
        key = (which, keep)
        if key not in self._sliced:
            module = ast.Module([_cut(_parsed(body), keep)], [])
            code = compile(ast.fix_missing_locations(module), inspect.getfile(body), "exec")
            scope: dict[str, Any] = {}
            exec(code, body.__globals__, scope)
            self._sliced[key] = scope[body.__name__]
        return self._sliced[key]

    # -- calling: what the eager runtime uses --------------------------------------------------------

    def vjp(self, active: Sequence[str], g: Any, out: Any, bound: dict[str, Any]) -> tuple[Any, ...]:
        """The adjoints of the active parameters, in their order; each has its parameter's shape and dtype.

        Args:
            active: names out of `wrt`.
            g: adjoint of the result: an array of its shape (for several results, a tuple with None where
                one has no adjoint).
            out: the result; may be None where `needs` does not name it.
            bound: from `bind`; values that `needs` does not name may be None, save for the active ones,
                of which shape and dtype are read.
        """
        around = conj if self.holomorphic else _same
        adjoints = self.template(active)(around(g), out, *self._arguments(bound), **self._options(bound))
        finish = unbroadcast if self.kind == "elementwise" else real_if_real
        return tuple(
            tree_map(lambda a, x: None if a is None else finish(around(a), x), adjoint, bound[name])
            for name, adjoint in zip(active, adjoints, strict=True)
        )

    def tangent(self, dots: dict[str, Any], out: Any, bound: dict[str, Any]) -> Any:
        """The tangent of the result, given the tangents of the active parameters by name."""
        active = tuple(name for name in self.wrt if name in dots)
        if self.kind == "elementwise":
            terms = [
                self.template((name,))(dots[name], out, *self._arguments(bound), **self._options(bound))[0]
                for name in active
            ]
            shape = np.broadcast_shapes(*map(np.shape, bound.values()))  # a tangent of `x + y` in x alone
            terms = [term if np.shape(term) == shape else np.broadcast_to(term, shape) for term in terms]
        elif self.kind in ("linear", "multilinear"):
            replaced = [dots] if self.kind == "linear" else [{name: dots[name]} for name in active]
            operation = self.functions[0]
            terms = []
            for change in replaced:
                now = {**bound, **change}
                terms.append(operation(*self._arguments(now), **self._options(now)))
        elif self.jvp_body is None:
            raise NoRule(f"{self.name} has no tangent rule yet")
        else:
            body = self._slice("tangent", self.jvp_body, tuple(self.wrt.index(name) for name in active))
            all_dots = [dots.get(name) for name in self.wrt]
            terms = list(body(*all_dots, out, *self._arguments(bound), **self._options(bound)))
        total = functools.reduce(_add_results, terms)
        return total if out is None else tree_map(real_if_real, total, out)


def _same(value: Any) -> Any:
    return value


def _add_results(a: Any, b: Any) -> Any:
    return tree_map(np.add, a, b)


# -- the decorators: one per kind --------------------------------------------------------------------


Register = Callable[[Callable[..., Any]], Rule]


def _register(kind: str, functions: Sequence[Callable[..., Any]], options: dict[str, Any]) -> Register:
    def register(body: Callable[..., Any]) -> Rule:
        rule = Rule(kind, body, functions, **options)
        for function in functions:
            TABLE[function] = rule
        return rule

    return register


def elementwise(*functions: Callable[..., Any], **options: Any) -> Register:
    """Decorator: the rule of operations that work element by element, with broadcasting.

    The body is linear in `g`, so its text serves adjoints and tangents alike: an expression for each operand,
    `g` times the derivative. It does not sum what was broadcast, and conjugates nothing: that is done around
    it. A function of your own that has a rule is not read any more; it is called as it is, so it stands in a
    module, under its own name.

    Args:
        functions: the operations.
        options: of `Rule`: `wrt`, `steps`, `safe`, `holomorphic`, `only`.

    >>> def softplus(x):
    ...     return np.logaddexp(0.0, x)
    >>> @elementwise(softplus)
    ... def softplus_rule(g, out, x):
    ...     return g * (1 - np.exp(-out))
    >>> softplus_rule.vjp(["x"], 1.0, np.log(2.0), softplus_rule.bind([0.0], {}))
    (np.float64(0.5),)
    """
    return _register("elementwise", functions, options)


def linear(*functions: Callable[..., Any], **options: Any) -> Register:
    """Decorator: the rule of operations that are linear in their differentiable operands, all at once.

    The body is the transpose: what `g` pulls back to. The tangent is the operation itself, so that is all
    there is to say.

    >>> def shifted(a, by):
    ...     return np.roll(a, by)
    >>> @linear(shifted, wrt=["a"])
    ... def shifted_rule(g, out, a, by):
    ...     return np.roll(g, -by)
    >>> shifted_rule.tangent({"a": np.array([1.0, 2.0])}, None, shifted_rule.bind([np.zeros(2), 1], {}))
    array([2., 1.])
    """
    return _register("linear", functions, options)


def multilinear(*functions: Callable[..., Any], **options: Any) -> Register:
    """Decorator: the rule of operations that are linear in each differentiable operand on its own: products.

    The body is, for each operand, the transpose with the others held. The tangent is the operation with one
    operand after the other replaced.
    """
    return _register("multilinear", functions, options)


def vjp(*functions: Callable[..., Any], **options: Any) -> Register:
    """Decorator: the rule of any other operation.

    The body has the adjoint, in the shape of each operand. For forward mode and second derivatives it takes a
    tangent beside it, which `Rule.jvp` adds: one more function, with a tangent for each differentiable
    operand in the place of `g`, and an expression for each of them.

    >>> def energy(a, b):
    ...     return float(a @ b)
    >>> @vjp(energy)
    ... def energy_rule(g, out, a, b):
    ...     return g * b, g * a
    >>> @energy_rule.jvp
    ... def energy_tangent(a_dot, b_dot, out, a, b):
    ...     return np.sum(a_dot * b), np.sum(a * b_dot)
    """
    return _register("vjp", functions, options)


def nondifferentiable(*functions: Callable[..., Any]) -> None:
    """Register operations whose results carry no derivative (integers, booleans, shapes, steps)."""
    for function in functions:
        TABLE[function] = Rule("nondifferentiable", None, [function])


def lookup(function: Any) -> Rule | None:
    """The rule of an operation, or None. `cupy.f` finds the rule of `numpy.f`.

    The rules for SciPy's packages are imported here, once the program has imported the package itself: so
    that `import adjoin` never imports SciPy.
    """
    if isinstance(function, AsItIs):
        return _CONSTANT
    try:
        rule = TABLE.get(function)
    except TypeError:  # unhashable: certainly not in the table
        return None
    if rule is None and import_families():
        rule = TABLE.get(function)
    return TABLE.get(standard(function)) if rule is None else rule


#: Of a call whose result is a constant, whatever it calls.
_CONSTANT = Rule("nondifferentiable", None, [AsItIs])

#: Packages whose rules wait until the program imports them, and the modules of `rules` that have these.
_FAMILIES = {
    "scipy.special": "scipy_special",
    "scipy.linalg": "scipy_linalg",
    "scipy.signal": "scipy_signal",
    "scipy.optimize": "scipy_optimize",
    "scipy.sparse": "scipy_sparse",
    "scipy.integrate": "scipy_integrate",
    "scipy.interpolate": "scipy_interpolate",
}


def import_families() -> bool:
    """Import the rules of packages that have been imported since; whether there were any."""
    found = [package for package in _FAMILIES if package in sys.modules]
    for package in found:
        importlib.import_module(f".rules.{_FAMILIES.pop(package)}", __package__)
    return bool(found)


# -- reading a body ----------------------------------------------------------------------------------


@functools.cache
def _parsed(body: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(body))).body[0]
    assert isinstance(tree, ast.FunctionDef), f"a rule is a def, not {type(tree).__name__}"
    tree.decorator_list = []
    return tree


def _returned(tree: ast.FunctionDef) -> list[ast.expr]:
    last = tree.body[-1]
    assert isinstance(last, ast.Return) and last.value is not None, f"{tree.name}: a rule ends with return"
    return list(last.value.elts) if isinstance(last.value, ast.Tuple) else [last.value]


def _cut(tree: ast.FunctionDef, keep: Sequence[int]) -> ast.FunctionDef:
    """The body with only the kept expressions, and the assignments these still read."""
    returned = _returned(tree)
    kept = ast.Tuple([returned[i] for i in keep], ast.Load())
    wanted = _names(kept)
    statements: list[ast.stmt] = [ast.Return(kept)]
    for statement in reversed(tree.body[:-1]):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring
        assert isinstance(statement, ast.Assign), f"{tree.name}: a rule body is assignments and one return"
        targets = {n.id for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        if targets & wanted:
            wanted |= _names(statement.value)
            statements.insert(0, statement)
    return ast.FunctionDef(
        tree.name,
        tree.args,
        statements,
        [],
        None,
        None,
        lineno=tree.lineno,
        end_lineno=tree.end_lineno,
        type_params=[],
    )  # type: ignore[call-arg, call-overload, unused-ignore]


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
