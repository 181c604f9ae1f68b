"""DSPDC against the oracle at the optimum, for every size of the samples, and its certificate along the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.certify.verify import verify
from fwdsl.oracle import solve_oracle
from tests.dspdc.problems import family_problem, metrics_problem, several_problem, stepped, vector_problem

pytest.importorskip("cvxpy")


def check(problem: Any, tol: float = 1e-8, seconds: float = 120.0, **options: Any) -> Any:
    """A certified gap of tol, P and D within it of the oracle's optimum, bounds below it and points above it on the way."""
    optimum = solve_oracle(problem.instance).value
    # the oracle's own accuracy
    slack = 1e-7 * max(1.0, abs(optimum))
    solution = problem.solve(method="dspdc", tol=tol, time=seconds, threads=1, **options)
    assert solution.status == "optimal", solution.reason
    assert solution.certificate.relative_gap <= tol
    assert solution.objective == pytest.approx(optimum, abs=slack)
    for h in solution.history:
        assert h.dual_bound <= optimum + slack
        assert h.objective >= optimum - slack
    verified = verify(problem.canonical, solution.state.state.best_x, solution.state.state.ys)
    assert verified.infeasibility <= 1e-9
    assert optimum - slack <= verified.primal
    assert verified.dual <= optimum + slack
    return solution


SAMPLES = [(1, 1), (1, 5), (12, 1), (3, 2), (12, 5)]


@pytest.mark.parametrize(("m", "q"), SAMPLES)
@pytest.mark.parametrize("loss", ["smooth_hinge", "squared", "logistic"])
def test_a_product_of_factors(loss: str, m: int, q: int) -> None:
    check(vector_problem(loss, "dense", "U @ (V @ x)"), m=m, q=q)


@pytest.mark.parametrize(("m", "q"), SAMPLES)
def test_a_matrix(m: int, q: int) -> None:
    check(vector_problem("smooth_hinge", "dense", "A @ x"), m=m, q=q)


@pytest.mark.parametrize("theorem", [1, 2])
def test_the_papers_lambda(theorem: int) -> None:
    check(vector_problem("smooth_hinge", "dense", "U @ (V @ x)"), m=3, q=2, Lambda=1.0, theorem=theorem)


def test_sparse_factors_with_the_samples_worked_out() -> None:
    check(vector_problem("smooth_hinge", "csr", "U @ (V @ x)"))


@pytest.mark.parametrize(
    "more", ["", "subject to x >= 0\n", "subject to x in box(-0.1, 0.2)\n", "subject to x in linf_ball(0.1)\n"]
)
def test_sets_of_coordinates(more: str) -> None:
    rng = np.random.default_rng(2)
    text = f"data A: matrix[n, p], y: signs[n]\nvar x: vector[p]\nminimize mean(smooth_hinge(A @ x, y)) + 0.05 * sum_squares(x)\n{more}"
    values = {"A": rng.standard_normal((15, 4)), "y": np.where(rng.random(15) < 0.5, -1.0, 1.0)}
    check(fw.parse(text).bind(**values), m=2, q=2)


@pytest.mark.parametrize(("m", "q"), [(1, 1), (2, 3), (14, 1), (14, 3)])
def test_matrix_risk(m: int, q: int) -> None:
    check(family_problem(), m=m, q=q)


@pytest.mark.parametrize("loss", ["smooth_hinge", "squared", "logistic"])
def test_variables_of_several_kinds(loss: str) -> None:
    check(several_problem(loss), m=5, q=2)


@pytest.mark.parametrize(("m", "q"), [(2, 1), (4, 2), (20, 1), (20, 4)])
def test_metric_learning(m: int, q: int) -> None:
    solution = check(metrics_problem(), m=m, q=q)
    for name in ("Common", "Own"):
        X = solution.variables[name]
        assert np.linalg.eigvalsh(X).min() >= -1e-12


def test_half_of_the_decompositions_of_spdc() -> None:
    """Sampling a tenth of the metrics takes at most half of the eigendecompositions of updating all of them, which is SPDC."""
    problem = metrics_problem(n=600, T=20)
    own, all_ = (problem.solve(method="dspdc", tol=1e-6, m=60, q=q, threads=1).state.state for q in (2, 21))
    for state in (own, all_):
        assert state.best_value - state.best_bound <= 1e-6 * max(1.0, abs(state.best_value))
    assert own.decompositions + own.checks <= 0.5 * (all_.decompositions + all_.checks)


def test_an_empty_bound_is_never_above_the_optimum_while_lambda_is_raised() -> None:
    problem = vector_problem("smooth_hinge", "dense", "U @ (V @ x)")
    optimum = solve_oracle(problem.instance).value
    run = stepped(problem, 0, m=2, q=2)
    state = run.state
    state.scale *= 1e-5
    for _ in range(400):
        run.step()
        report = run.report()
        assert report.bound <= optimum + 1e-7
        assert state.best_value >= optimum - 1e-7
    # steps so long that the run leaves for infinity: the gap shows it, and Lambda grows until it converges
    assert state.raised >= 2
    assert state.best_value - state.best_bound <= 1e-9
