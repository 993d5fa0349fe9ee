"""Kinds that are written down: `like=`, `--like`, annotations; and samples of them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import adjoin
from adjoin.transformer.kinds import signature_kind
from adjoin.transformer.like import annotated, kinds_of, sample


@pytest.mark.parametrize(
    ("notation", "value"),
    [
        ("f8[:]", np.ones(3)),
        ("f4[:, 1]", np.ones((3, 1), "f4")),
        ("c16[:, :, :]", np.ones((2, 3, 4), complex)),
        ("i8[:]", np.arange(3)),
        ("b1[:]", np.array([True, False])),
        ("f8[()]", np.array(2.0)),
        ("float", 2.0),
        ("int", 3),
        ("complex", 2j),
        ("f4", np.float32(2.0)),
        ("'text'", "text"),
        ("None", None),
        ("True", True),
        ("3", 3),
        ("-3.5", -3.5),
        ("{'W': f8[:, :], 'b': float}", {"W": np.ones((2, 3)), "b": 1.0}),
        ("{0: float, b: int}", {0: 1.0, "b": 1}),
        ("(f8[:], int)", (np.ones(3), 2)),
        ("(float,)", (2.0,)),
        ("[f8[:], [float, float]]", [np.ones(3), [1.0, 2.0]]),
        ("list[float]", [1.0] * 20),
    ],
)
def test_a_notation_states_the_kind_of_a_value(notation, value):
    (stated,) = kinds_of(f"x: {notation}").values()
    assert stated == signature_kind(value, "x")


def test_what_only_a_notation_can_say():
    kinds = kinds_of("A: f8[n, m], x: f8[m], y: f8[...], z: ?[?, 3], w: ?")
    assert kinds["A"].dims[1] == kinds["x"].dims[0]
    assert kinds["A"].dims[0] != kinds["x"].dims[0]
    assert kinds["y"].dims is None
    assert kinds["z"].dims == (None, 3)
    assert repr(kinds["w"]) == "?"
    assert kinds_of("") == {}


@pytest.mark.parametrize(
    "notation",
    [
        "x",
        "x: f9",
        "x: f8[a.b]",
        "x: f8[1:2]",
        "x: f(3)",
        "x: {1.5: float}",
        "3: float",
        "x: U5",
        "x:",
        "x: f8[True]",
    ],
)
def test_what_cannot_be_read_is_refused(notation):
    with pytest.raises(adjoin.AdjoinError, match="instead: write for example") as caught:
        kinds_of(notation)
    assert caught.value.code == "ADJ306"


def test_annotations():
    def f(
        a: float,
        b: int,
        c: bool,
        d: np.ndarray,
        e: npt.NDArray[np.float32],
        f: "c16[:]",  # noqa: F821
        g: np.float32,
        h: str,
        i: Any,
        j: npt.NDArray[Any],
        k: "nowhere.to.be[found]",  # noqa: F821
        m,
        n: npt.NDArray[np.floating],
    ) -> float: ...

    found = {name: repr(kind) for name, kind in annotated(f).items()}
    assert found == {
        "a": "float",
        "b": "int",
        "c": "bool",
        "d": "?[...]",
        "e": "f4[...]",
        "f": "c16[f.0]",
        "g": "f4",
        "h": "str",
        "j": "?[...]",
        "n": "?[...]",
    }


def test_samples_are_of_their_kind():
    sizes: dict[str, int] = {}
    rng = np.random.default_rng(0)
    kinds = kinds_of("A: f4[n, m], x: c16[m], p: {'b': float, 'l': [int, 'a']}, l: list[f8[:]], z: f8[?, 1]")
    values = {name: sample(kind, rng, sizes) for name, kind in kinds.items()}
    assert values["A"].shape[1] == values["x"].shape[0] != values["A"].shape[0]
    assert values["A"].dtype == np.float32
    assert values["x"].dtype == np.complex128
    assert values["p"]["l"][1] == "a"
    assert len(values["l"]) == 9
    assert values["z"].shape == (4, 1)
    with pytest.raises(adjoin.AdjoinError):
        sample(kinds_of("x: f8[...]")["x"], rng, sizes)
