"""Cutting the rows of a matrix into blocks, by the data alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Block = tuple[int, int]

BLOCK_NUMBERS = 1 << 17
MOST_BLOCKS = 256


def row_blocks(rows: NDArray[np.integer] | tuple[int, int], most: int = MOST_BLOCKS) -> list[Block]:
    """Consecutive [start, stop) covering all rows, each with about 2^17 stored numbers, at most `most` of them.

    `rows` is the indptr of a sparse matrix by rows, or the (n, d) of a dense one. No block is empty.
    """
    if isinstance(rows, tuple):
        n, total = rows[0], rows[0] * rows[1]
    else:
        n, total = rows.size - 1, int(rows[-1])
    count = max(1, min(most, n, -(-total // BLOCK_NUMBERS)))
    if isinstance(rows, tuple) or total == 0:
        cuts = np.arange(1, count) * n // count
    else:
        cuts = np.searchsorted(rows, np.arange(1, count, dtype=rows.dtype) * (total / count))
    edges = sorted({0, n, *(int(cut) for cut in cuts)})
    return list(pairwise(edges))


def strip_blocks(n: int, d: int) -> list[Block]:
    """Like `row_blocks((n, d))` where rows are not stored together: blocks are at least 512 rows, so that columns come in long runs."""
    return row_blocks((n, d), most=max(1, min(MOST_BLOCKS, n // 512)))
