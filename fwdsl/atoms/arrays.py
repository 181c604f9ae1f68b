"""The types of arrays that atoms take: vectors of numbers, and matrices of data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]

MatrixLike: TypeAlias = "NDArray[Any] | csr_array"
"""A matrix of data: a dense array, a memory map, a SciPy sparse matrix, or an object that stands for one by its products."""
