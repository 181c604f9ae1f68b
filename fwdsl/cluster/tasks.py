"""The tasks of workers before they hold rows: they read and measure files. Dask gives the tasks of a lost worker to another one itself.

Two things it does not see. Where all workers are lost at once, those that follow have other addresses, and tasks wait for the old ones. And a worker
that is nearly out of memory begins nothing; where all are, nobody does. Both would wait for ever.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

PATIENCE = 0.5
"""Seconds between two looks at tasks that are not done."""

WAIT = 20.0
"""Seconds without a task that is done or worked on, after which the workers are given up."""

MOST_LOSSES = 3
"""Losses of the workers of one task after which it is given up: what they read is too large for them, most likely."""


class GivenUp(Exception):
    """Workers do not do their tasks, and why."""


class Workers(Protocol):
    """The facts about workers that tasks need."""

    def workers(self, within: float = 0.0) -> Mapping[str, int]:
        """The addresses of the workers and their threads, not older than so many seconds."""

    def at_work(self) -> tuple[set[str], bool]:
        """The keys of the tasks that workers have, and whether any worker works on one."""


def answers(known: Workers, client: Any, fn: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
    """fn of each of some arguments, those that come first on the first worker. Raises `GivenUp`, and what fn raises."""

    told = threading.Event()

    def begun(i: int, there: Sequence[str]) -> tuple[str, Any]:
        address = there[i * len(there) // len(asked)]
        task = client.submit(fn, *asked[i], pure=False, workers=[address], allow_other_workers=True)
        task.add_done_callback(lambda _: told.set())
        return address, task

    there = sorted(known.workers())
    if not there:
        raise GivenUp("there is no worker any more")
    tasks = [begun(i, there) for i in range(len(asked))]
    losses, nowhere = Counter[int](), set[int]()
    left, looked = len(tasks), time.monotonic()
    since, most = looked, MOST_LOSSES * len(there)
    seen, before = set(there), 0
    while True:
        told.wait(PATIENCE)
        told.clear()
        waiting = [i for i, (_, task) in enumerate(tasks) if not task.done()]
        if not waiting or any(task.status == "error" for _, task in tasks):
            break
        if time.monotonic() - looked < PATIENCE:
            continue
        there, (placed, busy), looked = sorted(known.workers()), known.at_work(), time.monotonic()
        gone = {i for i in waiting if tasks[i][0] not in there and tasks[i][1].key not in placed}
        for i in gone & nowhere if there else ():  # seen twice: an answer may be on its way
            losses[i] += 1
            if losses[i] > MOST_LOSSES:
                raise _too_often(asked[i])
            tasks[i] = begun(i, there)
        nowhere = gone
        seen.update(there)
        if len(waiting) < left:
            before = len(seen) - len(there)
        if len(seen) - len(there) - before > most:
            # Dask counts the losses of a task from 0 on each time that it is begun here
            raise _too_often(asked[waiting[0]])
        if busy or len(waiting) < left:
            left, since = len(waiting), looked
        elif looked - since > WAIT:
            why = "they are nearly out of memory" if there else "all are gone"
            raise GivenUp(f"no worker has begun to read for {WAIT:.0f} s: {why}")
    try:
        found: list[Any] = client.gather([task for _, task in tasks])
        return found
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        at = next((i for i, (_, task) in enumerate(tasks) if task.status == "error"), 0)
        raise _too_often(asked[at]) from None


def _too_often(asked: tuple[Any, ...]) -> GivenUp:
    what = f"`{asked[0]}`" if asked and isinstance(asked[0], str) else "some rows"
    return GivenUp(f"{MOST_LOSSES + 1} workers in a row were lost as they read {what} (their memory limit?)")
