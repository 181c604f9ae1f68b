"""The methods that enter a race, each with its plan and its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..check.options import method_option
from ..check.settings import resolve_options
from ..errors import FwError, PlanError, misuse
from ..grammar.diagnostic import Diagnostic
from ..model import Model
from ..model.options import Options
from ..session import Raising, Session

if TYPE_CHECKING:
    from ..plan import Plan

SECONDS = 10.0
"""The limit of time of each method, unless one is given."""


@dataclass(frozen=True)
class RaceLane:
    """A method with its options, under the name that the program or the call gave it; `reason` says why it does not apply where it has no plan."""

    name: str
    plan: Plan | None
    reason: str = ""


def race_options(model: Model, **option_values: object) -> Options:
    """The program's options with those given, for each method: `SECONDS` and one thread by default. The program's `method` is ignored."""
    option_values = {name: value for name, value in option_values.items() if value is not None}
    told = {*dict(model.options), *option_values}
    options = replace(resolve_options(model, **option_values), method="auto", method_options={}, among=())
    time = options.time if "time" in told else SECONDS
    return replace(options, time=time, threads=options.threads if "threads" in told else 1)


def lanes(session: Session, methods: Sequence[str] | None) -> tuple[RaceLane, ...]:
    """The methods named, as `NAME` or `NAME(option=value)`; without names all that apply, and those that do not with their reasons.

    What is the same method with the same options runs once, however it is written.

    Raises `PlanError` for a name that is none, for options that are out of their domains, and where no method applies.
    """
    from ..backends.registry import METHODS

    if isinstance(methods, str):
        raise _no_names(methods)
    found: list[RaceLane] = []
    known: set[tuple[str, ...]] = set()
    for text in METHODS if methods is None else methods:
        lane = _lane(text, session)
        plan = lane.plan
        same = (plan.method, *map(repr, sorted(plan.method_options.items()))) if plan else (lane.name,)
        if same not in known:
            known.add(same)
            found.append(lane)
    if not any(lane.plan for lane in found):
        wrong = "; ".join(f"`{lane.name}`: {lane.reason}" for lane in found) or "none is named"
        hint = "`fwdsl plan FILE` shows which methods apply"
        rule = "A race needs a method that covers the problem."
        raise PlanError([Diagnostic("FW5003", f"no method can run: {wrong}", rule=rule, hint=hint)])
    return tuple(found)


def _lane(text: str, session: Session) -> RaceLane:
    named = method_option(text) if isinstance(text, str) else None
    if named is None:
        raise _no_names(text)
    method, own = named
    try:
        plan = session.solved_with(replace(session.options, method=method, method_options=own), Raising()).plan()
    except PlanError as error:
        if any(d.code != "FW5003" for d in error.diagnostics):
            raise
        reason = "; ".join(d.message.partition(" does not apply: ")[2] or d.message for d in error.diagnostics)
        return RaceLane(" ".join(text.split()), None, reason)
    return RaceLane(plan.method if method == "auto" else " ".join(text.split()), plan)


def _no_names(methods: object) -> FwError:
    what = (
        f"{methods!r} is no list of methods"
        if isinstance(methods, str) and methods.isidentifier()
        else f"{methods!r} names no method"
    )
    rule = "A race takes a list of names of methods, or of `NAME(option=value)`."
    return misuse("FW0310", what, rule=rule, hint='write race(["apg", "frank_wolfe"])')
