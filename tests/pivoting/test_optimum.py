"""Block pivoting at the optimum, against cvxpy: least squares in every interval and bounded sum, in every layout, on columns that hardly differ."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, laid_out, matrix

pytest.importorskip("cvxpy")

METHOD = "pivoting"
INTERVALS = ("nonnegative", "box(-0.2, 0.4)", "box(-inf, 0.1)", "box(0.05, inf)", "linf_ball(0.3)", "box(lo, hi)")
SUMS = ("simplex(1)", "simplex(4)", "solid_simplex(0.5)", "solid_simplex(60)", "l1_ball(0.7)", "l1_ball(90)")
HEAD = "data A: matrix[n, d], y: vector[n]{named}\nvar x: vector[d] in {set}{more}\nminimize {objective}\n"


def problem(
    set_: str,
    layout: str = "dense",
    objective: str = "mean(squared(A @ x, y))",
    more: str = "",
    spread: float = 0.0,
    seed: int = 0,
) -> fw.Problem:
    rng = np.random.default_rng((seed, sum(map(ord, set_ + layout))))
    n, d = 40, 14
    A = matrix(rng, n, d, 0.7)
    if spread:
        # columns that share most of what they are
        A = spread * A[:, :1] + A
    y = A @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n)
    given = {"lo": -rng.random(d), "hi": rng.random(d)} if "lo" in set_ else {}
    text = HEAD.format(
        named="".join(f", {name}: vector[d]" for name in given), set=set_, more=more, objective=objective
    )
    return fw.parse(text).bind(A=laid_out(A, layout), y=y, **given)


def check(bound: fw.Problem, tol: float = 1e-9) -> fw.Solution:
    s = bound.solve(method=METHOD, tol=tol)
    assert s.status == "optimal", s.reason
    best = solve_oracle(bound.instance)
    assert s.objective == pytest.approx(best.value, rel=1e-6, abs=10.0 * best.residual)
    return s


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("set_", [*INTERVALS, *SUMS])
def test_every_set_in_every_layout(set_: str, layout: str) -> None:
    s = check(problem(set_, layout))
    assert s.iterations <= 2


@pytest.mark.parametrize(
    "objective", ["sum(squared(A @ x, y)) + 0.7 * sum_squares(x) + 0.3 * sum(x)", "2 * sum_squares(y - 3 * (A @ x))"]
)
@pytest.mark.parametrize("set_", [*INTERVALS, *SUMS])
def test_ridges_linear_parts_and_factors(set_: str, objective: str) -> None:
    check(problem(set_, objective=objective))


@pytest.mark.parametrize("set_", INTERVALS)
def test_an_intercept_and_a_second_loss(set_: str) -> None:
    objective = "mean(squared(A @ x + b, y)) + 0.1 * sum_squares(x[1:] - x[:-1])"
    check(problem(set_, objective=objective, more="\nvar b: real"))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spread", [3.0, 30.0])
@pytest.mark.parametrize("set_", ["nonnegative", "box(-0.2, 0.4)", "simplex(1)", "solid_simplex(0.5)", "l1_ball(0.7)"])
def test_columns_that_hardly_differ(set_: str, spread: float, seed: int) -> None:
    check(problem(set_, spread=spread, seed=seed))


@pytest.mark.parametrize("set_", ["nonnegative", "simplex(1)", "l1_ball(2)"])
def test_a_perfect_fit_and_one_at_zero(set_: str) -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((30, 6))
    for y in (A @ np.full(6, 1.0 / 6.0), np.zeros(30)):
        s = (
            fw.parse(
                f"data A: matrix[n, d], y: vector[n]\nvar x: vector[d] in {set_}\nminimize sum_squares(A @ x - y)\n"
            )
            .bind(A=A, y=y)
            .solve(method=METHOD, tol=1e-8)
        )
        assert s.status == "optimal" and s.objective <= 1e-8 + (float(y @ y) == 0.0) * (set_ == "simplex(1)") * 10.0
