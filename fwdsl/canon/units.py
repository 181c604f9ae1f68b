"""Units of functions that are not homogeneous: the argument of a logarithm of a determinant or of an inverse is measured in its own size.

-log det(s Z) = -log det Z - n log s and tr (s Z)^-1 = tr(Z^-1) / s, so the term of K x + b is one of (K x + b) / s. Methods then see numbers of
about 1, whatever the units of the data: their steps have no other way to know where such a function bends.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..atoms.base import Array, VectorFunction
from .combined_maps import scaled
from .parts import Block, Stacked, SumTerm


def measure_in_own_size(terms: list[SumTerm], size: int) -> float:
    """Change the terms in place, and return the constant that they leave. The factors are powers of two, which round nothing."""
    constant = 0.0
    for k, term in enumerate(terms):
        if not isinstance(term.f, VectorFunction) or term.f.in_units(1.0) is None:
            continue
        s = _own_size(term, size)
        found = term.f.in_units(s)
        if s == 1.0 or found is None:
            continue
        f, left = found
        parts = tuple((b, scaled(m, 1.0 / s)) for b, m in term.map.parts)
        terms[k] = replace(term, f=f, map=Stacked(parts, term.map.offset / s, term.map.shape), unit=s)
        constant += left
    return constant


def _own_size(term: SumTerm, size: int) -> float:
    """The power of two nearest to the root of the mean square of K x + b, x being in the middle of its bounds; 1 where it has no size there."""
    x = np.zeros(size)
    for block, _ in term.map.parts:
        x[block.slice] = _middle(block)
    with np.errstate(all="ignore"):
        z = term.map.apply(x)
        found = float(np.sqrt(np.square(z / max(float(np.abs(z).max(initial=0.0)), 1e-300)).mean())) if z.size else 0.0
        found *= float(np.abs(z).max(initial=0.0))
    return 2.0 ** round(math.log2(found)) if 0.0 < found < math.inf else 1.0


def _middle(block: Block) -> Array:
    """The point of a variable's set that is nearest to the middle of its bounds; 0 in place of bounds that are infinite."""
    g = block.g.set_beneath()
    if g is None or not g.proximable:
        return np.zeros(block.size)
    lo, hi = (np.where(np.isfinite(end), end, 0.0) for end in g.enclosing_box())
    return g.prox(0.5 * (lo + hi), 1.0)
