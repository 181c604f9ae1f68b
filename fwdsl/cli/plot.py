"""`--plot FILE`: how the gap closed, against data passes and against time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from ..grammar.diagnostic import Diagnostic
from .exits import Stop

if TYPE_CHECKING:
    from ..solution import Solution


def require_plot(name: str) -> None:
    """Stop where matplotlib is absent or does not know the file's format: told before solving, not after."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        rule = "Plots need the extra `plot`."
        found = Diagnostic("FW0018", "matplotlib is not installed", rule=rule, hint="pip install 'fwdsl[plot]'")
        raise Stop([found]) from None
    formats = Figure().canvas.get_supported_filetypes()
    if Path(name).suffix.lower().removeprefix(".") not in formats:
        rule = f"The suffix tells the format: {', '.join(sorted(formats))}."
        raise Stop(
            [Diagnostic("FW0014", f"`{name}` has no suffix of a plot", rule=rule, hint="write `--plot gap.png`")]
        )


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
    figure.savefig(name)
