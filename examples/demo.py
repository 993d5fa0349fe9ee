"""What adjoin does, in a minute: a function, the gradient written for it, a check of it, and a training run.

make demo
"""

import inspect
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import digits
import heat

from adjoin import check, grad


@grad
def loss(w, X, y):
    p = 1 / (1 + np.exp(-(X @ w)))  # predicted probability
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def heading(text):
    print(f"\n\033[1m{text}\033[0m\n" if sys.stdout.isatty() else f"\n{text}\n{'-' * len(text)}\n")


def code(text):
    """Print source, coloured where there is a terminal and rich."""
    try:
        from rich.console import Console
        from rich.syntax import Syntax
    except ImportError:
        print(text)
    else:
        Console().print(Syntax(text, "python", background_color="default"))


def main():
    heading("A function, as people write it")
    code(inspect.getsource(loss.primal).strip())

    heading("The gradient that adjoin writes next to it, for these arguments")
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(1000, 20)), 0.1 * rng.normal(size=20)
    y = (rng.random(1000) > 0.5) * 1.0
    start = time.perf_counter()
    loss(w, X, y)
    first = time.perf_counter() - start
    code(loss.source.strip())
    start = time.perf_counter()
    for _ in range(100):
        loss(w, X, y)
    print(f"\nfirst call {1e3 * first:.0f} ms, every later one {1e4 * (time.perf_counter() - start):.0f} µs")

    heading("Is it right? Slopes along random directions, and the order of the Taylor remainder")
    check(loss, w, X, y).raise_if_wrong()

    heading("The same on real data: a two-layer classifier of scanned digits, trained by L-BFGS")
    digits.main()

    heading("A heat equation with stores into slices: 576 conductivities from noisy pictures, by L-BFGS")
    heat.main(str(Path(__file__).with_name("heat.png")))


if __name__ == "__main__":
    main()
