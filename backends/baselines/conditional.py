r"""The shared parts of stochastic conditional gradient methods: the problem, the vertices, the growing batches, and the inner problem of sliding.

Problem: min F(x) over a compact set C with a linear minimisation oracle, F a smooth loss over samples, a linear part and perhaps a ridge
(mu / 2) |x|^2, which is part of F; x a vector or a matrix.

Source: Hazan, Luo 2016 (SFW, SVRF, STORC); Lan, Zhou 2016 (sliding: the inner problem by conditional gradients); Mokhtari, Hassani, Karbasi 2020.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import ConvexSet
from fwdsl.backends import finite_sum
from fwdsl.backends.baselines import samples
from fwdsl.backends.baselines.common import Baseline, BaselineRun, SampledState, epochs_a_step, most_calls
from fwdsl.backends.baselines.samples import SampleSum, unbounded_curvature
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.requirements import bounded_set, linear_oracle
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical

MOST_VERTICES = 4_000
"""Vertices after which a step ends, and an inner problem of sliding too: the accuracy that theory asks of it takes ever more of them."""

CAP = Option(0.5, "the largest batch, as a share of the samples", lower=0.0, open_lower=True, upper=1.0)
SMOOTHNESS = Option(
    "spectral", "what L is taken from: the power method, or the row norms", choices=("spectral", "rows")
)


def factor(meaning: str) -> Option:
    """The option for the growth of batches."""
    return Option(1.0, meaning, lower=0.0, open_lower=True, upper=1e6)


@dataclass
class ConditionalState(SampledState):
    """The state of a run of a stochastic conditional gradient method."""

    k: int = 0  # the paper's iteration, within its phase where it has phases
    vertices: int = 0  # calls of the oracle
    until: float = 0.0  # the epochs at which the step under way ends
    most: int = 0  # and the vertices


C = TypeVar("C", bound=ConditionalState)


class Conditional(Baseline):
    """A method that takes steps towards vertices by estimates of the gradient."""

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return (*finite_sum.reasons(arrangement), *(r for b in arrangement.blocks for r in bounded_set(b)))

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Rows of one data matrix, a set that is bounded and has an oracle."""
        found = samples.value_reasons(canonical) or unbounded_curvature(canonical)
        if found:
            return found
        (block,) = canonical.blocks
        return tuple(linear_oracle(block, block.g))


class ConditionalRun(BaselineRun[C]):
    """A run of steps towards vertices."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        self.samples = SampleSum.of(problem)

    def step(self) -> None:
        """Iterations of about an epoch, and a certificate where one is due."""
        problem, s = self.problem, self.state
        if s.generator.size == 0:
            s.until = s.epochs + epochs_a_step(problem.canonical.nnz)
            s.most = s.vertices + min(MOST_VERTICES, most_calls(problem.canonical.blocks[0]))
        rng = s.draws(problem.seed, s.iteration)
        while True:
            visited = self.advance(rng)
            s.epochs += visited / self.samples.n
            if visited > 0 and (s.epochs >= s.until - 1e-9 or s.vertices >= s.most):
                break
            if problem.must_stop():
                s.break_off(rng)
                return
        s.iteration += 1
        if s.due():
            self.certify(s, s.x)

    @abstractmethod
    def advance(self, rng: np.random.Generator) -> int:
        """One iteration of the paper: the samples it visited, 0 where it was broken off before its end."""


def towards(problem: PreparedProblem, s: ConditionalState, slope: Array, gamma: float) -> None:
    """x <- x + gamma (v - x), v the vertex for the slope."""
    s.vertices += 1
    s.x = s.x + gamma * (problem.vertex(slope) - s.x)


def diameter(problem: PreparedProblem) -> float:
    """The diameter of C, or twice its radius."""
    (block,) = problem.canonical.blocks
    inner = without_ridge(block.g)
    found = inner.diameter() if isinstance(inner, ConvexSet) else getattr(inner, "diameter", lambda: math.inf)()
    return float(found) if math.isfinite(found) else 2.0 * block.g.radius()


def lipschitz(of: SampleSum, rule: str, seed: int) -> float:
    """L of F, its ridge included; 1 where F is linear."""
    found = of.smoothness(seed) if rule == "spectral" else float(of.row_smoothness().max(initial=0.0))
    return found + of.mu if found + of.mu > 0.0 else 1.0


def grown(wanted: float, cap: float, n: int) -> int:
    """The size of a batch in the theory, at most the cap."""
    return max(1, min(math.ceil(wanted), math.ceil(cap * n), n))


@dataclass
class SlidingState(ConditionalState):
    """The state of a run that solves inner problems."""

    slope: Array = field(default_factory=lambda: np.zeros(0))  # g of the inner problem
    inner: Array = field(default_factory=lambda: np.zeros(0))  # its point, empty between inner problems
    turns: int = 0  # its turns so far
    visited: int = 0  # the samples visited for g


def conditional_gradient(
    problem: PreparedProblem, s: SlidingState, u: Array, beta: float, eta: float, d: float
) -> bool:
    """CndG(g, u, beta, eta) of Lan and Zhou: Frank-Wolfe with exact line search on <g, x> + (beta / 2) |x - u|^2 from u until its gap is at most eta,
    which takes at most 6 beta d^2 / eta steps, d the diameter; after `MOST_VERTICES` it ends where it is.

    g is `slope`, and x is `inner`, which holds u before the first turn. False where it was broken off.
    """
    x = s.inner
    turns = 6.0 * beta * d * d / eta if eta > 0.0 else 0.0
    most = math.ceil(turns) + 1 if turns < MOST_VERTICES else MOST_VERTICES
    while s.turns < most:
        slope = s.slope + beta * (x - u)
        direction = problem.vertex(slope) - x
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
