"""A small network learns to read handwritten digits, with `Tensor` and an optimiser.

In: scikit-learn's digits. Out: the accuracy on digits that it has not seen, over 95 %. Run it with
``python examples/eager_mlp.py``; it needs scikit-learn, and takes a few seconds.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from adjoin.runtime import Tensor, cross_entropy, no_grad, optim, relu, tensor

EPOCHS, BATCH, HIDDEN = 30, 64, 64


def parameters(rng: np.random.Generator) -> list[Tensor]:
    """Weights and biases of two layers."""
    return [
        tensor(rng.normal(0, np.sqrt(2 / 64), (64, HIDDEN)), requires_grad=True),
        tensor(np.zeros(HIDDEN), requires_grad=True),
        tensor(rng.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, 10)), requires_grad=True),
        tensor(np.zeros(10), requires_grad=True),
    ]


def scores(x: Tensor, network: list[Tensor]) -> Tensor:
    """One score for each digit, for each image."""
    w1, b1, w2, b2 = network
    return relu(x @ w1 + b1) @ w2 + b2


def accuracy(x: Tensor, y: np.ndarray, network: list[Tensor]) -> float:
    """How many of the images are read rightly."""
    with no_grad():
        return float(np.mean(scores(x, network).argmax(axis=1).numpy() == y))


def main() -> float:
    """Train; returns the accuracy on the held-out digits."""
    rng = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(
        images / 16, labels, test_size=0.25, random_state=0, stratify=labels
    )
    x_test = tensor(x_test)
    network = parameters(rng)
    optimiser = optim.AdamW(network, lr=5e-3)
    schedule = optim.CosineLR(optimiser, EPOCHS)
    for epoch in range(EPOCHS):
        total = 0.0
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            batch = order[start : start + BATCH]
            loss = cross_entropy(scores(tensor(x[batch]), network), y[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(batch)
        schedule.step()
        if epoch % 5 == 4 or epoch == 0:
            held_out = accuracy(x_test, y_test, network)
            bar = "█" * round(30 * held_out)
            print(f"epoch {epoch + 1:3d}  loss {total / len(x):7.4f}  held out {held_out:6.1%}  {bar}")
    return accuracy(x_test, y_test, network)


if __name__ == "__main__":
    print(f"accuracy on digits not seen before: {main():.1%}")
