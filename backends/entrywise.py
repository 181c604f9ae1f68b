"""Functions that are sums over entries: those whose prox takes a step of its own for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.vectors.box import Box
from fwdsl.atoms.vectors.free import Free
from fwdsl.atoms.vectors.linf_ball import LinfBall
from fwdsl.atoms.vectors.nonnegative import Nonnegative
from fwdsl.atoms.vectors.norm1 import Norm1
from fwdsl.atoms.vectors.norm1_box import Norm1Box
from fwdsl.atoms.vectors.norm1_linf_ball import Norm1LinfBall
from fwdsl.atoms.vectors.norm1_nonnegative import Norm1Nonnegative
from fwdsl.atoms.vectors.ridge import Ridged


@dataclass(frozen=True)
class Entrywise:
    """x -> sum_j c |x_j| + ridge x_j^2 over lo_j <= x_j <= hi_j."""

    c: float
    ridge: float
    lo: Array | float
    hi: Array | float

    def prox(self, v: Array, t: Array | float) -> Array:
        """argmin_x sum_j t_j g_j(x_j) + (x_j - v_j)^2 / 2: shrink, soft threshold, cut."""
        grow = 1.0 + 2.0 * self.ridge * t
        x = v / grow
        if self.c:
            x = np.sign(x) * np.maximum(np.abs(x) - self.c * t / grow, 0.0)
        return np.clip(x, self.lo, self.hi)


def entrywise(f: VectorFunction) -> Entrywise | None:
    """A vector function as a sum over entries; None where it is none."""
    if isinstance(f, Ridged):
        inner = entrywise(f.inner)
        return None if inner is None else Entrywise(inner.c, inner.ridge + f.c, inner.lo, inner.hi)
    if isinstance(f, Free):
        return Entrywise(0.0, 0.0, -np.inf, np.inf)
    if type(f) is Norm1:
        return Entrywise(f.c, 0.0, -np.inf, np.inf)
    if isinstance(f, Norm1Box | Norm1LinfBall | Norm1Nonnegative):
        on = entrywise(f.on)
        return None if on is None else Entrywise(f.c, on.ridge, on.lo, on.hi)
    if isinstance(f, Box):
        return Entrywise(0.0, 0.0, f.lo, f.hi)
    if isinstance(f, Nonnegative):
        return Entrywise(0.0, 0.0, 0.0, np.inf)
    if isinstance(f, LinfBall):
        return Entrywise(0.0, 0.0, -f.r, f.r)
    return None
