"""The domain of a vector function: the set beneath a ridge and a norm."""

from __future__ import annotations

from ..words import SETS
from .base import VectorFunction
from .family import Repeated
from .matrices import EigenSet, Lines, LinesSet, SingularSet, Spectral
from .vectors import Joint, Ridged
from .vectors.free import Free
from .vectors.nonnegative import Nonnegative


def set_beneath(g: VectorFunction) -> VectorFunction | None:
    """The indicator of the domain of g; None where the domain is everything, or is not told apart from g."""
    inner = g.inner if isinstance(g, Ridged) else g
    if isinstance(inner, Joint):
        return inner.on
    if inner.pair[0] is None:
        return inner if not isinstance(inner, Free) and inner.pair[1] is not None else None
    if inner.pair == ("entropy", None):
        return Nonnegative(inner.size)
    if not isinstance(inner, Repeated | Lines | Spectral) or inner.pair[1] is None:
        return None
    below = set_beneath(inner.inner)
    if below is None:
        return None
    if isinstance(inner, Repeated):
        return Repeated(below, inner.count)
    if isinstance(inner, Lines):
        return LinesSet(inner.shape, inner.axis, below)
    return (EigenSet if SETS[inner.pair[1]].of == "symmetric" else SingularSet)(
        inner.shape, (None, inner.pair[1]), below
    )
