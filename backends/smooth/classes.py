"""A preconditioner for losses of a matrix of predictions Z = c A X + e 1 b', with k columns: the Hessian's blocks of the columns, factored.

Of a loss of rows the Hessian of sample i is diag(a_i) - b_i b_i', and the block of column c of (X, b), with K = [c A, e 1],

    M_c = K'diag(a_ic - b_ic^2) K + R.

Gradients of losses of rows sum to zero over the columns. So where all columns move together, V = v 1'/k, the Hessian is R alone, which no block
knows of. With P the projection that takes the mean over the columns away, and r = P r + m 1',

    s = P M^-1 P r + R^-1 m 1'

is definite and exact where the columns move together. Without P conjugate gradients take several times as many products, as M is far too large there.
Of losses of entries the columns have nothing to do with each other, and M^-1 is the inverse of the Hessian.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.factors import Cholesky
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.problem import PreparedProblem, operator_of
from fwdsl.backends.row_sums import weights
from fwdsl.backends.smooth.columns import Columns
from fwdsl.backends.smooth.rows import ByRows
from fwdsl.backends.smooth.systems import Metric


class ClassBlocks:
    """The blocks M_c of a problem."""

    def __init__(self, problem: PreparedProblem, parts: Columns, ridge: Array, rows: ByRows | None = None) -> None:
        self.problem, self.parts, self.rows = problem, parts, rows
        self.slices = [parts.of_matrix.slice] + ([parts.of_rows[0].slice] if parts.of_rows is not None else [])
        # one ridge a block: it is the same in all columns
        self.ridge = self._stacked(ridge)[:, 0]
        self.operator = operator_of(parts.A.A, problem.pool, problem.canonical.instance)
        (self.counted,) = problem.counted
        f = problem.canonical.terms[0].f
        self.loss = f.loss if isinstance(f, VectorLossFunction) else None

    def count(self, h: Array) -> int:
        """The blocks that differ: one where samples bend all columns alike, as they do at 0."""
        h = h.reshape(-1, self.parts.k)
        # most often the first samples tell
        alike = all(np.array_equal(some, np.broadcast_to(some[:, :1], some.shape)) for some in (h[:16], h))
        return 1 if alike else self.parts.k

    def weights(self, h: Array) -> Array:
        """The weights of the samples in the blocks that differ, (n, `count`)."""
        some = self._weights(h.reshape(-1, self.parts.k))
        return some[:, : self.count(h)]

    def _weights(self, h: Array) -> Array:
        """The weights of some samples in the blocks of all columns."""
        return weights(h, self.loss)

    def metric(self, h: Array, otherwise: Array) -> Metric | None:
        """The preconditioner of such an f'', with the inverse diagonal `otherwise` where nothing bends; None where a block is not definite."""
        roots = self._roots(h)
        if roots is None:
            return None
        turned = roots.transpose(0, 2, 1)
        # where the columns move together and have no ridge, nothing bends
        together = np.divide(1.0, self.ridge, out=self._stacked(otherwise).mean(axis=1), where=self.ridge > 0.0)

        def apply(r: Array) -> Array:
            V = self._stacked(r)
            mean = V.mean(axis=1, keepdims=True) if self.loss is not None else 0.0
            V = V - mean
            if len(roots) == 1:
                s = turned[0] @ (roots[0] @ V)
            else:
                s = np.matmul(turned, np.matmul(roots, V.T[:, :, None]))[:, :, 0].T
            if self.loss is not None:
                s = s - s.mean(axis=1, keepdims=True) + together[:, None] * mean
            return self._flat(s)

        return apply

    def _roots(self, h: Array) -> Array | None:
        """T_c with T_c'T_c the inverse of M_c, for each of the blocks that differ."""
        roots = np.empty((self.count(h), self.parts.order, self.parts.order))
        with serial_blas():
            for c, M in enumerate(self._grams(h, len(roots))):
                self.problem.look()
                np.einsum("ii->i", M)[:] += self.ridge
                found = Cholesky.of(M)
                if found is None:
                    return None
                roots[c] = found.inverse_root()
        return roots

    def _grams(self, h: Array, count: int) -> Iterator[Array]:
        """K' diag(w_c) K for each of the `count` blocks that differ."""
        if self.rows is not None and self.parts.at_once and count > 1:
            yield from self.rows.grams(h)
            return
        parts, q = self.parts, self.parts.order
        d = parts.of_matrix.size // parts.k
        for w in np.ascontiguousarray(self._weights(h.reshape(-1, parts.k))[:, :count].T):
            M = np.empty((q, q))
            M[:d, :d] = parts.factor**2 * self.operator.gram(None, w)
            self.counted.touched += self.counted.nnz
            if parts.of_rows is not None:
                e = parts.of_rows[1]
                M[d, :d] = M[:d, d] = parts.factor * e * self.operator.rmatvec(w)
                M[d, d] = e**2 * float(w.sum())
            yield M

    def _stacked(self, x: Array) -> Array:
        """The columns of (X, b) beside each other."""
        found = [x[s].reshape(-1, self.parts.k) for s in self.slices]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _flat(self, V: Array) -> Array:
        """The flat vector of all unknowns."""
        out, d = np.empty(V.size), self.parts.of_matrix.size // self.parts.k
        out[self.slices[0]] = V[:d].reshape(-1)
        if len(self.slices) > 1:
            out[self.slices[1]] = V[d]
        return out
