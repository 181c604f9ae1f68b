"""Methods taking turns at one problem: which one works next, and for how long.

Work is counted, never timed: the passes of a method (`counted`) times the seconds that the plan predicts for one of them. So the same problem
gives the same turns. Only a method that takes `SLOW` times as long as its count says is charged by the clock from then on.

The method of the plan leads. It runs for `FIRST` seconds of work, and is then looked at whenever its work has grown by `GROW`, but not
before another method could follow. At a look the verifier tells its gap, and the work that is left is extrapolated from the gaps before. Another
method becomes the leader where it is expected to be done in less than 1 / `MARGIN` of what the leader has left, its start-up counted; in less than
1 / `SURE` of it where its prediction is trusted. Beside that, each other method gets a share of the leader's work to try: a prediction that was too
high shows there. A method that has had a turn keeps its state and goes on from it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..backends.method import Estimate, Run
from ..plan import Plan
from .journal import Best, Journal

FIRST = 0.05
"""Seconds of work before the first look."""

GROW = 1.5
"""The factor by which the work of a method grows from one look to the next."""

MARGIN = 3.0
"""The factor by which another method has to be expected to be done sooner."""

SURE = 1.5
"""The same for another method whose prediction is trusted more than gaps (`Estimate.trusted`) and has not run out."""

START_UP = 0.05
"""Seconds that a method which has not begun is charged beside its prediction: its kernels have to be loaded."""

SHARE = 0.08
"""The share of the leader's work that each other method may take to try."""

FAR, SHARE_OF_FAR = 3.0, 0.4
"""A leader that has so many times its work left is at its beginning or stuck; others then have this share of its work to try."""

TRUST = 1000.0
"""Methods whose prediction is so many times what the leader has left are not tried: `MARGIN` times, where the leader's own prediction still holds."""

LEAST = 6.0
"""Data passes that tell something about a method."""

LATE = 0.25
"""The work, over that so far, that is taken to be left of a method beyond its prediction whose gaps tell nothing yet (`Estimate.trusted`)."""

WORTH = 4.0
"""The multiple of a trial that the leader must have left for one: a trial saves no more than that, and few find something."""

CAP = 4.0
"""The most work that is taken to be left, over the work so far: methods that look stuck often finish at once."""

STEADY = 0.98
"""The factor that a gap has to fall by to count as falling."""

SLOW = 10.0
"""The multiple of its counted work that a method may take before it is charged by the clock, once that is more than `SLOW_AFTER` seconds, on
trial `TRIAL_AFTER`."""

SLOW_AFTER, TRIAL_AFTER = 1.0, 0.2

ROOM = 1e9
"""Bytes that any method may take; one that takes more has no turn unless the plan's method takes half as much."""


def counted(passes: float, iterations: int) -> float:
    """Data passes, or two an iteration where that is more: programs over no data make no passes, and factorisations are none."""
    return max(passes, 2.0 * iterations)


@dataclass
class Lane:
    """A method that takes turns: what the plan predicts of it, its run with its own journal, and (passes, certified gap) at each look.

    All lanes share the best point and bound (`journal.best`); `own` is what this method has found by itself.
    """

    name: str
    predicted_passes: float
    second: float  # of work, a pass
    journal: Journal
    own: Best = field(default_factory=Best)
    trusted: float = 1.0  # `Estimate.trusted`
    run: Run[Any, Any] | None = None
    trace: list[tuple[float, float]] = field(default_factory=list)
    seconds: float = 0.0  # by the clock, without its beginning
    beginning: float = 0.0  # seconds of its start, which are spent once and tell nothing of a pass
    by_clock: bool = False  # charged by the clock, as it took far longer than its count said
    patience: float = TRIAL_AFTER  # seconds by the clock up to which it is not slow, whatever its count
    gave_up: bool = False

    @property
    def passes(self) -> float:
        return counted(self.journal.passes, 0 if self.run is None else self.run.state.iteration)

    @property
    def work(self) -> float:
        return self.passes * self.second

    @property
    def is_as_predicted(self) -> bool:
        """True if its prediction is trusted more than its gaps, and has not run out."""
        return self.trusted > 1.0 and self.passes < self.predicted_passes

    def left(self, tol: float) -> float:
        """Counted seconds that are expected to be left until the gap is `tol`."""
        predicted = max(self.predicted_passes, LEAST)
        if not self.trace:
            return predicted * self.second
        passes = self.trace[-1][0]
        if self.trusted > 1.0 and passes < self.trusted * predicted:
            return max(predicted - passes, LATE * passes) * self.second
        found = _extrapolated(self.trace, tol)
        if passes < predicted:
            share = passes / predicted
            found = found**share * (predicted - 0.5 * passes) ** (1.0 - share)
        return float(found * self.second)

    def look(self, gap: float, seconds: float) -> None:
        """Note the certified gap at the end of a turn that took so long by the clock.

        Once a method is charged by the clock, each turn of some passes tells anew what one costs: a slow beginning is not held against it for ever.
        """
        self.seconds += seconds if self.trace else max(0.0, seconds - self.beginning)
        before = self.trace[-1][0] if self.trace else 0.0
        if not self.trace or before < self.passes:
            self.trace.append((self.passes, gap))
        if self.by_clock and self.passes - before >= LEAST:
            self.second = seconds / (self.passes - before)
            self.seconds = self.second * self.passes
        elif self.is_slow(self.passes, 0.0):
            self.by_clock = True
            self.second = self.seconds / max(self.passes, LEAST)

    def is_slow(self, passes: float, seconds: float) -> bool:
        """True if it takes far longer than its count says, this turn's seconds by the clock included."""
        taken = self.seconds + (seconds if self.trace else seconds - self.beginning)
        return taken > self.patience and taken > SLOW * max(passes, LEAST) * self.second


def _extrapolated(trace: Sequence[tuple[float, float]], tol: float) -> float:
    """The passes that are left if the gap goes on falling as it did, between linearly and by a power; at most `CAP` times those so far."""
    passes, gap = trace[-1]
    passes = max(passes, 1.0)
    if not math.isfinite(gap):
        return passes
    before = [t for t in trace[:-1] if t[0] <= passes / 1.4 and math.isfinite(t[1])]
    start, first = before[-1] if before else (0.0, max(1.0, gap))
    start = max(start, 1e-3 * passes)
    if not 0.0 < gap < STEADY * first:
        return CAP * passes
    falls = math.log(max(gap / tol, 1.0001)) / math.log(first / gap)
    linear = falls * (passes - start)
    power = passes * math.expm1(min(50.0, falls * math.log(passes / start)))
    return min(math.sqrt(linear * min(power, CAP * passes)), CAP * passes)


def _stood(lane: Lane) -> str:
    """The words for how far a lane came."""
    if not lane.trace:
        return "has not begun"
    gap = lane.trace[-1][1]
    stood = f"stood at a gap of {gap:.1e}" if math.isfinite(gap) else "had certified nothing"
    return f"{stood} after {lane.passes:.0f} passes"


@dataclass
class Relay:
    """The lanes of a problem. `leader` is the one that is expected to be done first, and the first of `lanes`; another one that has its turn is on
    trial. `others` gives the other lanes, which most solves end without: they are predicted when a turn of theirs may come.

    Where the first one is `unrivalled` (`Method.is_unrivalled`) another one follows only where the leader gives up.
    """

    leader: Lane
    others: Callable[[], list[Lane]]
    tol: float
    unrivalled: bool = False

    predicting: float = 0.0  # seconds that the predictions of the others took, within a turn of the first

    @cached_property
    def lanes(self) -> list[Lane]:
        """The lane that runs, and those that may take over."""
        begin = time.perf_counter()
        found = [self._first, *self.others()]
        self.predicting = time.perf_counter() - begin
        return found

    def __post_init__(self) -> None:
        self._first = self.leader
        self._lead(self.leader)

    def _lead(self, lane: Lane) -> Lane:
        self.leader, lane.patience = lane, SLOW_AFTER
        return lane

    def at_least(self, lane: Lane) -> float:
        """The counted passes of a lane before which its next turn does not end; no other lane has to be known for it."""
        return max(FIRST / lane.second, LEAST, GROW * lane.passes)

    def until(self, lane: Lane) -> float:
        """The counted passes of a lane at which its next turn ends; inf where no other could follow."""
        if lane is self.leader:
            return max(self.at_least(lane), self.due())
        if self.unrivalled or all(other.gave_up for other in self.lanes if other is not lane):
            return math.inf
        return max(self._trial(lane), lane.passes + 1.0)

    def due(self) -> float:
        """The counted passes of the leader before which no look at it can end in a turn of another lane; inf where there is none."""
        rivals = (
            [] if self.unrivalled else [other for other in self.lanes if other is not self.leader and not other.gave_up]
        )
        return min((self._due(other) for other in rivals), default=math.inf) / self.leader.second

    def _due(self, other: Lane) -> float:
        """The work of the leader before which no look can end in a turn of another lane: looks cost passes, so earlier ones are left out."""
        leader, sooner = self.leader, self._margin(other) * self._left(other)
        predicted = max(leader.predicted_passes, LEAST) * leader.second
        takes_over = 0.0 if sooner <= predicted else sooner / CAP
        begins = (max(LEAST * other.second, START_UP) if other.run is None else GROW * other.work) / SHARE_OF_FAR
        if leader.trusted > 1.0:
            # what is left of the leader is then at most its prediction, or LATE of its work (`Lane.left`)
            holds = leader.trusted * predicted
            if sooner > predicted:
                takes_over = max(takes_over, min(holds, sooner / LATE))
            if other.run is None and predicted < WORTH * START_UP:
                begins = max(begins, min(holds, WORTH * START_UP / LATE))
        return min(takes_over, begins)

    def first(self) -> Lane:
        """The lane whose turn is first: the leader, or before a long turn of it one that is on trial.

        There is none where `LEAST` passes of the leader are no long turn: what else makes its turn long (`_due`) is no more than the beginning of
        another one over `SHARE_OF_FAR`.
        """
        if SHARE * max(FIRST, LEAST * self.leader.second) < START_UP:
            return self.leader
        return self._on_trial() or self.leader

    def next(self, lane: Lane, why: str) -> tuple[Lane, str] | None:
        """The lane whose turn it is after one of `lane` that certified nothing, and the reason for it; None where all have given up.

        `why` is the reason where the lane gave up.
        """
        able = [other for other in self.lanes if not other.gave_up]
        if not able:
            return None
        leader = self.leader
        if leader.gave_up:
            return self._lead(min(able, key=self._left)), f"`{leader.name}` gave up: {why}"
        best = min(able, key=lambda other: self._left(other) * (1.0 if other is leader else self._margin(other)))
        if best is not leader:
            self._lead(best)
            return best, f"`{leader.name}` {_stood(leader)}, and `{best.name}` is expected to be done sooner"
        other = self._on_trial()
        if other is not None:
            return other, f"a trial of `{other.name}`, beside `{leader.name}`"
        return leader, "" if lane is leader else f"`{leader.name}` is expected to be done sooner than `{lane.name}`"

    @staticmethod
    def _margin(other: Lane) -> float:
        """The factor by which another method has to be expected to be done sooner."""
        return SURE if other.is_as_predicted else MARGIN

    def _left(self, lane: Lane) -> float:
        return lane.left(self.tol) + (START_UP if lane.run is None else 0.0)

    def _trial(self, lane: Lane) -> float:
        """The counted passes that a lane may take in all, beside the leader's next turn."""
        leader = self.leader
        far = leader.work > 0.0 and leader.left(self.tol) >= FAR * leader.work
        return (SHARE_OF_FAR if far else SHARE) * self.until(leader) * leader.second / lane.second

    def _cost(self, lane: Lane) -> float:
        """The seconds of a trial."""
        return (self._trial(lane) - lane.passes) * lane.second + (START_UP if lane.run is None else 0.0)

    def _on_trial(self) -> Lane | None:
        """The lane that may take enough passes by now to tell something, the likeliest first; None where there is none."""
        if self.unrivalled:
            return None
        left = self.leader.left(self.tol)
        due = [
            lane
            for lane in self.lanes
            if lane is not self.leader
            and not lane.gave_up
            and self._trial(lane)
            >= (GROW * lane.passes if lane.run is not None else max(LEAST, START_UP / lane.second))
            and lane.left(self.tol) <= (MARGIN if self.leader.is_as_predicted else TRUST) * left
            and WORTH * self._cost(lane) <= left
        ]
        return min(due, key=self._left) if due else None


def lanes_of(plan: Plan, scale: float, best: Best, unrivalled: bool = False) -> tuple[Lane, Callable[[], list[Lane]]]:
    """The plan's method, and the others that the planner may choose on the same form, where time and memory are predicted and there is room.

    Of a method that is `unrivalled` nobody asks what it will take before it gives up, and then what is left of it is no matter.
    """
    own = None if unrivalled else plan.chosen.estimate

    def lane(name: str, e: Estimate | None) -> Lane:
        # methods of programs over no data predict no passes, and are counted by their iterations
        passes, seconds = (LEAST, LEAST * 1e-3) if e is None else (counted(e.passes, 1), e.seconds)
        trusted = 1.0 if e is None else e.trusted
        return Lane(name, passes, seconds / passes, Journal(0, scale=scale, best=best), trusted=trusted)

    def rivals() -> list[Lane]:
        leads = plan.chosen.estimate
        room = max(ROOM, 2.0 * leads.memory if leads is not None else 0.0)
        found = [(c.name, c.estimate) for c in plan.rivals()]
        return [lane(name, e) for name, e in found if e is not None and e.memory <= room]

    return lane(plan.method, own), rivals
