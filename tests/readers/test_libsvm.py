"""libsvm files: values, every malformation at its place, the fast parser against the exact one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fwdsl.readers import files
from fwdsl.readers.findings import FileFindings
from fwdsl.readers.libsvm_chunks import Layout, parse_exactly, parse_fast
from fwdsl.readers.read import LabelSets, Role, read
from fwdsl.readers.sources import SourceSpec

MATRIX = Role("X", "matrix", (None, None))
SIGNS = Role("y", "signs", (None,))
SETS = Role("Y", "signs", (None, None))
Found = Callable[..., list[tuple[object, ...]]]
Served = Callable[..., dict[str, Any]]


def test_what_a_file_may_have(served: Served) -> None:
    text = (
        "\ufeff+1 1:.5 3:-1e-3 # note: 7:1\r\n\r\n-1\tqid:4 2:1.25  1:+2 \n# comment\n  +1\n-1 3:12345678901234567890"
    )
    arrays = served("libsvm", text, MATRIX, SIGNS)
    assert isinstance(arrays["X"], csr_array)
    assert arrays["X"].indices.dtype == arrays["X"].indptr.dtype == np.int32
    assert arrays["X"].dtype == np.float64
    expected = [[0.5, 0, -1e-3], [2, 1.25, 0], [0, 0, 0], [0, 0, 12345678901234567890.0]]
    np.testing.assert_array_equal(arrays["X"].toarray(), expected)
    np.testing.assert_array_equal(arrays["y"], [1, -1, 1, -1])
    assert arrays["X"].has_sorted_indices


def test_either_name_alone(served: Served) -> None:
    assert set(served("libsvm", "1 1:2\n", MATRIX)) == {"X"}
    np.testing.assert_array_equal(served("libsvm", "1.5 1:2\n", Role("b", "vector", (None,)))["b"], [1.5])


def test_number_of_columns(served: Served) -> None:
    assert served("libsvm", "1 1:2 4:1\n")["X"].shape == (1, 4)
    assert served("libsvm", "1 1:2 4:1\n", features=6)["X"].shape == (1, 6)
    assert served("libsvm", "1 1:2 4:1\n", Role("X", "matrix", (None, 5)))["X"].shape == (1, 5)
    assert served("libsvm", "1 0:2 3:1\n", base=0)["X"].shape == (1, 4)
    assert served("libsvm", "1\n2\n")["X"].shape == (2, 0)


def test_large_indices_need_64_bits(served: Served) -> None:
    matrix = served("libsvm", "1 1:1\n2 3000000000:2\n")["X"]
    assert matrix.shape == (2, 3_000_000_000)
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int64
    assert matrix.indices.tolist() == [0, 2_999_999_999]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("spam 1:1", ("FW4010", 2, None, "spam")),
        ("1,2 1:1", ("FW4010", 2, None, "1,2")),
        ("1:2 2:3", ("FW4010", 2, None, "1:2")),
        ("nan 1:1", ("FW4021", 2, None, "nan")),
        ("1 1:2:3", ("FW4011", 2, None, "1:2:3")),
        ("1 5: 2", ("FW4011", 2, None, "5:")),
        ("1 :2", ("FW4011", 2, None, ":2")),
        ("1 7", ("FW4011", 2, None, "7")),
        ("1 a:2", ("FW4012", 2, None, "a:2")),
        ("1 -1:2", ("FW4012", 2, None, "-1:2")),
        ("1 1_0:2", ("FW4012", 2, None, "1_0:2")),
        ("1 99999999999999999999:2", ("FW4012", 2, None, "99999999999999999999:2")),
        ("1 0:2", ("FW4013", 2, None, "0:2")),
        ("1 3:1 8:2", ("FW4014", 2, 8, "8:2")),
        ("1 3:1 3:2", ("FW4015", 2, 3, "3:2")),
        ("1 4:1 3:1 4:2", ("FW4015", 2, 4, "4:2")),
        ("1 2:x", ("FW4020", 2, 2, "x")),
        ("1 2:1_0", ("FW4020", 2, 2, "1_0")),
        ("1 2:0x1", ("FW4020", 2, 2, "0x1")),
        ("1 2:1,5", ("FW4020", 2, 2, "1,5")),
        ("1 2:nan", ("FW4021", 2, 2, "nan")),
        ("1 2:-Infinity", ("FW4021", 2, 2, "-Infinity")),
        ("1 2:1e999", ("FW4021", 2, 2, "1e999")),
        ("1 2:1\0", ("FW4020", 2, 2, "1\N{REPLACEMENT CHARACTER}")),
    ],
)
def test_malformed(found: Found, line: str, expected: tuple[object, ...]) -> None:
    findings = found("libsvm", f"+1 1:1\n{line}\n-1 2:1\n", features=7)
    assert findings[0] == expected
    assert {row for _, row, _, _ in findings} == {2}


def test_errors_in_all_lines_are_found(found: Found) -> None:
    assert found("libsvm", "1 1:1\n1 1:x 2:nan\n\n# c\n1 1:1\nz 3:y\n") == [
        ("FW4020", 2, 1, "x"),
        ("FW4021", 2, 2, "nan"),
        ("FW4010", 6, None, "z"),
        ("FW4020", 6, 3, "y"),
    ]


def test_lines_count_over_chunks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.lines, "__defaults__", (64,))
    Path("a.svm").write_text("1 1:1 2:0.5\n" * 40 + "1 1:bad\n" + "1 1:1\n" * 40 + "1 2:inf\n")
    arrays, diagnostics = read(SourceSpec("libsvm", "a.svm"), (MATRIX, Role("y", "vector", (None,))))
    assert arrays == {}
    assert [(d.code, d.place.row) for d in diagnostics if d.place] == [("FW4020", 41), ("FW4021", 82)]


def test_chunks_join(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{i} {i % 7 + 1}:{i / 8} 9:{i}" for i in range(3000)]
    Path("a.svm").write_text("\n".join(rows))
    whole, _ = read(SourceSpec("libsvm", "a.svm"), (MATRIX, Role("y", "vector", (None,))))
    monkeypatch.setattr(files.lines, "__defaults__", (100,))
    parts, _ = read(SourceSpec("libsvm", "a.svm"), (MATRIX, Role("y", "vector", (None,))))
    np.testing.assert_array_equal(whole["y"], np.arange(3000))
    np.testing.assert_array_equal(parts["y"], whole["y"])
    assert (parts["X"] != whole["X"]).nnz == 0
    assert whole["X"][[8], [1]] == 1.0 and whole["X"].shape == (3000, 9)


def test_what_is_wrong_everywhere_is_said_once(found: Found) -> None:
    assert found("libsvm", "1 0:1 3:1\n" * 5) == [("FW4013", 1, None, "0:1")]
    assert found("libsvm", "1 2:1 3:1\n" * 5, features=1) == [("FW4014", 1, 2, "2:1")]


def test_index_zero_proposes_the_base(folder: Path) -> None:
    Path("a.svm").write_text("1 0:1\n")
    _, (diagnostic,) = read(SourceSpec("libsvm", "a.svm"), (MATRIX,))
    assert diagnostic.message == "index 0 on line 1, where indices count from 1"
    assert diagnostic.hint == "give the source `base=0` if the file counts from 0"


def test_signs_of_three_values(found: Found, folder: Path) -> None:
    text = "1 1:1\n# x\n2 1:1\n\n1 1:1\n7 2:1\n2 1:1\n"
    assert found("libsvm", text, MATRIX, SIGNS) == [("FW4050", 6, None, "7")]
    _, (diagnostic,) = read(SourceSpec("libsvm", "file.libsvm"), (MATRIX, SIGNS))
    assert diagnostic.message == "`y` has 3 distinct values, where two were expected: `1`, `2`, `7`"
    assert found("libsvm", "1 1:1\n1 2:1\n", MATRIX, SIGNS) == [("FW4050", None, None, None)]


def test_several_labels_a_row(served: Served) -> None:
    arrays = served("libsvm", "10,2 1:1\n 2:4\n2\n", MATRIX, SETS, multilabel=True)
    sets = arrays["Y"]
    assert isinstance(sets, LabelSets)
    assert sets.classes.tolist() == [2, 10]
    assert sets.signs.tolist() == [[1, 1], [-1, -1], [1, -1]]
    np.testing.assert_array_equal(arrays["X"].toarray(), [[1, 0], [0, 4], [0, 0]])


def test_bad_list_of_labels(found: Found) -> None:
    assert found("libsvm", "1,2 1:1\n1,,2 2:4\n", MATRIX, SETS, multilabel=True) == [("FW4010", 2, None, "1,,2")]


@pytest.mark.parametrize(
    "roles",
    [
        (MATRIX, Role("Z", "matrix", (None, None))),
        (Role("y", "vector", (None,)), Role("z", "vector", (None,))),
        (Role("T", "tensor", (None, None, None)),),
    ],
)
def test_roles_it_cannot_serve(found: Found, roles: tuple[Role, ...]) -> None:
    assert found("libsvm", "1 1:1\n", *roles) == [("FW4030", None, None, None)]


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**20), 10**20),
    st.decimals(-1000, 1000, places=4).map(float),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(numbers, st.dictionaries(st.integers(1, 30), numbers, max_size=6)), min_size=1))
    text = "".join(f"{label!r} {' '.join(f'{j}:{v!r}' for j, v in row.items())}\n" for label, row in rows)
    path = tmp_path_factory.mktemp("round") / "a.svm"
    path.write_text(text)
    arrays, diagnostics = read(
        SourceSpec("libsvm", str(path), {"features": 30}), (MATRIX, Role("y", "vector", (None,)))
    )
    assert diagnostics == ()
    assert arrays["y"].tolist() == [float(label) for label, _ in rows]
    matrix = arrays["X"]
    for i, (_, row) in enumerate(rows):
        stored = slice(matrix.indptr[i], matrix.indptr[i + 1])
        assert matrix.indices[stored].tolist() == [j - 1 for j in sorted(row)]
        assert matrix.data[stored].tolist() == [float(row[j]) for j in sorted(row)]


pieces = st.sampled_from(
    [
        "1",
        "-1",
        "2:3",
        "1:0.5",
        "3:1e5",
        "4:",
        ":",
        "#",
        "\n",
        "\r\n",
        " ",
        "qid:3",
        "nan",
        "5:nan",
        "1,2",
        "x",
        "0:1",
        "\0",
        "_",
    ]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(pieces, st.sampled_from([" ", " ", " ", "", "\n"])), max_size=30), st.booleans(), st.booleans()
)
def test_fast_and_exact_parsers_agree(words: list[tuple[str, str]], multilabel: bool, fixed: bool) -> None:
    text = "".join(word + space for word, space in words).encode() + b"\n"
    layout = Layout(1, 4 if fixed else None, multilabel)
    findings = FileFindings("a.svm")
    exact = parse_exactly(text, 1, layout, findings)
    fast = parse_fast(text, layout)
    if findings.failed:
        assert fast is None
    elif fast is not None:
        np.testing.assert_array_equal(fast.labels, exact.labels)
        assert fast.label_sets == exact.label_sets
        np.testing.assert_array_equal(fast.cuts, exact.cuts)
        np.testing.assert_array_equal(fast.columns, exact.columns)
        np.testing.assert_array_equal(fast.values, exact.values)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_any_bytes_give_diagnostics_or_arrays(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.svm"
    path.write_bytes(data)
    arrays, diagnostics = read(SourceSpec("libsvm", str(path)), (MATRIX, SIGNS))
    assert bool(arrays) != bool(diagnostics)
