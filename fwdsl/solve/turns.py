"""A run in which methods may take turns (`fwdsl.solve.relay` says whose it is)."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from ..backends.kernels.pool import serial_blas
from ..backends.registry import METHODS
from ..model.options import Options
from ..plan import Plan
from ..results.solution import Change, Progress
from .driver import OnState, Outcome, Turn, drive
from .forms import Solvable, Start
from .interrupt import Control
from .journal import Best
from .relay import Lane, Relay, lanes_of
from .supervisor import HISTORY, Before

log = logging.getLogger("fwdsl.solve")


def in_turns(
    task: Solvable,
    plan: Plan,
    options: Options,
    at: Start,
    on_progress: Callable[[Progress], bool | None] | None,
    control: Control,
    on_state: OnState | None,
) -> tuple[Plan, Outcome, tuple[Change, ...]]:
    """The outcome of the plan's method and of those that took over from it: the last one's plan, and when and why each began.

    The best point and the best bound are those of all. A method that begins starts from them, one that comes back goes on from its own state.
    """
    best = Best()
    method = METHODS[plan.method]
    at_hand = task.form.at_hand(method.works_on)
    unrivalled = at_hand is not None and method.is_unrivalled(at_hand)
    relay = Relay(*lanes_of(plan, task.form.scale, best, unrivalled), options.tol, unrivalled)
    lane, total, changes = relay.first(), _Total(), list[Change]()
    if lane is not relay.leader:
        changes.append(Change(lane.name, 0, 0.0, 0.0, f"a trial of `{lane.name}` before `{relay.leader.name}`"))
    METHODS[lane.name].load()
    with closing(task.prepare()) as problem:
        while True:
            start = at if lane.run is not None else _from_best(task, best, at, changes)
            turn = _turn(relay, lane, total.before(lane, problem.passes))
            # what a method loads has to be there before BLAS is held to one thread
            METHODS[lane.name].load()
            # numbers that overflow are seen by the driver, which says so; a warning from inside a kernel's caller helps nobody
            with serial_blas(), np.errstate(all="ignore"):
                outcome = drive(
                    task,
                    problem,
                    plan if plan.method == lane.name else plan.turned_to(lane.name, plan.why),
                    start,
                    options,
                    on_progress=on_progress,
                    control=control,
                    on_state=on_state,
                    turn=turn,
                )
            total.add(lane, outcome)
            following = _following(relay, lane, outcome, total.seconds >= options.time or control.stop)
            if following is None:
                break
            if following[0] is not lane:
                lane, reason = following
                changes.append(Change(lane.name, total.iterations, total.passes, total.seconds, reason))
                log.info("%s takes over at iteration %d: %s", lane.name, total.iterations, reason)
                plan = plan.turned_to(lane.name, reason) if lane is relay.leader else plan
    last = plan if plan.method == lane.name else plan.turned_to(lane.name, changes[-1].reason)
    return last, total.joined(outcome), tuple(changes)


def _turn(relay: Relay, lane: Lane, before: Before) -> Turn:
    """The next turn of a lane. When the leader's ends in full is found out only once it has gone on for some time: most solves end before."""
    if lane is relay.leader:
        return Turn(lane, relay.at_least(lane), before, relay.due)
    return Turn(lane, relay.until(lane), before)


def _from_best(task: Solvable, best: Best, at: Start, changes: list[Change]) -> Start:
    """The start of a method's first turn: the best point and bound so far, where others have had theirs."""
    if not changes or best.primal is None or not math.isfinite(best.primal.primal):
        return at
    return task.restart(Start(best.x, list(best.merged().y) or None, at.origin))


def _following(relay: Relay, lane: Lane, outcome: Outcome, is_over: bool) -> tuple[Lane, str] | None:
    """The next turn after one, and the reason for it; None where the run has ended."""
    if not (outcome.paused or outcome.gave_up):
        return None
    lane.run, lane.gave_up = outcome.run, outcome.gave_up
    if is_over:
        # a turn without a step tells what ended the run
        return (lane, "") if outcome.paused else None
    lane.look(outcome.own_gap, max(0.0, outcome.seconds - outcome.verify_seconds - relay.predicting))
    relay.predicting = 0.0
    return relay.next(lane, outcome.reason)


@dataclass
class _Total:
    """The work of all turns. Iterations and passes of a method are those of all its turns."""

    seconds: float = 0.0
    verify_seconds: float = 0.0
    turns: int = 0
    history: tuple[Progress, ...] = ()
    of: dict[str, Outcome] = field(default_factory=dict)

    @property
    def iterations(self) -> int:
        return sum(outcome.iterations for outcome in self.of.values())

    @property
    def passes(self) -> float:
        return sum(outcome.passes for outcome in self.of.values())

    def before(self, lane: Lane, counted: float) -> Before:
        """The work before a turn, the earlier ones of the same method left out of iterations and passes."""
        own = self.of.get(lane.name)
        iterations, passes = (own.iterations, own.passes) if own is not None else (0, 0.0)
        told = self.history[-1].passes if self.history else 0.0
        return Before(self.seconds, self.iterations - iterations, self.passes - passes, counted, told)

    def add(self, lane: Lane, outcome: Outcome) -> None:
        """Take a turn into the sums."""
        self.of[lane.name] = outcome
        self.turns += 1
        self.seconds += outcome.seconds
        self.verify_seconds += outcome.verify_seconds
        self.history += outcome.history
        while len(self.history) > 2 * HISTORY:
            self.history = self.history[::-2][::-1]

    def joined(self, last: Outcome) -> Outcome:
        """The last turn with the work of all."""
        if self.turns == 1:
            return last
        return replace(
            last,
            iterations=self.iterations,
            passes=self.passes,
            verify_passes=sum(outcome.verify_passes for outcome in self.of.values()),
            seconds=self.seconds,
            verify_seconds=self.verify_seconds,
            history=self.history,
        )
