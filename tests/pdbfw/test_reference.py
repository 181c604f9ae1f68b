"""Step by step against the formulas written down naively, in the paper's scale (u in place of y, 1/n outside)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from fwdsl.atoms.vectors.group_ball import GroupBall
from fwdsl.atoms.vectors.l1_ball import L1Ball
from fwdsl.atoms.vectors.simplex import Simplex
from fwdsl.atoms.vectors.solid_simplex import SolidSimplex
from fwdsl.backends.pdbfw.block_step import BlockStep, used
from fwdsl.backends.pdbfw.dual_step import theory_step
from fwdsl.backends.pdbfw.method import PDBFWState
from fwdsl.backends.pdbfw.trace import TraceSpace
from fwdsl.backends.problem import PreparedProblem
from tests.pdbfw.problems import SETS, matrix_data, matrix_problem, vector_data, vector_problem
from tests.runs import stepped

Array = Any


# --- the formulas --------------------------------------------------------------------------------------------------------


def slope(loss: str, z: Array, b: Array) -> Array:
    if loss == "squared":
        return 2.0 * (z - b)
    if loss == "smooth_hinge":
        return -b * np.clip(1.0 - b * z, 0.0, 1.0)
    return -b / (1.0 + np.exp(b * z))


def dual_prox(loss: str, u0: Array, w: Array, b: Array, t: float) -> Array:
    """argmax_u w u - f*(u) - (u - u0)^2 / (2 t), a sample at a time."""
    if loss == "squared":  # f* = u^2 / 4 + b u
        return (u0 + t * (w - b)) / (1.0 + 0.5 * t)
    if loss == "smooth_hinge":  # u = b v, f* = v^2 / 2 + v, v in [-1, 0]
        return b * np.clip((b * u0 + t * (b * w - 1.0)) / (1.0 + t), -1.0, 0.0)

    def root(u0i: float, wi: float, bi: float) -> float:  # u = -b q, q in (0, 1)
        q0 = -bi * u0i
        q = brentq(lambda q: bi * wi + np.log(q / (1.0 - q)) + (q - q0) / t, 1e-16, 1.0 - 1e-16, xtol=1e-15, rtol=1e-14)
        return -bi * q

    return np.array([root(*v) for v in zip(u0, w, b, strict=True)])


def l1_projection(v: Array, r: float) -> Array:
    if np.abs(v).sum() <= r:
        return v
    a = np.sort(np.abs(v))[::-1]
    theta = max((a[: k + 1].sum() - r) / (k + 1) for k in range(a.size))
    return np.sign(v) * np.maximum(np.abs(v) - theta, 0.0)


def sparse_l1(v: Array, s: int, r: float) -> Array:
    keep = np.argsort(-np.abs(v), kind="stable")[:s]
    out = np.zeros_like(v)
    out[keep] = l1_projection(v[keep], r)
    return out


def low_rank(V: Array, s: int, r: float) -> Array:
    P, sigma, Qt = np.linalg.svd(V, full_matrices=False)
    return (P[:, :s] * l1_projection(sigma[:s], r)) @ Qt[:s]


def algorithm(
    loss: str,
    A: Array,
    b: Array,
    mu: float,
    block: Callable[[Array], Array],
    k: int,
    delta: float,
    eta: float,
    steps: int,
) -> tuple[Array, Array]:
    """Algorithms 1 and 2 as corrected: x, u after some steps, from x = 0 and u = f'(0); matrices have rows as samples."""
    n = A.shape[0]
    x = np.zeros((A.shape[1], *b.shape[1:]))
    u = slope(loss, np.zeros_like(b), b)
    w, z = A @ x, A.T @ u
    for _ in range(steps):
        target = block(x - (z / n + mu * x) / (mu * eta))
        x = (1.0 - eta) * x + eta * target
        w = (1.0 - eta) * w + eta * (A @ target)
        new = dual_prox(loss, u, w, b, delta / n)
        size = np.abs(new - u) if u.ndim == 1 else np.linalg.norm(new - u, axis=1)
        rows = np.argsort(-size, kind="stable")[:k]
        change = np.zeros_like(u)
        change[rows] = (new - u)[rows]
        u = u + change
        z = z + A[rows].T @ change[rows]
    return x, u


def after(problem: Any, steps: int, **options: Any) -> PDBFWState:
    """Our state after some steps."""
    found: PDBFWState = stepped(problem, "pdbfw", steps, **options).state
    return found


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge", "logistic"])
@pytest.mark.parametrize(("s", "k", "eta"), [(9, 24, 0.5), (4, 6, 0.5), (3, 10, 1.0), (9, 1, 0.3)])
@pytest.mark.parametrize("layout", ["dense", "fortran", "csr"])
def test_algorithm_1(loss: str, s: int, k: int, eta: float, layout: str) -> None:
    data, mu, delta = vector_data(loss), 0.3, 5.0
    state = after(vector_problem(loss, "l1_ball", layout, mu), 12, s=s, k=k, eta=eta, delta=delta, grow=False)
    x, u = algorithm(loss, data["A"], data["y"], mu, lambda v: sparse_l1(v, s, 1.5), k, delta, eta, 12)
    np.testing.assert_allclose(state.x, x, rtol=0, atol=1e-11)
    np.testing.assert_allclose(state.y * data["A"].shape[0], u, rtol=0, atol=1e-11)
    np.testing.assert_allclose(state.w, data["A"] @ state.x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.z, data["A"].T @ state.y, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("s", "k", "eta"), [(6, 14, 0.5), (2, 5, 0.5), (3, 14, 1.0)])
def test_algorithm_2(s: int, k: int, eta: float) -> None:
    data, mu, delta = matrix_data(), 0.5, 1.0
    state = after(matrix_problem(mu=mu), 10, s=s, k=k, eta=eta, delta=delta, grow=False, eps=1e-16)
    X, U = algorithm("squared", data["A"], data["B"], mu, lambda V: low_rank(V, s, 4.0), k, delta, eta, 10)
    np.testing.assert_allclose(state.x.reshape(X.shape), X, rtol=0, atol=1e-7)
    np.testing.assert_allclose(state.y.reshape(U.shape) * data["A"].shape[0], U, rtol=0, atol=1e-7)


def test_the_step_of_the_corollary() -> None:
    """delta = (1/k) (1 / (n beta) + 25 R / (2 mu n^2))^-1 with beta = 1, and t = delta / n."""
    data, mu = vector_data("smooth_hinge"), 0.3
    problem = vector_problem("smooth_hinge", "l1_ball", mu=mu)
    n = data["A"].shape[0]
    R = float(np.max(np.sum(data["A"] ** 2, axis=1)))
    delta = 1.0 / (7 * (1.0 / n + 25.0 * R / (2.0 * mu * n**2)))
    state = after(problem, 0, k=7)
    assert state.t == pytest.approx(delta / n, rel=1e-12)
    assert theory_step(problem.canonical.terms[0].f, R, mu, 7) == pytest.approx(delta / n, rel=1e-12)


def test_the_step_of_the_theorem_on_trace_norm_balls() -> None:
    """delta = (1/k) (1 / (n beta) + 45 R / (2 mu n^2))^-1 with beta = 2, R = |A|^2."""
    A, mu = matrix_data()["A"], 0.5
    n = A.shape[0]
    delta = 1.0 / (5 * (1.0 / (2.0 * n) + 45.0 * np.linalg.norm(A, 2) ** 2 / (2.0 * mu * n**2)))
    state = after(matrix_problem(mu=mu), 0, k=5)
    assert state.t == pytest.approx(delta / n, rel=1e-3)


def test_k_balances_the_two_halves_of_a_step() -> None:
    """k = n s / d, at least 1; of matrices n s (1 / c + 1 / d), at most n."""
    for s, k in ((3, 8), (1, 3), (9, 24)):
        assert stepped(vector_problem("squared", "l1_ball"), "pdbfw", 0, s=s).core.k == k
    for s, k in ((1, 5), (2, 9), (6, 14)):
        assert stepped(matrix_problem(), "pdbfw", 0, s=s).core.k == k


# --- the adaptive form -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "smooth_hinge", "logistic"])
def test_the_adaptive_step(loss: str) -> None:
    """Rows by residual, the descent lemma, and the mirror step for the logistic loss, by plain products and searches.

    Each step from where the method stands before it, as long as the gap is far from rounding, which decides by the lemma after that.
    """
    data, mu, r = vector_data(loss), 0.3, 1.5
    A, b = data["A"], data["y"]
    n = A.shape[0]
    stored = np.count_nonzero(A)

    def least(z: Array) -> tuple[Array, float]:
        x = l1_projection(-z / (n * mu), r)
        return x, float(z @ x) / n + 0.5 * mu * float(x @ x)

    def conjugate(u: Array) -> float:
        if loss == "squared":
            return float(np.sum(u**2 / 4 + b * u))
        q = -b * u
        with np.errstate(all="ignore"):
            entropy = np.where(q > 0, q * np.log(q), 0) + np.where(q < 1, (1 - q) * np.log1p(-q), 0)
        return float(np.sum(entropy if loss == "logistic" else q**2 / 2 - q))

    run = stepped(vector_problem(loss, "l1_ball", "csr", mu), "pdbfw", 0)
    state = run.state
    assert state.t == 1.0
    np.testing.assert_allclose(state.y * n, slope(loss, np.zeros(n), b), rtol=0, atol=1e-12)
    checked = 0
    while checked < 20 and state.best_value - state.best_bound > 1e-6 * abs(state.best_value):
        u, pre, t = state.y * n, state.s, state.t
        x, R = least(A.T @ u)
        w = A @ x
        while True:
            if loss == "logistic":
                moved = (pre + t * w) / (1 + t)
                new = slope(loss, moved, b)
            else:
                new = dual_prox(loss, u, w, b, t)
            size = np.abs(new - u)
            rows = np.flatnonzero(size > 0.05 * size.max())
            if 2 * np.count_nonzero(A[rows]) <= stored:
                new = np.where(np.isin(np.arange(n), rows), new, u)
            x_new, R_new = least(A.T @ new)
            distance = 0.5 * float(np.sum((new - u) ** 2)) / n
            if loss == "logistic":
                distance = (conjugate(new) - conjugate(u) - float(pre @ (new - u))) / n
            bend = R + float(w @ (new - u)) / n - R_new
            if bend <= distance / t + 1e-15:
                break
            t = max(min(0.5 * t, 0.9 * distance / bend), 0.05 * t)
        if bend < 0.5 * distance / t:
            t *= 1.3
        run.step()
        np.testing.assert_allclose(state.x, x_new, rtol=0, atol=1e-10)
        np.testing.assert_allclose(state.y * n, new, rtol=0, atol=1e-10)
        assert state.t == pytest.approx(t, rel=1e-6)
        checked += 1
    assert checked >= 5


# --- the block steps ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("set_", list(SETS))
@pytest.mark.parametrize("seed", range(6))
def test_the_block_step_is_the_best_of_all_supports(set_: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 7
    v = rng.standard_normal(size) * rng.choice([0.3, 2.0])
    index = np.array([0, 1, 1, 2, 2, 2, 3])
    g: Any = {
        "l1_ball": L1Ball(size, 1.0),
        "simplex": Simplex(size, 1.0),
        "solid_simplex": SolidSimplex(size, 1.0),
        "group_ball": GroupBall(size, 1.0, index),
    }[set_]
    members = (
        [np.flatnonzero(index == i) for i in range(4)] if set_ == "group_ball" else [np.array([i]) for i in range(size)]
    )
    step = BlockStep(g)
    assert step.parts == len(members)
    for s in range(1, len(members) + 1):
        x = step(v, s)
        assert g.violation(x) <= 1e-12 and used(g, x) <= s
        best = np.inf
        for support in itertools.combinations(range(len(members)), s):
            at = np.sort(np.concatenate([members[i] for i in support]))
            small: Any = GroupBall(at.size, 1.0, index[at]) if set_ == "group_ball" else type(g)(at.size, 1.0)
            point = np.zeros(size)
            point[at] = small.prox(v[at], 1.0)
            best = min(best, float(np.sum((point - v) ** 2)))
        assert float(np.sum((x - v) ** 2)) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("eps", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_low_rank_steps_are_half_eps_approximate(eps: float, seed: int) -> None:
    """l(X) <= l* / 2 + eps / 8 (Definition 4.2), l* from a full decomposition; and the slack bounds what is missing."""
    rng = np.random.default_rng(seed)
    problem = matrix_problem()
    space = TraceSpace(PreparedProblem(problem.canonical, 1))
    # large enough that iterations and not a decomposition answer
    space.shape, space.parts, space.radius, space.width = (60, 50), 50, 6.0, 50
    V = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 50)) / 10 + 0.05 * rng.standard_normal((60, 50))
    near, curvature = low_rank(rng.standard_normal((60, 50)), 2, 6.0).reshape(-1), 0.7

    def h(X: Array) -> float:
        return 0.5 * curvature * float(np.sum((X.reshape(V.shape) - V) ** 2))

    best = h(low_rank(V, 50, 6.0))
    p = space.project(V.reshape(-1), 50, np.zeros(0), near, curvature, eps)
    assert np.linalg.svd(p.x.reshape(V.shape), compute_uv=False).sum() <= 6.0 * (1 + 1e-12)
    assert h(p.x) - h(near) <= 0.5 * (best - h(near)) + eps / 8 + 1e-12
    assert h(p.x) - best <= p.slack + 1e-10
    again = space.project(V.reshape(-1), 50, p.warm, near, curvature, eps)
    assert h(again.x) - best <= p.slack + 1e-10
