"""The values of data: numbers, dense and sparse arrays, observed entries, and matrices kept as formulas."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from .data_operator import DataOperator

Value = Any
"""A float, a dense array, a `scipy.sparse.csr_array`, or the value of a feature map (see `evaluate`)."""


def is_sparse(value: object) -> bool:
    """Whether a value is a SciPy sparse matrix or array. SciPy is not imported to find out."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def is_formed(value: object) -> bool:
    """Whether a value is a matrix kept as a formula: `RankOneUpdated`, or the Gram matrix of an implicit feature map."""
    return hasattr(value, "matvec") and hasattr(value, "toarray")


def double(value: Any) -> Any:
    """The value in float64; formulas and operators stay as they are."""
    if is_formed(value) or isinstance(value, DataOperator):
        return value
    return value.astype(np.float64, copy=False) if is_sparse(value) else np.asarray(value, dtype=np.float64)


def csr(value: Any) -> Value:
    """The value as a `csr_array`."""
    from scipy.sparse import csr_array

    return csr_array(value)


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


def most_numbers() -> int:
    """How many float64 the memory of this machine, or the address space that this process may take, could hold."""
    size = sys.maxsize
    if hasattr(os, "sysconf"):  # not on Windows
        import resource

        pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        size = pages * page if pages > 0 and page > 0 else size
        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        size = size if allowed == resource.RLIM_INFINITY else min(size, allowed)
    return size // 8
