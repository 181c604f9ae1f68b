r"""A linear machine in the notation of its dual methods.

    min over x in R^d and perhaps b   f(c A x + o + d b 1) + <q, x> + q_b b + mu/2 |x|^2 + mu_b/2 b^2,     mu > 0, mu_b >= 0

    min over v   |c A'v - q|^2 / (2 mu) + (d sum(v) - q_b)^2 / (2 mu_b) + sum_j h_j(v_j),       x = (c A'v - q) / mu, b likewise

with h_j of `backends.signed_dual`. Where mu_b is 0 the second square is the equality d sum(v) = q_b.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends.dcd.rows import DenseRows, RowsOf, SparseRows, chosen
from fwdsl.backends.finite_sum import FiniteSum, matrix_by_rows
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import csr_scatter
from fwdsl.backends.kernels.storage import Sparse, readonly
from fwdsl.backends.maps import KernelMatrix
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.signed_dual import SignedDual, best_shift
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.parts import Block


def reasons(arrangement: Arrangement) -> tuple[str, ...]:
    """The reasons why a program is no such machine, from names alone."""
    found = []
    if len(arrangement.sums) != 1 or arrangement.sums[0].kind != "loss":
        found.append("it takes one loss over samples, and nothing else in the sum")
    for term in arrangement.sums:
        if term.kind == "loss" and (term.atom not in LOSSES or LOSSES[term.atom].dual_kink is None):
            found.append(f"`{term.text}` has no dual that is a quadratic on an interval")
    vectors = [b for b in arrangement.blocks if not b.type.is_scalar]
    numbers = [b for b in arrangement.blocks if b.type.is_scalar]
    if len(vectors) != 1 or not vectors[0].type.is_vector:
        found.append("it takes one vector of coefficients")
    if len(numbers) > 1:
        found.append(f"it takes one intercept, and the program has {', '.join(b.name for b in numbers)}")
    for block in arrangement.blocks:
        if block.set is not None or block.norm is not None:
            found.append(f"{block.name} has {block.norm or block.set}, and it takes neither norm nor set")
    found += [f"it needs a `sum_squares({b.name})`" for b in vectors if not b.ridges]
    return tuple(found)


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why a bound program is no such machine: other maps than a matrix of data by rows and a constant column, a ridge of weight 0."""
    (term,) = canonical.terms if len(canonical.terms) == 1 else (None,)
    if term is None:
        return ("its loss has the weight 0",)
    found = []
    for block, m in term.map.parts:
        if block.shape:
            if matrix_by_rows(m) is None:
                found.append("its predictions are not the rows of one data matrix times the variable")
            if not block.g.curvature > 0.0:
                found.append(f"the weight of `sum_squares({block.name})` is 0")
        elif block.g.curvature == 0.0 and not _reaches(canonical, block, m):
            found.append(f"no multipliers balance the linear term of {block.name}: the objective has no minimum")
        elif not m.rows or np.ptp(m.apply(np.ones(1))) != 0.0 or not m.apply(np.ones(1))[0]:
            found.append(f"{block.name} is not added to all predictions alike")
    if not any(block.shape for block, _ in term.map.parts) or len(term.map.parts) != len(canonical.blocks):
        found.append("a variable does not enter the loss")
    return tuple(found)


def _reaches(canonical: Canonical, block: Block, m: LinearMap) -> bool:
    """True if slopes of the loss can meet the equality of an intercept."""
    (term,) = canonical.terms
    d = m.apply(np.ones(1))
    if not d.size or not d[0] or not isinstance(term.f, LossFunction):
        return True
    lo, hi = term.f.dual_bounds()
    return float(lo.sum()) <= -float(canonical.q[block.start]) / float(d[0]) <= float(hi.sum())


class LinearMachine:
    """The machine above on kernels."""

    def __init__(self, problem: PreparedProblem) -> None:
        self.problem = problem
        (term,) = problem.terms
        (f,) = problem.functions
        assert isinstance(f, FastLoss)
        self.loss, self.constant = f, problem.canonical.constant
        self.place, self.d, self.mu_b, self.q_b = -1, 0.0, 0.0, 0.0
        for (block, m), g in zip(
            term.map.parts, (problem.g[problem.canonical.blocks.index(b)] for b, _ in term.map.parts), strict=True
        ):
            if block.shape:
                found = matrix_by_rows(m)
                assert found is not None and isinstance(found[1], KernelMatrix)
                q = problem.q[block.slice]
                self.sum = FiniteSum(found[1].operator, found[0], term.map.offset, f, g, block, q)
            else:
                self.place, self.d = block.start, float(m.apply(np.ones(1))[0])
                self.mu_b, self.q_b = g.f.curvature, float(problem.q[block.start])
        self.mu, self.q, self.slice = self.sum.mu, self.sum.q, self.sum.block.slice
        self.dual = SignedDual.of(f.f, term.map.offset)
        self.squares = self.sum.row_squares()

    @property
    def n(self) -> int:
        return self.sum.n

    @property
    def width(self) -> int:
        """The unknowns, the intercept among them."""
        return self.sum.d + (self.place >= 0)

    @property
    def is_balanced(self) -> bool:
        """True if there is an intercept that nothing penalises, which asks for an equality."""
        return self.place >= 0 and self.mu_b == 0.0

    @property
    def total(self) -> float:
        """The sum of the entries of v where there is an equality."""
        return self.q_b / self.d

    def feasible(self, v: Array) -> Array:
        """v in the box, and on the equality: the side that weighs too much is scaled down as far as the box lets it."""
        dual = self.dual
        v = np.clip(v, dual.lo, dual.hi)
        if not self.is_balanced:
            return v
        over = float(v.sum()) - self.total
        heavy = v > 0.0 if over > 0.0 else v < 0.0
        weight = float(np.abs(v[heavy]).sum())
        if weight > abs(over):
            v = np.clip(np.where(heavy, v * (1.0 - abs(over) / weight), v), dual.lo, dual.hi)
        return dual.on_equality(v, self.total)

    def adjoint(self, v: Array) -> Array:
        """c A'v. Sparse data are gone through by rows, so that nobody has to transpose them for a few such products."""
        operator = self.sum.operator
        storage: Any = operator.storage
        if not isinstance(storage, Sparse):
            return self.sum.adjoint(v)
        out, live = np.zeros(operator.shape[1]), np.flatnonzero(v)
        kernel(csr_scatter)(*storage.rows, readonly(live), readonly(v), out)
        operator.counter.touched += storage.cost_of_rows(live)
        operator.counter.rmatvecs += 1
        out *= self.sum.c
        return out

    def primal(self, v: Array) -> tuple[Array, float]:
        """x and the intercept that belong to v: one pass. Where there is an equality the intercept is another's to find, and 0 here."""
        x = (self.adjoint(v) - self.q) / self.mu
        b = (self.d * float(v.sum()) - self.q_b) / self.mu_b if self.mu_b > 0.0 else 0.0
        return x, b

    def joined(self, x: Array, b: float) -> Array:
        """The flat point of the canonical form."""
        out = np.empty(self.problem.size)
        out[self.slice] = x
        if self.place >= 0:
            out[self.place] = b
        return out

    def bound(self, v: Array, x: Array, b: float) -> float:
        """D at v, which x and b belong to."""
        size = 0.5 * self.mu * float(x @ x) + (0.5 * self.mu_b * b * b if self.mu_b > 0.0 else 0.0)
        return self.constant - size - self.dual.value(v)

    def value(self, x: Array, b: float) -> tuple[float, float, Array]:
        """(P, b, z) at x: one pass. An intercept that nothing penalises is the best one, which is looked for around b."""
        z = self.sum.forward(x)
        if self.is_balanced:
            guess = self.d * b
            width = 1e-3 * max(abs(guess), float(np.abs(self.dual.t).max(initial=0.0)))
            b = best_shift(self.loss, z, self.total, guess, width) / self.d
        z += self.d * b
        size = 0.5 * self.mu * float(x @ x) + 0.5 * self.mu_b * b * b
        return self.constant + size + float(self.q @ x) + self.q_b * b + self.loss.value(z), b, z

    def shares(self, v: Array, z: Array) -> Array:
        """The share of each sample in P - D: f_j(z_j) + f_j*(-v_j) + z_j v_j, which is at least 0."""
        f, dual = self.loss.f, self.dual
        own = f.w * f.loss.value_naive(z, f.b, f.p) + v * (0.5 * dual.s * v - f.b) + dual.e * np.abs(v) + z * v
        return np.asarray(np.maximum(own, 0.0))

    def rows(self, at: NDArray[np.intp]) -> RowsOf:
        """c a_j for some samples, and d in a last column where there is an intercept."""
        storage: Any = self.sum.operator.storage
        c, d = self.sum.c, self.sum.d
        if not isinstance(storage, Sparse):
            A = storage.store.T if storage.transposed else storage.store
            Z = np.full((at.size, self.width), self.d)
            Z[:, :d] = A[at]
            Z[:, :d] *= c
            return DenseRows(Z)
        rows = storage.rows
        indptr, places = chosen(rows.indptr, at)
        indices, data = rows.indices[places].astype(np.int64), c * rows.data[places].astype(np.float64)
        if self.place >= 0:
            ends = indptr[1:]
            indices, data = np.insert(indices, ends, d), np.insert(data, ends, self.d)
            indptr = indptr + np.arange(indptr.size)
        return SparseRows(indptr, indices, data, self.width).best()
