r"""Matrix completion with a trace norm, on factors.

Problem: min over X (n x p) of  sum_e w_e l(X_{i_e j_e}; b_e) + mu |X|_F^2 + lambda |X|_*  subject to  |X|_* <= R,

lambda, mu >= 0, R <= inf, l smooth. With X = U V', W = [U; V] and |X|_* = min |W|_F^2 / 2 (Burer, Monteiro 2003; Srebro, Rennie, Jaakkola 2005)

    min over W of  h(W) = F(U V') + lambda/2 |W|_F^2   subject to   |W|_F^2 <= 2 R,      grad F(U V') = [G V; G'U],

F(X) = f(P_Omega(X)) + mu |X|_F^2, G = P_Omega*(f') + 2 mu X. |X|_F^2 = <U'U, V'V>; G is a sparse matrix and one of low rank.

Update: accelerated projected gradient with backtracking on L and gradient restart (Beck, Teboulle 2009; O'Donoghue, Candes 2015);
the ball's projection is a scaling. Every few steps the factors are balanced, and the top singular pairs (u, v) of -G outside their
span are found: where they exceed the multiplier m = -<G, X> / |X|_* and make up most of the gap, W is a saddle point of too low a
rank, and the pairs join it as new columns at the best point of a segment; columns whose own <u, -G v> is below m leave, if that does
not raise h. Where the gap falls slowly, the point is corrected on the joined spectra (`joined`), which levels the singular values it lags on.

Lower bounds: h is not convex, the problem is. With y = f'(z), G = K'y + 2 mu X and s >= sigma_1(G),

    D = -f*(y) - mu |X|_F^2 - R (s - lambda)_+     and     D = -f*(c y) - mu |c X|_F^2, c = min(1, lambda / s)

bound the optimum, whatever W is; for lambda = 0 the first is the Frank-Wolfe gap <G, X> + R s. The verifier proves s.
"""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.lowrank.data_map import LowRankUpdate, inner
from fwdsl.backends.lowrank.factors import balanced, thin_svd
from fwdsl.backends.lowrank.held import HeldObserved
from fwdsl.backends.lowrank.joined import corrected
from fwdsl.backends.lowrank.observed import ObservedEntries
from fwdsl.backends.lowrank.smooth import Smooth, on_segment
from fwdsl.backends.method import State
from fwdsl.light_dataclass import light_state
from fwdsl.spectral.operators import LinearOperator
from fwdsl.spectral.top import SingularTriplets, top_singular

EPS = float(np.finfo(np.float64).eps)

NEAR = 0.02
"""The gap, relative to the value, from which on a point is corrected on the joined spectra."""

JOIN_EVERY = 25
"""Steps between two such corrections: the spectra must turn before another helps."""


@light_state
class CompletionState(State):
    """The state of a run on observed entries."""

    W: Array  # [U; V], X = U V'
    W_old: Array  # its predecessor
    z: Array  # predictions at W
    t: float  # momentum
    lipschitz: float  # L
    value: float  # h(W)
    gap: float = math.inf  # as estimated at the last check
    wait: int = 10  # steps until the next check of the rank
    checked: int = 0  # the step of the last check
    needed: float = 0.0  # steps that the gap needs at the rate at which it fell between the last two checks
    next_joined: int = JOIN_EVERY  # the step from which on the point is corrected on the joined spectra
    phase: str = "accelerated gradient"  # of the last step

    def count(self, gap: float, aim: float) -> None:
        """Note the gap, and how many steps it needs to fall to `aim`."""
        fell = math.log(self.gap / gap) if 0.0 < gap < self.gap < math.inf else 0.0
        left = math.log(gap / aim) if gap > aim > 0.0 else 0.0
        known = self.gap < math.inf and left > 0.0
        self.needed = (left * (self.iteration - self.checked) / fell if fell > 0.0 else math.inf) if known else 0.0
        self.gap, self.checked = gap, self.iteration


class Outside:
    """(I - P P') G (I - Q Q'), by its products: the part of a gradient outside the span of the factors."""

    def __init__(self, G: LinearOperator, P: Array, Q: Array) -> None:
        self.G, self.P, self.Q = G, P, Q
        self.shape: tuple[int, int] = G.shape

    def matvec(self, x: Array) -> Array:
        y = self.G.matvec(x - self.Q @ (self.Q.T @ x))
        return np.asarray(y - self.P @ (self.P.T @ y))

    def rmatvec(self, y: Array) -> Array:
        x = self.G.rmatvec(y - self.P @ (self.P.T @ y))
        return np.asarray(x - self.Q @ (self.Q.T @ x))

    matmat = matvec
    rmatmat = rmatvec


class Completion:
    """The problem of this module's docstring. `loss` is over the entries in their order by rows (`Entries.order`) and must be smooth."""

    def __init__(
        self,
        entries: ObservedEntries | HeldObserved,
        loss: LossFunction | Smooth,
        radius: float = math.inf,
        penalty: float = 0.0,
        threads: int = 1,
        ridge: float = 0.0,
    ) -> None:
        self.f = loss if isinstance(loss, Smooth) else Smooth(loss, Pool(threads), entries.leaves)
        self.look = self.f.fast.pool.look
        if not radius > 0.0 or penalty < 0.0 or (penalty == 0.0 and math.isinf(radius)):
            raise ValueError("a positive radius or a positive penalty is needed")
        self.entries, self.radius, self.penalty, self.ridge = entries, radius, penalty, ridge
        self.n = entries.shape[0]

    # --- the function of the factors ------------------------------------------------------------------------------------------

    def predict(self, W: Array) -> Array:
        return self.entries.predict(W[: self.n], W[self.n :])

    def value(self, W: Array, z: Array) -> float:
        return self.f.value(z) + self._regularisers(W)

    def _regularisers(self, W: Array) -> float:
        U, V = W[: self.n], W[self.n :]
        squares = self.ridge * inner(U, V, U, V) if self.ridge else 0.0
        return 0.5 * self.penalty * float(np.vdot(W, W)) + squares

    def _operator(self, y: Array, U: Array, V: Array) -> LinearOperator:
        """G at X = U V'."""
        sparse = self.entries.operator(y)
        return LowRankUpdate(sparse, 1.0, 2.0 * self.ridge * U, V) if self.ridge else sparse

    def gradient(self, W: Array, z: Array) -> tuple[float, Array, Array]:
        """(h(W), grad h(W), y = f'(z))."""
        U, V = W[: self.n], W[self.n :]
        loss, y, left, right = self.entries.slopes(self.f, z, U, V)
        value, grad = loss + self._regularisers(W), np.vstack([left, right])
        if self.penalty:
            grad += self.penalty * W
        if self.ridge:
            grad += 2.0 * self.ridge * np.vstack([U @ (V.T @ V), V @ (U.T @ U)])
        return value, grad, y

    def project(self, W: Array) -> Array:
        """The projection on |W|_F^2 <= 2 R."""
        square = float(np.vdot(W, W))
        return W if square <= 2.0 * self.radius else W * math.sqrt(2.0 * self.radius / square)

    # --- the method -----------------------------------------------------------------------------------------------------------

    def init(self, rank: int, seed: int = 0) -> CompletionState:
        """The state at the top pairs of minus the gradient at 0, scaled by a line search."""
        shape = self.entries.shape
        zeros = self.entries.zeros()
        y = np.empty_like(zeros)
        self.f.value_gradient(zeros, y)
        top = top_singular(self.entries.operator(y), min(rank, *shape), 1e-2, seed=seed, look=self.look)
        self.entries.touched += top.products
        share = self.radius if math.isfinite(self.radius) else self._reach(y, top)
        empty = np.zeros((sum(shape), 0))
        # pairs that cost more than they gain would keep the line search at zero
        weights = np.maximum(top.s - self.penalty, 0.0) if self.penalty else np.ones(top.s.size)
        weights = weights if weights.any() else np.ones(top.s.size)
        W, z = self._add(empty, zeros, top, weights, share)
        return self._start(W, z, self._curvature(W, z))

    def _reach(self, y: Array, top: SingularTriplets) -> float:
        """A trace norm up to which to search along -G where no radius bounds it: |X*|_* <= (P(0) - inf f) / lambda."""
        infimum = self.f.infimum()
        zeros = self.f.value(self.entries.zeros())
        if math.isfinite(infimum):
            return max((zeros - infimum) / self.penalty, 1e-300)
        return max(1.0, float(top.s.sum()) / self.f.f.lipschitz)

    def start(self, U: Array, V: Array) -> CompletionState:
        """The state at X = U V', its factors balanced and moved into the ball."""
        W = self.project(balanced(*thin_svd(U, V)))
        z = self.predict(W)
        return self._start(W, z, self._curvature(W, z))

    def _start(self, W: Array, z: Array, lipschitz: float) -> CompletionState:
        return CompletionState(0, W, W, z, 1.0, lipschitz, self.value(W, z))

    def _curvature(self, W: Array, z: Array) -> float:
        """g' H g / |g|^2 of h along its gradient g at W, or, where h is not curved, the L of a step as long as W; backtracking corrects it."""
        _, grad, y = self.gradient(W, z)
        square = float(np.vdot(grad, grad))
        if square == 0.0:
            return 1.0
        U, V, DU, DV = W[: self.n], W[self.n :], grad[: self.n], grad[self.n :]
        z1, z2 = self.entries.predict_path(U, V, DU, DV)
        along = self.f.bend(z, z1) + 2.0 * self.f.dot(y, z2)
        if self.ridge:
            first = inner(U, DV, U, DV) + 2.0 * inner(U, DV, DU, V) + inner(DU, V, DU, V)
            along += 2.0 * self.ridge * (first + 2.0 * inner(U, V, DU, DV))
        found = abs(along) / square + self.penalty
        size = float(np.linalg.norm(W))
        return found if found > 0.0 else math.sqrt(square) / size if size > 0.0 else 1.0

    def step(self, s: CompletionState, tol: float = 1e-6) -> None:
        """One accelerated gradient step, and now and then a check of the rank; `tol` is the relative gap below which no rank is raised."""
        t = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.t * s.t))
        beta = (s.t - 1.0) / t
        Y, zy = (s.W, s.z) if beta == 0.0 else (s.W + beta * (s.W - s.W_old), None)
        value, grad, _ = self.gradient(Y, self.predict(Y) if zy is None else zy)
        s.lipschitz *= 0.9
        # values compare steps as long as the decrease that L allows is well above their rounding; below that slopes do
        blind = 1e3 * EPS * abs(value)
        for _ in range(60):
            self.look()
            W = self.project(Y - grad / s.lipschitz)
            step = W - Y
            z = self.predict(W)
            found = self.value(W, z)
            square = float(np.vdot(step, step))
            if square == 0.0:
                break
            if 0.5 * s.lipschitz * square > blind:
                bend = 2.0 * (found - value - float(np.vdot(grad, step)))
            else:
                bend = float(np.vdot(self.gradient(W, z)[1] - grad, step))
            if bend <= s.lipschitz * square * (1.0 + 1e-9):
                break
            s.lipschitz = min(max(1.3 * s.lipschitz, 1.05 * bend / square), 8.0 * s.lipschitz)
        if float(np.vdot(step, W - s.W)) < 0.0:
            s.t, s.W_old = 1.0, W
        else:
            s.t, s.W_old = t, s.W
        s.W, s.z, s.value = W, z, found
        s.iteration += 1
        s.wait -= 1
        if s.wait <= 0:
            self._check(s, tol)

    def _check(self, s: CompletionState, tol: float) -> None:
        """Estimate the gap; leave out columns that vanish, and add pairs where the rank is too small to close the gap."""
        P, sigma, Q = self._directions(s.W)
        nuclear = float(sigma.sum())
        y = np.empty_like(s.z)
        self.f.value_gradient(s.z, y)
        along = self.f.dot(y, s.z) + 2.0 * self.ridge * float(sigma @ sigma)
        multiplier = -along / nuclear if nuclear > 0.0 else 0.0
        op = self._operator(y, P * sigma, Q)
        own = -np.einsum("ij,ij->j", P, self.entries.left(y, np.ascontiguousarray(Q))) - 2.0 * self.ridge * sigma
        reach = min(self.radius, s.value / self.penalty if self.penalty else math.inf)
        top = top_singular(
            op,
            1,
            1e-3,
            Q.sum(axis=1, keepdims=True) if Q.shape[1] else None,
            method="lanczos",
            seed=s.iteration,
            max_products=80,
            look=self.look,
        )
        self.entries.touched += top.products
        excess = reach * max(0.0, float(top.s[0]) - max(multiplier, self.penalty))
        s.count(excess + max(0.0, self.penalty - multiplier) * nuclear, tol * abs(s.value))
        s.wait = 10
        if s.gap <= tol * abs(s.value):
            s.phase = "converged"
            s.wait = 5
            return
        s.phase = "accelerated gradient"
        self._drop(s, P, sigma, Q, own, multiplier)
        if (
            not self._raise(s, Outside(op, P, Q), max(multiplier, self.penalty), reach, excess)
            and s.iteration >= s.next_joined
        ):
            self._join(s, op, reach, 0.1 * tol * abs(s.value))

    def _join(self, s: CompletionState, op: LinearOperator, reach: float, aim: float) -> None:
        """Correct the point on the joined spectra, where the gap is near enough for it to matter."""
        if not s.gap <= NEAR * abs(s.value) or s.needed <= JOIN_EVERY:
            return
        s.next_joined = s.iteration + JOIN_EVERY
        W, z = corrected(self, op, *self._directions(s.W), reach, aim)
        W = self.project(W)
        value = self.value(W, z)
        if value <= s.value:
            s.W = s.W_old = W
            s.z, s.value, s.t = z, value, 1.0
            s.phase = "joined spectra"
            s.wait = 1

    def _drop(self, s: CompletionState, P: Array, sigma: Array, Q: Array, own: Array, multiplier: float) -> None:
        small = (sigma <= 0.02 * sigma.max(initial=0.0)) & (own < multiplier)
        if not small.any() or small.all():
            return
        W = balanced(P[:, ~small], sigma[~small], Q[:, ~small])
        total = float(sigma.sum()) if math.isfinite(self.radius) else float(sigma[~small].sum())
        W *= math.sqrt(total / float(sigma[~small].sum()))
        z = self.predict(W)
        value = self.value(W, z)
        if value <= s.value:
            s.W = s.W_old = W
            s.z, s.value, s.t = z, value, 1.0

    def _raise(self, s: CompletionState, outside: Outside, multiplier: float, reach: float, excess: float) -> bool:
        # pairs inside the span are the gradient's own business
        least = min(outside.shape) - outside.P.shape[1]
        count = min(max(4, outside.P.shape[1] // 2), least)
        if count <= 0:
            return False
        top = top_singular(outside, count, 1e-2, seed=s.iteration, max_products=40 + 6 * count, look=self.look)
        self.entries.touched += top.products
        worth = top.s > multiplier * (1.0 + 1e-12)
        if not worth.any() or reach * (float(top.s[0]) - multiplier) < 0.3 * excess:
            return False
        weights = np.where(worth, top.s - multiplier, 0.0)
        W, z = self._add(s.W, s.z, top, weights, reach)
        value = self.value(W, z)
        if value < s.value:
            s.W = s.W_old = W
            s.z, s.value, s.t = z, value, 1.0
            s.phase = "rank raised"
            return True
        return False

    def _add(self, W: Array, z: Array, top: SingularTriplets, weights: Array, reach: float) -> tuple[Array, Array]:
        """The best point of the segment from X to S = -reach sum_i c_i u_i v_i', c in proportion to the weights, with its predictions."""
        at = weights > 0.0
        c = reach * weights[at] / weights[at].sum()
        S = np.vstack([-top.U[:, at], top.V[:, at]]) * np.sqrt(c)
        zs = self.predict(S)
        slope, bend = self.penalty * (reach - 0.5 * float(np.vdot(W, W))), 0.0
        if self.ridge:
            U, V, L, R = W[: self.n], W[self.n :], S[: self.n], S[self.n :]
            own, between, other = inner(U, V, U, V), inner(U, V, L, R), inner(L, R, L, R)
            slope += 2.0 * self.ridge * (between - own)
            bend = 2.0 * self.ridge * (own - 2.0 * between + other)
        gamma = on_segment(self.f, z, zs - z, slope, bend)
        return np.hstack([math.sqrt(1.0 - gamma) * W, math.sqrt(gamma) * S]), z + gamma * (zs - z)

    # --- the answer ---------------------------------------------------------------------------------------------------------

    def _directions(self, W: Array) -> tuple[Array, Array, Array]:
        """(P, sigma, Q) with X = P diag(sigma) Q', directions of no size left out: no gradient of the factors moves along them."""
        P, sigma, Q = thin_svd(W[: self.n], W[self.n :])
        keep = sigma > 1e-12 * sigma.max(initial=0.0)
        return P[:, keep], sigma[keep], Q[:, keep]

    def factors(self, s: CompletionState) -> tuple[Array, Array, Array]:
        """(P, sigma, Q) with X = P diag(sigma) Q'; sum sigma <= R."""
        P, sigma, Q = self._directions(s.W)
        total = float(sigma.sum())
        return P, sigma * min(1.0, self.radius / total) if total > 0.0 else sigma, Q
