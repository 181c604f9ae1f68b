r"""The block step of PDBFW: the best point of a set that has at most s parts (entries, or groups of them),

    argmin over x in C, |x|_0 <= s of  |x - v|^2,

which is the projection of the s largest parts of v: |v_i| on the l1 ball, v_i on simplices, |v_g| on group balls with one weight. For the l1 ball:
the gain max over |u|_1 <= r of 2 <v_S, u> - |u|^2 of a support S grows with each |v_i|, i in S. On a simplex the same holds for
v less a constant, which does not change the projection (Kyrillidis, Becker, Cevher, Koch 2013). With weights that differ the gain of a group is not
monotone in its length alone, and such balls are refused where s is given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.backends.functions import FastVector


def parts(g: VectorFunction) -> int:
    """The number of parts that s counts: groups on a group ball, entries elsewhere."""
    groups = g.groups_of()
    return g.size if groups is None else groups.count


def used(g: VectorFunction, x: Array) -> int:
    """The number of parts of x that are not zero."""
    groups = g.groups_of()
    return int(np.count_nonzero(x if groups is None else groups.norms(x)))


def is_even(g: VectorFunction) -> bool:
    """True if the s largest parts are the best support: no weights that differ."""
    groups = g.groups_of()
    return groups is None or not groups.count or bool(np.ptp(groups.weights) == 0.0)


class BlockStep:
    """The step on one set, with its projection compiled."""

    def __init__(self, g: VectorFunction) -> None:
        self.set = g
        self.whole = FastVector(g)
        self.parts = parts(g)
        self.groups = g.groups_of()

    def __call__(self, v: Array, s: int) -> Array:
        """The best point with at most s parts; all of them where s covers the set."""
        out = np.empty_like(v)
        if s >= self.parts:
            self.whole.prox(v, 1.0, out)
            return out
        at = self._largest(v, s)
        out[:] = 0.0
        if self.groups is not None:
            kept = np.zeros_like(v)
            kept[at] = v[at]
            self.whole.prox(kept, 1.0, out)
            return out
        found = np.empty(at.size)
        FastVector(replace(self.set, size=at.size)).prox(v[at], 1.0, found)  # type: ignore[type-var]
        out[at] = found
        return out

    def _largest(self, v: Array, s: int) -> NDArray[np.intp]:
        """The entries of the s largest parts, increasing."""
        groups = self.groups
        if groups is not None:
            chosen = np.zeros(groups.count)
            chosen[top(groups.norms(v), s)] = 1.0
            return np.flatnonzero(groups.spread(chosen))
        budget = self.set.budget()
        assert budget is not None, "requires() allows no other set"
        return top(np.abs(v) if budget.signed else v, s)


def top(sizes: Array, count: int) -> NDArray[np.intp]:
    """The places of the `count` largest entries, increasing; of equal ones the first."""
    if count >= sizes.size:
        return np.arange(sizes.size)
    cut = np.partition(sizes, sizes.size - count)[sizes.size - count]
    above = np.flatnonzero(sizes > cut)
    level = np.flatnonzero(sizes == cut)[: count - above.size]
    return np.sort(np.concatenate([above, level]))
