"""A conductivity field, fitted to noisy observations of the heat that flows through it.

    python examples/heat.py [picture.png]

The heat equation is written the way people write it: two buffers, stores into slices, a boundary that a
helper writes, a swap at each step. adjoin differentiates it as it stands, and L-BFGS fits the field. The
picture shows the true field, the fit, and the error.
"""

import sys

import numpy as np
from scipy.optimize import minimize

from adjoin import value_and_grad

SIZE = 24
STEPS = 60
EVERY = 10
NOISE = 1e-3


def conductivity(k):
    """Between 0 and 0.24, whatever k is: the time steps are always stable."""
    return 0.24 / (1.0 + np.exp(-k))


def set_boundary(u):
    """Insulated at the top and bottom, at fixed temperatures to the left and right."""
    u[0, :] = u[1, :]
    u[-1, :] = u[-2, :]
    u[:, 0] = 1.0
    u[:, -1] = 0.0


def simulate(k, u0, steps):
    """Temperatures after every EVERY steps."""
    c = conductivity(k)
    u = u0.copy()
    v = u0.copy()
    seen = []
    for t in range(steps):
        v[1:-1, 1:-1] = u[1:-1, 1:-1]
        # what flows along the rows, then along the columns
        v[1:-1, 1:] -= 0.5 * (c[1:-1, 1:] + c[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
        v[1:-1, :-1] += 0.5 * (c[1:-1, 1:] + c[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
        v[1:, 1:-1] -= 0.5 * (c[1:, 1:-1] + c[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
        v[:-1, 1:-1] += 0.5 * (c[1:, 1:-1] + c[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
        set_boundary(v)
        u, v = v, u
        if (t + 1) % EVERY == 0:
            seen.append(u.copy())
    return seen


def misfit(k, sources, observed, steps, roughness):
    """How far the simulations are from the observations, and how rough the field is."""
    total = 0.0
    for u0, seen in zip(sources, observed):
        for u, data in zip(simulate(k, u0, steps), seen):
            total += np.sum((u - data) ** 2)
    total += roughness * (np.sum((k[1:] - k[:-1]) ** 2) + np.sum((k[:, 1:] - k[:, :-1]) ** 2))
    return total


def true_field(n):
    """Two smooth bumps, one that conducts well and one that conducts badly."""
    y, x = np.mgrid[0 : 1 : n * 1j, 0 : 1 : n * 1j]
    good = np.exp(-((x - 0.35) ** 2 + (y - 0.6) ** 2) / 0.03)
    bad = np.exp(-((x - 0.7) ** 2 + (y - 0.35) ** 2) / 0.02)
    return 1.5 * good - 2.0 * bad


def experiment(n, steps, noise=NOISE):
    """The true field, three initial temperatures, and noisy observations of what becomes of them."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0 : 1 : n * 1j, 0 : 1 : n * 1j]
    sources = [np.sin(3 * np.pi * x) ** 2, np.sin(3 * np.pi * y) ** 2, np.sin(2 * np.pi * (x + y)) ** 2]
    for u0 in sources:
        set_boundary(u0)
    k = true_field(n)
    observed = [[u + noise * rng.normal(size=u.shape) for u in simulate(k, u0, steps)] for u0 in sources]
    return k, sources, observed


def fit(sources, observed, steps=STEPS, roughness=1e-4, iterations=80, report=print):
    """The field that explains the observations; `report` is told the misfit as it falls."""
    shape = sources[0].shape
    gradient = value_and_grad(misfit)
    values = []

    def objective(vector):
        value, k_bar = gradient(vector.reshape(shape), sources, observed, steps, roughness)
        values.append(value)
        return value, k_bar.ravel()

    def falling(vector):
        falling.count += 1
        if falling.count % 10 == 1:
            report(f"iteration {falling.count:4}   misfit {values[-1]:.6f}")

    falling.count = 0
    found = minimize(
        objective,
        np.zeros(shape).ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=falling,
        options={"maxiter": iterations},
    )
    report(f"iteration {found.nit:4}   misfit {found.fun:.6f}")
    return found.x.reshape(shape)


def relative_error(found, true):
    """Of the conductivity, at the inner points: those at the boundary are hardly seen."""
    got, want = (conductivity(k)[1:-1, 1:-1] for k in (found, true))
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def picture(true, found, path):
    """The true field, the fit and the error, side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    true, found = conductivity(true), conductivity(found)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    error = found - true
    panels = [("true field", true, 0.0, 0.24), ("fit", found, 0.0, 0.24), ("error", error, -0.05, 0.05)]
    for axis, (title, field, low, high) in zip(axes, panels):
        image = axis.imshow(field, cmap="RdBu_r", vmin=low, vmax=high)
        figure.colorbar(image, ax=axis)
        axis.set_title(title)
        axis.set_axis_off()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(path="heat.png"):
    true, sources, observed = experiment(SIZE, STEPS)
    print(
        f"fitting {true.size} conductivities to {len(observed) * len(observed[0])} noisy pictures of the heat"
    )
    found = fit(sources, observed)
    print(f"error of the conductivity {100 * relative_error(found, true):.1f} %")
    picture(true, found, path)
    print(f"picture in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
