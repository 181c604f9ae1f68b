"""g(x) + sum_e h_e(x_{e+1} - x_e): the function of a block and those of the steps along its lines, with their joint prox and conjugate.

g is the same for every order of its entries, so that its prox keeps the order of entries, and the joint prox is that of g after that of the lines
(Friedman et al. 2007 for norm1). The sums D'u of multipliers within their ends are the base polytope of a submodular function. Its point nearest
to v leaves the rest v - D'u that is majorised by all others, at which every such g* is least:

    (g + h)*(v) = min_u g*(v - D'u) = g*(r),   r = v - D'u = prox_h(v).
"""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property

import numpy as np

from fwdsl.atoms.base import Array, Face, VectorFunction
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.lines.loops import line_prox, order_prox
from fwdsl.canon.chains import Chain
from fwdsl.light_dataclass import light_dataclass

ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
"""The share of the sizes of its terms by which a mean may miss 0."""


@light_dataclass
class Along(VectorFunction):
    """The function of a block with those of its lines."""

    g: VectorFunction
    chain: Chain
    size: int = field(init=False)

    polyhedral = False
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.g.size)

    @property
    def pair(self) -> tuple[str | None, str | None]:  # type: ignore[override]
        return self.g.pair

    @property
    def curvature(self) -> float:  # type: ignore[override]
        return self.g.curvature

    @cached_property
    def _ones(self) -> Array:
        return np.ones(self.size)

    def describe(self) -> str:
        return f"{self.g.describe()}, with functions of {self.chain.lo.size} steps"

    def radius(self) -> float:
        return self.g.radius()

    def steps(self, x: Array) -> Array:
        return np.diff(self.chain.in_order(x))

    def value(self, x: Array) -> float:
        """The value of g and that of the steps; where these are bounded, 0."""
        return self.g.value(x) + (0.0 if self.chain.direction else self.of_steps(self.steps(x)))

    def of_steps(self, steps: Array) -> float:
        """sum_e h_e of steps in its domain."""
        ends = np.where(steps > 0.0, self.chain.hi, self.chain.lo)
        return float((np.where(np.isfinite(ends), ends, 0.0) * steps).sum())

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The violation of g. The steps are checked by the terms that they are of."""
        return self.g.violation(x, sizes)

    def smoothed(self, v: Array, t: float, weights: Array | None = None) -> tuple[Array, Array]:
        """argmin_x sum_i w_i (x_i - v_i)^2 / 2 + t h(x), and its multipliers: w (v - x) = D'u, t lo <= u <= t hi."""
        chain = self.chain
        w = self._ones if weights is None else chain.in_order(weights)
        x, u = np.empty(self.size), np.empty(chain.lo.size)
        if chain.direction and (weights is None or w.min(initial=1.0) > 0.0):
            kernel(order_prox)(chain.in_order(v), w, float(chain.direction), chain.lo, chain.hi, x, u)
        else:
            kernel(line_prox)(chain.in_order(v), w, chain.lo, chain.hi, t, x, u)
        return chain.in_place(x), u

    def prox(self, v: Array, t: float) -> Array:
        return self.g.prox(self.smoothed(v, t)[0], t)

    def transposed(self, u: Array) -> Array:
        if not u.size:
            return np.zeros(self.size)
        out = np.empty(self.size)
        out[0], out[-1] = -u[0], u[-1]
        np.subtract(u[:-1], u[1:], out=out[1:-1])
        return self.chain.in_place(out)

    def split(self, v: Array) -> tuple[Array, Array]:
        """(r, u) with v = r + D'u, u the multipliers of the lines at which g*(r) is least."""
        return self.smoothed(v, 1.0)

    def sums(self, v: Array, x: Array) -> tuple[Array, float] | None:
        """(u, s) with D'u = v, and the largest s in (0, 1] with s u within the ends: what there is where g leaves nothing between v and D'u.

        u is at its end where x jumps, so v adds up to the differences of these along each level of x, and to 0 along lines. None where v does not
        (rounding is spread over the entries of a level), or no s serves.
        """
        own, steps = self.chain.in_order(v), self.steps(x)
        apart = (self.chain.lo == 0.0) & (self.chain.hi == 0.0)
        jumps = np.flatnonzero(apart | (steps != 0.0))
        ends = np.where(apart[jumps], 0.0, np.where(steps[jumps] > 0.0, self.chain.hi[jumps], self.chain.lo[jumps]))
        totals = -np.cumsum(own)
        stop, after = np.append(jumps, self.size - 1), np.append(ends, 0.0) - totals[np.append(jumps, self.size - 1)]
        before, length = np.concatenate([[0.0], after[:-1]]), np.diff(stop, prepend=-1)
        missed = (after - before) / length
        if np.any(np.abs(missed) > ROUNDING * float(np.abs(own).max(initial=0.0))):
            return None
        place = np.arange(self.size) - np.repeat(stop - length, length)
        u = (totals + np.repeat(before, length) + np.repeat(missed, length) * place)[:-1]
        u[jumps] = ends
        within = np.clip(u, self.chain.lo, self.chain.hi)
        u = np.where(np.abs(u - within) <= ROUNDING * float(np.abs(u).max(initial=0.0)), within, u)
        shares = np.divide(np.where(u > 0.0, self.chain.hi, self.chain.lo), u, out=np.ones_like(u), where=u != 0.0)
        share = min(1.0, float(shares.min(initial=1.0)))
        return (u, share) if share > 0.0 else None

    def conjugate(self, v: Array) -> float:
        return self.g.conjugate(self.split(v)[0])

    def dual_scale(self, v: Array) -> float:
        """A number s in [0, 1] with s v in the domain: that which brings the rest r into the domain of g*."""
        return self.g.dual_scale(self.split(v)[0])

    def dual_project(self, v: Array) -> Array:
        """v, its rest r moved into the domain of g*."""
        r, _ = self.split(v)
        return v - r + self.g.dual_project(r)

    def coercive(self) -> tuple[float, str] | None:
        return self.g.coercive()

    def face(self, x: Array) -> Face | None:
        """None: the levels of the lines are no coordinates. `segments` has their faces."""
        return None

    def slope_of_steps(self, x: Array) -> Array:
        """D' h'(D x): the gradient of the steps that are not 0."""
        steps = self.steps(x)
        ends = np.where(steps > 0.0, self.chain.hi, np.where(steps < 0.0, self.chain.lo, 0.0))
        return self.transposed(np.where(np.isfinite(ends), ends, 0.0))

    def levels(self, x: Array) -> Array:
        """The number of each entry's level: neighbours of the same value with a function of their step between them are of one."""
        chain = self.chain
        apart = (self.steps(x) != 0.0) | ((chain.lo == 0.0) & (chain.hi == 0.0))
        return chain.in_place(np.concatenate([[0.0], np.cumsum(apart)])[: self.size])

    def kernel_args(self) -> tuple[object, ...]:
        return ()


def uniform(values: Array) -> float | None:
    """The one number that all are; None where they differ, or there are none."""
    return float(values[0]) if values.size and math.isfinite(values[0]) and bool(np.all(values == values[0])) else None
