r"""Dual steps of PDBFW (Lei et al. 2019, Algorithm 1), and their step sizes.

In the canonical scale y_j = w_j u_j, u the paper's dual variable and w_j = 1/n its weights. Its step (10), with f* read as (1/n) sum f_i*, as in
(19), and not as the sum, is the Euclidean one

    y~ = argmax_y <z, y> - f*(y) - sum_j (y_j - y0_j)^2 / (2 sigma_j),   sigma_j = t w_j,   t = delta / n,

which is y0 + sigma z - sigma prox_{f / sigma}(y0 / sigma + z) (Moreau). The mirror step replaces the square by the Bregman distance of f*:

    s~ = (1 - theta) s + theta z,   y~ = f'(s~),   theta = t / (1 + t),

the same for the squared loss and, away from its ends, for the smooth hinge, and without Newton's method for all others (5 ns a sample for the
logistic loss, against 200).
"""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.functions import FastLoss

SMALLEST = 1e-290
"""The number in place of a weight of zero."""


def euclidean(f: FastLoss, y: Array, z: Array, t: float) -> tuple[Array, Array]:
    """(y~, s) of the Euclidean step: s is the prox, and y~ a derivative of f there, so that f*(y~) = <s, y~> - f(s)."""
    # a weight of zero leaves y at zero whatever its step
    sigma = t * np.maximum(f.f.w, SMALLEST)
    at = y / sigma
    at += z
    s = np.empty_like(y)
    f.prox(at, 1.0 / sigma, s)
    new = at
    new -= s
    new *= sigma
    f.into_domain(new)
    return new, s


def mirror(f: FastLoss, s: Array, z: Array, t: float) -> tuple[Array, Array]:
    """(y~, s~) of the mirror step."""
    theta = t / (1.0 + t)
    new = (1.0 - theta) * s + theta * z
    y = np.empty_like(new)
    f.value_gradient(new, y)
    return y, new


def theory_step(f: LossFunction, largest_square: float, mu: float, k: int, hindrance: float = 25.0) -> float:
    r"""t = delta / n of Corollary 4.1.1: delta = (1/k) (1 / (n beta) + 25 R / (2 mu n^2))^{-1}, R = max_j |a_j|^2, g = (mu / 2) |x|^2.

    The 25 = 5 (1 + 4 L / mu) is `hindrance`; on trace-norm balls it is 45 = 5 (1 + 8 L / mu), and R = |A|_2^2 (Theorem 4.3). `k` is the number
    of dual coordinates (rows) moved in a step. The proof's line for alpha = beta gives half of it, and the rate of Theorem 4.1
    is too good by a factor of n.
    """
    beta = f.loss.smoothness
    assert beta is not None
    weight = float(f.w.sum()) / max(1, f.size)
    return 1.0 / (max(1, k) * (1.0 / beta + 0.5 * hindrance * largest_square * weight / mu))


def bregman(f: FastLoss, s: Array, y_new: Array, s_new: Array) -> float:
    """B(y_new, y) of f* with s in the subdifferential of f* at y: f(s) - f(s_new) - <y_new, s - s_new>."""
    return f.value(s) - f.value(s_new) - float(y_new @ (s - s_new))
