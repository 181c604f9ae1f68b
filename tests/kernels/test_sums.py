"""Sums over rows: one tree over leaves, whose bits are the same for all who share the leaves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl import sums
from fwdsl.backends.kernels import Operator, Pool, kernel
from fwdsl.backends.kernels.matrix import (
    csr_matvec_leaves,
    csr_scatter,
    dense_rmatvec,
    dense_rmatvec_leaves,
    leaf_starts,
)
from fwdsl.backends.kernels.storage import Sparse
from fwdsl.sums import Partials, finish, groups, subtrees, sum_of_numbers, tree_dot, tree_sum


def shares(rng: np.random.Generator, count: int, holders: int, step: int = 1) -> list[tuple[int, int]]:
    """Ranges that have all leaves together, cut at multiples of `step`."""
    cuts = np.sort(rng.integers(0, count // step + 1, holders - 1)) * step
    ends = [0, *cuts.tolist(), count]
    return [(a, b) for a, b in pairwise(ends) if a < b]


def by_hand(values: list[float]) -> float:
    """The tree, as its definition says."""
    if len(values) == 1:
        return values[0]
    half = 1 << (len(values) - 1).bit_length() - 1
    return by_hand(values[:half]) + by_hand(values[half:])


@pytest.mark.parametrize("count", [*range(1, 20), 31, 32, 33, 100])
def test_every_way_to_share_leaves_gives_the_same_bits(count: int) -> None:
    rng = np.random.default_rng(count)
    values = (rng.normal(size=count) * 10.0 ** rng.integers(-8, 9, count)).tolist()
    whole = by_hand(values)
    assert tree_sum(values) == whole
    assert sum_of_numbers(list(values)) == whole
    assert tree_sum(np.array([v, -v]) for v in values).tolist() == [whole, -whole]
    assert tree_sum((v, None, np.array([v])) for v in values)[::2] == (whole, whole)
    for level in range(8):
        assert tree_sum(tree_sum(part) for part in groups(values, level)) == whole
    for holders in (1, 2, 3, 5, 8):
        for _ in range(10):
            nodes: list[Any] = []
            for start, stop in shares(rng, count, holders):
                held = Partials(start)
                for value in values[start:stop]:
                    held.add(value)
                assert tuple(node for node, _ in held.nodes()) == subtrees(start, stop)
                nodes += held.nodes()
            rng.shuffle(nodes)
            assert finish(nodes) == whole


def test_nothing_is_added_where_there_is_nothing() -> None:
    assert tree_sum([]) is None
    assert tree_sum([None, None]) is None
    assert sum_of_numbers([]) == 0.0
    assert tree_dot(np.zeros(0), np.zeros(0), ()) == 0.0
    assert tree_dot(np.ones(3), np.arange(3.0), ()) == 3.0
    assert tree_sum([None, 2.0, None, 3.0, None]) == 5.0
    assert subtrees(3, 3) == ()
    assert subtrees(0, 15, 15) == ((4, 0),)
    assert subtrees(0, 1, 1) == ((0, 0),)
    assert subtrees(7, 11, 11) == ((0, 7), (2, 2))
    assert subtrees(5, 11) == ((0, 5), (1, 3), (1, 4), (0, 10))
    held = Partials(1)
    with pytest.raises(ValueError, match="no node of level 1 begins at leaf 1"):
        held.add(1.0, level=1)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 40])
def test_a_pool_adds_up_by_the_tree(threads: int, count: int) -> None:
    values = np.random.default_rng(0).normal(size=count).tolist()
    with Pool(threads) as pool:
        assert pool.sum(lambda v: v, values, 4) == tree_sum(values)


def test_leaves_are_few_and_those_of_the_largest_data_are_many() -> None:
    assert sums.dense_leaves(0, 5) == ()
    assert sums.dense_leaves(1_000, 50) == ((0, 1_000),)
    assert len(sums.dense_leaves(100_000, 100)) == 16
    assert len(sums.dense_leaves(10, 10**6)) == 10
    assert len(sums.dense_leaves(10**9, 10**3)) == -(-(10**12) // 2**27)
    assert len(sums.dense_leaves(5_000, 10_000, by_columns=True)) == 4
    wide = np.arange(0, 100 * 50_001, 100)
    assert len(sums.sparse_leaves(wide, 50_000)) == 1
    assert len(sums.sparse_leaves(wide, 1_000)) == 4
    # 10^8 rows of 100 numbers, 10^6 columns
    assert len(sums.sparse_leaves(np.arange(0, 10**10 + 1, 10**6), 10**6)) == 75
    assert len(sums.sparse_leaves(wide, 100)) == 16
    for leaves in (sums.sparse_leaves(wide, 100), sums.dense_leaves(100_000, 100)):
        assert [row for ends in leaves for row in ends][1:-1:2] == [a for a, _ in leaves[1:]]


MATRICES: dict[str, Any] = {
    "C": lambda M: M,
    "C float32": lambda M: M.astype(np.float32),
    "F": np.asfortranarray,
    "csr": sp.csr_array,
    "csr float32": lambda M: sp.csr_array(M.astype(np.float32)),
    "csc": sp.csc_array,
}


@pytest.mark.parametrize("layout", MATRICES)
@pytest.mark.parametrize("share", [0.05, 0.6])
def test_holders_of_leaves_find_the_products_of_the_whole(
    layout: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A'y, A'y of some rows, A x and Gram matrices: from the parts that 1, 2, 3 and 5 holders have, bit for bit."""
    monkeypatch.setattr(sums, "LEAF_NUMBERS", 1 << 12)
    monkeypatch.setattr(sums, "PER_COLUMN", 1 << 6)
    rng = np.random.default_rng(5)
    n, d = 20_013, 40
    M = rng.normal(size=(n, d)) * (rng.random((n, d)) < share)
    M[:, 3] = 0.0
    whole = Operator(MATRICES[layout](M), 2)
    x, y = rng.normal(size=d), rng.normal(size=n)
    rows = np.flatnonzero(rng.random(n) < 0.003)
    weights = np.where(np.arange(n) < n // 2, rng.random(n), 0.5)
    support = np.arange(1, d, 7)
    count = len(whole.leaves)
    assert count > 4
    plans = [whole.storage.gram_plan(None), whole.storage.gram_plan(support)]
    step = 1 << max(plan.level for plan in plans)
    some = np.zeros(n)
    some[rows] = y[rows]
    expected = [
        whole.rmatvec(y),
        whole.rmatvec_rows(some, rows),
        whole.gram(None, weights),
        whole.gram(support, weights),
    ]
    np.testing.assert_allclose(expected[0], M.T @ y, rtol=1e-5 if "32" in layout else 1e-10, atol=1e-3)
    for holders in (1, 2, 3, 5):
        nodes: list[list[Any]] = [[], [], [], []]
        forward, lengths = [], []
        for start, stop in shares(rng, count, holders, step):
            for level, at in subtrees(start, stop, count):
                a, b = at << level, min(count, (at + 1) << level)
                part = whole.part(a, b)
                first, last = whole.leaves[a][0], whole.leaves[b - 1][1]
                inside = slice(first, last)
                own = rows[(rows >= first) & (rows < last)] - first
                assert whole.storage.prefers_rows(rows)
                none = np.empty(d)
                part.storage.rmatvec_rows(some[inside], own, none, part.pool)
                nodes[0].append(((level, at), part.rmatvec(y[inside])))
                nodes[1].append(((level, at), none if own.size else None))
                nodes[2].append(((level, at), part.gram(None, weights[inside])))
                nodes[3].append(((level, at), part.gram(support, weights[inside])))
                forward.append(part.matvec(x))
                lengths.append(part.storage.row_squares())
        for found, known in zip(nodes, expected, strict=True):
            np.testing.assert_array_equal(finish(found), known)
        np.testing.assert_array_equal(np.concatenate(forward), whole.matvec(x))
        np.testing.assert_array_equal(np.concatenate(lengths), whole.storage.row_squares())


@pytest.mark.parametrize("index", [np.uint32, np.uint64])
def test_both_widths_of_indices_are_cut_into_leaves(index: type) -> None:
    rng = np.random.default_rng(7)
    A = sp.random_array((60, 9), density=0.3, format="csc", rng=rng)
    A.sort_indices()
    cuts, y = np.array([0, 7, 7, 30, 59], dtype=index), rng.normal(size=60)
    starts, out = np.empty((9, 6), dtype=index), np.empty(9)
    arrays = (A.indptr.astype(index), A.indices.astype(index))
    assert kernel(leaf_starts)(*arrays, cuts, starts)
    kernel(csr_matvec_leaves)(starts, arrays[1], A.data, y, out, 0, 9)
    M = A.toarray()
    ends = [0, 7, 7, 30, 59, 60]
    expected = [by_hand([sum(M[a:b, j] * y[a:b]) for a, b in pairwise(ends)]) for j in range(9)]
    np.testing.assert_array_equal(out, expected)
    assert not kernel(leaf_starts)(arrays[0], arrays[1][::-1].copy(), cuts, starts)


@pytest.mark.parametrize("layout", ["C", "csr"])
def test_a_leaf_may_be_read_a_few_rows_at_a_time(layout: str) -> None:
    """To the same bits: dense rows four at a time, sparse ones one by one and without a copy by columns."""
    rng = np.random.default_rng(8)
    M = rng.normal(size=(1_000, 60)) * (rng.random((1_000, 60)) < 0.5)
    op = Operator(MATRICES[layout](M))
    y, out = rng.normal(size=1_000), np.zeros(60)
    assert len(op.leaves) == 1
    for start, stop in pairwise([0, 4, 48, 700, 1_000]):
        if isinstance(op.storage, Sparse):
            kernel(csr_scatter)(*op.storage.rows, np.arange(start, stop), y, out)
        else:
            kernel(dense_rmatvec, reorder=True)(op.storage.store, y, out, start, stop, 0, 60)
    np.testing.assert_array_equal(out, op.rmatvec(y))


def test_the_tree_of_one_leaf_is_its_sum() -> None:
    """To the same bits, in the kernel of trees and in that of rows."""
    rng = np.random.default_rng(9)
    for n, d in ((1, 1), (5, 33), (7, 2), (130, 60)):
        A, y = rng.normal(size=(n, d)), rng.normal(size=n)
        tree, rows = np.empty(d), np.zeros(d)
        kernel(dense_rmatvec_leaves, reorder=True)(A, y, np.array([0, n]), tree.reshape(1, d), tree)
        kernel(dense_rmatvec, reorder=True)(A, y, rows, 0, n, 0, d)
        np.testing.assert_array_equal(tree, rows)


def test_columns_out_of_order_are_put_in_order() -> None:
    """Sparse columns whose rows come in any order, some twice, have the sums of the same rows in order."""
    rng = np.random.default_rng(6)
    n, d = 50_000, 20
    M = sp.random_array((n, d), density=0.5, format="csc", rng=rng)
    mixed = sp.csc_array((M.data[::-1].copy(), M.indices[::-1].copy(), M.nnz - M.indptr[::-1]), shape=(n, d))
    y = rng.normal(size=n)
    op, straight = Operator(mixed), Operator(sp.csr_array(mixed))
    assert len(op.leaves) > 2
    assert not np.all(np.diff(mixed.indices[: mixed.indptr[1]]) > 0)
    np.testing.assert_array_equal(op.rmatvec(y), straight.rmatvec(y))
