r"""P(X) and D(y) of a problem on factors, recomputed in float64 by NumPy and SciPy from the factors alone, never by the kernels.

With z = K X, y = f'(z), G = K'y and s >= sigma_1(G) proven (`backends.spectral.bounds`), for radius R and penalty m:

    D = constant - f*(y) - R (s - m)_+      and, where m > 0,      D = constant - f*(c y),  c = min(1, m / s).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.vectors.common import excess
from ..backends.spectral import Bound, largest_singular_bound
from ..backends.spectral.bounds import RIGOROUS_SIDE
from ..canon.factored import Factored, Observed
from ..low_rank import LowRank
from ..solution import CertificateKind
from .verify import EPS, Verified

FAILURE = 1e-9
"""The largest probability with which a bound of kind `probabilistic` may be false (language.md, section 7)."""


class Gradient:
    """A sparse G by SciPy's products."""

    def __init__(self, G: Any) -> None:
        self.rows, self.columns = G, G.T.tocsr()
        self.shape: tuple[int, int] = G.shape

    def matvec(self, x: Array) -> Array:
        """G x, for a vector or vectors in columns."""
        return np.asarray(self.rows @ x)

    def rmatvec(self, y: Array) -> Array:
        """G'y, for a vector or vectors in columns."""
        return np.asarray(self.columns @ y)

    matmat = matvec
    rmatmat = rmatvec


def verify_factored(form: Factored, X: LowRank, tol: float, attempt: int = 0, seed: int = 0) -> Verified:
    """Certify X, its dual point made of its own predictions; sigma_1 is bounded well within `tol`.

    Bounds that rest on chance fail with at most 1e-9 over all attempts of a run together: attempt k has its own random start and half the
    probability of the one before.
    """
    z = form.data.predict(X)
    nuclear = trace_norm(X)
    loss = form.f.value(z)
    primal = form.constant + loss + (form.penalty * nuclear if form.penalty else 0.0)
    infeasibility = excess(nuclear, form.radius)
    lo, hi = form.f.dual_bounds()
    y = np.clip(form.f.gradient(z), lo, hi)
    aim = tol * max(abs(primal), 1e-3 * form.scale)
    bound = _bound(form, y, X, aim, attempt, seed)
    dual, used = _dual(form, y, bound.value_upper)
    kind: CertificateKind = "rigorous" if bound.kind == "rigorous" else "probabilistic"
    statement = f"the gradient's largest singular value is at most {bound.value_upper:.6g}, by {bound.statement}"
    if not (math.isfinite(primal) and math.isfinite(dual)):
        kind, statement, dual = "none", "the dual point is outside the domain of a conjugate", -math.inf
    passes = 1.0 + (bound.products if isinstance(form.data, Observed) else 1.0)
    return Verified(primal, dual, infeasibility, kind, statement, None, (used,), passes, infeasibility)


def trace_norm(X: LowRank) -> float:
    """|X|_* by the triangles of the factors' QR."""
    if X.rank == 0:
        return 0.0
    R, T = (np.asarray(np.linalg.qr(factor, mode="r")) for factor in (X.U, X.V))
    return float(np.linalg.svd(R @ T.T, compute_uv=False).sum())


def _dual(form: Factored, y: Array, s: float) -> tuple[float, Array]:
    """The better of the two bounds, and its dual point."""
    over = max(0.0, s - form.penalty)
    points: list[tuple[float, Array]] = [(-form.f.conjugate(y) - (form.radius * over if over > 0.0 else 0.0), y)]
    if form.penalty > 0.0 and over > 0.0:
        scaled = y * (form.penalty / s)
        points.append((-form.f.conjugate(scaled), scaled))
    value, used = max(points, key=lambda point: point[0])
    return form.constant + value, used


def _bound(form: Factored, y: Array, X: LowRank, aim: float, attempt: int, seed: int) -> Bound:
    """sigma_1 of the gradient from above: within a tenth of `aim` where it is multiplied by the radius."""
    failure = FAILURE / 2.0 ** (attempt + 1)
    own = int(np.random.SeedSequence((seed, attempt, 0x7E57)).generate_state(1)[0])
    warm = X.V if X.rank else None
    # <y, z> is about -|X|_* sigma_1 at the optimum
    size = max(_reach(form, X) * float(np.linalg.norm(y)) / math.sqrt(min(form.shape)), 1e-300)
    rtol = min(1e-2, max(1e-9, 0.1 * aim / size))
    if isinstance(form.data, Observed):
        from scipy.sparse import coo_array, csr_array

        G = csr_array(coo_array((y, (form.data.rows, form.data.columns)), shape=form.shape))
        op = G if min(form.shape) <= RIGOROUS_SIDE else Gradient(G)
        return largest_singular_bound(op, failure, rtol=rtol, warm=warm, seed=own)
    A, Y = form.data.A, y.reshape(-1, form.shape[1])
    bound = largest_singular_bound(A.T @ Y, failure, rtol=rtol, warm=warm, seed=own)
    rounding = A.shape[0] * EPS * float(np.linalg.norm(A)) * float(np.linalg.norm(Y))
    return _raised(bound, rounding)


def _reach(form: Factored, X: LowRank) -> float:
    return form.radius if math.isfinite(form.radius) else trace_norm(X)


def _raised(bound: Bound, by: float) -> Bound:
    """With room for the rounding of the matrix itself."""
    return Bound(bound.value_upper + by, bound.kind, bound.statement, bound.lower, bound.failure, bound.products)


def radius_dual(form: Factored, y: Sequence[Array], X: LowRank) -> float:
    """d(optimal value) / d(radius), in the sense of minimisation: -(sigma_1(K'y) - penalty)_+, by <y, K X> = -sigma_1 |X|_*."""
    nuclear = trace_norm(X)
    if nuclear < form.radius * (1.0 - 1e-9) or nuclear == 0.0:
        return 0.0
    return -max(0.0, -float(y[0] @ form.data.predict(X)) / nuclear - form.penalty)
