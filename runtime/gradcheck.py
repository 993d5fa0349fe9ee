"""Gradients checked against central differences.

In: a function of tensors and inputs. Out: True, or an error that shows both Jacobians.

    >>> from adjoin.runtime import tensor
    >>> gradcheck(lambda x: (x * x).sum(), (tensor([1.0, 2.0], requires_grad=True),))
    True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .base import TensorBase
from .device import to_host
from .errors import GraphError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(GraphError):
    """The two Jacobians differ."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Whether the gradients of `func` agree with central differences.

    Args:
        func: from tensors to a tensor or a tuple of them.
        inputs: a tensor or a tuple; those that require grad are checked, and should be float64.
        eps: the step.
        atol, rtol: of ``numpy.allclose``.
        raise_exception: False: return False instead of raising.

    Raises:
        GradcheckError: they differ; the message has both.
    """
    variables = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    checked = [i for i, v in enumerate(variables) if isinstance(v, TensorBase) and v.requires_grad]  # type: ignore[attr-defined]
    if not checked:
        raise GraphError("gradcheck needs an input that requires grad")
    for i in checked:
        if variables[i].dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
            warnings.warn(
                f"input {i} is of {variables[i].dtype}: differences need double precision",
                UserWarning,
                stacklevel=2,
            )
    try:
        _compare(func, variables, checked, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """`gradcheck` of the gradient of `func`, for derivatives of second order.

    Args:
        grad_outputs: gradients of the results; by default drawn at random.
    """
    from .autograd import grad

    variables = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    outputs = _results(func(*variables))
    if grad_outputs is None:
        seeds = [_random_like(out) for out in outputs]
    else:
        seeds = [grad_outputs] if isinstance(grad_outputs, TensorBase) else list(grad_outputs)
    count = len(variables)

    def first(*values: Any) -> Any:
        results = _results(func(*values[:count]))
        wanted = [v for v in values[:count] if isinstance(v, TensorBase) and v.requires_grad]  # type: ignore[attr-defined]
        pairs = [(r, g) for r, g in zip(results, values[count:], strict=True) if r.requires_grad]
        gradients = grad(
            [r for r, _ in pairs], wanted, [g for _, g in pairs], create_graph=True, allow_unused=True
        )
        return tuple(g for g in gradients if g is not None)

    return gradcheck(
        first, (*variables, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception
    )


def _random_like(out: Any) -> Any:
    from .tensors import tensor

    rng = np.random.default_rng(0)
    values = rng.uniform(0.5, 1.5, out.shape)
    if out.dtype.kind == "c":
        values = values + 1j * rng.uniform(0.5, 1.5, out.shape)
    return tensor(values.astype(out.dtype), requires_grad=True)


def _results(value: Any) -> list[Any]:
    values = [value] if isinstance(value, TensorBase) else list(value)
    return [v for v in values if isinstance(v, TensorBase) and v.dtype.kind in "fc"]  # type: ignore[attr-defined]


def _compare(
    func: Callable[..., Any],
    variables: Sequence[Any],
    checked: Sequence[int],
    eps: float,
    atol: float,
    rtol: float,
) -> None:
    from .autograd import grad

    outputs = _results(func(*variables))
    for k, out in enumerate(outputs):
        for i in checked:
            numerical = _differences(func, variables, i, k, eps)
            analytical = np.zeros(numerical.shape)
            for row, seed in enumerate(_units(out)):
                (g,) = (
                    (None,)
                    if not out.requires_grad
                    else grad(out, variables[i], seed, retain_graph=True, allow_unused=True)
                )
                if g is not None:
                    if g.shape != variables[i].shape or g.dtype != variables[i].dtype:
                        raise GradcheckError(
                            f"the gradient of input {i} has shape {g.shape} and dtype {g.dtype}, expected "
                            f"{variables[i].shape} and {variables[i].dtype}"
                        )
                    analytical[row] = _as_real(to_host(g._array))
            if not np.allclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=True):
                raise GradcheckError(
                    f"the Jacobian of output {k} in input {i} is not that of central differences\n"
                    f"numerical:\n{numerical}\nanalytical:\n{analytical}"
                )


def _as_real(array: Any) -> Any:
    """The real numbers that an array consists of, in one dimension."""
    flat = np.ravel(array)
    return np.stack([flat.real, flat.imag], -1).ravel() if np.iscomplexobj(flat) else flat


def _units(out: Any) -> list[Any]:
    """A seed for each real number that `out` consists of."""
    from .tensors import leaf

    seeds = []
    for position in range(out.size):
        for unit in (1.0, 1.0j) if out.dtype.kind == "c" else (1.0,):
            array = np.zeros_like(out._array, order="C")
            array = np.array(array) if isinstance(array, np.generic) else array
            array.reshape(-1)[position] = unit
            seeds.append(leaf(array))
    return seeds


def _differences(func: Callable[..., Any], variables: Sequence[Any], i: int, k: int, eps: float) -> Any:
    """The Jacobian of output `k` in input `i`: a row for each real number of the output."""
    from .tensors import leaf

    base = np.array(to_host(variables[i]._array))
    columns = []
    for position in range(base.size):
        for unit in (1.0, 1.0j) if base.dtype.kind == "c" else (1.0,):
            ends = []
            for sign in (1, -1):
                moved = base.copy(order="C")
                moved.reshape(-1)[position] += sign * eps * unit
                values = list(variables)
                values[i] = leaf(moved, True)
                ends.append(_as_real(to_host(_results(func(*values))[k]._array)).astype(float))
            columns.append((ends[0] - ends[1]) / (2 * eps))
    count = _as_real(to_host(_results(func(*variables))[k]._array)).size
    return np.stack(columns, 1) if columns else np.zeros((count, 0))
