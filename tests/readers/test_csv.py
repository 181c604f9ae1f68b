"""csv files: which columns serve which names, words, quotes, and every malformation at its place."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdsl.readers import csv_table, files
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
LABELS = Role("y", "labels", (None, None))
SIGNS = Role("y", "signs", (None,))
Found = Callable[..., list[tuple[object, ...]]]
Served = Callable[..., dict[str, Any]]
HOUSES = "size,rooms,town,price\n120,4,Ulm,1500\n80,3,Bonn,1100.5\n"


def test_target_and_columns_by_name(served: Served) -> None:
    arrays = served("csv", HOUSES, target="price", columns=["rooms", "size"])
    np.testing.assert_array_equal(arrays["X"], [[4, 120], [3, 80]])
    np.testing.assert_array_equal(arrays["y"], [1500, 1100.5])


def test_target_and_columns_by_position(served: Served) -> None:
    arrays = served("csv", HOUSES, target=-1, columns=[0, 1])
    np.testing.assert_array_equal(arrays["X"], [[120, 4], [80, 3]])
    np.testing.assert_array_equal(arrays["y"], [1500, 1100.5])


def test_matrix_takes_all_but_the_target(served: Served) -> None:
    arrays = served("csv", "a,b,c\n1,2,3\n4,5,6\n", target="b")
    np.testing.assert_array_equal(arrays["X"], [[1, 3], [4, 6]])
    np.testing.assert_array_equal(arrays["y"], [2, 5])
    alone = served("csv", "a,b,c\n1,2,3\n4,5,6\n", MATRIX, target="b")
    np.testing.assert_array_equal(alone["X"], [[1, 3], [4, 6]])


def test_a_column_of_the_names_own(served: Served) -> None:
    roles = (Role("rooms", "vector", (None,)), Role("price", "vector", (None,)))
    arrays = served("csv", HOUSES, *roles)
    np.testing.assert_array_equal(arrays["rooms"], [4, 3])
    np.testing.assert_array_equal(arrays["price"], [1500, 1100.5])


def test_target_goes_to_the_name_without_a_column(served: Served) -> None:
    arrays = served("csv", HOUSES, Role("rooms", "vector", (None,)), VECTOR, target="price")
    np.testing.assert_array_equal(arrays["rooms"], [4, 3])
    np.testing.assert_array_equal(arrays["y"], [1500, 1100.5])


def test_vector_of_one_column(served: Served) -> None:
    np.testing.assert_array_equal(served("csv", "v\n1\n2\n\n", VECTOR)["y"], [1, 2])
    np.testing.assert_array_equal(served("csv", "1\n2\n", VECTOR, header=False)["y"], [1, 2])
    np.testing.assert_array_equal(served("csv", HOUSES, VECTOR, columns=["rooms"])["y"], [4, 3])
    np.testing.assert_array_equal(served("csv", "v\n1\n2\n", MATRIX)["X"], [[1], [2]])


def test_labels_are_words_or_numbers(served: Served) -> None:
    words = served("csv", HOUSES, MATRIX, LABELS, target="town", columns=[0])
    assert words["y"].tolist() == ["Ulm", "Bonn"]
    numbers = served("csv", "a,y\n1,2\n3,10\n5,2.0\n", MATRIX, LABELS)
    assert numbers["y"].dtype == np.float64
    assert numbers["y"].tolist() == [2, 10, 2]


def test_quotes_line_breaks_and_bom(served: Served) -> None:
    text = '\ufeff"a ""b"", c",y\r\n"1",x\r\n2,"x\r\nz"\r\n3,x\r\n'
    arrays = served("csv", text, MATRIX, LABELS, target="y")
    np.testing.assert_array_equal(arrays["X"], [[1], [2], [3]])
    assert arrays["y"].tolist() == ["x", "x\r\nz", "x"]
    assert served("csv", text, VECTOR, target='a "b", c')["y"].tolist() == [1, 2, 3]


def test_spaces_and_blank_lines_do_not_count(served: Served) -> None:
    arrays = served("csv", "\n a , y \n\n 1, 2\n\n\t3 ,4\n", MATRIX, VECTOR)
    np.testing.assert_array_equal(arrays["X"], [[1], [3]])
    np.testing.assert_array_equal(arrays["y"], [2, 4])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1,,3", ("FW4023", 4, 2, "")),
        ("1, ,3", ("FW4023", 4, 2, "")),
        ("1,2", ("FW4022", 4, 3, None)),
        ("1,2,3,4", ("FW4022", 4, 4, None)),
        ("1,x,3", ("FW4020", 4, 2, "x")),
        ("1,2,1_0", ("FW4020", 4, 3, "1_0")),
        ("nan,2,3", ("FW4021", 4, 1, "nan")),
        ("1,2,-inf", ("FW4021", 4, 3, "-inf")),
        ("1,2,1e999", ("FW4021", 4, 3, "1e999")),
        ('1,"2,3', ("FW4035", 4, None, None)),
    ],
)
def test_malformed(found: Found, line: str, expected: tuple[object, ...]) -> None:
    assert found("csv", f"a,b,y\n1,2,3\n\n{line}\n4,5,6\n")[0] == expected


def test_line_breaks_in_a_header(served: Served, found: Found) -> None:
    text = '\n"size\n(in\nm2)","a ""b""",y\n1,2,3\n4,5,6\n'
    arrays = served("csv", text, target="y", columns=["size\n(in\nm2)", 'a "b"'])
    np.testing.assert_array_equal(arrays["X"], [[1, 2], [4, 5]])
    assert [f[:3] for f in found("csv", text.replace("5", "x"), target="y")] == [("FW4020", 6, 2)]
    crlf = text.replace("\n", "\r\n")
    np.testing.assert_array_equal(served("csv", crlf, target="y")["X"], arrays["X"])
    # without a header the first row is one of words
    rows = served("csv", '"Ulm\nSouth",1\nBonn,2\n', LABELS, target=0, header=False)
    assert rows["y"].tolist() == ["Ulm\nSouth", "Bonn"]


def test_a_header_longer_than_a_block(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.lines, "__defaults__", (4,))
    np.testing.assert_array_equal(served("csv", '"a\nb\nc\nd",y\n1,2\n3,4\n', target="y")["X"], [[1], [3]])


@pytest.mark.parametrize("text", ['"a,y\n1,2\n', '"a', '"a,y\n' + "1,2\n" * 50_000])
def test_quotes_of_a_header_that_are_not_closed(served: Served, text: str) -> None:
    with pytest.raises(AssertionError, match=r"line 1 of .* its quotes are not closed"):
        served("csv", text, target="y")


def test_rows_are_lines_behind_a_quoted_line_break(found: Found) -> None:
    assert found("csv", 'a,y\n"1","2"\n"\n1",2\n3,x\nnan,4\n') == [("FW4020", 5, 2, "x"), ("FW4021", 6, 1, "nan")]


def test_all_errors_of_a_file(found: Found) -> None:
    assert found("csv", "a,y\nx,nan\n1\n,2\n") == [
        ("FW4020", 2, 1, "x"),
        ("FW4021", 2, 2, "nan"),
        ("FW4022", 3, 2, None),
        ("FW4023", 4, 1, ""),
    ]


def test_lines_count_over_chunks(found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.lines, "__defaults__", (16,))
    assert found("csv", "a,y\n" + "1,2\n" * 30 + "x,1\n" + "1,2\n" * 9 + '"z",3\n1,inf\n') == [
        ("FW4020", 32, 1, "x"),
        ("FW4020", 42, 1, "z"),
        ("FW4021", 43, 2, "inf"),
    ]


def test_missing_cell_of_one_column(found: Found) -> None:
    assert found("csv", "v\n1\n\n2\n", VECTOR) == [("FW4023", 3, 1, "")]


def test_labels_that_are_missing_or_not_finite(found: Found) -> None:
    assert found("csv", "a,y\n1,u\n2,\n", MATRIX, LABELS) == [("FW4023", 3, 2, "")]
    assert found("csv", "a,y\n1,1\n2,2\n3,nan\n4,NaN\n", MATRIX, LABELS) == [
        ("FW4021", 4, 2, "nan"),
        ("FW4021", 5, 2, "NaN"),
    ]


def test_signs_of_three_values(found: Found) -> None:
    assert found("csv", "a,y\n1,u\n2,v\n3,w\n4,v\n5,u\n", MATRIX, SIGNS) == [("FW4050", 4, 2, "w")]
    assert found("csv", "a,y\n1,u\n2,u\n", MATRIX, SIGNS) == [("FW4050", None, 2, None)]


def test_numbers_in_the_header_are_a_warning(folder: Path) -> None:
    Path("a.csv").write_text("1,2\n3,4\n")
    arrays, (warning,) = read(SourceSpec("csv", "a.csv"), (MATRIX,))
    assert (warning.severity, warning.code) == ("warning", "FW4033")
    np.testing.assert_array_equal(arrays["X"], [[3, 4]])
    for header, rows in ((False, [[1, 2], [3, 4]]), (True, [[3, 4]])):
        arrays, diagnostics = read(SourceSpec("csv", "a.csv", {"header": header}), (MATRIX,))
        assert diagnostics == ()
        np.testing.assert_array_equal(arrays["X"], rows)


def test_words_in_the_first_line_without_header(folder: Path) -> None:
    Path("a.csv").write_text("a,b\n3,4\n")
    _, diagnostics = read(SourceSpec("csv", "a.csv", {"header": False}), (MATRIX,))
    assert [(d.place.row, d.place.column) for d in diagnostics if d.place] == [(1, 1), (1, 2)]
    assert diagnostics[0].message == "column 1 on line 1 is `a`, where a number was expected"
    assert diagnostics[0].hint == "if the first line is a header, leave `header=false` out"


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            {"target": "prize"},
            "`a.csv` has no column `prize`",
            "did you mean `price`? the columns are `size`, `rooms`, `town`, `price`",
        ),
        ({"target": 4}, "`a.csv` has no column 4: it has 4", "the columns are `size`, `rooms`, `town`, `price`"),
        ({"target": -5}, "`a.csv` has no column -5: it has 4", "the columns are `size`, `rooms`, `town`, `price`"),
        (
            {"target": "price", "header": False},
            "the column `price` is given by name, but `a.csv` has no header",
            "the file has no header; its columns are 0 to 3",
        ),
    ],
)
def test_columns_that_are_not_there(folder: Path, options: dict[str, object], message: str, hint: str) -> None:
    Path("a.csv").write_text(HOUSES)
    _, (diagnostic,) = read(SourceSpec("csv", "a.csv", options), (MATRIX, VECTOR))
    assert (diagnostic.code, diagnostic.message, diagnostic.hint) == ("FW4032", message, hint)


def test_column_named_twice(found: Found) -> None:
    assert found("csv", "a,a,b\n1,2,3\n", target="a") == [("FW4032", 1, None, None)]


def test_columns_of_one_name(found: Found, folder: Path) -> None:
    assert found("csv", "a,a,y\n1,2,3\n") == [("FW4038", 1, None, None)]
    assert found("csv", "a,a,y\n1,2,3\n", target="y", columns=[1]) == []  # one of them alone
    assert found("csv", ",,y\n1,2,3\n") == []  # no names
    Path("b.csv").write_text("a,b,a,y\n1,2,3,4\n")
    arrays, (warning,) = read(SourceSpec("csv", "b.csv", {}), (MATRIX, VECTOR))
    assert warning.severity == "warning" and warning.message == "`X` takes 2 columns named `a` from `b.csv`"
    np.testing.assert_array_equal(arrays["X"], [[1, 2, 3]])


def test_a_first_column_without_a_name_is_told(found: Found, folder: Path) -> None:
    """As pandas and R write the index of a frame, which tells nothing of new rows."""
    text = ",a,y\n0,5,1\n1,7,2\n"
    assert found("csv", text, target="y") == [("FW4039", 1, 1, None)]
    assert found("csv", text, target="y", columns=["a"]) == found("csv", text, target="y", columns=[0, 1]) == []
    assert found("csv", "a,,y\n5,0,1\n", target="y") == []
    assert found("csv", "\n1\n2\n", Role("v", "vector", (None,)), header=False) == []


@pytest.mark.parametrize(
    ("text", "options", "advised"),
    [
        ("a,y\nNA,1\n", {}, 'missing="drop"'),
        ("a,y\n5%,1\n", {}, "no unit or currency"),
        ("a,y\n$ 5.50,1\n", {}, "no unit or currency"),
        ("a,y\n12 kg,1\n", {}, "no unit or currency"),
        ('a,y\n"1,300,000",1\n', {}, "between its thousands"),
        ("a;y\n1.300,50;1\n", {"sep": ";"}, "between its thousands"),
        ("a;y\n0,5;1\n", {"sep": ";"}, 'decimal=","'),
        ("a,y\nred,1\n", {}, "onehot("),
        ("a,y\n1D3,1\n", {}, "onehot("),
        ("a b y\n1 2 3\n", {"target": "y"}, 'sep=" "'),
        ("1 2 3\n", {"header": False, "target": 0}, "FW4031"),
        ("# of 2024\na,y\n1,2\n", {"target": "y"}, "remove the comment"),
        ("a,y,\n1,2,\n", {"target": "y"}, "lines end in a separator"),
        ("a,y\n1,2,\n", {}, "separator at its end"),
        ("a,y\n1,2,3\n", {}, "a decimal comma"),
        ("sep=;\na;y\n1;2\n", {}, 'sep=";"'),
        ("sep=;\na;y\n1;2\n", {"sep": ";"}, 'sep=";"'),
        ("sep=,\na,y\n1,2\n", {}, "remove the line"),
    ],
)
def test_what_is_advised_for_what_is_no_number(
    folder: Path, text: str, options: dict[str, object], advised: str
) -> None:
    Path("a.csv").write_text(text)
    _, found = read(SourceSpec("csv", "a.csv", options), (MATRIX, VECTOR))
    assert found and advised in f"{found[0].code} {found[0].hint}"


def test_a_file_of_one_column_may_have_blanks_between_its_fields(folder: Path) -> None:
    Path("a.csv").write_text("1 2 3\n4 5 6\n")
    _, found = read(SourceSpec("csv", "a.csv", {"header": False}), (MATRIX,))
    assert found[0].code == "FW4020" and found[0].place is not None and found[0].place.row == 1


@pytest.mark.parametrize(
    ("content", "advised"),
    [
        (b"PK\x03\x04\xff\xff", "zip archive"),
        (b"PAR1\xff\xff", "parquet"),
        ("a,y\n1,2\n".encode("utf-16"), "UTF-16"),
        ("größe,y\n1,2\n".encode("latin-1"), "save the file as UTF-8"),
    ],
)
def test_what_is_advised_for_what_is_no_text(folder: Path, content: bytes, advised: str) -> None:
    Path("a.csv").write_bytes(content)
    _, (found,) = read(SourceSpec("csv", "a.csv", {}), (MATRIX, VECTOR))
    assert found.code == "FW4006" and advised in found.hint


@pytest.mark.parametrize(("row", "code"), [("1,2,\n", "FW4022"), ("1,\n", "FW4023")])
def test_what_every_row_has_is_told_of_a_few(folder: Path, row: str, code: str) -> None:
    Path("a.csv").write_text("a,y\n" + row * 12)
    _, found = read(SourceSpec("csv", "a.csv", {}), (MATRIX, VECTOR))
    assert [d.code for d in found] == [code] * 3 and found[-1].message.endswith("; 9 more are like it")


def test_another_separator_is_told_with_where_to_say_it(folder: Path) -> None:
    Path("a.csv").write_text("x;y\n1;2\n")
    _, (found,) = read(SourceSpec("csv", "a.csv", {}), (MATRIX, VECTOR))
    assert 'from csv("a.csv", sep=";")' in found.hint and "`fwdsl new a.csv`" in found.hint
    assert found.hint.endswith("write the file with commas")
    Path("a.txt").write_text("x;y\n1;2\n")
    _, (found,) = read(SourceSpec("csv", "a.txt", {}), (MATRIX, VECTOR))
    assert 'from csv("a.txt", sep=";")' in found.hint and "fwdsl new" not in found.hint


def test_a_target_is_named_where_it_can_be(folder: Path) -> None:
    """The command line has no `target=`."""
    Path("rows.csv").write_text("a,ill\n1,2\n")
    _, (told,) = read(SourceSpec("csv", "rows.csv", {}), (MATRIX, VECTOR))
    assert told.hint.startswith("name the column `y`, or write `target=`") and "the program's `from`" in told.hint
    assert "`a`, `ill`" in told.hint


def test_nothing_says_which_column(found: Found) -> None:
    assert found("csv", HOUSES) == [("FW4031", 1, None, None)]
    assert found("csv", HOUSES, VECTOR, Role("z", "vector", (None,))) == [("FW4031", 1, None, None)] * 2
    assert found("csv", "y\n1\n") == [("FW4031", None, None, None)]  # no column is left for the matrix


def test_roles_it_cannot_serve(found: Found) -> None:
    assert found("csv", HOUSES, MATRIX, Role("Z", "matrix", (None, None))) == [("FW4030", None, None, None)]
    assert found("csv", HOUSES, Role("T", "tensor", (None, None, None))) == [("FW4030", None, None, None)]


@pytest.mark.parametrize("line", ["a;b\n1;2\n", "a\tb\n1\t2\n"])
def test_other_separators(found: Found, line: str) -> None:
    assert found("csv", line) == [("FW4034", 1, None, None)]


@pytest.mark.parametrize("sep", [";", "\t", "|", ":", " "])
@pytest.mark.parametrize("quoted", [False, True])
def test_separators_of_a_users_own(served: Served, sep: str, quoted: bool) -> None:
    town = '"Ulm, South"' if quoted else "Ulm"
    text = HOUSES.replace(",", sep).replace("Ulm", town)
    arrays = served("csv", text, MATRIX, Role("town", "labels", (None, None)), columns=["rooms", "size"], sep=sep)
    np.testing.assert_array_equal(arrays["X"], [[4, 120], [3, 80]])
    assert arrays["town"].tolist() == ["Ulm, South" if quoted else "Ulm", "Bonn"]


@pytest.mark.parametrize("options", [{"decimal": ","}, {"decimal": ",", "sep": ";"}, {"decimal": ",", "sep": "\t"}])
@pytest.mark.parametrize("quoted", [False, True])
def test_decimal_commas(served: Served, options: dict[str, Any], quoted: bool) -> None:
    text = "a;b;name\n1,5;-2;x\n,25;1e3;y,z\n"
    text = text.replace("y,z", '"y,z"') if quoted else text
    text = text.replace(";", options.get("sep", ";"))
    arrays = served("csv", text, MATRIX, Role("name", "labels", (None, None)), columns=["a", "b"], **options)
    np.testing.assert_array_equal(arrays["X"], [[1.5, -2], [0.25, 1000]])
    assert arrays["name"].tolist() == ["x", "y,z"]


def test_a_separator_does_not_stand_in_numbers(found: Found) -> None:
    assert found("csv", HOUSES, MATRIX, decimal=",", sep=",") == [("FW4034", None, None, None)]


@pytest.mark.parametrize("gap", ["", " ", "NA", "n/a", "NaN", "null", "None", "?"])
def test_rows_without_a_value_are_left_out(folder: Path, gap: str) -> None:
    Path("t.csv").write_text(f"a,b,y\n1,2,3\n4,{gap},6\n7,8,{gap}\n9,8,7\n")
    spec = SourceSpec("csv", "t.csv", {"target": "y", "missing": "drop"})
    arrays, (found,) = read(spec, (MATRIX, VECTOR))
    np.testing.assert_array_equal(arrays["X"], [[1, 2], [9, 8]])
    np.testing.assert_array_equal(arrays["y"], [3, 7])
    assert (found.code, found.severity) == ("FW4024", "warning") and "2 of the 4 rows" in found.message


def test_gaps_in_columns_that_are_not_used_drop_nothing(folder: Path) -> None:
    Path("t.csv").write_text("a,b,y\n1,,3\n4,5,6\n")
    spec = SourceSpec("csv", "t.csv", {"target": "y", "columns": ["a"], "missing": "drop"})
    arrays, found = read(spec, (MATRIX, VECTOR))
    assert arrays["X"].tolist() == [[1], [4]] and not found


def test_without_a_whole_row_there_are_no_rows(found: Found) -> None:
    assert found("csv", "a,b\n1,\n,2\n", MATRIX, missing="drop") == [("FW4004", None, None, None)]


def test_a_quoted_header_with_other_separators(found: Found) -> None:
    for text in ('"a";"y"\n1;2\n', '"a\nb";y\n1;2\n'):
        assert found("csv", text) == [("FW4034", 1, None, None)]


def test_broken_header(found: Found) -> None:
    assert found("csv", '"a\nb,c\n1,2\n') == [("FW4035", 1, None, None)]


def test_text_that_is_not_utf8(found: Found) -> None:
    assert found("csv", b"a,y\n1,u\n2,\xff\n", MATRIX, LABELS) == [("FW4006", 3, None, "ff")]
    assert found("csv", b"\xfc,y\n1,u\n") == [("FW4006", 1, None, "fc")]


cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**20), 10**20).map(float),
    st.decimals(-1000, 1000, places=3).map(float),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=20))
    words = data.draw(
        st.lists(st.text("ab ,\"\n'é;", min_size=1).filter(str.strip), min_size=len(rows), max_size=len(rows))
    )
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=quoting, lineterminator=data.draw(st.sampled_from(["\n", "\r\n"])))
    writer.writerow([*(f"c{i}" for i in range(width)), "y"])
    writer.writerows([*row, word] for row, word in zip(rows, words, strict=True))
    path = tmp_path_factory.mktemp("round") / "a.csv"
    path.write_bytes(buffer.getvalue().encode())
    arrays, diagnostics = read(SourceSpec("csv", str(path)), (MATRIX, LABELS))
    assert diagnostics == ()
    assert arrays["X"].tolist() == rows
    assert arrays["y"].tolist() == [word.strip() for word in words]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(["1", "2.5", "x", "", " 3", "nan", ",", ",", "\n", "\n", "\r\n"]), max_size=40))
def test_fast_and_slow_rows_agree(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("agree") / "a.csv"
    path.write_bytes(("a,y\n" + "".join(words)).encode())
    spec = SourceSpec("csv", str(path))
    fast, found = read(spec, (MATRIX, LABELS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_table.Table, "add_chunk", lambda *_: False)
        slow, also = read(spec, (MATRIX, LABELS))
    assert found == also
    assert {k: v.tolist() for k, v in fast.items()} == {k: v.tolist() for k, v in slow.items()}


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.binary(max_size=100))
def test_any_bytes_give_diagnostics_or_arrays(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.csv"
    path.write_bytes(b"a,y\n" + data)
    arrays, diagnostics = read(SourceSpec("csv", str(path)), (MATRIX, LABELS))
    assert bool(arrays) != bool(diagnostics)


def test_words_of_a_target_are_no_columns_to_list(folder: Path):
    (folder / "a.csv").write_text("a,y\n1,2\nu,0x10\n")
    _, found = read(SourceSpec("csv", "a.csv", {"target": "y"}), (MATRIX, VECTOR))
    hints = {d.place.column: d.hint for d in found if d.place is not None}
    assert "onehot" in hints[1] and hints[2] == "write the value as a number"
