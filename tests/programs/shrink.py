"""A failing program made small, by leaving out statements for as long as it still fails.

In: a program and a predicate. Out: the smallest program found for which the predicate holds.

    shrunk(program, lambda p: judge(p).verdict == "wrong")
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from .program import Program


def shrunk(program: Program, fails: Callable[[Program], bool], budget: int = 400) -> Program:
    """Greedy: try every smaller program, take the first that still fails, and begin again."""
    tree = ast.parse(program.source)
    progress = True
    while progress:
        progress = False
        for smaller in candidates(tree):
            budget -= 1
            if budget < 0:
                return replace(program, source=ast.unparse(tree) + "\n")
            try:
                source = ast.unparse(ast.fix_missing_locations(smaller)) + "\n"
            except Exception:
                continue
            if fails(replace(program, source=source)):
                tree, progress = ast.parse(source), True
                break
    return replace(program, source=ast.unparse(tree) + "\n")


def candidates(tree: ast.Module) -> Iterator[ast.Module]:
    """Trees with one statement left out, unwrapped, or one expression replaced by a part of it."""
    blocks = [
        (position, name)
        for position, node in enumerate(ast.walk(tree))
        for name in ("body", "orelse")
        if isinstance(getattr(node, name, None), list)
    ]
    for position, name in blocks:
        length = len(getattr(nth(tree, position), name))
        for at in reversed(range(length)):
            if at == 0 and name == "body" and isinstance(nth(tree, position), ast.While):
                continue  # without its count, the loop would not end
            smaller = copy.deepcopy(tree)
            block = getattr(nth(smaller, position), name)
            dropped = block.pop(at)
            if not block and name == "body":
                block.append(ast.Pass())
            if not isinstance(dropped, ast.Pass):
                yield smaller
            if isinstance(dropped, (ast.If, ast.For, ast.While)):
                smaller = copy.deepcopy(tree)
                getattr(nth(smaller, position), name)[at : at + 1] = dropped.body
                yield smaller
    for position, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.BinOp):
            for side in ("left", "right"):
                smaller = copy.deepcopy(tree)
                target = nth(smaller, position)
                yield replaced(smaller, target, getattr(target, side))
        elif isinstance(node, ast.Call) and node.args:
            smaller = copy.deepcopy(tree)
            target = nth(smaller, position)
            yield replaced(smaller, target, target.args[0])


def nth(tree: ast.AST, position: int) -> ast.AST:
    """The node at a position of the walk: the same in a copy of the tree."""
    for at, node in enumerate(ast.walk(tree)):
        if at == position:
            return node
    raise IndexError(position)


def replaced(tree: ast.Module, old: ast.AST, new: ast.AST) -> ast.Module:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    return Replace().visit(tree)
