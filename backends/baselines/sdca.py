"""Stochastic dual coordinate ascent, for elastic nets and for sets with one multiplier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import ConvexSet, Joint
from fwdsl.backends import finite_sum
from fwdsl.backends.baselines.common import (
    Baseline,
    BaselineRun,
    BaselineState,
    between_looks,
    conditioning,
    epochs_a_step,
    linear_estimate,
)
from fwdsl.backends.baselines.loops import csr_advance, dense_advance, sdca_rows
from fwdsl.backends.baselines.samples import linked
from fwdsl.backends.finite_sum import FiniteSum, draws
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.kernels.storage import Sparse
from fwdsl.backends.method import Estimate
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.light_dataclass import light_state
from fwdsl.words import CONVEX, SETS, SetWord


def _has_multiplier(word: SetWord) -> bool:
    """True if a set has one multiplier: a threshold of all entries, or the factor of the Euclidean ball."""
    return word.of != "matrix" and not word.grouped and (word.threshold or _is_round(word))


def _is_round(word: SetWord) -> bool:
    """True if it is the Euclidean ball."""
    return bool(word.norm) and CONVEX[word.norm].euclidean


@light_state
class SDCAState(BaselineState):
    """The state of a run of `sdca`; x is the response to v at the multiplier."""

    y: Array = field(default_factory=lambda: np.zeros(0))  # the dual point
    v: Array = field(default_factory=lambda: np.zeros(0))  # -(q + K'y)
    threshold: float = 0.0  # of the response
    inverse: float = 1.0  # 1 / (mu + tau), its scale
    epoch: int = 0  # where a step was broken off: epochs done of it
    at: int = 0  # and rows visited in the next


class SDCA(Baseline):
    r"""Stochastic dual coordinate ascent, for elastic nets and for sets with one multiplier.

    Problem: min sum_i f_i(a_i x + b_i) + <q, x> + g(x) + (mu / 2) |x|^2, mu > 0, any scalar losses f_i = w_i l(.; b_i); g a box, a norm1, a norm1
    over a box (nonnegative, linf_ball, box), or a ball or simplex: l1_ball, l2_ball, simplex, solid_simplex, each alone or with norm1.

        D(y) = -sum_i [f_i*(y_i) - b_i y_i] - G*(v),   v = -(q + A'y),   G = g + (mu / 2) |.|^2,   x = grad G*(v)

    Each y_i in turn is moved to the maximiser of the lower bound that the curvature 1 / mu of G* gives (Prox-SDCA, option I of the paper):

        y_i <- argmin_y f_i*(y) - z_i y + (|a_i|^2 / (2 mu)) (y - y_i)^2,   z_i = a_i x + b_i

    which is a prox of f_i by Moreau's identity. For separable g the response x is a function of each entry of v and kept up to date beside it.

    For balls and simplices G* is not separable; with the multiplier tau of the constraint it is: on the l1 ball

        D(y, tau) = -sum_i [...] - |soft(v, tau)|^2 / (2 mu) - tau r

    jointly concave, so tau is one more coordinate: it is frozen over n / B rows and then set exactly by the prox of g, B times an epoch
    (B = nnz / (5 d), cut to [5, 100]). On the l2 ball tau adds to mu.

    y starts at f'(K x + b), which saves about half of the passes against y = 0, as measured. Rows are visited in a random order that is drawn
    afresh for each epoch (`order="permutation"`), or drawn with replacement as in the theory (`"uniform"`). A row of zeros takes y_i = f_i'(b_i).

    Complexity: O((n + R / (mu gamma)) log(1 / eps)) row visits for (1 / gamma)-smooth losses, R = max n w |a_i|^2; O(n + R / (mu eps)) for
    Lipschitz ones. An epoch is two passes, its certificate one more.

    Source: Shalev-Shwartz, Zhang 2013, 2014 (Prox-SDCA).

    `state.iteration` counts steps of as many epochs as make 50,000 touches.

    Options `multiplier` (updates of tau an epoch), `order`.
    """

    name = "sdca"
    title = "stochastic dual coordinate ascent"
    source = "Shalev-Shwartz, Zhang 2013, 2014"
    options = MappingProxyType(
        {
            "multiplier": Option(None, "updates of the multiplier of a ball or simplex, an epoch", kind=int, lower=1),
            "order": Option("permutation", "how rows are drawn", choices=("permutation", "uniform")),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One loss over samples, a ridge, and a set and norm as above."""
        boxes = [name for name, word in SETS.items() if word.bounds]
        balls = [name for name, word in SETS.items() if _has_multiplier(word)]
        sets, norms = (None, *boxes, *balls), (None, *(name for name, word in CONVEX.items() if word.adds_sizes))
        return finite_sum.reasons(arrangement, sets=sets, norms=norms, smooth=False, ridge=True)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        return finite_sum.value_reasons(canonical)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """1 + kappa / n epochs for each factor e of the gap, of two passes and a certificate now and then."""
        n, kappa = conditioning(canonical)
        return linear_estimate(canonical, tol, 1.0 + kappa / n, 2.5, 5.0, "visits of each sample")


class SDCARun(BaselineRun[SDCAState], of=SDCA):
    """Dual coordinate ascent on a problem."""

    phase = "dual coordinate ascent"

    def __init__(self, problem: PreparedProblem, multiplier: int | None, order: str) -> None:
        super().__init__(problem)
        self.multiplier, self.order = multiplier, order
        self.sum = FiniteSum.of(problem)
        self.squares = self.sum.row_squares()
        (g,) = problem.g
        self.inner = without_ridge(g.f)
        self.on = self.inner.on if isinstance(self.inner, Joint) else self.inner
        word = None if self.on.pair[1] is None else SETS[self.on.pair[1]]
        self.budget = self.on.budget()
        self.is_round = word is not None and _is_round(word)
        self.has_multiplier = self.is_round or self.budget is not None

    def begin(self, x: Array, ys: Sequence[Array] | None) -> SDCAState:
        """y of the start if there is one, else the slopes at x."""
        problem, of = self.problem, self.sum
        s = self.started(SDCAState, x, None)
        if ys is not None and len(ys) == 1 and ys[0].size == of.n:
            s.y = ys[0].copy()
        else:
            s.y = problem.losses_gradient([of.forward(s.x)])[1][0]
        of.f.into_domain(s.y)
        s.v = -(of.adjoint(s.y) + problem.q)
        self._respond(s)
        self._certify(s)
        return s

    def _respond(self, s: SDCAState) -> None:
        """x = grad G*(v), and the multiplier of its constraint."""
        problem = self.problem
        (g,) = problem.g
        mu = g.f.curvature
        u = s.v / mu
        x = np.empty_like(u)
        type(g)(self.inner).prox(u, 1.0 / mu, x)
        s.x = x
        c = float(getattr(self.inner, "c", 0.0))
        s.threshold, s.inverse = c, 1.0 / mu
        if self.is_round:
            soft = np.maximum(np.abs(s.v) - c, 0.0)
            size = float(np.linalg.norm(soft))
            s.inverse = float(np.linalg.norm(x)) / size if size > 0.0 else 1.0 / mu
        elif self.budget is not None:
            signed = self.budget.signed
            top = float(np.abs(s.v).max(initial=0.0)) if signed else float(s.v.max(initial=-math.inf))
            kept = mu * float(np.abs(x).max(initial=0.0))
            s.threshold = top - kept if self.budget.exact else max(c, top - kept)

    def _certify(self, s: SDCAState) -> None:
        """P at the response to v, and D(y): one pass, v being kept."""
        problem = self.problem
        objective = problem.objective(s.x, problem.forward(s.x))
        s.keep_point(s.x, objective)
        self.keep_bound(s, [s.y.copy()], -(s.v + problem.q))

    def step(self) -> None:
        problem, s, of = self.problem, self.state, self.sum
        f = of.loss
        lower, upper = of.f.dual_bounds
        lo, hi = self._box()
        advance = csr_advance if isinstance(of.operator.storage, Sparse) else dense_advance
        loop = linked(sdca_rows, of.row_kernels, f.loss, advance=advance)
        data, after = of.data, (self.squares, lower, upper, s.y, s.v)
        signed, bounded = self.budget is None or self.budget.signed, lo.size > 0
        most = between_looks(of.operator.nnz / of.n, 1, 0)
        parts = np.cumsum([part.size for part in np.array_split(np.empty(of.n), self._parts())])
        epochs = epochs_a_step(of.operator.nnz)
        while s.epoch < epochs:
            rng = draws(problem.seed, (s.iteration << 8) + s.epoch)
            order = rng.permutation(of.n) if self.order == "permutation" else rng.integers(0, of.n, of.n)
            while s.at < of.n:
                end = int(parts[np.searchsorted(parts, s.at, side="right")])
                visited = order[s.at : min(end, s.at + most)]
                of.count(loop(data, visited, *after, s.x, s.threshold, s.inverse, signed, bounded, lo, hi))
                s.at += visited.size
                if s.at == end and self.has_multiplier:
                    self._respond(s)
                if (s.at < of.n or s.epoch + 1 < epochs) and problem.must_stop():
                    return
            s.epoch, s.at = s.epoch + 1, 0
            s.epochs += 1.0
        s.epoch = 0
        s.iteration += 1
        if s.due():
            self._certify(s)

    def _parts(self) -> int:
        """Multiplier updates an epoch."""
        of = self.sum
        if not self.has_multiplier:
            return 1
        wanted = self.multiplier if self.multiplier is not None else min(max(of.operator.nnz // (5 * of.d), 5), 100)
        return max(1, min(wanted, of.n))

    def _box(self) -> tuple[Array, Array]:
        """The bounds of the box, empty where there is none."""
        # a set, of the frame of all sets, that is no more than bounds
        if isinstance(self.on, ConvexSet) and self.on.pair[1] is not None and self.on.entries() is not None:
            return self.on.bounds()
        return np.zeros(0), np.zeros(0)
