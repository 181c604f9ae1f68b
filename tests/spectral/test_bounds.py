"""Bounds from above: never below the truth, close to it, and of the kind they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.spectral.bounds import largest_singular_bound
from fwdsl.spectral.randomized import complement_bound, exceeded, largest_eigenvalue
from fwdsl.spectral.rigorous import eigenvalue_by_cholesky, singular_by_cholesky

from .matrices import MATRICES, with_singular_values

ROUNDING = 1e-13
"""The error that NumPy's own singular values may have."""

matrices = pytest.mark.parametrize("name", MATRICES)


def largest(A: Any) -> float:
    return float(np.linalg.svd(A, compute_uv=False)[0])


@matrices
@pytest.mark.parametrize("method", ["svd", "cholesky"])
def test_rigorous_bounds_hold_and_are_tight(name: str, method: str) -> None:
    A = MATRICES[name]
    bound, truth = largest_singular_bound(A, method=method), largest(A)
    assert bound.kind == "rigorous" and bound.failure == 0.0
    assert truth * (1 - ROUNDING) <= bound.value_upper <= truth * (1 + 1e-10)
    assert bound.lower <= truth * (1 + ROUNDING)


@matrices
@pytest.mark.parametrize("seed", [0, 1])
def test_random_bounds_hold_and_reach_their_tolerance(name: str, seed: int) -> None:
    A = MATRICES[name]
    bound, truth = largest_singular_bound(A, method="lanczos", rtol=1e-6, seed=seed), largest(A)
    assert bound.kind == "probabilistic" and "1e-09" in bound.statement
    assert truth * (1 - ROUNDING) <= bound.value_upper <= truth * (1 + 1.01e-6)
    assert bound.lower <= truth * (1 + ROUNDING)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_random_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 60, 2)
    A = rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-6, 6, n) * (rng.random((m, n)) < 0.5)
    truth = largest(A)
    for method in ("svd", "cholesky", "lanczos"):
        assert largest_singular_bound(A, method=method).value_upper >= truth * (1 - ROUNDING)


@matrices
def test_sparse_matrices_and_operators_have_the_same_bounds(name: str) -> None:
    A = MATRICES[name]
    truth = largest(A)

    class Products:
        shape = A.shape

        def matvec(self, x: Any) -> Any:
            return A @ x

        def rmatvec(self, y: Any) -> Any:
            return A.T @ y

    for op in (sp.csr_array(A), sp.csc_matrix(A), Products()):
        bound = largest_singular_bound(op)
        assert bound.kind == ("probabilistic" if isinstance(op, Products) else "rigorous")
        assert truth * (1 - ROUNDING) <= bound.value_upper <= truth * (1 + 1.01e-6)


def test_scales_that_squares_overflow_or_underflow() -> None:
    A = MATRICES["tall"]
    for scale in (1e-200, 1e200):
        for method in ("svd", "cholesky"):
            bound = largest_singular_bound(scale * A, method=method)
            assert largest(scale * A) * (1 - ROUNDING) <= bound.value_upper <= largest(scale * A) * (1 + 1e-10)


def test_warm_vectors_that_miss_the_largest_value_do_not_hide_it() -> None:
    A = with_singular_values(120, 100, [1.001, 1.0, 1.0, 1.0, *[0.5] * 90])
    V = np.linalg.svd(A)[2][1:4].T
    bound = largest_singular_bound(A, method="lanczos", warm=V)
    assert 1.001 * (1 - ROUNDING) <= bound.value_upper <= 1.001 * (1 + 1e-6)


def test_good_warm_vectors_save_products() -> None:
    A = with_singular_values(200, 150, [1.0] * 12 + list(np.linspace(0.97, 0.0, 130)))
    V = np.linalg.svd(A)[2][:12].T
    warm, cold = (largest_singular_bound(A, method="lanczos", warm=w, seed=3) for w in (V, None))
    assert warm.products < cold.products
    assert 1.0 - ROUNDING <= warm.value_upper <= 1.0 + 1e-6


def test_same_seed_same_bound() -> None:
    A = MATRICES["slowly falling"]
    first, second = (largest_singular_bound(A, method="lanczos", seed=7) for _ in range(2))
    assert first.value_upper == second.value_upper and first.products == second.products


def test_cut_short_the_bound_is_wide_but_holds() -> None:
    A = np.random.default_rng(0).standard_normal((400, 300))
    bound = largest_singular_bound(A, method="lanczos", rtol=1e-9, max_steps=20)
    assert largest(A) * 1.01 < bound.value_upper < largest(A) * 4


def test_the_failure_probability_is_that_of_the_start() -> None:
    """On the worst spectrum for one step, at p = 1/4, nearly a quarter of 2000 runs fails, and no more."""
    values = np.array([1.0] + [0.0] * 59)
    failed = 0
    for seed in range(2000):
        b = np.random.default_rng(seed).standard_normal(60)
        ritz = np.array([values @ b**2 / (b @ b)])
        failed += complement_bound(ritz, 1, 60, 0.25) < 1.0
    assert 0.2 <= failed / 2000 <= 0.25
    assert exceeded(30, 60, 1e-9) < exceeded(20, 60, 1e-9) < exceeded(20, 60, 1e-12)


def test_cholesky_refuses_a_value_below_the_largest() -> None:
    S = np.diag([1.0, 2.0, 3.0])
    assert eigenvalue_by_cholesky(S, 3.0 - 1e-6) is None
    found = eigenvalue_by_cholesky(S, 3.0 + 1e-9)
    assert found is not None and 3.0 + 1e-9 <= found <= 3.0 + 2e-9


@pytest.mark.parametrize("estimate", [0.0, 0.5, 1.0, 100.0])
def test_cholesky_needs_no_good_estimate(estimate: float) -> None:
    A = MATRICES["rank two"]
    bound, _ = singular_by_cholesky(A, estimate)
    assert 3.0 * (1 - ROUNDING) <= bound <= np.linalg.norm(A) * (1 + 1e-9)


def test_a_space_that_the_warm_vectors_span() -> None:
    found = largest_eigenvalue(
        lambda X: X * 2.0,
        3,
        failure=1e-9,
        rtol=1e-6,
        warm=np.eye(3),
        seed=0,
        max_steps=10,
    )
    assert 2.0 <= found.upper <= 2.0 * (1 + 1e-13)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        largest_singular_bound(np.array([[np.nan, 1.0]]))
    with pytest.raises(ValueError, match="no method"):
        largest_singular_bound(np.ones((2, 3)), method="power")
    assert largest_singular_bound(np.zeros((0, 4))).value_upper == 0.0
