"""The gradient of every example kernel, by a directional difference."""

import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_same_bits, copy_arguments, leaves, rebuilt

import adjoin

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import kernels

STEPS = (1e-5, 3e-6)


def directional(loss, args, argnums, direction, step):
    """The slope of the loss where the arguments move along a direction."""

    def moved(by):
        new = list(copy_arguments(args))
        for number, along in zip(argnums, direction):
            delta = iter(leaves(along))
            new[number] = rebuilt(new[number], lambda leaf: leaf + by * next(delta))
        return loss(*new)

    return (moved(step) - moved(-step)) / (2 * step)


@pytest.mark.parametrize("name", kernels.NAMES)
def test_kernel(name):
    kernel = kernels.load(name)
    args = kernel.example_args(kernel.SMALL)
    wrt = tuple(args[number] for number in kernel.ARGNUMS)
    rng = np.random.default_rng(1)
    direction = rebuilt(wrt, lambda leaf: rng.normal(size=np.shape(leaf)))
    coarse, fine = (directional(kernel.loss, args, kernel.ARGNUMS, direction, step) for step in STEPS)
    np.testing.assert_allclose(coarse, fine, rtol=1e-6, atol=1e-8)

    before = [np.array(leaf) for leaf in leaves(args)]
    value, gradient = adjoin.value_and_grad(kernel.loss, argnums=kernel.ARGNUMS)(*args)
    assert_same_bits("the arguments", list(leaves(args)), before)
    assert value == kernel.loss(*copy_arguments(args))
    for leaf, slope in zip(leaves(wrt), leaves(gradient), strict=True):
        assert np.shape(slope) == np.shape(leaf)
        assert np.asarray(slope).dtype == np.asarray(leaf).dtype
    along = sum(np.sum(g * d) for g, d in zip(leaves(gradient), leaves(direction), strict=True))
    np.testing.assert_allclose(along, fine, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", [n for n in kernels.NAMES if hasattr(kernels.load(n), "gradient_by_hand")])
def test_gradient_by_hand(name):
    kernel = kernels.load(name)
    args = kernel.example_args(kernel.SMALL)
    gradient = adjoin.grad(kernel.loss, argnums=kernel.ARGNUMS)(*args)
    by_hand = kernel.gradient_by_hand(*copy_arguments(args))
    for ours, hand in zip(gradient, by_hand if isinstance(by_hand, tuple) else (by_hand,), strict=True):
        np.testing.assert_allclose(hand, ours, rtol=1e-10)


def test_there_are_twenty():
    assert len(kernels.NAMES) >= 20
