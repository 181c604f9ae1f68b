"""The active set that falls: against an enumeration of faces, on singular matrices, with a bound on how many coordinates are freed, and its steps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls

import fwdsl as fw
from fwdsl.backends import active_set
from fwdsl.backends.active_set import Block, Quadratic, descended
from fwdsl.backends.pivoting import run as pivoting_run

NNLS = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in nonnegative\nminimize sum(squared(A @ x, b))\n"


def value(Q: Quadratic, x: np.ndarray) -> float:
    return float(0.5 * x @ Q.H @ x - Q.c @ x)


def least(Q: Quadratic, lo: np.ndarray, hi: np.ndarray) -> float:
    """The least value over all faces of the box, the free coordinates at a least-squares solution that is inside."""
    best = np.inf
    for places in product((-1, 0, 1), repeat=lo.size):
        at = np.array(places)
        x = np.where(at < 0, lo, np.where(at > 0, hi, 0.0))
        free = at == 0
        if not np.all(np.isfinite(x)):
            continue
        rest = Q.c[free] - Q.H[np.ix_(free, ~free)] @ x[~free]
        x[free] = np.linalg.lstsq(Q.H[np.ix_(free, free)], rest, rcond=None)[0]
        if np.all(x >= lo - 1e-12) and np.all(x <= hi + 1e-12):
            best = min(best, value(Q, x))
    return best


@pytest.mark.parametrize("rows", [2, 4, 9])
@pytest.mark.parametrize("seed", range(6))
def test_it_finds_the_least_of_all_faces(seed: int, rows: int) -> None:
    """With fewer rows than unknowns H is singular."""
    rng = np.random.default_rng((seed, rows))
    A = rng.standard_normal((rows, 6))
    A[:, 5] = A[:, 0]
    Q = Quadratic(A.T @ A, A.T @ rng.standard_normal(rows), lambda: None)
    lo = np.where(rng.random(6) < 0.7, 0.0, -0.3)
    hi = np.where(rng.random(6) < 0.5, 5.0, 0.4)
    places = np.where(lo == 0.0, -1, 0).astype(np.int8)
    for independent in (None, rows):
        found = descended(Q, lo, hi, places, independent)
        assert found is not None
        assert np.all(found.x >= lo) and np.all(found.x <= hi)
        assert value(Q, found.x) == pytest.approx(least(Q, lo, hi), abs=1e-9)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (30, 60), (60, 60), (20, 200)])
def test_it_is_the_one_of_scipy(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape)
    A = rng.standard_normal(shape)
    for b in (
        rng.standard_normal(shape[0]),
        A @ np.maximum(rng.standard_normal(shape[1]), 0.0),
        -np.abs(A).sum(axis=1),
    ):
        Q = Quadratic(A.T @ A, A.T @ b, lambda: None)
        none, far = np.zeros(shape[1]), np.full(shape[1], np.inf)
        found = descended(Q, none, far, np.full(shape[1], -1, dtype=np.int8), shape[0])
        assert found is not None
        assert float(np.square(A @ found.x - b).sum()) == pytest.approx(nnls(A, b)[1] ** 2, rel=1e-9, abs=1e-9)


def test_no_more_coordinates_are_free_than_may_be_independent(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((12, 80))
    sizes: list[int] = []
    plain = Block.factored

    def counted(self: Block) -> object:
        sizes.append(len(self.H))
        return plain(self)

    monkeypatch.setattr(Block, "factored", counted)
    Q = Quadratic(A.T @ A, A.T @ rng.standard_normal(12), lambda: None)
    found = descended(Q, np.zeros(80), np.full(80, np.inf), np.full(80, -1, dtype=np.int8), 12)
    assert found is not None and max(sizes) <= 13
    sizes.clear()
    B = rng.standard_normal((60, 60))
    Q = Quadratic(B.T @ B, B.T @ rng.standard_normal(60), lambda: None)
    found = descended(Q, np.zeros(60), np.full(60, np.inf), np.full(60, -1, dtype=np.int8))
    # several are freed at once
    assert found is not None and len(sizes) < found.free.size


def test_columns_of_all_sizes_change_nothing() -> None:
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((15, 10)), rng.standard_normal(15)
    scale = np.logspace(-9.0, 9.0, 10)
    held, none, far = np.full(10, -1, dtype=np.int8), np.zeros(10), np.full(10, np.inf)
    plain = descended(Quadratic(A.T @ A, A.T @ b, lambda: None), none, far, held)
    B = A * scale
    other = descended(Quadratic(B.T @ B, B.T @ b, lambda: None), none, far, held)
    assert plain is not None and other is not None
    np.testing.assert_allclose(scale * other.x, plain.x, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(other.places, plain.places)


def test_slopes_within_the_noise_stay() -> None:
    H, c = np.eye(3), np.array([1.0, 0.5, -1.0])
    held = np.full(3, -1, dtype=np.int8)
    found = descended(Quadratic(H, c, lambda: None, noise=np.full(3, 0.7)), np.zeros(3), np.full(3, np.inf), held)
    assert found is not None
    np.testing.assert_allclose(found.x, [1.0, 0.0, 0.0], atol=1e-12)


def test_a_step_is_cut_to_the_box_where_that_falls() -> None:
    block = Block(np.array([[1.0, 0.9], [0.9, 1.0]]), None)
    x, slope = np.array([0.5, 0.5]), np.array([1.0, -1.0])
    step = -np.linalg.solve(block.H, slope)
    lo, hi = np.zeros(2), np.full(2, np.inf)
    found = active_set._within(block, slope, x, step, lo, hi)
    assert found is not None
    new, ends = found
    change = new - x
    assert np.all(new >= lo) and slope @ change + 0.5 * change @ block.H @ change < 0.0
    np.testing.assert_array_equal(ends, new == 0.0)
    first, met = active_set._first(x, step, lo, hi)
    np.testing.assert_allclose(first, x + 0.5 / -step[0] * step)
    np.testing.assert_array_equal(met, [True, False])


def test_it_goes_on_where_pivoting_does_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((30, 8)), rng.standard_normal(30)
    monkeypatch.setattr(pivoting_run, "bounded", lambda *_, **__: None)
    found = fw.parse(NNLS).bind(A=A, b=b).solve(method="pivoting", tol=1e-9)
    assert found.status == "optimal" and found.iterations == 1
    assert found.objective == pytest.approx(nnls(A, b)[1] ** 2, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_tall_data_of_low_rank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = np.abs(rng.standard_normal((90, 6))) @ np.abs(rng.standard_normal((6, 40)))
    b = A @ np.maximum(rng.standard_normal(40), 0.0) + rng.standard_normal(90)
    found = fw.parse(NNLS).bind(A=A, b=b).solve(method="pivoting", tol=1e-8, max_iter=10)
    assert found.status == "optimal", found.reason
    assert found.objective == pytest.approx(nnls(A, b)[1] ** 2, rel=1e-7)
