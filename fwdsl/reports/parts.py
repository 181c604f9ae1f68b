"""The parts of each kind of report, in the order of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..html.markup import Html, el, facts, folded, joined, section, table
from ..plan.html_form import plan_parts
from ..results.html_form import (
    certificate_part,
    duals_part,
    gap_charts,
    history_table,
    terms_part,
    variable_part,
    verdict,
    warnings_part,
)
from ..studies.html_form import MOST_ROWS, folds_parts, grid_parts, race_parts

if TYPE_CHECKING:
    from ..plan import Plan
    from ..results.solution import Solution
    from ..studies.folds import CrossValidation
    from ..studies.grid import SolutionGrid
    from ..studies.race import Race


def of_solution(solution: Solution) -> list[Html]:
    """The parts of a run: the verdict and its grounds, how the gap closed, the answer, and the plan."""
    answer = [
        terms_part(solution),
        *(variable_part(solution, name) for name in solution.variables),
        duals_part(solution),
    ]
    closing = [gap_charts(solution), folded("The same as a table", history_table(solution))] if solution.history else []
    return [
        verdict(solution),
        *_given(warnings_part(solution)),
        section("Certificate", certificate_part(solution)),
        *([section("How the gap closed", *closing)] if closing else []),
        section("Answer", *_given(*answer)),
        *([section("Methods", *plan_parts(solution.plan))] if solution.plan is not None else []),
    ]


def of_plan(plan: Plan, analysis: Mapping[str, Any] | None = None, solution: Solution | None = None) -> list[Html]:
    """The parts of a plan; with the analysis of a run what was predicted beside what it took, and the run."""
    parts = [section("Methods", *plan_parts(plan))]
    if analysis is None or solution is None:
        return parts
    rows = ((name, *_pair(analysis[name])) for name in ("passes", "seconds"))
    compared = table(("", "predicted", "actual"), rows, "Cost of the run", numbers=(1, 2))
    phases = (
        (
            f"{row['method']}: {row['phase']}" if row["method"] else row["phase"],
            f"{row['passes']:.3g}",
            f"{row['seconds']:.3g}",
        )
        for row in analysis["phases"]
    )
    spent = table(("phase", "passes", "seconds"), phases, "Phases", numbers=(1, 2))
    ran = of_solution(solution)
    return [ran[0], *parts, section("Predicted and actual", compared, spent), *ran[1:-1]]


def of_race(race: Race, plan: Plan | None) -> list[Html]:
    """The parts of a race: the table and the gaps, and how the planner would choose."""
    bound = facts([("best bound", f"{race.dual_bound:.10g}")])
    found = section("Race", bound, *race_parts(race))
    return [found] if plan is None else [found, section("Methods", *plan_parts(plan))]


def of_grid(grid: SolutionGrid, plan: Plan) -> list[Html]:
    """The parts of a path or a grid, with the grounds of each point."""
    fixed = grid.parameters
    rows = (
        (*(f"{v:.6g}" for v in point), f"{s.certificate.kind}: {s.certificate.statement}", s.method, s.start)
        for point, s in zip(grid.points[:MOST_ROWS], grid, strict=False)
    )
    grounds = table(
        (*fixed, "known by", "method", "started from"), rows, "What each bound rests on", numbers=range(len(fixed))
    )
    at = ", ".join(f"{name} = {value:.6g}" for name, value in zip(fixed, grid.points[0], strict=True))
    return [
        section("Solutions", *grid_parts(grid)),
        section("Certificates", grounds),
        section("Methods", el("p", joined("At the first point, ", el("code", at), ":")), *plan_parts(plan)),
    ]


def of_folds(found: CrossValidation) -> list[Html]:
    """The parts of a cross-validation, and of the fit to all samples."""
    scores = section("Scores", *folds_parts(found))
    if found.solution is None or found.best is None:
        return [scores]
    at = ", ".join(f"{name} = {value:.6g}" for name, value in found.best.items())
    chosen = el("p", joined("The fit to all samples at ", el("code", at), ":"))
    return [scores, chosen, *of_solution(found.solution)]


def _given(*parts: Html | None) -> list[Html]:
    return [part for part in parts if part is not None]


def _pair(values: Mapping[str, Any]) -> Sequence[str]:
    return ["unknown" if v is None else f"{v:.3g}" for v in values.values()]
