"""Charts of the tables in pages of results: what was measured beside its target, and times side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fwdsl.html.chart import COLOURS, legend
from fwdsl.html.markup import Html, el
from fwdsl.html.scale import Axis, Scale, fitted, tick_text

_TABLE = re.compile(r"(?:^\|.*\|[ ]*\n){3,}", re.M)
_NUMBER = re.compile(r"\**(?P<value>-?[\d,]*\.?\d+(?:e[+-]?\d+)?)(?: (?P<unit>x|%|[kMG]?B|ns|us|ms|s|min|h))?\**")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_UNITS = {None: 1.0, "x": 1.0, "%": 0.01, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, **_SECONDS}

WIDTH, LABELS, ROW = 760, 300, 19
MOST_ROWS = 60
"""Rows of a table that a chart shows."""

FARTHEST = 1e3
"""The largest number of times its target, or the inverse share of it, that a figure is drawn at."""


@dataclass(frozen=True)
class Mark:
    """A mark of a chart: where, of which row and series, and the words that it tells."""

    row: int
    at: float
    told: str
    kind: str


def with_charts(markdown: str) -> str:
    """The page with a chart before each table that has targets or times."""
    return _TABLE.sub(lambda found: f"{chart_of(found[0])}{found[0]}", markdown)


def chart_of(table: str) -> str:
    """The chart of a table, as HTML on one line and an empty line; "" where it has neither targets nor times."""
    head, rows = cells(table)
    drawn = _targets(head, rows) or _times(head, rows)
    return f"{drawn}\n\n".replace("\n", " ", str(drawn).count("\n")) if drawn else ""


def cells(table: str) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows of a table of Markdown."""
    lines = [
        [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        for line in table.splitlines()
    ]
    return lines[0], [line + [""] * (len(lines[0]) - len(line)) for line in lines[2:]]


def number(cell: str, units: Sequence[str | None] = tuple(_UNITS)) -> float | None:
    """The number of a cell in the unit's base; None where it is no number of one of these units."""
    found = _NUMBER.fullmatch(cell.strip())
    if found is None or found["unit"] not in units:
        return None
    return float(found["value"].replace(",", "")) * _UNITS[found["unit"]]


def targets(markdown: str) -> tuple[int, int]:
    """The number of targets of a page that are met, and of all."""
    tables = (cells(found) for found in _TABLE.findall(markdown))
    verdicts = [row[-1].strip("*") for head, rows in tables if "target" in head for row in rows]
    return verdicts.count("met"), sum(verdict in ("met", "missed") for verdict in verdicts)


# --- targets ---------------------------------------------------------------------------------------------------------


def _targets(head: list[str], rows: list[list[str]]) -> Html | None:
    """Figures over their targets: right of 1 is missed, whether at most or at least is asked."""
    if "target" not in head or "measured" not in head:
        return None
    measured, target = head.index("measured"), head.index("target")
    labels, marks = [], []
    for row in rows:
        share = _share(row[measured], row[target])
        if share is None:
            continue
        at = min(max(share, 1.0 / FARTHEST), FARTHEST)
        kind = "met" if share <= 1.0 else "missed"
        marks.append(Mark(len(labels), at, f"{row[measured]}, {row[target]}: {kind}", kind))
        labels.append(row[0])
    if not marks:
        return None
    scale = _scale(Axis("", log=True), [1.0, *(m.at for m in marks)])
    return _framed("Measured over target: what is left of the line is met", labels, marks, scale, line_at=1.0)


def _share(measured: str, target: str) -> float | None:
    asked = re.fullmatch(r"(at most|at least) (.+)", target)
    if asked is None:
        return None
    have, want = number(measured), number(asked[2])
    if have is None or want is None or have <= 0.0 or want <= 0.0:
        return None
    return have / want if asked[1] == "at most" else want / have


# --- times -----------------------------------------------------------------------------------------------------------


def _times(head: list[str], rows: list[list[str]]) -> Html | None:
    """The columns that are times, a mark a row and column, by logarithms."""
    found = {i: [number(row[i], tuple(_SECONDS)) for row in rows] for i in range(1, len(head))}
    columns = [i for i, times in found.items() if sum(t is not None for t in times) * 2 > len(rows)]
    if not columns or len(rows) < 2:
        return None
    first = min(columns)
    texts = [i for i in range(first) if i == 0 or not any(number(row[i]) is not None for row in rows)]
    labels = [", ".join(re.sub(r"[`*]", "", row[i]) for i in texts if row[i]) for row in rows[:MOST_ROWS]]
    marks = [
        Mark(at, seconds, f"{labels[at]}, {head[i]}: {rows[at][i]}", f"c{k % COLOURS}")
        for k, i in enumerate(columns)
        for at, seconds in enumerate(found[i][:MOST_ROWS])
        if seconds is not None and seconds > 0.0
    ]
    if not marks:
        return None
    scale = _scale(Axis("", log=True), [m.at for m in marks])
    more = f", the first {MOST_ROWS} of {len(rows)} rows" if len(rows) > MOST_ROWS else ""
    title = f"Seconds{more}" if len(columns) > 1 else f"Seconds, {re.sub('[`*]', '', head[columns[0]])}{more}"
    names = [re.sub("[`*]", "", head[i]) for i in columns] if len(columns) > 1 else []
    return _framed(title, labels, marks, scale, names)


# --- drawing ---------------------------------------------------------------------------------------------------------


def _scale(axis: Axis, values: Sequence[float]) -> Scale:
    return fitted(axis, values, LABELS + 10, WIDTH - 14)


def _framed(
    title: str,
    labels: list[str],
    marks: list[Mark],
    scale: Scale,
    names: Sequence[str] = (),
    line_at: float | None = None,
) -> Html:
    height = ROW * len(labels) + 40
    body = el(
        "svg",
        el("title", title),
        *_grid(scale, labels),
        *([] if line_at is None else [_upright(scale(line_at), height, "target")]),
        *(_mark(m, scale) for m in marks),
        class_="chart",
        viewBox=f"0 0 {WIDTH} {height}",
        style="min-width:38rem",
        role="img",
        aria_label=f"{title}. The table below has the numbers.",
    )
    scrolled = el("div", body, class_="scroll", role="region", aria_label=title, tabindex=0)
    figure = el("figure", el("figcaption", title), scrolled, *([legend(names)] if names else []))
    return el("div", el("div", figure, class_="charts wide"), class_="fw")


def _grid(scale: Scale, labels: list[str]) -> Iterator[Html]:
    bottom = ROW * len(labels) + 12
    for tick in scale.ticks():
        x = f"{scale(tick):.1f}"
        yield el("line", x1=x, y1=4, x2=x, y2=bottom, class_="grid")
        yield el("text", tick_text(tick), x=x, y=bottom + 16, text_anchor="middle")
    for i, label in enumerate(labels):
        shown = label if len(label) <= 44 else f"{label[:43]}…"
        text = (el("title", label), shown) if shown != label else (shown,)
        yield el("text", *text, x=LABELS, y=_y(i) + 4, text_anchor="end")


def _upright(x: float, height: int, kind: str) -> Html:
    return el("line", x1=f"{x:.1f}", y1=4, x2=f"{x:.1f}", y2=height - 28, class_=kind)


def _y(row: int) -> int:
    return ROW * row + 16


def _mark(mark: Mark, scale: Scale) -> Html:
    kind = f"dot {mark.kind}" if mark.kind.startswith("c") else mark.kind
    return el("circle", el("title", mark.told), cx=f"{scale(mark.at):.1f}", cy=_y(mark.row), r=4.5, class_=kind)
