"""Cutting the rows of a matrix into blocks, by the data alone."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Block = tuple[int, int]

BLOCK_NUMBERS = 1 << 17
MOST_BLOCKS = 256


def row_blocks(rows: NDArray[np.integer] | tuple[int, int], most: int = MOST_BLOCKS) -> tuple[Block, ...]:
    """Consecutive [start, stop) covering all rows, each with about 2^17 stored numbers, at most `most` of them.

    `rows` is the indptr of a sparse matrix by rows, or the (n, d) of a dense one. No block is empty.
    """
    if isinstance(rows, tuple):
        return _even_blocks(rows[0], _count(rows[0], rows[0] * rows[1], most))
    n, total = rows.size - 1, int(rows[-1])
    count = _count(n, total, most)
    if total == 0:
        return _even_blocks(n, count)
    cuts = np.searchsorted(rows, np.arange(1, count, dtype=rows.dtype) * (total / count))
    return _between(n, cuts)


def _count(n: int, total: int, most: int) -> int:
    return max(1, min(most, n, -(-total // BLOCK_NUMBERS)))


@lru_cache(maxsize=256)
def _even_blocks(n: int, count: int) -> tuple[Block, ...]:
    """Blocks of as many rows each; kept, for every product asks."""
    return _between(n, np.arange(1, count) * n // count)


def _between(n: int, cuts: NDArray[np.integer]) -> tuple[Block, ...]:
    return tuple(pairwise(sorted({0, n, *(int(cut) for cut in cuts)})))


def strip_blocks(n: int, d: int) -> tuple[Block, ...]:
    """Like `row_blocks((n, d))` where rows are not stored together: blocks are at least 512 rows, so that columns come in long runs."""
    return row_blocks((n, d), most=max(1, min(MOST_BLOCKS, n // 512)))
