"""The least change of a dual point that meets equalities, in a metric that is small towards the ends of its domain.

With E' = K restricted to the unknowns whose equality is missed and W the metric, the step W E' lambda with E W E' lambda = miss is the least one, and
W^(1/2) z with z the least solution of (W^(1/2) E')' z = miss is the same step. The Gram matrix E W E' is cheap, but keeps half the digits: what
has less than eps of its size is lost, as the multiplier of an equality beside large weights. Where it is far from independent and the factor
W^(1/2) E' is small, the step comes from the singular values of the factor (Bjorck 1996, sections 1.4 and 2.9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.factors import by_cholesky, cholesky
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.problem import PreparedProblem
from fwdsl.light_dataclass import light_dataclass

DENSE_LIMIT = 1_500
"""Equalities up to which E W E' is formed and factored; beyond, conjugate gradients apply it."""

FEW = 64
"""Equalities up to which E W E' is formed column by column where a loss of rows stands in the sum."""

INDEPENDENT = 1e-5
"""The least pivot of a Cholesky factor of a matrix with ones on its diagonal whose columns are far from dependent."""

MOST_WORK = 3e8
"""Multiplications up to which the singular values of W^(1/2) E' are computed, about a tenth of a second."""

DEPENDENT = 2.0 * float(np.finfo(np.float64).eps)
"""The share of the largest singular value, a row or column, below which one is rounding of 0."""

EIGEN = 4.0
"""The multiplications of all eigenvectors of a matrix of order n, over n^3."""

CG_STEPS = 1_000
LOST = 1e8
"""A squared residual so many times the least one so far shows that the system has no solution."""


class Metric(Protocol):
    """W of one term: symmetric, positive semidefinite, and small towards the boundary of its domain."""

    def apply(self, z: Array) -> Array:
        """W z."""


@light_dataclass
class DiagonalMetric:
    """diag(slack)."""

    slack: Array

    def apply(self, z: Array) -> Array:
        return self.slack * z


@light_dataclass
class SimplexMetric:
    """diag(m_i) - m_i m_i' / sum(m_i) for each row m_i of `mass`: steps keep the sum of a row. With m = w^2 p it is w^2 (diag(p) - p p')."""

    mass: Array

    def apply(self, z: Array) -> Array:
        rows = z.reshape(self.mass.shape)
        total = self.mass.sum(axis=1, keepdims=True)
        mean = (self.mass * rows).sum(axis=1, keepdims=True) / np.where(total > 0.0, total, 1.0)
        return np.asarray(self.mass * (rows - mean)).reshape(-1)


@light_dataclass
class Balanced:
    """sum over l of s_l (e_l - e_own) (e_l - e_own)' for each row, `slack` being 0 at each row's own entry."""

    slack: Array
    own: NDArray[np.int64]

    def apply(self, z: Array) -> Array:
        rows, at = z.reshape(self.slack.shape), np.arange(self.own.size)
        step = self.slack * (rows - rows[at, self.own][:, None])
        step[at, self.own] = -step.sum(axis=1)
        return np.asarray(step).reshape(-1)


@light_dataclass
class TurnedMetric:
    """Q (slack * (Q'Z Q)) Q' of the symmetric part of a matrix: entries by the eigenvectors Q of y, as many numbers of `slack`."""

    slack: Array
    vectors: Array

    def apply(self, z: Array) -> Array:
        return self._back(self.slack * self.turned(z[:, None])).reshape(-1)

    def turned(self, columns: Array) -> Array:
        """Q'Z Q of the symmetric part of each column."""
        n = self.vectors.shape[0]
        Z = columns.T.reshape(-1, n, n)
        found: Array = self.vectors.T @ (0.5 * (Z + Z.transpose(0, 2, 1))) @ self.vectors
        return found

    def halves(self, columns: Array) -> Array:
        """W^(1/2) of columns, in the coordinates of the eigenvectors."""
        return (np.sqrt(self.slack) * self.turned(columns)).reshape(columns.shape[1], -1).T

    def step(self, half: Array) -> Array:
        """W^(1/2) z from z in these coordinates."""
        return self._back(np.sqrt(self.slack) * half.reshape(self.slack.shape)).reshape(-1)

    def _back(self, turned: Array) -> Array:
        found: Array = self.vectors @ turned @ self.vectors.T
        return found


def least_move(
    problem: PreparedProblem,
    metrics: Sequence[Metric],
    wanted: NDArray[np.intp],
    miss: Array,
    stop: Callable[[], bool],
    spares: bool = False,
) -> list[Array] | None:
    """The steps of the terms' y by which K'y falls by `miss` in the wanted coordinates; None where there are none.

    With `spares` there are none either where only all eigenvectors of a large system could tell them.

    Dependent equalities (an intercept beside one-hot features) leave the system singular and consistent: the step is of least norm.
    """
    slack = [m.slack for m in metrics if isinstance(m, DiagonalMetric | TurnedMetric)]
    rooted, diagonal = len(slack) == len(metrics), all(isinstance(m, DiagonalMetric) for m in metrics)
    if rooted and not any(s.any() for s in slack):
        return None
    few = DENSE_LIMIT if rooted else FEW
    if wanted.size > few or (rooted and not problem.can_form(wanted.size)):
        lam = conjugate_gradients(lambda lam: _apply(problem, metrics, wanted, lam), miss, stop)
        return _along(problem, metrics, wanted, lam)
    problem.decomposed += wanted.size * (problem.canonical.nnz + wanted.size**2)
    try:
        roots = _Roots.of(problem, metrics, wanted) if rooted and not diagonal else None
        if roots is not None:
            gram = roots.factor.T @ roots.factor
        else:
            gram = problem.gram(wanted, slack) if diagonal else _gram(problem, metrics, wanted)
        # equalities of very different sizes (an intercept beside small data) are brought to one before rank is judged
        root = np.sqrt(np.maximum(np.einsum("ii->i", gram), 0.0))
        inverse = np.where(root > 0.0, 1.0 / np.where(root > 0.0, root, 1.0), 0.0)
        gram *= inverse[:, None] * inverse
        if not np.all(np.isfinite(gram)):
            return None
        found = _independent(gram, inverse * miss)
        if found is None and rooted:
            steps = _by_factor(problem, metrics, roots, wanted, inverse, miss)
            if steps is not None:
                return steps
        if found is None:
            if spares and EIGEN * wanted.size**3 > MOST_WORK:
                return None
            problem.decomposed += EIGEN * wanted.size**3
            found = _least(gram, inverse * miss)
    except (Stopped, np.linalg.LinAlgError):
        return None
    return _along(problem, metrics, wanted, inverse * found)


def _along(problem: PreparedProblem, metrics: Sequence[Metric], wanted: NDArray[np.intp], lam: Array) -> list[Array]:
    """W E' lambda, term by term."""
    full = np.zeros(problem.size)
    full[wanted] = lam
    return [m.apply(z) for m, z in zip(metrics, problem.linear(full), strict=True)]


class _Roots(NamedTuple):
    """The factor W^(1/2) E', whose rows are those entries of each term that may move, and where these are."""

    factor: Array
    live: list[NDArray[np.intp]]

    @classmethod
    def of(cls, problem: PreparedProblem, metrics: Sequence[Metric], wanted: NDArray[np.intp]) -> _Roots:
        """The factor; entries of a turned metric all move."""
        live = _live(metrics)
        columns = problem.columns(wanted, live)
        parts = np.split(columns, np.cumsum([at.size for at in live])[:-1])
        halves = [
            m.halves(part) if isinstance(m, TurnedMetric) else np.sqrt(_slack(m)[at])[:, None] * part
            for m, at, part in zip(metrics, live, parts, strict=True)
        ]
        return cls(np.concatenate(halves), live)

    def steps(self, metrics: Sequence[Metric], z: Array) -> list[Array]:
        """W^(1/2) z, term by term."""
        found = []
        for m, at, part in zip(
            metrics, self.live, np.split(z, np.cumsum([a.size for a in self.live])[:-1]), strict=True
        ):
            if isinstance(m, TurnedMetric):
                found.append(m.step(part))
                continue
            slack = _slack(m)
            step = np.zeros_like(slack)
            step[at] = np.sqrt(slack[at]) * part
            found.append(step)
        return found


def _slack(metric: Metric) -> Array:
    assert isinstance(metric, DiagonalMetric | TurnedMetric)
    return metric.slack


def _live(metrics: Sequence[Metric]) -> list[NDArray[np.intp]]:
    """The entries that each metric lets move."""
    return [np.arange(m.slack.size) if isinstance(m, TurnedMetric) else np.flatnonzero(_slack(m)) for m in metrics]


def _by_factor(
    problem: PreparedProblem,
    metrics: Sequence[Metric],
    roots: _Roots | None,
    wanted: NDArray[np.intp],
    inverse: Array,
    miss: Array,
) -> list[Array] | None:
    """The least step by the singular values of W^(1/2) E'; None where that is large."""
    rows = sum(at.size for at in (_live(metrics) if roots is None else roots.live))
    if rows * wanted.size * min(rows, wanted.size) > MOST_WORK:
        return None
    roots = roots or _Roots.of(problem, metrics, wanted)
    factor = roots.factor * inverse
    left, values, right = np.linalg.svd(factor, full_matrices=False)
    keep = values > float(values[0]) * max(factor.shape) * DEPENDENT
    return roots.steps(metrics, left[:, keep] @ ((right[keep] @ (inverse * miss)) / values[keep]))


def _gram(problem: PreparedProblem, metrics: Sequence[Metric], wanted: NDArray[np.intp]) -> Array:
    """E W E', a column at a time."""
    gram = np.stack([_apply(problem, metrics, wanted, e) for e in np.eye(wanted.size)])
    return 0.5 * (gram + gram.T)


def _least(gram: Array, right: Array) -> Array:
    """The solution of least norm of a system that is singular, or nearly so."""
    values, vectors = np.linalg.eigh(gram)
    keep = values > max(float(values[-1]), 0.0) * 1e-13
    return np.asarray(vectors[:, keep] @ ((vectors[:, keep].T @ right) / values[keep]))


def _independent(gram: Array, right: Array) -> Array | None:
    """The solution of a system with ones on its diagonal; None where it is singular, or nearly so."""
    lower = cholesky(gram.copy())
    if lower is None or not float(lower.diagonal().min(initial=np.inf)) > INDEPENDENT:
        return None
    return by_cholesky(lower, right)


def _apply(problem: PreparedProblem, metrics: Sequence[Metric], wanted: NDArray[np.intp], lam: Array) -> Array:
    """E W E' lambda."""
    full = np.zeros(problem.size)
    full[wanted] = lam
    return problem.adjoint([m.apply(z) for m, z in zip(metrics, problem.linear(full), strict=True)])[wanted]


def conjugate_gradients(
    apply: Callable[[Array], Array], right: Array, stop: Callable[[], bool] = lambda: False
) -> Array:
    """The solution of a consistent positive semidefinite system, as far as CG_STEPS lead; of another, the point of least residual."""
    x, r = np.zeros_like(right), right.copy()
    p, rho = r.copy(), float(right @ right)
    best, least, target = x, rho, rho * 1e-30
    for _ in range(min(2 * right.size + 100, CG_STEPS)):
        if not target < rho <= LOST * least or stop():
            break
        h = apply(p)
        curvature = float(p @ h)
        if not curvature > 0.0:
            break
        x = x + (rho / curvature) * p
        r -= (rho / curvature) * h
        rho, old = float(r @ r), rho
        p = r + (rho / old) * p
        if rho < least:
            best, least = x, rho
    return best
