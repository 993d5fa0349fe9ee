"""Where to draw the boxes of a graph: in layers, operands above what is made of them.

In: the size of each box, and edges between them. Out: corners, and a path for each edge. Long edges get a
point in each layer that they cross; the order within layers is that of the mean of the neighbours, repeated
a few times. Nothing recurses.

    >>> placed = place([(60, 20), (60, 20)], [(0, 1)])
    >>> placed.corners[0][1] < placed.corners[1][1]
    True
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["Placed", "place"]

_GAP_X, _GAP_Y, _MARGIN = 24.0, 34.0, 16.0
_SWEEPS = 6
_ASIDE = 16.0  # an edge that closes a loop runs beside the one it would cover

Edge = tuple[int, int]
Point = tuple[float, float]


class Placed:
    """A finished layout.

    Attributes:
        width, height: of the picture.
        sizes, corners: of the boxes; a corner is the upper left one.
        paths: for each edge the points that it passes through.
        backwards: the edges that close a loop.
    """

    def __init__(self, sizes: Sequence[Point]) -> None:
        self.sizes = list(sizes)
        self.corners: list[Point] = [(0.0, 0.0)] * len(sizes)
        self.paths: dict[Edge, list[Point]] = {}
        self.backwards: set[Edge] = set()
        self.width = self.height = 0.0


def place(sizes: Sequence[Point], edges: Sequence[Edge]) -> Placed:
    """Lay out boxes of the given (width, height); an edge to a box of a lower number closes a loop."""
    placed = Placed(sizes)
    placed.backwards = {(a, b) for a, b in edges if a > b}
    forward = [(min(edge), max(edge)) for edge in edges]
    layer_of = _layers(len(sizes), forward)
    cells = _Cells(sizes, layer_of, forward)
    cells.sort()
    centres = cells.spread()
    _write(placed, cells, centres, edges)
    return placed


def _layers(count: int, edges: Sequence[Edge]) -> list[int]:
    """The layer of each box: below all its operands, and boxes without operands just above their use."""
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        before[b].append(a)
        after[a].append(b)
    layer = [0] * count
    for box in range(count):
        layer[box] = max((layer[a] + 1 for a in before[box]), default=0)
    for box in reversed(range(count)):
        if not before[box] and after[box]:
            layer[box] = min(layer[b] for b in after[box]) - 1
    lowest = min(layer, default=0)
    return [n - lowest for n in layer]


class _Cells:
    """Boxes and the bends of long edges, in layers."""

    def __init__(self, sizes: Sequence[Point], layer_of: Sequence[int], edges: Sequence[Edge]) -> None:
        self.widths = [width for width, _ in sizes]
        self.layers: list[list[int]] = [[] for _ in range(max(layer_of, default=0) + 1)]
        for box, layer in enumerate(layer_of):
            self.layers[layer].append(box)
        self.links: list[Edge] = []
        self.bends: dict[Edge, list[int]] = {}
        for a, b in edges:
            chain = [a]
            for layer in range(layer_of[a] + 1, layer_of[b]):
                self.layers[layer].append(len(self.widths))
                chain.append(len(self.widths))
                self.widths.append(8.0)
            chain.append(b)
            self.links.extend(pairwise(chain))
            self.bends[a, b] = chain[1:-1]
        self.above: list[list[int]] = [[] for _ in self.widths]
        self.below: list[list[int]] = [[] for _ in self.widths]
        for a, b in self.links:
            self.above[b].append(a)
            self.below[a].append(b)

    def sort(self) -> None:
        """Order each layer by the mean position of the neighbours above, then below, a few times."""
        position = {cell: float(i) for layer in self.layers for i, cell in enumerate(layer)}
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            for layer in self.layers if down else reversed(self.layers):
                near = self.above if down else self.below
                key = {c: _mean([position[n] for n in near[c]], position[c]) for c in layer}
                layer.sort(key=key.__getitem__)
                position.update((cell, float(i)) for i, cell in enumerate(layer))

    def spread(self) -> list[float]:
        """The horizontal centre of every cell: near its neighbours, without overlap."""
        centres = [0.0] * len(self.widths)
        for layer in self.layers:
            x = 0.0
            for cell in layer:
                centres[cell] = x + self.widths[cell] / 2
                x += self.widths[cell] + _GAP_X
        for sweep in range(2 * _SWEEPS):
            down = sweep % 2 == 0
            for layer in self.layers if down else reversed(self.layers):
                near = self.above if down else self.below
                wanted = [_mean([centres[n] for n in near[c]], centres[c]) for c in layer]
                for cell, x in zip(layer, self._apart(layer, wanted), strict=True):
                    centres[cell] = x
        return centres

    def _apart(self, layer: Sequence[int], wanted: Sequence[float]) -> list[float]:
        """Positions nearest to the wanted ones at which neighbours keep their distance."""
        blocks: list[tuple[float, float, int]] = []  # (sum of wanted left ends, width so far, cells)
        offsets: list[float] = []
        for cell, x in zip(layer, wanted, strict=True):
            block = (x - self.widths[cell] / 2, self.widths[cell] + _GAP_X, 1)
            offsets.append(0.0)
            while blocks and blocks[-1][0] / blocks[-1][2] + blocks[-1][1] > block[0] / block[2]:
                total, width, count = blocks.pop()
                block = (total + block[0] - block[2] * width, width + block[1], count + block[2])
            blocks.append(block)
        found: list[float] = []
        cells = iter(layer)
        for total, _, count in blocks:
            x = total / count
            for _ in range(count):
                cell = next(cells)
                found.append(x + self.widths[cell] / 2)
                x += self.widths[cell] + _GAP_X
        return found


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _write(placed: Placed, cells: _Cells, centres: Sequence[float], edges: Sequence[Edge]) -> None:
    """Turn centres into corners and paths, all within the margins."""
    boxes = len(placed.sizes)
    left = min((centres[c] - cells.widths[c] / 2 for c in range(len(cells.widths))), default=0.0)
    right = max((centres[c] + cells.widths[c] / 2 for c in range(len(cells.widths))), default=0.0)
    shift = _MARGIN - left
    y = _MARGIN
    middles = [0.0] * len(cells.widths)
    halves = [0.0] * len(cells.widths)
    for layer in cells.layers:
        height = max((placed.sizes[c][1] for c in layer if c < boxes), default=0.0)
        for cell in layer:
            middles[cell] = y + height / 2
            halves[cell] = height / 2
        y += height + _GAP_Y
    placed.width = right - left + 2 * _MARGIN
    placed.height = y - _GAP_Y + _MARGIN
    for box, (width, height) in enumerate(placed.sizes):
        placed.corners[box] = (centres[box] + shift - width / 2, middles[box] - height / 2)
    for a, b in edges:
        upper, lower = min(a, b), max(a, b)
        ends = [
            (centres[upper] + shift, middles[upper] + placed.sizes[upper][1] / 2),
            *(  # straight down between the boxes of a layer
                (centres[bend] + shift, middles[bend] + side * halves[bend])
                for bend in cells.bends[upper, lower]
                for side in (-1, 1)
            ),
            (centres[lower] + shift, middles[lower] - placed.sizes[lower][1] / 2),
        ]
        placed.paths[a, b] = ends if a < b else [(x + _ASIDE, y) for x, y in reversed(ends)]
