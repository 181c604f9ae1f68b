"""Constraints that the variables' own sets rule out, by interval arithmetic row by row, on small problems.

The entries of a variable lie between the bounds that its set implies, so those of K x + b do between theirs. Where these miss the bounds of a
constraint, or the nonnegative numbers that an entropy asks for, no point is feasible. What one row does not show, the methods do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array
from ..readers.row_blocks import NotInMemory
from .emptiness import Empty
from .maps import LinearMap
from .parts import Block, SumTerm

LARGEST = 200_000
"""Numbers of a map that is written out to be looked at."""

WIDEST = 300
"""The columns of the variable: each costs a product."""

EPS = float(np.finfo(np.float64).eps)


def check_reach(term: SumTerm, told: Mapping[str, Sequence[str]]) -> None:
    """Raise `Empty` where no point of the variables' sets has a row of the term's argument in its set, or domain.

    `told` has what keeps each variable in its set, in the user's words.
    """
    on, parts = term.domain, term.map.parts
    bounds = None if on is None else on.entries()
    if bounds is None or not all(_is_small(m) for _, m in parts):
        return
    if parts and all(block.g.set_beneath() is None for block, _ in parts):
        return
    lo, hi = bounds.bounds(term.map.rows)
    rows = term.map.rows
    # what overflows or is not known shows nothing
    with np.errstate(all="ignore"):
        ends = []
        for block, m in parts:
            (row, column, entry), (low, high) = _written(m), _implied_of(block)
            ends.append((row, entry * low[column], entry * high[column]))
        least = sum((np.bincount(row, np.minimum(a, b), rows) for row, a, b in ends), term.map.offset)
        most = sum((np.bincount(row, np.maximum(a, b), rows) for row, a, b in ends), term.map.offset)
        missed = np.maximum(least - hi, lo - most)
        if not (missed > 0.0).any():
            return
        sizes = sum((np.bincount(row, _sizes(a) + _sizes(b), rows) for row, a, b in ends), np.abs(term.map.offset))
        sizes = sizes + _sizes(lo) + _sizes(hi)
        far = missed > (sum(m.columns for _, m in parts) + 8) * EPS * sizes
    if not far.any():
        return
    j = int(np.flatnonzero(far)[0])
    what = f"`{term.text}`" if term.is_indicator else f"the domain of `{term.text}`"
    sets = [text for block, _ in parts for text in told.get(block.name, ())]
    together = " together" if sets else ""
    where = f" in entry {j}" if term.map.rows > 1 else ""
    raise Empty(
        f"{' and '.join([what, *sets])} cannot hold{together}: it is missed by at least {missed[j]:.6g}{where}",
        term.span,
    )


def _sizes(bound: Array) -> Array:
    return np.where(np.isfinite(bound), np.abs(bound), 0.0)


def _is_small(m: LinearMap) -> bool:
    return m.columns <= WIDEST and m.rows * m.columns <= LARGEST


def _written(m: LinearMap) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]], Array]:
    """The rows, columns and values of the entries of a map that are not 0, for 0 times an infinite bound is 0.

    It is written down column by column where its rows are not in memory, or SciPy would have to be loaded.
    """
    if "scipy.sparse" in sys.modules:
        with suppress(NotInMemory):
            K = m.written()
            row, live = np.repeat(np.arange(m.rows), np.diff(K.indptr)), K.data != 0.0
            return (row, K.indices, K.data) if live.all() else (row[live], K.indices[live], K.data[live])
    out, unit = np.empty((m.rows, m.columns)), np.zeros(m.columns)
    for j in range(m.columns):
        unit[j] = 1.0
        out[:, j] = m.apply(unit)
        unit[j] = 0.0
    row, column = np.nonzero(out)
    return row, column, out[row, column]


def _implied_of(block: Block) -> tuple[Array, Array]:
    on = block.g.set_beneath()
    return on.enclosing_box() if on is not None else (np.full(block.size, -math.inf), np.full(block.size, math.inf))
