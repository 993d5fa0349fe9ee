"""What derivatives cost: tangents, second derivatives, and the adjoint of each of thirty operations.

    python benchmarks/derivatives.py

Two tables. The first has the tangent over the function (the aim is 2.5), and the Hessian times a vector over
the gradient (4); of functions of a few microseconds it shows what a call costs as well.

The second has the generated adjoint of an operation alone over the operation, for arrays of one, a thousand
and a million elements; what is above six at a million is named below it. Two kinds are: a view (`x[1:]`)
costs nothing, and its adjoint an array of zeros; and `maximum` and `clip` are done without branches, where
`np.where`, which keeps an infinite adjoint from what was not taken, mispredicts every other one of a mask
without order.
"""

import operator

import numpy as np
import worked_examples
from timing import interleaved, micro, table

from adjoin import grad, hvp, jvp
from adjoin.transformer.gradient import Gradient

SIZES = (1, 1_000, 1_000_000)
NAMED = 6.0
GENERATOR = np.random.default_rng(0)


def above_zero(*shape):
    return GENERATOR.random(shape) + 0.5


def both(size):
    return above_zero(size), above_zero(size)


def one(size):
    return (above_zero(size),)


def square(size):
    n = int(size**0.5)
    return above_zero(n, n), above_zero(n, n)


def rows(size):
    n = max(size // 100, 1)
    return (above_zero(n, size // n),)


def taken(x, at):
    return x[at]


def positions(size):
    return above_zero(size), GENERATOR.integers(0, size, size)


#: For each operation the function and its arguments for a size; the adjoint is of every float array.
OPERATIONS = {
    "x + y": (operator.add, both),
    "x - y": (operator.sub, both),
    "x * y": (operator.mul, both),
    "x / y": (operator.truediv, both),
    "x ** 2": (lambda x: x**2, one),
    "x ** y": (operator.pow, both),
    "-x": (operator.neg, one),
    "abs": (np.abs, one),
    "exp": (np.exp, one),
    "log": (np.log, one),
    "sqrt": (np.sqrt, one),
    "sin": (np.sin, one),
    "tanh": (np.tanh, one),
    "arctan2": (np.arctan2, both),
    "maximum": (np.maximum, both),
    "clip": (lambda x: np.clip(x, 0.7, 1.2), one),
    "where": (lambda x, y: np.where(x > y, x, y), both),
    "sum": (np.sum, one),
    "sum, axis": (lambda x: np.sum(x, axis=1), rows),
    "mean": (np.mean, one),
    "var": (np.var, one),
    "max": (np.max, one),
    "prod": (np.prod, one),
    "cumsum": (np.cumsum, one),
    "norm": (np.linalg.norm, one),
    "x @ y": (operator.matmul, square),
    "einsum": (lambda x, y: np.einsum("ij,ij->i", x, y), square),
    "x[1:]": (lambda x: x[1:], one),
    "x[indices]": (taken, positions),
    "reshape": (lambda x: x.reshape(-1, 1), one),
    "concatenate": (lambda x, y: np.concatenate([x, y]), both),
    "sort": (np.sort, one),
}


def adjoint_over_operation(name, size):
    """How many times as long as the operation its adjoint takes."""
    operation, arguments = OPERATIONS[name]
    args = arguments(size)

    def f(x, *rest):
        return operation(x, *rest)

    active = tuple(i for i, a in enumerate(args) if a.dtype.kind == "f")
    variant, values, _ = Gradient(f, argnums=active)._find("split", args, {})
    forward, adjoint = variant.entries
    value, saved = forward(*values)
    seed = np.ones_like(value)
    plain, reverse = interleaved([lambda: operation(*args), lambda: adjoint(saved, seed)], rounds=7)
    return reverse / plain


def of_operations():
    found = {name: [adjoint_over_operation(name, size) for size in SIZES] for name in OPERATIONS}
    rows = [[name, *(f"{ratio:.1f}" for ratio in ratios)] for name, ratios in found.items()]
    table("Adjoint over operation", ["operation", *(f"{size:.0e}" for size in SIZES)], rows)
    named = [name for name, ratios in found.items() if ratios[-1] > NAMED]
    print(f"above {NAMED:g} at {SIZES[-1]:.0e}: {', '.join(named) or 'none'}")


def stencil(k, u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def network(W, V, x):
    h = np.tanh(W @ x)
    y = np.tanh(V @ h)
    return np.sum(y**2)


def of_functions():
    cases = {
        "stencil, 10 000 x 50": (stencil, 1, (0.2, above_zero(10_000), 50)),
        "network, 200 x 200": (
            network, 0, (*(GENERATOR.normal(size=(200, 200)) / 15 for _ in "WV"), above_zero(200, 50)),
        ),
        **{name: (f, argnum, args) for name, f, _, argnum, args in worked_examples.cases()},
    }  # fmt: skip
    rows = []
    for name, (f, argnum, args) in cases.items():
        x = args[argnum]
        direction = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
        tangents = tuple(direction if i == argnum else None for i in range(len(args)))
        gradient, pushforward = grad(f, argnums=argnum), jvp(f)
        product = hvp(f, argnums=argnum)
        times = interleaved(
            [
                lambda: f(*args),
                lambda: pushforward(args, tangents),
                lambda: gradient(*args),
                lambda: product(args, tangents),
            ]
        )
        plain, tangent, adjoint, second = times
        rows.append([name, *map(micro, times), f"{tangent / plain:.2f}", f"{second / adjoint:.2f}"])
    columns = ["function", "f (us)", "jvp (us)", "grad (us)", "hvp (us)", "jvp / f", "hvp / grad"]
    table("Tangents and second derivatives: aims 2.5 and 4", columns, rows)


def main():
    of_functions()
    print()
    of_operations()


if __name__ == "__main__":
    main()
