"""The steps of the methods with loops of their own, averaged over every batch that can be drawn: those of the whole gradient."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from fwdsl.backends.baselines import common, spdc, subgradient, svrg
from tests.baselines.common import Naive, bound, data, matrix_data, matrix_text, text
from tests.runs import started

# without a set the prox is affine, and the mean of proxes the prox of the mean
RIDGE = " + 0.1 * sum_squares(x)"
SMOOTH = [
    bound(text("logistic", "", RIDGE), data("logistic", "csr", n=6)),
    bound(matrix_text("softmax", "", " + 0.1 * sum_squares(X)"), matrix_data("softmax", n=6)),
]
HINGES = [
    bound(text("absolute", "", RIDGE), data("absolute", n=6)),
    bound(matrix_text("multiclass_hinge", "", " + 0.1 * sum_squares(X)"), matrix_data("multiclass_hinge", "csr", n=6)),
    bound(matrix_text("absolute", "fro_ball(100)", " + 0.1 * sum_squares(X)"), matrix_data("absolute", n=6)),
]


@pytest.fixture(autouse=True)
def _an_iteration_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a problem that is always to stop, a call of `step` is one iteration."""
    monkeypatch.setattr(common, "LOOK", 0)


def iterated(problem: Any, name: str, x: np.ndarray, batches: list[np.ndarray], patch: Any, **options: Any) -> Any:
    """The state after an iteration from x with each of these batches."""
    run = started(problem, name, x, **options)
    run.problem.must_stop = lambda: True
    module = {"svrg": svrg, "spdc": spdc, "subgradient": subgradient}[name]
    for rows in batches:
        patch.setattr(module, "batches", lambda *_, rows=rows: rows[None, :])
        if hasattr(module, "draw"):
            patch.setattr(module, "draw", lambda *_, rows=rows: rows)
        run.step()
    return run.state


def every(n: int, size: int) -> list[np.ndarray]:
    return [np.array(c) for c in combinations(range(n), size)]


@pytest.mark.parametrize("problem", SMOOTH, ids=["vector", "matrix"])
@pytest.mark.parametrize("size", [1, 2])
def test_svrg(problem: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    naive = Naive(problem)
    snapshot = np.random.default_rng(3).standard_normal(naive.size)
    batches = every(naive.n, size)
    # at the snapshot every batch gives the gradient; from where that leads they differ
    found = [iterated(problem, "svrg", snapshot, [batches[0], b], monkeypatch, batch=size) for b in batches]
    eta = found[0].eta

    def exact(x: np.ndarray) -> np.ndarray:
        return np.asarray(naive.g.prox(x - eta * (naive.gradient(x) - naive.mu * x), eta))

    points = np.array([s.point for s in found])
    assert np.ptp(points, axis=0).max() > 1e-6
    np.testing.assert_allclose(points.mean(axis=0), exact(exact(snapshot)), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("problem", HINGES, ids=["vector", "matrix", "no loop"])
@pytest.mark.parametrize("size", [1, 2])
def test_subgradient(problem: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    naive = Naive(problem)
    x = np.random.default_rng(3).standard_normal(naive.size)
    found = [iterated(problem, "subgradient", x, [b], monkeypatch, batch=size, step=0.01) for b in every(naive.n, size)]
    eta = 2.0 * 0.01 / (naive.mu * 2.0)
    points = np.array([s.x for s in found])
    assert np.ptp(points, axis=0).max() > 1e-6
    expected = naive.g.prox(x - eta * (naive.gradient(x) - naive.mu * x), eta)
    np.testing.assert_allclose(points.mean(axis=0), expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2])
def test_spdc(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = SMOOTH[0]
    naive = Naive(problem)
    K, f, n = naive.K[:, 0, :], naive.term.f, naive.n
    x = np.random.default_rng(3).standard_normal(naive.size)
    y = naive.slopes(x)[:, 0]
    # away from the slopes at x, where all dual steps are zero
    warm = np.clip(0.5 * y, *f.dual_bounds())
    found = []
    for rows in every(n, size):
        run = started(problem, "spdc", x, [warm], batch=size)
        run.problem.must_stop = lambda: True
        monkeypatch.setattr(spdc, "batches", lambda *_, rows=rows: rows[None, :])
        run.step()
        found.append(run.state)
    s = found[0]
    step = s.sigma / n
    moved = warm + step * (K @ x + naive.offset)
    whole = np.clip(moved - step * f.prox(moved / step, 1.0 / step), *f.dual_bounds())
    assert np.abs(whole - warm).max() > 1e-6
    mean = warm + size / n * (whole - warm)
    np.testing.assert_allclose(np.mean([s.y for s in found], axis=0), mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.mean([s.u for s in found], axis=0), K.T @ mean, rtol=1e-9, atol=1e-12)
    expected = naive.g.prox(x - s.tau * (K.T @ whole + naive.q), s.tau)
    np.testing.assert_allclose(np.mean([s.x for s in found], axis=0), expected, rtol=1e-9, atol=1e-12)
