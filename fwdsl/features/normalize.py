"""`normalize(X)`: rows of Euclidean length 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..words import FEATURE_MAPS
from .base import Array, FeatureMap, Fitted
from .matrices import blocks, dense_rows, is_sparse, scale_rows, squared_norms

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

# Within these bounds sums of squares neither overflow nor underflow.
_SMALL, _LARGE = 1e-140, 1e140


@dataclass(frozen=True)
class FittedNormalize(Fitted):
    """x / |x|_2 for each row, in the form and precision of the data. It has no statistics."""

    inputs: int

    @property
    def columns(self) -> int:  # type: ignore[override]
        return self.inputs

    def transform(self, X: MatrixLike) -> MatrixLike:
        """The rows of X, scaled to length 1; rows of zeros stay."""
        with np.errstate(over="ignore"):
            norms = np.sqrt(squared_norms(X))
        odd = ~((norms > _SMALL) & (norms < _LARGE))
        if odd.any():
            X = scale_rows(X, np.where(odd, _first_scale(X), 1.0))
            norms = np.sqrt(squared_norms(X))
        return scale_rows(X, 1.0 / np.where(norms > 0.0, norms, 1.0))


@dataclass(frozen=True)
class Normalize(FeatureMap):
    """Scales rows to Euclidean length 1; rows of zeros stay."""

    word = FEATURE_MAPS["normalize"]
    fitted = FittedNormalize

    def fit(self, X: MatrixLike) -> FittedNormalize:
        return FittedNormalize(int(X.shape[1]))


def _first_scale(X: MatrixLike) -> Array:
    """The power of two of each row that scales its largest entry to about 1; 1 for a row of zeros."""
    if is_sparse(X):
        tops = abs(X).max(axis=1).toarray().reshape(-1).astype(np.float64)
    else:
        parts = [np.abs(dense_rows(X, rows)).max(axis=1) for rows in blocks(*X.shape)]
        tops = np.concatenate(parts)
    exponents = np.floor(np.log2(np.where(tops > 0.0, tops, 1.0)))
    return np.asarray(np.exp2(-np.clip(exponents, -1022, 1022)))
