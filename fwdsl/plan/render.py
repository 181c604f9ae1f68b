"""Plans in print."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from ..canon.arrange import Arrangement
from ..canon.forms import Form
from ..words import SQUARES

if TYPE_CHECKING:
    from ..backends.method import Estimate
    from .plan import Candidate, Plan


def structure_lines(arrangement: Arrangement, form: Form | None) -> tuple[str, ...]:
    """The canonical form, with numbers where data is bound."""
    if form is not None:
        return tuple(repr(form).splitlines())
    lines = ["minimise over " + ", ".join(b.name for b in arrangement.blocks)]
    for term in arrangement.sums:
        lines.append(f"  f  {term.text}")
    for block in arrangement.blocks:
        words = [w for w in (block.norm, block.set) if w] or ["free"]
        if block.ridges:
            words.append(SQUARES)
        note = f"   (moved into the sum: {', '.join(block.in_sum)})" if block.in_sum else ""
        lines.append(f"  g  {block.name}: {', '.join(words)}{note}")
    if arrangement.linear:
        lines.append(f"  q  {len(arrangement.linear)} affine term{'s' if len(arrangement.linear) > 1 else ''}")
    return tuple(lines)


def render_plan(plan: Plan) -> str:
    """Canonical form, facts, the choice, and every method with its reasons or predictions."""
    lines = ["canonical form", *(f"  {line}" for line in plan.structure)]
    if plan.facts:
        lines += ["", "facts", *(f"  {fact}" for fact in plan.facts)]
    lines += ["", f"method       {plan.method}: {plan.chosen.title}", f"why          {plan.why}"]
    lines += [f"certificate  {plan.certificate}"]
    able = sorted((c for c in plan.candidates if c.applies), key=_cost)
    chosen_freely = [c for c in able if not c.by_name_only or c.name == plan.method]
    named = [c for c in able if c not in chosen_freely]
    others = [c for c in plan.candidates if not c.applies]
    width = max(len(c.name) for c in able)
    lines += ["", "methods that apply", *(line for c in chosen_freely for line in _whole(c, plan.method, width))]
    if named:
        lines += ["", "that apply where they are named", *(line for c in named for line in _costs(c, width))]
    if others:
        width = max(len(c.name) for c in others)
        lines += ["", "that do not apply", *(_first_reason(c, width) for c in others)]
    if not plan.bound:
        lines += ["", "bind data (`--data NAME=PATH`) for predicted passes, time and memory"]
    return "\n".join(lines)


def _cost(candidate: Candidate) -> float:
    """The key that puts the least predicted time first, and keeps methods without one in the registry's order behind."""
    return candidate.estimate.seconds if candidate.estimate is not None else math.inf


def _whole(candidate: Candidate, chosen: str, width: int) -> list[str]:
    """The lines of a method with all its predictions."""
    mark = "*" if candidate.name == chosen else " "
    lines = [f"  {mark} {candidate.name:<{width}}  {candidate.title}"]
    e = candidate.estimate
    return lines if e is None else [*lines, *_wrap(_price(e)), *_wrap(e.why)]


def _costs(candidate: Candidate, width: int) -> list[str]:
    """The line of a method that the planner passes over, with its predicted cost."""
    e = candidate.estimate
    why = f"{candidate.title} ({candidate.by_name_only})"
    return [f"    {candidate.name:<{width}}  {why}", *(_wrap(_price(e)) if e is not None else [])]


def _price(e: Estimate) -> str:
    return f"about {e.passes:.0f} data passes, {seconds(e.seconds)}, {size(e.memory)} beside the data"


def _first_reason(candidate: Candidate, width: int) -> str:
    more = len(candidate.reasons) - 1
    return f"    {candidate.name:<{width}}  {candidate.reasons[0]}{f' (and {more} more)' if more else ''}"


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
