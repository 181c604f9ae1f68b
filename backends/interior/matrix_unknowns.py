r"""Systems whose unknowns are mostly matrices that are positive semidefinite themselves, as in relaxations of graph problems.

A cone of matrices whose rows each see one unknown, a_j x_j, has in x the matrix of V -> H V H, H = (R R')^-1, whose inverse is
V -> R R' V R R'. With a multiple alpha of the identity beside it (a sum of squares) that is diagonal in the eigenvectors Q of H:

    V -> Q ((Q'V Q) / (lambda_i lambda_j + alpha)) Q'

So where all other rows are equations, few, or of one unknown that no cone of matrices has, the Schur complement of these few is factored, of order m
in place of n (n + 1) / 2. It is a Gram matrix, Y Y' with a row Y_j = (Q'L_j Q) / sqrt(lambda lambda' + alpha) for each of them.

Rows of few entries need no products of matrices. Without alpha the complement has <L_i, G L_j G>, G = R R', which is a product of numbers of G for
rows of one entry; with alpha, Y_j is a sum of outer products of rows of Q.

Sources: Alizadeh, Haeberly, Overton 1998, section 4, in the scaling of Nesterov and Todd; Fujisawa, Kojima, Nakata, "Exploiting sparsity in
primal-dual interior-point methods for semidefinite programming", 1997 (rows of few entries).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve, dense_gram
from fwdsl.backends.interior.cone_loops import INVERSE_T
from fwdsl.backends.interior.cones import Scaling, Scalings, Semidefinite, matrices, order_of, triangles, upper
from fwdsl.backends.interior.matrix_loops import add_pairs, add_turned
from fwdsl.backends.interior.program import ORDER, Batch, part_of
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.sparse_rows import Rows
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

ALIKE = 1e-9
"""The relative difference of curvatures up to which they are a multiple of the identity."""

MOST = 20_000_000
"""Numbers that the rows of the complement may have in the cones."""

OF_A_TERM, OF_A_PRODUCT, OF_A_PLACE = 1e-9, 2e-10, 5e-9
"""Seconds of a number of an outer product, of a multiplication of a product of matrices, and of a number of such a product."""


class _Entries(NamedTuple):
    """Entries value (e_p e_q' + e_q e_p') of rows in the cones of a batch: cone c has those from starts[c] to starts[c + 1], by rows."""

    starts: Index
    row: Index
    p: Index
    q: Index
    value: Array


class _Cones(NamedTuple):
    """The cones of matrices of one batch, whose rows see one unknown each, and what the few rows have there."""

    batch: int
    unknowns: Index  # of each row
    factor: Array  # the number of A there
    curvature: float  # alpha
    L: csr_array  # the few rows, divided by the factors
    entries: _Entries  # of rows of few entries
    wide: Index  # the other ones
    V: Array  # the numbers of these


class _Factored(NamedTuple):
    """The cones of a batch at a scaling: Q, and 1 / sqrt(lambda lambda' + alpha); without alpha R and 1."""

    cones: _Cones
    Q: Array
    share: Array | None

    def inverse(self, v: Array) -> Array:
        """V -> Q ((Q'V Q) / (lambda lambda' + alpha)) Q' of v."""
        turned = self._turned(v)
        if self.share is not None:
            turned *= self.share * self.share
        return self._back(turned).reshape(v.shape)

    def add_gram(self, gram: Array, look: Look) -> None:
        """Add what the cones have in the complement to the upper triangle of `gram`."""
        cones, entries, wide = self.cones, self.cones.entries, self.cones.wide
        turned = self._turned(cones.V) if wide.size else np.zeros(0)
        if self.share is not None:
            Y = np.zeros((gram.shape[0], cones.unknowns.size))
            kernel(add_turned, reorder=True)(*entries, self.Q, self.share, Y)
            if wide.size:
                Y[wide] = triangles(turned * self.share).reshape(wide.size, -1)
            gram += dense_gram(Y.T, look)
            return
        kernel(add_pairs)(*entries, self.Q @ self.Q.transpose(0, 2, 1), gram)
        if wide.size:
            Y = triangles(turned).reshape(wide.size, -1)
            found = cones.L @ self._back(turned).reshape(Y.shape).T
            # of two such rows products of these: sums over the entries of one would lose digits
            found[wide] = 0.0
            gram[:, wide] += found
            gram[wide] += found.T
            gram[np.ix_(wide, wide)] += dense_gram(Y.T, look)

    def _turned(self, rows: Array) -> Array:
        """Q'V Q of each row.

        What rounding makes of it is that of another V only while it is symmetric, and so G V G with G = Q Q' would lose digits.
        """
        turned: Array = self.Q.transpose(0, 2, 1) @ self._matrices(rows) @ self.Q
        turned += turned.swapaxes(2, 3)
        turned *= 0.5
        return turned

    def _back(self, turned: Array) -> Array:
        """The vectors of Q T Q'."""
        return triangles(self.Q @ turned @ self.Q.transpose(0, 2, 1))

    def _matrices(self, v: Array) -> Array:
        """The matrices of several v, each of all cones of the batch."""
        count, order = self.Q.shape[:2]
        times = v.size // self.cones.unknowns.size
        return matrices(v.reshape(-1), times * count, order).reshape(times, count, order, order)


@light_dataclass
class MatrixUnknowns:
    """The cones, the few rows, and the unknowns that no cone has with the curvature of each."""

    A: Rows
    At: Rows
    L: Rows
    Lt: Rows
    cones: tuple[_Cones, ...]
    few: Index
    single: Index  # rows of one unknown outside the cones
    place: Index  # their unknowns
    squares: Array  # of their numbers
    others: Index  # the unknowns outside the cones
    of_others: Array  # the few rows there
    curvature: Array  # of these
    equations: int

    @staticmethod
    def of(A: csr_array, P: Any, batches: Sequence[Batch], equations: int) -> MatrixUnknowns | None:
        """None where the system is of another kind."""
        kinds = {k.kind for k in batches}
        if "semidefinite" not in kinds or kinds - {*ORDER[:2], "semidefinite"}:
            return None
        diagonal = P.diagonal()
        if np.count_nonzero(P if isinstance(P, np.ndarray) else P.data) != np.count_nonzero(diagonal):
            return None
        each, taken = np.diff(A.indptr), np.zeros(A.shape[1], dtype=bool)
        found = []
        for number, batch in enumerate(batches):
            if batch.kind != "semidefinite":
                continue
            own = slice(batch.start, batch.stop)
            at = A.indices[A.indptr[batch.start] : A.indptr[batch.stop]]
            factor = A.data[A.indptr[batch.start] : A.indptr[batch.stop]]
            if (each[own] != 1).any() or taken[at].any() or np.unique(at).size < at.size or not factor.all():
                return None
            taken[at] = True
            bend = diagonal[at] / factor**2
            if float(np.ptp(bend)) > ALIKE * float(bend.max()):
                return None
            found.append((number, at.astype(np.intp), factor, float(bend.mean())))
        rows = np.concatenate([np.arange(k.start, k.stop) for k in batches if k.kind in ORDER[:2]] or [np.arange(0)])
        alone = (each[rows] == 1) & (rows >= equations)
        alone[alone] = ~taken[A.indices[A.indptr[rows[alone]]]]
        few, single = rows[~alone], rows[alone]
        settled = taken | (diagonal > 0.0)
        place, number = A.indices[A.indptr[single]], A.data[A.indptr[single]]
        settled[place] = True
        wide = sum(float(at.size) for _, at, _, _ in found)
        if not settled.all() or few.size >= A.shape[1] or few.size * 2.0 * wide > MOST:
            return None
        L, others = csr_array(A[few]), np.flatnonzero(~taken)
        return MatrixUnknowns(
            Rows(A), Rows(A.T.tocsr()), Rows(L), Rows(L.T.tocsr()),
            tuple(_cones_of(L, batches[number], number, *more) for number, *more in found),
            few, single, place, number**2, others, L[:, others].toarray(), diagonal[others], equations,
        )  # fmt: skip

    def solver(
        self, scalings: Scalings, factored: Callable[[Array], Solve], look: Look
    ) -> tuple[Solve, Callable[[Array, Array], tuple[Array, Array]]]:
        """The solver of the system at a scaling, and the products with W^-T A. `factored` solves with a Gram matrix, which it may overwrite."""
        few, n, others = self.few, self.A.shape[1], self.others
        weights = scalings.numbers.turn(INVERSE_T, np.ones(self.A.shape[0]))
        of_few, share = weights[few], np.zeros(0)
        blocks = [_factored(c, scalings[c.batch]) for c in self.cones]
        gram = np.zeros((few.size, few.size))
        if others.size:
            own = np.bincount(self.place, weights=weights[self.single] ** 2 * self.squares, minlength=n)[others]
            share = 1.0 / (own + self.curvature)
            gram += dense_gram(np.sqrt(share)[:, None] * self.of_others.T, look)
        for b in blocks:
            look()
            b.add_gram(gram, look)
        gram *= of_few
        gram *= of_few[:, None]
        np.einsum("ii->i", gram)[few >= self.equations] += 1.0
        # its upper triangle by rows is a lower one by columns
        inner = factored(gram.T)

        def along(v: Array) -> Array:
            return scalings.inverse_t(self.A @ v)

        def across(u: Array) -> Array:
            return self.At @ scalings.inverse(u)

        def inverse(v: Array) -> Array:
            out = np.empty(n)
            if others.size:
                out[others] = share * v[others]
            for b in blocks:
                at, factor = b.cones.unknowns, b.cones.factor
                out[at] = b.inverse(v[at] / factor) / factor
            return out

        def solve(right: Array) -> Array:
            r = right[n:].copy()
            own_r = r[few]
            r[few] = 0.0
            p = right[:n] + across(r)
            y = inner(of_few * (self.L @ inverse(p)) - own_r)
            v = inverse(p - self.Lt @ (of_few * y))
            u = along(v) - r
            u[few] = y
            return np.concatenate([v, u])

        return solve, lambda v, u: (along(v), across(u))


def _cones_of(L: csr_array, batch: Batch, number: int, unknowns: Index, factor: Array, curvature: float) -> _Cones:
    """The cones of a batch, with what the few rows L have there."""
    order = order_of(batch.rows)
    own = np.argsort(unknowns)
    back = np.empty_like(own)
    back[own] = np.arange(own.size)
    # the columns rise, so they are looked up in one pass
    L = part_of(L, np.arange(L.shape[0]), unknowns[own])
    L = csr_array((L.data / factor[own][L.indices], own[L.indices], L.indptr), L.shape)
    each = np.diff(L.indptr)
    wide = _wide(each, order, bends=curvature > 0.0)
    narrow = np.ones(each.size, dtype=bool)
    narrow[wide] = False
    kept = np.flatnonzero(np.repeat(narrow, each))
    row, at, value = np.repeat(np.arange(each.size), each)[kept], L.indices[kept].astype(np.intp), L.data[kept]
    cone, within = np.divmod(at, batch.rows)
    by_cone = np.argsort(cone, kind="stable")
    starts = np.searchsorted(cone[by_cone], np.arange(batch.number + 1))
    i, j, weight = upper(order)
    entries = _Entries(
        starts, row[by_cone], i[within][by_cone], j[within][by_cone], (0.5 * value * weight[within])[by_cone]
    )
    return _Cones(number, unknowns, factor, curvature, L, entries, wide, L[wide].toarray())


def _wide(each: Index, order: int, bends: bool) -> Index:
    """The rows, of so many entries each, that products of matrices are for.

    Those of a row see differences of its entries, which are lost among sums of pairs.
    """
    if not bends:
        return np.flatnonzero(each > 1)
    return np.flatnonzero(0.5 * OF_A_TERM * each > 2.0 * OF_A_PRODUCT * order + OF_A_PLACE)


def _factored(cones: _Cones, scaling: Scaling | None) -> _Factored:
    assert isinstance(scaling, Semidefinite)
    if cones.curvature == 0.0:
        return _Factored(cones, scaling.R, None)
    _, roots, right = np.linalg.svd(scaling.back)
    values = roots**2
    share = 1.0 / np.sqrt(values[:, :, None] * values[:, None, :] + cones.curvature)
    return _Factored(cones, np.ascontiguousarray(right.transpose(0, 2, 1)), share)
