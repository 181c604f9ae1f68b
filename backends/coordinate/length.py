"""c |z|_2 of all predictions, as coordinate descent takes a loss: the objective of a square root lasso.

At z the parabola c |u|^2 / (2 |z|) + c |z| / 2 is nowhere below c |u|, and touches it at u = z: one curvature c / |z| of all predictions, so that
models have the Gram matrix K'K but for a factor. The second derivative itself is c / |z| (I - z z' / |z|^2), less along the predictions: on the
Gram matrix that is K'K - k k' / c^2 with k = K'y, y = c z / |z| the gradient.

Where the optimum is a perfect fit |z| would be near 0 before x is near its end, and no model would lead away. So within a `level` the norm is
smoothed to c |z|^2 / (2 level) + c level / 2, which is at most c level / 2 too large, and the level falls with the gap. y stays in the domain of the
conjugate.

Source: Belloni, Chernozhukov, Wang 2011; the parabola is the scaled lasso's (Sun, Zhang 2012), the level that of Ndiaye et al. 2017.
"""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import norm2

OF_GAP = 0.2
"""The share of the gap that c times the level is."""

EPS = float(np.finfo(np.float64).eps)

LEAST = EPS
"""The least level, a share of the predictions at 0."""


class Length:
    """c |z|_2, with the names of a loss's functions, smoothed within `level`."""

    def __init__(self, c: float, offset: Array) -> None:
        self.c = c
        self.least = LEAST * (norm2(offset) or 1.0)
        self.level = self.least
        # the length of a gradient is c but for rounding, and just beyond c the conjugate is infinite
        self.within = c * (1.0 - EPS * (2.0 + math.sqrt(offset.size)))

    def level_at(self, gap: float) -> float:
        """The level that serves at a gap."""
        return max(OF_GAP * gap / self.c, self.least)

    def value(self, z: Array) -> float:
        """c |z|."""
        return self.c * norm2(z)

    def value_gradient(self, z: Array, out: Array) -> float:
        """The smoothed norm, and c z / max(|z|, level), its gradient, into `out`: within the domain of the conjugate."""
        size = norm2(z)
        np.multiply(z, self.within / max(size, self.level), out=out)
        return self.c * size if size >= self.level else 0.5 * self.c * (size * (size / self.level) + self.level)

    def curvature(self, z: Array, out: Array) -> None:
        """Write the curvature of the parabola at z into `out`."""
        out[:] = self.c / max(norm2(z), self.level)

    def bent(self, gram: Array, slope: Array, z: Array, floor: float) -> Array:
        """h (K'K - (1 - floor) k k' / c^2) of the Gram matrix K'K and k = K'y: the Hessian, but for a share `floor` of what it has less than the
        parabola, with which it is definite where K'K is."""
        size = norm2(z)
        h = self.c / max(size, self.level)
        bent: Array = h * gram
        if floor < 1.0 and size > self.level:
            bent -= (h * (1.0 - floor) / self.c**2) * np.outer(slope, slope)
        return bent
