"""Runs of `proximal_newton`: min of F(X) = -log det X + <Q, X> + sum_ij L_ij |X_ij| over positive definite X.

A step minimises the quadratic model of the smooth part at X with the sizes, over the entries that are not 0 or whose slope exceeds its weight, by
sweeps of coordinate descent, and searches the way to its minimiser by Armijo's rule with Cholesky factors. The dual point of the step is the slope's:
with W = X^-1, Z = W - Q cut to [-L, L] has the bound log det(Q + Z) + d, where Q + Z is positive definite. All of it is divided by the coefficient
of the log determinant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.logdet.loops import sweep
from fwdsl.backends.logdet.method import LogDetState, ProximalNewton, Weighed, weights_of
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem

MOST_SWEEPS = 40
"""Sweeps of a step."""

SOLVED = 0.02
"""A step's model is solved where a sweep moves entries by this share of all the sweeps' moves."""

ENOUGH = 1e-3
"""The share of the predicted decrease that a step must make."""

HALVINGS = 60

EPS = float(np.finfo(np.float64).eps)


def factored(a: Array) -> tuple[Array, float] | None:
    """The Cholesky factor of a symmetric matrix, and the logarithm of its determinant; None where it is not positive definite."""
    if not a.size:
        return a, 0.0
    if not np.isfinite(a).all():
        return None
    factor, failed = dpotrf(a, lower=1, clean=1)
    diagonal = np.diagonal(factor)
    if failed or not np.all(diagonal > 0.0):
        return None
    return factor, 2.0 * float(np.log(diagonal).sum())


def inverse(factor: Array) -> Array:
    """The inverse of a matrix of this factor."""
    if not factor.size:
        return factor
    found, _ = dpotri(factor, lower=1)
    lower = np.tril(found)
    return np.ascontiguousarray(lower + np.tril(lower, -1).T)


class LogDetRun(Run[PreparedProblem, LogDetState], of=ProximalNewton):
    """A run on a problem."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        (block,) = problem.canonical.blocks
        self.d = block.shape[0]
        self.c = block.g.slope
        found = weights_of(problem.canonical)
        assert isinstance(found, Weighed)
        self.weights = found
        q = problem.q.reshape(block.shape)
        self.Q = np.ascontiguousarray(0.5 * (q + q.T) / self.c)
        self.L = np.ascontiguousarray(found.most / self.c)

    def begin(self, x: Array, ys: Sequence[Array] | None) -> LogDetState:
        """The symmetric part of x where it is positive definite, else the best diagonal matrix."""
        X = x.reshape(self.d, self.d)
        X = np.ascontiguousarray(0.5 * (X + X.T))
        known, failure = factored(X), ""
        if known is None or not self.d:
            slopes = np.diagonal(self.Q) + np.diagonal(self.L)
            if not np.all(slopes > 0.0):
                # along such an entry of the diagonal the objective falls without end
                failure = "an entry of the diagonal has neither a price nor a size: the program may be unbounded"
            X = np.diag(1.0 / np.where(slopes > 0.0, slopes, 1.0))
            known = factored(X)
        assert known is not None
        factor, log_det = known
        W = inverse(factor)
        state = LogDetState(0, X, W, self._value(X, log_det), np.zeros_like(X), -math.inf, 0, 0, failure)
        self._bound(state)
        return state

    def _value(self, X: Array, log_det: float) -> float:
        return float((self.Q * X).sum()) + float((self.L * np.abs(X)).sum()) - log_det

    def _bound(self, s: LogDetState) -> None:
        """Keep the multipliers at X if their bound is the best so far."""
        Z = np.clip(s.W - self.Q, -self.L, self.L)
        known = factored(self.Q + Z)
        bound = -math.inf if known is None else known[1] + self.d
        if bound > s.bound or not s.iteration:
            s.Z, s.bound = Z, bound

    def step(self) -> None:
        s = self.state
        s.iteration += 1
        D, predicted = self._direction()
        length, accepted = 1.0, None
        for _ in range(HALVINGS):
            self.problem.look()
            X = s.X + length * D
            known = factored(X)
            if known is not None:
                value = self._value(X, known[1])
                # rounding of the terms hides what is smaller
                noise = 8.0 * EPS * (abs(known[1]) + float((np.abs(self.Q) * np.abs(X)).sum()) + self.d)
                if value <= s.value + ENOUGH * length * predicted + noise:
                    accepted = X, known[0], value
                    break
            length *= 0.5
        if accepted is None:
            s.failure = "no step along the Newton direction lowers the objective"
            return
        s.X, factor, s.value = accepted
        s.W = inverse(factor)
        self._bound(s)

    def _direction(self) -> tuple[Array, float]:
        """The step to the minimiser of the model over the free entries, and the decrease that it predicts."""
        s, d = self.state, self.d
        slope = self.Q - s.W
        free = np.triu((np.abs(slope) > self.L) | (s.X != 0.0))
        i, j = np.nonzero(free)
        s.free = i.size
        start = np.zeros(d + 1, dtype=np.int64)
        np.cumsum(np.bincount(i, minlength=d), out=start[1:])
        column = j.astype(np.int64)
        D, U = np.zeros((d, d)), np.zeros((d, d))
        run, row, moves = kernel(sweep, reorder=True), np.empty(d), np.empty(column.size)
        moved = 0.0
        for _ in range(MOST_SWEEPS):
            self.problem.look()
            last = run(s.W, self.Q, s.X, self.L, D, U, start, column, row, moves)
            s.sweeps += 1
            moved += last
            if last <= SOLVED * moved:
                break
        before, after = (float((self.L * np.abs(X)).sum()) for X in (s.X, s.X + D))
        return D, min(0.0, float((slope * D).sum()) + after - before)

    def report(self) -> Report:
        s = self.state
        constant = self.problem.canonical.constant
        phase = f"Newton steps on {s.free} free entries" if s.free else "at a diagonal matrix"
        return Report(constant + self.c * s.value, constant + self.c * s.bound, phase, failure=s.failure)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """X, and of the multipliers of each entry every term's share."""
        s = self.state
        share = np.divide(s.Z * self.c, self.weights.most, out=np.zeros_like(s.Z), where=self.weights.most > 0.0)
        pairs = zip(self.weights.signed, self.weights.prices, strict=True)
        return s.X.reshape(-1).copy(), [(share * np.sign(w) * c).reshape(-1) for w, c in pairs]
