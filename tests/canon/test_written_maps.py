"""Maps written down as sparse matrices, beside their products."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fwdsl.backends.pdhg.entries import entries
from fwdsl.canon.combined_maps import Add, Adjoint, Joined, Scaled, compose
from fwdsl.canon.data_maps import Matrix
from fwdsl.canon.maps import Diagonal, LinearMap, Select
from fwdsl.canon.matrix_maps import Gathered, LeftMultiply, Quad, RightMultiply, Symmetrise, Tile, product
from fwdsl.canon.neighbour_maps import Convolution, Cumulative, Differences, SumsAlong

RNG = np.random.default_rng(3)
A, B = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 5))
U = sparse.csr_array(np.where(RNG.random((6, 3)) < 0.5, RNG.standard_normal((6, 3)), 0.0))
MAPS: dict[str, LinearMap] = {
    "left": LeftMultiply(A, 2),
    "left, transposed": LeftMultiply(A, 2, transposed=True),
    "left, sparse": LeftMultiply(U, 2),
    "right": RightMultiply(B, 4),
    "tile": Tile(3, 4),
    "symmetrise": Symmetrise(3, 2),
    "quad": Quad(A),
    "quad, sparse": Quad(U),
    "differences": Differences(7),
    "differences, order 3, down": Differences(6, 3, 1, 2),
    "differences, order 2, across": Differences(5, 2, 3),
    "sizes of differences": Differences(6, 2, 2, 2, sizes=True),
    "cumulative": Cumulative(4, 2, 3),
    "sums along": SumsAlong(4, 2, 3),
    "convolution": Convolution(RNG.standard_normal(4), 6),
    "convolution, longer kernel": Convolution(RNG.standard_normal(9), 3),
    "convolution, fast": Convolution(RNG.standard_normal(300), 310, fast=True),
    "joined": Joined((Matrix(A), Differences(3)), (slice(1, 5), np.array([0, 7])), 8),
    "gathered": Gathered((Matrix(A[:2]), Matrix(A[2:])), (np.array([3, 0]), np.array([1, 2])), 3, 4),
}


@pytest.mark.parametrize("name", MAPS)
def test_a_map_written_down_has_the_same_products(name: str) -> None:
    m = MAPS[name]
    written = m.sparse()
    assert written.shape == (m.rows, m.columns)
    x, y = RNG.standard_normal(m.columns), RNG.standard_normal(m.rows)
    np.testing.assert_allclose(written @ x, m.apply(x), atol=1e-11)
    np.testing.assert_allclose(written.T @ y, m.adjoint(y), atol=1e-11)


OUTER: dict[str, LinearMap] = {
    "left": LeftMultiply(RNG.standard_normal((5, 40)), 4),
    "left, transposed": LeftMultiply(RNG.standard_normal((40, 5)), 4, transposed=True),
    "left, sparse": LeftMultiply(sparse.csr_array(np.eye(40)[::3]), 4),
    "right": RightMultiply(RNG.standard_normal((4, 6)), 40),
    "tile": Tile(2, 160),
}


@pytest.mark.parametrize("name", OUTER)
@pytest.mark.parametrize("few", [True, False])
def test_maps_after_few_rows_are_written_in_the_columns_that_meet_these(name: str, few: bool) -> None:
    m, inner = OUTER[name], np.zeros((160, 7))
    rows = np.arange(3, 160, 41 if few else 2)
    inner[rows] = RNG.standard_normal((rows.size, 7))
    found = m.sparse_after(sparse.csr_array(inner))
    assert found.shape == (m.rows, 7)
    np.testing.assert_allclose(found.toarray(), m.sparse() @ inner, atol=1e-12)


COMBINED = {
    "right of some rows": compose(RightMultiply(B, 3), Select(0, 9, 12)),
    "weighted differences": compose(Diagonal(RNG.standard_normal(6)), Differences(7)),
    "a sum": Add(Adjoint(Select(0, 4, 8)), Adjoint(Select(2, 6, 8))),
    "scaled": Scaled(RightMultiply(B, 4), 2.0),
}


@pytest.mark.parametrize("name", [*MAPS, *COMBINED])
def test_the_entries_of_a_map_are_known_before_they_are_written(name: str) -> None:
    """But for those of a sparse matrix squared, whose rows have their mean length, and of symmetric matrices, counted once."""
    m = (MAPS | COMBINED)[name]
    written = m.sparse()
    assert written.nnz <= 2 * m.entries
    assert m.entries <= max(m.rows, 1.1 * written.nnz)


@pytest.mark.parametrize("name", MAPS)
def test_the_sizes_of_a_map_bound_its_entries(name: str) -> None:
    m = MAPS[name]
    sizes, found = m.absolute().sparse().toarray(), abs(m.sparse().toarray())
    assert (sizes >= found - 1e-12).all()
    assert m.absolute().shape == m.shape


@pytest.mark.parametrize("name", MAPS)
def test_entries_for_small_systems_are_those_of_the_map(name: str) -> None:
    m = MAPS[name]
    rows, columns = np.arange(m.rows)[::2], np.arange(m.columns)[1::2]
    np.testing.assert_allclose(entries(m, rows, columns), m.sparse().toarray()[np.ix_(rows, columns)], atol=1e-11)


@pytest.mark.parametrize("n, d, k", [(300, 90, 40), (300, 90, 1), (100, 70, 150), (300, 8, 500), (60, 50, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_all_sizes_and_orders_are_those_of_single_columns(n: int, d: int, k: int, order: str) -> None:
    data, X = np.asarray(RNG.standard_normal((n, d)), order=order), RNG.standard_normal((d, k))  # type: ignore[call-overload]
    found = product(data, X)
    assert found.flags.c_contiguous
    for j in range(k):
        np.testing.assert_allclose(found[:, j], data @ X[:, j], rtol=0, atol=1e-11)
