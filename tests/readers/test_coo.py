"""coo: ids as written, headers told from entries, places of what is wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

ENTRIES = Role("M", "entries", (None, None))
SIGNS = Role("M", "entries", (None, None), "signs")


@pytest.mark.parametrize("header", ["", "user,movie,rating\n", "\n\nuser,movie,rating\n"])
def test_numbers_with_and_without_a_header(served: Any, header: str):
    found = served("coo", header + "3,10,4.5\n1,7,-2\n3,10,4.5\n", ENTRIES)["M"]
    assert found.rows.tolist() == [3, 1, 3] and found.rows.dtype == np.int64
    assert found.columns.tolist() == [10, 7, 10]
    assert found.values.tolist() == [4.5, -2.0, 4.5]
    assert found.base == 0 and found.first == header.count("\n") + 1


def test_ids_may_be_words_in_either_column(served: Any):
    found = served("coo", 'ann,7,1\n"bob, jr",9,2\n', ENTRIES, base=1)["M"]
    assert found.rows.tolist() == ["ann", "bob, jr"]
    assert found.columns.tolist() == [7, 9] and found.columns.dtype == np.int64
    assert found.base == 1


def test_a_word_behind_many_numbers(served: Any):
    text = "".join(f"{i},0,1\n" for i in range(2000)) + "x7,0,1\n"
    found = served("coo", text, ENTRIES)["M"]
    assert found.rows[[0, 1999, 2000]].tolist() == ["0", "1999", "x7"]


def test_ids_beyond_the_precision_of_floats_stay_apart(served: Any):
    found = served("coo", f"{2**53 + 1},0,1\n{2**53},0,1\n", ENTRIES)["M"]
    assert found.rows.tolist() == [2**53 + 1, 2**53]


def test_ids_too_long_for_integers_are_words(served: Any):
    found = served("coo", f"{10**19},0,1\n5,0,1\n", ENTRIES)["M"]
    assert found.rows.tolist() == [str(10**19), "5"]


@pytest.mark.parametrize(
    ("text", "values", "first"),
    [
        ("1,2,like\n2,3,dislike\n1,1,like\n", ["like", "dislike", "like"], 1),
        ("row,col,verdict\n1,2,like\n2,3,dislike\n1,1,like\n", ["like", "dislike", "like"], 2),
        ("row,col,verdict\n1,2,-1\n2,3,1\n1,1,1\n", [-1.0, 1.0, 1.0], 2),
        ("1,2,0\n2,3,1\n1,1,1\n", [0.0, 1.0, 1.0], 1),
    ],
)
def test_signs_may_be_words_and_have_a_header(served: Any, text: str, values: list[object], first: int):
    found = served("coo", text, SIGNS)["M"]
    assert found.values.tolist() == values
    assert found.rows.tolist() == [1, 2, 1] and found.first == first


def test_lines_are_not_told_where_some_hold_no_entry(served: Any):
    assert served("coo", "1,2,3\n\n1,2,4\n", ENTRIES)["M"].first == 0


def test_compressed(folder: Path):
    Path("m.csv.gz").write_bytes(gzip.compress(b"row,column,value\n1,2,3\n"))
    arrays, diagnostics = read(SourceSpec("coo", "m.csv.gz"), [ENTRIES])
    assert diagnostics == () and arrays["M"].values.tolist() == [3.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2,3\n4,5,x\n", ("FW4020", 2, 3, "x")),
        ("1,2,3\n\n4,5,inf\n", ("FW4021", 3, 3, "inf")),
        ("1,2,nan\n", ("FW4021", 1, 3, "nan")),
        ("row,column,value\n1,,3\n", ("FW4023", 2, 2, "")),
        ("1,2,3\n1,2\n", ("FW4022", 2, 3, None)),
        ("1,2\n", ("FW4036", 1, None, None)),
        ("user,movie,rating,time\n1,2,3,4\n", ("FW4036", 1, None, None)),
        ("1;2;3\n", ("FW4034", 1, None, None)),
        ("row,column,value\n", ("FW4004", None, None, None)),
    ],
)
def test_what_is_wrong_has_its_place(found: Any, text: str, expected: tuple[object, ...]):
    assert found("coo", text, ENTRIES) == [expected]


@pytest.mark.parametrize(
    ("text", "options", "advised"),
    [
        ("1\t2\t3\n", {}, 'from coo("a.csv", sep="\\t")'),
        ("1 2 3\n", {}, 'from coo("a.csv", sep=" ")'),
        ("user,movie,rating,time\n1,2,3,4\n", {}, 'columns=["user", "movie", "rating"]'),
        ("1,2,3,4\n", {}, "columns=[0, 1, 2]"),
        ("1,2,3,4\n", {"columns": (0, 1)}, "the columns are"),
        ("1,2,3,4\n", {"columns": (0, 1, 1)}, "the columns are"),
        (
            "user,movie,rating,time\n1,2,3,4\n",
            {"columns": ("user", "film", "rating")},
            "the columns are `user`, `movie`",
        ),
    ],
)
def test_what_to_write_for_other_forms(folder: Path, text: str, options: dict[str, object], advised: str):
    (folder / "a.csv").write_text(text)
    _, found = read(SourceSpec("coo", "a.csv", options), (ENTRIES,))
    assert advised in found[0].hint
    assert found[0].code in ("FW4032", "FW4034", "FW4036")


@pytest.mark.parametrize("header", ["", "row;column;value\n"])
def test_decimal_commas(folder: Path, header: str):
    (folder / "a.csv").write_text(header + "1;2;3,5\n4;5;-0,25\n")
    arrays, found = read(SourceSpec("coo", "a.csv", {"decimal": ","}), (ENTRIES,))
    assert found == () and arrays["M"].values.tolist() == [3.5, -0.25] and arrays["M"].rows.tolist() == [1, 4]


def test_what_is_advised_for_a_line_is_what_coo_takes(folder: Path):
    """`missing=` is no option of coo, and commas split no fields between semicolons."""
    (folder / "a.csv").write_text("a;b;3\nc;;2\n")
    _, (empty,) = read(SourceSpec("coo", "a.csv", {"sep": ";"}), (ENTRIES,))
    assert (empty.code, empty.hint) == ("FW4023", "fill in the value, or remove the line")
    (folder / "a.csv").write_text("a;b;3\nc;d;2,5;1\n")
    _, (ragged,) = read(SourceSpec("coo", "a.csv", {"sep": ";"}), (ENTRIES,))
    assert ragged.code == "FW4022" and "a coo file" in ragged.rule and "comma" not in ragged.hint


@pytest.mark.parametrize(
    ("text", "options", "first"),
    [
        ("1\t7\t4.5\t99\nann\t8\t2\t99\n", {"sep": "\t", "columns": (0, 1, 2)}, 1),
        ("1::7::4.5::99\nann::8::2::99\n", {"sep": ":", "columns": (0, 2, 4)}, 1),
        ("at,user,stars,film\n99,1,4.5,7\n99,ann,2,8\n", {"columns": ("user", "film", "stars")}, 2),
        ("at,user,stars,film\n99,1,4.5,7\n99,ann,2,8\n", {"columns": (1, 3, -2)}, 2),
        ("1;7;4.5\nann;8;2\n", {"sep": ";"}, 1),
    ],
)
def test_other_separators_and_lines_with_more_fields(served: Any, text: str, options: dict[str, object], first: int):
    found = served("coo", text, ENTRIES, **options)["M"]
    assert found.rows.tolist() == ["1", "ann"] and found.columns.tolist() == [7, 8]
    assert found.values.tolist() == [4.5, 2.0] and found.first == first


def test_a_column_that_is_not_used_may_hold_anything(served: Any):
    assert served("coo", "1,2,3,\n4,5,6,x\n", ENTRIES, columns=(0, 1, 2))["M"].values.tolist() == [3.0, 6.0]


def test_places_are_those_of_the_file(found: Any):
    assert found("coo", "9,1,2,3\n9,4,5,x\n", ENTRIES, columns=(1, 2, 3)) == [("FW4020", 2, 4, "x")]


def test_it_serves_one_name_of_entries(found: Any):
    assert found("coo", "1,2,3\n", Role("X", "matrix", (None, None))) == [("FW4030", None, None, None)]
