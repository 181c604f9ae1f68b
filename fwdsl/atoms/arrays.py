"""The types of arrays that atoms take, vectors of numbers and matrices of data, and the root of a rising function entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]

MatrixLike: TypeAlias = "NDArray[Any] | csr_array"
"""A matrix of data: a dense array, a memory map, a SciPy sparse matrix, or an object that stands for one by its products."""


ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""The share of numbers of about one that is rounding."""

HALVINGS = 200
"""The most that an interval is halved: from 1600 to the width of doubles takes some 60, and a root at 0 more than 1000."""


def bisected(is_above: Callable[[Array], NDArray[np.bool_]], low: Array, high: Array) -> Array:
    """Entry by entry the point of [low, high] where `is_above` becomes true: by halving, until no number lies between the ends."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if np.all((middle == low) | (middle == high) | np.isnan(middle)):
            break
        above = is_above(middle)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(0.5 * (low + high))
