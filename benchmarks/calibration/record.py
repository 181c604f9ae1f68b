"""Running methods on the problems under a watch: data passes and seconds to certified gaps, beside what the planner knew."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fwdsl.backends.method import Estimate
from fwdsl.backends.registry import METHODS
from fwdsl.model.options import Options
from fwdsl.plan.fitted import features
from fwdsl.plan.plan import Plan
from fwdsl.session import Raising, Session
from fwdsl.solve import solve
from fwdsl.solve.relay import counted
from fwdsl.solve.watch import Watch

from .problems import Case

LEVELS = (1e-3, 1e-6, 1e-9)
"""The certified gaps that costs are recorded to; the runs end at the last."""

MAIN = 1e-6
"""The gap that choices are compared at."""

WARM_UP = 0.05
"""Seconds of the run before, which loads kernels."""

MOST, LEAST, AS_LONG = 2.5, 0.2, 6.0
"""Seconds a run may take: so many times the best of its problem so far to `MAIN`, within bounds."""

AGAIN, MOST_AGAIN = 0.05, 5
"""Seconds that the runs of a method on a problem are to take together, and how many there are at most: of short ones, which anything else on the
machine delays, the quickest counts."""

HOPELESS = 60.0
"""Seconds predicted beyond which a method is not run, unless it is the planner's choice."""

HEAVY = 2e9
"""Bytes beyond which one is not run."""


@dataclass
class Ran:
    """A run of a method: predictions for each level without fitted corrections, and (seconds, counted passes, gap) as
    they were certified."""

    case: str
    family: str
    held_out: bool
    method: str
    features: Sequence[float]
    passes: Sequence[float]
    seconds: Sequence[float]
    settled: bool
    moments: list[tuple[float, float, float]] = field(default_factory=list)
    ran: float = 0.0
    trusted: float = 1.0  # `Estimate.trusted`

    def to(self, level: float) -> float:
        """Seconds to a certified gap; inf where it was not reached."""
        return next((s for s, _, gap in self.moments if gap <= level), math.inf)

    def passes_to(self, level: float) -> float:
        """Data passes to a certified gap; inf where it was not reached."""
        return next((p for _, p, gap in self.moments if gap <= level), math.inf)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def record(case: Case) -> list[Ran]:
    """Every method that the planner may choose and that applies, the least predicted time first."""
    session = _session(case)
    options = session.options
    form, plan = session.canonicalise(), session.plan()
    able = [c for c in plan.weighed if c.applies and not c.by_name_only]
    able.sort(key=lambda c: c.estimate.seconds if c.estimate else 0.0)
    ran: list[Ran] = []
    for candidate in able:
        e = candidate.estimate
        if e is not None and candidate.name != plan.method and (e.seconds > HOPELESS or e.memory > HEAVY):
            continue
        best = min((r.to(MAIN) for r in ran), default=math.inf)
        limit = min(MOST, max(LEAST, AS_LONG * best))
        found = _run(form, replace(plan, method=candidate.name, method_options={}), replace(options, time=limit))
        if found is None:
            continue
        ran.append(
            Ran(
                case.name,
                case.family,
                case.held_out,
                candidate.name,
                *_foretold(form, candidate.name),
                plan.method == candidate.name
                and plan.why not in ("the least predicted time", "the only method that applies"),
                found.moments,
                found.seconds,
                e.trusted if e is not None else 1.0,
            )
        )
    return ran


def _session(case: Case) -> Session:
    text, data = case.make()
    session = Session(text, case.name, Path(), Raising(), data)
    session.options = Options(tol=LEVELS[-1], threads=1)
    return session


def _foretold(form: Any, name: str) -> tuple[Sequence[float], Sequence[float], Sequence[float]]:
    """The features of a problem for a method, and its predicted passes and seconds for each level."""
    predicted = [_predicted(form, name, level) for level in LEVELS]
    passes, seconds = zip(*((p.passes, p.seconds) if p else (math.nan, math.nan) for p in predicted), strict=True)
    return _features(form, name), passes, seconds


@dataclass
class _Found:
    moments: list[tuple[float, float, float]]
    seconds: float

    def to_main(self) -> float:
        """Seconds to `MAIN`; inf where it was not reached."""
        return next((s for s, _, gap in self.moments if gap <= MAIN), math.inf)


def _run(form: Any, plan: Plan, options: Options) -> _Found | None:
    """The quickest of some runs with warm kernels; None of a method that fails, as where a form that is written down only now refuses it."""
    try:
        _once(form, plan, replace(options, time=min(WARM_UP, options.time)))
        runs = [_once(form, plan, options)]
        while len(runs) < MOST_AGAIN and sum(r.seconds for r in runs) < AGAIN:
            runs.append(_once(form, plan, options))
    except Exception as error:
        print(f"  {plan.method} failed: {error!r}"[:300])
        return None
    return min(runs, key=_Found.to_main)


def _once(form: Any, plan: Plan, options: Options) -> _Found:
    """A run. Its seconds by the clock are brought to those of the processor, for the machine may be busy with other things."""
    watch = Watch(LEVELS)
    clock, own = time.perf_counter(), _processor()
    solve(form, plan, options, watch=watch)
    clock, own = time.perf_counter() - clock, _processor() - own
    share = min(1.0, own / clock)
    return _Found([(share * m.seconds, counted(m.passes, m.iteration), m.relative_gap) for m in watch.moments], own)


def _processor() -> float:
    """Seconds of the processor, those of threads and processes that a method has ended among them."""
    told = os.times()
    return time.process_time() + told.children_user + told.children_system


def _predicted(form: Any, name: str, level: float) -> Estimate | None:
    told = form.at_hand(METHODS[name].works_on)
    return METHODS[name].estimate(told, level) if told is not None else None


def _features(form: Any, name: str) -> tuple[float, ...]:
    told = form.at_hand(METHODS[name].works_on)
    return features(told if told is not None else form)


def read(rows: Sequence[Mapping[str, Any]], cases: Sequence[Case]) -> list[Ran]:
    """What `to_json` gave, with the features and predictions of now: a run tells what a method took, whatever was thought of it then.

    Of several runs of a method on a problem the quickest counts.
    """
    of_case: dict[str, dict[str, Ran]] = {}
    for row in rows:
        run = Ran(**row)
        there = of_case.setdefault(run.case, {}).setdefault(run.method, run)
        if (run.to(MAIN), -run.ran) < (there.to(MAIN), -there.ran):
            of_case[run.case][run.method] = run
    found = []
    for case in cases:
        runs = of_case.get(case.name, {})
        form = _session(case).canonicalise() if runs else None
        for run in runs.values():
            features, passes, seconds = _foretold(form, run.method)
            told = _predicted(form, run.method, MAIN)
            run = replace(run, features=features, passes=passes, seconds=seconds, held_out=case.held_out)
            found.append(replace(run, trusted=told.trusted if told else 1.0))
    return found
