"""Files that workers read themselves: the bits of one process, its findings, and files that change."""

import os
import signal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import fwdsl as fw
from fwdsl.bind import measure
from fwdsl.cli.app import run
from fwdsl.cluster.driver import Cluster
from fwdsl.errors import DataError
from fwdsl.readers import encoded, places
from fwdsl.readers.encoded import Encoded
from tests.cluster.programs import D, N, data, problem, quick, same

X, TARGETS = data()
WORDS = np.array(["ham", "spam"])[(TARGETS["signs"] > 0).astype(int)]
CUTS = [0, 1700, 1701, 4000, N]

PROGRAM = """fw 1
data {data}
var w: vector[p]
minimize mean(logistic(X @ w, y)) + 0.1 * norm1(w)
solve method = apg, tol = 1e-4
"""


def write(folder, kind):
    """The rows in four files, and the program of them."""
    table = 'X: matrix[n, p], y: signs[n] from {}("rows/*.{}"{})'
    (folder / "rows").mkdir()
    for k, (a, b) in enumerate(pairwise(CUTS)):
        path = folder / "rows" / f"{k}.{kind}"
        frame = pd.DataFrame(X[a:b], columns=[f"c{i:02}" for i in range(D)])
        frame["y"] = WORDS[a:b]
        if k == 2:
            frame = frame[frame.columns[::-1]]  # columns are matched by name
        if kind == "parquet":
            frame.to_parquet(path, row_group_size=500)
        elif kind == "csv":
            frame.to_csv(path, index=False)
        elif kind == "npy":
            np.save(path, X[a:b])
        elif kind == "npz":
            sp.save_npz(path, sp.csr_array(X[a:b]))
        else:
            dump_svmlight_file(sp.csr_array(X[a:b]), TARGETS["signs"][a:b], str(path), zero_based=False)
    if kind in ("npy", "npz"):
        np.save(folder / "y.npy", TARGETS["signs"])
        told = f'X: matrix[n, p] from {kind}("rows/*.{kind}"), y: signs[n] from npy("y.npy")'
    else:
        told = table.format(kind, kind, "" if kind == "libsvm" else ', target="y"')
    (folder / "p.fw").write_text(PROGRAM.format(data=told))
    return folder / "p.fw"


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """All files are large enough to be read by workers."""
    monkeypatch.setattr(places, "READ_HERE", 0)
    encoded.forget()


def held(path, cluster):
    return fw.load(path)._session.held_by(cluster)


@pytest.mark.parametrize("kind", quick(("parquet", "csv", "npy", "npz", "libsvm"), "parquet"))
def test_workers_read_their_own_files(kind, tmp_path, client):
    path = write(tmp_path, kind)
    whole = fw.load(path).solve(threads=2)
    for shares in (1, 2, 3):
        with Cluster(client, shares=shares) as cluster:
            found = held(path, cluster).solve()
            matrix = found.instance.values["X"]
            assert same(whole, found) and len(matrix.source.files) == 4
            assert found.instance.maps == whole.instance.maps
            assert np.array_equal(found.instance.values["y"], whole.instance.values["y"])
            own, theirs = whole.instance.stats["X"], found.instance.stats["X"]
            assert np.array_equal(own.column_norms, theirs.column_norms)
            assert own.largest_row_norm == theirs.largest_row_norm
    assert all(isinstance(part, Encoded) for part in np.ravel(matrix.source.parts))
    assert not encoded._kept  # this process has decoded nothing


def test_large_files_of_several_are_read_by_ranges_of_their_rows(tmp_path, client, monkeypatch):
    monkeypatch.setattr(places, "PIECE_BYTES", 300_000)
    path = write(tmp_path, "parquet")
    whole = fw.load(path).solve()
    encoded.forget()
    with Cluster(client) as cluster:
        found = held(path, cluster).solve()
        source = found.instance.values["X"].source
        assert same(whole, found) and len(source.files) == 4 < len(source.parts) and not encoded._kept
        assert found.instance.maps == whole.instance.maps
        assert np.array_equal(found.instance.values["y"], whole.instance.values["y"])
        frame = pd.read_parquet(tmp_path / "rows" / "3.parquet")
        frame.loc[frame.index[1200], "c04"] = np.nan
        frame.to_parquet(tmp_path / "rows" / "3.parquet", row_group_size=500)
        with pytest.raises(DataError) as error:
            held(path, cluster).bind()
    (told,) = error.value.diagnostics
    assert told.place.file == str(tmp_path / "rows" / "3.parquet")
    first = int(told.message.split("count from row ")[1].split()[0].replace(",", ""))
    assert first + told.place.row - 1 == 1201


@pytest.mark.slow
@pytest.mark.parametrize("kind", quick(("parquet", "csv", "npy", "npz", "libsvm"), "csv"))
def test_workers_read_the_members_of_a_list(kind, tmp_path, client):
    path = write(tmp_path, kind)
    given = [tmp_path / "rows" / f"{k}.{kind}" for k in range(4)]
    made = fw.load(path).bind(X=given) if kind in ("npy", "npz") else fw.load(path).bind(X=given, y=given)
    whole = fw.load(path).solve()
    with Cluster(client) as cluster:
        found = made._session.held_by(cluster).solve()
        assert same(whole, found) and len(found.instance.values["X"].source.files) == 4
    assert same(whole, made.solve(memory="8GB"))


def test_the_command_line_has_the_workers_read_their_files(tmp_path, monkeypatch, capsys, local):
    path = write(tmp_path, "csv")
    monkeypatch.chdir(tmp_path / "rows")
    assert run(["run", str(path), "--data", "X,y=[2.csv,3.csv]", "--workers", local.scheduler_address]) == 0
    assert f"2 workers hold {N - 1701:,} rows" in capsys.readouterr().err
    assert not encoded._kept


def write_one(folder, kind):
    """The rows in one file, and the program of them."""
    path, y = folder / f"one.{kind}", TARGETS["signs"]
    if kind == "parquet":
        frame = pd.DataFrame(X, columns=[f"c{i:02}" for i in range(D)])
        frame["y"] = WORDS
        frame.to_parquet(path, row_group_size=500)
    elif kind == "h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=X, chunks=(128, D), compression="gzip")
            file["y"] = y
    elif kind == "csv":
        frame = pd.DataFrame(X, columns=[f"c{i:02}" for i in range(D)])
        frame["y"] = np.where(WORDS == "ham", "two\nlines of ham", WORDS)
        frame.to_csv(path, index=False)
    elif kind == "libsvm":
        dump_svmlight_file(sp.csr_array(X), y, str(path), zero_based=False)
    elif kind == "npz":
        np.savez(path, X=X, y=y)
    else:
        zarr = pytest.importorskip("zarr")
        root = zarr.open_group(path, mode="w")
        root.create_array("X", data=X, chunks=(128, D))
        root.create_array("y", data=y, chunks=(1000,))
    name = {"h5": "hdf5"}.get(kind, kind)
    target = ', target="y"' if kind in ("parquet", "csv") else ""
    told = f'X: matrix[n, p], y: signs[n] from {name}("{path.name}"{target})'
    (folder / "p.fw").write_text(PROGRAM.format(data=told))
    return folder / "p.fw"


@pytest.mark.parametrize("kind", quick(("parquet", "h5", "zarr", "csv", "libsvm"), "parquet", "h5"))
def test_one_file_is_read_by_ranges_of_its_rows(kind, tmp_path, client, monkeypatch):
    monkeypatch.setattr(places, "PIECE_BYTES", 300_000)
    path = write_one(tmp_path, kind)
    whole = fw.load(path).solve()
    encoded.forget()
    with Cluster(client) as cluster:
        found = held(path, cluster).solve()
        matrix = found.instance.values["X"]
        assert same(whole, found) and len(matrix.source.parts) > 3 and len(matrix.source.files) == 1
        assert all(isinstance(part, Encoded) for part in np.ravel(matrix.source.parts)) and not encoded._kept
        assert found.instance.maps == whole.instance.maps
        assert np.array_equal(
            found.instance.stats["X"].column_norms, whole.instance.stats["X"].column_norms
        ) and np.array_equal(found.instance.values["y"], whole.instance.values["y"])
    assert same(whole, fw.load(path).solve(memory="8GB"))


def test_arrays_of_an_archive_are_read_where_they_lie(tmp_path, client):
    path = write_one(tmp_path, "npz")
    whole = fw.load(path).solve()
    for shares in (1, 2, 3):
        with Cluster(client, shares=shares) as cluster:
            found = held(path, cluster).solve()
            assert same(whole, found) and found.instance.values["X"].source.files == (str(tmp_path / "one.npz"),)


@pytest.mark.slow
def test_members_of_a_list_may_be_urls(tmp_path, client):
    """This process reads them, whose copies nobody else has and which are gone when they are read."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    path = write(tmp_path, "csv")
    given = [tmp_path / "rows" / "0.csv"]
    for k in (1, 2, 3):
        memory.pipe(f"/listed/{k}.csv", (tmp_path / "rows" / f"{k}.csv").read_bytes())
        given.append(f"memory://listed/{k}.csv")
    whole, made = fw.load(path).solve(), fw.load(path).bind(X=given, y=given)
    with Cluster(client) as cluster:
        found = made._session.held_by(cluster).solve()
        assert same(whole, found) and found.instance.maps == whole.instance.maps
        one = fw.load(path).bind(X="memory://listed/3.csv", y="memory://listed/3.csv")
        assert same(one.solve(), one._session.held_by(cluster).solve())
        np.save(tmp_path / "X.npy", X)
        memory.pipe("/listed/X.npy", (tmp_path / "X.npy").read_bytes())
        mapped = fw.load(path).bind(X="memory://listed/X.npy", y=TARGETS["signs"])
        assert same(whole, mapped._session.held_by(cluster).solve())
    memory.rm("/listed", recursive=True)


@pytest.mark.parametrize("kind", ["parquet", "h5"])
def test_what_is_wrong_in_a_range_is_told_with_its_row(kind, tmp_path, client, monkeypatch):
    monkeypatch.setattr(places, "PIECE_BYTES", 300_000)
    path = write_one(tmp_path, kind)
    if kind == "h5":
        import h5py

        with h5py.File(tmp_path / "one.h5", "r+") as file:
            file["X"][3000, 4] = np.nan
    else:
        frame = pd.read_parquet(tmp_path / "one.parquet")
        frame.loc[3000, "c04"] = np.nan
        frame.to_parquet(tmp_path / "one.parquet", row_group_size=500)
    with Cluster(client) as cluster, pytest.raises(DataError) as error:
        held(path, cluster).solve()
    told = error.value.diagnostics[0]
    assert told.place.row == 3001 or "rows count from row" in told.message
    assert str(tmp_path / f"one.{kind}") == told.place.file


def test_a_mapped_file_is_measured_by_workers(tmp_path, client, monkeypatch):
    made = problem("lasso", X, TARGETS)
    np.save(tmp_path / "X.npy", X)
    whole, mapped = made.solve(), made.bind(X=np.load(tmp_path / "X.npy", mmap_mode="r"))
    with Cluster(client) as cluster:
        session = mapped._session.held_by(cluster)
        with monkeypatch.context() as patched:
            patched.setattr(measure, "_of_blocks", lambda *_: pytest.fail("the rows are read here"))
            patched.setattr(measure, "_by_rows", only_of(2, measure._by_rows))
            found = session.bind()
        assert np.array_equal(found.stats["X"].column_norms, whole.instance.stats["X"].column_norms)
        assert same(whole, session.solve())


def only_of(ndim, fn):
    """fn of arrays of so many axes; statistics that say nothing of others, which are read here."""
    return lambda array, scale: fn(array, scale) if array.ndim == ndim else measure._Sums(True, 0.0, 1.0)


def test_what_is_wrong_is_told_with_file_and_row(tmp_path, client):
    path = write(tmp_path, "csv")
    lines = (tmp_path / "rows" / "2.csv").read_text().splitlines()
    lines[7] = "what" + lines[7][lines[7].index(",") :].replace(lines[7].split(",")[5], "nan")
    (tmp_path / "rows" / "2.csv").write_text("\n".join(lines))
    with pytest.raises(DataError) as here:
        fw.load(path).solve()
    with Cluster(client) as cluster, pytest.raises(DataError) as there:
        held(path, cluster).solve()
    told = [(d.code, d.message, d.place) for d in here.value.diagnostics]
    assert told == [(d.code, d.message, d.place) for d in there.value.diagnostics]
    assert any(place.file.endswith("2.csv") and place.row == 8 for _, _, place in told)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_third_sign_is_told_with_its_file_and_row(kind, tmp_path, client, monkeypatch):
    monkeypatch.setattr(places, "PIECE_BYTES", 300_000)
    path = write(tmp_path, kind)
    file = tmp_path / "rows" / f"3.{kind}"
    frame = pd.read_csv(file) if kind == "csv" else pd.read_parquet(file)
    frame["y"] = ["what" if i == 1200 else label for i, label in enumerate(frame["y"])]
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file, row_group_size=500)
    with Cluster(client) as cluster, pytest.raises(DataError) as error:
        held(path, cluster).bind()
    (told,) = error.value.diagnostics
    assert told.code == "FW4050" and told.place.file == str(file)
    assert (told.place.row, told.place.value) == (1202 if kind == "csv" else 1201, "what")


@pytest.mark.parametrize("changed", quick((False, True), True))
def test_files_of_a_lost_worker_are_read_again_if_they_are_the_same(changed, tmp_path, local):
    from distributed import Client

    path = write(tmp_path, "parquet")
    text = path.read_text().replace("logistic", "hinge").replace("apg", "pdhg")
    path.write_text(text)
    whole = fw.load(path).solve()
    with Client(local, set_as_default=False) as client, Cluster(client) as cluster:
        session, killed = held(path, cluster), []

        def kill(progress):
            if progress.iteration >= 40 and not killed:
                if changed:
                    pd.read_parquet(tmp_path / "rows" / "0.parquet").iloc[1:].to_parquet(
                        tmp_path / "rows" / "0.parquet"
                    )
                killed.append(client.run(os.getpid)[cluster.shares[0].address])
                os.kill(killed[0], signal.SIGKILL)

        if changed:
            with pytest.raises(DataError, match="after it was bound") as error:
                session.solve(kill)
            assert error.value.code == "FW4090"
        else:
            assert same(whole, session.solve(kill)) and killed and cluster.told
