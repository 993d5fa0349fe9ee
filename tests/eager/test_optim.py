"""Optimisers: the formulas, and that they arrive."""

from __future__ import annotations

import numpy as np
import pytest

from adjoin.runtime import optim, tensor

ALL = [
    lambda p: optim.SGD(p, lr=0.1),
    lambda p: optim.SGD(p, lr=0.05, momentum=0.9),
    lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    lambda p: optim.Adam(p, lr=0.1),
    lambda p: optim.AdamW(p, lr=0.1, weight_decay=1e-3),
    lambda p: optim.RMSprop(p, lr=0.02),
]


@pytest.mark.parametrize("make", ALL)
def test_a_minimum_is_found(make):
    x = tensor([3.0, -2.0], requires_grad=True)
    unused = tensor(1.0, requires_grad=True)
    optimiser = make([x, unused])
    for _ in range(400):
        optimiser.zero_grad()
        ((x - 1.0) ** 2).sum().backward()
        optimiser.step()
    assert np.allclose(x.detach().numpy(), 1.0, atol=0.03)
    assert x.is_leaf and x._version == 400 and unused.item() == 1.0


def test_formulas():
    """Two steps of each, with a gradient of 1, then 2, from 0."""
    expected = [
        -0.1 * (1 + 2),
        -0.05 * (1 + 0.9 * 1 + 2),
        -0.05 * (1 + 0.9 + (2 + 0.9 * (0.9 + 2))),
    ]
    m, s, adam = 0.0, 0.0, 0.0
    for t, g in ((1, 1.0), (2, 2.0)):
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        adam -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
    expected.append(adam)
    for make, end in zip(ALL, expected, strict=False):
        x = tensor(0.0, requires_grad=True)
        optimiser = make([x])
        for g in (1.0, 2.0):
            x.grad = tensor(g)
            optimiser.step()
        assert np.isclose(x.item(), end, rtol=1e-12)


def test_zero_grad_and_closures():
    x = tensor(1.0, requires_grad=True)
    optimiser = optim.SGD([x], lr=0.5)

    def closure():
        optimiser.zero_grad(set_to_none=False)
        loss = x * x
        loss.backward()
        return loss

    assert optimiser.step(closure).item() == 1.0 and x.item() == 0.0
    optimiser.zero_grad(set_to_none=False)
    assert x.grad.item() == 0.0
    optimiser.zero_grad()
    assert x.grad is None


def test_schedules():
    def rates(make, steps):
        optimiser = optim.SGD([tensor(1.0, requires_grad=True)], lr=1.0)
        schedule = make(optimiser)
        found = [optimiser.lr]
        for _ in range(steps):
            schedule.step()
            found.append(schedule.get_last_lr()[0])
        return found

    assert np.allclose(rates(lambda o: optim.StepLR(o, 2, 0.1), 4), [1, 1, 0.1, 0.1, 0.01])
    assert np.allclose(rates(lambda o: optim.ExponentialLR(o, 0.5), 3), [1, 0.5, 0.25, 0.125])
    assert np.allclose(rates(lambda o: optim.CosineLR(o, 2), 3), [1, 0.5, 0, 0])
    assert np.allclose(rates(lambda o: optim.LambdaLR(o, lambda e: 1 / (1 + e)), 2), [1, 1 / 2, 1 / 3])


def test_wrong_arguments():
    with pytest.raises(TypeError, match="sequence"):
        optim.SGD(tensor(1.0, requires_grad=True))
    with pytest.raises(RuntimeError, match="parameter 0"):
        optim.SGD([tensor(1.0)])
    with pytest.raises(RuntimeError, match="nesterov"):
        optim.SGD([tensor(1.0, requires_grad=True)], nesterov=True)
