"""The promise of `--memory`: which methods keep to it, and take data that stay on their disk."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence

from ..backends.method import Estimate, Method
from ..bind.bindings import SHARE
from ..canon.forms import Form
from ..readers.held_rows import where
from ..readers.memory import resident, size
from ..readers.row_blocks import PIECE, is_on_disk

KERNELS = 150e6
"""Bytes that loading the kernels and SciPy takes, and compiling some, where they are not loaded yet, and the interpreter's own growth."""

BUFFERS = 3.0
"""Pieces of data that a thread has at a time: the one read, one as its numbers are converted, and the verifier's."""

KEEPS = "beside what is in memory already"


def why_not_streamed(method: type[Method], form: Form) -> tuple[str, ...]:
    """The reason why a method does not take data that stay on their disk; none where it does, or where all are in memory."""
    if method.streams:
        return ()
    names = [name for name, value in form.instance.values.items() if is_on_disk(value)]
    if not names:
        return ()
    return (
        f"it reads {' and '.join(f'`{n}`' for n in names)} in no order, and the rows {where(form.instance.values[names[0]])}",
    )


def piece_of(form: Form) -> int:
    """The bytes of the rows that are read at once: of a matrix whose rows are long some of them take more than a piece has."""
    return max((value.largest_piece for value in form.instance.values.values() if is_on_disk(value)), default=PIECE)


def why_beyond(estimate: Estimate, memory: int, threads: int, piece: int) -> tuple[str, ...]:
    """The reason why a method does not keep to so many bytes; none where it does as far as can be predicted."""
    now, most = resident()
    if enough(estimate, threads, piece) <= memory:
        return ()
    if most > memory:
        # without that size, which is another one for each method that is looked at
        return (f"more than the {size(memory)} of `--memory` was in memory before the run began",)
    needed = expected(estimate, threads, piece)
    return (f"takes about {size(needed)} {KEEPS} ({size(now)}), together more than the {size(memory)} of `--memory`",)


def enough(estimate: Estimate, threads: int, piece: int) -> float:
    """Bytes that a method is expected to keep to, those that were in memory before the run counted."""
    now, most = resident()
    return max(most, now + expected(estimate, threads, piece))


def allowed(needed: float, on_disk: Sequence[int] = ()) -> str:
    """The size to allow where so many bytes are needed, as `--memory` takes it, with some room.

    Matrices `on_disk` of so many bytes are read into memory under a size that is large beside theirs: then they count too.
    """
    read = 0
    while True:
        unit = 10.0 ** max(6, math.floor(math.log10(needed + read)) - 1)
        limit = round(math.ceil(1.05 * (needed + read) / unit) * unit)
        more = sum(nbytes for nbytes in on_disk if nbytes <= limit // SHARE)
        if more == read:
            return f"{limit // 10**6}MB"
        read = more


def expected(estimate: Estimate, threads: int, piece: int) -> float:
    """Bytes that a run is expected to add to what is in memory: its vectors, the buffers of its threads, and the kernels."""
    workers = threads or os.cpu_count() or 1
    return estimate.memory + BUFFERS * piece * workers + (0.0 if "numba" in sys.modules else KERNELS)
