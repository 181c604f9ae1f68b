"""`fwdsl lsp`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from ...errors import RunError
from ...grammar.diagnostic import Diagnostic
from ..arguments import Parser
from ..exits import OK
from ..output import Output

_WHAT = "The language server: an editor starts it and speaks to it over standard input and output."


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser("lsp", _WHAT)
    # editors' clients add this to the commands that they start
    made.add_argument("--stdio", action="store_true", help="standard input and output, which is the only way")
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Serve an editor until it ends the session. Raises `RunError` FW0060 where pygls is not installed."""
    parser().parse(argv)
    try:
        import pygls  # noqa: F401  # only to see that it is there
    except ImportError:
        rule = "The language server needs the extra `lsp`."
        hint = "pip install 'fwdsl[lsp]'"
        raise RunError([Diagnostic("FW0060", "pygls is not installed", rule=rule, hint=hint)]) from None
    from ...lsp.server import serve

    if sys.stdin.isatty():
        output.note(f"{_WHAT} Ctrl-D ends it.")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # What anything else prints must not come between messages: it goes to standard error.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as messages:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve(sys.stdin.buffer, messages)
    return OK
