"""Plots: a grid and its folds against the parameters, a race against time and data passes. A name is a file's, whose suffix tells the format;
without one the figure is given, which notebooks show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..html.scale import SMALLEST_DRAWN
from ..results.plot import finished, new_figure

if TYPE_CHECKING:
    from ..results.solution import Solution
    from ..solve.watch import Moment
    from .entrant import Entrant
    from .points import Point


LARGEST_PLOTTED = 200
"""Entries of a variable that a path shows."""

LONGEST_LEGEND = 16
"""Curves that a legend names."""


def plot_grid(
    name: str | None, parameters: Sequence[str], points: Sequence[Point], solutions: Sequence[Solution]
) -> Any:
    """Draw a grid against its last parameter into a file, or give the figure; `OSError` where writing fails.

    Of one parameter: objective and coefficients. Of several: objective and nonzero entries, a curve for each value of the others.
    """
    from .points import numbers_of, support

    figure = new_figure(figsize=(8, 3.2))
    objective, other = figure.subplots(1, 2)
    _curves(objective, parameters, points, [s.objective for s in solutions])
    objective.set_ylabel("objective")
    if len(parameters) > 1:
        _curves(other, parameters, points, [sum(support(s).values()) for s in solutions])
        other.set_ylabel("nonzero entries")
        _legend(figure)
    else:
        for variable in solutions[0].variables:
            entries = _padded([numbers_of(s[variable])[:LARGEST_PLOTTED] for s in solutions])
            other.plot([value for (value,) in points], entries, linewidth=0.8)
        other.set_ylabel("variables")
    for axes in (objective, other):
        _finish(axes, parameters, points)
    return finished(figure, name)


def plot_folds(
    name: str | None,
    parameters: Sequence[str],
    points: Sequence[Point],
    mean: Any,
    standard_error: Any,
    chosen: Sequence[int | None],
    score: str,
) -> Any:
    """Draw the mean scores of a cross-validation with their standard errors against its last parameter; `OSError` where writing fails.

    `chosen` are the positions of the best point and of the one within a standard error of it; `score` labels the axis.
    """
    figure = new_figure(figsize=(6, 3.6))
    axes = figure.subplots()
    _curves(axes, parameters, points, mean, standard_error)
    for i, label, style in zip(chosen, ("best", "one standard error"), ("--", ":"), strict=True):
        if i is not None:
            axes.axvline(points[i][-1], color="gray", linestyle=style, linewidth=1, label=label)
    axes.set_ylabel(score)
    _finish(axes, parameters, points)
    _legend(figure)
    return finished(figure, name)


def _curves(axes: Any, parameters: Sequence[str], points: Sequence[Point], heights: Any, errors: Any = None) -> None:
    """Draw heights against the last parameter, a curve for each value of the others."""
    curves: dict[Point, list[int]] = {}
    for i, point in enumerate(points):
        curves.setdefault(point[:-1], []).append(i)
    for others, at in curves.items():
        label = ", ".join(f"{n} = {v:.4g}" for n, v in zip(parameters[:-1], others, strict=True))
        spread = None if errors is None else [errors[i] for i in at]
        axes.errorbar(
            [points[i][-1] for i in at],
            [heights[i] for i in at],
            spread,
            marker=".",
            linewidth=1,
            capsize=2,
            label=label,
        )


def _finish(axes: Any, parameters: Sequence[str], points: Sequence[Point]) -> None:
    import numpy as np

    from .points import spans_decades

    if spans_decades(np.array([point[-1] for point in points])):
        axes.set_xscale("log")
    axes.set_xlabel(parameters[-1])
    axes.grid(alpha=0.3)


def _legend(figure: Any) -> None:
    """A legend of what has a name, if it is short enough to help."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    named = [(h, label) for h, label in zip(handles, labels, strict=True) if label]
    if 0 < len(named) <= LONGEST_LEGEND:
        figure.legend(*zip(*named, strict=True), loc="outside right upper", fontsize="small")


def plot_race(name: str | None, entrants: Sequence[Entrant]) -> Any:
    """Draw the certified gaps of a race against time and data passes, into a file, or give the figure; `OSError` where writing fails."""
    figure = new_figure(figsize=(9, 3.6))
    draw_race(figure.subplots(1, 2, sharey=True), entrants)
    figure.axes[1].set_ylabel("")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    return finished(figure, name)


def draw_race(
    axes: Any,
    entrants: Iterable[Entrant],
    units: Sequence[str] = ("seconds", "passes"),
    styles: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    most: int = 200,
    distance: Callable[[Moment], float] | None = None,
) -> None:
    """Draw a race into as many axes as there are units; a curve holds its gap until the next moment, of which `most` are shown.

    The height is the certified gap, or the `distance` of a moment from the optimum (`Race.distance`); `styles` has matplotlib's properties of a line
    by the entrant's name.
    """
    shown = [e for e in entrants if any(math.isfinite(m.relative_gap) for m in e.moments)]
    for panel, unit in zip(axes, units, strict=True):
        least = min((getattr(m, unit) for e in shown for m in e.moments if getattr(m, unit) > 0), default=1.0)
        for e in shown:
            points = [(max(getattr(m, unit), least), _height(m, distance)) for m in e.moments]
            points = [(x, gap) for x, gap in points if math.isfinite(gap)]
            points = points[:: -(-len(points) // most)] + points[-1:]
            properties = {"linewidth": 1.3, **styles.get(e.name, {})}
            panel.plot(*zip(*points, strict=True), drawstyle="steps-post", label=e.name, **properties)
            panel.plot(*points[-1], marker=".", color=panel.lines[-1].get_color())
        panel.set(xscale="log", yscale="log", xlabel="data passes" if unit == "passes" else unit)
        panel.set_ylabel("certified relative gap" if distance is None else "distance from the best bound")
        panel.minorticks_off()
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(
                lambda value, _: f"{value:g}" if 0.1 <= value <= 1000 else f"1e{math.log10(value):.0f}"
            )
        panel.grid(alpha=0.3)


def _height(moment: Moment, distance: Callable[[Moment], float] | None) -> float:
    return max(moment.relative_gap if distance is None else distance(moment), SMALLEST_DRAWN)


def _padded(rows: list[Any]) -> Any:
    """Rows of different lengths as one array, zeros at their ends."""
    import numpy as np

    out = np.zeros((len(rows), max(row.size for row in rows)))
    for row, into in zip(rows, out, strict=True):
        into[: row.size] = row
    return out
