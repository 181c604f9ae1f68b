"""Formats by suffix, and the command line's `--data`, `--set` and `--dim`."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from fwdsl.diagnostics.catalogue import lookup
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.readers.read import _reader
from fwdsl.readers.sources import (
    SourceSpec,
    infer_format,
    parse_data_argument,
    parse_dim_argument,
    parse_set_argument,
    unknown_format,
)
from fwdsl.words import SOURCES


@pytest.mark.parametrize("packed", ["", ".gz", ".bz2", ".xz", ".GZ"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.svm", "libsvm"),
        ("dir.csv/a.libsvm", "libsvm"),
        ("a.csv", "csv"),
        ("a.NPY", "npy"),
        ("a.npz", "npz"),
        ("a.mtx", "mtx"),
        ("a.coo", "coo"),
        ("a.txt", None),
        ("csv", None),
        ("a", None),
    ],
)
def test_format_by_suffix(name: str, packed: str, expected: str | None) -> None:
    assert infer_format(name + packed) == expected


def test_every_format_has_its_reader_and_suffixes_of_its_own() -> None:
    suffixes = [suffix for word in SOURCES.values() for suffix in word.suffixes]
    assert all(callable(_reader(name)) for name in SOURCES)
    assert len(suffixes) == len(set(suffixes)) >= len(SOURCES)


@pytest.mark.parametrize(
    ("text", "names", "spec"),
    [
        ("A=a.npy", ("A",), SourceSpec("npy", "a.npy")),
        ("X,y=train.svm", ("X", "y"), SourceSpec("libsvm", "train.svm")),
        (" X , y =train.svm.xz", ("X", "y"), SourceSpec("libsvm", "train.svm.xz")),
        ("X,y=libsvm:PATH", ("X", "y"), SourceSpec("libsvm", "PATH")),
        ("X,y=libsvm:odd.csv", ("X", "y"), SourceSpec("libsvm", "odd.csv")),
        ("A=f.npz:key", ("A",), SourceSpec("npz", "f.npz", {"key": "key"})),
        ("A=npz:f.npz.gz:a:b", ("A",), SourceSpec("npz", "f.npz.gz", {"key": "a:b"})),
        ("A=f.npz", ("A",), SourceSpec("npz", "f.npz")),
        ("y=labels.txt", ("y",), SourceSpec("", "labels.txt")),
        ("y=a=b.csv", ("y",), SourceSpec("csv", "a=b.csv")),
        ("y=C:\\data\\y.csv", ("y",), SourceSpec("csv", "C:\\data\\y.csv")),
        ("y=./odd:name.csv", ("y",), SourceSpec("csv", "./odd:name.csv")),
        ("ß_1=a.npy", ("ß_1",), SourceSpec("npy", "a.npy")),
    ],
)
def test_data_argument(text: str, names: tuple[str, ...], spec: SourceSpec) -> None:
    assert parse_data_argument(text) == (names, spec)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("train.svm", "FW0100", "`--data train.svm` has no `=` between the name and the file"),
        ("1x=a.npy", "FW0101", "`1x` in `--data 1x=a.npy` is not a name"),
        ("X,=a.svm", "FW0101", "a name is missing in `--data X,=a.svm`"),
        ("=a.svm", "FW0101", "a name is missing in `--data =a.svm`"),
        ("X,X=a.svm", "FW0102", "`--data X,X=a.svm` gives `X` twice"),
        ("X=", "FW0103", "`--data X=` names no file"),
        ("X=csv:", "FW0103", "`--data X=csv:` names no file"),
        ("X,y=libsvn:a", "FW0104", "`libsvn` in `--data X,y=libsvn:a` is not a format"),
    ],
)
def test_data_argument_refused(text: str, code: str, message: str) -> None:
    result = parse_data_argument(text)
    assert isinstance(result, Diagnostic)
    assert (result.code, result.message) == (code, message)
    assert result.rule and result.hint
    assert lookup(code) is not None


def test_misspelt_format_is_proposed() -> None:
    result = parse_data_argument("X,y=libsvn:a")
    assert isinstance(result, Diagnostic)
    assert result.hint.startswith("did you mean `libsvm:a`?")


def test_what_is_told_of_folders_and_of_tables_that_are_not_read(tmp_path: Path) -> None:
    assert "libsvm" in unknown_format(("X",), str(tmp_path)).hint  # an empty one
    (tmp_path / "part-0.parquet").touch()
    assert unknown_format(("X", "y"), str(tmp_path)).hint.endswith(f"`--data X,y=parquet:{tmp_path}`")
    result = unknown_format(("X", "y"), "train.jsonl")
    assert "not read" in result.message and "to_csv(path, index=False)" in result.hint and "libsvm:" not in result.hint


def test_unknown_format_says_how_to_give_it() -> None:
    result = unknown_format(("X", "y"), "train.txt")
    assert result.code == "FW0105"
    assert "`--data X,y=libsvm:train.txt`" in result.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("delta=3", ("delta", 3.0)),
        ("delta = 1_000.5", ("delta", 1000.5)),
        ("delta=1e-3", ("delta", 1e-3)),
        ("delta=.5", ("delta", 0.5)),
        ("delta=-2", ("delta", -2.0)),
        ("delta=inf", ("delta", math.inf)),
        ("delta=-inf", ("delta", -math.inf)),
    ],
)
def test_set_argument(text: str, expected: tuple[str, float]) -> None:
    assert parse_set_argument(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("delta", "FW0110", "`--set delta` has no `=` between the parameter and its value"),
        ("2=3", "FW0101", "`2` in `--set 2=3` is not a name"),
        ("delta=10/3", "FW0111", "`10/3` in `--set delta=10/3` is not a number"),
        ("delta=", "FW0111", "`--set delta=` has no number after the `=`"),
        ("delta=nan", "FW0111", "`nan` in `--set delta=nan` is not a number"),
        ("delta=1__0", "FW0111", "`1__0` in `--set delta=1__0` is not a number"),
        ("delta=0x10", "FW0111", "`0x10` in `--set delta=0x10` is not a number"),
        ("delta=٣", "FW0111", "`٣` in `--set delta=٣` is not a number"),
    ],
)
def test_set_argument_refused(text: str, code: str, message: str) -> None:
    result = parse_set_argument(text)
    assert isinstance(result, Diagnostic)
    assert (result.code, result.message) == (code, message)
    assert lookup(code) is not None


@pytest.mark.parametrize(
    ("text", "name"), [("mu", "mu"), ("mu 3", "mu"), (" rho: 2", "rho"), ("3", "NAME"), ("", "NAME")]
)
def test_help_for_an_argument_without_a_sign_is_in_its_own_words(text: str, name: str) -> None:
    for parse, usual in ((parse_set_argument, f"`--set {name}=3`"), (parse_dim_argument, f"`--dim {name}=5`")):
        result = parse(text)
        assert isinstance(result, Diagnostic) and result.hint == f"write {usual}"


def test_dim_argument() -> None:
    assert parse_dim_argument("k=5") == ("k", 5)
    assert parse_dim_argument(" k = 1_000 ") == ("k", 1000)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("k", "FW0120"),
        ("5=k", "FW0101"),
        ("k=", "FW0121"),
        ("k=0", "FW0121"),
        ("k=-1", "FW0121"),
        ("k=1e3", "FW0121"),
        ("k=2.0", "FW0121"),
        ("k=" + "9" * 5000, "FW0121"),
    ],
)
def test_dim_argument_refused(text: str, code: str) -> None:
    result = parse_dim_argument(text)
    assert isinstance(result, Diagnostic)
    assert result.code == code
    assert lookup(code) is not None
