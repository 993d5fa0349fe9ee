"""The whole table, by its samples: adjoints against differences, tangents against adjoints, dtypes.

A rule without samples fails. Give one sample a row in the rule's own file; nothing is written here.
"""

import pytest
from rules.harness import Case, cases, check_adjoint, check_single_precision, check_tangent

import adjoin.runtime.rules  # noqa: F401  (fills the table)
from adjoin.runtime.rule import TABLE, Rule

try:
    from adjoin.runtime.rules import (  # noqa: F401  (and SciPy's)
        scipy_integrate,
        scipy_interpolate,
        scipy_linalg,
        scipy_signal,
        scipy_special,
    )
except ImportError:
    pass


def is_of_sparse(rule: Rule) -> bool:
    return rule.body is not None and rule.body.__module__.endswith("scipy_sparse")


#: Those of functions and of sparse matrices need a program around them: `test_solvers.py`, `test_sparse.py`.
RULES = list(
    {
        id(rule): rule
        for rule in TABLE.values()
        if rule.wrt and not rule.callbacks and not is_of_sparse(rule)
    }.values()
)
CASES = [case for rule in RULES for case in cases(rule)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_every_rule_has_samples(rule: Rule) -> None:
    assert rule.samples
    tried = {name for case in cases(rule) for name in case.active}
    assert tried == set(rule.wrt), "some differentiable parameter is active in no sample"


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_every_rule_has_a_tangent(rule: Rule) -> None:
    assert rule.kind != "vjp" or rule.jvp_body is not None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_adjoint(case: Case) -> None:
    check_adjoint(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tangent(case: Case) -> None:
    check_tangent(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_single_precision(case: Case) -> None:
    check_single_precision(case)
