"""The linear systems of an interior-point step:

    P dv + A'dz = p,    A dv - W'W dz = r

Small ones are factored whole (Bunch, Kaufman 1977). Larger ones leave out the rows of cones with W, dz = (W'W)^-1 (A dv - r), and are factored as
a dense matrix, or as a sparse one where that is cheaper. Diagonals are moved away from zero, and each answer is refined against the equations as
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dsytrf, dsytrs
from scipy.sparse import block_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cones import Scaling
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.sizes import DENSE, order_of_system

SHIFT = 1e-11
"""By how much diagonals are moved away from zero, beside entries of about one."""

REFINEMENTS = 5


class Square(NamedTuple):
    """W'W: its diagonal, and the blocks of cones that are no products of intervals, each with its first row."""

    diagonal: Array
    blocks: tuple[tuple[int, Array], ...]


Solve = Callable[[Array], Array]


class Factor(Protocol):
    """Factors the system for a W'W, which gives what solves it nearly: the right-hand sides p and r in a row."""

    def __call__(self, square: Square) -> Solve: ...


def factored(P: csr_array, A: csr_array, equations: int) -> Factor:
    """The way of factoring that suits P and A; the first rows are `equations`, of which W is 0."""
    order = order_of_system(A.shape[1], A.shape[0], equations, A.nnz + P.nnz)
    if order == 0 or order > DENSE:
        return _Sparse(P, A, equations)
    if order == sum(A.shape):
        return _Whole(P.toarray(), A.toarray())
    return _Condensed(P.toarray(), A.toarray(), equations)


class _Whole:
    def __init__(self, P: Array, A: Array) -> None:
        n = P.shape[0]
        self.matrix = np.zeros((n + A.shape[0],) * 2, order="F")
        self.matrix[:n, :n] = P
        self.matrix[n:, :n] = A
        self.matrix[np.arange(n), np.arange(n)] += SHIFT
        self.rows = np.arange(n, n + A.shape[0])

    def __call__(self, square: Square) -> Solve:
        matrix, rows = self.matrix.copy(order="F"), self.rows
        matrix[rows, rows] -= square.diagonal + SHIFT
        for start, blocks in square.blocks:
            for at, block in enumerate(blocks):
                own = slice(rows[start] + at * len(block), rows[start] + (at + 1) * len(block))
                matrix[own, own] -= block
        return _indefinite(matrix)


def _indefinite(matrix: Array) -> Solve:
    """The solver of a symmetric system, which overwrites the matrix."""
    lu, pivots, failed = dsytrf(matrix, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the system is singular")

    def solve(right: Array) -> Array:
        return np.asarray(dsytrs(lu, pivots, right, lower=1)[0])

    return solve


class _Condensed:
    def __init__(self, P: Array, A: Array, equations: int) -> None:
        self.P, self.equal, self.A = P, A[:equations], A[equations:]

    def __call__(self, square: Square) -> Solve:
        n, k = self.P.shape[0], len(self.equal)
        weighted = _divided(square, k, self.A)
        matrix = np.zeros((n + k,) * 2, order="F")
        matrix[:n, :n] = self.P + self.A.T @ weighted
        diagonal = np.arange(n)
        matrix[diagonal, diagonal] += SHIFT + 1e-15 * matrix[diagonal, diagonal]
        if k:
            matrix[n:, :n] = self.equal
            matrix[n + np.arange(k), n + np.arange(k)] = -SHIFT
        inner = _indefinite(matrix) if k else _definite(matrix)

        def solve(right: Array) -> Array:
            p, r = right[:n], right[n + k :]
            found = inner(np.concatenate([p + weighted.T @ r, right[n : n + k]]))
            return np.concatenate([found, _divided(square, k, self.A @ found[:n] - r)])

        return solve


def _definite(matrix: Array) -> Solve:
    lower, failed = dpotrf(matrix, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the system is singular")

    def solve(right: Array) -> Array:
        return np.asarray(dpotrs(lower, right, lower=1)[0])

    return solve


def _divided(square: Square, first: int, rows: Array) -> Array:
    """(W'W)^-1 times the rows after the first."""
    one = square.diagonal[first:]
    out = rows / np.where(one > 0.0, one, 1.0).reshape((-1,) + (1,) * (rows.ndim - 1))
    for start, blocks in square.blocks:
        own = slice(start - first, start - first + blocks.shape[0] * blocks.shape[1])
        parts = rows[own].reshape((*blocks.shape[:2], -1))
        out[own] = np.linalg.solve(blocks, parts).reshape(rows[own].shape)
    return out


class _Sparse:
    def __init__(self, P: csr_array, A: csr_array, equations: int) -> None:
        self.P, self.equal, self.A = P, A[:equations], A[equations:]
        self.At = self.A.T.tocsr()

    def __call__(self, square: Square) -> Solve:
        n, k = self.P.shape[0], self.equal.shape[0]
        inverse = _inverse(square, k)
        matrix = self.P + self.At @ (inverse @ self.A)
        matrix = matrix + diags_array(SHIFT + 1e-15 * matrix.diagonal())
        if k:
            matrix = block_array([[matrix, self.equal.T], [self.equal, -SHIFT * eye_array(k)]])
        try:
            options = {"SymmetricMode": True, "Equil": False}
            lu = splu(csc_array(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise np.linalg.LinAlgError("the system is singular") from error

        def solve(right: Array) -> Array:
            p, r = right[:n], right[n + k :]
            found = lu.solve(np.concatenate([p + self.At @ (inverse @ r), right[n : n + k]]))
            return np.concatenate([found, inverse @ (self.A @ found[:n] - r)])

        return solve


def _inverse(square: Square, first: int) -> csr_array:
    """(W'W)^-1 of the rows after the first."""
    one = square.diagonal[first:]
    plain = np.flatnonzero(one > 0.0)
    row, column = [plain], [plain]
    value: list[Array] = [1.0 / one[plain]]
    for start, blocks in square.blocks:
        count, order = blocks.shape[:2]
        places = start - first + order * np.arange(count)[:, None] + np.arange(order)
        row.append(np.repeat(places, order, axis=1).reshape(-1))
        column.append(np.tile(places, (1, order)).reshape(-1))
        value.append(np.asarray(np.linalg.inv(blocks), dtype=np.float64).reshape(-1))
    at = np.concatenate(row), np.concatenate(column)
    return csr_array((np.concatenate(value), at), (one.size, one.size))


class System:
    """The system at one scaling, solved to rounding."""

    def __init__(
        self, P: csr_array, A: csr_array, factor: Factor, batches: Sequence[Batch], scalings: Sequence[Scaling | None]
    ) -> None:
        self.P, self.A, self.At, self.batches, self.scalings = P, A, A.T.tocsr(), batches, scalings
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
            rest = np.concatenate([p - (self.P @ v + self.At @ z), r - (self.A @ v - self.squared(z))])
            size = float(np.abs(rest).max(initial=0.0))
            if not size < 0.5 * least:
                break
            best, least = found, size
            if size <= 1e-15 * float(np.abs(right).max(initial=0.0)):
                break
        return best[:n], best[n:]


def _square(batches: Sequence[Batch], scalings: Sequence[Scaling | None], rows: int) -> Square:
    """W'W of all batches."""
    diagonal, blocks = np.zeros(rows), []
    for batch, scaling in zip(batches, scalings, strict=True):
        if scaling is None:
            continue
        square = scaling.square()
        if square.ndim == 1:
            diagonal[batch.start : batch.stop] = square
        else:
            blocks.append((batch.start, square))
    return Square(diagonal, tuple(blocks))
