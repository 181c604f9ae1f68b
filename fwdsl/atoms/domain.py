"""The domain of a vector function: the set beneath a ridge and a norm."""

from __future__ import annotations

from .base import VectorFunction
from .vectors import Joint, Ridged
from .vectors.free import Free


def set_beneath(g: VectorFunction) -> VectorFunction | None:
    """The indicator of the domain of g; None where the domain is everything, or is not told apart from g."""
    inner = g.inner if isinstance(g, Ridged) else g
    if isinstance(inner, Joint):
        return inner.on
    return inner if inner.pair[0] is None and not isinstance(inner, Free) else None
