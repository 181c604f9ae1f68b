"""The bindings that a user supplies for a program, the check of their names, and the value of each datum."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..grammar import tree
from ..grammar.diagnostic import Diagnostic, Place
from ..grammar.source import Span
from ..light_dataclass import light_dataclass
from ..model import DataDecl, Model, ParamDecl
from ..readers.cache_folder import DiskFull, no_room
from ..readers.categories import Mixed, Selector
from ..readers.frames import NotPulled, cells, column_names, gives_blocks, has_blocks, in_memory, match, numeric, select
from ..readers.sources import SourceSpec, infer_format, is_url, of_list, unknown_format, without_secrets
from ..words import SOURCES
from .findings import Findings
from .tables import has_categories, levels_of, selector_of, table

T = TypeVar("T")

BIND = "bind({}=...)"
"""The way in which Python gives values to a problem."""


@dataclass(frozen=True)
class Bindings:
    """Values and sources that replace what a program declares.

    data: Python values by the name of a datum, parameter or dimension; sources: the names and the source of each `--data`;
    params: `--set`; dims: `--dim`; labels: by the name of a datum, the label values of an earlier fit in order of code.
    New data may have no other labels, and need not have all of them. `of_fit` says that `dims` are the sizes of that fit. `memory` are the bytes that
    the process may take: larger matrices in files stay there, and are read by ranges of their rows (`fwdsl.readers.row_blocks`). `held` says that
    workers are to hold the rows: what is given in blocks is never in memory as a whole. `entries_stay` says that observed entries may go into files
    which these read. `given` is how `data` are given, in words: a text with a place for the name.
    """

    data: Mapping[str, object] = field(default_factory=dict)
    sources: tuple[tuple[tuple[str, ...], SourceSpec], ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    of_fit: bool = False
    memory: int | None = None
    held: bool = False
    entries_stay: bool = False
    given: str = BIND

    def how(self, name: str) -> str:
        """The way in which a value of `data` is given."""
        return self.given.format(name)

    @property
    def stays(self) -> int | None:
        """The bytes up to which a matrix is read into memory; None for any."""
        if self.memory is not None:
            return self.memory // SHARE
        return HELD_STAYS if self.held else None

    def merge(self, other: Bindings) -> Bindings:
        """Join both bindings. A name in both gets the value of `other`."""
        served = {name for names, _ in other.sources for name in names}
        again = served | set(other.data) | set(other.params) | set(other.dims)
        return Bindings(
            {**_without(self.data, again), **other.data},
            self.sources + other.sources,
            {**_without(self.params, again), **other.params},
            {**_without(self.dims, again), **other.dims},
            {**self.labels, **other.labels},
            self.of_fit or other.of_fit,
            self.memory if other.memory is None else other.memory,
            self.held or other.held,
            self.entries_stay or other.entries_stay,
            self.given if other.given == BIND else other.given,
        )


def bind_python(call: str = "bind", /, **values: object) -> Bindings:
    """The bindings of Python's `bind(X=..., delta=3.0)`, or of another `call`: a name is that of a datum, a parameter or a dimension."""
    return Bindings(data=dict(values), given=f"{call}({{}}=...)")


def _without(values: Mapping[str, T], names: set[str]) -> dict[str, T]:
    return {name: value for name, value in values.items() if name not in names}


DECLARED = "the declaration"
"""The origin of a value that the program's text gives: a literal, or the default of a parameter."""


def supplied_names(bindings: Bindings) -> list[str]:
    """Every name that the user gives, in any way."""
    names = [*bindings.data, *(n for names, _ in bindings.sources for n in names), *bindings.params, *bindings.dims]
    return list(dict.fromkeys(names))


def describe_supplied(bindings: Bindings) -> str:
    """The list of given names, for messages about missing values."""
    unique = supplied_names(bindings)
    return f"given were {', '.join(f'`{n}`' for n in unique)}" if unique else "nothing was given"


def check_names(model: Model, bindings: Bindings, known_dims: Sequence[str], findings: Findings) -> None:
    """Note given names that the program does not declare, or declares as another kind of thing."""
    data = [d.name for d in model.data]
    params = [p.name for p in model.params]
    # The names that each way accepts. Python's `bind` accepts all three kinds.
    ways: list[tuple[str, list[str], list[str]]] = [
        (bindings.given, list(bindings.data), [*data, *params, *known_dims]),
        ("--data {}", [n for names, _ in bindings.sources for n in names], data),
        ("--set {}", list(bindings.params), params),
        ("--dim {}", list(bindings.dims), list(known_dims)),
    ]
    if all(name in allowed for _, names, allowed in ways for name in names):
        return
    instead = {v.name: "a variable: leave it out, as its value is what is found" for v in model.variables}
    instead |= {n: f"a dimension: write `--dim {n}=5`" for n in known_dims}
    instead |= {n: f"a parameter: write `--set {n}=3`" for n in params}
    instead |= {n: f"data: write `--data {n}=PATH`" for n in data}
    declared = "; ".join(
        f"{word} {', '.join(f'`{n}`' for n in names)}"
        for word, names in (("data", data), ("parameters", params), ("dimensions", list(known_dims)))
        if names
    )
    spans: dict[str, Span] = {d.name: d.span for d in model.data}
    spans.update((p.name, p.span) for p in model.params)
    spans.update((v.name, v.span) for v in model.variables)
    for way, names, allowed in ways:
        for name in dict.fromkeys(names):
            if name in allowed:
                continue
            text = f"`{way.format(name)}`"
            if name in instead:
                kind, _, remedy = instead[name].partition(": ")
                findings.add(
                    "FW4503",
                    f"{text} gives `{name}`, which is {kind}",
                    span=spans.get(name),
                    rule="Data are given with `--data`, parameters with `--set`, dimensions with `--dim`.",
                    hint=remedy,
                )
                continue
            close = _similar(name, allowed)
            findings.add(
                "FW4500",
                f"{text} gives `{name}`, which the program does not declare",
                rule=f"Only what a program declares can be given: {declared or 'nothing here'}.",
                hint=f"did you mean `{close}`?" if close else "",
            )


def _similar(name: str, allowed: Sequence[str]) -> str:
    """A hint with the declared name that was most likely meant, or nothing."""
    other_case = [n for n in allowed if n.casefold() == name.casefold()]
    close = other_case or get_close_matches(name, allowed, n=1, cutoff=0.7)
    return close[0] if close else ""


@light_dataclass
class RawDatum:
    """The value of a datum before its conversion. `origin` says where it comes from, and `place` is its file, if it has one.

    `located` says that rows and columns of the array are those of the file. `labels` holds the values that an earlier fit
    knows, and `header` the names of a table's columns. `pulled` has what is known of the files at a URL. `files` are those whose rows stand
    under each other, each with their number.
    """

    decl: DataDecl
    raw: Any
    origin: str
    place: Place | None = None
    located: bool = False
    labels: tuple[Any, ...] | None = None
    header: tuple[str, ...] = ()
    pulled: tuple[Mapping[str, object], ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    def in_file(self, position: Sequence[int]) -> tuple[str, tuple[int, ...]]:
        """The file of an entry, and its position there."""
        row = position[0] if position else 0
        for file, rows in self.files:
            if row < rows:
                return file, (row, *position[1:])[: len(position)]
            row -= rows
        return self.place.file if self.place is not None else "", tuple(position)

    def at(self, position: Sequence[int]) -> str:
        """An entry in words: `X[3, 2]` counted from 0, or row and column counted from 1 where it was read from a file."""
        if self.place is None or not position:
            if not position:
                return f"`{self.decl.name}`"
            column = f" of column `{self.header[position[1]]}`" if self.header and len(position) == 2 else ""
            return f"`{self.decl.name}[{', '.join(map(str, position))}]`{column}"
        parts = [f"{word} {i + 1}" for word, i in zip(("row", "column"), self.in_file(position)[1], strict=False)]
        return f"{', '.join(parts)} of `{self.decl.name}`"

    def place_of(self, position: Sequence[int], value: object = None) -> Place | None:
        if self.place is None:
            return None
        shown = None if value is None else str(value)
        file, position = self.in_file(position)
        if not self.located or not 1 <= len(position) <= 2:
            return Place(file, self.place.key, value=shown)
        row, column = (*(i + 1 for i in position), None)[:2]
        return Place(file, self.place.key, row, column, shown)


@dataclass(frozen=True)
class _Job:
    """A source to read, the declarations that it serves, and the names among them that take their values from it."""

    spec: SourceSpec
    serves: tuple[DataDecl, ...]
    wanted: frozenset[str]
    span: Span


def collect(
    model: Model, bindings: Bindings, base: Path, dims: Mapping[str, int], findings: Findings
) -> list[RawDatum]:
    """The value of every datum that has one: a given value, else a given file, a declared file or a literal.

    A file that serves several names is read once. Data without a value are noted as missing.
    """
    decls = {d.name: d for d in model.data}
    bindings = with_paths(bindings, decls)
    values = {name: value for name, value in bindings.data.items() if name in decls}
    bound = {
        name: of_python(decls[name], value, bindings.labels, findings, bindings.stays, bindings.how(name))
        for name, value in values.items()
    }
    found = {name: datum for name, datum in bound.items() if datum is not None}
    jobs = _jobs(decls, set(values), bindings, base, findings)
    for job in jobs:
        found.update(_read(job, dims, bindings, findings))
    if len(jobs) > 1:
        from .shared_columns import Served, note_shared_columns

        given = {name for names, _ in bindings.sources for name in names}
        served = [Served(job.spec, tuple(d for d in job.serves if d.name in job.wanted)) for job in jobs]
        note_shared_columns(served, {n: d.header for n, d in found.items()}, given, findings)
    claimed = set(values) | {d.name for job in jobs for d in job.serves if d.name in job.wanted}
    for decl in model.data:
        if decl.name in claimed:
            continue
        if decl.literal is not None:
            found[decl.name] = RawDatum(decl, decl.literal, DECLARED)
        elif decl.source is None and not _served(decl.name, bindings):
            _missing(decl, bindings, findings)
    every = [found[d.name] for d in model.data if d.name in found]
    labels = bindings.labels
    return [replace(d, labels=labels[d.decl.name]) if d.decl.name in labels else d for d in every]


def with_paths(bindings: Bindings, decls: Mapping[str, DataDecl]) -> Bindings:
    """The bindings with paths that Python gives for data as sources; data of the same paths are columns of the same files."""
    given: dict[tuple[str, ...], list[str]] = {}
    for name, value in bindings.data.items():
        if name in decls and (paths := paths_in(value)):
            given.setdefault(paths, []).append(name)
    if not given:
        return bindings
    served = {name for names in given.values() for name in names}
    sources = tuple((tuple(names), of_list(paths)) for paths, names in given.items())
    return replace(bindings, data=_without(bindings.data, served), sources=bindings.sources + sources)


def paths_in(value: object) -> tuple[str, ...]:
    """The paths that a value given for data is: a `Path`, a text that names a file or ends as one of a format does, or a list of these; else none."""
    members: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
    if not all(isinstance(member, str | os.PathLike) for member in members):
        return ()
    paths = [os.fspath(member) for member in members]
    named = all(
        isinstance(member, os.PathLike) or infer_format(path) is not None or (member is value and os.path.exists(path))
        for member, path in zip(members, paths, strict=True)
    )
    return tuple(map(str, paths)) if named else ()


def collect_parameters(
    model: Model, bindings: Bindings, dims: Mapping[str, int], findings: Findings
) -> list[tuple[ParamDecl, RawDatum]]:
    """The value of every vector or matrix that is a parameter and is given, or written in the program as its default."""
    found = []
    for param in model.params:
        if param.type.is_scalar:
            continue
        decl, name = param.as_data, param.name
        value = bindings.params.get(name)
        datum: RawDatum | None = None
        if isinstance(value, SourceSpec):
            if not value.format:
                findings.adopt((unknown_format((name,), value.path),), decl.span)
            else:
                datum = _read(_Job(value, (decl,), frozenset({name}), decl.span), dims, bindings, findings).get(name)
        elif value is not None:
            datum = RawDatum(decl, value, f"--set {name}")
        elif name in bindings.data:
            datum = of_python(decl, bindings.data[name], {}, findings, origin=bindings.how(name))
        elif param.default is not None and param.default.op == "literal":
            datum = RawDatum(decl, param.default.value, DECLARED)
        if datum is not None:
            found.append((param, datum))
    return found


OF_ENTRIES = 5
"""The same of observed entries, as a share of that: a solve takes about 150 bytes for each of them in memory, where a column of them has 8."""

SHARE = 8
"""The share of `--memory`, as 1 / SHARE, up to which a matrix is read into memory: smaller ones leave room for the vectors of a solve."""

HELD_STAYS = 1 << 26
"""Bytes of a matrix that Python gives in blocks, and of a column of observed entries, up to which it is taken into memory where workers are to hold
its rows."""

SELECTING = {p.name for word in SOURCES.values() for p in word.parameters if p.domain in ("column", "columns")}
"""The arguments of sources that name columns."""


def spec_of(call: tree.Call, base: Path) -> SourceSpec:
    """The source that a program's `from` names; its path is relative to the program's folder, unless it is a URL."""
    options = _keywords(call)
    path = str(_plain(call.args[0])) if call.args else str(options.pop("path", ""))
    absolute = base == Path(".") or is_url(path)
    return SourceSpec(call.func.name, path if absolute else os.path.join(base, path), options)


def _keywords(call: tree.Call) -> dict[str, object]:
    return {k.name.name: _plain(k.value) for k in call.keywords}


def categories_of(decl: DataDecl) -> tuple[Selector, ...]:
    """The columns of a matrix whose declared source has columns of categories; none for all other data."""
    if decl.source is None or not (decl.type.is_matrix and len(decl.type.shape) == 2):
        return ()
    return _selectors(_Identified(decl.source))


@dataclass(frozen=True, eq=False, slots=True)
class _Identified:
    """A source as itself, so that what follows from it is found without a look at its parts."""

    source: tree.Call

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identified) and other.source is self.source

    def __hash__(self) -> int:
        return id(self.source)


@lru_cache(maxsize=64)
def _selectors(of: _Identified) -> tuple[Selector, ...]:
    """The columns that a source lists, if some are of categories. It is asked for with every row that is predicted."""
    listed: Any = _keywords(of.source).get("columns") or ()
    return tuple(listed) if has_categories(listed) else ()


def _plain(value: tree.Expr) -> object:
    """The Python value of a literal option."""
    match value:
        case tree.Number():
            return int(value.value) if value.is_integer else value.value
        case tree.String() | tree.Boolean():
            return value.value
        case tree.Neg(operand=tree.Number() as number):
            return -(int(number.value) if number.is_integer else number.value)
        case tree.List():
            return [_plain(item) for item in value.items]
        case tree.Call():
            return selector_of(value, {"": tuple(map(_plain, value.args)), **_keywords(value)})
    return None


def _jobs(
    decls: Mapping[str, DataDecl], values: set[str], bindings: Bindings, base: Path, findings: Findings
) -> list[_Job]:
    jobs: list[_Job] = []
    taken = set(values)
    for names, spec in reversed(bindings.sources):  # the last one given for a name counts
        serves = tuple(decls[n] for n in names if n in decls)
        wanted = frozenset(d.name for d in serves) - taken
        if len(serves) < len(names) or not wanted:
            continue  # `check_names` notes names that are no data
        whole = _complete(spec, serves, base)
        taken |= wanted
        if not whole.format:
            findings.adopt((unknown_format(names, spec.path),), serves[0].span)
        else:
            jobs.append(_Job(whole, serves, wanted, serves[0].span))
    jobs.reverse()
    read: set[tuple[str, ...]] = set()
    for decl in decls.values():
        group = decl.serves or (decl.name,)
        if decl.source is None or group in read:
            continue
        read.add(group)
        serves = tuple(decls[n] for n in group if n in decls)
        wanted = frozenset(d.name for d in serves) - taken
        if not wanted:
            continue
        jobs.append(_Job(spec_of(decl.source, base), serves, wanted, decl.source.span))
    return jobs


def _complete(spec: SourceSpec, serves: Sequence[DataDecl], base: Path) -> SourceSpec:
    """A given source, with the format and the options of the declared source where it only replaces the path.

    A file with the suffix of the declared file is read as that one, even where the suffix alone tells another format.
    """
    calls = [d.source for d in serves]
    first = calls[0]
    if first is None or any(c is not first and c != first for c in calls):
        return spec
    declared = spec_of(first, base)
    alike = spec.inferred and spec.format == infer_format(declared.path)
    if spec.format not in ("", declared.format) and not alike:
        # which columns of a table are used does not depend on its format
        known = {p.name for p in SOURCES[spec.format].parameters} if spec.format in SOURCES else set()
        kept = {n: v for n, v in declared.options.items() if n in known & SELECTING}
        return replace(spec, options={**kept, **spec.options}) if kept else spec
    return replace(spec, format=declared.format, options={**declared.options, **spec.options}, inferred=False)


def _read(job: _Job, dims: Mapping[str, int], bindings: Bindings, findings: Findings) -> dict[str, RawDatum]:
    from ..readers.read import Role, read

    labels = bindings.labels
    stays = None if bindings.memory is None else bindings.memory // SHARE

    def size(dim: int | str) -> int | None:
        return dim if isinstance(dim, int) else dims.get(dim)

    roles = []
    for decl in job.serves:
        type_ = decl.type
        shape = type_.shape if type_.is_labels else type_.array_shape
        # New data for an earlier fit need not show both signs.
        kind = "labels" if type_.is_signs and len(shape) == 1 and decl.name in labels else type_.kind
        of = type_.element.kind if type_.is_entries and type_.element is not None else ""
        columns = _fitted_columns(decl, labels)
        most = stays
        if type_.is_entries:
            most = stays // OF_ENTRIES if stays is not None else HELD_STAYS if bindings.entries_stay else None
        roles.append(Role(decl.name, kind, tuple(size(d) for d in shape), of, columns, most))
    headers: dict[str, tuple[str, ...]] = {}
    pulled: list[Mapping[str, object]] = []
    files: dict[str, tuple[tuple[str, int], ...]] = {}
    arrays, diagnostics = read(job.spec, roles, headers, pulled, files)
    served = " and ".join(f"`{d.name}`" for d in job.serves if d.name in job.wanted)
    findings.adopt(diagnostics, job.span, f"read for {served}")
    data = {}
    for decl in job.serves:
        if decl.name not in arrays or decl.name not in job.wanted:
            continue
        key = str(job.spec.options.get("key", decl.name)) if job.spec.format == "npz" else None
        path = without_secrets(job.spec.path)
        place = Place(path, key)
        located, header = job.spec.format in ("npy", "npz"), headers.get(decl.name, ())
        word = SOURCES.get(job.spec.format)
        of_arrays = located or (word is not None and any(p.name == "key" for p in word.parameters))
        raw = arrays[decl.name]
        if isinstance(raw, Mixed):
            raw = replace(raw, known=levels_of(decl.name, categories_of(decl), labels))
        under = files.get(decl.name, ()) if of_arrays else ()
        data[decl.name] = RawDatum(decl, raw, path, place, located, header=header, pulled=tuple(pulled), files=under)
    return data


def _fitted_columns(decl: DataDecl, labels: Mapping[str, Sequence[Any]], of: str = "inputs") -> tuple[str, ...]:
    """The names of a matrix's columns in an earlier fit; of a table with categories those of its `columns`, or of the table's `inputs`."""
    if decl.type.is_entries:
        return ()
    return tuple(labels.get(f"{decl.name}.{of}", labels.get(f"{decl.name}.columns", ())))


def of_python(
    decl: DataDecl,
    value: object,
    labels: Mapping[str, Sequence[object]],
    findings: Findings,
    stays: int | None = None,
    origin: str = "",
) -> RawDatum | None:
    """A value given in Python. A frame keeps the names of its columns, which are put into the order of an earlier fit.

    A lazy frame is computed, of the fit's columns alone where there is one. None where that fails, or a frame lacks columns that the declaration
    names, which is noted. Blocks of rows are taken one after the other where they may outgrow memory (`stays`), or are all that there is. `origin` is
    how the value is given, in words.
    """
    origin, selectors = origin or BIND.format(decl.name), categories_of(decl)
    if type(value) is np.ndarray and not selectors:
        # no table, of which all else here is asked
        return RawDatum(decl, value, origin)
    try:
        plain = decl.type.is_matrix and len(decl.type.shape) == 2 and not selectors
        if plain and (gives_blocks(value) or (stays is not None and has_blocks(value))):
            from ..readers.in_blocks import piled

            rows, header = piled(value, decl.name, stays)
            return RawDatum(decl, rows, origin, header=header)
        if gives_blocks(value) and not decl.type.is_entries:
            from ..readers.in_blocks import joined

            return RawDatum(decl, joined(value, decl.name), origin)
        value = in_memory(value, origin, _fitted_columns(decl, labels))
    except NotPulled as error:
        note_not_pulled(decl, error, findings)
        return None
    except DiskFull as error:
        code, message, rule, hint = no_room(f"`{decl.name}`", error)
        findings.add(code, message, span=decl.span, rule=rule, hint=hint)
        return None
    if selectors:
        value = table(decl, value, selectors, labels, findings, origin)
        if value is None or isinstance(value, Mixed):
            return None if value is None else RawDatum(decl, value, origin)
    names = column_names(value) if (decl.type.is_matrix or decl.type.is_signs) and len(decl.type.shape) == 2 else ()
    fitted = _fitted_columns(decl, labels, "columns" if selectors else "inputs")
    if not names or not fitted:
        return RawDatum(decl, value, origin, header=names)
    found = match(fitted, names, named=False)
    if found.wrong:
        findings.add(
            "FW4032",
            f"`{decl.name}` from {origin} has {found.words(names)}, which it has in the fit",
            span=decl.span,
            label="new data for this",
            rule="New data whose columns have names are matched with the fit's columns by name.",
            hint="name the columns as in the fit, or give an array, whose columns are taken by position",
        )
        return None
    if found.positions == tuple(range(len(names))) or not found.positions:
        return RawDatum(decl, value, origin, header=names)
    few = cells(value, found.positions)
    chosen = numeric(value, found.positions, few) if decl.type.is_matrix else select(value, found.positions)
    return RawDatum(decl, chosen, origin, header=fitted)


def note_not_pulled(decl: DataDecl, error: NotPulled, findings: Findings) -> None:
    """Note that what is given for a datum could not be computed."""
    findings.add(
        "FW4532",
        f"`{decl.name}` {error}",
        span=decl.span,
        rule=error.rule,
        hint=error.hint,
    )


def told_where_to_give(
    diagnostics: Iterable[Diagnostic], model: Model, data: Callable[[str], str], params: Callable[[str], str]
) -> tuple[Diagnostic, ...]:
    """The diagnostics, with hints of the caller's own for each name of data (FW4501) and each parameter (FW4502) without a value: where they are
    given to it."""
    hints = {("FW4501", decl.span): (data, decl.name) for decl in model.data}
    hints |= {("FW4502", decl.span): (params, decl.name) for decl in model.params}

    def told(d: Diagnostic) -> Diagnostic:
        found = None if d.span is None else hints.get((d.code, d.span))
        return d if found is None else replace(d, hint=found[0](found[1]))

    return tuple(map(told, diagnostics))


def _served(name: str, bindings: Bindings) -> bool:
    return any(name in names for names, _ in bindings.sources)


def _missing(decl: DataDecl, bindings: Bindings, findings: Findings) -> None:
    if decl.name in supplied_names(bindings):
        return  # the name is given as another kind of thing, which `check_names` notes
    findings.add(
        "FW4501",
        f"`{decl.name}` has no value: {describe_supplied(bindings)}",
        span=decl.span,
        label="declared without data",
        rule="Data that the program does not name a source for are given when it is run.",
        hint=f"give `--data {decl.name}=PATH` on the command line, `bind({decl.name}=...)` in Python, "
        f"or a `from` in the program",
    )
