"""Small dense systems of an interior-point step, with the multipliers of some rows as unknowns (Bunch, Kaufman 1977)."""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve, cholesky, indefinite

LARGE = 1e3
"""The size of scaled entries from which on a row keeps its multiplier as an unknown."""


def solver_of_small(P: Array, A: Array, equations: int, shift: float, look: Look) -> Solve:
    """The solver of P dv + A'u = p, A dv - u = r, whose first `equations` rows are A dv = r; the diagonal is moved by `shift`.

    Rows whose entries are small add A'A to P, and their u is A dv - r. Products of large entries would drown what the other rows say: their u
    stay unknowns.
    """
    n = P.shape[0]
    stays = np.abs(A).max(axis=1, initial=0.0) > LARGE
    stays[:equations] = True
    kept, others = np.flatnonzero(stays), np.flatnonzero(~stays)
    rest = A[others]
    matrix = np.zeros((n + kept.size, n + kept.size), order="F")
    matrix[:n, :n] = P + rest.T @ rest
    matrix[n:, :n] = A[kept]
    at = np.arange(n + kept.size)
    matrix[at, at] += np.where(at < n, shift, np.where(at < n + equations, -shift, -1.0))
    inner = indefinite(matrix, look) if kept.size else cholesky(matrix, look)
    kept, others = n + kept, n + others

    def solve(right: Array) -> Array:
        r = right[others]
        found = inner(np.concatenate([right[:n] + r @ rest, right[kept]]))
        out = np.empty(right.size)
        out[:n], out[kept], out[others] = found[:n], found[n:], rest @ found[:n] - r
        return out

    return solve
