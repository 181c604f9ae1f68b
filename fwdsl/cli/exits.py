"""Exit codes, and the exception that ends a command with diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..grammar.diagnostic import Diagnostic

if TYPE_CHECKING:
    from ..results.status import Status

OK = 0
USAGE = 1  # also: `fmt --check` found a difference, `verify` a disagreement
REJECTED = 2
PROVEN = 3  # infeasible or unbounded
LIMIT = 4
BUG = 70
INTERRUPTED = 130
TERMINATED = 143

OF_STATUS: dict[Status, int] = {
    "optimal": OK,
    "infeasible": PROVEN,
    "unbounded": PROVEN,
    "tolerance_not_reached": LIMIT,
    "interrupted": INTERRUPTED,
}


class CommandStop(Exception):
    """The end of a command: the diagnostics to report, and the exit code."""

    def __init__(self, diagnostics: Sequence[Diagnostic], code: int = USAGE) -> None:
        super().__init__(diagnostics, code)
        self.diagnostics = tuple(diagnostics)
        self.code = code


def code_for(diagnostics: Sequence[Diagnostic], otherwise: int = USAGE) -> int:
    """70 if one of them is a bug of fwdsl, else the code of the stage that found them."""
    return BUG if any(d.code.startswith("FW9") for d in diagnostics) else otherwise
