"""Figures of matplotlib (extra `plot`): how the gap of a solution closed, and what all plots share."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import RunError
from ..extras import require
from ..files.target import write_atomically
from ..grammar.diagnostic import Diagnostic


def require_plot(name: str | None) -> None:
    """Raise `RunError` before solving if matplotlib is absent (FW0018) or does not know the file's format (FW0014)."""
    require("plot")
    from matplotlib.figure import Figure

    formats = Figure().canvas.get_supported_filetypes()
    if name is not None and Path(name).suffix.lower().removeprefix(".") not in formats:
        rule = f"The suffix tells the format: {', '.join(sorted(formats))}."
        found = Diagnostic("FW0014", f"`{name}` has no suffix of a plot", rule=rule, hint="write `--plot gap.png`")
        raise RunError([found])


def require_history(origin: str, history: Sequence[object]) -> None:
    """Raise `RunError` FW0217 for a solution that was loaded, from `origin`, without the history of its run."""
    if origin and not history:
        rule = "A saved answer keeps where a run ended, and not how it got there."
        hint = "draw it where it is solved: `solution.plot()` before `save`, or `fwdsl run FILE --plot gap.png`"
        raise RunError([Diagnostic("FW0217", f"there is nothing to draw of {origin}", rule=rule, hint=hint)])


def plot_gap(name: str | None, title: str, reports: Iterable[tuple[float, float, float]]) -> Any:
    """Draw the gap against data passes and seconds into a file whose suffix tells the format, or give the figure; `OSError` where writing fails.

    `reports` are passes, seconds and relative gaps; a gap that is 0 or unknown is left out.
    """
    shown = [(passes, seconds, gap) for passes, seconds, gap in reports if math.isfinite(gap) and gap > 0]
    figure = new_figure(figsize=(8, 3.2))
    for i, (axes, unit) in enumerate(zip(figure.subplots(1, 2, sharey=True), ("data passes", "seconds"), strict=True)):
        axes.semilogy([report[i] for report in shown], [gap for _, _, gap in shown])
        axes.set_xlabel(unit)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("relative gap")
    figure.suptitle(title, fontsize="medium")
    return finished(figure, name)


def new_figure(figsize: tuple[float, float]) -> Any:
    """An empty figure that a notebook shows where it is the value of a cell."""
    return _shown_figure()(figsize=figsize, layout="constrained")


def finished(figure: Any, name: str | None) -> Any:
    """The figure; or None where a file is named, into which it is drawn whole."""
    if name is None:
        return figure
    suffix = Path(name).suffix.lower().removeprefix(".")
    write_atomically(name, lambda stream: figure.savefig(stream, format=suffix))
    return None


@cache
def _shown_figure() -> Any:
    from matplotlib.figure import Figure  # without pyplot: no window, no state

    class ShownFigure(Figure):  # type: ignore[misc, unused-ignore]
        """A figure that shows itself: those of matplotlib do so only once pyplot is imported."""

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png")
            return stream.getvalue()

    return ShownFigure
