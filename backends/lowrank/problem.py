"""A problem on factors made ready for its methods.

A number k before K X is taken into the variable: the methods solve for X' = k X, whose radius is |k| R, penalty m / |k| and ridge r / k^2.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.low_rank import LowRank
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.lowrank.completion import Completion
from fwdsl.backends.lowrank.data_map import DataProducts
from fwdsl.backends.lowrank.factors import balanced
from fwdsl.backends.lowrank.held import HeldObserved, in_hands
from fwdsl.backends.lowrank.observed import ObservedEntries
from fwdsl.backends.lowrank.smooth import Shifted, Smooth
from fwdsl.backends.lowrank.streamed import streamed
from fwdsl.backends.lowrank.trace_regression import RidgedSamples, TraceRegression
from fwdsl.bind.values import HeldEntries
from fwdsl.canon.data_matrix import DataMatrix
from fwdsl.canon.factored import EntryMap, Factored, ProductMap, StoredLoss


class FactoredProblem:
    """`data_map` is K, `f` the loss of its predictions with free intercepts minimised out, `radius`, `penalty` and `ridge` those of X' = k X.

    `tol` is the gap to aim at, relative to `scale(value)` unless `absolute`; `passes` are data passes so far: touches of every observed entry, or
    products of A with a dense X.
    """

    def __init__(self, form: Factored, threads: int, tol: float, absolute: bool = False, seed: int = 0) -> None:
        self.form, self.tol, self.absolute, self.seed = form, tol, absolute, seed
        self.pool = Pool(threads)
        size = abs(form.k)
        self.radius, self.penalty, self.ridge = size * form.radius, form.penalty / size, form.ridge / size**2
        self.data_map: ObservedEntries | HeldObserved | DataProducts
        self.f: Smooth
        free = form.intercept
        if isinstance(form.data, EntryMap):
            f, entries = form.by_rows, form.data.entries
            places, _ = entries.by_rows
            held = in_hands(entries, f, self.pool) if isinstance(entries, HeldEntries) else None
            if held is None and isinstance(f, StoredLoss):
                held = streamed(places, f, self.pool)
            self.data_map = ObservedEntries.of(places, self.pool) if held is None else held[0]
            if held is not None:
                self.f = Smooth.on(f, held[1])
            elif free is None:
                self.f = Smooth(form.plain_by_rows, self.pool, places.entry_leaves)
            else:
                self.f = Shifted(form.plain_by_rows, self.pool, free.columns, places.entry_leaves)
        else:
            self.data_map = DataProducts(DataMatrix(form.data.A), form.shape[1])
            self.f = Smooth(form.plain, self.pool) if free is None else Shifted(form.plain, self.pool, free.columns)

    def look(self) -> None:
        self.pool.look()

    @cached_property
    def core(self) -> Completion | TraceRegression:
        """The accelerated core of this problem: of products only for squares."""
        if not isinstance(self.data_map, DataProducts):
            return Completion(self.data_map, self.f, self.radius, self.penalty, ridge=self.ridge)
        return self._regression()

    def _regression(self) -> TraceRegression:
        """Weights go into the rows, an intercept into the mean of the rows, a ridge into rows of its own."""
        form, f = self.form, self.form.plain
        assert isinstance(form.data, ProductMap)
        A, B = form.data.A, f.b.reshape(-1, form.shape[1])
        w = f.w.reshape(B.shape)[:, 0]
        mean = None
        if form.intercept is not None:
            share = w / w.sum()
            mean, B = DataMatrix(A).rmatvec(share), B - share @ B
        equal = np.ptp(w) == 0.0
        scale, roots = (float(w[0]), None) if equal else (1.0, np.sqrt(w))
        samples: DataMatrix | RidgedSamples = DataMatrix(A, roots, mean)
        B = B if roots is None else B * roots[:, None]
        if self.ridge:
            samples = RidgedSamples(DataMatrix(A, roots, mean), math.sqrt(self.ridge / scale))
            B = np.vstack([B, np.zeros(form.shape)])
        return TraceRegression(samples, B, self.radius, scale, self.penalty, self.look)

    def aim(self, value: float) -> float:
        """The absolute gap to reach at an objective value (without the constant)."""
        if self.absolute:
            return self.tol
        return self.tol * max(abs(value + self.form.constant), 1e-6 * self.form.scale)

    def relative_aim(self, value: float) -> float:
        return self.aim(value) / max(abs(value), 1e-300)

    @property
    def passes(self) -> float:
        return float(self.data_map.touched)

    def passes_of(self, products: int) -> float:
        """Data passes of so many products of a gradient with a vector: of one that is written down they are but a share of A X."""
        if not isinstance(self.data_map, DataProducts):
            return float(products)
        return products * math.prod(self.form.shape) / max(1, self.form.data.nnz)

    @cached_property
    def reach(self) -> float:
        """A trace norm that no solution exceeds: the radius, or the bound by the penalty from the value at 0."""
        if self.penalty == 0.0:
            return self.radius
        return min(self.radius, max(0.0, self.f.value(self.data_map.zeros()) - self.f.infimum()) / self.penalty)

    def factors(self, x: LowRank) -> tuple[Array, Array]:
        return self.form.k * x.U, x.V

    def answer(self, P: Array, sigma: Array, Q: Array) -> LowRank:
        """X by balanced factors, from X' = P diag(sigma) Q' moved into the ball; directions of no size are left out."""
        keep = sigma > 1e-12 * sigma.max(initial=0.0)
        P, sigma, Q = P[:, keep], sigma[keep], Q[:, keep]
        total = float(sigma.sum())
        if total > 0.0:
            sigma = sigma * min(1.0, self.radius / total) / abs(self.form.k)
        W, n = balanced(P, sigma, Q), self.form.shape[0]
        return LowRank(np.ascontiguousarray(math.copysign(1.0, self.form.k) * W[:n]), np.ascontiguousarray(W[n:]))

    def close(self) -> None:
        self.pool.close()
