"""The gradients of the example kernels: time of the gradient over time of the function.

    python benchmarks/kernel_ratios.py

The aim is 5 at most, and 3 at most for kernels that are linear in what they update. "By hand" is the same
ratio of a gradient written by hand, for the kernels that have one. The last two columns are these ratios
where the C library keeps memory that is freed: a gradient that keeps values for its way back takes new memory
on each call, and getting that from the system may cost more than computing what is put there.
"""

import ctypes
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


def ratios(name):
    """Milliseconds of the function, and how many times as long our gradient and the one by hand take."""
    kernel = kernels.load(name)
    args = kernel.example_args(kernel.LARGE)
    gradient = adjoin.grad(kernel.loss, argnums=kernel.ARGNUMS)
    gradient(*args)
    functions = [lambda: kernel.loss(*copied(args)), lambda: gradient(*args)]
    if hasattr(kernel, "gradient_by_hand"):
        functions.append(lambda: kernel.gradient_by_hand(*args))
    plain, ours, *hand = interleaved(functions, rounds=5, each=2e-2)
    by_hand = f"{hand[0] / plain:.2f}" if hand else "-"
    return f"{plain * 1e3:.2f}", f"{ours / plain:.2f}", by_hand


def keep_memory():
    """Tell glibc not to hand freed memory back to the system; False where there is another C library."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    trim_threshold, mmap_threshold, most = -1, -3, 2**31 - 1
    return mallopt is not None and bool(mallopt(trim_threshold, most) and mallopt(mmap_threshold, 2**25))


def main():
    usual = {name: ratios(name) for name in kernels.NAMES}
    kept = {name: ratios(name)[1:] for name in kernels.NAMES} if keep_memory() else {}
    rows = [
        [name, *usual[name], "3" if kernels.load(name).LINEAR else "5", *kept.get(name, ("-", "-"))]
        for name in kernels.NAMES
    ]
    columns = ["kernel", "function", "ratio", "by hand", "aim", "memory kept", "by hand"]
    table("Gradients of the kernels (times the function, which takes ms)", columns, rows)


if __name__ == "__main__":
    main()
