"""Data that are computed when they are needed (lazy frames of polars, collections of dask), as scikit-learn takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..readers.frames import NotPulled, in_memory, plain_values
from .errors import estimator_error


def computed(X: Any, name: str, columns: Sequence[str] = ()) -> Any:
    """Data in memory; of a lazy frame with all of `columns` these alone. Raises FW4532 where they cannot be computed."""
    try:
        return in_memory(X, name, columns)
    except NotPulled as error:
        raise estimator_error(
            "FW4532",
            f"`{name}` {error}",
            rule=error.rule,
            hint=error.hint,
        ) from error


def computed_column(y: Any, name: str) -> Any:
    """Targets or weights in memory; a lazy frame of one column is that column, all else as it is."""
    found = computed(y, name)
    if found is y or getattr(found, "ndim", 2) != 2 or found.shape[1] != 1:
        return found
    return plain_values(found).reshape(-1)
