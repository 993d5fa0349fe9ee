"""The one table of rules: importing this package fills `adjoin.runtime.rule.TABLE`, family by family.

In: nothing. Out: `TABLE`, and in `methods` the names of array methods. A rule looks like this one; its
neighbours in the same file show the other forms, and `rule.py` states the contract.

    @elementwise(np.sin, samples=[(0.7,), (np.array([0.3, 0.9]),)])
    def sin(g, out, x):
        return g * np.cos(x)

A sample is the operation's arguments; keyword arguments go into a dict at its end: ``(x, {"axis": 0})``.

**Conventions**, where a derivative is a matter of choice. This is the one list of them, and
`tests/rules/test_conventions.py` holds each.

- Of a real loss L, the adjoint of a complex z = x + iy is dL/dx + i dL/dy, so that ``z -= rate * z_bar``
  descends. The adjoint of a real operand is real.
- `abs`, `fabs`, `hypot`, `norm`, `std` and `sign` at 0: the derivative is 0. So it is for complex numbers.
- Ties in `max`, `min`, `maximum`, `minimum`, `fmax`, `fmin`, `ptp`, running extremes, quantiles and medians
  share evenly, whether along an axis or between two operands (also Python's `max` and `min`).
- `clip` at a bound: the clipped value has the whole derivative, the bound none.
- `x ** 0` has the derivative 0 everywhere, `x ** 1` has 1, also at 0. The derivative in the exponent is 0
  where the base is 0, and nan where the base is negative.
- Products (`prod`, `cumprod`, `det`) are right where factors are 0.
- `sqrt`, `arcsin` ... at the end of their domain: inf, as the limit is (where Python's own floats divide by
  zero, they raise instead).
- `logaddexp` where everything is -inf: 0.
- Steps (`floor`, `round`, `heaviside`, `//`, comparisons) have the derivative 0, also at the step. The slope
  of `%` in its first operand is 1.
- Eigenvectors and singular vectors of repeated values have no derivative; they give nan, unless their
  adjoint is 0.
- Of complex eigenvectors and singular vectors the phase is LAPACK's, and so is its derivative; if LAPACK has
  left it free and a loss depends on it, they give nan. So do the columns of a full `u` or complete `q` that
  are arbitrary, and `pinv` and `lstsq` of matrices without full rank, where they jump.
- Where an operation reads one triangle of a matrix (`cholesky`, `eigh`, `solve_triangular`), that triangle
  has the whole adjoint.
- A singular value that is 0 has the derivative 0, in norms too.
- An adjoint that is 0 because an element was not taken (`where`, a mask, a slice, a tie) stays 0 whatever
  the derivative is there: `Rule.safe` says where to evaluate instead. Nor does an infinite adjoint or tangent
  reach what was not taken: ``np.sqrt(np.maximum(x, 0))`` has the derivative 0 where ``x < 0``.
"""

from . import (
    adjoints,
    calling,
    choosing,
    complex,
    constant,
    creation,
    elementwise,
    fft,
    fitting,
    implicit,
    indexing,
    joining,
    linalg,
    methods,
    outer,
    polynomial,
    reductions,
    shaping,
    signal,
    sorting,
    statistics,
)

__all__ = [
    "adjoints",
    "calling",
    "choosing",
    "complex",
    "constant",
    "creation",
    "elementwise",
    "fft",
    "fitting",
    "implicit",
    "indexing",
    "joining",
    "linalg",
    "methods",
    "outer",
    "polynomial",
    "reductions",
    "shaping",
    "signal",
    "sorting",
    "statistics",
]
