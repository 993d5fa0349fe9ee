"""Pictures of a recorded graph: SVG with a layout of its own, or the text of DOT or Mermaid.

In: one or several tensors. Out: a `Picture`, which notebooks show by themselves. Leaves have their name,
shape and dtype; operations the source line that made them, the shape of the result, and what they keep for
backward. Operations that one line made many times, as in a loop, are drawn once, with their number. Large
graphs are cut off, not refused.

    >>> from adjoin.runtime import tensor
    >>> x = tensor(2.0, requires_grad=True)
    >>> picture = draw(x * x, names={"x": x})
    >>> picture
    <Picture of 3 boxes and 2 edges>
    >>> print(picture.mermaid().splitlines()[1])
      n0["x<br/>() float64<br/>requires grad"]
"""

from __future__ import annotations

import html
import linecache
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from types import CodeType
from typing import Any

from .base import Packed, TensorBase
from .errors import DtypeError
from .graph import MultiNode, Node
from .layout import Placed, place

__all__ = ["Picture", "draw"]

#: An operation that the same instruction made more often than this is drawn once.
_REPEATS = 3
#: Characters of a name, or of a line of source, that are shown.
_LONGEST = 48


def draw(
    tensors: Any, names: Mapping[str, Any] | None = None, max_nodes: int = 150, collapse: bool = True
) -> Picture:
    """A picture of how tensors were made.

    Args:
        tensors: a tensor or a sequence of them.
        names: names for tensors; by default the variables of the caller that hold them.
        max_nodes: how many boxes to draw; what is farther from the result is only counted.
        collapse: draw what one instruction made many times only once.
    """
    roots = [tensors] if isinstance(tensors, TensorBase) else list(tensors)
    for i, root in enumerate(roots):
        if not isinstance(root, TensorBase):
            raise DtypeError(f"draw() takes tensors; element {i} is a {type(root).__name__}")
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    known = {id(value): name for name, value in names.items() if isinstance(value, TensorBase)}
    return _Builder(roots, known, max_nodes, collapse).picture()


class Box:
    """Something drawn: a leaf, an operation, a result, or a note of what was left out.

    Attributes:
        kind: ``"leaf"``, ``"operation"``, ``"result"`` or ``"more"``.
        lines: the text, the title first.
        count: how many operations it stands for.
    """

    def __init__(self, kind: str, lines: Sequence[str], count: int = 1) -> None:
        self.kind = kind
        self.lines = list(lines)
        self.count = count


class Picture:
    """A drawn graph; `svg()`, `dot()` and `mermaid()` give its text.

    Attributes:
        boxes: what is drawn, operands before what is made of them.
        edges: (from, to) with how many operands this stands for.
    """

    def __init__(self, boxes: Sequence[Box], edges: Mapping[tuple[int, int], int]) -> None:
        self.boxes = list(boxes)
        self.edges = dict(edges)

    def svg(self) -> str:
        """The picture as SVG."""
        sizes = [(_width(box), _height(box)) for box in self.boxes]
        return _svg(self, place(sizes, list(self.edges)))

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: SVG, or DOT or Mermaid if it ends in ``.dot`` or ``.mmd``."""
        kind = os.path.splitext(os.fspath(path))[1]
        text = {".dot": self.dot, ".gv": self.dot, ".mmd": self.mermaid}.get(kind, self.svg)()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def dot(self) -> str:
        """The graph in Graphviz' language."""
        lines = ["digraph {", "  node [shape=box, fontname=monospace]"]
        for i, box in enumerate(self.boxes):
            label = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in box.lines)
            shape = ", style=rounded" if box.kind == "operation" else ""
            lines.append(f'  n{i} [label="{label}"{shape}]')
        for (a, b), count in self.edges.items():
            lines.append(f"  n{a} -> n{b}" + (f' [label="{count}"]' if count > 1 else ""))
        return "\n".join([*lines, "}"])

    def mermaid(self) -> str:
        """The graph in Mermaid's language."""
        lines = ["graph TD"]
        for i, box in enumerate(self.boxes):
            lines.append(f'  n{i}["{"<br/>".join(map(html.escape, box.lines))}"]')
        for (a, b), count in self.edges.items():
            lines.append(f"  n{a} -->|{count}| n{b}" if count > 1 else f"  n{a} --> n{b}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Picture of {len(self.boxes)} boxes and {len(self.edges)} edges>"


# -- collecting ----------------------------------------------------------------------------------------------


class _Builder:
    """Walks the graph, newest node first, and groups it into boxes."""

    def __init__(self, roots: Sequence[Any], known: Mapping[int, str], most: int, collapse: bool) -> None:
        self.roots = roots
        self.known = known
        self.most = most
        self.nodes = self._collect()
        self.groups = self._group(collapse)

    def _collect(self) -> list[Node]:
        seen: dict[int, Node] = {}
        waiting = [root.grad_fn for root in self.roots if root.grad_fn is not None]
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen[id(node)] = node
                waiting.extend(edge for edge in node.edges if isinstance(edge, Node))
        return sorted(seen.values(), key=lambda node: node.seq)

    def _group(self, collapse: bool) -> dict[Any, list[Node]]:
        """Nodes by what draws them as one: the instruction that made them, or themselves."""
        by_place: dict[Any, list[Node]] = {}
        for node in self.nodes:
            by_place.setdefault((node.name(), node.code, node.lasti), []).append(node)
        groups: dict[Any, list[Node]] = {}
        for place_, nodes in by_place.items():
            if collapse and len(nodes) > _REPEATS:
                groups[place_] = nodes
            else:
                groups.update((id(node), [node]) for node in nodes)
        return groups

    def picture(self) -> Picture:
        """The boxes and edges, cut off at `most`."""
        groups = sorted(self.groups.values(), key=lambda nodes: nodes[0].seq)
        left_out, kept = groups[: -self.most], groups[-self.most :]
        boxes: list[Box] = []
        where: dict[int, int] = {}
        edges: dict[tuple[int, int], int] = {}
        if left_out:
            boxes.append(Box("more", [f"{sum(map(len, left_out)):,} earlier operations"]))
            where.update((id(node), 0) for nodes in left_out for node in nodes)
        leaves: dict[int, int] = {}
        for nodes in kept:
            operands = [
                edge for node in nodes[: _REPEATS + 1] for edge in node.edges if not isinstance(edge, Node)
            ]
            for leaf in operands:
                if id(leaf) not in leaves and len(leaves) < self.most:
                    leaves[id(leaf)] = len(boxes)
                    boxes.append(Box("leaf", self._leaf_lines(leaf)))
            others = {id(edge) for node in nodes for edge in node.edges if not isinstance(edge, Node)}
            others -= leaves.keys()
            if others:
                leaves.update(dict.fromkeys(others, len(boxes)))
                boxes.append(Box("more", [f"{len(others):,} more leaves"]))
            box = len(boxes)
            boxes.append(Box("operation", _operation_lines(nodes), len(nodes)))
            where.update((id(node), box) for node in nodes)
        for nodes in kept:
            for node in nodes:
                self._edges_of(node, where, leaves, edges, len(nodes))
        for root in self.roots:
            boxes.append(
                Box("result", [_short(self.known.get(id(root), root.name or "result")), _kind(root)])
            )
            made = where.get(id(root.grad_fn), leaves.get(id(root)))
            if made is not None:
                edges[made, len(boxes) - 1] = 1
        return Picture(boxes, edges)

    def _edges_of(
        self,
        node: Node,
        where: Mapping[int, int],
        leaves: Mapping[int, int],
        edges: dict[Any, int],
        count: int,
    ) -> None:
        box = where[id(node)]
        for edge in node.edges:
            source = where.get(id(edge), leaves.get(id(edge)))
            if source is not None and source != box:
                key = (source, box)
                edges[key] = edges.get(key, 0) + 1 if count == 1 else 1

    def _leaf_lines(self, leaf: Any) -> list[str]:
        name = leaf.name or self.known.get(id(leaf)) or "leaf"
        return [_short(name), _kind(leaf), "requires grad"]


def _kind(tensor: Any) -> str:
    return f"{tuple(tensor.shape)} {tensor.dtype}"


def _operation_lines(nodes: Sequence[Node]) -> list[str]:
    node = nodes[-1]
    title = node.name().removesuffix("0").removesuffix("Backward")
    lines = [title if len(nodes) == 1 else f"{title}  ×{len(nodes):,}"]
    if isinstance(node, MultiNode):
        lines.append(" ".join(str(tuple(shape)) for shape in node.shape))
    else:
        lines.append(f"{tuple(node.shape)} {node.dtype}")
    source = _source(node)
    if source:
        lines.append(source)
    saved = _saved(node)
    if saved:
        lines.append(saved)
    return lines


def _source(node: Node) -> str:
    """``file.py:12: z = x * y`` for the line that made a node; empty where there is no file."""
    code: CodeType | None = getattr(node, "code", None)
    if code is None:
        return ""
    positions = list(code.co_positions())
    index = node.lasti // 2
    line = positions[index][0] if 0 <= index < len(positions) else None
    if line is None:
        return ""
    text = linecache.getline(code.co_filename, line).strip()
    if not text:
        return ""
    return f"{os.path.basename(code.co_filename)}:{line}: {_short(text)}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _saved(node: Node) -> str:
    """What a node keeps for backward."""
    plan = node.plan
    rule = getattr(plan, "rule", None)
    if rule is None:
        context = getattr(node, "ctx", None)
        if context is None:
            return ""
        saved = context._saved
        return "freed" if saved is None else f"keeps {len(saved)} tensors" if saved else ""
    if node.saved is None:
        return "freed"
    out, *arguments = node.saved
    names = ["result"] if out is not None else []
    for name, value in zip(rule.signature.parameters, arguments, strict=False):
        if name in plan.needs and name in rule.wrt and _takes_memory(value):
            names.append(name)
    return "keeps " + ", ".join(names) if names else ""


def _takes_memory(value: Any) -> bool:
    """Whether a saved value is more than a number."""
    if isinstance(value, list | tuple):
        return any(map(_takes_memory, value))
    return isinstance(value, TensorBase | Packed) or hasattr(value, "nbytes")


# -- drawing -------------------------------------------------------------------------------------------------

_FONT = 12
_LINE = 16
_COLOURS = {
    "leaf": ("#e3f0fb", "#2f6ea8"),
    "operation": ("#ffffff", "#555555"),
    "result": ("#e6f4e6", "#3b7d3b"),
    "more": ("#f4f4f4", "#999999"),
}


def _width(box: Box) -> float:
    return max(60.0, 7.3 * max(len(line) for line in box.lines) + 18)


def _height(box: Box) -> float:
    return _LINE * len(box.lines) + 12


def _svg(picture: Picture, placed: Placed) -> str:
    """The text of the SVG; edges first, so that boxes cover their ends."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{placed.width:.0f}" height="{placed.height:.0f}" '
        f'viewBox="0 0 {placed.width:.0f} {placed.height:.0f}" font-family="DejaVu Sans Mono, Menlo, '
        f'Consolas, monospace" font-size="{_FONT}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#777777"/></marker></defs>',
        f'<rect width="{placed.width:.0f}" height="{placed.height:.0f}" fill="#ffffff"/>',
    ]
    for edge, points in placed.paths.items():
        parts.append(_edge(points, edge in placed.backwards))
        count = picture.edges[edge]
        if count > 1:
            x, y = points[-1]
            parts.append(f'<text x="{x + 6:.1f}" y="{y - 10:.1f}" fill="#777777">{count}</text>')
    for box, (x, y), (width, height) in zip(picture.boxes, placed.corners, placed.sizes, strict=True):
        parts.extend(_box(box, x, y, width, height))
    return "\n".join([*parts, "</svg>"])


def _edge(points: Sequence[tuple[float, float]], backwards: bool) -> str:
    """A smooth line through points, vertical at each."""
    x, y = points[0]
    path = [f"M{x:.1f},{y:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        path.append(f"C{x0:.1f},{middle:.1f} {x1:.1f},{middle:.1f} {x1:.1f},{y1:.1f}")
    dashes = ' stroke-dasharray="4 3"' if backwards else ""
    return f'<path d="{" ".join(path)}" fill="none" stroke="#777777"{dashes} marker-end="url(#tip)"/>'


def _box(box: Box, x: float, y: float, width: float, height: float) -> Iterable[str]:
    fill, line = _COLOURS[box.kind]
    radius = 9 if box.kind == "operation" else 2
    yield (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}" '
        f'fill="{fill}" stroke="{line}"/>'
    )
    for i, text in enumerate(box.lines):
        style = ' font-weight="bold"' if i == 0 else ' fill="#555555"'
        yield (
            f'<text x="{x + width / 2:.1f}" y="{y + 6 + _LINE * (i + 0.75):.1f}" '
            f'text-anchor="middle"{style}>{html.escape(text)}</text>'
        )
