"""Rows of a matrix one at a time, for methods that visit samples in random order: plain loops, compiled into the kernels that use them.

A matrix comes as `rows`: (indptr, indices, data) where it is sparse, (A,) where it is dense. A kernel that is to serve both calls `row_dot`,
`row_add` and `row_size` and is compiled with `kernel(fn, **row_kernels(operator))`.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

from __future__ import annotations

from typing import Any

from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.prefetch import prefetch_function
from fwdsl.backends.kernels.storage import Sparse


def csr_row_dot(rows, i, x):
    """a_i . x."""
    indptr, indices, data = rows
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        total += data[k] * x[indices[k]]
    return total


def csr_row_add(rows, i, c, out):
    """out += c a_i."""
    indptr, indices, data = rows
    for k in range(indptr[i], indptr[i + 1]):
        out[indices[k]] += c * data[k]


def csr_row_size(rows, i):
    """The stored numbers of row i."""
    return rows[0][i + 1] - rows[0][i]


def csr_row_ends(rows, i):
    """Have memory fetch where row i lies."""
    prefetch(rows[0], i)


def csr_row_start(rows, i):
    """Have memory fetch the first numbers of row i, and their columns."""
    first = rows[0][i]
    prefetch(rows[1], first)
    prefetch(rows[2], first)
    prefetch(rows[2], first + 8)


def dense_row_dot(rows, i, x):
    """a_i . x."""
    A = rows[0]
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * x[j]
    return total


def dense_row_add(rows, i, c, out):
    """out += c a_i."""
    A = rows[0]
    for j in range(A.shape[1]):
        out[j] += c * A[i, j]


def dense_row_size(rows, i):
    """The numbers of a row."""
    return rows[0].shape[1]


def dense_row_ends(rows, i):
    """Nothing: rows lie where their numbers say."""


def dense_row_start(rows, i):
    """Nothing: rows are long, and memory is ahead of loops over them."""


def rows_of(operator: Operator) -> tuple[Any, ...]:
    """The matrix by rows, as the kernels here take it."""
    storage = operator.storage
    if isinstance(storage, Sparse):
        return tuple(storage.rows)
    return (storage.by_rows,)


def row_kernels(operator: Operator) -> dict[str, Function]:
    """The kernels that `row_dot`, `row_add` and `row_size` stand for, by these names."""
    if isinstance(operator.storage, Sparse):
        return {"row_dot": csr_row_dot, "row_add": csr_row_add, "row_size": csr_row_size}
    return {"row_dot": dense_row_dot, "row_add": dense_row_add, "row_size": dense_row_size}


def ahead_kernels(operator: Operator) -> dict[str, Function]:
    """Kernels `row_ends` and `row_start` for loops that know which rows come next: the second is called some rows after the first."""
    sparse = isinstance(operator.storage, Sparse)
    ends, start = (csr_row_ends, csr_row_start) if sparse else (dense_row_ends, dense_row_start)
    prefetch = prefetch_function()
    return {"row_ends": kernel(ends, prefetch=prefetch), "row_start": kernel(start, prefetch=prefetch)}
