"""Expressions: one function per kind of LibCST node, registered by the node's type.

In: a reader, a frame, a node. Out: the node's value; statements it needs have been added to the reader.

    value(reader, frame, cst.parse_expression("x * 2"))   # -> Var, with a Let in reader.statements
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Any

import libcst as cst
import numpy as np

from ...runtime.array_modules import counterpart
from ...runtime.rules.methods import ATTRIBUTES
from ..errors import Code
from ..infer import arg_kind, size_of
from ..ir import BINARY, COMPARISONS, INDEX, LENGTH, UNBOUND, Arg, Const, Let, Op, Ref, Slc, Tup, Var
from ..kinds import (
    UNDEFINED,
    UNKNOWN,
    Array,
    Container,
    Dim,
    Number,
    Opaque,
    Sparse,
    Static,
    Undefined,
    Unknown,
    is_integer,
)
from ..kinds import Sequence as SequenceKind
from . import sparse
from .reader import Frame, Reader
from .values import (
    Bound,
    Choice,
    Closure,
    DictValue,
    Flat,
    Generator,
    Iteration,
    ListValue,
    Method,
    ObjectValue,
    Partial,
    Steps,
)

Handler = Callable[[Reader, Frame, Any], Any]
EXPRESSIONS: dict[type[cst.CSTNode], Handler] = {}


def expression(*types: type[cst.CSTNode]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for each in types:
            EXPRESSIONS[each] = handler
        return handler

    return register


def value(reader: Reader, frame: Frame, node: cst.CSTNode) -> Any:
    """The value of an expression."""
    handler = EXPRESSIONS.get(type(node))
    if handler is None:
        name = type(node).__name__
        reader.refuse(
            frame, node, Code.UNSUPPORTED_SYNTAX, f"{_SYNTAX.get(name, name)} is not read", "write it without"
        )
    site = reader.site
    if not reader.splicing and not isinstance(node, cst.Name | cst.SimpleString | cst.Integer | cst.Float):
        reader.site = reader.site_of(frame, node)
    try:
        return handler(reader, frame, node)
    finally:
        reader.site = site


_SYNTAX = {
    "Await": "`await`",
    "Yield": "`yield` (a generator has no single result)",
    "SetComp": "a set comprehension",
}


# -- literals and names ------------------------------------------------------------------------------


@expression(cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.ConcatenatedString)
def _literal(reader: Reader, frame: Frame, node: Any) -> Any:
    if isinstance(node, cst.ConcatenatedString) and not isinstance(node.evaluated_value, str | bytes):
        return _fstring(reader, frame, node)
    return Const(node.evaluated_value)


@expression(cst.Ellipsis)
def _ellipsis(reader: Reader, frame: Frame, node: cst.Ellipsis) -> Any:
    return Const(Ellipsis)


@expression(cst.Name)
def _name(reader: Reader, frame: Frame, node: cst.Name) -> Any:
    if node.value in ("None", "True", "False"):
        return Const({"None": None, "True": True, "False": False}[node.value])
    found = reader.lookup(frame, node.value, node)
    if isinstance(found, Generator):
        _run_once(reader, frame, found, node)
    return found


def _run_once(reader: Reader, frame: Frame, generator: Generator, node: cst.Name) -> None:
    """Refuse a second look at a generator, which gives nothing any more."""
    first = generator.read.setdefault(id(frame), node)
    again = frame is generator.frame and frame.loops > generator.loops
    if first is not node or again:
        reader.refuse(
            frame,
            node,
            Code.UNSUPPORTED_SYNTAX,
            f"the generator `{node.value}` may have been used up here",
            "make it a list, in brackets",
        )


@expression(cst.NamedExpr)
def _walrus(reader: Reader, frame: Frame, node: cst.NamedExpr) -> Any:
    from .statements import assign

    result = value(reader, frame, node.value)
    assign(reader, frame, node.target, result)
    return result


@expression(cst.FormattedString)
def _fstring(reader: Reader, frame: Frame, node: Any) -> Any:
    """An f-string: its parts are read in order; the text around them is kept as it is."""
    template, args = _template(reader, frame, node)
    if all(isinstance(a, Const) for a in args):
        return Const(template.format(*(a.value for a in args if isinstance(a, Const))))
    return reader.let(Op("fstring", template), *args, kind=Opaque(str))


def _template(reader: Reader, frame: Frame, node: Any) -> tuple[str, list[Arg]]:
    if isinstance(node, cst.ConcatenatedString):
        left, one = _template(reader, frame, node.left)
        right, two = _template(reader, frame, node.right)
        return left + right, one + two
    if isinstance(node, cst.SimpleString):
        return str(node.evaluated_value).replace("{", "{{").replace("}", "}}"), []
    template, args = "", []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            template += part.value
            continue
        spec = ""
        if part.format_spec:
            for inner in part.format_spec:
                if not isinstance(inner, cst.FormattedStringText):
                    reader.refuse(
                        frame, node, Code.UNSUPPORTED_SYNTAX, "a computed format is not read", "use format()"
                    )
                spec += inner.value
        equal = frame.source.code(part.expression) + "=" if part.equal else ""
        conversion = f"!{part.conversion}" if part.conversion else ("!r" if part.equal and not spec else "")
        template += f"{equal}{{{conversion}{':' + spec if spec else ''}}}"
        args.append(reader.arg(value(reader, frame, part.expression)))
    return template, args


# -- operators ---------------------------------------------------------------------------------------

_SYMBOLS = { "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%",
    "Power": "**", "MatrixMultiply": "@", "LeftShift": "<<", "RightShift": ">>", "BitAnd": "&", "BitOr": "|",
    "BitXor": "^", "LessThan": "<", "LessThanEqual": "<=", "GreaterThan": ">", "GreaterThanEqual": ">=",
    "Equal": "==", "NotEqual": "!=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
    "Minus": "-", "Plus": "+", "BitInvert": "~", "Not": "not", }  # fmt: skip


def symbol(operator: cst.CSTNode) -> str:
    return _SYMBOLS[type(operator).__name__.removesuffix("Assign")]


@expression(cst.BinaryOperation)
def _binary(reader: Reader, frame: Frame, node: cst.BinaryOperation) -> Any:
    left = value(reader, frame, node.left)
    right = value(reader, frame, node.right)
    return binary(reader, frame, symbol(node.operator), left, right, node)


def binary(
    reader: Reader, frame: Frame, op: str, left: Any, right: Any, node: cst.CSTNode | None = None
) -> Any:
    """An operator on values, containers and user-defined classes included."""
    for one in (left, right):
        if isinstance(one, Choice):
            other_left = left is not one

            def path(chosen: Any, other_left: bool = other_left) -> Any:
                return binary(reader, frame, op, *((left, chosen) if other_left else (chosen, right)), node)

            then, orelse = partial(path, one.then), partial(path, one.orelse)
            return reader.branches(frame, one.condition, then, orelse)
    if isinstance(left, Tup) and isinstance(right, Tup) and op == "+":
        return Tup(left.items + right.items)
    if (
        isinstance(left, ListValue)
        and isinstance(right, ListValue)
        and op == "+"
        and left.var is None
        and right.var is None
    ):
        return reader.new(ListValue([*left.items, *right.items]))
    if (
        isinstance(left, Tup | ListValue)
        and op == "*"
        and isinstance(right, Const)
        and isinstance(right.value, int)
    ):
        if isinstance(left, Tup):
            return Tup(left.items * right.value)
        if left.var is None:
            return reader.new(ListValue(left.items * right.value))
    lists = [x for x in (left, right) if isinstance(x, ListValue)]
    if op == "+" and any(x.is_tuple for x in lists):
        both = (left, right)
        lists = [
            reader.new(ListValue(list(x.items), is_tuple=True)) if isinstance(x, Tup) else x for x in both
        ]
    if op == "+" and len(lists) == 2 and all(isinstance(x, ListValue) for x in lists):
        from .containers import concatenated

        made = concatenated(reader, frame, lists, node)
        made.is_tuple = lists[0].is_tuple
        if lists[0].is_tuple != lists[1].is_tuple:
            return reader.fail(frame, TypeError, "can only concatenate tuple to tuple, and list to list")
        return made
    if op == "*" and len(lists) == 1:
        count = right if left is lists[0] else left
        kind = arg_kind(count) if isinstance(count, Var | Const) else UNKNOWN
        if isinstance(kind, Number) and is_integer(kind):
            from .containers import repeated

            return repeated(reader, frame, lists[0], count, node)
        if isinstance(kind, Unknown):
            reader.refuse(
                frame,
                node,
                Code.UNSUPPORTED_SYNTAX,
                "whether this repeats a list, or multiplies an array, depends on what is not known here",
                "say what it is with like=, or use a comprehension",
            )
    if (
        op in ("in", "not in")
        and isinstance(right, DictValue)
        and right.var is None
        and isinstance(left, Const)
    ):
        return Const((left.value in right.items) == (op == "in"))
    if op in ("is", "is not") and (_is_container(left) or _is_container(right)):
        return Const((left is right) == (op == "is"))
    if op == "|" and isinstance(left, DictValue) and isinstance(right, DictValue):
        return reader.new(DictValue({**left.items, **right.items}))
    special = _operator_method(reader, frame, op, left, right)
    if special is not None:
        return special
    if isinstance(left, Ref) and isinstance(right, Ref) and op == "|":
        return Ref(left.value | right.value, f"{left.text} | {right.text}")
    if op == "%" and isinstance(left, Const) and isinstance(left.value, str) and isinstance(right, Const):
        return Const(left.value % right.value)
    if op == "%" and isinstance(left, Const) and isinstance(left.value, str):
        return reader.let(Op("operator", "%", BINARY["%"]), left, reader.arg(right), kind=Opaque(str))
    return reader.binary(op, reader.arg(left), reader.arg(right))


def _is_container(x: Any) -> bool:
    return isinstance(x, ListValue | DictValue | ObjectValue | Closure)


_DUNDER = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
           "@": "matmul", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}  # fmt: skip


def _operator_method(reader: Reader, frame: Frame, op: str, left: Any, right: Any) -> Any:
    """`__add__` and its like of user classes."""
    from .calls import call

    name = _DUNDER.get(op)
    if name is None:
        return None
    for receiver, argument, method in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
        if isinstance(receiver, ObjectValue):
            function = getattr(receiver.cls, method, None)
            if function is not None and hasattr(function, "__code__"):
                ref = Ref(function, function.__qualname__)
                result = call(reader, frame, Bound(ref, receiver), [argument], {}, None)
                if not (isinstance(result, Ref) and result.value is NotImplemented):
                    return result
    return None


@expression(cst.UnaryOperation)
def _unary(reader: Reader, frame: Frame, node: cst.UnaryOperation) -> Any:
    operand = value(reader, frame, node.expression)
    op = symbol(node.operator)
    if op == "not":
        truth = known_truth(operand)
        if truth is not None:
            return Const(not truth)
    if op in _UNARY_METHODS:
        from .objects import by_method

        result = by_method(reader, frame, operand, _UNARY_METHODS[op], [], node)
        if result is not NotImplemented:
            return result
    return reader.unary(op, reader.arg(operand))


_UNARY_METHODS = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


@expression(cst.BooleanOperation)
def _boolean(reader: Reader, frame: Frame, node: cst.BooleanOperation) -> Any:
    left = value(reader, frame, node.left)
    is_and = isinstance(node.operator, cst.And)
    truth = known_truth(left)
    if truth is not None:
        return value(reader, frame, node.right) if truth == is_and else left
    condition = reader.arg(left)
    if is_and:
        return reader.branches(frame, condition, lambda: value(reader, frame, node.right), lambda: left)
    return reader.branches(frame, condition, lambda: left, lambda: value(reader, frame, node.right))


@expression(cst.Comparison)
def _comparison(reader: Reader, frame: Frame, node: cst.Comparison) -> Any:
    left = value(reader, frame, node.left)
    return _chain(reader, frame, left, list(node.comparisons), node)


def _chain(
    reader: Reader, frame: Frame, left: Any, targets: list[cst.ComparisonTarget], node: cst.CSTNode
) -> Any:
    right = value(reader, frame, targets[0].comparator)
    first = binary(reader, frame, symbol(targets[0].operator), left, right, node)
    if len(targets) == 1:
        return first
    truth = known_truth(first)
    if truth is not None:
        return _chain(reader, frame, right, targets[1:], node) if truth else first
    return reader.branches(
        frame, reader.arg(first), lambda: _chain(reader, frame, right, targets[1:], node), lambda: first
    )


@expression(cst.IfExp)
def _ternary(reader: Reader, frame: Frame, node: cst.IfExp) -> Any:
    test = value(reader, frame, node.test)
    truth = known_truth(test)
    if truth is not None:
        return value(reader, frame, node.body if truth else node.orelse)
    give_up_if_static(reader)
    return reader.branches(
        frame,
        reader.arg(test),
        lambda: value(reader, frame, node.body),
        lambda: value(reader, frame, node.orelse),
    )


class NotStatic(Exception):
    """A helper that was to be specialised depends on something known only at run time."""


def give_up_if_static(reader: Reader) -> None:
    if reader.static_only:
        raise NotStatic


def known_truth(x: Any) -> bool | None:
    """`bool(x)`, if that is certain."""
    if isinstance(x, Const):
        return bool(x.value)
    if isinstance(x, Ref):
        return True if callable(x.value) else None
    if isinstance(x, Tup):
        return bool(x.items)
    if isinstance(x, ListValue | DictValue):
        return bool(x.items) if x.var is None else None
    if isinstance(x, Closure | Bound | Partial):
        return True
    if isinstance(x, ObjectValue) and not hasattr(x.cls, "__bool__") and not hasattr(x.cls, "__len__"):
        return True
    return None


# -- displays ----------------------------------------------------------------------------------------


def _elements(reader: Reader, frame: Frame, node: Any) -> list[Any]:
    items: list[Any] = []
    for element in node.elements:
        item = value(reader, frame, element.value)
        if isinstance(element, cst.StarredElement):
            items.extend(spread(reader, frame, item, element))
        else:
            items.append(item)
    return items


def spread(reader: Reader, frame: Frame, x: Any, node: cst.CSTNode | None) -> list[Any]:
    """The elements of something whose length is known."""
    from .loops import iteration

    steps = iteration(reader, frame, x, node)
    if isinstance(steps, Steps):
        return steps.items
    if isinstance(steps, Iteration):
        count = steps.count()
        if isinstance(count, Const):
            return [steps.item(Const(i)) for i in range(count.value)]
    reader.refuse(
        frame,
        node,
        Code.UNSUPPORTED_SYNTAX,
        "how many values `*` stands for is not known before running",
        "index them",
    )


def unpacked(reader: Reader, frame: Frame, x: Var, count: int, node: cst.CSTNode | None) -> list[Any]:
    """The elements of what has to have `count` of them, which is not known before running."""
    dims = x.kind.dims if isinstance(x.kind, Array) else None
    if not reader.splicing and not (dims and dims[0] == count):
        reader.add(Let((), Op("unpack", str(count)), (x,), (), "", reader.site))
    return [subscript(reader, frame, x, Const(i), node) for i in range(count)]


@expression(cst.Tuple)
def _tuple(reader: Reader, frame: Frame, node: cst.Tuple) -> Any:
    return Tup(tuple(_elements(reader, frame, node)))


@expression(cst.List)
def _list(reader: Reader, frame: Frame, node: cst.List) -> Any:
    made = reader.new(ListValue(_elements(reader, frame, node), key=(node, *(c for c, _ in reader.calls))))
    made.element = reader.memo.get(made.key, UNDEFINED)
    return made


@expression(cst.Dict)
def _dict(reader: Reader, frame: Frame, node: cst.Dict) -> Any:
    items: dict[Any, Any] = {}
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            other = value(reader, frame, element.value)
            if not isinstance(other, DictValue):
                reader.refuse(
                    frame,
                    element,
                    Code.UNSUPPORTED_SYNTAX,
                    "`**` of a dict with unknown keys",
                    "name the keys",
                )
            items.update(other.items)
            continue
        assert isinstance(element, cst.DictElement)
        key = value(reader, frame, element.key)
        if not isinstance(key, Const):
            reader.refuse(
                frame, element.key, Code.UNSUPPORTED_SYNTAX, "a computed key in a dict", "use a list"
            )
        items[key.value] = value(reader, frame, element.value)
    return reader.new(DictValue(items))


@expression(cst.Set)
def _set(reader: Reader, frame: Frame, node: cst.Set) -> Any:
    items = Tup(tuple(reader.arg(i) for i in _elements(reader, frame, node)))
    return reader.let(Op("call", "set", set, Ref(set, "set")), items, kind=Opaque(set))


@expression(cst.Lambda)
def _lambda(reader: Reader, frame: Frame, node: cst.Lambda) -> Any:
    return Closure(node, frame, defaults(reader, frame, node.params), "lambda")


def defaults(reader: Reader, frame: Frame, params: cst.Parameters) -> dict[str, Any]:
    """Defaults of a nested function: evaluated where it is defined."""
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    return {p.name.value: value(reader, frame, p.default) for p in every if p.default is not None}


@expression(cst.ListComp)
def _list_comprehension(reader: Reader, frame: Frame, node: cst.ListComp) -> Any:
    from .loops import comprehension

    return comprehension(reader, frame, node)


@expression(cst.GeneratorExp)
def _generator(reader: Reader, frame: Frame, node: cst.GeneratorExp) -> Any:
    return Generator(node, frame, value(reader, frame, node.for_in.iter), frame.loops)


@expression(cst.DictComp)
def _dict_comprehension(reader: Reader, frame: Frame, node: cst.DictComp) -> Any:
    from .loops import dict_comprehension

    return dict_comprehension(reader, frame, node)


# -- attributes --------------------------------------------------------------------------------------


@expression(cst.Attribute)
def _attribute(reader: Reader, frame: Frame, node: cst.Attribute) -> Any:
    return attribute(reader, frame, value(reader, frame, node.value), node.attr.value, node)


def attribute(reader: Reader, frame: Frame, x: Any, name: str, node: cst.CSTNode | None) -> Any:
    """`x.name`."""
    if x is UNBOUND:  # looking it up has raised
        return x
    if isinstance(x, Choice):
        return reader.branches(
            frame,
            x.condition,
            lambda: attribute(reader, frame, x.then, name, node),
            lambda: attribute(reader, frame, x.orelse, name, node),
        )
    if isinstance(x, Ref):
        try:
            found = counterpart(x.value, getattr(x.value, name))
        except AttributeError as error:
            reader.refuse(frame, node, Code.UNBOUND_NAME, str(error), "check the name")
        path = (*x.path, ("attr", name)) if x.path is not None else None
        if reader.splicing and getattr(x.value, "__name__", "").partition(".")[0] == "numpy":
            written = reader.numpy_ref(".".join([*x.value.__name__.split(".")[1:], name]), found)
        else:
            written = Ref(found, f"{x.text}.{name}", x.imports, path)
        home = (id(vars(x.value)), name) if isinstance(x.value, types.ModuleType) else None
        wrapped = reader.wrap(found, written.text, path, home)
        return written if isinstance(wrapped, Ref) else wrapped
    if isinstance(x, ObjectValue):
        return _object_attribute(reader, frame, x, name, node)
    if type(x).__name__ == "Super":
        return x.attribute(reader, frame, name, node)
    if isinstance(x, Tup) and x.cls is not None and name in x.cls.value._fields:
        return x.items[x.cls.value._fields.index(name)]
    if isinstance(x, Tup | ListValue | DictValue | Const | Steps):
        return Method(x, name)
    if isinstance(x, Var):
        return _variable_attribute(reader, frame, x, name, node)
    reader.refuse(
        frame, node, Code.UNSUPPORTED_SYNTAX, f"the attribute {name!r} of this value is not read", ""
    )


def _object_attribute(
    reader: Reader, frame: Frame, x: ObjectValue, name: str, node: cst.CSTNode | None
) -> Any:
    from .calls import call

    if name in x.attributes:
        return x.attributes[name]
    found = getattr(x.cls, name, None)
    if isinstance(found, property):
        return call(reader, frame, Bound(Ref(found.fget, f"{x.cls.__name__}.{name}"), x), [], {}, node)
    raw = next((vars(c)[name] for c in x.cls.__mro__ if name in vars(c)), None)
    if isinstance(raw, staticmethod):
        return Ref(raw.__func__, f"{x.cls.__name__}.{name}")
    if isinstance(raw, classmethod):
        return Bound(Ref(raw.__func__, f"{x.cls.__name__}.{name}"), reader.class_ref(x.cls))
    if callable(found):
        return Bound(Ref(found, f"{x.cls.__name__}.{name}"), x)
    if raw is not None and not hasattr(raw, "__get__"):
        return reader.wrap(raw, name, None)
    reader.refuse(
        frame,
        node,
        Code.UNSUPPORTED_SYNTAX,
        f"{x.cls.__name__} has no attribute {name!r} that can be followed",
        "",
    )


def _variable_attribute(reader: Reader, frame: Frame, x: Var, name: str, node: cst.CSTNode | None) -> Any:
    kind = x.kind
    if isinstance(kind, Sparse):
        found = sparse.attribute(reader, x, kind, name)
        return Method(x, name) if found is None else found
    if isinstance(kind, Container):
        return attribute(reader, frame, reader.open(x, kind, x.name or "value"), name, node)
    if name == "shape" and isinstance(kind, Array) and kind.dims is not None:
        return Tup(tuple(_axis_size(reader, x, i, size) for i, size in enumerate(kind.dims)))
    if name == "ndim" and isinstance(kind, Array) and kind.dims is not None:
        return Const(len(kind.dims))
    if (
        name == "dtype"
        and isinstance(kind, Array | Number)
        and kind.dtype
        and not (isinstance(kind, Number) and kind.weak)
    ):
        return reader.let(Op("attribute", "dtype"), x, kind=Opaque(np.dtype))
    if name == "size" and isinstance(kind, Array):
        return reader.let(Op("attribute", "size"), x, kind=Number("int"))
    if name == "flat" and isinstance(kind, Array | Unknown):
        return Flat(x)
    if isinstance(kind, Array | Number) and name in ATTRIBUTES:
        function = ATTRIBUTES[name]
        if function is None:
            return reader.let(Op("attribute", name), x, kind=Opaque(None))
        return reader.let(Op("attribute", name, function), x)
    cls = _class_of(kind)
    if cls is not None and not hasattr(cls, name):
        name_of = "numpy.ndarray" if cls is np.ndarray else cls.__name__
        return reader.fail(frame, AttributeError, f"{name_of!r} object has no attribute {name!r}")
    if isinstance(kind, Array | Number | SequenceKind) or (
        isinstance(kind, Opaque) and callable(getattr(kind.type, name, None))
    ):
        return Method(x, name)
    if name in ATTRIBUTES and name != "shape" and not isinstance(kind, Opaque):
        return reader.let(Op("attribute", name, ATTRIBUTES[name]), x, kind=UNKNOWN)
    if name == "shape":
        return reader.let(Op("attribute", name), x, kind=Opaque(tuple))
    if isinstance(kind, Opaque):
        return reader.let(Op("attribute", name), x, kind=Opaque(None))
    return Method(x, name)


def _class_of(kind: Any) -> type | None:
    """The class of the numbers or arrays of a kind, where it is certain."""
    if isinstance(kind, Array):
        return np.ndarray
    if isinstance(kind, Number) and kind.weak:
        return {"bool": bool, "int": int, "float": float, "complex": complex}[kind.dtype or "float"]
    return None


def _axis_size(reader: Reader, x: Var, i: int, size: Any) -> Any:
    if isinstance(size, int):
        return Const(size)
    shape = Op("shape", str(i))
    return reader.let(shape, x, kind=Number("int", size if isinstance(size, Dim) else None))


# -- subscripts --------------------------------------------------------------------------------------


@expression(cst.Subscript)
def _subscript(reader: Reader, frame: Frame, node: cst.Subscript) -> Any:
    x = value(reader, frame, node.value)
    return subscript(reader, frame, x, index(reader, frame, node), node)


def index(reader: Reader, frame: Frame, node: cst.Subscript) -> Any:
    """What stands between the brackets."""
    parts = [_index_part(reader, frame, element) for element in node.slice]
    single = len(parts) == 1 and not isinstance(node.slice[-1].comma, cst.Comma)
    return parts[0] if single else Tup(tuple(parts))


def _index_part(reader: Reader, frame: Frame, element: cst.SubscriptElement) -> Any:
    part = element.slice
    if isinstance(part, cst.Index):
        return as_it_is_now(reader, value(reader, frame, part.value))
    assert isinstance(part, cst.Slice)
    ends = [
        Const(None) if e is None else reader.arg(value(reader, frame, e))
        for e in (part.lower, part.upper, part.step)
    ]
    return Slc(*ends)


def as_it_is_now(reader: Reader, x: Any) -> Any:
    """A copy of a list that only exists when running: it may be changed before the reverse sweep reads it."""
    if isinstance(x, ListValue) and x.var is not None and not x.is_tuple:
        return reader.let(Op("call", "list", list, Ref(list, "list")), x.var, kind=x.var.kind)
    return x


def subscript(reader: Reader, frame: Frame, x: Any, at: Any, node: cst.CSTNode | None) -> Any:
    """`x[at]`."""
    reader.check_known(x)
    if isinstance(at, Choice):
        return reader.branches(
            frame,
            at.condition,
            lambda: subscript(reader, frame, x, at.then, node),
            lambda: subscript(reader, frame, x, at.orelse, node),
        )
    if isinstance(x, Flat):
        return reader.index(reader.call(np.ravel, x.array), reader.arg(at))
    if isinstance(x, Choice):
        return reader.branches(
            frame,
            x.condition,
            lambda: subscript(reader, frame, x.then, at, node),
            lambda: subscript(reader, frame, x.orelse, at, node),
        )
    if isinstance(x, Tup | ListValue) and not (isinstance(x, ListValue) and x.var is not None):
        return _known_element(reader, frame, x, at, node)
    if isinstance(x, DictValue) and x.var is None:
        if isinstance(at, Const):
            if at.value in x.items:
                return x.items[at.value]
            return reader.fail(frame, KeyError, at.value)
        reader.refuse(
            frame, node, Code.UNSUPPORTED_SYNTAX, "the key is not known before running", "use a list"
        )
    if isinstance(x, Const) and isinstance(at, Const):
        return Const(x.value[at.value])
    if (
        isinstance(x, Iteration)
        and x.plain is not None
        and isinstance(at, Slc)
        and at.start == at.step == Const(None)
    ):
        return _first_of(reader, x, at)
    if isinstance(x, ListValue):
        x = x.var
    if isinstance(x, ObjectValue):
        from .objects import by_method

        result = by_method(reader, frame, x, "__getitem__", [at], node)
        if result is not NotImplemented:
            return result
    if isinstance(x, Ref) and (x.value is np.r_ or x.value is np.c_):
        return _concatenated(reader, x, at)
    if isinstance(x, Ref):
        return reader.let(Op("index", "[]"), x, reader.arg(at), kind=Opaque(None))
    if isinstance(x, Var) and isinstance(x.kind, Number) and at == Tup(()):
        return x
    if isinstance(x, Var) and isinstance(x.kind, Container):
        return subscript(reader, frame, reader.open(x, x.kind, x.name or "value"), at, node)
    if isinstance(x, Var):
        if isinstance(x.kind, Opaque):
            kind = Number("int") if x.kind.type is tuple else Opaque(None)
            return reader.let(Op("index", "[]"), x, reader.arg(at), kind=kind)
        element = reader.index(x, reader.arg(at))
        return opened(reader, element)
    reader.refuse(frame, node, Code.UNSUPPORTED_SYNTAX, "this value cannot be indexed here", "")


def _concatenated(reader: Reader, x: Ref, at: Any) -> Any:
    """`np.r_[a, 0.0, 1:5]` and `np.c_[a, b]`; slices are ranges, which NumPy makes."""
    parts = []
    for part in at.items if isinstance(at, Tup) else (at,):
        if isinstance(part, Slc):
            parts.append(reader.let(Op("index", "[]"), x, reader.arg(part), kind=UNKNOWN))
        else:
            parts.append(reader.arg(part))
    if x.value is np.c_:
        return reader.call(np.column_stack, Tup(tuple(parts)))
    return reader.call(np.concatenate, Tup(tuple(reader.call(np.atleast_1d, p) for p in parts)))


def _first_of(reader: Reader, x: Iteration, at: Slc) -> Iteration:
    """`range(n)[:k]`."""
    assert x.plain is not None
    plain = reader.let(INDEX, x.plain, at, kind=Opaque(range))
    constant = x.constant[: at.stop.value] if x.constant is not None and isinstance(at.stop, Const) else None
    return Iteration(lambda: reader.let(LENGTH, plain), x.item, plain, constant)


def opened(reader: Reader, element: Any) -> Any:
    """An element that has just been read: containers are taken apart, lists become list values."""
    if isinstance(element, Var) and isinstance(element.kind, Container | Static):
        return reader.open(element, element.kind, element.name or "item")
    if isinstance(element, Var) and isinstance(element.kind, SequenceKind):
        return reader.new(ListValue([], element.kind.element, element))
    return element


class Unroll(Exception):
    """A position in a known sequence depends on a loop variable: the loop has to be unrolled."""


def _known_element(reader: Reader, frame: Frame, x: Any, at: Any, node: cst.CSTNode | None) -> Any:
    items = list(x.items)
    if isinstance(at, Const) and isinstance(at.value, int):
        try:
            return items[at.value]
        except IndexError:
            return reader.fail(
                frame, IndexError, f"{'tuple' if isinstance(x, Tup) else 'list'} index out of range"
            )
    if isinstance(at, Slc):
        known = at.known()
        if known is not None:
            part = items[known]
            return Tup(tuple(part)) if isinstance(x, Tup) else reader.new(ListValue(part))
    if frame.loops and not reader.static_only and getattr(frame, "can_unroll", False):
        raise Unroll
    held = x if isinstance(x, ListValue) else reader.new(ListValue(items))
    return subscript(reader, frame, reader_run(reader, held), at, node)


def reader_run(reader: Reader, x: ListValue) -> ListValue:
    reader.run(x)
    return x


__all__ = ["COMPARISONS", "EXPRESSIONS", "Let", "NotStatic", "Undefined", "Unroll", "attribute", "binary",
           "expression", "index", "known_truth", "opened", "size_of", "spread", "subscript", "symbol",
           "value"]  # fmt: skip
