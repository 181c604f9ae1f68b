r"""Vanilla Frank-Wolfe over a product of compact sets.

    s^k = argmin over the set of <grad F(x^k), s>   (the LMO),    x^{k+1} = x^k + gamma_k (s^k - x^k)

Step rules: `open` takes gamma_k = 2 / (k + 2) (k from 50 on at a given start); `line_search` minimises F on the segment: exactly where every
loss is quadratic, by a safeguarded secant on the derivative along the segment otherwise, which needs no product with the data. (Exact
line search is often *slower* here than the open loop: it zig-zags; methods.md, A5.)

The Frank-Wolfe gap <grad F(x), x - s> is the duality gap at y = f'(K x + b): no further product is needed for it. Predictions are kept by
linearity, z+ = (1 - gamma) z + gamma (K s + b), with one product a step for K s, and computed afresh every 64 steps.

Frank, Wolfe 1956; Jaggi 2013.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ..atoms.base import Array, LossFunction
from ..atoms.losses import smoothness
from ..canon.arrange import Arrangement
from ..canon.form import Canonical
from . import costs
from .method import Estimate, Method, Report, State
from .problem import Problem

LMO_SETS = ("l1_ball", "l2_ball", "linf_ball", "box", "simplex", "solid_simplex")
REFRESH_EVERY = 64
WARM_SHIFT = 50


@dataclass
class FWState(State):
    """x with its predictions z = K x + b, and the best bound with its dual point."""

    x: Array
    z: list[Array]
    value: float
    best_bound: float
    ys: list[Array] = field(default_factory=list)
    shift: int = 0


class FrankWolfe(Method):
    """Vanilla Frank-Wolfe: option `step` is "open", "line_search"."""

    name = "frank_wolfe"
    title = "Frank-Wolfe"
    source = "Frank, Wolfe 1956; Jaggi 2013"
    options = MappingProxyType({"step": "open"})
    choices = MappingProxyType({"step": ("open", "line_search")})

    def __init__(self, step: str = "open") -> None:
        self.rule = step

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Smooth losses over a compact set with an LMO on every variable, and no norm beside it."""
        reasons = []
        for term in arrangement.sums:
            if term.kind != "loss" or smoothness(term.atom) is None:
                reasons.append(f"`{term.text}` is not smooth")
        for block in arrangement.blocks:
            if block.set not in LMO_SETS:
                reasons.append(f"{block.name} is not confined to a bounded set with a linear minimisation oracle")
            elif block.norm is not None:
                reasons.append(f"the {block.norm} on {block.name} is not smooth")
        return tuple(reasons)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """No infinite side of a box."""
        return tuple(f"{b.name}: {b.text} is not bounded" for b in canonical.blocks if not math.isfinite(b.g.radius()))

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Sublinear."""
        return costs.fw(canonical, tol)

    def init(self, problem: Problem, x: Array, ys: Sequence[Array] | None) -> FWState:
        """x moved into the set."""
        x = problem.prox_g(x, 0.0)
        z = problem.forward(x)
        # gamma = 1 at the first step would throw a given start away
        shift = WARM_SHIFT if np.any(x != problem.prox_g(np.zeros_like(x), 0.0)) else 0
        return FWState(0, x, z, problem.objective(x, z), -math.inf, [y.copy() for y in ys] if ys else [], shift)

    def step(self, problem: Problem, state: FWState) -> None:
        """One gradient, one vertex, one step."""
        s = state
        value, ys = problem.losses_gradient(s.z)
        kty = problem.adjoint(ys)
        grad = kty + problem.q + self._ridge_slope(problem, s.x)
        vertex = np.empty_like(s.x)
        for block in problem.canonical.blocks:
            atom = block.g.lmo(grad[block.slice])
            assert atom is not None, "requires() asks for an LMO"
            vertex[block.slice] = atom
        self._keep_bound(problem, s, value, ys, kty)
        direction = vertex - s.x
        k_vertex = problem.forward(vertex)
        dz = [a - b for a, b in zip(k_vertex, s.z, strict=True)]
        gamma = (
            2.0 / (s.iteration + s.shift + 2.0) if self.rule == "open" else self._line_search(problem, s, direction, dz)
        )
        s.iteration += 1
        s.x = s.x + gamma * direction
        if s.iteration % REFRESH_EVERY == 0:
            s.z = problem.forward(s.x)
        else:
            s.z = [a + gamma * b for a, b in zip(s.z, dz, strict=True)]
        s.value = problem.objective(s.x, s.z)

    @staticmethod
    def _ridge_slope(problem: Problem, x: Array) -> Array:
        slope = np.zeros_like(x)
        for block in problem.canonical.blocks:
            slope[block.slice] = block.g.curvature * x[block.slice]
        return slope

    @staticmethod
    def _keep_bound(problem: Problem, s: FWState, value: float, ys: list[Array], kty: Array) -> None:
        """The Fenchel bound at this gradient: with a ridge it is tighter than the Frank-Wolfe gap."""
        bound = problem.canonical.constant + value - float(kty @ s.x)
        v = -(problem.q + kty)
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            bound -= g.conjugate(v[block.slice])
        if bound > s.best_bound:
            s.best_bound, s.ys = bound, ys

    def _line_search(self, problem: Problem, s: FWState, direction: Array, dz: list[Array]) -> float:
        """argmin over [0, 1] of gamma -> P(x + gamma d), by secant with bisection on its derivative."""
        curvature = sum(b.g.curvature * float(np.sum(direction[b.slice] ** 2)) for b in problem.canonical.blocks)
        linear = float((problem.q + self._ridge_slope(problem, s.x)) @ direction)

        def derivative(gamma: float) -> float:
            _, ys = problem.losses_gradient([a + gamma * b for a, b in zip(s.z, dz, strict=True)])
            return linear + gamma * curvature + sum(float(y @ b) for y, b in zip(ys, dz, strict=True))

        quadratic = all(isinstance(t.f, LossFunction) and t.f.name == "squared" for t in problem.terms)
        left, right = derivative(0.0), derivative(1.0)
        if right <= 0.0:
            return 1.0
        if left >= 0.0:
            return 0.0
        lo, hi = 0.0, 1.0
        gamma = left / (left - right)
        if quadratic:
            return gamma
        for _ in range(40):
            slope = derivative(gamma)
            if abs(slope) <= 1e-10 * abs(left):
                break
            if slope > 0.0:
                hi, right = gamma, slope
            else:
                lo, left = gamma, slope
            gamma = lo + (hi - lo) * left / (left - right)
            if not lo < gamma < hi or hi - lo < 1e-15:
                gamma = 0.5 * (lo + hi)
        return gamma

    def report(self, problem: Problem, state: FWState) -> Report:
        """P at x and the best bound so far."""
        return Report(state.value, state.best_bound, "Frank-Wolfe")

    def candidate(self, problem: Problem, state: FWState) -> tuple[Array, list[Array] | None]:
        """x and the best dual point."""
        return state.x, state.ys or None
