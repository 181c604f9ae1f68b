"""Predicted seconds of a product that workers share, from measured round trips: where they pay, and where no more of them do.

With C seconds of work on one thread, W workers of t threads each, L seconds a round trip and s seconds to send what a worker gets and gives back
(x and the sums over its rows, 16 d bytes for d columns), all over the one line of the driver, a product takes

    T(W) = C / (W t) + L + W s,

which is least at W = sqrt(C / (t s)). `benchmarks/cluster/` measures it. A product with a sparse matrix of observed entries sends, or gives back, a
number for each of its rows besides, whoever has them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..backends.costs import NS_PER_NONZERO
from ..backends.lowrank.costs import NS_PER_ENTRY
from ..backends.speed import slowness
from ..bind.instance import DataStats

PAYLOAD = 1 << 20
"""Bytes of the message that the line is measured with."""

ROUNDS = 4
"""Messages of each size, of which the quickest counts."""


@dataclass(frozen=True)
class Transport:
    """The seconds of a round trip without payload, and of each byte."""

    latency: float
    per_byte: float

    def seconds(self, columns: int, workers: int, k: int = 1, rows: int = 0) -> float:
        """The seconds of transport of a product of a matrix with so many columns with k vectors, and of so many rows that travel too."""
        return self.latency + (workers * columns + rows) * 16.0 * k * self.per_byte


def measured(echo: Callable[[Any], Any]) -> Transport:
    """The transport to one worker, by messages that it sends back."""

    def least(payload: bytes) -> float:
        def once() -> float:
            began = time.perf_counter()
            echo(payload)
            return time.perf_counter() - began

        return min(once() for _ in range(ROUNDS))

    empty = least(b"")
    return Transport(empty, max(0.0, least(bytes(PAYLOAD)) - empty) / (2 * PAYLOAD))


def work(stats: DataStats) -> float:
    """Seconds of one product on one thread of this machine."""
    each = NS_PER_ENTRY if stats.storage == "entries" else NS_PER_NONZERO[stats.storage]
    return 1e-9 * each * stats.nnz * slowness()


def told(name: str, stats: DataStats, transport: Transport, workers: int, threads: int, here: int) -> list[str]:
    """Lines on the products of one matrix: with these workers of so many threads each, and with the `here` threads of this process."""
    alone, columns = work(stats), stats.shape[1]
    rows = stats.shape[0] if stats.storage == "entries" else 0
    together = partial(_together, alone, columns, rows, transport, threads)
    moved = transport.seconds(columns, workers, rows=rows)
    lines = [
        f"a product with `{name}` takes about {_seconds(together(workers))} with {workers} worker{'s' if workers > 1 else ''}, "
        f"{_seconds(moved)} of it transport, and {_seconds(alone / here)} in one process of {here} thread{'s' if here > 1 else ''}"
    ]
    most = math.sqrt(alone / (threads * 16.0 * columns * transport.per_byte)) if transport.per_byte else math.inf
    if most < 1e5:
        lines.append(f"beyond {max(1, round(most)):,} workers a product with `{name}` gets no faster")
    if together(workers) >= alone / here:
        gain = 1.0 / here - 1.0 / (workers * threads)
        if gain > 0.0:
            size = stats.nbytes * moved / (gain * alone)
            lines.append(f"one process is faster here: workers pay from about {size / 1e9:.1f} GB of `{name}` on")
        else:
            lines.append("one process is as fast: it has as many threads as the workers have together")
    return lines


def _together(alone: float, columns: int, rows: int, transport: Transport, threads: int, workers: int) -> float:
    return alone / (workers * threads) + transport.seconds(columns, workers, rows=rows)


def _seconds(value: float) -> str:
    return f"{1e3 * value:.1f} ms" if value < 1.0 else f"{value:.1f} s"
