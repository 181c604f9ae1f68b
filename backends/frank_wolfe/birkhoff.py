"""The Birkhoff polytope for methods that only need its oracle.

The canonical form writes it as rows(simplex(1)), kept with the block, and the indicator of columns(simplex(1)), a term. Here both are one set
again, the hull of the permutations, and the indicator's multiplier is made from the potentials of an assignment when the verifier asks for it.
"""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.canon.arrange import Arrangement, SumPlan
from fwdsl.canon.pairs import COLUMNS_OF_SIMPLEX, ROWS_OF_SIMPLEX


def halves(arrangement: Arrangement) -> list[SumPlan]:
    """The terms that are the columns of a `birkhoff` whose rows stay with a block; not those of a family, which is no one polytope here."""
    alone = [b for b in arrangement.blocks if not b.type.is_family]
    kept = {(b.name, i) for b in alone if b.set == ROWS_OF_SIMPLEX for i in b.sets}
    return [
        s for s in arrangement.sums if s.is_constraint and s.atom == COLUMNS_OF_SIMPLEX and (s.bare, s.origin) in kept
    ]


def whole(g: VectorFunction) -> VectorFunction:
    """The polytope of a block that keeps its rows, with the ridge."""
    from fwdsl.atoms.matrices.birkhoff import Birkhoff  # programs of vectors load none of it
    from fwdsl.atoms.matrices.lines import Lines

    if isinstance(g, Ridged):
        return Ridged(whole(g.inner), g.c)
    assert isinstance(g, Lines), "requires() allows no other indicator"
    return Birkhoff(g.shape)


def rounded(X: Array) -> Array:
    """A doubly stochastic matrix near X (Altschuler, Weed, Rigollet 2017): rows and columns scaled to at most 1, the rest spread out."""
    X = np.maximum(X, 0.0)
    X = X / np.maximum(X.sum(axis=1, keepdims=True), 1.0)
    X = X / np.maximum(X.sum(axis=0, keepdims=True), 1.0)
    rows, columns = np.maximum(1.0 - X.sum(axis=1), 0.0), np.maximum(1.0 - X.sum(axis=0), 0.0)
    total = float(rows.sum())
    return np.asarray(X + np.outer(rows, columns) / total if total > 0.0 else X)


def potentials(C: Array) -> Array:
    """v of the dual of the assignment, max sum u + sum v with u_i + v_j <= C_ij, by Bellman and Ford from a cheapest permutation."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(C)
    v = np.zeros(C.shape[1])
    tight = 1e-15 * float(np.abs(C).max(initial=0.0))
    for _ in range(C.shape[0]):
        lower = (C + (v[columns] - C[rows, columns])[:, None]).min(axis=0, initial=np.inf)
        if np.all(lower >= v - tight):
            break
        v = np.minimum(v, lower)
    return v
