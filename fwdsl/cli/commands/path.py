"""`fwdsl path FILE --set N=a,b,c [--folds K]`."""

from __future__ import annotations

from collections.abc import Sequence

from ..arguments import Parser
from ..output import Output
from ..sweeping import run_sweep, sweep_parser


def parser() -> Parser:
    """The arguments of the command."""
    description = (
        "Solve along values of a parameter, each from the nearest answer: "
        "`--set N=a,b,c`, `--set N=logspace(lo,hi,count)` or `--set N=linspace(lo,hi,count)`."
    )
    return sweep_parser("path", description)


def run(argv: Sequence[str], output: Output) -> int:
    """Solve along values of a parameter; the data are read once, and each solve starts from the nearest answer."""
    return run_sweep(parser(), "path", argv, output)
