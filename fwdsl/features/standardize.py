"""`standardize(X, center=true)`: columns of mean 0 and population standard deviation 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..words import FEATURE_MAPS
from .base import Array, FeatureMap, Fitted
from .matrices import blocks, dense_rows, is_sparse, scale_columns
from .rank_one import RankOneUpdated

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike


@dataclass(frozen=True)
class FittedStandardize(Fitted):
    """(x - mean) / std by column; x / std where `center` is off.

    Dense data give a dense array of their precision; sparse data stay sparse, with the mean as a rank-one term.
    """

    mean: Array
    std: Array
    center: bool

    @property
    def inputs(self) -> int:  # type: ignore[override]
        return int(self.mean.size)

    @property
    def columns(self) -> int:  # type: ignore[override]
        return self.inputs

    def transform(self, X: MatrixLike) -> MatrixLike:
        """The standardised rows of X."""
        if not self.center:
            return scale_columns(X, 1.0 / self.std)
        if is_sparse(X) or isinstance(X, RankOneUpdated):
            return RankOneUpdated(scale_columns(X, 1.0 / self.std), np.ones(X.shape[0]), self.mean / self.std)
        out = np.empty(X.shape, dtype=X.dtype)
        for rows in blocks(*X.shape):
            out[rows] = (dense_rows(X, rows) - self.mean) / self.std
        return out


@dataclass(frozen=True)
class Standardize(FeatureMap):
    """Scales columns to standard deviation 1, the root of the mean squared deviation, and with `center` to mean 0.

    A column with a single value is not scaled, so that it becomes 0 (or stays without `center`).
    """

    word = FEATURE_MAPS["standardize"]
    fitted = FittedStandardize

    center: bool

    def fit(self, X: MatrixLike) -> FittedStandardize:
        """Compute means and deviations in two passes and float64, so that a large mean costs no digits."""
        low, high = _extremes(X)
        # Scaling by powers of two rounds nothing, and no square overflows or underflows.
        top = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(np.float64).tiny)
        scale = np.exp2(np.minimum(np.ceil(np.log2(top)), 1023.0))
        mean = _sums(X, 1.0 / scale, np.zeros(X.shape[1]), 1) / X.shape[0]
        variance = _sums(X, 1.0 / scale, mean, 2) / X.shape[0]
        constant = low == high
        std = np.where(constant, 1.0, np.sqrt(variance) * scale)
        return FittedStandardize(np.where(constant, low, mean * scale), np.where(std > 0.0, std, 1.0), self.center)


def _extremes(X: MatrixLike) -> tuple[Array, Array]:
    """The smallest and the largest number of each column."""
    if is_sparse(X):
        return X.min(axis=0).toarray().reshape(-1), X.max(axis=0).toarray().reshape(-1)
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for rows in blocks(*X.shape):
        block = dense_rows(X, rows)
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    return low, high


def _sums(X: Any, factors: Array, center: Array, power: int) -> Array:
    """Sums over the rows of (factor * x - center)^power, by column."""
    n, p = X.shape
    if not is_sparse(X):
        total = np.zeros(p)
        for rows in blocks(n, p):
            total += ((dense_rows(X, rows) * factors - center) ** power).sum(axis=0)
        return total
    total = np.zeros(p)
    count = np.zeros(p)
    for part in blocks(X.nnz, 1, max(p, 1 << 18)):
        at = X.indices[part]
        total += np.bincount(at, weights=(X.data[part] * factors[at] - center[at]) ** power, minlength=p)
        count += np.bincount(at, minlength=p)
    return np.asarray(total + (n - count) * (-center) ** power)
