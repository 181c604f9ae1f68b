"""Folders `name=value` tell columns of the parquet and feather files in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.readers.headers import header_names
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

pa = pytest.importorskip("pyarrow", reason="parquet files need pyarrow")
ds = pytest.importorskip("pyarrow.dataset", reason="parquet files need pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="parquet files need pyarrow")

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
LABELS = Role("kind", "labels", (None, None))


def write(path: str, **columns: Any) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def served(path: str, *roles: Role, format: str = "parquet", **options: Any) -> dict[str, Any]:
    arrays, found = read(SourceSpec(format, path, options), roles or (MATRIX, VECTOR))
    assert found == ()
    return arrays


def refused(path: str, *roles: Role, **options: Any) -> list[tuple[str, str]]:
    arrays, found = read(SourceSpec("parquet", path, options), roles or (MATRIX, VECTOR))
    assert arrays == {}
    return [(d.code, d.message) for d in found]


@pytest.fixture
def years(folder: Path) -> Path:
    """Two years with a file each."""
    write("data/year=2023/part-0.parquet", a=[1.0, 2.0], y=[5.0, 6.0])
    write("data/year=2024/part-0.parquet", a=[3.0], y=[7.0])
    return folder


@pytest.mark.parametrize("path", ["data", "data/year=*/*.parquet", "data/*/part-0.parquet", "**/*.parquet"])
def test_a_folders_value_is_a_column_behind_the_files_own(years: Path, path: str) -> None:
    arrays = served(path, target="y")
    assert arrays["X"].tolist() == [[1, 2023], [2, 2023], [3, 2024]] and arrays["y"].tolist() == [5, 6, 7]


def test_it_is_named_as_others_are(years: Path) -> None:
    assert served("data", columns=["year"], target="a")["X"].tolist() == [[2023], [2023], [2024]]
    assert served("data", columns=["a"], target="year")["y"].tolist() == [2023, 2023, 2024]
    assert served("data", columns=[0], target=-1)["y"].tolist() == [2023, 2023, 2024]
    assert served("data", Role("year", "vector", (None,)))["year"].tolist() == [2023, 2023, 2024]
    assert refused("data", columns=["yaer"], target="y")[0][0] == "FW4032"


def test_only_a_folders_column_may_be_used(years: Path) -> None:
    assert served("data", MATRIX, columns=["year"])["X"].tolist() == [[2023], [2023], [2024]]
    assert served("data", MATRIX, columns=["year"], missing="drop")["X"].shape == (3, 1)


@pytest.mark.parametrize("path", ["data/year=2024", "data/year=2024/part-0.parquet", "data/year=2024/*.parquet"])
def test_a_folder_above_the_source_tells_a_column_to_who_names_it(years: Path, path: str) -> None:
    assert served(path, target="y")["X"].tolist() == [[3]]
    assert served(path, columns=["year", "a"], target="y")["X"].tolist() == [[2024, 3]]
    fitted = Role("X", "matrix", (None, None), columns=("a", "year"))
    assert served(path, fitted, VECTOR, target="y")["X"].tolist() == [[3, 2024]]


def test_words_are_labels_and_no_numbers(folder: Path) -> None:
    write("data/kind=u%2Fv/a.parquet", a=[1.0, 2.0])
    write("data/kind=7/a.parquet", a=[3.0])
    write("data/kind=8/a.parquet", a=[4.0])
    assert served("data", MATRIX, LABELS)["kind"].tolist() == ["7", "8", "u/v", "u/v"]
    ((code, message),) = refused("data", MATRIX)  # once for all files
    assert code == "FW4072" and message == "the folders of `kind` hold words, where numbers are needed"


def test_it_is_what_pyarrow_reads(folder: Path) -> None:
    rng = np.random.default_rng(0)
    names = {"a": rng.standard_normal(200), "b": rng.standard_normal(200), "month": rng.integers(1, 4, 200)}
    table = pa.table({**names, "year": rng.integers(2020, 2024, 200)})
    scheme = ds.partitioning(pa.schema([("year", pa.int64()), ("month", pa.int64())]), flavor="hive")
    ds.write_dataset(table, "data", format="parquet", partitioning=scheme)
    held = ds.dataset("data", partitioning="hive").to_table().to_pandas()
    arrays = served("data", MATRIX)
    np.testing.assert_array_equal(
        arrays["X"][np.lexsort(arrays["X"].T)], held.to_numpy()[np.lexsort(held.to_numpy().T)]
    )
    assert sorted(map(tuple, arrays["X"][:, 2:].tolist())) == list(map(tuple, arrays["X"][:, 2:].tolist()))


def test_feather_files_stand_in_folders_too(folder: Path) -> None:
    feather = pytest.importorskip("pyarrow.feather", reason="feather files need pyarrow")
    Path("data/year=2024").mkdir(parents=True)
    feather.write_feather(pa.table({"a": [1.0, 2.0]}), "data/year=2024/a.feather")
    assert served("data", MATRIX, format="feather")["X"].tolist() == [[1, 2024], [2, 2024]]


def test_single_precision_stays_where_it_holds_what_folders_tell(folder: Path) -> None:
    for year, dtype in [("2024", np.float32), ("16777217", np.float64)]:
        write(f"{year}/year={year}/a.parquet", a=np.ones(2, np.float32))
        assert served(year, MATRIX)["X"].dtype == dtype
        assert served(year, MATRIX, columns=["year"])["X"].tolist() == [[float(year)]] * 2


def test_notes_of_writers_and_hidden_files_are_left_out(years: Path) -> None:
    write("data/_delta_log/old.parquet", other=[1.0])
    write("data/year=2024/.part-1.parquet", other=[1.0])
    write("data/.ipynb_checkpoints/part.parquet", other=[1.0])
    assert served("data", target="y")["X"].shape == (3, 2)


def test_in_csv_files_folders_tell_nothing(folder: Path) -> None:
    Path("data/year=2024").mkdir(parents=True)
    Path("data/year=2024/_part.csv").write_text("a,y\n1,2\n")
    assert served("data", format="csv", target="y")["X"].tolist() == [[1]]


def test_an_editor_is_told_their_names(years: Path) -> None:
    assert header_names("data", "parquet") == header_names("data/*/*.parquet", "parquet") == ("a", "y", "year")
    assert header_names("data/year=2024/part-0.parquet", "parquet") == ("a", "y")
    assert header_names("none", "parquet") == header_names("none/*", "parquet") == ()
    Path("train").mkdir()
    Path("train/a.csv").write_text("a,y\n1,2\n")
    assert header_names("train", "csv") == ("a", "y")


# --- what is told -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "data/late.parquet",
            "`data/late.parquet` stands in no folder `year=...`, as `data/year=2023/part-0.parquet` does",
        ),
        (
            "data/2025/a.parquet",
            "`data/2025/a.parquet` stands in no folder `year=...`, as `data/year=2023/part-0.parquet` does",
        ),
        (
            "data/year=2025/month=1/a.parquet",
            "`data/year=2023/part-0.parquet` stands in no folder `month=...`, as `data/year=2025/month=1/a.parquet` does",
        ),
        ("data/year=2025/year=1/a.parquet", "the folders of `data/year=2025/year=1/a.parquet` tell `year` twice"),
    ],
)
def test_a_mixture_of_schemes_is_told(years: Path, path: str, message: str) -> None:
    write(path, a=[1.0], y=[1.0])
    assert refused("data", target="y") == [("FW4026", message)]


@pytest.mark.parametrize("none", ["year=__HIVE_DEFAULT_PARTITION__", "year="])
def test_a_folder_without_a_value_is_told_or_left_out(years: Path, none: str) -> None:
    write(f"data/{none}/a.parquet", a=[1.0, 2.0], y=[1.0, 2.0])
    file = f"data/{none}/a.parquet"
    assert refused("data", target="y") == [("FW4023", f"the folder of `{file}` tells no value for `year`")]
    assert served("data", columns=["a"], target="y")["X"].shape == (5, 1)  # it is not used
    arrays, (found,) = read(SourceSpec("parquet", "data", {"target": "y", "missing": "drop"}), (MATRIX, VECTOR))
    assert arrays["X"].shape == (3, 2)
    assert found.code == "FW4024" and found.message.startswith("2 of the 5 rows of `data` have no value")


def test_what_is_wrong_is_told_with_file_and_row(years: Path) -> None:
    write("data/year=2025/part-0.parquet", a=[1.0, None], y=[1.0, 2.0])
    _, (found,) = read(SourceSpec("parquet", "data", {"target": "y"}), (MATRIX, VECTOR))
    assert (found.code, found.place.file, found.place.row) == ("FW4023", "data/year=2025/part-0.parquet", 2)


def test_a_column_in_the_file_too_has_the_folders_value(folder: Path) -> None:
    write("data/year=2024/a.parquet", year=[2024, 2024], a=[1.0, 2.0])
    assert served("data", MATRIX)["X"].tolist() == [[2024, 1], [2024, 2]]
    write("data/year=2025/a.parquet", year=[2025, 2024], a=[1.0, 2.0])
    _, (found,) = read(SourceSpec("parquet", "data"), (MATRIX,))
    assert (found.code, found.place.file, found.place.row) == ("FW4026", "data/year=2025/a.parquet", 2)
    assert found.message == "column `year` is `2024.0` in row 2, in a folder of `2025`"
    write("flags/kind=u/a.parquet", kind=["u", "v"], a=[1.0, 2.0])
    assert refused("flags", MATRIX, LABELS)[0][0] == "FW4026"


def test_files_without_rows_add_none_but_not_all_may(years: Path) -> None:
    write("data/year=2022/a.parquet", a=pa.array([], pa.float64()), y=pa.array([], pa.float64()))
    assert served("data", target="y")["X"].shape == (3, 2)
    assert refused("data/year=2022", target="y") == [("FW4004", "`data/year=2022` has no rows")]


# --- several files ----------------------------------------------------------------------------------------------------


def test_what_files_warn_of_is_told_once(folder: Path) -> None:
    Path("train").mkdir()
    for i in range(30):
        Path(f"train/{i:02}.csv").write_text(f"1,2\n{i},3\n,4\n")
    arrays, found = read(SourceSpec("csv", "train", {"target": 1, "missing": "drop"}), (MATRIX, VECTOR))
    assert arrays["X"].ravel().tolist() == list(range(30))
    assert [d.code for d in found] == ["FW4033", "FW4024"]
    assert found[0].message.endswith("; 29 more of the files are like it")
    assert found[1].message.startswith("30 of the 60 rows of `train` have no value")


def test_a_file_all_of_whose_rows_are_left_out_adds_none(folder: Path) -> None:
    Path("train").mkdir()
    Path("train/a.csv").write_text("a,y\n,1\n")
    Path("train/b.csv").write_text("a,y\n2,1\n")
    arrays, (found,) = read(SourceSpec("csv", "train", {"missing": "drop"}), (MATRIX, VECTOR))
    assert arrays["X"].tolist() == [[2]] and found.message.startswith("1 of the 2 rows of `train`")
    Path("train/b.csv").unlink()
    arrays, (found,) = read(SourceSpec("csv", "train", {"missing": "drop"}), (MATRIX, VECTOR))
    assert arrays == {} and found.message == "no row of `train` has a value in every column that is used"


def test_a_program_is_fitted_to_folders(years: Path) -> None:
    program = 'data X: matrix[n, p], y: vector[n] from parquet("data", target="y")\nvar w: vector[p]\n'
    sol = fw.parse(program + "minimize sum(squared(X @ w, y)) + 0.1 * sum_squares(w)").solve()
    assert sol.status == "optimal"
    np.testing.assert_allclose(np.array([[1, 2023], [2, 2023], [3, 2024]]) @ sol["w"], [5, 6, 7], atol=0.5)
