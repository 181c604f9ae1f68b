"""The forms that a value comes in: a number, a dense or a sparse array, or a matrix that is kept as a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data_operator import DataOperator

Value = Any
"""A float, a dense array, a `scipy.sparse.csr_array`, or what a feature map made: see `evaluate`."""


def is_sparse(value: object) -> bool:
    """Whether it is a SciPy sparse matrix or array, told without importing SciPy."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def is_formed(value: object) -> bool:
    """Whether it is a matrix that is kept as a formula: `RankOneUpdated`, or the Gram matrix of an implicit feature map."""
    return hasattr(value, "matvec") and hasattr(value, "toarray")


def double(value: Any) -> Any:
    """In float64; formulas and operators as they are."""
    if is_formed(value) or isinstance(value, DataOperator):
        return value
    return value.astype(np.float64, copy=False) if is_sparse(value) else np.asarray(value, dtype=np.float64)


def csr(value: Any) -> Value:
    """As a `csr_array`."""
    from scipy.sparse import csr_array

    return csr_array(value)
