"""The speed of this machine beside the one that predictions were fitted on.

What is told of predicted seconds is in seconds of the machine at hand. The choice of a method and the turns of its run take no part in it: they are
the same on every machine, and whatever else runs on it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import stat
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from fwdsl.backends.method import Estimate

REFERENCE = (3.1e-4, 6.9e-5, 1.62e-5)
"""Seconds of the parts of the benchmark on the reference machine of `backends.costs`."""

ROUNDS = 5
"""Times that each part runs, of which the shortest counts: four milliseconds in all, thirteen where their arrays are the first."""

PROCESSES = 8
"""Processes that measure, of which the fastest counts: a busy machine is slow for a while."""

LONGEST = 1 << 12
"""Bytes of the file that are read: it has a few hundred."""

WIDEST = 100.0
"""The most that a machine is taken to be slower or faster: a file that says more was not written by us."""


def told_seconds(estimate: Estimate) -> float:
    """The predicted seconds on this machine."""
    return estimate.seconds * slowness()


@cache
def slowness() -> float:
    """The seconds that this machine takes for a second of the reference machine, measured, and kept beside the kernels."""
    from fwdsl.readers.cache_folder import cache_root

    path, own = cache_root() / "speed.json", f"{platform.machine()} {platform.processor()} {os.cpu_count()}"
    runs = _kept(path, own)
    if len(runs) < PROCESSES:
        runs.append(measured())
        _keep(path, own, runs)
    return min(runs)


def measured() -> float:
    """The same, measured once: the geometric mean over a loop of Python, a product of long vectors and exponentials."""
    long, short = np.ones(1 << 20), np.linspace(-1.0, 1.0, 20_000)
    parts: tuple[Callable[[], object], ...] = (_loop, lambda: long @ long, lambda: np.exp(short))
    shortest = [min(_seconds(part) for _ in range(ROUNDS)) for part in parts]
    found = math.prod(t / t0 for t, t0 in zip(shortest, REFERENCE, strict=True)) ** (1.0 / len(parts))
    return min(WIDEST, max(1.0 / WIDEST, found))


def _loop() -> int:
    total = 0
    for i in range(10_000):
        total += i & 3
    return total


def _seconds(part: Callable[[], object]) -> float:
    began = time.perf_counter()
    part()
    return time.perf_counter() - began


def _kept(path: Path, own: str) -> list[float]:
    """The measurements in a file; none where there is no such file, or it is another machine's, somebody else's or damaged.

    In a folder that all may write in, somebody may have put a link or a pipe in its place, which is not followed and not waited for.
    """
    from fwdsl.backends.kernels.cache import is_ours

    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        with open(os.open(path, flags), "rb") as file:
            kind = os.fstat(file.fileno())
            if not stat.S_ISREG(kind.st_mode) or not is_ours(kind):
                return []
            found = json.loads(file.read(LONGEST))
        runs = [float(t) for t in found["slowness"]]
        if found["machine"] == own and all(1.0 / WIDEST <= t <= WIDEST for t in runs):
            return runs
    return []


def _keep(path: Path, own: str, runs: list[float]) -> None:
    """Write measurements to a file, in place of what is there; nothing where that cannot be: the next process measures again."""
    from fwdsl.backends.kernels.kept import write_whole

    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, json.dumps({"machine": own, "slowness": runs}).encode())
