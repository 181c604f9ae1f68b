"""`fwdsl explain [CODE, METHOD or NAME]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches

from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser
from ..exits import OK, CommandStop
from ..output import Output
from ..terminal import style_of


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "explain",
        "The long form of a diagnostic, or the list of all; the options of a method; a name of another system.",
    )
    made.add_argument(
        "codes",
        nargs="*",
        metavar="CODE",
        help="such as FW2001, a method's name, or a name of CVXPY, JuMP, NumPy, ...; without one, all codes with titles",
    )
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Print the long form of each code, the options of each method, what is written for a name from elsewhere; or the list of all codes."""
    arguments = parser()
    codes = arguments.parse(argv).codes
    from ...diagnostics.explain import explain, listing, similar

    if not codes:
        output.text(listing())
    for i, code in enumerate(codes):
        width = style_of(sys.stdout).width
        text = explain(code, width)
        if text is None and not code.upper().startswith("FW"):
            from ...plan.document import explain_method

            text = explain_method(code.lower(), width)
        if text is None:
            from ...words.foreign.told import told

            text = told(code, width)
        if text is None:
            from ...backends.registry import METHODS

            digits = any(char.isdigit() for char in code)
            close = similar(code) if digits else get_close_matches(code.lower(), METHODS, n=2)
            hint = f"did you mean `{'` or `'.join(close)}`?" if close else "`fwdsl explain` lists all codes"
            raise CommandStop([Diagnostic("FW0015", f"`{code}` is not the code of a diagnostic", hint=hint)])
        output.text(("\n" if i else "") + text)
    return OK
