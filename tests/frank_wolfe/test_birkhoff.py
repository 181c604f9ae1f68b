"""The Birkhoff polytope, which the canonical form has in two halves: one set for the family, and one bound for the verifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import fwdsl as fw
from fwdsl.backends.frank_wolfe.birkhoff import potentials, rounded
from fwdsl.certify.verify import verify
from fwdsl.oracle import solve_oracle
from tests.frank_wolfe.problems import CORRECTIVE, FAMILY, birkhoff_bound
from tests.runs import resumed, started

PROBLEMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "ridge": {"more": " + 0.3 * sum_squares(X)"},
    "assignment": {"linear": True},
}


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", CORRECTIVE)
def test_corrective_methods_meet_cvxpy(name: str, kind: str) -> None:
    pytest.importorskip("cvxpy")
    problem = birkhoff_bound(**PROBLEMS[kind])
    best = float(solve_oracle(problem.instance).value)
    found = problem.solve(method=name, tol=1e-6, threads=1)
    assert found.status == "optimal" and found.certificate.kind == "exact", found.reason
    assert found.objective == pytest.approx(best, rel=2e-6)
    X = found["X"]
    np.testing.assert_allclose([X.sum(axis=0), X.sum(axis=1)], 1.0, atol=1e-13)
    assert X.min() >= 0.0


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", FAMILY)
def test_the_verifier_finds_the_methods_bound(name: str, kind: str) -> None:
    problem = birkhoff_bound(**PROBLEMS[kind])
    best = problem.solve(method="pdhg", tol=1e-9, threads=1).objective
    run = started(problem, name)
    s = run.state
    for _ in range(20):
        x, ys = run.candidate()
        verified = verify(problem.canonical, x, ys)
        report = run.report()
        slack = 1e-8 * abs(best)
        assert verified.dual <= best + slack and report.bound <= best + slack
        # the best y is not always that of x, at which the ridge is taken to be linear
        if kind != "ridge":
            assert verified.dual == pytest.approx(report.bound, abs=1e-9 * abs(best))
        assert verified.primal == pytest.approx(s.best_value, rel=1e-12) and verified.infeasibility <= 1e-13
        assert s.best_value <= report.objective
        run.step()
    assert s.value - best <= 0.05 * abs(best)


@pytest.mark.parametrize("name", FAMILY)
def test_work_is_counted_and_runs_are_resumed(name: str, tmp_path: Path) -> None:
    problem = birkhoff_bound()
    run = started(problem, name)
    s, kernels = run.state, run.problem
    before = kernels.passes
    for _ in range(5):
        run.step()
    assert kernels.passes >= before + 5
    again = resumed(run, tmp_path, {}, threads=2)
    for _ in range(5):
        run.step()
        again.step()
        np.testing.assert_array_equal(s.x, again.state.x)


def test_a_start_is_rounded_into_the_polytope() -> None:
    rng = np.random.default_rng(0)
    for X in (
        np.zeros((4, 4)),
        rng.standard_normal((4, 4)),
        np.eye(4),
        3.0 * rng.random((4, 4)),
        np.full((4, 4), 0.25),
    ):
        Y = rounded(X)
        np.testing.assert_allclose([Y.sum(axis=0), Y.sum(axis=1)], 1.0, atol=1e-14)
        assert Y.min() >= 0.0
    np.testing.assert_array_equal(rounded(np.eye(4)), np.eye(4))


def test_potentials_prove_the_cheapest_assignment() -> None:
    rng = np.random.default_rng(1)
    for d in (1, 2, 7, 30):
        for C in (rng.standard_normal((d, d)), np.round(rng.standard_normal((d, d))), np.zeros((d, d))):
            v = potentials(C)
            u = (C - v).min(axis=1)
            rows, columns = linear_sum_assignment(C)
            assert float(u.sum() + v.sum()) == pytest.approx(float(C[rows, columns].sum()), abs=1e-12 * d)


def test_columns_of_their_own_are_refused() -> None:
    text = "data C: matrix[d, d]\nvar X: matrix[d, d] in rows(simplex(1))\nminimize sum(squared(X, C))\nsubject to X in columns(simplex(1))\n"
    problem = fw.parse(text).bind(C=np.eye(3))
    with pytest.raises(fw.PlanError, match="not smooth"):
        problem.solve(method="blended_pairwise")


@pytest.mark.parametrize("name", FAMILY)
def test_blocks_of_a_family_are_refused(name: str) -> None:
    text = "data S: matrix[3, 3]\nvar F: family[2] of matrix[3, 3] in birkhoff\nminimize sum_squares(F[0] - S) + 0.5 * sum_squares(F)\n"
    with pytest.raises(fw.PlanError, match="does not apply"):
        fw.parse(text).bind(S=np.eye(3)).solve(method=name)
