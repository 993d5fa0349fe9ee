"""The eager runtime against bare NumPy, PyTorch, autograd and MyGrad (each where it is installed).

    python -m benchmarks eager

All contestants take turns in one process, and the least time of each counts. Figures are microseconds, and
ratios of ours to theirs: below 1 is faster.
"""

import importlib
from collections.abc import Callable

import numpy as np
from timing import interleaved, micro, table

from adjoin import runtime as rt

LIBRARIES = ["torch", "autograd", "mygrad"]
CHAIN = 500


def library(name: str):
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def operations(size: int) -> list[tuple[str, dict[str, Callable[[], object]]]]:
    """One operation forward, recorded: by name, a function for each contestant."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(size), rng.standard_normal(size)
    x, y = rt.tensor(a, requires_grad=True), rt.tensor(b, requires_grad=True)
    c = a.reshape(2, -1)
    m = rt.tensor(c, requires_grad=True)
    rows: list[tuple[str, dict[str, Callable[[], object]]]] = [
        ("x * y", {"ours": lambda: x * y, "numpy": lambda: a * b}),
        ("x + y", {"ours": lambda: x + y, "numpy": lambda: a + b}),
        ("sin(x)", {"ours": lambda: x.sin(), "numpy": lambda: np.sin(a)}),
        ("np.sin(x)", {"ours": lambda: np.sin(x), "numpy": lambda: np.sin(a)}),
        ("exp(x)", {"ours": lambda: rt.exp(x), "numpy": lambda: np.exp(a)}),
        ("sum(x)", {"ours": lambda: x.sum(), "numpy": lambda: a.sum()}),
        ("sum(M, 0)", {"ours": lambda: m.sum(0), "numpy": lambda: c.sum(0)}),
        ("where", {"ours": lambda: rt.where(a > 0, x, y), "numpy": lambda: np.where(a > 0, a, b)}),
        ("cat", {"ours": lambda: rt.cat([x, y]), "numpy": lambda: np.concatenate([a, b])}),
        ("reshape", {"ours": lambda: x.reshape(2, -1), "numpy": lambda: a.reshape(2, -1)}),
        ("x[1:3]", {"ours": lambda: x[1:3], "numpy": lambda: a[1:3]}),
        ("M.T", {"ours": lambda: m.T, "numpy": lambda: c.T}),
    ]
    if torch := library("torch"):
        torch.set_num_threads(1)
        u, v, w = (torch.tensor(values, requires_grad=True) for values in (a, b, c))
        more = [lambda: w.sum(0), lambda: torch.where(u.detach() > 0, u, v), lambda: torch.cat([u, v])]
        more += [lambda: u.reshape(2, -1), lambda: u[1:3], lambda: w.T]
        for (_, row), theirs in zip(
            rows,
            [lambda: u * v, lambda: u + v, u.sin, u.sin, lambda: torch.exp(u), u.sum, *more],
            strict=True,
        ):
            row["torch"] = theirs
    if mygrad := library("mygrad"):
        p, q = mygrad.tensor(a), mygrad.tensor(b)
        for (_, row), theirs in zip(
            rows,
            [lambda: p * q, lambda: p + q, *2 * [lambda: mygrad.sin(p)], lambda: mygrad.exp(p), p.sum],
            strict=False,
        ):
            row["mygrad"] = theirs
    return rows


def chains() -> dict[str, Callable[[], object]]:
    """Forward and backward through a chain of a thousand operations of size 10."""
    a = np.linspace(0.1, 1.0, 10)
    x = rt.tensor(a, requires_grad=True)

    def ours() -> None:
        z = x
        for _ in range(CHAIN):
            z = (z * 1.0001).sin()
        z.sum().backward()

    found: dict[str, Callable[[], object]] = {"ours": ours}
    if torch := library("torch"):
        u = torch.tensor(a, requires_grad=True)

        def by_torch() -> None:
            z = u
            for _ in range(CHAIN):
                z = (z * 1.0001).sin()
            z.sum().backward()

        found["torch"] = by_torch
    if library("autograd"):
        anp, agrad = importlib.import_module("autograd.numpy"), importlib.import_module("autograd").grad

        def chain(z):
            for _ in range(CHAIN):
                z = anp.sin(z * 1.0001)
            return anp.sum(z)

        gradient = agrad(chain)
        found["autograd"] = lambda: gradient(a)
    if mygrad := library("mygrad"):

        def by_mygrad() -> None:
            leaf = mygrad.tensor(a)
            z = leaf
            for _ in range(CHAIN):
                z = mygrad.sin(z * 1.0001)
            z.sum().backward()

        found["mygrad"] = by_mygrad
    return found


def large() -> dict[str, Callable[[], object]]:
    """Forward and backward at a million elements, against the NumPy operations that it consists of."""
    a, b = np.random.default_rng(0).standard_normal((2, 1_000_000))
    x, y = rt.tensor(a, requires_grad=True), rt.tensor(b, requires_grad=True)

    def ours() -> None:
        x.grad = y.grad = None
        ((x * y).sin()).sum().backward()

    def by_numpy() -> None:
        p = a * b
        s = np.sin(p)
        s.sum()
        g = np.broadcast_to(1.0, s.shape) * np.cos(p)
        _ = g * b, g * a

    return {"ours": ours, "numpy": by_numpy}


def ratios(times: dict[str, float], others: list[str]) -> list[str]:
    """Ours over each of the others; a dash for what is not installed."""
    return [f"{times['ours'] / times[other]:.2f}" if other in times else "-" for other in others]


def measured(row: dict[str, Callable[[], object]], **options: float) -> dict[str, float]:
    """Seconds a call, by contestant."""
    return dict(zip(row, interleaved(list(row.values()), **options), strict=True))


def long_chain(count: int = 100_000) -> tuple[float, float]:
    """Seconds forward and backward of one chain."""
    from timing import once

    x = rt.tensor(np.linspace(0.1, 1.0, 10), requires_grad=True)
    z = x

    def forward() -> None:
        nonlocal z
        for _ in range(count // 2):
            z = (z * 1.0001).sin()

    seconds = once(forward, 1)
    return seconds, once(lambda: z.sum().backward(), 1)


def main() -> None:
    """Print the tables."""
    others = ["numpy", *LIBRARIES]
    columns = ["", "ours, us", *(f"/ {other}" for other in others)]
    rows = []
    for name, row in operations(10):
        times = measured(row)
        rows.append([name, micro(times["ours"]), *ratios(times, others)])
    table("One recorded operation, size 10", columns, rows)
    times = measured(chains(), rounds=7)
    row = [f"{2 * CHAIN} operations", micro(times["ours"]), *ratios(times, others)]
    table("Forward and backward of a chain, size 10", columns, [row])
    times = measured(large(), rounds=7)
    row = ["sum(sin(x * y))", micro(times["ours"]), *ratios(times, others)]
    table("Forward and backward, 1,000,000 elements", columns, [row])
    forward, back = min((long_chain() for _ in range(3)), key=sum)
    table(
        "A chain of 100,000 operations",
        ["", "seconds"],
        [
            ["forward", f"{forward:.2f}"],
            ["backward", f"{back:.2f}"],
            ["backward / forward", f"{back / forward:.2f}"],
        ],
    )


if __name__ == "__main__":
    main()
