"""Folders and patterns stand for their files; mat, HDF5 and feather files are read as what they hold."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.grammar.diagnostic import Place
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec, infer_format, parse_data_argument

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
LABELS = Role("y", "labels", (None, None))


def parts(folder: Path, *texts: str, suffix: str = "csv") -> None:
    folder.mkdir()
    for i, text in enumerate(texts):
        (folder / f"part-{i}.{suffix}").write_text(text)


@pytest.mark.parametrize("path", ["train", "train/*.csv", "train/part-[01].csv", "**/part-?.csv"])
def test_rows_stand_under_each_other_and_columns_by_name(folder: Path, path: str) -> None:
    parts(folder / "train", "a,b,y\n1,2,3\n4,5,6\n", "y,b,a\n9,8,7\n")
    (folder / "train" / "notes.txt").write_text("no data")
    arrays, found = read(SourceSpec("csv", path, {"target": "y"}), (MATRIX, VECTOR))
    assert found == ()
    np.testing.assert_array_equal(arrays["X"], [[1, 2], [4, 5], [7, 8]])
    np.testing.assert_array_equal(arrays["y"], [3, 6, 9])


def test_labels_may_be_words_in_one_file_and_numbers_in_another(folder: Path) -> None:
    parts(folder / "train", "a,y\n1,2\n", "a,y\n2,two\n")
    arrays, _ = read(SourceSpec("csv", "train", {"target": "y"}), (MATRIX, LABELS))
    assert [str(label) for label in arrays["y"]] in (["2", "two"], ["2.0", "two"])


def test_sparse_files_are_as_wide_as_the_widest(folder: Path) -> None:
    parts(folder / "train", "1 1:2 3:4\n", "-1 5:1\n", suffix="svm")
    arrays, found = read(SourceSpec("libsvm", "train"), (MATRIX, Role("y", "signs", (None,))))
    assert found == () and arrays["X"].shape == (2, 5)
    np.testing.assert_array_equal(arrays["X"].toarray(), [[2, 0, 4, 0, 0], [0, 0, 0, 0, 1]])


def test_arrays_of_a_folder(folder: Path) -> None:
    (folder / "blocks").mkdir()
    whole = np.arange(24.0).reshape(8, 3)
    for i in range(4):
        np.save(folder / "blocks" / f"{i}.npy", whole[2 * i : 2 * i + 2])
    arrays, _ = read(SourceSpec("npy", "blocks"), (MATRIX,))
    np.testing.assert_array_equal(arrays["X"], whole)
    np.save(folder / "blocks" / "4.npy", np.zeros((1, 2)))
    arrays, (found,) = read(SourceSpec("npy", "blocks"), (MATRIX,))
    assert arrays == {} and found.code == "FW4025" and "has 2 columns for `X`" in found.message


def written(format: str, path: str, X: np.ndarray, y: np.ndarray) -> None:
    """A file of arrays by name."""
    if format == "npz":
        np.savez(path, X=X, y=y)
    elif format == "mat":
        savemat(path, {"X": X, "y": y})
    elif format == "hdf5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["X"], file["y"] = X, y
    else:
        group = pytest.importorskip("zarr").open_group(path, mode="w")
        for name, array in (("X", X), ("y", y)):
            group.create_array(name, data=array)


@pytest.mark.parametrize(("format", "suffix"), [("npz", "npz"), ("mat", "mat"), ("hdf5", "h5"), ("zarr", "zarr")])
@pytest.mark.parametrize("roles", [(MATRIX, VECTOR), (MATRIX,), (VECTOR,)])
def test_a_file_of_arrays_may_have_no_rows_beside_others(
    folder: Path, format: str, suffix: str, roles: tuple[Role, ...]
) -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    for k, rows in enumerate([slice(0, 1), slice(1, 1), slice(1, 3)]):
        written(format, f"{k}.{suffix}", X[rows], y[rows])
    arrays, found = read(SourceSpec(format, f"[0-2].{suffix}", {}), roles)
    assert found == ()
    for role in roles:
        np.testing.assert_array_equal(arrays[role.name], {"X": X, "y": y}[role.name])
    arrays, found = read(SourceSpec(format, f"1.{suffix}", {}), roles)
    assert [(d.code, d.message) for d in found] == [("FW4004", f"`1.{suffix}` has no rows")] and not arrays


def test_an_array_without_rows_beside_one_with_rows_is_told(folder: Path) -> None:
    np.savez("0.npz", X=np.ones((2, 2)), y=np.ones(2))
    np.savez("1.npz", X=np.ones((0, 2)), y=np.ones(2))
    _, found = read(SourceSpec("npz", "[01].npz", {}), (MATRIX, VECTOR))
    assert [(d.code, d.message) for d in found] == [("FW4004", "`1.npz` has no rows")]


@pytest.mark.parametrize(("format", "suffix"), [("npz", "npz"), ("mat", "mat"), ("hdf5", "h5"), ("zarr", "zarr")])
@pytest.mark.parametrize("name", ["X", "y"])
def test_a_number_that_is_none_is_told_with_the_file_of_several(
    folder: Path, format: str, suffix: str, name: str
) -> None:
    arrays = {"X": np.ones((5, 2)), "y": np.ones(5)}
    arrays[name][3] = np.nan
    for k, rows in enumerate([slice(0, 2), slice(2, 5)]):
        written(format, f"{k}.{suffix}", arrays["X"][rows], arrays["y"][rows])
    source = f'data X: matrix[n, p], y: vector[n] from {format}("[01].{suffix}")'
    with pytest.raises(fw.DataError) as error:
        fw.parse(f"{source}\nvar w: vector[p]\nminimize mean(squared(X @ w, y))\n").solve()
    found = error.value.diagnostics[0]
    assert found.code == "FW4021" and found.message.startswith("row 2")
    assert found.place is not None and found.place.file.endswith(f"1.{suffix}")


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("stays", [None, 0])
def test_sparse_rows_may_all_be_zero(folder: Path, compressed: bool, stays: int | None) -> None:
    for k, matrix in enumerate([np.eye(2, 3), np.zeros((4, 3)), np.zeros((0, 3))]):
        sp.save_npz(f"{k}.npz", sp.csr_array(matrix), compressed=compressed)
    role = Role("X", "matrix", (None, None), stays=stays)
    for path, rows in (("[0-2].npz", 6), ("1.npz", 4)):
        arrays, found = read(SourceSpec("npz", path, {}), (role,))
        assert found == () and arrays["X"].shape == (rows, 3)


def test_what_is_wrong_in_a_file_is_told_with_its_name_and_row(folder: Path) -> None:
    parts(folder / "train", "a,y\n1,2\n", "a,y\n3,x\n")
    arrays, (found,) = read(SourceSpec("csv", "train", {"target": "y"}), (MATRIX, VECTOR))
    assert arrays == {} and found.place is not None
    assert (found.code, found.place.file, found.place.row) == ("FW4020", "train/part-1.csv", 2)


SIGNS = Role("y", "signs", (None,))


@pytest.mark.parametrize(
    ("text", "options", "row", "column", "value"),
    [
        ("a,y\n1,u\n2,v\n3,w\n", {}, 4, 2, "w"),
        ("y,a\nw,2\n\nu,1\n", {}, 2, 1, "w"),
        ('a,y,t\n1,u,"two\nlines"\n2,w,x\n', {"columns": ["a"]}, 4, 2, "w"),
        ("a,y\n,u\n2,w\n", {"missing": "drop"}, 3, 2, "w"),
    ],
)
def test_a_third_sign_is_told_with_its_file_and_row(
    folder: Path, text: str, options: dict[str, Any], row: int, column: int, value: str
) -> None:
    parts(folder / "train", "a,y\n1,u\n2,u\n", text, "a,y\n1,v\n2,v\n1,u\n")
    arrays, found = read(SourceSpec("csv", "train", {"target": "y", **options}), (MATRIX, SIGNS))
    told = [d for d in found if d.severity == "error"]
    assert arrays == {} and [d.code for d in told] == ["FW4050"]
    assert told[0].place == Place("train/part-1.csv", None, row, column, value)
    assert "`u`, `v`, `w`" in told[0].message


def test_a_third_sign_of_other_formats_is_told_too(folder: Path) -> None:
    parts(folder / "train", "1 1:2\n0 1:3\n", "0 1:2\n\n# none\n7 1:3\n1 1:1\n", suffix="svm")
    _, (found,) = read(SourceSpec("libsvm", "train"), (MATRIX, SIGNS))
    assert found.place == Place("train/part-1.svm", None, 4, None, "7")
    for i, labels in enumerate(([1, 2, 1], [2, 1, 2, 5])):
        np.save(folder / f"{i}.npy", np.array(labels))
    _, (found,) = read(SourceSpec("npy", "*.npy"), (SIGNS,))
    assert found.code == "FW4050" and found.place == Place("1.npy", None, 4, None, "5")
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow", reason="parquet files need pyarrow")
    for i, words in enumerate((["u", "v"], ["u", "w"])):
        pd.DataFrame({"a": [1.0, 2.0], "y": words}).to_parquet(folder / "train" / f"{i}.parquet")
    _, (found,) = read(SourceSpec("parquet", "train", {"target": "y"}), (MATRIX, SIGNS))
    assert found.place == Place("train/1.parquet", None, 2, None, "w")


def test_a_column_that_one_file_lacks_is_told_with_the_file_that_has_it(folder: Path) -> None:
    parts(folder / "train", "a,b,y\n1,2,3\n", "b,y,a\n1,2,3\n", "a,c,y\n1,2,3\n")
    _, (found,) = read(SourceSpec("csv", "train", {"target": "y"}), (MATRIX, VECTOR))
    assert found.message == "`train/part-2.csv` has no column `b`, which `train/part-0.csv` has"
    assert found.place == Place("train/part-2.csv", row=1) and "the first one" in found.rule
    assert found.hint.endswith("in `train/part-2.csv` the columns are `a`, `c`, `y`")
    fitted = Role("X", "matrix", (None, None), columns=("a", "b"))
    _, (found,) = read(SourceSpec("csv", "train", {"target": "y"}), (fitted, VECTOR))
    assert "which `X` has in the fit" in found.message


def test_what_reads_the_files_is_told_to_be_absent_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "train").mkdir()
    for i in range(4):
        (folder / "train" / f"{i}.parquet").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    _, (found,) = read(SourceSpec("parquet", "train"), (MATRIX,))
    assert (found.code, found.hint) == ("FW4070", "pip install 'fwdsl[parquet]'")


@pytest.mark.parametrize(
    ("path", "says"), [("none/*.csv", "no file matches"), ("bare", "a folder without a file of .csv")]
)
def test_a_folder_or_pattern_without_files_is_an_error(folder: Path, path: str, says: str) -> None:
    (folder / "bare").mkdir()
    arrays, (found,) = read(SourceSpec("csv", path), (MATRIX,))
    assert arrays == {} and found.code == "FW4002" and says in found.message


def test_a_file_whose_name_has_brackets_is_that_file(folder: Path) -> None:
    Path("a[1].csv").write_text("a,y\n1,2\n")
    arrays, _ = read(SourceSpec("csv", "a[1].csv", {"target": "y"}), (MATRIX, VECTOR))
    assert arrays["y"].tolist() == [2]


def test_a_program_reads_a_folder(folder: Path) -> None:
    parts(folder / "train", "a,b,y\n1,2,3\n4,5,6\n", "a,b,y\n7,8,9\n2,1,0\n")
    program = 'data X: matrix[n, p], y: vector[n] from csv("train", target="y")\nvar w: vector[p]\nminimize sum(squared(X @ w, y))\n'
    whole = np.array([[1, 2], [4, 5], [7, 8], [2, 1]], dtype=float)
    found = fw.parse(program).solve(tol=1e-9)
    np.testing.assert_allclose(found["w"], np.linalg.lstsq(whole, np.array([3.0, 6, 9, 0]), rcond=None)[0], atol=1e-6)


# --- other formats ----------------------------------------------------------------------------------------------------


def served(format: str, path: str, *roles: Role, **options: Any) -> dict[str, Any]:
    arrays, found = read(SourceSpec(format, path, options), roles)
    assert found == ()
    return arrays


def test_mat_files_serve_arrays_by_name(folder: Path) -> None:
    sparse = sp.random(6, 5, 0.4, format="csc", random_state=0)
    savemat(
        "d.mat",
        {
            "X": np.arange(6.0).reshape(2, 3),
            "y": np.array([[1.0], [2.0]]),
            "S": sparse,
            "kind": np.array(["u", "v"], object),
        },
    )
    arrays = served("mat", "d.mat", MATRIX, VECTOR)
    np.testing.assert_array_equal(arrays["X"], np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(arrays["y"], [1, 2])
    found = served("mat", "d.mat", MATRIX, key="S")["X"]
    np.testing.assert_array_equal(found.toarray(), sparse.toarray())
    assert served("mat", "d.mat", Role("kind", "labels", (None, None)))["kind"].tolist() == ["u", "v"]


def test_what_is_no_mat_file_is_told(folder: Path) -> None:
    Path("bad.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(10))
    savemat("d.mat", {"X": np.eye(2), "z": np.eye(2) * 1j})
    Path("new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(512))
    for path, name, code, says in [
        ("bad.mat", "X", "FW4073", "no mat file"),
        ("new.mat", "X", "FW4073", "version 7.3"),
        ("d.mat", "Y", "FW4045", "no array `Y`"),
        ("d.mat", "z", "FW4044", "complex"),
    ]:
        arrays, (found, *_) = read(SourceSpec("mat", path), (Role(name, "matrix", (None, None)),))
        assert arrays == {} and found.code == code and says in found.message


def test_hdf5_files_serve_datasets_by_path(folder: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="HDF5 files are read by h5py")
    with h5py.File("d.h5", "w") as file:
        file["X"] = np.arange(6, dtype=np.float32).reshape(2, 3)
        file["group/y"] = np.array([1, 2])
        file["kind"] = ["u", "v"]
    arrays = served("hdf5", "d.h5", MATRIX)
    assert arrays["X"].dtype == np.float32 and arrays["X"].shape == (2, 3)
    assert served("hdf5", "d.h5", VECTOR, key="group/y")["y"].tolist() == [1, 2]
    assert served("hdf5", "d.h5", Role("kind", "labels", (None, None)))["kind"].tolist() == ["u", "v"]
    arrays, (found,) = read(SourceSpec("hdf5", "d.h5"), (VECTOR,))
    assert arrays == {} and found.code == "FW4045" and "group/y" in found.hint
    Path("bad.h5").write_bytes(b"nothing of that kind")
    assert read(SourceSpec("hdf5", "bad.h5"), (MATRIX,))[1][0].code == "FW4073"


def test_without_h5py_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("d.h5").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "h5py", None)
    _, (found,) = read(SourceSpec("hdf5", "d.h5"), (MATRIX,))
    assert (found.code, found.hint) == ("FW4074", "pip install 'fwdsl[hdf5]'")


@pytest.mark.parametrize(
    ("module", "files", "codes"),
    [
        ("h5py", ("d.h5:X", "e.h5:y"), ["FW4074"]),
        ("pyarrow", ("d.parquet", "e.feather"), ["FW4070"]),
        ("h5py", ("d.h5", "e.csv"), ["FW4074", "FW4001"]),
    ],
)
def test_an_extra_of_several_sources_is_named_once(
    module: str,
    files: tuple[str, str],
    codes: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("d.h5", "e.h5", "d.parquet", "e.feather"):
        Path(name).write_bytes(b"x")
    Path("p.fw").write_text("data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, y))\n")
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["run", "p.fw", "--data", f"X={files[0]}", "--data", f"y={files[1]}", "--json"]) == 1
    assert [d["code"] for d in json.loads(capsys.readouterr().out)["diagnostics"] if d["severity"] == "error"] == codes


def test_feather_files_are_read_as_parquet_files_are(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="feather files need pyarrow")
    feather = pytest.importorskip("pyarrow.feather", reason="feather files need pyarrow")
    feather.write_feather(pa.table({"a": [1.0, 2.0, None], "b": [3, 4, 5], "y": [5.0, 6.0, 7.0]}), "t.feather")
    arrays, (left_out,) = read(SourceSpec("feather", "t.feather", {"target": "y", "missing": "drop"}), (MATRIX, VECTOR))
    np.testing.assert_array_equal(arrays["X"], [[1, 3], [2, 4]])
    assert arrays["y"].tolist() == [5, 6] and left_out.code == "FW4024"
    Path("bad.feather").write_bytes(b"ARROW1 but no more")
    assert read(SourceSpec("feather", "bad.feather"), (MATRIX,))[1][0].code == "FW4071"


@pytest.mark.parametrize(
    ("path", "format"),
    [("a.mat", "mat"), ("a.h5", "hdf5"), ("a.hdf5", "hdf5"), ("a.feather", "feather"), ("a.arrow", "feather")],
)
def test_suffixes_tell_formats(path: str, format: str) -> None:
    assert infer_format(path) == format


@pytest.mark.parametrize(("text", "key"), [("X=a.h5:group/X", "group/X"), ("X=a.mat:S", "S"), ("X=hdf5:a.h5:X", "X")])
def test_keys_stand_behind_a_colon(text: str, key: str) -> None:
    parsed = parse_data_argument(text)
    assert isinstance(parsed, tuple) and parsed[1].options == {"key": key}


# --- standard input ---------------------------------------------------------------------------------------------------


def test_data_come_from_standard_input(folder: Path) -> None:
    Path("p.fw").write_text("data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize sum(squared(X @ w, y))\n")
    command = [sys.executable, "-m", "fwdsl", "run", "p.fw", "--data", "X=csv:-", "--data", "y=csv:-", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(Path(fw.__file__).parents[1])}
    for text, code, says in [("X,y\n1,2\n2,4\n", 0, "optimal"), ("", 1, "standard input is empty")]:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == code and says in done.stdout + done.stderr


LISTED = """fw 1
data X: matrix[n, p], y: vector[n]{}
var w: vector[p]
minimize mean(squared(X @ w, y)) + 0.1 * norm1(w)
"""
FROM = ' from csv("none.csv", target="y")'


def tables(folder: Path) -> list[str]:
    """Two csv files with columns in another order, and two npy files of their matrix."""
    parts(folder / "train", "a,b,y\n1,2,3\n4,5,6\n", "y,b,a\n9,8,7\n")
    np.save(folder / "0.npy", np.array([[1.0, 2], [4, 5]]))
    np.save(folder / "1.npy", np.array([[7.0, 8]], dtype=np.float32))
    return ["train/part-1.csv", "train/part-0.csv"]


@pytest.mark.parametrize("memory", [None, "8GB"])
@pytest.mark.parametrize("of", [str, Path, "pattern"])
def test_a_list_of_paths_serves_the_names_that_it_is_given_for(folder: Path, of: Any, memory: str | None) -> None:
    paths = tables(folder)
    given = [paths[0], "train/part-[0].csv"] if of == "pattern" else [of(path) for path in paths]
    found = fw.parse(LISTED.format(FROM)).bind(X=given, y=given).solve(memory=memory)
    np.testing.assert_array_equal(found.instance.values["X"], [[8, 7], [2, 1], [5, 4]])
    np.testing.assert_array_equal(found.instance.values["y"], [9, 3, 6])
    assert found.instance.origins["X"] == ", ".join(map(str, given))


def test_lists_of_arrays_and_of_one_path(folder: Path) -> None:
    tables(folder)
    y = [1.0, 2.0, 3.0]
    for given in (["0.npy", "1.npy"], ["*.npy"], "*.npy", Path("*.npy")):
        found = fw.parse(LISTED.format("")).bind(X=given, y=y).instance.values["X"]
        np.testing.assert_array_equal(found, [[1, 2], [4, 5], [7, 8]])


def test_words_are_labels_and_no_paths(folder: Path) -> None:
    (folder / "ham").write_text("a file")
    made = fw.parse(LISTED.format("").replace("y: vector", "y: signs").replace("squared", "logistic"))
    assert made.bind(X=[[1.0], [2.0]], y=["ham", "spam"]).instance.maps["y"] == ("ham", "spam")


@pytest.mark.parametrize(
    ("write", "code", "words"),
    [
        (None, "FW4001", "train/part-2.csv"),
        ("a,c,y\n1,2,3\n", "FW4032", "part-2.csv"),
        ("a,b,y\n1,x,3\n", "FW4020", "part-2.csv"),
    ],
)
def test_members_that_do_not_fit_are_told(folder: Path, write: str | None, code: str, words: str) -> None:
    paths = [*tables(folder)[::-1], "train/part-2.csv"]
    if write is not None:
        (folder / paths[2]).write_text(write)
    with pytest.raises(fw.FwError) as error:
        fw.parse(LISTED.format(FROM)).bind(X=paths, y=paths).instance  # noqa: B018
    told = error.value.diagnostics[0]
    assert told.code == code and words in f"{told.message} {told.place}"


def test_arrays_that_do_not_fit_are_told(folder: Path) -> None:
    tables(folder)
    for array, code in ((np.ones((2, 3)), "FW4025"), (np.ones((2, 2), dtype=complex), "FW4044")):
        np.save(folder / "2.npy", array)
        for memory in (None, "1GB"):
            with pytest.raises(fw.FwError) as error:
                fw.parse(LISTED.format("")).bind(X=["0.npy", "2.npy"], y=[1.0] * 4).solve(memory=memory)
            told = error.value.diagnostics[0]
            assert told.code == code and "2.npy" in told.message
    with pytest.raises(fw.FwError, match="stands twice"):
        fw.parse(LISTED.format("")).bind(X=["0.npy", "0.npy"], y=[1.0] * 4).instance  # noqa: B018


def test_lists_on_the_command_line() -> None:
    names, spec = parse_data_argument("X,y=[a.csv, b.csv]")  # type: ignore[misc]
    assert names == ("X", "y") and spec == SourceSpec("csv", "a.csv, b.csv", listed=("a.csv", "b.csv"))
    _, spec = parse_data_argument("X=libsvm:[a.txt,b.txt]")  # type: ignore[misc]
    assert spec.format == "libsvm" and spec.paths == ("a.txt", "b.txt")
    _, spec = parse_data_argument("X=[a.npz,b.npz]:A")  # type: ignore[misc]
    assert spec.format == "npz" and spec.options == {"key": "A"}
    _, spec = parse_data_argument("X=part[01].npy")  # type: ignore[misc]
    assert spec.paths == ("part[01].npy",)
    assert parse_data_argument("X=[a.npy,]").code == "FW0103"  # type: ignore[union-attr]


HELD = """
import sys
from fwdsl.readers.decoded import Pile
from fwdsl.readers.memory import resident
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec
form, folder = sys.argv[1:]
held, add = [], Pile.add
def noting(pile, rows):
    held.append(resident()[0])
    add(pile, rows)
Pile.add = noting
roles = [Role("X", "matrix", (None, None), stays=1 << 20), Role("y", "signs", (None,), stays=1 << 20)]
arrays, found = read(SourceSpec(form, folder, {} if form == "npz" else {"target": "y"}), roles)
assert not found and arrays["X"].shape == (24 * 5000, 50) and arrays["y"].shape == (24 * 5000,), found
print(*held)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by Linux alone")
@pytest.mark.parametrize("form", ["npz", "parquet", "csv"])
def test_files_that_are_decoded_leave_no_memory_behind(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """24 files of 2 MB: what is in memory after 8 of them is what is there in the end, but for the labels."""
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    X, y = rng.integers(-99, 99, (5000, 50)).astype(float), np.where(rng.random(5000) < 0.5, 1.0, -1.0)
    names = [*(f"x{j}" for j in range(50)), "y"]
    (tmp_path / "rows").mkdir()
    first = tmp_path / "rows" / f"00.{form}"
    if form == "npz":
        np.savez(first, X=X, y=y)
    elif form == "csv":
        np.savetxt(first, np.column_stack([X, y]), "%.0f", ",", header=",".join(names), comments="")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table([*X.T.copy(), y], names=names), first)
    for i in range(1, 24):
        shutil.copy(first, tmp_path / "rows" / f"{i:02}.{form}")
    command = [sys.executable, "-c", HELD, form, str(tmp_path / "rows")]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    held = list(map(int, told.stdout.split()))
    assert len(held) == 24 and min(held[16:]) - min(held[4:8]) < 8_000_000
