"""What every feature map is: statistics fitted to data once, then a transformation of this or new data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"


class Fitted(ABC):
    """A feature map with the statistics of the data it was fitted to.

    `inputs` is the number of columns it takes, `columns` the number it gives.
    """

    inputs: int
    columns: int

    @abstractmethod
    def transform(self, X: Any) -> Any:
        """The features of the rows of X (n, inputs): (n, columns)."""


class FeatureMap(ABC):
    """A feature map and its options."""

    @abstractmethod
    def fit(self, X: Any) -> Fitted:
        """Take its statistics from X (n, p)."""
