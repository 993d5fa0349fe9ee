"""Scientific kernels as people write them in NumPy: stores, views, swaps, helpers that write.

Each module has a function `loss`, whose gradient is asked for in the arguments `ARGNUMS`, and
`example_args(size)`, which makes its arguments; `SMALL` is a size for a test, `LARGE` one for a benchmark.
`LINEAR` says whether the kernel is linear in what it updates, so that no value of it needs to be kept. Where
the gradient takes more than five times as long as the function, one by hand is `gradient_by_hand`.

    from kernels import jacobi_1d
    adjoin.grad(jacobi_1d.loss)(*jacobi_1d.example_args(jacobi_1d.SMALL))
"""

import importlib
import pkgutil

NAMES = sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name):
    """The module of one kernel."""
    return importlib.import_module(f"{__name__}.{name}")
