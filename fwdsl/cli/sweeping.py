"""`path` and `grid`: a program solved over values of its parameters, with or without folds."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from ..errors import PlanError
from ..results.plot import require_plot
from .arguments import (
    Parser,
    add_bindings,
    add_file,
    add_html,
    add_json,
    add_solve,
    add_strict,
    add_workers,
    choice,
    whole,
)
from .exits import INTERRUPTED, LIMIT, OF_STATUS, OK, PROVEN, REJECTED, USAGE, CommandStop, code_for
from .opening import bindings_of, held_by_workers, opened_to_solve
from .output import Output
from .outputs import require_outputs, written
from .progress import counting
from .sweep import split_sets

if TYPE_CHECKING:
    from ..results.solution import Solution
    from ..session import Session
    from ..studies.folds import CrossValidation
    from ..studies.grid import SolutionGrid
    from ..studies.points import Point

_WORST_FIRST = (INTERRUPTED, PROVEN, LIMIT, OK)


def run_sweep(arguments: Parser, command: Literal["path", "grid"], argv: Sequence[str], output: Output) -> int:
    """Run the command `path` or `grid`, whose arguments these are."""
    known = arguments.parse(argv)
    output.configure(mode="json" if known.json else "text", strict=known.strict)
    (name,) = arguments.files(known)
    swept, known.set = split_sets(known.set, command)
    bindings = bindings_of(known)
    outputs = {"--out": known.out, "--plot": known.plot, "--html": known.html}
    require_outputs(outputs)
    if known.plot is not None:
        require_plot(known.plot)
    from ..studies.grid import at_point, points_of

    names, points = tuple(swept), points_of(swept)
    at = [at_point(bindings, names, point) for point in points]
    first = opened_to_solve(name, known, at[0], output, outputs)
    for there in at:
        first.bound_to(there).check_bindings()
    first.bind()
    with held_by_workers(first, known.workers, output) as held:
        report = partial(_report, session=held, argv=(command, *argv))
        if known.folds is not None:
            return _folded(held, names, points, known, output, report)
        # one after the other, as each may hold features of its own
        sessions = chain([held], (held.bound_to(there, same_data=True) for there in at[1:]))
        return _solved(held, names, points, sessions, known, output, report)


def sweep_parser(command: str, description: str) -> Parser:
    """The arguments of `path` or `grid`."""
    parser = Parser(command, description)
    add_file(parser)
    add_bindings(parser)
    add_solve(parser)
    add_workers(parser)
    group = parser.add_argument_group("cross-validation")
    group.add_argument(
        "--folds",
        type=whole("--folds", least=2),
        metavar="K",
        help="score each point on samples that its fit has not seen, in K parts shuffled with --seed; "
        "choose the best, and fit it to all samples",
    )
    group.add_argument(
        "--score",
        type=choice("--score", "loss", "error"),
        default="loss",
        metavar="S",
        help="loss (unless told), error",
    )
    parser.add_argument(
        "--out", metavar="FILE.npz", help="save points and variables; with --folds the final fit, as `run --out` does"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw objective and variables, or scores; the suffix tells the format"
    )
    add_html(parser)
    add_json(parser)
    add_strict(parser)
    return parser


def _solved(
    first: Session,
    names: Sequence[str],
    points: Sequence[Point],
    sessions: Iterable[Session],
    known: argparse.Namespace,
    output: Output,
    report: Callable[..., None],
) -> int:
    """Solve at every point, and tell each answer as it comes."""
    from ..studies.grid import header_text, row_text, save_grid, solve_over

    output.text(header_text(names) + "\n")
    with counting(output, first.options, len(points)) as begin:

        def solve(at: tuple[Point, Session], start: Solution | None) -> Solution:
            point, session = at
            session.plan()  # so that what it finds is told before progress
            with begin(_name(names, point)) as on_progress:
                solution = session.solve(on_progress, start)
            output.text(row_text(point, solution) + "\n")
            return solution

        grid = solve_over(names, points, zip(points, sessions, strict=True), solve)
    codes = {OF_STATUS[s.status] for s in grid}
    code = next(c for c in _WORST_FIRST if c in codes)
    save = {known.plot: grid.plot, known.out: lambda name: save_grid(name, grid)}
    _, unsaved = written({**save, known.html: partial(report, found=grid)})
    output.report(unsaved)
    output.finish({"status": next(s.status for s in grid if OF_STATUS[s.status] == code), **_json(grid)})
    return USAGE if unsaved else code


def _folded(
    first: Session,
    names: Sequence[str],
    points: Sequence[Point],
    known: argparse.Namespace,
    output: Output,
    report: Callable[..., None],
) -> int:
    """Cross-validate, and tell the scores and the fit chosen."""
    from ..studies.folds import cross_validate

    solved: list[Session] = []
    with counting(output, first.options, known.folds * len(points) + 1) as begin:

        def solve(session: Session, start: Solution | None) -> Solution:
            solved[:] = [session]
            values = session.bindings.params
            with begin(_name(names, [float(str(values[n])) for n in names])) as on_progress:
                return session.solve(on_progress, start)

        try:
            found = cross_validate(first, names, points, known.folds, known.score, solve)
        except PlanError as error:  # as of a run that no method takes
            raise CommandStop(error.diagnostics, code_for(error.diagnostics, REJECTED)) from None
    save = {known.plot: found.plot, known.out: lambda name: _save(name, found, solved[0])}
    _, unsaved = written({**save, known.html: partial(report, found=found)})
    output.report(unsaved)
    _tell(found, output)
    return USAGE if unsaved else OF_STATUS[found.status]


def _tell(found: CrossValidation, output: Output) -> None:
    from ..results.json_form import solution_json
    from .report import solution_text

    output.text(f"{found}\n")
    solution = found.solution
    if solution is not None and found.best is not None:
        output.text(f"\nfit to all samples at {_name(found.parameters, tuple(found.best.values()))}\n\n")
        output.text(solution_text(solution))
    output.finish({**found.to_json(), "solution": None if solution is None else solution_json(solution)})


def _save(name: str, found: CrossValidation, session: Session) -> None:
    from ..results.saved import save_solution

    if found.solution is not None:
        save_solution(name, found.solution, session.canonicalise(), session.options)


def _report(file: str, session: Session, argv: Sequence[str], found: SolutionGrid | CrossValidation) -> None:
    from ..reports.parts import of_folds, of_grid
    from ..reports.report import Report
    from ..studies.grid import SolutionGrid

    over = ", ".join(found.parameters)
    if isinstance(found, SolutionGrid):
        what, parts = f"solutions over {over}", of_grid(found, session.plan())
    else:
        what, parts = f"cross-validation over {over}", of_folds(found)
    note = f"Values of {over} are those of the first point."
    Report(what, session.name, parts, session, argv, session.bind(), note).write(file)


def _name(names: Sequence[str], point: Sequence[float]) -> str:
    return ", ".join(f"{n} = {v:.4g}" for n, v in zip(names, point, strict=True))


def _json(grid: SolutionGrid) -> dict[str, object]:
    """The keys of a path, or of a grid of several parameters."""
    from ..results.json_form import solution_json
    from ..studies.points import support

    alone, points = len(grid.parameters) == 1, []
    for point, solution in zip(grid.points, grid, strict=True):
        form = solution_json(solution)
        form["plan"] = None  # the same for all, but for the sizes of its predictions
        at = {"value": point[0]} if alone else {"values": dict(zip(grid.parameters, point, strict=True))}
        points.append({**at, "support": support(solution), **form})
    named = {"parameter": grid.parameters[0]} if alone else {"parameters": list(grid.parameters)}
    return {**named, "points": points}
