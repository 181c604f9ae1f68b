"""Reads parquet and feather files by pyarrow (extra `parquet`). Columns are chosen as in a csv file with a header."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from .categories import Category, Mixed, level_of
from .csv_columns import ChosenColumns, Header, choose
from .files import Unreadable, check_readable, opened
from .findings import LIMIT, FileFindings, shown
from .roles import Role
from .scan import find_nonfinite

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

    from .roles import Raw

_RULE = "A parquet column that is used holds numbers; labels may also be words or truth values."


def read_parquet(
    path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings
) -> dict[str, Raw]:
    """A matrix role gets the columns listed (or all but the target), vectors and labels their column.

    Only the columns that are used are read. Raises `Unreadable` where the file cannot be read or pyarrow is absent.
    """
    return _arrays(path, options, roles, findings, open_parquet)


def read_feather(
    path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings
) -> dict[str, Raw]:
    """The same for a feather file of version 2, which is an Arrow file of batches."""
    return _arrays(path, options, roles, findings, _open_feather)


def _arrays(
    path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings, open_file: Opener
) -> dict[str, Raw]:
    chosen = _chosen(path, options, roles, findings, open_file)
    if chosen is None:
        return {}
    table, used, choice = chosen
    if options.get("missing") == "drop":
        table = _without_gaps(table, findings)
    if table.num_rows == 0:
        findings.no_rows()
        return {}
    coded = set(choice.categories)
    arrays: dict[int, Any] = {
        c: (_category if c in coded else _column)(table.column(i), table.column_names[i], c, findings)
        for i, c in enumerate(used)
    }
    if findings.failed:
        return {}
    result: dict[str, Raw] = {role.name: arrays[position] for role, position in choice.targets}
    if choice.table is not None:
        matrix = np.empty((table.num_rows, len(choice.numbers)), _common([arrays[c] for c in choice.numbers]))
        for j, c in enumerate(choice.numbers):
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


def _chosen(
    path: str, options: Mapping[str, object], roles: Sequence[Role], findings: FileFindings, open_file: Opener
) -> tuple[Any, list[int], ChosenColumns] | None:
    """The columns that are used, as a table, their positions in the file, and what each is for; None where that is noted to be wrong."""
    check_readable(path, findings)
    with opened(path, findings) as stream:
        file = open_file(path, stream, findings)
        schema = file.schema_arrow
        choice = choose(Header(len(schema.names), tuple(schema.names), None), options, roles, path, findings)
        if choice is None:
            return None
        used = sorted({*choice.columns, *(position for _, position in choice.targets)})
        coded = choice.categories
        if not all(_is_plain(schema.field(c), c in coded or _may_be_text(choice.targets, c), findings) for c in used):
            return None
        with _noted(path, findings):
            return file.read(columns=[schema.names[c] for c in used]), used, choice


def open_parquet(path: str, stream: BinaryIO, findings: FileFindings) -> ParquetFile:
    """The parquet file in a stream. Raises `Unreadable` where pyarrow is absent, or the file is none."""
    with _noted(path, findings):
        import pyarrow
        from pyarrow.parquet import ParquetFile

        return ParquetFile(pyarrow.PythonFile(stream, mode="r"))


class _Feather:
    """A feather file with the parts of a `ParquetFile` that are used here."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.schema_arrow = reader.schema

    def read(self, columns: Sequence[str]) -> Any:
        """The table of some columns."""
        return self._reader.read_all().select(list(columns))


def _open_feather(path: str, stream: BinaryIO, findings: FileFindings) -> _Feather:
    with _noted(path, findings):
        import pyarrow

        return _Feather(pyarrow.ipc.open_file(pyarrow.PythonFile(stream, mode="r")))


Opener = Callable[[str, BinaryIO, FileFindings], Any]
"""Opens the table in a stream, or raises `Unreadable` with the reason noted."""


@contextmanager
def _noted(path: str, findings: FileFindings) -> Iterator[None]:
    """Errors of pyarrow, and its absence, as a finding and `Unreadable`."""
    try:
        import pyarrow
    except ImportError:
        findings.add(
            "FW4070",
            f"`{path}` cannot be read: pyarrow is not installed",
            rule="parquet and feather files are read by pyarrow, the extra `parquet` of fwdsl.",
            hint="pip install 'fwdsl[parquet]'",
        )
        raise Unreadable from None
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


def _without_gaps(table: Any, findings: FileFindings) -> Any:
    """The rows with a value in every column: neither null nor nan. How many are left out is noted."""
    import pyarrow.compute as pc
    from pyarrow import types

    whole = np.ones(table.num_rows, dtype=bool)
    for column in table.columns:
        whole &= pc.is_valid(column).to_numpy(zero_copy_only=False)
        if types.is_floating(column.type):
            whole &= ~pc.fill_null(pc.is_nan(column), True).to_numpy(zero_copy_only=False)
    if not whole.all():
        findings.left_out(int(np.count_nonzero(~whole)), table.num_rows)
    return table.filter(whole)


def _may_be_text(targets: Sequence[tuple[Role, int]], column: int) -> bool:
    serving = [role for role, position in targets if position == column]
    return bool(serving) and all(role.may_be_text for role in serving)


def _is_plain(field: Any, may_be_text: bool, findings: FileFindings) -> bool:
    """True if the values of a column can be used; a finding if not."""
    from pyarrow import types

    type_ = field.type.value_type if types.is_dictionary(field.type) else field.type
    numeric = types.is_integer(type_) or types.is_floating(type_) or types.is_boolean(type_) or types.is_decimal(type_)
    if numeric or (may_be_text and (types.is_string(type_) or types.is_large_string(type_))):
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
    coded = column.unify_dictionaries().combine_chunks()
    coded = coded if hasattr(coded, "indices") else coded.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    levels = [level_of(value) for value in coded.dictionary.to_pylist()]
    category = Category.merged(np.where(codes < 0, len(levels), codes), [*levels, None])
    _note_gaps(np.flatnonzero(category.codes < 0), name, position, findings)
    # what a dictionary has and no row is no level
    used, codes = np.unique(category.codes, return_inverse=True)
    return Category.merged(codes, [category.levels[i] if i >= 0 else None for i in used.tolist()])


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
    values: np.ndarray = column.to_numpy()
    if values.dtype.kind == "O" and not isinstance(values[0], str):  # decimals
        values = values.astype(np.float64)
    if values.dtype.kind == "O":
        return values.astype(str)
    if values.dtype != np.float32:
        values = values.astype(np.float64) if values.dtype.kind != "b" else values.astype(np.int64)
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


def _common(columns: Sequence[np.ndarray]) -> type[np.floating[Any]]:
    """float32 if all columns are float32, else float64."""
    return np.float32 if columns and all(c.dtype == np.float32 for c in columns) else np.float64


def _first_line(error: Exception) -> str:
    text = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
    return text[:1].lower() + text[1:]
