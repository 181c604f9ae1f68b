"""The command line: `fwdsl COMMAND ...`, one module a command, thin over `fwdsl.session`."""

from __future__ import annotations

import sys

try:
    from .signals import Held, let_go
except KeyboardInterrupt:
    # before anything could hold it back
    sys.stderr.write("interrupted: there is no result\n")
    raise SystemExit(130) from None

TYPE_CHECKING = False  # the checkers know the name; `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fwdsl` with these arguments (default: the process's own) and return its exit code.

    Nothing is imported before Ctrl-C is held back: in the middle of an import it would end in a traceback.
    """
    with Held() as held:
        from .app import run
    try:
        return run(sys.argv[1:] if argv is None else argv, interrupted=held.came)
    finally:
        if argv is None:
            let_go()
