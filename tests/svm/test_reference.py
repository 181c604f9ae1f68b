"""Step by step against the papers' formulas written down naively, with the matrix K of inner products where the methods have products."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from fwdsl.backends.finite_sum import draws
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.svm import bcfw, multiclass
from fwdsl.backends.svm.bcfw import MARGIN
from fwdsl.backends.svm.bcfw_method import VARIANTS
from fwdsl.backends.svm.loops import binary as loops
from fwdsl.backends.svm.loops import rows
from tests.runs import started
from tests.svm.problems import LOSSES, binary, classes

project = kernel(loops.project, reorder=True, ends=loops.ends)


# --- the projection and the intercept -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("start", [0.0, 1e6, -3.0])
def test_projection_solves_its_equation(seed: int, start: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    v = rng.standard_normal(n) * 10.0 ** rng.integers(-4, 5)
    e = rng.choice([-1.0, 1.0], n) * (rng.random(n) + 0.01 if seed % 2 else 1.0)
    e[rng.random(n) < 0.1] = 0.0
    out = np.empty(n)
    project(v, e, start, out)

    def h(m: float) -> float:
        return float(e @ np.maximum(v - m * e, 0.0))

    ends = np.abs(v[e != 0] / e[e != 0]).max(initial=0.0) + 1.0
    m = brentq(h, -ends, ends, xtol=1e-14, rtol=1e-14) if np.any(e) else 0.0
    np.testing.assert_allclose(out, np.maximum(v - m * e, 0.0), atol=1e-9 * np.abs(v).max())
    assert abs(e @ out) <= 1e-14 * np.abs(e * out).sum() + 1e-300


def test_projection_where_newton_alone_cycles() -> None:
    """h is neither convex nor concave: two slopes that lead Newton's method to and fro."""
    v, e = np.array([5.0, -4.9, 0.1, 30.0, -29.0]), np.array([1.0, -1.0, 1.0, -0.1, 3.0])
    for start in np.linspace(-60, 60, 41):
        out = np.empty(5)
        project(v, e, start, out)
        assert abs(e @ out) <= 1e-13 * np.abs(e * out).sum()


@pytest.mark.parametrize("seed", range(8))
def test_intercept_minimises_the_squared_hinges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 25
    z, w = 3.0 * rng.standard_normal(n), rng.random(n)
    y, c = rng.choice([-1.0, 1.0], n), rng.choice([1.0, 2.0, -0.5], n) if seed % 2 else np.ones(n)

    def value(b: float) -> float:
        return float(w @ np.maximum(0.0, 1.0 - y * (z + b * c)) ** 2)

    b = kernel(loops.intercept, reorder=True)(z, y, w, c, 7.0)
    best = minimize_scalar(value, bounds=(-30, 30), method="bounded", options={"xatol": 1e-10})
    assert value(b) <= best.fun * (1 + 1e-10) + 1e-12
    only = np.ones(n)
    for sign in (1.0, -1.0):
        b = kernel(loops.intercept, reorder=True)(z, sign * only, w, only, 0.0)
        assert np.all(sign * (z + b) >= 1.0 - 1e-12)


# --- the binary dual ---------------------------------------------------------------------------------------------------


def dual_of(problem: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """K with signs, y, and the paper's C (it has C/2 where the program has C) of a machine with mu = 1."""
    X, y = problem.instance.values["X"], problem.canonical.terms[0].f.b
    return (y[:, None] * (X @ X.T)) * y, y, 2.0 * float(problem.canonical.terms[0].f.w[0])


def bisection(beta: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The paper's projection."""
    lo, hi = -np.abs(beta).max(), np.abs(beta).max()
    for _ in range(200):
        mid = 0.5 * (lo + hi)
        lo, hi = (mid, hi) if y @ np.maximum(beta - mid * y, 0.0) > 0.0 else (lo, mid)
    return np.maximum(beta - 0.5 * (lo + hi) * y, 0.0)


@pytest.mark.parametrize("momentum", ["none", "nesterov", "constant", "restart"])
def test_l2svm_dual_is_algorithm_1(momentum: str) -> None:
    problem = binary("free", seed=8)
    K, y, C = dual_of(problem)
    run = started(problem, "l2svm_dual", momentum=momentum, step="fixed")
    state = run.state
    # in the variables t = a / sqrt(C) that the method has, phi has curvature 1 + C sigma_1(K)
    L = state.lipschitz
    assert 1.0 <= L / (1.0 + C * np.linalg.eigvalsh(K)[-1]) <= 1.002
    a = old = np.zeros(y.size)
    t = 1.0
    for _ in range(25):
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        root = np.sqrt(L)
        beta = {"none": 0.0, "constant": (root - 1) / (root + 1)}.get(momentum, (t - 1.0) / after)
        p = a + beta * (a - old)
        new = bisection(p - C / L * (K @ p + p / C - 1.0), y)
        turned = momentum == "restart" and (p - new) @ (new - a) > 0.0
        old, a, t = (new, new, 1.0) if turned else (a, new, after)
        run.step()
        np.testing.assert_allclose(np.sqrt(C) * state.t, a, atol=1e-10)
    phi = 0.5 * a @ K @ a + 0.5 / C * a @ a - a.sum()
    run._bounds(state)
    assert state.best_bound >= -phi - 1e-9


def test_the_multiplier_leads_to_the_intercept() -> None:
    """b = L m in the limit."""
    problem = binary("free", seed=8)
    found = problem.solve(method="l2svm_dual", tol=1e-11)
    state = found.state.state
    assert state.multiplier * state.lipschitz == pytest.approx(found.variables["b"], abs=1e-4)


# --- several classes ---------------------------------------------------------------------------------------------------


def vertices(loss: str, C: float, y: int, k: int) -> np.ndarray:
    """All vertices of a row's set."""
    e = np.eye(k)
    if loss == "multiclass_hinge":
        return np.stack([C * (e[y] - e[j]) for j in range(k)])
    others = [l for l in range(k) if l != y]
    return np.stack(
        [
            C * sum((e[y] - e[l] for l in chosen), np.zeros(k))
            for r in range(k)
            for chosen in itertools.combinations(others, r)
        ]
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(30))
def test_rows_are_solved_exactly(loss: str, seed: int) -> None:
    """The solution lies in the set, and no vertex slopes down from it."""
    rng = np.random.default_rng(seed)
    k, C, A = int(rng.integers(2, 7)), float(10.0 ** rng.integers(-2, 3)), float(10.0 ** rng.integers(-2, 3))
    y = int(rng.integers(k))
    V = vertices(loss, C, y, k)
    a = rng.dirichlet(np.ones(len(V))) @ V if seed % 3 else V[0]
    q = np.round(2 * rng.standard_normal(k)) if seed % 2 else rng.standard_normal(k)
    out = np.empty(k)
    kernel(rows.weston_row if loss == "weston_watkins" else rows.singer_row)(a, q, A, C, y, out)
    slope = q + A * (out - a)
    scale = (np.abs(q).max() + A * C) * C
    assert abs(out.sum()) <= 1e-14 * np.abs(out).sum() + 1e-300
    assert np.all(np.delete(out, y) <= 0.0)
    assert (out[y] if loss == "multiclass_hinge" else -out.min()) <= C * (1 + 1e-15)
    assert np.min(V @ slope) >= out @ slope - 1e-9 * scale


def test_a_row_of_two_classes_at_both_ends_of_its_bracket() -> None:
    """Newton's steps from one end of the bracket to the other must not cycle."""
    out = np.empty(2)
    kernel(rows.weston_row)(np.zeros(2), np.array([-1.0, 0.0]), 1.0, 1.0, 0, out)
    np.testing.assert_allclose(out, [0.5, -0.5])


class Naive:
    """The dual of a machine with mu = 1 by K, one row or all at a time."""

    def __init__(self, problem: Any, loss: str) -> None:
        term = problem.canonical.terms[0]
        self.X, self.y, self.C = problem.instance.values["X"], term.f.y, term.f.w
        self.n, self.k = term.f.shape
        self.K = self.X @ self.X.T
        self.loss = loss
        self.one = np.eye(self.k)[self.y]
        self.a = np.zeros((self.n, self.k))

    def value(self, a: np.ndarray) -> float:
        return float(0.5 * np.trace(a.T @ self.K @ a) - np.sum(a * self.one))

    def vertex(self, q: np.ndarray, i: int) -> np.ndarray:
        V = vertices(self.loss, self.C[i], self.y[i], self.k)
        return V[np.argmin(np.round(V @ q, 12))]

    def worst(self, q: np.ndarray, i: int) -> np.ndarray:
        """The worst vertex of the smallest face with a."""
        V, a = vertices(self.loss, self.C[i], self.y[i], self.k), self.a[i]
        on = [v for v in V if np.all((a != 0) | (v == 0) | (np.arange(self.k) == self.y[i]))]
        if self.loss == "weston_watkins":
            on = [v for v in on if np.all((a != -self.C[i]) | (v == -self.C[i]))]
        elif a[self.y[i]] >= self.C[i] * (1 - 1e-15):
            on = [v for v in on if v.any()]
        return on[int(np.argmax([v @ q for v in on]))]

    def farthest(self, i: int, d: np.ndarray) -> float:
        """The longest step of the row, by bisection."""
        lo, hi, C, y = 0.0, 1e6, self.C[i], self.y[i]
        for _ in range(200):
            mid = 0.5 * (lo + hi)
            p = self.a[i] + mid * d
            inside = np.all(np.delete(p, y) <= 1e-16) and (
                p[y] <= C if self.loss == "multiclass_hinge" else np.all(np.delete(p, y) >= -C)
            )
            lo, hi = (mid, hi) if inside else (lo, mid)
        return lo


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("step", ["optimal", "oblivious"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_bcfw_is_algorithm_3(loss: str, step: str, variant: str) -> None:
    if step == "oblivious" and variant != "plain":
        return
    problem = classes(loss, seed=9)
    naive = Naive(problem, loss)
    # from 0 classes tie, and rounding would decide
    rng = np.random.default_rng(0)
    V = [vertices(loss, naive.C[i], naive.y[i], naive.k) for i in range(naive.n)]
    naive.a = np.stack([0.9 * rng.dirichlet(np.ones(len(v))) @ v for v in V])
    naive.a[np.arange(naive.n), naive.y] -= naive.a.sum(axis=1)
    run = started(problem, "bcfw", ys=[-naive.a.reshape(-1)], seed=5, step=step, variant=variant)
    state = run.state
    for sweep in range(2):
        run.step()
        for t, i in enumerate(draws(5, sweep).integers(0, naive.n, naive.n)):
            q = naive.K[i] @ naive.a - naive.one[i]
            s = naive.vertex(q, i)
            d, most = s - naive.a[i], 1.0
            if variant != "plain":
                v = naive.worst(q, i)
                if variant == "pairwise":
                    d = s - v
                    most = naive.farthest(i, d)
                elif (v - naive.a[i]) @ q > -d @ q + 1e-14:
                    d = naive.a[i] - v
                    most = naive.farthest(i, d)
            curvature = naive.K[i, i] * (d @ d)
            g = 2.0 * naive.n / (sweep * naive.n + t + 2.0 * naive.n)
            if step == "optimal":
                slope = max(0.0, float(-d @ q))
                g = 0.0 if slope <= 1e-15 else min(most, slope / curvature) if curvature > 0.0 else most
            naive.a[i] += g * d
            # what the bisection leaves of a used-up vertex
            naive.a[i, np.abs(naive.a[i]) < 1e-13] = 0.0
            if loss == "weston_watkins":
                naive.a[i, np.abs(naive.a[i] + naive.C[i]) < 1e-13] = -naive.C[i]
        np.testing.assert_allclose(state.a, naive.a, atol=1e-9)
    np.testing.assert_allclose(state.W.T, naive.X.T @ naive.a, atol=1e-9)
    if step == "optimal":
        assert state.best_bound == pytest.approx(-naive.value(naive.a), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_rows_visit_each_due_row_and_skip_what_does_not_change(loss: str) -> None:
    problem = classes(loss, seed=9, C=5.0)
    run = started(problem, "bcfw", seed=5)
    state = run.state
    bounds = []
    for _ in range(25):
        due, sweep, before = state.due.copy(), state.sweep, state.a.copy()
        run._exact()
        visited = due <= sweep
        assert np.array_equal(before[~visited], state.a[~visited])
        still = visited & np.all(before == state.a, axis=1)
        assert np.all(state.due[visited & ~still] == sweep + 1)
        assert np.all(state.due[still] >= sweep + 1)
        run._evaluate(state)
        bounds.append(state.best_bound)
    assert np.all(np.diff(bounds) >= -1e-12)
    assert int(state.delay.max()) > 1
    W, b = run.machine.weights(state.a)
    np.testing.assert_allclose(state.W, W, atol=1e-12)
    assert not b.any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_matrix_fw_is_algorithm_2(loss: str, variant: str) -> None:
    problem = classes(loss, seed=10)
    naive, run = Naive(problem, loss), started(problem, "matrix_fw", variant=variant)
    state = run.state
    kept: list[list[Any]] = [[np.zeros_like(naive.a), 1.0]]
    for _ in range(30):
        Q = naive.K @ naive.a - naive.one
        s = np.stack([naive.vertex(Q[i], i) for i in range(naive.n)])
        gap = float(np.sum((naive.a - s) * Q))
        assert state.value - state.bound == pytest.approx(gap, rel=1e-8, abs=1e-11)
        assert state.bound == pytest.approx(-naive.value(naive.a), rel=1e-8, abs=1e-10)

        def move(worst: list[Any], s: Any = s, Q: Any = Q, gap: float = gap) -> tuple[bool, float, Any]:
            d, most = s - naive.a, 1.0
            away = variant == "away" and np.sum((worst[0] - naive.a) * Q) > gap and worst[1] < 1.0
            if variant == "pairwise":
                d, most = s - worst[0], worst[1]
            elif away:
                d, most = naive.a - worst[0], worst[1] / (1.0 - worst[1])
            g = min(most, float(-np.sum(d * Q) / np.trace(d.T @ naive.K @ d)))
            return away, g, naive.a + g * d

        # an exact step from one vertex to another leaves both with the same score, and rounding chooses
        scores = [float(np.sum(pair[0] * Q)) for pair in kept]
        moves = [(pair, *move(pair)) for pair, score in zip(kept, scores, strict=True) if score >= max(scores) - 1e-9]
        run.step()
        worst, away, g, a = min(moves, key=lambda found: float(np.abs(found[-1] - state.a).max()))
        np.testing.assert_allclose(state.a, a, atol=1e-10)
        naive.a = state.a.copy()
        if variant != "pairwise":
            for pair in kept:
                pair[1] *= 1.0 + g if away else 1.0 - g
        if variant == "pairwise" or away:
            worst[1] -= g
        if not away:
            known = [pair for pair in kept if np.array_equal(pair[0], s)]
            if known:
                known[0][1] += g
            else:
                kept.append([s, g])
        kept = [pair for pair in kept if pair[1] > 1e-14]
        if variant != "plain":
            assert state.count == len(kept)
            np.testing.assert_allclose(state.weights[: state.count].sum(), 1.0, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_look_at_classes_that_have_a_multiplier_or_are_near(loss: str) -> None:
    """The gap is that of all classes, and those a row goes without have no multiplier and a gradient well below its largest."""
    problem = classes(loss, n=40, k=5, seed=3, C=0.3)
    run, naive = started(problem, "bcfw"), Naive(problem, loss)
    few = 0
    for _ in range(6):
        run.step()
        s = run.state
        naive.a = s.a.copy()
        q = naive.K @ s.a - naive.one
        gap = sum((s.a[i] - naive.vertex(q[i], i)) @ q[i] for i in range(naive.n))
        assert s.value - (-naive.value(s.a)) == pytest.approx(gap, rel=1e-6, abs=1e-9)
        for i in range(naive.n):
            kept = set(s.kept[i, : s.sizes[i]].tolist())
            near = {l for l in range(naive.k) if q[i, l] >= q[i].max() - MARGIN * (1.0 - 1e-9)}
            assert kept >= {int(naive.y[i])} | set(np.flatnonzero(s.a[i]).tolist()) | near
            assert loss == "weston_watkins" or all(
                q[i, l] >= q[i].max() - MARGIN * (1.0 + 1e-9) or s.a[i, l] or l == naive.y[i] for l in kept
            )
        few += int((s.sizes < naive.k).sum())
    assert (few > 0) == (loss == "multiclass_hinge")


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_rows_with_few_classes_end_where_rows_with_all_do(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiclass, "SPREAD", 0)
    problem = classes("multiclass_hinge", n=60, k=6, seed=5, C=0.5, layout=layout)
    found = problem.solve(method="bcfw", tol=1e-10)
    monkeypatch.setattr(bcfw, "MARGIN", np.inf)
    best = problem.solve(method="bcfw", tol=1e-10)
    assert found.status == best.status == "optimal"
    np.testing.assert_allclose(found["W"], best["W"], atol=1e-4 * float(np.abs(best["W"]).max()))
