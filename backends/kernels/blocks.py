"""Cutting the rows of a matrix into blocks to work on, by the data alone. Sums over rows go by the leaves of `fwdsl.sums` instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fwdsl.sums import Rows, cut_by_numbers, cut_evenly

Block = Rows

BLOCK_NUMBERS = 1 << 17
MOST_BLOCKS = 256
STRIPS = 16
"""Most strips of a leaf."""


def row_blocks(rows: NDArray[np.integer] | tuple[int, int], most: int = MOST_BLOCKS) -> tuple[Block, ...]:
    """Consecutive [start, stop) covering all rows, each with about 2^17 stored numbers, at most `most` of them.

    `rows` is the indptr of a sparse matrix by rows, or the (n, d) of a dense one. No block is empty.
    """
    if isinstance(rows, tuple):
        return cut_evenly(rows[0], _count(rows[0], rows[0] * rows[1], most))
    return cut_by_numbers(rows, _count(rows.size - 1, int(rows[-1]), most))


def _count(n: int, total: int, most: int) -> int:
    return max(1, min(most, n, -(-total // BLOCK_NUMBERS)))


def strip_blocks(leaves: Sequence[Rows], d: int) -> tuple[Block, ...]:
    """Like `row_blocks((n, d))` where rows are not stored together: blocks are at least 512 rows, so that columns come in long runs, and each lies
    in one leaf."""
    found = []
    for start, stop in leaves:
        most = max(1, min(STRIPS, (stop - start) // 512))
        found += [(start + a, start + b) for a, b in row_blocks((stop - start, d), most=most)]
    return tuple(found)
