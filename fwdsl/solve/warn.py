"""What an answer shows that a program did not: warnings that need a solve."""

from __future__ import annotations

import numpy as np

from ..atoms.base import Array, LossFunction
from ..atoms.vectors.free import Free
from ..canon.form import Canonical


def warnings_of(canonical: Canonical, x: Array) -> tuple[str, ...]:
    """A sentence each: an unregularised loss of signs on data that x separates has no minimiser, only an infimum."""
    losses = [t for t in canonical.terms if isinstance(t.f, LossFunction) and t.f.loss.word.target == "signs"]
    alone = len(losses) == len(canonical.terms) and not canonical.q.any()
    if not losses or not alone or not all(isinstance(b.g, Free) for b in canonical.blocks):
        return ()
    for term in losses:
        assert isinstance(term.f, LossFunction)
        live = term.f.w > 0.0
        if not np.all((term.f.b * term.map.apply(x))[live] > 0.0):
            return ()
    texts = " and ".join(f"`{t.text}`" for t in losses)
    return (
        f"the data of {texts} are separable: without a regulariser or a bound larger coefficients are ever better, and no minimum is attained",
    )
