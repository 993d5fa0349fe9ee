"""Which of the values that a rule names it needs only the shape or the dtype of.

In: a rule's body, cut down. Out: the parameters whose value is never read, so that the eager runtime keeps a
`base.Spec` instead of an array: ``np.sum`` needs the shape of its operand, not its memory. A use in a helper
counts as what the helper does with it, and a use of a sequence as what is done with its elements.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["shape_only", "shape_only_in"]

#: Functions that ask nothing of their first argument but shape and dtype.
_SHAPE_FUNCTIONS = (
    np.shape,
    np.ndim,
    np.size,
    np.iscomplexobj,
    np.isrealobj,
    np.zeros_like,
    np.ones_like,
    np.empty_like,
    np.full_like,
)
_SHAPE_BUILTINS = frozenset({"isinstance", "len", "type"})
_SHAPE_ATTRIBUTES = frozenset({"shape", "dtype", "ndim", "size"})


_known: dict[Callable[..., Any], frozenset[str]] = {}


def shape_only(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters of `function` whose values it never reads.

    >>> from adjoin.runtime.support_reductions import expand
    >>> sorted(shape_only(expand))
    ['x']
    """
    if function not in _known:
        _known[function] = frozenset()  # what a helper that calls itself is taken to do, until it is known
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        except (OSError, TypeError, SyntaxError):
            return _known[function]
        if isinstance(tree, ast.FunctionDef):
            _known[function] = shape_only_in(tree, function.__globals__)
    return _known[function]


def shape_only_in(tree: ast.FunctionDef, scope: dict[str, Any]) -> frozenset[str]:
    """`shape_only` of a parsed function, whose free names are looked up in `scope`."""
    return frozenset(_Uses(tree, scope).unread())


class _Uses:
    """The uses of each parameter, and of the names that loops bind to its elements."""

    def __init__(self, tree: ast.FunctionDef, scope: dict[str, Any]) -> None:
        arguments = tree.args
        self.parameters = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        if arguments.vararg is not None:
            self.parameters.add(arguments.vararg.arg)
        self.scope = scope
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        self.elements: dict[str, set[str]] = {}

    def unread(self) -> set[str]:
        read = set()
        for name in self.names:
            if isinstance(name.ctx, ast.Store) and name.id in self.parameters:
                read.add(name.id)
            elif isinstance(name.ctx, ast.Load) and not self._asks_shape(name):
                read.add(name.id)
        while True:
            more = {p for p, parts in self.elements.items() if parts & read} - read
            if not more:
                return self.parameters - read
            read |= more

    def _asks_shape(self, name: ast.Name) -> bool:
        parent = self.parents[name]
        if isinstance(parent, ast.Attribute):
            return parent.attr in _SHAPE_ATTRIBUTES
        if isinstance(parent, ast.comprehension | ast.For) and parent.iter is name:
            return self._binds(name.id, parent.target)
        if not isinstance(parent, ast.Call) or name not in parent.args:
            return False
        position = parent.args.index(name)
        if isinstance(parent.func, ast.Name) and parent.func.id in ("zip", "enumerate"):
            return self._zipped(name.id, parent, position)
        if isinstance(parent.func, ast.Name) and parent.func.id in _SHAPE_BUILTINS:
            return True
        if isinstance(parent.func, ast.Name) and parent.func.id in ("getattr", "hasattr"):
            wanted = parent.args[1]
            return isinstance(wanted, ast.Constant) and wanted.value in _SHAPE_ATTRIBUTES
        function = self._resolve(parent.func)
        if function in _SHAPE_FUNCTIONS:
            return position == 0
        if not inspect.isfunction(function) or any(isinstance(a, ast.Starred) for a in parent.args):
            return False
        names = list(inspect.signature(function).parameters)
        return position < len(names) and names[position] in shape_only(function)

    def _zipped(self, sequence: str, call: ast.Call, position: int) -> bool:
        """Whether a loop over `zip` or `enumerate` does nothing but ask the elements' shapes."""
        loop = self.parents[call]
        if not isinstance(loop, ast.comprehension | ast.For) or not isinstance(loop.target, ast.Tuple):
            return False
        assert isinstance(call.func, ast.Name)
        return self._binds(sequence, loop.target.elts[position + (call.func.id == "enumerate")])

    def _binds(self, sequence: str, target: ast.expr) -> bool:
        if not isinstance(target, ast.Name):
            return False
        self.elements.setdefault(sequence, set()).add(target.id)
        return True

    def _resolve(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.scope.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._resolve(node.value), node.attr, None)
        return None
