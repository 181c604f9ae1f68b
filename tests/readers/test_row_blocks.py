"""Matrices that stay on their disk: ranges of rows, changed files, parts, and what is decoded."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.backends.kernels.pool import Pool, Stopped
from fwdsl.backends.kernels.streamed import streamed
from fwdsl.readers import decoded as decoded_rows
from fwdsl.readers import npy, row_blocks
from fwdsl.readers.decoded import Decoded, DiskFull, Pile, kept_folders
from fwdsl.readers.read import Role, read
from fwdsl.readers.row_blocks import ChangedFile, DenseRows, NotInMemory, SparseRows, stored_at
from fwdsl.readers.sources import SourceSpec


@pytest.fixture(autouse=True)
def _small(tmp_path, monkeypatch):
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(row_blocks, "PIECE", 700)


def dense(tmp_path, A, name="A.npy"):
    path = tmp_path / name
    np.save(path, A)
    return DenseRows([stored_at(str(path), 128, A.dtype, A.size)], A.shape[1])


def sparse(tmp_path, S):
    S.indices.tofile(tmp_path / "indices")
    S.data.tofile(tmp_path / "data")
    pair = [stored_at(str(tmp_path / n), 0, a.dtype, a.size) for n, a in (("indices", S.indices), ("data", S.data))]
    return SparseRows(S.indptr.astype(np.int64), [tuple(pair)], S.shape[1])


def copied(B):
    """As another process has it."""
    made = B.__reduce_ex__(2)
    again = made[0](*made[1])
    again.__setstate__(made[2])
    return again


def numbers(n, d, share=1.0):
    rng = np.random.default_rng(3)
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < share)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.dtype(">f8")])
def test_dense_rows_are_those_of_the_file(tmp_path, dtype):
    A = (10 * numbers(53, 7)).astype(dtype)
    B = dense(tmp_path, A)
    parts = [B.rows(a, b) for a, b in B.pieces()]
    assert len(parts) > 2 and np.array_equal(np.concatenate(parts), A)
    assert B.dtype == (np.float32 if A.dtype == np.float32 else np.float64)
    assert np.array_equal(B[5:40, np.array([1, 4])], A[5:40][:, [1, 4]])
    assert np.array_equal(B.take(np.array([50, 3, 3]), np.array([6, 0])), A[[50, 3, 3]][:, [6, 0]])


def test_parts_of_files_and_of_rows(tmp_path):
    A = numbers(40, 5)
    B = DenseRows([*dense(tmp_path, A[:9], "a.npy").parts, *dense(tmp_path, A[9:], "b.npy").parts], 5)
    assert np.array_equal(B.rows(4, 30), A[4:30])
    assert np.array_equal(B.between(6, 20).rows(1, 14), A[7:20])
    assert np.array_equal(copied(B).rows(0, 40), A)
    place = B.place(9, 2, 1.0)
    assert (place.file, place.row, place.column) == (str(tmp_path / "b.npy"), 1, 3)


def test_sparse_rows_are_those_of_the_file(tmp_path):
    S = sp.csr_array(numbers(60, 9, 0.3))
    B = sparse(tmp_path, S)
    found = sp.vstack([B.rows(a, b) for a, b in B.pieces()])
    assert (found != S).nnz == 0 and len(list(B.pieces())) > 2
    assert (B.between(7, 31).rows(2, 20) != S[9:27]).nnz == 0
    assert np.array_equal(B.in_columns(), np.diff(S.tocsc().indptr))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_walk_gives_the_pieces_in_turn(tmp_path, kind):
    A = numbers(90, 9, 0.3)
    B = dense(tmp_path, A) if kind == "dense" else sparse(tmp_path, sp.csr_array(A))
    ranges = list(B.pieces())
    assert len(ranges) > 2
    for (a, b), found in zip(ranges, B.walk(ranges), strict=True):
        assert np.array_equal(found if kind == "dense" else B.as_matrix(*found).toarray(), A[a:b])
    # one that is left early ends its thread
    next(B.walk(ranges))
    assert not [t for t in threading.enumerate() if t.name.startswith("fwdsl-reader")]


def test_a_file_that_changes_during_a_walk_is_an_error(tmp_path):
    B = dense(tmp_path, numbers(90, 9))
    walk = B.walk(list(B.pieces()))
    next(walk)
    (tmp_path / "A.npy").unlink()
    with pytest.raises(ChangedFile):
        list(walk)


def test_columns_alone_are_those_of_the_rows(tmp_path):
    S = sp.csr_array(numbers(60, 9, 0.3))
    B = sparse(tmp_path, S)
    whole = SparseRows(
        B.ends, [(B.parts[0][0].cut(0, 31), B.parts[0][1].cut(0, 31)), tuple(p.cut(31, S.nnz) for p in B.parts[0])], 9
    )
    for found in (B, whole):
        assert np.array_equal(found.columns_of(0, 60), S.indices)
        assert np.array_equal(found.columns_of(7, 31), S[7:31].indices)
        assert found.columns_of(4, 4).size == 0
        assert (found.rows(2, 50) != S[2:50]).nnz == 0


@pytest.mark.parametrize("column", [-1, 9, 2**32 + 3])
def test_a_column_outside_of_a_sparse_matrix_is_told(tmp_path, column):
    S = sp.csr_array(numbers(60, 9, 0.3))
    indices = S.indices.astype(np.int64)
    indices[40] = column
    arrays = {"format": np.bytes_("csr"), "shape": np.array(S.shape), "data": S.data, "indptr": S.indptr}
    np.savez(tmp_path / "S.npz", indices=indices, **arrays)
    found, told = read(SourceSpec("npz", str(tmp_path / "S.npz"), {}), [Role("X", "matrix", (None, None), stays=100)])
    assert not found and [d.code for d in told] == ["FW4043"]


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_product_counts_the_columns(tmp_path, turned):
    S = sp.csr_array(numbers(60, 9, 0.3))
    counts = np.diff(S.tocsc().indptr)
    for threads in (1, 3):
        B = sparse(tmp_path, S)
        A = streamed(B)
        with Pool(threads) as pool:
            if turned:
                A.rmatvec(np.ones(60), np.empty(9), pool)
            else:
                A.matvec(np.ones(9), np.empty(60), pool)
        assert B.counted and np.array_equal(B.in_columns(), counts) and B.passes == 1.0


def test_a_product_that_is_broken_off_counts_nothing(tmp_path):
    S = sp.csr_array(numbers(60, 9, 0.3))
    B, asked = sparse(tmp_path, S), iter([False, False])
    with Pool(1) as pool:
        pool.must_stop = lambda: next(asked, True)
        with pytest.raises(Stopped):
            streamed(B).matvec(np.ones(9), np.empty(60), pool)
    assert not B.counted and np.array_equal(B.in_columns(), np.diff(S.tocsc().indptr))


def test_entries_at_random_are_refused(tmp_path):
    B = dense(tmp_path, numbers(10, 3))
    for asked in (lambda: np.asarray(B), lambda: B[3], lambda: B[::2], lambda: np.asarray(B.T)):
        with pytest.raises(NotInMemory):
            asked()


@pytest.mark.parametrize("how", ["cut", "grown", "written", "gone"])
def test_changed_files_are_errors(tmp_path, how):
    B = dense(tmp_path, numbers(30, 4))
    path = tmp_path / "A.npy"
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": content[:-8], "grown": content + b"12345678", "written": content}[how])
        import os

        os.utime(path, ns=(1, 1))
    with pytest.raises(ChangedFile) as error:
        B.rows(0, 5)
    assert error.value.code == "FW4090" and "A.npy" in str(error.value)


def test_pile_spills_beyond_the_limit(tmp_path):
    A = numbers(50, 6)
    source = tmp_path / "source"
    source.write_bytes(b"x")
    for most, kind in ((10**6, np.ndarray), (800, DenseRows)):
        pile = Pile(Decoded("dense", [str(source)], most), "A")
        for a in range(0, 50, 10):
            pile.add(A[a : a + 10])
        found = pile.finish()
        assert type(found) is kind and np.array_equal(found[0:50], A)


def test_sparse_pile_has_the_width_of_the_widest(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"x")
    pile = Pile(Decoded("sparse", [str(source)], 10), "A")
    left, right = sp.csr_array(numbers(9, 4, 0.5)), sp.csr_array(numbers(8, 6, 0.5))
    pile.add(left)
    pile.add(right)
    found = pile.finish()
    assert found.shape == (17, 6)
    assert np.array_equal(found.rows(9, 17).toarray(), right.toarray())


def roles(stays):
    return [Role("X", "matrix", (None, None), stays=stays), Role("y", "vector", (None,))]


def test_decoded_once_and_anew_where_the_source_changed(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    A = numbers(40, 4)
    np.savetxt(path, A, delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    spec = SourceSpec("csv", str(path), {"target": "y"})
    first, _ = read(spec, roles(100))
    assert isinstance(first["X"], DenseRows) and np.array_equal(first["X"].rows(0, 40), A[:, :3])
    [(folder, size)] = kept_folders()
    assert size > A[:, :3].nbytes and folder.name.startswith("rows-")
    headers = {}
    with monkeypatch.context() as patched:
        # nothing is read from the source again
        patched.setattr("fwdsl.readers.csv_table.read_csv", None)
        again, _ = read(spec, roles(100), headers)
    assert again["X"].files == first["X"].files and np.array_equal(again["y"], A[:, 3])
    assert headers["X"] == ("a", "b", "c")
    np.savetxt(path, 2 * A, delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    changed, _ = read(spec, roles(100))
    assert np.array_equal(changed["X"].rows(0, 40), 2 * A[:, :3])


@pytest.mark.parametrize("when", ["before", "while"])
def test_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch, when):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=numbers(200, 5), y=np.ones(200))
    free = iter([decoded_rows.ROOM * 9] if when == "while" else [])
    monkeypatch.setattr(decoded_rows, "LOOKS", 100)
    monkeypatch.setattr(decoded_rows, "free_space", lambda folder: next(free, 10))
    arrays, found = read(SourceSpec("npz", str(path)), roles(1000))
    assert not arrays and [d.code for d in found] == ["FW4093"] and "FWDSL_CACHE_DIR" in found[0].hint
    assert kept_folders() == []


def test_a_folder_for_caches_that_takes_no_files_is_told_and_not_the_source(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=numbers(200, 5), y=np.ones(200))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "file" / "cache"))
    arrays, found = read(SourceSpec("npz", str(path)), roles(1000))
    assert not arrays and [d.code for d in found] == ["FW4093"]
    assert str(tmp_path / "file" / "cache") in found[0].message and "not a directory" in found[0].message
    assert "can be written to" in found[0].hint


def test_a_write_that_fails_is_a_full_disk(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"x")
    cache = Decoded("", [str(source)], 0)
    array = cache.array("a", np.float64)
    array.spill()

    class Full:
        def write(self, _):
            raise OSError(28, "No space left on device")

    array._file = Full()
    with pytest.raises(DiskFull):
        array.extend(np.ones(3))
    cache.drop()
    assert kept_folders() == []


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "i2"])
@pytest.mark.parametrize("at_once", [1, 100, 1 << 25])
def test_matrix_by_columns_is_written_by_rows(tmp_path, monkeypatch, dtype, at_once):
    monkeypatch.setattr(npy, "AT_ONCE", at_once)
    X = np.asfortranarray((10 * numbers(50, 4)).astype(dtype))
    np.save(tmp_path / "f.npy", X)
    np.savez(tmp_path / "f.npz", X=X, y=np.ones(50))
    for form, file in (("npy", "f.npy"), ("npz", "f.npz")):
        # what fits is read as ever
        whole, found = read(SourceSpec(form, str(tmp_path / file)), [Role("X", "matrix", (None, None), stays=10**6)])
        assert not found and np.array_equal(whole["X"], X)
        roles = [Role("X", "matrix", (None, None), stays=10)]
        for _ in range(2):  # decoded, and as it was decoded
            arrays, found = read(SourceSpec(form, str(tmp_path / file)), roles)
            assert not found and isinstance(arrays["X"], DenseRows)
            assert np.array_equal(arrays["X"].rows(0, 50), X) and np.array_equal(arrays["X"].rows(13, 31), X[13:31])


def test_matrix_by_columns_that_is_cut_short(tmp_path):
    path = tmp_path / "f.npy"
    np.save(path, np.asfortranarray(numbers(50, 4)))
    path.write_bytes(path.read_bytes()[:-9])
    arrays, found = read(SourceSpec("npy", str(path)), [Role("X", "matrix", (None, None), stays=10)])
    assert not arrays and found[0].code == "FW4042"


def test_damaged_sparse_archive(tmp_path):
    S = sp.csr_array(numbers(50, 6, 0.5))
    S.indices[7] = 99
    with open(tmp_path / "s.npz", "wb") as file:
        np.savez(file, data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, format=b"csr")
    arrays, found = read(SourceSpec("npz", str(tmp_path / "s.npz")), [Role("X", "matrix", (None, None), stays=10)])
    assert not arrays and found[0].code == "FW4043"
