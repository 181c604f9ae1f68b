"""Matrix completion on factors: against cvxpy where it is small, by its own certificate and an SVD where it is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses.logistic import Logistic
from fwdsl.atoms.losses.squared import Squared
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.lowrank.completion import Completion
from fwdsl.backends.lowrank.factors import balanced, thin_svd
from fwdsl.backends.lowrank.observed import ObservedEntries

from .certificates import complete


def instance(n: int, p: int, rank: int, count: int, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    at = rng.choice(n * p, count, replace=False)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))
    return at // p, at % p, X[at // p, at % p] + 0.1 * rng.standard_normal(count)


def squared(entries: ObservedEntries, values: Any) -> LossFunction:
    b = values[entries.order]
    return LossFunction(Squared, b, np.full(b.size, 0.5), np.zeros(0))


def logistic(entries: ObservedEntries, values: Any) -> LossFunction:
    b = np.where(values[entries.order] > 0, 1.0, -1.0)
    return LossFunction(Logistic, b, np.full(b.size, 1.0), np.zeros(0))


def by_cvxpy(rows: Any, cols: Any, values: Any, loss: Any, shape: Any, radius: float, penalty: float) -> float:
    cp = pytest.importorskip("cvxpy")
    X = cp.Variable(shape)
    z = cp.hstack([X[int(i), int(j)] for i, j in zip(rows, cols, strict=True)])
    if loss is squared:
        f = 0.5 * cp.sum_squares(z - values)
    else:
        f = cp.sum(cp.logistic(-cp.multiply(np.where(values > 0, 1.0, -1.0), z)))
    constraints = [cp.normNuc(X) <= radius] if math.isfinite(radius) else []
    problem = cp.Problem(cp.Minimize(f + penalty * cp.normNuc(X)), constraints)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


# a ball that binds, one that does not (with a penalty), a penalty alone, both binding; more columns than rows and the reverse
CASES = [(2.0, 0.0), (1e3, 0.5), (math.inf, 0.7), (3.0, 0.2)]


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(("radius", "penalty"), CASES)
@pytest.mark.parametrize("loss", [squared, logistic])
@pytest.mark.parametrize("shape", [(9, 6), (5, 8)])
def test_against_cvxpy(shape: tuple[int, int], loss: Any, radius: float, penalty: float) -> None:
    rows, cols, values = instance(*shape, 2, shape[0] * shape[1] // 2)
    entries = ObservedEntries(shape, rows, cols)
    problem = Completion(entries, loss(entries, values), radius, penalty)
    state, found = complete(problem, tol=1e-7, rank=1, max_iter=3000)
    reference = by_cvxpy(rows, cols, values, loss, shape, radius, penalty)
    assert found.gap <= 1e-7
    assert found.dual <= reference + 2e-6 and abs(found.primal - reference) <= 2e-6 * max(1.0, abs(reference))
    P, sigma, Q = problem.factors(state)
    X = (P * sigma) @ Q.T
    assert np.linalg.svd(X, compute_uv=False).sum() <= radius * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_medium_problem_grows_its_rank_and_certifies(seed: int) -> None:
    # 1e-8 of the value is near its rounding: seen by values alone, steps would stall above it for thousands of iterations
    rows, cols, values = instance(300, 200, 5, 9000, seed)
    entries = ObservedEntries((300, 200), rows, cols)
    problem = Completion(entries, squared(entries, values), 300.0)
    state, found = complete(problem, tol=1e-8, rank=2, max_iter=600)
    assert found.gap <= 1e-8 and found.rank >= 5
    G = np.zeros((300, 200))
    G[rows[entries.order], cols[entries.order]] = found.y
    P, sigma, Q = problem.factors(state)
    X = (P * sigma) @ Q.T
    frank_wolfe_gap = float(np.vdot(G, X)) + 300.0 * float(np.linalg.svd(G, compute_uv=False)[0])
    assert frank_wolfe_gap <= (found.primal - found.dual) * (1 + 1e-6) + 1e-9 * found.primal
    assert np.allclose(found.primal, 0.5 * np.sum((X[rows, cols] - values) ** 2), rtol=1e-12)


def test_superfluous_columns_leave() -> None:
    rows, cols, values = instance(200, 150, 3, 8000)
    entries = ObservedEntries((200, 150), rows, cols)
    problem = Completion(entries, squared(entries, values), 150.0)
    state, found = complete(problem, tol=1e-7, rank=20, max_iter=600)
    assert found.gap <= 1e-7 and found.rank < 10
    again, same = complete(problem, tol=1e-7, rank=20, max_iter=600)
    assert np.array_equal(state.W, again.W) and same.dual == found.dual


def test_a_large_penalty_gives_zero() -> None:
    rows, cols, values = instance(20, 15, 2, 100)
    entries = ObservedEntries((20, 15), rows, cols)
    G = np.zeros((20, 15))
    G[rows, cols] = values
    penalty = 1.01 * float(np.linalg.svd(G, compute_uv=False)[0])
    problem = Completion(entries, squared(entries, values), penalty=penalty)
    state, found = complete(problem, tol=1e-9, max_iter=200)
    assert found.gap <= 1e-9 and np.linalg.norm(state.W) <= 1e-6
    assert found.primal == pytest.approx(0.5 * values @ values, rel=1e-9)


def test_gradient_of_the_factors() -> None:
    rows, cols, values = instance(12, 10, 2, 60)
    entries = ObservedEntries((12, 10), rows, cols)
    problem = Completion(entries, logistic(entries, values), 5.0, 0.3)
    rng = np.random.default_rng(0)
    W, D = rng.standard_normal((22, 3)), rng.standard_normal((22, 3))
    _, grad, _ = problem.gradient(W, problem.predict(W))
    h = 1e-5
    ends = [problem.value(W + t * D, problem.predict(W + t * D)) for t in (h, -h)]
    assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(float(np.vdot(grad, D)), rel=1e-6)


def test_entries_and_their_kernels() -> None:
    rng = np.random.default_rng(0)
    # some places twice, an empty row and an empty column
    rows, cols = rng.integers(0, 6, 40), rng.integers(1, 8, 40)
    entries = ObservedEntries((7, 8), rows, cols)
    U, V, DU, DV = (rng.standard_normal((n, 3)) for n in (7, 8, 7, 8))
    y = rng.standard_normal(40)
    i, j = rows[entries.order], cols[entries.order]
    G = np.zeros((7, 8))
    np.add.at(G, (i, j), y)
    assert np.allclose(entries.predict(U, V), (U @ V.T)[i, j])
    assert np.allclose(entries.left(y, V), G @ V) and np.allclose(entries.right(y, U), G.T @ U)
    assert np.allclose(entries.operator(y).matvec(V[:, 0]), G @ V[:, 0])
    assert np.allclose(entries.operator(y).rmatvec(U), G.T @ U)
    first, second = entries.predict_path(U, V, DU, DV)
    assert np.allclose(entries.predict(U + 0.3 * DU, V + 0.3 * DV), (U @ V.T)[i, j] + 0.3 * first + 0.09 * second)


def test_threads_share_entries_to_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    shape, count = (900, 700), 400_000  # several blocks of rows, and of columns
    rows, cols = rng.integers(0, 900, count), rng.integers(0, 700, count)
    U, V = rng.standard_normal((900, 3)), rng.standard_normal((700, 3))
    y = rng.standard_normal(count)

    def products(threads: int) -> list[Any]:
        with Pool(threads) as pool:
            entries = ObservedEntries(shape, rows, cols, pool)
            G = entries.operator(y)
            both = [G.matvec(V[:, 0]), G.rmatvec(U[:, 0])]
            sides = [entries.left(y, V), entries.right(y, U)]
            return [entries.predict(U, V), *entries.predict_path(U, V, U, V), *sides, *both]

    whole = products(1)
    assert all(np.array_equal(a, b) for threads in (2, 3) for a, b in zip(whole, products(threads), strict=True))
    entries = ObservedEntries(shape, rows, cols)
    i, j = rows[entries.order], cols[entries.order]
    assert np.allclose(whole[0], np.einsum("ek,ek->e", U[i], V[j]))
    expected = np.zeros((700, 3))
    np.add.at(expected, j, y[:, None] * U[i])
    assert np.allclose(whole[4], expected)


def test_balanced_factors_have_the_trace_norm() -> None:
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((9, 4)), 5.0 * rng.standard_normal((7, 4))
    P, s, Q = thin_svd(U, V)
    W = balanced(P, s, Q)
    assert np.allclose(W[:9] @ W[9:].T, U @ V.T)
    assert 0.5 * np.sum(W**2) == pytest.approx(np.linalg.svd(U @ V.T, compute_uv=False).sum())


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        ObservedEntries((3, 3), np.array([3]), np.array([0]))
    entries = ObservedEntries((3, 3), np.array([0]), np.array([0]))
    with pytest.raises(ValueError, match="radius"):
        Completion(entries, squared(entries, np.ones(1)))
