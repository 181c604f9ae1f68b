"""The values of data (numbers, dense and sparse arrays, observed entries, matrices kept as formulas) and their arithmetic.

Sums, products and slices are computed in float64. Sparse values stay sparse, and formulas stay formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..light_dataclass import light_dataclass
from ..model import Dim, SliceItem, evaluate_dim, slice_key
from ..readers.held_rows import InHands
from ..readers.memory import most_memory
from ..readers.row_blocks import Turned, is_on_disk
from .data_operator import DataOperator

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike
    from ..readers.held_rows import Hands
    from ..readers.row_blocks import Stored
    from .observed_places import Places

Value = Any
"""A float, a dense array, a `scipy.sparse.csr_array`, or the value of a feature map (see `evaluate`)."""


def is_sparse(value: object) -> bool:
    """True if a value is a SciPy sparse matrix or array. SciPy is not imported to find out."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def is_formula(value: object) -> bool:
    """True if a value is a matrix kept as a formula: `RankOneUpdated`, or the Gram matrix of an implicit feature map."""
    return hasattr(value, "matvec") and hasattr(value, "toarray")


def as_float64(value: Any) -> Any:
    """The value in float64; formulas and operators stay as they are."""
    if is_formula(value) or isinstance(value, DataOperator | Turned) or is_on_disk(value):
        return value
    return value.astype(np.float64, copy=False) if is_sparse(value) else np.asarray(value, dtype=np.float64)


def as_csr(value: Any) -> Value:
    """The value as a `csr_array`."""
    from scipy.sparse import csr_array

    return csr_array(value)


Array = Any


@light_dataclass
class Entries:
    """Observed entries: entry (rows[k], columns[k]) of a matrix of `shape` has the value values[k].

    Those that stay in files (`stored`) are in their order by rows, and have their places in `by_rows` alone.

    Positions are int64 and count from 0; values are float64 or float32, -1 and 1 for `entries[n, p] of signs`. An entry may come
    twice, as two observations. Where ids were mapped to positions, `row_ids[i]` is the id of row i, and `column_ids[j]` that
    of column j; both are None where positions were given.
    """

    rows: Array
    columns: Array
    values: Array
    shape: tuple[int, int]
    row_ids: tuple[Any, ...] | None = None
    column_ids: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes + self.columns.nbytes + self.values.nbytes)

    @property
    def stored(self) -> Stored | None:
        """The values in their file, where the entries stay in files."""
        found: Stored | None = getattr(self.values, "stored", None)
        return found

    @cached_property
    def by_rows(self) -> tuple[Places, Array | None]:
        """The places in their order by rows, and that order: v_by_rows = v[order] of a vector over the entries; None where they are in it."""
        from .observed_places import Places

        return Places.by_rows(self.shape, self.rows, self.columns)


class HeldEntries(Entries, InHands):
    """The same entries, whose places workers hold by rows beside this process."""

    @classmethod
    def of(cls, entries: Entries, hands: Hands) -> HeldEntries:
        """The entries in the hands of workers."""
        found: HeldEntries = object.__new__(cls)
        vars(found).update(vars(entries), hands=hands)
        return found


VECTORS = 16
"""Vectors of the size of the variables, or of the data's rows or columns, that the least of solves holds."""


SHORT = 1 << 16
"""The length of vectors that fit wherever a program runs."""


def is_too_long(size: int) -> bool:
    """True if vectors of that size do not fit: the system is asked for its memory only where that may be so."""
    return size > SHORT and size > longest_vector()


def longest_vector() -> int:
    """The length of vectors of float64 of which `VECTORS` fit into this machine's memory, or the address space of this process if that is less."""
    return most_memory() // (8 * VECTORS)


def plus(a: Any, b: Any) -> Value:
    """a + b. The caller adds a number or a row to a sparse matrix itself, since the sum is dense."""
    if is_formula(a) or is_formula(b):
        return _plus_formula(a, b)
    if is_sparse(a) or is_sparse(b):
        total = as_float64(a) + as_float64(b)
        return as_csr(total) if is_sparse(total) else np.asarray(total)
    return float(a) + float(b) if not np.ndim(a) and not np.ndim(b) else np.add(a, b, dtype=np.float64)


def _plus_formula(a: Any, b: Any) -> Value:
    """A sum with a matrix that is kept as a formula. A number or a row added to it is one more rank-one term."""
    from ..features.rank_one import RankOneUpdated

    if not is_formula(a):
        a, b = b, a
    if is_formula(b):
        return RankOneUpdated(_plus_formula(a, b.A), b.u, b.v)
    if is_sparse(b):
        return RankOneUpdated(plus(a.A, b), a.u, a.v)
    if np.ndim(b) == 2:
        return a.toarray() + b
    row = np.broadcast_to(np.asarray(b, dtype=np.float64), a.shape[1:])
    return RankOneUpdated(a, np.full(a.shape[0], -1.0), row) if np.any(row) else a


def times(a: Any, b: Any) -> Value:
    """a * b, entry by entry."""
    if not np.ndim(a) and not np.ndim(b):
        return float(a) * float(b)
    if isinstance(a, DataOperator) or isinstance(b, DataOperator):
        return a * b if not np.ndim(a) or not np.ndim(b) else np.multiply(np.asarray(a), np.asarray(b))
    if is_sparse(b) and not is_sparse(a):
        a, b = b, a
    if is_formula(a) or is_formula(b):
        return _times_formula(a, b)
    if is_sparse(a):
        return as_csr(as_float64(a) * float(b)) if not np.ndim(b) else as_csr(as_float64(a).multiply(as_float64(b)))
    return np.multiply(a, b, dtype=np.float64)


def _times_formula(a: Any, b: Any) -> Value:
    if not is_formula(a):
        a, b = b, a
    if not np.ndim(b):
        return a.astype(np.float64, copy=False) * float(b)
    if is_formula(b):
        raise ValueError("two sparse matrices that are centred have no entrywise product that is sparse")
    if not is_sparse(b):
        return np.multiply(a.toarray(), b, dtype=np.float64)
    own = times(a.A, b)
    from scipy.sparse import diags_array

    return as_csr(own - diags_array(a.u) @ as_float64(b) @ diags_array(a.v))


def divide(a: Any, b: Any) -> Value:
    """a / b, entry by entry."""
    if is_sparse(b) or (not is_formula(b) and not np.all(b)):
        raise ValueError("division by zero")
    if is_formula(b):
        b = b.toarray()
        if not np.all(b):
            raise ValueError("division by zero")
    if not np.ndim(a) and not np.ndim(b):
        return float(a) / float(b)
    if is_formula(a):
        return a.astype(np.float64, copy=False) / float(b) if not np.ndim(b) else a.toarray() / b
    if is_sparse(a):
        return as_csr(
            as_float64(a) * (1.0 / float(b)) if not np.ndim(b) else as_float64(a).multiply(1.0 / as_float64(b))
        )
    return np.divide(a, b, dtype=np.float64)


def matmul(a: Any, b: Any) -> Value:
    """a @ b."""
    return _product(as_float64(a), as_float64(b))


def _product(a: Any, b: Any) -> Value:
    if is_formula(b) and np.ndim(a) == 2 and not is_formula(a):
        product = b.T @ a.T
        return product.T.tocsr_rows() if is_formula(product) else product.T
    if is_formula(a) or is_formula(b):
        return a @ b
    if is_on_disk(a) and isinstance(b, np.ndarray):
        from . import row_chunks

        return row_chunks.times(a, b)
    if isinstance(a, Turned) and isinstance(b, np.ndarray):
        from . import row_chunks

        return row_chunks.turned_times(a.A, b)
    if is_sparse(a) and is_sparse(b):
        return as_csr(a @ b)
    result = b.T @ a if is_sparse(b) and np.ndim(a) == 1 else a @ b
    return float(result) if not np.ndim(result) else np.asarray(result)


def dot(a: Any, b: Any) -> Value:
    """The sum of a * b."""
    a, b = as_float64(a), as_float64(b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return float(a @ b)
    return float(np.sum(times(a, b)))


def inner(a: Any, b: Any) -> Value:
    """Contract all axes of a but the first with b, or the family's block of each sample with that sample's row."""
    a, b = as_float64(a), as_float64(b)
    if is_formula(a) or is_sparse(a):
        return np.asarray(_product(a, b) if np.ndim(b) == 1 else times(a, b).sum(axis=1)).reshape(-1)
    if np.ndim(a) == np.ndim(b):
        return (
            np.asarray(times(b, a).sum(axis=1)).reshape(-1) if is_sparse(b) else (a * b).reshape(len(a), -1).sum(axis=1)
        )
    flat = b.toarray() if is_sparse(b) or is_formula(b) else b
    return np.asarray(a.reshape(len(a), -1) @ np.reshape(flat, -1))


def combine(x: Any, M: Any) -> Value:
    """sum_i x_i M_i."""
    return np.asarray(np.tensordot(as_float64(x), as_float64(M), axes=1))


def quad(U: Any, X: Any) -> Value:
    """u_i' X u_i for each row of U; X is one matrix for all rows, or has one for each."""
    U, X = as_float64(U), as_float64(X)
    if np.ndim(X) == 3:
        rows = U.toarray() if is_sparse(U) or is_formula(U) else U
        return np.asarray(np.einsum("ij,ijk,ik->i", rows, X, rows))
    if is_formula(U):
        U = U.toarray()
    product = _product(U, X)
    if is_sparse(U):
        return np.asarray(U.multiply(product).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", U, product.toarray() if is_sparse(product) else product))


def total(value: MatrixLike) -> float:
    """The sum of all entries."""
    if is_formula(value):
        return float(value.sum())
    return float(np.sum(value.data if is_sparse(value) else value, dtype=np.float64))


def take(value: Any, items: Sequence[SliceItem], dims: Mapping[str, int]) -> Value:
    """`value[items]`: for each axis a position, or a range. Raises ValueError for what is out of range."""
    for axis, item in enumerate(items):
        if not in_range(item, value.shape[axis], dims):
            raise ValueError(f"`{written(item)}` of {value.shape[axis]} entries")
    key = slice_key(items, dims)
    if not is_sparse(value) and not is_formula(value):
        result = value[key]
        return float(result) if not np.ndim(result) else result
    # Two axes are kept while slicing, since SciPy's releases differ on the shape of one row of a sparse array.
    kept = tuple(k if isinstance(k, slice) else _one(k, value.shape[axis]) for axis, k in enumerate(key))
    if is_formula(value) and any(k.step not in (None, 1) for k in kept):
        return as_csr(value.toarray()[key])
    part = value[kept if len(kept) > 1 else (*kept, slice(None))]
    single = [isinstance(k, int) for k in key] + [False] * (2 - len(key))
    if not any(single):
        return part if is_formula(part) else as_csr(part)
    line = part.toarray().reshape(-1)
    return float(line[0]) if all(single) else line


def _one(position: int, size: int) -> slice:
    at = position % size
    return slice(at, at + 1)


def in_range(item: SliceItem, size: int, dims: Mapping[str, int]) -> bool:
    """True if an index takes entries of an axis of this size, at least one. A position by dimensions counts from the start."""

    def place(end: Dim | None, otherwise: int) -> int:
        if end is None:
            return otherwise
        at = evaluate_dim(end, dims)
        return at + size if at < 0 and isinstance(end, int) else at

    if isinstance(item, tuple):
        return 0 <= place(item[0], 0) < place(item[1], size) <= size
    return 0 <= place(item, 0) < size


def written(item: SliceItem) -> str:
    """An index as a program writes it."""
    return ":".join("" if i is None else str(i) for i in item) if isinstance(item, tuple) else str(item)


def columns_within(A: object, whole: object) -> slice | None:
    """The columns of a dense matrix that A is a view of, all rows of each; None of another array."""
    if not (isinstance(A, np.ndarray) and isinstance(whole, np.ndarray) and A.ndim == whole.ndim == 2):
        return None
    if A.base is None or (A.base is not whole and A.base is not whole.base):
        return None
    if A.shape[0] != whole.shape[0] or A.strides != whole.strides or A.dtype != whole.dtype or whole.strides[1] <= 0:
        return None
    ahead = A.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    first, rest = divmod(ahead, whole.strides[1])
    return slice(first, first + A.shape[1]) if not rest and 0 <= first <= whole.shape[1] - A.shape[1] else None
