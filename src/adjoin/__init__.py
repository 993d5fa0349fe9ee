"""adjoin: gradients of the NumPy code that you already have, written out as NumPy code.

    >>> import numpy as np
    >>> from adjoin import grad
    >>> def loss(w):
    ...     return np.sum(w * w)
    >>> grad(loss)(np.array([1.0, 2.0]))
    array([2., 4.])

Only names live here. Each is imported when it is first used, so that `import adjoin` stays light, and a
gradient that was written before runs without the machinery that writes one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .runtime import rule as rule
    from .runtime.autograd import backward as backward
    from .runtime.checkpoints import checkpoint as checkpoint
    from .runtime.checkpoints import checkpoint_report as checkpoint_report
    from .runtime.checkpoints import checkpointed as checkpointed
    from .runtime.hooks import adjoint_hook as adjoint_hook
    from .runtime.modes import no_grad as no_grad
    from .runtime.rule import elementwise as elementwise
    from .runtime.rule import linear as linear
    from .runtime.rule import multilinear as multilinear
    from .runtime.rule import nondifferentiable as nondifferentiable
    from .runtime.support import stop_gradient as stop_gradient
    from .runtime.tensors import Tensor as Tensor
    from .runtime.tensors import tensor as tensor
    from .transformer.api import grad as grad
    from .transformer.api import value_and_grad as value_and_grad
    from .transformer.api import vjp as vjp
    from .transformer.check import check as check
    from .transformer.errors import AdjoinError as AdjoinError
    from .transformer.forward import hvp as hvp
    from .transformer.forward import jvp as jvp
    from .transformer.forward import linearize as linearize
    from .transformer.jacobians import elementwise_grad as elementwise_grad
    from .transformer.jacobians import hessian as hessian
    from .transformer.jacobians import jacfwd as jacfwd
    from .transformer.jacobians import jacobian as jacobian
    from .transformer.jacobians import jacrev as jacrev

#: Where each public name lives. `rule` is the module of the rule decorators: `rule.vjp` is the general one,
#: and `vjp` below is the function that pulls a seed back.
_HOME = {
    "AdjoinError": "transformer.errors",
    "Tensor": "runtime.tensors",
    "adjoint_hook": "runtime.hooks",
    "backward": "runtime.autograd",
    "check": "transformer.check",
    "checkpoint": "runtime.checkpoints",
    "checkpoint_report": "runtime.checkpoints",
    "checkpointed": "runtime.checkpoints",
    "elementwise": "runtime.rule",
    "elementwise_grad": "transformer.jacobians",
    "grad": "transformer.api",
    "hessian": "transformer.jacobians",
    "hvp": "transformer.forward",
    "jacfwd": "transformer.jacobians",
    "jacobian": "transformer.jacobians",
    "jacrev": "transformer.jacobians",
    "jvp": "transformer.forward",
    "linear": "runtime.rule",
    "linearize": "transformer.forward",
    "multilinear": "runtime.rule",
    "no_grad": "runtime.modes",
    "nondifferentiable": "runtime.rule",
    "rule": "runtime",
    "stop_gradient": "runtime.support",
    "tensor": "runtime.tensors",
    "value_and_grad": "transformer.api",
    "vjp": "transformer.api",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{home}", __name__)
    value = importlib.import_module(f".{home}.{name}", __name__) if name == "rule" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
