"""csv by pyarrow: the same bits, words and messages as by our own reader, for whatever a file holds."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdsl.readers import csv_arrow, csv_table, files
from fwdsl.readers.csv_rows import LONGEST, whole_rows
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

pytest.importorskip("pyarrow.csv", reason="large csv files are read by pyarrow where it is installed")

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
LABELS = Role("y", "labels", (None, None))
SIGNS = Role("y", "signs", (None,))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "a.csv"


def taken_by(reader: type[csv_arrow.ArrowReader], patch: pytest.MonkeyPatch) -> list[bool]:
    """A list that tells of each chunk from now on whether pyarrow took it."""
    took: list[bool] = []
    read = reader.read

    def noted(self: csv_arrow.ArrowReader, *args: Any) -> Any:
        found = read(self, *args)
        took.append(found is not None)
        return found

    patch.setattr(reader, "read", noted)
    return took


def both(
    path: Path, text: str | bytes, *roles: Role, block: int = 1 << 20, **options: Any
) -> tuple[dict[str, Any], tuple[Any, ...], list[bool]]:
    """The arrays and findings that our own reader and pyarrow make of a text, which must be the same, and which chunks pyarrow took."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    spec, roles = SourceSpec("csv", str(path), options), roles or (MATRIX, LABELS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files.lines, "__defaults__", (block,))
        patch.setattr(csv_table, "FROM", math.inf)
        own, told = read(spec, roles)
        patch.setattr(csv_table, "FROM", 0)
        took = taken_by(csv_arrow.ArrowReader, patch)
        arrays, also = read(spec, roles)
    assert told == also
    assert own.keys() == arrays.keys()
    for name, array in own.items():
        assert array.dtype == arrays[name].dtype and array.shape == arrays[name].shape
        if array.dtype.kind == "f":
            np.testing.assert_array_equal(array.view(np.int64), arrays[name].view(np.int64))
        else:
            np.testing.assert_array_equal(array, arrays[name])
    return arrays, told, took


FORMS = ["{!r}", "{:.17g}", "{:.0f}", "{:e}", "{:.25e}", "{:+.3f}", " {!r}", "{:.4f} ", "{:.1E}", "{:.330f}"]
numbers = st.one_of(
    st.floats(-1e300, 1e300),
    st.floats(-1e-305, 1e-305),
    st.integers(-(2**60), 2**60).map(float),
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(numbers, st.sampled_from(FORMS)), min_size=1, max_size=40), st.sampled_from([".", ","]))
def test_numbers_are_rounded_alike(place: Path, cells: list[tuple[float, str]], decimal: str) -> None:
    texts = [form.format(value) for value, form in cells]
    text = "a;y\n" + "".join(f"{t.replace('.', decimal)};u\n" for t in texts)
    arrays, told, took = both(place, text, sep=";", decimal=decimal)
    assert told == () and all(took)
    assert arrays["X"].ravel().tolist() == [float(t) for t in texts]


def test_numbers_halfway_between_two_floats_are_rounded_to_even(place: Path) -> None:
    rng = np.random.default_rng(0)
    exact = [int(m) * 2 + 1 for m in rng.integers(2**52, 2**53, 500)]  # of 54 bits: between two floats
    texts = [t for m in exact for t in (f"{m}", f"{m}.0", f"{m}.{'0' * 30}1", f"{m - 1}.{'9' * 30}", f"{m}00e-2")]
    arrays, _, took = both(place, "a,y\n" + "".join(f"{t},u\n" for t in texts))
    assert all(took) and arrays["X"].ravel().tolist() == [float(t) for t in texts]


PIECES = [
    "1",
    "2.5",
    "-0",
    "+3",
    "+-3",
    "1e5",
    "1e-400",
    "1e999",
    ".",
    "1_0",
    "0x1",
    "nan",
    "nan(1)",
    "inf",
    "NA",
    " na ",
]
PIECES += [
    "x",
    "é",
    '"',
    '"',
    '""',
    '"u"',
    '"3"',
    " 3",
    "\t",
    "\xa0",
    "\x00",
    ",",
    ",",
    ",",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
]
pieces = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(pieces, st.booleans(), st.sampled_from([1, 2, 3]), st.sampled_from([8, 1 << 20]))
def test_whatever_a_file_holds(place: Path, text: str, drops: bool, width: int, block: int) -> None:
    options: dict[str, Any] = {"missing": "drop"} if drops else {}
    names = "a,b,y".split(",")[-width:]
    roles = (LABELS,) if width == 1 else (MATRIX, LABELS)
    both(place, ",".join(names) + "\n" + text, *roles, block=block, **options)


CELLS = {
    False: ["1", "2.5", " 3 ", "-7e3", '"4"', "0.1"],
    True: ["1", "2.5", '"4"', "", "NA", "n/a", "Null", "?", "nan", '""'],
}
WORDS = ["u", "v", " u", '"u"', '"a,b"', '"a ""b"""', '"a\nb"', "é", "NA", "1", '""', "None"]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_files_in_order_but_for_a_cell(place: Path, data: st.DataObject) -> None:
    drops, sep = data.draw(st.booleans()), data.draw(st.sampled_from([",", ";", "\t", "|"]))
    cell, word = st.sampled_from(CELLS[drops]), st.sampled_from(WORDS)
    rows: list[list[str]] = data.draw(st.lists(st.tuples(cell, cell, word).map(list), min_size=1, max_size=30))
    if data.draw(st.booleans()):
        rows[data.draw(st.integers(0, len(rows) - 1))][data.draw(st.integers(0, 2))] = data.draw(pieces)
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join(sep.join(row) for row in [["a", "b", "y"], *rows]) + data.draw(st.sampled_from(["", end, end * 2]))
    options = {"sep": sep, **({"missing": "drop"} if drops else {})}
    role = data.draw(st.sampled_from([LABELS, SIGNS, VECTOR, Role("y", "ids", (None,))]))
    both(place, text, MATRIX, role, block=data.draw(st.sampled_from([16, 64, 1 << 20])), **options)


def written(rows: Sequence[Sequence[object]], quoting: Any = csv.QUOTE_MINIMAL, end: str = "\n") -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=quoting, lineterminator=end).writerows(rows)
    return buffer.getvalue()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL])
def test_quotes_and_line_breaks_do_not_turn_it_away(place: Path, quoting: Any, end: str) -> None:
    words = ["plain", 'with "quotes"', "a, comma", "two\nlines", "\r\n and \n three ", "é", '"', "'"]
    rows = [[i / 7, -i, words[i % len(words)]] for i in range(500)]
    arrays, told, took = both(place, written([["a", "b", "y"], *rows], quoting, end), block=400)
    assert told == () and len(took) > 10 and all(took)
    assert arrays["y"].tolist() == [words[i % len(words)].strip() for i in range(500)]


def test_files_without_a_header(place: Path) -> None:
    arrays, _, took = both(place, written([[i, i / 3, "u"] for i in range(9)]), target=-1, header=False)
    assert all(took) and arrays["X"].shape == (9, 2)


def test_rows_without_a_value_are_left_out(place: Path) -> None:
    gaps = ["", "NA", "n/a", "NaN", "nULL", "None", "?"]
    rows = [[i, gaps[i % 7] if i % 5 == 0 else i, gaps[i % 7] if i % 11 == 0 else "uv"[i % 2]] for i in range(200)]
    arrays, told, took = both(place, written([["a", "b", "y"], *rows]), block=300, missing="drop")
    kept = [i for i in range(200) if i % 5 and i % 11]
    assert all(took) and arrays["X"][:, 0].tolist() == kept and arrays["y"].tolist() == ["uv"[i % 2] for i in kept]
    assert [d.message for d in told] == [
        f"{200 - len(kept)} of the 200 rows of `{place}` have no value in a column that is used, and are left out"
    ]


def test_what_is_wrong_far_down_has_its_line(place: Path) -> None:
    rows: list[list[object]] = [[i, "two\nlines" if i % 10 == 0 else "one"] for i in range(300)]
    rows[250][0] = "1,5"
    rows[251][0] = "1_0"
    _, (found, also), took = both(place, written([["a", "y"], *rows]), block=200)
    assert True in took and False in took
    line = 2 + 250 + 25  # behind the header, 250 rows and 25 lines that are the second of a row
    assert (found.place.row, found.place.value, also.place.row) == (line, "1,5", line + 2)


@pytest.mark.parametrize("odd", ["3", "nan"])
def test_an_odd_label_is_told_at_its_line(place: Path, odd: str) -> None:
    rows: list[list[object]] = [[i, "12"[i % 2]] for i in range(300)]
    rows[200][1] = odd
    _, (found,), _ = both(place, written([["a", "y"], *rows]), MATRIX, SIGNS, block=200)
    assert found.place.row == 202


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "name", ["living\narea", "living\r\narea", "living\rarea", "\narea", 'the ""living""\n\narea', "a,\nb"]
)
@pytest.mark.parametrize("block", [4, 1 << 20])
def test_names_with_line_breaks(place: Path, name: str, end: str, block: int) -> None:
    text = end.join(["", f'"{name}","y\n"', "1.25,2", '"3.5",4', "x,6", ""])
    arrays, told, _ = both(place, text.replace("x", "5"), MATRIX, VECTOR, block=block, target="y")
    assert told == () and arrays["X"].tolist() == [[1.25], [3.5], [5]] and arrays["y"].tolist() == [2, 4, 6]
    (found,) = both(place, text, MATRIX, VECTOR, block=block, target="y")[1]
    assert found.place.row == 1 + text[: text.index("x")].count("\n")
    headers: dict[str, tuple[str, ...]] = {}
    read(SourceSpec("csv", str(place), {"target": "y"}), (MATRIX, VECTOR), headers)
    assert headers == {"X": (name.replace('""', '"').strip(),)}


@pytest.mark.parametrize(
    "options",
    [{"sep": " "}, {"sep": ":"}, {"columns": ["y"], "target": "y"}],
    ids=["spaces", "colons", "one column as both"],
)
def test_other_forms_are_read_by_our_own_reader(place: Path, options: dict[str, Any]) -> None:
    sep = options.get("sep", ",")
    _, _, took = both(place, f"a{sep}y\n" + f"1{sep}2\n" * 20, MATRIX, LABELS, **options)
    assert took == []


def test_a_file_is_read_to_its_end_without_pyarrow(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write_text("a,y\n" + "1,2\n" * 50)
    monkeypatch.setattr(csv_table, "FROM", 0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    arrays, told = read(SourceSpec("csv", str(place)), (MATRIX, VECTOR))
    assert told == () and arrays["X"].shape == (50, 1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [("1,2.5", []), ("1,2e5", [True] * 5), ('"1",2', [True] * 8), ("1,0.12345678901234567890", [True] * 5)],
)
def test_it_is_asked_where_our_own_reader_would_be_slow(
    place: Path, monkeypatch: pytest.MonkeyPatch, line: str, expected: list[bool]
) -> None:
    monkeypatch.setattr(csv_table, "FROM", 50)
    monkeypatch.setattr(files.lines, "__defaults__", (10 * (len(line) + 1),))
    took = taken_by(csv_arrow.ArrowReader, monkeypatch)
    place.write_text("a,y\n" + f"{line}\n" * 100)
    arrays, told = read(SourceSpec("csv", str(place)), (MATRIX, VECTOR))
    assert told == () and arrays["X"].shape == (100, 1)
    assert took == expected, len(took)


# --- chunks of whole rows ---------------------------------------------------------------------------------------------


def cut(*chunks: str) -> list[tuple[str, bool]]:
    return [(text.decode(), rows.is_strict) for text, rows in whole_rows((c.encode() for c in chunks), ",")]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (['a,"b\n', 'c"\nd,e\n'], [('a,"b\nc"\nd,e\n', True)]),
        (['x,y\na,"b\n', 'c"\n'], [("x,y\n", True), ('a,"b\nc"\n', True)]),
        (['a,"b\n', "c\n"], [('a,"b\nc\n', False)]),  # never closed
        (['a,b"c\n'], [('a,b"c\n', False)]),
        (['a,"b"c\n'], [('a,"b"c\n', False)]),
        (['a,"b""c"\n'], [('a,"b""c"\n', True)]),
        (["a,b\rc\n"], [("a,b\rc\n", False)]),
        (['"",""\r\n'], [('"",""\r\n', True)]),
        ([f'"a",{"b" * LONGEST}\n'], [(f'"a",{"b" * LONGEST}\n', False)]),
    ],
)
def test_chunks_of_whole_rows(chunks: list[str], expected: list[tuple[str, bool]]) -> None:
    assert cut(*chunks) == expected


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text('a,"\n', max_size=40), st.integers(0, 5))
def test_rows_that_are_strict_are_those_of_the_csv_module(text: str, line: int) -> None:
    text += "\n"
    for chunk, rows in whole_rows(iter([text.encode()]), ","):
        reader, starts = csv.reader(io.StringIO(chunk.decode(), newline=""), strict=True), [0]
        if rows.is_strict:
            starts += [reader.line_num for _ in reader]
            assert rows.starts(line).tolist() == [line + start for start in starts[:-1]]
