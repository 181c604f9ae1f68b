"""Files fail in many ways before their contents matter; and every compression is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from fwdsl.diagnostics.catalogue import lookup
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.readers import files, findings, libsvm
from fwdsl.readers.files import lines
from fwdsl.readers.read import Role, read
from fwdsl.readers.roles import Triplets
from fwdsl.readers.sources import SourceSpec
from fwdsl.words import SOURCES

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
ROOT = Path(__file__).resolve().parents[2]
COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, "": bytes}


def _saved(save: Callable[..., None], **arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


#: One matrix in each format that has such; tests/readers/test_coo.py and test_parquet.py are of the others.
CONTENT = {
    "libsvm": b"1 1:1 2:2\n1 1:3 2:4\n",
    "csv": b"a,b\n1,2\n3,4\n",
    "npy": _saved(lambda f, X: np.save(f, X), X=np.array([[1.0, 2.0], [3.0, 4.0]])),
    "npz": _saved(np.savez, X=np.array([[1.0, 2.0], [3.0, 4.0]])),
    "mtx": b"%%MatrixMarket matrix array integer general\n2 2\n1\n3\n2\n4\n",
}


def _only(spec: SourceSpec, *roles: Role) -> Diagnostic:
    arrays, (diagnostic,) = read(spec, roles or (MATRIX, VECTOR))
    assert arrays == {}
    assert diagnostic.place is not None and diagnostic.place.file == spec.path
    return diagnostic


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("format", CONTENT)
def test_every_format_in_every_compression(folder: Path, format: str, suffix: str) -> None:
    path = f"file.{format}{suffix}"
    Path(path).write_bytes(COMPRESS[suffix](CONTENT[format]))
    arrays, diagnostics = read(SourceSpec(format, path), (MATRIX,))
    assert diagnostics == ()
    matrix = arrays["X"].toarray() if format == "libsvm" else arrays["X"]
    np.testing.assert_array_equal(matrix, [[1, 2], [3, 4]])
    assert isinstance(matrix, np.memmap) == (format == "npy" and not suffix)


@pytest.mark.parametrize("format", CONTENT)
@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_cut_short_compression(folder: Path, format: str, suffix: str) -> None:
    path = f"file.{format}{suffix}"
    Path(path).write_bytes(COMPRESS[suffix](CONTENT[format])[:-9])
    assert _only(SourceSpec(format, path), MATRIX).code == "FW4005"


@pytest.mark.parametrize("format", SOURCES)
def test_missing_file_proposes_similar_ones(folder: Path, format: str) -> None:
    Path("training_set.dat.gz").write_bytes(b"x")
    Path("other.dat").write_bytes(b"x")
    first = _only(SourceSpec(format, "training_set.dat"), MATRIX)
    assert (first.code, first.message) == ("FW4001", "`training_set.dat` does not exist")
    assert first.hint == "did you mean `training_set.dat.gz`?"
    second = _only(SourceSpec(format, "trainingset.dat"), MATRIX)
    assert second.hint == "did you mean `training_set.dat.gz`?"
    assert _only(SourceSpec(format, "unlike"), MATRIX).hint == "check the path"


def test_similar_file_in_a_folder(folder: Path) -> None:
    Path("data").mkdir()
    Path("data/a9a.svm.gz").write_bytes(b"x")
    assert _only(SourceSpec("libsvm", "data/a9a.svm")).hint == "did you mean `data/a9a.svm.gz`?"


def test_missing_folder(folder: Path) -> None:
    diagnostic = _only(SourceSpec("csv", "nowhere/a.csv"))
    assert (diagnostic.code, diagnostic.message) == (
        "FW4001",
        "`nowhere/a.csv` does not exist: there is no folder `nowhere`",
    )


def test_folder_instead_of_a_file(folder: Path) -> None:
    Path("a.npy").mkdir()
    assert _only(SourceSpec("npy", "a.npy"), MATRIX).code == "FW4002"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_pipe_instead_of_a_file(folder: Path) -> None:
    os.mkfifo("a.svm")
    assert _only(SourceSpec("libsvm", "a.svm")).code == "FW4002"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="modes of POSIX, and root may read everything")
def test_permission(folder: Path) -> None:
    Path("a.csv").write_text("a\n1\n")
    Path("a.csv").chmod(0)
    assert _only(SourceSpec("csv", "a.csv")).code == "FW4003"


def test_system_refuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.npy").write_bytes(CONTENT["npy"])

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("fwdsl.readers.files._open", refuse)
    diagnostic = _only(SourceSpec("npy", "a.npy"), MATRIX)
    assert (diagnostic.code, diagnostic.message) == ("FW4003", "`a.npy` cannot be read: permission denied")
    assert diagnostic.hint == "check the file's permissions"


def test_memory_runs_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.svm").write_bytes(CONTENT["libsvm"])

    def exhaust(text: bytes, layout: object) -> None:
        raise MemoryError

    monkeypatch.setattr(libsvm, "parse_fast", exhaust)
    assert _only(SourceSpec("libsvm", "a.svm")).code == "FW4007"


@pytest.mark.parametrize("format", SOURCES)
def test_empty_file(folder: Path, format: str) -> None:
    path = f"file.{format}"
    Path(path).write_bytes(b"")
    diagnostic = _only(SourceSpec(format, path), MATRIX)
    assert (diagnostic.code, diagnostic.message) == ("FW4004", f"`{path}` is empty")


@pytest.mark.parametrize(("format", "text"), [("libsvm", "# only\n\n"), ("csv", "a,b\n\n"), ("csv", "\n \n")])
def test_file_without_rows(found: Callable[..., list[tuple[object, ...]]], format: str, text: str) -> None:
    assert found(format, text, MATRIX) == [("FW4004", None, None, None)]


def test_suffix_that_lies(folder: Path) -> None:
    Path("a.svm.gz").write_bytes(CONTENT["libsvm"])
    Path("b.svm").write_bytes(gzip.compress(CONTENT["libsvm"]))
    Path("c.svm.gz").write_bytes(lzma.compress(CONTENT["libsvm"]))
    plain = _only(SourceSpec("libsvm", "a.svm.gz"))
    assert (plain.code, plain.hint) == ("FW4005", "rename it without .gz if it is not compressed")
    packed = _only(SourceSpec("libsvm", "b.svm"))
    assert (packed.code, packed.hint) == ("FW4005", "rename it to `b.svm.gz`")
    other = _only(SourceSpec("libsvm", "c.svm.gz"))
    assert (other.code, other.hint) == ("FW4005", "rename it to end in .xz")


def test_lines_are_whole_whatever_the_block() -> None:
    text = b"\xef\xbb\xbfone\ntwo\r\n\nlast"
    for block in range(3, 20):
        chunks = list(lines(io.BytesIO(text), block))
        assert b"".join(chunks) == b"one\ntwo\r\n\nlast\n"
        assert all(chunk.endswith(b"\n") for chunk in chunks)


@pytest.mark.parametrize("text", [b"one\rtwo\r\rlast", b"one\rtwo\r\rlast\r", b"\xef\xbb\xbfone\rtwo\r\rlast\r"])
def test_lines_of_old_macs(text: bytes) -> None:
    for block in range(3, 20):
        chunks = list(lines(io.BytesIO(text), block))
        assert b"".join(chunks) == b"one\ntwo\n\nlast\n"
        assert all(chunk.endswith(b"\n") for chunk in chunks)


ON_OLD_MACS = {
    "csv": (b"a,b,y\r1,2,3\r4,5,6\r", (MATRIX, VECTOR), {"target": "y"}),
    "libsvm": (b"1 1:2 2:0.5\r-1 1:3\r", (MATRIX, VECTOR), {}),
    "mtx": (b"%%MatrixMarket matrix coordinate real general\r2 2 2\r1 1 5\r2 2 -1\r", (MATRIX,), {}),
    "coo": (b"row,column,value\r1,2,3.5\r2,2,4\r", (Role("M", "entries", (None, None)),), {}),
}


@pytest.mark.parametrize("format", ON_OLD_MACS)
def test_files_of_old_macs_are_read_as_others_are(folder: Path, format: str) -> None:
    text, roles, options = ON_OLD_MACS[format]
    found = []
    for name, content in (("mac", text), ("unix", text.replace(b"\r", b"\n"))):
        Path(f"{name}.{format}").write_bytes(content)
        arrays, diagnostics = read(SourceSpec(format, f"{name}.{format}", options), roles)
        assert diagnostics == ()
        parts = [getattr(a, "toarray", lambda a=a: a)() for a in arrays.values() if not isinstance(a, Triplets)]
        triplets = [x for a in arrays.values() if isinstance(a, Triplets) for x in (a.rows, a.columns, a.values)]
        found.append([np.asarray(part).tolist() for part in (*parts, *triplets)])
    assert found[0] == found[1] and found[0]


@pytest.mark.parametrize("format", ["csv", "coo"])
def test_a_carriage_return_within_a_line(found: Callable[..., list[tuple[object, ...]]], format: str) -> None:
    role = Role("M", "entries", (None, None)) if format == "coo" else MATRIX
    assert found(format, b"a,b,c\n4,5\r6,7\n", role) == [("FW4035", 2, None, None)]


def test_at_most_twenty_findings(found: Callable[..., list[tuple[object, ...]]]) -> None:
    assert found("libsvm", "1 1:nan\n" * 30) == [("FW4021", row, 1, "nan") for row in range(1, 21)]


def test_a_column_of_text_is_told_of_three_rows_and_hides_nothing(folder: Path) -> None:
    spec = SourceSpec("csv", "a.csv", {"target": "y"})
    Path("a.csv").write_text("a,b,y\n" + "red,1,2\n" * 30 + "red,nan,2\n")
    _, diagnostics = read(spec, (MATRIX, VECTOR))
    assert [(d.code, d.place.row) for d in diagnostics if d.place] == [
        *(("FW4020", row) for row in (2, 3, 4)),
        ("FW4021", 32),
    ]
    assert diagnostics[2].message.endswith("; 28 more are like it")
    Path("a.csv").write_text("a,b,y\n" + "red,1,2\n" * 5000)
    _, diagnostics = read(spec, (MATRIX, VECTOR))
    assert diagnostics[2].message.endswith("; at least 997 more are like it")


def test_values_in_messages_are_short_and_printable() -> None:
    assert (
        findings.shown("a\x00b\n" + "c" * 50)
        == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}" + "c" * 33 + "..."
    )


def test_every_code_has_an_entry() -> None:
    folder = Path(findings.__file__).parent
    codes = {code for file in folder.glob("*.py") for code in re.findall(r'"(FW\d{4})"', file.read_text("utf-8"))}
    assert len(codes) > 40
    assert {code for code in codes if lookup(code) is None} == set()


def test_unknown_format_is_a_programming_error() -> None:
    with pytest.raises(KeyError, match="arff"):
        read(SourceSpec("arff", "a.arff"), (MATRIX,))


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import fwdsl.readers.sources, fwdsl.readers.read", {"numpy", "scipy", "numba", "lark", "rich"}),
        (
            "import fwdsl.readers.csv_table, fwdsl.readers.npy, fwdsl.readers.mtx, fwdsl.readers.libsvm",
            {"scipy", "numba", "lark"},
        ),
    ],
)
def test_imports_are_light(statement: str, absent: set[str]) -> None:
    code = f"import sys; {statement}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "fwdsl.readers" in loaded.split()
    assert absent & set(loaded.split()) == set()


def test_reading_holds_little_more_than_it_returns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.lines, "__defaults__", (1 << 16,))
    rng = np.random.default_rng(0)
    text = "".join(
        f"{1 + i % 2} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(row, 1)) + "\n"
        for i, row in enumerate(rng.standard_normal((4000, 50)).tolist())
    )
    Path("a.svm").write_text(text)
    read(SourceSpec("libsvm", "a.svm"), (MATRIX,))  # imports are not counted
    tracemalloc.start()
    arrays, _ = read(SourceSpec("libsvm", "a.svm"), (MATRIX, VECTOR))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    matrix = arrays["X"]
    returned = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes + arrays["y"].nbytes
    assert returned > 2_400_000
    assert peak < 2.5 * returned


def test_a_sparse_archive_is_read_into_its_place(folder: Path) -> None:
    scipy.sparse.save_npz("X.npz", scipy.sparse.random_array((4000, 2000), density=0.2, rng=0, format="csr"), False)
    read(SourceSpec("npz", "X.npz"), (MATRIX,))  # imports are not counted
    tracemalloc.start()
    arrays, _ = read(SourceSpec("npz", "X.npz"), (MATRIX,))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    matrix = arrays["X"]
    assert peak < 1.5 * (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def test_a_python_without_lzma_says_so(tmp_path: Path, root: Path) -> None:
    (tmp_path / "b.csv.xz").write_bytes(b"\xfd7zXZ\x00")
    (tmp_path / "a.fw").write_text(
        'data b: vector[n] from csv("b.csv.xz")\nvar x: vector[n]\nminimize sum_squares(x - b)\n'
    )
    code = (
        "import sys; sys.modules['lzma'] = sys.modules['_lzma'] = None\n"
        f"from fwdsl.cli.app import run\nraise SystemExit(run(['run', {str(tmp_path / 'a.fw')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error[FW4005]" in done.stderr and "this Python was built without `lzma`" in done.stderr
