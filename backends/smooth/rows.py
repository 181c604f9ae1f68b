"""Products with the Hessian of one loss of Z = c A X + e 1 b' and with its blocks of columns, by blocks of dense rows (`row_sums`).

The rows are in memory, in files, or with workers, who are asked for the sums over theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.row_sums import Loss, RowSums
from fwdsl.backends.smooth.columns import Columns
from fwdsl.bind import row_chunks
from fwdsl.readers.held_rows import is_held
from fwdsl.sums import finish


class ByRows:
    """Dense rows of data, of which a loss's Hessian is asked for."""

    def __init__(self, problem: PreparedProblem, parts: Columns) -> None:
        self.problem, self.parts, self.k = problem, parts, parts.k
        self.A: Any = parts.A.A
        leaves = row_chunks.leaves_of(self.A) if parts.A.given is None else parts.A.given
        self.sums = RowSums(self.A, leaves, problem.pool, problem.look)
        (f,) = problem.functions
        self.loss: Loss = f.f.loss if isinstance(f, FastRows) else None
        (self.counted,) = problem.counted

    @staticmethod
    def of(problem: PreparedProblem, parts: Columns | None) -> ByRows | None:
        """The rows of a problem; None where its data are not dense rows, or its kernels are others."""
        # a device has kernels of its own
        own = all(type(f) in (FastLoss, FastRows) for f in problem.functions) and not problem.is_elsewhere
        return ByRows(problem, parts) if parts is not None and parts.has_rows and own else None

    def bent(self, h: Array, p: Array) -> Array:
        """H p without the ridges, h being what the loss gave as its curvature."""
        parts, k, d = self.parts, self.k, self.A.shape[1]
        V = np.ascontiguousarray(parts.factor * p[parts.of_matrix.slice].reshape(d, k))
        shift = None if parts.of_rows is None else parts.of_rows[1] * p[parts.of_rows[0].slice]
        found = self._summed("bent", h.reshape(-1, k), V, shift, self.loss)
        self.counted.touched += 2 * self.counted.nnz
        out = np.zeros(p.size)
        out[parts.of_matrix.slice] = (parts.factor * found[:, :d].T).reshape(-1)
        if parts.of_rows is not None:
            out[parts.of_rows[0].slice] = parts.of_rows[1] * found[:, d]
        return out

    def grams(self, h: Array) -> Array:
        """K' diag(w_c) K for each column c of the weights of h, of shape (columns, q, q)."""
        parts, q = self.parts, self.parts.order
        level = None if parts.of_rows is None else parts.of_rows[1]
        found = self._summed("grams", h.reshape(-1, self.k), parts.factor, level, self.loss)
        self.counted.touched += self.counted.nnz
        out = np.empty((len(found), q, q))
        at = np.triu_indices(q)
        out[:, at[0], at[1]] = found
        out[:, at[1], at[0]] = found
        return out

    def _summed(self, what: str, h: Array, *args: Any) -> Array:
        """The sum over all rows; where nobody can be asked any more, over those of the source."""
        self.problem.look()
        if is_held(self.A):
            nodes = self.A.hands.nodes("row_sums", (h,), (what, *args))
            if nodes is not None:
                return np.asarray(finish(nodes))
        with serial_blas():
            return np.asarray(getattr(self.sums, what)(h, *args))
