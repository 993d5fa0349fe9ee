"""A radix-2 Fourier transform over complex arrays, in place, with views of the two halves of each block."""

import numpy as np

ARGNUMS, SMALL, LARGE, LINEAR = (0,), 8, 1024, True


def bit_reversed(n):
    order = np.zeros(n, int)
    bits = n.bit_length() - 1
    for i in range(n):
        order[i] = int(format(i, f"0{bits}b")[::-1], 2)
    return order


def transform(signal):
    n = signal.size
    z = signal[bit_reversed(n)].astype(complex)
    half = 1
    while half < n:
        twiddle = np.exp(-1j * np.pi * np.arange(half) / half)
        blocks = z.reshape(-1, 2 * half)
        even, odd = blocks[:, :half], blocks[:, half:]
        odd *= twiddle
        odd[...], even[...] = even - odd, even + odd
        half *= 2
    return z


def loss(signal):
    z = transform(signal)
    power = z.real**2 + z.imag**2
    return np.sum(np.log(1.0 + power))


def example_args(size):
    return (np.random.default_rng(0).normal(size=size),)
