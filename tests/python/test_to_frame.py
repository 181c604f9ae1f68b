"""`solution.to_frame()` and `solution.plot()`: names of entries, shapes, the history, and extras that are missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw

LASSO = """\
data X: matrix[n, p], y: vector[n]
var w: vector[p], b: real
minimize sum_squares(X @ w + b - y) + norm1(w)
"""


@pytest.fixture(scope="module")
def pandas() -> Any:
    return pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture(scope="module")
def solution(pandas: Any) -> fw.Solution:
    X = pandas.DataFrame(np.random.default_rng(0).standard_normal((20, 3)), columns=["age", "dose", "noise"])
    return fw.parse(LASSO).bind(X=X, y=2 * X["age"] - X["dose"]).solve(tol=1e-8, threads=1)


def test_every_entry_is_a_row_under_the_names_of_the_data(solution: fw.Solution):
    frame = solution.to_frame()
    assert list(frame.columns) == ["variable", "row", "column", "value"]
    assert list(frame["variable"]) == ["w", "w", "w", "b"] and list(frame["row"][:3]) == ["age", "dose", "noise"]
    assert frame["value"].tolist() == [*solution["w"], solution["b"]]
    assert frame["row"][3] is None and frame["column"].isna().all()


def test_a_saved_solution_keeps_the_names(solution: fw.Solution, tmp_path: Path):
    solution.save(tmp_path / "lasso.npz")
    kept = fw.load_solution(tmp_path / "lasso.npz")
    assert kept.to_frame().equals(solution.to_frame()) and kept.to_frame("w").equals(solution.to_frame("w"))
    assert "dose" in kept._repr_html_()


def test_a_vector_is_a_column_and_a_number_a_cell(solution: fw.Solution):
    frame = solution.to_frame("w")
    assert list(frame.columns) == ["w"] and frame["w"]["dose"] == solution["w"][1]
    assert solution.to_frame("b").shape == (1, 1)


def test_a_matrix_has_rows_and_columns_with_their_names(root: Path, pandas: Any):
    solution = fw.load(root / "examples" / "sparse_multiclass.fw").solve(threads=1)
    frame = solution.to_frame("W")
    assert frame.loc["x1", "birch"] == solution["W"][0, 0] and list(frame.columns) == ["birch", "oak", "pine"]
    long = solution.to_frame()
    assert len(long) == solution["W"].size and long["value"].tolist() == solution["W"].ravel().tolist()


def test_a_matrix_kept_as_factors_is_written_out_under_its_ids(root: Path, pandas: Any):
    solution = fw.load(root / "examples" / "ratings.fw").solve(method="lowrank", threads=1)
    frame = solution.to_frame("B")
    assert frame.shape == (20, 15) and frame.index[0] == "u00" and frame.columns[0] == "film00"
    assert frame.to_numpy() == pytest.approx(np.asarray(solution["B"]))


def test_more_axes_are_in_the_index(pandas: Any):
    solution = fw.parse(
        "var F: family[2] of matrix[2, 3]\nminimize sum_squares(F[0] - 1) + sum_squares(F[1] - 2)"
    ).solve()
    assert solution.to_frame("F").loc[(1, 0), 2] == pytest.approx(2.0)
    assert solution.to_frame().iloc[-1].tolist()[:3] == ["F", (1, 1), 2]


def test_the_history_is_a_row_a_report(solution: fw.Solution):
    frame = solution.to_frame(history=True)
    assert len(frame) == len(solution.history) > 0
    assert frame["relative_gap"].iloc[-1] == solution.history[-1].relative_gap and "elapsed" in frame


def test_a_name_that_is_no_variable(solution: fw.Solution):
    with pytest.raises(fw.BuildError) as caught:
        solution.to_frame("beta")
    assert caught.value.code == "FW0331" and "w, b" in caught.value.hint


def test_extras_that_are_missing_are_named(solution: fw.Solution, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(fw.RunError, match="pandas is not installed") as caught:
        solution.to_frame()
    assert caught.value.hint == "pip install 'fwdsl[notebook]'"
    with pytest.raises(fw.RunError, match="matplotlib is not installed") as caught:
        solution.plot()
    assert caught.value.hint == "pip install 'fwdsl[plot]'"


def test_a_plot_is_a_figure_or_a_file(solution: fw.Solution, tmp_path: Path):
    pytest.importorskip("matplotlib")
    figure: Any = solution.plot()
    assert figure._repr_png_().startswith(b"\x89PNG") and [axes.get_xlabel() for axes in figure.axes] == [
        "data passes",
        "seconds",
    ]
    assert solution.plot(str(tmp_path / "gap.svg")) is None and "<svg" in (tmp_path / "gap.svg").read_text()
    with pytest.raises(fw.RunError, match="no suffix of a plot"):
        solution.plot(str(tmp_path / "gap.fw"))
