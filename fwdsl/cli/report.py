"""A solution as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..results.wording import answer_rows, number_text, small_text, value_rows

if TYPE_CHECKING:
    from ..results.solution import Solution


def solution_text(solution: Solution, saved: Sequence[str] = ()) -> str:
    """The answer and its certificate, a fact a line."""
    rows = [*answer_rows(solution), *value_rows(solution)]
    if saved:
        rows.append(("saved", ", ".join(saved)))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}".rstrip() for name, value in rows]
    warnings = [f"warning: {text}" for text in solution.warnings]
    return "\n".join([*lines, *warnings]) + "\n"


def one_line(solution: Solution) -> str:
    """Status, objective and gap."""
    return f"{solution.status}: objective {number_text(solution.objective)}, relative gap {small_text(solution.relative_gap)}\n"


def analysis_text(found: Mapping[str, Any], solution: Solution) -> str:
    """A table of predicted and actual cost, that of the phases, and the answer."""
    lines = [f"{'':<10}{'predicted':>12}{'actual':>12}"]
    for name in ("passes", "seconds"):
        told = ["unknown" if value is None else f"{value:.3g}" for value in found[name].values()]
        lines.append(f"{name:<10}{told[0]:>12}{told[1]:>12}")
    if found["phases"]:
        lines += ["", f"{'passes':>10}{'seconds':>12}  phase"]
    for row in found["phases"]:
        phase = f"{row['method']}: {row['phase']}" if row["method"] else row["phase"]
        lines.append(f"{row['passes']:>10.3g}{row['seconds']:>12.3g}  {phase}")
    return "\n".join(lines) + f"\n\n{solution_text(solution)}"
