"""Quadratic terms of few rows, whose predictions are unknowns of their own."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.interior.sizes import conics_of, size_of
from tests.runs import stepped, without_patterns

PORTFOLIO = (
    "data F: matrix[n, k], d: vector[n], mu: vector[n]\nvar x: vector[n] in simplex(1)\n"
    "minimize sum_squares(F.T @ x) + sum_squares(d * x) - dot(mu, x)\n"
)


def portfolio(n: int, k: int, seed: int = 0, unit: float = 1.0) -> tuple[fw.Problem, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    data = {"F": rng.standard_normal((n, k)), "d": rng.random(n) + 0.1, "mu": rng.standard_normal(n)}
    data = {name: unit * value if name != "mu" else unit**2 * value for name, value in data.items()}
    return fw.parse(PORTFOLIO).bind(**data), data


def test_the_cheaper_way_is_taken() -> None:
    few, many = portfolio(400, 10)[0].canonical, portfolio(60, 50)[0].canonical
    assert conics_of(few) is not few.conics and conics_of(many) is many.conics
    assert size_of(few).rows == size_of(many).rows + 340 + 10


@pytest.mark.parametrize("patterns", [True, False])
@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_answers_are_those_of_cvxpy(unit: float, patterns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not patterns:
        without_patterns(monkeypatch)
    problem, data = portfolio(300, 12, 1, unit)
    assert conics_of(problem.canonical) is not problem.canonical.conics
    found = problem.solve(method="interior", tol=1e-8, threads=1)
    x = cp.Variable(300)
    F, d, mu = data["F"] / unit, data["d"] / unit, data["mu"] / unit**2
    value = cp.sum_squares(F.T @ x) + cp.sum_squares(cp.multiply(d, x)) - mu @ x
    best = cp.Problem(cp.Minimize(value), [cp.sum(x) == 1, x >= 0]).solve(solver="CLARABEL")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(best * unit**2, rel=1e-6)
    assert found.dual_bound == pytest.approx(best * unit**2, rel=1e-6)


@pytest.mark.parametrize("loss", ["squared(F.T @ x, t)", "2 * squared(3 * (F.T @ x) - 1, t)"])
def test_targets_and_constraints_beside(loss: str) -> None:
    rng = np.random.default_rng(2)
    F, t, A = rng.standard_normal((200, 8)), 10.0 * rng.standard_normal(8), rng.standard_normal((5, 200))
    text = (
        "data F: matrix[n, k], t: vector[k], A: matrix[m, n]\nvar x: vector[n]\n"
        f"minimize sum({loss}) + 0.1 * norm1(x)\nsubject to A @ x <= 1, sum(x) == 2\n"
    )
    problem = fw.parse(text).bind(F=F, t=t, A=A)
    assert conics_of(problem.canonical) is not problem.canonical.conics
    found, other = (problem.solve(method=name, tol=1e-7, threads=1) for name in ("interior", "pdhg"))
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=1e-6)


def test_apg_makes_no_step_of_newton_that_costs_far_more_than_all_before() -> None:
    problem, _ = portfolio(1000, 10)
    assert stepped(problem, "apg", 4).report().phase == "accelerated gradient"
    found = problem.solve(method="apg", tol=1e-6, threads=1)
    assert found.status == "optimal"


def test_factors_of_several_periods_are_kept_apart() -> None:
    """The covariances of chained periods fill up, which the systems as they stand are not told to do."""
    rng = np.random.default_rng(0)
    text = (
        "data F: matrix[k, n], mu: matrix[T, n]\nvar W: matrix[T, n]\n"
        "minimize sum_squares(W @ F.T) + sum_squares(W) - sum(mu * W) + 0.1 * norm1(W[1:] - W[:-1])\n"
        "subject to sum(W, axis=1) == 1, W in nonnegative\n"
    )
    problem = fw.parse(text).bind(F=rng.standard_normal((5, 40)), mu=rng.standard_normal((20, 40)))
    assert conics_of(problem.canonical) is not problem.canonical.conics
    found = problem.solve(method="interior")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(problem.solve(method="pdhg").objective, rel=3e-6)
