"""Watching a run: the verifier certifies it at moments spaced evenly in the logarithm of time, and the clock stops meanwhile."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

LEVELS = (1e-2, 1e-4, 1e-6)
"""Relative gaps at which a run is looked at whatever the time."""

FIRST = 1e-3
RATIO = 1.2
AGAIN = 1.02
PATIENCE = 2.0


@dataclass(frozen=True)
class Moment:
    """The best certified point and bound at a moment of a run, in the user's sense.

    `seconds` and `passes` are the method's own, from the start of its preparations, those of the verifier left out; `relative_gap` is that of
    "What an answer promises" in docs/language.md, inf while no feasible point with a bound is known.
    """

    seconds: float
    passes: float
    iteration: int
    objective: float
    dual_bound: float
    relative_gap: float


@dataclass
class Watch:
    """Asks for a verification at a run's start, after `FIRST` seconds, then at times `RATIO` apart, and where the method's own gap passes a level.

    Its clock starts when it is made. The verifier may take `PATIENCE` seconds and twice the method's own time; then it is asked less often.
    """

    levels: tuple[float, ...] = LEVELS
    started: float = field(default_factory=time.perf_counter)
    moments: list[Moment] = field(default_factory=list)
    due: float = 0.0
    again: float = 0.0

    @property
    def reached(self) -> float:
        """The least gap certified so far."""
        return self.moments[-1].relative_gap if self.moments else math.inf

    def wants(self, seconds: float, gap: float, verifying: float) -> bool:
        """True if it is time to verify, where the method claims `gap` after `seconds` of its own and `verifying` seconds went to the verifier."""
        if verifying > PATIENCE + 2.0 * seconds:
            return False
        level = max((level for level in self.levels if level < self.reached), default=0.0)
        return seconds >= self.due or (gap <= level and seconds >= self.again)

    def see(self, moment: Moment) -> None:
        """Keep a moment. A certified gap never grows again."""
        best = self.moments[-1] if self.moments else None
        if best is not None and best.relative_gap < moment.relative_gap:
            moment = Moment(
                moment.seconds,
                moment.passes,
                moment.iteration,
                best.objective,
                best.dual_bound,
                best.relative_gap,
            )
        self.moments.append(moment)
        self.due = max(FIRST, RATIO * moment.seconds)
        self.again = AGAIN * moment.seconds
