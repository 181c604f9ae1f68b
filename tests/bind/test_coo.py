"""coo sources: ids are positions where a size is known, names where not, and the mapping comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw

TAIL = "\nvar B: matrix[n, p]\nminimize sum(squared(B[M], M)) + sum_squares(B)"


@pytest.fixture
def bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Binds declarations to a `ratings.csv` of some text."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, declaration: str = 'data M: entries[n, p] from coo("ratings.csv")', tail: str = TAIL) -> Any:
        Path("ratings.csv").write_text(text)
        return fw.parse(declaration + tail)

    return run


def test_ids_of_any_kind_are_mapped_in_sorted_order(bound: Any):
    instance = bound("user,movie,rating\nbob,30,1\nann,7,2\nbob,7,3\n").instance
    found = instance.values["M"]
    assert found.rows.tolist() == [1, 0, 1] and found.columns.tolist() == [1, 0, 0]
    assert instance.dims["n"] == 2 and instance.dims["p"] == 2
    assert instance.maps["M.rows"] == ("ann", "bob") and instance.maps["M.columns"] == (7, 30)


@pytest.mark.parametrize(("options", "text"), [("", "0,1,5\n2,0,6\n"), (", base=1", "1,2,5\n3,1,6\n")])
def test_where_dimensions_are_integers_ids_are_positions(bound: Any, options: str, text: str):
    declaration = f'data M: entries[3, 2] from coo("ratings.csv"{options})'
    instance = bound(
        text, declaration, "\nvar B: matrix[3, 2]\nminimize sum(squared(B[M], M)) + sum_squares(B)"
    ).instance
    found = instance.values["M"]
    assert found.rows.tolist() == [0, 2] and found.columns.tolist() == [1, 0]
    assert found.shape == (3, 2)
    assert instance.maps == {}


def test_other_data_decide_what_ids_are(bound: Any):
    declaration = 'data M: entries[n, p] from coo("ratings.csv"), A: matrix[k, p] = [[1, 2, 3]]'
    instance = bound("x,2,5\ny,0,6\n", declaration).instance
    assert instance.values["M"].columns.tolist() == [2, 0]
    assert instance.dims["p"] == 3 and list(instance.maps) == ["M.rows"]


@pytest.mark.parametrize(
    ("text", "message", "hint", "row"),
    [
        ("1,1,5\n0,2,6\n", "the column `2` on line 2 is not from 0 to 1", "give `base=1`", 2),
        ("0,0,5\n-1,0,6\n", "the row `-1` on line 2 is not from 0 to 2", "number the rows from 0", 2),
        ("row,column,value\nann,0,5\n", "the row `ann` on line 2 is no index", "number the rows from 0", 2),
        ("0.5,0,5\n", "the row `0.5` on line 1 is no index", "number the rows from 0", 1),
    ],
)
def test_ids_that_are_no_positions(bound: Any, text: str, message: str, hint: str, row: int):
    text = text.replace("0,2,6", "1,2,6")
    problem = bound(text, 'data M: entries[3, 2] from coo("ratings.csv")', "\nvar x: real\nminimize sum_squares(x)")
    (d,) = [d for d in problem.check(data=True) if d.severity == "error"]
    assert d.code == "FW4519" and message in d.message and hint in d.hint
    assert d.place is not None and (d.place.file, d.place.row) == ("ratings.csv", row)


def test_many_of_a_kind_are_counted(bound: Any):
    problem = bound(
        "".join(f"{i},0,1\n" for i in range(10)),
        'data M: entries[3, 2] from coo("ratings.csv")',
        "\nvar x: real\nminimize x",
    )
    errors = [d for d in problem.check(data=True) if d.code == "FW4519"]
    assert len(errors) == 3 and errors[-1].message.endswith("; 4 more are like it")


def test_signs_as_words(bound: Any):
    instance = bound(
        "row,column,verdict\n0,0,like\n1,0,dislike\n0,1,like\n",
        'data M: entries[n, p] of signs from coo("ratings.csv")',
        "\nvar B: matrix[n, p]\nminimize mean(logistic(B[M], M)) + sum_squares(B)",
    ).instance
    np.testing.assert_array_equal(instance.values["M"].values, [1, -1, 1])
    assert instance.maps["M"] == ("dislike", "like")


@pytest.mark.parametrize(
    ("declared", "given", "kept"),
    [
        ('coo("none.csv", base=1)', "M=ratings.csv", True),
        ('coo("none.csv.gz", base=1)', "M=ratings.csv", True),
        ('coo("none.txt", base=1)', "M=ratings.txt", True),
        ('coo("none.csv", base=1)', "M=coo:ratings.csv", True),
        ('coo("none.csv", base=1)', "M=csv:ratings.csv", False),
        ('coo("none.csv", base=1)', "M=ratings.mtx", False),
    ],
)
def test_a_file_of_the_same_suffix_is_read_as_the_declared_one(bound: Any, declared: str, given: str, kept: bool):
    from fwdsl.bind.bindings import _complete
    from fwdsl.readers.sources import parse_data_argument

    problem = bound("", f"data M: entries[3, 2] from {declared}", "\nvar x: real\nminimize x")
    _, spec = parse_data_argument(given)  # type: ignore[misc]
    whole = _complete(spec, problem.model.data, Path())
    assert (whole.format == "coo", dict(whole.options)) == (kept, {"base": 1} if kept else {})
    assert whole.path == spec.path


def test_a_given_file_keeps_the_options_of_the_source(bound: Any):
    from fwdsl.bind import Bindings, bind
    from fwdsl.readers.sources import parse_data_argument

    problem = bound("9,9,9\n", 'data M: entries[3, 2] from coo("none.csv", base=1)', "\nvar x: real\nminimize x")
    given = parse_data_argument("M=coo:ratings.csv")
    Path("ratings.csv").write_text("3,2,1\n")
    instance, found = bind(problem.model, Bindings(sources=(given,)), Path())  # type: ignore[arg-type]
    assert instance is not None, found
    assert instance.values["M"].rows.tolist() == [2]
