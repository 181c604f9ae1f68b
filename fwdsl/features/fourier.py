"""`fourier(X, features=, gamma=, seed=)`: random Fourier features of the Gaussian kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..words import FEATURE_MAPS
from .base import Array, FeatureMap, Fitted
from .matrices import blocks, is_sparse

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

_WEIGHTS = 1 << 20  # frequencies held at a time: 8 MB, which each block of rows runs over

_KEPT = 1 << 18  # frequencies up to which they are kept for the next rows, 2 MB


def _drawn(columns: int, p: int, gamma: float, seed: int) -> Iterator[tuple[slice, Array, Array]]:
    """The features of a block, their phases and their frequencies (p, features)."""
    generator = np.random.default_rng(seed)
    phases = generator.uniform(0.0, 2.0 * math.pi, columns)
    spread = math.sqrt(2.0 * gamma)
    for some in blocks(columns, p, _WEIGHTS):
        yield some, phases[some], spread * generator.standard_normal((some.stop - some.start, p)).T


@lru_cache(maxsize=4)
def _kept(columns: int, p: int, gamma: float, seed: int) -> tuple[tuple[slice, Array, Array], ...]:
    """The same, drawn once: rows that come one after the other are not to wait for it."""
    return tuple(_drawn(columns, p, gamma, seed))


@dataclass(frozen=True)
class FittedFourier(Fitted):
    """sqrt(2 / m) cos(W x + b): W (m, p) normal with variance 2 gamma, b (m,) uniform in [0, 2 pi).

    NumPy's default generator draws b and then the rows of W from `seed`, again for each transformation, so that many rows are
    never all in memory. Inner products of two rows have the mean exp(-gamma |x - x'|_2^2).
    """

    inputs: int
    columns: int
    gamma: float
    seed: int

    def transform(self, X: MatrixLike) -> Array:
        """Dense features (n, m), computed in float64 by blocks of rows; float32 for float32 data."""
        n, p = X.shape
        out = np.empty((n, self.columns), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        height = math.sqrt(2.0 / self.columns)
        few = self.columns * p <= _KEPT
        for some, phases, frequencies in (_kept if few else _drawn)(self.columns, p, self.gamma, self.seed):
            if is_sparse(X):
                # SciPy copies another order with each product
                frequencies = np.ascontiguousarray(frequencies)
            for rows in blocks(n, max(p if not is_sparse(X) else 1, some.stop - some.start)):
                part = X[rows]
                with np.errstate(over="ignore", invalid="ignore"):
                    angles = np.asarray((part.astype(np.float64) if part.dtype != np.float64 else part) @ frequencies)
                    values = height * np.cos(angles + phases)
                if not np.isfinite(values).all():
                    raise ValueError("the data times the frequencies overflow")
                out[rows, some] = values
        return out


@dataclass(frozen=True)
class Fourier(FeatureMap):
    """Random Fourier features that approximate rbf, exp(-gamma |x - x'|_2^2).

    Source: A. Rahimi, B. Recht, Random features for large-scale kernel machines, NIPS 2007.
    """

    word = FEATURE_MAPS["fourier"]
    fitted = FittedFourier

    features: int
    gamma: float
    seed: int

    def fit(self, X: MatrixLike) -> FittedFourier:
        return FittedFourier(int(X.shape[1]), self.features, self.gamma, self.seed)
