"""Sums over dense rows of data, block of rows by block of rows: what a Hessian of losses of several columns of predictions is asked for.

With Z = c A X + e 1 b' and K = [c A, e], a product P -> K' f'' K P makes the changes K P of the predictions, bends them by f'' and adds up what the
rows say; rows by rows all of that stays in cache, where the products one after the other write and read arrays of the size of Z several times.

Gram matrices of all columns at once, G_c = K' diag(w_c) K: with the products of the entries of each row i, q_i = (K_ij K_il) for j <= l, they are the
rows of W'Q, one product of matrices, in place of one for each column c with rows that are weighted for it.

The rows may be in memory, on a disk, or those of a worker: sums go by their leaves (`fwdsl.sums`), to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLoss
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import pair_products
from fwdsl.backends.kernels.pool import Pool
from fwdsl.bind.row_chunks import every_row
from fwdsl.light_dataclass import light_dataclass
from fwdsl.sums import Rows, pieces

BLOCK_NUMBERS, LEAST_ROWS = 1 << 16, 64
"""Numbers of a block of rows of A, of the changes and of what bends them, and rows at least, below which products are slow."""

Loss = type[VectorLoss] | None
"""A loss of rows; None of one of entries, whose f'' is a number each."""


@light_dataclass
class RowSums:
    """The sums over the rows A of these leaves; `look` is asked between blocks."""

    A: Any
    leaves: Sequence[Rows]
    pool: Pool
    look: Callable[[], Any]

    def bent(self, h: Array, V: Array, shift: Array | None, loss: Loss) -> Array:
        """U'[A, 1] of shape (k, d + 1) with U = f'' (A V + 1 shift'), h (n, k) being what the loss gave as its curvature."""
        k, d, bend = V.shape[1], V.shape[0], _bend(loss)
        step = max(LEAST_ROWS, BLOCK_NUMBERS // (d + 2 * k))

        def of_leaf(leaf: Rows) -> Array:
            (own,) = pieces([leaf], step)
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

        found = self.pool.sum(of_leaf, list(self.leaves))
        assert found is not None
        return np.asarray(found)

    def grams(self, h: Array, factor: float, level: float | None, loss: Loss) -> Array:
        """The triangles of K' diag(w_c) K with K = [factor A, level], for each column c of the weights of h (n, k)."""
        d = self.A.shape[1]
        q = d + (level is not None)
        compiled, pairs = kernel(pair_products), q * (q + 1) // 2
        step = max(LEAST_ROWS, BLOCK_NUMBERS // (d + 2 * h.shape[1]))

        def of_leaf(leaf: Rows) -> Array:
            total: Array | None = None
            own = [
                few for one in pieces([leaf], step)[0] for few in pieces([one], max(1, 2 * BLOCK_NUMBERS // pairs))[0]
            ]
            most = max(b - a for a, b in own)
            K, Q = np.full((most, q), 0.0 if level is None else level), np.empty((most, pairs))
            for at, some in self._rows(own):
                rows, of_pairs = K[: len(some)], Q[: len(some)]
                np.multiply(factor, some, out=rows[:, :d])
                compiled(rows, of_pairs)
                part = weights(h[at], loss).T @ of_pairs
                total = part if total is None else np.add(total, part, out=total)
            assert total is not None
            return total

        found = self.pool.sum(of_leaf, list(self.leaves))
        assert found is not None
        return np.asarray(found)

    def _rows(self, own: Sequence[Rows]) -> Iterator[tuple[slice, Array]]:
        """The places and the rows of each piece, in double precision."""
        for (a, b), some in zip(own, every_row(self.A, own), strict=True):
            self.look()
            yield slice(a, b), some


def weights(h: Array, loss: Loss) -> Array:
    """The weights of some samples in the blocks of all columns: the diagonal of f''."""
    if loss is None:
        return h
    assert loss.split_hessian is not None
    a, b = loss.split_hessian(h)
    return np.asarray(np.maximum(a - np.square(b), 0.0))


def _bend(loss: Loss) -> Callable[[Array, Array, Array], Any]:
    """(h, v, out) -> None: out = f'' v for some rows."""
    if loss is not None:
        return kernel(loss.bent_loop)
    return lambda h, v, out: np.multiply(h, v, out=out)
