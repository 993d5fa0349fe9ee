"""Vertical advection of an atmosphere model: a tridiagonal solve down every column, through column views."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1, 2), 4, 40, False


def eliminate(c, d):
    """Forward sweep of the Thomas algorithm; writes c and d."""
    for k in range(1, c.shape[-1]):
        above_c, above_d = c[..., k - 1], d[..., k - 1]
        column_c, column_d = c[..., k], d[..., k]
        pivot = 1.0 / (1.0 + 0.5 * np.abs(column_c) - 0.3 * column_c * above_c)
        column_d -= 0.3 * column_c * above_d
        column_d *= pivot
        column_c *= pivot


def substitute(c, d, out):
    """Backward sweep; writes out."""
    data = d[..., -1]
    out[..., -1] = data
    for k in range(d.shape[-1] - 2, -1, -1):
        data = d[..., k] - c[..., k] * data
        out[..., k] = data


def vertical_advection(velocity, field, tendency, dt):
    c, d = np.empty_like(field), np.empty_like(field)
    for k in range(field.shape[-1]):
        below = field[..., min(k + 1, field.shape[-1] - 1)]
        above = field[..., max(k - 1, 0)]
        c[..., k] = 0.25 * (velocity[1:, :, k] + velocity[:-1, :, k])
        d[..., k] = field[..., k] / dt + tendency[..., k] - c[..., k] * (below - above)
    eliminate(c, d)
    out = np.zeros_like(field)
    substitute(c, d, out)
    tendency[:] = (out - field) * dt
    return out


def loss(velocity, field, tendency, dt):
    out = vertical_advection(velocity, field, tendency, dt)
    return np.sum(tendency**2) + np.sum(out)


def example_args(size):
    rng = np.random.default_rng(0)
    levels = 4 if size < 10 else 60
    shape = (size, size, levels)
    velocity = rng.random((size + 1, size, levels)) + 0.1
    return velocity, rng.random(shape), rng.random(shape), 0.7
