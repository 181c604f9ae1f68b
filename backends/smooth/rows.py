"""Products with the Hessian of one loss of Z = c A X + e 1 b' and with its blocks of columns, block of rows by block of rows.

H = K' f'' K with K = [c A, e]. A product P -> H P makes the changes K P of the predictions, bends them by f'' and adds up what the rows say; rows by
rows all of that stays in cache, where the products one after the other write and read arrays of the size of Z several times.

Grams of all columns at once, G_c = K' diag(w_c) K: with the products of the entries of each row i, q_i = (K_ij K_il) for j <= l, they are the rows of
W'Q, one product of matrices, in place of one for each column c with rows that are weighted for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import pair_products
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.smooth.columns import Columns
from fwdsl.bind import row_chunks
from fwdsl.sums import Rows, pieces

BLOCK_NUMBERS, LEAST_ROWS = 1 << 16, 64
"""Numbers of a block of rows of A, of the changes and of what bends them, and rows at least, below which products are slow."""


class ByRows:
    """Dense rows of data in memory, of which a loss's Hessian is asked for."""

    def __init__(self, problem: PreparedProblem, parts: Columns) -> None:
        self.problem, self.parts, self.k = problem, parts, parts.k
        self.A: NDArray[Any] = parts.A.A
        leaves = row_chunks.leaves_of(self.A) if parts.A.given is None else parts.A.given
        self.of_leaves = [(leaf, self._pieces(leaf)) for leaf in leaves]
        (self.f,) = problem.functions
        (self.counted,) = problem.counted

    @staticmethod
    def of(problem: PreparedProblem, parts: Columns | None) -> ByRows | None:
        """The rows of a problem; None where its data are not dense rows in memory, or its kernels are others."""
        # a device has kernels of its own
        own = all(type(f) in (FastLoss, FastRows) for f in problem.functions) and not problem.is_elsewhere
        return ByRows(problem, parts) if parts is not None and parts.has_rows and own else None

    def _pieces(self, leaf: Rows) -> list[Rows]:
        step = max(LEAST_ROWS, BLOCK_NUMBERS // (self.A.shape[1] + 2 * self.k))
        return pieces([leaf], step)[0]

    def _rows(self, own: list[Rows]) -> Iterator[tuple[slice, Array]]:
        """The places and the rows of each piece, in double precision."""
        for a, b in own:
            self.problem.look()
            yield slice(a, b), np.asarray(self.A[a:b], dtype=np.float64)

    def bent(self, h: Array, p: Array) -> Array:
        """H p without the ridges, h being what the loss gave as its curvature."""
        parts, k, d = self.parts, self.k, self.A.shape[1]
        V = np.ascontiguousarray(parts.factor * p[parts.of_matrix.slice].reshape(d, k))
        shift = None if parts.of_rows is None else parts.of_rows[1] * p[parts.of_rows[0].slice]
        h, bend = h.reshape(-1, k), self._bend()

        def of_leaf(leaf: tuple[Rows, list[Rows]]) -> Array:
            own = leaf[1]
            most = max(b - a for a, b in own)
            room, turned, part = np.empty((most, k)), np.empty((most, k)), np.empty((k, d))
            total = np.zeros((k, d + 1))
            for at, some in self._rows(own):
                z, u = room[: len(some)], turned[: len(some)]
                np.matmul(some, V, out=z)
                if shift is not None:
                    z += shift
                bend(h[at], z, u)
                total[:, :d] += np.matmul(u.T, some, out=part)
                if shift is not None:
                    total[:, d] += u.sum(axis=0)
            return total

        with serial_blas():
            found = self.problem.pool.sum(of_leaf, self.of_leaves)
        self.counted.touched += 2 * self.counted.nnz
        out = np.zeros(p.size)
        out[parts.of_matrix.slice] = (parts.factor * found[:, :d].T).reshape(-1)
        if parts.of_rows is not None:
            out[parts.of_rows[0].slice] = parts.of_rows[1] * found[:, d]
        return out

    def _bend(self) -> Callable[[Array, Array, Array], Any]:
        """(h, v, out) -> None: out = f'' v for some rows."""
        if isinstance(self.f, FastRows):
            return kernel(self.f.f.loss.bent_loop)
        return lambda h, v, out: np.multiply(h, v, out=out)

    def grams(self, h: Array, weights: Callable[[Array], Array]) -> Array:
        """K' diag(w_c) K for each column c of the weights that `weights` makes of some rows of h, of shape (columns, q, q)."""
        parts, q = self.parts, self.parts.order
        d, h = self.A.shape[1], h.reshape(-1, self.k)
        compiled, pairs = kernel(pair_products), q * (q + 1) // 2

        def of_leaf(leaf: tuple[Rows, list[Rows]]) -> Array:
            total: Array | None = None
            own = [piece for a, b in leaf[1] for piece in pieces([(a, b)], max(1, 2 * BLOCK_NUMBERS // pairs))[0]]
            most = max(b - a for a, b in own)
            K, Q = np.full((most, q), 0.0 if parts.of_rows is None else parts.of_rows[1]), np.empty((most, pairs))
            for at, some in self._rows(own):
                rows, of_pairs = K[: len(some)], Q[: len(some)]
                np.multiply(parts.factor, some, out=rows[:, :d])
                compiled(rows, of_pairs)
                part = weights(h[at]).T @ of_pairs
                total = part if total is None else np.add(total, part, out=total)
            assert total is not None
            return total

        with serial_blas():
            found = self.problem.pool.sum(of_leaf, self.of_leaves)
        self.counted.touched += self.counted.nnz
        out = np.empty((len(found), q, q))
        at = np.triu_indices(q)
        out[:, at[0], at[1]] = found
        out[:, at[1], at[0]] = found
        return out
