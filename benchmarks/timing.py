"""Comparing times fairly: competitors take turns (A B C, A B C, ...), so that what drifts drifts for all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median


@dataclass
class Runs:
    """Seconds of several runs of one competitor, and what the last of them returned."""

    seconds: list[float] = field(default_factory=list)
    result: object = None

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.seconds)

    @property
    def spread(self) -> str:
        """The fastest and the slowest."""
        return f"{duration(min(self.seconds))} to {duration(max(self.seconds))}"


def timed(fn: Callable[[], object]) -> tuple[float, object]:
    """Seconds of one call, and its result; garbage is collected before, not meanwhile."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        result = fn()
        return time.perf_counter() - start, result
    finally:
        gc.enable()


def interleaved(competitors: Mapping[str, Callable[[], object]], rounds: int, budget: float = 20.0) -> dict[str, Runs]:
    """So many rounds in which each runs once; a competitor that has used up its `budget` of seconds sits out the rest."""
    runs = {name: Runs() for name in competitors}
    for _ in range(rounds):
        for name, fn in competitors.items():
            mine = runs[name]
            if not mine.seconds or sum(mine.seconds) < budget:
                seconds, mine.result = timed(fn)
                mine.seconds.append(seconds)
    return runs


def duration(seconds: float) -> str:
    """`83 ms`, `1.42 s`: three digits."""
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.3g} us"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 999.5 else f"{seconds:.0f} s"
