"""Reads csv files: numbers separated by commas, or by `sep`, a header unless `header=false`, fields quoted as in RFC 4180.

Chunks without quotes are cut with array operations. Where there are quotes, and wherever something is wrong, Python's csv module reads row by
row. Of large files pyarrow reads what is in order (`csv_arrow`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..grammar.diagnostic import Place
from ..words import SOURCES
from .categories import Category, Mixed, level_of
from .csv_arrow import FROM, ArrowReader, Coded, Columns
from .csv_columns import ChosenColumns, Header, choose
from .csv_rows import LONGEST, Form, whole_rows
from .files import Unreadable, lines, opened
from .findings import FileFindings
from .growing import Growing
from .roles import Role
from .row_blocks import DenseRows, Stored
from .scan import not_two, odd_one
from .sources import compression, infer_format, without_secrets
from .text_ranges import TextPart, cuts
from .tokens import floats_counted, is_gap, is_infinite, is_missing, to_finite

if TYPE_CHECKING:
    from .decoded import Decoded
    from .pieces import Cut
    from .roles import Raw


SEPARATING = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
"""The words for characters that often separate fields."""

_QUOTES = "Fields are separated by commas; those that hold commas, quotes or line breaks stand in double quotes."


def read_csv(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    part: TextPart | None = None,
) -> dict[str, Raw]:
    """A matrix role gets the columns listed (or all but the target), vectors and labels their column; of all rows or of some.

    Labels are numbers if all of them are, else words; those of some rows are `Coded`. Raises `Unreadable` where the file cannot be read.
    """
    table = _table(path, options, roles, findings, part)
    return {} if table is None else table.result(coded=part is not None)


def place_in_csv(
    path: str, options: Mapping[str, object], roles: Sequence[Role], name: str, position: int, findings: FileFindings
) -> Place:
    """The place of a value of a role of labels, whose position is that of the first such value in the file."""
    table = _table(path, options, roles, FileFindings(path))
    column = {} if table is None else table.result(coded=True)
    if name not in column:  # the file was changed meanwhile
        return Place(path)
    labels: Any = column[name]
    return Place(path, row=labels.lines[labels.codes[position]], column=labels.position + 1)


def _table(
    path: str,
    options: Mapping[str, object],
    roles: Sequence[Role],
    findings: FileFindings,
    part: TextPart | None = None,
) -> Table | None:
    """The columns of the roles; None where a file cannot serve them, which is noted."""
    form = Form.of(options)
    if form.sep == form.decimal:
        rule = "What separates fields does not stand within numbers."
        findings.add(
            "FW4034", f"`{form.sep}` separates fields of `{path}` and decimals too", rule=rule, hint='give `sep=";"`'
        )
        return None
    with opened(path, findings) as stream:
        amid = part is not None and part.start > 0
        chunks = lines(stream) if part is None or amid else part.chunks(stream)
        # what is to be told of the header is told with the first rows
        header, rest, line = first_line(chunks, options, path, FileFindings(path) if amid else findings)
        choice = choose(header, options, roles, path, findings)
        if choice is None:
            return None
        table = Table(header, choice, path, findings, form=form)
        if part is not None and amid:
            rest, line = part.chunks(stream), part.line
        if part is None:
            table.add(rest, line)
        else:
            table.add(rest, line, part.was_quoted, is_large=True)
    return table


def pieces_csv(path: str, options: Mapping[str, object], roles: Sequence[Role], most: int) -> list[Cut]:
    """Ranges of about `most` bytes of whole rows. None where the file is compressed or has one column, whose blank lines mean something; where its
    columns do not serve the roles, which is told where it is read as a whole; and where rows may be read in several ways."""
    form, findings = Form.of(options), FileFindings(path)
    if compression(path) or form.sep == form.decimal:
        return []
    try:
        with opened(path, findings) as stream:
            header, _, line = first_line(lines(stream), options, path, findings)
            if header.count == 1 or choose(header, options, roles, path, findings) is None:
                return []
    except Unreadable:
        return []
    return cuts(path, most, form.sep, line)


def joined_csv(path: str, role: Role, parts: Sequence[Coded], findings: FileFindings) -> np.ndarray:
    """The values of a column of labels from those of all ranges."""
    words = _Words()
    for part in parts:
        words.extend_coded(part)
    return words.finish(role, parts[0].position, parts[0].what, findings)


def header_names(path: str, findings: FileFindings) -> tuple[str, ...]:
    """The names of the columns, none where there is no header. Raises `Unreadable`."""
    with opened(path, findings) as stream:
        return first_line(lines(stream), {}, path, findings)[0].names or ()


def _growing(role: Role, files: Decoded | None) -> Growing:
    """The array of a column of numbers, which goes into one of the files where there are any."""
    return Growing(np.float64) if files is None else files.array(role.name, np.float64)


class _Words:
    """A column whose values may be words. Each distinct value is kept once, with its first row."""

    def __init__(self) -> None:
        self._codes = Growing(np.int32)
        self._known: dict[str, tuple[int, int]] = {}

    def extend(self, words: Iterable[str], rows: Iterable[int]) -> None:
        known = self._known
        codes = [known.setdefault(w, (len(known), row))[0] for w, row in zip(words, rows, strict=True)]
        self._codes.extend(np.array(codes, np.int32))

    def extend_coded(self, column: Coded) -> None:
        known = self._known
        seen = zip(column.words, column.lines, strict=True)
        codes = np.array([known.setdefault(w, (len(known), row))[0] for w, row in seen], np.int32)
        self._codes.extend(codes[column.codes])

    def coded(self, column: int, what: str) -> Coded:
        """The values of some rows of a file."""
        return Coded(list(self._known), [line for _, line in self._known.values()], self._codes.finish(), column, what)

    def finish(self, role: Role, column: int, what: str, findings: FileFindings) -> np.ndarray:
        """The values as numbers if all are numbers, else as words; ids are always words.

        Numbers that are not finite, and signs of other than two values, are noted.
        """
        words = list(self._known)
        codes = self._codes.finish()
        values = np.array(words)
        if role.kind == "ids":
            texts: np.ndarray = values[codes]
            return texts
        if all(to_finite(w) is not None or is_infinite(w) for w in words):
            values = np.array([float(w) for w in words])
            for word, value in zip(words, values, strict=True):
                if not np.isfinite(value):
                    findings.not_finite(what, word, self._known[word][1], column + 1)
        distinct, same = np.unique(values, return_inverse=True)
        if role.is_signs and distinct.size != 2 and not findings.failed:
            row, odd = None, None
            if distinct.size > 2:
                odd = words[int(codes[odd_one(same[codes], distinct.size)[1]])]
                row = self._known[odd][1]
            place = Place(findings.file, column=column + 1)
            findings.extend(not_two(role.name, distinct.tolist(), place, row, odd))
        column_values: np.ndarray = values[codes]
        return column_values


class _Levels(_Words):
    """A column of categories."""

    def category(self, column: int, what: str, findings: FileFindings) -> Category:
        """The levels of the rows. Fields without a value are noted."""
        words, lines = list(self._known), [line for _, line in self._known.values()]
        for word, line in zip(words, lines, strict=True):
            if word and is_gap(word):  # an empty field is noted where it is read
                _note_empty(line, column, what, findings, word)
        return Category.merged(self._codes.finish(), [level_of(word) for word in words], lines)


class Table:
    """The chosen columns of a csv file while it is read. Columns that outgrow memory go into `files`, where there are any."""

    def __init__(
        self,
        header: Header,
        choice: ChosenColumns,
        path: str,
        findings: FileFindings,
        advice: str = 'list the columns that are used with `columns=`, those of categories as `onehot("NAME")`',
        form: Form | None = None,
        files: Decoded | None = None,
        source: str = "csv",
    ) -> None:
        self._header = header
        self._source = source
        self._form = form or Form()
        self._dropped = 0
        self._one_by_one = 0  # fields that are not converted by array operations
        self._advice = advice
        self._choice = choice
        self._path = path
        self._findings = findings
        numeric = [(role, position) for role, position in choice.targets if not role.may_be_text]
        self._wanted = (*choice.numbers, *(position for _, position in numeric))
        self._numbers = [
            Growing(np.float64),
            *(_growing(role, files) for role, _ in numeric),
        ]  # the matrix, then each vector
        table = choice.table
        if table is not None and table.decoded is not None and table.may_stay and not choice.categories:
            self._numbers[0] = table.decoded.array(f"{table.name}.numbers", np.float64)
        self._words = {position: _Words() for role, position in choice.targets if role.may_be_text}
        self._levels = {position: _Levels() for position in choice.categories}
        self._words.update(self._levels)
        self._rows = 0

    def add(self, chunks: Iterator[bytes], line: int, was_quoted: bool = False, is_large: bool = False) -> None:
        """Add chunks of whole lines, the first of which is line `line` of the file.

        The file has quotes before these where it `was_quoted`, and where it `is_large` pyarrow is asked at once.
        """
        arrow: ArrowReader | None = None
        asked = False
        for text, rows in whole_rows(chunks, self._form.sep, was_quoted):
            if rows.was_quoted and (not rows.is_strict or self._header.count == 1):
                self.add_rows(decoded(chain([text], chunks), line, self._findings), line)
                break
            if not asked and (is_large or self._one_by_one >= FROM):
                asked = True
                arrow = ArrowReader.of(self._header.count, self._wanted, list(self._words), self._form, self._levels)
            columns = arrow.read(text, rows, line) if arrow else None
            if columns is not None:
                self._add_columns(columns)
            elif rows.has_quotes or not self.add_chunk(text, line):
                self.add_rows(decoded([text], line, self._findings), line)
            line += rows.lines
            if self._findings.full:
                break

    def add_chunk(self, text: bytes, line: int) -> bool:
        """Add whole lines without quotes. Adds nothing and returns False where a line needs the exact reader."""
        text = text.replace(b"\r\n", b"\n")
        buffer = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero((buffer == ord(self._form.sep)) | (buffer == 10))
        count = self._header.count
        breaks = buffer[ends] == 10
        if ends.size % count or np.count_nonzero(breaks) * count != ends.size or not breaks[count - 1 :: count].all():
            return False
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1] + 1
        if count == 1 and np.any(starts == ends):  # blank lines
            return False
        begin, end = starts.reshape(-1, count), ends.reshape(-1, count)
        wanted = list(self._wanted)
        numbers = text if self._form.decimal == "." else text.replace(b",", b".")
        plain = buffer if numbers is text else np.frombuffer(numbers, np.uint8)
        values, one_by_one = floats_counted(plain, numbers, begin[:, wanted].ravel(), end[:, wanted].ravel())
        self._one_by_one += one_by_one
        words = {}
        try:
            for position in self._words:
                bounds = zip(begin[:, position].tolist(), end[:, position].tolist(), strict=True)
                words[position] = [text[a:b].decode("utf-8").strip() for a, b in bounds]
        except UnicodeDecodeError:
            return False
        if values is None or any(any(map(self._gap(c), set(column))) for c, column in words.items()):
            return False
        self._add(values.reshape(len(begin), len(wanted)), words, range(line, line + len(begin)))
        return True

    def add_rows(self, text: Iterable[str], line: int) -> None:
        """Add the rest row by row, noting all that is wrong."""
        reader = csv.reader(text, delimiter=self._form.sep, strict=True)
        used = (*self._wanted, *self._words)
        batch: list[list[float]] = []
        words: dict[int, list[str]] = {position: [] for position in self._words}
        rows: list[int] = []
        blank: int | None = None
        row = line
        try:
            for record in reader:
                here, row = row, line + reader.line_num
                if self._findings.full:
                    return
                if not record or (self._header.count > 1 and record == [""]):
                    blank = here if blank is None else blank
                    continue
                if self._header.count == 1 and blank is not None:
                    self._empty(blank, 0)
                blank = None
                if len(record) != self._header.count:
                    note_ragged(record, here, self._header.count, self._form.sep, self._findings, self._source)
                    continue
                if self._form.drops and any(self._gap(c)(record[c]) for c in used):
                    self._dropped += 1
                    continue
                self._one_by_one += len(used)
                numbers = [self._number(record[c].strip(), here, c) for c in self._wanted]
                for position, column in words.items():
                    column.append(self._word(record[position].strip(), here, position))
                batch.append(numbers)
                rows.append(here)
                if len(batch) == 4096:
                    self._flush(batch, words, rows)
        except csv.Error as error:
            note_not_csv(error, row, self._path, self._findings)
        if batch:
            self._flush(batch, words, rows)

    def result(self, coded: bool = False) -> dict[str, Raw]:
        """The arrays of the roles; labels are `coded` where more rows follow, of which depends whether they are numbers."""
        findings = self._findings
        if findings.failed:
            return {}
        if self._rows == 0:
            findings.no_rows(self._dropped)
            return {}
        if self._dropped:
            findings.left_out(self._dropped, self._rows + self._dropped)
        result: dict[str, Raw] = {}
        if self._choice.table is not None:
            result[self._choice.table.name] = self._matrix(self._choice.table.name)
        vectors = iter(self._numbers[1:])
        words: dict[int, Any] = {}
        for role, position in self._choice.targets:
            if not role.may_be_text:
                result[role.name] = next(vectors).finish()
                continue
            if position not in words:
                column, what = self._words[position], self._what(position)
                words[position] = (
                    column.coded(position, what) if coded else column.finish(role, position, what, findings)
                )
            result[role.name] = words[position]
        return result

    def _gap(self, column: int) -> Callable[[str], bool]:
        """The test for fields of a column whose rows are not read as they are: left out, or told as empty."""
        if not self._form.drops:
            return "".__eq__
        return is_gap if column in self._levels else is_missing

    def _matrix(self, name: str) -> Raw:
        numbers = self._numbers[0].finish()
        if isinstance(numbers, Stored):
            return DenseRows([numbers], len(self._choice.numbers))
        numbers = numbers.reshape(self._rows, len(self._choice.numbers))
        if not self._levels:
            return numbers
        found = {c: levels.category(c, self._what(c), self._findings) for c, levels in self._levels.items()}
        names = self._findings.headers.get(name) or tuple(str(c) for c in self._choice.columns)
        return Mixed(names, self._choice.onehot, numbers, tuple(found[c] for c in self._choice.categories))

    def _flush(self, batch: list[list[float]], words: dict[int, list[str]], rows: list[int]) -> None:
        self._add(np.array(batch, np.float64).reshape(len(batch), len(self._wanted)), words, rows)
        batch.clear()
        rows.clear()
        for column in words.values():
            column.clear()

    def _add(self, values: np.ndarray, words: Mapping[int, list[str]], rows: Sequence[int]) -> None:
        if self._findings.failed:
            return
        self._add_numbers(values)
        for position, column in words.items():
            self._words[position].extend(column, rows)

    def _add_columns(self, columns: Columns) -> None:
        self._dropped += columns.dropped
        if self._findings.failed:
            return
        self._add_numbers(columns.numbers)
        for position, column in columns.words.items():
            self._words[position].extend_coded(column)

    def _add_numbers(self, values: np.ndarray) -> None:
        width = len(self._choice.numbers)
        self._numbers[0].extend(values[:, :width].ravel())
        for i, vector in enumerate(self._numbers[1:]):
            vector.extend(values[:, width + i])
        self._rows += len(values)

    def _number(self, text: str, row: int, column: int) -> float:
        if not text:
            self._empty(row, column)
        elif (value := to_finite(self._form.plain(text))) is not None:
            return value
        elif is_infinite(text):
            self._findings.not_finite(self._what(column), text, row, column + 1)
        else:
            self._findings.not_a_number(self._what(column), text, row, column + 1, self._about_text(row, column, text))
        return 0.0

    def _word(self, text: str, row: int, column: int) -> str:
        if not text:
            self._empty(row, column)
        return text

    def _empty(self, row: int, column: int) -> None:
        names = self._header.names
        last = names is not None and not names[column] and column == self._header.count - 1
        _note_empty(row, column, self._what(column), self._findings, source=self._source, no_name=last)

    def _about_text(self, row: int, column: int, text: str) -> str:
        if self._header.names is None and row == self._header.row:
            return "if the first line is a header, leave `header=false` out"
        if blanks := self._header.blanks(text):
            return blanks
        if is_missing(text) and takes_missing(self._source):
            return 'leave rows without a value out with `missing="drop"`, or the column with `columns=`'
        if self._form.decimal == "." and self._form.sep != "," and to_finite(text.replace(",", ".")) is not None:
            return 'say `decimal=","` where a comma stands before decimals'
        if _IN_A_UNIT.match(text):
            return "write the number alone: with no unit or currency, and with nothing between its thousands"
        # a target is read whatever `columns=` lists
        return self._advice if column in self._choice.numbers else "write the value as a number"

    def _what(self, column: int) -> str:
        """A column in the user's words."""
        names = self._header.names
        return f"column {column + 1}" if names is None or not names[column] else f"column `{names[column]}`"


def note_ragged(record: list[str], row: int, count: int, sep: str, findings: FileFindings, source: str = "csv") -> None:
    """Note that the record on a line has not the `count` fields that the first one has (FW4022)."""
    more = len(record) > count
    hint = ""
    if more and not record[-1].strip():
        hint = "leave the separator at its end out, or write one behind the names of the columns too"
    elif more:
        hint = f"{_SPLITS.get(sep, f'an unquoted `{sep}` in a text')} splits a field"
    findings.add(
        "FW4022",
        f"line {row} has {len(record)} {'field' if len(record) == 1 else 'fields'}, where {count} {'was' if count == 1 else 'were'} expected",
        rule=f"All lines of a {source} file have as many fields as its first.",
        hint=hint,
        row=row,
        column=min(len(record), count) + 1,  # the first column that is missing or too many
    )


def first_line(
    chunks: Iterator[bytes], options: Mapping[str, object], path: str, findings: FileFindings, source: str = "csv"
) -> tuple[Header, Iterator[bytes], int]:
    """The header, the chunks behind it (in front of it where the file has none), and the line where they start; `source` is read."""
    row = 1
    for text in chunks:
        while text:
            head, _, tail = text.partition(b"\n")
            if head.strip():
                return _header(text, row, options, path, chunks, findings, source)
            text, row = tail, row + 1
    findings.no_rows()
    raise Unreadable


def _header(
    text: bytes,
    row: int,
    options: Mapping[str, object],
    path: str,
    chunks: Iterator[bytes],
    findings: FileFindings,
    source: str,
) -> tuple[Header, Iterator[bytes], int]:
    sep, first = Form.of(options).sep, _FirstRow(text, chunks)
    reader = csv.reader(decoded(first.lines(), row, findings), delimiter=sep, strict=True)
    fields: list[str] = []
    failed: csv.Error | None = None
    try:
        fields = [f.strip() for f in next(reader)]
    except csv.Error as error:
        failed = error
    text, tail = first.text, first.text[first.end :]
    line = text[: first.end].decode("utf-8")
    other = next((c for c in SEPARATING if c in line and c != sep and (not failed or _has_several(text, c))), None)
    if told := told_to_spreadsheets(line):
        note_told(told, row, path, findings)
        raise Unreadable
    if failed and not other:
        note_not_csv(failed, row, path, findings)
        raise Unreadable
    if len(fields) <= 1 and other:
        told = "no comma" if sep == "," else f"no {SEPARATING.get(sep, f'`{sep}`')}"
        findings.add(
            "FW4034",
            f"line {row} of `{path}` has {told}, but a {SEPARATING[other]}",
            rule=f"Fields of a {source} file are separated by commas, or by what `sep=` says.",
            hint=with_sep(path, other, source),
            row=row,
        )
        raise Unreadable
    if not options.get("header", True):
        return Header(len(fields), None, row), chain([text], chunks), row
    if "header" not in options and all(to_finite(Form.of(options).plain(f)) is not None for f in fields):
        findings.add(
            "FW4033",
            f"the first line of `{path}` holds only numbers, and is taken as the header",
            rule="The first line of a csv file names its columns unless `header=false` says otherwise.",
            hint="give `header=false` if the first line is data, or `header=true` if it is not",
            row=row,
            severity="warning",
        )
    return Header(len(fields), tuple(fields), row), chain([tail] if tail else [], chunks), row + reader.line_num


def told_to_spreadsheets(line: str) -> str | None:
    """The separator that a line such as `sep=;` tells spreadsheets, which is no row; None for any other line."""
    found = re.fullmatch(r"sep=(\S|\t)", line.strip(" \r\n\ufeff"), re.IGNORECASE)
    return found and found[1]


def note_told(sep: str, row: int, path: str, findings: FileFindings) -> None:
    """Note such a line."""
    findings.add(
        "FW4034",
        f"line {row} of `{path}` is `sep={sep}`, which is for spreadsheets",
        rule="A csv file begins with the names of its columns, or with its rows.",
        hint="remove the line" if sep == "," else f"remove the line, and say `sep={json.dumps(sep)}` in the program",
        row=row,
    )


def takes_missing(source: str) -> bool:
    """True of a format whose rows without a value can be left out."""
    return any(parameter.name == "missing" for parameter in SOURCES[source].parameters)


def with_sep(path: str, sep: str, source: str = "csv") -> str:
    """The hint for a file whose fields another character separates."""
    file, word = without_secrets(path), SOURCES[source]
    takes_decimals = any(p.domain == "decimal" for p in word.parameters)
    decimals = ', and `decimal=","` behind it for decimal commas' if sep == ";" and takes_decimals else ""
    program = f'say `sep=` in the program, as in `from {source}("{file}", sep={json.dumps(sep)})`{decimals}'
    is_written = word.serves == "table" and infer_format(path) == source
    new = f"; `fwdsl new {file}` writes such a program" if is_written else ""
    # the program in a saved answer cannot be changed
    return f"{program}{new}; or write the file with commas"


def _has_several(text: bytes, sep: str) -> bool:
    """True if the first row of a text has several fields with this separator."""
    try:
        return (
            len(next(csv.reader(io.StringIO(text.decode("utf-8", "replace"), newline=""), delimiter=sep, strict=True)))
            > 1
        )
    except csv.Error:
        return False


class _FirstRow:
    """The lines of a file's first row, one unless a quoted field has line breaks. `text` is what was read, `end` where the lines given out end."""

    def __init__(self, text: bytes, chunks: Iterator[bytes]) -> None:
        self.text, self.end, self._chunks = text, 0, chunks

    def lines(self) -> Iterator[bytes]:
        """The lines as a reader of csv asks for them. A row of `LONGEST` bytes has a quote that is not closed."""
        while self.end < LONGEST:
            if self.end == len(self.text):
                self.text += next(self._chunks, b"")
            start, self.end = self.end, self.text.find(b"\n", self.end) + 1 or len(self.text)
            if start == self.end:
                return
            yield self.text[start : self.end]


def note_not_csv(error: csv.Error, row: int, path: str, findings: FileFindings) -> None:
    """Note an error that Python's csv module raised on a line."""
    amid = "new-line" in str(error)
    endless = "end of data" in str(error) or "field larger" in str(error)
    why = "a carriage return stands within it" if amid else "its quotes are not closed" if endless else str(error)
    findings.add(
        "FW4035",
        f"line {row} of `{path}` is not csv: {why}",
        rule=_QUOTES,
        hint="end all lines in the same way" if amid else "close the quotes, and double those inside quoted fields",
        row=row,
    )


def decoded(chunks: Iterable[bytes], line: int, findings: FileFindings) -> Iterator[str]:
    """Lines of text. Raises `Unreadable`, the line noted, at the first one that is not UTF-8."""
    for chunk in chunks:
        for raw in chunk.removesuffix(b"\n").split(b"\n"):
            try:
                yield raw.decode("utf-8") + "\n"
            except UnicodeDecodeError as error:
                findings.add(
                    "FW4006",
                    f"line {line} is not UTF-8 text",
                    rule="Text files are UTF-8.",
                    hint=next((hint for magic, hint in _NO_TEXT.items() if line == 1 and raw.startswith(magic)), _SAVE),
                    row=line,
                    value=raw[error.start : error.start + 1].hex(),
                )
                raise Unreadable from None
            line += 1


_SAVE = "save the file as UTF-8"

_NO_TEXT = {
    b"PK\x03\x04": "it is a zip archive, as those of spreadsheets are: take the text file out of it, or save the sheet as csv",
    b"PAR1": "it is a parquet file: give it the suffix `.parquet`, or say `parquet` in the program",
    b"\xff\xfe": "it is UTF-16: save it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does",
    b"\xfe\xff": "it is UTF-16: save it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does",
}
"""The advice for files that are no text in UTF-8, by the bytes that they begin with."""

_IN_A_UNIT = re.compile(
    r"""[$€£¥]?\s*[+-]?\s*[$€£¥]?\s*        # a currency
        (\d+([.,]\d+)?|\d{1,3}([ ,.'\u00a0\u2019\u202f]\d{3})+([.,]\d+)?)
        \s*([$€£¥%‰°]|[A-Za-zµ²³]{1,3})?\Z""",  # or a unit
    re.VERBOSE | re.ASCII,
)
"""Numbers as people write them: with a unit, a currency, or something between their thousands."""

_SPLITS = {
    ",": "a decimal comma or an unquoted comma in a text",
    "\t": "an unquoted tab in a text",
    " ": "a second or an unquoted blank",
}
"""The slips that make more fields of a line than are meant, by separator."""


def _note_empty(
    row: int,
    column: int,
    what: str,
    findings: FileFindings,
    text: str = "",
    source: str = "csv",
    no_name: bool = False,
) -> None:
    """Note a field without a value. A last column without a name is mostly none: lines end in a separator."""
    if no_name:
        hint = "where lines end in a separator, list the columns that are used with `columns=`"
    elif takes_missing(source):
        hint = 'fill in the value, leave such rows out with `missing="drop"`, or the column with `columns=`'
    else:
        hint = "fill in the value, or remove the line"
    findings.add(
        "FW4023",
        f"{what} is {f'`{text}`, which is no value,' if text else 'empty'} on line {row}",
        rule="Every row has a value in every column that is used.",
        hint=hint,
        row=row,
        column=column + 1,
        value=text,
    )
