r"""DSPDC on several variables or families (Yu, Lin, Yang 2015, section 5, updates (28) and (29)).

Each block of x has its own prox, and each y_i is a number.

One of the two products is kept (section 4.1): S = K'y where n/m >= p/q, so that an iteration costs m rows of all links, else K x, so that it costs
q blocks of all rows. In both the prox of q blocks is taken, an eigendecomposition each for positive semidefinite matrices.
"""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.dspdc.links import Link, LinkPart, largest_row, links_of, places_of
from fwdsl.backends.dspdc.state import DSPDCState
from fwdsl.backends.dspdc.steps import POWERS, Index, Sampler, StepSizes
from fwdsl.backends.finite_sum import draws
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.form import Canonical

WORK = 2e6
"""Operations that a step takes at least, about a millisecond."""

LEAST_SHARE = 0.125
"""The least share of a sweep over the blocks in a step: the driver looks at every step, and gives up where 200 show nothing new."""

EIGEN = 25.0
"""Operations of an eigendecomposition over the cube of its size."""


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why the predictions of a bound problem are no sum of links."""
    found = []
    for block, m in canonical.terms[0].map.parts:
        if links_of(block, m) is None:
            found.append(
                f"the predictions see {block.name} through `{m.describe(block.name)}`: it takes sums of "
                "`inner(D, X)`, `quad(U, X)`, both also of `F[task]`, and of `A @ x`"
            )
    return tuple(found)


class BlockSampling:
    """The problem by blocks, for samples of m of n and q of p."""

    def __init__(self, problem: PreparedProblem, m: int | None, q: int | None) -> None:
        self.problem = problem
        (term,), (f,) = problem.canonical.terms, problem.functions
        assert isinstance(f, FastLoss)
        self.f = f.f
        self.offset = term.map.offset
        self.links: list[Link] = []
        for block, map_ in term.map.parts:
            self.links += links_of(block, map_) or []
        self.places = places_of(problem.canonical)
        self.n, self.p = term.map.rows, len(self.places)
        self.mu = min((p.g.curvature for p in self.places), default=1.0)
        self.m, self.q = batches(m, q, self.n, self.p)
        self.by_rows = self.n / self.m >= self.p / self.q
        self.nnz = max(1, sum(link.nnz for link in self.links))
        self.columns: list[list[LinkPart]] = [] if self.by_rows else self._columns(range(self.p))

    def _columns(self, chosen: range | Index) -> list[list[LinkPart]]:
        """The parts that depend on each chosen block."""
        parts = [part for link in self.links for part in link.all_rows()]
        found = []
        for j in chosen:
            a, b = self.places[j].start, self.places[j].stop
            found.append([part.narrowed(a, b) for part in parts if part.start <= a and b <= part.stop])
        return found

    # --- Lambda -----------------------------------------------------------------------------------------------------

    def largest_row(self) -> float:
        self._count(1.0)
        return largest_row(self.links, self.n)

    def sampler(self, index: Index, columns: Index) -> Sampler:
        """The block of K at these samples and blocks by its products."""
        places = [self.places[j] for j in columns]
        found = (link.block(place.start, place.stop, index) for place in places for link in self.links)
        parts = [part for part in found if part is not None]
        self._count(2.0 * POWERS * index.size * columns.size / (self.n * self.p))
        size = self.problem.size

        def spread(x: Array) -> Array:
            out, at = np.zeros(size), 0
            for place in places:
                out[place.slice] = x[at : at + place.stop - place.start]
                at += place.stop - place.start
            return out

        def apply(x: Array) -> Array:
            z, whole = np.zeros(index.size), spread(x)
            for part in parts:
                part.forward(whole, z)
            return z

        def adjoint(y: Array) -> Array:
            whole = np.zeros(size)
            for part in parts:
                part.backward(y, whole)
            return np.concatenate([place.symmetric_part(whole[place.slice]) for place in places])

        return Sampler(apply, adjoint, sum(place.stop - place.start for place in places))

    def _count(self, passes: float) -> None:
        """Count work beside the compiled maps, in passes over all links."""
        counted, operators = self.problem.counted, list(self.problem.operators.values())
        touched = round(passes * self.nnz)
        if counted:
            counted[0].touched += touched
        elif operators:
            operators[0].counter.touched += touched

    # --- iterations -------------------------------------------------------------------------------------------------

    def start(self, s: DSPDCState) -> None:
        """S = K'y and x beside it, or K x: half a pass each, nothing at 0.

        Of symmetric matrices x keeps the symmetric part, which data by rows rely on.
        """
        s.x = self._symmetric(s.x)
        if self.by_rows:
            s.u = self.problem.adjoint([s.y]) if s.y.any() else np.zeros(self.problem.size)
            s.v, s.bar = np.zeros(0), s.x.copy()
        else:
            s.u = np.zeros(0)
            s.v = self.problem.linear(s.x)[0].copy() if s.x.any() else np.zeros(self.n)
            s.bar = s.v.copy()

    def objective(self, s: DSPDCState) -> float:
        if self.by_rows:
            return self.problem.objective(s.x, self.problem.forward(s.x))
        return self.problem.objective(s.x, [s.v + self.offset])

    def response(self, s: DSPDCState) -> Array:
        """K'y, which is S where that is kept."""
        if not self.by_rows:
            return self.problem.adjoint([s.y]) if s.y.any() else np.zeros(self.problem.size)
        return self._symmetric(s.u)

    def _symmetric(self, v: Array) -> Array:
        out = v.copy()
        for place in self.places:
            out[place.slice] = place.symmetric_part(out[place.slice])
        return out

    def decompositions(self) -> int:
        """The decompositions of a sweep over all blocks: the cost of a bound."""
        return sum(place.spectral for place in self.places)

    def iterations(self) -> int:
        cubes = sum(place.d**3 for place in self.places) / max(1, self.p)
        products = 3.0 * self.nnz * (self.m / self.n if self.by_rows else self.q / self.p)
        cost = products + EIGEN * self.q * cubes + 1.0
        sweep = self.p / self.q
        return math.ceil(min(max(WORK / cost, LEAST_SHARE * sweep), sweep))

    def step(self, s: DSPDCState, steps: StepSizes, seed: int) -> float:
        """Iterations of the method; sweeps over the blocks that they were."""
        rng = draws(seed, s.iteration)
        count = self.iterations()
        with serial_blas():
            updated: Index | range = range(self.p)
            for _ in range(count):
                rows = np.sort(rng.choice(self.n, self.m, replace=False, shuffle=False))
                chosen = np.sort(rng.choice(self.p, self.q, replace=False, shuffle=False))
                (self._iterate_rows if self.by_rows else self._iterate_columns)(s, steps, rows, chosen, updated)
                updated = chosen
                s.decompositions += sum(self.places[j].spectral for j in chosen)
        return count * self.q / self.p

    def _dual(self, s: DSPDCState, steps: StepSizes, rows: Index, z: Array) -> Array:
        """The prox of sigma f_i* at y_i + sigma z_i for the rows (28); by how much they moved."""
        f, step = self.f, steps.sigma / self.n**2
        b, w = f.b[rows], f.w[rows]
        v, out = s.y[rows] / step + z, np.empty(rows.size)
        kernel(f.loss.prox_loop)(v, 1.0 / step, b, w, f.p, out)
        # the prox of step f_i* is the slope of f_i at that of f_i / step
        kernel(f.loss.value_gradient_loop)(out, b, w, f.p, v)
        change = v - s.y[rows]
        s.y[rows] = v
        return np.asarray(change)

    def _size(self, j: int) -> int:
        return self.places[j].stop - self.places[j].start

    def _primal(self, s: DSPDCState, steps: StepSizes, j: int, response: Array) -> Array:
        """The prox of tau g_j at x_j - tau (response + q_j) (29); by how much x_j moved."""
        place = self.places[j]
        old = s.x[place.slice].copy()
        response = place.symmetric_part(response) + self.problem.q[place.slice]
        s.x[place.slice] = place.g.prox(old - steps.tau * response, steps.tau)
        return np.asarray(s.x[place.slice] - old)

    def _iterate_rows(
        self, s: DSPDCState, steps: StepSizes, rows: Index, chosen: Index, updated: Index | range
    ) -> None:
        """`u` is S = K'y, `bar` the extrapolated x."""
        parts = [part for link in self.links for part in link.rows(rows)]
        z = self.offset[rows]
        for part in parts:
            part.forward(s.bar, z)
        change = self._dual(s, steps, rows, z)
        old = [s.u[self.places[j].slice].copy() for j in chosen]
        for part in parts:
            part.backward(change, s.u)
        for j in updated:
            s.bar[self.places[j].slice] = s.x[self.places[j].slice]
        for j, before in zip(chosen, old, strict=True):
            at = self.places[j].slice
            step = self._primal(s, steps, int(j), before + (self.n / self.m) * (s.u[at] - before))
            s.bar[at] = s.x[at] + steps.theta * step
        self._count(2.0 * self.m / self.n)

    def _iterate_columns(
        self, s: DSPDCState, steps: StepSizes, rows: Index, chosen: Index, updated: Index | range
    ) -> None:
        """`v` is K x, `bar` the same of the extrapolated x."""
        y = s.y.copy()
        change = self._dual(s, steps, rows, s.bar[rows] + self.offset[rows])
        y[rows] += (self.n / self.m) * change
        moves = np.zeros(self.n)
        for j in chosen:
            response = sum((part.c * part.map.adjoint(y[part.at]) for part in self.columns[j]), np.zeros(self._size(j)))
            step = self._primal(s, steps, int(j), response)
            for part in self.columns[j]:
                moves[part.at] += part.c * part.map.apply(step)
        s.bar = s.v + (1.0 + steps.theta) * moves
        s.v += moves
        self._count(2.0 * self.q / self.p)


def batches(m: int | None, q: int | None, n: int, p: int) -> tuple[int, int]:
    """m and q, each at most all of them; by default a tenth of either."""
    return min(n, m if m is not None else math.ceil(n / 10)), min(p, q if q is not None else math.ceil(p / 10))
