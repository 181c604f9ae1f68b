"""`fwdsl check FILE... [--fix] [--json]`."""

from __future__ import annotations

from collections.abc import Sequence

from ...check import examine_text
from ...files.fixes import mended
from ...grammar.diagnostic import has_errors
from ...grammar.reader import read
from ..arguments import Parser, add_bindings, add_file, add_json, add_strict
from ..exits import OK, REJECTED, CommandStop
from ..files import STDIN, display_name, program_text, rewrite
from ..opening import bindings_of, opened
from ..output import Output


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser("check", "Check programs: syntax, names, shapes, convexity. No data is read unless --data binds it.")
    add_file(made, several=True)
    made.add_argument(
        "--fix",
        action="store_true",
        help="write fixes that keep the meaning into the files; of standard input print the mended program",
    )
    add_bindings(made)
    add_json(made)
    add_strict(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Check each program; data are read only where `--data` binds them."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    names = arguments.files(known, several=True)
    bindings = bindings_of(known) if known.data or known.set or known.dim else None
    codes: dict[str, int] = {}
    for name in names:
        try:
            if known.fix:
                _fix(name, output, known.json)
            if known.fix and name == STDIN:
                codes[name] = OK
                continue
            session = opened(name, output, bindings)
            if known.data:
                session.bind()
            elif bindings is not None:
                session.check_bindings()
            session.check_method()
            codes[name] = OK
            output.text(f"{display_name(name)}: ok\n")
        except CommandStop as stop:
            output.report(stop.diagnostics)
            codes[name] = stop.code
    status = {name: "rejected" if code else "ok" for name, code in codes.items()}
    payload = {"status": "rejected" if any(codes.values()) else "ok"}
    output.finish(payload if len(names) == 1 else {**payload, "files": status})
    return max(codes.values())


def _fix(name: str, output: Output, json: bool) -> None:
    """Write the fixes that keep the meaning into a file; of standard input print the program."""
    content = program_text(name)
    source, broken = read(content, display_name(name))
    if broken:
        return  # what is no text is told by the check
    text, count = mended(source.text, lambda text: examine_text(text, name).diagnostics)
    if name == STDIN:
        output.utf8(text)
        left = examine_text(text, display_name(name)).diagnostics
        if has_errors(left):
            raise CommandStop(left, REJECTED)
    elif count:
        rewrite(name, text.encode())
        output.text("" if json else f"{name}: {count} {'fix' if count == 1 else 'fixes'} written\n")
