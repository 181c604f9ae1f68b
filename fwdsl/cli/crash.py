"""Reports of unexpected exceptions, which are bugs of fwdsl."""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Sequence

from ..grammar.diagnostic import Diagnostic, Place
from ..results.versions import versions


def bug(error: BaseException, argv: Sequence[str], program: bytes | None) -> Diagnostic:
    """The diagnostic for an unexpected exception. It names a file to which the report is written."""
    report = _report(error, argv, program)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="fwdsl-bug-", suffix=".txt", delete=False
        ) as file:
            file.write(report)
        place, where = Place(file.name), f"`{file.name}`"
    except OSError:
        sys.stderr.write(report)
        place, where = None, "the lines above"
    return Diagnostic(
        "FW9001",
        f"an error in fwdsl itself: {type(error).__name__}",
        place=place,
        rule="This is a bug of fwdsl, whatever the program says.",
        hint=f"please report it with {where}: versions, program and traceback, no data",
    )


def _report(error: BaseException, argv: Sequence[str], program: bytes | None) -> str:
    parts = ["\n".join(f"{name} {number}" for name, number in versions().items())]
    parts.append("command: fwdsl " + " ".join(argv))
    parts.append("".join(traceback.format_exception(error)))
    if program is not None:
        parts.append("program:\n\n" + program[:100_000].decode("utf-8", errors="backslashreplace"))
    return "\n\n".join(parts) + "\n"
