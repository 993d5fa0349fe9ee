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


def gradient_by_hand(mass, position, velocity, steps):
    """What one would write: all pairs once per step, kept for the way back."""
    dt, gravity, softening = 0.01, 1.0, 0.1
    upper = np.triu(-gravity * (mass * mass.T), 1)

    def pairs(position):
        x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
        d = x.T - x, y.T - y, z.T - z
        distance = d[0] ** 2 + d[1] ** 2 + d[2] ** 2
        soft = distance + softening**2
        cube = soft**-1.5
        apart = distance > 0
        inverse = np.zeros_like(distance)
        inverse[apart] = 1.0 / np.sqrt(distance[apart])
        force = np.hstack([gravity * (e * cube) @ mass for e in d])
        return d, soft, cube, inverse, force

    mean, mean_mass = np.mean(mass * velocity, axis=0), np.mean(mass)
    given, velocity, position = velocity, velocity - mean / mean_mass, position.copy()
    kept = [(*pairs(position), velocity)]
    force = kept[0][4]
    history = np.empty((steps + 1, 2))
    for i in range(steps + 1):
        if i:
            half = velocity + force * dt / 2.0
            position += half * dt
            *_, force = made = pairs(position)
            velocity = half + force * dt / 2.0
            kept.append((*made, velocity))
        kinetic = 0.5 * np.sum(mass * velocity**2)
        history[i] = kinetic, np.sum(upper * kept[i][3])

    history_bar, position_bar = 2e-2 * history, 2.0 * position
    mass_bar, velocity_bar, force_bar = np.zeros_like(mass), np.zeros_like(velocity), np.zeros_like(force)
    upper_bar = np.zeros_like(upper)
    for i in reversed(range(steps + 1)):
        d, soft, cube, inverse, _, velocity = kept.pop()
        kinetic_bar, potential_bar = history_bar[i]
        mass_bar += 0.5 * kinetic_bar * np.sum(velocity**2, axis=1, keepdims=True)
        velocity_bar += kinetic_bar * mass * velocity
        upper_bar += potential_bar * inverse
        if i:
            force_bar += velocity_bar * (dt / 2.0)
        distance_bar = (-0.5 * potential_bar) * upper * inverse**3
        d_bar, cube_bar = [], 0.0
        for k, e in enumerate(d):
            f_bar = gravity * force_bar[:, k : k + 1]
            mass_bar += (e * cube).T @ f_bar
            product_bar = f_bar @ mass.T
            cube_bar = cube_bar + product_bar * e
            d_bar.append(product_bar * cube)
        distance_bar -= 1.5 * cube_bar * cube / soft
        for k, e in enumerate(d):
            e_bar = d_bar[k] + 2.0 * distance_bar * e
            position_bar[:, k] += e_bar.sum(axis=0) - e_bar.sum(axis=1)
        force_bar = np.zeros_like(force_bar)
        if i:
            velocity_bar += position_bar * dt
            force_bar += velocity_bar * (dt / 2.0)
    pairs_bar = -gravity * np.triu(upper_bar, 1)
    mass_bar += pairs_bar @ mass + pairs_bar.T @ mass
    mean_bar = -np.sum(velocity_bar, axis=0) / mean_mass
    mass_bar += given @ mean_bar[:, None] / mass.size - mean_bar @ mean / mean_mass / mass.size
    velocity_bar += mean_bar * mass / len(mass)
    return mass_bar, position_bar, velocity_bar


def example_args(size):
    rng = np.random.default_rng(0)
    bodies = (size, 3)
    mass = 20.0 * np.ones((size, 1)) / size
    return mass, rng.normal(size=bodies), rng.normal(size=bodies), 3 if size < 10 else 20
