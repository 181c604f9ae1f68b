"""The columns of X -> A X with a loss of rows, whose Hessian ties the classes together.

Coordinate j k + c, the entry X_jc, moves column c of the predictions along column j of A. With the Hessian diag(h_i) - b_i b_i' of sample i, the
Gram matrix of a working set W is

    G = -B'B + blockdiag over the classes c of A_c' diag(h_c) A_c,   B = (A_ij b_ic) for the entries (j, c) of W,

A_c being the columns of W's entries of class c. It is formed anew for each model, and models are solved on it: there are no epochs over columns.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.coordinate.coordinates import Indices
from fwdsl.backends.coordinate.parts import COPIED_NUMBERS, factor_and_matrix
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.matrix_maps import LeftMultiply

LIFT = 1e-6
"""The share of A_c' diag(h_c) A_c's diagonal that is added to that of G in single precision."""

LEAST, CANCELLED = 1e-30, 1e-3
"""Below this, an entry of that diagonal may be made of numbers too small for single precision; the share that B'B leaves of it below which single
precision knows nothing of what is left, as of samples that are told apart for sure."""

BLOCK_NUMBERS, LEAST_ROWS = 1 << 17, 256
"""Numbers of B that are formed at a time, and rows at least, below which products are slow."""


class ClassColumns:
    """The same as `Columns` offers, for coordinates of a matrix one by one. There are no other maps beside that of the data."""

    tasks = 1
    #: Models in a step while coordinates are missing: each has a Gram matrix of its own, and soon another set.
    growing_models = 2
    extra_at: Indices = np.zeros(0, dtype=np.intp)

    def __init__(self, problem: PreparedProblem) -> None:
        (term,) = problem.terms
        ((_, m),) = term.map.parts
        found = factor_and_matrix(m)
        assert found is not None and isinstance(found[1], LeftMultiply) and isinstance(term.f, VectorLossFunction)
        self.problem, self.factor, self.A, self.k = problem, found[0], found[1].A, found[1].k
        self.extra = np.zeros((0, problem.size))
        assert term.f.loss.split_hessian is not None
        self.split_hessian = term.f.loss.split_hessian
        (self.counted,) = problem.counted

    def dots(self, work: Indices, y: Array) -> Array:
        """K_j'y for the coordinates of a working set, by a product with all data."""
        return self.problem.adjoint([y])[work]

    def times(self, work: Indices, d: Array) -> Array:
        """K_W d."""
        whole = np.zeros(self.problem.size)
        whole[work] = d
        return self.problem.linear(whole)[0]

    def gram(self, work: Indices, h: Array, single: bool = False) -> Array:
        """The matrix G above; with `single` its products are taken in single precision where its numbers are within that,
        and its diagonal is a hair larger."""
        of, classes = np.divmod(work, self.k)
        h = h.reshape(-1, self.k)
        parts = [np.flatnonzero(classes == c) for c in range(self.k)]
        out, owns = np.zeros((work.size, work.size)), [np.zeros((part.size, part.size)) for part in parts]
        step = max(LEAST_ROWS, BLOCK_NUMBERS // max(1, work.size))
        kind: Any = np.float32 if single else np.float64
        # what is beyond single precision is seen below
        with serial_blas(), np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(h), step):
                self.problem.look()
                rows = slice(first, first + step)
                data = self._by_columns(rows).astype(kind, copy=False)
                diagonal, b = (np.ascontiguousarray(half.T, dtype=kind) for half in self.split_hessian(h[rows]))
                for c, part in enumerate(parts):
                    columns = data[of[part]]
                    owns[c] += (columns * diagonal[c]) @ columns.T
                both = data[of]
                both *= b[classes]
                out -= both @ both.T
            whole = np.empty(work.size)
            for part, own in zip(parts, owns, strict=True):
                out[np.ix_(part, part)] += own
                whole[part] = np.einsum("ii->i", own)
        if single:
            diagonal = np.einsum("ii->i", out)
            if not (np.all(np.isfinite(out)) and np.all(diagonal > CANCELLED * whole) and np.all(whole > LEAST)):
                return self.gram(work, h)
            # rounding may not bend a flat direction down
            diagonal += LIFT * whole
        self.counted.touched += self.counted.nnz
        return self.factor**2 * out

    def _by_columns(self, rows: slice) -> Array:
        """Some rows of A, column after column in double precision."""
        if self._copy is not None:
            return self._copy[:, rows]
        some = self.A[rows]
        return np.ascontiguousarray((some if isinstance(some, np.ndarray) else some.toarray()).T, dtype=np.float64)

    @cached_property
    def _copy(self) -> Array | None:
        """A copy of dense data, column after column, where that is no more than `Columns` copies."""
        few = isinstance(self.A, np.ndarray) and self.A.size <= COPIED_NUMBERS
        return np.ascontiguousarray(self.A.T, dtype=np.float64) if few else None
