"""Splicing a rule: its body is read in place, with the operands of the operation for its parameters.

In: a rule, which of its parameters are active, the adjoint of the result, the operands. Out: the adjoint of
each active parameter, as values; the statements are the reader's.

    @elementwise(np.sin)
    def sin(g, out, x):                ->     t = np.cos(x);  x_bar = y_bar * t
        return g * np.cos(x)
"""

from __future__ import annotations

import functools
from typing import Any

import libcst as cst

from ...runtime.rule import Rule
from ..ir import Const, Tup
from ..source import Source, read, read_own
from .calls import bind
from .expressions import value
from .reader import Frame, Reader
from .statements import flatten
from .statements import read as read_statements
from .values import ListValue

_OWN = f"{Rule.__module__.rpartition('.')[0]}."


@functools.cache
def _source(body: Any) -> Source:
    own = body.__module__.startswith(_OWN) and body.__qualname__ == body.__name__
    return read_own(body) if own else read(body)


def splice(
    reader: Reader, rule: Rule, active: list[str], g: Any, given: dict[str, Any], bound: dict[str, Any]
) -> list[Any]:
    """Read the body; only the expressions of the active parameters are evaluated.

    Args:
        given: ``out`` and every parameter by name, as the reverse sweep names them.
        bound: the names that the call bound (for `*operands`).
    """
    assert rule.body is not None and rule.signature is not None
    keep = [rule.wrt.index(name) for name in active]
    return read_body(
        reader, rule.body, [g, given["out"]], rule, {k: v for k, v in given.items() if k in bound}, keep
    )


def read_body(
    reader: Reader, body: Any, first: list[Any], rule: Rule, named: dict[str, Any], keep: list[int]
) -> list[Any]:
    import inspect

    source = _source(body)
    frame = Frame(source, body, (), name=body.__name__)
    assert rule.signature is not None
    args, kwargs = list(first), {}
    for name, parameter in rule.signature.parameters.items():
        x = named.get(name)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args.extend(x or ())
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            kwargs[name] = _wrapped(reader, x)
        else:
            args.append(_wrapped(reader, x))
    outer, reader.splicing = reader.splicing, True
    try:
        bind(reader, frame, source.node.params, args, kwargs, {}, body.__name__)
        statements = flatten(source.node.body)  # type: ignore[arg-type]
        frame.body = source.node.body
        read_statements(reader, frame, statements[:-1])
        last = statements[-1]
        assert isinstance(last, cst.Return) and last.value is not None
        parts = [e.value for e in last.value.elements] if isinstance(last.value, cst.Tuple) else [last.value]
        return [value(reader, frame, parts[i]) for i in keep]
    finally:
        reader.splicing = outer


def _wrapped(reader: Reader, x: Any) -> Any:
    """An option left at its default is a Python value; the elements of a list display are known."""
    from ..ir import Dct, Lst, Ref, Slc, Star, Var

    if isinstance(x, Lst) and not any(isinstance(item, Star) for item in x.items):
        return reader.new(ListValue([_wrapped(reader, item) for item in x.items]))
    if isinstance(x, Var | Const | Tup | Lst | Dct | Ref | Slc | Star):
        return x
    if isinstance(x, tuple):
        return Tup(tuple(_wrapped(reader, i) for i in x))
    return Const(x) if not callable(x) else Ref(x, getattr(x, "__name__", str(x)))
