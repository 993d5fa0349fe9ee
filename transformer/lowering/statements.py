"""Statements: one function per kind of LibCST node, registered by the node's type.

In: a reader, a frame, statements. Out: what they do, in the reader; names in the frame.

`return`, `break` and `continue` become flags (names that start with %), and what follows a statement that may
have set one is read under the condition that it did not:

    for x in xs:                      for x in xs:
        if x > 1:                         %break = x > 1
            break              ->         if %break: pass
        s = s + x                         else: s = s + x      # and the loop stops on %break
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import libcst as cst
import numpy as np

from ..errors import Code
from ..infer import arg_kind
from ..ir import (
    ASSERT,
    DELETE,
    FALSE,
    PUT,
    RAISE,
    STORE,
    TRUE,
    UNBOUND,
    Arg,
    Block,
    Const,
    Handler,
    Op,
    Ref,
    Slc,
    Star,
    Try,
    Tup,
    Var,
    With,
)
from ..kinds import BOOL, INT, UNKNOWN, Array, Number, Opaque, Undefined, Unknown, join
from ..kinds import Sequence as SequenceKind
from . import stores
from .calls import call
from .expressions import (
    attribute,
    binary,
    defaults,
    give_up_if_static,
    index,
    known_truth,
    spread,
    symbol,
    unpacked,
    value,
)
from .reader import DEAD, Frame, Reader, is_flag
from .tree import children, flatten
from .values import Closure, DictValue, Flat, ListValue, ObjectValue

STATEMENTS: dict[type[cst.CSTNode], Callable[[Reader, Frame, Any], None]] = {}

VALUE, DONE, BREAK, CONTINUE = "%value", "%done", "%break", "%continue"

#: What a `return` in a loop has evaluated, by number.
RESULT = "%result"


def statement(*types: type[cst.CSTNode]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(handler: Callable[..., None]) -> Callable[..., None]:
        for each in types:
            STATEMENTS[each] = handler
        return handler

    return register


# -- bodies ------------------------------------------------------------------------------------------


def read_body(reader: Reader, frame: Frame, node: cst.FunctionDef | cst.Lambda) -> Any:
    """Read a function's body; returns the value of its `return`."""
    frame.body = node.body
    if isinstance(node, cst.Lambda):
        return value(reader, frame, node.body)
    if node.asynchronous is not None:
        reader.refuse(
            frame, node, Code.UNSUPPORTED_SYNTAX, "`async def` is not read", "write a plain function"
        )
    read(reader, frame, flatten(node.body))
    if DEAD in frame.env:
        return UNBOUND
    returned = frame.env.get(DONE, FALSE)
    if returned in (TRUE, FALSE):
        return frame.env[VALUE] if returned == TRUE else Const(None)
    result = frame.env[VALUE]
    return reader.branches(frame, returned, lambda: result, lambda: Const(None))


def read(reader: Reader, frame: Frame, statements: Sequence[cst.CSTNode]) -> None:
    """Read statements in order, those after a possible exit under the condition that it was not taken."""
    for i, node in enumerate(statements):
        rest = statements[i + 1 :]
        if isinstance(node, cst.If):
            if not _exits_somewhere(node):
                _if(reader, frame, node, [])
                if DEAD in frame.env:
                    return
                continue
            if _absorb(reader, frame, node, rest):
                return
            _if(reader, frame, node, [])
        else:
            _one(reader, frame, node)
        if DEAD in frame.env:
            return
        if _unless_left(reader, frame, rest, node):
            return


def _one(reader: Reader, frame: Frame, node: cst.CSTNode) -> None:
    handler = STATEMENTS.get(type(node))
    if handler is None:
        reader.refuse(
            frame,
            node,
            Code.UNSUPPORTED_SYNTAX,
            f"`{type(node).__name__.lower()}` is not read",
            "leave it out",
        )
    if not reader.splicing:
        reader.site = reader.site_of(frame, node, statement=True)
    handler(reader, frame, node)


def _unless_left(reader: Reader, frame: Frame, rest: Sequence[cst.CSTNode], node: cst.CSTNode) -> bool:
    """After a statement that may have set a flag: read the rest under its negation. True if that was done."""
    flags = exit_flags(frame)
    if not flags:
        return False
    if frame.loops == 0:
        _take_return(reader, frame, rest, flags)
        return True
    if not rest or TRUE in flags.values():
        return True
    left = any_of(reader, list(flags.values()))
    reader.branches(frame, left, lambda: None, lambda: read(reader, frame, rest))
    return True


def _take_return(reader: Reader, frame: Frame, rest: Sequence[cst.CSTNode], flags: dict[str, Any]) -> None:
    """Outside all loops: a `return` met inside one is evaluated here, with the names as they were."""
    numbered = {name: flag for name, flag in flags.items() if name.startswith("%return")}
    for name in numbered:
        frame.env[name] = FALSE

    def unwind(remaining: list[tuple[str, Any]]) -> None:
        if not remaining:
            _after_return(reader, frame, flags.get(DONE, FALSE), rest)
            return
        name, flag = remaining[0]
        expression = frame.returns[int(name.removeprefix("%return"))]
        if flag == TRUE:
            _return_value(reader, frame, expression)
            return
        reader.branches(
            frame, flag, lambda: _return_value(reader, frame, expression), lambda: unwind(remaining[1:])
        )

    unwind(list(numbered.items()))


def _after_return(reader: Reader, frame: Frame, done: Arg, rest: Sequence[cst.CSTNode]) -> None:
    """What follows is read where the function has not returned yet."""

    def returned() -> None:
        frame.env[DONE] = TRUE

    if done == FALSE:
        read(reader, frame, rest)
    elif done != TRUE:
        reader.branches(frame, done, returned, lambda: read(reader, frame, rest))


def exit_flags(frame: Frame) -> dict[str, Any]:
    """The flags that may be set now."""
    return {
        name: flag
        for name, flag in frame.env.items()
        if is_flag(name)
        and flag != Const(False)
        and flag is not UNBOUND
    }


def any_of(reader: Reader, flags: list[Any]) -> Arg:
    """Whether one of the flags is set."""

    def either(a: Arg, b: Arg) -> Arg:
        return b if a == FALSE else reader.choose(a, lambda: a, lambda: b)

    result: Arg = FALSE
    for flag in flags:
        result = either(result, flag)
    return result


def _exits_somewhere(node: cst.If) -> bool:
    return any(_exits(s) for s in _suites_of(node))


def _suites_of(node: cst.If) -> list[Any]:
    orelse = node.orelse
    if orelse is None:
        return [node.body]
    return [node.body, *(_suites_of(orelse) if isinstance(orelse, cst.If) else [orelse.body])]


def _exits(suite: cst.CSTNode) -> bool:
    """Whether a return, or a break or continue of a loop further out, stands in a suite."""

    def visit(node: cst.CSTNode, in_loop: bool) -> bool:
        if isinstance(node, cst.Return):
            return True
        if isinstance(node, cst.Break | cst.Continue):
            return not in_loop
        if isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef) or isinstance(
            node, cst.BaseExpression
        ):
            return False
        inner = in_loop or isinstance(node, cst.For | cst.While)
        return any(visit(child, inner) for child in children(node))

    return visit(suite, False)


def _always_exits(statements: Sequence[cst.CSTNode]) -> bool:
    """Whether the end of these statements is certainly not reached."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, cst.Return | cst.Break | cst.Continue | cst.Raise):
        return True
    if isinstance(last, cst.If) and last.orelse is not None:
        orelse = [last.orelse] if isinstance(last.orelse, cst.If) else flatten(last.orelse.body)
        return _always_exits(flatten(last.body)) and _always_exits(orelse)
    return False


def _absorb(reader: Reader, frame: Frame, node: cst.If, rest: Sequence[cst.CSTNode]) -> bool:
    """`if c: return a` and then `rest` is `if c: return a` `else: rest`."""
    truth_site = reader.site
    then = flatten(node.body)
    orelse = _orelse(node)
    if not (_always_exits(then) or _always_exits(orelse)):
        return False
    reader.site = truth_site
    _if(reader, frame, node, rest)
    return True


def _orelse(node: cst.If) -> list[cst.CSTNode]:
    if node.orelse is None:
        return []
    return [node.orelse] if isinstance(node.orelse, cst.If) else flatten(node.orelse.body)


def _if(reader: Reader, frame: Frame, node: cst.If, rest: Sequence[cst.CSTNode]) -> None:
    """An `if`; `rest` is what follows it, for the branches that reach their end."""
    if not reader.splicing:
        site = reader.site_of(frame, node.test, statement=True)
        reader.site = site and replace(site, text=f"if {site.text}:")
    test = value(reader, frame, node.test)
    then, orelse = flatten(node.body), _orelse(node)
    truth = known_truth(test)
    if truth is not None:
        chosen = then if truth else orelse
        read(reader, frame, [*chosen, *([] if _always_exits(chosen) else rest)])
        return
    give_up_if_static(reader)
    condition = reader.arg(test)

    def path(branch: list[cst.CSTNode]) -> Callable[[], None]:
        return lambda: read(reader, frame, [*branch, *([] if _always_exits(branch) else rest)])

    reader.branches(frame, condition, path(then), path(orelse))


# -- leaving -----------------------------------------------------------------------------------------


@statement(cst.Return)
def _return(reader: Reader, frame: Frame, node: cst.Return) -> None:
    if frame.loops:
        frame.env[f"%return{len(frame.returns)}"] = Const(True)
        frame.returns.append(_evaluated_here(reader, frame, node.value))
        return
    _return_value(reader, frame, node.value)


def _evaluated_here(
    reader: Reader, frame: Frame, node: cst.BaseExpression | None
) -> cst.BaseExpression | str | None:
    """What `return node` returns from a loop, where it is evaluated after the loop.

    In a `try` it is evaluated at once: what it raises may be caught, and a `finally` may change its names.
    """
    if node is None or not frame.tries or (isinstance(node, cst.Name) and not any(frame.tries)):
        return node
    if not any(each is node for each in frame.results):
        frame.results.append(node)
    name = f"{RESULT}{next(i for i, each in enumerate(frame.results) if each is node)}"
    frame.env[name] = value(reader, frame, node)
    return name


def _return_value(reader: Reader, frame: Frame, node: cst.BaseExpression | str | None) -> None:
    if isinstance(node, str):
        frame.env[VALUE] = frame.env[node]
    else:
        frame.env[VALUE] = Const(None) if node is None else value(reader, frame, node)
    frame.env[DONE] = Const(True)


@statement(cst.Break)
def _break(reader: Reader, frame: Frame, node: cst.Break) -> None:
    frame.env[BREAK] = Const(True)


@statement(cst.Continue)
def _continue(reader: Reader, frame: Frame, node: cst.Continue) -> None:
    frame.env[CONTINUE] = Const(True)


@statement(cst.Raise)
def _raise(reader: Reader, frame: Frame, node: cst.Raise) -> None:
    error = Const(None) if node.exc is None else reader.arg(value(reader, frame, node.exc))
    cause = () if node.cause is None else (reader.arg(value(reader, frame, node.cause.item)),)
    reader.do(RAISE, error, *cause)
    frame.env[DEAD] = Const(True)


@statement(cst.Pass, cst.Import, cst.ImportFrom)
def _nothing(reader: Reader, frame: Frame, node: Any) -> None:
    if isinstance(node, cst.Import | cst.ImportFrom):
        _import(reader, frame, node)


def _import(reader: Reader, frame: Frame, node: cst.Import | cst.ImportFrom) -> None:
    """An import inside the function: done now, and by the generated module at its top."""
    import importlib

    def dotted(name: Any) -> str:
        return name.value if isinstance(name, cst.Name) else f"{dotted(name.value)}.{name.attr.value}"

    if isinstance(node, cst.ImportFrom):
        if node.module is None or node.relative or isinstance(node.names, cst.ImportStar):
            reader.refuse(
                frame,
                node,
                Code.UNSUPPORTED_SYNTAX,
                "this import is not read inside a function",
                "import at the top",
            )
        module = importlib.import_module(dotted(node.module))
        for alias in node.names:
            name = dotted(alias.name)
            bound = dotted(alias.asname.name) if alias.asname else name
            found = getattr(module, name)
            as_name = f" as {bound}" if bound != name else ""
            frame.env[bound] = Ref(found, bound, f"from {module.__name__} import {name}{as_name}")
        return
    for alias in node.names:
        name = dotted(alias.name)
        module = importlib.import_module(name)
        if alias.asname:
            bound = dotted(alias.asname.name)
            frame.env[bound] = Ref(module, bound, f"import {name} as {bound}")
        else:
            top = name.partition(".")[0]
            frame.env[top] = Ref(importlib.import_module(top), top, f"import {name}")


# -- assigning ---------------------------------------------------------------------------------------


@statement(cst.Expr)
def _expr(reader: Reader, frame: Frame, node: cst.Expr) -> None:
    if not isinstance(node.value, cst.SimpleString | cst.ConcatenatedString | cst.Ellipsis):
        value(reader, frame, node.value)


@statement(cst.Assign)
def _assign(reader: Reader, frame: Frame, node: cst.Assign) -> None:
    result = value(reader, frame, node.value)
    for target in node.targets:
        assign(reader, frame, target.target, result)


@statement(cst.AnnAssign)
def _annotated(reader: Reader, frame: Frame, node: cst.AnnAssign) -> None:
    if node.value is not None:
        assign(reader, frame, node.target, value(reader, frame, node.value))


def assign(reader: Reader, frame: Frame, target: cst.CSTNode, result: Any) -> None:
    """Bind a target: a name, a tuple of targets, an element or an attribute."""
    if isinstance(target, cst.Name):
        if isinstance(result, Var) and not result.name and not (reader.splicing and _is_bound(frame, result)):
            result.name = target.value
        elif isinstance(result, Tup) and result.cls is None:
            for i, item in enumerate(result.items):
                if isinstance(item, Var) and not item.name:
                    item.name = f"{target.value}_{i}"
        frame.env[target.value] = result
    elif isinstance(target, cst.Tuple | cst.List):
        _unpack(reader, frame, target, result)
    elif isinstance(target, cst.Subscript):
        obj = value(reader, frame, target.value)
        store(reader, frame, obj, index(reader, frame, target), result, target)
    elif isinstance(target, cst.Attribute):
        set_attribute(reader, frame, value(reader, frame, target.value), target.attr.value, result, target)
    elif isinstance(target, cst.StarredElement):
        reader.refuse(frame, target, Code.UNSUPPORTED_SYNTAX, "a starred target outside a tuple", "")
    else:
        reader.refuse(frame, target, Code.UNSUPPORTED_SYNTAX, "this target is not read", "assign to a name")


def _is_bound(frame: Frame, value: Any) -> bool:
    """Whether a value has a name here already: an operand that a rule calls otherwise keeps its own."""
    return any(bound is value for bound in frame.env.values())


def _unpack(reader: Reader, frame: Frame, target: Any, result: Any) -> None:
    elements = list(target.elements)
    stars = [i for i, e in enumerate(elements) if isinstance(e, cst.StarredElement)]
    if stars and not isinstance(result, Tup) and not (isinstance(result, ListValue) and result.var is None):
        _unpack_starred(reader, frame, elements, stars[0], result, target)
        return
    unpackable = Array | Unknown | SequenceKind | Opaque | Undefined
    if isinstance(result, Var) and isinstance(result.kind, unpackable):
        items = unpacked(reader, frame, result, len(elements), target)
    else:
        items = spread(reader, frame, result, target)
    if stars:
        before, after = stars[0], len(elements) - stars[0] - 1
        middle = reader.new(ListValue(items[before : len(items) - after]))
        items = [*items[:before], middle, *items[len(items) - after :]]
    if len(items) != len(elements):
        many = f"too many values to unpack (expected {len(elements)})"
        few = f"not enough values to unpack (expected {len(elements)}, got {len(items)})"
        reader.fail(frame, ValueError, many if len(items) > len(elements) else few)
        items = [UNBOUND] * len(elements)
    for element, item in zip(elements, items, strict=True):
        assign(reader, frame, element.value, item)


def _unpack_starred(
    reader: Reader, frame: Frame, elements: list[Any], at: int, result: Any, target: Any
) -> None:
    """`a, *rest, z = x` of something whose length is not known."""
    from .expressions import subscript
    from .loops import listed

    after = len(elements) - at - 1
    if not isinstance(result, Var | ListValue):
        result = listed(reader, result, frame, target)
    for i, element in enumerate(elements[:at]):
        assign(reader, frame, element.value, subscript(reader, frame, result, Const(i), target))
    middle = subscript(
        reader, frame, result, Slc(Const(at), Const(-after if after else None), Const(None)), target
    )
    assign(reader, frame, elements[at].value, listed(reader, middle, frame, target))
    for i, element in enumerate(elements[at + 1 :]):
        assign(reader, frame, element.value, subscript(reader, frame, result, Const(i - after), target))


def store(reader: Reader, frame: Frame, obj: Any, at: Any, result: Any, node: cst.CSTNode | None) -> None:
    """`obj[at] = result`."""
    if isinstance(obj, Flat):
        stores.store_flat(reader, obj.array, reader.arg(at), reader.arg(result))
        return
    if isinstance(obj, ListValue) and obj.var is None:
        if (
            isinstance(at, Const)
            and isinstance(at.value, int)
            and -len(obj.items) <= at.value < len(obj.items)
        ):
            reader.change(obj)
            obj.items[at.value] = result
            _store_outside(reader, obj, at, result)
            return
        known = at.known() if isinstance(at, Slc) else None
        if known is not None:
            items = spread(reader, frame, result, node)
            reader.change(obj)
            obj.items[known] = items
            _store_outside(reader, obj, at, ListValue(items))
            return
        reader.run(obj)
    if isinstance(obj, DictValue) and obj.var is None:
        if not isinstance(at, Const):
            reader.refuse(
                frame, node, Code.UNSUPPORTED_SYNTAX, "the key is not known before running", "use a list"
            )
        reader.change(obj)
        obj.items[at.value] = result
        _store_outside(reader, obj, at, result)
        return
    if isinstance(obj, ObjectValue):
        call(reader, frame, attribute(reader, frame, obj, "__setitem__", node), [at, result], {}, node)
        return
    if isinstance(obj, ListValue) and isinstance(at, Slc):
        reader.refuse(
            frame,
            node,
            Code.MUTATION,
            "a slice of a list of unknown length is stored",
            "store element by element",
        )
    if isinstance(obj, ListValue):
        reader.check_own(obj)
        stored = _element(reader, obj, result)
        reader.do(STORE, _list_var(obj), reader.arg(at), stored, effect="write")
        return
    if isinstance(obj, Var):
        reader.check_own(obj)
        held = (
            reader.run(result)
            if isinstance(result, ListValue) and isinstance(obj.kind, Opaque)
            else reader.arg(result)
        )
        reader.do(STORE, obj, reader.arg(at), held, effect="write")
        return
    reader.refuse(frame, node, Code.MUTATION, "this value cannot be stored into", "")


def _store_outside(reader: Reader, obj: ListValue | DictValue, at: Arg, result: Any) -> None:
    """What is stored in a list or dict of the surrounding code is stored for good."""
    if obj.origin is not None:
        reader.check_known(obj)
        reader.do(PUT, obj.origin, at, reader.share(result))


def delete(reader: Reader, frame: Frame, obj: ListValue | DictValue, at: Arg) -> None:
    """`del obj[at]`, at a known place of a known list or dict."""
    reader.check_known(obj)
    reader.change(obj)
    try:
        if isinstance(at, Slc):
            del obj.items[_slice_of(at)]
        elif isinstance(at, Const):
            del obj.items[at.value]
    except (KeyError, IndexError) as error:
        reader.fail(frame, type(error), *error.args)
        return
    if obj.origin is not None:
        reader.do(DELETE, obj.origin, at, effect="io")


def _is_constant(at: Slc) -> bool:
    return all(isinstance(p, Const) for p in (at.start, at.stop, at.step))


def _slice_of(at: Slc) -> slice:
    return slice(*(p.value for p in (at.start, at.stop, at.step) if isinstance(p, Const)))


def _list_var(obj: ListValue) -> Var:
    assert obj.var is not None
    return obj.var


def _element(reader: Reader, obj: ListValue, item: Any) -> Arg:
    """An item that goes into a running list, whose elements are all of one kind."""
    from .containers import widen

    arg = reader.run(item) if isinstance(item, ListValue) else reader.arg(item)
    widen(reader, obj, arg)
    return arg


def set_attribute(reader: Reader, frame: Frame, obj: Any, name: str, result: Any, node: cst.CSTNode) -> None:
    """`obj.name = result`."""
    if isinstance(obj, ObjectValue):
        setter = getattr(getattr(obj.cls, name, None), "fset", None)
        if setter is not None:
            from .values import Bound

            call(reader, frame, Bound(Ref(setter, f"{obj.cls.__name__}.{name}"), obj), [result], {}, node)
            return
        reader.change(obj)
        obj.attributes[name] = result
        if obj.origin is not None:
            reader.do(Op("set", name), obj.origin, reader.share(result), effect="io")
        return
    if isinstance(obj, Var) and isinstance(obj.kind, Array) and name == "flat":
        stores.store_flat(reader, obj, Const(Ellipsis), reader.arg(result))
        return
    if isinstance(obj, Var) and isinstance(obj.kind, Array) and name in ("real", "imag"):
        part = attribute(reader, frame, obj, name, node)
        reader.do(STORE, reader.arg(part), Const(Ellipsis), reader.arg(result), effect="write")
        return
    reader.refuse(
        frame, node, Code.MUTATION, f"setting the attribute {name!r} of this value is not followed", ""
    )


@statement(cst.AugAssign)
def _augmented(reader: Reader, frame: Frame, node: cst.AugAssign) -> None:
    op = symbol(node.operator)
    target = node.target
    if isinstance(target, cst.Name):
        current = reader.lookup(frame, target.value, target)
        operand = value(reader, frame, node.value)
        new = _in_place(reader, frame, op, current, operand, node, target.value)
        if new is not current:
            assign(reader, frame, target, new)
        return
    if isinstance(target, cst.Subscript):
        obj = value(reader, frame, target.value)
        at = index(reader, frame, target)
        if isinstance(obj, Var) and isinstance(obj.kind, Array):
            augment(reader, frame, op, obj, at, value(reader, frame, node.value))
            return
        from .expressions import subscript

        current = subscript(reader, frame, obj, at, target)
        if isinstance(obj, Flat):
            store(
                reader,
                frame,
                obj,
                at,
                binary(reader, frame, op, current, value(reader, frame, node.value), node),
                target,
            )
            return
        operand = value(reader, frame, node.value)
        if isinstance(current, Var) and isinstance(current.kind, Unknown) and isinstance(obj, Var):
            new = binary(reader, frame, op, current, operand, node)
        else:
            new = _in_place(reader, frame, op, current, operand, node)
        if new is not current:
            store(reader, frame, obj, at, new, target)
        return
    assert isinstance(target, cst.Attribute)
    obj = value(reader, frame, target.value)
    current = attribute(reader, frame, obj, target.attr.value, target)
    new = _in_place(reader, frame, op, current, value(reader, frame, node.value), node)
    if new is not current:
        set_attribute(reader, frame, obj, target.attr.value, new, target)


def _in_place(
    reader: Reader, frame: Frame, op: str, current: Any, operand: Any, node: cst.AugAssign, name: str = ""
) -> Any:
    """What `current op= operand` leaves in the target: `current` itself, changed, where Python does that."""
    if isinstance(current, Var) and isinstance(current.kind, Array):
        augment(reader, frame, op, current, Const(Ellipsis), operand)
        return current
    if isinstance(current, ListValue) and not current.is_tuple and op == "*":
        if current.var is not None or not isinstance(operand, Const):
            reader.refuse(
                frame,
                node,
                Code.MUTATION,
                "a list of unknown length, or an unknown number of times, is repeated in place",
                f"write {name or 'xs'} = {name or 'xs'} * n",
            )
        reader.change(current)
        current.items *= operand.value
        return current
    if isinstance(current, ListValue) and not current.is_tuple and op == "+":
        from .containers import list_method

        list_method(reader, frame, current, "extend", [operand], {}, node)
        return current
    if isinstance(current, DictValue) and op == "|":
        from .containers import dict_method

        dict_method(reader, frame, current, "update", [operand], {}, node)
        return current
    if isinstance(current, ObjectValue):
        from .objects import by_method

        result = by_method(reader, frame, current, f"__{_IN_PLACE[op].__name__}__", [operand], node)
        if result is not NotImplemented and not (isinstance(result, Ref) and result.value is NotImplemented):
            return result
    if isinstance(current, Var) and isinstance(current.kind, Unknown):
        return _augment_unknown(reader, frame, op, current, operand, name)
    return binary(reader, frame, op, current, operand, node)


def augment(reader: Reader, frame: Frame, op: str, obj: Var, at: Any, operand: Any) -> None:
    """`obj[at] op= operand` of an array."""
    stores.augment(reader, op, obj, reader.arg(at), reader.arg(operand))


def _augment_unknown(
    reader: Reader, frame: Frame, op: str, current: Var, operand: Any, name: str = ""
) -> Arg:
    """`x += y` where `x` turns out to be an array, which is changed, or a number, which is replaced."""
    if not isinstance(operand, Var | Const) or isinstance(arg_kind(operand), SequenceKind | Opaque):
        operation = Op("inplace", op, _IN_PLACE[op])
        return reader.let(operation, current, reader.arg(operand), name=name, effect="write")  # type: ignore[no-any-return]
    types = [Ref(t, t.__name__) for t in (int, float, complex)]
    types.append(Ref(np.generic, f"{reader.numpy.text}.generic", reader.numpy.imports))
    question = Op("call", "isinstance", isinstance, Ref(isinstance, "isinstance"))

    def in_place() -> Arg:
        memory = reader.value(current, name, Array(None, None))
        augment(reader, frame, op, memory, Const(Ellipsis), operand)
        return memory

    is_number = reader.let(question, current, Tup(tuple(types)), kind=BOOL)
    return reader.choose(is_number, lambda: reader.binary(op, current, operand), in_place, name)


def _in_place_functions() -> dict[str, Any]:
    import operator

    names = {"+": "iadd", "-": "isub", "*": "imul", "/": "itruediv", "//": "ifloordiv", "%": "imod",
             "**": "ipow", "@": "imatmul", "&": "iand", "|": "ior", "^": "ixor", "<<": "ilshift",
             ">>": "irshift"}  # fmt: skip
    return {symbol: getattr(operator, name) for symbol, name in names.items()}


_IN_PLACE = _in_place_functions()


@statement(cst.Del)
def _del(reader: Reader, frame: Frame, node: cst.Del) -> None:
    targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    for target in targets:
        if isinstance(target, cst.Name):
            frame.env.pop(target.value, None)
            continue
        if isinstance(target, cst.Subscript):
            obj = value(reader, frame, target.value)
            at = index(reader, frame, target)
            known = isinstance(at, Const) or (
                isinstance(obj, ListValue) and isinstance(at, Slc) and _is_constant(at)
            )
            if isinstance(obj, ListValue | DictValue) and obj.var is None and known:
                delete(reader, frame, obj, at)
                continue
            if isinstance(obj, ListValue):
                reader.check_own(obj)
                reader.do(DELETE, reader.run(obj), reader.arg(at), effect="write")
                continue
        reader.refuse(frame, target, Code.MUTATION, "this `del` is not followed", "build a new list instead")


# -- the rest ----------------------------------------------------------------------------------------


@statement(cst.Assert)
def _assert(reader: Reader, frame: Frame, node: cst.Assert) -> None:
    test = value(reader, frame, node.test)
    if known_truth(test) is True:
        return
    message = Const(None) if node.msg is None else reader.arg(value(reader, frame, node.msg))
    reader.do(ASSERT, reader.arg(test), message)


@statement(cst.FunctionDef)
def _def(reader: Reader, frame: Frame, node: cst.FunctionDef) -> None:
    if node.decorators:
        reader.refuse(
            frame,
            node,
            Code.UNSUPPORTED_SYNTAX,
            "a decorated nested function is not read",
            "decorate by hand",
        )
    frame.env[node.name.value] = Closure(node, frame, defaults(reader, frame, node.params), node.name.value)


@statement(cst.Global, cst.Nonlocal)
def _global(reader: Reader, frame: Frame, node: Any) -> None:
    names = ", ".join(item.name.value for item in node.names)
    word = type(node).__name__.lower()
    reader.refuse(
        frame,
        node,
        Code.UNSUPPORTED_SYNTAX,
        f"`{word} {names}` would be written to",
        "pass it in and return the new value",
    )


@statement(cst.With)
def _with(reader: Reader, frame: Frame, node: cst.With) -> None:
    _with_items(reader, frame, node, list(node.items), flatten(node.body))


def _with_items(
    reader: Reader, frame: Frame, node: cst.With, items: list[cst.WithItem], body: list[cst.CSTNode]
) -> None:
    if not items:
        read(reader, frame, body)
        return
    site = reader.site
    item, target = items[0].item, items[0].asname
    if isinstance(item, cst.Call) and _means(reader, frame, item.func, contextlib.suppress):
        from .tries import read_suppressed

        if items[1:] or target is not None:
            reader.refuse(
                frame, item, Code.UNSUPPORTED_SYNTAX, "suppress(...) is read only alone", "nest the `with`s"
            )
        read_suppressed(reader, frame, node, item, body)
        return
    manager = reader.arg(value(reader, frame, item))
    name = None if target is None else Var("", UNKNOWN)
    with reader.block() as statements:
        if target is not None:
            assign(reader, frame, target.name, name)
        _with_items(reader, frame, node, items[1:], body)
    reader.add(With(manager, name, Block(tuple(statements)), site))


def _means(reader: Reader, frame: Frame, node: cst.CSTNode, what: Any) -> bool:
    """Whether an expression is a name, dotted or not, of something."""
    if isinstance(node, cst.Attribute):
        owner = node.value
        while isinstance(owner, cst.Attribute):
            owner = owner.value
        return isinstance(owner, cst.Name) and getattr(value(reader, frame, node), "value", None) is what
    return isinstance(node, cst.Name) and getattr(value(reader, frame, node), "value", None) is what


@statement(cst.Try)
def _try(reader: Reader, frame: Frame, node: cst.Try) -> None:
    """The path that was taken is recorded; what the body had bound before it raised is not kept."""
    from .tries import read_try

    read_try(reader, frame, node)


@statement(cst.For)
def _for(reader: Reader, frame: Frame, node: cst.For) -> None:
    from .loops import for_loop

    for_loop(reader, frame, node)


@statement(cst.While)
def _while(reader: Reader, frame: Frame, node: cst.While) -> None:
    from .loops import while_loop

    while_loop(reader, frame, node)


__all__ = ["BREAK", "CONTINUE", "DONE", "INT", "STATEMENTS", "VALUE", "Handler", "Number", "Slc", "Star",
           "Try", "any_of", "arg_kind", "assign", "exit_flags", "flatten", "join", "read", "read_body",
           "store"]  # fmt: skip
