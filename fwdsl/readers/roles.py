"""The names that a source must serve, and the values that a reader returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

    from .categories import Mixed
    from .decoded import Decoded
    from .row_blocks import RowBlocks, SortedTriplets

    Raw: TypeAlias = "np.ndarray | csr_array | LabelSets | Triplets | SortedTriplets | Mixed | RowBlocks"


@dataclass(frozen=True, slots=True)
class Role:
    """A declared name that a source must serve.

    `kind` is the head of its type (`matrix`, `vector`, `signs`, `labels`, `index`, `tensor`, ...), or `ids` for coordinates
    of observed entries, which stay texts. `shape` has an integer where the program fixes a dimension, and None where the
    data does. `of` is the kind of observed values: `signs`, or empty for numbers. `columns` are the column names of an
    earlier fit's table, in order. `stays` are the bytes beyond which a matrix stays on its disk; None where all are read into memory.
    `decoded` takes a matrix that is to stay there where its format has no rows at places that are known.
    `like` is the file, the first of several, that `columns` are those of; it is empty where they are those of a fit.
    """

    name: str
    kind: str
    shape: tuple[int | None, ...] = ()
    of: str = ""
    columns: tuple[str, ...] = ()
    stays: int | None = None
    decoded: Decoded | None = field(default=None, compare=False)
    like: str = ""

    def stays_on_disk(self, nbytes: int) -> bool:
        """True if a matrix of so many bytes is to be read by ranges of its rows, as `--memory` has it."""
        return self.stays is not None and nbytes > self.stays and self.is_rows

    @property
    def is_rows(self) -> bool:
        """True of a plain matrix, of which nothing is promised that needs all of it at once."""
        return self.kind == "matrix" and len(self.shape) == 2

    @property
    def may_stay(self) -> bool:
        """True of a matrix that goes into files (`decoded`) where it outgrows memory."""
        return self.decoded is not None and self.is_rows

    @property
    def is_column(self) -> bool:
        """True if the role takes one value per row. `labels[n, k]` does: `k` is a number of classes."""
        return self.kind in ("labels", "index") or ((self.kind == "vector" or self.is_signs) and len(self.shape) == 1)

    @property
    def is_signs(self) -> bool:
        """True of labels of exactly two values."""
        return self.kind == "signs"

    @property
    def is_table(self) -> bool:
        return not self.is_column and len(self.shape) == 2

    @property
    def may_be_text(self) -> bool:
        """True if the values are classes, which may be words."""
        return self.kind in ("signs", "labels", "ids")

    @property
    def width(self) -> int | None:
        """The number of columns of a table, if the program fixes it."""
        return self.shape[1] if self.is_table else None


@dataclass(frozen=True, eq=False, slots=True)
class LabelSets:
    """Sets of labels, one for each row. `signs` (n, k) is +1 where a row has a label, else -1; `classes` are the k labels, sorted."""

    signs: np.ndarray
    classes: np.ndarray


@dataclass(frozen=True, eq=False, slots=True)
class Triplets:
    """Observed entries as a file has them: `rows` and `columns` are the ids as written (int64, floats or words), `values`
    numbers, or words if the role takes them. Ids of a dimension whose size is known from elsewhere count from `base`.

    Entry i stands on line `first + i` of the file; `first` is 0 where the file has lines without entries.
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    base: int
    first: int
