"""`fwdsl grid FILE --set N=a,b,c --set M=d,e [--folds K]`."""

from __future__ import annotations

from collections.abc import Sequence

from ..output import Output
from ..sweeping import run_sweep


def run(argv: Sequence[str], output: Output) -> int:
    """Solve for every combination of values of parameters; the data are read once, and each solve starts from the nearest answer."""
    description = (
        "Solve for every combination of values of parameters, each from the nearest answer: "
        "`--set N=a,b,c`, `--set N=logspace(lo,hi,count)` or `--set N=linspace(lo,hi,count)`, one for each parameter."
    )
    return run_sweep("grid", description, argv, output)
