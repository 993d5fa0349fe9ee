"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import adjoin

MODULES = ["adjoin"] + [
    module.name
    for module in pkgutil.walk_packages(adjoin.__path__, "adjoin.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert results.failed == 0
