r"""Directions of Frank-Wolfe at a matrix kept as X = P diag(s) Q' (thin SVD), over a trace-norm ball of radius R, with a penalty m |X|_*.

Towards:  S = -R u v' for the top singular pair (u, v) of the gradient G, or 0 where its sigma_1 is at most m;
          the slope along S - X is <G, X> and more: -(<G, X> + m |X|_* + R (sigma_1 - m)_+), minus the Frank-Wolfe gap.

Away:     within the face of X, from Z = R P a a'Q', |a| = 1, with <G, Z> largest: a is the top eigenvector of the symmetric part of P'G Q. Along
          X + t (X - Z) the core is (1 + t) diag(s) - t R a a', which is positive semidefinite up to

              t = 1 / (R sum_i a_i^2 / s_i - 1),

          where a singular value becomes 0: a drop step. The trace norm on the way is its trace, (1 + t) |X|_* - t R <= R.
          (In-face directions: Freund, Grigas, Mazumder 2017, section 3.)
"""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.lowrank.factors import project_decreasing
from fwdsl.light_dataclass import light_dataclass


@light_dataclass
class ThinFactors:
    """X = P diag(s) Q' by its thin SVD, s > 0: its face holds P M Q', M positive semidefinite, tr M <= R."""

    P: Array
    s: Array
    Q: Array


@light_dataclass
class Away:
    """Z = R P a a'Q' by a, minus the slope of the objective along X - Z, and the longest step."""

    a: Array
    gain: float
    longest: float


def away(face: ThinFactors, core: Array, along: float, radius: float, penalty: float) -> Away | None:
    """The away direction, from P'G Q and `along` = <G, X>; None where X is no proper mean of its face."""
    values, vectors = np.linalg.eigh(0.5 * (core + core.T))
    a = np.asarray(vectors[:, -1])
    share = radius * float(np.sum(a**2 / face.s)) - 1.0
    if share <= 1e-12:
        return None
    gain = radius * (float(values[-1]) + penalty) - along - penalty * float(face.s.sum())
    return Away(a, gain, 1.0 / share)


def projected(M: Array, lower: float, radius: float) -> tuple[Array, float]:
    """(C, |C|_*): the singular values of M lowered by `lower` and projected on the l1 ball, the prox of lower |.|_* on the trace-norm ball."""
    A, s, Bt = np.linalg.svd(M, full_matrices=False)
    kept = project_decreasing(np.maximum(s - lower, 0.0), radius)
    return np.asarray((A * kept) @ Bt), float(kept.sum())
