"""Pictures of graphs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest

from adjoin import runtime as rt
from adjoin.runtime import draw, tensor
from adjoin.runtime.layout import place


def texts(picture):
    root = ElementTree.fromstring(picture._repr_svg_())
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_what_is_shown():
    weights = tensor([1.0, 2.0], requires_grad=True)
    y = (weights * weights).sum()  # a line to show
    shown = texts(draw(y))
    assert "weights" in shown and "(2,) float64" in shown and "requires grad" in shown
    assert "Mul" in shown and "Sum" in shown and "y" in shown and "keeps x, y" in shown
    assert any(
        text.startswith("test_picture.py:") and "y = (weights * weights).sum()" in text for text in shown
    )
    y.backward()
    assert "freed" in texts(draw(y)) and "keeps x, y" not in texts(draw(y))


def test_text_formats(tmp_path):
    x = tensor(1.0, requires_grad=True)
    picture = draw(x * x)
    assert picture.dot().startswith("digraph {") and '-> n1 [label="2"]' in picture.dot()
    assert picture.mermaid().startswith("graph TD") and "n0 -->|2| n1" in picture.mermaid()
    for name in ("a.svg", "a.dot", "a.mmd"):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_text()
    assert repr(picture) == "<Picture of 3 boxes and 2 edges>"


def test_repeats_are_collapsed():
    x = tensor(1.0, requires_grad=True)
    y = x
    for _ in range(25_000):
        y = y * 1.00001
        y = y.sin()
    picture = draw(y)
    assert len(picture.boxes) == 4
    assert "Mul  ×25,000" in texts(picture)


def test_large_graphs_are_cut_off():
    x = tensor(1.0, requires_grad=True)
    y = x
    for _ in range(5_000):
        y = y * 1.00001
    picture = draw(y, max_nodes=20, collapse=False)
    assert len(picture.boxes) == 22 and texts(picture)[0] == "4,980 earlier operations"
    with pytest.raises(TypeError, match="tensors"):
        draw([1.0])


def test_boxes_do_not_overlap():
    x, y = rt.ones(2, requires_grad=True), rt.ones(2, requires_grad=True)
    a, b = x * y, x + y
    c = (a.sin() * b.exp() + a / b - x) * y
    picture = draw(c)
    placed = place([(80, 40)] * len(picture.boxes), list(picture.edges))
    corners = placed.corners
    for i, (x0, y0) in enumerate(corners):
        assert x0 >= 0 and y0 >= 0 and x0 + 80 <= placed.width and y0 + 40 <= placed.height
        for x1, y1 in corners[:i]:
            assert abs(x0 - x1) >= 80 or abs(y0 - y1) >= 40
    for a, b in picture.edges:
        assert corners[a][1] < corners[b][1]
    for edge, points in placed.paths.items():  # between two layers an edge may slant, beside boxes it may not
        for (px, py), (qx, qy) in pairwise(points):
            for i, (x0, y0) in enumerate(corners):
                inside = (
                    x0 < max(px, qx) and min(px, qx) < x0 + 80 and y0 < max(py, qy) and min(py, qy) < y0 + 40
                )
                assert not inside or i in edge


def test_a_function_and_a_leaf():
    x = tensor(1.0, requires_grad=True)
    assert len(draw(x).boxes) in (1, 2)
    checkpointed = rt.checkpoint(lambda x: x * x, x)
    assert any("_Checkpoint" in text for text in texts(draw(checkpointed)))


def test_every_leaf_is_accounted_for():
    leaves = [tensor([float(i), 1.0], requires_grad=True) for i in range(12)]
    shown = texts(draw(rt.cat([leaf * 2 for leaf in leaves])))
    assert shown.count("leaf") == 4 and "8 more leaves" in shown
    assert not any(text.startswith("keeps") for text in shown)  # a number is kept, no memory


def test_long_names_are_cut():
    x = tensor(1.0, requires_grad=True)
    x.name = "layer" * 100
    assert max(map(len, texts(draw(x * 2)))) < 80
