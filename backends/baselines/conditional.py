r"""What the stochastic conditional gradient methods share: their problem, the vertices, the growing batches, and the inner problem of sliding.

Problem: min F(x) over a compact set C with a linear minimisation oracle, F a smooth loss over samples, a linear part and perhaps a ridge
(mu / 2) |x|^2,
which is part of F; x a vector or a matrix.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...atoms.base import Array
from ...atoms.vectors.common import ConvexSet
from ...canon.arrange import Arrangement
from ...canon.form import Canonical
from ...canon.names import is_compact
from .. import finite_sum
from ..option import Option
from ..problem import Problem
from . import samples
from .common import Baseline, SampledState, break_off, certify, due, epochs_a_step, generator, most_calls
from .samples import Samples, batch_misfit, unbounded_curvature, without_ridge

MOST_VERTICES = 4_000
"""Vertices after which a step ends, and an inner problem of sliding too: the accuracy that theory asks of it takes ever more of them."""

CAP = Option(0.5, "the largest batch, as a share of the samples", lower=0.0, open_lower=True, upper=1.0)
SMOOTHNESS = Option(
    "spectral", "what L is taken from: the power method, or the row norms", choices=("spectral", "rows")
)


def factor(meaning: str) -> Option:
    """How fast batches grow."""
    return Option(1.0, meaning, lower=0.0, open_lower=True, upper=1e6)


@dataclass
class ConditionalState(SampledState):
    """`k` is the paper's iteration, within its phase where it has phases; `vertices` counts calls of the oracle.

    The step under way ends at `until` epochs, or `most` vertices.
    """

    k: int = 0
    vertices: int = 0
    until: float = 0.0
    most: int = 0


class Conditional(Baseline):
    """A method that takes steps towards vertices by estimates of the gradient."""

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One smooth loss over samples of one variable in a bounded set, and no norm beside it."""
        reasons = list(finite_sum.reasons(arrangement))
        for block in arrangement.blocks:
            if not is_compact(block.set):
                reasons.append(f"{block.name} is not confined to a bounded set with a linear minimisation oracle")
            elif block.norm is not None:
                reasons.append(f"the {block.norm} on {block.name} is not smooth")
        return tuple(reasons)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Rows of one data matrix, a set that is bounded and has an oracle."""
        found = samples.value_reasons(canonical) or unbounded_curvature(canonical)
        if found:
            return found
        (block,) = canonical.blocks
        if not math.isfinite(block.g.radius()):
            return (f"{block.name}: {block.text} is not bounded",)
        if block.g.lmo(np.zeros(block.g.size)) is None:
            return (f"{block.name}: {block.text} has no linear minimisation oracle",)
        return ()

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, Any]) -> tuple[str, ...]:
        """A batch of at most n."""
        return batch_misfit(options.get("batch"), canonical)

    def step(self, problem: Problem, state: Any) -> None:
        """Iterations of about an epoch, and a certificate where one is due."""
        of = self.samples(problem)
        if state.generator.size == 0:
            state.until = state.epochs + epochs_a_step(problem.canonical.nnz)
            state.most = state.vertices + min(MOST_VERTICES, most_calls(problem.canonical.blocks[0]))
        rng = generator(problem, state, state.iteration)
        while True:
            visited = self.advance(problem, of, state, rng)
            state.epochs += visited / of.n
            if visited > 0 and (state.epochs >= state.until - 1e-9 or state.vertices >= state.most):
                break
            if problem.must_stop():
                break_off(state, rng)
                return
        state.iteration += 1
        if due(state):
            certify(problem, state, state.x)

    @abstractmethod
    def advance(self, problem: Problem, of: Samples, s: Any, rng: np.random.Generator) -> int:
        """One iteration of the paper: the samples it visited, 0 where it was broken off before its end."""


def towards(problem: Problem, s: ConditionalState, slope: Array, gamma: float) -> None:
    """x <- x + gamma (v - x), v the vertex for the slope."""
    s.vertices += 1
    s.x = s.x + gamma * (vertex(problem, slope) - s.x)


def vertex(problem: Problem, c: Array) -> Array:
    """argmin over C of <c, x>."""
    (block,) = problem.canonical.blocks
    found = block.g.lmo(c)
    assert found is not None, "requires_values() asks for an oracle"
    return found


def diameter(problem: Problem) -> float:
    """The diameter of C, or twice its radius."""
    (block,) = problem.canonical.blocks
    inner = without_ridge(block.g)
    found = inner.diameter() if isinstance(inner, ConvexSet) else getattr(inner, "diameter", lambda: math.inf)()
    return float(found) if math.isfinite(found) else 2.0 * block.g.radius()


def lipschitz(of: Samples, rule: str, seed: int) -> float:
    """L of F, its ridge included; 1 where F is linear."""
    found = of.smoothness(seed) if rule == "spectral" else float(of.row_smoothness().max(initial=0.0))
    return found + of.mu if found + of.mu > 0.0 else 1.0


def grown(wanted: float, cap: float, n: int) -> int:
    """A batch that theory wants, at most the cap."""
    return max(1, min(math.ceil(wanted), math.ceil(cap * n), n))


@dataclass
class SlidingState(ConditionalState):
    """Of an inner problem: its `slope` g, its point `inner` (empty between inner problems), its `turns` so far and the samples `visited` for g."""

    slope: Array = field(default_factory=lambda: np.zeros(0))
    inner: Array = field(default_factory=lambda: np.zeros(0))
    turns: int = 0
    visited: int = 0


def conditional_gradient(problem: Problem, s: SlidingState, u: Array, beta: float, eta: float, d: float) -> bool:
    """CndG(g, u, beta, eta) of Lan and Zhou: Frank-Wolfe with exact line search on <g, x> + (beta / 2) |x - u|^2 from u until its gap is at most eta,
    which takes at most 6 beta d^2 / eta steps, d the diameter; after `MOST_VERTICES` it ends where it is.

    g is `slope`, and x is `inner`, which is to be u before the first turn. False where it was broken off.
    """
    x = s.inner
    most = min(math.ceil(6.0 * beta * d * d / eta) + 1, MOST_VERTICES) if eta > 0.0 else 1
    while s.turns < most:
        slope = s.slope + beta * (x - u)
        direction = vertex(problem, slope) - x
        s.vertices += 1
        gap = -float(slope @ direction)
        square = float(direction @ direction)
        if gap <= eta or square == 0.0:
            break
        x += min(1.0, gap / (beta * square)) * direction
        s.turns += 1
        if problem.must_stop():
            return False
    return True
