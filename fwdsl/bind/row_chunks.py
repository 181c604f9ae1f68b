"""Products with a matrix of data by chunks of its rows, with NumPy and SciPy alone: the references that the verifier rests on.

A chunk lies in one leaf (`fwdsl.sums`), begins where the one before it ends, and has about 2^20 numbers. A'y is added up chunk after chunk within a
leaf, and over leaves by their tree. So the result depends on the data alone: not on whether they lie in memory or on a disk, nor on who holds which
leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..readers.held_rows import Held
from ..readers.row_blocks import DenseRows, SparseRows, cut_rows, is_on_disk, unchecked
from ..sums import Rows, dense_leaves, sparse_leaves, tree_sum

CHUNK = 1 << 20
"""Numbers of a chunk."""

Change = Callable[[Any], Any]
"""The function that makes other entries of a dense chunk, or of the stored entries of a sparse one."""

Leaves = tuple[Rows, ...] | None


def by_chunks(A: Any) -> bool:
    """True of matrices whose products are taken by chunks here: dense ones by rows, columns of these, `csr` ones, and those on a disk."""
    if isinstance(A, np.ndarray):
        return A.ndim == 2 and (bool(A.flags.c_contiguous) or _has_whole_rows(A))
    return is_on_disk(A) or getattr(A, "format", "") == "csr"


def _has_whole_rows(A: Any) -> bool:
    """True if the numbers of a row lie side by side, and rows one after the other, which BLAS takes as it does the whole."""
    return bool(A.strides[1] == A.itemsize and A.strides[0] >= A.shape[1] * A.itemsize and not A.flags.f_contiguous)


def leaves_of(A: Any) -> tuple[Rows, ...]:
    """The leaves of the rows."""
    if isinstance(A, Held):
        return A.leaves
    ends = _ends(A)
    return dense_leaves(*A.shape) if ends is None else sparse_leaves(ends, A.shape[1])


def chunks(A: Any, leaf: Rows) -> Iterator[Rows]:
    """The chunks of a leaf."""
    ends = _ends(A)
    if ends is not None:
        yield from cut_rows(ends, *leaf, CHUNK)
        return
    step = max(1, CHUNK // max(1, A.shape[1]))
    for start in range(*leaf, step):
        yield start, min(start + step, leaf[1])


def every_row(A: Any, ranges: Sequence[Rows]) -> Iterator[Any]:
    """The rows of each range in float64: an array or a `csr_array`. It may be a view, or a buffer that later rows are read into."""
    if isinstance(A, DenseRows):
        return (part.astype(np.float64, copy=False) for part in A.walk(ranges))
    if isinstance(A, SparseRows):
        return (A.as_matrix(*part).astype(np.float64, copy=False) for part in A.walk(ranges))
    return (_rows(A, *one) for one in ranges)


def _rows(A: Any, start: int, stop: int) -> Any:
    if is_on_disk(A):
        return A.rows(start, stop).astype(np.float64, copy=False)
    if isinstance(A, np.ndarray):
        return np.asarray(A[start:stop], dtype=np.float64)
    if stop - start == A.shape[0] and A.dtype == np.float64:
        return A
    # SciPy's own slices copy indices too
    ends = A.indptr[start : stop + 1]
    part = slice(ends[0], ends[-1])
    data = A.data[part].astype(np.float64, copy=False)
    return unchecked(type(A), (stop - start, A.shape[1]), data, A.indices[part], ends - ends[0])


def times(A: Any, X: Array, change: Change | None = None, leaves: Leaves = None) -> Array:
    """A X for a vector or a dense matrix; of the entries of A that `change` makes of each chunk, where it is given.

    `leaves` are those of the rows where A is a part of the data, which does not tell them.
    """
    if isinstance(A, Held):
        found = A.times(X, change)
        if found is not None:
            return found
    if _is_one_chunk(A, leaves):
        return np.asarray(_changed(A, change) @ X)
    out = np.empty((A.shape[0], *X.shape[1:]))
    ranges = [one for leaf in (leaves_of(A) if leaves is None else leaves) for one in chunks(A, leaf)]
    for (a, b), block in zip(ranges, every_row(A, ranges), strict=True):
        out[a:b] = _changed(block, change) @ X
    return out


def turned_times(A: Any, Y: Array, change: Change | None = None, leaves: Leaves = None) -> Array:
    """A'Y, the same way."""
    if isinstance(A, Held):
        held = A.turned_times(Y, change)
        if held is not None:
            return held
    if _is_one_chunk(A, leaves):
        return _turned(_changed(A, change), Y)
    ranges = [list(chunks(A, leaf)) for leaf in (leaves_of(A) if leaves is None else leaves)]
    blocks = every_row(A, [one for of_leaf in ranges for one in of_leaf])

    def of_leaf(own: list[Rows]) -> Array:
        total: Array | None = None
        for a, b in own:
            block = next(blocks)
            part = _turned(_changed(block, change), Y[a:b])
            total = part if total is None else np.add(total, part, out=total)
        return np.zeros((A.shape[1], *Y.shape[1:])) if total is None else total

    found = tree_sum(of_leaf(own) for own in ranges)
    return np.zeros((A.shape[1], *Y.shape[1:])) if found is None else np.asarray(found)


def _changed(block: Any, change: Change | None) -> Any:
    """The chunk that `change` makes of this one."""
    if change is None or isinstance(block, np.ndarray):
        return block if change is None else change(block)
    return unchecked(type(block), block.shape, change(block.data), block.indices, block.indptr)


def _is_one_chunk(A: Any, leaves: Leaves) -> bool:
    """True of a matrix in memory that is taken as it stands."""
    if is_on_disk(A) or A.dtype != np.float64 or not 0 < A.shape[0] <= CHUNK:
        return False
    if not 0 < (A.size if isinstance(A, np.ndarray) else A.indptr[-1]) <= CHUNK:
        return False
    return len(leaves_of(A) if leaves is None else leaves) == 1


def _ends(A: Any) -> Any:
    """The ends of the rows of a sparse matrix; None of a dense one."""
    return A.ends if isinstance(A, SparseRows) else getattr(A, "indptr", None)


LONG, NARROW, LARGE = 64, 128, 1e6
"""The rows of Y from which on, its columns up to which, and the products of two numbers from which on BLAS takes half the time for A'Y where the
product is turned round. With fewer rows writing the result costs more than that; small products have kernels of their own."""


def pays_turned(n: int, rows: int, k: int) -> bool:
    """True if the product of n by `rows` numbers by columns with `rows` by k is had faster as the transposed one of the transposes."""
    return rows >= LONG and k <= NARROW and n * rows * k >= LARGE


def _turned(block: Any, Y: Array) -> Array:
    """A'Y of a chunk, in an array of its own."""
    if isinstance(block, np.ndarray) and Y.ndim == 2 and pays_turned(block.shape[1], *Y.shape):
        return np.ascontiguousarray((Y.T @ block).T)
    if isinstance(block, np.ndarray):
        return np.asarray(block.T @ Y)
    from scipy.sparse import csc_array

    # SciPy's own transpose looks through the arrays
    return np.asarray(unchecked(csc_array, block.shape[::-1], block.data, block.indices, block.indptr) @ Y)
