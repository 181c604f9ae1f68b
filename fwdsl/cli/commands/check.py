"""`fwdsl check FILE... [--json]`."""

from __future__ import annotations

from collections.abc import Sequence

from ..arguments import Parser, add_bindings, add_file, add_json, add_strict
from ..exits import OK, CommandStop
from ..files import display_name
from ..opening import bindings_of, opened
from ..output import Output


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser("check", "Check programs: syntax, names, shapes, convexity. No data is read unless --data binds it.")
    add_file(made, several=True)
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
            session = opened(name, output, bindings)
            if known.data:
                session.bind()
            elif bindings is not None:
                session.check_bindings()
            codes[name] = OK
            output.text(f"{display_name(name)}: ok\n")
        except CommandStop as stop:
            output.report(stop.diagnostics)
            codes[name] = stop.code
    status = {name: "rejected" if code else "ok" for name, code in codes.items()}
    payload = {"status": "rejected" if any(codes.values()) else "ok"}
    output.finish(payload if len(names) == 1 else {**payload, "files": status})
    return max(codes.values())
