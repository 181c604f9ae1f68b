"""The space of Algorithm 1 of Lei et al. 2019 (section 4.2): a vector in a ball or simplex, the rows of one data matrix."""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.finite_sum import FiniteSum
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.pdbfw.block_step import BlockStep, used
from fwdsl.backends.pdbfw.core import Projection, Rows


class VectorSpace:
    """x in R^d with K = c A by rows of data; see `core.Space`."""

    width = 1
    hindrance = 25.0

    def __init__(self, view: FiniteSum) -> None:
        self.view = view
        self.block = BlockStep(without_ridge(view.g.f))
        self.rows, self.parts = view.n, self.block.parts
        self.mu, self.q, self.offset = view.mu, view.q, view.offset

    def forward(self, x: Array) -> Array:
        """K x + b0, by the columns of the support where that is cheaper."""
        support = np.flatnonzero(x)
        operator = self.view.operator
        w = operator.matvec_columns(x, support) if 2 * support.size < x.size else operator.matvec(x)
        w *= self.view.c
        w += self.offset
        return w

    def adjoint(self, y: Array) -> Array:
        return self.view.adjoint(y)

    def adjoint_rows(self, y: Array, rows: Rows) -> Array:
        """K'y for y that is zero outside `rows`."""
        z = self.view.operator.rmatvec_rows(y, rows)
        z *= self.view.c
        return z

    def is_heavy(self, rows: Rows) -> bool:
        """True if half the stored numbers take part, or more."""
        return 2 * self.view.operator.storage.cost_of_rows(rows) > self.view.operator.nnz

    def balanced(self, cap: int) -> float:
        """k = n s / d (section 4.2)."""
        return self.rows * cap / max(1, self.parts)

    def largest_square(self) -> float:
        return float(self.view.row_squares().max(initial=0.0))

    def project(self, v: Array, cap: int, warm: Array, near: Array, curvature: float, eps: float) -> Projection:
        """Exact, whatever `near` and `eps`."""
        x = self.block(v, cap)
        return Projection(x, used(self.block.set, x), 0.0, warm)
