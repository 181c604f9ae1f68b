"""`fourier(X, features=, gamma=, seed=)`: random Fourier features of the Gaussian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..words import FEATURE_MAPS
from .base import Array, FeatureMap, Fitted
from .matrices import blocks, is_sparse

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

_WEIGHTS = 1 << 20  # frequencies held at a time: 8 MB, which each block of rows runs over


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
        generator = np.random.default_rng(self.seed)
        phases = generator.uniform(0.0, 2.0 * math.pi, self.columns)
        spread, height = math.sqrt(2.0 * self.gamma), math.sqrt(2.0 / self.columns)
        for some in blocks(self.columns, p, _WEIGHTS):
            frequencies = spread * generator.standard_normal((some.stop - some.start, p)).T
            if is_sparse(X):
                # SciPy copies another order with each product
                frequencies = np.ascontiguousarray(frequencies)
            for rows in blocks(n, max(p if not is_sparse(X) else 1, some.stop - some.start)):
                part = X[rows]
                with np.errstate(over="ignore", invalid="ignore"):
                    angles = np.asarray((part.astype(np.float64) if part.dtype != np.float64 else part) @ frequencies)
                    values = height * np.cos(angles + phases[some])
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
