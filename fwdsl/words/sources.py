"""The data sources. Their readers are in `fwdsl.readers`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .base import Parameter


@dataclass(frozen=True, slots=True)
class SourceWord:
    """A data source: its arguments, and how many names it may serve.

    "table": a matrix and a target, or either; "one": one name; "many": any number, by key; "entries": one `entries`.
    """

    parameters: tuple[Parameter, ...]
    serves: Literal["table", "one", "many", "entries"]


_PATH = Parameter("path", "path")
_TARGET = Parameter("target", "column", optional=True)
_COLUMNS = Parameter("columns", "columns", optional=True)
_BASE = Parameter("base", "base", optional=True)

SOURCES: dict[str, SourceWord] = {
    "libsvm": SourceWord(
        (
            _PATH,
            Parameter("features", "count", optional=True),
            Parameter("multilabel", "boolean", optional=True),
            _BASE,
        ),
        "table",
    ),
    "csv": SourceWord((_PATH, _TARGET, _COLUMNS, Parameter("header", "boolean", optional=True)), "table"),
    "npy": SourceWord((_PATH,), "one"),
    "npz": SourceWord((_PATH, Parameter("key", "string", optional=True)), "many"),
    "mtx": SourceWord((_PATH,), "one"),
    "parquet": SourceWord((_PATH, _TARGET, _COLUMNS), "table"),
    "coo": SourceWord((_PATH, _BASE), "entries"),
}
