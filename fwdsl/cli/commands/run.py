"""`fwdsl run FILE`: compile, bind, plan, solve, print."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...results.plot import require_plot
from ..arguments import Parser, add_bindings, add_file, add_html, add_json, add_solve, add_strict, add_workers
from ..exits import OF_STATUS, USAGE
from ..opening import bindings_of, held_by_workers, opened_to_solve, solve
from ..output import Mode, Output
from ..outputs import keep_apart, require_outputs, written

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...session import Session


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser("run", "Compile, plan and solve a program; print the answer and its certificate.")
    add_file(made)
    add_bindings(made)
    add_solve(made)
    add_workers(made)
    add_json(made, stream=True)
    made.add_argument("--out", metavar="FILE.npz", help="save variables, duals and the record of the run")
    made.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="save the state of the run after 5 s, each minute, and at its end or SIGTERM",
    )
    made.add_argument("--resume", metavar="FILE", help="go on from a state that --checkpoint saved")
    made.add_argument("--plot", metavar="FILE", help="draw how the gap closed; the suffix tells the format")
    add_html(made)
    add_strict(made)
    made.add_argument("--quiet", action="store_true", help="print one line; no progress, no warnings")
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Run a program and print its answer, also the best point so far at a limit or an interruption."""
    arguments = parser()
    known = arguments.parse(argv)
    mode: Mode = "json" if known.json else "stream" if known.json_stream else "text"
    output.configure(mode=mode, quiet=known.quiet, strict=known.strict)
    (name,) = arguments.files(known)
    bindings = bindings_of(known)
    outputs = {"--out": known.out, "--plot": known.plot, "--checkpoint": known.checkpoint, "--html": known.html}
    require_outputs(outputs)
    if known.plot is not None:
        require_plot(known.plot)
    if known.resume is not None:  # it may be the checkpoint: the next state takes its place
        keep_apart({**outputs, "--checkpoint": None}, [("the state to go on from", known.resume)])

    from ...results.saved import save_solution
    from ...solve.interrupt import Control, interruptible

    session = opened_to_solve(name, known, bindings, output, outputs)
    with held_by_workers(session, known.workers, output) as session:
        form = session.canonicalise()
        state, checkpoints, start = None, None, None
        if known.resume is not None or known.checkpoint is not None:
            from ...solve.forms import Start
            from ..checkpoint import Checkpoints, resumed

            if known.resume is not None:
                found, session.options = resumed(known.resume, form, session.options)
                if isinstance(found, Start):
                    start = found
                    output.note(f"starts from {start.origin}")
                else:
                    state = found
            if known.checkpoint is not None:
                checkpoints = Checkpoints(known.checkpoint, form, output)
        output.event("plan", {"plan": session.plan().to_json(everything=False)})
        on_state = checkpoints.after_step if checkpoints else None
        control = Control()
        # open until the answer is told: a Ctrl-C that comes as solving ends must not lose it
        with interruptible(control):
            solution = solve(session, output, start, control, state, on_state)
            # a step that was broken off leaves no state, and so does an answer that no method had to find; the one last saved stays
            unsaved = checkpoints.save(solution.state) if checkpoints and solution.state is not None else []
            save = partial(save_solution, solution=solution, form=form, options=session.options)
            html = partial(_report, solution=solution, session=session, argv=argv)
            saved, more = written({known.out: save, known.plot: solution.plot, known.html: html})
            unsaved += more
            output.report(unsaved)
            tell(solution, output, saved)
            for line in (*told_of_memory(solution), *told_of_workers(session)):
                output.note(line)
    return USAGE if unsaved else OF_STATUS[solution.status]


def told_of_workers(session: Session) -> Iterator[str]:
    """Lines on what the workers did; none without `--workers`."""
    return iter(()) if session.cluster is None else iter(session.cluster.lines())


def told_of_memory(solution: Solution) -> Iterator[str]:
    """Lines on how often data that stay on their disk were read and where from, and on the peak of memory; none without `--memory`."""
    if solution.options.memory is None:
        return
    from ...readers.decoded import is_decoded
    from ...readers.held_rows import InHands
    from ...readers.memory import resident, size
    from ...readers.owned import is_owned
    from ...readers.row_blocks import RowBlocks

    for name, value in solution.instance.values.items():
        # workers read their own rows, or were sent them
        if isinstance(value, RowBlocks) and not isinstance(value, InHands):
            folder = os.path.dirname(value.files[0])
            more = f" and {len(value.files) - 1} more" if len(value.files) > 1 else ""
            kept = ""
            if is_decoded(folder):
                kept = ", rows decoded there"
                kept += " for this run alone" if is_owned(folder) else " (`fwdsl doctor --remove-rows`)"
            yield f"`{name}`, {size(value.nbytes)}, was read {value.passes:.1f} times from {value.files[0]}{more}{kept}"
    peak = resident()[1]
    if peak:
        yield f"memory: {size(peak)} at its peak, of {size(solution.options.memory)}"


def _report(file: str, solution: Solution, session: Session, argv: Sequence[str]) -> None:
    from ...reports.parts import of_solution
    from ...reports.report import Report

    Report("a run", session.name, of_solution(solution), session, ("run", *argv), session.bind()).write(file)


def tell(solution: Solution, output: Output, saved: Sequence[str]) -> None:
    """Print the answer in the mode of the output."""
    from ...results.json_form import solution_json
    from ..report import one_line, solution_text

    output.text(one_line(solution) if output.quiet else solution_text(solution, saved))
    payload = solution_json(solution)
    output.event("solution", payload)
    output.finish(payload)
