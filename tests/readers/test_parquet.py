"""parquet: columns as in csv, types told, places of what is wrong; a clear word where pyarrow is absent."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec, infer_format

X = Role("X", "matrix", (None, None))
Y = Role("y", "vector", (None,))


def test_without_pyarrow_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    Path("t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    arrays, (d,) = read(SourceSpec("parquet", "t.parquet"), [X])
    assert arrays == {} and d.code == "FW4070"
    assert d.hint == "pip install 'fwdsl[parquet]'"


def test_the_suffix_tells_it():
    assert infer_format("a/t.parquet") == infer_format("t.pq") == "parquet"


@pytest.fixture
def write(folder: Path) -> Any:
    """Writes columns to `t.parquet` and reads them for some roles."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def run(table: dict[str, Any], *roles: Role, **options: object) -> tuple[dict[str, Any], tuple[Any, ...]]:
        parquet.write_table(pyarrow.table(table), "t.parquet")
        return read(SourceSpec("parquet", "t.parquet", options), roles)

    return run


def test_a_matrix_and_its_target(write: Any):
    columns = {"a": [1, 2, 3], "b": [0.5, 0.25, 1.0], "price": [1.0, 2.0, 3.0], "ok": [True, False, True]}
    arrays, diagnostics = write(columns, X, Y, target="price")
    assert diagnostics == ()
    assert arrays["X"].tolist() == [[1, 0.5, 1], [2, 0.25, 0], [3, 1, 1]]
    assert arrays["y"].tolist() == [1, 2, 3]


def test_columns_are_chosen_and_words_are_labels(write: Any):
    columns = {"a": [1, 2, 3], "when": ["mon", "tue", "wed"], "kind": ["x", "y", "x"]}
    arrays, diagnostics = write(columns, X, Role("y", "labels", (None,)), target="kind", columns=["a"])
    assert diagnostics == ()
    assert arrays["X"].shape == (3, 1) and arrays["y"].tolist() == ["x", "y", "x"]


def test_float32_stays_float32(write: Any):
    arrays, _ = write({"a": np.ones(2, np.float32), "b": np.ones(2, np.float32)}, X)
    assert arrays["X"].dtype == np.float32


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ({"a": [1, None, 3]}, {}, ("FW4023", 2, 1)),
        ({"b": [1.0, 2.0], "a": [1.0, float("nan")]}, {}, ("FW4021", 2, 2)),
        ({"a": ["x", "y"]}, {}, ("FW4072", None, None)),
        ({"price": [1.0]}, {"columns": ["prise"]}, ("FW4032", None, None)),
    ],
)
def test_what_is_wrong_has_its_place(write: Any, columns: Any, options: Any, expected: tuple[object, ...]):
    arrays, (d,) = write(columns, X, **options)
    assert arrays == {}
    assert (d.code, d.place.row, d.place.column) == expected


def test_what_is_no_parquet_file(folder: Path):
    pytest.importorskip("pyarrow")
    Path("t.parquet").write_text("a,b\n1,2\n")
    arrays, (d,) = read(SourceSpec("parquet", "t.parquet"), [X])
    assert arrays == {} and d.code == "FW4071"


def test_rows_with_nulls_and_nans_are_left_out(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="parquet files need pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="parquet files need pyarrow")
    table = pa.table({"a": [1.0, None, 3.0, 4.0, math.nan], "kind": ["u", "v", None, "u", "v"]})
    pq.write_table(table, tmp_path / "gaps.parquet")
    spec = SourceSpec("parquet", str(tmp_path / "gaps.parquet"), {"target": "kind", "missing": "drop"})
    arrays, (found,) = read(spec, (Role("X", "matrix", (None, None)), Role("kind", "labels", (None, None))))
    assert arrays["X"].tolist() == [[1.0], [4.0]] and arrays["kind"].tolist() == ["u", "u"]
    assert (found.code, found.severity) == ("FW4024", "warning") and "3 of the 5 rows" in found.message
