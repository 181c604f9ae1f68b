r"""Generalised stochastic Frank-Wolfe, as a method of the planner."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import costs, finite_sum
from fwdsl.backends.baselines import samples
from fwdsl.backends.baselines.common import (
    MOST_NUMBERS,
    Baseline,
    BaselineRun,
    between_looks,
    conditioning,
    epochs_a_step,
    linear_estimate,
    most_calls,
)
from fwdsl.backends.baselines.samples import (
    SampleSum,
    VectorSamples,
    batch_size,
    linked,
    unbounded_curvature,
)
from fwdsl.backends.finite_sum import draws
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.backends.gsfw import rules
from fwdsl.backends.gsfw.general import adaptive_step, prescribed_step
from fwdsl.backends.gsfw.loops import adaptive_steps, batches_of, prescribed_steps
from fwdsl.backends.gsfw.oracle import Oracle, is_penalty, oracle
from fwdsl.backends.gsfw.state import GSFWState
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.method import Estimate
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.pairs import is_compact

SHARE = 0.1
"""Rows of a batch, over n: the same work as 1 % of the paper with a tenth of the oracle calls (docs/papers/gsfw.md)."""

LEAST_SHARE = 0.01
"""The least with a ridge: smaller blocks allow longer steps, as long as the oracle costs no more than their rows."""

WARM_EPOCHS = 50
"""The epochs that a start counts as, where steps shrink by the iteration."""

REFRESH = 64.0
"""Epochs after which K'y is computed afresh, free of accumulated rounding."""

LARGEST = float(np.finfo(np.float64).max)

LARGEST_STEP = 4_000
"""Iterations of a step at most: single samples have many."""


class GSFW(Baseline):
    r"""Generalised stochastic Frank-Wolfe with a stochastic substitute gradient.

    Problem: min sum_j w_j l_j(a_j x + b_j) + <q, x> + g(x), l smooth, g with a bounded domain and an oracle argmin <c, x> + g(x): a set with a
    linear minimisation oracle, every (norm, set) pair with a joint prox whose set is bounded, anything with a ridge, or a norm that bounds x by
    itself (`oracle`). x is a vector, or a matrix with rows of predictions; a "sample" is then a row.

    Iteration i (Algorithm 1), B_i a batch of b rows, uniform, without replacement:

        x~ = argmin_x <d + q, x> + g(x)                                      the oracle at the substitute gradient d = K'y
        s_j <- (1 - eta_i) s_j + eta_i (a_j x~ + b_j),   j in B_i            the predictions; the others stay
        y_j <- w_j l_j'(s_j),   d <- d + sum_{j in B_i} (y_j - y_j_old) a_j
        x  <- (1 - alpha_i) x + alpha_i x~

    from s = K x_0 + b at the start x_0, which need not be 0. In the dual it is mirror descent on random blocks with the reference function f*
    (Algorithm 2). Losses need not be strictly convex: s then says which subgradient of f* is meant.

    Batches are 10 % of the rows for the rule `open`, else the fewest rows that cost as much as the oracle, 1 % to 10 %.

    Step rules, N = n / b:

    * `open` (Theorem 3.1, the default without a ridge): eta_i = 2N / (2N + i + 1), alpha_i = 2 (2N + i) / ((4N + i)(i + 1)). The bound of the
      theorem is at the mean of the y with weights 2N + i, which is kept row by row, at no cost in n.
    * `theory` (Theorem 3.2, mu > 0): eta = 1 / sigma, alpha_i = q / (1 - (1 - q)^{i+1}), q = 1 / (N sigma), sigma from the rows' norms, or the option
      `sigma`. A sigma below the block's own need diverges: D then need not grow.
    * `adaptive` (the default with mu > 0): sigma = 1 + tau, tau doubled (or set to what was needed) and the step taken again until

          min(|d+ - d|^2 / (2 mu), <x~ - x~+, d+ - d> - (mu / 2) |x~ - x~+|^2) <= tau B_h(y+, y)

      whose left side is at least the Bregman distance of g*, so that D grows as in the theorem's proof; it falls by 1.3 where half of tau was
      enough. B_h(y+, y) = f(s) - f(s+) - <y+, s - s+> on the batch. tau is at most that of the theory. 1 / alpha is carried on, as for a
      constant sigma: 1 / alpha+ = 1 + (1 - q) / alpha.

    Where the ridge is weak (sigma of a row of a thousand and more, n mu far below beta |a_j|^2) the linear rates are slower than `open`
    to modest gaps: on mushrooms, at 700 epochs, `adaptive` has 3.7e-6 where sigma is 100 (`open` 2.2e-3), 2.5e-1 where it is 1,000 (2.9e-3).

    Certificate: the bounds at y and at the mean of the y cost no pass, as K'y is kept; P at x and at the response to y cost one each. The better
    ones are kept. Bounds lag behind P here: other methods certify earlier (docs/papers/gsfw.md).

    Complexity: O((n / b) / eps) iterations (open), O((N sigma) log(1 / eps)) with a ridge; each two touches of its rows, the oracle and O(d).

    Source: Lu, Freund, Generalized stochastic Frank-Wolfe algorithm with stochastic substitute gradient (2018), Algorithm 1, Theorems 3.1, 3.2,
    Remark 3.4. Corrected: for batches n becomes n / b within sigma too, with the squared norm of a block in place of a row's (Remark 3.4
    leaves it at that of a row, with which it diverges on a9a); sigma^{i+1} under- and overflows as printed; (14) lost the star of l-dot.

    `state.iteration` counts steps of about an epoch, less where the oracle is expensive. A step asks `PreparedProblem.must_stop` between iterations.
    `state.k` is the paper's i: k b + n gradients of samples, k calls of the oracle (more where an adaptive step was taken again).
    """

    name = "gsfw"
    title = "generalised stochastic Frank-Wolfe"
    source = "Lu, Freund 2018"
    by_name_only = "its bounds lag without a ridge, and with one `sdca` took fewer passes wherever it was measured"
    options = MappingProxyType(
        {
            "batch": Option(
                None,
                "rows of a batch: a share of the samples below 1, else a count",
                kind=float,
                lower=0.0,
                open_lower=True,
            ),
            "rule": Option(None, "the step rule", kind=str, choices=("open", "theory", "adaptive")),
            "sigma": Option(
                None,
                "the relative smoothness of D of the rule `theory`; from the rows' norms by default",
                kind=float,
                lower=1.0,
            ),
        }
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One smooth loss over samples; one variable with a ridge, in a bounded set, or with a penalty that bounds it."""
        reasons = list(finite_sum.reasons(arrangement))
        for block in arrangement.blocks:
            if block.ridges or is_penalty(block.norm, block.set):
                continue
            if not is_compact(block.set):
                reasons.append(
                    f"{block.name} is not confined to a bounded set, and has no `sum_squares` and no norm that bounds it"
                )
        return tuple(reasons)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Rows of one data matrix, a loss of bounded curvature, an oracle."""
        found = samples.value_reasons(canonical) or unbounded_curvature(canonical)
        if found:
            return found
        (block,) = canonical.blocks
        # whether there is a bound does not depend on the level above
        if oracle(block.g, canonical.q, 1.0) is None or not math.isfinite(_infimum(canonical)):
            return (f"{block.name}: {block.text or 'its domain'} is not bounded, or has no linear oracle",)
        return ()

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, object]) -> tuple[str, ...]:
        """A batch of at most n; the rules of Theorem 3.2 for strongly convex g only."""
        found = list(super().requires_options(canonical, options))
        (block,) = canonical.blocks
        rule, sigma = options.get("rule"), options.get("sigma")
        of = oracle(block.g, canonical.q, 1.0)
        if of is not None and of.mu == 0.0:
            asked = [f'`rule="{rule}"`'] if rule in ("theory", "adaptive") else []
            asked += ["`sigma`"] if isinstance(sigma, int | float) else []
            if asked:
                found.append(
                    f"{' and '.join(asked)}: for strongly convex terms, and {block.name} has no `sum_squares({block.name})`"
                )
        if isinstance(sigma, int | float) and rule in ("open", "adaptive"):
            found.append(f'`sigma` belongs to the rule `theory`, not to `"{rule}"`')
        return tuple(found)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Estimate 1 + kappa / n epochs for each factor e of the gap with a ridge; else 2 / tol, as its bounds took on a9a, w8a and mushrooms."""
        n, kappa = conditioning(canonical)
        (block,) = canonical.blocks
        of = oracle(block.g, canonical.q, 1.0)
        if of is not None and of.mu > 0.0:
            why = "epochs of batches, whose steps adapt to the rows"
            return linear_estimate(canonical, tol, 1.0 + kappa / n, 2.5, 1.0 / LEAST_SHARE, why)
        epochs = 2.0 / tol
        passes, calls = 2.0 * epochs, epochs / SHARE
        why = f"about {epochs:.0f} epochs of batches: its bounds fall like 1/k"
        return Estimate(passes, costs.seconds(canonical, passes, calls), costs.memory(canonical, 10, 11), why)


class GSFWRun(BaselineRun[GSFWState], of=GSFW):
    """Substitute gradients on a problem: `oracle` responds to them."""

    phase = "substitute gradient"

    def __init__(self, problem: PreparedProblem, batch: float | None, rule: str | None, sigma: float | None) -> None:
        super().__init__(problem)
        self.sigma = sigma
        self.samples = SampleSum.of(problem)
        self.oracle = _response(problem)
        default = "adaptive" if self.oracle.mu > 0.0 else "open"
        self.rule = rule or ("theory" if sigma is not None else default)
        share = SHARE
        if self.rule != "open" and self.oracle.function is not None:
            # with a ridge as few rows as hold the numbers that the oracle looks at
            share = min(SHARE, max(LEAST_SHARE, self.samples.size / max(1, problem.canonical.nnz)))
        self.batch = batch_size(batch, self.samples.n, share)
        self.setting = f"{self.rule}, batches of {self.batch}" + (f", sigma {sigma!r}" if sigma is not None else "")

    def begin(self, x: Array, ys: Sequence[Array] | None) -> GSFWState:
        """s, y and K'y at x moved into the domain."""
        problem = self.problem
        s = self.started(GSFWState, x, None)
        (s.s,) = problem.forward(s.x)
        value, (s.y,) = problem.losses_gradient([s.s])
        s.kty = problem.adjoint([s.y])
        self._set(s)
        self.keep_bound(s, [s.y.copy()], s.kty.copy(), value - float(s.kty @ s.x))
        return s

    def _set(self, s: GSFWState) -> None:
        """Begin the rule at s, y and x, wherever they come from: a run of another rule or batch that is resumed is a start for this one."""
        problem, of = self.problem, self.samples
        s.setting, s.k, s.at, s.total, s.inverse, s.share = self.setting, 0, 0, 0.0, 0.0, 0.0
        s.y_sum, s.kty_sum, s.stamp = np.zeros(0), np.zeros(0), np.zeros(0)
        if self.rule == "open":
            s.y_sum, s.kty_sum, s.stamp = np.zeros_like(s.y), np.zeros_like(s.kty), np.zeros(of.n)
            if np.any(s.x != problem.prox_g(np.zeros_like(s.x), 0.0)):
                s.k = round(WARM_EPOCHS * of.n / self.batch)
            return
        rows = of.row_smoothness() / of.n
        s.most = rules.block_smoothness(rows, self.batch, self.oracle.mu)
        s.tau = min(s.most, rules.block_smoothness(rows, 1, self.oracle.mu))
        if self.rule == "theory":
            s.tau = self.sigma - 1.0 if self.sigma is not None else s.most

    def step(self) -> None:
        """Iterations of about an epoch, and a certificate where one is due. One that was broken off draws its batches again, and goes on."""
        problem, s, of, respond = self.problem, self.state, self.samples, self.oracle
        batches = of.n / self.batch
        if s.setting != self.setting:
            self._set(s)
        compiled = isinstance(of, VectorSamples) and respond.function is not None
        (block,) = problem.canonical.blocks
        most = min(LARGEST_STEP, MOST_NUMBERS // (of.size + 1)) if compiled else most_calls(block)
        count = max(1, min(most, round(epochs_a_step(problem.canonical.nnz) * batches)))
        index = drawn(draws(problem.seed, s.iteration), of.n, self.batch, count)
        many = between_looks(problem.canonical.nnz / of.n, self.batch, of.size) if compiled else 1
        adaptive = self.rule == "adaptive"
        run = self._adaptive if adaptive else self._prescribed
        last = respond(s.kty + problem.q) if adaptive else np.zeros(0)
        while s.at < count:
            rows = index[s.at : s.at + many]
            last = run(rows, batches, last)
            s.at += len(rows)
            if s.at < count and problem.must_stop():
                return
        s.at = 0
        s.k += count
        s.epochs += count / batches
        s.iteration += 1
        if s.epochs - s.refreshed >= REFRESH:
            s.kty, s.refreshed = problem.adjoint([s.y]), s.epochs
        if s.due():
            self._certify()

    def _prescribed(self, index: Any, batches: float, last: Array) -> Array:
        """Iterations of the rules `open` and `theory`; `last` is not looked at."""
        problem, s, of, respond = self.problem, self.state, self.samples, self.oracle
        if self.rule == "open":
            etas, alphas, gammas = rules.open_loop(s.k + s.at, len(index), batches)
        else:
            etas, alphas = rules.linear(s.k + s.at, len(index), batches, 1.0 + s.tau)
            gammas = np.zeros(0)
        if not isinstance(of, VectorSamples) or respond.function is None:
            for t, rows in enumerate(index):
                prescribed_step(of, respond, s, rows, etas[t], alphas[t], gammas[t] if gammas.size else 0.0)
            return last
        view = of.sum
        f = view.loss
        loop = linked(
            prescribed_steps, view.row_kernels, derivative=f.loss.value_gradient_loop, respond=respond.function
        )
        point, sums = (s.s, s.y, s.kty, s.x), (s.y_sum, s.kty_sum, s.stamp)
        linear = respond.scale, respond.step, respond.args
        touched, s.total = loop(view.data, index, (etas, alphas, gammas), point, problem.q, sums, s.total, linear)
        view.count(touched)
        return last

    def _adaptive(self, index: Any, batches: float, last: Array) -> Array:
        """Iterations of the rule `adaptive` from the response to y, and the response to the new y."""
        problem, s, of, respond = self.problem, self.state, self.samples, self.oracle
        if not isinstance(of, VectorSamples) or respond.function is None:
            for rows in index:
                last = adaptive_step(of, respond, s, rows, batches, last)
            return last
        view = of.sum
        f = view.loss
        loop = linked(adaptive_steps, view.row_kernels, derivative=f.loss.value_gradient_loop, respond=respond.function)
        numbers = np.array([s.tau, s.inverse, s.share])
        point, linear = (s.s, s.y, s.kty, s.x), (respond.scale, respond.step, respond.args)
        touched = loop(view.data, index, batches, respond.mu, s.most, point, problem.q, last, numbers, linear)
        s.tau, s.inverse, s.share = (float(v) for v in numbers)
        view.count(touched)
        return last

    def _certify(self) -> None:
        """P at the mean of the responses and at the last one, D at y and at the mean of the y."""
        problem, s = self.problem, self.state
        last = self.oracle(s.kty + problem.q)
        if not np.all(np.isfinite(s.x + last + s.kty)):
            # numbers overflowed: the driver ends the run, with the best of before
            s.value = math.inf
            return
        values = []
        for x in (s.x, last):
            # a mean of points in the domain is in it but for rounding
            point = problem.prox_g(x, 0.0)
            values.append(problem.objective(point, problem.forward(point)))
            s.keep_point(point, values[-1])
        s.value = min(values)
        (f,) = problem.functions
        offset = problem.terms[0].map.offset
        self.keep_bound(s, [s.y.copy()], s.kty.copy(), f.value(s.s) - float(s.y @ (s.s - offset)))
        if s.total > 0.0:
            rows = s.y_sum.reshape(s.stamp.size, -1) + s.y.reshape(s.stamp.size, -1) * (s.total - s.stamp)[:, None]
            mean = rows.reshape(-1) / s.total
            assert isinstance(f, FastLoss | FastRows)
            f.into_domain(mean)
            self.keep_bound(s, [mean], s.kty_sum / s.total)


def _response(problem: PreparedProblem) -> Oracle:
    """The oracle of the problem, bounded by P at 0 where a norm is all that bounds x."""
    canonical = problem.canonical
    zero = np.zeros(canonical.size)
    (block,) = canonical.blocks
    value = problem.losses_value([t.map.offset.copy() for t in problem.terms]) + block.g.value(zero)
    # P at 0 may overflow: the root of the largest number, which may be divided by a weight, stands for it
    found = oracle(block.g, canonical.q, min(max(0.0, value - _infimum(canonical)), math.sqrt(LARGEST)))
    assert found is not None, "requires_values() asks for an oracle"
    return found


def drawn(rng: np.random.Generator, n: int, size: int, count: int) -> Any:
    """`count` uniform batches of `size` different rows of n, each in the order of the data: rows apart in memory cost more to reach."""
    k = np.arange(size)
    # a number below 1 times n - k may round to n - k itself
    offsets = np.minimum(k + (rng.random((count, size)) * (n - k)).astype(np.int64), n - 1)
    index = np.empty((count, size), dtype=np.int64)
    kernel(batches_of)(offsets, n, index)
    index.sort(axis=1)
    return index


def _infimum(canonical: Canonical) -> float:
    (term,) = canonical.terms
    assert isinstance(term.f, LossFunction | VectorLossFunction)
    return term.f.infimum()


__all__ = ["GSFW", "drawn"]
