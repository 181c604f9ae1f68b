r"""The largest eigenvalue of a positive semidefinite operator bounded from above by randomly started Lanczos.

**One run.** S positive semidefinite of order N, b uniform on the sphere, xi_k the largest Ritz value after k steps. With t the
component of b in the eigenspace of lambda_1, xi_k < (1 - e) lambda_1 is possible only if |t| cosh((2k - 1) artanh sqrt(e)) < 1
(Chebyshev polynomials of degree 2k - 1 in sqrt(1 - x / (1 - e)); Kuczynski, Wozniakowski 1992), and P(|t| < c) <= 0.824 sqrt(N) c.
So, but for a probability of p,

    lambda_1 <= xi_k / (1 - e_k),    e_k = tanh^2(arcosh(0.824 sqrt(N) / p) / (2k - 1)),                   for all k at once:

the event that is excluded, |t| < p / (0.824 sqrt(N)), does not depend on k, so stopping early costs nothing.

**Deflated.** Alone this needs k ~ 13 / sqrt(e) steps. With an orthonormal Q chosen before b, Q'S Q = diag(theta),
S Q = Q diag(theta) + R, and with mu >= lambda_1 of S on the complement of Q,

    lambda_1(S) <= the largest eigenvalue of the arrow matrix [diag(theta), r; r', mu],   r_i = |R e_i|,

because |<R a, y>| <= sum |a_i| r_i |y|. So e need only be as small as the gap between theta_1 and what is beyond Q, and convergence of Q counts
squared. Q comes from warm vectors and from the Ritz vectors of earlier runs; each run has its own random start and its share of p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..atoms.base import Array
from .block import lobpcg
from .orthogonal import EPS, complete, direction, orthogonalise

Apply = Callable[[Array], Array]


@dataclass(frozen=True)
class RandomBound:
    """lambda_1 <= upper but for the probability asked for; lower is a Ritz value; the vectors locked and the steps of the last run."""

    upper: float
    lower: float
    locked: int
    steps: int


@dataclass(frozen=True)
class _Locked:
    """Q with theta and r, as above."""

    Q: Array
    theta: Array
    r: Array

    @classmethod
    def of(cls, apply: Apply, Q: Array, tol: float, polish: int) -> _Locked:
        """The Ritz vectors of span(Q), polished by LOBPCG, whose residuals are then at most 3 tol of the largest |theta|."""
        if Q.shape[1] == 0:
            return cls(Q, np.zeros(0), np.zeros(0))
        theta, Q, _, r = lobpcg(apply, Q, Q.shape[1], tol, polish)
        good = r <= 3.0 * tol * float(np.abs(theta).max())
        return cls(Q[:, good], theta[good], r[good])

    def with_complement(self, mu: float) -> float:
        """The largest eigenvalue of the arrow matrix."""
        q = self.theta.size
        if q == 0:
            return mu
        arrow = np.zeros((q + 1, q + 1))
        arrow[np.arange(q), np.arange(q)] = self.theta
        arrow[q, :q] = arrow[:q, q] = self.r
        arrow[q, q] = mu
        return float(np.linalg.eigvalsh(arrow)[-1])


def exceeded(k: int, dimension: int, failure: float) -> float:
    """e_k of a run of k steps in a space of this dimension."""
    return float(np.tanh(np.arccosh(max(1.0, 0.824 * np.sqrt(dimension) / failure)) / (2 * k - 1)) ** 2)


def complement_bound(ritz: Array, k: int, dimension: int, failure: float) -> float:
    """mu from the Ritz values, increasing, of a run of k steps; inf where k is too small to say anything."""
    e = exceeded(k, dimension, failure)
    return float(max(ritz[-1], 0.0)) / (1.0 - e) if e < 1.0 else np.inf


def largest_eigenvalue(
    apply: Apply,
    n: int,
    *,
    failure: float,
    rtol: float,
    warm: Array | None,
    seed: int,
    max_steps: int,
    stop: Callable[[], bool] = lambda: False,
) -> RandomBound:
    """An upper bound of lambda_1 within `rtol` of its lower bound (relative to its size), or the best one after `max_steps` steps, or once
    `stop()` is true: inf after too few.

    `apply` takes a vector or a block. The failure probabilities of the runs, failure / 2, / 4, ..., sum up to less than `failure`.
    """
    # a stream that no `default_rng(seed)` elsewhere shares: the start must not depend on the numbers that led to the operator or to `warm`
    starts = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1992,)))
    # residuals count squared, divided by the gap
    tol = 0.03 * np.sqrt(rtol)
    locked = _Locked.of(apply, np.zeros((n, 0)) if warm is None else complete(warm), tol, 12)
    best, budget, steps, runs = np.inf, 48, 0, 0
    while True:
        runs += 1
        run = _Run(apply, n, locked, starts, failure / 2.0**runs)
        run.go(rtol, min(budget, max(1, max_steps - steps)), stop)
        steps += run.k
        best = min(best, run.upper)
        if run.finished or steps >= max_steps or stop():
            return RandomBound(best, run.lower, locked.theta.size, run.k)
        tol *= 0.5
        locked = run.lock(tol)
        budget *= 2


class _Run:
    """One randomly started Lanczos process on the complement of the locked vectors."""

    def __init__(self, apply: Apply, n: int, locked: _Locked, rng: np.random.Generator, failure: float) -> None:
        self.apply, self.locked, self.rng, self.failure = apply, locked, rng, failure
        self.n, self.dimension = n, n - locked.theta.size
        self.k, self.finished = 0, False
        top = float(locked.theta.max(initial=-np.inf))
        self.upper, self.lower = (np.inf, top) if self.dimension else (top, top)
        self.ritz, self.residual = np.zeros(0), 0.0

    def go(self, rtol: float, most: int, stop: Callable[[], bool]) -> None:
        """Take up to `most` steps; finished where the bound is close enough to the largest Ritz value, or the space is exhausted."""
        q, n = self.locked.theta.size, self.n
        if self.dimension == 0:
            self.upper += self._rounding(abs(self.upper))
            self.finished = True
            return
        most = min(most, self.dimension)
        # the locked vectors come first, so that one pass orthogonalises against both
        basis = np.empty((q + most + 1, n))
        basis[:q] = self.locked.Q.T
        v, _ = orthogonalise(self.rng.standard_normal(n), basis[:q])
        basis[q] = v / np.linalg.norm(v)
        T = np.zeros((most, most))
        for k in range(1, most + 1):
            w = self.apply(basis[q + k - 1])
            w, c = orthogonalise(w, basis[: q + k])
            T[k - 1, k - 1] = c[-1]
            at = q + k
            basis[at], beta = direction(w, float(np.abs(T).max()), basis[:at], self.rng)
            self.k = k
            exhausted = beta == 0.0 or k == self.dimension
            stopped = stop()
            if exhausted or stopped or k == most or k % 6 == 0:
                self._assess(T[:k, :k], beta, exhausted, rtol)
                if self.finished or stopped:
                    break
            if k < most:
                T[k, k - 1] = T[k - 1, k] = beta
        self.basis, self.T = basis[q : q + self.k], T[: self.k, : self.k]

    def _assess(self, T: Array, beta: float, exhausted: bool, rtol: float) -> None:
        self.ritz, self.vectors = np.linalg.eigh(T)
        self.residual = beta
        top = float(self.ritz[-1])
        mu = top if exhausted else complement_bound(self.ritz, self.k, self.dimension, self.failure)
        self.lower = float(self.locked.theta.max(initial=top))
        scale = abs(self.lower)
        if not np.isfinite(mu):
            return
        self.upper = self.locked.with_complement(mu) + self._rounding(scale)
        self.finished = (exhausted and self.locked.theta.size == 0) or self.upper - self.lower <= rtol * scale

    def _rounding(self, scale: float) -> float:
        """A bound of the rounding errors in products, bases and Ritz values of numbers of that size."""
        return EPS * (self.n + 8 * (self.k + self.locked.theta.size)) * scale

    def lock(self, tol: float) -> _Locked:
        """Lock the leading Ritz vectors that have converged too; two at least are tried, as LOBPCG may make them converge."""
        residuals = self.residual * np.abs(self.vectors[-1])[::-1]
        open_ones = np.flatnonzero(residuals > tol * abs(self.lower))
        count = int(open_ones[0]) if open_ones.size else residuals.size
        count = min(max(count, 2), residuals.size)
        found = self.basis.T @ self.vectors[:, ::-1][:, :count]
        return _Locked.of(self.apply, np.hstack([self.locked.Q, complete(found, self.locked.Q)]), tol, 4)
