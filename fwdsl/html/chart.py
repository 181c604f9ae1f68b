"""Charts of curves as SVG. Each point tells its numbers to a pointer and to the keyboard, without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .markup import Html, el, joined
from .scale import Axis, Scale, fitted, tick_text

WIDTH, HEIGHT = 440, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 12, 26, 44

LONGEST_TIP = 58
"""Characters that fit above a chart."""

COLOURS = 8
_DASHES = (None, "7 3", "2 3", "10 3 2 3")

MOST_DRAWN = 300
"""Points of a curve that its line goes through."""

MOST_TOLD = 24
"""Points of a curve that tell their numbers."""


@dataclass(frozen=True)
class Curve:
    """A curve: its name, its points, and the words that each point tells. `spread` are half the lengths of bars through the points."""

    name: str
    points: Sequence[tuple[float, float]]
    told: Sequence[str] = ()
    spread: Sequence[float] = ()


def chart(
    title: str,
    curves: Sequence[Curve],
    x: Axis,
    y: Axis,
    *,
    steps: bool = False,
    thin: bool = False,
    lines_at: Sequence[tuple[str, float]] = (),
) -> Html:
    """Curves in one pair of axes, as a figure. With `steps` a curve holds its height until its next point.

    Of one curve every told point can be focused, of several the last of each, so that the keyboard is not led through hundreds. Points that are not
    finite are left out. `lines_at` are upright lines with their names.
    """
    shown = [_finite(curve) for curve in curves]
    shown = [curve for curve in shown if curve.points]
    if not shown:
        return el("p", "There is nothing to draw.", class_="dim")
    across = fitted(x, [px for c in shown for px, _ in c.points], _LEFT, WIDTH - _RIGHT)
    heights = [py + s for c in shown for (_, py), r in zip(c.points, _spreads(c), strict=True) for s in (-r, r)]
    up = fitted(y, heights, HEIGHT - _BOTTOM, _TOP)
    parts = [
        el("title", title),
        el("desc", _described(shown, x, y)),
        _axes(across, up, x, y),
        *(_upright(name, across(at), i) for i, (name, at) in enumerate(lines_at)),
        *(_line(c, i, across, up, steps, thin) for i, c in enumerate(shown)),
        *(_dots(c, i, across, up, len(shown) == 1) for i, c in enumerate(shown)),
    ]
    drawn = el("svg", *parts, class_="chart", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="group", aria_label=title)
    return el("figure", drawn, el("figcaption", title))


def legend(names: Sequence[str]) -> Html:
    """The names of curves with their colours and dashes, in the order of the chart."""
    items = []
    for i, name in enumerate(names):
        stroke = el("line", x1=0, y1=5, x2=26, y2=5, class_=f"curve c{i % COLOURS}", stroke_dasharray=_dash(i))
        items.append(el("li", el("svg", stroke, viewBox="0 0 26 10", aria_hidden="true"), name))
    return el("ul", *items, class_="legend")


def bar(value: float, low: float, high: float) -> Html:
    """A small bar from 0 to a value, on a scale from `low` (at most 0) to `high` (at least 0). Screen readers have the number beside it."""
    span = (high - low) or 1.0
    zero, at = 100 * -low / span, 100 * (value - low) / span
    body = el(
        "rect",
        x=f"{min(zero, at):.2f}",
        y=2,
        width=f"{abs(at - zero):.2f}",
        height=10,
        class_=f"fill c{int(value < 0)}",
    )
    axis = el("line", x1=f"{zero:.2f}", y1=0, x2=f"{zero:.2f}", y2=14, class_="axis")
    return el("svg", body, axis, class_="bar", viewBox="-1 0 102 14", preserveAspectRatio="none", aria_hidden="true")


def _finite(curve: Curve) -> Curve:
    told, spread = curve.told or [""] * len(curve.points), _spreads(curve)
    kept = [
        (point, words, r if math.isfinite(r) else 0.0)
        for point, words, r in zip(curve.points, told, spread, strict=True)
        if all(map(math.isfinite, point))
    ]
    every = -(-len(kept) // MOST_DRAWN) or 1
    kept = [*kept[:-1:every], kept[-1]] if kept else []
    return Curve(curve.name, [p for p, _, _ in kept], [t for _, t, _ in kept], [r for _, _, r in kept])


def _spreads(curve: Curve) -> Sequence[float]:
    return curve.spread or [0.0] * len(curve.points)


def _described(curves: Sequence[Curve], x: Axis, y: Axis) -> str:
    ends = "; ".join(
        f"{c.name + ': ' if c.name else ''}from {tick_text(c.points[0][1])} to {tick_text(c.points[-1][1])}"
        for c in curves[:COLOURS]
    )
    return f"{y.label} against {x.label}: {ends}"


def _axes(across: Scale, up: Scale, x: Axis, y: Axis) -> Html:
    parts = []
    for value in across.ticks():
        at = f"{across(value):.1f}"
        parts.append(el("line", x1=at, y1=_TOP, x2=at, y2=HEIGHT - _BOTTOM, class_="grid"))
        parts.append(el("text", tick_text(value), x=at, y=HEIGHT - _BOTTOM + 17, text_anchor="middle"))
    for value in up.ticks():
        at = f"{up(value):.1f}"
        parts.append(el("line", x1=_LEFT, y1=at, x2=WIDTH - _RIGHT, y2=at, class_="grid"))
        parts.append(el("text", tick_text(value), x=_LEFT - 6, y=at, dy="0.35em", text_anchor="end"))
    parts.append(el("line", x1=_LEFT, y1=HEIGHT - _BOTTOM, x2=WIDTH - _RIGHT, y2=HEIGHT - _BOTTOM, class_="axis"))
    parts.append(el("text", x.label, x=(_LEFT + WIDTH - _RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle"))
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    parts.append(el("text", y.label, text_anchor="middle", transform=f"translate(11 {middle}) rotate(-90)"))
    return el("g", *parts, aria_hidden="true")


def _upright(name: str, at: float, i: int) -> Html:
    line = el(
        "line",
        x1=f"{at:.1f}",
        y1=_TOP,
        x2=f"{at:.1f}",
        y2=HEIGHT - _BOTTOM,
        class_="axis",
        stroke_dasharray=_dash(i + 1),
    )
    return el("g", line, el("title", name))


def _line(curve: Curve, i: int, across: Scale, up: Scale, steps: bool, thin: bool) -> Html:
    places = [(across(px), up(py)) for px, py in curve.points]
    path = f"M{places[0][0]:.1f} {places[0][1]:.1f}"
    for px, py in places[1:]:
        path += f"H{px:.1f}V{py:.1f}" if steps else f"L{px:.1f} {py:.1f}"
    for (px, py), r in zip(curve.points, _spreads(curve), strict=True):
        if r:
            path += f"M{across(px):.1f} {up(py - r):.1f}V{up(py + r):.1f}"
    kind = f"curve{' thin' if thin else ''} c{i % COLOURS}"
    return el("path", el("title", curve.name) if curve.name else None, d=path, class_=kind, stroke_dasharray=_dash(i))


def _dots(curve: Curve, i: int, across: Scale, up: Scale, alone: bool) -> Html:
    """The points that tell their numbers: evenly many of all, and the last."""
    if not any(curve.told):
        return Html("")
    every = -(-len(curve.points) // MOST_TOLD)
    places = sorted({*range(0, len(curve.points), every), len(curve.points) - 1})
    parts = []
    for k in places:
        (px, py), words = curve.points[k], curve.told[k]
        text = f"{curve.name}: {words}" if curve.name else words
        focus = alone or k == places[-1]
        at = {"cx": f"{across(px):.1f}", "cy": f"{up(py):.1f}"}
        # the words stand in one place, where no other point covers them
        inner = joined(
            el("title", text),
            el("circle", **at, r=3 if focus else 2, class_=f"dot c{i % COLOURS}"),
            el("circle", **at, r=8, class_="hit"),
            _tip(text),
        )
        parts.append(el("g", inner, class_="pt", role="img", aria_label=text, tabindex=0 if focus else None))
    return joined(*parts)


def _tip(text: str) -> Html:
    """The words of a point, above the chart; long ones are drawn closer."""
    close = {"textLength": WIDTH - _RIGHT, "lengthAdjust": "spacingAndGlyphs"} if len(text) > LONGEST_TIP else {}
    return el("text", text, x=WIDTH - _RIGHT, y=14, text_anchor="end", class_="tip", **close)


def _dash(i: int) -> str | None:
    return _DASHES[i // COLOURS % len(_DASHES)]
