"""One large file of text, or of arrays, in ranges of its rows: what who reads it as a whole gets, and is told."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.readers import encoded, places
from fwdsl.readers.encoded import Encoded
from fwdsl.readers.read import Role, read
from fwdsl.readers.row_blocks import DenseRows, SparseRows
from fwdsl.readers.sources import SourceSpec
from fwdsl.readers.text_ranges import count, cuts

X, Y, SIGNS, LABELS = (
    Role("X", "matrix", (None, None)),
    Role("y", "vector", (None,)),
    Role("y", "signs", (None,)),
    Role("y", "labels", (None, None)),
)


class Workers:
    """Workers in this process: what they are sent and answer is pickled."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, fn: Any, asked: Any) -> list[Any]:
        self.asked += [fn.__name__] * len(asked)
        return [sent(sent(fn)(*sent(args))) for args in asked]


def sent(value: Any) -> Any:
    """A value as it comes out of another process."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are large enough to be read by workers, in ranges of 200 bytes."""
    monkeypatch.setattr(places, "READ_HERE", 0)
    monkeypatch.setattr(places, "PIECE_BYTES", 200)
    encoded.forget()


def both(spec: SourceSpec, *roles: Role) -> tuple[Any, Any, list[str]]:
    """The arrays and findings of whole reading, those of workers, and what these were asked."""
    workers = Workers()
    whole = read(spec, roles)
    with places.reading_at(workers):
        found = read(spec, roles)
    return whole, found, workers.asked


def same(spec: SourceSpec, *roles: Role, parts: int = 3) -> Any:
    """Assert that workers, who read `parts` ranges or more, come to what whole reading does; its arrays and findings."""
    whole, found, asked = both(spec, *roles)
    assert [d for d in found[1] if d.severity == "error"] == [d for d in whole[1] if d.severity == "error"]
    assert found[1] == whole[1] and found[0].keys() == whole[0].keys()
    assert asked.count("look_at") >= parts
    for name, array in whole[0].items():
        mine = found[0][name]
        if isinstance(mine, DenseRows | SparseRows):
            assert all(isinstance(part, Encoded) for part in np.ravel(np.array(mine.parts, object)))
            mine = mine.rows(0, mine.shape[0])
        if sp.issparse(array):
            assert mine.shape == array.shape and (mine != array).nnz == 0
        else:
            assert mine.dtype == array.dtype and mine.tolist() == array.tolist()
    return whole


def rows(n: int = 60) -> list[list[str]]:
    rng = np.random.default_rng(0)
    return [[repr(float(v)) for v in rng.standard_normal(3)] for _ in range(n)]


def csv(path: Path, lines: list[str], end: str = "\n") -> SourceSpec:
    path.write_bytes((end.join(lines) + end).encode())
    return SourceSpec("csv", str(path), {"target": "y"})


def test_numbers_of_a_csv_file(tmp_path: Path) -> None:
    lines = ["a,b,y", *(",".join(row) for row in rows())]
    same(csv(tmp_path / "a.csv", lines), X, Y)
    same(csv(tmp_path / "b.csv", lines, "\r\n"), X, Y)
    unended = SourceSpec("csv", str(tmp_path / "c.csv"), {"target": 2, "header": False})
    Path(unended.path).write_text("\n\n" + "\n".join(lines[1:]) + "\n\n" + lines[1])
    same(unended, X, Y)


def test_quoted_fields_with_line_breaks_stay_whole(tmp_path: Path) -> None:
    """A range begins where a row does, on whose line the file tells: not at a line break in quotes."""
    told = ['"two\nlines"', '"a ""word"", and\n\n\n1,2,3\n4,5,6\n"', "plain", '""', '"' + "long\n" * 80 + '"']
    used = {"target": "y", "columns": ["a", "b"]}
    for seed in range(20):
        picked = [told[k] for k in np.random.default_rng(seed).integers(0, 5, 60)]
        lines = ['a,"the\ntext",b,y', *(f"{a},{t},{b},{c}" for (a, b, c), t in zip(rows(), picked, strict=True))]
        same(SourceSpec("csv", csv(tmp_path / f"{seed}.csv", lines).path, used), X, Y)
    lines[40] = lines[40].replace(",", ",x,", 1)
    (error,) = same(SourceSpec("csv", csv(tmp_path / "wrong.csv", lines).path, used), X, Y)[1]
    assert error.code == "FW4022" and error.place.row == "\n".join(lines[:40]).count("\n") + 2


@pytest.mark.parametrize("role", [SIGNS, LABELS])
def test_labels_are_numbers_if_all_of_the_file_are(tmp_path: Path, role: Role) -> None:
    """A range of `1` alone does not make a number of it where words stand further on."""
    numbers = [f"{','.join(row[:2])},{1 if k < 40 else 2}" for k, row in enumerate(rows())]
    words = [f"{','.join(row[:2])},{'1' if k < 40 else 'nan'}" for k, row in enumerate(rows())]
    whole = same(csv(tmp_path / "a.csv", ["a,b,y", *numbers]), X, role)
    assert whole[0]["y"].dtype == np.float64
    words[-1] = words[-1].replace("nan", "word")
    whole = same(csv(tmp_path / "b.csv", ["a,b,y", *words]), X, LABELS)
    assert whole[0]["y"].dtype.kind == "U" and set(whole[0]["y"]) == {"1", "nan", "word"}


def test_a_third_sign_and_a_number_that_is_not_finite_are_told_with_their_line(tmp_path: Path) -> None:
    lines = ["a,b,y", *(f"{','.join(row[:2])},{k % 2}" for k, row in enumerate(rows()))]
    lines[51] = lines[51][:-1] + "7"
    (error,) = same(csv(tmp_path / "a.csv", lines), X, SIGNS)[1]
    assert error.code == "FW4050" and error.place.row == 52
    lines[51] = lines[51][:-1] + "inf"
    found = same(csv(tmp_path / "b.csv", lines), X, LABELS)[1]
    assert [(d.code, d.place.row) for d in found] == [("FW4021", 52)]


def test_findings_of_all_ranges_are_those_of_one_reader(tmp_path: Path) -> None:
    """The third of a kind tells how many more there are, in whatever range."""
    lines = ["a,b,y", *(",".join(row) for row in rows())]
    for k in (3, 9, 25, 40, 55):
        lines[k] = "word," + lines[k].partition(",")[2]
    lines[57] += ",1"
    found = same(csv(tmp_path / "a.csv", lines), X, Y)[1]
    assert [(d.code, d.place.row) for d in found] == [("FW4020", 4), ("FW4020", 10), ("FW4020", 26), ("FW4022", 58)]
    assert "2 more are like it" in found[2].message


def test_rows_that_are_left_out_are_counted_once(tmp_path: Path) -> None:
    lines = ["a,b,y", *(",".join(row) for row in rows())]
    for k in (3, *range(20, 40)):
        lines[k] = "," + lines[k].partition(",")[2]
    spec = csv(tmp_path / "a.csv", lines)
    (told,) = same(SourceSpec("csv", spec.path, {"target": "y", "missing": "drop"}), X, Y)[1]
    assert told.code == "FW4024" and "21 of the 60 rows" in told.message


def test_a_header_of_numbers_is_told_once(tmp_path: Path) -> None:
    lines = ["1,2,3", *(",".join(row) for row in rows())]
    spec = csv(tmp_path / "a.csv", lines)
    (told,) = same(SourceSpec("csv", spec.path, {"target": 2}), X, Y)[1]
    assert told.code == "FW4033" and told.severity == "warning"


@pytest.mark.parametrize(
    "text",
    ['5" pipe', 'half "quoted"', '"open', "a\rb", '"' + "x" * 200_000 + '"'],
    ids=["a quote within", "quotes within", "not closed", "a carriage return", "a long field"],
)
def test_a_file_that_may_be_read_in_several_ways_is_read_as_a_whole(tmp_path: Path, text: str) -> None:
    lines = ["a,t,b,y", *(f'{a},"t",{b},{c}' for a, b, c in rows())]
    lines[30] = lines[30].replace('"t"', text)
    spec = csv(tmp_path / "a.csv", lines)
    whole, found, asked = both(SourceSpec("csv", spec.path, {"target": "y", "columns": ["a", "b"]}), X, Y)
    assert "look_at" not in asked and found[1] == whole[1]
    assert all(np.array_equal(found[0][name], array) for name, array in whole[0].items())


def test_a_column_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    spec = csv(tmp_path / "a.csv", ["a,b,z", *(",".join(row) for row in rows())])
    whole, found, asked = both(spec, X, Y)
    assert not asked and found == whole and [d.code for d in found[1]] == ["FW4032"]


def libsvm(path: Path, lines: list[str]) -> SourceSpec:
    path.write_text("\n".join(lines) + "\n")
    return SourceSpec("libsvm", str(path))


def sparse_lines() -> list[str]:
    rng = np.random.default_rng(2)
    lines = []
    for k in range(80):
        at = np.sort(rng.choice(np.arange(1, 30 if k < 70 else 90), 4, replace=False))
        lines.append(
            f"{k % 2} {' '.join(f'{i}:{v!r}' for i, v in zip(at, rng.standard_normal(4).tolist(), strict=True))}"
        )
    return lines


def test_a_libsvm_file(tmp_path: Path) -> None:
    """Rows of the first ranges are as wide as those of the last; quotes are no quotes there."""
    lines = sparse_lines()
    lines.insert(20, '# a "comment')
    whole = same(libsvm(tmp_path / "a.svm", lines), X, SIGNS)
    assert whole[0]["X"].shape[0] == 80 and whole[0]["X"].shape[1] > 30
    same(libsvm(tmp_path / "b.svm", lines), X, Y)


def test_what_is_wrong_in_a_libsvm_file_is_told_with_its_line(tmp_path: Path) -> None:
    lines = sparse_lines()
    lines[61] += " 3;4"
    lines[70] = "x " + lines[70]
    found = same(libsvm(tmp_path / "a.svm", lines), X, Y)[1]
    assert ("FW4011", 62) in [(d.code, d.place.row) for d in found]
    third = sparse_lines()
    third[61] = "5" + third[61][1:]
    (error,) = same(libsvm(tmp_path / "b.svm", third), X, SIGNS)[1]
    assert error.code == "FW4050" and error.place.row == 62
    zeros = [line.partition(" ")[0] + " 0:1" for line in sparse_lines()]
    (error,) = same(libsvm(tmp_path / "c.svm", zeros), X, Y)[1]
    assert error.code == "FW4013" and error.place.row == 1


def test_label_sets_are_read_as_a_whole(tmp_path: Path) -> None:
    lines = [f"{k % 3},{k % 5 + 3} {line.partition(' ')[2]}" for k, line in enumerate(sparse_lines())]
    spec = libsvm(tmp_path / "a.svm", lines)
    several = Role("y", "signs", (None, None))
    whole, found, asked = both(SourceSpec("libsvm", spec.path, {"multilabel": True}), X, several)
    assert not asked and np.array_equal(found[0]["y"].signs, whole[0]["y"].signs)


def arrays(found: Any) -> Any:
    return found.rows(0, found.shape[0]) if isinstance(found, DenseRows | SparseRows) else found


@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_of_arrays(tmp_path: Path, packed: bool) -> None:
    """Arrays that lie in it as they are are read by ranges there, compressed ones as a whole by who needs them."""
    A, y = np.random.default_rng(3).standard_normal((50, 4)), np.arange(50.0)
    (np.savez_compressed if packed else np.savez)(tmp_path / "a.npz", X=A, y=y)
    whole, found, asked = both(SourceSpec("npz", str(tmp_path / "a.npz")), X, Y)
    assert isinstance(found[0]["X"], DenseRows) and np.array_equal(arrays(found[0]["X"]), whole[0]["X"])
    assert np.array_equal(found[0]["y"], whole[0]["y"]) and asked.count("look_at") == packed
    assert isinstance(found[0]["X"].parts[0], Encoded) == packed


@pytest.mark.parametrize("kind", ["stored", "packed", "unordered", "by_columns"])
def test_a_sparse_matrix_in_an_archive(tmp_path: Path, kind: str) -> None:
    A = sp.random_array((50, 30), density=0.2, format="csr", rng=np.random.default_rng(4))
    if kind == "unordered":
        A.indices[:2], A.data[:2] = A.indices[:2][::-1].copy(), A.data[:2][::-1].copy()
        assert A.indptr[1] >= 2 and A.indices[0] > A.indices[1]
    sp.save_npz(tmp_path / "a.npz", A.tocsc() if kind == "by_columns" else A, compressed=kind == "packed")
    whole, found, asked = both(SourceSpec("npz", str(tmp_path / "a.npz")), X)
    assert isinstance(found[0]["X"], SparseRows) == (kind in ("stored", "packed"))
    assert np.array_equal(arrays(found[0]["X"]).toarray(), whole[0]["X"].toarray()) and found[1] == whole[1]
    assert asked.count("look_at") == (kind == "packed")


def test_a_sparse_matrix_whose_columns_lie_outside_is_told(tmp_path: Path) -> None:
    A = sp.random_array((50, 30), density=0.2, format="csr", rng=np.random.default_rng(4))
    A.indices[7] = 99
    np.savez(tmp_path / "a.npz", data=A.data, indices=A.indices, indptr=A.indptr, shape=(50, 30), format=b"csr")
    whole, found, _ = both(SourceSpec("npz", str(tmp_path / "a.npz")), X)
    assert [d.code for d in whole[1]] == [d.code for d in found[1]] == ["FW4043"] and not found[0]


def test_ranges_are_counted_to_the_byte(tmp_path: Path) -> None:
    """Wherever ranges of bytes end, the parts begin behind a row, and have all rows together."""
    text = b'a,b\n"x\ny",1\r\n"",2\n3,"""\n"\n\n"p,q",5\n'
    (tmp_path / "a.csv").write_bytes(text)
    starts = {0, 4, 13, 18, 26, 27, len(text)}
    with places.reading_at(Workers()):
        for most in range(1, len(text) + 1):
            parts = [what for _, (_, what) in cuts(str(tmp_path / "a.csv"), most, ",")]
            assert [p.start for p in parts[1:]] == [p.stop for p in parts[:-1]] and parts[-1].stop == len(text)
            assert {p.start for p in parts} <= starts
            assert all(p.line == 1 + text[: p.start].count(b"\n") for p in parts)
    assert count(str(tmp_path / "a.csv"), 0, 12).alone is False
