"""Array methods and attributes: each is the function that `METHODS` or `ATTRIBUTES` says it is."""

import numpy as np
import pytest

from adjoin.runtime.rule import lookup
from adjoin.runtime.rules.methods import ATTRIBUTES, CONSTANT, IN_PLACE, METHODS

X = np.array([[0.3, 0.9, -0.6], [1.2, -0.1, 2.5]])
ARGUMENTS = {
    "argpartition": [(1,)],
    "astype": [(np.float32,)],
    "choose": [([1.0, 2.0],)],
    "clip": [(0.0, 1.0), (None, 1.0)],
    "compress": [([True, False],), ([True, False, True], 1)],
    "dot": [(X.T,)],
    "dump": [],
    "dumps": [],
    "item": [(4,), (1, 2)],
    "repeat": [(2,), (2, 1)],
    "reshape": [(3, 2), ((3, 2),), (-1,)],
    "round": [(1,)],
    "searchsorted": [(0.5,)],
    "swapaxes": [(0, 1)],
    "take": [([0, 2],), ([0, 2], 1)],
    "tofile": [],
    "transpose": [(), (1, 0), ((1, 0),)],
}
#: Methods about memory, not values: they are refused.
REFUSED = {"getfield", "to_device", "view"}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_its_function(name: str) -> None:
    method = METHODS[name]
    assert lookup(method.function) is not None
    x = X
    if name == "choose":
        x = np.array([0, 1, 1])
    elif name == "searchsorted":
        x = np.array([0.1, 0.7])
    elif name in ("__float__", "__complex__"):
        x = np.array(0.7)
    elif name == "is_integer":
        x = np.float64(0.7)
    for args in ARGUMENTS.get(name, [(), (0,)] if "cum" in name or name in ("sum", "mean", "max") else [()]):
        expected, found = getattr(x, name)(*args), method.call(x, *args)
        np.testing.assert_equal(found, expected)
        assert type(found) is type(expected)


@pytest.mark.parametrize("name", [n for n in ATTRIBUTES if hasattr(X, n)])
def test_an_attribute_is_its_function(name: str) -> None:
    function = ATTRIBUTES[name]
    if function is CONSTANT:
        assert not isinstance(getattr(X, name), np.ndarray)
    else:
        rule = lookup(function)
        assert rule is not None and rule.kind != "nondifferentiable"
        np.testing.assert_equal(np.asarray(function(X)), np.asarray(getattr(X, name)))


def test_every_public_method_is_known() -> None:
    methods = {n for n in dir(np.ndarray) if not n.startswith("_") and callable(getattr(np.ndarray, n))}
    assert methods == (set(METHODS) & methods) | (IN_PLACE & methods) | REFUSED
