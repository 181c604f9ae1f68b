"""polytope(V), which the canonical form writes by weights of its rows: the family runs on the weights, and the verifier sees x, w and y."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.certify.verify import verify
from fwdsl.oracle import solve_oracle
from tests.frank_wolfe.problems import CORRECTIVE, FAMILY, N, P, data, hull_bound
from tests.runs import resumed, started

HULLS = ("vector", "ridge", "rows", "columns", "family", "two")


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("name", CORRECTIVE)
def test_corrective_methods_meet_cvxpy(name: str, kind: str) -> None:
    pytest.importorskip("cvxpy")
    problem = hull_bound(kind)
    best = float(solve_oracle(problem.instance).value)
    for lazy in (False, True):
        found = problem.solve(method=name, tol=1e-6, threads=1, lazy=lazy)
        assert found.status == "optimal" and found.certificate.kind == "exact", found.reason
        assert found.objective == pytest.approx(best, rel=2e-6)
        assert found.dual_bound <= best + 1e-7 * abs(best)


@pytest.mark.parametrize("kind", HULLS)
@pytest.mark.parametrize("name", FAMILY)
def test_the_verifier_finds_the_methods_point_and_bound(name: str, kind: str) -> None:
    problem = hull_bound(kind)
    run = started(problem, name)
    s = run.state
    for _ in range(20):
        run.step()
        x, ys = run.candidate()
        verified = verify(problem.canonical, x, ys)
        assert verified.primal == pytest.approx(s.best_value, rel=1e-12) and verified.infeasibility <= 1e-13
        assert verified.dual == pytest.approx(s.best_bound, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", FAMILY)
def test_a_row_again_changes_nothing_and_one_row_is_the_answer(name: str) -> None:
    values = data("logistic")
    del values["c"]
    V = np.random.default_rng(1).standard_normal((4, P))
    text = "data A: matrix[n, p], y: signs[n], V: matrix[m, p]\nvar x: vector[p] in polytope(V)\nminimize mean(logistic(A @ x, y))\n"
    once = fw.parse(text).bind(V=V, **values).solve(method="blended_pairwise", tol=1e-8, threads=1)
    again = fw.parse(text).bind(V=V[[0, 0, 1, 2, 3, 3]], **values)
    found = again.solve(method=name, tol=1e-2, threads=1)
    assert found.status == "optimal" and found.dual_bound <= once.objective <= found.objective + 1e-8
    alone = fw.parse(text).bind(V=V[:1], **values).solve(method=name, threads=1)
    assert alone.status == "optimal" and alone.iterations <= 1
    np.testing.assert_allclose(alone["x"], V[0], rtol=1e-15)


@pytest.mark.parametrize("name", FAMILY)
def test_runs_are_resumed_and_solutions_are_starts(name: str, tmp_path: Path) -> None:
    problem = hull_bound("ridge")
    run = started(problem, name)
    s = run.state
    for _ in range(5):
        run.step()
    again = resumed(run, tmp_path, {}, threads=2)
    for _ in range(5):
        run.step()
        again.step()
        np.testing.assert_array_equal(s.x, again.state.x)
    first = problem.solve(method="blended_pairwise", tol=1e-9, threads=1)
    assert problem.solve(method=name, tol=1e-6, threads=1, start=first).iterations == 0


REFUSED = {
    "vector[p] in box(-1, 1)\nminimize mean(squared(A @ x, y))\nsubject to x in polytope(V)": "`x in polytope(V)` is not smooth",
    "vector[p] in polytope(V)\nminimize mean(squared(A @ x, y)) + norm1(x)": "is not smooth",
    "vector[p] in polytope(V)\nminimize mean(squared(A @ x, y))\nsubject to x in polytope(V)": "is not smooth",
    "vector[p]\nminimize mean(squared(A @ x, y))\nsubject to 2 * x in polytope(V)": "`2 * x in polytope(V)` is not smooth",
}


@pytest.mark.parametrize("rest", REFUSED)
@pytest.mark.parametrize("name", FAMILY)
def test_a_hull_beside_something_else_is_refused(name: str, rest: str) -> None:
    rng = np.random.default_rng(2)
    given: dict[str, Any] = {
        "A": rng.standard_normal((N, P)),
        "y": rng.standard_normal(N),
        "V": rng.standard_normal((4, P)),
    }
    problem = fw.parse(f"data A: matrix[n, p], y: vector[n], V: matrix[m, p]\nvar x: {rest}\n").bind(**given)
    with pytest.raises(fw.PlanError) as told:
        problem.solve(method=name)
    assert "FW5003" in str(told.value) and REFUSED[rest] in str(told.value)
