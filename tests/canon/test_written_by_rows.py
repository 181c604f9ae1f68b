"""Sparse matrices that are written down without SciPy's checks are those that SciPy makes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.canon import maps
from fwdsl.readers import row_blocks


@pytest.mark.parametrize("shape", [(7, 5), (1, 1), (30, 100_000), (0, 4), (4, 0)])
@pytest.mark.parametrize("entries", [0, 1, 20, 3_000])
def test_entries_at_their_places_those_of_one_place_added_up(shape: tuple[int, int], entries: int) -> None:
    rng = np.random.default_rng(entries)
    count = entries if all(shape) else 0
    rows, columns = rng.integers(0, max(1, shape[0]), count), rng.integers(0, max(1, shape[1]), count)
    values = rng.integers(-4, 5, count).astype(float)
    found, wanted = maps.placed(rows, columns, values, shape), sp.csr_array((values, (rows, columns)), shape)
    assert found.shape == shape and (abs(found - wanted)).nnz == 0
    assert found.has_sorted_indices
    x = rng.standard_normal(shape[1])
    np.testing.assert_allclose(found @ x, wanted @ x)
    assert (abs(found.T.tocsr() - wanted.T)).nnz == 0


def test_a_matrix_by_rows_is_one_of_scipy() -> None:
    """Whatever is asked of it afterwards, and where SciPy's matrices should be made otherwise one day."""
    A = sp.random_array((6, 9), density=0.4, rng=np.random.default_rng(1), format="csr")
    for known in (row_blocks._of_nothing(sp.csr_array), None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_blocks, "_of_nothing", lambda _, known=known: known)
            found = maps.by_rows(A.data, A.indices, A.indptr, A.shape)
        for one, two in (
            (found, A),
            (found[2:4], A[2:4]),
            (found @ A.T, A @ A.T),
            (2.0 * found, 2.0 * A),
            (found.tocsc(), A.tocsc()),
        ):
            np.testing.assert_array_equal(one.toarray(), two.toarray())
        assert found.nnz == A.nnz and repr(found) == repr(A)
        other = found.copy()
        other.data[0] += 1.0
        assert abs(other - A).nnz == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shape", [(6, 4), (1, 5), (0, 3), (3, 0)])
def test_a_dense_matrix_is_written_without_its_zeros(shape: tuple[int, int], density: float, dtype: type) -> None:
    rng = np.random.default_rng(2)
    A = np.where(rng.random(shape) < density, rng.integers(1, 5, shape), 0).astype(dtype)
    found, wanted = maps.as_sparse(A.T), sp.csr_array(A.T, dtype=np.float64)
    for one, two in ((found.data, wanted.data), (found.indices, wanted.indices), (found.indptr, wanted.indptr)):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype
    assert found.shape == wanted.shape


def test_matrices_do_not_share_their_places() -> None:
    """SciPy sorts places where they are: another matrix keeps its numbers."""
    A = sp.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1], dtype=np.int32), np.array([0, 2, 3], dtype=np.int32)), (2, 3)
    )
    wanted = A.toarray()
    found = maps.by_rows(10.0 * A.data, A.indices, A.indptr, A.shape)
    found.sort_indices()
    np.testing.assert_array_equal(A.toarray(), wanted)
    np.testing.assert_array_equal(found.toarray(), 10.0 * wanted)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_data_are_written_with_entries_of_their_own(full: bool, order: str) -> None:
    A = np.array(np.arange(12.0).reshape(3, 4) + full, order=order)  # type: ignore[call-overload]
    found = maps.as_sparse(A)
    np.testing.assert_array_equal(found.toarray(), A)
    assert not np.shares_memory(found.data, A)
