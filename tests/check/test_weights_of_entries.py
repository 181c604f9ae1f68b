"""Weights of single predictions: a matrix beside a loss of a matrix, alone, under a mean, and together with weights of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.errors import FwError
from fwdsl.oracle import check_certificate, solve_oracle

N, M, D = 9, 4, 3
HEAD = (
    "data Q: matrix[n, m] in nonnegative, T: matrix[n, m], C: matrix[n, m] in nonnegative, v: vector[n] in nonnegative, X: matrix[n, d]\n"
    "var W: matrix[d, m] in box(-1, 1)\n"
)


def drawn() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "Q": rng.random((N, M)),
        "T": rng.standard_normal((N, M)),
        "C": rng.poisson(2.0, (N, M)).astype(float),
        "v": rng.random(N),
        "X": rng.standard_normal((N, D)),
    }


@pytest.mark.parametrize(
    "objective",
    [
        "sum(Q * squared(X @ W, T))",
        "mean(Q * squared(X @ W, T)) + 0.1 * norm1(W)",
        "sum(Q * huber(X @ W, T)) + norm_fro(W)",
        "sum(Q * (squared(X @ W, T) + 2 * absolute(X @ W, T)))",
        "mean(Q * poisson(X @ W, C))",
        "sum(Q * logistic(X @ W)) + sum_squares(W)",
        "sum(v * (Q * absolute(X @ W, T)))",
        "sum(Q * (v * absolute(X @ W, T)))",
        "sum(squared(X @ W, T) / (Q + 1))",
    ],
)
def test_the_optimum_is_that_of_cvxpy(objective: str) -> None:
    problem = fw.parse(f"{HEAD}minimize {objective}").bind(**drawn())
    found = problem.solve(tol=1e-7)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5)
    again = check_certificate(problem.instance, found)
    assert again.agrees, again.text


def test_weights_of_rows_are_the_same_as_rows_of_weights() -> None:
    values = drawn()
    values["Q"] = np.repeat(values["v"][:, None], M, axis=1)
    by_entries, by_rows = (
        fw.parse(f"{HEAD}minimize mean({weights} * squared(X @ W, T))").bind(**values).solve(tol=1e-9)
        for weights in "Qv"
    )
    assert by_entries.objective == pytest.approx(by_rows.objective, rel=1e-8)


@pytest.mark.parametrize(
    ("objective", "code"),
    [
        ("sum(T * squared(X @ W, T))", "FW3007"),
        ("sum(Q * squared((X @ W).T, T.T))", "FW2049"),
        ("sum(Q * (squared(X @ W, T) + 1))", "FW2049"),
        ("sum(X * squared(X @ W, T))", "FW2049"),
    ],
)
def test_what_is_refused(objective: str, code: str) -> None:
    with pytest.raises(FwError, match=code):
        fw.parse(f"{HEAD}minimize {objective}").bind(**drawn())


def test_a_program_of_cvxpy_with_weights_of_entries() -> None:
    cp = pytest.importorskip("cvxpy")
    values = drawn()
    P = cp.Variable((N, M), nonneg=True)
    objective = cp.sum(cp.multiply(values["Q"], cp.square(P - values["T"]))) + cp.sum(
        cp.multiply(values["C"], cp.huber(P - values["T"], 0.5))
    )
    problem = cp.Problem(cp.Minimize(objective), [cp.sum(P, axis=0) == 2])
    found = fw.from_cvxpy(problem).solve(tol=1e-7)
    problem.solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(problem.value, rel=1e-6)
