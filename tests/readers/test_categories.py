"""Columns of categories in csv, parquet and feather files: the matrix is that of indicators made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.readers.categories import Category, Mixed, Onehot, in_order, level_of
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

from .conftest import MATRIX, VECTOR

ROWS = "zone,area,price\nred,10,1\nblue,20,2\nred,30,3\n"
COLUMNS = ["area", Onehot("zone")]


def table(path: str, format: str = "csv", *roles: Role, **options: Any) -> Mixed:
    arrays, found = read(SourceSpec(format, path, options), roles or (MATRIX,))
    assert found == ()
    assert isinstance(arrays["X"], Mixed)
    return arrays["X"]


def test_numbers_and_indicators_stand_in_the_order_listed(folder: Path) -> None:
    (folder / "a.csv").write_text(ROWS)
    mixed = table("a.csv", columns=[Onehot("zone"), "area", Onehot("price", drop="first")])
    np.testing.assert_array_equal(mixed.expanded(), [[0, 1, 10, 0, 0], [1, 0, 20, 1, 0], [0, 1, 30, 0, 1]])
    assert mixed.maps("X") == {
        "X.columns": ("zone=blue", "zone=red", "area", "price=2", "price=3"),
        "X.inputs": ("zone", "area", "price"),
        "X[zone]": ("blue", "red"),
        "X[price]": ("1", "2", "3"),
    }


@pytest.mark.parametrize("quoted", [False, True])
def test_a_target_stands_beside_them(folder: Path, quoted: bool) -> None:
    (folder / "a.csv").write_text(ROWS.replace("blue", '"blue"') if quoted else ROWS)
    arrays, found = read(SourceSpec("csv", "a.csv", {"target": "price", "columns": COLUMNS}), (MATRIX, VECTOR))
    assert found == ()
    np.testing.assert_array_equal(arrays["y"], [1, 2, 3])
    np.testing.assert_array_equal(arrays["X"].expanded(), [[10, 0, 1], [20, 1, 0], [30, 0, 1]])  # type: ignore[union-attr]


def test_positions_serve_a_file_without_a_header(folder: Path) -> None:
    (folder / "a.csv").write_text("red,1\nblue,2\n")
    mixed = table("a.csv", header=False, columns=[1, Onehot(0)])
    np.testing.assert_array_equal(mixed.expanded(), [[1, 0, 1], [2, 1, 0]])
    assert mixed.maps("X")["X.columns"] == ("1", "0=blue", "0=red")


@pytest.mark.parametrize("format", ["parquet", "feather"])
@pytest.mark.parametrize("kind", [str, "category"])
def test_other_tables_have_the_levels_of_csv(folder: Path, format: str, kind: Any) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"zone": ["red", "blue", "red"], "code": [10, 9, 10], "is": [True, False, True]})
    frame["zone"] = frame["zone"].astype(kind)
    frame.to_csv(folder / "a.csv", index=False)
    getattr(frame, f"to_{format}")(folder / f"a.{format}")
    columns = [Onehot("is"), Onehot("code"), Onehot("zone")]
    first, second = table("a.csv", columns=columns), table(f"a.{format}", format, columns=columns)
    assert first.levels() == second.levels() == {"is": ("False", "True"), "code": ("9", "10"), "zone": ("blue", "red")}
    np.testing.assert_array_equal(first.expanded(), second.expanded())


def test_an_unused_level_of_a_dictionary_is_none(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    zones = pandas.Categorical(["red", "blue"], categories=["red", "green", "blue"])
    pandas.DataFrame({"zone": zones}).to_parquet(folder / "a.parquet")
    assert table("a.parquet", "parquet", columns=[Onehot("zone")]).levels() == {"zone": ("blue", "red")}


def test_several_files_have_their_levels_together(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "0.csv").write_text("zone,area\nred,1\nblue,2\n")
    (folder / "parts" / "1.csv").write_text("area,zone\n3,green\n4,red\n")
    mixed = table("parts", columns=COLUMNS)
    assert mixed.levels() == {"zone": ("blue", "green", "red")}
    np.testing.assert_array_equal(mixed.expanded(), [[1, 0, 0, 1], [2, 1, 0, 0], [3, 0, 1, 0], [4, 0, 0, 1]])


@pytest.mark.parametrize("options", [{}, {"missing": "drop"}])
def test_pyarrow_makes_the_same_of_them(folder: Path, monkeypatch: pytest.MonkeyPatch, options: Any) -> None:
    pytest.importorskip("pyarrow")
    gap = "red" if not options else "NA"
    lines = [f'{1.5 * i},"{("red", "none", gap, "sea, blue")[i % 4]}"' for i in range(400)]
    (folder / "a.csv").write_text("\n".join(["area,zone", *lines]) + "\n")
    read_by = []
    for start in (10**9, 0):
        monkeypatch.setattr("fwdsl.readers.csv_table.FROM", start)
        arrays, _ = read(SourceSpec("csv", "a.csv", {"columns": COLUMNS, **options}), (MATRIX,))
        assert isinstance(arrays["X"], Mixed)
        read_by.append(arrays["X"])
    assert read_by[0].levels() == read_by[1].levels() == {"zone": ("none", "red", "sea, blue")}
    np.testing.assert_array_equal(read_by[0].expanded(), read_by[1].expanded())
    assert read_by[0].shape == ((300, 2) if options else (400, 2))


def test_folders_of_parquet_files_tell_categories(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for year, zone in ((2023, "red"), (2024, "blue")):
        (folder / "t" / f"year={year}").mkdir(parents=True)
        frame = pandas.DataFrame({"zone": [zone, "green"], "year": [year, year], "area": [1.0, 2.0]})
        frame.drop(columns="year" if year == 2023 else []).to_parquet(folder / "t" / f"year={year}" / "0.parquet")
    mixed = table("t", "parquet", columns=["area", Onehot("year"), Onehot("zone")])
    assert mixed.levels() == {"year": ("2023", "2024"), "zone": ("blue", "green", "red")}
    np.testing.assert_array_equal(
        mixed.expanded(), [[1, 1, 0, 0, 0, 1], [2, 1, 0, 0, 1, 0], [1, 0, 1, 1, 0, 0], [2, 0, 1, 0, 1, 0]]
    )


def test_a_level_that_is_none_is_one_and_no_value_is_told(found: Callable[..., list[tuple[object, ...]]]) -> None:
    assert found("csv", "zone,area\nnone,1\nred,2\n", MATRIX, columns=COLUMNS) == []
    text = "zone,area\nred,1\nNA,2\n,3\nNA,4\n"
    assert found("csv", text, MATRIX, columns=COLUMNS) == [("FW4023", 4, 1, "")]
    assert found("csv", "zone,area\nred,1\nNA,2\n", MATRIX, columns=COLUMNS) == [("FW4023", 3, 1, "NA")]


def test_rows_without_a_level_may_be_left_out(folder: Path) -> None:
    (folder / "a.csv").write_text("zone,area\nred,1\nNA,2\nnone,3\n")
    arrays, found = read(SourceSpec("csv", "a.csv", {"columns": COLUMNS, "missing": "drop"}), (MATRIX,))
    assert [d.code for d in found] == ["FW4024"]
    np.testing.assert_array_equal(arrays["X"].expanded(), [[1, 0, 1], [3, 1, 0]])  # type: ignore[union-attr]


def test_a_gap_of_a_parquet_column_is_told_with_its_row(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"zone": ["red", None, ""]}).to_parquet(folder / "a.parquet")
    _, found = read(SourceSpec("parquet", "a.parquet", {"columns": [Onehot("zone")]}), (MATRIX,))
    assert [(d.code, d.place and d.place.row) for d in found] == [("FW4023", 2), ("FW4023", 3)]


def test_a_column_is_not_both_a_target_and_a_category(found: Callable[..., list[tuple[object, ...]]]) -> None:
    result = found("csv", ROWS, MATRIX, VECTOR, target="price", columns=["area", Onehot("price")])
    assert [code for code, *_ in result] == ["FW4031"]


def test_a_missing_column_is_told(found: Callable[..., list[tuple[object, ...]]]) -> None:
    assert [code for code, *_ in found("csv", ROWS, MATRIX, columns=[Onehot("zones")])] == ["FW4032"]


def test_rows_of_a_fit_need_no_target(folder: Path) -> None:
    (folder / "a.csv").write_text("zone,area\nred,10\n")
    assert table("a.csv", target="price", columns=COLUMNS).numbers.tolist() == [[10.0]]


@pytest.mark.parametrize(
    ("value", "level"),
    [
        (3, "3"),
        (3.0, "3"),
        ("3.0", "3"),
        ("3.50", "3.5"),
        (" red ", "red"),
        ("007", "007"),
        ("1E5", "1E5"),
        (np.int8(3), "3"),
        (np.True_, "True"),
        (b"red", "red"),
        (2**70, str(2**70)),
        ("", None),
        (None, None),
        (float("nan"), None),
    ],
)
def test_a_level_is_the_same_in_every_format(value: object, level: str | None) -> None:
    assert level_of(value) == level


def test_levels_are_sorted_as_numbers_and_then_as_words() -> None:
    assert in_order(["b", "10", "9", "-1", "a", "2.5", "007"]) == ("-1", "2.5", "9", "10", "007", "a", "b")


def test_truth_values_are_no_numbers() -> None:
    category = Category.of(np.array([1, "1", 2.0, True, np.True_, False, 0], dtype=object))
    assert category.levels == ("1", "2", "True", "False", "0") and category.codes.tolist() == [0, 0, 1, 2, 2, 3, 4]


@pytest.mark.parametrize("kind", ["datetime64[ms]", "datetime64[ns]", "object"])
def test_times_are_levels_as_csv_files_have_them(folder: Path, kind: str) -> None:
    times = np.array(["2024-05-01", "2024-05-01T12:30", "2024-05-01T12:30:00.25", "NaT"], dtype="datetime64[ms]")
    levels = ("2024-05-01", "2024-05-01 12:30:00", "2024-05-01 12:30:00.25")
    category = Category.of(times.astype(kind))
    assert category.levels == levels and category.codes.tolist() == [0, 1, 2, -1]
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    feather = pytest.importorskip("pyarrow.feather")
    whole = pa.table({"area": [1.0, 2.0, 3.0], "zone": times[:3], "day": times[:3].astype("datetime64[D]")})
    feather.write_feather(whole, "a.feather")
    mixed = table("a.feather", "feather", columns=["area", Onehot("zone"), Onehot("day")])
    assert mixed.levels() == {"zone": levels, "day": ("2024-05-01",)}


@pytest.mark.parametrize(
    ("known", "new", "codes"),
    [
        (("False", "True"), ("true", "FALSE", "True", "yes"), [1, 0, 1, -1]),
        (("True", "true"), ("TRUE", "true", "True"), [-1, 1, 0]),
        (("2024-05-01 00:00:00", "2024-05-02T12:30:00.000"), ("2024-05-01", "2024-05-02 12:30:00"), [0, 1]),
        (("2024-05-01", "2024-05-01 00:00:00"), ("2024-05-01T00:00:00", "2024-05-01"), [-1, 0]),
    ],
)
def test_new_rows_may_write_a_level_in_another_way(known: tuple[str, ...], new: tuple[str, ...], codes: Any) -> None:
    category = Category.merged(np.arange(len(new)), new)
    columns = (Onehot("zone", unknown="ignore"),)
    mixed = Mixed(("zone",), columns, np.empty((len(new), 0)), (category,), {"zone": known})
    expected = [[float(i == code) for i in range(len(known))] for code in codes]
    np.testing.assert_array_equal(mixed.expanded(), expected)


def test_blank_words_of_parquet_files_may_be_left_out(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    zone = pa.array(["red", "", None, "  ", "blue"])
    for kind in (zone, zone.dictionary_encode()):
        parquet.write_table(pa.table({"area": [1.0, 2, 3, 4, 5], "zone": kind}), "a.parquet")
        source = SourceSpec("parquet", "a.parquet", {"columns": COLUMNS, "missing": "drop"})
        mixed = read(source, (MATRIX,))[0]["X"]
        np.testing.assert_array_equal(mixed.expanded(), [[1, 0, 1], [5, 1, 0]])


def test_many_levels_make_a_sparse_matrix() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 60, 5000)
    numbers = rng.normal(size=(5000, 2))
    mixed = Mixed(("a", "z", "b"), (None, Onehot("z", drop="first"), None), numbers, (Category.of(codes),))
    X = mixed.expanded()
    assert hasattr(X, "tocsr") and X.has_canonical_format
    seen = np.unique(codes)
    by_hand = np.hstack([numbers[:, :1], (codes[:, None] == seen[None, 1:]).astype(float), numbers[:, 1:]])
    np.testing.assert_array_equal(X.toarray(), by_hand)


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", None, "b"], dtype=object),
        np.array([1.0, np.nan, 2.0]),
        np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"),
    ],
)
def test_what_has_no_value_has_no_level(values: Any) -> None:
    category = Category.of(values)
    assert category.codes.tolist() == [0, -1, 1] and len(category.levels) == 2
