"""Horizontal diffusion of an atmosphere model: limited fluxes, with masks."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0, 1), 4, 60, False


def horizontal_diffusion(field, out, coefficient):
    i, j, _ = out.shape
    laplacian = 4.0 * field[1 : i + 3, 1 : j + 3, :] - (
        field[2 : i + 4, 1 : j + 3, :]
        + field[0 : i + 2, 1 : j + 3, :]
        + field[1 : i + 3, 2 : j + 4, :]
        + field[1 : i + 3, 0 : j + 2, :]
    )
    along_i = laplacian[1:, 1 : j + 1, :] - laplacian[:-1, 1 : j + 1, :]
    along_i[along_i * (field[2 : i + 3, 2 : j + 2, :] - field[1 : i + 2, 2 : j + 2, :]) > 0] = 0
    along_j = laplacian[1 : i + 1, 1:, :] - laplacian[1 : i + 1, :-1, :]
    along_j[along_j * (field[2 : i + 2, 2 : j + 3, :] - field[2 : i + 2, 1 : j + 2, :]) > 0] = 0
    out[:] = field[2 : i + 2, 2 : j + 2, :] - coefficient * (
        along_i[1:, :, :] - along_i[:-1, :, :] + along_j[:, 1:, :] - along_j[:, :-1, :]
    )


def loss(field, coefficient):
    out = np.empty_like(coefficient)
    horizontal_diffusion(field, out, coefficient)
    return np.sum(out**2)


def example_args(size):
    rng = np.random.default_rng(0)
    levels = 2 if size < 10 else 20
    return rng.random((size + 4, size + 4, levels)), rng.random((size, size, levels))
