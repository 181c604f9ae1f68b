"""Conic programs as they are written down and scaled: their parts and maps against dense matrices, their levels against least squares."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.interior.program import HELD, ConicProgram, Entries, Triangles, connected, levelled, part_of
from fwdsl.backends.interior.scale_loops import pass_over
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.uncompiled import Uncompiled
from fwdsl.backends.sparse_rows import sparse_map


def sparse(seed: int, rows: int = 9, columns: int = 7) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(sp.random_array((rows, columns), density=0.4, rng=rng) * 8.0)


def form_of(text: str, **data: Any) -> Any:
    form = fw.parse(text).bind(**data).canonical.dense
    assert form is not None
    return form


@pytest.mark.parametrize(
    "made", [kernel, partial(kernel, reorder=True), Uncompiled], ids=["compiled", "reordered", "uncompiled"]
)
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_pass_finds_the_sums_and_the_largest_values_of_rows_and_columns(made: Any, share: float) -> None:
    rng = np.random.default_rng(0)
    A = sparse(0).tocoo()
    row, column, size = A.row.astype(np.intp), 9 + A.col.astype(np.intp), np.log2(A.data)
    scale = rng.standard_normal(17)  # the last column has no entry
    before, sums, peaks = scale.copy(), np.empty(17), np.empty(17)
    made(pass_over)(row, column, size, share, scale, sums, peaks)
    values = size + before[row] + before[column]
    for k in range(17):
        own = values[(row == k) | (column == k)]
        assert sums[k] == pytest.approx(own.sum()) and peaks[k] == max(own, default=-np.inf)
        assert scale[k] == before[k] - (share * own.max() if own.size else 0.0)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_levels_are_those_of_least_squares(seed: int, weighed: bool) -> None:
    """sum (size + r + d)^2 + a tenth of in_column (d - its mean of the kind)^2 is no less at the levels that a dense solver finds."""
    entries = Entries.of(sparse(seed))
    kinds = np.array([0, 0, 0, 1, 1, 2, 2])
    scale = levelled(entries, kinds if weighed else None, lambda: None)
    count = np.bincount(entries.column - 9, minlength=7)
    rows = np.zeros((entries.size.size, 16))
    at = np.arange(entries.size.size)
    rows[at, entries.row], rows[at, entries.column] = 1.0, 1.0
    held = np.zeros((7, 16))
    for j in range(7) if weighed else ():
        own = np.flatnonzero(kinds == kinds[j])
        held[j, 9 + own] -= count[own] / max(1, count[own].sum())
        held[j, 9 + j] += 1.0
        held[j] *= np.sqrt(HELD * count[j])
    whole, right = np.vstack([rows, held]), -np.concatenate([entries.size, np.zeros(7)])

    def missed(x: np.ndarray) -> float:
        return float(np.square(whole @ x - right).sum())

    best = missed(np.linalg.lstsq(whole, right, rcond=None)[0])
    assert missed(scale) <= best + 1e-6 * (1.0 + missed(np.zeros(16)))


def test_rows_and_columns_are_chosen_as_scipy_does() -> None:
    for seed in range(5):
        A = sparse(seed)
        rows, columns = np.array([0, 2, 3, 8]), np.array([1, 4, 5])
        found = part_of(A, rows, columns)
        assert np.array_equal(found.toarray(), A[rows][:, columns].toarray())
        assert np.array_equal(found.indptr, A[rows][:, columns].indptr)
        assert part_of(A, rows[:0], columns).shape == (0, 3) and part_of(A, rows, columns[:0]).nnz == 0


def test_parts_that_nothing_connects_are_told() -> None:
    """One part beside points that are alone, two parts, and nothing joined."""
    for one, other, expected in (
        ([0, 0, 1], [3, 4, 4], [0, 0, 2, 0, 0, 5]),
        ([0, 1, 2], [3, 4, 5], [0, 1, 2, 0, 1, 2]),
        ([], [], [0, 1, 2, 3, 4, 5]),
    ):
        number, part = connected(np.array(one, dtype=np.intp), np.array(other, dtype=np.intp), 6)
        assert number == len(set(expected))
        for i in range(6):
            for j in range(6):
                assert (part[i] == part[j]) == (expected[i] == expected[j])


SYMMETRIC = """
data C: matrix[3, 3]
var a: vector[2]
var X: psd[3]
var b: real
minimize sum_squares(X - C) + 2 * b
subject to
  trace(X) + sum(a) + b == 2
  a >= 0
  b >= -1
"""


def test_symmetric_matrices_are_their_upper_triangles() -> None:
    C = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.4], [0.1, 0.4, 0.5]])
    form = form_of(SYMMETRIC, C=C)
    T = Triangles.of(form)
    dense = T.rows(0, form.size).toarray()
    block = next(b for b in form.blocks if b.symmetric)
    assert T.columns == form.size - 3 and np.all(dense.sum(axis=1) == 1.0)
    rng = np.random.default_rng(0)
    v, q, K = rng.standard_normal(T.columns + 2), rng.standard_normal(form.size), sparse(1, 4, form.size)
    x = T.times(v)
    X = x[block.slice].reshape(3, 3)
    assert np.array_equal(X, X.T) and np.array_equal(
        X[np.triu_indices(3)], v[dense[block.slice].any(axis=0).nonzero()[0]]
    )
    np.testing.assert_allclose(dense @ v[: T.columns], x)
    np.testing.assert_allclose(T.adjoint(q), dense.T @ q)
    np.testing.assert_allclose(T.product(K).toarray(), K.toarray() @ dense)
    program = ConicProgram.of(form, lambda: None)
    assert np.array_equal(program.point(v), x)
    # one kind for each variable, those of the triangle alike
    assert np.array_equal(np.bincount(program.kinds)[:3], [b.size if not b.symmetric else 6 for b in form.blocks])


def test_maps_of_several_blocks_have_them_side_by_side() -> None:
    rng = np.random.default_rng(3)
    A, B, c = sparse(2, 5, 4), rng.standard_normal((5, 3)), rng.standard_normal(5)
    text = "data A: matrix[m, n], B: matrix[m, k], c: vector[m]\nvar y: vector[k]\nvar x: vector[n]\nminimize norm1(A @ x + B @ y - c) + norm1(x)"
    form = form_of(text, A=A, B=B, c=c)
    z = rng.standard_normal(form.size)
    assert max(len(term.map.parts) for term in form.terms) == 2
    for term in form.terms:
        K = sparse_map(term, form.size)
        np.testing.assert_allclose(K @ z, sum(m.apply(z[b.slice]) for b, m in term.map.parts))
        assert all(np.all(np.diff(K.indices[i:j]) > 0) for i, j in pairwise(K.indptr))
