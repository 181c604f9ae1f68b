"""`fwdsl explain [CODE]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser
from ..exits import OK, Stop
from ..output import Output
from ..terminal import look


def run(argv: Sequence[str], output: Output) -> int:
    """Print the long form of each code, or the list of all codes."""
    parser = Parser("explain", "The long form of a diagnostic, or the list of all.")
    parser.add_argument("codes", nargs="*", metavar="CODE", help="such as FW2001; without one, all codes with titles")
    codes = parser.parse(argv).codes
    from ...diagnostics.explain import explain, listing, similar

    if not codes:
        output.text(listing())
    for i, code in enumerate(codes):
        text = explain(code, look(sys.stdout).width)
        if text is None:
            close = similar(code)
            hint = f"did you mean `{'` or `'.join(close)}`?" if close else "`fwdsl explain` lists all codes"
            raise Stop([Diagnostic("FW0015", f"`{code}` is not the code of a diagnostic", hint=hint)])
        output.text(("\n" if i else "") + text)
    return OK
