"""The certificate of a matrix kept as factors, rechecked without cvxpy, which would write the matrix out.

The objective comes from the terms' NumPy formulas, the trace norm from the factors' Gram matrices, the conjugate from this package's own formulas,
and the gradient's largest singular value from ARPACK.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from ..canon.factored import Factored, Observed
from ..instance import Instance
from ..low_rank import LowRank
from ..solution import Solution
from .conjugates import SLACK, loss_conjugate


def recheck_factors(instance: Instance, form: Factored, solution: Solution) -> tuple[float, float, float]:
    """(objective, violation, what the saved dual point proves) in the user's sense; the last is nan where no dual point was saved."""
    from ..bind import Bindings
    from ..evaluation import OBJECTIVE, evaluate, fit_of

    values = evaluate(fit_of(instance, solution.variables), [OBJECTIVE], Bindings(), Path()).values
    X = solution.variables[form.name]
    missed = max(0.0, trace_norm_by_gram(X) - form.radius)
    saved = solution.record.get("dual_point")
    bound = form.sense * _bound(form, np.asarray(saved[0], dtype=np.float64)) if saved else math.nan
    return float(values[OBJECTIVE]), missed, bound


def trace_norm_by_gram(X: LowRank) -> float:
    """|U V'|_* by the eigenvalues of U'U V'V: those of a product of two positive semidefinite matrices."""
    eigenvalues = np.linalg.eigvals((X.U.T @ X.U) @ (X.V.T @ X.V)) if X.rank else np.zeros(0)
    return float(np.sqrt(np.maximum(eigenvalues.real, 0.0)).sum())


def _bound(form: Factored, y: np.ndarray) -> float:
    """constant - f*(y) - radius (sigma_1(K'y) - penalty)_+, in the sense of `minimize`."""
    f = form.f
    live = f.w > 0.0
    options = {o.name: float(v) for o, v in zip(f.loss.parameters, f.p, strict=True)}
    conjugate = float(f.w[live] @ loss_conjugate(f.name, y[live] / f.w[live], f.b[live], options))
    if isinstance(form.data, Observed):
        G = sp.csr_array(sp.coo_array((y, (form.data.rows, form.data.columns)), shape=form.shape))
        top = float(svds(G, 1, return_singular_vectors=False, rng=0)[0])
    else:
        top = float(np.linalg.norm(form.data.A.T @ y.reshape(-1, form.shape[1]), 2))
    over = top - form.penalty
    if over <= SLACK * top:
        return form.constant - conjugate
    return form.constant - conjugate - form.radius * over
