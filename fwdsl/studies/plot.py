"""Plots into files: how the gap closed, against data passes and against time; a grid and its folds against the parameters; a race against both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import RunError
from ..files.target import write_atomically
from ..grammar.diagnostic import Diagnostic

if TYPE_CHECKING:
    from ..results.solution import Solution
    from ..solve.watch import Moment
    from .entrant import Entrant
    from .points import Point


LARGEST_PLOTTED = 200
"""Entries of a variable that a path shows."""

LONGEST_LEGEND = 16
"""Curves that a legend names."""

SMALLEST_PLOTTED = 1e-16
"""The gap that a gap of 0 is drawn as."""


def require_plot(name: str) -> None:
    """Raise `RunError` before solving if matplotlib is absent (FW0018) or does not know the file's format (FW0014)."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        rule = "Plots need the extra `plot`."
        found = Diagnostic("FW0018", "matplotlib is not installed", rule=rule, hint="pip install 'fwdsl[plot]'")
        raise RunError([found]) from None
    formats = Figure().canvas.get_supported_filetypes()
    if Path(name).suffix.lower().removeprefix(".") not in formats:
        rule = f"The suffix tells the format: {', '.join(sorted(formats))}."
        found = Diagnostic("FW0014", f"`{name}` has no suffix of a plot", rule=rule, hint="write `--plot gap.png`")
        raise RunError([found])


def plot_gap(name: str, solution: Solution) -> None:
    """Draw the history of a solution into a file whose suffix tells the format; `OSError` where that fails."""
    from matplotlib.figure import Figure  # without pyplot: no window, no state

    reports = [p for p in solution.history if math.isfinite(p.relative_gap) and p.relative_gap > 0]
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axes, unit, values in zip(
        figure.subplots(1, 2, sharey=True),
        ("data passes", "seconds"),
        ([p.passes for p in reports], [p.elapsed for p in reports]),
        strict=True,
    ):
        axes.semilogy(values, [p.relative_gap for p in reports])
        axes.set_xlabel(unit)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("relative gap")
    figure.suptitle(f"{solution.method}: {solution.status.replace('_', ' ')}", fontsize="medium")
    _save(figure, name)


def plot_grid(name: str, parameters: Sequence[str], points: Sequence[Point], solutions: Sequence[Solution]) -> None:
    """Draw a grid against its last parameter into a file; `OSError` where that fails.

    Of one parameter: objective and coefficients. Of several: objective and nonzero entries, a curve for each value of the others.
    """
    from matplotlib.figure import Figure

    from .points import support

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    objective, other = figure.subplots(1, 2)
    _curves(objective, parameters, points, [s.objective for s in solutions])
    objective.set_ylabel("objective")
    if len(parameters) > 1:
        _curves(other, parameters, points, [sum(support(s).values()) for s in solutions])
        other.set_ylabel("nonzero entries")
        _legend(figure)
    else:
        for variable in solutions[0].variables:
            entries = _padded([_numbers(s[variable])[:LARGEST_PLOTTED] for s in solutions])
            other.plot([value for (value,) in points], entries, linewidth=0.8)
        other.set_ylabel("variables")
    for axes in (objective, other):
        _finish(axes, parameters, points)
    _save(figure, name)


def plot_folds(
    name: str,
    parameters: Sequence[str],
    points: Sequence[Point],
    mean: Any,
    standard_error: Any,
    chosen: Sequence[int | None],
    score: str,
) -> None:
    """Draw the mean scores of a cross-validation with their standard errors against its last parameter; `OSError` where that fails.

    `chosen` are the positions of the best point and of the one within a standard error of it; `score` labels the axis.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    _curves(axes, parameters, points, mean, standard_error)
    for i, label, style in zip(chosen, ("best", "one standard error"), ("--", ":"), strict=True):
        if i is not None:
            axes.axvline(points[i][-1], color="gray", linestyle=style, linewidth=1, label=label)
    axes.set_ylabel(score)
    _finish(axes, parameters, points)
    _legend(figure)
    _save(figure, name)


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


def plot_race(name: str, entrants: Sequence[Entrant]) -> None:
    """Draw the certified gaps of a race against time and data passes, on logarithmic scales, into a file; `OSError` where that fails."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    draw_race(figure.subplots(1, 2, sharey=True), entrants)
    figure.axes[1].set_ylabel("")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    _save(figure, name)


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


def _save(figure: Any, name: str) -> None:
    suffix = Path(name).suffix.lower().removeprefix(".")
    write_atomically(name, lambda stream: figure.savefig(stream, format=suffix))


def _height(moment: Moment, distance: Callable[[Moment], float] | None) -> float:
    return max(moment.relative_gap if distance is None else distance(moment), SMALLEST_PLOTTED)


def _numbers(value: Any) -> Any:
    """The entries of a variable; of one kept as factors, its singular values."""
    import numpy as np

    from ..atoms.low_rank import LowRank

    return value.singular_values if isinstance(value, LowRank) else np.ravel(value)


def _padded(rows: list[Any]) -> Any:
    """Rows of different lengths as one array, zeros at their ends."""
    import numpy as np

    out = np.zeros((len(rows), max(row.size for row in rows)))
    for row, into in zip(rows, out, strict=True):
        into[: row.size] = row
    return out
