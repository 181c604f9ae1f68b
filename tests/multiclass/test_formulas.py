"""The mirror methods step by step against the paper's formulas; estimates without bias; the lazy iterates over thousands of large steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fwdsl.backends.finite_sum import draws
from fwdsl.backends.multiclass.data import partial_estimates
from tests.multiclass.problems import HINGE, SOFTMAX, Naive, classes, data
from tests.runs import started, stepped

RADIUS, LAM = 3.0, 0.05


def naive(
    n: int = 25, d: int = 6, k: int = 4, softmax: bool = False, lam: float = LAM, radius: float = RADIUS
) -> Naive:
    given = data(n, d, k)
    return Naive(given["X"], given["y"], k, lam, radius, softmax)


@pytest.mark.parametrize("loss", [HINGE, SOFTMAX])
def test_mirror_descent_step_by_step(loss: str) -> None:
    run = stepped(classes(loss), "mirror_descent", 0, radius=RADIUS, step=7.0, average="all")
    state = run.state
    for _ in range(64):
        run.iterate()
    it = naive(softmax=loss == SOFTMAX)
    mean_U, mean_V, total = 0.0, 0.0, 0.0
    for t in range(64):
        gamma = 7.0 / (it.pace * np.sqrt(5.0 * (t + 1)))
        mean_U, mean_V, total = mean_U + gamma * it.U, mean_V + gamma * it.V, total + gamma
        it.descend(gamma)
    np.testing.assert_allclose(state.U.reshape(it.U.shape), it.U, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(state.V, it.V, rtol=1e-11, atol=1e-13)
    mean_U, mean_V = mean_U / total, mean_V / total
    np.testing.assert_allclose(state.mean_x, (mean_U[:6] - mean_U[6:]).reshape(-1), atol=1e-13)
    np.testing.assert_allclose(state.mean_u, (mean_V - it.Y) / it.n, atol=1e-14)
    np.testing.assert_allclose(state.mean_z, it.hat @ mean_U, atol=1e-12)
    np.testing.assert_allclose(state.mean_slope, (it.X.T @ (mean_V - it.Y) / it.n).reshape(-1), atol=1e-14)


@pytest.mark.parametrize("loss", [HINGE, SOFTMAX])
@pytest.mark.parametrize("rule", ["theory", "adaptive"])
def test_mirror_prox_step_by_step(loss: str, rule: str) -> None:
    problem = classes(loss)
    run = stepped(problem, "mirror_prox", 0, radius=RADIUS, rule=rule, average="all")
    state = run.state
    it = naive(softmax=loss == SOFTMAX)
    for t in range(40):
        run.iterate()
        # the adaptive rule has raised its step for the next iteration
        gamma = state.gamma / 1.3 if rule == "adaptive" else 1.0 / (2.0 * it.pace)
        before = it.U, it.V
        half = it.extra(gamma)
        np.testing.assert_allclose(state.U.reshape(it.U.shape), it.U, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(state.V, it.V, rtol=1e-9, atol=1e-13)
        (S, Z), (S0, Z0) = it.slopes(*half), it.slopes(*before)
        fall = ((S - S0) * (half[0] - it.U)).sum() - ((Z - Z0) * (half[1] - it.V)).sum() / it.n
        apart = sum(kl(a, b) for a, b in ((half[0], before[0]), (it.U, half[0]))) / (2 * it.R * it.L)
        apart += sum(kl(a, b) for a, b in ((half[1], before[1]), (it.V, half[1]))) / (2 * it.n * it.log_k)
        assert gamma * fall <= apart * (1 + 1e-9) + 2e-14, t
    if rule == "adaptive":
        assert gamma > 5.0 / (2.0 * it.pace)


def kl(a: Any, b: Any) -> float:
    return float((a * np.log(a / b) - a + b).sum())


def lazy(n: int, d: int, k: int, count: int, gamma: float, lam: float, radius: float, layout: str = "dense") -> Any:
    problem = classes(where="penalty", n=n, d=d, k=k, layout=layout)
    run = started(problem, "sublinear", sampling="full", horizon=count, radius=radius, average="all")
    run.multiplier = gamma / (run.first(radius) / np.sqrt(count))
    run.advance(run.state, count)
    return run


@pytest.mark.parametrize("gamma", [4e-3, 1e-2])
def test_full_sampling_stays_with_the_dense_reference_over_5000_large_steps(gamma: float) -> None:
    n, d, k, count, radius = 60, 40, 20, 5000, 10.0
    run = lazy(n, d, k, count, gamma, LAM, radius)
    it = naive(n, d, k, radius=radius)
    uniform = draws(0, 0).random((count, 5))
    sum_U, sum_V = np.zeros_like(it.U), np.zeros_like(it.V)
    for t in range(count):
        sum_U += it.U
        sum_V += it.V
        it.sampled(uniform[t], gamma)
    U, V = run.points(run.state)
    np.testing.assert_allclose(U.reshape(it.U.shape), it.U, atol=1e-10)
    np.testing.assert_allclose(V, it.V, atol=1e-10)
    np.testing.assert_allclose(V.sum(axis=1), 1.0, atol=1e-9)
    U, V = run.means(run.state)
    np.testing.assert_allclose(U.reshape(d, k), (sum_U[:d] - sum_U[d:]) / count, atol=1e-8)
    np.testing.assert_allclose(V, sum_V / count, atol=1e-8)
    # far into the region where rows that are never folded are off by more than 1
    assert run.state.folds > 10


@pytest.mark.parametrize("gamma", [1.0, 1e2, 1e4])
def test_means_of_steps_far_too_large_stay_in_their_sets(gamma: float) -> None:
    run = lazy(25, 6, 4, 300, gamma, LAM, RADIUS)
    x, V = run.means(run.state)
    assert np.abs(x).sum() <= RADIUS * (1 + 1e-9)
    assert V.min() >= 0.0
    np.testing.assert_allclose(V.sum(axis=1), 1.0, atol=1e-9)


def test_rows_that_are_never_folded_drift() -> None:
    """The paper's recursion, in NumPy and without folding, loses its row sums, which the test above would show."""
    it = naive(60, 40, 20, radius=10.0)
    uniform = draws(0, 0).random((5000, 5))
    V, gamma = it.V.copy(), 2e-2
    worst = 0.0
    for t in range(5000):
        rows, columns = it.chances()
        _, _, i, l = it.sample(uniform[t], rows, columns)
        xi = it.estimate_z(i, l, columns[i, l])
        e = np.exp(2 * gamma * it.log_k * (xi - it.Y))
        chi = 1.0 - (V * (1.0 - e)).sum(axis=1)
        V = V * e / chi[:, None]
        worst = max(worst, float(np.abs(V.sum(axis=1) - 1.0).max()))
        it.sampled(uniform[t], gamma)
        if not worst < 1e-3:
            break
    assert not worst < 1e-3


@pytest.mark.parametrize("layout", ["csr", "csc", "fortran", "float32"])
def test_full_sampling_is_the_same_for_every_layout(layout: str) -> None:
    want, got = (lazy(25, 6, 4, 400, 1e-2, LAM, RADIUS, at) for at in ("dense", layout))
    for a, b in zip(want.means(want.state), got.means(got.state), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11)


def test_full_sampling_has_no_bias() -> None:
    it = naive(7, 4, 3)
    rng = np.random.default_rng(1)
    it.U, it.V = rng.random(it.U.shape), rng.dirichlet(np.ones(it.k), it.n)
    rows, columns = it.chances()
    S, Z = it.slopes(it.U, it.V)
    mean_S = sum(
        rows[j, l] * it.estimate_slope(j, l, rows[j, l]) for j in range(it.n) for l in range(it.k) if rows[j, l]
    )
    mean_Z = sum(columns[i, l] * it.estimate_z(i, l, columns[i, l]) for i in range(2 * it.d) for l in range(it.k))
    np.testing.assert_allclose(mean_S, S, atol=1e-14)
    np.testing.assert_allclose(mean_Z, Z, atol=1e-14)
    # the order of the draws has the same chances: half of a row's are on its class, the rest as V
    for j in range(it.n):
        own = rows[j, it.y[j]]
        assert own == pytest.approx(rows[j].sum() / 2)


def test_draws_have_their_chances() -> None:
    """The kernel's first draws over a grid of numbers, each taken back from the slope that the step shows."""
    problem, options = classes(n=7, d=4, k=3), {"sampling": "full", "horizon": 50, "radius": RADIUS}
    start = started(problem, "sublinear", **options)
    game, it = start.game, naive(7, 4, 3)
    step = 1e-2 / float(start.gammas(1)[0])
    U0, V0 = start.points(start.state)
    it.U, it.V = U0.reshape(it.U.shape), V0
    seen: dict[tuple[int, int], int] = {}
    for seed in range(40):
        one = started(problem, "sublinear", seed=seed, step=step, **options)
        one.advance(one.state, 1)
        rows, columns = it.chances()
        j, l, i, drawn = it.sample(draws(seed, 0).random((1, 5))[0], rows, columns)
        U1, V1 = one.points(one.state)
        moved = np.log(U1 / U0).reshape(2, game.d, game.k)
        moved = moved - np.median(moved)
        assert np.argmax(np.abs(moved).max(axis=(0, 1))) == l
        gamma = float(one.gammas(1)[0])
        np.testing.assert_allclose(V1, it.dual(V0, it.estimate_z(i, drawn, columns[i, drawn]), gamma), atol=1e-13)
        np.testing.assert_allclose(
            U1.reshape(it.U.shape), it.primal(it.U, it.estimate_slope(j, l, rows[j, l]), gamma), atol=1e-13
        )
        seen[j, l] = seen.get((j, l), 0) + 1
    assert len(seen) > 8


@pytest.mark.parametrize("loss", [HINGE, SOFTMAX])
def test_partial_sampling_step_by_step(loss: str) -> None:
    count, step = 400, 50.0
    run = started(classes(loss), "sublinear", radius=RADIUS, step=step, horizon=count, sampling="partial")
    state = run.state
    it, uniform = naive(softmax=loss == SOFTMAX), draws(0, 0).random((count, 2))
    run.advance_partial(state, count)
    gamma = step * run.first(RADIUS) / np.sqrt(count)
    mean_U, mean_V = 0.0, 0.0
    for t in range(count):
        mean_U, mean_V = mean_U + it.U / count, mean_V + it.V / count
        it.partly_sampled(uniform[t], gamma)
    np.testing.assert_allclose(state.U.reshape(it.U.shape), it.U, atol=1e-10)
    np.testing.assert_allclose(state.V, it.V, atol=1e-10)
    np.testing.assert_allclose(state.mean_x, (mean_U[:6] - mean_U[6:]).reshape(-1), atol=1e-10)
    np.testing.assert_allclose(state.mean_u, mean_V, atol=1e-10)
    # far from where it began
    assert np.abs(it.U - RADIUS / it.U.size).max() > 0.1


@pytest.mark.parametrize("where", ["penalty", "simplex"])
def test_partial_sampling_has_no_bias(where: str) -> None:
    problem = classes(where=where, n=7, d=4, k=3)
    run = stepped(problem, "sublinear", 3, sampling="partial", step=20.0)
    state, kernels = run.state, run.problem
    game, given = run.game, run.data
    Y = np.eye(3)[game.y]
    rows = given.tau * np.abs(state.V - Y).max(axis=1)
    columns = (given.sigma * state.U.reshape(game.parts, game.d, game.k).max(axis=2)).reshape(-1)
    mean_slope = mean_z = 0.0
    ends_r, ends_c = (np.cumsum(w) / w.sum() for w in (rows, columns))
    for j in range(game.n):
        middle = ends_r[j] - 0.5 * rows[j] / rows.sum()
        mean_slope = (
            mean_slope + rows[j] / rows.sum() * partial_estimates(game, given, state.U, state.V, middle, 0.0)[0]
        )
    for i in range(columns.size):
        middle = ends_c[i] - 0.5 * columns[i] / columns.sum()
        mean_z = mean_z + columns[i] / columns.sum() * partial_estimates(game, given, state.U, state.V, 0.0, middle)[1]
    np.testing.assert_allclose(mean_slope, kernels.adjoint([game.multipliers(state.V).reshape(-1)]), atol=1e-14)
    np.testing.assert_allclose(mean_z, game.forward(game.flat(state.U)), atol=1e-13)


def test_the_first_step_is_that_of_the_theorem() -> None:
    run, it = started(classes(), "sublinear"), naive()
    game = run.game
    assert game.pace(RADIUS) == pytest.approx(it.pace)
    largest, each = np.sqrt((it.X**2).sum(axis=0)).max(), np.abs(it.X).max(axis=1).sum()
    sigma_u, sigma_v = 4 * RADIUS**2 * largest**2 / it.n**2, 8 * largest**2 / it.n + 8 * each**2 / it.n**2
    omega_u, omega_v = RADIUS**2 * it.L, it.n * it.log_k
    noise = np.sqrt(omega_u * sigma_v + omega_v * sigma_u)
    assert run.first(RADIUS) == pytest.approx(min(1 / (it.pace * np.sqrt(5)), 1 / noise) / np.sqrt(2))
