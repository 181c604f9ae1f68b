"""Long products and factorisations, cut into blocks between which the clock is asked.

`look` raises where the run is to end. Each block is about `BLOCK` multiplications, or one panel of a factor. SuperLU cannot be cut: `attended`
leaves it to a thread of its own, which is left behind where the run ends first.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import cython_lapack, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs, dsytrs
from scipy.sparse import csr_array, vstack

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.sizes import FILLED
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import csr_gram
from fwdsl.canon.maps import by_rows

Look = Callable[[], None]
Solve = Callable[[Array], Array]
T = TypeVar("T")

BLOCK, SPARSE_BLOCK = 1 << 31, 1 << 26
"""Multiplications of a block of a dense and of a sparse product: a fraction of a second."""

WIDEST = 10_000
"""Columns up to which a sparse matrix may be multiplied as a dense one, and kept as one."""

WRITTEN = 30.0
"""The factor by which a multiplication of a dense product is faster than one of pairs of entries of a row."""

NUMBERS = 1 << 22
"""Numbers of a sparse matrix that are written out as a dense one at a time."""

PANEL, NARROW = 192, 64
"""Columns of a panel of a definite and of an indefinite factor."""

EVERY = 0.05
"""Seconds between two looks at the clock while SuperLU works."""


def dense_gram(A: Array, look: Look) -> Array:
    """A'A."""
    n, d = A.shape
    out = np.zeros((d, d))
    step = max(1, BLOCK // max(1, d * d))
    for first in range(0, n, step):
        look()
        some = A[first : first + step]
        out += some.T @ some
    return out


def weighted_gram(K: csr_array, a: Array, look: Look) -> Any:
    """K' diag(a) K for weights a >= 0: a dense matrix where rows of K are so full that this is sooner done, a sparse one otherwise."""
    d, each = K.shape[1], np.diff(K.indptr)
    full = np.flatnonzero((FILLED * each.astype(np.float64) ** 2 > float(d) ** 2) & (d <= WIDEST))
    if not full.size:
        if each.max(initial=0) <= 1:
            # rows of one entry: the squares are a diagonal
            squares = np.asarray(np.bincount(K.indices, K.data * (np.repeat(a, each) * K.data), d), dtype=np.float64)
            at = np.flatnonzero(np.bincount(K.indices, minlength=d))
            starts = np.searchsorted(at, np.arange(d + 1))
            return by_rows(squares[at], at, starts, (d, d))
        return sparse_product(K.T.tocsr(), by_rows(np.repeat(a, each) * K.data, K.indices, K.indptr, K.shape), look)
    out = np.zeros((d, d))
    root = np.sqrt(a)
    step = max(1, min(BLOCK // (d * d), NUMBERS // d))
    for first in range(0, full.size, step):
        look()
        rows = full[first : first + step]
        some = root[rows, None] * K[rows].toarray()
        out += some.T @ some
    if full.size < K.shape[0]:
        rest = np.delete(np.arange(K.shape[0]), full)
        out += weighted_gram(K[rest], a[rest], look)
    return out


def add_gram(matrix: Array, K: csr_array, a: Array, look: Look) -> None:
    """Add K' diag(a) K, for weights a >= 0, to the lower triangle of the first rows and columns of a matrix by columns.

    Of the upper one any part may be added.
    """
    d, each = K.shape[1], np.diff(K.indptr)
    if each.max(initial=0) <= 1:
        # rows of one entry: the squares are a diagonal
        np.einsum("ii->i", matrix)[:d] += np.bincount(K.indices, K.data * (np.repeat(a, each) * K.data), d)
        return
    costs = each.astype(np.float64) ** 2
    full = (WRITTEN * costs > float(d) ** 2) & (d <= WIDEST)
    if full.any():
        matrix[:d, :d] += weighted_gram(K[full], a[full], look)
        a, costs = np.where(full, 0.0, a), np.where(full, 0.0, costs)
    unsigned = np.uint32 if K.indices.dtype == np.int32 else np.uint64
    arrays = K.indptr.view(unsigned), K.indices.view(unsigned), K.data, np.arange(d), int(each.max())
    for first, last in _cuts(costs):
        look()
        kernel(csr_gram)(*arrays, a, matrix.T, first, last)


def sparse_product(left: csr_array, right: csr_array, look: Look) -> csr_array:
    """left right, of sparse matrices by rows."""
    # what each row costs: the numbers in the rows of the right-hand factor that it meets
    lengths = by_rows(np.ones(left.nnz), left.indices, left.indptr, left.shape) @ np.diff(right.indptr)
    found = []
    for first, last in _cuts(lengths):
        look()
        found.append((left if last - first == left.shape[0] else left[first:last]) @ right)
    return found[0] if len(found) == 1 else csr_array(vstack([csr_array((0, right.shape[1])), *found], format="csr"))


def _cuts(costs: Array) -> Iterator[tuple[int, int]]:
    """Rows in a row that cost about `SPARSE_BLOCK` together."""
    number = (np.cumsum(costs) // SPARSE_BLOCK).astype(np.intp)
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(number)) + 1, [costs.size]])
    for first, last in pairwise(cuts):
        if first < last:
            yield int(first), int(last)


def cholesky(matrix: Array, look: Look) -> Solve:
    """The solver of a definite system, whose matrix by columns is overwritten: its lower triangle has the factor. Raises `LinAlgError`."""
    n = matrix.shape[0]
    for first in range(0, n, PANEL):
        look()
        last = min(first + PANEL, n)
        panel = matrix[first:, first:last]
        if first:
            panel -= matrix[first:, :first] @ matrix[first:last, :first].T
        top, failed = dpotrf(panel[: last - first], lower=1)
        if failed:
            raise np.linalg.LinAlgError("the system is singular")
        panel[: last - first] = top
        if last < n:
            below = solve_triangular(top, panel[last - first :].T, lower=True, check_finite=False)
            panel[last - first :] = below.T

    def solve(right: Array) -> Array:
        return np.asarray(dpotrs(matrix, right, lower=1)[0])

    return solve


def indefinite(matrix: Array, look: Look) -> Solve:
    """The solver of a symmetric system, whose matrix by columns is overwritten, by Bunch's and Kaufman's pivots. Raises `LinAlgError`.

    The panels are those of LAPACK's `dsytrf`.
    """
    n = matrix.shape[0]
    pivots = np.zeros(n, dtype=np.intc)
    work = np.zeros((n, NARROW), order="F")
    panel, rest = _lapack("dlasyf"), _lapack("dsytf2")
    first = 0
    while first < n:
        look()
        left, taken, failed = ctypes.c_int(n - first), ctypes.c_int(), ctypes.c_int()
        size, width = ctypes.c_int(n), ctypes.c_int(NARROW)
        at = matrix.ctypes.data + 8 * first * (n + 1), ctypes.byref(size), pivots.ctypes.data + 4 * first
        if n - first > NARROW:
            space = work.ctypes.data, ctypes.byref(size)
            panel(b"L", ctypes.byref(left), ctypes.byref(width), ctypes.byref(taken), *at, *space, ctypes.byref(failed))
        else:
            rest(b"L", ctypes.byref(left), *at, ctypes.byref(failed))
            taken.value = n - first
        if failed.value:
            raise np.linalg.LinAlgError("the system is singular")
        own = pivots[first : first + taken.value]
        # of a pair of rows the numbers are negative
        own += np.where(own > 0, first, -first).astype(np.intc)
        first += taken.value

    def solve(right: Array) -> Array:
        return np.asarray(dsytrs(matrix, pivots, right, lower=1)[0])

    return solve


@cache
def _lapack(name: str) -> Callable[..., None]:
    """A routine of LAPACK that SciPy exports to Cython, whose arguments all are addresses."""
    of = ctypes.pythonapi
    of.PyCapsule_GetName.restype, of.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    of.PyCapsule_GetPointer.restype = ctypes.c_void_p
    of.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule = cython_lapack.__pyx_capi__[name]
    signature = of.PyCapsule_GetName(capsule)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (signature.count(b",") + 1))(
        of.PyCapsule_GetPointer(capsule, signature)
    )


def attended(work: Callable[[], T], look: Look) -> T:
    """work(), in a thread of its own; where the run ends first that thread is left to itself."""
    if sys.platform == "emscripten":  # a browser has no threads
        return work()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="fwdsl-attended", daemon=True)
    thread.start()
    thread.join(EVERY)
    while thread.is_alive():
        look()
        thread.join(EVERY)
    if failed:
        raise failed[0]
    return found[0]
