"""The command line: `fwdsl COMMAND ...`, one module a command, thin over `fwdsl.session`."""

from __future__ import annotations

import sys

from .no_result import NO_RESULT

try:
    from .signals import Held, Terminated, let_go
except KeyboardInterrupt:
    # before anything could hold it back
    sys.stderr.write(NO_RESULT)
    raise SystemExit(130) from None

TYPE_CHECKING = False  # the checkers know the name; `typing` takes a while to import
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_TO_END = ("--checkpoint", "--workers", "--folds", "--memory")
"""The options of commands that have something to do when they are terminated."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fwdsl` with these arguments (default: the process's own) and return its exit code.

    Nothing is imported before Ctrl-C is held back: in the middle of an import it would end in a traceback. SIGTERM ends a command as Ctrl-C does
    where a checkpoint is to be saved, workers are to be ended, or files with rows are to be removed; elsewhere it ends the process on the spot.
    """
    words = sys.argv[1:] if argv is None else argv
    with Terminated(wanted=any(word.startswith(_TO_END) for word in words)) as terminated:
        try:
            with Held() as held:
                from .app import run
                from .exits import INTERRUPTED, TERMINATED
            code = run(words, interrupted=held.came)
        except KeyboardInterrupt:  # as `run` begins or ends
            sys.stderr.write(NO_RESULT)
            code = INTERRUPTED
        finally:
            if argv is None:
                let_go()
    return TERMINATED if terminated.came and code == INTERRUPTED else code
