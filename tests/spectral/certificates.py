"""Duality gaps of the cores of low-rank methods, with the singular values of dense gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fwdsl.backends.lowrank.completion import Completion, CompletionState
from fwdsl.backends.lowrank.trace_regression import TraceRegression


def largest(G: Any) -> float:
    """The largest singular value."""
    return float(np.linalg.svd(G, compute_uv=False)[0])


@dataclass(frozen=True)
class Certificate:
    """primal >= optimum >= dual, at the derivative y of the loss (in the order of the entries)."""

    primal: float
    dual: float
    y: Any
    rank: int

    @property
    def gap(self) -> float:
        return (self.primal - self.dual) / max(abs(self.primal), abs(self.dual), 1e-300)


def certificate(problem: Completion, s: CompletionState) -> Certificate:
    """P and the best of the two dual bounds in the docstring of `completion`, without a ridge."""
    P, sigma, Q = problem.factors(s)
    z = problem.entries.predict(np.ascontiguousarray(P * sigma), np.ascontiguousarray(Q))
    y = np.empty_like(z)
    f = problem.f.value_gradient(z, y)
    top = largest(problem.entries.operator(y).matvec(np.eye(problem.entries.shape[1])))
    over = max(0.0, top - problem.penalty)
    dual = f - float(y @ z) - (problem.radius * over if over > 0.0 else 0.0)
    if problem.penalty > 0.0 and over > 0.0:
        dual = max(dual, -problem.f.conjugate(y * (problem.penalty / top)))
    return Certificate(f + problem.penalty * float(sigma.sum()), dual, y, sigma.size)


def complete(problem: Completion, *, tol: float, rank: int = 8, max_iter: int) -> tuple[CompletionState, Certificate]:
    """Steps until the gap is at most `tol`; the certificate of the last point otherwise."""
    s = problem.init(rank, 0)
    while s.iteration < max_iter:
        problem.step(s, 0.5 * tol)
        if s.phase == "converged" and s.wait == 5 and (found := certificate(problem, s)).gap <= tol:
            return s, found
    return s, certificate(problem, s)


def frank_wolfe_gap(problem: TraceRegression, A: Any, U: Any, V: Any) -> tuple[float, float]:
    """(P, D) at X = U V' of least squares on a ball, without a penalty."""
    residual = A @ U @ V.T - problem.B
    G = 2.0 * problem.scale * A.T @ residual
    primal = problem.scale * float(np.vdot(residual, residual))
    return primal, primal - max(0.0, float(np.vdot(G, U @ V.T)) + problem.radius * largest(G))
