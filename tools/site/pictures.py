"""Pictures of words, drawn from their mathematics: the curves of a loss, the shape of a set of two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.atoms.losses import LOSSES as LOSS_ATOMS
from fwdsl.atoms.vectors import SETS as SET_ATOMS
from fwdsl.html.chart import Curve, chart, legend
from fwdsl.html.markup import Html, el
from fwdsl.html.scale import Axis
from fwdsl.words import CONVEX, LOSSES, NUMBERS, SETS
from fwdsl.words.base import Parameter

_STEPS = 241
_WIDTH = 220
_REACH = 1.35
"""The largest number beside a set, whose size is about 1."""


def of_word(name: str) -> str:
    """The picture of a word as HTML in Markdown; "" for words that have none."""
    if name in LOSS_ATOMS:
        return _framed(*_of_loss(name))
    if name in CONVEX and CONVEX[name].ball in SET_ATOMS and CONVEX[name].is_norm:
        return _framed(_of_set(CONVEX[name].ball, f"The points of two numbers at which {name} is at most 1."))
    if name in SET_ATOMS and SETS[name].compact and SET_ATOMS[name].lmo is not None:
        return _framed(_of_set(name, f"{name} of two numbers{_said(name)}."))
    return ""


def _framed(*parts: Html) -> str:
    """Pictures side by side, on lines without an empty one: those would end the HTML."""
    return str(el("div", el("div", *parts, class_="charts"), class_="fw")).replace("\n", " ") + "\n"


def _of_loss(name: str) -> tuple[Html, Html]:
    """The loss with its derivative and its prox, and its conjugate."""
    loss, word = LOSS_ATOMS[name], LOSSES[name]
    b = 1.0 if word.classifies or not word.residual else 0.0
    p = np.array([option.default for option in word.options], dtype=float)
    z = np.linspace(-3.0, 3.0, _STEPS)
    targets = np.full_like(z, b)
    values = (
        ("loss", loss.value_naive(z, targets, p)),
        ("derivative", loss.gradient_naive(z, targets, p)),
        ("prox", loss.prox_naive(z, np.ones_like(z), targets, p)),
    )
    first = chart(f"{name} at the target {b:g}, against z", _curves(z, values), Axis("z"), Axis(""))
    low, high = (end[0] for end in loss.dual_bounds_naive(np.array([b]), p))
    u = np.linspace(max(low, -3.0), min(high, 3.0), _STEPS)
    with np.errstate(all="ignore"):
        dual = loss.conjugate_naive(u, np.full_like(u, b), p)
    second = chart(
        f"its conjugate at the target {b:g}, against u", _curves(u, (("conjugate", dual),)), Axis("u"), Axis("")
    )
    return el("div", first, legend([what for what, _ in values])), second


def _curves(x: np.ndarray, values: Any) -> list[Curve]:
    return [Curve(what, [(float(a), float(v)) for a, v in zip(x, y, strict=True)]) for what, y in values]


#: What the arguments of sets are in a picture, by their shape or their name.
_ARGUMENTS: dict[str, Any] = {
    "entries": np.array([1.0, 0.2]),
    "columns": np.array([[1.0, 0.1], [-0.5, 0.9], [-0.7, -0.8], [0.4, -0.9]]),
    "r": 1.0,
    "k": 1,
    "lo": -0.6,
    "hi": 1.0,
    "groups": [[0, 1]],
}


def _arguments(name: str) -> dict[str, Any]:
    return {p.name: _argument(p) for p in SETS[name].parameters if p.required}


def _argument(p: Parameter) -> Any:
    known = _ARGUMENTS.get(p.shape, _ARGUMENTS.get(p.name))
    return NUMBERS[p.domain].example if known is None and p.domain in NUMBERS else known


def _said(name: str) -> str:
    given = [f"{key} = {value:g}" for key, value in _arguments(name).items() if isinstance(value, int | float)]
    return f", {', '.join(given)}" if given else ""


def _of_set(name: str, caption: str) -> Html:
    """The shape of a set: what linear minimisation gives in all directions, joined."""
    on: Any = SET_ATOMS[name](2, **_arguments(name))  # type: ignore[call-arg]
    angles = np.linspace(0.0, 2.0 * np.pi, 361)
    found = [on.lmo(-np.array([np.cos(a), np.sin(a)])) for a in angles]
    corners = list(dict.fromkeys((round(float(x), 6), round(float(y), 6)) for x, y in found))
    points = " ".join(f"{_at(x):.1f},{_WIDTH - _at(y):.1f}" for x, y in corners)
    middle = f"{_at(0.0):.1f}"
    parts = [
        el("title", caption),
        el("line", x1=0, y1=middle, x2=_WIDTH, y2=middle, class_="axis"),
        el("line", x1=middle, y1=0, x2=middle, y2=_WIDTH, class_="axis"),
        *(
            el("text", text, x=f"{_at(x):.1f}", y=f"{_WIDTH - _at(y):.1f}", text_anchor="middle")
            for text, x, y in (("1", 1.12, -0.17), ("-1", -1.14, -0.17), ("1", -0.12, 1.08), ("-1", -0.14, -1.18))
        ),
        el("polygon", points=points, class_="shape c0"),
    ]
    drawn = el("svg", *parts, viewBox=f"0 0 {_WIDTH} {_WIDTH}", class_="shape", role="img", aria_label=caption)
    return el("figure", drawn, el("figcaption", caption), class_="shape")


def _at(x: float) -> float:
    return _WIDTH * (x + _REACH) / (2.0 * _REACH)
