"""The gradient of each worked example is the one by hand, and that of central differences."""

import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_gradient, copy_arguments, leaves

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from worked_examples import cases

CASES = {name: rest for name, *rest in cases()}


@pytest.mark.parametrize("name", CASES)
def test_worked_example(name):
    function, by_hand, argnum, args = CASES[name]
    got = assert_gradient(function, *args, argnums=argnum)
    want = by_hand(*copy_arguments(args))
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_every_other_argument(name):
    function, _, _, args = CASES[name]
    argnums = tuple(at for at, arg in enumerate(args) if list(leaves(arg)))
    if name == "loss, 1000 x 20":
        argnums = (0,)  # differences of 20,000 numbers take too long
    assert_gradient(function, *args, argnums=argnums)
