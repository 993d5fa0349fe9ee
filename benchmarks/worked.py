"""The gradients of the worked examples: adjoin against the one by hand, the function, and other tools.

python benchmarks/worked.py
"""

import inspect

import numpy as np
import worked_examples
from timing import interleaved, micro, table

import adjoin

COLUMNS = [
    "example",
    "function",
    "by hand",
    "adjoin",
    "adjoin / hand",
    "adjoin / function",
    "autograd",
    "jax.jit",
    "tangent",
]


def rebound(name, array_module):
    """The example `name` on another array module in the place of NumPy."""
    source = inspect.getsource(worked_examples).replace("import numpy as np", f"import {array_module} as np")
    scope = {"__name__": array_module}
    exec(compile(source, f"<{array_module}>", "exec"), scope)
    return scope[name]


def with_autograd(function, argnum, args):
    import autograd

    gradient = autograd.grad(rebound(function.__name__, "autograd.numpy"), argnum)
    return lambda: gradient(*args)


def with_jax(function, argnum, args):
    import jax

    jax.config.update("jax_enable_x64", True)
    static = tuple(at for at, arg in enumerate(args) if isinstance(arg, int))
    gradient = jax.jit(jax.grad(rebound(function.__name__, "jax.numpy"), argnum), static_argnums=static)
    return lambda: jax.block_until_ready(gradient(*args))


def with_tangent(function, argnum, args):
    import tangent

    gradient = tangent.grad(function, wrt=(argnum,))
    return lambda: gradient(*args)


def competitor(make, function, argnum, args, want):
    """What runs another tool, or None where it is not there, refuses, or gives another answer."""
    try:
        run = make(function, argnum, args)
        right = np.allclose(np.asarray(run()), want, rtol=1e-6)
    except Exception:
        return None
    return run if right else None


def row(name, function, by_hand, argnum, args):
    gradient = adjoin.grad(function, argnums=argnum)
    want = by_hand(*args)
    np.testing.assert_allclose(gradient(*args), want, rtol=1e-10)
    others = [
        competitor(make, function, argnum, args, want) for make in (with_autograd, with_jax, with_tangent)
    ]
    runs = [lambda: function(*args), lambda: by_hand(*args), lambda: gradient(*args)]
    times = iter(interleaved([*runs, *(run for run in others if run)]))
    plain, hand, ours = next(times), next(times), next(times)
    theirs = [micro(next(times)) if run else "-" for run in others]
    ratios = [f"{ours / hand:.2f}", f"{ours / plain:.2f}"]
    return [name, micro(plain), micro(hand), micro(ours), *ratios, *theirs]


def main():
    rows = [row(*case) for case in worked_examples.cases()]
    used = [at for at in range(len(COLUMNS)) if any(each[at] != "-" for each in rows)]
    table(
        "Gradients of the worked examples (µs per call)",
        [COLUMNS[at] for at in used],
        [[each[at] for at in used] for each in rows],
    )


if __name__ == "__main__":
    main()
