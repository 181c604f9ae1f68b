"""Coordinate descent at the optimum, against cvxpy: every smooth loss with every sum over entries and in every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from tests.problems import LAYOUTS, SIGNED, SMOOTH, laid_out, matrix, random_problem
from tests.runs import started
from tests.solve.test_conformance import check, hash_of

pytest.importorskip("cvxpy")

METHOD = "coordinate_descent"
PENALTIES = ("", "norm1", "sum_squares", "elastic", "affine")
INTERVALS = ("", "linf_ball(0.6)", "box(-0.4, 0.9)", "box(-inf, 0.5)", "box(0.1, inf)", "nonnegative")
INNER: tuple[dict[str, Any], ...] = ({}, {"inner": "residual"}, {"inner": "gram"})


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_loss_with_every_penalty(loss: str, penalty: str, inner: dict[str, Any]) -> None:
    check(random_problem(hash_of(loss, penalty), loss, penalty, "", "dense"), METHOD, **inner)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_penalty_on_every_interval(penalty: str, interval: str, inner: dict[str, Any]) -> None:
    check(
        random_problem(hash_of(penalty, interval), "squared", penalty, interval, "csr", intercept=True), METHOD, **inner
    )


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_every_layout(loss: str, layout: str, inner: dict[str, Any]) -> None:
    problem = random_problem(hash_of(loss, layout), loss, "elastic", "", layout, intercept=True)
    check(problem, METHOD, **inner)


@pytest.mark.parametrize("seed", range(12))
def test_no_bound_lies_above_the_optimum(seed: int) -> None:
    """Bounds that scaling makes feasible hold as they are, at every step."""
    problem = random_problem(seed, SMOOTH[seed % len(SMOOTH)], ("norm1", "elastic")[seed % 2], "", intercept=False)
    bound = fw.parse(problem.text).bind(**problem.data)
    best = solve_oracle(bound.instance).value
    for inner in INNER:
        run = started(bound, METHOD, **inner)
        for _ in range(5):
            report = run.report()
            assert report.bound <= best + 1e-6 * max(1.0, abs(best)) and report.objective >= best - 1e-6 * max(
                1.0, abs(best)
            )
            run.step()


def data(n: int = 40, d: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    return A, A[:, :4] @ np.array([2.0, -1.0, 0.5, 1.0]) + 0.3 * rng.standard_normal(n)


HEAD = "data A: matrix[n, d], b: vector[n]\nparam l: positive\nvar x: vector[d]\nminimize "


@pytest.mark.parametrize(
    "objective",
    [
        "1 / (2 * n) * sum_squares(A @ x - b) + l * norm1(x)",
        "0.5 * mean(squared(A @ x, b)) + l * norm1(x)",
        "mean(0.5 * squared(A @ x, b)) + l * norm1(x)",
        "0.5 * mean(squared(b - A @ x, 0)) + l * norm1(x)",
        "0.125 * mean(squared(2 * A @ x, 2 * b)) + l * norm1(x)",
    ],
)
def test_equivalent_texts_take_the_same_steps(objective: str) -> None:
    A, b = data()
    first = fw.parse(HEAD + "1 / (2 * n) * sum_squares(A @ x - b) + l * norm1(x)\n").bind(A=A, b=b, l=0.1)
    same = fw.parse(HEAD + objective + "\n").bind(A=A, b=b, l=0.1)
    assert same.plan().method == METHOD
    mine, other = same.solve(tol=1e-9), first.solve(tol=1e-9)
    assert mine.status == "optimal" and mine.iterations == other.iterations
    np.testing.assert_allclose(mine["x"], other["x"], rtol=0, atol=1e-9)


def test_columns_that_are_zero_or_repeated() -> None:
    A, b = data()
    A[:, 7], A[:, 8:12] = 0.0, A[:, :4]
    for inner in INNER:
        for text in ("l * norm1(x)", "0 * norm1(x) + l * sum_squares(x)"):
            s = (
                fw.parse(HEAD + f"0.5 * mean(squared(A @ x, b)) + {text}\n")
                .bind(A=A, b=b, l=0.05)
                .solve(method=METHOD, tol=1e-9, **inner)
            )
            assert s.status == "optimal" and s["x"][7] == 0.0


def test_two_variables_and_an_intercept() -> None:
    """A second variable with a penalty of its own, and an intercept, are columns beside those of the data."""
    rng = np.random.default_rng(3)
    A, b = data()
    B = rng.standard_normal((40, 3))
    text = "data A: matrix[n, d], B: matrix[n, k], b: vector[n]\nvar x: vector[d], u: vector[k] in box(-0.1, 0.3), c: real\n"
    text += "minimize mean(huber(A @ x - 2 * (B @ u) + c, b, delta=0.5)) + 0.05 * norm1(x) + 0.1 * sum_squares(u) + 0.2 * sum(u)\n"
    problem = fw.parse(text).bind(A=A, B=B, b=b)
    best = solve_oracle(problem.instance).value
    for inner in INNER:
        s = problem.solve(method=METHOD, tol=1e-8, **inner)
        assert s.status == "optimal" and s.objective == pytest.approx(best, rel=1e-6)


GROUPED = "data A: matrix[n, d], y: {kind}, groups: index[d] of m, v: vector[m] in nonnegative\nvar x: vector[d], c: real\nminimize "


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("ridge", ["", " + 0.03 * sum_squares(x)"])
@pytest.mark.parametrize("layout", ["dense", "fortran", "csr"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_groups(loss: str, layout: str, ridge: str, inner: dict[str, Any]) -> None:
    """Groups of unequal sizes in any order, with weights, beside an intercept."""
    rng = np.random.default_rng(5)
    A = matrix(rng, 40, 24, 0.7)
    groups = rng.permutation(np.repeat(np.arange(8), [1, 2, 3, 4, 5, 4, 3, 2]))
    z = A @ np.where(groups < 3, rng.standard_normal(24), 0.0) + 0.3 * rng.standard_normal(40)
    y = np.where(z > 0, 1.0, -1.0) if loss in SIGNED else z
    text = (
        GROUPED.format(kind="signs[n]" if loss in SIGNED else "vector[n]")
        + f"mean({loss}(A @ x + c, y)) + 0.08 * group_norm(x, groups, v)"
    )
    problem = fw.parse(text + ridge + "\n").bind(A=laid_out(A, layout), y=y, groups=groups, v=rng.uniform(0.5, 1.5, 8))
    best = solve_oracle(problem.instance).value
    s = problem.solve(method=METHOD, tol=1e-8, **inner)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=1e-6)
    assert 0 < np.count_nonzero(s["x"]) < 24
    run = started(problem, METHOD, **inner)
    for _ in range(4):
        # the intercept's equality is left to the verifier
        run.step()
    assert run.state.value <= best * (1.0 + 1e-3)
