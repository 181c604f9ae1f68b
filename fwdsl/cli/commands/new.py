"""`fwdsl new DATA [--target COLUMN] [--out FILE.fw]`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from ...diagnostics.secrets import masked
from ...errors import DataError
from ...files.target import unwritable, write_text
from ...grammar.diagnostic import Diagnostic
from ...readers.files import Unreadable
from ...readers.findings import FileFindings
from ...readers.sources import file_part, infer_format, is_url, without_secrets
from ...session import Raising, Session
from ..arguments import Parser, add_json
from ..exits import OK, CommandStop
from ..output import Output
from ..outputs import require_writable

if TYPE_CHECKING:
    from ...readers.look import Column, Table
    from ...studies.first_program import FirstProgram

FORMATS = ("csv", "parquet", "feather", "libsvm")
"""The formats of samples."""


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "new",
        f"Look at a file of samples ({', '.join(FORMATS)}), and write a first program that fits its columns. Asks for the column to predict "
        "where --target does not name it.",
    )
    made.add_argument("files", nargs="*", metavar="DATA", help="the file of samples, a row each")
    made.add_argument(
        "--target", metavar="COLUMN", help="the column to predict; the last of numbers or classes, unless asked"
    )
    made.add_argument("--out", metavar="FILE.fw", help="the program to write; named as the data unless told")
    add_json(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Write a first program for a file of samples."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text")
    if len(known.files) != 1:
        found = "no file of data is named" if not known.files else f"`{known.files[1]}` is one argument too many"
        code = "FW0031" if not known.files else "FW0006"
        raise CommandStop(
            [Diagnostic(code, found, rule="This command takes a file of samples.", hint="write `fwdsl new DATA.csv`")]
        )
    (path,) = known.files
    out = Path(known.out or f"{Path(file_part(path)).name.split('.')[0]}.fw")
    if out.exists():
        rule = "A file that is there is not overwritten."
        raise CommandStop(
            [Diagnostic("FW0030", f"`{out}` exists", rule=rule, hint="name another file by `--out FILE.fw`")]
        )
    require_writable(str(out))
    table = _looked(path)
    target = _target(table, path, known.target, output)
    made = _first_program(table, path, out, target)
    session = Session(made.text, str(out), out.parent, Raising())
    session.compile()
    try:
        write_text(str(out), made.text)
    except OSError as error:
        raise CommandStop([unwritable(str(out), error)]) from None
    for name, why in made.left_out:
        output.note(f"`{name}` is left out: {why}")
    command = ["fwdsl", "run", str(out)]
    output.text(f"{masked(made.text)}\n{shlex.join(command)}\n")
    left_out = [{"column": name, "reason": why} for name, why in made.left_out]
    output.finish(
        {
            "status": "ok",
            "file": str(out),
            "target": target.name,
            "kind": target.kind,
            "left_out": left_out,
            "command": command,
        }
    )
    return OK


def _first_program(table: Table, path: str, out: Path, target: Column) -> FirstProgram:
    """The program; where no other column can be used as it is, with rows left out that have gaps."""
    from ...studies.first_program import first_program

    written = path if is_url(path) else os.path.relpath(path, out.parent)
    for each in (table, table.without_gaps()):
        made = first_program(each, written, target)
        if table.sparse or len(made.left_out) < len(table.columns) - 1:
            return made
    rule = "A column is predicted from others, which have numbers in at least half of the rows."
    raise CommandStop(
        [Diagnostic("FW0031", f"`{without_secrets(path)}` has no column to predict `{target.name}` from", rule=rule)]
    )


def _looked(path: str) -> Table:
    from ...readers.csv_columns import ONE_NAME, repeated, several_named
    from ...readers.look import look

    found = infer_format(path) or ""
    if found not in FORMATS:
        rule = f"Samples are in files of {', '.join(FORMATS)}, which the suffix tells."
        hint = "name a file such as `samples.csv`"
        raise CommandStop(
            [
                Diagnostic(
                    "FW0031", f"`{without_secrets(path)}` is no file of samples by its suffix", rule=rule, hint=hint
                )
            ]
        )
    findings = FileFindings(without_secrets(path))
    try:
        table = look(path, found, findings)
    except Unreadable:
        raise DataError(findings.result()) from None
    if twice := repeated([column.name for column in table.columns]):
        told, hint = several_named(twice), "give each column of the file a name of its own"
        raise CommandStop([Diagnostic("FW4038", f"`{without_secrets(path)}` has {told}", rule=ONE_NAME, hint=hint)])
    return table


def _target(table: Table, path: str, named: str | None, output: Output) -> Column:
    from ...studies.first_program import targets, usual_target

    able = targets(table)
    names = [column.name for column in able]
    if not able:
        rule = "What is predicted is a column of numbers or of classes, without gaps, whose values differ."
        raise CommandStop(
            [Diagnostic("FW0031", f"`{without_secrets(path)}` has no column that can be predicted", rule=rule)]
        )
    if named is None and len(able) > 1 and output.mode == "text" and sys.stdin.isatty():
        named = _asked(able, usual_target(able, table))
    if named is None:
        return usual_target(able, table)
    column = next((c for c in able if c.name == named), None)
    if column is None:
        close = get_close_matches(named, names, n=1)
        rule = f"The columns that can be predicted are {', '.join(f'`{n}`' for n in names)}."
        hint = f"did you mean `--target {close[0]}`?" if close else f"write for instance `--target {names[-1]}`"
        raise CommandStop(
            [
                Diagnostic(
                    "FW0031",
                    f"`{named}` is no column of `{without_secrets(path)}` that can be predicted",
                    rule=rule,
                    hint=hint,
                )
            ]
        )
    return column


def _asked(able: Sequence[Column], usual: Column) -> str:
    """The answer to which column is to be predicted; the usual one for none."""
    for column in able:
        sys.stderr.write(f"  {column.name} ({column.kind})\n")
    sys.stderr.write(f"the column to predict [{usual.name}]: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() or usual.name
