"""The bits of answers from files of whatever format, read by rows or from memory, are those of the numbers by rows in memory."""

import gzip

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from fwdsl.bind import bindings
from fwdsl.cluster.driver import Cluster
from fwdsl.readers.decoded import kept_folders
from fwdsl.readers.row_blocks import is_on_disk
from tests.cluster.programs import data, problem, quick, same

X, TARGETS = data()
NAMES = [f"c{i:02}" for i in range(X.shape[1])]
KINDS = ("npy", "npy_by_columns", "npz", "npz_by_columns", "packed_by_columns", "csv", "parquet", "mat")
BY_COLUMNS = ("npy_by_columns", "npz_by_columns", "packed_by_columns", "mat")
"""The kinds that are taken into memory as they lie, so that sums go by columns there; ranges of their rows are read by rows."""


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


@pytest.mark.parametrize("kind", quick(KINDS, "npy_by_columns"))
def test_files_at_every_door(kind, tmp_path, client, monkeypatch):
    whole = problem("lasso", X, TARGETS)
    expected = whole.solve(threads=1)
    made = whole.bind(X=write(tmp_path, kind, X))
    as_it_lies = made.solve(threads=1)
    assert kind in BY_COLUMNS or same(expected, as_it_lies)
    with Cluster(client) as cluster:
        assert same(as_it_lies, made._session.held_by(cluster).solve())
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    found = made.solve(memory="8GB", threads=1)
    assert kind == "mat" or (same(expected, found) and is_on_disk(found.instance.values["X"]))


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
    expected = problem("lasso", np.ascontiguousarray(A.astype(A.dtype.newbyteorder("="))), TARGETS).solve(threads=1)
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    for _ in range(2):
        found = made.solve(memory="8GB", threads=1)
        rows = found.instance.values["X"]
        assert same(expected, found) and is_on_disk(rows)
    ((folder, size),) = kept_folders()
    assert A.nbytes <= size < 1.5 * A.nbytes and rows.files[0].startswith(str(folder))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, ">f8"])
def test_other_types_of_numbers_by_columns_are_read_by_rows(dtype, tmp_path, monkeypatch):
    A = np.round(10 * X).astype(dtype)
    expected = problem("lasso", A, TARGETS).solve(threads=1)
    made = problem("lasso", A, TARGETS).bind(X=write(tmp_path, "npy_by_columns", A))
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    assert same(expected, made.solve(memory="8GB", threads=1))
