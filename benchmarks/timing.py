"""Comparing times fairly: competitors take turns (A B C, A B C, ...), so that what drifts drifts for all of them."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Generic, TypeVar

T = TypeVar("T")


CALLS = 5
"""Calls in a row of which a turn takes the middle one."""

SHORT = 0.05
"""Seconds up to which a call is made again within its turn."""

TURNS = (
    f"A turn is one call, which is counted where it takes more than {1e3 * SHORT:g} ms, else {CALLS} more in a row, of which the middle one counts: "
    "of a call of a few milliseconds it is a large part to meet the caches as another process left them."
)
"""How a turn is counted, for pages."""


@dataclass(frozen=True)
class Run(Generic[T]):
    """Seconds by the clock and of the processors (child processes included) that a call took, and what it returned; of a turn of several calls those
    of the middle one, and in `first` the seconds of the call before them."""

    seconds: float
    cpu: float
    result: T
    first: float = float("nan")


@dataclass
class Runs:
    """Several runs of one competitor; at least one where they are asked for anything."""

    all: list[Run[Any]] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The middle one by the clock."""
        return median(run.seconds for run in self.all)

    @property
    def first(self) -> float:
        """The middle one of the first calls of turns."""
        return median(run.first for run in self.all)

    @property
    def total(self) -> float:
        """All of them by the clock."""
        return sum(run.seconds for run in self.all)

    @property
    def result(self) -> Any:
        """What the last one returned."""
        return self.all[-1].result

    @property
    def cells(self) -> list[str]:
        """For tables: median, fastest to slowest, median of the processors' seconds, number of runs."""
        seconds = [run.seconds for run in self.all]
        spread = f"{duration(min(seconds))} to {duration(max(seconds))}"
        return [duration(self.median), spread, duration(median(run.cpu for run in self.all)), str(len(seconds))]


COLUMNS = ["median", "fastest to slowest", "processor time", "runs"]
"""Heads of `Runs.cells`. Where the clock's time is far above the processors', the machine was busy with other things."""


def timed(fn: Callable[[], T]) -> Run[T]:
    """One call; garbage is collected before it, not meanwhile."""
    gc.collect()
    gc.disable()
    try:
        return _timed(fn)
    finally:
        gc.enable()


def in_a_row(fn: Callable[[], T], first: Run[T]) -> Run[T]:
    """The turn that began with a call: the middle one of `CALLS` more, where calls are short. The first meets the caches as others left them."""
    if first.seconds > SHORT:
        return Run(first.seconds, first.cpu, first.result, first.seconds)
    gc.disable()
    try:
        runs = [_timed(fn) for _ in range(CALLS)]
    finally:
        gc.enable()
    middle = sorted(runs, key=lambda run: run.seconds)[CALLS // 2]
    return Run(middle.seconds, middle.cpu, middle.result, first.seconds)


def interleaved(competitors: Mapping[str, Callable[[], object]], rounds: int, budget: float = 20.0) -> dict[str, Runs]:
    """So many rounds in which each runs once; a competitor that has used up its `budget` of seconds sits out the rest."""
    runs = {name: Runs() for name in competitors}
    for _ in range(rounds):
        for name, fn in competitors.items():
            if runs[name].total < budget:
                runs[name].all.append(timed(fn))
    return runs


def _timed(fn: Callable[[], T]) -> Run[T]:
    cpu, start = _cpu(), time.perf_counter()
    result = fn()
    return Run(time.perf_counter() - start, _cpu() - cpu, result)


def _cpu() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def duration(seconds: float) -> str:
    """`83 ms`, `1.42 s`: three digits."""
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.3g} us"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 999.5 else f"{seconds:.0f} s"
