"""The map of a term as one sparse matrix by rows, for methods whose compiled passes hold products and vector operations together."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.atoms.conic import MatrixEntries, entries, joined
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import csr_matvec, csr_scatter
from fwdsl.canon.maps import LinearMap, by_rows, placed
from fwdsl.canon.parts import SumTerm
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[Any]

PROBES = 3
"""Rows and columns of a map without stored numbers that are looked at."""


@light_dataclass
class SparseRows:
    """A sparse matrix by rows, with indices of 32 bits."""

    first: Index
    column: Index
    entry: Array

    @property
    def arrays(self) -> tuple[Index, Index, Array]:
        return self.first, self.column, self.entry

    @staticmethod
    def of(A: csr_array) -> SparseRows:
        # without signs, kernels have no places before the first to think of
        return SparseRows(A.indptr.astype(np.uint32), A.indices.astype(np.uint32), A.data.astype(np.float64))


class Rows:
    """A sparse matrix for products alone: kernels take a fraction of the time that a call of SciPy's takes."""

    def __init__(self, matrix: csr_array) -> None:
        self.shape, self.data, self.pattern = matrix.shape, matrix.data, (matrix.indices, matrix.indptr)
        # unsigned indices need no test
        unsigned = np.uint32 if matrix.indices.dtype == np.int32 else np.uint64
        self.indptr, self.indices = matrix.indptr.view(unsigned), matrix.indices.view(unsigned)
        self.all = np.arange(matrix.shape[0])

    def scaled(self, root: Array) -> Rows:
        """The rows times these numbers."""
        found = copy(self)
        found.data = self.data * np.repeat(root, np.diff(self.pattern[1]))
        return found

    @property
    def matrix(self) -> csr_array:
        return by_rows(self.data, *self.pattern, self.shape)

    def __matmul__(self, v: Array) -> Array:
        out = np.empty(self.shape[0])
        if out.size:
            kernel(csr_matvec)(self.indptr, self.indices, self.data, v, out, 0, out.size)
        return out

    def add_adjoint(self, u: Array, out: Array, rows: Index | None = None) -> None:
        """Add its adjoint times u, or that of some rows times theirs alone."""
        if u.size:
            at = self.all if rows is None else rows
            kernel(csr_scatter)(self.indptr, self.indices, self.data, at, u, out)


def sparse_map(term: SumTerm, size: int) -> csr_array:
    """K of a term, with the columns of all blocks."""
    parts = [(block.start, m.written()) for block, m in term.map.parts]
    shape = (term.map.rows, size)
    if len(parts) == 1:
        start, only = parts[0]
        return by_rows(only.data, only.indices + start, only.indptr, shape)
    if parts and len({start for start, _ in parts}) == len(parts):
        return _beside(sorted(parts, key=lambda part: part[0]), shape)
    found = [entries()]
    for start, part in parts:
        row = np.repeat(np.arange(shape[0]), np.diff(part.indptr))
        found.append(MatrixEntries(row, part.indices.astype(np.intp) + start, part.data))
    row, column, value = joined(found)
    return placed(row, column, value, shape)


def _beside(parts: list[tuple[int, csr_array]], shape: tuple[int, int]) -> csr_array:
    """The sparse matrix that has these ones side by side, each from its column on; rows have their entries in order."""
    counts = [np.diff(part.indptr) for _, part in parts]
    starts = np.zeros(shape[0] + 1, dtype=np.intp)
    np.cumsum(sum(counts), out=starts[1:])
    column, value, free = np.empty(starts[-1], dtype=np.intp), np.empty(starts[-1]), starts[:-1].copy()
    for (start, part), count in zip(parts, counts, strict=True):
        at = np.arange(part.data.size) + np.repeat(free - part.indptr[:-1], count)
        column[at], value[at] = part.indices + start, part.data
        free += count
    return by_rows(value, column, starts, shape, copy=False)


def has_short_rows(term: SumTerm, longest: int) -> bool:
    """True if rows have at most so many entries each, by stored numbers; rows and columns of a map that has none are looked at in some places."""
    return all(m.nnz <= longest * max(m.rows, 1) and (m.nnz or _looks_sparse(m, longest)) for _, m in term.map.parts)


def _looks_sparse(m: LinearMap, longest: int) -> bool:
    for size, image in ((m.rows, m.adjoint), (m.columns, m.apply)):
        for at in np.linspace(0, size - 1, PROBES).astype(np.intp):
            unit = np.zeros(size)
            unit[at] = 1.0
            if np.count_nonzero(image(unit)) > longest:
                return False
    return True
