"""Flow in a lid-driven cavity: helpers write the pressure, the velocities and their boundary values."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1), 6, 60, False


def build_source(b, rho, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)) ** 2
    )


def solve_pressure(p, dx, dy, b, iterations):
    for _ in range(iterations):
        pn = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def set_walls(u, v, lid):
    u[0, :] = 0
    u[:, 0] = 0
    u[:, -1] = 0
    u[-1, :] = lid
    v[0, :] = 0
    v[-1, :] = 0
    v[:, 0] = 0
    v[:, -1] = 0


def momentum(w, un, vn, dp, nu, dt, dx, dy):
    """What one time step makes of the velocity w, at the inner points."""
    return (
        w[1:-1, 1:-1]
        - un[1:-1, 1:-1] * dt / dx * (w[1:-1, 1:-1] - w[1:-1, :-2])
        - vn[1:-1, 1:-1] * dt / dy * (w[1:-1, 1:-1] - w[:-2, 1:-1])
        - dp
        + nu * dt / dx**2 * (w[1:-1, 2:] - 2 * w[1:-1, 1:-1] + w[1:-1, :-2])
        + nu * dt / dy**2 * (w[2:, 1:-1] - 2 * w[1:-1, 1:-1] + w[:-2, 1:-1])
    )


def cavity_flow(u, v, p, steps, iterations, dt, dx, dy, rho, nu, lid):
    b = np.zeros_like(p)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        build_source(b, rho, dt, u, v, dx, dy)
        solve_pressure(p, dx, dy, b, iterations)
        dpx = dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        dpy = dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        u[1:-1, 1:-1] = momentum(un, un, vn, dpx, nu, dt, dx, dy)
        v[1:-1, 1:-1] = momentum(vn, un, vn, dpy, nu, dt, dx, dy)
        set_walls(u, v, lid)


def loss(nu, lid, n, steps, iterations):
    u, v, p = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    h = 2.0 / (n - 1)
    cavity_flow(u, v, p, steps, iterations, 0.001, h, h, 1.0, nu, lid)
    return np.sum(u**2) + np.sum(v**2) + np.sum(p**2) * 1e-2


def example_args(size):
    return 0.1, 1.3, size, 4 if size < 10 else 20, 3 if size < 10 else 10
