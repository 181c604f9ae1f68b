"""Mirror descent and Mirror Prox on the saddle point of a loss of several classes, in the entropic geometry.

Problem, geometry and bounds: `game`. What both share:

Means, weighted by gamma: `all` of the stage, `tail` from the last power of two of its iterations on (better at small gaps), `best` both of
them, `none` for the last point. By linearity they cost no product.

Radius: that of the set; of a penalty `radius`, or the one at which the loss could first vanish, doubled while it binds (`state.grown`), from
where the iterates were with a tenth of their mass spread evenly, up to P / lambda. The certificate does not depend on it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends import costs
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.method import Estimate, Method, Report, Run
from fwdsl.backends.multiclass import game as games
from fwdsl.backends.multiclass.game import Game
from fwdsl.backends.multiclass.loops import entropic
from fwdsl.backends.multiclass.state import GameState, MirrorState, grown, judge, mixed
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.spectral.operators import nothing

WORK = 4_000_000
"""Multiplications that one step of the driver is worth, at least, and the most iterations it takes for that."""
MOST_INNER = 16

UP, DOWN = 1.3, 0.5
MOST_TRIES = 60

ROUNDING = 1e-14
"""The noise of the adaptive test, beside the joint entropy's 1: near a solution both its sides are rounding, and steps would be halved for ever."""

WIDEST = 1e9
"""Times the theory's step: where all steps hold, on a solution, they would be raised out of the range of numbers."""

AVERAGES = ("best", "all", "tail", "none")

STEP = Option(1.0, "what the step is multiplied by", lower=1e-9, upper=1e9)
RADIUS = Option(
    None, "the bound of |U|_1 to start with, where a penalty gives none", kind=float, lower=0.0, open_lower=True
)
HORIZON = Option(None, "the iterations a constant step is for", kind=int, lower=1)
AVERAGE = Option("best", "the iterates whose mean is the answer", choices=AVERAGES)

OVERFLOW = "no step is within the range of numbers: rescale the data, their weights or the radius"

G = TypeVar("G", bound=GameState)


class GameMethod(Method):
    """The shared parts of the mirror methods."""

    by_name_only = "slower than pdhg wherever it was measured"
    most_iterations = 1_000_000

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return games.reasons(arrangement)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Predictions by the rows of one data matrix, two classes or more, a bounded set or a penalty above 0."""
        return games.value_reasons(canonical)

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, Any]) -> tuple[str, ...]:
        """No radius beside that of a set."""
        ball = canonical.blocks[0].g.radius()
        if options.get("radius") not in (None, "auto") and math.isfinite(ball):
            return (f"`radius` is that of the set, {ball:g}: give none",)
        return ()

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """The estimate of a sublinear method, with both points, their logarithms, means and those of a step in memory."""
        return replace(costs.fw(canonical, tol), memory=costs.memory(canonical, 24, 20))


class GameRun(Run[PreparedProblem, G]):
    """A run on the problem as a game."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        self.game = Game.of(problem)

    def first(self, radius: float) -> float:
        return 1.0 / self.game.pace(radius)

    def report(self) -> Report:
        s = self.state
        failure = "" if 0.0 < self.first(s.radius) < math.inf else OVERFLOW
        return Report(s.value, s.best_bound, f"{self.method.title}, radius {s.radius:.3g}", failure=failure)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        return self.state.best_x, [self.state.best_u] if self.state.best_u.size else None


def start(game: Game, cls: type[G], radius: float | None, x: Array) -> tuple[G, Array]:
    """A state with its radius and P and D at x and the centre of V, and the slope there (one or two data passes)."""
    problem = game.problem
    x = problem.prox_g(x, 0.0)
    z = game.forward(x) if np.any(x) else problem.terms[0].map.offset.reshape(game.n, game.k).copy()
    u = game.multipliers(np.exp(game.uniform()[1]))
    slope = game.slope(u)
    value = game.value(x, z)
    safe = game.safe_radius(value)
    chosen = game.first_radius(value, slope) if radius is None else min(radius, safe)
    state = cls(0, max(chosen, min(safe, 1.2 * float(np.abs(x).sum()))) if np.any(x) else chosen)
    judge(game, state, x, z, u, slope)
    return state, x


def begin(game: Game, s: MirrorState, x: Array) -> None:
    """U around x, and empty means."""
    s.log_u = game.around(x, s.radius) if np.any(x) else game.uniform()[0] + math.log(s.radius)
    s.U = np.exp(s.log_u)
    s.mean_x, s.mean_z = np.zeros(x.size), np.zeros((game.n, game.k))
    s.mean_u, s.mean_slope = np.zeros((game.n, game.k)), np.zeros(x.size)
    s.late = [np.zeros_like(a) for a in (s.mean_x, s.mean_z, s.mean_u, s.mean_slope)]
    s.total, s.late_total, s.tail = 0.0, 0.0, s.k


def spread(game: Game, s: MirrorState) -> None:
    """The iterates in a larger ball, a tenth of their mass spread evenly: entries that vanished may come back."""
    begin(game, s, game.flat(s.U))
    s.log_v = mixed(s.log_v, game.classes)
    s.V = np.exp(s.log_v)


def add(s: MirrorState, weight: float, x: Array, z: Array, u: Array, slope: Array, average: str) -> None:
    """One more iterate into the means, which start afresh where `average` says so."""
    late = s.k - s.began >= 2 * (s.tail - s.began) + 1
    s.tail = s.k if late else s.tail
    if average == "none" or (average == "tail" and late):
        s.total = 0.0
    s.total = _mix((s.mean_x, s.mean_z, s.mean_u, s.mean_slope), (x, z, u, slope), weight, s.total)
    if average == "best":
        s.late_total = _mix(s.late, (x, z, u, slope), weight, 0.0 if late else s.late_total)
    s.k += 1


def _mix(means: Sequence[Array], new: Sequence[Array], weight: float, total: float) -> float:
    total += weight
    # the smallest steps may be 0
    share = weight / total if total > 0.0 else 1.0
    for mean, value in zip(means, new, strict=True):
        mean += share * (value - mean)
    return total


class _MirrorRun(GameRun[MirrorState]):
    """A run with exact slopes, whose state is a `kept`."""

    kept: ClassVar[type[MirrorState]]

    def __init__(self, problem: PreparedProblem, radius: float | None, average: str) -> None:
        super().__init__(problem)
        self.radius, self.average = radius, average

    def begin(self, x: Array, ys: Sequence[Array] | None) -> MirrorState:
        """The centres of both sets, or U around a given start."""
        game = self.game
        state, x = start(game, self.kept, self.radius, x)
        begin(game, state, x)
        state.log_v = game.uniform()[1]
        state.V = np.exp(state.log_v)
        return state

    @abstractmethod
    def iterate(self, look: Callable[[], None] = nothing) -> None:
        """One iteration, into the means; before it writes there it may take a look at the clock."""

    def step(self) -> None:
        """An iteration, or several of a small problem, and a certificate of their means."""
        problem, game, s = self.problem, self.game, self.state
        inner = min(MOST_INNER, max(1, WORK // max(1, problem.canonical.nnz * game.k)))
        # the driver could not take back the changes of a first iteration in the means
        look = problem.look if inner == 1 else nothing
        for _ in range(inner):
            self.iterate(look)
        s.iteration += 1
        if self.average == "best":
            judge(game, s, *s.late)
        judge(game, s, s.mean_x, s.mean_z, s.mean_u, s.mean_slope)
        if grown(game, s):
            spread(game, s)


class MirrorDescentState(MirrorState):
    """The state of a run of `mirror_descent`."""


class MirrorProxState(MirrorState):
    """The state of a run of `mirror_prox`."""


class MirrorDescent(GameMethod):
    r"""Entropic mirror descent; options `step`, `horizon`, and `radius`, `average` as the module says.

    Problem: min over U max over V of sum_i w_i (<v_i - e_{y_i}, z_i> - f(v_i, y_i)) + <q, U> + lambda |U|_1, z_i = c x_i U + o_i, each v_i in the
    simplex, U in an l1 ball, a simplex or free (`game`).

    Iteration (MD), with the exact slopes q + G, G = c X'(w (V - Y)), and z at the same point (U, V):

        U <- U exp(-2 gamma R L (q + G)) min(exp(-2 gamma R L lambda), R / M)          (24)
        V <- V exp(2 gamma log(k) W (z - Y)) by rows normalised                         (25), or its closed form for softmax

    Steps, of `pace` = L_UV (Omega_U Omega_V)^(1/2): gamma_t = step / (pace (5 (t + 1))^(1/2)), or step / (pace (5 T)^(1/2)) with `horizon` T
    (Theorem 2.1). The answer is the mean of the iterates.

    Complexity: two data passes an iteration, gap 2 5^(1/2) pace / T^(1/2) (+ r / T for softmax). An iteration of the driver is several of
    small problems (`WORK`), with one certificate.

    Source: Babichev, Ostrovskii, Bach 2019, (22) to (25), Theorem 2.1. Corrected: the gradients of (23) are swapped in the introduction; Omega_U of
    the unnormalised entropy on the filled simplex is R^2 (1 + log 2dk); softmax needs no root search.
    """

    name = "mirror_descent"
    title = "mirror descent"
    source = "Babichev, Ostrovskii, Bach 2019, (MD)"
    options = MappingProxyType({"step": STEP, "horizon": HORIZON, "radius": RADIUS, "average": AVERAGE})


class MirrorDescentRun(_MirrorRun, of=MirrorDescent):
    """Mirror descent on a problem."""

    kept = MirrorDescentState

    def __init__(
        self, problem: PreparedProblem, step: float, horizon: int | None, radius: float | None, average: str
    ) -> None:
        super().__init__(problem, radius, average)
        self.multiplier, self.horizon = step, horizon

    def iterate(self, look: Callable[[], None] = nothing) -> None:
        """Take both steps from the same point."""
        game, s = self.game, self.state
        t = self.horizon if self.horizon is not None else s.k - s.began + 1
        s.gamma = self.multiplier / (game.pace(s.radius) * math.sqrt(5.0 * t))
        x, u = game.flat(s.U), game.multipliers(s.V)
        z, slope = game.forward(x), game.slope(u)
        add(s, s.gamma, x, z, u, slope, self.average)
        a, b = game.steps(s.gamma, s.radius)
        s.log_u, s.U = game.primal_step(s.log_u, slope, a, s.radius)
        s.log_v, s.V = game.dual_step(s.log_v, z, b)


class MirrorProx(GameMethod):
    r"""Mirror Prox; options `rule`, `step`, and `radius`, `average` as the module says.

    Problem: as `MirrorDescent`, with F(W) = (q + G, -z) at W = (U, V), D the divergence of the joint entropy (21).

    Iteration: W' = the step (24), (25) from W with F(W); W+ = the step from W with F(W'). The answer is the mean of the W'.

    Steps:

        theory     step / (2 pace), 2 pace being the Lipschitz constant of F in the joint norm of (21)
        adaptive   the largest gamma for which gamma <F(W') - F(W), W' - W+> <= D(W', W) + D(W+, W'), by 1.3 up after a step that holds, halved
                   and tried again after one that does not: 50 to 500 times the theory's (the constant is that pessimistic). Both sides fall
                   with the square of the step to rounding near a solution: a miss of 1e-14 holds, where the joint entropies are 1.

    Complexity: four data passes an iteration, two more for each further try, gap O(pace / T). An iteration of the driver is several of small
    problems (`WORK`), with one certificate.

    Source: Nemirovski 2004; Juditsky, Nemirovski 2011; the geometry of Babichev, Ostrovskii, Bach 2019. Corrected: its step is not that of
    Theorem 2.1, as section 5 of the last has it; the others of `MirrorDescent`.
    """

    name = "mirror_prox"
    title = "Mirror Prox"
    source = "Nemirovski 2004; Babichev, Ostrovskii, Bach 2019"
    options = MappingProxyType(
        {
            "rule": Option("adaptive", "where the steps come from", choices=("adaptive", "theory")),
            "step": Option(1.0, "what the first step is multiplied by, with rule=\"theory\" all", lower=1e-9, upper=1e9),
            "radius": RADIUS,
            "average": AVERAGE,
        }
    )  # fmt: skip


class MirrorProxRun(_MirrorRun, of=MirrorProx):
    """Mirror Prox on a problem."""

    kept = MirrorProxState

    def __init__(self, problem: PreparedProblem, rule: str, step: float, radius: float | None, average: str) -> None:
        super().__init__(problem, radius, average)
        self.adaptive, self.multiplier = rule == "adaptive", step

    def iterate(self, look: Callable[[], None] = nothing) -> None:
        """A step to W', and one with its slopes; the adaptive rule tries until they are one step of the method."""
        game, s = self.game, self.state
        safe = 1.0 / (2.0 * game.pace(s.radius))
        s.gamma = s.gamma if self.adaptive and s.gamma > 0.0 else self.multiplier * safe
        x, u = game.flat(s.U), game.multipliers(s.V)
        z, slope = game.forward(x), game.slope(u)
        for _ in range(MOST_TRIES):
            look()
            a, b = game.steps(s.gamma, s.radius)
            half_log_u, half_u = game.primal_step(s.log_u, slope, a, s.radius)
            half_log_v, half_v = game.dual_step(s.log_v, z, b)
            half_x, half_m = game.flat(half_u), game.multipliers(half_v)
            half_z, half_slope = game.forward(half_x), game.slope(half_m)
            log_u, new_u = game.primal_step(s.log_u, half_slope, a, s.radius)
            log_v, new_v = game.dual_step(s.log_v, half_z, b)
            if not self.adaptive:
                break
            fall = float((half_slope - slope) @ (half_x - game.flat(new_u)))
            fall -= float(((half_z - z) * (half_m - game.multipliers(new_v))).sum())
            apart, rows_apart = (
                kernel(entropic.divergence, reorder=True),
                kernel(entropic.weighted_divergence, reorder=True),
            )
            parts_apart = apart(half_u, half_log_u, s.log_u, s.U) + apart(new_u, log_u, half_log_u, half_u)
            rows = rows_apart(game.w, half_v, half_log_v, s.log_v) + rows_apart(game.w, new_v, log_v, half_log_v)
            apart_both = parts_apart / (2.0 * s.radius * game.entries) + rows / (2.0 * game.W * game.classes)
            if s.gamma * fall <= apart_both + ROUNDING:
                break
            s.gamma *= DOWN
        add(s, s.gamma, half_x, half_z, half_m, half_slope, self.average)
        s.log_u, s.log_v, s.U, s.V = log_u, log_v, new_u, new_v
        if self.adaptive:
            s.gamma = min(UP * s.gamma, WIDEST * safe)
