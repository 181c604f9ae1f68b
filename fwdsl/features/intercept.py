"""`intercept(X)`: a column of ones behind the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..words import FEATURE_MAPS
from .base import FeatureMap, Fitted
from .matrices import blocks, is_sparse
from .rank_one import RankOneUpdated

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike


@dataclass(frozen=True)
class FittedIntercept(Fitted):
    """[X 1], in the form and precision of the data. It has no statistics."""

    inputs: int

    @property
    def columns(self) -> int:  # type: ignore[override]
        return self.inputs + 1

    def transform(self, X: MatrixLike) -> MatrixLike:
        """The rows of X, each followed by a 1."""
        n, p = X.shape
        if isinstance(X, RankOneUpdated):
            return RankOneUpdated(self.transform(X.A), X.u, np.append(X.v, 0.0))
        if is_sparse(X):
            return _sparse(X)
        out = np.empty((n, p + 1), dtype=X.dtype)
        for rows in blocks(n, p):
            out[rows, :p] = X[rows]
        out[:, p] = 1.0
        return out


@dataclass(frozen=True)
class Intercept(FeatureMap):
    """Appends a column of ones."""

    word = FEATURE_MAPS["intercept"]
    fitted = FittedIntercept

    def fit(self, X: MatrixLike) -> FittedIntercept:
        return FittedIntercept(int(X.shape[1]))


def _sparse(X: Any) -> Any:
    """Append a stored 1 to each row, which keeps the indices sorted."""
    from scipy.sparse import csr_array

    n, p = X.shape
    ends = X.indptr[1:].astype(np.int64)
    wide = X.indices.dtype if X.nnz + n < 2**31 else np.int64
    data = np.insert(X.data, ends, 1.0)
    indices = np.insert(X.indices.astype(wide, copy=False), ends, p)
    indptr = X.indptr.astype(wide) + np.arange(n + 1, dtype=wide)
    out = csr_array((data, indices, indptr), shape=(n, p + 1), copy=False)
    out.has_canonical_format = X.has_canonical_format
    return out
