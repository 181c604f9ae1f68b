"""The protocol of feature maps: statistics are fitted to data once, and transform this or new data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from ..words import MapWord

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

Array: TypeAlias = "np.ndarray"


class Fitted(ABC):
    """A feature map with the statistics of the data that it was fitted to.

    `inputs` is the number of columns that it takes, `columns` the number that it returns.
    """

    inputs: int
    columns: int

    @abstractmethod
    def transform(self, X: MatrixLike) -> MatrixLike:
        """The features of the rows of X (n, inputs): (n, columns)."""


class FeatureMap(ABC):
    """A feature map and its options, which are the fields of a dataclass."""

    word: ClassVar[MapWord]
    #: What `fit` returns.
    fitted: ClassVar[type[Fitted]]

    @abstractmethod
    def fit(self, X: MatrixLike) -> Fitted:
        """Compute the map's statistics from X (n, p)."""
