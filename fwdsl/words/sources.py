"""The data sources. Their readers are in `fwdsl.readers`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import Parameter


@dataclass(frozen=True, slots=True)
class SourceWord:
    """A data source: its reader (a module and a function of `fwdsl.readers`), the suffixes of its files, its arguments, how many names it may serve.

    "table": a matrix and a target, or either; "one": one name; "many": any number, by key; "entries": one `entries`.
    """

    reader: tuple[str, str]
    suffixes: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    serves: Literal["table", "one", "many", "entries"]
    meaning: str = ""
    #: Its matrices are read as sparse ones.
    sparse: bool = False
    #: Folders `name=value` of its files tell columns of them.
    in_folders: bool = False
    #: A folder with its suffix is one source, not the files in it.
    is_folder: bool = False


def _base(meaning: str) -> Parameter:
    return Parameter("base", "base", optional=True, meaning=meaning)


_PATH = Parameter("path", "path")
_TARGET = Parameter("target", "column", optional=True, meaning="the name or position from 0 of the target")
_COLUMNS = Parameter(
    "columns", "columns", optional=True, meaning="names or positions of the matrix, categories as `onehot(column)`"
)
_SEP = Parameter("sep", "separator", optional=True, meaning='the separator, `","` unless told')
_DECIMAL = Parameter(
    "decimal", "decimal", optional=True, meaning='`","` for decimal commas, between `;` unless `sep` tells'
)
_KEY = Parameter("key", "string", optional=True, meaning="the declared name unless given")
_MISSING = Parameter("missing", "missing", optional=True, meaning='`"drop"` leaves out rows without a value')

SOURCES: dict[str, SourceWord] = {
    "libsvm": SourceWord(
        ("libsvm", "read_libsvm"),
        (".svm", ".libsvm", ".svmlight"),
        (
            _PATH,
            Parameter("features", "count", optional=True, meaning="the number of columns"),
            Parameter("multilabel", "boolean", optional=True, meaning="`true` where the labels of a row are a set"),
            _base("the first index, 1 unless 0 is given"),
        ),
        "table",
        sparse=True,
    ),
    "csv": SourceWord(
        ("csv_table", "read_csv"),
        (".csv", ".tsv"),
        (
            _PATH,
            _TARGET,
            _COLUMNS,
            Parameter("header", "boolean", optional=True, meaning="`false` for a file without"),
            _SEP,
            _DECIMAL,
            _MISSING,
        ),
        "table",
    ),
    "npy": SourceWord(("npy", "read_npy"), (".npy",), (_PATH,), "one"),
    "npz": SourceWord(
        ("npy", "read_npz"),
        (".npz",),
        (_PATH, _KEY),
        "many",
    ),
    "mat": SourceWord(("keyed", "read_mat"), (".mat",), (_PATH, _KEY), "many", "MATLAB's, of versions 4 to 7"),
    "hdf5": SourceWord(("keyed", "read_hdf5"), (".h5", ".hdf5"), (_PATH, _KEY), "many", "extra `hdf5`"),
    "zarr": SourceWord(
        ("keyed", "read_zarr"), (".zarr",), (_PATH, _KEY), "many", "a folder, extra `zarr`", is_folder=True
    ),
    "mtx": SourceWord(("mtx", "read_mtx"), (".mtx",), (_PATH,), "one", sparse=True),
    "parquet": SourceWord(
        ("parquet", "read_parquet"),
        (".parquet", ".pq"),
        (_PATH, _TARGET, _COLUMNS, _MISSING),
        "table",
        "extra `parquet`",
        in_folders=True,
    ),
    "feather": SourceWord(
        ("parquet", "read_feather"),
        (".feather", ".arrow"),
        (_PATH, _TARGET, _COLUMNS, _MISSING),
        "table",
        "extra `parquet`",
        in_folders=True,
    ),
    "coo": SourceWord(
        ("coo", "read_coo"),
        (".coo",),
        (
            _PATH,
            Parameter(
                "columns",
                "columns",
                optional=True,
                meaning="names or positions of row, column and value, where lines have more",
            ),
            _SEP,
            _DECIMAL,
            _base("the first index, 0 unless 1 is given"),
        ),
        "entries",
        "a row, a column and a value on each line",
    ),
}
