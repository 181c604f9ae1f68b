"""`fwdsl fmt FILE... [--check]`."""

from __future__ import annotations

from collections.abc import Sequence

from ...collector import still_collector
from ...grammar import format_source
from ...grammar.diagnostic import has_errors
from ..arguments import Parser, add_file
from ..exits import OK, REJECTED, USAGE, CommandStop, code_for
from ..files import STDIN, display_name, program_text, rewrite
from ..output import Output


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser("fmt", "Canonical formatting, comments kept.")
    add_file(made, several=True)
    made.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a file would change")
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Format programs in place (standard input to standard output); with `--check` only say which would change."""
    arguments = parser()
    known = arguments.parse(argv)
    # a long line makes a million nodes without a cycle among them: looking for cycles takes a fifth of the time
    with still_collector():
        codes = [_one(name, known.check, output) for name in arguments.files(known, several=True)]
    return max(codes)


def _one(name: str, check: bool, output: Output) -> int:
    try:
        content = output.program = program_text(name)
        text, diagnostics = format_source(content, display_name(name))
        if has_errors(diagnostics):
            raise CommandStop(diagnostics, code_for(diagnostics, REJECTED))
        formatted = text.encode()
        if check:
            if formatted != content:
                output.text(f"{display_name(name)} is not formatted\n")
            return OK if formatted == content else USAGE
        if name == STDIN:
            output.utf8(text)
        elif formatted != content:
            rewrite(name, formatted)
            output.text(f"{name} formatted\n")
    except CommandStop as stop:
        output.report(stop.diagnostics)
        return stop.code
    return OK
