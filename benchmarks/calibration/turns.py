"""Turns of methods played on recorded runs: what a solve takes by the planner's predictions, and by scrambled ones.

`fwdsl.solve.relay` decides as it does in a solve, told the passes and gaps of the runs. A method that begins starts from nothing here, where
in a solve it starts from the best point so far; and no method is charged by the clock, so scrambled prices of a pass are believed for longer.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from fwdsl.plan.fitted import LOOSE, WIDEST, key_of
from fwdsl.solve.journal import Journal
from fwdsl.solve.relay import Lane, Relay

from .fit import corrected_of, start_of
from .record import LEVELS, MAIN, Ran

TURNS = 400
"""Turns at most."""

GIVEN_UP = 100.0
"""The ratio that a solve counts which no method ends."""


class _Trace:
    """Seconds and gaps of a run by its passes; beyond its end they go on at its pace, and the gap stays."""

    def __init__(self, run: Ran) -> None:
        self.moments = [(0.0, 0.0, math.inf), *(tuple(m) for m in run.moments)]
        seconds, passes, _ = self.moments[-1]
        self.pace = seconds / passes if passes > 0.0 else max(run.ran, 1e-3)
        self.seconds, self.passes = run.to(MAIN), run.passes_to(MAIN)

    def at(self, passes: float) -> tuple[float, float]:
        i = bisect_right([p for _, p, _ in self.moments], passes) - 1
        seconds, known, _ = self.moments[i]
        pace = self.pace
        if i + 1 < len(self.moments):
            later = self.moments[i + 1]
            pace = (later[0] - seconds) / max(later[1] - known, 1e-9)
        return seconds + pace * (passes - known), min(gap for _, _, gap in self.moments[: i + 1])


def played(runs: Sequence[Ran], predicted: Mapping[str, tuple[float, float]]) -> float:
    """The seconds of a solve over those of the fastest method, by predicted passes and seconds of each."""
    lanes = []
    for run in sorted(runs, key=lambda r: (not r.settled, predicted[r.method][1])):
        passes, seconds = predicted[run.method]
        passes = max(passes, 2.0)
        lanes.append(Lane(run.method, passes, seconds / passes, Journal(0), trusted=run.trusted))
    traces = {run.method: _Trace(run) for run in runs}
    best = min(trace.seconds for trace in traces.values())
    relay = Relay(lanes[0], lambda: lanes[1:], MAIN)
    lane, total = relay.first(), 0.0
    for _ in range(TURNS):
        trace, until = traces[lane.name], relay.until(lane)
        before = trace.at(lane.journal.passes)[0] if lane.run is not None else 0.0
        until = max(until, lane.journal.passes + 1.0)
        if trace.passes <= until:
            return max(1.0, (total + trace.seconds - before) / best)
        if math.isinf(until):
            return GIVEN_UP
        seconds, gap = trace.at(until)
        lane.run = SimpleNamespace(state=SimpleNamespace(iteration=1))  # type: ignore[assignment]
        lane.journal.passes = until
        total += seconds - before
        lane.look(gap, seconds - before)
        following = relay.next(lane, "")
        if following is None:
            return GIVEN_UP
        lane = following[0]
    return GIVEN_UP


def ratios(runs: Sequence[Ran], constants: Mapping[str, Any], scrambled: float, seed: int, least: float) -> list[float]:
    """`played` for each problem whose fastest method takes `least` seconds, the corrections multiplied by up to `scrambled` either way."""
    rng, by_case = random.Random(seed), dict[str, list[Ran]]()
    for run in runs:
        if run.seconds[LEVELS.index(MAIN)] > 0.0:
            by_case.setdefault(run.case, []).append(run)
    found = []
    for entered in by_case.values():
        if len(entered) < 2 or not least <= min(run.to(MAIN) for run in entered) < math.inf:
            continue
        predicted = {run.method: _predicted(run, constants, scrambled ** rng.uniform(-1.0, 1.0)) for run in entered}
        found.append(played(entered, predicted))
    return found


def _predicted(run: Ran, constants: Mapping[str, Any], factor: float) -> tuple[float, float]:
    """Passes and seconds to `MAIN`; corrections keep within their bounds, however they are scrambled."""
    k = LEVELS.index(MAIN)
    found = corrected_of(run, k, constants)
    raw = run.seconds[k] + start_of(key_of(run.method, run.features), constants)
    return found.passes, raw * min(10.0**LOOSE, max(10.0**-WIDEST, factor * found.seconds / raw))
