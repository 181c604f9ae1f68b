"""Epigraphs {(t, z): f(z) <= t} of functions with a prox: the sets of constraints whose bound is affine, or which have no ball of their own.

Norms with a formula of their own are in `cones`, all other functions of one bound in `epigraph`, functions with a bound for each entry in `entries`,
for each row in `cones`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .epigraph import Epigraph, EpigraphSet
from .summed import Inner, Summed

__all__ = ["epigraph_of"]


def epigraph_of(parts: Sequence[Inner], unit: float = 1.0) -> EpigraphSet:
    """The epigraph of f_1(z_1) + ... + f_m(z_m), of vectors (t, z_1, ..., z_m); `unit` is a number of the size of t."""
    from .cones import cone_of  # the closed forms load the norms that they are of

    found = cone_of(parts[0]) if len(parts) == 1 else None
    return Epigraph(Summed(tuple(parts)), unit) if found is None else found
