"""Each baseline against a plain transcription of its formulas, step by step, with the same draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.baselines.apg_fixed import row_bound
from fwdsl.backends.baselines.common import epochs_a_step
from fwdsl.backends.baselines.conditional import diameter
from fwdsl.backends.baselines.samples import batch_size, batches, draw
from fwdsl.backends.baselines.storc import phase_of
from fwdsl.backends.finite_sum import draws
from tests.baselines.common import Naive, bound, data, matrix_data, matrix_text, text
from tests.runs import stepped

STEPS = 3


@pytest.fixture(autouse=True)
def _short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few epochs a step instead of 64, which the naive loops would take long for."""
    monkeypatch.setattr("fwdsl.backends.baselines.common.LEAST_WORK", 150)


CLOSE = {"rtol": 1e-9, "atol": 1e-10}

VECTORS = [
    ("logistic", "l1_ball(0.7)", " + 0.05 * sum_squares(x)", "dense"),
    ("smooth_hinge", "simplex(1)", "", "csr"),
    ("squared", "l2_ball(0.5)", " + 0.1 * sum_squares(x)", "csc"),
    ("squared_hinge", "box(-0.2, 0.3)", "", "fortran"),
]


def vector(case: tuple[str, str, str, str]) -> Any:
    loss, set_, more, layout = case
    return bound(text(loss, set_, more), data(loss, layout))


def matrix(loss: str = "softmax", layout: str = "dense") -> Any:
    return bound(matrix_text(loss, "nuclear_ball(2)", " + 0.05 * sum_squares(X)"), matrix_data(loss, layout))


def each_problem() -> list[Any]:
    return [
        *(pytest.param(vector(c), id="-".join(c[:2])) for c in VECTORS),
        pytest.param(matrix(), id="softmax"),
        pytest.param(matrix("squared", "csr"), id="squared-matrix"),
    ]


@pytest.mark.parametrize("problem", each_problem())
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("snapshot", ["last", "average"])
def test_svrg(problem: Any, batch: int, snapshot: str) -> None:
    state = stepped(problem, "svrg", STEPS, batch=batch, snapshot=snapshot).state
    naive = Naive(problem)
    x = naive.g.prox(np.zeros(naive.size), 0.0)
    for k in range(STEPS):
        rng = draws(0, k)
        count = round(2.0 * naive.n / batch)
        many = problem.canonical.blocks[0].g.compiled
        index = batches(rng, naive.n, batch, count) if many else [draw(rng, naive.n, batch) for _ in range(count)]
        s, points = x, []
        for rows in index:
            # the ridge is in the prox here, not in the gradient
            v = naive.corrected(x, s, rows) - naive.mu * x
            x = naive.g.prox(x - state.eta * v, state.eta)
            points.append(x)
        x = x if snapshot == "last" else np.mean(points, axis=0)
    np.testing.assert_allclose(state.x, x, **CLOSE)


@pytest.mark.parametrize("smoothness", ["rows", "spectral"])
@pytest.mark.parametrize("problem", each_problem())
def test_apg_fixed(problem: Any, smoothness: str) -> None:
    run = stepped(problem, "apg_fixed", 5, smoothness=smoothness)
    state, kernels = run.state, run.problem
    naive, big = Naive(problem), state.lipschitz
    top = np.linalg.eigvalsh(
        naive.K.reshape(-1, naive.size).T @ np.diag(_curvatures(naive)) @ naive.K.reshape(-1, naive.size)
    )
    assert row_bound(kernels) >= top[-1] * (1.0 - 1e-12)
    assert big - naive.mu >= top[-1] * (1.0 - 1e-9)
    if smoothness == "spectral":
        assert big - naive.mu <= 1.2 * top[-1]
    x = old = naive.g.prox(np.zeros(naive.size), 0.0)
    inner = getattr(naive.g, "inner", naive.g) if naive.mu else naive.g
    t = 1.0
    for _ in range(5):
        if naive.mu:
            root = math.sqrt(naive.mu / big)
            beta = (1 - root) / (1 + root)
        else:
            t_new = (1 + math.sqrt(1 + 4 * t * t)) / 2
            beta, t = (t - 1) / t_new, t_new
        y = x + beta * (x - old)
        old, x = x, inner.prox(y - naive.gradient(y) / big, 1 / big)
    np.testing.assert_allclose(state.x, x, **CLOSE)


def _curvatures(naive: Naive) -> np.ndarray:
    f = naive.term.f
    return f.loss.smoothness * np.repeat(f.w, naive.K.shape[0] * naive.K.shape[1] // f.w.size)


SDCA = [
    ("logistic", "", " + 0.05 * sum_squares(x)", "dense"),
    ("smooth_hinge", "", " + 0.05 * sum_squares(x) + 0.02 * norm1(x)", "csr"),
    ("hinge", "nonnegative", " + 0.05 * sum_squares(x)", "csr"),
    ("squared", "box(-0.1, 0.2)", " + 0.05 * sum_squares(x) + 0.02 * norm1(x)", "csc"),
    ("absolute", "linf_ball(0.2)", " + 0.05 * sum_squares(x)", "fortran"),
    ("squared", "l1_ball(0.5)", " + 0.05 * sum_squares(x)", "csr"),
    ("logistic", "l1_ball(0.5)", " + 0.05 * sum_squares(x) + 0.02 * norm1(x)", "dense"),
    ("smooth_hinge", "simplex(0.8)", " + 0.05 * sum_squares(x)", "csr"),
    ("squared_hinge", "solid_simplex(0.4)", " + 0.05 * sum_squares(x)", "dense"),
    ("squared", "l2_ball(0.3)", " + 0.05 * sum_squares(x) + 0.02 * norm1(x)", "csr"),
]


@pytest.mark.parametrize("case", SDCA, ids=lambda c: f"{c[0]}-{c[1]}")
def test_sdca(case: tuple[str, str, str, str]) -> None:
    problem = vector(case)
    parts = 4 if "ball" in case[1] or "simplex" in case[1] else 1
    parts = 1 if "linf" in case[1] else parts
    state = stepped(problem, "sdca", 1, multiplier=4).state
    naive = Naive(problem)
    f, mu, K = naive.term.f, naive.mu, naive.K[:, 0, :]
    lo, hi = f.dual_bounds()
    x0 = naive.g.prox(np.zeros(naive.size), 0.0)
    y = np.clip(naive.slopes(x0)[:, 0], lo, hi)
    for epoch in range(epochs_a_step(problem.canonical.nnz)):
        order = draws(0, epoch).permutation(naive.n)
        for part in np.array_split(order, parts):
            respond = _response(naive, -(K.T @ y))
            for i in part:
                x = respond(-(K.T @ y))
                z, square = K[i] @ x + naive.offset[i], (K[i] @ K[i]) * respond.inverse
                if square == 0.0:
                    y[i] = np.clip(naive.term.f.gradient(np.full(naive.n, z))[i], lo[i], hi[i])
                    continue
                # min over y of f_i*(y) - z y + square (y - y_i)^2 / 2, by Moreau from the reference prox
                v = np.full(naive.n, square * y[i] + z)
                y[i] = np.clip((v[i] - f.prox(v, square)[i]) / square, lo[i], hi[i])
    np.testing.assert_allclose(state.y, y, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(state.v, -(K.T @ y), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        state.x,
        naive.g.prox(-(K.T @ y) / mu, 0.0)
        if not hasattr(naive.g, "inner")
        else naive.g.inner.prox(-(K.T @ y) / mu, 1 / mu),
        rtol=1e-8,
        atol=1e-9,
    )


class _response:
    """x as a function of v with the multiplier that is exact at `at`, found by bisection on its own condition."""

    def __init__(self, naive: Naive, at: np.ndarray) -> None:
        inner = naive.g.inner
        self.name = inner.pair[1]
        on = getattr(inner, "on", inner)
        self.c, self.mu = getattr(inner, "c", 0.0), naive.mu
        self.on, self.tau = on, 0.0
        size = {
            "l1_ball": lambda x: np.abs(x).sum(),
            "l2_ball": np.linalg.norm,
            "simplex": np.sum,
            "solid_simplex": np.sum,
        }.get(self.name)
        if size is not None:
            lo, hi = (-1e3 if self.name == "simplex" else 0.0), 1e3
            for _ in range(200):
                self.tau = 0.5 * (lo + hi)
                lo, hi = (self.tau, hi) if size(self(at)) > on.r else (lo, self.tau)
            self.tau = hi

    @property
    def inverse(self) -> float:
        return 1.0 / (self.mu + self.tau) if self.name == "l2_ball" else 1.0 / self.mu

    def __call__(self, v: np.ndarray) -> np.ndarray:
        tau = 0.0 if self.name == "l2_ball" else self.tau
        if self.name in ("simplex", "solid_simplex"):
            return np.maximum(v - tau - self.c, 0.0) * self.inverse
        x = np.sign(v) * np.maximum(np.abs(v) - self.c - tau, 0.0) * self.inverse
        if self.name == "nonnegative":
            return np.maximum(x, 0.0)
        if self.name == "linf_ball":
            return np.clip(x, -self.on.r, self.on.r)
        return np.clip(x, self.on.lo, self.on.hi) if self.name == "box" else x


@pytest.mark.parametrize("case", [c for c in VECTORS if c[2]], ids=lambda c: c[0])
@pytest.mark.parametrize("batch", [1, 5])
def test_spdc(case: tuple[str, str, str, str], batch: int) -> None:
    problem = vector(case)
    state = stepped(problem, "spdc", 1, batch=batch).state
    naive = Naive(problem)
    f, K, n, m = naive.term.f, naive.K[:, 0, :], naive.n, batch
    radius = math.sqrt((K**2).sum(axis=1).max())
    gamma, mu = 1.0 / (f.loss.smoothness * n * f.w.max()), naive.mu
    tau, sigma = math.sqrt(m * gamma / (n * mu)) / (2 * radius), math.sqrt(n * mu / (m * gamma)) / (2 * radius)
    theta = 1.0 - 1.0 / (n / m + radius * math.sqrt(n / (m * mu * gamma)))
    x = naive.g.prox(np.zeros(naive.size), 0.0)
    bar, y = x, naive.slopes(x)[:, 0]
    lo, hi = f.dual_bounds()
    for epoch in range(epochs_a_step(problem.canonical.nnz)):
        for rows in batches(draws(0, epoch), n, m, math.ceil(n / m)):
            z = K @ bar + naive.offset
            # the prox of (sigma / n) f* at y + (sigma / n) z, by Moreau
            step = sigma / n
            moved = y + step * z
            full = np.clip(moved - step * f.prox(moved / step, 1.0 / step), lo, hi)
            new = y.copy()
            new[rows] = full[rows]
            u = K.T @ (y + n / m * (new - y)) + naive.q
            old, x = x, naive.g.prox(x - tau * u, tau)
            y, bar = new, x + theta * (x - old)
    for mine, theirs in ((state.x, x), (state.y, y), (state.bar, bar), (state.u, K.T @ y)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)


# --- conditional gradients: as many iterations as the method took, by its own counters ----------------------------------


def _walk(problem: Any, name: str, iterate: Any, **options: Any) -> None:
    """Step the method, follow it with `iterate(naive, state of ours, rng)` one iteration at a time, compare after each step."""
    naive = Naive(problem)
    run = stepped(problem, name, 0, **options)
    state, kernels = run.state, run.problem
    ours: dict[str, Any] = {"x": state.x.copy(), "k": 0, "kernels": kernels}
    ours |= {"center": ours["x"], "snapshot": ours["x"], "d": np.zeros(naive.size), "t": getattr(state, "t", 0)}
    for step in range(STEPS):
        until = state.epochs + epochs_a_step(problem.canonical.nnz)
        epochs, rng = state.epochs, draws(0, step)
        while epochs < until - 1e-9:
            epochs += iterate(naive, ours, rng, state) / naive.n
        run.step()
        assert state.epochs == pytest.approx(epochs)
        np.testing.assert_allclose(state.x, ours["x"], rtol=1e-7, atol=1e-8)


def compact() -> list[Any]:
    return each_problem()


@pytest.mark.parametrize("problem", compact())
def test_sfw(problem: Any) -> None:
    def iterate(naive: Naive, o: dict[str, Any], rng: Any, _: Any) -> int:
        o["k"] += 1
        rows = draw(rng, naive.n, min(o["k"] ** 2, 6))
        vertex = naive.g.lmo(naive.estimate(o["x"], rows))
        o["x"] = o["x"] + 2 / (o["k"] + 1) * (vertex - o["x"])
        return len(rows)

    _walk(problem, "sfw", iterate)


@pytest.mark.parametrize("problem", compact())
def test_scgm(problem: Any) -> None:
    def iterate(naive: Naive, o: dict[str, Any], rng: Any, _: Any) -> int:
        o["k"] += 1
        rows = draw(rng, naive.n, batch_size(0.3, naive.n, 0.01))
        rho = min(1.0, 4 / (o["k"] + 8) ** (2 / 3))
        o["d"] = (1 - rho) * o["d"] + rho * naive.estimate(o["x"], rows)
        o["x"] = o["x"] + 2 / (o["k"] + 2) * (naive.g.lmo(o["d"]) - o["x"])
        return len(rows)

    _walk(problem, "scgm", iterate, batch=0.3, decay=2)


@pytest.mark.parametrize("problem", compact())
def test_svrf(problem: Any) -> None:
    def iterate(naive: Naive, o: dict[str, Any], rng: Any, _: Any) -> int:
        o["k"] += 1
        rows = draw(rng, naive.n, min(2 * o["k"], 9))
        vertex = naive.g.lmo(naive.corrected(o["x"], o["snapshot"], rows))
        o["x"] = o["x"] + 2 / (o["k"] + 1) * (vertex - o["x"])
        if o["k"] < 2 ** (o["t"] + 3) - 2:
            return len(rows)
        o["t"], o["k"], o["snapshot"] = o["t"] + 1, 0, o["x"]
        return len(rows) + naive.n

    _walk(problem, "svrf", iterate, factor=2, cap=0.75)


def _cndg(naive: Naive, g: np.ndarray, u: np.ndarray, beta: float, eta: float) -> np.ndarray:
    x = u
    for _ in range(100_000):
        slope = g + beta * (x - u)
        v = naive.g.lmo(slope)
        if slope @ (x - v) <= eta or not np.any(v != x):
            return x
        x = (1 - (alpha := min(1.0, slope @ (x - v) / (beta * np.sum((v - x) ** 2))))) * x + alpha * v
    raise AssertionError("the inner problem does not end")


@pytest.mark.parametrize("problem", compact())
def test_scgs(problem: Any) -> None:
    def iterate(naive: Naive, o: dict[str, Any], rng: Any, s: Any) -> int:
        o["k"] += 1
        k, big, d = o["k"], s.lipschitz, diameter(o["kernels"])
        gamma = 3 / (k + 2)
        rows = draw(rng, naive.n, min(k**3, 6))
        g = naive.estimate((1 - gamma) * o["x"] + gamma * o["center"], rows)
        o["center"] = _cndg(naive, g, o["center"], 4 * big / (k + 2), big * d**2 / (k * (k + 1)))
        o["x"] = (1 - gamma) * o["x"] + gamma * o["center"]
        return len(rows)

    _walk(problem, "scgs", iterate)


@pytest.mark.parametrize("problem", compact())
def test_storc(problem: Any) -> None:
    def iterate(naive: Naive, o: dict[str, Any], rng: Any, s: Any) -> int:
        o["k"] += 1
        k, big, d = o["k"], s.lipschitz, diameter(o["kernels"])
        count, square = phase_of(o["t"], big, naive.mu, d)
        gamma = 2 / (k + 1)
        rows = draw(rng, naive.n, min(count, 6))
        g = naive.corrected((1 - gamma) * o["x"] + gamma * o["center"], o["snapshot"], rows)
        o["center"] = _cndg(naive, g, o["center"], 3 * big / k, 2 * big * square / (count * k))
        o["x"] = (1 - gamma) * o["x"] + gamma * o["center"]
        if k < count:
            return len(rows)
        o["t"], o["k"], o["snapshot"], o["center"] = o["t"] + 1, 0, o["x"], o["x"]
        return len(rows) + naive.n

    _walk(problem, "storc", iterate)


def test_the_phases_of_storc() -> None:
    # with a ridge ceil(sqrt(32 kappa)), the diameter squared halved from the phase on where it is below D
    assert phase_of(1, 10.0, 1.0, 2.0) == (18, 4.0)
    assert phase_of(6, 10.0, 1.0, 2.0) == (18, 4.0 * 10.0 / 32.0)
    assert phase_of(2, 10.0, 0.0, 2.0) == (8, 4.0)


SUBGRADIENT = [
    bound(text("hinge", "l2_ball(1)"), data("hinge", "csr")),
    bound(text("absolute", "", " + 0.05 * norm1(x) + 0.1 * sum_squares(x)"), data("absolute")),
    bound(text("hinge", "", " + 0.05 * norm1(x)"), data("hinge")),
    bound(matrix_text("multiclass_hinge", "", " + 0.05 * norm1(X)"), matrix_data("multiclass_hinge")),
    bound(matrix_text("weston_watkins", "", " + 0.05 * sum_squares(X)"), matrix_data("weston_watkins", "csr")),
    bound(matrix_text("softmax", "nuclear_ball(1)"), matrix_data("softmax")),
]


@pytest.mark.parametrize("problem", SUBGRADIENT)
@pytest.mark.parametrize("batch", [1, 3])
def test_subgradient(problem: Any, batch: int) -> None:
    state = stepped(problem, "subgradient", 2, batch=batch, radius=2.0).state
    naive = Naive(problem)
    x = naive.g.prox(np.zeros(naive.size), 0.0)
    t, total, mean = 0, 0.0, x
    for step in range(2):
        rng = draws(0, step)
        count = math.ceil(epochs_a_step(problem.canonical.nnz) * naive.n / batch)
        index = rng.integers(0, naive.n, (count, 1)) if batch == 1 else batches(rng, naive.n, batch, count)
        for rows in index:
            t += 1
            eta = 2 / (naive.mu * (t + 1)) if naive.mu else 2.0 / (state.slope * math.sqrt(t))
            v = naive.estimate(x, rows) - naive.mu * x
            x = naive.g.prox(x - eta * v, eta)
            weight = t if naive.mu else eta
            total += weight
            mean = mean + weight / total * (x - mean)
    np.testing.assert_allclose(state.x, x, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(state.average, mean, rtol=1e-7, atol=1e-8)
