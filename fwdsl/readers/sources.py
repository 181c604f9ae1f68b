"""The sources of data: formats, their options, and the command line's `--data`, `--set` and `--dim`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from ..diagnostics.secrets import masked
from ..grammar.diagnostic import Diagnostic
from ..words import SOURCES

COMPRESSIONS = (".gz", ".bz2", ".xz")
_SLASHES = "/" if os.sep == "/" else "/" + os.sep

_URL = re.compile(r"(?:[A-Za-z][\w+.-]*::)*[A-Za-z][A-Za-z0-9+.-]+://")  # one letter is a drive
_TOLD = 3
"""Paths of a list that messages name."""

_QUERY = re.compile(r"[?#].*|\Z", re.DOTALL)
_VERSION = re.compile(r"\?versionId=.*|\Z", re.DOTALL)


@dataclass(frozen=True)
class SourceSpec:
    """A source: `libsvm("a9a.svm", features=123)` is `SourceSpec("libsvm", "a9a.svm", {"features": 123})`.

    `format` is empty where a `--data` names a file whose suffix does not tell it; the format of the declared source is then
    taken. `inferred` says that only the suffix tells the format: if the declared file has the same suffix, its declared
    format is taken. `listed` are the paths of a list, whose rows stand under each other in this order; `path` then tells it in messages.
    """

    format: str
    path: str
    options: Mapping[str, object] = field(default_factory=dict, hash=False)
    inferred: bool = field(default=False, compare=False)
    listed: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths: of files, folders, patterns and URLs."""
        return self.listed or (self.path,)


def of_list(paths: Sequence[str], format_name: str = "", options: Mapping[str, object] | None = None) -> SourceSpec:
    """The source of a list of paths, of the format of their suffixes; of one path it is the source of that."""
    known = {infer_format(path) or "" for path in paths}
    found = format_name or (known.pop() if len(known) == 1 else "")
    if len(paths) == 1:
        return SourceSpec(found, paths[0], options or {}, inferred=not format_name)
    more = f", ... ({len(paths):,} in all)" if len(paths) > _TOLD else ""
    told = ", ".join(map(without_secrets, paths[:_TOLD])) + more
    return SourceSpec(found, told, options or {}, not format_name, tuple(paths))


def is_url(path: str) -> bool:
    """True of `https://host/a.csv`, `s3://bucket/part-*.parquet`, `filecache::https://host/a.csv`."""
    return _URL.match(path) is not None


def is_web(url: str) -> bool:
    """True of a URL that is read by HTTP."""
    return re.match(r"(?:\w+::)*https?://", url, re.IGNORECASE) is not None


def file_part(path: str) -> str:
    """A path, or a URL up to its query: what ends in the file's name."""
    if not is_url(path):
        return path
    first = next((part for part in path.split("::") if "://" in part), path)
    return (_QUERY if is_web(first) else _VERSION).sub("", first, count=1)


def without_secrets(path: str) -> str:
    """A URL as messages and records tell it: without passwords, keys and signatures."""
    return masked(path) if is_url(path) else path


def compression(path: str) -> str:
    """The compression's suffix (`.gz`, `.bz2`, `.xz`), or nothing."""
    lower = file_part(path).lower()
    return next((s for s in COMPRESSIONS if lower.endswith(s)), "")


def infer_format(path: str) -> str | None:
    """The format of a file or folder by its suffix (`a.svm.gz` is libsvm), or None: `.txt` and the like could be anything."""
    return next((name for name, word in SOURCES.items() if has_suffix(path, word.suffixes)), None)


def has_suffix(path: str, suffixes: tuple[str, ...]) -> bool:
    """True if a path ends in one of the suffixes, compressed or not."""
    stem = file_part(path).lower().rstrip(_SLASHES)
    return stem[: len(stem) - len(compression(stem))].endswith(suffixes)


# --- the command line ----------------------------------------------------------------------------------------------

_NAME = re.compile(r"[^\W\d]\w*\Z")
_NAME_FIRST = re.compile(r"\s*([^\W\d]\w*)")
_DIGITS = r"\d+(?:_\d+)*"
_NUMBER = re.compile(rf"-?(?:inf|(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?\d+)?)\Z", re.ASCII)
_INTEGER = re.compile(rf"{_DIGITS}\Z", re.ASCII)
_KEYED = [s for word in SOURCES.values() if any(p.name == "key" for p in word.parameters) for s in word.suffixes]
_WITH_KEY = re.compile(
    rf"(?P<path>.*(?:{'|'.join(map(re.escape, _KEYED))})(?:{'|'.join(map(re.escape, COMPRESSIONS))})?/?):(?P<key>.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_LIST = re.compile(r"\[(?P<paths>[^\[\]]*)\](?::(?P<key>.+))?\Z", re.DOTALL)
_PREFIX = re.compile(
    r"(?P<format>[A-Za-z][A-Za-z0-9_]+):(?P<path>(?!//|:).*)\Z", re.DOTALL
)  # one letter is a drive, not a format, and what is before `://` or `::` begins a URL

_DATA_RULE = "`--data` takes a name, or names separated by commas, then `=` and a file."
_DATA_HINT = "write `--data X,y=train.svm`, `--data X,y=libsvm:train.txt`, `--data A=arrays.npz:key` or `--data X,y=[a.svm,b.svm]`"


def parse_data_argument(text: str) -> tuple[tuple[str, ...], SourceSpec] | Diagnostic:
    """Parse `X,y=libsvm:PATH`, `A=f.npz:key` or `NAME=PATH` into the names and the source.

    A format before a colon wins over the suffix. Where neither tells the format, it is empty (see `unknown_format`).
    """
    left, equals, path = text.partition("=")
    if not equals:
        return Diagnostic(
            "FW0100", f"`--data {text}` has no `=` between the name and the file", rule=_DATA_RULE, hint=_DATA_HINT
        )
    names = tuple(part.strip() for part in left.split(","))
    for name in names:
        if not _NAME.match(name):
            return _bad_name("--data", text, name)
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        return Diagnostic(
            "FW0102",
            f"`--data {text}` gives `{twice}` twice",
            rule="Each name is served once.",
            hint=f"write `{twice}` once",
        )
    format_name, path = _split_format(path)
    if format_name and format_name not in SOURCES:
        return _no_such_format(text, format_name, path)
    options: dict[str, object] = {}
    listed = _LIST.match(path)
    if listed and not os.path.exists(path):
        members = [part.strip() for part in listed["paths"].split(",")]
        if listed["key"]:
            options["key"] = listed["key"]
        if all(members):
            return names, of_list(members, format_name, options)
        path = ""
    with_key = _WITH_KEY.match(path)
    if with_key and format_name in ("", infer_format(with_key["path"])):
        path = with_key["path"]
        format_name = str(infer_format(path))
        options["key"] = with_key["key"]
    if not path:
        return Diagnostic("FW0103", f"`--data {text}` names no file", rule=_DATA_RULE, hint=_DATA_HINT)
    return names, SourceSpec(format_name or infer_format(path) or "", path, options, inferred=not format_name)


def unknown_format(names: tuple[str, ...], path: str) -> Diagnostic:
    """The error for a file whose format neither a prefix, nor the suffix, nor the program tells."""
    written = ",".join(names)
    held = _held_in(path)
    known = f"write the format, as in `--data {written}={held or 'libsvm'}:{path}`"
    others = "" if held else f"; the formats are {', '.join(SOURCES)}"
    table = os.path.splitext(path)[1].lower() in _NO_FORMAT
    return Diagnostic(
        "FW0105",
        f"the suffix of `{path}` does not tell its format"
        if not table
        else f"`{path}` is of a format that is not read",
        rule="A file's format is told by its suffix, by the program's `from`, or by a format before a colon.",
        hint=f"write it as csv, as pandas does by `to_csv(path, index=False)`{others}" if table else f"{known}{others}",
    )


_NO_FORMAT = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".xls",
    ".xlsx",
    ".ods",
    ".pkl",
    ".pickle",
    ".rds",
    ".sas7bdat",
    ".dta",
    ".sav",
)
"""Suffixes of tables that are not read."""


def _held_in(path: str) -> str:
    """The format of the first file in a folder that has one by its suffix."""
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return ""
    return next((found for name in names if (found := infer_format(name))), "")


def parse_set_argument(text: str) -> tuple[str, object] | Diagnostic:
    """Parse `delta=3` into `("delta", 3.0)`, `w=[1, 2]` into `("w", [1.0, 2.0])` and `w=w.npy` into `("w", SourceSpec(...))`.

    Numbers are written as in the language, with a sign if need be.
    """
    parts = _assignment("FW0110", "--set", text, "parameter", "value", "a number", "3")
    if isinstance(parts, Diagnostic):
        return parts
    name, number = parts
    if number.startswith("["):
        return _parse_list(text, name, number)
    if not _NUMBER.match(number) and (infer_format(number) or _split_format(number)[0] in SOURCES):
        spec = parse_data_argument(f"{name}={number}")
        return spec if isinstance(spec, Diagnostic) else (name, spec[1])
    if not _NUMBER.match(number):
        return Diagnostic(
            "FW0111",
            f"`{number}` in `--set {text}` is not a number"
            if number
            else f"`--set {text}` has no number after the `=`",
            rule="A parameter's value on the command line is a plain number, a list of numbers or a file; expressions are not evaluated.",
            hint=f"write a number as programs do: `--set {name}=3`, `--set {name}=1e-3` or `--set {name}=1_000`; "
            f"a vector as `--set {name}=[1,2,3]` or `--set {name}=FILE.npy`",
        )
    return name, float(number)


def _parse_list(text: str, name: str, written: str) -> tuple[str, object] | Diagnostic:
    """Numbers in square brackets, and rows of them."""
    import json

    try:
        value = json.loads(written)
        numbers = value if not any(isinstance(v, list) for v in value) else [n for row in value for n in row]
        if value and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
            return name, value
    except (ValueError, TypeError):
        pass
    return Diagnostic(
        "FW0111",
        f"`{written}` in `--set {text}` is not a list of numbers",
        rule="A vector is written as numbers in square brackets, a matrix as its rows.",
        hint=f"write `--set {name}=[1,2,3]`, or `--set {name}=[[1,0],[0,2]]` for a matrix",
    )


def parse_dim_argument(text: str, option: str = "--dim") -> tuple[str, int] | Diagnostic:
    """Parse `k=5` into `("k", 5)`; a dimension is a whole number from 1."""
    parts = _assignment("FW0120", option, text, "dimension", "size", "a whole number", "5")
    if isinstance(parts, Diagnostic):
        return parts
    name, number = parts
    # More digits than Python converts by default are no dimension either.
    if not _INTEGER.match(number) or len(number) > 30 or not 1 <= int(number) < 2**63:
        return Diagnostic(
            "FW0121",
            f"`{number}` in `{option} {text}` is not a dimension"
            if number
            else f"`{option} {text}` has no size after the `=`",
            rule="A dimension is a whole number, at least 1.",
            hint=f"write `{option} {name}=5`",
        )
    return name, int(number)


def _assignment(
    code: str, option: str, text: str, what: str, value: str, number: str, usual: str
) -> tuple[str, str] | Diagnostic:
    """The two sides of `NAME=NUMBER`."""
    name, equals, right = (part.strip() for part in text.partition("="))
    if not equals:
        begun = _NAME_FIRST.match(text)
        example = f"{begun[1] if begun else 'NAME'}={usual}"
        return Diagnostic(
            code,
            f"`{option} {text}` has no `=` between the {what} and its {value}",
            rule=f"`{option}` takes a {what}'s name, `=` and {number}.",
            hint=f"write `{option} {example}`",
        )
    return (name, right) if _NAME.match(name) else _bad_name(option, text, name)


def _split_format(path: str) -> tuple[str, str]:
    """The format and the path of `libsvm:PATH`; no format where the text before the colon is part of a path."""
    match = _PREFIX.match(path)
    return (match["format"], match["path"]) if match else ("", path)


def _bad_name(option: str, text: str, name: str) -> Diagnostic:
    found = f"`{name}` in `{option} {text}` is not a name" if name else f"a name is missing in `{option} {text}`"
    return Diagnostic(
        "FW0101",
        found,
        rule="A name is made of letters, digits and `_`, and does not start with a digit.",
        hint="write the name as the program declares it",
    )


def _no_such_format(text: str, format_name: str, path: str) -> Diagnostic:
    close = get_close_matches(format_name.lower(), SOURCES, n=1)
    meant = f"did you mean `{close[0]}:{path}`? " if close else ""
    return Diagnostic(
        "FW0104",
        f"`{format_name}` in `--data {text}` is not a format",
        rule=f"The formats are {', '.join(SOURCES)}.",
        hint=f"{meant}a file's name that has a colon is written with its folder, as in `./{format_name}:{path}`",
    )
