"""`onehot(column)` from the program to predictions elsewhere: the answer is that of a matrix expanded by hand, and levels are those of the fit."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.grammar import parse
from fwdsl.grammar.formatter import format_program
from fwdsl.words import COLUMN_WORDS

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """fw 1
data X: matrix[n, p], y: vector[n] from csv("a.csv", target="price", columns=["area", onehot("zone"), onehot("heating", drop="first")])
param mu: nonnegative = 0.1
var w: vector[p], b: real
let score = X @ w + b
minimize mean(squared(score, y)) + mu * sum_squares(w)
"""

NAMES = ("area", "zone=blue", "zone=green", "zone=red", "heating=none", "heating=oil")


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Rows of zone, area, price and heating, which `a.csv` has."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    found = [
        (
            str(rng.choice(["red", "blue", "green"])),
            float(i % 9),
            float(rng.normal(i % 9)),
            ["gas", "oil", "none"][i % 3],
        )
        for i in range(30)
    ]
    lines = [",".join(map(str, row)) for row in found]
    (tmp_path / "a.csv").write_text("\n".join(["zone,area,price,heating", *lines]) + "\n")
    (tmp_path / "a.fw").write_text(PROGRAM)
    return found


def expanded(rows: list[tuple[Any, ...]]) -> np.ndarray:
    """The matrix of rows by hand, by rows as the program has it: products by columns round otherwise."""
    columns = [[area for _, area, _, _ in rows]]
    columns += [[zone == level for zone, *_ in rows] for level in ("blue", "green", "red")]
    columns += [[heating == level for *_, heating in rows] for level in ("none", "oil")]
    return np.ascontiguousarray(np.array(columns, dtype=float).T)


def frame(rows: list[tuple[Any, ...]], kind: str) -> Any:
    """Rows as a frame, with a column that nothing asks for, in another order."""
    columns = dict(zip(("zone", "area", "price", "heating"), zip(*rows, strict=True), strict=True))
    columns = {name: list(columns[name]) for name in ("heating", "price", "zone", "area")}
    columns["owner"] = ["x"] * len(rows)
    if kind == "arrow":
        return pytest.importorskip("pyarrow").table(columns)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    made = pytest.importorskip("pandas").DataFrame(columns)
    return made.astype({"zone": "category"}) if kind == "category" else made


def solved(rows: list[tuple[Any, ...]]) -> fw.Solution:
    return fw.load("a.fw").solve(tol=1e-10, threads=1)


def test_the_answer_is_that_of_a_matrix_made_by_hand(rows: list[tuple[Any, ...]]) -> None:
    solution = solved(rows)
    y = np.array([price for _, _, price, _ in rows])
    plain = "data X: matrix[n, p], y: vector[n]\n" + PROGRAM.split("\n", 2)[2]
    by_hand = fw.parse(plain).bind(X=expanded(rows), y=y).solve(tol=1e-10, threads=1)
    np.testing.assert_array_equal(solution.instance.values["X"], expanded(rows))
    np.testing.assert_allclose(solution["w"], by_hand["w"], rtol=1e-9)
    assert solution.instance.maps["X.columns"] == NAMES
    assert solution.to_frame()["row"].tolist()[:6] == list(NAMES)


@pytest.mark.parametrize("kind", ["pandas", "category", "polars", "arrow"])
def test_frames_serve_as_files_do(rows: list[tuple[Any, ...]], kind: str) -> None:
    given = frame(rows, kind)
    y = np.array([price for _, _, price, _ in rows])
    instance = fw.load("a.fw").bind(X=given, y=y).instance
    np.testing.assert_array_equal(instance.values["X"], expanded(rows))
    assert instance.maps["X.columns"] == NAMES
    solution = solved(rows)
    assert np.array_equal(solution.predict(X=given), solution.predict())
    assert solution.evaluate("score", X=given[:2] if kind != "arrow" else given.slice(0, 2)).shape == (2,)


@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "Int64", "Float64", "bool", "boolean", "object", ">f8"])
def test_few_rows_of_a_frame_are_scored_as_many_are(rows: list[tuple[Any, ...]], kind: str) -> None:
    """Few rows are taken at once, whatever numbers they are of, and other columns may have the names of methods."""
    predictor, pandas = solved(rows).predictor(), pytest.importorskip("pandas")
    whole = frame(
        [(zone, float(i % 2), price, heating) for i, (zone, _, price, heating) in enumerate(rows)] * 3, "pandas"
    )
    few = whole.astype({"area": kind})[:3].rename(columns={"owner": "collect_schema"}).assign(compute=1.0, iloc=2.0)
    np.testing.assert_array_equal(predictor(X=few), predictor(X=whole)[:3])
    for i in range(3):
        np.testing.assert_array_equal(predictor(X=few[i : i + 1]), predictor(X=whole)[i : i + 1])
    one = [[area, zone, heating] for area, zone, heating in few[["area", "zone", "heating"]].itertuples(index=False)]
    np.testing.assert_allclose(predictor(X=one[:1]), predictor(X=whole)[:1], rtol=1e-14)
    if kind in ("Int64", "Float64", "boolean", "float64", "object"):
        few.loc[1, "area"] = None if kind != "float64" else np.nan
        with pytest.raises(fw.DataError, match="area"):
            predictor(X=few)
    assert isinstance(few, pandas.DataFrame)


LARGE = 2**53
"""Beyond it floats skip whole numbers."""


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("area", "zone"),
    [
        ([1.5, 2.5, 3.5], ["red", "blue", "red"]),
        ([1, 2, 3], ["red", "blue", "red"]),
        ([1.5, 2.5, 3.5], [3, 7, 3]),
        ([1.5, 2.5, 3.5], [LARGE, LARGE + 1, LARGE + 2]),
        ([True, False, True], ["red", "blue", "red"]),
        ([1.5, 2.5, 3.5], [True, False, True]),
    ],
)
def test_the_few_and_the_many_rows_of_any_frame_are_one_matrix(library: str, area: Any, zone: Any) -> None:
    frames: Any = pytest.importorskip(library)
    text = 'data X: matrix[n, p], y: vector[n] from csv("a.csv", target="y", columns=["area", onehot("zone")])\n'
    text += "var w: vector[p]\nminimize mean(squared(X @ w, y)) + sum_squares(w)\n"
    frame = frames.DataFrame({"other": ["x"] * 90, "zone": zone * 30, "area": area * 30})
    predictor = fw.parse(text).bind(X=frame, y=np.arange(90.0)).solve().predictor()
    many = predictor(X=frame)
    for k in (1, 2, 3):
        np.testing.assert_allclose(predictor(X=frame.head(k)), many[:k], rtol=1e-13)
    words = frames.DataFrame({"zone": zone[:1], "area": ["2.5"]})
    with pytest.raises(fw.DataError):
        predictor(X=words)


def test_a_missing_code_of_arrow_is_told(rows: list[tuple[Any, ...]]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    given = frame(rows, "arrow")
    zones = pyarrow.array(["red", None, *["blue"] * 28]).dictionary_encode()
    given = given.set_column(given.column_names.index("zone"), "zone", zones)
    with pytest.raises(fw.DataError, match=r"`X\[1\]` has no value in the column `zone`"):
        solved(rows).predict(X=given)


@pytest.mark.parametrize("format", ["parquet", "feather"])
def test_a_table_in_another_format_takes_the_place(rows: list[tuple[Any, ...]], format: str) -> None:
    pytest.importorskip("pyarrow")
    getattr(frame(rows, "category"), f"to_{format}")(f"b.{format}")
    assert main(["run", "a.fw", "--data", f"X,y=b.{format}", "--out", "b.npz", "--quiet"]) == 0
    np.testing.assert_allclose(fw.load_solution("b.npz")["w"], solved(rows)["w"], rtol=1e-6)


def test_rows_of_cells_are_taken_by_position(rows: list[tuple[Any, ...]]) -> None:
    solution = solved(rows)
    cells = [[area, zone, heating] for zone, area, _, heating in rows]
    expected = solution.predict()
    for given in (cells, np.array(cells), np.array(cells, dtype=object), expanded(rows)):
        np.testing.assert_array_equal(solution.predict(X=given), expected)


def test_a_model_saved_scores_in_another_process(rows: list[tuple[Any, ...]]) -> None:
    solution = solved(rows)
    solution.save("a.npz")
    (Path.cwd() / "elsewhere").mkdir()
    code = "import fwdsl as fw; print(fw.load_solution('../a.npz').predict(X=[[1, 'red', 'gas'], [2, 'blue', 'none']]).tolist())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd="elsewhere",
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    expected = solution.predict(X=[[1, "red", "gas"], [2, "blue", "none"]])
    assert json.loads(found.stdout) == expected.tolist()
    again = pickle.loads(pickle.dumps(solution.predictor()))  # noqa: S301
    as_matrix = frame(rows, "pandas")[["area"]].iloc[:1].assign(**dict.fromkeys(NAMES[1:], 0.0))
    np.testing.assert_allclose(again(X=as_matrix), as_matrix["area"] * solution["w"][0] + solution["b"])
    np.testing.assert_array_equal(again(X=[[1, "red", "gas"], [2, "blue", "none"]]), expected)


def test_new_files_have_the_levels_of_the_fit(rows: list[tuple[Any, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    solution = solved(rows)
    solution.save("a.npz")
    Path("new.csv").write_text("heating,zone,area\noil,green,3\n")
    assert main(["eval", "a.npz", "score", "--data", "X=new.csv", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"]["score"]
    np.testing.assert_allclose(values, solution.predict(X=[[3, "green", "oil"]]))
    Path("new.csv").write_text("heating,zone,area\noil,green,3\ngas,violet,4\n")
    assert main(["eval", "a.npz", "score", "--data", "X=new.csv"]) == 1
    told = capsys.readouterr().err
    assert (
        "FW4520" in told and "row 2 of `X` has `zone` = `violet` (line 3)" in told and "`blue`, `green`, `red`" in told
    )


def test_a_level_that_the_fit_has_not_seen_is_told(rows: list[tuple[Any, ...]]) -> None:
    solution = solved(rows)
    wrong = [[1, "red", "gas"], [1, "violet", "gas"]]
    calls = (solution.predict, solution.predictor(), lambda X: solution.evaluate("score", X=X))
    for call in calls:
        with pytest.raises(fw.DataError) as error:
            call(X=wrong)
        assert error.value.first.code == "FW4520"
        assert error.value.first.message == "`X[1]` has `zone` = `violet`, a level that the fit does not know"
    with pytest.raises(fw.DataError, match=r"`X\[0\]` has no value in the column `zone`"):
        solution.predict(X=[[1, None, "gas"], [2, "red", "gas"]])


def test_unknown_levels_may_have_zeros(rows: list[tuple[Any, ...]]) -> None:
    Path("a.fw").write_text(PROGRAM.replace('onehot("zone")', 'onehot("zone", unknown="ignore")'))
    solution = solved(rows)
    found = solution.predict(X=[[1, "violet", "oil"], [1, "red", "oil"]])
    w, b = solution["w"], solution["b"]
    np.testing.assert_allclose(found, [w[0] + w[5] + b, w[0] + w[3] + w[5] + b])
    with pytest.raises(fw.DataError, match="has no value in the column `zone`"):
        solution.predict(X=[[1, None, "gas"], [1, "red", "gas"]])


def test_a_frame_without_a_column_that_is_declared(rows: list[tuple[Any, ...]]) -> None:
    given = frame(rows, "pandas")
    with pytest.raises(fw.DataError) as error:
        _ = fw.load("a.fw").bind(X=given.drop(columns="zone"), y=given["price"]).instance
    assert [d.code for d in error.value.diagnostics] == ["FW4032"]
    assert "has no column `zone`" in error.value.first.message
    with pytest.raises(fw.DataError, match="has no column `zone`"):
        solved(rows).predict(X=given.drop(columns="zone"))
    given["area"] = given["area"].where(given["area"] > 0)
    with pytest.raises(fw.DataError, match=r"is `nan` in the column `area`"):
        _ = fw.load("a.fw").bind(X=given, y=given["price"]).instance


def test_folds_take_the_rows_of_the_matrix(rows: list[tuple[Any, ...]]) -> None:
    path = fw.load("a.fw").path(mu=[0.1, 1.0], folds=3, threads=1)
    assert np.isfinite(path.mean).all()


def test_a_fit_is_checked_from_its_file(rows: list[tuple[Any, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cvxpy")
    solved(rows).save("a.npz")
    assert main(["verify", "a.npz"]) == 0
    assert "cvxpy: agrees" in capsys.readouterr().out


def test_a_model_of_another_format_takes_the_expanded_columns(rows: list[tuple[Any, ...]]) -> None:
    pytest.importorskip("onnx")
    exported = fw.export_onnx(solved(rows), "a.onnx")
    assert exported.columns == NAMES and exported.coefficients.shape == (6, 1)


def test_the_formatter_keeps_it() -> None:
    program, found = parse(PROGRAM)
    assert not found and program is not None
    once = format_program(program)
    assert 'onehot("heating", drop="first")' in once
    assert format_program(parse(once)[0]) == once


@pytest.mark.parametrize(
    ("columns", "code", "told"),
    [
        ('one_hot("a")', "FW2006", "did you mean `onehot`?"),
        ('get_dummies("a")', "FW2006", "did you mean `onehot`?"),
        ('huber("a")', "FW2006", ""),
        ('onehot("a", drop="last")', "FW2012", ""),
        ('onehot("a", unknown=true)', "FW2012", ""),
        ("onehot(a)", "FW2012", ""),
        ('onehot("a", keep=1)', "FW2010", ""),
        ("onehot()", "FW2011", ""),
        ('"a", onehot("b", "first", "ignore", 3)', "FW2011", ""),
    ],
)
def test_what_is_no_column_is_told(columns: str, code: str, told: str) -> None:
    text = f'data X: matrix[n, p] from csv("a.csv", columns=[{columns}])\nvar w: vector[p]\nminimize sum_squares(X @ w)'
    with pytest.raises(fw.FwError) as error:
        _ = fw.parse(text).model
    assert [d.code for d in error.value.diagnostics] == [code]
    assert told in error.value.first.hint


def test_indicators_are_columns_of_a_matrix() -> None:
    with pytest.raises(fw.FwError, match="indicators are columns of a matrix"):
        _ = fw.parse(
            'data y: vector[n] from csv("a.csv", columns=[onehot("b")])\nvar w: vector[n]\nminimize norm1(w - y)'
        ).model


def test_it_is_no_function() -> None:
    with pytest.raises(fw.FwError, match="is a word for columns of a source"):
        _ = fw.parse("data X: matrix[n, p]\nlet Z = onehot(X)\nvar w: vector[p]\nminimize norm1(Z @ w)").model


def test_names_that_are_declared_may_be_the_same() -> None:
    assert fw.parse("data onehot: matrix[n, p]\nvar w: vector[p]\nminimize sum_squares(onehot @ w)").model.data
    assert list(COLUMN_WORDS) == ["onehot"]
