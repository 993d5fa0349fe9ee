"""A function of fifty lines, for the time of a first call."""

import numpy as np


def normalised(x, scale, shift):
    mean = np.mean(x, axis=0)
    deviation = np.sqrt(np.var(x, axis=0) + 1e-6)
    return scale * (x - mean) / deviation + shift


def objective(p, X, y, steps):
    h = X
    for layer in range(len(p["weights"])):
        h = h @ p["weights"][layer] + p["biases"][layer]
        if layer < len(p["weights"]) - 1:
            h = normalised(h, p["scales"][layer], p["shifts"][layer])
            h = np.maximum(h, 0.1 * h)
    scores = h - np.max(h, axis=1, keepdims=True)
    exponentials = np.exp(scores)
    total = np.sum(exponentials, axis=1, keepdims=True)
    probabilities = exponentials / total
    entropy = 0.0
    for row, label in enumerate(y):
        entropy = entropy - np.log(probabilities[row, label])
    entropy = entropy / len(y)
    penalty = 0.0
    for w in p["weights"]:
        penalty = penalty + np.sum(w**2)
    for b in p["biases"]:
        penalty = penalty + 0.1 * np.sum(np.abs(b))
    momentum = np.zeros_like(p["scales"][0])
    for step in range(steps):
        momentum = 0.9 * momentum + 0.1 * p["scales"][0]
        if step % 2 == 0:
            momentum = momentum + 0.01 * p["shifts"][0]
        if np.sum(momentum) > 10.0:
            break
    drift = np.sum((momentum - p["scales"][0]) ** 2)
    low, high = np.min(probabilities), np.max(probabilities)
    spread = np.clip(high - low, 0.0, 0.99)
    confidence = np.where(probabilities > 0.5, probabilities, 0.5)
    sharpness = np.mean(confidence)
    smooth = np.tanh(np.sum(h, axis=0))
    balance = np.dot(smooth, smooth)
    mixed = np.concatenate([smooth, momentum])
    mixed = np.sin(mixed) * np.cos(mixed)
    joined = np.stack([mixed, mixed**2]).sum(axis=0)
    rest = np.sum(joined[::2]) + np.sum(joined[1::2] ** 3)
    loss = entropy + 1e-3 * penalty + 1e-2 * drift
    loss = loss + 1e-3 * spread - 1e-3 * sharpness
    loss = loss + 1e-3 * balance + 1e-4 * rest
    return loss


def example_args():
    rng = np.random.default_rng(0)
    p = {
        "weights": [rng.normal(size=(4, 6)) / 2, rng.normal(size=(6, 3)) / 2],
        "biases": [rng.normal(size=6) * 0.1, rng.normal(size=3) * 0.1],
        "scales": [np.ones(6)],
        "shifts": [np.zeros(6)],
    }
    return p, rng.normal(size=(12, 4)), [int(label) for label in rng.integers(0, 3, 12)], 5
