"""Momentum: its steps against their formulas, when it sets in, and what it is for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.pdbfw.core import MISS, PATIENCE
from fwdsl.backends.pdbfw.trace import TraceSpace
from fwdsl.backends.problem import PreparedProblem
from tests.pdbfw.problems import matrix_problem, vector_data, vector_problem, vector_text
from tests.pdbfw.test_reference import after, dual_prox, l1_projection, slope
from tests.runs import stepped

Array = Any

MU, RADIUS = 0.3, 1.5


class Plain:
    """R(z) with its minimiser, f*, and the test of a step, for the problems of `vector_problem` in the paper's scale."""

    def __init__(self, loss: str) -> None:
        data = vector_data(loss)
        self.loss, self.A, self.b = loss, data["A"], data["y"]
        self.n, self.t = self.A.shape[0], 1.0

    def least(self, u: Array) -> tuple[Array, float]:
        z = self.A.T @ u / self.n
        x = l1_projection(-z / MU, RADIUS)
        return x, float(z @ x) + 0.5 * MU * float(x @ x)

    def entropy(self, u: Array) -> float:
        q = -self.b * u
        with np.errstate(all="ignore"):
            return float(np.sum(np.where(q > 0, q * np.log(q), 0) + np.where(q < 1, (1 - q) * np.log1p(-q), 0)))

    def accepts(self, v: Array, u: Array, distance: float) -> bool:
        """The descent lemma from v to u, and the next t."""
        x, before = self.least(v)
        bend = before + float(self.A @ x @ (u - v)) / self.n - self.least(u)[1]
        if bend > distance / self.t + 1e-15:
            self.t = max(min(0.5 * self.t, 0.9 * distance / bend), 0.05 * self.t)
            return False
        if bend < 0.5 * distance / self.t:
            self.t *= 1.3
        return True


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge"])
def test_the_euclidean_step(loss: str) -> None:
    """Nesterov's extrapolation, and its restart by the gradient."""
    plain = Plain(loss)
    u = old = slope(loss, np.zeros(plain.n), plain.b)
    k, restarts = 1.0, 0
    for _ in range(20):
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * k**2))
        v = u + (k - 1.0) / following * (u - old)
        while True:
            new = dual_prox(loss, v, plain.A @ plain.least(v)[0], plain.b, plain.t)
            if plain.accepts(v, new, 0.5 * float(np.sum((new - v) ** 2)) / plain.n):
                break
        if float((v - new) @ (new - u)) > 0.0:
            old, k, restarts = new, 1.0, restarts + 1
        else:
            old, k = u, following
        u = new
    state = after(vector_problem(loss, "l1_ball", "csr", MU), 20, accelerate=True)
    assert restarts > 0
    np.testing.assert_allclose(state.y * plain.n, u, rtol=0, atol=1e-9)
    assert state.t == pytest.approx(plain.t, rel=1e-6) and state.momentum == pytest.approx(k, rel=1e-12)


def test_the_mirror_step() -> None:
    """The estimate sequence, its points u = f'(s) and the means y."""
    plain = Plain("logistic")
    y = u = slope("logistic", np.zeros(plain.n), plain.b)
    s, weight = np.zeros(plain.n), 0.0
    for _ in range(12):
        while True:
            # a^2 = t (1 + A) (A + a)
            a = max(np.roots([1.0, -plain.t * (1.0 + weight), -plain.t * (1.0 + weight) * weight]).real)
            theta = a / (weight + a)
            v = (1.0 - theta) * y + theta * u
            moved = ((1.0 + weight) * s + a * (plain.A @ plain.least(v)[0])) / (1.0 + weight + a)
            new = slope("logistic", moved, plain.b)
            far = (plain.entropy(new) - plain.entropy(u) - float(s @ (new - u))) / plain.n
            if plain.accepts(v, (1.0 - theta) * y + theta * new, theta**2 * far):
                break
        y, u, s, weight = (1.0 - theta) * y + theta * new, new, moved, weight + a
    state = after(vector_problem("logistic", "l1_ball", "csr", MU), 12, accelerate=True)
    np.testing.assert_allclose(state.y * plain.n, y, rtol=0, atol=1e-8)
    np.testing.assert_allclose(state.y_old * plain.n, u, rtol=0, atol=1e-8)
    np.testing.assert_allclose(state.z, plain.A.T @ state.y, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.z_old, plain.A.T @ state.y_old, rtol=0, atol=1e-12)
    assert state.momentum - 1.0 == pytest.approx(weight, rel=1e-5)
    bound = plain.least(plain.n * state.y)[1] - plain.entropy(plain.n * state.y) / plain.n
    assert state.best_bound >= bound - 1e-12


def hard(loss: str = "smooth_hinge", condition: float = 2_000.0) -> fw.Problem:
    """Rows that share a direction, as a9a's do, so that |A|^2 beta / (n mu) is `condition`."""
    rng = np.random.default_rng(0)
    n, p = 300, 40
    A = rng.random((n, p)) < 0.3
    y = np.where(A @ rng.standard_normal(p) + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    mu = float(np.linalg.norm(A.astype(float), 2)) ** 2 / (n * condition)
    text = vector_text(loss, "l1_ball", mu).replace("1.5", "20")
    return fw.parse(text).bind(A=A.astype(float), y=y)


@pytest.mark.parametrize("loss", ["smooth_hinge", "logistic"])
def test_it_sets_in_after_short_steps(loss: str) -> None:
    """Until then the steps are those without it."""
    problem = hard(loss)
    for steps in (1, PATIENCE):
        ours = after(problem, steps)
        other = after(problem, steps, accelerate=False)
        assert np.array_equal(ours.y, other.y) and ours.t == other.t
    ours = after(problem, 2 * PATIENCE)
    other = after(problem, 2 * PATIENCE, accelerate=False)
    assert ours.short >= PATIENCE and not np.array_equal(ours.y, other.y)
    assert ours.momentum > 1.0 and other.momentum == 1.0
    np.testing.assert_allclose(ours.z, problem.instance.values["A"].T @ ours.y, rtol=0, atol=1e-9)


def test_it_does_not_set_in_on_easy_problems() -> None:
    state = after(vector_problem("smooth_hinge", "l1_ball", mu=3.0), 3 * PATIENCE)
    assert state.short == 0 and state.momentum == 1.0


@pytest.mark.parametrize("loss", ["smooth_hinge", "logistic"])
def test_the_default_converges_where_rows_share_a_direction(loss: str) -> None:
    """On a9a about kappa steps are needed without momentum, and with it a multiple of the root."""
    problem = hard(loss)
    plain, ours = (problem.solve(method="pdbfw", accelerate=a, tol=1e-6) for a in (False, "auto"))
    assert ours.status == "optimal" and ours.passes < 0.5 * plain.passes
    assert "accelerated" in ours.history[-1].phase and "adaptive" in plain.history[-1].phase
    best = problem.solve(method="apg", tol=1e-10).objective
    assert ours.objective == pytest.approx(best, rel=2e-6) and ours.dual_bound <= best * (1 + 1e-9)


def test_low_rank_minimisers_miss_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen from the point itself a projection misses by at most eps / 4, and the steps ask for 1 % of the gap."""
    rng = np.random.default_rng(0)
    space = TraceSpace(PreparedProblem(matrix_problem().canonical, 1))
    space.shape, space.parts, space.radius, space.width = (60, 50), 50, 6.0, 50
    v = (rng.standard_normal((60, 8)) @ rng.standard_normal((8, 50))).reshape(-1)
    v += 0.3 * rng.standard_normal(v.size)
    for eps in (1.0, 1e-2, 1e-4):
        assert space.project(v, 50, np.zeros(0), v, 0.7, eps).slack <= 0.25 * eps
    asked: list[float] = []
    project = TraceSpace.project

    def noted(self: TraceSpace, v: Array, cap: int, warm: Array, near: Array, curvature: float, eps: float) -> Any:
        assert near is v
        asked.append(eps)
        return project(self, v, cap, warm, near, curvature, eps)

    run = stepped(matrix_problem(), "pdbfw", 1)
    state = run.state
    monkeypatch.setattr(TraceSpace, "project", noted)
    gap = state.best_value - state.best_bound
    run.step()
    assert asked and asked[0] == pytest.approx(4.0 * MISS * gap, rel=1e-12)
