"""Products with matrices of every layout: against scipy and NumPy, bit-identical for any number of threads, work counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.backends.kernels import Operator, Pool, kernel, storage
from fwdsl.backends.kernels.matrix import csr_gram, csr_matvec, csr_scatter
from fwdsl.backends.kernels.rows import rows_of
from fwdsl.backends.kernels.storage import Dense, Sparse

LAYOUTS: dict[str, Any] = {
    "C": lambda M: M,
    "F": np.asfortranarray,
    "C float32": lambda M: M.astype(np.float32),
    "F float32": lambda M: np.asfortranarray(M.astype(np.float32)),
    "strided": lambda M: np.repeat(M, 2, axis=1)[:, ::2],
    "int": lambda M: np.round(M).astype(np.int64),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csr float32": lambda M: sp.csr_array(M.astype(np.float32)),
    "csc matrix": sp.csc_matrix,
    "coo": sp.coo_array,
}
# the larger ones have several blocks; the last is wide
SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (7, 5), (2600, 120), (40, 3500)]

layouts = pytest.mark.parametrize("layout", LAYOUTS)
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))


def matrix(shape: tuple[int, int], seed: int = 0) -> Any:
    """Half of it zeros, with empty rows and columns."""
    rng = np.random.default_rng(seed)
    M = rng.normal(0.0, 2.0, shape) * (rng.random(shape) < 0.5)
    M[::3] = 0.0
    M[:, 1::4] = 0.0
    return M


def everything(op: Operator, x: Any, y: Any, support: Any, weights: Any) -> list[Any]:
    """All products of an operator."""
    sparse_x = np.zeros_like(x)
    sparse_x[support] = x[support]
    fused = np.full(op.shape[0], np.nan)
    for start, stop in op.blocks:
        op.matvec_block(x, fused, start, stop)
    return [
        op.matvec(x),
        fused,
        op.rmatvec(y),
        op.matvec_columns(sparse_x, support),
        op.columns(support).matvec(x[support]),
        op.columns(support).rmatvec(y),
        op.gram(support, weights),
        op.columns(support).gram(None, weights),
    ]


@layouts
@shapes
def test_products_match_numpy_for_one_and_two_threads(layout: str, shape: tuple[int, int]) -> None:
    n, d = shape
    rng = np.random.default_rng(1)
    A = LAYOUTS[layout](matrix(shape))
    M = (A.toarray() if sp.issparse(A) else A).astype(np.float64)
    x, y, weights = rng.normal(size=d), rng.normal(size=n), rng.exponential(size=n)
    for size in {0, min(3, d), d // 3}:
        support = np.sort(rng.choice(d, size, replace=False))
        S = M[:, support]
        sparse_x = np.zeros(d)
        sparse_x[support] = x[support]
        gram = (S.T * weights) @ S
        expected = [M @ x, M @ x, M.T @ y, M @ sparse_x, S @ x[support], S.T @ y, gram, gram]
        with Pool(1) as one, Pool(2) as two:
            serial, parallel = (everything(Operator(A, pool), x, y, support, weights) for pool in (one, two))
        for a, b, c in zip(serial, parallel, expected, strict=True):
            assert a.dtype == np.float64
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(a, c, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("index", [np.uint32, np.uint64])
@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_sparse_kernels_take_both_widths_of_indices_and_numbers(index: Any, number: Any) -> None:
    M = matrix((30, 20))
    A = sp.csr_array(M.astype(number))
    arrays = (A.indptr.astype(index), A.indices.astype(index), A.data)
    rng = np.random.default_rng(2)
    x, y, out = rng.normal(size=20), rng.normal(size=30), np.full(30, np.nan)
    kernel(csr_matvec)(*arrays, x, out, 4, 30)
    np.testing.assert_allclose(out[4:], (A.astype(float) @ x)[4:], rtol=1e-13, atol=1e-13)
    assert np.all(np.isnan(out[:4]))
    total = np.zeros(20)
    kernel(csr_scatter)(*arrays, np.arange(0, 30, 2), y, total)
    np.testing.assert_allclose(total, A.toarray().astype(float)[::2].T @ y[::2], rtol=1e-13, atol=1e-13)
    gram = np.zeros((20, 20))
    place = np.full(20, -1)
    place[[3, 7, 8, 15]] = [2, 0, 1, 3]
    kernel(csr_gram)(*arrays, place, 20, y, gram, 0, 30)
    chosen = A.toarray().astype(float)[:, [7, 8, 3, 15]]
    expected = np.zeros((20, 20))
    expected[:4, :4] = np.triu((chosen.T * y) @ chosen)
    np.testing.assert_allclose(gram, expected, rtol=1e-12, atol=1e-12)


def test_sums_of_float32_data_are_in_float64() -> None:
    tiny = np.full((1, 4097), 1e-8, dtype=np.float32)
    tiny[0, 0] = 1.0
    exact = float(tiny.astype(np.float64).sum())
    ones = np.ones(4097)
    for A in (tiny, np.asfortranarray(np.vstack([tiny, tiny])), sp.csr_array(tiny)):
        assert Operator(A).matvec(ones)[0] == pytest.approx(exact, rel=1e-15)


def test_duplicates_and_unsorted_indices_are_added_up() -> None:
    data, indices, indptr = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    A = sp.csr_array((data, indices, indptr), shape=(2, 3))
    M = np.array([[2.0, 0.0, 5.0], [0.0, 8.0, 0.0]])
    op = Operator(A)
    np.testing.assert_array_equal(op.matvec(np.array([1.0, 10.0, 100.0])), M @ [1.0, 10.0, 100.0])
    np.testing.assert_array_equal(op.rmatvec(np.array([1.0, 10.0])), M.T @ [1.0, 10.0])
    np.testing.assert_array_equal(op.gram(None, np.array([1.0, 2.0])), (M.T * [1.0, 2.0]) @ M)
    assert A.nnz == 4
    # few enough numbers for the sparse kernel
    wide = sp.csr_array((data, 5 * indices, np.concatenate([indptr, [4] * 20])), shape=(22, 11))
    d = np.arange(1.0, 23.0)
    np.testing.assert_array_equal(Operator(wide).gram(None, d), (wide.toarray().T * d) @ wide.toarray())
    np.testing.assert_array_equal(wide.indices, 5 * indices)


def test_data_are_viewed_and_left_alone(tmp_path: Path) -> None:
    M = np.asfortranarray(matrix((200, 40)))
    op = Operator(M)
    assert np.shares_memory(op.storage.store, M)  # type: ignore[union-attr]
    assert M.flags.writeable
    path = tmp_path / "A.npy"
    np.save(path, np.ascontiguousarray(M))
    mapped = np.load(path, mmap_mode="r")
    x = np.arange(40.0)
    np.testing.assert_array_equal(Operator(mapped).matvec(x), Operator(np.ascontiguousarray(M)).matvec(x))
    assert np.shares_memory(Operator(mapped).storage.store, mapped)  # type: ignore[union-attr]
    A = sp.csr_array(M)
    assert np.shares_memory(Operator(A).storage.rows.data, A.data)  # type: ignore[union-attr]


def test_gram_of_many_columns_and_of_full_sparse_matrices() -> None:
    rng = np.random.default_rng(3)
    M = rng.normal(size=(900, 70))
    d = rng.normal(size=900)
    expected = (M.T * d) @ M
    for A in (M, np.asfortranarray(M), sp.csr_array(M), sp.csc_array(M)):
        gram = Operator(A).gram(None, d)
        np.testing.assert_allclose(gram, expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_array_equal(gram, gram.T)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("signed", [False, True])
def test_gram_of_few_rows_with_a_weight(signed: bool, dtype: type) -> None:
    """Rows of weight 0 add nothing, however many they are."""
    rng = np.random.default_rng(4)
    M = rng.normal(size=(900, 70)).astype(dtype)
    d = np.where(rng.random(900) < 0.1, rng.normal(size=900) if signed else rng.random(900), 0.0)
    d[:300] = 0.0
    chosen = np.arange(3, 50, 2)
    expected = (M.astype(np.float64).T * d) @ M
    for A in (M, np.asfortranarray(M), sp.csr_array(M), sp.csc_array(M)):
        np.testing.assert_allclose(Operator(A).gram(None, d), expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(Operator(A).gram(chosen, d), expected[np.ix_(chosen, chosen)], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_gram_in_single_precision_has_its_digits_and_leaves_data_alone(order: Any, dtype: type) -> None:
    rng = np.random.default_rng(0)
    A = np.asarray(rng.standard_normal((3000, 40)), dtype=dtype, order=order)
    before, chosen = A.copy(), np.arange(1, 40, 3)
    weights = np.where(rng.random(3000) < 0.5, 1e40 * rng.random(3000), 0.0)
    for d in (
        weights,
        np.where(rng.random(3000) < 0.1, 2.0, 0.0),
        rng.random(3000),
        np.full(3000, 1e-50),
        np.zeros(3000),
    ):
        expected = (A.T.astype(np.float64) * d) @ A
        size = float(np.abs(expected).max(initial=0.0))
        for support, part in ((None, expected), (chosen, expected[np.ix_(chosen, chosen)])):
            one, two = (Operator(A, k).gram(support, d, single=True) for k in (1, 2))
            np.testing.assert_allclose(one, part, rtol=0, atol=1e-5 * size)
            np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(A, before)
    signed = rng.standard_normal(3000)
    np.testing.assert_allclose(
        Operator(A).gram(None, signed, single=True), (A.T.astype(float) * signed) @ A, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("single", [False, True])
def test_a_kept_gram_matrix_has_the_bits_of_one_that_is_formed(order: Any, single: bool) -> None:
    rng = np.random.default_rng(5)
    A = np.asarray(rng.normal(size=(9000, 40)), order=order)
    keeping = Operator(A)
    keeping.storage.keep_grams()
    some = np.ones(9000)
    some[: 9000 // 3] = 0.0
    # weights that are all the same, of some nodes alone, none, negative, and different
    for d in (np.full(9000, 1 / 3), np.zeros(9000), some, np.full(9000, -0.7), np.full(9000, 1 / 7), rng.random(9000)):
        for _ in range(2):
            np.testing.assert_array_equal(
                keeping.gram(None, d, single=single), Operator(A).gram(None, d, single=single)
            )
    chosen = np.arange(0, 40, 3)
    d = np.full(9000, 0.25)
    np.testing.assert_array_equal(keeping.gram(chosen, d), Operator(A).gram(chosen, d))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_data_that_changed_are_told_from_those_that_are_kept(order: Any, kind: Any) -> None:
    A = np.asarray(np.random.default_rng(5).normal(size=(300, 4)) * [1e-9, 1.0, 1.0, 1e9], order=order, dtype=kind)
    storage = Operator(A).storage
    storage.keep_grams()
    storage.gram(None, np.ones(300), Pool(1))
    assert storage.is_as_kept()
    before = A.copy()
    for change in (
        lambda: A.__setitem__((7, 0), 0.0),
        lambda: np.negative(A, out=A),
        lambda: A.__setitem__([0, 1], before[[1, 0]]),
        lambda: A.__setitem__((slice(None), [1, 2]), before[:, [2, 1]]),
        lambda: A.__setitem__((3, 1), np.nan),
    ):
        change()
        assert not storage.is_as_kept()
        A[:] = before
        assert storage.is_as_kept()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_of_data_by_columns_are_a_copy_that_does_not_outlive_them(kind: Any) -> None:
    A = np.asfortranarray(np.random.default_rng(5).normal(size=(300, 4)), dtype=kind)
    storage = Operator(A).storage
    storage.keep_grams()
    (rows,) = rows_of(Operator.of_storage(storage, Pool(1)))
    assert rows.flags.c_contiguous and not rows.flags.writeable
    np.testing.assert_array_equal(rows, A)
    assert storage.is_as_kept()
    A[7, 0] = 3.0
    assert not storage.is_as_kept()
    assert rows_of(Operator(rows))[0].base is not None and np.shares_memory(rows_of(Operator(rows))[0], rows)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_kept_product_has_the_bits_of_one_that_is_taken(order: Any) -> None:
    rng = np.random.default_rng(5)
    A = np.asarray(rng.normal(size=(3000, 50)), order=order)
    A[0] = 0.0
    keeping = Operator(A)
    keeping.storage.keep_products()
    ys = list(rng.normal(size=(6, 3000)))
    for y in (*ys, *ys[::-1]):
        np.testing.assert_array_equal(keeping.rmatvec(y), Operator(A).rmatvec(y))
    # what was handed out is the caller's
    keeping.rmatvec(ys[0])[:] = 7.0
    np.testing.assert_array_equal(keeping.rmatvec(ys[0]), Operator(A).rmatvec(ys[0]))
    # a caller's array may change after it was given
    ys[1][-1] += 1.0
    np.testing.assert_array_equal(keeping.rmatvec(ys[1]), Operator(A).rmatvec(ys[1]))
    assert keeping.counter.rmatvecs == 15


def test_products_are_kept_beside_much_data_alone() -> None:
    for shape in ((20, 10), (300_000, 4)):
        storage = Operator(np.ones(shape)).storage
        storage.keep_products()
        assert storage._products is None


def test_work_is_counted_in_touched_numbers() -> None:
    M = matrix((50, 60))
    A = sp.csr_array(M)
    op = Operator(A)
    assert op.nnz == A.nnz
    op.matvec(np.ones(60))
    op.rmatvec(np.ones(50))
    assert (op.counter.matvecs, op.counter.rmatvecs, op.passes) == (1, 1, 2.0)
    support = np.array([2, 4])
    own = int((M[:, support] != 0.0).sum())
    x = np.zeros(60)
    x[support] = 1.0
    op.matvec_columns(x, support)
    assert (op.counter.matvecs, op.counter.touched) == (2, 2 * A.nnz + own)
    op.matvec_columns(np.ones(60), np.arange(60))
    assert (op.counter.matvecs, op.counter.touched) == (3, 3 * A.nnz + own)
    part = op.columns(support)
    part.matvec(np.ones(2))
    assert op.counter.touched == 3 * A.nnz + 3 * own
    assert Operator(np.ones((3, 4))).nnz == 12


def test_results_go_where_they_are_asked_and_shapes_are_checked() -> None:
    M = matrix((9, 4))
    op = Operator(M)
    out = np.full(9, np.nan)
    assert op.matvec(np.ones(4), out) is out
    np.testing.assert_allclose(out, M.sum(axis=1), rtol=1e-13, atol=1e-13)
    for wrong in (np.ones(3), np.ones((4, 1))):
        with pytest.raises(ValueError, match="4 numbers"):
            op.matvec(wrong)
    with pytest.raises(ValueError, match="two axes"):
        Operator(np.ones(3))
    np.testing.assert_array_equal(op.matvec(np.ones(8)[::2]), op.matvec(np.ones(4)))


def test_columns_of_sparse_data_are_copied_by_rows() -> None:
    """Empty rows and columns stay empty, and what stands twice is added up."""
    rng = np.random.default_rng(4)
    dense = rng.standard_normal((9, 7)) * (rng.random((9, 7)) < 0.4)
    dense[3], dense[:, 2] = 0.0, 0.0
    coo = sp.coo_array(dense)
    twice = [np.concatenate([part, part[::-1]]) for part in (*coo.coords, 0.5 * coo.data)]
    # rows that are not sorted, with each number in two halves
    order = np.argsort(twice[0], kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(twice[0], minlength=9))])
    A = sp.csr_array((twice[2][order], twice[1][order], indptr), shape=(9, 7))
    at = np.array([0, 2, 3, 6])
    part = Operator(A, Pool(1)).columns(at).storage
    assert isinstance(part, Sparse)
    found = sp.csr_array(
        (part.rows.data, part.rows.indices.astype(np.int64), part.rows.indptr.astype(np.int64)), shape=(9, 4)
    )
    np.testing.assert_allclose(found.toarray(), dense[:, at], rtol=1e-15)
    assert found.nnz == np.count_nonzero(dense[:, at])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("single", [False, True])
def test_rows_scaled_by_a_kernel_have_the_bits_of_numpy(
    dtype: Any, single: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    A, d = rng.normal(size=(3000, 40)).astype(dtype), rng.uniform(0.1, 2.0, 3000)
    found = []
    for least in (1, 1 << 40):
        monkeypatch.setattr(storage, "MANY_SCALED", least)
        found.append(Dense(A, False).gram(None, d, Pool(1), None, single))
    assert found[0].tolist() == found[1].tolist()
    exact = A.astype(np.float64).T @ (d[:, None] * A)
    assert found[0] == pytest.approx(exact, abs=(1e-5 if single else 1e-10) * np.abs(exact).max())


@pytest.mark.parametrize("shape", [(700, 90), (2600, 120), (40, 3500)])
def test_products_by_rows_have_the_bits_of_those_by_columns(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread transposes sparse data only after some products."""
    monkeypatch.setattr(storage, "FEW_PRODUCTS", 2)
    A, y = sp.csr_array(matrix(shape)), np.random.default_rng(2).normal(size=shape[0])
    op = Operator(A)
    by_rows = [op.rmatvec(y), op.rmatvec(y)]
    assert "by_columns" not in vars(op.storage)
    by_columns = [op.rmatvec(y), Operator(A, 2).rmatvec(y), Operator(A.tocsc()).rmatvec(y)]
    assert "by_columns" in vars(op.storage)
    assert all(np.array_equal(one, by_rows[0]) for one in by_rows + by_columns)
    np.testing.assert_allclose(by_rows[0], A.T @ y, rtol=0, atol=1e-10)
