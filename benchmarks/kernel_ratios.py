"""The gradients of the example kernels: time of the gradient over time of the function.

    python benchmarks/kernel_ratios.py

The aim is 5 at most, and 3 at most for kernels that are linear in what they update. "By hand" is the same
ratio of a gradient written by hand, for the kernels that have one.
"""

import sys
from pathlib import Path

from timing import interleaved, table

import adjoin

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import kernels


def copied(value):
    """Fresh arrays: most kernels write into their arguments."""
    if isinstance(value, (tuple, list)):
        return type(value)(copied(part) for part in value)
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return value.copy() if hasattr(value, "copy") else value


def row(name):
    kernel = kernels.load(name)
    args = kernel.example_args(kernel.LARGE)
    aim = "3" if kernel.LINEAR else "5"
    try:
        gradient = adjoin.grad(kernel.loss, argnums=kernel.ARGNUMS)
        gradient(*args)
    except adjoin.AdjoinError as error:
        return [name, "-", "-", f"refused: {error.code}", "-", aim]
    functions = [lambda: kernel.loss(*copied(args)), lambda: gradient(*args)]
    if hasattr(kernel, "gradient_by_hand"):
        functions.append(lambda: kernel.gradient_by_hand(*args))
    plain, ours, *hand = interleaved(functions, rounds=5, each=2e-2)
    by_hand = f"{hand[0] / plain:.2f}" if hand else "-"
    return [name, f"{plain * 1e3:.2f}", f"{ours * 1e3:.2f}", f"{ours / plain:.2f}", by_hand, aim]


def main():
    rows = [row(name) for name in kernels.NAMES]
    columns = ["kernel", "function", "gradient", "ratio", "by hand", "aim"]
    table("Gradients of the kernels (ms per call)", columns, rows)


if __name__ == "__main__":
    main()
