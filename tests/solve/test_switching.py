"""The next best method goes on from the point where the planner's method gives up."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.interior.run import InteriorRun

TEXT = """data A: matrix[m, n], b: vector[m], q: vector[n]
var x: vector[n] in nonnegative
minimize dot(q, x)
subject to A @ x >= b
"""


@pytest.fixture
def problem() -> fw.Problem:
    rng = np.random.default_rng(4)
    A = rng.standard_normal((12, 5))
    return fw.parse(TEXT).bind(A=A, b=A @ rng.random(5) - rng.random(12), q=A.T @ rng.random(12))


@pytest.fixture
def gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interior-point method sees no way on from the fourth step."""
    monkeypatch.setattr("fwdsl.backends.interior.run.ANEW", 0)
    monkeypatch.setattr(InteriorRun, "_ended", lambda run: "no way on" if run.state.iteration >= 4 else "")


@pytest.mark.usefixtures("gives_up")
def test_the_next_best_method_goes_on(problem: fw.Problem) -> None:
    # which one is next is for the planner's costs to say
    found = problem.solve(method=("interior", "pdhg"))
    assert found.status == "optimal"
    assert found.method == "pdhg"
    assert found.plan.why == "`interior` gave up: no way on"
    assert next(p.method for p in found.history) == "interior"
    assert {p.method for p in found.history} == {"interior", "pdhg"}
    iterations, elapsed = [p.iteration for p in found.history], [p.elapsed for p in found.history]
    assert iterations == sorted(iterations) and elapsed == sorted(elapsed)
    assert found.iterations == iterations[-1] > 4
    assert found.objective == pytest.approx(problem.solve(method="pdhg").objective, rel=1e-5)


@pytest.mark.usefixtures("gives_up")
def test_a_method_that_was_named_stands_alone(problem: fw.Problem) -> None:
    found = problem.solve(method="interior")
    assert found.status == "tolerance_not_reached"
    assert found.reason == "no way on"
    assert found.iterations == 4


@pytest.mark.usefixtures("gives_up")
def test_the_time_is_that_of_all_methods(problem: fw.Problem) -> None:
    found = problem.solve(time=1e-4)
    assert found.status == "tolerance_not_reached"
    assert found.reason == "the limit of 0.0001 s"
