"""Bodies under gravity: leapfrog steps, and a mask that keeps a body from pulling at itself."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1, 2), 4, 100, False


def acceleration(position, mass, gravity, softening):
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = dx**2 + dy**2 + dz**2 + softening**2
    inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
    ax = gravity * (dx * inverse) @ mass
    ay = gravity * (dy * inverse) @ mass
    az = gravity * (dz * inverse) @ mass
    return np.hstack((ax, ay, az))


def energies(position, velocity, mass, gravity):
    kinetic = 0.5 * np.sum(np.sum(mass * velocity**2))
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    distance = (x.T - x) ** 2 + (y.T - y) ** 2 + (z.T - z) ** 2
    inverse = distance.copy()
    inverse[distance > 0] = 1.0 / np.sqrt(distance[distance > 0])
    return kinetic, gravity * np.sum(np.triu(-(mass * mass.T) * inverse, 1))


def n_body(mass, position, velocity, steps, dt, gravity, softening):
    history = np.ndarray((steps + 1, 2))
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    force = acceleration(position, mass, gravity, softening)
    history[0] = energies(position, velocity, mass, gravity)
    for i in range(steps):
        velocity += force * dt / 2.0
        position += velocity * dt
        force[:] = acceleration(position, mass, gravity, softening)
        velocity += force * dt / 2.0
        history[i + 1] = energies(position, velocity, mass, gravity)
    return history


def loss(mass, position, velocity, steps):
    history = n_body(mass, position, velocity, steps, 0.01, 1.0, 0.1)
    return np.sum(history**2) * 1e-2 + np.sum(position**2)


def example_args(size):
    rng = np.random.default_rng(0)
    bodies = (size, 3)
    mass = 20.0 * np.ones((size, 1)) / size
    return mass, rng.normal(size=bodies), rng.normal(size=bodies), 3 if size < 10 else 20
