"""What the eager runtime raises.

In: a message. Out: exceptions that are caught both by who expects NumPy's types (`ValueError`, `TypeError`,
`IndexError`) and by who expects one type for everything that is wrong with a graph (`RuntimeError`).

    >>> issubclass(ShapeError, ValueError) and issubclass(ShapeError, RuntimeError)
    True
"""

from __future__ import annotations

__all__ = ["DeviceError", "DtypeError", "GraphError", "OutOfRange", "ShapeError"]


class GraphError(RuntimeError):
    """Something about the recorded graph does not allow what was asked."""


class ShapeError(GraphError, ValueError):
    """Shapes that do not go together."""


class DtypeError(GraphError, TypeError):
    """A dtype, or a type, that cannot be used here."""


class OutOfRange(GraphError, IndexError):
    """An index beyond the end of a dimension."""


class DeviceError(GraphError):
    """Arrays of two devices in one operation, or a device that is not there."""
