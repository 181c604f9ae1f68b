r"""Systems whose unknowns are mostly matrices that are positive semidefinite themselves, as in relaxations of graph problems.

A cone of matrices whose rows each see one unknown, a_j x_j, has in x the matrix of V -> H V H, H = (R R')^-1, whose inverse is
V -> R R' V R R'. With a multiple alpha of the identity beside it (a sum of squares) that is diagonal in the eigenvectors Q of H:

    V -> Q ((Q'V Q) / (lambda_i lambda_j + alpha)) Q'

So where all other rows are equations, few, or of one unknown that no cone of matrices has, the Schur complement of these few is factored, of order m
in place of n (n + 1) / 2. It is a Gram matrix, Y Y' with a row Y_j = (Q'L_j Q) / sqrt(lambda lambda' + alpha) for each of them.

Source: Alizadeh, Haeberly, Overton 1998, section 4, in the scaling of Nesterov and Todd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve, dense_gram
from fwdsl.backends.interior.cones import Scaling, Semidefinite, matrices, triangles
from fwdsl.backends.interior.program import ORDER, Batch
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[np.intp]

ALIKE = 1e-9
"""The relative difference of curvatures up to which they are a multiple of the identity."""

MOST = 20_000_000
"""Numbers that the rows of the complement may have in the cones."""


class _Cones(NamedTuple):
    """The cones of matrices of one batch, whose rows see one unknown each."""

    batch: int
    unknowns: Index  # of each row
    factor: Array  # the number of A there
    curvature: float  # alpha


class _Factored(NamedTuple):
    """The cones of a batch at a scaling: Q, and 1 / sqrt(lambda lambda' + alpha)."""

    cones: _Cones
    Q: Array
    share: Array


@light_dataclass
class MatrixUnknowns:
    """The cones, the few rows, and the unknowns that no cone has with the curvature of each."""

    A: csr_array
    At: csr_array
    batches: tuple[Batch, ...]
    cones: tuple[_Cones, ...]
    few: Index
    single: Index  # rows of one unknown outside the cones
    curvature: Array
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
        cones = []
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
            cones.append(_Cones(number, at.astype(np.intp), factor, float(bend.mean())))
        rows = np.concatenate([np.arange(k.start, k.stop) for k in batches if k.kind in ORDER[:2]] or [np.arange(0)])
        alone = (each[rows] == 1) & (rows >= equations)
        alone[alone] = ~taken[A.indices[A.indptr[rows[alone]]]]
        few, single = rows[~alone], rows[alone]
        settled = taken | (diagonal > 0.0)
        settled[A.indices[A.indptr[single]]] = True
        wide = sum(float(c.unknowns.size) for c in cones)
        if not settled.all() or few.size >= A.shape[1] or few.size * 2.0 * wide > MOST:
            return None
        return MatrixUnknowns(
            A, A.T.tocsr(), tuple(batches), tuple(cones), few, single, np.where(taken, 0.0, diagonal), equations
        )

    def solver(
        self, scalings: Sequence[Scaling | None], factored: Callable[[Array], Solve], look: Look
    ) -> tuple[Solve, Callable[[Array, Array], tuple[Array, Array]]]:
        """The solver of the system at a scaling, and the products with W^-T A. `factored` solves with a Gram matrix, which it may overwrite."""
        A, few, n = self.A, self.few, self.A.shape[1]

        def along(v: Array) -> Array:
            return self._each(scalings, A @ v, "inverse_t")

        def across(u: Array) -> Array:
            return np.asarray(self.At @ self._each(scalings, u, "inverse"))

        weights = self._each(scalings, np.ones(A.shape[0]), "inverse_t", cones=False)
        L = csr_array(A[few] * weights[few][:, None])
        own = self.curvature.copy()
        place = A.indices[A.indptr[self.single]]
        own += np.bincount(place, weights=(weights[self.single] * A.data[A.indptr[self.single]]) ** 2, minlength=n)
        blocks = [self._factored(c, scalings[c.batch]) for c in self.cones]
        for b in blocks:
            own[b.cones.unknowns] = 1.0
        share = 1.0 / own
        plain = share.copy()
        for b in blocks:
            plain[b.cones.unknowns] = 0.0
        rows = [(L * np.sqrt(plain)).toarray()]
        for b in blocks:
            look()
            rows.append(_turned(b, L[:, b.cones.unknowns].toarray() / b.cones.factor))
        Y = np.concatenate(rows, axis=1)
        gram = np.asfortranarray(dense_gram(np.ascontiguousarray(Y.T), look))
        np.einsum("ii->i", gram)[few >= self.equations] += 1.0
        inner, Lt = factored(gram), L.T.tocsr()

        def inverse(v: Array) -> Array:
            out = plain * v
            for b in blocks:
                at, factor = b.cones.unknowns, b.cones.factor
                out[at] = _back(b, _turned(b, (v[at] / factor)[None])) / factor
            return out

        def solve(right: Array) -> Array:
            r = right[n:].copy()
            own_r = r[few]
            r[few] = 0.0
            p = right[:n] + across(r)
            y = inner(L @ inverse(p) - own_r)
            v = inverse(p - Lt @ y)
            u = along(v) - r
            u[few] = y
            return np.concatenate([v, u])

        return solve, lambda v, u: (along(v), across(u))

    def _each(self, scalings: Sequence[Scaling | None], rows: Array, name: str, cones: bool = True) -> Array:
        """A map of the scalings of all rows, perhaps but for those of cones of matrices."""
        out = rows.copy()
        for batch, scaling in zip(self.batches, scalings, strict=True):
            if scaling is not None and (cones or batch.kind in ORDER[:2]):
                at = slice(batch.start, batch.stop)
                out[at] = getattr(scaling, name)(rows[at])
        return out

    @staticmethod
    def _factored(cones: _Cones, scaling: Scaling | None) -> _Factored:
        assert isinstance(scaling, Semidefinite)
        if cones.curvature == 0.0:
            return _Factored(cones, scaling.R, np.ones((scaling.count, scaling.order, scaling.order)))
        _, roots, right = np.linalg.svd(scaling.back)
        values = roots**2
        share = 1.0 / np.sqrt(values[:, :, None] * values[:, None, :] + cones.curvature)
        return _Factored(cones, right.transpose(0, 2, 1), share)


def _turned(b: _Factored, rows: Array) -> Array:
    """(Q'V Q) times the shares, of each row, which has the entries V of all cones of the batch one after the other."""
    count, order = b.Q.shape[:2]
    V = matrices(rows.reshape(-1), rows.shape[0] * count, order).reshape(-1, count, order, order)
    found = (b.Q.transpose(0, 2, 1) @ V @ b.Q) * b.share
    return triangles(found).reshape(rows.shape[0], -1)


def _back(b: _Factored, row: Array) -> Array:
    """Q (V times the shares) Q' of one row."""
    count, order = b.Q.shape[:2]
    found = b.Q @ (matrices(row.reshape(-1), count, order) * b.share) @ b.Q.transpose(0, 2, 1)
    return triangles(found).reshape(-1)
