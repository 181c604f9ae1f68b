r"""The space of Algorithm 2 of Lei et al. 2019 (section 4.4): a matrix X in a trace-norm ball, predictions A X, of which rows are the samples.

The block step projects the s largest singular triplets of V,

    min over |X|_* <= r, rank X <= s of  h(X) = (L eta / 2) |X - V|_F^2:   X = P diag(projection of sigma on the l1 ball) Q',

and takes them from warm subspace iterations until X is (1/2, eps / 8)-approximate (Definition 4.2; Allen-Zhu, Hazan, Hu, Li 2017): with
l(U) = h(U) - h(X_now), l* = min l,

    l(X) <= l* / 2 + eps / 8.

That is proved where eps / 4 - l(X) is at least the Frank-Wolfe gap <G, X> + r sigma_1(G) of the sub-problem, G = L eta (X - V), as
l* >= l(X) - gap. The same gap bounds by how much R(Z) is overestimated, so the method's bound D takes it off. sigma_1 is Lanczos' estimate; the
verifier decomposes afresh.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends.lowrank.factors import project_decreasing
from fwdsl.backends.pdbfw.core import Projection, Rows
from fwdsl.backends.pdbfw.product import product_of
from fwdsl.backends.problem import PreparedProblem
from fwdsl.spectral.block import subspace_step
from fwdsl.spectral.operators import CountedOperator, DenseOperator
from fwdsl.spectral.top import top_singular

MARGIN = 4
"""Singular triplets kept beyond the rank of X, so that it may grow by the next step."""

ROUNDS = 12
"""Subspace iterations a projection may take; then it is decomposed."""

DENSE_SHARE = 0.25
"""The share of all triplets from which a full SVD costs less than iterations."""


class TraceSpace:
    """X in R^(d x c) with K X = c A X; see `core.Space`."""

    hindrance = 45.0

    def __init__(self, problem: PreparedProblem) -> None:
        (term,), (block,) = problem.terms, problem.canonical.blocks
        found = product_of(term.map.parts[0][1])
        assert found is not None, "requires_values() asks for a product"
        self.factor, product, self.counter = found
        A = product.A.T if product.transposed else product.A
        # float32 data are worked on in float64, as sums are
        self.A: MatrixLike = A if A.dtype == np.float64 else A.astype(np.float64)
        if not isinstance(self.A, np.ndarray):
            self.A = self.A.tocsr()
        self.transposed: Any = self.A.T if isinstance(self.A, np.ndarray) else self.A.T.tocsr()
        d, self.width = block.shape
        self.shape = (d, self.width)
        self.rows, self.parts = int(self.A.shape[0]), min(self.shape)
        self.radius = float(block.g.inner.inner.r)  # type: ignore[attr-defined]
        self.mu, self.q, self.offset = block.g.curvature, problem.q, term.map.offset
        self.look = problem.look
        self._last: tuple[Array, Array, Array] | None = None
        self._largest: float | None = None

    # --- the map --------------------------------------------------------------------------------------------------------

    def _count(self, share: float) -> None:
        """`share` of a product of A with a matrix of c columns."""
        if self.counter is not None:
            self.counter.touched += round(share * self.counter.nnz)

    def forward(self, x: Array) -> Array:
        """c A X + b0, by the factors of the last projection where X is it."""
        if self._last is not None and self._last[0] is x:
            _, left, right = self._last
            W = (self.A @ left) @ right.T
            self._count(min(1.0, left.shape[1] / max(1, self.width)))
        else:
            W = self.A @ x.reshape(self.shape)
            self._count(1.0)
        return np.asarray(self.factor * W).reshape(-1) + self.offset

    def adjoint(self, y: Array) -> Array:
        self._count(1.0)
        return np.asarray(self.factor * (self.transposed @ y.reshape(-1, self.width))).reshape(-1)

    def adjoint_rows(self, y: Array, rows: Rows) -> Array:
        """c A'Y for Y that is zero outside `rows`."""
        if self.is_heavy(rows):
            return self.adjoint(y)
        self._count(rows.size / max(1, self.rows))
        part = self.A[rows].T @ y.reshape(-1, self.width)[rows]
        return np.asarray(self.factor * part).reshape(-1)

    def is_heavy(self, rows: Rows) -> bool:
        return 2 * rows.size > self.rows

    def balanced(self, cap: int) -> float:
        """k = n s (1 / c + 1 / d) (section 4.4)."""
        return self.rows * cap * sum(1.0 / max(1, side) for side in self.shape)

    def largest_square(self) -> float:
        """c^2 |A|_2^2, a bound for any k rows (Assumption 4.2)."""
        if self._largest is None:
            self._largest = 0.0
            if min(self.A.shape):
                self._largest = float(top_singular(self.A, 1, 1e-3, look=self.look).s.max(initial=0.0)) ** 2
        return self.factor**2 * self._largest

    # --- the block step -------------------------------------------------------------------------------------------------

    def project(self, v: Array, cap: int, warm: Array, near: Array, curvature: float, eps: float) -> Projection:
        """The top `cap` triplets, projected; (1/2, eps / 8)-approximate where the cap allows it."""
        V = v.reshape(self.shape)
        size = float(np.max(np.abs(V), initial=0.0))
        if size == 0.0 or not math.isfinite(size):
            return self._made(V, np.zeros((self.shape[0], 0)), np.zeros(0), np.zeros((self.shape[1], 0)), 0.0, warm)
        at_near = 0.5 * curvature * float(np.sum((near - v) ** 2))
        columns = (
            warm.reshape(self.shape[1], -1) if warm.size else self._random(min(self.parts, min(cap, 8) + MARGIN), 0)
        )
        op = CountedOperator(DenseOperator(V), self.look)
        for round_ in range(ROUNDS):
            if columns.shape[1] >= max(2 * MARGIN, DENSE_SHARE * self.parts):
                break
            P, sigma, Q = subspace_step(op, columns)
            kept = self._kept(sigma, cap)
            rank = kept.size
            columns = Q[:, : min(self.parts, max(rank, 1) + MARGIN)]
            if rank < min(cap, self.parts) and rank + 1 >= sigma.size:
                more = self._random(min(self.parts, 2 * Q.shape[1]) - Q.shape[1], round_ + 1)
                columns = np.hstack([Q, more * float(sigma.max(initial=0.0))])
                continue
            X, left = self._assembled(P[:, :rank], kept, Q[:, :rank])
            gap = self._gap(X, V, curvature, Q[:, : max(1, rank)])
            gain = at_near - 0.5 * curvature * float(np.sum((X - V) ** 2))
            if gap <= 0.25 * eps + max(gain, 0.0) or rank >= cap:
                return self._made(X, left, kept, Q[:, :rank], gap, columns)
        return self._decomposed(V, cap, curvature)

    def _decomposed(self, V: Array, cap: int, curvature: float) -> Projection:
        """The projection, by a full SVD."""
        P, sigma, Qt = np.linalg.svd(V, full_matrices=False)
        kept = self._kept(sigma, cap)
        rank = kept.size
        X, left = self._assembled(P[:, :rank], kept, Qt[:rank].T)
        keep = min(self.parts, max(rank, 1) + MARGIN)
        gap = 0.0 if rank < cap else self._gap(X, V, curvature, Qt[:1].T)
        return self._made(X, left, kept, Qt[:rank].T, gap, Qt[:keep].T)

    def _kept(self, sigma: Array, cap: int) -> Array:
        """The top `cap` values projected on the l1 ball, those that are left."""
        kept = project_decreasing(sigma[:cap], self.radius)
        return np.asarray(kept[kept > 1e-9 * kept.max(initial=0.0)])

    @staticmethod
    def _assembled(P: Array, kept: Array, Q: Array) -> tuple[Array, Array]:
        left = P * kept
        return left @ Q.T, left

    def _gap(self, X: Array, V: Array, curvature: float, warm: Array) -> float:
        """<G, X> + r sigma_1(G), G = curvature (X - V)."""
        G = curvature * (X - V)
        start = warm.sum(axis=1, keepdims=True)
        top = top_singular(G, 1, 1e-7, start, method="lanczos", max_products=120, look=self.look)
        return max(0.0, float(np.vdot(G, X)) + self.radius * float(top.s.max(initial=0.0)))

    def _made(self, X: Array, left: Array, kept: Array, Q: Array, gap: float, warm: Array) -> Projection:
        x = np.ascontiguousarray(X).reshape(-1)
        if not kept.size:
            x = np.zeros(x.size)
        self._last = x, left, Q
        return Projection(x, kept.size, gap, np.ascontiguousarray(warm).reshape(-1))

    def _random(self, count: int, seed: int) -> Array:
        return np.random.default_rng(seed).standard_normal((self.shape[1], count)) / math.sqrt(max(1, self.shape[1]))
