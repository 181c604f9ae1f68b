"""The linear systems of an interior-point step:

    P dv + A'dz = p,    A dv - W'W dz = r

Small ones are factored whole (Bunch, Kaufman 1977), large ones as sparse matrices with their diagonals moved away from zero. Either is refined
against the equations as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dsytrf, dsytrs
from scipy.sparse import block_array, coo_array, csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cones import Scaling
from fwdsl.backends.interior.program import Batch

SHIFT = 1e-11
"""By how much diagonals are moved away from zero, beside entries of about one."""

DENSE = 500
"""Unknowns and rows up to which a system is factored whole."""

REFINEMENTS = 5


class Solve(Protocol):
    """A factored system, which solves it nearly."""

    def __call__(self, right: Array) -> Array: ...


def factored(P: csr_array, A: csr_array) -> Callable[[Array | csc_array], Solve]:
    """What factors the system for a W'W (a diagonal as a vector, or a matrix) of these P and A."""
    return _Dense(P.toarray(), A.toarray()) if sum(A.shape) <= DENSE else _Sparse(P, A)


class _Dense:
    def __init__(self, P: Array, A: Array) -> None:
        n = P.shape[0]
        self.matrix = np.zeros((n + A.shape[0],) * 2, order="F")
        self.matrix[:n, :n] = P
        self.matrix[n:, :n] = A
        self.matrix[np.arange(n), np.arange(n)] += SHIFT
        self.rows = np.arange(n, n + A.shape[0])

    def __call__(self, square: Array | csc_array) -> Solve:
        matrix, rows = self.matrix.copy(order="F"), self.rows
        if isinstance(square, np.ndarray):
            matrix[rows, rows] -= square
        else:
            matrix[rows[0] :, rows[0] :] -= square.toarray()
        matrix[rows, rows] -= SHIFT
        lu, pivots, failed = dsytrf(matrix, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the system is singular")

        def solve(right: Array) -> Array:
            found, _ = dsytrs(lu, pivots, right, lower=1)
            return np.asarray(found)

        return solve


class _Sparse:
    def __init__(self, P: csr_array, A: csr_array) -> None:
        n = P.shape[0]
        self.fixed = block_array([[P + SHIFT * diags_array(np.ones(n)), A.T], [A, None]], format="csc")
        self.columns = n

    def __call__(self, square: Array | csc_array) -> Solve:
        lower = diags_array(square) if isinstance(square, np.ndarray) else square
        size = lower.shape[0]
        lower = coo_array(lower + SHIFT * diags_array(np.ones(size)))
        more = csc_array((-lower.data, (lower.row + self.columns, lower.col + self.columns)), self.fixed.shape)
        matrix = csc_array(self.fixed + more)
        try:
            options = {"SymmetricMode": True, "Equil": False}
            lu = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise np.linalg.LinAlgError("the system is singular") from error
        return lu.solve  # type: ignore[no-any-return]


class System:
    """The system at one scaling, solved to rounding."""

    def __init__(
        self,
        P: csr_array,
        A: csr_array,
        factor: Callable[[Array | csc_array], Solve],
        batches: Sequence[Batch],
        scalings: Sequence[Scaling | None],
    ) -> None:
        self.P, self.A, self.batches, self.scalings = P, A, batches, scalings
        self.solve = factor(_square(batches, scalings, A.shape[0]))

    def squared(self, z: Array) -> Array:
        """W'W z."""
        out = np.zeros(z.size)
        for batch, scaling in zip(self.batches, self.scalings, strict=True):
            if scaling is not None:
                out[batch.start : batch.stop] = scaling.wt(scaling.w(z[batch.start : batch.stop]))
        return out

    def __call__(self, p: Array, r: Array) -> tuple[Array, Array]:
        """dv and dz."""
        n = p.size
        right = np.concatenate([p, r])
        found, best, least = np.zeros(right.size), np.zeros(right.size), np.inf
        rest = right
        for _ in range(REFINEMENTS + 1):
            found = found + self.solve(rest)
            v, z = found[:n], found[n:]
            rest = np.concatenate([p - (self.P @ v + self.A.T @ z), r - (self.A @ v - self.squared(z))])
            size = float(np.abs(rest).max(initial=0.0))
            if not size < 0.5 * least:
                break
            best, least = found, size
            if size <= 1e-15 * float(np.abs(right).max(initial=0.0)):
                break
        return best[:n], best[n:]


def _square(batches: Sequence[Batch], scalings: Sequence[Scaling | None], rows: int) -> Array | csc_array:
    """W'W: a vector where it is a diagonal."""
    diagonal = np.zeros(rows)
    row, column, value = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
    for batch, scaling in zip(batches, scalings, strict=True):
        if scaling is None:
            continue
        square = scaling.square()
        if square.ndim == 1:
            diagonal[batch.start : batch.stop] = square
            continue
        heads = batch.start + batch.rows * np.arange(batch.number)
        places = heads[:, None] + np.arange(batch.rows)
        row.append(np.repeat(places, batch.rows, axis=1).reshape(-1))
        column.append(np.tile(places, (1, batch.rows)).reshape(-1))
        value.append(square.reshape(-1))
    if len(row) == 1:
        return diagonal
    at = np.arange(rows)
    parts = [np.concatenate([a, *b]) for a, b in ((at, row), (at, column))]
    return csc_array((np.concatenate([diagonal, *value]), (parts[0], parts[1])), (rows, rows))
