"""`fwdsl race FILE [--methods a,b]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ...errors import FwError
from ...grammar.diagnostic import Diagnostic
from ...results.plot import require_plot
from ..arguments import Parser, add_bindings, add_file, add_html, add_json, add_solve, add_strict
from ..exits import BUG, OF_STATUS, USAGE
from ..opening import bindings_of, inputs_of, opened, tell_of_lost_pages
from ..output import Output
from ..outputs import keep_apart, require_outputs, written
from ..racing import show_table, watching

if TYPE_CHECKING:
    from ...session import Session
    from ...studies.race import Race


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "race",
        "Run methods under one clock, each alone, and compare the gaps that the verifier certifies against time and passes over the data. "
        "Without --methods all run that apply; each has 10 seconds and one thread unless told.",
    )
    add_file(made)
    add_bindings(made)
    add_solve(made, several=True)
    made.add_argument("--plot", metavar="FILE", help="draw gap against time and passes; the suffix tells the format")
    add_html(made)
    add_json(made)
    add_strict(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Run methods under one clock. The data are read once, and finished methods are reported even if others fail."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = arguments.files(known)
    bindings = bindings_of(known)
    outputs = {"--plot": known.plot, "--html": known.html}
    require_outputs(outputs)
    if known.plot is not None:
        require_plot(known.plot)
    from ...studies.lanes import lanes, race_options
    from ...studies.race import run_race

    session = opened(name, output, bindings)
    tell_of_lost_pages(output)
    keep_apart(outputs, inputs_of(session, name))
    told = ("tol", "gap", "time", "max_iter", "seed", "threads", "device")
    session.options = race_options(session.compile(), **{key: getattr(known, key) for key in told})
    session.check_bindings()
    session.canonicalise()
    entered = lanes(session, known.methods)
    with watching(output, session.options, len([lane for lane in entered if lane.plan])) as (on_progress, on_entrant):
        race = run_race(session, entered, on_progress, on_entrant)
    return _tell(race, session, known, argv, output)


def _tell(race: Race, session: Session, known: argparse.Namespace, argv: Sequence[str], output: Output) -> int:
    """Print the table, draw the plot and write the page. The table is printed even if a file cannot be written."""
    html = partial(_report, race=race, session=session, argv=argv)
    _, wrong = written({known.plot: race.plot, known.html: html})
    unsaved = bool(wrong)
    if race.contradiction:
        hint = "please report it, with the program and what it ran on"
        wrong.append(Diagnostic("FW9002", f"the methods contradict each other: {race.contradiction}", hint=hint))
    show_table(race, output)
    output.report(wrong)
    output.finish(race.to_json())
    return BUG if race.contradiction else USAGE if unsaved else OF_STATUS[race.status]


def _report(file: str, race: Race, session: Session, argv: Sequence[str]) -> None:
    from ...reports.parts import of_race
    from ...reports.report import Report
    from ...session import Raising

    plan = None
    with suppress(FwError):  # where every method that applies has to be named
        plan = session.solved_with(session.options, Raising()).plan()
    parts = of_race(race, plan)
    Report("a race of methods", session.name, parts, session, ("race", *argv), session.bind()).write(file)
