"""Peak memory of a gradient against the number of points and steps, beside that of the one by hand.

    python benchmarks/memory.py

The stencil of N points runs T steps in place. In `k` it keeps one slice a step, O(T N); in `u0`, in which it
is linear, it keeps nothing, O(N); a checkpointed loop keeps as many states as it is given snapshots.
"""

import tracemalloc

import numpy as np
from timing import table
from worked_examples import misfit, misfit_grad

import adjoin

SIZES = [(10_000, 10), (10_000, 100), (100_000, 10), (100_000, 100)]
SNAPSHOTS = 5


def start_grad(k, u0, target, steps):
    """By hand: the gradient in u0, for which nothing is kept."""
    u = u0.copy()
    for n in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    u_bar = 2 * (u - target)
    for n in reversed(range(steps)):
        lap_bar = k * u_bar[1:-1]
        u_bar[2:] += lap_bar
        u_bar[1:-1] -= 2 * lap_bar
        u_bar[:-2] += lap_bar
    return u_bar


def checkpointed_misfit(k, u0, target, steps):
    u = u0.copy()
    for n in adjoin.checkpointed(range(steps), snapshots=SNAPSHOTS):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum((u - target) ** 2)


def peak(function, args):
    """Bytes that a call holds at its peak, beyond what was there before; and its result."""
    function(*args)  # what is made once, such as generated code, is made here
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = function(*args)
    most = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return most, result


def rows():
    runs = [
        ("in k: kept every step", adjoin.grad(misfit, argnums=0), misfit_grad),
        ("in u0: nothing kept", adjoin.grad(misfit, argnums=1), start_grad),
        (f"in k, {SNAPSHOTS} snapshots", adjoin.grad(checkpointed_misfit, argnums=0), misfit_grad),
    ]
    for name, gradient, by_hand in runs:
        for points, steps in SIZES:
            rng = np.random.default_rng(0)
            args = (0.2, rng.random(points), rng.random(points), steps)
            try:
                ours, got = peak(gradient, args)
            except adjoin.AdjoinError as error:
                yield [name, str(points), str(steps), f"refused: {error.code}", "-", "-"]
                continue
            hand, want = peak(by_hand, args)
            np.testing.assert_allclose(got, want, rtol=1e-9)
            arrays = [f"{size / (8 * points):.1f}" for size in (ours, hand)]
            yield [name, str(points), str(steps), *arrays, f"{ours / hand:.2f}"]


def main():
    columns = ["gradient", "N", "T", "adjoin", "by hand", "ratio"]
    table("Peak memory of the gradient of a stencil (in arrays of N numbers)", columns, list(rows()))


if __name__ == "__main__":
    main()
