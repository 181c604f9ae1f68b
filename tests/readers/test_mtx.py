"""Matrix Market files: as scipy reads them, and every malformation at its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import mmread, mmwrite
from scipy.sparse import coo_array, csr_array

from fwdsl.readers import files
from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
HEAD = "%%MatrixMarket matrix coordinate real general\n"
Found = Callable[..., list[tuple[object, ...]]]
Served = Callable[..., dict[str, Any]]

FULL = np.array([[1.5, -2, 0], [0, 3, 1e-7], [4, 0, 0.1]])
SYMMETRIC = FULL + FULL.T
SKEW = FULL - FULL.T


@pytest.mark.parametrize("matrix", [FULL, SYMMETRIC, SKEW, FULL[:2]])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("block", [8, 1 << 20])
def test_as_scipy_writes_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, matrix: np.ndarray, sparse: bool, block: int
) -> None:
    monkeypatch.setattr(files.lines, "__defaults__", (block,))
    mmwrite("a.mtx", coo_array(matrix) if sparse else matrix)
    arrays, diagnostics = read(SourceSpec("mtx", "a.mtx"), (MATRIX,))
    assert diagnostics == ()
    assert isinstance(arrays["X"], csr_array if sparse else np.ndarray)
    np.testing.assert_array_equal(arrays["X"].toarray() if sparse else arrays["X"], matrix)
    again = mmread("a.mtx", spmatrix=False)
    np.testing.assert_array_equal(again.toarray() if sparse else again, matrix)


def test_pattern_comments_blank_lines_and_duplicates(served: Served) -> None:
    pattern = HEAD.replace("real", "pattern") + "%x\n\n% y\n2 3 2\n1 3\n\n2 1\n"
    np.testing.assert_array_equal(served("mtx", pattern, MATRIX)["X"].toarray(), [[0, 0, 1], [1, 0, 0]])
    twice = HEAD + "1 2 3\n1 2 1\n1 2 0.5\n1 1 4\n"
    matrix = served("mtx", twice, MATRIX)["X"]
    assert (matrix.indices.tolist(), matrix.data.tolist()) == ([0, 1], [4, 1.5])


def test_case_of_the_first_line_does_not_count(served: Served) -> None:
    assert served("mtx", HEAD.upper() + "1 1 1\n1 1 2\n", MATRIX)["X"].toarray().tolist() == [[2]]


def test_column_for_a_vector(served: Served) -> None:
    dense = HEAD.replace("coordinate", "array") + "3 1\n1\n2\n3\n"
    assert served("mtx", dense, VECTOR)["y"].tolist() == [1, 2, 3]
    sparse = HEAD + "1 3 1\n1 2 7\n"
    assert served("mtx", sparse, VECTOR)["y"].tolist() == [0, 7, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 2 1\n1 1 0.5\n", ("FW4060", 1, None, None)),
        ("%%MatrixMarket vector coordinate real general\n", ("FW4060", 1, None, None)),
        (HEAD.replace("real", "complex") + "1 1 1\n1 1 1 0\n", ("FW4065", 1, None, None)),
        (HEAD.replace("general", "hermitian") + "1 1 1\n1 1 1\n", ("FW4065", 1, None, None)),
        ("%%MatrixMarket matrix array pattern general\n1 1\n", ("FW4065", 1, None, None)),
        (HEAD + "% only\n", ("FW4064", None, None, None)),
        (HEAD + "%\n2 2\n", ("FW4064", 3, None, None)),
        (HEAD + "2 2 -1\n", ("FW4064", 2, None, None)),
        (HEAD.replace("general", "symmetric") + "2 3 1\n1 1 1\n", ("FW4064", 2, None, None)),
        (HEAD + "2 2 1\n1 1\n", ("FW4061", 3, None, "1 1")),
        (HEAD + "2 2 1\n%\n3 1 5\n", ("FW4063", 4, None, "3 1 5")),
        (HEAD + "2 2 1\n0 1 5\n", ("FW4063", 3, None, "0 1 5")),
        (HEAD + "2 2 1\n1.0 1 5\n", ("FW4063", 3, None, "1.0 1 5")),
        (HEAD.replace("general", "symmetric") + "2 2 1\n1 2 5\n", ("FW4063", 3, 2, "1 2 5")),
        (HEAD.replace("general", "skew-symmetric") + "2 2 1\n1 1 5\n", ("FW4063", 3, 1, "1 1 5")),
        (HEAD + "2 2 2\n1 1 5\n", ("FW4062", None, None, None)),
        (HEAD + "2 2 1\n1 1 5\n2 2 5\n", ("FW4062", 4, None, "2 2 5")),
        (HEAD + "2 2 1\n1 2 nan\n", ("FW4021", 3, 2, "nan")),
        (HEAD + "2 2 1\n1 2 x\n", ("FW4020", 3, 2, "x")),
        (HEAD.replace("coordinate", "array") + "1 2\n1\ninf\n", ("FW4021", 4, None, "inf")),
        (HEAD.replace("coordinate", "array") + "1 2\n1 2\n", ("FW4061", 3, None, "1 2")),
    ],
)
def test_malformed(found: Found, text: str, expected: tuple[object, ...]) -> None:
    assert found("mtx", text, MATRIX) == [expected]


def test_all_errors_of_a_file(found: Found) -> None:
    assert found("mtx", HEAD + "2 2 3\n1 1 x\n9 1 1\n2 2 nan\n", MATRIX) == [
        ("FW4020", 3, 1, "x"),
        ("FW4063", 4, None, "9 1 1"),
        ("FW4021", 5, 2, "nan"),
    ]


def test_serves_one_name(found: Found) -> None:
    assert found("mtx", HEAD + "1 1 1\n1 1 1\n", MATRIX, VECTOR) == [("FW4030", None, None, None)]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from([HEAD, HEAD.replace("coordinate", "array"), HEAD.replace("general", "symmetric"), ""]),
    st.lists(
        st.sampled_from(["1", "2", "0.5", "x", "nan", "%", "-1", " ", " ", "\n", "\n", "2 2 1\n", "\0"]), max_size=20
    ),
)
def test_any_words_give_diagnostics_or_arrays(
    tmp_path_factory: pytest.TempPathFactory, head: str, words: list[str]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.mtx"
    path.write_text(head + "".join(words))
    arrays, diagnostics = read(SourceSpec("mtx", str(path)), (MATRIX,))
    assert bool(arrays) != bool(diagnostics)
