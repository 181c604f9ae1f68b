"""Least squares on a trace-norm ball: against cvxpy, by the certificate, and in products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fwdsl.backends.lowrank.factors import project_decreasing
from fwdsl.backends.lowrank.trace_regression import TraceRegression

from .certificates import frank_wolfe_gap


def instance(n: int, d: int, c: int, rank: int, noise: float = 0.0, seed: int = 0) -> tuple[Any, Any, float]:
    """Like `generators.trace_norm`: (A, B, half the trace norm of the truth)."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    X = rng.standard_normal((d, rank)) @ rng.standard_normal((rank, c)) / np.sqrt(d)
    B = A @ X + noise * rng.standard_normal((n, c))
    return A, B, 0.5 * float(np.linalg.svd(X, compute_uv=False).sum())


@pytest.mark.parametrize("share", [0.3, 1.0, 1.9])
def test_against_cvxpy(share: float) -> None:
    cp = pytest.importorskip("cvxpy")
    A, B, radius = instance(20, 8, 6, 3, noise=0.3)
    radius *= share
    X = cp.Variable((8, 6))
    reference = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ X - B)), [cp.normNuc(X) <= radius])
    reference.solve(solver=cp.CLARABEL)
    problem = TraceRegression(A, B, radius, 0.5)
    s = problem.init(2)
    for _ in range(200):
        problem.step(s)
    U, V = s.X[:2]
    primal, dual = frank_wolfe_gap(problem, A, U, V)
    assert primal - dual <= 1e-7 * primal
    assert abs(primal - reference.value) <= 1e-6 * reference.value and dual <= reference.value * (1 + 1e-6)
    assert np.linalg.svd(U @ V.T, compute_uv=False).sum() <= radius * (1 + 1e-10)


def test_a_ball_that_does_not_bind_gives_least_squares() -> None:
    A, B, radius = instance(40, 12, 9, 9, noise=1.0)
    problem = TraceRegression(A, B, 100.0 * radius)
    s = problem.init(1)
    for _ in range(150):
        problem.step(s, 2)
    U, V = s.X[:2]
    assert np.allclose(U @ V.T, np.linalg.lstsq(A, B, rcond=None)[0], atol=1e-6)


def test_products_to_a_certified_gap() -> None:
    A, B, radius = instance(250, 200, 150, 6)
    problem = TraceRegression(A, B, radius)
    s = problem.init(6)
    while True:
        problem.step(s)
        if s.iteration % 10 == 0:
            primal, dual = frank_wolfe_gap(problem, A, *s.X[:2])
            if primal - dual <= 1e-6 * primal:
                break
        assert s.products < 25
    P, sigma, Q = problem.factors(s)
    assert sigma.sum() <= radius * (1 + 1e-10)
    residual = A @ ((P * sigma) @ Q.T) - B
    assert primal == pytest.approx(np.sum(residual**2), rel=1e-10)
    assert s.X[0].shape[1] <= 12


def test_deterministic() -> None:
    A, B, radius = instance(30, 20, 15, 3)
    ends = []
    for _ in range(2):
        problem = TraceRegression(A, B, radius)
        s = problem.init(3)
        for _ in range(20):
            problem.step(s)
        ends.append(s.X[0] @ s.X[1].T)
    assert np.array_equal(ends[0], ends[1])


def test_projection_of_singular_values() -> None:
    v = np.array([5.0, 3.0, 1.0, 0.5])
    for radius in (0.1, 2.0, 4.0, 9.0, 20.0):
        p = project_decreasing(v, radius)
        assert p.sum() == pytest.approx(min(radius, v.sum()))
        # optimality: <v - p, q - p> <= 0 at the vertices of the ball
        assert np.all((v - p) * radius - (v - p) @ p <= 1e-12)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        TraceRegression(np.eye(2), np.eye(2), 0.0)
    with pytest.raises(ValueError, match="rows"):
        TraceRegression(np.eye(2), np.eye(3), 1.0)
