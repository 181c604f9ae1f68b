"""One pass over a datum: whether it is finite, and the norms of its rows and columns. Makes no copy of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..light_dataclass import light_dataclass
from ..readers import places
from ..readers.row_blocks import ChangedFile, DenseRows, Rows, SparseRows, cut_rows, in_file, is_on_disk, unchecked
from ..sums import Node, Partials, cut_evenly, finish
from .data_operator import DataOperator, NormBound, OperatorSource, ProductError
from .findings import InvalidDatum
from .instance import DataStats
from .values import is_sparse

if TYPE_CHECKING:
    from ..atoms.base import Array, MatrixLike

_BLOCK = 1 << 17  # numbers in a block, which stays in cache
_AT_ONCE = 4  # blocks that are read from a disk at once

# Squares of numbers within these bounds neither overflow nor vanish in a sum.
_SMALL, _LARGE = 1e-140, 1e140


@light_dataclass
class Measured:
    """The result of the pass: statistics, whether all entries are finite, and the smallest stored entry (-inf where nobody asks for it)."""

    stats: DataStats
    finite: bool
    smallest: float


def measure(array: Any, least: bool = True) -> Measured:
    """Statistics of a dense array of any number of axes, or of a `csr_array`; the smallest entry where `least` asks for it.

    Norms are Euclidean; in a tensor a row is `array[i]`, and columns are not measured. `nnz` counts stored numbers: all
    entries of a dense array.
    """
    squares = _of_vector(array) if array.ndim == 1 else None if least else _of_squares(array)
    sums = _sums(array, 1.0) if squares is None else squares
    if squares is not None:
        scale = 1.0
    elif sums.finite:
        top = max(sums.largest, -sums.smallest)
        if top and not _SMALL < top < _LARGE:
            sums = _sums(array, top)
            scale = top
        else:
            scale = 1.0
    else:
        scale = np.nan
    matrix = array.ndim == 2
    late = matrix and squares is not None
    stats = (_RowsLater if late else DataStats)(
        shape=tuple(array.shape),
        storage=storage(array),
        dtype=_name(array.dtype),
        nnz=int(array.nnz if hasattr(array, "nnz") else array.size),
        nbytes=_nbytes(array),
        mapped=is_mapped(array),
        largest_row_norm=float(scale * np.sqrt(sums.largest_row)) if array.ndim >= 2 else 0.0,
        column_norms=scale * np.sqrt(sums.columns) if matrix and sums.columns is not None else None,
    )
    if isinstance(stats, _RowsLater):
        stats.measures(array)
    return Measured(stats, sums.finite, sums.smallest)


@cache
def _name(dtype: np.dtype[Any]) -> str:
    """The name of a kind of numbers, which NumPy puts together anew each time."""
    return str(dtype)


def storage(array: MatrixLike) -> str:
    """The storage of an array: "csr", "scalar", "vector" or "dense"."""
    if is_sparse(array) or isinstance(array, SparseRows):
        return "csr"
    return ("scalar", "vector")[array.ndim] if array.ndim < 2 else "dense"


def is_mapped(array: MatrixLike) -> bool:
    """True if an array is a memory map or a view of one."""
    base = array.data if is_sparse(array) else array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return True
        base = base.base
    return False


class _RowsLater(DataStats):
    """The statistics of a matrix in memory whose rows are measured where somebody asks: few methods do, and columns tell that all is finite."""

    def measures(self, array: Any) -> None:
        """Leave the rows of this array for later."""
        vars(self).pop("largest_row_norm")
        vars(self)["_array"] = array

    @cached_property
    def largest_row_norm(self) -> float:
        rows = (np.einsum("ij,ij->i", block, block) for block in _blocks(vars(self).pop("_array")))
        return math.sqrt(max((float(of_block.max(initial=0.0)) for of_block in rows), default=0.0))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return DataStats, tuple(getattr(self, f.name) for f in fields(DataStats))


@dataclass
class _Sums:
    """Sums of squared entries, divided by a scale, and the extreme entries."""

    finite: bool = True
    smallest: float = np.inf
    largest: float = -np.inf
    largest_row: float = 0.0
    columns: np.ndarray | None = None

    def look(self, block: np.ndarray) -> None:
        """Update the extremes by a block; nan and infinities show in them."""
        if block.size:
            low, high = float(block.min()), float(block.max())
            self.finite = self.finite and math.isfinite(low) and math.isfinite(high)
            self.smallest = min(self.smallest, low)
            self.largest = max(self.largest, high)


def _sums(array: MatrixLike, scale: float) -> _Sums:
    with np.errstate(all="ignore"):
        if is_sparse(array) or isinstance(array, SparseRows):
            return _sparse(array, scale)
        if is_on_disk(array):
            return _by_rows(array, scale)
        if array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous:
            return _by_columns(array.T, scale)
        return _by_rows(array, scale)


def _blocks(array: Any) -> Iterator[np.ndarray]:
    """Blocks of rows as plain two-dimensional float64 arrays."""
    step = max(1, _BLOCK // max(1, math.prod(array.shape[1:])))
    for start in range(0, array.shape[0], step):
        stop = min(start + step, array.shape[0])
        # a buffer that the next block is read into, or a view
        rows = array.piece(start, stop) if is_on_disk(array) else array[start:stop]
        block = np.asarray(rows, dtype=np.float64)
        yield block.reshape(block.shape[0], -1)


def _of_squares(array: Any) -> _Sums | None:
    """The sums of a matrix in memory without a look for its extremes; None where the squares do not tell that all entries are finite and of a
    size whose squares are neither 0 nor infinite."""
    if not isinstance(array, np.ndarray) or array.ndim != 2 or not array.flags.c_contiguous:
        return None
    columns: Any = 0.0
    largest = 0.0
    with np.errstate(all="ignore"):
        for block in _blocks(array):
            columns = columns + np.einsum("ij,ij->j", block, block)
            largest = float(columns.max(initial=0.0))
            # nan is no less either
            if not largest < _LARGE**2:
                return None
    return _Sums(smallest=-np.inf, columns=columns) if largest > array.shape[0] * _SMALL**2 else None


def _of_vector(array: Any) -> _Sums | None:
    """The extremes of a vector in memory, which has no norms of rows or columns; None of one that is read."""
    if not isinstance(array, np.ndarray):
        return None
    sums = _Sums()
    with np.errstate(all="ignore"):
        sums.look(array)
    return sums


def _by_rows(array: np.ndarray, scale: float) -> _Sums:
    sums = _Sums()
    array = array if array.ndim else np.atleast_1d(array)
    columns = np.zeros(array.shape[1]) if array.ndim == 2 else None
    for low, high, largest, squares in _elsewhere(array, scale) or _of_blocks(array, scale):
        sums.smallest, sums.largest = min(sums.smallest, low), max(sums.largest, high)
        sums.finite = sums.finite and bool(np.isfinite(low) and np.isfinite(high))
        if sums.finite:
            sums.largest_row = max(sums.largest_row, largest)
            if columns is not None:
                columns += squares
    sums.columns = columns
    return sums


_OfBlock = tuple[float, float, float, Any]
"""The least and the greatest entry of a block of rows, the largest sum of squares of a row, and the sums of squares of columns."""


def _of_blocks(array: np.ndarray, scale: float) -> Iterator[_OfBlock]:
    for block in _blocks(array):
        if block.size:
            low, high = float(block.min()), float(block.max())
            if array.ndim < 2 or not (np.isfinite(low) and np.isfinite(high)):
                yield low, high, 0.0, 0.0
                continue
            part = block if scale == 1.0 else block / scale
            largest = float(np.einsum("ij,ij->i", part, part).max())
            yield low, high, largest, np.einsum("ij,ij->j", part, part) if array.ndim == 2 else 0.0


def _elsewhere(array: Any, scale: float) -> Iterator[_OfBlock] | None:
    """The same blocks, looked at where the files are read; None where they are read here."""
    rows = in_file(array) if places.places() is not None else None
    if not isinstance(rows, DenseRows) or not (count := _ranges(rows)):
        return None
    step = max(1, _BLOCK // max(1, rows.shape[1]))
    share = step * max(1, math.ceil(rows.shape[0] / step / count))
    ranges = [(a, min(a + share, rows.shape[0])) for a in range(0, rows.shape[0], share)]
    found = _asked(_listed, [(rows.between(a, b), scale) for a, b in ranges])
    return (of_block for part in found for of_block in part)


def _ranges(rows: DenseRows | SparseRows) -> int:
    """The ranges in which workers read a matrix: one for each file, about, as it is decoded once, or for each 64 MB; 0 where it is read here."""
    first = rows.parts[0] if rows.parts else None
    from ..readers.encoded import Encoded

    is_decoded = isinstance(first[0] if isinstance(first, tuple) else first, Encoded)
    return max(len(rows.parts), rows.nbytes >> 26) if is_decoded or rows.nbytes > places.READ_HERE else 0


def _asked(fn: Any, asked: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The answers of workers. Raises `ChangedFile`."""
    read_by = places.places()
    assert read_by is not None
    found = read_by(fn, asked)
    for part in found:
        if isinstance(part, str):
            raise ChangedFile(*part.split("\0"))
    return found


def _listed(array: Any, scale: float) -> list[_OfBlock] | str:
    """The blocks, or what is told of a file that was changed: errors of ours are not pickled."""
    try:
        with np.errstate(all="ignore"):
            return list(_of_blocks(array, scale))
    except ChangedFile as error:
        return "\0".join(error.told)


def _by_columns(transposed: np.ndarray, scale: float) -> _Sums:
    """The sums of `_by_rows`, for an array whose columns lie in memory one after the other."""
    sums = _Sums()
    rows = np.zeros(transposed.shape[1])
    columns = []
    for block in _blocks(transposed):
        sums.look(block)
        if sums.finite:
            part = block if scale == 1.0 else block / scale
            rows += np.einsum("ij,ij->j", part, part)
            columns.append(np.einsum("ij,ij->i", part, part))
    sums.largest_row = float(rows.max())
    sums.columns = np.concatenate(columns) if sums.finite else None
    return sums


def _sparse(matrix: Any, scale: float) -> _Sums:
    """The sums of sparse rows: those of columns are added by the tree of `fwdsl.sums`, so that workers add up what they read."""
    ends = matrix.ends if isinstance(matrix, SparseRows) else matrix.indptr
    # a block costs a vector of columns, so it holds at least as many numbers
    blocks = list(cut_rows(ends, 0, matrix.shape[0], max(_BLOCK, matrix.shape[1])))
    count = _ranges(matrix) if isinstance(matrix, SparseRows) and places.places() is not None else 0
    if count:
        asked = []
        for first, last in cut_evenly(len(blocks), min(count, len(blocks))):
            start, stop = blocks[first][0], blocks[last - 1][1]
            own = [(a - start, b - start) for a, b in blocks[first:last]]
            asked.append((matrix.between(start, stop), own, first, scale))
        found = _asked(_of_range, asked)
    else:
        found = [_of_sparse(matrix, blocks, 0, scale)]
    columns = finish(node for part in found for node in part[3])
    sums = _Sums(
        finite=all(
            math.isfinite(low) and math.isfinite(high) for low, high, _, _ in found if low <= high or low != low
        ),
        smallest=min((low for low, _, _, _ in found), default=np.inf),
        largest=max((high for _, high, _, _ in found), default=-np.inf),
        largest_row=max((largest for _, _, largest, _ in found), default=0.0),
        columns=np.zeros(matrix.shape[1]) if columns is None else columns,
    )
    if matrix.nnz < matrix.shape[0] * matrix.shape[1]:
        sums.smallest, sums.largest = min(sums.smallest, 0.0), max(sums.largest, 0.0)
    return sums


_OfRange = tuple[float, float, float, list[tuple[Node, Any]]]
"""The least and the greatest entry of a range of rows, the largest sum of squares of a row, and nodes of the sums of squares of columns."""


def _of_range(matrix: Any, blocks: Sequence[Rows], first: int, scale: float) -> _OfRange | str:
    try:
        with np.errstate(all="ignore"):
            return _of_sparse(matrix, blocks, first, scale)
    except ChangedFile as error:
        return "\0".join(error.told)


def _of_sparse(matrix: Any, blocks: Sequence[Rows], first: int, scale: float) -> _OfRange:
    """Measure a range of blocks, the first of which has that number."""
    from scipy.sparse import csc_array

    sums, partials = _Sums(), Partials(first)
    ends = matrix.ends if isinstance(matrix, SparseRows) else matrix.indptr
    for row, stop, indices, block in _numbers(matrix, blocks):
        start = int(ends[row])
        sums.look(block)
        if not sums.finite:
            return np.nan, np.nan, 0.0, []
        if not block.size:
            partials.add(None)
            continue
        squares = np.square(block if scale == 1.0 else block / scale)
        starts = ends[row:stop][np.diff(ends[row : stop + 1]) > 0] - start
        sums.largest_row = max(sums.largest_row, float(np.add.reduceat(squares, starts).max()))
        # SciPy adds up in the order of `np.bincount`, which would first make wide numbers of the columns'
        cuts = (ends[row : stop + 1] - start).astype(indices.dtype)
        turned = unchecked(csc_array, (matrix.shape[1], stop - row), squares, indices, cuts)
        partials.add(turned @ np.ones(stop - row))
    return sums.smallest, sums.largest, sums.largest_row, partials.nodes()


def _numbers(matrix: Any, blocks: Sequence[Rows]) -> Iterator[tuple[int, int, Array, Array]]:
    """The rows of each block, its columns' numbers and its entries in float64; from a disk several blocks are read at once."""
    if not isinstance(matrix, SparseRows):
        for row, stop in blocks:
            own = slice(int(matrix.indptr[row]), int(matrix.indptr[stop]))
            yield row, stop, matrix.indices[own], np.asarray(matrix.data[own], dtype=np.float64)
        return
    together = [blocks[k : k + _AT_ONCE] for k in range(0, len(blocks), _AT_ONCE)]
    ranges = [(some[0][0], some[-1][1]) for some in together]
    for some, (_, indices, entries) in zip(together, matrix.walk(ranges), strict=True):
        for row, stop in some:
            first = int(matrix.ends[some[0][0]])
            own = slice(int(matrix.ends[row]) - first, int(matrix.ends[stop]) - first)
            yield row, stop, indices[own], entries[own].astype(np.float64, copy=False)


def _nbytes(array: Any) -> int:
    if is_on_disk(array):
        return int(array.nbytes)
    if is_sparse(array):
        return int(array.data.nbytes + array.indices.nbytes + array.indptr.nbytes)
    return int(array.nbytes)


PROBES = 3
"""The number of random pairs of vectors that check the adjoint. Each pair shows a wrong adjoint with probability 1."""

ADJOINT_TOLERANCE = 1e-6
"""The relative difference of <A x, y> and <x, A'y> that is allowed, for operators in single precision."""
NORM_TOLERANCE = 0.05
"""The relative distance of the bound from |A|. The bound scales steps and measures rounding, so a closer one is not worth its cost."""
FAILURE = 1e-9
"""The probability with which the bound of |A| may be false."""
SEED = 20210


def attach(A: DataOperator) -> DataStats:
    """Check the products of an operator and bound its norm, once. Raises `InvalidDatum` (FW4526, FW4527, FW4529)."""
    if not A.source.checked:
        try:
            _check_adjoint(A)
            _bound_norm(A.source)
        except ProductError as error:
            raise InvalidDatum("FW4527", "", diagnostic=error.first) from error
        A.source.checked = True
    assert A.bound is not None
    return DataStats(
        A.shape, "operator", "float64", A.size, 0, largest_row_norm=A.bound.value, norm_statement=A.bound.statement
    )


def _check_adjoint(A: DataOperator) -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(PROBES):
        x, y = rng.standard_normal(A.shape[1]), rng.standard_normal(A.shape[0])
        Ax, Aty = A.matvec(x), A.rmatvec(y)
        left, right = float(Ax @ y), float(x @ Aty)
        # both are sums of terms with random signs, which cancel, so they are compared with the size of the terms
        size = float(np.linalg.norm(Ax) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(Aty))
        if abs(left - right) > ADJOINT_TOLERANCE * size / np.sqrt(max(A.shape)) or not np.isfinite(size):
            raise InvalidDatum(
                "FW4526",
                f"has an adjoint that is not its own: <A x, y> is {left:.6g} and <x, A'y> is {right:.6g} for random x and y",
                "mend `rmatvec`: its matrix is the transpose of that of `matvec`",
            )


def _bound_norm(source: OperatorSource) -> None:
    """Bound |A| by Lanczos, or look for a vector that refutes the norm that the user states."""
    from ..spectral.bounds import largest_singular_bound

    A = DataOperator(source)
    if source.norm is None:
        found = largest_singular_bound(A, FAILURE, rtol=NORM_TOLERANCE, method="lanczos", seed=SEED)
        source.bound = NormBound(found.value_upper, found.statement)
        return
    x = np.random.default_rng(SEED).standard_normal(A.shape[1])
    for _ in range(PROBES):
        x /= max(float(np.linalg.norm(x)), 1e-300)
        Ax = A.matvec(x)
        reached = float(np.linalg.norm(Ax))
        if reached > source.norm * (1.0 + 1e-9):
            raise InvalidDatum(
                "FW4529",
                f"has a norm of at least {reached:.6g}, but `norm={source.norm:g}` is stated",
                "state a larger bound, or leave `norm` out: it is then found by some products",
            )
        x = A.rmatvec(Ax)
        if not x.any():
            return
