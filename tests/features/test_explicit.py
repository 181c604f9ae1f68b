"""Explicit feature maps against their formulas, for every way in which data may be stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.features import RankOneUpdated, fit

RNG = np.random.default_rng(3)
X = np.round(RNG.standard_normal((40, 6)), 2) * (RNG.random((40, 6)) < 0.5)
X[7] = 0.0
NEW = np.round(RNG.standard_normal((9, 6)), 2) * (RNG.random((9, 6)) < 0.5)
OPTIONS: dict[str, dict[str, Any]] = {
    "fourier": {"features": 50, "gamma": 0.4, "seed": 2},
    "random_binning": {"grids": 30, "gamma": 0.4, "seed": 2},
    "standardize": {"center": True},
    "normalize": {},
    "intercept": {},
}


def dense(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else value.toarray()


def centred(A: Any = X) -> RankOneUpdated:
    """Sparse data less a rank-one term, and no zero anywhere."""
    return RankOneUpdated(sp.csr_array(A), np.linspace(0.5, 1.5, A.shape[0]), np.linspace(-1.0, 1.0, A.shape[1]))


@pytest.mark.parametrize("name", OPTIONS)
def test_sparse_data_have_the_features_of_the_same_dense_data(name):
    plain, sparse = fit(name, X, OPTIONS[name]), fit(name, sp.csr_array(X), OPTIONS[name])
    assert plain.columns == sparse.columns and plain.inputs == sparse.inputs == 6
    for data in (X, NEW):
        expected = dense(plain.transform(data))
        assert expected.shape == (data.shape[0], plain.columns)
        for fitted in (plain, sparse):
            np.testing.assert_allclose(dense(fitted.transform(sp.csr_array(data))), expected, atol=1e-14)


@pytest.mark.parametrize("name", OPTIONS)
def test_centred_data_have_the_features_of_the_same_dense_data(name):
    fitted = fit(name, centred(), OPTIONS[name])
    expected = fit(name, centred().toarray(), OPTIONS[name])
    np.testing.assert_allclose(
        dense(fitted.transform(centred())), dense(expected.transform(centred().toarray())), atol=1e-13
    )


@pytest.mark.parametrize("name", ["standardize", "normalize", "intercept", "random_binning"])
def test_sparse_data_stay_sparse(name):
    features = fit(name, sp.csr_array(X), OPTIONS[name]).transform(sp.csr_array(X))
    stored = features.A if name == "standardize" else features
    assert isinstance(stored, sp.csr_array)
    limit = {"random_binning": 40 * 30, "intercept": np.count_nonzero(X) + 40}.get(name, np.count_nonzero(X))
    assert stored.nnz == limit
    assert stored.has_sorted_indices and stored.has_canonical_format


@pytest.mark.parametrize("name", OPTIONS)
def test_single_precision_stays_what_it_is(name, tmp_path: Path):
    single = X.astype(np.float32)
    np.save(tmp_path / "X.npy", single)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for data in (single, mapped, sp.csr_array(single)):
        fitted = fit(name, data, OPTIONS[name])
        features = fitted.transform(data)
        assert features.dtype == np.float32
        exact = dense(fit(name, single.astype(np.float64), OPTIONS[name]).transform(single.astype(np.float64)))
        np.testing.assert_allclose(dense(features), exact, atol=1e-6)


# --- one by one ------------------------------------------------------------------------------------------------------


def test_fourier_approximates_the_gaussian_kernel():
    phi = fit("fourier", X, {"features": 20000, "gamma": 0.4}).transform(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert np.abs(phi @ phi.T - np.exp(-0.4 * squares)).max() < 0.05


def test_fourier_is_its_formula_and_is_drawn_in_blocks(monkeypatch):
    generator = np.random.default_rng(2)
    phases = generator.uniform(0.0, 2.0 * np.pi, 50)
    frequencies = np.sqrt(0.8) * generator.standard_normal((50, 6))
    expected = np.sqrt(2 / 50) * np.cos(X @ frequencies.T + phases)
    fitted = fit("fourier", X, OPTIONS["fourier"])
    np.testing.assert_allclose(fitted.transform(X), expected, atol=1e-14)
    monkeypatch.setattr("fwdsl.features.fourier._WEIGHTS", 40)
    np.testing.assert_allclose(fitted.transform(X), expected, atol=1e-14)


def test_fourier_of_data_that_overflow_is_refused():
    huge = np.full((2, 6), 1.7e308)
    with pytest.raises(ValueError, match="overflow"):
        fit("fourier", huge, {"features": 5, "gamma": 1e300}).transform(huge)


def test_random_binning_approximates_the_laplacian_kernel():
    phi = fit("random_binning", X, {"grids": 20000, "gamma": 0.4}).transform(X)
    distances = np.abs(X[:, None] - X[None]).sum(axis=2)
    assert np.abs((phi @ phi.T).toarray() - np.exp(-0.4 * distances)).max() < 0.05


def test_random_binning_is_its_definition(monkeypatch):
    phi = fit("random_binning", X, OPTIONS["random_binning"]).transform(X)
    generator = np.random.default_rng(2)
    together = np.zeros((40, 40))
    for _ in range(30):
        pitches = generator.gamma(2.0, 1 / 0.4, 6)
        shifts = generator.uniform(0.0, 1.0, 6) * pitches
        generator.integers(0, 2**64, 6, dtype=np.uint64)
        bins = np.floor((X - shifts) / pitches)
        together += (bins[:, None] == bins[None]).all(axis=2)
    np.testing.assert_allclose((phi @ phi.T).toarray(), together / 30, atol=1e-14)
    monkeypatch.setattr("fwdsl.features.random_binning._GROUP", 40)
    assert (fit("random_binning", X, OPTIONS["random_binning"]).transform(X) != phi).nnz == 0


def test_bins_that_the_fit_has_not_seen_have_no_column():
    fitted = fit("random_binning", X, OPTIONS["random_binning"])
    assert fitted.transform(X + 1e6).nnz == 0
    assert fitted.transform(X[:3]).nnz == 3 * 30


def test_standardize_gives_mean_0_and_deviation_1():
    Z = fit("standardize", X, {}).transform(X)
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-14)
    kept = fit("standardize", X, {"center": False}).transform(X)
    np.testing.assert_allclose(kept, X / X.std(axis=0), atol=1e-14)
    assert isinstance(fit("standardize", sp.csr_array(X), {"center": False}).transform(sp.csr_array(X)), sp.csr_array)


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_of_one_value_become_0(sparse):
    A = np.column_stack([np.full(40, 0.1), np.zeros(40), X[:, 0]])
    data = sp.csr_array(A) if sparse else A
    fitted = fit("standardize", data, {})
    assert np.array_equal(fitted.std[:2], [1.0, 1.0])
    assert np.array_equal(dense(fitted.transform(data))[:, :2], np.zeros((40, 2)))


@pytest.mark.parametrize("shift", [1e8, -1e8])
@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_neither_a_large_mean_nor_a_large_scale_costs_digits(shift, scale):
    A = (np.arange(10.0)[:, None] + shift) * scale
    for data in (A, sp.csr_array(A)):
        np.testing.assert_allclose(fit("standardize", data, {}).std, np.arange(10.0).std() * scale, rtol=1e-7)


def test_rows_get_length_1_and_zero_rows_stay():
    Z = fit("normalize", X, {}).transform(X)
    norms = np.linalg.norm(Z, axis=1)
    assert norms[7] == 0.0 and np.allclose(np.delete(norms, 7), 1.0)
    np.testing.assert_allclose(Z * np.linalg.norm(X, axis=1)[:, None], X, atol=1e-15)


def test_rows_whose_squares_overflow_or_vanish_get_length_1_too():
    A = np.array([[3e200, 4e200], [3e-200, 4e-200], [3.0, 4.0], [0.0, 0.0], [5e-324, 0.0]])
    expected = [[0.6, 0.8], [0.6, 0.8], [0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]
    for data in (A, sp.csr_array(A)):
        np.testing.assert_allclose(dense(fit("normalize", data, {}).transform(data)), expected, rtol=1e-14)


def test_intercept_appends_ones():
    for data in (X, sp.csr_array(X)):
        np.testing.assert_array_equal(dense(fit("intercept", data, {}).transform(data)), np.c_[X, np.ones(40)])


def test_an_unknown_map_is_refused():
    with pytest.raises(ValueError, match="`wavelets`"):
        fit("wavelets", X, {})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("gamma", [5e-324, 1e-300, 1e300, 1.7e308])
def test_random_binning_at_the_ends_of_what_a_float_holds(gamma: float):
    for data in (X, sp.csr_array(X)):
        phi = dense(fit("random_binning", data, {**OPTIONS["random_binning"], "gamma": gamma}).transform(data))
        assert np.isfinite(phi).all()
        if gamma < 1.0:
            assert np.array_equal(phi, np.broadcast_to(phi[:1], phi.shape))  # all points in one bin of each grid
