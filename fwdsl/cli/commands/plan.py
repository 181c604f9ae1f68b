"""`fwdsl plan FILE [--analyze] [--json]`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...grammar.diagnostic import Diagnostic
from ...readers.files import Unreadable, check_readable
from ...readers.findings import FileFindings
from ..arguments import Parser, add_bindings, add_file, add_json, add_solve, add_strict
from ..exits import OF_STATUS, OK
from ..opening import bindings_of, opened_to_solve, solve
from ..output import Output

_WITHOUT = "A program whose data are not there is planned without them; `fwdsl run` would stop."

if TYPE_CHECKING:
    from ...bind import Bindings
    from ...model import Model


def run(argv: Sequence[str], output: Output) -> int:
    """Show the plan, with the data if all of them are at hand."""
    parser = Parser(
        "plan",
        "The plan: canonical form, structure, every method with its reasons and predictions, and the choice. "
        "Data are used where all of them are at hand, as sizes make the predictions sharper.",
    )
    add_file(parser)
    add_bindings(parser)
    add_solve(parser)
    parser.add_argument("--analyze", action="store_true", help="also run it, and set predicted beside actual")
    add_json(parser)
    add_strict(parser)
    known = parser.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = parser.files(known)
    given = bindings_of(known)
    session = opened_to_solve(name, known, given, output)
    session.check_bindings()
    model = session.compile()
    absent = _absent(model, given, session.base)
    with_data = known.analyze or _at_hand(model, given, absent)
    if not with_data:
        session.sink.found("bind", absent)
    plan = session.plan(with_data=with_data)
    output.text(plan.render().rstrip("\n") + "\n")
    if not known.analyze:
        output.finish({"status": "ok", "plan": plan.to_json()})
        return OK
    from ...results.json_form import solution_json
    from ..report import analysis, analysis_text

    solution = solve(session, output)
    output.text("\n" + analysis_text(plan, solution))
    output.finish({**solution_json(solution), "analysis": analysis(plan, solution)})
    return OF_STATUS[solution.status]


def _at_hand(model: Model, given: Bindings, absent: Sequence[Diagnostic]) -> bool:
    """Whether every datum and parameter can have a value; true also where the command line gives data, so that what it
    lacks is reported."""
    if given.sources:
        return True
    return (
        not absent
        and all(param.default is not None or param.name in given.params for param in model.params)
        and all(datum.literal is not None or datum.source is not None for datum in model.data)
    )


def _absent(model: Model, given: Bindings, folder: Path) -> tuple[Diagnostic, ...]:
    """The program's own sources that are not there, as warnings; none where the command line gives data."""
    from ...bind.bindings import spec_of

    sources = {d.source.span.start: d.source for d in model.data if d.source is not None and not given.sources}
    found: list[Diagnostic] = []
    for source in sources.values():
        findings = FileFindings(spec_of(source, folder).path)
        with suppress(Unreadable):
            check_readable(findings.file, findings)
        # what else is wrong with a file is told when it is read
        found += [
            replace(d, severity="warning", rule=_WITHOUT, span=source.span, source=model.source)
            for d in findings.result()
            if d.code == "FW4001"
        ]
    return tuple(found)
