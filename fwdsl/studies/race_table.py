"""A race in print: a table of gaps, times and passes, and why methods ended early or did not run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.options import Options

if TYPE_CHECKING:
    from .entrant import Entrant, Unit

FIXED = ("method", "status", "gap", "iterations", "passes", "seconds")
GUTTER = 2
LEFT = 2
LONGEST = 160
"""Columns of the table before those by level; the space between columns; how many hold words; characters of a reason's line."""

_WORDS = {"tolerance_not_reached": "not reached"}


def header(levels: Sequence[float]) -> list[str]:
    """The head of the table."""
    named = [level_text(level) for level in levels]
    return [*FIXED, *(f"s to {n}" for n in named), *(f"passes to {n}" for n in named)]


def row(e: Entrant, levels: Sequence[float]) -> list[str]:
    """An entrant's line of the table; `-` stands for a level that was not reached."""
    fixed = [e.name, _WORDS.get(e.status, e.status)]
    if not e.ran:
        return [*fixed, *["-"] * (4 + 2 * len(levels))]
    gap = f"{e.relative_gap:.1e}" if math.isfinite(e.relative_gap) else "-"
    done = [gap, f"{e.iterations}", number_text(e.passes), number_text(e.seconds)]
    units: tuple[Unit, Unit] = ("seconds", "passes")
    return [*fixed, *done, *(number_text(e.to(level, unit)) for unit in units for level in levels)]


def cells(entrants: Iterable[Entrant], levels: Sequence[float], width: float = math.inf) -> list[list[str]]:
    """Head and lines of the table without those that do not apply; within a width the columns that matter least are left out."""
    lines = [header(levels), *(row(e, levels) for e in entrants if e.status != "does not apply")]
    passes = [len(FIXED) + len(levels) + i for i in range(len(levels))]
    seconds = [len(FIXED) + i for i in range(len(levels))]
    for unneeded in [*passes, FIXED.index("iterations"), *seconds]:
        if sum(max(map(len, column)) + GUTTER for column in zip(*lines, strict=True) if any(column)) <= width:
            break
        for line in lines:
            line[unneeded] = ""
    kept = [i for i, column in enumerate(zip(*lines, strict=True)) if any(column)]
    return [[line[i] for i in kept] for line in lines]


def table_text(entrants: Sequence[Entrant], levels: Sequence[float], options: Options, waiting: Sequence[str]) -> str:
    """The table in plain text, and under it why methods ended before the tolerance or did not run."""
    table, short = cells(entrants, levels), notes(entrants, waiting)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    gap = " " * GUTTER
    lines = [gap.join(_aligned(line, widths)).rstrip() for line in table]
    return "\n".join([*lines, *([""] if short else []), *short, "", conditions(options)])


def notes(entrants: Iterable[Entrant], waiting: Sequence[str]) -> list[str]:
    """A line for each entrant that did not reach the tolerance, with the reason, and one for those that never ran; long ones are cut."""
    short = [e for e in entrants if e.status != "optimal" and e.reason not in ("", e.status)]
    width = max((len(e.name) for e in short), default=0)
    told = (f"{e.name:<{width}}  {_WORDS.get(e.status, e.status)}: {e.reason}" for e in short)
    left = [f"interrupted before {', '.join(waiting)} ran"] if waiting else []
    return [line if len(line) <= LONGEST else f"{line[: LONGEST - 4].rsplit(' ', 1)[0]} ..." for line in (*told, *left)]


def conditions(o: Options) -> str:
    """The conditions of the race, in a line."""
    threads = f"{o.threads} thread{'s' if o.threads != 1 else ''}" if o.threads else "a thread for each core"
    limit = f", {o.time:g} s each at most" if math.isfinite(o.time) else ""
    return f"certified relative gap, tolerance {o.tol:g}{limit}, {threads}, seed {o.seed}; the verifier's time is not counted"


def level_text(level: float) -> str:
    """`1e-4`."""
    mantissa, _, exponent = f"{level:e}".partition("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def number_text(value: float) -> str:
    """Three digits, whole numbers in full; `-` for what is not finite."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Words to the left, numbers to the right."""
    return [f"{c:<{w}}" if i < LEFT else f"{c:>{w}}" for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
