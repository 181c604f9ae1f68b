"""`fwdsl path FILE --set N=a,b,c [--folds K]`."""

from __future__ import annotations

from collections.abc import Sequence

from ..output import Output
from ..sweeping import run_sweep


def run(argv: Sequence[str], output: Output) -> int:
    """Solve along values of a parameter; the data are read once, and each solve starts from the nearest answer."""
    description = (
        "Solve along values of a parameter, each from the nearest answer: "
        "`--set N=a,b,c`, `--set N=logspace(lo,hi,count)` or `--set N=linspace(lo,hi,count)`."
    )
    return run_sweep("path", description, argv, output)
