"""`fwdsl plan FILE [--analyze] [--json]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..arguments import Parser, add_bindings, add_file, add_html, add_json, add_solve, add_strict, add_workers
from ..exits import OF_STATUS, OK, USAGE
from ..opening import absent_sources, at_hand, bindings_of, held_by_workers, opened_to_solve, solve
from ..output import Output
from ..outputs import require_outputs, written

if TYPE_CHECKING:
    from ...plan import Plan
    from ...results.solution import Solution
    from ...session import Session


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "plan",
        "The plan: canonical form, structure, every method with its reasons and predictions, and the choice. "
        "Data are used where all of them are at hand, as sizes make the predictions sharper.",
    )
    add_file(made)
    add_bindings(made)
    add_solve(made)
    add_workers(made)
    made.add_argument("--analyze", action="store_true", help="also run it, and set predicted beside actual")
    add_html(made)
    add_json(made)
    add_strict(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Show the plan, with the data if all of them are at hand."""
    arguments = parser()
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = arguments.files(known)
    bindings = bindings_of(known)
    outputs = {"--html": known.html}
    require_outputs(outputs)
    session = opened_to_solve(name, known, bindings, output, outputs)
    session.check_bindings()
    model = session.compile()
    absent = absent_sources(model, bindings, session.base)
    with_data = known.analyze or at_hand(model, bindings, absent)
    if not with_data:
        session.sink.found("bind", absent)
    with held_by_workers(session, known.workers if with_data else None, output) as session:
        plan = session.plan(with_data=with_data)
        output.text(plan.render().rstrip("\n") + "\n")
        write = partial(_report, session=session, argv=argv, plan=plan)
        if not known.analyze:
            _, unsaved = written({known.html: write})
            output.report(unsaved)
            output.finish({"status": "ok", "plan": plan.to_json()})
            return USAGE if unsaved else OK
        from ...results.json_form import solution_json
        from ..report import analysis_text

        solution = solve(session, output)
        found = solution.analysis()
        output.text("\n" + analysis_text(found, solution))
        _, unsaved = written({known.html: partial(write, analysis=found, solution=solution)})
        output.report(unsaved)
        output.finish({**solution_json(solution), "analysis": found})
        return USAGE if unsaved else OF_STATUS[solution.status]


def _report(
    file: str,
    session: Session,
    argv: Sequence[str],
    plan: Plan,
    analysis: Mapping[str, Any] | None = None,
    solution: Solution | None = None,
) -> None:
    from ...reports.parts import of_plan
    from ...reports.report import Report

    what = "a plan" if solution is None else "a plan and its run"
    instance = session.bind() if plan.bound else None
    Report(what, session.name, of_plan(plan, analysis, solution), session, ("plan", *argv), instance).write(file)
