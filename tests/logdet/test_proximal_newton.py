"""Sparse inverse covariances: optimality, certificates, weights, resumed and stopped runs, units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.logdet.loops import sweep
from tests.runs import resumed, started, stepped

METHOD = "proximal_newton"
HEAD = "data S: psd[d]\nparam lam: positive = 0.2\n"
OFF = HEAD + "var X: symmetric[d]\nminimize trace(S @ X) - log_det(X) + lam * norm1(X - diag(diag(X)))\n"
ALL = HEAD + "var X: psd[d]\nminimize trace(S @ X) - log_det(X) + lam * norm1(X)\n"
WEIGHED = (
    HEAD + "data W: symmetric[d]\nvar X: symmetric[d]\nminimize 2 * (trace(S @ X) - log_det(X)) + lam * norm1(W * X)\n"
)


def covariance(d: int, n: int = 0, seed: int = 0) -> np.ndarray:
    """A covariance of n samples; of fewer than d it is singular."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n or 3 * d, d)) @ (np.eye(d) + 0.5 * np.eye(d, k=1))
    S = A.T @ A / A.shape[0]
    return 0.5 * (S + S.T)


def weights(text: str, d: int, lam: float, W: Any = None) -> np.ndarray:
    """The weights of the sizes of entries."""
    L = np.full((d, d), lam)
    if text == OFF:
        np.fill_diagonal(L, 0.0)
    return L if W is None else lam * np.abs(W) / 2.0


@pytest.mark.parametrize("text", [OFF, ALL, WEIGHED], ids=["off the diagonal", "all", "weighed"])
@pytest.mark.parametrize("d", [1, 2, 7, 20])
def test_the_answer_meets_the_conditions_of_optimality(text: str, d: int) -> None:
    """X^-1 - S is L sign(X) where X is not 0, and at most L elsewhere."""
    S = covariance(d)
    W = np.abs(covariance(d, seed=1)) if text == WEIGHED else None
    problem = fw.parse(text).bind(S=S, **({} if W is None else {"W": W}))
    solution = problem.solve(tol=1e-12, method=METHOD)
    X = solution["X"]
    assert solution.method == METHOD and np.array_equal(X, X.T)
    L, slope = weights(text, d, 0.2, W), np.linalg.inv(X) - S
    near = 1e-4 * np.abs(S).max()
    assert np.all(np.abs(slope) <= L + near)
    assert np.abs(slope - L * np.sign(X))[X != 0.0].max() <= near


def test_the_planner_chooses_it_and_the_certificate_is_rigorous() -> None:
    assert fw.parse(ALL).plan().method == METHOD
    solution = fw.parse(OFF).bind(S=covariance(12)).solve()
    assert solution.status == "optimal" and solution.method == METHOD
    assert solution.certificate.kind == "rigorous"


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_units_change_nothing(unit: float) -> None:
    """With S and lam times a unit, X is as many times smaller, and the optimum d log(unit) larger."""
    S = covariance(9)
    one = fw.parse(OFF).bind(S=S, lam=0.2).solve(tol=1e-9)
    other = fw.parse(OFF).bind(S=unit * S, lam=0.2 * unit).solve(tol=1e-9)
    assert other.status == "optimal"
    assert np.allclose(unit * other["X"], one["X"], atol=1e-4 * np.abs(one["X"]).max())
    assert other.objective == pytest.approx(one.objective + 9 * np.log(unit), abs=1e-5 * abs(one.objective))


def test_pdhg_agrees() -> None:
    problem = fw.parse(OFF).bind(S=covariance(6))
    found = [problem.solve(method=method, tol=1e-7).objective for method in (METHOD, "pdhg")]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_a_singular_covariance_has_an_answer_with_a_price_and_none_without() -> None:
    S = covariance(10, n=4)
    priced = fw.parse(OFF).bind(S=S).solve()
    assert priced.status == "optimal"
    text = "data S: psd[d]\nvar X: symmetric[d]\nminimize trace(S @ X) - log_det(X)\n"
    assert fw.parse(text).bind(S=np.diag([1.0, 0.0])).solve(time=3).status != "optimal"


def test_other_programs_are_told_why() -> None:
    plan = fw.parse(HEAD + "var X: symmetric[d]\nminimize trace(S @ X) - log_det(X) + norm_fro(X)\n").plan()
    reasons = next(c.reasons for c in plan.candidates if c.name == METHOD)
    assert reasons == ("`norm_fro(X)` is no sum of sizes of entries",)
    rows = HEAD + "var X: symmetric[d]\nminimize trace(S @ X) - log_det(X) + lam * norm1(S @ X)\n"
    plan = fw.parse(rows).bind(S=covariance(4)).plan()
    reasons = next(c.reasons for c in plan.candidates if c.name == METHOD)
    assert reasons == ("`norm1(S @ X)` is no sum of sizes of weighed entries of X",)


def test_a_sweep_moves_each_entry_to_its_minimum() -> None:
    """Each move is the best one of its entry of the model as it stands, worked out from scratch."""
    d = 5
    S, rng = covariance(d), np.random.default_rng(3)
    X = np.linalg.inv(S + 0.1 * np.eye(d))
    W, Q, L = np.linalg.inv(X), S, np.full((d, d), 0.05)
    i, j = np.triu_indices(d)
    kept = rng.uniform(size=i.size) < 0.8
    i, j = i[kept], j[kept]
    start = np.searchsorted(i, np.arange(d + 1)).astype(np.int64)
    D, U = np.zeros((d, d)), np.zeros((d, d))
    for _ in range(2):
        before = D.copy()
        sweep(W, Q, X, L, D, U, start, j.astype(np.int64), np.empty(d), np.empty(j.size))
        expected = before
        for a, b in zip(i, j, strict=True):
            E = np.zeros((d, d))
            E[a, b] = E[b, a] = 1.0
            slope = float(((Q - W + W @ expected @ W) * E).sum())
            bend = float((W @ E @ W * E).sum())
            c, cut = X[a, b] + expected[a, b], L[a, b] * E.sum() / bend
            z = c - slope / bend
            expected = expected + (np.sign(z) * max(abs(z) - cut, 0.0) - c) * E
        np.testing.assert_allclose(D, expected, atol=1e-12)
        np.testing.assert_allclose(U, W @ D, atol=1e-12)


def test_a_run_is_resumed_as_it_was(tmp_path: Path) -> None:
    problem = fw.parse(OFF).bind(S=covariance(8))
    whole = stepped(problem, METHOD, 4)
    half = resumed(stepped(problem, METHOD, 2), tmp_path, {})
    for _ in range(2):
        half.step()
    assert np.array_equal(whole.state.X, half.state.X) and whole.state.bound == half.state.bound


def test_a_run_stops_within_a_step() -> None:
    run = started(fw.parse(OFF).bind(S=covariance(8)), METHOD)
    run.problem.must_stop = lambda: True
    with pytest.raises(Stopped):
        run.step()


@pytest.mark.parametrize(
    ("multiple", "k"), [("2 * X", 2.0), ("X / 4", 0.25), ("1e9 * X", 1e9), ("lam * X", 0.2), ("3 * X / 2", 1.5)]
)
@pytest.mark.parametrize("text", [OFF, ALL], ids=["off the diagonal", "all"])
def test_a_factor_in_the_determinant_is_a_constant(text: str, multiple: str, k: float) -> None:
    """log det(k X) = log det X + d log k, so the method and the solution are the same."""
    S, d = covariance(5), 5
    plain = fw.parse(text).bind(S=S).solve(tol=1e-8)
    found = fw.parse(text.replace("log_det(X)", f"log_det({multiple})")).bind(S=S).solve(tol=1e-8)
    assert found.method == plain.method == METHOD
    assert found.objective == pytest.approx(plain.objective - d * np.log(k), rel=1e-7, abs=1e-7)
    np.testing.assert_allclose(found["X"], plain["X"], rtol=1e-4, atol=1e-4)


def test_a_negative_factor_in_the_determinant_is_no_constant() -> None:
    text = HEAD + "var X: symmetric[d]\nminimize -trace(S @ X) - log_det(-2 * X) + lam * norm1(X)\n"
    found = fw.parse(text).bind(S=covariance(4)).solve(tol=1e-7)
    plain = fw.parse(ALL).bind(S=covariance(4)).solve(tol=1e-8)
    assert found.status == "optimal" and found.method != METHOD
    assert found.objective == pytest.approx(plain.objective - 4 * np.log(2.0), rel=1e-5, abs=1e-5)
