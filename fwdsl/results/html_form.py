"""A solution as HTML: the verdict and what it rests on, how the gap closed, terms, variables and multipliers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atoms.low_rank import LowRank
from ..html.chart import Curve, bar, chart
from ..html.markup import Html, el, facts, folded, joined, listed, table
from ..html.scale import SMALLEST_DRAWN, Axis
from ..html.style import fragment
from .labels import axis_names
from .wording import answer_rows, headline, number_text, small_text, value_text

if TYPE_CHECKING:
    from .solution import Progress, Solution

MOST_ENTRIES = 40
"""Entries of a variable that a page lists, the largest first where there are more."""

FEWER_ENTRIES = 12
"""Entries that a notebook lists, where other cells follow."""

_TONES = {"optimal": "good", "infeasible": "bad", "unbounded": "bad"}

#: What a bound of each kind holds for, in a sentence.
KINDS = {
    "exact": "The bound holds for every point of the program.",
    "rigorous": "The bound holds for every point of the program, rounding included.",
    "probabilistic": "The bound holds up to a probability of failure, which is stated.",
    "conditional": "The bound holds within the radius that is stated.",
    "estimate": "The bound is an estimate and proves nothing.",
    "none": "No bound is known.",
}


def solution_html(solution: Solution) -> Html:
    """The solution as a notebook shows it."""
    values = [variable_part(solution, name, FEWER_ENTRIES) for name in solution.variables]
    return fragment(
        verdict(solution),
        facts((name, value) for name, value in answer_rows(solution) if name != "status"),
        terms_part(solution),
        *values,
        folded("How the gap closed", gap_charts(solution)) if solution.history else None,
        warnings_part(solution),
        label=f"solution: {solution.status}",
    )


def verdict(solution: Solution) -> Html:
    """The status as a badge, with objective and gap."""
    tone = _TONES.get(solution.status, "warning")
    title, _, more = headline(solution).partition(":") if solution.status in _TONES else (headline(solution), "", "")
    told = f"{more.strip()}; " if more else ""
    told += f"objective {number_text(solution.objective)}, relative gap {small_text(solution.relative_gap)}"
    return el("p", el("span", title, class_=f"badge {tone}"), " ", told, class_="verdict")


def certificate_part(solution: Solution) -> Html:
    """The answer's facts, and what its bound rests on."""
    rows = [(name, value) for name, value in answer_rows(solution) if name != "status"]
    rows.append(("started from", solution.start))
    if solution.certificate.radius is not None:
        rows.append(("radius", number_text(solution.certificate.radius)))
    return joined(el("p", KINDS[solution.certificate.kind]), facts(rows))


def warnings_part(solution: Solution) -> Html | None:
    """The warnings, if there are any."""
    if not solution.warnings:
        return None
    return listed(joined(el("span", "warning:", class_="warning"), " ", text) for text in solution.warnings)


# --- how the gap closed ----------------------------------------------------------------------------------------------


def gap_charts(solution: Solution) -> Html:
    """The gap of the method's own reports against seconds and data passes; each point has its numbers."""
    reports, gap = [p for p in solution.history if math.isfinite(p.relative_gap)], Axis("relative gap", log=True)
    if not reports:
        return el("p", "The run gave no bound before its end, so there is no curve to draw.", class_="dim")
    told = [_told(p) for p in reports]
    heights = [max(p.relative_gap, SMALLEST_DRAWN) for p in reports]
    drawn = (
        chart(f"Relative gap against {words}", [Curve("", list(zip(along, heights, strict=True)), told)], axis, gap)
        for words, axis, along in (
            ("time", Axis("seconds", from_zero=True), [p.elapsed for p in reports]),
            ("data passes", Axis("data passes", from_zero=True), [p.passes for p in reports]),
        )
        if any(along)  # small data are kept in other forms, which no pass touches
    )
    return el("div", *drawn, class_="charts")


def _told(p: Progress) -> str:
    return f"gap {p.relative_gap:.1e} after {p.elapsed:.3g} s, {p.passes:.0f} passes, {p.iteration} iterations"


def history_table(solution: Solution) -> Html:
    """The reports of the run as a table: the first, the last, and evenly many between."""
    reports = solution.history
    every = -(-len(reports) // MOST_ENTRIES) or 1
    kept = [*reports[:-1:every], *reports[-1:]]
    rows = (
        (
            str(p.iteration),
            f"{p.method}: {p.phase}",
            f"{p.passes:.0f}",
            f"{p.elapsed:.3g}",
            number_text(p.objective),
            number_text(p.dual_bound),
            small_text(p.relative_gap),
        )
        for p in kept
    )
    head = ("iteration", "phase", "passes", "seconds", "objective", "dual bound", "relative gap")
    caption = "The method's own reports" + (f", {len(kept)} of {len(reports)}" if len(kept) < len(reports) else "")
    return table(head, rows, caption, numbers=(2, 3, 4, 5, 6))


# --- values ----------------------------------------------------------------------------------------------------------


def terms_part(solution: Solution) -> Html | None:
    """The named terms of the objective."""
    if not solution.terms:
        return None
    rows = ((el("code", name), number_text(value)) for name, value in solution.terms.items())
    return table(("term", "value"), rows, "Named terms of the objective", numbers=(1,))


def variable_part(solution: Solution, name: str, most: int = MOST_ENTRIES) -> Html:
    """A variable: its numbers with bars, the largest first where there are many."""
    value = solution[name]
    if isinstance(value, LowRank):
        numbers = ((str(i + 1), number_text(float(s)), "") for i, s in enumerate(value.singular_values[:most]))
        return table(("", "singular value", ""), numbers, f"{name}: {value_text(value)}", numbers=(1,))
    array = np.asarray(value)
    if array.ndim == 0:
        return table(("variable", "value"), [(el("code", name), number_text(float(array)))], name, numbers=(1,))
    return array_table(name, array, axis_names(solution.found_on, name, array.shape), most)


def array_table(name: str, array: Any, names: tuple[tuple[Any, ...] | None, ...], most: int) -> Html:
    """The entries of an array that are not zero with bars: all in their order where there are few, else the largest first."""
    flat = array.ravel()
    support = np.flatnonzero(flat)
    shown = support
    if support.size > most:
        shown = support[np.argsort(-np.abs(flat[support]), kind="stable")[:most]]
    shape = " x ".join(f"{n:,}" for n in array.shape)
    caption = f"{name}: {support.size:,} of {shape} entries are not zero"
    if shown.size < support.size:
        caption += f"; the {shown.size} largest"
    low, high = float(min(0.0, flat[shown].min(initial=0.0))), float(max(0.0, flat[shown].max(initial=0.0)))
    rows = (
        (_place(array.shape, int(i), names), number_text(float(flat[i])), bar(float(flat[i]), low, high)) for i in shown
    )
    if not support.size:
        return el("p", f"{name}: all of {shape} entries are zero")
    return table(("entry", "value", ""), rows, caption, numbers=(1,))


def _place(shape: tuple[int, ...], i: int, names: tuple[tuple[Any, ...] | None, ...]) -> str:
    at = np.unravel_index(i, shape)
    return ", ".join(str(int(k)) if known is None else str(known[k]) for k, known in zip(at, names, strict=True))


def duals_part(solution: Solution) -> Html | None:
    """The multipliers of the constraints."""
    if not solution.dual:
        return None
    rows = ((el("code", name), value_text(value)) for name, value in solution.dual.items())
    caption = "Derivatives of the optimal value in the right-hand sides of the constraints"
    return table(("constraint", "multiplier"), rows, caption)
