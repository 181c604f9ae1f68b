"""The forms of a value: a number, a dense or a sparse array, or a matrix kept as a formula."""

from __future__ import annotations

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
