r"""DSPDC on one vector variable: coordinates of x and of y, and K = c U V by rows of U and columns of V.

Data that are given as a product stay one (Algorithm 2): u = U'y and v = V x are vectors of the inner size. Algorithm 1 on a plain matrix A is the
same with V = I (A'y is kept, worth it where n/m >= p/q) or U = I (A x is kept).

Source: Yu, Lin, Yang 2015, Algorithm 1 and Algorithm 2, (20) to (25).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.baselines.samples import linked
from fwdsl.backends.dspdc.loops import (
    coordinate_steps,
    csr_add,
    csr_sync,
    dense_add,
    dense_dot,
    dense_sync,
    pick,
    unit_add,
    unit_dot,
    unit_size,
    unit_sync,
)
from fwdsl.backends.dspdc.state import DSPDCState
from fwdsl.backends.dspdc.steps import POWERS, SAFETY, Sampler, StepSizes, block_scale
from fwdsl.backends.finite_sum import draws
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.rows import csr_row_dot, csr_row_size, dense_row_size
from fwdsl.backends.kernels.storage import Sparse
from fwdsl.backends.maps import KernelMatrix
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.combined_maps import Compose, Scaled
from fwdsl.canon.data_maps import Matrix, is_written
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.light_dataclass import light_dataclass

WORK = 200_000
"""Numbers that a step touches at least, a fraction of a millisecond."""

LEAST_SHARE = 0.125
"""The least share of a full gradient's work in a step: the driver looks at every step, and gives up where 200 show nothing new."""

MOST_GRADIENTS = 64
"""Full gradients that a step works as much as at most."""

MOST_DRAWS = 1_000_000
"""Random numbers of a step at most."""

LARGEST_GRAM = 4096
"""The inner size of a product up to which the lengths of its rows are had from V V'."""


@light_dataclass
class SideMatrix:
    """A matrix by rows for the loop, with the kernels of its layout; `matrix` serves products of some rows.

    The rows are those of the `source`, its columns where `by_columns`, or those of the identity where it is None.
    """

    rows: tuple[Any, ...]
    kernels: tuple[Function, Function, Function, Function]
    source: KernelMatrix | None
    by_columns: bool
    matrix: MatrixLike
    average: float

    @property
    def operator(self) -> Operator | None:
        return None if self.source is None else self.source.operator

    def whole(self, x: Array) -> Array:
        """All rows times x: half a pass over a product."""
        if self.source is None:
            return x.copy()
        return self.source.adjoint(x) if self.by_columns else self.source.apply(x)

    def whole_adjoint(self, y: Array) -> Array:
        """The sum of all rows times y."""
        if self.source is None:
            return y.copy()
        return self.source.apply(y) if self.by_columns else self.source.adjoint(y)

    def named(self, side: str) -> dict[str, Function]:
        """The kernels by the names that the loop calls them by; sums along dense rows are vectorised."""
        names = (f"{side}_dot", f"{side}_add", f"{side}_size", f"{side}_sync")
        vectorised = (kernel(f, reorder=True) if f is dense_dot else f for f in self.kernels)
        return dict(zip(names, vectorised, strict=True))

    def apply(self, index: Any, x: Array) -> Array:
        return x[index] if self.matrix is None else np.asarray(self.matrix[index] @ x, dtype=np.float64)

    def adjoint(self, index: Any, y: Array, size: int) -> Array:
        """The sum of the rows at `index` times y, of that size."""
        if self.matrix is None:
            out = np.zeros(size)
            out[index] = y
            return out
        return np.asarray(self.matrix[index].T @ y, dtype=np.float64)


_CSR = (csr_row_dot, csr_add, csr_row_size, csr_sync)
_DENSE = (dense_dot, dense_add, dense_row_size, dense_sync)
_UNIT = (unit_dot, unit_add, unit_size, unit_sync)


def _unit() -> SideMatrix:
    return SideMatrix((np.zeros(0),), _UNIT, None, False, None, 0.0)


def _side(m: KernelMatrix, by_columns: bool) -> SideMatrix:
    """The rows of a matrix or of its transpose; dense ones are copied where they do not lie in order."""
    import scipy.sparse as sp

    operator, flipped = m.operator, m.transposed != by_columns
    size = operator.shape[1] if flipped else operator.shape[0]
    average = operator.nnz / max(1, size)
    if isinstance(operator.storage, Sparse):
        part = operator.storage.by_columns if flipped else operator.storage.rows
        shape = operator.shape[::-1] if flipped else operator.shape
        indptr, indices = (np.asarray(v).astype(np.int64) for v in (part.indptr, part.indices))
        matrix = sp.csr_array((part.data, indices, indptr), shape=shape)
        return SideMatrix(tuple(part), _CSR, m, by_columns, matrix, average)
    store = operator.storage.store
    dense = store if operator.storage.transposed == flipped else np.ascontiguousarray(store.T)
    return SideMatrix((dense,), _DENSE, m, by_columns, dense, average)


def factors(m: LinearMap) -> tuple[float, list[LinearMap]] | None:
    """(c, [A] or [U, V]) where a map is c A or c U V for matrices of data; None where it is another."""
    if isinstance(m, Scaled):
        inner = factors(m.inner)
        return None if inner is None else (m.c * inner[0], inner[1])
    if isinstance(m, Compose):
        left, right = factors(m.outer), factors(m.inner)
        if left is None or right is None or len(left[1]) + len(right[1]) > 2:
            return None
        return left[0] * right[0], [*left[1], *right[1]]
    plain = isinstance(m, Matrix) and is_written(m.A)
    return (1.0, [m]) if plain or isinstance(m, KernelMatrix) else None


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why a bound problem of one vector is no such product, or its g no sum over coordinates."""
    (block,) = canonical.blocks
    found = []
    if block.g.entries() is None:
        found.append(
            f"{block.text} on {block.name} is no sum over coordinates, and so they cannot be updated one by one"
        )
    parts = canonical.terms[0].map.parts
    if len(parts) != 1 or factors(parts[0][1]) is None:
        found.append(
            "its predictions are not the rows of one matrix of data, or of a product of two, times the variable"
        )
    if not isinstance(canonical.terms[0].f, LossFunction):
        found.append("its loss ties the predictions together")
    return tuple(found)


class CoordinateSampling:
    """The problem by coordinates, for samples of m of n and q of p."""

    def __init__(self, problem: PreparedProblem, m: int | None, q: int | None) -> None:
        self.problem = problem
        (term,) = problem.terms
        ((_, map_),) = term.map.parts
        found = factors(map_)
        (f,), (g,) = problem.functions, problem.g
        assert found is not None and isinstance(f, FastLoss)
        self.c, matrices = found
        self.offset = term.map.offset
        self.f = f.f
        self.n, self.p = term.map.rows, problem.size
        self.mu = g.f.curvature
        self.m, self.q = batches(m, q, self.n, self.p)
        parts = g.f.entries()
        assert parts is not None
        self.entries = parts
        self.bounds = tuple(
            np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype=np.float64), self.p)) for v in (parts.lo, parts.hi)
        )
        self.left, self.right, self.inner = self._sides(matrices)

    def _sides(self, matrices: list[Any]) -> tuple[SideMatrix, SideMatrix, int]:
        if len(matrices) == 2:
            return _side(matrices[0], False), _side(matrices[1], True), int(matrices[1].rows)
        if self.n / self.m >= self.p / self.q:
            return _side(matrices[0], False), _unit(), self.p
        return _unit(), _side(matrices[0], True), self.n

    # --- Lambda -----------------------------------------------------------------------------------------------------

    def largest_row(self) -> float:
        """max_i |K_i|^2, at most: of a product of a large inner size, |U_i|^2 |V|^2 is taken."""
        left, right = self.left.matrix, self.right.matrix
        if left is None:
            rows = _squares(right, 0)
        elif right is None:
            rows = _squares(left, 1)
        elif self.inner <= LARGEST_GRAM:
            gram = right.T @ right
            image = left @ np.asarray(gram.toarray() if hasattr(gram, "toarray") else gram, dtype=np.float64)
            rows = left.multiply(image).sum(axis=1) if hasattr(left, "multiply") else np.einsum("ij,ij->i", left, image)
        else:
            side = Sampler(self.right.whole, self.right.whole_adjoint, self.inner)
            rows = _squares(left, 1) * SAFETY * block_scale(side, 0, self.problem.look)
        self._count(1.0)
        return self.c**2 * float(np.max(np.asarray(rows), initial=0.0))

    def sampler(self, index: Any, columns: Any) -> Sampler:
        """The block of K at these rows and columns by its products."""

        def apply(x: Array) -> Array:
            return self.c * self.left.apply(index, self.right.adjoint(columns, x, self.inner))

        def adjoint(y: Array) -> Array:
            return self.c * self.right.apply(columns, self.left.adjoint(index, y, self.inner))

        self._count(POWERS * (index.size / self.n + columns.size / self.p))
        return Sampler(apply, adjoint, columns.size)

    def _count(self, passes: float) -> None:
        for operator in {
            id(s.operator): s.operator for s in (self.left, self.right) if s.operator is not None
        }.values():
            operator.counter.touched += round(passes * operator.nnz)

    # --- iterations -------------------------------------------------------------------------------------------------

    def start(self, s: DSPDCState) -> None:
        """u, v and bar of x and y: a pass."""
        s.u, s.v = self.left.whole_adjoint(s.y), self.right.whole_adjoint(s.x)
        s.bar = s.v.copy()

    def objective(self, s: DSPDCState) -> float:
        z = self.c * self.left.whole(s.v)
        z += self.offset
        return self.problem.objective(s.x, [z])

    def response(self, s: DSPDCState) -> Array:
        return np.asarray(self.c * self.right.whole(s.u))

    def decompositions(self) -> int:
        """0: a bound needs no decomposition."""
        return 0

    def iterations(self) -> int:
        touched = 2.0 * (self.m * self.left.average + self.q * self.right.average)
        full = max(1.0, 2.0 * (self.n * self.left.average + self.p * self.right.average))
        work = touched + 8.0 * (self.m + self.q)
        count = min(max(WORK / work, LEAST_SHARE * full / max(1.0, touched)), MOST_GRADIENTS * full / max(1.0, touched))
        return max(1, min(math.ceil(count), MOST_DRAWS // (self.m + self.q)))

    def step(self, s: DSPDCState, steps: StepSizes, seed: int) -> float:
        """Iterations of the method; full gradients that the same work would have been."""
        rng = draws(seed, s.iteration)
        count = self.iterations()
        row_draws = np.zeros((count, self.n)) if self.m == self.n else rng.random((count, self.m))
        column_draws = np.zeros((count, self.p)) if self.q == self.p else rng.random((count, self.q))
        f, e = self.f, self.entries
        loop = linked(coordinate_steps, {**self.left.named("left"), **self.right.named("right")}, f.loss, pick=pick)
        term = (self.c, self.offset, f.b, f.w, f.p)
        g = (self.problem.q, steps.tau * e.c, 1.0 + 2.0 * e.ridge * steps.tau, *self.bounds)
        # the paper's y is n times ours, and its sigma with it
        sizes = (steps.sigma / self.n**2, steps.tau, steps.theta)
        sides, point = (self.left.rows, self.right.rows), (s.x, s.y, s.u, s.v, s.bar)
        left, right = loop(sides, (row_draws, column_draws), term, g, sizes, point)
        total = 0
        for side, touched in ((self.left, left), (self.right, right)):
            if side.operator is not None:
                side.operator.counter.touched += touched
                total += side.operator.nnz
        # where nothing is stored, which touches nothing: the mean of the sweeps over rows and over columns
        return float(left + right) / (2 * total) if total else 0.5 * count * (self.m / self.n + self.q / self.p)


def _squares(A: MatrixLike, axis: int) -> Array:
    """The sums of squares of the rows (axis 1) or columns (axis 0)."""
    if hasattr(A, "power"):
        return np.asarray(A.power(2).sum(axis=axis), dtype=np.float64)
    return np.asarray(np.einsum("ij,ij->i" if axis == 1 else "ij,ij->j", A, A, dtype=np.float64))


def batches(m: int | None, q: int | None, n: int, p: int) -> tuple[int, int]:
    """m and q, each at most all of them; by default a hundredth of the rows and half of the columns."""
    return min(n, m if m is not None else max(1, n // 100)), min(p, q if q is not None else max(1, math.ceil(p / 2)))
