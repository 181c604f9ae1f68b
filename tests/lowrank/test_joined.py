"""The correction of a low-rank point on the joined spectra of itself and of its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends.lowrank import joined
from fwdsl.backends.lowrank.completion import Completion
from fwdsl.backends.lowrank.factors import balanced
from fwdsl.backends.lowrank.observed import ObservedEntries

CASES = {
    "squared, penalty": ("squared", (), {"penalty": 1.0}),
    "squared, ball": ("squared", (), {"radius": 12.0}),
    "squared, ball and ridge": ("squared", (), {"radius": 12.0, "ridge": 0.05}),
    "huber, penalty": ("huber", (0.5,), {"penalty": 0.4}),
    "huber, both": ("huber", (0.5,), {"penalty": 0.2, "radius": 8.0, "ridge": 0.01}),
    "logistic, penalty": ("logistic", (), {"penalty": 0.3}),
}


def problem(name: str, shape: tuple[int, int] = (24, 17), seed: int = 0) -> Completion:
    loss, parameters, rest = CASES[name]
    rng = np.random.default_rng(seed)
    n, p = shape
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, p))
    at = np.sort(rng.choice(n * p, n * p // 2, replace=False))
    b = X[at // p, at % p] + 0.3 * rng.standard_normal(at.size)
    if loss == "logistic":
        b = np.where(b > 0.0, 1.0, -1.0)
    f = LossFunction(LOSSES[loss], b, 0.5 + rng.random(at.size), np.array(parameters))
    return Completion(ObservedEntries(shape, at // p, at % p), f, **rest)


def naive(core: Completion, L: Array, R: Array, S: Array) -> float:
    """The value of min F(L S R') + lambda |S|_*, |S|_* <= R, by three thousand plain proximal steps on dense matrices."""
    entries = core.entries
    rows = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr.astype(np.int64)))
    columns = entries.cols.astype(np.int64)
    f = core.f.f
    lipschitz = float(f.loss.smoothness or 1.0) * float(f.w.max()) + 2.0 * core.ridge

    def value(S: Array) -> float:
        X = L @ S @ R.T
        return f.value(X[rows, columns]) + core.ridge * float(np.sum(X**2)) + core.penalty * np.linalg.norm(S, "nuc")

    for _ in range(3_000):
        X = L @ S @ R.T
        G = np.zeros(entries.shape)
        np.add.at(G, (rows, columns), f.gradient(X[rows, columns]))
        A, s, B = np.linalg.svd(S - L.T @ (G + 2.0 * core.ridge * X) @ R / lipschitz)
        s = np.maximum(s - core.penalty / lipschitz, 0.0)
        if s.sum() > core.radius:
            lo, hi = 0.0, float(s.max())
            for _ in range(100):
                mid = 0.5 * (lo + hi)
                lo, hi = (mid, hi) if np.maximum(s - mid, 0.0).sum() > core.radius else (lo, mid)
            s = np.maximum(s - hi, 0.0)
        S = (A * s) @ B
    return value(S)


def at_a_start(core: Completion, rank: int = 4) -> tuple[Any, Array, Array, Array]:
    """The gradient at the point after some steps, and the point."""
    state = core.init(rank)
    for _ in range(6):
        core.step(state)
    P, sigma, Q = core._directions(state.W)
    y = np.empty_like(state.z)
    core.f.value_gradient(state.z, y)
    return core._operator(y, P * sigma, Q), P, sigma, Q


@pytest.mark.parametrize("name", CASES)
def test_it_solves_the_small_problem(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    core = problem(name)
    op, P, sigma, Q = at_a_start(core)
    spaces: list[Array] = []
    plain = joined._solve
    monkeypatch.setattr(joined, "_solve", lambda c, L, R, S, *a: spaces.extend((L, R, S)) or plain(c, L, R, S, *a))
    monkeypatch.setattr(joined, "SHARE", 0.0)
    monkeypatch.setattr(joined, "STEPS", 2_000)
    reach = core.radius if math.isfinite(core.radius) else 1e3
    before = balanced(P, sigma, Q)
    W, z = joined.corrected(core, op, P, sigma, Q, reach, 1e-7)
    L, R, S = spaces
    np.testing.assert_allclose(L @ S @ R.T, (P * sigma) @ Q.T, atol=1e-10)
    np.testing.assert_allclose(L.T @ L, np.eye(L.shape[1]), atol=1e-12)
    np.testing.assert_allclose(z, core.predict(W), atol=1e-10)
    found = core.value(W, z)
    assert found < core.value(before, core.predict(before))
    assert found == pytest.approx(naive(core, L, R, S), rel=1e-6)
    assert 0.5 * float(np.vdot(W, W)) <= core.radius * (1.0 + 1e-9)


@pytest.mark.parametrize("name", ["squared, penalty", "squared, ball", "huber, both"])
def test_it_levels_the_top_singular_values_of_the_gradient(name: str) -> None:
    """The excess of sigma_1(G) over the multiplier, which the bound pays for, falls by more than half."""
    core = problem(name, (60, 45))
    op, P, sigma, Q = at_a_start(core, 8)

    def excess(W: Array) -> float:
        z = core.predict(W)
        y = np.empty_like(z)
        core.f.value_gradient(z, y)
        P, sigma, Q = core._directions(W)
        G = core._operator(y, P * sigma, Q)
        top = float(np.linalg.norm(G.matmat(np.eye(45)), 2))
        along = float(y @ z) + 2.0 * core.ridge * float(sigma @ sigma)
        return top - max(core.penalty, -along / float(sigma.sum()))

    reach = core.radius if math.isfinite(core.radius) else 200.0
    W, _ = joined.corrected(core, op, P, sigma, Q, reach, 1e-6)
    assert excess(W) < 0.5 * excess(balanced(P, sigma, Q))


def test_a_bound_that_lags_is_caught_up_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix of rank 27 by few entries, on which the gradient of the factors alone takes several times as many steps."""
    from fwdsl.backends.lowrank import completion

    rng = np.random.default_rng(4)
    n, p = 120, 90
    X = rng.standard_normal((n, 20)) @ rng.standard_normal((20, p)) / 4.0
    at = np.sort(rng.choice(n * p, n * p // 4, replace=False))
    M = (at // p, at % p, X[at // p, at % p] + 0.2 * rng.standard_normal(at.size))
    text = (
        "data M: entries[n, p]\nparam c: positive\nvar B: matrix[n, p]\n"
        "minimize 1/2 * sum(squared(B[M], M)) + c * norm_nuc(B)\n"
    )
    solve = fw.parse(text).bind(M=M, n=n, p=p, c=1.0).solve
    joint = solve(tol=1e-6, threads=1, method="lowrank")
    monkeypatch.setattr(completion, "NEAR", -1.0)
    alone = solve(tol=1e-6, threads=1, method="lowrank")
    assert joint.status == alone.status == "optimal"
    assert joint.objective == pytest.approx(alone.objective, rel=2e-6)
    assert joint.iterations < alone.iterations
