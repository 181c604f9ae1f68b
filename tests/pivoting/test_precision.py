"""Data whose squared condition no Gram matrix has room for: the triangle of the data, the active set that falls, and the projected dual point."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

import fwdsl as fw
from fwdsl.backends.active_set import Quadratic, Triangle, descended
from fwdsl.backends.pivoting.pivot import bounded

TEXT = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize sum(squared(A @ x, b))\nsubject to {}\n"


def draw(seed: int, n: int, condition: float) -> tuple[np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return U @ np.diag(np.logspace(0.0, -np.log10(condition), n)) @ V.T, rng


@pytest.mark.parametrize("seed", [13, 20, 25, 45, 52, 54, 59, 64, 78, 148])
@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_nonnegative_least_squares_of_a_large_condition(seed: int, unit: float) -> None:
    A, rng = draw(seed, 20, 2e8)
    x = np.maximum(rng.standard_normal(20), 0.0)
    targets = [rng.standard_normal(20), *(A @ x + noise * rng.standard_normal(20) for noise in (1e-3, 1e-6))]
    for b in targets:
        problem = fw.parse(TEXT.format("x >= 0")).bind(A=A * unit, b=b)
        found = problem.solve(method="pivoting")
        assert found.status == "optimal", (found.relative_gap, found.reason)
        _, least = nnls(A, b, maxiter=10_000)
        assert found.objective == pytest.approx(least**2, rel=1e-5, abs=2e-6 * found.certificate.scale)


@pytest.mark.parametrize("set_", ["x >= -1, x <= 2", "x <= 1"])
def test_other_intervals(set_: str) -> None:
    for seed in range(6):
        A, rng = draw(seed, 15, 1e8)
        problem = fw.parse(TEXT.format(set_)).bind(A=A, b=rng.standard_normal(15))
        found = problem.solve(method="pivoting")
        assert found.status == "optimal", (seed, found.relative_gap, found.reason)


def test_the_active_set_finds_what_pivoting_finds() -> None:
    rng = np.random.default_rng(7)
    for n in (1, 4, 30):
        A = rng.standard_normal((n + 5, n))
        H, c = A.T @ A, rng.standard_normal(n)
        lo, hi = -rng.random(n) * (rng.random(n) < 0.7), np.where(rng.random(n) < 0.5, np.inf, rng.random(n))
        places = np.where(lo == 0.0, -1, 0).astype(np.int8)
        plain = bounded(Quadratic(H, c, lambda: None), lo, hi, places)
        root = np.linalg.qr(A, mode="r")
        found = descended(Quadratic(H, c, lambda: None, root), lo, hi, places)
        assert plain is not None and found is not None
        np.testing.assert_allclose(found.x, plain.x, atol=1e-10)
        np.testing.assert_array_equal(found.places, plain.places)


def test_columns_that_depend_on_each_other_have_no_triangle() -> None:
    columns = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    assert Triangle.of(columns) is None
    assert Triangle.of(columns[:1]) is None
    triangle = Triangle.of(columns[:, :1])
    assert triangle is not None and triangle.solve(np.array([28.0])) == pytest.approx([2.0])
