"""Operations whose results carry no derivative: integers, booleans, shapes, steps, and what is freshly made.

In: any arguments. Out: something that is locally constant in them, so no adjoint passes through. This is a
statement about each operation; what merely has no rule yet is not listed, and is refused when it is met.

    np.floor(x), np.argmax(x), x > 0, np.zeros(3), len(x)
"""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from ..rule import nondifferentiable
from ..support import own, stop_gradient
from ..support_memory import repeated

# Comparisons, logic, and questions about values.
nondifferentiable(
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.logical_and,
    np.logical_or,
    np.logical_not,
    np.logical_xor,
    np.logical_and.reduce,
    np.logical_or.reduce,
    np.all,
    np.any,
    np.allclose,
    np.array_equal,
    np.array_equiv,
    np.isclose,
    np.isfinite,
    np.isinf,
    np.isnan,
    np.isnat,
    np.isneginf,
    np.isposinf,
    np.iscomplex,
    np.isreal,
    np.iscomplexobj,
    np.isrealobj,
    np.isscalar,
    np.isin,
    np.signbit,
    np.count_nonzero,
    np.linalg.matrix_rank,
    np.nonzero,
    np.flatnonzero,
    np.argwhere,
    math.isclose,
    math.isfinite,
    math.isinf,
    math.isnan,
    cmath.isclose,
    cmath.isfinite,
    cmath.isinf,
    cmath.isnan,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.not_,
    operator.truth,
    operator.is_,
    operator.is_not,
    operator.contains,
    operator.countOf,
    operator.indexOf,
    operator.length_hint,
    operator.index,
    all,
    any,
    bool,
    float.is_integer,
)

# Positions: which element, not what it is.
nondifferentiable(
    np.argmax,
    np.argmin,
    np.nanargmax,
    np.nanargmin,
    np.argsort,
    np.argpartition,
    np.lexsort,
    np.searchsorted,
    np.digitize,
    np.unique_counts,
    np.unique_inverse,
    np.unravel_index,
    np.ravel_multi_index,
    np.diag_indices,
    np.diag_indices_from,
    np.tril_indices,
    np.tril_indices_from,
    np.triu_indices,
    np.triu_indices_from,
    np.mask_indices,
    np.indices,
    np.histogram_bin_edges,
)

# Steps: a derivative of 0 wherever there is one.
nondifferentiable(
    np.floor,
    np.ceil,
    np.trunc,
    np.rint,
    np.fix,
    np.round,
    np.around,
    np.floor_divide,
    np.spacing,
    math.floor,
    math.ceil,
    math.trunc,
    operator.floordiv,
    round,
    int,
)

# Integers and bits.
nondifferentiable(
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    np.invert,
    np.left_shift,
    np.right_shift,
    np.bitwise_count,
    np.gcd,
    np.lcm,
    np.packbits,
    np.unpackbits,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.bool_,
    math.comb,
    math.factorial,
    math.gcd,
    math.isqrt,
    math.lcm,
    math.perm,
    math.ulp,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.inv,
    operator.invert,
    operator.lshift,
    operator.rshift,
)

# Shapes, dtypes and memory.
nondifferentiable(
    np.shape,
    np.ndim,
    np.size,
    np.broadcast_shapes,
    np.can_cast,
    np.common_type,
    np.einsum_path,
    np.finfo,
    np.iinfo,
    np.isdtype,
    np.isfortran,
    np.issubdtype,
    np.iterable,
    np.may_share_memory,
    np.min_scalar_type,
    np.mintypecode,
    np.promote_types,
    np.result_type,
    np.shares_memory,
    np.typename,
    np.dtype,
    len,
    range,
    isinstance,
    issubclass,
    type,
    callable,
    hasattr,
    id,
    hash,
)

# Arrays made from nothing but a shape; windows of a given length; lists of constants.
nondifferentiable(
    repeated,
    np.zeros,
    np.zeros_like,
    np.ones,
    np.ones_like,
    np.empty,
    np.empty_like,
    np.eye,
    np.identity,
    np.tri,
    np.bartlett,
    np.blackman,
    np.hamming,
    np.hanning,
)

# Text.
nondifferentiable(
    np.array2string,
    np.array_repr,
    np.array_str,
    np.base_repr,
    np.binary_repr,
    np.format_float_positional,
    np.format_float_scientific,
    np.set_printoptions,
    np.get_printoptions,
    np.printoptions,
    np.errstate,
    np.seterr,
    np.geterr,
    np.save,
    np.savetxt,
    np.savez,
    np.savez_compressed,
    print,
    repr,
    str,
    format,
    ascii,
)

# What the user says is constant.
nondifferentiable(own, stop_gradient)
