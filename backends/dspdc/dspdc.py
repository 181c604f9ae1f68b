r"""Doubly stochastic primal-dual coordinates, as a method of the planner."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import smoothness
from fwdsl.backends import costs
from fwdsl.backends.baselines.common import BaselineRun
from fwdsl.backends.baselines.samples import unbounded_curvature
from fwdsl.backends.dspdc import blocks, coordinates
from fwdsl.backends.dspdc.blocks import BlockSampling
from fwdsl.backends.dspdc.coordinates import CoordinateSampling
from fwdsl.backends.dspdc.links import places_of
from fwdsl.backends.dspdc.state import DSPDCState
from fwdsl.backends.dspdc.steps import StepSizes, sampled_scale, steps_of
from fwdsl.backends.finite_sum import draws, not_one_loss, reasons
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.method import Estimate, Method
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.requirements import positive_ridges
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical

STARTING_SHARE = 0.1
"""The share of the lesser guess of Lambda that is tried first: as measured, a quarter to a tenth is 1.5 to 3 times faster than the whole."""

GROWTH = 2.0
"""A gap so many times the least one so far says that Lambda is too small."""

RAISE = 4.0
"""The factor that raises Lambda then."""

PATIENCE = 20.0
"""Logarithm of the contraction that theory promises for a Lambda that is large enough, after which a gap that was not halved says that it is not."""

REST = 0.2
"""After a certificate, the share of all work so far that is done before the next."""

LONGEST_REST = 16.0
"""Full gradients, or sweeps over the blocks, between certificates at most."""


class DSPDC(Method):
    r"""Doubly stochastic primal-dual coordinate method.

    Problem: min over x of (1/n) sum_i phi_i(<K_i, x> + b_i) + <q, x> + sum_j g_j(x_j), phi_i = n w_i l(.; b_i) (1 / gamma)-smooth, each g_j
    mu-strongly convex; as a saddle point

        min over x max over y   sum_j g_j(x_j) + <q, x> + (1/n) <y, K x> - (1/n) sum_i phi_i*(y_i)

    For random samples I of m of the n rows and J of q of the p blocks of x, with u = K'y and v = K x or, for K = U V, u = U'y and v = V x:

        y_i <- argmax_b (1/n) (<K_i, xbar> b - phi_i*(b)) - (b - y_i)^2 / (2 sigma),  i in I;     ybar = y_old + (n/m) (y - y_old)
        x_j <- argmin_a (1/n) <K^j, ybar> a + q_j a + g_j(a) + |a - x_j|^2 / (2 tau),  j in J;    xbar = x_old + (1 + theta) (x - x_old)

    A vector variable goes by coordinates (Algorithm 1; Algorithm 2 where the program has a product of two matrices, which is never formed);
    g_j is then |x_j|, a box, or both, with its ridge. Where there are several variables or a family (matrix risk minimisation, (30)), or a matrix,
    each variable and each member of a family is a block with any prox, an eigendecomposition for psd. Differences of `quad(U, F[task])` are
    Algorithm 3: a prediction is a'X a - c'X c and S_j = sum_i y_i (a a' - c c') is moved by E' diag(dy) E, without an outer product.

    Steps: (15), (16) with theta of Theorem 1 or 2 (`theorem`), from mu = min_j mu_j, gamma and Lambda >= max |K_I^J|_2^2. `Lambda` multiplies
    the estimate m q max_i |K_i|^2 / p of the paper. Where it is not given, Lambda starts at a tenth of the lesser of that estimate and 1.1 times
    the largest of some random blocks, and the gap is watched: when it is twice the least one so far, or has not been halved where theory
    promises e^-20, Lambda is multiplied by 4 and the run starts again from the best pair; not beyond m max_i |K_i|^2, which is always enough.

    Complexity: O((max(n/m, p/q) + sqrt(Lambda / (n mu gamma)) n p / (m q)) log(1 / eps)) iterations, of O(r (m + q)) for U (n, r) and V (r, p);
    of q eigendecompositions and the products of m rows or q columns for blocks. Certificates take a pass (and an eigendecomposition a block),
    a fifth of the work so far apart, at most 16 full gradients or sweeps.

    Source: Yu, Lin, Yang, Doubly stochastic primal-dual coordinate method for bilinear saddle-point problems (2015), Algorithms 1, 2, 3,
    Theorems 1 and 2. Corrected: (23) has <V^j, ubar>, where the text before it has vbar; Lambda = m q Lambda_{p,1} / p, not m q R^2 Lambda_{p,1} / p;
    (29) is around x_j; (38) is right with W^0 = sum ybar_i Z_i and B^0 = 0 and its sum over all p tasks, and is computed here as S + (n/m) B, S += B,
    which does not drift; xbar_j = x_j for the coordinates of earlier samples; the logistic loss has gamma = 4, and its prox is taken in z.

    `state.iteration` counts steps of as many iterations as take about a millisecond. `state.decompositions` counts the eigendecompositions of
    the updates, `state.checks` those of the certificates.
    """

    name = "dspdc"
    title = "doubly stochastic primal-dual coordinates"
    source = "Yu, Lin, Yang 2015"
    by_name_only = "it loses to full gradients wherever they can be taken at all (docs/papers/dspdc.md)"
    most_iterations = 10_000_000
    options = MappingProxyType(
        {
            "m": Option(None, "rows whose dual coordinates are updated in an iteration", kind=int, lower=1),
            "q": Option(None, "coordinates or blocks of x that are updated in an iteration", kind=int, lower=1),
            "Lambda": Option(
                None,
                "what the paper's estimate m q max |K_i|^2 / p is multiplied with; by default Lambda is found from random blocks and watched",
                kind=float,
                lower=0.0,
                open_lower=True,
            ),
            "theorem": Option(1, "the theorem whose theta is taken: 1 (distance) or 2 (gap)", lower=1, upper=2),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One smooth loss over samples, and a ridge on each variable."""
        plans = arrangement.blocks
        found = list(reasons(arrangement)) if len(plans) == 1 else list(_losses(arrangement))
        found += [
            f"it needs a `sum_squares({b.name})`, which makes its steps strongly convex" for b in plans if not b.ridges
        ]
        return tuple(found)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Data by rows, ridges that are not zero, a bounded second derivative."""
        found = positive_ridges(canonical)
        if not all(_counts(canonical)):
            found.append(
                "there is nothing to draw: the variables have no entries, as those of features that are all zero"
            )
        if found:
            return tuple(found)
        view = coordinates if _by_coordinates(canonical) else blocks
        return view.value_reasons(canonical) or unbounded_curvature(canonical)

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, object]) -> tuple[str, ...]:
        """No more rows and blocks than there are."""
        n, p = _counts(canonical)
        found = []
        m, q = options.get("m"), options.get("q")
        if isinstance(m, int | float) and m > n:
            found.append(f"`m` is {m:g}, and there {'is 1 row' if n == 1 else f'are {n} rows'}")
        if isinstance(q, int | float) and q > p:
            names = ", ".join(b.name for b in canonical.blocks)
            what = ("coordinate" if _by_coordinates(canonical) else "block") + ("" if p == 1 else "s")
            found.append(f"`q` is {q:g}, and {names} {'has' if len(canonical.blocks) == 1 else 'have'} {p} {what}")
        return tuple(found)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """The iterations of Theorem 1 for the usual m and q and the Lambda that is tried first, on a guess of the condition number."""
        n, p = _counts(canonical)
        m, q = (coordinates if _by_coordinates(canonical) else blocks).batches(None, None, n, p)
        rho = max(n / m, p / q) + math.sqrt(STARTING_SHARE * costs.condition(canonical) * (n / m) * (p / q))
        iterations = rho * max(1.0, -math.log(tol))
        passes = iterations * (m / n + q / p)
        rows, columns = "a row" if m == 1 else f"{m:,} rows", "coordinates" if _by_coordinates(canonical) else "blocks"
        why = f"about {iterations:,.0f} iterations of {rows} and {q:,} of {p:,} {columns}: Theorem 1 with the first Lambda"
        # data by columns, or the rows and blocks at hand, are copied
        memory = costs.memory(canonical, 10, 10, 8.0 * canonical.nnz)
        return Estimate(passes, costs.seconds(canonical, passes, passes), memory, why)


class DSPDCRun(BaselineRun[DSPDCState], of=DSPDC):
    """Doubly stochastic coordinates on a problem; `of` holds it by coordinates or by blocks."""

    phase = "doubly stochastic coordinates"

    def __init__(
        self, problem: PreparedProblem, m: int | None, q: int | None, Lambda: float | None, theorem: int
    ) -> None:
        super().__init__(problem)
        self.multiplier, self.theorem = Lambda, theorem
        self.of = (CoordinateSampling if _by_coordinates(problem.canonical) else BlockSampling)(problem, m, q)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> DSPDCState:
        """Lambda from the data; y of the start if there is one, else 0 or the slopes at x, whichever has the better bound."""
        with serial_blas():
            return self._begin(x, ys)

    def _begin(self, x: Array, ys: Sequence[Array] | None) -> DSPDCState:
        problem, of = self.problem, self.of
        s = DSPDCState(0, problem.prox_g(x, 0.0))
        (f,) = problem.functions
        assert isinstance(f, FastLoss)
        if ys is not None and len(ys) == 1 and ys[0].size == of.n:
            starts = [ys[0].copy()]
        else:
            starts = [np.zeros(of.n), problem.losses_gradient(problem.forward(s.x))[1][0]]
        for y in starts:
            s.y = y
            f.into_domain(s.y)
            of.start(s)
            self._certify(s)
        if not np.array_equal(s.y, s.ys[0]):
            s.y = s.ys[0].copy()
            of.start(s)
        s.scale, s.most = self._scale()
        s.best_gap = s.halved = s.best_value - s.best_bound
        return s

    def _scale(self) -> tuple[float, float]:
        """Lambda and the most that it is raised to: the paper's estimate times `Lambda`, or the first trial and a bound that is surely enough."""
        problem, of = self.problem, self.of
        row = of.largest_row()
        estimate = of.m * of.q * row / of.p
        if self.multiplier is not None:
            return self.multiplier * estimate, 0.0
        found = sampled_scale(of.sampler, of.n, of.p, of.m, of.q, draws(problem.seed, 1 << 40), problem.look)
        return STARTING_SHARE * (min(found, estimate) if found > 0.0 else estimate), of.m * row

    def steps(self) -> StepSizes:
        """The steps for the Lambda of the state."""
        of = self.of
        (f,) = self.problem.functions
        assert isinstance(f, FastLoss)
        lipschitz = of.n * f.f.lipschitz
        gamma = 1.0 / lipschitz if lipschitz > 0.0 else 1.0
        return steps_of(of.n, of.p, of.m, of.q, of.mu, gamma, self.state.scale, self.theorem)

    def _certify(self, s: DSPDCState) -> None:
        """P(x) and D(y), and the sign in their gap that Lambda is too small."""
        problem, of = self.problem, self.of
        objective = of.objective(s)
        s.keep_point(s.x, objective)
        v = -(problem.q + of.response(s))
        bound = problem.canonical.constant - problem.conjugates([s.y])
        bound -= sum(g.conjugate(v[b.slice]) for b, g in zip(problem.canonical.blocks, problem.g, strict=True))
        s.checks += of.decompositions()
        if bound > s.best_bound or not s.ys:
            s.best_bound, s.ys = bound, [s.y.copy()]
        if s.scale > 0.0:
            self._watch(s, objective - bound, 1e-13 * max(abs(objective), abs(bound)))

    def _watch(self, s: DSPDCState, gap: float, noise: float) -> None:
        """Raise Lambda and go back to the best pair where the gap has grown, or has not been halved in many times the time it should take."""
        if gap <= 0.5 * s.halved:
            s.halved, s.waited = gap, 0.0
        grown = not gap <= GROWTH * s.best_gap + noise
        stuck = s.waited > PATIENCE and not gap <= noise
        s.best_gap = min(s.best_gap, gap) if math.isfinite(gap) else s.best_gap
        most = s.most if math.isfinite(gap) else math.inf
        if self.multiplier is None and s.scale < most and (grown or stuck):
            s.scale = min(RAISE * s.scale, most)
            s.raised += 1
            s.waited = 0.0
            s.value = s.best_value
            s.x, s.y = s.best_x.copy(), s.ys[0].copy()
            self.of.start(s)

    def step(self) -> None:
        s, of = self.state, self.of
        steps = self.steps()
        s.epochs += of.step(s, steps, self.problem.seed)
        s.waited += steps.rate * of.iterations()
        s.iteration += 1
        least = 1.0 if isinstance(of, CoordinateSampling) else 2.0
        if s.epochs - s.checked >= min(max(least, REST * s.epochs), LONGEST_REST) - 1e-9:
            with serial_blas():
                self._certify(s)


def _counts(canonical: Canonical) -> tuple[int, int]:
    """n rows, and p coordinates or blocks."""
    return canonical.terms[0].map.rows, canonical.size if _by_coordinates(canonical) else len(places_of(canonical))


def _by_coordinates(canonical: Canonical) -> bool:
    """True if there is one vector variable, no family, no matrix."""
    return len(canonical.blocks) == 1 and len(canonical.blocks[0].shape) == 1


def _losses(arrangement: Arrangement) -> list[str]:
    """The reasons why several variables are under no one smooth loss."""
    rough = [t.text for t in arrangement.sums if t.kind == "loss" and smoothness(t.atom) is None]
    return [*not_one_loss(arrangement), *(f"`{text}` is not smooth" for text in rough)]
