"""Scopes: which names a piece of source binds, names, and takes from around it.

In: nodes of the source. Out: names.

    def inner(t):
        y = w * t           free_names: w
        return y + t
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import libcst as cst

from .tree import children, flatten


def assigned_names(nodes: Iterable[cst.CSTNode], targets: bool = False) -> list[str]:
    """The names that statements may bind, in order. With `targets` the nodes are targets themselves."""
    found: dict[str, None] = {}

    def target(node: cst.CSTNode) -> None:
        if isinstance(node, cst.Name):
            found[node.value] = None
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                target(element.value)

    def visit(node: cst.CSTNode) -> None:
        if isinstance(node, cst.Assign):
            for each in node.targets:
                target(each.target)
        elif isinstance(node, cst.AugAssign | cst.AnnAssign | cst.For | cst.NamedExpr | cst.CompFor):
            target(node.target)
        elif isinstance(node, cst.AsName):
            target(node.name)
        elif isinstance(node, cst.FunctionDef):
            found[node.name.value] = None
            return
        elif isinstance(node, cst.Lambda):
            return
        elif isinstance(node, cst.Del) and isinstance(node.target, cst.Name):
            found[node.target.value] = None
        for child in children(node):
            visit(child)

    for node in nodes:
        if targets:
            target(node)
        else:
            visit(node)
    return list(found)


def names_read(node: cst.CSTNode, leaving_out: cst.CSTNode | None = None) -> set[str]:
    """Every name that stands in a node, without a part of it, but with what that part returns or captures."""
    found: set[str] = set()

    def visit(each: cst.CSTNode, inside: bool) -> None:
        inside = inside or each is leaving_out
        if isinstance(each, cst.Name) and not inside:
            found.add(each.value)
        if isinstance(each, cst.Return) and inside and each.value is not None:
            found.update(names_read(each.value))
        if isinstance(each, cst.FunctionDef | cst.Lambda) and inside:
            found.update(free_names(each))
        for child in children(each):
            visit(child, inside)

    visit(node, False)
    return found


def reads_and_binds(suite: Iterable[cst.CSTNode]) -> tuple[set[str], set[str]]:
    """The names that statements may read as they find them, and those that they certainly bind anew.

    a = b; c = a        reads: b    binds: a, c
    """
    reads: set[str] = set()
    binds: set[str] = set()
    for node in suite:
        if isinstance(node, cst.If):
            then, orelse = (_reads_and_binds_of(part) for part in (node.body, node.orelse))
            found, bound = names_read(node.test) | then[0] | orelse[0], then[1] & orelse[1]
        elif isinstance(node, cst.For):
            inner, _ = _reads_and_binds_of(node.body)
            targets = set(assigned_names([node.target], targets=True))
            found, bound = (
                names_read(node.iter) | (inner - targets) | _reads_and_binds_of(node.orelse)[0],
                set(),
            )
        elif isinstance(node, cst.Assign) and all(isinstance(t.target, cst.Name) for t in node.targets):
            found, bound = names_read(node.value), set(assigned_names([node]))
        else:
            found, bound = names_read(node), set()
        reads |= found - binds
        binds |= bound
    return reads, binds


def _reads_and_binds_of(part: Any) -> tuple[set[str], set[str]]:
    """Of a suite, an `elif` or an `else`, or of none."""
    if part is None or isinstance(part, cst.If):
        return reads_and_binds([] if part is None else [part])
    return reads_and_binds(flatten(part.body if isinstance(part, cst.Else) else part))


def captured_names(node: cst.CSTNode) -> set[str]:
    """The names that the functions and lambdas in a node take from around them."""
    if isinstance(node, cst.FunctionDef | cst.Lambda):
        return free_names(node)
    return {name for child in children(node) for name in captured_names(child)}


def free_names(function: cst.FunctionDef | cst.Lambda) -> set[str]:
    """The names that a function takes from around it, those that the functions in it take included."""
    parameters = function.params
    every = [*parameters.posonly_params, *parameters.params, *parameters.kwonly_params]
    starred = [p for p in (parameters.star_arg, parameters.star_kwarg) if isinstance(p, cst.Param)]
    own = {p.name.value for p in (*every, *starred)} | set(assigned_names([function.body]))
    found: set[str] = set()

    def visit(node: cst.CSTNode) -> None:
        if isinstance(node, cst.FunctionDef | cst.Lambda):
            found.update(free_names(node))
            for p in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
                if p.default is not None:
                    visit(p.default)
            return
        if isinstance(node, cst.Attribute):
            visit(node.value)
            return
        if isinstance(node, cst.Arg):
            visit(node.value)
            return
        if isinstance(node, cst.Name):
            found.add(node.value)
        for child in children(node):
            visit(child)

    visit(function.body)
    return found - own


__all__ = ["assigned_names", "captured_names", "free_names", "names_read", "reads_and_binds"]
