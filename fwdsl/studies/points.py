"""The points of a grid, and what its table and its plot both tell of a solution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..atoms.low_rank import LowRank
from ..results.solution import Solution

Point = tuple[float, ...]
"""A value for each parameter of a grid, in their order."""


def spans_decades(values: Any) -> bool:
    """True if values of a parameter are compared, and drawn, by their logarithms."""
    return bool(values.min() > 0 and values.max() >= 20 * values.min())


def support(solution: Solution) -> Mapping[str, int]:
    """The number of nonzero entries of each variable; of one kept as factors, its rank."""
    return {
        name: value.rank if isinstance(value, LowRank) else int(np.count_nonzero(value))
        for name, value in solution.variables.items()
    }


def numbers_of(value: Any) -> Any:
    """The entries of a variable in a row; of one kept as factors, its singular values."""
    return value.singular_values if isinstance(value, LowRank) else np.ravel(value)
