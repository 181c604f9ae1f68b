"""`fwdsl path FILE --set N=a,b,c`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...grammar.diagnostic import Diagnostic
from ...plot import plot_path, require_plot
from ..arguments import Parser, add_bindings, add_file, add_json, add_solve, add_strict
from ..exits import INTERRUPTED, LIMIT, OF_STATUS, OK, PROVEN, USAGE
from ..output import Output
from ..outputs import keep_apart, reason_of, require_outputs, unwritable
from ..stages import (
    Clock,
    bind_model,
    bindings_of,
    canonicalise_instance,
    check_given,
    compile_file,
    inputs_of,
    options_for,
    passed,
    plan_for,
    solve_plan,
)
from ..sweep import split_sets

if TYPE_CHECKING:
    from ...path import Path
    from ...solution import Solution

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
    from ...bind.rebind import rebind
    from ...path import Path, header_text, latest, row_text

    clock = Clock()
    model = clock.measure("compile", lambda: compile_file(name, output))
    keep_apart(outputs, inputs_of(model, given, name))
    options = options_for(model, known)
    at = [replace(given, params={**given.params, parameter: value}) for value in values]
    for there in at:
        check_given(model, there, output)
    instance = clock.measure("load", lambda: bind_model(model, at[0], name, output, options.tol))
    solutions: list[Solution] = []
    output.text(header_text(parameter) + "\n")
    for value, there in zip(values, at, strict=True):
        instance = passed(rebind(instance, there), output, USAGE)
        canonical = canonicalise_instance(instance, output)
        plan = plan_for(canonical, options, known, output)
        solution = solve_plan(canonical, plan, options, clock, output, start=latest(solutions))
        solutions.append(solution)
        output.text(row_text(value, solution) + "\n")
        if solution.status == "interrupted":
            break
    path = Path(parameter, values[: len(solutions)], tuple(solutions))
    codes = {OF_STATUS[s.status] for s in path}
    code = next(c for c in _WORST_FIRST if c in codes)
    unsaved = _plot(known.plot, path) if known.plot is not None else []
    output.report(unsaved)
    output.finish(_json(path, code))
    return USAGE if unsaved else code


def _json(path: Path, code: int) -> dict[str, Any]:
    from ...path import support
    from ..report import solution_json

    points = []
    for value, solution in zip(path.values, path.solutions, strict=True):
        form = solution_json(solution)
        form["plan"] = None  # the same for all, but for the sizes of its predictions
        points.append({"value": value, "support": support(solution), **form})
    status = next(s.status for s in path if OF_STATUS[s.status] == code)
    return {"status": status, "parameter": path.parameter, "points": points}


def _plot(name: str, path: Path) -> list[Diagnostic]:
    """Draw the path; what keeps it from being written must not keep the answers from being printed."""
    try:
        plot_path(name, path)
    except OSError as error:
        return [unwritable(name, reason_of(error))]
    return []
