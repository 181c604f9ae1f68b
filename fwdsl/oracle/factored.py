"""The certificate of a matrix kept as factors, rechecked without cvxpy, which would write the matrix out.

The objective comes from the terms' NumPy formulas, the trace norm from the factors' Gram matrices, the conjugate from this package's own formulas,
and the gradient's largest singular value from ARPACK.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from ..atoms.low_rank import LowRank
from ..bind.instance import Instance
from ..canon.factored import EntryMap, Factored
from ..results.solution import Solution
from .conjugates import SLACK, loss_conjugate


def recheck_factors(instance: Instance, form: Factored, solution: Solution) -> tuple[float, float, float]:
    """(objective, violation, what the saved dual point proves) in the user's sense; the last is nan where no dual point was saved."""
    from ..bind import Bindings
    from ..results.evaluation import OBJECTIVE, evaluate, fit_of

    values = evaluate(fit_of(instance, solution.variables), [OBJECTIVE], Bindings(), Path()).values
    X = solution.variables[form.name]
    missed = max(0.0, trace_norm_by_gram(X) - form.radius)
    saved = solution.record.get("dual_point")
    objective = float(values[OBJECTIVE])
    reach = form.reach(form.sense * objective) if missed == 0.0 else form.radius
    parts = [np.asarray(part, dtype=np.float64) for part in saved] if saved else []
    return objective, missed, form.sense * _bound(form, parts, reach) if parts else math.nan


def trace_norm_by_gram(X: LowRank) -> float:
    """|U V'|_* by the eigenvalues of U'U V'V: those of a product of two positive semidefinite matrices."""
    eigenvalues = np.linalg.eigvals((X.U.T @ X.U) @ (X.V.T @ X.V)) if X.rank else np.zeros(0)
    return float(np.sqrt(np.maximum(eigenvalues.real, 0.0)).sum())


def _bound(form: Factored, parts: list[np.ndarray], reach: float) -> float:
    """constant - f*(y) - ridge |S|_F^2 - reach (sigma_1(k K'y + 2 ridge S) - penalty)_+, in the sense of `minimize`; -inf where a free
    intercept finds columns of y that do not sum to 0. S = L R' is the other part of the dual point where there is a ridge."""
    f, y = form.plain, parts[0]
    live = f.w > 0.0
    options = {o.name: float(v) for o, v in zip(f.loss.word.options, f.p, strict=True)}
    conjugate = float(f.w[live] @ loss_conjugate(f.name, y[live] / f.w[live], f.b[live], options))
    if form.intercept is not None:
        columns = y.reshape(-1, form.intercept.columns)
        if np.any(np.abs(columns.sum(axis=0)) > SLACK * np.abs(columns).sum(axis=0)):
            return -math.inf
    L, R = (
        (2.0 * form.ridge * parts[1], parts[2])
        if form.ridge
        else (np.zeros((form.shape[0], 1)), np.zeros((form.shape[1], 1)))
    )
    if form.ridge:
        conjugate += form.ridge * float(np.vdot(parts[1].T @ parts[1], R.T @ R))
    if isinstance(form.data, EntryMap):
        G = sp.csr_array(sp.coo_array((form.k * y, (form.data.rows, form.data.columns)), shape=form.shape))
        both = LinearOperator(
            form.shape,
            matvec=lambda x: G @ np.ravel(x) + L @ (R.T @ np.ravel(x)),
            rmatvec=lambda x: G.T @ np.ravel(x) + R @ (L.T @ np.ravel(x)),
            dtype=np.float64,
        )
        # the Lanczos method has nothing to start from where all is zero
        nonzero = np.any(y) or (np.any(L) and np.any(R))
        top = float(svds(both if form.ridge else G, 1, return_singular_vectors=False, rng=0)[0]) if nonzero else 0.0
    else:
        top = float(np.linalg.norm(form.k * form.data.A.T @ y.reshape(-1, form.shape[1]) + L @ R.T, 2))
    over = top - form.penalty
    if over <= SLACK * top:
        return form.constant - conjugate
    return form.constant - conjugate - reach * over
