"""Implicit feature maps: Gram matrices by block against the formulas, their products and factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.features import Kernel, RankOneUpdated, fit
from fwdsl.features import gram as module
from fwdsl.features.gram import CrossGram, FittedKernel, GramOperator, Linear, Polynomial, Rbf

RNG = np.random.default_rng(5)
X = RNG.standard_normal((50, 4)) * (RNG.random((50, 4)) < 0.6) + 0.0
NEW = RNG.standard_normal((11, 4))
KERNELS = {
    "rbf": Rbf(gamma=0.3),
    "polynomial": Polynomial(degree=3, coef0=0.5),
    "linear": Linear(),
}
FORMS = {
    "dense": X,
    "single": X.astype(np.float32),
    "csr": sp.csr_array(X),
    "centred": RankOneUpdated(sp.csr_array(X), np.ones(50), np.linspace(-1, 1, 4)),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(module, "_SIDE", 16)
    monkeypatch.setattr(module, "_TILE", 7)


def dense(data: Any) -> Any:
    return data.astype(np.float64) if isinstance(data, np.ndarray) else data.toarray()


def exact(kernel: Kernel, A: Any, B: Any) -> Any:
    A, B = dense(A), dense(B)
    if kernel.of_differences:
        return np.exp(-kernel.gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))
    return (A @ B.T + kernel.coef0) ** kernel.degree if isinstance(kernel, Polynomial) else A @ B.T


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_the_operator_is_the_gram_matrix(name, form):
    kernel, data = KERNELS[name], FORMS[form]
    K = exact(kernel, data, data)
    operator = kernel.fit(data).transform(data)
    assert isinstance(operator, GramOperator) and operator.shape == (50, 50)
    a, B = RNG.standard_normal(50), RNG.standard_normal((50, 3))
    for ours, theirs in [
        (operator.toarray(), K),
        (operator @ a, K @ a),
        (operator.matvec(B), K @ B),
        (a @ operator, a @ K),
        (operator.T @ a, K @ a),
        (operator.diag(), K.diagonal()),
        (operator.rows([3, 40, 3]), K[[3, 40, 3]]),
        (operator.cross(NEW) @ a, exact(kernel, NEW, data) @ a),
    ]:
        np.testing.assert_allclose(ours, theirs, atol=1e-10, rtol=1e-10)
    assert np.array_equal(operator.toarray(), operator.toarray().T)


@pytest.mark.parametrize("cache", [0, 5000, 1 << 20])
def test_caches_change_nothing_and_keep_to_their_size(cache):
    operator = GramOperator(X, KERNELS["rbf"], cache)
    K, a = exact(KERNELS["rbf"], X, X), RNG.standard_normal(50)
    for _ in range(3):
        np.testing.assert_allclose(operator @ a, K @ a, atol=1e-12)
        order = RNG.permutation(50)
        np.testing.assert_allclose(operator.rows(order), K[order], atol=1e-12)
    assert sum(b.nbytes for b in operator._blocks.values()) <= cache // 2
    assert len(operator._rows) <= max(1, cache // 2 // 400)


def test_what_is_cached_is_not_computed_again(monkeypatch):
    operator = GramOperator(X, KERNELS["rbf"])
    calls = []
    block = Kernel.block
    monkeypatch.setattr(Kernel, "block", lambda self, *args: calls.append(1) or block(self, *args))
    operator @ np.ones(50)
    assert len(calls) == 10  # of 4 x 4 blocks those on and above the diagonal
    operator @ np.ones(50)
    operator.toarray()
    assert len(calls) == 10
    operator.rows([1, 2])
    operator.rows([2, 1])
    assert len(calls) == 14


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("chunk", [1, 1 << 22])
def test_a_combination_takes_the_columns_of_its_coefficients(name, form, chunk, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 13 * chunk)
    data = FORMS[form]
    K = exact(KERNELS[name], dense(data), dense(data))
    operator = GramOperator(data, KERNELS[name])
    for share in (0.0, 0.1, 0.6, 1.0):
        a = RNG.standard_normal(50) * (RNG.random(50) < share)
        np.testing.assert_allclose(operator.combine(a), K @ a, atol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_rows_among_each_other_are_symmetric(name):
    kernel, out, looks = KERNELS[name], np.empty((50, 50)), []
    kernel.among(X, np.einsum("ij,ij->i", X, X), out, lambda: looks.append(1))
    np.testing.assert_allclose(out, exact(kernel, X, X), atol=1e-12)
    off = ~np.eye(50, dtype=bool)
    assert looks and np.array_equal(out, out.T) and np.all(np.isfinite(out[off]))


@pytest.mark.parametrize(
    "width, gamma", [(1, 0.7), (4, 0.013), (module._SHORT, 0.02), (module._SHORT + 1, 0.02), (4, 1e305)]
)
def test_values_of_short_and_long_rows_are_those_of_the_formula(width, gamma):
    A, B = RNG.standard_normal((20, width)), RNG.standard_normal((9, width))
    A[3] = B[4]
    squares = [np.einsum("ij,ij->i", data, data) for data in (A, B)]
    found = Rbf(gamma).block(A, B, *squares)
    assert np.all((found >= 0.0) & (found <= 1.0))
    if gamma < 1.0:
        np.testing.assert_allclose(found, exact(Rbf(gamma), A, B), rtol=0, atol=1e-12)
    else:
        assert np.count_nonzero(found) <= 1


@pytest.mark.parametrize("name", KERNELS)
def test_new_rows_meet_the_samples(name):
    fitted = fit(name, X, {"gamma": 0.3, "degree": 3, "coef0": 0.5})
    assert (fitted.inputs, fitted.columns) == (4, 50)
    for data in (NEW, sp.csr_array(NEW)):
        cross = fitted.transform(data)
        assert isinstance(cross, CrossGram) and cross.shape == (11, 50)
        K = exact(KERNELS[name], NEW, X)
        np.testing.assert_allclose(cross.toarray(), K, atol=1e-12)
        np.testing.assert_allclose(cross @ np.ones((50, 2)), K @ np.ones((50, 2)), atol=1e-10)
    with pytest.raises(ValueError, match="3 columns, and the samples have 4"):
        fitted.transform(NEW[:, :3])


def test_samples_far_from_the_origin_keep_their_digits():
    far = X + 1e6
    np.testing.assert_allclose(
        GramOperator(far, KERNELS["rbf"]).toarray(), exact(KERNELS["rbf"], far, far), rtol=1e-8, atol=0
    )


# --- factors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "rank"), [("rbf", None), ("polynomial", 35), ("linear", 4)])
def test_a_factor_gives_the_matrix_up_to_rounding(name, rank, form):
    operator = GramOperator(FORMS[form], KERNELS[name])
    K = exact(KERNELS[name], FORMS[form], FORMS[form])
    factor = operator.factor(1 << 20)
    assert factor is not None and (rank is None or factor.rank == rank)
    assert np.linalg.norm(K - factor.L @ factor.L.T, 2) <= factor.error <= 1e-11 * np.trace(K)
    assert np.array_equal(np.triu(factor.L[factor.pivots], 1), np.zeros((factor.rank, factor.rank)))


def test_factors_of_many_panels():
    points = np.random.default_rng(0).standard_normal((300, 6))
    operator = GramOperator(points, Rbf(gamma=1.0))
    factor = operator.factor(1 << 24)
    assert factor is not None and factor.rank > 128
    assert np.linalg.norm(operator.toarray() - factor.L @ factor.L.T, 2) <= factor.error < 1e-9


@pytest.mark.parametrize("name", KERNELS)
def test_coefficients_lead_to_the_same_function(name):
    operator = GramOperator(X, KERNELS[name])
    factor = operator.factor(1 << 20)
    assert factor is not None
    # The weights of a function whose coefficients are moderate, as those of a regularised fit are.
    w = factor.coordinates(RNG.standard_normal((50, 2)))
    a = factor.coefficients(w)
    np.testing.assert_allclose(operator @ a, factor.L @ w, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(np.sum(a * (operator @ a)), np.sum(w**2), rtol=1e-7)
    assert set(np.flatnonzero(a[:, 0])) <= set(factor.pivots.tolist())


def test_equal_samples_and_zero_matrices():
    same = GramOperator(np.ones((20, 3)), KERNELS["rbf"]).factor(1 << 20)
    assert same is not None and same.rank == 1 and np.allclose(same.L, 1.0)
    zero = GramOperator(np.zeros((20, 3)), KERNELS["linear"]).factor(1 << 20)
    assert zero is not None and zero.rank == 0 and zero.error == 0.0
    assert np.array_equal(zero.coefficients(np.zeros(0)), np.zeros(20))


def test_a_factor_that_needs_more_memory_is_not_made():
    operator = GramOperator(X, KERNELS["linear"])
    assert operator.factor(4 * 50 * 8) is not None
    assert operator.factor(3 * 50 * 8) is None


@pytest.mark.filterwarnings("error")
def test_a_width_far_below_the_distances():
    distinct = 1e8 * RNG.standard_normal((20, 3))
    assert np.array_equal(GramOperator(distinct, Rbf(gamma=1e300)).toarray(), np.eye(20))


def test_samples_that_are_kept_centred_give_the_same_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    samples, rows, a = 40.0 + rng.normal(size=(700, 6)), 40.0 + rng.normal(size=(3, 6)), rng.normal(size=700)
    kept = FittedKernel(Rbf(0.3), samples)
    assert kept._centred.rows(slice(0, 2)).base is not None
    monkeypatch.setattr(module, "_KEPT", 8 * samples.size - 1)
    centred_each_time = FittedKernel(Rbf(0.3), samples)
    np.testing.assert_allclose(kept.transform(rows) @ a, centred_each_time.transform(rows) @ a, rtol=1e-12, atol=1e-12)
