"""Races, paths, grids and cross-validations as HTML: their tables, and charts whose points tell their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..html.chart import COLOURS, Curve, chart, legend
from ..html.markup import Html, counted, el, folded, listed, table
from ..html.scale import SMALLEST_DRAWN, Axis
from ..html.style import fragment
from .points import numbers_of, spans_decades, support
from .race_table import LEFT, cells, conditions, notes, number_text

if TYPE_CHECKING:
    from .entrant import Entrant, Unit
    from .folds import CrossValidation
    from .grid import SolutionGrid
    from .points import Point
    from .race import Race

LARGEST_DRAWN = 60
"""Entries of all variables that a chart of a path shows, those that grow largest."""


MOST_ROWS = 200
"""Points of a grid that its table shows; charts show all."""


def _rows_text(number: int, noun: str) -> str:
    text = counted(number, noun)
    return text if number <= MOST_ROWS else f"The first {MOST_ROWS} of {text}"


# --- races -----------------------------------------------------------------------------------------------------------


def race_html(race: Race) -> Html:
    """The race as a notebook shows it."""
    return fragment(*race_parts(race), label=f"race: {race.status}")


def race_parts(race: Race) -> Sequence[Html]:
    """The table, the reasons of those that did not reach the tolerance, and the gaps against time and passes."""
    head, *lines = cells(race.entrants, race.levels)
    rows = ([el("code", line[0]), *line[1:]] for line in lines)
    ran = [e for e in race if e.status != "does not apply"]
    short = notes(ran, race.waiting)
    unable = [(el("code", e.name), e.reason) for e in race if e.status == "does not apply"]
    left = folded(_unable_text(len(unable)), table(("method", "reason"), unable, "Not in the race"))
    return [
        table(head, rows, conditions(race.options), numbers=range(LEFT, len(head))),
        *([listed(short)] if short else []),
        *_race_charts(race.entrants),
        *([left] if unable else []),
    ]


def _unable_text(number: int) -> str:
    return f"{counted(number, 'method')} that {'does' if number == 1 else 'do'} not apply"


def _race_charts(entrants: Sequence[Entrant]) -> Sequence[Html]:
    shown = [e for e in entrants if any(math.isfinite(m.relative_gap) for m in e.moments)]
    if not shown:
        return []
    gap = Axis("certified relative gap", log=True)
    units: tuple[tuple[Unit, str, str], ...] = (
        ("seconds", "seconds", "time"),
        ("passes", "data passes", "data passes"),
    )
    drawn = (
        chart(
            f"Certified gap against {words}",
            [_race_curve(e, unit) for e in shown],
            Axis(label, log=True),
            gap,
            steps=True,
        )
        for unit, label, words in units
    )
    return [legend([e.name for e in shown]), el("div", *drawn, class_="charts")]


def _race_curve(e: Entrant, unit: Unit) -> Curve:
    least = min((getattr(m, unit) for m in e.moments if getattr(m, unit) > 0), default=1.0)
    points = [(max(getattr(m, unit), least), max(m.relative_gap, SMALLEST_DRAWN)) for m in e.moments]
    told = [
        f"gap {m.relative_gap:.1e} after {number_text(m.seconds)} s, {number_text(m.passes)} passes" for m in e.moments
    ]
    return Curve(e.name, points, told)


# --- paths and grids -------------------------------------------------------------------------------------------------


def grid_html(grid: SolutionGrid) -> Html:
    """The grid as a notebook shows it."""
    return fragment(*grid_parts(grid), label=f"{counted(len(grid), 'solution')} over {', '.join(grid.parameters)}")


def grid_parts(grid: SolutionGrid) -> Sequence[Html]:
    """The table of all points, and charts against the last parameter."""
    from .grid import COLUMNS, row_cells

    fixed = len(grid.parameters)
    rows = (row_cells(point, solution) for point, solution in zip(grid.points[:MOST_ROWS], grid, strict=False))
    head = [*grid.parameters, *COLUMNS]
    found = table(head, rows, _rows_text(len(grid), "solution"), numbers=range(fixed + len(COLUMNS) - 1))
    return [found, *_grid_charts(grid)] if len(grid) > 1 else [found]


def _grid_charts(grid: SolutionGrid) -> Sequence[Html]:
    x = _parameter_axis(grid.parameters, grid.points)
    objectives = _over_last(grid.parameters, grid.points, [s.objective for s in grid], "objective")
    drawn = [chart("Objective", objectives, x, Axis("objective"))]
    entries: list[Curve] = []
    named = legend([c.name for c in objectives]) if 1 < len(objectives) <= 2 * COLOURS else None
    if len(grid.parameters) == 1:
        entries = _entries(grid)
        drawn.append(chart("Entries of the variables", entries, x, Axis("value"), thin=True))
    else:
        counts = [float(sum(support(s).values())) for s in grid]
        curves = _over_last(grid.parameters, grid.points, counts, "nonzero entries")
        drawn.append(chart("Nonzero entries", curves, x, Axis("nonzero entries")))
    parts = [*([named] if named else []), el("div", *drawn, class_="charts")]
    return [*parts, legend([c.name for c in entries])] if 1 < len(entries) <= 2 * COLOURS else parts


def _parameter_axis(parameters: Sequence[str], points: Sequence[Point]) -> Axis:
    return Axis(parameters[-1], log=spans_decades(np.array([point[-1] for point in points])))


def _over_last(
    parameters: Sequence[str],
    points: Sequence[Point],
    heights: Sequence[float],
    what: str,
    spread: Sequence[float] = (),
) -> list[Curve]:
    """Heights against the last parameter, a curve for each value of the others."""
    curves: dict[Point, list[int]] = {}
    for i in sorted(range(len(points)), key=lambda i: points[i][-1]):
        curves.setdefault(points[i][:-1], []).append(i)
    return [
        Curve(
            ", ".join(f"{n} = {v:.4g}" for n, v in zip(parameters[:-1], others, strict=True)),
            [(points[i][-1], heights[i]) for i in at],
            [f"{parameters[-1]} = {points[i][-1]:.4g}: {what} {heights[i]:.6g}" for i in at],
            [spread[i] for i in at] if len(spread) else (),
        )
        for others, at in curves.items()
    ]


def _entries(grid: SolutionGrid) -> list[Curve]:
    """The entries of all variables along a path, those that grow largest."""
    from ..results.labels import axis_names

    order = sorted(range(len(grid)), key=lambda i: grid.points[i][-1])
    found: list[tuple[float, Curve]] = []
    for name, value in grid[0].variables.items():
        columns = [numbers_of(grid[i][name]) for i in order]
        size = min(column.size for column in columns)
        names = axis_names(grid[0].instance, name, np.shape(value)) if np.ndim(value) == 1 else (None,)
        values = np.array([column[:size] for column in columns])
        for j in np.argsort(-np.abs(values).max(axis=0), kind="stable")[:LARGEST_DRAWN]:
            label = name if np.ndim(value) == 0 else f"{name}[{j if names[0] is None else names[0][j]}]"
            places = [(grid.points[i][-1], float(v)) for i, v in zip(order, values[:, j], strict=True)]
            told = [f"{v:.6g} at {grid.parameters[-1]} = {at:.4g}" for at, v in places]
            found.append((float(np.abs(values[:, j]).max()), Curve(label, places, told)))
    found.sort(key=lambda pair: -pair[0])
    return [curve for _, curve in found[:LARGEST_DRAWN]]


# --- cross-validation ------------------------------------------------------------------------------------------------


def folds_html(found: CrossValidation) -> Html:
    """The cross-validation as a notebook shows it."""
    return fragment(*folds_parts(found), label=f"cross-validation: {found.status}")


def folds_parts(found: CrossValidation) -> Sequence[Html]:
    """The table of scores, with the points that are chosen, and their chart."""
    from .folds import COLUMNS, row_cells

    best, near = found.chosen
    fixed = len(found.parameters)
    rows = (row_cells(found, i) for i in range(min(len(found.points), MOST_ROWS)))
    marked = [i for i in (best, near) if i is not None]
    head = [*found.parameters, *COLUMNS, ""]
    parts: list[Html] = [table(head, rows, found.caption, numbers=range(fixed + len(COLUMNS)), marked=marked)]
    if len(found.points) > 1:
        parts.append(_scores(found, best, near))
    return parts


def _scores(found: CrossValidation, best: int | None, near: int | None) -> Html:
    what = "mean loss" if found.score == "loss" else "error rate"
    spread: Any = found.standard_error
    curves = _over_last(found.parameters, found.points, found.mean, what, spread)
    chosen = (("best", best), ("one standard error", near))
    lines = [(name, found.points[i][-1]) for name, i in chosen if i is not None]
    x = _parameter_axis(found.parameters, found.points)
    drawn = chart(f"{what.capitalize()} with its standard error", curves, x, Axis(what), lines_at=lines)
    return el("div", drawn, class_="charts")
