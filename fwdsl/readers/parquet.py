"""Reads parquet and feather files by pyarrow (extra `parquet`). Columns are chosen as in a csv file with a header."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from .arrow_arrays import of_column
from .categories import Category, Mixed, level_of, name_of
from .csv_columns import ChosenColumns, Header, choose
from .decoded import Pile
from .files import Unreadable, check_readable, need, opened
from .findings import LIMIT, FileFindings, shown
from .roles import Role
from .row_blocks import PIECE
from .scan import find_nonfinite

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

    from .partitions import FolderColumn
    from .pieces import Cut
    from .roles import Raw

_RULE = "A parquet column that is used holds numbers; labels may also be words or truth values."


def read_parquet(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    /,
    folders: Sequence[FolderColumn] = (),
    groups: tuple[int, int] | None = None,
) -> dict[str, Raw]:
    """A matrix role gets the columns listed (or all but the target), vectors and labels their column; those of folders stand behind the file's own.

    Only the columns that are used are read, of all rows or of a range of `groups`.

    Raises `Unreadable` where the file cannot be read or pyarrow is absent.
    """
    if groups is not None:
        return _arrays(path, options, roles, findings, _of_groups(*groups), folders)
    is_bounded = any(role.stays is not None for role in roles)
    if any(role.may_stay for role in roles) and options.get("missing") != "drop":
        with opened(path, findings) as stream:
            file = open_parquet(path, stream, findings)
            count = file.metadata.num_row_groups
        if count > 1:
            return _by_groups(path, options, roles, findings, folders, count)
    return _arrays(path, options, roles, findings, _open_bounded if is_bounded else open_parquet, folders)


def _by_groups(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    folders: Sequence[FolderColumn],
    groups: int,
) -> dict[str, Raw]:
    """The same, a group of rows after the other: matrices go where they stay."""
    piles = {role.name: Pile(role.decoded, role.name) for role in roles if role.may_stay and role.decoded is not None}
    columns: dict[str, list[Any]] = {role.name: [] for role in roles if role.name not in piles}
    before = 0
    for group in range(groups):
        own = FileFindings(path)
        arrays = _arrays(path, options, roles, own, _of_groups(group, group + 1, _open_bounded), folders)
        if any(isinstance(array, Mixed) for array in arrays.values()):
            return _arrays(path, options, roles, findings, _open_bounded, folders)
        for found in own.result():
            counted = f"{found.message} (rows count from row {before + 1:,} of the file, where a group of rows begins)"
            findings.extend(replace(found, message=counted) if before and found.place is not None else found)
        if not arrays:
            if own.has_no_rows:
                continue
            return {}
        findings.headers.update(own.headers)
        for name, pile in piles.items():
            if name in arrays:
                pile.add(arrays[name])
        for name, parts in columns.items():
            parts.append(arrays[name])
        before += len(next(iter(arrays.values())))  # type: ignore[arg-type]  # of arrays
    result: dict[str, Raw] = {name: np.concatenate(parts) for name, parts in columns.items() if parts}
    return result | {name: pile.finish() for name, pile in piles.items()}


def pieces_parquet(path: str, options: Mapping[str, object], roles: Sequence[Role], most: int) -> list[Cut]:
    """The groups of rows in ranges of about `most` bytes, or of one group; none where they cannot be told."""
    try:
        import pyarrow
        from pyarrow.parquet import read_metadata

        told = read_metadata(path)
    except (ImportError, OSError, pyarrow.ArrowException):
        return []
    found: list[Cut] = []
    first = row = rows = size = 0
    for group in range(told.num_row_groups):
        rows, size = rows + told.row_group(group).num_rows, size + told.row_group(group).total_byte_size
        if size >= most or group == told.num_row_groups - 1:
            found.append((row, ("groups", (first, group + 1))))
            first, row, rows, size = group + 1, row + rows, 0, 0
    return found


class _Groups:
    """A range of groups of rows of a parquet file, with the parts of a `ParquetFile` that are used here."""

    def __init__(self, file: ParquetFile | _Bounded, groups: range) -> None:
        self._file, self._groups = file, list(groups)
        self.schema_arrow = file.schema_arrow

    def read(self, columns: Sequence[str]) -> Any:
        """The table of some columns."""
        return self._file.read_row_groups(self._groups, columns=list(columns))


class _Bounded:
    """A parquet file that is read by a few columns at a time: beside the table there are the bytes of these, about a piece, and not of the file.

    No other thread reads: each would keep memory of its own for the next file.
    """

    def __init__(self, path: str, stream: BinaryIO, findings: FileFindings) -> None:
        self._file = open_parquet(path, stream, findings, pre_buffer=False)
        self.schema_arrow = self._file.schema_arrow

    def read(self, columns: Sequence[str]) -> Any:
        """The table of some columns."""
        return self.read_row_groups(range(self._file.metadata.num_row_groups), columns)

    def read_row_groups(self, groups: Sequence[int], columns: Sequence[str]) -> Any:
        """The same of some groups of rows."""
        import pyarrow

        told, groups = self._file.metadata, list(groups)
        size = sum(told.row_group(group).total_byte_size for group in groups)
        few = max(1, len(self.schema_arrow.names) * PIECE // max(1, size))
        parts = [
            self._file.read_row_groups(groups, columns=list(columns[at : at + few]), use_threads=False)
            for at in range(0, max(1, len(columns)), few)
        ]
        if len(parts) == 1:
            return parts[0]
        fields = [field for part in parts for field in part.schema]
        return pyarrow.table([c for part in parts for c in part.columns], schema=pyarrow.schema(fields))


def _open_bounded(path: str, stream: BinaryIO, findings: FileFindings) -> _Bounded:
    return _Bounded(path, stream, findings)


def _of_groups(start: int, stop: int, open_file: Opener | None = None) -> Opener:
    """A function that opens a range of groups of rows."""
    opens = open_file or open_parquet
    return lambda path, stream, findings: _Groups(opens(path, stream, findings), range(start, stop))


def read_feather(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    /,
    folders: Sequence[FolderColumn] = (),
) -> dict[str, Raw]:
    """The same for a feather file of version 2, which is an Arrow file of batches."""
    return _arrays(path, options, roles, findings, open_feather, folders)


def _arrays(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    open_file: Opener,
    folders: Sequence[FolderColumn],
) -> dict[str, Raw]:
    chosen = _chosen(path, options, roles, findings, open_file, folders)
    if chosen is None:
        return {}
    table, rows = chosen.table, chosen.rows
    if options.get("missing") == "drop":
        table, rows = _without_gaps(chosen, findings)
    if rows == 0:
        findings.no_rows(findings.dropped)
        return {}
    coded = set(chosen.choice.categories)
    arrays: dict[int, Any] = {
        c: (_category if c in coded else _column)(table.column(i), table.column_names[i], c, findings)
        for i, c in enumerate(chosen.used)
    }
    for c, folder in chosen.folders.items():
        if c in arrays:
            _compare(arrays[c], folder, c, findings)
        elif folder.text is None:
            _note_none(folder, findings)
        elif c in coded:
            arrays[c] = Category.merged(np.zeros(rows, dtype=np.int64), [level_of(folder.text)])
        else:
            arrays[c] = np.full(rows, folder.text if folder.number is None else folder.number)
    if findings.failed:
        return {}
    choice = chosen.choice
    # a column of Arrow's own memory would hold that, and cannot be written to
    result: dict[str, Raw] = {
        role.name: array if not isinstance(array, np.ndarray) or array.flags.writeable else array.copy()
        for role, array in ((role, arrays[position]) for role, position in choice.targets)
    }
    if choice.table is not None:
        numbers = choice.numbers
        matrix = np.empty((rows, len(numbers)), _common(arrays, numbers, chosen.used))
        for j, c in enumerate(numbers):
            matrix[:, j] = arrays[c]
        result[choice.table.name] = matrix
        if coded:
            names = findings.headers[choice.table.name]
            found = tuple(arrays[c] for c in choice.categories)
            result[choice.table.name] = Mixed(names, choice.onehot, matrix, found)
    return result


def header_names(path: str, findings: FileFindings) -> tuple[str, ...]:
    """The names of the columns; none where pyarrow is not there or does not know the file. Raises `Unreadable`."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        return ()
    with opened(path, findings) as stream:
        try:
            return tuple(ParquetFile(pyarrow.PythonFile(stream, mode="r")).schema_arrow.names)
        except pyarrow.ArrowException:
            return ()


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The part of a file that is used: its columns as a table, their positions, how many rows there are, and what each column is for.

    `folders` are the columns that folders tell, by position; such a column may be in the file too.
    """

    table: Any
    used: tuple[int, ...]
    rows: int
    choice: ChosenColumns
    folders: dict[int, FolderColumn]


def _chosen(
    path: str,
    options: Mapping[str, Any],
    roles: Sequence[Role],
    findings: FileFindings,
    open_file: Opener,
    folders: Sequence[FolderColumn],
) -> _Chosen | None:
    """The columns that are used; None where that is noted to be wrong."""
    check_readable(path, findings)
    with opened(path, findings) as stream:
        file = open_file(path, stream, findings)
        schema = file.schema_arrow
        own = schema.names
        listed = map(name_of, options.get("columns", ()))
        asked = {options.get("target"), *listed, *(n for r in roles for n in (r.name, *r.columns))}
        folders = [folder for folder in folders if folder.is_inner or (folder.name in asked and folder.name not in own)]
        names = (*own, *(folder.name for folder in folders if folder.name not in own))
        choice = choose(Header(len(names), names, None), options, roles, path, findings)
        if choice is None:
            return None
        coded = choice.categories
        wanted = sorted({*choice.columns, *(position for _, position in choice.targets)})
        used = tuple(c for c in wanted if c < len(own))
        told = {c: folder for folder in folders for c in wanted if names[c] == folder.name}
        texts = {c: c in coded or _may_be_text(choice.targets, c) for c in wanted}
        plain = [_is_plain(schema.field(c), texts[c], findings, c in coded) for c in used]
        plain += [_is_number(told[c], texts[c], findings) for c in wanted if c not in used]
        if not all(plain):
            return None
        with _noted(path, findings):
            table = file.read(columns=[own[c] for c in used])
            return _Chosen(table, used, table.num_rows, choice, told)


def open_parquet(path: str, stream: BinaryIO, findings: FileFindings, pre_buffer: bool = True) -> ParquetFile:
    """The parquet file in a stream, whose bytes are all read at once where `pre_buffer` is true.

    Raises `Unreadable` where pyarrow is absent, or the file is none.
    """
    with _noted(path, findings):
        import pyarrow
        from pyarrow.parquet import ParquetFile

        return ParquetFile(pyarrow.PythonFile(stream, mode="r"), pre_buffer=pre_buffer)


class _Feather:
    """A feather file with the parts of a `ParquetFile` that are used here."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.schema_arrow = reader.schema

    def read(self, columns: Sequence[str]) -> Any:
        """The table of some columns."""
        return self._reader.read_all().select(list(columns))

    def head(self, rows: int) -> Any:
        """The first rows, with all columns."""
        return self._reader.read_all().slice(0, rows)


def open_feather(path: str, stream: BinaryIO, findings: FileFindings) -> _Feather:
    """The feather file in a stream. Raises `Unreadable` where pyarrow is absent, or the file is none."""
    with _noted(path, findings):
        import pyarrow

        return _Feather(pyarrow.ipc.open_file(pyarrow.PythonFile(stream, mode="r")))


Opener = Callable[[str, BinaryIO, FileFindings], Any]
"""Opens the table in a stream, or raises `Unreadable` with the reason noted."""


@contextmanager
def _noted(path: str, findings: FileFindings) -> Iterator[None]:
    """Errors of pyarrow, and its absence, as a finding and `Unreadable`."""
    need("parquet", path, findings)
    import pyarrow

    try:
        yield
    except pyarrow.ArrowException as error:
        findings.add(
            "FW4071",
            f"`{path}` is no parquet or feather file, or a damaged one: {_first_line(error)}",
            rule="Such a source is a complete file in the format of Apache Parquet, or of Arrow.",
            hint="write the file again, or name its format, as in `from csv(...)`",
        )
        raise Unreadable from None


def _without_gaps(chosen: _Chosen, findings: FileFindings) -> tuple[Any, int]:
    """The rows with a value in every column, neither null nor nan nor, of categories, blank, and their number. How many are left out is noted."""
    import pyarrow.compute as pc
    from pyarrow import types

    table = chosen.table
    is_there = all(folder.text is not None for c, folder in chosen.folders.items() if c not in chosen.used)
    whole = np.full(chosen.rows, is_there)
    for position, column in zip(chosen.used, table.columns, strict=True):
        if position in chosen.choice.categories:
            whole &= _category_of(column).codes >= 0
            continue
        whole &= pc.is_valid(column).to_numpy(zero_copy_only=False)
        if types.is_floating(column.type):
            whole &= ~pc.fill_null(pc.is_nan(column), True).to_numpy(zero_copy_only=False)
    kept = int(np.count_nonzero(whole))
    if 0 < kept < whole.size:
        findings.left_out(whole.size - kept, whole.size)
    findings.dropped = whole.size - kept
    return table.filter(whole), kept


def _is_number(folder: FolderColumn, may_be_text: bool, findings: FileFindings) -> bool:
    """True if the value of a folder can be used; a finding if not."""
    if may_be_text or folder.number is not None or folder.text is None:
        return True
    findings.add(
        "FW4072",
        f"the folders of `{folder.name}` hold words, where numbers are needed",
        rule=_RULE,
        hint="leave the column out with `columns=`",
    )
    return False


def _compare(values: np.ndarray | Category, folder: FolderColumn, position: int, findings: FileFindings) -> None:
    """Note the first row of a column that has another value than its folder tells."""
    if folder.text is None:
        return
    if isinstance(values, Category):
        levels = np.array(values.levels)[values.codes]
        values = np.where(levels == level_of(folder.number), folder.text, levels)
    told: object = folder.text if values.dtype.kind == "U" else folder.number
    if values.dtype == np.int64:  # truth values
        told = {"true": 1, "false": 0}.get(folder.text.lower(), told)
    other = np.flatnonzero(values != told)
    if other.size:
        row = int(other[0]) + 1
        findings.add(
            "FW4026",
            f"column `{folder.name}` is `{shown(str(values[row - 1]))}` in row {row}, in a folder of `{shown(folder.text)}`",
            rule="A column that the folders of a file tell has their value in each row, if it is in the file too.",
            hint="move the file, or leave the column out with `columns=`",
            row=row,
            column=position + 1,
            value=str(values[row - 1]),
        )


def _note_none(folder: FolderColumn, findings: FileFindings) -> None:
    findings.add(
        "FW4023",
        f"the folder of `{findings.file}` tells no value for `{folder.name}`",
        rule="Every row has a value in every column that is used.",
        hint='rename the folder, leave its files out with `missing="drop"`, or the column with `columns=`',
    )


def _may_be_text(targets: Sequence[tuple[Role, int]], column: int) -> bool:
    serving = [role for role, position in targets if position == column]
    return bool(serving) and all(role.may_be_text for role in serving)


def _is_plain(field: Any, may_be_text: bool, findings: FileFindings, may_be_time: bool = False) -> bool:
    """True if the values of a column can be used; a finding if not."""
    from pyarrow import types

    type_ = field.type.value_type if types.is_dictionary(field.type) else field.type
    numeric = types.is_integer(type_) or types.is_floating(type_) or types.is_boolean(type_) or types.is_decimal(type_)
    if numeric or (may_be_text and (types.is_string(type_) or types.is_large_string(type_))):
        return True
    if may_be_time and (types.is_date(type_) or types.is_timestamp(type_)):
        return True
    findings.add(
        "FW4072",
        f"column `{field.name}` holds {type_}, where {'labels are' if may_be_text else 'numbers are'} needed",
        rule=_RULE,
        hint=f'list the columns that are used with `columns=`, this one, if it is of categories, as `onehot("{field.name}")`',
    )
    return False


def _category(column: Any, name: str, position: int, findings: FileFindings) -> Category:
    """A column of categories. Rows without a value are noted."""
    category = _category_of(column)
    _note_gaps(np.flatnonzero(category.codes < 0), name, position, findings)
    # what a dictionary has and no row is no level
    used, codes = np.unique(category.codes, return_inverse=True)
    return Category.merged(codes, [category.levels[i] if i >= 0 else None for i in used.tolist()])


def _category_of(column: Any) -> Category:
    """A column of Arrow as categories, with all that its dictionary has for levels."""
    coded = column.unify_dictionaries().combine_chunks()
    coded = coded if hasattr(coded, "indices") else coded.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    levels = [level_of(value) for value in coded.dictionary.to_pylist()]
    return Category.merged(np.where(codes < 0, len(levels), codes), [*levels, None])


def _note_gaps(rows: np.ndarray, name: str, position: int, findings: FileFindings) -> None:
    for row in rows[:LIMIT]:
        findings.add(
            "FW4023",
            f"column `{name}` is empty in row {row + 1}",
            rule="Every row has a value in every column that is used.",
            hint="fill in the value, remove the row, or leave the column out with `columns=`",
            row=int(row) + 1,
            column=position + 1,
            value="",
        )


def _column(column: Any, name: str, position: int, findings: FileFindings) -> np.ndarray:
    """A column as numbers or words. Empty and non-finite entries are noted, with the row counted from 1."""
    if column.null_count:
        _note_gaps(np.flatnonzero(column.is_null().to_numpy()), name, position, findings)
        return np.zeros(0)
    values = of_column(column)
    if values.dtype.kind == "O" and not isinstance(values[0], str):  # decimals
        values = values.astype(np.float64)
    if values.dtype.kind == "O":
        return values.astype(str)
    if values.dtype != np.float32:
        values = values.astype(np.int64 if values.dtype.kind == "b" else np.float64, copy=False)
    for row, _, value in find_nonfinite(values, LIMIT):
        findings.add(
            "FW4021",
            f"column `{name}` in row {row + 1} is `{shown(str(value))}`, where a finite number is needed",
            rule="Data must be finite: no nan and no infinity.",
            hint="remove the row, or replace the value",
            row=row + 1,
            column=position + 1,
            value=str(value),
        )
    return values


def _common(arrays: Mapping[int, np.ndarray], columns: Sequence[int], own: Sequence[int]) -> type[np.floating[Any]]:
    """float32 if all columns of the file are float32, and float32 holds what its folders tell; else float64."""
    with np.errstate(over="ignore"):
        told = all(arrays[c][0] == np.float32(arrays[c][0]) for c in columns if c not in own)
    held = [arrays[c].dtype for c in columns if c in own]
    return np.float32 if held and told and all(dtype == np.float32 for dtype in held) else np.float64


def _first_line(error: Exception) -> str:
    text = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
    return text[:1].lower() + text[1:]
