r"""The smooth loss of a problem on factors, and its minimum over a segment.

`Shifted` is a loss whose free intercepts are minimised out: for predictions z (n, c),

    F(z) = min over m in R^c of f(z + 1 m'),      F'(z) = y := f'(z + 1 m'),  whose columns sum to 0,

    d'F''(z) d = d'H d - sum over columns of (sum_i H_ic d_ic)^2 / sum_i H_ic,      F*(y) = f*(y) for such y,

with m by Newton's method within a bracket (for the squared loss one step).
"""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array, LossFunction
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.pool import Pool

ROUNDS = 60

LOOKS = 100
"""Looks at a derivative along a segment at most."""

NEAR = 1e-6
"""How near to the minimum on a segment is near enough, relative to its distance from the start."""


class Smooth:
    """A smooth weighted loss on kernels."""

    def __init__(self, f: LossFunction, pool: Pool) -> None:
        if f.loss.smoothness is None:
            raise ValueError(f"the loss {f.name} is not smooth")
        self.f, self.fast = f, FastLoss(f, pool)
        self.size = f.size

    def value(self, z: Array) -> float:
        """f(z)."""
        return self.fast.value(z)

    def value_gradient(self, z: Array, out: Array) -> float:
        """f(z), and f'(z) into `out`."""
        return self.fast.value_gradient(z, out)

    def bend(self, z: Array, d: Array) -> float:
        """d'f''(z) d."""
        h = np.empty_like(z)
        self.fast.curvature(z, h)
        return float((h * d) @ d)

    def conjugate(self, y: Array) -> float:
        """f*(y)."""
        return self.fast.conjugate(y)


class Shifted(Smooth):
    """The loss with a free intercept for each of `columns` columns of predictions minimised out: see the module's docstring."""

    def __init__(self, f: LossFunction, pool: Pool, columns: int) -> None:
        super().__init__(f, pool)
        self.columns = columns

    def shift(self, z: Array) -> Array:
        """z with the best intercepts added."""
        n = z.size // self.columns
        # always from 0: a result may not depend on what was asked before
        m, y, h = np.zeros(self.columns), np.empty_like(z), np.empty_like(z)
        low, high = np.full(self.columns, -np.inf), np.full(self.columns, np.inf)
        # where a loss has no curvature, its own numbers say how far to look, and then twice as far
        far = np.full(self.columns, float(np.abs(z).max(initial=0.0) + np.abs(self.f.b).max(initial=0.0)) or 1.0)
        for _ in range(ROUNDS):
            at = (z.reshape(n, -1) + m).reshape(-1)
            self.fast.value_gradient(at, y)
            self.fast.curvature(at, h)
            Y = y.reshape(n, -1)
            slope, bend = Y.sum(axis=0), h.reshape(n, -1).sum(axis=0)
            noise = 4.0 * np.finfo(np.float64).eps * np.abs(Y).sum(axis=0)
            low, high = np.where(slope <= 0.0, m, low), np.where(slope >= 0.0, m, high)
            if np.all(np.abs(slope) <= noise):
                break
            with np.errstate(all="ignore"):
                step = -slope / bend
            flat = ~np.isfinite(step)
            wanted = m + np.where(flat, -np.sign(slope) * far, step)
            far = np.where(flat, 2.0 * far, far)
            middle = 0.5 * (low + high)
            inside = (wanted > low) & (wanted < high)
            new = np.where(inside, wanted, np.where(np.isfinite(middle), middle, wanted))
            new = np.where(np.abs(slope) <= noise, m, new)
            if np.array_equal(new, m):
                break
            m = new
        return (z.reshape(n, -1) + m).reshape(-1)

    def value(self, z: Array) -> float:
        """F(z)."""
        return super().value(self.shift(z))

    def value_gradient(self, z: Array, out: Array) -> float:
        """F(z), and its gradient into `out`."""
        return super().value_gradient(self.shift(z), out)

    def bend(self, z: Array, d: Array) -> float:
        """d'F''(z) d."""
        h = np.empty_like(z)
        self.fast.curvature(self.shift(z), h)
        H, D = h.reshape(-1, self.columns), d.reshape(-1, self.columns)
        total = H.sum(axis=0)
        live = total > 0.0
        along = (H * D).sum(axis=0)[live]
        return max(0.0, float((h * d) @ d) - float(np.sum(along**2 / total[live])))


def on_segment(f: Smooth, z: Array, d: Array, slope: float, bend: float = 0.0, end: float = 1.0) -> float:
    """argmin over 0 <= g <= end of f(z + g d) + slope g + bend g^2 / 2; one step for squares.

    Newton's method on the derivative, within a bracket. Where the loss has linear pieces, on which it has no curvature, or the steps are slow, false
    position with Illinois' halving takes its place, which is quick to find a minimum far nearer to one end than to the other.
    """
    y = np.empty_like(z)

    def derivative(g: float) -> float:
        f.value_gradient(z + g * d, y)
        found = float(y @ d) + slope + bend * g
        # beyond the range of numbers all losses rise
        return found if math.isfinite(found) else math.inf

    def newton(g: float, here: float) -> float:
        curved = f.bend(z + g * d, d) + bend
        return g - here / curved if curved > 0.0 else math.inf

    low, high, left, right = 0.0, end, derivative(0.0), math.nan
    if not left < 0.0:
        return 0.0
    g = min(newton(0.0, left), end)
    if f.f.loss.quadratic:
        return g
    kept, width = 0, math.inf
    for look in range(LOOKS):
        here = derivative(g)
        if here <= 0.0 and g == end:
            return end
        if here < 0.0:
            low, left = g, here
            right = 0.5 * right if kept == -1 else right
        else:
            high, right = g, here
            left = 0.5 * left if kept == 1 else left
        kept = -1 if here < 0.0 else 1
        slow = False
        if look % 3 == 2 and not math.isnan(right):
            slow, width = high - low > 0.5 * width, high - low
        proposed = newton(g, here) if math.isfinite(here) and not slow else math.inf
        if low < proposed < high and abs(proposed - g) <= NEAR * g:
            return proposed
        if not low < proposed < high and math.isnan(right):
            # nothing is known yet of what lies beyond
            proposed = end
        elif not low < proposed < high:
            proposed = low + (high - low) * left / (left - right) if math.isfinite(right) else 0.0
            proposed = proposed if low < proposed < high else 0.5 * (low + high)
            if high - low <= NEAR * high:
                return proposed
        g = proposed
    return low
