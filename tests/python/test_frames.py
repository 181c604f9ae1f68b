"""Frames (pandas, polars, Arrow): the names of their columns stay with the fit, and new data are matched by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.model.options import Options
from fwdsl.readers.frames import as_array, column_names, match
from fwdsl.results.saved import save_solution

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
T = X @ [1.0, -2.0, 0.5] + 0.01 * RNG.normal(size=40)
NEW = RNG.normal(size=(6, 3))
TEXT = """\
data X: matrix[n, p], t: vector[n]
var w: vector[p]
let z = X @ w
let fit = mean(squared(z, t))
minimize fit + 0.01 * norm1(w)
"""


class Plain:
    """The least that makes a frame: a shape, an array, names, and a choice of columns by position."""

    def __init__(self, array: np.ndarray, columns: list[str]) -> None:
        self.array, self.columns, self.shape = array, columns, array.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.array if dtype is None else self.array.astype(dtype)

    def __getitem__(self, key: Any) -> Plain:
        return Plain(self.array[key], [self.columns[i] for i in key[1]])


def pandas(array: np.ndarray, names: str) -> Any:
    return pytest.importorskip("pandas").DataFrame(array, columns=list(names))


def polars(array: np.ndarray, names: str) -> Any:
    return pytest.importorskip("polars").DataFrame(array, schema=list(names))


def arrow(array: np.ndarray, names: str) -> Any:
    return pytest.importorskip("pyarrow").table({name: array[:, i] for i, name in enumerate(names)})


def plain(array: np.ndarray, names: str) -> Any:
    return Plain(array, list(names))


def close(found: Any, expected: Any, atol: float = 1e-12) -> None:
    """Equal but for rounding: the order of the data in memory decides on the last bits."""
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=atol)


Maker = Callable[[np.ndarray, str], Any]
every = pytest.mark.parametrize("frame", [pandas, polars, arrow, plain])


def fitted(value: Any) -> fw.Solution:
    return fw.parse(TEXT).bind(X=value, t=T).solve(threads=1)


@every
def test_new_data_are_matched_by_name(frame: Maker):
    solution = fitted(frame(X, "abc"))
    expected = NEW @ solution["w"]
    assert solution.instance.maps["X.columns"] == ("a", "b", "c")
    close(solution.evaluate("z", X=frame(NEW, "abc")), expected)
    close(solution.evaluate("z", X=frame(NEW[:, [2, 0, 1]], "cab")), expected)
    wider = np.column_stack([NEW[:, 2], np.full(6, np.nan), NEW[:, :2]])
    close(solution.evaluate("z", X=frame(wider, "czab")), expected)
    # a plain array has no names
    close(solution.evaluate("z", X=NEW), expected)


@every
def test_a_column_that_is_missing(frame: Maker):
    with pytest.raises(fw.DataError) as error:
        fitted(frame(X, "abc")).evaluate("z", X=frame(NEW, "adc"))
    assert error.value.code == "FW4032"
    assert "`X` from evaluate(X=...) has no column `b`, which it has in the fit" in str(error.value)


@every
def test_columns_that_do_not_match_are_told_once(frame: Maker):
    """The sizes, which differ for that reason, are no second error."""
    with pytest.raises(fw.DataError) as error:
        fitted(frame(X, "abc")).evaluate("z", X=frame(NEW[:, :2], "ac"))
    assert [d.code for d in error.value.diagnostics] == ["FW4032"]


def test_a_name_of_several_columns_is_told_once():
    pandas = pytest.importorskip("pandas", reason="the frame is one of pandas")
    new = pandas.DataFrame(np.column_stack([NEW, NEW])[:, :4], columns=list("abbc"))
    with pytest.raises(fw.DataError, match="several columns `b`, which") as error:
        fitted(pandas.DataFrame(X, columns=list("abc"))).evaluate("z", X=new)
    assert [d.code for d in error.value.diagnostics] == ["FW4032"]


@every
def test_a_fit_to_an_array_takes_frames_by_position(frame: Maker):
    solution = fitted(X)
    close(solution.evaluate("z", X=frame(NEW, "cab")), NEW @ solution["w"])


@every
def test_a_frame_in_the_builder(frame: Maker):
    w = fw.vector(3, name="w")
    z = fw.let("z", fw.data("X", frame(X, "abc")) @ w)
    solution = fw.minimize(fw.mean(fw.squared(z, T)) + 0.01 * fw.norm1(w)).solve(threads=1)
    close(solution["w"], fitted(X)["w"], atol=1e-3)
    close(solution.evaluate("z", X=frame(NEW[:, [1, 2, 0]], "bca")), NEW @ solution["w"])


@every
def test_error_rates_are_those_of_the_columns_by_name(frame: Maker):
    problem = fw.parse(
        "data X: matrix[n, p], y: signs[n]\nlet S = standardize(X)\nvar w: vector[p]\n"
        "minimize mean(logistic(S @ w, y)) + 0.1 * sum_squares(w)"
    )
    y = np.where(T > 0, "yes", "no")
    solution = problem.bind(X=frame(X * [1, 100, 1e-2] + 5, "abc"), y=y).solve(threads=1)
    rate = solution.error_rates(X=frame((X * [1, 100, 1e-2] + 5)[:, [2, 1, 0]], "cba"), y=y)["term1"]
    assert rate == pytest.approx(solution.error_rates()["term1"]) and rate < 0.2


def test_columns_that_a_frame_only_numbers_have_no_names():
    DataFrame = pytest.importorskip("pandas").DataFrame
    numbered = fitted(DataFrame(X))
    expected = NEW @ numbered["w"]
    close(numbered.evaluate("z", X=pandas(NEW, "abc")), expected)
    # but where they stand in another order they tell it
    close(numbered.evaluate("z", X=DataFrame(NEW)[[2, 0, 1]]), expected)
    with pytest.raises(fw.DataError, match="no column `0`"):
        numbered.evaluate("z", X=DataFrame(NEW).rename(columns={0: 7}))
    named = fitted(pandas(X, "abc"))
    close(named.evaluate("z", X=DataFrame(NEW)), NEW @ named["w"])


def test_what_names_say():
    assert match(("a", "b"), ("b", "a")).positions == (1, 0)
    assert match(("a", "a"), ("a", "a")).positions == (0, 1)
    assert match(("a", "b"), ("b", "b", "a")).words(("b", "b", "a")) == "several columns `b`"
    # a header of numbers is one of names
    assert match(("a", "b"), ("0", "1"), named=True).wrong == ("a", "b")
    assert match(("a", "b"), ("0", "1"), named=False) == match(("0", "1"), ("a", "b"))
    assert column_names(X) == column_names([[1.0]]) == column_names(3.0) == ()


def test_columns_of_mixed_numbers_and_of_words():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1] > 0, "c": np.arange(40)})
    solution = fitted(frame)
    close(solution.instance.values["X"], np.asarray(frame, dtype=float))
    with pytest.raises(fw.DataError, match=r"in the column `d`") as error:
        fw.parse(TEXT).bind(X=frame.assign(d="x"), t=T).solve()
    assert error.value.code == "FW4504"
    with pytest.raises(fw.DataError, match=r"`X\[1, 0\]` of column `a` is `nan`"):
        fw.parse(TEXT).bind(X=pd.DataFrame({"a": pd.array([1, None, 2], dtype="Int64")}), t=[1, 2, 3]).solve()


def test_times_of_polars_are_refused_as_those_of_pandas_are():
    pl = pytest.importorskip("polars")
    from datetime import date, time, timedelta

    frame = pl.DataFrame({"a": X[:, 0]})
    for value, words in ((date(2024, 5, 1), "dates"), (time(7), "times of day"), (timedelta(3), "durations")):
        with pytest.raises(fw.DataError, match=rf"holds {words} in the column `d`"):
            fw.parse(TEXT).bind(X=frame.with_columns(d=pl.lit(value)), t=T).solve()
    solution = fw.parse(TEXT).bind(X=frame, t=T).solve(threads=1)
    dated = frame.with_columns(d=pl.lit(date(2024, 5, 1)))
    close(solution.predict(X=dated), solution.predict())  # a column that the fit has not
    with pytest.raises(fw.DataError, match="holds dates in the column `a`"):
        solution.predict(X=dated.select(a="d")[:2])


@every
def test_binding_another_frame_is_another_fit_and_a_start_moves_with_its_columns(frame: Maker):
    problem = fw.parse(TEXT)
    first = problem.bind(X=frame(X, "abc"), t=T).solve(tol=1e-9, threads=1)
    again = problem.bind(X=frame(X, "abc"), t=T).bind(X=frame(X[:, [2, 0, 1]], "cab"))
    second = again.solve(tol=1e-9, threads=1, start=first)
    # the variable follows the columns of the frame that is bound
    assert second.instance.maps["X.columns"] == ("c", "a", "b")
    close(second["w"], first["w"][[2, 0, 1]], atol=1e-4)
    begun = again.solve(max_iter=0, threads=1, start=first)
    assert begun.objective == pytest.approx(first.objective, rel=1e-12)


def test_a_start_of_factors_moves_with_its_columns():
    text = (
        "data A: matrix[n, p], M: entries[p, q]\nvar B: matrix[p, q]\n"
        "minimize mean(squared(B[M], M)) + 0.01 * norm_nuc(B) + 0*sum(A)"
    )
    M = (np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3), np.outer([1.0, 2, 3], [1.0, -1, 2, 0.5]).reshape(-1))
    moved = (np.array([1, 2, 0])[M[0]], M[1], M[2])
    problem = fw.parse(text)
    first = problem.bind(A=plain(X, "abc"), M=M).solve(method="lowrank", tol=1e-8)
    again = problem.bind(A=plain(X[:, [2, 0, 1]], "cab"), M=moved)
    begun = again.solve(method="lowrank", start=first, max_iter=0)
    assert begun.objective == pytest.approx(first.objective, rel=1e-9)


def test_a_vector_is_compared_with_each_row_of_a_symmetric_frame():
    bounds = np.array([[1.0, 2.0, 0.0], [2.0, 0.5, 3.0], [0.0, 3.0, 4.0]])
    problem = fw.parse("data C: symmetric[p]\nvar w: vector[p]\nminimize sum(w)\nsubject to w >= C\n")
    found = problem.bind(C=plain(bounds, "abc")).solve()
    assert found.status == "optimal" and found["w"] == pytest.approx(bounds.max(axis=0))


def test_matrices_along_one_dimension_in_different_orders_are_refused():
    problem = fw.parse(
        "data X: matrix[n, p], t: vector[n], Z: matrix[m, p]\nvar w: vector[p]\n"
        "minimize mean(squared(X @ w, t)) + 0.01 * sum_squares(Z @ w)"
    )
    with pytest.raises(fw.DataError) as error:
        problem.bind(X=plain(X, "abc"), t=T, Z=plain(NEW, "acb")).solve()
    assert error.value.code == "FW4531"
    assert "column 1 is `c` in the one, `b` in the other" in str(error.value)
    bound = problem.bind(X=plain(X, "abc"), t=T, Z=plain(NEW, "abc")).solve(threads=1)
    other = problem.bind(X=plain(X, "abc"), t=T, Z=plain(NEW, "xyz")).solve(threads=1)
    np.testing.assert_array_equal(bound["w"], other["w"])


def csv(name: str, array: np.ndarray, header: str) -> None:
    rows = [",".join(map(repr, row)) for row in array.tolist()]
    Path(name).write_text("\n".join([",".join(header), *rows]) + "\n")


@every
def test_a_saved_fit_to_a_frame_and_csv_files(
    frame: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(TEXT)
    problem = fw.load("fit.fw").bind(X=frame(X, "abc"), t=T)
    solution = problem.solve(threads=1)
    save_solution("fit.npz", solution, problem.canonical, Options())
    csv("new.csv", NEW[:, [1, 2, 0]], "bca")
    argv = ["eval", "fit.fw", "z", "--solution", "fit.npz", "--json"]
    assert main([*argv, "--data", "X=new.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["z"] == pytest.approx(NEW @ solution["w"], rel=1e-12)
    csv("new.csv", NEW, "bcz")
    assert main([*argv, "--data", "X=new.csv"]) == 1
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["code"] == "FW4032"


@every
def test_a_fit_to_a_csv_file_and_frames(frame: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    csv("train.csv", np.column_stack([X, T]), "abct")
    Path("fit.fw").write_text(TEXT.replace("t: vector[n]", 't: vector[n] from csv("train.csv", target="t")'))
    solution = fw.load("fit.fw").solve(threads=1)
    reordered = frame(np.column_stack([np.zeros(6), NEW[:, ::-1]]), "tcba")
    close(solution.evaluate("z", X=reordered), NEW @ solution["w"])


def test_a_fit_to_numbered_columns_takes_files_by_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(TEXT)
    problem = fw.load("fit.fw").bind(X=plain(X, "012"), t=T)
    solution = problem.solve(threads=1)
    save_solution("fit.npz", solution, problem.canonical, Options())
    csv("new.csv", NEW, "abc")
    assert main(["eval", "fit.fw", "z", "--solution", "fit.npz", "--json", "--data", "X=new.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["z"] == pytest.approx(NEW @ solution["w"], rel=1e-12)


def test_a_row_of_the_same_columns_and_one_of_others():
    pandas = pytest.importorskip("pandas")
    from fwdsl.readers.frames import column_names

    frame = pandas.DataFrame({"a": [1.0], "b": [2.0]})
    assert [column_names(frame), column_names(frame), column_names(frame.iloc[:1])] == [("a", "b")] * 3
    frame.columns = ["b", "a"]
    assert column_names(frame) == ("b", "a")
    assert column_names(pandas.DataFrame([[1.0, 2.0]])) == ("0", "1")


COLUMNS = {
    "floats": {"a": [1.5, 2.0, -3.0], "b": [0.25, 1e300, 0.0]},
    "ints and floats": {"a": [1, -2, 3], "b": [0.5, 1.5, 2.5]},
    "missing": {"a": [1, None, 3], "b": [0.5, 1.5, None]},
    "truth values": {"a": [True, False, True], "b": [1.0, 2.0, 3.0]},
    "large": {"a": [2**63 + 5, 1, 2], "b": [-1, 0, 1]},
    "words": {"a": ["x", "y", None], "b": [1.0, 2.0, 3.0]},
    "nothing": {"a": [], "b": []},
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("form", ["table", "batch", "chunks"])
def test_tables_of_arrow_are_what_their_columns_are(name: str, form: str):
    pa = pytest.importorskip("pyarrow")
    types = {"large": [pa.uint64(), pa.int64()], "nothing": [pa.float64(), pa.float32()]}.get(name, [None, None])
    columns = {n: pa.array(v, t) for (n, v), t in zip(COLUMNS[name].items(), types, strict=True)}
    table = pa.table(columns)
    given = {
        "table": lambda: table,
        "batch": lambda: pa.record_batch(columns),
        "chunks": lambda: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    }[form]()
    expected = [np.asarray(column) for column in columns.values()]
    found = as_array(given)
    assert found.shape == (len(expected[0]), 2)
    for j, column in enumerate(expected):
        numbers = found.dtype.kind in "iuf"
        np.testing.assert_array_equal(found[:, j], column.astype(found.dtype) if numbers else column)


def test_rows_of_arrow_and_pandas_with_words_have_the_predictions_of_their_cells():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    text = """data X: matrix[n, p], t: vector[n] from csv("none.csv", target="t", columns=["area", onehot("zone")])
var w: vector[p], b: real
minimize mean(squared(X @ w + b, t)) + 0.01 * sum_squares(w)
"""
    zones = np.array(["sea", "north", "3"])[np.arange(40) % 3]
    table = pd.DataFrame({"zone": zones, "more": 1.0, "area": X[:, 0]})
    predictor = fw.parse(text).bind(X=table, t=T).solve(threads=1).predictor()
    expected = predictor(X=table)
    for i in range(3):
        row = table.iloc[i : i + 1]
        rows = pa.Table.from_pandas(row, preserve_index=False)
        cells = [[row["area"].iloc[0], zones[i]]]
        for given in (row, rows, rows.to_batches()[0], rows.select(["area", "zone", "more"]), cells):
            assert predictor(X=given) == pytest.approx(expected[i : i + 1], rel=1e-12)
    with pytest.raises(fw.FwError, match=r"has no value in the column `zone`"):
        predictor(X=pa.table({"area": [1.0], "zone": pa.array([None], pa.string())}))


def test_columns_are_found_once_each():
    assert match(("a", "b"), ("b", "c", "a")).positions == (2, 0)
    assert match(("a", "b"), ("b", "a", "a")).wrong == ("a",)
    assert match(("a", "b"), ("b", "b", "c", "c")).wrong == ("a", "b")
    assert match(("a", "b"), ("c", "c", "a", "b")).positions == (2, 3)
