r"""Block Frank-Wolfe over a trace-norm ball: steps of rank k, with line search.

Problem: min over X (n x p) of F(X) + m |X|_* subject to |X|_* <= R, F(X) = f(K X) + r |X|_F^2, f smooth, K the observed entries of X or a
product A X; m, r >= 0, one of R < inf and m > 0. A free intercept is minimised out of f.

Update (Allen-Zhu, Hazan, Hu, Li 2017, Algorithm 1): with G = grad F(X),

    S = argmin over |S|_* <= R, rank S <= k of <G, S> + m |S|_* + l/2 |S - X|_F^2,     X+ = X + g (S - X):

the top k triplets of X - G / l, their values lowered by m / l and projected on the l1 ball. X - G / l is known by its products: a sparse or dense
gradient beside the factors of X. The triplets come from two subspace iterations warm from the block before; an error is corrected by the next.

Step rule: g by exact line search over [0, 1]. l is, for `curvature="spectral"`, that of F along the last step, d'F'' d / |d|^2 (Barzilai, Borwein
1988); for `curvature="fixed"` the paper's, `eta` times the largest curvature |K|^2 max_j w_j sup l'' + 2 r.

X is kept as U V', recompressed by QR and a small SVD in every step; singular values below 1e-10 of the largest one are left out.

Complexity: linear convergence where k is at least the rank of the solution and F grows quadratically around it, O(kappa log(1 / gap))
steps with one gradient and 4 k products with it; where k is less, no better than Frank-Wolfe. `k = auto` starts with 10 and doubles
whenever the whole block is in use and the gap has not halved between two looks.

Certificate: the Frank-Wolfe gap, estimated every `LOOK_EVERY` steps and proven by the verifier.

Source: Allen-Zhu, Hazan, Hu, Li 2017. Corrected: the paper's step g = mu / (2 L) with exact SVDs never gets near the solution when the
constraint is active (a gap of 1.2 after 4 s); line search and the spectral l take its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.low_rank import LowRank
from fwdsl.backends.lowrank.costs import block_fw
from fwdsl.backends.lowrank.data_map import LowRankUpdate, inner
from fwdsl.backends.lowrank.factors import project_decreasing, thin_svd
from fwdsl.backends.lowrank.problem import FactoredProblem
from fwdsl.backends.lowrank.smooth import on_segment
from fwdsl.backends.method import Estimate, Method, Report, Run, State
from fwdsl.backends.option import Option
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.factored import unfactored
from fwdsl.canon.forms import Form
from fwdsl.light_dataclass import light_state
from fwdsl.spectral.block import subspace_step
from fwdsl.spectral.operators import CountedOperator, LinearOperator
from fwdsl.spectral.top import top_singular

LOOK_EVERY = 5
"""Steps between two estimates of the gap."""

SUBSPACE_ITERATIONS = 2
FIRST_BLOCK = 10


@light_state
class BlockFWState(State):
    """The state of a run of `block_fw`: X = U diag(s) V' (thin SVD)."""

    U: Array  # (n, r), the left singular vectors of X
    s: Array  # (r,), its singular values, in the units of X
    V: Array  # (p, r), its right singular vectors
    z: Array  # (m,), the predictions at X
    W: Array  # (p, k), the right vectors of the last block
    curvature: float  # l, the curvature of the block's model: objective over squared units of X
    value: float  # the objective at X
    gap: float = math.inf  # the Frank-Wolfe gap at the last look, in units of the objective
    used: bool = False  # all of the last block was kept


class BlockFW(Method):
    """Block Frank-Wolfe with line search on factors: see the module's docstring."""

    name = "block_fw"
    title = "block Frank-Wolfe over the trace-norm ball on factors, with line search"
    source = "Allen-Zhu, Hazan, Hu, Li 2017; Barzilai, Borwein 1988"
    options = MappingProxyType(
        {
            "k": Option(None, "the rank of a block", kind=int, lower=1),
            "curvature": Option("spectral", "the curvature of the block's model", choices=("spectral", "fixed")),
            "eta": Option(
                0.5, "the share of the largest curvature, where it is fixed", lower=0, upper=1, open_lower=True
            ),
        }
    )
    works_on = "factored"
    streams = True
    on_host = "works on factors of its matrix"
    most_iterations = 20_000

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return unfactored(arrangement)

    @classmethod
    def requires_options(cls, form: Form, options: Mapping[str, object]) -> tuple[str, ...]:
        """A block no larger than the matrix; a largest curvature where it is asked for."""
        found = form.factored
        if found is None:
            return ()
        k, reasons = options.get("k"), []
        if isinstance(k, int | float) and k > min(found.shape):
            reasons.append(
                f"a block of rank {k:g} is larger than {found.name}, whose rank is at most {min(found.shape)}"
            )
        if options.get("curvature") == "fixed" and not math.isfinite(found.f.lipschitz):
            reasons.append(f"{found.f.name} has no largest curvature")
        return tuple(reasons)

    @classmethod
    def estimate(cls, form: Form, tol: float) -> Estimate:
        """Linear, with a factor that depends on the data."""
        found = form.factored
        assert found is not None
        return block_fw(found, tol)


class BlockFWRun(Run[FactoredProblem, BlockFWState], of=BlockFW):
    """Block steps on the factors of a problem."""

    def __init__(self, problem: FactoredProblem, k: int | None, curvature: str, eta: float) -> None:
        super().__init__(problem)
        self.k, self.rule, self.eta = k, curvature, eta

    def begin(self, x: LowRank, ys: Any) -> BlockFWState:
        """The state at 0, or at x moved into the ball; the block is random."""
        problem = self.problem
        n, p = problem.form.shape
        if x.rank == 0:
            U, s, V = np.zeros((n, 0)), np.zeros(0), np.zeros((p, 0))
        else:
            U, s, V = thin_svd(*problem.factors(x))
            s = s * min(1.0, problem.reach / max(float(s.sum()), 1e-300))
        k = min(self.k or FIRST_BLOCK, n, p)
        W = np.random.default_rng(problem.seed).standard_normal((p, k))
        W[:, : min(k, s.size)] = V[:, :k]
        state = BlockFWState(0, U, s, V, problem.data_map.zeros(), W, 0.0, math.inf)
        state.z = _predict(problem, U * s, V)
        state.value = problem.f.value(state.z) + _regularisers(problem, s)
        state.curvature = self._first_curvature(state)
        return state

    def _first_curvature(self, s: BlockFWState) -> float:
        """eta times the largest one, or that of F along the top pairs of its gradient, refined by the line search."""
        problem = self.problem
        if self.rule == "fixed":
            largest = problem.f.f.lipschitz * problem.data_map.norm_squared + 2.0 * problem.ridge
            return max(self.eta * largest, 1e-300)
        op = CountedOperator(_gradient(problem, s))
        L, sigma, R = subspace_step(op, s.W)
        _count(problem, op.products)
        d = _predict(problem, L * sigma, R)
        square = float(sigma @ sigma)
        found = problem.f.bend(s.z, d) / square + 2.0 * problem.ridge if square > 0.0 else 1.0
        # where F does not bend, steps are as long as the ball allows
        return found if found > 0.0 else float(sigma[0]) / problem.reach if problem.reach > 0.0 else 1.0

    def taken_up(self, state: BlockFWState) -> BlockFWState:
        """The state with its predictions where those of this run are."""
        state.z = self.problem.data_map.vector(state.z)
        return state

    def step(self) -> None:
        """One gradient, one block, one line search; now and then a look at the gap."""
        problem, s = self.problem, self.state
        G = _gradient(problem, s)
        if s.iteration % LOOK_EVERY == 0:
            self._look(G)
        op = CountedOperator(LowRankUpdate(G, -1.0 / s.curvature, s.U * s.s, s.V), problem.look)
        for _ in range(SUBSPACE_ITERATIONS):
            L, sigma, s.W = subspace_step(op, s.W)
        _count(problem, op.products)
        kept = project_decreasing(np.maximum(sigma - problem.penalty / s.curvature, 0.0), problem.reach)
        s.used = bool(kept[-1] > 1e-9 * kept[0])
        self._move(L, kept, s.W)
        s.iteration += 1

    def _move(self, L: Array, kept: Array, W: Array) -> None:
        """Move to the best point of the segment from X to S = L diag(kept) W'."""
        problem, s = self.problem, self.state
        U, S = s.U * s.s, L * kept
        d = _predict(problem, S, W) - s.z
        squares, between, other = inner(U, s.V, U, s.V), inner(U, s.V, S, W), float(kept @ kept)
        slope = problem.penalty * float(kept.sum() - s.s.sum()) + 2.0 * problem.ridge * (between - squares)
        square = max(0.0, squares - 2.0 * between + other)
        g = on_segment(problem.f, s.z, d, slope, 2.0 * problem.ridge * square)
        along = problem.f.bend(s.z, d) + 2.0 * problem.ridge * square
        if self.rule == "spectral" and square > 1e-20 * max(squares, other):
            s.curvature = along / square if along > 0.0 else 0.5 * s.curvature
        if g == 0.0:
            return
        P, sigma, Q = thin_svd(np.hstack([(1.0 - g) * U, g * S]), np.hstack([s.V, W]))
        keep = sigma > 1e-10 * sigma.max(initial=0.0)
        s.U, s.s, s.V = P[:, keep], sigma[keep], Q[:, keep]
        s.z = s.z + g * d if (s.iteration + 1) % 20 else _predict(problem, s.U * s.s, s.V)
        s.value = problem.f.value(s.z) + _regularisers(problem, s.s)

    def _look(self, G: LinearOperator) -> None:
        """Estimate the gap; a block that is used up and does not get on is doubled, where it may be."""
        problem, s = self.problem, self.state
        y = np.empty_like(s.z)
        problem.f.value_gradient(s.z, y)
        warm = s.V.sum(axis=1, keepdims=True) if s.s.size else None
        top = top_singular(G, 1, 1e-4, warm, method="lanczos", seed=s.iteration, max_products=100, look=problem.look)
        _count(problem, top.products)
        nuclear = float(s.s.sum())
        excess = float(top.s[0]) - problem.penalty
        along = problem.f.dot(y, s.z) + 2.0 * problem.ridge * float(s.s @ s.s) + problem.penalty * nuclear
        before, s.gap = s.gap, max(0.0, along + (problem.reach * excess if excess > 0.0 else 0.0))
        n, p = problem.form.shape
        if self.k is None and s.used and s.gap > 0.5 * before and s.W.shape[1] < min(n, p):
            more = min(s.W.shape[1], min(n, p) - s.W.shape[1])
            fresh = np.random.default_rng((problem.seed, s.iteration)).standard_normal((p, more)) / math.sqrt(p)
            s.W = np.hstack([s.W, fresh])

    def report(self) -> Report:
        s, constant = self.state, self.problem.form.constant
        return Report(constant + s.value, constant + s.value - s.gap, "block Frank-Wolfe on factors")

    def candidate(self) -> tuple[LowRank, None]:
        """X by balanced factors; the verifier makes the dual point of it."""
        return self.problem.answer(self.state.U, self.state.s, self.state.V), None


def _gradient(problem: FactoredProblem, s: BlockFWState) -> LinearOperator:
    """grad F(X), by its products."""
    y = np.empty_like(s.z)
    problem.f.value_gradient(s.z, y)
    G: LinearOperator = problem.data_map.operator(y)
    return LowRankUpdate(G, 1.0, 2.0 * problem.ridge * s.U * s.s, s.V) if problem.ridge else G


def _count(problem: FactoredProblem, products: int) -> None:
    problem.data_map.touched += problem.passes_of(products)


def _predict(problem: FactoredProblem, U: Array, V: Array) -> Array:
    return problem.data_map.predict(np.ascontiguousarray(U), np.ascontiguousarray(V))


def _regularisers(problem: FactoredProblem, s: Array) -> float:
    return problem.penalty * float(s.sum()) + problem.ridge * float(s @ s)
