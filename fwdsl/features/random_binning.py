"""`random_binning(X, grids=, gamma=, seed=)`: random binning features of the Laplacian kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..words import FEATURE_MAPS
from .base import Array, FeatureMap, Fitted
from .matrices import blocks, dense_rows, is_sparse

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

_FLOAT = np.finfo(np.float64)
_KEPT = 1 << 16  # columns of grids up to which they are kept for the next rows, 2 MB
_GROUP = 1 << 22  # numbers of grids and of hashes held at a time
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(32), np.uint64(29), np.uint64(32))


@dataclass(frozen=True, eq=False)
class FittedRandomBinning(Fitted):
    """The indicators of a point's bin in each of `grids` random grids, divided by sqrt(grids).

    In each column, a grid has a pitch d of density gamma^2 d exp(-gamma d), and a shift uniform in [0, d). NumPy's default
    generator draws them from `seed`, again for each pass. A bin is identified by a 64-bit hash of its position. The hash is a
    sum over the columns in which 0 adds nothing, so sparse rows cost what they store. Inner products of two rows have the
    mean exp(-gamma |x - x'|_1). The columns are the bins that the fitted data occupy, grid by grid:
    `bins[starts[g]:starts[g + 1]]` are the sorted bins of grid g. Other bins, of new data, have no column.
    """

    inputs: int
    grids: int
    gamma: float
    seed: int
    bins: Array
    starts: Array

    @property
    def columns(self) -> int:  # type: ignore[override]
        return int(self.bins.size)

    def transform(self, X: MatrixLike) -> MatrixLike:
        """A `csr_array` (n, columns) with at most `grids` entries in a row, in float64, or float32 for float32 data."""
        from scipy.sparse import csr_array

        n = X.shape[0]
        places = np.empty((n, self.grids), dtype=np.int32 if self.columns < 2**31 else np.int64)
        for g, hashes in enumerate(_hashes(X, self.grids, self.gamma, self.seed)):
            own = self.bins[self.starts[g] : self.starts[g + 1]]
            at = np.minimum(np.searchsorted(own, hashes), own.size - 1)
            places[:, g] = np.where(own[at] == hashes, at + self.starts[g], -1)
        kept = places >= 0
        indptr = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
        if indptr[-1] < 2**31:
            indptr = indptr.astype(places.dtype)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        data = np.full(int(indptr[-1]), 1.0 / math.sqrt(self.grids), dtype=dtype)
        return csr_array((data, places[kept], indptr), shape=(n, self.columns))


@dataclass(frozen=True)
class RandomBinning(FeatureMap):
    """Random binning features that approximate exp(-gamma |x - x'|_1).

    Source: A. Rahimi, B. Recht, Random features for large-scale kernel machines, NIPS 2007.
    """

    word = FEATURE_MAPS["random_binning"]
    fitted = FittedRandomBinning

    grids: int
    gamma: float
    seed: int

    def fit(self, X: MatrixLike) -> FittedRandomBinning:
        """The bins that the rows of X occupy."""
        occupied = [np.unique(h) for h in _hashes(X, self.grids, self.gamma, self.seed)]
        starts = np.concatenate(([0], np.cumsum([b.size for b in occupied])))
        bins = np.concatenate(occupied)
        return FittedRandomBinning(int(X.shape[1]), self.grids, self.gamma, self.seed, bins, starts)


@dataclass(frozen=True, eq=False)
class _Grid:
    """The pitch, shift and random key of each column, and the contribution of the bin of 0 to a hash."""

    pitches: Array
    shifts: Array
    keys: Array
    zero: Array

    def hash(self, values: Array, columns: Any) -> Array:
        """The contributions of the values in some columns to the hashes of their rows."""
        positions = np.floor((values - self.shifts[columns]) / self.pitches[columns])
        return np.asarray(_mixed(positions, self.keys[columns]) - self.zero[columns])


def _grids(p: int, gamma: float, seed: int) -> Iterator[_Grid]:
    generator = np.random.default_rng(seed)
    while True:
        # kept within float64: an even smaller `gamma` puts all finite numbers into one bin
        pitches = np.clip(generator.gamma(2.0, 1.0 / gamma, p), _FLOAT.tiny, _FLOAT.max)
        shifts = generator.uniform(0.0, 1.0, p) * pitches
        keys = generator.integers(0, 2**64, p, dtype=np.uint64)
        yield _Grid(pitches, shifts, keys, _mixed(np.floor(-shifts / pitches), keys))


@lru_cache(maxsize=4)
def _kept(p: int, gamma: float, seed: int, grids: int) -> tuple[_Grid, ...]:
    """The grids, drawn once: rows that come one after the other are not to wait for it."""
    return tuple(islice(_grids(p, gamma, seed), grids))


def _hashes(X: MatrixLike, grids: int, gamma: float, seed: int) -> Iterator[Array]:
    """The bin of each row, for one grid after the other. A pass over the data serves a group of grids."""
    n, p = X.shape
    source = iter(_kept(p, gamma, seed, grids)) if grids * p <= _KEPT else _grids(p, gamma, seed)
    for group in blocks(grids, max(n, 4 * p), _GROUP):
        some = [next(source) for _ in range(group.start, group.stop)]
        out = np.empty((len(some), n), dtype=np.uint64)
        with np.errstate(over="ignore"):
            if is_sparse(X):
                _hash_sparse(X, some, out)
            else:
                for rows in blocks(n, p):
                    block = dense_rows(X, rows)
                    for g, grid in enumerate(some):
                        out[g, rows] = grid.hash(block, slice(None)).sum(axis=1)
        yield from out


def _hash_sparse(X: Any, grids: list[_Grid], out: Array) -> None:
    for rows in blocks(X.shape[0], max(1, X.nnz // max(1, X.shape[0]))):
        ends = X.indptr[rows.start : rows.stop + 1]
        values = X.data[ends[0] : ends[-1]].astype(np.float64, copy=False)
        columns = X.indices[ends[0] : ends[-1]]
        sums = np.zeros(values.size + 1, dtype=np.uint64)
        for g, grid in enumerate(grids):
            np.cumsum(grid.hash(values, columns), out=sums[1:])
            out[g, rows] = sums[ends[1:] - ends[0]] - sums[ends[:-1] - ends[0]]  # exact modulo 2^64


def _mixed(positions: Array, keys: Array) -> Array:
    """A hash of a whole number under a key. Adding 0.0 turns -0.0 into 0.0, which it equals."""
    x = (positions + 0.0).view(np.uint64) + keys
    x ^= x >> _SHIFTS[0]
    x *= _MULTIPLIERS[0]
    x ^= x >> _SHIFTS[1]
    x *= _MULTIPLIERS[1]
    x ^= x >> _SHIFTS[2]
    return np.asarray(x)
