"""Plans in print."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ..canon.arrange import Arrangement
from ..canon.factored import Factored
from ..canon.form import Canonical

if TYPE_CHECKING:
    from .plan import Candidate, Plan


def structure_lines(arrangement: Arrangement, form: Canonical | Factored | None) -> tuple[str, ...]:
    """The canonical form, with numbers where data is bound."""
    if form is not None:
        return tuple(repr(form).splitlines())
    lines = ["minimise over " + ", ".join(b.name for b in arrangement.blocks)]
    for term in arrangement.sums:
        lines.append(f"  f  {term.text}")
    for block in arrangement.blocks:
        words = [w for w in (block.norm, block.set) if w] or ["free"]
        if block.ridges:
            words.append("sum_squares")
        moved = f"   (moved into the sum: {', '.join(block.moved)})" if block.moved else ""
        lines.append(f"  g  {block.name}: {', '.join(words)}{moved}")
    if arrangement.linear:
        lines.append(f"  q  {len(arrangement.linear)} affine term{'s' if len(arrangement.linear) > 1 else ''}")
    return tuple(lines)


def render_plan(plan: Plan) -> str:
    """Canonical form, facts, the choice, and every method with its reasons or predictions."""
    lines = ["canonical form", *(f"  {line}" for line in plan.structure)]
    if plan.facts:
        lines += ["", "facts", *(f"  {fact}" for fact in plan.facts)]
    lines += ["", f"method       {plan.method}: {plan.chosen.title}", f"why          {plan.why}"]
    lines += [f"certificate  {plan.certificate}", "", "methods"]
    for candidate in plan.candidates:
        mark = "*" if candidate.name == plan.method else " "
        lines.append(f"  {mark} {candidate.name:<11} {candidate.title}")
        lines += _details(candidate)
    if not plan.bound:
        lines += ["", "bind data (`--data NAME=PATH`) for predicted passes, time and memory"]
    if plan.actual:
        lines += ["", "predicted and actual"]
        lines += [f"  {key:<12} {value}" for key, value in plan.actual.items()]
    return "\n".join(lines)


def _details(candidate: Candidate) -> list[str]:
    if candidate.reasons:
        shown = list(candidate.reasons[:4])
        more = len(candidate.reasons) - len(shown)
        if more:
            shown.append(f"and {more} more")
        return [line for reason in shown for line in _wrap(f"does not apply: {reason}")]
    e = candidate.estimate
    if e is None:
        return ["             applies"]
    cost = f"about {e.passes:.0f} data passes, {seconds(e.seconds)}, {size(e.memory)} beside the data"
    return [*_wrap(cost), *_wrap(e.why)]


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent=" " * 13, subsequent_indent=" " * 15)


def seconds(value: float) -> str:
    """A time in the unit that suits it."""
    if value < 1e-3:
        return f"{1e6 * value:.0f} us"
    if value < 1.0:
        return f"{1e3 * value:.0f} ms"
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.0f} min"


def size(value: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
