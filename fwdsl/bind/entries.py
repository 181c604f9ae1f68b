"""Observed entries of a matrix: data declared `entries[n, p]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any


@dataclass(frozen=True, eq=False)
class Entries:
    """Observed entries: entry (rows[k], columns[k]) of a matrix of `shape` has the value values[k].

    Positions are int64 and count from 0; values are float64 or float32, -1 and 1 for `entries[n, p] of signs`. An entry may come
    twice, as two observations. Where ids were mapped to positions, `row_ids[i]` is the id of row i, and `column_ids[j]` that
    of column j; both are None where positions were given.
    """

    rows: Array
    columns: Array
    values: Array
    shape: tuple[int, int]
    row_ids: tuple[Any, ...] | None = None
    column_ids: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    @property
    def nbytes(self) -> int:
        """Bytes of positions and values."""
        return int(self.rows.nbytes + self.columns.nbytes + self.values.nbytes)
