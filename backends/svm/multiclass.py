r"""Support vector machines for several classes: the problem of the dual methods.

    minimise over W, and perhaps b:   mu/2 |W|^2 + <q, W> + nu/2 |b|^2 + sum_i C_i l(z_i; y_i),    z_i = c x_i W + t b + o_i

with l the loss of Crammer and Singer (`multiclass_hinge`) or of Weston and Watkins. One row a_i of k multipliers a sample, with sum 0:

    minimise  phi(a) = mu/2 |W(a)|^2 + nu/2 |b(a)|^2 - sum_i a_{i,y_i} + <o, a>,    W(a) = (c X'a - q) / mu,   b(a) = t a'1 / nu,
    over  Crammer-Singer: a_il <= 0 for l != y_i, a_{i,y_i} <= C_i;   Weston-Watkins: -C_i <= a_il <= 0 for l != y_i.

Its gradient is Q = z(a) - 1[l = y_i], and <a - s, Q> for the best vertex s of each row is the duality gap of a and W(a), as it stands.
The dual point of the canonical form is u = -a.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import VECTOR_LOSSES
from fwdsl.atoms.vector_loss import Codes, VectorLossFunction
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.rows import rows_of
from fwdsl.backends.kernels.storage import Sparse
from fwdsl.backends.maps import CountedMap
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.products import product_of
from fwdsl.backends.requirements import one_loss, ridges_alone, weighted_ridges
from fwdsl.backends.svm.loops import rows as kernels
from fwdsl.canon.arrange import Arrangement, SumPlan
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import Tile
from fwdsl.light_dataclass import light_dataclass

SPREAD = 4
"""Sparse data of which at least one number in so many is stored are kept dense too: their rows go through vector registers."""

LARGEST_SPREAD = 30_000_000
"""Numbers of such a copy."""


def reasons(arrangement: Arrangement) -> tuple[str, ...]:
    """The reasons why a problem is no such machine: one of the two losses, and every variable with a `sum_squares` and nothing else."""

    def is_taken(term: SumPlan) -> bool:
        return term.atom in VECTOR_LOSSES and VECTOR_LOSSES[term.atom].piecewise_linear

    losses = "`multiclass_hinge` or `weston_watkins` loss"
    return (*one_loss(arrangement, is_taken, losses), *ridges_alone(arrangement.blocks))


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """A weight of 0 on a `sum_squares`."""
    return tuple(weighted_ridges(canonical.blocks))


def row_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why the predictions are not the rows of one data matrix times one variable, an intercept for each class aside."""
    parts = canonical.terms[0].map.parts
    data = [p for p in parts if product_of(p[1]) is not None]
    tiles = [p for p in parts if _intercept(p[1])]
    if len(data) == 1 and len(data) + len(tiles) == len(parts) and len(tiles) <= 1:
        return ()
    return (
        "its predictions are not the rows of one data matrix times one variable, perhaps with an intercept for each class",
    )


def _intercept(m: LinearMap) -> float:
    """t of a map b -> ones t b', an intercept for each class; 0 for any other."""
    if isinstance(m, Scaled):
        return m.c * _intercept(m.inner)
    return 1.0 if isinstance(m, Tile) else 0.0


@light_dataclass
class MulticlassMachine:
    """The problem by samples; `curvature` is c^2 |x_i|^2 / mu + t^2 / nu, `weston` which loss it is.

    The loops know the intercepts as t b, whose ridge is nu / t^2 (`inverse_nu` is t^2 / nu, 0 without intercepts; `q_intercept` is q / t).
    `at` and `intercept_at` are the places of W (d x k, in C order) and b in the flat x.
    """

    f: VectorLossFunction
    rows: tuple[Any, ...]
    sparse: bool
    counted: CountedMap
    c: float
    mu: float
    inverse_nu: float
    offset: Array
    q: Array
    q_intercept: Array
    curvature: Array
    at: slice
    intercept_at: slice
    t: float
    size: int

    @staticmethod
    def of(problem: PreparedProblem) -> MulticlassMachine:
        """The machine of a problem that passed `reasons`, `value_reasons` and `row_reasons`; data by columns are copied by rows."""
        (term,) = problem.terms
        assert isinstance(term.f, VectorLossFunction)
        n, k = term.f.shape
        inverse_nu, intercept_at, q_intercept, t = 0.0, slice(0, 0), np.zeros(k), 1.0
        for block, m in term.map.parts:
            found = product_of(m)
            if found is None:
                t, intercept_at = _intercept(m), block.slice
                inverse_nu, q_intercept = t * t / block.g.curvature, problem.q[block.slice] / t
                continue
            (c, left, counted), mu, at = found, block.g.curvature, block.slice
        assert isinstance(counted, CountedMap)
        rows = _rows(left.A, problem)
        sparse = len(rows) == 3
        q = problem.q[at].reshape(-1, k)
        curvature = c * c * _squares(rows, sparse, n) / mu + inverse_nu
        return MulticlassMachine(
            term.f, rows, sparse, counted, c, mu, inverse_nu, term.map.offset.reshape(n, k), q, q_intercept, curvature,
            at, intercept_at, t, problem.size,
        )  # fmt: skip

    @property
    def y(self) -> Codes:
        return self.f.y

    @property
    def C(self) -> Array:
        return self.f.w

    @property
    def weston(self) -> bool:
        """True if the multipliers of a sample are in a box, as those of Weston and Watkins; else they are in a simplex."""
        return self.f.loss.boxed_dual

    @property
    def is_dense(self) -> bool:
        """True if rows are dense, and W is kept by columns."""
        return not self.sparse

    @property
    def n(self) -> int:
        return self.f.shape[0]

    @property
    def k(self) -> int:
        return self.f.k

    @property
    def row_kernels(self) -> dict[str, Function]:
        """The functions that loops call as `row_times` and `row_outer`: W is kept by rows for sparse data, by columns for dense ones."""
        if self.sparse:
            return {"row_times": kernels.csr_times, "row_some": kernels.csr_times_some, "row_outer": kernels.csr_outer}
        # sums in vector registers
        times, some = kernel(kernels.dense_times, reorder=True), kernel(kernels.dense_times_some, reorder=True)
        return {"row_times": times, "row_some": some, "row_outer": kernels.dense_outer}

    @property
    def mean_row(self) -> float:
        return self.counted.nnz / max(1, self.n)

    def weights(self, a: Array) -> tuple[Array, Array]:
        """W(a) as the kernels keep it, and t b(a)."""
        # most runs start from a = 0, which takes no product
        W = self.counted.adjoint(a.reshape(-1)).reshape(-1, self.k) if a.any() else np.zeros(self.q.shape)
        W *= self.c
        W -= self.q
        W /= self.mu
        b = (a.sum(axis=0) - self.q_intercept) * self.inverse_nu
        return (W if self.sparse else np.ascontiguousarray(W.T)), b

    def flat(self, W: Array, b: Array) -> Array:
        """The canonical x of such W and t b."""
        x = np.zeros(self.size)
        x[self.at] = (W if self.sparse else W.T).reshape(-1)
        if self.inverse_nu:
            x[self.intercept_at] = b / self.t
        return x

    def count(self, visits: float) -> None:
        """Count the data that visits of so many rows touched."""
        self.counted.touched += round(visits * self.mean_row)


def spread(A: Any) -> int:
    """Numbers of the dense copy that is made of sparse data with few zeros; 0 where none is."""
    size = int(A.shape[0]) * int(A.shape[1])
    return size if hasattr(A, "indptr") and size <= min(SPREAD * A.nnz, LARGEST_SPREAD) else 0


def _rows(A: Any, problem: PreparedProblem) -> tuple[Any, ...]:
    """A by rows, sparse (indptr, indices, data) or dense (A,) in C order."""
    if spread(A):
        return (np.ascontiguousarray(A.toarray()),)
    operator = Operator(A, problem.pool)
    rows = rows_of(operator)
    return rows if isinstance(operator.storage, Sparse) else (np.ascontiguousarray(rows[0]),)


def _squares(rows: tuple[Any, ...], sparse: bool, n: int) -> Array:
    if not sparse:
        return np.asarray(np.einsum("ij,ij->i", rows[0], rows[0], dtype=np.float64))
    indptr, _, data = rows
    at = np.repeat(np.arange(n), np.diff(indptr.astype(np.intp)))
    return np.asarray(np.bincount(at, np.square(data, dtype=np.float64), n))
