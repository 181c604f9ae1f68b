r"""Frank-Wolfe over a trace-norm ball, its iterates kept as factors.

Problem: min over X (n x p) of F(X) + m |X|_* subject to |X|_* <= R, F(X) = f(K X) + r |X|_F^2, f smooth, K the observed entries of X or a
product A X; m, r >= 0, and R <= inf is brought down to (F(0) - inf f) / m where m > 0. A free intercept is minimised out of f.

Update: with G = K'f'(K X) + 2 r X, towards a rank-one matrix,

    X+ = X + g (S - X),   S = -R u v', (u, v) the top singular pair of G, or S = 0 where sigma_1(G) <= m,

and then along X itself, away from 0, up to the boundary, which a mean of X and S has left. In between, steps that cost no oracle
call, at X = P diag(s) Q' (thin SVD):

    correct = "span":  C+ = argmin over |C|_* <= R of <P'G Q, C> + m |C|_* + l/2 |C - diag(s)|^2,    X+ = X + g P (C+ - diag(s)) Q':
                       projected gradient over all matrices of X's row and column spaces (singular values lowered by m / l and
                       projected on the l1 ball), at most `CORRECTIONS` in a row, as long as each gains a tenth of what the
                       step towards did; l is the curvature along the last one, at first along X;
    correct = "away":  X+ = X + g (X - Z) away from the rank-one matrix Z of X's own face with <G, Z> largest, g up to the step that drops a
                       singular value (`directions`), in place of the step towards where its slope is better;
    correct = "none".

Step rule: `line_search` minimises exactly over the segment (in closed form for squares, by safeguarded Newton otherwise); `open` takes
g = 2 / (k + 2) and no other steps, as in the textbook.

It keeps P (n x k), Q (p x k) orthonormal and the core C (k x k), X = P C Q': a step towards adds a column to each by Gram-Schmidt, a step away
changes C alone. z = K X is kept by linearity and computed afresh every `RECOMPRESS_EVERY` steps, when the factors are recompressed by an SVD of
C: directions below 1e-12 are left out, and those below a thousandth or a hundredth of the largest one too where that, the trace
restored, does not raise the objective. So the rank follows the spectrum of X, not the number of steps.

(u, v) comes from 20 Golub-Kahan steps started at the triplets of the step before, more where the gap looks closed.

Complexity: O(1 / gap) steps, each of about 40 + rank products with a sparse or dense gradient, and O((n + p) k) beside them.

Certificate: the Frank-Wolfe gap <G, X> + m |X|_* + R (sigma_1(G) - m)_+; sigma_1 as found bounds from below, so the verifier proves it.

Source: Frank, Wolfe 1956; Jaggi 2013; Freund, Grigas, Mazumder 2017 (in-face directions). Corrected: in-face steps there fix
weights for the choice of direction (gamma_1, gamma_2); here the better slope decides between away and towards (Guelat, Marcotte 1986).
Steps in a face, away steps included, cannot turn singular vectors towards each other, and the gap stalls (1e-2 after 1,500 steps on
small dense problems); corrections in the span can. Without the step along X the iterates stay inside the ball.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.low_rank import LowRank
from fwdsl.backends.lowrank.costs import factored_fw
from fwdsl.backends.lowrank.data_map import LowRankUpdate
from fwdsl.backends.lowrank.directions import Away, ThinFactors, away, projected
from fwdsl.backends.lowrank.factors import thin_svd
from fwdsl.backends.lowrank.problem import FactoredProblem
from fwdsl.backends.lowrank.smooth import on_segment
from fwdsl.backends.method import Estimate, Method, Report, Run, State
from fwdsl.backends.option import Option
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.factored import unfactored
from fwdsl.canon.forms import Form
from fwdsl.light_dataclass import light_state
from fwdsl.spectral.operators import LinearOperator
from fwdsl.spectral.top import SingularTriplets, top_singular

RECOMPRESS_EVERY = 20
CORRECTIONS = 5
NEGLIGIBLE = 1e-6
"""A slope, in gains of the step towards, that is not worth a correction."""

TRIPLETS = 3
"""Triplets that are followed from step to step: the top ones change places."""


@light_state
class FactoredFWState(State):
    """The state of a run of `factored_fw`: X = P C Q'."""

    P: Array  # (n, k), an orthonormal basis of the columns of X
    C: Array  # (k, k), the core, in the units of X
    Q: Array  # (p, k), an orthonormal basis of its rows
    z: Array  # (m,), the predictions at X
    start: Array  # (p, j), the start of the next oracle call
    value: float  # the objective at X
    bound: float = -math.inf  # the best bound so far, as estimated
    curvature: float = 0.0  # the curvature of F along the last correction, 0 before the first
    gained: float = 0.0  # the gain of the last step towards a vertex
    left: int = 0  # corrections left after it
    phase: str = "Frank-Wolfe on factors"  # of the last step


class FactoredFW(Method):
    """Frank-Wolfe with factored iterates, away steps and exact line search: see the module's docstring."""

    name = "factored_fw"
    title = "Frank-Wolfe over the trace-norm ball on factors, with away steps"
    source = "Frank, Wolfe 1956; Jaggi 2013; Freund, Grigas, Mazumder 2017"
    options = MappingProxyType(
        {
            "step": Option("line_search", "the step rule", choices=("line_search", "open")),
            "correct": Option("span", "the steps between oracle calls", choices=("span", "away", "none")),
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
    def requires_values(cls, form: Form) -> tuple[str, ...]:
        """A ball: its radius, or one that the penalty implies."""
        found = form.factored
        if found is not None and math.isinf(found.radius) and not math.isfinite(found.infimum):
            return (f"no ball bounds {found.name}, and {found.f.name} is not bounded from below",)
        return ()

    @classmethod
    def estimate(cls, form: Form, tol: float) -> Estimate:
        """A sublinear rate: the passes grow like 1 / tol."""
        found = form.factored
        assert found is not None
        return factored_fw(found, tol)


class FactoredFWRun(Run[FactoredProblem, FactoredFWState], of=FactoredFW):
    """Frank-Wolfe on the factors of a problem."""

    def __init__(self, problem: FactoredProblem, step: str, correct: str) -> None:
        super().__init__(problem)
        self.rule, self.correct = step, correct if step == "line_search" else "none"

    def begin(self, x: LowRank, ys: Any) -> FactoredFWState:
        """The state at 0, or at x moved into the ball."""
        problem = self.problem
        n, p = problem.form.shape
        if x.rank == 0:
            P, C, Q = np.zeros((n, 0)), np.zeros((0, 0)), np.zeros((p, 0))
        else:
            P, s, Q = thin_svd(*problem.factors(x))
            C = np.diag(s * min(1.0, problem.reach / max(float(s.sum()), 1e-300)))
        state = FactoredFWState(0, P, C, Q, problem.data_map.zeros(), np.zeros((p, 0)), math.inf)
        state.z = _predict(problem, P, C, Q)
        state.value = _value(problem, state.z, C)
        return state

    def taken_up(self, state: FactoredFWState) -> FactoredFWState:
        """The state with its predictions where those of this run are."""
        state.z = self.problem.data_map.vector(state.z)
        return state

    def step(self) -> None:
        """One gradient and one step, towards, away or in the span."""
        problem, s, before = self.problem, self.state, self.state.value
        y = np.empty_like(s.z)
        problem.f.value_gradient(s.z, y)
        A, sigma, Bt = np.linalg.svd(s.C, full_matrices=False)
        live = sigma > 1e-12 * sigma.max(initial=0.0)
        face = ThinFactors(s.P @ A[:, live], sigma[live], s.Q @ Bt[live].T)
        G: LinearOperator = problem.data_map.operator(y)
        if problem.ridge:
            G = LowRankUpdate(G, 1.0, 2.0 * problem.ridge * face.P * face.s, face.Q)
        if s.left > 0 and self._correct(face, G):
            s.value = _value(problem, s.z, s.C)
            s.left = s.left - 1 if before - s.value >= 0.1 * s.gained else 0
        else:
            self._step_outside(face, G, problem.f.dot(y, s.z))
            s.value = _value(problem, s.z, s.C)
            s.gained, s.left = before - s.value, CORRECTIONS if self.correct == "span" else 0
        s.iteration += 1
        if s.iteration % RECOMPRESS_EVERY == 0:
            _recompress(problem, s)
            s.value = _value(problem, s.z, s.C)

    def _step_outside(self, face: ThinFactors, G: LinearOperator, along: float) -> None:
        """Move towards a vertex or away from one, with one oracle call."""
        problem, s = self.problem, self.state
        nuclear = float(face.s.sum())
        along += 2.0 * problem.ridge * float(face.s @ face.s)
        rest = along + problem.penalty * nuclear
        top = self._oracle(G, face.Q, rest)
        s.start = top.V
        gap = max(0.0, self._gap(top, rest))
        s.bound = max(s.bound, s.value - gap)
        chosen = None
        if self.correct == "away" and face.s.size > 1:
            chosen = away(face, self._core(face, G), along, problem.reach, problem.penalty)
        if chosen is not None and chosen.gain > gap:
            self._step_away(chosen, face)
        else:
            self._step_towards(top, nuclear)

    def _core(self, face: ThinFactors, G: LinearOperator) -> Array:
        """P'G Q."""
        self.problem.data_map.touched += self.problem.passes_of(face.s.size)
        return np.asarray(face.P.T @ _times(G, face.Q))

    def _correct(self, face: ThinFactors, G: LinearOperator) -> bool:
        """A projected gradient step in the span of the factors; False where there is none."""
        problem, s = self.problem, self.state
        if face.s.size == 0:
            return False
        H, D = self._core(face, G), np.diag(face.s)
        if s.curvature == 0.0:
            found = problem.f.bend(s.z, s.z) / float(face.s @ face.s) + 2.0 * problem.ridge
            # where F does not bend, a step is as long as X
            s.curvature = found if found > 0.0 else float(np.linalg.norm(H) / np.linalg.norm(face.s)) or 1.0
        C, nuclear = projected(D - H / s.curvature, problem.penalty / s.curvature, problem.reach)
        move, penalty = C - D, problem.penalty * (nuclear - float(face.s.sum()))
        square = float(np.vdot(move, move))
        if not (square > 0.0 and float(np.vdot(H, move)) + penalty < -NEGLIGIBLE * s.gained):
            return False
        d = _predict(problem, face.P, move, face.Q)
        slope = penalty + 2.0 * problem.ridge * float(np.vdot(D, move))
        g = on_segment(problem.f, s.z, d, slope, 2.0 * problem.ridge * square)
        along = problem.f.bend(s.z, d) / square + 2.0 * problem.ridge
        s.curvature = along if along > 0.0 else 0.5 * s.curvature
        s.z = s.z + g * d
        s.P, s.Q, s.C = face.P, face.Q, D + g * move
        s.phase = "correction in the span"
        return True

    def _oracle(self, G: LinearOperator, Q: Array, rest: float) -> SingularTriplets:
        """The top triplets of G; once the gap looks closed, accurately."""
        problem, s = self.problem, self.state
        warm = s.start if s.start.shape[1] else None
        top = top_singular(
            G, TRIPLETS, 1e-2, warm, method="lanczos", seed=s.iteration, max_products=40, look=problem.look
        )
        products = top.products
        if self._gap(top, rest) <= 4.0 * problem.aim(s.value):
            begin = np.hstack([top.V, Q])
            top = top_singular(
                G, TRIPLETS, 1e-5, begin, method="lanczos", seed=s.iteration, max_products=400, look=problem.look
            )
            products += top.products
        problem.data_map.touched += problem.passes_of(products)
        return top

    def _gap(self, top: SingularTriplets, rest: float) -> float:
        excess = float(top.s[0]) - self.problem.penalty
        return rest + (self.problem.reach * excess if excess > 0.0 else 0.0)

    def _step_towards(self, top: SingularTriplets, nuclear: float) -> None:
        problem, s = self.problem, self.state
        reach = problem.reach if float(top.s[0]) > problem.penalty else 0.0
        u, v = -top.U[:, 0], top.V[:, 0]
        zs = problem.data_map.predict(np.ascontiguousarray(reach * u[:, None]), np.ascontiguousarray(v[:, None]))
        c, e = s.P.T @ u, s.Q.T @ v
        if self.rule == "open":
            g = 2.0 / (s.iteration + 2.0)
        else:
            squares, between = float(np.vdot(s.C, s.C)), reach * float(c @ s.C @ e)
            slope = problem.penalty * (reach - nuclear) + 2.0 * problem.ridge * (between - squares)
            bend = 2.0 * problem.ridge * (squares - 2.0 * between + reach * reach)
            g = on_segment(problem.f, s.z, zs - s.z, slope, bend)
        s.z = s.z + g * (zs - s.z)
        s.P, c = _with_column(s.P, u, c)
        s.Q, e = _with_column(s.Q, v, e)
        C = np.zeros((c.size, e.size))
        C[: s.C.shape[0], : s.C.shape[1]] = (1.0 - g) * s.C
        s.C = C + g * reach * np.outer(c, e)
        s.phase = "Frank-Wolfe on factors"
        if self.correct != "none":
            self._stretch()

    def _stretch(self) -> None:
        """Away from 0, along X: a mean of X and S lies inside the ball, and the faces are on its boundary."""
        problem, s = self.problem, self.state
        nuclear = float(np.linalg.svd(s.C, compute_uv=False).sum())
        if not 0.0 < nuclear < problem.reach:
            return
        squares = float(np.vdot(s.C, s.C))
        slope = problem.penalty * nuclear + 2.0 * problem.ridge * squares
        g = on_segment(problem.f, s.z, s.z, slope, 2.0 * problem.ridge * squares, problem.reach / nuclear - 1.0)
        s.z, s.C = (1.0 + g) * s.z, (1.0 + g) * s.C

    def _step_away(self, to: Away, face: ThinFactors) -> None:
        problem, s = self.problem, self.state
        reach, a = problem.reach, to.a
        core = reach * np.outer(a, a)
        zz = _predict(problem, face.P, core, face.Q)
        squares, between = float(face.s @ face.s), reach * float(a @ (face.s * a))
        slope = problem.penalty * (float(face.s.sum()) - reach) + 2.0 * problem.ridge * (squares - between)
        bend = 2.0 * problem.ridge * (squares - 2.0 * between + reach * reach)
        g = on_segment(problem.f, s.z, s.z - zz, slope, bend, to.longest)
        s.z = s.z + g * (s.z - zz)
        s.P, s.Q, s.C = face.P, face.Q, (1.0 + g) * np.diag(face.s) - g * core
        s.phase = "drop step" if g == to.longest else "away step"

    def report(self) -> Report:
        s, constant = self.state, self.problem.form.constant
        return Report(constant + s.value, constant + s.bound, s.phase)

    def candidate(self) -> tuple[LowRank, None]:
        """X by balanced factors; the verifier makes the dual point of it."""
        s = self.state
        A, sigma, Bt = np.linalg.svd(s.C, full_matrices=False)
        return self.problem.answer(s.P @ A, sigma, s.Q @ Bt.T), None


def _times(G: LinearOperator, Q: Array) -> Array:
    """G Q, as a block where the operator takes one."""
    return np.asarray(G.matmat(np.ascontiguousarray(Q)))  # type: ignore[attr-defined]


def _with_column(basis: Array, u: Array, coordinates: Array) -> tuple[Array, Array]:
    """The orthonormal basis extended by u, and u's coordinates in it."""
    rest = u - basis @ coordinates
    again = basis.T @ rest
    rest, coordinates = rest - basis @ again, coordinates + again
    size = float(np.linalg.norm(rest))
    if size <= 1e-12 or basis.shape[1] >= basis.shape[0]:
        return basis, coordinates
    return np.hstack([basis, rest[:, None] / size]), np.append(coordinates, size)


def _predict(problem: FactoredProblem, P: Array, C: Array, Q: Array) -> Array:
    return problem.data_map.predict(np.ascontiguousarray(P @ C), np.ascontiguousarray(Q))


def _value(problem: FactoredProblem, z: Array, C: Array) -> float:
    penalty = problem.penalty * float(np.linalg.svd(C, compute_uv=False).sum()) if problem.penalty else 0.0
    return problem.f.value(z) + penalty + problem.ridge * float(np.vdot(C, C))


def _recompress(problem: FactoredProblem, s: FactoredFWState) -> None:
    """Thin factors again, and fresh predictions."""
    A, sigma, Bt = np.linalg.svd(s.C, full_matrices=False)
    k = int(np.count_nonzero(sigma > 1e-12 * sigma.max(initial=0.0)))
    P, sigma, Q = s.P @ A[:, :k], sigma[:k], s.Q @ Bt[:k].T
    z = _predict(problem, P, np.diag(sigma), Q)
    value = _value(problem, z, np.diag(sigma))
    for share in (1e-2, 1e-3):
        few = int(np.count_nonzero(sigma > share * sigma.max(initial=0.0)))
        if few == sigma.size:
            continue
        core = np.diag(sigma[:few] * (float(sigma.sum()) / float(sigma[:few].sum())))
        trial = _predict(problem, P[:, :few], core, Q[:, :few])
        if _value(problem, trial, core) <= value:
            s.P, s.C, s.Q, s.z = P[:, :few], core, Q[:, :few], trial
            return
    s.P, s.C, s.Q, s.z = P, np.diag(sigma), Q, z
