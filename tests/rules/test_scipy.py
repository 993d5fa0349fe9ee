"""The rules for SciPy, by their samples, as `test_table.py` does it for NumPy's."""

import pytest
from rules.harness import Case, cases, check_adjoint, check_single_precision, check_tangent

pytest.importorskip("scipy")

from adjoin.runtime.rule import TABLE, Rule
from adjoin.runtime.rules import scipy_linalg, scipy_signal, scipy_special

MODULES = {module.__name__ for module in (scipy_linalg, scipy_signal, scipy_special)}
RULES = list(
    {id(r): r for r in TABLE.values() if r.body is not None and r.body.__module__ in MODULES}.values()
)
CASES = [case for rule in RULES for case in cases(rule)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_every_rule_has_samples_and_a_tangent(rule: Rule) -> None:
    tried = {name for case in cases(rule) for name in case.active}
    assert tried == set(rule.wrt), "some differentiable parameter is active in no sample"
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
