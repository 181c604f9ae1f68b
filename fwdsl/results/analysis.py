"""The predictions of a plan beside what its run took, in all and phase by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..plan import Plan
    from .solution import Solution

MOST_PHASES = 8
"""Phases that are told; those that took less are taken together."""


def analysis(plan: Plan, solution: Solution) -> dict[str, Any]:
    """Passes and seconds, predicted for the plan's method and actual, and those of each phase of the run; kernels are not compiled in them.

    `passes` and `seconds` have `predicted` (None where nothing was) and `actual`, verifying included; `phases` has a row for each method and phase,
    with `method`, `phase`, `passes` and `seconds` of the method's own count, from report to report.
    """
    e = plan.chosen.estimate
    passes, seconds = (None, None) if e is None else (e.passes, e.seconds)
    return {
        "passes": {"predicted": passes, "actual": solution.passes + solution.verify_passes},
        "seconds": {"predicted": seconds, "actual": solution.times.solve - solution.times.kernels},
        "phases": _phases(solution),
    }


def _phases(solution: Solution) -> list[dict[str, Any]]:
    spent: dict[tuple[str, str], list[float]] = {}
    before = (0.0, 0.0)
    for report in solution.history:
        now = (report.passes, report.elapsed)
        row = spent.setdefault((report.method, report.phase), [0.0, 0.0])
        # what is counted again after a resumption begins lower
        row[0] += max(0.0, now[0] - before[0])
        row[1] += max(0.0, now[1] - before[1])
        before = now
    told = sorted(spent, key=lambda at: -spent[at][1])[:MOST_PHASES]
    rows = [(method, phase, *spent[method, phase]) for method, phase in spent if (method, phase) in told]
    others = [spent[at] for at in spent if at not in told]
    if others:
        rows.append(("", f"{len(others)} other phases", sum(r[0] for r in others), sum(r[1] for r in others)))
    return [dict(zip(("method", "phase", "passes", "seconds"), row, strict=True)) for row in rows]
