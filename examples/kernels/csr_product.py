"""A sparse matrix in compressed rows, times a vector: gathers by index arrays."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (2, 3), 6, 400, False


def csr_product(pointers, columns, values, x):
    y = np.empty(pointers.size - 1)
    for i in range(pointers.size - 1):
        row = columns[pointers[i] : pointers[i + 1]]
        y[i] = values[pointers[i] : pointers[i + 1]] @ x[row]
    return y


def loss(pointers, columns, values, x):
    y = csr_product(pointers, columns, values, x)
    for _ in range(2):
        y = csr_product(pointers, columns, values, y / np.sqrt(1.0 + y @ y))
    return np.sum(y**2)


def example_args(size):
    rng = np.random.default_rng(0)
    dense = rng.random((size, size)) < (0.5 if size < 100 else 0.05)
    pointers = np.concatenate([[0], np.cumsum(dense.sum(axis=1))])
    columns = np.nonzero(dense)[1]
    return pointers, columns, rng.normal(size=columns.size), rng.normal(size=size)
