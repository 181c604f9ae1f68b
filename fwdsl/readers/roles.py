"""What a source is asked to serve, and what a reader gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    Raw: TypeAlias = "np.ndarray[Any, Any] | csr_array | LabelSets | Triplets"


@dataclass(frozen=True, slots=True)
class Role:
    """A declared name that a source must serve.

    `kind` is the head of its type (`matrix`, `vector`, `signs`, `labels`, `index`, `tensor`, ...); `shape` has an
    integer where the program fixes a dimension and `None` where the data does; `ids`, of the coordinates of observed entries,
    are texts that are kept as they are. `of` is what observed entries are of:
    `signs`, or nothing for numbers; `columns` are the names that an earlier fit's table has, in order.
    """

    name: str
    kind: str
    shape: tuple[int | None, ...] = ()
    of: str = ""
    columns: tuple[str, ...] = ()

    @property
    def is_column(self) -> bool:
        """Whether it takes one value per row (`labels[n, k]` does: its `k` is a number of classes)."""
        return self.kind in ("labels", "index") or (self.kind in ("vector", "signs") and len(self.shape) == 1)

    @property
    def is_table(self) -> bool:
        """Whether it takes several values per row."""
        return not self.is_column and len(self.shape) == 2

    @property
    def may_be_text(self) -> bool:
        """Whether its values are classes, which may be words."""
        return self.kind in ("signs", "labels", "ids")

    @property
    def width(self) -> int | None:
        """The declared number of columns of a table, if the program fixes it."""
        return self.shape[1] if self.is_table else None


@dataclass(frozen=True, eq=False, slots=True)
class LabelSets:
    """Sets of labels, one a row: `signs` is (n, k) of +1 (has the label) and -1, `classes` the k labels, sorted."""

    signs: np.ndarray[Any, Any]
    classes: np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False, slots=True)
class Triplets:
    """Observed entries as a file has them: `rows` and `columns` are the ids as written (int64, floats or words), `values`
    numbers, or words where they may be. Where a dimension has its size from elsewhere, its ids count from `base`.

    Entry i stands on line `first + i` of the file; `first` is 0 where the file has lines without entries.
    """

    rows: np.ndarray[Any, Any]
    columns: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]
    base: int
    first: int
