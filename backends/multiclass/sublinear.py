r"""Stochastic mirror descent for several classes with l1 regularisation, at O(n + d + k) an iteration: the sublinear algorithm.

Problem, geometry and bounds: `game`. Both slopes of a step are estimated without bias from samples of the data.

`full` (multiclass hinge): a row j of X with probability t_j |V_j - Y_j|_1 and a class l in it with |V_jl - Y_jl|; a column i of X and a class
l' with probability s_i U_il', t_j = w_j |x_j|_inf, s_i the size of column i. Then one column of the slope of U and one of X U are not 0:

    G:  x_j w_j sign(V_jl - Y_jl) (sum_j t_j |V_j - Y_j|_1) / t_j  in column l,       X U:  x^i (sum s_i U_il) / s_i  in column l'

A step changes one class of U and two entries a row of V, and scales the rest. So U = alpha U~ with one number alpha, V_j = beta_j V~_j:

    U~(:, l) *= exp(-2 gamma L R eta),   alpha *= nu = min(exp(-2 gamma L R lambda), R / M)
    V~(j, l') *= omega_j,  V~(j, y_j) *= theta (omega_j theta where l' = y_j),  beta_j /= chi_j,   omega_j = exp(2 gamma log(k) W xi_j),
    theta = exp(-2 gamma log(k) W),   chi_j = 1 - beta_j (the fall of the two entries)

`partial` (either loss; the default where `full` is not known): a row j and a column i, with probabilities as w_j |x_j|_inf |V_j - Y_j|_inf
and |x^i| |U_i|_inf; the estimates have rank one, and a step goes through all of U and V: O(d k + n k).

A step multiplies U+_il and divides U-_il by the same number: their product is one number alpha^2 c for all entries, so that U~+ alone is kept.

Means of the iterates are kept lazily: with A = sum of the alphas, that of U = U+ - U- is U_sum + A U~, where U_sum takes (u - u') A when an entry
of U~ changes. Scalings are folded in before digits are lost (methods of the page `sublinear` in docs/papers say what fails otherwise): alpha where
it is below 1e-6 A; beta_j of a row alone where it is below 1e-6 B_j, where the row's rounding error, carried along as (error + 2e-16 (2 + omega)) /
chi, passes 1e-9, or where chi is not positive; all before a step so steep (exponents above 10) that what is pending would cancel. A folded row is
normalised by its true sum. That is rare: no fixed schedule is safe, and each costs more.

Layout: U~ and V~ by classes, so that an update runs through contiguous memory, which is asked for (`kernels.prefetch`) before it is used; V(j, y_j)
apart; X by rows and by columns (dense data are copied once). The class l' is drawn first, from the sums of s_i U~_il' of which only one changes a
step, then i in that class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import costs
from fwdsl.backends.finite_sum import draws
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.prefetch import prefetch_function
from fwdsl.backends.method import Estimate
from fwdsl.backends.multiclass.data import Data, first_step, partial_estimates
from fwdsl.backends.multiclass.game import Game
from fwdsl.backends.multiclass.loops import picks, sampling
from fwdsl.backends.multiclass.loops.entropic import exponentials
from fwdsl.backends.multiclass.mirror import AVERAGES, HORIZON, RADIUS, STEP, GameMethod, GameRun, begin, spread, start
from fwdsl.backends.multiclass.state import GameState, MirrorState, grown, judge, mixed, nothing
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.products import product_of
from fwdsl.canon.form import Canonical

CHUNK = 8_000_000
"""Numbers that the iterations of a step go through at most."""

CALLS = 100_000
"""Numbers that an iteration of partial sampling could go through in the time of its calls."""

GROWTH = 2
"""A certificate is asked for when the iterations have grown by this part of them."""

INNER: tuple[Function, ...] = (
    sampling.added,
    picks.pick,
    sampling.row_chances,
    picks.pick_feature,
    picks.pick_class,
    sampling.column_sums,
    sampling.update_primal,
    sampling.update_dual,
    sampling.fold_primal,
    sampling.fold_sample,
)

EARLY = 10_000.0
"""Steps do not start larger than those of a constant step for so many iterations: points near vertices take long to come back, and so do means."""

MOST_STEPS = 50
"""Steps of the driver between two certificates."""

LEAST = 4
"""And after the time of so many of its products, at a fifth of the cost of a number of an iteration."""


@dataclass
class SublinearState(GameState):
    """The state of a run of full sampling: the lazily scaled points and their sums of `loops.sampling`."""

    U: Array = field(default_factory=nothing)  # U~+ by classes (k, d)
    U_sum: Array = field(default_factory=nothing)  # the sum of the U, pending parts left out
    mass: Array = field(default_factory=nothing)  # the sum of U~ for each class
    weighted: Array = field(default_factory=nothing)  # the sum of s_i U~ for each class
    blocks: Array = field(default_factory=nothing)  # its parts, block by block
    scale: Array = field(default_factory=nothing)  # (alpha, A, c)
    V: Array = field(default_factory=nothing)  # V~ by classes (k, n), 0 at (y_j, j)
    V_sum: Array = field(default_factory=nothing)  # the sum of the V, pending parts left out
    groups: Array = field(default_factory=nothing)  # the sums of V~ over groups of classes
    own: Array = field(default_factory=nothing)  # V~(j, y_j)
    beta: Array = field(default_factory=nothing)  # the scales of the rows of V
    B: Array = field(default_factory=nothing)  # the sums of the beta
    error: Array = field(default_factory=nothing)  # bounds a row's rounding
    total: float = 0.0  # the weight of all iterates in the sums
    tail: int = 0  # the iteration since which they are in them
    judged: int = 0  # that of the last certificate
    folds: int = 0  # folded rows


@dataclass
class PartialState(MirrorState):
    """The state of a run of partial sampling."""

    judged: int = 0  # the iteration of the last certificate


class Sublinear(GameMethod):
    r"""The sublinear algorithm; options `sampling`, `step`, `horizon`, and `radius`, `average` as in `mirror`.

    Problem: min over U max over V of sum_i w_i (<v_i - e_{y_i}, z_i> - f(v_i, y_i)) + <q, U> + lambda |U|_1, z_i = c x_i U + o_i, each v_i in the
    simplex, U in an l1 ball, a simplex or free (`game`).

    Iteration (SMD): (24) and (25) of `mirror.MirrorDescent` with estimates of G and of X U without bias, from one row and one column of X drawn
    before either update; with full sampling, lazily (see the module).

    Steps: gamma_t = step min(1 / (L_UV (5 Omega_U Omega_V)^(1/2)), (Omega_U sigma_V^2 + Omega_V sigma_U^2)^(-1/2)) / (2 T)^(1/2), sigma from
    (34): (35) with `horizon` T, constant. Without one T = t + 10,000 (t + 1 as theory has it, at its start, throws points to vertices from
    which the means do not recover: measured).

    Complexity: O(n + d + k) an iteration with full sampling on dense data, O(d k + n k) with partial; gap O(log(2dk) R max(...) / T^(1/2)) (36):
    measured, 12 times below that bound at the step of the theory, 64 times at ten times it. A certificate costs two products of the data with
    matrices, O(n d k); they are asked for when the iterations have grown by half. An iteration of the driver is a block of those of
    the algorithm, which `state.k` counts.

    Source: Babichev, Ostrovskii, Bach 2019, Algorithm 1 with Procedures 1 to 4, Theorem 3.1, Propositions 3.1 and 3.2. Corrected: line 11 of
    Procedure 2 multiplies by omega again (row sums drift off by 0.2 to 0.7); line 7 of Algorithm 1 has |V_j|_1 for |V_j - Y_j|_1; both draws are
    made before either update, as in (SMD) (Algorithm 1 updates U in between); line 15 has the drawn j in its sum; eq. (65) misses a 2.
    """

    name = "sublinear"
    title = "sublinear mirror descent"
    source = "Babichev, Ostrovskii, Bach 2019, Algorithm 1"
    options = MappingProxyType(
        {
            "sampling": Option(
                None, "one entry of each point a step, or one row", kind=str, choices=("full", "partial")
            ),
            "step": STEP,
            "horizon": HORIZON,
            "radius": RADIUS,
            "average": Option("all", "the iterates whose mean is the answer", choices=AVERAGES[1:3]),
        }
    )

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """The requirements of a game, and data that are not all zero."""
        found = super().requires_values(canonical)
        if not found:
            product = product_of(canonical.terms[0].map.parts[0][1])
            assert product is not None
            A = product.left.A
            if product.c == 0.0 or not (A.data.any() if hasattr(A, "indptr") else np.any(A)):
                found = ("its data are all zero",)
        return found

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Full sampling is for the hinge, and for predictions and objectives without constants or linear terms."""
        found = super().requires_options(canonical, options)
        return found if options.get("sampling") != "full" else found + not_full(canonical)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """The estimate of a sublinear method, with the points, their sums and a copy of the data for the other order in memory."""
        return replace(costs.fw(canonical, tol), memory=costs.memory(canonical, 14, 14) + 8.0 * canonical.nnz)


class SublinearRun(GameRun[SublinearState | PartialState], of=Sublinear):
    """Sampled mirror descent on a problem; `data` are its rows and columns."""

    def __init__(
        self,
        problem: PreparedProblem,
        sampling: str | None,
        step: float,
        horizon: int | None,
        radius: float | None,
        average: str,
    ) -> None:
        super().__init__(problem)
        self.sampling, self.multiplier, self.horizon = sampling, step, horizon
        self.radius, self.average = radius, average
        self.data = Data.of(self.game)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SublinearState | PartialState:
        """The centres of both sets, or U around a given start."""
        problem, game = self.problem, self.game
        # where nothing is said: full sampling wherever it is known
        if self.sampling == "partial" or (self.sampling is None and not_full(problem.canonical)):
            state, x = start(game, PartialState, self.radius, x)
            begin(game, state, x)
            state.log_v = game.uniform()[1]
            state.V = np.exp(state.log_v)
            return state
        lazy, x = start(game, SublinearState, self.radius, x)
        log_u = game.around(x, lazy.radius) if np.any(x) else game.uniform()[0] + math.log(lazy.radius)
        self._place(lazy, np.exp(log_u), np.exp(game.uniform()[1]))
        return lazy

    def _place(self, s: SublinearState, U: Array, V: Array) -> None:
        """The lazy state at U (parts, d k), whose signs have one product, and V (n, k), with empty sums."""
        game, data = self.game, self.data
        s.U = np.ascontiguousarray(U[0].reshape(game.d, game.k).T)
        s.scale = np.array([1.0, 0.0, U[0, 0] * U[1, 0] if game.parts == 2 else 0.0])
        s.mass, s.blocks = np.zeros(game.k), np.zeros((game.k, 2 * -(-game.d // picks.BLOCK)))
        sums = kernel(sampling.column_sums, reorder=True)
        for l in range(game.k):
            s.mass[l] = sums(s.U[l], s.scale[2], data.sigma, s.blocks[l])
        s.weighted = s.blocks.sum(axis=1)
        s.V = np.ascontiguousarray(V.T)
        samples = np.arange(game.n)
        s.own = s.V[game.y, samples]
        s.V[game.y, samples] = 0.0
        s.groups = np.add.reduceat(s.V, np.arange(0, game.k, picks.BLOCK))
        s.beta, s.error = np.ones(game.n), np.zeros(game.n)
        self._forget(s)

    @staticmethod
    def _forget(s: SublinearState) -> None:
        """Begin the sums for the means anew."""
        s.U_sum, s.V_sum = np.zeros_like(s.U), np.zeros_like(s.V)
        # the lazy sums are U_sum + A (U~ - c / U~): with A at 0 nothing is pending
        s.scale[1] = 0.0
        s.B = np.zeros_like(s.beta)
        s.total, s.tail = 0.0, s.k

    def first(self, radius: float) -> float:
        """(35) at T = 1."""
        return first_step(self.game, radius)

    def gammas(self, count: int) -> Array:
        """The steps of the next iterations."""
        s = self.state
        if self.horizon is not None:
            t = np.full(count, float(self.horizon))
        else:
            t = np.arange(s.k - s.began, s.k - s.began + count, dtype=np.float64) + EARLY
        return np.asarray(self.multiplier * self.first(s.radius) / np.sqrt(t))

    def step(self) -> None:
        """A block of iterations, and a certificate of the means where one is due."""
        game, s = self.game, self.state
        if isinstance(s, SublinearState):
            per_iteration = 16 * (game.n + game.d) + game.k
        else:
            # in NumPy: on small problems the calls take the time
            per_iteration = 8 * (game.n + game.d) * game.k + CALLS
        certificate = LEAST * game.n * game.d * game.k // 5 // per_iteration
        due = max(s.judged + max(certificate, (s.judged - s.began) // GROWTH), s.judged + 1)
        # the driver takes many steps without a new certificate for the end of all progress
        count = max(1, min(due - s.k, max(CHUNK // per_iteration, (due - s.judged) // MOST_STEPS + 1)))
        if self.average == "tail" and s.k - s.began >= 2 * (s.tail - s.began) + 1:
            if isinstance(s, SublinearState):
                self._forget(s)
            else:
                s.total, s.tail = 0.0, s.k
        if isinstance(s, SublinearState):
            self.advance(s, count)
        else:
            self.advance_partial(s, count)
        s.iteration += 1
        if s.k >= due:
            self._judge()
            s.judged = s.k

    # --- full sampling ----------------------------------------------------------------------------------------------

    def advance(self, s: SublinearState, count: int) -> None:
        """Take `count` iterations of full sampling, their draws those of the driver's iteration."""
        game, data = self.game, self.data
        gammas = self.gammas(count)
        primal, dual = game.steps(1.0, s.radius)
        # of one size whatever the step: folding compares scalings with their weighted sums
        weights = gammas / gammas[0] if self.horizon is not None else gammas / first_step(game, s.radius)
        uniform = draws(self.problem.seed, s.iteration).random((count, 5))
        shared = (
            data.rows,
            data.columns,
            game.y,
            data.sigma,
            data.tau,
            data.peaks,
            data.row_scale,
            game.c,
        )
        steps = (primal * gammas, dual * gammas, -primal * game.lam * gammas, weights)
        primal_point = (s.U, s.U_sum, s.mass, s.weighted, s.blocks, s.scale)
        dual_point = (s.V, s.V_sum, s.groups, s.own, s.beta, s.B, s.error)
        loop = steps_kernel(data.sparse)
        s.folds += loop(shared, uniform, steps, s.radius, game.exact, primal_point, dual_point)
        s.total += float(weights.sum())
        s.k += count
        data.counted.touched += round(count * data.touched)

    def points(self, s: SublinearState) -> tuple[Array, Array]:
        """U (parts, d k) and V (n, k) as they are."""
        game = self.game
        U = np.stack([s.U, s.scale[2] / s.U][: game.parts]) * s.scale[0]
        return U.transpose(0, 2, 1).reshape(game.parts, -1), self._by_row(game, s.V * s.beta, s.own * s.beta)

    def means(self, s: SublinearState) -> tuple[Array, Array]:
        """The weighted means of the iterates: x = U+ - U- (d k) and V (n, k)."""
        game = self.game
        U = (s.U_sum + (s.U - s.scale[2] / s.U) * s.scale[1]) / s.total
        # sums of falls may end an ulp below 0
        V = np.maximum(s.V_sum + s.V * s.B, 0.0) / s.total
        V = self._by_row(game, V, np.maximum(1.0 - V.sum(axis=0), 0.0))
        return (U if game.parts == 2 else np.maximum(U, 0.0)).T.reshape(-1), V / V.sum(axis=1, keepdims=True)

    @staticmethod
    def _by_row(game: Game, V: Array, own: Array) -> Array:
        V = V.T.copy()
        V[np.arange(game.n), game.y] = own
        return V

    # --- partial sampling -------------------------------------------------------------------------------------------

    def advance_partial(self, s: PartialState, count: int) -> None:
        """Take `count` steps as `advance` does, with partial sampling."""
        problem, game, data = self.problem, self.game, self.data
        gammas = self.gammas(count)
        uniform = draws(problem.seed, s.iteration).random((count, 2))
        for gamma, (to_row, to_column) in zip(gammas, uniform, strict=True):
            estimate_slope, estimate_z = partial_estimates(game, data, s.U, s.V, to_row, to_column)
            s.total += gamma
            share = gamma / s.total
            s.mean_x += share * (game.flat(s.U) - s.mean_x)
            s.mean_u += share * (s.V - s.mean_u)
            a, b = game.steps(gamma, s.radius)
            s.log_u, s.U = game.primal_step(s.log_u, estimate_slope + problem.q, a, s.radius)
            s.log_v, s.V = game.dual_step(s.log_v, estimate_z + problem.terms[0].map.offset.reshape(game.n, game.k), b)
        s.k += count
        data.counted.touched += round(count * data.touched)

    # --- certificates -----------------------------------------------------------------------------------------------

    def _judge(self) -> None:
        game, s = self.game, self.state
        if isinstance(s, SublinearState):
            x, V = self.means(s)
        else:
            x, V = s.mean_x, s.mean_u
        u = game.multipliers(V)
        judge(game, s, x, game.forward(x), u, game.slope(u))
        if not grown(game, s):
            return
        if isinstance(s, SublinearState):
            U, V = self.points(s)
            self._place(s, np.exp(game.around(game.flat(U), s.radius)), np.exp(mixed(np.log(V), game.classes)))
        else:
            spread(game, s)


def not_full(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why full sampling does not cover a problem that the method does."""
    (term,) = canonical.terms
    assert isinstance(term.f, VectorLossFunction)
    found = []
    if not term.f.loss.piecewise_linear:
        found.append(f'`sampling="full"` takes `multiclass_hinge` only, and the loss is `{term.f.name}`')
    if np.any(term.map.offset) or np.any(canonical.q):
        found.append('`sampling="full"` takes no constants in predictions and no linear terms')
    return tuple(found)


def steps_kernel(sparse: bool) -> Function:
    """The compiled iterations of full sampling: sums in vector registers, exponentials as written."""
    uses = {f.__name__: kernel(f, reorder=True) for f in INNER}
    sums = {name: uses[name] for name in ("fold_primal", "column_sums", "added")}
    uses |= {
        "touch": kernel(sampling.touch, prefetch=prefetch_function()),
        "fold_all": kernel(sampling.fold_all, reorder=True, fuse=False, parts=(), **sums),
        "exponentials": kernel(exponentials, fuse=True),
        "line": sampling.csr_line if sparse else sampling.dense_line,
    }
    return kernel(sampling.full_steps, reorder=True, fuse=False, parts=(), **uses)
