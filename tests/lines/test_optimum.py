"""Exact proxes along lines at the optimum, against cvxpy: every smooth loss with every function of differences, and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from tests.lines.programs import LINES, LOSSES, program
from tests.problems import LAYOUTS, RandomProblem
from tests.runs import started
from tests.solve.test_conformance import check

pytest.importorskip("cvxpy")

METHOD = "lines"


@pytest.mark.parametrize("of", ["x", "A @ x"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("line", LINES)
def test_every_loss_with_every_function_of_differences(line: str, loss: str, of: str) -> None:
    check(program(loss, line, of), METHOD)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_every_layout(layout: str, loss: str) -> None:
    check(program(loss, "a matrix", "A @ x", layout), METHOD)


MATRIX = "data Y: matrix[n, k]\nvar X: matrix[n, k]\nminimize 0.5 * sum_squares(X - Y)"
PRODUCT = "data A: matrix[m, n], B: matrix[m, k]\nvar X: matrix[n, k]\nminimize 0.5 * sum_squares(A @ X - B)"


@pytest.mark.parametrize(
    "text",
    [
        MATRIX + " + 0.5 * norm1(X[1:, :] - X[:-1, :])\n",
        MATRIX + " + 0.5 * norm1(X[:, 1:] - X[:, :-1]) + 0.1 * norm1(X)\n",
        MATRIX + " + 0.5 * norm1(X.T[1:, :] - X.T[:-1, :])\n",
        MATRIX + "\nsubject to X[1:, :] >= X[:-1, :]\n",
        MATRIX + "\nsubject to X[:, 1:] >= X[:, :-1]\n",
        MATRIX.replace("k]\n", "k], D: matrix[e, n]\n", 1) + " + 0.5 * norm1(3 * D @ X)\n",
        MATRIX.replace("k]\n", "k], E: matrix[f, k]\n", 1) + " + 0.5 * norm1(X @ E.T)\n",
        PRODUCT + " + norm1(X[1:, :] - X[:-1, :]) + 0.3 * norm1(X)\n",
        PRODUCT + " + norm1(X[1:, :] - X[:-1, :])\n",
        PRODUCT + "\nsubject to X[1:, :] >= X[:-1, :]\n",
    ],
)
def test_lines_of_matrices(text: str) -> None:
    rng = np.random.default_rng(1)
    n, k = 7, 5
    values = {
        "Y": rng.standard_normal((n, k)),
        "A": rng.standard_normal((12, n)),
        "B": rng.standard_normal((12, k)),
        "D": np.diff(np.eye(n), axis=0),
        "E": np.diff(np.eye(k), axis=0),
    }
    problem = RandomProblem(text, {name: v for name, v in values.items() if f"{name}: " in text.partition("\nvar")[0]})
    solution: Any = check(problem, METHOD)
    if "A:" not in text:
        assert solution.iterations == 1 and solution.certificate.relative_gap <= 1e-14


def test_several_variables_and_an_intercept() -> None:
    rng = np.random.default_rng(2)
    A, b = rng.standard_normal((25, 12)), rng.standard_normal(25) + 2.0
    texts = (
        "data b: vector[m], A: matrix[m, n]\nvar x: vector[n], c: real\n"
        "minimize 0.5 * sum(squared(A @ x + c, b)) + 2 * norm1(x[1:] - x[:-1])\n",
        "data b: vector[m], A: matrix[m, n]\nvar x: vector[m], z: vector[n]\n"
        "minimize 0.5 * sum(squared(x + A @ z, b)) + norm1(x[1:] - x[:-1]) + 0.4 * norm1(z[1:] - z[:-1]) + 0.1 * sum_squares(z)\n",
        "data b: vector[m], A: matrix[m, n]\nvar x: vector[n], c: real\n"
        "minimize sum(huber(A @ x + c, b)) + 0.1 * sum_squares(x)\nsubject to x[1:] >= x[:-1]\n",
    )
    for text in texts:
        check(RandomProblem(text, {"A": A, "b": b}), METHOD)


def test_losses_of_rows() -> None:
    """Softmax has no Newton steps here, and its multipliers are repaired by the driver."""
    rng = np.random.default_rng(3)
    text = (
        "data A: matrix[m, n], y: labels[m, k]\nvar W: matrix[n, k]\n"
        "minimize sum(softmax(A @ W, y)) + norm1(W[1:, :] - W[:-1, :]) + 0.2 * norm1(W)\n"
    )
    labels = np.arange(30) % 3
    check(RandomProblem(text, {"A": rng.standard_normal((30, 6)), "y": labels}), METHOD, tol=1e-6)


@pytest.mark.parametrize("of", ["x", "A @ x"])
@pytest.mark.parametrize("loss", LOSSES)
def test_multipliers_of_an_order_are_the_oracles(loss: str, of: str) -> None:
    problem = program(loss, "increasing", of)
    text = problem.text.replace("subject to x", "subject to up: x")
    bound = fw.parse(text).bind(**problem.data)
    duals = bound.solve(method=METHOD, tol=1e-10).dual["up"]
    assert np.all(np.asarray(duals) >= 0.0)
    # the derivative of the optimal value in a lower bound on one step
    low = "data low: vector[n]\n" + text.replace("x[1:] >= x[:-1]", "x[1:] - x[:-1] >= low[1:]")
    j, h = int(np.argmax(duals)), 1e-3
    ends = []
    for step in (-h, h):
        shifted = np.zeros(len(duals) + 1)
        shifted[j + 1] = step
        ends.append(solve_oracle(fw.parse(low).bind(**problem.data, low=shifted).instance).value)
    assert duals[j] == pytest.approx((ends[1] - ends[0]) / (2 * h), rel=2e-2, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_bound_lies_above_the_optimum(loss: str) -> None:
    """The multipliers of losses of the entries themselves are feasible at every step."""
    problem = program(loss, "fused lasso" if loss == "squared" else "total variation")
    bound = fw.parse(problem.text).bind(**problem.data)
    best = solve_oracle(bound.instance).value
    run = started(bound, METHOD)
    for _ in range(6):
        run.step()
        report = run.report()
        assert report.bound <= best + 1e-6 * max(1.0, abs(best)) <= report.objective + 2e-6 * max(1.0, abs(best))


UNSEEN = "data b: vector[n]\nvar x: vector[n]\nminimize 0.5 * sum(squared(x[2:6], b[2:6])) + norm1(x[1:] - x[:-1])"


@pytest.mark.parametrize(
    "text",
    [
        UNSEEN + "\n",
        UNSEEN + " + 0.3 * x[0] - 0.5 * x[7]\n",
        UNSEEN.replace("squared", "huber") + "\n",
        "data b: vector[n]\nvar x: vector[n]\nminimize dot(b, x) + norm1(x[1:] - x[:-1]) + sum_squares(x)\n",
        "data b: vector[n]\nvar x: vector[n] in box(0, 1)\nminimize dot(b, x)\nsubject to x[1:] >= x[:-1]\n",
    ],
)
def test_entries_that_no_loss_sees(text: str) -> None:
    check(RandomProblem(text, {"b": 3.0 * np.random.default_rng(4).standard_normal(8)}), METHOD)


def test_a_cost_that_no_function_of_steps_balances_has_no_minimum() -> None:
    text = "var x: vector[8]\nminimize norm1(x[1:] - x[:-1]) + 0.3 * x[0] - 0.5 * x[7]\n"
    assert fw.parse(text).solve(method=METHOD).status == "unbounded"
