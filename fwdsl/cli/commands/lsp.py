"""`fwdsl lsp`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from ...extras import require
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
    """Serve an editor until it ends the session. Raises `RunError` FW0060 without the extra `lsp`."""
    parser().parse(argv)
    require("lsp")
    from ...lsp.server import serve

    if sys.stdin.isatty():
        output.note(f"{_WHAT} Ctrl-D ends it.")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # What anything else prints must not come between messages: it goes to standard error.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as messages:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve(sys.stdin.buffer, messages)
    return OK
