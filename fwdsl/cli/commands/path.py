"""`fwdsl path FILE --set N=a,b,c`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...grammar.diagnostic import Diagnostic
from ...studies.plot import plot_path, require_plot
from ..arguments import Parser, add_bindings, add_file, add_json, add_solve, add_strict
from ..exits import INTERRUPTED, LIMIT, OF_STATUS, OK, PROVEN, USAGE
from ..opening import bindings_of, opened_to_solve, solve
from ..output import Output
from ..outputs import reason_of, require_outputs, unwritable
from ..sweep import split_sets

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...session import Session
    from ...studies.path import SolutionPath

_WORST_FIRST = (INTERRUPTED, PROVEN, LIMIT, OK)


def run(argv: Sequence[str], output: Output) -> int:
    """Solve along values of a parameter; the data are read once, and each solve starts from the answer before."""
    parser = Parser(
        "path",
        "Solve along values of a parameter, each from the answer before: "
        "`--set N=a,b,c`, `--set N=logspace(lo,hi,count)` or `--set N=linspace(lo,hi,count)`.",
    )
    add_file(parser)
    add_bindings(parser)
    add_solve(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw objective and variables; the suffix tells the format")
    add_json(parser)
    add_strict(parser)
    known = parser.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = parser.files(known)
    parameter, values, known.set = split_sets(known.set)
    given = bindings_of(known)
    outputs = {"--plot": known.plot}
    require_outputs(outputs)
    if known.plot is not None:
        require_plot(known.plot)
    from ...studies.path import header_text, row_text, solve_along

    at = [replace(given, params={**given.params, parameter: value}) for value in values]
    first = opened_to_solve(name, known, at[0], output, outputs)
    for there in at:
        first.bound_to(there).check_bindings()
    first.bind()
    output.text(header_text(parameter) + "\n")

    def solve_there(point: tuple[float, Session], start: Solution | None) -> Solution:
        value, session = point
        solution = solve(session, output, start)
        output.text(row_text(value, solution) + "\n")
        return solution

    # one after the other, as each may hold features of its own
    sessions = chain([first], (first.bound_to(there, same_data=True) for there in at[1:]))
    path = solve_along(parameter, values, zip(values, sessions, strict=True), solve_there)
    codes = {OF_STATUS[s.status] for s in path}
    code = next(c for c in _WORST_FIRST if c in codes)
    unsaved = _plot(known.plot, path) if known.plot is not None else []
    output.report(unsaved)
    output.finish(_json(path, code))
    return USAGE if unsaved else code


def _json(path: SolutionPath, code: int) -> dict[str, Any]:
    from ...results.json_form import solution_json
    from ...studies.path import support

    points = []
    for value, solution in zip(path.values, path.solutions, strict=True):
        form = solution_json(solution)
        form["plan"] = None  # the same for all, but for the sizes of its predictions
        points.append({"value": value, "support": support(solution), **form})
    status = next(s.status for s in path if OF_STATUS[s.status] == code)
    return {"status": status, "parameter": path.parameter, "points": points}


def _plot(name: str, path: SolutionPath) -> list[Diagnostic]:
    """Draw the path. The answers are printed even if the plot cannot be written."""
    try:
        plot_path(name, path)
    except OSError as error:
        return [unwritable(name, reason_of(error))]
    return []
