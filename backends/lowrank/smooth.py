r"""The smooth loss of a problem on factors, and its minimum over a segment.

`Shifted` is a loss whose free intercepts are minimised out: for predictions z (n, c),

    F(z) = min over m in R^c of f(z + 1 m'),      F'(z) = y := f'(z + 1 m'),  whose columns sum to 0,

    d'F''(z) d = d'H d - sum over columns of (sum_i H_ic d_ic)^2 / sum_i H_ic,      F*(y) = f*(y) for such y,

with m by Newton's method within a bracket (for the squared loss one step).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.pool import Pool
from fwdsl.canon.factored import StoredLoss
from fwdsl.sums import Rows

ROUNDS = 60

LOOKS = 100
"""Looks at a derivative along a segment at most."""

NEAR = 1e-6
"""The accuracy of the minimum on a segment, relative to its distance from the start."""


class EntryLoss(FastLoss):
    """A loss of observed entries, whose inner products too are added up by the pieces that losses are: what stays in files is read so."""

    def dot(self, a: Array, b: Array) -> float:
        return self._added(lambda at: float(a[slice(*at)] @ b[slice(*at)]))


class Smooth:
    """A smooth weighted loss on kernels; `leaves` are those of observed entries."""

    f: LossFunction | StoredLoss
    fast: FastLoss

    def __init__(self, f: LossFunction, pool: Pool, leaves: tuple[Rows, ...] | None = None) -> None:
        if f.loss.smoothness is None:
            raise ValueError(f"the loss {f.name} is not smooth")
        self.f, self.fast = f, FastLoss(f, pool) if leaves is None else EntryLoss(f, pool, leaves)
        self.size = f.size

    @classmethod
    def on(cls, f: LossFunction | StoredLoss, fast: FastLoss) -> Smooth:
        """The loss on what works out its sums elsewhere."""
        found = object.__new__(cls)
        found.f, found.fast, found.size = f, fast, f.size
        return found

    def value(self, z: Array) -> float:
        return self.fast.value(z)

    def value_gradient(self, z: Array, out: Array) -> float:
        return self.fast.value_gradient(z, out)

    def bend(self, z: Array, d: Array) -> float:
        """d'f''(z) d."""
        h = np.empty_like(z)
        self.fast.curvature(z, h)
        return self.dot(h * d, d)

    def dot(self, a: Array, b: Array) -> float:
        """<a, b> for vectors over the predictions."""
        return self.fast.dot(a, b)

    def conjugate(self, y: Array) -> float:
        return self.fast.conjugate(y)

    def infimum(self) -> float:
        """A lower bound of the loss."""
        return self.f.infimum(self.fast.leaves)


class Shifted(Smooth):
    """The loss with a free intercept for each of `columns` columns of predictions minimised out: see the module's docstring."""

    def __init__(self, f: LossFunction, pool: Pool, columns: int, leaves: tuple[Rows, ...] | None = None) -> None:
        super().__init__(f, pool, leaves)
        self.columns = columns

    def shift(self, z: Array) -> Array:
        """z with the best intercepts added."""
        n = z.size // self.columns
        # always from 0: a result may not depend on earlier calls
        m, y, h = np.zeros(self.columns), np.empty_like(z), np.empty_like(z)
        low, high = np.full(self.columns, -np.inf), np.full(self.columns, np.inf)
        # where a loss has no curvature, its own numbers say how far to look, and then twice as far
        far = np.full(self.columns, float(np.abs(z).max(initial=0.0) + np.abs(self.fast.f.b).max(initial=0.0)) or 1.0)
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
        return super().value(self.shift(z))

    def value_gradient(self, z: Array, out: Array) -> float:
        return super().value_gradient(self.shift(z), out)

    def bend(self, z: Array, d: Array) -> float:
        """d'F''(z) d."""
        h = np.empty_like(z)
        self.fast.curvature(self.shift(z), h)
        H, D = h.reshape(-1, self.columns), d.reshape(-1, self.columns)
        total = H.sum(axis=0)
        live = total > 0.0
        along = (H * D).sum(axis=0)[live]
        return max(0.0, self.dot(h * d, d) - float(np.sum(along**2 / total[live])))


@dataclass
class _Bracket:
    """An interval at whose ends a derivative has different signs. `left` and `right` are its values there; `right` is nan before one is known.

    A value is halved where its end stays a second time (Illinois).
    """

    left: float
    high: float
    low: float = 0.0
    right: float = math.nan
    kept: int = 0  # the sign of the value that was taken last
    width: float = math.inf  # as of the last `is_slow`

    def take(self, g: float, value: float) -> None:
        """Move an end to g."""
        if value < 0.0:
            self.low, self.left = g, value
            self.right = 0.5 * self.right if self.kept == -1 else self.right
        else:
            self.high, self.right = g, value
            self.left = 0.5 * self.left if self.kept == 1 else self.left
        self.kept = -1 if value < 0.0 else 1

    def contains(self, g: float) -> bool:
        return self.low < g < self.high

    def is_slow(self) -> bool:
        """True if the interval has more than half of the width that it had when this was asked before."""
        slow, self.width = self.high - self.low > 0.5 * self.width, self.high - self.low
        return slow

    def false_position(self) -> float:
        """The zero of the line through both ends, or the middle."""
        middle = 0.5 * (self.low + self.high)
        if not math.isfinite(self.right):
            return middle
        found = self.low + (self.high - self.low) * self.left / (self.left - self.right)
        return found if self.contains(found) else middle


def on_segment(f: Smooth, z: Array, d: Array, slope: float, bend: float = 0.0, end: float = 1.0) -> float:
    """argmin over 0 <= g <= end of f(z + g d) + slope g + bend g^2 / 2; one step for squares.

    Newton's method on the derivative, within a bracket. False position takes its place where the loss has linear pieces, on which it has no
    curvature, or where the steps are slow: it is quick to find a minimum far nearer to one end than to the other.
    """
    y = np.empty_like(z)

    def derivative(g: float) -> float:
        f.value_gradient(z + g * d, y)
        found = f.dot(y, d) + slope + bend * g
        # beyond the range of numbers all losses rise
        return found if math.isfinite(found) else math.inf

    def newton(g: float, here: float) -> float:
        curved = f.bend(z + g * d, d) + bend
        return g - here / curved if curved > 0.0 else math.inf

    left = derivative(0.0)
    if not left < 0.0:
        return 0.0
    g = min(newton(0.0, left), end)
    if f.f.loss.quadratic:
        return g
    bracket = _Bracket(left, end)
    for look in range(LOOKS):
        here = derivative(g)
        if here <= 0.0 and g == end:
            return end
        bracket.take(g, here)
        slow = look % 3 == 2 and not math.isnan(bracket.right) and bracket.is_slow()
        proposed = newton(g, here) if math.isfinite(here) and not slow else math.inf
        if bracket.contains(proposed):
            if abs(proposed - g) <= NEAR * g:
                return proposed
            g = proposed
        elif math.isnan(bracket.right):
            # nothing is known yet beyond g
            g = end
        else:
            g = bracket.false_position()
            if bracket.high - bracket.low <= NEAR * bracket.high:
                return g
    return bracket.low
