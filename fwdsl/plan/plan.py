"""Plans: the method chosen, every other method with the reason, and both in print and as plain data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..backends.registry import METHODS
from ..backends.speed import told_seconds
from ..html.shown import ShownInNotebooks
from ..readers.memory import size
from .weigh import Candidate

if TYPE_CHECKING:
    from ..backends.method import Estimate


@dataclass(frozen=True)
class Plan(ShownInNotebooks):
    """The chosen method with its options, why it was chosen, and what was found on the way.

    `among` are the names of the methods that the choice was among, `others` gives those of the others. `look` gives a method by its name, `told`
    the certificate to come and the lines of the canonical form: these are looked at only where somebody asks, or the choice hangs on them.
    """

    _html_from = "fwdsl.plan.html_form:plan_html"

    method: str
    method_options: Mapping[str, Any]
    why: str
    among: tuple[str, ...]
    facts: tuple[str, ...]
    bound: bool
    tol: float
    told: Callable[[], tuple[str, tuple[str, ...]]] = field(repr=False, compare=False)
    look: Callable[[str], Candidate] = field(repr=False, compare=False)
    others: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False, compare=False)
    #: The program is solved as it is written, though it has an equivalent one.
    as_written: bool = False
    #: A device beside the host takes products with the data.
    on_device: bool = False

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every method: why it does not apply, or what it would cost."""
        return (*self.weighed, *(self.look(name) for name in self.others()))

    @cached_property
    def weighed(self) -> tuple[Candidate, ...]:
        return tuple(self.look(name) for name in self.among)

    @cached_property
    def certificate(self) -> str:
        """The grounds of the dual bound to come."""
        return self.told()[0]

    @cached_property
    def structure(self) -> tuple[str, ...]:
        """The canonical form, a line a term and a block."""
        return self.told()[1]

    @property
    def chosen(self) -> Candidate:
        return self.look(self.method)

    def rivals(self) -> tuple[Candidate, ...]:
        """The other methods that may take over: those of the same form that the planner may choose and has predictions for."""
        form = METHODS[self.method].works_on
        able = [c for c in self.weighed if c.applies and not c.by_name_only and c.name != self.method]
        return tuple(c for c in able if c.estimate is not None and METHODS[c.name].works_on == form)

    def turned_to(self, method: str, why: str) -> Plan:
        """The plan after another method has taken over."""
        return replace(self, method=method, method_options={}, why=why)

    def __getstate__(self) -> dict[str, object]:
        # What the others are looked at with does not leave the process, so they are looked at now.
        told = partial(tuple, (self.certificate, self.structure))
        look = {c.name: c for c in self.candidates}.__getitem__
        return {
            **self.__dict__,
            "candidates": self.candidates,
            "weighed": self.weighed,
            "told": told,
            "look": look,
            "others": tuple,
        }

    def render(self) -> str:
        return _text(self)

    def to_json(self, everything: bool = True) -> dict[str, object]:
        """The plan as plain data, with every method or those that were weighed."""
        return {
            "method": self.method,
            "options": dict(self.method_options),
            "why": self.why,
            "certificate": self.certificate,
            "structure": list(self.structure),
            "facts": list(self.facts),
            "with_data": self.bound,
            "on_device": self.on_device,
            "methods": [_candidate_json(c) for c in (self.candidates if everything else self.weighed)],
        }

    def __repr__(self) -> str:
        return self.render()


def _candidate_json(c: Candidate) -> dict[str, object]:
    e = c.estimate
    predicted = (
        {"passes": e.passes, "seconds": told_seconds(e), "bytes": e.memory, "why": e.why} if e is not None else None
    )
    return {
        "name": c.name,
        "title": c.title,
        "applies": c.applies,
        "reasons": list(c.reasons),
        "by_name_only": c.by_name_only,
        "predicted": predicted,
    }


def _text(plan: Plan) -> str:
    """The text of `Plan.render`: canonical form, facts, the choice, and every method with its reasons or predictions."""
    lines = ["canonical form", *(f"  {line}" for line in plan.structure)]
    if plan.facts:
        lines += ["", "facts", *(f"  {fact}" for fact in plan.facts)]
    lines += ["", f"method       {plan.method}: {plan.chosen.title}", f"why          {plan.why}"]
    lines += [f"certificate  {plan.certificate}"]
    chosen_freely, named, others = grouped(plan)
    width = max(len(c.name) for c in (*chosen_freely, *named))
    lines += ["", "methods that apply", *(line for c in chosen_freely for line in _whole(c, plan.method, width))]
    if named:
        lines += ["", "that apply where they are named", *(line for c in named for line in _costs(c, width))]
    if others:
        width = max(len(c.name) for c in others)
        lines += ["", "that do not apply", *(_first_reason(c, width) for c in others)]
    if not plan.bound:
        lines += ["", "bind data (`--data NAME=PATH`) for predicted passes, time and memory"]
    return "\n".join(lines)


def grouped(plan: Plan) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
    """The methods that apply, those that apply where they are named, each the least predicted time first, and those that do not apply."""
    able = sorted((c for c in plan.candidates if c.applies), key=_cost)
    freely = [c for c in able if not c.by_name_only or c.name == plan.method]
    return freely, [c for c in able if c not in freely], [c for c in plan.candidates if not c.applies]


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
    passes, time, memory = price_texts(e)
    return f"about {passes} data passes, {time}, {memory} beside the data"


def price_texts(e: Estimate | None) -> tuple[str, str, str]:
    """Data passes, time, and memory beside the data; empty where nothing is predicted."""
    return ("", "", "") if e is None else (f"{e.passes:.0f}", seconds(told_seconds(e)), size(e.memory))


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
