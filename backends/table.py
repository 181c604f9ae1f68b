"""The one table through which methods reach their kernels: matrices, losses, and functions with proxes.

A method knows a `PreparedProblem`. That asks the table in use for these, and for nothing else that is compiled:

* `storage(A, leaves)`: a matrix, with the products of `fwdsl.backends.kernels.storage`: `matvec`, `rmatvec`, those of some columns and rows, `gram`;
* `product(m)`: the same matrix times matrices, `X -> A X`;
* `loss(term, pool)`: a loss with `value`, `value_gradient`, `curvature`, `bent`, `conjugate`, `prox` and `dot` of predictions;
* `vector(f)`: a norm, a set or a pair with `value`, `prox` and `conjugate`.

The table of this module has the kernels of numba. Another one (for an accelerator, or another array library) is a subclass that gives its own objects
for what it can do, and leaves the rest: `with use(MyTable()): problem.solve()`. `fwdsl.backends.devices` has that of CUDA. Vectors that cross it
are NumPy's. Whatever a table computes, the
verifier does not trust it: a certificate is recomputed from the data by the references.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from fwdsl.atoms.base import MatrixLike, VectorFunction
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.epigraphs import on_kernels
from fwdsl.backends.functions import FastLoss, FastRows, FastVector
from fwdsl.backends.kernels.operators import storage_of
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.kernels.storage import Dense, Sparse
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.canon.parts import SumTerm
from fwdsl.sums import Rows


class Table:
    """The kernels of numba."""

    def storage(self, A: MatrixLike, leaves: tuple[Rows, ...] | None) -> Dense | Sparse:
        """A matrix with its products; `leaves` are those of its rows where it is a part of the data."""
        return storage_of(A, leaves)

    def product(self, m: LeftMultiply) -> LeftMultiply:
        """The map X -> A X of a matrix of data: as it is, or one that keeps A elsewhere."""
        return m

    def loss(self, term: SumTerm, pool: Pool) -> FastLoss | FastRows:
        """The loss of a term, whose sums are taken over the leaves of its predictions."""
        if isinstance(term.f, VectorLossFunction):
            return FastRows(term.f, pool, term.map.leaves)
        assert isinstance(term.f, LossFunction)
        return FastLoss(term.f, pool, term.map.leaves)

    def vector(self, f: VectorFunction) -> FastVector:
        """A norm, a set or a pair."""
        return FastVector(on_kernels(f))

    def function(self, term: SumTerm, pool: Pool) -> FastLoss | FastRows | FastVector:
        """The function of a term."""
        return self.vector(on_kernels(term.f)) if isinstance(term.f, VectorFunction) else self.loss(term, pool)


NUMBA = Table()
"""The table that is in use unless another one is."""

_IN_USE: ContextVar[Any] = ContextVar("fwdsl kernels", default=NUMBA)


def in_use() -> Table:
    """The table that problems are prepared by."""
    found: Table = _IN_USE.get()
    return found


@contextlib.contextmanager
def use(table: Table) -> Iterator[None]:
    """A context in which problems are prepared by another table."""
    token = _IN_USE.set(table)
    try:
        yield
    finally:
        _IN_USE.reset(token)
