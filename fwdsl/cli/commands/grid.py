"""`fwdsl grid FILE --set N=a,b,c --set M=d,e [--folds K]`."""

from __future__ import annotations

from collections.abc import Sequence

from ..arguments import Parser
from ..output import Output
from ..sweeping import run_sweep, sweep_parser


def parser() -> Parser:
    """The arguments of the command."""
    description = (
        "Solve for every combination of values of parameters, each from the nearest answer: "
        "`--set N=a,b,c`, `--set N=logspace(lo,hi,count)` or `--set N=linspace(lo,hi,count)`, one for each parameter."
    )
    return sweep_parser("grid", description)


def run(argv: Sequence[str], output: Output) -> int:
    """Solve for every combination of values of parameters; the data are read once, and each solve starts from the nearest answer."""
    return run_sweep(parser(), "grid", argv, output)
