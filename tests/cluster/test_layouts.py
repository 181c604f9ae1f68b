"""The bits of an answer are those of the numbers, however these lie: in memory or in a file of whatever format, by rows or by columns."""

import gzip

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

import fwdsl as fw
from fwdsl.bind import bindings
from fwdsl.cluster.driver import Cluster
from fwdsl.readers import scratch
from fwdsl.readers.decoded import kept_folders
from fwdsl.readers.row_blocks import is_on_disk
from tests.cluster.programs import data, problem, quick, same

X, TARGETS = data()
NAMES = [f"c{i:02}" for i in range(X.shape[1])]
IN_MEMORY = {
    "by_columns": np.asfortranarray,
    "between_others": lambda A: np.hstack([A, A])[:, : A.shape[1]],
    "backwards": lambda A: A[::-1].copy()[::-1],
    "frame": lambda A: pd.DataFrame(A, columns=NAMES),
}
KINDS = ("npy", "npy_by_columns", "npz", "npz_by_columns", "packed_by_columns", "csv", "parquet", "mat")


def write(folder, kind, A):
    """The matrix in a file."""
    path = folder / f"X.{kind.partition('_')[0]}"
    by_columns = np.asfortranarray(A)
    if kind in ("npy", "npy_by_columns"):
        np.save(path, A if kind == "npy" else by_columns)
    elif kind in ("npz", "npz_by_columns"):
        np.savez(path, X=A if kind == "npz" else by_columns)
    elif kind == "packed_by_columns":
        path = folder / "X.npz"
        np.savez_compressed(path, X=by_columns)
    elif kind == "mat":
        savemat(path, {"X": A})
    else:
        frame = pd.DataFrame(A, columns=NAMES)
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, row_group_size=1000)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", ["logistic", "lasso", "quantile"])
@pytest.mark.parametrize("layout", IN_MEMORY)
def test_arrays_in_memory(name, layout):
    assert same(
        problem(name, X, TARGETS).solve(threads=1), problem(name, IN_MEMORY[layout](X), TARGETS).solve(threads=1)
    )


@pytest.mark.parametrize("kind", quick(KINDS, "npy_by_columns"))
def test_files_at_every_door(kind, tmp_path, client, monkeypatch):
    whole = problem("lasso", X, TARGETS)
    expected = whole.solve(threads=1)
    made = whole.bind(X=write(tmp_path, kind, X))
    assert same(expected, made.solve(threads=1))
    with Cluster(client) as cluster:
        assert same(expected, made._session.held_by(cluster).solve())
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    found = made.solve(memory="8GB", threads=1)
    assert same(expected, found) and (is_on_disk(found.instance.values["X"]) or kind == "mat")


@pytest.mark.parametrize("suffix", ["npz", "npy.gz"])
@pytest.mark.parametrize("dtype", [np.float64, ">f4", np.int16])
def test_what_is_compressed_by_columns_is_decoded_by_rows(suffix, dtype, tmp_path, monkeypatch):
    A = np.asfortranarray(np.round(10 * X).astype(dtype))
    if suffix == "npz":
        np.savez_compressed(tmp_path / "X.npz", X=A)
    else:
        with gzip.open(tmp_path / "X.npy.gz", "wb") as file:
            np.save(file, A)
    made = problem("lasso", X, TARGETS).bind(X=tmp_path / f"X.{suffix}")
    expected = made.solve(threads=1)
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    for _ in range(2):
        found = made.solve(memory="8GB", threads=1)
        rows = found.instance.values["X"]
        assert same(expected, found) and is_on_disk(rows)
    ((folder, size),) = kept_folders()
    assert A.nbytes <= size < 1.5 * A.nbytes and rows.files[0].startswith(str(folder))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, ">f8"])
def test_other_types_of_numbers(dtype, tmp_path, monkeypatch):
    A = np.round(10 * X).astype(dtype)
    expected = problem("lasso", A, TARGETS).solve(threads=1)
    for layout in ("by_columns", "between_others"):
        assert same(expected, problem("lasso", IN_MEMORY[layout](A), TARGETS).solve(threads=1))
    made = problem("lasso", A, TARGETS).bind(X=write(tmp_path, "npy_by_columns", A))
    assert same(expected, made.solve(threads=1))
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    assert same(expected, made.solve(memory="8GB", threads=1))


def test_what_hardly_fits_into_memory_is_written_by_rows_into_a_file_without_a_name(tmp_path, monkeypatch):
    made = problem("lasso", X, TARGETS)
    expected = made.solve(threads=1)
    monkeypatch.setattr(scratch, "most_memory", lambda: X.nbytes)
    monkeypatch.setattr(scratch, "AT_ONCE", 1 << 16)
    found = made.bind(X=np.asfortranarray(X)).solve(threads=1)
    assert same(expected, found) and isinstance(found.instance.values["X"], np.memmap)
    assert not list((tmp_path / "cache").iterdir())


def test_predictions_have_the_bits_of_the_numbers():
    fit = problem("lasso", X, TARGETS).solve(threads=1)
    expected = fit.predict(X=X)
    assert all(np.array_equal(expected, fit.predict(X=layout(X))) for layout in IN_MEMORY.values())
    assert all(np.array_equal(expected, fit.predictor().of_checked(f(X))) for k, f in IN_MEMORY.items() if k != "frame")


def test_no_room_for_rows_of_what_lies_by_columns(monkeypatch):
    from fwdsl.readers import decoded

    def full(*_):
        raise decoded.DiskFull("the disk is full")

    monkeypatch.setattr(scratch, "most_memory", lambda: 1)
    monkeypatch.setattr(scratch, "_write", full)
    with pytest.raises(fw.DataError) as error:
        problem("lasso", np.asfortranarray(X), TARGETS).solve()
    assert error.value.code == "FW4093"
